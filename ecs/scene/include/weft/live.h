/* SPDX-License-Identifier: MIT */
/* live.h: a running world that follows its documents.
 *
 * Public, in libweft-scene. A *live link* bakes documents (scene.h) whenever their files change, in
 * a thread of its own with a schema of its own, and works out what became different. The owner
 * applies that between frames, field by field:
 *
 *   base   what the file said when the field was last applied
 *   file   what it says now
 *   world  what the run has made of it
 *
 * Where the world still has the base, it gets what the file says. Where the run has changed the
 * field, the policy decides: the world is kept and a *conflict* is told (KEEP), the file is taken
 * (TAKE), or the program is asked (ASK). The same holds for components that the run added or
 * removed, and for entities that it destroyed. Objects that are gone from the documents leave.
 * What did not change in the files is not looked at, and nothing of it is stamped as written.
 *
 * A change of a prefab also reaches the entities that the run has instantiated from it
 * (weft_entity_instantiate), field by field where they still have its value.
 *
 *   weft_live *live;
 *   weft_live_start(world, &(weft_live_desc){.paths = (const char *[]){"level.weft"},
 *                                            .path_count = 1}, &live);
 *   while (is_running) {
 *       weft_live_apply(live, 500000, NULL, 0);
 *       weft_world_step(world, dt);
 *   }
 *
 * The guide is docs/guide/live.md. */
#ifndef WEFT_LIVE_H
#define WEFT_LIVE_H

#include <weft/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- words ---- */

/* A live link. */
typedef struct weft_live weft_live;

/* What becomes of a field that the run and the file have changed. */
typedef enum weft_live_policy {
    WEFT_LIVE_KEEP, /* the world's value stays */
    WEFT_LIVE_TAKE, /* the file's value comes */
    WEFT_LIVE_ASK,  /* weft_live_desc.ask decides */
} weft_live_policy;

/* What the run did to that which the file changed. */
typedef enum weft_live_conflict_kind {
    WEFT_LIVE_FIELD,     /* it changed the field */
    WEFT_LIVE_ADDED,     /* it added the component that the file has added */
    WEFT_LIVE_REMOVED,   /* it removed the component that the file has changed */
    WEFT_LIVE_CHANGED,   /* it changed the component that the file has removed */
    WEFT_LIVE_DESTROYED, /* it destroyed the entity that the file has changed */
} weft_live_conflict_kind;

/* A conflict. Texts are valid during the call. */
typedef struct weft_live_conflict {
    weft_live_conflict_kind kind;
    const char *path;      /* of the object */
    const char *component; /* NULL: DESTROYED */
    const char *field;     /* NULL: the whole component */
    weft_entity entity;    /* may be dead */
    bool is_taken;         /* the file's value came */
} weft_live_conflict;

/* Describes a live link. Zero means default. Everything is copied but what pointers in `scene`
 * point to; its bakers run on threads of the library, and in weft_live_edit. */
typedef struct weft_live_desc {
    const weft_scene_desc *scene; /* bakers, sources; NULL: none */
    const char *const *paths;     /* as weft_scene_bake */
    uint32_t path_count;
    weft_live_policy policy;
    bool (*ask)(const weft_live_conflict *conflict, void *user); /* ASK: true: take the file's */
    void (*conflict)(const weft_live_conflict *conflict, void *user); /* told each; may be NULL */
    void *user; /* both may read the world: what changes it, and calls of the link, WRONG_PHASE */
    uint32_t debounce_ms; /* quiet time after a change, before files are read; 0: none */
    /* No thread watches: weft_live_refresh looks. For file systems that do not tell of changes. */
    bool without_thread;
} weft_live_desc;

/* What a call did, and what is left. */
typedef struct weft_live_report {
    uint32_t bakes;                   /* that were applied to their end */
    uint32_t added, removed, changed; /* objects: entities */
    uint32_t values;                  /* fields and components written */
    uint32_t conflicts;
    uint32_t instances;  /* entities of the run that followed their prefab */
    uint32_t pending;    /* objects that wait for the next call */
    uint32_t errors;     /* mistakes of the last bake: weft_live_mistakes */
    uint64_t latency_ns; /* from the first word of a change to its last value; 0: no bake ended */
} weft_live_report;

/* ---- following ---- */

