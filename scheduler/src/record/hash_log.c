/* SPDX-License-Identifier: MIT */
/* hash_log.c: see hash_log.h. A pass: sums and rows in memory of each worker, merged and written at
 * its end; everything that concerns more than the rows of slices is written by the owner at once:
 * what was reached after its stage, commands before playback, the world at points.
 *
 * The sum of a component in a chunk is kept with the change versions of its slices, by the worker
 * that ran a system on it or by the owner at a point: a point hashes only what was written since,
 * and 40 light systems over 4,096 rows take 3.7 times as long as without a log, not 73. A checked
 * build keeps none and so finds what was written past versions. */
#include "hash_log.h"
#include "file_problem.h"
#include "hash.h"
#include "log.h"
#include "log_engine.h"
#include "registry.h"
#include "text.h"
#include "world_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 16, LINE_BYTES = 1024, PATH_BYTES = 4096, WORLDS_MAX = 256 };

/* What one system wrote of one component. A value. */
typedef struct log_sum {
    uint64_t rows, hash;
} log_sum;

/* What one system may write. A value; constant in a pass. */
typedef struct log_what {
    const weft__system *system;
    uint32_t component;
    bool is_taken;   /* after each slice, by its worker */
    bool is_reached; /* also elsewhere than in the rows of slices: all of it, behind the stage */
} log_what;

/* One row of it. */
typedef struct log_row {
    uint32_t what; /* index */
    weft_entity entity;
    uint64_t gid; /* of a log by keys */
    uint32_t sector;
    uint64_t hash;
    char value[WEFT__CELL_TEXT_BYTES];
} log_row;

/* Of one worker, in one pass. Owner: the worker while stages run. */
typedef struct log_worker {
    _Alignas(64) WEFT__LIST(log_sum) sums; /* of whats */
    WEFT__LIST(log_row) rows;
    bool is_starved; /* no memory for a row */
} log_worker;

/* A hash, and the change versions of the slices that it was made of; 0: nothing is known. Moving
 * rows changes no version: then all of the chunk is forgotten. */
typedef struct log_known {
    uint64_t hash, versions;
} log_known;

/* What is known of the chunk of an id. Room is made by the owner at points; while systems run the
 * worker of all its slices writes, or the owner what was reached. */
typedef struct log_chunk {
    uint64_t serial;
    uint64_t handles, weight;
    uint32_t looked;          /* world version when they were hashed */
    WEFT__LIST(log_known) at; /* [type position] */
} log_chunk;

/* Owner: the scheduler. Whats firsts.at[position] to firsts.at[position + 1] are those of a system.
 */
struct weft__hash_log {
    weft_state_log_desc desc;
    weft__log_keys keys;
    weft_result result; /* not OK: it has ended */
    bool is_in_pass, has_rows;
    WEFT__LIST(log_what) whats;
    WEFT__LIST(uint32_t) firsts;
    log_worker *workers;
    WEFT__LIST(log_chunk) chunks; /* by id */
    uint64_t step;                /* of the last pass */
    uint64_t structure, handles;  /* structure version, and the hash of all handles then */
    uint32_t restores;            /* of the scheduler at the last point */
    uint32_t open_version;        /* what an EXCLUSIVE system stamps; else 0 */
    const weft__os_files *files;  /* of the environment's file; NULL: none */
    weft__os_file file;
    char path[PATH_BYTES];
    int reason;    /* the errno of a write that failed */
    uint32_t used; /* of text */
    char text[TEXT_BYTES];
};

/* ---- text ---- */

static void flush(struct weft__hash_log *log)
{
    if (log->used != 0 && log->result == WEFT_OK)
        log->result = log->desc.writer.write(log->desc.writer.user, log->text, log->used);
    log->used = 0;
}

/* A line. */
__attribute__((format(printf, 2, 3))) static void put(struct weft__hash_log *log,
                                                      const char *format, ...)
{
    if (TEXT_BYTES - log->used < LINE_BYTES) flush(log);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(log->text + log->used, LINE_BYTES - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (length > LINE_BYTES - 2) length = LINE_BYTES - 2;
    for (int i = 0; i < length; i++)
        if (log->text[log->used + (uint32_t)i] == '\n') log->text[log->used + (uint32_t)i] = ' ';
    log->used += (uint32_t)length;
    log->text[log->used++] = '\n';
}

/* A name without what separates fields. */
typedef struct log_name {
    char text[64];
} log_name;

static log_name plain(const char *name)
{
    log_name copy;
    size_t i = 0;
    for (; i < sizeof copy.text - 1 && name[i] != '\0'; i++)
        copy.text[i] = (unsigned char)name[i] < ' ' ? ' ' : name[i];
    copy.text[i] = '\0';
    return copy;
}

/* Of a command: "create rows". */
static log_name word_of(uint32_t op)
{
    log_name word = plain(weft__command_words[op]);
    for (char *c = word.text; *c; c++)
        if (*c == '_') *c = ' ';
    return word;
}

static const weft__type *type_of(const weft_world *world, uint32_t component)
{
    return component == 0 || component > weft__type_count(world)
               ? NULL
               : weft__type_find(world, (weft_component){component, weft__front(world)->number});
}

static const char *type_name(const weft_world *world, uint32_t component)
{
    const weft__type *type = type_of(world, component);
    return type == NULL ? "-" : type->desc.name;
}

static const weft__query *query_of(const weft__system *system)
{
    if (system->query.id == 0) return NULL;
    return weft__query_find(system->context.world, system->query)->query;
}

static bool is_written(const weft__query_term *term)
{
    return term->access == WEFT_WRITE && term->match != WEFT_NONE;
}

/* ---- what systems write ---- */

/* The what of a component among those of the last system, or a new one; NULL: no memory. */
static log_what *obtain_what(weft__scheduler *scheduler, const weft__system *system,
                             uint32_t component)
{
    struct weft__hash_log *log = scheduler->hash_log;
    for (uint32_t i = log->firsts.at[log->firsts.count - 1]; i < log->whats.count; i++)
        if (log->whats.at[i].component == component) return &log->whats.at[i];
    log_what *what = WEFT__LIST_ADD(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->whats);
    if (what != NULL) *what = (log_what){.system = system, .component = component};
    return what;
}

static bool add_grants(weft__scheduler *scheduler, const weft__system *system,
                       const weft__grant *grants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (grants[i].access != WEFT_WRITE) continue;
        log_what *what = obtain_what(scheduler, system, grants[i].component);
        if (what == NULL) return false;
        what->is_reached = true;
    }
    return true;
}

