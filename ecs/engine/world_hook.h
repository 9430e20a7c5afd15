/* SPDX-License-Identifier: MIT */
/* world_hook.h: calling the hooks of a world (weft_world_hook).
 *
 * See world_hook.c. Owner, world idle. */
#ifndef WEFT_WORLD_HOOK_H
#define WEFT_WORLD_HOOK_H

#include "atomic.h"
#include "world_front.h"

/* Whether there is something to call, and it wants to be called now. */
static inline bool weft__hook_is_wanted(const weft_world_hook *hook)
{
    const weft_a32 *word = (const void *)hook->asks;
    if (hook->stepped == NULL) return false;
    /* relaxed: a hint; what it stands for is handed over elsewhere */
    return word == NULL || at_load_rlx(word) != 0;
}

/* Whether a hook wants to be called now: inline, because a step asks each time. */
static inline bool weft__world_is_asked(const weft_world *world)
{
    for (const weft_world_hook *hook = weft__front(world)->hooks; hook != NULL; hook = hook->next)
        if (weft__hook_is_wanted(hook)) return true;
    return false;
}

/* At the end of a step, where a hook wants it. The world's error stays as it is. */
void weft__world_stepped(weft_world *world);
/* The world is about to be destroyed: each is told, and removed. */
void weft__world_ended(weft_world *world);

#endif
