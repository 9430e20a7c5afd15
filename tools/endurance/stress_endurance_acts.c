/* SPDX-License-Identifier: MIT */
/* stress_endurance_acts.c: what the owner of the main world does before a step: each act once in
 * a cycle of 100 steps, at a step of its own. Acts use ever new names and values, so what keeps
 * something of one that is gone shows in the figures. */
#include "endurance.h"

#include <stdio.h>
#include <string.h>
#include <weft/snapshot.h>
#include <weft/stream.h>

/* ---- documents: objects come and leave, a value is edited, edited again, taken back ---- */

enum { OBJECTS = 60 }; /* one in two stays, the others have a new name each time */

static bool document_write(endurance *e, uint32_t objects)
{
    char path[sizeof e->document + 8];
    snprintf(path, sizeof path, "%s.new", e->document);
    FILE *file = fopen(path, "we");
    if (file == NULL) return false;
    fputs("{\"weft\": 1, \"prefabs\": {\"top\": {\"Spin\": {\"speed\": 1}}}, \"objects\": {\n",
          file);
    for (uint32_t i = 0; i < objects; i++) {
        const bool is_new = i >= OBJECTS / 2;
        const uint64_t number = is_new ? e->made++ : i;
        fprintf(file, "%s\"%c%llu\": {\"prefab\": \"#top\", \"Spin\": {\"angle\": %u}}",
                i ? ",\n" : "", is_new ? 'n' : 'o', (unsigned long long)number,
                (unsigned)endurance_draw(e, 100));
    }
    fputs("\n}}\n", file);
    return fclose(file) == 0 && rename(path, e->document) == 0;
}

static void documents_follow(endurance *e)
{
    weft_live_report report;
    if (!endurance_ok(e, e->world, weft_live_refresh(e->live), "live refresh")) return;
    if (!endurance_ok(e, e->world, weft_live_apply(e->live, 0, &report, sizeof report),
                      "live apply"))
        return;
    weft_error mistake;
    if (weft_live_mistakes(e->live, &mistake, 1) != 0)
        endurance_fail(e, "document: %s", mistake.text);
}

static void act_documents(endurance *e)
{
    char path[16], value[32];
    weft_result result = WEFT_OK;
    snprintf(path, sizeof path, "o%u", (unsigned)endurance_draw(e, OBJECTS / 2));
    snprintf(value, sizeof value, "%u.5", (unsigned)endurance_draw(e, 1000));
    switch (e->edits++ % 4) {
    case 0:
        if (!document_write(e, OBJECTS - (uint32_t)endurance_draw(e, 8)))
            endurance_fail(e, "cannot write %s", e->document);
        break;
    case 1:
        result = weft_live_edit(e->live, path, "Spin.speed", value);
        break;
    case 2: {
        const weft_entity entity = weft_live_entity(e->live, path);
        endurance_spin *spin = weft_entity_write(e->world, entity, e->kinds.spin);
        if (spin) spin->angle += 1; /* the run has it from now on: a conflict, maybe */
        result = weft_live_edit(e->live, path, "Spin.angle", value);
        break;
    }
    default:
        result = weft_live_undo(e->live);
        break;
    }
    endurance_ok(e, e->world, result, "live edit");
    documents_follow(e);
}

static bool sections_write(endurance *e)
{
    weft_world *world;
    const weft_world_desc desc = {.pool = weft_world_pool(e->world)};
    if (weft_world_create(&desc, &world) != WEFT_OK) return false;
    const endurance_kinds k = endurance_register(world);
    const weft_archetype set = WEFT_ARCHETYPE(world, k.value, k.tag[1], k.section);
    weft_result result = WEFT_OK;
    for (uint32_t s = 0; s < ENDURANCE_SECTIONS && result == WEFT_OK; s++) {
        const weft_section value = {.section = s};
        result = weft_entity_create_filled(world, set, WEFT_VALUES({k.section, &value}),
                                           100 + 40 * s, NULL);
    }
    if (result == WEFT_OK) result = weft_sections_save(world, e->sections, NULL);
    const bool is_ok = endurance_ok(e, world, result, "section file");
    weft_world_destroy(world);
    return is_ok;
}

static bool stream_open(endurance *e)
{
    const weft_stream_desc desc = {.threads = 2, .lockstep = 3};
    return endurance_ok(e, e->world, weft_stream_open(e->world, e->sections, &desc, &e->stream),
                        "stream open");
}

bool endurance_documents_make(endurance *e)
{
    if (!document_write(e, OBJECTS)) {
        endurance_fail(e, "cannot write %s", e->document);
        return false;
    }
    const weft_live_desc live = {
        .paths = (const char *[]){e->document}, .path_count = 1, .without_thread = true};
    if (!endurance_ok(e, e->world, weft_live_start(e->world, &live, &e->live), "live start"))
        return false;
    return sections_write(e) && stream_open(e);
}

