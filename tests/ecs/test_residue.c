/* SPDX-License-Identifier: MIT */
/* test_residue.c: what is left of a destroyed entity with cleanup components: it is dead for all
 * that asks, accepts what gives back and nothing else, by calls and commands, and ends with its
 * last cleanup component. Larger streams: test_storage_random.c and test_commands_random.c. */
#include "buffer_append.h"
#include "storage_fixture.h"

#include <criterion/criterion.h>

enum { FEW = 3, MANY = 60 }; /* commands: played one by one, folded */

/* The ways to destroy entities. */
typedef enum way {
    WAY_SINGLE,
    WAY_MANY,
    WAY_QUERY,
    WAY_COMMANDS,
    WAY_COMMAND_QUERY,
    WAY_LINKED,
    WAY_COUNT
} way;

/* Owner: one test. */
typedef struct bed {
    storage_fixture f;
    weft_component handle, second; /* cleanup */
    weft_query positions;
    weft_entity e[MANY];
    uint32_t count;
} bed;

static bed bed_open(uint32_t count)
{
    bed b = {.f = storage_open(), .count = count};
    b.handle = weft_component_create_plain(b.f.world, "handle", 8, 8, WEFT_CLEANUP);
    b.second = weft_component_create_plain(b.f.world, "second", 4, 4, WEFT_CLEANUP);
    b.positions = weft_query_create(
        b.f.world, &(weft_query_desc){.terms = {{b.f.position, WEFT_READ, WEFT_ALL, 0}}});
    weft_component list[] = {b.f.position, b.handle};
    CHECK_OK(
        weft_entity_create_many(b.f.world, weft_archetype_create(b.f.world, list, 2), count, b.e));
    for (uint64_t i = 0; i < count; i++)
        CHECK_OK(weft_entity_set(b.f.world, b.e[i], b.handle, &i, sizeof i));
    return b;
}

static void destroy_by_commands(bed *b, bool by_query)
{
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(b->f.world, &commands));
    if (by_query) CHECK_OK(weft_recorder_query_destroy_entities(commands, b->positions));
    for (uint32_t i = 0; i < b->count && !by_query; i++)
        CHECK_OK(weft_recorder_destroy_entity(commands, b->e[i]));
    CHECK_OK(weft_recorder_play(commands));
    weft_recorder_destroy(commands);
}

/* All of them are members of the group of a root without cleanup components. */
static void destroy_linked(bed *b)
{
    weft_component group = weft_component_linked_group(b->f.world);
    weft_entity root;
    CHECK_OK(weft_entity_create_many(b->f.world, WEFT_ARCHETYPE(b->f.world, group), 1, &root));
    CHECK_OK(test_buffer_append(b->f.world, group, root, &root, 1));
    CHECK_OK(test_buffer_append(b->f.world, group, root, b->e, b->count));
    CHECK_OK(weft_entity_destroy(b->f.world, root));
    CHECK(!weft_entity_is_alive(b->f.world, root));
}

static void destroy_all(bed *b, way by)
{
    if (by == WAY_QUERY) CHECK_OK(weft_query_destroy_entities(b->f.world, b->positions));
    if (by == WAY_MANY) CHECK_OK(weft_entity_destroy_many(b->f.world, b->e, b->count));
    if (by == WAY_COMMANDS || by == WAY_COMMAND_QUERY)
        destroy_by_commands(b, by == WAY_COMMAND_QUERY);
    if (by == WAY_LINKED) destroy_linked(b);
    for (uint32_t i = 0; i < b->count && by == WAY_SINGLE; i++)
        CHECK_OK(weft_entity_destroy(b->f.world, b->e[i]));
}

static void remove_all(bed *b, weft_component component)
{
    for (uint32_t i = 0; i < b->count; i++)
        CHECK_OK(weft_entity_remove(b->f.world, b->e[i], component));
}

/* Every entity is a residue of `handle` with its value, and of nothing else. */
static void residues_check(const bed *b)
{
    for (uint64_t i = 0; i < b->count; i++) {
        CHECK(!weft_entity_is_alive(b->f.world, b->e[i]));
        CHECK(!weft_entity_has(b->f.world, b->e[i], b->f.position));
        CHECK(!weft_entity_has(b->f.world, b->e[i], b->f.tag));
        CHECK_U64(*(const uint64_t *)weft_entity_read(b->f.world, b->e[i], b->handle), i);
    }
    CHECK_OK(weft_world_validate(b->f.world));
}

static void all_dead(const bed *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        CHECK(weft_entity_archetype(b->f.world, b->e[i]).id == 0);
    weft_world_stats stats;
    weft_world_stats_get(b->f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 0);
    CHECK_OK(weft_world_validate(b->f.world));
}

