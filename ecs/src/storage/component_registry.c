/* SPDX-License-Identifier: MIT */
/* component_registry.c: registration of component types. A description is checked in full before
 * anything is allocated; the type, its fields, names and entity offsets are one block that never
 * moves. Written by the owner with the world idle. */
#include "component_registry.h"
#include "field.h"
#include "sparse.h"
#include "utf8.h"

#include <stdio.h>
#include <weft/value.h>

/* A flat list. On the stack of create_described. */
typedef struct listing {
    weft__pile pile;               /* of names */
    WEFT__LIST(weft_field) fields; /* kinds up to WEFT_FIELD_BLOB, named by their path */
    const char *problem;           /* a field that only blobs can have */
} listing;

/* False: there is a problem, or memory is refused. */
static bool list_leaf(const weft_field *field, uint32_t offset, const char *path, void *user)
{
    listing *l = user;
    weft__kind_class class = weft__class_of(field->kind);
    weft_field_kind kind = class == WEFT__CLASS_TEXT ? WEFT_FIELD_BYTES : field->kind;
    if (class == WEFT__CLASS_ENUM || class == WEFT__CLASS_BITS)
        weft__kind_of_class(WEFT__CLASS_UNSIGNED, field->type->size, &kind);
    if (weft__kind_number(kind) == WEFT__KIND_NONE) {
        l->problem = field->name;
        return false;
    }
    const char *name = weft__pile_text(&l->pile, path, strlen(path));
    weft_field *added =
        name == NULL ? NULL : WEFT__LIST_ADD(l->pile.memory, l->pile.category, &l->fields);
    if (added == NULL) return false;
    *added = (weft_field){
        .name = name, .kind = kind, .offset = offset, .count = weft__field_length(field)};
    return true;
}

/* ---- descriptions that are refused ---- */

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

/* The sentence that says what is wrong with a description and what to do, or NULL: nothing is, but
 * for handles in its lists. */
static const char *component_problem(const weft_world *world, const weft_component_desc *desc)
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

weft_result weft_component_check(const weft_world *world, weft_component component,
                                 const void *value)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (type->desc.type == NULL)
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, component,
                           "weft_component_check: component \"%s\" has no description: register "
                           "it with `type`",
                           type->desc.name);
    if (value == NULL)
        return weft__error_argument(world, "weft_component_check",
                                    "value is NULL: give its address");
    weft_error error;
    weft_result result = weft_value_check(type->desc.type, value, &error);
    if (result == WEFT_OK) return WEFT_OK;
    char what[300];
    snprintf(what, sizeof what, "component \"%s\"", type->desc.name);
    return weft__error_found(world, component, what, &error);
}

/* ---- the copy of a description ---- */

static size_t natural_alignment(size_t size)
{
    if (size == 0) return 1;
    size_t lowest = size & (0 - size);
    return lowest < 16 ? lowest : 16;
}

static uint64_t desc_hash(const weft_component_desc *desc)
{
    uint64_t hash = hash_string(desc->name);
    hash = hash_word(hash, desc->size);
    hash = hash_word(hash, desc->alignment);
    hash = hash_word(hash, desc->flags);
    hash = hash_word(hash, desc->buffer_capacity);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const weft_field *field = &desc->fields[i];
        hash = hash_word(hash, hash_string(field->name));
        hash = hash_word(hash, (uint64_t)weft__kind_number(field->kind) << 32 | field->offset);
        hash = hash_word(hash, field->count == 0 ? 1 : field->count); /* 0 says 1 */
    }
    return hash;
}

/* References of a kind, arrays expanded; their offsets, where asked for. */
static uint32_t references_list(const weft_component_desc *desc, weft_field_kind kind,
                                uint32_t *offsets)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const weft_field *field = &desc->fields[i];
        for (uint32_t k = 0; field->kind == kind && k < weft__field_count(field); k++, count++)
            if (offsets != NULL) offsets[count] = field->offset + k * (uint32_t)sizeof(weft_entity);
    }
    return count;
}

static uint32_t reference_count(const weft_component_desc *desc)
{
    return references_list(desc, WEFT_FIELD_ENTITY, NULL) +
           references_list(desc, WEFT_FIELD_BLOB, NULL);
}

