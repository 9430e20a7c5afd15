/* SPDX-License-Identifier: MIT */
/* relation_depth.c: cycles and depths. What may have another depth are the sources whose target
 * changed or went, and all below them; of these, targets have a node, in which the walk up
 * leaves what it found, so that each node is passed once. Each source has one target: a cycle is
 * met by the walk that comes back to its own path, and cut at the lowest index on it, which is a
 * function of the fields alone. */
#include "relation_depth.h"

#include "component_index.h"
#include "entity_value.h"
#include "error.h"
#include "query_change.h"
#include "structure.h"

/* Of a node, in this settling. */
typedef enum weft__node_state {
    NODE_WAITS = 1, /* may have another depth */
    NODE_ON_PATH = 2,
    NODE_DONE = 3,
} weft__node_state;

/* A source that may have another depth. Owner: the work. */
typedef struct item {
    weft_entity source;
    uint32_t target; /* bare index */
    bool has_node;
} item;

/* Owner: the stack of weft__relation_depths. */
typedef struct depth_work {
    weft__relation *relation;
    weft_world *world;
    WEFT__LIST(item) items;
    WEFT__LIST(uint32_t) path;
    weft__entity_list gone; /* by depth: entities that lost the relation and still have a depth */
    uint32_t known_target, known_depth; /* of the last item; WEFT__NONE: none */
    weft__depth_result *out;
} depth_work;

/* ---- rows ---- */

weft__chunk *weft__relation_row(const weft__relation *relation, weft_entity source, uint32_t *row,
                                char **value)
{
    weft__chunk *chunk = weft__entity_chunk(relation->world, source, row);
    const weft__type_slot *slot =
        chunk == NULL ? NULL : weft__archetype_slot(chunk->archetype, relation->component);
    if (slot == NULL) return NULL;
    *value = weft__chunk_value(chunk, slot->column, *row);
    return chunk;
}

void weft__relation_field_clear(const weft__relation *relation, const weft__chunk *chunk,
                                uint32_t row)
{
    const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, relation->component);
    char *value = weft__chunk_value(chunk, slot->column, row);
    memset(value + relation->offset, 0, sizeof(weft_entity));
    weft__rows_stamp(chunk, slot->type, row, 1, relation->world->front.version);
}

static uint32_t chunk_depth(const weft__relation *relation, const weft__chunk *chunk, bool *has)
{
    uint32_t type = weft__archetype_find(chunk->archetype, relation->depth.id);
    *has = type != WEFT__NONE;
    if (!*has) return 0;
    uint32_t index = chunk->tuple->values[chunk->archetype->types[type].shared], depth;
    memcpy(&depth, weft__shared_value(&relation->world->shared, relation->depth.id, index),
           sizeof depth);
    return depth;
}

uint32_t weft__relation_depth_of(const weft__relation *relation, const weft__chunk *chunk)
{
    bool has;
    return relation->depth.id == 0 ? 0 : chunk_depth(relation, chunk, &has);
}

/* ---- what may have another depth ---- */

static weft__target_node *node_at(const weft__relation *relation, uint32_t index)
{
    weft__target_page *page;
    weft__target_slot *slot = weft__target_slot_at(relation, index, &page);
    return slot == NULL ? NULL : &page->nodes[index % WEFT__BLOCK_SLOTS];
}

static uint32_t state_of(const depth_work *work, const weft__target_node *node)
{
    return node->mark >> 2 == work->relation->settling ? node->mark & 3 : 0;
}

static void state_set(const depth_work *work, weft__target_node *node, weft__node_state state)
{
    node->mark = work->relation->settling << 2 | (uint32_t)state;
}

/* Whether an entity has sources itself. */
static bool has_sources(const weft__relation *relation, weft_entity entity)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(relation->world, entity);
    return weft__target_has(relation, index) &&
           weft__target_slot_at(relation, index, &page)->version == entity.version;
}

