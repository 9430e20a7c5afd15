/* SPDX-License-Identifier: MIT */
/* test_random_carriers.c: random worlds with every kind of component at once go through every
 * carrier, and come back as they were: by their digest (random_world.h), wherever types, rows and
 * handles are there, and by the hashes of the library where these are the same: CONTENT and LAYOUT
 * of world files, worlds in memory and snapshots, CONTENT of texts, weft_shard_hash between ranks
 * and of checkpoints. Half of what is read from files is read into a later layout of the structs.
 * From 3 ranks to 2: shard_worlds.c.
 *
 * WEFT_TEST_SEEDS=10000 takes so many seeds, WEFT_TEST_SEEDS=FIRST-LAST those, WEFT_TEST_SEED=N
 * that one. */
#include "arrival.h"
#include "checkpoint.h"
#include "plain.h"
#include "random_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/value.h>
#include <weft/world_text.h>

/* ---- what does not travel ---- */

static bool takes_all(uint32_t kind)
{
    (void)kind;
    return true;
}

static bool takes_section(uint32_t kind)
{
    const random_storage storage = random_storage_of(kind);
    const random_content content = random_content_of(kind);
    return storage != STORED_SPARSE && (storage != STORED_SHARED || content == HOLDS_WORD);
}

static bool takes_ranks(uint32_t kind)
{
    const random_content content = random_content_of(kind);
    return random_storage_of(kind) != STORED_CHUNK && random_flag_of(kind) != FLAG_CLEANUP &&
           content != HOLDS_BLOB && content != HOLDS_TEXT;
}

/* A text names each element of an array: a longer one is refused. */
static bool takes_longer(uint32_t kind)
{
    return random_content_of(kind) != HOLDS_LINKS && random_content_of(kind) != HOLDS_MIXED;
}

/* A text does not say which rows share a chunk: its value is that of the last of them. */
static bool takes_rows(uint32_t kind)
{
    return random_storage_of(kind) != STORED_CHUNK;
}

static bool takes_rows_longer(uint32_t kind)
{
    return takes_longer(kind) && takes_rows(kind);
}

static uint32_t kinds_left_out(const random_world *w, bool (*takes)(uint32_t kind),
                               weft_component out[RANDOM_KINDS])
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (w->of[kind].id != 0 && !takes(kind)) out[count++] = w->of[kind];
    return count;
}

/* ---- one trip ---- */

/* A world, and another that gets what it has. Owner: a test. */
typedef struct trip {
    uint64_t seed;
    random_world from, to;
    random_digest was;
    uint64_t content, layout; /* hashes of `from` */
    bool is_same;             /* both worlds have the same types, in the same order */
} trip;

static void trip_begin(trip *t, uint64_t seed)
{
    *t = (trip){.seed = seed};
    random_world_open(&t->from, &(random_world_desc){.order = 0});
    random_world_fill(&t->from, seed, takes_all);
    t->was = random_digest_make(&t->from, takes_all, true);
    t->content = weft_world_hash(t->from.world, WEFT_HASH_CONTENT);
    t->layout = weft_world_hash(t->from.world, WEFT_HASH_LAYOUT);
}

static void trip_end(trip *t)
{
    random_digest_free(&t->was);
    random_world_close(&t->from);
}

/* Opens the other world: with types in an order of its own for every other seed, and later layouts
 * where the carrier may have them. */
static void there_open(trip *t, uint64_t salt, bool may_grow)
{
    const uint64_t drawn = (t->seed * UINT64_C(0x9e3779b97f4a7c15)) >> (salt % 32 + 8);
    const random_world_desc desc = {.order = (drawn & 1) != 0 ? t->seed : 0,
                                    .is_grown = may_grow && (drawn & 2) != 0};
    t->is_same = desc.order == 0 && !desc.is_grown;
    random_world_open(&t->to, &desc);
}

