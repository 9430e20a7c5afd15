/* SPDX-License-Identifier: MIT */
/* world_file_evolve.c: types of a world file whose layout is another than the world's: their plans
 * (evolution.h), kept by the load, and the values read by them. See world_file_evolve.h. */
#include "world_file_evolve.h"
#include "error.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

const weft__evolution *weft__world_reader_evolution(const weft__world_reader *r,
                                                    const weft__type *type)
{
    for (uint32_t i = 0; i < r->type_count && r->evolution_count != 0; i++)
        if (r->types[i] == type) return r->evolutions[i];
    return NULL;
}

size_t weft__world_reader_bytes(const weft__world_reader *r, const weft__type *type)
{
    const weft__evolution *evolution = weft__world_reader_evolution(r, type);
    return evolution == NULL ? type->desc.size : evolution->from_bytes;
}

bool weft__world_reader_convert(weft__world_reader *r, const weft__type *type, char *value,
                                size_t bytes)
{
    const weft__evolution *evolution = weft__world_reader_evolution(r, type);
    size_t count = evolution->to_bytes == 0 ? 1 : bytes / evolution->to_bytes;
    const char *from = weft__world_reader_take(r, count * evolution->from_bytes);
    char text[400];
    weft__callback_begin(r->world); /* migrate */
    for (size_t i = 0; i < count && from != NULL; i++) {
        if (weft__evolution_apply(evolution, from + i * evolution->from_bytes,
                                  value + i * evolution->to_bytes, text))
            continue;
        weft__world_reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, type->desc.name, text);
        break;
    }
    weft__callback_end(r->world);
    if (r->result != WEFT_OK && bytes != 0) memset(value, 0, bytes);
    return r->result == WEFT_OK;
}

/* Another layout: a plan from the one in the file. */
bool weft__world_reader_evolve(weft__world_reader *r, const weft__type *type,
                               const weft_component_desc *desc, uint64_t hash)
{
    weft__memory *memory = &r->world->memory;
    weft__evolution *evolution = weft__alloc_zeroed(memory, CATEGORY, 1, sizeof *evolution, 16);
    if (evolution == NULL) {
        weft__error_memory(r->world, "weft_world_load");
        return weft__world_reader_failed(r);
    }
    char text[400];
    weft__evolution_ends ends = {desc, &type->desc, hash};
    weft__callback_begin(r->world); /* changed */
    bool is_made = weft__evolution_init(memory, r->desc, &ends, evolution, text);
    weft__callback_end(r->world);
    r->is_reshaped = r->is_reshaped || desc->size != type->desc.size ||
                     desc->alignment != type->desc.alignment ||
                     desc->buffer_capacity != type->desc.buffer_capacity;
    if (is_made && evolution->is_needed) {
        r->evolutions[r->type_count] = evolution;
        r->evolution_count++;
        return true;
    }
    weft__evolution_fini(memory, evolution);
    weft__free(memory, CATEGORY, evolution, 1, sizeof *evolution, 16);
    if (is_made) return true;
    if (text[0] == '\0') {
        weft__error_memory(r->world, "weft_world_load");
        return weft__world_reader_failed(r);
    }
    bool is_size = desc->size != type->desc.size;
    if (is_size) r->report->found = desc->size;
    if (is_size) r->report->expected = type->desc.size;
    return weft__world_reader_type_differs(r, is_size ? WEFT_LOAD_TYPE_SIZE : WEFT_LOAD_TYPE_LAYOUT,
                                           type->desc.name, text);
}

void weft__world_reader_evolutions_free(weft__world_reader *r)
{
    weft__memory *memory = &r->world->memory;
    for (uint32_t i = 0; i < r->type_limit && r->evolutions != NULL; i++) {
        if (r->evolutions[i] == NULL) continue;
        weft__evolution_fini(memory, r->evolutions[i]);
        weft__free(memory, CATEGORY, r->evolutions[i], 1, sizeof(weft__evolution), 16);
    }
    weft__free(memory, CATEGORY, (void *)r->evolutions, r->type_limit, sizeof(weft__evolution *),
               16);
}
