/* SPDX-License-Identifier: MIT */
/* test_evolution.c: worlds saved by an older program: kinds of changes of a component's layout, one
 * test each; several chunks out of one; what is refused. */
#include "buffer_append.h"
#include "plain.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3000 };

/* ---- an old world and a new one ---- */

static weft_world *open_world(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &world));
    return world;
}

typedef void fill_fn(void *value, uint32_t row);

/* The bytes of a world whose ROWS entities have the component; every fifth is disabled when it can
 * be. */
static weft_world_bytes save_old(const weft_component_desc *desc, fill_fn *fill)
{
    static _Alignas(16) char value[65536];
    weft_world *world = open_world();
    weft_component c = weft_component_create(world, desc);
    CHECK(c.id != 0);
    size_t size = weft_component_info(world, c)->size;
    for (uint32_t i = 0; i < ROWS; i++) {
        weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, c));
        memset(value, 0, size);
        if (size != 0) fill(value, i);
        if (size != 0) CHECK_OK(weft_entity_set(world, e, c, value, size));
        if ((desc->flags & WEFT_ENABLEABLE) != 0 && i % 5 == 0)
            CHECK_OK(weft_entity_enable(world, e, c, false));
    }
    weft_world_bytes bytes, copy;
    CHECK_OK(weft_world_save_memory(world, &bytes, NULL));
    copy = bytes;
    copy.bytes = malloc(bytes.count);
    memcpy(copy.bytes, bytes.bytes, bytes.count);
    weft_world_bytes_free(world, &bytes);
    CHECK_OK(weft_world_destroy(world));
    return copy;
}

/* What was reported, as "ADDED mass, DROPPED heat, ". */
typedef struct changes {
    char text[512];
} changes;

static void note_change(const weft_load_change *change, void *user)
{
    static const char *const kinds[] = {"ADDED",     "DROPPED", "RENAMED",
                                        "CONVERTED", "LONGER",  "SHORTER"};
    changes *c = user;
    size_t at = strlen(c->text);
    snprintf(c->text + at, sizeof c->text - at, "%s %s, ", kinds[change->kind], change->field);
}

/* A new world with the component, after the load of an old one. Lives in one test. */
typedef struct loaded {
    weft_world *world;
    weft_component c;
    changes changes;
    weft_load_report report;
    weft_result result;
} loaded;

static void load_new(loaded *l, const weft_component_desc *desc, weft_world_bytes bytes,
                     weft_load_desc load)
{
    *l = (loaded){.world = open_world()};
    l->c = weft_component_create(l->world, desc);
    CHECK(l->c.id != 0);
    load.changed = note_change;
    load.changed_user = &l->changes;
    load.report = &l->report;
    load.report_bytes = sizeof l->report;
    l->result = weft_world_load_memory(l->world, bytes.bytes, bytes.count, &load);
    CHECK_OK(weft_world_validate(l->world));
    free(bytes.bytes);
}

static const void *value_of(const loaded *l, uint32_t row)
{
    weft_entity e = {row, 1};
    const void *value = weft_entity_read(l->world, e, l->c);
    CHECK(value != NULL);
    return value;
}

static uint64_t entities_of(const loaded *l)
{
    weft_world_stats stats;
    weft_world_stats_get(l->world, &stats, sizeof stats);
    return stats.entities;
}

static void done(loaded *l)
{
    CHECK_OK(weft_world_destroy(l->world));
}

#define CHECK_CHANGES(l, expected) CHECK_TEXT((l).changes.text, expected)

/* ---- the old layout ---- */

typedef struct Part {
    float mass;
    uint16_t metal;
} Part;
static const weft_field part_fields[] = {WEFT_FIELD(Part, mass), WEFT_FIELD(Part, metal)};
static const weft_type part_type = WEFT_TYPE(Part, part_fields);
static const weft_constant phase_names[] = {{"lost", -1}, {"coast", 0}, {"burn", 1}};
static const weft_type phase_small = WEFT_TYPE_CONSTANTS(int8_t, phase_names);
static const weft_type phase_large = WEFT_TYPE_CONSTANTS(int32_t, phase_names);

typedef struct Old {
    int32_t id;
    int32_t height;
    double speed;
    float drag[3];
    int8_t phase;
    Part hull;
    char note[16];
} Old;
static const weft_field old_fields[] = {
    WEFT_FIELD(Old, id),
    WEFT_FIELD(Old, height),
    WEFT_FIELD(Old, speed),
    WEFT_FIELD(Old, drag),
    WEFT_FIELD_OF(Old, phase, WEFT_FIELD_ENUM, &phase_small),
    WEFT_FIELD_OF(Old, hull, WEFT_FIELD_STRUCT, &part_type),
    WEFT_FIELD(Old, note),
};
static const weft_type old_type = {.name = "Sat",
                                   .size = sizeof(Old),
                                   .alignment = _Alignof(Old),
                                   .fields = old_fields,
                                   .field_count = 7};

