/* SPDX-License-Identifier: MIT */
/* test_refused.c: every allocation of a call may be refused: for each k the call whose k-th
 * allocation has no memory leaves content, layout, names and statistics as before, and the same
 * call again gives what it gives in a world that was refused nothing. Functions x kinds of
 * component: the table `functions` below; the table that is printed says how many refusals each
 * had. A function and kind that are given 0 refusals allocate nothing, or the kind does not go
 * with the function (-).
 *
 * A call that does with less than it asked for (smaller chunks) makes the same content.
 *
 * What a refused call may leave: archetypes, chunk objects and edges between archetypes, which
 * are caches: they are found again. So weft_world_stats.archetypes, bytes and allocations are
 * not compared. WEFT_REFUSED=1 in the environment also sweeps with every later allocation
 * refused (not only one). */
#include "memory_fault.h"
#include "plain.h"

#include <weft/ecs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 70, FAR = 200, KIND_COUNT = 12, NAMES = 4096 };

typedef enum kind {
    PLAIN,
    WIDE, /* few rows fill a chunk */
    ENABLEABLE,
    SHARED,
    BUFFER,
    CHUNK,
    CLEANUP,
    SPARSE,
    TAG,
    HOOKED,
    NOT_COPIED,
    RELATION,
} kind;

static const char *const kind_names[KIND_COUNT] = {"plain",  "wide",   "enableable", "shared",
                                                   "buffer", "chunk",  "cleanup",    "sparse",
                                                   "tag",    "hooked", "not_copied", "relation"};

/* A world in which every function has something to do. Owner: one run. */
typedef struct refused_world {
    test_memory memory;
    weft_world *world;
    weft_component kinds[KIND_COUNT], base, reference;
    weft_entity e[ENTITIES];
    weft_entity root; /* of a linked group with all kinds: e[0] to e[2] */
    weft_query query; /* all with `base` */
    weft_archetype bare, full;
    kind kind; /* what the function is called with */
    weft_snapshot *snapshot;
    weft_world_bytes bytes;
    weft_world *other;
} refused_world;

static const weft_field reference_field = {"to", WEFT_FIELD_ENTITY, 0, 1};
static uint32_t
    hook_values; /* constructed and copied less destructed; set calls bring values of their own */

static void hook_construct(void *values, uint32_t count, void *user)
{
    (void)user;
    memset(values, 7, count * sizeof(uint64_t));
    hook_values += count;
}

static void hook_destruct(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    hook_values -= count;
}

static void hook_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    memcpy(to, from, count * sizeof(uint64_t));
    hook_values += count;
}

static size_t hook_save(const void *value, void *out, size_t capacity, void *user)
{
    (void)user;
    if (capacity >= sizeof(uint64_t)) memcpy(out, value, sizeof(uint64_t));
    return sizeof(uint64_t);
}

static bool hook_load(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    if (count == sizeof(uint64_t)) memcpy(value, bytes, sizeof(uint64_t));
    return count == sizeof(uint64_t);
}

static const weft_component_hooks hooks = {hook_construct, hook_destruct, hook_copy,
                                           NULL,           hook_save,     hook_load};

static void kinds_register(refused_world *w, weft_world *world, weft_component *kinds)
{
    static const uint32_t flags[KIND_COUNT] = {
        0,           0,          WEFT_ENABLEABLE, WEFT_SHARED,
        WEFT_BUFFER, WEFT_CHUNK, WEFT_CLEANUP,    WEFT_SPARSE,
        0,           0,          WEFT_NOT_COPIED, 0};
    for (uint32_t k = 0; k < KIND_COUNT; k++) {
        weft_component_desc desc = {
            .name = kind_names[k], .size = 8, .alignment = 8, .flags = flags[k]};
        if (k == WIDE) desc.size = 2048;
        if (k == TAG) desc.size = 0, desc.alignment = 1;
        if (k == BUFFER) desc.buffer_capacity = 2;
        if (k == HOOKED) desc.hooks = hooks;
        if (k == RELATION) desc.fields = &reference_field, desc.field_count = 1, desc.alignment = 4;
        kinds[k] = weft_component_create(world, &desc);
        CHECK(kinds[k].id != 0);
    }
    const weft_relation_desc relation = {.component = kinds[RELATION], .by_depth = true};
    CHECK_OK(weft_relation_declare(world, &relation));
    (void)w;
}

