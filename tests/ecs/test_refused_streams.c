/* SPDX-License-Identifier: MIT */
/* test_refused_streams.c: refused memory in the functions of streams: see refused.h. What a step
 * could not do is done by the next one (stream.h); a section that could not be read has failed,
 * and comes when it is asked for again. */
#include "check.h"
#include "refused.h"
#include "stream_fixture.h"

enum { ROWS = 14 };

/* How a stream is opened, and what is in its file. */
typedef enum sort { PLAIN, LOCKSTEP, BOUNDED, THREADS, NAMES, BLOBS, SORTS } sort;

static const char *const sort_names[SORTS] = {"plain",   "lockstep", "bounded",
                                              "threads", "names",    "blobs"};

typedef struct Book {
    WEFT_BLOB_ARRAY(uint32_t) pages;
} Book;
static const weft_blob_field book_fields[] = {WEFT_BLOB_FIELD_ARRAY(Book, pages, NULL)};
static const weft_blob_type book_type = WEFT_BLOB_TYPE(Book, book_fields);
static const weft_blob_type *const blob_types[] = {&book_type};
static const weft_field story_fields[] = {{"book", WEFT_FIELD_BLOB, 0, 1}};

static char files[SORTS][64]; /* by kind; written once */

/* Owner: one run. */
typedef struct bed {
    stage s;
    sort sort;
    weft_component story;
    weft_stream *stream;
    weft_query all;
    weft_entity own;
} bed;

/* ---- files ---- */

static weft_component story_make(weft_world *world)
{
    return weft_component_create(world, &(weft_component_desc){.name = "story",
                                                               .size = sizeof(weft_blob_ref),
                                                               .fields = story_fields,
                                                               .field_count = 1});
}

static void story_give(const stage *s, weft_component story, weft_entity to, uint32_t page)
{
    weft_blob_store *store = weft_world_blobs(s->world);
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &book_type, 0, &builder));
    Book *book = weft_blob_builder_root(builder);
    CHECK_OK(WEFT_BLOB_BUILD_COPY(builder, &book->pages, &page, 1));
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);
    CHECK_OK(weft_entity_set(s->world, to, story, &ref, sizeof ref));
    CHECK_OK(weft_blob_release(store, ref));
}

/* Sections 0 to 2; section 2 refers to section 1. */
static void file_make(sort kind)
{
    stage from = stage_make(1);
    weft_entity one[ROWS], two[ROWS], base[4];
    section_fill(&from, 0, 4, base);
    section_fill(&from, 1, ROWS, one);
    section_fill(&from, 2, ROWS, two);
    const weft_component story = kind == BLOBS ? story_make(from.world) : (weft_component){0};
    for (uint32_t i = 0; i < ROWS; i += 9) {
        const cable to = {.to = one[i], .number = i};
        char name[16];
        CHECK_OK(weft_entity_set(from.world, two[i], from.link, &to, sizeof to));
        snprintf(name, sizeof name, "row %u", (unsigned)i);
        if (kind == NAMES) CHECK_OK(weft_entity_set_name(from.world, two[i], name));
        if (kind == BLOBS) story_give(&from, story, two[i], i % 2);
    }
    CHECK_OK(weft_sections_save(from.world, from.path,
                                &(weft_sections_desc){.with_names = kind == NAMES}));
    snprintf(files[kind], sizeof files[kind], "%s", from.path);
    from.path[0] = '\0'; /* the file stays */
    stage_end(&from);
}

/* ---- the bed ---- */

static void *bed_open(const refused_place *in)
{
    static bed made;
    bed *b = &made;
    if (files[in->kind][0] == '\0') file_make((sort)in->kind);
    memset(b, 0, sizeof *b);
    b->sort = (sort)in->kind;
    b->s = stage_make_in(&(weft_world_desc){
        .pool = in->pool, .allocator = in->heap, .os = in->os, .without_huge_pages = true});
    b->story = story_make(b->s.world);
    CHECK(b->story.id != 0 && weft_component_section_request(b->s.world).id != 0);
    b->all = weft_query_create(
        b->s.world, &(weft_query_desc){.terms = {{b->s.link, WEFT_NO_ACCESS, WEFT_OPTIONAL, 0}},
                                       .with_prefabs = true,
                                       .with_inactive = true});
    CHECK(b->all.id != 0);
    b->own = weft_entity_create(b->s.world, weft_archetype_create(b->s.world, &b->s.tag, 1));
    return b;
}

