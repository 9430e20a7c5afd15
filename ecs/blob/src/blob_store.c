/* SPDX-License-Identifier: MIT */
/* blob_store.c: blobs by handle: reference counts, one copy of equal content, freeing.
 *
 * A slot's state word holds generation and references. Everything that changes which blobs exist
 * (insert, the end of the last release) happens under one lock; taking and giving references and
 * resolving a handle do not need it.
 *
 * S1  add_segment: slots initialised, release of x_segments -> slot_at: acquire of it
 * S2  publish: block and type, release of x_state -> slot_of: acquire of x_state, then the block
 *     (the generation in the word proves that it is this block)
 * S3  release: CAS references - 1 -> last release: CAS to 0, which frees: every reader is over
 *     before its own release, so before the memory goes
 * S4  number_return: release of the number's first count -> number_take: CAS of it
 *
 * A CAS from 0 references never succeeds, so a blob on its way out is not found again: an insert of
 * equal content meanwhile makes a new blob. Who brought the count to 0 is the only one that unlinks
 * and frees the slot; from its S3 on no other thread may touch the block. */
#include "blob_store.h"
#include "bits.h"
#include "blob_type.h"
#include "invariant.h"
#include "sized.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define REFERENCES(state) ((uint32_t)(state))
#define GENERATION(state) ((uint32_t)((state) >> 32))
#define STATE(generation, references) ((uint64_t)(generation) << 32 | (references))
/* A generation is the number of the store and a count from 1: a reference of another store differs
 * in the word that is compared anyway. A slot whose count is used up is retired. A number that is
 * given again goes on counting where the store before it ended. */
#define STORE_SHIFT 16
#define COUNT_MASK ((1u << STORE_SHIFT) - 1)
#define PAGE_BYTES ((size_t)4096)

/* Segment number and place of a slot index: segment s starts at FIRST * (2^s - 1). */
static uint32_t segment_of(uint32_t index, uint32_t *place)
{
    uint64_t shifted = (uint64_t)index + BLOB_SEGMENT_FIRST;
    uint32_t segment = bits_highest(shifted) - bits_highest(BLOB_SEGMENT_FIRST);
    *place = (uint32_t)(shifted - ((uint64_t)BLOB_SEGMENT_FIRST << segment));
    return segment;
}

static blob_slot *slot_at(const weft_blob_store *store, uint32_t index)
{
    uint32_t place;
    uint32_t segment = segment_of(index, &place);
    if (segment >= BLOB_SEGMENTS) return NULL;
    blob_slot *slots = at_load_acq(&store->x_segments[segment]); /* S1 */
    return slots == NULL ? NULL : &slots[place];
}

/* The slot of a handle that is alive now, or NULL. */
static blob_slot *slot_of(const weft_blob_store *store, weft_blob_ref ref, uint64_t *state)
{
    blob_slot *slot = slot_at(store, (uint32_t)ref.id);
    if (slot == NULL) return NULL;
    *state = at_load_acq(&slot->x_state); /* S2 */
    bool is_alive = GENERATION(*state) == (uint32_t)(ref.id >> 32) && REFERENCES(*state) != 0;
    return is_alive ? slot : NULL;
}

weft_result weft__blob_block_create(weft_blob_store *store, size_t bytes, weft__blob_block *out)
{
    *out = (weft__blob_block){.backing = BLOB_HEAP};
    if (bytes > BLOB_BYTES_MAX) return WEFT_OUT_OF_MEMORY;
    if (!store->protects) {
        out->reserved_bytes = weft__blob_reserve(bytes);
        out->memory = weft__alloc(store->memory, WEFT__MEMORY_BLOBS, out->reserved_bytes, 1,
                                  WEFT_BLOB_ALIGNMENT_MAX);
        return out->memory != NULL ? WEFT_OK : WEFT_OUT_OF_MEMORY;
    }
    out->backing = BLOB_PAGES;
    out->reserved_bytes = bits_align_up(bytes, PAGE_BYTES);
    out->memory = store->os->map(store->os->user, out->reserved_bytes, PAGE_BYTES);
    if (out->memory == NULL) return WEFT_OUT_OF_MEMORY;
    weft__memory_count(store->memory, WEFT__MEMORY_BLOBS, (int64_t)out->reserved_bytes);
    return WEFT_OK;
}