/* Puts a value of a kind into an entity, as a test of something else. */
static void give(refused_world *w, weft_entity e, kind k, uint64_t value)
{
    weft_world *world = w->world;
    static uint64_t wide[256];
    wide[0] = value;
    switch (k) {
    case SHARED:
        CHECK_OK(weft_entity_set_shared(world, e, w->kinds[k], &value));
        break;
    case BUFFER:
        CHECK_OK(weft_entity_add(world, e, w->kinds[k]));
        const weft_buffers b = weft_entity_write_buffer(world, e, w->kinds[k]);
        for (uint64_t i = 0; i < value % 7; i++) CHECK_OK(weft_buffers_append(&b, 0, &i, 1));
        break;
    case TAG:
    case CHUNK:
        CHECK_OK(weft_entity_add(world, e, w->kinds[k]));
        break;
    case RELATION:
        CHECK_OK(weft_relation_set(world, e, w->kinds[k], w->e[ENTITIES - 1]));
        break;
    case WIDE:
        CHECK_OK(weft_entity_set(world, e, w->kinds[k], wide, sizeof wide));
        break;
    case PLAIN:
    case ENABLEABLE:
    case CLEANUP:
    case SPARSE:
    case HOOKED:
    case NOT_COPIED:
        CHECK_OK(weft_entity_set(world, e, w->kinds[k], &value, 8));
        break;
    }
}

static void world_open(refused_world *w, kind k)
{
    *w = (refused_world){.kind = k};
    hook_values = 0;
    test_memory_init(&w->memory);
    const weft_world_desc desc = {.workers = 1,
                                  .allocator = test_memory_hook(&w->memory),
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &w->world));
    weft_world *world = w->world;
    kinds_register(w, world, w->kinds);
    w->base = weft_component_create_plain(world, "base", 4, 4, 0);
    w->reference = weft_component_create(world, &(weft_component_desc){.name = "reference",
                                                                       .size = 8,
                                                                       .alignment = 4,
                                                                       .fields = &reference_field,
                                                                       .field_count = 1});
    w->bare = weft_archetype_create(world, &w->base, 1);
    CHECK_OK(weft_entity_create_many(world, w->bare, ENTITIES, w->e));
    w->full = weft_archetype_create(world,
                                    (weft_component[]){w->base, w->kinds[PLAIN], w->kinds[HOOKED],
                                                       w->kinds[BUFFER], w->kinds[ENABLEABLE]},
                                    5);
    /* 0 to 2: a group with all kinds; up to 9 with the kind and others; the rest bare. */
    w->root = w->e[0];
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t a = 0; a < KIND_COUNT; a++) give(w, w->e[i], (kind)a, i + 3);
    for (uint32_t i = 3; i < 10; i++) give(w, w->e[i], k, i), give(w, w->e[i], PLAIN, i);
    CHECK_OK(weft_entity_set(world, w->e[1], w->reference, &w->e[0], 8));
    const weft_component group = weft_component_linked_group(world);
    CHECK_OK(weft_entity_add(world, w->root, group));
    const weft_buffers members = weft_entity_write_buffer(world, w->root, group);
    CHECK_OK(weft_buffers_append(&members, 0, w->e, 3));
    CHECK_OK(weft_entity_enable(world, w->e[1], w->kinds[ENABLEABLE], false));
    CHECK_OK(weft_entity_set_name(world, w->root, "root"));
    CHECK_OK(weft_entity_set_name(world, w->e[5], "five"));
    CHECK_OK(weft_entity_destroy(world, w->e[20])); /* a free index */
    w->query = weft_query_create(world, &(weft_query_desc){.terms = {{w->base}}});
    CHECK_OK(weft_relation_settle(world));
    CHECK_OK(weft_snapshot_take(world, NULL, &w->snapshot));
    CHECK_OK(weft_world_save_memory(world, &w->bytes, NULL));
    give(w, w->e[30], k, 30); /* since the snapshot */
    CHECK_OK(weft_relation_settle(world));
    weft_world_advance_change_version(world);
    const weft_world_desc second = {.workers = 1,
                                    .allocator = test_memory_hook(&w->memory),
                                    .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&second, &w->other));
    const weft_component_desc hooked = {
        .name = kind_names[HOOKED], .size = 8, .alignment = 8, .hooks = hooks};
    CHECK(weft_component_create(w->other, &hooked).id != 0);
}

