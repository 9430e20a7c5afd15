/* SPDX-License-Identifier: MIT */
/* test_carriers.c: which kinds of components and what else of entities each carrier brings along:
 * every cell is a round trip. What is refused must be refused by a call that says why, and has one
 * of five reasons. The table is that of docs/reference/carriers.md; with WEFT_WRITE_TABLES in the
 * environment the test writes it there. */
#include "arrival.h"
#include "checkpoint.h"
#include "plain.h"

#include <weft/shard.h>
#include <weft/snapshot.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/type.h>
#include <weft/value.h>
#include <weft/weft.h>
#include <weft/world_text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum kind {
    PLAIN,
    TAG,
    BITS,
    SPARSE,
    SHARED,
    SHARED_LINK,
    CHUNK,
    CHUNK_LINK,
    BUFFER,
    BLOB,
    CLEANUP,
    HOOKED,
    NAME,
    OLDER,
    KINDS
} kind;

typedef enum carrier {
    WORLD_FILE,
    MEMORY,
    TEXT,
    SECTION,
    TRANSFER,
    SNAPSHOT,
    MESSAGE,
    CHECKPOINT,
    CARRIERS
} carrier;

static const char *const kind_words[KINDS] = {"plain, with references",
                                              "tag",
                                              "enable bit",
                                              "SPARSE, with references",
                                              "SHARED",
                                              "SHARED, with references",
                                              "CHUNK",
                                              "CHUNK, with references",
                                              "BUFFER, with references",
                                              "BLOB fields",
                                              "CLEANUP",
                                              "memory of its own, with save and load",
                                              "name of the entity",
                                              "an older layout of the struct"};

typedef enum verdict { CARRIES, OWNER, STORE, ROWS, STUBS, PROGRAM, VERDICTS } verdict;

static const char *const reasons[VERDICTS] = {
    "carried",
    "a section must not cost the owner time for each of its values, and SHARED ones are there "
    "before its entities and blobs are: bake them into another kind",
    "the values lie in memory, or in a store, that the other side does not have (a text has the "
    "hash of a blob: "
    "give weft_value_io.read_blob)",
    "rows go one by one, and the value belongs to a chunk",
    "a row that has left may stay as a residue, which other references lead to",
    "both sides are one program, or the file is made again from its sources"};

typedef struct link_value {
    uint32_t number; /* the reference is not aligned to 8 */
    weft_entity to;
} link_value;
typedef struct grown_value { /* what a link_value became */
    weft_entity to;
    uint64_t number;
    float weight;
} grown_value;
typedef struct blob_value {
    weft_blob_ref leaf;
} blob_value;
typedef struct place_value {
    float x, y;
} place_value;
typedef struct leaf_value {
    uint64_t number;
} leaf_value;

static const weft_field link_fields[] = {WEFT_FIELD(link_value, number),
                                         WEFT_FIELD(link_value, to)};
static const weft_field grown_fields[] = {
    WEFT_FIELD(grown_value, to), WEFT_FIELD(grown_value, number), WEFT_FIELD(grown_value, weight)};
static const weft_field blob_fields[] = {WEFT_FIELD(blob_value, leaf)};
static const weft_blob_type leaf_type = WEFT_BLOB_TYPE_PLAIN(leaf_value);
static const weft_blob_type *const leaf_types[] = {&leaf_type};

/* ---- hooks: a text on the heap ---- */

static void text_end(void *values, uint32_t count, void *user)
{
    char **texts = values;
    (void)user;
    for (uint32_t i = 0; i < count; i++) free(texts[i]);
}

static void text_copy(void *to, const void *from, uint32_t count, void *user)
{
    char **texts = to, *const *others = from;
    (void)user;
    for (uint32_t i = 0; i < count; i++) texts[i] = others[i] == NULL ? NULL : strdup(others[i]);
}

static size_t text_save(const void *value, void *out, size_t capacity, void *user)
{
    char *const *text = value;
    size_t bytes = *text == NULL ? 0 : strlen(*text);
    (void)user;
    if (bytes != 0 && bytes <= capacity) memcpy(out, *text, bytes);
    return bytes;
}

static bool text_load(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    char *text = count == 0 ? NULL : calloc(1, count + 1);
    if (text != NULL) memcpy(text, bytes, count);
    *(char **)value = text;
    return true;
}

/* ---- worlds ---- */

/* One end of a trip. Owner: a cell. */
typedef struct side {
    weft_world *world;
    weft_shard *shard; /* NULL: none */
    weft_component place, host, target, of[KINDS];
} side;

