/* SPDX-License-Identifier: MIT */
/* test_world_bytes.c: worlds to and from memory: the bytes of the file; what fails leaves an empty
 * world, and untrusted sizes take no memory. */
#include "blob_fixture.h"
#include "memory_fault.h"
#include "plain.h"
#include "transfer_fixture.h"
#include "world_file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

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

PLAIN_TEST(file_and_memory_hold_the_same_bytes)
{
    side s;
    blob_directory directory;
    weft_world_bytes bytes;
    fill(&s, 5000);
    blob_directory_create(&directory);
    CHECK_OK(weft_world_save(s.world, directory.path, NULL));
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    const size_t count = bytes.count;
    char *file = malloc(count + 1);
    int descriptor = open(directory.path, O_RDONLY);
    CHECK_I64(read(descriptor, file, count + 1), (int64_t)count);
    CHECK(memcmp(file, bytes.bytes, count) == 0);
    close(descriptor);
    for (size_t shift = 0; shift < 9; shift += 4) { /* at any address */
        weft_world *world = empty_world();
        file = realloc(file, count + shift);
        memcpy(file + shift, bytes.bytes, count);
        CHECK_OK(weft_world_load_memory(world, file + shift, count, NULL));
        memset(file + shift, 0xFF, count); /* not needed any more */
        check_loaded(world, &s);
    }
    free(file);
    weft_world_bytes_free(s.world, &bytes);
    weft_world_bytes_free(s.world, &bytes); /* empty */
    CHECK_POINTER(bytes.bytes, NULL);
    close_side(&s);
    blob_directory_destroy(&directory);
}

/* ---- what fails ---- */

PLAIN_TEST(bytes_that_end_early_leave_a_new_world)
{
    side s;
    weft_world_bytes bytes;
    fill(&s, 100);
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    weft_world *world = empty_world();
    for (size_t count = 0; count < bytes.count; count += 41)
        CHECK_RESULT(weft_world_load_memory(world, bytes.bytes, count, NULL), WEFT_CORRUPT);
    CHECK_OK(weft_world_load_memory(world, bytes.bytes, bytes.count, NULL)); /* it is still new */
    check_loaded(world, &s);
    weft_world_bytes_free(s.world, &bytes);
    close_side(&s);
}

PLAIN_TEST(a_size_that_the_bytes_claim_takes_no_memory)
{
    side s;
    weft_world_bytes bytes;
    test_memory memory;
    weft_world *world;
    fill(&s, 10);
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    weft__world_header header;
    memcpy(&header, bytes.bytes, sizeof header);
    header.total_bytes = UINT64_C(1) << 60;
    memcpy(bytes.bytes, &header, sizeof header);
    test_memory_init(&memory);
    const weft_world_desc desc = {.workers = 1, .allocator = test_memory_hook(&memory)};
    CHECK_OK(weft_world_create(&desc, &world));
    const uint64_t before = memory.live_bytes;
    CHECK_RESULT(weft_world_load_memory(world, bytes.bytes, bytes.count, NULL), WEFT_CORRUPT);
    CHECK(memory.peak_bytes < before + (1 << 18));
    CHECK_U64(memory.live_bytes, before);
    const weft_load_desc small = {.bytes_max = 100};
    CHECK_RESULT(weft_world_load_memory(world, bytes.bytes, bytes.count, &small), WEFT_LIMIT);
    CHECK(strstr(weft_world_error(world)->text, "bytes_max allows 100") != NULL);
    char noise[64] = "not a world at all";
    CHECK_RESULT(weft_world_load_memory(world, noise, sizeof noise, NULL), WEFT_CORRUPT);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
    weft_world_bytes_free(s.world, &bytes);
    close_side(&s);
}

PLAIN_TEST(missing_arguments_are_refused)
{
    side s;
    weft_world_bytes bytes;
    fill(&s, 1);
    CHECK_RESULT(weft_world_save_memory(NULL, &bytes, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_save_memory(s.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load_memory(s.world, NULL, 1, NULL), WEFT_INVALID_ARGUMENT);
    weft_world_bytes_free(NULL, NULL);
    CHECK_OK(weft_world_save_memory(s.world, &bytes, NULL));
    CHECK_RESULT(weft_world_load_memory(s.world, bytes.bytes, bytes.count, NULL), WEFT_WRONG_PHASE);
    weft_world_bytes_free(s.world, &bytes);
    close_side(&s);
}

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
    weft_error error;
    CHECK_OK(weft_blob_store_create(NULL, &store));
    CHECK_OK(blob_build_scene(store, 20, 0, &ref));
    blob_directory_create(&directory);
    CHECK(mkfifo(directory.path, 0600) == 0);
    CHECK_RESULT(weft_blob_save(store, ref, directory.path), WEFT_IO);
    weft_blob_store_error(store, &error);
    CHECK_RESULT(error.code, WEFT_IO);
    CHECK(strstr(error.text, "a FIFO") != NULL);
    CHECK(strstr(error.text, directory.path) != NULL);
    CHECK_TEXT(error.file, directory.path);
    weft_blob_store_destroy(store);
    blob_directory_destroy(&directory);
}
