/* SPDX-License-Identifier: MIT */
/* kinds.h: the kinds of components of `weft stress everything`: one table, in words of the model,
 * from which the model, the descriptions for weft and the C program follow.
 *
 * A new kind is a line of KINDS_OF; where it is described in another way than by shape and flags,
 * also a case in component_make (kinds.c). */
#ifndef WEFT_TOOLS_KINDS_H
#define WEFT_TOOLS_KINDS_H

#include "atomic.h"
#include "model.h"

#include <assert.h>
#include <stdio.h>
#include <weft/weft.h>

/* What a value looks like; bytes, C type and links in kinds.c. */
typedef enum kind_shape {
    SHAPE_BARE,   /* none */
    SHAPE_WORD,   /* uint32_t */
    SHAPE_WIDE,   /* two of them */
    SHAPE_LINE,   /* 64 bytes, aligned to 64 */
    SHAPE_LARGE,  /* 2,400 bytes */
    SHAPE_LINKED, /* an entity and a number */
    SHAPE_TWIN,   /* a number and two entities behind it */
    SHAPE_OWNING, /* with hooks that count */
    SHAPE_TARGET, /* an entity */
} kind_shape;

/* clang-format off */
#define KINDS_OF(X)                                                                        \
    X(PLAIN, WORD, 0)                                                                      \
    X(WIDE, WIDE, 0)                                                                       \
    X(LINE, LINE, 0)                                                                       \
    X(BIG, LARGE, 0)                                                                       \
    X(LINK, LINKED, 0)                                                                     \
    X(TWIN, TWIN, 0)                                                                       \
    X(HOOKED, OWNING, MODEL_SIGNED)                                                        \
    X(TAG, BARE, 0)                                                                        \
    X(SWITCH, WORD, MODEL_SWITCH)                                                          \
    X(SWITCH_TAG, BARE, MODEL_SWITCH)                                                      \
    X(SWITCH_HOOKED, OWNING, MODEL_SWITCH | MODEL_SIGNED)                                  \
    X(CLEAN, WORD, MODEL_CLEANUP)                                                          \
    X(CLEAN_TAG, BARE, MODEL_CLEANUP)                                                      \
    X(CLEAN_LINK, LINKED, MODEL_CLEANUP)                                                   \
    X(LIST, WORD, MODEL_BUFFER)                                                            \
    X(LINKS, LINKED, MODEL_BUFFER)                                                         \
    X(HOOKED_LIST, OWNING, MODEL_BUFFER | MODEL_SIGNED)                                    \
    X(SWITCH_LIST, WORD, MODEL_BUFFER | MODEL_SWITCH)                                      \
    X(CLEAN_LIST, WORD, MODEL_BUFFER | MODEL_CLEANUP)                                      \
    X(SHARE, WORD, MODEL_SHARED)                                                           \
    X(WIDE_SHARE, WIDE, MODEL_SHARED)                                                      \
    X(LINK_SHARE, LINKED, MODEL_SHARED)                                                    \
    X(OWNED_SHARE, LINKED, MODEL_SHARED)                                                   \
    X(CLEAN_SHARE, WORD, MODEL_SHARED | MODEL_CLEANUP)                                     \
    X(CHUNKED, WORD, MODEL_CHUNK)                                                          \
    X(CHUNK_LINK, LINKED, MODEL_CHUNK)                                                     \
    X(CLEAN_CHUNK, WORD, MODEL_CHUNK | MODEL_CLEANUP)                                      \
    X(SPARSE, WORD, MODEL_SPARSE)                                                          \
    X(SPARSE_LINK, LINKED, MODEL_SPARSE)                                                   \
    X(SPARSE_HOOKED, OWNING, MODEL_SPARSE | MODEL_SIGNED)                                  \
    X(SPARSE_TAG, BARE, MODEL_SPARSE)                                                      \
    X(NEEDY, WORD, 0)                                                                      \
    X(NEEDIER, BARE, 0)                                                                    \
    X(TAKER, WORD, MODEL_SWITCH)                                                           \
    X(TAKER_TAG, BARE, 0)                                                                  \
    X(SINGLE, WORD, MODEL_NOT_COPIED)                                                      \
    X(HIDDEN, WIDE, MODEL_NOT_HASHED)                                                      \
    X(NARROW, WORD, 0)                                                                     \
    X(LIKES, TARGET, MODEL_RELATION)                                                       \
    X(HOLDS, LINKED, MODEL_RELATION | MODEL_DIES_WITH | MODEL_ACYCLIC)                     \
    X(KEEPS, TARGET, MODEL_RELATION | MODEL_KEEPS_DEAD)                                    \
    X(PARENT, TARGET, MODEL_RELATION | MODEL_DIES_WITH | MODEL_ACYCLIC | MODEL_BY_DEPTH)   \
    X(DEPTH, WORD, MODEL_SHARED | MODEL_DEPTH)                                             \
    X(ORIGIN, TARGET, MODEL_RELATION | MODEL_ORIGIN)                                       \
    X(GROUP, TARGET, MODEL_BUFFER | MODEL_GROUP)                                           \
    X(PREFAB, BARE, MODEL_PREFAB)                                                          \
    X(INACTIVE, BARE, MODEL_INACTIVE)                                                      \
    X(SOLE, WORD, MODEL_RESOURCE)                                                          \
    X(SOLE_LIST, LINKED, MODEL_BUFFER | MODEL_RESOURCE)
/* clang-format on */

#define KIND_NAME(name, shape, flags) name,
enum { KINDS_OF(KIND_NAME) KINDS };
static_assert((int)KINDS <= (int)MODEL_KINDS, "a set of kinds is a word");

#define KIND_BIT(kind) (UINT64_C(1) << (kind))

/* The table for the model: constant, made at the first call. */
const model_kind *kinds_of_model(void);
kind_shape kind_shape_of(uint32_t kind);
/* "linked"; of bare ones "". */
const char *kind_c_type(uint32_t kind);

/* Predicates for everything_op.takes. */
bool kind_is_any(uint32_t kind);      /* that entities may have, and calls may give them */
bool kind_is_of_rows(uint32_t kind);  /* of these, in archetypes: not SPARSE */
bool kind_is_set(uint32_t kind);      /* weft_entity_set takes it: values and tags */
bool kind_has_value(uint32_t kind);   /* a plain value of fixed size, by weft_entity_read */
bool kind_has_column(uint32_t kind);  /* of these, in archetypes */
bool kind_is_buffer(uint32_t kind);   /* of entities */
bool kind_is_shared(uint32_t kind);   /* but for DEPTH */
bool kind_is_switch(uint32_t kind);   /* ENABLEABLE */
bool kind_is_tag(uint32_t kind);      /* of rows, without value */
bool kind_is_relation(uint32_t kind); /* its link is a target */
bool kind_is_chunk(uint32_t kind);
bool kind_is_sparse(uint32_t kind);
bool kind_is_resource(uint32_t kind);
bool kind_is_not(uint32_t kind); /* none: for operations that need no kind */

/* Registers all kinds in a world; *x_owned counts living values with hooks. False: one failed. */
bool kinds_register(weft_world *world, weft_a64 *x_owned, weft_component of[MODEL_KINDS]);
/* Constructs values with hooks: `user` is the count that kinds_register was given. */
void kind_construct(void *values, uint32_t count, void *user);
/* Values with hooks begin or end in the hands of a caller. */
void kind_own(uint32_t kind, weft_a64 *x_owned, int64_t count);
/* Prints the types, hooks and `static void kinds_register(void)` of the C program. */
void kinds_print(FILE *out);

#endif
