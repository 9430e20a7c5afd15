/* SPDX-License-Identifier: MIT */
/* test_world_file.c: worlds saved and loaded: same hash and bytes, errors. */
#include "blob_fixture.h"
#include "buffer_append.h"
#include "directory.h"
#include "memory_fault.h"
#include "plain.h"
#include "text_fixture.h"
#include "transfer_fixture.h"
#include "world_file_read.h"
#include "world_file_write.h"

#include <string.h>

/* ---- a world with everything ---- */

static void fill(side *s)
{
    weft_entity e[300];
    weft_component config = weft_component_create_plain(s->world, "Config", 16, 8, WEFT_RESOURCE);
    memcpy(weft_resource_write(s->world, config), "a configuration", 16);
    for (uint32_t i = 0; i < 300; i++) {
        e[i] = make(s, i);
        if (i % 2 == 0) CHECK_OK(weft_entity_add(s->world, e[i], s->lever));
        if (i % 4 == 0) CHECK_OK(weft_entity_enable(s->world, e[i], s->lever, false));
        if (i % 3 == 0) set_team(s, e[i], s->team, (int32_t)(i % 5));
        if (i % 7 == 0) {
            Link link = {.salt = i, .target = e[i / 2], .pair = {e[i / 3], {0, 0}}};
            CHECK_OK(weft_entity_set(s->world, e[i], s->link, &link, sizeof link));
        }
        if (i % 11 != 0) continue;
        CHECK_OK(weft_entity_add(s->world, e[i], s->list));
        CHECK_OK(test_buffer_append(s->world, s->list, e[i], e, i % 9));
    }
    CHECK_OK(weft_entity_add(s->world, e[1], s->per_chunk));
    *chunk_value_of(s) = 99;
    CHECK_OK(weft_entity_set_name(s->world, e[5], "N\xC3\xA4me"));
    CHECK_OK(weft_entity_set_name(s->world, e[8], "another"));
    uint32_t clean = 3;
    CHECK_OK(weft_entity_set(s->world, e[9], s->clean, &clean, sizeof clean));
    CHECK_OK(weft_entity_add(s->world, e[10], weft_component_prefab(s->world)));
    for (uint32_t i = 9; i < 300; i += 10) CHECK_OK(weft_entity_destroy(s->world, e[i]));
    for (uint32_t i = 0; i < 5; i++) make(s, 1000 + i); /* indices with higher versions */
}

/* Saves into memory. */
static weft_world_bytes save(weft_world *world)
{
    weft_world_bytes bytes;
    CHECK_OK(weft__world_write(world, &(weft_save_desc){0}, &bytes));
    return bytes;
}

static weft_world *new_world(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &world));
    return world;
}

static void check_equal(weft_world *a, weft_world *b)
{
    CHECK_OK(weft_world_validate(b));
    CHECK_U64(weft_world_hash(b, WEFT_HASH_CONTENT), weft_world_hash(a, WEFT_HASH_CONTENT));
    CHECK_U64(weft_world_hash(b, WEFT_HASH_LAYOUT), weft_world_hash(a, WEFT_HASH_LAYOUT));
}

PLAIN_TEST(a_loaded_world_has_the_hash_of_the_saved_one_and_saves_to_the_same_bytes)
{
    side a;
    blob_directory directory;
    blob_directory_create(&directory);
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    fill(&a);
    CHECK_OK(weft_world_save(a.world, directory.path, NULL));
    weft_world *b = new_world(); /* knows no type of it */
    CHECK_OK(weft_world_load(b, directory.path, NULL));
    check_equal(a.world, b);
    weft_world_bytes first = save(a.world), second = save(b);
    CHECK_U64(second.count, first.count);
    CHECK(memcmp(first.bytes, second.bytes, first.count) == 0);
    weft_world_bytes_free(a.world, &first);
    weft_world_bytes_free(b, &second);
    /* both go on alike */
    weft_component value = weft_component_find(b, "Value");
    for (int i = 0; i < 50; i++) {
        weft_entity x = make(&a, 5), y;
        CHECK_OK(weft_entity_create_many(b, WEFT_ARCHETYPE(b, value), 1, &y));
        CHECK(weft_entity_index(x) == weft_entity_index(y) && x.version == y.version);
    }
    CHECK_OK(weft_world_destroy(b));
    close_side(&a);
    blob_directory_destroy(&directory);
}