void weft__blob_block_destroy(weft_blob_store *store, weft__blob_block *block)
{
    if (block->memory == NULL) return;
    if (block->backing == BLOB_HEAP) {
        weft__free(store->memory, WEFT__MEMORY_BLOBS, block->memory, block->reserved_bytes, 1,
                   WEFT_BLOB_ALIGNMENT_MAX);
    } else {
        store->os->unmap(store->os->user, block->memory, block->reserved_bytes);
        if (block->backing == BLOB_PAGES)
            weft__memory_count(store->memory, WEFT__MEMORY_BLOBS, -(int64_t)block->reserved_bytes);
    }
    block->memory = NULL;
}

/* ---- slots and the content table; all with the lock held ---- */

static weft_result add_segment_locked(weft_blob_store *store, uint32_t segment)
{
    if (segment >= BLOB_SEGMENTS) return WEFT_LIMIT;
    if (at_plain(&store->x_segments[segment]) != NULL) return WEFT_OK;
    const size_t count = (size_t)BLOB_SEGMENT_FIRST << segment;
    blob_slot *slots =
        weft__alloc_zeroed(store->memory, WEFT__MEMORY_BLOBS, count, sizeof *slots, 8);
    if (slots == NULL) return WEFT_OUT_OF_MEMORY;
    /* All of them now: from S1 on an invented handle may look at any. */
    const uint32_t first = store->number << STORE_SHIFT | store->first_count;
    for (size_t i = 0; i < count; i++) at_init(&slots[i].x_state, STATE(first, 0));
    at_store_rel(&store->x_segments[segment], (void *)slots); /* S1 */
    return WEFT_OK;
}

/* A slot without references. */
static weft_result take_slot_locked(weft_blob_store *store, uint32_t *out)
{
    if (store->free_first != BLOB_NO_SLOT) {
        *out = store->free_first;
        store->free_first = slot_at(store, *out)->next;
        return WEFT_OK;
    }
    uint32_t place;
    weft_result result = add_segment_locked(store, segment_of(store->slot_count, &place));
    if (result != WEFT_OK) return result;
    *out = store->slot_count++;
    return WEFT_OK;
}

static uint32_t slot_hash(const blob_slot *slot)
{
    const weft__blob_header *header = slot->block.memory;
    return (uint32_t)header->content_hash;
}

/* One more reference unless there are none (or 2^32 - 1) left. Readers go through slot_of, which
 * acquires S2 once more: a relaxed CAS would do, but the door has none. */
static weft_result add_reference(blob_slot *slot, uint32_t generation)
{
    uint64_t state = at_load_rlx(&slot->x_state); /* rlx: the CAS decides */
    do {
        if (GENERATION(state) != generation || REFERENCES(state) == 0) return WEFT_BAD_HANDLE;
        if (REFERENCES(state) == UINT32_MAX) return WEFT_LIMIT;
    } while (!at_cas_ar(&slot->x_state, &state, state + 1)); /* S2, S3 */
    return WEFT_OK;
}

static bool blocks_are_equal(const weft__blob_header *a, const weft__blob_header *b)
{
    return a->content_hash == b->content_hash && a->type_hash == b->type_hash &&
           a->total_bytes == b->total_bytes && memcmp(a, b, a->total_bytes) == 0;
}

/* References the blob equal to `header`; BLOB_NO_SLOT when there is none. */
static uint32_t share_locked(weft_blob_store *store, const weft__blob_header *header)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&store->content, (uint32_t)header->content_hash, &step)) !=
           0) {
        blob_slot *slot = slot_at(store, number - 1);
        uint64_t state = at_load_rlx(&slot->x_state); /* rlx: publish held the lock, too */
        /* The block is ours to read: who brought it to 0 references still needs the lock to free
         * it. */
        if (blocks_are_equal(slot->block.memory, header) &&
            add_reference(slot, GENERATION(state)) == WEFT_OK)
            return number - 1;
    }
    return BLOB_NO_SLOT;
}