static weft_result stream_make(bed *b)
{
    const weft_stream_desc desc = {.blob_types = blob_types,
                                   .blob_type_count = 1,
                                   .threads = b->sort == THREADS ? 2 : 0,
                                   .lockstep = b->sort == LOCKSTEP ? 3 : 0,
                                   .bytes_max = b->sort == BOUNDED ? 400000 : 0};
    const weft_result result = weft_stream_open(b->s.world, files[b->sort], &desc, &b->stream);
    CHECK(result == WEFT_OK || b->stream == NULL);
    return result;
}

/* A bounded stream has room for one section, and one that nothing asks for. */
static void *stream_opened(const refused_place *in)
{
    bed *b = bed_open(in);
    CHECK_OK(stream_make(b));
    if (b->sort != BOUNDED) return b;
    CHECK_OK(weft_stream_load(b->stream, 1, 0));
    CHECK_OK(weft_stream_wait(b->s.world));
    CHECK_OK(weft_stream_unload(b->stream, 1));
    return b;
}

static void all_load(const bed *b)
{
    if (b->sort != BOUNDED) CHECK_OK(weft_stream_load(b->stream, 1, 0));
    CHECK_OK(weft_stream_load(b->stream, 2, 1));
}

/* With both sections, of which some rows have gone, come or changed their section. */
static void *sections_loaded(const refused_place *in)
{
    bed *b = stream_opened(in);
    stage *s = &b->s;
    weft_entity found[4];
    all_load(b);
    CHECK_OK(weft_stream_wait(s->world));
    weft_query all = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->link, WEFT_READ, WEFT_ALL, 0}}});
    CHECK(weft_query_entities(s->world, all, found, 4) >= 4);
    CHECK_OK(weft_entity_destroy(s->world, found[0]));
    CHECK_OK(weft_entity_remove(s->world, found[1], s->link));
    CHECK_OK(weft_entity_remove(s->world, found[2], s->section));
    section_put(s, b->own, 1);
    CHECK_OK(weft_query_destroy(s->world, all));
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_stream_close(b->stream);
    CHECK_OK(weft_world_destroy(b->s.world));
}

static uint64_t mixed(uint64_t sum, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count && bytes != NULL; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static const uint32_t *story_of(const bed *b, weft_entity e)
{
    const weft_blob_ref *ref = weft_entity_read(b->s.world, e, b->story);
    const Book *book = weft_blob_read(weft_world_blobs(b->s.world), *ref, &book_type);
    return book == NULL ? NULL : WEFT_BLOB_AT(&book->pages, 0);
}

/* What is in an entity, and which places it refers to. */
static uint64_t row_of(const bed *b, weft_entity e)
{
    const stage *s = &b->s;
    weft_world *world = s->world;
    const cable *link = weft_entity_read(world, e, s->link);
    uint64_t sum = mixed(1, weft_entity_read(world, e, s->place), sizeof(place));
    sum = mixed(sum, weft_entity_read(world, e, s->lever), 4);
    sum = mixed(sum, weft_entity_read(world, e, s->lot), 8);
    sum = mixed(sum, weft_entity_read(world, e, s->section), sizeof(weft_section));
    sum = mixed(sum, weft_entity_read(world, e, s->colour), 4);
    sum = mixed(sum, weft_entity_name(world, e), strlen(weft_entity_name(world, e)));
    sum = sum * 2 + (weft_entity_has(world, e, s->tag) ? 1 : 0);
    sum = sum * 2 + (weft_entity_is_enabled(world, e, s->lever) ? 1 : 0);
    const weft_entity *to = link == NULL ? NULL : &link->to;
    if (to != NULL) sum = mixed(sum, weft_entity_read(world, *to, s->place), sizeof(place));
    if (link != NULL) sum = mixed(sum, &link->number, sizeof link->number);
    if (weft_entity_has(world, e, b->story)) sum = mixed(sum, story_of(b, e), 4);
    const weft_buffers children = weft_entity_read_buffer(world, e, s->children);
    if (!weft_entity_has(world, e, s->children)) return sum;
    const weft_entity *child = weft_buffers_read(&children, 0);
    for (uint32_t i = 0; i < weft_buffers_length(&children, 0); i++)
        sum = mixed(sum, weft_entity_read(world, child[i], s->place), sizeof(place));
    return sum;
}

/* In no order: which section comes first decides about ids. */
static uint64_t rows_of(const bed *b)
{
    static weft_entity found[4 * ROWS];
    uint64_t sum = 0;
    const uint64_t count = weft_query_entities(b->s.world, b->all, found, 4 * ROWS);
    CHECK(count <= 4 * ROWS);
    for (uint64_t i = 0; i < count; i++) sum += row_of(b, found[i]);
    return sum;
}

static void bed_look(void *open, refused_look *out)
{
    bed *b = open;
    weft_stream_stats s;
    weft_world_stats world;
    weft_world_stats_get(b->s.world, &world, sizeof world);
    weft_stream_stats_get(b->s.world, &s, sizeof s);
    refused_see(out, "rows", rows_of(b));
    refused_see(out, "entities", world.entities);
    refused_see(out, "types", world.component_types);
    refused_see_soft(out, "bytes of buffers", world.bytes_buffers);
    refused_see_soft(out, "bytes of blobs", world.bytes_blobs);
    refused_see(out, "validity", weft_world_validate(b->s.world));
    refused_see(out, "streams", s.streams);
    refused_see(out, "loaded", s.loaded);
    refused_see(out, "under way", s.under_way);
    refused_see(out, "bytes of sections", s.bytes);
    refused_see(out, "late references", s.late_references);
}

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->s.world;
}

