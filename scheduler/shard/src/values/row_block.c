/* SPDX-License-Identifier: MIT */
/* row_block.c: rows as bytes and back, and which entity has a gid.
 *
 * Columns are copied as they are, then references in the copy become gids. Reading keeps pointers
 * into the bytes, all of them checked against the end.
 *
 * The table of gids has linear probing. Entries are never taken out: it is made again when it is
 * asked after structure changed, which costs less than to follow each change. */
#include "row_block.h"
#include "hash.h"
#include "messages.h"
#include "relation_engine.h"
#include "search.h"

#include <weft/buffers.h>

/* ---- gids ---- */

typedef struct gid_entry {
    uint64_t gid; /* 0: free */
    weft_entity entity;
} gid_entry;

/* Owner: the shard. Always: count <= capacity / 2; capacity is 0 or a power of two. */
typedef struct weft__gid_table {
    gid_entry *entries;
    uint64_t capacity, count;
    uint64_t structure; /* version of the world's structure that it goes with */
} weft__gid_table;

static gid_entry *entry_of(const weft__gid_table *table, uint64_t gid)
{
    uint64_t at = hash_fold(gid ^ HASH_K0, HASH_K1) & (table->capacity - 1);
    while (table->entries[at].gid != 0 && table->entries[at].gid != gid)
        at = (at + 1) & (table->capacity - 1);
    return &table->entries[at];
}

/* Room for `count` entries in all. */
static bool make_room(weft__gid_table *table, uint64_t count)
{
    if (count * 2 <= table->capacity) return true;
    weft__gid_table grown = {.capacity = 64, .structure = table->structure};
    while (grown.capacity < count * 2) grown.capacity *= 2;
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (grown.entries == NULL) return false;
    for (uint64_t i = 0; i < table->capacity; i++)
        if (table->entries[i].gid != 0)
            *entry_of(&grown, table->entries[i].gid) = table->entries[i];
    grown.count = table->count;
    free(table->entries);
    *table = grown;
    return true;
}

bool weft__gid_table_put(weft_shard *shard, uint64_t gid, weft_entity entity)
{
    weft__gid_table *table = shard->table;
    if (!make_room(table, table->count + 1)) return false;
    gid_entry *entry = entry_of(table, gid);
    if (entry->gid == 0) table->count++;
    *entry = (gid_entry){gid, entity};
    return true;
}

/* Adds the entities of a query whose first term has gids. */
static bool put_all(weft_shard *shard, weft_query query)
{
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint64_t *gids = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count && is_done; i++)
            if (gids[i] != 0)
                is_done = weft__gid_table_put(shard, gids[i], cursor.slice.entities[i]);
    }
    weft_query_end(&cursor);
    return is_done;
}

weft_result weft__gid_table_refresh(weft_shard *shard)
{
    if (shard->table == NULL) shard->table = calloc(1, sizeof *shard->table);
    weft__gid_table *table = shard->table;
    if (table == NULL) return weft__ranks_no_memory();
    const uint64_t structure = weft__front(shard->world)->structure_version + 1;
    if (table->structure == structure) return WEFT_OK;
    if (table->capacity != 0) memset(table->entries, 0, table->capacity * sizeof *table->entries);
    table->count = 0;
    table->structure = 0;
    if (!make_room(table, 1) || !put_all(shard, shard->ghost_query) ||
        !put_all(shard, shard->stub_query) ||
        (shard->has_references && !put_all(shard, shard->dead_query)) ||
        !put_all(shard, shard->rows_query))
        return weft__ranks_no_memory();
    table->structure = structure;
    return WEFT_OK;
}

weft_entity weft__gid_table_find(const weft_shard *shard, uint64_t gid)
{
    if (gid == 0 || shard->table == NULL || shard->table->capacity == 0) return (weft_entity){0};
    return entry_of(shard->table, gid)->entity;
}

void weft__gid_table_free(weft_shard *shard)
{
    if (shard->table == NULL) return;
    free(shard->table->entries);
    free(shard->table);
    shard->table = NULL;
}

uint64_t weft_shard_gid(const weft_shard *shard, weft_entity entity)
{
    const weft_component kinds[] = {shard->gid, shard->stub, shard->ghost};
    for (uint32_t i = 0; i < 3; i++) {
        if (!weft_entity_has(shard->world, entity, kinds[i])) continue;
        uint64_t gid;
        memcpy(&gid, weft_entity_read(shard->world, entity, kinds[i]), sizeof gid);
        return gid;
    }
    return 0;
}

