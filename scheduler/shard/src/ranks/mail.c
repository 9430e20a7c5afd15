/* SPDX-License-Identifier: MIT */
/* mail.c: counts and results by one all-to-all, then bytes by a round of messages between those
 * that have something to say. */
#include "mail.h"

#include <stdlib.h>

#include "ranks_error.h"

/* Two words for each rank and two of each, of the exchange that runs; as long as the run: a rank
 * without memory must not keep the others waiting. */
static uint64_t *pairs;

bool weft__mail_begin(void)
{
    pairs = calloc(weft__transport_count() * UINT64_C(4), sizeof *pairs);
    return pairs != NULL;
}

void weft__mail_end(void)
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
