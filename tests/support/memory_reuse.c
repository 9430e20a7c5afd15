/* SPDX-License-Identifier: MIT */
/* memory_reuse.c: see memory_reuse.h. */
#include "memory_reuse.h"

#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 256, PATTERN = 0xDD };

/* A freed block; behind it the pattern. */
typedef struct freed {
    struct freed *next;
    size_t bytes, alignment;
} freed;

/* Guarded by `lock`. */
struct test_reuse_memory {
    pthread_mutex_t lock;
    test_reuse kind;
    uint64_t live;
    freed *lists[LISTS]; /* by size and alignment, each last in first out */
};

static freed **list_of(test_reuse_memory *memory, size_t bytes, size_t alignment)
{
    return &memory->lists[(bytes * 31 + alignment) % LISTS];
}

static size_t room_of(size_t bytes)
{
    size_t room = bytes < sizeof(freed) ? sizeof(freed) : bytes;
    return (room + 63) / 64 * 64;
}

static void *reuse_allocate(void *user, size_t bytes, size_t alignment)
{
    test_reuse_memory *memory = user;
    pthread_mutex_lock(&memory->lock);
    memory->live++;
    freed **link = list_of(memory, bytes, alignment), *found = NULL;
    if (memory->kind == TEST_REUSE_LAST_FIRST) {
        while (*link != NULL && ((*link)->bytes != bytes || (*link)->alignment != alignment))
            link = &(*link)->next;
        found = *link;
        if (found != NULL) *link = found->next;
    }
    pthread_mutex_unlock(&memory->lock);
    if (found != NULL) return memset(found, PATTERN, room_of(bytes));
    return aligned_alloc(64, room_of(bytes));
}

static void reuse_release(void *user, void *block, size_t bytes, size_t alignment)
{
    test_reuse_memory *memory = user;
    pthread_mutex_lock(&memory->lock);
    CHECK(memory->live != 0);
    memory->live--;
    memset(block, PATTERN, room_of(bytes));
    if (memory->kind == TEST_REUSE_SYSTEM) {
        free(block);
    } else {
        freed **list = list_of(memory, bytes, alignment), *entry = block;
        *entry = (freed){*list, bytes, alignment};
        *list = entry;
    }
    pthread_mutex_unlock(&memory->lock);
}

test_reuse_memory *test_reuse_begin(test_reuse kind)
{
    test_reuse_memory *memory = calloc(1, sizeof *memory);
    CHECK(memory != NULL);
    pthread_mutex_init(&memory->lock, NULL);
    memory->kind = kind;
    return memory;
}

weft_allocator test_reuse_hook(test_reuse_memory *memory)
{
    return (weft_allocator){reuse_allocate, reuse_release, memory};
}

void test_reuse_end(test_reuse_memory *memory)
{
    CHECK_U64(memory->live, 0);
    for (uint32_t i = 0; i < LISTS; i++)
        for (freed *entry = memory->lists[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            free(entry);
        }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}