static size_t block_bytes(const weft_component_desc *desc)
{
    size_t bytes = sizeof(weft__type) + desc->field_count * sizeof(weft_field) +
                   reference_count(desc) * sizeof(uint32_t) +
                   desc->required_count * sizeof(weft_component) + strlen(desc->name) + 1;
    for (uint32_t i = 0; i < desc->field_count; i++) bytes += strlen(desc->fields[i].name) + 1;
    return bytes;
}

/* Appends a copy of a string at *text. */
static const char *text_copy(char **text, const char *from)
{
    size_t bytes = strlen(from) + 1;
    char *to = memcpy(*text, from, bytes);
    *text += bytes;
    return to;
}

static void fields_copy(weft__type *type, const weft_component_desc *desc)
{
    weft_field *fields = (weft_field *)(void *)(type + 1);
    type->entity_offsets = (uint32_t *)(void *)(fields + desc->field_count);
    type->entity_offset_count = references_list(desc, WEFT_FIELD_ENTITY, type->entity_offsets);
    type->reference_count =
        type->entity_offset_count +
        references_list(desc, WEFT_FIELD_BLOB, type->entity_offsets + type->entity_offset_count);
    weft_component *required =
        (weft_component *)(void *)(type->entity_offsets + type->reference_count);
    char *text = (char *)(required + desc->required_count);
    type->desc.required = desc->required_count != 0 ? required : NULL;
    for (uint32_t i = 0; i < desc->required_count; i++) required[i] = desc->required[i];
    type->desc.name = text_copy(&text, desc->name);
    type->desc.fields = desc->field_count != 0 ? fields : NULL;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        fields[i] = desc->fields[i];
        fields[i].name = text_copy(&text, desc->fields[i].name);
    }
}

static void sizes_resolve(weft__type *type)
{
    weft_component_desc *desc = &type->desc;
    uint32_t flags = desc->flags;
    if ((flags & WEFT_BUFFER) != 0) {
        type->value_alignment = desc->alignment > 8 ? (uint32_t)desc->alignment : 8;
        size_t bytes = sizeof(weft_buffer) + desc->buffer_capacity * desc->size;
        type->value_bytes = (uint32_t)bits_align_up(bytes, type->value_alignment);
    } else if ((flags & WEFT_CHUNK) != 0) {
        type->chunk_bytes = (uint32_t)desc->size;
        type->value_alignment = (uint32_t)desc->alignment;
    } else if ((flags & (WEFT_SHARED | WEFT_RESOURCE)) == 0) {
        type->value_bytes = (uint32_t)desc->size;
        type->value_alignment = (uint32_t)desc->alignment;
    }
    bool is_buffer = (flags & WEFT_BUFFER) != 0;
    type->needs_construct = is_buffer || desc->hooks.construct != NULL;
    type->is_of_entities = (flags & WEFT_RESOURCE) == 0;
    type->is_folded = (flags & (WEFT_RESOURCE | WEFT_SPARSE)) == 0;
    type->needs_destruct = is_buffer || desc->hooks.destruct != NULL;
    bool is_in_row = (type->desc.flags & WEFT_SPARSE) == 0;
    type->plain_bytes = type->needs_destruct || !is_in_row ? 0 : type->value_bytes;
    type->needs_copy = is_buffer || desc->hooks.copy != NULL;
    type->is_uncopyable = desc->hooks.destruct != NULL && desc->hooks.copy == NULL;
}

/* A bound of the components that come with one: what it requires, and what these do. */
static uint32_t required_limit(const weft_world *world, const weft_component_desc *desc)
{
    uint32_t limit = desc->required_count;
    for (uint32_t i = 0; i < desc->required_count; i++)
        limit += world->types.at[desc->required[i].id]->required_count;
    return limit;
}

/* All components that come with this one. What it requires was registered before, and knows its
 * own. */
