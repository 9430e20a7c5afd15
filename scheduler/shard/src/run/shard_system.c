/* SPDX-License-Identifier: MIT */
/* shard_system.c: systems that read ghosts: two halves of one description, which leave out the
 * chunks of the other. */
#include <stdio.h>
#include <stdlib.h>

#include "ghost_exchange.h"
#include "os.h"
#include "ranks_error.h"
#include "shard_clock.h"
#include "shard_state.h"

#define TERMS_LIMIT 64u

/* What a call of a half measures and whether it lets messages on. */
static void run_half(weft_slice *slice, void *user)
{
    const struct weft__shard_half *half = user;
    const weft__shard_system *system = half->system;
    weft_shard *shard = system->shard;
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, system->sector_term), sizeof stored);
    if (stored == 0) return; /* new: it has no place yet */
    const uint32_t sector = stored - 1;
    const bool is_border = (shard->map.visibility[sector] & WEFT__SECTOR_BORDER) != 0;
    if (is_border != half->is_border) return;
    const uint64_t start = weft__shard_now();
    system->run(slice, system->user);
    const uint64_t worker = weft_slice_worker(slice);
    if (worker < shard->cost_workers)
        shard->costs[worker * shard->map.count + sector] += weft__shard_now() - start;
    if (!half->is_border && shard->owner_thread == weft__os_thread_number())
        weft__ghosts_poll(shard); /* MPI goes on only while it is called */
}

/* ---- creating ---- */

static uint32_t term_count(const weft_query_desc *query)
{
    uint32_t count = 0;
    while (count < WEFT_INLINE_TERMS && query->terms[count].component.id != 0) count++;
    return count + query->more_term_count;
}

static const weft_term *term_at(const weft_query_desc *query, uint32_t position)
{
    uint32_t inline_count = 0;
    while (inline_count < WEFT_INLINE_TERMS && query->terms[inline_count].component.id != 0)
        inline_count++;
    return position < inline_count ? &query->terms[position]
                                   : &query->more_terms[position - inline_count];
}

static weft_result check(const weft_shard *shard, const weft_system_desc *desc)
{
    const uint32_t refused = WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE |
                             WEFT_SYSTEM_TIMER | WEFT_SYSTEM_BACKGROUND;
    const char *name = desc->name != NULL ? desc->name : "?";
    if (desc->run == NULL || desc->name == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "system %s: name and run are needed", name);
    if (desc->over.kind != WEFT_OVER_ROWS || desc->skips_unchanged || desc->by_depth.id != 0 ||
        (desc->flags & refused) != 0)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "system %s reads ghosts: it runs over rows (over.rows), in "
                                "parallel, without SERIAL, MAIN_THREAD, EXCLUSIVE, TIMER, "
                                "BACKGROUND, skips_unchanged and by_depth",
                                name);
    const uint32_t count = term_count(&desc->over.rows);
    if (count + 1 > TERMS_LIMIT)
        return weft__ranks_fail(WEFT_LIMIT, "system %s: more than %u terms", name, TERMS_LIMIT - 1);
    bool names_gid = false;
    for (uint32_t i = 0; i < count; i++) {
        const weft_term *term = term_at(&desc->over.rows, i);
        names_gid |= term->component.id == shard->gid.id && term->match == WEFT_ALL &&
                     term->access == WEFT_READ;
        for (uint32_t k = 0; k < shard->halo_count; k++)
            if (term->component.id == shard->halo[k].id && term->access == WEFT_WRITE)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                        "system %s reads ghosts and writes halo component %s: "
                                        "write another component, and copy it in a system behind",
                                        name,
                                        weft_component_info(shard->world, shard->halo[k])->name);
    }
    if (!names_gid)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "system %s reads ghosts: name ShardGid (weft_shard_info) among "
                                "its terms, for reading",
                                name);
    return WEFT_OK;
}

/* One half: the description with ShardSector as the last term, the halo as look-ups. */
static weft_system create_half(weft_shard *shard, weft__shard_system *system,
                               const weft_system_desc *desc, bool is_border)
{
    weft_term terms[TERMS_LIMIT];
    weft_lookup lookups[WEFT_SHARD_HALO_LIMIT + 64];
    char name[80];
    const uint32_t count = term_count(&desc->over.rows);
    for (uint32_t i = 0; i < count; i++) terms[i] = *term_at(&desc->over.rows, i);
    terms[count] = (weft_term){shard->sector, .match = WEFT_PRESENT};
    system->sector_term = count;
    weft_system_desc half = *desc;
    (void)snprintf(name, sizeof name, "%s%s", desc->name, is_border ? ".border" : "");
    half.name = name;
    half.run = run_half;
    half.user = &system->half[is_border];
    memset(half.over.rows.terms, 0, sizeof half.over.rows.terms);
    half.over.rows.more_terms = terms;
    half.over.rows.more_term_count = count + 1;
    half.flags |= WEFT_SYSTEM_NOT_FUSED;
    uint32_t lookup_count = 0;
    for (uint32_t i = 0; i < desc->more_lookup_count && i < 64; i++)
        lookups[lookup_count++] = desc->more_lookups[i];
    for (uint32_t i = 0; i < shard->halo_count; i++)
        lookups[lookup_count++] = (weft_lookup){shard->halo[i], WEFT_READ};
    half.more_lookups = lookups;
    half.more_lookup_count = lookup_count;
    return weft_system_create(shard->world, &half);
}

weft_result weft_shard_system_create(weft_shard *shard, const weft_system_desc *desc)
{
    if (shard == NULL || desc == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "weft_shard_system_create: an argument is NULL");
    weft_result result = check(shard, desc);
    if (result != WEFT_OK) return result;
    weft__shard_system *system = calloc(1, sizeof *system);
    if (system == NULL) return weft__ranks_no_memory();
    system->shard = shard;
    system->run = desc->run;
    system->user = desc->user;
    for (uint32_t i = 0; i < 2; i++) {
        system->half[i] = (struct weft__shard_half){system, i == 1};
        system->halves[i] = create_half(shard, system, desc, i == 1);
        if (system->halves[i].id != 0) continue;
        result = weft__ranks_fail(weft_world_error(shard->world)->code, "%s",
                                  weft_world_error(shard->world)->text);
        if (i == 1) (void)weft_system_destroy(shard->world, system->halves[0]);
        free(system);
        return result;
    }
    system->next = shard->systems;
    shard->systems = system;
    return WEFT_OK;
}

/* ---- inside ---- */

/* The system that the slice is of: its query has ShardSector as its last term. */
uint32_t weft_shard_slice_sector(const weft_shard *shard, const weft_slice *slice)
{
    (void)shard;
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, slice->term_count - 1), sizeof stored);
    return stored - 1;
}
