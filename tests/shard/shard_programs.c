/* SPDX-License-Identifier: MIT */
/* shard_programs.c: random sharded programs over everything that docs/reference/ranks.md accepts;
 * run_shard.py runs them on several numbers of ranks and compares what they print.
 *
 *     shard_programs run FIRST COUNT FOLDER      programs of seeds; half way a checkpoint
 *     shard_programs load FIRST COUNT FOLDER     their second halves, from these
 *     shard_programs differ | more FIRST 1 FOLDER      what is kept differs on the last rank
 *     shard_programs bug FIRST COUNT FOLDER      `go` takes the rank into account in step 6
 *     shard_programs bare | late FIRST 1 FOLDER        loaded where nothing is kept, or too late
 *
 * A program draws kinds of components (random_world.h), and what becomes of each row in each step
 * by seed, gid and tick: values of all storages, births with references, deaths, moves, names,
 * relations, commands for rows and for queries, ghosts that are seen, observers, kept values. Rank
 * 0 prints a line for each: all that must be the same on any number of ranks. */
#include "check.h"
#include "random_world.h"
#include "ranks_leaks.h"

#include <weft/buffers.h>
#include <weft/observer.h>
#include <weft/random.h>
#include <weft/relation.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 3, HALF = 4, WATCHED = 3, EVENTS = 8, LINE = 160, TELLERS = 1 << 8 };

typedef struct Place {
    float x, y;
} Place;
typedef struct Link {
    weft_entity to;
} Link;

/* One program. Owner: main. */
static struct {
    random_world w;
    uint64_t seed;
    bool has_bug;
    uint32_t kinds[RANDOM_KINDS], kind_count; /* that rows have */
    bool sets[SETS][RANDOM_KINDS];
    weft_archetype archetypes[SETS];
    weft_component seen, doomed;
    weft_query all, with[2];
    uint32_t of_with[2];       /* kinds of `with` */
    uint64_t told[EVENTS + 1]; /* by event: entities and what they were */
    uint32_t watched[WATCHED]; /* kinds */
} at;

static void check(weft_result result, const char *what)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u, seed %" PRIu64 ": %s: %s: %s; %s\n", weft_ranks_rank(), at.seed, what,
            weft_result_name(result), weft_ranks_error()->text, weft_world_error(at.w.world)->text);
    weft_ranks_abort(2);
}

/* What shards accept (docs/reference/ranks.md). */
static bool takes(uint32_t kind)
{
    const random_content content = random_content_of(kind);
    return random_storage_of(kind) != STORED_CHUNK && random_flag_of(kind) != FLAG_CLEANUP &&
           content != HOLDS_BLOB && content != HOLDS_TEXT;
}

static bool has_references(uint32_t kind)
{
    const random_content content = random_content_of(kind);
    return content != HOLDS_NOTHING && content != HOLDS_WORD;
}

/* ---- draws ---- */

static weft_random random_for(uint64_t gid, uint16_t stream)
{
    return weft_random_of(at.seed, gid, (uint32_t)weft_shard_tick(at.w.shard), stream);
}

static size_t draw_value(weft_random *random, uint32_t kind, weft_entity *known, uint32_t count,
                         void *out)
{
    const uint64_t first = weft_random_u64(random);
    const test_random base = {{first, 1, 2, 3}};
    return random_value_draw(&at.w, kind, test_random_fork(&base, kind), known, count, out);
}

static uint32_t any_kind(weft_random *random)
{
    return at.kinds[weft_random_below(random, at.kind_count)];
}

/* ---- systems ---- */

static void go(weft_slice *slice, void *user)
{
    const uint64_t *gids = weft_slice_read(slice, 0);
    Place *places = weft_slice_write(slice, 1);
    const uint32_t *tally = weft_slice_read_resource(slice, at.w.tally);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        weft_random random = random_for(gids[i], 1);
        if (gids[i] == 0 || weft_random_below(&random, 3) == 0) continue;
        places[i].x += 30 * weft_random_float(&random) - 15 + (float)(*tally % 3);
        places[i].y = 100 * weft_random_float(&random);
        if (at.has_bug && weft_shard_tick(at.w.shard) == 5) places[i].y += (float)weft_ranks_rank();
    }
}

