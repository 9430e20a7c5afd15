/* SPDX-License-Identifier: MIT */
/* relation_registry.c: declaring relations, the built-in ones, and the end of all with their world.
 * They are an extension of the world, made by the first declaration. Owner, world idle. */
#include "relation_registry.h"
#include "entity_change.h"
#include "entity_value.h"
#include "relation_state.h"
#include "sized.h"
#include "version_renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/type.h>

/* ---- life ---- */

static void relation_free(weft__relation *relation)
{
    if (relation == NULL) return;
    weft_world *world = relation->world;
    weft__row_diff_fini(&relation->diff);
    for (uint32_t i = 0; i < relation->pages.count; i++)
        weft__target_page_free(world, relation->pages.at[i]);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->pages);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->offsets);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->changes);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->sorted);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->tasks);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->firsts);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->active);
    weft__entity_list_fini(world, &relation->came);
    weft__entity_list_fini(world, &relation->left);
    weft__entity_list_fini(world, &relation->lost);
    weft__entity_list_fini(world, &relation->orphans);
    for (uint32_t i = 0; i < relation->levels.count; i++)
        weft__entity_list_fini(world, &relation->levels.at[i]);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relation->levels);
    weft__free(&world->memory, WEFT__MEMORY_OTHER, relation, 1, sizeof *relation, 64);
}

static void relations_destroy(void *data)
{
    weft__relations *relations = data;
    weft_world *world = relations->world;
    for (uint32_t i = 0; i < relations->all.count; i++) relation_free(relations->all.at[i]);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relations->all);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &relations->had_deaths);
    WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, relations, 1);
}

/* A snapshot was restored: rows are as they were, with the versions that they had. */
static void relations_suspect(void *data, const void *state)
{
    const weft__relations *relations = data;
    (void)state;
    for (uint32_t i = 0; i < relations->all.count; i++) relations->all.at[i]->is_suspect = true;
}

static void relations_renew(void *data, struct weft__renewal *renewal)
{
    const weft__relations *relations = data;
    for (uint32_t i = 0; i < relations->all.count; i++)
        weft__renew_seen(renewal, &relations->all.at[i]->diff.seen);
}

static weft__relations *relations_obtain(weft_world *world)
{
    weft__relations *relations = weft__relations_of(world);
    if (relations != NULL) return relations;
    relations = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_OTHER, 1, *relations);
    if (relations == NULL) return NULL;
    relations->world = world;
    world->front.extensions[WEFT__EXTENSION_RELATIONS] =
        (weft__extension){.data = relations,
                          .destroy = relations_destroy,
                          .state_put = relations_suspect,
                          .renew = relations_renew};
    return relations;
}

/* ---- declaration ---- */

static const char *type_problem(const weft__type *type)
{
    if ((type->desc.flags & ~(uint32_t)WEFT_NOT_HASHED) != 0)
        return "is not a plain component: relations have no kind but NOT_HASHED";
    if (type->entity_offset_count != 1)
        return "must have exactly one described ENTITY field: give it `fields`";
    if (type->needs_destruct) return "has a destruct hook: a relation's field is written directly";
    return NULL;
}

/* The SHARED component of the depth; null with the error set. */
static weft_component depth_create(weft_world *world, const weft__type *type)
{
    static const weft_field field = {"depth", WEFT_FIELD_U32, 0, 1};
    char name[256];
    int bytes = snprintf(name, sizeof name, "%s.depth", type->desc.name);
    if (bytes < 0 || (size_t)bytes >= sizeof name) {
        weft__error_argument(world, "weft_relation_declare",
                             "the name of the component leaves no room for \".depth\" behind it: "
                             "use a shorter one");
        return WEFT__NO_COMPONENT;
    }
    return weft_component_create(world, &(weft_component_desc){.name = name,
                                                               .size = sizeof(uint32_t),
                                                               .alignment = _Alignof(uint32_t),
                                                               .flags = WEFT_SHARED,
                                                               .fields = &field,
                                                               .field_count = 1});
}

static uint32_t level_of(const void *relation, const weft__chunk *chunk)
{
    return weft__relation_depth_of(relation, chunk);
}

