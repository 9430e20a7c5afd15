/* SPDX-License-Identifier: MIT */
/* worlds.c: one list for the process, under a lock that is held for as long as names are copied.
 * Worlds that run on different threads are in it; it holds copies of what it tells, and looks into
 * no world. */
#include "worlds.h"

#include "error.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft__world_place *first; /* guarded by lock */

const char *weft__world_name(const weft_world *world)
{
    return weft__front(world)->host.tenancy.name;
}

void weft__worlds_add(weft__world_place *place, const weft_world *world)
{
    snprintf(place->name, sizeof place->name, "%s", weft__world_name(world));
    pthread_mutex_lock(&lock);
    weft__world_place **last = &first;
    while (*last != NULL) last = &(*last)->next;
    *last = place;
    pthread_mutex_unlock(&lock);
}

void weft__worlds_remove(weft__world_place *place)
{
    pthread_mutex_lock(&lock);
    weft__world_place **at = &first;
    while (*at != NULL && *at != place) at = &(*at)->next;
    if (*at != NULL) *at = place->next;
    pthread_mutex_unlock(&lock);
}

void weft__worlds_write(const weft__world_place *own, weft__wire *out)
{
    weft__wire_open(out, "worlds", '[');
    pthread_mutex_lock(&lock);
    for (const weft__world_place *at = first; at != NULL; at = at->next) {
        if (strcmp(at->token, own->token) != 0) continue;
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", at->name);
        weft__wire_count(out, "port", at->port);
        weft__wire_close(out, '}');
    }
    pthread_mutex_unlock(&lock);
    weft__wire_close(out, ']');
}
