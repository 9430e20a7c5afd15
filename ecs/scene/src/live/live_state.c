/* SPDX-License-Identifier: MIT */
/* live_state.c: the owner's side of a live link. First what it has: blobs of the scene, which are
 * kept by content until they are first needed in its world's store; what it knows of entities of
 * documents, by key and by entity: two tables of numbers, at most half full. A slot of an object
 * that is gone, or got another entity, has key 0 until the tables are made again.
 *
 * Then the three-way rule, field by field: base, file, world. Values of the world are read
 * normalized, as those of the file are, so that comparing is comparing bytes; only what is written
 * is turned into handles and references of the world. Changes are applied in three phases: entities
 * come, values change, entities leave; so that references find their targets.
 *
 * Edge:
 * LL1  list: set linked under the lock, add of x_waiting -> apply: load of x_waiting, then the
 *      lock. The load alone only says whether to look */
#include "live_state.h"
#include "error.h"
#include "field.h"
#include "hash.h"
#include "sized.h"
#include "unmake.h"
#include "utf8.h"

#include <stdio.h>
#include <weft/relation.h>

weft_result weft__live_refuse(const weft_live *live, const char *what)
{
    if ((weft__front(live->world)->busy & WEFT__BUSY_CALLBACK) != 0)
        return weft__error_busy(live->world, what);
    return weft__refuse_systems(live->world, what, "do it after the step");
}

void weft__live_image_free(weft_live *live, weft__live_image *image)
{
    if (image != NULL)
        weft__free(&live->memory, WEFT__MEMORY_OTHER, image, 1, image->block_bytes, 16);
}

void weft__live_set_free(weft_live *live, weft__live_set *set)
{
    if (set == NULL) return;
    for (uint32_t i = 0; i < set->changes.count; i++)
        weft__live_image_free(live, set->changes.at[i].image);
    WEFT__SCENE_FREE(&live->memory, &set->changes);
    WEFT__SCENE_FREE(&live->memory, &set->errors);
    weft__pile_free(&set->pile);
    weft__free(&live->memory, WEFT__MEMORY_OTHER, set, 1, sizeof *set, 16);
}

/* ---- blobs ---- */

uint64_t weft__live_content(weft_blob_store *store, weft_blob_ref ref)
{
    weft_blob_info info;
    if (store == NULL || weft_blob_info_get(store, ref, &info, sizeof info) != WEFT_OK) return 0;
    return info.content_hash | 1;
}

weft__live_blob *weft__live_blob_find(weft_live *live, uint64_t content)
{
    for (uint32_t i = 0; i < live->blobs.count; i++)
        if (live->blobs.at[i].content == content) return &live->blobs.at[i];
    return NULL;
}

/* Its reference in the store of the world, kept by the link; null: there is none. */
static weft_result blob_obtain(weft_live *live, uint64_t content, weft_blob_ref *out)
{
    *out = (weft_blob_ref){0};
    if (content == 0) return WEFT_OK;
    weft_blob_store *store = weft_world_blobs(live->world);
    if (store == NULL) return weft_world_error(live->world)->code;
    weft_result result = WEFT_OK;
    pthread_mutex_lock(&live->lock);
    weft__live_blob *blob = weft__live_blob_find(live, content);
    if (blob != NULL && blob->ref.id == 0) {
        const weft_blob_load_desc desc = {.type = blob->type};
        weft_blob_info info;
        result = weft_blob_info_get(live->scene->blobs, blob->from, &info, sizeof info);
        if (result == WEFT_OK)
            result = weft_blob_adopt(store, info.block, info.block_bytes, &desc, &blob->ref);
    }
    if (blob != NULL) *out = blob->ref;
    pthread_mutex_unlock(&live->lock);
    return result;
}

/* ---- slots ---- */

static uint32_t place_of_entity(weft_entity entity)
{
    return (uint32_t)hash_fold((uint64_t)entity.version << 32 | entity.index, HASH_K1);
}