static void fill_old(void *value, uint32_t row)
{
    Old old = {.id = (int32_t)row, .height = (int32_t)row - 100, .speed = row * 0.5};
    old.drag[0] = (float)row;
    old.drag[1] = 1;
    old.drag[2] = 2;
    old.phase = (int8_t)((int)(row % 3) - 1);
    old.hull = (Part){(float)row * 2, (uint16_t)(row + 7)};
    snprintf(old.note, sizeof old.note, "n%u", row);
    memcpy(value, &old, sizeof old);
}

static weft_world_bytes old_world(void)
{
    return save_old(&(weft_component_desc){.type = &old_type, .flags = WEFT_ENABLEABLE}, fill_old);
}

#define NEW_TYPE(Type, list)                                                                       \
    {                                                                                              \
        .name = "Sat", .size = sizeof(Type), .alignment = _Alignof(Type), .fields = (list),        \
        .field_count = sizeof(list) / sizeof((list)[0])                                            \
    }
#define LOAD(l, described, ...)                                                                    \
    load_new((l), &(weft_component_desc){.type = (described), .flags = WEFT_ENABLEABLE},           \
             old_world(), (weft_load_desc){__VA_ARGS__})

PLAIN_TEST(added_fields_get_the_initial_value_and_dropped_ones_are_reported)
{
    typedef struct New {
        double mass;
        int32_t id;
        weft_entity target;
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, mass), WEFT_FIELD(New, id),
                                        WEFT_FIELD(New, target)};
    static const New initial = {.mass = 12.5, .id = 77, .target = {5, 1}};
    static weft_type type = NEW_TYPE(New, fields);
    type.initial = &initial;
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->mass == 12.5 && value->id == (int32_t)i && value->target.version == 0);
    }
    CHECK_CHANGES(l, "DROPPED height, DROPPED speed, DROPPED drag, DROPPED phase, "
                     "DROPPED hull.mass, DROPPED hull.metal, DROPPED note, ADDED mass, "
                     "ADDED target, ");
    done(&l);
}

PLAIN_TEST(moved_fields_keep_their_values)
{
    typedef struct New {
        char note[16];
        Part hull;
        int8_t phase;
        float drag[3];
        double speed;
        int32_t height, id;
    } New;
    static const weft_field fields[] = {
        WEFT_FIELD(New, note),  WEFT_FIELD_OF(New, hull, WEFT_FIELD_STRUCT, &part_type),
        WEFT_FIELD(New, drag),  WEFT_FIELD_OF(New, phase, WEFT_FIELD_ENUM, &phase_small),
        WEFT_FIELD(New, speed), WEFT_FIELD(New, height),
        WEFT_FIELD(New, id),
    };
    static const weft_type type = NEW_TYPE(New, fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        Old old;
        fill_old(&old, i);
        bool is_same = value->id == old.id && value->height == old.height &&
                       value->speed == old.speed && memcmp(value->drag, old.drag, 12) == 0 &&
                       value->phase == old.phase && value->hull.mass == old.hull.mass &&
                       value->hull.metal == old.hull.metal && strcmp(value->note, old.note) == 0;
        CHECK(is_same);
    }
    CHECK_CHANGES(l, "");
    done(&l);
}

PLAIN_TEST(renamed_fields_and_types_are_found_by_the_list)
{
    typedef struct New {
        int32_t number;
        Part body;
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, number),
                                        WEFT_FIELD_OF(New, body, WEFT_FIELD_STRUCT, &part_type)};
    static weft_type type = NEW_TYPE(New, fields);
    type.name = "Satellite";
    static const weft_load_rename renames[] = {
        {"Sat", NULL, "Satellite"}, {"Sat", "id", "number"}, {"Sat", "hull", "body"}};
    loaded l;
    LOAD(&l, &type, .renames = renames, .rename_count = 3);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->number == (int32_t)i && value->body.mass == (float)i * 2 &&
              value->body.metal == (uint16_t)(i + 7));
    }
    CHECK(strstr(l.changes.text, "RENAMED number, ") != NULL);
    CHECK(strstr(l.changes.text, "RENAMED body.mass, RENAMED body.metal, ") != NULL);
    done(&l);
}

