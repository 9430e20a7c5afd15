/* SPDX-License-Identifier: MIT */
/* trace.c: the single-producer single-consumer ring of trace events: made, written, read. Only
 * reached when a pool is traced: without a buffer nothing is written.
 *
 * A ring with one writer and one reader. Wait-free both ways.
 *
 * Edges:
 *   T1  write: event, release of tail -> read: acquire of tail, event
 *   T2  read: release of head -> write: acquire of head (the place is free)
 *
 * In a file an event has the offset of its name in the ring's texts, which the writer appends and
 * never changes (T1 hands them over, too). A text that an event refers to by pointer stays as it is
 * until the event is taken; so what the writer knows of a pointer holds while head is the same, and
 * is compared again after. What has no room stays a pointer. A process that ends anywhere leaves
 * all events before tail, those taken last as well: only the place at tail may be half written. */
#include "trace.h"

#include <string.h>

/* Ring and events in one block. Owner: the worker's ring. Always: x_tail - x_head <= mask (modulo
 * 2^32). tools/profile/perfetto.py reads these bytes, and those of weft__trace_names. */
struct weft__trace_buffer {
    _Alignas(64) weft_a32 x_head; /* reader */
    _Alignas(64) weft_a32 x_tail; /* writer */
    uint32_t capacity;            /* constant; a power of two */
    weft_job_event events[];
};

#define NAME_BYTES (1u << 15)
#define NAME_SLOTS 1024u
#define NAME_PROBES 8u

/* A name by its pointer. Owner: the writer. */
typedef struct name_slot {
    const char *name;      /* NULL: free */
    uint32_t offset, head; /* of the text; x_head when it was compared */
} name_slot;

/* Names of the events of a ring in a file, behind its events. Invariant: texts begin at multiples
 * of 8, from 8 on, and end at `used` at most. */
struct weft__trace_names {
    char texts[NAME_BYTES];           /* writer */
    uint32_t numbers[NAME_BYTES / 8]; /* reader: of the text at 8 * i */
    name_slot slots[NAME_SLOTS];      /* writer, as the next */
    uint32_t used;
};

static size_t buffer_bytes(uint32_t capacity)
{
    return sizeof(struct weft__trace_buffer) + (size_t)capacity * sizeof(weft_job_event);
}

size_t weft__trace_bytes(uint32_t capacity)
{
    const size_t page = 1 << 16; /* of any machine */
    size_t bytes = (buffer_bytes(capacity) + 63) / 64 * 64 + sizeof(struct weft__trace_names);
    return (bytes + page - 1) / page * page;
}

static void init_buffer(weft__trace_ring *ring, void *zeroed, uint32_t capacity)
{
    ring->buffer = zeroed;
    ring->buffer->capacity = capacity;
    at_init(&ring->buffer->x_head, 0);
    at_init(&ring->buffer->x_tail, 0);
}

weft_result weft__trace_init(weft__trace_ring *ring, weft__memory *memory, uint32_t capacity)
{
    if (capacity == 0) return WEFT_OK;
    void *zeroed = weft__alloc_zeroed(memory, WEFT__MEMORY_JOBS, 1, buffer_bytes(capacity), 64);
    if (zeroed == NULL) return WEFT_OUT_OF_MEMORY;
    init_buffer(ring, zeroed, capacity);
    return WEFT_OK;
}

void weft__trace_init_mapped(weft__trace_ring *ring, void *mapped, uint32_t capacity)
{
    init_buffer(ring, mapped, capacity);
    ring->names = (void *)((char *)mapped + (buffer_bytes(capacity) + 63) / 64 * 64);
    ring->names->used = 8;
}

void weft__trace_fini(weft__trace_ring *ring, weft__memory *memory, const weft_os *os)
{
    if (ring->buffer == NULL) return;
    const uint32_t capacity = ring->buffer->capacity;
    if (ring->names != NULL)
        os->unmap(os->user, ring->buffer, weft__trace_bytes(capacity));
    else
        weft__free(memory, WEFT__MEMORY_JOBS, ring->buffer, 1, buffer_bytes(capacity), 64);
    ring->buffer = NULL;
}

static const char *by_offset(uint32_t offset)
{
    return (const char *)(uintptr_t)offset;
}

/* The offset of a name, or the name, if there is no room. */
static const char *keep_name(struct weft__trace_names *names, const char *name, uint32_t head)
{
    const uint32_t first = (uint32_t)(uintptr_t)name * 2654435761u >> 22;
    for (uint32_t i = 0; i < NAME_PROBES; i++) {
        name_slot *slot = &names->slots[(first + i) % NAME_SLOTS];
        if (slot->name == name && slot->head == head) return by_offset(slot->offset);
        if (slot->name != NULL && slot->name != name) continue;
        slot->head = head;
        if (slot->name == name && strcmp(names->texts + slot->offset, name) == 0)
            return by_offset(slot->offset);
        const size_t bytes = (strlen(name) + 8) / 8 * 8;
        if (bytes > sizeof names->texts - names->used) return name;
        slot->name = name;
        slot->offset = names->used;
        names->used += (uint32_t)bytes;
        strcpy(names->texts + slot->offset, name);
        return by_offset(slot->offset);
    }
    return name;
}

void weft__trace_write(weft__trace_ring *ring, const weft_job_event *event)
{
    struct weft__trace_buffer *buffer = ring->buffer;
    if (buffer == NULL) return;
    const uint32_t mask = buffer->capacity - 1;
    const uint32_t tail = at_load_rlx(&buffer->x_tail); /* relaxed: own word */
    const uint32_t head = at_load_acq(&buffer->x_head); /* T2 */
    if (tail - head >= mask) {
        at_store_rlx(&ring->x_dropped, at_load_rlx(&ring->x_dropped) + 1); /* relaxed: one writer */
        return;
    }
    weft_job_event *place = &buffer->events[tail & mask];
    *place = *event;
    if (ring->names != NULL && event->name != NULL)
        place->name = keep_name(ring->names, event->name, head);
    at_store_rel(&buffer->x_tail, tail + 1); /* T1 */
}

bool weft__trace_read(weft__trace_ring *ring, weft_job_event *out)
{
    struct weft__trace_buffer *buffer = ring->buffer;
    if (buffer == NULL) return false;
    const uint32_t head = at_load_rlx(&buffer->x_head);     /* relaxed: own word */
    if (head == at_load_acq(&buffer->x_tail)) return false; /* T1 */
    *out = buffer->events[head & (buffer->capacity - 1)];
    at_store_rel(&buffer->x_head, head + 1); /* T2 */
    return true;
}

uint32_t *weft__trace_name(const weft__trace_ring *ring, weft_job_event *event)
{
    const uintptr_t offset = (uintptr_t)event->name;
    if (ring->names == NULL || offset == 0 || offset >= NAME_BYTES) return NULL;
    event->name = ring->names->texts + offset;
    return &ring->names->numbers[offset / 8];
}

uint32_t weft__trace_capacity(const weft__trace_ring *ring)
{
    return ring->buffer == NULL ? 0 : ring->buffer->capacity;
}