static bool add_terms(weft__scheduler *scheduler, const weft__system *system,
                      const weft__query *query, bool is_own)
{
    for (uint32_t i = 0; query != NULL && i < query->term_count; i++) {
        const weft__query_term *term = &query->terms[i];
        if (!is_written(term)) continue;
        log_what *what = obtain_what(scheduler, system, term->component);
        if (what == NULL) return false;
        if (is_own && !term->is_sparse && !term->is_chunk_value)
            what->is_taken = true;
        else
            what->is_reached = true;
    }
    return true;
}

/* Whats of a system: what it may write elsewhere than in the rows of its slices are resources,
 * look-ups, rows of other queries, values of chunks, SPARSE rows. */
static bool add_system(weft__scheduler *scheduler, const weft__system *system)
{
    struct weft__hash_log *log = scheduler->hash_log;
    const weft__lists *lists = &system->lists;
    if (!WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->firsts, &log->whats.count,
                           1))
        return false;
    if (log->keys.gid.id != 0 && log->keys.half_of(log->keys.user, system->user) == 0) return true;
    bool is_made = add_grants(scheduler, system, lists->resources, lists->resource_count) &&
                   add_grants(scheduler, system, lists->lookups, lists->lookup_count);
    for (uint32_t q = 0; q < lists->query_count && is_made; q++)
        is_made =
            add_terms(scheduler, system,
                      weft__query_find(system->context.world, lists->queries[q])->query, false);
    is_made = is_made && add_terms(scheduler, system, query_of(system), true);
    for (uint32_t i = log->firsts.at[log->firsts.count - 1]; i < log->whats.count; i++) {
        log_what *what = &log->whats.at[i];
        const weft__type *type = type_of(scheduler->world, what->component);
        if (log->keys.gid.id != 0 && type->entity_offset_count != 0) what->is_reached = true;
        if (what->is_reached && !log->desc.keeps_graphs) what->is_taken = false;
    }
    return is_made;
}

/* Room for what the systems of this schedule may write. */
static bool make_sums(weft__scheduler *scheduler, struct weft__hash_log *log)
{
    log->whats.count = log->firsts.count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        if (!add_system(scheduler, scheduler->ordered[i])) return false;
    if (!WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->firsts, &log->whats.count,
                           1))
        return false;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        log_worker *worker = &log->workers[i];
        worker->rows.count = worker->sums.count = 0;
        if (!WEFT__LIST_REACH(scheduler->memory, WEFT__MEMORY_SYSTEMS, &worker->sums,
                              log->whats.count))
            return false;
    }
    return true;
}

/* ---- hashes by chunk ---- */

/* What is known of a chunk; NULL: no room was made. */
static const log_chunk *chunk_of(const struct weft__hash_log *log, const weft__chunk *chunk)
{
    if (chunk->id >= log->chunks.count) return NULL;
    const log_chunk *known = &log->chunks.at[chunk->id];
    return known->serial == chunk->serial ? known : NULL;
}

/* Of a type in it. */
static log_known *known_of(const log_chunk *known, uint32_t number)
{
    return known != NULL && number < known->at.count ? &known->at.at[number] : NULL;
}

/* The versions that a sum of all rows is made of; 0: it will not be known. */
static uint64_t versions_of(const struct weft__hash_log *log, const weft_world *world,
                            const weft__chunk *chunk, uint32_t position)
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    const uint32_t slices = weft__chunk_slices(chunk);
    uint64_t versions = 1;
    if (WEFT_IS_CHECKED || ref->enableable != WEFT__NO_PLACE || ref->shared != WEFT__NO_PLACE ||
        ref->chunk_offset != WEFT__NONE || ref->type->sparse != NULL)
        return 0;
    for (uint32_t s = 0; s < slices; s++) {
        /* relaxed: of this worker, or before this stage */
        const uint32_t version = at_load_rlx(&weft__chunk_versions(chunk, position)[s]);
        if (version == weft__front(world)->version || version == log->open_version) return 0;
        versions = (versions + version) * HASH_K0;
    }
    return versions;
}

/* Of a component in all rows of a chunk. What is stamped as things are that are written now is
 * never known. */
static uint64_t known_sum(struct weft__hash_log *log, const weft_world *world,
                          const weft__chunk *chunk, uint32_t position)
{
    log_known *known = known_of(chunk_of(log, chunk), position);
    const uint64_t versions = versions_of(log, world, chunk, position);
    if (known != NULL && versions != 0 && known->versions == versions) return known->hash;
    const uint64_t sum = weft__rows_sum(world, chunk, position, 0, chunk->count);
    if (known != NULL) *known = (log_known){sum, versions};
    return sum;
}

