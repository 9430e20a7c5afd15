/* SPDX-License-Identifier: MIT */
/* test_systems.c: what a system may be and where it runs: descriptions that cannot be right,
 * orders of systems and groups, flags, sizes asked at run time, resources. Further queries and
 * calls back: test_step_errors.c. */
#include "systems_bed.h"

#include <math.h>
#include <pthread.h>

/* ---- descriptions ---- */

static void refuse(weft_result code, const char *word, const weft_system_desc *desc)
{
    CHECK_U64(weft_system_create(t.world, desc).id, 0);
    check_error(code, word);
}

static void bad_descriptions(void)
{
    const weft_result bad = WEFT_INVALID_ARGUMENT;
    const uint32_t unknown = 1u << 20;
    weft_query writer =
        weft_query_create(t.world, &(weft_query_desc){.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    refuse(bad, "flags", SYSTEM(.flags = unknown));
    refuse(bad, "effects", SYSTEM(.effects = unknown));
    refuse(bad, "period", SYSTEM(.period = -1));
    refuse(bad, "period", SYSTEM(.period = NAN));
    refuse(bad, "period", SYSTEM(.period = INFINITY));
    refuse(bad, "BACKGROUND", SYSTEM(.flags = WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_EXCLUSIVE));
    refuse(bad, "over.kind", SYSTEM(.over = {.kind = WEFT_OVER_RANGE + 1}));
    refuse(bad, "over.count", SYSTEM(.over = {.kind = WEFT_OVER_COUNT}));
    refuse(bad, "over.range", SYSTEM(.over = {.kind = WEFT_OVER_RANGE}));
    refuse(WEFT_BAD_HANDLE, "query", SYSTEM(.over = {.kind = WEFT_OVER_QUERY}));
    refuse(bad, "skips_unchanged", SYSTEM(.skips_unchanged = true));
    refuse(bad, "WEFT_READ",
           SYSTEM(.skips_unchanged = true, .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}));
    refuse(bad, "effects", SYSTEM(.records = {t.a}));
    refuse(bad, "WEFT_RECORDS_DESTROY", SYSTEM(.destroys = {t.a}, .effects = WEFT_RECORDS_CREATE));
    refuse(WEFT_BAD_HANDLE, "destroys",
           SYSTEM(.destroys = {{999}}, .effects = WEFT_RECORDS_DESTROY));
    refuse(bad, "access", SYSTEM(.lookups = {{t.a, WEFT_NO_ACCESS}}));
    refuse(bad, "SERIAL",
           SYSTEM(.queries = {writer}, .over = {.kind = WEFT_OVER_COUNT, .count = 2}));
    refuse(WEFT_BAD_HANDLE, "terms",
           SYSTEM(.over.rows.terms = {{.access = WEFT_READ}, {t.a, WEFT_READ, 0, 0}}));
    refuse(WEFT_BAD_HANDLE, "lookups",
           SYSTEM(.lookups = {{.access = WEFT_READ}, {t.a, WEFT_READ}}));
    refuse(WEFT_BAD_HANDLE, "resources",
           SYSTEM(.resources = {{.access = WEFT_READ}, {t.resource, WEFT_READ}}));
    refuse(WEFT_BAD_HANDLE, "records", SYSTEM(.records = {{0}, t.a}, .effects = WEFT_RECORDS_ADD));
    refuse(WEFT_BAD_HANDLE, "queries", SYSTEM(.queries = {{0}, t.all}));
    refuse(bad, "63 bytes", SYSTEM(.before = {""}));
    refuse(bad, "63 bytes", SYSTEM(.group = ""));
    refuse(WEFT_TYPE_MISMATCH, "SHARED", SYSTEM(.lookups = {{t.shared, WEFT_READ}}));
    refuse(WEFT_TYPE_MISMATCH, "tags", SYSTEM(.lookups = {{t.tag, WEFT_READ}}));
    refuse(WEFT_TYPE_MISMATCH, "resources", SYSTEM(.lookups = {{t.resource, WEFT_READ}}));
    refuse(WEFT_TYPE_MISMATCH, "RESOURCE", SYSTEM(.resources = {{t.a, WEFT_READ}}));
    refuse(WEFT_BAD_HANDLE, "records", SYSTEM(.records = {{999}}, .effects = WEFT_RECORDS_ADD));
    refuse(WEFT_BAD_HANDLE, "query", SYSTEM(.over = {.kind = WEFT_OVER_QUERY, .query = {999}}));
    refuse(WEFT_BAD_HANDLE, "query", SYSTEM(.queries = {{999}}));
    CHECK(make(SYSTEM(.queries = {writer}, .flags = WEFT_SYSTEM_SERIAL)).id != 0);
    refuse(WEFT_ALREADY_EXISTS, "use another name", SYSTEM(.user = NULL));
    CHECK_RESULT(weft_query_destroy(t.world, writer), WEFT_BUSY);
    CHECK_OK(weft_world_step(t.world, 0));
}

PLAIN_TEST(a_description_that_cannot_be_right_says_why_and_leaves_nothing_behind)
{
    on_workers(bad_descriptions);
}

static void bad_times(void)
{
    const float bad[] = {-1, NAN, INFINITY, -INFINITY};
    weft_system system = make(SYSTEM(.period = 0.5f));
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_RESULT(weft_world_step(t.world, bad[i]), WEFT_INVALID_ARGUMENT);
        CHECK_RESULT(weft_system_run(t.world, system, bad[i]), WEFT_INVALID_ARGUMENT);
        check_error(WEFT_INVALID_ARGUMENT, "dt");
        CHECK(i == 3 || weft_group_set(
                            t.world, &(weft_group_desc){.name = "g", .period = bad[i]}) != WEFT_OK);
    }
    CHECK_OK(weft_world_step(t.world, 3e38f));
    CHECK_OK(weft_world_step(t.world, 0));
    weft_system_stats stats;
    CHECK_OK(weft_system_stats_get(t.world, system, &stats, sizeof stats));
    CHECK_U64(stats.runs, 8); /* caught up by 8 at most; the rest is forgotten */
}