PLAIN_TEST(numbers_are_widened_with_their_sign_and_enums_too)
{
    typedef struct New {
        int64_t height;
        int32_t phase;
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, height),
                                        WEFT_FIELD_OF(New, phase, WEFT_FIELD_ENUM, &phase_large)};
    static const weft_type type = NEW_TYPE(New, fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->height == (int64_t)i - 100 && value->phase == (int)(i % 3) - 1);
    }
    CHECK(strstr(l.changes.text, "CONVERTED height, ") != NULL);
    done(&l);
}

PLAIN_TEST(numbers_are_narrowed_when_they_fit)
{
    typedef struct New {
        uint16_t id;
        float speed;
    } New;
    typedef struct Small {
        uint16_t height; /* negative ones */
    } Small;
    static const weft_field fields[] = {WEFT_FIELD(New, id), WEFT_FIELD(New, speed)};
    static const weft_field small_fields[] = {WEFT_FIELD(Small, height)};
    static const weft_type type = NEW_TYPE(New, fields), small = NEW_TYPE(Small, small_fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->id == i && value->speed == (float)i / 2);
    }
    done(&l);
    LOAD(&l, &small, 0);
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    CHECK_U64(l.report.reason, WEFT_LOAD_TYPE_LAYOUT);
    CHECK(strstr(l.report.text, "\"Sat\" has a value in the file that does not fit field "
                                "\"height\"") != NULL);
    CHECK_U64(entities_of(&l), 0);
    done(&l);
}

PLAIN_TEST(integers_become_floats_exactly_and_whole_floats_integers)
{
    typedef struct New {
        float id;
        double height;
        int16_t drag[3];
    } New;
    typedef struct Halves {
        int64_t speed;
    } Halves;
    static const weft_field fields[] = {WEFT_FIELD(New, id), WEFT_FIELD(New, height),
                                        WEFT_FIELD(New, drag)};
    static const weft_field half_fields[] = {WEFT_FIELD(Halves, speed)};
    static const weft_type type = NEW_TYPE(New, fields), halves = NEW_TYPE(Halves, half_fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->id == (float)i && value->height == (double)i - 100 &&
              value->drag[0] == (int16_t)i && value->drag[2] == 2);
    }
    done(&l);
    LOAD(&l, &halves, 0);
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH); /* 0.5 */
    done(&l);
}

static void fill_nan(void *value, uint32_t row)
{
    const uint64_t payload = UINT64_C(0xfff8000012345678) + row;
    const uint32_t small = 0xffc12345u;
    memcpy(value, &payload, sizeof payload);
    memcpy((char *)value + 8, &small, sizeof small);
}

/* Processors keep more or less of the bits when they convert: riscv64 nothing. */
PLAIN_TEST(not_a_number_becomes_the_usual_one_on_every_machine)
{
    typedef struct OldReal {
        double narrowed;
        float widened, kept;
    } OldReal;
    typedef struct NewReal {
        float narrowed, kept;
        double widened;
    } NewReal;
    static const weft_field from_fields[] = {
        WEFT_FIELD(OldReal, narrowed), WEFT_FIELD(OldReal, widened), WEFT_FIELD(OldReal, kept)};
    static const weft_field to_fields[] = {WEFT_FIELD(NewReal, narrowed), WEFT_FIELD(NewReal, kept),
                                           WEFT_FIELD(NewReal, widened)};
    static const weft_type from = {.name = "Odd",
                                   .size = sizeof(OldReal),
                                   .alignment = _Alignof(OldReal),
                                   .fields = from_fields,
                                   .field_count = 3};
    static const weft_type to = {.name = "Odd",
                                 .size = sizeof(NewReal),
                                 .alignment = _Alignof(NewReal),
                                 .fields = to_fields,
                                 .field_count = 3};
    loaded l;
    load_new(&l, &(weft_component_desc){.type = &to},
             save_old(&(weft_component_desc){.type = &from}, fill_nan), (weft_load_desc){0});
    CHECK_OK(l.result);
    const char *value = value_of(&l, 7);
    uint32_t narrowed;
    uint64_t widened;
    memcpy(&narrowed, value + offsetof(NewReal, narrowed), sizeof narrowed);
    memcpy(&widened, value + offsetof(NewReal, widened), sizeof widened);
    CHECK_U64(narrowed, 0x7fc00000u);
    CHECK_U64(widened, UINT64_C(0x7ff8000000000000));
    done(&l);
}

