/* SPDX-License-Identifier: MIT */
/* blob_file.c: blobs from and to files and foreign bytes. The file is the block. Everything that
 * comes in is checked against its type first; sizes are checked against the file before memory is
 * taken. */
#include "blob_store.h"
#include "blob_type.h"
#include "blob_validate.h"
#include "file_replace.h"
#include "sized.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Type, the file it is read from, and why it is refused. On the stack of weft_blob_load. */
typedef struct loading {
    weft_blob_store *store;
    weft__file_source source;
    weft__blob_plan plan;
    weft_load_report report;
} loading;

weft_result weft_blob_save(weft_blob_store *store, weft_blob_ref ref, const char *path)
{
    if (store == NULL || path == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__blob_header *header = weft__blob_store_block(store, ref);
    if (header == NULL) return WEFT_BAD_HANDLE;
    weft__file_piece piece = {header, header->total_bytes};
    weft__file_problem problem;
    weft_result result = weft__file_replace(store->os, path, &piece, 1, &problem);
    return result == WEFT_OK
               ? WEFT_OK
               : weft__blob_store_fail(store, result, path, "weft_blob_save: %s", problem.text);
}

/* Header and size, before anything is allocated. */
static weft_result check_start(loading *l)
{
    weft__blob_header header;
    weft_result result = weft__blob_check_size(l->source.bytes, &l->report);
    if (result == WEFT_OK) result = weft__file_read(&l->source, &header, sizeof header, 0);
    if (result != WEFT_OK) return result;
    return weft__blob_check_header(&header, l->source.bytes, &l->plan, &l->report);
}

static weft_result fetch(loading *l, uint32_t mode, weft__blob_block *block)
{
    if (mode != WEFT_BLOB_LOAD) {
        *block = (weft__blob_block){.reserved_bytes = l->source.bytes, .backing = BLOB_MAPPED};
        errno = 0;
        weft_result mapped = l->source.files->map(l->source.files->user, l->source.file,
                                                  l->source.bytes, &block->memory);
        return mapped == WEFT_OK
                   ? WEFT_OK
                   : weft__file_failed(&l->source.problem, mapped, "map", l->source.path);
    }
    weft_result result = weft__blob_block_create(l->store, l->source.bytes, block);
    if (result != WEFT_OK) return result;
    return weft__file_read(&l->source, block->memory, l->source.bytes, 0);
}

static weft_result load_open_file(loading *l, const weft_blob_type *type, uint32_t mode,
                                  weft_blob_ref *out)
{
    weft__blob_block block = {0};
    weft_result result = check_start(l);
    if (result == WEFT_OK) result = fetch(l, mode, &block);
    /* The file may have changed since check_start: what was fetched is checked, not what was seen.
     */
    if (result == WEFT_OK && mode == WEFT_BLOB_MAP_TRUSTED)
        result = weft__blob_check_header(block.memory, l->source.bytes, &l->plan, &l->report);
    else if (result == WEFT_OK)
        result = weft__blob_check(block.memory, l->source.bytes, &l->plan, true, &l->report);
    if (result == WEFT_OK) result = weft__blob_store_insert(l->store, &block, type, out);
    if (result != WEFT_OK) weft__blob_block_destroy(l->store, &block);
    return result;
}

/* The caller's report: the one that was made on the way, or what the file or the result says. */
static weft_result report_give(const weft_blob_load_desc *desc, weft_load_report *found,
                               const char *file_problem, weft_result result)
{
    if (desc == NULL || desc->report == NULL) return result;
    if (found->reason == WEFT_LOAD_NOT_REFUSED) found->reason = weft__load_reason(result);
    if (file_problem[0] != '\0') {
        found->reason = WEFT_LOAD_SOURCE;
        snprintf(found->text, sizeof found->text, "%s", file_problem);
    }
    if (result != WEFT_OK && found->text[0] == '\0')
        snprintf(found->text, sizeof found->text, "%s", weft_result_text(result));
    found->result = result;
    weft__sized_fill(desc->report, desc->report_bytes, found, sizeof *found);
    return result;
}

static bool desc_is_given(const weft_blob_load_desc *desc)
{
    return desc != NULL && desc->mode <= WEFT_BLOB_MAP_TRUSTED &&
           weft__load_report_is_given(desc->report, desc->report_bytes);
}

weft_result weft_blob_load(weft_blob_store *store, const char *path,
                           const weft_blob_load_desc *desc, weft_blob_ref *out)
{
    loading l = {.store = store};
    if (out != NULL) out->id = 0;
    if (store == NULL || path == NULL || out == NULL || !desc_is_given(desc))
        return report_give(desc, &l.report, "", WEFT_INVALID_ARGUMENT);
    weft_result result = weft__blob_plan_report(&l.plan, desc->type, &l.report);
    if (result == WEFT_OK) result = weft__file_open(store->os, path, &l.source);
    if (result == WEFT_OK) {
        result = load_open_file(&l, desc->type, desc->mode, out);
        weft__file_close(&l.source);
    }
    return report_give(desc, &l.report, l.source.problem.text, result);
}

static weft_result adopt(weft_blob_store *store, const void *block, uint64_t bytes,
                         const weft_blob_type *type, weft_load_report *report, weft_blob_ref *out)
{
    weft__blob_plan plan;
    weft__blob_block copy = {0};
    weft_result result = weft__blob_plan_report(&plan, type, report);
    if (result == WEFT_OK) result = weft__blob_check_size(bytes, report);
    if (result == WEFT_OK) result = weft__blob_block_create(store, bytes, &copy);
    if (result != WEFT_OK) return result;
    memcpy(copy.memory, block, bytes);
    result = weft__blob_check(copy.memory, bytes, &plan, true, report);
    if (result == WEFT_OK) result = weft__blob_store_insert(store, &copy, type, out);
    if (result != WEFT_OK) weft__blob_block_destroy(store, &copy);
    return result;
}

weft_result weft_blob_adopt(weft_blob_store *store, const void *block, uint64_t bytes,
                            const weft_blob_load_desc *desc, weft_blob_ref *out)
{
    weft_load_report report = {0};
    if (out != NULL) out->id = 0;
    weft_result result = WEFT_INVALID_ARGUMENT;
    if (store != NULL && block != NULL && out != NULL && desc_is_given(desc))
        result = adopt(store, block, bytes, desc->type, &report, out);
    return report_give(desc, &report, "", result);
}
