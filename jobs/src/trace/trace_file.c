/* SPDX-License-Identifier: MIT */
/* trace_file.c: from the rings to the spool while the pool runs, from the spool to the file when it
 * ends (trace_file.h). Draining copies a record and looks its name up; everything that costs more,
 * nesting (trace_nest.c) and the text or protobuf, waits for the end. */
#include "trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "file_problem.h"
#include "hash.h"
#include "list.h"
#include "log.h"
#include "table.h"
#include "trace_nest.h"
#include "trace_spool.h"
#include "trace_window.h"

#define CAPACITY (UINT32_C(1) << 15)
#define RING_BYTES_MAX (UINT64_C(64) << 20)
#define POOLS_MAX 64

/* Owner: the pool. The owner's thread, but what drains: the holder of the lock. Invariants:
 * names.at[0] is none. */
struct weft__trace_file {
    weft__trace_file_desc desc; /* constant after open */
    weft__lock lock;            /* one reader of the rings at a time: guests drain, too */
    const weft__trace_format *format;
    const weft__os_files *files;
    char path[WEFT__TRACE_PATH_MAX + 32];
    uint32_t capacity; /* of the owner's ring; none is larger */
    uint64_t begin_ns, boot_ns;
    WEFT__LIST(char *) names; /* copied when their first event was drained */
    weft__table numbers;      /* of names */
    weft__trace_window window;
    weft__trace_spool spool;
    weft__trace_out out; /* the file */
};

uint32_t weft__trace_file_capacity(uint32_t worker_count)
{
    uint32_t capacity = CAPACITY;
    while (sizeof(weft_job_event) * capacity * worker_count > RING_BYTES_MAX) capacity /= 2;
    return capacity;
}

bool weft__trace_file_is_detailed(const weft__trace_file *file)
{
    return file != NULL && file->format->is_detailed;
}

/* ---- names */

/* The number of a name; 0 when there is none, or no memory. */
static uint32_t intern(weft__trace_file *file, const char *text)
{
    weft__memory *memory = file->desc.memory;
    if (text == NULL || text[0] == '\0') return 0;
    uint32_t hash = (uint32_t)hash_string(text), step = 0, number;
    while ((number = weft__table_next(&file->numbers, hash, &step)) != 0)
        if (strcmp(file->names.at[number], text) == 0) return number;
    size_t bytes = strlen(text) + 1;
    number = file->names.count;
    if (!WEFT__LIST_ROOM(memory, WEFT__MEMORY_JOBS, &file->names, number + 1) ||
        !weft__table_room(memory, WEFT__MEMORY_JOBS, &file->numbers, number))
        return 0;
    char *copy = weft__alloc(memory, WEFT__MEMORY_JOBS, bytes, 1, 1);
    if (copy == NULL) return 0;
    file->names.at[file->names.count++] = memcpy(copy, text, bytes);
    weft__table_put(&file->numbers, hash, number);
    return number;
}

static void free_names(weft__trace_file *file)
{
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    for (uint32_t i = 1; i < file->names.count; i++)
        weft__free(file->desc.memory, jobs, file->names.at[i], strlen(file->names.at[i]) + 1, 1, 1);
    WEFT__LIST_FREE(file->desc.memory, jobs, &file->names);
    weft__table_free(file->desc.memory, jobs, &file->numbers);
}

/* ---- opening */

static const weft__trace_format *format_of(const char *path)
{
    static const weft__trace_format *const formats[] = {&weft__trace_perfetto, &weft__trace_slices};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(ending, formats[i]->ending) == 0) return formats[i];
    return NULL;
}

