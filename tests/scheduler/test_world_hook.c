/* SPDX-License-Identifier: MIT */
/* test_world_hook.c: hooks of worlds: when they are called, what they may do, and how they end. */
#include <weft/weft.h>

#include <stdio.h>
#include <string.h>

#include "plain.h"

/* What a hook has seen. Owner: one test. */
typedef struct seen {
    uint32_t steps, ends;
    weft_world_hook *removes;
    bool fails;
} seen;

static void stepped(weft_world *world, void *user)
{
    seen *s = user;
    s->steps++;
    if (s->fails) {
        CHECK(weft_query_create(world, NULL).id == 0);
        CHECK_RESULT(weft_world_error(world)->code, WEFT_INVALID_ARGUMENT);
    }
    if (s->removes != NULL) CHECK_OK(weft_world_hook_remove(world, s->removes));
}

static void ended(weft_world *world, void *user)
{
    seen *s = user;
    CHECK(weft_world_frame(world).number != 0);
    s->ends++;
}

static weft_world *world_of_one(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    return world;
}

PLAIN_TEST(a_hook_is_called_once_a_step_and_once_at_the_end)
{
    seen s = {0};
    weft_world *world = world_of_one();
    weft_world_hook hook = {stepped, ended, &s};
    CHECK_OK(weft_world_hook_add(world, &hook));
    CHECK_RESULT(weft_world_hook_add(world, &hook), WEFT_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_step(world, 0.5f));
    CHECK_RESULT(weft_world_step(world, -1), WEFT_INVALID_ARGUMENT); /* was no step */
    CHECK_U64(s.steps, 3);
    CHECK_OK(weft_world_destroy(world));
    CHECK_U64(s.ends, 1);
}

PLAIN_TEST(a_hook_may_remove_itself_and_the_next_one_is_called)
{
    seen first = {0}, second = {0};
    weft_world *world = world_of_one();
    weft_world_hook a = {stepped, ended, &first}, b = {stepped, ended, &second};
    CHECK_OK(weft_world_hook_add(world, &a));
    CHECK_OK(weft_world_hook_add(world, &b));
    first.removes = &a;
    CHECK_OK(weft_world_step(world, 0));
    CHECK_OK(weft_world_step(world, 0));
    CHECK(first.steps == 1 && second.steps == 2);
    CHECK_RESULT(weft_world_hook_remove(world, &a), WEFT_NOT_FOUND);
    CHECK_OK(weft_world_destroy(world));
    CHECK(first.ends == 0 && second.ends == 1);
}

/* A hook that takes itself away and adds itself again in each call. */
typedef struct returning {
    weft_world_hook hook;
    uint32_t calls;
} returning;

static void returns(weft_world *world, void *user)
{
    returning *self = user;
    CHECK(++self->calls < 1000); /* goes on */
    CHECK_OK(weft_world_hook_remove(world, &self->hook));
    CHECK_OK(weft_world_hook_add(world, &self->hook));
}

PLAIN_TEST(a_hook_that_a_hook_adds_is_called_from_the_next_step_on)
{
    for (uint32_t count = 1; count <= 3; count++) {
        seen last = {0};
        returning hooks[3];
        weft_world_hook other = {stepped, ended, &last};
        weft_world *world = world_of_one();
        for (uint32_t i = 0; i < count; i++) {
            hooks[i] = (returning){.hook = {.stepped = returns, .user = &hooks[i]}};
            CHECK_OK(weft_world_hook_add(world, &hooks[i].hook));
        }
        CHECK_OK(weft_world_hook_add(world, &other));
        for (uint32_t step = 1; step <= 5; step++) {
            CHECK_OK(weft_world_step(world, 0));
            for (uint32_t i = 0; i < count; i++) CHECK_U64(hooks[i].calls, step);
            CHECK_U64(last.steps, step);
        }
        CHECK_OK(weft_world_destroy(world));
    }
}

static weft_world_hook brought; /* what a hook adds, and the next one takes away again */
static weft_world_hook stays;   /* added by a third */

static void brings(weft_world *world, void *user)
{
    (void)user;
    CHECK_OK(weft_world_hook_add(world, &brought));
}