static void publish_locked(weft_blob_store *store, uint32_t index, const weft__blob_block *block,
                           const weft_blob_type *type)
{
    blob_slot *slot = slot_at(store, index);
    slot->block = *block;
    slot->type = type;
    weft__table_put(&store->content, slot_hash(slot), index + 1);
    store->stats.blob_count++;
    store->stats.block_bytes += ((const weft__blob_header *)block->memory)->total_bytes;
    uint32_t generation = GENERATION(at_load_rlx(&slot->x_state)); /* rlx: set under the lock */
    uint32_t count = generation & COUNT_MASK;
    if (count >= store->count_end) store->count_end = count + 1;
    at_store_rel(&slot->x_state, STATE(generation, 1)); /* S2 */
}

weft_result weft__blob_store_insert(weft_blob_store *store, weft__blob_block *block,
                                    const weft_blob_type *type, weft_blob_ref *out)
{
    weft_result result = WEFT_OK;
    if (block->backing == BLOB_PAGES) {
        const weft__os_files *files = weft__os_files_of(store->os);
        result = files->protect(files->user, block->memory, block->reserved_bytes, false);
        if (result != WEFT_OK) return result;
    }
    weft__lock_lock(&store->lock);
    uint32_t index = share_locked(store, block->memory);
    if (index != BLOB_NO_SLOT) {
        store->stats.shared_count++;
        weft__blob_block_destroy(store, block);
    } else {
        bool has_room = weft__table_room(store->memory, WEFT__MEMORY_BLOBS, &store->content,
                                         store->content.count + 1);
        result = has_room ? take_slot_locked(store, &index) : WEFT_OUT_OF_MEMORY;
        if (result == WEFT_OK) publish_locked(store, index, block, type);
    }
    if (result == WEFT_OK) {
        uint64_t state =
            at_load_rlx(&slot_at(store, index)->x_state); /* rlx: we hold a reference */
        out->id = STATE(GENERATION(state), index);
    }
    weft__lock_unlock(&store->lock);
    return result;
}

/* The last reference is gone: takes the blob out. A count that would wrap retires the slot: 0 is
 * no count of a reference. */
static void remove_locked(weft_blob_store *store, uint32_t index, uint32_t generation)
{
    blob_slot *slot = slot_at(store, index);
    weft__table_take(&store->content, slot_hash(slot), index + 1);
    store->stats.blob_count--;
    store->stats.block_bytes -= ((const weft__blob_header *)slot->block.memory)->total_bytes;
    weft__blob_block_destroy(store, &slot->block);
    /* rlx: tells stale handles that they are; publishes nothing */
    at_store_rlx(&slot->x_state, STATE(generation + 1, 0));
    if (((generation + 1) & COUNT_MASK) == 0) return;
    slot->next = store->free_first;
    store->free_first = index;
}

/* ---- numbers of stores ---- */

#define NUMBER_TAKEN UINT32_MAX /* by a living store, or its counts are used up */

/* Of a number of 1..65,535: the first count of the next store that has it, less 1. */
static weft_a32 *counts_of(uint32_t number)
{
    static weft_a32 x_counts[UINT16_MAX + 1];
    return &x_counts[number];
}

/* A number that no living store has, and counts that none ever had with it. False: there is none.
 */
static bool number_take(weft_blob_store *store)
{
    static weft_a32 x_asked;
    for (uint32_t i = 0; i < UINT16_MAX; i++) {
        /* relaxed: where to look first; the CAS decides */
        uint32_t number = at_add_rlx(&x_asked, 1) % UINT16_MAX + 1;
        uint32_t counts = at_load_rlx(counts_of(number)); /* rlx: the CAS decides */
        if (counts == NUMBER_TAKEN) continue;
        if (!at_cas_ar(counts_of(number), &counts, NUMBER_TAKEN)) continue; /* S4 */
        store->number = number;
        store->first_count = store->count_end = counts + 1;
        return true;
    }
    return false;
}

static void number_return(const weft_blob_store *store)
{
    if (store->count_end > COUNT_MASK) return;
    at_store_rel(counts_of(store->number), store->count_end - 1); /* S4 */
}

/* ---- public ---- */

