/* SPDX-License-Identifier: MIT */
/* world_file.c: weft_world_save, weft_world_load and their forms for memory and streams: the bytes
 * of world_file_write.c and world_file_read.c to and from where they are kept. */
#include "error.h"
#include "file_problem.h"
#include "file_replace.h"
#include "lent.h"
#include "load_refusal.h"
#include "os_file.h"
#include "sized.h"
#include "world_file_format.h"
#include "world_file_read.h"
#include "world_file_write.h"

#include <stdio.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
#define PIECE_BYTES ((size_t)1 << 20) /* that a writer gets at once */
#define FIRST_BYTES ((size_t)1 << 16) /* that a stream may ask for before it has sent any */

/* ---- save ---- */

/* `is_given`: whatever the bytes go to is there. */
static weft_result save(weft_world *world, bool is_given, const weft_save_desc *desc,
                        const char *what, weft_world_bytes *out)
{
    static const weft_save_desc everything;
    if (desc == NULL) desc = &everything;
    if (!is_given || (desc->without_count != 0 && desc->without == NULL))
        return weft__error_argument(world, what,
                                    "path, writer or out is NULL, or desc->without is NULL but its "
                                    "count is not 0: set them");
    weft_result result = weft__between_steps(world, what); /* in one, timers are on their way */
    if (result == WEFT_OK) result = weft__lent_refuse(world, what);
    if (result != WEFT_OK) return result;
    weft__callback_begin(world); /* save hooks */
    result = weft__world_write(world, desc, out);
    weft__callback_end(world);
    return result;
}

/* The reason of the system, and what to do about files of another kind. */
static weft_result file_error(const weft_world *world, weft_result result, const char *what,
                              const weft__file_problem *problem)
{
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", what,
                       problem->text);
}

weft_result weft_world_save(weft_world *world, const char *path, const weft_save_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_world_bytes bytes;
    weft__file_problem problem;
    weft_result result = save(world, path != NULL, desc, "weft_world_save", &bytes);
    if (result != WEFT_OK) return result;
    weft__file_piece piece = {bytes.bytes, bytes.count};
    result = weft__file_replace(world->desc.os, path, &piece, 1, &problem);
    weft_world_bytes_free(world, &bytes);
    return result == WEFT_OK ? WEFT_OK : file_error(world, result, "weft_world_save", &problem);
}

weft_result weft_world_save_memory(weft_world *world, weft_world_bytes *out,
                                   const weft_save_desc *desc)
{
    if (out != NULL) *out = (weft_world_bytes){0};
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    return save(world, out != NULL, desc, "weft_world_save_memory", out);
}

weft_result weft_world_save_stream(weft_world *world, const weft_writer *writer,
                                   const weft_save_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_world_bytes bytes;
    const bool is_given = writer != NULL && writer->write != NULL;
    weft_result result = save(world, is_given, desc, "weft_world_save_stream", &bytes);
    if (result != WEFT_OK) return result;
    size_t at = 0;
    weft__callback_begin(world);
    while (at < bytes.count && result == WEFT_OK) {
        size_t left = bytes.count - at, count = left < PIECE_BYTES ? left : PIECE_BYTES;
        result = writer->write(writer->user, bytes.bytes + at, count);
        if (result == WEFT_OK) at += count;
    }
    weft__callback_end(world);
    if (result != WEFT_OK)
        weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_save_stream: the writer returned %s after %zu of %zu bytes",
                    weft_result_name(result), at, bytes.count);
    weft_world_bytes_free(world, &bytes);
    return result;
}

/* ---- load ---- */

static const weft_load_desc no_blobs;

