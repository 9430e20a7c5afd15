/* SPDX-License-Identifier: MIT */
/* live_slots.c: what the owner knows of entities of documents, by key and by entity: two tables of
 * numbers with open addressing, at most half full. A slot of an object that is gone, or got another
 * entity, has key 0 until the tables are made again. See live_slots.h. */
#include "live_slots.h"

#include "hash.h"

#include <string.h>

static uint32_t place_of_key(uint64_t key)
{
    return (uint32_t)(key >> 7);
}

static uint32_t place_of_entity(weft_entity entity)
{
    return (uint32_t)hash_fold((uint64_t)entity.version << 32 | entity.index, HASH_K1);
}

static void enter(weft_live *live, uint32_t number)
{
    uint32_t mask = live->table_room - 1;
    const weft__live_slot *slot = &live->slots.at[number];
    uint32_t at = place_of_key(slot->key);
    while (live->by_key[at & mask] != WEFT__NONE) at++;
    live->by_key[at & mask] = number;
    at = place_of_entity(slot->entity);
    while (live->by_entity[at & mask] != WEFT__NONE) at++;
    live->by_entity[at & mask] = number;
}

void weft__live_slots_free(weft_live *live)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, live->by_key, live->table_room, 4, 16);
    weft__free(&live->memory, WEFT__MEMORY_OTHER, live->by_entity, live->table_room, 4, 16);
    live->by_key = live->by_entity = NULL;
    live->table_room = 0;
}

/* Tables without slots that are gone, a quarter full at most. */
static bool tables_make(weft_live *live)
{
    uint32_t room = 256, kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++) kept += live->slots.at[i].key != 0;
    while (room < 4 * (kept + 1)) room *= 2;
    uint32_t *keys = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, room, 4, 16);
    uint32_t *entities = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, room, 4, 16);
    if (keys == NULL || entities == NULL) {
        weft__free(&live->memory, WEFT__MEMORY_OTHER, keys, room, 4, 16);
        weft__free(&live->memory, WEFT__MEMORY_OTHER, entities, room, 4, 16);
        return false;
    }
    weft__live_slots_free(live);
    memset(keys, 0xff, (size_t)room * 4);
    memset(entities, 0xff, (size_t)room * 4);
    live->by_key = keys;
    live->by_entity = entities;
    live->table_room = room;
    kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) live->slots.at[kept++] = live->slots.at[i];
    live->slots.count = kept;
    for (uint32_t i = 0; i < kept; i++) enter(live, i);
    return true;
}

/* A place for a slot, in no table yet; other slots may have other places afterwards. */
static weft__live_slot *slot_place(weft_live *live)
{
    if (2 * (live->slots.count + 1) >= live->table_room && !tables_make(live)) return NULL;
    return WEFT__SCENE_ADD(&live->memory, &live->slots);
}

weft__live_slot *weft__live_slot_add(weft_live *live, uint64_t key, weft_entity entity,
                                     const char *path)
{
    size_t bytes = strlen(path) + 1;
    char *copy = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, bytes, 1, 16);
    weft__live_slot *slot = copy == NULL ? NULL : slot_place(live);
    if (slot == NULL) {
        weft__free(&live->memory, WEFT__MEMORY_OTHER, copy, bytes, 1, 16);
        return NULL;
    }
    *slot = (weft__live_slot){.key = key, .entity = entity, .path = memcpy(copy, path, bytes)};
    enter(live, live->slots.count - 1);
    return slot;
}

void weft__live_slot_remove(weft_live *live, weft__live_slot *slot)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, slot->path, strlen(slot->path) + 1, 1, 16);
    weft__live_image_free(live, slot->base);
    *slot = (weft__live_slot){.entity = slot->entity}; /* the tables pass over it */
}

bool weft__live_slot_move(weft_live *live, uint64_t key, weft_entity entity)
{
    weft__live_slot *made = slot_place(live);
    if (made == NULL) return false;
    weft__live_slot *slot = weft__live_slot_of(live, key);
    *made = *slot;
    made->entity = entity;
    *slot = (weft__live_slot){.entity = slot->entity};
    enter(live, live->slots.count - 1);
    return true;
}

weft__live_slot *weft__live_slot_of(const weft_live *live, uint64_t key)
{
    uint32_t mask = live->table_room - 1, at = place_of_key(key);
    for (; live->table_room != 0 && live->by_key[at & mask] != WEFT__NONE; at++)
        if (live->slots.at[live->by_key[at & mask]].key == key)
            return &live->slots.at[live->by_key[at & mask]];
    return NULL;
}

weft__live_slot *weft__live_slot_at(const weft_live *live, weft_entity entity)
{
    uint32_t mask = live->table_room - 1, at = place_of_entity(entity);
    for (; live->table_room != 0 && live->by_entity[at & mask] != WEFT__NONE; at++) {
        weft__live_slot *slot = &live->slots.at[live->by_entity[at & mask]];
        if (slot->key != 0 && slot->entity.index == entity.index &&
            slot->entity.version == entity.version)
            return slot;
    }
    return NULL;
}
