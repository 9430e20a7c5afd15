/* SPDX-License-Identifier: MIT */
/* relation_registry.h: declarations of relations as files, texts and transfers carry them: a word
 * per component. Owner, world idle. */
#pragma once

#include "component_type.h"

#include <weft/relation.h>

/* Bits of a word; 0: the component is no relation, else one of the first three. Files have them. */
enum {
    WEFT__RELATION_CLEARS = 1 << 0,
    WEFT__RELATION_DESTROYS = 1 << 1,
    WEFT__RELATION_KEEPS = 1 << 2,
    WEFT__RELATION_ACYCLIC = 1 << 3,
    WEFT__RELATION_BY_DEPTH = 1 << 4,
    WEFT__RELATION_BUILT_IN = 1 << 5, /* Parent or InstanceOf */
    WEFT__RELATION_BITS = 6
};

/* Words of the bits, for texts. */
extern const char *const weft__relation_words[WEFT__RELATION_BITS];

uint32_t weft__relation_word(const weft_world *world, weft_component component);
bool weft__relation_word_is_right(uint32_t word);
/* The word of a component that has the name and layout of a built-in relation, else 0: for files
 * that have no words. */
uint32_t weft__relation_word_built_in(const weft__type *type);
/* Declares what a word says, where the component is not declared yet and can be a relation. Errors:
 * those of weft_relation_declare. */
weft_result weft__relation_revive(weft_world *world, weft_component component, uint32_t word);
