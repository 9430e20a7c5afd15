/* SPDX-License-Identifier: MIT */
/* test_counters.c: event counters per system over a kernel of our own, which refuses what kernels,
 * containers and virtual machines refuse; and over the real one, as far as it allows. */
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/state_log.h>
#include <weft/weft.h>

#include "memory_fault.h"
#include "os.h"
#include "os_perf.h"
#include "plain.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EVENTS 64

/* A kernel: events count up by their step whenever they are read. One worker, so no locks, except
 * where a test says so. */
typedef struct kernel {
    weft_os os;
    weft__os_perf perf;
    /* set by the test */
    int hardware_error;     /* errno of hardware events; 0: they exist */
    int error;              /* errno of every event */
    int error_at, at_error; /* the n-th open fails with at_error; 0: never */
    bool needs_user_only;   /* EACCES with the kernel's share */
    bool has_registers;
    bool fails_to_read;
    uint64_t step; /* what an event counts from one read to the next */
    uint64_t turn; /* running time per 100 ns of enabled time */
    int32_t paranoid;
    pthread_t refused; /* if has_refused: EACCES for other threads than this */
    bool has_refused;
    /* what happened */
    int opened, closed, mapped, unmapped, reads, register_reads;
    weft__perf_event events[EVENTS];
    int leaders[EVENTS];
    bool is_running[EVENTS]; /* an event that joins a running group never counts */
    struct perf_event_mmap_page pages[EVENTS];
    uint64_t clock;
    uint64_t values[EVENTS];
} kernel;

static int kernel_open(void *user, const weft__perf_event *event, int leader)
{
    kernel *k = user;
    if (k->has_refused && !pthread_equal(pthread_self(), k->refused)) return -EACCES;
    if (k->error != 0) return -k->error;
    if (event->type == PERF_TYPE_HARDWARE && k->hardware_error != 0) return -k->hardware_error;
    if (k->needs_user_only && !event->is_user_only) return -EACCES;
    if (k->error_at != 0 && k->opened + 1 >= k->error_at) return -k->at_error;
    int descriptor = k->opened++;
    k->events[descriptor] = *event;
    k->leaders[descriptor] = leader < 0 ? descriptor : leader;
    return descriptor;
}

static bool kernel_start(void *user, int leader)
{
    kernel *k = user;
    for (int i = 0; i < k->opened; i++)
        if (k->leaders[i] == leader) k->is_running[i] = true;
    return true;
}

/* Per read: every event by `step` times its number in the group, the time by 100. */
static bool kernel_read(void *user, int leader, uint64_t *words, uint32_t count)
{
    kernel *k = user;
    k->reads++;
    if (k->fails_to_read) return false;
    uint32_t members = 0;
    k->clock += 100;
    for (int i = 0; i < k->opened; i++) {
        if (k->leaders[i] != leader) continue;
        if (k->is_running[i]) k->values[i] += k->step * (members + 1);
        if (3 + members < count) words[3 + members] = k->values[i];
        members++;
    }
    words[0] = members;
    words[1] = k->clock;
    words[2] = k->clock * k->turn / 100;
    return 3 + members == count;
}

static const void *kernel_map(void *user, int descriptor)
{
    kernel *k = user;
    k->mapped++;
    k->pages[descriptor] = (struct perf_event_mmap_page){
        .index = (uint32_t)descriptor + 1, .offset = 5000, .pmc_width = 48};
    k->pages[descriptor].cap_user_rdpmc = k->has_registers;
    return &k->pages[descriptor];
}

static void kernel_unmap(void *user, const void *page)
{
    (void)page;
    ((kernel *)user)->unmapped++;
}

/* A register that begins below zero and counts 7 per read. */
static uint64_t kernel_register(void *user, uint32_t index)
{
    kernel *k = user;
    k->register_reads++;
    k->values[index] += 7;
    return (k->values[index] - 5000) & ((UINT64_C(1) << 48) - 1);
}

static void kernel_close(void *user, int descriptor)
{
    (void)descriptor;
    ((kernel *)user)->closed++;
}

static int32_t kernel_paranoid(void *user)
{
    return ((kernel *)user)->paranoid;
}