static weft_component link_create(weft_world *world, const char *name, uint32_t flags)
{
    return weft_component_create(world, &(weft_component_desc){.name = name,
                                                               .size = sizeof(link_value),
                                                               .alignment = 4,
                                                               .flags = flags,
                                                               .fields = link_fields,
                                                               .field_count = 2});
}

static void components_create(side *s, bool is_grown)
{
    weft_world *world = s->world;
    s->place = WEFT_COMPONENT(world, place_value);
    s->host = weft_component_create_plain(world, "Host", 0, 1, 0);
    s->target = weft_component_create_plain(world, "Target", 0, 1, 0);
    s->of[PLAIN] = link_create(world, "Plain", 0);
    s->of[TAG] = weft_component_create_plain(world, "Tag", 0, 1, 0);
    s->of[BITS] = weft_component_create_plain(world, "Bits", 0, 1, WEFT_ENABLEABLE);
    s->of[SPARSE] = link_create(world, "Sparse", WEFT_SPARSE);
    s->of[SHARED] = weft_component_create_plain(world, "Shared", 8, 8, WEFT_SHARED);
    s->of[SHARED_LINK] = link_create(world, "SharedLink", WEFT_SHARED);
    s->of[CHUNK] = weft_component_create_plain(world, "Chunk", 8, 8, WEFT_CHUNK);
    s->of[CHUNK_LINK] = link_create(world, "ChunkLink", WEFT_CHUNK);
    s->of[BUFFER] = link_create(world, "Buffer", WEFT_BUFFER);
    s->of[BLOB] = weft_component_create(world, &(weft_component_desc){.name = "Blob",
                                                                      .size = sizeof(blob_value),
                                                                      .alignment = 8,
                                                                      .fields = blob_fields,
                                                                      .field_count = 1});
    s->of[CLEANUP] = weft_component_create_plain(world, "Cleanup", 8, 8, WEFT_CLEANUP);
    s->of[HOOKED] =
        weft_component_create(world, &(weft_component_desc){.name = "Text",
                                                            .size = sizeof(char *),
                                                            .alignment = 8,
                                                            .hooks = {.destruct = text_end,
                                                                      .copy = text_copy,
                                                                      .save = text_save,
                                                                      .load = text_load}});
    weft_component_desc older = {.name = "Older",
                                 .size = is_grown ? sizeof(grown_value) : sizeof(link_value),
                                 .alignment = is_grown ? _Alignof(grown_value) : 4,
                                 .fields = is_grown ? grown_fields : link_fields,
                                 .field_count = is_grown ? 3 : 2};
    s->of[OLDER] = weft_component_create(world, &older);
    CHECK(s->of[OLDER].id != 0 && s->of[HOOKED].id != 0 && s->of[CHUNK_LINK].id != 0);
}

static bool is_of_ranks(carrier with)
{
    return with == MESSAGE || with == CHECKPOINT;
}

static void side_open(side *s, carrier with, bool is_grown)
{
    *s = (side){.world = NULL};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world));
    components_create(s, is_grown);
    if (!is_of_ranks(with)) return;
    const weft_shard_desc desc = {.key = s->place,
                                  .grid = {.dimensions = 2, .cells = {4, 4}, .most = {100, 100}},
                                  .halo = {s->place}};
    CHECK_OK(weft_shard_create(s->world, &desc, &s->shard));
}

static void side_close(side *s)
{
    weft_stream *stream;
    while (weft_stream_list(s->world, &stream, 1) != 0) weft_stream_close(stream);
    weft_shard_destroy(s->shard);
    CHECK_OK(weft_world_destroy(s->world));
}

/* ---- what travels ---- */

static void *chunk_value(const side *s, weft_component component)
{
    const weft_query_desc desc = {.terms = {{component, WEFT_WRITE, WEFT_ALL, 0}, {s->host}}};
    const weft_query query = weft_query_create(s->world, &desc);
    weft_cursor cursor = weft_query_begin(s->world, query);
    void *found = weft_query_next(&cursor) ? weft_slice_write_chunk(&cursor.slice, 0) : NULL;
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(s->world, query));
    return found;
}

static weft_blob_ref leaf_create(weft_world *world)
{
    weft_blob_builder *builder;
    weft_blob_ref made;
    CHECK_OK(weft_blob_builder_create(weft_world_blobs(world), &leaf_type, 0, &builder));
    ((leaf_value *)weft_blob_builder_root(builder))->number = 42;
    CHECK_OK(weft_blob_builder_finish(builder, &made));
    weft_blob_builder_destroy(builder);
    return made;
}

