/* SPDX-License-Identifier: MIT */
/* component_registry.c: registration of component types. A description is checked in full before
 * anything is allocated; the type, its fields, names and entity offsets are one block that never
 * moves. Written by the owner with the world idle. */
#include "component_registry.h"

#include "bits.h"
#include "component_fields.h"
#include "component_problem.h"
#include "error.h"
#include "field.h"
#include "sparse.h"

#include <string.h>

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
        hash = hash_word(hash, field->count);
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
    type->required = weft__alloc(&world->memory, WEFT__MEMORY_TYPES, limit, sizeof(uint32_t),
                                 _Alignof(uint32_t));
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
    weft__free(&world->memory, WEFT__MEMORY_TYPES, type->required, type->required_capacity,
               sizeof(uint32_t), _Alignof(uint32_t));
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
    for (weft__description *at = world->types.descriptions, *next; at != NULL; at = next) {
        next = at->next;
        weft__free(&world->memory, WEFT__MEMORY_TYPES, at, 1, at->bytes, 16);
    }
    weft__roll_fini(&world->types.known, &world->memory, WEFT__MEMORY_TYPES);
    weft__table_free(&world->memory, WEFT__MEMORY_TYPES, &world->types.names);
}

/* ---- public ---- */

/* Registers a description whose fields are listed. */
static weft_component create(weft_world *world, const weft_component_desc *desc)
{
    const char *problem = weft__component_problem(world, desc);
    if (problem != NULL) {
        weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": %s", desc != NULL && desc->name != NULL ? desc->name : "",
                    problem);
        return WEFT__NO_COMPONENT;
    }
    if (weft__check_listed(world, "weft_component_create", "required", desc->required,
                           desc->required_count) != WEFT_OK)
        return WEFT__NO_COMPONENT;
    weft_component_desc resolved = *desc;
    if (resolved.alignment == 0) resolved.alignment = natural_alignment(desc->size);
    if ((desc->flags & WEFT_BUFFER) != 0 && desc->buffer_capacity == 0 && desc->size != 0)
        resolved.buffer_capacity = (uint32_t)(WEFT__BUFFER_INLINE_BYTES / desc->size);
    uint64_t hash = desc_hash(&resolved);
    uint32_t found = id_named(world, desc->name);
    if (found != 0 && weft__type_is_residue_tag(world, world->types.at[found])) {
        weft__error(world, WEFT_ALREADY_EXISTS, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": weft has a tag of this name: use another name", desc->name);
        return WEFT__NO_COMPONENT;
    }
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

static void refuse_type(const weft_world *world, const weft_component_desc *desc,
                        const char *problem)
{
    weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "component \"%s\": %s", desc->name == NULL ? desc->type->name : desc->name,
                problem);
}

/* A description by `type`: what it leaves out is the type's, and so are the fields. */
static weft_component create_described(weft_world *world, const weft_component_desc *desc)
{
    const weft_type *type = desc->type;
    weft_component_desc full = *desc;
    char text[192];
    if (weft_type_check(type, text, sizeof text) != WEFT_OK) {
        weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": %s", desc->name == NULL ? "" : desc->name, text);
        return WEFT__NO_COMPONENT;
    }
    if (full.name == NULL) full.name = type->name;
    if (full.size == 0) full.size = type->size;
    if (full.alignment == 0) full.alignment = type->alignment;
    if (full.size != type->size || full.field_count != 0) {
        refuse_type(world, desc,
                    full.field_count != 0 ? "give `type` or `fields`, not both"
                                          : "`size` is not that of `type`: leave it 0");
        return WEFT__NO_COMPONENT;
    }
    weft__component_fields list;
    const char *field = NULL;
    weft_result result = weft__component_fields_list(&world->memory, type, &list, &field);
    if (result == WEFT_UNSUPPORTED)
        weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "component \"%s\": field %s is of a kind that is for blobs: use "
                    "WEFT_FIELD_BLOB",
                    full.name, field);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_memory(world, "weft_component_create");
    if (result != WEFT_OK) return WEFT__NO_COMPONENT;
    full.fields = list.fields;
    full.field_count = list.count;
    weft_component component = create(world, &full);
    weft__component_fields_free(&world->memory, &list);
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
