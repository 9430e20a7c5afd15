/* SPDX-License-Identifier: MIT */
/* stream.c: the public functions of streams, and the streams of a world as a part that lives and
 * dies with it. Owner. */
#include "error.h"
#include "sized.h"
#include "stream_late.h"
#include "stream_leave.h"
#include "stream_load.h"
#include "stream_step.h"
#include "version_renewal.h"

#include <math.h>
#include <string.h>

/* ---- streams of a world ---- */

static void stream_free(weft_stream *stream)
{
    weft_world *world = stream->world;
    for (uint32_t i = 0; i < stream->front.header.section_count && stream->sections != NULL; i++)
        weft__loaded_free(world, &stream->sections[i].loaded);
    weft__stream_free(world, stream->sections, stream->front.header.section_count,
                      sizeof *stream->sections);
    if (stream->front.bytes != NULL) weft__front_close(&stream->front);
    weft__stream_free(world, stream->blob_types, stream->desc.blob_type_count,
                      sizeof *stream->blob_types);
    weft__stream_free(world, stream->path, stream->path_bytes, 1);
    weft__stream_free(world, stream, 1, sizeof *stream);
}

/* No stream is open: each holds the world. */
static void streams_destroy(void *data)
{
    weft__streams *streams = data;
    weft_world *world = streams->world;
    weft__room_end(streams);
    if (streams->has_crew) weft__crew_fini(&streams->crew);
    weft__stream_free(world, streams, 1, sizeof *streams);
}

static void shared_visit(const void *data,
                         void (*visit)(void *user, uint32_t component, uint32_t index), void *user)
{
    const weft__streams *streams = data;
    for (const weft_stream *stream = streams->first; stream != NULL; stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            if (stream->sections[i].index != 0)
                visit(user, streams->section.id, stream->sections[i].index);
}

/* What came is known by the order versions of its chunks. */
static void streams_renew(void *data, struct weft__renewal *renewal)
{
    const weft__streams *streams = data;
    const weft__chunk_table *chunks = &streams->world->chunks;
    for (const weft_stream *stream = streams->first; stream != NULL && renewal->is_put;
         stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
            const weft__loaded *loaded = &stream->sections[i].loaded;
            for (uint32_t c = 0; c < loaded->chunk_count; c++) {
                weft__loaded_chunk *known = &loaded->chunks[c];
                const weft__chunk *chunk = known->id < chunks->end ? chunks->at[known->id] : NULL;
                bool is_same = chunk != NULL && chunk->serial == known->serial &&
                               chunk->order_version == known->version;
                known->version = is_same ? weft__renewed(renewal, known->version) : 0;
            }
        }
}

/* Those of the world, made when there are none; NULL: error set. */
static weft__streams *streams_obtain(weft_world *world)
{
    weft__streams *streams = weft__streams_of(world);
    if (streams != NULL) return streams;
    streams = weft__stream_alloc(world, 1, sizeof *streams);
    if (streams == NULL) return weft__error_memory(world, "weft_stream_open"), NULL;
    streams->world = world;
    streams->section = weft_component_section(world);
    streams->request =
        streams->section.id == 0 ? streams->section : weft_component_section_request(world);
    if (streams->request.id == 0) {
        weft__stream_free(world, streams, 1, sizeof *streams);
        return NULL;
    }
    world->front.extensions[WEFT__EXTENSION_STREAMS] =
        (weft__extension){.data = streams,
                          .destroy = streams_destroy,
                          .shared_visit = shared_visit,
                          .renew = streams_renew};
    return streams;
}

static weft_result crew_obtain(weft__streams *streams, uint32_t threads)
{
    if (streams->has_crew) return WEFT_OK;
    weft_result result = weft__crew_init(&streams->crew, streams->world->desc.os, threads);
    streams->has_crew = result == WEFT_OK;
    return result == WEFT_OK
               ? WEFT_OK
               : weft__error(streams->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                             "weft_stream_open: no thread could be started: allow "
                             "one more");
}

/* ---- opening and closing ---- */

static weft_result open_check(weft_world *world, const char *path, const weft_stream_desc *desc,
                              weft_stream *const *out)
{
    static const char what[] = "weft_stream_open";
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (path == NULL || out == NULL || (desc->blob_types == NULL && desc->blob_type_count != 0))
        return weft__error_argument(world, what,
                                    "path or out is NULL, or desc->blob_types is NULL but its "
                                    "count is not 0: set them");
    if (desc->threads > WEFT__CREW_MOST)
        return weft__error_argument(world, what, "desc->threads is above 16: give 0 to 16");
    return WEFT_OK;
}

static weft_result stream_fill(weft_stream *stream, const char *path, const weft_stream_desc *desc)
{
    weft_world *world = stream->world;
    stream->desc = *desc;
    stream->front.world = world;
    stream->path_bytes = strlen(path);
    stream->path = weft__stream_alloc(world, stream->path_bytes, 1);
    stream->blob_types =
        weft__stream_alloc(world, desc->blob_type_count, sizeof *stream->blob_types);
    if (stream->path == NULL || stream->blob_types == NULL)
        return weft__error_memory(world, "weft_stream_open");
    memcpy(stream->path, path, stream->path_bytes);
    for (uint32_t i = 0; i < desc->blob_type_count; i++)
        stream->blob_types[i] = desc->blob_types[i];
    weft_result result = weft__front_open(&stream->front, stream->path);
    if (result != WEFT_OK) {
        stream->front = (weft__file_front){0};
        return result;
    }
    uint32_t count = stream->front.header.section_count;
    stream->sections = weft__stream_alloc(world, count, sizeof *stream->sections);
    if (stream->sections == NULL) return weft__error_memory(world, "weft_stream_open");
    for (uint32_t i = 0; i < count; i++)
        stream->sections[i].bytes = weft__section_memory(stream, i);
    return WEFT_OK;
}

weft_result weft_stream_open(weft_world *world, const char *path, const weft_stream_desc *desc,
                             weft_stream **out)
{
    static const weft_stream_desc defaults;
    if (out != NULL) *out = NULL;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &defaults;
    weft_result result = open_check(world, path, desc, out);
    if (result != WEFT_OK) return result;
    weft__streams *streams = streams_obtain(world);
    if (streams == NULL) return world->error->code;
    weft_stream *stream = weft__stream_alloc(world, 1, sizeof *stream);
    if (stream == NULL) return weft__error_memory(world, "weft_stream_open");
    stream->world = world;
    stream->streams = streams;
    result = stream_fill(stream, path, desc);
    if (result == WEFT_OK) result = crew_obtain(streams, desc->threads == 0 ? 1 : desc->threads);
    if (result != WEFT_OK) {
        stream_free(stream);
        return result;
    }
    stream->number = ++streams->last_number;
    weft_stream **end = &streams->first;
    while (*end != NULL) end = &(*end)->next;
    *end = stream;
    *out = stream;
    weft__hold(world, WEFT__HOLDER_STREAMS, 1);
    return WEFT_OK;
}

static bool has_any(const weft_stream *stream)
{
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        weft_section_state state = stream->sections[i].state;
        if (state == WEFT_SECTION_READING || state == WEFT_SECTION_LOADED ||
            state == WEFT_SECTION_LEAVING)
            return true;
    }
    return false;
}

