/* SPDX-License-Identifier: MIT */
/* scene_file.c: files of a scene, read again only when they may have changed: a stamp of the file
 * system first, then a hash of the bytes. See scene_file.h. */
#include "scene_file.h"

#include "hash_lanes.h"
#include "scene_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECENT_MS 100

/* ---- reading ---- */

/* Differs when the bytes may have changed. The time of the change counts, too: programs set that of
 * the writing. */
static uint64_t stamp_of(const struct stat *state)
{
    uint64_t hash = hash_word((uint64_t)state->st_mtim.tv_sec, (uint64_t)state->st_mtim.tv_nsec);
    hash = hash_word(hash_word(hash, (uint64_t)state->st_size), (uint64_t)state->st_ino);
    hash = hash_word(hash_word(hash, (uint64_t)state->st_ctim.tv_sec), (uint64_t)state->st_dev);
    return hash_end(hash_word(hash, (uint64_t)state->st_ctim.tv_nsec)) | 1;
}

/* Whether a further write may leave the stamp as it is: the clock of file systems is coarse. */
static bool is_recent(const struct stat *state)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age_ms = (int64_t)(now.tv_sec - state->st_ctim.tv_sec) * 1000 +
                     (now.tv_nsec - state->st_ctim.tv_nsec) / 1000000;
    return age_ms < RECENT_MS;
}

/* All of a regular file. */
static weft_result read_open(int file, const struct stat *state, weft_text *out,
                             const weft__files *files)
{
    size_t count = (size_t)state->st_size;
    if (files->desc->file_bytes_max < count) return WEFT_LIMIT;
    char *bytes = files->memory->hook.allocate(files->memory->hook.user, count + 1, 16);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    for (size_t at = 0; at < count;) {
        ssize_t got = read(file, bytes + at, count - at);
        if (got <= 0 && errno == EINTR && got < 0) continue;
        if (got <= 0) {
            files->memory->hook.release(files->memory->hook.user, bytes, count + 1, 16);
            return WEFT_IO;
        }
        at += (size_t)got;
    }
    *out = (weft_text){bytes, count, NULL};
    return WEFT_OK;
}

static weft_result read_system(const weft__files *files, weft__scene_file *into, uint64_t known)
{
    struct stat state;
    const char *path = into->path;
    if (stat(path, &state) != 0)
        return errno == ENOENT || errno == ENOTDIR ? WEFT_NOT_FOUND : WEFT_IO;
    if (!S_ISREG(state.st_mode)) return WEFT_IO;
    into->stamp = stamp_of(&state);
    if (known == into->stamp) return WEFT_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? WEFT_NOT_FOUND : WEFT_IO;
    weft_result result = fstat(file, &state) == 0 && S_ISREG(state.st_mode) ? WEFT_OK : WEFT_IO;
    if (result == WEFT_OK) {
        into->stamp = stamp_of(&state);
        into->is_recent = is_recent(&state);
        result = read_open(file, &state, &into->text, files);
    }
    close(file);
    return result;
}

/* ---- the list ---- */

bool weft__files_init(weft__files *files, weft__memory *memory, const weft_scene_desc *desc)
{
    *files = (weft__files){.memory = memory, .desc = desc};
    return pthread_mutex_init(&files->lock, NULL) == 0;
}

static void free_text(weft__files *files, weft__scene_file *file)
{
    if (file->text.bytes == NULL) return;
    weft_allocator *hook = &files->memory->hook;
    hook->release(hook->user, (void *)(uintptr_t)file->text.bytes, file->text.count + 1, 16);
}

static void free_file(weft__files *files, weft__scene_file *file)
{
    weft__memory *memory = files->memory;
    WEFT__SCENE_FREE(memory, &file->objects);
    WEFT__SCENE_FREE(memory, &file->properties);
    WEFT__SCENE_FREE(memory, &file->uses);
    WEFT__SCENE_FREE(memory, &file->parts);
    weft__pile_free(&file->arena);
    free_text(files, file);
    weft__free(memory, WEFT__MEMORY_OTHER, file->path, strlen(file->path) + 1, 1, 1);
    weft__free(memory, WEFT__MEMORY_OTHER, file, 1, sizeof *file, 16);
}

void weft__files_free(weft__files *files)
{
    while (files->first != NULL) {
        weft__scene_file *file = files->first;
        files->first = file->next;
        free_file(files, file);
    }
    pthread_mutex_destroy(&files->lock);
}

