/* SPDX-License-Identifier: MIT */
/* stress_actors.c: random worlds of random systems: queries, look-ups, commands of all kinds,
 * flags, over a random population. See stress_actors.h.
 */
#include "stress_actors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/type.h>

enum { DATA = 6, TAGS = 2, KINDS = DATA + TAGS + 5, SYSTEMS_MOST = 14, TERMS = 4, LIST_INLINE = 2 };

/* Component numbers: 0..5 data, 6..7 tags, then enableable, shared, link, buffer, cleanup. */
enum { TAG0 = DATA, ENABLEABLE = DATA + TAGS, SHARED, LINK, LIST, CLEANUP };

/* A component that refers to an entity. */
typedef struct link {
    weft_entity other;
    uint64_t value;
} link;

typedef struct weft_stress_actors stage_world;

/* A random system: what it declares and what its rows do. Owned by the world's owner; constant
 * while steps run. */
typedef struct actor {
    stage_world *owner;
    uint64_t seed;
    uint32_t kinds[TERMS]; /* component numbers of the terms */
    weft_access access[TERMS];
    weft_match match[TERMS];
    uint32_t term_count;
    uint32_t lookup; /* data component it looks up through links; KINDS: none */
    bool writes_far; /* it writes what it looks up, too */
    bool skips_unchanged;
    uint32_t target; /* component that its commands are about */
    uint32_t op;     /* what it records, see record_row */
    uint32_t rarity; /* one row in so many records */
    uint32_t flags;
} actor;

/* One world and its systems. */
struct weft_stress_actors {
    weft_world *world;
    weft_component kinds[KINDS];
    weft_archetype spawned;
    weft_query wide; /* of commands that concern a whole query */
    actor actors[SYSTEMS_MOST];
    uint32_t actor_count;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b + 0x9e3779b97f4a7c15u);
    return weft_stress_random(&state);
}

/* ---- what systems do ---- */

static uint64_t handle_bits(weft_entity entity)
{
    return (uint64_t)entity.version << 32 | entity.index;
}

/* Words of data component `kind`: sizes differ so that layouts do. */
static uint32_t words_of(uint32_t kind)
{
    return kind < DATA ? 1 + kind % 4 : 1;
}

/* What it sees of an entity that a link leads to; it may leave something there. */
static uint64_t follow(const actor *a, const weft_slice *s, weft_entity other, uint64_t seen)
{
    seen = mix(seen, handle_bits(other));
    if (a->lookup == KINDS || other.version == 0) return seen;
    const weft_component component = a->owner->kinds[a->lookup];
    if (a->writes_far) {
        uint32_t *value = weft_slice_write_entity(s, other, component);
        if (value != NULL) *value = (uint32_t)(seen = mix(seen, *value));
    } else {
        const uint32_t *value = weft_slice_read_entity(s, other, component);
        if (value != NULL) seen = mix(seen, *value);
    }
    return seen;
}

/* Elements of a buffer. */
static uint64_t read_list(const weft_buffers *lists, uint32_t row, uint64_t seen)
{
    const uint32_t *items = weft_buffers_read(lists, row);
    for (uint32_t i = 0; i < weft_buffers_length(lists, row); i++) seen = mix(seen, items[i]);
    return seen;
}

static uint64_t read_terms(const actor *a, const weft_slice *s, uint32_t row)
{
    uint64_t seen = a->seed;
    for (uint32_t t = 0; t < a->term_count; t++) {
        uint32_t kind = a->kinds[t];
        if (a->access[t] == WEFT_NO_ACCESS || s->columns[t] == NULL) continue;
        if (kind < DATA) {
            const uint32_t *values =
                a->access[t] == WEFT_WRITE ? weft_slice_write(s, t) : weft_slice_read(s, t);
            for (uint32_t w = 0; w < words_of(kind); w++)
                seen = mix(seen, values[row * words_of(kind) + w]);
        } else if (kind == LINK) {
            const link *links = weft_slice_read(s, t);
            seen = mix(seen, links[row].value);
            seen = follow(a, s, links[row].other, seen);
        } else if (kind == LIST) {
            const weft_buffers lists = weft_slice_read_buffers(s, t);
            seen = read_list(&lists, row, seen);
        }
    }
    return seen;
}

