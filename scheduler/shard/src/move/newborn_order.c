/* SPDX-License-Identifier: MIT */
/* newborn_order.c: see newborn_order.h. Colours are 64-bit hashes: two that should differ are equal
 * once in 2^64 pairs, and then only the number of a row is another. */
#include "newborn_order.h"
#include "archetype_state.h"
#include "hash.h"
#include "messages.h"
#include "row_block.h"
#include "row_pack.h"

#include <stdlib.h>
#include <weft/buffers.h>

/* A reference to a new row. A value. */
typedef struct weft__newborn_edge {
    uint64_t from;   /* gid of the row that refers; 0: it is new, too */
    uint64_t place;  /* a hash of component, element and field */
    uint32_t source; /* the mover that refers, where `from` is 0 */
    uint32_t target; /* the mover that is referred to */
} edge;

bool weft__newborns_begin(weft__newborns *n, const weft_entity *entities, const uint64_t *gids,
                          uint32_t count)
{
    n->count = count;
    n->entities = entities;
    n->gids = gids;
    n->edge_count = n->inner_count = 0;
    if (!weft__array_grow(&n->hashes, &n->capacity[0], count, sizeof *n->hashes) ||
        !weft__array_grow(&n->keys, &n->capacity[1], count, sizeof *n->keys) ||
        !weft__array_grow(&n->orders, &n->capacity[2], count, sizeof *n->orders))
        return false;
    for (uint32_t i = 0; i < count; i++) n->keys[i] = n->orders[i] = 0;
    return true;
}

void weft__newborns_free(weft__newborns *n)
{
    free(n->hashes);
    free(n->keys);
    free(n->orders);
    free(n->colours);
    free(n->sums);
    free(n->leaders);
    free(n->pairs);
    free(n->edges);
    *n = (weft__newborns){0};
}

/* ---- finding ---- */

#define INDEX_BITS UINT32_C(0x0FFFFFFF) /* of a handle, without the tag of its world */

/* Memory of one search. */
typedef struct find_pass {
    const weft_shard *shard;
    weft__newborns *n;
    uint32_t *mover_of; /* [index of a handle, below index_end]: number of a new one + 1 */
    uint32_t index_end;
    edge next; /* but for its target */
    uint32_t component, visited;
    bool has_failed;
} find_pass;

/* The number of a new row + 1; 0: it is none. */
static uint32_t new_row(const find_pass *pass, weft_entity entity)
{
    const uint32_t index = entity.index & INDEX_BITS;
    const uint32_t mover = index < pass->index_end ? pass->mover_of[index] : 0;
    return mover != 0 && weft_entity_equal(pass->n->entities[mover - 1], entity) ? mover : 0;
}

static bool note(void *user, weft__reference *r)
{
    find_pass *pass = user;
    weft__newborns *n = pass->n;
    const uint32_t place = pass->visited++, mover = r->is_blob ? 0 : new_row(pass, r->entity);
    if (mover == 0) return true;
    if (!weft__array_grow(&n->edges, &n->edge_capacity, n->edge_count + 1, sizeof *n->edges)) {
        pass->has_failed = true;
        return false;
    }
    edge found = pass->next;
    found.place = hash_word(pass->component, place);
    found.target = mover - 1;
    n->inner_count += found.from == 0;
    n->edges[n->edge_count++] = found;
    return true;
}

static void note_values(find_pass *pass, const weft__type *type, const void *values, uint64_t count)
{
    pass->component = type->id;
    pass->visited = 0;
    if (values != NULL)
        weft__elements_references(type, (void *)(uintptr_t)values, count, note, pass);
}

static bool tells_apart(const weft__type *type)
{
    return type->entity_offset_count != 0 && (type->desc.flags & WEFT_NOT_HASHED) == 0;
}

/* What one row refers to by a component of its archetype. */
static void note_component(find_pass *pass, weft_entity entity, const weft__type *type)
{
    weft_world *world = pass->shard->world;
    const weft_component component = weft__component(world, type->id);
    if ((type->desc.flags & WEFT_BUFFER) != 0) {
        const weft_buffers buffer = weft_entity_read_buffer(world, entity, component);
        note_values(pass, type, weft_buffers_read(&buffer, 0), weft_buffers_length(&buffer, 0));
    } else if ((type->desc.flags & WEFT_SHARED) != 0) {
        note_values(pass, type, weft_entity_read_shared(world, entity, component), 1);
    } else {
        note_values(pass, type, weft_entity_read(world, entity, component), 1);
    }
}

