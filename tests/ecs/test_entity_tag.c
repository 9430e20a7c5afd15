/* SPDX-License-Identifier: MIT */
/* test_entity_tag.c: equal worlds with different entity tags: the same hashes and the same file,
 * which each loads with its own tag, for ENTITY fields in every kind of component. */
#include "buffer_append.h"
#include "invariant.h"
#include "plain.h"

#include <weft/ecs.h>
#include <weft/transfer.h>
#include <weft/world_file.h>

#include <stdio.h>
#include <string.h>

#define ROWS 700u

/* 20 bytes: handles lie across the words that are hashed. */
typedef struct Refs {
    uint32_t salt;
    weft_entity one;
    weft_entity other;
} Refs;

static const weft_field fields[] = {{"one", WEFT_FIELD_ENTITY, offsetof(Refs, one), 1},
                                    {"other", WEFT_FIELD_ENTITY, offsetof(Refs, other), 1}};

/* A hook that writes the bytes, so that the way of hooks is gone, too. */
static size_t save_bytes(const void *value, void *to, size_t capacity, void *user)
{
    (void)user;
    if (capacity >= sizeof(Refs)) memcpy(to, value, sizeof(Refs));
    return sizeof(Refs);
}

static bool load_bytes(void *value, const void *from, size_t count, void *user)
{
    (void)user;
    if (count != sizeof(Refs)) return false;
    memcpy(value, from, count);
    return true;
}

typedef struct tagged {
    weft_world *world;
    weft_component column, hooked, list, per_chunk, shared, single;
    weft_entity first, last;
} tagged;

static weft_component refs_create(weft_world *world, const char *name, uint32_t flags,
                                  bool is_hooked)
{
    weft_component_desc desc = {.name = name,
                                .size = sizeof(Refs),
                                .alignment = 4,
                                .flags = flags,
                                .buffer_capacity = flags == WEFT_BUFFER ? 2 : 0,
                                .fields = fields,
                                .field_count = 2};
    if (is_hooked) desc.hooks = (weft_component_hooks){.save = save_bytes, .load = load_bytes};
    return weft_component_create(world, &desc);
}

static tagged open_tagged(uint32_t tag)
{
    tagged t;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = tag}, &t.world));
    t.column = refs_create(t.world, "column", 0, false);
    t.hooked = refs_create(t.world, "hooked", 0, true);
    t.list = refs_create(t.world, "list", WEFT_BUFFER, false);
    t.per_chunk = refs_create(t.world, "per_chunk", WEFT_CHUNK, false);
    t.shared = refs_create(t.world, "shared", WEFT_SHARED, false);
    t.single = refs_create(t.world, "single", WEFT_RESOURCE, false);
    CHECK(t.single.id != 0);
    return t;
}

/* Many rows that lead to each other; `foreign`: an entity of another world. */
static void fill(tagged *t, weft_entity foreign)
{
    static weft_entity e[ROWS];
    weft_component linked = weft_component_linked_group(t->world);
    const weft_component set[] = {t->column, t->hooked, t->list};
    CHECK_OK(weft_entity_create_many(t->world, weft_archetype_create(t->world, set, 3), ROWS, e));
    for (uint32_t i = 0; i < ROWS; i++) {
        Refs refs[3] = {{i, e[ROWS - 1 - i], {0, 0}}, {7, foreign, e[i]}, {9, e[0], e[i / 2]}};
        CHECK_OK(weft_entity_set(t->world, e[i], t->column, &refs[i % 3], sizeof(Refs)));
        CHECK_OK(weft_entity_set(t->world, e[i], t->hooked, &refs[(i + 1) % 3], sizeof(Refs)));
        CHECK_OK(test_buffer_append(t->world, t->list, e[i], refs, i % 4));
        Refs shared = {i % 5, e[i % 5], foreign};
        if (i % 3 == 0) CHECK_OK(weft_entity_set_shared(t->world, e[i], t->shared, &shared));
    }
    CHECK_OK(weft_entity_add(t->world, e[1], t->per_chunk));
    weft_query query =
        weft_query_create(t->world, &(weft_query_desc){.terms = {{t->per_chunk, WEFT_WRITE}}});
    weft_cursor cursor = weft_query_begin(t->world, query);
    CHECK(weft_query_next(&cursor));
    *(Refs *)weft_slice_write_chunk(&cursor.slice, 0) = (Refs){3, e[2], foreign};
    weft_query_end(&cursor);
    *(Refs *)weft_resource_write(t->world, t->single) = (Refs){4, e[5], e[6]};
    CHECK_OK(weft_entity_add(t->world, e[10], linked));
    CHECK_OK(test_buffer_append(t->world, linked, e[10], &(weft_entity[]){e[10], e[11]}, 2));
    CHECK_OK(weft_entity_set_name(t->world, e[3], "third"));
    CHECK_OK(weft_entity_destroy(t->world, e[7]));
    t->first = e[0], t->last = e[ROWS - 1];
}

