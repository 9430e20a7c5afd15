/* SPDX-License-Identifier: MIT */
/* test_refused.c: refused memory in the functions of worlds, entities, components, queries,
 * relations, recorders, snapshots, files, texts and transfer, with all kinds of components: see
 * refused.h. */
#include "command_ways.h"
#include "refused.h"
#include "version_renewal.h"
#include "world_state.h"

#include <stdio.h>
#include <unistd.h>
#include <weft/snapshot.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/type.h>
#include <weft/value.h>
#include <weft/world_text.h>

enum {
    ENTITIES = 64,
    FAR = 200,
    MEMBERS = 3,
    WITH_KIND = 10,
    ONE = 40,
    BIG_BYTES = 2400,
    UNSAVED = 5,
    COMMANDS = 300 /* their values make the table of shared values grow */
};

/* A world in which every function has something to do. Entities by number from 1 on: 1 to 3 are a
 * linked group with all kinds, 4 is a prefab, up to 9 have the kind and PLAIN, the rest is bare.
 * Owner: one run. */
typedef struct bed {
    way w;
    uint32_t kind;
    const test_memory *memory;
    weft_world *other;            /* a new one */
    weft_component scores, marks; /* a BUFFER resource; switches of all bare ones */
    weft_archetype bare, full;
    weft_query query, kinds, one; /* all bare ones; all with the kind; the prefab */
    weft_snapshot *snapshot;
    weft_world_bytes bytes;
    weft_recorder *recorder;
    char path[64];
    char *text;
    size_t text_bytes;
    uint32_t refused_records;
    uint64_t errors; /* of the world before the call */
    weft_world_hook hook;
    weft_buffers buffers; /* of entity 5, or of the root of the group; opening stamps */
} bed;

static const weft_field target_field = {"to", WEFT_FIELD_ENTITY, 0, 1};

/* ---- the bed ---- */

static void give(bed *b, uint32_t number, uint32_t kind, uint32_t value)
{
    command c = {.op = WEFT__COMMAND_ADD, .kind = (uint8_t)kind, .target = number, .other = 3};
    c.value = value | 1;
    if (has_value(kind)) c.op = WEFT__COMMAND_SET;
    if (is_kind(kind, WEFT_SHARED)) c.op = WEFT__COMMAND_SET_SHARED;
    if (is_kind(kind, WEFT_BUFFER)) c.op = WEFT__COMMAND_APPEND;
    if (kind == LIKES || kind == PARENT) {
        CHECK_OK(weft_relation_set(b->w.world, b->w.entities[number], b->w.of[kind],
                                   b->w.entities[ENTITIES]));
        return;
    }
    CHECK_OK(call(&b->w, &c));
}

static weft_result text_take(void *user, const void *bytes, size_t count)
{
    bed *b = user;
    b->text = realloc(b->text, b->text_bytes + count);
    memcpy(b->text + b->text_bytes, bytes, count);
    b->text_bytes += count;
    return WEFT_OK;
}

static void world_make(bed *b, const refused_place *place)
{
    way *w = &b->w;
    weft_world_desc desc = {.pool = place->pool,
                            .allocator = place->heap,
                            .os = place->os,
                            .without_huge_pages = true,
                            .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &w->world));
    kinds_make(w);
    b->marks = weft_component_create_plain(w->world, "marks", 4, 4, WEFT_ENABLEABLE);
    b->scores = weft_component_create_plain(w->world, "scores", 4, 4, WEFT_BUFFER | WEFT_RESOURCE);
    CHECK(b->marks.id != 0 && b->scores.id != 0);
    CHECK_OK(weft_world_create(&desc, &b->other));
    CHECK(weft_component_create_plain(b->other, "scores", 4, 4, WEFT_BUFFER | WEFT_RESOURCE).id !=
          0);
}

static void entities_make(bed *b)
{
    way *w = &b->w;
    b->bare = weft_archetype_create(w->world, (weft_component[]){w->of[NUMBER], b->marks}, 2);
    CHECK_OK(weft_entity_create_many(w->world, b->bare, ENTITIES, w->entities + 1));
    b->full = weft_archetype_create(
        w->world,
        (weft_component[]){w->of[NUMBER], w->of[PLAIN], w->of[HOOKED], w->of[LIST], w->of[SWITCH]},
        5);
    for (uint32_t i = 1; i <= MEMBERS; i++)
        for (uint32_t kind = 0; kind < GROUP; kind++) give(b, i, kind, i + 3);
    for (uint32_t i = MEMBERS + 2; i < WITH_KIND; i++) {
        if (b->kind != GROUP) give(b, i, b->kind, i);
        give(b, i, PLAIN, i);
    }
    CHECK_OK(weft_entity_add(w->world, w->entities[1], w->of[GROUP]));
    const weft_buffers members = weft_entity_write_buffer(w->world, w->entities[1], w->of[GROUP]);
    CHECK_OK(weft_buffers_append(&members, 0, w->entities + 1, MEMBERS));
    CHECK_OK(weft_entity_add(w->world, w->entities[4], w->of[PREFAB]));
    if (b->kind < GROUP) give(b, 4, b->kind, 4);
    CHECK_OK(weft_entity_enable(w->world, w->entities[2], w->of[SWITCH], false));
    for (uint32_t i = 10; i < 30; i += 3)
        CHECK_OK(weft_entity_enable(w->world, w->entities[i], b->marks, false));
    CHECK_OK(weft_entity_set_name(w->world, w->entities[1], "root"));
    CHECK_OK(weft_entity_set_name(w->world, w->entities[6], "six"));
    const linked to_dead = {w->entities[20], 1};
    CHECK_OK(weft_entity_set(w->world, w->entities[21], w->of[LINK], &to_dead, sizeof to_dead));
    CHECK_OK(weft_entity_destroy(w->world, w->entities[20])); /* a free index */
}

/* Files and texts have no hooked values: their types have no hook that saves. */
static uint32_t unsaved(const bed *b, weft_component out[UNSAVED])
{
    static const uint8_t kinds[UNSAVED] = {HOOKED, HOOKED_LIST, SPARSE_HOOKED, OWNED_SHARE, NEEDY};
    for (uint32_t i = 0; i < UNSAVED; i++) out[i] = b->w.of[kinds[i]];
    return UNSAVED;
}

static weft_result save_memory(bed *b, weft_world_bytes *out)
{
    weft_component without[UNSAVED];
    const weft_save_desc desc = {.without = without, .without_count = unsaved(b, without)};
    return weft_world_save_memory(b->w.world, out, &desc);
}

static weft_result write_text(bed *b, weft_writer writer)
{
    weft_component without[UNSAVED];
    const weft_world_text_desc desc = {.without = without, .without_count = unsaved(b, without)};
    return weft_world_save_json(b->w.world, &writer, &desc);
}

