/* SPDX-License-Identifier: MIT */
/* component_problem.c: which descriptions of components are refused. Each function returns the
 * sentence that says what is wrong and what to do, or NULL. */
#include "component_problem.h"

#include "bits.h"
#include "field.h"
#include "utf8.h"

#include <string.h>

/* What goes with what: the kinds that one may have beside it, what it lacks, and the sentence for
 * others; kinds without a row go with all that have none. The first row that refuses tells. */
enum { HOOKS = 1, CHECK = 2, REQUIRED = 4 };
static const struct kind_rule {
    uint32_t kind, beside, lacks;
    const char *refusal;
} rules[] = {
    {WEFT_RESOURCE, WEFT_BUFFER | WEFT_NOT_HASHED, REQUIRED,
     "RESOURCE goes with BUFFER only: leave the other flags out"},
    {WEFT_SHARED, WEFT_CLEANUP | WEFT_NOT_HASHED | WEFT_NOT_COPIED, HOOKS | CHECK,
     "SHARED goes with CLEANUP only: leave the other flags out"},
    {WEFT_CHUNK, WEFT_CLEANUP | WEFT_NOT_HASHED | WEFT_NOT_COPIED, HOOKS,
     "CHUNK goes with CLEANUP only: leave the other flags out"},
    {WEFT_SPARSE, WEFT_NOT_HASHED, REQUIRED,
     "SPARSE goes with NOT_HASHED only: leave the other flags out"},
    {WEFT_ENABLEABLE, WEFT_BUFFER | WEFT_NOT_HASHED | WEFT_NOT_COPIED, 0,
     "CLEANUP components cannot be ENABLEABLE: leave one of the flags out"},
};
#define KINDS_ALL                                                                                  \
    (WEFT_ENABLEABLE | WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_CLEANUP | WEFT_RESOURCE |     \
     WEFT_NOT_HASHED | WEFT_SPARSE | WEFT_NOT_COPIED)
#define VALUE_BYTES_MAX (WEFT__MEGACHUNK_BYTES - 4096) /* with its entity it must fit a chunk */

static uint64_t field_total(const weft_field *field)
{
    return (uint64_t)weft__field_size(field) * weft__field_count(field);
}

/* Files and texts hold fields by their names: paths like "hull.plates[2].mass" where they are
 * nested. Those of a `type`, which was checked, are plain and differ, but paths may be long. */
static const char *field_name_problem(const weft_component_desc *desc, uint32_t index)
{
    const char *name = desc->fields[index].name;
    if (name == NULL) return "a field has no name: give it one";
    if (name[0] == '\0' && desc->field_count != 1)
        return "a field has no name, which only a sole field may have: give it one";
    if (desc->type == NULL ? !weft__name_is_plain(name, "\"\\") : strlen(name) > 255)
        return "the name of a field, with those of the structs around it, is longer than 255 bytes "
               "or not UTF-8, or has a quote, a backslash or a control character: change it";
    for (uint32_t i = 0; i < index && desc->type == NULL && index < WEFT_TYPE_FIELDS; i++)
        if (strcmp(desc->fields[i].name, name) == 0)
            return "two fields have the same name: rename one of them";
    return NULL;
}

/* Described references are visited each, so they may not overlap, as other fields may: there are
 * never more than the component has bytes for. */
static const char *fields_problem(const weft_component_desc *desc)
{
    uint64_t reference_bytes = 0;
    if (desc->field_count != 0 && desc->fields == NULL)
        return "field_count is not 0, but fields is NULL: set both";
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const weft_field *field = &desc->fields[i];
        const char *problem = field_name_problem(desc, i);
        if (problem == NULL) problem = weft__field_range_problem(field);
        if (problem != NULL) return problem;
        if (!weft__kind_is(field->kind) || weft__kind_number(field->kind) == WEFT__KIND_NONE)
            return "a field has an unknown kind: use one up to WEFT_FIELD_BLOB, or describe the "
                   "component by `type`";
        if (field->offset > desc->size || field_total(field) > desc->size - field->offset)
            return "a field reaches beyond the component: check offset and count";
        bool is_reference = field->kind == WEFT_FIELD_ENTITY || field->kind == WEFT_FIELD_BLOB;
        reference_bytes += is_reference ? field_total(field) : 0;
        if (reference_bytes > desc->size)
            return "ENTITY or BLOB fields overlap: check their offsets";
    }
    return NULL;
}