static void world_close(refused_world *w)
{
    weft_snapshot_destroy(w->snapshot);
    weft_world_bytes_free(w->world, &w->bytes);
    CHECK_OK(weft_world_destroy(w->world));
    CHECK_OK(weft_world_destroy(w->other));
    test_memory_fini(&w->memory);
}

/* ---- what is compared ---- */

typedef struct state {
    uint64_t layout, content, versions, other, other_content;
    uint64_t entities, chunks, slices, units, types, queries, buffers, shared;
    uint32_t hooked;
    char names[NAMES];
} state;

static void state_of(refused_world *w, state *out)
{
    memset(out, 0, sizeof *out);
    out->layout = weft_world_hash(w->world, WEFT_HASH_LAYOUT);
    out->content = weft_world_hash(w->world, WEFT_HASH_CONTENT);
    for (uint32_t i = 0; i < ENTITIES * KIND_COUNT; i++) {
        const weft_entity e = w->e[i / KIND_COUNT];
        if (weft_entity_has(w->world, e, w->kinds[i % KIND_COUNT]))
            out->versions = out->versions * 31 +
                            weft_entity_change_version(w->world, e, w->kinds[i % KIND_COUNT]);
    }
    out->other = weft_world_hash(w->other, WEFT_HASH_LAYOUT);
    out->other_content = weft_world_hash(w->other, WEFT_HASH_CONTENT);
    weft_world_stats s;
    weft_world_stats_get(w->world, &s, sizeof s);
    out->entities = s.entities, out->chunks = s.chunks, out->slices = s.slices,
    out->units = s.units_used;
    out->types = s.component_types, out->queries = s.queries;
    out->buffers = s.bytes_buffers;
    out->shared = weft_shared_values(w->world, w->kinds[SHARED], NULL, 0);
    out->hooked = hook_values;
    size_t used = 0;
    static weft_entity named[2 * FAR];
    const uint32_t count = weft_entity_search(w->world, "", named, 2 * FAR);
    uint64_t sum = 0; /* in no order */
    for (uint32_t i = 0; i < count && i < 2 * FAR; i++) {
        uint64_t one = named[i].index * UINT64_C(0x9e3779b97f4a7c15) + named[i].version;
        for (const char *c = weft_entity_name(w->world, named[i]); *c; c++)
            one = one * 31 + (unsigned char)*c;
        sum += one;
    }
    used += (size_t)snprintf(out->names + used, NAMES - used, "%u %llx", count,
                             (unsigned long long)sum);
}

