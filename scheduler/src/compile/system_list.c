/* SPDX-License-Identifier: MIT */
/* system_list.c: WEFT_SYSTEMS=FOLDER writes FOLDER/systems-PROCESS-WORLD, a line per system each
 * time that the schedule is compiled:
 *
 *   system ADDRESS STAGE NAME    ADDRESS of the name, hexadecimal, as in markers and probes
 *
 * The last line of an address counts. A file that cannot be written is a warning, once. */
#include "system_list.h"

#include "ecs_engine.h"
#include "file_problem.h"
#include "log.h"
#include "os_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Owner: the scheduler. */
struct weft__system_list {
    const weft__os_files *files;
    weft__os_file file;
    bool is_open;
    char path[4096];
};

static const char *folder(void)
{
    const char *value = secure_getenv("WEFT_SYSTEMS"); /* not in set-uid programs */
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void fail(weft__scheduler *scheduler, weft__system_list *list, weft_result result,
                 const char *operation)
{
    weft__file_problem problem;
    weft__file_failed(&problem, result, operation, list->path);
    weft__log(&weft__world_desc(scheduler->world)->log, WEFT_LOG_WARNING,
              "WEFT_SYSTEMS: the list of systems is incomplete: %s", problem.text);
    if (list->is_open) list->files->close(list->files->user, list->file);
    list->is_open = false;
}

/* Once: what fails stays closed. */
static weft__system_list *list_of(weft__scheduler *scheduler)
{
    if (scheduler->system_list != NULL || folder() == NULL) return scheduler->system_list;
    weft__system_list *list =
        weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *list, 8);
    if (list == NULL) return NULL;
    scheduler->system_list = list;
    list->files = weft__os_files_of(weft__world_desc(scheduler->world)->os);
    snprintf(list->path, sizeof list->path, "%s/systems-%" PRIu32 "-%" PRIu32, folder(),
             weft__os_process(), weft__front(scheduler->world)->number);
    errno = 0;
    weft_result result = list->files->open_write(list->files->user, list->path, &list->file);
    list->is_open = result == WEFT_OK;
    if (result != WEFT_OK) fail(scheduler, list, result, "create");
    return list;
}

void weft__system_list_write(weft__scheduler *scheduler)
{
    weft__system_list *list = list_of(scheduler);
    for (uint32_t i = 0; list != NULL && list->is_open && i < scheduler->ordered_count; i++) {
        char line[WEFT__NAME_LIMIT + 64];
        const weft__system *system = scheduler->ordered[i];
        int length = snprintf(line, sizeof line, "system %" PRIxPTR " %" PRIu32 " %s\n",
                              (uintptr_t)system->name, system->stage, system->name);
        errno = 0;
        weft_result result =
            list->files->write(list->files->user, list->file, line, (size_t)length);
        if (result != WEFT_OK) fail(scheduler, list, result, "write");
    }
}

void weft__system_list_close(weft__scheduler *scheduler)
{
    weft__system_list *list = scheduler->system_list;
    if (list == NULL) return;
    if (list->is_open) list->files->close(list->files->user, list->file);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, list, 1, sizeof *list, 8);
}
