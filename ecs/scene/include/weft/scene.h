/* SPDX-License-Identifier: MIT */
/* scene.h: scenes: documents that people write become entities, and only what a change concerns is
 * baked again.
 *
 *   { "weft": 1,
 *     "use": {"parts": "parts.weft", "sky": "active.tle"},
 *     "objects": {
 *       "cube": {"transform": {"position": [0, 1, 0]}, "Spin": {"speed": "90 deg/s"}},
 *       "gun": {"Spawner": {"what": "parts#shell", "every": "0.5 s"}},
 *       "all": {"each": "sky", "baker": "satellite"}}}
 *
 * Public, in libweft-scene; <weft/weft.h> does not include it. A *source* turns a file into
 * *objects* with *properties*. *Bakers* turn objects into entities with components. A property that
 * is named like a described component bakes itself. What an object became is its *record*; a scene
 * keeps the records, and bakes an object again when something that its bakers read has changed.
 * Filling a world takes the records in the order of the documents: the result depends on the
 * documents only, byte for byte, not on what was baked before, nor on the number of workers.
 *
 *   weft_scene *scene;
 *   weft_scene_create(world, &(weft_scene_desc){.bakers = bakers, .baker_count = 2}, &scene);
 *   if (weft_scene_bake(scene, (const char *[]){"level.weft"}, 1) == WEFT_OK)
 *       weft_scene_fill(scene, world);
 *   else if (weft_scene_mistakes(scene, &mistake, 1) != 0)
 *       puts(mistake.text);
 *
 * The guide is docs/guide/scenes.md. */
#ifndef WEFT_SCENE_H
#define WEFT_SCENE_H

#include <weft/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- words ---- */

/* Documents, and what was baked from them. */
typedef struct weft_scene weft_scene;
/* One run of the bakers of one object: what a baker reads by and writes to. */
typedef struct weft_bake weft_bake;
/* An object as bakers see it: valid while the baker runs. */
typedef struct weft_object weft_object;
/* What a source writes objects to. */
typedef struct weft_source weft_source;

/* What can be said of a property in a text: {"weft": 1} documents, glTF extras. */
typedef struct weft_property {
    weft_text json; /* its value */
    uint32_t layer; /* 0: the innermost prefab; the last one is the strongest */
} weft_property;

/* ---- sources: files that become objects ---- */

/* An object of a file. Zero means absent. Copied; texts that point into the file stay there. */
typedef struct weft_source_object {
    const char *name; /* UTF-8, unique below its parent; no '/' and '#', not "" */
    size_t name_bytes;
    uint32_t parent;   /* number of an earlier object, or WEFT_SOURCE_ROOT */
    const char *value; /* what bakers read as weft_bake_bytes: in the file, or in `memory` of it */
    size_t value_bytes;
    uint64_t hash;    /* of everything that the object depends on; 0: of `value` */
    const void *data; /* for the source's own bakers: weft_bake_data */
} weft_source_object;

/* weft_source_object.parent of an object that stands at the root of its file. */
#define WEFT_SOURCE_ROOT UINT32_MAX

/* A kind of files. */
typedef struct weft_source_desc {
    const char *kind;     /* "tle": kind of its objects, for bakers; unique */
    const char *suffixes; /* names of its files end with one of these: ".tle .txt" */
    /* Adds the objects of a file, in an order that depends on its bytes only. `file` lives as long
     * as the objects. Any thread. What is wrong with the file goes to weft_source_fail; another
     * result than WEFT_OK without an error is reported by its name. */
    weft_result (*open)(weft_source *out, const weft_text *file, void *user);
    void *user;
} weft_source_desc;

/* Adds an object; its number, from 0, or UINT32_MAX after an error, which the file keeps: the
 * caller may go on or return. Threads: callback. */
WEFT_API uint32_t weft_source_add(weft_source *out, const weft_source_object *object);
/* Gives an object a property: a JSON value, in the text of the file; its name is UTF-8. Threads:
 * callback. */
WEFT_API void weft_source_property(weft_source *out, uint32_t object, const char *name,
                                   size_t name_bytes, const char *json, size_t json_bytes);
/* Memory that lives as long as the objects of the file, aligned to 16; NULL: OUT_OF_MEMORY, which
 * the file keeps. Threads: callback. */
WEFT_API void *weft_source_memory(weft_source *out, size_t bytes);
/* Another file that this one is made of, relative to it ("Fox.bin"): its bytes, which live as
 * long as the objects; a change of it opens this file again. Errors: NOT_FOUND, IO, LIMIT,
 * OUT_OF_MEMORY: not reported unless by the source. Threads: callback. */
