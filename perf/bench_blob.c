/* SPDX-License-Identifier: MIT */
/* bench_blob.c: blobs against plain memory: building, reading, mapping, validating.
 *
 * Bars: build <= 1.3 x copying the same bytes into fresh memory; reading through nested arrays
 * <= 1.05 x the same loop over raw pointers; mapping 1 GiB < 1 ms; validation <= 0.5 ns/byte (2
 * GB/s).
 */
#include "bench.h"

#include "blob_format.h"
#include "blob_type.h"
#include "blob_validate.h"

#include <weft/blob.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Samples {
    WEFT_BLOB_ARRAY(float) values;
} Samples;

typedef struct Table {
    WEFT_BLOB_ARRAY(Samples) rows;
} Table;

static const weft_blob_field samples_fields[] = {WEFT_BLOB_FIELD_ARRAY(Samples, values, NULL)};
static const weft_blob_type samples_type = WEFT_BLOB_TYPE(Samples, samples_fields);
static const weft_blob_field table_fields[] = {WEFT_BLOB_FIELD_ARRAY(Table, rows, &samples_type)};
static const weft_blob_type table_type = WEFT_BLOB_TYPE(Table, table_fields);

static weft_blob_store *make_store(weft_bench *bench)
{
    weft_blob_store *store = NULL;
    const weft_blob_store_desc desc = {.protection = WEFT_BLOB_PROTECT_NEVER};
    if (weft_blob_store_create(&desc, &store) != WEFT_OK) weft_bench_fail(bench, "no store");
    return store;
}

/* ---- build ---- */

/* One array of floats to make a blob of. Owner: the benchmark. */
typedef struct building {
    weft_blob_store *store;
    const float *values;
    uint64_t count;
    weft_result result;
} building;

static void build_copied(building *b, uint64_t bytes)
{
    weft_blob_builder *builder;
    weft_blob_ref ref = {0};
    b->result = weft_blob_builder_create(b->store, &samples_type, bytes, &builder);
    if (b->result != WEFT_OK) return;
    Samples *root = weft_blob_builder_root(builder);
    WEFT_BLOB_BUILD_COPY(builder, &root->values, b->values, b->count);
    b->result = weft_blob_builder_finish(builder, &ref);
    weft_blob_builder_destroy(builder);
    weft_bench_keep(weft_blob_read(b->store, ref, NULL));
    weft_blob_release(b->store, ref);
}

static void build_copy(void *data)
{
    building *b = data;
    build_copied(b, b->count * sizeof(float));
}

static void build_copy_unknown(void *data)
{
    build_copied(data, 0);
}

/* The array is zeroed by the builder, filled by the caller and hashed at the end. */
static void build_fill(void *data)
{
    building *b = data;
    weft_blob_builder *builder;
    weft_blob_ref ref = {0};
    b->result = weft_blob_builder_create(b->store, &samples_type, 0, &builder);
    if (b->result != WEFT_OK) return;
    Samples *root = weft_blob_builder_root(builder);
    float *values = WEFT_BLOB_BUILD_ARRAY(builder, &root->values, b->count);
    if (values != NULL) memcpy(values, b->values, b->count * sizeof(float));
    b->result = weft_blob_builder_finish(builder, &ref);
    weft_blob_builder_destroy(builder);
    weft_bench_keep(weft_blob_read(b->store, ref, NULL));
    weft_blob_release(b->store, ref);
}

static void build_raw(void *data)
{
    building *b = data;
    float *values = malloc(b->count * sizeof(float));
    if (values != NULL) memcpy(values, b->values, b->count * sizeof(float));
    weft_bench_keep(values);
    free(values);
}

