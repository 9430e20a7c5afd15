/* SPDX-License-Identifier: MIT */
/* test_screen.c: the job on the engine against the same job in plain C on one thread: the same
 * approaches and the same losses to the last bit, for several numbers of workers.
 *
 * Runs under every sanitizer; the window begins where some objects of the shipped catalogue have
 * decayed and others do so on the way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"
#include "screen.h"
#include "screen_plain.h"

static struct screen_options options_of(char *path, size_t size, const char *start)
{
    const char *root = getenv("WEFT_SOURCE_DIR");
    struct screen_options o = {.hours = 3.0,
                               .step_s = 10.0,
                               .threshold_km = 20.0,
                               .max_age_days = 36525.0, /* losses come late */
                               .has_start = true,
                               .is_quiet = true};
    snprintf(path, size, "%s/tools/screen/catalogue.tle", root ? root : ".");
    o.path = path;
    CHECK(moment_parse(start, &o.start) == 0);
    return o;
}

static void check_same(const struct screen_result *a, const struct screen_result *b)
{
    CHECK_U64(a->approach_count, b->approach_count);
    CHECK_U64(a->loss_count, b->loss_count);
    CHECK(memcmp(a->approaches, b->approaches, a->approach_count * sizeof *a->approaches) == 0);
    CHECK(memcmp(a->losses, b->losses, a->loss_count * sizeof *a->losses) == 0);
}

static void compare_with_plain(const char *start, bool has_losses)
{
    char path[400];
    struct screen_options o = options_of(path, sizeof path, start);
    struct screen_result plain = {0};
    CHECK(screen_load(&o, &plain) == 0 && screen_plain(&plain) == 0);
    CHECK(plain.approach_count > 0);
    CHECK((plain.loss_count > 3) == has_losses);
#ifdef NDEBUG
    static const uint32_t workers[] = {1, 2, 5};
#else
    static const uint32_t workers[] = {5}; /* slow builds */
#endif
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        struct screen_result engine = {0};
        o.workers = workers[i];
        o.verify = 3;
        CHECK(screen_load(&o, &engine) == 0 && screen_search(&o, &engine) == 0);
        CHECK(engine.check.steps == 3 && engine.check.is_identical);
        CHECK_U64(engine.counts.workers, workers[i]);
        check_same(&engine, &plain);
        screen_result_fini(&engine);
    }
    screen_result_fini(&plain);
}

PLAIN_TEST(the_engine_finds_what_plain_loops_find)
{
    compare_with_plain("2018-01-22", false);
}

PLAIN_TEST(satellites_that_decay_in_the_window_are_lost_at_the_same_step)
{
    compare_with_plain("2019-01-01", true);
}
