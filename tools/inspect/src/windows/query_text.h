/* SPDX-License-Identifier: MIT */
/* query_text.h: queries as people type them: "Orbit, !Decayed, ?Name".
 *
 *   A       has it, enabled          !A   lacks it, or has it disabled
 *   ?A      shown if there           -A   lacks it, whatever the enable bits
 *   A | B   at least one             +A   has it, whatever the enable bits
 * Terms are separated by commas; none: every entity. Owner of the world. */
#ifndef WEFT_INSPECT_QUERY_TEXT_H
#define WEFT_INSPECT_QUERY_TEXT_H

#include "session.h"

#include <weft/query.h>

/* Makes the query; false: `why` says what is wrong. The caller destroys it. */
bool weft__query_text_make(const weft__session *session, const char *text, weft_query *out,
                           char *why, size_t capacity);
/* The prefix of a term in a text. */
const char *weft__query_text_prefix(weft_match match);

#endif