static void give(const side *s, kind what, weft_entity host, weft_entity target)
{
    weft_world *world = s->world;
    const weft_component component = s->of[what];
    const link_value link = {42, target};
    const uint64_t number = 42;
    switch (what) {
    case PLAIN:
    case SPARSE:
    case OLDER:
        CHECK_OK(weft_entity_set(world, host, component, &link, sizeof link));
        break;
    case BITS:
        CHECK_OK(weft_entity_add(world, host, component));
        CHECK_OK(weft_entity_enable(world, host, component, false));
        break;
    case SHARED:
    case SHARED_LINK:
        CHECK_OK(weft_entity_add(world, host, component));
        CHECK_OK(weft_entity_set_shared(world, host, component,
                                        what == SHARED ? (const void *)&number : &link));
        break;
    case CHUNK:
    case CHUNK_LINK:
        CHECK_OK(weft_entity_add(world, host, component));
        memcpy(chunk_value(s, component), what == CHUNK ? (const void *)&number : &link,
               what == CHUNK ? sizeof number : sizeof link);
        break;
    case BUFFER: {
        CHECK_OK(weft_entity_add(world, host, component));
        const weft_buffers buffer = weft_entity_write_buffer(world, host, component);
        CHECK_OK(weft_buffers_append(&buffer, 0, &link, 1));
        break;
    }
    case BLOB: {
        const blob_value value = {leaf_create(world)};
        CHECK_OK(weft_entity_set(world, host, component, &value, sizeof value));
        break;
    }
    case CLEANUP:
        CHECK_OK(weft_entity_set(world, host, component, &number, sizeof number));
        break;
    case HOOKED:
        CHECK_OK(weft_entity_add(world, host, component));
        *(char **)weft_entity_write(world, host, component) = strdup("forty-two");
        break;
    case NAME:
        CHECK_OK(weft_entity_set_name(world, host, "host of the cell"));
        break;
    case TAG:
    case KINDS:
        CHECK_OK(weft_entity_add(world, host, s->of[TAG]));
    }
}

static bool is_link(const void *at, weft_entity target)
{
    link_value link;
    if (at == NULL) return false;
    memcpy(&link, at, sizeof link);
    return link.number == 42 && weft_entity_equal(link.to, target);
}

static bool is_number(const void *at)
{
    uint64_t number = 0;
    if (at != NULL) memcpy(&number, at, sizeof number);
    return number == 42;
}

static bool has_come(const side *s, kind what, weft_entity host, weft_entity target)
{
    weft_world *world = s->world;
    const weft_component component = s->of[what];
    const void *value = NULL;
    if (what == NAME) return strcmp(weft_entity_name(world, host), "host of the cell") == 0;
    if (!weft_entity_has(world, host, component)) return false;
    if (what != TAG && what != BITS && what != BUFFER && what != SHARED && what != SHARED_LINK &&
        what != CHUNK && what != CHUNK_LINK)
        value = weft_entity_read(world, host, component);
    switch (what) {
    case PLAIN:
    case SPARSE:
        return is_link(value, target);
    case BITS:
        return !weft_entity_is_enabled(world, host, component);
    case SHARED:
        return is_number(weft_entity_read_shared(world, host, component));
    case SHARED_LINK:
        return is_link(weft_entity_read_shared(world, host, component), target);
    case CHUNK:
        return is_number(chunk_value(s, component));
    case CHUNK_LINK:
        return is_link(chunk_value(s, component), target);
    case BUFFER: {
        const weft_buffers buffer = weft_entity_read_buffer(world, host, component);
        return weft_buffers_length(&buffer, 0) == 1 &&
               is_link(weft_buffers_read(&buffer, 0), target);
    }
    case BLOB: {
        const blob_value *blob = value;
        return is_number(weft_blob_read(weft_world_blobs(world), blob->leaf, &leaf_type));
    }
    case CLEANUP:
        return is_number(value);
    case HOOKED: {
        char *const *text = value;
        return *text != NULL && strcmp(*text, "forty-two") == 0;
    }
    case OLDER: {
        grown_value grown;
        if (weft_component_info(world, component)->size == sizeof(link_value))
            return is_link(value, target);
        memcpy(&grown, value, sizeof grown);
        return grown.number == 42 && grown.weight == 0 && weft_entity_equal(grown.to, target);
    }
    case TAG:
    case NAME:
    case KINDS:
        break;
    }
    return true;
}

