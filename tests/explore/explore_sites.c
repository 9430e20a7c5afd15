/* SPDX-License-Identifier: MIT */
/* explore_sites.c: the atomic sites that have executed, found by the address of their string. */
#include "explore_engine.h"

#include <string.h>

#define SITES 1024u
#define SITE_HASH 4096u

static engine_site sites[SITES];
static uint32_t site_count;
static uint32_t site_hash[SITE_HASH]; /* index + 1 */
static struct {
    const char *site, *wanted;
    bool is_same;
} site_cache[SITE_HASH];

static uint32_t hash_pointer(const char *p)
{
    return (uint32_t)(((uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15)) >> 52) % SITE_HASH;
}

static uint32_t hash_text(const char *p)
{
    uint64_t h = 1469598103934665603u;
    while (*p) h = (h ^ (unsigned char)*p++) * 1099511628211u;
    return (uint32_t)(h >> 20) % SITE_HASH;
}

void engine_site_note(const char *site, uint32_t order, uint32_t is_rmw)
{
    for (uint32_t h = hash_text(site);; h = (h + 1) % SITE_HASH) {
        if (!site_hash[h]) {
            if (site_count == SITES) return;
            sites[site_count] = (engine_site){site, 1, UINT64_C(1) << engine.scenario_index % 64,
                                              (uint8_t)order, (uint8_t)is_rmw};
            site_hash[h] = ++site_count;
            return;
        }
        engine_site *known = &sites[site_hash[h] - 1];
        if (strcmp(known->name, site) != 0) continue;
        known->hits++;
        known->scenarios |= UINT64_C(1) << engine.scenario_index % 64;
        return;
    }
}

uint32_t engine_sites(const engine_site **out)
{
    *out = sites;
    return site_count;
}

bool engine_site_is(const char *site, const char *wanted)
{
    uint32_t h = hash_pointer(site);
    if (site_cache[h].site != site || site_cache[h].wanted != wanted) {
        site_cache[h].site = site;
        site_cache[h].wanted = wanted;
        site_cache[h].is_same = strcmp(site, wanted) == 0;
    }
    return site_cache[h].is_same;
}
