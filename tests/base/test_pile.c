/* SPDX-License-Identifier: MIT */
/* test_pile.c: piles: pieces do not overlap, are zero and aligned, and what is refused is kept. */
#include "memory_bed.h"
#include "pile.h"

#include <criterion/criterion.h>
#include <string.h>

Test(pile, pieces_are_zero_aligned_and_apart)
{
    enum { PIECES = 300 };
    bed b;
    bed_open(&b);
    weft__pile pile = {.memory = &b.memory, .category = WEFT__MEMORY_QUERIES};
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        size_t bytes = i % 50 == 49 ? 3000000 : i * 7;
        pieces[i] = weft__pile_take(&pile, bytes, 1);
        CHECK(pieces[i] != NULL && (uintptr_t)pieces[i] % 16 == 0);
        for (size_t k = 0; k < bytes; k++) CHECK(pieces[i][k] == 0);
        memset(pieces[i], (int)(i % 255) + 1, bytes);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < (i % 50 == 49 ? 3000000 : i * 7); k++)
            CHECK(pieces[i][k] == i % 255 + 1);
    CHECK_TEXT(weft__pile_text(&pile, "orbit and more", 5), "orbit");
    CHECK(!pile.is_refused);
    weft__pile_free(&pile);
    CHECK_U64(weft__memory_bytes(&b.memory, WEFT__MEMORY_QUERIES), 0);
    test_memory_fini(&b.hook);
}

Test(pile, what_is_refused_is_kept)
{
    bed b;
    bed_open(&b);
    weft__pile pile = {.memory = &b.memory, .category = WEFT__MEMORY_QUERIES};
    CHECK(weft__pile_take(&pile, 0, 8) != NULL);
    CHECK(weft__pile_take(&pile, SIZE_MAX / 2, 4) == NULL);
    CHECK(pile.is_refused);
    weft__pile_free(&pile);
    CHECK(!pile.is_refused);
    test_memory_fail(&b.hook, 1, true);
    CHECK(weft__pile_text(&pile, "a", 1) == NULL);
    CHECK(pile.is_refused);
    test_memory_fail(&b.hook, 0, false);
    CHECK(weft__pile_text(&pile, "a", 1) != NULL);
    CHECK(pile.is_refused);
    weft__pile_free(&pile);
    test_memory_fini(&b.hook);
}

Test(pile, emptied_and_filled_again_asks_for_no_memory)
{
    bed b;
    bed_open(&b);
    weft__pile pile = {.memory = &b.memory, .category = WEFT__MEMORY_QUERIES, .least = 100};
    for (uint32_t round = 0; round < 5; round++) {
        if (round == 2) test_memory_fail(&b.hook, 1, true);
        for (size_t i = 0; i < 300; i++) {
            char *piece = weft__pile_take(&pile, i * 50, 7);
            CHECK(piece != NULL && (i == 0 || (piece[0] == 0 && piece[i * 350 - 1] == 0)));
            memset(piece, 1, i * 350);
        }
        weft__pile_empty(&pile);
    }
    CHECK(weft__pile_take(&pile, (size_t)1 << 30, 1) == NULL && pile.is_refused);
    weft__pile_empty(&pile);
    CHECK(!pile.is_refused);
    weft__pile_free(&pile);
    CHECK_U64(weft__memory_bytes(&b.memory, WEFT__MEMORY_QUERIES), 0);
    test_memory_fini(&b.hook);
}
