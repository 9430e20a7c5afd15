/* SPDX-License-Identifier: MIT */
/* kept.c: resources and private entities in checkpoints.
 *
 *     a word: types; of each: a word: the bytes of its name, the name
 *     a block (row_block.h) of one row, whose components are the resources
 *     of each mark blocks of its entities, by kind list; an entity is with the first of its marks
 *
 * Entities have no gid, and lie in chunks in the order in which a rank made them. They are written
 * in the order of hashes of their values and names, so ranks that have the same ones write the same
 * bytes. */
#include "kept.h"
#include "checkpoint.h"
#include "hash.h"
#include "messages.h"

/* ---- the list ---- */

/* Why values cannot be kept; NULL: they can. */
static const char *reason_against(const weft_component_desc *desc)
{
    if (weft__type_of(desc)->entity_offset_count != 0)
        return "it has references, and handles of other ranks differ: keep a gid in its place "
               "(weft_shard_gid, weft_shard_find)";
    return weft__row_reason(desc);
}

static weft_result make_query(weft_shard *shard, uint32_t i)
{
    weft_term terms[WEFT_SHARD_KEPT_LIMIT + 3] = {{shard->kept[i], .match = WEFT_PRESENT},
                                                  {shard->gid, .match = WEFT_ABSENT},
                                                  {shard->ghost, .match = WEFT_ABSENT},
                                                  {shard->stub, .match = WEFT_ABSENT}};
    uint32_t count = 4;
    for (uint32_t k = 0; k < i; k++)
        if (shard->kept_rows[k].id != 0)
            terms[count++] = (weft_term){shard->kept[k], .match = WEFT_ABSENT};
    const weft_query_desc desc = {.more_terms = terms,
                                  .more_term_count = count,
                                  .with_inactive = true,
                                  .ignores_enabled = true};
    shard->kept_rows[i] = weft_query_create(shard->world, &desc);
    if (shard->kept_rows[i].id != 0) return WEFT_OK;
    return weft__ranks_fail(weft_world_error(shard->world)->code, "kept: %s",
                            weft_world_error(shard->world)->text);
}

weft_result weft__kept_make(weft_shard *shard, const weft_component list[WEFT_SHARD_KEPT_LIMIT])
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < WEFT_SHARD_KEPT_LIMIT && list[i].id != 0 && result == WEFT_OK; i++) {
        const weft_component_desc *desc = weft_component_info(shard->world, list[i]);
        if (desc == NULL)
            return weft__ranks_fail(WEFT_BAD_HANDLE, "kept: no component of this world");
        const bool is_resource = (desc->flags & WEFT_RESOURCE) != 0;
        const char *reason = reason_against(desc);
        if (is_resource && (desc->flags & WEFT_BUFFER) != 0) reason = "it is a BUFFER resource";
        if ((desc->flags & WEFT_SPARSE) != 0) reason = "a mark is no SPARSE component";
        if (reason != NULL)
            return weft__ranks_fail(WEFT_TYPE_MISMATCH, "kept: %s cannot be in a checkpoint: %s",
                                    desc->name, reason);
        for (uint32_t k = 0; k < i; k++)
            if (list[k].id == list[i].id)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "kept: %s is there twice",
                                        desc->name);
        shard->kept[shard->kept_count++] = list[i];
        if (!is_resource) result = make_query(shard, i);
    }
    return result;
}

static const char *name_of(const weft_shard *shard, weft_component component)
{
    return weft_component_info(shard->world, component)->name;
}

/* ---- writing ---- */

static bool write_resource(const weft_shard *shard, uint32_t i, weft__kept *out)
{
    const size_t size = weft_component_info(shard->world, shard->kept[i])->size;
    const void *value = weft_resource_read(shard->world, shard->kept[i]);
    out->of[i][1] = hash_bytes(0, value, size);
    return weft__bytes_word(&out->bytes, shard->kept[i].id | (uint64_t)WEFT__VALUE_PLAIN << 32) &&
           weft__bytes_put(&out->bytes, value, size);
}

