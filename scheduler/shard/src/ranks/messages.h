/* SPDX-License-Identifier: MIT */
/* messages.h: what the layer knows of the other ranks: what failed, mail, and the transport, which
 * moves bytes between ranks: MPI (transport_mpi.c), or nothing where there is one rank
 * (transport_one.c). One of the two is built.
 *
 * All calls are of one thread, the owner. Failures set weft_ranks_error and return IO. Collective
 * calls are marked so. */
#pragma once

#include "byte_list.h"

#include <weft/base.h>

/* Collective. `communicator`: an MPI_Comm; NULL: that of all processes. */
weft_result weft__transport_start(const void *communicator, int *argc, char ***argv);
void weft__transport_stop(void); /* collective */
bool weft__transport_is_started(void);
void weft__transport_abort(int status) __attribute__((noreturn));
uint32_t weft__transport_rank(void);  /* any thread */
uint32_t weft__transport_count(void); /* any thread */

/* ---- collective ---- */

weft_result weft__transport_sum(uint64_t *values, uint64_t count);
weft_result weft__transport_max(uint64_t *values, uint64_t count);
weft_result weft__transport_broadcast(void *bytes, uint64_t count);
/* Gives `words` words to each rank, and gets as many from each; [rank * words]. */
weft_result weft__transport_all_to_all(const uint64_t *out, uint64_t *in, uint32_t words);

/* ---- messages ---- */

/* One message that comes from a rank in a round. */
typedef struct weft__letter {
    uint32_t from;
    bool is_here;
    weft__bytes bytes; /* owned by the round; its memory is used again by the next one */
} weft__letter;

/* A round of messages: at most one to and one from each rank. Zero-initialise; used again and
 * again. Owner: one thread. Order: make, open, (send | expect)..., poll..., wait, (letters are
 * read), open.
 *
 * A rank without memory must not keep the others waiting, nor leave its messages to a later round:
 * what is made has room for all but the bytes that come. A letter for which there is no memory is
 * received, lost and empty; the others are there. One word is never lost. */
typedef struct weft__round {
    void *state; /* of the transport */
    weft__letter *letters;
    uint64_t letter_capacity;
    uint32_t letter_count;
    weft_result failed; /* the first failure since open */
} weft__round;

/* Memory for messages to and from as many ranks, between rounds. False: it was refused. */
bool weft__round_make(weft__round *round, uint32_t peers);
/* Gives back the memory of letters. */
void weft__round_shrink(weft__round *round);
/* Begins a round. `tag`: rounds that are open at once have different ones. */
void weft__round_open(weft__round *round, int tag);
/* OK, or LIMIT with a text: a message to a rank that is too long to be sent. */
weft_result weft__round_fits(uint32_t to, const weft__bytes *bytes);
/* Sends bytes (a multiple of 8 that fits), which must stay until the end of wait. */
void weft__round_send(weft__round *round, uint32_t to, const weft__bytes *bytes);
/* Says that a message will come from this rank. */
void weft__round_expect(weft__round *round, uint32_t from);
/* Receives what is there; does not wait. */
void weft__round_poll(weft__round *round);
/* Returns when all is sent and all that is expected is here. Errors: OUT_OF_MEMORY (a letter is
 * lost), IO (the run cannot go on). */
weft_result weft__round_wait(weft__round *round);
void weft__round_free(weft__round *round);

/* ---- errors: one text per process, all calls are made by one thread ---- */

/* Keeps the error; returns `code`. Owner. */
weft_result weft__ranks_fail(weft_result code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text of memory that was refused; returns OUT_OF_MEMORY. */
weft_result weft__ranks_no_memory(void);
/* The text of an error that another rank has, which knows why; returns `code`. */
weft_result weft__ranks_other(weft_result code, uint32_t rank);

/* weft_ranks_agree, and in the same message the largest of all ranks of each word (unchanged where
 * MPI fails, or there is one rank): what one rank wants or has, and all must know in the same step.
 * Collective. */
weft_result weft__ranks_agree_on(weft_result result, uint64_t words[2]);

/* ---- mail: bytes from any rank to any other, where the receiver does not know who sends ----
 *
 * Counts go first, to all (MPI_Alltoall), with the result that each rank has so far: where one has
 * failed, all return the same error and no bytes are sent. */

/* Sends out[rank] to each rank that it is not empty for (never to this one), and waits for what the
 * others send, which is then in the letters of the round (made for all ranks). Collective. Returns
 * the worst result of all ranks, on all of them; LIMIT: a message is too long; IO. Where it is OK
 * there were messages, and round->failed is OUT_OF_MEMORY where this rank lost one. */
weft_result weft__mail_exchange(const weft__bytes *out, weft__round *round, int tag,
                                weft_result result);