void weft__files_sweep(weft__files *files, bool is_failed)
{
    if (!is_failed) /* what a needed file stands for is needed */
        for (weft__scene_file *file = files->first; file != NULL; file = file->next)
            if (file->used == files->bake && file->fallback != NULL) {
                file->fallback->used = files->bake;
                file->fallback->is_fallback = true;
            }
    for (weft__scene_file **at = &files->first; *at != NULL;) {
        weft__scene_file *file = *at;
        bool is_kept = is_failed ? file->born != files->bake : file->used == files->bake;
        if (is_kept) {
            at = &file->next;
            continue;
        }
        *at = file->next;
        free_file(files, file);
    }
}

static weft__scene_file *find(const weft__files *files, const char *path, uint64_t hash)
{
    for (weft__scene_file *file = files->first; file != NULL; file = file->next)
        if (file->path_hash == hash && strcmp(file->path, path) == 0) return file;
    return NULL;
}

const weft__scene_file *weft__file_good(const weft__scene_file *file)
{
    return file->is_broken && file->fallback != NULL ? file->fallback : file;
}

/* ---- opening ---- */

static const weft_source_desc *find_source(const weft__files *files, const char *path)
{
    const weft_scene_desc *desc = files->desc;
    size_t length = strlen(path);
    for (uint32_t i = 0; i <= desc->source_count; i++) {
        const weft_source_desc *source =
            i < desc->source_count ? &desc->sources[i] : &weft__source_text;
        for (const char *at = source->suffixes; *at != '\0';) {
            size_t bytes = strcspn(at, " ");
            if (bytes != 0 && bytes < length && memcmp(path + length - bytes, at, bytes) == 0)
                return source;
            at += bytes;
            at += strspn(at, " ");
        }
    }
    return NULL;
}

static weft__scene_file *make(weft__files *files, const char *path, uint64_t hash)
{
    weft__scene_file *file =
        weft__alloc_zeroed(files->memory, WEFT__MEMORY_OTHER, 1, sizeof *file, 16);
    if (file == NULL) return NULL;
    size_t bytes = strlen(path) + 1;
    file->path = weft__alloc(files->memory, WEFT__MEMORY_OTHER, bytes, 1, 1);
    if (file->path == NULL) {
        weft__free(files->memory, WEFT__MEMORY_OTHER, file, 1, sizeof *file, 16);
        return NULL;
    }
    memcpy(file->path, path, bytes);
    file->path_hash = hash;
    file->arena.memory = files->memory;
    file->first = file->last = file->first_prefab = file->last_prefab = WEFT__NONE;
    file->born = file->used = files->bake;
    return file;
}

static bool parts_are_the_same(weft__files *files, const weft__scene_file *file)
{
    for (uint32_t i = 0; i < file->parts.count; i++) {
        const weft__scene_file *part = weft__files_bytes(files, file->parts.at[i].path);
        if (part == NULL || part->hash != file->parts.at[i].hash) return false;
    }
    return true;
}

/* Reads it into `file`, or says that it is as the known one. */
static weft_result read_file(weft__files *files, weft__scene_file *file, uint64_t known)
{
    const weft_scene_desc *desc = files->desc;
    weft_result result = desc->read != NULL
                             ? desc->read(file->path, known, &file->stamp, &file->text,
                                          &files->memory->hook, desc->user)
                             : read_system(files, file, known);
    file->text.file = file->path;
    if (result == WEFT_OK && file->text.bytes != NULL)
        file->hash = weft__hash_lanes(HASH_K0, file->text.bytes, file->text.count) | 1;
    return result;
}

/* An edit leaves about as many objects as there were. */
static bool reserve_as(weft__files *files, weft__scene_file *file, const weft__scene_file *old)
{
    if (old == NULL || old->is_missing) return true;
    return WEFT__SCENE_ROOM(files->memory, &file->objects, old->objects.count) &&
           WEFT__SCENE_ROOM(files->memory, &file->properties, old->properties.count);
}