static void there_compare(trip *t, const char *carrier, bool (*takes)(uint32_t kind),
                          bool with_resources)
{
    CHECK_OK(weft_world_validate(t->to.world));
    random_digest is = random_digest_make(&t->to, takes, with_resources);
    random_digest was = t->was;
    if (takes != takes_all) was = random_digest_make(&t->from, takes, with_resources);
    if (!with_resources) was.total = was.list = 0;
    random_digest_compare(carrier, &is, &was);
    if (takes != takes_all) random_digest_free(&was);
    random_digest_free(&is);
}

static void hashes_compare(const trip *t, bool has_layout)
{
    if (!t->is_same) return;
    CHECK_U64(weft_world_hash(t->to.world, WEFT_HASH_CONTENT), t->content);
    if (has_layout) CHECK_U64(weft_world_hash(t->to.world, WEFT_HASH_LAYOUT), t->layout);
}

static const char *path_of(const char *kind)
{
    static char path[128];
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "."; /* no disk waits */
    snprintf(path, sizeof path, "%s/weft-carriers-%s-%d", folder, kind, (int)getpid());
    return path;
}

/* ---- carriers ---- */

static void by_file(trip *t)
{
    weft_world_bytes bytes = {0};
    const char *path = path_of("world");
    const weft_load_desc load = {.blob_types = random_blob_types, .blob_type_count = 1};
    const bool is_file = t->seed % 8 == 0;
    there_open(t, 1, true);
    if (is_file) {
        CHECK_OK(weft_world_save(t->from.world, path, NULL));
        CHECK_OK(weft_world_load(t->to.world, path, &load));
        unlink(path);
    } else {
        CHECK_OK(weft_world_save_memory(t->from.world, &bytes, NULL));
        CHECK_OK(weft_world_load_memory(t->to.world, bytes.bytes, bytes.count, &load));
        weft_world_bytes_free(t->from.world, &bytes);
    }
    there_compare(t, is_file ? "world file" : "world in memory", takes_all, true);
    hashes_compare(t, true);
    random_world_close(&t->to);
}

typedef struct text_bytes {
    char *at;
    size_t count, room;
} text_bytes;

static weft_result text_take(void *user, const void *bytes, size_t count)
{
    text_bytes *text = user;
    if (count >= text->room - text->count) {
        text->room = 2 * (text->room + count) + 1;
        text->at = realloc(text->at, text->room);
    }
    CHECK(text->at != NULL);
    memcpy(text->at + text->count, bytes, count);
    text->count += count;
    text->at[text->count] = '\0';
    return WEFT_OK;
}

static text_bytes text_of(random_world *w, const weft_component *without, uint32_t count)
{
    text_bytes text = {NULL, 0, 0};
    const weft_value_io io = {.write_blob = random_blob_write, .user = w};
    const weft_world_text_desc desc = {without, count, &io};
    CHECK_OK(weft_world_save_json(w->world, &(weft_writer){text_take, &text}, &desc));
    return text;
}

