/* SPDX-License-Identifier: MIT */
/* utf8.h: UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF), and text as JSON wants
 * it. Pure functions. */
#pragma once

#include "door.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT__JSON_PIECE_BYTES = 8 };

/* Bytes of the sequence that `p` begins with, or 0 when it is none. `left`: bytes at `p`, at least
 * 1. */
uint64_t weft__utf8_sequence(const unsigned char *p, uint64_t left);

/* How many bytes at the begin of a text are UTF-8: `bytes`, if all are. */
WEFT__DOOR uint64_t weft__utf8_span(const char *text, uint64_t bytes);
/* Whether a text can be a name: 1 to `most` bytes of UTF-8. NULL cannot. All names that come in by
 * calls keep to it, so that texts that hold them are read back to the same. */
WEFT__DOOR bool weft__name_fits(const char *name, size_t most);

/* The bytes of a text of `bytes` that are kept where `most` fit: none but whole characters. */
WEFT__DOOR size_t weft__utf8_cut(const char *text, size_t bytes, size_t most);

/* The first character of a text that is not empty, as it stands inside a JSON string: `piece` gets
 * it, NUL-terminated; a byte that is not UTF-8 becomes U+FFFD. Returns where the text goes on. */
WEFT__DOOR const char *weft__json_piece(const char *text, char piece[WEFT__JSON_PIECE_BYTES]);
