/* SPDX-License-Identifier: MIT */
/* world_text_read.h: one reading of a world as text: what world_text_read.c (lines, entities) and
 * world_text_types.c (types) share. */
#ifndef WEFT_WORLD_TEXT_READ_H
#define WEFT_WORLD_TEXT_READ_H

#include "value_read.h"
#include "world_runs.h"
#include "world_text_type.h"

/* Owner: weft_world_read_json, on its stack; of the world, which is new. A function that returns
 * false has filled the reading's error, or has set the world's error and `result`. */
typedef struct weft__world_text {
    weft_world *world;
    weft__reading reading; /* its parser begins again with each object */
    const char *at;        /* where the next object begins */
    weft_value_io io;
    const weft_value_io *blob_io; /* of the caller; may be NULL */
    weft_result result;           /* of a call of the library that failed */
    weft__clock clock;
    uint32_t version;               /* of the text; 0: it does not say */
    weft__run_list runs;            /* of systems and groups */
    WEFT__LIST(uint32_t) relations; /* [id] weft__relation_word of components */
    WEFT__LIST(uint32_t) ids;       /* components of the entity, ascending, without SPARSE ones */
    char *scratch;                  /* [scratch_bytes] a value on its way to the world */
    size_t scratch_bytes;
} weft__world_text;

/* What errors outside of values name. */
extern const weft_type weft__world_text_root;

/* The next token; an ERROR has been reported. */
weft__json_token weft__world_text_next(weft__world_text *t);
/* Keeps the result of a call that set the world's error. Returns false. */
bool weft__world_text_failed(weft__world_text *t, weft_result result);
/* Passes by a value. */
bool weft__world_text_skip(weft__world_text *t);
/* The next token is of this kind. */
bool weft__world_text_open(weft__world_text *t, weft__json_kind kind, const char *what);
/* The next token is a string that fits, NUL included. */
bool weft__world_text_string(weft__world_text *t, char *out, size_t capacity, const char *what);
/* The next token is a number of this kind. */
bool weft__world_text_number(weft__world_text *t, weft_field_kind kind, void *out);
/* The component that a NAME or STRING names; NULL: reported. */
const weft__type *weft__world_text_find(weft__world_text *t, const weft__json_token *token);

#endif
