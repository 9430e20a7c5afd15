/* SPDX-License-Identifier: MIT */
/* test_type_text.c: descriptions of components as text: a world that lacks the types gets them from
 * the text of another one, with units, ranges, constants and initial values; what is wrong with a
 * description is refused where it stands. */
#include "memory_fault.h"
#include "value_random.h"

#include "plain.h"

#include <weft/ecs.h>

#include <math.h>
#include <stdlib.h>

/* Text that grows. */
typedef struct page {
    char *text;
    size_t count;
} page;

static weft_result page_write(void *user, const void *bytes, size_t count)
{
    page *p = user;
    p->text = realloc(p->text, p->count + count + 1);
    CHECK(p->text != NULL);
    memcpy(p->text + p->count, bytes, count);
    p->count += count;
    p->text[p->count] = '\0';
    return WEFT_OK;
}

static page page_of(weft_world *world)
{
    page p = {.count = 0};
    CHECK_OK(weft_world_save_json(world, &(weft_writer){page_write, &p}, NULL));
    return p;
}

static weft_world *empty_world(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &world));
    return world;
}

static weft_result read_text(weft_world *world, const char *text, weft_error *error)
{
    return weft_world_load_json(world, &(weft_text){text, strlen(text), "a.json"}, NULL, error);
}

/* ---- a description with everything ---- */

typedef enum Phase { COAST, BURN } Phase;
typedef struct Plate {
    float area;
    uint32_t kinds;
} Plate;
typedef struct Craft {
    weft_entity home;
    double height;
    Plate plates[2];
    Phase phase;
    char name[8];
    uint8_t key[3];
} Craft;

