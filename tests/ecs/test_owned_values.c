/* SPDX-License-Identifier: MIT */
/* test_owned_values.c: every recorded value with a destruct hook ends exactly once, whatever
 * becomes of its command: few commands go one by one, many are folded, and both give the same. */
#include "plain.h"
#include "storage_fixture.h"

#include <string.h>

enum { MOST = 600, FEW = 9, VALUES = 8 * MOST };

/* A value is the number of a token, 0: none. */
typedef struct bed {
    storage_fixture f;
    weft_component owner, wide, list;
    weft_recorder *commands;
    weft_entity entities[MOST];
    uint32_t count;
    uint32_t token_count;  /* given out; the first is 1 */
    uint8_t ended[VALUES]; /* [token] how often it was destructed */
    uint32_t misaligned;   /* values of 32 bytes that a hook got elsewhere */
} bed;

typedef struct wide_value {
    _Alignas(32) uint32_t token;
} wide_value;

static void owner_destruct(void *values, uint32_t count, void *user)
{
    bed *b = user;
    const uint32_t *tokens = values;
    for (uint32_t i = 0; i < count; i++)
        if (tokens[i] != 0) b->ended[tokens[i]]++;
}

static void wide_destruct(void *values, uint32_t count, void *user)
{
    bed *b = user;
    b->misaligned += (uintptr_t)values % _Alignof(wide_value) != 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t token;
        memcpy(&token, (char *)values + i * sizeof(wide_value), sizeof token);
        if (token != 0) b->ended[token]++;
    }
}

static void bed_open(bed *b, uint32_t count)
{
    memset(b, 0, sizeof *b);
    b->f = storage_open();
    b->count = count;
    weft_component_desc desc = {.name = "owner", .size = 4};
    desc.hooks = (weft_component_hooks){.destruct = owner_destruct, .user = b};
    b->owner = weft_component_create(b->f.world, &desc);
    desc.name = "list", desc.flags = WEFT_BUFFER, desc.buffer_capacity = 1;
    b->list = weft_component_create(b->f.world, &desc);
    desc = (weft_component_desc){.name = "wide", .size = sizeof(wide_value), .alignment = 32};
    desc.hooks = (weft_component_hooks){.destruct = wide_destruct, .user = b};
    b->wide = weft_component_create(b->f.world, &desc);
    CHECK_OK(weft_entity_create_many(b->f.world, WEFT_ARCHETYPE(b->f.world, b->f.tag), count,
                                     b->entities));
    CHECK_OK(weft_recorder_create(b->f.world, &b->commands));
}

/* Everything ended once. */
static void bed_close(bed *b)
{
    weft_recorder_destroy(b->commands);
    storage_close(&b->f);
    for (uint32_t token = 1; token <= b->token_count; token++) CHECK_U64(b->ended[token], 1);
    CHECK_U64(b->misaligned, 0);
}

static uint32_t token_take(bed *b)
{
    CHECK(b->token_count + 1 < VALUES);
    return ++b->token_count;
}

static void record_set(bed *b, weft_entity entity)
{
    uint32_t token = token_take(b);
    CHECK_OK(weft_recorder_set(b->commands, entity, b->owner, &token, sizeof token));
    wide_value wide = {.token = token_take(b)};
    CHECK_OK(weft_recorder_set(b->commands, entity, b->wide, &wide, sizeof wide));
}

static void record_append(bed *b, weft_entity entity)
{
    uint32_t tokens[2] = {token_take(b), token_take(b)};
    CHECK_OK(weft_recorder_append(b->commands, entity, b->list, tokens, 2));
}

/* The tokens of the entity's own values. */
static void check_alive(bed *b, weft_entity entity, uint32_t owner)
{
    const uint32_t *token = weft_entity_read(b->f.world, entity, b->owner);
    CHECK(token != NULL);
    CHECK_U64(*token, owner);
    CHECK_U64(b->ended[owner], 0);
}

static void replaced(uint32_t count)
{
    static bed b;
    bed_open(&b, count);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) record_set(&b, b.entities[i]);
        CHECK_OK(weft_recorder_play(b.commands));
    }
    for (uint32_t i = 0; i < count; i++) {
        check_alive(&b, b.entities[i], 2 * count + 2 * i + 1);
        CHECK_U64(b.ended[2 * i + 1], 1);
    }
    bed_close(&b);
}

PLAIN_TEST(a_recorded_value_ends_the_one_it_replaces)
{
    replaced(FEW);
    replaced(MOST);
}

static void gone(uint32_t count)
{
    static bed b;
    bed_open(&b, count);
    for (uint32_t i = 0; i < count; i++) {
        weft_entity entity = b.entities[i];
        if (i % 4 == 3) /* before: skipped */
            CHECK_OK(weft_recorder_destroy_entity(b.commands, entity));
        record_set(&b, entity);
        record_append(&b, entity);
        if (i % 4 == 0) CHECK_OK(weft_recorder_destroy_entity(b.commands, entity));
        if (i % 4 != 1) continue;
        CHECK_OK(weft_recorder_remove(b.commands, entity, b.owner));
        CHECK_OK(weft_recorder_remove(b.commands, entity, b.wide));
        CHECK_OK(weft_recorder_remove(b.commands, entity, b.list));
    }
    CHECK_OK(weft_recorder_play(b.commands));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 4 * i + 1;
        for (uint32_t k = 0; k < 4; k++) CHECK_U64(b.ended[first + k], i % 4 == 2 ? 0 : 1);
    }
    bed_close(&b);
}

PLAIN_TEST(a_recorded_value_whose_row_or_component_goes_again_ends)
{
    gone(FEW);
    gone(MOST);
}

static void created(uint32_t count)
{
    static bed b;
    bed_open(&b, count);
    weft_archetype archetype = weft_archetype_create(b.f.world, &b.owner, 1);
    for (uint32_t i = 0; i < count; i++) {
        weft_entity entity = weft_recorder_create_entity(b.commands, archetype);
        record_set(&b, entity);
        if (i % 2 == 0) record_set(&b, entity);
        if (i % 3 == 0) CHECK_OK(weft_recorder_destroy_entity(b.commands, entity));
    }
    CHECK_OK(weft_recorder_play(b.commands));
    bed_close(&b);
}

PLAIN_TEST(values_of_created_entities_end_once)
{
    created(FEW);
    created(MOST);
}

PLAIN_TEST(values_that_are_never_played_end_with_their_recorder)
{
    static bed b;
    bed_open(&b, MOST);
    for (uint32_t i = 0; i < MOST; i++)
        record_set(&b, b.entities[i]), record_append(&b, b.entities[i]);
    uint32_t recorded = b.token_count, end = 0;
    weft_recorder_destroy(b.commands);
    b.commands = NULL;
    for (uint32_t token = 1; token <= recorded; token++) end += b.ended[token];
    CHECK_U64(end, recorded);
    bed_close(&b);
}
