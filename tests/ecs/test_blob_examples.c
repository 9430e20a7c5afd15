/* SPDX-License-Identifier: MIT */
/* test_blob_examples.c: small blobs of each kind, some of them from docs/guide/blobs.md. */
#include "check.h"

#include <weft/blob.h>

#include <criterion/criterion.h>
#include <string.h>

static weft_blob_store *store;

static void make_store(void)
{
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
}

static void drop_store(void)
{
    weft_blob_store_destroy(store);
}

TestSuite(blob_examples, .init = make_store, .fini = drop_store);

typedef struct MarketData {
    float price_oranges, price_apples;
} MarketData;

static const weft_blob_type market_data_type = WEFT_BLOB_TYPE_PLAIN(MarketData);

static weft_blob_ref create_market_data(void)
{
    weft_blob_builder *builder;
    weft_blob_ref ref = {0};
    if (weft_blob_builder_create(store, &market_data_type, 0, &builder) != WEFT_OK) return ref;
    MarketData *market = weft_blob_builder_root(builder);
    market->price_apples = 2.0f;
    market->price_oranges = 4.0f;
    weft_blob_builder_finish(builder, &ref);
    weft_blob_builder_destroy(builder);
    return ref;
}

Test(blob_examples, market_data)
{
    weft_blob_ref ref = create_market_data();
    const MarketData *market = weft_blob_read(store, ref, &market_data_type);
    CHECK_F64((double)market->price_apples, 2.0, 0.0);
    CHECK_F64((double)market->price_oranges, 4.0, 0.0);
    CHECK_OK(weft_blob_release(store, ref));
    CHECK_POINTER(weft_blob_read(store, ref, &market_data_type), NULL);
}

typedef struct Hobby {
    float excitement;
    int32_t orange_count;
} Hobby;

typedef struct HobbyPool {
    WEFT_BLOB_ARRAY(Hobby) hobbies;
} HobbyPool;

static const weft_blob_field hobby_pool_fields[] = {
    WEFT_BLOB_FIELD_ARRAY(HobbyPool, hobbies, NULL),
};
static const weft_blob_type hobby_pool_type = WEFT_BLOB_TYPE(HobbyPool, hobby_pool_fields);

Test(blob_examples, hobby_pool)
{
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &hobby_pool_type, 0, &builder));
    HobbyPool *pool = weft_blob_builder_root(builder);
    Hobby *hobbies = WEFT_BLOB_BUILD_ARRAY(builder, &pool->hobbies, 2);
    hobbies[0] = (Hobby){.excitement = 1, .orange_count = 7}; /* fill what the builder returned */
    hobbies[1] = (Hobby){.excitement = 0.2f, .orange_count = 2};
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);

    const HobbyPool *read = weft_blob_read(store, ref, &hobby_pool_type);
    CHECK_U64(WEFT_BLOB_COUNT(&read->hobbies), 2);
    int32_t oranges = 0;
    for (uint64_t i = 0; i < WEFT_BLOB_COUNT(&read->hobbies); i++) {
        oranges += WEFT_BLOB_AT(&read->hobbies, i)->orange_count;
    }
    CHECK_I64(oranges, 9);
}

typedef struct CharacterSetup {
    float loveliness;
    weft_blob_string name;
} CharacterSetup;

static const weft_blob_field character_fields[] = {
    WEFT_BLOB_FIELD_STRING(CharacterSetup, name),
};
static const weft_blob_type character_type = WEFT_BLOB_TYPE(CharacterSetup, character_fields);

Test(blob_examples, character_with_a_name)
{
    static const char name[] = "Karl \xE2\x80\x9CKarlchen\xE2\x80\x9D \xE5\x8D\xA1\xE5\xB0\x94";
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &character_type, 0, &builder));
    CharacterSetup *character = weft_blob_builder_root(builder);
    character->loveliness = 9001;
    weft_blob_builder_string(builder, &character->name, name, strlen(name));
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);

    const CharacterSetup *read = weft_blob_read(store, ref, &character_type);
    CHECK_TEXT(weft_blob_string_text(&read->name), name);
    CHECK_U64(read->name.bytes, strlen(name));
}

