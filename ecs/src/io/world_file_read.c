/* SPDX-License-Identifier: MIT */
/* world_file_read.c: a world out of bytes: header, types, blobs, names, resources; rows are in
 * world_file_rows.c. Untrusted input. Rows and blobs are made while reading and taken back when
 * something is wrong; names and resources, which cannot be, come when all else is right. */
#include "world_file_read.h"
#include "archetype_order.h"
#include "blob_store.h"
#include "blob_type.h"
#include "component_registry.h"
#include "directory_check.h"
#include "entity_tag.h"
#include "error.h"
#include "field.h"
#include "hash_lanes.h"
#include "lent.h"
#include "load_refusal.h"
#include "name_table.h"
#include "relation_registry.h"
#include "utf8.h"
#include "world_file_rows.h"
#include "world_file_write.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
#define TYPE_BYTES_MIN 37u /* of a record of version 4 */

/* ---- bytes ---- */

/* Notes a reason, at the byte that was read last. */
static void note(const weft__world_reader *r, weft_load_reason reason)
{
    r->report->reason = reason;
    r->report->offset = (uint64_t)(r->in.at - r->start);
}

static void note_numbers(const weft__world_reader *r, uint64_t found, uint64_t expected)
{
    r->report->found = found;
    r->report->expected = expected;
}

bool weft__world_reader_fail(weft__world_reader *r, weft_load_reason reason, const char *check)
{
    if (r->result != WEFT_OK) return false;
    if (r->in.is_short) {
        reason = WEFT_LOAD_MALFORMED;
        check = "the file ends within a record";
    }
    note(r, reason);
    r->in.is_short = true;
    r->report->check = check;
    const char *advice = reason == WEFT_LOAD_TRUNCATED || reason == WEFT_LOAD_CHECKSUM ||
                                 reason == WEFT_LOAD_MALFORMED
                             ? ": the file is damaged, take another copy"
                             : "";
    r->result = weft__error(r->world, weft__load_result(reason), WEFT__NO_ENTITY,
                            WEFT__NO_COMPONENT, "weft_world_load: %s, at byte %zu%s", check,
                            (size_t)(r->in.at - r->start), advice);
    return false;
}

bool weft__world_reader_failed(weft__world_reader *r)
{
    if (r->result != WEFT_OK) return false;
    r->in.is_short = true;
    r->result = r->world->error->code;
    note(r, weft__load_reason(r->result));
    return false;
}

uint32_t weft__world_reader_count(weft__world_reader *r, size_t bytes)
{
    uint32_t count = weft__in_u32(&r->in);
    if (weft__world_reader_ok(r) && (uint64_t)count * bytes > (uint64_t)(r->in.end - r->in.at)) {
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a count larger than the file");
        return 0;
    }
    return weft__world_reader_ok(r) ? count : 0;
}

/* A text of 1 to 255 bytes without NUL into `out` (256 bytes). */
static void name_read(weft__world_reader *r, char *out)
{
    if (!weft__in_name(&r->in, out, 1))
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a name that cannot be one");
}

static void *allocate(weft__world_reader *r, size_t count, size_t size)
{
    void *items = weft__alloc_zeroed(&r->world->memory, CATEGORY, count, size, 16);
    if (items != NULL) return items;
    weft__error_memory(r->world, "weft_world_load");
    weft__world_reader_failed(r);
    return NULL;
}

static void release(weft__world_reader *r, void *items, size_t count, size_t size)
{
    weft__free(&r->world->memory, CATEGORY, items, count, size, 16);
}

/* ---- values ---- */

bool weft__world_reader_type_differs(weft__world_reader *r, weft_load_reason reason,
                                     const char *name, const char *why)
{
    if (r->result != WEFT_OK) return false;
    note(r, reason);
    r->in.is_short = true;
    snprintf(r->report->type, sizeof r->report->type, "%s", name);
    r->result = weft__error(r->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY,
                            weft_component_find(r->world, name),
                            "weft_world_load: component \"%s\" %s", name, why);
    return false;
}

/* The number of a blob becomes a reference. */
static bool resolve_blob(void *user, weft__reference *reference)
{
    weft__world_reader *r = user;
    if (!reference->is_blob || reference->bits == 0) return true;
    if (reference->bits > r->blob_count)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a blob that is not there");
    uint64_t number = reference->bits - 1;
    reference->blob = r->blobs[number];
    if (r->type->desc.hooks.destruct == NULL)
        r->is_kept[number] = true;
    else
        weft_blob_acquire(r->world->blobs, reference->blob);
    return true;
}