static void kernel_init(kernel *k)
{
    *k = (kernel){.step = 10, .turn = 100, .paranoid = 2};
    k->perf = (weft__os_perf){.user = k,
                              .open = kernel_open,
                              .start = kernel_start,
                              .read = kernel_read,
                              .map = kernel_map,
                              .unmap = kernel_unmap,
                              .read_register = kernel_register,
                              .close = kernel_close,
                              .paranoid = kernel_paranoid};
    k->os = *weft__os_default();
    k->os.perf = &k->perf;
}

/* ---- a world with one system */

typedef struct bed {
    weft_world *world;
    weft_system system;
} bed;

static void nothing(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

static bed begin_bed(const weft_os *os, bool counts)
{
    bed b;
    weft_world_desc desc = {.workers = 1, .os = os, .trace_file = ""};
    CHECK_OK(weft_world_create(&desc, &b.world));
    b.system = weft_system_create(b.world, &(weft_system_desc){.name = "work", .run = nothing});
    CHECK(b.system.id != 0);
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){.counts_events = counts}));
    return b;
}

/* Five steps, five calls. */
static weft_system_counters counted(const bed *b)
{
    for (int i = 0; i < 5; i++) CHECK_OK(weft_world_step(b->world, 1));
    weft_system_counters out;
    CHECK_OK(weft_system_counters_get(b->world, b->system, &out, sizeof out));
    return out;
}

static void check_text(const bed *b, const char *part)
{
    char text[4096];
    size_t length = weft_schedule_counters(b->world, text, sizeof text);
    CHECK(length < sizeof text);
    if (strstr(text, part) == NULL) CHECK_TEXT(text, part);
    const char *line = text + strcspn(text, "\n"); /* behind the reason, which is a sentence */
    for (; *line != '\0'; line += strcspn(line, "\n")) {
        line++;
        CHECK(strcspn(line, "\n") <= 80);
    }
}

static void end_bed(bed *b, const kernel *k)
{
    CHECK_OK(weft_world_destroy(b->world));
    if (k == NULL) return;
    CHECK_I64(k->closed, k->opened);
    CHECK_I64(k->unmapped, k->mapped);
}

static uint32_t bit(weft_counter counter)
{
    return 1u << counter;
}

#define ALL_COUNTERS ((1u << WEFT_COUNTER_COUNT) - 1)
#define SOFTWARE_COUNTERS                                                                          \
    (bit(WEFT_COUNTER_TASK_CLOCK) | bit(WEFT_COUNTER_PAGE_FAULTS) |                                \
     bit(WEFT_COUNTER_CONTEXT_SWITCHES) | bit(WEFT_COUNTER_CPU_MIGRATIONS))

/* ---- the ladder */

PLAIN_TEST(without_the_option_no_counter_is_opened)
{
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, false);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.calls, 0);
    CHECK_U64(c.available, 0);
    CHECK_I64(k.opened, 0);
    check_text(&b, "nothing was counted");
    end_bed(&b, &k);
}

PLAIN_TEST(every_call_gets_what_was_counted_since_the_part_began)
{
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.calls, 5);
    CHECK_U64(c.available, ALL_COUNTERS);
    CHECK_I64(k.reads, 20); /* where a frame or a part begins, after each call, at the end */
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++) CHECK_U64(c.values[i], 5 * 10 * (i + 1));
    check_text(&b, "hardware and software events, by read()");
    check_text(&b, "\nwork ");
    end_bed(&b, &k);
}

PLAIN_TEST(large_counts_and_long_names_fit_the_table)
{
    kernel k;
    kernel_init(&k);
    k.step = UINT64_C(70000000000);
    bed b = begin_bed(&k.os, true);
    CHECK(weft_system_create(b.world, &(weft_system_desc){.name = "of more bytes than a column has",
                                                          .run = nothing})
              .id != 0);
    CHECK_U64(counted(&b).values[WEFT_COUNTER_CYCLES], UINT64_C(350000000000));
    check_text(&b, "\nwork                   5   350G   700G  1050G  1400G");
    check_text(&b, "\nof more bytes than a column has\n                       5   350G");
    end_bed(&b, &k);
}