PLAIN_TEST(arrays_may_be_longer_or_shorter)
{
    typedef struct Long {
        float drag[5];
        char note[32];
    } Long;
    typedef struct Short {
        float drag[1];
        char note[6];
    } Short;
    static const weft_field long_fields[] = {WEFT_FIELD(Long, drag), WEFT_FIELD(Long, note)};
    static const weft_field short_fields[] = {WEFT_FIELD(Short, drag), WEFT_FIELD(Short, note)};
    static const Long initial = {.drag = {9, 9, 9, 9, 9}};
    static weft_type lengthened = NEW_TYPE(Long, long_fields);
    static weft_type shortened = NEW_TYPE(Short, short_fields);
    lengthened.initial = &initial;
    loaded l;
    LOAD(&l, &lengthened, 0);
    CHECK_OK(l.result);
    const Long *value = value_of(&l, 2000);
    CHECK(value->drag[0] == 2000 && value->drag[2] == 2 && value->drag[4] == 9);
    CHECK(strcmp(value->note, "n2000") == 0);
    CHECK(strstr(l.changes.text, "LONGER drag, ") != NULL);
    done(&l);
    LOAD(&l, &shortened, 0);
    CHECK_OK(l.result);
    CHECK(((const Short *)value_of(&l, 5))->drag[0] == 5);
    CHECK(strcmp(((const Short *)value_of(&l, 2999))->note, "n2999") == 0);
    CHECK(strstr(l.changes.text, "SHORTER drag, ") != NULL);
    done(&l);
    static weft_field fields[2];
    memcpy(fields, short_fields, sizeof fields);
    fields[1].bytes = 4; /* "n2999" has five */
    shortened.fields = fields;
    LOAD(&l, &shortened, 0);
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    done(&l);
}

PLAIN_TEST(a_nested_struct_may_change_and_become_an_array)
{
    typedef struct Wide {
        uint64_t metal;
        double mass;
    } Wide;
    typedef struct New {
        Wide hull[3];
    } New;
    static const weft_field wide_fields[] = {WEFT_FIELD(Wide, metal), WEFT_FIELD(Wide, mass)};
    static const weft_type wide = WEFT_TYPE(Wide, wide_fields);
    static const weft_field fields[] = {WEFT_FIELD_OF(New, hull, WEFT_FIELD_STRUCT, &wide)};
    static const weft_type type = NEW_TYPE(New, fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        CHECK(value->hull[0].metal == i + 7 && value->hull[0].mass == (double)i * 2 &&
              value->hull[1].metal == 0);
    }
    done(&l);
}

PLAIN_TEST(larger_values_take_several_chunks_and_keep_enable_bits)
{
    typedef struct New {
        int32_t id;
        int32_t pad[1025];
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, id)};
    static const weft_type type = NEW_TYPE(New, fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_OK(l.result);
    CHECK_U64(entities_of(&l), ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        const New *value = value_of(&l, i);
        weft_entity e = {i, 1};
        CHECK(value->id == (int32_t)i && value->pad[1024] == 0);
        CHECK(weft_entity_is_enabled(l.world, e, l.c) == (i % 5 != 0));
    }
    weft_entity more = weft_entity_create(l.world, WEFT_ARCHETYPE(l.world, l.c));
    CHECK(weft_entity_is_alive(l.world, more));
    done(&l);
}

PLAIN_TEST(a_component_becomes_a_tag_and_a_tag_gets_values)
{
    typedef struct New {
        float weight;
    } New;
    static const New initial = {3};
    static const weft_field fields[] = {WEFT_FIELD(New, weight)};
    static weft_type type = NEW_TYPE(New, fields);
    type.initial = &initial;
    loaded l;
    load_new(&l, &(weft_component_desc){.name = "Sat", .flags = WEFT_ENABLEABLE}, old_world(),
             (weft_load_desc){0});
    CHECK_OK(l.result);
    CHECK_U64(entities_of(&l), ROWS);
    done(&l);
    weft_world_bytes tags = save_old(&(weft_component_desc){.name = "Sat"}, NULL);
    load_new(&l, &(weft_component_desc){.type = &type}, tags, (weft_load_desc){0});
    CHECK_OK(l.result);
    CHECK(((const New *)value_of(&l, 100))->weight == 3);
    done(&l);
}

static const char *speed_in_km(void *to, const void *from, size_t bytes, void *user)
{
    Old old;
    uint32_t *count = user;
    if (bytes != sizeof old) return "not the old layout";
    memcpy(&old, from, sizeof old);
    if (++*count == 0) return "too many";
    *(double *)to = old.speed / 1000;
    return old.id == 2500 && *count > ROWS ? "refused on purpose" : NULL;
}

