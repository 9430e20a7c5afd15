/* SPDX-License-Identifier: MIT */
/* ops_system.c: systems: made, run by steps and alone, switched, timed, in groups.
 *
 * A system does a walk (walk.h). The model runs those that are due one after the other, in the
 * order of their ranks: that of registration, but where one is registered to run before others of
 * its group, or groups are ordered. weft may do as it likes, as long as the result is the same.
 * What was recorded takes effect behind the system; relations are settled there. */
#include "systems.h"
#include "walk.h"

#include <stdlib.h>
#include <weft/state_log.h>

enum { SYSTEMS = MODEL_SYSTEMS, GROUPS = MODEL_GROUPS, TARGETS = 600, NAME_BYTES = 16 };
enum { ROWS, QUERY, ONCE, COUNT, RANGE, AT_ONCE, INSIDE };

static const char *const system_ways[] = {"rows",  "query",   "once",   "count",
                                          "range", "at once", "inside", NULL};
static const char *const group_names[GROUPS] = {"early", "default", "late"};
/* In 1/64 s. */
static const uint32_t periods[] = {0, 0, 0, 0, 2, 4, 6, 16};
static const uint32_t times[] = {0, 1, 1, 1, 2, 3, 4, 16};

/* One system. Its walk must stay where it is. */
typedef struct system_slot {
    weft_system system;
    walk_plan *p;
    everything_query own; /* ROWS: its terms */
    uint32_t way, query;  /* QUERY, INSIDE: its slot */
    uint32_t id;          /* not 0: never again */
    uint32_t group, flags;
    uint32_t *numbers; /* of targets, when it was made */
    char name[NAME_BYTES];
    float period;
    bool is_enabled, has_condition, is_used;
    uint64_t runs, rows; /* that the model counted */
    uint64_t last_rows;
    uint32_t asked, due;
} system_slot;

typedef struct everything_systems {
    system_slot slots[SYSTEMS];
    uint32_t order[SYSTEMS], count; /* slots by rank */
    float periods[GROUPS];
    bool is_off[GROUPS];
} everything_systems;

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

static float seconds_of(uint32_t parts)
{
    return (float)parts / 64;
}

/* ---- groups ---- */

static void group_set(everything *e, uint32_t group, uint32_t period)
{
    everything_systems *all = e->systems;
    weft_group_desc desc = {.name = group_names[group], .period = seconds_of(period)};
    if (group == 0) desc.before[0] = "default";
    if (group == 2) desc.after[0] = "default", desc.after[1] = "early";
    everything_says(e,
                    "IS(WEFT_OK, weft_group_set(world, &(weft_group_desc){.name = \"%s\", .%s = "
                    "{%s}, .period = %u / 64.0f}));",
                    desc.name, group == 2 ? "after" : "before",
                    group == 1   ? "NULL"
                    : group == 2 ? "\"default\", \"early\""
                                 : "\"default\"",
                    period);
    all->periods[group] = desc.period;
    all->is_off[group] = false;
    e->here->m.clock.group_rests[group] = 0;
    if (period != 0 && e->kept_rests[group] > 0) {
        double kept = e->kept_rests[group];
        e->here->m.clock.group_rests[group] =
            kept < (double)desc.period ? kept : (double)desc.period;
    }
    if (period != 0) e->kept_rests[group] = 0;
    everything_result(e, "weft_group_set", weft_group_set(e->here->world, &desc), WEFT_OK);
}

void systems_print(FILE *out)
{
    fprintf(
        out,
        "static walk w[%d];\nstatic weft_system s[%d];\nstatic weft_entity targets[%d][%d];\n\n",
        SYSTEMS, SYSTEMS, SYSTEMS, TARGETS);
}

static everything_systems *systems_of(everything *e)
{
    if (e->systems != NULL) return e->systems;
    e->systems = model_memory(&e->here->m, sizeof *e->systems);
    group_set(e, 0, 0);
    group_set(e, 2, 0);
    return e->systems;
}

static void run_group(everything *e, const everything_call *c)
{
    everything_systems *all = systems_of(e);
    uint32_t group = c->a % GROUPS;
    bool is_used = group != 1;
    for (uint32_t i = 0; i < SYSTEMS; i++)
        is_used = is_used || (all->slots[i].is_used && all->slots[i].group == group);
    if (!is_used) return; /* of "default" no call knows */
    if (c->way == 0) {
        group_set(e, group, periods[c->value % 8]);
        return;
    }
    if (c->value % 4 == 1 && all->periods[group] <= 0) group_set(e, group, periods[4 + c->b % 4]);
    all->is_off[group] = c->value % 2 != 0;
    everything_says(e, "IS(WEFT_OK, weft_group_enable(world, \"%s\", %d));", group_names[group],
                    !all->is_off[group]);
    everything_result(e, "weft_group_enable",
                      weft_group_enable(e->here->world, group_names[group], !all->is_off[group]),
                      WEFT_OK);
}

/* ---- make ---- */

static bool uses_query(const system_slot *slot)
{
    return slot->way == QUERY || slot->way == INSIDE;
}

/* Flags that go with what the system runs over. */
static uint32_t flags_draw(const system_slot *slot, uint64_t drawn)
{
    uint32_t flags = 0;
    if (slot->way == AT_ONCE) return WEFT_SYSTEM_EXCLUSIVE;
    static const uint32_t hows[] = {0,
                                    0,
                                    0,
                                    0,
                                    WEFT_SYSTEM_SERIAL,
                                    WEFT_SYSTEM_MAIN_THREAD,
                                    WEFT_SYSTEM_EXCLUSIVE,
                                    WEFT_SYSTEM_BACKGROUND};
    flags |= hows[drawn % 8];
    if ((drawn >> 8) % 8 == 0) flags |= WEFT_SYSTEM_NOT_FUSED;
    if ((drawn >> 12) % 8 == 0) flags |= WEFT_SYSTEM_WHOLE_CHUNKS;
    if ((drawn >> 16) % 8 == 0) flags |= WEFT_SYSTEM_ASKS_CHANGES;
    if ((drawn >> 20) % 6 == 0) flags |= WEFT_SYSTEM_TIMER;
    return flags;
}

