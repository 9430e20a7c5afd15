/* SPDX-License-Identifier: MIT */
/* fuzz_world_text.c: fuzz target of worlds as text (libFuzzer interface; replayed without it by
 * fuzz_replay.c).
 *
 * The input is a text. What is refused must say where and leave an empty, valid world; what is
 * accepted must be valid, be written again, and read to the same content.
 */
#include "check.h"
#include "fuzz.h"
#include "random.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

typedef struct Point {
    float x, y;
    int32_t steps[2];
    weft_entity target;
} Point;
static const weft_field point_fields[] = {WEFT_FIELD_WITH(Point, x, .unit = "m", .most = 1e9),
                                          WEFT_FIELD(Point, y), WEFT_FIELD(Point, steps),
                                          WEFT_FIELD(Point, target)};
static const weft_type point_type = WEFT_TYPE(Point, point_fields);

/* A description that the text has to bring. */
typedef struct Ship {
    Point wings[2];
    uint8_t phase;
    char name[7];
} Ship;
static const weft_constant phases[] = {{"coast", 0}, {"burn", 1}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(uint8_t, phases);
static const Ship ship_initial = {.phase = 1, .name = "new"};
static const weft_field ship_fields[] = {WEFT_FIELD_OF(Ship, wings, WEFT_FIELD_STRUCT, &point_type),
                                         WEFT_FIELD_OF(Ship, phase, WEFT_FIELD_ENUM, &phase_type),
                                         WEFT_FIELD(Ship, name)};
static const weft_type ship_type = {.name = "Ship",
                                    .size = sizeof(Ship),
                                    .alignment = _Alignof(Ship),
                                    .fields = ship_fields,
                                    .field_count = 3,
                                    .initial = &ship_initial};

static weft_world *make_world(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .without_huge_pages = true,
                                                  .entity_block_limit = 8,
                                                  .megachunk_limit = 16,
                                                  .trace_file = ""},
                               &world));
    return world;
}

static weft_component register_point(weft_world *world)
{
    return weft_component_create(world, &(weft_component_desc){.type = &point_type});
}

/* Text that grows. */
typedef struct page {
    char *text;
    size_t count;
} page;

static weft_result page_write(void *user, const void *bytes, size_t count)
{
    page *p = user;
    p->text = realloc(p->text, p->count + count);
    CHECK(p->text != NULL);
    memcpy(p->text + p->count, bytes, count);
    p->count += count;
    return WEFT_OK;
}

static void check_again(weft_world *world)
{
    page p = {.count = 0};
    CHECK_OK(weft_world_save_json(world, &(weft_writer){page_write, &p}, NULL));
    weft_world *again = make_world();
    register_point(again);
    weft_error error;
    if (weft_world_load_json(again, &(weft_text){p.text, p.count, NULL}, NULL, &error) != WEFT_OK)
        test_fail(__FILE__, __LINE__, error.text);
    CHECK_U64(weft_world_hash(again, WEFT_HASH_CONTENT), weft_world_hash(world, WEFT_HASH_CONTENT));
    CHECK_OK(weft_world_destroy(again));
    free(p.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* its exact size, for AddressSanitizer */
    CHECK(text != NULL);
    if (size != 0) memcpy(text, data, size);
    weft_world *world = make_world();
    register_point(world);
    weft_error error;
    weft_result result =
        weft_world_load_json(world, &(weft_text){text, size, "fuzz"}, NULL, &error);
    CHECK_OK(weft_world_validate(world));
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    if (result != WEFT_OK) {
        CHECK_U64(stats.entities, 0);
        CHECK(error.text[0] != '\0' && error.line != 0);
    } else {
        check_again(world);
    }
    CHECK_OK(weft_world_destroy(world));
    free(text);
    return 0;
}

static void fill(weft_world *world, uint32_t seed)
{
    test_random random = test_random_init(seed + 1);
    weft_component point = register_point(world);
    const weft_component_desc others[] = {
        {.name = "Raw", .size = 6, .alignment = 2},
        {.name = "Lever", .size = 4, .flags = WEFT_ENABLEABLE},
        {.name = "Mark", .flags = WEFT_ENABLEABLE},
        {.name = "Team", .size = 4, .flags = WEFT_SHARED},
        {.name = "List", .size = 4, .flags = WEFT_BUFFER},
        {.name = "PerChunk", .size = 8, .flags = WEFT_CHUNK},
        {.name = "Clean", .size = 4, .flags = WEFT_CLEANUP},
        {.name = "Fleeting", .size = 4, .flags = WEFT_SPARSE},
        {.name = "Config", .size = 8, .flags = WEFT_RESOURCE},
        {.name = "Ship", .type = &ship_type},
    };
    enum { OTHERS = sizeof others / sizeof others[0] };
    weft_component all[OTHERS + 1], some[OTHERS + 1];
    for (uint32_t i = 0; i < OTHERS; i++) all[i] = weft_component_create(world, &others[i]);
    for (uint32_t i = 0; i < 1 + seed % 6; i++) {
        uint32_t count = 0;
        if ((test_random_next(&random) & 1) != 0) some[count++] = point;
        for (uint32_t k = 0; k + 3 < OTHERS; k++)
            if ((test_random_next(&random) & 3) == 0) some[count++] = all[k];
        if (i % 2 == 1) some[count++] = all[OTHERS - 1];
        weft_entity e = weft_entity_create(world, weft_archetype_create(world, some, count));
        if (i % 2 == 0) CHECK_OK(weft_entity_set(world, e, all[7], &i, sizeof i));
        if (i % 3 == 0) CHECK_OK(weft_entity_set_name(world, e, "name"));
        if (weft_entity_has(world, e, all[2]))
            CHECK_OK(weft_entity_enable(world, e, all[2], false));
    }
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    if (index >= 24) return 0;
    weft_world *world = make_world();
    page p = {.count = 0};
    fill(world, index);
    CHECK_OK(weft_world_save_json(world, &(weft_writer){page_write, &p}, NULL));
    size_t count = p.count < capacity ? p.count : capacity;
    memcpy(out, p.text, count);
    free(p.text);
    CHECK_OK(weft_world_destroy(world));
    return count;
}
