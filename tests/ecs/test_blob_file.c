/* SPDX-License-Identifier: MIT */
/* test_blob_file.c: blobs through files: the same bytes come back, or an error that names the
 * reason; and every failing step of the operating system leaves nothing behind. */
#include "blob_fixture.h"
#include "blob_store.h"
#include "check.h"
#include "memory_fault.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>

static weft_blob_store *store;
static blob_directory directory;
static weft_blob_ref scene_ref;
static weft_blob_info scene_info;

static void make_file(void)
{
    blob_directory_create(&directory);
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
    CHECK_OK(blob_build_scene(store, 16, 0, &scene_ref));
    CHECK_OK(weft_blob_info_get(store, scene_ref, &scene_info, sizeof scene_info));
    CHECK_OK(weft_blob_save(store, scene_ref, directory.path));
}

static void drop_file(void)
{
    weft_blob_store_destroy(store);
    blob_directory_destroy(&directory);
}

TestSuite(blob_file, .init = make_file, .fini = drop_file);

static weft_blob_store *another_store(void)
{
    weft_blob_store *other;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &other));
    return other;
}

static void write_file(const void *bytes, size_t count)
{
    int file = open(directory.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(file >= 0 && write(file, bytes, count) == (ssize_t)count);
    close(file);
}

Test(blob_file, all_modes_give_the_same_values_at_another_address)
{
    const uint64_t sum = blob_walk(0, weft_blob_read(store, scene_ref, &scene_type), &scene_type);
    for (uint32_t mode = WEFT_BLOB_LOAD; mode <= WEFT_BLOB_MAP_TRUSTED; mode++) {
        weft_blob_store *other = another_store();
        weft_blob_ref ref;
        weft_blob_info info;
        CHECK_OK(weft_blob_load(other, directory.path,
                                &(weft_blob_load_desc){.type = &scene_type, .mode = mode}, &ref));
        CHECK_OK(weft_blob_info_get(other, ref, &info, sizeof info));
        CHECK(info.block != scene_info.block);
        CHECK_U64(info.is_mapped, mode != WEFT_BLOB_LOAD);
        CHECK_U64(info.block_bytes, scene_info.block_bytes);
        CHECK_U64(info.content_hash, scene_info.content_hash);
        CHECK(memcmp(info.block, scene_info.block, info.block_bytes) == 0);
        CHECK_U64(blob_walk(0, weft_blob_read(other, ref, &scene_type), &scene_type), sum);
        CHECK_OK(weft_blob_save(other, ref, directory.path)); /* over the file it is mapped from */
        CHECK_U64(blob_walk(0, weft_blob_read(other, ref, &scene_type), &scene_type), sum);
        CHECK_OK(weft_blob_release(other, ref));
        weft_blob_store_destroy(other);
    }
}

Test(blob_file, loading_what_is_there_already_shares_it)
{
    for (uint32_t mode = WEFT_BLOB_LOAD; mode <= WEFT_BLOB_MAP_TRUSTED; mode++) {
        weft_blob_ref ref;
        CHECK_OK(weft_blob_load(store, directory.path,
                                &(weft_blob_load_desc){.type = &scene_type, .mode = mode}, &ref));
        CHECK_U64(ref.id, scene_ref.id);
    }
    weft_blob_ref adopted;
    CHECK_OK(weft_blob_adopt(store, scene_info.block, scene_info.block_bytes,
                             &(weft_blob_load_desc){.type = &scene_type}, &adopted));
    CHECK_U64(adopted.id, scene_ref.id);
    CHECK_OK(weft_blob_info_get(store, scene_ref, &scene_info, sizeof scene_info));
    CHECK_U64(scene_info.reference_count, 5);
}

Test(blob_file, every_truncation_of_the_file_is_an_error)
{
    for (uint64_t size = scene_info.block_bytes; size-- != 0;) {
        weft_blob_ref ref = {1};
        CHECK(truncate(directory.path, (off_t)size) == 0);
        for (uint32_t mode = WEFT_BLOB_LOAD; mode <= WEFT_BLOB_MAP_TRUSTED; mode++) {
            weft_load_report report;
            weft_blob_load_desc desc = {&scene_type, mode, &report, sizeof report};
            CHECK_RESULT(weft_blob_load(store, directory.path, &desc, &ref), WEFT_CORRUPT);
            CHECK_U64(ref.id, 0);
            CHECK_U64(report.reason, WEFT_LOAD_TRUNCATED);
            CHECK_U64(report.offset, size);
            CHECK_U64(report.found, size);
            CHECK_U64(report.expected, size < 64 ? 64 : scene_info.block_bytes);
        }
    }
    weft_blob_store_stats stats;
    CHECK_OK(weft_blob_store_stats_get(store, &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 1);
}

Test(blob_file, every_bit_flip_in_the_file_is_an_error)
{
    unsigned char *bytes = malloc(scene_info.block_bytes);
    memcpy(bytes, scene_info.block, scene_info.block_bytes);
    int file = open(directory.path, O_WRONLY);
    for (uint64_t bit = 0; bit < 8 * scene_info.block_bytes; bit++) {
        weft_blob_ref ref = {1};
        unsigned char flipped = bytes[bit / 8] ^ (unsigned char)(1u << bit % 8);
        CHECK(pwrite(file, &flipped, 1, (off_t)(bit / 8)) == 1);
        CHECK(weft_blob_load(store, directory.path,
                             &(weft_blob_load_desc){.type = &scene_type, .mode = bit % 2},
                             &ref) != WEFT_OK);
        CHECK(pwrite(file, &bytes[bit / 8], 1, (off_t)(bit / 8)) == 1);
    }
    close(file);
    free(bytes);
    weft_blob_ref ref;
    CHECK_OK(
        weft_blob_load(store, directory.path, &(weft_blob_load_desc){.type = &scene_type}, &ref));
    CHECK_U64(ref.id, scene_ref.id);
}

Test(blob_file, what_is_not_a_blob_file_is_an_error)
{
    weft_blob_ref ref;
    const char *path = directory.path;
    char *twice = calloc(2, scene_info.block_bytes);
    memcpy(twice, scene_info.block, scene_info.block_bytes);
    memcpy(twice + scene_info.block_bytes, scene_info.block, scene_info.block_bytes);
    write_file(twice, scene_info.block_bytes + 1); /* trailing garbage */
    CHECK_RESULT(weft_blob_load(store, path,
                                &(weft_blob_load_desc){.type = &scene_type, .mode = WEFT_BLOB_MAP},
                                &ref),
                 WEFT_CORRUPT);
    write_file(twice, 2 * scene_info.block_bytes); /* two files in one */
    CHECK_RESULT(weft_blob_load(store, path,
                                &(weft_blob_load_desc){.type = &scene_type, .mode = WEFT_BLOB_MAP},
                                &ref),
                 WEFT_CORRUPT);
    free(twice);
    CHECK_RESULT(
        weft_blob_load(store, "/dev/zero", &(weft_blob_load_desc){.type = &scene_type}, &ref),
        WEFT_IO);
    CHECK_RESULT(
        weft_blob_load(store, directory.name, &(weft_blob_load_desc){.type = &scene_type}, &ref),
        WEFT_IO);
    CHECK_RESULT(weft_blob_load(store, "", &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_NOT_FOUND);
    unlink(path);
    CHECK_RESULT(weft_blob_load(store, path, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_NOT_FOUND);
    CHECK(symlink(path, path) == 0);
    CHECK_RESULT(weft_blob_load(store, path, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_IO);
    CHECK_RESULT(weft_blob_save(store, scene_ref, "/nonexistent-weft/a"), WEFT_IO);
}

Test(blob_file, a_sparse_file_beyond_4_gib_is_refused_without_taking_memory)
{
    weft_blob_ref ref;
    write_file("", 0);
    CHECK(truncate(directory.path, (off_t)5 << 30) == 0);
    for (uint32_t mode = WEFT_BLOB_LOAD; mode <= WEFT_BLOB_MAP_TRUSTED; mode++) {
        CHECK_RESULT(weft_blob_load(store, directory.path,
                                    &(weft_blob_load_desc){.type = &scene_type, .mode = mode},
                                    &ref),
                     WEFT_CORRUPT);
    }
}

Test(blob_file, another_type_is_refused)
{
    weft_blob_ref ref;
    CHECK_RESULT(
        weft_blob_load(store, directory.path, &(weft_blob_load_desc){.type = &node_type}, &ref),
        WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_blob_adopt(store, scene_info.block, scene_info.block_bytes,
                                 &(weft_blob_load_desc){.type = &node_type}, &ref),
                 WEFT_TYPE_MISMATCH);
}

Test(blob_file, bytes_are_adopted_from_any_address)
{
    weft_blob_store *other = another_store();
    char *bytes = malloc(scene_info.block_bytes + 64);
    for (size_t shift = 0; shift < 64; shift += 7) {
        weft_blob_ref ref;
        memcpy(bytes + shift, scene_info.block, scene_info.block_bytes);
        CHECK_OK(weft_blob_adopt(other, bytes + shift, scene_info.block_bytes,
                                 &(weft_blob_load_desc){.type = &scene_type}, &ref));
        CHECK_RESULT(weft_blob_adopt(other, bytes + shift, 63,
                                     &(weft_blob_load_desc){.type = &scene_type}, &ref),
                     WEFT_CORRUPT);
        bytes[shift + 100] ^= 1;
        CHECK_RESULT(weft_blob_adopt(other, bytes + shift, scene_info.block_bytes,
                                     &(weft_blob_load_desc){.type = &scene_type}, &ref),
                     WEFT_CORRUPT);
    }
    free(bytes);
    weft_blob_store_destroy(other);
}

Test(blob_file, null_arguments_are_errors)
{
    weft_blob_ref ref;
    const char *path = directory.path;
    CHECK_RESULT(weft_blob_save(NULL, scene_ref, path), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_save(store, scene_ref, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_save(store, (weft_blob_ref){0}, path), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_blob_load(NULL, path, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_load(store, NULL, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_load(store, path, &(weft_blob_load_desc){.type = NULL}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(
        weft_blob_load(store, path, &(weft_blob_load_desc){.type = &scene_type, .mode = 3}, &ref),
        WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_load(store, path, &(weft_blob_load_desc){.type = &scene_type}, NULL),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_adopt(NULL, path, 1, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_adopt(store, NULL, 1, &(weft_blob_load_desc){.type = &scene_type}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_adopt(store, path, 1, &(weft_blob_load_desc){.type = NULL}, &ref),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_adopt(store, path, 1, &(weft_blob_load_desc){.type = &scene_type}, NULL),
                 WEFT_INVALID_ARGUMENT);
}

/* ---- faults ---- */

/* The real files, of which the k-th operation that can fail does, and open files and maps are
 * counted. Owner: one test. */
typedef struct faulty {
    weft__os_files files;
    const weft__os_files *real;
    weft_os os;
    unsigned step, fail_at;
    int open_count;
} faulty;

static bool is_due(faulty *f)
{
    return ++f->step == f->fail_at;
}

static weft_result locate(void *user, const char *path, char *place, size_t place_bytes,
                          weft__os_kind *kind)
{
    faulty *f = user;
    return f->real->locate(NULL, path, place, place_bytes, kind);
}

static weft_result open_read(void *user, const char *path, weft__os_file *out, uint64_t *bytes)
{
    faulty *f = user;
    weft_result result = is_due(f) ? WEFT_IO : f->real->open_read(NULL, path, out, bytes);
    f->open_count += result == WEFT_OK;
    return result;
}

static weft_result open_write(void *user, const char *path, weft__os_file *out)
{
    faulty *f = user;
    weft_result result = is_due(f) ? WEFT_IO : f->real->open_write(NULL, path, out);
    f->open_count += result == WEFT_OK;
    return result;
}

static weft_result read_bytes(void *user, weft__os_file file, void *to, size_t bytes,
                              uint64_t offset)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->read(NULL, file, to, bytes, offset);
}

static weft_result write_bytes(void *user, weft__os_file file, const void *from, size_t bytes)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->write(NULL, file, from, bytes);
}

static weft_result sync_file(void *user, weft__os_file file)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->sync(NULL, file);
}

static weft_result keep_mode(void *user, weft__os_file file, const char *place)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->keep_mode(NULL, file, place);
}

static weft_result close_file(void *user, weft__os_file file)
{
    faulty *f = user;
    f->open_count--;
    return f->real->close(NULL, file);
}

static weft_result map_file(void *user, weft__os_file file, size_t bytes, void **out)
{
    faulty *f = user;
    return is_due(f) ? WEFT_OUT_OF_MEMORY : f->real->map(NULL, file, bytes, out);
}

static weft_result rename_file(void *user, const char *from, const char *to)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->rename(NULL, from, to);
}

static weft_result remove_file(void *user, const char *path)
{
    faulty *f = user;
    return f->real->remove(NULL, path);
}

static weft_result sync_directory(void *user, const char *path)
{
    faulty *f = user;
    return is_due(f) ? WEFT_IO : f->real->sync_directory(NULL, path);
}

static weft_result protect(void *user, void *memory, size_t bytes, bool is_writable)
{
    faulty *f = user;
    return is_due(f) ? WEFT_OUT_OF_MEMORY : f->real->protect(NULL, memory, bytes, is_writable);
}

static void faulty_init(faulty *f)
{
    *f = (faulty){.real = weft__os_files_of(weft__os_default()), .os = *weft__os_default()};
    f->files = (weft__os_files){.user = f,
                                .locate = locate,
                                .open_read = open_read,
                                .open_write = open_write,
                                .read = read_bytes,
                                .write = write_bytes,
                                .sync = sync_file,
                                .keep_mode = keep_mode,
                                .close = close_file,
                                .map = map_file,
                                .rename = rename_file,
                                .remove = remove_file,
                                .sync_directory = sync_directory,
                                .protect = protect};
    f->os.files = &f->files;
}

/* Runs load (mode 0..2) or save (3) with the k-th step failing, for every k. Returns the steps. */
static unsigned sweep(uint32_t mode, uint32_t protection)
{
    for (unsigned k = 1;; k++) {
        faulty f;
        test_memory memory;
        weft_blob_ref ref;
        weft_blob_store *other;
        weft_blob_store_stats stats;
        faulty_init(&f);
        test_memory_init(&memory);
        weft_blob_store_desc desc = {test_memory_hook(&memory), &f.os, protection};
        CHECK_OK(weft_blob_store_create(&desc, &other));
        if (mode == 3) CHECK_OK(blob_build_scene(other, 20, 0, &ref));
        f.step = 0, f.fail_at = k;
        weft_result result =
            mode == 3
                ? weft_blob_save(other, ref, directory.path)
                : weft_blob_load(other, directory.path,
                                 &(weft_blob_load_desc){.type = &scene_type, .mode = mode}, &ref);
        const bool has_failed = f.step >= k;
        CHECK_U64(result != WEFT_OK, has_failed);
        CHECK_I64(f.open_count, 0);
        CHECK_OK(weft_blob_store_stats_get(other, &stats, sizeof stats));
        CHECK_U64(stats.blob_count, mode == 3 || !has_failed);
        weft_blob_store_destroy(other);
        test_memory_fini(&memory);
        if (!has_failed) return f.step;
    }
}

Test(blob_file, any_failing_step_of_a_load_leaves_nothing)
{
    CHECK_U64(sweep(WEFT_BLOB_LOAD, WEFT_BLOB_PROTECT_NEVER), 3);
    CHECK_U64(sweep(WEFT_BLOB_LOAD, WEFT_BLOB_PROTECT_ALWAYS), 4);
    CHECK_U64(sweep(WEFT_BLOB_MAP, WEFT_BLOB_PROTECT_ALWAYS), 3);
    CHECK_U64(sweep(WEFT_BLOB_MAP_TRUSTED, WEFT_BLOB_PROTECT_NEVER), 3);
}

Test(blob_file, any_failing_step_of_a_save_leaves_a_complete_file)
{
    CHECK_U64(sweep(3, WEFT_BLOB_PROTECT_NEVER), 6);
    weft_blob_ref ref;
    CHECK_OK(
        weft_blob_load(store, directory.path, &(weft_blob_load_desc){.type = &scene_type}, &ref));
    CHECK(ref.id != scene_ref.id);
}

Test(blob_file, any_failing_allocation_of_a_load_leaves_nothing)
{
    for (uint64_t k = 1;; k++) {
        test_memory memory;
        weft_blob_ref ref;
        weft_blob_store *other;
        test_memory_init(&memory);
        weft_blob_store_desc desc = {test_memory_hook(&memory), NULL, WEFT_BLOB_PROTECT_NEVER};
        CHECK_OK(weft_blob_store_create(&desc, &other));
        test_memory_fail(&memory, k, false);
        weft_result result = weft_blob_load(other, directory.path,
                                            &(weft_blob_load_desc){.type = &scene_type}, &ref);
        const bool has_failed = memory.failures != 0;
        CHECK_RESULT(result, has_failed ? WEFT_OUT_OF_MEMORY : WEFT_OK);
        weft_blob_store_destroy(other);
        test_memory_fini(&memory);
        if (has_failed) continue;
        CHECK_U64(k, 4); /* the block, the table of contents and the first slots failed before */
        return;
    }
}