/* Adds an item; one that has sources itself gets a node, and is added once only. */
static bool item_add(depth_work *work, weft_entity source, uint32_t target)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(work->world, source);
    bool has_node = has_sources(work->relation, source);
    if (has_node) {
        weft__target_slot_at(work->relation, index, &page);
        weft__target_node *node = &page->nodes[index % WEFT__BLOCK_SLOTS];
        if (state_of(work, node) != 0) return true;
        node->parent = target;
        state_set(work, node, NODE_WAITS);
    }
    item *added = WEFT__LIST_ADD(&work->world->memory, WEFT__MEMORY_OTHER, &work->items);
    if (added != NULL) *added = (item){source, target, has_node};
    return added != NULL;
}

/* Entities without a target have depth 0; what is below them may have another. */
static bool root_add(depth_work *work, weft_entity entity)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(work->world, entity);
    const weft__target_slot *slot = weft__target_slot_at(work->relation, index, &page);
    if (!has_sources(work->relation, entity)) return true;
    weft__target_node *node = &page->nodes[index % WEFT__BLOCK_SLOTS];
    node->depth = 0;
    state_set(work, node, NODE_DONE);
    for (uint32_t k = 0; k < slot->count; k++)
        if (!item_add(work, page->sources[slot->first + k], index)) return false;
    return true;
}

/* The target of a source, while it is alive. */
static bool target_lives(const depth_work *work, weft_entity source, weft_entity *target)
{
    uint32_t row;
    char *value;
    if (weft__relation_row(work->relation, source, &row, &value) == NULL) return false;
    *target = weft__relation_field(work->relation, value);
    return weft_entity_is_alive(work->world, *target);
}

/* Those of a list that have no target. */
static bool roots_add(depth_work *work, const weft__entity_list *list)
{
    weft_entity target;
    for (uint32_t i = 0; i < list->count; i++)
        if (!target_lives(work, list->at[i], &target) && !root_add(work, list->at[i])) return false;
    return true;
}

static bool roots_collect(depth_work *work)
{
    if (!roots_add(work, &work->relation->left) || !roots_add(work, &work->relation->lost))
        return false;
    for (uint32_t i = 0; i < work->gone.count; i++)
        if (!root_add(work, work->gone.at[i])) return false;
    return true;
}

/* Finds the entities that lost the relation and still have a depth. */
static bool gone_collect(depth_work *work)
{
    const weft_world *world = work->world;
    const weft__relation *relation = work->relation;
    const weft__component_list *list = weft__component_list_at(world, relation->depth.id);
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__archetype *archetype = world->archetypes.at[list->at[i].archetype];
        if (archetype->entity_count == 0 ||
            weft__archetype_find(archetype, relation->component) != WEFT__NONE)
            continue;
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            for (uint32_t r = 0; r < archetype->chunks[c]->count; r++)
                if (!weft__entity_list_push(work->world, &work->gone,
                                            weft__chunk_entities(archetype->chunks[c])[r]))
                    return false;
    }
    return true;
}

/* All nodes, and what is below them. Those that came and have no sources are filed by came_file. */
static bool items_collect(depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft_entity target;
    if (!roots_collect(work)) return false;
    for (uint32_t i = 0; i < relation->came.count; i++) {
        weft_entity source = relation->came.at[i];
        if (!has_sources(relation, source) || !target_lives(work, source, &target)) continue;
        if (!item_add(work, source, weft__bare_index(work->world, target))) return false;
    }
    if (relation->has_all_come) return true;
    for (uint32_t i = 0; i < work->items.count; i++) {
        if (!work->items.at[i].has_node) continue;
        weft__target_page *page;
        uint32_t index = weft__bare_index(work->world, work->items.at[i].source);
        weft__target_slot slot = *weft__target_slot_at(relation, index, &page);
        for (uint32_t k = 0; k < slot.count; k++)
            if (!item_add(work, page->sources[slot.first + k], index)) return false;
    }
    return true;
}

/* ---- depths ---- */

