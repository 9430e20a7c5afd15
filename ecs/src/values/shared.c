/* SPDX-License-Identifier: MIT */
/* shared.c: interning of shared component values.
 *
 * Per type: values in pages of doubling size (so that a value never moves), each with its reference
 * count in front of it, and an open-addressing table of (hash, index) at most half full, searched
 * linearly, with deletion by shifting back (no tombstones, so misses stay short). A look-up touches
 * one line of the table and one of the value. */
#include "shared.h"
#include "bits.h"
#include "error.h"
#include "field.h"
#include "hash.h"
#include "table.h"

#define PAGE_SHIFT 4 /* slots of the first page: 16; page p holds 16 << p */
#define PAGE_LIMIT 28

#define SLOT_DISOWNED (UINT32_C(1) << 31)

/* In front of each value, in a page that never moves. Owner: its weft__shared_type. `references` 0:
 * free. Of a live one always: kept without SLOT_DISOWNED <= references. */
typedef struct shared_slot {
    uint32_t references;
    union {
        uint32_t next_free; /* free: index, 0 = end of list */
        uint32_t kept; /* live: references of snapshots, part of all; SLOT_DISOWNED or-ed to it */
    };
    uint32_t hash; /* of the table entry, so that deletion need not hash again */
} shared_slot;

/* A run of bytes that counts for equality. Owner: its weft__shared_type. Always: offset + bytes <=
 * size of the type. */
typedef struct shared_range {
    uint32_t offset;
    uint32_t bytes;
    uint32_t float_bytes; /* not 0: floats of this size, whose -0.0 becomes 0.0 */
} shared_range;

/* One SHARED component. Owner: weft__shared. Always:
 *   table.count = live values;
 *   live values + slots on the free list = slot_count (live: references != 0);
 *   a live slot's references = tuples + filters + kept; types with ranges hold canonical bytes. */
struct weft__shared_type {
    /* constant after create */
    const weft_component_desc *desc;
    size_t size;
    size_t value_offset; /* from the slot to its value */
    size_t stride;       /* bytes from slot to slot */
    size_t alignment;
    shared_range *ranges; /* NULL: all bytes count */
    uint32_t range_count;
    /* owner only */
    unsigned char *scratch; /* [size] canonical form of the value looked for */
    unsigned char *zero;    /* [size] the default */
    weft__table table;      /* of indices */
    uint32_t slot_count;
    uint32_t free_head;
    uint32_t page_count;
    unsigned char *pages[PAGE_LIMIT];
};

static size_t page_slots(uint32_t page)
{
    return (size_t)1 << (page + PAGE_SHIFT);
}

static uint32_t page_of(uint32_t index)
{
    return bits_highest((uint64_t)index - 1 + (1u << PAGE_SHIFT)) - PAGE_SHIFT;
}

static shared_slot *slot_at(const weft__shared_type *type, uint32_t index)
{
    uint32_t page = page_of(index);
    size_t first = page_slots(page) - (1u << PAGE_SHIFT); /* slots of all pages before it */
    return (shared_slot *)(void *)(type->pages[page] + (index - 1 - first) * type->stride);
}

static void *slot_value(const weft__shared_type *type, shared_slot *slot)
{
    return (unsigned char *)slot + type->value_offset;
}

static weft__shared_type *type_at(const weft__shared *shared, uint32_t component)
{
    WEFT_ASSERT(weft__shared_has_type(shared, component));
    return shared->types.at[component];
}

/* ---- content ---- */

/* A negative zero is the sign bit alone. */
static void clear_negative_zeroes(unsigned char *values, uint32_t bytes, uint32_t each)
{
    for (uint32_t at = 0; at + each <= bytes; at += each) {
        uint64_t word = 0;
        memcpy(&word, values + at, each);
        if (word == UINT64_C(1) << (each * 8 - 1)) memset(values + at, 0, each);
    }
}

