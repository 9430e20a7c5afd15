/* SPDX-License-Identifier: MIT */
/* program.h: whole programs, as users write them: what a side of one is.
 *
 * A program is a model: NAME.h has its values and rules, which all sides share; NAME.c is the
 * program on weft, a page that can be written from the guide; NAME_raw.c the same model in plain C;
 * NAME.cpp the same by weft.hpp. programs.c lists them, bench_program.c times them beside each
 * other, tests/programs compares what they compute.
 *
 * Random numbers are those of weft/random.h, named by the numbers that the model gives its things.
 * Floats are added, multiplied, divided and rooted only, in one order, so all sides have the same
 * bits. */
#ifndef WEFT_PERF_PROGRAM_H
#define WEFT_PERF_PROGRAM_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One implementation of a model. Threads: one at a time. */
typedef struct program_side {
    void *(*open)(uint32_t size, uint32_t workers); /* NULL: no memory */
    void (*step)(void *side);
    uint64_t (*content)(void *side); /* of the model's values: equal on all sides */
    uint64_t (*hash)(void *side);    /* weft_world_hash of content; NULL: there is no world */
    void (*close)(void *side);
} program_side;

/* A model with its sides. */
typedef struct program {
    const char *name;
    uint32_t size;         /* of the benchmark: people, birds, cars */
    uint32_t small;        /* of the tests */
    const program_side *c; /* on weft */
    const program_side *raw;
    const program_side *cpp; /* NULL: no C++ compiler, or not written */
} program;

/* Ends with a NULL name. */
extern const program programs[];

/* ---- sums that do not depend on the order of things ---- */

/* Stirs a value into the state of one thing; states of things are added. */
static inline uint64_t program_stir(uint64_t state, uint64_t value)
{
    state = (state ^ value) * 0x9E3779B97F4A7C15u;
    return state ^ state >> 29;
}

static inline uint64_t program_stir_float(uint64_t state, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return program_stir(state, bits);
}

#ifdef __cplusplus
}
#endif
#endif
