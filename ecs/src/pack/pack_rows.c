/* SPDX-License-Identifier: MIT */
/* pack_rows.c: parts of rows as bytes. Reading trusts no number: it is compared with what there is
 * first. */
#include "pack_rows.h"
#include "bits.h"
#include "entity_tag.h"
#include "filter.h"

static void hooked_put(weft__out *out, const weft__type *type, const void *value)
{
    const weft_component_hooks *hooks = &type->desc.hooks;
    size_t at = weft__out_later(out), free = out->capacity - out->count;
    if (out->is_refused) return;
    size_t count = hooks->save(value, out->at + out->count, free, hooks->user);
    if (count > free) {
        char *to = weft__out_space(out, count);
        if (to == NULL) return;
        if (hooks->save(value, to, count, hooks->user) != count) memset(to, 0, count);
    }
    out->is_refused = out->is_refused || count > UINT32_MAX;
    weft__out_now(out, at, (uint32_t)count);
    out->count += count;
}

void weft__hooked_put(weft__out *out, const weft__directory *directory, const weft__type *type,
                      const void *value)
{
    size_t size = type->desc.size;
    if (!weft__type_has_tags(directory, type)) {
        hooked_put(out, type, value);
        return;
    }
    char *copy = weft__alloc(out->memory, WEFT__MEMORY_COMMANDS, size, 1, 64); /* owns nothing */
    out->is_refused = out->is_refused || copy == NULL;
    if (copy == NULL) return;
    memcpy(copy, value, size);
    weft__tags_flip(directory, type, copy, (weft__value_bytes){copy, 0, size});
    hooked_put(out, type, copy);
    weft__free(out->memory, WEFT__MEMORY_COMMANDS, copy, size, 1, 64);
}

const char *weft__hooked_get(weft__in *in, const weft__type *type, void *value)
{
    uint32_t count = weft__in_u32(in);
    const char *from = weft__in_take(in, count);
    if (from == NULL) return "a value that is cut off";
    return type->desc.hooks.load(value, from, count, type->desc.hooks.user)
               ? NULL
               : "a value that its load hook refuses";
}

void weft__blob_put(weft__out *out, const weft_blob_store *store, uint64_t id)
{
    const weft__blob_header *header = weft__blob_store_block(store, (weft_blob_ref){id});
    weft__out_u64(out, header->type_hash);
    weft__out_u64(out, header->total_bytes);
    weft__out_put(out, header, header->total_bytes);
}

void weft__disabled_put(weft__out *out, uint32_t component, const weft__span *spans, uint32_t count)
{
    size_t at = out->count;
    uint64_t word = 0, any = 0, rows = 0;
    weft__out_u8(out, 0);
    for (uint32_t i = 0; i < count; i++) {
        const weft__archetype *archetype = spans[i].chunk->archetype; /* each its own */
        const uint32_t type = weft__archetype_find(archetype, component);
        const weft_a64 *x_words =
            weft__chunk_disabled(spans[i].chunk, archetype->types[type].enableable);
        const uint32_t end = spans[i].row + spans[i].count;
        for (uint32_t row = spans[i].row; row < end; row++, rows++) {
            if (rows % 64 == 0 && rows != 0) {
                weft__out_u64(out, word);
                word = 0;
            }
            uint64_t is_disabled = at_plain(&x_words[row / 64]) >> row % 64 & 1;
            word |= is_disabled << rows % 64;
            any |= is_disabled;
        }
    }
    if (rows != 0) weft__out_u64(out, word);
    if (out->is_refused) return;
    out->at[at] = any != 0;
    if (any == 0) out->count = at + 1;
}

const char *weft__disabled_get(weft__in *in, uint32_t enableable, weft__chunk *const *chunks,
                               uint32_t count)
{
    uint64_t rows = 0, first = 0; /* first: of the chunk */
    uint8_t has_some = weft__in_u8(in);
    if (has_some > 1) return "a flag above 1";
    if (has_some == 0) return NULL;
    for (uint32_t i = 0; i < count; i++) rows += chunks[i]->count;
    for (uint64_t row = 0; row < rows; row += 64) {
        uint64_t word = weft__in_u64(in), left = rows - row;
        if ((word & ~bits_mask(left > 64 ? 64 : (uint32_t)left)) != 0)
            return "an enable bit beyond the rows";
        for (; word != 0; word &= word - 1) {
            uint64_t at = row + bits_lowest(word);
            for (; at - first >= (*chunks)->count; chunks++) first += (*chunks)->count;
            weft__chunk_enable(*chunks, enableable, (uint32_t)(at - first), false);
        }
    }
    return NULL;
}
