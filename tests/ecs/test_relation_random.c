/* SPDX-License-Identifier: MIT */
/* test_relation_random.c: random changes of a world with relations: by every immediate call, by
 * loops that write fields, by commands, snapshots and files. Now and then it is settled and
 * compared with a naive model (relation_fixture.h). */
#include "random.h"
#include "relation_fixture.h"

#include <criterion/criterion.h>

enum { MOST = 1500 };

/* Owner: one test. */
typedef struct walk {
    relation_fixture f;
    test_random random;
    weft_entity ids[4 * MOST];
    uint32_t count;
    weft_snapshot *snapshot;
} walk;

static uint32_t below(walk *w, uint32_t bound)
{
    return (uint32_t)test_random_below(&w->random, bound);
}

static void refresh(walk *w)
{
    w->count = (uint32_t)weft_query_entities(w->f.world, w->f.all, w->ids, 4 * MOST);
    CHECK(w->count <= 4 * MOST);
}

/* Mostly alive, sometimes not. */
static weft_entity any(walk *w)
{
    return w->count == 0 ? (weft_entity){0} : w->ids[below(w, w->count)];
}

static weft_entity any_living(walk *w)
{
    for (uint32_t i = 0; i < 20; i++) {
        weft_entity e = any(w);
        if (weft_entity_is_alive(w->f.world, e)) return e;
    }
    return (weft_entity){0};
}

static void set_field(walk *w, weft_entity e, uint32_t r, weft_entity target)
{
    liking value = {.much = below(w, 9), .whom = target};
    size_t offset = relation_offset(r);
    size_t bytes = r == 2 ? sizeof value : sizeof(weft_entity);
    const char *from =
        r == 2 ? (const char *)&value : (const char *)&value + offsetof(liking, whom);
    (void)offset;
    CHECK_OK(weft_entity_set(w->f.world, e, w->f.of[r], from, bytes));
}

static void create(walk *w)
{
    weft_world *world = w->f.world;
    weft_entity made[64];
    uint32_t n = 1 + below(w, 64), r = below(w, RELATIONS);
    if (w->count + n > MOST) return;
    weft_archetype archetype = below(w, 3) == 0   ? WEFT_ARCHETYPE(world, w->f.of[r], w->f.weight)
                               : below(w, 5) == 0 ? WEFT_ARCHETYPE(world, w->f.of[r], w->f.rest)
                               : below(w, 2)      ? WEFT_ARCHETYPE(world, w->f.weight)
                                                  : WEFT_ARCHETYPE(world, w->f.tag, w->f.of[r]);
    CHECK_OK(weft_entity_create_many(world, archetype, n, made));
    for (uint32_t i = 0; i < n; i++) w->ids[w->count++] = made[i];
    weft_entity target = any(w);
    for (uint32_t i = 0; i < n && below(w, 3) != 0; i++) set_field(w, made[i], r, target);
}

static void relate(walk *w)
{
    uint32_t n = 1 + below(w, 40), r = below(w, RELATIONS);
    for (uint32_t i = 0; i < n; i++) {
        weft_entity e = any_living(w), target = any(w);
        if (e.version == 0) return;
        if (r != 0 || below(w, 20) == 0 || e.index > target.index) set_field(w, e, r, target);
    }
}

/* What the checked call says, and what the fields say of cycles. */
static void relate_checked(walk *w)
{
    weft_world *world = w->f.world;
    weft_entity e = any_living(w), target = below(w, 9) == 0 ? (weft_entity){0} : any(w);
    uint32_t r = below(w, RELATIONS);
    if (e.version == 0) return;
    weft_result expected = WEFT_OK;
    if (target.version != 0 && !weft_entity_is_alive(world, target)) expected = WEFT_STALE_ENTITY;
    weft_entity up = target;
    for (uint32_t i = 0; i < 100 && expected == WEFT_OK && r == 0 && up.version != 0; i++) {
        if (weft_entity_equal(up, e)) expected = WEFT_CYCLE;
        up = weft_relation_target(world, up, w->f.of[0]);
    }
    CHECK_RESULT(weft_relation_set(world, e, w->f.of[r], target), expected);
}

static void relate_many(walk *w)
{
    weft_entity e[30], target = any_living(w);
    uint32_t n = 1 + below(w, 30), r = 1 + below(w, RELATIONS - 1);
    for (uint32_t i = 0; i < n; i++) {
        e[i] = any_living(w);
        if (e[i].version == 0) return;
    }
    if (target.version == 0) return;
    CHECK_OK(weft_relation_set_many(w->f.world, e, n, w->f.of[r], target));
}

static void destroy(walk *w)
{
    static weft_entity e[MOST];
    uint32_t n = 1 + below(w, below(w, 4) == 0 ? MOST / 2 : 16); /* many: both ways to sort edges */
    for (uint32_t i = 0; i < n; i++) e[i] = any(w);
    if (e[0].version == 0) return;
    if (below(w, 2))
        CHECK_OK(weft_entity_destroy_many(w->f.world, e, n));
    else
        weft_entity_destroy(w->f.world, e[0]);
}

static void move(walk *w)
{
    weft_world *world = w->f.world;
    uint32_t n = 1 + below(w, 50);
    weft_component c = below(w, 3) == 0   ? w->f.of[below(w, RELATIONS)]
                       : below(w, 5) == 0 ? w->f.rest
                       : below(w, 2)      ? w->f.tag
                                          : w->f.weight;
    for (uint32_t i = 0; i < n; i++) {
        weft_entity e = any_living(w);
        if (e.version == 0) return;
        if (below(w, 2))
            CHECK_OK(weft_entity_remove(world, e, c));
        else
            CHECK_OK(weft_entity_add(world, e, c));
    }
    if (below(w, 8) == 0) weft_world_compact(world, UINT64_MAX);
}

