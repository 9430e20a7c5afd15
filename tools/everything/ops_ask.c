/* SPDX-License-Identifier: MIT */
/* ops_ask.c: what a world, its components and archetypes say of themselves; values of entities that
 * are read and written in other ways than by weft_entity_set; references to the dead. */
#include "selection.h"

#include <stdlib.h>
#include <string.h>
#include <weft/type.h>

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* ---- values ---- */

static void run_write(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t n = everything_pick(e, c->a), size = m->kinds[c->kind].size;
    for (uint32_t i = 1; i < 8 && !model_has(m, n, c->kind); i++) n = everything_pick(e, c->a + i);
    model_value *value = model_read(m, n, c->kind);
    const uint8_t *bytes = everything_value(e, c->kind, c->value, c->b, 1);
    everything_says(e, "void *value = weft_entity_write(world, %s, of[%s]);",
                    everything_c_entity(e, n), name_of(c->kind));
    everything_says(e, "CHECK((value != NULL) == %d);", value != NULL);
    void *write =
        weft_entity_write(e->here->world, everything_handle(e->here, n), e->here->of[c->kind]);
    if (!everything_equal(e, "weft_entity_write", write != NULL, value != NULL)) return;
    if (value == NULL) return;
    everything_says(e, "memcpy(value, %s, %u);", everything_c_value(e, c->kind, bytes, 1), size);
    memcpy(write, everything_weft_value(e, e->here, c->kind, bytes, 1), size);
    memcpy(value->bytes, bytes, size);
    model_touch(m, n, KIND_BIT(c->kind));
}

static void run_read_many(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t *numbers = everything_many(e, c->a, c->b, c->size);
    uint32_t size = m->kinds[c->kind].size, good = 0;
    bool is_there = c->b % 8 != 0; /* mostly those that have it */
    for (uint32_t i = 0, n = c->a; i < c->size && is_there; i++) {
        for (uint32_t k = 0; k < 64 && !model_has(m, n % m->count, c->kind); k++) n++;
        numbers[i] = n++ % m->count;
    }
    model_result may = MODEL_OK;
    for (; good < c->size && may == MODEL_OK; good++) {
        uint32_t n = numbers[good];
        bool has = n < m->count && model_read(m, n, c->kind) != NULL;
        if (has) continue;
        may = n == EVERYTHING_FOREIGN ? MODEL_FOREIGN
              : model_is_alive(m, n)  ? MODEL_NOT_FOUND
                                      : MODEL_STALE;
        break;
    }
    weft_result expected = everything_result_of(may);
    uint8_t *out = model_memory(m, (size_t)(c->size + 1) * size);
    everything_says_list(e, "list", numbers, c->size);
    everything_says(e,
                    "static char out[%zu];\n        IS(%s, weft_entity_read_many(world, list, %u, "
                    "of[%s], out));",
                    (size_t)(c->size + 1) * size, weft_result_name(expected), c->size,
                    name_of(c->kind));
    weft_result result =
        weft_entity_read_many(e->here->world, everything_handles(e, numbers, c->size), c->size,
                              e->here->of[c->kind], out);
    if (!everything_result(e, "weft_entity_read_many", result, expected)) return;
    for (uint32_t i = 0; i < good; i++) {
        const uint8_t *value = everything_weft_value(e, e->here, c->kind,
                                                     model_read(m, numbers[i], c->kind)->bytes, 1);
        if (memcmp(out + (size_t)i * size, value, size) == 0) continue;
        everything_fails(e, "weft_entity_read_many: a value", "%s of entity %u", name_of(c->kind),
                         numbers[i]);
        return;
    }
}

/* The model does not know chunk values. */
static void run_clear(everything *e, const everything_call *c)
{
    (void)c;
    model *m = &e->here->m;
    bool has_chunks = false;
    for (uint32_t n = 1; n < m->count; n++) has_chunks |= model_has(m, n, CHUNK_LINK);
    uint64_t expected = model_clear_references(m), cleared = 0;
    everything_says(e, "uint64_t cleared;\n        IS(WEFT_OK, weft_world_clear_references(world, "
                       "&cleared));");
    if (!has_chunks) everything_says(e, "CHECK(cleared == %llu);", (unsigned long long)expected);
    weft_result result = weft_world_clear_references(e->here->world, &cleared);
    if (!everything_result(e, "weft_world_clear_references", result, WEFT_OK)) return;
    if (!has_chunks || cleared < expected)
        everything_equal(e, "references that were cleared", cleared, expected);
}

