/* SPDX-License-Identifier: MIT */
/* name_table.c: names of entities, both ways. A hash table leads from entity index to text; texts
 * are kept once, with a list of the entities that have them, and found by their own hash table. A
 * name belongs to the handle, so it is gone when the entity dies; entries of the dead stay until
 * the table grows, and are passed over. Owner only. */
#include "name_table.h"
#include "utf8.h"

#include <stdio.h>

#define CATEGORY WEFT__MEMORY_ENTITIES

/* A name that an entity has. Owner: weft__names. Positions and text numbers count from 1; 0: none.
 * Always: text == 0 where entity is {0, 0}, and where the text was taken away. */
typedef struct name_entry {
    weft_entity entity; /* {0, 0}: free */
    uint32_t text;
    uint32_t next; /* entries with the same text */
    uint32_t prev;
} name_entry;

/* A text, kept once for all entities that have it. Owner: weft__names. Always: first == 0 when
 * it is in the list of free ones. */
typedef struct name_text {
    char text[WEFT__NAME_BYTES];
    uint32_t hash;
    uint32_t next;  /* of the free ones */
    uint32_t first; /* entry; 0: the text is free */
} name_text;

/* Owned by the world. 2 * count <= capacity; by_text has the texts that are not free. */
struct weft__names {
    name_entry *entries; /* open addressing by entity index */
    uint32_t count;      /* taken, stale ones included */
    uint32_t capacity;
    WEFT__LIST(name_text) texts; /* [number - 1] */
    weft__table by_text;         /* of their numbers */
    uint32_t free_text;
    weft__names_kept *kept; /* held: what the living have now; NULL: not known */
};

/* References are counted by the owner of the world. */
struct weft__names_kept {
    uint32_t references;
    uint32_t count; /* of names */
    size_t bytes;   /* of `data` */
    char data[];    /* one after the other: the entity, the text with its NUL */
};

/* Cut to what is kept, but not in the middle of a UTF-8 character. */
weft__name_key weft__name_key_of(const char *name)
{
    weft__name_key key = {.text = ""};
    size_t length = name == NULL ? 0 : strnlen(name, WEFT__NAME_BYTES);
    if (length != 0) length = weft__utf8_cut(name, length, WEFT__NAME_BYTES - 1);
    if (length != 0) memcpy(key.text, name, length);
    key.hash = (uint32_t)hash_string(key.text);
    return key;
}

/* ---- entries ---- */

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
    return entry->text != 0 && weft__entity_lives(world, entry->entity);
}

static void entry_link(struct weft__names *names, name_entry *entry, uint32_t number)
{
    uint32_t position = (uint32_t)(entry - names->entries) + 1;
    name_text *text = &names->texts.at[number - 1];
    entry->text = number;
    entry->prev = 0;
    entry->next = text->first;
    if (text->first != 0) names->entries[text->first - 1].prev = position;
    text->first = position;
}

static void text_end(struct weft__names *names, uint32_t number)
{
    name_text *text = &names->texts.at[number - 1];
    weft__table_take(&names->by_text, text->hash, number);
    text->next = names->free_text;
    names->free_text = number;
}

/* The entry has no text afterwards; a text that no other has goes. */
static void entry_unlink(struct weft__names *names, name_entry *entry)
{
    if (entry->text == 0) return;
    name_text *text = &names->texts.at[entry->text - 1];
    if (entry->next != 0) names->entries[entry->next - 1].prev = entry->prev;
    if (entry->prev != 0)
        names->entries[entry->prev - 1].next = entry->next;
    else
        text->first = entry->next;
    if (text->first == 0) text_end(names, entry->text);
    entry->text = 0;
}

/* ---- texts ---- */

static uint32_t text_find(const struct weft__names *names, const weft__name_key *key)
{
    uint32_t step = 0, number;
    while (names != NULL && (number = weft__table_next(&names->by_text, key->hash, &step)) != 0)
        if (strcmp(names->texts.at[number - 1].text, key->text) == 0) return number;
    return 0;
}

/* There is room: see texts_resize. */
static uint32_t text_obtain(struct weft__names *names, const weft__name_key *key)
{
    uint32_t number = text_find(names, key);
    if (number != 0) return number;
    number = names->free_text;
    if (number != 0)
        names->free_text = names->texts.at[number - 1].next;
    else
        number = ++names->texts.count;
    WEFT_ASSERT(number <= names->texts.capacity);
    name_text *text = &names->texts.at[number - 1];
    memcpy(text->text, key->text, WEFT__NAME_BYTES);
    text->hash = key->hash;
    text->first = 0;
    weft__table_put(&names->by_text, key->hash, number);
    return number;
}

