/* SPDX-License-Identifier: MIT */
/* test_extend.c: a schedule to which archetypes were added is the one that compiling makes. */
#include "registry.h"

#include "check.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 10, TEXT = 1 << 18 };

typedef struct fixture {
    weft_world *world;
    weft_component components[COMPONENTS];
    uint64_t random;
    char *text[2]; /* reports of the schedule as it is, and as it is compiled afresh */
} fixture;

static void idle(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

static uint32_t draw(fixture *f, uint32_t limit)
{
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((f->random >> 33) % limit);
}

static void add_system(fixture *f, uint32_t number)
{
    static const weft_access accesses[] = {WEFT_READ, WEFT_READ, WEFT_WRITE};
    char name[16], before[16] = "";
    snprintf(name, sizeof name, "s%u", number);
    weft_system_desc desc = {.name = name, .run = idle};
    for (uint32_t i = 0, first = draw(f, COMPONENTS); i < 1 + draw(f, 3); i++) {
        weft_component c = f->components[(first + i * 3) % COMPONENTS];
        desc.over.rows.terms[i] = draw(f, 5) == 0 && i > 0
                                      ? (weft_term){c, WEFT_NO_ACCESS, WEFT_ABSENT, 0}
                                      : (weft_term){c, accesses[draw(f, 3)], WEFT_ALL, 0};
    }
    if (draw(f, 4) == 0)
        desc.lookups[0] = (weft_lookup){f->components[draw(f, COMPONENTS)], accesses[draw(f, 3)]};
    if (draw(f, 4) == 0) desc.effects = WEFT_RECORDS_ADD | WEFT_RECORDS_DESTROY;
    if (draw(f, 6) == 0) desc.flags = WEFT_SYSTEM_NOT_FUSED;
    if (draw(f, 10) == 0) desc.flags = WEFT_SYSTEM_BACKGROUND;
    if (number > 0 && draw(f, 5) == 0) snprintf(before, sizeof before, "s%u", draw(f, number));
    if (before[0] != 0) desc.after[0] = before;
    CHECK(weft_system_create(f->world, &desc).id != 0);
}

static void open_world(fixture *f, uint64_t seed)
{
    *f = (fixture){.random = seed, .text = {malloc(TEXT), malloc(TEXT)}};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &f->world));
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        f->components[i] = weft_component_create_plain(f->world, name, 4, 4, 0);
    }
    for (uint32_t i = 0, systems = 3 + draw(f, 12); i < systems; i++) add_system(f, i);
}

static void close_world(fixture *f)
{
    weft_world_destroy(f->world);
    free(f->text[0]);
    free(f->text[1]);
}

static void add_archetype(fixture *f)
{
    weft_component set[COMPONENTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < COMPONENTS; i++)
        if (draw(f, 3) == 0) set[count++] = f->components[i];
    if (count != 0) CHECK(weft_archetype_create(f->world, set, count).id != 0);
}

static void report(fixture *f, char *text)
{
    size_t used = weft_schedule_json(f->world, text, TEXT);
    used += weft_schedule_ambiguities(f->world, text + used, TEXT - used);
    used += weft_schedule_sync_points(f->world, text + used, TEXT - used);
    CHECK(used < TEXT);
}

static void compile_afresh(const fixture *f)
{
    CHECK_OK(weft_schedule_set(f->world, &(weft_schedule_desc){0})); /* makes it dirty */
    CHECK_OK(weft_schedule_compile(f->world));
}

/* All pairs of items meet in the same archetype in both, seen through what explains them. */
static void explain_all(fixture *f, char *text)
{
    size_t used = 0;
    const weft__scheduler *s = weft__scheduler_of(f->world);
    for (uint32_t i = 0; i < s->ordered_count; i++)
        for (uint32_t k = i + 1; k < s->ordered_count; k++)
            used += weft_schedule_explain(
                f->world, (weft_system){s->ordered[i]->handle, weft__front(f->world)->number},
                (weft_system){s->ordered[k]->handle, weft__front(f->world)->number}, text + used,
                TEXT - used);
    CHECK(used < TEXT);
}

Test(extend, a_schedule_with_archetypes_added_is_the_compiled_one)
{
    uint64_t extensions = 0, compilations = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        fixture f;
        open_world(&f, seed);
        CHECK_OK(weft_schedule_compile(f.world));
        for (uint32_t i = 0; i < 40; i++) {
            const weft__scheduler *s = weft__scheduler_of(f.world);
            uint64_t extended = s->growth.extensions, compiled = s->growth.compilations;
            for (uint32_t k = 0, n = 1 + draw(&f, 3); k < n; k++) add_archetype(&f);
            CHECK_OK(weft_schedule_compile(f.world));
            extensions += s->growth.extensions - extended;
            compilations += s->growth.compilations - compiled;
            if (draw(&f, 2) == 0) continue; /* extended twice in a row */
            report(&f, f.text[0]);
            compile_afresh(&f);
            report(&f, f.text[1]);
            CHECK(strcmp(f.text[0], f.text[1]) == 0);
        }
        explain_all(&f, f.text[0]);
        compile_afresh(&f);
        explain_all(&f, f.text[1]);
        CHECK(strcmp(f.text[0], f.text[1]) == 0);
        close_world(&f);
    }
    CHECK(extensions > 1000);
    CHECK(compilations > 50);
}

Test(extend, a_new_component_type_compiles)
{
    fixture f;
    open_world(&f, 1);
    CHECK_OK(weft_schedule_compile(f.world));
    const weft__scheduler *s = weft__scheduler_of(f.world);
    uint64_t compiled = s->growth.compilations;
    weft_component fresh = weft_component_create_plain(f.world, "fresh", 4, 4, 0);
    CHECK(weft_archetype_create(f.world, &fresh, 1).id != 0);
    CHECK_OK(weft_schedule_compile(f.world));
    CHECK_U64(s->growth.compilations, compiled + 1);
    close_world(&f);
}
