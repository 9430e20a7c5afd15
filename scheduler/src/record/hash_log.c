/* SPDX-License-Identifier: MIT */
/* hash_log.c: see hash_log.h. A pass: sums and rows in memory of each worker, merged and written at
 * its end; everything that concerns more than the rows of slices is written by the owner at once:
 * what was reached after its stage, commands before playback, the world at points. */
#include "hash_log.h"

#include "ecs_engine.h"
#include "file_problem.h"
#include "hash.h"
#include "log.h"
#include "os_file.h"
#include "registry.h"
#include "world_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 16, LINE_BYTES = 1024, PATH_BYTES = 4096, WORLDS_MAX = 256 };

/* What one system wrote of one component. A value. */
typedef struct log_sum {
    uint64_t rows, hash;
} log_sum;

/* One row of it. */
typedef struct log_row {
    uint32_t sum; /* index of its log_sum */
    weft_entity entity;
    uint64_t hash;
    char value[WEFT__CELL_TEXT_BYTES];
} log_row;

/* Of one worker, in one pass. Owner: the worker while stages run. */
typedef struct log_worker {
    _Alignas(64) log_sum *sums;
    WEFT__LIST(log_row) rows;
    bool is_starved; /* no memory for a row */
} log_worker;

/* Owner: the scheduler. first_sums[position] is the first sum of a system, for its written terms in
 * order; first_sums[system_count] == sum_count. */
struct weft__hash_log {
    weft_state_log_desc desc;
    weft_result result; /* not OK: it has ended */
    bool is_in_pass, has_rows;
    uint32_t system_count, sum_count;
    uint32_t *first_sums;
    log_worker *workers;
    uint64_t step;               /* of the last pass */
    const weft__os_files *files; /* of the environment's file; NULL: none */
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
    snprintf(copy.text, sizeof copy.text, "%s", name);
    for (char *c = copy.text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
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

/* ---- memory ---- */

static void *take_memory(weft__scheduler *scheduler, uint32_t count, size_t size, size_t alignment)
{
    return weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, count + 1, size, alignment);
}

static void give_memory(weft__scheduler *scheduler, void *memory, uint32_t count, size_t size,
                        size_t alignment)
{
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, memory, count + 1, size, alignment);
}

static void free_sums(weft__scheduler *scheduler, struct weft__hash_log *log)
{
    give_memory(scheduler, log->first_sums, log->system_count, sizeof *log->first_sums, 8);
    log->first_sums = NULL;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        give_memory(scheduler, log->workers[i].sums, log->sum_count, sizeof(log_sum), 8);
        log->workers[i].sums = NULL;
    }
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

static bool writes_grant(const weft__grant *grants, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (grants[i].component == component && grants[i].access == WEFT_WRITE) return true;
    return false;
}

/* Whether a system may write the component elsewhere than in the rows of its slice: a resource, by
 * look-up or by another query, of a chunk, SPARSE. */
static bool reaches(const weft__system *system, uint32_t component)
{
    const weft__lists *lists = &system->lists;
    if (writes_grant(lists->resources, lists->resource_count, component) ||
        writes_grant(lists->lookups, lists->lookup_count, component))
        return true;
    for (uint32_t q = 0; q <= lists->query_count; q++) {
        const bool is_own = q == lists->query_count;
        const weft__query *query =
            is_own ? query_of(system)
                   : weft__query_find(system->context.world, lists->queries[q])->query;
        for (uint32_t i = 0; query != NULL && i < query->term_count; i++) {
            const weft__query_term *term = &query->terms[i];
            if (term->component == component && is_written(term) &&
                (!is_own || term->is_sparse || term->is_chunk_value))
                return true;
        }
    }
    return false;
}

static uint32_t count_written(const weft__system *system)
{
    const weft__query *query = query_of(system);
    uint32_t count = 0;
    for (uint32_t i = 0; query != NULL && i < query->term_count; i++)
        count += is_written(&query->terms[i]) ? 1 : 0;
    return count;
}

