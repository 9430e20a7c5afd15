/* SPDX-License-Identifier: MIT */
/* fall.c: a system in C for test_python.py: its functions are named by World.system_in_c. */
#include <weft/weft.h>

typedef struct Vector {
    float x, y, z;
} Vector;

void fall(weft_slice *s, void *user);
void fall(weft_slice *s, void *user)
{
    (void)user;
    Vector *v = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) v[i].y -= 10 * weft_slice_dt(s);
}

/* Calls the library that runs the world, not one of its own. */
void freeze(weft_slice *s, void *user);
void freeze(weft_slice *s, void *user)
{
    (void)user;
    weft_component frozen = weft_component_find(weft_slice_world(s), "Frozen");
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        (void)weft_recorder_add(weft_slice_recorder(s), entities[i], frozen);
}
