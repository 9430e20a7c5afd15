/* SPDX-License-Identifier: MIT */
/* row_types.c: what the description of a component says about how its values travel. Values with
 * hooks that own memory do not. */
#include "row_types.h"

#include <stdlib.h>

#include "byte_list.h"
#include "hash.h"
#include "ranks_error.h"
#include "world_front.h"

/* Why values cannot travel; NULL: they can. */
static const char *reason_against(const weft_component_desc *desc)
{
    if ((desc->flags & WEFT_CHUNK) != 0) return "it is a CHUNK component";
    if ((desc->flags & WEFT_CLEANUP) != 0) return "it is a CLEANUP component";
    if (desc->hooks.destruct != NULL || desc->hooks.copy != NULL || desc->shared_release != NULL)
        return "it has hooks that own memory";
    if (weft__type_has_blobs(weft__type_of(desc))) return "it has a reference to a blob";
    return NULL;
}

weft_result weft__row_component_of(const weft_shard *shard, weft_component component,
                                   weft__row_component *out)
{
    const weft_component_desc *desc = weft_component_info(shard->world, component);
    if (desc == NULL) return weft__ranks_fail(WEFT_BAD_HANDLE, "a component is of another world");
    const char *reason = reason_against(desc);
    if (reason != NULL)
        return weft__ranks_fail(WEFT_UNSUPPORTED,
                                "component %s of a sharded entity cannot travel: %s; keep it on "
                                "private entities, or leave it out",
                                desc->name, reason);
    *out = (weft__row_component){.component = component,
                                 .desc = desc,
                                 .kind = WEFT__VALUE_PLAIN,
                                 .size = (uint32_t)desc->size,
                                 .has_bits = (desc->flags & WEFT_ENABLEABLE) != 0,
                                 .has_references = weft__type_of(desc)->reference_count != 0,
                                 .is_hashed = (desc->flags & WEFT_NOT_HASHED) == 0};
    if (out->has_references && !shard->has_references)
        return weft__ranks_fail(WEFT_UNSUPPORTED,
                                "component %s has ENTITY fields, as no component had when the "
                                "shard was created: register it before weft_shard_create",
                                desc->name);
    if ((desc->flags & WEFT_BUFFER) != 0)
        out->kind = WEFT__VALUE_BUFFER;
    else if ((desc->flags & WEFT_SHARED) != 0)
        out->kind = WEFT__VALUE_SHARED;
    else if (desc->size == 0)
        out->kind = WEFT__VALUE_TAG;
    return WEFT_OK;
}

/* Watches the SPARSE components that were registered since the last look. */
static weft_result watch_sparse(weft_shard *shard)
{
    for (;; shard->components_seen++) {
        const weft_component component = weft__component(shard->world, shard->components_seen + 1);
        const weft_component_desc *desc = weft_component_info(shard->world, component);
        if (desc == NULL) return WEFT_OK;
        if ((desc->flags & WEFT_SPARSE) == 0) continue;
        const weft_query_desc both = {
            .terms = {{shard->gid}, {component, .match = WEFT_PRESENT}},
            .with_inactive = true,
            .ignores_enabled = true,
        };
        const weft_query query = weft_query_create(shard->world, &both);
        if (query.id == 0 ||
            !weft__array_grow(&shard->sparse, &shard->sparse_capacity,
                              shard->sparse_count + UINT64_C(1), sizeof *shard->sparse))
            return weft__ranks_no_memory();
        shard->sparse[shard->sparse_count++] = (weft__sparse_watch){component, query};
    }
}

weft_result weft__sparse_refuse(weft_shard *shard)
{
    weft_result result = watch_sparse(shard);
    const weft_error *error = weft_world_error(shard->world);
    const uint64_t errors = error->number;
    for (uint32_t i = 0; i < shard->sparse_count && result == WEFT_OK; i++)
        if (weft_query_count(shard->world, shard->sparse[i].query) != 0)
            result = weft__ranks_fail(
                WEFT_UNSUPPORTED,
                "component %s of a sharded entity cannot travel: it is SPARSE; keep it on private "
                "entities, or register it without WEFT_SPARSE",
                weft_component_info(shard->world, shard->sparse[i].component)->name);
    return result == WEFT_OK && error->number != errors ? weft__ranks_no_memory() : result;
}

void weft__sparse_free(weft_shard *shard)
{
    for (uint32_t i = 0; i < shard->sparse_count; i++)
        (void)weft_query_destroy(shard->world, shard->sparse[i].query);
    free(shard->sparse);
}

static int by_id(const void *a, const void *b)
{
    const uint32_t left = ((const weft_component *)a)->id, right = ((const weft_component *)b)->id;
    return (left > right) - (left < right);
}

weft_result weft__row_components(const weft_shard *shard, weft_archetype archetype,
                                 weft__row_component list[WEFT__ROW_COMPONENTS], uint32_t *count)
{
    weft_component all[WEFT__ROW_COMPONENTS];
    const uint32_t there =
        weft_archetype_components(shard->world, archetype, all, WEFT__ROW_COMPONENTS);
    *count = 0;
    if (there > WEFT__ROW_COMPONENTS)
        return weft__ranks_fail(WEFT_LIMIT, "a sharded entity has %u components, at most %u", there,
                                WEFT__ROW_COMPONENTS);
    qsort(all, there, sizeof *all, by_id);
    for (uint32_t i = 0; i < there; i++) {
        if (all[i].id == shard->gid.id || all[i].id == shard->sector.id) continue;
        weft_result result = weft__row_component_of(shard, all[i], &list[*count]);
        if (result != WEFT_OK) return result;
        (*count)++;
    }
    return WEFT_OK;
}

uint64_t weft__components_hash(const weft_shard *shard)
{
    uint64_t hash = hash_start(0, 0);
    for (uint32_t id = 1;; id++) {
        const weft_component component = weft__component(shard->world, id);
        if (weft_component_info(shard->world, component) == NULL) break;
        hash = hash_word(hash, weft_component_hash(shard->world, component));
    }
    return hash_end(hash);
}

bool weft__world_has_references(const weft_shard *shard)
{
    for (uint32_t id = 1;; id++) {
        const weft_component_desc *desc =
            weft_component_info(shard->world, weft__component(shard->world, id));
        if (desc == NULL) return false;
        if (strcmp(desc->name, "LinkedGroup") != 0 && weft__type_of(desc)->entity_offset_count != 0)
            return true;
    }
}
