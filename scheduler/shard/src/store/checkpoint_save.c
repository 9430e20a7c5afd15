/* SPDX-License-Identifier: MIT */
/* checkpoint_save.c: weft_shard_save.
 *
 * Every rank makes the sections of its sectors; one sum over ranks makes the table of all known to
 * all, and prefix sums of it the offsets. Each rank writes at its offsets into "PATH.partial"; when
 * all have written and synced, rank 0 renames it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint_format.h"
#include "hash.h"
#include "os_file.h"
#include "ranks_error.h"
#include "sector_move.h"
#include "sector_rows.h"
#include "world_front.h"

/* Memory of one save. */
typedef struct saving {
    weft_shard *shard;
    const weft__os_files *files;
    const char *path;
    char place[PATH_MAX]; /* of the file that is replaced: behind a symbolic link */
    char partial[PATH_MAX + 16];
    weft__checkpoint_sector *table; /* [sectors] */
    weft__bytes front;              /* head, components, table: rank 0 */
    weft__bytes sections;           /* of this rank, by sector */
    int file;
} saving;

static weft_result io_failed(const saving *s, const char *what, const char *path)
{
    return weft__ranks_fail(WEFT_IO, "%s %s on rank %u: %s; the earlier checkpoint is as it was",
                            what, path, s->shard->map.rank, strerror(errno));
}

/* Anything but a regular file would be lost, not replaced. */
static weft_result find_place(saving *s)
{
    weft__os_kind kind;
    s->files = weft__os_files_of(weft__os_default());
    if (s->files->locate(s->files->user, s->path, s->place, sizeof s->place, &kind) != WEFT_OK)
        return io_failed(s, "writing", s->path);
    if (kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        return weft__ranks_fail(WEFT_IO, "%s is not a regular file: name another path", s->path);
    (void)snprintf(s->partial, sizeof s->partial, "%s.partial", s->place);
    return WEFT_OK;
}

/* ---- what is written ---- */

static weft_result make_sections(saving *s)
{
    weft__sector_rows rows = {0};
    weft_result result = weft__sector_rows_collect(s->shard, &rows);
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        end = weft__sector_rows_group(&rows, begin);
        const uint64_t before = s->sections.count;
        result = weft__sector_rows_write(s->shard, &rows, begin, end, &s->sections);
        s->table[rows.runs[begin].sector].bytes += s->sections.count - before;
    }
    weft__sector_rows_free(&rows);
    uint64_t at = 0;
    for (uint32_t sector = 0; sector < s->shard->map.count; sector++) {
        if (!weft__sector_is_mine(s->shard, sector)) continue;
        weft__checkpoint_sector *entry = &s->table[sector];
        entry->counter = s->shard->counters[sector];
        entry->hash = hash_bytes(0, s->sections.at + at, entry->bytes);
        at += entry->bytes;
    }
    return result;
}

/* Components by registration. */
static bool make_components(saving *s, uint64_t *count)
{
    weft_world *world = s->shard->world;
    bool is_done = true;
    *count = 0;
    for (uint32_t id = 1; is_done; id++) {
        const weft_component component = weft__component(world, id);
        const weft_component_desc *desc = weft_component_info(world, component);
        if (desc == NULL) break;
        const uint64_t bytes = strlen(desc->name);
        is_done = weft__bytes_word(&s->front, weft_component_hash(world, component)) &&
                  weft__bytes_word(&s->front, bytes) &&
                  weft__bytes_put(&s->front, desc->name, bytes);
        (*count)++;
    }
    return is_done;
}

/* Head, components and table with offsets; the same on every rank. */
static weft_result make_front(saving *s)
{
    weft__checkpoint_head head = {.magic = WEFT__CHECKPOINT_MAGIC,
                                  .version = WEFT__CHECKPOINT_VERSION,
                                  .seed = s->shard->seed,
                                  .tick = s->shard->tick,
                                  .sectors = s->shard->map.count};
    const uint64_t table_bytes = head.sectors * sizeof *s->table;
    if (!weft__bytes_put(&s->front, &head, sizeof head) || !make_components(s, &head.components))
        return weft__ranks_no_memory();
    head.component_bytes = s->front.count - sizeof head;
    uint64_t offset = s->front.count + table_bytes;
    for (uint32_t sector = 0; sector < s->shard->map.count; sector++) {
        s->table[sector].offset = offset;
        offset += s->table[sector].bytes;
    }
    if (!weft__bytes_put(&s->front, s->table, table_bytes)) return weft__ranks_no_memory();
    const uint64_t start = hash_bytes(0, &head, sizeof head);
    head.hash = hash_bytes(start, s->front.at + sizeof head, s->front.count - sizeof head);
    memcpy(s->front.at, &head, sizeof head);
    return WEFT_OK;
}

