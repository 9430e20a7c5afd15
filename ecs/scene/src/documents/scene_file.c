/* SPDX-License-Identifier: MIT */
/* scene_file.c: files of a scene, read again only when they may have changed: a stamp of the file
 * system first, then a hash of the bytes. Sources add objects and properties to a file; after that,
 * each object has one number, which differs when anything of it does. The source of documents in
 * weft's text is here: JSON with comments; objects and properties are spans of the text, values are
 * read when they are baked. Grammar: docs/guide/scenes.md. Before that what all of the scene uses:
 * mistakes as text, in the form of weft_error. */
#include "scene_file.h"
#include "hash_lanes.h"
#include "text.h"
#include "utf8.h"
#include "value_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool weft__problem_add_value(weft__pile *arena, weft__problem **list, const char *object,
                             const weft_error *error)
{
    weft__problem *problem = weft__pile_take(arena, 1, sizeof *problem);
    if (problem == NULL) return false;
    *problem = (weft__problem){.next = *list, .told = *error};
    weft__error_name(problem->told.path, sizeof problem->told.path, object);
    *list = problem;
    return true;
}

bool weft__problem_add(weft__pile *arena, weft__problem **list, const weft__spot *spot,
                       const char *format, va_list arguments)
{
    const weft_text *text = spot->text;
    const char *at = spot->at, *object = spot->object;
    char what[256];
    weft_error error;
    vsnprintf(what, sizeof what, format, arguments);
    if (at < text->bytes || at > text->bytes + text->count) at = NULL;
    const weft_type root = {.name = object[0] == '\0' ? "document" : object};
    const weft__trail trail = {.root = &root};
    weft__value_error(&error, text, at, &trail, "%s", what);
    if (at == NULL) { /* the form without a place lacks the name of the file */
        char whole[sizeof error.text];
        snprintf(whole, sizeof whole, "%.160s: %.440s", text->file, error.text);
        memcpy(error.text, whole, sizeof whole);
    }
    return weft__problem_add_value(arena, list, object, &error);
}

/* ---- sources ---- */

/* Owner: source_open, on its stack. */
struct weft_source {
    weft__files *files;
    weft__scene_file *file;
    bool is_refused; /* memory */
};

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

/* weft_source_add for any role, with a place for errors. */
static uint32_t source_add(weft_source *out, const weft_source_object *object, weft__role role,
                           const char *at)
{
    weft__scene_file *file = out->file;
    if (object->parent != WEFT_SOURCE_ROOT && object->parent >= file->objects.count) {
        weft_source_fail(out, at, "object \"%.*s\" has a parent that was not added before it",
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
    *(*last == WEFT__NONE ? first : &file->objects.at[*last].next) = index;
    *last = index;
    return index;
}

/* Whether a name can be a part of a path; of WITH: a path. */
static bool name_fits(const char *name, size_t bytes, weft__role role)
{
    if (name == NULL || bytes == 0 || bytes > 255) return false;
    if (name[0] == '.' && role != WEFT__WITH) return false;
    unsigned char all = 0; /* bytes */
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)name[i];
        if ((c == '/' && role != WEFT__WITH) || c == '#' || c < 0x20) return false;
        all |= c;
    }
    return all < 0x80 || weft__utf8_span(name, bytes) == bytes;
}