/* There is room in the tables. */
static void enter(weft_live *live, uint32_t number)
{
    const weft__live_slot *slot = &live->slots.at[number];
    weft__table_put(&live->by_key, weft__live_key_place(slot->key), number + 1);
    weft__table_put(&live->by_entity, place_of_entity(slot->entity), number + 1);
}

/* Tables without slots that are gone, a quarter full at most. */
static bool tables_make(weft_live *live)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++) kept += live->slots.at[i].key != 0;
    if (!weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->by_key, 2 * (kept + 1)) ||
        !weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->by_entity, 2 * (kept + 1)))
        return false;
    weft__table_clear(&live->by_key);
    weft__table_clear(&live->by_entity);
    kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) live->slots.at[kept++] = live->slots.at[i];
    live->slots.count = kept;
    for (uint32_t i = 0; i < kept; i++) enter(live, i);
    return true;
}

/* A place for a slot, in no table yet; other slots may have other places afterwards. */
static weft__live_slot *slot_place(weft_live *live)
{
    if (live->slots.count + 1 >= live->by_entity.capacity / 2 && !tables_make(live)) return NULL;
    return WEFT__SCENE_ADD(&live->memory, &live->slots);
}

/* A new slot without a base; NULL: memory. */
static weft__live_slot *slot_add(weft_live *live, uint64_t key, weft_entity entity,
                                 const char *path)
{
    size_t bytes = strlen(path) + 1;
    char *copy = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, bytes, 1, 16);
    weft__live_slot *slot = copy == NULL ? NULL : slot_place(live);
    if (slot == NULL) {
        weft__free(&live->memory, WEFT__MEMORY_OTHER, copy, bytes, 1, 16);
        return NULL;
    }
    *slot = (weft__live_slot){.key = key, .entity = entity, .path = memcpy(copy, path, bytes)};
    enter(live, live->slots.count - 1);
    return slot;
}

void weft__live_slot_remove(weft_live *live, weft__live_slot *slot)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, slot->path, strlen(slot->path) + 1, 1, 16);
    weft__live_image_free(live, slot->base);
    *slot = (weft__live_slot){.entity = slot->entity}; /* the tables pass over it */
}

/* A slot by its key; NULL: there is none. */
static weft__live_slot *slot_of(const weft_live *live, uint64_t key)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->by_key, weft__live_key_place(key), &step)) != 0)
        if (live->slots.at[number - 1].key == key) return &live->slots.at[number - 1];
    return NULL;
}

/* The object has another entity; slots are at other addresses. False: memory. */
static bool slot_move(weft_live *live, uint64_t key, weft_entity entity)
{
    weft__live_slot *made = slot_place(live);
    if (made == NULL) return false;
    weft__live_slot *slot = slot_of(live, key);
    *made = *slot;
    made->entity = entity;
    *slot = (weft__live_slot){.entity = slot->entity};
    enter(live, live->slots.count - 1);
    return true;
}

weft__live_slot *weft__live_slot_at(const weft_live *live, weft_entity entity)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->by_entity, place_of_entity(entity), &step)) != 0) {
        weft__live_slot *slot = &live->slots.at[number - 1];
        if (slot->key != 0 && slot->entity.index == entity.index &&
            slot->entity.version == entity.version)
            return slot;
    }
    return NULL;
}

/* One object that changes. On the stack. */
typedef struct applying {
    weft_live *live;
    const char *path;
    weft_entity entity;
    const weft__live_image *base, *file;
    bool is_instance; /* of a prefab, made by the run: nothing is asked or told */
    bool is_changed;
    weft_result result;
} applying;

/* ---- values of the world ---- */