static void run_advance(everything *e, const everything_call *c)
{
    (void)c;
    uint32_t now = weft_world_change_version(e->here->world);
    everything_says(e, "weft_world_advance_change_version(world);");
    everything_equal(e, "weft_world_advance_change_version",
                     weft_world_advance_change_version(e->here->world), now);
    uint32_t then = weft_world_change_version(e->here->world);
    everything_equal(e, "weft_world_change_version", then, now + 1 == 0 ? 1 : now + 1);
}

static bool has_value(const void *const *list, uint32_t count, const void *value, size_t size)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(list[i], value, size) == 0) return true;
    return false;
}

/* All that entities have are listed, each once, in order. */
static void run_shared(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    weft_world *world = e->here->world;
    weft_component component = e->here->of[c->kind];
    size_t size = m->kinds[c->kind].size;
    uint32_t count = weft_shared_values(world, component, NULL, 0);
    const void **list = model_memory(m, (count + 1) * sizeof *list);
    everything_says(e, "weft_shared_values(world, of[%s], NULL, 0);", name_of(c->kind));
    everything_equal(e, "weft_shared_values", weft_shared_values(world, component, list, count),
                     count);
    for (uint32_t i = 1; i < count && !everything_has_failed(e); i++) {
        bool is_behind = i == 1 || memcmp(list[i - 1], list[i], size) < 0;
        everything_equal(e, "weft_shared_values: order", is_behind, true);
        everything_equal(e, "weft_shared_values: the default twice",
                         has_value(list, 1, list[i], size), false);
    }
    for (uint32_t n = 1; n < m->count && !everything_has_failed(e); n++) {
        const model_value *value = model_read(m, n, c->kind);
        if (value == NULL) continue;
        const void *bytes = everything_weft_value(e, e->here, c->kind, value->bytes, 1);
        everything_equal(e, "weft_shared_values: one is missing",
                         has_value(list, count, bytes, size), true);
    }
}

/* ---- components ---- */

static void run_component(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    weft_world *world = e->here->world;
    weft_component component = e->here->of[c->kind];
    uint32_t kind = c->kind;
    const weft_component_desc *desc = weft_component_info(world, component);
    if (!everything_equal(e, "weft_component_info", desc != NULL, true)) return;
    everything_equal(e, "weft_component_find", weft_component_find(world, desc->name).id,
                     component.id);
    everything_equal(e, "weft_component_info: size", desc->size, m->kinds[kind].size);
    everything_equal(e, "weft_component_hash", weft_component_hash(world, component) != 0, true);
    bool has_type = weft_component_type(world, component) != NULL;
    weft_result expected = has_type ? WEFT_OK : WEFT_UNSUPPORTED;
    if (kind_has_value(kind)) {
        const uint8_t *bytes = everything_value(e, kind, c->value, c->b, 1);
        const void *value = everything_weft_value(e, e->here, kind, bytes, 1);
        everything_result(e, "weft_component_check", weft_component_check(world, component, value),
                          expected);
    }
    if (kind != PLAIN) return;
    everything_says(e, "CHECK(weft_component_create_plain(world, \"PLAIN\", 4, 4, 0).id == "
                       "of[PLAIN].id);");
    everything_equal(e, "weft_component_create_plain of what there is",
                     weft_component_create_plain(world, "PLAIN", 4, 4, 0).id, component.id);
    everything_equal(e, "weft_component_create_typed of what there is",
                     weft_component_create_typed(world, "PLAIN", 4, 4, 0).id, component.id);
}