void weft_stream_close(weft_stream *stream)
{
    if (stream == NULL || weft__idle(stream->world, "weft_stream_close") != WEFT_OK) return;
    weft__streams *streams = stream->streams;
    stream->is_closing = true;
    while (has_any(stream)) {
        uint32_t did = 0;
        weft_result result = weft__streams_go_on(streams, 0, &did);
        if (result != WEFT_OK && did == 0 && weft__streams_under_way(streams) == 0) break;
        if (did == 0) weft__streams_wait(streams);
    }
    weft_stream **link = &streams->first;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    weft__hold(stream->world, WEFT__HOLDER_STREAMS, -1);
    stream_free(stream);
}

/* ---- requests ---- */

uint32_t weft_stream_number(const weft_stream *stream)
{
    return stream == NULL ? 0 : stream->number;
}

uint32_t weft_stream_list(const weft_world *world, weft_stream **out, uint32_t capacity)
{
    const weft__streams *streams = world == NULL ? NULL : weft__streams_of(world);
    uint32_t count = 0;
    for (weft_stream *s = streams == NULL ? NULL : streams->first; s != NULL; s = s->next, count++)
        if (out != NULL && count < capacity) out[count] = s;
    return count;
}

uint32_t weft_stream_section_count(const weft_stream *stream)
{
    return stream == NULL ? 0 : stream->front.header.section_count;
}

static weft_result refuse_systems(const weft_stream *stream, const char *what)
{
    return weft__refuse_systems(stream->world, what,
                                "set the component SectionRequest, or do it between steps");
}