/* The plan of a listed type from its layout in the file; NULL: its bytes are the same. Cost:
 * O(types of the file) when some type has one. */
static const weft__evolution *evolution_of(const weft__world_reader *r, const weft__type *type)
{
    for (uint32_t i = 0; i < r->type_count && r->evolution_count != 0; i++)
        if (r->types[i] == type) return r->evolutions[i].is_needed ? &r->evolutions[i] : NULL;
    return NULL;
}

size_t weft__world_reader_bytes(const weft__world_reader *r, const weft__type *type)
{
    const weft__evolution *evolution = evolution_of(r, type);
    return evolution == NULL ? type->desc.size : evolution->from_bytes;
}

/* Values by a plan; `bytes` of the world's layout. References are still those of the file. */
static bool convert(weft__world_reader *r, const weft__evolution *evolution, const weft__type *type,
                    char *value, size_t bytes)
{
    size_t count = evolution->to_bytes == 0 ? 1 : bytes / evolution->to_bytes;
    const char *from = weft__in_take(&r->in, count * evolution->from_bytes);
    char text[400];
    weft__callback_begin(r->world); /* migrate */
    for (size_t i = 0; i < count && from != NULL; i++) {
        if (weft__evolution_apply(evolution, from + i * evolution->from_bytes,
                                  value + i * evolution->to_bytes, text))
            continue;
        weft__world_reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, type->desc.name, text);
        break;
    }
    weft__callback_end(r->world);
    if (!weft__world_reader_ok(r) && bytes != 0) memset(value, 0, bytes);
    return weft__world_reader_ok(r);
}

bool weft__world_reader_value(weft__world_reader *r, const weft__type *type, char *value,
                              size_t bytes)
{
    if (weft__type_is_hooked(type)) {
        uint32_t count = weft__in_u32(&r->in);
        const char *from = weft__in_take(&r->in, count);
        if (from == NULL) return false;
        weft__callback_begin(r->world);
        bool is_loaded = type->desc.hooks.load(value, from, count, type->desc.hooks.user);
        weft__callback_end(r->world);
        if (!is_loaded)
            return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED,
                                           "a value that its load hook refuses");
        weft__tags_flip(&r->world->directory, type, value,
                        (weft__value_bytes){value, 0, type->desc.size});
        return true;
    }
    const weft__evolution *evolution = evolution_of(r, type);
    if (evolution != NULL) {
        if (!convert(r, evolution, type, value, bytes)) return false;
    } else {
        const char *from = weft__in_take(&r->in, bytes);
        if (from == NULL) return false;
        if (bytes != 0) memcpy(value, from, bytes);
    }
    r->type = type;
    weft__tags_flip(&r->world->directory, type, value, (weft__value_bytes){value, 0, bytes});
    if (!weft__type_has_blobs(type) || weft__elements_references(type, value, 1, resolve_blob, r))
        return true;
    memset(value, 0, bytes); /* no number may be taken for a reference */
    return false;
}

/* ---- header ---- */

/* What marks a world file that this version reads; NULL, or what is wrong. */
static const char *header_problem(const weft__world_header *header, weft_load_report *report)
{
    report->reason = WEFT_LOAD_NOT_WEFT;
    if (header->magic != WORLD_FILE_MAGIC)
        return "not a world file: give one that weft_world_save wrote";
    report->reason = WEFT_LOAD_BYTE_ORDER;
    if (header->byte_order != WORLD_FILE_BYTE_ORDER)
        return "a file of the other byte order: save it on a machine of this byte order";
    report->reason = WEFT_LOAD_VERSION;
    report->found = header->version;
    report->expected = WORLD_FILE_VERSION;
    if (header->version < WORLD_FILE_VERSION_LEAST)
        return "a file of a format version that is no longer read: load and save it with a version "
               "of weft between";
    if (header->version > WORLD_FILE_VERSION)
        return "a file of a later format version: load it with the version of weft that wrote it, "
               "or a later one";
    report->found = report->expected = 0;
    report->reason = WEFT_LOAD_MALFORMED;
    if (header->blobs_at < sizeof *header || header->blobs_at > header->total_bytes)
        return "a size in the header is wrong";
    report->reason = WEFT_LOAD_NOT_REFUSED;
    return NULL;
}

