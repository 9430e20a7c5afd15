/* SPDX-License-Identifier: MIT */
/* pack_rows.h: rows as bytes, and back: what world files and section files have in common.
 *
 * Owner of the rows. */
#pragma once

#include "archetype_state.h"
#include "blob_store.h"
#include "bytes.h"
#include "directory.h"

/* Whether values of a type are written by its save hook. */
static inline bool weft__type_is_hooked(const weft__type *type)
{
    return type->desc.hooks.save != NULL;
}

/* The bytes that the save hook makes of a value, which it gets without tags: u32 count, bytes. */
void weft__hooked_put(weft__out *out, const weft__directory *directory, const weft__type *type,
                      const void *value);
/* Gives them to the load hook of a constructed value. NULL, or what is wrong. */
const char *weft__hooked_get(weft__in *in, const weft__type *type, void *value);

/* A blob that is there: u64 hash of its type, u64 bytes, bytes. */
void weft__blob_put(weft__out *out, const weft_blob_store *store, uint64_t id);

/* Enable bits of the rows of spans: u8 0 (all enabled), or 1 and u64 disabled bits[]. */
void weft__disabled_put(weft__out *out, uint32_t component, const weft__span *spans,
                        uint32_t count);
/* Gives them to the rows of chunks, all enabled so far. NULL, or what is wrong. */
const char *weft__disabled_get(weft__in *in, uint32_t enableable, weft__chunk *const *chunks,
                               uint32_t count);