/* Handles become keys and blobs the hash of their content. */
static bool reference_normalize(void *user, weft__reference *reference)
{
    const weft_live *live = user;
    if (reference->is_blob) {
        if (reference->bits != 0)
            reference->bits = weft__live_content(weft_world_blobs(live->world), reference->blob);
        return true;
    }
    const weft__live_slot *slot = weft__live_slot_at(live, reference->entity);
    reference->bits =
        reference->entity.version == 0 ? 0
        : slot != NULL
            ? slot->key
            : hash_fold((uint64_t)reference->entity.version << 32 | reference->entity.index,
                        HASH_K0) &
                  ~1ull;
    return true;
}

/* And back, or a->result says why not. */
static bool reference_bring(void *user, weft__reference *reference)
{
    applying *a = user;
    if (reference->bits == 0) return true;
    if (reference->is_blob) {
        a->result = blob_obtain(a->live, reference->bits, &reference->blob);
    } else {
        const weft__live_slot *slot = slot_of(a->live, reference->bits);
        reference->entity = slot == NULL ? (weft_entity){0} : slot->entity;
    }
    return a->result == WEFT_OK;
}

/* A value of the file as it is in the world, in the scratch memory from `offset` on; NULL:
 * a->result says why. */
static char *value_bring(applying *a, const weft__image_value *value, size_t offset)
{
    weft_live *live = a->live;
    if (!WEFT__SCENE_ROOM(&live->memory, &live->scratch, (uint32_t)(offset + value->bytes + 1))) {
        a->result = WEFT_OUT_OF_MEMORY;
        return NULL;
    }
    char *to = live->scratch.at + offset;
    if (value->bytes != 0) memcpy(to, value->at, value->bytes);
    bool is_brought = weft__elements_references(weft__type_of(live->types[value->component].desc),
                                                to, value->count, reference_bring, a);
    return is_brought ? to : NULL;
}

/* The component of the world, normalized, in the scratch memory; false: it has none (or memory
 * ended). */
static bool world_read(applying *a, uint32_t component, weft__image_value *value)
{
    weft_live *live = a->live;
    const weft_component_desc *desc = live->types[component].desc;
    const weft_component own = live->types[component].component;
    const void *from = NULL;
    if (!weft_entity_has(live->world, a->entity, own)) return false;
    *value = (weft__image_value){.component = component, .count = 1, .bytes = desc->size};
    if ((desc->flags & WEFT_BUFFER) != 0) {
        const weft_buffer *buffer = weft_entity_read(live->world, a->entity, own);
        value->count = buffer == NULL ? 0 : buffer->count;
        value->bytes = value->count * desc->size;
        from = buffer == NULL ? NULL : weft_buffer_read(buffer);
    } else if ((desc->flags & WEFT_SHARED) != 0) {
        from = weft_entity_read_shared(live->world, a->entity, own);
    } else if (desc->size != 0) {
        from = weft_entity_read(live->world, a->entity, own);
    }
    if ((desc->flags & WEFT_ENABLEABLE) != 0)
        value->is_disabled = !weft_entity_is_enabled(live->world, a->entity, own);
    if (value->bytes >= UINT32_MAX / 2 ||
        !WEFT__SCENE_ROOM(&live->memory, &live->scratch, 2 * (uint32_t)value->bytes + 1)) {
        a->result = WEFT_OUT_OF_MEMORY;
        return false;
    }
    value->at = live->scratch.at;
    if (from == NULL) value->bytes = 0;
    if (value->bytes == 0) return true;
    memcpy(live->scratch.at, from, value->bytes);
    weft__elements_references(weft__type_of(desc), live->scratch.at, value->count,
                              reference_normalize, live);
    return true;
}

static void done(applying *a, weft_result result)
{
    if (result != WEFT_OK && a->result == WEFT_OK) a->result = result;
    a->is_changed = true;
    a->live->report.values++;
}

/* Gives the entity the whole component of the file. What fails may be half done. */
static void component_set(applying *a, const weft__image_value *value)
{
    weft_live *live = a->live;
    char *bytes = value_bring(a, value, 0);
    if (bytes == NULL) return;
    weft_result result = weft__value_give(
        live->world, a->entity, live->types[value->component].component, value, bytes, false);
    live->half_of = result == WEFT_OK ? (weft_entity){0} : a->entity;
    live->half_type = value->component;
    done(a, result);
}