/* Destroyed by one way, then by another, which does nothing; ended by removing what is left. */
static void twice(way first, way second, uint32_t count)
{
    bed b = bed_open(count);
    destroy_all(&b, first);
    residues_check(&b);
    if (second == WAY_SINGLE)
        CHECK_RESULT(weft_entity_destroy(b.f.world, b.e[0]), WEFT_STALE_ENTITY);
    else
        destroy_all(&b, second);
    residues_check(&b);
    remove_all(&b, b.handle);
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, one_is_not_destroyed_again_by_any_way)
{
    for (int first = 0; first < WAY_COUNT; first++)
        for (int second = 0; second < WAY_COUNT; second++) {
            twice((way)first, (way)second, FEW);
            twice((way)first, (way)second, MANY);
        }
}

Test(residue, one_with_several_cleanup_components_ends_with_the_last)
{
    bed b = bed_open(FEW);
    for (uint32_t i = 0; i < FEW; i++) CHECK_OK(weft_entity_add(b.f.world, b.e[i], b.second));
    destroy_all(&b, WAY_MANY);
    remove_all(&b, b.second);
    residues_check(&b);
    for (uint64_t i = 0; i < FEW; i++)
        CHECK_RESULT(weft_entity_set(b.f.world, b.e[i], b.second, &i, 4), WEFT_STALE_ENTITY);
    residues_check(&b);
    remove_all(&b, b.handle);
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, what_is_added_and_removed_at_once_is_not_asked_of_one)
{
    bed b = bed_open(FEW);
    weft_component sparse = weft_component_create_plain(b.f.world, "sparse", 4, 4, WEFT_SPARSE);
    const weft_component added[] = {b.f.position, sparse};
    destroy_all(&b, WAY_MANY);
    for (uint32_t i = 0; i < 2; i++) {
        const weft_change_desc change = {
            .add = &added[i], .add_count = 1, .remove = &added[i], .remove_count = 1};
        CHECK_OK(weft_entity_change_many(b.f.world, b.e, FEW, &change));
        const weft_change_desc addition = {.add = &added[i], .add_count = 1};
        CHECK_RESULT(weft_entity_change_many(b.f.world, b.e, FEW, &addition), WEFT_STALE_ENTITY);
    }
    residues_check(&b);
    storage_close(&b.f);
}

/* ---- what it accepts ---- */

/* What is done to a residue. The first two go on; the others are refused as on a dead entity. */
typedef enum deed {
    DEED_SET_OWN, /* its CLEANUP component */
    DEED_REMOVE_ABSENT,
    DEED_SET_PLAIN,
    DEED_ADD_PLAIN,
    DEED_ADD_CLEANUP,
    DEED_ADD_TAG,
    DEED_SET_SPARSE,
    DEED_ADD_SPARSE,
    DEED_SET_SHARED,
    DEED_ENABLE,
    DEED_NAME,
    DEED_APPEND,
    DEED_INSTANTIATE,
    DEED_COUNT,
    /* calls only */
    DEED_MANY_REMOVE, /* absent: goes on */
    DEED_MANY_ADD,
    DEED_MANY_SET,
    DEED_MANY_SHARED,
    DEED_MANY_SPARSE,
    DEED_ARCHETYPE,
    DEED_UNIQUE_NAME,
    DEED_PREFAB,
    DEED_RELATE,
    DEED_RELATE_TO,
    DEED_CALL_COUNT,
} deed;

/* Owner: one test. */
typedef struct accepting {
    bed b;
    weft_component sparse, shared, list, flagged, parent, tag;
    weft_entity witness[MANY];
} accepting;

static accepting accepting_open(uint32_t count)
{
    accepting a = {.b = bed_open(count)};
    weft_world *w = a.b.f.world;
    a.sparse = weft_component_create_plain(w, "sparse", 8, 8, WEFT_SPARSE);
    a.shared = weft_component_create_plain(w, "shared", 8, 8, WEFT_SHARED);
    a.list = weft_component_create_plain(w, "list", 8, 8, WEFT_BUFFER);
    a.flagged = weft_component_create_plain(w, "flagged", 8, 8, WEFT_ENABLEABLE);
    a.tag = weft_component_create_plain(w, "seen", 0, 1, 0);
    a.parent = weft_component_parent(w);
    CHECK_OK(weft_entity_create_many(w, WEFT_ARCHETYPE(w, a.b.f.position), MANY, a.witness));
    for (uint32_t i = 0; i < count; i++) CHECK_OK(weft_entity_add(w, a.b.e[i], a.flagged));
    return a;
}

