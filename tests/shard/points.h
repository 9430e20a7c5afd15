/* SPDX-License-Identifier: MIT */
/* points.h: what the points of the tests of refused shards have. */
#ifndef WEFT_TEST_POINTS_H
#define WEFT_TEST_POINTS_H

#include <weft/type.h>
#include <weft/weft.h>

typedef struct Place {
    float x, y;
} Place;
typedef struct Friend {
    weft_entity who;
} Friend;

static const weft_field friend_fields[] = {WEFT_FIELD(Friend, who)};

#endif