/* Whether the last call gave a part of this component only: what is there is not the run's. */
static bool is_half(const applying *a, uint32_t type)
{
    return type == a->live->half_type && weft_entity_equal(a->entity, a->live->half_of);
}

/* ---- conflicts ---- */

/* How much of a text is told. */
static int cut(const char *text, size_t most)
{
    return (int)weft__utf8_cut(text, strlen(text), most);
}

/* Keeps a conflict as text, in the place of the oldest. */
static void conflict_keep(weft_live *live, const weft_live_conflict *conflict)
{
    static const char *const what[] = {
        [WEFT_LIVE_FIELD] = "the run and the document have changed it",
        [WEFT_LIVE_ADDED] = "the run and the document have added it",
        [WEFT_LIVE_REMOVED] = "the run has removed what the document has changed",
        [WEFT_LIVE_CHANGED] = "the run has changed what the document has removed",
        [WEFT_LIVE_DESTROYED] = "the run has destroyed the entity that the document has changed",
    };
    char *text = live->conflicts[live->conflict_count++ % WEFT__CONFLICTS_KEPT];
    const char *component = conflict->component == NULL ? "" : conflict->component;
    const char *field = conflict->field == NULL ? "" : conflict->field;
    snprintf(text, sizeof live->conflicts[0], "%.*s%s%.*s%s%.*s: %s; %s", cut(conflict->path, 60),
             conflict->path, *component == '\0' ? "" : ".", cut(component, 30), component,
             *field == '\0' ? "" : ".", cut(field, 24), field, what[conflict->kind],
             conflict->is_taken ? "the document's value came" : "the world stays as it is");
}

/* Whether the file's value comes. */
static bool is_taken(applying *a, weft_live_conflict_kind kind, uint32_t type, const char *field)
{
    weft_live *live = a->live;
    if (a->is_instance) return false;
    weft_live_conflict conflict = {.kind = kind,
                                   .path = a->path,
                                   .component =
                                       type == WEFT__NONE ? NULL : live->types[type].desc->name,
                                   .field = field,
                                   .entity = a->entity};
    conflict.is_taken = live->desc.policy == WEFT_LIVE_TAKE;
    weft__callback_begin(live->world);
    if (live->desc.policy == WEFT_LIVE_ASK && live->desc.ask != NULL)
        conflict.is_taken = live->desc.ask(&conflict, live->desc.user);
    live->report.conflicts++;
    conflict_keep(live, &conflict);
    if (live->desc.conflict != NULL) live->desc.conflict(&conflict, live->desc.user);
    weft__callback_end(live->world);
    return conflict.is_taken;
}

/* ---- the rule ---- */

static bool is_equal(const weft__image_value *a, const weft__image_value *b)
{
    if (a->is_computed && b->is_computed) return true;
    return a->count == b->count && a->bytes == b->bytes && a->is_disabled == b->is_disabled &&
           (a->bytes == 0 || memcmp(a->at, b->at, a->bytes) == 0);
}

/* Field by field, where both have one value. `now` is in the scratch memory. */
static void fields_apply(applying *a, const weft__image_value *base, const weft__image_value *file,
                         const weft__image_value *now)
{
    weft_live *live = a->live;
    const weft_component_desc *desc = live->types[file->component].desc;
    char *value = NULL, *brought = NULL;
    for (uint32_t f = 0; f < desc->field_count; f++) {
        const weft_field *field = &desc->fields[f];
        size_t bytes = weft__field_size(field) * weft__field_count(field), at = field->offset;
        if (memcmp(base->at + at, file->at + at, bytes) == 0 ||
            memcmp(now->at + at, file->at + at, bytes) == 0)
            continue;
        if (memcmp(now->at + at, base->at + at, bytes) != 0 &&
            ((a->is_instance && field->kind == WEFT_FIELD_ENTITY) ||
             !is_taken(a, WEFT_LIVE_FIELD, file->component, field->name)))
            continue;
        if (value == NULL) {
            brought = value_bring(a, file, now->bytes); /* room is there: `now` stays */
            if (brought == NULL) return;
            value = weft_entity_write(live->world, a->entity,
                                      a->live->types[file->component].component);
        }
        if (value == NULL) a->result = weft_world_error(live->world)->code;
        if (a->result != WEFT_OK) return;
        memcpy(value + at, brought + at, bytes);
        done(a, WEFT_OK);
    }
}

