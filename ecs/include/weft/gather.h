/* gather.h: copies of what a query selects, made by jobs while the owner does something else, and
 * written back after it changed them.
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
 * Public. How many rows pass filters and enable bits is found by the job: the count is there when
 * it has ended, not before. From begin to end the world may only be read: structural changes,
 * steps, loops that write and write access are refused (WRONG_PHASE), so that the rows stay the
 * rows; so are weft_world_hash, _validate and _save. Several gathers may be open at once. For a
 * copy made at once see weft_query_read_values. */
#ifndef WEFT_GATHER_H
#define WEFT_GATHER_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default. */
typedef struct weft_gather_desc {
    weft_component component; /* of the query, with plain values of fixed size */
    bool entities;            /* entity handles instead of a component's values */
    void *values; /* room for the copy, the caller's until weft_gather_end; NULL: taken from the
                          allocator of the world and given back by weft_gather_end */
    uint64_t capacity; /* values that fit: at least the rows of the query before filters and enable
                          bits, as it is not known yet how many will pass */
} weft_gather_desc;

/* Owned by the caller; must not move from begin to end. */
typedef struct weft_gather {
    weft_job_handle job; /* the copying: jobs that use the values name it in weft_job_desc.after */
    void *state;         /* private; NULL: not open */
} weft_gather;

/* Starts the copying on the world's pool and returns; on a thread that did not create the pool
 * it has copied when it returns, and out->job is null, which counts as done. Rows are in query
 * order. On failure `out` is not open. Threads: owner. Errors: BAD_HANDLE, INVALID_ARGUMENT
 * (not a component of the query; too little room: the error says how much is needed),
 * TYPE_MISMATCH (tag, shared, buffer, chunk value), WRONG_PHASE (the world is stepped or
 * iterated), BUSY (another thread is in the world), LIMIT (511 are open, 256 guests are in the
 * pool), OUT_OF_MEMORY, POOL_FULL, FORKED. */
WEFT_API weft_result weft_gather_begin(weft_world *world, weft_query query,
                                       const weft_gather_desc *desc, weft_gather *out);
/* Waits until the copy is there; runs other jobs meanwhile. Threads: owner. Errors: BAD_HANDLE (not
 * open), CANCELLED (by weft_job_cancel), WOULD_NEST (inside a job of the pool, where a job that
 * comes after gather->job uses the values), WRONG_THREAD (begun by the thread that created the
 * pool, waited for by another). */
WEFT_API weft_result weft_gather_wait(const weft_gather *gather);
/* The copy, and how many values it has; both may be changed in place but the count. Valid until
 * weft_gather_end. Threads: owner, and jobs that come after gather->job. Errors, with *values NULL
 * and *count 0: BAD_HANDLE, WRONG_PHASE (the job has not ended: weft_gather_wait, or a job after
 * it), CANCELLED. In a job they are not kept as the world's last error. */
WEFT_API weft_result weft_gather_values(const weft_gather *gather, void **values, uint64_t *count);
/* Writes the values back to the rows they came from, on the pool, and stamps the change version of
 * the slices that have such rows. Waits for other gathers under way. May be called again. Threads:
 * owner. Errors: as weft_gather_values; WRONG_PHASE while a query is iterated; TYPE_MISMATCH
 * (entity handles); WOULD_NEST (inside a job), WRONG_THREAD (another gather still copies, and
 * cannot be waited for here). */
WEFT_API weft_result weft_gather_scatter(const weft_gather *gather);
/* Ends it, after waiting for the copying. The world may be changed again when no gather is open.
 * Not open or NULL is fine. Threads: owner. Errors (it stays open): WOULD_NEST (inside a job),
 * WRONG_THREAD, as weft_gather_wait. */
WEFT_API weft_result weft_gather_end(weft_gather *gather);

#ifdef __cplusplus
}
#endif
#endif