static void check_equal(const char *what, const char *function, kind k, uint64_t at,
                        const state *got, const state *want)
{
    if (memcmp(got, want, sizeof *got) == 0) return;
    printf("%s(%s), refused at allocation %llu: %s\n", function, kind_names[k],
           (unsigned long long)at, what);
    const struct {
        const char *name;
        uint64_t got, want;
    } figures[] = {{"layout", got->layout, want->layout},
                   {"content", got->content, want->content},
                   {"versions", got->versions, want->versions},
                   {"layout of the other world", got->other, want->other},
                   {"content of the other world", got->other_content, want->other_content},
                   {"entities", got->entities, want->entities},
                   {"chunks", got->chunks, want->chunks},
                   {"slices", got->slices, want->slices},
                   {"units", got->units, want->units},
                   {"types", got->types, want->types},
                   {"queries", got->queries, want->queries},
                   {"bytes of buffers", got->buffers, want->buffers},
                   {"shared values", got->shared, want->shared},
                   {"hooked values", got->hooked, want->hooked}};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (figures[i].got != figures[i].want)
            printf("  %s: %llx, not %llx\n", figures[i].name, (unsigned long long)figures[i].got,
                   (unsigned long long)figures[i].want);
    if (strcmp(got->names, want->names) != 0)
        printf("  names: %s, not %s\n", got->names, want->names);
}

/* ---- the functions ---- */

static weft_result code_of(weft_world *world, bool is_done)
{
    return is_done ? WEFT_OK : weft_world_error(world)->code;
}

static const void *value_of(const refused_world *w)
{
    static uint64_t value[256] = {42};
    static const weft_entity target = {0};
    return w->kind == RELATION ? (const void *)&target : value;
}

static size_t bytes_of(const refused_world *w)
{
    return w->kind == WIDE ? 2048 : w->kind == TAG ? 0 : 8;
}

static weft_result do_create(refused_world *w)
{
    return code_of(w->world, weft_entity_create(w->world, w->full).version != 0);
}

static weft_result do_create_many(refused_world *w)
{
    const weft_component kinds[] = {w->kinds[w->kind]};
    return weft_entity_create_many(
        w->world, weft_archetype_create(w->world, kinds, w->kind != SPARSE), FAR, NULL);
}

static weft_result do_create_filled(refused_world *w)
{
    static uint64_t values[FAR * 256];
    const weft_component kinds[] = {w->base, w->kinds[w->kind]};
    const weft_archetype to = weft_archetype_create(w->world, kinds, w->kind == SPARSE ? 1 : 2);
    const weft_values filled[] = {{w->kinds[w->kind], values}};
    return weft_entity_create_filled(w->world, to, filled, 1, FAR, NULL);
}

static weft_result do_instantiate(refused_world *w)
{
    return weft_entity_instantiate(w->world, w->e[4], FAR, NULL);
}

static weft_result do_instantiate_one(refused_world *w)
{
    return weft_entity_instantiate(w->world, w->e[5], 1, NULL); /* named */
}

static weft_result do_instantiate_group(refused_world *w)
{
    return weft_entity_instantiate(w->world, w->root, FAR, NULL);
}

static weft_result do_add(refused_world *w)
{
    return weft_entity_add(w->world, w->e[40], w->kinds[w->kind]);
}

static weft_result do_remove(refused_world *w)
{
    return weft_entity_remove(w->world, w->e[4], w->kinds[w->kind]);
}

static weft_result do_set(refused_world *w)
{
    return weft_entity_set(w->world, w->e[40], w->kinds[w->kind], value_of(w), bytes_of(w));
}

static weft_result do_set_many(refused_world *w)
{
    static uint64_t values[ENTITIES * 256];
    return weft_entity_set_many(w->world, w->e + 3, 15, w->kinds[w->kind], values, bytes_of(w));
}

static weft_result do_set_shared(refused_world *w)
{
    const uint64_t value = 99;
    return weft_entity_set_shared(w->world, w->e[40], w->kinds[w->kind], &value);
}

static weft_result do_set_shared_many(refused_world *w)
{
    const uint64_t value = 99;
    return weft_entity_set_shared_many(w->world, w->e + 2, 18, w->kinds[w->kind], &value);
}