static weft_result deed_call(const accepting *a, deed d, weft_entity e, uint64_t value)
{
    weft_world *w = a->b.f.world;
    weft_component prefab = weft_component_prefab(w);
    switch (d) {
    case DEED_SET_OWN:
        return weft_entity_set(w, e, a->b.handle, &value, 8);
    case DEED_REMOVE_ABSENT:
        return weft_entity_remove(w, e, value % 2 == 0 ? a->b.f.position : a->sparse);
    case DEED_SET_PLAIN:
        return weft_entity_set(w, e, a->flagged, &value, 8);
    case DEED_ADD_PLAIN:
        return weft_entity_add(w, e, a->b.f.position);
    case DEED_ADD_CLEANUP:
        return weft_entity_add(w, e, a->b.second);
    case DEED_ADD_TAG:
        return weft_entity_add(w, e, a->tag);
    case DEED_SET_SPARSE:
        return weft_entity_set(w, e, a->sparse, &value, 8);
    case DEED_ADD_SPARSE:
        return weft_entity_add(w, e, a->sparse);
    case DEED_SET_SHARED:
        return weft_entity_set_shared(w, e, a->shared, &value);
    case DEED_ENABLE:
        return weft_entity_enable(w, e, a->flagged, false);
    case DEED_NAME:
        return weft_entity_set_name(w, e, "ghost");
    case DEED_APPEND:
        return weft_entity_add(w, e, a->list);
    case DEED_INSTANTIATE:
        return weft_entity_instantiate(w, e, 1, NULL);
    case DEED_MANY_REMOVE:
        return weft_entity_change_many(w, &e, 1,
                                       &(weft_change_desc){.remove = &a->tag, .remove_count = 1});
    case DEED_MANY_ADD:
        return weft_entity_change_many(w, &e, 1,
                                       &(weft_change_desc){.add = &a->tag, .add_count = 1});
    case DEED_MANY_SET:
        return weft_entity_set_many(w, &e, 1, a->flagged, &value, 8);
    case DEED_MANY_SHARED:
        return weft_entity_set_shared_many(w, &e, 1, a->shared, &value);
    case DEED_MANY_SPARSE:
        return weft_entity_set_many(w, &e, 1, a->sparse, &value, 8);
    case DEED_ARCHETYPE:
        return weft_entity_set_archetype(w, e, WEFT_ARCHETYPE(w, a->b.handle));
    case DEED_UNIQUE_NAME:
        return weft_entity_set_name_unique(w, e, "ghost");
    case DEED_PREFAB:
        return weft_entity_change_many(w, &e, 1,
                                       &(weft_change_desc){.add = &prefab, .add_count = 1});
    case DEED_RELATE:
        return weft_relation_set(w, e, a->parent, a->witness[0]);
    case DEED_RELATE_TO:
        return weft_relation_set(w, a->witness[0], a->parent, e);
    case DEED_COUNT:
    case DEED_CALL_COUNT:
        break;
    }
    return WEFT_OK;
}

static void deed_record(const accepting *a, weft_recorder *r, deed d, weft_entity e, uint64_t value)
{
    if (d == DEED_SET_OWN) CHECK_OK(weft_recorder_set(r, e, a->b.handle, &value, 8));
    if (d == DEED_REMOVE_ABSENT)
        CHECK_OK(weft_recorder_remove(r, e, value % 2 == 0 ? a->b.f.position : a->sparse));
    if (d == DEED_SET_PLAIN) CHECK_OK(weft_recorder_set(r, e, a->flagged, &value, 8));
    if (d == DEED_ADD_PLAIN) CHECK_OK(weft_recorder_add(r, e, a->b.f.position));
    if (d == DEED_ADD_CLEANUP) CHECK_OK(weft_recorder_add(r, e, a->b.second));
    if (d == DEED_ADD_TAG) CHECK_OK(weft_recorder_add(r, e, a->tag));
    if (d == DEED_SET_SPARSE) CHECK_OK(weft_recorder_set(r, e, a->sparse, &value, 8));
    if (d == DEED_ADD_SPARSE) CHECK_OK(weft_recorder_add(r, e, a->sparse));
    if (d == DEED_SET_SHARED) CHECK_OK(weft_recorder_set_shared(r, e, a->shared, &value));
    if (d == DEED_ENABLE) CHECK_OK(weft_recorder_enable(r, e, a->flagged, false));
    if (d == DEED_NAME) CHECK_OK(weft_recorder_set_name(r, e, "ghost"));
    if (d == DEED_APPEND) CHECK_OK(weft_recorder_append(r, e, a->list, &value, 1));
    if (d == DEED_INSTANTIATE) CHECK(weft_recorder_instantiate(r, e).version != 0);
}

