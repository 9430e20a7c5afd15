/* SPDX-License-Identifier: MIT */
/* scene_file.h: files of a scene: read when they have changed, opened by a source into objects,
 * kept while something uses them.
 *
 * A file that is broken stands for the last one of its path that was not, so that objects keep what
 * they were. The owner of the scene opens files; bakers may ask for bytes of files, one at a time
 * (weft__files_bytes takes a lock). Objects, once opened, are constant. */
#pragma once

#include "list.h"
#include "pile.h"
#include "table.h"

#include <pthread.h>
#include <stdarg.h>
#include <time.h>
#include <weft/scene.h>

/* ---- memory: NULL and false mean that it was refused; one thread per list or pile ---- */

/* Lists whose memory is of no other category. */
#define WEFT__SCENE_ADD(memory, list) WEFT__LIST_ADD(memory, WEFT__MEMORY_OTHER, list)
#define WEFT__SCENE_APPEND(memory, list, from)                                                     \
    WEFT__LIST_APPEND(memory, WEFT__MEMORY_OTHER, list, from, 1)
#define WEFT__SCENE_ROOM(memory, list, wanted)                                                     \
    WEFT__LIST_ROOM(memory, WEFT__MEMORY_OTHER, list, wanted)
#define WEFT__SCENE_FREE(memory, list) WEFT__LIST_FREE(memory, WEFT__MEMORY_OTHER, list)

#define WEFT__SCENE_PILE(from) ((weft__pile){.memory = (from), .category = WEFT__MEMORY_OTHER})

/* ---- mistakes, kept by the file, the tree or the record that they are about, in its pile ---- */

/* A mistake. Belongs to the arena that it was made in. */
typedef struct weft__problem {
    struct weft__problem *next;
    weft_error told;
} weft__problem;

/* What a mistake is about. On the stack of who reports it. */
typedef struct weft__spot {
    const weft_text *text;
    const char *at;     /* in the text; NULL: the file as a whole */
    const char *object; /* its path, or "" */
} weft__spot;

/* Makes a mistake and puts it in front of *list. False: memory was refused. */
bool weft__problem_add(weft__pile *arena, weft__problem **list, const weft__spot *spot,
                       const char *format, va_list arguments);
/* The same of an error of weft_value_parse, whose text is complete; its path becomes the object. */
bool weft__problem_add_value(weft__pile *arena, weft__problem **list, const char *object,
                             const weft_error *error);

/* ---- files ---- */

#define WEFT__NONE UINT32_MAX

/* Where an object of a text stands. */
typedef enum weft__role {
    WEFT__CHILD,  /* below its parent, or below the root of the file */
    WEFT__WITH,   /* in "with" of its parent: its name is a path */
    WEFT__PREFAB, /* in "prefabs" of the document */
} weft__role;

/* A property of an object: a JSON value in the text. */
typedef struct weft__property {
    const char *name;
    const char *json;
    size_t json_bytes;
    uint32_t name_bytes;
    uint32_t next; /* of the object; WEFT__NONE ends */
    uint64_t name_hash, hash;
} weft__property;

/* An object of a file. */
typedef struct weft__file_object {
    struct weft__scene_file *file;
    const char *name;
    uint32_t name_bytes;
    weft__role role;
    uint32_t parent, first, last, next; /* WEFT__NONE: none */
    uint32_t first_property, last_property;
    const char *at; /* its place in the text, for errors; NULL: none */
    weft_text value;
    const void *data;
    uint64_t hash; /* of itself without children */
} weft__file_object;

/* {"use": {"alias": "path"}} */
typedef struct weft__use {
    const char *alias;
    uint32_t alias_bytes;
    const char *path; /* complete */
    const char *at;
} weft__use;

/* Another file that a source read: weft_source_file. */
typedef struct weft__file_part {
    const char *path;
    uint64_t hash;
} weft__file_part;