/* ---- carriers ---- */

typedef struct text_bytes {
    char *at;
    size_t count;
} text_bytes;

static weft_result text_write(void *user, const void *bytes, size_t count)
{
    text_bytes *text = user;
    text->at = realloc(text->at, text->count + count + 1);
    memcpy(text->at + text->count, bytes, count);
    text->count += count;
    return WEFT_OK;
}

static weft_result by_memory(const side *from, const side *to, const weft_load_desc *load)
{
    weft_world_bytes bytes;
    weft_result result = weft_world_save_memory(from->world, &bytes, NULL);
    if (result == WEFT_OK)
        result = weft_world_load_memory(to->world, bytes.bytes, bytes.count, load);
    weft_world_bytes_free(from->world, &bytes);
    return result;
}

static weft_result by_text(const side *from, const side *to)
{
    text_bytes text = {NULL, 0};
    weft_result result = weft_world_save_json(from->world, &(weft_writer){text_write, &text}, NULL);
    const weft_text read = {text.at, text.count, NULL};
    if (result == WEFT_OK) result = weft_world_load_json(to->world, &read, NULL, NULL);
    if (result == WEFT_INVALID_ARGUMENT) result = WEFT_UNSUPPORTED; /* a blob without read_blob */
    free(text.at);
    return result;
}

static weft_result by_section(const side *from, const side *to, const char *path)
{
    weft_stream *stream;
    const weft_stream_desc desc = {.blob_types = leaf_types, .blob_type_count = 1};
    weft_result result =
        weft_sections_save(from->world, path, &(weft_sections_desc){.with_names = true});
    if (result == WEFT_OK) result = weft_stream_open(to->world, path, &desc, &stream);
    if (result != WEFT_OK) return result;
    CHECK_OK(weft_stream_load(stream, 0, 1));
    return weft_stream_wait(to->world);
}

/* What a message between ranks does: blocks of rows, read and placed by another shard. */
static weft_result by_message(const side *from, const side *to)
{
    weft__sector_rows rows = {0};
    weft__bytes bytes = {0};
    weft__block blocks[8];
    weft_entity entities[8] = {{0, 0}};
    uint32_t count = 0;
    if (weft__components_hash(from->shard) != weft__components_hash(to->shard))
        return WEFT_UNSUPPORTED; /* weft_shard_create, which compares the ranks */
    weft_result result = weft__sector_rows_collect(from->shard, from->shard->rows_query, &rows);
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        result = weft__sector_rows_write(from->shard, &rows, begin, end, &bytes);
    }
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    while (result == WEFT_OK && in.at != in.end) {
        result = weft__block_read(to->shard, &in, NULL, &blocks[count]);
        count += result == WEFT_OK;
    }
    if (result == WEFT_OK) result = weft__arrivals_place(to->shard, blocks, count, entities);
    while (count != 0) weft__block_free(&blocks[--count]);
    weft__sector_rows_free(&rows);
    weft__bytes_free(&bytes);
    return result;
}

static weft_result carry(carrier with, const side *from, const side *to, const char *path)
{
    const weft_load_desc load = {.blob_types = leaf_types, .blob_type_count = 1};
    weft_result result = WEFT_OK;
    switch (with) {
    case WORLD_FILE:
        result = weft_world_save(from->world, path, NULL);
        return result == WEFT_OK ? weft_world_load(to->world, path, &load) : result;
    case MEMORY:
        return by_memory(from, to, &load);
    case TEXT:
        return by_text(from, to);
    case SECTION:
        return by_section(from, to, path);
    case TRANSFER:
        return weft_world_transfer(to->world, from->world, NULL, NULL, 0);
    case MESSAGE:
        return by_message(from, to);
    case CHECKPOINT:
        result = weft_shard_save(from->shard, path);
        return result == WEFT_OK ? weft_shard_load(to->shard, path) : result;
    case SNAPSHOT:
    case CARRIERS:
        break;
    }
    return result;
}

/* ---- cells ---- */

static weft_entity only_one(const side *s, weft_component component)
{
    weft_entity found = {0, 0};
    const weft_query query =
        weft_query_create(s->world, &(weft_query_desc){.terms = {{component}}});
    CHECK_U64(weft_query_entities(s->world, query, &found, 1), 1);
    CHECK_OK(weft_query_destroy(s->world, query));
    return found;
}