static command command_of(const bed *b, weft__command_op op, uint32_t target)
{
    return (command){.op = (uint8_t)op,
                     .kind = (uint8_t)b->kind,
                     .target = target,
                     .other = 3,
                     .set = UINT32_C(1) << NUMBER | UINT32_C(1) << PLAIN,
                     .value = 44}; /* four elements do not fit inline */
}

static void bed_finish(bed *b)
{
    static uint32_t made;
    way *w = &b->w;
    b->query =
        weft_query_create(w->world, &(weft_query_desc){.terms = {{w->of[NUMBER], WEFT_WRITE, 0, 0},
                                                                 {b->marks, WEFT_READ, 0, 0}}});
    b->kinds = weft_query_create(
        w->world, &(weft_query_desc){.terms = {{w->of[b->kind], WEFT_NO_ACCESS, 0, 0}},
                                     .with_prefabs = true,
                                     .with_inactive = true});
    b->one = weft_query_create(
        w->world, &(weft_query_desc){.terms = {{w->of[PREFAB], WEFT_NO_ACCESS, 0, 0}}});
    CHECK(b->query.id != 0 && b->kinds.id != 0 && b->one.id != 0);
    const weft_buffers scores = weft_resource_write_buffer(w->world, b->scores);
    CHECK_OK(weft_buffers_append(&scores, 0, (uint32_t[]){1, 2, 3}, 3));
    CHECK_OK(weft_relation_settle(w->world));
    CHECK_OK(weft_snapshot_take(w->world, NULL, &b->snapshot));
    CHECK_OK(save_memory(b, &b->bytes));
    CHECK_OK(write_text(b, (weft_writer){text_take, b}));
    if (b->kind < GROUP) give(b, 30, b->kind, 30); /* since the snapshot */
    CHECK_OK(weft_relation_settle(w->world));
    for (uint32_t i = 31; i < 39; i++) /* news for relations */
        CHECK_OK(weft_relation_set(w->world, w->entities[i], w->of[PARENT], w->entities[i - 1]));
    CHECK_OK(weft_entity_destroy(w->world, w->entities[ENTITIES]));
    weft_world_advance_change_version(w->world);
    CHECK_OK(weft_recorder_create(w->world, &b->recorder));
    if (is_kind(b->kind, WEFT_BUFFER))
        b->buffers = weft_entity_write_buffer(w->world, w->entities[b->kind == GROUP ? 1 : 5],
                                              w->of[b->kind]);
    snprintf(b->path, sizeof b->path, "refused-%d-%u.world", (int)getpid(), made++ % 2);
    CHECK(archetype_of(w, command_of(b, WEFT__COMMAND_CREATE, 0).set).id != 0);
    b->errors = weft_world_error(w->world)->number;
}

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(&b->w, 0, offsetof(way, entities));
    memset(b->w.entities, 0, (ENTITIES + 1) * sizeof b->w.entities[0]);
    memset((char *)b + sizeof b->w, 0, sizeof *b - sizeof b->w);
    b->kind = place->kind;
    b->memory = place->heap.user;
    world_make(b, place);
    entities_make(b);
    bed_finish(b);
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    unlink(b->path);
    free(b->text);
    weft_recorder_destroy(b->recorder);
    weft_snapshot_destroy(b->snapshot);
    weft_world_bytes_free(b->w.world, &b->bytes);
    CHECK_OK(weft_world_destroy(b->w.world));
    CHECK_OK(weft_world_destroy(b->other));
    CHECK_U64(at_load_rlx(&b->w.x_owned), 0); /* relaxed: alone */
}

static void bed_look(void *open, refused_look *out)
{
    bed *b = open;
    way *w = &b->w;
    uint64_t versions = 0;
    const uint64_t errors = weft_world_error(w->world)->number; /* questions below may fail */
    refused_see_world(out, w->world);
    refused_see_world(out, b->other);
    for (uint32_t i = 0; i < ENTITIES * KINDS; i++) {
        const weft_entity e = w->entities[1 + i / KINDS];
        if (weft_entity_has(w->world, e, w->of[i % KINDS]))
            versions = versions * 31 + weft_entity_change_version(w->world, e, w->of[i % KINDS]);
    }
    refused_see_soft(out, "versions", versions);
    refused_see(out, "shared values", weft_shared_values(w->world, w->of[SHARE], NULL, 0));
    refused_see(out, "owned values", at_load_rlx(&w->x_owned)); /* relaxed: alone */
    CHECK_U64(weft_world_error(w->world)->number, errors);
}

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->w.world;
}

static weft_world *bed_other(void *open)
{
    const bed *b = open;
    return b->other;
}

/* Of a call that returns no code: failed when the world has a new error. */
static weft_result code_of(weft_world *world, uint64_t errors)
{
    const weft_error *error = weft_world_error(world);
    return error->number == errors ? WEFT_OK : error->code;
}

static weft_result said(bed *b)
{
    const weft_error *error = weft_world_error(b->w.world);
    const bool is_new = error->number != b->errors;
    b->errors = error->number;
    return is_new ? error->code : WEFT_OK;
}

/* ---- entities ---- */

static weft_archetype archetype_with_kind(bed *b)
{
    weft_component list[2] = {b->w.of[NUMBER], b->w.of[b->kind]};
    return weft_archetype_create(b->w.world, list, is_in_rows(b->kind) ? 2 : 1);
}

static weft_result do_archetype(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    weft_component list[3] = {b->w.of[BIG], b->w.of[SWITCH_TAG], b->w.of[b->kind]};
    const bool is_kind_apart = is_in_rows(b->kind) && b->kind != BIG && b->kind != SWITCH_TAG;
    (void)weft_archetype_create(b->w.world, list, is_kind_apart ? 3 : 2);
    return code_of(b->w.world, errors);
}

static weft_result do_create(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)weft_entity_create(b->w.world, archetype_with_kind(b));
    return code_of(b->w.world, errors);
}

static weft_result do_create_many(void *open)
{
    bed *b = open;
    return weft_entity_create_many(b->w.world, archetype_with_kind(b), FAR, NULL);
}

static weft_result do_create_filled(void *open)
{
    bed *b = open;
    static char values[FAR * BIG_BYTES];
    const uint32_t kind = b->kind;
    if (kind_shapes[kind] == OWNING || kind == NUMBER) return WEFT_TYPE_MISMATCH;
    const weft_values filled[] = {{b->w.of[kind], values}};
    return weft_entity_create_filled(b->w.world, archetype_with_kind(b), filled, 1, FAR, NULL);
}

static weft_result do_instantiate(void *open)
{
    bed *b = open;
    return weft_entity_instantiate(b->w.world, b->w.entities[5], FAR, NULL);
}

static weft_result do_instantiate_one(void *open)
{
    bed *b = open;
    return weft_entity_instantiate(b->w.world, b->w.entities[6], 1, NULL); /* named */
}

