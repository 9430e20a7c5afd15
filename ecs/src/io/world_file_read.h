/* SPDX-License-Identifier: MIT */
/* world_file_read.h: one load of a world file: what world_file_read.c (bytes, header, types,
 * blobs, names, resources) and world_file_rows.c (archetypes, chunks, rows, dead indices) share.
 * The bytes are untrusted: nothing is read but through `in`, which knows where they end. */
#ifndef WEFT_WORLD_FILE_READ_H
#define WEFT_WORLD_FILE_READ_H

#include "bytes.h"
#include "evolution.h"
#include "world_file_format.h"
#include "world_runs.h"

/* On the stack of weft__world_read; owner of the world, which is new. The first failure is kept:
 * everything after it reads zeroes. */
typedef struct weft__world_reader {
    weft_world *world;
    const char *start;
    weft__in in; /* what may be read now; short from the first failure on */
    const weft_load_desc *desc;
    weft__world_header header;
    weft_result result;
    weft_load_report *report; /* why it is not WEFT_OK */
    const weft__type **types; /* [number in the file] */
    uint32_t *relations;      /* [number in the file] weft__relation_word */
    uint32_t type_count, type_limit;
    weft__evolution *evolutions; /* [number in the file]; those that are needed */
    uint32_t evolution_count;    /* of these */
    bool is_reshaped;     /* rows of a type have another size: chunks cannot be as they were */
    char **resources;     /* [number in the file]: read, not yet the world's; NULL: none */
    weft_blob_ref *blobs; /* [number in the file] */
    bool *is_kept;        /* [number in the file]: the store keeps the reference */
    uint32_t blob_count, blob_limit;
    weft__run_list runs;
    const weft__type *type; /* of the value whose BLOB fields are visited */
} weft__world_reader;

/* Keeps the first failure: `check` says which. Returns false. */
bool weft__world_reader_fail(weft__world_reader *r, weft_load_reason reason, const char *check);
/* The same when the world's error is set already. */
bool weft__world_reader_failed(weft__world_reader *r);
/* A component that cannot be loaded: `why` goes behind its name. Returns false. */
bool weft__world_reader_type_differs(weft__world_reader *r, weft_load_reason reason,
                                     const char *name, const char *why);
/* Whether nothing failed: bytes that end too early are a failure, too. */
static inline bool weft__world_reader_ok(weft__world_reader *r)
{
    return !r->in.is_short || weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "");
}
/* A count of things that take at least `bytes` each; 0 when there is no room for them. */
uint32_t weft__world_reader_count(weft__world_reader *r, size_t bytes);
/* Bytes that a value of the type, or an element, has in the file. */
size_t weft__world_reader_bytes(const weft__world_reader *r, const weft__type *type);
/* One value (of a buffer: element) of zeroed, or with hooks constructed, memory. */
bool weft__world_reader_value(weft__world_reader *r, const weft__type *type, char *value,
                              size_t bytes);

/* Fills a new world. Without the hash: for fuzzing, which must get past it. Error and report (may
 * be NULL) set; its text is that of the error. */
weft_result weft__world_read(weft_world *world, const void *bytes, size_t count,
                             const weft_load_desc *desc, bool with_hash, weft_load_report *report);

#endif