static void write_terms(const actor *a, const weft_slice *s, uint32_t row, uint64_t seen)
{
    for (uint32_t t = 0; t < a->term_count; t++) {
        uint32_t kind = a->kinds[t];
        if (a->access[t] != WEFT_WRITE || s->columns[t] == NULL) continue;
        if (kind < DATA) {
            uint32_t *values = weft_slice_write(s, t);
            for (uint32_t w = 0; w < words_of(kind); w++)
                values[row * words_of(kind) + w] = (uint32_t)mix(seen, w);
        } else if (kind == ENABLEABLE) {
            weft_slice_enable(s, t, row, seen % 3 != 0);
        }
    }
}

static void record_create(const actor *a, weft_recorder *commands, weft_entity self, uint64_t seen)
{
    const stage_world *w = a->owner;
    weft_entity made = weft_recorder_create_entity(commands, w->spawned);
    link back = {self, seen}, there = {made, seen + 1};
    uint32_t values[4] = {(uint32_t)seen, 1, 2, 3};
    weft_recorder_set(commands, made, w->kinds[LINK], &back, sizeof back);
    if (a->target < DATA)
        weft_recorder_set(commands, made, w->kinds[a->target], values,
                          words_of(a->target) * sizeof values[0]);
    if (seen % 5 == 0) weft_recorder_set(commands, self, w->kinds[LINK], &there, sizeof there);
    if (seen % 7 == 0) weft_recorder_destroy_entity(commands, made);
}

static void record_rows(const actor *a, weft_recorder *commands, uint64_t seen)
{
    weft_slice rows;
    if (weft_recorder_create_rows(commands, a->owner->spawned, 1 + (uint32_t)(seen % 5), &rows) !=
        WEFT_OK)
        return;
    for (uint32_t t = 0; t < rows.term_count; t++)
        if (rows.columns[t] != NULL)
            for (uint32_t i = 0; i < rows.count; i++)
                ((uint32_t *)rows.columns[t])[i] = (uint32_t)mix(seen, i); /* 4-byte columns */
}

static void record_change(const actor *a, weft_recorder *commands, weft_entity self, uint64_t seen)
{
    const stage_world *w = a->owner;
    weft_component target = w->kinds[a->target];
    uint32_t values[4] = {(uint32_t)seen, (uint32_t)(seen >> 32), 5, 6};
    if (a->target == SHARED) {
        values[0] %= 4;
        weft_recorder_set_shared(commands, self, target, values);
    } else if (a->target == LIST) {
        weft_recorder_append(commands, self, target, values, 1 + (uint32_t)(seen % 4));
    } else if (a->target == ENABLEABLE) {
        weft_recorder_add(commands, self, target);
        weft_recorder_enable(commands, self, target, seen % 2 == 0);
    } else if (a->target < DATA && seen % 2 == 0) {
        weft_recorder_set(commands, self, target, values, words_of(a->target) * sizeof values[0]);
    } else {
        weft_recorder_add(commands, self, target);
    }
}

static void record_wide(const actor *a, weft_recorder *commands, uint64_t seen)
{
    const stage_world *w = a->owner;
    if (seen % 3 == 0)
        weft_recorder_query_remove(commands, w->wide, w->kinds[a->target]);
    else if (seen % 31 == 1)
        weft_recorder_query_destroy_entities(commands, w->wide);
    else
        weft_recorder_query_add(commands, w->wide, w->kinds[a->target]);
}

static void record_row(const actor *a, const weft_slice *s, weft_entity self, uint64_t seen)
{
    weft_recorder *commands = weft_slice_recorder(s);
    switch (a->op) {
    case 1:
        record_change(a, commands, self, seen);
        break;
    case 2:
        weft_recorder_remove(commands, self, a->owner->kinds[a->target]);
        break;
    case 3:
        weft_recorder_destroy_entity(commands, self);
        break;
    case 4:
        record_create(a, commands, self, seen);
        break;
    case 5:
        record_rows(a, commands, seen);
        break;
    case 6: /* one change after the other on the same entity */
        weft_recorder_remove(commands, self, a->owner->kinds[a->target]);
        record_change(a, commands, self, seen);
        if (seen % 11 == 0) weft_recorder_destroy_entity(commands, self);
        break;
    case 7:
        weft_recorder_instantiate(commands, self);
        break;
    case 8:
        record_wide(a, commands, seen);
        break;
    default:
        break;
    }
}

