/* SPDX-License-Identifier: MIT */
/* messages.c: starting a run of equal programs, totals, bytes of all ranks, mail, the last error.
 *
 * Messages are those of the transport; nothing here knows MPI. Mail: counts and results by one
 * all-to-all, then bytes by a round of messages between those that have something to say. The last
 * failure is kept for the process, as the ranks of a run are processes. */
#include "messages.h"
#include "hash.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <weft/ranks.h>

static weft_error last;

weft_result weft__ranks_fail(weft_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    weft__error_fill_list(&last, code, format, arguments);
    va_end(arguments);
    return code;
}

weft_result weft__ranks_no_memory(void)
{
    return weft__ranks_fail(WEFT_OUT_OF_MEMORY,
                            "memory was refused: use more ranks, or fewer rows");
}

weft_result weft__ranks_other(weft_result code, uint32_t rank)
{
    return weft__ranks_fail(code, "rank %u failed (%s): its own text says why", rank,
                            weft_result_name(code));
}

const weft_error *weft_ranks_error(void)
{
    return &last;
}

/* ---- what one rank met, all know ----
 *
 * One message: the largest of three words: the result with the rank that has it, and two words of
 * the caller. Nothing is sent where there is one rank. */

weft_result weft__ranks_agree_on(weft_result result, uint64_t words[2])
{
    if (weft__transport_count() == 1) return result;
    uint64_t most[3] = {0, words[0], words[1]};
    if (result != WEFT_OK) most[0] = (uint64_t)result << 32 | weft__transport_rank();
    const weft_result sent = weft__transport_max(most, 3);
    if (sent != WEFT_OK) return result != WEFT_OK ? result : sent;
    words[0] = most[1];
    words[1] = most[2];
    const weft_result worst = (weft_result)(most[0] >> 32);
    return worst == result ? result : weft__ranks_other(worst, (uint32_t)most[0]);
}

weft_result weft_ranks_agree(weft_result result)
{
    return weft__ranks_agree_on(result, (uint64_t[2]){0, 0});
}

/* Two words for each rank and two of each, of the exchange that runs; as long as the run: a rank
 * without memory must not keep the others waiting. */
static uint64_t *pairs;

/* The memory of exchanges, between start and stop of the ranks. False: it was refused. */
static bool mail_begin(void)
{
    pairs = calloc(weft__transport_count() * UINT64_C(4), sizeof *pairs);
    return pairs != NULL;
}

static void mail_end(void)
{
    free(pairs);
    pairs = NULL;
}

/* The worst result of all ranks, from the second words of their pairs. */
static weft_result worst_of(const uint64_t *in, uint32_t ranks, weft_result result)
{
    uint32_t worst = weft__transport_rank();
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (in[2 * rank + 1] > in[2 * worst + 1]) worst = rank;
    const weft_result other = (weft_result)in[2 * worst + 1];
    return other == result ? result : weft__ranks_other(other, worst);
}

static weft_result deliver(const weft__bytes *out, const uint64_t *in, weft__round *round)
{
    const uint32_t ranks = weft__transport_count(), mine = weft__transport_rank();
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank == mine) continue;
        if (in[2 * rank] != 0) weft__round_expect(round, rank);
        if (out[rank].count != 0) weft__round_send(round, rank, &out[rank]);
    }
    return weft__round_wait(round) == WEFT_IO ? WEFT_IO : WEFT_OK;
}

weft_result weft__mail_exchange(const weft__bytes *out, weft__round *round, int tag,
                                weft_result result)
{
    const uint32_t ranks = weft__transport_count();
    for (uint32_t rank = 0; rank < ranks && result == WEFT_OK; rank++)
        result = weft__round_fits(rank, &out[rank]);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        pairs[2 * rank] = out[rank].count;
        pairs[2 * rank + 1] = (uint64_t)result;
    }
    uint64_t *in = pairs + ranks * UINT64_C(2);
    weft__round_open(round, tag);
    const weft_result sent = weft__transport_all_to_all(pairs, in, 2);
    if (sent != WEFT_OK) return sent;
    result = worst_of(in, ranks, result);
    return result == WEFT_OK ? deliver(out, in, round) : result;
}