PLAIN_TEST(a_migration_fills_what_names_cannot)
{
    typedef struct New {
        double speed_km;
        int32_t id;
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, speed_km), WEFT_FIELD(New, id)};
    static const weft_type type = NEW_TYPE(New, fields);
    weft_world *world = open_world();
    weft_component c = weft_component_create(
        world, &(weft_component_desc){.type = &old_type, .flags = WEFT_ENABLEABLE});
    uint64_t hash = weft_component_hash(world, c);
    CHECK_OK(weft_world_destroy(world));
    uint32_t count = 0, never = 0;
    weft_load_migration migrations[] = {{"Sat", hash + 1, speed_in_km, &never},
                                        {"Sat", hash, speed_in_km, &count}};
    loaded l;
    LOAD(&l, &type, .migrations = migrations, .migration_count = 2);
    CHECK_OK(l.result);
    CHECK_U64(count, ROWS);
    CHECK_U64(never, 0);
    const New *value = value_of(&l, 2000);
    CHECK(value->speed_km == 1 && value->id == 2000);
    done(&l);
    LOAD(&l, &type, .migrations = migrations, .migration_count = 2);
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    CHECK(strstr(l.report.text, "refused on purpose") != NULL);
    done(&l);
}

PLAIN_TEST(elements_resources_and_shared_values_evolve_like_columns)
{
    typedef struct Now {
        double a;
    } Now;
    static const weft_field before[] = {{.name = "a", .kind = WEFT_FIELD_I16}};
    static const weft_field now[] = {WEFT_FIELD(Now, a)};
    static const uint32_t flags[] = {WEFT_BUFFER, WEFT_RESOURCE, WEFT_SHARED, WEFT_SPARSE};
    for (uint32_t i = 0; i < 4; i++) {
        weft_world *old = open_world(), *world = open_world();
        weft_component_desc desc = {.name = "X", .size = 2, .flags = flags[i], .fields = before};
        desc.field_count = 1;
        weft_component c = weft_component_create(old, &desc);
        int16_t values[40] = {-7};
        values[39] = 39;
        weft_entity e = weft_entity_create(old, weft_archetype_create(old, NULL, 0));
        if (i != 1) CHECK_OK(weft_entity_add(old, e, c));
        if (i == 0) CHECK_OK(test_buffer_append(old, c, e, values, 40));
        if (i == 1) memcpy(weft_resource_write(old, c), values, 2);
        if (i == 2) CHECK_OK(weft_entity_set_shared(old, e, c, values));
        if (i == 3) CHECK_OK(weft_entity_set(old, e, c, values, 2));
        weft_world_bytes bytes;
        CHECK_OK(weft_world_save_memory(old, &bytes, NULL));
        desc.size = sizeof(Now);
        desc.fields = now;
        weft_component x = weft_component_create(world, &desc);
        CHECK_OK(weft_world_load_memory(world, bytes.bytes, bytes.count, NULL));
        CHECK_OK(weft_world_validate(world));
        const void *at = i == 1   ? weft_resource_read(world, x)
                         : i == 2 ? weft_entity_read_shared(world, e, x)
                                  : weft_entity_read(world, e, x);
        if (i == 0) CHECK_U64(((const weft_buffer *)at)->count, 40);
        if (i == 0) at = weft_buffer_read(at);
        CHECK(*(const double *)at == -7);
        if (i == 0) CHECK(((const double *)at)[39] == 39);
        weft_world_bytes_free(old, &bytes);
        CHECK_OK(weft_world_destroy(old));
        CHECK_OK(weft_world_destroy(world));
    }
}

PLAIN_TEST(what_cannot_be_converted_is_refused_with_the_field)
{
    typedef struct New {
        weft_entity id;
    } New;
    static const weft_field fields[] = {WEFT_FIELD(New, id)};
    static const weft_type type = NEW_TYPE(New, fields);
    loaded l;
    LOAD(&l, &type, 0);
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    CHECK(strstr(l.report.text, "\"id\" of another kind") != NULL);
    done(&l);
    load_new(&l, &(weft_component_desc){.type = &type}, old_world(), (weft_load_desc){0});
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    CHECK(strstr(l.report.text, "another kind (weft_component_flags)") != NULL);
    done(&l);
    load_new(&l, &(weft_component_desc){.name = "Sat", .size = 8, .flags = WEFT_ENABLEABLE},
             old_world(), (weft_load_desc){0});
    CHECK_RESULT(l.result, WEFT_TYPE_MISMATCH);
    CHECK_U64(l.report.reason, WEFT_LOAD_TYPE_SIZE);
    done(&l);
    load_new(&l, &(weft_component_desc){.type = &type}, old_world(),
             (weft_load_desc){.rename_count = 1});
    CHECK_RESULT(l.result, WEFT_INVALID_ARGUMENT);
    done(&l);
}