PLAIN_TEST(a_step_of_no_or_endless_time_is_refused_and_a_very_long_one_is_not_caught_up)
{
    on_workers(bad_times);
}

/* ---- order ---- */

static char order[64];

static void note(weft_slice *s, void *user)
{
    const char *letter = user;
    (void)s;
    order[strlen(order)] = *letter;
}

static void add(const char *name, const char *group, const char *before, const char *after)
{
    make(&(weft_system_desc){.name = name,
                             .run = note,
                             .user = (void *)(uintptr_t)name,
                             .group = group,
                             .before = {before},
                             .after = {after},
                             .resources = {{t.resource, WEFT_WRITE}}});
}

static void check_order(const char *expected)
{
    memset(order, 0, sizeof order);
    CHECK_OK(weft_world_step(t.world, 0.25f));
    CHECK_TEXT(order, expected);
}

/* Systems that touch nothing that the schedule knows: their user is their letter. */
static weft_system add_unseen(const char *name, const char *group, const char *after,
                              uint32_t flags)
{
    return make(&(weft_system_desc){.name = name,
                                    .run = note,
                                    .user = (void *)(uintptr_t)name,
                                    .group = group,
                                    .after = {after},
                                    .flags = flags});
}

/* d is in a later group, c waits for b: without the order of groups d would run beside a. */
static void order_unseen(uint32_t flags, uint32_t last_flags)
{
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "late", .after = {"empty"}}));
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "empty", .after = {"default"}}));
    add_unseen("d", "late", NULL, last_flags);
    add_unseen("c", NULL, "b", flags);
    add_unseen("b", NULL, "a", flags);
    add_unseen("a", NULL, NULL, flags);
    check_order("abcd");
}

static void main_thread_systems(void)
{
    order_unseen(WEFT_SYSTEM_MAIN_THREAD, WEFT_SYSTEM_MAIN_THREAD);
}

static void systems_without_terms(void)
{
    order_unseen(0, 0);
}

static void exclusive_and_other_systems(void)
{
    order_unseen(0, WEFT_SYSTEM_EXCLUSIVE);
    add_unseen("e", "later", "late", WEFT_SYSTEM_MAIN_THREAD);
    check_order("abcde");
}