static int by_text_line(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The hash of the lines of a text, in any order: of handles, versions and values. */
static uint64_t lines_hash(text_bytes *text)
{
    uint64_t hash = 0;
    size_t count = 0, room = 1;
    for (size_t i = 0; i < text->count; i++) room += text->at[i] == '\n';
    char **lines = calloc(room, sizeof *lines);
    CHECK(lines != NULL);
    for (char *rest, *line = strtok_r(text->at, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_text_line);
    for (size_t i = 0; i < count; i++)
        for (const char *at = lines[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    free(lines);
    return hash;
}

static void by_text(trip *t)
{
    weft_error error;
    weft_component without[RANDOM_KINDS + 1];
    uint32_t without_count = 0;
    there_open(t, 2, true);
    const bool is_grown = t->to.desc.is_grown, is_one_chunk = t->was.count < 64;
    if (is_grown) without_count = kinds_left_out(&t->from, takes_longer, without);
    if (is_grown) without[without_count++] = t->from.total;
    const weft_value_io io = {.read_blob = random_blob_read, .user = &t->to};
    text_bytes text = text_of(&t->from, without, without_count), again;
    if (weft_world_load_json(t->to.world, &(weft_text){text.at, text.count, NULL},
                             &(weft_world_text_desc){.io = &io}, &error) != WEFT_OK)
        test_fail(__FILE__, __LINE__, error.text);
    there_compare(t, "text",
                  is_grown       ? takes_rows_longer
                  : is_one_chunk ? takes_all
                                 : takes_rows,
                  !is_grown);
    hashes_compare(t, false);
    if (t->is_same && is_one_chunk) {
        again = text_of(&t->to, NULL, 0);
        CHECK_U64(lines_hash(&again), lines_hash(&text));
        free(again.at);
    }
    free(text.at);
    random_world_close(&t->to);
}

/* The rows go to some sections; all of them are loaded. */
static void by_section(trip *t)
{
    enum { SECTIONS = 3 };
    weft_world *world = t->from.world;
    const char *path = path_of("sections");
    weft_component without[RANDOM_KINDS];
    const uint32_t without_count = kinds_left_out(&t->from, takes_section, without);
    const weft_component section = weft_component_section(world);
    weft_entity *all = calloc(RANDOM_ROWS, sizeof *all);
    CHECK(all != NULL);
    const weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{t->from.key}}});
    const uint32_t count = (uint32_t)weft_query_entities(world, query, all, RANDOM_ROWS);
    for (uint32_t i = 0; i < count; i++) {
        const weft_section number = {
            .section = (uint32_t)((t->seed + i * UINT64_C(2654435761)) >> 3) % SECTIONS};
        CHECK_OK(weft_entity_add(world, all[i], section));
        CHECK_OK(weft_entity_set_shared(world, all[i], section, &number));
    }
    free(all);
    CHECK_OK(weft_query_destroy(world, query));
    CHECK_OK(weft_sections_save(world, path,
                                &(weft_sections_desc){.without = without,
                                                      .without_count = without_count,
                                                      .with_names = true}));
    there_open(t, 3, false);
    weft_stream *stream;
    CHECK_OK(weft_stream_open(
        t->to.world, path,
        &(weft_stream_desc){.blob_types = random_blob_types, .blob_type_count = 1}, &stream));
    const uint32_t sections = weft_stream_section_count(stream);
    for (uint32_t i = 0; i < sections; i++)
        CHECK_OK(weft_stream_load(stream, (i + (uint32_t)t->seed) % sections, 1));
    CHECK_OK(weft_stream_wait(t->to.world));
    there_compare(t, "section", takes_section, false);
    random_world_close(&t->to);
    unlink(path);
}

/* Everything moves: the source is empty then. */
static void by_transfer(trip *t)
{
    there_open(t, 4, false);
    random_digest was = random_digest_make(&t->from, takes_all, false);
    random_digest_free(&t->was);
    t->was = was;
    CHECK_OK(weft_world_transfer(t->to.world, t->from.world, NULL, NULL, 0));
    CHECK_OK(weft_world_validate(t->from.world));
    there_compare(t, "transfer", takes_all, false);
    random_world_close(&t->to);
}

static void by_snapshot(trip *t)
{
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(t->from.world, NULL, &snapshot));
    random_world_change(&t->from, t->seed);
    CHECK_OK(weft_snapshot_restore(t->from.world, snapshot));
    weft_snapshot_destroy(snapshot);
    random_digest is = random_digest_make(&t->from, takes_all, true);
    random_digest_compare("snapshot", &is, &t->was);
    random_digest_free(&is);
    CHECK_U64(weft_world_hash(t->from.world, WEFT_HASH_CONTENT), t->content);
    CHECK_U64(weft_world_hash(t->from.world, WEFT_HASH_LAYOUT), t->layout);
}

/* ---- between ranks ---- */