weft_entity weft_shard_find(weft_shard *shard, uint64_t gid)
{
    if (weft__gid_table_refresh(shard) != WEFT_OK) return (weft_entity){0};
    return weft__gid_table_find(shard, gid);
}

/* ---- what the description of a component says ---- */

const char *weft__row_reason(const weft_component_desc *desc)
{
    const weft__type *type = weft__type_of(desc);
    const weft_relation_desc *relation =
        weft__relations_any(type->world) ? weft__relation_desc(type->world, type->id) : NULL;
    if (relation != NULL && relation->is_acyclic)
        return "it is an acyclic relation, or one by depth, and what is above its target may be on "
               "other ranks (a relation without is_acyclic and by_depth can)";
    if (relation != NULL && strcmp(desc->name, "InstanceOf") == 0)
        return "its target is a prefab, and each rank has prefabs of its own";
    if (strcmp(desc->name, "LinkedGroup") == 0)
        return "members of a linked group die with it, and they may be on other ranks";
    if ((desc->flags & WEFT_CHUNK) != 0) return "it is a CHUNK component";
    if ((desc->flags & WEFT_CLEANUP) != 0) return "it is a CLEANUP component";
    if (desc->hooks.destruct != NULL || desc->hooks.copy != NULL || desc->shared_release != NULL)
        return "it has hooks that own memory";
    if (weft__type_has_blobs(type)) return "it has a reference to a blob";
    return NULL;
}

/* What the library must know of a component; UNSUPPORTED where its values cannot travel. */
static weft_result row_component_of(const weft_shard *shard, weft_component component,
                                    weft__row_component *out)
{
    const weft_component_desc *desc = weft_component_info(shard->world, component);
    if (desc == NULL) return weft__ranks_fail(WEFT_BAD_HANDLE, "a component is of another world");
    const char *reason = weft__row_reason(desc);
    if (reason != NULL)
        return weft__ranks_fail(WEFT_UNSUPPORTED,
                                "component %s of a sharded entity cannot travel: %s; keep it on "
                                "private entities, or leave it out",
                                desc->name, reason);
    *out = (weft__row_component){.component = component,
                                 .desc = desc,
                                 .kind = WEFT__VALUE_PLAIN,
                                 .size = (uint32_t)desc->size,
                                 .has_bits = (desc->flags & WEFT_ENABLEABLE) != 0,
                                 .has_references = weft__type_of(desc)->reference_count != 0};
    if (out->has_references && !shard->has_references)
        return weft__ranks_fail(WEFT_UNSUPPORTED,
                                "component %s has ENTITY fields, as no component had when the "
                                "shard was created: register it before weft_shard_create",
                                desc->name);
    if ((desc->flags & WEFT_SPARSE) != 0)
        out->kind = WEFT__VALUE_SPARSE;
    else if ((desc->flags & WEFT_BUFFER) != 0)
        out->kind = WEFT__VALUE_BUFFER;
    else if ((desc->flags & WEFT_SHARED) != 0)
        out->kind = WEFT__VALUE_SHARED;
    else if (desc->size == 0)
        out->kind = WEFT__VALUE_TAG;
    return WEFT_OK;
}

weft_component weft__sparse_next(const weft_shard *shard, weft_component component)
{
    const weft_component_desc *desc;
    do {
        component = weft__component(shard->world, component.id + 1);
        desc = weft_component_info(shard->world, component);
    } while (desc != NULL && (desc->flags & WEFT_SPARSE) == 0);
    return desc != NULL ? component : (weft_component){0};
}

weft_result weft__row_components(const weft_shard *shard, weft_archetype archetype,
                                 weft__row_component list[WEFT__ROW_COMPONENTS], uint32_t *count)
{
    weft_component all[WEFT__ROW_COMPONENTS];
    const uint32_t there =
        weft_archetype_components(shard->world, archetype, all, WEFT__ROW_COMPONENTS);
    *count = 0;
    if (there > WEFT__ROW_COMPONENTS)
        return weft__ranks_fail(WEFT_LIMIT, "a sharded entity has %u components, at most %u", there,
                                WEFT__ROW_COMPONENTS);
    qsort(all, there, sizeof *all, weft__compare_u32);
    for (uint32_t i = 0; i < there; i++) {
        if (all[i].id == shard->gid.id || all[i].id == shard->sector.id) continue;
        weft_result result = row_component_of(shard, all[i], &list[*count]);
        if (result != WEFT_OK) return result;
        (*count)++;
    }
    return WEFT_OK;
}

