/* SPDX-License-Identifier: MIT */
/* test_relation.c: declaration of relations, sources of targets, policies, cycles, depths, and how
 * little of the rows is looked at. */
#include "relation_fixture.h"

#include <criterion/criterion.h>

enum { MANY = 3000 };

static weft_entity one(const relation_fixture *f)
{
    return weft_entity_create(f->world, WEFT_ARCHETYPE(f->world, f->weight));
}

static void relate(const relation_fixture *f, weft_entity source, uint32_t r, weft_entity target)
{
    CHECK_OK(weft_relation_set(f->world, source, f->of[r], target));
}

static uint32_t count_of(const relation_fixture *f, uint32_t r, weft_entity target)
{
    uint32_t count;
    weft_relation_sources(f->world, f->of[r], target, &count);
    return count;
}

static weft_relation_stats stats_of(const relation_fixture *f, uint32_t r)
{
    weft_relation_stats stats;
    CHECK_OK(weft_relation_stats_get(f->world, f->of[r], &stats, sizeof stats));
    return stats;
}

Test(relation, children_are_listed_by_index_after_settling)
{
    relation_fixture f = relation_open(1);
    weft_entity parent = one(&f), child[3] = {one(&f), one(&f), one(&f)};
    for (uint32_t i = 3; i-- > 0;) relate(&f, child[i], 0, parent);
    CHECK_U64(count_of(&f, 0, parent), 0);
    CHECK_OK(weft_relation_settle(f.world));
    uint32_t count;
    CHECK(weft_relation_sources(f.world, f.of[0], parent, NULL) == NULL);
    const weft_entity *list = weft_relation_sources(f.world, f.of[0], parent, &count);
    CHECK_U64(count, 3);
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(list[i].index, child[i].index);
    CHECK(weft_relation_target(f.world, child[1], f.of[0]).index == parent.index);
    relation_close(&f);
}

/* Instances of a prefab, which is an instance itself, by calls and by commands. */
Test(relation, instances_know_their_prefab)
{
    relation_fixture f = relation_open(1);
    weft_component group = weft_component_linked_group(f.world);
    weft_entity base = one(&f), root = one(&f), part = one(&f), copies[3];
    relate(&f, root, 1, base);
    relate(&f, part, 1, root); /* a reference within the group */
    CHECK_OK(weft_entity_add(f.world, root, group));
    weft_buffers list = weft_entity_write_buffer(f.world, root, group);
    CHECK_OK(weft_buffers_append(&list, 0, (weft_entity[]){root, part}, 2));
    CHECK_OK(weft_entity_instantiate(f.world, root, 1, copies)); /* no prefab: a copy */
    CHECK_U64(weft_relation_target(f.world, copies[0], f.of[1]).index, base.index);
    CHECK_OK(weft_entity_add(f.world, root, weft_component_prefab(f.world)));
    CHECK_OK(weft_entity_instantiate(f.world, root, 3, copies));
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(f.world, &recorder));
    for (uint32_t i = 0; i < 4; i++) weft_recorder_instantiate(recorder, root);
    CHECK_OK(weft_recorder_play(recorder));
    weft_recorder_destroy(recorder);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(count_of(&f, 1, root), 3 + 4 + 1); /* and its own part */
    CHECK_U64(count_of(&f, 1, copies[2]), 1);    /* the copy of the part */
    CHECK_U64(weft_relation_target(f.world, copies[2], f.of[1]).index, root.index);
    CHECK_OK(weft_entity_instantiate(f.world, copies[2], 1, copies)); /* of the same prefab */
    CHECK_U64(weft_relation_target(f.world, copies[0], f.of[1]).index, root.index);
    relation_close(&f);
}

Test(relation, children_die_with_their_parent_and_all_below_them)
{
    relation_fixture f = relation_open(1);
    weft_entity chain[20];
    for (uint32_t i = 0; i < 20; i++) chain[i] = one(&f);
    for (uint32_t i = 1; i < 20; i++) relate(&f, chain[i], 0, chain[i - 1]);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_entity_destroy(f.world, chain[5]));
    CHECK_OK(weft_relation_settle(f.world));
    for (uint32_t i = 0; i < 20; i++) CHECK(weft_entity_is_alive(f.world, chain[i]) == (i < 5));
    relation_close(&f);
}

Test(relation, a_child_that_was_given_another_parent_survives_the_first)
{
    relation_fixture f = relation_open(1);
    weft_entity a = one(&f), b = one(&f), child = one(&f);
    relate(&f, child, 0, a);
    CHECK_OK(weft_relation_settle(f.world));
    relate(&f, child, 0, b);
    CHECK_OK(weft_entity_destroy(f.world, a));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK(weft_entity_is_alive(f.world, child));
    CHECK_U64(count_of(&f, 0, b), 1);
    relation_close(&f);
}

