/* SPDX-License-Identifier: MIT */
/* stress_shared.c: `weft stress shared`: shared values that come and go by the thousand.
 *
 * Every row keeps in a component of its own what its shared values should be. Systems give rows
 * other values from all workers, the owner does it by query, by array and one by one; values fall
 * out of use and come back, chunks split and empty. After a round the values of every chunk are
 * compared with what its rows say, filters with counts, the list of values in use with the values
 * seen. With --faults calls may fail for want of memory: then only the invariants are checked.
 */
#include "stress.h"

#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

enum { ROWS = 6000, ROWS_MOST = 4 * ROWS, STEPS = 6, GROUPS = 48, COLOURS = 3000, LISTED = 400 };

/* What the shared values of a row should be; 0: it has no such component. */
typedef struct memo {
    uint64_t seed;
    uint32_t group, colour;
} memo;

/* The larger shared component. */
typedef struct colour {
    uint64_t key, inverse;
} colour;

/* State of the scenario. Owner: the stress runner's thread; systems read the constants and write
 * their rows' memos. */
typedef struct shared_state {
    weft_world *world;
    weft_component memo, group, colour;
    weft_archetype plain;
    weft_query all, grouped;
    weft_entity *entities;     /* scratch: ROWS_MOST handles */
    bool is_full;              /* too many rows: no births; constant during a step */
    uint32_t seen[GROUPS + 1]; /* rows by group, of the check */
    bool is_used[COLOURS + 1]; /* colours met, of the check */
} shared_state;

static colour colour_of(uint32_t key)
{
    return (colour){key, ~(uint64_t)key};
}

static uint32_t draw_group(uint64_t draw)
{
    return 1 + (uint32_t)(draw >> 20) % GROUPS;
}

static uint32_t draw_colour(uint64_t draw)
{
    return 1 + (uint32_t)(draw >> 24) % COLOURS;
}

static void record_child(const shared_state *s, weft_recorder *commands, uint64_t draw)
{
    const memo child = {draw, draw_group(draw), draw_colour(draw)};
    const colour value = colour_of(child.colour);
    const weft_entity e = weft_recorder_create_entity(commands, s->plain);
    weft_recorder_set(commands, e, s->memo, &child, sizeof child);
    weft_recorder_set_shared(commands, e, s->group, &child.group);
    weft_recorder_set_shared(commands, e, s->colour, &value);
}

static void paint_row(const shared_state *s, weft_recorder *commands, memo *m, weft_entity e)
{
    const uint64_t draw = weft_stress_random(&m->seed);
    const colour value = colour_of(draw_colour(draw));
    const uint32_t group = draw_group(draw);
    switch (draw % 64) {
    case 0:
    case 1:
        weft_recorder_set_shared(commands, e, s->group, &group);
        m->group = group;
        break;
    case 2:
    case 3:
        weft_recorder_set_shared(commands, e, s->colour, &value);
        m->colour = draw_colour(draw);
        break;
    case 4:
        weft_recorder_remove(commands, e, s->colour);
        m->colour = 0;
        break;
    case 5:
        if (!s->is_full) record_child(s, commands, draw);
        break;
    case 6:
        weft_recorder_destroy_entity(commands, e);
        break;
    default:
        break;
    }
}

static void paint(weft_slice *slice, void *user)
{
    memo *memos = weft_slice_write(slice, 0);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0, n = weft_slice_count(slice); i < n; i++)
        paint_row(user, weft_slice_recorder(slice), &memos[i], entities[i]);
}

/* ---- the owner's changes ---- */

static bool went_well(weft_stress *stress, const shared_state *s, weft_result result,
                      const char *what)
{
    if (result == WEFT_OK) return true;
    if (!stress->with_faults || result != WEFT_OUT_OF_MEMORY)
        weft_stress_error(stress, "%s: %s: %s", what, weft_result_name(result),
                          weft_world_error(s->world)->text);
    return false;
}