/* Room for `extra` more texts. Numbers stay. */
static weft_result texts_resize(weft_world *world, struct weft__names *names, uint64_t extra)
{
    uint64_t needed = names->by_text.count + extra;
    return needed <= UINT32_MAX / 4 &&
                   WEFT__LIST_ROOM(&world->memory, CATEGORY, &names->texts, needed) &&
                   weft__table_room(&world->memory, CATEGORY, &names->by_text, (uint32_t)needed)
               ? WEFT_OK
               : WEFT_OUT_OF_MEMORY;
}

/* ---- both ---- */

void weft__names_let_go(weft_world *world, weft__names_kept *kept)
{
    if (kept != NULL && --kept->references == 0)
        weft__free(&world->memory, WEFT__MEMORY_SNAPSHOTS, kept, 1, sizeof *kept + kept->bytes, 8);
}

/* The names are no longer those that a snapshot has. */
static void kept_forget(weft_world *world)
{
    weft__names_let_go(world, world->names->kept);
    world->names->kept = NULL;
}

/* Room for `extra` more names; entries of the dead go. */
static weft_result entries_resize(weft_world *world, struct weft__names *names, uint32_t extra)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < names->capacity; i++)
        live += is_kept(world, &names->entries[i]) ? 1 : 0;
    uint64_t capacity = bits_round_up_power_of_two(4 * (uint64_t)live + 2 * (uint64_t)extra + 14);
    if (capacity > UINT32_MAX) return WEFT_OUT_OF_MEMORY;
    name_entry *entries = WEFT__NEW_ZEROED(&world->memory, CATEGORY, capacity, name_entry);
    if (entries == NULL) return WEFT_OUT_OF_MEMORY;
    kept_forget(world); /* a snapshot may have names of those that are dead now */
    for (uint32_t i = 0; i < names->capacity; i++)
        if (!is_kept(world, &names->entries[i])) entry_unlink(names, &names->entries[i]);
    for (uint32_t i = 0; i < names->texts.count; i++)
        names->texts.at[i].first = 0; /* linked below */
    struct weft__names old = *names;
    names->entries = entries;
    names->capacity = (uint32_t)capacity;
    names->count = live;
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].text == 0) continue;
        name_entry *entry = slot_of(names, old.entries[i].entity.index);
        entry->entity = old.entries[i].entity;
        entry_link(names, entry, old.entries[i].text);
    }
    WEFT__FREE(&world->memory, CATEGORY, old.entries, old.capacity);
    return WEFT_OK;
}

weft_result weft__names_reserve(weft_world *world, uint32_t names, uint32_t texts)
{
    if (world->names == NULL)
        world->names = WEFT__NEW_ZEROED(&world->memory, CATEGORY, 1, *world->names);
    if (world->names == NULL) return WEFT_OUT_OF_MEMORY;
    uint64_t needed = 2 * ((uint64_t)world->names->count + names);
    weft_result result =
        needed <= world->names->capacity ? WEFT_OK : entries_resize(world, world->names, names);
    /* one more: weft_entity_set_name asks for a text that it may not need */
    return result == WEFT_OK ? texts_resize(world, world->names, (uint64_t)texts + 1) : result;
}

uint32_t weft__names_texts(const weft_world *world)
{
    return world->names == NULL ? 0 : world->names->by_text.count;
}

/* ---- names ---- */

weft_entity weft__name_find(const weft_world *world, const weft__name_key *key, weft_entity but)
{
    weft_entity found = WEFT__NO_ENTITY;
    uint32_t number = key->text[0] == '\0' ? 0 : text_find(world->names, key);
    uint32_t position = number == 0 ? 0 : world->names->texts.at[number - 1].first;
    for (; position != 0; position = world->names->entries[position - 1].next) {
        const name_entry *entry = &world->names->entries[position - 1];
        bool is_better = found.version == 0 || entry->entity.index < found.index;
        if (is_better && !weft_entity_equal(entry->entity, but) && is_kept(world, entry))
            found = entry->entity;
    }
    return found;
}

/* There is room. */
static void entry_set(struct weft__names *names, weft_entity entity, const weft__name_key *key)
{
    name_entry *entry = slot_of(names, entity.index);
    if (entry->entity.version == 0) names->count++;
    entry_unlink(names, entry);
    entry->entity = entity;
    if (key->text[0] != '\0') entry_link(names, entry, text_obtain(names, key));
}

weft_result weft__name_set(weft_world *world, weft_entity entity, const weft__name_key *key)
{
    const bool is_removal = key->text[0] == '\0';
    if (is_removal && weft__name_last(world, entity)[0] == '\0') return WEFT_OK;
    if (!is_removal && weft__names_reserve(world, 1, 0) != WEFT_OK) return WEFT_OUT_OF_MEMORY;
    kept_forget(world);
    entry_set(world->names, entity, key);
    return WEFT_OK;
}

