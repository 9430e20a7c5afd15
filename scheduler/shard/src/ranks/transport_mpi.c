/* SPDX-License-Identifier: MIT */
/* transport_mpi.c: see messages.h. Messages by MPI: two-sided, non-blocking, on a communicator of
 * our own, whose errors return.
 *
 * The length of a message is not known before it comes: it is matched by MPI_Improbe, then received
 * into memory of its size. So a receive begins at the next poll after the message came; loops of
 * interior sectors poll between slices. Messages are counted in words of eight bytes, because
 * counts of MPI are int.
 *
 * A rank that ends without MPI_Finalize, or by a signal, makes mpirun end the run; where a launcher
 * does not, the next call on another rank returns an error, or waits (ULFM is not needed). */
#include "messages.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE_WORDS (UINT64_C(1) << 30)

/* Of the process. Owner: the thread that started. Constant while started, but for use of comm. */
static struct {
    MPI_Comm comm;
    uint32_t rank, count;
    bool is_started, owns_mpi;
} run = {.count = 1};

/* Requests of a round. Owner: the round. Always: send_count <= send_capacity. */
typedef struct round_state {
    MPI_Request *sends;
    uint64_t send_capacity;
    MPI_Request *receives; /* [letter]; MPI_REQUEST_NULL: not matched yet, or done */
    uint64_t receive_capacity;
    uint32_t send_count;
    int tag;
} round_state;

static weft_result checked(int code, const char *what)
{
    if (code == MPI_SUCCESS) return WEFT_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return weft__ranks_fail(WEFT_IO,
                            "%s failed on rank %u: %s: a rank may have ended; restart the run from "
                            "its last checkpoint",
                            what, run.rank, text);
}

