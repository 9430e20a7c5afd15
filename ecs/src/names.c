/* names.c: debug names of entities: a hash table from entity index to a copied string. A name
 * belongs to the handle, so it is gone when the entity dies; stale entries are swept when the table
 * grows. Owner only. */
#include "bits.h"
#include "world_private.h"

#include <string.h>

#define NAME_BYTES 64

typedef struct name_entry {
    weft_entity entity; /* {0, 0}: free */
    char text[NAME_BYTES];
} name_entry;

struct weft__names {
    name_entry *entries;
    uint32_t count; /* taken, stale ones included */
    uint32_t capacity;
};

static name_entry *slot_of(const struct weft__names *names, uint32_t index)
{
    uint32_t mask = names->capacity - 1;
    uint32_t i = (uint32_t)hash_fold(index ^ HASH_K0, HASH_K1) & mask;
    while (names->entries[i].entity.version != 0 && names->entries[i].entity.index != index)
        i = (i + 1) & mask;
    return &names->entries[i];
}

static bool is_kept(const weft_world *world, const name_entry *entry)
{
    uint32_t location;
    return entry->text[0] != '\0' &&
           weft__directory_find(&world->directory, entry->entity, &location);
}

/* Room for `extra` more names. */
static weft_result table_resize(weft_world *world, struct weft__names *names, uint32_t extra)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < names->capacity; i++)
        live += is_kept(world, &names->entries[i]) ? 1 : 0;
    struct weft__names grown = {.capacity = (uint32_t)bits_round_up_power_of_two(
                                    4 * (uint64_t)live + 2 * (uint64_t)extra + 14)};
    grown.entries = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_ENTITIES, grown.capacity,
                                       sizeof(name_entry), _Alignof(name_entry));
    if (grown.entries == NULL) return WEFT_OUT_OF_MEMORY;
    grown.count = live;
    for (uint32_t i = 0; i < names->capacity; i++) {
        const name_entry *entry = &names->entries[i];
        if (is_kept(world, entry)) *slot_of(&grown, entry->entity.index) = *entry;
    }
    weft__free(&world->memory, WEFT__MEMORY_ENTITIES, names->entries, names->capacity,
               sizeof(name_entry), _Alignof(name_entry));
    *names = grown;
    return WEFT_OK;
}

weft_result weft__names_reserve(weft_world *world, uint32_t extra)
{
    if (world->names == NULL)
        world->names = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_ENTITIES, 1,
                                          sizeof *world->names, _Alignof(struct weft__names));
    if (world->names == NULL) return WEFT_OUT_OF_MEMORY;
    uint64_t needed = 2 * ((uint64_t)world->names->count + extra);
    return needed <= world->names->capacity ? WEFT_OK : table_resize(world, world->names, extra);
}

weft_result weft_entity_set_name(weft_world *world, weft_entity entity, const char *name)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (!weft_entity_is_alive(world, entity)) return weft__error_stale(world, entity);
    if (name == NULL && world->names == NULL) return WEFT_OK;
    if (weft__names_reserve(world, 1) != WEFT_OK)
        return weft__error_memory(world, "weft_entity_set_name");
    name_entry *entry = slot_of(world->names, entity.index);
    if (entry->entity.version == 0) world->names->count++;
    entry->entity = entity;
    size_t length = name == NULL ? 0 : strnlen(name, NAME_BYTES - 1);
    /* a cut must not leave half a UTF-8 character */
    if (name != NULL && name[length] != '\0')
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
    if (length != 0) memcpy(entry->text, name, length);
    entry->text[length] = '\0';
    return WEFT_OK;
}

const char *weft_entity_name(const weft_world *world, weft_entity entity)
{
    if (world == NULL || world->names == NULL || world->names->capacity == 0) return "";
    const name_entry *entry = slot_of(world->names, entity.index);
    bool is_same = entry->entity.index == entity.index && entry->entity.version == entity.version;
    return is_same && is_kept(world, entry) ? entry->text : "";
}

void weft__names_fini(weft_world *world)
{
    if (world->names == NULL) return;
    weft__free(&world->memory, WEFT__MEMORY_ENTITIES, world->names->entries, world->names->capacity,
               sizeof(name_entry), _Alignof(name_entry));
    weft__free(&world->memory, WEFT__MEMORY_ENTITIES, world->names, 1, sizeof *world->names,
               _Alignof(struct weft__names));
}
