/* SPDX-License-Identifier: MIT */
/* load_refusal.h: filling a weft_load_report where something is refused. What each reason returns
 * is said once, here. Reports live on the stack of the load; no state. */
#ifndef WEFT_LOAD_REFUSAL_H
#define WEFT_LOAD_REFUSAL_H

#include <weft/load_report.h>

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

#endif