static weft_result do_instantiate_prefab(void *open)
{
    bed *b = open;
    return weft_entity_instantiate(b->w.world, b->w.entities[4], 20, NULL);
}

static weft_result do_instantiate_group(void *open)
{
    bed *b = open;
    return weft_entity_instantiate(b->w.world, b->w.entities[1], 12, NULL);
}

static weft_result do_destroy(void *open)
{
    bed *b = open;
    return weft_entity_destroy(b->w.world, b->w.entities[5]);
}

static weft_result do_destroy_many(void *open)
{
    bed *b = open;
    return weft_entity_destroy_many(b->w.world, b->w.entities + 1, 60); /* the group, too */
}

static weft_result do_write(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)weft_entity_write(b->w.world, b->w.entities[5], b->w.of[b->kind]);
    return code_of(b->w.world, errors);
}

static weft_result do_add(void *open)
{
    bed *b = open;
    return weft_entity_add(b->w.world, b->w.entities[ONE], b->w.of[b->kind]);
}

static weft_result do_remove(void *open)
{
    bed *b = open;
    return weft_entity_remove(b->w.world, b->w.entities[5], b->w.of[b->kind]);
}

static const command set_one = {.op = WEFT__COMMAND_SET, .target = ONE, .other = 3, .value = 41};

static weft_result do_set(void *open)
{
    bed *b = open;
    command c = set_one;
    c.kind = (uint8_t)b->kind;
    if (!has_value(b->kind)) return WEFT_TYPE_MISMATCH;
    return call(&b->w, &c);
}

static weft_result do_set_as(void *open)
{
    bed *b = open;
    return weft_entity_set_as(b->w.world, b->w.entities[ONE], b->w.of[PLAIN], &(uint32_t){7}, 4,
                              "PLAIN");
}

static weft_result do_set_many(void *open)
{
    bed *b = open;
    static char values[17 * BIG_BYTES];
    const size_t bytes = shape_bytes[kind_shapes[b->kind]];
    if (kind_shapes[b->kind] == OWNING) return WEFT_TYPE_MISMATCH;
    return weft_entity_set_many(b->w.world, b->w.entities + 3, 17, b->w.of[b->kind], values, bytes);
}

static weft_result do_set_shared(void *open)
{
    bed *b = open;
    command c = set_one;
    c.op = WEFT__COMMAND_SET_SHARED;
    c.kind = (uint8_t)b->kind;
    return is_kind(b->kind, WEFT_SHARED) ? call(&b->w, &c) : WEFT_TYPE_MISMATCH;
}

static weft_result do_set_shared_many(void *open)
{
    bed *b = open;
    const linked value = {b->w.entities[3], 99};
    return weft_entity_set_shared_many(b->w.world, b->w.entities + 2, 18, b->w.of[b->kind], &value);
}

static weft_result do_change_many(void *open)
{
    bed *b = open;
    const weft_component add[] = {b->w.of[b->kind], b->w.of[WIDE_SHARE]};
    return weft_entity_change_many(b->w.world, b->w.entities + 3, 17,
                                   &(weft_change_desc){.add = add,
                                                       .add_count = b->kind == WIDE_SHARE ? 1 : 2,
                                                       .remove = &b->marks,
                                                       .remove_count = 1});
}

static weft_result do_set_archetype(void *open)
{
    bed *b = open;
    if (!is_in_rows(b->kind) || b->kind == BIG) return WEFT_TYPE_MISMATCH;
    const weft_component to[] = {b->w.of[b->kind], b->w.of[BIG]};
    return weft_entity_set_archetype(b->w.world, b->w.entities[ONE],
                                     weft_archetype_create(b->w.world, to, 2));
}

static weft_result do_enable(void *open)
{
    bed *b = open;
    return weft_entity_enable(b->w.world, b->w.entities[5], b->w.of[b->kind], false);
}

static weft_result do_set_name(void *open)
{
    bed *b = open;
    return weft_entity_set_name(b->w.world, b->w.entities[50], "fifty");
}

static weft_result do_set_name_unique(void *open)
{
    bed *b = open;
    return weft_entity_set_name_unique(b->w.world, b->w.entities[51], "fifty-one");
}

/* ---- components and relations ---- */

static weft_result do_component(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    const weft_component_desc desc = {.name = "new",
                                      .size = 8,
                                      .flags = kind_flags[b->kind],
                                      .fields = &target_field,
                                      .field_count = 1,
                                      .alignment = 4,
                                      .required = &b->w.of[HOOKED],
                                      .required_count = is_in_rows(b->kind) ? 1 : 0};
    (void)weft_component_create(b->w.world, &desc);
    return code_of(b->w.world, errors);
}

static weft_result do_component_plain(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)weft_component_create_plain(b->w.world, "new", 8, 8, WEFT_SPARSE);
    return code_of(b->w.world, errors);
}

static weft_result do_component_typed(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)weft_component_create_typed(b->w.world, "new", 8, 8, WEFT_BUFFER | WEFT_RESOURCE);
    return code_of(b->w.world, errors);
}

/* Components that a world makes when they are asked for. A part of Parent stays registered, and is
 * found by the next call. */
static weft_result built_in(bed *b, weft_component (*ask)(weft_world *))
{
    const uint64_t errors = weft_world_error(b->other)->number;
    (void)ask(b->other);
    return code_of(b->other, errors);
}

static weft_result do_parent(void *open)
{
    return built_in(open, weft_component_parent);
}

static weft_result do_instance_of(void *open)
{
    return built_in(open, weft_component_instance_of);
}

static weft_result do_section(void *open)
{
    return built_in(open, weft_component_section);
}

static weft_result do_section_request(void *open)
{
    return built_in(open, weft_component_section_request);
}

static weft_result do_declare(void *open)
{
    bed *b = open;
    const weft_relation_desc desc = {.component = b->w.of[LINK], .by_depth = true};
    return weft_relation_declare(b->w.world, &desc);
}

static weft_result do_relation_set(void *open)
{
    bed *b = open;
    return weft_relation_set(b->w.world, b->w.entities[45], b->w.of[b->kind], b->w.entities[5]);
}

static weft_result do_relation_set_many(void *open)
{
    bed *b = open;
    return weft_relation_set_many(b->w.world, b->w.entities + 30, 30, b->w.of[b->kind],
                                  b->w.entities[5]);
}

static weft_result do_settle(void *open)
{
    bed *b = open;
    return weft_relation_settle(b->w.world);
}

static weft_result do_resource_append(void *open)
{
    bed *b = open;
    const weft_buffers scores = weft_resource_write_buffer(b->w.world, b->scores);
    static const uint32_t values[100] = {1, 2, 3};
    return weft_buffers_append(&scores, 0, values, 100);
}

/* ---- buffers ---- */