static void bit_apply(applying *a, const weft__image_value *base, const weft__image_value *file,
                      bool is_disabled)
{
    if (base->is_disabled == file->is_disabled || is_disabled == file->is_disabled) return;
    if (is_disabled != base->is_disabled && !is_taken(a, WEFT_LIVE_FIELD, file->component, NULL))
        return;
    done(a, weft_entity_enable(a->live->world, a->entity, a->live->types[file->component].component,
                               !file->is_disabled));
}

/* A component that base and file have. */
static void component_change(applying *a, const weft__image_value *base,
                             const weft__image_value *file)
{
    weft__image_value now;
    if (base->is_computed != file->is_computed) { /* it comes to systems, or back from them */
        if (base->is_computed) component_set(a, file);
        return;
    }
    if (is_half(a, file->component)) {
        component_set(a, file);
        return;
    }
    if (is_equal(base, file)) return;
    if (!world_read(a, file->component, &now)) {
        if (a->result == WEFT_OK && is_taken(a, WEFT_LIVE_REMOVED, file->component, NULL))
            component_set(a, file);
        return;
    }
    const weft_component_desc *desc = a->live->types[file->component].desc;
    if ((desc->flags & (WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK)) == 0 && desc->field_count != 0) {
        bool is_disabled = now.is_disabled;
        fields_apply(a, base, file, &now);
        bit_apply(a, base, file, is_disabled);
    } else if (!is_equal(&now, file) &&
               (is_equal(&now, base) || is_taken(a, WEFT_LIVE_FIELD, file->component, NULL))) {
        component_set(a, file);
    }
}

static void component_add(applying *a, const weft__image_value *file)
{
    weft__image_value now;
    if (!is_half(a, file->component) && world_read(a, file->component, &now) &&
        (file->is_computed || is_equal(&now, file) ||
         !is_taken(a, WEFT_LIVE_ADDED, file->component, NULL)))
        return;
    if (a->result == WEFT_OK) component_set(a, file);
}

static void component_remove(applying *a, const weft__image_value *base)
{
    weft__image_value now;
    if (!world_read(a, base->component, &now)) return;
    if (!base->is_computed && !is_equal(&now, base) &&
        !is_taken(a, WEFT_LIVE_CHANGED, base->component, NULL))
        return;
    done(a,
         weft_entity_remove(a->live->world, a->entity, a->live->types[base->component].component));
}

/* Components of a prefab that its instances do not have, or have as their own. */
static bool is_of_prefab(const applying *a, uint32_t component)
{
    const weft__schema *schema = &a->live->scene->schema;
    return a->is_instance &&
           (component == schema->prefab.id || component == schema->linked_group.id ||
            component == schema->instance_of.id || component == schema->parent.id);
}

static const weft__image_value *image_find(const weft__live_image *image, uint32_t component)
{
    return weft__image_find(image->values, image->value_count, component);
}