static bool path_push(depth_work *work, uint32_t index)
{
    return WEFT__LIST_APPEND(&work->world->memory, WEFT__MEMORY_OTHER, &work->path, &index, 1);
}

/* The path came back to `index`, which is on it. */
static void cycle_cut(depth_work *work, uint32_t index)
{
    weft_world *world = work->world;
    uint32_t lowest = index, row;
    char *value;
    for (uint32_t i = work->path.count; work->path.at[--i] != index;)
        if (work->path.at[i] < lowest) lowest = work->path.at[i];
    weft_entity source = {lowest ^ world->directory.tag_bits, weft__living_version(world, lowest)};
    const weft__chunk *chunk = weft__relation_row(work->relation, source, &row, &value);
    if (chunk != NULL) weft__relation_field_clear(work->relation, chunk, row);
    if (work->out->cuts++ == 0) work->out->cut = source;
    work->out->has_changed = true;
    weft__target_node *node = node_at(work->relation, lowest);
    for (uint32_t i = 0; i < work->path.count; i++)
        state_set(work, node_at(work->relation, work->path.at[i]), NODE_WAITS);
    node->depth = 0;
    state_set(work, node, NODE_DONE);
}

/* The depth of an entity whose own target did not change, nor those above it. */
static uint32_t settled_depth(const depth_work *work, uint32_t index)
{
    uint32_t row;
    weft_entity entity = {index ^ work->world->directory.tag_bits,
                          weft__living_version(work->world, index)};
    const weft__chunk *chunk = weft__entity_chunk(work->world, entity, &row);
    return chunk == NULL ? 0 : weft__relation_depth_of(work->relation, chunk);
}

/* The depth of the target of an index. False: no memory. */
static bool depth_find(depth_work *work, uint32_t index, uint32_t *depth)
{
    weft__target_node *node;
    work->path.count = 0;
    uint32_t at = index;
    for (;;) {
        node = node_at(work->relation, at);
        uint32_t state = state_of(work, node);
        if (state == NODE_ON_PATH) {
            cycle_cut(work, at);
            work->path.count = 0;
            at = index;
        } else if (state == NODE_WAITS) {
            state_set(work, node, NODE_ON_PATH);
            if (!path_push(work, at)) return false;
            at = node->parent;
        } else {
            *depth = state == NODE_DONE ? node->depth : settled_depth(work, at);
            break;
        }
    }
    while (work->path.count != 0) {
        node = node_at(work->relation, work->path.at[--work->path.count]);
        node->depth = ++*depth;
        state_set(work, node, NODE_DONE);
    }
    return true;
}

/* The depth of an item; the same target as before is not looked up again. */
static bool item_depth(depth_work *work, const item *of, uint32_t *depth)
{
    if (of->has_node) return depth_find(work, weft__bare_index(work->world, of->source), depth);
    if (of->target != work->known_target) {
        if (!depth_find(work, of->target, &work->known_depth)) return false;
        work->known_target = of->target;
    }
    *depth = work->known_depth + 1;
    return true;
}

/* ---- rows to their depth ---- */

static bool lists_add(const depth_work *work, uint32_t depth, weft_entity entity)
{
    weft__relation *relation = work->relation;
    return WEFT__LIST_REACH(&work->world->memory, WEFT__MEMORY_OTHER, &relation->levels,
                            depth + 1) &&
           weft__entity_list_push(work->world, &relation->levels.at[depth], entity);
}

/* Files an entity where its chunk says another depth. */
static bool lists_file(const depth_work *work, weft_entity entity, uint32_t depth)
{
    uint32_t row;
    bool has;
    const weft__chunk *chunk = weft__entity_chunk(work->world, entity, &row);
    if (chunk == NULL) return true;
    uint32_t now = chunk_depth(work->relation, chunk, &has);
    return (has && now == depth) || lists_add(work, depth, entity);
}