static void note_row(find_pass *pass, const weft__archetype *archetype, weft_entity entity,
                     uint64_t gid)
{
    const uint32_t mover = gid == 0 ? new_row(pass, entity) : 0;
    if (gid == 0 && mover == 0) return; /* it has no key, so it never gets a gid */
    pass->next = (edge){.from = gid, .source = mover - 1};
    for (uint32_t i = 0; i < archetype->type_count; i++)
        if (tells_apart(archetype->types[i].type))
            note_component(pass, entity, archetype->types[i].type);
    for (weft_component next = weft__sparse_next(pass->shard, (weft_component){0}); next.id != 0;
         next = weft__sparse_next(pass->shard, next)) {
        const weft__type *type = weft__type_of(weft_component_info(pass->shard->world, next));
        if (tells_apart(type)) note_component(pass, entity, type);
    }
}

static bool note_rows(find_pass *pass)
{
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(pass->shard, pass->shard->rows_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        const uint64_t *gids = weft_slice_read(slice, 0);
        for (uint32_t i = 0; i < slice->count; i++)
            note_row(pass, weft__slice_place(slice).chunk->archetype, slice->entities[i], gids[i]);
    }
    weft_query_end(&cursor);
    return is_done && !pass->has_failed;
}

/* Finds references to the new rows. False: memory is refused. */
static bool find_edges(const weft_shard *shard, weft__newborns *n)
{
    find_pass pass = {.shard = shard, .n = n};
    for (uint32_t i = 0; i < n->count; i++)
        if (n->gids[i] == 0 && (n->entities[i].index & INDEX_BITS) >= pass.index_end)
            pass.index_end = (n->entities[i].index & INDEX_BITS) + 1;
    pass.mover_of = calloc(pass.index_end + UINT64_C(1), sizeof *pass.mover_of);
    bool is_done = pass.mover_of != NULL;
    for (uint32_t i = 0; i < n->count && is_done; i++)
        if (n->gids[i] == 0) pass.mover_of[n->entities[i].index & INDEX_BITS] = i + 1;
    is_done = is_done && (pass.index_end == 0 || note_rows(&pass));
    free(pass.mover_of);
    return is_done;
}

/* ---- groups ---- */

static uint64_t mixed(uint64_t seed, uint64_t word)
{
    return hash_end(hash_word(hash_start(seed, 1), word));
}

/* New rows that refer to each other, in pairs[0, count), and their references. Borrowed. */
typedef struct row_group {
    weft__newborns *n;
    weft__gid_pair *rows, *room; /* [count]; numbers of movers */
    const weft__gid_pair *inner; /* [inner_count]; numbers of edges */
    uint32_t count, inner_count;
} row_group;

static uint32_t leader_of(weft__newborns *n, uint32_t mover)
{
    while (n->leaders[mover] != mover) {
        n->leaders[mover] = n->leaders[n->leaders[mover]];
        mover = n->leaders[mover];
    }
    return mover;
}

/* The least mover of a group leads it, so groups are in the order of the walk. */
static void join(weft__newborns *n, uint32_t a, uint32_t b)
{
    a = leader_of(n, a);
    b = leader_of(n, b);
    if (a < b)
        n->leaders[b] = a;
    else
        n->leaders[a] = b;
}

/* Sorts the rows by colour; how many colours there are. */
static uint32_t sort_group(row_group *g)
{
    uint32_t colours = 0;
    for (uint32_t i = 0; i < g->count; i++) g->rows[i].key = g->n->colours[g->rows[i].number];
    weft__gid_pair *sorted = weft__gid_sort(g->rows, g->room, g->count);
    if (sorted != g->rows) memcpy(g->rows, sorted, g->count * sizeof *sorted);
    for (uint32_t i = 0; i < g->count; i++)
        colours += i == 0 || g->rows[i].key != g->rows[i - 1].key;
    return colours;
}

static bool is_tied(const row_group *g, uint32_t i)
{
    return (i != 0 && g->rows[i - 1].key == g->rows[i].key) ||
           (i + 1 < g->count && g->rows[i + 1].key == g->rows[i].key);
}

/* The first of the least equal rows that have equal neighbours; UINT32_MAX: none have. */
static uint32_t next_choice(const row_group *g)
{
    enum { TIED = 1, OPEN = 2 };
    uint64_t *states = g->n->sums;
    for (uint32_t i = 0; i < g->count; i++) states[g->rows[i].number] = is_tied(g, i) ? TIED : 0;
    for (uint32_t i = 0; i < g->inner_count; i++) {
        const edge *e = &g->n->edges[g->inner[i].number];
        if (e->source == e->target) continue;
        if ((states[e->target] & TIED) != 0) states[e->source] |= OPEN;
        if ((states[e->source] & TIED) != 0) states[e->target] |= OPEN;
    }
    for (uint32_t i = 0; i < g->count; i++)
        if (states[g->rows[i].number] == (TIED | OPEN)) return g->rows[i].number;
    return UINT32_MAX;
}

