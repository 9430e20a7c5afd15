/* SPDX-License-Identifier: MIT */
/* test_trace_file.c: a trace file when memory or the file system refuses; formats are checked by
 * tests/trace. */
#include "check.h"
#include "folder.h"
#include "jobs_engine.h"
#include "memory_fault.h"

#include <weft/jobs.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Creates a tracing pool, marks 300 names (the table of names grows), destroys it. */
static weft_result run(test_memory *memory, const char *path)
{
    static char names[300][8];
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 1,
                                     .job_capacity = 4,
                                     .child_capacity = 4,
                                     .trace_file = path,
                                     .allocator = test_memory_hook(memory)};
    weft_result result = weft_job_pool_create(&desc, &pool);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(names[i], sizeof names[i], "m%u", i);
        weft_job_trace_mark(weft_job_pool_owner(pool), names[i], i);
    }
    return weft_job_pool_destroy(pool);
}

Test(trace_file, every_refused_allocation_leaves_nothing_behind)
{
    test_memory memory;
    test_memory_init(&memory);
    test_folder_enter();
    uint64_t k = 1, created = 0;
    for (;; k++) {
        test_memory_fail(&memory, k, false);
        uint64_t failures = memory.failures;
        weft_result result = run(&memory, "a.pftrace");
        CHECK(result == WEFT_OK || result == WEFT_OUT_OF_MEMORY);
        created += result == WEFT_OK;
        CHECK_U64(memory.live_blocks, 0);
        CHECK((unlink("a.pftrace") == 0) == (result == WEFT_OK)); /* nor a file */
        CHECK(access("a.pftrace.raw", F_OK) != 0);
        if (memory.failures == failures) break; /* k is beyond the last allocation */
    }
    CHECK(k > 300); /* each name is one allocation */
    CHECK(created > 300);
    test_memory_fini(&memory);
    test_folder_leave();
}

Test(trace_file, a_bad_name_or_place_is_an_error_and_an_empty_name_is_no_trace)
{
    test_memory memory;
    test_memory_init(&memory);
    CHECK_U64(run(&memory, "trace.txt"), WEFT_INVALID_ARGUMENT);
    CHECK_U64(run(&memory, "trace.jsonl"), WEFT_INVALID_ARGUMENT);
    CHECK_U64(run(&memory, "no_such_folder/trace.pftrace"), WEFT_IO);
    CHECK_OK(run(&memory, ""));
    test_memory_fini(&memory);
}

static weft_result create(const char *path, weft_error *error)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 1, .trace_file = path, .error = error};
    const weft_result result = weft_job_pool_create(&desc, &pool);
    if (error != NULL) CHECK_RESULT(error->code, result);
    return result;
}

Test(trace_file, a_file_that_cannot_be_written_is_named_with_the_reason)
{
    const char *path = "fifo.pftrace";
    weft_error error;
    CHECK_RESULT(create("no_such_folder/trace.pftrace", &error), WEFT_IO);
    CHECK(strstr(error.text, "\"no_such_folder/trace.pftrace\": No such file or directory") !=
          NULL);
    CHECK_TEXT(error.file, "no_such_folder/trace.pftrace");
    test_folder_enter();
    CHECK(mkfifo(path, 0600) == 0);
    CHECK_RESULT(create(path, &error), WEFT_IO);
    CHECK(strstr(error.text, path) != NULL && strstr(error.text, "a FIFO") != NULL);
    CHECK_RESULT(create(path, NULL), WEFT_IO);
    test_folder_leave();
    CHECK_RESULT(create("trace.txt", &error), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(error.text, ".pftrace") != NULL);
}

/* Whether the file has the text. */
static bool has(const char *path, const char *text)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fstat(fileno(file), &status) == 0);
    char *bytes = malloc((size_t)status.st_size);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)status.st_size, file) == (size_t)status.st_size);
    const bool is_there = memmem(bytes, (size_t)status.st_size, text, strlen(text)) != NULL;
    free(bytes);
    fclose(file);
    return is_there;
}

static weft_job_pool *open_pool(const char *path)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 1, .trace_file = path};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    return pool;
}

Test(trace_file, a_name_may_change_when_its_events_were_taken)
{
    static const char *const texts[] = {"the first", "the second", "the third"};
    char name[16];
    test_folder_enter();
    weft_job_pool *pool = open_pool("a.pftrace");
    for (uint32_t i = 0; i < 3; i++) {
        strcpy(name, texts[i]);
        weft_job_trace_mark(weft_job_pool_owner(pool), name, i);
        weft__pool_drain_trace(pool);
    }
    CHECK_OK(weft_job_pool_destroy(pool));
    for (uint32_t i = 0; i < 3; i++) CHECK(has("a.pftrace", texts[i]));
    test_folder_leave();
}

Test(trace_file, more_names_than_a_ring_has_room_for_are_all_told)
{
    enum { NAMES = 3000 };
    static char names[NAMES][40];
    test_folder_enter();
    weft_job_pool *pool = open_pool("a.pftrace");
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "a name of many bytes, number %u.", i);
        weft_job_trace_mark(weft_job_pool_owner(pool), names[i], i);
    }
    CHECK_OK(weft_job_pool_destroy(pool));
    for (uint32_t i = 0; i < NAMES; i += 37) CHECK(has("a.pftrace", names[i]));
    test_folder_leave();
}

Test(trace_file, what_a_forked_child_marks_is_not_in_the_rings_of_its_parent)
{
    int status = 1;
    test_folder_enter();
    weft_job_pool *pool = open_pool("a.pftrace");
    const pid_t child = fork();
    if (child == 0) {
        weft_job_trace_mark(weft_job_pool_owner(pool), "of the child", 1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    weft_job_trace_mark(weft_job_pool_owner(pool), "of the parent", 1);
    CHECK_OK(weft_job_pool_destroy(pool));
    CHECK(has("a.pftrace", "of the parent") && !has("a.pftrace", "of the child"));
    test_folder_leave();
}
