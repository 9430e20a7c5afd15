/* SPDX-License-Identifier: MIT */
/* relation_engine.c: bringing relations up to date, in rounds: what changed is found and applied to
 * the lists of sources; what is to be done about dead targets is done, which may be news to other
 * relations; when a round finds none, cycles are cut and sources go to the chunks of their depth.
 * Every round destroys entities or clears fields, so they end. What comes out is a function of the
 * fields: neither the number of workers, nor when it was settled last, shows in it. */
#include "relation_engine.h"
#include "host.h"
#include "relation_state.h"

/* One settling. Owner: the stack of the call. */
typedef struct settling {
    weft_world *world;
    weft__relations *relations;
    weft_job_context *job;
    weft_entity cut; /* of the first cycle */
    uint32_t cut_relation;
    bool has_cut;
    bool has_changed; /* rows moved, by the relations themselves, since they were scanned */
} settling;

/* Takes what blocks say of deaths since the last round. */
static bool deaths_take(const settling *s)
{
    weft__relations *relations = s->relations;
    const weft__directory *directory = &s->world->directory;
    uint32_t end = at_load_rlx(&directory->x_block_end); /* relaxed: the world is idle */
    if (!WEFT__RELATION_ROOM(s->world, &relations->had_deaths, end + 1)) return false;
    bool *had = relations->had_deaths.at;
    relations->block_end = end;
    for (uint32_t b = 0; b < end; b++) {
        weft__entity_block *block = weft__directory_block(directory, b * WEFT__BLOCK_SLOTS);
        if (weft__directory_is_lent(directory, block)) { /* all that lived there died */
            had[b] = true;
            continue;
        }
        had[b] = at_load_rlx(&block->x_had_deaths) != 0;    /* relaxed: idle */
        if (had[b]) at_store_rlx(&block->x_had_deaths, 0u); /* relaxed: idle */
    }
    return true;
}

/* ---- dead targets ---- */

/* Notes the targets whose own edge went: what is below them may have another depth. (One that lost
 * the relation alone keeps its depth and is found by it; one that got an archetype has neither.) */
static bool lost_take(weft__relation *relation)
{
    weft_world *world = relation->world;
    if (relation->depth.id == 0) return true;
    for (uint32_t b = 0; b <= relation->pages.count; b++) {
        uint32_t end = weft__bucket_first(relation, b, WEFT__BUCKET_CAME);
        for (uint32_t i = weft__bucket_first(relation, b, WEFT__BUCKET_WENT); i < end; i++) {
            weft_entity source = relation->changes.at[i].source;
            if (weft__target_has(relation, weft__bare_index(world, source)) &&
                !weft__entity_list_push(world, &relation->lost, source))
                return false;
        }
    }
    return true;
}

/* The results of all pages, and of edges to what cannot be an entity. */
static bool results_take(weft__relation *relation)
{
    weft_world *world = relation->world;
    bool is_done = lost_take(relation);
    relation->orphans.count = 0;
    for (uint32_t i = 0; i < relation->active.count; i++) {
        const weft__target_page *page = relation->pages.at[relation->active.at[i]];
        is_done = is_done &&
                  weft__entity_list_append(world, &relation->orphans, page->orphans.at,
                                           page->orphans.count) &&
                  weft__entity_list_append(world, &relation->came, page->came.at, page->came.count);
    }
    uint32_t end = weft__bucket_first(relation, relation->pages.count + 1, WEFT__BUCKET_WENT);
    for (uint32_t i = weft__bucket_first(relation, relation->pages.count, WEFT__BUCKET_CAME);
         i < end && is_done; i++) {
        const weft__edge_change *change = &relation->changes.at[i];
        relation->is_loose = relation->is_loose || change->target.version != 0;
        weft__entity_list *list =
            change->target.version == 0 ? &relation->left : &relation->orphans;
        is_done = weft__entity_list_push(world, list, change->source);
    }
    return is_done;
}

static void orphans_clear(const weft__relation *relation)
{
    for (uint32_t i = 0; i < relation->orphans.count; i++) {
        uint32_t row;
        char *value;
        const weft__chunk *chunk =
            weft__relation_row(relation, relation->orphans.at[i], &row, &value);
        if (chunk == NULL) continue;
        if (!weft__target_lives(relation->world, weft__relation_field(relation, value)))
            weft__relation_field_clear(relation, chunk, row);
    }
}

/* Orphans die, and all below them: their lists go at once, level by level. */
static weft_result orphans_destroy(weft__relation *relation)
{
    weft_world *world = relation->world;
    weft__entity_list *victims = &relation->orphans;
    uint64_t sources = relation->stats.sources;
    for (uint32_t i = 0; i < victims->count; i++)
        if (!weft__target_take(relation, victims->at[i], victims))
            return weft__error_memory(world, "destruction of the sources of a relation");
    if (victims->count > sources / 2) relation->is_broken = true; /* less is left than went */
    return weft_entity_destroy_many(world, victims->at, victims->count);
}