/* What is in the way may be of another kind than a regular file: then that is told. */
static weft_result open_failed(const weft__trace_file *file, weft_result result, const char *path,
                               weft__file_problem *problem)
{
    char place[WEFT__TRACE_PATH_MAX + 64];
    weft__os_kind kind;
    weft__file_failed(problem, result, "create the trace", path);
    if (result != WEFT_IO) return result;
    bool is_known =
        file->files->locate(file->files->user, path, place, sizeof place, &kind) == WEFT_OK;
    if (is_known && kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        weft__file_refused(problem, kind, "write a trace to", path);
    return result;
}

/* Opens the first of FILE, FILE-2, ... that no other pool writes. */
static weft_result open_output(weft__trace_file *file, const char *path,
                               weft__file_problem *problem)
{
    int stem = (int)(strrchr(path, '.') - path);
    weft_result result = WEFT_BUSY;
    for (uint32_t i = 1; i <= POOLS_MAX && result == WEFT_BUSY; i++) {
        if (i == 1)
            snprintf(file->path, sizeof file->path, "%s", path);
        else
            snprintf(file->path, sizeof file->path, "%.*s-%u%s", stem, path, i, path + stem);
        errno = 0;
        result = file->files->open_write(file->files->user, file->path, &file->out.file);
    }
    return result == WEFT_OK ? WEFT_OK : open_failed(file, result, path, problem);
}

static weft_result open_files(weft__trace_file *file, const char *path, weft__file_problem *problem)
{
    weft_result result = open_output(file, path, problem);
    if (result != WEFT_OK) return result;
    result = weft__trace_spool_open(&file->spool, file->files, file->path, file->window.spool_bytes,
                                    file->window.last_ns);
    if (result == WEFT_OK) return WEFT_OK;
    open_failed(file, result, file->spool.parts[0].path, problem);
    file->files->remove(file->files->user, file->path);
    file->files->close(file->files->user, file->out.file);
    return result;
}

static void free_file(weft__trace_file *file)
{
    weft__memory *memory = file->desc.memory;
    free_names(file);
    weft__free(memory, WEFT__MEMORY_JOBS, file, 1, sizeof *file, 64);
}

static uint64_t boot_time_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

weft_result weft__trace_file_open(const weft__trace_file_desc *desc, weft__file_problem *problem,
                                  weft__trace_file **out)
{
    const weft__trace_format *format = format_of(desc->path);
    if (format == NULL || strlen(desc->path) > WEFT__TRACE_PATH_MAX) {
        snprintf(problem->text, sizeof problem->text,
                 "the name must end in .pftrace or .slices, and have at most %d bytes",
                 WEFT__TRACE_PATH_MAX);
        return WEFT_INVALID_ARGUMENT;
    }
    snprintf(problem->text, sizeof problem->text, "out of memory");
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    weft__trace_file *file = weft__alloc_zeroed(desc->memory, jobs, 1, sizeof *file, 64);
    if (file == NULL) return WEFT_OUT_OF_MEMORY;
    file->desc = *desc;
    file->desc.path = file->path;
    file->format = format;
    file->files = file->out.files = weft__os_files_of(desc->os);
    const char *mistake = weft__trace_window_init(&file->window);
    if (mistake != NULL) weft__log(desc->log, WEFT_LOG_WARNING, "%s: it is not used", mistake);
    file->capacity = weft__trace_capacity(desc->ring_of(desc->user, 0));
    weft__lock_init(&file->lock, desc->os);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (WEFT__LIST_REACH(desc->memory, WEFT__MEMORY_JOBS, &file->names, 1)) {
        result = open_files(file, desc->path, problem);
    }
    if (result != WEFT_OK) {
        free_file(file);
        return result;
    }
    file->begin_ns = desc->os->clock_ns(desc->os->user);
    file->boot_ns = boot_time_ns();
    *out = file;
    return WEFT_OK;
}

/* ---- draining */

static void drain_ring(weft__trace_file *file, uint32_t row)
{
    weft_job_event event;
    weft__trace_ring *ring = file->desc.ring_of(file->desc.user, row);
    if (ring == NULL) return;
    /* At most what the ring holds: a worker that writes as fast as we read must not keep us. */
    for (uint32_t i = 0; i < file->capacity && weft__trace_read(ring, &event); i++) {
        weft__trace_window_see(&file->window, &event);
        if (!weft__trace_window_has(&file->window, event.time_ns)) continue;
        weft__trace_record record = {.time_ns = event.time_ns,
                                     .name = intern(file, event.name),
                                     .value = event.value,
                                     .kind = event.kind,
                                     .worker = event.worker};
        weft__trace_spool_add(&file->spool, &record);
    }
}

void weft__trace_file_drain(weft__trace_file *file)
{
    weft__lock_lock(&file->lock);
    /* first who steps worlds: its spans of frames are the window (trace_window.h) */
    drain_ring(file, 0);
    for (uint32_t i = file->desc.worker_count; i < file->desc.row_limit; i++) drain_ring(file, i);
    for (uint32_t i = 1; i < file->desc.worker_count; i++) drain_ring(file, i);
    weft__lock_unlock(&file->lock);
}

void weft__trace_file_count(weft__trace_file *file, weft__trace_ring *ring)
{
    if (++ring->undrained <= weft__trace_capacity(ring) / 2) return;
    ring->undrained = 0;
    weft__trace_file_drain(file);
}

/* ---- writing */

/* The owner's program has ended its pool: no call is left that could tell it. */
static void report_incomplete(const weft__trace_file *file, weft_result result)
{
    weft__file_problem problem;
    const weft__trace_spool *spool = &file->spool;
    const bool is_spool = spool->out.result != WEFT_OK;
    errno = is_spool ? spool->out.reason : file->out.reason;
    weft__file_failed(&problem, is_spool ? spool->out.result : result, "write",
                      is_spool ? spool->parts[spool->current].path : file->path);
    weft__log(file->desc.log, WEFT_LOG_WARNING, "the trace %s is incomplete: %s", file->path,
              problem.text);
}

/* Events that found a ring full. */
static uint64_t lost_of(const weft__trace_file *file)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < file->desc.row_limit; i++) {
        weft__trace_ring *ring = file->desc.ring_of(file->desc.user, i);
        if (ring != NULL) lost += at_load_rlx(&ring->x_dropped); /* relaxed: all have ended */
    }
    return lost;
}

