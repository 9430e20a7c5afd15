/* SPDX-License-Identifier: MIT */
/* text.c: see text.h. Every piece goes through one vsnprintf, which ends the text with a NUL as
 * long as there is room for one. Errors are made in a buffer of their own: what they say may be of
 * the error that they replace. */
#include "text.h"
#include "utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

void weft__text_add_quoted(weft__text *t, const char *string)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    weft__text_add(t, "\"");
    while (*string != '\0') {
        string = weft__json_piece(string, piece);
        weft__text_add(t, "%s", piece);
    }
    weft__text_add(t, "\"");
}

/* ---- errors ---- */

weft_result weft__error_fill_list(weft_error *error, weft_result code, const char *format,
                                  va_list arguments)
{
    char made[sizeof error->text];
    if (error == NULL) return code;
    vsnprintf(made, sizeof made, format, arguments);
    error->code = code;
    error->entity = (weft_entity){0, 0};
    error->component = (weft_component){0, 0};
    error->number++;
    error->line = error->column = 0;
    error->file[0] = error->path[0] = '\0';
    memcpy(error->text, made, strlen(made) + 1);
    return code;
}

weft_result weft__error_fill(weft_error *error, weft_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    weft__error_fill_list(error, code, format, arguments);
    va_end(arguments);
    return code;
}

void weft__error_name(char *to, size_t room, const char *name)
{
    size_t bytes = strnlen(name, room - 1);
    while (bytes != 0 && name[bytes] != '\0' && ((unsigned char)name[bytes] & 0xc0) == 0x80)
        bytes--;
    memcpy(to, name, bytes);
    to[bytes] = '\0';
}

bool weft__text_range(const char *text, uint64_t *first, uint64_t *last)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    const uint64_t from = strtoull(text, &end, 10);
    uint64_t to = from;
    if (*end == '-' && *++end == '\0')
        to = UINT64_MAX;
    else if (end[-1] == '-')
        to = isdigit((unsigned char)*end) ? strtoull(end, &end, 10) : 0;
    if (errno != 0 || *end != '\0' || from > to) return false;
    *first = from;
    *last = to;
    return true;
}