PLAIN_TEST(a_machine_without_hardware_counters_counts_software_events)
{
    kernel k;
    kernel_init(&k);
    k.hardware_error = ENOENT;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.available, SOFTWARE_COUNTERS);
    CHECK_U64(c.values[WEFT_COUNTER_TASK_CLOCK], 50);
    CHECK_U64(c.values[WEFT_COUNTER_CYCLES], 0);
    check_text(&b, "no hardware counters (ENOENT)");
    check_text(&b, " -");
    end_bed(&b, &k);
}

PLAIN_TEST(an_event_the_processor_does_not_have_is_left_out)
{
    kernel k;
    kernel_init(&k);
    k.error_at = 3; /* the third and all later ones */
    k.at_error = ENOENT;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.available, bit(WEFT_COUNTER_CYCLES) | bit(WEFT_COUNTER_INSTRUCTIONS));
    CHECK_U64(c.values[WEFT_COUNTER_INSTRUCTIONS], 100);
    end_bed(&b, &k);
}

PLAIN_TEST(where_the_kernel_may_not_be_seen_its_events_are_missing_not_zero)
{
    kernel k;
    kernel_init(&k);
    k.needs_user_only = true;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.available, ALL_COUNTERS & ~bit(WEFT_COUNTER_CONTEXT_SWITCHES) &
                               ~bit(WEFT_COUNTER_CPU_MIGRATIONS));
    check_text(&b, "without the kernel's share (kernel.perf_event_paranoid is 2)");
    end_bed(&b, &k);
}

PLAIN_TEST(a_refusal_names_the_setting_that_allows_it)
{
    kernel k;
    kernel_init(&k);
    k.error = EACCES;
    k.paranoid = 4;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.available, 0);
    CHECK_U64(c.calls, 0);
    check_text(&b, "EACCES");
    check_text(&b, "kernel.perf_event_paranoid is 4: sysctl kernel.perf_event_paranoid=2");
    end_bed(&b, &k);
}

PLAIN_TEST(a_refusal_that_no_setting_explains_points_at_the_container)
{
    kernel k;
    kernel_init(&k);
    k.error = EPERM;
    bed b = begin_bed(&k.os, true);
    CHECK_U64(counted(&b).available, 0);
    check_text(&b, "seccomp");
    end_bed(&b, &k);
}

PLAIN_TEST(a_kernel_without_the_call_has_no_counters)
{
    kernel k;
    kernel_init(&k);
    k.error = ENOSYS;
    bed b = begin_bed(&k.os, true);
    CHECK_U64(counted(&b).available, 0);
    check_text(&b, "no event counters");
    end_bed(&b, &k);
}

PLAIN_TEST(out_of_descriptors_nothing_stays_open_and_the_limit_is_named)
{
    for (int at = 1; at <= WEFT_COUNTER_COUNT; at++) {
        kernel k;
        kernel_init(&k);
        k.error_at = at;
        k.at_error = EMFILE;
        bed b = begin_bed(&k.os, true);
        CHECK_U64(counted(&b).available, 0);
        CHECK_I64(k.opened, at - 1);
        CHECK_I64(k.closed, at - 1);
        check_text(&b, "ulimit -n");
        end_bed(&b, &k);
    }
}

PLAIN_TEST(a_group_that_cannot_be_read_is_given_up)
{
    kernel k;
    kernel_init(&k);
    k.fails_to_read = true;
    bed b = begin_bed(&k.os, true);
    CHECK_U64(counted(&b).available, 0);
    CHECK_I64(k.reads, 1);
    check_text(&b, "could not be read");
    end_bed(&b, &k);
}

/* ---- registers, turns */

PLAIN_TEST(registers_are_read_without_a_system_call_per_slice)
{
    kernel k;
    kernel_init(&k);
    k.has_registers = true;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_U64(c.calls, 5);
    CHECK_I64(k.reads, 15); /* one per part, two per frame */
    CHECK_I64(k.register_reads, 5 * 4);
    CHECK_U64(c.available, ALL_COUNTERS & ~SOFTWARE_COUNTERS);
    CHECK_U64(c.values[WEFT_COUNTER_CYCLES], 35);
    CHECK_U64(c.values[WEFT_COUNTER_BRANCH_MISSES], 35);
    check_text(&b, "read from registers");
    end_bed(&b, &k);
}