Test(relation, a_field_is_cleared_or_kept_as_declared)
{
    relation_fixture f = relation_open(1);
    weft_entity target = one(&f), instance = one(&f), fan = one(&f), owned = one(&f);
    relate(&f, instance, 1, target);
    relate(&f, fan, 2, target);
    relate(&f, owned, 3, target);
    CHECK_OK(weft_entity_destroy(f.world, target)); /* before any of it is settled */
    CHECK_OK(weft_relation_settle(f.world));
    CHECK(weft_relation_target(f.world, instance, f.of[1]).version == 0);
    CHECK(weft_relation_target(f.world, fan, f.of[2]).version == target.version);
    CHECK(!weft_entity_is_alive(f.world, owned));
    relation_close(&f);
}

Test(relation, a_new_entity_with_the_index_of_a_dead_target_has_no_sources)
{
    relation_fixture f = relation_open(1);
    weft_entity target = one(&f), fan = one(&f);
    relate(&f, fan, 2, target);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_entity_destroy(f.world, target));
    weft_entity next = one(&f);
    CHECK_U64(next.index, target.index);
    CHECK_U64(count_of(&f, 2, next), 0);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(count_of(&f, 2, next), 0);
    relation_close(&f);
}

Test(relation, a_cycle_is_refused_by_the_call_and_cut_where_fields_were_written)
{
    relation_fixture f = relation_open(1);
    weft_entity a = one(&f), b = one(&f), c = one(&f);
    relate(&f, b, 0, a);
    relate(&f, c, 0, b);
    CHECK_RESULT(weft_relation_set(f.world, a, f.of[0], c), WEFT_CYCLE);
    CHECK_RESULT(weft_relation_set(f.world, a, f.of[0], a), WEFT_CYCLE);
    CHECK(!weft_entity_has(f.world, a, f.of[0]));
    weft_target up = {c};
    CHECK_OK(weft_entity_set(f.world, a, f.of[0], &up, sizeof up));
    CHECK_RESULT(weft_relation_settle(f.world), WEFT_CYCLE);
    CHECK_U64(weft_world_error(f.world)->entity.index, a.index);
    CHECK(weft_relation_target(f.world, a, f.of[0]).version == 0);
    CHECK_U64(weft_relation_depth(f.world, f.of[0], c), 2);
    CHECK_OK(weft_relation_settle(f.world));
    relation_close(&f);
}

Test(relation, a_cycle_is_cut_at_its_lowest_index_wherever_it_was_closed)
{
    relation_fixture f = relation_open(1);
    weft_entity a = one(&f), b = one(&f), c = one(&f);
    relate(&f, a, 0, b);
    relate(&f, b, 0, c);
    CHECK_OK(weft_relation_settle(f.world));
    weft_target up = {a};
    CHECK_OK(weft_entity_set(f.world, c, f.of[0], &up, sizeof up));
    CHECK_RESULT(weft_relation_settle(f.world), WEFT_CYCLE);
    CHECK(weft_relation_target(f.world, a, f.of[0]).version == 0);
    CHECK_U64(weft_relation_depth(f.world, f.of[0], b), 2);
    relation_close(&f);
}

/* Fields that were written directly and not settled: calls end, for one source and for many, in
 * the cycle and on the way to it, and find who is in it. */
Test(relation, calls_end_where_fields_have_a_cycle)
{
    for (uint32_t length = 1; length < 12; length++)
        for (uint32_t way = 0; way < 4; way++) {
            relation_fixture f = relation_open(1);
            weft_entity ring[12], tail = one(&f), free_ones[2] = {one(&f), one(&f)};
            for (uint32_t i = 0; i < length; i++) ring[i] = one(&f);
            for (uint32_t i = 0; i < length; i++) {
                weft_target next = {ring[(i + 1) % length]};
                CHECK_OK(weft_entity_set(f.world, ring[i], f.of[0], &next, sizeof next));
            }
            weft_target in = {ring[0]};
            CHECK_OK(weft_entity_set(f.world, tail, f.of[0], &in, sizeof in));
            weft_entity above = way < 2 ? ring[length / 2] : tail;
            CHECK_OK(weft_relation_set_many(f.world, free_ones, 1 + way % 2, f.of[0], above));
            CHECK_OK(weft_relation_set(f.world, free_ones[0], f.of[0], above));
            CHECK_RESULT(weft_relation_set(f.world, ring[length - 1], f.of[0], above), WEFT_CYCLE);
            weft_entity two[2] = {free_ones[1], ring[length - 1]};
            CHECK_RESULT(weft_relation_set_many(f.world, two, 2, f.of[0], above), WEFT_CYCLE);
            CHECK_RESULT(weft_relation_settle(f.world), WEFT_CYCLE);
            CHECK_OK(weft_relation_settle(f.world));
            relation_close(&f);
        }
}

