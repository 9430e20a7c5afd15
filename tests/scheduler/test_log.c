/* SPDX-License-Identifier: MIT */
/* test_log.c: what a host with a log gets, and that nothing is printed then. */
#include "invariant.h"
#include "systems_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The texts of a world or pool, one after the other. */
typedef struct heard {
    char text[4000];
    uint32_t counts[WEFT_LOG_REPORT + 1];
} heard;

static void hear(void *user, weft_log_level level, const char *text)
{
    heard *h = user;
    h->counts[level]++;
    strncat(h->text, text, sizeof h->text - strlen(h->text) - 1);
}

static void check_has(const heard *h, const char *word)
{
    if (strstr(h->text, word) == NULL) CHECK_TEXT(h->text, word);
}

/* stderr goes to a file between the two; end_silence returns the bytes in it. */
static int kept_stderr;
static FILE *silence_file;

static void begin_silence(void)
{
    fflush(stderr);
    kept_stderr = dup(2);
    silence_file = tmpfile();
    CHECK(kept_stderr >= 0 && silence_file != NULL);
    CHECK(dup2(fileno(silence_file), 2) == 2);
}

static long end_silence(void)
{
    fflush(stderr);
    CHECK(dup2(kept_stderr, 2) == 2);
    close(kept_stderr);
    long bytes = lseek(fileno(silence_file), 0, SEEK_END);
    fclose(silence_file);
    return bytes;
}

PLAIN_TEST(a_trace_that_cannot_be_is_a_warning_for_the_log)
{
    for (uint32_t has_log = 0; has_log < 2; has_log++) {
        heard h = {0};
        weft_job_pool *pool;
        weft_job_pool_desc desc = {.worker_count = 1};
        if (has_log) desc.log = (weft_log){hear, &h};
        setenv("WEFT_TRACE", "no.such.ending", 1);
        begin_silence();
        weft_result result = weft_job_pool_create(&desc, &pool);
        long printed = end_silence();
        unsetenv("WEFT_TRACE");
        CHECK_OK(result);
        CHECK((printed == 0) == (has_log != 0));
        CHECK_U64(h.counts[WEFT_LOG_WARNING], has_log);
        if (has_log) check_has(&h, "no.such.ending: no trace is written");
        CHECK_OK(weft_job_pool_destroy(pool));
    }
}

PLAIN_TEST(an_own_pool_has_the_log_of_its_world)
{
    heard h = {0};
    weft_world *world;
    setenv("WEFT_TRACE", "no.such.ending", 1);
    weft_result result =
        weft_world_create(&(weft_world_desc){.workers = 1, .log = {hear, &h}}, &world);
    unsetenv("WEFT_TRACE");
    CHECK_OK(result);
    CHECK_U64(h.counts[WEFT_LOG_WARNING], 1);
    CHECK_OK(weft_world_destroy(world));
}

/* A world with a state log of the environment; what it says goes to `h`. */
static void step_with_state_log(heard *h, const char *path, const char *rows)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .log = {hear, h}}, &world));
    setenv("WEFT_STATE_LOG", path, 1);
    setenv("WEFT_STATE_LOG_ROWS", rows, 1);
    weft_system_desc desc = {.name = "logged", .run = nothing};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 1));
    CHECK_OK(weft_world_destroy(world));
    unsetenv("WEFT_STATE_LOG");
    unsetenv("WEFT_STATE_LOG_ROWS");
}

PLAIN_TEST(a_state_log_that_cannot_be_written_is_a_warning)
{
    heard h = {0};
    step_with_state_log(&h, "no/such/folder/a.log", "1");
    CHECK_U64(h.counts[WEFT_LOG_WARNING], 1);
    check_has(&h, "cannot create \"no/such/folder/a.log\": No such file or directory");
    h = (heard){0};
    step_with_state_log(&h, "/dev/null", "");
    CHECK_U64(h.counts[WEFT_LOG_WARNING], 1);
    check_has(&h, "a character device, not a regular file");
}

PLAIN_TEST(rows_of_a_state_log_that_are_no_steps_are_a_warning)
{
    static const struct rows_case {
        const char *rows;
        uint32_t warnings;
    } cases[] = {{"z", 1}, {"5-2", 1}, {"3x", 1}, {"-4", 1}, {"0", 1}, {"1-3", 0}, {"2", 0}};
    char path[] = "/tmp/weft-log-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heard h = {0};
        step_with_state_log(&h, path, cases[i].rows);
        CHECK_U64(h.counts[WEFT_LOG_WARNING], cases[i].warnings);
        if (cases[i].warnings != 0) check_has(&h, "WEFT_STATE_LOG_ROWS=");
    }
    remove(path);
}

PLAIN_TEST(an_unknown_wish_for_counters_is_a_warning)
{
    heard h = {0};
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .log = {hear, &h}}, &world));
    setenv("WEFT_COUNTERS", "yes", 1);
    weft_system_desc desc = {.name = "uncounted", .run = nothing};
    CHECK(weft_system_create(world, &desc).id != 0);
    unsetenv("WEFT_COUNTERS");
    CHECK_U64(h.counts[WEFT_LOG_WARNING], 1);
    check_has(&h, "WEFT_COUNTERS=yes is not used: 1 or software");
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(counters_that_the_environment_asked_for_are_a_report)
{
    heard h = {0};
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .log = {hear, &h}}, &world));
    setenv("WEFT_COUNTERS", "software", 1);
    weft_system_desc desc = {.name = "counted", .run = nothing};
    CHECK(weft_system_create(world, &desc).id != 0);
    unsetenv("WEFT_COUNTERS");
    CHECK_OK(weft_world_step(world, 1));
    begin_silence();
    weft_result result = weft_world_destroy(world);
    long printed = end_silence();
    CHECK_OK(result);
    CHECK_I64(printed, 0);
    CHECK_U64(h.counts[WEFT_LOG_REPORT], 1);
    check_has(&h, "counters: ");
}

static void read_undeclared(weft_slice *s, void *user)
{
    weft_slice_read_resource(s, *(weft_component *)user);
}

PLAIN_TEST(mistakes_that_checked_builds_find_are_logged_with_system_and_component)
{
    heard h = {0};
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .log = {hear, &h}}, &world));
    weft_component score = weft_component_create_plain(world, "score", 4, 4, WEFT_RESOURCE);
    weft_system_desc desc = {.name = "reader", .run = read_undeclared, .user = &score};
    CHECK(weft_system_create(world, &desc).id != 0);
    weft_result result = weft_world_step(world, 1);
    CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
    CHECK_U64(h.counts[WEFT_LOG_MISTAKE], WEFT_IS_CHECKED);
    if (WEFT_IS_CHECKED) {
        check_has(&h, "reader");
        check_has(&h, "score");
        CHECK_TEXT(h.text, weft_world_error(world)->text);
    }
    CHECK_OK(weft_world_destroy(world));
}