#define TAG_GATHER 1

/* Who this process would have been in the run that weft_ranks_start refused last: what it prints
 * then says so. Written by start and stop; count 0: it refused none. */
static struct {
    uint32_t rank, count;
} refused;

/* ---- start and stop ---- */

/* All ranks compare what they are with rank 0. */
static weft_result compare_programs(void)
{
    /* The hash of the file of this program and of the library's version; 0: it cannot be read. */
    uint64_t hash = hash_start(WEFT_VERSION, 0);
    FILE *file = fopen("/proc/self/exe", "rb");
    unsigned char block[1 << 14];
    size_t count = 0;
    while (file != NULL && (count = fread(block, 1, sizeof block, file)) != 0)
        hash = hash_part(hash, block, count);
    const bool is_whole = file != NULL && !ferror(file);
    if (file != NULL) fclose(file);
    const uint64_t mine = is_whole ? hash_end(hash) : 0;
    uint64_t first = mine, lowest[3] = {0, mine == 0, !mail_begin()};
    weft_result result = weft__transport_broadcast(&first, sizeof first);
    if (result != WEFT_OK) return result;
    if (mine != first) lowest[0] = UINT32_MAX - weft__transport_rank();
    result = weft__transport_max(lowest, 3);
    if (result != WEFT_OK) return result;
    if (lowest[0] != 0)
        return weft__ranks_fail(WEFT_UNSUPPORTED,
                                "rank %u runs another program than rank 0: start the same "
                                "executable file on all machines",
                                UINT32_MAX - (uint32_t)lowest[0]);
    if (lowest[1] != 0)
        return weft__ranks_fail(WEFT_UNSUPPORTED, "/proc/self/exe cannot be read: the programs of "
                                                  "the ranks cannot be compared; mount /proc");
    return lowest[2] != 0 ? weft__ranks_no_memory() : WEFT_OK;
}

/* Processes that were started together but see only themselves would all do the same work and
 * write the same files. */
static weft_result check_count(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names && weft__transport_count() == 1; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && atoi(value) > 1)
            return weft__ranks_fail(WEFT_UNSUPPORTED,
                                    "%.20s processes were started, but libweft-shard was built "
                                    "without their MPI: install libopenmpi-dev and build it again, "
                                    "or start one process without mpirun",
                                    value);
    }
    return WEFT_OK;
}

/* A file of each rank: run.pftrace of the environment becomes run.rank0.pftrace. A drawn order has
 * no file. */
static void name_file(const char *variable)
{
    const char *path = secure_getenv(variable);
    char name[4200], end[32];
    if (path == NULL || path[0] == '\0' || weft__transport_count() == 1) return;
    if (strcmp(variable, "WEFT_ORDER") == 0 && strncmp(path, "draw:", 5) == 0) return;
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    const size_t front = dot != NULL ? (size_t)(dot - path) : strlen(path);
    snprintf(end, sizeof end, ".rank%u", weft__transport_rank());
    if (front >= strlen(end) && memcmp(path + front - strlen(end), end, strlen(end)) == 0) return;
    const int count =
        snprintf(name, sizeof name, "%.*s%s%s", (int)front, path, end, dot != NULL ? dot : "");
    if (count > 0 && (size_t)count < sizeof name) setenv(variable, name, 1);
}

static weft_result start(const void *communicator, int *argc, char ***argv)
{
    if (weft__transport_is_started())
        return weft__ranks_fail(WEFT_WRONG_PHASE, "weft_ranks_start was called before: once is "
                                                  "enough, until weft_ranks_stop");
    weft_result result = weft__transport_start(communicator, argc, argv);
    if (result == WEFT_OK && communicator == NULL) result = check_count();
    if (result == WEFT_OK) result = compare_programs();
    refused.count = 0;
    if (result == WEFT_OK) {
        name_file("WEFT_TRACE");
        const char *by = secure_getenv("WEFT_STATE_LOG_BY");
        if (by == NULL || strcmp(by, "gid") != 0)
            name_file("WEFT_STATE_LOG"); /* else one for all */
        name_file("WEFT_ORDER");
    } else {
        refused.rank = weft__transport_rank();
        refused.count = weft__transport_count();
        mail_end();
        weft__transport_stop();
    }
    return result;
}