/* A sum of floats over neighbours, which depends on their order. */
static void look(weft_slice *slice, void *user)
{
    const Place *places = weft_slice_read(slice, 1);
    double *seen = weft_slice_write(slice, 2);
    const uint32_t *near;
    const uint32_t sector = weft_shard_slice_sector(at.w.shard, slice);
    const uint32_t near_count = weft_shard_near(at.w.shard, sector, &near);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) seen[i] = 0.1 * seen[i];
    for (uint32_t k = 0; k < near_count; k++) {
        weft_shard_rows rows;
        if (!weft_shard_rows_get(at.w.shard, near[k], &rows)) abort();
        const Place *others = rows.columns[0];
        const uint64_t *keys = rows.columns[1];
        for (uint32_t i = 0; i < weft_slice_count(slice); i++)
            for (uint32_t j = 0; j < rows.count; j++)
                seen[i] += (double)(others[j].x * places[i].y) / (double)(1 + keys[j] % 7);
    }
}

/* Other values in place. `user`: the kind. */
static void change(weft_slice *slice, void *user)
{
    const uint32_t kind = *(const uint32_t *)user;
    const uint64_t *gids = weft_slice_read(slice, 0);
    const weft_entity *entities = weft_slice_entities(slice);
    const size_t size = weft_component_info(at.w.world, at.w.of[kind])->size;
    const bool is_list = random_storage_of(kind) == STORED_BUFFER;
    char *values = is_list ? NULL : weft_slice_write(slice, 1);
    weft_buffers lists = {0};
    if (is_list) lists = weft_slice_write_buffers(slice, 1);
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end))
        for (uint32_t i = begin; i < end; i++) {
            char value[128];
            weft_random random = random_for(gids[i], (uint16_t)(2 + kind));
            weft_entity self = entities[i];
            if (gids[i] == 0 || weft_random_below(&random, 4) != 0) continue;
            (void)draw_value(&random, kind, &self, 1, value);
            if (!is_list)
                memcpy(values + i * size, value, size);
            else if (weft_random_below(&random, 4) == 0)
                CHECK_OK(weft_buffers_resize(&lists, i, 0));
            else
                CHECK_OK(weft_buffers_append(&lists, i, value, 1));
        }
}

/* Another value of a kind by command; references lead to some of `known`. */
static void command_set(weft_recorder *recorder, weft_entity entity, uint32_t kind,
                        weft_random *random, weft_entity *known, uint32_t count)
{
    char value[128];
    const weft_component component = at.w.of[kind];
    const size_t bytes = draw_value(random, kind, known, count, value);
    if (bytes == 0)
        CHECK_OK(weft_recorder_add(recorder, entity, component));
    else if (random_storage_of(kind) == STORED_SHARED)
        CHECK_OK(weft_recorder_set_shared(recorder, entity, component, value));
    else if (random_storage_of(kind) != STORED_BUFFER)
        CHECK_OK(weft_recorder_set(recorder, entity, component, value, bytes));
    else if (weft_random_below(random, 2) == 0)
        CHECK_OK(weft_recorder_append(recorder, entity, component, value, 1));
    else
        CHECK_OK(weft_recorder_set_buffer(recorder, entity, component, value, 1));
    if (random_flag_of(kind) == FLAG_BITS)
        CHECK_OK(
            weft_recorder_enable(recorder, entity, component, weft_random_below(random, 2) == 0));
}

static void child_values(weft_recorder *recorder, weft_entity child, uint32_t set, uint64_t gid,
                         weft_random *random, weft_entity known[5])
{
    const uint32_t count = known[4].index; /* behind them */
    const uint64_t key = gid ^ weft_random_below(random, 3);
    const float place[2] = {100 * weft_random_float(random), (float)(gid % 100)};
    CHECK_OK(weft_recorder_set(recorder, child, at.w.key, &key, sizeof key));
    CHECK_OK(weft_recorder_set(recorder, child, at.w.place, place, sizeof place));
    for (uint32_t i = 0; i < at.kind_count; i++) {
        const uint32_t kind = at.kinds[i];
        const bool has = random_storage_of(kind) == STORED_SPARSE
                             ? weft_random_below(random, 3) == 0
                             : at.sets[set][kind];
        if (has) command_set(recorder, child, kind, random, known, count);
    }
}