WEFT_API weft_result weft_source_file(weft_source *out, const char *path, weft_text *bytes);
/* Says what is wrong at `at`, a place in the file (NULL: the file as a whole). `text` is one
 * sentence. Threads: callback. */
WEFT_API void weft_source_fail(weft_source *out, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- bakers: objects become entities ---- */

/* A function from an object to entities. It must be pure: everything that it reads comes from the
 * object by way of `bake`, so that the scene knows what it depends on. */
typedef struct weft_baker_desc {
    const char *name; /* unique; objects may ask for it: "baker": "satellite" */
    /* Bakes the objects with this property, which then does not bake itself. NULL: none. */
    const char *property;
    const char *kind; /* bakes the objects of this kind of source. NULL: none */
    uint32_t version; /* raise it when the function changes: bakes its objects again */
    /* Any worker; not at once for the same object. Another result than WEFT_OK fails the object. */
    weft_result (*bake)(weft_bake *bake, const weft_object *object, void *user);
    void *user;
} weft_baker_desc;

/* The name of an object; its path from the root of the scene: "ship/dock". Valid while the baker
 * runs; "" when memory is refused, which the bake keeps. Threads: callback. */
WEFT_API const char *weft_bake_name_of(weft_bake *bake, const weft_object *object);
WEFT_API const char *weft_bake_path_of(weft_bake *bake, const weft_object *object);
/* `data` of the strongest layer of an object that a source of this kind added; NULL: none.
 * Threads: callback. */
WEFT_API const void *weft_bake_data(weft_bake *bake, const weft_object *object, const char *kind);

/* Reads a property of an object as a described value, weakest layer first: `value` begins as
 * type->initial or zero, and each layer changes the fields that it names. *is_there (may be NULL):
 * whether any layer has it. Errors: INVALID_ARGUMENT (what is wrong is reported), OUT_OF_MEMORY.
 * Threads: callback. Cost: as weft_value_parse. */
WEFT_API weft_result weft_bake_parse(weft_bake *bake, const weft_object *object,
                                     const char *property, const weft_type *type, void *value,
                                     bool *is_there);
/* The texts of a property, weakest layer first, up to `capacity`; returns how many there are.
 * Threads: callback. */
WEFT_API uint32_t weft_bake_property(weft_bake *bake, const weft_object *object,
                                     const char *property, weft_property *out, uint32_t capacity);
/* The value of the strongest layer of an object that has one, for example the lines of a record.
 * Empty: none. Threads: callback. */
WEFT_API weft_text weft_bake_bytes(weft_bake *bake, const weft_object *object);
/* Another object by its path: from the object that is baked ("../hull", "dock"), or from the root
 * ("/ship"). NULL: there is none, which is a dependency, too. Threads: callback. */
WEFT_API const weft_object *weft_bake_object(weft_bake *bake, const char *path);
/* The children of an object, in order: NULL gives the first, then the one behind `previous`. NULL:
 * no more. Threads: callback. */
WEFT_API const weft_object *weft_bake_child(weft_bake *bake, const weft_object *object,
                                            const weft_object *previous);
/* A file beside the document of the object. Its bytes live while the baker runs. Errors: NOT_FOUND
 * (a dependency, too), IO, LIMIT, OUT_OF_MEMORY. Threads: callback. */
WEFT_API weft_result weft_bake_file(weft_bake *bake, const char *path, weft_text *bytes);

/* Entities of this object: NULL: its own; else one more, by a name that is unique in the object.
 * The handles below stand for entities that do not exist yet: they may be put into described
 * ENTITY fields. A null handle: OUT_OF_MEMORY, which the bake keeps. Threads: callback. */
WEFT_API weft_entity weft_bake_entity(weft_bake *bake, const char *name);
/* The own entity of another object, by path; it must exist: else it is an error. Threads: callback.
 */
WEFT_API weft_entity weft_bake_entity_of(weft_bake *bake, const char *path);
/* The root of a prefab: "#gun" of this document, "parts#shell" of one that it uses. It is baked
 * into the scene once, with the tag Prefab and a LinkedGroup. Threads: callback. */
WEFT_API weft_entity weft_bake_prefab(weft_bake *bake, const char *reference);

/* The component of the scene's schema with this name; null: there is none. Threads: callback. */
WEFT_API weft_component weft_bake_component(const weft_bake *bake, const char *name);

/* Gives an entity of this object a component with a value (SHARED, SPARSE, too); tags have size
 * 0. ENTITY fields: handles of above, or null; BLOB fields: references of weft_bake_blob. Two
 * bakers that give the same component to one entity are an error. Errors, kept by the bake:
 * INVALID_ARGUMENT, BAD_HANDLE, TYPE_MISMATCH, ALREADY_EXISTS, OUT_OF_MEMORY. Threads: callback. */
WEFT_API weft_result weft_bake_set(weft_bake *bake, weft_entity entity, weft_component component,
                                   const void *value, size_t size);
/* The same for a BUFFER: `count` elements of `size` bytes. Threads: callback. */
WEFT_API weft_result weft_bake_buffer(weft_bake *bake, weft_entity entity, weft_component component,
                                      const void *elements, uint32_t count, size_t size);
/* Disables an ENABLEABLE component that the entity was given, once. Threads: callback. */
WEFT_API weft_result weft_bake_disable(weft_bake *bake, weft_entity entity,
                                       weft_component component);
/* Names an entity (weft_entity_set_name; UTF-8); NULL: no name. Objects of documents and glTF nodes
 * have their own name without it. Threads: callback. */
WEFT_API weft_result weft_bake_name(weft_bake *bake, weft_entity entity, const char *name);
/* How an entity is placed. */
typedef enum weft_transform_usage {
    /* No component: what is below it is placed as if it were not there, where it stands. */
    WEFT_TRANSFORM_NONE = 0,
    /* WorldTransform only, folded with its parents: it never moves. */
    WEFT_TRANSFORM_STATIC,
    /* LocalTransform, WorldTransform, and Parent: moves with the nearest entity above that has a
     * place, or with what that one moves with. */
    WEFT_TRANSFORM_DYNAMIC,
} weft_transform_usage;

/* Places an entity in the space of the object above it; lengths in metres, rotation a unit
 * quaternion x, y, z, w. NULL: no move, no rotation, scale 1. A static entity below a dynamic
 * one is dynamic; its unequal scales become a LocalStretch (transform.h). Errors:
 * INVALID_ARGUMENT (not finite; no unit quaternion; DYNAMIC with unequal scales), UNSUPPORTED
 * (the world lacks weft_transform_create). Threads: callback. */
WEFT_API weft_result weft_bake_transform(weft_bake *bake, weft_entity entity,
                                         const float position[3], const float rotation[4],
                                         const float scale[3], weft_transform_usage usage);

/* The store that blobs of this scene are built in. Threads: any. */
WEFT_API weft_blob_store *weft_bake_blobs(weft_bake *bake);
/* Takes over a reference of weft_bake_blobs, for BLOB fields of this object: equal content is in
 * the scene once. `type` outlives the scene. Threads: callback. */
WEFT_API weft_result weft_bake_blob(weft_bake *bake, weft_blob_ref blob,
                                    const weft_blob_type *type);

/* Reports what is wrong, with the place of `at`: of a property, a text of a layer; NULL: of the
 * object. Fails the object. Threads: callback. */
WEFT_API void weft_bake_fail(weft_bake *bake, const weft_object *object, const char *at,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- scenes ---- */

/* Describes a scene. Zero means default. Arrays are copied, what they point to is not. */
typedef struct weft_scene_desc {
    const weft_baker_desc *bakers;
    uint32_t baker_count;
    const weft_source_desc *sources; /* beside text (".weft", ".json") */
    uint32_t source_count;
    /* Where files come from; NULL: the file system, regular files only. `out` gets the bytes, from
     * `allocator`, with room for one byte more; *stamp a number that differs when the file may
     * have changed (0: unknown), and `known`, when not 0, allows to answer "as before" with no
     * bytes (out->bytes NULL) and the same stamp. Any thread, one at a time. */
    weft_result (*read)(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                        const weft_allocator *allocator, void *user);
    /* What a bake has done, some times a second of work: `done` of `total` objects of a round
     * (prefabs that others refer to make a round of their own). NULL: not wanted. The owner
     * calls it; it must not use the scene (bake and fill: WRONG_PHASE). */
    void (*progress)(uint32_t done, uint32_t total, void *user);
    void *user;               /* of `read` and `progress` */
    uint64_t file_bytes_max;  /* larger files are LIMIT; default 1 GiB */
    uint32_t object_limit;    /* objects after prefabs were expanded; default 2^22 */
    weft_allocator allocator; /* heap memory; default malloc */
} weft_scene_desc;

/* Creates a scene whose bakers may use the components of `schema`: those registered now. The
 * world cannot be destroyed before the scene (BUSY); the components Parent and InstanceOf are
 * registered with it. Objects are baked on its pool. Errors: INVALID_ARGUMENT (also: a name
 * twice), OUT_OF_MEMORY, WRONG_PHASE. Threads: owner, between steps. */
WEFT_API weft_result weft_scene_create(weft_world *schema, const weft_scene_desc *desc,
                                       weft_scene **out);
/* Ignored: NULL, calls while the schema's world is not idle (WRONG_PHASE in its error) or it bakes.
 * Threads: owner, world idle. */
WEFT_API void weft_scene_destroy(weft_scene *scene);

/* What the last bake did. */
typedef struct weft_scene_stats {
    uint32_t files, files_read;       /* that the scene is made of; read in this bake */
    uint32_t objects;                 /* now, prefabs included */
    uint32_t baked;                   /* objects whose bakers ran */
    uint32_t added, removed, changed; /* records: weft_scene_change */
    uint32_t errors;
    uint32_t entities; /* that weft_scene_fill makes */
    uint64_t blob_count, record_bytes;
    double seconds;
} weft_scene_stats;

/* Reads the documents, bakes what is new or has changed, and drops what is gone. `paths` are roots:
 * objects of a root of several have its name in front: "level/cube" of "level.weft". The first call
 * bakes everything. Errors: INVALID_ARGUMENT: there are mistakes, all of which weft_scene_mistakes
 * tells; files and objects with mistakes keep what they were before. OUT_OF_MEMORY: the scene is as
 * before. WRONG_PHASE: a bake of it, or a system of its world, calls. Cost: bytes of changed
 * files, objects, and bakers that run. Threads: owner. */
WEFT_API weft_result weft_scene_bake(weft_scene *scene, const char *const *paths, uint32_t count);

/* Whether a file that the last bake read, or looked for in vain, may have changed since: time to
 * bake again. For loops of a program's own, some times a second; a file that is being written just
 * then is half: see weft_scene_wait. Cost: one stat (or weft_scene_desc.read) a file. Threads:
 * owner. */
WEFT_API bool weft_scene_is_stale(weft_scene *scene);

/* Waits up to `milliseconds` until a file of the last bake has changed and is whole: closed by its
 * writer, or renamed into place; where the file system tells nothing, unchanged for half a second.
 * True: time to bake again. What `weft bake --watch` does between bakes. False at once without a
 * bake. Cost: a descriptor of inotify, until the scene is destroyed. Threads: owner. */
WEFT_API bool weft_scene_wait(weft_scene *scene, uint32_t milliseconds);

/* The files of the last bake: paths, valid until the next one. The first weft_scene_stats.files are
 * those that it read, documents and what bakers read: what is baked is up to date while these are
 * older than it. Then come those that "use" of these documents names, needed or not, in part the
 * same again: what a program writes is none of them. NULL beyond the last. Threads: owner. Cost:
 * O(files). */
WEFT_API const char *weft_scene_file_at(const weft_scene *scene, uint32_t index);

/* Makes the entities of the scene in a world: the schema's, or another one, whose types are
 * found by name. Errors: INVALID_ARGUMENT, NOT_FOUND (the world lacks a type: weft_world_error
 * names it), TYPE_MISMATCH, LIMIT, OUT_OF_MEMORY, WRONG_PHASE (the world is as it was
 * then, ids included). Cost: some 100 ns an entity. Threads: owner. */
WEFT_API weft_result weft_scene_fill(weft_scene *scene, weft_world *world);

/* What the last bake did. `out_bytes`: sizeof *out. Threads: owner. */
WEFT_API void weft_scene_stats_get(const weft_scene *scene, weft_scene_stats *out,
                                   size_t out_bytes);

/* ---- mistakes, changes, explanations ---- */

/* The mistakes in the documents that the last bake found, in order of files and places: `path` is
 * the object, "" when it is about the file. Writes up to `capacity`, returns how many there are.
 * Threads: owner. */
WEFT_API uint32_t weft_scene_mistakes(const weft_scene *scene, weft_error *out, uint32_t capacity);

/* What the last bake changed. */
typedef enum weft_scene_change_kind {
    WEFT_SCENE_ADDED,
    WEFT_SCENE_REMOVED,
    WEFT_SCENE_CHANGED, /* its record differs */
} weft_scene_change_kind;

/* One change. `path` belongs to the scene until the next bake. */
typedef struct weft_scene_change {
    const char *path;
    weft_scene_change_kind kind;
} weft_scene_change;

/* The change number `index`, in order of objects, removed ones last; false beyond the last. Cost:
 * O(1), and the making of the path. Threads: owner. */
WEFT_API bool weft_scene_change_at(weft_scene *scene, uint32_t index, weft_scene_change *out);

/* The entity that weft_scene_fill last made of an object; null: none, or a snapshot put the
 * world of the schema back to before the fill. Threads: owner. */
WEFT_API weft_entity weft_scene_entity(const weft_scene *scene, const char *path);

/* Why an object is what it is, as text for people, or as one JSON object: its layers with file
 * and line, what it read, why it was baked in the last bake, its components. Length as
 * snprintf; 0: no object has this path. Threads: owner. */
WEFT_API size_t weft_scene_explain(weft_scene *scene, const char *path, bool is_json, char *text,
                                   size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