uint32_t weft_source_add(weft_source *out, const weft_source_object *object)
{
    const char *at = object->value;
    if (name_fits(object->name, object->name_bytes, WEFT__CHILD))
        return source_add(out, object, WEFT__CHILD, at);
    weft_source_fail(out, at,
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
        weft_source_fail(out, json, "the name of a property is not UTF-8");
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
    *(owner->last_property == WEFT__NONE ? &owner->first_property
                                         : &file->properties.at[owner->last_property].next) = index;
    owner->last_property = index;
}

void *weft_source_memory(weft_source *out, size_t bytes)
{
    void *memory = weft__pile_take(&out->file->arena, 1, bytes);
    if (memory == NULL) out->is_refused = true;
    return memory;
}

weft_result weft_source_file(weft_source *out, const char *path, weft_text *bytes)
{
    char whole[WEFT__PATH_BYTES];
    *bytes = (weft_text){0};
    if (!weft__path_join(out->file->path, path, strlen(path), whole)) return WEFT_LIMIT;
    const weft__scene_file *part = weft__files_bytes(out->files, whole);
    const char *name = weft__pile_text(&out->file->arena, whole, strlen(whole));
    const weft__file_part kept = {name, part == NULL ? 0 : part->hash};
    if (part == NULL || name == NULL ||
        !WEFT__SCENE_APPEND(out->files->memory, &out->file->parts, &kept)) {
        out->is_refused = true;
        return WEFT_OUT_OF_MEMORY;
    }
    if (part->is_missing) return part->result;
    /* The file may change while the objects of this one live: they keep a copy. */
    char *copy = weft_source_memory(out, part->text.count + 1);
    if (copy == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(copy, part->text.bytes, part->text.count);
    copy[part->text.count] = '\0';
    *bytes = (weft_text){copy, part->text.count, name};
    return WEFT_OK;
}

void weft_source_fail(weft_source *out, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->file->is_broken = true;
    const weft__spot spot = {&out->file->text, at, ""};
    if (!weft__problem_add(&out->file->arena, &out->file->problems, &spot, format, arguments))
        out->is_refused = true;
    va_end(arguments);
}

/* Opens the text of a file by its source: fills its objects; mistakes are its problems. False:
 * memory was refused. */
static bool source_open(weft__files *files, weft__scene_file *file)
{
    weft_source out = {.files = files, .file = file};
    bool is_text = strcmp(file->source->kind, "text") == 0;
    uint64_t good = is_text ? weft__utf8_span(file->text.bytes, file->text.count) : 0;
    if (is_text && good != file->text.count) {
        weft_source_fail(&out, file->text.bytes + good, "not UTF-8: save the file as UTF-8");
        return !out.is_refused;
    }
    weft_result result = file->source->open(&out, &file->text, file->source->user);
    if (out.is_refused || result == WEFT_OUT_OF_MEMORY) return false;
    if (result != WEFT_OK && !file->is_broken)
        weft_source_fail(&out, NULL, "it cannot be opened: %s", weft_result_text(result));
    /* Everything that an object is without its children, as one number. */
    uint64_t kind = hash_string(file->source->kind);
    for (uint32_t i = 0; i < file->objects.count; i++) {
        weft__file_object *object = &file->objects.at[i];
        uint64_t hash = hash_word(object->hash, kind);
        for (const weft__property *p = NULL; (p = weft__property_after(object, p)) != NULL;)
            hash = hash_word(hash_word(hash, p->name_hash), p->hash);
        object->hash = hash;
    }
    return !out.is_refused;
}

/* ---- documents in weft's text ---- */

#define PROPERTIES_MOST 1024u

/* One reading. On the stack of open_text. */
typedef struct reading {
    weft_source *out;
    weft__json json;
} reading;

static weft__json_token next_token(reading *r)
{
    weft__json_token token = weft__json_next(&r->json);
    if (token.kind == WEFT__JSON_ERROR) weft_source_fail(r->out, token.at, "%s", r->json.problem);
    return token;
}

static bool fail(reading *r, const weft__json_token *token, const char *what)
{
    bool is_text = token->kind == WEFT__JSON_STRING || token->kind == WEFT__JSON_NAME;
    if (token->kind != WEFT__JSON_ERROR) weft_source_fail(r->out, token->at - is_text, "%s", what);
    return false;
}

/* Whether a member stands here for the first time: bit `member` of *seen. */
static bool is_first(reading *r, const weft__json_token *name, uint32_t member, uint32_t *seen)
{
    if ((*seen >> member & 1) != 0) return fail(r, name, "this name stands twice: remove one");
    *seen |= 1u << member;
    return true;
}

/* The characters of a name or string: in the text, or in the memory of the file. */
static bool characters(reading *r, const weft__json_token *token, const char **out, uint32_t *bytes)
{
    size_t length = (size_t)(token->end - token->at);
    if (length > UINT32_MAX / 2) return fail(r, token, "a name of more than 2 GiB");
    *out = token->at;
    *bytes = (uint32_t)length;
    if (!token->has_escapes) return true;
    char *copy = weft_source_memory(r->out, length + 1);
    if (copy == NULL) return false;
    *bytes = (uint32_t)weft__json_string(token, copy, length + 1);
    *out = copy;
    return true;
}

static bool read_object(reading *r, uint32_t parent, weft__role role, const weft__json_token *name);

/* The members of an object of objects: "children", "with", "objects", "prefabs". */
static bool read_objects(reading *r, uint32_t parent, weft__role role)
{
    weft__json_token token = next_token(r);
    if (token.kind != WEFT__JSON_OBJECT)
        return fail(r, &token, "objects by their names should be here: {\"name\": {...}}");
    for (;;) {
        token = next_token(r);
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (!read_object(r, parent, role, &token)) return false;
    }
}

static bool read_property(reading *r, uint32_t object, const weft__json_token *name)
{
    const char *text;
    uint32_t bytes;
    if (!characters(r, name, &text, &bytes)) return false;
    weft__json_token value = next_token(r);
    const char *begin = value.kind == WEFT__JSON_STRING ? value.at - 1 : value.at;
    if (!weft__json_skip(&r->json, &value)) {
        if (value.kind == WEFT__JSON_ERROR && r->out->file->problems == NULL)
            weft_source_fail(r->out, value.at, "%s", r->json.problem);
        return false;
    }
    uint32_t count = 0;
    const weft__property *other = NULL;
    for (; (other = weft__property_after(&r->out->file->objects.at[object], other)) != NULL;
         count++)
        if (other->name_bytes == bytes && memcmp(other->name, text, bytes) == 0)
            return fail(r, name, "this name stands twice in the object: remove one");
    if (count >= PROPERTIES_MOST) return fail(r, name, "an object has at most 1,024 properties");
    weft_source_property(r->out, object, text, bytes, begin, (size_t)(r->json.at - begin));
    return !r->out->is_refused;
}

static bool read_object(reading *r, uint32_t parent, weft__role role, const weft__json_token *name)
{
    weft_source_object added = {.parent = parent};
    uint32_t bytes;
    if (!characters(r, name, &added.name, &bytes)) return false;
    if (!name_fits(added.name, bytes, role))
        return fail(r, name,
                    "an object needs a name of 1 to 255 bytes, without '/' and '#', and "
                    "without a dot in front");
    added.name_bytes = bytes;
    uint32_t object = source_add(r->out, &added, role, name->at - 1);
    if (object == WEFT__NONE) return false;
    weft__json_token token = next_token(r);
    uint32_t seen = 0;
    if (token.kind != WEFT__JSON_OBJECT) return fail(r, &token, "an object should be here: {...}");
    for (;;) {
        token = next_token(r);
        bool is_read;
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (weft__json_is(&token, "children"))
            is_read = is_first(r, &token, 0, &seen) && read_objects(r, object, WEFT__CHILD);
        else if (weft__json_is(&token, "with"))
            is_read = is_first(r, &token, 1, &seen) && read_objects(r, object, WEFT__WITH);
        else
            is_read = read_property(r, object, &token);
        if (!is_read) return false;
    }
}

/* ---- the document ---- */

static bool read_version(reading *r)
{
    weft__json_token token = next_token(r);
    if (token.kind == WEFT__JSON_NUMBER && token.end - token.at == 1 && token.at[0] == '1')
        return true;
    return fail(r, &token, "the version of the format should be here: 1");
}

static bool read_use(reading *r, const weft__json_token *name)
{
    weft__json_token token = next_token(r);
    const char *path;
    uint32_t bytes;
    char whole[WEFT__PATH_BYTES];
    weft__use use = {.at = name->at - 1};
    if (token.kind != WEFT__JSON_STRING)
        return fail(r, &token, "the path of a file should be here: \"parts.weft\"");
    if (!characters(r, name, &use.alias, &use.alias_bytes) || !characters(r, &token, &path, &bytes))
        return false;
    if (weft__file_use(r->out->file, use.alias, use.alias_bytes) != NULL)
        return fail(r, name, "this name stands twice: remove one");
    if (!weft__path_join(r->out->file->path, path, bytes, whole))
        return fail(r, &token, "no path: it is empty or has more than 4,095 bytes");
    use.path = weft__pile_text(&r->out->file->arena, whole, strlen(whole));
    bool is_kept =
        use.path != NULL && WEFT__SCENE_APPEND(r->out->files->memory, &r->out->file->uses, &use);
    r->out->is_refused |= !is_kept;
    return is_kept;
}

static bool read_uses(reading *r)
{
    weft__json_token token = next_token(r);
    if (token.kind != WEFT__JSON_OBJECT)
        return fail(r, &token, "files by short names should be here: {\"parts\": \"parts.weft\"}");
    for (;;) {
        token = next_token(r);
        if (token.kind != WEFT__JSON_NAME) return token.kind == WEFT__JSON_OBJECT_END;
        if (!read_use(r, &token)) return false;
    }
}

static bool read_member(reading *r, const weft__json_token *name, uint32_t *seen)
{
    static const char *const members[] = {"weft", "use", "prefabs", "objects"};
    uint32_t member = 0;
    while (member < 4 && !weft__json_is(name, members[member])) member++;
    if (member == 4)
        return fail(r, name,
                    "a document has the members \"weft\", \"use\", \"prefabs\", \"objects\"");
    if (!is_first(r, name, member, seen)) return false;
    if (member == 0) return read_version(r);
    if (member == 1) return read_uses(r);
    return read_objects(r, WEFT_SOURCE_ROOT, member == 2 ? WEFT__PREFAB : WEFT__CHILD);
}

static weft_result open_text(weft_source *out, const weft_text *file, void *user)
{
    (void)user;
    reading r = {.out = out};
    uint32_t seen = 0;
    weft__json_open(&r.json, file->bytes, file->count);
    weft__json_token token = next_token(&r);
    if (token.kind != WEFT__JSON_OBJECT) {
        fail(&r, &token, "a document should be here: {\"weft\": 1, \"objects\": {...}}");
        return WEFT_INVALID_ARGUMENT;
    }
    const char *begin = token.at;
    for (;;) {
        token = next_token(&r);
        if (token.kind != WEFT__JSON_NAME) break;
        if (!read_member(&r, &token, &seen)) return WEFT_INVALID_ARGUMENT;
    }
    if (token.kind == WEFT__JSON_OBJECT_END) token = next_token(&r);
    if (token.kind == WEFT__JSON_END && (seen & 1) == 0)
        weft_source_fail(out, begin, "the version of the format is missing: {\"weft\": 1, ...}");
    return token.kind == WEFT__JSON_END ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

static const weft_source_desc text_source = {"text", ".weft .json", open_text, NULL};

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

static void free_lists(weft__files *files, weft__scene_file *file)
{
    WEFT__SCENE_FREE(files->memory, &file->objects);
    WEFT__SCENE_FREE(files->memory, &file->properties);
}

static void free_file(weft__files *files, weft__scene_file *file)
{
    weft__memory *memory = files->memory;
    if (file->objects.capacity != 0) { /* an edit leaves about as many objects as there were */
        free_lists(files, &files->spare);
        files->spare.objects = file->objects;
        files->spare.properties = file->properties;
        files->spare.objects.count = files->spare.properties.count = 0;
    }
    WEFT__SCENE_FREE(memory, &file->uses);
    WEFT__SCENE_FREE(memory, &file->parts);
    weft__pile_free(&file->arena);
    free_text(files, file);
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, file, 1);
}

void weft__files_free(weft__files *files)
{
    while (files->first != NULL) {
        weft__scene_file *file = files->first;
        files->first = file->next;
        free_file(files, file);
    }
    free_lists(files, &files->spare);
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
        const weft_source_desc *source = i < desc->source_count ? &desc->sources[i] : &text_source;
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
    weft__scene_file *file = WEFT__NEW_ZEROED(files->memory, WEFT__MEMORY_OTHER, 1, *file);
    if (file == NULL) return NULL;
    file->arena = WEFT__SCENE_PILE(files->memory);
    file->path = weft__pile_text(&file->arena, path, strlen(path));
    if (file->path == NULL) {
        free_file(files, file);
        return NULL;
    }
    file->path_hash = hash;
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
        if (old != NULL && files->spare.objects.capacity / 4 <= old->objects.count) {
            file->objects = files->spare.objects;
            file->properties = files->spare.properties;
            files->spare = (weft__scene_file){.next = NULL};
        }
        is_refused = !source_open(files, file);
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
    return open_path(files, path, source == NULL ? &text_source : source);
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
        file->source = source == NULL ? &text_source : source;
        if (source_open(files, file)) return file;
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

const char *weft__path_stem(const char *path, size_t *bytes)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    *bytes = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    return name;
}

const weft__property *weft__object_property(const weft__file_object *object, const char *name)
{
    return object->first_property == WEFT__NONE
               ? NULL
               : weft__object_has(object, hash_bytes(HASH_K1, name, strlen(name)));
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