PLAIN_TEST(an_index_that_was_retired_stays_retired)
{
    side a;
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    for (uint64_t i = 0; i < 3; i++) make(&a, i);
    weft_entity last = {5, WEFT__VERSION_LAST};
    CHECK_OK(weft__directory_force(&a.world->directory, last.index, last.version, 0));
    weft__directory_free_owner(&a.world->directory, last);
    weft_world_bytes bytes = save(a.world);
    weft_world *b = new_world();
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    check_equal(a.world, b);
    weft_component value = weft_component_find(b, "Value");
    weft_entity next[4];
    CHECK_OK(weft_entity_create_many(b, WEFT_ARCHETYPE(b, value), 4, next));
    CHECK_U64(weft_entity_index(next[1]), 4);
    CHECK_U64(weft_entity_index(next[2]), 6);
    weft_world_bytes_free(a.world, &bytes);
    CHECK_OK(weft_world_destroy(b));
    close_side(&a);
}

PLAIN_TEST(names_and_order_of_registration_do_not_matter)
{
    side a, b;
    const weft_world_desc untagged = {.entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    open_side(&a, &untagged, false);
    open_side(&b, &untagged, true);
    fill(&a);
    weft_world_bytes bytes = save(a.world);
    CHECK_OK(weft__world_read(b.world, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    CHECK_OK(weft_world_validate(b.world));
    CHECK_U64(weft_world_hash(b.world, WEFT_HASH_CONTENT),
              weft_world_hash(a.world, WEFT_HASH_CONTENT));
    weft_query query =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.value, WEFT_READ}}});
    weft_cursor cursor = weft_query_begin(b.world, query);
    uint32_t names = 0;
    while (weft_query_next(&cursor))
        for (uint32_t i = 0; i < cursor.slice.count; i++) {
            const char *name = weft_entity_name(b.world, cursor.slice.entities[i]);
            CHECK_TEXT(name, weft_entity_name(a.world, cursor.slice.entities[i]));
            names += name[0] != '\0' ? 1 : 0;
        }
    weft_query_end(&cursor);
    CHECK_U64(names, 2);
    weft_world_bytes_free(a.world, &bytes);
    close_side(&a);
    close_side(&b);
}

PLAIN_TEST(loaded_values_count_as_changed_exactly_once)
{
    side a, b;
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    open_side(&b, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    for (uint32_t i = 0; i < 500; i++) make(&a, i);
    weft_world_bytes bytes = save(a.world);
    weft_query query =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.value, WEFT_READ}}});
    uint32_t since = weft_world_advance_change_version(b.world);
    CHECK_OK(weft__world_read(b.world, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    CHECK_OK(weft_query_filter_changed(b.world, query, b.value, since));
    CHECK_U64(weft_query_count(b.world, query), 500);
    since = weft_world_advance_change_version(b.world);
    CHECK_OK(weft_query_filter_reset(b.world, query));
    CHECK_OK(weft_query_filter_changed(b.world, query, b.value, since));
    CHECK_U64(weft_query_count(b.world, query), 0);
    weft_world_bytes_free(a.world, &bytes);
    close_side(&a);
    close_side(&b);
}

PLAIN_TEST(enable_bits_of_large_and_small_chunks_are_kept)
{
    enum { COUNT = 5000 };
    static weft_entity e[COUNT];
    side a;
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    CHECK_OK(weft_entity_create_many(
        a.world, weft_archetype_create(a.world, (weft_component[]){a.lever, a.mark}, 2), COUNT, e));
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_OK(weft_entity_enable(a.world, e[i], a.lever, i % 3 != 0));
        CHECK_OK(weft_entity_enable(a.world, e[i], a.mark, i < 4990));
    }
    weft_world_bytes bytes = save(a.world);
    weft_world *b = new_world();
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    check_equal(a.world, b);
    weft_component lever = weft_component_find(b, "Switch"), mark = weft_component_find(b, "Mark");
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_U64(weft_entity_is_enabled(b, e[i], lever), i % 3 != 0);
        CHECK_U64(weft_entity_is_enabled(b, e[i], mark), i < 4990);
    }
    weft_world_bytes_free(a.world, &bytes);
    CHECK_OK(weft_world_destroy(b));
    close_side(&a);
}

