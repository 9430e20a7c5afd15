/* SPDX-License-Identifier: MIT */
/* query_group.c: write groups: components that take over others from queries that filter them.
 *
 * A component names what it takes over when it is registered, so only archetypes made later can
 * have it: a match that was found once stays right, and new archetypes are judged when they are
 * offered. A plain component takes the whole archetype away from a description; one whose enable
 * bits count takes the rows where it is enabled (weft__override). */
#include "query_group.h"

#include "archetype_state.h"
#include "world_state.h"

static bool takes_over(const weft__type *type, uint32_t component)
{
    for (uint32_t i = 0; i < type->desc.write_group_count; i++)
        if (type->desc.write_groups[i].id == component) return true;
    return false;
}

static bool uses(const weft__query_term *term, const weft__place *places, uint32_t index)
{
    if (term->match == WEFT_NONE || term->match == WEFT_ABSENT) return false;
    return places == NULL || places[index].type != WEFT__NO_PLACE;
}

/* The descriptions whose rows a component takes over: it takes over what they write, they do not
 * name it, and read no other component that it takes over. `places` NULL: in some archetype. */
static uint64_t lost_to(const weft__query *query, const weft__type *type, const weft__place *places)
{
    uint64_t written = 0, spared = 0;
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft__query_term *term = &query->terms[t];
        uint64_t bit = UINT64_C(1) << term->alternative;
        if (term->component == type->id) spared |= bit;
        if (!uses(term, places, t) || !takes_over(type, term->component)) continue;
        if (term->access == WEFT_WRITE)
            written |= bit;
        else if (places != NULL)
            spared |= bit;
    }
    return written & ~spared;
}

uint64_t weft__query_filter_groups(weft__query *query, const weft__archetype *archetype,
                                   const weft__place *places, uint64_t alternatives)
{
    for (uint32_t i = 0; i < archetype->type_count && alternatives != 0; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        const weft__type *type = query->world->types.at[ref->component];
        if (type->desc.write_group_count == 0) continue;
        uint64_t lost = lost_to(query, type, places) & alternatives;
        if (lost == 0) continue;
        if ((type->desc.flags & WEFT_ENABLEABLE) == 0 || query->ignores_enabled)
            alternatives &= ~lost;
        else
            query->overrides[query->override_count++] =
                (weft__override){.alternatives = lost, .enableable = ref->enableable};
    }
    return alternatives;
}

uint32_t weft__query_overriding(const weft__query *query, uint32_t *out, uint32_t capacity)
{
    uint32_t count = 0;
    if (!query->filters_write_groups) return 0;
    for (uint32_t id = 1; id <= query->world->types.count; id++) {
        const weft__type *type = query->world->types.at[id];
        if (type->desc.write_group_count == 0 || lost_to(query, type, NULL) == 0) continue;
        if (count < capacity) out[count] = id;
        count++;
    }
    return count;
}
