/* SPDX-License-Identifier: MIT */
/* world_hook.c: hooks of a world: a list in the memory of those who add them. A hook may remove
 * any of them while it is called, and add some, which are called from the next step on. What fails
 * in a hook goes to an error record of its own, so that the error of the step stays. */
#include "world_hook.h"

#include "error.h"
#include "world_state.h"

#include <string.h>

weft_result weft_world_hook_add(weft_world *world, weft_world_hook *hook)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_world_hook_add");
    if (result == WEFT_OK && world->front.is_ending)
        result = weft__error_told(world, "weft_world_hook_add");
    if (result != WEFT_OK) return result;
    if (hook == NULL)
        return weft__error_argument(world, "weft_world_hook_add",
                                    "hook is NULL: give the address of a weft_world_hook that "
                                    "stays until it is removed");
    if (world->hook_error == NULL)
        world->hook_error = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_OTHER, 1,
                                               sizeof(weft_error), _Alignof(weft_error));
    if (world->hook_error == NULL) return weft__error_memory(world, "weft_world_hook_add");
    weft_world_hook **link = &world->front.hooks;
    while (*link != NULL && *link != hook) link = &(*link)->next;
    if (*link == hook)
        return weft__error_argument(world, "weft_world_hook_add",
                                    "the hook was added before: remove it first, or give another");
    hook->next = NULL;
    *link = hook;
    if (world->front.is_told && world->front.hook_new == NULL) world->front.hook_new = hook;
    return WEFT_OK;
}

weft_result weft_world_hook_remove(weft_world *world, weft_world_hook *hook)
{
    if (world == NULL || hook == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_world_hook_remove");
    if (result != WEFT_OK) return result;
    weft_world_hook **link = &world->front.hooks;
    while (*link != NULL && *link != hook) link = &(*link)->next;
    if (*link == NULL) return WEFT_NOT_FOUND;
    *link = hook->next;
    if (world->front.hook_next == hook) world->front.hook_next = hook->next;
    if (world->front.hook_new == hook) world->front.hook_new = hook->next;
    return WEFT_OK;
}

const weft_world_hook *weft_world_hook_find(const weft_world *world, const char *name)
{
    if (world == NULL || name == NULL) return NULL;
    const weft_world_hook *hook = world->front.hooks;
    while (hook != NULL && (hook->name == NULL || strcmp(hook->name, name) != 0)) hook = hook->next;
    return hook;
}

void weft__world_stepped(weft_world *world)
{
    world->front.is_told = true;
    world->front.hook_new = NULL;
    for (weft_world_hook *hook = world->front.hooks; hook != NULL && hook != world->front.hook_new;
         hook = world->front.hook_next) {
        world->front.hook_next = hook->next;
        if (!weft__hook_is_wanted(hook)) continue;
        weft_error *of_step = world->error;
        world->error = world->hook_error;
        hook->stepped(world, hook->user);
        world->error = of_step;
    }
    world->front.is_told = false;
}

void weft__world_ended(weft_world *world)
{
    for (weft_world_hook *hook; (hook = world->front.hooks) != NULL;) {
        world->front.hooks = hook->next;
        if (hook->ended != NULL) hook->ended(world, hook->user);
    }
}