static weft_result do_change_many(refused_world *w)
{
    const weft_component add[] = {w->kinds[w->kind], w->reference};
    return weft_entity_change_many(
        w->world, w->e + 3, 17,
        &(weft_change_desc){.add = add, .add_count = 2, .remove = &w->base, .remove_count = 1});
}

static weft_result do_set_archetype(refused_world *w)
{
    if (w->kind == SPARSE) return WEFT_TYPE_MISMATCH;
    const weft_component to[] = {w->kinds[w->kind], w->reference};
    return weft_entity_set_archetype(w->world, w->e[41], weft_archetype_create(w->world, to, 2));
}

static weft_result do_swap(refused_world *w)
{
    return weft_entity_swap(w->world, w->e[4], w->e[5]);
}

static weft_result do_destroy(refused_world *w)
{
    return weft_entity_destroy(w->world, w->e[4]);
}

static weft_result do_destroy_many(refused_world *w)
{
    return weft_entity_destroy_many(w->world, w->e, 60); /* the group, too */
}

static weft_result do_query_add(refused_world *w)
{
    return weft_query_add(w->world, w->query, w->kinds[w->kind]);
}

static weft_result do_query_remove(refused_world *w)
{
    return weft_query_remove(w->world, w->query, w->kinds[w->kind]);
}

static weft_result do_query_set(refused_world *w)
{
    return weft_query_set(w->world, w->query, w->kinds[w->kind], value_of(w), bytes_of(w));
}

static weft_result do_query_set_shared(refused_world *w)
{
    const uint64_t value = 99;
    return weft_query_set_shared(w->world, w->query, w->kinds[w->kind], &value);
}

static weft_result do_query_enable(refused_world *w)
{
    return weft_query_enable(w->world, w->query, w->kinds[w->kind], false);
}

static weft_result do_query_destroy(refused_world *w)
{
    return weft_query_destroy_entities(w->world, w->query);
}

static weft_result do_query_create(refused_world *w)
{
    const weft_query_desc desc = {.terms = {{w->kinds[w->kind]}}};
    const weft_query made = weft_query_create(w->world, &desc);
    return code_of(w->world, made.id != 0);
}

static weft_result do_filter_shared(refused_world *w)
{
    const uint64_t value = 5;
    const weft_query_desc desc = {.terms = {{w->kinds[w->kind]}}};
    const weft_query made = weft_query_create(w->world, &desc);
    if (made.id == 0) return weft_world_error(w->world)->code;
    const weft_result result =
        weft_query_filter_shared(w->world, made, w->kinds[w->kind], WEFT_FILTER_EQUAL, &value, 1);
    if (result != WEFT_OK) CHECK_OK(weft_query_destroy(w->world, made));
    return result;
}

static weft_result do_append(refused_world *w)
{
    const weft_buffers b = weft_entity_write_buffer(w->world, w->e[4], w->kinds[w->kind]);
    if (b.count == 0) return weft_world_error(w->world)->code;
    const uint64_t values[20] = {1, 2, 3};
    return weft_buffers_append(&b, 0, values, 20);
}

static weft_result do_set_name(refused_world *w)
{
    return weft_entity_set_name(w->world, w->e[50], "fifty");
}

static weft_result do_relation_set(refused_world *w)
{
    return weft_relation_set(w->world, w->e[45], w->kinds[RELATION], w->e[4]);
}

static weft_result do_relation_set_many(refused_world *w)
{
    return weft_relation_set_many(w->world, w->e + 30, 30, w->kinds[RELATION], w->e[4]);
}

static weft_result do_component(refused_world *w)
{
    return code_of(w->world,
                   weft_component_create_plain(w->world, "new", 8, 8, WEFT_SPARSE).id != 0);
}

static weft_result do_restore(refused_world *w)
{
    return weft_snapshot_restore(w->world, w->snapshot);
}

static weft_result do_snapshot(refused_world *w)
{
    weft_snapshot *taken;
    const weft_result result = weft_snapshot_take(w->world, w->snapshot, &taken);
    if (result == WEFT_OK) weft_snapshot_destroy(taken);
    return result;
}