static weft_result relation_add(weft_world *world, const weft__type *type,
                                const weft_relation_desc *desc)
{
    weft__relations *relations = relations_obtain(world);
    weft__relation *relation = NULL;
    if (relations != NULL && WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_OTHER, &relations->all,
                                             relations->all.count + 1))
        relation = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_OTHER, 1, sizeof *relation, 64);
    if (relation == NULL) return weft__error_memory(world, "weft_relation_declare");
    relation->world = world;
    relation->component = type->id;
    relation->offset = type->entity_offsets[0];
    relation->desc = *desc;
    relation->desc.is_acyclic = desc->is_acyclic || desc->by_depth;
    if (desc->by_depth) relation->depth = depth_create(world, type);
    if (desc->by_depth && relation->depth.id == 0) {
        weft__free(&world->memory, WEFT__MEMORY_OTHER, relation, 1, sizeof *relation, 64);
        return world->error->code;
    }
    relation->diff = (weft__row_diff){.world = world,
                                      .category = WEFT__MEMORY_OTHER,
                                      .component = type->id,
                                      .value_bytes = sizeof(weft_entity),
                                      .has_values = true,
                                      .level = desc->by_depth ? level_of : NULL,
                                      .user = relation};
    relations->all.at[relations->all.count++] = relation;
    return WEFT_OK;
}

weft_result weft_relation_declare(weft_world *world, const weft_relation_desc *desc)
{
    weft_result result = weft__idle(world, "weft_relation_declare");
    if (result != WEFT_OK) return result;
    if (desc == NULL || (uint32_t)desc->on_target_death > WEFT_ON_TARGET_KEEP)
        return weft__error_argument(world, "weft_relation_declare",
                                    desc == NULL ? "desc is NULL: describe the relation"
                                                 : "on_target_death is none of weft_target_death");
    const weft__type *type = weft__type_at(world, desc->component);
    if (type == NULL) return weft__error_component(world, desc->component);
    const char *problem = type_problem(type);
    if (problem != NULL)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           "weft_relation_declare: %s %s", type->desc.name, problem);
    const weft__relation *found = weft__relation_find(world, desc->component);
    if (found == NULL) return relation_add(world, type, desc);
    bool is_same = found->desc.on_target_death == desc->on_target_death &&
                   found->desc.by_depth == desc->by_depth &&
                   found->desc.is_acyclic == (desc->is_acyclic || desc->by_depth);
    if (is_same) return WEFT_OK;
    return weft__error(world, WEFT_ALREADY_EXISTS, WEFT__NO_ENTITY, desc->component,
                       "weft_relation_declare: %s is declared otherwise: declare it once",
                       type->desc.name);
}

/* ---- built-in relations ---- */

static const weft_field target_field = {"entity", WEFT_FIELD_ENTITY, 0, 1};

static weft_component built_in(weft_world *world, const char *name, weft_relation_desc desc)
{
    desc.component =
        weft_component_create(world, &(weft_component_desc){.name = name,
                                                            .size = sizeof(weft_target),
                                                            .alignment = _Alignof(weft_target),
                                                            .fields = &target_field,
                                                            .field_count = 1});
    if (desc.component.id == 0) return desc.component;
    return weft_relation_declare(world, &desc) == WEFT_OK ? desc.component : WEFT__NO_COMPONENT;
}

weft_component weft_component_parent(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft__relations *relations = weft__relations_of(world);
    if (relations != NULL && relations->parent.id != 0) return relations->parent;
    weft_relation_desc desc = {.on_target_death = WEFT_ON_TARGET_DESTROY, .by_depth = true};
    weft_component parent = built_in(world, "Parent", desc);
    if (parent.id != 0) weft__relations_of(world)->parent = parent;
    return parent;
}

weft_component weft_component_instance_of(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    if (world->builtin.instance_of.id == 0)
        world->builtin.instance_of = built_in(world, "InstanceOf", (weft_relation_desc){0});
    return world->builtin.instance_of;
}

/* ---- words ---- */

const char *const weft__relation_words[WEFT__RELATION_BITS] = {"clear",   "destroy",  "keep",
                                                               "acyclic", "by depth", "built in"};

uint32_t weft__relation_word(const weft_world *world, weft_component component)
{
    const weft__relation *relation = weft__relation_find(world, component);
    if (relation == NULL) return 0;
    bool is_built_in = component.id == weft__relations_of(world)->parent.id ||
                       component.id == world->builtin.instance_of.id;
    return (relation->desc.on_target_death == WEFT_ON_TARGET_CLEAR     ? WEFT__RELATION_CLEARS
            : relation->desc.on_target_death == WEFT_ON_TARGET_DESTROY ? WEFT__RELATION_DESTROYS
                                                                       : WEFT__RELATION_KEEPS) |
           (relation->desc.is_acyclic ? WEFT__RELATION_ACYCLIC : 0u) |
           (relation->desc.by_depth ? WEFT__RELATION_BY_DEPTH : 0u) |
           (is_built_in ? WEFT__RELATION_BUILT_IN : 0u);
}