PLAIN_TEST(shared_values_are_loaded_once_with_exact_references)
{
    side a;
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    for (int32_t i = 0; i < 100; i++) set_team(&a, make(&a, 0), a.team, i % 4);
    weft_world_bytes bytes = save(a.world);
    weft_world *b = new_world();
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    check_equal(a.world, b); /* validation counts references */
    CHECK_U64(weft_shared_values(b, weft_component_find(b, "Team"), NULL, 0), 4);
    weft_world_bytes_free(a.world, &bytes);
    set_team(&a, make(&a, 0), a.owned, 1); /* has a release hook: more than bytes */
    CHECK_RESULT(weft__world_write(a.world, &(weft_save_desc){0}, &bytes), WEFT_UNSUPPORTED);
    CHECK_TEXT(weft_world_error(a.world)->text,
               "weft_world_save: component \"Owned\" has a shared_release hook, so its values are "
               "more than bytes: leave it out (without)");
    weft_save_desc without = {.without = &a.owned, .without_count = 1};
    CHECK_OK(weft__world_write(a.world, &without, &bytes));
    weft_world *c = new_world();
    CHECK_OK(weft__world_read(c, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    CHECK_U64(entities_of(c), 101);
    CHECK_U64(weft_component_find(c, "Owned").id, 0);
    weft_world_bytes_free(a.world, &bytes);
    CHECK_OK(weft_world_destroy(b));
    CHECK_OK(weft_world_destroy(c));
    close_side(&a);
}

/* Chunks that were full have room without their large component; residues that were only that
 * end. */
PLAIN_TEST(what_is_left_out_may_leave_full_chunks_with_room_and_residues_with_nothing)
{
    weft_world *a = new_world();
    weft_component large = weft_component_create_plain(a, "Large", 4000, 4, 0);
    weft_component left = weft_component_create_plain(a, "Left", 4, 4, WEFT_CLEANUP);
    for (int i = 0; i < 50; i++) CHECK(weft_entity_create(a, WEFT_ARCHETYPE(a, large)).version);
    weft_entity dead = weft_entity_create(a, WEFT_ARCHETYPE(a, left));
    CHECK_OK(weft_entity_destroy(a, dead));
    weft_component list[] = {large, left};
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(a, &bytes, &(weft_save_desc){list, 2}));
    weft_world *b = new_world();
    CHECK_OK(weft_world_load_memory(b, bytes.bytes, bytes.count, NULL));
    CHECK_U64(entities_of(b), 50);
    CHECK_OK(weft_world_validate(b));
    weft_entity next = weft_entity_create(b, weft_archetype_create(b, NULL, 0));
    CHECK_U64(weft_entity_index(next), weft_entity_index(dead)); /* its index is free */
    weft_world_bytes_free(a, &bytes);
    CHECK_OK(weft_world_destroy(b));
    CHECK_OK(weft_world_destroy(a));
}

/* ---- hooks ---- */

static weft_component register_text(weft_world *world, const char *name, uint32_t flags,
                                    bool has_hooks)
{
    return weft_component_create(
        world, &(weft_component_desc){.name = name,
                                      .size = sizeof(Text),
                                      .flags = flags,
                                      .hooks = {.destruct = text_destruct,
                                                .save = has_hooks ? text_save : NULL,
                                                .load = has_hooks ? text_load : NULL}});
}

PLAIN_TEST(values_with_hooks_are_saved_and_loaded_by_them)
{
    weft_world *a = new_world(), *b = new_world(), *c = new_world();
    weft_component text = register_text(a, "Text", 0, true);
    weft_component texts = register_text(a, "Texts", WEFT_BUFFER, true);
    weft_component title = register_text(a, "Title", WEFT_RESOURCE, true);
    ((Text *)weft_resource_write(a, title))->text = strdup("the title");
    weft_entity e[40];
    CHECK_OK(weft_entity_create_many(
        a, weft_archetype_create(a, (weft_component[]){text, texts}, 2), 40, e));
    for (int i = 0; i < 40; i++) {
        char words[6000];
        memset(words, 'a' + i % 26, sizeof words);
        words[i * 150] = '\0';
        ((Text *)weft_entity_write(a, e[i], text))->text = strdup(words);
        for (int k = 0; k < i; k++) {
            Text copy = {strdup(words + i * 100)};
            CHECK_OK(test_buffer_append(a, texts, e[i], &copy, 1));
        }
    }
    weft_world_bytes bytes = save(a);
    weft_load_desc none = {0};
    CHECK_RESULT(weft__world_read(b, bytes.bytes, bytes.count, &none, true, NULL),
                 WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(b)->text, "save and load") != NULL);
    weft_component there = register_text(b, "Text", 0, true);
    weft_component many = register_text(b, "Texts", WEFT_BUFFER, true);
    weft_component title_there = register_text(b, "Title", WEFT_RESOURCE, true);
    ((Text *)weft_resource_write(b, title_there))->text = strdup("goes");
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &none, true, NULL));
    CHECK_OK(weft_world_validate(b));
    for (int i = 0; i < 40; i++) {
        const Text *from = weft_entity_read(a, e[i], text), *to = weft_entity_read(b, e[i], there);
        CHECK_TEXT(to->text == NULL ? "" : to->text, from->text);
        const weft_buffer *buffer = weft_entity_read(b, e[i], many);
        CHECK_U64(buffer->count, i);
        for (int k = 0; k < i; k++)
            CHECK_U64(strlen(((const Text *)weft_buffer_read(buffer))[k].text), 50u * (unsigned)i);
    }
    CHECK_TEXT(((const Text *)weft_resource_read(b, title_there))->text, "the title");
    weft_world_bytes again = save(b);
    CHECK_U64(again.count, bytes.count);
    weft_world_bytes_free(b, &again);
    weft_world_bytes_free(a, &bytes);
    /* a hook that refuses, and a type that has none */
    ((Text *)weft_entity_write(a, e[7], text))->text[3] = '!';
    bytes = save(a);
    register_text(c, "Text", 0, true), register_text(c, "Texts", WEFT_BUFFER, true);
    register_text(c, "Title", WEFT_RESOURCE, true);
    CHECK_RESULT(weft__world_read(c, bytes.bytes, bytes.count, &none, true, NULL), WEFT_CORRUPT);
    CHECK_U64(entities_of(c), 0);
    weft_world_bytes_free(a, &bytes);
    weft_component bad = register_text(c, "Bad", 0, false);
    CHECK_OK(weft_entity_create_many(c, WEFT_ARCHETYPE(c, bad), 1, NULL));
    CHECK_RESULT(weft__world_write(c, &(weft_save_desc){0}, &bytes), WEFT_UNSUPPORTED);
    weft_world *worlds[] = {a, b, c};
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_destroy(worlds[i]));
}