static void build(weft_bench *bench)
{
    building b = {.store = make_store(bench), .count = 1u << 20};
    float *values = malloc(b.count * sizeof(float));
    if (b.store == NULL || values == NULL) return;
    for (uint64_t i = 0; i < b.count; i++) values[i] = (float)i;
    b.values = values;
    weft_bench_measure measure = {.name = "1M-floats",
                                  .unit = "us/blob",
                                  .workers = 1,
                                  .run = build_copy,
                                  .raw = build_raw,
                                  .data = &b};
    weft_bench_run(bench, &measure);
    measure.name = "1M-floats-copied-unknown-size";
    measure.run = build_copy_unknown;
    weft_bench_run(bench, &measure);
    measure.name = "1M-floats-filled";
    measure.run = build_fill;
    weft_bench_run(bench, &measure);
    if (b.result != WEFT_OK) weft_bench_fail(bench, "build: %s", weft_result_name(b.result));
    weft_blob_store_destroy(b.store);
    free(values);
}

/* ---- read ---- */

typedef struct raw_row {
    const float *values;
    uint64_t count;
} raw_row;

/* The same rows in a blob and as pointers into it. Owner: the benchmark. */
typedef struct reading {
    weft_blob_store *store;
    weft_blob_ref ref;
    const Table *table;
    raw_row *rows;
    uint64_t row_count, block_bytes;
    float sum_blob, sum_raw;
} reading;

static void read_blob(void *data)
{
    reading *r = data;
    float sums[4] = {0};
    for (uint64_t y = 0; y < WEFT_BLOB_COUNT(&r->table->rows); y++) {
        const Samples *row = WEFT_BLOB_AT(&r->table->rows, y);
        const uint64_t count = WEFT_BLOB_COUNT(&row->values);
        for (uint64_t x = 0; x + 4 <= count; x += 4) {
            for (uint64_t k = 0; k < 4; k++) sums[k] += *WEFT_BLOB_AT(&row->values, x + k);
        }
    }
    r->sum_blob = sums[0] + sums[1] + sums[2] + sums[3];
}

static void read_raw(void *data)
{
    reading *r = data;
    float sums[4] = {0};
    for (uint64_t y = 0; y < r->row_count; y++) {
        const raw_row *row = &r->rows[y];
        for (uint64_t x = 0; x + 4 <= row->count; x += 4) {
            for (uint64_t k = 0; k < 4; k++) sums[k] += row->values[x + k];
        }
    }
    r->sum_raw = sums[0] + sums[1] + sums[2] + sums[3];
}

static void get_root(void *data)
{
    const reading *r = data;
    weft_bench_keep(weft_blob_read(r->store, r->ref, &table_type));
}

/* `row_count` rows of `width` floats, as a blob and as pointers. */
static weft_result make_rows(reading *r, uint64_t row_count, uint64_t width)
{
    weft_blob_builder *builder;
    weft_result result = weft_blob_builder_create(r->store, &table_type, 0, &builder);
    if (result != WEFT_OK) return result;
    Table *table = weft_blob_builder_root(builder);
    Samples *rows = WEFT_BLOB_BUILD_ARRAY(builder, &table->rows, row_count);
    for (uint64_t y = 0; rows != NULL && y < row_count; y++) {
        float *values = WEFT_BLOB_BUILD_ARRAY(builder, &rows[y].values, width);
        for (uint64_t x = 0; values != NULL && x < width; x++) values[x] = (float)((x ^ y) % 8);
    }
    result = weft_blob_builder_finish(builder, &r->ref);
    weft_blob_builder_destroy(builder);
    if (result != WEFT_OK) return result;
    weft_blob_info info = {0};
    weft_blob_info_get(r->store, r->ref, &info, sizeof info);
    r->block_bytes = info.block_bytes;
    r->table = weft_blob_read(r->store, r->ref, &table_type);
    r->row_count = row_count;
    r->rows = malloc(row_count * sizeof *r->rows);
    if (r->rows == NULL) return WEFT_OUT_OF_MEMORY;
    for (uint64_t y = 0; y < row_count; y++) {
        const Samples *row = WEFT_BLOB_AT(&r->table->rows, y);
        r->rows[y] = (raw_row){WEFT_BLOB_DATA(&row->values), WEFT_BLOB_COUNT(&row->values)};
    }
    return WEFT_OK;
}