/* The bytes that stand for a value: its own, or a copy in the scratch with zero padding. */
static const void *canonical(const weft__shared_type *type, const void *value)
{
    if (type->ranges == NULL) return value;
    memset(type->scratch, 0, type->size);
    for (uint32_t i = 0; i < type->range_count; i++) {
        const shared_range *range = &type->ranges[i];
        unsigned char *to = type->scratch + range->offset;
        memcpy(to, (const unsigned char *)value + range->offset, range->bytes);
        if (range->float_bytes != 0) clear_negative_zeroes(to, range->bytes, range->float_bytes);
    }
    return type->scratch;
}

static void *hook_user(const weft__shared_type *type)
{
    return type->desc->hooks.user;
}

/* Values of up to four words are compared and hashed inline: calls of memcmp and the general hash
 * took 30 of 52 ns of a look-up among 65,536 values of 8 bytes. */
static bool bytes_equal(const void *a, const void *b, size_t bytes)
{
    const unsigned char *p = a, *q = b;
    if (bytes > 32) return memcmp(p, q, bytes) == 0;
    for (; bytes >= 8; bytes -= 8, p += 8, q += 8) {
        uint64_t x, y;
        memcpy(&x, p, 8);
        memcpy(&y, q, 8);
        if (x != y) return false;
    }
    for (; bytes >= 4; bytes -= 4, p += 4, q += 4) {
        uint32_t x, y;
        memcpy(&x, p, 4);
        memcpy(&y, q, 4);
        if (x != y) return false;
    }
    for (; bytes != 0; bytes--, p++, q++)
        if (*p != *q) return false;
    return true;
}

static uint64_t bytes_hash(const void *value, size_t bytes)
{
    const unsigned char *p = value;
    if (bytes > 32) return hash_bytes(HASH_K0, value, bytes);
    uint64_t hash = HASH_K0, word = 0;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        hash = hash_fold(hash ^ word, HASH_K1);
    }
    if (bytes == 0) return hash;
    uint32_t half = 0;
    if (bytes >= 4) memcpy(&half, p, 4);
    word = half;
    for (size_t i = bytes & 4; i < bytes; i++) word = (word << 8) ^ p[i];
    return hash_fold(hash ^ word, HASH_K1);
}

static uint32_t content_hash(const weft__shared_type *type, const void *value)
{
    uint64_t hash = type->desc->shared_hash == NULL
                        ? bytes_hash(value, type->size)
                        : hash_word(HASH_K0, type->desc->shared_hash(value, hook_user(type)));
    return (uint32_t)(hash ^ (hash >> 32));
}

static bool content_equal(const weft__shared_type *type, const void *a, const void *b)
{
    if (type->desc->shared_equal == NULL) return bytes_equal(a, b, type->size);
    return type->desc->shared_equal(a, b, hook_user(type));
}

/* Index of a canonical value in the table, or 0. */
static uint32_t table_find(const weft__shared_type *type, const void *value, uint32_t hash)
{
    uint32_t step = 0, index;
    while ((index = weft__table_next(&type->table, hash, &step)) != 0)
        if (content_equal(type, slot_value(type, slot_at(type, index)), value)) break;
    return index;
}

/* ---- values ---- */

/* A free index, or 0 when memory is refused. */
static uint32_t slot_reserve(weft__shared *shared, weft__shared_type *type)
{
    if (type->free_head != 0) return type->free_head;
    uint32_t index = type->slot_count + 1;
    uint32_t page = page_of(index);
    if (page == type->page_count) {
        if (page == PAGE_LIMIT) return 0;
        type->pages[page] = weft__alloc(shared->memory, WEFT__MEMORY_SHARED, page_slots(page),
                                        type->stride, type->alignment);
        if (type->pages[page] == NULL) return 0;
        type->page_count++;
    }
    return index;
}

