/* SPDX-License-Identifier: MIT */
/* window_archetypes.c: the Archetypes window. Figures of all archetypes are taken each time
 * (O(chunks)), sorted here, and only the rows that are seen travel. */
#include "window_archetypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/finder.h>

enum { BANDS = 10 };

/* One archetype as it is sorted. */
typedef struct row {
    weft_archetype archetype;
    weft_archetype_stats stats;
    uint64_t key;
} row;

static int compare_rows(const void *left, const void *right)
{
    const row *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? 1 : -1;
    return a->archetype.id < b->archetype.id ? -1 : a->archetype.id > b->archetype.id;
}

static uint64_t key_of(const weft_archetype_stats *stats, const char *sort)
{
    if (strcmp(sort, "entities") == 0) return stats->entities;
    if (strcmp(sort, "chunks") == 0) return stats->chunks;
    if (strcmp(sort, "wasted") == 0) return stats->bytes_wasted;
    if (strcmp(sort, "unused") == 0) return stats->capacity - stats->entities;
    if (strcmp(sort, "tuples") == 0) return stats->tuples;
    if (strcmp(sort, "row") == 0) return stats->row_bytes;
    return stats->bytes;
}

static void write_stats(weft__wire *out, const weft_archetype_stats *stats)
{
    weft__wire_count(out, "entities", stats->entities);
    weft__wire_count(out, "capacity", stats->capacity);
    weft__wire_count(out, "chunks", stats->chunks);
    weft__wire_count(out, "bytes", stats->bytes);
    weft__wire_count(out, "used", stats->bytes_used);
    weft__wire_count(out, "wasted", stats->bytes_wasted);
    weft__wire_count(out, "metadata", stats->bytes_metadata);
    weft__wire_count(out, "row", stats->row_bytes);
    weft__wire_count(out, "tuples", stats->tuples);
}

/* Bytes of shared values and of chunk values: what lies outside of the rows. */
static uint64_t external_bytes(const weft__session *session, const row *r, weft__wire *out)
{
    uint64_t bytes = 0;
    uint32_t count;
    weft_component *components = weft__session_components(session, r->archetype, &count, out);
    for (uint32_t i = 0; i < count; i++) {
        const weft_component_desc *info = weft_component_info(session->world, components[i]);
        if (info->flags & WEFT_SHARED) bytes += info->size * r->stats.tuples;
        if (info->flags & WEFT_CHUNK) bytes += info->size * r->stats.chunks;
    }
    free(components);
    return bytes;
}

static void write_row(weft__session *session, const row *r, weft__wire *out)
{
    weft__wire_open(out, NULL, '{');
    weft__wire_count(out, "id", r->archetype.id);
    weft__wire_archetype(out, "components", session, r->archetype);
    write_stats(out, &r->stats);
    weft__wire_count(out, "external", external_bytes(session, r, out));
    weft__wire_close(out, '}');
}

/* The SHARED component of an archetype; null: none. */
static weft_component shared_of(const weft__session *session, weft_archetype archetype,
                                weft__wire *out)
{
    weft_component shared = {0};
    uint32_t count;
    weft_component *components = weft__session_components(session, archetype, &count, out);
    for (uint32_t i = 0; i < count && shared.id == 0; i++)
        if (weft_component_info(session->world, components[i])->flags & WEFT_SHARED)
            shared = components[i];
    free(components);
    return shared;
}

/* A sentence where memory is wasted for a reason that the program can change. */
static void advise(const weft__session *session, const row *r, weft__wire *out)
{
    const weft_archetype_stats *s = &r->stats;
    double used = s->bytes == 0 ? 1 : (double)s->bytes_used / (double)s->bytes;
    char text[256] = "";
    if (s->tuples > 1 && used < 0.25 && s->bytes > 262144)
        snprintf(text, sizeof text,
                 "%u values of %s split %llu entities into %u chunks, of which %.0f %% is used: "
                 "make it a plain component, or give it fewer values",
                 s->tuples, weft__session_name(session, shared_of(session, r->archetype, out)),
                 (unsigned long long)s->entities, s->chunks, 100 * used);
    else if (s->chunks > 4 && used < 0.5 && s->bytes > 1048576)
        snprintf(text, sizeof text,
                 "%u chunks are %.0f %% full: weft_world_compact would give up to %.1f MiB back",
                 s->chunks, 100 * used, (double)s->bytes_wasted / 1048576);
    if (text[0] == '\0') return;
    weft__wire_open(out, NULL, '{');
    weft__wire_count(out, "id", r->archetype.id);
    weft__wire_text(out, "text", text);
    weft__wire_close(out, '}');
}

