/* SPDX-License-Identifier: MIT */
/* answer.h: requests become answers: by the word of "do" to a window or an action. Untrusted input.
 * Owner of the world. */
#ifndef WEFT_INSPECT_ANSWER_H
#define WEFT_INSPECT_ANSWER_H

#include "session.h"

/* Writes one JSON object to `out`; returns the HTTP status. */
uint32_t weft__answer(weft__session *session, const char *text, size_t count, weft__wire *out);
/* Whether the text asks for something that may be watched: a window, not an action. */
bool weft__answer_is_window(const char *text, size_t count);

#endif
