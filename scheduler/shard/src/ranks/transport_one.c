/* SPDX-License-Identifier: MIT */
/* transport_one.c: see messages.h. A run of one rank, built where there is no MPI: there is no
 * other rank that a message could go to. */

#include "messages.h"

static bool is_started;

weft_result weft__transport_start(const void *communicator, int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (communicator != NULL)
        return weft__ranks_fail(WEFT_UNSUPPORTED, "libweft-shard was built without MPI: build it "
                                                  "with the MPI of the communicator");
    is_started = true;
    return WEFT_OK;
}

void weft__transport_stop(void)
{
    is_started = false;
}

bool weft__transport_is_started(void)
{
    return is_started;
}

void weft__transport_abort(int status)
{
    _Exit(status);
}

uint32_t weft__transport_rank(void)
{
    return 0;
}

uint32_t weft__transport_count(void)
{
    return 1;
}

weft_result weft__transport_sum(uint64_t *values, uint64_t count)
{
    (void)values, (void)count;
    return WEFT_OK;
}

weft_result weft__transport_max(uint64_t *values, uint64_t count)
{
    (void)values, (void)count;
    return WEFT_OK;
}

weft_result weft__transport_broadcast(void *bytes, uint64_t count)
{
    (void)bytes, (void)count;
    return WEFT_OK;
}

weft_result weft__transport_all_to_all(const uint64_t *out, uint64_t *in, uint32_t words)
{
    memcpy(in, out, words * sizeof *out);
    return WEFT_OK;
}

bool weft__round_make(weft__round *round, uint32_t peers)
{
    (void)round, (void)peers;
    return true;
}

void weft__round_shrink(weft__round *round)
{
    (void)round;
}

void weft__round_open(weft__round *round, int tag)
{
    (void)tag;
    round->letter_count = 0;
    round->failed = WEFT_OK;
}

weft_result weft__round_fits(uint32_t to, const weft__bytes *bytes)
{
    (void)to, (void)bytes;
    return WEFT_OK;
}

void weft__round_send(weft__round *round, uint32_t to, const weft__bytes *bytes)
{
    (void)bytes;
    round->failed = weft__ranks_fail(WEFT_INVALID_ARGUMENT, "there is no rank %u", to);
}

void weft__round_expect(weft__round *round, uint32_t from)
{
    round->failed = weft__ranks_fail(WEFT_INVALID_ARGUMENT, "there is no rank %u", from);
}

void weft__round_poll(weft__round *round)
{
    (void)round;
}

weft_result weft__round_wait(weft__round *round)
{
    return round->failed;
}

void weft__round_free(weft__round *round)
{
    *round = (weft__round){0};
}