static row *take_rows(const weft__session *session, const char *sort, uint32_t *count)
{
    weft_world_stats world;
    weft_world_stats_get(session->world, &world, sizeof world);
    row *rows = calloc(world.archetypes + 1, sizeof *rows);
    *count = rows == NULL ? 0 : (uint32_t)world.archetypes;
    for (uint32_t i = 0; i < *count; i++) {
        rows[i].archetype = weft_archetype_at(session->world, i);
        weft_archetype_stats_get(session->world, rows[i].archetype, &rows[i].stats,
                                 sizeof rows[i].stats);
        rows[i].key = key_of(&rows[i].stats, sort);
    }
    if (rows != NULL) qsort(rows, *count, sizeof *rows, compare_rows);
    return rows;
}

/* Whether a component of the archetype has the part in its name. */
static bool is_named(const weft__session *session, weft_archetype archetype, const char *part,
                     weft__wire *out)
{
    bool is_found = false;
    uint32_t count;
    weft_component *components = weft__session_components(session, archetype, &count, out);
    for (uint32_t i = 0; i < count && !is_found; i++)
        is_found = strcasestr(weft__session_name(session, components[i]), part) != NULL;
    free(components);
    return is_found;
}

static void write_totals(const row *rows, uint32_t count, weft__wire *out)
{
    weft_archetype_stats sum = {0};
    uint64_t empty = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum.entities += rows[i].stats.entities;
        sum.capacity += rows[i].stats.capacity;
        sum.chunks += rows[i].stats.chunks;
        sum.bytes += rows[i].stats.bytes;
        sum.bytes_used += rows[i].stats.bytes_used;
        sum.bytes_wasted += rows[i].stats.bytes_wasted;
        sum.bytes_metadata += rows[i].stats.bytes_metadata;
        empty += rows[i].stats.entities == 0;
    }
    weft__wire_open(out, "sum", '{');
    write_stats(out, &sum);
    weft__wire_count(out, "empty", empty);
    weft__wire_close(out, '}');
}

uint32_t weft__archetypes_window(weft__session *session, const weft__request *request,
                                 weft__wire *out)
{
    char sort[16], part[64];
    uint32_t total, matched = 0;
    weft__request_text(request, "sort", sort, sizeof sort);
    if (!weft__request_text(request, "part", part, sizeof part) &&
        weft__request_has(request, "part"))
        return weft__window_fail(out, 400, "a part of a name has at most 63 bytes");
    bool is_up = weft__request_is(request, "up");
    uint64_t from = weft__request_count(request, "from", 0, UINT32_MAX);
    uint64_t count = weft__request_count(request, "count", 100, 500);
    row *rows = take_rows(session, sort, &total);
    if (rows == NULL) return weft__window_fail(out, 503, "no memory");
    weft__wire_count(out, "total", total);
    write_totals(rows, total, out);
    weft__wire_open(out, "rows", '[');
    for (uint32_t i = 0; i < total; i++) {
        const row *r = &rows[is_up ? total - 1 - i : i];
        if (part[0] != '\0' && !is_named(session, r->archetype, part, out)) continue;
        if (matched >= from && matched < from + count) write_row(session, r, out);
        matched++;
    }
    weft__wire_close(out, ']');
    weft__wire_count(out, "matched", matched);
    weft__wire_open(out, "advice", '[');
    for (uint32_t i = 0; i < total; i++) advise(session, &rows[i], out);
    weft__wire_close(out, ']');
    free(rows);
    return 200;
}

static void write_component(const weft__session *session, weft_component component, weft__wire *out)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    weft__wire_open(out, NULL, '{');
    weft__wire_text(out, "name", info->name);
    weft__wire_text(out, "kind", weft__session_kind(info));
    weft__wire_count(out, "bytes", info->size);
    weft__wire_bool(out, "enableable", (info->flags & WEFT_ENABLEABLE) != 0);
    weft__wire_close(out, '}');
}

uint32_t weft__archetype_window(weft__session *session, const weft__request *request,
                                weft__wire *out)
{
    row r = {.archetype = {(uint32_t)weft__request_count(request, "archetype", 0, UINT32_MAX),
                           weft_world_head_of(session->world)->number}};
    uint32_t count;
    if (weft_archetype_stats_get(session->world, r.archetype, &r.stats, sizeof r.stats) != WEFT_OK)
        return weft__window_fail(out, 404, "there is no archetype %u", r.archetype.id);
    uint32_t bands[BANDS] = {0};
    weft_archetype_occupancy(session->world, r.archetype, bands, BANDS);
    weft__wire_count(out, "id", r.archetype.id);
    write_stats(out, &r.stats);
    weft__wire_count(out, "external", external_bytes(session, &r, out));
    weft__wire_open(out, "bands", '[');
    for (uint32_t i = 0; i < BANDS; i++) weft__wire_count(out, NULL, bands[i]);
    weft__wire_close(out, ']');
    weft__wire_open(out, "components", '[');
    weft_component *components = weft__session_components(session, r.archetype, &count, out);
    for (uint32_t i = 0; i < count; i++) write_component(session, components[i], out);
    weft__wire_close(out, ']');
    free(components);
    return 200;
}
