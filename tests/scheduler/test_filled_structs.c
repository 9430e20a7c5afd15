/* SPDX-License-Identifier: MIT */
/* test_filled_structs.c: structs that the library fills, as programs see them that were compiled
 * with an older header (a shorter struct) or a newer one (a longer struct). */
#include "check.h"

#include <criterion/criterion.h>
#include <string.h>
#include <weft/blob.h>
#include <weft/transfer.h>
#include <weft/weft.h>

/* What there is to ask. One for each test. */
typedef struct bed {
    weft_world *world, *other;
    weft_blob_store *store;
    weft_blob_ref blob;
    weft_archetype archetype;
    weft_entity entity; /* of `other` */
    weft_system system;
} bed;

typedef void fill_fn(const bed *b, void *out, size_t bytes);

static void fill_world(const bed *b, void *out, size_t bytes)
{
    weft_world_stats_get(b->world, out, bytes);
}

static void fill_jobs(const bed *b, void *out, size_t bytes)
{
    weft_job_stats_get(weft_world_pool(b->world), out, bytes);
}

static void fill_archetype(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_archetype_stats_get(b->world, b->archetype, out, bytes));
}

static void fill_frame(const bed *b, void *out, size_t bytes)
{
    weft_frame_stats_get(b->world, out, bytes);
}

static void fill_system(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_system_stats_get(b->world, b->system, out, bytes));
}

static void fill_counters(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_system_counters_get(b->world, b->system, out, bytes));
}

static void fill_store(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_blob_store_stats_get(b->store, out, bytes));
}

static void fill_info(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_blob_info_get(b->store, b->blob, out, bytes));
}

static void fill_place(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_entity_place_get(b->other, b->entity, out, bytes));
}

static void fill_transfer(const bed *b, void *out, size_t bytes)
{
    CHECK_OK(weft_world_transfer(b->other, b->world, NULL, out, bytes));
}

static const weft_blob_type text_type = WEFT_BLOB_TYPE_PLAIN(uint64_t);

static void fill_validation(const bed *b, void *out, size_t bytes)
{
    (void)b;
    CHECK_RESULT(weft_blob_validate(NULL, 0, &text_type, out, bytes), WEFT_INVALID_ARGUMENT);
}

static void fill_blob_load(const bed *b, void *out, size_t bytes)
{
    weft_blob_load_desc desc = {.type = &text_type, .report = out, .report_bytes = bytes};
    weft_blob_ref none;
    CHECK(weft_blob_load(b->store, "/nonexistent-weft", &desc, &none) != WEFT_OK);
}

static void fill_world_load(const bed *b, void *out, size_t bytes)
{
    weft_load_desc desc = {.report = out, .report_bytes = bytes};
    CHECK(weft_world_load(b->world, "/nonexistent-weft", &desc) != WEFT_OK);
}

static const struct {
    fill_fn *fill;
    size_t bytes;
} structs[] = {
    {fill_world, sizeof(weft_world_stats)},         {fill_jobs, sizeof(weft_job_stats)},
    {fill_archetype, sizeof(weft_archetype_stats)}, {fill_frame, sizeof(weft_frame_stats)},
    {fill_system, sizeof(weft_system_stats)},       {fill_counters, sizeof(weft_system_counters)},
    {fill_store, sizeof(weft_blob_store_stats)},    {fill_info, sizeof(weft_blob_info)},
    {fill_place, sizeof(weft_entity_place)},        {fill_transfer, sizeof(weft_transfer_report)},
    {fill_validation, sizeof(weft_load_report)},    {fill_blob_load, sizeof(weft_load_report)},
    {fill_world_load, sizeof(weft_load_report)},
};
enum { STRUCTS = sizeof structs / sizeof structs[0], ROOM = 1024, MORE = 24 };

static void nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void bed_open(bed *b)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &b->other));
    weft_component value = WEFT_COMPONENT(b->world, uint64_t);
    b->archetype = WEFT_ARCHETYPE(b->world, value);
    value = WEFT_COMPONENT(b->other, uint64_t);
    b->entity = weft_entity_create(b->other, WEFT_ARCHETYPE(b->other, value));
    CHECK_OK(weft_entity_create_many(b->world, b->archetype, 3, NULL));
    b->system =
        weft_system_create(b->world, &(weft_system_desc){.name = "nothing", .run = nothing});
    CHECK(b->system.id != 0);
    CHECK_OK(weft_world_step(b->world, 0));
    b->store = weft_world_blobs(b->world);
    weft_blob_builder *builder;
    CHECK_OK(weft_blob_builder_create(b->store, &text_type, 0, &builder));
    CHECK_OK(weft_blob_builder_finish(builder, &b->blob));
    weft_blob_builder_destroy(builder);
    CHECK(weft_blob_save(b->store, b->blob, "/nonexistent-weft/blob") != WEFT_OK);
}

static void bed_close(bed *b)
{
    CHECK_OK(weft_world_destroy(b->world));
    CHECK_OK(weft_world_destroy(b->other));
}

/* The struct of one kind at each size a program may have: fills `bytes`, touches none behind. */
static void check_struct(const bed *b, uint32_t i)
{
    size_t full = structs[i].bytes;
    for (size_t bytes = 0; bytes <= full + MORE; bytes += 8) {
        unsigned char room[ROOM];
        memset(room, 0xa5, sizeof room);
        structs[i].fill(b, room, bytes);
        for (size_t k = bytes; k < sizeof room; k++) CHECK_U64(room[k], 0xa5);
        for (size_t k = full; k < bytes; k++) CHECK_U64(room[k], 0);
    }
}

Test(filled_structs, an_older_program_is_not_overrun_and_a_newer_one_reads_zeroes)
{
    bed b;
    bed_open(&b);
    for (uint32_t i = 0; i < STRUCTS; i++) {
        CHECK(structs[i].bytes + MORE <= ROOM);
        check_struct(&b, i);
    }
    bed_close(&b);
}

Test(filled_structs, the_first_fields_are_there_in_a_shorter_struct)
{
    bed b;
    bed_open(&b);
    uint64_t entities = 0, moved = 0;
    weft_world_stats_get(b.world, (weft_world_stats *)(void *)&entities, sizeof entities);
    CHECK_U64(entities, 3);
    CHECK_OK(weft_world_transfer(b.other, b.world, NULL, (weft_transfer_report *)(void *)&moved,
                                 sizeof moved));
    CHECK_U64(moved, 3);
    bed_close(&b);
}

Test(filled_structs, the_library_says_the_version_of_its_header)
{
    CHECK_U64(weft_version(), WEFT_VERSION);
    CHECK_U64(WEFT_VERSION_NUMBER(1, 2, 3), 1002003);
}
