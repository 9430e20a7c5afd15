/* SPDX-License-Identifier: MIT */
/* test_staging.c: conflicts, order and stages on a small fake: archetypes are bits of a word. */
#include "staging.h"

#include <weft/system.h>

#include "check.h"

#include <criterion/criterion.h>
#include <string.h>

enum { A = 1, B, C, COMPONENTS = 16, LIMIT = 16 };

/* A fake world of up to 64 archetypes and a list of systems over it. */
typedef struct fake {
    weft__memory memory;
    uint64_t with_words[COMPONENTS];
    weft__archetype_set with[COMPONENTS];
    uint64_t match_words[LIMIT];
    weft__archetype_set match[LIMIT];
    weft__access_item items[LIMIT][8];
    weft__staging_node nodes[LIMIT];
    uint32_t mentions[LIMIT][8];
    weft__order_edge barriers[LIMIT];
    weft__staging_input input;
    weft__pile pile;
    weft__staging plan;
} fake;

static void fake_init(fake *f)
{
    memset(f, 0, sizeof *f);
    CHECK_OK(weft__memory_init(&f->memory, NULL));
    f->pile = (weft__pile){&f->memory, WEFT__MEMORY_SYSTEMS};
    for (uint32_t i = 0; i < COMPONENTS; i++)
        f->with[i] = (weft__archetype_set){&f->with_words[i], 1, 0};
    f->with_words[A] = f->with_words[B] = f->with_words[C] = ~UINT64_C(0);
    f->input = (weft__staging_input){
        .nodes = f->nodes, .barriers = f->barriers, .component_limit = COMPONENTS};
}

/* Adds a fusable system over the archetypes of `match`. */
static uint32_t fake_system(fake *f, uint64_t match)
{
    uint32_t node = f->input.node_count++;
    f->match_words[node] = match;
    f->match[node] = (weft__archetype_set){&f->match_words[node], 1, 0};
    f->nodes[node] =
        (weft__staging_node){.access.items = f->items[node],
                             .mentions = f->mentions[node],
                             .traits = WEFT__STAGING_FUSABLE | WEFT__STAGING_SEES_ROWS};
    return node;
}

static void touch(fake *f, uint32_t node, uint32_t component, uint32_t flags)
{
    weft__access_set *set = &f->nodes[node].access;
    bool is_far = (flags & WEFT__ACCESS_FAR) != 0;
    set->items[set->count++] =
        (weft__access_item){component, flags, is_far ? NULL : &f->match[node], &f->with[component]};
    f->mentions[node][f->nodes[node].mention_count++] = component;
    weft__access_set_normalise(set);
}

static void fake_plan(fake *f)
{
    CHECK_OK(weft__staging_make(&f->input, &f->pile, &f->plan));
}

static void fake_fini(fake *f)
{
    weft__pile_free(&f->pile);
    CHECK_U64(weft__memory_bytes(&f->memory, WEFT__MEMORY_SYSTEMS), 0);
}

Test(staging, row_local_systems_that_collide_share_a_stage_in_order)
{
    fake f;
    fake_init(&f);
    for (uint32_t i = 0; i < 3; i++) touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    fake_plan(&f);
    CHECK_U64(f.plan.stage_count, 1);
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(f.plan.stage_nodes[i], i);
    fake_fini(&f);
}

Test(staging, a_lookup_of_what_another_writes_needs_a_barrier)
{
    fake f;
    fake_init(&f);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_FAR);
    touch(&f, fake_system(&f, 1), B, WEFT__ACCESS_WRITE);
    fake_plan(&f);
    CHECK_U64(f.plan.stage_of[0], 0);
    CHECK_U64(f.plan.stage_of[1], 1);
    CHECK_U64(f.plan.stage_of[2], 0);
    fake_fini(&f);
}

