/* SPDX-License-Identifier: MIT */
/* ranks.h: the processes of a run on several machines: who they are, totals over them, and bytes
 * from all of them.
 *
 * Public, part of libweft-shard; needs no world. The processes are those that mpirun (or srun)
 * started: Open MPI, or another MPI, moves the bytes. A library that was built without MPI has one
 * rank and the same calls, and so has a program that was started without mpirun.
 *
 *     weft_ranks_start(&argc, &argv);
 *     ... work of weft_ranks_rank() out of weft_ranks_count() ...
 *     weft_ranks_stop();
 *
 * Calls marked *collective* are made by all ranks in the same order; each waits for the others.
 * Threads: ranks, unless a function says otherwise (MPI_THREAD_FUNNELED). */
#ifndef WEFT_RANKS_H
#define WEFT_RANKS_H

#include <weft/base.h>
#include <weft/sum.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- start and stop ---- */

/* Joins the run; collective. Initialises MPI unless the program did so. `argc`, `argv`: those of
 * main, or NULL. Files of WEFT_TRACE, WEFT_STATE_LOG and WEFT_ORDER get the rank in their names:
 * run.rank0.pftrace. Refuses a run whose ranks are not the same program: all compare the version
 * of the library and the hash of the executable file. Errors: UNSUPPORTED (the ranks differ: the
 * text says which rank; MPI gives less than MPI_THREAD_FUNNELED; several processes were started,
 * and the library has not the MPI that started them), WRONG_PHASE (called twice), IO (MPI). */
WEFT_API weft_result weft_ranks_start(int *argc, char ***argv);

/* Joins a run of the processes of the program's own communicator; collective among them. Other
 * processes may do something else, or have a run of their own. `communicator`: points to an
 * MPI_Comm, which is copied (MPI_Comm_dup). Errors: as weft_ranks_start; INVALID_ARGUMENT (NULL),
 * WRONG_PHASE also before MPI_Init_thread, UNSUPPORTED also where the library has no MPI. */
WEFT_API weft_result weft_ranks_start_in(const void *communicator);

/* Leaves the run; collective. Ends MPI if weft_ranks_start initialised it. Does nothing when not
 * started. After an error that other ranks do not have call weft_ranks_abort instead, or they
 * wait. */
WEFT_API void weft_ranks_stop(void);

/* Ends all processes of the run now, with this exit status: what to do after an error of one rank.
 * Files that were complete stay so. Does not return. Threads: any. */
WEFT_API __attribute__((noreturn)) void weft_ranks_abort(int status);

/* The rank of this process, from 0; 0 when not started. After a weft_ranks_start that failed in a
 * run of several ranks: the one that it would have had, until weft_ranks_stop. Threads: any. */
WEFT_API uint32_t weft_ranks_rank(void);

/* The number of ranks, at least 1; after a weft_ranks_start that failed as weft_ranks_rank.
 * Threads: any. */
WEFT_API uint32_t weft_ranks_count(void);

/* The last failure of a call of ranks.h or shard.h: never NULL; code WEFT_OK when none failed.
 * Valid until the next failed call. */
WEFT_API const weft_error *weft_ranks_error(void);

/* ---- totals ----
 *
 * All are collective, give every rank the same result, and do not depend on the number of ranks:
 * integers and exact sums have no order. */

/* Replaces each of `count` values by its sum over all ranks, mod 2^64. Errors: IO (MPI: a rank is
 * gone). */
WEFT_API weft_result weft_ranks_sum(uint64_t *values, uint32_t count);

/* Replaces each of `count` values by the largest of all ranks. Errors: as weft_ranks_sum. */
WEFT_API weft_result weft_ranks_max(uint64_t *values, uint32_t count);

/* Replaces each of `count` exact sums (<weft/sum.h>) by the exact sum over all ranks. Errors: as
 * weft_ranks_sum. */
WEFT_API weft_result weft_ranks_sum_exact(weft_sum *sums, uint32_t count);

/* The worst result code of all ranks (WEFT_OK: none failed): what one rank met, all know.
 * Collective. The ranks that did not fail have a text that names the rank that did. */
WEFT_API weft_result weft_ranks_agree(weft_result result);

/* ---- bytes ---- */

/* Brings bytes of all ranks to rank 0, in the order of ranks; collective. On rank 0 *out gets
 * memory for free() with *out_bytes bytes, on others NULL and 0. Errors (on all ranks):
 * OUT_OF_MEMORY, IO. */
WEFT_API weft_result weft_ranks_gather(const void *bytes, uint64_t count, void **out,
                                       uint64_t *out_bytes);

/* Copies `count` bytes of rank 0 to all ranks; collective. Errors: as weft_ranks_sum. */
WEFT_API weft_result weft_ranks_broadcast(void *bytes, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