static uint64_t weight_by_first(const weft_world *world, const weft__chunk *chunk)
{
    const weft_entity first = weft__entity_plain(world, weft__chunk_entities(chunk)[0]);
    return hash_word(HASH_K0, (uint64_t)first.version << 32 | first.index) | 1;
}

/* What the sum of a chunk counts in that of a component: by its first handle. */
static uint64_t weight_of(const weft_world *world, const struct weft__hash_log *log,
                          const weft__chunk *chunk)
{
    const log_chunk *known = chunk_of(log, chunk);
    if (known == NULL) return weight_by_first(world, chunk);
    WEFT_ASSERT(chunk->count == 0 || known->weight == weight_by_first(world, chunk));
    return known->weight;
}

/* ---- rows by keys ---- */

/* Of the rows of a chunk; NULL: they have none. */
static const uint64_t *gids_of(const struct weft__hash_log *log, const weft__chunk *chunk)
{
    const uint32_t position = weft__archetype_find(chunk->archetype, log->keys.gid.id);
    if (position == WEFT__NONE || chunk->count == 0) return NULL;
    return (const uint64_t *)(const void *)weft__chunk_column(
        chunk, chunk->archetype->types[position].column);
}

static bool to_gid(void *user, weft__reference *r)
{
    const weft__log_keys *keys = user;
    if (!r->is_blob && r->bits != 0) r->bits = keys->gid_of(keys->user, r->entity);
    return true;
}

/* As weft__cell_hash; references count as gids. */
static uint64_t keyed_cell(struct weft__hash_log *log, const weft_world *world,
                           const weft__chunk *chunk, uint32_t row, uint32_t position)
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    const weft__type *type = ref->type;
    const weft_entity entity = weft__chunk_entities(chunk)[row];
    const weft_component component = {type->id, weft__front(world)->number};
    const size_t size = type->desc.size;
    char value[4096];
    if (log->keys.gid_of == NULL || type->entity_offset_count == 0 || size > sizeof value)
        return weft__cell_hash(world, chunk, row, position);
    uint64_t count = 1, hash = type->hash;
    const char *from = ref->shared != WEFT__NO_PLACE
                           ? weft_entity_read_shared(world, entity, component)
                           : weft__chunk_value(chunk, ref->column, row);
    if ((type->desc.flags & WEFT_BUFFER) != 0) {
        const weft_buffer *buffer = (const void *)from;
        count = buffer->count;
        from = weft_buffer_read(buffer);
    }
    for (uint64_t i = 0; i < count; i++) {
        memcpy(value, from + i * size, size);
        (void)weft__elements_references(type, value, 1, to_gid, &log->keys);
        hash = hash_bytes(hash, value, size);
    }
    return hash_word(hash, weft_entity_is_enabled(world, entity, component));
}

/* Of a component in rows [begin, end), in whatever order they are. */
static uint64_t keyed_sum(struct weft__hash_log *log, const weft_world *world,
                          const weft__chunk *chunk, uint32_t position, uint32_t begin, uint32_t end)
{
    const uint64_t *gids = gids_of(log, chunk);
    uint64_t sum = 0;
    for (uint32_t row = begin; row < end; row++)
        sum += hash_word(gids[row], keyed_cell(log, world, chunk, row, position));
    return sum;
}

static uint32_t sector_of(const struct weft__hash_log *log, const weft_world *world,
                          weft_entity entity)
{
    const uint32_t *stored = weft_entity_read_shared(world, entity, log->keys.sector);
    return stored != NULL ? *stored - 1 : UINT32_MAX;
}

static void take_values(weft__scheduler *scheduler, log_worker *worker, const weft_slice *slice,
                        uint32_t position, uint32_t what)
{
    struct weft__hash_log *log = scheduler->hash_log;
    const uint64_t *gids = log->keys.gid.id != 0 ? gids_of(log, slice->chunk) : NULL;
    const weft_world *world = scheduler->world;
    const weft__chunk *chunk = slice->chunk;
    const weft_entity *entities = slice->entities;
    const uint32_t base = (uint32_t)(entities - weft__chunk_entities(chunk));
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        worker->sums.at[what].rows += end - begin;
        if (gids != NULL) /* which others are in slices with them depends on chunks */
            worker->sums.at[what].hash +=
                keyed_sum(log, world, chunk, position, base + begin, base + end);
        for (uint32_t i = begin; i < end && log->has_rows; i++) {
            log_row row = {.what = what, .entity = weft__entity_plain(world, entities[i])};
            row.hash = keyed_cell(log, world, chunk, base + i, position);
            if (gids != NULL) row.gid = gids[base + i];
            if (gids != NULL) row.sector = sector_of(log, world, entities[i]);
            weft__cell_text(world, chunk, base + i, position, row.value);
            if (!WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &worker->rows, &row, 1))
                worker->is_starved = true;
        }
    }
}

