/* SPDX-License-Identifier: MIT */
/* test_residue.c: what a destroyed entity with cleanup components goes through: it gets plain
 * components again, is destroyed again, by every call that destroys, and dies with its last cleanup
 * component. Larger streams: test_storage_random.c and test_commands_random.c. */
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

static void add_all(bed *b, weft_component component)
{
    for (uint32_t i = 0; i < b->count; i++)
        CHECK_OK(weft_entity_add(b->f.world, b->e[i], component));
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
        CHECK(weft_entity_is_alive(b->f.world, b->e[i]));
        CHECK(!weft_entity_has(b->f.world, b->e[i], b->f.position));
        CHECK(!weft_entity_has(b->f.world, b->e[i], b->f.tag));
        CHECK_U64(*(const uint64_t *)weft_entity_read(b->f.world, b->e[i], b->handle), i);
    }
    CHECK_OK(weft_world_validate(b->f.world));
}

static void all_dead(const bed *b)
{
    for (uint32_t i = 0; i < b->count; i++) CHECK(!weft_entity_is_alive(b->f.world, b->e[i]));
    weft_world_stats stats;
    weft_world_stats_get(b->f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 0);
    CHECK_OK(weft_world_validate(b->f.world));
}

/* Destroyed by one way, given plain components, destroyed by another: a residue again. */
static void twice(way first, way second, uint32_t count)
{
    bed b = bed_open(count);
    destroy_all(&b, first);
    residues_check(&b);
    add_all(&b, b.f.position);
    add_all(&b, b.f.tag);
    destroy_all(&b, second);
    residues_check(&b);
    remove_all(&b, b.handle);
    all_dead(&b);
    storage_close(&b.f);
}

/* The last cleanup component goes while there are plain ones: then it dies when destroyed. */
static void spent_while_plain(way first, way second, uint32_t count)
{
    bed b = bed_open(count);
    destroy_all(&b, first);
    add_all(&b, b.f.position);
    remove_all(&b, b.handle);
    for (uint32_t i = 0; i < count; i++) CHECK(weft_entity_is_alive(b.f.world, b.e[i]));
    destroy_all(&b, second);
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, one_with_plain_components_again_is_destroyed_again_by_every_way)
{
    for (int first = 0; first < WAY_COUNT; first++)
        for (int second = 0; second < WAY_COUNT; second++) {
            twice((way)first, (way)second, FEW);
            twice((way)first, (way)second, MANY);
        }
}

Test(residue, one_without_cleanup_components_dies_by_every_way)
{
    for (int first = 0; first < WAY_COUNT; first++)
        for (int second = 0; second < WAY_COUNT; second++) {
            spent_while_plain((way)first, (way)second, FEW);
            spent_while_plain((way)first, (way)second, MANY);
        }
}

Test(residue, one_with_several_cleanup_components_dies_with_the_last)
{
    bed b = bed_open(FEW);
    add_all(&b, b.second);
    destroy_all(&b, WAY_MANY);
    remove_all(&b, b.second);
    residues_check(&b);
    add_all(&b, b.second); /* a residue may get cleanup components, too */
    add_all(&b, b.f.tag);
    destroy_all(&b, WAY_SINGLE);
    residues_check(&b);
    remove_all(&b, b.handle);
    for (uint32_t i = 0; i < FEW; i++) CHECK(weft_entity_is_alive(b.f.world, b.e[i]));
    remove_all(&b, b.second);
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, one_whose_last_plain_component_goes_after_its_cleanup_components_dies)
{
    bed b = bed_open(FEW);
    destroy_all(&b, WAY_QUERY);
    add_all(&b, b.f.position);
    remove_all(&b, b.handle);
    remove_all(&b, b.f.position);
    all_dead(&b);
    storage_close(&b.f);
}

/* The ways to remove the last component of all. */
typedef enum removal {
    REMOVAL_SINGLE,
    REMOVAL_MANY,
    REMOVAL_QUERY,
    REMOVAL_ARCHETYPE,
    REMOVAL_COMMANDS,
    REMOVAL_COMMAND_QUERY,
    REMOVAL_COUNT
} removal;

static void remove_by_commands(bed *b, bool by_query)
{
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(b->f.world, &commands));
    if (by_query) CHECK_OK(weft_recorder_query_remove(commands, b->positions, b->f.position));
    for (uint32_t i = 0; i < b->count && !by_query; i++)
        CHECK_OK(weft_recorder_remove(commands, b->e[i], b->f.position));
    CHECK_OK(weft_recorder_play(commands));
    weft_recorder_destroy(commands);
}

