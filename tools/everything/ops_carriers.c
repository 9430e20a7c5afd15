/* SPDX-License-Identifier: MIT */
/* ops_carriers.c: worlds that are carried: saved and loaded in every form, put back by snapshots,
 * moved into another world and back, compacted.
 *
 * A loaded world is compared with the model and by its hashes; then it, or the one that was saved,
 * goes on: the other is destroyed. */
#include "everything.h"
#include "systems.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/snapshot.h>
#include <weft/value.h>
#include <weft/world_text.h>

/* ---- save and load ---- */

static const char *const carry_ways[] = {"memory", "text", "file", NULL};
enum { IN_MEMORY, AS_TEXT, AS_FILE };

/* A saved world on its way. Owner: one call. */
typedef struct cargo {
    weft_world_bytes bytes; /* IN_MEMORY */
    char *stream;           /* AS_TEXT */
    size_t count, room;
    uint32_t way;
    char path[64];
    weft_component list[KINDS];
    uint32_t without_count;
    uint64_t without;
} cargo;

static weft_result cargo_take(void *user, const void *bytes, size_t count)
{
    cargo *g = user;
    if (count > g->room - g->count) {
        g->room = 2 * (g->room + count);
        char *stream = realloc(g->stream, g->room);
        if (stream == NULL) abort();
        g->stream = stream;
    }
    memcpy(g->stream + g->count, bytes, count);
    g->count += count;
    return WEFT_OK;
}

static weft_result cargo_save(cargo *g, weft_world *world)
{
    weft_save_desc desc = {.without = g->list, .without_count = g->without_count};
    weft_world_text_desc text = {.without = g->list, .without_count = g->without_count};
    const weft_writer writer = {cargo_take, g};
    switch (g->way) {
    case IN_MEMORY:
        return weft_world_save_memory(world, &g->bytes, &desc);
    case AS_TEXT:
        return weft_world_save_json(world, &writer, &text);
    default:
        return weft_world_save(world, g->path, &desc);
    }
}

static weft_result cargo_load(cargo *g, weft_world *world)
{
    const weft_text text = {.bytes = g->stream, .count = g->count};
    switch (g->way) {
    case IN_MEMORY:
        return weft_world_load_memory(world, g->bytes.bytes, g->bytes.count, NULL);
    case AS_TEXT:
        return weft_world_load_json(world, &text, NULL, NULL);
    default:
        return weft_world_load(world, g->path, NULL);
    }
}

static void cargo_drop(everything *e, cargo *g)
{
    if (g->way == IN_MEMORY) {
        everything_says(e, "weft_world_bytes_free(old, &bytes);");
        weft_world_bytes_free(e->here->world, &g->bytes);
    }
    if (g->way == AS_FILE) unlink(g->path);
    free(g->stream);
}

static void cargo_says(everything *e, const cargo *g, const char *result, bool is_load)
{
    static const char *const saves[] = {
        "weft_world_save_memory(old, &bytes, &without)",
        ("weft_world_save_json(old, &(weft_writer){take, NULL}, &(weft_world_text_desc){"
         ".without = without.without, .without_count = without.without_count})"),
        "weft_world_save(old, \"this.world\", &without)"};
    static const char *const loads[] = {
        "weft_world_load_memory(world, bytes.bytes, bytes.count, NULL)",
        "weft_world_load_json(world, &(weft_text){stream, taken, NULL}, NULL, NULL)",
        "weft_world_load(world, \"this.world\", NULL)"};
    if (!is_load)
        everything_says(e,
                        "weft_save_desc without = {(weft_component[]){%s%s{0, 0}}, %u};\n"
                        "        weft_world *old = world;\n"
                        "        weft_world_bytes bytes = {0};\n"
                        "        taken = 0;",
                        everything_c_set(e, g->without), g->without_count == 0 ? "" : ", ",
                        g->without_count);
    everything_says(e, "IS(%s, %s);", result, is_load ? loads[g->way] : saves[g->way]);
    if (!is_load) everything_says(e, "(void)bytes;");
}