/* What a message between ranks does: blocks of rows, read and placed by another shard. */
static void message_carry(const random_world *from, random_world *to)
{
    enum { BLOCKS = 512 };
    weft__sector_rows rows = {0};
    weft__bytes bytes = {0};
    weft__block *blocks = calloc(BLOCKS, sizeof *blocks);
    weft_entity *entities = calloc(RANDOM_ROWS, sizeof *entities);
    uint32_t count = 0;
    CHECK(blocks != NULL && entities != NULL);
    CHECK_OK(weft__sector_rows_collect(from->shard, from->shard->rows_query, &rows));
    for (uint32_t begin = 0, end; begin < rows.count; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        CHECK_OK(weft__sector_rows_write(from->shard, &rows, begin, end, &bytes));
    }
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    while (in.at != in.end) {
        CHECK(count < BLOCKS);
        CHECK_OK(weft__block_read(to->shard, &in, NULL, &blocks[count++]));
    }
    CHECK_OK(weft__arrivals_place(to->shard, blocks, count, entities));
    while (count != 0) weft__block_free(&blocks[--count]);
    weft__sector_rows_free(&rows);
    weft__bytes_free(&bytes);
    free(blocks);
    free(entities);
}

static void between_ranks(uint64_t seed, bool is_message)
{
    uint64_t was_hash[2], is_hash[2];
    random_world from, to;
    const char *path = path_of("ranks");
    const random_world_desc there = {.has_shard = true,
                                     .is_grown = !is_message && seed % 2 != 0,
                                     .order = !is_message && seed % 4 > 1 ? seed : 0};
    random_world_open(&from, &(random_world_desc){.has_shard = true});
    random_world_fill(&from, seed, takes_ranks);
    random_world_open(&to, &there);
    CHECK_OK(weft_shard_hash(from.shard, was_hash));
    if (is_message) {
        message_carry(&from, &to);
    } else {
        CHECK_OK(weft_shard_save(from.shard, path));
        const weft_result result = weft_shard_load(to.shard, path);
        if (result != WEFT_OK) test_fail(__FILE__, __LINE__, weft_ranks_error()->text);
        unlink(path);
    }
    CHECK_OK(weft_world_validate(to.world));
    random_digest was = random_digest_make(&from, takes_ranks, false);
    random_digest is = random_digest_make(&to, takes_ranks, false);
    random_digest_compare(is_message ? "between ranks" : "checkpoint", &is, &was);
    CHECK_OK(weft_shard_hash(to.shard, is_hash));
    if (!there.is_grown && there.order == 0) {
        CHECK_U64(is_hash[0], was_hash[0]);
        CHECK_U64(is_hash[1], was_hash[1]);
    }
    random_digest_free(&was);
    random_digest_free(&is);
    random_world_close(&from);
    random_world_close(&to);
}

static void run_seed(uint64_t seed)
{
    trip t;
    test_note_seed(seed);
    trip_begin(&t, seed);
    by_file(&t);
    by_text(&t);
    by_snapshot(&t);
    if (seed % 2 == 0)
        by_section(&t); /* marks the rows: so it is the last */
    else
        by_transfer(&t);
    trip_end(&t);
    between_ranks(seed, true);
    between_ranks(seed, false);
}

PLAIN_TEST(random_worlds_come_back_from_every_carrier)
{
    const char *text = getenv("WEFT_TEST_SEEDS"), *one = getenv("WEFT_TEST_SEED");
    uint64_t first = 1, last = getenv("WEFT_DEEP") != NULL ? 10000 : 200;
    char *rest = NULL;
    if (text != NULL) last = strtoull(text, &rest, 0);
    if (rest != NULL && *rest == '-') first = last, last = strtoull(rest + 1, NULL, 0);
    if (one != NULL) first = last = strtoull(one, NULL, 0);
    CHECK_OK(weft_ranks_start(NULL, NULL));
    for (uint64_t seed = first; seed <= last; seed++) run_seed(seed);
    printf("%llu seeds\n", (unsigned long long)(last - first + 1));
}