/* ---- writing ---- */

static weft_result write_at(saving *s, const void *bytes, uint64_t count, uint64_t offset)
{
    const char *from = bytes;
    while (count != 0) {
        const size_t piece = count < (1u << 30) ? (size_t)count : (size_t)(1u << 30);
        const ssize_t done = pwrite(s->file, from, piece, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return io_failed(s, "writing", s->partial);
        from += done;
        offset += (uint64_t)done;
        count -= (uint64_t)done;
    }
    return WEFT_OK;
}

/* Sectors that follow each other in the file go at once. */
static weft_result write_sections(saving *s)
{
    weft_result result = WEFT_OK;
    uint64_t at = 0;
    for (uint32_t begin = 0, end; begin < s->shard->map.count && result == WEFT_OK; begin = end) {
        uint64_t bytes = 0;
        for (end = begin; end < s->shard->map.count; end++) {
            if (!weft__sector_is_mine(s->shard, end)) break;
            bytes += s->table[end].bytes;
        }
        if (end == begin) end++;
        result = write_at(s, s->sections.at + at, bytes, s->table[begin].offset);
        at += bytes;
    }
    return result;
}

static weft_result open_partial(saving *s, int flags)
{
    do s->file = open(s->partial, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    while (s->file < 0 && errno == EINTR);
    return s->file >= 0 ? WEFT_OK : io_failed(s, "opening", s->partial);
}

static weft_result write_file(saving *s)
{
    const bool is_first = s->shard->map.rank == 0;
    weft_result result = WEFT_OK;
    if (is_first) result = open_partial(s, O_CREAT | O_TRUNC);
    result = weft_ranks_agree(result); /* the others open what rank 0 has made */
    if (result != WEFT_OK) return result;
    if (!is_first) result = open_partial(s, 0);
    if (result == WEFT_OK && is_first) result = write_at(s, s->front.at, s->front.count, 0);
    if (result == WEFT_OK) result = write_sections(s);
    if (result == WEFT_OK && s->files->sync(s->files->user, (weft__os_file){s->file}) != WEFT_OK)
        result = io_failed(s, "syncing", s->partial);
    return weft_ranks_agree(result);
}

/* Rank 0: the new file takes the place of the earlier one. */
static weft_result put_in_place(saving *s)
{
    const weft__os_files *files = s->files;
    if (files->rename(files->user, s->partial, s->place) != WEFT_OK) {
        const weft_result result = io_failed(s, "renaming", s->partial);
        files->remove(files->user, s->partial);
        return result;
    }
    if (files->sync_directory(files->user, s->place) == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(WEFT_IO,
                            "syncing the folder of %s: %s; the new checkpoint is in place, "
                            "perhaps not durably: save again",
                            s->place, strerror(errno));
}

static weft_result save(saving *s)
{
    const bool is_first = s->shard->map.rank == 0;
    weft_result result = find_place(s);
    if (result == WEFT_OK) s->table = calloc(s->shard->map.count, sizeof *s->table);
    if (result == WEFT_OK) result = s->table != NULL ? make_sections(s) : weft__ranks_no_memory();
    result = weft_ranks_agree(result);
    if (result != WEFT_OK) return result;
    result = weft__transport_sum((uint64_t *)s->table,
                                 s->shard->map.count * (sizeof *s->table / sizeof(uint64_t)));
    if (result == WEFT_OK) result = make_front(s);
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = write_file(s);
    if (s->file >= 0) close(s->file);
    if (is_first && result != WEFT_OK && s->file >= 0) (void)unlink(s->partial);
    if (is_first && result == WEFT_OK) result = put_in_place(s);
    return weft_ranks_agree(result);
}

weft_result weft_shard_save(weft_shard *shard, const char *path)
{
    if (path == NULL) return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "path is NULL");
    saving s = {.shard = shard, .path = path, .file = -1};
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    if (result == WEFT_OK) result = save(&s);
    free(s.table);
    weft__bytes_free(&s.front);
    weft__bytes_free(&s.sections);
    return result;
}