static weft_result insert(weft__shared *shared, weft__shared_type *type, const void *value,
                          uint32_t hash, uint32_t *out)
{
    if (!weft__table_room(shared->memory, WEFT__MEMORY_SHARED, &type->table, type->table.count + 1))
        return WEFT_OUT_OF_MEMORY;
    uint32_t index = slot_reserve(shared, type);
    if (index == 0) return WEFT_OUT_OF_MEMORY;
    shared_slot *slot = slot_at(type, index);
    if (index == type->free_head)
        type->free_head = slot->next_free;
    else
        type->slot_count = index;
    *slot = (shared_slot){.references = 1, .hash = hash};
    memcpy(slot_value(type, slot), value, type->size);
    weft__table_put(&type->table, hash, index);
    *out = index;
    return WEFT_OK;
}

weft_result weft__shared_intern(weft__shared *shared, uint32_t component, const void *value,
                                uint32_t *index)
{
    weft__shared_type *type = type_at(shared, component);
    value = canonical(type, value);
    if (content_equal(type, type->zero, value)) {
        *index = 0;
        return WEFT_OK;
    }
    uint32_t hash = content_hash(type, value);
    *index = table_find(type, value, hash);
    if (*index == 0) return insert(shared, type, value, hash, index);
    slot_at(type, *index)->references++;
    return WEFT_OK;
}

bool weft__shared_find(const weft__shared *shared, uint32_t component, const void *value,
                       uint32_t *index)
{
    const weft__shared_type *type = type_at(shared, component);
    value = canonical(type, value);
    *index = 0;
    if (content_equal(type, type->zero, value)) return true;
    *index = table_find(type, value, content_hash(type, value));
    return *index != 0;
}

void weft__shared_acquire(weft__shared *shared, uint32_t component, uint32_t index, uint32_t count)
{
    if (index == 0) return;
    shared_slot *slot = slot_at(type_at(shared, component), index);
    WEFT_ASSERT(slot->references != 0);
    slot->references += count;
}

/* Runs the release hook on a value whose bytes are this store's. */
static void value_end(const weft__shared *shared, const weft__shared_type *type, shared_slot *slot)
{
    weft__hook running;
    if (type->desc->shared_release == NULL || (slot->kept & SLOT_DISOWNED) != 0) return;
    weft__hook_begin(&running, shared->world);
    type->desc->shared_release(slot_value(type, slot), hook_user(type));
    weft__hook_end(&running, "shared_release", type->desc->name);
}

void weft__shared_release(weft__shared *shared, uint32_t component, uint32_t index, uint32_t count)
{
    if (index == 0) return;
    weft__shared_type *type = type_at(shared, component);
    shared_slot *slot = slot_at(type, index);
    WEFT_ASSERT(slot->references >= count);
    slot->references -= count;
    if (slot->references != 0) return;
    weft__table_take(&type->table, slot->hash, index);
    value_end(shared, type, slot);
    slot->next_free = type->free_head;
    type->free_head = index;
}

void weft__shared_disown(weft__shared *shared, uint32_t component, uint32_t index, bool is_disowned)
{
    if (index == 0) return;
    shared_slot *slot = slot_at(type_at(shared, component), index);
    WEFT_ASSERT(slot->references != 0);
    slot->kept = (slot->kept & ~SLOT_DISOWNED) | (is_disowned ? SLOT_DISOWNED : 0);
}

void weft__shared_keep(weft__shared *shared, uint32_t component, uint32_t index)
{
    if (index == 0) return;
    weft__shared_acquire(shared, component, index, 1);
    slot_at(type_at(shared, component), index)->kept++;
}

void weft__shared_let_go(weft__shared *shared, uint32_t component, uint32_t index)
{
    if (index == 0) return;
    shared_slot *slot = slot_at(type_at(shared, component), index);
    WEFT_ASSERT((slot->kept & ~SLOT_DISOWNED) != 0);
    slot->kept--;
    weft__shared_release(shared, component, index, 1);
}