/* Room for what the systems of this schedule may write. */
static bool make_sums(weft__scheduler *scheduler, struct weft__hash_log *log)
{
    free_sums(scheduler, log);
    log->system_count = scheduler->ordered_count;
    log->sum_count = 0;
    log->first_sums = take_memory(scheduler, log->system_count, sizeof *log->first_sums, 8);
    if (log->first_sums == NULL) return false;
    for (uint32_t i = 0; i < log->system_count; i++) {
        log->first_sums[i] = log->sum_count;
        log->sum_count += count_written(scheduler->ordered[i]);
    }
    log->first_sums[log->system_count] = log->sum_count;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        log->workers[i].sums = take_memory(scheduler, log->sum_count, sizeof(log_sum), 8);
        if (log->workers[i].sums == NULL) return false;
    }
    return true;
}

/* ---- what systems write ---- */

static void take_rows(weft__scheduler *scheduler, log_worker *worker, const weft_slice *slice,
                      uint32_t component, uint32_t sum)
{
    const struct weft__hash_log *log = scheduler->hash_log;
    const weft_world *world = scheduler->world;
    const weft__chunk *chunk = slice->chunk;
    const uint32_t position = weft__archetype_find(chunk->archetype, component);
    if (position == WEFT__NONE) return;
    const weft_entity *entities = slice->entities;
    const uint32_t base = (uint32_t)(entities - weft__chunk_entities(chunk));
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        for (uint32_t i = begin; i < end; i++) {
            log_row row = {.sum = sum, .entity = weft__entity_plain(world, entities[i])};
            row.hash = weft__cell_hash(world, chunk, base + i, position);
            worker->sums[sum].rows++;
            worker->sums[sum].hash +=
                hash_word(hash_word(HASH_K0, (uint64_t)row.entity.version << 32 | row.entity.index),
                          row.hash);
            if (!log->has_rows) continue;
            weft__cell_text(world, chunk, base + i, position, row.value);
            if (!WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &worker->rows, &row, 1))
                worker->is_starved = true;
        }
    }
}

void weft__hash_log_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system,
                         const weft_slice *slice)
{
    const struct weft__hash_log *log = scheduler->hash_log;
    const weft__query *query = query_of(system);
    if (!log->is_in_pass || query == NULL || slice->count == 0) return;
    uint32_t sum = log->first_sums[system->position];
    for (uint32_t i = 0; i < query->term_count; i++) {
        const weft__query_term *term = &query->terms[i];
        if (!is_written(term)) continue;
        const bool is_elsewhere = log->desc.keeps_graphs ? term->is_sparse || term->is_chunk_value
                                                         : reaches(system, term->component);
        if (!is_elsewhere) take_rows(scheduler, &log->workers[worker], slice, term->component, sum);
        sum++;
    }
}

/* ---- passes ---- */

static void fail(struct weft__hash_log *log, weft_result result)
{
    if (log->result == WEFT_OK) log->result = result;
}

/* The system and the component of a sum. */
static const weft__system *system_of_sum(const weft__scheduler *scheduler, uint32_t sum,
                                         uint32_t *component)
{
    const struct weft__hash_log *log = scheduler->hash_log;
    uint32_t position = 0;
    while (log->first_sums[position + 1] <= sum) position++;
    const weft__system *system = scheduler->ordered[position];
    const weft__query *query = query_of(system);
    uint32_t left = sum - log->first_sums[position], term = 0;
    while (!is_written(&query->terms[term]) || left-- > 0) term++;
    *component = query->terms[term].component;
    return system;
}

static void put_row(struct weft__hash_log *log, const weft__system *system, const weft__type *type,
                    weft_entity entity, uint64_t hash, const char *value)
{
    char name[32] = "-";
    if (entity.version != 0) snprintf(name, sizeof name, "%u:%u", entity.index, entity.version);
    put(log, "R\t%u\t%s\t%s\t%s\t%016" PRIx64 "\t%s", system->position, plain(system->name).text,
        plain(type->desc.name).text, name, hash, value);
}

static void put_rows(weft__scheduler *scheduler, struct weft__hash_log *log)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        log_worker *worker = &log->workers[i];
        if (worker->is_starved) fail(log, WEFT_OUT_OF_MEMORY);
        for (uint32_t k = 0; k < worker->rows.count; k++) {
            const log_row *row = &worker->rows.at[k];
            uint32_t component;
            const weft__system *system = system_of_sum(scheduler, row->sum, &component);
            put_row(log, system, type_of(scheduler->world, component), row->entity, row->hash,
                    row->value);
        }
    }
}

/* ---- what is written elsewhere than in rows of slices ---- */

