/* SPDX-License-Identifier: MIT */
/* checkpoint_load.c: weft_shard_load.
 *
 * Every rank reads the front and checks it; the sizes of the sections are the costs by which
 * sectors are cut among the ranks that there are. Then each reads the sections of its sectors
 * and checks all of them; when all ranks have done so, rows are put into the world. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrival.h"
#include "checkpoint_format.h"
#include "ghost_exchange.h"
#include "hash.h"
#include "ranks_error.h"
#include "row_pack.h"

/* Memory of one load. */
typedef struct loading {
    weft_shard *shard;
    const char *path;
    int file;
    uint64_t file_bytes;
    weft__checkpoint_head head;
    unsigned char *front;                 /* components and sectors */
    const weft__checkpoint_sector *table; /* in `front` */
    weft_component *components;           /* [id of the file]; null: not in this world */
    weft__bytes sections;
    weft__block *blocks;
    uint64_t block_capacity;
    uint32_t block_count;
    weft_entity *entities; /* of the rows of all blocks */
    uint64_t row_count;
} loading;

static weft_result is_corrupt(const loading *l, const char *what)
{
    return weft__ranks_fail(WEFT_CORRUPT, "%s: %s; nothing was loaded", l->path, what);
}

static weft_result read_at(const loading *l, void *to, uint64_t count, uint64_t offset)
{
    char *place = to;
    if (offset > l->file_bytes || count > l->file_bytes - offset)
        return is_corrupt(l, "the file ends too early");
    while (count != 0) {
        const size_t piece = count < (1u << 30) ? (size_t)count : (size_t)(1u << 30);
        const ssize_t done = pread(l->file, place, piece, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return weft__ranks_fail(WEFT_IO, "reading %s: %s", l->path,
                                    done < 0 ? strerror(errno) : "it became shorter");
        place += done;
        offset += (uint64_t)done;
        count -= (uint64_t)done;
    }
    return WEFT_OK;
}

/* ---- the front ---- */

static weft_result open_file(loading *l)
{
    struct stat status;
    l->file = open(l->path, O_RDONLY | O_CLOEXEC);
    if (l->file < 0)
        return weft__ranks_fail(errno == ENOENT ? WEFT_NOT_FOUND : WEFT_IO, "%s: %s", l->path,
                                strerror(errno));
    if (fstat(l->file, &status) != 0 || !S_ISREG(status.st_mode))
        return weft__ranks_fail(WEFT_IO, "%s is not a regular file", l->path);
    l->file_bytes = (uint64_t)status.st_size;
    return read_at(l, &l->head, sizeof l->head, 0);
}

static weft_result check_head(const loading *l)
{
    const weft__checkpoint_head *head = &l->head;
    if (head->magic != WEFT__CHECKPOINT_MAGIC)
        return is_corrupt(l, "this is no checkpoint of a shard");
    if (head->version != WEFT__CHECKPOINT_VERSION)
        return weft__ranks_fail(WEFT_UNSUPPORTED, "%s: version %llu of the format", l->path,
                                (unsigned long long)head->version);
    if (head->sectors != l->shard->map.count)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "%s has %llu sectors, the shard has %u: create it with the "
                                "description of the run that wrote it",
                                l->path, (unsigned long long)head->sectors, l->shard->map.count);
    if (head->component_bytes > l->file_bytes) return is_corrupt(l, "the file ends too early");
    return WEFT_OK;
}

static weft_result read_front(loading *l)
{
    const uint64_t table_bytes = l->head.sectors * sizeof *l->table;
    const uint64_t bytes = l->head.component_bytes + table_bytes;
    l->front = malloc((size_t)bytes);
    if (l->front == NULL) return weft__ranks_no_memory();
    weft_result result = read_at(l, l->front, bytes, sizeof l->head);
    if (result != WEFT_OK) return result;
    weft__checkpoint_head head = l->head;
    head.hash = 0;
    if (hash_bytes(hash_bytes(0, &head, sizeof head), l->front, bytes) != l->head.hash)
        return is_corrupt(l, "the tables are damaged");
    l->table = (const weft__checkpoint_sector *)(const void *)(l->front + l->head.component_bytes);
    return WEFT_OK;
}

/* Finds the components of the file in this world; those that are missing matter only if rows have
 * them. */
static weft_result map_components(loading *l)
{
    weft__reader in = {l->front, l->front + l->head.component_bytes};
    if (l->head.components > l->head.component_bytes) return is_corrupt(l, "too many components");
    l->components = calloc(l->head.components + 1, sizeof *l->components);
    if (l->components == NULL) return weft__ranks_no_memory();
    for (uint64_t id = 1; id <= l->head.components; id++) {
        uint64_t hash, bytes;
        char name[256];
        const void *text = NULL;
        if (weft__reader_word(&in, &hash) && weft__reader_word(&in, &bytes) && bytes < sizeof name)
            text = weft__reader_take(&in, bytes);
        if (text == NULL) return is_corrupt(l, "the table of components is damaged");
        memcpy(name, text, (size_t)bytes);
        name[bytes] = '\0';
        const weft_component component = weft_component_find(l->shard->world, name);
        if (component.id != 0 && weft_component_hash(l->shard->world, component) != hash)
            return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                    "%s: component %s has another layout than here: register it "
                                    "as it was",
                                    l->path, name);
        l->components[id] = component;
    }
    return WEFT_OK;
}

/* ---- sections ---- */