const void *weft__shared_value(const weft__shared *shared, uint32_t component, uint32_t index)
{
    const weft__shared_type *type = type_at(shared, component);
    if (index == 0) return type->zero;
    shared_slot *slot = slot_at(type, index);
    WEFT_ASSERT(slot->references != 0);
    return slot_value(type, slot);
}

uint32_t weft__shared_references(const weft__shared *shared, uint32_t component, uint32_t index)
{
    return index == 0 ? 0 : slot_at(type_at(shared, component), index)->references;
}

void weft__shared_adjust(weft__shared *shared, uint32_t component, uint32_t index, uint32_t delta)
{
    if (index != 0) slot_at(type_at(shared, component), index)->references += delta;
}

/* ---- the first of many values in the order of their bytes ----
 *
 * One that does not tell when they came, or where they are. A heap of pointers: values that come
 * later than all of a full heap cost one comparison. Values are not copied. */

/* Owner: the stack of one call. A heap, the last value first. */
typedef struct value_order {
    size_t size; /* of a value */
    const void **items;
    uint32_t count, capacity; /* of items */
} value_order;

/* Puts the item at the top where it belongs among the first `count`. */
static void sink(const value_order *order, uint32_t count)
{
    const void **items = order->items, *value = items[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && memcmp(items[child], items[child + 1], order->size) < 0) child++;
        if (memcmp(value, items[child], order->size) >= 0) break;
        items[at] = items[child];
    }
    items[at] = value;
}

/* Takes a value in, unless there are as many before it as there is room for. */
static void order_add(value_order *order, const void *value)
{
    const void **items = order->items;
    if (order->count == order->capacity) {
        if (order->capacity == 0 || memcmp(value, items[0], order->size) >= 0) return;
        items[0] = value;
        sink(order, order->count);
        return;
    }
    uint32_t at = order->count++;
    for (; at != 0 && memcmp(items[(at - 1) / 2], value, order->size) < 0; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = value;
}

uint32_t weft__shared_list(const weft__shared *shared, uint32_t component, const void **out,
                           uint32_t capacity)
{
    const weft__shared_type *type = type_at(shared, component);
    if (out == NULL) capacity = 0;
    if (capacity != 0) out[0] = type->zero;
    value_order order = {.size = type->size,
                         .items = capacity == 0 ? NULL : out + 1,
                         .capacity = capacity == 0 ? 0 : capacity - 1};
    uint32_t count = 1;
    for (uint32_t index = 1; index <= type->slot_count; index++) {
        shared_slot *slot = slot_at(type, index);
        if (slot->references == 0 || slot->references == (slot->kept & ~SLOT_DISOWNED)) continue;
        order_add(&order, slot_value(type, slot));
        count++;
    }
    for (uint32_t end = order.count; end-- > 1;) { /* in order */
        const void *last = order.items[0];
        order.items[0] = order.items[end];
        order.items[end] = last;
        sink(&order, end);
    }
    return count;
}

uint32_t weft__shared_end(const weft__shared *shared, uint32_t component)
{
    return type_at(shared, component)->slot_count + 1;
}

bool weft__shared_check(const weft__shared *shared, uint32_t component)
{
    const weft__shared_type *type = type_at(shared, component);
    uint32_t live = 0, empty = 0, entries = 0;
    for (uint32_t index = 1; index <= type->slot_count; index++)
        live += slot_at(type, index)->references != 0 ? 1 : 0;
    for (uint32_t index = type->free_head; index != 0 && empty <= type->slot_count;
         index = slot_at(type, index)->next_free)
        empty++;
    for (uint32_t i = 0; i < type->table.capacity; i++)
        entries += type->table.slots[i].number != 0 ? 1 : 0;
    return live + empty == type->slot_count && entries == live && type->table.count == live;
}

/* ---- types ---- */

bool weft__shared_has_type(const weft__shared *shared, uint32_t component)
{
    return component < shared->types.count && shared->types.at[component] != NULL;
}

/* Frees what type_create made; parts that were not made are NULL. */
static void type_free(weft__shared *shared, weft__shared_type *type)
{
    weft__memory *memory = shared->memory;
    for (uint32_t page = 0; page < type->page_count; page++)
        weft__free(memory, WEFT__MEMORY_SHARED, type->pages[page], page_slots(page), type->stride,
                   type->alignment);
    weft__table_free(memory, WEFT__MEMORY_SHARED, &type->table);
    weft__free(memory, WEFT__MEMORY_SHARED, type->zero, 2, type->stride, type->alignment);
    WEFT__FREE(memory, WEFT__MEMORY_SHARED, type->ranges, type->range_count);
    WEFT__FREE(memory, WEFT__MEMORY_SHARED, type, 1);
}

/* The fields that count, unless the type judges for itself or describes none. */
static bool ranges_create(weft__shared *shared, weft__shared_type *type)
{
    const weft_component_desc *desc = type->desc;
    if (desc->field_count == 0 || desc->shared_equal != NULL || desc->size == 0) return true;
    type->ranges = WEFT__NEW(shared->memory, WEFT__MEMORY_SHARED, desc->field_count, *type->ranges);
    if (type->ranges == NULL) return false;
    type->range_count = desc->field_count;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const weft_field *field = &desc->fields[i];
        uint32_t each = weft__kinds[field->kind].bytes, count = field->count;
        type->ranges[i] = (shared_range){
            .offset = field->offset,
            .bytes = each * (count == 0 ? 1 : count),
            .float_bytes = weft__class_of(field->kind) == WEFT__CLASS_REAL ? each : 0};
    }
    return true;
}