static void read_nested(weft_bench *bench)
{
    static const struct {
        const char *name;
        uint64_t rows, width;
    } cases[] = {{"1000x1000", 1000, 1000}, {"65536x16", 65536, 16}};
    for (size_t i = 0; i < 2; i++) {
        reading r = {.store = make_store(bench)};
        if (r.store == NULL) return;
        if (make_rows(&r, cases[i].rows, cases[i].width) != WEFT_OK) {
            weft_bench_fail(bench, "no memory");
        } else {
            weft_bench_measure measure = {.name = cases[i].name,
                                          .unit = "ns/float",
                                          .items = (double)(cases[i].rows * cases[i].width),
                                          .workers = 1,
                                          .run = read_blob,
                                          .raw = read_raw,
                                          .data = &r};
            weft_bench_run(bench, &measure);
            if (r.sum_blob < r.sum_raw || r.sum_blob > r.sum_raw) {
                weft_bench_fail(bench, "sums differ");
            }
        }
        free(r.rows);
        weft_blob_store_destroy(r.store);
    }
}

static void resolve(weft_bench *bench)
{
    reading r = {.store = make_store(bench)};
    if (r.store == NULL || make_rows(&r, 4, 4) != WEFT_OK) return;
    weft_bench_run(
        bench, &(weft_bench_measure){
                   .name = "hot", .unit = "ns/call", .workers = 1, .run = get_root, .data = &r});
    free(r.rows);
    weft_blob_store_destroy(r.store);
}

/* ---- map and validate ---- */

/* A sparse file that is a blob of one array of zeros, or a blob in memory. Owner: the benchmark. */
typedef struct checking {
    weft_blob_store *store;
    const weft_blob_type *type;
    char path[128];
    const void *block;
    uint64_t bytes;
    weft_result result;
    uint64_t sum;
} checking;

static void map_file(void *data)
{
    checking *c = data;
    weft_blob_ref ref;
    c->result = weft_blob_load(
        c->store, c->path, &(weft_blob_load_desc){.type = c->type, .mode = WEFT_BLOB_MAP_TRUSTED},
        &ref);
    if (c->result == WEFT_OK) weft_blob_release(c->store, ref);
}

static void validate_block(void *data)
{
    checking *c = data;
    c->result = weft_blob_validate(c->block, c->bytes, c->type, NULL, 0);
}

/* Reads every word once: what any check costs at least. */
static void read_block(void *data)
{
    checking *c = data;
    const uint64_t *words = c->block;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < c->bytes / 8; i++) sum += words[i];
    c->sum = sum;
    weft_bench_keep(&c->sum);
}

/* Writes header and table around a hole of zeros; false when the disk refuses. */
static bool make_sparse_file(checking *c, uint64_t bytes)
{
    weft__blob_plan plan;
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    snprintf(c->path, sizeof c->path, "%.80s/weft-bench-XXXXXX", base);
    const uint64_t start = WEFT_BLOB_HEADER_BYTES + sizeof(Samples);
    const uint64_t end = bytes - 2 * sizeof(weft__blob_extent);
    const uint64_t owner = WEFT_BLOB_HEADER_BYTES;
    struct {
        weft__blob_header header;
        weft_blob_array array;
    } head = {
        .header = {.magic = BLOB_MAGIC, .version = BLOB_VERSION, .byte_order = BLOB_BYTE_ORDER}};
    const weft__blob_extent table[2] = {{.position = owner, .count = 1},
                                        {start, (end - start) / 4, owner, 1, 1}};
    if (weft__blob_plan_init(&plan, &samples_type) != WEFT_OK) return false;
    head.header.type_hash = plan.type_hash;
    head.header.total_bytes = bytes;
    head.header.data_end = end;
    head.header.extent_count = 2;
    head.array = (weft_blob_array){(int64_t)(start - owner - 1), table[1].count};
    int file = mkstemp(c->path);
    if (file < 0) return false;
    bool is_ok = ftruncate(file, (off_t)bytes) == 0 &&
                 pwrite(file, table, sizeof table, (off_t)end) == (ssize_t)sizeof table &&
                 pwrite(file, &head, sizeof head, 0) == (ssize_t)sizeof head;
    close(file);
    return is_ok;
}