static void check_same(const tagged *a, const tagged *b)
{
    CHECK_OK(weft_world_validate(a->world));
    CHECK_OK(weft_world_validate(b->world));
    for (weft_hash_kind kind = WEFT_HASH_LAYOUT; kind <= WEFT_HASH_CONTENT; kind++)
        CHECK_U64(weft_world_hash(a->world, kind), weft_world_hash(b->world, kind));
}

static const Refs *single_of(const tagged *t)
{
    return weft_resource_read(t->world, t->single);
}

/* Fields of a world that was loaded lead to entities of its own; the linked group dies whole. */
static void check_fields(const tagged *t, weft_entity e0, uint32_t tag)
{
    CHECK_U64(e0.index >> WEFT_ENTITY_TAG_SHIFT, tag);
    const Refs *column = weft_entity_read(t->world, e0, t->column);
    const Refs *hooked = weft_entity_read(t->world, e0, t->hooked);
    const Refs *shared = weft_entity_read_shared(t->world, e0, t->shared);
    CHECK(column != NULL && hooked != NULL && shared != NULL);
    CHECK(weft_entity_is_alive(t->world, column->one) && weft_entity_is_null(column->other));
    CHECK(weft_entity_equal(hooked->other, e0) && weft_entity_equal(shared->one, e0));
    CHECK(!weft_entity_is_alive(t->world, hooked->one) &&
          !weft_entity_is_alive(t->world, shared->other));
    CHECK(weft_entity_is_alive(t->world, single_of(t)->one));
    weft_entity e10 = {e0.index + 10, e0.version}, e11 = {e0.index + 11, e0.version};
    CHECK_OK(weft_entity_destroy(t->world, e10));
    CHECK(!weft_entity_is_alive(t->world, e10) && !weft_entity_is_alive(t->world, e11));
    CHECK_OK(weft_world_validate(t->world));
}

PLAIN_TEST(equal_worlds_with_different_tags_hash_equally_and_write_the_same_file)
{
    const weft_entity never = {99, 0};
    tagged a = open_tagged(WEFT_WITHOUT_ENTITY_TAG), b = open_tagged(5), c = open_tagged(9);
    fill(&a, never);
    fill(&b, never);
    check_same(&a, &b);
    weft_world_bytes bytes[2];
    CHECK_OK(weft_world_save_memory(a.world, &bytes[0], NULL));
    CHECK_OK(weft_world_save_memory(b.world, &bytes[1], NULL));
    CHECK_U64(bytes[0].count, bytes[1].count);
    CHECK(memcmp(bytes[0].bytes, bytes[1].bytes, bytes[0].count) == 0);
    CHECK_OK(weft_world_load_memory(c.world, bytes[1].bytes, bytes[1].count, NULL));
    check_same(&b, &c);
    weft_entity first = {a.first.index ^ UINT32_C(9) << WEFT_ENTITY_TAG_SHIFT, a.first.version};
    check_fields(&c, first, 9);
    check_fields(&b, b.first, 5);
    check_same(&b, &c); /* indices that are free, in the same order */
    weft_world_bytes_free(a.world, &bytes[0]);
    weft_world_bytes_free(b.world, &bytes[1]);
    CHECK_OK(weft_world_destroy(a.world));
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_OK(weft_world_destroy(c.world));
}