/* Rows one after the other. */
static bool is_serial(uint32_t flags)
{
    return (flags & (WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

static bool has_plain_columns(const walk_plan *p)
{
    bool is_plain = p->w.term_count != 0;
    uint32_t others = WALK_SHARED | WALK_BUFFER | WALK_CHUNK | WALK_BY_ROW | WALK_SWITCH;
    for (uint32_t t = 0; t < p->w.term_count; t++)
        is_plain = is_plain && (p->w.terms[t].flags & others) == 0;
    return is_plain;
}

/* By depth: it reads PARENT. */
static bool depth_draw(system_slot *slot)
{
    model_query *asks = &slot->own.asks;
    uint32_t t = 0;
    while (t < asks->term_count && asks->terms[t].kind != PARENT) t++;
    if (t == MODEL_TERMS || is_serial(slot->flags)) return false;
    if (slot->flags & WEFT_SYSTEM_BACKGROUND) return false;
    for (uint32_t i = 0; i < asks->term_count; i++)
        if (asks->terms[i].alternative != asks->terms[0].alternative) return false;
    asks->terms[t] = (model_term){
        .kind = PARENT, .match = MODEL_OPTIONAL, .alternative = asks->terms[0].alternative};
    slot->own.access[t] = WEFT_READ;
    if (t == asks->term_count) asks->term_count++;
    return true;
}

static void rows_walk_draw(everything *e, system_slot *slot, const everything_call *c)
{
    uint64_t drawn = everything_mix(c->value, c->b);
    const everything_query *q = &slot->own;
    uint32_t may = WALK_MAY_LOOK_UP | WALK_MAY_USE | WALK_MAY_CHUNK;
    if (slot->way == QUERY) q = &e->queries[slot->query];
    if (is_serial(slot->flags)) may |= WALK_MAY_ADD;
    if (drawn >> 50 & 1) may |= WALK_MAY_RECORD;
    if (slot->way == ROWS && (drawn >> 51) % 4 == 0 && depth_draw(slot)) may |= WALK_BY_DEPTH;
    walk_draw(e, slot->p, q, drawn, may);
    bool is_alone = slot->p->w.link_term == slot->p->w.term_count &&
                    slot->p->w.resource_flags == 0 && slot->p->w.record == WALK_RECORDS_NOTHING;
    if (has_plain_columns(slot->p) && is_alone && (drawn >> 53) % 2 == 0 && !slot->p->is_by_depth) {
        slot->flags |= WEFT_SYSTEM_JOBS;
        slot->p->w.style = WALK_JOBS;
    }
}

/* Different living entities. */
static void targets_draw(everything *e, system_slot *slot, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t count = c->size % TARGETS;
    if (count > m->living) count = m->living;
    slot->numbers = everything_many(e, c->a & 0xffffff, 0, count);
    slot->p->w.targets = everything_handles(e, slot->numbers, count);
    slot->p->w.target_count = count;
}

/* One of its targets, rather one with SPARSE components; 0: there are none. */
static uint32_t near_draw(const everything *e, const system_slot *slot, uint64_t drawn)
{
    uint32_t count = slot->p->w.target_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = slot->numbers[(drawn + i) % count];
        for (uint32_t kind = SPARSE; kind < SPARSE_TAG; kind++)
            if (model_has(&e->here->m, n, kind)) return n;
    }
    return count == 0 ? 0 : slot->numbers[drawn % count];
}

static void index_walk_draw(everything *e, system_slot *slot, const everything_call *c)
{
    uint64_t drawn = everything_mix(c->value, c->b);
    everything_query none = {0};
    targets_draw(e, slot, c);
    const weft_entity *targets = slot->p->w.targets;
    uint32_t count = slot->p->w.target_count;
    walk_draw(e, slot->p, &none, drawn, WALK_MAY_RECORD);
    slot->p->w.targets = targets;
    slot->p->w.target_count = count;
    if (slot->way == AT_ONCE) return;
    uint32_t from = walk_lookup_kind(e, near_draw(e, slot, drawn >> 16), drawn >> 8);
    bool is_written = is_serial(slot->flags) && drawn >> 54 & 1;
    for (uint32_t i = 0; i < KINDS && (drawn >> 52) % 4 != 0; i++) {
        uint32_t kind = (from + i) % KINDS;
        if (!kind_has_value(kind) && !kind_is_buffer(kind)) continue;
        if (kind_is_relation(kind) && is_written) continue;
        slot->p->lookup_kind = kind;
        slot->p->w.lookup = e->here->of[kind];
        slot->p->w.lookup_shape = kind_shape_of(kind);
        slot->p->w.lookup_flags = (is_written ? WALK_WRITES : WALK_READS) |
                                  (kind_is_buffer(kind) ? (uint32_t)WALK_BUFFER : 0);
        return;
    }
}

static void once_walk_draw(everything *e, system_slot *slot, const everything_call *c)
{
    everything_query none = {0};
    walk_draw(e, slot->p, &none, everything_mix(c->value, c->b), 0);
    walk_draw_resource(slot->p, c->b / 2 % 2 != 0, c->b % 2 == 0 ? WALK_READS : WALK_WRITES);
}

static void inside_walk_draw(everything *e, system_slot *slot, const everything_call *c)
{
    const everything_query *q = &e->queries[slot->query];
    walk_draw(e, slot->p, q, everything_mix(c->value, c->b), WALK_MAY_CHUNK);
    slot->p->w.has_others = true;
    slot->p->w.others = q->query;
}

static void walk_of(everything *e, system_slot *slot, const everything_call *c)
{
    slot->p = model_memory(&e->here->m, sizeof *slot->p);
    if (slot->way == ROWS || slot->way == QUERY)
        rows_walk_draw(e, slot, c);
    else if (slot->way == ONCE)
        once_walk_draw(e, slot, c);
    else if (slot->way == INSIDE)
        inside_walk_draw(e, slot, c);
    else
        index_walk_draw(e, slot, c);
    slot->p->w.is_of_system = true;
    slot->p->w.asks_changes = (slot->flags & WEFT_SYSTEM_ASKS_CHANGES) != 0;
}

static void (*run_of(uint32_t way))(weft_slice *, void *)
{
    return way == ROWS || way == QUERY    ? walk_slice
           : way == ONCE || way == INSIDE ? walk_once
           : way == COUNT || way == RANGE ? walk_index
                                          : walk_at_once;
}

static uint32_t effects_of(const walk *w)
{
    const uint32_t made = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD; /* it is named */
    const uint32_t effects[WALK_RECORDS] = {WEFT_RECORDS_NOTHING,
                                            WEFT_RECORDS_DESTROY,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_REMOVE,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_ADD,
                                            WEFT_RECORDS_REMOVE,
                                            made,
                                            made};
    return effects[w->record];
}

/* The description but for names, and the same in C. */
static weft_system_desc system_desc(everything *e, const system_slot *slot, uint32_t at)
{
    static const char *const overs[] = {"WEFT_OVER_ROWS",  "WEFT_OVER_QUERY", "WEFT_OVER_ROWS",
                                        "WEFT_OVER_COUNT", "WEFT_OVER_RANGE", "WEFT_OVER_ROWS",
                                        "WEFT_OVER_ROWS"};
    static const char *const runs[] = {"walk_slice", "walk_slice",   "walk_once", "walk_index",
                                       "walk_index", "walk_at_once", "walk_once"};
    const walk *w = &slot->p->w;
    weft_system_desc desc = {.name = slot->name,
                             .run = run_of(slot->way),
                             .user = slot->p,
                             .flags = slot->flags,
                             .group = group_names[slot->group],
                             .period = slot->period};
    everything_says(e, "weft_system_desc desc = {.name = \"%s\", .run = %s, .user = &w[%u],",
                    slot->name, runs[slot->way], at);
    everything_says(e,
                    "    .flags = %uu, .group = \"%s\", .period = (float)%.9g, .over.kind = %s};",
                    slot->flags, desc.group, (double)slot->period, overs[slot->way]);
    if (slot->way == ROWS) {
        desc.over.rows = selection_desc(e, &slot->own);
        everything_says(e, "desc.over.rows = (weft_query_desc)");
        selection_says(e, &slot->own);
        everything_says(e, ";");
    } else if (slot->way == QUERY) {
        desc.over.kind = WEFT_OVER_QUERY;
        desc.over.query = e->queries[slot->query].query;
        everything_says(e, "desc.over.query = q[%u];", slot->query);
    } else if (slot->way == COUNT) {
        desc.over.kind = WEFT_OVER_COUNT;
        desc.over.count = w->target_count;
        everything_says(e, "desc.over.count = %u;", w->target_count);
    } else if (slot->way == RANGE) {
        desc.over.kind = WEFT_OVER_RANGE;
        desc.over.range = walk_range;
        everything_says(e, "desc.over.range = walk_range;");
    } else if (slot->way == INSIDE) {
        desc.queries[0] = w->others;
        everything_says(e, "desc.queries[0] = q[%u];", slot->query);
        everything_says(e, "w[%u].others = q[%u];\n        w[%u].has_others = true;", at,
                        slot->query, at);
    }
    if (slot->has_condition) {
        desc.run_if = walk_is_due;
        everything_says(e, "desc.run_if = walk_is_due;");
    }
    return desc;
}

/* What it touches beside its rows. */
static void desc_access(everything *e, const system_slot *slot, weft_system_desc *desc,
                        bool is_exact)
{
    const walk_plan *p = slot->p;
    if (p->w.lookup_flags != 0) {
        bool is_written = (p->w.lookup_flags & WALK_WRITES) != 0;
        desc->lookups[0] = (weft_lookup){p->w.lookup, is_written ? WEFT_WRITE : WEFT_READ};
        everything_says(e, "desc.lookups[0] = (weft_lookup){of[%s], %s};", name_of(p->lookup_kind),
                        is_written ? "WEFT_WRITE" : "WEFT_READ");
    }
    if (p->w.resource_flags != 0) {
        bool is_written = (p->w.resource_flags & WALK_WRITES) != 0;
        desc->resources[0] = (weft_lookup){p->w.resource, is_written ? WEFT_WRITE : WEFT_READ};
        everything_says(e, "desc.resources[0] = (weft_lookup){of[%s], %s};",
                        name_of(p->resource_kind), is_written ? "WEFT_WRITE" : "WEFT_READ");
    }
    if (p->is_by_depth) {
        desc->by_depth = e->here->of[PARENT];
        everything_says(e, "desc.by_depth = of[PARENT];");
    }
    if (slot->way == AT_ONCE || p->w.record == WALK_RECORDS_NOTHING) return;
    desc->effects = is_exact ? effects_of(&p->w) : WEFT_RECORDS_ANY;
    everything_says(e, "desc.effects = %u;", desc->effects);
    if (!is_exact || p->w.record == WALK_RECORDS_DESTROY) return;
    desc->records[0] = p->w.record_component;
    everything_says(e, "desc.records[0] = of[%s];", name_of(p->record_kind));
    if (p->w.record < WALK_RECORDS_CREATE) return;
    desc->records[1] = p->w.made_link;
    everything_says(e, "desc.records[1] = of[LINK];");
}

/* Its rank: behind its group, or before some of it, which it names. */
static void rank_draw(everything *e, uint32_t at, uint64_t drawn, weft_system_desc *desc)
{
    everything_systems *all = e->systems;
    uint32_t group = all->slots[at].group, begin = 0, end = 0;
    while (begin < all->count && all->slots[all->order[begin]].group < group) begin++;
    for (end = begin; end < all->count && all->slots[all->order[end]].group == group;) end++;
    uint32_t rank = drawn % 3 == 0 ? begin + (uint32_t)(drawn >> 8) % (end - begin + 1) : end;
    for (uint32_t i = rank; i < end; i++) {
        desc->before[i - rank] = all->slots[all->order[i]].name;
        everything_says(e, "desc.before[%u] = \"%s\";", i - rank, desc->before[i - rank]);
    }
    memmove(all->order + rank + 1, all->order + rank, (all->count - rank) * sizeof *all->order);
    all->order[rank] = at;
    all->count++;
}

static bool slot_draw(everything *e, system_slot *slot, const everything_call *c)
{
    uint64_t drawn = everything_mix(c->value, c->a);
    *slot = (system_slot){.way = c->way, .is_enabled = true};
    if (slot->way == QUERY || slot->way == INSIDE) {
        selection s;
        if (!selection_of(e, c, &s)) return false;
        slot->query = s.slot;
        if (s.q->asks.term_count == 0) return false;
    }
    if (slot->way == ROWS) {
        selection_draw(&slot->own, c->value, c->a, c->b);
        if (slot->own.asks.term_count == 0) return false;
    }
    slot->flags = flags_draw(slot, drawn);
    slot->group = drawn >> 28 & 1 ? 1 : (uint32_t)(drawn >> 29) % GROUPS;
    if ((slot->flags & WEFT_SYSTEM_TIMER) == 0)
        slot->period = seconds_of(periods[(drawn >> 32) % 8]);
    slot->has_condition = (drawn >> 36) % 4 == 0;
    walk_of(e, slot, c);
    return slot->way != COUNT || slot->p->w.target_count != 0;
}

static void run_make(everything *e, const everything_call *c)
{
    everything_systems *all = systems_of(e);
    uint32_t at = 0;
    while (at < SYSTEMS && all->slots[at].is_used) at++;
    if (at == SYSTEMS || !slot_draw(e, &all->slots[at], c)) return;
    system_slot *slot = &all->slots[at];
    slot->p->w.serial = e->systems_made;
    snprintf(slot->name, sizeof slot->name, "s%u", e->systems_made++);
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "w[%u]", at);
    walk_says(slot->p, "", name);
    if (slot->numbers != NULL) {
        everything_says_list(e, "list", slot->numbers, slot->p->w.target_count);
        everything_says(e, "memcpy(targets[%u], list, sizeof list);", at);
        everything_says(e, "w[%u].targets = targets[%u];\n        w[%u].target_count = %u;", at, at,
                        at, slot->p->w.target_count);
    }
    everything_says(e, "w[%u].is_of_system = true;\n        w[%u].asks_changes = %d;", at, at,
                    slot->p->w.asks_changes);
    weft_system_desc desc = system_desc(e, slot, at);
    desc_access(e, slot, &desc, c->b % 3 != 0);
    rank_draw(e, at, everything_mix(c->b, c->a), &desc);
    everything_says(e, "s[%u] = weft_system_create(world, &desc);", at);
    everything_says(e, "IS(WEFT_OK, s[%u].id != 0 ? WEFT_OK : weft_world_error(world)->code);", at);
    slot->system = weft_system_create(e->here->world, &desc);
    slot->is_used = true;
    if (uses_query(slot)) e->queries[slot->query].systems++;
    if (slot->p->record_slot < EVERYTHING_QUERIES) e->queries[slot->p->record_slot].recorders++;
    model_clock *clock = &e->here->m.clock;
    clock->ids[at] = slot->id = e->systems_made;
    clock->rests[at] = 0;
    clock->is_set[at] = clock->is_late[at] = false;
    clock->ran_from[at] = clock->ran_to[at] = 0;
    if (slot->system.id == 0)
        everything_fails(e, "weft_system_create", "%s", weft_world_error(e->here->world)->text);
}

/* A slot that is used, from `a` on; NULL: none. */
static system_slot *slot_pick(everything *e, uint32_t a, uint32_t *at)
{
    everything_systems *all = systems_of(e);
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        *at = (a + i) % SYSTEMS;
        if (all->slots[*at].is_used) return &all->slots[*at];
    }
    return NULL;
}