weft_result weft__blob_store_make(weft__memory *memory, const weft__memory *own, const weft_os *os,
                                  uint32_t protection, weft_blob_store **out)
{
    weft__memory copy;
    if (memory == NULL) copy = *own;
    weft_blob_store *store = weft__alloc_zeroed(memory != NULL ? memory : &copy, WEFT__MEMORY_BLOBS,
                                                1, sizeof *store, _Alignof(weft_blob_store));
    if (store == NULL) return WEFT_OUT_OF_MEMORY;
    if (memory == NULL) store->own_memory = copy;
    store->memory = memory != NULL ? memory : &store->own_memory;
    store->os = os != NULL ? os : weft__os_default();
    weft__lock_init(&store->lock, store->os);
    store->protects = protection == WEFT_BLOB_PROTECT_ALWAYS ||
                      (protection == WEFT_BLOB_PROTECT_CHECKED && WEFT_IS_CHECKED);
    store->free_first = BLOB_NO_SLOT;
    if (!number_take(store)) {
        weft__blob_store_free(store);
        return WEFT_LIMIT;
    }
    *out = store;
    return WEFT_OK;
}

weft_result weft_blob_store_create(const weft_blob_store_desc *desc, weft_blob_store **out)
{
    static const weft_blob_store_desc defaults;
    if (desc == NULL) desc = &defaults;
    if (out == NULL || desc->protection > WEFT_BLOB_PROTECT_NEVER) return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    weft__memory memory;
    weft_result result = weft__memory_init(&memory, &desc->allocator);
    if (result != WEFT_OK) return result;
    return weft__blob_store_make(NULL, &memory, desc->os, desc->protection, out);
}

weft_result weft_blob_store_destroy(weft_blob_store *store)
{
    if (store == NULL) return WEFT_OK;
    if (store->memory != &store->own_memory)
        return weft__blob_store_fail(store, WEFT_BUSY, NULL,
                                     "weft_blob_store_destroy: it is of a world, which destroys "
                                     "it: call weft_world_destroy");
    if (store->stats.builders != 0)
        return weft__blob_store_fail(store, WEFT_BUSY, NULL,
                                     "weft_blob_store_destroy: it has builders: call "
                                     "weft_blob_builder_destroy for each before");
    weft__blob_store_free(store);
    return WEFT_OK;
}

void weft__blob_store_free(weft_blob_store *store)
{
    if (store == NULL) return;
    for (uint32_t i = 0; i < store->slot_count; i++)
        weft__blob_block_destroy(store, &slot_at(store, i)->block);
    for (uint32_t i = 0; i < BLOB_SEGMENTS; i++)
        weft__free(store->memory, WEFT__MEMORY_BLOBS, at_plain(&store->x_segments[i]),
                   (size_t)BLOB_SEGMENT_FIRST << i, sizeof(blob_slot), 8);
    weft__table_free(store->memory, WEFT__MEMORY_BLOBS, &store->content);
    if (store->number != 0) number_return(store);
    weft__memory own = store->own_memory; /* the hook outlives the store that it frees */
    weft__memory *memory = store->memory == &store->own_memory ? &own : store->memory;
    weft__free(memory, WEFT__MEMORY_BLOBS, store, 1, sizeof *store, _Alignof(weft_blob_store));
}

void weft__blob_store_built(weft_blob_store *store, int more)
{
    weft__lock_lock(&store->lock);
    store->stats.builders += (uint32_t)more;
    weft__lock_unlock(&store->lock);
}

