/* SPDX-License-Identifier: MIT */
/* test_stream_faults.c: what a process and a disk do to section files: a save that ends at any file
 * operation leaves the old file or the new one. Refused memory: test_refused_streams.c. */
#include "stream_fixture.h"

#include "os_file.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- saves ---- */

enum { OLD_ROWS = 30, NEW_ROWS = 70 };

/* A file system whose n-th operation fails, or kills the process. Owner: one test; one thread. */
static struct {
    const weft__os_files *real;
    weft__os_files table;
    uint32_t left; /* operations until then; 0: never */
    bool kills;
    uint32_t done;
} faulty;

/* True: this one is to fail. */
static bool is_hit(void)
{
    faulty.done++;
    if (faulty.left == 0 || --faulty.left != 0) return false;
    if (faulty.kills) raise(SIGKILL);
    return true;
}

static weft_result faulty_open(void *user, const char *path, weft__os_file *out)
{
    return is_hit() ? WEFT_IO : faulty.real->open_write(user, path, out);
}

/* A full disk takes a part. */
static weft_result faulty_write(void *user, weft__os_file file, const void *from, size_t bytes)
{
    if (!is_hit()) return faulty.real->write(user, file, from, bytes);
    faulty.real->write(user, file, from, bytes / 2);
    return WEFT_IO;
}

static weft_result faulty_sync(void *user, weft__os_file file)
{
    return is_hit() ? WEFT_IO : faulty.real->sync(user, file);
}

static weft_result faulty_close(void *user, weft__os_file file)
{
    bool fails = is_hit();
    weft_result result = faulty.real->close(user, file);
    return fails ? WEFT_IO : result;
}

static weft_result faulty_rename(void *user, const char *from, const char *to)
{
    return is_hit() ? WEFT_IO : faulty.real->rename(user, from, to);
}

static weft_result faulty_remove(void *user, const char *path)
{
    return is_hit() ? WEFT_IO : faulty.real->remove(user, path);
}

static weft_result faulty_sync_directory(void *user, const char *path)
{
    return is_hit() ? WEFT_IO : faulty.real->sync_directory(user, path);
}

static weft_os faulty_os(void)
{
    weft_os os = *weft__os_default();
    faulty.real = weft__os_files_of(&os);
    faulty.table = *faulty.real;
    faulty.table.open_write = faulty_open;
    faulty.table.write = faulty_write;
    faulty.table.sync = faulty_sync;
    faulty.table.close = faulty_close;
    faulty.table.rename = faulty_rename;
    faulty.table.remove = faulty_remove;
    faulty.table.sync_directory = faulty_sync_directory;
    faulty.left = 0;
    os.files = &faulty.table;
    return os;
}

/* Saves a world of `rows` entities in section 1; the result. */
static weft_result rows_save(const char *path, uint32_t rows, uint32_t at, bool kills)
{
    weft_os os = faulty_os();
    stage s = stage_make_in(&(weft_world_desc){.workers = 1, .os = &os});
    weft_entity e[NEW_ROWS];
    section_fill(&s, 1, rows, e);
    faulty.left = at;
    faulty.kills = kills;
    faulty.done = 0;
    weft_result result = weft_sections_save(s.world, path, NULL);
    uint32_t done = faulty.done;
    faulty.left = 0;
    stage_end(&s);
    faulty.done = done;
    return result;
}

/* The rows of section 1 of the file, all of which must arrive. */
static uint32_t rows_read(const char *path)
{
    stage to = stage_make(1), from = {0};
    snprintf(from.path, sizeof from.path, "%s", path);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    uint32_t rows = (uint32_t)entities_of(to.world);
    world_check(to.world);
    stage_end(&to);
    return rows;
}

static const char path[] = "faults.wss";

PLAIN_TEST(a_save_that_fails_at_any_operation_leaves_the_old_file_or_the_new_one)
{
    CHECK_OK(rows_save(path, OLD_ROWS, 0, false));
    const uint32_t operations = faulty.done;
    CHECK(operations >= 4);
    for (uint32_t at = 1; at <= operations; at++) {
        weft_result result = rows_save(path, NEW_ROWS, at, false);
        const uint32_t rows = rows_read(path);
        CHECK(rows == OLD_ROWS || rows == NEW_ROWS);
        if (rows == OLD_ROWS) CHECK_RESULT(result, WEFT_IO);
        CHECK_OK(rows_save(path, OLD_ROWS, 0, false));
    }
}

PLAIN_TEST(a_process_killed_at_any_operation_of_a_save_leaves_the_old_file_or_the_new_one)
{
    CHECK_OK(rows_save(path, OLD_ROWS, 0, false));
    const uint32_t operations = faulty.done;
    uint32_t old = 0, new = 0;
    for (uint32_t at = 1; at <= operations; at++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(rows_save(path, NEW_ROWS, at, true) != WEFT_OK);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        const uint32_t rows = rows_read(path);
        CHECK(rows == OLD_ROWS || rows == NEW_ROWS);
        *(rows == OLD_ROWS ? &old : &new) += 1;
        CHECK_OK(rows_save(path, OLD_ROWS, 0, false)); /* takes over what the dead one left */
    }
    CHECK(old != 0 && new != 0);
    CHECK(access("faults.wss.new0", F_OK) != 0);
}