static void act(weft_slice *s, void *user)
{
    const actor *a = user;
    const weft_entity *entities = weft_slice_entities(s);
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(s, &begin, &end))
        for (uint32_t row = begin; row < end; row++) {
            uint64_t seen = mix(read_terms(a, s, row), handle_bits(entities[row]));
            write_terms(a, s, row, seen);
            if (a->op != 0 && seen % a->rarity == 0) record_row(a, s, entities[row], seen >> 8);
        }
}

/* ---- random systems ---- */

static void draw_terms(actor *a, uint64_t *random)
{
    a->term_count = 1 + (uint32_t)(weft_stress_random(random) % 3);
    for (uint32_t t = 0; t < a->term_count; t++) {
        uint32_t kind = (uint32_t)(weft_stress_random(random) % KINDS);
        bool is_known = false;
        for (uint32_t k = 0; k < t; k++) is_known = is_known || a->kinds[k] == kind;
        if (is_known) {
            a->term_count = t;
            break;
        }
        a->kinds[t] = kind;
        uint64_t roll = weft_stress_random(random) % 8;
        bool has_value = kind < DATA || kind == LINK || kind == LIST;
        a->match[t] = WEFT_ALL;
        a->access[t] = has_value ? WEFT_READ : WEFT_NO_ACCESS;
        if (t > 0 && roll == 0) {
            a->match[t] = kind == SHARED ? WEFT_ALL : WEFT_NONE;
            a->access[t] = WEFT_NO_ACCESS;
        } else if (t > 0 && roll == 1 && has_value) {
            a->match[t] = WEFT_OPTIONAL;
        } else if ((kind < DATA && roll < 5) || (kind == ENABLEABLE && roll < 4)) {
            a->access[t] = WEFT_WRITE;
        }
    }
}

