/* SPDX-License-Identifier: MIT */
/* stream_state.c: what several parts of streams do with their state: the first failure of a load,
 * the components Section (and its value of a section) and SectionRequest, the end of what was read.
 * See stream_state.h for who may call. */
#include "stream_state.h"
#include "error.h"

#include <stdio.h>

/* ---- components: known by their names, registered by the first that asks for them ---- */

static const weft_field section_fields[] = {WEFT_FIELD(weft_section, scene),
                                            WEFT_FIELD(weft_section, instance),
                                            WEFT_FIELD(weft_section, section)};
static const weft_type section_type = {.name = "Section",
                                       .size = sizeof(weft_section),
                                       .alignment = _Alignof(weft_section),
                                       .fields = section_fields,
                                       .field_count = 3};
static const weft_field request_fields[] = {WEFT_FIELD(weft_section_request, instance),
                                            WEFT_FIELD(weft_section_request, section),
                                            WEFT_FIELD(weft_section_request, priority)};
static const weft_type request_type = {.name = "SectionRequest",
                                       .size = sizeof(weft_section_request),
                                       .alignment = _Alignof(weft_section_request),
                                       .fields = request_fields,
                                       .field_count = 3};

weft_component weft_component_section(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, section_type.name);
    if (found.id != 0) return found;
    return weft_component_create(
        world, &(weft_component_desc){.type = &section_type, .flags = WEFT_SHARED});
}

weft_component weft_component_section_request(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, request_type.name);
    if (found.id != 0) return found;
    return weft_component_create(world, &(weft_component_desc){.type = &request_type});
}

/* ---- state ---- */

weft__streams *weft__streams_of(const weft_world *world)
{
    return world->front.extensions[WEFT__EXTENSION_STREAMS].data;
}

bool weft__load_fail(weft__load *load, weft_result result, const char *text)
{
    uint32_t none = WEFT_OK;
    /* relaxed would do: the owner reads the text after SC3 */
    if (!at_cas_ar(&load->x_failed, &none, (uint32_t)result)) return false; /* SC2 */
    snprintf(load->text, sizeof load->text, "section %u: %.*s", load->section,
             (int)sizeof load->text - 24, text);
    return false;
}

weft_result weft__section_value_obtain(weft_stream *stream, uint32_t section)
{
    weft_world *world = stream->world;
    weft_section value = {stream->front.header.scene, stream->number, section};
    weft_result result = weft__shared_intern(&world->shared, stream->streams->section.id, &value,
                                             &stream->sections[section].index);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "weft_stream_step");
}

void weft__section_value_release(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__shared_release(&stream->world->shared, stream->streams->section.id, s->index, 1);
    s->index = 0;
}

void weft__loaded_free(weft_world *world, weft__loaded *l)
{
    weft__stream_free(world, l->blocks, l->block_count, sizeof *l->blocks);
    weft__stream_free(world, l->chunks, l->chunk_count, sizeof *l->chunks);
    weft__stream_free(world, l->exports, l->export_count, sizeof *l->exports);
    weft__stream_free(world, l->lates, l->late_count, sizeof *l->lates);
    weft__stream_free(world, l->blobs, l->blob_room, sizeof *l->blobs);
    weft__stream_free(world, l->names, l->name_bytes, 1);
    *l = (weft__loaded){0};
}

void weft__sections_pin(weft_world *world)
{
    world->front.pins[WEFT__PIN_SECTIONS] =
        (weft__pin){weft_world_moment(world), "sections came or left, and streams do not go back: "
                                              "restore a snapshot that was taken since"};
}