Test(residue, calls_on_one_are_refused_as_on_a_dead_entity_but_those_that_give_back)
{
    for (int d = 0; d < DEED_CALL_COUNT; d++) {
        accepting a = accepting_open(FEW);
        destroy_all(&a.b, WAY_MANY);
        for (uint64_t i = 0; i < FEW; i++) {
            weft_result result = deed_call(&a, (deed)d, a.b.e[i], i);
            bool goes_on = d <= DEED_REMOVE_ABSENT || d == DEED_COUNT || d == DEED_MANY_REMOVE;
            CHECK_RESULT(result, goes_on ? WEFT_OK : WEFT_STALE_ENTITY);
            if (result != WEFT_OK)
                CHECK(strstr(weft_world_error(a.b.f.world)->text, "residue") != NULL);
        }
        residues_check(&a.b);
        storage_close(&a.b.f);
    }
}

/* The commands of `d`, which follow the destruction in the same playback, or come after it; then
 * others, which all take effect. */
static void deed_play(deed d, uint32_t count, bool is_same)
{
    accepting a = accepting_open(count);
    weft_world *w = a.b.f.world;
    weft_recorder *r;
    CHECK_OK(weft_recorder_create(w, &r));
    for (uint32_t i = 0; i < count && is_same; i++)
        CHECK_OK(weft_recorder_destroy_entity(r, a.b.e[i]));
    if (!is_same) destroy_all(&a.b, WAY_COMMANDS);
    for (uint64_t i = 0; i < count; i++) deed_record(&a, r, d, a.b.e[i], i);
    for (uint32_t i = 0; i < MANY; i++) CHECK_OK(weft_recorder_add(r, a.witness[i], a.tag));
    CHECK_OK(weft_recorder_play(r));
    for (uint32_t i = 0; i < MANY; i++) CHECK(weft_entity_has(w, a.witness[i], a.tag));
    residues_check(&a.b);
    weft_world_stats stats;
    weft_world_stats_get(w, &stats, sizeof stats);
    CHECK_U64(stats.entities, count + MANY);
    weft_recorder_destroy(r);
    storage_close(&a.b.f);
}

Test(residue, commands_on_one_are_skipped_and_cost_no_other_command)
{
    for (int d = 0; d < DEED_COUNT; d++)
        for (int i = 0; i < 4; i++) deed_play((deed)d, (i & 1) != 0 ? MANY : FEW, (i & 2) != 0);
}

/* Query-wide additions leave them out; what does not add goes on. */
Test(residue, changes_of_a_query_leave_them_out)
{
    accepting a = accepting_open(MANY);
    weft_world *w = a.b.f.world;
    weft_query all =
        weft_query_create(w, &(weft_query_desc){.terms = {{a.b.handle, WEFT_READ, WEFT_ALL, 0}}});
    weft_entity living;
    uint64_t value = 5;
    CHECK_OK(weft_entity_create_many(w, WEFT_ARCHETYPE(w, a.b.handle), 1, &living));
    destroy_all(&a.b, WAY_QUERY);
    CHECK_OK(weft_query_add(w, all, a.tag));
    CHECK_OK(weft_query_add(w, all, a.sparse));
    CHECK_OK(weft_query_set_shared(w, all, a.shared, &value));
    CHECK_OK(weft_query_remove(w, all, a.b.f.position));
    CHECK(weft_entity_has(w, living, a.tag) && weft_entity_has(w, living, a.sparse));
    CHECK(weft_entity_has(w, living, a.shared));
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(!weft_entity_has(w, a.b.e[i], a.tag) && !weft_entity_has(w, a.b.e[i], a.sparse) &&
              !weft_entity_has(w, a.b.e[i], a.shared));
    residues_check(&a.b);
    storage_close(&a.b.f);
}

/* ---- what is read of it ---- */

/* The kinds of components that go with CLEANUP. */
enum { KIND_PLAIN, KIND_TAG, KIND_BUFFER, KIND_SHARED, KIND_CHUNK, KIND_COUNT };

/* What the calls that read say of a component of an entity. */
typedef struct answers {
    bool has, is_enabled, is_found, is_matched;
    uint32_t version, elements;
    uint64_t value, shared;
    weft_result many, place;
} answers;

static answers ask(const bed *b, weft_entity e, weft_component component, weft_query query)
{
    weft_world *w = b->f.world;
    answers got = {.has = weft_entity_has(w, e, component),
                   .is_enabled = weft_entity_is_enabled(w, e, component),
                   .version = weft_entity_change_version(w, e, component),
                   .is_matched = weft_query_matches(w, query, e)};
    weft_finder finder = weft_finder_open(w, component);
    const uint64_t *value = weft_entity_read(w, e, component);
    const uint64_t *shared = weft_entity_read_shared(w, e, component);
    weft_buffers list = weft_entity_read_buffer(w, e, component);
    weft_entity_place place;
    if (value != NULL) got.value = *value;
    if (shared != NULL) got.shared = *shared;
    got.elements = list.count == 0 ? 0 : 1 + weft_buffers_length(&list, 0);
    got.is_found = weft_finder_read(&finder, e) != NULL;
    got.many = weft_entity_read_many(w, &e, 1, component, &(uint64_t){0});
    got.place = weft_entity_place_get(w, e, &place, sizeof place);
    return got;
}

