/* SPDX-License-Identifier: MIT */
/* test_validate.c: weft_world_validate: every book of the storage, made wrong by hand one at a
 * time, is found and named; put right, the world is valid again. */
#include "archetype_state.h"
#include "chunk.h"
#include "format.h"
#include "query_fixture.h"
#include "query_state.h"

#include <criterion/criterion.h>
#include <string.h>

static void check_broken(const fixture *f, int line, const char *expected)
{
    if (weft_world_validate(f->world) != WEFT_CORRUPT)
        test_fail(__FILE__, line, "the world is valid though its books are wrong");
    if (strstr(weft_world_error(f->world)->text, expected) == NULL)
        test_fail(__FILE__, line, weft_world_error(f->world)->text);
}

/* With another value at a place of the world, validation fails and says `expected`. */
#define BROKEN(fixture_pointer, place, value, expected)                                            \
    do {                                                                                           \
        __typeof__(place) broken_before = (place);                                                 \
        (place) = (__typeof__(place))(value);                                                      \
        check_broken((fixture_pointer), __LINE__, (expected));                                     \
        (place) = broken_before;                                                                   \
        fixture_validate(fixture_pointer);                                                         \
    } while (0)

/* Small chunks in parts of units, larger ones in units, a free id, a free run of berths. */
static void world_fill(fixture *f)
{
    static weft_entity many[4000];
    weft_entity few[5];
    fixture_open(f, 0);
    FIXTURE_CREATE(f, 4000, many, f->a, f->b);
    FIXTURE_CREATE(f, 5, few, f->a, f->x, f->s);
    CHECK_OK(weft_entity_set_shared(f->world, few[0], f->s, &(int32_t){7}));
    CHECK_OK(weft_entity_set_shared(f->world, few[1], f->s, &(int32_t){8}));
    CHECK_OK(weft_entity_set_shared(f->world, few[1], f->s, &(int32_t){0})); /* 8 is free again */
    FIXTURE_CREATE(f, 3, few, f->c);
    CHECK_OK(weft_entity_destroy_many(f->world, few, 3)); /* its chunk goes */
}

static weft__chunk *chunk_of(const fixture *f, uint32_t number)
{
    return f->world->archetypes.at[number]->chunks[0];
}

static uint32_t number_of(const fixture *f, weft_component component)
{
    return weft__component_list_at(f->world, component.id)->at[0].archetype;
}

Test(validate, chunks_and_archetypes)
{
    fixture f;
    world_fill(&f);
    fixture_validate(&f);
    weft__chunk *chunk = chunk_of(&f, number_of(&f, f.b));
    weft__archetype *archetype = chunk->archetype;
    BROKEN(&f, chunk->count, chunk->count - 1, "");
    BROKEN(&f, chunk->list_index, 77, "not where its archetype lists it");
    BROKEN(&f, chunk->has_room, !chunk->has_room, "room");
    BROKEN(&f, chunk->capacity, chunk->capacity - 1, "rows of");
    BROKEN(&f, chunk->mark, 1, "a mark was left");
    BROKEN(&f, chunk->side_bytes, chunk->side_bytes > WEFT__OWN_SIDE ? 8 : 64, "side memory");
    BROKEN(&f, archetype->entity_count, archetype->entity_count + 1, "its total says");
    BROKEN(&f, archetype->tuple0->rows, 1, "totals of a tuple");
    BROKEN(&f, archetype->tuple0->holders, 9, "holders");
    BROKEN(&f, archetype->number, archetype->number + 1, "");
    fixture_close(&f);
}

Test(validate, ids_of_chunks_and_berths)
{
    fixture f;
    world_fill(&f);
    weft__chunk_table *chunks = &f.world->chunks;
    weft__berth_table *berths = &f.world->berths;
    BROKEN(&f, chunks->count, chunks->count + 1, "chunks");
    BROKEN(&f, chunks->ids[0], chunks->ids[0] ^ 2, "wrong about id 1");
    BROKEN(&f, chunks->ids[0], chunks->ids[0] | UINT64_C(1) << 15, "wrong about id 15");
    BROKEN(&f, chunks->id_word, 1, "passes over the free chunk id");
    weft__chunk_spares_free(f.world); /* they keep their berths */
    uint32_t size = 0;
    while (size < WEFT__BERTH_CLASSES && berths->free[size] == 0) size++;
    CHECK(size < WEFT__BERTH_CLASSES); /* the run of the chunk that went */
    BROKEN(&f, berths->free[size], 0, "berths were used");
    BROKEN(&f, berths->at[berths->free[size]].next_free, berths->free[size], "does not end");
    fixture_close(&f);
}