/* Handles that end a chain: one that is dead, whose index another entity has now, is above nothing;
 * long chains are searched otherwise. */
Test(relation, a_dead_handle_above_whose_index_is_used_again_is_no_cycle)
{
    for (uint32_t depth = 1; depth < 20; depth++) {
        relation_fixture f = relation_open(1);
        weft_component up = weft_component_create(
            f.world, &(weft_component_desc){.name = "up",
                                            .size = sizeof(weft_entity),
                                            .alignment = 4,
                                            .fields = &(weft_field){"e", WEFT_FIELD_ENTITY, 0, 1},
                                            .field_count = 1});
        CHECK_OK(weft_relation_declare(f.world,
                                       &(weft_relation_desc){.component = up,
                                                             .on_target_death = WEFT_ON_TARGET_KEEP,
                                                             .is_acyclic = true}));
        weft_entity chain[20], top = one(&f);
        for (uint32_t i = 0; i < depth; i++) {
            chain[i] = one(&f);
            CHECK_OK(weft_relation_set(f.world, chain[i], up, i == 0 ? top : chain[i - 1]));
        }
        CHECK_OK(weft_entity_destroy(f.world, top));
        weft_entity again = one(&f);
        CHECK_U64(again.index, top.index);
        CHECK_OK(weft_relation_set(f.world, again, up, chain[depth - 1]));
        CHECK_RESULT(weft_relation_set(f.world, chain[0], up, again), WEFT_CYCLE);
        relation_close(&f);
    }
}

/* ---- depths that calls take away ---- */

/* The ways to take the depth of a child, or to give it another. */
typedef enum taking { TAKE_ARCHETYPE, TAKE_REMOVE, TAKE_SET, TAKE_QUERY, TAKE_COUNT } taking;

static void depth_take(const relation_fixture *f, weft_entity child, taking way)
{
    uint32_t wrong = 7;
    weft_component depth = weft_relation_depth_component(f->world, f->of[0]);
    weft_query q = weft_query_create(f->world, &(weft_query_desc){.terms = {{depth, WEFT_READ}}});
    if (way == TAKE_ARCHETYPE)
        CHECK_OK(weft_entity_set_archetype(f->world, child, WEFT_ARCHETYPE(f->world, f->of[0])));
    if (way == TAKE_REMOVE) CHECK_OK(weft_entity_remove(f->world, child, depth));
    if (way == TAKE_SET) CHECK_OK(weft_entity_set_shared(f->world, child, depth, &wrong));
    if (way == TAKE_QUERY) CHECK_OK(weft_query_remove(f->world, q, depth)); /* whole chunks */
}

Test(relation, a_child_gets_its_depth_again_whatever_took_it)
{
    for (int way = 0; way < TAKE_COUNT; way++) {
        relation_fixture f = relation_open(1);
        weft_entity top = one(&f), child[300], grandchild = one(&f);
        for (uint32_t i = 0; i < 300; i++) {
            child[i] = one(&f);
            relate(&f, child[i], 0, top);
        }
        relate(&f, grandchild, 0, child[5]);
        CHECK_OK(weft_relation_settle(f.world));
        depth_take(&f, child[5], (taking)way);
        depth_take(&f, grandchild, (taking)way);
        CHECK_OK(weft_relation_settle(f.world));
        for (uint32_t i = 0; i < 300; i++)
            CHECK_U64(weft_relation_depth(f.world, f.of[0], child[i]), 1);
        CHECK_U64(weft_relation_depth(f.world, f.of[0], grandchild), 2);
        relation_close(&f);
    }
}