/* ---- the functions ---- */

static weft_result do_open(void *open)
{
    return stream_make(open);
}

/* Why a section is not there. */
static weft_result failure_of(const bed *b)
{
    for (uint32_t section = 0; section < 3; section++) {
        weft_section_info info;
        CHECK_OK(weft_stream_section_get(b->stream, section, &info, sizeof info));
        CHECK(info.result == WEFT_OK || info.text[0] != '\0');
        if (info.result != WEFT_OK) return info.result;
    }
    return WEFT_OK;
}

/* Sections come or leave. One that waits in vain has a result: why section 0 is not there. */
static bool is_busy(const bed *b)
{
    bool is_any = false;
    for (uint32_t section = 0; section < 3; section++) {
        weft_section_info info;
        CHECK_OK(weft_stream_section_get(b->stream, section, &info, sizeof info));
        is_any |= info.state == WEFT_SECTION_READING || info.state == WEFT_SECTION_LEAVING ||
                  (info.state == WEFT_SECTION_WAITING && info.result == WEFT_OK);
    }
    return is_any;
}

static weft_result do_load(void *open)
{
    bed *b = open;
    all_load(b);
    const weft_result result = weft_stream_wait(b->s.world);
    return result != WEFT_OK ? result : failure_of(b);
}

static weft_result do_step(void *open)
{
    bed *b = open;
    weft_result result;
    all_load(b);
    do {
        result = weft_stream_step(b->s.world, 1);
    } while (result == WEFT_OK && is_busy(b));
    return result != WEFT_OK ? result : failure_of(b);
}

static weft_result do_unload(void *open)
{
    bed *b = open;
    CHECK_OK(weft_stream_unload(b->stream, 2));
    return weft_stream_wait(b->s.world);
}

static weft_result do_close(void *open)
{
    bed *b = open;
    weft_stream_close(b->stream);
    b->stream = NULL;
    return WEFT_OK;
}

/* ---- the tables ---- */

static const refused_function on_worlds[] = {
    {"weft_stream_open", do_open, REFUSED_KINDS, 0},
};

static const refused_function on_streams[] = {
    {"weft_stream_wait load", do_load, REFUSED_KINDS | REFUSED_LATER | REFUSED_SILENT, 0},
    {"weft_stream_step", do_step, REFUSED_KINDS | REFUSED_WORKERS | REFUSED_LATER | REFUSED_SILENT,
     0},
    {"weft_stream_close", do_close, REFUSED_KINDS, 0},
};

static const refused_function on_loaded[] = {
    {"weft_stream_wait unload", do_unload, REFUSED_KINDS | REFUSED_LATER, 0},
    {"weft_stream_close loaded", do_close, REFUSED_KINDS, 0},
};

static const refused_bed bed_of_streams = {.close = bed_close,
                                           .look = bed_look,
                                           .world = bed_world,
                                           .kinds = sort_names,
                                           .kind_count = SORTS,
                                           .fewest = 10};

PLAIN_TEST(refused_streams_are_not_open)
{
    refused_sweep_of(&bed_of_streams, "a world", bed_open, REFUSED_LIST(on_worlds));
}

PLAIN_TEST(refused_sections_come_later)
{
    refused_sweep_of(&bed_of_streams, "a stream", stream_opened, REFUSED_LIST(on_streams));
}

PLAIN_TEST(refused_sections_leave_later)
{
    refused_sweep_of(&bed_of_streams, "a stream with sections", sections_loaded,
                     REFUSED_LIST(on_loaded));
}

PLAIN_TEST(files_of_these_tests_go)
{
    for (uint32_t i = 0; i < SORTS; i++) unlink(files[i]);
}