PLAIN_TEST(a_counter_that_left_its_register_is_read_by_the_kernel)
{
    kernel k;
    kernel_init(&k);
    k.has_registers = true;
    bed b = begin_bed(&k.os, true);
    CHECK_OK(weft_world_step(b.world, 1));
    k.pages[1].index = 0;
    int reads = k.reads;
    CHECK_OK(weft_world_step(b.world, 1));
    CHECK_I64(k.reads, reads + 4);
    end_bed(&b, &k);
}

PLAIN_TEST(counters_that_take_turns_are_scaled_and_leave_the_registers)
{
    kernel k;
    kernel_init(&k);
    k.has_registers = true;
    k.turn = 50;
    bed b = begin_bed(&k.os, true);
    weft_system_counters c = counted(&b);
    CHECK_I64(k.register_reads, 0);
    CHECK_U64(c.values[WEFT_COUNTER_CYCLES], 2 * 50); /* half of the time was not seen */
    end_bed(&b, &k);
}

PLAIN_TEST(a_group_that_never_had_its_turn_has_no_figures)
{
    kernel k;
    kernel_init(&k);
    k.turn = 0;
    bed b = begin_bed(&k.os, true);
    CHECK_U64(counted(&b).available, 0);
    end_bed(&b, &k);
}

/* ---- workers, systems, memory */

/* Two indices that wait for each other run on two workers. */
static void meet(weft_slice *s, void *user)
{
    (void)s;
    weft_a32 *arrived = user;
    at_add_ar(arrived, 1u);
    while (at_load_acq(arrived) % 2 != 0) at_stall();
}

PLAIN_TEST(a_sum_over_a_part_of_the_workers_is_not_shown)
{
    kernel k;
    kernel_init(&k);
    k.has_refused = true;
    k.refused = pthread_self();
    weft_a32 arrived = {0};
    weft_world *world;
    weft_job_pool *pool;
    weft_job_pool_desc pool_desc = {
        .worker_count = 2, .is_always_parallel = true, .trace_file = ""};
    CHECK_OK(weft_job_pool_create(&pool_desc, &pool));
    weft_world_desc desc = {.pool = pool, .os = &k.os};
    CHECK_OK(weft_world_create(&desc, &world));
    CHECK_OK(weft_schedule_set(
        world, &(weft_schedule_desc){.counts_events = true, .is_always_parallel = true}));
    weft_system system = weft_system_create(
        world, &(weft_system_desc){.name = "meet",
                                   .run = meet,
                                   .user = &arrived,
                                   .over = {.kind = WEFT_OVER_COUNT, .count = 2}});
    bed b = {world, system};
    CHECK_OK(weft_world_step(world, 1));
    weft_system_counters c;
    CHECK_OK(weft_system_counters_get(world, system, &c, sizeof c));
    CHECK_U64(c.available, 0);
    CHECK_U64(c.values[WEFT_COUNTER_CYCLES], 0);
    check_text(&b, "none: worker 1: EACCES");
    end_bed(&b, &k);
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(a_new_system_in_the_place_of_an_old_one_begins_at_nothing)
{
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, true);
    CHECK_U64(counted(&b).calls, 5);
    CHECK_OK(weft_system_destroy(b.world, b.system));
    b.system = weft_system_create(b.world, &(weft_system_desc){.name = "next", .run = nothing});
    weft_system_counters c;
    CHECK_OK(weft_system_counters_get(b.world, b.system, &c, sizeof c));
    CHECK_U64(c.calls, 0);
    CHECK_U64(counted(&b).calls, 5);
    end_bed(&b, &k);
}

PLAIN_TEST(switched_off_the_figures_stay_and_nothing_is_read)
{
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, true);
    counted(&b);
    int reads = k.reads;
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){0}));
    weft_system_counters c = counted(&b);
    CHECK_I64(k.reads, reads);
    CHECK_U64(c.calls, 5);
    end_bed(&b, &k);
}