static bool truncated(weft__world_reader *r, size_t count, uint64_t expected)
{
    r->in.at = r->start + count;
    note_numbers(r, count, expected);
    return weft__world_reader_fail(r, WEFT_LOAD_TRUNCATED, "the bytes end too early");
}

static bool header_read(weft__world_reader *r, size_t count, bool with_hash)
{
    const size_t behind = offsetof(weft__world_header, version);
    if (count < sizeof r->header) return truncated(r, count, sizeof r->header);
    memcpy(&r->header, r->start, sizeof r->header);
    const weft__world_header *header = &r->header;
    const char *problem = header_problem(header, r->report);
    if (problem != NULL) return weft__world_reader_fail(r, r->report->reason, problem);
    if (header->total_bytes > count) return truncated(r, count, header->total_bytes);
    if (header->total_bytes != count || header->reserved != 0)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a size in the header is wrong");
    if (!(header->time >= 0 && header->time <= DBL_MAX && header->dt >= 0 && header->dt <= FLT_MAX))
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "the clock is not a time");
    uint64_t hash = with_hash ? weft__hash_lanes(WORLD_FILE_SEED, r->start + behind, count - behind)
                              : header->content_hash;
    if (hash != header->content_hash) {
        note_numbers(r, hash, header->content_hash);
        return weft__world_reader_fail(r, WEFT_LOAD_CHECKSUM, "the content hash differs");
    }
    r->in.at = r->start + sizeof *header;
    r->in.end = r->start + header->blobs_at;
    return true;
}

/* ---- types ---- */

static bool is_listed(const weft__world_reader *r, const weft__type *type)
{
    for (uint32_t i = 0; i < r->type_count; i++)
        if (r->types[i] == type) return true;
    return false;
}

/* Another layout: a plan from the one in the file. */
static bool evolve(weft__world_reader *r, const weft__type *type, const weft_component_desc *desc,
                   uint64_t hash)
{
    weft__evolution *evolution = &r->evolutions[r->type_count];
    char text[400];
    weft__evolution_ends ends = {desc, &type->desc, hash};
    weft__callback_begin(r->world); /* changed */
    bool is_made = weft__evolution_init(&r->world->memory, r->desc, &ends, evolution, text);
    weft__callback_end(r->world);
    r->is_reshaped = r->is_reshaped || desc->size != type->desc.size ||
                     desc->alignment != type->desc.alignment ||
                     desc->buffer_capacity != type->desc.buffer_capacity;
    if (is_made) r->evolution_count += evolution->is_needed;
    if (is_made) return true;
    if (text[0] == '\0') {
        weft__error_memory(r->world, "weft_world_load");
        return weft__world_reader_failed(r);
    }
    bool is_size = desc->size != type->desc.size;
    if (is_size) note_numbers(r, desc->size, type->desc.size);
    return weft__world_reader_type_differs(r, is_size ? WEFT_LOAD_TYPE_SIZE : WEFT_LOAD_TYPE_LAYOUT,
                                           type->desc.name, text);
}