static void fill(const side *s, kind what)
{
    weft_entity made[2];
    const weft_component marks[2] = {s->host, s->target};
    for (uint32_t i = 0; i < 2; i++) {
        weft_component list[3] = {s->place, marks[i]};
        weft_shard_info info;
        if (s->shard != NULL) {
            weft_shard_info_get(s->shard, &info, sizeof info);
            list[2] = info.gid;
        }
        made[i] = weft_entity_create(
            s->world, weft_archetype_create(s->world, list, s->shard != NULL ? 3 : 2));
        const place_value at = {10 + 60 * (float)i, 10};
        CHECK_OK(weft_entity_set(s->world, made[i], s->place, &at, sizeof at));
    }
    give(s, what, made[0], made[1]);
}

/* The same world, changed and put back. */
static void snapshot_restore(const side *s, kind what)
{
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(s->world, NULL, &snapshot));
    CHECK_OK(weft_entity_destroy(s->world, only_one(s, s->host)));
    CHECK_OK(weft_snapshot_restore(s->world, snapshot));
    CHECK(has_come(s, what, only_one(s, s->host), only_one(s, s->target)));
    weft_snapshot_destroy(snapshot);
}

/* Whether the trip was made; else it was refused, with a reason. */
static bool trip(kind what, carrier with)
{
    side from, to;
    char path[64];
    snprintf(path, sizeof path, "carriers-%d", (int)getpid());
    if (with == SNAPSHOT && what == OLDER) return false; /* of one world */
    side_open(&from, with, false);
    fill(&from, what);
    if (with == SNAPSHOT) {
        snapshot_restore(&from, what);
        side_close(&from);
        return true;
    }
    side_open(&to, with, what == OLDER);
    weft_result result = from.shard == NULL ? WEFT_OK : weft_shard_sync(from.shard);
    if (result == WEFT_OK) result = carry(with, &from, &to, path);
    const bool has_all =
        result != WEFT_OK || has_come(&to, what, only_one(&to, to.host), only_one(&to, to.target));
    if (!has_all ||
        (result != WEFT_OK && result != WEFT_UNSUPPORTED && result != WEFT_TYPE_MISMATCH)) {
        fprintf(stderr, "%s, carrier %d: %s: %s / %s / %s\n", kind_words[what], (int)with,
                weft_result_name(result), weft_world_error(from.world)->text,
                weft_world_error(to.world)->text, weft_ranks_error()->text);
        test_fail(__FILE__, __LINE__, "it is lost");
    }
    side_close(&from);
    side_close(&to);
    unlink(path);
    return result == WEFT_OK;
}

/* Why a cell is refused. */
static verdict reason_of(kind what, carrier with)
{
    if (what == OLDER) return PROGRAM;
    if (with == SECTION) return OWNER;
    if (what == CHUNK || what == CHUNK_LINK) return ROWS;
    if (what == CLEANUP) return STUBS;
    return STORE;
}

static void table_print(FILE *out)
{
    fprintf(out,
            "| | world file | in memory | text | section | transfer | snapshot | between ranks "
            "| checkpoint |\n|---|---|---|---|---|---|---|---|---|\n");
    for (kind what = PLAIN; what < KINDS; what++) {
        fprintf(out, "| %s |", kind_words[what]);
        for (carrier with = WORLD_FILE; with < CARRIERS; with++) {
            const verdict is = trip(what, with) ? CARRIES : reason_of(what, with);
            if (is == CARRIES)
                fprintf(out, " yes |");
            else
                fprintf(out, " %d |", is);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "\n");
    for (verdict is = OWNER; is < VERDICTS; is++) fprintf(out, "%d. %s\n", is, reasons[is]);
}

PLAIN_TEST(every_kind_travels_in_every_carrier_or_has_one_of_five_reasons)
{
    static const char mark[] = "<!-- the table: tests/shard/test_carriers.c -->\n";
    char *table, path[4096], page[16384] = "";
    size_t bytes;
    CHECK_OK(weft_ranks_start(NULL, NULL));
    FILE *out = open_memstream(&table, &bytes);
    table_print(out);
    fclose(out);
    printf("%s", table);
    const char *root = getenv("WEFT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/docs/reference/carriers.md", root == NULL ? "." : root);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(page, mark);
    CHECK(at != NULL);
    at += strlen(mark);
    if (getenv("WEFT_WRITE_TABLES") != NULL) {
        file = fopen(path, "w");
        fprintf(file, "%.*s%s", (int)(at - page), page, table);
        fclose(file);
    } else {
        CHECK_TEXT(at, table);
    }
    free(table);
}