uint64_t weft__components_hash(const weft_shard *shard)
{
    uint64_t hash = hash_start(0, 0);
    weft_component component = weft__component(shard->world, 1);
    for (; weft_component_info(shard->world, component) != NULL; component.id++) {
        const weft_relation_desc *relation = weft__relations_any(shard->world)
                                                 ? weft__relation_desc(shard->world, component.id)
                                                 : NULL;
        hash = hash_word(hash, weft_component_hash(shard->world, component));
        if (relation != NULL) hash = hash_word(hash, relation->on_target_death);
    }
    return hash_end(hash);
}

bool weft__world_has_references(const weft_shard *shard)
{
    const weft_component_desc *desc;
    weft_component component = weft__component(shard->world, 1);
    for (; (desc = weft_component_info(shard->world, component)) != NULL; component.id++)
        if (strcmp(desc->name, "LinkedGroup") != 0 && weft__type_of(desc)->entity_offset_count != 0)
            return true;
    return false;
}

/* ---- writing ---- */

static bool to_gid(void *user, weft__reference *r)
{
    r->bits = weft_shard_gid(user, r->entity);
    return true;
}

static void translate(const weft_shard *shard, const weft__row_component *type, void *values,
                      uint64_t count)
{
    weft__elements_references(weft__type_of(type->desc), values, count, to_gid,
                              (void *)(uintptr_t)shard);
}

/* The values of rows one after the other. Neighbours in the list are mostly of one chunk. */
static void gather_column(const weft__row_list *rows, const weft__row_component *type,
                          unsigned char *to)
{
    const uint32_t size = type->size, count = rows->count;
    const weft__row_place *places = rows->places;
    if (count == 0) return;
    const weft__chunk *chunk = NULL;
    const uint32_t column =
        weft__archetype_slot(places->chunk->archetype, type->component.id)->column;
    const char *from = NULL;
#define GATHER(size)                                                                               \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        if (places[i].chunk != chunk) {                                                            \
            chunk = places[i].chunk;                                                               \
            from = weft__chunk_column(chunk, column);                                              \
        }                                                                                          \
        memcpy(to + (size_t)i * (size), from + (size_t)places[i].row * (size), (size));            \
    }
    if (size == 4)
        GATHER(4)
    else if (size == 8)
        GATHER(8)
    else if (size == 12)
        GATHER(12)
    else if (size == 16)
        GATHER(16)
    else if (size == 24)
        GATHER(24)
    else
        GATHER(size)
#undef GATHER
}

/* PLAIN and SHARED values. */
static weft_result write_values(const weft_shard *shard, const weft__row_list *rows,
                                const weft__row_component *type, weft__bytes *out)
{
    unsigned char *values = weft__bytes_add(out, (uint64_t)rows->count * type->size);
    if (values == NULL) return weft__ranks_no_memory();
    if (type->kind == WEFT__VALUE_PLAIN) gather_column(rows, type, values);
    for (uint32_t i = 0; i < rows->count && type->kind == WEFT__VALUE_SHARED; i++)
        memcpy(values + (size_t)i * type->size,
               weft_entity_read_shared(shard->world, weft__row_entity(rows->places[i]),
                                       type->component),
               type->size);
    translate(shard, type, values, rows->count);
    return WEFT_OK;
}

static weft_result write_buffer(const weft_shard *shard, const weft__row_list *rows,
                                const weft__row_component *type, weft__bytes *out)
{
    const uint64_t lengths_at = out->count;
    if (weft__bytes_add(out, (uint64_t)rows->count * 4) == NULL) return weft__ranks_no_memory();
    uint64_t total = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const weft_buffers buffer = weft_entity_read_buffer(
            shard->world, weft__row_entity(rows->places[i]), type->component);
        const uint32_t length = weft_buffers_length(&buffer, 0);
        memcpy(out->at + lengths_at + i * UINT64_C(4), &length, sizeof length);
        total += length;
    }
    unsigned char *elements = weft__bytes_add(out, total * type->size);
    if (elements == NULL) return weft__ranks_no_memory();
    unsigned char *to = elements;
    for (uint32_t i = 0; i < rows->count; i++) {
        const weft_buffers buffer = weft_entity_read_buffer(
            shard->world, weft__row_entity(rows->places[i]), type->component);
        const size_t bytes = (size_t)weft_buffers_length(&buffer, 0) * type->size;
        if (bytes != 0) memcpy(to, weft_buffers_read(&buffer, 0), bytes);
        to += bytes;
    }
    translate(shard, type, elements, total);
    return WEFT_OK;
}