/* Edges of one page that go together are sorted by comparison, from 256 on by counting. */
Test(relation, what_is_below_many_that_lose_relation_and_depth_moves_up)
{
    static weft_entity x[400], y[400];
    const uint32_t counts[] = {255, 256, 257, 400};
    for (uint32_t c = 0; c < 4; c++) {
        relation_fixture f = relation_open(1);
        uint32_t n = counts[c];
        weft_entity top[2] = {one(&f), one(&f)};
        for (uint32_t i = 0; i < n; i++) x[i] = one(&f);
        for (uint32_t i = 0; i < n; i++) y[i] = one(&f);
        for (uint32_t i = 0; i < n; i++) { /* rows in another order than indices */
            uint32_t k = (i * 7 + 3) % n;
            relate(&f, x[k], 0, top[k & 1]);
            relate(&f, y[k], 0, x[k]);
        }
        CHECK_OK(weft_relation_settle(f.world));
        for (uint32_t i = 0; i < n; i++)
            CHECK_OK(weft_entity_set_archetype(f.world, x[i], WEFT_ARCHETYPE(f.world, f.tag)));
        CHECK_OK(weft_relation_settle(f.world));
        for (uint32_t i = 0; i < n; i++) CHECK_U64(weft_relation_depth(f.world, f.of[0], y[i]), 1);
        relation_close(&f);
    }
}

/* The field and its cut have one version, and the row, which has depth 0, stays where it is. */
Test(relation, an_edge_that_settling_cuts_leaves_the_list_of_its_target)
{
    relation_fixture f = relation_open(1);
    weft_entity a = one(&f), b = one(&f);
    relate(&f, a, 0, b);
    CHECK_OK(weft_relation_settle(f.world));
    relate(&f, a, 0, (weft_entity){0});
    CHECK_OK(weft_relation_settle(f.world));
    weft_target up = {a};
    CHECK_OK(weft_entity_set(f.world, a, f.of[0], &up, sizeof up));
    CHECK_RESULT(weft_relation_settle(f.world), WEFT_CYCLE);
    CHECK(weft_relation_target(f.world, a, f.of[0]).version == 0);
    CHECK_U64(count_of(&f, 0, a), 0);
    relation_close(&f);
}

Test(relation, depths_follow_when_a_subtree_moves)
{
    relation_fixture f = relation_open(1);
    weft_entity e[6];
    for (uint32_t i = 0; i < 6; i++) e[i] = one(&f);
    relate(&f, e[1], 0, e[0]);
    relate(&f, e[2], 0, e[1]);
    relate(&f, e[3], 0, e[2]);
    relate(&f, e[5], 0, e[4]);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(weft_relation_depth(f.world, f.of[0], e[3]), 3);
    relate(&f, e[2], 0, e[4]); /* up by one, with what is below */
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(weft_relation_depth(f.world, f.of[0], e[2]), 1);
    CHECK_U64(weft_relation_depth(f.world, f.of[0], e[3]), 2);
    CHECK_OK(weft_entity_remove(f.world, e[2], f.of[0]));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(weft_relation_depth(f.world, f.of[0], e[3]), 1);
    weft_component depth = weft_relation_depth_component(f.world, f.of[0]);
    CHECK(!weft_entity_has(f.world, e[2], depth) && weft_entity_has(f.world, e[3], depth));
    relation_close(&f);
}

Test(relation, settling_looks_at_changed_slices_only)
{
    relation_fixture f = relation_open(1);
    weft_entity target = one(&f), *many = malloc(MANY * sizeof *many);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.of[1]), MANY, many));
    CHECK_OK(weft_relation_set_many(f.world, many, MANY, f.of[1], target));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(stats_of(&f, 1).sources, MANY);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(stats_of(&f, 1).scanned, 0);
    relate(&f, many[7], 1, one(&f));
    CHECK_OK(weft_relation_settle(f.world));
    weft_relation_stats stats = stats_of(&f, 1);
    CHECK(stats.scanned != 0 && stats.scanned < MANY / 2);
    CHECK_U64(stats.changed, 2); /* from one target to another */
    CHECK_U64(count_of(&f, 1, target), MANY - 1);
    free(many);
    relation_close(&f);
}

Test(relation, rows_that_move_change_no_edge)
{
    relation_fixture f = relation_open(1);
    weft_entity target = one(&f), child[100];
    for (uint32_t i = 0; i < 100; i++) relate(&f, child[i] = one(&f), 1, target);
    CHECK_OK(weft_relation_settle(f.world));
    for (uint32_t i = 0; i < 100; i += 3) CHECK_OK(weft_entity_add(f.world, child[i], f.tag));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK(stats_of(&f, 1).scanned != 0);
    CHECK_U64(stats_of(&f, 1).changed, 0);
    CHECK_U64(count_of(&f, 1, target), 100);
    relation_close(&f);
}

Test(relation, sources_are_right_after_a_snapshot_was_restored)
{
    relation_fixture f = relation_open(1);
    weft_entity a = one(&f), b = one(&f), child = one(&f);
    weft_snapshot *snapshot;
    relate(&f, child, 1, a);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    relate(&f, child, 1, b);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_snapshot_restore(f.world, snapshot));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_U64(count_of(&f, 1, a), 1);
    CHECK_U64(count_of(&f, 1, b), 0);
    weft_snapshot_destroy(snapshot);
    relation_close(&f);
}