/* One value of a component, or one for all rows of a chunk, and where it is. */
typedef struct log_cell {
    const weft__type *type;
    weft_entity entity; /* null: of a resource */
    uint64_t hash;
    const char *value; /* NULL: not asked for */
} log_cell;

typedef void log_cell_fn(struct weft__hash_log *log, void *user, const log_cell *cell);

static void take_value(const weft_world *world, struct weft__hash_log *log, log_cell cell,
                       const void *value, log_cell_fn *take, void *user)
{
    char text[WEFT__CELL_TEXT_BYTES];
    cell.hash = weft__value_hash(world, cell.type, value);
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
    if (ref->chunk_offset != WEFT__NONE && chunk->count != 0)
        take_value(world, log,
                   (log_cell){.type = ref->type, .entity = weft__entity_plain(world, entities[0])},
                   chunk->chunk_values + ref->chunk_offset, take, user);
    for (uint32_t row = 0; row < chunk->count && ref->chunk_offset == WEFT__NONE; row++) {
        if (log->has_rows) weft__cell_text(world, chunk, row, position, text);
        take(log, user,
             &(log_cell){ref->type, weft__entity_plain(world, entities[row]),
                         weft__cell_hash(world, chunk, row, position), text});
    }
}

/* Every value of a component, or of all (0), in the world. */
static void take_component(const weft_world *world, struct weft__hash_log *log, uint32_t component,
                           log_cell_fn *take, void *user)
{
    for (uint32_t id = 1; id <= weft__type_count(world); id++) {
        const weft__type *type = type_of(world, id);
        if ((component == 0 || component == id) && type != NULL && type->resource != NULL)
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

/* What one system reached of one component. Owner: the stack of put_reached. */
typedef struct log_reached {
    const weft__system *system;
    log_sum all;
} log_reached;

static void add_reached(struct weft__hash_log *log, void *user, const log_cell *cell)
{
    log_reached *reached = user;
    reached->all.rows++;
    reached->all.hash += hash_word(
        hash_word(HASH_K0, (uint64_t)cell->entity.version << 32 | cell->entity.index), cell->hash);
    if (log->has_rows)
        put_row(log, reached->system, cell->type, cell->entity, cell->hash, cell->value);
}

static void put_sum(struct weft__hash_log *log, const weft_world *world, const weft__system *system,
                    uint32_t component, log_sum sum)
{
    if (sum.rows != 0)
        put(log, "W\t%u\t%s\t%s\t%" PRIu64 "\t%016" PRIx64, system->position,
            plain(system->name).text, plain(type_name(world, component)).text, sum.rows, sum.hash);
}

static void put_value(struct weft__hash_log *log, const char *point, const char *component,
                      weft_entity entity, uint64_t hash, const char *value)
{
    char name[32] = "-";
    if (entity.version != 0) snprintf(name, sizeof name, "%u:%u", entity.index, entity.version);
    put(log, "V\t%s\t%s\t%s\t%016" PRIx64 "\t%s", point, plain(component).text, name, hash, value);
}

static void put_cell(struct weft__hash_log *log, void *user, const log_cell *cell)
{
    put_value(log, user, cell->type->desc.name, cell->entity, cell->hash, cell->value);
}

static void put_names(const weft_world *world, struct weft__hash_log *log, const char *point)
{
    for (uint32_t a = 0; a < weft__archetype_count(world); a++) {
        const weft__archetype *archetype = weft__archetype_numbered(world, a);
        for (uint32_t c = 0; c < archetype->chunk_count; c++) {
            const weft_entity *entities = weft__chunk_entities(archetype->chunks[c]);
            for (uint32_t row = 0; row < archetype->chunks[c]->count; row++) {
                const char *name = weft_entity_name(world, entities[row]);
                if (name[0] != '\0' && (archetype->flags & WEFT__IS_SPARSE) == 0)
                    put_value(log, point, "name", weft__entity_plain(world, entities[row]),
                              hash_string(name), plain(name).text);
            }
        }
    }
}

/* The whole world at a point of the order of effect. */
static void put_point(const weft__scheduler *scheduler, struct weft__hash_log *log, char kind,
                      uint32_t position, const char *name)
{
    weft_world *world = scheduler->world;
    const uint32_t busy = weft__front(world)->busy;
    char point[32];
    weft__front(world)->busy = 0;
    put(log, "%c\t%u\t%s\t%016" PRIx64, kind, position, plain(name).text,
        hash_word(weft_world_hash(world, WEFT_HASH_LAYOUT), weft__names_hash(world)));
    weft__front(world)->busy = busy;
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
        for (uint32_t id = 1; id <= weft__type_count(world); id++) {
            log_reached reached = {.system = system};
            if (log->desc.keeps_graphs || !reaches(system, id)) continue;
            take_component(world, log, id, add_reached, &reached);
            put_sum(log, world, system, id, reached.all);
        }
        if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0)
            put_point(scheduler, log, 'X', system->position, system->name);
    }
}

