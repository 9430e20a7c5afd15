/* SPDX-License-Identifier: MIT */
/* ranks.c: starting a run of equal programs, totals, bytes of all ranks. Messages are those of
 * transport.h; nothing here knows MPI. */
#include <stdio.h>
#include <weft/ranks.h>

#include "hash.h"
#include "mail.h"
#include "ranks_error.h"
#include "transport.h"

#define TAG_GATHER 1

/* Who this process would have been in the run that weft_ranks_start refused last: what it prints
 * then says so. Written by start and stop; count 0: it refused none. */
static struct {
    uint32_t rank, count;
} refused;

/* ---- start and stop ---- */

/* The hash of the file of this program and of the library's version; 0: it cannot be read. */
static uint64_t program_hash(void)
{
    uint64_t hash = hash_start(WEFT_VERSION, 0);
    FILE *file = fopen("/proc/self/exe", "rb");
    unsigned char block[1 << 14];
    size_t count = 0;
    while (file != NULL && (count = fread(block, 1, sizeof block, file)) != 0)
        hash = hash_part(hash, block, count);
    const bool is_whole = file != NULL && !ferror(file);
    if (file != NULL) fclose(file);
    return is_whole ? hash_end(hash) : 0;
}

/* All ranks compare what they are with rank 0. */
static weft_result compare_programs(void)
{
    const uint64_t mine = program_hash();
    uint64_t first = mine, lowest[3] = {0, mine == 0, !weft__mail_begin()};
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

weft_result weft_ranks_start(int *argc, char ***argv)
{
    if (weft__transport_is_started())
        return weft__ranks_fail(WEFT_WRONG_PHASE, "weft_ranks_start was called before: once is "
                                                  "enough, until weft_ranks_stop");
    weft_result result = weft__transport_start(argc, argv);
    if (result == WEFT_OK) result = compare_programs();
    refused.count = 0;
    if (result != WEFT_OK) {
        refused.rank = weft__transport_rank();
        refused.count = weft__transport_count();
        weft__mail_end();
        weft__transport_stop();
    }
    return result;
}

void weft_ranks_stop(void)
{
    refused.count = 0;
    weft__mail_end();
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

/* A message: the number of bytes, then the bytes. */
static weft_result pack_letter(weft__bytes *out, const void *bytes, uint64_t count)
{
    const bool is_done = weft__bytes_word(out, count) && weft__bytes_put(out, bytes, count);
    return is_done ? WEFT_OK : weft__ranks_no_memory();
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
    weft_result result = pack_letter(&own, bytes, count);
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