bool weft__relation_word_is_right(uint32_t word)
{
    uint32_t death = word & (WEFT__RELATION_ACYCLIC - 1);
    return word == 0 || (word >> WEFT__RELATION_BITS == 0 && bits_is_power_of_two(death));
}

uint32_t weft__relation_word_built_in(const weft__type *type)
{
    const weft_component_desc *desc = &type->desc;
    bool is_target = desc->flags == 0 && desc->size == sizeof(weft_target) &&
                     desc->alignment == _Alignof(weft_target) && desc->field_count == 1 &&
                     desc->fields[0].kind == target_field.kind &&
                     strcmp(desc->fields[0].name, target_field.name) == 0;
    if (is_target && strcmp(desc->name, "Parent") == 0)
        return WEFT__RELATION_DESTROYS | WEFT__RELATION_ACYCLIC | WEFT__RELATION_BY_DEPTH |
               WEFT__RELATION_BUILT_IN;
    return is_target && strcmp(desc->name, "InstanceOf") == 0
               ? WEFT__RELATION_CLEARS | WEFT__RELATION_BUILT_IN
               : 0;
}

weft_result weft__relation_revive(weft_world *world, weft_component component, uint32_t word)
{
    const weft__type *type = weft__type_at(world, component);
    if (word == 0 || weft__relation_find(world, component) != NULL || type_problem(type) != NULL)
        return WEFT_OK;
    if ((word & WEFT__RELATION_BUILT_IN) != 0) {
        if (weft__relation_word_built_in(type) != word) return WEFT_OK; /* renamed */
        weft_component made = (word & WEFT__RELATION_DESTROYS) != 0
                                  ? weft_component_parent(world)
                                  : weft_component_instance_of(world);
        return made.id != 0 ? WEFT_OK : world->error->code;
    }
    return weft_relation_declare(
        world, &(weft_relation_desc){.component = component,
                                     .on_target_death = (word & WEFT__RELATION_CLEARS) != 0
                                                            ? WEFT_ON_TARGET_CLEAR
                                                        : (word & WEFT__RELATION_DESTROYS) != 0
                                                            ? WEFT_ON_TARGET_DESTROY
                                                            : WEFT_ON_TARGET_KEEP,
                                     .is_acyclic = (word & WEFT__RELATION_ACYCLIC) != 0,
                                     .by_depth = (word & WEFT__RELATION_BY_DEPTH) != 0});
}

/* ---- questions ---- */

/* Of a row of a shard, or what stands for one of another rank. */
static bool is_sharded(const weft_world *world, weft_entity entity)
{
    uint32_t location = 0;
    if (!weft__directory_find(&world->directory, entity, &location) || location == 0) return false;
    const weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    return (chunk->archetype->flags & (WEFT__IS_SHARDED | WEFT__IS_STAND_IN)) != 0;
}

const weft_entity *weft_relation_sources(const weft_world *world, weft_component component,
                                         weft_entity target, uint32_t *count)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (count != NULL) *count = 0;
    if (relation == NULL || count == NULL) return NULL;
    weft__target_page *page;
    const weft__target_slot *slot =
        weft__target_slot_at(relation, weft__bare_index(world, target), &page);
    if (slot == NULL || slot->count == 0 || slot->version != target.version) return NULL;
    if (world->front.pins[WEFT__PIN_SHARD].moment != 0 && is_sharded(world, target)) {
        weft__error_use(world, WEFT_UNSUPPORTED, "weft_relation_sources", component,
                        ": the target is sharded and its sources are on all ranks: run a system "
                        "over the sources, which reads their targets");
        return NULL;
    }
    *count = slot->count;
    return page->sources + slot->first;
}

weft_entity weft_relation_target(const weft_world *world, weft_entity source,
                                 weft_component component)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (relation == NULL) return WEFT__NO_ENTITY;
    weft__note_read(world, "weft_relation_target", component);
    uint32_t row;
    char *value;
    if (weft__relation_row(relation, source, &row, &value) == NULL) return WEFT__NO_ENTITY;
    return weft__relation_field(relation, value);
}