weft_result weft__transport_start(const void *communicator, int *argc, char ***argv)
{
    int is_there = 0, level = MPI_THREAD_SINGLE, rank = 0, count = 1;
    MPI_Comm within = MPI_COMM_WORLD;
    MPI_Initialized(&is_there);
    if (communicator != NULL) memcpy(&within, communicator, sizeof within);
    if (!is_there && communicator != NULL)
        return weft__ranks_fail(WEFT_WRONG_PHASE, "MPI_Init_thread comes before a communicator");
    if (!is_there) {
        if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
            return weft__ranks_fail(WEFT_IO, "MPI_Init_thread failed");
    } else {
        MPI_Query_thread(&level);
    }
    run.owns_mpi = !is_there;
    if (MPI_Comm_dup(within, &run.comm) != MPI_SUCCESS)
        return weft__ranks_fail(WEFT_IO, "MPI_Comm_dup failed");
    MPI_Comm_set_errhandler(run.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(run.comm, &rank);
    MPI_Comm_size(run.comm, &count);
    run.rank = (uint32_t)rank;
    run.count = (uint32_t)count;
    run.is_started = true;
    if (level >= MPI_THREAD_FUNNELED) return WEFT_OK;
    return weft__ranks_fail(WEFT_UNSUPPORTED,
                            "MPI was initialised without MPI_THREAD_FUNNELED: call "
                            "MPI_Init_thread, or leave it to weft_ranks_start");
}

void weft__transport_stop(void)
{
    if (!run.is_started) return;
    MPI_Comm_free(&run.comm);
    if (run.owns_mpi) MPI_Finalize();
    run.is_started = false;
    run.rank = 0;
    run.count = 1;
}

bool weft__transport_is_started(void)
{
    return run.is_started;
}

void weft__transport_abort(int status)
{
    if (run.is_started) MPI_Abort(run.comm, status);
    _Exit(status);
}

uint32_t weft__transport_rank(void)
{
    return run.rank;
}

uint32_t weft__transport_count(void)
{
    return run.count;
}

/* ---- collective ---- */

static weft_result reduce(uint64_t *values, uint64_t count, MPI_Op operation, const char *what)
{
    weft_result result = WEFT_OK;
    for (uint64_t done = 0; done < count && result == WEFT_OK && run.count > 1;) {
        const uint64_t words = count - done < PIECE_WORDS ? count - done : PIECE_WORDS;
        result = checked(MPI_Allreduce(MPI_IN_PLACE, values + done, (int)words, MPI_UINT64_T,
                                       operation, run.comm),
                         what);
        done += words;
    }
    return result;
}

weft_result weft__transport_sum(uint64_t *values, uint64_t count)
{
    return reduce(values, count, MPI_SUM, "a sum over ranks");
}

weft_result weft__transport_max(uint64_t *values, uint64_t count)
{
    return reduce(values, count, MPI_MAX, "a maximum over ranks");
}

weft_result weft__transport_broadcast(void *bytes, uint64_t count)
{
    weft_result result = WEFT_OK;
    for (uint64_t done = 0; done < count && result == WEFT_OK && run.count > 1;) {
        const uint64_t piece = count - done < PIECE_WORDS ? count - done : PIECE_WORDS;
        result = checked(MPI_Bcast((char *)bytes + done, (int)piece, MPI_BYTE, 0, run.comm),
                         "a broadcast");
        done += piece;
    }
    return result;
}

weft_result weft__transport_all_to_all(const uint64_t *out, uint64_t *in, uint32_t words)
{
    return checked(
        MPI_Alltoall(out, (int)words, MPI_UINT64_T, in, (int)words, MPI_UINT64_T, run.comm),
        "an exchange of counts");
}

/* ---- messages ---- */

/* Room for a word in a letter. */
static bool has_word(weft__letter *letter)
{
    return weft__array_grow(&letter->bytes.at, &letter->bytes.capacity, 8, 1);
}

bool weft__round_make(weft__round *round, uint32_t peers)
{
    const uint64_t old = round->letter_capacity;
    if (round->state == NULL) round->state = calloc(1, sizeof(round_state));
    round_state *state = round->state;
    bool is_done =
        state != NULL &&
        weft__array_grow(&state->sends, &state->send_capacity, peers, sizeof *state->sends) &&
        weft__array_grow(&state->receives, &state->receive_capacity, peers,
                         sizeof *state->receives) &&
        weft__array_grow(&round->letters, &round->letter_capacity, peers, sizeof *round->letters);
    for (uint64_t i = old; i < round->letter_capacity; i++) round->letters[i] = (weft__letter){0};
    for (uint32_t i = 0; i < peers && is_done; i++) is_done = has_word(&round->letters[i]);
    return is_done;
}

void weft__round_shrink(weft__round *round)
{
    for (uint64_t i = 0; i < round->letter_capacity; i++) {
        weft__bytes *bytes = &round->letters[i].bytes;
        if (bytes->capacity == 0) continue;
        unsigned char *less = realloc(bytes->at, 8);
        if (less != NULL) *bytes = (weft__bytes){.at = less, .capacity = 8};
    }
    round->letter_count = 0;
}

void weft__round_open(weft__round *round, int tag)
{
    round_state *state = round->state;
    round->letter_count = state->send_count = 0;
    round->failed = WEFT_OK;
    state->tag = tag;
}

static void failed_in(weft__round *round, weft_result result)
{
    if (round->failed == WEFT_OK || result == WEFT_IO) round->failed = result;
}

weft_result weft__round_fits(uint32_t to, const weft__bytes *bytes)
{
    if (bytes->count / 8 <= INT32_MAX) return WEFT_OK;
    return weft__ranks_fail(WEFT_LIMIT,
                            "a message of %llu bytes to rank %u, at most 16 GiB: use more ranks",
                            (unsigned long long)bytes->count, to);
}

void weft__round_send(weft__round *round, uint32_t to, const weft__bytes *bytes)
{
    round_state *state = round->state;
    const int code = MPI_Isend(bytes->at, (int)(bytes->count / 8), MPI_UINT64_T, (int)to,
                               state->tag, run.comm, &state->sends[state->send_count]);
    if (code == MPI_SUCCESS) state->send_count++;
    failed_in(round, checked(code, "a message"));
}

void weft__round_expect(weft__round *round, uint32_t from)
{
    round_state *state = round->state;
    weft__letter *letter = &round->letters[round->letter_count];
    letter->from = from;
    letter->is_here = false;
    letter->bytes.count = 0;
    state->receives[round->letter_count++] = MPI_REQUEST_NULL;
}

/* Receives a message, whose sender waits, into one word: each word over the one before. A shorter
 * receive would say that it is truncated, but Open MPI with a single copy between processes writes
 * it whole, behind the buffer. MPI does not promise that elements may lie on each other; Open MPI,
 * the one that is tested, unpacks them one by one then. */
static weft_result lose(MPI_Message *message, int words)
{
    uint64_t word;
    MPI_Datatype same_place;
    MPI_Type_create_resized(MPI_UINT64_T, 0, 0, &same_place);
    MPI_Type_commit(&same_place);
    (void)MPI_Mrecv(&word, words, same_place, message, MPI_STATUS_IGNORE);
    MPI_Type_free(&same_place);
    return weft__ranks_no_memory();
}

/* Begins to receive a message that came. */
static weft_result match(weft__letter *letter, MPI_Request *request, int tag)
{
    int is_there = 0, words = 0;
    MPI_Message message;
    MPI_Status status;
    weft_result result = checked(
        MPI_Improbe((int)letter->from, tag, run.comm, &is_there, &message, &status), "a message");
    if (result != WEFT_OK || !is_there) return result;
    MPI_Get_count(&status, MPI_UINT64_T, &words);
    if (words == 0) { /* an empty message is here once it is matched */
        letter->is_here = true;
        return checked(MPI_Mrecv(NULL, 0, MPI_UINT64_T, &message, &status), "a message");
    }
    letter->bytes.count = 0;
    letter->is_here = weft__bytes_add(&letter->bytes, (uint64_t)words * 8) == NULL;
    if (letter->is_here) return lose(&message, words);
    return checked(MPI_Imrecv(letter->bytes.at, words, MPI_UINT64_T, &message, request),
                   "a message");
}

/* Whether all is done that can be done. */
static bool advance(weft__round *round)
{
    round_state *state = round->state;
    bool is_done = true;
    for (uint32_t i = 0; i < round->letter_count && round->failed != WEFT_IO; i++) {
        weft__letter *letter = &round->letters[i];
        if (letter->is_here) continue;
        if (state->receives[i] == MPI_REQUEST_NULL) {
            failed_in(round, match(letter, &state->receives[i], state->tag));
        }
        if (state->receives[i] != MPI_REQUEST_NULL) {
            int is_complete = 0;
            failed_in(round, checked(MPI_Test(&state->receives[i], &is_complete, MPI_STATUS_IGNORE),
                                     "a message"));
            letter->is_here = is_complete != 0;
        }
        if (!letter->is_here) is_done = false;
    }
    return is_done;
}

void weft__round_poll(weft__round *round)
{
    round_state *state = round->state;
    int is_complete = 0;
    if (round->failed == WEFT_IO) return;
    (void)advance(round);
    if (state->send_count != 0 && round->failed != WEFT_IO)
        failed_in(round, checked(MPI_Testall((int)state->send_count, state->sends, &is_complete,
                                             MPI_STATUSES_IGNORE),
                                 "a message"));
}

weft_result weft__round_wait(weft__round *round)
{
    round_state *state = round->state;
    while (round->failed != WEFT_IO && !advance(round)) {
    }
    if (round->failed != WEFT_IO && state->send_count != 0)
        failed_in(round,
                  checked(MPI_Waitall((int)state->send_count, state->sends, MPI_STATUSES_IGNORE),
                          "a message"));
    state->send_count = 0;
    return round->failed;
}

void weft__round_free(weft__round *round)
{
    round_state *state = round->state;
    for (uint64_t i = 0; i < round->letter_capacity; i++)
        weft__bytes_free(&round->letters[i].bytes);
    free(round->letters);
    if (state != NULL) {
        free(state->sends);
        free(state->receives);
        free(state);
    }
    *round = (weft__round){0};
}