/* Resources by id, as blocks have them. */
static bool write_front(const weft_shard *shard, weft__kept *out)
{
    weft__bytes *bytes = &out->bytes;
    uint32_t order[WEFT_SHARD_KEPT_LIMIT], count = 0;
    bool is_done = weft__bytes_word(bytes, shard->kept_count);
    for (uint32_t i = 0; i < shard->kept_count && is_done; i++) {
        const char *name = name_of(shard, shard->kept[i]);
        is_done =
            weft__bytes_word(bytes, strlen(name)) && weft__bytes_put(bytes, name, strlen(name));
        if (shard->kept_rows[i].id != 0) continue;
        uint32_t at = count++;
        for (; at > 0 && shard->kept[order[at - 1]].id > shard->kept[i].id; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    is_done = is_done && weft__bytes_word(bytes, 1 | (uint64_t)count << 32) &&
              weft__bytes_word(bytes, 0) && weft__bytes_word(bytes, shard->map.count);
    for (uint32_t i = 0; i < count && is_done; i++) is_done = write_resource(shard, order[i], out);
    return is_done && weft__bytes_word(bytes, 0); /* names */
}

/* All components of the entities with a mark, SPARSE ones where one of them has it. */
static weft_result check_rows(const weft_shard *shard, uint32_t i)
{
    weft_cursor cursor;
    weft_component list[WEFT__ROW_COMPONENTS];
    const char *reason = NULL;
    if (!weft__shard_loop_begin(shard, shard->kept_rows[i], &cursor))
        return weft__ranks_no_memory();
    while (reason == NULL && weft_query_next(&cursor)) {
        const weft_archetype of = weft_entity_archetype(shard->world, cursor.slice.entities[0]);
        uint32_t count = weft_archetype_components(shard->world, of, list, WEFT__ROW_COMPONENTS);
        if (count > WEFT__ROW_COMPONENTS) count = WEFT__ROW_COMPONENTS; /* the kind list fails */
        for (weft_component next = weft__sparse_next(shard, (weft_component){0});
             next.id != 0 && count < WEFT__ROW_COMPONENTS; next = weft__sparse_next(shard, next))
            for (uint32_t row = 0; row < cursor.slice.count; row++)
                if (weft_entity_has(shard->world, cursor.slice.entities[row], next)) {
                    list[count++] = next;
                    break;
                }
        for (uint32_t k = 0; k < count && reason == NULL; k++) {
            reason = reason_against(weft_component_info(shard->world, list[k]));
            if (reason != NULL)
                (void)weft__ranks_fail(WEFT_UNSUPPORTED,
                                       "component %s of a private entity with %s, which is kept, "
                                       "cannot be in a checkpoint: %s",
                                       name_of(shard, list[k]), name_of(shard, shard->kept[i]),
                                       reason);
        }
    }
    weft_query_end(&cursor);
    return reason == NULL ? WEFT_OK : WEFT_UNSUPPORTED;
}

/* keys[row], zero before: the hash of values and name. */
static weft_result make_keys(const weft_shard *shard, const weft__sector_rows *rows, uint32_t begin,
                             uint32_t end, uint64_t *keys)
{
    weft__bytes bytes = {0};
    weft__block block = {0};
    weft_result result = weft__sector_rows_write(shard, rows, begin, end, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    if (result == WEFT_OK) result = weft__block_read(shard, &in, NULL, &block);
    uint64_t(*hashes)[2] = malloc((size_t)block.count * sizeof *hashes + 1);
    if (result == WEFT_OK && hashes == NULL) result = weft__ranks_no_memory();
    if (result == WEFT_OK) {
        weft__block_hash(shard, &block, hashes);
        for (uint32_t row = 0; row < block.count; row++) keys[row] = hashes[row][0];
        for (uint64_t i = 0; i < block.name_count; i++) {
            char name[256];
            uint32_t row;
            (void)weft__block_name(&block.names, &row, name);
            keys[row] = hash_word(keys[row], hash_string(name));
        }
    }
    free(hashes);
    weft__block_free(&block);
    weft__bytes_free(&bytes);
    return result;
}

static weft_result write_rows(const weft_shard *shard, uint32_t i, weft__kept *out)
{
    const uint64_t at = out->bytes.count;
    uint64_t count = 0, *keys = NULL;
    weft__sector_rows rows = {0};
    weft_result result = check_rows(shard, i);
    if (result == WEFT_OK) result = weft__sector_rows_collect(shard, shard->kept_rows[i], &rows);
    for (uint32_t k = 0; k < rows.count; k++) count += rows.runs[k].count;
    keys = calloc(count + 1, sizeof *keys);
    if (result == WEFT_OK && keys == NULL) result = weft__ranks_no_memory();
    out->of[i][0] = count;
    count = 0;
    for (uint32_t begin = 0, end; begin < rows.count && result == WEFT_OK; begin = end) {
        uint64_t *first = keys + count;
        end = weft__sector_rows_group(&rows, begin);
        for (uint32_t k = begin; k < end; count += rows.runs[k++].count)
            rows.runs[k].gids = keys + count;
        result = make_keys(shard, &rows, begin, end, first);
        if (result == WEFT_OK)
            result = weft__sector_rows_write(shard, &rows, begin, end, &out->bytes);
    }
    free(keys);
    weft__sector_rows_free(&rows);
    if (result == WEFT_OK) out->of[i][1] = hash_bytes(0, out->bytes.at + at, out->bytes.count - at);
    return result;
}

weft_result weft__kept_write(const weft_shard *shard, weft__kept *out)
{
    if (shard->kept_count == 0) return WEFT_OK;
    weft_result result = write_front(shard, out) ? WEFT_OK : weft__ranks_no_memory();
    for (uint32_t i = 0; i < shard->kept_count && result == WEFT_OK; i++)
        if (shard->kept_rows[i].id != 0) result = write_rows(shard, i, out);
    return result;
}

weft_result weft__kept_compare(const weft_shard *shard, const weft__kept *kept)
{
    weft__kept first = *kept;
    const uint32_t rank = shard->map.rank;
    if (shard->kept_count == 0) return WEFT_OK;
    weft_result result = weft__transport_broadcast(first.of, sizeof first.of);
    for (uint32_t i = 0; i < shard->kept_count && result == WEFT_OK; i++) {
        const char *name = name_of(shard, shard->kept[i]);
        const uint64_t *own = kept->of[i], *other = first.of[i];
        static const char why[] = "what is kept is the same on all ranks, or a run of another "
                                  "number of them could not go on with it";
        if (memcmp(own, other, sizeof first.of[i]) == 0) continue;
        if (shard->kept_rows[i].id == 0)
            result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                      "resource %s of rank %u differs from that of rank 0: %s",
                                      name, rank, why);
        else
            result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                      "the %llu private entities with %s of rank %u differ from "
                                      "the %llu of rank 0: %s",
                                      (unsigned long long)own[0], name, rank,
                                      (unsigned long long)other[0], why);
    }
    return weft_ranks_agree(result);
}

/* ---- reading ---- */

weft_result weft__kept_is_new(const weft_shard *shard)
{
    for (uint32_t i = 0; i < shard->kept_count; i++)
        if (shard->kept_rows[i].id != 0 && weft_query_count(shard->world, shard->kept_rows[i]) != 0)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "the world has private entities with %s: load a checkpoint, "
                                    "which brings its own, before they are made",
                                    name_of(shard, shard->kept[i]));
    return WEFT_OK;
}