static weft_result do_append(void *open)
{
    bed *b = open;
    command c = {.op = WEFT__COMMAND_APPEND, .kind = (uint8_t)b->kind, .target = 5, .other = 3};
    _Alignas(16) char values[8 * sizeof(linked)];
    if (b->buffers.count == 0) return WEFT_TYPE_MISMATCH;
    c.value = 4;
    const uint32_t count = make_elements(&b->w, &c, values);
    const weft_result result = weft_buffers_append(&b->buffers, 0, values, count);
    if (result != WEFT_OK) unmake(&b->w, b->kind, values, count);
    return result;
}

static weft_result do_resize(void *open)
{
    const bed *b = open;
    if (b->buffers.count == 0) return WEFT_TYPE_MISMATCH;
    return weft_buffers_resize(&b->buffers, 0, 90);
}

static weft_result do_reserve(void *open)
{
    const bed *b = open;
    if (b->buffers.count == 0) return WEFT_TYPE_MISMATCH;
    return weft_buffers_reserve(&b->buffers, 0, 90);
}

/* ---- queries ---- */

static weft_query_desc kind_query(const bed *b)
{
    const weft_access access = has_value(b->kind) ? WEFT_WRITE : WEFT_NO_ACCESS;
    return (weft_query_desc){.terms = {{b->w.of[b->kind], access, WEFT_ALL, 0}}};
}

/* The query of a function that destroys it again; 0 ids: it was refused. */
static weft_query query_of(bed *b)
{
    const weft_query_desc desc = kind_query(b);
    return weft_query_create(b->w.world, &desc);
}

static weft_result do_query_create(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)query_of(b);
    return code_of(b->w.world, errors);
}

static weft_result query_end(bed *b, weft_query query, weft_result result)
{
    if (query.id == 0) return weft_world_error(b->w.world)->code;
    if (result != WEFT_OK) CHECK_OK(weft_query_destroy(b->w.world, query));
    return result;
}

static weft_result do_filter_shared(void *open)
{
    bed *b = open;
    const linked value = {b->w.entities[3], 5};
    const weft_query made = query_of(b);
    return query_end(b, made,
                     made.id == 0 ? WEFT_OK
                                  : weft_query_filter_shared(b->w.world, made, b->w.of[b->kind],
                                                             WEFT_FILTER_EQUAL, &value, 1));
}

static weft_result do_filter_changed(void *open)
{
    bed *b = open;
    const weft_query made = query_of(b);
    return query_end(
        b, made,
        made.id == 0 ? WEFT_OK : weft_query_filter_changed(b->w.world, made, b->w.of[b->kind], 1));
}

static weft_result do_filter_order(void *open)
{
    bed *b = open;
    const weft_query made = query_of(b);
    return query_end(b, made,
                     made.id == 0 ? WEFT_OK : weft_query_filter_order(b->w.world, made, 1));
}

/* Questions: what a query needs for its answer is made by the first that asks. */
typedef enum question { COUNT, IS_EMPTY, MATCHES, ARCHETYPES, ALL, VALUES, BEGIN, INFO } question;

static weft_result do_ask(void *open)
{
    bed *b = open;
    static weft_entity entities[4 * ENTITIES];
    static uint32_t values[4 * ENTITIES];
    weft_world *world = b->w.world;
    weft_query_info info;
    weft_cursor c;
    b->errors = weft_world_error(world)->number;
    switch ((question)refused_how()) {
    case COUNT:
        (void)weft_query_count(world, b->query);
        break;
    case IS_EMPTY:
        (void)weft_query_is_empty(world, b->query);
        break;
    case MATCHES:
        (void)weft_query_matches(world, b->query, b->w.entities[5]);
        break;
    case ARCHETYPES:
        (void)weft_query_archetypes(world, b->query, NULL, 0);
        break;
    case ALL:
        (void)weft_query_entities(world, b->query, entities, 4 * ENTITIES);
        break;
    case VALUES:
        (void)weft_query_read_values(world, b->query, b->w.of[NUMBER], values, 4 * ENTITIES);
        break;
    case BEGIN:
        c = weft_query_begin(world, b->query);
        while (weft_query_next(&c)) (void)weft_slice_read(&c.slice, 0);
        break;
    case INFO:
        (void)weft_query_info_get(world, b->query, &info, sizeof info);
        break;
    }
    return said(b);
}

static weft_result do_query_single(void *open)
{
    bed *b = open;
    b->errors = weft_world_error(b->w.world)->number;
    const weft_entity one = weft_query_single(b->w.world, b->one);
    return one.version != 0 ? WEFT_OK : said(b);
}

static weft_result do_write_values(void *open)
{
    bed *b = open;
    static const uint32_t values[4 * ENTITIES] = {1};
    b->errors = weft_world_error(b->w.world)->number;
    const uint64_t count = weft_query_count(b->w.world, b->query);
    if (count == 0) return said(b);
    return weft_query_write_values(b->w.world, b->query, b->w.of[NUMBER], values, count);
}

static void slice_touch(weft_slice *slice, void *user)
{
    (void)user;
    uint32_t *numbers = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) numbers[i] = i;
}

static weft_result do_each_parallel(void *open)
{
    bed *b = open;
    return weft_query_each_parallel(b->w.world, b->query, slice_touch, NULL);
}

static weft_result do_indexed(void *open)
{
    bed *b = open;
    weft_indexed indexed;
    const weft_result result = weft_indexed_open(b->w.world, b->query, 0, &indexed);
    if (result != WEFT_OK) return result;
    CHECK(weft_indexed_read(&indexed, 7) != NULL && weft_indexed_entity(&indexed, 9).version != 0);
    weft_indexed_close(&indexed);
    return WEFT_OK;
}

static weft_result do_finder(void *open)
{
    bed *b = open;
    b->errors = weft_world_error(b->w.world)->number;
    const weft_finder finder = weft_finder_open(b->w.world, b->w.of[b->kind]);
    if (has_value(b->kind) && finder.component.id != 0)
        CHECK(weft_finder_read(&finder, b->w.entities[1]) != NULL);
    return said(b);
}

static weft_result do_query_add(void *open)
{
    bed *b = open;
    return weft_query_add(b->w.world, b->query, b->w.of[b->kind]);
}

static weft_result do_query_remove(void *open)
{
    bed *b = open;
    return weft_query_remove(b->w.world, b->kinds, b->w.of[b->kind]);
}

static weft_result do_query_set(void *open)
{
    bed *b = open;
    static const char value[BIG_BYTES];
    if (kind_shapes[b->kind] == OWNING) return WEFT_TYPE_MISMATCH;
    return weft_query_set(b->w.world, b->query, b->w.of[b->kind], value,
                          shape_bytes[kind_shapes[b->kind]]);
}

static weft_result do_query_set_shared(void *open)
{
    bed *b = open;
    const linked value = {b->w.entities[3], 99};
    return weft_query_set_shared(b->w.world, b->query, b->w.of[b->kind], &value);
}

static weft_result do_query_enable(void *open)
{
    bed *b = open;
    return weft_query_enable(b->w.world, b->kinds, b->w.of[b->kind], false);
}

