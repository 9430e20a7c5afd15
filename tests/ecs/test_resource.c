/* SPDX-License-Identifier: MIT */
/* test_resource.c: resources of any size, and values that hashes leave out. */
#include "buffer_append.h"
#include "query_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static weft_component component(const fixture *f, const char *name, size_t size, uint32_t flags)
{
    return weft_component_create_plain(f->world, name, size, 8, flags);
}

/* A hash of each kind. */
static uint64_t both(const fixture *f)
{
    return weft_world_hash(f->world, WEFT_HASH_LAYOUT) * 3 +
           weft_world_hash(f->world, WEFT_HASH_CONTENT);
}

Test(resource, it_may_be_larger_than_a_chunk)
{
    enum { BYTES = 40 << 20 };
    fixture f;
    fixture_open(&f, 0);
    weft_component large = component(&f, "large", BYTES, WEFT_RESOURCE);
    CHECK(large.id != 0);
    CHECK_U64(component(&f, "column", BYTES, 0).id, 0); /* a column is in a chunk */
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    char *bytes = weft_resource_write(f.world, large);
    CHECK(bytes != NULL && bytes[0] == 0 && bytes[BYTES - 1] == 0);
    uint64_t before = both(&f);
    bytes[BYTES - 1] = 1;
    CHECK(both(&f) != before);
    CHECK_POINTER(weft_resource_read(f.world, large), bytes);
    CHECK_U64(component(&f, "endless", SIZE_MAX & ~(size_t)7, WEFT_RESOURCE).id, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    fixture_close(&f);
}

Test(resource, one_for_which_there_is_no_memory_is_refused)
{
    fixture f = {0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &f.world)); /* malloc */
    CHECK_U64(component(&f, "huge", (size_t)1 << 60, WEFT_RESOURCE).id, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_OUT_OF_MEMORY);
    CHECK_OK(weft_world_destroy(f.world));
}

Test(resource, what_is_not_hashed_does_not_show_in_hashes)
{
    fixture f, bare;
    fixture_open(&f, 0);
    fixture_open(&bare, 0);
    CHECK_U64(both(&f), both(&bare));
    weft_component cache = component(&f, "cache", 8, WEFT_RESOURCE | WEFT_NOT_HASHED);
    weft_component plain = component(&f, "plain", 8, WEFT_RESOURCE);
    uint64_t before = both(&f);
    CHECK(before != both(&bare)); /* the plain resource shows, the other does not: */
    CHECK(component(&bare, "plain", 8, WEFT_RESOURCE).id != 0);
    CHECK_U64(both(&f), both(&bare));
    *(const void **)weft_resource_write(f.world, cache) = &f;
    CHECK_U64(both(&f), before);
    *(uint64_t *)weft_resource_write(f.world, plain) = 1;
    CHECK(both(&f) != before);
    fixture_close(&bare);
    fixture_close(&f);
}

Test(resource, components_with_pointers_are_left_out_but_not_that_they_are_there)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component pointer = component(&f, "pointer", 8, WEFT_NOT_HASHED | WEFT_ENABLEABLE);
    weft_component list = component(&f, "list", 8, WEFT_NOT_HASHED | WEFT_BUFFER);
    weft_component team = component(&f, "pointed", 8, WEFT_NOT_HASHED | WEFT_SHARED);
    weft_component chunk = component(&f, "per chunk", 8, WEFT_NOT_HASHED | WEFT_CHUNK);
    weft_entity e[3];
    FIXTURE_CREATE(&f, 3, e, f.a, pointer, list, team, chunk);
    uint64_t before = both(&f), value = 7;
    CHECK_OK(weft_entity_set(f.world, e[0], pointer, &value, sizeof value));
    CHECK_OK(test_buffer_append(f.world, list, e[1], &value, 1));
    weft_cursor cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {chunk, WEFT_WRITE}));
    CHECK(weft_query_next(&cursor));
    *(uint64_t *)weft_slice_write_chunk(&cursor.slice, 0) = value;
    weft_query_end(&cursor);
    CHECK_U64(both(&f), before);
    CHECK_OK(weft_entity_enable(f.world, e[0], pointer, false));
    CHECK(both(&f) != before);
    CHECK_OK(weft_entity_enable(f.world, e[0], pointer, true));
    CHECK_U64(both(&f), before);
    CHECK_OK(weft_entity_remove(f.world, e[2], pointer));
    CHECK(weft_world_hash(f.world, WEFT_HASH_CONTENT) * 3 != before);
    weft_entity other[2];
    FIXTURE_CREATE(&f, 2, other, f.a, team);
    before = weft_world_hash(f.world, WEFT_HASH_CONTENT);
    CHECK_OK(weft_entity_set_shared(f.world, other[1], team, &value));
    CHECK_U64(weft_world_hash(f.world, WEFT_HASH_CONTENT), before); /* only the row has moved */
    fixture_close(&f);
}
