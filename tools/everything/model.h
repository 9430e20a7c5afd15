/* SPDX-License-Identifier: MIT */
/* model.h: the reference world: what a world must look like after a list of calls, worked out in
 * the most naive way. It shares nothing with weft: no header, no type, no bytes.
 *
 * Entities have numbers: 1, 2, 3 ... in the order in which they were made, never used again. 0 is
 * null. A value is bytes; where it refers to an entity it holds the number, 8 bytes wide, as a
 * handle is. Kinds of components are numbers below 64: a set of kinds is a word.
 *
 * All memory comes from one arena that grows and is thrown away at the end, so that there is no
 * code to free anything, and a copy of a model is a copy of its lists. One thread. */
#ifndef WEFT_TOOLS_MODEL_H
#define WEFT_TOOLS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of an entity of another world. */
#define MODEL_NOBODY UINT32_MAX

enum { MODEL_KINDS = 64, MODEL_LINKS = 2, MODEL_NAME = 64, MODEL_TERMS = 8 };

/* ---- kinds ---- */

/* What a kind of component is; what it means for calls is in model.c. */
typedef enum model_flags {
    MODEL_SWITCH = 1 << 0, /* has an enable bit */
    MODEL_SHARED = 1 << 1,
    MODEL_BUFFER = 1 << 2,
    MODEL_CHUNK = 1 << 3,   /* a value of a chunk: the model knows who has it, not the value */
    MODEL_CLEANUP = 1 << 4, /* stays with a residue */
    MODEL_RESOURCE = 1 << 5,
    MODEL_NOT_HASHED = 1 << 6,
    MODEL_SPARSE = 1 << 7,
    MODEL_NOT_COPIED = 1 << 8,
    MODEL_PREFAB = 1 << 9,    /* the tag that goes with groups and is not copied */
    MODEL_INACTIVE = 1 << 10, /* the tag that hides from queries, as MODEL_PREFAB does */
    MODEL_GROUP = 1 << 11,    /* the buffer of a linked group */
    MODEL_ORIGIN = 1 << 12,   /* roots of copies of prefabs get it: the number of the prefab */
    MODEL_RELATION = 1 << 13, /* the link is a target; the next four say more */
    MODEL_DIES_WITH = 1 << 14,
    MODEL_KEEPS_DEAD = 1 << 15,
    MODEL_ACYCLIC = 1 << 16,
    MODEL_BY_DEPTH = 1 << 17, /* the kind after it is its depth */
    MODEL_DEPTH = 1 << 18,    /* no call but settling changes it */
    MODEL_SIGNED = 1 << 19,   /* constructed: a value begins with MODEL_SIGN */
} model_flags;

#define MODEL_SIGN UINT32_C(0x51a7e)

/* Constant. */
typedef struct model_kind {
    const char *name;
    uint32_t size; /* bytes of a value, of a BUFFER of an element; 0: a tag */
    uint32_t flags;
    uint32_t link_count;
    uint32_t links[MODEL_LINKS]; /* offsets of numbers of entities */
    uint64_t needs;              /* kinds that come with it */
} model_kind;

/* ---- state ---- */

/* One value: `count` is 1, of a BUFFER the number of elements. */
typedef struct model_value {
    struct model_value *next; /* of the entity */
    uint8_t *bytes;
    uint32_t kind, count, room;
    uint32_t written; /* model.version of the last write */
} model_value;

typedef enum model_life { MODEL_NEVER, MODEL_ALIVE, MODEL_RESIDUE, MODEL_DEAD } model_life;

typedef struct model_entity {
    uint64_t set;      /* kinds that it, or its residue, has */
    uint64_t disabled; /* of these, with a cleared enable bit */
    model_value *values;
    char *name; /* NULL: none */
    model_life life;
    bool is_touched; /* listed in model.touched */
} model_entity;

/* When rows of an archetype came, went or were written last. */
typedef struct model_stamp {
    uint64_t set;
    uint32_t version;
} model_stamp;