static weft__scene_file *open_new(weft__files *files, const char *path, uint64_t hash,
                                  weft__scene_file *old, const weft_source_desc *source)
{
    weft__scene_file *file = make(files, path, hash);
    if (file == NULL) return NULL;
    uint64_t known = old == NULL || old->is_missing || old->is_recent ? 0 : old->stamp;
    file->result = read_file(files, file, known);
    bool is_known = file->result == WEFT_OK && file->text.bytes == NULL;
    bool is_same = old != NULL && file->result == WEFT_OK && !old->is_missing &&
                   (is_known || (file->hash == old->hash && file->text.count == old->text.count));
    if (is_same && (source == NULL || parts_are_the_same(files, old))) {
        old->stamp = file->stamp;
        if (!is_known) old->is_recent = file->is_recent;
        free_file(files, file);
        return old;
    }
    if (is_known) /* a part of it has changed: the bytes are needed again */
        file->result = read_file(files, file, 0);
    bool is_refused = file->result == WEFT_OUT_OF_MEMORY;
    file->is_missing = file->is_broken = file->result != WEFT_OK;
    if (!file->is_missing && source != NULL) {
        file->source = source;
        is_refused = !reserve_as(files, file, old) || !weft__source_open(files, file);
    }
    if (is_refused) {
        free_file(files, file);
        return NULL;
    }
    files->read_count++;
    if (old != NULL) file->fallback = old->is_broken ? old->fallback : old;
    if (!file->is_broken) file->fallback = NULL;
    file->next = files->first;
    files->first = file;
    return file;
}

static weft__scene_file *open_path(weft__files *files, const char *path,
                                   const weft_source_desc *source)
{
    uint64_t hash = hash_string(path) ^ (source == NULL);
    weft__scene_file *old = find(files, path, hash);
    if (old != NULL && old->used == files->bake) return old;
    weft__scene_file *file = open_new(files, path, hash, old, source);
    if (file != NULL) file->used = files->bake;
    return file;
}

weft__scene_file *weft__files_open(weft__files *files, const char *path)
{
    const weft_source_desc *source = find_source(files, path);
    return open_path(files, path, source == NULL ? &weft__source_text : source);
}

const weft__scene_file *weft__files_bytes(weft__files *files, const char *path)
{
    return open_path(files, path, NULL);
}

/* ---- on top of others ---- */

static weft__scene_file *text_open(weft__files *files, const char *path, const weft_text *text)
{
    const weft_source_desc *source = find_source(files, path);
    weft__scene_file *file = make(files, path, hash_string(path));
    if (file == NULL) return NULL;
    char *bytes = files->memory->hook.allocate(files->memory->hook.user, text->count + 1, 16);
    if (bytes != NULL) {
        memcpy(bytes, text->bytes, text->count);
        file->text = (weft_text){bytes, text->count, file->path};
        file->source = source == NULL ? &weft__source_text : source;
        if (weft__source_open(files, file)) return file;
    }
    free_file(files, file);
    return NULL;
}

bool weft__files_stack(weft__files *files, const weft__files *below, const char *path,
                       const weft_text *text)
{
    char whole[WEFT__PATH_BYTES];
    if (!weft__path_join(NULL, path, strlen(path), whole) ||
        !weft__files_init(files, below->memory, below->desc))
        return false;
    files->first = below->first;
    files->bake = below->bake;
    weft__scene_file *file = text_open(files, whole, text);
    if (file == NULL) {
        weft__files_unstack(files, below);
        return false;
    }
    file->next = files->first;
    files->first = file;
    return true;
}

void weft__files_unstack(weft__files *files, const weft__files *below)
{
    weft__scene_file **end = &files->first;
    while (*end != below->first) end = &(*end)->next;
    *end = NULL;
    weft__files_free(files);
}

/* ---- staleness ---- */

/* The file as it is now: its stamp; 0: there is none. */
static uint64_t stamp_now(const weft__scene_file *file)
{
    struct stat state;
    return stat(file->path, &state) == 0 && S_ISREG(state.st_mode) ? stamp_of(&state) : 0;
}

uint64_t weft__files_stamp(weft__files *files)
{
    uint64_t hash = HASH_K0;
    if (files->desc->read != NULL) return hash;
    for (const weft__scene_file *file = files->first; file != NULL; file = file->next)
        if (!file->is_fallback) hash = hash_word(hash, stamp_now(file));
    return hash;
}