/* Kinds that entities have. */
static uint64_t kinds_in_use(const model *m)
{
    uint64_t set = 0;
    for (uint32_t n = 1; n < m->count; n++) set |= m->entities[n].set;
    return set;
}

/* Entities of a loaded world have their old handles, but for the tag. */
static void handles_retag(everything *e, everything_place *p, const everything_place *old)
{
    uint32_t count = old->m.count < old->handle_room ? old->m.count : old->handle_room;
    weft_entity *handles = model_memory(&p->m, (count + 1) * sizeof *handles);
    uint32_t tag = p->handle_tag;
    for (uint32_t n = 1; n < count; n++) {
        handles[n] = old->handles[n];
        if (handles[n].version != 0) handles[n].index = weft_entity_index(handles[n]) | tag;
    }
    everything_says(e, "tag_all(%uu);", tag);
    everything_relearn(e, p, handles, count);
    p->handle_tag = tag;
}

/* The hashes are those of the world that was saved, where nothing was left out. */
static void hashes_compare(everything *e, const everything_place *p, const cargo *g, uint64_t lost)
{
    if (lost != 0 || everything_has_failed(e)) return;
    everything_says(e, "CHECK(weft_world_hash(old, WEFT_HASH_CONTENT) == "
                       "weft_world_hash(world, WEFT_HASH_CONTENT));");
    if (!everything_equal(e, "hash of the content of a loaded world",
                          weft_world_hash(p->world, WEFT_HASH_CONTENT),
                          weft_world_hash(e->here->world, WEFT_HASH_CONTENT)))
        return;
    if (g->way == AS_TEXT || g->without_count != 0) return;
    everything_says(e, "CHECK(weft_world_hash(old, WEFT_HASH_LAYOUT) == "
                       "weft_world_hash(world, WEFT_HASH_LAYOUT));");
    everything_equal(e, "hash of the layout of a loaded world",
                     weft_world_hash(p->world, WEFT_HASH_LAYOUT),
                     weft_world_hash(e->here->world, WEFT_HASH_LAYOUT));
}

/* A damaged load leaves a world that can be loaded. */
static void damage_try(everything *e, const everything_call *c, cargo *g, weft_world *world)
{
    size_t count = g->bytes.count;
    if (g->way != IN_MEMORY || c->b % 4 != 0) return;
    size_t at = (size_t)c->value % count;
    g->bytes.bytes[at] ^= 1;
    weft_result result = weft_world_load_memory(world, g->bytes.bytes, count, NULL);
    g->bytes.bytes[at] ^= 1;
    everything_says(e, "bytes.bytes[%zu] ^= 1;", at);
    everything_says(e, "CHECK(weft_world_load_memory(world, bytes.bytes, bytes.count, NULL) != "
                       "WEFT_OK);");
    everything_says(e, "bytes.bytes[%zu] ^= 1;", at);
    everything_equal(e, "a damaged file is refused", result != WEFT_OK, true);
}

/* The loaded world, its model and its handles; false: it failed. */
static bool world_load(everything *e, const everything_call *c, cargo *g, everything_place *other)
{
    const everything_place *p = e->here;
    if (!everything_open(e, other, "world")) return false;
    damage_try(e, c, g, other->world);
    model_copy_into(&other->m, &p->m, other->m.blocks);
    other->m.version = weft_world_change_version(other->world);
    model_renew(&other->m);
    uint64_t lost = g->without & (kinds_in_use(&p->m) | KIND_BIT(SOLE) | KIND_BIT(SOLE_LIST));
    model_without(&other->m, lost);
    cargo_says(e, g, "WEFT_OK", true);
    weft_result result = cargo_load(g, other->world);
    if (result != WEFT_OK) {
        everything_fails(e, "a load", "%s: %s", weft_result_name(result),
                         weft_world_error(other->world)->text);
        return false;
    }
    handles_retag(e, other, p);
    if (!everything_has_failed(e)) everything_compare(e, other);
    hashes_compare(e, other, g, lost);
    return !everything_has_failed(e);
}