Test(validate, parts_of_units)
{
    fixture f;
    world_fill(&f);
    weft_entity some[30]; /* more than 256 bytes of them */
    FIXTURE_CREATE(&f, 30, some, f.b);
    weft__parts *parts = &f.world->parts;
    weft__part_unit *unit = parts->with_room[WEFT__PART_1K];
    CHECK(unit != NULL && unit->used != 0);
    BROKEN(&f, parts->numbers.count, parts->numbers.count + 1, "");
    BROKEN(&f, unit->used, 0, "no part is used");
    BROKEN(&f, unit->used, unit->used | 1u << 20, "beyond the last one");
    BROKEN(&f, unit->dirty, 0, "not marked dirty");
    BROKEN(&f, parts->with_room[WEFT__PART_1K], NULL, "list");
    fixture_close(&f);
}

Test(validate, formats_and_the_component_index)
{
    fixture f;
    world_fill(&f);
    weft__chunk *chunk = chunk_of(&f, number_of(&f, f.b));
    weft__format *format = chunk->archetype->format;
    weft__layout *layout = at_plain(&format->x_layouts[chunk->layout->size_class]);
    BROKEN(&f, format->row_bytes, format->row_bytes + 4, "format");
    BROKEN(&f, layout->columns[2].offset, layout->columns[1].offset, "format");
    BROKEN(&f, layout->slice_count, layout->slice_count + 1, "format");
    BROKEN(&f, f.world->formats.numbers.count, 77, "format");
    weft__component_list *list = &f.world->component_index.at[f.a.id];
    BROKEN(&f, list->count, list->count - 1, "component index");
    BROKEN(&f, list->at[1].archetype, list->at[0].archetype, "component index");
    BROKEN(&f, list->at[0].place.column, 7, "component index");
    fixture_close(&f);
}

Test(validate, shared_values)
{
    fixture f;
    world_fill(&f);
    uint32_t value = 0;
    CHECK(weft__shared_find(&f.world->shared, f.s.id, &(int32_t){7}, &value) && value != 0);
    weft__shared_acquire(&f.world->shared, f.s.id, value, 1);
    check_broken(&f, __LINE__, "references instead of");
    weft__shared_release(&f.world->shared, f.s.id, value, 1);
    uint32_t references = weft__shared_references(&f.world->shared, f.s.id, value);
    weft__shared_adjust(&f.world->shared, f.s.id, value,
                        0 - references); /* neither live nor free */
    check_broken(&f, __LINE__, "slots, free list and table differ");
    weft__shared_adjust(&f.world->shared, f.s.id, value, references);
    fixture_close(&f);
}

Test(validate, queries)
{
    fixture f;
    world_fill(&f);
    weft_query id = FIXTURE_QUERY(&f, {f.a});
    weft_query other = FIXTURE_QUERY(&f, {f.a});
    weft_query_destroy(f.world, other); /* a free handle */
    weft__query_handle *handle = weft__query_find(f.world, id);
    weft__query *query = handle->query;
    weft__queries *queries = f.world->front.queries;
    CHECK_U64(query->match_count, 2);
    CHECK_OK(weft__query_flat_prepare(query));
    fixture_validate(&f);
    BROKEN(&f, queries->handle_count, 0, "handle_count");
    BROKEN(&f, queries->numbers.count, 5, "not those in the table");
    BROKEN(&f, queries->free_handle, 0, "neither taken, free");
    BROKEN(&f, query->references, query->references + 1, "references are not");
    BROKEN(&f, query->match_count, query->match_capacity + 1, "more matches");
    BROKEN(&f, query->matches[0].number, 9, "old number");
    BROKEN(&f, query->matches[1].alternatives, 0, "satisfies no description");
    BROKEN(&f, query->flat.entries[0].count, 1, "rows of a chunk");
    BROKEN(&f, query->flat.entries[1].first_slice, 0, "slices of a chunk");
    BROKEN(&f, query->flat.entries[query->flat.count].chunk, chunk_of(&f, 0), "does not end");
    fixture_close(&f);
}
