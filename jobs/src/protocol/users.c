/* SPDX-License-Identifier: MIT */
/* users.c: the list of users.h.
 *
 * Doubly linked through the users themselves, so that adding and removing neither allocates nor
 * searches. */
#include "users.h"
#include "invariant.h"

#include <stdio.h>

void weft__users_add(weft__pool_users *users, weft__pool_user *user, const char *name)
{
    weft__lock_lock(&users->lock);
    *user = (weft__pool_user){.name = name, .next = users->first};
    if (users->first != NULL) users->first->previous = user;
    users->first = user;
    users->count++;
    weft__lock_unlock(&users->lock);
}

void weft__users_remove(weft__pool_users *users, weft__pool_user *user)
{
    weft__lock_lock(&users->lock);
    WEFT_ASSERT(users->count != 0);
    if (user->previous != NULL)
        user->previous->next = user->next;
    else
        users->first = user->next;
    if (user->next != NULL) user->next->previous = user->previous;
    users->count--;
    weft__lock_unlock(&users->lock);
}

uint32_t weft__users_describe(weft__pool_users *users, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    weft__lock_lock(&users->lock);
    uint32_t count = users->count;
    for (const weft__pool_user *user = users->first; user != NULL; user = user->next) {
        int wanted =
            snprintf(text + used, capacity - used, "%s'%s'", used == 0 ? "" : ", ", user->name);
        if (wanted < 0 || (size_t)wanted >= capacity - used) {
            text[used] = '\0';
            break;
        }
        used += (size_t)wanted;
    }
    weft__lock_unlock(&users->lock);
    return count;
}