static void a_system_after_a_group(void)
{
    add_unseen("d", "other", "default", 0); /* names a group, not a system */
    add_unseen("c", NULL, "b", 0);
    add_unseen("b", NULL, NULL, WEFT_SYSTEM_MAIN_THREAD);
    check_order("bcd");
}

static void add_seen(const char *group, const char *after)
{
    make(&(weft_system_desc){.name = "x",
                             .run = nothing,
                             .group = group,
                             .after = {after},
                             .over.rows.terms = {{t.a, WEFT_READ}}});
}

static void a_way_through_a_system_with_terms(void)
{
    add_seen("middle", "default");
    add_unseen("d", "other", "x", 0);
    add_unseen("c", NULL, "b", 0);
    add_unseen("b", NULL, "a", 0);
    add_unseen("a", NULL, NULL, 0);
    check_order("abcd");
}

PLAIN_TEST(groups_order_what_the_schedule_cannot_see)
{
    on_workers(main_thread_systems);
    on_workers(systems_without_terms);
    on_workers(exclusive_and_other_systems);
    on_workers(a_system_after_a_group);
    on_workers(a_way_through_a_system_with_terms);
}

static void check_explained(const char *name, const char *part)
{
    char text[400];
    weft_system system = weft_system_find(t.world, name);
    weft_schedule_explain(t.world, system, system, text, sizeof text);
    if (strstr(text, part) == NULL) CHECK_TEXT(text, part);
}

static void groups_leave_the_rest_alone(void)
{
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "late", .after = {"default"}}));
    add_seen("late", NULL);
    add_unseen("c", NULL, "b", 0);
    add_unseen("b", NULL, NULL, 0);
    check_order("bc");
    check_explained("c", "it is in stage 1\n");
    check_explained("x", "it is in stage 0\n"); /* has terms: beside b */
}

PLAIN_TEST(systems_with_terms_wait_for_groups_only_where_they_collide)
{
    on_workers(groups_leave_the_rest_alone);
}

static void a_group_that_comes_later(void)
{
    add_unseen("a", NULL, "g", 0);
    check_order("a");
    add_unseen("c", "g", "b", 0);
    check_order("ca");
    add_unseen("b", "g", NULL, 0);
    check_order("bca");
}

PLAIN_TEST(an_order_waits_for_the_group_that_it_names)
{
    on_workers(a_group_that_comes_later);
}

static void orders(void)
{
    add("a", "late", NULL, NULL);
    add("b", "early", NULL, NULL);
    add("c", NULL, "b", NULL);
    add("d", "early", NULL, NULL);
    check_order("acbd"); /* registration, but for one name */
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "early", .before = {"late"}}));
    check_order("cbda"); /* the group of b and d comes first */
    add("e", NULL, "early", "c");
    check_order("cebda");
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "c")));
    check_order("ebda"); /* e still names c: that order waits for it */
    check_explained("e", "after 'c' waits");
    add("c", NULL, NULL, NULL);
    check_order("cebda");
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "late", .before = {"early"}}));
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "early"}));
    check_order("aceb"
                "d");
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "early", .before = {"late"}}));
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_CYCLE);
    check_error(WEFT_CYCLE, "group late -> group early -> group late");
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "late"}));
    CHECK_OK(weft_group_set(
        t.world, &(weft_group_desc){.name = "early", .before = {"late"}, .is_disabled = true}));
    check_order("cea");
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "early", .period = 0.5f}));
    check_order("ace");
    check_order("aceb"
                "d");
}

PLAIN_TEST(systems_and_groups_run_in_their_order_and_groups_have_rates_and_switches)
{
    on_workers(orders);
}

PLAIN_TEST(a_system_before_itself_and_a_group_before_itself_are_cycles)
{
    begin(1);
    add("a", NULL, "a", NULL);
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_CYCLE);
    check_error(WEFT_CYCLE, "a -> a");
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "a")));
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "g", .after = {"g"}}));
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_CYCLE);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "g"}));
    CHECK_OK(weft_world_step(t.world, 0));
    end();
}

