/* SPDX-License-Identifier: MIT */
/* test_world_bytes.c: worlds to and from memory and streams: the bytes of the file, in pieces of
 * any size; what fails leaves an empty world, and untrusted sizes take no memory. */
#include "blob_fixture.h"
#include "memory_fault.h"
#include "plain.h"
#include "transfer_fixture.h"
#include "world_file_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes in memory that are written or read in pieces. Owner: one test. */
typedef struct tape {
    char *bytes;
    size_t count, at, piece; /* at most `piece` bytes are given at once; 0: all */
    size_t fail_at;          /* of bytes; 0: never */
    weft_result failure;
} tape;

static weft_result tape_write(void *user, const void *bytes, size_t count)
{
    tape *t = user;
    CHECK(count != 0 && count <= 1 << 20);
    if (t->fail_at != 0 && t->count + count >= t->fail_at) return t->failure;
    t->bytes = realloc(t->bytes, t->count + count);
    memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
    return WEFT_OK;
}

static weft_result tape_read(void *user, void *to, size_t capacity, size_t *count)
{
    tape *t = user;
    size_t left = t->count - t->at;
    CHECK(capacity != 0);
    if (t->fail_at != 0 && t->at >= t->fail_at) return t->failure;
    *count = left < capacity ? left : capacity;
    if (t->piece != 0 && *count > t->piece) *count = t->piece;
    memcpy(to, t->bytes + t->at, *count);
    t->at += *count;
    return WEFT_OK;
}

static const weft_world_desc plain_desc = {.workers = 1};

static void fill(side *s, uint32_t count)
{
    open_side(s, &plain_desc, false);
    for (uint32_t i = 0; i < count; i++) make(s, i);
}

static uint64_t hash_of(weft_world *world)
{
    return weft_world_hash(world, WEFT_HASH_CONTENT);
}

static weft_world *empty_world(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&plain_desc, &world));
    return world;
}

static void check_loaded(weft_world *world, const side *from)
{
    CHECK_U64(hash_of(world), hash_of(from->world));
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(file_memory_and_stream_hold_the_same_bytes)
{
    side s;
    blob_directory directory;
    weft_world_bytes bytes;
    tape t = {.piece = 1};
    fill(&s, 5000);
    blob_directory_create(&directory);
    CHECK_OK(weft_world_save(s.world, directory.path, NULL));
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    CHECK_OK(weft_world_save_stream(s.world, &(weft_writer){tape_write, &t}, NULL));
    CHECK_U64(bytes.count, t.count);
    CHECK(memcmp(bytes.bytes, t.bytes, t.count) == 0);
    char *file = malloc(t.count + 1);
    int descriptor = open(directory.path, O_RDONLY);
    CHECK_I64(read(descriptor, file, t.count + 1), (int64_t)t.count);
    CHECK(memcmp(file, t.bytes, t.count) == 0);
    close(descriptor);
    static const size_t pieces[] = {0, 1, 7, 63, 64, 65, 4096};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        weft_world *world = empty_world();
        t.at = 0;
        t.piece = pieces[i];
        CHECK_OK(weft_world_load_stream(world, &(weft_reader){tape_read, &t}, NULL));
        check_loaded(world, &s);
    }
    for (size_t shift = 0; shift < 9; shift += 4) { /* at any address */
        weft_world *world = empty_world();
        file = realloc(file, t.count + shift);
        memcpy(file + shift, t.bytes, t.count);
        CHECK_OK(weft_world_load_memory(world, file + shift, t.count, NULL));
        memset(file + shift, 0xFF, t.count); /* not needed any more */
        check_loaded(world, &s);
    }
    free(file), free(t.bytes);
    weft_world_bytes_free(s.world, &bytes);
    weft_world_bytes_free(s.world, &bytes); /* empty */
    CHECK_POINTER(bytes.bytes, NULL);
    close_side(&s);
    blob_directory_destroy(&directory);
}

PLAIN_TEST(worlds_follow_one_another_on_a_stream)
{
    side a, b;
    tape t = {.piece = 1000};
    fill(&a, 10);
    fill(&b, 3000);
    CHECK_OK(weft_world_save_stream(a.world, &(weft_writer){tape_write, &t}, NULL));
    CHECK_OK(weft_world_save_stream(b.world, &(weft_writer){tape_write, &t}, NULL));
    const side *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        weft_world *world = empty_world();
        CHECK_OK(weft_world_load_stream(world, &(weft_reader){tape_read, &t}, NULL));
        check_loaded(world, both[i]);
    }
    weft_world *world = empty_world();
    CHECK_RESULT(weft_world_load_stream(world, &(weft_reader){tape_read, &t}, NULL), WEFT_CORRUPT);
    CHECK(strstr(weft_world_error(world)->text, "the stream ends after 0 bytes") != NULL);
    CHECK_OK(weft_world_destroy(world));
    free(t.bytes);
    close_pair(&a, &b);
}