static void act_stream_ask(endurance *e)
{
    for (uint32_t s = 1; s < ENDURANCE_SECTIONS; s++) {
        const weft_result result = endurance_draw(e, 2) ? weft_stream_load(e->stream, s, (float)s)
                                                        : weft_stream_unload(e->stream, s);
        endurance_ok(e, e->world, result, "stream ask");
    }
}

static void act_stream_wait(endurance *e)
{
    endurance_ok(e, e->world, weft_stream_wait(e->world), "stream wait");
}

static void act_snapshot(endurance *e)
{
    weft_snapshot *taken;
    if (!endurance_ok(e, e->world, weft_snapshot_take(e->world, e->kept[0], &taken), "snapshot"))
        return;
    weft_snapshot_destroy(e->kept[ENDURANCE_KEPT - 1]);
    memmove(e->kept + 1, e->kept, sizeof e->kept - sizeof *e->kept);
    e->kept[0] = taken;
    if (e->step / ENDURANCE_CYCLE % 2 != 0) return;
    const uint64_t was = weft_world_hash(e->world, WEFT_HASH_LAYOUT);
    for (uint32_t i = 0; i < 3; i++)
        endurance_ok(e, e->world, weft_world_step(e->world, 0.002f), "step aside");
    (void)weft_world_moment(e->world); /* the restore undoes it */
    if (!endurance_ok(e, e->world, weft_snapshot_restore(e->world, taken), "restore")) return;
    if (weft_world_hash(e->world, WEFT_HASH_LAYOUT) != was)
        endurance_fail(e, "a restore did not bring the world back");
}

/* ---- groups, names, shared values ---- */

static void act_groups(endurance *e)
{
    enum { COUNT = 12 };
    const uint32_t at = (uint32_t)(e->step / ENDURANCE_CYCLE * COUNT % ENDURANCE_ROOTS);
    char name[32];
    endurance_ok(e, e->world, weft_entity_destroy_many(e->world, e->roots + at, COUNT),
                 "groups end");
    if (!endurance_ok(e, e->world,
                      weft_entity_instantiate(e->world, e->prefab, COUNT, e->roots + at), "groups"))
        return;
    for (uint32_t i = at; i < at + COUNT; i++) {
        const uint64_t number = e->made++;
        snprintf(name, sizeof name, "root %llu", (unsigned long long)number);
        endurance_ok(e, e->world, weft_entity_set_name_unique(e->world, e->roots[i], name), "name");
        endurance_ok(e, e->world,
                     weft_entity_set_shared(e->world, e->roots[i], e->kinds.share, &number),
                     "share");
        if (!weft_entity_equal(weft_entity_find(e->world, name), e->roots[i]))
            endurance_fail(e, "%s is not found by its name", name);
    }
}

/* Families: some of the roots get children, which die with them. */
static void act_relations(endurance *e)
{
    weft_entity children[8];
    const weft_entity root = e->roots[endurance_draw(e, ENDURANCE_ROOTS)];
    const weft_archetype set = WEFT_ARCHETYPE(e->world, e->kinds.value);
    if (!weft_entity_is_alive(e->world, root)) return;
    if (!endurance_ok(e, e->world, weft_entity_create_many(e->world, set, 8, children), "children"))
        return;
    endurance_ok(e, e->world, weft_relation_set_many(e->world, children, 4, e->kinds.parent, root),
                 "parent");
    for (uint32_t i = 4; i < 8; i++)
        endurance_ok(e, e->world,
                     weft_relation_set(e->world, children[i], e->kinds.parent, children[i - 4]),
                     "grandparent");
    endurance_ok(e, e->world, weft_relation_settle(e->world), "settle");
}

static void act_blobs(endurance *e)
{
    weft_blob_store *store = weft_world_blobs(e->world);
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t at = endurance_draw(e, ENDURANCE_STORIES);
        endurance_ok(e, e->world, weft_blob_release(store, e->stories[at]), "release of a blob");
        e->stories[at] = endurance_story_make(e, e->world, e->made++);
    }
    for (uint32_t i = 0; i < ENDURANCE_STORIES; i++)
        endurance_ok(e, e->world,
                     weft_entity_set(e->world, e->readers[i], e->kinds.story, &e->stories[i],
                                     sizeof *e->stories),
                     "story");
}

/* ---- queries, systems, observers, recorders that come and go ---- */

static void query_once(endurance *e)
{
    const uint64_t value = e->made++;
    const weft_query query = weft_query_create(
        e->world, &(weft_query_desc){
                      .terms = {{e->kinds.value}, {e->kinds.share, WEFT_READ, WEFT_OPTIONAL, 0}}});
    weft_indexed indexed;
    endurance_ok(e, e->world, weft_query_filter_changed(e->world, query, e->kinds.value, 0),
                 "filter");
    if (endurance_ok(e, e->world, weft_indexed_open(e->world, query, 0, &indexed), "indexed"))
        weft_indexed_close(&indexed);
    endurance_ok(
        e, e->world,
        weft_query_filter_shared(e->world, query, e->kinds.share, WEFT_FILTER_EQUAL, &value, 1),
        "filter of a value");
    (void)weft_query_count(e->world, query);
    endurance_ok(e, e->world, weft_query_destroy(e->world, query), "query end");
}