uint32_t weft_relation_depth(const weft_world *world, weft_component component, weft_entity entity)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    if (relation == NULL) return 0;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    return chunk == NULL ? 0 : weft__relation_depth_of(relation, chunk);
}

weft_component weft_relation_depth_component(const weft_world *world, weft_component component)
{
    const weft__relation *relation = world == NULL ? NULL : weft__relation_find(world, component);
    return relation == NULL ? WEFT__NO_COMPONENT : relation->depth;
}

/* ---- changes ---- */

/* The handles above `target`, itself the first. False: no memory. */
static bool chain_collect(const weft__relation *relation, weft_entity target,
                          weft__entity_list *chain)
{
    weft_entity at = target;
    uint32_t row, limit = 0;
    char *value;
    for (;;) {
        if (!weft__entity_list_push(relation->world, chain, at)) return false;
        if (weft__relation_row(relation, at, &row, &value) == NULL) return true;
        at = weft__relation_field(relation, value);
        if (at.version == 0 || ++limit == UINT32_MAX) return true;
        /* fields that were written directly may have a cycle, which the next settling cuts */
        weft_entity turtle = chain->at[chain->count / 2];
        if (at.index == turtle.index && at.version == turtle.version) return true;
    }
}

/* With versions: the chain may end in a dead handle whose index is another entity's now. */
static int handle_compare(const void *a, const void *b)
{
    uint64_t x = weft__entity_bits(*(const weft_entity *)a);
    uint64_t y = weft__entity_bits(*(const weft_entity *)b);
    return x < y ? -1 : x > y;
}

/* Whether an entity is in a sorted chain; short ones are walked. */
static inline bool is_in_chain(const weft__entity_list *chain, weft_entity entity)
{
    if (chain->count > 8)
        return bsearch(&entity, chain->at, chain->count, sizeof entity, handle_compare) != NULL;
    for (uint32_t i = 0; i < chain->count; i++)
        if (handle_compare(&chain->at[i], &entity) == 0) return true;
    return false;
}

static weft_result error_above_itself(const weft__relation *relation, weft_entity source)
{
    weft_world *world = relation->world;
    if (!weft_entity_is_alive(world, source)) return weft__error_stale(world, source);
    return weft__error(world, WEFT_CYCLE, source, weft__component(world, relation->component),
                       "weft_relation_set: %s would be above itself: choose a target "
                       "that is not below it",
                       weft__entity_say(world, source).text);
}

/* Whether `source` is `at` or above it: without a list, for one. A cycle, which the next settling
 * cuts, comes back to one of the handles that are marked ever further apart. */
static bool is_above(const weft__relation *relation, weft_entity source, weft_entity at)
{
    weft_entity mark = WEFT__NO_ENTITY;
    for (uint64_t step = 1; at.version != 0; step++) {
        uint32_t row;
        char *value;
        if (handle_compare(&at, &source) == 0) return true;
        if (handle_compare(&at, &mark) == 0) return false;
        if ((step & (step - 1)) == 0) mark = at;
        if (weft__relation_row(relation, at, &row, &value) == NULL) return false;
        at = weft__relation_field(relation, value);
    }
    return false;
}

static weft_result cycle_check(const weft__relation *relation, const weft_entity *sources,
                               uint32_t count, weft_entity target)
{
    weft_world *world = relation->world;
    weft__entity_list chain = {0};
    if (!relation->desc.is_acyclic || target.version == 0) return WEFT_OK;
    if (count == 1)
        return is_above(relation, *sources, target) ? error_above_itself(relation, *sources)
                                                    : WEFT_OK;
    weft_result result = chain_collect(relation, target, &chain)
                             ? WEFT_OK
                             : weft__error_memory(world, "weft_relation_set");
    if (result == WEFT_OK) qsort(chain.at, chain.count, sizeof *chain.at, handle_compare);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        if (is_in_chain(&chain, sources[i])) result = error_above_itself(relation, sources[i]);
    weft__entity_list_fini(world, &chain);
    return result;
}

/* All but whether the sources are alive. */
static weft_result set_check(weft_world *world, const weft_entity *sources, uint32_t count,
                             weft_component component, weft_entity target)
{
    weft_result result = weft__idle(world, "weft_relation_set");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    const weft__relation *relation = weft__relation_find(world, component);
    if (relation == NULL)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "weft_relation_set: %s is no relation: declare it first",
                           type->desc.name);
    if (target.version != 0 && !weft_entity_is_alive(world, target))
        return weft__error_stale(world, target);
    return cycle_check(relation, sources, count, target);
}