/* Bakes the documents, fills the world with their entities, and follows them from then on. The
 * components that documents may use are those of the world now. Mistakes in the documents are no
 * error: what they concern comes when they are mended. Documents that are being written are waited
 * for, up to ten seconds. A start that fails leaves the world as it was, ids included (but Parent
 * and InstanceOf stay registered). Threads: owner, between steps. Errors: INVALID_ARGUMENT,
 * WRONG_PHASE, THREAD_FAILED, LIMIT, OUT_OF_MEMORY. */
WEFT_API weft_result weft_live_start(weft_world *world, const weft_live_desc *desc,
                                     weft_live **out);
/* Ends the link; entities stay. Before the world is destroyed. Ignored: NULL, and calls while
 * the world is not idle (WRONG_PHASE in its error). Threads: owner, world idle. */
WEFT_API void weft_live_stop(weft_live *live);

/* Applies what is known to have changed, for about `budget_ns` (0: no bound); the rest comes with
 * the next call. At least one object is done by each. `report` may be NULL; `report_bytes`: sizeof
 * *report. Threads: owner, world idle. Errors: WRONG_PHASE, LIMIT, OUT_OF_MEMORY (goes on with the
 * next call), UNSUPPORTED (a snapshot from before the last change of the link was restored: nothing
 * is applied until a later one is). Cost: 10 ns when nothing has changed. */
WEFT_API weft_result weft_live_apply(weft_live *live, uint64_t budget_ns, weft_live_report *report,
                                     size_t report_bytes);
/* Looks at the files now, and bakes what has changed; weft_live_apply applies it. With
 * `without_thread` only. Threads: owner. Errors: UNSUPPORTED (there is a thread),
 * WRONG_PHASE (a system called), OUT_OF_MEMORY. */
WEFT_API weft_result weft_live_refresh(weft_live *live);

/* ---- questions ---- */

/* The mistakes of the last bake that was applied, as weft_scene_mistakes. Threads: owner. */
WEFT_API uint32_t weft_live_mistakes(weft_live *live, weft_error *out, uint32_t capacity);
/* The entity of an object; null: there is none, or a restore undid it. Threads: owner. */
WEFT_API weft_entity weft_live_entity(const weft_live *live, const char *path);
/* The path of the object that an entity was made from; NULL: none. Threads: owner. */
WEFT_API const char *weft_live_path(const weft_live *live, weft_entity entity);

/* ---- for tools ---- */

/* The live links of a world, in order of their start, up to `capacity`; returns how many there are.
 * Threads: owner. Cost: O(links of the process). */
WEFT_API uint32_t weft_live_list(const weft_world *world, weft_live **out, uint32_t capacity);
/* A document that the link follows, as weft_live_desc.paths named it; NULL beyond the last.
 * Threads: owner. */
WEFT_API const char *weft_live_document_at(const weft_live *live, uint32_t index);
/* One of the last 16 conflicts as a sentence, 0 the newest; NULL: there was none. Valid until the
 * next weft_live_apply. Threads: owner. */
WEFT_API const char *weft_live_conflict_at(const weft_live *live, uint32_t index);
/* Why an object is what it is, and where it stands, as weft_scene_explain. 0 also while the link
 * bakes: ask again. Threads: owner. */
WEFT_API size_t weft_live_explain(weft_live *live, const char *path, bool is_json, char *text,
                                  size_t capacity);

/* ---- writing back ---- */

/* Writes a value into the document that an object stands in: `json`, one value without a comment
 * around it, takes the place of the value of `field` ("Orbit.drag", "transform.position[1]"; a
 * component alone: its whole value), which is added when the object has none; elements are
 * replaced, not added. All else of the file stays as it is, byte for byte. The bakers try the
 * object first: what would be a mistake in this property, or the object's first one, is refused,
 * and weft_world_error says what is wrong. The world follows as after any edit. Waits while
 * the link bakes. Threads: owner. Errors: NOT_FOUND (no object of a document, no file),
 * INVALID_ARGUMENT (`json` is no JSON value, or the place does not take it), WRONG_PHASE (a
 * system called), IO, OUT_OF_MEMORY. Cost: as the bake that follows. */
WEFT_API weft_result weft_live_edit(weft_live *live, const char *path, const char *field,
                                    const char *json);
/* Takes the last edit back that was not taken back: the bytes that were there return, wherever the
 * field of that object stands by then. After a failure the edit is still the last one. The last
 * 1,024 edits are known. Errors: NOT_FOUND (none is left; no file), BUSY (the object does not say
 * what the edit wrote), WRONG_PHASE (a system called), IO, OUT_OF_MEMORY. Threads: owner. */
WEFT_API weft_result weft_live_undo(weft_live *live);

#ifdef __cplusplus
}
#endif
#endif