static void count_with(test_memory *memory, uint64_t fail_at)
{
    kernel k;
    kernel_init(&k);
    weft_world_desc desc = {
        .workers = 1, .os = &k.os, .trace_file = "", .allocator = test_memory_hook(memory)};
    bed b;
    CHECK_OK(weft_world_create(&desc, &b.world));
    b.system = weft_system_create(b.world, &(weft_system_desc){.name = "work", .run = nothing});
    CHECK_OK(weft_world_step(b.world, 1));
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){.counts_events = true}));
    test_memory_fail(memory, fail_at, false);
    if (weft_world_step(b.world, 1) != WEFT_OK) CHECK_OK(weft_world_step(b.world, 1));
    CHECK_OK(weft_world_step(b.world, 1));
    weft_system_counters c;
    CHECK_OK(weft_system_counters_get(b.world, b.system, &c, sizeof c));
    CHECK(c.calls >= 1); /* a step without memory does not count; the next one does */
    test_memory_fail(memory, 0, false);
    end_bed(&b, &k);
}

PLAIN_TEST(a_step_without_memory_for_counters_runs_uncounted)
{
    bool has_failed = true;
    for (uint64_t fail_at = 1; has_failed; fail_at++) {
        test_memory memory;
        test_memory_init(&memory);
        count_with(&memory, fail_at);
        has_failed = memory.failures != 0;
        test_memory_fini(&memory);
        CHECK(fail_at < 100);
    }
}

PLAIN_TEST(the_environment_asks_for_software_events_only)
{
    kernel k;
    kernel_init(&k);
    setenv("WEFT_COUNTERS", "software", 1);
    bed b = begin_bed(&k.os, false);
    unsetenv("WEFT_COUNTERS");
    CHECK_U64(counted(&b).available, SOFTWARE_COUNTERS);
    CHECK_I64(k.opened, 4);
    check_text(&b, "as asked for");
    end_bed(&b, &k);
}

PLAIN_TEST(a_share_of_the_frames_is_counted_and_told)
{
    kernel k;
    kernel_init(&k);
    setenv("WEFT_COUNTERS", "1", 1);
    setenv("WEFT_COUNTERS_SHARE", "1", 1);
    bed b = begin_bed(&k.os, false);
    unsetenv("WEFT_COUNTERS");
    unsetenv("WEFT_COUNTERS_SHARE");
    for (int i = 0; i < 995; i++) CHECK_OK(weft_world_step(b.world, 0));
    weft_system_counters c = counted(&b);
    CHECK(c.calls > 1 && c.calls < 1000);
    CHECK_U64(c.values[0], c.calls * 10); /* read before the call, too */
    char told[64];
    snprintf(told, sizeof told, "counted: %llu of 1000 frames, 1 %%", (unsigned long long)c.calls);
    check_text(&b, told);
    check_text(&b, "\n(engine) ");
    end_bed(&b, &k);
}

/* Calls of the row `name` of the table, and whether it counted anything. */
static uint64_t calls_of(const bed *b, const char *name)
{
    char text[4096], row[32];
    weft_schedule_counters(b->world, text, sizeof text);
    snprintf(row, sizeof row, "\n%s ", name);
    const char *line = strstr(text, row);
    CHECK(line != NULL);
    unsigned long long calls = 0, cycles = 0;
    CHECK_I64(sscanf(line + strlen(row), "%llu %llu", &calls, &cycles), 2);
    CHECK((calls != 0) == (cycles != 0));
    return calls;
}

static void make_one(weft_slice *s, void *user)
{
    weft_recorder_create_entity(weft_slice_recorder(s), *(weft_archetype *)user);
}