/* An entity with it is in a loaded world, too, with the fields by their names. */
static void described_carry(everything *e, weft_world *world, weft_component component,
                            uint32_t value)
{
    weft_world_bytes bytes = {0};
    weft_world *loaded = NULL;
    const char *name = weft_component_info(world, component)->name;
    weft_entity entity = weft_entity_create(world, weft_archetype_create(world, &component, 1));
    weft_result result = weft_entity_set(world, entity, component, &value, sizeof value);
    everything_result(e, "weft_entity_set of what is described", result, WEFT_OK);
    result = weft_world_save_memory(world, &bytes, NULL);
    if (!everything_result(e, "saving what is described", result, WEFT_OK)) return;
    const weft_world_desc desc = {.workers = 1,
                                  .without_huge_pages = true,
                                  .trace_file = "",
                                  .is_hidden = true,
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    result = weft_world_create(&desc, &loaded);
    if (everything_result(e, "weft_world_create", result, WEFT_OK)) {
        result = weft_world_load_memory(loaded, bytes.bytes, bytes.count, NULL);
        everything_result(e, "loading what is described", result, WEFT_OK);
        const uint32_t *read =
            weft_entity_read(loaded, (weft_entity){weft_entity_index(entity), entity.version},
                             weft_component_find(loaded, name));
        everything_equal(e, "a value that is described", read == NULL ? ~value : *read, value);
        everything_result(e, "weft_world_destroy", weft_world_destroy(loaded), WEFT_OK);
    }
    weft_world_bytes_free(world, &bytes);
}

/* Paths of described fields have at most 255 bytes: a component with a longer one is refused, with
 * another one a saved world is loaded. */
static void run_described(everything *e, const everything_call *c)
{
    enum { PATH_MOST = 255 };
    everything_place *there = &e->places[1];
    char outer[PATH_MOST + 1] = "", inner[PATH_MOST + 1] = "", name[16];
    uint32_t length = c->way == 0 ? PATH_MOST - 2 + c->b % 4 : 3 + c->b % 300;
    uint32_t left = 1 + c->a % (length < PATH_MOST + 1 ? length - 2 : PATH_MOST - 1);
    uint32_t right = length - 1 - left > PATH_MOST ? PATH_MOST : length - 1 - left;
    FILE *out = e->out;
    memset(outer, 'o', left);
    memset(inner, 'i', right);
    const weft_field leaf = {.name = inner, .kind = WEFT_FIELD_U32};
    const weft_type in = {
        .name = "In", .size = 4, .alignment = 4, .fields = &leaf, .field_count = 1};
    const weft_field field = {.name = outer, .kind = WEFT_FIELD_STRUCT, .type = &in};
    const weft_type type = {
        .name = "Out", .size = 4, .alignment = 4, .fields = &field, .field_count = 1};
    snprintf(name, sizeof name, "D%u", c->b % 100);
    everything_says(e, "/* a component was described with a path of %u and %u bytes */", left,
                    right);
    e->out = NULL;
    if (everything_open(e, there, "there")) {
        bool is_long = left + 1 + right > PATH_MOST;
        weft_component made = weft_component_create(
            there->world, &(weft_component_desc){.name = name, .type = &type});
        everything_equal(e, "a component with a path is declared", made.id == 0, is_long);
        if (made.id != 0 && !is_long) described_carry(e, there->world, made, (uint32_t)c->value);
        if (!everything_has_failed(e)) everything_close(e, there);
    }
    e->out = out;
}

/* Living entities, or residues, with the same rows. */
static uint32_t count_alike(const model *m, uint32_t n)
{
    uint64_t rows = model_rows(m, m->entities[n].set);
    uint32_t count = 0;
    for (uint32_t k = 1; k < m->count; k++)
        count +=
            m->entities[k].life == m->entities[n].life && model_rows(m, m->entities[k].set) == rows;
    return count;
}

static void run_archetype(everything *e, const everything_call *c)
{
    const model *m = &e->here->m;
    weft_world *world = e->here->world;
    uint32_t n = everything_pick_living(e, c->a), bands[5], in_bands = 0, found = 0, i = 0;
    weft_entity_place place;
    weft_archetype_stats stats;
    if (n == 0) return;
    weft_entity entity = everything_handle(e->here, n);
    weft_archetype archetype = weft_entity_archetype(world, entity), at;
    weft_result result = weft_entity_place_get(world, entity, &place, sizeof place);
    if (!everything_result(e, "weft_entity_place_get", result, WEFT_OK)) return;
    everything_equal(e, "weft_entity_place: archetype", place.archetype.id, archetype.id);
    everything_equal(e, "weft_entity_place: row", place.row < place.chunk_rows, true);
    everything_equal(e, "weft_entity_place: rows", place.chunk_rows <= place.chunk_capacity, true);
    result = weft_archetype_stats_get(world, archetype, &stats, sizeof stats);
    if (!everything_result(e, "weft_archetype_stats_get", result, WEFT_OK)) return;
    everything_equal(e, "weft_archetype_stats: entities", stats.entities, count_alike(m, n));
    everything_equal(e, "weft_archetype_stats: bytes", stats.bytes_used + stats.bytes_wasted,
                     stats.bytes);
    everything_equal(e, "weft_archetype_stats: chunk", place.chunk < stats.chunks, true);
    uint32_t chunks = weft_archetype_occupancy(world, archetype, bands, 5);
    for (uint32_t k = 0; k < 5; k++) in_bands += bands[k];
    everything_equal(e, "weft_archetype_occupancy", chunks, stats.chunks);
    everything_equal(e, "weft_archetype_occupancy: bands", in_bands, chunks);
    for (; (at = weft_archetype_at(world, i)).id != 0; i++) found += at.id == archetype.id;
    everything_equal(e, "weft_archetype_at", found, 1);
    weft_world_stats all;
    weft_world_stats_get(world, &all, sizeof all);
    everything_equal(e, "weft_world_stats: archetypes", i, all.archetypes);
}

static void hook_stepped(weft_world *world, void *user)
{
    (void)world;
    ++*(uint32_t *)user;
}

static void run_world(everything *e, const everything_call *c)
{
    weft_world *world = e->here->world;
    uint32_t steps = 0;
    (void)c;
    everything_equal(e, "weft_world_pool", weft_world_pool(world) != NULL, true);
    everything_equal(e, "weft_world_head_of", weft_world_head_of(world)->number,
                     e->here->of[PLAIN].world);
    everything_equal(e, "weft_world_blobs",
                     weft_world_blobs(world) != NULL &&
                         weft_world_blobs(world) == weft_world_blobs(world),
                     true);
    weft_world_error_clear(world);
    everything_equal(e, "weft_world_error_clear", weft_world_error(world)->code, WEFT_OK);
    weft_world_hook hook = {.stepped = hook_stepped, .user = &steps, .name = "a hook"};
    if (!everything_result(e, "weft_world_hook_add", weft_world_hook_add(world, &hook), WEFT_OK))
        return;
    everything_equal(e, "weft_world_hook_find", weft_world_hook_find(world, "a hook") == &hook,
                     true);
    everything_result(e, "weft_world_hook_remove", weft_world_hook_remove(world, &hook), WEFT_OK);
    everything_equal(e, "weft_world_hook_find of none",
                     weft_world_hook_find(world, "a hook") == NULL, true);
    everything_result(e, "weft_world_hook_remove of none", weft_world_hook_remove(world, &hook),
                      WEFT_NOT_FOUND);
}

static const char *const schedule_ways[] = {"ambiguities", "sync points", "chain", "json",
                                            "explain",     "counters",    NULL};

static size_t schedule_text(everything *e, const everything_call *c, char *text, size_t room)
{
    weft_world *world = e->here->world;
    weft_system list[2] = {{0}};
    switch (c->way) {
    case 0:
        return weft_schedule_ambiguities(world, text, room);
    case 1:
        return weft_schedule_sync_points(world, text, room);
    case 2:
        return weft_schedule_chain(world, text, room);
    case 3:
        return weft_schedule_json(world, text, room);
    case 4:
        if (weft_system_list(world, list, 2) == 0) return 0;
        if (list[1].id == 0 || c->b % 2 == 0) list[1] = list[0];
        return weft_schedule_explain(world, list[0], list[1], text, room);
    default:
        return weft_schedule_counters(world, text, room);
    }
}

/* As long as it says, and the same again. */
static void run_schedule(everything *e, const everything_call *c)
{
    char small[32], *text, *again;
    size_t length = schedule_text(e, c, NULL, 0);
    schedule_text(e, c, small, sizeof small);
    text = model_memory(&e->here->m, length + 1);
    again = model_memory(&e->here->m, length + 1);
    schedule_text(e, c, text, length + 1);
    schedule_text(e, c, again, length + 1);
    everything_equal(e, "a text of the schedule: length", strlen(text), length);
    everything_equal(e, "a text of the schedule: again", strcmp(text, again) == 0, true);
    everything_equal(e, "a text of the schedule: cut",
                     strncmp(text, small, length < 31 ? length : 31) == 0, true);
    everything_equal(e, "weft_schedule_mistakes", weft_schedule_mistakes(e->here->world, NULL, 0),
                     0);
    weft_frame_stats frame;
    weft_system_counters counters;
    weft_system first;
    weft_frame_stats_get(e->here->world, &frame, sizeof frame);
    if (weft_system_list(e->here->world, &first, 1) == 0) return;
    weft_result result =
        weft_system_counters_get(e->here->world, first, &counters, sizeof counters);
    everything_result(e, "weft_system_counters_get", result, WEFT_OK);
}

/* ---- filters by order ---- */

/* From 0 on all, from now on none. */
static void run_order(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s) || selection_is_of_sparse_rows(&s)) return;
    weft_world *world = e->here->world;
    uint32_t since = c->way == 0 ? 0 : weft_world_change_version(world);
    if (c->way == 1) weft_world_advance_change_version(world);
    everything_says(e, "IS(WEFT_OK, weft_query_filter_order(world, q[%u], %u));", s.slot, since);
    weft_result result = weft_query_filter_order(world, s.q->query, since);
    if (!everything_result(e, "weft_query_filter_order", result, WEFT_OK)) return;
    uint32_t expected = c->way == 0 ? s.count : 0;
    everything_says(e, "CHECK(weft_query_count(world, q[%u]) == %u);", s.slot, expected);
    everything_equal(e, "rows of a filter by order", weft_query_count(world, s.q->query), expected);
    s.q->asks.shared_count = 0;
    everything_says(e, "IS(WEFT_OK, weft_query_filter_reset(world, q[%u]));", s.slot);
    everything_result(e, "weft_query_filter_reset", weft_query_filter_reset(world, s.q->query),
                      WEFT_OK);
}

