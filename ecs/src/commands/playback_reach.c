/* SPDX-License-Identifier: MIT */
/* playback_reach.c: see playback_reach.h.
 *
 * A command moves or writes the row of its target, or makes one. Which archetypes that concerns is
 * known without folding anything: those the targets are in now and those that rows are made in, and
 * from there only archetypes that differ in components which some command brings or takes. So the
 * components are listed first, then each archetype that a command starts from is compared with
 * those to be spared, once. Commands that follow references between entities (linked groups), or
 * name all rows of a query, are not followed: they spare nothing. */
#include "playback_reach.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "scratch.h"

#include <string.h>

#define COMMANDS_MOST 65536u /* a look-up each: about a millisecond */
#define CHANGED_MOST 64u
#define COMPARED_MOST 16384u /* pairs of archetypes */

/* One question; lives on the stack of weft__playback_spares. */
typedef struct reach {
    weft_world *world;
    const weft__query *const *queries;
    uint32_t query_count;
    uint32_t changed[CHANGED_MOST]; /* components that commands bring or take */
    uint32_t changed_count;
    bool destroys;
    uint32_t compared; /* pairs of archetypes so far */
    uint64_t *seen;    /* bit per archetype id - 1: compared */
} reach;

/* ---- what the commands change ---- */

static bool is_changed(const reach *r, uint32_t component)
{
    for (uint32_t i = 0; i < r->changed_count; i++)
        if (r->changed[i] == component) return true;
    return false;
}

static bool note_changed(reach *r, uint32_t component)
{
    if (is_changed(r, component)) return true;
    if (r->changed_count == CHANGED_MOST) return false;
    r->changed[r->changed_count++] = component;
    return true;
}

/* A component that comes, with all that it requires. */
static bool note_added(reach *r, uint32_t component)
{
    const weft__type *type = r->world->types.at[component];
    bool is_noted = note_changed(r, component);
    for (uint32_t i = 0; i < type->required_count && is_noted; i++)
        is_noted = note_changed(r, type->required[i]);
    return is_noted;
}

/* False: the command may change anything. */
static bool note_command(reach *r, const weft__command *command)
{
    switch ((weft__command_way)weft__command_kinds[command->op].way) {
    case WEFT__WAY_GAINS:
    case WEFT__WAY_SHARES:
        return note_added(r, command->subject);
    case WEFT__WAY_LOSES:
        return note_changed(r, command->subject);
    case WEFT__WAY_DIES:
        r->destroys = true;
        return true;
    case WEFT__WAY_COPIED:
        return r->world->builtin.instance_of.id == 0 ||
               note_changed(r, r->world->builtin.instance_of.id);
    case WEFT__WAY_MADE:
    case WEFT__WAY_LINKED:
    case WEFT__WAY_SWITCHES:
        return true;
    case WEFT__WAY_ALONE:
        break;
    }
    return false;
}

/* What dies or is copied after a change may be followed elsewhere than what it was before. */
static bool changes_what_is_followed(const reach *r)
{
    for (uint32_t i = 0; i < r->changed_count; i++) {
        const weft__type *type = r->world->types.at[r->changed[i]];
        bool is_cleanup = (type->desc.flags & WEFT_CLEANUP) != 0;
        if (type->id == r->world->builtin.linked_group.id || (is_cleanup && r->destroys))
            return true;
    }
    return false;
}

/* ---- where they start ---- */

/* Whether the two differ in changed components only. */
static bool is_reachable(const reach *r, const weft__archetype *from, const weft__archetype *to)
{
    uint32_t a = 0, b = 0;
    while (a < from->type_count || b < to->type_count) {
        uint32_t own = a < from->type_count ? from->types[a].component : WEFT__NONE;
        uint32_t other = b < to->type_count ? to->types[b].component : WEFT__NONE;
        if (own != other && !is_changed(r, own < other ? own : other)) return false;
        a += own <= other;
        b += other <= own;
    }
    return true;
}

static bool spares_all(reach *r, const weft__archetype *from)
{
    uint64_t *word = &r->seen[(from->id - 1) / 64], bit = UINT64_C(1) << (from->id - 1) % 64;
    if ((*word & bit) != 0) return true;
    *word |= bit;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const weft__query *query = r->queries[i];
        r->compared += query->match_count;
        if (r->compared > COMPARED_MOST) return false;
        for (uint32_t k = 0; k < query->match_count; k++) {
            const weft__archetype *kept = query->matches[k].archetype;
            if (kept->chunk_count != 0 && is_reachable(r, from, kept)) return false;
        }
    }
    return true;
}

static bool spares_instances(reach *r, weft_entity source)
{
    uint32_t row;
    const weft__chunk *chunk =
        weft__entity_is_deferred(source) ? NULL : weft__entity_chunk(r->world, source, &row);
    if (chunk == NULL) return false;
    const weft__archetype *from = chunk->archetype;
    return (from->flags & WEFT__HAS_LINKED_GROUP) == 0 && from->instance != NULL &&
           spares_all(r, from->instance);
}

static bool spares_command(reach *r, const weft__command *command)
{
    if (weft__command_kinds[command->op].subject == WEFT__SUBJECT_ARCHETYPE)
        return spares_all(r, r->world->archetypes.by_id[command->subject - 1]);
    if (command->op == WEFT__COMMAND_INSTANTIATE) {
        weft_entity source;
        memcpy(&source, command + 1, sizeof source);
        return spares_instances(r, source);
    }
    if (weft__entity_is_deferred(command->entity)) return true; /* its creation was looked at */
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(r->world, command->entity, &row);
    if (chunk == NULL) return true; /* dead: the command is skipped */
    const weft__archetype *from = chunk->archetype;
    if (!spares_all(r, from)) return false;
    if (command->op != WEFT__COMMAND_DESTROY) return true;
    if ((from->flags & WEFT__HAS_LINKED_GROUP) != 0) return false;
    if ((from->flags & WEFT__HAS_CLEANUP) == 0) return true;
    return from->residue != NULL && spares_all(r, from->residue);
}

/* Whether `ask` says yes to every command. */
static bool holds_for_all(const weft__playback_desc *desc, reach *r,
                          bool (*ask)(reach *r, const weft__command *command))
{
    for (uint32_t i = 0; i < desc->count; i++)
        for (uint32_t k = 0; k < desc->recorders[i]->segment_count; k++) {
            weft__command_cursor cursor = weft__command_begin(&desc->recorders[i]->segments[k]);
            for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
                if (!ask(r, command)) return false;
        }
    return true;
}

bool weft__playback_spares(const weft__playback_desc *desc, const weft__query *const *queries,
                           uint32_t query_count)
{
    weft_world *world = desc->world;
    uint64_t commands = 0;
    for (uint32_t i = 0; i < desc->count; i++) {
        weft__recorder_seal(desc->recorders[i]);
        for (uint32_t k = 0; k < desc->recorders[i]->segment_count; k++)
            commands += desc->recorders[i]->segments[k].count;
    }
    if (query_count == 0 || commands == 0) return true;
    if (commands > COMMANDS_MOST) return false;
    reach r = {.world = world, .queries = queries, .query_count = query_count};
    size_t words = world->archetypes.id_count / 64 + 1;
    r.seen = weft__scratch_take(world, WEFT__SCRATCH_MAP, words, sizeof r.seen[0]);
    if (r.seen == NULL) return false;
    memset(r.seen, 0, words * sizeof r.seen[0]);
    return holds_for_all(desc, &r, note_command) && !changes_what_is_followed(&r) &&
           holds_for_all(desc, &r, spares_command);
}