static weft_component component_of(const bed *b, uint32_t kind)
{
    static const uint32_t flags[] = {0, 0, WEFT_BUFFER, WEFT_SHARED, WEFT_CHUNK};
    uint32_t bytes = kind == KIND_TAG ? 0 : 8;
    return weft_component_create_plain(b->f.world, "kept", bytes, bytes == 0 ? 1 : 8,
                                       flags[kind] | WEFT_CLEANUP);
}

static void give(const bed *b, uint32_t kind, weft_component kept, weft_entity e, uint64_t value)
{
    weft_world *w = b->f.world;
    if (kind == KIND_SHARED)
        CHECK_OK(weft_entity_set_shared(w, e, kept, &value));
    else if (kind == KIND_PLAIN)
        CHECK_OK(weft_entity_set(w, e, kept, &value, 8));
    else if (kind == KIND_BUFFER)
        CHECK_OK(test_buffer_append(w, kept, e, &value, 1));
}

static void answers_check(const answers *got, const answers *wanted)
{
    CHECK(got->has == wanted->has && got->is_enabled == wanted->is_enabled);
    CHECK(got->is_found == wanted->is_found && got->is_matched == wanted->is_matched);
    CHECK(got->version == 0 ? wanted->version == 0 : wanted->version != 0);
    CHECK_U64(got->elements, wanted->elements);
    CHECK_U64(got->value, wanted->value);
    CHECK_U64(got->shared, wanted->shared);
    CHECK_RESULT(got->many, wanted->many);
    CHECK_RESULT(got->place, wanted->place);
}

Test(residue, what_it_has_reads_and_changes_as_of_a_living_entity)
{
    for (uint32_t run = 0; run < KIND_COUNT * WAY_COUNT; run++) {
        const uint32_t kind = run / WAY_COUNT;
        bed b = bed_open(FEW);
        weft_world *w = b.f.world;
        weft_component kept = component_of(&b, kind);
        weft_query query = weft_query_create(w, &(weft_query_desc){.terms = {{kept}}});
        for (uint32_t i = 0; i < FEW; i++) CHECK_OK(weft_entity_add(w, b.e[i], kept));
        give(&b, kind, kept, b.e[1], 7);
        const answers living = ask(&b, b.e[1], kept, query);
        CHECK(living.has && living.is_enabled && living.is_matched && living.version != 0);
        destroy_all(&b, run % WAY_COUNT);
        answers left = ask(&b, b.e[1], kept, query);
        answers_check(&left, &living);
        const answers none = {.many = WEFT_STALE_ENTITY};
        left = ask(&b, b.e[1], b.f.position, b.positions); /* it had this, too */
        CHECK(left.many != WEFT_OK);
        left.many = WEFT_STALE_ENTITY;
        answers_check(&left, &none);
        give(&b, kind, kept, b.e[2], 9); /* by calls; by commands: below */
        left = ask(&b, b.e[2], kept, query);
        CHECK_U64(left.value + left.shared, kind == KIND_PLAIN || kind == KIND_SHARED ? 9 : 0);
        CHECK_U64(left.elements, kind == KIND_BUFFER ? 2 : 0);
        residues_check(&b);
        remove_all(&b, kept);
        left = ask(&b, b.e[1], kept, query);
        CHECK(!left.has && !left.is_enabled && left.version == 0);
        remove_all(&b, b.handle);
        all_dead(&b);
        storage_close(&b.f);
    }
}

static void give_by_command(weft_recorder *r, uint32_t kind, weft_component kept, weft_entity e,
                            uint64_t value)
{
    if (kind == KIND_PLAIN) CHECK_OK(weft_recorder_set(r, e, kept, &value, 8));
    if (kind == KIND_SHARED) CHECK_OK(weft_recorder_set_shared(r, e, kept, &value));
    if (kind == KIND_BUFFER) CHECK_OK(weft_recorder_append(r, e, kept, &value, 1));
    if (kind == KIND_BUFFER) CHECK_OK(weft_recorder_set_buffer(r, e, kept, &value, 1));
}