Test(staging, systems_over_disjoint_archetypes_do_not_collide)
{
    fake f;
    fake_init(&f);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 2), A, WEFT__ACCESS_WRITE);
    f.nodes[1].traits = WEFT__STAGING_SEES_ROWS; /* not fusable: a collision would be far */
    fake_plan(&f);
    CHECK_U64(f.plan.stage_count, 1);
    f.match_words[1] = 3;
    fake_plan(&f);
    CHECK_U64(f.plan.stage_count, 2);
    fake_fini(&f);
}

Test(staging, a_common_archetype_without_the_component_is_no_conflict)
{
    fake f;
    fake_init(&f);
    f.with_words[A] = 2; /* both match archetype 0, which lacks the optional A */
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    CHECK_U64(weft__staging_conflict(&f.nodes[0], &f.nodes[1], NULL), WEFT__CONFLICT_NONE);
    f.with_words[A] = 1;
    uint32_t component = 0;
    CHECK_U64(weft__staging_conflict(&f.nodes[0], &f.nodes[1], &component), WEFT__CONFLICT_NEAR);
    CHECK_U64(component, A);
}

Test(staging, two_readers_never_collide)
{
    fake f;
    fake_init(&f);
    touch(&f, fake_system(&f, 1), A, 0);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_FAR);
    CHECK_U64(weft__staging_conflict(&f.nodes[0], &f.nodes[1], NULL), WEFT__CONFLICT_NONE);
}

Test(staging, an_explicit_order_without_conflict_is_a_barrier)
{
    fake f;
    fake_init(&f);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 1), B, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 1), A, 0);
    f.barriers[0] = (weft__order_edge){0, 1};
    f.barriers[1] =
        (weft__order_edge){0, 2}; /* with a near conflict the order per slice is enough */
    f.input.barrier_count = 2;
    fake_plan(&f);
    CHECK_U64(f.plan.stage_of[1], 1);
    CHECK_U64(f.plan.stage_of[2], 0);
    fake_fini(&f);
}

Test(staging, without_fusion_every_system_has_its_stage)
{
    fake f;
    fake_init(&f);
    for (uint32_t i = 0; i < 4; i++) touch(&f, fake_system(&f, 1), A + (i & 1), 0);
    f.input.without_fusion = true;
    fake_plan(&f);
    CHECK_U64(f.plan.stage_count, 4);
    for (uint32_t i = 0; i < 4; i++) CHECK_U64(f.plan.stage_of[i], i);
    fake_fini(&f);
}

Test(staging, a_sync_point_stands_only_before_an_observer)
{
    fake f;
    fake_init(&f);
    static const uint32_t records[] = {C};
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    f.nodes[0].effects = WEFT_RECORDS_ADD;
    f.nodes[0].records = records;
    f.nodes[0].record_count = 1;
    touch(&f, fake_system(&f, 1), B, WEFT__ACCESS_WRITE); /* does not mention C */
    touch(&f, fake_system(&f, 1), C, 0);
    fake_plan(&f);
    CHECK_U64(f.plan.sync_count, 1);
    CHECK_U64(f.plan.syncs[0].recorder, 0);
    CHECK_U64(f.plan.syncs[0].observer, 2);
    CHECK_U64(f.plan.stage_of[1], 0);
    CHECK_U64(f.plan.stage_of[2], 1);
    CHECK_U64(f.plan.is_sync[1], 1);
    fake_fini(&f);
}

Test(staging, who_could_see_a_creation_needs_no_other_components)
{
    static const uint32_t both[] = {A, B}, only_c[] = {C};
    weft__staging_node recorder = {
        .effects = WEFT_RECORDS_CREATE, .records = both, .record_count = 2};
    weft__staging_node observer = {.traits = WEFT__STAGING_SEES_ROWS,
                                   .required = only_c,
                                   .required_count = 1,
                                   .mentions = only_c,
                                   .mention_count = 1};
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_NOTHING);
    observer.required = both;
    observer.required_count = 2;
    CHECK(weft__staging_visible(&recorder, &observer) != WEFT__VISIBLE_NOTHING);
    recorder.effects = WEFT_RECORDS_DESTROY;
    CHECK(weft__staging_visible(&recorder, &observer) != WEFT__VISIBLE_NOTHING);
    recorder.destroys = only_c; /* entities without A and B */
    recorder.destroy_count = 1;
    CHECK_U64(weft__staging_visible(&recorder, &observer),
              WEFT__VISIBLE_DESTROYED); /* by look-up */
    observer.traits |= WEFT__STAGING_ROWS_ONLY;
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_NOTHING);
    recorder.destroys = both;
    recorder.destroy_count = 2;
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_DESTROYED);
    observer.traits = 0; /* no rows, no lookups: sees nothing */
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_NOTHING);
}

