/* SPDX-License-Identifier: MIT */
/* evolution.h: layouts of components in files, and values whose layout there is another than the
 * world's: a list of steps from the one to the other, made once per type from the names of fields.
 * No world, no file: a reader asks for a plan per type and applies it to each value. */
#pragma once

#include "bytes.h"
#include "pile.h"

#include <weft/type.h>
#include <weft/world_file.h>

/* What a file says of a component. Owner: who reads it; fields and names are in its pile. */
typedef struct weft__file_type {
    weft_component_desc desc; /* name and fields are the layout's */
    uint64_t hash;            /* weft_component_hash */
    bool is_hooked;           /* values are what a save hook made */
    char name[256];
    char *names; /* [field_count][256] */
} weft__file_type;

/* text name, u64 hash, u32 flags, size, alignment, inline elements, chunk row limit, u8 has hooks,
 * u32 fields, each: text name, u32 kind (weft__kind_number), offset, count. `info` is that of
 * weft_component_info. */
WEFT__DOOR void weft__file_type_put(weft__out *out, const weft_component_desc *info);
/* NULL, or what is wrong, "": memory was refused. Whether the fields are possible is asked by who
 * uses them. */
WEFT__DOOR const char *weft__file_type_get(weft__in *in, weft__pile *pile, weft__file_type *out);
/* A text (bytes.h) of `least` to 255 bytes without NUL. */
bool weft__in_name(weft__in *in, char out[256], uint32_t least);

/* One field, or a part of one. A value. */
typedef struct weft__evolution_step {
    uint32_t from, to; /* bytes from the start of both values */
    uint32_t count;    /* numbers; of bytes 1 */
    uint32_t bytes;    /* of one number, or all bytes that are copied */
    uint32_t rest;     /* bytes behind them that may hold nothing */
    bool is_number;    /* converted; else copied */
    bool is_text;      /* of the rest only what lies before a NUL counts */
    weft_field_kind from_kind, to_kind;
    const char *name; /* of the field in the world, which keeps it */
} weft__evolution_step;

/* The way of one type. Owner: one load, whose pile has both arrays. Always: start has to_bytes. */
typedef struct weft__evolution {
    weft__evolution_step *steps;
    uint32_t step_count;
    size_t from_bytes, to_bytes;
    char *start; /* the value before the steps: initial, references null */
    const weft_load_migration *migration;
    bool is_needed; /* false: the bytes are the same */
} weft__evolution;

/* Both layouts; `from` is untrusted, `to` of a registered type. */
typedef struct weft__evolution_ends {
    const weft_component_desc *from, *to;
    uint64_t from_hash;
} weft__evolution_ends;

/* The name that a component of the file has now. */
const char *weft__evolution_name(const weft_load_desc *desc, const char *name);

/* Makes the plan, and reports every difference to desc->changed. False: the layouts do not go
 * together, `text` says why; empty: out of memory. */
WEFT__DOOR bool weft__evolution_init(weft__pile *pile, const weft_load_desc *desc,
                                     const weft__evolution_ends *ends, weft__evolution *out,
                                     char text[400]);

/* Fills a value. False: `text` says which field cannot take its number. */
WEFT__DOOR bool weft__evolution_apply(const weft__evolution *evolution, const char *from, char *to,
                                      char text[400]);
