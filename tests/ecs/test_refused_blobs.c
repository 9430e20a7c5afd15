/* SPDX-License-Identifier: MIT */
/* test_refused_blobs.c: refused memory in the functions of stores of blobs and their builders: see
 * refused.h. A builder keeps its first error, so each call here builds a blob of its own. */
#include "blob_fixture.h"
#include "check.h"
#include "plain.h"
#include "refused.h"

enum { WIDE = 9000, POINTERS = 200 };

/* Stores by the protection of their pages; blobs that are built in place or not. */
typedef enum sort { COPIED, IN_PLACE, PROTECTED, SORTS } sort;

static const char *const sort_names[SORTS] = {"copied", "in_place", "protected"};
static const char *const mode_names[] = {"read", "mapped", "mapped_trusted"};

/* What a builder does beside beginning and ending. */
typedef enum step { NOTHING, ARRAYS, COPIES, STRINGS, OBJECTS, POINTS, ALL } step;

/* Owner: one run. */
typedef struct bed {
    const refused_place *place;
    weft_blob_store *store;
    weft_blob_ref first, made;
    char path[64];
    void *bytes;
    uint64_t byte_count;
} bed;

static void fill(weft_blob_builder *builder, step does)
{
    static uint16_t weights[WIDE];
    Scene *scene = weft_blob_builder_root(builder);
    Node *nodes = NULL;
    scene->scale = (double)does;
    if (does == ARRAYS || does == COPIES || does == POINTS || does == ALL)
        nodes = WEFT_BLOB_BUILD_ARRAY(builder, &scene->nodes, POINTERS);
    for (uint32_t i = 0; nodes != NULL && i < POINTERS; i++) {
        if (does == COPIES || does == ALL)
            (void)WEFT_BLOB_BUILD_COPY(builder, &nodes[i].weights, weights, 100 + i);
        if (does == POINTS || does == ALL)
            (void)WEFT_BLOB_BUILD_POINT(builder, &nodes[i].parent, &nodes[i / 2]);
        if (does == ALL) (void)WEFT_BLOB_BUILD_ARRAY(builder, &nodes[i].children, 2);
    }
    if (does == ARRAYS) (void)WEFT_BLOB_BUILD_ARRAY(builder, &scene->palette, 2000);
    if (does == STRINGS || does == ALL)
        (void)weft_blob_builder_string(builder, &scene->title, (const char *)weights, WIDE);
    if (does == OBJECTS || does == ALL) (void)WEFT_BLOB_BUILD_OBJECT(builder, &scene->spare);
}

static weft_result build(bed *b, step does, weft_blob_ref *out)
{
    weft_blob_builder *builder;
    const uint64_t capacity = b->place->kind == IN_PLACE ? 1 << 18 : 0;
    weft_result result = weft_blob_builder_create(b->store, &scene_type, capacity, &builder);
    CHECK(result == WEFT_OK || builder == NULL);
    if (result != WEFT_OK) return result;
    fill(builder, does);
    result = weft_blob_builder_error(builder)->code;
    CHECK_U64(result != WEFT_OK, weft_blob_builder_error(builder)->text[0] != '\0');
    weft_blob_ref made = {0};
    if (result == WEFT_OK) result = weft_blob_builder_finish(builder, &made);
    weft_blob_builder_destroy(builder);
    CHECK(result == WEFT_OK || made.id == 0);
    if (result == WEFT_OK) *out = made;
    return result;
}

/* ---- the bed ---- */

static weft_result store_make(const bed *b, weft_blob_store **out)
{
    const weft_blob_store_desc desc = {.allocator = b->place->heap,
                                       .os = b->place->os,
                                       .protection = b->place->kind == PROTECTED
                                                         ? WEFT_BLOB_PROTECT_ALWAYS
                                                         : WEFT_BLOB_PROTECT_NEVER};
    return weft_blob_store_create(&desc, out);
}

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    b->place = place;
    CHECK_OK(store_make(b, &b->store));
    return b;
}

