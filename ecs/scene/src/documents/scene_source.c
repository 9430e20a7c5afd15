/* SPDX-License-Identifier: MIT */
/* scene_source.c: objects and properties of a file as a source adds them; after that, one number
 * for each object, which differs when anything of it does. See scene_source.h. */
#include "scene_source.h"

#include "hash.h"
#include "text.h"
#include "utf8.h"

#include <string.h>

/* Four chains at once: records of 100 to 200 bytes are long for one and short for hash_lanes.h,
 * which takes 8 ns more. */
static uint64_t value_hash(const char *bytes, size_t count)
{
    uint64_t chains[4] = {HASH_K0, HASH_K1, ~HASH_K0, ~HASH_K1};
    size_t at = 0;
    for (; count - at >= sizeof chains; at += sizeof chains)
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, bytes + at + 8 * i, 8);
            chains[i] = hash_word(chains[i], word);
        }
    uint64_t hash = hash_word(hash_bytes(HASH_K0, bytes + at, count - at), count);
    for (uint32_t i = 0; i < 4; i++) hash = hash_word(hash, chains[i]);
    return hash_end(hash);
}

uint32_t weft__source_add(weft_source *out, const weft_source_object *object, weft__role role,
                          const char *at)
{
    weft__scene_file *file = out->file;
    if (object->parent != WEFT_SOURCE_ROOT && object->parent >= file->objects.count) {
        weft_source_error(out, at, "object \"%.*s\" has a parent that was not added before it",
                          (int)object->name_bytes, object->name);
        return WEFT__NONE;
    }
    uint32_t index = file->objects.count;
    weft__file_object *added = WEFT__SCENE_ADD(out->files->memory, &file->objects);
    if (added == NULL) {
        out->is_refused = true;
        return WEFT__NONE;
    }
    *added = (weft__file_object){.file = file,
                                 .name = object->name,
                                 .name_bytes = (uint32_t)object->name_bytes,
                                 .role = role,
                                 .parent = object->parent,
                                 .first = WEFT__NONE,
                                 .last = WEFT__NONE,
                                 .next = WEFT__NONE,
                                 .first_property = WEFT__NONE,
                                 .last_property = WEFT__NONE,
                                 .at = at,
                                 .value = {object->value, object->value_bytes, file->path},
                                 .data = object->data,
                                 .hash = object->hash};
    if (object->hash == 0 && object->value != NULL)
        added->hash = value_hash(object->value, object->value_bytes);
    bool is_root = object->parent == WEFT_SOURCE_ROOT, is_prefab = role == WEFT__PREFAB;
    weft__file_object *parent = is_root ? NULL : &file->objects.at[object->parent];
    uint32_t *first = !is_root ? &parent->first : is_prefab ? &file->first_prefab : &file->first;
    uint32_t *last = !is_root ? &parent->last : is_prefab ? &file->last_prefab : &file->last;
    if (*last == WEFT__NONE)
        *first = index;
    else
        file->objects.at[*last].next = index;
    *last = index;
    return index;
}

/* Whether the name can be a part of a path. */
static bool is_name(const weft_source_object *object)
{
    if (object->name == NULL || object->name_bytes == 0 || object->name_bytes > 255) return false;
    if (object->name[0] == '.') return false;
    unsigned char all = 0; /* bytes */
    for (size_t i = 0; i < object->name_bytes; i++) {
        unsigned char c = (unsigned char)object->name[i];
        if (c == '/' || c == '#' || c < 0x20) return false;
        all |= c;
    }
    return all < 0x80 || weft__utf8_span(object->name, object->name_bytes) == object->name_bytes;
}

uint32_t weft_source_add(weft_source *out, const weft_source_object *object)
{
    const char *at = object->value;
    if (is_name(object)) return weft__source_add(out, object, WEFT__CHILD, at);
    weft_source_error(out, at,
                      "an object needs a name of 1 to 255 bytes of UTF-8, without '/' and '#', and "
                      "without a dot in front");
    return WEFT__NONE;
}