bool weft__hash_log_needs_stages(const weft__scheduler *scheduler)
{
    return scheduler->hash_log != NULL && !scheduler->hash_log->desc.keeps_graphs;
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
    for (uint32_t i = 0; i < scheduler->worker_count; i++) log->workers[i].rows.count = 0;
    log->is_in_pass = true;
    put(log, "S\t%" PRIu64 "\t%u", step, scheduler->passes_left);
    if (step != log->step) put_point(scheduler, log, 'B', 0, "the host");
    log->step = step;
}

void weft__hash_log_end(weft__scheduler *scheduler)
{
    struct weft__hash_log *log = scheduler->hash_log;
    if (!log->is_in_pass) return;
    log->is_in_pass = false;
    for (uint32_t sum = 0; sum < log->sum_count; sum++) {
        uint32_t component;
        const weft__system *system = system_of_sum(scheduler, sum, &component);
        log_sum all = {0, 0};
        for (uint32_t i = 0; i < scheduler->worker_count; i++) {
            all.rows += log->workers[i].sums[sum].rows;
            all.hash += log->workers[i].sums[sum].hash;
        }
        put_sum(log, scheduler->world, system, component, all);
    }
    if (log->has_rows) put_rows(scheduler, log);
    put_point(scheduler, log, 'E', log->system_count, "the end of the step");
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
                sum += hash_word(hash_word(HASH_K0, (uint64_t)slice << 32 | n), c.hash);
                count++;
                if (log->has_rows)
                    put(log, "K\t%u\t%s\t%u\t%u\t%s\t%s\t%s\t%016" PRIx64, system->position,
                        plain(system->name).text, slice, n, word_of(command->op).text,
                        plain(c.component).text, c.entity, c.hash);
            }
        }
    }
    if (count != 0)
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
    log->workers = take_memory(scheduler, scheduler->worker_count, sizeof *log->workers, 64);
    if (log->workers == NULL) {
        weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, log, 1, sizeof *log, 64);
        return weft__error_memory(scheduler->world, "the state log");
    }
    scheduler->hash_log = log;
    log->step = UINT64_MAX;
    put(log, "weft state log 2");
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
    free_sums(scheduler, log);
    for (uint32_t i = 0; i < scheduler->worker_count; i++)
        WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &log->workers[i].rows);
    give_memory(scheduler, log->workers, scheduler->worker_count, sizeof *log->workers, 64);
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
    char *end;
    uint64_t first = strtoull(rows, &end, 10), last = first;
    bool is_good = end != rows && rows[0] != '-';
    if (is_good && *end == '-') {
        const char *second = end + 1;
        last = strtoull(second, &end, 10);
        is_good = end != second;
    }
    if (is_good && *end == '\0' && first >= 1 && first <= last) {
        desc->rows_first = first;
        desc->rows_last = last;
        return;
    }
    weft__log(out, WEFT_LOG_WARNING,
              "WEFT_STATE_LOG_ROWS=%s is not a step or FIRST-LAST, such as 37 or 30-40 (the first "
              "step is 1): no rows are written",
              rows);
}

/* Opens the first of FILE, FILE.world-2, ... that no other world writes. */
static weft_result open_file(const weft__os_files *files, struct weft__hash_log *log,
                             const char *path)
{
    weft_result result = WEFT_BUSY;
    for (uint32_t i = 1; result == WEFT_BUSY && i <= WORLDS_MAX; i++) {
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

void weft__hash_log_obey(weft__scheduler *scheduler)
{
    const char *path = secure_getenv("WEFT_STATE_LOG");
    const char *rows = secure_getenv("WEFT_STATE_LOG_ROWS");
    const weft_log *out = &weft__world_desc(scheduler->world)->log;
    weft_state_log_desc desc = {.writer.write = write_file};
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