Test(relation, sources_are_right_in_a_world_loaded_from_a_file)
{
    relation_fixture f = relation_open(1), g = relation_open(1);
    weft_world_bytes bytes;
    weft_entity parent = one(&f);
    for (uint32_t i = 0; i < 50; i++) relate(&f, one(&f), 0, parent);
    CHECK_OK(weft_entity_set_name(f.world, parent, "root"));
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_world_save_memory(f.world, &bytes, NULL));
    CHECK_OK(weft_world_load_memory(g.world, bytes.bytes, bytes.count, NULL));
    CHECK_OK(weft_relation_settle(g.world));
    weft_entity loaded = weft_entity_find(g.world, "root");
    CHECK_U64(count_of(&g, 0, loaded), 50);
    check_settling(&g);
    weft_world_bytes_free(f.world, &bytes);
    relation_close(&f);
    relation_close(&g);
}

/* So many that the index is built from nothing where most fields change. */
Test(relation, an_index_of_many_sources_is_right_whatever_part_of_them_changes)
{
    enum { SOURCES = 150000, TARGETS = 9000 };
    relation_fixture f = relation_open(2);
    weft_entity *targets = malloc(TARGETS * sizeof *targets);
    weft_entity *sources = malloc(SOURCES * sizeof *sources);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.tag), TARGETS, targets));
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.of[1], f.of[0]), SOURCES,
                                     sources));
    static const uint32_t parts[] = {SOURCES, SOURCES, 100, SOURCES / 2, SOURCES * 3 / 4, 1};
    for (uint32_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        for (uint32_t i = 0; i < parts[k]; i++) {
            uint32_t at = k % 2 == 0 ? i : SOURCES - 1 - i;
            weft_target to = {targets[(at * 7 + k * 131) % TARGETS]};
            CHECK_OK(weft_entity_set(f.world, sources[at], f.of[k % 2], &to, sizeof to));
            if (k < 2) CHECK_OK(weft_entity_set(f.world, sources[at], f.of[1 - k], &to, sizeof to));
        }
        check_settling(&f);
    }
    CHECK(stats_of(&f, 1).rebuilds != 0);
    CHECK_OK(weft_entity_destroy_many(f.world, targets, TARGETS / 2));
    check_settling(&f);
    free(targets);
    free(sources);
    relation_close(&f);
}

Test(relation, declarations_are_checked)
{
    relation_fixture f = relation_open(1);
    weft_relation_desc desc = {.component = f.weight};
    CHECK_RESULT(weft_relation_declare(f.world, &desc), WEFT_TYPE_MISMATCH);
    desc = (weft_relation_desc){.component = f.of[1]};
    CHECK_OK(weft_relation_declare(f.world, &desc));
    desc.is_acyclic = true;
    CHECK_RESULT(weft_relation_declare(f.world, &desc), WEFT_ALREADY_EXISTS);
    desc.component = (weft_component){0};
    CHECK_RESULT(weft_relation_declare(f.world, &desc), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_relation_declare(f.world, NULL), WEFT_INVALID_ARGUMENT);
    CHECK(weft_component_parent(f.world).id == f.of[0].id);
    weft_entity dead = one(&f), child = one(&f);
    CHECK_OK(weft_entity_destroy(f.world, dead));
    CHECK_RESULT(weft_relation_set(f.world, child, f.of[0], dead), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_relation_set(f.world, child, f.weight, child), WEFT_TYPE_MISMATCH);
    relation_close(&f);
}

/* What arrives is settled as what was created here. */
Test(relation, sources_are_right_after_a_transfer_between_worlds)
{
    relation_fixture f = relation_open(1), g = relation_open(1);
    weft_entity parent = one(&f);
    for (uint32_t i = 0; i < 40; i++) relate(&f, one(&f), 0, parent);
    CHECK_OK(weft_entity_set_name(f.world, parent, "root"));
    CHECK_OK(weft_relation_settle(f.world));
    relate(&g, one(&g), 1, one(&g));
    CHECK_OK(weft_relation_settle(g.world));
    CHECK_OK(weft_world_transfer(g.world, f.world, NULL, NULL, 0));
    check_settling(&f);
    check_settling(&g);
    CHECK_U64(count_of(&g, 0, weft_entity_find(g.world, "root")), 40);
    relation_close(&f);
    relation_close(&g);
}