void weft__hash_log_take(weft__scheduler *scheduler, uint32_t number, const weft__system *system,
                         const weft_slice *slice)
{
    struct weft__hash_log *log = scheduler->hash_log;
    log_worker *worker = &log->workers[number];
    if (!log->is_in_pass || system->query.id == 0 || slice->count == 0) return;
    const weft_world *world = scheduler->world;
    const weft__chunk *chunk = slice->chunk;
    const bool is_keyed = log->keys.gid.id != 0;
    if (is_keyed && gids_of(log, chunk) == NULL) return;
    const uint32_t begin = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
    const uint32_t end = begin + slice->count;
    const uint64_t weight = weight_of(world, log, chunk);
    for (uint32_t i = log->firsts.at[system->position]; i < log->firsts.at[system->position + 1];
         i++) {
        const log_what *what = &log->whats.at[i];
        const uint32_t position =
            what->is_taken ? weft__archetype_find(chunk->archetype, what->component) : WEFT__NONE;
        if (position == WEFT__NONE) continue;
        take_values(scheduler, worker, slice, position, i);
        if (is_keyed) continue;
        const uint64_t sum = weft__rows_sum(world, chunk, position, begin, end);
        worker->sums.at[i].hash += sum * weight;
        log_known *known = known_of(chunk_of(log, chunk), position);
        if (known == NULL || begin != 0 || end != chunk->count) continue;
        *known = (log_known){sum, versions_of(log, world, chunk, position)};
        if (what->is_reached || (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) known->versions = 0;
    }
}

/* ---- passes ---- */

static void name_row(const struct weft__hash_log *log, const log_row *row, char name[64])
{
    if (log->keys.gid.id != 0)
        snprintf(name, 64, "gid %" PRIx64 " of sector %u", row->gid, row->sector);
    else if (row->entity.version != 0)
        snprintf(name, 64, "%u:%u", row->entity.index, row->entity.version);
    else
        snprintf(name, 64, "-");
}

static void fail(struct weft__hash_log *log, weft_result result)
{
    if (log->result == WEFT_OK) log->result = result;
}

static void put_row(struct weft__hash_log *log, const weft__system *system, const weft__type *type,
                    const log_row *row, const char *value)
{
    char name[64];
    name_row(log, row, name);
    put(log, "R\t%u\t%s\t%s\t%s\t%016" PRIx64 "\t%s", system->position, plain(system->name).text,
        plain(type->desc.name).text, name, row->hash, value);
}

static void put_rows(weft__scheduler *scheduler, struct weft__hash_log *log)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        log_worker *worker = &log->workers[i];
        if (worker->is_starved) fail(log, WEFT_OUT_OF_MEMORY);
        for (uint32_t k = 0; k < worker->rows.count; k++) {
            const log_row *row = &worker->rows.at[k];
            const log_what *what = &log->whats.at[row->what];
            put_row(log, what->system, type_of(scheduler->world, what->component), row, row->value);
        }
    }
}

/* ---- what is written elsewhere than in rows of slices ---- */

/* One value of a component, or one for all rows of a chunk, and where it is. */
typedef struct log_cell {
    const weft__type *type;
    log_row row;       /* entity null: of a resource; without text */
    const char *value; /* NULL: not asked for */
} log_cell;

typedef void log_cell_fn(struct weft__hash_log *log, void *user, const log_cell *cell);

static void take_value(const weft_world *world, struct weft__hash_log *log, log_cell cell,
                       const void *value, log_cell_fn *take, void *user)
{
    char text[WEFT__CELL_TEXT_BYTES];
    cell.row.hash = weft__value_hash(world, cell.type, value);
    if (log->has_rows) weft__value_text(cell.type, value, text);
    cell.value = text;
    take(log, user, &cell);
}

/* Every value of a type in a chunk. */
static void take_chunk(const weft_world *world, struct weft__hash_log *log,
                       const weft__chunk *chunk, uint32_t position, log_cell_fn *take, void *user)
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    const weft_entity *entities = weft__chunk_entities(chunk);
    char text[WEFT__CELL_TEXT_BYTES];
    log_cell cell = {.type = ref->type, .value = text};
    const bool is_keyed = log->keys.gid.id != 0;
    const uint64_t *gids = is_keyed ? gids_of(log, chunk) : NULL;
    if (chunk->count == 0 || (is_keyed && gids == NULL)) return;
    cell.row.entity = weft__entity_plain(world, entities[0]);
    if (ref->chunk_offset != WEFT__NONE) {
        take_value(world, log, cell, chunk->chunk_values + ref->chunk_offset, take, user);
        return;
    }
    if (is_keyed) cell.row.sector = sector_of(log, world, entities[0]);
    for (uint32_t row = 0; row < chunk->count; row++) {
        if (log->has_rows) weft__cell_text(world, chunk, row, position, text);
        cell.row.entity = weft__entity_plain(world, entities[row]);
        cell.row.hash = keyed_cell(log, world, chunk, row, position);
        if (is_keyed) cell.row.gid = gids[row];
        take(log, user, &cell);
    }
}

/* Every value of a component, or of all (0), in the world. */
static void take_component(const weft_world *world, struct weft__hash_log *log, uint32_t component,
                           log_cell_fn *take, void *user)
{
    for (uint32_t id = 1; id <= weft__type_count(world); id++) {
        const weft__type *type = type_of(world, id);
        if ((component == 0 || component == id) && type != NULL && type->resource != NULL &&
            log->keys.gid.id == 0)
            take_value(world, log, (log_cell){.type = type}, type->resource, take, user);
    }
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        for (uint32_t k = 0; k < archetype->type_count; k++) {
            if (component != 0 && archetype->types[k].component != component) continue;
            for (uint32_t c = 0; c < archetype->chunk_count; c++)
                take_chunk(world, log, archetype->chunks[c], k, take, user);
        }
    }
}

static void put_reached_cell(struct weft__hash_log *log, void *user, const log_cell *cell)
{
    const log_what *what = user;
    put_row(log, what->system, cell->type, &cell->row, cell->value);
}

