/* SPDX-License-Identifier: MIT */
/* past.c: two copies of the entity columns of all chunks, taken in turn: the older one is 100 to
 * 200 frames old. An observer for each component would tell the very frame, but costs each step
 * something, and would be one more observer of the world. */
#include "past.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <weft/entity.h>
#include <weft/query.h>
#include <weft/slice.h>

enum { APART = 100, REST = 100, MOMENTS = 2, PAGE_BYTES = 1 << 21 };

/* Entities of one archetype, one behind the other. */
typedef struct run {
    uint32_t archetype, count;
} run;

/* Always: the counts of the runs add up to `count`. */
typedef struct moment {
    uint64_t frame;
    weft_entity *entities;
    run *runs;
    uint64_t count, capacity;
    uint32_t run_count, run_capacity;
} moment;

/* Owner: the session. */
struct weft__past {
    moment moments[MOMENTS];
    uint32_t taken, newest;
    uint64_t due_ns; /* the next one, at the earliest */
};

static void moment_free(moment *m)
{
    free(m->entities);
    free(m->runs);
    *m = (moment){0};
}

/* Room for so many entities; what was there is not kept. False: memory is refused. */
static bool reserve(moment *m, uint64_t count)
{
    if (count <= m->capacity) return true;
    size_t bytes = (count + count / 8) * sizeof *m->entities / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
    free(m->entities);
    m->entities = aligned_alloc(PAGE_BYTES, bytes); /* 4 KiB ones: four times as long at first */
    m->capacity = m->entities == NULL ? 0 : bytes / sizeof *m->entities;
    if (m->entities != NULL && bytes > PAGE_BYTES) madvise(m->entities, bytes, MADV_HUGEPAGE);
    return m->entities != NULL;
}

/* False: memory is refused. */
static bool add_rows(moment *m, uint32_t archetype, const weft_entity *entities, uint32_t count)
{
    bool is_new = m->run_count == 0 || m->runs[m->run_count - 1].archetype != archetype ||
                  m->runs[m->run_count - 1].count > UINT32_MAX - count;
    if (is_new && m->run_count == m->run_capacity) {
        uint32_t capacity = 2 * m->run_capacity + 64;
        run *grown = realloc(m->runs, capacity * sizeof *grown);
        if (grown == NULL) return false;
        m->runs = grown;
        m->run_capacity = capacity;
    }
    if (count > m->capacity - m->count) return false; /* memory was refused to who counted them */
    if (is_new) m->runs[m->run_count++] = (run){.archetype = archetype};
    m->runs[m->run_count - 1].count += count;
    memcpy(m->entities + m->count, entities, count * sizeof *entities);
    m->count += count;
    return true;
}

static bool fill(weft_world *world, moment *m)
{
    weft_query all = weft_query_create(
        world,
        &(weft_query_desc){.with_prefabs = true, .with_inactive = true, .ignores_enabled = true});
    bool is_done = all.id != 0 && reserve(m, weft_query_count(world, all));
    m->count = m->run_count = 0;
    weft_cursor c = weft_query_begin(world, all);
    while (is_done && weft_query_next(&c)) {
        const weft_entity *entities = weft_slice_entities(&c.slice);
        is_done = add_rows(m, weft_entity_archetype(world, entities[0]).id, entities,
                           weft_slice_count(&c.slice));
    }
    weft_query_end(&c);
    weft_query_destroy(world, all);
    m->frame = weft_world_frame(world).number;
    return is_done;
}

void weft__past_take(weft__session *session, uint64_t now_ns)
{
    uint64_t frame = weft_world_frame(session->world).number;
    if (session->past == NULL) session->past = calloc(1, sizeof *session->past);
    weft__past *past = session->past;
    if (past == NULL) return;
    uint64_t last = past->moments[past->newest].frame;
    if (past->taken != 0 && frame < last) past->taken = 0; /* the world was restored */
    if (now_ns < past->due_ns || (past->taken != 0 && frame < last + APART)) return;
    uint32_t next = past->taken == 0 ? 0 : (past->newest + 1) % MOMENTS;
    bool is_done = fill(session->world, &past->moments[next]);
    uint64_t end_ns = weft__session_now();
    past->due_ns = end_ns + REST * (end_ns - now_ns);
    if (is_done) {
        past->newest = next;
        past->taken += past->taken < MOMENTS;
    } else {
        for (uint32_t i = 0; i < MOMENTS; i++) moment_free(&past->moments[i]);
        past->taken = past->newest = 0;
    }
}

/* A bit for each archetype of the query; NULL: memory is refused. */
static uint64_t *archetypes_of(const weft_world *world, weft_query query, uint32_t *bits)
{
    uint32_t count = weft_query_archetypes(world, query, NULL, 0), most = 0;
    weft_archetype *list = calloc(count + 1u, sizeof *list);
    if (list == NULL) return NULL;
    weft_query_archetypes(world, query, list, count);
    for (uint32_t i = 0; i < count; i++) most = list[i].id > most ? list[i].id : most;
    *bits = most + 1;
    uint64_t *set = calloc(most / 64 + 1u, sizeof *set);
    for (uint32_t i = 0; set != NULL && i < count; i++)
        set[list[i].id / 64] |= UINT64_C(1) << list[i].id % 64;
    free(list);
    return set;
}

bool weft__past_lost(const weft__session *session, weft_query query, uint64_t *frame,
                     void (*take)(void *user, weft_entity entity), void *user)
{
    const weft__past *past = session->past;
    uint32_t bits = 0;
    if (past == NULL || past->taken == 0) return false;
    const moment *m = &past->moments[past->taken < MOMENTS ? 0 : (past->newest + 1) % MOMENTS];
    uint64_t *set = archetypes_of(session->world, query, &bits);
    const weft_entity *at = m->entities;
    if (set == NULL) return false;
    *frame = m->frame;
    for (uint32_t r = 0; r < m->run_count; at += m->runs[r++].count) {
        uint32_t was = m->runs[r].archetype;
        if (was >= bits || (set[was / 64] >> was % 64 & 1) == 0) continue;
        for (uint32_t i = 0; i < m->runs[r].count; i++) {
            uint32_t is = weft_entity_archetype(session->world, at[i]).id; /* 0: it is dead */
            if (is == was) continue;
            if (is == 0 || is >= bits || (set[is / 64] >> is % 64 & 1) == 0) take(user, at[i]);
        }
    }
    free(set);
    return true;
}

void weft__past_free(weft__session *session)
{
    if (session->past == NULL) return;
    for (uint32_t i = 0; i < MOMENTS; i++) moment_free(&session->past->moments[i]);
    free(session->past);
    session->past = NULL;
}