static void takes(weft_world *world, void *user)
{
    (void)user;
    CHECK_OK(weft_world_hook_remove(world, &brought));
}

static void brings_one_that_stays(weft_world *world, void *user)
{
    uint32_t *steps = user;
    if ((*steps)++ == 0) CHECK_OK(weft_world_hook_add(world, &stays));
}

PLAIN_TEST(a_hook_that_came_and_went_in_one_step_ends_no_list)
{
    seen s = {0}, between = {0}, last = {0};
    uint32_t steps = 0;
    brought = (weft_world_hook){stepped, ended, &s};
    stays = (weft_world_hook){stepped, ended, &last};
    weft_world_hook a = {.stepped = brings}, b = {.stepped = takes};
    weft_world_hook c = {.stepped = brings_one_that_stays, .user = &steps};
    weft_world_hook d = {stepped, ended, &between}; /* behind it comes the one that stays */
    weft_world *world = world_of_one();
    CHECK_OK(weft_world_hook_add(world, &a));
    CHECK_OK(weft_world_hook_add(world, &b));
    CHECK_OK(weft_world_hook_add(world, &c));
    CHECK_OK(weft_world_hook_add(world, &d));
    for (uint32_t step = 1; step <= 3; step++) {
        CHECK_OK(weft_world_step(world, 0));
        CHECK(s.steps == 0 && steps == step && last.steps == step - 1); /* from the next step on */
    }
    CHECK_OK(weft_world_destroy(world));
}

static void returns_at_the_end(weft_world *world, void *user)
{
    CHECK_RESULT(weft_world_hook_add(world, user), WEFT_WRONG_PHASE);
}

PLAIN_TEST(a_hook_is_not_added_to_a_world_that_ends)
{
    weft_world *world = world_of_one();
    weft_world_hook hook = {.ended = returns_at_the_end, .user = &hook};
    CHECK_OK(weft_world_hook_add(world, &hook));
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_hook_may_remove_any_other_and_those_behind_are_called)
{
    for (uint32_t removed = 0; removed < 4; removed++) {
        for (uint32_t by = 0; by < 4; by++) {
            seen s[4] = {{0}};
            weft_world_hook hooks[4];
            weft_world *world = world_of_one();
            for (uint32_t i = 0; i < 4; i++) {
                hooks[i] = (weft_world_hook){stepped, ended, &s[i]};
                CHECK_OK(weft_world_hook_add(world, &hooks[i]));
            }
            s[by].removes = &hooks[removed];
            CHECK_OK(weft_world_step(world, 0));
            for (uint32_t i = 0; i < 4; i++) CHECK_U64(s[i].steps, i != removed || removed <= by);
            s[by].removes = NULL;
            CHECK_OK(weft_world_step(world, 0));
            CHECK_OK(weft_world_destroy(world));
            for (uint32_t i = 0; i < 4; i++) CHECK_U64(s[i].ends, i != removed);
        }
    }
}

static void remove_at_the_end(weft_world *world, void *user)
{
    seen *s = user;
    s->ends++;
    if (s->removes != NULL) CHECK_OK(weft_world_hook_remove(world, s->removes));
}

PLAIN_TEST(a_hook_that_ends_may_remove_the_next_one)
{
    seen s[3] = {{0}};
    weft_world_hook hooks[3];
    weft_world *world = world_of_one();
    for (uint32_t i = 0; i < 3; i++) {
        hooks[i] = (weft_world_hook){NULL, remove_at_the_end, &s[i]};
        CHECK_OK(weft_world_hook_add(world, &hooks[i]));
    }
    s[0].removes = &hooks[1];
    CHECK_OK(weft_world_destroy(world));
    CHECK(s[0].ends == 1 && s[1].ends == 0 && s[2].ends == 1);
}

PLAIN_TEST(errors_in_a_hook_do_not_replace_that_of_the_step)
{
    seen s = {.fails = true};
    weft_world *world = world_of_one();
    weft_world_hook hook = {stepped, NULL, &s};
    CHECK_OK(weft_world_hook_add(world, &hook));
    weft_world_error_clear(world);
    uint64_t number = weft_world_error(world)->number;
    CHECK_OK(weft_world_step(world, 0));
    CHECK_U64(s.steps, 1);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_OK);
    CHECK_U64(weft_world_error(world)->number, number);
    CHECK_OK(weft_world_destroy(world));
}

