/* SPDX-License-Identifier: MIT */
/* test_world_stream.c: streaming: one thread loads worlds from a file while another runs the game
 * world's queries on its pool; loaded worlds are handed over and move in. */
#include "blob_fixture.h"
#include "os_file.h"
#include "plain.h"
#include "transfer_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { LEVELS = 6, PER_LEVEL = 3000 };

/* One place for a level that is ready; the semaphores say whether it is free or full. */
typedef struct stream {
    sem_t free, full;
    weft_world *ready;
    weft_job_pool *pool;
    const char *path;
} stream;

static void *load_levels(void *user)
{
    stream *s = user;
    for (int i = 0; i < LEVELS; i++) {
        weft_world *level;
        CHECK_OK(weft_world_create(&(weft_world_desc){.pool = s->pool}, &level));
        CHECK_OK(weft_world_load(level, s->path, NULL));
        CHECK(sem_wait(&s->free) == 0);
        s->ready = level;
        CHECK(sem_post(&s->full) == 0);
    }
    return NULL;
}

static weft_world *take_level(stream *s)
{
    CHECK(sem_wait(&s->full) == 0);
    weft_world *level = s->ready;
    CHECK(sem_post(&s->free) == 0);
    return level;
}

static void add_one(weft_slice *slice, void *user)
{
    Value *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i].number++;
}

PLAIN_TEST(worlds_are_loaded_on_one_thread_and_move_into_the_world_of_another)
{
    side level;
    blob_directory directory;
    weft_world *game;
    blob_directory_create(&directory);
    open_side(&level, &(weft_world_desc){0}, false);
    for (uint32_t i = 0; i < PER_LEVEL; i++) make(&level, i);
    CHECK_OK(weft_world_save(level.world, directory.path, NULL));
    close_side(&level);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &game));
    weft_component value = WEFT_COMPONENT(game, Value);
    weft_query query = weft_query_create(game, &(weft_query_desc){.terms = {{value, WEFT_WRITE}}});
    stream s = {.pool = weft_world_pool(game), .path = directory.path};
    CHECK(sem_init(&s.free, 0, 1) == 0 && sem_init(&s.full, 0, 0) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, load_levels, &s) == 0);
    for (uint32_t i = 0; i < LEVELS; i++) {
        for (int k = 0; k < 10; k++) CHECK_OK(weft_query_each_parallel(game, query, add_one, NULL));
        weft_world *ready = take_level(&s);
        CHECK_OK(weft_world_transfer(game, ready, NULL, NULL, 0));
        CHECK_OK(weft_world_destroy(ready));
        CHECK_U64(entities_of(game), (i + 1) * PER_LEVEL);
    }
    pthread_join(thread, NULL);
    uint64_t sum = 0, expected = 0;
    weft_cursor cursor = weft_query_begin(game, query);
    while (weft_query_next(&cursor))
        for (uint32_t i = 0; i < cursor.slice.count; i++)
            sum += ((const Value *)cursor.slice.columns[0])[i].number;
    weft_query_end(&cursor);
    for (uint64_t i = 0; i < LEVELS; i++) /* level i was there for 10 passes of each later one */
        expected += PER_LEVEL * (PER_LEVEL - 1) / 2 + PER_LEVEL * 10 * (LEVELS - 1 - i);
    CHECK_U64(sum, expected);
    CHECK_OK(weft_world_validate(game));
    CHECK_OK(weft_world_destroy(game));
    sem_destroy(&s.free);
    sem_destroy(&s.full);
    blob_directory_destroy(&directory);
}

/* ---- a disk that fails ---- */

static weft_result read_fails(void *user, weft__os_file file, void *to, size_t bytes,
                              uint64_t offset)
{
    (void)user, (void)file, (void)to, (void)bytes, (void)offset;
    return WEFT_IO; /* the file was shortened since it was opened */
}

static weft_result rename_fails(void *user, const char *from, const char *to)
{
    (void)user, (void)from, (void)to;
    return WEFT_IO;
}

PLAIN_TEST(a_disk_that_fails_leaves_the_old_file_and_an_empty_world)
{
    blob_directory directory;
    blob_directory_create(&directory);
    weft__os_files files = *weft__os_files_of(weft__os_default());
    files.read = read_fails;
    files.rename = rename_fails;
    weft_os os = *weft__os_default();
    os.files = &files;
    side a, b;
    open_side(&a, &(weft_world_desc){0}, false);
    make(&a, 1);
    CHECK_OK(weft_world_save(a.world, directory.path, NULL));
    open_side(&b, &(weft_world_desc){.os = &os}, false);
    CHECK_RESULT(weft_world_load(b.world, directory.path, NULL), WEFT_IO);
    CHECK(strstr(weft_world_error(b.world)->text, directory.path) != NULL);
    CHECK_U64(entities_of(b.world), 0);
    make(&b, 2), make(&b, 3);
    CHECK_RESULT(weft_world_save(b.world, directory.path, NULL), WEFT_IO);
    weft_world *c;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &c));
    CHECK_OK(weft_world_load(c, directory.path, NULL)); /* the old one */
    CHECK_U64(entities_of(c), 1);
    CHECK_OK(weft_world_destroy(c));
    close_pair(&a, &b);
    blob_directory_destroy(&directory); /* nothing else was left in it */
}