/* A file. Owner: weft__files. Constant once opened, but `used`, `fallback` and `is_recent`. */
typedef struct weft__scene_file {
    struct weft__scene_file *next;
    char *path;
    uint64_t path_hash;
    weft_text text;
    uint64_t stamp, hash;
    const weft_source_desc *source; /* NULL: bytes only */
    WEFT__LIST(weft__file_object) objects;
    WEFT__LIST(weft__property) properties;
    WEFT__LIST(weft__use) uses;
    WEFT__LIST(weft__file_part) parts;
    weft__pile arena;
    weft__problem *problems;
    uint32_t first, last;               /* objects of the root, in order; then by `next` */
    uint32_t first_prefab, last_prefab; /* those in "prefabs" */
    struct weft__scene_file *fallback;  /* the last one that was not broken; NULL: none */
    bool is_broken, is_missing;
    bool is_fallback;   /* of a newer one of its path */
    bool is_recent;     /* it was written just before it was read: its stamp may be that of two */
    weft_result result; /* why it could not be read */
    uint64_t used;      /* the last bake that needs it */
    uint64_t born;      /* the bake that made it */
    uint64_t open_ns;   /* when it was last written by a writer that has it open; 0: none has */
} weft__scene_file;

/* All files of a scene. Part of it. */
typedef struct weft__files {
    weft__memory *memory;
    const weft_scene_desc *desc;
    weft__scene_file *first; /* newer ones of a path in front of older ones */
    weft__scene_file spare;  /* lists of the last file that went: memory for the next */
    uint64_t bake;           /* the number of the running bake */
    uint32_t read_count;     /* files read in it */
    pthread_mutex_t lock;    /* of everything, while bakers run */
} weft__files;

static inline uint64_t weft__scene_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool weft__files_init(weft__files *files, weft__memory *memory, const weft_scene_desc *desc);
void weft__files_free(weft__files *files);
/* Frees the files that the bake does not need, or, after a failure, those that it made. */
void weft__files_sweep(weft__files *files, bool is_failed);

/* Files on top of those of a bake, which they find and leave as they are: the first one is a path
 * with another text. Not before the other ones change, or end. False: memory was refused. */
bool weft__files_stack(weft__files *files, const weft__files *below, const char *path,
                       const weft_text *text);
void weft__files_unstack(weft__files *files, const weft__files *below);

/* The file of a path, opened if it is new or has changed; one with is_missing when it cannot be
 * read. NULL: memory was refused. */
weft__scene_file *weft__files_open(weft__files *files, const char *path);
/* The file whose objects count: itself, or its fallback. */
const weft__scene_file *weft__file_good(const weft__scene_file *file);
/* Bytes only: the same without a source. Any thread. */
const weft__scene_file *weft__files_bytes(weft__files *files, const char *path);
/* Whether a file of the last bake may have changed since. */
bool weft__files_are_stale(weft__files *files);
/* What the system tells of all files now: differs when one has changed. */
uint64_t weft__files_stamp(weft__files *files);

/* A path relative to the file `from` (NULL: to nothing), without "." and ".."; false: too long. */
enum { WEFT__PATH_BYTES = 4096 };
bool weft__path_join(const char *from, const char *path, size_t bytes, char out[WEFT__PATH_BYTES]);
/* The name of a file without folder and suffix. */
const char *weft__path_stem(const char *path, size_t *bytes);

/* The property of an object behind one of it (NULL: the first); NULL: no more. */
static inline const weft__property *weft__property_after(const weft__file_object *object,
                                                         const weft__property *property)
{
    uint32_t next = property == NULL ? object->first_property : property->next;
    return next == WEFT__NONE ? NULL : &object->file->properties.at[next];
}
/* A property of an object by the hash of its name, or its name; NULL: it has none. */
static inline const weft__property *weft__object_has(const weft__file_object *object,
                                                     uint64_t name_hash)
{
    const weft__property *p = NULL;
    while ((p = weft__property_after(object, p)) != NULL && p->name_hash != name_hash) {
    }
    return p;
}
const weft__property *weft__object_property(const weft__file_object *object, const char *name);
/* The path behind an alias of a document; NULL: there is none. */
const weft__use *weft__file_use(const weft__scene_file *file, const char *alias, size_t bytes);
/* An object by its path among those of a file: prefabs, then the root's; "": the only one. */
const weft__file_object *weft__file_find(const weft__scene_file *file, const char *path,
                                         size_t bytes);