static bool is_stale(weft__files *files, weft__scene_file *file)
{
    bool is_system = files->desc->read == NULL && !file->is_missing;
    if (is_system && stamp_now(file) != file->stamp) return true;
    if (is_system && !file->is_recent) return false;
    weft__scene_file now = {.path = file->path};
    bool is_read = file->is_missing || file->is_recent;
    weft_result result = read_file(files, &now, is_read ? 0 : file->stamp);
    bool is_as_before = result == WEFT_OK && now.text.bytes == NULL;
    if (now.text.bytes != NULL) {
        bool is_unknown = file->stamp == 0 || (is_system && now.stamp == file->stamp);
        is_as_before = !file->is_missing && is_unknown && now.hash == file->hash;
        if (is_as_before) file->is_recent = now.is_recent;
        free_text(files, &now);
    }
    return file->is_missing ? result != file->result : !is_as_before;
}

bool weft__files_are_stale(weft__files *files)
{
    for (weft__scene_file *file = files->first; file != NULL; file = file->next)
        if (file->used == files->bake && !file->is_fallback && is_stale(files, file)) return true;
    return false;
}

/* ---- paths and names ---- */

bool weft__path_join(const char *from, const char *path, size_t bytes, char out[WEFT__PATH_BYTES])
{
    size_t length = 0;
    const char *slash = from == NULL || (bytes != 0 && path[0] == '/') ? NULL : strrchr(from, '/');
    if (slash != NULL) {
        length = (size_t)(slash + 1 - from);
        if (length >= WEFT__PATH_BYTES) return false;
        memcpy(out, from, length);
    }
    const char *end = path + bytes;
    while (path < end) {
        const char *stop = memchr(path, '/', (size_t)(end - path));
        size_t part = (size_t)((stop == NULL ? end : stop) - path);
        bool is_up = part == 2 && memcmp(path, "..", 2) == 0;
        bool may_go_up = length > 1 && !(length >= 3 && memcmp(out + length - 3, "../", 3) == 0);
        if (is_up && may_go_up) {
            length--;
            while (length > 0 && out[length - 1] != '/') length--;
        } else if (!(part == 1 && path[0] == '.') && !(part == 0 && length > 0)) {
            if (length + part + 2 > WEFT__PATH_BYTES) return false;
            memcpy(out + length, path, part);
            length += part;
            if (stop != NULL) out[length++] = '/';
        }
        path = stop == NULL ? end : stop + 1;
    }
    out[length] = '\0';
    return length > 0;
}

const weft__property *weft__object_property(const weft__file_object *object, const char *name)
{
    if (object->first_property == WEFT__NONE) return NULL;
    uint64_t hash = hash_bytes(HASH_K1, name, strlen(name));
    const weft__property *properties = object->file->properties.at;
    for (uint32_t p = object->first_property; p != WEFT__NONE; p = properties[p].next)
        if (properties[p].name_hash == hash) return &properties[p];
    return NULL;
}

const weft__use *weft__file_use(const weft__scene_file *file, const char *alias, size_t bytes)
{
    for (uint32_t i = 0; i < file->uses.count; i++) {
        const weft__use *use = &file->uses.at[i];
        if (use->alias_bytes == bytes && memcmp(use->alias, alias, bytes) == 0) return use;
    }
    return NULL;
}

/* Below `first`, the name of `bytes`; children of documents only. */
static uint32_t find_among(const weft__scene_file *file, uint32_t first, const char *name,
                           size_t bytes)
{
    for (uint32_t i = first; i != WEFT__NONE; i = file->objects.at[i].next) {
        const weft__file_object *object = &file->objects.at[i];
        if (object->role != WEFT__WITH && object->name_bytes == bytes &&
            memcmp(object->name, name, bytes) == 0)
            return i;
    }
    return WEFT__NONE;
}

const weft__file_object *weft__file_find(const weft__scene_file *file, const char *path,
                                         size_t bytes)
{
    const weft__file_object *objects = file->objects.at;
    if (bytes == 0) {
        bool is_only = file->first != WEFT__NONE && objects[file->first].next == WEFT__NONE;
        return is_only ? &objects[file->first] : NULL;
    }
    uint32_t found = WEFT__NONE;
    for (const char *end = path + bytes, *at = path; at <= end;) {
        const char *slash = at == end ? NULL : memchr(at, '/', (size_t)(end - at));
        size_t part = (size_t)((slash == NULL ? end : slash) - at);
        if (at == path) {
            found = find_among(file, file->first_prefab, at, part);
            if (found == WEFT__NONE) found = find_among(file, file->first, at, part);
        } else {
            found = find_among(file, objects[found].first, at, part);
        }
        if (found == WEFT__NONE) return NULL;
        at += part + 1;
    }
    return &objects[found];
}