static weft_result do_query_destroy(void *open)
{
    bed *b = open;
    return weft_query_destroy_entities(b->w.world, b->kinds);
}

/* ---- look-ups and versions ---- */

/* Single look-ups; after as many as there are chunks a table is made for them. */
typedef enum look_up { READ, READ_SLOWLY, READ_BUFFER, WRITE_BUFFER, READ_MANY } look_up;

/* Whether the look-up finds entity 5's value, or buffer. */
static bool look_up_one(bed *b, uint32_t of_many)
{
    static unsigned char values[ENTITIES][BIG_BYTES];
    weft_entity many[ENTITIES];
    weft_world *world = b->w.world;
    const weft_entity entity = b->w.entities[5];
    const weft_component component = b->w.of[b->kind];
    switch ((look_up)refused_how()) {
    case READ:
        return weft_entity_read(world, entity, component) != NULL;
    case READ_SLOWLY:
        return weft_entity_read_slowly(world, entity, component) != NULL;
    case READ_BUFFER:
        return weft_entity_read_buffer(world, entity, component).count != 0;
    case WRITE_BUFFER:
        return weft_entity_write_buffer(world, entity, component).count != 0;
    case READ_MANY:
        for (uint32_t i = 0; i < of_many; i++) many[i] = entity;
        return weft_entity_read_many(world, many, of_many, component, values) == WEFT_OK;
    }
    return false;
}

static weft_result do_look_up(void *open)
{
    bed *b = open;
    b->errors = weft_world_error(b->w.world)->number;
    for (uint32_t i = 0; i < 4 * ENTITIES; i++)
        if (!look_up_one(b, 1 + i % ENTITIES)) return said(b);
    return said(b);
}

/* A world whose versions are near the end of what is kept, with a filter that is older. */
static void *aged_open(const refused_place *place)
{
    bed *b = bed_open(place);
    const uint32_t since = weft_world_advance_change_version(b->w.world);
    CHECK_OK(weft_query_filter_changed(b->w.world, b->query, b->w.of[NUMBER], since));
    CHECK_U64(weft_query_count(b->w.world, b->query), 0);
    for (uint32_t i = 0; i < 2; i++) {
        b->w.world->front.version += WEFT__VERSION_RENEWAL;
        CHECK(weft_world_advance_change_version(b->w.world) != 0);
    }
    b->w.world->front.version += WEFT__VERSION_RENEWAL;
    return b;
}

/* Versions that have no memory to be renewed are renewed by the next call. */
static weft_result do_advance(void *open)
{
    bed *b = open;
    b->errors = weft_world_error(b->w.world)->number;
    for (uint32_t i = 0; i < 2; i++) CHECK(weft_world_advance_change_version(b->w.world) != 0);
    if (b->memory->fails_forever) return said(b); /* no call renews them */
    CHECK(b->w.world->front.version - b->w.world->front.renewed < WEFT__VERSION_RENEWAL);
    CHECK_U64(weft_query_count(b->w.world, b->query), 0);
    CHECK(weft_entity_write(b->w.world, b->w.entities[ONE], b->w.of[NUMBER]) != NULL);
    CHECK(weft_query_count(b->w.world, b->query) != 0);
    return said(b);
}

/* ---- recorders ---- */

/* A recorder with a command for each of several entities, whose values refer to one that it
 * creates. */
static void *recorded_open(const refused_place *place)
{
    bed *b = bed_open(place);
    const command made = command_of(b, WEFT__COMMAND_CREATE, ENTITIES + 1);
    command c = {
        .op = WEFT__COMMAND_ADD, .kind = (uint8_t)b->kind, .other = ENTITIES + 1, .value = 9};
    if (has_value(b->kind)) c.op = WEFT__COMMAND_SET;
    if (is_kind(b->kind, WEFT_SHARED)) c.op = WEFT__COMMAND_SET_SHARED;
    if (is_kind(b->kind, WEFT_BUFFER)) c.op = WEFT__COMMAND_APPEND;
    CHECK_OK(record(&b->w, b->recorder, &made));
    for (uint32_t i = 0; i < COMMANDS; i++) {
        c.target = ONE + i % 8;
        c.other = 1 + i % (ENTITIES + 1);
        c.value = 9 + i;
        (void)record(&b->w, b->recorder, &c); /* some kinds go with no command */
    }
    b->errors = weft_world_error(b->w.world)->number;
    return b;
}

static weft_result do_recorder_destroy(void *open)
{
    bed *b = open;
    weft_recorder_destroy(b->recorder);
    b->recorder = NULL;
    return said(b);
}

static weft_result do_recorder(void *open)
{
    bed *b = open;
    weft_recorder *made;
    const weft_result result = weft_recorder_create(b->w.world, &made);
    if (result == WEFT_OK) weft_recorder_destroy(made);
    return result;
}

/* Records one command, and plays it: the next playback tells of records that were refused. */
static weft_result record_play(bed *b, const command *c)
{
    way *w = &b->w;
    weft_result result = record(w, b->recorder, c);
    if (result != WEFT_OK) { /* no handle: of creations, which go with all kinds */
        if ((c->op == WEFT__COMMAND_CREATE || c->op == WEFT__COMMAND_INSTANTIATE))
            result = WEFT_OUT_OF_MEMORY;
        b->refused_records += result == WEFT_OUT_OF_MEMORY;
        if (result != WEFT_OUT_OF_MEMORY) (void)weft_recorder_play(b->recorder);
        return result;
    }
    result = weft_recorder_play(b->recorder);
    if (result != WEFT_OK) CHECK_RESULT(weft_world_error(w->world)->code, result);
    const bool is_told = b->refused_records != 0 && (result == WEFT_OUT_OF_MEMORY ||
                                                     result == WEFT_BAD_HANDLE); /* no archetype */
    b->refused_records = 0;
    return is_told ? WEFT_OK : result;
}

/* A command on the entity that it is about. */
static weft_result do_record(void *open)
{
    bed *b = open;
    const weft__command_op op = (weft__command_op)refused_how();
    uint32_t target = ONE;                                 /* has not the kind */
    if (op == WEFT__COMMAND_CREATE) target = ENTITIES + 1; /* its archetype is there */
    if (op == WEFT__COMMAND_DESTROY || op == WEFT__COMMAND_REMOVE || op == WEFT__COMMAND_ENABLE ||
        op == WEFT__COMMAND_SET_BUFFER)
        target = 5;
    const command c = command_of(b, op, target);
    if (op == WEFT__COMMAND_SET && !has_value(b->kind)) return WEFT_TYPE_MISMATCH;
    if (op == WEFT__COMMAND_SET_SHARED && !is_kind(b->kind, WEFT_SHARED)) return WEFT_TYPE_MISMATCH;
    if (weft__command_has_elements((uint8_t)op) && !is_kind(b->kind, WEFT_BUFFER))
        return WEFT_TYPE_MISMATCH;
    return record_play(b, &c);
}