static void put_sum(struct weft__hash_log *log, const weft_world *world, const log_what *what,
                    log_sum sum)
{
    if (sum.rows != 0)
        put(log, "W\t%u\t%s\t%s\t%" PRIu64 "\t%016" PRIx64, what->system->position,
            plain(what->system->name).text, plain(type_name(world, what->component)).text, sum.rows,
            sum.hash);
}

/* Everything of a component that a system reached: the resource, or all values. */
static void put_reached(const weft_world *world, struct weft__hash_log *log, log_what *what)
{
    const weft__type *type = type_of(world, what->component);
    log_sum sum = {0, 0};
    const bool is_keyed = log->keys.gid.id != 0;
    if (type != NULL && type->resource != NULL && !is_keyed)
        sum = (log_sum){1, weft__value_hash(world, type, type->resource)};
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        const uint32_t position = weft__archetype_find(archetype, what->component);
        for (uint32_t c = 0; c < archetype->chunk_count && position != WEFT__NONE; c++) {
            const weft__chunk *chunk = archetype->chunks[c];
            if (is_keyed && gids_of(log, chunk) == NULL) continue;
            sum.rows += archetype->types[position].chunk_offset != WEFT__NONE ? 1 : chunk->count;
            sum.hash += is_keyed
                            ? keyed_sum(log, world, chunk, position, 0, chunk->count)
                            : known_sum(log, world, chunk, position) * weight_of(world, log, chunk);
        }
    }
    put_sum(log, world, what, sum);
    if (log->has_rows) take_component(world, log, what->component, put_reached_cell, what);
}

static void put_value(struct weft__hash_log *log, const char *point, const char *component,
                      const log_row *row, const char *value)
{
    char name[64];
    name_row(log, row, name);
    put(log, "V\t%s\t%s\t%s\t%016" PRIx64 "\t%s", point, plain(component).text, name, row->hash,
        value);
}

static void put_cell(struct weft__hash_log *log, void *user, const log_cell *cell)
{
    put_value(log, user, cell->type->desc.name, &cell->row, cell->value);
}

static void put_names(const weft_world *world, struct weft__hash_log *log, const char *point)
{
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        for (uint32_t c = 0; c < archetype->chunk_count; c++) {
            const weft_entity *entities = weft__chunk_entities(archetype->chunks[c]);
            const bool is_keyed = log->keys.gid.id != 0;
            const uint64_t *gids = is_keyed ? gids_of(log, archetype->chunks[c]) : NULL;
            if (is_keyed && gids == NULL) continue;
            for (uint32_t row = 0; row < archetype->chunks[c]->count; row++) {
                const char *name = weft_entity_name(world, entities[row]);
                if (name[0] == '\0' || (archetype->flags & WEFT__IS_SPARSE) != 0) continue;
                log_row of = {.entity = weft__entity_plain(world, entities[row]),
                              .hash = hash_string(name)};
                if (is_keyed) of.gid = gids[row];
                if (is_keyed) of.sector = sector_of(log, world, entities[row]);
                put_value(log, point, "name", &of, plain(name).text);
            }
        }
    }
}

/* The hash of the handles of a chunk, and room for what is known of it; what no memory is for is
 * hashed each time. */
static uint64_t look_at(const weft__scheduler *scheduler, struct weft__hash_log *log,
                        const weft__chunk *chunk)
{
    weft__memory *memory = scheduler->memory;
    const uint32_t types = chunk->archetype->type_count;
    const bool has_place =
        WEFT__LIST_REACH(memory, WEFT__MEMORY_SYSTEMS, &log->chunks, chunk->id + 1);
    log_chunk *known = has_place ? &log->chunks.at[chunk->id] : NULL;
    const bool is_known = known != NULL && known->serial == chunk->serial;
    const bool is_old = is_known && weft__version_is_newer(known->looked, chunk->order_version);
    if (is_old && !WEFT_IS_CHECKED) return known->handles;
    const uint64_t handles = weft__rows_hash(scheduler->world, chunk);
    WEFT_ASSERT(!is_old || known->handles == handles); /* order versions tell */
    if (known == NULL) return handles;
    known->looked = weft__front(scheduler->world)->version;
    known->weight = weight_by_first(scheduler->world, chunk);
    if (is_known && known->handles == handles && known->at.count == types) return handles;
    known->at.count = 0;
    known->serial = chunk->serial;
    known->handles = handles;
    log->structure = 0;
    (void)WEFT__LIST_REACH(memory, WEFT__MEMORY_SYSTEMS, &known->at, types);
    return handles;
}

static uint64_t chunk_hash(const weft__scheduler *scheduler, struct weft__hash_log *log,
                           const weft__chunk *chunk, uint64_t hash)
{
    const weft_world *world = scheduler->world;
    const uint32_t types = chunk->archetype->type_count;
    uint64_t sum = 0; /* of types: in any order of registration */
    hash = hash_word(hash, look_at(scheduler, log, chunk));
    for (uint32_t type = 0; type < types; type++)
        sum +=
            hash_word(chunk->archetype->types[type].type->hash, known_sum(log, world, chunk, type));
    return hash_word(hash, sum);
}

/* Everything; of handles that no row has only where rows came or went. */
static uint64_t world_hash(const weft__scheduler *scheduler, struct weft__hash_log *log)
{
    const weft_world *world = scheduler->world;
    const weft__world_front *front = weft__front(world);
    uint64_t hash = HASH_K0;
    if (scheduler->restores != log->restores) /* versions come again, of another future */
        for (uint32_t i = 0; i < log->chunks.count; i++) log->chunks.at[i].serial = 0;
    log->restores = scheduler->restores;
    if (front->structure_version != log->structure) log->structure = 0;
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            hash = chunk_hash(scheduler, log, archetype->chunks[c], hash);
    }
    for (uint32_t id = 1; id <= weft__type_count(world); id++) {
        const weft__type *type = type_of(world, id);
        if (type != NULL && type->resource != NULL)
            hash = hash_word(hash, weft__value_hash(world, type, type->resource));
    }
    if (log->structure == 0) log->handles = weft__handles_hash(world);
    log->structure = front->structure_version;
    return hash_word(hash_word(hash, log->handles), weft__names_hash(world));
}