/* What can be refused before a byte is read. */
static weft_result load_begin(weft_world *world, bool is_given, const weft_load_desc *desc,
                              const char *what)
{
    if (!weft__load_report_is_given(desc->report, desc->report_bytes))
        return weft__error_argument(world, what,
                                    "desc->report_bytes is 0: give sizeof *desc->report");
    if (!is_given || (desc->blob_type_count != 0 && desc->blob_types == NULL))
        return weft__error_argument(world, what,
                                    "path, reader or bytes is NULL, or desc->blob_types is NULL "
                                    "but its count is not 0: set them");
    bool is_right = (desc->rename_count == 0 || desc->renames != NULL) &&
                    (desc->migration_count == 0 || desc->migrations != NULL);
    for (uint32_t i = 0; i < desc->rename_count && is_right; i++)
        is_right = desc->renames[i].type != NULL && desc->renames[i].to != NULL;
    for (uint32_t i = 0; i < desc->migration_count && is_right; i++)
        is_right = desc->migrations[i].type != NULL && desc->migrations[i].migrate != NULL;
    if (!is_right)
        return weft__error_argument(world, what,
                                    "a rename of desc lacks type or to, a migration type or "
                                    "migrate, or a list is NULL but its count is not 0: set them");
    return weft__between_steps(world, what);
}

static weft_result size_check(const weft_world *world, const weft_load_desc *desc, uint64_t bytes,
                              const char *what, weft_load_report *report)
{
    if (desc->bytes_max == 0 || bytes <= desc->bytes_max) return WEFT_OK;
    report->found = bytes;
    report->expected = desc->bytes_max;
    return weft__error(
        world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "%s: %llu bytes, weft_load_desc.bytes_max allows %llu: raise it if the source is trusted",
        what, (unsigned long long)bytes, (unsigned long long)desc->bytes_max);
}

/* What happened to the caller's report. Returns `result`. */
static weft_result report_give(const weft_world *world, const weft_load_desc *desc,
                               weft_load_report *report, weft_result result)
{
    if (desc->report == NULL) return result;
    if (report->reason == WEFT_LOAD_NOT_REFUSED) report->reason = weft__load_reason(result);
    report->result = result;
    const char *text = "";
    if (result != WEFT_OK)
        text = world == NULL || result == WEFT_BUSY ? weft_result_text(result)
                                                    : weft_world_error(world)->text;
    snprintf(report->text, sizeof report->text, "%s", text);
    weft__sized_fill(desc->report, desc->report_bytes, report, sizeof *report);
    return result;
}

static weft_result load_file(weft_world *world, weft__file_source *source,
                             const weft_load_desc *desc, weft_load_report *report)
{
    const size_t count = source->bytes;
    weft_result result = size_check(world, desc, count, "weft_world_load", report);
    if (result != WEFT_OK) return result;
    char *bytes = weft__alloc(&world->memory, CATEGORY, count + 1, 1, 16);
    if (bytes == NULL) return weft__error_memory(world, "weft_world_load");
    result = weft__file_read(source, bytes, count, 0);
    result = result == WEFT_OK ? weft__world_read(world, bytes, count, desc, true, report)
                               : file_error(world, result, "weft_world_load", &source->problem);
    weft__free(&world->memory, CATEGORY, bytes, count + 1, 1, 16);
    return result;
}

static weft_result load_path(weft_world *world, const char *path, const weft_load_desc *desc,
                             weft_load_report *report)
{
    weft__file_source source;
    weft_result result = load_begin(world, path != NULL, desc, "weft_world_load");
    if (result != WEFT_OK) return result;
    result = weft__file_open(world->desc.os, path, &source);
    if (result != WEFT_OK) return file_error(world, result, "weft_world_load", &source.problem);
    result = load_file(world, &source, desc, report);
    weft__file_close(&source);
    return result;
}

weft_result weft_world_load(weft_world *world, const char *path, const weft_load_desc *desc)
{
    weft_load_report report = {0};
    if (desc == NULL) desc = &no_blobs;
    weft_result result =
        world == NULL ? WEFT_INVALID_ARGUMENT : load_path(world, path, desc, &report);
    return report_give(world, desc, &report, result);
}

static weft_result load_bytes(weft_world *world, const void *bytes, size_t count,
                              const weft_load_desc *desc, weft_load_report *report)
{
    static const char what[] = "weft_world_load_memory";
    weft_result result = load_begin(world, bytes != NULL || count == 0, desc, what);
    if (result == WEFT_OK) result = size_check(world, desc, count, what, report);
    if (result != WEFT_OK) return result;
    return weft__world_read(world, bytes == NULL ? "" : bytes, count, desc, true, report);
}