static void run_carry(everything *e, const everything_call *c)
{
    const model *m = &e->here->m;
    everything_place *other = &e->places[1];
    uint64_t released = KIND_BIT(OWNED_SHARE);
    cargo g = {.way = c->way, .without = c->a % 4 == 0 ? c->value : released}; /* without hooks */
    if (c->way == AS_FILE && c->a % 8 < 6) g.way = IN_MEMORY; /* a file is synced: slow */
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* no disk waits */
    snprintf(g.path, sizeof g.path, "%s/weft-everything-%ld-%p", folder, (long)getpid(), (void *)e);
    if (c->way == AS_TEXT || (kinds_in_use(m) & released) != 0) g.without |= released;
    if (c->a % 4 != 0 && (kinds_in_use(m) & released) == 0 && c->way != AS_TEXT) g.without = 0;
    g.without_count = everything_components(e->here, g.without, g.list);
    cargo_says(e, &g, "WEFT_OK", false);
    weft_result result = cargo_save(&g, e->here->world);
    if (everything_result(e, "a save", result, WEFT_OK) && world_load(e, c, &g, other)) {
        cargo_drop(e, &g);
        if (c->b / 4 % 2 == 0) {
            everything_replace(e, other);
        } else {
            everything_close(e, other);
            everything_says(e,
                            "world = old;\n        kinds_register(world);\n"
                            "        tag_all(%uu);",
                            e->here->handle_tag);
        }
        return;
    }
    cargo_drop(e, &g);
}

/* ---- snapshots ---- */

static void snapshot_drop(everything *e, uint32_t slot)
{
    everything_snapshot *s = &e->snapshots[slot];
    if (s->snapshot == NULL) return;
    everything_says(e, "weft_snapshot_destroy(snapshots[%u]);", slot);
    weft_snapshot_destroy(s->snapshot);
    model_close(&s->m);
    *s = (everything_snapshot){0};
}

void everything_snapshots_drop(everything *e)
{
    for (uint32_t i = 0; i < EVERYTHING_SNAPSHOTS; i++) snapshot_drop(e, i);
}

static void snapshot_take(everything *e, const everything_call *c, uint32_t slot)
{
    everything_place *p = e->here;
    everything_snapshot *s = &e->snapshots[slot];
    uint32_t before = c->b % (EVERYTHING_SNAPSHOTS + 1);
    const weft_snapshot *previous = NULL;
    snapshot_drop(e, slot);
    if (before < EVERYTHING_SNAPSHOTS) previous = e->snapshots[before].snapshot;
    everything_says(e, "IS(WEFT_OK, weft_snapshot_take(world, %s, &snapshots[%u]));",
                    previous == NULL ? "NULL"
                    : before == 0    ? "snapshots[0]"
                    : before == 1    ? "snapshots[1]"
                                     : "snapshots[2]",
                    slot);
    everything_says(e, "memcpy(kept[%u], e, sizeof e);", slot);
    weft_result result = weft_snapshot_take(p->world, previous, &s->snapshot);
    if (!everything_result(e, "weft_snapshot_take", result, WEFT_OK)) return;
    model_copy(&s->m, &p->m);
    s->knows_stamps = p->knows_stamps;
    s->handles = model_memory(&s->m, p->m.count * sizeof *s->handles);
    for (uint32_t n = 1; n < p->m.count; n++) s->handles[n] = everything_handle(p, n);
    s->moment = weft_world_moment(p->world);
    s->hashes[0] = weft_world_hash(p->world, WEFT_HASH_CONTENT);
    s->hashes[1] = weft_world_hash(p->world, WEFT_HASH_LAYOUT);
    everything_equal(e, "weft_world_has_moment", weft_world_has_moment(p->world, s->moment), true);
}

/* Filters that name entities which the snapshot does not know. */
static void filters_reset(everything *e)
{
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++) {
        everything_query *q = &e->queries[i];
        if (q->query.id == 0 || q->asks.shared_count == 0) continue;
        q->asks.shared_count = 0;
        everything_says(e, "IS(WEFT_OK, weft_query_filter_reset(world, q[%u]));", i);
        everything_result(e, "weft_query_filter_reset",
                          weft_query_filter_reset(e->here->world, q->query), WEFT_OK);
    }
}