/* ---- what fails ---- */

PLAIN_TEST(a_stream_that_fails_ends_the_save_and_the_load_with_its_result)
{
    side s;
    tape t = {.piece = 10};
    fill(&s, 100);
    CHECK_OK(weft_world_save_stream(s.world, &(weft_writer){tape_write, &t}, NULL));
    tape full = {.fail_at = 1, .failure = WEFT_BUSY};
    CHECK_RESULT(weft_world_save_stream(s.world, &(weft_writer){tape_write, &full}, NULL),
                 WEFT_BUSY);
    CHECK(strstr(weft_world_error(s.world)->text, "the writer returned WEFT_BUSY after 0 of") !=
          NULL);
    weft_world *world = empty_world();
    const weft_reader reader = {tape_read, &t};
    for (size_t at = 0; at + t.piece <= t.count;
         at += 37) { /* the last read begins there or later */
        t.at = 0;
        t.fail_at = at + 1;
        t.failure = WEFT_CANCELLED;
        CHECK_RESULT(weft_world_load_stream(world, &reader, NULL), WEFT_CANCELLED);
        CHECK(strstr(weft_world_error(world)->text, "the reader returned WEFT_CANCELLED") != NULL);
    }
    const size_t whole = t.count;
    t.fail_at = 0;
    for (t.count = 0; t.count < whole; t.count += 41) { /* it ends */
        t.at = 0;
        CHECK_RESULT(weft_world_load_stream(world, &reader, NULL), WEFT_CORRUPT);
        CHECK_RESULT(weft_world_load_memory(world, t.bytes, t.count, NULL), WEFT_CORRUPT);
    }
    t.count = whole;
    t.at = 0;
    CHECK_OK(weft_world_load_stream(world, &reader, NULL)); /* it is still new */
    check_loaded(world, &s);
    free(t.bytes);
    close_side(&s);
}

static weft_result read_too_much(void *user, void *to, size_t capacity, size_t *count)
{
    (void)user;
    memset(to, 0, capacity);
    *count = capacity + 1;
    return WEFT_OK;
}

PLAIN_TEST(what_a_stream_says_it_holds_takes_no_memory)
{
    side s;
    tape t = {0};
    test_memory memory;
    weft_world *world;
    fill(&s, 10);
    CHECK_OK(weft_world_save_stream(s.world, &(weft_writer){tape_write, &t}, NULL));
    weft__world_header header;
    memcpy(&header, t.bytes, sizeof header);
    header.total_bytes = UINT64_C(1) << 60;
    memcpy(t.bytes, &header, sizeof header);
    test_memory_init(&memory);
    const weft_world_desc desc = {.workers = 1, .allocator = test_memory_hook(&memory)};
    CHECK_OK(weft_world_create(&desc, &world));
    const uint64_t before = memory.live_bytes;
    const weft_reader reader = {tape_read, &t};
    CHECK_RESULT(weft_world_load_stream(world, &reader, NULL), WEFT_CORRUPT);
    CHECK(memory.peak_bytes < before + (1 << 18));
    CHECK_U64(memory.live_bytes, before);
    t.at = 0;
    const weft_load_desc bounded = {.bytes_max = 1000000};
    CHECK_RESULT(weft_world_load_stream(world, &reader, &bounded), WEFT_LIMIT);
    CHECK_U64(t.at, sizeof header); /* nothing behind it was asked for */
    const weft_load_desc small = {.bytes_max = 100};
    CHECK_RESULT(weft_world_load_memory(world, t.bytes, t.count, &small), WEFT_LIMIT);
    CHECK(strstr(weft_world_error(world)->text, "bytes_max allows 100") != NULL);
    const weft_reader liar = {read_too_much, NULL};
    CHECK_RESULT(weft_world_load_stream(world, &liar, NULL), WEFT_INVALID_ARGUMENT);
    char noise[64] = "not a world at all";
    CHECK_RESULT(weft_world_load_memory(world, noise, sizeof noise, NULL), WEFT_CORRUPT);
    tape text = {.bytes = noise, .count = sizeof noise};
    CHECK_RESULT(weft_world_load_stream(world, &(weft_reader){tape_read, &text}, NULL),
                 WEFT_CORRUPT);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
    free(t.bytes);
    close_side(&s);
}