PLAIN_TEST(systems_come_and_go_and_their_handles_never_come_back)
{
    begin(1);
    weft_system first = make(SYSTEM(.user = NULL)), last = first;
    for (uint32_t i = 0; i < 70000; i++) { /* more than a generation has numbers */
        CHECK_OK(weft_system_destroy(t.world, last));
        last = make(SYSTEM(.user = NULL));
        CHECK(last.id != first.id && last.id != 0);
    }
    CHECK_RESULT(weft_system_enable(t.world, first, false), WEFT_BAD_HANDLE);
    CHECK_OK(weft_world_step(t.world, 0));
    end();
}

/* ---- flags ---- */

static pthread_t owner;
static weft_a32 x_strangers, x_calls;

static void where(weft_slice *s, void *user)
{
    (void)user;
    (void)s;
    at_add_rlx(&x_calls, 1u);                                                /* relaxed: counts */
    if (!pthread_equal(pthread_self(), owner)) at_add_rlx(&x_strangers, 1u); /* relaxed: counts */
}

static void main_thread(void)
{
    owner = pthread_self();
    at_store_rlx(&x_strangers, 0u); /* relaxed: no system runs */
    at_store_rlx(&x_calls, 0u);     /* relaxed: no system runs */
    for (uint32_t i = 0; i < 6; i++) {
        const weft_system_over over[] = {{.kind = WEFT_OVER_ROWS},
                                         {.kind = WEFT_OVER_COUNT, .count = 5},
                                         {.kind = WEFT_OVER_QUERY, .query = t.all}};
        const uint32_t kinds[] = {WEFT_SYSTEM_MAIN_THREAD, WEFT_SYSTEM_EXCLUSIVE};
        char name[2] = {(char)('a' + i), 0};
        make(&(weft_system_desc){
            .name = name, .run = where, .flags = kinds[i % 2], .over = over[i % 3]});
    }
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK(at_load_rlx(&x_calls) >= 6 + 2 * 4); /* relaxed: no system runs */
    CHECK_U64(at_load_rlx(&x_strangers), 0);   /* relaxed: no system runs */
}

PLAIN_TEST(systems_of_the_main_thread_and_exclusive_ones_run_on_the_thread_that_steps)
{
    on_workers(main_thread);
}