static const weft_constant phases[] = {{"coast", COAST}, {"burn", BURN}};
static const weft_constant kinds[] = {{"both", 3}, {"warm", 1}, {"bright", 2}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(Phase, phases);
static const weft_type kind_type = WEFT_TYPE_CONSTANTS(uint32_t, kinds);
static const Plate plate_initial = {.area = 2};
static const weft_field plate_fields[] = {WEFT_FIELD_WITH(Plate, area, .unit = "m^2", .least = 0,
                                                          .most = 1e30, .flags = WEFT_FIELD_HIDDEN),
                                          WEFT_FIELD_OF(Plate, kinds, WEFT_FIELD_BITS, &kind_type)};
static const weft_type plate_type = {.name = "Plate",
                                     .size = sizeof(Plate),
                                     .alignment = 4,
                                     .fields = plate_fields,
                                     .field_count = 2,
                                     .initial = &plate_initial};
static const Craft craft_initial = {.height = 4e5, .name = "new", .plates = {{1, 3}, {2, 1}}};
static const weft_field craft_fields[] = {
    WEFT_FIELD(Craft, home),
    WEFT_FIELD_WITH(Craft, height, .unit = "m", .text = "above \"sea level\"", .least = -11e3,
                    .most = (double)INFINITY),
    WEFT_FIELD_OF(Craft, plates, WEFT_FIELD_STRUCT, &plate_type),
    WEFT_FIELD_OF(Craft, phase, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD(Craft, name),
    {.name = "key", .offset = offsetof(Craft, key), .count = 3}};
static const weft_type craft_type = {.name = "Craft",
                                     .size = sizeof(Craft),
                                     .alignment = _Alignof(Craft),
                                     .fields = craft_fields,
                                     .field_count = 6,
                                     .initial = &craft_initial};

PLAIN_TEST(a_world_gets_the_types_that_it_lacks)
{
    weft_world *from = empty_world(), *to = empty_world();
    weft_component craft = weft_component_create(from, &(weft_component_desc){.type = &craft_type});
    CHECK(craft.id != 0);
    CHECK(weft_component_create(from, &(weft_component_desc){.name = "Wreck",
                                                             .size = 4,
                                                             .required = &craft,
                                                             .required_count = 1})
              .id != 0);
    CHECK(weft_component_create(
              from,
              &(weft_component_desc){.name = "Crafts", .type = &craft_type, .flags = WEFT_BUFFER})
              .id != 0);
    weft_entity e = weft_entity_create(from, WEFT_ARCHETYPE(from, craft));
    CHECK_OK(weft_entity_set(from, e, craft, &craft_initial, sizeof craft_initial));
    page p = page_of(from), again;
    weft_error error;
    if (read_text(to, p.text, &error) != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
    again = page_of(to);
    CHECK_TEXT(again.text, p.text);
    weft_component known = weft_component_find(to, "Craft");
    CHECK_U64(weft_component_hash(to, known), weft_component_hash(from, craft));
    weft_entity wreck =
        weft_entity_create(to, WEFT_ARCHETYPE(to, weft_component_find(to, "Wreck")));
    CHECK(weft_entity_has(to, wreck, known)); /* what it requires came along */
    const weft_type *type = weft_component_type(to, known);
    CHECK(type != NULL && type != &craft_type);
    Craft value;
    weft_value_initial(type, &value);
    CHECK_U64(weft_value_diff(&craft_type, &value, &craft_initial, NULL, 0), 0);
    const char *text = "{\"height\": \"400.5 km\", \"phase\": \"burn\", \"plates\": [{\"kinds\": "
                       "\"warm | bright\"}, {}]}";
    CHECK_OK(weft_value_parse(NULL, &(weft_text){text, strlen(text), NULL}, type, &value, &error));
    CHECK_F64(value.height, 400500, 0);
    CHECK_U64(value.phase, BURN);
    CHECK_U64(value.plates[0].kinds, 3);
    text = "{\"plates\": [{\"area\": -1}, {}]}";
    CHECK_RESULT(
        weft_value_parse(NULL, &(weft_text){text, strlen(text), NULL}, type, &value, &error),
        WEFT_INVALID_ARGUMENT);
    free(p.text), free(again.text);
    CHECK_OK(weft_world_destroy(from));
    CHECK_OK(weft_world_destroy(to));
}

PLAIN_TEST(random_types_come_back)
{
    static random_types types[40];
    test_random random = test_random_init(1);
    for (uint32_t round = 0; round < 20; round++) {
        weft_world *from = empty_world(), *to = empty_world();
        char name[16];
        for (uint32_t i = 0; i < 40; i++) {
            types[i].count = 0;
            const weft_type *type = random_type_make(&types[i], &random, 0);
            snprintf(name, sizeof name, "C%u", i);
            if (type->size <= RANDOM_BYTES)
                CHECK(
                    weft_component_create(from, &(weft_component_desc){.name = name, .type = type})
                        .id != 0);
        }
        page p = page_of(from);
        weft_error error;
        if (read_text(to, p.text, &error) != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
        page again = page_of(to);
        CHECK_TEXT(again.text, p.text);
        free(p.text), free(again.text);
        CHECK_OK(weft_world_destroy(from));
        CHECK_OK(weft_world_destroy(to));
    }
}

#define NEW "{\"type\": \"New\", \"size\": 4, \"alignment\": 4,\n \"description\": "
#define FIELD                                                                                      \
    NEW "{\"name\": \"New\", \"size\": 4, \"alignment\": 4, \"fields\": [{\"name\": \"a\", "

PLAIN_TEST(a_description_that_cannot_be_is_refused)
{
    static const struct {
        const char *text, *message;
    } refusals[] = {
        {NEW "3}", "a description should be here"},
        {"{\"type\": \"New\", \"size\": 4, \"required\": [\"Old\"]}", "no component \"Old\""},
        {"{\"type\": \"New\", \"size\": 4, \"required\": [3]}", "the name of a component"},
        {NEW "{\"colour\": 1}}", "no such member"},
        {NEW "{\"name\": 1}}", "a string should be here"},
        {NEW "{\"name\": \"a\\u0000b\"}}", "without NULs"},
        {NEW "{\"name\": \"New\", \"size\": 4, \"initial\": \"0x00\"}}", "the bytes of the whole"},
        {NEW "{\"name\": \"New\", \"size\": 1000000000000000000, \"initial\": \"0x00\"}}",
         "the bytes of the whole"},
        {NEW "{\"name\": \"New\", \"size\": 4, \"initial\": \"0x0000000g\"}}", "4 bytes"},
        {NEW "{\"name\": \"New\", \"size\": 4, \"fields\": 1}}", "an array"},
        {NEW "{\"name\": \"New\", \"size\": 4, \"fields\": [1]}}", "a field should be here"},
        {FIELD "\"kind\": \"f16\"}]}}", "no kind of fields"},
        {FIELD "\"kind\": \"f32\", \"offset\": 4000000000}]}}", "beyond"},
        {FIELD "\"kind\": \"f64\"}]}}", "beyond"},
        {FIELD "\"kind\": \"struct\"}]}}", "needs a `type`"},
        {FIELD "\"kind\": \"enum\", \"type\": {\"name\": \"E\", \"size\": 4}}]}}", "constants"},
        {FIELD "\"kind\": \"f32\", \"flags\": [\"blue\"]}]}}", "no such word"},
        {FIELD "\"kind\": \"f32\", \"unit\": \"furlong\"}]}}", "furlong"},
        {FIELD "\"kind\": \"f32\"}, {\"name\": \"a\", \"kind\": \"f32\"}]}}",
         "two fields have this name"},
        {FIELD "\"kind\": \"f32\"", ""},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        weft_world *world = empty_world();
        weft_error error;
        CHECK(read_text(world, refusals[i].text, &error) != WEFT_OK);
        if (strstr(error.text, refusals[i].message) == NULL)
            CHECK_TEXT(error.text, refusals[i].message);
        CHECK(weft_component_find(world, "New").id == 0);
        CHECK_OK(weft_world_destroy(world));
    }
}

PLAIN_TEST(refused_memory_leaves_no_description)
{
    weft_world *from = empty_world();
    CHECK(weft_component_create(from, &(weft_component_desc){.type = &craft_type}).id != 0);
    page p = page_of(from);
    weft_result result = WEFT_OUT_OF_MEMORY;
    for (uint64_t k = 1; result != WEFT_OK; k++) {
        test_memory memory;
        weft_world *world;
        test_memory_init(&memory);
        CHECK_OK(weft_world_create(
            &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
        test_memory_fail(&memory, k, false);
        result = read_text(world, p.text, NULL);
        test_memory_fail(&memory, 0, false);
        if (result != WEFT_OK) CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_OK(weft_world_destroy(world));
        test_memory_fini(&memory);
    }
    free(p.text);
    CHECK_OK(weft_world_destroy(from));
}