static weft_result do_record_instantiate(void *open)
{
    bed *b = open;
    command c = command_of(b, WEFT__COMMAND_INSTANTIATE, ENTITIES + 1);
    c.other = 5;
    return record_play(b, &c);
}

/* Query-wide commands on all bare rows. */
static weft_result do_record_query(void *open)
{
    bed *b = open;
    const weft__command_op op = (weft__command_op)refused_how();
    b->w.queries[0] =
        op == WEFT__COMMAND_QUERY_ADD || op == WEFT__COMMAND_QUERY_SET_SHARED ? b->query : b->kinds;
    const command c = command_of(b, op, 0);
    if (op == WEFT__COMMAND_QUERY_SET_SHARED && !is_kind(b->kind, WEFT_SHARED))
        return WEFT_TYPE_MISMATCH;
    return record_play(b, &c);
}

/* Rows that are filled in place. `how`: 0: as they are, 1: with shared values, 2: with ids. */
static weft_result do_record_rows(void *open)
{
    bed *b = open;
    const uint32_t how = refused_how();
    way *w = &b->w;
    weft_slice rows;
    const linked value = {w->entities[3], 5};
    const weft_values shared = {w->of[b->kind], &value};
    const weft_archetype to = archetype_with_kind(b);
    weft_result result;
    if (to.id == 0) return weft_world_error(w->world)->code;
    if (how == 1)
        result = weft_recorder_create_rows_with(
            b->recorder,
            &(weft_rows_desc){.archetype = to,
                              .count = 20,
                              .shared = &shared,
                              .shared_count = is_kind(b->kind, WEFT_SHARED) ? 1 : 0},
            &rows);
    else
        result = how == 2 ? weft_recorder_create_rows_unordered(b->recorder, to, 20, &rows)
                          : weft_recorder_create_rows(b->recorder, to, 20, &rows);
    if (result == WEFT_OK && how == 0)
        result = weft_recorder_row_entity(b->recorder, &rows, 1).version != 0
                     ? WEFT_OK
                     : weft_world_error(w->world)->code;
    const bool is_refused = result != WEFT_OK; /* as the playback says again */
    const weft_result played = weft_recorder_play(b->recorder);
    return is_refused ? WEFT_OUT_OF_MEMORY : played;
}

/* Many commands: they fold, and workers take part. What fails drops what comes after it. */
static weft_result do_play(void *open)
{
    bed *b = open;
    way *w = &b->w;
    command c = command_of(b, WEFT__COMMAND_ADD, 0);
    weft_result result = WEFT_OK;
    for (uint32_t i = 5; i < ENTITIES && result == WEFT_OK; i++) {
        c.target = i;
        result = record(w, b->recorder, &c);
        command other = c;
        other.op = WEFT__COMMAND_SET, other.kind = PLAIN;
        if (result == WEFT_OK) result = record(w, b->recorder, &other);
    }
    const weft_result played = weft_recorder_play(b->recorder);
    return result != WEFT_OK ? result : played;
}

/* ---- worlds ---- */

static weft_result do_blobs(void *open)
{
    bed *b = open;
    const uint64_t errors = weft_world_error(b->w.world)->number;
    (void)weft_world_blobs(b->w.world);
    return code_of(b->w.world, errors);
}

static weft_result do_hook(void *open)
{
    bed *b = open;
    const weft_result result = weft_world_hook_add(b->w.world, &b->hook);
    if (result == WEFT_OK) CHECK_OK(weft_world_hook_remove(b->w.world, &b->hook));
    return result;
}

static weft_result do_compact(void *open)
{
    bed *b = open;
    weft_world_compact(b->w.world, UINT64_MAX); /* stops early without memory, which is no error */
    return WEFT_OK;
}

static weft_result do_clear_references(void *open)
{
    bed *b = open;
    return weft_world_clear_references(b->w.world, NULL);
}

static weft_result do_restore(void *open)
{
    bed *b = open;
    return weft_snapshot_restore(b->w.world, b->snapshot);
}

static weft_result take(bed *b, const weft_snapshot *previous)
{
    weft_snapshot *taken;
    const weft_result result = weft_snapshot_take(b->w.world, previous, &taken);
    if (result == WEFT_OK) weft_snapshot_destroy(taken);
    return result;
}

static weft_result do_snapshot(void *open)
{
    bed *b = open;
    return take(b, b->snapshot);
}

static weft_result do_snapshot_first(void *open)
{
    return take(open, NULL);
}

static weft_result do_save(void *open)
{
    bed *b = open;
    weft_component without[UNSAVED];
    const weft_save_desc desc = {.without = without, .without_count = unsaved(b, without)};
    return weft_world_save(b->w.world, b->path, &desc);
}

static weft_result do_save_memory(void *open)
{
    bed *b = open;
    weft_world_bytes bytes;
    const weft_result result = save_memory(b, &bytes);
    if (result == WEFT_OK) weft_world_bytes_free(b->w.world, &bytes);
    return result;
}

static weft_result write_nothing(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return WEFT_OK;
}

static weft_result do_write_json(void *open)
{
    return write_text(open, (weft_writer){write_nothing, NULL});
}

static weft_result do_load_memory(void *open)
{
    bed *b = open;
    return weft_world_load_memory(b->other, b->bytes.bytes, b->bytes.count, NULL);
}

static weft_result do_load(void *open)
{
    bed *b = open;
    FILE *file = fopen(b->path, "we");
    CHECK(file != NULL && fwrite(b->bytes.bytes, 1, b->bytes.count, file) == b->bytes.count);
    CHECK(fclose(file) == 0);
    return weft_world_load(b->other, b->path, NULL);
}

static weft_result do_read_json(void *open)
{
    bed *b = open;
    return weft_world_load_json(b->other, &(weft_text){b->text, b->text_bytes, NULL}, NULL, NULL);
}

/* Without the snapshot, which uses shared values that may be in one world only. */
static void *movable_open(const refused_place *place)
{
    bed *b = bed_open(place);
    weft_snapshot_destroy(b->snapshot);
    b->snapshot = NULL;
    return b;
}

static weft_result do_transfer(void *open)
{
    bed *b = open;
    return weft_world_transfer(b->other, b->w.world, NULL, NULL, 0);
}

static weft_result do_transfer_some(void *open)
{
    bed *b = open;
    return weft_world_transfer(b->other, b->w.world, &(weft_transfer_desc){.query = b->kinds}, NULL,
                               0);
}

/* ---- whole worlds ---- */

/* Whose pool a world has. */
typedef enum sort { LENT, OWN, TRACED, SORTS } sort;

static const char *const sort_names[] = {"lent", "own", "traced"};

typedef struct whole {
    const refused_place *place;
    weft_world *world;
    char path[64];
} whole;

