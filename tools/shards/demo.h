/* SPDX-License-Identifier: MIT */
/* demo.h: the models of `weft shard-demo`: small simulations over ranks, with one hash for any
 * number of ranks and workers.
 *
 * A model is a file demo_NAME.c. It registers components and systems, creates entities, and may
 * look after each step and at the end. The driver (demo_run.c) does the rest: world, shard, steps,
 * checkpoints, hashes.
 */
#ifndef WEFT_SHARDS_DEMO_H
#define WEFT_SHARDS_DEMO_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/shard.h>

/* What the command line asks for. */
typedef struct demo_options {
    uint64_t seed;
    uint32_t ticks, size; /* size: how many entities, about; 0: the model's own */
    uint32_t workers;
    uint32_t hash_every;     /* 0: at the end only */
    uint32_t save_every;     /* steps; 0: at the end only */
    const char *save, *load; /* checkpoints; NULL: none */
    const char *data;        /* a file of initial values, for lj */
    uint32_t balance_every;  /* steps; 0: as the library does */
    bool is_json, is_quiet;  /* quiet: nothing is printed */
} demo_options;

struct demo_model;

/* A run of one model on one rank. Owner: the driver; `state` is the model's. */
typedef struct demo {
    const struct demo_model *model;
    const demo_options *options;
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    void *state;
    bool has_stepped;
    uint64_t hash[2];       /* the last that was made */
    double first_s, rest_s; /* wall time of the first step of this process, and of the others */
} demo;

/* A model. Functions return WEFT_OK or why not; all ranks learn of it. */
typedef struct demo_model {
    const char *name, *summary;
    uint32_t size; /* of a run that asks for none */
    float dt;      /* of a step */
    /* Registers components; fills in the description of the shard. May set `state`. */
    weft_result (*describe)(demo *demo, weft_shard_desc *desc);
    weft_result (*systems)(demo *demo);
    /* Creates what is this rank's; all ranks go through the same list. */
    weft_result (*populate)(demo *demo);
    /* After each step, after populate and after a load; collective. NULL: nothing. */
    weft_result (*after_step)(demo *demo);
    /* Lines of the report (rank 0 prints; collective). NULL: none. */
    weft_result (*report)(demo *demo);
    void (*end)(demo *demo);
} demo_model;

/* All models; ended by NULL. */
extern const demo_model *const demo_models[];

/* Runs the model: the exit status of the command, and the hash at the end (may be NULL).
 * Collective. */
int demo_run(const demo_model *model, const demo_options *options, uint64_t hash[2]);

/* The entities of all ranks. Collective. */
weft_result demo_count(const demo *demo, uint64_t *count);

/* Rank 0: the one that prints. */
bool demo_is_first(void);

#endif