typedef struct Model {
    weft_blob_ref scene;
} Model;

static weft_component register_model(weft_world *world)
{
    const weft_field field = {"scene", WEFT_FIELD_BLOB, 0, 1};
    return weft_component_create(
        world, &(weft_component_desc){
                   .name = "Model", .size = sizeof(Model), .fields = &field, .field_count = 1});
}

PLAIN_TEST(blobs_are_in_the_file_once_and_shared_again_after_loading)
{
    weft_world *a = new_world(), *b = new_world();
    weft_component model = register_model(a);
    weft_entity e[30];
    CHECK_OK(weft_entity_create_many(a, WEFT_ARCHETYPE(a, model), 30, e));
    for (uint32_t i = 0; i < 29; i++) { /* the last one stays null */
        Model value;
        CHECK_OK(blob_build_scene(weft_world_blobs(a), 1 + i % 3, 0, &value.scene));
        CHECK_OK(weft_entity_set(a, e[i], model, &value, sizeof value));
    }
    weft_world_bytes bytes = save(a);
    weft_load_desc none = {0};
    CHECK_RESULT(weft__world_read(b, bytes.bytes, bytes.count, &none, true, NULL),
                 WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(b)->text, "blob_types") != NULL);
    const weft_blob_type *const types[] = {&weft_blob_string_type, &scene_type};
    weft_load_desc desc = {.blob_types = types, .blob_type_count = 2};
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &desc, true, NULL));
    model = weft_component_find(b, "Model");
    for (uint32_t i = 0; i < 29; i++) {
        const Model *value = weft_entity_read(b, e[i], model);
        const Scene *scene = weft_blob_read(weft_world_blobs(b), value->scene, &scene_type);
        CHECK(scene != NULL && WEFT_BLOB_COUNT(&scene->nodes) == 1 + i % 3);
    }
    CHECK_U64(((const Model *)weft_entity_read(b, e[29], model))->scene.id, 0);
    weft_blob_store_stats stats;
    CHECK_OK(weft_blob_store_stats_get(weft_world_blobs(b), &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 3);
    weft_world_bytes again = save(b);
    CHECK_U64(again.count, bytes.count);
    CHECK(memcmp(again.bytes, bytes.bytes, bytes.count) == 0);
    weft_world_bytes_free(a, &bytes);
    weft_world_bytes_free(b, &again);
    CHECK_OK(weft_world_destroy(a));
    CHECK_OK(weft_world_destroy(b));
}