static void snapshot_restore(everything *e, uint32_t slot)
{
    everything_place *p = e->here;
    const everything_snapshot *s = &e->snapshots[slot];
    filters_reset(e);
    everything_commands_drop(e, p);
    uint64_t undone = weft_world_moment(p->world);
    everything_says(e, "IS(WEFT_OK, weft_snapshot_restore(world, snapshots[%u]));", slot);
    everything_says(e, "memcpy(e, kept[%u], sizeof e);", slot);
    weft_result result = weft_snapshot_restore(p->world, s->snapshot);
    if (!everything_result(e, "weft_snapshot_restore", result, WEFT_OK)) return;
    if (p->m.count > e->numbers) e->numbers = p->m.count;
    model_become(&p->m, &s->m);
    systems_after_restore(e);
    p->knows_stamps = s->knows_stamps;
    everything_relearn(e, p, s->handles, s->m.count);
    if (everything_has_failed(e) || !everything_compare(e, p)) return;
    everything_equal(e, "weft_world_has_moment of an undone one",
                     weft_world_has_moment(p->world, undone), false);
    everything_equal(e, "hash of the content of a restored world",
                     weft_world_hash(p->world, WEFT_HASH_CONTENT), s->hashes[0]);
    everything_equal(e, "hash of the layout of a restored world",
                     weft_world_hash(p->world, WEFT_HASH_LAYOUT), s->hashes[1]);
}

static const char *const snapshot_ways[] = {"take", "restore", "destroy", NULL};

static void run_snapshot(everything *e, const everything_call *c)
{
    uint32_t slot = c->a % EVERYTHING_SNAPSHOTS;
    for (uint32_t i = 0; i < EVERYTHING_SNAPSHOTS && c->way != 0; i++)
        if (e->snapshots[slot].snapshot == NULL) slot = (slot + 1) % EVERYTHING_SNAPSHOTS;
    if (c->way == 0 || e->snapshots[slot].snapshot == NULL)
        snapshot_take(e, c, slot);
    else if (c->way == 1)
        snapshot_restore(e, slot);
    else
        snapshot_drop(e, slot);
}

static void run_compact(everything *e, const everything_call *c)
{
    weft_world *world = e->here->world;
    uint64_t hash = weft_world_hash(world, WEFT_HASH_CONTENT);
    uint64_t budget = c->way == 0 ? c->size : UINT64_MAX;
    everything_says(e, "weft_world_compact(world, %lluu);", (unsigned long long)budget);
    uint64_t moved = weft_world_compact(world, budget);
    model_stir(&e->here->m);
    if (moved > budget) everything_equal(e, "rows that weft_world_compact moves", moved, budget);
    everything_equal(e, "hash of the content of a compacted world",
                     weft_world_hash(world, WEFT_HASH_CONTENT), hash);
    everything_result(e, "weft_world_validate", weft_world_validate(world),
                      e->here->has_rows ? WEFT_CORRUPT : WEFT_OK);
}

static const char *const compact_ways[] = {"some", "all", NULL};

const everything_op everything_ops_carriers[] = {
    {.name = "carry",
     .functions = "weft_world_save_memory weft_world_load_memory weft_world_bytes_free "
                  "weft_world_save_json weft_world_load_json weft_world_save weft_world_load "
                  "weft_world_hash",
     .weight = 2,
     .draws = DRAWS_SET,
     .ways = carry_ways,
     .run = run_carry},
    {.name = "snapshot",
     .functions = "weft_snapshot_take weft_snapshot_restore weft_snapshot_destroy "
                  "weft_world_moment weft_world_has_moment",
     .weight = 5,
     .ways = snapshot_ways,
     .run = run_snapshot},
    {.name = "compact",
     .functions = "weft_world_compact weft_world_validate",
     .weight = 2,
     .draws = DRAWS_SIZE,
     .ways = compact_ways,
     .run = run_compact},
    {0},
};