static void run_drop(everything *e, const everything_call *c)
{
    uint32_t at, rank = 0;
    system_slot *slot = slot_pick(e, c->a, &at);
    everything_systems *all = e->systems;
    if (slot == NULL) return;
    while (all->order[rank] != at) rank++;
    memmove(all->order + rank, all->order + rank + 1, (all->count - rank - 1) * sizeof *all->order);
    all->count--;
    slot->is_used = false;
    if (uses_query(slot)) e->queries[slot->query].systems--;
    if (slot->p->record_slot < EVERYTHING_QUERIES) e->queries[slot->p->record_slot].recorders--;
    everything_says(e, "IS(WEFT_OK, weft_system_destroy(world, s[%u]));", at);
    everything_result(e, "weft_system_destroy", weft_system_destroy(e->here->world, slot->system),
                      WEFT_OK);
}

static void run_enable(everything *e, const everything_call *c)
{
    uint32_t at;
    system_slot *slot = slot_pick(e, c->a, &at);
    if (slot == NULL) return;
    slot->is_enabled = c->value % 2 != 0;
    everything_says(e, "IS(WEFT_OK, weft_system_enable(world, s[%u], %d));", at, slot->is_enabled);
    everything_result(e, "weft_system_enable",
                      weft_system_enable(e->here->world, slot->system, slot->is_enabled), WEFT_OK);
}