weft_result weft_world_load_memory(weft_world *world, const void *bytes, size_t count,
                                   const weft_load_desc *desc)
{
    weft_load_report report = {0};
    if (desc == NULL) desc = &no_blobs;
    weft_result result =
        world == NULL ? WEFT_INVALID_ARGUMENT : load_bytes(world, bytes, count, desc, &report);
    return report_give(world, desc, &report, result);
}

/* ---- streams ---- */

/* One load from a stream. On the stack of weft_world_load_stream. */
typedef struct stream {
    weft_world *world;
    const weft_reader *reader;
    weft_load_report *report;
    char *bytes;
    size_t count, capacity;
} stream;

static bool stream_grow(stream *s, size_t capacity)
{
    void *bytes =
        weft__realloc(&s->world->memory, CATEGORY, s->bytes, s->capacity, capacity, 1, 16);
    if (bytes == NULL) {
        weft__error_memory(s->world, "weft_world_load_stream");
        return false;
    }
    s->bytes = bytes;
    s->capacity = capacity;
    return true;
}

/* Notes a reason at the end of what has arrived; `expected` bytes, or 0. */
static void stream_note(const stream *s, weft_load_reason reason, uint64_t expected)
{
    s->report->reason = reason;
    s->report->offset = s->count;
    s->report->found = expected == 0 ? 0 : s->count;
    s->report->expected = expected;
}

/* Reads until `end` bytes are there. Memory at most doubles what has arrived. */
static weft_result stream_read(stream *s, uint64_t end)
{
    while (s->count < end) {
        size_t got = 0, doubled = s->capacity == 0 ? FIRST_BYTES : 2 * s->capacity;
        if (s->count == s->capacity && !stream_grow(s, doubled)) return WEFT_OUT_OF_MEMORY;
        size_t room = s->capacity - s->count;
        size_t wanted = end - s->count < room ? (size_t)(end - s->count) : room;
        weft__callback_begin(s->world);
        weft_result result = s->reader->read(s->reader->user, s->bytes + s->count, wanted, &got);
        weft__callback_end(s->world);
        if (result != WEFT_OK) {
            stream_note(s, WEFT_LOAD_SOURCE, 0);
            return weft__error(s->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                               "weft_world_load_stream: the reader returned %s after %zu bytes",
                               weft_result_name(result), s->count);
        }
        if (got == 0) {
            stream_note(s, WEFT_LOAD_TRUNCATED, end);
            return weft__error(
                s->world, WEFT_CORRUPT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "weft_world_load_stream: the stream ends after %zu bytes of %llu: send all of them",
                s->count, (unsigned long long)end);
        }
        if (got > wanted) {
            stream_note(s, WEFT_LOAD_SOURCE, 0);
            return weft__error_argument(
                s->world, "weft_world_load_stream",
                "the reader reported more bytes than its capacity: report what was written");
        }
        s->count += got;
    }
    return WEFT_OK;
}

static weft_result load_stream(weft_world *world, const weft_reader *reader,
                               const weft_load_desc *desc, weft_load_report *report)
{
    static const char what[] = "weft_world_load_stream";
    weft_result result = load_begin(world, reader != NULL && reader->read != NULL, desc, what);
    if (result != WEFT_OK) return result;
    stream s = {.world = world, .reader = reader, .report = report};
    weft__world_header header;
    uint64_t end = 0;
    result = stream_read(&s, sizeof header);
    if (result == WEFT_OK) {
        memcpy(&header, s.bytes, sizeof header);
        result = weft__world_size(world, &header, &end, report);
    }
    if (result == WEFT_OK) result = size_check(world, desc, end, what, report);
    if (result == WEFT_OK) result = stream_read(&s, end);
    if (result == WEFT_OK) result = weft__world_read(world, s.bytes, s.count, desc, true, report);
    weft__free(&world->memory, CATEGORY, s.bytes, s.capacity, 1, 16);
    return result;
}

weft_result weft_world_load_stream(weft_world *world, const weft_reader *reader,
                                   const weft_load_desc *desc)
{
    weft_load_report report = {0};
    if (desc == NULL) desc = &no_blobs;
    weft_result result =
        world == NULL ? WEFT_INVALID_ARGUMENT : load_stream(world, reader, desc, &report);
    return report_give(world, desc, &report, result);
}