static void image_apply(applying *a)
{
    static const weft__live_image none;
    const weft__live_image *base = a->base == NULL ? &none : a->base;
    for (uint32_t i = 0; i < a->file->value_count && a->result == WEFT_OK; i++) {
        const weft__image_value *file = &a->file->values[i];
        if (is_of_prefab(a, file->component)) continue;
        const weft__image_value *was = image_find(base, file->component);
        if (was == NULL)
            component_add(a, file);
        else
            component_change(a, was, file);
    }
    for (uint32_t i = 0; i < base->value_count && a->result == WEFT_OK; i++) {
        const weft__image_value *was = &base->values[i];
        if (is_of_prefab(a, was->component)) continue;
        if (image_find(a->file, was->component) == NULL) component_remove(a, was);
    }
    const char *name = base == &none ? "" : base->name;
    if (a->is_instance || strcmp(name, a->file->name) == 0) return;
    if (strcmp(weft_entity_name(a->live->world, a->entity), name) == 0)
        done(a, weft_entity_set_name(a->live->world, a->entity, a->file->name));
}

/* ---- instances of the run ---- */

/* The linked group of a prefab root or of its instance; *count 0: it has none. */
static const weft_entity *group_of(const weft_live *live, weft_entity root, uint32_t *count)
{
    const weft_buffer *group = weft_entity_read(
        live->world, root, live->types[live->scene->schema.linked_group.id].component);
    *count = group == NULL ? 0 : group->count;
    return group == NULL ? NULL : weft_buffer_read(group);
}

/* The entity of an instance that stands for member `number`; null. */
static weft_entity counterpart(const weft_live *live, weft_entity root, weft_entity instance,
                               uint32_t number)
{
    uint32_t count, own_count;
    if (number == 0) return instance;
    group_of(live, root, &count);
    const weft_entity *own = group_of(live, instance, &own_count);
    return own_count != count || count == 0 ? (weft_entity){0} : own[number];
}

static void instances_follow(applying *of, weft_entity root, uint32_t number)
{
    weft_live *live = of->live;
    uint32_t count = 0;
    const weft_entity *sources = weft_relation_sources(
        live->world, live->types[live->scene->schema.instance_of.id].component, root, &count);
    weft_entity *all = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, count + 1, sizeof *all, 16);
    if (all == NULL) {
        of->result = WEFT_OUT_OF_MEMORY;
        return;
    }
    if (count != 0) memcpy(all, sources, count * sizeof *all);
    for (uint32_t i = 0; i < count && of->result == WEFT_OK; i++) {
        if (weft__live_slot_at(live, all[i]) != NULL) continue; /* of the documents */
        applying a = *of;
        a.entity = counterpart(live, root, all[i], number);
        a.is_instance = true;
        a.is_changed = false;
        if (!weft_entity_is_alive(live->world, a.entity)) continue;
        image_apply(&a);
        of->result = a.result;
        live->report.instances += a.is_changed ? 1 : 0;
    }
    weft__free(&live->memory, WEFT__MEMORY_OTHER, all, count + 1, sizeof *all, 16);
}

/* Entities that the run has made of a prefab, when one of its entities has changed. */
static void prefab_follow(applying *a)
{
    weft_live *live = a->live;
    const weft__schema *schema = &live->scene->schema;
    bool is_prefab = a->base != NULL && image_find(a->file, schema->prefab.id) != NULL;
    if (is_prefab) a->result = weft_relation_settle(live->world);
    if (!is_prefab || a->result != WEFT_OK) return;
    weft_entity root = a->entity;
    uint32_t number = 0;
    if (image_find(a->file, schema->linked_group.id) == NULL) { /* up to the root: it has it */
        const weft_target *parent;
        const weft_component up = live->types[schema->parent.id].component;
        while ((parent = weft_entity_read(live->world, root, up)) != NULL &&
               parent->entity.version != 0)
            root = parent->entity;
        uint32_t count;
        const weft_entity *all = group_of(live, root, &count);
        while (number < count && !weft_entity_equal(all[number], a->entity)) number++;
        if (number == count) return;
    }
    instances_follow(a, root, number);
}

/* ---- objects ---- */