static actor draw_actor(stage_world *w, uint64_t *random, uint32_t one_in)
{
    static const uint32_t flags[] = {0,
                                     0,
                                     0,
                                     0,
                                     WEFT_SYSTEM_NOT_FUSED,
                                     WEFT_SYSTEM_SERIAL,
                                     WEFT_SYSTEM_WHOLE_CHUNKS,
                                     WEFT_SYSTEM_MAIN_THREAD,
                                     WEFT_SYSTEM_EXCLUSIVE,
                                     WEFT_SYSTEM_BACKGROUND};
    actor a = {.owner = w, .seed = weft_stress_random(random), .lookup = KINDS};
    draw_terms(&a, random);
    a.flags = flags[weft_stress_random(random) % (sizeof flags / sizeof flags[0])];
    if (one_in > 2 && a.flags == WEFT_SYSTEM_BACKGROUND)
        a.flags = 0; /* keeps a segment in stages */
    a.target = (uint32_t)(weft_stress_random(random) % KINDS);
    a.rarity = 3 + (uint32_t)(weft_stress_random(random) % 40);
    bool records = one_in == 1 || weft_stress_random(random) % one_in == 0;
    a.op = records ? 1 + (uint32_t)(weft_stress_random(random) % 8) : 0;
    if (a.op == 3 || a.op == 4 || a.op == 5 || a.op == 7) a.rarity += 15;
    if (a.op == 8) a.rarity = 150;
    bool wants_changes = weft_stress_random(random) % 5 == 0;
    for (uint32_t t = 0; t < a.term_count; t++)
        if (a.access[t] == WEFT_READ) a.skips_unchanged = wants_changes;
    for (uint32_t t = 0; t < a.term_count; t++)
        if (a.kinds[t] == LINK && a.access[t] == WEFT_READ && weft_stress_random(random) % 2 == 0)
            a.lookup = (uint32_t)(weft_stress_random(random) % DATA);
    /* two slices may follow links to the same entity: only one after the other */
    a.writes_far =
        (a.flags & (WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
    return a;
}

/* A system must not look up what it writes itself: its own slices would race. */
static void drop_own_lookup(actor *a)
{
    for (uint32_t t = 0; t < a->term_count; t++)
        if (a->kinds[t] == a->lookup && a->access[t] == WEFT_WRITE) a->lookup = KINDS;
}

static bool add_actor(stage_world *w, uint32_t number)
{
    actor *a = &w->actors[number];
    char name[24];
    snprintf(name, sizeof name, "actor%u", number);
    weft_system_desc desc = {.name = name,
                             .run = act,
                             .user = a,
                             .flags = a->flags,
                             .skips_unchanged = a->skips_unchanged};
    for (uint32_t t = 0; t < a->term_count; t++)
        desc.over.rows.terms[t] = (weft_term){w->kinds[a->kinds[t]], a->access[t], a->match[t], 0};
    weft_access far = a->writes_far ? WEFT_WRITE : WEFT_READ;
    if (a->lookup != KINDS) desc.lookups[0] = (weft_lookup){w->kinds[a->lookup], far};
    if (a->op == 1 || a->op == 2) {
        desc.effects = a->op == 1 ? WEFT_RECORDS_ADD : WEFT_RECORDS_REMOVE;
        desc.records[0] = w->kinds[a->target];
    } else if (a->op != 0) {
        desc.effects = WEFT_RECORDS_ANY;
    }
    return weft_system_create(w->world, &desc).id != 0;
}

/* ---- worlds ---- */

static bool make_kinds(stage_world *w)
{
    static const weft_field fields[] = {{"other", WEFT_FIELD_ENTITY, offsetof(link, other), 0}};
    for (uint32_t i = 0; i < KINDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "kind%u", i);
        weft_component_desc desc = {.name = name, .size = words_of(i) * sizeof(uint32_t)};
        desc.alignment = 4;
        if (i >= TAG0 && i < ENABLEABLE) desc.size = 0;
        if (i == ENABLEABLE) desc.flags = WEFT_ENABLEABLE;
        if (i == SHARED) desc.flags = WEFT_SHARED;
        if (i == LIST) desc.flags = WEFT_BUFFER;
        if (i == LIST) desc.buffer_capacity = LIST_INLINE;
        if (i == CLEANUP) desc.flags = WEFT_CLEANUP;
        if (i == LINK) desc.size = sizeof(link);
        if (i == LINK) desc.alignment = 8;
        if (i == LINK) desc.fields = fields;
        if (i == LINK) desc.field_count = 1;
        w->kinds[i] = weft_component_create(w->world, &desc);
        if (w->kinds[i].id == 0) return false;
    }
    w->spawned = weft_archetype_create(w->world, (weft_component[]){w->kinds[0], w->kinds[4]}, 2);
    w->wide = weft_query_create(
        w->world, &(weft_query_desc){.terms = {{w->kinds[2], WEFT_NO_ACCESS, WEFT_ALL, 0},
                                               {w->kinds[3], WEFT_NO_ACCESS, WEFT_NONE, 0}}});
    return w->spawned.id != 0 && w->wide.id != 0;
}

/* Groups of entities with random sets of components; some exceed a slice, some do not. */
static bool populate(stage_world *w, uint64_t *random, uint32_t scale)
{
    for (uint32_t i = 0; i < 12; i++) {
        weft_component set[KINDS];
        uint32_t count = 0;
        uint64_t bits = weft_stress_random(random);
        for (uint32_t k = 0; k < KINDS; k++)
            if ((bits >> (2 * k) & 3) == 0 || (k < 2 && (bits >> (2 * k) & 1) == 0))
                set[count++] = w->kinds[k];
        uint32_t rows = 1 + (uint32_t)(weft_stress_random(random) % (scale * (i % 4 + 1)));
        if (weft_entity_create_many(w->world, weft_archetype_create(w->world, set, count), rows,
                                    NULL) != WEFT_OK)
            return false;
    }
    return true;
}

void weft_stress_actors_end(weft_stress_actors *w)
{
    if (w != NULL) weft_world_destroy(w->world);
    free(w);
}

weft_world *weft_stress_actors_world(weft_stress_actors *actors)
{
    return actors->world;
}

weft_stress_actors *weft_stress_actors_begin(const weft_stress *stress, const weft_stress_recipe *r,
                                             uint32_t workers, const weft_schedule_desc *options)
{
    const weft_world_desc desc = {
        .workers = workers, .allocator = stress->allocator, .os = stress->os};
    stage_world *w = calloc(1, sizeof *w);
    uint64_t random = r->seed;
    if (w == NULL) return NULL;
    bool is_made = weft_world_create(&desc, &w->world) == WEFT_OK && make_kinds(w) &&
                   populate(w, &random, r->scale) &&
                   weft_schedule_set(w->world, options) == WEFT_OK;
    w->actor_count = 5 + (uint32_t)(weft_stress_random(&random) % (SYSTEMS_MOST - 4));
    for (uint32_t i = 0; is_made && i < w->actor_count; i++) {
        w->actors[i] = draw_actor(w, &random, r->one_in);
        drop_own_lookup(&w->actors[i]);
        is_made = add_actor(w, i);
    }
    if (is_made) return w;
    weft_stress_actors_end(w);
    return NULL;
}