static const char *const order_ways[] = {"all", "none", NULL};
static const char *const described_ways[] = {"near the most", "any", NULL};

const everything_op everything_ops_ask[] = {
    {.name = "entity_write",
     .functions = "weft_entity_write",
     .weight = 4,
     .draws = DRAWS_KIND,
     .takes = kind_has_value,
     .run = run_write},
    {.name = "read_many",
     .functions = "weft_entity_read_many",
     .weight = 3,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_has_value,
     .run = run_read_many},
    {.name = "clear_references",
     .functions = "weft_world_clear_references",
     .weight = 2,
     .run = run_clear},
    {.name = "advance",
     .functions = "weft_world_advance_change_version weft_world_change_version",
     .weight = 2,
     .run = run_advance},
    {.name = "shared_values",
     .functions = "weft_shared_values",
     .weight = 1,
     .draws = DRAWS_KIND,
     .takes = kind_is_shared,
     .run = run_shared},
    {.name = "component",
     .functions = "weft_component_info weft_component_find weft_component_hash "
                  "weft_component_type weft_component_check "
                  "weft_component_create_plain weft_component_create_typed",
     .weight = 2,
     .draws = DRAWS_KIND,
     .run = run_component},
    {.name = "described",
     .functions = "weft_component_create weft_world_save_memory weft_world_load_memory",
     .weight = 1,
     .ways = described_ways,
     .run = run_described},
    {.name = "archetype",
     .functions = "weft_entity_place_get weft_archetype_stats_get weft_archetype_occupancy "
                  "weft_archetype_at weft_world_stats_get",
     .weight = 2,
     .run = run_archetype},
    {.name = "world",
     .functions = "weft_world_pool weft_world_blobs weft_world_error_clear weft_world_hook_add "
                  "weft_world_hook_find weft_world_hook_remove weft_world_head_of",
     .weight = 1,
     .run = run_world},
    {.name = "schedule_text",
     .functions = "weft_schedule_ambiguities weft_schedule_sync_points weft_schedule_chain "
                  "weft_schedule_json weft_schedule_explain "
                  "weft_schedule_counters weft_schedule_mistakes weft_frame_stats_get "
                  "weft_system_counters_get",
     .weight = 1,
     .ways = schedule_ways,
     .run = run_schedule},
    {.name = "query_order",
     .functions = "weft_query_filter_order weft_query_filter_reset weft_query_count",
     .weight = 2,
     .ways = order_ways,
     .run = run_order},
    {0},
};
