/* SPDX-License-Identifier: MIT */
/* fold_transitions.c: known transitions by open addressing. After the first frames nothing is
 * missed. */
#include "fold_transitions.h"

#include "scratch.h"

#include <string.h>

/* A known transition; key 0 = free slot. A value. */
typedef struct transition {
    uint64_t key; /* archetype id << 33 | component << 1 | is_remove */
    weft__archetype *to;
} transition;

/* Known transitions by open addressing; owned by the world's scratch, written by the owner between
 * parallel steps, read by workers in them. */
struct weft__transitions {
    transition *slots;
    uint32_t mask;
    uint32_t count;
    uint32_t is_second;     /* which of the two scratch slots holds `slots` */
    uint64_t order_version; /* the world's: in another order, all are asked for again */
};

#define FIRST_TRANSITIONS 256u

weft__archetype *weft__transition_find(const weft__transitions *table, uint64_t key)
{
    for (uint32_t i = (uint32_t)hash_word(0, key) & table->mask;; i = (i + 1) & table->mask) {
        if (table->slots[i].key == key) return table->slots[i].to;
        if (table->slots[i].key == 0) return NULL;
    }
}

void weft__transition_put(weft__transitions *table, uint64_t key, weft__archetype *to)
{
    uint32_t i = (uint32_t)hash_word(0, key) & table->mask;
    while (table->slots[i].key != 0 && table->slots[i].key != key) i = (i + 1) & table->mask;
    if (table->slots[i].key == 0) table->count++;
    table->slots[i] = (transition){key, to};
}

/* It grows from one scratch slot into the other. */
weft__transitions *weft__transitions_obtain(weft_world *world)
{
    weft__transitions *table = weft__scratch_kept(world, WEFT__SCRATCH_TRANSITIONS, sizeof *table);
    if (table == NULL) return NULL;
    if (table->slots != NULL && table->order_version != world->archetypes.order_version) {
        memset(table->slots, 0, (table->mask + (size_t)1) * sizeof table->slots[0]);
        table->count = 0;
    }
    table->order_version = world->archetypes.order_version;
    if (table->slots != NULL && table->count * 2 <= table->mask) return table;
    uint32_t capacity = table->slots == NULL ? FIRST_TRANSITIONS : (table->mask + 1) * 2;
    weft__transitions grown = {.mask = capacity - 1,
                               .is_second = !table->is_second,
                               .order_version = world->archetypes.order_version};
    grown.slots = weft__scratch_take(
        world, grown.is_second ? WEFT__SCRATCH_TRANSITION_SECOND : WEFT__SCRATCH_TRANSITION_FIRST,
        capacity, sizeof grown.slots[0]);
    if (grown.slots == NULL) return NULL;
    memset(grown.slots, 0, capacity * sizeof grown.slots[0]);
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++)
        if (table->slots[i].key != 0)
            weft__transition_put(&grown, table->slots[i].key, table->slots[i].to);
    *table = grown;
    return table;
}

const weft__transitions *weft__transitions_known(weft_world *world)
{
    return weft__scratch_kept(world, WEFT__SCRATCH_TRANSITIONS, sizeof(weft__transitions));
}