/* Time: the step, and how far rates and timers are. A rate of 0 has every step. */
enum { MODEL_SYSTEMS = 8, MODEL_GROUPS = 3 };
typedef struct model_clock {
    uint64_t steps;
    double time;                      /* seconds: all steps */
    uint32_t ids[MODEL_SYSTEMS];      /* whose the numbers below are; 0: none */
    double rests[MODEL_SYSTEMS];      /* since the last tick of a system's own rate */
    double group_rests[MODEL_GROUPS]; /* of its group's */
    double timers[MODEL_SYSTEMS];     /* seconds left; negative: has run out */
    bool is_set[MODEL_SYSTEMS];       /* the timer is */
    bool is_late[MODEL_SYSTEMS];      /* the next step, whether there is a tick or not */
    uint32_t ran_from[MODEL_SYSTEMS]; /* versions between which a system ran last; 0: never */
    uint32_t ran_to[MODEL_SYSTEMS];
} model_clock;

typedef struct model_block model_block; /* of the arena */

typedef struct model {
    const model_kind *kinds;
    uint32_t kind_count;
    uint32_t version;     /* the version that writes are stamped with: set by the caller */
    uint32_t count, room; /* of `entities`; [0] is null */
    uint32_t reserved;    /* the number of the next new entity, by model_reserve; 0: count */
    model_entity *entities;
    uint32_t living, residues;
    model_value *resources[MODEL_KINDS];
    uint32_t *touched; /* numbers of entities that changed since the list was emptied */
    uint32_t touched_count, touched_room;
    model_stamp *stamps;
    uint32_t stamp_count, stamp_room;
    model_clock clock;
    model_block *blocks;
} model;

/* What a call answers. */
typedef enum model_result {
    MODEL_OK,
    MODEL_STALE,     /* a dead entity */
    MODEL_MISMATCH,  /* not for this kind */
    MODEL_NOT_FOUND, /* the entity lacks the component; nothing of that name */
    MODEL_INVALID,
    MODEL_EXISTS,
    MODEL_CYCLE,
    MODEL_FOREIGN, /* an entity of another world */
    MODEL_RESULTS,
} model_result;

void model_open(model *m, const model_kind *kinds, uint32_t kind_count);
void model_close(model *m);
/* A model of its own with the same content. */
void model_copy(model *to, const model *from);
/* The same, with an arena that there is. */
void model_copy_into(model *to, const model *from, model_block *blocks);
/* Memory until model_close. */
void *model_memory(model *m, size_t bytes);

/* ---- questions ---- */

static inline bool model_is(const model *m, uint32_t kind, uint32_t flags)
{
    return (m->kinds[kind].flags & flags) != 0;
}
static inline bool model_is_alive(const model *m, uint32_t n)
{
    return n < m->count && m->entities[n].life == MODEL_ALIVE;
}
bool model_has(const model *m, uint32_t n, uint32_t kind);
bool model_is_enabled(const model *m, uint32_t n, uint32_t kind);
/* NULL: it has none (also of a tag). */
model_value *model_read(const model *m, uint32_t n, uint32_t kind);
const char *model_name(const model *m, uint32_t n);
/* A set with all that its kinds need; without those that are in no archetype: `model_rows`. */
uint64_t model_with_needs(const model *m, uint64_t set);
uint64_t model_rows(const model *m, uint64_t set);
/* Living entities that die, or get the Prefab tag, with n: itself, the members of its group,
 * those of their groups. A set of numbers: out[i] is true. */
void model_group(const model *m, uint32_t n, bool *out);
/* The newest version of any change among entities with the rows of this set; 0: none yet. */
uint32_t model_stamp_of(const model *m, uint64_t set);

/* ---- changes ----
 *
 * Of one entity; for arrays, queries and commands the caller asks model_may_* of each first where
 * all or none change, and then does them one by one. The value NULL: zero, with the sign where it
 * is constructed. */

/* The number of a new one. */
uint32_t model_create(model *m, uint64_t set);
/* A number for an entity that comes later, when m->reserved is set to it. */
uint32_t model_reserve(model *m);
model_result model_destroy(model *m, uint32_t n);
/* Only this one, without its group: destruction by queries. */
void model_destroy_alone(model *m, uint32_t n);

/* Whether kinds may be added or set: a residue has only what it has; and removed: what is absent
 * is no error. */
model_result model_may_add(const model *m, uint32_t n, uint64_t set);
model_result model_may_remove(const model *m, uint32_t n);
/* Adds with what is needed, then removes; what is in both sets brings nothing that it needs. */
model_result model_change(model *m, uint32_t n, uint64_t add, uint64_t remove);
/* The entity gets exactly these rows; SPARSE kinds stay. */
model_result model_set_rows(model *m, uint32_t n, uint64_t set);