/* Fills in the content hash, which needs the whole file once. */
static bool finish_sparse_file(checking *c)
{
    weft_blob_ref ref;
    weft_blob_info info;
    if (weft_blob_load(c->store, c->path,
                       &(weft_blob_load_desc){.type = c->type, .mode = WEFT_BLOB_MAP_TRUSTED},
                       &ref) != WEFT_OK)
        return false;
    weft_blob_info_get(c->store, ref, &info, sizeof info);
    const uint64_t hash = weft__blob_content_hash(info.block, NULL, 0);
    weft_blob_release(c->store, ref);
    int file = open(c->path, O_WRONLY);
    const off_t at = (off_t)offsetof(weft__blob_header, content_hash);
    bool is_ok = file >= 0 && pwrite(file, &hash, sizeof hash, at) == (ssize_t)sizeof hash;
    if (file >= 0) close(file);
    return is_ok;
}

static void map_and_validate(weft_bench *bench)
{
    const bool maps = weft_bench_wants(bench, "map-1GiB");
    if (!maps && !weft_bench_wants(bench, "validate-1GiB")) return;
    checking c = {.store = make_store(bench), .type = &samples_type, .bytes = (uint64_t)1 << 30};
    if (c.store == NULL || !make_sparse_file(&c, c.bytes) || !finish_sparse_file(&c)) {
        weft_bench_fail(bench, "no file of 1 GiB in $TMPDIR");
        unlink(c.path);
        return;
    }
    weft_bench_measure measure = {
        .name = "map-1GiB", .unit = "us/file", .workers = 1, .run = map_file, .data = &c};
    weft_bench_run(bench, &measure);
    weft_blob_ref ref;
    weft_blob_info info = {0};
    c.result =
        weft_blob_load(c.store, c.path,
                       &(weft_blob_load_desc){.type = c.type, .mode = WEFT_BLOB_MAP_TRUSTED}, &ref);
    weft_blob_info_get(c.store, ref, &info, sizeof info);
    c.block = info.block;
    measure = (weft_bench_measure){.name = "validate-1GiB",
                                   .unit = "ns/byte",
                                   .items = (double)c.bytes,
                                   .workers = 1,
                                   .run = validate_block,
                                   .raw = read_block,
                                   .data = &c};
    if (c.result == WEFT_OK) weft_bench_run(bench, &measure);
    if (c.result != WEFT_OK) weft_bench_fail(bench, "file: %s", weft_result_name(c.result));
    weft_blob_store_destroy(c.store);
    unlink(c.path);
}

static void validate_nested(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "1M-arrays-of-16")) return;
    reading r = {.store = make_store(bench)};
    if (r.store == NULL || make_rows(&r, 1 << 20, 16) != WEFT_OK) return;
    checking c = {.type = &table_type, .bytes = r.block_bytes};
    c.block = (const char *)r.table - WEFT_BLOB_HEADER_BYTES;
    weft_bench_run(bench, &(weft_bench_measure){.name = "1M-arrays-of-16",
                                                .unit = "ns/byte",
                                                .items = (double)c.bytes,
                                                .workers = 1,
                                                .run = validate_block,
                                                .raw = read_block,
                                                .data = &c});
    if (c.result != WEFT_OK) weft_bench_fail(bench, "nested: %s", weft_result_name(c.result));
    free(r.rows);
    weft_blob_store_destroy(r.store);
}

const weft_bench_entry weft_bench_blob[] = {
    {"blob.build", "make a blob of 1 M floats; raw: malloc, memcpy, free", build, false},
    {"blob.read", "sum floats through nested arrays; raw: through pointers", read_nested, false},
    {"blob.get", "resolve a reference to its root", resolve, false},
    {"blob.file", "map 1 GiB without validation; validate it; raw: read every word",
     map_and_validate, false},
    {"blob.validate", "validate 1 M small arrays; raw: read every word", validate_nested, false},
    {0}};