static const char *kind_problem(const weft_component_desc *desc)
{
    uint32_t lacks = 0;
    if ((desc->flags & ~(uint32_t)KINDS_ALL) != 0)
        return "unknown flags: use those of weft_component_flags";
    for (uint32_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if ((desc->flags & rules[i].kind) == 0) continue;
        if ((desc->flags & ~(rules[i].kind | rules[i].beside)) != 0) return rules[i].refusal;
        lacks |= rules[i].lacks;
    }
    if (desc->required_count != 0 && (lacks & REQUIRED) != 0)
        return "RESOURCE and SPARSE components require none: leave `required` out";
    if (desc->is_checked && (desc->type == NULL || (lacks & CHECK) != 0))
        return "is_checked needs `type`, and is not for SHARED: leave it out";
    bool has_hooks = desc->hooks.construct != NULL || desc->hooks.destruct != NULL ||
                     desc->hooks.copy != NULL || desc->hooks.save != NULL;
    if (has_hooks && (lacks & HOOKS) != 0)
        return "SHARED and CHUNK components have no lifecycle hooks: leave them out (SHARED: use "
               "shared_release)";
    return NULL;
}

static const char *size_problem(const weft_component_desc *desc)
{
    if (desc->alignment > 64 ||
        (desc->alignment != 0 && !bits_is_power_of_two((uint64_t)desc->alignment)))
        return "the alignment must be a power of two up to 64, or 0";
    bool is_resource = (desc->flags & (WEFT_RESOURCE | WEFT_BUFFER)) == WEFT_RESOURCE;
    if (is_resource && desc->size > PTRDIFF_MAX - 4096)
        return "the resource is larger than the address space: check the size";
    if (!is_resource && desc->size > VALUE_BYTES_MAX)
        return "the component is larger than a chunk (about 1 MiB): use a BUFFER or a blob";
    if (desc->alignment != 0 && desc->size % desc->alignment != 0)
        return "the size must be a multiple of the alignment: pass sizeof and alignof of one type";
    if ((desc->flags & WEFT_BUFFER) == 0) return NULL;
    if (desc->alignment > 16)
        return "buffer elements are aligned to 16 at most: use a smaller alignment";
    if ((uint64_t)desc->buffer_capacity * desc->size > VALUE_BYTES_MAX - sizeof(weft_buffer))
        return "the inline elements are larger than a chunk (about 1 MiB): lower buffer_capacity";
    return NULL;
}

static const char *required_problem(const weft_world *world, const weft_component_desc *desc)
{
    if (desc->required_count == 0) return NULL;
    if (desc->required == NULL) return "required_count is not 0, but required is NULL: set both";
    for (uint32_t i = 0; i < desc->required_count; i++) {
        const weft__type *type = weft__type_at(world, desc->required[i]);
        if (type != NULL && (!type->is_folded || type->id == world->builtin.prefab.id))
            return "`required` names a RESOURCE, a SPARSE component or Prefab: leave it out";
    }
    return NULL;
}

const char *weft__component_problem(const weft_world *world, const weft_component_desc *desc)
{
    if (desc == NULL) return "the description is NULL";
    if (!weft__name_fits(desc->name, 255))
        return "the name must have 1 to 255 bytes of UTF-8: texts cannot hold another one";
    const char *problem = kind_problem(desc);
    if (problem == NULL) problem = size_problem(desc);
    if (problem == NULL) problem = fields_problem(desc);
    if (problem == NULL) problem = required_problem(world, desc);
    if (problem != NULL) return problem;
    if ((desc->hooks.save == NULL) != (desc->hooks.load == NULL))
        return "save and load come together: give both or none";
    if ((desc->shared_hash == NULL) != (desc->shared_equal == NULL))
        return "shared_hash and shared_equal come together: give both or none";
    return NULL;
}
