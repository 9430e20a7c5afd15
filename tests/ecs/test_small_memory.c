/* SPDX-License-Identifier: MIT */
/* test_small_memory.c: the first chunk memory of a world: pieces of all sizes never overlap, what
 * is freed is given out again, and a full block says so. */
#include "random.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PIECES = 256, CLASSES = WEFT__UNIT_CLASS + 3 /* up to the whole block */ };

/* Owner: one test. */
typedef struct piece {
    weft__run run;
    uint32_t size_class;
    uint32_t number;
} piece;

static bool piece_take(weft_world *world, piece *p, uint32_t size_class, uint32_t number)
{
    *p = (piece){.size_class = size_class, .number = number};
    if (!weft__small_allocate(&world->small, &world->memory, size_class, &p->run)) return false;
    CHECK_U64((uintptr_t)p->run.memory % 64, 0);
    CHECK_U64(p->run.first, WEFT__SMALL_UNIT);
    memset(p->run.memory, (int)number, weft__class_bytes(size_class));
    return true;
}

static void piece_give(weft_world *world, const piece *p)
{
    const unsigned char *bytes = (const unsigned char *)p->run.memory;
    for (size_t i = 0; i < weft__class_bytes(p->size_class); i++)
        CHECK_U64(bytes[i], p->number & 255);
    weft__small_free(&world->small, p->size_class, p->run.memory);
}

Test(small_memory, pieces_of_all_sizes_do_not_overlap)
{
    storage_fixture f = storage_open();
    static piece pieces[PIECES];
    uint32_t count = 0, refused = 0;
    test_random random = test_random_init(0x5a11);
    for (uint32_t step = 0; step < 20000; step++) {
        size_t bytes = 0;
        for (uint32_t i = 0; i < count; i++) bytes += weft__class_bytes(pieces[i].size_class);
        CHECK_U64(weft__small_used(&f.world->small), bytes);
        if (count < PIECES && test_random_below(&random, 2) == 0) {
            uint32_t size_class = (uint32_t)test_random_below(&random, CLASSES);
            if (piece_take(f.world, &pieces[count], size_class, step))
                count++;
            else
                refused++;
        } else if (count != 0) {
            uint32_t i = (uint32_t)test_random_below(&random, count);
            piece_give(f.world, &pieces[i]);
            pieces[i] = pieces[--count];
        }
    }
    CHECK(refused != 0);
    while (count > 0) piece_give(f.world, &pieces[--count]);
    CHECK_U64(weft__small_used(&f.world->small), 0);
    storage_close(&f);
}

Test(small_memory, a_block_has_room_for_each_size_until_it_is_full)
{
    storage_fixture f = storage_open();
    static piece pieces[PIECES];
    for (uint32_t size_class = 0; size_class < CLASSES; size_class++) {
        uint32_t all = (uint32_t)(WEFT__SMALL_BYTES / weft__class_bytes(size_class));
        piece more;
        for (uint32_t i = 0; i < all; i++) CHECK(piece_take(f.world, &pieces[i], size_class, i));
        CHECK(!piece_take(f.world, &more, 0, 0));
        for (uint32_t i = 0; i < all; i++) piece_give(f.world, &pieces[i]);
    }
    CHECK(!weft__small_allocate(&f.world->small, &f.world->memory, CLASSES, &pieces[0].run));
    storage_close(&f);
}

Test(small_memory, lines_follow_each_other)
{
    storage_fixture f = storage_open();
    weft__lines lines = {0};
    char *end = NULL;
    uint32_t slabs = 0;
    for (size_t bytes = 1; bytes < 40000; bytes += 1 + bytes / 16) {
        char *block = weft__lines_take(&lines, &f.world->memory, bytes);
        CHECK(block != NULL && (uintptr_t)block % WEFT__LINE == 0);
        slabs += block != end;
        memset(block, 1, bytes);
        weft__lines_undo(&lines, bytes);
        CHECK_POINTER(weft__lines_take(&lines, &f.world->memory, bytes), block);
        end = block + bits_align_up(bytes, WEFT__LINE);
    }
    CHECK(slabs > 3 && slabs < 60);
    weft__lines_fini(&lines, &f.world->memory);
    storage_close(&f);
}

/* Chunks that come take the objects of those that ended. */
Test(small_memory, objects_of_chunks_are_used_again)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    enum { ROWS = 100000 };
    static weft_entity entities[ROWS];
    size_t used = 0;
    for (uint32_t round = 0; round < 3; round++) {
        CHECK_OK(weft_entity_create_many(f.world, moving, ROWS, entities));
        if (round == 0) used = f.world->lines.slab->used;
        CHECK_U64(f.world->lines.slab->used, used);
        CHECK_OK(weft_world_validate(f.world));
        CHECK_OK(weft_entity_destroy_many(f.world, entities, ROWS));
        weft_world_compact(f.world, 0);
    }
    storage_close(&f);
}