/* All rows with keys, and their names. */
static uint64_t keyed_hash(const weft_world *world, struct weft__hash_log *log)
{
    uint64_t sum = 0;
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        for (uint32_t c = 0; c < archetype->chunk_count; c++) {
            const weft__chunk *chunk = archetype->chunks[c];
            const uint64_t *gids = gids_of(log, chunk);
            for (uint32_t k = 0; k < archetype->type_count && gids != NULL; k++)
                if (archetype->types[k].chunk_offset == WEFT__NONE)
                    sum += keyed_sum(log, world, chunk, k, 0, chunk->count);
            for (uint32_t row = 0; row < chunk->count && gids != NULL; row++) {
                const char *name = weft_entity_name(world, weft__chunk_entities(chunk)[row]);
                if (name[0] != '\0') sum += hash_word(gids[row], hash_string(name));
            }
        }
    }
    return sum;
}

/* Whether a system of two halves is done in part before a position. */
static bool is_between(const weft__scheduler *scheduler, uint32_t position)
{
    const weft__log_keys *keys = &scheduler->hash_log->keys;
    uint32_t halves[2] = {0, 0};
    for (uint32_t i = 0; i < position && i < scheduler->ordered_count; i++) {
        const int half = keys->half_of(keys->user, scheduler->ordered[i]->user);
        if (half >= 0) halves[half]++;
    }
    return halves[0] != halves[1];
}

/* The whole world at a point of the order of effect. */
static void put_point(const weft__scheduler *scheduler, struct weft__hash_log *log, char kind,
                      uint32_t position, const char *name)
{
    const weft_world *world = scheduler->world;
    char point[32];
    if (log->keys.gid.id != 0 && is_between(scheduler, position + (kind == 'X'))) return;
    put(log, "%c\t%u\t%s\t%016" PRIx64, kind, position, plain(name).text,
        log->keys.gid.id != 0 ? keyed_hash(world, log) : world_hash(scheduler, log));
    if (!log->has_rows) return;
    snprintf(point, sizeof point, "%u\t%c", position, kind);
    take_component(world, log, 0, put_cell, point);
    put_names(world, log, point);
}

void weft__hash_log_stage(weft__scheduler *scheduler, const weft__stage *stage, bool is_joined)
{
    struct weft__hash_log *log = scheduler->hash_log;
    const weft_world *world = scheduler->world;
    if (log == NULL || !log->is_in_pass) return;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        const bool is_background = (system->flags & WEFT_SYSTEM_BACKGROUND) != 0;
        const bool is_running = is_background && stage->background.generation != 0;
        if (!system->is_active || is_running || (is_joined && !is_background)) continue;
        const uint32_t first = log->firsts.at[system->position];
        const bool is_exclusive = (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
        log->open_version = is_exclusive ? system->context.stamp : 0;
        if (is_exclusive) /* first: it notes which rows moved */
            put_point(scheduler, log, 'X', system->position, system->name);
        for (uint32_t k = first; k < log->firsts.at[system->position + 1]; k++)
            if (log->whats.at[k].is_reached && !log->desc.keeps_graphs)
                put_reached(world, log, &log->whats.at[k]);
        log->open_version = 0;
    }
}

bool weft__hash_log_needs_stages(const weft__scheduler *scheduler)
{
    return scheduler->hash_log != NULL && !scheduler->hash_log->desc.keeps_graphs;
}

bool weft__hash_log_is_keyed(const weft__scheduler *scheduler)
{
    return scheduler->hash_log != NULL && scheduler->hash_log->keys.gid.id != 0;
}

void weft__hash_log_begin(weft__scheduler *scheduler)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (log->result != WEFT_OK) return;
    const uint64_t step = weft__front(scheduler->world)->clock.steps;
    log->has_rows = step >= log->desc.rows_first && step <= log->desc.rows_last;
    if (!make_sums(scheduler, log)) {
        fail(log, WEFT_OUT_OF_MEMORY);
        return;
    }
    log->is_in_pass = true;
    put(log, "S\t%" PRIu64 "\t%u", step, scheduler->passes_left);
    if (step != log->step || scheduler->restores != log->restores)
        put_point(scheduler, log, 'B', 0, "the host");
    log->step = step;
}

void weft__hash_log_end(weft__scheduler *scheduler)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (!log->is_in_pass) return;
    log->is_in_pass = false;
    for (uint32_t i = 0; i < log->whats.count; i++) {
        log_sum all = {0, 0};
        for (uint32_t k = 0; k < scheduler->worker_count; k++) {
            all.rows += log->workers[k].sums.at[i].rows;
            all.hash += log->workers[k].sums.at[i].hash;
        }
        put_sum(log, scheduler->world, &log->whats.at[i], all);
    }
    if (log->has_rows) put_rows(scheduler, log);
    put_point(scheduler, log, 'E', scheduler->ordered_count, "the end of the step");
    flush(log);
}

/* ---- commands ---- */

/* A command and where it stands: the same for any worker that recorded it. A value. */
typedef struct log_command {
    const weft__command *command;
    const char *component;
    char entity[32];
    uint64_t hash;
} log_command;