static void run_timer(everything *e, const everything_call *c)
{
    uint32_t at = 0;
    everything_systems *all = systems_of(e);
    model_clock *clock = &e->here->m.clock;
    weft_world *world = e->here->world;
    while (at < SYSTEMS &&
           (!all->slots[at].is_used || (all->slots[at].flags & WEFT_SYSTEM_TIMER) == 0))
        at++;
    if (at == SYSTEMS) return;
    weft_system system = all->slots[at].system;
    double left = !clock->is_set[at] ? -1 : clock->timers[at] > 0 ? clock->timers[at] : 0;
    everything_says(e, "CHECK(weft_timer_left(world, s[%u]) %s %.9f);", at,
                    left < 0 ? "<=" : "==", left);
    double is = weft_timer_left(world, system);
    bool is_so = left < 0 ? is < 0 : is == left;
    if (!is_so) everything_fails(e, "weft_timer_left", "is %.9f, should be %.9f", is, left);
    uint32_t parts = times[c->value % 8] * (uint32_t)(1 + c->value / 8 % 4);
    if (c->way == 0) {
        everything_says(e, "IS(WEFT_OK, weft_timer_set(world, s[%u], %u / 64.0));", at, parts);
        clock->timers[at] = parts / 64.0;
        clock->is_set[at] = true;
        clock->is_late[at] = false;
        everything_result(e, "weft_timer_set", weft_timer_set(world, system, parts / 64.0),
                          WEFT_OK);
    } else {
        everything_says(e, "IS(WEFT_OK, weft_timer_stop(world, s[%u]));", at);
        clock->is_set[at] = clock->is_late[at] = false;
        everything_result(e, "weft_timer_stop", weft_timer_stop(world, system), WEFT_OK);
    }
}