static weft_result do_save(refused_world *w)
{
    weft_world_bytes bytes;
    const weft_result result = weft_world_save_memory(w->world, &bytes, NULL);
    if (result == WEFT_OK) weft_world_bytes_free(w->world, &bytes);
    return result;
}

static weft_result do_load(refused_world *w)
{
    const weft_load_desc desc = {0};
    return weft_world_load_memory(w->other, w->bytes.bytes, w->bytes.count, &desc);
}

static weft_result do_transfer(refused_world *w)
{
    return weft_world_transfer(w->other, w->world, NULL, NULL, 0);
}

static weft_result do_transfer_some(refused_world *w)
{
    const weft_query_desc desc = {.terms = {{w->kinds[w->kind]}}, .ignores_enabled = true};
    const weft_query some = weft_query_create(w->world, &desc);
    if (some.id == 0) return weft_world_error(w->world)->code;
    const weft_result result =
        weft_world_transfer(w->other, w->world, &(weft_transfer_desc){.query = some}, NULL, 0);
    CHECK_OK(weft_query_destroy(w->world, some));
    return result;
}

static weft_result do_clear_references(refused_world *w)
{
    return weft_world_clear_references(w->world, NULL);
}

static weft_result do_compact(refused_world *w)
{
    weft_world_compact(w->world, UINT64_MAX); /* stops early without memory, which is no error */
    return WEFT_OK;
}

/* A function of the table: what it is called, and whether its kind of component says something. */
typedef struct function {
    const char *name;
    weft_result (*run)(refused_world *w);
    bool has_kind;
    bool queries_stay; /* a query that it made for itself stays made: not compared */
} function;

static const function functions[] = {
    {"weft_entity_create", do_create, false, false},
    {"weft_entity_create_many", do_create_many, true, false},
    {"weft_entity_create_filled", do_create_filled, true, false},
    {"weft_entity_instantiate", do_instantiate, true, false},
    {"weft_entity_instantiate 1", do_instantiate_one, true, false},
    {"weft_entity_instantiate group", do_instantiate_group, false, false},
    {"weft_entity_add", do_add, true, false},
    {"weft_entity_remove", do_remove, true, false},
    {"weft_entity_set", do_set, true, false},
    {"weft_entity_set_many", do_set_many, true, false},
    {"weft_entity_set_shared", do_set_shared, true, false},
    {"weft_entity_set_shared_many", do_set_shared_many, true, false},
    {"weft_entity_change_many", do_change_many, true, false},
    {"weft_entity_set_archetype", do_set_archetype, true, false},
    {"weft_entity_swap", do_swap, true, false},
    {"weft_entity_destroy", do_destroy, true, false},
    {"weft_entity_destroy_many", do_destroy_many, false, false},
    {"weft_query_add", do_query_add, true, false},
    {"weft_query_remove", do_query_remove, true, false},
    {"weft_query_set", do_query_set, true, false},
    {"weft_query_set_shared", do_query_set_shared, true, false},
    {"weft_query_enable", do_query_enable, true, false},
    {"weft_query_destroy_entities", do_query_destroy, true, false},
    {"weft_query_create", do_query_create, true, false},
    {"weft_query_filter_shared", do_filter_shared, true, false},
    {"weft_buffers_append", do_append, true, false},
    {"weft_entity_set_name", do_set_name, false, false},
    {"weft_relation_set", do_relation_set, true, false},
    {"weft_relation_set_many", do_relation_set_many, true, false},
    {"weft_component_create", do_component, false, false},
    {"weft_snapshot_restore", do_restore, false, false},
    {"weft_snapshot_take", do_snapshot, false, false},
    {"weft_world_save_memory", do_save, false, false},
    {"weft_world_load_memory", do_load, false, false},
    {"weft_world_transfer", do_transfer, false, false},
    {"weft_world_transfer some", do_transfer_some, true, true},
    {"weft_world_clear_references", do_clear_references, false, false},
    {"weft_world_compact", do_compact, false, false},
};