static weft_result write_bits(const weft_shard *shard, const weft__row_list *rows,
                              const weft__row_component *type, weft__bytes *out)
{
    unsigned char *bits = weft__bytes_add(out, rows->count);
    if (bits == NULL) return weft__ranks_no_memory();
    for (uint32_t i = 0; i < rows->count; i++)
        bits[i] = weft_entity_is_enabled(shard->world, weft__row_entity(rows->places[i]),
                                         type->component);
    return WEFT_OK;
}

static weft_result write_component(const weft_shard *shard, const weft__row_list *rows,
                                   const weft__row_component *type, weft__bytes *out)
{
    const uint64_t word =
        type->component.id | (uint64_t)type->kind << 32 | (uint64_t)type->has_bits << 40;
    if (!weft__bytes_word(out, word)) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    if (type->kind == WEFT__VALUE_BUFFER)
        result = write_buffer(shard, rows, type, out);
    else if (type->kind != WEFT__VALUE_TAG)
        result = write_values(shard, rows, type, out);
    if (result == WEFT_OK && type->has_bits) result = write_bits(shard, rows, type, out);
    return result;
}

/* One SPARSE component of the rows that have it. */
static weft_result write_sparse(const weft_shard *shard, const weft__row_list *rows,
                                weft_component component, uint32_t *columns, weft__bytes *out)
{
    const weft_world *world = shard->world;
    uint64_t count = 0, at = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        count += weft_entity_has(world, weft__row_entity(rows->places[i]), component);
    if (count == 0) return WEFT_OK;
    weft__row_component type;
    const weft_result result = row_component_of(shard, component, &type);
    if (result != WEFT_OK) return result;
    const bool is_begun = weft__bytes_word(out, component.id | (uint64_t)type.kind << 32) &&
                          weft__bytes_word(out, count);
    const uint64_t list_at = out->count, values_at = list_at + weft__eight(count * 4);
    if (!is_begun || weft__bytes_add(out, count * 4) == NULL ||
        weft__bytes_add(out, count * type.size) == NULL)
        return weft__ranks_no_memory();
    for (uint32_t i = 0; i < rows->count; i++) {
        const weft_entity entity = weft__row_entity(rows->places[i]);
        if (!weft_entity_has(world, entity, component)) continue;
        memcpy(out->at + list_at + at * 4, &i, sizeof i);
        if (type.size != 0)
            memcpy(out->at + values_at + at * type.size, weft_entity_read(world, entity, component),
                   type.size);
        at++;
    }
    translate(shard, &type, out->at + values_at, count);
    ++*columns;
    return WEFT_OK;
}

static bool write_names(const weft_shard *shard, const weft__row_list *rows, weft__bytes *out)
{
    const uint64_t at = out->count;
    uint64_t count = 0;
    bool is_done = weft__bytes_word(out, 0);
    for (uint32_t i = 0; i < rows->count && is_done; i++) {
        const char *name = weft_entity_name(shard->world, weft__row_entity(rows->places[i]));
        const uint64_t bytes = name[0] == '\0' ? 0 : strlen(name);
        if (bytes == 0) continue;
        is_done = weft__bytes_word(out, i | bytes << 32) && weft__bytes_put(out, name, bytes);
        count++;
    }
    if (is_done) memcpy(out->at + at, &count, sizeof count);
    return is_done;
}

weft_result weft__block_write(const weft_shard *shard, const weft__row_list *rows, weft__bytes *out)
{
    weft__row_component list[WEFT__ROW_COMPONENTS];
    uint32_t count = 0;
    const uint64_t head_at = out->count;
    weft_result result = weft__row_components(shard, rows->archetype, list, &count);
    if (result != WEFT_OK) return result;
    if (!weft__bytes_word(out, rows->count | (uint64_t)count << 32) ||
        !weft__bytes_put(out, rows->gids, (uint64_t)rows->count * sizeof *rows->gids) ||
        !weft__bytes_put(out, rows->sectors, (uint64_t)rows->count * sizeof *rows->sectors))
        return weft__ranks_no_memory();
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = write_component(shard, rows, &list[i], out);
    for (weft_component next = weft__sparse_next(shard, (weft_component){0});
         next.id != 0 && result == WEFT_OK; next = weft__sparse_next(shard, next))
        result = write_sparse(shard, rows, next, &count, out);
    if (result != WEFT_OK) return result;
    const uint64_t head = rows->count | (uint64_t)count << 32;
    memcpy(out->at + head_at, &head, sizeof head);
    return write_names(shard, rows, out) ? WEFT_OK : weft__ranks_no_memory();
}