/* The type of the world for a record, registered when it is missing. */
static bool type_settle(weft__world_reader *r, const weft_component_desc *desc, uint64_t hash,
                        bool is_hooked)
{
    weft_world *world = r->world;
    const char *name = weft__evolution_name(r->desc, desc->name);
    weft_component found = weft__component_named(world, name);
    if (found.id == 0 && is_hooked)
        return weft__world_reader_type_differs(
            r, WEFT_LOAD_TYPE_UNKNOWN, desc->name,
            "was saved by a hook: register it with save and load before loading");
    /* of any size, but it follows; the elements of a buffer may be none */
    bool is_resource = (desc->flags & (WEFT_RESOURCE | WEFT_BUFFER)) == WEFT_RESOURCE;
    if (found.id == 0 && is_resource && desc->size > (size_t)(r->in.end - r->in.at))
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a resource longer than the file");
    if (found.id == 0) {
        found = weft_component_create(world, desc);
        weft_result code = world->error->code;
        if (found.id == 0 && (code == WEFT_LIMIT || code == WEFT_OUT_OF_MEMORY))
            return weft__world_reader_failed(r);
        if (found.id == 0 || world->types.at[found.id]->hash != hash)
            return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a component that cannot be");
    }
    const weft__type *type = world->types.at[found.id];
    if (type->hash != hash && (is_hooked || weft__type_is_hooked(type)))
        return weft__world_reader_type_differs(
            r, WEFT_LOAD_TYPE_LAYOUT, desc->name,
            "is saved or loaded by a hook and has another layout in the file: "
            "register the layout that was saved, or use another name");
    if (type->hash != hash && !evolve(r, type, desc, hash)) return false;
    if (weft__type_is_hooked(type) != is_hooked)
        return weft__world_reader_type_differs(
            r, WEFT_LOAD_TYPE_LAYOUT, desc->name,
            is_hooked ? "was saved by a hook: register it with save and load"
                      : "was saved as bytes, but is registered with a load hook");
    if (weft__type_save_problem(type) != NULL)
        return weft__world_reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, desc->name,
                                               weft__type_save_problem(type));
    if ((r->evolution_count != 0 || name != desc->name) && is_listed(r, type))
        return weft__world_reader_type_differs(
            r, WEFT_LOAD_TYPE_LAYOUT, name, "has two layouts in the file: rename one of them only");
    r->types[r->type_count++] = type;
    return true;
}

static bool relation_read(weft__world_reader *r)
{
    if (r->header.version < 5) return true;
    uint32_t word = r->relations[r->type_count] = weft__in_u32(&r->in);
    return weft__relation_word_is_right(word) ||
           weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "what a relation does");
}

/* What a type requires, for the case that it must be registered: to be released. */
static weft_component *required_read(weft__world_reader *r, weft_component_desc *desc)
{
    if (r->header.version < 5) return NULL;
    uint32_t count = desc->required_count = weft__world_reader_count(r, 4);
    weft_component *required = count == 0 ? NULL : allocate(r, count, sizeof *required);
    for (uint32_t i = 0; i < count && required != NULL && weft__world_reader_ok(r); i++) {
        uint32_t number = weft__in_u32(&r->in);
        if (number < r->type_count)
            required[i] = weft__component(r->world, r->types[number]->id);
        else
            weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a required type that is not there");
    }
    desc->required = required;
    return required;
}

/* Relations that the loader did not declare. */
static void relations_revive(weft__world_reader *r)
{
    for (uint32_t i = 0; i < r->type_count && weft__world_reader_ok(r); i++) {
        uint32_t word =
            r->header.version < 5 ? weft__relation_word_built_in(r->types[i]) : r->relations[i];
        if (weft__relation_revive(r->world, weft__component(r->world, r->types[i]->id), word) !=
            WEFT_OK)
            weft__world_reader_failed(r);
    }
}

static bool type_read(weft__world_reader *r)
{
    weft__file_type file;
    const char *problem = weft__file_type_get(&r->in, &r->world->memory, &file);
    if (problem != NULL && problem[0] == '\0') {
        weft__error_memory(r->world, "weft_world_load");
        weft__world_reader_failed(r);
    } else if (problem != NULL) {
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, problem);
    } else if (relation_read(r)) {
        weft_component *required = required_read(r, &file.desc);
        if (weft__world_reader_ok(r)) type_settle(r, &file.desc, file.hash, file.is_hooked);
        release(r, required, file.desc.required_count, sizeof *required);
    }
    weft__file_type_free(&r->world->memory, &file);
    return weft__world_reader_ok(r);
}

static void types_read(weft__world_reader *r)
{
    r->type_limit = weft__world_reader_count(r, TYPE_BYTES_MIN);
    if (r->type_limit == 0 || !weft__world_reader_ok(r)) return;
    r->types = allocate(r, r->type_limit, sizeof *r->types);
    r->evolutions = allocate(r, r->type_limit, sizeof *r->evolutions);
    r->relations = allocate(r, r->type_limit, sizeof *r->relations);
    for (uint32_t i = 0; i < r->type_limit && weft__world_reader_ok(r); i++) type_read(r);
    relations_revive(r);
}

/* ---- blobs ---- */