static weft__shared_type *type_create(weft__shared *shared, const weft_component_desc *desc)
{
    weft__shared_type *type = WEFT__NEW_ZEROED(shared->memory, WEFT__MEMORY_SHARED, 1, *type);
    if (type == NULL) return NULL;
    size_t alignment = desc->alignment == 0 ? 16 : desc->alignment;
    type->desc = desc;
    type->size = desc->size;
    type->alignment = alignment < _Alignof(shared_slot) ? _Alignof(shared_slot) : alignment;
    type->value_offset = bits_align_up(sizeof(shared_slot), type->alignment);
    type->stride = bits_align_up(type->value_offset + desc->size, type->alignment);
    /* the default and the scratch, a stride apart: both aligned, never of 0 bytes */
    type->zero =
        weft__alloc_zeroed(shared->memory, WEFT__MEMORY_SHARED, 2, type->stride, type->alignment);
    if (type->zero == NULL || !ranges_create(shared, type)) {
        type_free(shared, type);
        return NULL;
    }
    type->scratch = type->zero + type->stride;
    return type;
}

weft_result weft__shared_type_create(weft__shared *shared, uint32_t component,
                                     const weft_component_desc *desc)
{
    WEFT_ASSERT(!weft__shared_has_type(shared, component));
    if (!WEFT__LIST_REACH(shared->memory, WEFT__MEMORY_SHARED, &shared->types, component + 1))
        return WEFT_OUT_OF_MEMORY;
    shared->types.at[component] = type_create(shared, desc);
    return shared->types.at[component] == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

void weft__shared_init(weft__shared *shared, weft__memory *memory)
{
    *shared = (weft__shared){.memory = memory};
}

void weft__shared_fini(weft__shared *shared)
{
    for (uint32_t id = 0; id < shared->types.count; id++) {
        weft__shared_type *type = shared->types.at[id];
        if (type == NULL) continue;
        for (uint32_t index = 1; index <= type->slot_count; index++)
            if (slot_at(type, index)->references != 0)
                value_end(shared, type, slot_at(type, index));
        type_free(shared, type);
    }
    WEFT__LIST_FREE(shared->memory, WEFT__MEMORY_SHARED, &shared->types);
    *shared = (weft__shared){.memory = shared->memory};
}