static void every_flag(void)
{
    const uint32_t flags[] = {0,
                              WEFT_SYSTEM_SERIAL,
                              WEFT_SYSTEM_MAIN_THREAD,
                              WEFT_SYSTEM_EXCLUSIVE,
                              WEFT_SYSTEM_BACKGROUND,
                              WEFT_SYSTEM_NOT_FUSED,
                              WEFT_SYSTEM_WHOLE_CHUNKS,
                              WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_SERIAL};
    for (uint32_t i = 0; i < 8; i++) {
        char name[2] = {(char)('a' + i), 0};
        weft_a32 x_slices = {0};
        weft_system system =
            make(&(weft_system_desc){.name = name,
                                     .run = add_one,
                                     .user = &x_slices,
                                     .flags = flags[i],
                                     .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
        CHECK_OK(weft_world_step(t.world, 0));
        check_values(2 * i + 1);
        uint32_t slices = at_load_rlx(&x_slices); /* relaxed: no system runs */
        weft_world_stats stats;
        weft_world_stats_get(t.world, &stats, sizeof stats);
        bool is_whole = (flags[i] & WEFT_SYSTEM_WHOLE_CHUNKS) != 0;
        CHECK_U64(slices, is_whole ? stats.chunks : stats.slices);
        CHECK_OK(weft_system_run(t.world, system, 0)); /* outside the schedule, too */
        check_values(2 * i + 2);
        CHECK_OK(weft_system_destroy(t.world, system));
    }
}

PLAIN_TEST(every_flag_sees_every_row_once_in_a_step_and_when_run_alone)
{
    on_workers(every_flag);
}

static void three_ways(void)
{
    weft_a32 x_slices = {0};
    make(&(weft_system_desc){.name = "writes",
                             .run = add_one,
                             .user = &x_slices,
                             .flags = WEFT_SYSTEM_BACKGROUND,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "again",
                             .run = add_one,
                             .user = &x_slices,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "apart",
                             .run = add_one,
                             .user = &x_slices,
                             .over.rows.terms = {{t.b, WEFT_WRITE, 0, 0}}});
    for (uint32_t i = 1; i <= 5; i++) {
        CHECK_OK(weft_world_step(t.world, 0));
        check_values(
            2 * i); /* background work is joined before the system that needs it, and in its step */
    }
    weft_frame_stats stats;
    weft_frame_stats_get(t.world, &stats, sizeof stats);
    CHECK_U64(stats.stages, 2); /* "apart" does not wait */
}

PLAIN_TEST(background_systems_are_joined_before_whoever_needs_them)
{
    on_workers(three_ways);
}

static uint32_t ask_rows(weft_world *world, void *user)
{
    const bed *b = user;
    return (uint32_t)weft_query_count(world, b->all);
}

static void count_index(weft_slice *s, void *user)
{
    weft_a64 *x_sum = user;
    at_add_rlx(x_sum, (uint64_t)s->index + 1); /* relaxed: counts */
}

/* ---- steps on other threads ---- */

static void *step_here(void *unused)
{
    CHECK_OK(weft_world_step(t.world, 0));
    return unused;
}

static void step_elsewhere(void)
{
    enum { COUNT = 2000 };
    weft_a64 x_sum = {0};
    pthread_t thread;
    make(&(weft_system_desc){.name = "x",
                             .run = count_index,
                             .user = &x_sum,
                             .over = {.kind = WEFT_OVER_COUNT, .count = COUNT},
                             .flags = WEFT_SYSTEM_BACKGROUND});
    for (uint32_t i = 1; i <= 20; i++) {
        CHECK(pthread_create(&thread, NULL, step_here, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_U64(at_load_rlx(&x_sum), i * UINT64_C(2001000)); /* relaxed: no system runs */
    }
}

PLAIN_TEST(a_step_on_a_thread_that_cannot_wait_leaves_no_background_work)
{
    on_workers(step_elsewhere);
}

/* ---- ranges ---- */

static void ranges(void)
{
    weft_a64 x_sum = {0};
    make(&(weft_system_desc){.name = "x",
                             .run = count_index,
                             .user = &x_sum,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 10}});
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(at_load_rlx(&x_sum), 55); /* relaxed: no system runs */
}

PLAIN_TEST(a_range_calls_every_index_once)
{
    on_workers(ranges);
}

static weft_a64 x_indices;

static void count_asked(weft_slice *s, void *user)
{
    (void)user;
    (void)s;
    at_add_rlx(&x_indices, UINT64_C(1)); /* relaxed: counts */
}

static void asked_ranges(void)
{
    const uint32_t flags[] = {0, WEFT_SYSTEM_MAIN_THREAD, WEFT_SYSTEM_BACKGROUND};
    for (uint32_t i = 0; i < 3; i++) {
        at_store_rlx(&x_indices, UINT64_C(0)); /* relaxed: no system runs */
        make(&(weft_system_desc){.name = "y",
                                 .run = count_asked,
                                 .user = &t,
                                 .over = {.kind = WEFT_OVER_RANGE, .range = ask_rows},
                                 .flags = flags[i]});
        CHECK_OK(weft_world_step(t.world, 0));
        uint64_t rows = weft_query_count(t.world, t.all);
        CHECK_U64(at_load_rlx(&x_indices), rows); /* relaxed: no system runs */
        CHECK_OK(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.a), 100,
                                         NULL)); /* structure changes */
        CHECK_OK(weft_world_step(t.world, 0));
        CHECK_U64(at_load_rlx(&x_indices), 2 * rows + 100); /* relaxed: no system runs */
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "y")));
    }
}

PLAIN_TEST(the_size_of_a_range_may_come_from_a_query_though_structure_has_changed)
{
    on_workers(asked_ranges);
}

static void write_resource(weft_slice *s, void *user)
{
    (void)user;
    ++*(uint32_t *)weft_slice_write_resource(s, t.resource);
}

static void read_resource(weft_slice *s, void *user)
{
    uint32_t *seen = user;
    *seen = *(const uint32_t *)weft_slice_read_resource(s, t.resource);
}

