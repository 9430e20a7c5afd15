/* SPDX-License-Identifier: MIT */
/* sparse_fixture.h: a world with SPARSE components. */
#ifndef WEFT_TESTS_SPARSE_FIXTURE_H
#define WEFT_TESTS_SPARSE_FIXTURE_H

#include "storage_fixture.h"

/* Owner: one test. */
typedef struct sparse_fixture {
    storage_fixture f;
    weft_component burning; /* SPARSE, a uint32_t */
    weft_component marked;  /* SPARSE tag */
} sparse_fixture;

static inline sparse_fixture sparse_open(void)
{
    sparse_fixture s = {.f = storage_open()};
    s.burning = weft_component_create_plain(s.f.world, "burning", 4, 4, WEFT_SPARSE);
    s.marked = weft_component_create_plain(s.f.world, "marked", 0, 1, WEFT_SPARSE);
    CHECK(s.burning.id != 0 && s.marked.id != 0);
    return s;
}

#endif