static void see(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static weft_result drop(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return WEFT_OK;
}

PLAIN_TEST(what_the_engine_does_has_a_row_each)
{
    static const char *const rows[] = {"(playback)", "(relations)", "(observers)", "(hashing)"};
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, true);
    counted(&b);
    for (int i = 0; i < 4; i++) CHECK_U64(calls_of(&b, rows[i]), 0);
    weft_component parent = weft_component_parent(b.world);
    weft_archetype archetype = WEFT_ARCHETYPE(b.world, parent);
    weft_system_create(b.world, &(weft_system_desc){.name = "make",
                                                    .run = make_one,
                                                    .user = &archetype,
                                                    .effects = WEFT_RECORDS_CREATE});
    weft_observer_create(
        b.world,
        &(weft_observer_desc){.name = "see", .on = WEFT_ON_ADDED, .component = parent, .run = see});
    CHECK_OK(weft_state_log_begin(b.world, &(weft_state_log_desc){.writer.write = drop}));
    counted(&b);
    CHECK_U64(calls_of(&b, "(playback)"), 5);
    CHECK_U64(calls_of(&b, "(relations)"), 10); /* before the stages, and at the end */
    CHECK_U64(calls_of(&b, "(observers)"), 5);
    CHECK(calls_of(&b, "(hashing)") >= 10);
    char text[16384];
    CHECK(weft_schedule_json(b.world, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "{\"name\": \"playback\", \"time_ns\": 0, \"counters\": {\"calls\": 5, ") !=
          NULL);
    end_bed(&b, &k);
}

PLAIN_TEST(the_exported_schedule_holds_the_counters_there_are)
{
    kernel k;
    kernel_init(&k);
    k.hardware_error = EOPNOTSUPP;
    bed b = begin_bed(&k.os, true);
    counted(&b);
    char text[4096];
    CHECK(weft_schedule_json(b.world, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "\"counters\": {\"calls\": 5, \"task_clock_ns\": 50, \"page_faults\": 100, "
                       "\"context_switches\": 150, \"cpu_migrations\": 200}") != NULL);
    end_bed(&b, &k);
}

PLAIN_TEST(bad_handles_are_told)
{
    kernel k;
    kernel_init(&k);
    bed b = begin_bed(&k.os, true);
    weft_system_counters c;
    CHECK_RESULT(weft_system_counters_get(NULL, b.system, &c, sizeof c), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_system_counters_get(b.world, b.system, NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "weft_system_counters_get: out") != NULL);
    CHECK_RESULT(weft_system_stats_get(b.world, b.system, NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "weft_system_stats_get: out") != NULL);
    CHECK_RESULT(weft_system_counters_get(b.world, (weft_system){999}, &c, sizeof c),
                 WEFT_BAD_HANDLE);
    end_bed(&b, &k);
}

/* ---- the real kernel */

#define FAULTS 64

static void touch(weft_slice *s, void *user)
{
    (void)s;
    char *pages = user;
    for (int i = 0; i < FAULTS; i++) pages[i * 4096] = 1;
}

PLAIN_TEST(the_real_kernel_counts_page_faults_or_says_why_not)
{
    char *pages =
        mmap(NULL, FAULTS * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .trace_file = ""}, &world));
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.counts_events = true}));
    weft_system system =
        weft_system_create(world, &(weft_system_desc){.name = "t", .run = touch, .user = pages});
    bed b = {world, system};
    CHECK_OK(weft_world_step(world, 1));
    weft_system_counters c;
    CHECK_OK(weft_system_counters_get(world, system, &c, sizeof c));
    if ((c.available & bit(WEFT_COUNTER_PAGE_FAULTS)) != 0) {
        uint64_t first = c.values[WEFT_COUNTER_PAGE_FAULTS];
        CHECK(first >= FAULTS); /* more where a sanitizer's shadow has pages of its own */
        CHECK(c.values[WEFT_COUNTER_TASK_CLOCK] > 0);
        CHECK_OK(weft_world_step(world, 1)); /* now the pages are there */
        CHECK_OK(weft_system_counters_get(world, system, &c, sizeof c));
        CHECK(c.values[WEFT_COUNTER_PAGE_FAULTS] - first < FAULTS / 2);
    } else if (c.available == 0) {
        check_text(&b, "none: ");
    } else {
        check_text(&b, "registers");
    }
    end_bed(&b, NULL);
    munmap(pages, FAULTS * 4096);
}