/* ---- the sweep ---- */

static uint32_t faults;

/* Refuses the k-th allocation of a function for every k. Returns how many were refused;
 * UINT32_MAX: the function does not go with the kind. */
static uint32_t sweep(const function *f, kind k, bool forever)
{
    static refused_world w;
    static state whole, before, after;
    world_open(&w, k);
    const weft_result expected = f->run(&w);
    if (expected != WEFT_OK) {
        world_close(&w);
        return UINT32_MAX;
    }
    state_of(&w, &whole);
    world_close(&w);
    const uint32_t values = hook_values;
    for (uint64_t at = 1;; at++) {
        world_open(&w, k);
        state_of(&w, &before);
        test_memory_fail(&w.memory, at, forever);
        const weft_result result = f->run(&w);
        const bool was_refused = w.memory.failures != 0;
        test_memory_fail(&w.memory, 0, false);
        state_of(&w, &after);
        if (result != WEFT_OK) {
            if (result != WEFT_OUT_OF_MEMORY) {
                printf("%s(%s), refused at allocation %llu: %s\n", f->name, kind_names[k],
                       (unsigned long long)at, weft_result_name(result));
                faults++;
            }
            const uint32_t were = faults;
            if (f->run == do_append) after.versions = before.versions; /* opening stamps */
            after.queries = f->queries_stay ? before.queries : after.queries;
            if (memcmp(&after, &before, sizeof after) != 0) {
                check_equal("not as before", f->name, k, at, &after, &before);
                faults++;
            }
            const weft_result again = f->run(&w);
            state_of(&w, &after);
            if (again != WEFT_OK || (faults == were && memcmp(&after, &whole, sizeof after) != 0)) {
                check_equal(weft_result_name(again), f->name, k, at, &after, &whole);
                printf("  the call again gives another world\n");
                faults++;
            }
        } else if (f->run != do_compact && after.content != whole.content) {
            check_equal("done without the memory, and otherwise", f->name, k, at, &after, &whole);
            faults++;
        }
        if (weft_world_validate(w.world) != WEFT_OK) {
            printf("%s(%s), refused at allocation %llu: %s\n", f->name, kind_names[k],
                   (unsigned long long)at, weft_world_error(w.world)->text);
            faults++;
        }
        world_close(&w);
        if (f->run != do_compact && hook_values != values) {
            printf("%s(%s), refused at allocation %llu: %d hooked values more\n", f->name,
                   kind_names[k], (unsigned long long)at, (int)(hook_values - values));
            faults++;
        }
        if (!was_refused) return (uint32_t)at - 1;
    }
}

PLAIN_TEST(refused_calls_leave_everything_as_before)
{
    const bool all = getenv("WEFT_REFUSED") != NULL;
    printf("%-30s", "refusals");
    for (uint32_t k = 0; k < KIND_COUNT; k++) printf(" %10s", kind_names[k]);
    printf("\n");
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const function *f = &functions[i];
        uint32_t counts[KIND_COUNT] = {0};
        for (uint32_t k = 0; k < (f->has_kind ? KIND_COUNT : 1); k++) {
            counts[k] = sweep(f, (kind)k, false);
            if (counts[k] != UINT32_MAX) total += counts[k];
            if (all && counts[k] != UINT32_MAX) total += sweep(f, (kind)k, true);
        }
        printf("%-30s", f->name);
        for (uint32_t k = 0; k < (f->has_kind ? KIND_COUNT : 1); k++)
            if (counts[k] == UINT32_MAX)
                printf(" %10s", "-");
            else
                printf(" %10u", counts[k]);
        printf("\n");
    }
    printf("%llu refusals, %u faults\n", (unsigned long long)total, faults);
    CHECK(total > 1000);
    CHECK_U64(faults, 0);
}