static void resources(void)
{
    uint32_t seen[3] = {0};
    make(SYSTEM_OF(write_resource, .resources = {{t.resource, WEFT_WRITE}}));
    for (uint32_t i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), 0};
        make(&(weft_system_desc){.name = name,
                                 .run = read_resource,
                                 .user = &seen[i],
                                 .resources = {{t.resource, WEFT_READ}}});
    }
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_OK(weft_world_step(t.world, 0));
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(seen[i], 2);
    CHECK_U64(*(const uint32_t *)weft_resource_read(t.world, t.resource), 2);
    weft_frame_stats stats;
    weft_frame_stats_get(t.world, &stats, sizeof stats);
    CHECK_U64(stats.stages, 2); /* readers run side by side */
}

PLAIN_TEST(a_resource_is_written_before_it_is_read_and_readers_run_together)
{
    on_workers(resources);
}

/* ---- what is hidden ---- */

static void count_rows(weft_slice *s, void *user)
{
    at_add_rlx((weft_a64 *)user, weft_slice_count(s)); /* relaxed: a count */
}

static weft_component hiding;

static void hide(weft_slice *s, void *user)
{
    bool *is_shown = user;
    weft_recorder *commands = weft_slice_recorder(s);
    CHECK_OK(*is_shown ? weft_recorder_remove(commands, t.rows[0], hiding)
                       : weft_recorder_add(commands, t.rows[0], hiding));
}

static void hidden_rows(void)
{
    const weft_component tags[] = {weft_component_prefab(t.world),
                                   weft_component_inactive(t.world)};
    for (uint32_t i = 0; i < 2; i++) {
        weft_a64 x_rows = {0};
        bool is_shown = false;
        hiding = tags[i];
        make(SYSTEM_OF(hide, .user = &is_shown, .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE,
                       .records = {hiding}));
        make(&(weft_system_desc){.name = "y",
                                 .run = count_rows,
                                 .user = &x_rows,
                                 .over.rows.terms = {{t.b, WEFT_READ, 0, 0}}});
        CHECK_OK(weft_world_step(t.world, 0));
        CHECK_U64(at_plain(&x_rows), ROWS - 1);
        is_shown = true;
        CHECK_OK(weft_world_step(t.world, 0));
        CHECK_U64(at_plain(&x_rows), 2 * ROWS - 1);
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "x")));
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "y")));
    }
}

PLAIN_TEST(what_hides_an_entity_is_played_before_systems_that_leave_hidden_ones_out)
{
    on_workers(hidden_rows);
}

/* ---- what ends residues ---- */

static weft_entity residue;
static weft_component held;

static void give_back(weft_slice *s, void *user)
{
    (void)user;
    CHECK_OK(weft_recorder_remove(weft_slice_recorder(s), residue, held));
}

/* Systems over them name no component that is removed; the second one destroys something, too. */
static void ended_rows(void)
{
    const uint32_t effects[] = {0, WEFT_RECORDS_DESTROY};
    held = weft_component_create_plain(t.world, "held", 4, 4, WEFT_CLEANUP);
    weft_query without = weft_query_create(
        t.world, &(weft_query_desc){.terms = {{t.b, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    for (uint32_t i = 0; i < 2; i++) {
        weft_a64 x_rows = {0};
        residue = weft_entity_create(t.world, WEFT_ARCHETYPE(t.world, held));
        CHECK_OK(weft_entity_destroy(t.world, residue));
        uint64_t count = weft_query_count(t.world, without);
        make(SYSTEM_OF(give_back, .effects = WEFT_RECORDS_REMOVE | effects[i], .records = {held},
                       .destroys = {effects[i] != 0 ? t.b : (weft_component){0}}));
        make(&(weft_system_desc){.name = "y",
                                 .run = count_rows,
                                 .user = &x_rows,
                                 .over.rows.terms = {{t.b, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
        CHECK_OK(weft_world_step(t.world, 0));
        CHECK_U64(at_plain(&x_rows), count - 1);
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "x")));
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "y")));
    }
    CHECK_OK(weft_query_destroy(t.world, without));
}

PLAIN_TEST(what_ends_a_residue_is_played_before_systems_that_could_see_it)
{
    on_workers(ended_rows);
}