/* One or two children, equal ones sometimes, who know their parent and each other. */
static void bear(weft_recorder *recorder, weft_entity parent, uint64_t gid, weft_entity target,
                 weft_random *random)
{
    weft_entity known[5] = {parent, target};
    const uint32_t set = weft_random_below(random, SETS);
    const uint32_t count = 1 + weft_random_below(random, 2);
    known[4].index = 2 + count;
    for (uint32_t i = 0; i < count; i++)
        known[2 + i] = weft_recorder_create_entity(recorder, at.archetypes[set]);
    weft_random same = *random;
    for (uint32_t i = 0; i < count; i++) {
        if (weft_random_below(random, 2) == 0) same = *random;
        child_values(recorder, known[2 + i], set, gid, &same, known);
        const Link link = {known[weft_random_below(&same, 2 + count)]};
        if (weft_random_below(&same, 2) == 0)
            CHECK_OK(weft_recorder_set(recorder, known[2 + i], at.w.likes, &link, sizeof link));
    }
    const Link link = {known[2]};
    if (weft_random_below(random, 2) == 0)
        CHECK_OK(weft_recorder_set(recorder, parent, at.w.likes, &link, sizeof link));
}

/* What becomes of rows, by command. */
static void live(weft_slice *slice, void *user)
{
    const uint64_t *gids = weft_slice_read(slice, 0);
    const Link *likes = weft_slice_read(slice, 1);
    const weft_entity *entities = weft_slice_entities(slice);
    weft_recorder *recorder = weft_slice_recorder(slice);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        weft_random random = random_for(gids[i], 200);
        weft_entity known[2] = {entities[i], likes == NULL ? (weft_entity){0} : likes[i].to};
        char name[32];
        if (gids[i] == 0) continue;
        switch (weft_random_below(&random, 24)) {
        case 0:
            CHECK_OK(weft_recorder_destroy_entity(recorder, entities[i]));
            break;
        case 1:
        case 2:
            bear(recorder, entities[i], gids[i], known[1], &random);
            break;
        case 3: {
            const weft_entity copy = weft_recorder_instantiate(recorder, entities[i]);
            CHECK_OK(weft_recorder_add(recorder, copy, at.w.info.gid));
            break;
        }
        case 4:
            CHECK_OK(weft_recorder_remove(recorder, entities[i], at.w.of[any_kind(&random)]));
            break;
        case 5:
            CHECK_OK(weft_recorder_add(recorder, entities[i], at.w.of[any_kind(&random)]));
            break;
        case 6:
            snprintf(name, sizeof name, "row %u", weft_random_below(&random, 50));
            CHECK_OK(weft_recorder_set_name(recorder, entities[i], &name[name[4] == '7' ? 5 : 0]));
            break;
        case 7:
            CHECK_OK(weft_recorder_add(recorder, entities[i], at.doomed));
            break;
        case 8:
            CHECK_OK(weft_recorder_set(recorder, entities[i], at.w.likes, known, sizeof known[0]));
            break;
        case 9:
            CHECK_OK(weft_recorder_remove(recorder, entities[i], at.w.likes));
            break;
        case 10:
        case 11:
        case 12:
            command_set(recorder, entities[i], any_kind(&random), &random, known, 2);
            break;
        default:
            break;
        }
    }
}