/* All rows of a group get one colour, by their headers. */
static void repaint_group(weft_stress *stress, shared_state *s, uint64_t draw)
{
    const uint32_t group = draw_group(draw), key = draw_colour(draw);
    const colour value = colour_of(key);
    weft_query_filter_reset(s->world, s->grouped);
    if (!went_well(
            stress, s,
            weft_query_filter_shared(s->world, s->grouped, s->group, WEFT_FILTER_EQUAL, &group, 1),
            "filter") ||
        !went_well(stress, s, weft_query_set_shared(s->world, s->grouped, s->colour, &value),
                   "set by query"))
        return;
    weft_cursor c = weft_query_begin(s->world, s->all);
    while (weft_query_next(&c)) {
        memo *memos = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0, n = weft_slice_count(&c.slice); i < n; i++)
            if (memos[i].group == group) memos[i].colour = key;
    }
}

/* Some rows get one group as an array, one of them another colour and one none. */
static void regroup_some(weft_stress *stress, shared_state *s, uint64_t draw)
{
    const uint64_t known = weft_query_entities(s->world, s->all, s->entities, ROWS_MOST);
    const uint32_t group = draw_group(draw), key = draw_colour(~draw);
    const colour value = colour_of(key);
    if (known < LISTED || known > ROWS_MOST) return;
    const weft_entity *list = s->entities + draw % (known - LISTED + 1);
    if (!went_well(stress, s, weft_entity_set_shared_many(s->world, list, LISTED, s->group, &group),
                   "set by array"))
        return;
    const weft_result one = weft_entity_set_shared(s->world, list[7], s->colour, &value);
    const weft_result none = weft_entity_remove(s->world, list[9], s->group);
    for (uint32_t i = 0; i < LISTED; i++) {
        const memo *old = weft_entity_read(s->world, list[i], s->memo);
        if (old == NULL) continue;
        memo m = *old;
        m.group = i == 9 && none == WEFT_OK ? 0 : group;
        if (i == 7 && one == WEFT_OK) m.colour = key;
        went_well(stress, s, weft_entity_set(s->world, list[i], s->memo, &m, sizeof m), "set");
    }
    went_well(stress, s, one, "set one");
    went_well(stress, s, none, "remove one");
}

/* ---- checks ---- */

static void check_slice(weft_stress *stress, shared_state *s, const weft_slice *slice)
{
    const memo *memos = weft_slice_read(slice, 0);
    const uint32_t *group = weft_slice_read_shared(slice, 1);
    const colour *value = weft_slice_read_shared(slice, 2);
    const uint32_t has_group = group ? *group : 0, has_colour = value ? (uint32_t)value->key : 0;
    if (has_group > GROUPS || has_colour > COLOURS || (value && value->inverse != ~value->key)) {
        weft_stress_error(stress, "a chunk has group %u, colour %u", has_group, has_colour);
        return;
    }
    s->seen[has_group] += weft_slice_count(slice);
    s->is_used[has_colour] = true;
    for (uint32_t i = 0, n = weft_slice_count(slice); i < n; i++)
        if (memos[i].group != has_group || memos[i].colour != has_colour)
            weft_stress_error(stress, "group %u, colour %u instead of %u, %u", has_group,
                              has_colour, memos[i].group, memos[i].colour);
}

static void check_values(weft_stress *stress, shared_state *s, uint64_t draw)
{
    uint32_t groups = 1, colours = 1; /* the default is always listed */
    weft_cursor c = weft_query_begin(s->world, s->all);
    memset(s->seen, 0, sizeof s->seen);
    memset(s->is_used, 0, sizeof s->is_used);
    while (weft_query_next(&c)) check_slice(stress, s, &c.slice);
    for (uint32_t i = 1; i <= GROUPS; i++) groups += s->seen[i] != 0;
    for (uint32_t i = 1; i <= COLOURS; i++) colours += s->is_used[i];
    const uint32_t listed_groups = weft_shared_values(s->world, s->group, NULL, 0);
    const uint32_t listed_colours = weft_shared_values(s->world, s->colour, NULL, 0);
    if (listed_groups != groups || listed_colours != colours)
        weft_stress_error(stress, "%u groups and %u colours in use, %u and %u seen", listed_groups,
                          listed_colours, groups, colours);
    const uint32_t pair[] = {draw_group(draw), draw_group(draw) % GROUPS + 1};
    weft_query_filter_reset(s->world, s->grouped);
    weft_query_filter_shared(s->world, s->grouped, s->group, WEFT_FILTER_ONE_OF, pair, 2);
    const uint64_t counted = weft_query_count(s->world, s->grouped);
    if (counted != (uint64_t)s->seen[pair[0]] + s->seen[pair[1]])
        weft_stress_error(stress, "groups %u and %u have %u and %u rows, the filter passes %llu",
                          pair[0], pair[1], s->seen[pair[0]], s->seen[pair[1]],
                          (unsigned long long)counted);
}