/* ---- errors ---- */

/* Names of 255 bytes, and structs within structs whose paths have 255 and 256. */
PLAIN_TEST(the_longest_names_are_loaded_and_longer_ones_refused_when_declared)
{
    char name[256], outer[129], inner[2][129];
    memset(name, 'n', sizeof name);
    memset(outer, 'o', sizeof outer);
    memset(inner, 'i', sizeof inner);
    name[255] = outer[128] = inner[0][126] = inner[1][127] = '\0';
    for (int i = 0; i < 2; i++) {
        const weft_field leaf = {inner[i], WEFT_FIELD_I32};
        const weft_type in = {"In", 4, 4, &leaf, 1};
        const weft_field field = {outer, WEFT_FIELD_STRUCT, .type = &in};
        const weft_type type = {"Out", 4, 4, &field, 1};
        weft_world *world = new_world(), *loaded = new_world();
        weft_component made =
            weft_component_create(world, &(weft_component_desc){.name = name, .type = &type});
        if (i == 1) {
            CHECK_U64(made.id, 0);
            CHECK(strstr(weft_world_error(world)->text, "is longer than 255 bytes") != NULL);
        } else {
            const uint32_t value = 42;
            weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, made));
            CHECK_OK(weft_entity_set(world, e, made, &value, sizeof value));
            weft_world_bytes bytes = save(world);
            CHECK_OK(weft_world_load_memory(loaded, bytes.bytes, bytes.count, NULL));
            check_equal(world, loaded);
            weft_world_bytes_free(world, &bytes);
        }
        CHECK_OK(weft_world_destroy(loaded));
        CHECK_OK(weft_world_destroy(world));
    }
}