/* ---- the model's step ---- */

/* In how many passes, or for timers in which one, a system runs. */
static void due_decide(everything *e, float dt)
{
    everything_systems *all = e->systems;
    model_clock *clock = &e->here->m.clock;
    uint32_t ticks[GROUPS];
    for (uint32_t g = 0; g < GROUPS; g++)
        ticks[g] = all->is_off[g] ? 0
                   : all->periods[g] <= 0
                       ? 1
                       : model_ticks(&clock->group_rests[g], (double)dt, (double)all->periods[g]);
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        system_slot *slot = &all->slots[i];
        uint32_t g = slot->group;
        slot->due = 0;
        if (!slot->is_used || !slot->is_enabled || all->is_off[g]) continue;
        bool is_timer = (slot->flags & WEFT_SYSTEM_TIMER) != 0;
        slot->due = ticks[g];
        if (slot->period > 0)
            slot->due = model_ticks(&clock->rests[i], (double)dt, (double)slot->period);
        if (is_timer)
            slot->due = model_timer(clock, i, (double)dt, (double)all->periods[g], ticks[g],
                                    clock->group_rests[g]);
        if (slot->due == 0) continue;
        if (slot->has_condition) slot->asked++;
        bool is_run = !slot->has_condition || slot->p->w.is_due;
        if (is_timer) clock->is_set[i] = clock->is_late[i] = !is_run;
        if (is_timer && !is_run) clock->timers[i] = 0;
        if (!is_run) slot->due = 0;
    }
}

/* What walk_at_once does. */
static bool does_at_once(uint32_t record)
{
    return record <= WALK_RECORDS_REMOVE || record == WALK_RECORDS_SHARED ||
           record == WALK_RECORDS_ENABLE;
}