/* What takes the depth away, or gives another: of some entities, or of whole chunks. */
static void meddle(walk *w)
{
    weft_world *world = w->f.world;
    weft_component depth = weft_relation_depth_component(world, w->f.of[0]);
    uint32_t n = 1 + below(w, 30), value = below(w, 4), way = below(w, 6);
    for (uint32_t i = 0; i < n && way < 4; i++) {
        weft_entity e = any(w);
        if (e.version != 0 && weft_entity_has(world, e, w->f.rest)) /* it may be a residue */
            CHECK_OK(weft_entity_remove(world, e, w->f.rest));
        if (!weft_entity_is_alive(world, e)) continue;
        bool is_child = weft_entity_has(world, e, w->f.of[0]);
        if (way == 0 && is_child)
            CHECK_OK(weft_entity_set_archetype(
                world, e,
                below(w, 2) ? WEFT_ARCHETYPE(world, w->f.of[0])
                            : WEFT_ARCHETYPE(world, w->f.of[0], w->f.tag, w->f.weight)));
        if (way == 1) CHECK_OK(weft_entity_remove(world, e, depth));
        if (way == 2) CHECK_OK(weft_entity_set_shared(world, e, depth, &value));
        if (way == 3 && is_child) CHECK_OK(weft_entity_remove(world, e, w->f.of[0]));
    }
    if (way < 4) return;
    weft_query q = weft_query_create(world, &(weft_query_desc){.terms = {{depth, WEFT_READ}}});
    if (way == 4) CHECK_OK(weft_query_remove(world, q, depth));
    if (way == 5) CHECK_OK(weft_query_set_shared(world, q, depth, &value));
    CHECK_OK(weft_query_destroy(world, q));
}

/* Every field of some chunks, through a cursor. */
static void write_fields(walk *w)
{
    uint32_t r = 1 + below(w, RELATIONS - 1), skip = below(w, 3);
    weft_query q =
        weft_query_create(w->f.world, &(weft_query_desc){.terms = {{w->f.of[r], WEFT_WRITE}}});
    weft_cursor c = weft_query_begin(w->f.world, q);
    while (weft_query_next(&c)) {
        char *values = weft_slice_write(&c.slice, 0);
        size_t bytes = r == 2 ? sizeof(liking) : sizeof(weft_entity);
        weft_entity target = any(w);
        for (uint32_t i = skip; i < c.slice.count; i += 1 + skip)
            memcpy(values + i * bytes + relation_offset(r), &target, sizeof target);
    }
    CHECK_OK(weft_query_destroy(w->f.world, q));
}

static void command(walk *w)
{
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(w->f.world, &recorder));
    uint32_t n = 1 + below(w, 60), r = below(w, RELATIONS);
    weft_entity parent = any_living(w), shared = any_living(w);
    if (below(w, 2) && w->count + n < MOST)
        parent = weft_recorder_create_entity(recorder, WEFT_ARCHETYPE(w->f.world, w->f.tag));
    for (uint32_t i = 0; i < n && shared.version != 0; i++) {
        weft_entity e = any_living(w);
        liking value = {.whom = parent};
        if (e.version == 0) continue;
        if (i % 5 == 4)
            weft_recorder_destroy_entity(recorder, e);
        else if (r == 2)
            weft_recorder_set(recorder, e, w->f.of[r], &value, sizeof value);
        else if (r != 0 || e.index > parent.index)
            weft_recorder_set(recorder, e, w->f.of[r], &value.whom, sizeof value.whom);
    }
    CHECK_OK(weft_recorder_play(recorder));
    weft_recorder_destroy(recorder);
}

static void snapshot(walk *w)
{
    if (w->snapshot != NULL && below(w, 2)) {
        CHECK_OK(weft_snapshot_restore(w->f.world, w->snapshot));
        refresh(w); /* handles of a future that is no more may come again */
        return;
    }
    weft_snapshot *next;
    CHECK_OK(weft_snapshot_take(w->f.world, w->snapshot, &next));
    weft_snapshot_destroy(w->snapshot);
    w->snapshot = next;
}

static void instantiate(walk *w)
{
    weft_entity e = any_living(w);
    uint32_t n = 1 + below(w, 4);
    if (e.version == 0 || w->count + n > MOST) return;
    CHECK_OK(weft_entity_instantiate(w->f.world, e, n, NULL));
}

static void run(uint64_t seed, uint32_t workers, uint32_t steps)
{
    walk *w = calloc(1, sizeof *w);
    void (*const changes[])(walk *) = {
        create,       relate,  relate,   relate_checked, relate_many, destroy, move,
        write_fields, command, snapshot, instantiate,    create,      meddle};
    w->f = relation_open(workers);
    w->random = test_random_init(seed);
    for (uint32_t i = 0; i < steps; i++) {
        refresh(w);
        uint32_t n = 1 + below(w, 6);
        for (uint32_t k = 0; k < n; k++) changes[below(w, sizeof changes / sizeof changes[0])](w);
        CHECK_OK(weft_world_validate(w->f.world));
        check_settling(&w->f);
        CHECK_OK(weft_world_validate(w->f.world));
        if (below(w, 3) == 0) check_settling(&w->f); /* nothing changes */
    }
    weft_snapshot_destroy(w->snapshot);
    relation_close(&w->f);
    free(w);
}

Test(relation_random, settling_does_what_the_naive_model_does)
{
    for (uint64_t seed = 1; seed <= 6; seed++) run(seed, 1, 150);
}

Test(relation_random, settling_in_parallel_does_the_same)
{
    run(7, 4, 150);
}