/* Commands for all rows of queries; what is kept. Runs once on each rank. */
static void rule(weft_slice *slice, void *user)
{
    char value[128];
    weft_random random = random_for(UINT64_MAX, 3);
    weft_recorder *recorder = weft_slice_recorder(slice);
    uint32_t *tally = weft_slice_write_resource(slice, at.w.tally);
    (void)user;
    *tally = *tally * 5 + weft_random_below(&random, 100);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t kind = at.of_with[i], other = any_kind(&random);
        const weft_component component = at.w.of[kind];
        const bool is_word = random_content_of(kind) == HOLDS_WORD;
        if (weft_random_below(&random, 3) != 0) continue;
        (void)draw_value(&random, kind, NULL, 0, value);
        if (random_storage_of(kind) == STORED_SHARED && is_word)
            CHECK_OK(weft_recorder_query_set_shared(recorder, at.with[i], component, value));
        else if (random_flag_of(kind) == FLAG_BITS)
            CHECK_OK(weft_recorder_query_enable(recorder, at.with[i], component,
                                                weft_random_below(&random, 2) == 0));
        else if (random_storage_of(other) != STORED_SPARSE && weft_random_below(&random, 2) == 0)
            CHECK_OK(weft_recorder_query_add(recorder, at.with[i], at.w.of[other]));
        else
            CHECK_OK(weft_recorder_query_remove(recorder, at.with[i], component));
    }
    if (weft_random_below(&random, 5) == 0)
        CHECK_OK(weft_recorder_query_destroy_entities(recorder, at.all));
}

/* Kept private entities: the same on all ranks. */
static void shine(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    uint32_t *lamps = weft_slice_write(slice, 0);
    weft_recorder *recorder = weft_slice_recorder(slice);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        lamps[i] = lamps[i] * 3 + 1;
        const uint32_t odd = lamps[i] % 11;
        if (odd == 0) CHECK_OK(weft_recorder_destroy_entity(recorder, entities[i]));
        if (odd != 1) continue;
        const weft_entity lamp = weft_recorder_instantiate(recorder, entities[i]);
        CHECK_OK(weft_recorder_set(recorder, lamp, at.w.lamp, &(uint32_t){lamps[i] / 7}, 4));
    }
}

/* ---- observers ---- */

/* With what they are: keys. */
static void tell(const weft_observation *o, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < o->count; i++) {
        const uint64_t *key = weft_entity_read(o->world, o->entities[i], at.w.key);
        const bool has_old = o->component.id == at.w.key.id && o->values != NULL;
        const uint64_t old = has_old ? ((const uint64_t *)o->values)[i] : 0;
        at.told[o->event % EVENTS] +=
            (key != NULL ? *key : 5) * 3 + old + (uint64_t)o->component.id;
    }
}

static void observe(weft_component component, uint32_t number)
{
    static const uint32_t events[] = {WEFT_ON_ADDED, WEFT_ON_REMOVED, WEFT_ON_CHANGED,
                                      WEFT_ON_CREATED, WEFT_ON_DESTROYED};
    for (uint32_t k = 0; k < sizeof events / sizeof *events; k++) {
        char name[32];
        snprintf(name, sizeof name, "told %u of %u", k, number);
        const weft_observer_desc desc = {
            .name = name, .on = events[k], .component = component, .run = tell};
        const weft_component_desc *of = weft_component_info(at.w.world, component);
        if (events[k] == WEFT_ON_CHANGED && of->size == 0) continue;
        if (weft_observer_create(at.w.world, &desc).id == 0)
            check(weft_world_error(at.w.world)->code, "weft_observer_create");
    }
}

/* ---- a program ---- */

static void draw_kinds(weft_random *random)
{
    uint32_t all[RANDOM_KINDS], count = 0;
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (random_kind_is(kind) && takes(kind)) all[count++] = kind;
    at.kind_count = 4 + weft_random_below(random, 9);
    for (uint32_t i = 0; i < at.kind_count; i++) {
        const uint32_t place = i + weft_random_below(random, count - i);
        const uint32_t kind = all[place];
        all[place] = all[i];
        all[i] = at.kinds[i] = kind;
        for (uint32_t set = 0; set < SETS; set++)
            at.sets[set][kind] = weft_random_below(random, 2) == 0;
    }
    for (uint32_t i = 0; i < WATCHED; i++) at.watched[i] = at.kinds[i];
    for (uint32_t i = 0; i < 2; i++) at.of_with[i] = at.kinds[3 - i];
}

static void make_archetypes(void)
{
    for (uint32_t set = 0; set < SETS; set++) {
        weft_component list[RANDOM_KINDS + 4] = {at.w.info.gid, at.w.key, at.w.place, at.seen};
        uint32_t count = 4;
        for (uint32_t i = 0; i < at.kind_count; i++)
            if (at.sets[set][at.kinds[i]] && random_storage_of(at.kinds[i]) != STORED_SPARSE)
                list[count++] = at.w.of[at.kinds[i]];
        at.archetypes[set] = weft_archetype_create(at.w.world, list, count);
    }
}