static void refine_once(const row_group *g)
{
    weft__newborns *n = g->n;
    for (uint32_t i = 0; i < g->count; i++) n->sums[g->rows[i].number] = 0;
    for (uint32_t i = 0; i < g->inner_count; i++) {
        const edge *e = &n->edges[g->inner[i].number];
        n->sums[e->target] += mixed(e->place, n->colours[e->source]);
        n->sums[e->source] += mixed(~e->place, n->colours[e->target]);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t mover = g->rows[i].number;
        n->colours[mover] = mixed(n->colours[mover], n->sums[mover]);
    }
}

/* Until there are no more colours. A chain takes as many steps as it has rows, so each round has
 * twice as many as the one before. */
static void refine(row_group *g)
{
    uint32_t colours = sort_group(g), before = 0;
    for (uint64_t times = 1; colours != before && colours != g->count; times *= 2) {
        before = colours;
        for (uint64_t i = 0; i < times; i++) refine_once(g);
        colours = sort_group(g);
    }
}

static void order_group(row_group *g, uint32_t *order)
{
    weft__newborns *n = g->n;
    uint64_t key = 0;
    refine(g);
    for (uint32_t chosen; (chosen = next_choice(g)) != UINT32_MAX;) {
        n->colours[chosen] = mixed(n->colours[chosen], HASH_K1);
        refine(g);
    }
    for (uint32_t i = 0; i < g->count; i++) key += mixed(HASH_K0, g->rows[i].key);
    for (uint32_t i = 0; i < g->count; i++) {
        n->keys[g->rows[i].number] = key;
        n->orders[g->rows[i].number] = (*order)++;
    }
}

/* New rows by group, in pairs[0, rows), then edges between them by group; after both as much room.
 * Returns how many rows there are. */
static uint32_t sort_by_group(weft__newborns *n, weft__gid_pair *inner)
{
    uint32_t rows = 0, at = 0;
    for (uint32_t i = 0; i < n->count; i++) n->leaders[i] = i;
    for (uint64_t i = 0; i < n->edge_count; i++)
        if (n->edges[i].from == 0) join(n, n->edges[i].source, n->edges[i].target);
    for (uint32_t i = 0; i < n->count; i++)
        if (n->gids[i] == 0) n->pairs[rows++] = (weft__gid_pair){leader_of(n, i), i};
    for (uint64_t i = 0; i < n->edge_count; i++)
        if (n->edges[i].from == 0)
            inner[at++] = (weft__gid_pair){leader_of(n, n->edges[i].source), (uint32_t)i};
    const weft__gid_pair *sorted = weft__gid_sort(n->pairs, n->pairs + n->count, rows);
    if (sorted != n->pairs) memcpy(n->pairs, sorted, rows * sizeof *sorted);
    sorted = weft__gid_sort(inner, inner + n->inner_count, at);
    if (sorted != inner && at != 0) memcpy(inner, sorted, at * sizeof *sorted);
    return rows;
}

static bool reserve(weft__newborns *n)
{
    const uint64_t pairs = 2 * (n->count + n->inner_count);
    return weft__array_grow(&n->colours, &n->capacity[3], n->count, sizeof *n->colours) &&
           weft__array_grow(&n->sums, &n->capacity[4], n->count, sizeof *n->sums) &&
           weft__array_grow(&n->leaders, &n->capacity[5], n->count, sizeof *n->leaders) &&
           weft__array_grow(&n->pairs, &n->capacity[6], pairs, sizeof *n->pairs);
}

weft_result weft__newborns_tell_apart(const weft_shard *shard, weft__newborns *n)
{
    if (!find_edges(shard, n) || !reserve(n)) return weft__ranks_no_memory();
    weft__gid_pair *inner = n->pairs + 2 * (uint64_t)n->count;
    const uint32_t rows = sort_by_group(n, inner);
    uint32_t order = 0, edges = 0;
    /* The first colours: of values and of gids that refer to the row. */
    for (uint32_t i = 0; i < n->count; i++) n->sums[i] = 0;
    for (uint64_t i = 0; i < n->edge_count; i++) {
        const edge *e = &n->edges[i];
        if (e->from != 0) n->sums[e->target] += mixed(e->place, e->from);
    }
    for (uint32_t i = 0; i < n->count; i++) n->colours[i] = mixed(n->hashes[i], n->sums[i]);
    row_group g = {.n = n, .room = n->pairs + n->count};
    for (uint32_t begin = 0, end; begin < rows; begin = end) {
        const uint64_t leader = n->pairs[begin].key;
        for (end = begin + 1; end < rows && n->pairs[end].key == leader;) end++;
        g.rows = n->pairs + begin;
        g.count = end - begin;
        g.inner = inner + edges;
        for (g.inner_count = 0; edges < n->inner_count && inner[edges].key == leader; edges++)
            g.inner_count++;
        order_group(&g, &order);
    }
    return WEFT_OK;
}
