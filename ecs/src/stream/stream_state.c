/* SPDX-License-Identifier: MIT */
/* stream_state.c: what several parts of streams do with their state: the first failure of a load,
 * the shared value of a section, the end of what was read. See stream_state.h for who may call. */
#include "stream_state.h"
#include "error.h"

#include <stdio.h>

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