static bool blob_read(weft__world_reader *r)
{
    uint64_t hash = weft__in_u64(&r->in), bytes = weft__in_u64(&r->in);
    const char *block = weft__in_take(&r->in, bytes);
    if (block == NULL) return false;
    const weft_blob_type *type =
        weft__blob_type_of(r->desc->blob_types, r->desc->blob_type_count, hash);
    if (type == NULL) note_numbers(r, hash, 0);
    if (type == NULL)
        return weft__world_reader_fail(r, WEFT_LOAD_TYPE_UNKNOWN,
                                       "a blob of a type that is not among blob_types: add it to "
                                       "weft_load_desc");
    weft_load_report report;
    weft_blob_load_desc desc = {type, WEFT_BLOB_LOAD, &report, sizeof report};
    if (weft_blob_adopt(r->world->blobs, block, bytes, &desc, &r->blobs[r->blob_count]) ==
        WEFT_OK) {
        r->blob_count++;
        return true;
    }
    note_numbers(r, report.found, report.expected);
    r->in.at = block + report.offset;
    return weft__world_reader_fail(r, report.reason,
                                   report.check == NULL ? "a blob was refused" : report.check);
}

/* They lie at the end, and come before what refers to them. */
static void blobs_read(weft__world_reader *r)
{
    const char *at = r->in.at, *end = r->in.end;
    r->in.at = end;
    r->in.end = r->start + r->header.total_bytes;
    r->blob_limit = weft__world_reader_count(r, 16);
    if (r->blob_limit != 0) {
        r->blobs = allocate(r, r->blob_limit, sizeof *r->blobs);
        r->is_kept = allocate(r, r->blob_limit, sizeof *r->is_kept);
        if (weft__world_reader_ok(r) && weft_world_blobs(r->world) == NULL)
            weft__world_reader_failed(r);
    }
    for (uint32_t i = 0; i < r->blob_limit && weft__world_reader_ok(r); i++) blob_read(r);
    if (r->in.at != r->in.end)
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "bytes behind the end");
    r->in.at = at;
    r->in.end = end;
}

static void blobs_release(weft__world_reader *r)
{
    for (uint32_t i = 0; i < r->blob_count; i++)
        if (r->result != WEFT_OK || !r->is_kept[i]) weft_blob_release(r->world->blobs, r->blobs[i]);
    release(r, r->blobs, r->blob_limit, sizeof *r->blobs);
    release(r, r->is_kept, r->blob_limit, sizeof *r->is_kept);
}

/* ---- names and resources: looked at first, then applied ---- */

static void names_read(weft__world_reader *r, bool is_applied)
{
    uint32_t count = weft__world_reader_count(r, 13);
    if (!is_applied && count != 0 && weft__names_reserve(r->world, count, count) != WEFT_OK) {
        weft__error_memory(r->world, "weft_world_load");
        weft__world_reader_failed(r);
    }
    for (uint32_t i = 0; i < count && weft__world_reader_ok(r); i++) {
        char name[256];
        weft_entity entity = {0};
        uint32_t location;
        weft__in_get(&r->in, &entity, sizeof entity);
        entity.index ^= r->world->directory.tag_bits;
        name_read(r, name);
        if (!weft__directory_find(&r->world->directory, entity, &location))
            weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a name of a dead entity");
        /* names of older versions that are not UTF-8 are left out */
        if (is_applied && weft__entity_lives(r->world, entity) && weft__name_fits(name, 255))
            weft_entity_set_name(r->world, entity, name);
    }
}

/* Reads into a value of its own, so that a failure, here or later, changes nothing. */
static void resource_read(weft__world_reader *r, uint32_t number)
{
    const weft__type *type = r->types[number];
    size_t size = weft__type_bytes(type);
    weft_world *world = r->world;
    bool is_buffer = (type->desc.flags & WEFT_BUFFER) != 0, is_hooked = weft__type_is_hooked(type);
    if (!is_buffer && !is_hooked && weft__in_u32(&r->in) != weft__world_reader_bytes(r, type)) {
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a resource of another size");
        return;
    }
    char *value = weft__alloc_zeroed(&world->memory, CATEGORY, size + 1, 1, 64);
    if (value == NULL) {
        weft__error_memory(world, "weft_world_load");
        weft__world_reader_failed(r);
        return;
    }
    r->resources[number] = value;
    if (is_buffer || is_hooked) weft__type_construct_zeroed(type, value, 1);
    if (is_buffer)
        weft__world_reader_buffer(r, type, (weft_buffer *)(void *)value);
    else
        weft__world_reader_value(r, type, value, size);
}