/* An entity with the components of an image; what they require comes along. */
static weft_result entity_make(weft_live *live, const weft__live_image *image, weft_entity *out)
{
    weft_component list[WEFT__IMAGE_VALUES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->value_count; i++) {
        const weft__live_type *type = &live->types[image->values[i].component];
        if ((type->desc->flags & WEFT_SPARSE) == 0) list[count++] = type->component;
    }
    weft_archetype archetype = weft_archetype_create(live->world, list, count);
    if (archetype.id == 0) return weft_world_error(live->world)->code;
    *out = weft_entity_create(live->world, archetype);
    return out->version == 0 ? weft_world_error(live->world)->code : WEFT_OK;
}

static weft_result object_come(weft_live *live, const weft__live_change *change)
{
    weft_entity entity;
    if (change->kind == WEFT__LIVE_REMOVED || slot_of(live, change->key) != NULL) return WEFT_OK;
    weft_result result = entity_make(live, change->image, &entity);
    if (result != WEFT_OK) return result;
    if (slot_add(live, change->key, entity, change->path) == NULL) {
        weft__entity_unmake(live->world, entity);
        return WEFT_OUT_OF_MEMORY;
    }
    live->report.added++;
    return WEFT_OK;
}

/* The entity was destroyed by the run: another one comes, as if it were the first. */
static void object_dead(applying *a, uint64_t key)
{
    if (!is_taken(a, WEFT_LIVE_DESTROYED, WEFT__NONE, NULL)) return;
    a->result = entity_make(a->live, a->file, &a->entity);
    if (a->result != WEFT_OK) return;
    if (!slot_move(a->live, key, a->entity)) {
        weft__entity_unmake(a->live->world, a->entity);
        a->result = WEFT_OUT_OF_MEMORY;
        return;
    }
    weft__live_slot *slot = slot_of(a->live, key);
    weft__live_image_free(a->live, slot->base);
    a->base = slot->base = NULL;
}

static weft_result object_change(weft_live *live, weft__live_change *change)
{
    weft__live_slot *slot = change->kind == WEFT__LIVE_REMOVED ? NULL : slot_of(live, change->key);
    if (slot == NULL || change->image == NULL) return WEFT_OK;
    applying a = {.live = live,
                  .path = slot->path,
                  .entity = slot->entity,
                  .base = slot->base,
                  .file = change->image};
    const bool was_dead = !weft_entity_is_alive(live->world, slot->entity);
    if (was_dead) object_dead(&a, change->key);
    const bool is_new = a.base == NULL, is_there = weft_entity_is_alive(live->world, a.entity);
    if (is_there && is_new) {
        for (uint32_t i = 0; i < a.file->value_count && a.result == WEFT_OK; i++)
            component_set(&a, &a.file->values[i]);
        if (a.result == WEFT_OK && a.file->name[0] != '\0')
            done(&a, weft_entity_set_name(live->world, a.entity, a.file->name));
    } else if (is_there) {
        image_apply(&a);
        if (a.result == WEFT_OK) prefab_follow(&a);
    }
    if (a.result != WEFT_OK) return a.result;
    live->report.changed += a.is_changed && (!is_new || was_dead) ? 1 : 0;
    slot = slot_of(live, change->key);
    weft__live_image_free(live, slot->base);
    slot->base = change->image;
    change->image = NULL;
    return WEFT_OK;
}

static weft_result object_leave(weft_live *live, const weft__live_change *change)
{
    weft__live_slot *slot = change->kind == WEFT__LIVE_REMOVED ? slot_of(live, change->key) : NULL;
    if (slot == NULL) return WEFT_OK;
    weft_result result = WEFT_OK;
    if (weft_entity_is_alive(live->world, slot->entity))
        result = weft_entity_destroy(live->world, slot->entity);
    if (result != WEFT_OK) return result;
    weft__live_slot_remove(live, slot);
    live->report.removed++;
    return WEFT_OK;
}

/* Goes on with live->current until `deadline` (weft__scene_now; 0: none), or its end: then it is
 * NULL. Counts in live->report. */