/* Sources that have the component. */
static void fields_set(const weft__relation *relation, const weft_entity *sources, uint32_t count,
                       weft_entity target)
{
    weft__chunk *chunk = NULL;
    const weft__type_slot *slot = NULL;
    weft_entity before = WEFT__NO_ENTITY;
    uint32_t row = 0, stamped = WEFT__NONE;
    for (uint32_t i = 0; i < count; i++) {
        const weft__chunk *known = chunk;
        chunk = weft__entity_chunk_after(relation->world, sources[i], before, chunk, &row);
        before = sources[i];
        if (chunk != known) {
            slot = weft__archetype_slot(chunk->archetype, relation->component);
            stamped = WEFT__NONE;
        }
        char *value = weft__chunk_value(chunk, slot->column, row);
        memcpy(value + relation->offset, &target, sizeof target);
        if (row >> chunk->layout->slice_shift == stamped) continue;
        stamped = row >> chunk->layout->slice_shift;
        weft__slot_stamp(relation->world, chunk, row, slot);
    }
}

/* Sources that lack the component get it. By depth they get the depth, too, that they have if the
 * depth of the target does not change: settling then finds them where they belong. */
static weft_result sources_add(const weft__relation *relation, const weft_entity *sources,
                               uint32_t count, weft_entity target)
{
    const char *what = "weft_relation_set_many";
    weft_world *world = relation->world;
    if (relation->depth.id == 0 || target.version == 0)
        return weft__entities_add(world, sources, count, relation->component, what);
    uint32_t row, index = 0;
    uint32_t depth = weft__relation_depth_of(relation, weft__entity_chunk(world, target, &row)) + 1;
    if (weft__shared_intern(&world->shared, relation->depth.id, &depth, &index) != WEFT_OK)
        return weft__error_memory(world, what);
    weft_result result = weft__entities_add_beside(
        world, sources, count, &(weft__addition){relation->component, relation->depth.id, index},
        what);
    weft__shared_release(&world->shared, relation->depth.id, index, 1);
    return result;
}

weft_result weft_relation_set(weft_world *world, weft_entity source, weft_component component,
                              weft_entity target)
{
    weft_result result = set_check(world, &source, 1, component, target);
    if (result == WEFT_OK && !weft_entity_has(world, source, component))
        result = weft_entity_add(world, source, component);
    if (result == WEFT_OK) fields_set(weft__relation_find(world, component), &source, 1, target);
    return result;
}

weft_result weft_relation_set_many(weft_world *world, const weft_entity *sources, uint32_t count,
                                   weft_component component, weft_entity target)
{
    if (world != NULL && sources == NULL && count != 0)
        return weft__error_argument(world, "weft_relation_set_many",
                                    "sources is NULL: give an array of `count`");
    weft_result result = set_check(world, sources, count, component, target);
    if (result == WEFT_OK && count != 0)
        result = sources_add(weft__relation_find(world, component), sources, count, target);
    if (result == WEFT_OK)
        fields_set(weft__relation_find(world, component), sources, count, target);
    return result;
}

static uint64_t bytes_of(const weft__relation *relation)
{
    uint64_t bytes =
        sizeof *relation +
        (relation->changes.capacity + relation->sorted.capacity) * sizeof(weft__edge_change) +
        relation->offsets.capacity * sizeof(uint32_t);
    for (uint32_t i = 0; i < relation->diff.mirrors.count; i++) {
        const weft__mirror *mirror = relation->diff.mirrors.at[i];
        if (mirror != NULL) bytes += weft__mirror_bytes(mirror->capacity, mirror->value_bytes);
    }
    for (uint32_t i = 0; i < relation->pages.count; i++) {
        const weft__target_page *page = relation->pages.at[i];
        if (page == NULL) continue;
        bytes += sizeof *page + page->capacity * sizeof(weft_entity);
        bytes += page->nodes == NULL ? 0 : WEFT__BLOCK_SLOTS * sizeof *page->nodes;
    }
    return bytes;
}

weft_result weft_relation_stats_get(const weft_world *world, weft_component component,
                                    weft_relation_stats *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_relation_stats_get", "out is NULL: give a struct");
    const weft__relation *relation = weft__relation_find(world, component);
    if (relation == NULL) return weft__error_component(world, component);
    weft_relation_stats stats = relation->stats;
    stats.bytes = bytes_of(relation);
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
    return WEFT_OK;
}