static bool required_make(weft_world *world, weft__type *type)
{
    uint32_t limit = required_limit(world, &type->desc);
    if (limit == 0) return true;
    type->required_capacity = limit;
    type->required = WEFT__NEW(&world->memory, WEFT__MEMORY_TYPES, limit, uint32_t);
    if (type->required == NULL) return false;
    for (uint32_t i = 0; i < type->desc.required_count; i++) {
        const weft__type *one = world->types.at[type->desc.required[i].id];
        weft__ids_insert(type->required, &type->required_count, one->id);
        for (uint32_t k = 0; k < one->required_count; k++)
            weft__ids_insert(type->required, &type->required_count, one->required[k]);
    }
    return true;
}

/* Never 0: the value of a RESOURCE has an address. */
static size_t resource_bytes(const weft__type *type)
{
    return bits_align_up(weft__type_bytes(type) + 1, 64);
}

static void type_release(weft_world *world, weft__type *type)
{
    if (type == NULL) return;
    weft__sparse_destroy(world, type->sparse);
    WEFT__FREE(&world->memory, WEFT__MEMORY_TYPES, type->required, type->required_capacity);
    weft__free(&world->memory, WEFT__MEMORY_TYPES, type->resource, 1, resource_bytes(type), 64);
    weft__free(&world->memory, WEFT__MEMORY_TYPES, type, 1, block_bytes(&type->desc),
               _Alignof(weft__type));
}

static weft__type *type_make(weft_world *world, const weft_component_desc *desc, uint64_t hash)
{
    weft__type *type = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_TYPES, 1, block_bytes(desc),
                                          _Alignof(weft__type));
    if (type == NULL) return NULL;
    type->desc = *desc;
    type->world = world;
    type->hash = hash;
    fields_copy(type, desc);
    sizes_resolve(type);
    bool is_made = required_make(world, type);
    if ((desc->flags & WEFT_RESOURCE) != 0) {
        type->resource =
            weft__alloc_zeroed(&world->memory, WEFT__MEMORY_TYPES, 1, resource_bytes(type), 64);
        is_made = type->resource != NULL;
    } else if ((desc->flags & WEFT_SPARSE) != 0) {
        is_made = weft__sparse_create(world, type);
    }
    if (is_made) return type;
    type_release(world, type);
    return NULL;
}

/* ---- tables ---- */

static bool types_grow(weft_world *world)
{
    weft__type_table *types = &world->types;
    if (!weft__roll_reserve(&types->known, &world->memory, WEFT__MEMORY_TYPES, types->count + 1))
        return false;
    types->at = at_plain(&types->known.x_list);
    if (types->count == 0) types->at[0] = NULL;
    return true;
}

/* The id of a type; 0: none has the name. */
static uint32_t id_named(const weft_world *world, const char *name)
{
    uint32_t step = 0, id, hash = (uint32_t)hash_string(name);
    while ((id = weft__table_next(&world->types.names, hash, &step)) != 0)
        if (strcmp(world->types.at[id]->desc.name, name) == 0) break;
    return id;
}

/* Every component of the first list is in the second. */
static bool is_within(const weft_component *inner, uint32_t inner_count,
                      const weft_component *outer, uint32_t outer_count)
{
    for (uint32_t i = 0; i < inner_count; i++) {
        bool is_found = false;
        for (uint32_t k = 0; k < outer_count; k++)
            is_found = is_found || outer[k].id == inner[i].id;
        if (!is_found) return false;
    }
    return true;
}

/* The same components are named, or none. */
static bool names_same(const weft_component *named, uint32_t count, const weft_component *known,
                       uint32_t known_count)
{
    return count == 0 || (is_within(named, count, known, known_count) &&
                          is_within(known, known_count, named, count));
}

/* A type registered again has the same layout, and the same required components or none named. */
static bool is_same_type(const weft__type *type, const weft_component_desc *desc, uint64_t hash)
{
    return type->hash == hash && names_same(desc->required, desc->required_count,
                                            type->desc.required, type->desc.required_count);
}

/* The first of the required components that requires the type itself, or is it; NULL: none. */
static const weft__type *cycle_of(const weft_world *world, uint32_t id,
                                  const weft_component_desc *desc)
{
    for (uint32_t i = 0; i < desc->required_count; i++) {
        const weft__type *one = world->types.at[desc->required[i].id];
        if (one->id == id) return one;
        for (uint32_t k = 0; k < one->required_count; k++)
            if (one->required[k] == id) return one;
    }
    return NULL;
}

