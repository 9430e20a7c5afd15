/* SPDX-License-Identifier: MIT */
/* live_told.c: what tools ask of live links that they did not start: a list of those of the
 * process under a lock of its own, because worlds have different owners, and the last conflicts as
 * text, because what a conflict points to lives as long as the call that tells it. */
#include "live_told.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- which there are ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static weft_live *list; /* guarded by list_lock; in order of their start */

void weft__live_list_add(weft_live *live)
{
    pthread_mutex_lock(&list_lock);
    weft_live **link = &list;
    while (*link != NULL) link = &(*link)->next_link;
    *link = live;
    pthread_mutex_unlock(&list_lock);
}

void weft__live_list_remove(weft_live *live)
{
    pthread_mutex_lock(&list_lock);
    weft_live **link = &list;
    while (*link != NULL && *link != live) link = &(*link)->next_link;
    if (*link != NULL) *link = live->next_link;
    pthread_mutex_unlock(&list_lock);
}

uint32_t weft_live_list(const weft_world *world, weft_live **out, uint32_t capacity)
{
    uint32_t count = 0;
    pthread_mutex_lock(&list_lock);
    for (weft_live *live = list; live != NULL; live = live->next_link) {
        if (live->world != world) continue;
        if (out != NULL && count < capacity) out[count] = live;
        count++;
    }
    pthread_mutex_unlock(&list_lock);
    return count;
}

const char *weft_live_document(const weft_live *live, uint32_t index)
{
    return live == NULL || index >= live->desc.path_count ? NULL : live->paths[index];
}

/* ---- conflicts ---- */

/* How much of a text is told. */
static int cut(const char *text, size_t most)
{
    return (int)weft__utf8_cut(text, strlen(text), most);
}

void weft__live_conflict_keep(weft_live *live, const weft_live_conflict *conflict)
{
    static const char *const what[] = {
        [WEFT_LIVE_FIELD] = "the run and the document have changed it",
        [WEFT_LIVE_ADDED] = "the run and the document have added it",
        [WEFT_LIVE_REMOVED] = "the run has removed what the document has changed",
        [WEFT_LIVE_CHANGED] = "the run has changed what the document has removed",
        [WEFT_LIVE_DESTROYED] = "the run has destroyed the entity that the document has changed",
    };
    char *text = live->conflicts[live->conflict_count++ % WEFT__CONFLICTS_KEPT];
    const char *component = conflict->component == NULL ? "" : conflict->component;
    const char *field = conflict->field == NULL ? "" : conflict->field;
    snprintf(text, sizeof live->conflicts[0], "%.*s%s%.*s%s%.*s: %s; %s", cut(conflict->path, 60),
             conflict->path, *component == '\0' ? "" : ".", cut(component, 30), component,
             *field == '\0' ? "" : ".", cut(field, 24), field, what[conflict->kind],
             conflict->is_taken ? "the document's value came" : "the world stays as it is");
}

const char *weft_live_conflict_text(const weft_live *live, uint32_t index)
{
    if (live == NULL || index >= live->conflict_count || index >= WEFT__CONFLICTS_KEPT) return NULL;
    return live->conflicts[(live->conflict_count - 1 - index) % WEFT__CONFLICTS_KEPT];
}

/* ---- objects ---- */

size_t weft_live_explain(weft_live *live, const char *path, bool is_json, char *text,
                         size_t capacity)
{
    if (live == NULL || pthread_mutex_trylock(&live->lock) != 0) return 0; /* it bakes: not now */
    size_t length = weft_scene_explain(live->scene, path, is_json, text, capacity);
    pthread_mutex_unlock(&live->lock);
    return length;
}