/* An observer whose rows are all it sees does not meet a new entity for a component alone. */
Test(staging, a_creation_without_what_rows_must_have_is_not_seen)
{
    static const uint32_t both[] = {A, B}, with_b[] = {B, C};
    weft__staging_node recorder = {
        .effects = WEFT_RECORDS_CREATE, .records = both, .record_count = 2};
    weft__staging_node observer = {.traits = WEFT__STAGING_SEES_ROWS | WEFT__STAGING_ROWS_ONLY,
                                   .required = with_b,
                                   .required_count = 2,
                                   .mentions = with_b,
                                   .mention_count = 2};
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_NOTHING);
    recorder.effects |= WEFT_RECORDS_ADD;
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_CHANGED);
    recorder.effects = WEFT_RECORDS_CREATE;
    observer.traits = WEFT__STAGING_SEES_ROWS; /* it looks things up, too */
    CHECK_U64(weft__staging_visible(&recorder, &observer), WEFT__VISIBLE_CREATED);
}

Test(staging, an_exclusive_system_stands_alone)
{
    fake f;
    fake_init(&f);
    for (uint32_t i = 0; i < 3; i++) touch(&f, fake_system(&f, 1), A, 0);
    f.nodes[1].traits = WEFT__STAGING_EXCLUSIVE;
    fake_plan(&f);
    CHECK_U64(f.plan.stage_count, 3);
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(f.plan.stage_of[i], i);
    fake_fini(&f);
}

Test(staging, a_background_system_is_joined_before_its_first_reader)
{
    fake f;
    fake_init(&f);
    touch(&f, fake_system(&f, 1), A, WEFT__ACCESS_WRITE);
    f.nodes[0].traits = WEFT__STAGING_BACKGROUND | WEFT__STAGING_SEES_ROWS;
    touch(&f, fake_system(&f, 1), B, WEFT__ACCESS_WRITE);
    touch(&f, fake_system(&f, 1), B, WEFT__ACCESS_FAR);
    touch(&f, fake_system(&f, 1), A, 0);
    fake_plan(&f);
    CHECK_U64(f.plan.join_stage[0], f.plan.stage_of[3]);
    CHECK_U64(f.plan.stage_of[3], 1);
    fake_fini(&f);
}

Test(staging, every_shuffle_respects_every_conflict)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        fake f;
        fake_init(&f);
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t node = fake_system(&f, 1 + (i & 1));
            touch(&f, node, A + i % 3, i % 4 == 0 ? WEFT__ACCESS_WRITE : 0);
            if (i == 5) touch(&f, node, B, WEFT__ACCESS_FAR | WEFT__ACCESS_WRITE);
        }
        f.input.shuffle_seed = seed;
        fake_plan(&f);
        uint32_t position[10];
        for (uint32_t i = 0; i < 10; i++) position[f.plan.stage_nodes[i]] = i;
        for (uint32_t b = 0; b < 10; b++)
            for (uint32_t a = 0; a < b; a++) {
                weft__conflict conflict = weft__staging_conflict(&f.nodes[a], &f.nodes[b], NULL);
                if (conflict != WEFT__CONFLICT_NONE) CHECK(position[a] < position[b]);
                if (conflict == WEFT__CONFLICT_FAR) CHECK(f.plan.stage_of[a] < f.plan.stage_of[b]);
            }
        fake_fini(&f);
    }
}