/* Files those that came and have no sources; what neighbours share is looked up once. */
static bool came_file(depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft__chunk *chunk = NULL;
    const weft__chunk *known = NULL;
    const weft__type_slot *slot = NULL;
    weft_entity last = WEFT__NO_ENTITY; /* a living target */
    weft_entity before = WEFT__NO_ENTITY;
    uint32_t now = 0, depth = 0, row = 0;
    bool has = false;
    for (uint32_t i = 0; i < relation->came.count; i++) {
        weft_entity source = relation->came.at[i];
        if (has_sources(relation, source)) continue;
        chunk = weft__entity_chunk_after(work->world, source, before, chunk, &row);
        before = source;
        if (chunk == NULL) continue;
        if (chunk != known) {
            slot = weft__archetype_slot(chunk->archetype, relation->component);
            now = chunk_depth(relation, chunk, &has);
            known = chunk;
        }
        if (slot == NULL) continue;
        weft_entity target =
            weft__relation_field(relation, weft__chunk_value(chunk, slot->column, row));
        if (target.index != last.index || target.version != last.version) {
            if (!weft_entity_is_alive(work->world, target)) continue;
            const item leaf = {source, weft__bare_index(work->world, target), false};
            if (!item_depth(work, &leaf, &depth)) return false;
            last = target;
        }
        if ((!has || now != depth) && !lists_add(work, depth, source)) return false;
    }
    return true;
}

static weft_result lists_move(const depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft_result result = WEFT_OK;
    for (uint32_t depth = 0; depth < relation->levels.count; depth++) {
        weft__entity_list *list = &relation->levels.at[depth];
        if (list->count == 0) continue;
        if (result == WEFT_OK)
            result =
                weft__entities_group(work->world, list->at, list->count, relation->depth, &depth);
        list->count = 0;
        work->out->has_changed = true;
    }
    return result;
}

/* Sources without a target have depth 0. One that another relation made a residue since is none. */
static bool left_file(const depth_work *work)
{
    const weft__relation *relation = work->relation;
    for (uint32_t i = 0; i < relation->left.count; i++) {
        weft_entity source = relation->left.at[i];
        uint32_t row;
        char *value;
        if (weft__relation_row(relation, source, &row, &value) == NULL) continue;
        if (weft_entity_is_alive(work->world, weft__relation_field(relation, value))) continue;
        if (!lists_file(work, source, 0)) return false;
    }
    return true;
}

static weft_result depths_apply(depth_work *work)
{
    bool by_depth = work->relation->depth.id != 0, is_done = true;
    for (uint32_t i = 0; i < work->items.count && is_done; i++) {
        uint32_t depth;
        is_done = item_depth(work, &work->items.at[i], &depth);
        if (is_done && by_depth) is_done = lists_file(work, work->items.at[i].source, depth);
    }
    if (by_depth) is_done = is_done && came_file(work) && left_file(work);
    weft_result result = lists_move(work);
    if (!is_done) return weft__error_memory(work->world, "depths");
    if (result != WEFT_OK || work->gone.count == 0) return result;
    work->out->has_changed = true;
    return weft_entity_change_many(
        work->world, work->gone.at, work->gone.count,
        &(weft_change_desc){.remove = &work->relation->depth, .remove_count = 1});
}

weft_result weft__relation_depths(weft__relation *relation, weft__depth_result *out)
{
    weft_world *world = relation->world;
    depth_work work = {
        .relation = relation, .world = world, .known_target = WEFT__NONE, .out = out};
    *out = (weft__depth_result){0};
    relation->settling = (relation->settling + 1) & (UINT32_MAX >> 2);
    if (relation->settling == 0) relation->settling = 1;
    bool is_done = (relation->depth.id == 0 || gone_collect(&work)) && items_collect(&work);
    weft_result result = is_done ? depths_apply(&work) : weft__error_memory(world, "depths");
    if (result != WEFT_OK) relation->is_broken = true;
    relation->came.count = relation->left.count = relation->lost.count = 0;
    relation->has_all_come = false;
    weft__entity_list_fini(world, &work.gone);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &work.items);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &work.path);
    return result;
}
