/* SPDX-License-Identifier: MIT */
/* stress_any.c: what any host of `weft stress threads` may do at any time: blobs of one store,
 * values as text, random numbers, exact sums, neighbours of points. Objects are shared by all hosts
 * and unchanged, or a host's own. */
#include "stress_host.h"

#include <weft/blob.h>
#include <weft/random.h>
#include <weft/sum.h>
#include <weft/type.h>
#include <weft/value.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- blobs ---- */

typedef struct listing {
    WEFT_BLOB_ARRAY(uint32_t) items, copies;
    weft_blob_string name;
    WEFT_BLOB_POINTER(uint32_t) one, first;
} listing;

static const weft_blob_type item_type = WEFT_BLOB_TYPE_PLAIN(uint32_t);
static const weft_blob_field listing_fields[] = {
    WEFT_BLOB_FIELD_ARRAY(listing, items, &item_type),
    WEFT_BLOB_FIELD_ARRAY(listing, copies, &item_type),
    WEFT_BLOB_FIELD_STRING(listing, name),
    WEFT_BLOB_FIELD_POINTER(listing, one, &item_type),
    WEFT_BLOB_FIELD_POINTER(listing, first, &item_type),
};
static const weft_blob_type listing_type = WEFT_BLOB_TYPE(listing, listing_fields);

/* Of few contents: hosts share, free and make again the same ones. */
static bool blob_build(host *h, uint32_t first, weft_blob_ref *out)
{
    const uint32_t count = 1 + first * 3;
    weft_blob_builder *builder;
    if (!EXPECT_OK(h, weft_blob_builder_create(h->round->blobs, &listing_type, 0, &builder)))
        return false;
    listing *root = weft_blob_builder_root(builder);
    uint32_t *items = weft_blob_builder_array(builder, &root->items.untyped, count);
    for (uint32_t i = 0; i < count; i++) items[i] = first + i;
    EXPECT_OK(h, weft_blob_builder_copy(builder, &root->copies.untyped, items, count));
    EXPECT_OK(h, weft_blob_builder_string(builder, &root->name, "listing", 7));
    uint32_t *one = weft_blob_builder_object(builder, &root->one.untyped);
    if (one != NULL) *one = first;
    EXPECT_OK(h, weft_blob_builder_point(builder, &root->first.untyped, items));
    EXPECT_OK(h, weft_blob_builder_error(builder)->code);
    const bool is_made = EXPECT_OK(h, weft_blob_builder_finish(builder, out));
    weft_blob_builder_destroy(builder);
    return is_made;
}

static void blob_check(host *h, uint32_t first, weft_blob_ref ref)
{
    const listing *seen = weft_blob_read(h->round->blobs, ref, &listing_type);
    const bool is_it = seen != NULL && WEFT_BLOB_COUNT(&seen->items) == 1 + first * 3;
    EXPECT(h, is_it);
    if (!is_it) return;
    for (uint32_t i = 0; i < 1 + first * 3; i++) {
        EXPECT(h, *WEFT_BLOB_AT(&seen->items, i) == first + i);
        const uint32_t *copy = weft_blob_array_at(&seen->copies.untyped, i, sizeof *copy);
        EXPECT(h, *copy == first + i);
    }
    EXPECT(h, strcmp(weft_blob_string_text(&seen->name), "listing") == 0);
    EXPECT(h, *WEFT_BLOB_TARGET(&seen->one) == first);
    EXPECT(h, weft_blob_pointer_target(&seen->first.untyped) == WEFT_BLOB_DATA(&seen->items));
}

void weft_stress_blob(host *h)
{
    weft_blob_store *blobs = h->round->blobs;
    const uint32_t first = weft_stress_below(h, 4);
    weft_blob_ref ref, other = {0};
    weft_blob_store_stats stats;
    weft_blob_info info;
    weft_error error;
    char path[100];
    if (!blob_build(h, first, &ref)) return;
    EXPECT_OK(h, weft_blob_acquire(blobs, ref));
    EXPECT_OK(h, weft_blob_release(blobs, ref));
    EXPECT_OK(h, weft_blob_store_stats_get(blobs, &stats, sizeof stats));
    EXPECT(h, stats.blob_count != 0);
    weft_blob_store_error(blobs, &error);
    EXPECT_OK(h, error.code);
    blob_check(h, first, ref);
    EXPECT_OK(h, weft_blob_info_get(blobs, ref, &info, sizeof info));
    EXPECT_OK(h, weft_blob_validate(info.block, info.block_bytes, &listing_type, NULL, 0));
    const weft_blob_load_desc load = {.type = &listing_type, .mode = first % 2};
    if (weft_stress_below(h, 4) != 0) {
        EXPECT_OK(h, weft_blob_adopt(blobs, info.block, info.block_bytes, &load, &other));
    } else {
        snprintf(path, sizeof path, "/tmp/weft-threads-%ld-%u.wblb", (long)getpid(), h->number);
        EXPECT_OK(h, weft_blob_save(blobs, ref, path));
        EXPECT_OK(h, weft_blob_load(blobs, path, &load, &other));
        remove(path);
    }
    blob_check(h, first, other);
    EXPECT_OK(h, weft_blob_release(blobs, other));
    EXPECT_OK(h, weft_blob_release(blobs, ref));
}

static const weft_field pair_fields[] = {{.name = "x", .kind = WEFT_FIELD_I32},
                                         {.name = "y", .kind = WEFT_FIELD_I32, .offset = 4}};
static const weft_type pair_type = {
    .name = "pair", .size = 8, .alignment = 4, .fields = pair_fields, .field_count = 2};

