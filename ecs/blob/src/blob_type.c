/* SPDX-License-Identifier: MIT */
/* blob_type.c: blob types: checked, flattened into kinds, hashed; and the questions that builder
 * and validator ask about them. No state. */
#include "blob_type.h"
#include "bits.h"
#include "hash.h"

#include <stdio.h>
#include <string.h>

weft_result weft__load_result(weft_load_reason reason)
{
    switch (reason) {
    case WEFT_LOAD_NOT_REFUSED:
        return WEFT_OK;
    case WEFT_LOAD_CALL:
        return WEFT_INVALID_ARGUMENT;
    case WEFT_LOAD_SOURCE:
        return WEFT_IO;
    case WEFT_LOAD_BYTE_ORDER:
    case WEFT_LOAD_VERSION:
        return WEFT_UNSUPPORTED;
    case WEFT_LOAD_TYPE_UNKNOWN:
    case WEFT_LOAD_TYPE_SIZE:
    case WEFT_LOAD_TYPE_LAYOUT:
        return WEFT_TYPE_MISMATCH;
    case WEFT_LOAD_LIMIT:
        return WEFT_LIMIT;
    case WEFT_LOAD_MEMORY:
        return WEFT_OUT_OF_MEMORY;
    case WEFT_LOAD_NOT_WEFT:
    case WEFT_LOAD_TRUNCATED:
    case WEFT_LOAD_CHECKSUM:
    case WEFT_LOAD_MALFORMED:
        break;
    }
    return WEFT_CORRUPT;
}

weft_load_reason weft__load_reason(weft_result result)
{
    if (result == WEFT_OK) return WEFT_LOAD_NOT_REFUSED;
    if (result == WEFT_OUT_OF_MEMORY) return WEFT_LOAD_MEMORY;
    if (result == WEFT_LIMIT) return WEFT_LOAD_LIMIT;
    if (result == WEFT_NOT_FOUND || result == WEFT_IO) return WEFT_LOAD_SOURCE;
    if (result == WEFT_CORRUPT) return WEFT_LOAD_MALFORMED;
    if (result == WEFT_TYPE_MISMATCH) return WEFT_LOAD_TYPE_LAYOUT;
    return WEFT_LOAD_CALL;
}

/* What to do, by reason; "": nothing more than the check says. */
static const char *advice_of(weft_load_reason reason)
{
    if (reason == WEFT_LOAD_BYTE_ORDER) return ": save it on a machine of the same byte order";
    if (reason == WEFT_LOAD_VERSION) return ": save it again with this version";
    if (reason == WEFT_LOAD_TYPE_LAYOUT) return ": load it with the type that it was built with";
    if (reason == WEFT_LOAD_TRUNCATED || reason == WEFT_LOAD_CHECKSUM)
        return ": the bytes are damaged, take another copy";
    return "";
}

weft_result weft__load_refuse(weft_load_report *report, weft_load_reason reason, uint64_t offset,
                              const char *check)
{
    const weft_result result = weft__load_result(reason);
    if (report == NULL) return result;
    *report =
        (weft_load_report){.result = result, .reason = reason, .offset = offset, .check = check};
    snprintf(report->text, sizeof report->text, "%s, at byte %llu%s", check,
             (unsigned long long)offset, advice_of(reason));
    return result;
}

static const weft_blob_field string_fields[] = {{0, WEFT_BLOB_KIND_STRING, 1, 1, NULL}};
const weft_blob_type weft_blob_string_type = WEFT_BLOB_TYPE(weft_blob_string, string_fields);

static bool layout_is_possible(uint32_t bytes, uint32_t alignment)
{
    return bytes != 0 && bits_is_power_of_two(alignment) && alignment <= WEFT_BLOB_ALIGNMENT_MAX &&
           bytes % alignment == 0;
}

/* What is wrong with a field; NULL: nothing. `end`: of the field before it. */
static const char *field_problem(const weft_blob_field *field, uint64_t end)
{
    if (field->kind < WEFT_BLOB_KIND_ARRAY || field->kind > WEFT_BLOB_KIND_POINTER)
        return "type: a field has an unknown kind: use one of weft_blob_kind";
    if (!layout_is_possible(field->bytes, field->alignment))
        return "type: a field's elements need bytes, a multiple of their alignment, a power of two "
               "up to 64";
    if (field->kind == WEFT_BLOB_KIND_STRING && (field->bytes != 1 || field->type != NULL))
        return "type: a string has elements of 1 byte without a type";
    if (field->type != NULL &&
        (field->type->bytes != field->bytes || field->type->alignment != field->alignment))
        return "type: the type of a field's elements has another size or alignment than the field "
               "says";
    if (field->offset % 8 != 0) return "type: the offset of a field is no multiple of 8";
    if (field->offset < end) return "type: fields overlap or are not in order of offset";
    return NULL;
}

/* What is wrong with a description, and the offset of the field; NULL: nothing. */
static const char *type_problem(const weft_blob_type *type, uint64_t *offset)
{
    *offset = 0;
    if (type->name == NULL) return "type: it has no name";
    if (!layout_is_possible(type->bytes, type->alignment))
        return "type: it needs bytes, a multiple of its alignment, a power of two up to 64";
    if (type->field_count > BLOB_FIELDS_MAX)
        return "type: more than 4,096 fields: use nested arrays";
    if (type->field_count != 0 && type->fields == NULL)
        return "type: field_count is not 0, but fields is NULL: set both";
    if (type->field_count != 0 && type->alignment < 8)
        return "type: a struct with references is aligned to 8 at least";
    uint64_t end = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_blob_field *field = &type->fields[i];
        *offset = field->offset;
        const char *problem = field_problem(field, end);
        if (problem != NULL) return problem;
        end = (uint64_t)field->offset + (field->kind == WEFT_BLOB_KIND_POINTER
                                             ? (uint32_t)sizeof(weft_blob_pointer)
                                             : (uint32_t)sizeof(weft_blob_array));
    }
    return end <= type->bytes ? NULL : "type: a field reaches beyond the struct";
}