/* With a blob of another store as bytes and as a file. */
static void *loading_open(const refused_place *place)
{
    static const refused_place plain = {.kind = COPIED};
    bed *b = bed_open(place);
    bed other = {.place = &plain};
    weft_blob_info info;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_store_create(NULL, &other.store));
    CHECK_OK(build(&other, ALL, &ref));
    CHECK_OK(weft_blob_info_get(other.store, ref, &info, sizeof info));
    b->byte_count = info.block_bytes;
    b->bytes = malloc(info.block_bytes);
    memcpy(b->bytes, info.block, info.block_bytes);
    snprintf(b->path, sizeof b->path, "refused-%d.blob", (int)getpid());
    CHECK_OK(weft_blob_save(other.store, ref, b->path));
    weft_blob_store_destroy(other.store);
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_blob_store_destroy(b->store);
    free(b->bytes);
    if (b->path[0] != '\0') unlink(b->path);
}

static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    weft_blob_store_stats s;
    const Scene *scene = weft_blob_read(b->store, b->made, &scene_type);
    CHECK_OK(weft_blob_store_stats_get(b->store, &s, sizeof s));
    refused_see(out, "blobs", s.blob_count);
    refused_see(out, "bytes", s.block_bytes);
    refused_see(out, "builders", s.builders);
    refused_see(out, "shared", s.shared_count);
    refused_see(out, "value", scene == NULL ? 0 : blob_walk(1, scene, &scene_type));
}

/* ---- the functions ---- */

static weft_result do_store(void *open)
{
    weft_blob_store *store;
    const weft_result result = store_make(open, &store);
    CHECK_U64(result == WEFT_OK, store != NULL);
    weft_blob_store_destroy(store);
    return result;
}

static weft_result do_build(void *open)
{
    bed *b = open;
    return build(b, (step)refused_how(), &b->made);
}

static weft_result do_adopt(void *open)
{
    bed *b = open;
    weft_load_report report;
    return weft_blob_adopt(b->store, b->bytes, b->byte_count,
                           &(weft_blob_load_desc){&scene_type, 0, &report, sizeof report},
                           &b->made);
}

static weft_result do_load(void *open)
{
    bed *b = open;
    weft_load_report report;
    const weft_blob_load_desc desc = {&scene_type, b->place->kind, &report, sizeof report};
    return weft_blob_load(b->store, b->path, &desc, &b->made);
}

static const refused_function functions[] = {
    {"weft_blob_store_create", do_store, REFUSED_KINDS, 0},
    {"weft_blob_builder_create", do_build, REFUSED_KINDS, NOTHING},
    {"weft_blob_builder_array", do_build, REFUSED_KINDS, ARRAYS},
    {"weft_blob_builder_copy", do_build, REFUSED_KINDS, COPIES},
    {"weft_blob_builder_string", do_build, REFUSED_KINDS, STRINGS},
    {"weft_blob_builder_object", do_build, REFUSED_KINDS, OBJECTS},
    {"weft_blob_builder_point", do_build, REFUSED_KINDS, POINTS},
    {"weft_blob_builder_finish", do_build, REFUSED_KINDS, ALL},
};

static const refused_function loads[] = {
    {"weft_blob_adopt", do_adopt, 0, 0},
    {"weft_blob_load", do_load, REFUSED_KINDS, 0},
};

static const refused_bed bed_of_stores = {.close = bed_close,
                                          .look = bed_look,
                                          .kinds = sort_names,
                                          .kind_count = SORTS,
                                          .fewest = 100,
                                          .is_small = true};

PLAIN_TEST(refused_builders_leave_the_store_as_before)
{
    refused_sweep_of(&bed_of_stores, "a store", bed_open, REFUSED_LIST(functions));
}

PLAIN_TEST(refused_loads_leave_the_store_as_before)
{
    refused_bed swept = bed_of_stores;
    swept.kinds = mode_names;
    swept.fewest = 6;
    refused_sweep_of(&swept, "a store", loading_open, REFUSED_LIST(loads));
}
