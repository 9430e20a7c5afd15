/* SPDX-License-Identifier: MIT */
/* blob_validate.h: whether bytes are a block of a type.
 *
 * Any thread. */
#pragma once

#include "blob_format.h"

/* Content hash of a block, given its header (whose content_hash is not looked at). `known`, in
 * order of index, spares reading those blocks. */
uint64_t weft__blob_content_hash(const void *block, const weft__blob_hash_block *known,
                                 uint64_t known_count);
/* Checks that need the header only. `bytes` is the size of the file or block. */
weft_result weft__blob_check_header(const weft__blob_header *header, uint64_t bytes,
                                    const weft__blob_plan *plan, weft_load_report *report);
/* Whether there are bytes for a header. */
weft_result weft__blob_check_size(uint64_t bytes, weft_load_report *report);
/* The whole validator; without the hash for tests and fuzzing, which must get past it. */
weft_result weft__blob_check(const void *block, uint64_t bytes, const weft__blob_plan *plan,
                             bool with_hash, weft_load_report *report);