static void system_make(const weft_system_desc *desc)
{
    if (weft_system_create(at.w.world, desc).id == 0)
        check(weft_world_error(at.w.world)->code, desc->name);
}

static void make_systems(void)
{
    const weft_component gid = at.w.info.gid;
    system_make(&(weft_system_desc){.name = "go",
                                    .run = go,
                                    .over.rows.terms = {{gid}, {at.w.place, WEFT_WRITE}},
                                    .resources = {{at.w.tally, WEFT_READ}}});
    for (uint32_t i = 0; i < at.kind_count; i++) {
        const uint32_t kind = at.kinds[i];
        const random_storage storage = random_storage_of(kind);
        const bool is_own = storage == STORED_PLAIN || storage == STORED_BUFFER;
        char name[64];
        snprintf(name, sizeof name, "change %s", random_kind_name(kind));
        if (!is_own || random_content_of(kind) == HOLDS_NOTHING) continue;
        system_make(&(weft_system_desc){.name = name,
                                        .run = change,
                                        .user = &at.kinds[i],
                                        .over.rows.terms = {{gid}, {at.w.of[kind], WEFT_WRITE}}});
    }
    check(weft_shard_system_create(
              at.w.shard,
              &(weft_system_desc){.name = "look",
                                  .run = look,
                                  .over.rows.terms = {{gid}, {at.w.place}, {at.seen, WEFT_WRITE}}}),
          "look");
    system_make(
        &(weft_system_desc){.name = "live",
                            .run = live,
                            .over.rows.terms = {{gid}, {at.w.likes, .match = WEFT_OPTIONAL}},
                            .effects = WEFT_RECORDS_ANY});
    system_make(&(weft_system_desc){.name = "rule",
                                    .run = rule,
                                    .resources = {{at.w.tally, WEFT_WRITE}},
                                    .effects = WEFT_RECORDS_ANY});
    system_make(&(weft_system_desc){.name = "shine",
                                    .run = shine,
                                    .over.rows.terms = {{at.w.lamp, WEFT_WRITE}},
                                    .effects = WEFT_RECORDS_ANY});
}

static void program_open(uint64_t seed, bool is_bare)
{
    memset(&at, 0, sizeof at);
    at.seed = seed;
    weft_random random = weft_random_of(seed, 0, 0, 4);
    const random_world_desc desc = {.has_shard = true,
                                    .is_program = true,
                                    .keeps_nothing = is_bare,
                                    .on_death = (weft_target_death)weft_random_below(&random, 3)};
    random_world_open(&at.w, &desc);
    draw_kinds(&random);
    at.seen = weft_component_create_plain(at.w.world, "Seen", 8, 8, 0);
    at.doomed = weft_component_create_plain(at.w.world, "Doomed", 0, 1, 0);
    make_archetypes();
    for (uint32_t i = 0; i < 2; i++)
        at.with[i] = weft_query_create(
            at.w.world,
            &(weft_query_desc){
                .terms = {{at.w.info.gid}, {at.w.of[at.of_with[i]], .match = WEFT_PRESENT}},
                .ignores_enabled = true});
    at.all = weft_query_create(
        at.w.world,
        &(weft_query_desc){.terms = {{at.w.info.gid}, {at.doomed, .match = WEFT_PRESENT}}});
    if (at.all.id == 0 || at.with[0].id == 0 || at.with[1].id == 0)
        check(weft_world_error(at.w.world)->code, "weft_query_create");
}

/* What runs and looks; behind the rows, of which observers are told nothing. */
static void program_go(void)
{
    make_systems();
    observe(at.w.key, 0);
    observe(at.w.likes, 1);
    for (uint32_t i = 0; i < WATCHED; i++) /* others are not observed */
        if (random_storage_of(at.watched[i]) == STORED_PLAIN)
            observe(at.w.of[at.watched[i]], 2 + i);
}

