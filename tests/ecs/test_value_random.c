/* SPDX-License-Identifier: MIT */
/* test_value_random.c: values of random types become text and the same bytes again, by themselves
 * and as components. WEFT_VALUES in the environment: how many values (a campaign: 1000000). */
#include "value_random.h"

#include <weft/ecs.h>

#include "plain.h"

#include <stdlib.h>

static random_types types;
static _Alignas(64) char value[RANDOM_BYTES], again[RANDOM_BYTES];
static char text[1 << 18];

static uint32_t value_count(void)
{
    const char *asked = getenv("WEFT_VALUES");
    return asked == NULL ? 20000 : (uint32_t)strtoul(asked, NULL, 10);
}

static void check_round(test_random *random, const weft_type *type)
{
    weft_value_io io = {.indent = random_under(random, 3)};
    weft_error error;
    memset(value, 0, type->size);
    random_value(random, type, value);
    size_t length = weft_value_format(&io, type, value, text, sizeof text);
    CHECK(length < sizeof text && text[length] == '\0');
    memset(again, 0, type->size);
    weft_result result =
        weft_value_parse(&io, &(weft_text){text, length, NULL}, type, again, &error);
    if (result != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
    if (memcmp(value, again, type->size) != 0) {
        weft_path path;
        char name[128];
        CHECK(weft_value_diff(type, value, again, &path, 1) != 0);
        weft_path_format(type, &path, name, sizeof name);
        test_fail(__FILE__, __LINE__, name);
    }
    for (size_t capacity = 0; capacity < length && capacity < 40; capacity += 7)
        CHECK_U64(weft_value_format(&io, type, value, again, capacity), length);
}

PLAIN_TEST(values_of_random_types_become_text_and_the_same_bytes)
{
    test_random random = test_random_init(17);
    uint32_t count = value_count();
    for (uint32_t i = 0; i < count;) {
        types.count = 0;
        const weft_type *type = random_type_make(&types, &random, 0);
        weft_error error;
        if (weft_type_check(type, &error) != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
        if (type->size > RANDOM_BYTES) continue;
        for (uint32_t k = 0; k < 20; k++, i++) check_round(&random, type);
    }
}

/* A difference is exactly where a field was changed, and its path leads there. */
PLAIN_TEST(differences_of_random_values_are_found_and_mended)
{
    test_random random = test_random_init(18);
    for (uint32_t i = 0; i < 2000; i++) {
        types.count = 0;
        const weft_type *type = random_type_make(&types, &random, 0);
        if (type->size > RANDOM_BYTES) continue;
        static weft_path paths[256];
        memset(value, 0, type->size);
        memset(again, 0, type->size);
        random_value(&random, type, value);
        random_value(&random, type, again);
        uint32_t count = weft_value_diff(type, value, again, paths, 256);
        for (uint32_t k = 0; k < count && k < 256; k++) {
            weft_path compiled;
            char name[128];
            weft_path_format(type, &paths[k], name, sizeof name);
            if (name[0] != '\0' && strchr(name, '.') != name && name[strlen(name) - 1] != '.' &&
                strstr(name, "..") == NULL && strstr(name, ".[") == NULL && name[0] != '[') {
                CHECK_OK(weft_path_parse(type, name, &compiled, NULL));
                CHECK_U64(compiled.offset, paths[k].offset);
            }
            memcpy(again + paths[k].offset, value + paths[k].offset, paths[k].bytes);
        }
        if (count <= 256) CHECK_U64(weft_value_diff(type, value, again, NULL, 0), 0);
    }
}

/* Their flat fields cover what the description says: references are patched, hashed, saved. */
PLAIN_TEST(components_take_random_types)
{
    test_random random = test_random_init(19);
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    for (uint32_t i = 0; i < 300; i++) {
        char name[16];
        types.count = 0;
        const weft_type *type = random_type_make(&types, &random, 0);
        snprintf(name, sizeof name, "c%u", i);
        if (type->size > RANDOM_BYTES) continue;
        weft_component component =
            weft_component_create(world, &(weft_component_desc){.name = name, .type = type});
        if (component.id == 0) test_fail(__FILE__, __LINE__, weft_world_error(world)->text);
        CHECK_POINTER(weft_component_type(world, component), type);
        const weft_component_desc *info = weft_component_info(world, component);
        CHECK_U64(info->size, type->size);
        weft_entity entity = weft_entity_create(world, WEFT_ARCHETYPE(world, component));
        memset(value, 0, type->size);
        random_value(&random, type, value);
        CHECK_OK(weft_entity_set(world, entity, component, value, type->size));
        CHECK(memcmp(weft_entity_read(world, entity, component), value, type->size) == 0);
    }
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}
