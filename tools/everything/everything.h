/* SPDX-License-Identifier: MIT */
/* everything.h: `weft stress everything`: random programs over the whole public surface, run on
 * weft and on a reference world (model.h), compared, shrunk, and printed as C.
 *
 * A *script* is an array of *calls* of fixed size, drawn from a seed. What a call does follows from
 * its numbers and the state that the calls before it left, and each call can be run in every state:
 * so calls may be left out and numbers made smaller, which is all that shrinking does.
 *
 * To add operations: write `ops_topic.c` with a list
 *
 *     const everything_op everything_ops_topic[] = {
 *         {.name = "add", .functions = "weft_entity_add", .weight = 8, .draws = DRAWS_KIND,
 *          .takes = kind_is_of_rows, .run = run_add},
 *         {0}};
 *
 * It joins by its name (CMakeLists.txt). A `run` does four things, in this order:
 *   1. reads its arguments from the call: everything_pick, _many, _set_of, _value;
 *   2. asks the model, and changes it;
 *   3. says what it is about to do: everything_says(e, "IS(%s, weft_entity_add(...));", ...);
 *   4. calls weft, and compares: everything_result, everything_equal.
 * The content of the world is compared by the driver: touched entities every few calls, all at the
 * end, and where an operation asks for it (everything_compare).
 *
 * Then take its functions out of tests/everything/exceptions.txt. Owner: one thread, but
 * everything_fails, which systems on workers may call. */
#ifndef WEFT_TOOLS_EVERYTHING_H
#define WEFT_TOOLS_EVERYTHING_H

#include "atomic.h"
#include "kinds.h"
#include "model.h"

#include <weft/snapshot.h>
#include <weft/weft.h>

#include <stdio.h>

/* ---- calls and operations ---- */

typedef struct everything_call {
    uint16_t op;    /* position in the table of operations */
    uint8_t kind;   /* DRAWS_KIND: one that the operation takes */
    uint8_t way;    /* below the number of its ways */
    uint32_t a, b;  /* entities, by everything_pick */
    uint32_t size;  /* DRAWS_SIZE: 0..most, often beside a threshold of the sources */
    uint64_t value; /* what values are made of; DRAWS_SET: a set of kinds */
} everything_call;

typedef enum everything_draws {
    DRAWS_KIND = 1 << 0,
    DRAWS_SIZE = 1 << 1,
    DRAWS_SET = 1 << 2,   /* `value` is a set of few kinds that the operation takes */
    DRAWS_FIRST = 1 << 3, /* scripts begin with a few of these: they make entities */
} everything_draws;

typedef struct everything everything;

typedef struct everything_op {
    const char *name;        /* unique; NULL ends a list */
    const char *functions;   /* public functions that it calls, with blanks between them */
    uint32_t weight;         /* how often it is drawn, 8 as a rule */
    uint32_t draws;          /* everything_draws */
    bool (*takes)(uint32_t); /* DRAWS_KIND, DRAWS_SET: whether it takes a kind; NULL: all */
    const char *const *ways; /* ended by NULL; NULL: one way */
    uint32_t most;           /* DRAWS_SIZE: the largest size; 0: 600 */
    void (*run)(everything *e, const everything_call *c);
} everything_op;

/* All of them, list behind list, by position; NULL beyond. */
const everything_op *everything_op_at(uint32_t index);

/* ---- state ---- */

enum {
    EVERYTHING_PLACES = 4,
    EVERYTHING_SNAPSHOTS = 3,
    EVERYTHING_QUERIES = 8,
    EVERYTHING_MOST = 20000,
    EVERYTHING_CALLS = 200
};
#define EVERYTHING_FOREIGN MODEL_NOBODY /* the number of an entity of another world */
#define EVERYTHING_DEFERRED (UINT32_C(1) << 30)

/* A world, its model, and who is who. */
typedef struct everything_place {
    weft_world *world;
    model m;
    weft_component of[MODEL_KINDS];
    weft_entity *handles; /* [number]; those of the dead stay */
    uint32_t handle_room;
    uint32_t *numbers; /* hash of handles */
    uint32_t number_room, number_count;
    bool knows_stamps;   /* change versions are those that the model saw: not after a load */
    uint32_t handle_tag; /* top bits of its handles */
    const char *c_name;  /* of the world in the C program: "world" */
    struct everything_commands *commands; /* ops_command.c; NULL: none yet */
    weft_entity *deferred;                /* handles that its recorder gave */
    uint32_t deferred_count;
    bool has_rows; /* its recorder has: weft_world_validate calls them CORRUPT */
} everything_place;