uint32_t weft__blob_plan_kind(const weft__blob_plan *plan, const weft_blob_field *field)
{
    for (uint32_t i = 0; i < plan->kind_count; i++) {
        const weft__blob_element *kind = &plan->kinds[i];
        if (kind->type == field->type && kind->bytes == field->bytes &&
            kind->alignment == field->alignment) {
            return i;
        }
    }
    return plan->kind_count;
}

/* Adds the kinds that `type` refers to, and the description of `type` to the hash. */
static weft_result plan_type(weft__blob_plan *plan, const weft_blob_type *type)
{
    plan->mistake = type_problem(type, &plan->mistake_offset);
    if (plan->mistake != NULL) return WEFT_INVALID_ARGUMENT;
    uint64_t hash = hash_bytes(plan->type_hash, type->name, strlen(type->name));
    hash = hash_word(hash, (uint64_t)type->bytes << 32 | type->alignment);
    hash = hash_word(hash, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_blob_field *field = &type->fields[i];
        uint32_t kind = weft__blob_plan_kind(plan, field);
        if (kind == BLOB_KINDS_MAX) {
            plan->mistake = "type: it reaches more than 256 different types: use fewer";
            return WEFT_LIMIT;
        }
        if (kind == plan->kind_count)
            plan->kinds[plan->kind_count++] =
                (weft__blob_element){field->type, field->bytes, field->alignment};
        hash = hash_word(hash, (uint64_t)field->offset << 32 | field->kind);
        hash = hash_word(hash, (uint64_t)field->bytes << 32 | field->alignment);
        hash = hash_word(hash, (uint64_t)kind << 1 | (field->type != NULL));
    }
    plan->type_hash = hash;
    return WEFT_OK;
}

weft_result weft__blob_plan_init(weft__blob_plan *plan, const weft_blob_type *root)
{
    plan->mistake = "type: it is NULL";
    plan->mistake_offset = 0;
    if (root == NULL) return WEFT_INVALID_ARGUMENT;
    plan->mistake = NULL;
    plan->kind_count = 1;
    plan->type_hash = BLOB_VERSION;
    plan->kinds[0] = (weft__blob_element){root, root->bytes, root->alignment};
    for (uint32_t i = 0; i < plan->kind_count; i++) {
        if (plan->kinds[i].type == NULL) continue;
        weft_result result = plan_type(plan, plan->kinds[i].type);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

const weft_blob_type *weft__blob_type_of(const weft_blob_type *const *types, uint32_t count,
                                         uint64_t hash)
{
    for (uint32_t i = 0; i < count; i++) {
        weft__blob_plan plan;
        if (weft__blob_plan_init(&plan, types[i]) == WEFT_OK && plan.type_hash == hash)
            return types[i];
    }
    return NULL;
}

weft_result weft__blob_plan_report(weft__blob_plan *plan, const weft_blob_type *root,
                                   weft_load_report *report)
{
    weft_result result = weft__blob_plan_init(plan, root);
    if (result == WEFT_OK) return WEFT_OK;
    weft__load_refuse(report, WEFT_LOAD_CALL, plan->mistake_offset, plan->mistake);
    report->result = result;
    if (root != NULL && root->name != NULL)
        snprintf(report->type, sizeof report->type, "%s", root->name);
    return result;
}

const weft_blob_field *weft__blob_field_at(const weft__blob_element *element, uint64_t offset)
{
    if (element->type == NULL) return NULL;
    for (uint32_t i = 0; i < element->type->field_count; i++) {
        if (element->type->fields[i].offset == offset) return &element->type->fields[i];
    }
    return NULL;
}

/* Whether a struct of `type` lies at `offset` of `element`: the same references at the same places.
 */
static bool element_contains(const weft__blob_element *element, uint64_t offset,
                             const weft_blob_type *type)
{
    if (offset == 0 && element->type == type) return true;
    if (element->bytes - offset < type->bytes) return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_blob_field *inner = &type->fields[i];
        const weft_blob_field *outer = weft__blob_field_at(element, offset + inner->offset);
        if (outer == NULL || outer->kind != inner->kind || outer->type != inner->type ||
            outer->bytes != inner->bytes || outer->alignment != inner->alignment) {
            return false;
        }
    }
    return true;
}

bool weft__blob_target_fits(const weft__blob_element *element, const weft__blob_extent *extent,
                            uint64_t delta, const weft_blob_field *field)
{
    uint64_t extent_bytes = extent->count * element->bytes;
    if (delta > extent_bytes || extent_bytes - delta < field->bytes) return false;
    if ((extent->position + delta) % field->alignment != 0) return false;
    if (field->type == NULL || field->type->field_count == 0) return true;
    return element_contains(element, delta % element->bytes, field->type);
}

uint64_t weft__blob_extent_find(const weft__blob_extent *extents, uint64_t count, uint64_t position,
                                uint64_t *hint)
{
    for (uint64_t i = *hint; i < count && i < *hint + 2; i++) {
        if (extents[i].position > position) break;
        if (i + 1 == count || extents[i + 1].position > position) return *hint = i;
    }
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (extents[middle].position <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return *hint = low;
}
