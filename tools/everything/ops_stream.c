/* SPDX-License-Identifier: MIT */
/* ops_stream.c: the world as a section file, and its sections in another world: they come and go,
 * and what is there is compared with the entities of these sections.
 *
 * While the file is written, each living entity has its number (component KEY) and a section. What
 * a section file cannot hold is left out. The C program says only that it was done. */
#include "everything.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/stream.h>

enum { SECTIONS = 4, LIVING_MOST = 600, ROUNDS_MOST = 6 };

/* The file, and what is loaded of it. Owner: one call. */
typedef struct streaming {
    everything *e;
    everything_place *there;
    weft_component key;
    weft_query keyed; /* all that has the key, there */
    weft_stream *stream;
    model full; /* all that the file has */
    char path[64];
    uint32_t rows[SECTIONS];
    uint32_t count;    /* of sections */
    uint64_t asked;    /* bits of sections */
    uint64_t loaded;   /* at the last wait */
    uint32_t residues; /* of entities that left */
    uint64_t drawn;
    weft_a32 x_filled_wrong;
    bool has_names;
} streaming;

static uint32_t section_of(const streaming *s, uint32_t n)
{
    return (uint32_t)(everything_mix(s->drawn, n) % SECTIONS);
}

/* Kinds that section files do not hold. */
static uint64_t kinds_left_out(void)
{
    uint64_t set = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const model_kind *of = &kinds_of_model()[kind];
        bool is_linked = of->link_count != 0 && (of->flags & MODEL_SHARED) != 0;
        if (is_linked || (of->flags & MODEL_SPARSE) != 0) set |= KIND_BIT(kind);
    }
    return set;
}

static weft_component key_make(weft_world *world)
{
    return weft_component_create_plain(world, "KEY", 4, 4, 0);
}

static bool sections_set(streaming *s, const uint32_t *numbers, uint32_t count)
{
    everything *e = s->e;
    weft_world *world = e->here->world;
    weft_component section = weft_component_section(world), key = key_make(world);
    const weft_entity *handles = everything_handles(e, numbers, count);
    weft_entity *of = model_memory(&e->here->m, (count + 1) * sizeof *of);
    weft_result result = weft_entity_set_many(world, handles, count, key, numbers, 4);
    for (uint32_t k = 0; k < SECTIONS && result == WEFT_OK; k++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            if (section_of(s, numbers[i]) == k) of[found++] = handles[i];
        s->rows[k] = found;
        if (found != 0) s->count = k + 1;
        if (k != 0 || s->drawn % 2 == 0)
            result = weft_entity_set_shared_many(world, of, found, section,
                                                 &(weft_section){.section = k});
    }
    if (s->count == 0) s->count = 1;
    return everything_result(e, "setting sections", result, WEFT_OK);
}

static bool file_write(streaming *s)
{
    everything *e = s->e;
    model *m = &e->here->m;
    weft_world *world = e->here->world;
    weft_component list[KINDS];
    uint32_t *numbers = model_memory(m, m->count * sizeof *numbers), count = 0;
    for (uint32_t n = 1; n < m->count; n++)
        if (model_is_alive(m, n)) numbers[count++] = n;
    if (!sections_set(s, numbers, count)) return false;
    weft_sections_desc desc = {.without = list, .with_names = s->has_names};
    desc.without_count = everything_components(e->here, kinds_left_out(), list);
    weft_result result = weft_sections_save(world, s->path, &desc), removed;
    weft_component mine[2] = {weft_component_section(world), key_make(world)};
    removed = weft_entity_change_many(world, everything_handles(e, numbers, count), count,
                                      &(weft_change_desc){.remove = mine, .remove_count = 2});
    everything_result(e, "removing sections", removed, WEFT_OK);
    model_stir(m);
    return everything_result(e, "weft_sections_save", result, WEFT_OK);
}

/* On threads of the library. */
static void rows_filled(const weft_stream_rows *rows, void *user)
{
    streaming *s = user;
    const uint32_t *keys = weft_stream_column(rows, s->key);
    bool is_wrong = keys == NULL;
    for (uint32_t i = 0; i < rows->count && !is_wrong; i++)
        is_wrong = keys[i] >= s->full.count || section_of(s, keys[i]) != rows->section;
    if (is_wrong) at_store_rlx(&s->x_filled_wrong, 1); /* relaxed: read after a wait */
}