static void *nothing_open(const refused_place *place)
{
    static whole made;
    made = (whole){.place = place};
    snprintf(made.path, sizeof made.path, "refused-%d.pftrace", (int)getpid());
    return &made;
}

static void ignore(void *user, weft_log_level level, const char *text)
{
    (void)user, (void)level, (void)text;
}

static weft_result do_world_create(void *open)
{
    whole *b = open;
    const sort kind = (sort)b->place->kind;
    const weft_world_desc desc = {.pool = kind == LENT ? b->place->pool : NULL,
                                  .workers = kind == LENT ? 0 : b->place->workers,
                                  .trace_file = kind == TRACED ? b->path : NULL,
                                  .allocator = b->place->heap,
                                  .os = b->place->os,
                                  .without_huge_pages = true,
                                  .log = {ignore, NULL}};
    const weft_result result = weft_world_create(&desc, &b->world);
    CHECK(result == WEFT_OK || b->world == NULL);
    return result;
}

static void *whole_open(const refused_place *place)
{
    whole *b = nothing_open(place);
    CHECK_OK(do_world_create(b));
    const weft_component mass = weft_component_create_plain(b->world, "mass", 4, 4, 0);
    CHECK(weft_entity_create(b->world, WEFT_ARCHETYPE(b->world, mass)).version != 0);
    return b;
}

static weft_result do_world_destroy(void *open)
{
    whole *b = open;
    const weft_result result = weft_world_destroy(b->world);
    if (result == WEFT_OK) b->world = NULL;
    return result;
}

static void whole_close(void *open)
{
    whole *b = open;
    CHECK_OK(weft_world_destroy(b->world));
    unlink(b->path);
}

static void whole_look(void *open, refused_look *out)
{
    const whole *b = open;
    const test_memory *memory = b->place->heap.user;
    refused_see(out, "world", b->world != NULL);
    refused_see_soft(out, "blocks", memory->live_blocks);
    if (b->world != NULL) refused_see_world(out, b->world);
}

/* ---- the table ---- */

static const refused_function functions[] = {
    {"weft_archetype_create", do_archetype, REFUSED_KINDS, 0},
    {"weft_entity_create", do_create, REFUSED_KINDS, 0},
    {"weft_entity_create_many", do_create_many, REFUSED_KINDS, 0},
    {"weft_entity_create_filled", do_create_filled, REFUSED_KINDS, 0},
    {"weft_entity_instantiate", do_instantiate, REFUSED_KINDS, 0},
    {"weft_entity_instantiate 1", do_instantiate_one, REFUSED_KINDS, 0},
    {"weft_entity_instantiate prefab", do_instantiate_prefab, REFUSED_KINDS, 0},
    {"weft_entity_instantiate group", do_instantiate_group, REFUSED_WORKERS, 0},
    {"weft_entity_destroy", do_destroy, REFUSED_KINDS, 0},
    {"weft_entity_destroy_many", do_destroy_many, 0, 0},
    {"weft_entity_write", do_write, REFUSED_KINDS, 0},
    {"weft_entity_add", do_add, REFUSED_KINDS, 0},
    {"weft_entity_remove", do_remove, REFUSED_KINDS, 0},
    {"weft_entity_set", do_set, REFUSED_KINDS, 0},
    {"weft_entity_set_as", do_set_as, 0, 0},
    {"weft_entity_set_many", do_set_many, REFUSED_KINDS, 0},
    {"weft_entity_set_shared", do_set_shared, REFUSED_KINDS, 0},
    {"weft_entity_set_shared_many", do_set_shared_many, REFUSED_KINDS, 0},
    {"weft_entity_change_many", do_change_many, REFUSED_KINDS, 0},
    {"weft_entity_set_archetype", do_set_archetype, REFUSED_KINDS, 0},
    {"weft_entity_enable", do_enable, REFUSED_KINDS, 0},
    {"weft_entity_set_name", do_set_name, 0, 0},
    {"weft_entity_set_name_unique", do_set_name_unique, 0, 0},
    {"weft_component_create", do_component, REFUSED_KINDS, 0},
    {"weft_component_create_plain", do_component_plain, 0, 0},
    {"weft_component_create_typed", do_component_typed, 0, 0},
    {"weft_relation_declare", do_declare, 0, 0},
    {"weft_relation_set", do_relation_set, REFUSED_KINDS, 0},
    {"weft_relation_set_many", do_relation_set_many, REFUSED_KINDS, 0},
    {"weft_relation_settle", do_settle, REFUSED_LATER | REFUSED_WORKERS, 0},
    {"weft_buffers_append", do_append, REFUSED_KINDS, 0},
    {"weft_buffers_append resource", do_resource_append, 0, 0},
    {"weft_buffers_resize", do_resize, REFUSED_KINDS, 0},
    {"weft_buffers_reserve", do_reserve, REFUSED_KINDS, 0},
    {"weft_query_create", do_query_create, REFUSED_KINDS, 0},
    {"weft_query_filter_shared", do_filter_shared, REFUSED_KINDS, 0},
    {"weft_query_filter_changed", do_filter_changed, REFUSED_KINDS, 0},
    {"weft_query_filter_order", do_filter_order, REFUSED_KINDS, 0},
    {"weft_query_count", do_ask, 0, COUNT},
    {"weft_query_is_empty", do_ask, 0, IS_EMPTY},
    {"weft_query_matches", do_ask, 0, MATCHES},
    {"weft_query_archetypes", do_ask, 0, ARCHETYPES},
    {"weft_query_entities", do_ask, 0, ALL},
    {"weft_query_read_values", do_ask, 0, VALUES},
    {"weft_query_begin", do_ask, 0, BEGIN},
    {"weft_query_info_get", do_ask, 0, INFO},
    {"weft_query_single", do_query_single, 0, 0},
    {"weft_query_write_values", do_write_values, 0, 0},
    {"weft_query_each_parallel", do_each_parallel, REFUSED_WORKERS, 0},
    {"weft_indexed_open", do_indexed, 0, 0},
    {"weft_finder_open", do_finder, REFUSED_KINDS | REFUSED_LESS, 0},
    {"weft_entity_read", do_look_up, REFUSED_KINDS, READ},
    {"weft_entity_read_slowly", do_look_up, REFUSED_KINDS, READ_SLOWLY},
    {"weft_entity_read_buffer", do_look_up, REFUSED_KINDS, READ_BUFFER},
    {"weft_entity_write_buffer", do_look_up, REFUSED_KINDS, WRITE_BUFFER},
    {"weft_entity_read_many", do_look_up, REFUSED_KINDS, READ_MANY},
    {"weft_query_add", do_query_add, REFUSED_KINDS, 0},
    {"weft_query_remove", do_query_remove, REFUSED_KINDS, 0},
    {"weft_query_set", do_query_set, REFUSED_KINDS, 0},
    {"weft_query_set_shared", do_query_set_shared, REFUSED_KINDS, 0},
    {"weft_query_enable", do_query_enable, REFUSED_KINDS, 0},
    {"weft_query_destroy_entities", do_query_destroy, REFUSED_KINDS, 0},
    {"weft_recorder_create", do_recorder, 0, 0},
    {"weft_recorder_create_entity", do_record, REFUSED_SILENT | REFUSED_IDS, WEFT__COMMAND_CREATE},
    {"weft_recorder_instantiate", do_record_instantiate,
     REFUSED_KINDS | REFUSED_SILENT | REFUSED_IDS, 0},
    {"weft_recorder_destroy_entity", do_record, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_DESTROY},
    {"weft_recorder_add", do_record, REFUSED_KINDS | REFUSED_SILENT, WEFT__COMMAND_ADD},
    {"weft_recorder_remove", do_record, REFUSED_KINDS | REFUSED_SILENT, WEFT__COMMAND_REMOVE},
    {"weft_recorder_set", do_record, REFUSED_KINDS | REFUSED_SILENT, WEFT__COMMAND_SET},
    {"weft_recorder_set_shared", do_record, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_SET_SHARED},
    {"weft_recorder_enable", do_record, REFUSED_KINDS | REFUSED_SILENT, WEFT__COMMAND_ENABLE},
    {"weft_recorder_set_name", do_record, REFUSED_SILENT, WEFT__COMMAND_SET_NAME},
    {"weft_recorder_append", do_record, REFUSED_KINDS | REFUSED_SILENT, WEFT__COMMAND_APPEND},
    {"weft_recorder_set_buffer", do_record, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_SET_BUFFER},
    {"weft_recorder_query_add", do_record_query, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_QUERY_ADD},
    {"weft_recorder_query_remove", do_record_query, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_QUERY_REMOVE},
    {"weft_recorder_query_set_shared", do_record_query, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_QUERY_SET_SHARED},
    {"weft_recorder_query_enable", do_record_query, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_QUERY_ENABLE},
    {"weft_recorder_query_destroy_entities", do_record_query, REFUSED_KINDS | REFUSED_SILENT,
     WEFT__COMMAND_QUERY_DESTROY},
    {"weft_recorder_create_rows", do_record_rows, REFUSED_KINDS | REFUSED_SILENT | REFUSED_IDS, 0},
    {"weft_recorder_create_rows_with", do_record_rows, REFUSED_KINDS | REFUSED_SILENT | REFUSED_IDS,
     1},
    {"weft_recorder_create_rows_unordered", do_record_rows,
     REFUSED_KINDS | REFUSED_SILENT | REFUSED_IDS, 2},
    {"weft_recorder_play many", do_play,
     REFUSED_KINDS | REFUSED_PART | REFUSED_SILENT | REFUSED_WORKERS, 0},
    {"weft_world_blobs", do_blobs, 0, 0},
    {"weft_world_hook_add", do_hook, 0, 0},
    {"weft_world_compact", do_compact, REFUSED_LESS, 0},
    {"weft_world_clear_references", do_clear_references, REFUSED_WORKERS, 0},
    {"weft_snapshot_restore", do_restore, REFUSED_WORKERS, 0},
    {"weft_snapshot_take", do_snapshot, REFUSED_WORKERS, 0},
    {"weft_snapshot_take first", do_snapshot_first, REFUSED_WORKERS, 0},
    {"weft_world_save", do_save, 0, 0},
    {"weft_world_save_memory", do_save_memory, 0, 0},
    {"weft_world_save_json", do_write_json, 0, 0},
};