weft_result weft_ranks_start(int *argc, char ***argv)
{
    return start(NULL, argc, argv);
}

weft_result weft_ranks_start_in(const void *communicator)
{
    if (communicator == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "weft_ranks_start_in: the communicator is "
                                                       "NULL: give a pointer to an MPI_Comm");
    return start(communicator, NULL, NULL);
}

void weft_ranks_stop(void)
{
    refused.count = 0;
    mail_end();
    weft__transport_stop();
}

void weft_ranks_abort(int status)
{
    weft__transport_abort(status);
}

uint32_t weft_ranks_rank(void)
{
    return refused.count != 0 ? refused.rank : weft__transport_rank();
}

uint32_t weft_ranks_count(void)
{
    return refused.count != 0 ? refused.count : weft__transport_count();
}

/* ---- totals ---- */

weft_result weft_ranks_sum(uint64_t *values, uint32_t count)
{
    return weft__transport_sum(values, count);
}

weft_result weft_ranks_max(uint64_t *values, uint32_t count)
{
    return weft__transport_max(values, count);
}

weft_result weft_ranks_sum_exact(weft_sum *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t words[WEFT_SUM_WORDS]; /* two's complement: the sum mod 2^64 is the signed one */
        weft_sum_settle(&sums[i]);
        memcpy(words, sums[i].words, sizeof words);
        weft_result result = weft__transport_sum(words, WEFT_SUM_WORDS);
        if (result != WEFT_OK) return result;
        memcpy(sums[i].words, words, sizeof words);
        weft_sum_settle(&sums[i]);
    }
    return WEFT_OK;
}

/* ---- bytes ---- */

weft_result weft_ranks_broadcast(void *bytes, uint64_t count)
{
    return weft__transport_broadcast(bytes, count);
}

/* Rank 0: all letters one after the other, its own first. */
static weft_result join_letters(const weft__round *round, const weft__bytes *own, void **out,
                                uint64_t *out_bytes)
{
    weft__bytes all = {0};
    uint64_t used = 0;
    for (uint32_t i = 0; i < round->letter_count + 1; i++) {
        const weft__bytes *letter = i == 0 ? own : &round->letters[i - 1].bytes;
        uint64_t count = 0;
        memcpy(&count, letter->at, sizeof count);
        if (!weft__array_grow(&all.at, &all.capacity, used + count + 1, 1)) {
            weft__bytes_free(&all);
            return weft__ranks_no_memory();
        }
        if (count != 0) memcpy(all.at + used, letter->at + sizeof count, (size_t)count);
        used += count;
    }
    *out = all.at;
    *out_bytes = used;
    return WEFT_OK;
}

weft_result weft_ranks_gather(const void *bytes, uint64_t count, void **out, uint64_t *out_bytes)
{
    *out = NULL;
    *out_bytes = 0;
    weft__bytes own = {0};
    weft__round round = {0};
    const bool is_first = weft__transport_rank() == 0;
    /* A message: the number of bytes, then the bytes. */
    const bool is_done = weft__bytes_word(&own, count) && weft__bytes_put(&own, bytes, count);
    weft_result result = is_done ? WEFT_OK : weft__ranks_no_memory();
    if (!weft__round_make(&round, is_first ? weft__transport_count() - 1 : 1))
        result = weft__ranks_no_memory();
    if (result == WEFT_OK) result = weft__round_fits(0, &own);
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) {
        weft__round_open(&round, TAG_GATHER);
        for (uint32_t rank = 1; rank < weft__transport_count() && is_first; rank++)
            weft__round_expect(&round, rank);
        if (!is_first) weft__round_send(&round, 0, &own);
        result = weft__round_wait(&round);
        if (result == WEFT_OK && is_first) result = join_letters(&round, &own, out, out_bytes);
        result = weft_ranks_agree(result);
    }
    if (result != WEFT_OK) free(*out);
    if (result != WEFT_OK) *out = NULL, *out_bytes = 0;
    weft__round_free(&round);
    weft__bytes_free(&own);
    return result;
}
