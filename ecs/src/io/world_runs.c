/* SPDX-License-Identifier: MIT */
/* world_runs.c: see world_runs.h. The scheduler's part is its weft__extension (world_front.h): io
 * knows no systems. Runs that wait for a system or group are written again, so that a program
 * without systems, as weft dump, loses none. */
#include "world_runs.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_OTHER

void weft__run_list_add(weft__run_list *list, const weft__kept_run *run)
{
    bool is_added = WEFT__LIST_APPEND(&list->world->memory, CATEGORY, list, run, 1);
    list->is_out_of_memory |= !is_added;
}

void weft__run_list_free(weft__run_list *list)
{
    WEFT__LIST_FREE(&list->world->memory, CATEGORY, list);
    list->is_out_of_memory = false;
}

static void add(void *list, const weft__kept_run *run)
{
    weft__run_list_add(list, run);
}

static int compare(const void *a, const void *b)
{
    const weft__kept_run *left = a, *right = b;
    if (left->is_group != right->is_group) return left->is_group ? -1 : 1;
    return strcmp(left->name, right->name);
}

void weft__run_list_collect(weft__run_list *list)
{
    const weft__world_front *front = &list->world->front;
    const weft__extension *scheduler = &front->extensions[WEFT__EXTENSION_SCHEDULER];
    if (scheduler->data != NULL) scheduler->runs_visit(scheduler->data, add, list);
    for (uint32_t i = 0; i < front->run_count; i++)
        if (front->runs[i].name[0] != '\0') weft__run_list_add(list, &front->runs[i]);
    if (list->count != 0) qsort(list->at, list->count, sizeof *list->at, compare);
}

const char *weft__run_problem(const weft__kept_run *run)
{
    if (run->name[0] == '\0') return "a system or group without a name";
    bool is_right = run->elapsed >= 0 && run->elapsed <= DBL_MAX && run->timer <= DBL_MAX &&
                    (run->timer >= 0 || run->timer == -1);
    return is_right ? NULL : "a time left of a system or group that is no time";
}

void weft__run_list_give(weft__run_list *list)
{
    weft__world_front *front = &list->world->front;
    const weft__extension *scheduler = &front->extensions[WEFT__EXTENSION_SCHEDULER];
    weft__list_free(&list->world->memory, CATEGORY, front->runs, front->run_capacity,
                    sizeof *front->runs);
    front->runs = list->at;
    front->run_count = list->count;
    front->run_capacity = list->capacity;
    *list = (weft__run_list){.world = list->world};
    if (scheduler->data != NULL) scheduler->runs_take(scheduler->data);
}