/* Destroyed before the commands, or by them; few, or so many that they are folded. */
Test(residue, commands_on_what_it_has_take_effect)
{
    for (uint32_t run = 0; run < KIND_COUNT * 4; run++) {
        const uint32_t kind = run / 4;
        bed b = bed_open((run & 1) != 0 ? MANY : FEW);
        weft_world *w = b.f.world;
        weft_recorder *r;
        weft_component kept = component_of(&b, kind);
        weft_query query = weft_query_create(w, &(weft_query_desc){.terms = {{kept}}});
        for (uint32_t i = 0; i < b.count; i++) CHECK_OK(weft_entity_add(w, b.e[i], kept));
        if ((run & 2) == 0) destroy_all(&b, WAY_SINGLE);
        CHECK_OK(weft_recorder_create(w, &r));
        for (uint32_t i = 0; i < b.count && (run & 2) != 0; i++)
            CHECK_OK(weft_recorder_destroy_entity(r, b.e[i]));
        for (uint64_t i = 0; i < b.count; i++) give_by_command(r, kind, kept, b.e[i], i + 1);
        CHECK_OK(weft_recorder_play(r));
        for (uint64_t i = 0; i < b.count; i++) {
            const answers got = ask(&b, b.e[i], kept, query);
            const bool is_valued = kind == KIND_PLAIN || kind == KIND_SHARED;
            CHECK(got.has && got.is_enabled && got.version != 0);
            CHECK_U64(got.value + got.shared, is_valued ? i + 1 : 0);
            CHECK_U64(got.elements, kind == KIND_BUFFER ? 2 : 0);
        }
        residues_check(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            CHECK_OK(weft_recorder_remove(r, b.e[i], b.handle));
            CHECK_OK(weft_recorder_remove(r, b.e[i], kept));
        }
        CHECK_OK(weft_recorder_play(r));
        all_dead(&b);
        weft_recorder_destroy(r);
        storage_close(&b.f);
    }
}

Test(residue, queries_select_it_by_what_it_has)
{
    bed b = bed_open(FEW);
    weft_world *w = b.f.world;
    weft_query all = weft_query_create(w, &(weft_query_desc){0});
    weft_query without =
        weft_query_create(w, &(weft_query_desc){.terms = {{b.f.tag, 0, WEFT_NONE, 0}}});
    CHECK(weft_entity_create(w, WEFT_ARCHETYPE(w, b.f.position)).version != 0);
    CHECK_OK(weft_entity_destroy(w, b.e[0]));
    CHECK_U64(weft_query_count(w, all), FEW + 1);
    CHECK_U64(weft_query_count(w, without), FEW + 1);
    CHECK_U64(weft_query_count(w, b.positions), FEW);
    CHECK_OK(weft_entity_remove(w, b.e[0], b.handle));
    CHECK_U64(weft_query_count(w, all), FEW);
    storage_close(&b.f);
}

/* ---- when it is dead ---- */

Test(residue, its_name_is_free_and_its_children_are_orphans)
{
    for (int by = 0; by < WAY_COUNT; by++)
        for (uint32_t count = FEW; count <= MANY; count += MANY - FEW) {
            accepting a = accepting_open(count);
            weft_world *w = a.b.f.world;
            CHECK_OK(weft_entity_set_name_unique(w, a.b.e[0], "key"));
            for (uint32_t i = 0; i < count; i++)
                CHECK_OK(weft_relation_set(w, a.witness[i], a.parent, a.b.e[i]));
            CHECK_OK(weft_relation_settle(w));
            destroy_all(&a.b, (way)by);
            CHECK(weft_entity_find(w, "key").version == 0);
            CHECK_TEXT(weft_entity_name(w, a.b.e[0]), "");
            CHECK_OK(weft_entity_set_name_unique(w, weft_entity_create(w, WEFT_ARCHETYPE(w, a.tag)),
                                                 "key"));
            CHECK_OK(weft_relation_settle(w));
            for (uint32_t i = 0; i < count; i++) CHECK(!weft_entity_is_alive(w, a.witness[i]));
            residues_check(&a.b);
            storage_close(&a.b.f);
        }
}

/* Targets of a relation that is declared when they are residues. */
Test(residue, a_relation_declared_later_has_no_residue_as_target)
{
    static const weft_field target = {"target", WEFT_FIELD_ENTITY, 0, 1};
    const weft_component_desc desc = {
        .name = "link", .size = 8, .alignment = 4, .fields = &target, .field_count = 1};
    for (int by = 0; by < WAY_COUNT; by++)
        for (uint32_t count = FEW; count <= MANY; count += MANY - FEW) {
            bed b = bed_open(count);
            weft_world *w = b.f.world;
            weft_component link = weft_component_create(w, &desc);
            weft_entity sources[MANY + 1],
                other = weft_entity_create(w, WEFT_ARCHETYPE(w, b.f.tag));
            CHECK_OK(weft_entity_create_many(w, WEFT_ARCHETYPE(w, link), count + 1, sources));
            for (uint32_t i = 0; i <= count; i++)
                CHECK_OK(weft_entity_set(w, sources[i], link, i < count ? &b.e[i] : &other, 8));
            destroy_all(&b, (way)by);
            CHECK_OK(weft_relation_declare(w, &(weft_relation_desc){.component = link}));
            CHECK_OK(weft_relation_settle(w));
            for (uint32_t i = 0; i <= count; i++) {
                const weft_entity *now = weft_entity_read(w, sources[i], link);
                CHECK_U64(now->version, i < count ? 0 : other.version);
            }
            residues_check(&b);
            storage_close(&b.f);
        }
}