static bool stream_open(streaming *s)
{
    everything *e = s->e;
    weft_stream *first = NULL;
    if (!everything_open(e, s->there, "there")) return false;
    s->there->knows_stamps = false;
    s->key = key_make(s->there->world);
    s->keyed = weft_query_create(s->there->world,
                                 &(weft_query_desc){.terms = {{s->key, WEFT_READ, WEFT_ALL, 0}},
                                                    .with_prefabs = true,
                                                    .with_inactive = true});
    weft_component_section(s->there->world);
    weft_stream_desc desc = {.filled = rows_filled,
                             .user = s,
                             .threads = 1 + (uint32_t)(s->drawn >> 8) % 2,
                             .lockstep = (uint32_t)(s->drawn >> 12) % 3};
    weft_result result = weft_stream_open(s->there->world, s->path, &desc, &s->stream);
    if (result != WEFT_OK) {
        everything_fails(e, "weft_stream_open", "%s: %s", weft_result_name(result),
                         weft_world_error(s->there->world)->text);
        return false;
    }
    everything_equal(e, "weft_stream_number", weft_stream_number(s->stream), 1);
    everything_equal(e, "weft_stream_list", weft_stream_list(s->there->world, &first, 1), 1);
    everything_equal(e, "weft_stream_list: which", first == s->stream, true);
    everything_equal(e, "weft_stream_section_count", weft_stream_section_count(s->stream),
                     s->count);
    return !everything_has_failed(e);
}

/* ---- what is there ---- */

static bool is_loaded(const streaming *s, uint32_t section)
{
    return (s->loaded >> section & 1) != 0;
}

/* Waits; then these are loaded, and section 0 if there are any. What leaves with CLEANUP components
 * leaves a residue. */
static void wait_for(streaming *s, uint64_t asked)
{
    const model *m = &s->full;
    uint64_t now = asked == 0 ? 0 : asked | 1;
    for (uint32_t n = 1; n < m->count; n++) {
        uint64_t bit = KIND_BIT(section_of(s, n));
        if (!model_is_alive(m, n) || (s->loaded & bit) == 0 || (now & bit) != 0) continue;
        bool leaves_residue = false;
        for (uint32_t kind = 0; kind < KINDS; kind++)
            leaves_residue |= model_has(m, n, kind) && model_is(m, kind, MODEL_CLEANUP);
        s->residues += leaves_residue;
    }
    s->loaded = now;
    everything_result(s->e, "weft_stream_wait", weft_stream_wait(s->there->world), WEFT_OK);
}

/* The handles, by the keys of the entities that are there. */
static void keys_learn(streaming *s)
{
    weft_world *world = s->there->world;
    model *m = &s->there->m;
    uint64_t count = weft_query_count(world, s->keyed);
    weft_entity *entities = model_memory(m, (count + 1) * sizeof *entities);
    weft_entity *handles = model_memory(m, (s->full.count + 1) * sizeof *handles);
    weft_query_entities(world, s->keyed, entities, count);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t *key = weft_entity_read(world, entities[i], s->key);
        if (key != NULL && *key < s->full.count) handles[*key] = entities[i];
    }
    everything_relearn(s->e, s->there, handles, s->full.count);
}

/* Compares the other world with the sections that are loaded; names where the file has them. */
static void there_compare(streaming *s)
{
    model *m = &s->there->m;
    weft_section_info info;
    weft_stream_stats stats;
    uint32_t loaded = 0;
    model_become(m, &s->full);
    m->version = 0; /* when sections were written is not known */
    model_renew(m);
    for (uint32_t n = 1; n < m->count; n++) {
        model_life life = m->entities[n].life;
        if (life == MODEL_RESIDUE || (life == MODEL_ALIVE && !is_loaded(s, section_of(s, n))))
            model_leave(m, n);
        else if (!s->has_names)
            m->entities[n].name = NULL;
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) m->resources[kind] = NULL;
    model_clear_references(m);
    keys_learn(s);
    for (uint32_t k = 0; k < s->count && !everything_has_failed(s->e); k++) {
        weft_stream_section_get(s->stream, k, &info, sizeof info);
        everything_equal(s->e, "weft_section_info: state", info.state,
                         is_loaded(s, k) ? WEFT_SECTION_LOADED : WEFT_SECTION_ABSENT);
        everything_equal(s->e, "weft_section_info: rows", info.rows, s->rows[k]);
        loaded += is_loaded(s, k);
    }
    weft_stream_stats_get(s->there->world, &stats, sizeof stats);
    everything_equal(s->e, "weft_stream_stats: loaded", stats.loaded, loaded);
    everything_equal(s->e, "weft_stream_stats: under_way", stats.under_way, 0);
    everything_equal(s->e, "weft_stream_rows", at_plain(&s->x_filled_wrong), 0);
    m->residues = s->residues;
    if (!everything_has_failed(s->e)) everything_compare(s->e, s->there);
}