static weft_result orphans_settle(settling *s, weft__relation *relation, bool *is_news)
{
    if (relation->orphans.count == 0) return WEFT_OK;
    switch (relation->desc.on_target_death) {
    case WEFT_ON_TARGET_KEEP:
        for (uint32_t i = 0; i < relation->orphans.count; i++)
            if (!weft__entity_list_push(s->world, &relation->left, relation->orphans.at[i]))
                return weft__error_memory(s->world, "the index of a relation");
        return WEFT_OK;
    case WEFT_ON_TARGET_CLEAR:
        *is_news = true;
        orphans_clear(relation);
        return WEFT_OK;
    case WEFT_ON_TARGET_DESTROY:
    default:
        *is_news = true;
        return orphans_destroy(relation);
    }
}

/* ---- rounds ---- */

static weft_result relation_round(settling *s, weft__relation *relation, bool *is_news)
{
    bool was_suspect = relation->is_suspect || relation->is_broken;
    weft_result result = weft__relation_scan(relation, s->job);
    if (result != WEFT_OK) return result;
    const bool *had_deaths = was_suspect ? NULL : s->relations->had_deaths.at;
    result = weft__relation_pages_apply(relation, had_deaths, s->job);
    if (result != WEFT_OK) return result;
    if (!results_take(relation)) {
        relation->is_broken = true;
        return weft__error_memory(s->world, "the index of a relation");
    }
    result = orphans_settle(s, relation, is_news);
    if (result != WEFT_OK) relation->is_broken = true;
    return result;
}

static weft_result rounds(settling *s)
{
    weft_result result = WEFT_OK;
    bool is_news = true;
    while (is_news && result == WEFT_OK) {
        is_news = false;
        if (!deaths_take(s)) return weft__error_memory(s->world, "the index of a relation");
        for (uint32_t i = 0; i < s->relations->all.count && result == WEFT_OK; i++)
            result = relation_round(s, s->relations->all.at[i], &is_news);
    }
    return result;
}

static weft_result depths(settling *s, bool *is_news)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < s->relations->all.count && result == WEFT_OK; i++) {
        weft__relation *relation = s->relations->all.at[i];
        weft__depth_result depth;
        if (!relation->desc.is_acyclic) continue;
        result = weft__relation_depths(relation, &depth);
        s->has_changed = s->has_changed || depth.has_changed;
        if (depth.cuts == 0) continue;
        if (!s->has_cut) s->cut = depth.cut;
        if (!s->has_cut) s->cut_relation = relation->component;
        *is_news = s->has_cut = true;
    }
    return result;
}

weft_result weft__relations_settle_all(weft_world *world, weft_job_context *job, bool is_spent)
{
    settling s = {.world = world, .relations = weft__relations_of(world), .job = job};
    weft_result result = WEFT_OK;
    bool is_news = true;
    for (uint32_t i = 0; i < s.relations->all.count; i++) s.relations->all.at[i]->stats.changed = 0;
    while (is_news && result == WEFT_OK) {
        is_news = s.has_changed = false;
        result = rounds(&s);
        if (result == WEFT_OK) result = depths(&s, &is_news);
    }
    for (uint32_t i = 0; i < s.relations->all.count && result == WEFT_OK; i++) {
        if (s.has_changed) weft__relation_follow(s.relations->all.at[i], job);
        if (is_spent) weft__row_diff_seen(&s.relations->all.at[i]->diff, true);
    }
    for (uint32_t i = 0; i < s.relations->all.count && result != WEFT_OK; i++)
        s.relations->all.at[i]->is_broken = true; /* deaths were taken that not all have seen */
    if (result != WEFT_OK || !s.has_cut) return result;
    return weft__error(world, WEFT_CYCLE, s.cut, weft__component(world, s.cut_relation),
                       "relation %s: %s was above itself: its field is null now; check with "
                       "weft_relation_set, which refuses cycles",
                       weft__type_name(world, s.cut_relation), weft__entity_say(world, s.cut).text);
}

uint32_t weft__relation_count(const weft_world *world)
{
    const weft__relations *relations = weft__relations_of(world);
    return relations == NULL ? 0 : relations->all.count;
}

const weft_relation_desc *weft__relation_desc(const weft_world *world, uint32_t component)
{
    const weft__relation *relation = weft__relation_find(world, weft__component(world, component));
    return relation != NULL ? &relation->desc : NULL;
}

uint32_t weft__relation_level(weft_component component, const weft__chunk *chunk,
                              const weft_world *world)
{
    const weft__relation *relation = weft__relation_find(world, component);
    return relation == NULL ? 0 : weft__relation_depth_of(relation, chunk);
}

weft_result weft_relation_settle(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_relation_settle");
    if (result != WEFT_OK) return result;
    result = weft__idle(world, "weft_relation_settle");
    if (result == WEFT_OK && weft__relations_any(world)) {
        result = weft__relations_settle_all(world, world->front.host.context, true);
        weft__version_advance(world); /* what was seen is spent */
    }
    weft__host_end(world);
    return result;
}