PLAIN_TEST(only_a_new_world_can_be_loaded_into)
{
    side a;
    blob_directory directory;
    blob_directory_create(&directory);
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    weft_entity e = make(&a, 1);
    CHECK_OK(weft_world_save(a.world, directory.path, NULL));
    CHECK_RESULT(weft_world_load(a.world, directory.path, NULL), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(a.world)->text, "weft_world_transfer") != NULL);
    CHECK_OK(weft_entity_destroy(a.world, e));
    CHECK_RESULT(weft_world_load(a.world, directory.path, NULL), WEFT_WRONG_PHASE); /* used */
    close_side(&a);
    blob_directory_destroy(&directory);
}

PLAIN_TEST(wrong_calls_and_wrong_files_say_what_to_do)
{
    side a;
    blob_directory directory;
    blob_directory_create(&directory);
    open_side(&a, &(weft_world_desc){.entity_tag = 3}, false);
    make(&a, 1);
    weft_world *b = new_world();
    CHECK_RESULT(weft_world_save(NULL, directory.path, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_save(a.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load(b, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load(NULL, directory.path, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load(b, directory.path, NULL), WEFT_NOT_FOUND);
    CHECK(strstr(weft_world_error(b)->text, directory.path) != NULL);
    CHECK_RESULT(weft_world_load(b, directory.name, NULL), WEFT_IO); /* a directory */
    weft_save_desc unknown = {.without = &(weft_component){999}, .without_count = 1};
    CHECK_RESULT(weft_world_save(a.world, directory.path, &unknown), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_world_save(a.world, "/nowhere/at/all", NULL), WEFT_IO);
    CHECK_OK(weft_world_save(a.world, directory.path, NULL));
    weft_world *c;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = 3}, &c));
    CHECK(weft_component_create_plain(c, "Value", 4, 4, 0).id != 0); /* another layout */
    CHECK_RESULT(weft_world_load(c, directory.path, NULL), WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(c)->text, "\"Value\"") != NULL);
    CHECK_OK(weft_world_destroy(b));
    CHECK_OK(weft_world_destroy(c));
    close_side(&a);
    blob_directory_destroy(&directory);
}

/* ---- damage ---- */

/* Whatever comes out is an error in an empty world, or a world that is right. */
static weft_result try_bytes(const char *bytes, size_t count, bool with_hash)
{
    weft_world *world;
    char *exact = malloc(count == 0 ? 1 : count); /* AddressSanitizer sees one byte too far */
    memcpy(exact, bytes, count);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .without_huge_pages = true,
                                                  .entity_block_limit = 8,
                                                  .megachunk_limit = 64},
                               &world));
    weft_result result =
        weft__world_read(world, exact, count, &(weft_load_desc){0}, with_hash, NULL);
    CHECK_OK(weft_world_validate(world));
    if (result != WEFT_OK) CHECK_U64(entities_of(world), 0);
    if (result != WEFT_OK) CHECK(strlen(weft_world_error(world)->text) > 20);
    CHECK_OK(weft_world_destroy(world));
    free(exact);
    return result;
}

