/* SPDX-License-Identifier: MIT */
/* utf8.c: UTF-8 by the table of its well-formed sequences (Unicode, table 3-7), and JSON escapes.
 * No state, no locale, no memory: the writers of JSON may be in the middle of anything.
 */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

uint64_t weft__utf8_sequence(const unsigned char *p, uint64_t left)
{
    static const struct {
        unsigned char first, last, second_min, second_max, bytes;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE1, 0xEC, 0x80, 0xBF, 3},
                 {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    if (*p < 0x80) return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (*p < forms[i].first || *p > forms[i].last) continue;
        if (left < forms[i].bytes || p[1] < forms[i].second_min || p[1] > forms[i].second_max) {
            return 0;
        }
        for (unsigned k = 2; k < forms[i].bytes; k++) {
            if ((p[k] & 0xC0) != 0x80) return 0;
        }
        return forms[i].bytes;
    }
    return 0;
}

/* Bytes below 0x80 at the begin, eight at a time and then one by one. */
static uint64_t ascii_run(const char *text, uint64_t bytes)
{
    uint64_t done = 0, word;
    for (; bytes - done >= 8; done += 8) {
        memcpy(&word, text + done, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0) break;
    }
    while (done < bytes && (unsigned char)text[done] < 0x80) done++;
    return done;
}

uint64_t weft__utf8_span(const char *text, uint64_t bytes)
{
    uint64_t done = ascii_run(text, bytes);
    while (done < bytes) {
        uint64_t length = weft__utf8_sequence((const unsigned char *)text + done, bytes - done);
        if (length == 0) break;
        done += length;
        done += ascii_run(text + done, bytes - done);
    }
    return done;
}

bool weft__name_fits(const char *name, size_t most)
{
    size_t bytes = name == NULL ? 0 : strlen(name);
    return bytes != 0 && bytes <= most && weft__utf8_span(name, bytes) == bytes;
}

size_t weft__utf8_cut(const char *text, size_t bytes, size_t most)
{
    if (bytes <= most) return bytes;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80) most--;
    return most;
}

const char *weft__json_piece(const char *text, char piece[WEFT__JSON_PIECE_BYTES])
{
    const unsigned char c = (unsigned char)*text;
    const uint64_t bytes = weft__utf8_sequence((const unsigned char *)text, strnlen(text, 4));
    if (c == '"' || c == '\\') {
        snprintf(piece, WEFT__JSON_PIECE_BYTES, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f || bytes == 0) {
        snprintf(piece, WEFT__JSON_PIECE_BYTES, "\\u%04x", bytes == 0 ? 0xFFFDu : c);
    } else {
        memcpy(piece, text, bytes);
        piece[bytes] = '\0';
    }
    return text + (bytes == 0 ? 1 : bytes);
}