/* Each rank makes its own of the same rows. */
static void make_rows(void)
{
    weft_recorder *recorder;
    check(weft_recorder_create(at.w.world, &recorder), "weft_recorder_create");
    const uint32_t count = 20 + (uint32_t)(at.seed % 80);
    for (uint64_t i = 0; i < count; i++) {
        weft_random random = weft_random_of(at.seed, i, 0, 5);
        weft_random same = random;
        const float place[2] = {100 * weft_random_float(&random), (float)(i * 61 % 100)};
        const uint32_t set = (uint32_t)(i % SETS);
        if (!weft_shard_is_mine(at.w.shard, place)) continue;
        weft_entity self = weft_recorder_create_entity(recorder, at.archetypes[set]);
        weft_entity known[5] = {self, [4] = {.index = 1}};
        child_values(recorder, self, set, i, &same, known);
        CHECK_OK(weft_recorder_set(recorder, self, at.w.place, place, sizeof place));
    }
    check(weft_recorder_play(recorder), "weft_recorder_play");
    weft_recorder_destroy(recorder);
}

/* The same on all ranks, in different orders. They have kinds without references that no observer
 * looks at, or it would be told once on each rank. */
static void make_lamps(void)
{
    const uint32_t count = (uint32_t)(at.seed % 6);
    weft_recorder *recorder;
    check(weft_recorder_create(at.w.world, &recorder), "weft_recorder_create");
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = weft_ranks_rank() % 2 != 0 ? count - 1 - k : k;
        weft_random random = weft_random_of(at.seed, i, 0, 6);
        char name[32];
        const weft_entity lamp =
            weft_recorder_create_entity(recorder, weft_archetype_create(at.w.world, &at.w.lamp, 1));
        const uint32_t value = weft_random_below(&random, 5);
        CHECK_OK(weft_recorder_set(recorder, lamp, at.w.lamp, &value, sizeof value));
        snprintf(name, sizeof name, "lamp %u", i);
        if (weft_random_below(&random, 2) == 0)
            CHECK_OK(weft_recorder_set_name(recorder, lamp, name));
        for (uint32_t n = WATCHED; n < at.kind_count; n++)
            if (!has_references(at.kinds[n]) && weft_random_below(&random, 2) == 0)
                command_set(recorder, lamp, at.kinds[n], &random, NULL, 0);
    }
    check(weft_recorder_play(recorder), "weft_recorder_play");
    weft_recorder_destroy(recorder);
    *(uint32_t *)weft_resource_write(at.w.world, at.w.tally) = (uint32_t)at.seed;
}

/* ---- what must be the same ---- */