/* Payloads with handles are left out: deferred ones are numbered per worker. */
static uint64_t hash_payload(const weft_world *world, const weft__command *command)
{
    const uint32_t op = command->op;
    const uint64_t *payload = weft__command_payload(command);
    if (!weft__command_has_component(op) || command->words == 0) return 0;
    const weft__type *type =
        weft__type_find(world, (weft_component){command->subject, weft__front(world)->number});
    if (type == NULL || type->entity_offset_count != 0) return 0;
    if (weft__command_has_elements(op))
        return hash_bytes(HASH_K0, payload, 8 + payload[0] * type->desc.size);
    return hash_bytes(HASH_K0, payload, type->desc.size);
}

static log_command describe(const weft_world *world, const weft__command_segment *segment,
                            const weft__command *command)
{
    log_command c = {.command = command, .component = "-"};
    const weft_entity entity = weft__entity_plain(world, command->entity);
    const bool is_row = (command->entity.index & WEFT__ROW_HANDLE) != 0;
    if (weft__command_has_component(command->op)) c.component = type_name(world, command->subject);
    if ((entity.version & 1) != 0)
        snprintf(c.entity, sizeof c.entity, "%u:%u", entity.index, entity.version);
    else if (entity.version != 0 && !is_row)
        snprintf(c.entity, sizeof c.entity, "new %u",
                 command->entity.index - segment->created_first);
    else
        snprintf(c.entity, sizeof c.entity, "-");
    c.hash = hash_word(HASH_K0, (uint64_t)command->op << 8 | (command->flags & 1));
    c.hash = hash_word(c.hash, command->subject);
    c.hash = hash_bytes(c.hash, c.entity, strlen(c.entity));
    c.hash = hash_word(c.hash, hash_payload(world, command));
    return c;
}

/* The commands of one system, over all recorders. */
static void put_system_commands(const weft__scheduler *scheduler, struct weft__hash_log *log,
                                const weft__system *system)
{
    uint64_t count = 0, sum = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft_recorder *commands = scheduler->recorders[i];
        for (uint32_t k = 0; k < commands->segment_count; k++) {
            const weft__command_segment *segment = &commands->segments[k];
            if (segment->key >> 32 != system->position) continue;
            weft__command_cursor cursor = weft__command_begin(segment);
            const weft__command *command;
            for (uint32_t n = 0; (command = weft__command_next(&cursor)) != NULL; n++) {
                const log_command c = describe(scheduler->world, segment, command);
                const uint32_t slice = (uint32_t)segment->key;
                if (log->keys.gid.id != 0) continue; /* slices and handles differ */
                sum += hash_word(hash_word(HASH_K0, (uint64_t)slice << 32 | n), c.hash);
                count++;
                if (log->has_rows)
                    put(log, "K\t%u\t%s\t%u\t%u\t%s\t%s\t%s\t%016" PRIx64, system->position,
                        plain(system->name).text, slice, n, word_of(command->op).text,
                        plain(c.component).text, c.entity, c.hash);
            }
        }
    }
    if (count != 0 || (log->keys.gid.id != 0 && system->effects != 0))
        put(log, "C\t%u\t%s\t%" PRIu64 "\t%016" PRIx64, system->position, plain(system->name).text,
            count, sum);
}

void weft__hash_log_commands(weft__scheduler *scheduler)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (log == NULL || !log->is_in_pass) return;
    for (uint32_t i = 0; i < scheduler->worker_count; i++)
        weft__recorder_seal(scheduler->recorders[i]);
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        put_system_commands(scheduler, log, scheduler->ordered[i]);
}

/* Versions are handed out in order of effect: systems with a smaller one ran before. */
static uint32_t position_after(const weft__scheduler *scheduler, uint32_t version)
{
    uint32_t position = 0;
    while (position < scheduler->ordered_count &&
           scheduler->ordered[position]->version_offset < version - scheduler->pass_base)
        position++;
    return position;
}

void weft__hash_log_point(weft__scheduler *scheduler, char kind, uint32_t version)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (log == NULL || !log->is_in_pass) return;
    const uint32_t position = position_after(scheduler, version);
    put_point(scheduler, log, kind, position,
              position < scheduler->ordered_count ? scheduler->ordered[position]->name
                                                  : "the end of the step");
}

/* ---- begin, end ---- */

weft_result weft__hash_log_open(weft__scheduler *scheduler, const weft_state_log_desc *desc)
{
    struct weft__hash_log *log =
        weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *log, 64);
    if (log == NULL) return weft__error_memory(scheduler->world, "the state log");
    log->desc = *desc;
    log->workers = WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                    scheduler->worker_count, *log->workers);
    if (log->workers == NULL) {
        weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, log, 1, sizeof *log, 64);
        return weft__error_memory(scheduler->world, "the state log");
    }
    scheduler->hash_log = log;
    log->step = UINT64_MAX;
    put(log, "weft state log 3");
    return WEFT_OK;
}