static weft_result section_check(const weft_stream *stream, uint32_t section, const char *what)
{
    if (stream == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = refuse_systems(stream, what);
    if (result != WEFT_OK) return result;
    if (section < stream->front.header.section_count) return WEFT_OK;
    return weft__error(stream->world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: section %u of %s, which has %u", what, section, stream->path,
                       stream->front.header.section_count);
}

weft_result weft_stream_load(weft_stream *stream, uint32_t section, float priority)
{
    weft_result result = section_check(stream, section, "weft_stream_load");
    if (result != WEFT_OK) return result;
    if (isnan(priority))
        return weft__error_argument(stream->world, "weft_stream_load",
                                    "the priority is no number: give 0 when it does not matter");
    weft__stream_section *s = &stream->sections[section];
    s->is_wanted = true;
    s->own_priority = priority;
    /* tries again; without section 0 no other one comes */
    if (s->state == WEFT_SECTION_FAILED) s->result = WEFT_OK;
    if (stream->sections[0].state == WEFT_SECTION_FAILED) stream->sections[0].result = WEFT_OK;
    return WEFT_OK;
}

weft_result weft_stream_unload(weft_stream *stream, uint32_t section)
{
    weft_result result = section_check(stream, section, "weft_stream_unload");
    if (result == WEFT_OK) stream->sections[section].is_wanted = false;
    return result;
}

/* Distance of a point from the bounds of a section, squared. */
static float distance_squared(const weft__front_section *section, const float at[3])
{
    float sum = 0;
    for (int k = 0; k < 3 && section->has_bounds; k++) {
        float out = at[k] < section->least[k]  ? section->least[k] - at[k]
                    : at[k] > section->most[k] ? at[k] - section->most[k]
                                               : 0;
        sum += out * out;
    }
    return sum;
}

weft_result weft_stream_near(weft_stream *stream, const float at[3], float load, float unload)
{
    if (stream == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = refuse_systems(stream, "weft_stream_near");
    if (result != WEFT_OK) return result;
    if (at == NULL || !(load >= 0) || !(unload >= load))
        return weft__error_argument(stream->world, "weft_stream_near",
                                    "at is NULL, or not 0 <= load <= unload: set them");
    if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
        return weft__error_argument(stream->world, "weft_stream_near",
                                    "the place is not finite: find what made it so, or leave the "
                                    "sections as they are");
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        bool comes_with_others = i == 0 && !weft__section_of(stream, i)->has_bounds;
        if (comes_with_others && stream->front.header.section_count > 1) continue;
        float distance = distance_squared(weft__section_of(stream, i), at);
        weft__stream_section *s = &stream->sections[i];
        if (distance < load * load && s->state != WEFT_SECTION_FAILED) {
            s->is_wanted = true;
            s->own_priority = -distance;
        } else if (distance > unload * unload) {
            s->is_wanted = false;
        } else if (s->is_wanted) {
            s->own_priority = -distance;
        }
    }
    return WEFT_OK;
}

/* ---- steps ---- */

weft_result weft_stream_step(weft_world *world, uint64_t budget_ns)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_stream_step");
    weft__streams *streams = weft__streams_of(world);
    if (result != WEFT_OK || streams == NULL) return result;
    const weft_os *os = world->desc.os;
    uint64_t begin = os->clock_ns(os->user);
    streams->step++;
    result = weft__streams_go_on(streams, budget_ns == 0 ? 0 : begin + budget_ns, NULL);
    uint64_t took = os->clock_ns(os->user) - begin;
    streams->stats.step_ns = took;
    if (took > streams->stats.step_ns_max) streams->stats.step_ns_max = took;
    return result;
}

weft_result weft_stream_wait(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_stream_wait");
    weft__streams *streams = weft__streams_of(world);
    while (result == WEFT_OK && streams != NULL) {
        uint32_t did = 0;
        streams->step++;
        result = weft__streams_go_on(streams, 0, &did);
        if (did != 0 || weft__streams_have_leaving(streams)) continue;
        if (weft__streams_under_way(streams) == 0) break;
        weft__streams_wait(streams);
    }
    return result;
}

/* ---- questions ---- */

weft_result weft_stream_section(const weft_stream *stream, uint32_t section, weft_section_info *out,
                                size_t out_bytes)
{
    weft_result result = section_check(stream, section, "weft_stream_section");
    if (result != WEFT_OK || out == NULL) return out == NULL ? WEFT_INVALID_ARGUMENT : result;
    const weft__front_section *known = weft__section_of(stream, section);
    const weft__stream_section *s = &stream->sections[section];
    weft_section_info info = {.state = s->state,
                              .result = s->result,
                              .is_asked_for = s->asked != 0,
                              .has_bounds = known->has_bounds,
                              .rows = known->rows,
                              .chunks = known->piece_count,
                              .bytes = known->bytes,
                              .path = stream->path};
    memcpy(info.least, known->least, sizeof info.least);
    memcpy(info.most, known->most, sizeof info.most);
    if (s->state == WEFT_SECTION_WAITING && stream->sections[0].state == WEFT_SECTION_FAILED) {
        s = &stream->sections[0]; /* why it waits */
        info.result = s->result;
    }
    if (s->result != WEFT_OK) memcpy(info.text, s->text, sizeof info.text);
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

void weft_stream_stats_get(weft_world *world, weft_stream_stats *out, size_t out_bytes)
{
    if (out == NULL) return;
    weft_stream_stats stats = {0};
    weft__streams *streams = world == NULL ? NULL : weft__streams_of(world);
    if (streams != NULL) {
        stats = streams->stats;
        stats.bytes = streams->bytes;
        stats.under_way = weft__streams_under_way(streams);
        streams->stats.step_ns_max = 0;
    }
    for (weft_stream *stream = streams == NULL ? NULL : streams->first; stream != NULL;
         stream = stream->next) {
        stats.streams++;
        stats.late_references += weft__lates_waiting(stream);
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            stats.waiting += stream->sections[i].state == WEFT_SECTION_WAITING;
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}

void *weft_stream_column(const weft_stream_rows *rows, weft_component component)
{
    if (rows == NULL) return NULL;
    const weft__chunk *chunk = rows->chunk;
    const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, component.id);
    if (component.id == 0 || slot == NULL || slot->column == 0) return NULL;
    return weft__chunk_column(chunk, slot->column);
}