PLAIN_TEST(any_failing_allocation_of_a_stream_leaves_nothing)
{
    side s;
    tape t = {.piece = 5000};
    fill(&s, 10000); /* more than the first piece of memory */
    CHECK_OK(weft_world_save_stream(s.world, &(weft_writer){tape_write, &t}, NULL));
    uint32_t survived = 0;
    for (uint64_t k = 1;; k++) {
        test_memory memory;
        weft_world *world;
        test_memory_init(&memory);
        const weft_world_desc desc = {.workers = 1, .allocator = test_memory_hook(&memory)};
        CHECK_OK(weft_world_create(&desc, &world));
        t.at = 0;
        test_memory_fail(&memory, k, false);
        weft_result result = weft_world_load_stream(world, &(weft_reader){tape_read, &t}, NULL);
        const bool has_failed = memory.failures != 0;
        if (result == WEFT_OK) /* chunks of a small world come from units instead */
            CHECK((survived += has_failed) <= 1);
        else
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_U64(entities_of(world), result == WEFT_OK ? 10000 : 0);
        CHECK_OK(weft_world_destroy(world));
        test_memory_fini(&memory);
        if (!has_failed) break;
    }
    free(t.bytes);
    close_side(&s);
}

PLAIN_TEST(missing_arguments_are_refused)
{
    side s;
    weft_world_bytes bytes;
    fill(&s, 1);
    CHECK_RESULT(weft_world_save_memory(NULL, &bytes, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_save_memory(s.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_save_stream(s.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_save_stream(s.world, &(weft_writer){0}, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load_stream(s.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load_stream(s.world, &(weft_reader){0}, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load_memory(s.world, NULL, 1, NULL), WEFT_INVALID_ARGUMENT);
    weft_world_bytes_free(NULL, NULL);
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    CHECK_RESULT(weft_world_load_memory(s.world, bytes.bytes, bytes.count, NULL), WEFT_WRONG_PHASE);
    weft_world_bytes_free(s.world, &bytes);
    close_side(&s);
}

/* ---- files of another kind ---- */

PLAIN_TEST(a_world_replaces_no_device_and_the_error_tells_why)
{
    side s;
    blob_directory directory;
    struct stat status;
    fill(&s, 1);
    blob_directory_create(&directory);
    CHECK(mkfifo(directory.path, 0600) == 0);
    CHECK_RESULT(weft_world_save(s.world, directory.path, NULL), WEFT_IO);
    CHECK(stat(directory.path, &status) == 0 && S_ISFIFO(status.st_mode));
    CHECK(strstr(weft_world_error(s.world)->text, "a FIFO") != NULL);
    CHECK(strstr(weft_world_error(s.world)->text, directory.path) != NULL);
    CHECK(unlink(directory.path) == 0 && symlink("/dev/null", directory.path) == 0);
    CHECK_RESULT(weft_world_save(s.world, directory.path, NULL), WEFT_IO);
    CHECK(strstr(weft_world_error(s.world)->text, "a character device") != NULL);
    CHECK(lstat(directory.path, &status) == 0 && S_ISLNK(status.st_mode));
    weft_world *world = empty_world();
    CHECK_RESULT(weft_world_load(world, directory.path, NULL), WEFT_IO);
    CHECK(strstr(weft_world_error(world)->text, "a character device") != NULL);
    CHECK_RESULT(weft_world_save(s.world, "/nonexistent-weft/a", NULL), WEFT_IO);
    CHECK(strstr(weft_world_error(s.world)->text, strerror(ENOENT)) != NULL);
    CHECK_RESULT(weft_world_load(world, "/nonexistent-weft/a", NULL), WEFT_NOT_FOUND);
    CHECK(strstr(weft_world_error(world)->text, "cannot open \"/nonexistent-weft/a\"") != NULL);
    CHECK_OK(weft_world_destroy(world));
    close_side(&s);
    blob_directory_destroy(&directory);
}

PLAIN_TEST(a_blob_replaces_no_device_and_the_store_tells_why)
{
    blob_directory directory;
    weft_blob_store *store;
    weft_blob_ref ref;
    weft_blob_report report;
    CHECK_OK(weft_blob_store_create(NULL, &store));
    CHECK_OK(blob_build_scene(store, 20, 0, &ref));
    blob_directory_create(&directory);
    CHECK(mkfifo(directory.path, 0600) == 0);
    CHECK_RESULT(weft_blob_save(store, ref, directory.path), WEFT_IO);
    CHECK_OK(weft_blob_report_get(store, &report, sizeof report));
    CHECK(strstr(report.failed_file, "a FIFO") != NULL);
    CHECK(strstr(report.failed_file, directory.path) != NULL);
    weft_blob_store_destroy(store);
    blob_directory_destroy(&directory);
}
