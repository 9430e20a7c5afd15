/* SPDX-License-Identifier: MIT */
/* text.c: see text.h. Every piece goes through one vsnprintf, which ends the text with a NUL as
 * long as there is room for one. */
#include "text.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void weft__text_add(weft__text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = t->length < t->capacity ? t->capacity - t->length : 0;
    int added = vsnprintf(left == 0 ? NULL : t->at + t->length, left, format, arguments);
    va_end(arguments);
    if (added > 0) t->length += (size_t)added;
}

void weft__text_add_bytes(weft__text *t, const char *bytes, size_t count)
{
    size_t left = t->length < t->capacity ? t->capacity - t->length : 0;
    if (left != 0) {
        size_t fits = count < left - 1 ? count : left - 1;
        memcpy(t->at + t->length, bytes, fits);
        t->at[t->length + fits] = '\0';
    }
    t->length += count;
}

void weft__text_add_hexadecimal(weft__text *t, const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    weft__text_add_bytes(t, "\"0x", 3);
    for (size_t i = 0; i < count; i++)
        weft__text_add_bytes(t, (const char[]){digits[from[i] >> 4], digits[from[i] & 15]}, 2);
    weft__text_add_bytes(t, "\"", 1);
}

/* `escaped`: what stands for characters that JSON writes as \uXXXX; NULL: this. */
static void add_quoted(weft__text *t, const char *string, const char *escaped)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    weft__text_add(t, "\"");
    while (*string != '\0') {
        string = weft__json_piece(string, piece);
        bool is_escaped = escaped != NULL && piece[0] == '\\' && piece[1] == 'u';
        weft__text_add(t, "%s", is_escaped ? escaped : piece);
    }
    weft__text_add(t, "\"");
}

void weft__text_add_quoted(weft__text *t, const char *string)
{
    add_quoted(t, string, NULL);
}

void weft__text_add_label(weft__text *t, const char *string)
{
    add_quoted(t, string, "\xEF\xBF\xBD");
}