/* ---- reading ---- */

static weft_result is_corrupt(const char *what)
{
    return weft__ranks_fail(WEFT_CORRUPT, "%s: the bytes of rows are damaged", what);
}

/* Values in the layout of this world. */
static weft_result convert(weft__block_column *out, const weft__evolution *plan, uint64_t count)
{
    const size_t size = out->type.size;
    char *to = out->converted = malloc((size_t)count * size + 1);
    if (to == NULL) return weft__ranks_no_memory();
    for (uint64_t i = 0; i < count; i++) {
        char text[400];
        const char *from = (const char *)out->values + i * plan->from_bytes;
        if (!weft__evolution_apply(plan, from, to + i * size, text))
            return weft__ranks_fail(WEFT_TYPE_MISMATCH, "component %s %s", out->type.desc->name,
                                    text);
    }
    out->values = out->converted;
    return WEFT_OK;
}

/* Which rows there are values for; *values: how many. */
static weft_result read_counts(weft__reader *in, uint32_t rows, weft__block_column *out,
                               uint64_t *values)
{
    const weft__value_kind kind = out->type.kind;
    out->count = rows;
    if (kind == WEFT__VALUE_SPARSE) {
        uint64_t count;
        if (!weft__reader_word(in, &count) || count > rows)
            return is_corrupt("rows with a component are missing");
        out->count = (uint32_t)count;
        out->rows = weft__reader_take(in, count * 4);
        if (out->rows == NULL) return is_corrupt("rows with a component are missing");
        for (uint32_t i = 0; i < count; i++)
            if (out->rows[i] >= rows || (i != 0 && out->rows[i] <= out->rows[i - 1]))
                return is_corrupt("rows with a component are out of order");
    }
    *values = kind == WEFT__VALUE_TAG ? 0 : out->count;
    if (kind != WEFT__VALUE_BUFFER) return WEFT_OK;
    out->lengths = weft__reader_take(in, rows * UINT64_C(4));
    if (out->lengths == NULL) return is_corrupt("lengths of buffers are missing");
    out->starts = malloc((size_t)rows * sizeof *out->starts + 1);
    if (out->starts == NULL) return weft__ranks_no_memory();
    *values = 0;
    for (uint32_t i = 0; i < rows; *values += out->lengths[i++]) out->starts[i] = *values;
    return WEFT_OK;
}

/* `plan`: from the layout in the bytes; NULL: it is that of this world. */
static weft_result read_component(const weft_shard *shard, weft__reader *in, uint32_t rows,
                                  const weft__evolution *plan, uint64_t word,
                                  weft__block_column *out)
{
    const weft__row_component *type = &out->type;
    const uint32_t kind = word >> 32 & 0xFF;
    const bool is_plain = plan != NULL && kind <= WEFT__VALUE_PLAIN;
    weft_result result = row_component_of(shard, out->type.component, &out->type);
    if (result != WEFT_OK) return result;
    if ((type->kind != kind && !(is_plain && type->kind <= WEFT__VALUE_PLAIN)) ||
        type->has_bits != (word >> 40 & 1))
        return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                "component %s is of another kind than when it was written",
                                type->desc->name);
    uint64_t count = rows;
    result = read_counts(in, rows, out, &count);
    if (result != WEFT_OK) return result;
    if (is_plain) count = rows; /* a tag may have become a struct, and back */
    out->values = weft__reader_take(in, count * (plan != NULL ? plan->from_bytes : type->size));
    if (out->values == NULL) return is_corrupt("values are missing");
    if (plan != NULL) result = convert(out, plan, count);
    if (!type->has_bits || result != WEFT_OK) return result;
    out->enabled = weft__reader_take(in, rows);
    return out->enabled != NULL ? WEFT_OK : is_corrupt("enable bits are missing");
}