/* Also when the world that loads has the tag of the foreign one, or none. */
PLAIN_TEST(an_entity_of_another_world_in_a_field_stays_foreign_through_a_file)
{
    const uint32_t tags[] = {6, 5, 9, WEFT_WITHOUT_ENTITY_TAG};
    tagged other = open_tagged(6), from = open_tagged(5);
    fill(&other, (weft_entity){0, 0});
    fill(&from, other.first);
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(from.world, &bytes, NULL));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t tag = tags[i] == WEFT_WITHOUT_ENTITY_TAG ? 0 : tags[i];
        tagged to = open_tagged(tags[i]);
        CHECK_OK(weft_world_load_memory(to.world, bytes.bytes, bytes.count, NULL));
        check_same(&from, &to);
        weft_entity e0 = {weft_entity_index(from.first) | tag << WEFT_ENTITY_TAG_SHIFT,
                          from.first.version};
        check_fields(&to, e0, tag);
        CHECK_OK(weft_world_destroy(to.world));
    }
    weft_world_bytes_free(from.world, &bytes);
    CHECK_OK(weft_world_destroy(from.world));
    CHECK_OK(weft_world_destroy(other.world));
}

PLAIN_TEST(worlds_that_live_together_have_different_tags_in_checked_builds)
{
    enum { WORLDS = 16 };
    weft_world *worlds[WORLDS + 1];
    uint32_t seen = 0;
    for (uint32_t i = 0; i <= WORLDS; i++) {
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &worlds[i]));
        weft_entity entity;
        CHECK_OK(weft_entity_create_many(worlds[i], weft_archetype_create(worlds[i], NULL, 0), 1,
                                         &entity));
        seen |= 1u << (entity.index >> WEFT_ENTITY_TAG_SHIFT);
        CHECK_U64(weft_entity_index(entity), 0);
        if (i < WORLDS && WEFT_IS_CHECKED) CHECK_U64(seen, (1u << (i + 1)) - 1);
    }
    for (uint32_t i = 0; i <= WORLDS; i++) CHECK_OK(weft_world_destroy(worlds[i]));
    CHECK_U64(seen, WEFT_IS_CHECKED ? 0xffffu : 1u);
}

PLAIN_TEST(texts_show_entities_without_the_tag_of_their_world)
{
    weft_world *world, *other;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = 9}, &world));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = 3}, &other));
    weft_component a = weft_component_create_plain(world, "a", 4, 4, 0);
    weft_entity e[4];
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, &a, 1), 4, e));
    CHECK(e[2].index > 1000); /* the tag is there */
    CHECK_OK(weft_entity_destroy(world, e[2]));
    CHECK_RESULT(weft_entity_remove(world, e[2], a), WEFT_STALE_ENTITY);
    char text[32];
    snprintf(text, sizeof text, "entity %u:%u ", weft_entity_index(e[2]), e[2].version);
    CHECK(strstr(weft_world_error(world)->text, text) != NULL);
    CHECK_OK(weft_entity_set_name_unique(world, e[3], "boss"));
    CHECK_RESULT(weft_entity_set_name_unique(world, e[1], "boss"), WEFT_ALREADY_EXISTS);
    snprintf(text, sizeof text, "entity %u:%u \"boss\"", weft_entity_index(e[3]), e[3].version);
    CHECK(strstr(weft_world_error(world)->text, text) != NULL);
    weft_entity foreign = weft_entity_create(other, weft_archetype_create(other, NULL, 0));
    CHECK(weft_entity_remove(world, foreign, a) != WEFT_OK);
    snprintf(text, sizeof text, "entity %u:%u ", weft_entity_index(foreign), foreign.version);
    CHECK(strstr(weft_world_error(world)->text, text) != NULL);
    snprintf(text, sizeof text, "entity %u:%u,", weft_entity_index(foreign), foreign.version);
    weft_transfer_desc transfer = {.tracked = &foreign, .tracked_count = 1};
    weft_transfer_report report;
    CHECK_RESULT(weft_world_transfer(other, world, &transfer, &report, sizeof report),
                 WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK);
    if (WEFT_IS_CHECKED) CHECK(strstr(weft_world_error(other)->text, text) != NULL);
    CHECK_OK(weft_world_destroy(world));
    CHECK_OK(weft_world_destroy(other));
}