/* Hooks that step and destroy their world, which refuses both. */
static void insist(weft_world *world, void *user)
{
    seen *s = user;
    s->steps++;
    CHECK_RESULT(weft_world_step(world, 1), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(world)->text, "hook") != NULL);
    CHECK_RESULT(weft_world_destroy(world), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(world)->text, "hook") != NULL);
    CHECK_U64(weft_archetype_create(world, NULL, 0).id != 0, 1); /* other calls go on */
}

static void insist_once_made(weft_world *world)
{
    seen s = {0};
    insist(world, &s);
}

static void count_run(weft_slice *s, void *user)
{
    (void)s;
    ++*(uint32_t *)user;
}

PLAIN_TEST(hooks_neither_step_nor_destroy_their_world)
{
    seen s = {0};
    uint32_t runs = 0;
    weft_world_watch_created(insist_once_made);
    weft_world *world = world_of_one();
    weft_world_watch_created(NULL);
    weft_world_hook hook = {insist, insist, &s};
    CHECK_OK(weft_world_hook_add(world, &hook));
    CHECK_OK(weft_world_step(world, 1)); /* without systems */
    weft_system_create(world, &(weft_system_desc){.name = "x", .run = count_run, .user = &runs});
    for (int i = 0; i < 2; i++) CHECK_OK(weft_world_step(world, 1));
    CHECK_U64(runs, 2);
    CHECK_U64(weft_world_frame(world).number, 3);
    CHECK_OK(weft_world_destroy(world));
    CHECK_U64(s.steps, 4);
}

/* The value of a component that destroys its world while the world is destroyed. */
static weft_world *dying;
static uint32_t refusals;

static void destroy_world(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    refusals += count;
    CHECK_RESULT(weft_world_destroy(dying), WEFT_WRONG_PHASE);
}

PLAIN_TEST(a_world_that_ends_is_not_destroyed_again_by_a_value)
{
    dying = world_of_one();
    weft_component c = weft_component_create(
        dying,
        &(weft_component_desc){.name = "c", .size = 4, .hooks = {.destruct = destroy_world}});
    weft_entity_create(dying, weft_archetype_create(dying, &c, 1));
    CHECK_OK(weft_world_destroy(dying));
    CHECK_U64(refusals, 1);
}

static size_t tell_steps(char *text, size_t capacity, void *user)
{
    return (size_t)snprintf(text, capacity, "\"steps\":%u", ((seen *)user)->steps);
}

PLAIN_TEST(a_hook_is_found_by_its_name_and_tells_what_it_counts)
{
    seen s = {0};
    char text[32];
    weft_world *world = world_of_one();
    weft_world_hook plain = {stepped, NULL, &s}, named = {.name = "steps", .user = &s};
    named.tell = tell_steps;
    CHECK_OK(weft_world_hook_add(world, &plain));
    CHECK(weft_world_hook_find(world, "steps") == NULL);
    CHECK_OK(weft_world_hook_add(world, &named));
    CHECK_OK(weft_world_step(world, 0));
    const weft_world_hook *found = weft_world_hook_find(world, "steps");
    CHECK(found == &named && found->tell(text, sizeof text, found->user) == strlen("\"steps\":1"));
    CHECK(strcmp(text, "\"steps\":1") == 0);
    CHECK(weft_world_hook_find(world, "step") == NULL && weft_world_hook_find(world, NULL) == NULL);
    CHECK_OK(weft_world_hook_remove(world, &named));
    CHECK(weft_world_hook_find(world, "steps") == NULL);
    CHECK_OK(weft_world_destroy(world));
}

static uint32_t created;

static void count_created(weft_world *world)
{
    CHECK(world != NULL);
    created++;
}

PLAIN_TEST(worlds_that_are_made_can_be_watched)
{
    weft_world_watch_created(count_created);
    weft_world *world = world_of_one();
    CHECK_U64(created, 1);
    CHECK_OK(weft_world_destroy(world));
    weft_world_watch_created(NULL);
    CHECK_OK(weft_world_destroy(world_of_one()));
    CHECK_U64(created, 1);
}