/* One run over indices, or at once. */
static void model_indices(everything *e, system_slot *slot)
{
    walk_plan *p = slot->p;
    model *m = &e->here->m;
    uint32_t count = p->w.target_count;
    uint32_t *sums = model_memory(m, (count + 1) * sizeof *sums);
    uint32_t *numbers = model_memory(m, (count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = everything_number(e->here, p->w.targets[i]);
        sums[i] = p->w.delta + i;
        if (p->w.lookup_flags != 0) sums[i] = walk_model_look(p, numbers[i], sums[i]);
    }
    bool is_at_once = slot->way == AT_ONCE;
    for (uint32_t i = 0; i < count; i++)
        if (!is_at_once || does_at_once(p->w.record)) walk_model_record(p, numbers[i], sums[i]);
    if (!is_at_once) walk_model_end(p);
    slot->last_rows = is_at_once ? 1 : count;
}

static void model_once(everything *e, system_slot *slot)
{
    const walk *w = &slot->p->w;
    slot->last_rows = 1;
    if ((w->resource_flags & WALK_WRITES) == 0) return;
    model *m = &e->here->m;
    model_value *value = model_resource(m, slot->p->resource_kind);
    if (slot->p->resource_kind == SOLE) {
        walk_change(WALK_WORD, value->bytes, w->delta, NULL);
        return;
    }
    const walk_link element = {{0, 0}, w->delta};
    uint8_t *now = model_memory(m, (value->count + 1) * sizeof element);
    if (value->count != 0) memcpy(now, value->bytes, value->count * sizeof element);
    bool is_longer = w->delta % 3 != 0 && value->count < WALK_LENGTH_MOST;
    if (is_longer) memcpy(now + value->count * sizeof element, &element, sizeof element);
    value->count = value->room = is_longer ? value->count + 1 : value->count / 2;
    value->bytes = now;
}

static void model_query_rows(everything *e, system_slot *slot)
{
    model *m = &e->here->m;
    uint32_t *numbers = model_memory(m, m->count * sizeof *numbers);
    const model_query *asks = uses_query(slot) ? &e->queries[slot->query].asks : &slot->own.asks;
    uint32_t count = model_selected(m, asks, numbers);
    walk_model(slot->p, numbers, count);
    slot->last_rows = count + (slot->way == INSIDE);
}

static void model_system(everything *e, system_slot *slot)
{
    if (slot->way == ROWS || uses_query(slot))
        model_query_rows(e, slot);
    else if (slot->way == ONCE)
        model_once(e, slot);
    else
        model_indices(e, slot);
    slot->rows += slot->last_rows;
    slot->runs++;
    if (slot->p->w.record != WALK_RECORDS_NOTHING) model_settle(&e->here->m);
}

/* What the callbacks are told, before weft runs them. */
static void dt_tell(everything *e, system_slot *slot, uint32_t at, float dt)
{
    float period = slot->period > 0 ? slot->period : e->systems->periods[slot->group];
    const model_clock *clock = &e->here->m.clock;
    walk *w = &slot->p->w;
    w->dt = period > 0 ? period : dt;
    w->since_least = clock->ran_from[at];
    w->since_most = clock->ran_to[at];
    w->since_now = weft_world_change_version(e->here->world);
    everything_says(e, "w[%u].dt = (float)%.9g;", at, (double)w->dt);
    everything_says(e,
                    "w[%u].since_least = %u;\n        w[%u].since_most = %u;\n        "
                    "w[%u].since_now = %u;",
                    at, w->since_least, at, w->since_most, at, w->since_now);
}

/* It ran between the version that it was told and that of now. */
static void ran_note(everything *e, const system_slot *slot, uint32_t at)
{
    e->here->m.clock.ran_from[at] = slot->p->w.since_now;
    e->here->m.clock.ran_to[at] = weft_world_change_version(e->here->world);
}

static void condition_tell(everything *e, uint64_t drawn)
{
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        system_slot *slot = &e->systems->slots[i];
        if (!slot->is_used || !slot->has_condition) continue;
        slot->p->w.is_due = (drawn >> i & 1) != 0;
        everything_says(e, "w[%u].is_due = %d;", i, slot->p->w.is_due);
    }
}

/* After a step: each callback saw as many rows as the model, and as often. */
static void counts_check(everything *e)
{
    for (uint32_t i = 0; i < SYSTEMS && !everything_has_failed(e); i++) {
        system_slot *slot = &e->systems->slots[i];
        weft_system_stats stats;
        if (!slot->is_used) continue;
        uint64_t rows = at_plain(&slot->p->x_rows);
        if (rows != slot->rows)
            everything_fails(e, "rows of a system", "%s saw %llu rows, should be %llu", slot->name,
                             (unsigned long long)rows, (unsigned long long)slot->rows);
        everything_equal(e, "questions to run_if", slot->p->w.asked, slot->asked);
        weft_system_stats_get(e->here->world, slot->system, &stats, sizeof stats);
        if (stats.runs != slot->runs)
            everything_fails(e, "runs of a system", "%s: %llu runs, should be %llu", slot->name,
                             (unsigned long long)stats.runs, (unsigned long long)slot->runs);
    }
}

/* Handles of what systems made: where one was made by another that is gone, the script ends. */
static void made_learn(everything *e)
{
    uint32_t left = 1, before = 0;
    while (left != before && left != 0) {
        before = left;
        left = 0;
        for (uint32_t i = 0; i < SYSTEMS; i++)
            if (e->systems->slots[i].is_used) left += walk_learn(e->systems->slots[i].p);
    }
    if (left != 0) e->is_over = true;
}

/* Whether a relation says what becomes of one entity when another dies. */
static bool has_edges(const model *m)
{
    for (uint32_t n = 1; n < m->count; n++)
        for (uint32_t kind = 0; kind < KINDS && model_is_alive(m, n); kind++) {
            const model_value *value = kind_is_relation(kind) ? model_read(m, n, kind) : NULL;
            uint64_t target = 0;
            if (value != NULL) memcpy(&target, value->bytes, sizeof target);
            if (model_is_alive(m, (uint32_t)target)) return true;
        }
    return false;
}

/* Relations are settled at sync points, which lie where a system could see the effect: not between
 * two systems whose commands meet there. What the second records for one who dies with whom the
 * first destroys may come before or after. */
static bool is_ambiguous(const everything *e)
{
    uint32_t recorders = 0, destroyers = 0;
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        const system_slot *slot = &e->systems->slots[i];
        if (!slot->is_used || slot->p->w.record == WALK_RECORDS_NOTHING) continue;
        recorders++;
        destroyers += slot->p->w.record == WALK_RECORDS_DESTROY;
    }
    return destroyers != 0 && recorders > 1 && has_edges(&e->here->m);
}

static bool world_can_step(everything *e)
{
    return !model_has_cycle(&e->here->m) && !is_ambiguous(e);
}

/* A third of a second now and then, where nothing is counted in periods. */
static float time_draw(const everything *e, uint64_t drawn)
{
    const everything_systems *all = e->systems;
    bool is_counted = drawn / 8 % 4 != 0;
    for (uint32_t i = 0; i < SYSTEMS; i++)
        is_counted = is_counted ||
                     (all->slots[i].is_used &&
                      (all->slots[i].period > 0 || (all->slots[i].flags & WEFT_SYSTEM_TIMER) != 0));
    for (uint32_t g = 0; g < GROUPS; g++) is_counted = is_counted || all->periods[g] > 0;
    return is_counted ? seconds_of(times[drawn % 8]) : 1.0f / 3;
}