/* The type of this name, where the description is as it is. */
static weft_component registered(const weft_world *world, uint32_t id,
                                 const weft_component_desc *desc, uint64_t hash)
{
    const weft_component known = weft__component(world, id);
    if (is_same_type(world->types.at[id], desc, hash)) return known;
    const weft__type *cycle = cycle_of(world, id, desc);
    if (cycle != NULL)
        weft__error(world, WEFT_CYCLE, WEFT__NO_ENTITY, known,
                    "component \"%s\" would require itself, by \"%s\": leave one of the two out "
                    "of `required`",
                    desc->name, cycle->desc.name);
    else
        weft__error(world, WEFT_ALREADY_EXISTS, WEFT__NO_ENTITY, known,
                    "component \"%s\" is registered with another size, alignment, kind, fields, "
                    "write groups or required components: use another name, or the same layout",
                    desc->name);
    return WEFT__NO_COMPONENT;
}

static weft_result type_add(weft_world *world, const weft_component_desc *desc, uint64_t hash)
{
    if (!types_grow(world) || !weft__table_room(&world->memory, WEFT__MEMORY_TYPES,
                                                &world->types.names, world->types.count + 1))
        return WEFT_OUT_OF_MEMORY;
    weft__type *type = type_make(world, desc, hash);
    if (type == NULL) return WEFT_OUT_OF_MEMORY;
    type->id = world->types.count + 1;
    if ((desc->flags & WEFT_SHARED) != 0 &&
        weft__shared_type_create(&world->shared, type->id, &type->desc) != WEFT_OK) {
        type_release(world, type);
        return WEFT_OUT_OF_MEMORY;
    }
    if ((desc->flags & WEFT_SHARED) != 0)
        type->shared_default = weft__shared_value(&world->shared, type->id, 0);
    if (type->resource != NULL) weft__type_construct_zeroed(type, type->resource, 1);
    weft__table_put(&world->types.names, (uint32_t)hash_string(type->desc.name), type->id);
    world->types.at[type->id] = type;
    world->types.count = type->id;
    weft__roll_publish(&world->types.known, type->id + 1);
    if (type->sparse != NULL) weft__sparse_enlist(world, type);
    return WEFT_OK;
}

void weft__types_fini(weft_world *world)
{
    for (uint32_t id = 1; id <= world->types.count; id++) {
        weft__type *type = world->types.at[id];
        if (type->resource != NULL) weft__type_destruct(&world->memory, type, type->resource, 1);
        type_release(world, type);
    }
    while (world->types.descriptions != NULL) {
        weft__pile pile = world->types.descriptions->pile;
        world->types.descriptions = world->types.descriptions->next;
        weft__pile_free(&pile);
    }
    weft__roll_fini(&world->types.known, &world->memory, WEFT__MEMORY_TYPES);
    weft__table_free(&world->memory, WEFT__MEMORY_TYPES, &world->types.names);
}

/* ---- public ---- */

static weft_component refuse(const weft_world *world, weft_result code, const char *name,
                             const char *problem)
{
    weft__error(world, code, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "component \"%s\": %s",
                name == NULL ? "" : name, problem);
    return WEFT__NO_COMPONENT;
}

/* Registers a description whose fields are listed. */
static weft_component create(weft_world *world, const weft_component_desc *desc)
{
    const char *problem = component_problem(world, desc);
    if (problem != NULL)
        return refuse(world, WEFT_INVALID_ARGUMENT, desc == NULL ? NULL : desc->name, problem);
    if (weft__check_listed(world, "weft_component_create", "required", desc->required,
                           desc->required_count) != WEFT_OK)
        return WEFT__NO_COMPONENT;
    weft_component_desc resolved = *desc;
    if (resolved.alignment == 0) resolved.alignment = natural_alignment(desc->size);
    if ((desc->flags & WEFT_BUFFER) != 0 && desc->buffer_capacity == 0 && desc->size != 0)
        resolved.buffer_capacity = (uint32_t)(WEFT__BUFFER_INLINE_BYTES / desc->size);
    uint64_t hash = desc_hash(&resolved);
    uint32_t found = id_named(world, desc->name);
    if (found != 0 && weft__type_is_residue_tag(world, world->types.at[found]))
        return refuse(world, WEFT_ALREADY_EXISTS, desc->name,
                      "weft has a tag of this name: use another name");
    if (found != 0) return registered(world, found, desc, hash);
    if (world->types.count >= world->desc.component_limit) {
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": the world has its %u types: raise component_limit",
                    desc->name, world->desc.component_limit);
        return WEFT__NO_COMPONENT;
    }
    if (type_add(world, &resolved, hash) != WEFT_OK) {
        weft__error_memory(world, "weft_component_create");
        return WEFT__NO_COMPONENT;
    }
    return weft__component(world, world->types.count);
}

