/* users.c: the list of users.h and its lock, three words of a futex: who finds it held announces
 * itself, so that an uncontended lock makes no system call. */
#include "users.h"

#include <stdio.h>

#include "invariant.h"

void weft__users_lock(weft__pool_users *users)
{
    uint32_t state = 0;
    if (at_cas_ar(&users->x_lock, &state, 1u)) return; /* U1 */
    while (at_xchg_ar(&users->x_lock, 2u) != 0) {      /* U1 */
        users->os->futex_wait(users->os->user, &users->x_lock, 2);
    }
}

void weft__users_unlock(weft__pool_users *users)
{
    if (at_xchg_ar(&users->x_lock, 0u) != 2) return; /* U1 */
    users->os->futex_wake(users->os->user, &users->x_lock, 1);
}

void weft__users_add(weft__pool_users *users, weft__pool_user *user, const char *name)
{
    weft__users_lock(users);
    *user = (weft__pool_user){.name = name, .next = users->first};
    if (users->first != NULL) users->first->previous = user;
    users->first = user;
    users->count++;
    weft__users_unlock(users);
}

void weft__users_remove(weft__pool_users *users, weft__pool_user *user)
{
    weft__users_lock(users);
    WEFT_ASSERT(users->count != 0);
    if (user->previous != NULL)
        user->previous->next = user->next;
    else
        users->first = user->next;
    if (user->next != NULL) user->next->previous = user->previous;
    users->count--;
    weft__users_unlock(users);
}

uint32_t weft__users_describe(weft__pool_users *users, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    weft__users_lock(users);
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
    weft__users_unlock(users);
    return count;
}
