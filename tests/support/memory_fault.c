/* SPDX-License-Identifier: MIT */
/* memory_fault.c: the checking memory hook of memory_fault.h.
 *
 * Layout of a block: [padding][header][caller's bytes][guard]. The header is found from the
 * caller's pointer, so it is 64 bytes: the largest alignment the hook may be asked for.
 */
#include "memory_fault.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, GUARD_BYTES = 16, MAX_ALIGNMENT = 64 };

#define LIVE UINT64_C(0x5ca1ab1e0ddba115)
#define DEAD UINT64_C(0xdeadbeefdeadbeef)

/* Stands HEADER_BYTES before the caller's bytes. `state` is LIVE or DEAD. */
typedef struct header {
    uint64_t state;
    size_t bytes, alignment;
} header;

static header *header_of(void *block)
{
    return (header *)(void *)((char *)block - HEADER_BYTES);
}

static bool is_refused_locked(test_memory *m)
{
    if (m->fail_at == 0) return false;
    if (m->fail_at > 1) {
        m->fail_at--;
        return false;
    }
    if (!m->fails_forever) m->fail_at = 0;
    m->failures++;
    return true;
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    test_memory *m = user;
    CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= MAX_ALIGNMENT);
    pthread_mutex_lock(&m->lock);
    char *memory = NULL;
    if (!is_refused_locked(m)) {
        const size_t whole = HEADER_BYTES + bytes + GUARD_BYTES;
        memory = aligned_alloc(MAX_ALIGNMENT, (whole + MAX_ALIGNMENT - 1) & ~(size_t)63);
        CHECK(memory != NULL);
        m->allocations++;
        m->live_blocks++;
        m->live_bytes += bytes;
        if (m->live_bytes > m->peak_bytes) m->peak_bytes = m->live_bytes;
    }
    pthread_mutex_unlock(&m->lock);
    if (!memory) return NULL;
    memcpy(memory, &(header){LIVE, bytes, alignment}, sizeof(header));
    memset(memory + HEADER_BYTES, 0xa5, bytes + GUARD_BYTES);
    return memory + HEADER_BYTES;
}

static void release(void *user, void *block, size_t bytes, size_t alignment)
{
    test_memory *m = user;
    if (!block) return;
    header *h = header_of(block);
    CHECK_U64(h->state, LIVE);
    CHECK_U64(h->bytes, bytes);
    CHECK_U64(h->alignment, alignment);
    for (size_t i = 0; i < GUARD_BYTES; i++) CHECK_U64(((unsigned char *)block)[bytes + i], 0xa5);
    h->state = DEAD;
    memset(block, 0xdd, bytes);
    pthread_mutex_lock(&m->lock);
    m->releases++;
    m->live_blocks--;
    m->live_bytes -= bytes;
    pthread_mutex_unlock(&m->lock);
    free(h);
}

void test_memory_init(test_memory *memory)
{
    *memory = (test_memory){0};
    CHECK(pthread_mutex_init(&memory->lock, NULL) == 0);
}

void test_memory_fini(test_memory *memory)
{
    CHECK_U64(memory->live_blocks, 0);
    CHECK_U64(memory->live_bytes, 0);
    pthread_mutex_destroy(&memory->lock);
}

weft_allocator test_memory_hook(test_memory *memory)
{
    return (weft_allocator){.allocate = allocate, .release = release, .user = memory};
}

void test_memory_fail(test_memory *memory, uint64_t fail_at, bool fails_forever)
{
    pthread_mutex_lock(&memory->lock);
    memory->fail_at = fail_at;
    memory->fails_forever = fails_forever;
    pthread_mutex_unlock(&memory->lock);
}