void weft_source_property(weft_source *out, uint32_t object, const char *name, size_t name_bytes,
                          const char *json, size_t json_bytes)
{
    weft__scene_file *file = out->file;
    if (object >= file->objects.count || name_bytes > UINT32_MAX / 2) return;
    if (weft__utf8_span(name, name_bytes) != name_bytes) {
        weft_source_error(out, json, "the name of a property is not UTF-8");
        return;
    }
    uint32_t index = file->properties.count;
    weft__property *added = WEFT__SCENE_ADD(out->files->memory, &file->properties);
    if (added == NULL) {
        out->is_refused = true;
        return;
    }
    *added = (weft__property){.name = name,
                              .name_bytes = (uint32_t)name_bytes,
                              .json = json,
                              .json_bytes = json_bytes,
                              .next = WEFT__NONE,
                              .name_hash = hash_bytes(HASH_K1, name, name_bytes),
                              .hash = hash_bytes(HASH_K0, json, json_bytes)};
    weft__file_object *owner = &file->objects.at[object];
    if (owner->last_property == WEFT__NONE)
        owner->first_property = index;
    else
        file->properties.at[owner->last_property].next = index;
    owner->last_property = index;
}

void *weft_source_memory(weft_source *out, size_t bytes)
{
    void *memory = weft__pile_take(&out->file->arena, bytes);
    if (memory == NULL) out->is_refused = true;
    return memory;
}

weft_result weft_source_file(weft_source *out, const char *path, weft_text *bytes)
{
    char whole[WEFT__PATH_BYTES];
    *bytes = (weft_text){0};
    if (!weft__path_join(out->file->path, path, strlen(path), whole)) return WEFT_LIMIT;
    const weft__scene_file *part = weft__files_bytes(out->files, whole);
    weft__part *kept = part == NULL ? NULL : WEFT__SCENE_ADD(out->files->memory, &out->file->parts);
    if (kept == NULL) {
        out->is_refused = true;
        return WEFT_OUT_OF_MEMORY;
    }
    *kept = (weft__part){weft__pile_text(&out->file->arena, whole, strlen(whole)), part->hash};
    if (kept->path == NULL) {
        out->file->parts.count--;
        out->is_refused = true;
        return WEFT_OUT_OF_MEMORY;
    }
    if (part->is_missing) return part->result;
    /* The file may change while the objects of this one live: they keep a copy. */
    char *copy = weft_source_memory(out, part->text.count + 1);
    if (copy == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(copy, part->text.bytes, part->text.count);
    copy[part->text.count] = '\0';
    *bytes = (weft_text){copy, part->text.count, kept->path};
    return WEFT_OK;
}

void weft_source_error(weft_source *out, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->file->is_broken = true;
    const weft__spot spot = {&out->file->text, at, ""};
    if (!weft__problem_add(&out->file->arena, &out->file->problems, &spot, format, arguments))
        out->is_refused = true;
    va_end(arguments);
}

/* Everything that an object is without its children, as one number. */
static void finish(weft__scene_file *file)
{
    uint64_t kind = hash_string(file->source->kind);
    for (uint32_t i = 0; i < file->objects.count; i++) {
        weft__file_object *object = &file->objects.at[i];
        uint64_t hash = hash_word(object->hash, kind);
        for (uint32_t p = object->first_property; p != WEFT__NONE; p = file->properties.at[p].next)
            hash = hash_word(hash_word(hash, file->properties.at[p].name_hash),
                             file->properties.at[p].hash);
        object->hash = hash;
    }
}

bool weft__source_open(weft__files *files, weft__scene_file *file)
{
    weft_source out = {.files = files, .file = file};
    bool is_text = file->source == &weft__source_text;
    uint64_t good = is_text ? weft__utf8_span(file->text.bytes, file->text.count) : 0;
    if (is_text && good != file->text.count) {
        weft_source_error(&out, file->text.bytes + good, "not UTF-8: save the file as UTF-8");
        return !out.is_refused;
    }
    weft_result result = file->source->open(&out, &file->text, file->source->user);
    if (out.is_refused || result == WEFT_OUT_OF_MEMORY) return false;
    if (result != WEFT_OK && !file->is_broken)
        weft_source_error(&out, NULL, "it cannot be opened: %s", weft_result_text(result));
    finish(file);
    return !out.is_refused;
}