/* Rows that were used, and those before them. */
static uint32_t count_rows(const weft__trace_file *file)
{
    uint32_t count = file->desc.row_limit;
    while (count > file->desc.worker_count &&
           file->desc.ring_of(file->desc.user, count - 1) == NULL)
        count--;
    return count;
}

/* What is not in the file although nothing failed. */
static void report_cut(const weft__trace_file *file)
{
    const weft__trace_window *window = &file->window;
    if (window->begin_ns == UINT64_MAX)
        weft__log(file->desc.log, WEFT_LOG_WARNING,
                  "the trace %s is empty: frame %llu (WEFT_TRACE_FRAMES) was not reached",
                  file->path, (unsigned long long)window->first_frame);
    if (file->spool.cut != 0 && window->last_ns == 0)
        weft__log(file->desc.log, WEFT_LOG_WARNING,
                  "the trace %s has the last events only, %llu did not fit into %llu MB: "
                  "WEFT_TRACE_MB",
                  file->path, (unsigned long long)file->spool.cut,
                  (unsigned long long)window->spool_bytes / 1000000u);
}

static weft_result write_events(weft__trace_file *file, const weft__trace_info *info,
                                weft__trace_stack *stacks, weft__trace_record *records)
{
    weft__trace_nest nest = {file->format, &file->out, info, stacks};
    file->format->begin(&file->out, info);
    weft_result result =
        weft__trace_spool_read(&file->spool, records, weft__trace_nest_take, &nest);
    weft__trace_nest_end(&nest);
    file->format->end(&file->out, info);
    weft__trace_out_flush(&file->out);
    return result;
}

/* Closes the file. */
static void write_file(weft__trace_file *file)
{
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    uint32_t rows = count_rows(file);
    const weft__trace_info info = {.names = file->names.at,
                                   .name_count = file->names.count,
                                   .worker_count = file->desc.worker_count,
                                   .row_count = rows,
                                   .process = weft__os_process(),
                                   .thread_of = file->desc.thread_of,
                                   .name_of = file->desc.name_of,
                                   .user = file->desc.user,
                                   .begin_ns = file->begin_ns,
                                   .boot_ns = file->boot_ns,
                                   .lost = lost_of(file)};
    weft__trace_stack *stacks =
        weft__alloc_zeroed(file->desc.memory, jobs, rows, sizeof *stacks, 8);
    weft__trace_record *records =
        weft__alloc(file->desc.memory, jobs, WEFT__TRACE_READ_RECORDS, sizeof *records, 8);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (stacks != NULL && records != NULL) result = write_events(file, &info, stacks, records);
    weft__free(file->desc.memory, jobs, records, WEFT__TRACE_READ_RECORDS, sizeof *records, 8);
    weft__free(file->desc.memory, jobs, stacks, rows, sizeof *stacks, 8);
    if (result == WEFT_OK) result = file->out.result;
    errno = 0;
    weft_result closed = file->files->close(file->files->user, file->out.file);
    if (result == WEFT_OK && closed != WEFT_OK) {
        result = closed;
        file->out.reason = errno;
    }
    weft__trace_spool_close(&file->spool, true); /* only this file could have read it */
    if (result == WEFT_OK)
        report_cut(file);
    else
        report_incomplete(file, result);
}

void weft__trace_file_close(weft__trace_file *file)
{
    weft__trace_file_drain(file);
    write_file(file);
    free_file(file);
}

void weft__trace_file_leave(weft__trace_file *file, bool is_removed)
{
    if (is_removed) file->files->remove(file->files->user, file->path);
    file->files->close(file->files->user, file->out.file);
    weft__trace_spool_close(&file->spool, is_removed);
    free_file(file);
}