static weft_result go_on(weft_live *live, uint64_t deadline)
{
    weft__live_set *set = live->current;
    weft_result result = WEFT_OK;
    for (bool is_first = true; live->phase < 3 && result == WEFT_OK; is_first = false) {
        if (live->next == set->changes.count) {
            live->next = 0;
            live->phase++;
            continue;
        }
        if (!is_first && deadline != 0 && weft__scene_now() >= deadline) break;
        weft__live_change *change = &set->changes.at[live->next];
        if (live->phase == 0)
            result = object_come(live, change);
        else if (live->phase == 1)
            result = object_change(live, change);
        else
            result = object_leave(live, change);
        if (result == WEFT_OK) live->next++;
    }
    if (live->phase == 3) live->current = NULL;
    return result;
}

/* ---- sets ---- */

/* The next set of the list; NULL: there is none. */
static weft__live_set *set_take(weft_live *live)
{
    if (at_load_acq(&live->x_waiting) == 0) return NULL; /* LL1 */
    pthread_mutex_lock(&live->lock);
    weft__live_set *set = live->first;
    live->first = set->next;
    if (live->first == NULL) live->last = &live->first;
    pthread_mutex_unlock(&live->lock);
    at_sub_ar(&live->x_waiting, 1u); /* LL1 */
    return set;
}

static weft_result sets_apply(weft_live *live, uint64_t deadline)
{
    weft_result result = WEFT_OK;
    while (result == WEFT_OK) {
        if (live->current == NULL) {
            weft__live_set *set = set_take(live);
            if (set == NULL) return WEFT_OK;
            weft__live_set_free(live, live->told);
            live->told = live->current = set;
            live->phase = live->next = 0;
        }
        result = go_on(live, deadline);
        if (live->current != NULL) return result; /* the budget is spent, or it failed */
        live->report.bakes++;
        if (live->told->wake_ns != 0)
            live->report.latency_ns = weft__scene_now() - live->told->wake_ns;
        if (deadline != 0 && weft__scene_now() >= deadline) return result;
    }
    return result;
}

weft_result weft_live_apply(weft_live *live, uint64_t budget_ns, weft_live_report *report,
                            size_t report_bytes)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_busy(live->world, "weft_live_apply");
    if (result != WEFT_OK) return result;
    live->report = (weft_live_report){0};
    weft_error first;
    const weft_error *error = weft_world_error(live->world);
    const uint64_t errors = error->number;
    result = weft__live_is_undone(live) ? WEFT_UNSUPPORTED : WEFT_OK;
    bool is_due = live->current != NULL || at_load_acq(&live->x_waiting) != 0; /* LL1 */
    if (result == WEFT_OK && is_due) {
        result = sets_apply(live, budget_ns == 0 ? 0 : weft__scene_now() + budget_ns);
        live->moment = weft_world_moment(live->world);
    }
    if (live->current != NULL)
        live->report.pending = live->current->changes.count - (live->phase == 1 ? live->next : 0);
    live->report.errors = weft_live_mistakes(live, &first, 1);
    if (report != NULL) weft__sized_fill(report, report_bytes, &live->report, sizeof live->report);
    if (result != WEFT_OK && (error->number == errors || error->code != result))
        weft__error(live->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "weft_live_apply: %s",
                    weft__live_is_undone(live) ? first.text : weft_result_text(result));
    return result;
}

uint32_t weft_live_mistakes(weft_live *live, weft_error *out, uint32_t capacity)
{
    static const weft_error undone = {
        .code = WEFT_UNSUPPORTED,
        .text = "the world was put back by a snapshot that was taken before the last change from "
                "the documents: restore a later one, or stop the link, clear the world and start "
                "another"};
    bool is_undone = live != NULL && weft__live_is_undone(live);
    if (!is_undone && (live == NULL || live->told == NULL)) return 0;
    const weft_error *all = is_undone ? &undone : live->told->errors.at;
    const uint32_t count = is_undone ? 1 : live->told->errors.count;
    for (uint32_t i = 0; i < count && i < capacity; i++) out[i] = all[i];
    return count;
}