/* The file that the environment asks for: the program does not look at its result. */
static void warn_unwritten(const weft__scheduler *scheduler, weft_result result,
                           const char *operation, const char *path)
{
    const weft__os_files *files = weft__os_files_of(weft__world_desc(scheduler->world)->os);
    weft__file_problem problem;
    weft__os_kind kind;
    char place[4096];
    weft__file_failed(&problem, result, operation, path);
    bool is_known = files->locate(files->user, path, place, sizeof place, &kind) == WEFT_OK;
    if (is_known && kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        weft__file_refused(&problem, kind, operation, path);
    weft__log(&weft__world_desc(scheduler->world)->log, WEFT_LOG_WARNING,
              "WEFT_STATE_LOG: the log is incomplete: %s", problem.text);
}

weft_result weft__hash_log_close(weft__scheduler *scheduler)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (log == NULL) return WEFT_OK;
    flush(log);
    weft_result result = log->result;
    if (log->files != NULL) {
        errno = 0;
        weft_result closed = log->files->close(log->files->user, log->file);
        if (result == WEFT_OK) result = closed;
        if (log->reason != 0) errno = log->reason;
        if (result != WEFT_OK) warn_unwritten(scheduler, result, "write", log->path);
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->workers[i].sums);
        WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->workers[i].rows);
    }
    for (uint32_t i = 0; i < log->chunks.count; i++)
        WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->chunks.at[i].at);
    WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->chunks);
    WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->whats);
    WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->firsts);
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, log->workers, scheduler->worker_count);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, log, 1, sizeof *log, 64);
    scheduler->hash_log = NULL;
    return result;
}

/* ---- the environment ---- */

static weft_result write_file(void *user, const void *bytes, size_t count)
{
    struct weft__hash_log *log = user;
    errno = 0;
    weft_result result = log->files->write(log->files->user, log->file, bytes, count);
    if (result != WEFT_OK) log->reason = errno;
    return result;
}

/* Steps "37" or "30-40"; a text that is neither leaves the rows out. */
static void choose_rows(const weft_log *out, const char *rows, weft_state_log_desc *desc)
{
    uint64_t first, last;
    if (weft__text_range(rows, &first, &last) && first >= 1 && last != UINT64_MAX) {
        desc->rows_first = first;
        desc->rows_last = last;
        return;
    }
    weft__log(out, WEFT_LOG_WARNING,
              "WEFT_STATE_LOG_ROWS=%s is not a step or FIRST-LAST, such as 37 or 30-40 (the first "
              "step is 1): no rows are written",
              rows);
}

/* Opens the first of FILE, FILE.world-2, ... that no world of this process has written and no other
 * process writes; the last one again and again. */
static weft_result open_file(const weft__os_files *files, struct weft__hash_log *log,
                             const char *path)
{
    static weft_a64 x_last; /* hash of a path, number of its last log; the file is BUSY in a race */
    const uint64_t key = hash_string(path) & ~(uint64_t)UINT32_MAX;
    const uint64_t last = at_load_rlx(&x_last); /* relaxed: as above */
    const uint32_t before = (last & ~(uint64_t)UINT32_MAX) == key ? (uint32_t)last : 0;
    weft_result result = WEFT_BUSY;
    for (uint32_t i = before < WORLDS_MAX ? before + 1 : WORLDS_MAX;
         result == WEFT_BUSY && i <= WORLDS_MAX; i++) {
        at_store_rlx(&x_last, key | i); /* relaxed: as above */
        snprintf(log->path, PATH_BYTES, i == 1 ? "%s" : "%s.world-%u", path, i);
        errno = 0;
        result = files->open_write(files->user, log->path, &log->file);
    }
    return result;
}

/* Behind the first world: what an earlier run left of further ones. */
static void remove_further(const weft__os_files *files, const char *path)
{
    char further[PATH_BYTES], place[PATH_BYTES];
    weft__os_kind kind = WEFT__OS_REGULAR_FILE;
    weft__os_file file;
    for (uint32_t i = 2; i <= WORLDS_MAX; i++) {
        snprintf(further, PATH_BYTES, "%s.world-%u", path, i);
        if (files->locate(files->user, further, place, sizeof place, &kind) != WEFT_OK ||
            kind != WEFT__OS_REGULAR_FILE ||
            files->open_write(files->user, further, &file) != WEFT_OK)
            return;
        files->remove(files->user, further);
        files->close(files->user, file);
    }
}

void weft__state_log_go_by(weft_world *world, const weft__log_keys *keys)
{
    struct weft__hash_log *log = weft__scheduler_of(world)->hash_log;
    const char *rows = secure_getenv("WEFT_STATE_LOG_ROWS");
    if (rows != NULL && rows[0] != '\0')
        choose_rows(&weft__world_desc(world)->log, rows, &log->desc);
    log->keys = *keys;
    log->used = 0;
    put(log, "weft state log 3 by gid");
}

void weft__hash_log_obey(weft__scheduler *scheduler)
{
    const char *by = secure_getenv("WEFT_STATE_LOG_BY");
    const char *path = by != NULL && strcmp(by, "gid") == 0 ? NULL /* shards write one */
                                                            : secure_getenv("WEFT_STATE_LOG");
    const char *rows = secure_getenv("WEFT_STATE_LOG_ROWS");
    const weft_log *out = &weft__world_desc(scheduler->world)->log;
    const bool has_order = secure_getenv("WEFT_ORDER") != NULL;
    weft_state_log_desc desc = {.writer.write = write_file, .keeps_graphs = has_order};
    if (path == NULL || path[0] == '\0') return;
    if (rows != NULL && rows[0] != '\0') choose_rows(out, rows, &desc);
    if (weft__hash_log_open(scheduler, &desc) != WEFT_OK) return;
    struct weft__hash_log *log = scheduler->hash_log;
    const weft__os_files *files = weft__os_files_of(weft__world_desc(scheduler->world)->os);
    log->desc.writer.user = log;
    log->result = open_file(files, log, path);
    if (log->result == WEFT_OK) {
        log->files = files;
        if (strcmp(log->path, path) == 0) remove_further(files, path);
        return;
    }
    warn_unwritten(scheduler, log->result, "create", log->path);
}