/* A query of both worlds. */
typedef struct everything_query {
    weft_query query;
    model_query asks;
    weft_access access[MODEL_TERMS];
    bool stamps_asked;
    uint32_t systems, recorders; /* that run over it, or record commands for it */
} everything_query;

/* A snapshot of the world, and what the model was then. */
typedef struct everything_snapshot {
    weft_snapshot *snapshot; /* NULL: none */
    model m;
    weft_entity *handles; /* [m.count]; memory of m */
    bool knows_stamps;
    uint64_t moment;
    uint64_t hashes[2];
} everything_snapshot;

struct everything {
    uint64_t seed;
    everything_place *here; /* the world of the script */
    everything_place places[EVERYTHING_PLACES];
    everything_query queries[EVERYTHING_QUERIES];
    everything_snapshot snapshots[EVERYTHING_SNAPSHOTS];
    uint32_t opened; /* worlds */
    uint32_t workers;
    weft_job_pool *pool; /* of its worlds; NULL: each has its own, or that of all scripts */
    bool is_one_of_many; /* other threads run scripts, too: nothing is counted */
    uint32_t call;       /* position in the script */
    bool is_close;       /* compares all after each call */
    weft_a64 x_owned;    /* values with hooks that live */
    FILE *out;           /* the C program: statements of main; NULL: none is printed */
    FILE *before;        /* and what stands before main */
    uint32_t numbers;    /* entities that the program has */
    weft_a32 x_failed;   /* calls of everything_fails; the first writes: */
    char failure[128];   /* its class: the same fault has the same */
    char text[512];
    const everything_op *running;
    struct everything_systems *systems; /* ops_system.c; NULL: none yet */
    uint32_t systems_made;              /* in all worlds */
    bool is_over; /* there is an entity whose handle cannot be known: the script ends */
    double kept_rests[MODEL_GROUPS];        /* of groups of a saved world, until they get a rate */
    struct everything_observers *observers; /* ops_observer.c; NULL: none yet */
};

/* ---- arguments ---- */

/* A living entity, by `a`; now and then (one of 16) any that ever lived, one of 64 null, one of 64
 * foreign. 0 is null. */
uint32_t everything_pick(const everything *e, uint32_t a);
/* A living one; 0: there is none. */
uint32_t everything_pick_living(const everything *e, uint32_t a);
/* `count` entities from `a` on, living ones as they follow each other, around where there are
 * fewer; with some dead among them for odd `b`. In memory of the model. */
uint32_t *everything_many(everything *e, uint32_t a, uint32_t b, uint32_t count);
/* Their handles, in memory of the model. */
weft_entity *everything_handles(everything *e, const uint32_t *numbers, uint32_t count);
/* The handle of a number, and back: 0 null, EVERYTHING_FOREIGN: unknown. */
weft_entity everything_handle(const everything_place *p, uint32_t number);
uint32_t everything_number(const everything_place *p, weft_entity handle);
/* A new number of the model has this handle. */
void everything_learn(everything *e, everything_place *p, uint32_t number, weft_entity handle);
/* The copies of one instance, of which the root, copies[0], is known: the others stand in the
 * linked groups of the copies. */
void everything_learn_copies(everything *e, everything_place *p, const uint32_t *copies,
                             uint32_t count);
/* How many of `count` entities may still be made: a script has at most EVERYTHING_MOST. */
uint32_t everything_room(const everything *e, uint32_t count);
/* Whom a reference in a value leads to: mostly a living one, null, dead ones. */
uint32_t everything_linked(const everything *e, uint32_t b);
/* One number of two, for what a call draws beside its own. */
uint64_t everything_mix(uint64_t a, uint64_t b);

/* `count` values of a kind as the model has them, from `value`; links lead to entities from `b` on.
 * In memory of the model. */
uint8_t *everything_value(everything *e, uint32_t kind, uint64_t value, uint32_t b, uint32_t count);
/* The same as weft has it: with handles. */
uint8_t *everything_weft_value(everything *e, const everything_place *p, uint32_t kind,
                               const void *bytes, uint32_t count);