/* Systems whose rows match what they make would double a world with each pass. */
static void recording_bound(everything *e)
{
    enum { MADE_MOST = 8192 };
    for (uint32_t i = 0; i < SYSTEMS && e->here->m.count > MADE_MOST; i++) {
        system_slot *slot = &e->systems->slots[i];
        if (!slot->is_used || slot->p->w.record == WALK_RECORDS_NOTHING) continue;
        slot->p->w.record = WALK_RECORDS_NOTHING;
        everything_says(e, "w[%u].record = 0;", i);
    }
}

static void run_step(everything *e, const everything_call *c)
{
    everything_systems *all = systems_of(e);
    model_clock *clock = &e->here->m.clock;
    float dt = time_draw(e, c->value);
    if (!world_can_step(e)) return;
    recording_bound(e);
    model_settle(&e->here->m);
    condition_tell(e, c->value >> 8);
    for (uint32_t i = 0; i < SYSTEMS; i++)
        if (all->slots[i].is_used) dt_tell(e, &all->slots[i], i, dt);
    due_decide(e, dt);
    clock->steps++;
    clock->time += (double)dt;
    uint32_t passes = 1;
    for (uint32_t i = 0; i < SYSTEMS; i++)
        if (all->slots[i].due > passes) passes = all->slots[i].due;
    for (uint32_t left = passes; left != 0; left--)
        for (uint32_t i = 0; i < all->count; i++) {
            system_slot *slot = &all->slots[all->order[i]];
            bool is_timer = (slot->flags & WEFT_SYSTEM_TIMER) != 0;
            if (is_timer ? slot->due == left : slot->due >= left) model_system(e, slot);
        }
    observers_before_step(e);
    everything_says(e, "IS(WEFT_OK, weft_world_step(world, (float)%.9g));", (double)dt);
    weft_result result = weft_world_step(e->here->world, dt);
    if (!everything_result(e, "weft_world_step", result, WEFT_OK)) return;
    for (uint32_t i = 0; i < SYSTEMS; i++)
        if (all->slots[i].is_used && all->slots[i].due != 0) ran_note(e, &all->slots[i], i);
    made_learn(e);
    if (e->is_over) return;
    counts_check(e);
    observers_after_step(e);
    weft_frame frame = weft_world_frame(e->here->world);
    everything_equal(e, "weft_frame: number", frame.number, clock->steps);
    if (frame.time != clock->time || frame.dt != dt)
        everything_fails(e, "weft_frame: time", "is %.9f, should be %.9f", frame.time, clock->time);
}

static weft_result log_take(void *user, const void *bytes, size_t count)
{
    size_t *taken = user;
    (void)bytes;
    *taken += count;
    return WEFT_OK;
}

/* A step that is logged does the same. */
static void run_logged(everything *e, const everything_call *c)
{
    weft_world *world = e->here->world;
    size_t taken = 0;
    weft_state_log_desc desc = {.writer = {log_take, &taken}};
    uint64_t now = weft_world_frame(world).number;
    if (c->b % 2 == 0) desc.rows_first = now, desc.rows_last = now + 1;
    everything_says(e,
                    "taken = 0;\n        IS(WEFT_OK, weft_state_log_begin(world, "
                    "&(weft_state_log_desc){.writer = {take, NULL}, .rows_first = %u, "
                    ".rows_last = %u}));",
                    (uint32_t)desc.rows_first, (uint32_t)desc.rows_last);
    weft_result result = weft_state_log_begin(world, &desc);
    if (!everything_result(e, "weft_state_log_begin", result, WEFT_OK)) return;
    run_step(e, c);
    if (everything_has_failed(e)) return;
    everything_says(e, "IS(WEFT_OK, weft_state_log_end(world));");
    everything_result(e, "weft_state_log_end", weft_state_log_end(world), WEFT_OK);
    if (weft_world_frame(world).number != now)
        everything_equal(e, "the state log has text", taken != 0, true);
}

static void run_alone(everything *e, const everything_call *c)
{
    uint32_t at;
    system_slot *slot = slot_pick(e, c->a, &at);
    float dt = seconds_of(times[c->value % 8]);
    if (slot == NULL || !world_can_step(e)) return;
    model_settle(&e->here->m);
    dt_tell(e, slot, at, dt);
    model_system(e, slot);
    observers_before_step(e);
    everything_says(e, "IS(WEFT_OK, weft_system_run(world, s[%u], (float)%.9g));", at, (double)dt);
    everything_result(e, "weft_system_run", weft_system_run(e->here->world, slot->system, dt),
                      WEFT_OK);
    ran_note(e, slot, at);
    made_learn(e);
    if (e->is_over) return;
    counts_check(e);
    observers_after_step(e);
}

void systems_after_restore(everything *e)
{
    model_clock *clock = &e->here->m.clock;
    if (e->systems == NULL) return;
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        system_slot *slot = &e->systems->slots[i];
        if (slot->is_used && slot->numbers != NULL) {
            /* targets may be gone, or made again later with the same handles */
            slot->p->w.record = WALK_RECORDS_NOTHING;
            everything_says(e, "w[%u].record = 0;", i);
        }
        if (!slot->is_used || clock->ids[i] == slot->id) continue;
        clock->ids[i] = slot->id;
        clock->rests[i] = 0;
        clock->is_set[i] = clock->is_late[i] = false;
        clock->ran_from[i] = clock->ran_to[i] = 0;
    }
}

void systems_after_load(everything *e)
{
    model_clock *clock = &e->here->m.clock;
    for (uint32_t g = 0; g < GROUPS && e->systems != NULL; g++)
        if (e->systems->periods[g] > 0) e->kept_rests[g] = clock->group_rests[g];
    *clock = (model_clock){.steps = clock->steps, .time = clock->time};
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++)
        e->queries[i].systems = e->queries[i].recorders = 0;
    e->systems = NULL;
    e->observers = NULL;
}

/* ---- questions and options ---- */

