/* SPDX-License-Identifier: MIT */
/* mail.h: bytes from any rank to any other, where the receiver does not know who sends.
 *
 * Counts go first, to all (MPI_Alltoall), with the result that each rank has so far: where one has
 * failed, all return the same error and no bytes are sent. */
#ifndef WEFT_MAIL_H
#define WEFT_MAIL_H

#include "transport.h"

/* The memory of exchanges, between start and stop of the ranks. False: it was refused. */
bool weft__mail_begin(void);
void weft__mail_end(void);

/* Sends out[rank] to each rank that it is not empty for (never to this one), and waits for what the
 * others send, which is then in the letters of the round (made for all ranks). Collective. Returns
 * the worst result of all ranks, on all of them; LIMIT: a message is too long; IO. Where it is OK
 * there were messages, and round->failed is OUT_OF_MEMORY where this rank lost one. */
weft_result weft__mail_exchange(const weft__bytes *out, weft__round *round, int tag,
                                weft_result result);

#endif
