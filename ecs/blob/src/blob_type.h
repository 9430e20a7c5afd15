/* SPDX-License-Identifier: MIT */
/* blob_type.h: the plan of a type of blobs: which arrays, texts and pointers a block may hold.
 *
 * Any thread. */
#pragma once

#include "blob_format.h"

#include <weft/load_report.h>

/* Kind of what a field refers to; the plan contains it. */
uint32_t weft__blob_plan_kind(const weft__blob_plan *plan, const weft_blob_field *field);
/* INVALID_ARGUMENT when the description contradicts itself; LIMIT for more than 256 kinds; then
 * plan->mistake tells. */
weft_result weft__blob_plan_init(weft__blob_plan *plan, const weft_blob_type *root);
/* The same, with plan->mistake as a report. */
weft_result weft__blob_plan_report(weft__blob_plan *plan, const weft_blob_type *root,
                                   weft_load_report *report);
/* The type of a list that has the hash; NULL: none. */
const weft_blob_type *weft__blob_type_of(const weft_blob_type *const *types, uint32_t count,
                                         uint64_t hash);
/* The reference at byte `offset` of an element, or NULL. */
const weft_blob_field *weft__blob_field_at(const weft__blob_element *element, uint64_t offset);
/* Whether a pointer `field` may point `delta` bytes into an extent of these elements. */
bool weft__blob_target_fits(const weft__blob_element *element, const weft__blob_extent *extent,
                            uint64_t delta, const weft_blob_field *field);
/* Index of the extent with the highest position <= `position`; 0 when there is none. `hint` is
 * where the last search ended: its neighbour is found without a search. */
uint64_t weft__blob_extent_find(const weft__blob_extent *extents, uint64_t count, uint64_t position,
                                uint64_t *hint);

/* The result that a reason stands for. CALL and SOURCE have several: INVALID_ARGUMENT and IO. */
weft_result weft__load_result(weft_load_reason reason);
/* The reason behind a result for which none was noted. */
weft_load_reason weft__load_reason(weft_result result);
/* Fills the report (NULL: none): reason, byte, check (static text), and a text: the check,
 * the byte, and what to do. Returns the result of the reason. */
weft_result weft__load_refuse(weft_load_report *report, weft_load_reason reason, uint64_t offset,
                              const char *check);
/* Whether a caller's report is usable: NULL, or with its size. */
static inline bool weft__load_report_is_given(const weft_load_report *report, size_t bytes)
{
    return report == NULL || bytes != 0;
}