static weft_world_bytes small_file(side *a)
{
    open_side(a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    weft_entity e[12];
    for (uint32_t i = 0; i < 12; i++) {
        e[i] = make(a, i);
        if (i % 3 == 0) CHECK_OK(weft_entity_add(a->world, e[i], a->lever));
        if (i % 6 == 0) CHECK_OK(weft_entity_enable(a->world, e[i], a->lever, false));
        if (i % 4 == 0) set_team(a, e[i], a->team, (int32_t)i);
    }
    Link link = {.target = e[1]};
    CHECK_OK(weft_entity_set(a->world, e[2], a->link, &link, sizeof link));
    CHECK_OK(weft_entity_add(a->world, e[2], a->list));
    CHECK_OK(test_buffer_append(a->world, a->list, e[2], e, 5));
    CHECK_OK(weft_entity_set_name(a->world, e[3], "three"));
    CHECK_OK(weft_entity_destroy(a->world, e[11]));
    return save(a->world);
}

PLAIN_TEST(every_truncated_file_is_an_error)
{
    side a;
    weft_world_bytes bytes = small_file(&a);
    CHECK_OK(try_bytes(bytes.bytes, bytes.count, true));
    for (size_t count = 0; count < bytes.count; count++) {
        CHECK_RESULT(try_bytes(bytes.bytes, count, true), WEFT_CORRUPT);
        weft__world_header header; /* with a size that fits, past the hash */
        if (count < sizeof header) continue;
        char *copy = malloc(count);
        memcpy(copy, bytes.bytes, count);
        memcpy(&header, copy, sizeof header);
        header.total_bytes = count;
        if (header.blobs_at > count) header.blobs_at = count;
        memcpy(copy, &header, sizeof header);
        CHECK(try_bytes(copy, count, false) != WEFT_OK);
        free(copy);
    }
    weft_world_bytes_free(a.world, &bytes);
    close_side(&a);
}

PLAIN_TEST(every_flipped_bit_is_an_error_and_without_the_hash_at_most_another_world)
{
    side a;
    weft_world_bytes bytes = small_file(&a);
    uint32_t accepted = 0;
    for (size_t bit = 0; bit < bytes.count * 8; bit++) {
        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ (1 << bit % 8));
        if (bit % 8 == 0) CHECK(try_bytes(bytes.bytes, bytes.count, true) != WEFT_OK);
        accepted += try_bytes(bytes.bytes, bytes.count, false) == WEFT_OK ? 1 : 0;
        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ (1 << bit % 8));
    }
    CHECK(accepted != 0); /* bits of values are free */
    weft_world_bytes_free(a.world, &bytes);
    close_side(&a);
}

PLAIN_TEST(every_failing_allocation_of_saving_and_loading_leaves_the_world_as_it_was)
{
    side a;
    open_side(&a, &(weft_world_desc){.entity_tag = WEFT_WITHOUT_ENTITY_TAG}, false);
    fill(&a);
    weft_component model = register_model(a.world);
    Model value;
    CHECK_OK(blob_build_scene(weft_world_blobs(a.world), 2, 0, &value.scene));
    CHECK_OK(weft_entity_set(a.world, make(&a, 0), model, &value, sizeof value));
    weft_world_bytes bytes = save(a.world);
    const weft_blob_type *const types[] = {&scene_type};
    weft_load_desc desc = {.blob_types = types, .blob_type_count = 1};
    for (int forever = 0; forever < 2; forever++) {
        for (uint64_t k = 1;; k++) {
            test_memory memory;
            weft_world *world;
            test_memory_init(&memory);
            CHECK_OK(weft_world_create(
                &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
            test_memory_fail(&memory, k, forever != 0);
            weft_result result =
                weft__world_read(world, bytes.bytes, bytes.count, &desc, true, NULL);
            bool was_refused = memory.failures != 0;
            test_memory_fail(&memory, 0, false);
            if (result != WEFT_OK) {
                CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
                CHECK_U64(entities_of(world), 0);
                CHECK_OK(weft_world_validate(world));
                CHECK_OK(weft__world_read(world, bytes.bytes, bytes.count, &desc, true, NULL));
            }
            CHECK_OK(weft_world_validate(world));
            weft_world_bytes out;
            test_memory_fail(&memory, k, forever != 0);
            if (weft__world_write(world, &(weft_save_desc){0}, &out) == WEFT_OK) {
                CHECK_U64(out.count, bytes.count);
                weft_world_bytes_free(world, &out);
            } else {
                CHECK_RESULT(weft_world_error(world)->code, WEFT_OUT_OF_MEMORY);
            }
            test_memory_fail(&memory, 0, false);
            CHECK_U64(weft_world_hash(world, WEFT_HASH_CONTENT),
                      weft_world_hash(a.world, WEFT_HASH_CONTENT));
            CHECK_OK(weft_world_destroy(world));
            test_memory_fini(&memory);
            if (!was_refused) break;
        }
    }
    weft_world_bytes_free(a.world, &bytes);
    close_side(&a);
}

/* A world with two resources of these values. */
static weft_world *world_of_two(weft_allocator hook, uint64_t first, uint64_t second)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .allocator = hook}, &world));
    *(uint64_t *)weft_resource_write(
        world, weft_component_create_plain(world, "first", 8, 8, WEFT_RESOURCE)) = first;
    *(uint64_t *)weft_resource_write(
        world, weft_component_create_plain(world, "second", 8, 8, WEFT_RESOURCE)) = second;
    return world;
}