static weft_component component_of(const weft_shard *shard, uint32_t id, const void *user)
{
    const loading *l = user;
    (void)shard;
    return id <= l->head.components ? l->components[id] : (weft_component){0};
}

static weft_result read_section(loading *l, uint32_t sector)
{
    const weft__checkpoint_sector *entry = &l->table[sector];
    if (entry->bytes > l->file_bytes || entry->bytes % 8 != 0)
        return is_corrupt(l, "a section is longer than the file");
    if (entry->bytes == 0) return WEFT_OK;
    unsigned char *place = weft__bytes_add(&l->sections, entry->bytes);
    if (place == NULL) return weft__ranks_no_memory();
    weft_result result = read_at(l, place, entry->bytes, entry->offset);
    if (result == WEFT_OK && hash_bytes(0, place, entry->bytes) != entry->hash)
        result = is_corrupt(l, "a section is damaged");
    return result;
}

/* Blocks of all sections; they are checked here, before anything is created. */
static weft_result read_blocks(loading *l)
{
    weft__reader in = {l->sections.at, l->sections.at + l->sections.count};
    while (in.at != in.end) {
        if (!weft__array_grow(&l->blocks, &l->block_capacity, l->block_count + UINT64_C(1),
                              sizeof *l->blocks))
            return weft__ranks_no_memory();
        weft__block *block = &l->blocks[l->block_count];
        weft_result result = weft__block_read(l->shard, &in, component_of, l, block);
        if (result != WEFT_OK) return result;
        l->block_count++;
        l->row_count += block->count;
        for (uint32_t i = 0; i < block->count; i++)
            if (!weft__sector_is_mine(l->shard, block->sectors[i]))
                return is_corrupt(l, "a row is in the section of another sector");
    }
    return WEFT_OK;
}

static weft_result read_all(loading *l)
{
    weft_result result = open_file(l);
    if (result == WEFT_OK) result = check_head(l);
    if (result == WEFT_OK) result = read_front(l);
    if (result == WEFT_OK) result = map_components(l);
    return result;
}

static weft_result read_mine(loading *l)
{
    weft_result result = WEFT_OK;
    for (uint32_t sector = 0; sector < l->shard->map.count && result == WEFT_OK; sector++)
        if (weft__sector_is_mine(l->shard, sector)) result = read_section(l, sector);
    if (result == WEFT_OK) result = read_blocks(l);
    if (result != WEFT_OK) return result;
    l->entities = calloc(l->row_count + 1, sizeof *l->entities);
    return l->entities != NULL ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result cut_sectors(loading *l)
{
    const uint32_t count = l->shard->map.count;
    uint64_t *costs = malloc(count * sizeof *costs);
    uint32_t *rank_of = malloc(count * sizeof *rank_of);
    bool has_memory = costs != NULL && rank_of != NULL;
    for (uint32_t i = 0; i < count && has_memory; i++) costs[i] = l->table[i].bytes;
    if (has_memory) {
        weft__sector_cut(&l->shard->map, costs, rank_of);
        has_memory = weft__ghosts_prepare(l->shard, rank_of);
    }
    /* all ranks or none: they know the same cut */
    const weft_result result = weft_ranks_agree(has_memory ? WEFT_OK : weft__ranks_no_memory());
    if (result == WEFT_OK) weft__ghosts_set_map(l->shard, rank_of);
    free(costs);
    free(rank_of);
    return result;
}

/* All of them came by a load that has failed. Residues need memory: without it the next load ends
 * what is left. */
static weft_result rows_end(weft_shard *shard)
{
    weft_result result = weft_query_destroy_entities(shard->world, shard->rows_query);
    if (result == WEFT_OK) result = weft_query_destroy_entities(shard->world, shard->stub_query);
    if (result == WEFT_OK && shard->has_references)
        result = weft_query_remove(shard->world, shard->dead_query, shard->gid);
    shard->has_load_rest = result != WEFT_OK;
    return result == WEFT_OK ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result load(loading *l)
{
    weft_shard *shard = l->shard;
    weft_result result = shard->has_load_rest ? rows_end(shard) : WEFT_OK;
    if (result == WEFT_OK && weft_query_count(shard->world, shard->rows_query) != 0)
        result = weft__ranks_fail(WEFT_INVALID_ARGUMENT, "the shard has entities: load a "
                                                         "checkpoint into a new world");
    if (result == WEFT_OK) result = read_all(l);
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = cut_sectors(l);
    if (result == WEFT_OK) result = weft_ranks_agree(read_mine(l));
    if (result != WEFT_OK) return result;
    result = weft__arrivals_place(shard, l->blocks, l->block_count, l->entities);
    result = weft_ranks_agree(result);
    if (result != WEFT_OK) {
        (void)rows_end(shard);
        return result;
    }
    shard->seed = l->head.seed;
    shard->tick = l->head.tick;
    for (uint32_t i = 0; i < shard->map.count; i++)
        shard->counters[i] = weft__sector_is_mine(shard, i) ? l->table[i].counter : 0;
    shard->keys_version = 0;
    return WEFT_OK;
}

weft_result weft_shard_load(weft_shard *shard, const char *path)
{
    if (path == NULL) return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "path is NULL");
    loading l = {.shard = shard, .path = path, .file = -1};
    weft_result result = load(&l);
    if (l.file >= 0) close(l.file);
    for (uint32_t i = 0; i < l.block_count; i++) weft__block_free(&l.blocks[i]);
    free(l.front);
    free(l.components);
    free(l.blocks);
    free(l.entities);
    weft__bytes_free(&l.sections);
    return result;
}