/* Sets `count` elements or one value, and adds the kind where it is absent. */
model_result model_set(model *m, uint32_t n, uint32_t kind, const void *bytes, uint32_t count);
model_result model_append(model *m, uint32_t n, uint32_t kind, const void *bytes, uint32_t count);
/* New elements are zero, with the sign where they are constructed. */
model_result model_resize(model *m, uint32_t n, uint32_t kind, uint32_t count);
model_result model_enable(model *m, uint32_t n, uint32_t kind, bool enabled);
model_result model_set_name(model *m, uint32_t n, const char *name, bool is_unique);
/* The living entities with this name, ascending; returns how many. */
uint32_t model_named(const model *m, const char *name, uint32_t *out, uint32_t most);
/* Something changed among the entities with these rows. */
void model_note_rows(model *m, uint64_t set);
/* Notes a write without a new value: write access that was opened. */
void model_touch(model *m, uint32_t n, uint64_t kinds);

/* `count` copies of n and its group: out[copy * members + member] for the members that
 * model_instance_members lists, the root first. */
model_result model_instantiate(model *m, uint32_t n, uint32_t count, uint32_t *out);
/* The members that are copied; 0: refused. `out`: room for model.count. */
uint32_t model_instance_members(const model *m, uint32_t n, uint32_t *out);

/* A resource's value, made when it is first asked for. */
model_value *model_resource(model *m, uint32_t kind);

/* References to the dead become null; returns how many. */
uint64_t model_clear_references(model *m);
/* Relations: dead targets, cycles, depths. CYCLE: some were cut. */
model_result model_settle(model *m);
/* Whether settling would cut a cycle. */
bool model_has_cycle(const model *m);

/* ---- time ---- */

/* Time passes for a rate: how many ticks there are; the rest is dropped behind the eighth. */
uint32_t model_ticks(double *rest, double dt, double period);
/* Time passes for a timer, in a group with `ticks` ticks of `period` (0: none, each step) whose
 * last one was `rest` ago: in which pass, counted from the last, its system runs; 0: in none. */
uint32_t model_timer(model_clock *clock, uint32_t system, double dt, double period, uint32_t ticks,
                     double rest);

/* ---- carried worlds (model_carriers.c) ---- */

/* The content of another; what was taken from the arena of this one stays. */
void model_become(model *m, const model *from);
/* All that there is was written now; or only moved. */
void model_renew(model *m);
void model_stir(model *m);
/* No entity and no resource has these kinds any more. */
void model_without(model *m, uint64_t without);
/* Moves entities to another model, where renamed[number] is their number, 0 for those that do not
 * move: references to these become null. Returns how many did. */
uint64_t model_move(model *to, model *from, const uint32_t *numbers, uint32_t count,
                    const uint32_t *renamed);
/* Steps of these: one entity loses kinds, comes with its values, or goes without a residue. */
void model_lose(model *m, uint32_t n, uint64_t without);
void model_arrive(model *to, uint32_t n, const model_entity *from);
void model_leave(model *from, uint32_t n);

/* ---- queries ---- */

typedef enum model_match {
    MODEL_ALL,
    MODEL_ANY,
    MODEL_NONE,
    MODEL_ABSENT,
    MODEL_PRESENT,
    MODEL_OPTIONAL,
    MODEL_DISABLED,
} model_match;

typedef struct model_term {
    uint32_t kind;
    model_match match;
    uint32_t alternative;
    bool is_written;
} model_term;

typedef struct model_query {
    model_term terms[MODEL_TERMS];
    uint32_t term_count;
    bool with_prefabs, with_inactive, ignores_enabled;
    /* A condition on a shared value: shared_count values of this kind, one of which it has, or with
     * is_not none of them. */
    uint32_t shared_kind, shared_count;
    const void *shared;
    bool is_not;
} model_query;

/* Whether it selects the entity, or its residue. */
bool model_selects(const model *m, const model_query *query, uint32_t n);
/* A query with write access visits its archetypes, whatever filters and bits say: these count as
 * changed (model_stamp_of). */
void model_visit(model *m, const model_query *query);
/* The entities that it selects, ascending; returns how many. */
uint32_t model_selected(const model *m, const model_query *query, uint32_t *out);

#endif