/* Gives the resources that were read to the world, or ends them. Cannot fail. */
static void resources_settle(weft__world_reader *r)
{
    for (uint32_t i = 0; i < r->type_count && r->resources != NULL; i++) {
        const weft__type *type = r->types[i];
        char *value = r->resources[i];
        if (value == NULL) continue;
        char *ended = r->result == WEFT_OK ? type->resource : value;
        weft__type_destruct(&r->world->memory, type, ended, 1);
        if (ended != value) memcpy(ended, value, weft__type_bytes(type));
        weft__free(&r->world->memory, CATEGORY, value, weft__type_bytes(type) + 1, 1, 64);
    }
    release(r, r->resources, r->type_limit, sizeof *r->resources);
}

static void runs_read(weft__world_reader *r)
{
    uint32_t count = r->header.version < 5 ? 0 : weft__world_reader_count(r, 22);
    for (uint32_t i = 0; i < count && weft__world_reader_ok(r); i++) {
        char name[256];
        weft__kept_run run = {.is_group = weft__in_u8(&r->in) == 1};
        name_read(r, name);
        weft__in_get(&r->in, &run.elapsed, sizeof run.elapsed);
        weft__in_get(&r->in, &run.timer, sizeof run.timer);
        if (strlen(name) < sizeof run.name) memcpy(run.name, name, strlen(name) + 1);
        const char *problem = weft__run_problem(&run);
        if (problem != NULL) weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, problem);
        weft__run_list_add(&r->runs, &run);
    }
    if (r->runs.is_out_of_memory) {
        weft__error_memory(r->world, "weft_world_load");
        weft__world_reader_failed(r);
    }
}

static void tail_read(weft__world_reader *r)
{
    const char *names = r->in.at;
    names_read(r, false);
    if (r->type_count != 0 && weft__world_reader_ok(r))
        r->resources = allocate(r, r->type_limit, sizeof *r->resources);
    for (uint32_t i = 0; i < r->type_count && weft__world_reader_ok(r); i++)
        if (r->types[i]->resource != NULL) resource_read(r, i);
    runs_read(r);
    if (r->in.at != r->in.end)
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "bytes between the sections");
    r->in.at = names;
    if (weft__world_reader_ok(r)) names_read(r, true);
}

weft_result weft__world_read(weft_world *world, const void *bytes, size_t count,
                             const weft_load_desc *desc, bool with_hash, weft_load_report *report)
{
    weft_load_report unwanted = {0};
    weft__world_reader r = {.world = world, .start = bytes, .in.at = bytes, .desc = desc};
    r.report = report == NULL ? &unwanted : report;
    r.runs.world = world;
    weft__archetype_list before, none = {0};
    weft_result result = weft__world_check_new(world, "weft_world_load");
    if (result == WEFT_OK) result = weft__archetypes_note(world, &before);
    if (result == WEFT_OK && (result = weft__ids_close(world, "weft_world_load")) != WEFT_OK)
        weft__archetype_list_free(world, &before);
    if (result != WEFT_OK) return result;
    if (header_read(&r, count, with_hash)) {
        weft__archetypes_arrange(world, &none); /* those of the file come first; cannot fail */
        types_read(&r);
        blobs_read(&r);
        weft__world_reader_rows(&r);
        tail_read(&r);
        weft__world_reader_ok(&r);
    }
    if (r.result == WEFT_OK)
        world->front.clock =
            (weft__clock){.steps = r.header.steps, .time = r.header.time, .dt = r.header.dt};
    if (r.result == WEFT_OK) {
        weft__run_list_give(&r.runs);
        weft__world_end_spent(world);
    } else {
        weft__world_wipe(world);
        weft__archetypes_arrange(world, &before); /* they have been there: cannot fail */
    }
    weft__ids_open(world);
    weft__archetype_list_free(world, &before);
    resources_settle(&r);
    blobs_release(&r);
    for (uint32_t i = 0; i < r.type_limit && r.evolutions != NULL; i++)
        weft__evolution_fini(&world->memory, &r.evolutions[i]);
    release(&r, r.evolutions, r.type_limit, sizeof *r.evolutions);
    weft__run_list_free(&r.runs);
    release(&r, r.relations, r.type_limit, sizeof *r.relations);
    release(&r, (void *)(uintptr_t)r.types, r.type_limit, sizeof *r.types);
    return r.result;
}