/* One field by its path. */
static void check_path(host *h, const int32_t value[2])
{
    weft_path path, differs[2];
    char text[100];
    int32_t back[2];
    weft_value_initial(&pair_type, back);
    EXPECT(h, back[0] == 0 && back[1] == 0);
    EXPECT_OK(h, weft_path_parse(&pair_type, "y", &path, NULL));
    EXPECT(h, weft_path_format(&pair_type, &path, text, sizeof text) == 1 && text[0] == 'y');
    const size_t length = weft_path_value_format(NULL, &pair_type, &path, value, text, sizeof text);
    const weft_text read = {.bytes = text, .count = length};
    EXPECT_OK(h, weft_path_value_parse(NULL, &read, &pair_type, &path, back, NULL));
    EXPECT(h, back[0] == 0 && back[1] == value[1]);
    EXPECT(h, weft_value_diff(&pair_type, value, back, differs, 2) == (value[0] != 0));
}

void weft_stress_value(host *h)
{
    const int32_t value[2] = {(int32_t)weft_stress_below(h, 1000),
                              -(int32_t)weft_stress_below(h, 1000)};
    int32_t back[2] = {0};
    char text[100];
    EXPECT_OK(h, weft_type_check(&pair_type, NULL));
    EXPECT_OK(h, weft_value_check(&pair_type, value, NULL));
    const size_t length = weft_value_format(NULL, &pair_type, value, text, sizeof text);
    const weft_text read = {.bytes = text, .count = length};
    EXPECT(h, length < sizeof text);
    EXPECT_OK(h, weft_value_parse(NULL, &read, &pair_type, back, NULL));
    EXPECT(h, memcmp(value, back, sizeof value) == 0);
    check_path(h, value);
    EXPECT(h, weft_version() != 0 && weft_result_text(WEFT_BUSY)[0] != '\0');
    EXPECT(h, strcmp(weft_result_name(WEFT_BUSY), "WEFT_BUSY") == 0);
    EXPECT(h, weft_result_explain(WEFT_BUSY)[0] != '\0');
}

/* The same draws give the same numbers, and a sum is the same in any order. */
void weft_stress_number(host *h)
{
    const uint64_t seed = weft_stress_random(&h->random);
    weft_random a = weft_random_of(seed, h->number, 1, 2), b = a;
    uint32_t counter[4] = {1, 2, 3, 4}, first[4], second[4];
    weft_sum forward = {0}, backward = {0}, all = {0};
    double values[50];
    for (uint32_t i = 0; i < 50; i++) {
        values[i] =
            weft_random_normal(&a) * (weft_random_double(&a) + (double)weft_random_float(&a));
        values[i] *= 1 + weft_random_below(&a, 1000);
        const double again =
            weft_random_normal(&b) * (weft_random_double(&b) + (double)weft_random_float(&b));
        EXPECT(h, values[i] == again * (1 + weft_random_below(&b, 1000)));
        weft_sum_add(&forward, values[i]);
    }
    EXPECT(h, weft_random_u64(&a) == weft_random_u64(&b));
    EXPECT(h, weft_random_u32(&a) == weft_random_u32(&b));
    weft_random_block(counter, counter, first);
    weft_random_block(counter, counter, second);
    EXPECT(h, memcmp(first, second, sizeof first) == 0);
    for (uint32_t i = 50; i-- > 0;) weft_sum_add(i % 2 == 0 ? &backward : &all, values[i]);
    weft_sum_merge(&all, &backward);
    weft_sum_settle(&all);
    EXPECT(h, weft_sum_value(&all) == weft_sum_value(&forward));
    weft_sum_add_special(&all, HUGE_VAL);
    EXPECT(h, weft_sum_value(&all) == HUGE_VAL);
}

/* ---- neighbours ---- */

static void place_points(const host *h, float at[POINTS][3])
{
    uint64_t random = h->round->stress->seed;
    for (uint32_t i = 0; i < POINTS * 3; i++)
        at[i / 3][i % 3] = (float)(weft_stress_random(&random) % 10000) / 1000;
}

bool weft_stress_grid_build(host *h, weft_grid **grid)
{
    static const weft_grid_desc desc = {.most = {10, 10, 10}, .reach = 1};
    float at[POINTS][3];
    place_points(h, at);
    const weft_grid_points points = {.positions = at, .stride = sizeof at[0], .count = POINTS};
    if (!EXPECT_OK(h, weft_grid_create(&desc, grid))) return false;
    return EXPECT_OK(h, weft_grid_build(*grid, NULL, &points));
}

/* By the grid of the round, and by one of the host's own. */
void weft_stress_grid(host *h)
{
    const host_round *r = h->round;
    weft_grid_view shared, own;
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    weft_grid *grid;
    float at[POINTS][3];
    place_points(h, at);
    weft_grid_view_get(r->grid, &shared, sizeof shared);
    EXPECT(h, shared.count == POINTS);
    for (uint32_t cell = weft_stress_below(h, 4); cell < shared.cell_count; cell += 4) {
        EXPECT(h, weft_grid_runs(r->grid, cell, runs) <= WEFT_GRID_MAX_RUNS);
        EXPECT(h, weft_grid_runs_half(r->grid, cell, runs) <= WEFT_GRID_MAX_RUNS);
    }
    for (uint32_t i = 0; i < POINTS; i += 7) {
        const double position[] = {(double)at[i][0], (double)at[i][1], (double)at[i][2]};
        EXPECT(h, weft_grid_cell_at(r->grid, position) == shared.cell_of[i]);
    }
    if (!weft_stress_grid_build(h, &grid)) return;
    weft_grid_view_get(grid, &own, sizeof own);
    EXPECT(h, memcmp(own.points, shared.points, POINTS * sizeof *own.points) == 0);
    weft_grid_destroy(grid);
}