/* An entity asks for a section as long as it lives. */
static void request_try(streaming *s, uint32_t section)
{
    weft_world *world = s->there->world;
    weft_section_info info;
    weft_component request = weft_component_section_request(world);
    weft_entity asks = weft_entity_create(world, weft_archetype_create(world, &request, 1));
    weft_section_request value = {.instance = 1, .section = section};
    everything_result(s->e, "a SectionRequest",
                      weft_entity_set(world, asks, request, &value, sizeof value), WEFT_OK);
    wait_for(s, s->asked | KIND_BIT(section));
    weft_stream_section_get(s->stream, section, &info, sizeof info);
    everything_equal(s->e, "a section that an entity asks for", info.state, WEFT_SECTION_LOADED);
    everything_result(s->e, "weft_entity_destroy", weft_entity_destroy(world, asks), WEFT_OK);
}

static void round_run(streaming *s, uint64_t drawn)
{
    everything *e = s->e;
    uint32_t section = (uint32_t)(drawn >> 8) % s->count;
    weft_result result = WEFT_OK;
    float at[3] = {0};
    switch (drawn % 8) {
    case 0:
    case 1:
        result = weft_stream_unload(s->stream, section);
        s->asked &= ~KIND_BIT(section);
        break;
    case 2:
        at[drawn >> 24 & 1] = drawn >> 25 & 1 ? -INFINITY : NAN;
        everything_result(e, "weft_stream_near of a place that is none",
                          weft_stream_near(s->stream, at, 1, 2), WEFT_INVALID_ARGUMENT);
        everything_result(e, "weft_stream_load of no priority",
                          weft_stream_load(s->stream, section, NAN), WEFT_INVALID_ARGUMENT);
        memset(at, 0, sizeof at);
        result = weft_stream_near(s->stream, at, 1, 2);
        /* none has bounds: all are near; section 0 comes with others, if there are any */
        s->asked |= s->count == 1 ? 1 : (KIND_BIT(s->count) - 1) & ~UINT64_C(1);
        break;
    case 3:
        request_try(s, section);
        break;
    default:
        result = weft_stream_load(s->stream, section, (float)(drawn >> 16 & 7));
        s->asked |= KIND_BIT(section);
    }
    everything_result(e, "asking for a section", result, WEFT_OK);
    for (uint64_t i = drawn >> 20 & 3; i != 0; i--)
        everything_result(e, "weft_stream_step",
                          weft_stream_step(s->there->world, i == 1 ? 1 : 100000), WEFT_OK);
    wait_for(s, s->asked);
    if (!everything_has_failed(e)) there_compare(s);
}

static void rounds_run(streaming *s)
{
    for (uint32_t i = 0; i < ROUNDS_MOST && !everything_has_failed(s->e); i++)
        round_run(s, everything_mix(s->drawn, i));
    if (everything_has_failed(s->e)) return;
    weft_stream_close(s->stream);
    s->stream = NULL;
    everything_equal(s->e, "entities behind a stream that is closed",
                     weft_query_count(s->there->world, s->keyed), 0);
}

static void run_stream(everything *e, const everything_call *c)
{
    const model *m = &e->here->m;
    FILE *out = e->out;
    streaming s = {.e = e, .there = &e->places[1], .drawn = everything_mix(c->value, c->a)};
    if (m->living == 0 || m->living > LIVING_MOST) return;
    everything_says(e, "/* the world was written as a section file, and streamed by another */");
    e->out = NULL;
    s.has_names = c->b % 2 == 0;
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(s.path, sizeof s.path, "%s/weft-everything-%ld-%p.wss", folder, (long)getpid(),
             (void *)e);
    if (file_write(&s)) {
        model_copy(&s.full, m);
        model_without(&s.full, kinds_left_out());
        if (stream_open(&s)) rounds_run(&s);
        if (s.stream != NULL) weft_stream_close(s.stream);
        if (!everything_has_failed(e)) everything_close(e, s.there);
        model_close(&s.full);
    }
    unlink(s.path);
    e->out = out;
}

const everything_op everything_ops_stream[] = {
    {.name = "stream",
     .functions = "weft_component_section weft_component_section_request weft_sections_save "
                  "weft_stream_open weft_stream_close weft_stream_number weft_stream_list "
                  "weft_stream_section_count weft_stream_load weft_stream_unload "
                  "weft_stream_near weft_stream_step weft_stream_wait weft_stream_section_get "
                  "weft_stream_stats_get weft_stream_column",
     .weight = 1,
     .run = run_stream},
    {0},
};