static void remove_position(bed *b, removal by)
{
    weft_world *world = b->f.world;
    weft_change_desc change = {.remove = &b->f.position, .remove_count = 1};
    if (by == REMOVAL_SINGLE) remove_all(b, b->f.position);
    if (by == REMOVAL_MANY) CHECK_OK(weft_entity_change_many(world, b->e, b->count, &change));
    if (by == REMOVAL_QUERY) CHECK_OK(weft_query_remove(world, b->positions, b->f.position));
    for (uint32_t i = 0; i < b->count && by == REMOVAL_ARCHETYPE; i++)
        CHECK_OK(weft_entity_set_archetype(world, b->e[i], weft_archetype_create(world, NULL, 0)));
    if (by == REMOVAL_COMMANDS || by == REMOVAL_COMMAND_QUERY)
        remove_by_commands(b, by == REMOVAL_COMMAND_QUERY);
}

/* Snapshots keep what it is; a copy of a residue is refused. */
static void spent_through_snapshot(bed *b)
{
    weft_snapshot *snapshot;
    weft_entity copy;
    CHECK_OK(weft_snapshot_take(b->f.world, NULL, &snapshot));
    CHECK_OK(weft_entity_destroy_many(b->f.world, b->e, b->count));
    all_dead(b);
    CHECK_OK(weft_snapshot_restore(b->f.world, snapshot));
    weft_snapshot_destroy(snapshot);
    for (uint32_t i = 0; i < b->count; i++) {
        CHECK(weft_entity_is_alive(b->f.world, b->e[i]));
        CHECK_RESULT(weft_entity_instantiate(b->f.world, b->e[i], 1, &copy), WEFT_INVALID_ARGUMENT);
    }
}

Test(residue, one_without_cleanup_components_ends_with_its_last_by_every_way)
{
    for (int by = 0; by < REMOVAL_COUNT; by++)
        for (uint32_t count = FEW; count <= MANY; count += MANY - FEW) {
            bed b = bed_open(count);
            destroy_all(&b, WAY_MANY);
            add_all(&b, b.f.position);
            remove_all(&b, b.handle);
            spent_through_snapshot(&b);
            remove_position(&b, (removal)by);
            all_dead(&b);
            storage_close(&b.f);
        }
}

Test(residue, one_without_cleanup_components_that_gets_one_again_leaves_a_residue)
{
    bed b = bed_open(FEW);
    destroy_all(&b, WAY_SINGLE);
    add_all(&b, b.f.position);
    remove_all(&b, b.handle);
    for (uint64_t i = 0; i < FEW; i++)
        CHECK_OK(weft_entity_set(b.f.world, b.e[i], b.handle, &i, sizeof i));
    destroy_all(&b, WAY_SINGLE);
    residues_check(&b);
    remove_all(&b, b.handle);
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, one_that_gets_an_archetype_stays_a_residue)
{
    bed b = bed_open(FEW);
    weft_world *world = b.f.world;
    weft_archetype with =
        weft_archetype_create(world, (weft_component[]){b.f.position, b.handle}, 2);
    weft_archetype plain = weft_archetype_create(world, &b.f.position, 1);
    weft_archetype none = weft_archetype_create(world, NULL, 0);
    destroy_all(&b, WAY_SINGLE);
    for (uint32_t i = 0; i < FEW; i++) {
        CHECK_RESULT(weft_entity_set_archetype(world, b.e[i], plain), WEFT_INVALID_ARGUMENT);
        CHECK(strstr(weft_world_error(world)->text, "\"handle\"") != NULL);
        CHECK_OK(weft_entity_set_archetype(world, b.e[i], with));
        CHECK(weft_entity_has(world, b.e[i], b.f.position));
    }
    destroy_all(&b, WAY_SINGLE);
    residues_check(&b);
    add_all(&b, b.f.position);
    remove_all(&b, b.handle);
    for (uint32_t i = 0; i < FEW; i++) {
        CHECK_OK(weft_entity_set_archetype(world, b.e[i], plain));
        CHECK(weft_entity_is_alive(world, b.e[i]));
        CHECK_OK(weft_entity_set_archetype(world, b.e[i], none));
    }
    all_dead(&b);
    storage_close(&b.f);
}

Test(residue, a_linked_group_that_a_residue_got_is_followed)
{
    bed b = bed_open(FEW);
    weft_component group = weft_component_linked_group(b.f.world);
    CHECK_OK(weft_entity_destroy(b.f.world, b.e[0]));
    CHECK_OK(weft_entity_add(b.f.world, b.e[0], group));
    CHECK_OK(test_buffer_append(b.f.world, group, b.e[0], b.e, FEW));
    CHECK_OK(weft_entity_destroy(b.f.world, b.e[0]));
    CHECK(!weft_entity_has(b.f.world, b.e[0], group));
    residues_check(&b);
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
