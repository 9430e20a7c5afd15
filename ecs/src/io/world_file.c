/* SPDX-License-Identifier: MIT */
/* world_file.c: weft_world_save, weft_world_load and their forms for memory: the bytes
 * of world_file_write.c and world_file_read.c to and from where they are kept. */
#include "blob_type.h"
#include "file_replace.h"
#include "sized.h"
#include "world_file_read.h"

#include <stdio.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* ---- save ---- */

/* `is_given`: whatever the bytes go to is there. */
static weft_result save(weft_world *world, bool is_given, const weft_save_desc *desc,
                        const char *what, weft_world_bytes *out)
{
    static const weft_save_desc everything;
    if (desc == NULL) desc = &everything;
    if (!is_given || (desc->without_count != 0 && desc->without == NULL))
        return weft__error_argument(world, what,
                                    "path or out is NULL, or desc->without is NULL but its "
                                    "count is not 0: set them");
    weft_result result = weft__between_steps(world, what); /* in one, timers are on their way */
    if (result == WEFT_OK) result = weft__lent_refuse(world, what);
    if (result != WEFT_OK) return result;
    weft__callback_begin(world); /* save hooks */
    result = weft__world_write(world, desc, out);
    weft__callback_end(world);
    return result;
}

/* The reason of the system, and what to do about files of another kind. */
static weft_result file_error(const weft_world *world, weft_result result, const char *what,
                              const weft__file_problem *problem)
{
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", what,
                       problem->text);
}

weft_result weft_world_save(weft_world *world, const char *path, const weft_save_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_world_bytes bytes;
    weft__file_problem problem;
    weft_result result = save(world, path != NULL, desc, "weft_world_save", &bytes);
    if (result != WEFT_OK) return result;
    weft__file_piece piece = {bytes.bytes, bytes.count};
    result = weft__file_replace(world->desc.os, path, &piece, 1, &problem);
    weft_world_bytes_free(world, &bytes);
    return result == WEFT_OK ? WEFT_OK : file_error(world, result, "weft_world_save", &problem);
}

weft_result weft_world_save_memory(weft_world *world, weft_world_bytes *out,
                                   const weft_save_desc *desc)
{
    if (out != NULL) *out = (weft_world_bytes){0};
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    return save(world, out != NULL, desc, "weft_world_save_memory", out);
}

/* ---- load ---- */

static const weft_load_desc no_blobs;

/* What can be refused before a byte is read. */
static weft_result load_begin(weft_world *world, bool is_given, const weft_load_desc *desc,
                              const char *what)
{
    if (!weft__load_report_is_given(desc->report, desc->report_bytes))
        return weft__error_argument(world, what,
                                    "desc->report_bytes is 0: give sizeof *desc->report");
    if (!is_given || (desc->blob_type_count != 0 && desc->blob_types == NULL))
        return weft__error_argument(world, what,
                                    "path or bytes is NULL, or desc->blob_types is NULL "
                                    "but its count is not 0: set them");
    bool is_right = (desc->rename_count == 0 || desc->renames != NULL) &&
                    (desc->migration_count == 0 || desc->migrations != NULL);
    for (uint32_t i = 0; i < desc->rename_count && is_right; i++)
        is_right = desc->renames[i].type != NULL && desc->renames[i].to != NULL;
    for (uint32_t i = 0; i < desc->migration_count && is_right; i++)
        is_right = desc->migrations[i].type != NULL && desc->migrations[i].migrate != NULL;
    if (!is_right)
        return weft__error_argument(world, what,
                                    "a rename of desc lacks type or to, a migration type or "
                                    "migrate, or a list is NULL but its count is not 0: set them");
    return weft__between_steps(world, what);
}

static weft_result size_check(const weft_world *world, const weft_load_desc *desc, uint64_t bytes,
                              const char *what, weft_load_report *report)
{
    if (desc->bytes_max == 0 || bytes <= desc->bytes_max) return WEFT_OK;
    report->found = bytes;
    report->expected = desc->bytes_max;
    return weft__error(
        world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "%s: %llu bytes, weft_load_desc.bytes_max allows %llu: raise it if the source is trusted",
        what, (unsigned long long)bytes, (unsigned long long)desc->bytes_max);
}

/* What happened to the caller's report. Returns `result`. */
static weft_result report_give(const weft_world *world, const weft_load_desc *desc,
                               weft_load_report *report, weft_result result)
{
    if (desc->report == NULL) return result;
    if (report->reason == WEFT_LOAD_NOT_REFUSED) report->reason = weft__load_reason(result);
    report->result = result;
    const char *text = "";
    if (result != WEFT_OK)
        text = world == NULL || result == WEFT_BUSY ? weft_result_text(result)
                                                    : weft_world_error(world)->text;
    snprintf(report->text, sizeof report->text, "%s", text);
    weft__sized_fill(desc->report, desc->report_bytes, report, sizeof *report);
    return result;
}

static weft_result load_path(weft_world *world, const char *path, const weft_load_desc *desc,
                             weft_load_report *report)
{
    static const char what[] = "weft_world_load";
    weft__file_source source;
    char *bytes = NULL;
    weft_result result = load_begin(world, path != NULL, desc, what);
    if (result != WEFT_OK) return result;
    result = weft__file_open(world->desc.os, path, &source);
    if (result != WEFT_OK) return file_error(world, result, what, &source.problem);
    const size_t count = source.bytes;
    result = size_check(world, desc, count, what, report);
    if (result == WEFT_OK) bytes = weft__alloc(&world->memory, CATEGORY, count + 1, 1, 16);
    if (result == WEFT_OK && bytes == NULL) result = weft__error_memory(world, what);
    if (bytes != NULL && (result = weft__file_read(&source, bytes, count, 0)) != WEFT_OK)
        file_error(world, result, what, &source.problem);
    if (result == WEFT_OK) result = weft__world_read(world, bytes, count, desc, true, report);
    weft__free(&world->memory, CATEGORY, bytes, count + 1, 1, 16);
    weft__file_close(&source);
    return result;
}

weft_result weft_world_load(weft_world *world, const char *path, const weft_load_desc *desc)
{
    weft_load_report report = {0};
    if (desc == NULL) desc = &no_blobs;
    weft_result result =
        world == NULL ? WEFT_INVALID_ARGUMENT : load_path(world, path, desc, &report);
    return report_give(world, desc, &report, result);
}

static weft_result load_bytes(weft_world *world, const void *bytes, size_t count,
                              const weft_load_desc *desc, weft_load_report *report)
{
    static const char what[] = "weft_world_load_memory";
    weft_result result = load_begin(world, bytes != NULL || count == 0, desc, what);
    if (result == WEFT_OK) result = size_check(world, desc, count, what, report);
    if (result != WEFT_OK) return result;
    return weft__world_read(world, bytes == NULL ? "" : bytes, count, desc, true, report);
}

weft_result weft_world_load_memory(weft_world *world, const void *bytes, size_t count,
                                   const weft_load_desc *desc)
{
    weft_load_report report = {0};
    if (desc == NULL) desc = &no_blobs;
    weft_result result =
        world == NULL ? WEFT_INVALID_ARGUMENT : load_bytes(world, bytes, count, desc, &report);
    return report_give(world, desc, &report, result);
}