/* ---- names of snapshots ---- */

bool weft__names_keep(weft_world *world, weft__names_kept **out)
{
    const struct weft__names *names = world->names;
    size_t bytes = 0, at = 0;
    uint32_t count = 0;
    *out = NULL;
    if (names == NULL) return true;
    for (uint32_t i = 0; i < names->capacity && names->kept == NULL; i++) {
        const name_entry *entry = &names->entries[i];
        if (!is_kept(world, entry)) continue;
        bytes += sizeof entry->entity + strlen(names->texts.at[entry->text - 1].text) + 1;
        count++;
    }
    if (names->kept == NULL && count == 0) return true;
    if (names->kept == NULL) {
        weft__names_kept *kept =
            weft__alloc(&world->memory, WEFT__MEMORY_SNAPSHOTS, 1, sizeof *kept + bytes, 8);
        if (kept == NULL) return false;
        *kept = (weft__names_kept){1, count, bytes};
        for (uint32_t i = 0; i < names->capacity; i++) {
            const name_entry *entry = &names->entries[i];
            if (!is_kept(world, entry)) continue;
            const char *text = names->texts.at[entry->text - 1].text;
            memcpy(kept->data + at, &entry->entity, sizeof entry->entity);
            at += sizeof entry->entity;
            memcpy(kept->data + at, text, strlen(text) + 1);
            at += strlen(text) + 1;
        }
        world->names->kept = kept;
    }
    names->kept->references++;
    *out = names->kept;
    return true;
}

weft_result weft__names_put_reserve(weft_world *world, const weft__names_kept *kept)
{
    if (kept == NULL || world->names->kept == kept) return WEFT_OK;
    return weft__names_reserve(world, kept->count, kept->count);
}

void weft__names_put(weft_world *world, weft__names_kept *kept)
{
    struct weft__names *names = world->names;
    if (names == NULL || (kept != NULL && names->kept == kept)) return;
    kept_forget(world);
    if (names->capacity != 0) memset(names->entries, 0, names->capacity * sizeof(name_entry));
    weft__table_clear(&names->by_text);
    names->count = names->texts.count = names->free_text = 0;
    if (kept == NULL) return;
    for (size_t at = 0; at < kept->bytes;) {
        weft_entity entity;
        memcpy(&entity, kept->data + at, sizeof entity);
        const weft__name_key key = weft__name_key_of(kept->data + at + sizeof entity);
        entry_set(names, entity, &key);
        at += sizeof entity + strlen(key.text) + 1;
    }
    names->kept = kept;
    kept->references++;
}

const char *weft__name_last(const weft_world *world, weft_entity entity)
{
    if (world->names == NULL || world->names->capacity == 0) return "";
    const name_entry *entry = slot_of(world->names, entity.index);
    bool is_same = weft_entity_equal(entry->entity, entity) && entry->text != 0;
    return is_same ? world->names->texts.at[entry->text - 1].text : "";
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part)
{
    for (;; text++) {
        size_t i = 0;
        while (part[i] != '\0' && lower(text[i]) == lower(part[i])) i++;
        if (part[i] == '\0') return true;
        if (*text == '\0') return false;
    }
}

uint32_t weft__name_search(const weft_world *world, const char *part, weft_entity *out,
                           uint32_t capacity)
{
    uint32_t found = 0;
    const struct weft__names *names = world->names;
    for (uint32_t number = 1; names != NULL && number <= names->texts.count; number++) {
        const name_text *text = &names->texts.at[number - 1];
        if (text->first == 0 || !contains(text->text, part)) continue;
        for (uint32_t at = text->first; at != 0; at = names->entries[at - 1].next) {
            if (!is_kept(world, &names->entries[at - 1])) continue;
            if (found < capacity) out[found] = names->entries[at - 1].entity;
            found++;
        }
    }
    return found;
}

weft__entity_words weft__entity_say(const weft_world *world, weft_entity entity)
{
    weft__entity_words words;
    const char *name = weft__name_last(world, entity);
    bool is_handle = (entity.version & 1) != 0; /* of some world: its tag is left out */
    snprintf(words.text, sizeof words.text, name[0] == '\0' ? "%u:%u%s" : "%u:%u \"%s\"",
             is_handle ? weft_entity_index(entity) : entity.index, entity.version, name);
    return words;
}

void weft__names_fini(weft_world *world)
{
    if (world->names == NULL) return;
    kept_forget(world);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &world->names->texts);
    weft__table_free(&world->memory, CATEGORY, &world->names->by_text);
    WEFT__FREE(&world->memory, CATEGORY, world->names->entries, world->names->capacity);
    WEFT__FREE(&world->memory, CATEGORY, world->names, 1);
}