/* Components of a set, in order; returns how many. */
uint32_t everything_components(const everything_place *p, uint64_t set, weft_component *out);

/* ---- saying C ---- */

/* Prints a statement of the program, if one is printed. */
void everything_says(everything *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Texts for it, in memory of the model. "world", "e[7]", "of[PLAIN]", "(uint32_t[]){7}". Without a
 * program they are empty and cost nothing. */
const char *everything_c_value(everything *e, uint32_t kind, const void *bytes, uint32_t count);
/* "of[PLAIN], of[TAG]"; of an empty set "". */
const char *everything_c_set(everything *e, uint64_t set);
/* Says `weft_entity NAME[] = ...` of these numbers. */
void everything_says_list(everything *e, const char *name, const uint32_t *numbers, uint32_t count);
/* "WEFT_ARCHETYPE(world, of[PLAIN])", "e[7]"; of results weft_result_name. */
const char *everything_c_archetype(everything *e, uint64_t set);
const char *everything_c_entity(everything *e, uint32_t number);

/* ---- comparing ---- */

/* The first failure ends the script. `what`: the class of the fault, a constant text; `format`: a
 * sentence with the values. Threads: any. */
void everything_fails(everything *e, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline bool everything_has_failed(const everything *e)
{
    return at_load_rlx(&e->x_failed) != 0; /* relaxed: ends the script, no data behind it */
}
/* weft's code for that of the model. */
weft_result everything_result_of(model_result result);
/* Fails unless they are equal; true: they are. */
bool everything_result(everything *e, const char *what, weft_result actual, weft_result expected);
bool everything_equal(everything *e, const char *what, uint64_t actual, uint64_t expected);
/* Compares one entity, touched ones, or all there is: entities, values, bits, buffers, names,
 * residues, resources, counts, weft_world_validate. */
bool everything_compare_entity(everything *e, everything_place *p, uint32_t number);
bool everything_compare_touched(everything *e);
bool everything_compare(everything *e, everything_place *p);

/* ---- worlds ---- */

/* Opens a world with all kinds, and an empty model; "world" is the place that a script begins with.
 * False: failed, and said so. */
bool everything_open(everything *e, everything_place *p, const char *c_name);
void everything_close(everything *e, everything_place *p);
/* Another world takes the place of that of the script, which has what this one had (files), or may
 * have (transfer): snapshots end, queries are made in it. */
void everything_replace(everything *e, everything_place *by);
void everything_snapshots_drop(everything *e);
/* Makes all queries in the world of the script, which is new. */
void everything_queries_make(everything *e);
/* The handles that entities of the model have, from a list by number; null ones are unknown. */
void everything_relearn(everything *e, everything_place *p, const weft_entity *handles,
                        uint32_t count);

/* ---- commands (ops_command.c) ----
 *
 * Entities that a recorder makes have *deferred* numbers until it is played: EVERYTHING_DEFERRED
 * and up, "d[0]" in the C program, by which everything_handle finds the deferred handle. */

/* Destroys the recorder of a world with all that it recorded. */
void everything_commands_drop(everything *e, everything_place *p);

/* ---- runs ---- */

/* Draws the script of a seed; returns the number of calls, at most EVERYTHING_CALLS. */
uint32_t everything_draw(uint64_t seed, everything_call out[EVERYTHING_CALLS]);
/* Runs a script with e->seed, e->out, e->before and e->is_close; *hash: of its world at the end.
 * False: it failed, e->failure says how. */
bool everything_run(everything *e, const everything_call *script, uint32_t count, uint64_t *hash);
/* Finds a failing script with few calls and small numbers, and prints it as a C program; `command`:
 * what repeats the seed. False: the seed does not fail. */
bool everything_shrink(uint64_t seed, const char *command, FILE *out);
/* Prints the C program of a seed as it was drawn. */
void everything_print(uint64_t seed, FILE *out);
/* A size from 0 to most: often beside a threshold of the sources (thresholds.c), else small, now
 * and then anything. */
uint32_t everything_size(uint64_t drawn, uint32_t most);
/* What was drawn since the process began; `are_cells`: the cells that are empty, too. */
void everything_print_counts(FILE *out, bool is_json, bool are_cells);

#endif
