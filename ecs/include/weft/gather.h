/* SPDX-License-Identifier: MIT */
/* gather.h: gathers: copies of what a query selects, made by jobs while the owner does other work,
 * and written back after they were changed.
 *
 *   weft_gather g;
 *   weft_gather_begin(world, query, &(weft_gather_desc){.component = position}, &g);
 *   ... other work, other gathers, jobs that come after g.job ...
 *   weft_gather_wait(&g);
 *   float *values; uint64_t count;
 *   weft_gather_values(&g, (void **)&values, &count);
 *   ... change them ...
 *   weft_gather_scatter(&g);
 *   weft_gather_end(&g);
 *
 * Public. The job counts the rows that filters and enable bits select; the count is known when
 * it has ended. From begin to end the world may only be read: structural changes, steps, loops
 * that write and write access are refused (WRONG_PHASE), and so are weft_world_hash, _validate
 * and _save. Several gathers may be open at once. weft_query_read_values copies without a job. */
#ifndef WEFT_GATHER_H
#define WEFT_GATHER_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- gathers ---- */

/* Describes a gather. Zero means default. */
typedef struct weft_gather_desc {
    weft_component component; /* of the query, with plain values of fixed size */
    bool gathers_entities;    /* entity handles instead of a component's values */
    void *values; /* memory for the copy, which must stay until weft_gather_end; NULL: memory of
                     the world's allocator, freed by weft_gather_end */
    uint64_t capacity; /* values that fit `values`: at least the rows of the query, with filters
                          and enable bits ignored */
} weft_gather_desc;

/* A gather; owned by the caller, must not move from begin to end. */
typedef struct weft_gather {
    weft_job_handle job; /* the job that copies: jobs that use the values name it in
                            weft_job_desc.after */
    void *state;         /* private; NULL: not open */
} weft_gather;

/* Starts to copy on the world's pool and returns. A thread that did not create the pool copies
 * before it returns; out->job is null then, which counts as done. Rows are in query order. On
 * failure `out` is not open. Threads: owner. Errors: BAD_HANDLE, INVALID_ARGUMENT (not a
 * component of the query; too little memory: the text says how much is needed), TYPE_MISMATCH
 * (tag, shared, buffer, chunk value), WRONG_PHASE (the world is stepped, also by an
 * EXCLUSIVE system, or iterated), BUSY (another thread is in the world), LIMIT (511 are open,
 * 256 guests are in the pool), OUT_OF_MEMORY, POOL_FULL, FORKED. */
WEFT_API weft_result weft_gather_begin(weft_world *world, weft_query query,
                                       const weft_gather_desc *desc, weft_gather *out);

/* Waits until the copy is complete, and runs other jobs meanwhile. Threads: owner. Errors:
 * BAD_HANDLE (not open), CANCELLED (by weft_job_cancel), WOULD_NEST (inside a job of the pool:
 * use a job after gather->job instead), WRONG_THREAD (the thread that created the pool began it,
 * another waits). */
WEFT_API weft_result weft_gather_wait(const weft_gather *gather);

/* The copy, and how many values it has. The values may be changed in place. Valid until
 * weft_gather_end. Threads: any while unchanged; in jobs after gather->job. Errors, with *values
 * NULL and *count 0:
 * BAD_HANDLE, WRONG_PHASE (the job has not ended: weft_gather_wait, or a job after it), CANCELLED.
 * Errors in a job do not become the world's last error. */
WEFT_API weft_result weft_gather_values(const weft_gather *gather, void **values, uint64_t *count);

/* Writes the values back to the rows they came from, on the pool, and stamps the change versions
 * of their slices. Waits for other gathers that still copy. May be called again. Types with a
 * destruct hook are copied by gathers but not written back, since a copy of the bytes owns
 * nothing: weft_query_write_values replaces such values. Threads: owner. Errors: as
 * weft_gather_values; WRONG_PHASE while a query is iterated; TYPE_MISMATCH (entity handles, a
 * type with a destruct hook; nothing is written); WOULD_NEST (inside a job), WRONG_THREAD
 * (another gather still copies and this thread cannot wait for it). */
WEFT_API weft_result weft_gather_scatter(const weft_gather *gather);

/* Waits for the copy and closes the gather. The world may be changed again when no gather is
 * open. A gather that is not open, and NULL, are ignored. Threads: owner. Errors (the gather
 * stays open): WOULD_NEST, WRONG_THREAD, as weft_gather_wait. */
WEFT_API weft_result weft_gather_end(weft_gather *gather);

#ifdef __cplusplus
}
#endif
#endif