static bool is_kept(const weft_shard *shard, weft_component component, bool is_resource)
{
    for (uint32_t i = 0; i < shard->kept_count; i++)
        if (shard->kept[i].id == component.id) return !is_resource || shard->kept_rows[i].id == 0;
    return false;
}

static weft_result is_corrupt(void)
{
    return weft__ranks_fail(WEFT_CORRUPT, "what is kept is damaged; nothing was loaded");
}

weft_result weft__kept_names(const weft_shard *shard, weft__reader *in, const char *path)
{
    uint64_t count, bytes;
    if (!weft__reader_word(in, &count)) return is_corrupt();
    for (uint64_t i = 0; i < count; i++) {
        char name[256] = "";
        const void *text = NULL;
        if (weft__reader_word(in, &bytes) && bytes < sizeof name)
            text = weft__reader_take(in, bytes);
        if (text == NULL) return is_corrupt();
        memcpy(name, text, (size_t)bytes);
        const weft_component component = weft_component_find(shard->world, name);
        if (component.id == 0 || !is_kept(shard, component, false))
            return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                    "%s keeps %s, which the description of the shard does not: "
                                    "name it in weft_shard_desc.kept",
                                    path, name);
    }
    return WEFT_OK;
}

weft_result weft__kept_check(const weft_shard *shard, const weft__block *resources)
{
    bool is_good = resources->count == 1;
    for (uint32_t i = 0; i < resources->column_count; i++) {
        const weft__row_component *type = &resources->columns[i].type;
        is_good =
            is_good && type->kind == WEFT__VALUE_PLAIN && is_kept(shard, type->component, true);
        if (is_good && weft_resource_write(shard->world, type->component) == NULL)
            return weft__ranks_fail(weft_world_error(shard->world)->code, "%s",
                                    weft_world_error(shard->world)->text);
    }
    return is_good ? WEFT_OK : is_corrupt();
}

void weft__kept_set(const weft_shard *shard, const weft__block *resources)
{
    for (uint32_t i = 0; i < resources->column_count; i++) {
        const weft__block_column *column = &resources->columns[i];
        memcpy(weft_resource_write(shard->world, column->type.component), column->values,
               column->type.size);
    }
}
