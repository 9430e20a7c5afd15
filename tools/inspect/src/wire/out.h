/* SPDX-License-Identifier: MIT */
/* out.h: a text that grows, and JSON in it: objects, arrays, members in order.
 *
 * Commas come by themselves. A name of NULL writes an element of an array. After memory ran out
 * nothing more is added, and the text counts as failed. Owner: one thread. */
#ifndef WEFT_INSPECT_OUT_H
#define WEFT_INSPECT_OUT_H

#include <weft/base.h>

/* Owner: the caller. Always: count < capacity where there are bytes, and bytes[count] == '\0'. */
typedef struct weft__wire {
    char *bytes;
    size_t count, capacity;
    bool has_failed;
    bool needs_comma;
} weft__wire;

void weft__wire_free(weft__wire *out);
void weft__wire_clear(weft__wire *out);
/* Room for `bytes` more and a NUL; NULL: none. After writing, add to count. */
char *weft__wire_room(weft__wire *out, size_t bytes);
void weft__wire_raw(weft__wire *out, const char *bytes, size_t count);
/* A whole number: 10 ns, a tenth of weft__wire_format. */
void weft__wire_digits(weft__wire *out, uint64_t value);
void weft__wire_format(weft__wire *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- JSON ---- */

void weft__wire_open(weft__wire *out, const char *name, char bracket);
void weft__wire_close(weft__wire *out, char bracket);
void weft__wire_text(weft__wire *out, const char *name, const char *value);
void weft__wire_count(weft__wire *out, const char *name, uint64_t value);
/* Shortest of up to six digits; null where it is not finite. */
void weft__wire_number(weft__wire *out, const char *name, double value);
void weft__wire_bool(weft__wire *out, const char *name, bool value);
/* Text that is JSON already; "" becomes null. */
void weft__wire_json(weft__wire *out, const char *name, const char *json);

#endif