static void run_options(everything *e, const everything_call *c)
{
    weft_schedule_desc is, desc = {.without_fusion = c->b % 4 == 0,
                                   .without_parallel = c->b / 4 % 8 == 0,
                                   .shuffle_seed = c->b / 32 % 2 * (c->value | 1),
                                   .is_always_parallel = c->b / 64 % 2 != 0,
                                   .without_overlap = c->b / 128 % 4 == 0,
                                   .is_measured = c->b / 512 % 4 == 0};
    everything_says(e,
                    "IS(WEFT_OK, weft_schedule_set(world, &(weft_schedule_desc){.without_fusion = "
                    "%d, .without_parallel = %d, .shuffle_seed = %lluu, .is_always_parallel = %d, "
                    ".without_overlap = %d, .is_measured = %d}));",
                    desc.without_fusion, desc.without_parallel,
                    (unsigned long long)desc.shuffle_seed, desc.is_always_parallel,
                    desc.without_overlap, desc.is_measured);
    everything_result(e, "weft_schedule_set", weft_schedule_set(e->here->world, &desc), WEFT_OK);
    weft_schedule_get(e->here->world, &is, sizeof is);
    everything_equal(e, "weft_schedule_get", is.shuffle_seed, desc.shuffle_seed);
    everything_equal(e, "weft_schedule_get: fusion", is.without_fusion, desc.without_fusion);
    if (c->value % 2 == 0) return;
    everything_says(e, "IS(WEFT_OK, weft_schedule_compile(world));");
    everything_result(e, "weft_schedule_compile", weft_schedule_compile(e->here->world), WEFT_OK);
}

static void run_info(everything *e, const everything_call *c)
{
    uint32_t at;
    system_slot *slot = slot_pick(e, c->a, &at);
    weft_world *world = e->here->world;
    weft_system list[SYSTEMS];
    weft_system_info info;
    if (slot == NULL) return;
    everything_equal(e, "weft_system_list", weft_system_list(world, list, SYSTEMS),
                     e->systems->count);
    everything_equal(e, "weft_system_find", weft_system_find(world, slot->name).id,
                     slot->system.id);
    weft_result result = weft_system_info_get(world, slot->system, &info, sizeof info);
    if (!everything_result(e, "weft_system_info_get", result, WEFT_OK)) return;
    everything_equal(e, "weft_system_info: flags", info.flags & slot->flags, slot->flags);
    everything_equal(e, "weft_system_info: is_enabled", info.is_enabled, slot->is_enabled);
    everything_equal(e, "weft_system_info: name", strcmp(info.name, slot->name) == 0, true);
    everything_equal(e, "weft_system_info: group",
                     strcmp(info.group, group_names[slot->group]) == 0, true);
    weft_lookup access[16];
    uint32_t count = weft_system_access(world, slot->system, access, 16);
    for (uint32_t i = 0; i < count && i < 16; i++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            if (access[i].component.id == e->here->of[kind].id && walk_writes(slot->p, kind))
                everything_equal(e, "weft_system_access", access[i].access, WEFT_WRITE);
    float period = slot->period > 0 ? slot->period : e->systems->periods[slot->group];
    double rest =
        slot->period > 0 ? e->here->m.clock.rests[at] : e->here->m.clock.group_rests[slot->group];
    float alpha = weft_world_alpha(world, slot->name);
    float expected = period > 0 ? (float)(rest / (double)period) : 0;
    if (alpha != expected)
        everything_fails(e, "weft_world_alpha", "is %g, should be %g", (double)alpha,
                         (double)expected);
}

static const char *const group_ways[] = {"set", "enable", NULL};
static const char *const timer_ways[] = {"set", "stop", NULL};

const everything_op everything_ops_system[] = {
    {.name = "system",
     .functions = "weft_system_create weft_slice_recorder weft_recorder_destroy_entity "
                  "weft_recorder_add weft_recorder_remove weft_recorder_set "
                  "weft_recorder_set_shared weft_recorder_enable weft_recorder_append "
                  "weft_slice_read_resource weft_slice_write_resource weft_slice_frame "
                  "weft_slice_dt weft_slice_worker weft_slice_job weft_slice_world "
                  "weft_slice_changed_since weft_slice_order_changed_since "
                  "weft_slice_change_version weft_slice_since weft_slice_query "
                  "weft_slice_read_resource_buffer weft_slice_write_resource_buffer",
     .weight = 6,
     .draws = DRAWS_SET | DRAWS_SIZE,
     .ways = system_ways,
     .run = run_make},
    {.name = "system_drop", .functions = "weft_system_destroy", .weight = 2, .run = run_drop},
    {.name = "system_enable", .functions = "weft_system_enable", .weight = 1, .run = run_enable},
    {.name = "step",
     .functions = "weft_world_step weft_world_frame weft_system_stats_get",
     .weight = 10,
     .run = run_step},
    {.name = "step_logged",
     .functions = "weft_state_log_begin weft_state_log_end weft_world_step",
     .weight = 1,
     .run = run_logged},
    {.name = "system_run", .functions = "weft_system_run", .weight = 3, .run = run_alone},
    {.name = "timer",
     .functions = "weft_timer_set weft_timer_stop weft_timer_left",
     .weight = 2,
     .ways = timer_ways,
     .run = run_timer},
    {.name = "group",
     .functions = "weft_group_set weft_group_enable",
     .weight = 1,
     .ways = group_ways,
     .run = run_group},
    {.name = "schedule",
     .functions = "weft_schedule_set weft_schedule_get weft_schedule_compile",
     .weight = 1,
     .run = run_options},
    {.name = "system_info",
     .functions = "weft_system_list weft_system_find weft_system_info_get weft_system_access "
                  "weft_world_alpha",
     .weight = 1,
     .run = run_info},
    {0},
};