/* A description by `type`: what it leaves out is the type's, and so are the fields. */
static weft_component create_described(weft_world *world, const weft_component_desc *desc)
{
    const weft_type *type = desc->type;
    weft_component_desc full = *desc;
    weft_error error;
    if (weft_type_check(type, &error) != WEFT_OK)
        return refuse(world, WEFT_INVALID_ARGUMENT, desc->name, error.text);
    if (full.name == NULL) full.name = type->name;
    if (full.size == 0) full.size = type->size;
    if (full.alignment == 0) full.alignment = type->alignment;
    if (full.size != type->size || full.field_count != 0)
        return refuse(world, WEFT_INVALID_ARGUMENT, full.name,
                      full.field_count != 0 ? "give `type` or `fields`, not both"
                                            : "`size` is not that of `type`: leave it 0");
    listing l = {.pile = {.memory = &world->memory, .category = WEFT__MEMORY_TYPES}};
    weft_component component = WEFT__NO_COMPONENT;
    bool is_listed = weft__type_leaves(type, list_leaf, &l);
    full.fields = l.fields.at;
    full.field_count = l.fields.count;
    if (is_listed)
        component = create(world, &full);
    else if (l.problem == NULL)
        weft__error_memory(world, "weft_component_create");
    else
        weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": field %s is of a kind that is for blobs: use "
                    "WEFT_FIELD_BLOB",
                    full.name, l.problem);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_TYPES, &l.fields);
    weft__pile_free(&l.pile);
    return component;
}

weft_component weft_component_create(weft_world *world, const weft_component_desc *desc)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    if (weft__idle(world, "weft_component_create") != WEFT_OK) return WEFT__NO_COMPONENT;
    return desc != NULL && desc->type != NULL ? create_described(world, desc) : create(world, desc);
}

weft_component weft_component_create_plain(weft_world *world, const char *name, size_t size,
                                           size_t alignment, uint32_t flags)
{
    return weft_component_create(
        world,
        &(weft_component_desc){.name = name, .size = size, .alignment = alignment, .flags = flags});
}

weft_component weft_component_create_typed(weft_world *world, const char *type, size_t size,
                                           size_t alignment, uint32_t flags)
{
    weft_component component = weft_component_create_plain(world, type, size, alignment, flags);
    if (component.id != 0) /* relaxed: a stricter check */
        at_store_rlx(&world->types.at[component.id]->x_is_typed, 1u);
    return component;
}

weft_component weft__component_named(const weft_world *world, const char *name)
{
    return weft__component(world, id_named(world, name));
}

weft_component weft_component_find(const weft_world *world, const char *name)
{
    if (world == NULL || name == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft__component_named(world, name);
    return found.id == world->builtin.residue.id ? WEFT__NO_COMPONENT : found;
}

const weft_component_desc *weft_component_info(const weft_world *world, weft_component component)
{
    const weft__type *type = world == NULL ? NULL : weft__type_at(world, component);
    return type == NULL ? NULL : &type->desc;
}

const weft_type *weft_component_type(const weft_world *world, weft_component component)
{
    const weft_component_desc *desc = weft_component_info(world, component);
    return desc == NULL ? NULL : desc->type;
}

uint64_t weft_component_hash(const weft_world *world, weft_component component)
{
    const weft__type *type = world == NULL ? NULL : weft__type_at(world, component);
    return type == NULL ? 0 : type->hash;
}