typedef struct FriendList {
    WEFT_BLOB_POINTER(weft_blob_string) best_friend;
    WEFT_BLOB_ARRAY(weft_blob_string) friends;
} FriendList;

static const weft_blob_field friend_list_fields[] = {
    WEFT_BLOB_FIELD_POINTER(FriendList, best_friend, &weft_blob_string_type),
    WEFT_BLOB_FIELD_ARRAY(FriendList, friends, &weft_blob_string_type),
};
static const weft_blob_type friend_list_type = WEFT_BLOB_TYPE(FriendList, friend_list_fields);

Test(blob_examples, friend_list)
{
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &friend_list_type, 0, &builder));
    FriendList *list = weft_blob_builder_root(builder);
    weft_blob_string *friends = WEFT_BLOB_BUILD_ARRAY(builder, &list->friends, 3);
    weft_blob_builder_string(builder, &friends[0], "Alice", 5);
    weft_blob_builder_string(builder, &friends[1], "Bob", 3);
    weft_blob_builder_string(builder, &friends[2], "Joachim", 7);
    WEFT_BLOB_BUILD_POINT(builder, &list->best_friend, &friends[2]);
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);

    const FriendList *read = weft_blob_read(store, ref, &friend_list_type);
    const weft_blob_string *best = WEFT_BLOB_TARGET(&read->best_friend);
    CHECK_POINTER(best, WEFT_BLOB_AT(&read->friends, 2));
    CHECK_TEXT(weft_blob_string_text(best), "Joachim");
}

typedef struct Row {
    WEFT_BLOB_ARRAY(int32_t) cells;
} Row;

typedef struct Grid {
    WEFT_BLOB_ARRAY(Row) rows;
} Grid;

static const weft_blob_field row_fields[] = {WEFT_BLOB_FIELD_ARRAY(Row, cells, NULL)};
static const weft_blob_type row_type = WEFT_BLOB_TYPE(Row, row_fields);
static const weft_blob_field grid_fields[] = {WEFT_BLOB_FIELD_ARRAY(Grid, rows, &row_type)};
static const weft_blob_type grid_type = WEFT_BLOB_TYPE(Grid, grid_fields);

Test(blob_examples, arrays_within_arrays)
{
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &grid_type, 0, &builder));
    Grid *grid = weft_blob_builder_root(builder);
    Row *rows = WEFT_BLOB_BUILD_ARRAY(builder, &grid->rows, 3);
    for (int32_t y = 0; y < 3; y++) { /* through `rows`, never through grid->rows */
        int32_t *cells = WEFT_BLOB_BUILD_ARRAY(builder, &rows[y].cells, (uint64_t)y + 1);
        for (int32_t x = 0; x <= y; x++) cells[x] = 10 * y + x;
    }
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);

    const Grid *read = weft_blob_read(store, ref, &grid_type);
    for (uint64_t y = 0; y < WEFT_BLOB_COUNT(&read->rows); y++) {
        const Row *row = WEFT_BLOB_AT(&read->rows, y);
        CHECK_U64(WEFT_BLOB_COUNT(&row->cells), y + 1);
        for (uint64_t x = 0; x <= y; x++) CHECK_I64(*WEFT_BLOB_AT(&row->cells, x), 10 * y + x);
    }
}

Test(blob_examples, the_same_content_is_stored_once)
{
    weft_blob_ref first = create_market_data(), second = create_market_data();
    CHECK_U64(first.id, second.id);
    weft_blob_info info;
    CHECK_OK(weft_blob_info_get(store, first, &info, sizeof info));
    CHECK_U64(info.reference_count, 2);
}