/* Sources that lost their target in a relation by depth, which another relation destroys in the
 * same settlement. */
Test(residue, one_made_while_relations_settle_gets_no_depth)
{
    static const weft_field target = {"target", WEFT_FIELD_ENTITY, 0, 1};
    for (int late = 0; late < 2; late++)
        for (uint32_t count = FEW; count <= MANY; count += MANY - FEW) {
            bed b = bed_open(count);
            weft_world *w = b.f.world;
            const char *names[] = {"up", "held"};
            weft_component of[2];
            weft_entity holder = weft_entity_create(w, WEFT_ARCHETYPE(w, b.f.tag)),
                        above = weft_entity_create(w, WEFT_ARCHETYPE(w, b.f.tag));
            for (int i = 0; i < 2; i++)
                of[i] = weft_component_create(w, &(weft_component_desc){.name = names[i],
                                                                        .size = 8,
                                                                        .alignment = 4,
                                                                        .fields = &target,
                                                                        .field_count = 1});
            for (int i = 0; i < 2; i++) {
                bool is_up = (i == 0) != (late != 0);
                CHECK_OK(weft_relation_declare(
                    w, &(weft_relation_desc){.component = of[is_up ? 0 : 1],
                                             .by_depth = is_up,
                                             .on_target_death = is_up ? WEFT_ON_TARGET_CLEAR
                                                                      : WEFT_ON_TARGET_DESTROY}));
            }
            for (uint32_t i = 0; i < count; i++) {
                CHECK_OK(weft_relation_set(w, b.e[i], of[0], above));
                CHECK_OK(weft_relation_set(w, b.e[i], of[1], holder));
            }
            CHECK_OK(weft_relation_settle(w));
            for (uint32_t i = 0; i < count; i++)
                CHECK_OK(weft_entity_set(w, b.e[i], of[0], &(weft_entity){0}, 8));
            CHECK_OK(weft_entity_destroy(w, holder));
            CHECK_OK(weft_relation_settle(w));
            residues_check(&b);
            storage_close(&b.f);
        }
}

/* A snapshot brings the life back, and takes it. */
Test(residue, restored_snapshots_say_who_is_dead)
{
    bed b = bed_open(FEW);
    weft_snapshot *before, *after;
    CHECK_OK(weft_snapshot_take(b.f.world, NULL, &before));
    destroy_all(&b, WAY_SINGLE);
    CHECK_OK(weft_snapshot_take(b.f.world, before, &after));
    remove_all(&b, b.handle);
    all_dead(&b);
    CHECK_OK(weft_snapshot_restore(b.f.world, after));
    residues_check(&b);
    CHECK_OK(weft_snapshot_restore(b.f.world, before));
    for (uint32_t i = 0; i < FEW; i++) CHECK(weft_entity_is_alive(b.f.world, b.e[i]));
    weft_snapshot_destroy(before);
    weft_snapshot_destroy(after);
    storage_close(&b.f);
}

/* Recorded together, so that a fold sees the components come before the destruction. */
Test(residue, a_cleanup_component_added_by_the_same_playback_leaves_a_residue)
{
    for (uint32_t count = FEW; count <= MANY; count += MANY - FEW) {
        bed b = bed_open(0);
        weft_recorder *commands;
        weft_archetype with_handle =
            weft_archetype_create(b.f.world, (weft_component[]){b.f.position, b.handle}, 2);
        CHECK_OK(weft_recorder_create(b.f.world, &commands));
        CHECK_OK(weft_entity_create_many(b.f.world, WEFT_ARCHETYPE(b.f.world, b.f.position), count,
                                         b.e));
        b.count = count;
        for (uint64_t i = 0; i < count; i++) {
            CHECK_OK(weft_recorder_set(commands, b.e[i], b.handle, &i, sizeof i));
            CHECK_OK(weft_recorder_destroy_entity(commands, b.e[i]));
            weft_entity made = weft_recorder_create_entity(commands, with_handle);
            CHECK_OK(weft_recorder_destroy_entity(commands, made));
        }
        CHECK_OK(weft_recorder_play(commands));
        residues_check(&b);
        weft_world_stats stats;
        weft_world_stats_get(b.f.world, &stats, sizeof stats);
        CHECK_U64(stats.entities, 2 * (uint64_t)count);
        weft_recorder_destroy(commands);
        storage_close(&b.f);
    }
}