static void check_two(weft_world *world, uint64_t first, uint64_t second)
{
    const uint64_t *a = weft_resource_read(world, weft_component_find(world, "first"));
    const uint64_t *b = weft_resource_read(world, weft_component_find(world, "second"));
    CHECK_U64(*a, first);
    CHECK_U64(*b, second);
}

PLAIN_TEST(a_load_that_fails_at_the_last_resource_leaves_the_first_as_it_was)
{
    weft_world *a = world_of_two((weft_allocator){0}, 1, 2);
    weft_world_bytes bytes = save(a);
    bool was_refused = true;
    for (uint64_t k = 1; was_refused; k++) {
        test_memory memory;
        test_memory_init(&memory);
        weft_world *b = world_of_two(test_memory_hook(&memory), 10, 20);
        test_memory_fail(&memory, k, false);
        weft_result result = weft_world_load_memory(b, bytes.bytes, bytes.count, NULL);
        was_refused = memory.failures != 0;
        test_memory_fail(&memory, 0, false);
        CHECK_RESULT(result, was_refused ? WEFT_OUT_OF_MEMORY : WEFT_OK);
        check_two(b, was_refused ? 10 : 1, was_refused ? 20 : 2);
        CHECK_OK(weft_world_load_memory(b, bytes.bytes, bytes.count, NULL));
        check_two(b, 1, 2);
        CHECK_OK(weft_world_destroy(b));
        test_memory_fini(&memory);
    }
    weft_world_bytes_free(a, &bytes);
    CHECK_OK(weft_world_destroy(a));
}

/* The size in the record of the type becomes 2 GiB. */
static void claim_more(weft_world_bytes *bytes, uint32_t size)
{
    static const char name[] = "large";
    const char *end = (const char *)bytes->bytes + bytes->count;
    char *at = memmem(bytes->bytes, bytes->count, name, strlen(name));
    CHECK(at != NULL);
    at = memmem(at, (size_t)(end - at), &size, sizeof size);
    CHECK(at != NULL);
    size = 1u << 31;
    memcpy(at, &size, sizeof size);
}

/* A size that the file has no bytes for must not become memory. */
PLAIN_TEST(a_large_resource_is_read_back_and_one_larger_than_the_file_is_refused)
{
    enum { BYTES = 3 << 20 };
    weft_load_desc none = {0};
    weft_world *a = new_world(), *b = new_world(), *c = new_world();
    weft_component large = weft_component_create_plain(a, "large", BYTES, 8, WEFT_RESOURCE);
    memset(weft_resource_write(a, large), 0x5a, BYTES);
    weft_world_bytes bytes = save(a);
    CHECK_OK(weft__world_read(b, bytes.bytes, bytes.count, &none, true, NULL));
    check_equal(a, b);
    claim_more(&bytes, BYTES);
    CHECK_RESULT(weft__world_read(c, bytes.bytes, bytes.count, &none, false, NULL), WEFT_CORRUPT);
    CHECK_U64(weft_component_find(c, "large").id, 0); /* not even registered */
    weft_world_bytes_free(a, &bytes);
    weft_world *worlds[] = {a, b, c};
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_destroy(worlds[i]));
}