static uint64_t kept_sum(void)
{
    uint64_t sum = *(const uint32_t *)weft_resource_read(at.w.world, at.w.tally);
    const weft_query lamps =
        weft_query_create(at.w.world, &(weft_query_desc){.terms = {{at.w.lamp}}});
    weft_cursor c = weft_query_begin(at.w.world, lamps);
    while (weft_query_next(&c)) {
        const uint32_t *values = weft_slice_read(&c.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            const weft_entity lamp = weft_slice_entities(&c.slice)[i];
            uint64_t hash = values[i] + UINT64_C(1000);
            for (const char *name = weft_entity_name(at.w.world, lamp); *name != '\0'; name++)
                hash = hash * 31 + (unsigned char)*name;
            for (uint32_t n = WATCHED; n < at.kind_count; n++)
                if (!has_references(at.kinds[n]))
                    hash = hash * UINT64_C(0x9E3779B97F4A7C15) +
                           random_kind_hash(&at.w, lamp, at.kinds[n]);
            sum += hash * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
    weft_query_end(&c);
    CHECK_OK(weft_query_destroy(at.w.world, lamps));
    uint64_t most[2] = {sum, ~sum};
    check(weft_ranks_max(most, 2), "weft_ranks_max");
    if (most[0] != ~most[1]) {
        fprintf(stderr, "rank %u, seed %" PRIu64 ": kept values differ\n", weft_ranks_rank(),
                at.seed);
        weft_ranks_abort(3);
    }
    return sum;
}

static uint64_t file_sum(const char *path)
{
    uint64_t sum = 0;
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    for (int byte; (byte = getc(file)) != EOF;) sum = sum * 1000003 + (uint64_t)byte + 1;
    fclose(file);
    return sum;
}

static void print_state(const char *when)
{
    uint64_t hash[2], told = 0;
    check(weft_shard_hash(at.w.shard, hash), "weft_shard_hash");
    check(weft_world_validate(at.w.world), "weft_world_validate");
    random_digest digest = random_digest_make(&at.w, takes, false);
    for (uint32_t i = 0; i < EVENTS; i++) told = told * 31 + at.told[i];
    uint64_t sums[] = {digest.count, random_digest_sum(&digest), told};
    random_digest_free(&digest);
    check(weft_ranks_sum(sums, 3), "weft_ranks_sum");
    const uint64_t kept = kept_sum();
    if (weft_ranks_rank() != 0) return;
    printf("seed %" PRIu64 " %s rows %" PRIu64 " hash %016" PRIx64 "%016" PRIx64
           " digest %016" PRIx64 " told %016" PRIx64 " kept %016" PRIx64 "\n",
           at.seed, when, sums[0], hash[0], hash[1], sums[1], sums[2], kept);
    fflush(stdout);
}

static void steps(void)
{
    memset(at.told, 0, sizeof at.told);
    for (uint32_t i = 0; i < HALF; i++) check(weft_shard_step(at.w.shard, 0.1f), "weft_shard_step");
}

/* The first half. `way`: what the last rank keeps that others do not. */
static void half_run(const char *path, const char *way)
{
    const bool is_last = weft_ranks_rank() == weft_ranks_count() - 1;
    make_rows();
    make_lamps();
    check(weft_shard_sync(at.w.shard), "weft_shard_sync");
    program_go();
    steps();
    if (strcmp(way, "differ") == 0 && is_last)
        *(uint32_t *)weft_resource_write(at.w.world, at.w.tally) += 1;
    if (strcmp(way, "more") == 0 && is_last) /* a lamp */
        (void)weft_entity_create(at.w.world, weft_archetype_create(at.w.world, &at.w.lamp, 1));
    const weft_result result = weft_shard_save(at.w.shard, path);
    if (strcmp(way, "run") != 0 && result == WEFT_UNSUPPORTED)
        fprintf(stderr, "refused: %s\n", weft_ranks_error()->text);
    else
        check(result, "weft_shard_save");
    if (strcmp(way, "run") != 0 && !at.has_bug) return;
    print_state("half");
    if (weft_ranks_rank() == 0)
        printf("seed %" PRIu64 " file %016" PRIx64 "\n", at.seed, file_sum(path));
}

static void program_run(uint64_t seed, const char *path, const char *way)
{
    const bool has_bug = strcmp(way, "bug") == 0, is_load = strcmp(way, "load") == 0;
    const bool is_run = has_bug || strcmp(way, "run") == 0;
    const bool is_bare = strcmp(way, "bare") == 0, is_late = strcmp(way, "late") == 0;
    program_open(seed, is_bare);
    at.has_bug = has_bug;
    if (is_late)
        (void)weft_entity_create(at.w.world, weft_archetype_create(at.w.world, &at.w.lamp, 1));
    if (is_load || is_bare || is_late) {
        const weft_result result = weft_shard_load(at.w.shard, path);
        if (is_load) check(result, "weft_shard_load");
        if (!is_load && result != WEFT_OK)
            fprintf(stderr, "refused: %s\n", weft_ranks_error()->text);
        program_go();
    } else {
        half_run(path, way);
    }
    if (is_load || is_run) steps();
    if (is_load || is_run) print_state("end");
    random_world_close(&at.w);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (start_ranks(&argc, &argv) != WEFT_OK || argc != 5) weft_ranks_abort(1);
    const uint64_t first = strtoull(argv[2], NULL, 0), count = strtoull(argv[3], NULL, 0);
    for (uint64_t seed = first; seed < first + count; seed++) {
        snprintf(path, sizeof path, "%s/%" PRIu64, argv[4], seed);
        test_note_seed(seed);
        program_run(seed, path, argv[1]);
    }
    stop_ranks();
    return 0;
}