weft_result weft_blob_store_stats_get(weft_blob_store *store, weft_blob_store_stats *out,
                                      size_t out_bytes)
{
    if (store == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    weft__lock_lock(&store->lock);
    weft__sized_fill(out, out_bytes, &store->stats, sizeof store->stats);
    weft__lock_unlock(&store->lock);
    return WEFT_OK;
}

void weft_blob_store_error(weft_blob_store *store, weft_error *out)
{
    if (out == NULL) return;
    *out = (weft_error){.code = WEFT_INVALID_ARGUMENT, .text = "the store is NULL"};
    if (store == NULL) return;
    weft__lock_lock(&store->lock);
    *out = store->error;
    weft__lock_unlock(&store->lock);
}

weft_result weft__blob_store_fail(weft_blob_store *store, weft_result code, const char *file,
                                  const char *format, ...)
{
    weft_error *error = &store->error;
    va_list arguments;
    va_start(arguments, format);
    weft__lock_lock(&store->lock);
    weft__error_fill_list(error, code, format, arguments);
    if (file != NULL) weft__error_name(error->file, sizeof error->file, file);
    weft__lock_unlock(&store->lock);
    va_end(arguments);
    return code;
}

weft_result weft_blob_acquire(weft_blob_store *store, weft_blob_ref ref)
{
    if (store == NULL) return WEFT_INVALID_ARGUMENT;
    blob_slot *slot = slot_at(store, (uint32_t)ref.id);
    return slot == NULL ? WEFT_BAD_HANDLE : add_reference(slot, (uint32_t)(ref.id >> 32));
}

weft_result weft_blob_release(weft_blob_store *store, weft_blob_ref ref)
{
    if (store == NULL) return WEFT_INVALID_ARGUMENT;
    uint64_t state;
    blob_slot *slot = slot_of(store, ref, &state);
    if (slot == NULL) return WEFT_BAD_HANDLE;
    while (!at_cas_ar(&slot->x_state, &state, state - 1)) { /* S3 */
        if (GENERATION(state) != (uint32_t)(ref.id >> 32) || REFERENCES(state) == 0)
            return WEFT_BAD_HANDLE;
    }
    if (REFERENCES(state) != 1) return WEFT_OK;
    weft__lock_lock(&store->lock);
    remove_locked(store, (uint32_t)ref.id, GENERATION(state));
    weft__lock_unlock(&store->lock);
    return WEFT_OK;
}

const weft__blob_header *weft__blob_store_block(const weft_blob_store *store, weft_blob_ref ref)
{
    uint64_t state;
    const blob_slot *slot = slot_of(store, ref, &state);
    return slot == NULL ? NULL : slot->block.memory;
}

const weft_blob_type *weft__blob_store_type(const weft_blob_store *store, weft_blob_ref ref)
{
    uint64_t state;
    const blob_slot *slot = slot_of(store, ref, &state);
    return slot == NULL ? NULL : slot->type;
}

/* Types declared in two files are two descriptions with one hash. */
static bool is_type(const blob_slot *slot, const weft_blob_type *type)
{
    if (type == NULL || type == slot->type) return true;
    weft__blob_plan plan;
    const weft__blob_header *header = slot->block.memory;
    return weft__blob_plan_init(&plan, type) == WEFT_OK && plan.type_hash == header->type_hash;
}

const void *weft_blob_read(const weft_blob_store *store, weft_blob_ref ref,
                           const weft_blob_type *type)
{
    uint64_t state;
    if (store == NULL) return NULL;
    const blob_slot *slot = slot_of(store, ref, &state);
    if (slot == NULL || !is_type(slot, type)) return NULL;
    return (const char *)slot->block.memory + WEFT_BLOB_HEADER_BYTES;
}

weft_result weft_blob_info_get(const weft_blob_store *store, weft_blob_ref ref, weft_blob_info *out,
                               size_t out_bytes)
{
    uint64_t state;
    if (store == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    const blob_slot *slot = slot_of(store, ref, &state);
    if (slot == NULL) return WEFT_BAD_HANDLE;
    const weft__blob_header *header = slot->block.memory;
    weft_blob_info info = {.block = header,
                           .block_bytes = header->total_bytes,
                           .type_hash = header->type_hash,
                           .content_hash = header->content_hash,
                           .reference_count = REFERENCES(state),
                           .is_mapped = slot->block.backing == BLOB_MAPPED};
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

void weft_blob_access_failed(const weft_blob_array *array, uint64_t index)
{
    char text[160];
    const bool is_building = array->count == 0 && array->offset != 0;
    snprintf(text, sizeof text, "index %llu < count %llu%s", (unsigned long long)index,
             (unsigned long long)array->count,
             is_building ? " (still being built: use the pointer that the builder returned)" : "");
    weft__assert_failed("blob array", 0, text);
}
