/* SPDX-License-Identifier: MIT */
/* live_state.h: a live link: what the thread that bakes has, what the owner has, and the list of
 * changes between them. Values are kept *normalized*: ENTITY fields hold the key of their target,
 * BLOB fields the hash of their content, so that they can be compared wherever they come from. */
#pragma once

#include "image.h"

#include <weft/live.h>
#include <weft/snapshot.h>

/* A component that both worlds know. Owner: the link; constant. */
typedef struct weft__live_type {
    weft_component component;        /* of the world that is followed; null: not there */
    const weft_component_desc *desc; /* there; its fields are the flat ones */
    bool is_skipped;                 /* derived, or not of entities */
} weft__live_type;

/* What documents say of an entity. One block of memory. Owner: a change, then the slot. */
typedef struct weft__live_image {
    size_t block_bytes;
    uint32_t value_count;
    weft__image_value *values; /* ascending components; normalized */
    const char *name;          /* "": none */
} weft__live_image;

typedef enum weft__live_kind {
    WEFT__LIVE_CHANGED, /* or new: then it has no slot yet */
    WEFT__LIVE_REMOVED,
} weft__live_kind;

/* What became different of an entity. Owner: the set; `image` goes to the slot. */
typedef struct weft__live_change {
    weft__live_kind kind;
    uint64_t key;
    const char *path; /* in the pile of the set */
    weft__live_image *image;
} weft__live_change;

/* A blob that images refer to. Owner: the link; guarded by its lock until it is
 * listed, constant then. */
typedef struct weft__live_blob {
    uint64_t content;
    const weft_blob_type *type;
    weft_blob_ref from; /* in the store of the scene; one reference */
    weft_blob_ref ref;  /* in the store of the world; the owner's */
} weft__live_blob;

/* The changes of one bake. Owner: the baker, the list, then the owner. */
typedef struct weft__live_set {
    struct weft__live_set *next;
    weft__pile pile; /* of texts */
    WEFT__LIST(weft__live_change) changes;
    WEFT__LIST(weft_error) errors;
    uint64_t wake_ns;
} weft__live_set;

/* What the baker knows of an entity of the last bake. Owner: the baker. */
typedef struct weft__live_known {
    uint64_t key, signature, bake;
} weft__live_known;

/* What the owner knows of it. Owner: the link. Always: in both tables. */
typedef struct weft__live_slot {
    uint64_t key;
    weft_entity entity;
    char *path;
    weft__live_image *base;
} weft__live_slot;

/* A text that was written into a file, for undo. Owner: the link. */
typedef struct weft__live_edit {
    weft__pile pile;      /* of all texts */
    const char *path;     /* of the file */
    const char *object;   /* its path there */
    const char *field;    /* and below that */
    const char *added;    /* the part of `field` that was not there; NULL: all was */
    const char *old_text; /* what was there */
    size_t old_bytes, new_bytes;
    uint64_t new_hash; /* of what was written */
} weft__live_edit;

#define WEFT__CONFLICTS_KEPT 16u

struct weft_live {
    struct weft_live *next_link; /* of all links; guarded by the lock of live.c */
    /* constant after start */
    weft__memory memory;
    weft_world *world;
    weft_live_desc desc;
    weft__pile texts;
    char **paths;           /* in `texts` */
    weft__live_type *types; /* [type_count], by id in the scene's schema */
    uint32_t type_count;
    /* the baker's: the thread, or the owner without one */
    weft_world *schema;
    weft_scene *scene;
    WEFT__LIST(weft__live_known) known; /* in the order in which they came */
    weft__table known_at;               /* of their places, from 1, by key */
    uint64_t bake;
    bool is_torn; /* memory ended in the last bake: everything is compared by the next */
    weft__imaging imaging;
    weft__file_watch watch; /* of the thread */
    pthread_t thread;
    bool has_thread;
    /* guarded by lock */
    pthread_mutex_t lock; /* also: of the scene, which edits look at */
    weft__live_set *first, **last;
    WEFT__LIST(weft__live_blob) blobs;
    weft_a32 x_waiting; /* sets in the list: a look without the lock */
    /* the owner's */
    WEFT__LIST(weft__live_slot) slots;
    weft__table by_key, by_entity; /* of the places of slots, from 1 */
    weft__live_set *current;       /* being applied */
    uint32_t phase, next;          /* where it is */
    weft_entity half_of;           /* memory ended while it was given the component `half_type` */
    uint32_t half_type;            /* ... which the next call gives again, without a question */
    weft__live_set *told;          /* whose errors weft_live_mistakes tells */
    WEFT__LIST(weft__live_edit) edits;
    WEFT__LIST(char) scratch;                  /* a value of the followed world */
    weft_live_report report;                   /* of the call that runs */
    weft_world_hook hook;                      /* holds the world */
    uint64_t moment;                           /* of the world: what was applied is there */
    char conflicts[WEFT__CONFLICTS_KEPT][192]; /* the last ones: a ring */
    uint64_t conflict_count;                   /* since the start */
};

void weft__live_image_free(weft_live *live, weft__live_image *image);
void weft__live_set_free(weft_live *live, weft__live_set *set);
/* What a BLOB field is normalized to; 0: null. */
uint64_t weft__live_content(weft_blob_store *store, weft_blob_ref ref);
/* A blob of the scene that is kept, by its content; NULL: none. With the lock. */
weft__live_blob *weft__live_blob_find(weft_live *live, uint64_t content);
/* WRONG_PHASE where a system or a callback makes the call `what`. */
weft_result weft__live_refuse(const weft_live *live, const char *what);
/* A snapshot put the world back to before the last change that the link made: what it knows of
 * entities may be true of others. */
static inline bool weft__live_is_undone(const weft_live *live)
{
    return live->moment != 0 && !weft_world_has_moment(live->world, live->moment);
}

/* The hash of a key in tables. */
static inline uint32_t weft__live_key_place(uint64_t key)
{
    return (uint32_t)(key >> 7);
}

/* ---- slots; owner. A slot's address holds until the next one is added ---- */

/* A slot by its entity; NULL: there is none. */
weft__live_slot *weft__live_slot_at(const weft_live *live, weft_entity entity);
/* The object is gone; its base is freed. */
void weft__live_slot_remove(weft_live *live, weft__live_slot *slot);
