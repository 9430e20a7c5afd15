/* SPDX-License-Identifier: MIT */
/* trace_spool.c: records appended to one of two files (trace_spool.h).
 *
 * A part that is given up is opened again, which empties it; the other one is the older half then.
 * Nothing is read before the end. */
#include "trace_spool.h"

#include <errno.h>
#include <stdio.h>

weft_result weft__trace_spool_open(weft__trace_spool *spool, const weft__os_files *files,
                                   const char *path, uint64_t bytes, uint64_t last_ns)
{
    spool->files = spool->out.files = files;
    spool->limit = bytes / 2 / sizeof(weft__trace_record);
    spool->last_ns = last_ns;
    snprintf(spool->parts[0].path, sizeof spool->parts[0].path, "%s.raw", path);
    snprintf(spool->parts[1].path, sizeof spool->parts[1].path, "%s.old.raw", path);
    errno = 0;
    weft_result result = files->open_write(files->user, spool->parts[0].path, &spool->out.file);
    spool->is_open = result == WEFT_OK;
    return result;
}

/* Goes on in the other file, whose records are given up. */
static void turn(weft__trace_spool *spool)
{
    weft__trace_out *out = &spool->out;
    weft__trace_out_flush(out);
    if (out->result != WEFT_OK) return;
    spool->current ^= 1;
    weft__trace_part *part = &spool->parts[spool->current];
    spool->cut += part->count;
    part->count = 0;
    spool->files->close(spool->files->user, out->file);
    errno = 0;
    out->result = spool->files->open_write(spool->files->user, part->path, &out->file);
    out->reason = errno;
    spool->is_open = out->result == WEFT_OK;
}

void weft__trace_spool_add(weft__trace_spool *spool, const weft__trace_record *record)
{
    const weft__trace_part *part = &spool->parts[spool->current];
    bool is_old = spool->last_ns != 0 && part->count != 0 &&
                  record->time_ns > part->begin_ns + spool->last_ns;
    if (part->count >= spool->limit || is_old) turn(spool);
    weft__trace_part *now = &spool->parts[spool->current];
    if (now->count++ == 0) now->begin_ns = record->time_ns;
    if (record->time_ns > spool->newest_ns) spool->newest_ns = record->time_ns;
    weft__trace_out_bytes(&spool->out, record, sizeof *record);
}

static weft_result read_part(weft__trace_spool *spool, const weft__trace_part *part,
                             weft__trace_record *records,
                             void (*take)(void *user, const weft__trace_record *record), void *user)
{
    const weft__os_files *files = spool->files;
    weft__os_file file;
    uint64_t bytes, oldest = 0;
    if (spool->last_ns != 0 && spool->newest_ns > spool->last_ns)
        oldest = spool->newest_ns - spool->last_ns;
    weft_result result = files->open_read(files->user, part->path, &file, &bytes);
    if (result != WEFT_OK) return result;
    for (uint64_t at = 0; at < part->count && result == WEFT_OK; at += WEFT__TRACE_READ_RECORDS) {
        uint64_t left = part->count - at;
        uint32_t count =
            left < WEFT__TRACE_READ_RECORDS ? (uint32_t)left : WEFT__TRACE_READ_RECORDS;
        result =
            files->read(files->user, file, records, count * sizeof *records, at * sizeof *records);
        for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
            if (records[i].time_ns >= oldest) take(user, &records[i]);
    }
    files->close(files->user, file);
    return result;
}

weft_result weft__trace_spool_read(weft__trace_spool *spool, weft__trace_record *records,
                                   void (*take)(void *user, const weft__trace_record *record),
                                   void *user)
{
    weft_result result = WEFT_OK;
    weft__trace_out_flush(&spool->out);
    if (spool->out.result != WEFT_OK) return spool->out.result;
    for (uint32_t i = 1; i <= 2 && result == WEFT_OK; i++) {
        const weft__trace_part *part = &spool->parts[(spool->current + i) & 1];
        if (part->count != 0) result = read_part(spool, part, records, take, user);
    }
    return result;
}

void weft__trace_spool_close(weft__trace_spool *spool, bool is_removed)
{
    const weft__os_files *files = spool->files;
    if (spool->is_open) files->close(files->user, spool->out.file);
    for (uint32_t i = 0; i < 2 && is_removed; i++) {
        bool was_used = i == 0 || spool->parts[1].count != 0 || spool->cut != 0;
        if (was_used) files->remove(files->user, spool->parts[i].path);
    }
}
