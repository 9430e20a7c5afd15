/* SPDX-License-Identifier: MIT */
/* same.h: what same_c.c and same_cpp.cpp both are: a world with three systems. */
#ifndef WEFT_TEST_SAME_H
#define WEFT_TEST_SAME_H

#include <weft/weft.h>

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
typedef struct Radius {
    float metres;
} Radius;
typedef struct Health {
    float points;
} Health;

#ifdef __cplusplus
extern "C"
#endif
    weft_world *
    same_create(void); /* the components by these names, and the systems */

#endif