/* ---- the tag of residues ---- */

static weft_component tag_of(bed *b, weft_archetype residue)
{
    weft_component list[8];
    uint32_t count = weft_archetype_components(b->f.world, residue, list, 8);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(weft_component_info(b->f.world, list[i])->name, "CleanupResidue") == 0)
            return list[i];
    return (weft_component){0};
}

static void check_refused(bed *b, weft_result result)
{
    CHECK_RESULT(result, WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(b->f.world)->text, "residue") != NULL);
    CHECK_OK(weft_world_validate(b->f.world));
}

/* Every form of adding, on a living entity, and of removing, from a residue. */
static void refuse_single(bed *b, weft_component tag, weft_archetype residue)
{
    weft_world *world = b->f.world;
    weft_query every = weft_query_create(
        world, &(weft_query_desc){.terms = {{b->handle, WEFT_READ, WEFT_ALL, 0}}});
    check_refused(b, weft_entity_add(world, b->e[1], tag));
    check_refused(b, weft_entity_remove(world, b->e[0], tag));
    check_refused(b, weft_entity_set(world, b->e[1], tag, NULL, 0));
    check_refused(b, weft_entity_set_many(world, b->e + 1, 1, tag, NULL, 0));
    check_refused(b, weft_entity_change_many(world, b->e + 1, 1,
                                             &(weft_change_desc){.add = &tag, .add_count = 1}));
    check_refused(b, weft_entity_change_many(
                         world, b->e, 1, &(weft_change_desc){.remove = &tag, .remove_count = 1}));
    check_refused(b, weft_query_add(world, every, tag));
    check_refused(b, weft_query_remove(world, every, tag));
    check_refused(b, weft_entity_set_archetype(world, b->e[1], residue));
    check_refused(b, weft_entity_create_many(world, residue, 1, NULL));
    CHECK_U64(weft_entity_create(world, residue).version, 0);
    CHECK_U64(weft_archetype_create(world, &tag, 1).id, 0);
    CHECK_U64(weft_component_find(world, "CleanupResidue").id, 0);
    CHECK_U64(weft_component_create_plain(world, "CleanupResidue", 0, 1, 0).id, 0);
}

/* One recorded command a playback: a refused one drops those behind it. */
static void refuse_recorded(bed *b, weft_component tag, weft_archetype residue)
{
    weft_query every = weft_query_create(
        b->f.world, &(weft_query_desc){.terms = {{b->handle, WEFT_READ, WEFT_ALL, 0}}});
    for (uint32_t form = 0; form < 6; form++) {
        weft_recorder *commands;
        weft_slice rows;
        CHECK_OK(weft_recorder_create(b->f.world, &commands));
        weft_result result = WEFT_BAD_HANDLE;
        if (form == 0) result = weft_recorder_add(commands, b->e[1], tag);
        if (form == 1) result = weft_recorder_remove(commands, b->e[0], tag);
        if (form == 2) result = weft_recorder_query_add(commands, every, tag);
        if (form == 3) result = weft_recorder_query_remove(commands, every, tag);
        if (form == 4) CHECK_U64(weft_recorder_create_entity(commands, residue).version, 0);
        if (form == 5) result = weft_recorder_create_rows(commands, residue, 1, &rows);
        CHECK_RESULT(result, form < 4 ? WEFT_TYPE_MISMATCH : WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_recorder_play(commands), result);
        CHECK(strstr(weft_world_error(b->f.world)->text, "residue") != NULL);
        weft_recorder_destroy(commands);
        CHECK_OK(weft_world_validate(b->f.world));
    }
}

Test(residue, its_tag_is_refused_in_every_form)
{
    bed b = bed_open(FEW);
    CHECK_OK(weft_entity_destroy(b.f.world, b.e[0]));
    weft_archetype residue = weft_entity_archetype(b.f.world, b.e[0]);
    weft_component tag = tag_of(&b, residue);
    CHECK(tag.id != 0);
    uint64_t hash = weft_world_hash(b.f.world, WEFT_HASH_LAYOUT);
    refuse_single(&b, tag, residue);
    refuse_recorded(&b, tag, residue);
    CHECK_U64(weft_world_hash(b.f.world, WEFT_HASH_LAYOUT), hash);
    CHECK_OK(weft_entity_remove(b.f.world, b.e[0], b.handle));
    CHECK(!weft_entity_is_alive(b.f.world, b.e[0]));
    storage_close(&b.f);
}