static weft_result read_columns(const weft_shard *shard, weft__reader *in,
                                const weft__block_types *types, weft__block *out)
{
    uint32_t last = 0;
    bool is_sparse = false;
    for (uint32_t i = 0; i < out->column_count; i++) {
        uint64_t word;
        const weft__evolution *plan = NULL;
        if (!weft__reader_word(in, &word)) return is_corrupt("a component is missing");
        const uint32_t id = (uint32_t)word;
        if ((word >> 32 & 0xFF) == WEFT__VALUE_SPARSE && !is_sparse) {
            is_sparse = true;
            last = 0;
        }
        if (id <= last || (types != NULL && id > types->count))
            return is_corrupt("components are out of order");
        last = id;
        weft_component component = weft__component(shard->world, id);
        if (types != NULL) {
            component = types->components[id];
            if (types->plans[id].is_needed) plan = &types->plans[id];
        }
        if (component.id == 0) return is_corrupt("a component is not in the table");
        out->columns[i].type.component = component;
        weft_result result = read_component(shard, in, out->count, plan, word, &out->columns[i]);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

const char *weft__block_name(weft__reader *names, uint32_t *row, char out[256])
{
    uint64_t word;
    if (!weft__reader_word(names, &word) || word >> 32 > 255 || word >> 32 == 0) return NULL;
    const char *text = weft__reader_take(names, word >> 32);
    if (text == NULL) return NULL;
    *row = (uint32_t)word;
    memcpy(out, text, (size_t)(word >> 32));
    out[word >> 32] = '\0';
    return out;
}

static weft_result read_names(weft__reader *in, weft__block *out)
{
    if (!weft__reader_word(in, &out->name_count)) return is_corrupt("names are missing");
    out->names = *in;
    for (uint64_t i = 0; i < out->name_count; i++) {
        char name[256];
        uint32_t row;
        if (weft__block_name(in, &row, name) == NULL || row >= out->count)
            return is_corrupt("a name is wrong");
    }
    return WEFT_OK;
}

weft_result weft__block_read(const weft_shard *shard, weft__reader *in,
                             const weft__block_types *types, weft__block *out)
{
    uint64_t word;
    *out = (weft__block){0};
    if (!weft__reader_word(in, &word)) return is_corrupt("the head of a block is missing");
    out->count = (uint32_t)word;
    out->column_count = (uint32_t)(word >> 32);
    out->gids = weft__reader_take(in, out->count * UINT64_C(8));
    out->sectors = weft__reader_take(in, out->count * UINT64_C(4));
    if (out->gids == NULL || out->sectors == NULL) return is_corrupt("gids are missing");
    if (out->column_count > 2 * WEFT__ROW_COMPONENTS) return is_corrupt("too many components");
    for (uint32_t i = 0; i < out->count; i++)
        if (out->sectors[i] > shard->map.count) return is_corrupt("there is no such sector");
    out->columns = calloc(out->column_count + UINT64_C(1), sizeof *out->columns);
    if (out->columns == NULL) return weft__ranks_no_memory();
    weft_result result = read_columns(shard, in, types, out);
    if (result == WEFT_OK) result = read_names(in, out);
    if (result != WEFT_OK) weft__block_free(out);
    return result;
}

void weft__block_free(weft__block *block)
{
    for (uint32_t i = 0; block->columns != NULL && i < block->column_count; i++) {
        free(block->columns[i].starts);
        free(block->columns[i].converted);
    }
    free(block->columns);
    *block = (weft__block){0};
}

/* ---- hashes ---- */

/* The bytes of a value. */
static const unsigned char *value_of(const weft__block_column *column, uint32_t row, size_t *bytes)
{
    const size_t size = column->type.size;
    *bytes = 0;
    if ((column->type.desc->flags & WEFT_NOT_HASHED) != 0 || column->type.kind == WEFT__VALUE_TAG)
        return column->values;
    *bytes = size;
    if (column->type.kind != WEFT__VALUE_BUFFER) return column->values + row * size;
    *bytes = column->lengths[row] * size;
    return column->values + column->starts[row] * size;
}

static void hash_column(const weft_shard *shard, const weft__block_column *column,
                        uint64_t (*out)[2])
{
    const uint64_t type = weft_component_hash(shard->world, column->type.component);
    for (uint32_t i = 0; i < column->count; i++) {
        size_t bytes;
        const unsigned char *value = value_of(column, i, &bytes);
        const uint32_t row = column->rows != NULL ? column->rows[i] : i;
        uint64_t hash = hash_part(hash_start(type, bytes), value, bytes);
        if (column->enabled != NULL) hash = hash_word(hash, column->enabled[row]);
        out[row][0] += hash_end(hash);
        out[row][1] += hash_end(hash_word(hash, HASH_K1));
    }
}

void weft__block_hash(const weft_shard *shard, const weft__block *block, uint64_t (*out)[2])
{
    for (uint32_t row = 0; row < block->count; row++) out[row][0] = out[row][1] = 0;
    for (uint32_t i = 0; i < block->column_count; i++) hash_column(shard, &block->columns[i], out);
}
