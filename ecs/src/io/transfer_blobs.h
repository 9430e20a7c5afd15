/* SPDX-License-Identifier: MIT */
/* transfer_blobs.h: blobs that rows that go over refer to.
 *
 * Owner of both worlds, during one transfer. */
#ifndef WEFT_TRANSFER_BLOBS_H
#define WEFT_TRANSFER_BLOBS_H

#include "transfer_state.h"

/* Copies the blobs that the rows refer to. After the rows are reserved. */
weft_result weft__transfer_blobs_collect(weft__transfer *t);
/* A reference of a BLOB field of a moved value, not null, leads to the copy. */
void weft__transfer_blob_follow(const weft__transfer *t, const weft__type *type,
                                weft_blob_ref *field);
/* Drops the references without a keeper; all of them unless the transfer is done. */
void weft__transfer_blobs_fini(weft__transfer *t, bool is_done);

#endif
