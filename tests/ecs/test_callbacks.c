/* SPDX-License-Identifier: MIT */
/* test_callbacks.c: callbacks of saves and loads that use the world all the same: what would change
 * or end it is refused, and the call that they belong to goes on. */
#include "plain.h"

#include <weft/weft.h>
#include <weft/world_text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Owner: one test. */
typedef struct bed {
    weft_world *world;
    weft_component mass;
    weft_entity first;
    uint32_t calls;
    char *bytes;
    size_t count, at;
} bed;

typedef struct Mass {
    float g, h;
} Mass;
static const weft_field fields[] = {WEFT_FIELD(Mass, g), WEFT_FIELD(Mass, h)};
static const weft_type whole = WEFT_TYPE(Mass, fields);
static const weft_type half = {
    .name = "Mass", .size = 4, .alignment = 4, .fields = fields, .field_count = 1};

static bed of;

/* A callback calls each kind of call once. */
static void meddle(void)
{
    weft_world_bytes bytes;
    const Mass mass = {1, 2};
    weft_world *world = of.world;
    const weft_archetype none = weft_archetype_create(world, NULL, 0);
    if (of.calls++ != 0) return;
    CHECK_RESULT(weft_world_destroy(world), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(world)->text, "may not use the world") != NULL);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_save_memory(world, &bytes, NULL), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_load_memory(world, of.bytes, of.count, NULL), WEFT_WRONG_PHASE);
    CHECK(weft_entity_create(world, none).version == 0);
    CHECK(weft_entity_set(world, of.first, of.mass, &mass, sizeof mass) != WEFT_OK);
    CHECK(weft_entity_destroy(world, of.first) != WEFT_OK);
}

static weft_result take(void *user, const void *bytes, size_t count)
{
    (void)user;
    meddle();
    of.bytes = realloc(of.bytes, of.count + count);
    memcpy(of.bytes + of.count, bytes, count);
    of.count += count;
    return WEFT_OK;
}

static void changed(const weft_load_change *change, void *user)
{
    (void)change;
    (void)user;
    meddle();
}

static const char *migrate(void *to, const void *from, size_t bytes, void *user)
{
    (void)to;
    (void)from;
    (void)bytes;
    (void)user;
    meddle();
    return NULL;
}

static size_t save_hook(const void *value, void *out, size_t capacity, void *user)
{
    (void)user;
    meddle();
    if (capacity >= sizeof(Mass)) memcpy(out, value, sizeof(Mass));
    return sizeof(Mass);
}

static bool load_hook(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    meddle();
    memcpy(value, bytes, sizeof(Mass));
    return count == sizeof(Mass);
}

static void construct(void *values, uint32_t count, void *user)
{
    (void)values;
    (void)count;
    (void)user;
}

static void begin(const weft_type *type, bool is_hooked)
{
    static const weft_component_hooks hooks = {
        .construct = construct, .save = save_hook, .load = load_hook};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &of.world));
    weft_component_desc desc = {.name = "Mass", .size = 8, .alignment = 4, .hooks = hooks};
    if (!is_hooked) desc = (weft_component_desc){.type = type};
    of.mass = weft_component_create(of.world, &desc);
    of.calls = 0;
}

static void fill(void)
{
    weft_entity rows[100];
    CHECK_OK(weft_entity_create_many(of.world, WEFT_ARCHETYPE(of.world, of.mass), 100, rows));
    of.first = rows[0];
    of.count = 0;
}

static void save(void)
{
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(of.world, &bytes, NULL));
    of.bytes = realloc(of.bytes, bytes.count);
    of.count = bytes.count;
    memcpy(of.bytes, bytes.bytes, bytes.count);
    weft_world_bytes_free(of.world, &bytes);
    of.calls++; /* without hooks it makes none */
}

static void end(uint32_t rows)
{
    CHECK(of.calls != 0);
    weft_query all = weft_query_create(of.world, &(weft_query_desc){.terms = {{of.mass}}});
    CHECK_U64(weft_query_count(of.world, all), rows);
    CHECK_OK(weft_world_validate(of.world));
    CHECK_OK(weft_world_destroy(of.world));
}

PLAIN_TEST(writers_cannot_change_the_world)
{
    begin(&whole, false);
    fill();
    CHECK_OK(weft_world_save_json(of.world, &(weft_writer){take, NULL}, NULL));
    end(100);
    free(of.bytes);
    of = (bed){0};
}

PLAIN_TEST(what_a_load_tells_of_changes_and_migrates_cannot_change_the_world)
{
    const weft_load_migration migration = {.type = "Mass", .migrate = migrate};
    begin(&whole, false);
    fill();
    save();
    end(100);
    begin(&half, false);
    CHECK_OK(weft_world_load_memory(of.world, of.bytes, of.count,
                                    &(weft_load_desc){.changed = changed}));
    end(100);
    begin(&half, false);
    CHECK_OK(
        weft_world_load_memory(of.world, of.bytes, of.count,
                               &(weft_load_desc){.migrations = &migration, .migration_count = 1}));
    end(100);
    free(of.bytes);
    of = (bed){0};
}

static const char *read_blob(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    (void)word;
    (void)length;
    (void)user;
    meddle();
    *out = (weft_blob_ref){0};
    return NULL;
}

static const char *check(const void *value)
{
    (void)value;
    meddle();
    return NULL;
}

PLAIN_TEST(what_reads_and_checks_values_of_text_cannot_change_the_world)
{
    static const char line[] = "{\"entity\": \"0:1\", \"components\": {\"Mass\": {\"mesh\": %s}}}";
    char text[100];
    static const weft_field mesh = {.name = "mesh", .kind = WEFT_FIELD_BLOB};
    weft_type type = {.name = "Mass", .size = 8, .alignment = 8, .fields = &mesh, .field_count = 1};
    const weft_value_io io = {.read_blob = read_blob};
    for (int with_check = 0; with_check < 2; with_check++) {
        type.check = with_check ? check : NULL;
        snprintf(text, sizeof text, line, with_check ? "null" : "\"x\"");
        begin(&type, false);
        CHECK_OK(weft_world_load_json(of.world, &(weft_text){text, strlen(text), NULL},
                                      &(weft_world_text_desc){.io = &io}, NULL));
        end(1);
    }
}

PLAIN_TEST(hooks_that_save_and_load_values_cannot_change_the_world)
{
    begin(NULL, true);
    fill();
    save();
    end(100);
    begin(NULL, true);
    CHECK_OK(weft_world_load_memory(of.world, of.bytes, of.count, NULL));
    end(100);
    begin(NULL, true);
    fill();
    CHECK_OK(weft_world_save_json(of.world, &(weft_writer){take, NULL}, NULL));
    end(100);
    begin(NULL, true);
    CHECK_OK(weft_world_load_json(of.world, &(weft_text){of.bytes, of.count, NULL}, NULL, NULL));
    end(100);
    free(of.bytes);
    of = (bed){0};
}