/* Whose errors are those of the other world. Types made by a refused call stay. */
static const refused_function other_functions[] = {
    {"weft_component_parent", do_parent, REFUSED_TYPES, 0},
    {"weft_component_instance_of", do_instance_of, REFUSED_TYPES, 0},
    {"weft_component_section", do_section, 0, 0},
    {"weft_component_section_request", do_section_request, 0, 0},
    {"weft_world_load", do_load, REFUSED_TYPES, 0},
    {"weft_world_load_memory", do_load_memory, REFUSED_TYPES, 0},
    {"weft_world_load_json", do_read_json, REFUSED_TYPES | REFUSED_LATER, 0}, /* resources stay */
};

static const refused_function transfers[] = {
    {"weft_world_transfer", do_transfer, REFUSED_TYPES, 0},
    {"weft_world_transfer some", do_transfer_some, REFUSED_KINDS | REFUSED_TYPES, 0},
};

static const refused_function on_recorders[] = {
    {"weft_recorder_destroy", do_recorder_destroy, REFUSED_KINDS, 0},
};

static const refused_function on_old_worlds[] = {
    {"weft_world_advance_change_version", do_advance, 0, 0},
};

static const refused_function on_nothing[] = {
    {"weft_world_create", do_world_create, REFUSED_KINDS | REFUSED_WORKERS, 0},
};

static const refused_function on_worlds[] = {
    {"weft_world_destroy", do_world_destroy, REFUSED_KINDS | REFUSED_LESS | REFUSED_WORKERS, 0},
};

static const refused_bed bed_of_worlds = {.close = bed_close,
                                          .look = bed_look,
                                          .world = bed_world,
                                          .kinds = kind_names,
                                          .kind_count = KINDS,
                                          .fewest = 100};

PLAIN_TEST(refused_calls_leave_everything_as_before)
{
    refused_bed swept = bed_of_worlds;
    swept.fewest = 1000;
    refused_sweep_of(&swept, "a world", bed_open, REFUSED_LIST(functions));
}

PLAIN_TEST(refused_calls_of_a_new_world_leave_everything_as_before)
{
    refused_bed swept = bed_of_worlds;
    swept.world = bed_other;
    refused_sweep_of(&swept, "two worlds", bed_open, REFUSED_LIST(other_functions));
    refused_sweep_of(&swept, "two worlds", movable_open, REFUSED_LIST(transfers));
}

PLAIN_TEST(refused_calls_of_recorders_and_old_worlds_lose_nothing)
{
    refused_bed swept = bed_of_worlds;
    swept.is_small = true;
    swept.fewest = 0;
    refused_sweep_of(&swept, "a recorder with commands", recorded_open, REFUSED_LIST(on_recorders));
    swept.is_small = false;
    swept.fewest = 1;
    refused_sweep_of(&swept, "an old world", aged_open, REFUSED_LIST(on_old_worlds));
}

PLAIN_TEST(refused_worlds_are_not_there)
{
    refused_bed swept = {.close = whole_close,
                         .look = whole_look,
                         .kinds = sort_names,
                         .kind_count = SORTS,
                         .fewest = 10,
                         .is_small = true};
    refused_sweep_of(&swept, "nothing", nothing_open, REFUSED_LIST(on_nothing));
    swept.fewest = 4;
    refused_sweep_of(&swept, "a whole world", whole_open, REFUSED_LIST(on_worlds));
}