static uint64_t shared_round(weft_stress *stress, void *state)
{
    shared_state *s = state;
    uint64_t random = stress->seed;
    weft_stress_refuse_memory(stress, true);
    for (uint32_t i = 0; i < STEPS; i++) {
        s->is_full = weft_query_count(s->world, s->all) > ROWS;
        went_well(stress, s, weft_world_step(s->world, 0.5f), "step");
        repaint_group(stress, s, weft_stress_random(&random));
        regroup_some(stress, s, weft_stress_random(&random));
    }
    weft_stress_refuse_memory(stress, false);
    if (weft_world_validate(s->world) != WEFT_OK)
        weft_stress_error(stress, "%s", weft_world_error(s->world)->text);
    if (!stress->with_faults) check_values(stress, s, weft_stress_random(&random));
    if (stress->round % 8 == 7) weft_world_compact(s->world, UINT64_MAX);
    return weft_world_hash(s->world, WEFT_HASH_LAYOUT);
}

/* ---- the world ---- */

static bool fill_world(shared_state *s, uint64_t random)
{
    memo *memos = calloc(ROWS, sizeof *memos);
    if (memos == NULL) return false;
    for (uint32_t i = 0; i < ROWS; i++) memos[i].seed = weft_stress_random(&random);
    const weft_result result = weft_entity_create_filled(
        s->world, WEFT_ARCHETYPE(s->world, s->memo), WEFT_VALUES({s->memo, memos}), ROWS, NULL);
    free(memos);
    return result == WEFT_OK;
}

static bool open_world(weft_stress *stress, shared_state *s)
{
    const weft_world_desc desc = {
        .workers = stress->workers, .allocator = stress->allocator, .os = stress->os};
    if (weft_world_create(&desc, &s->world) != WEFT_OK) return false;
    weft_world *w = s->world;
    s->memo = weft_component_create_plain(w, "Memo", sizeof(memo), 8, 0);
    s->group = weft_component_create_plain(w, "Group", 4, 4, WEFT_SHARED);
    s->colour = weft_component_create_plain(w, "Colour", sizeof(colour), 8, WEFT_SHARED);
    s->plain = weft_archetype_create(w, &s->memo, 1);
    s->all = weft_query_create(
        w, &(weft_query_desc){.terms = {{s->memo, WEFT_WRITE, WEFT_ALL, 0},
                                        {s->group, WEFT_READ, WEFT_OPTIONAL, 0},
                                        {s->colour, WEFT_READ, WEFT_OPTIONAL, 0}}});
    s->grouped =
        weft_query_create(w, &(weft_query_desc){.terms = {{s->group, WEFT_READ, WEFT_ALL, 0}}});
    const weft_system_desc system = {.name = "paint",
                                     .run = paint,
                                     .user = s,
                                     .effects = WEFT_RECORDS_ANY,
                                     .over.rows.terms = {{s->memo, WEFT_WRITE, WEFT_ALL, 0}}};
    return s->all.id != 0 && s->grouped.id != 0 && weft_system_create(w, &system).id != 0 &&
           fill_world(s, stress->seed);
}

static void shared_destroy(void *state)
{
    shared_state *s = state;
    weft_world_destroy(s->world);
    free(s->entities);
    free(s);
}

static void *shared_create(weft_stress *stress)
{
    shared_state *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->entities = calloc(ROWS_MOST, sizeof *s->entities);
    if (s->entities != NULL && open_world(stress, s)) return s;
    if (s->world) weft_stress_error(stress, "%s", weft_world_error(s->world)->text);
    shared_destroy(s);
    return NULL;
}

const weft_stress_scenario weft_stress_scenarios_shared[] = {
    {"shared", "shared values that come and go: systems, arrays, queries, filters, counts",
     shared_create, shared_round, shared_destroy, 0, false},
    {0},
};