static void act_queries(endurance *e)
{
    for (uint32_t i = 0; i < 8; i++) query_once(e);
}

static void pass(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void see(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static void act_systems(endurance *e)
{
    static const char *const groups[] = {"red", "green", "blue"};
    char name[32];
    for (uint32_t i = 0; i < 2; i++) {
        if (e->passing[i].id != 0)
            endurance_ok(e, e->world, weft_system_destroy(e->world, e->passing[i]), "system end");
        snprintf(name, sizeof name, "passing %llu", (unsigned long long)e->made++);
        e->passing[i] = weft_system_create(
            e->world, &(weft_system_desc){
                          .name = name,
                          .run = pass,
                          .group = groups[endurance_draw(e, 3)],
                          .over.rows.terms = {{e->kinds.value},
                                              {e->kinds.tag[i], WEFT_READ, WEFT_OPTIONAL, 0}}});
        if (e->passing[i].id == 0)
            endurance_fail(e, "%s: %s", name, weft_world_error(e->world)->text);
    }
    if (e->watching.id != 0)
        endurance_ok(e, e->world, weft_observer_destroy(e->world, e->watching), "observer end");
    snprintf(name, sizeof name, "watching %llu", (unsigned long long)e->made++);
    e->watching = weft_observer_create(e->world, &(weft_observer_desc){.name = name,
                                                                       .on = WEFT_ON_REMOVED,
                                                                       .component = e->kinds.tag[2],
                                                                       .run = see});
    if (e->watching.id == 0) endurance_fail(e, "%s: %s", name, weft_world_error(e->world)->text);
    endurance_ok(e, e->world, weft_timer_set(e->world, e->timer, 0.01), "timer");
}

/* A recorder of the owner: more commands than are played one by one. */
static void act_recorder(endurance *e)
{
    weft_recorder *recorder;
    if (!endurance_ok(e, e->world, weft_recorder_create(e->world, &recorder), "recorder")) return;
    weft_slice rows;
    weft_recorder_create_rows(recorder, WEFT_ARCHETYPE(e->world, e->kinds.value, e->kinds.tag[0]),
                              20, &rows);
    for (uint32_t i = 0; i < weft_slice_count(&rows); i++)
        weft_recorder_destroy_entity(recorder, weft_recorder_row_entity(recorder, &rows, i));
    for (uint32_t i = 0; i < 60; i++) {
        const weft_entity made = weft_recorder_create_entity(recorder, e->plain);
        weft_recorder_add(recorder, made, e->kinds.tag[i % ENDURANCE_TAGS]);
        weft_recorder_set(recorder, made, e->kinds.rare, &e->made, sizeof e->made);
        weft_recorder_destroy_entity(recorder, made);
    }
    endurance_ok(e, e->world, weft_recorder_play(recorder), "play");
    weft_recorder_destroy(recorder);
}

static void act_compact(endurance *e)
{
    weft_world_compact(e->world, 1000);
    endurance_ok(e, e->world, weft_world_clear_references(e->world, NULL), "clear references");
}

/* ---- all of them ---- */

/* Streams settle before snapshots and saves, which are refused meanwhile. */
static const struct {
    uint32_t at; /* in the cycle */
    void (*run)(endurance *e);
} acts[] = {
    {1, act_documents}, {10, act_stream_ask}, {30, act_stream_wait}, {32, act_snapshot},
    {40, act_groups},   {45, act_relations},  {50, act_blobs},       {55, act_queries},
    {60, act_systems},  {70, act_recorder},   {80, act_compact},
};

void endurance_act(endurance *e)
{
    weft_world_stats stats;
    const uint32_t at = (uint32_t)(e->step % ENDURANCE_CYCLE);
    weft_world_stats_get(e->world, &stats, sizeof stats);
    e->death = stats.entities > ENDURANCE_PEOPLE ? 6 : 2;
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (acts[i].at == at) acts[i].run(e);
    if (at > 10 && at < 30)
        endurance_ok(e, e->world, weft_stream_step(e->world, 300000), "stream step");
}

void endurance_settle(endurance *e)
{
    weft_stream_close(e->stream);
    e->stream = NULL;
    stream_open(e);
}

void endurance_let_go(endurance *e)
{
    weft_live_stop(e->live);
    weft_stream_close(e->stream);
    for (uint32_t i = 0; i < ENDURANCE_KEPT; i++) weft_snapshot_destroy(e->kept[i]);
}
