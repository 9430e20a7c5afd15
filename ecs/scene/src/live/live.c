/* SPDX-License-Identifier: MIT */
/* live.c: live links begin and end, bake, and tell.
 *
 * The baker's side: a bake, and the images of what is not as it was: entities whose output the bake
 * has replaced, and those of which the tree says something else (their signature): another parent,
 * another matrix where they are fixed, references that lead elsewhere. Of all others not even the
 * record is read, and an edit that leaves the shape of the tree is compared where it was made.
 * Images are kept normalized, each in one block. The bakes come as a list of sets, which the owner
 * applies one after the other (live_state.c).
 *
 * What tools ask of links that they did not start is here: a list of those of the process under a
 * lock of its own, because worlds have different owners, and the last conflicts as text, because
 * what a conflict points to lives as long as the call that tells it. */
#include "error.h"
#include "hash.h"
#include "live_state.h"
#include "unmake.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <weft/relation.h>

/* ---- images ---- */

static uint64_t key_make(uint64_t path, uint32_t number)
{
    return hash_end(hash_word(path, number)) | 1;
}

/* The key of an entity of a node; 0: there is none. */
static uint64_t key_of(const weft__tree *tree, uint32_t node, uint32_t number)
{
    return node == WEFT__NONE ? 0 : key_make(tree->nodes.at[node].path, number);
}

static uint64_t reference_key(const weft__tree *tree, uint32_t node, uint32_t reference)
{
    uint32_t number;
    uint32_t target = weft__reference_node(tree, node, reference, &number);
    return key_of(tree, target, number);
}

/* Handles of the record become keys and blobs the hash of their content. */
static bool reference_normalize(void *user, weft__reference *reference)
{
    const weft_live *live = user;
    const weft__tree *tree = &live->scene->tree;
    const weft__output *output = tree->nodes.at[live->imaging.node].record->output;
    if (reference->bits != 0)
        reference->bits =
            reference->is_blob
                ? weft__live_content(live->scene->blobs, output->blobs[reference->bits - 1].ref)
                : reference_key(tree, live->imaging.node, reference->entity.index);
    return true;
}

/* The keys of entities that the tree gives as a value, to `to` (NULL: only hashed). */
static uint64_t keys_put(const weft__tree *tree, const weft__image_value *value, char *to,
                         uint64_t hash)
{
    uint32_t left = value->target == WEFT__NONE ? 0 : value->count;
    for (uint32_t i = value->target; left != 0; i++) {
        const weft__node *node = &tree->nodes.at[i];
        uint32_t own = weft__node_has_entity(node) ? node->record->output->entity_count : 0;
        for (uint32_t n = 0; n < own && left != 0; n++, left--) {
            uint64_t key = key_make(node->path, n);
            hash = hash_word(hash, key);
            if (to != NULL) memcpy(to + 8 * (size_t)(value->count - left), &key, sizeof key);
        }
    }
    return hash;
}

/* Gathers an image without the components that images skip; false: memory. */
static bool image_gather(weft_live *live, uint32_t index, uint32_t number)
{
    weft__imaging *m = &live->imaging;
    const weft__schema *schema = &live->scene->schema;
    if (weft__image_make(m, index, number) != WEFT_OK) return false;
    const uint32_t count = m->values.count;
    bool is_moving = weft__image_find(m->values.at, count, schema->local.id) != NULL;
    m->values.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        weft__image_value *v = &m->values.at[i];
        v->is_computed = is_moving && v->component == schema->placed.id;
        if (!live->types[v->component].is_skipped) m->values.at[m->values.count++] = *v;
    }
    return true;
}

/* All that the images of a node's entities depend on beside its output; 0: memory. */
static uint64_t signature_of(weft_live *live, uint32_t index)
{
    const weft__tree *tree = &live->scene->tree;
    const weft__node *node = &tree->nodes.at[index];
    weft__imaging *m = &live->imaging;
    uint64_t hash = hash_word(HASH_K0, key_of(tree, weft__node_above(tree, index), 0));
    hash = hash_word(hash, node->is_record);
    if (node->is_simple) return hash_end(hash) | 1;
    for (uint32_t r = 0; r < node->record->output->reference_count; r++)
        hash = hash_word(hash, reference_key(tree, index, r));
    for (uint32_t n = 0; n < node->record->output->entity_count; n++) {
        if (!image_gather(live, index, n)) return 0;
        for (uint32_t i = 0; i < m->values.count; i++) {
            const weft__image_value *v = &m->values.at[i];
            if (v->is_step || v->is_computed) continue;
            hash = hash_word(hash, (uint64_t)v->component << 32 | v->count);
            hash =
                v->at != NULL ? hash_bytes(hash, v->at, v->bytes) : keys_put(tree, v, NULL, hash);
        }
    }
    return hash_end(hash) | 1;
}

/* The image of an entity, normalized; NULL: memory. */
static weft__live_image *image_make(weft_live *live, uint32_t index, uint32_t number)
{
    weft__imaging *m = &live->imaging;
    if (!image_gather(live, index, number)) return NULL;
    const uint32_t count = m->values.count;
    for (uint32_t i = 1; i < count; i++) { /* ascending components */
        weft__image_value next = m->values.at[i];
        uint32_t at = i;
        for (; at > 0 && m->values.at[at - 1].component > next.component; at--)
            m->values.at[at] = m->values.at[at - 1];
        m->values.at[at] = next;
    }
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += (m->values.at[i].bytes + 15) & ~(size_t)15;
    size_t head = sizeof(weft__live_image) + count * sizeof(weft__image_value);
    bytes += head + WEFT__IMAGE_NAME_BYTES;
    weft__live_image *image = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, bytes, 16);
    if (image == NULL) return NULL;
    *image = (weft__live_image){.block_bytes = bytes, .value_count = count};
    image->values = (weft__image_value *)(void *)(image + 1);
    char *to = (char *)image + head;
    for (uint32_t i = 0; i < count; i++) {
        weft__image_value *v = &image->values[i];
        *v = m->values.at[i];
        if (v->at != NULL && v->bytes != 0) memcpy(to, v->at, v->bytes);
        if (v->at == NULL && v->bytes != 0) keys_put(&live->scene->tree, v, to, 0);
        if (v->is_step)
            weft__elements_references(weft__type_of(live->types[v->component].desc), to, v->count,
                                      reference_normalize, live);
        v->at = to;
        to += (v->bytes + 15) & ~(size_t)15;
    }
    image->name = to;
    if (m->name_bytes != 0) weft__image_name(m, to);
    return image;
}

/* One bake. On the stack. */
typedef struct baking {
    weft_live *live;
    weft__live_set *set;
    uint32_t seen; /* entities that were known, and those that came */
} baking;

/* The number of an entity, from 1; 0: it is not known. */
static uint32_t known_number(const weft_live *live, uint64_t key)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->known_at, weft__live_key_place(key), &step)) != 0)
        if (live->known.at[number - 1].key == key) break;
    return number;
}

/* ---- the set ---- */

static bool change_add(baking *b, const weft__live_change *change)
{
    return WEFT__SCENE_APPEND(&b->live->memory, &b->set->changes, change);
}

static const char *path_of(baking *b, uint32_t index, uint32_t number)
{
    char path[4200];
    size_t length = weft__node_path(&b->live->scene->tree, index, path, 4096);
    if (length > 4095) length = 4095;
    if (number != 0) length += (size_t)snprintf(path + length, 64, "+%u", number);
    return weft__pile_text(&b->set->pile, path, length);
}

/* Keeps a blob of the scene. False: memory. */
static bool blob_keep(weft_live *live, weft_blob_ref ref, const weft_blob_type *type)
{
    weft_blob_info info;
    if (weft_blob_info_get(live->scene->blobs, ref, &info, sizeof info) != WEFT_OK) return false;
    pthread_mutex_lock(&live->lock);
    bool is_kept = weft__live_blob_find(live, info.content_hash | 1) != NULL;
    weft__live_blob *added = is_kept ? NULL : WEFT__SCENE_ADD(&live->memory, &live->blobs);
    if (added != NULL) {
        is_kept = weft_blob_acquire(live->scene->blobs, ref) == WEFT_OK;
        *added = (weft__live_blob){.content = info.content_hash | 1, .type = type, .from = ref};
        live->blobs.count -= !is_kept;
    }
    pthread_mutex_unlock(&live->lock);
    return is_kept;
}

static bool blobs_keep(weft_live *live, const weft__output *output)
{
    for (uint32_t i = 0; i < output->blob_count; i++)
        if (!blob_keep(live, output->blobs[i].ref, output->blobs[i].type)) return false;
    return true;
}

static bool entity_compare(baking *b, uint32_t index, uint32_t number, uint64_t signature)
{
    weft_live *live = b->live;
    const weft__node *node = &live->scene->tree.nodes.at[index];
    const uint32_t wanted = live->known.count + 1;
    if (!WEFT__SCENE_ROOM(&live->memory, &live->known, wanted) ||
        !weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->known_at, wanted))
        return false;
    uint64_t key = key_make(node->path, number);
    uint32_t number_known = known_number(live, key);
    bool is_new = number_known == 0;
    weft__live_known *known = &live->known.at[is_new ? live->known.count : number_known - 1];
    b->seen++;
    if (!is_new && node->is_kept && !live->is_torn && known->signature == signature) {
        known->bake = live->bake;
        return true;
    }
    weft__live_change change = {.kind = WEFT__LIVE_CHANGED,
                                .key = key,
                                .path = path_of(b, index, number),
                                .image = image_make(live, index, number)};
    if (change.path == NULL || change.image == NULL || !change_add(b, &change)) {
        weft__live_image_free(live, change.image);
        return false;
    }
    if (is_new) weft__table_put(&live->known_at, weft__live_key_place(key), ++live->known.count);
    *known = (weft__live_known){key, signature, live->bake};
    return true;
}

/* What the bake has changed, where nothing else can have become different. */
static bool changes_compare(baking *b)
{
    const weft_scene *scene = b->live->scene;
    for (uint32_t i = 0; i < scene->told.changes.count; i++) {
        uint32_t node = scene->told.changes.at[i].node;
        if (!blobs_keep(b->live, scene->tree.nodes.at[node].record->output) ||
            !entity_compare(b, node, 0, signature_of(b->live, node)))
            return false;
    }
    return true;
}

static bool entities_compare(baking *b)
{
    weft_live *live = b->live;
    const weft__tree *tree = &live->scene->tree;
    if (!weft__imaging_begin(&live->imaging)) return false;
    for (uint32_t i = 0; i < tree->nodes.count; i++) {
        const weft__node *node = &tree->nodes.at[i];
        weft__image_place(&live->imaging, i);
        bool is_simple = node->is_simple && node->is_kept;
        if (!is_simple && !weft__node_has_entity(node)) continue;
        if (!is_simple && !blobs_keep(live, node->record->output)) return false;
        uint64_t signature = signature_of(live, i);
        if (signature == 0) return false;
        uint32_t count = is_simple ? 1 : node->record->output->entity_count;
        for (uint32_t n = 0; n < count; n++)
            if (!entity_compare(b, i, n, signature)) return false;
    }
    return true;
}

/* Entities of the last bake that this one does not have: in the order in which they came, not in
 * that of their keys, some of which follow from where the documents are. */
static bool removed_list(baking *b)
{
    weft_live *live = b->live;
    const weft__live_known *all = live->known.at;
    if (b->seen == live->known.count) return true;
    for (uint32_t i = 0; i < live->known.count; i++) {
        weft__live_change change = {.kind = WEFT__LIVE_REMOVED, .key = all[i].key, .path = ""};
        if (all[i].bake != live->bake && !change_add(b, &change)) return false;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < live->known.count; i++)
        if (all[i].bake == live->bake) live->known.at[kept++] = all[i];
    live->known.count = kept;
    weft__table_clear(&live->known_at);
    for (uint32_t i = 0; i < kept; i++)
        weft__table_put(&live->known_at, weft__live_key_place(live->known.at[i].key), i + 1);
    return true;
}

static bool errors_copy(baking *b)
{
    weft_scene *scene = b->live->scene;
    const uint32_t count = weft_scene_mistakes(scene, NULL, 0);
    if (!WEFT__SCENE_ROOM(&b->live->memory, &b->set->errors, count)) return false;
    b->set->errors.count = weft_scene_mistakes(scene, b->set->errors.at, count);
    return true;
}

static bool set_make(baking *b)
{
    weft_live *live = b->live;
    b->set = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, sizeof *b->set, 16);
    if (b->set == NULL) return false;
    b->set->pile = WEFT__SCENE_PILE(&live->memory);
    if (!errors_copy(b)) return false;
    if (live->scene->tree.nodes.count == 0) return true;
    if (live->scene->is_same_shape && !live->is_torn) return changes_compare(b);
    return entities_compare(b) && removed_list(b);
}

/* Bakes, compares with the last bake, and lists the set, if anything became different or wrong: the
 * thread of the link, or the owner of one without it; never both. */
static weft_result bake(weft_live *live, uint64_t wake_ns)
{
    baking b = {.live = live};
    pthread_mutex_lock(&live->lock); /* edits look at the scene */
    weft_result result =
        weft_scene_bake(live->scene, (const char *const *)live->paths, live->desc.path_count);
    pthread_mutex_unlock(&live->lock);
    if (result == WEFT_OUT_OF_MEMORY) return result;
    live->bake++;
    bool is_made = set_make(&b);
    live->is_torn = !is_made;
    if (!is_made) {
        weft__live_set_free(live, b.set);
        return WEFT_OUT_OF_MEMORY;
    }
    b.set->wake_ns = wake_ns;
    pthread_mutex_lock(&live->lock);
    *live->last = b.set;
    live->last = &b.set->next;
    pthread_mutex_unlock(&live->lock);
    at_add_ar(&live->x_waiting, 1u); /* LL1 */
    return WEFT_OK;
}

/* Files that are open for writing are read again when they are whole; one whose writer keeps it
 * open is taken as it is. */
static weft_result first_bake(weft_live *live)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const uint64_t end = weft__scene_now() + WEFT__FILE_OPEN_NS;
    weft_result result = bake(live, 0);
    if (result != WEFT_OK) return result;
    while (weft__files_have_writer(&live->scene->files) && weft__scene_now() < end)
        nanosleep(&pause, NULL);
    return weft_scene_is_stale(live->scene) ? bake(live, 0) : WEFT_OK;
}

/* ---- the thread, which sleeps until documents have changed and are whole, and bakes ---- */

static void *watch_run(void *argument)
{
    weft_live *live = argument;
    weft__file_watch *watch = &live->watch;
    weft__files *files = &live->scene->files;
    while (!watch->is_over) {
        weft__file_news news =
            weft__file_watch_wait(watch, files, UINT32_MAX, live->desc.debounce_ms);
        if (watch->is_over) break;
        bool is_due = news == WEFT__FILES_REST /* a bake to repeat, or a change that was not told */
                          ? live->is_torn || weft_scene_is_stale(live->scene)
                          : news == WEFT__FILES_CHANGED;
        if (!is_due) continue;
        bake(live, watch->wake_ns); /* without memory: the next look tries again */
        weft__file_watch_follow(watch, files);
    }
    return NULL;
}

/* THREAD_FAILED: no descriptor or no thread was to be had. Owner. */
static weft_result watch_start(weft_live *live)
{
    if (!weft__file_watch_open(&live->watch)) return WEFT_THREAD_FAILED;
    weft__file_watch_follow(&live->watch, &live->scene->files);
    live->has_thread = pthread_create(&live->thread, NULL, watch_run, live) == 0;
    return live->has_thread ? WEFT_OK : WEFT_THREAD_FAILED;
}

/* Ends it, if there is one. Owner. */
static void watch_stop(weft_live *live)
{
    if (live->has_thread) {
        weft__file_watch_quit(&live->watch);
        pthread_join(live->thread, NULL);
    }
    weft__file_watch_close(&live->watch);
    live->has_thread = false;
}

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static weft_live *list; /* guarded by list_lock; in order of their start */

static void list_remove(weft_live *live)
{
    pthread_mutex_lock(&list_lock);
    weft_live **link = &list;
    while (*link != NULL && *link != live) link = &(*link)->next_link;
    if (*link != NULL) *link = live->next_link;
    pthread_mutex_unlock(&list_lock);
}

/* ---- begin and end ---- */

static weft_result paths_copy(weft_live *live, const weft_live_desc *desc)
{
    live->texts = WEFT__SCENE_PILE(&live->memory);
    live->paths = weft__pile_take(&live->texts, desc->path_count, sizeof *live->paths);
    for (uint32_t i = 0; i < desc->path_count && live->paths != NULL; i++)
        live->paths[i] = weft__pile_text(&live->texts, desc->paths[i], strlen(desc->paths[i]));
    return live->texts.is_refused ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

static bool is_derived(const weft_world *world, const char *name)
{
    char base[256];
    const char *dot = strrchr(name, '.');
    if (strcmp(name, "CleanupResidue") == 0) return true;
    if (dot == NULL || strcmp(dot, ".depth") != 0 || (size_t)(dot - name) >= sizeof base)
        return false;
    memcpy(base, name, (size_t)(dot - name));
    base[dot - name] = '\0';
    return weft_component_find(world, base).id != 0;
}

/* The components of the scene's schema in the world. */
static weft_result types_list(weft_live *live)
{
    const weft__schema *schema = &live->scene->schema;
    live->type_count = schema->components.count + 1;
    live->types = weft__pile_take(&live->texts, live->type_count, sizeof *live->types);
    if (live->types == NULL) return WEFT_OUT_OF_MEMORY;
    for (uint32_t id = 1; id < live->type_count; id++) {
        weft__live_type *type = &live->types[id];
        const weft_component_desc *known = schema->components.at[id - 1].desc;
        if (known != NULL) type->component = weft_component_find(live->world, known->name);
        type->is_skipped = type->component.id == 0 ||
                           (known->flags & (WEFT_RESOURCE | WEFT_CHUNK)) != 0 ||
                           is_derived(live->world, known->name);
        if (type->component.id != 0) type->desc = weft_component_info(live->world, type->component);
    }
    return WEFT_OK;
}

/* A world with the types of the followed one; NULL: memory. Its components are copied now. */
static weft_world *world_make(const weft_live *live)
{
    weft_world *world = NULL;
    weft_world_desc desc = {
        .workers = 1, .name = "live", .entity_tag = WEFT_WITHOUT_ENTITY_TAG, .is_hidden = true};
    if (weft_world_create(&desc, &world) != WEFT_OK) return NULL;
    bool is_made =
        weft_component_parent(world).id != 0 && weft_component_instance_of(world).id != 0;
    weft_component at = weft_component_prefab(live->world);
    const weft_component_desc *desc_of;
    for (at.id = 1; is_made && (desc_of = weft_component_info(live->world, at)) != NULL; at.id++) {
        weft_component_desc own = *desc_of;
        if (weft_component_find(world, own.name).id != 0 || strcmp(own.name, "CleanupResidue") == 0)
            continue;
        own.required = NULL;
        own.required_count = 0;
        own.is_checked = false;
        if (own.type != NULL) {
            own.fields = NULL;
            own.field_count = 0;
        }
        is_made = weft_component_create(world, &own).id != 0;
    }
    weft_world_error_clear(live->world); /* of the question beyond the last */
    if (is_made) return world;
    weft_world_destroy(world);
    return NULL;
}

static weft_result begin(weft_live *live, weft_world *world, const weft_live_desc *desc)
{
    live->world = world;
    live->desc = *desc;
    live->last = &live->first;
    live->watch = WEFT__FILE_WATCH_CLOSED;
    pthread_mutex_init(&live->lock, NULL);
    live->hook.holds = "live link (weft_live_stop)";
    weft_result result = weft_world_hook_add(world, &live->hook);
    if (result == WEFT_OK) result = paths_copy(live, desc);
    if (result != WEFT_OK) return result;
    if (weft_component_parent(world).id == 0 || weft_component_instance_of(world).id == 0)
        return weft_world_error(world)->code;
    live->schema = world_make(live);
    if (live->schema == NULL) return WEFT_OUT_OF_MEMORY;
    result = weft_scene_create(live->schema, desc->scene, &live->scene);
    if (result != WEFT_OK) return result;
    live->imaging = (weft__imaging){.scene = live->scene, .memory = &live->memory};
    result = types_list(live);
    if (result == WEFT_OK) result = first_bake(live);
    if (result == WEFT_OK) result = weft_live_apply(live, 0, NULL, 0);
    if (result == WEFT_OK && !desc->without_thread) result = watch_start(live);
    return result;
}

/* The world as it was, after a start that failed. */
static void take_back(weft_live *live)
{
    for (uint32_t i = live->slots.count; i-- > 0;)
        if (live->slots.at[i].key != 0) weft__entity_unmake(live->world, live->slots.at[i].entity);
    for (uint32_t i = 0; i < live->blobs.count; i++)
        if (live->blobs.at[i].ref.id != 0)
            weft_blob_release(weft_world_blobs(live->world), live->blobs.at[i].ref);
}

static void live_free(weft_live *live)
{
    weft__memory *memory = &live->memory;
    list_remove(live);
    watch_stop(live);
    for (weft__live_set *set = live->first, *next; set != NULL; set = next) {
        next = set->next;
        weft__live_set_free(live, set);
    }
    weft__live_set_free(live, live->told);
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) weft__live_slot_remove(live, &live->slots.at[i]);
    WEFT__SCENE_FREE(memory, &live->slots);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &live->by_key);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &live->by_entity);
    for (uint32_t i = 0; i < live->blobs.count; i++)
        weft_blob_release(live->scene->blobs, live->blobs.at[i].from);
    WEFT__SCENE_FREE(memory, &live->blobs);
    for (uint32_t i = 0; i < live->edits.count; i++) weft__pile_free(&live->edits.at[i].pile);
    WEFT__SCENE_FREE(memory, &live->edits);
    WEFT__SCENE_FREE(memory, &live->scratch);
    if (live->imaging.memory != NULL) weft__imaging_free(&live->imaging);
    weft_scene_destroy(live->scene);
    weft_world_destroy(live->schema);
    WEFT__SCENE_FREE(memory, &live->known);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &live->known_at);
    weft__pile_free(&live->texts);
    pthread_mutex_destroy(&live->lock);
    weft__memory last = *memory;
    WEFT__FREE(&last, WEFT__MEMORY_OTHER, live, 1);
}

weft_result weft_live_start(weft_world *world, const weft_live_desc *desc, weft_live **out)
{
    if (out != NULL) *out = NULL;
    if (world == NULL || out == NULL || desc == NULL || desc->path_count == 0 ||
        desc->paths == NULL || (desc->policy == WEFT_LIVE_ASK && desc->ask == NULL))
        return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_steps(world, "weft_live_start");
    if (result != WEFT_OK) return result;
    weft__memory memory;
    weft_allocator none = {0};
    result = weft__memory_init(&memory, desc->scene == NULL ? &none : &desc->scene->allocator);
    if (result != WEFT_OK) return result;
    weft_live *live = WEFT__NEW_ZEROED(&memory, WEFT__MEMORY_OTHER, 1, *live);
    if (live == NULL) return weft__error_memory(world, "weft_live_start");
    weft__memory_init(&live->memory, &memory.hook);
    uint64_t errors = weft_world_error(world)->number;
    result = begin(live, world, desc);
    if (result == WEFT_OK) {
        pthread_mutex_lock(&list_lock);
        weft_live **link = &list;
        while (*link != NULL) link = &(*link)->next_link;
        *out = *link = live;
        pthread_mutex_unlock(&list_lock);
        return WEFT_OK;
    }
    const weft_error *error = weft_world_error(world); /* the world's part, if that failed */
    if (error->number == errors || error->code == WEFT_OK)
        weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_live_start: %s; nothing was made", weft_result_text(result));
    take_back(live);
    weft_world_hook_remove(world, &live->hook); /* if it came so far */
    live_free(live);
    return result;
}

void weft_live_stop(weft_live *live)
{
    if (live != NULL && weft_world_hook_remove(live->world, &live->hook) == WEFT_OK)
        live_free(live);
}

weft_result weft_live_refresh(weft_live *live)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__live_refuse(live, "weft_live_refresh");
    if (result != WEFT_OK) return result;
    if (live->has_thread)
        return weft__error(live->world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_live_refresh: the thread of the link looks: without_thread");
    bool is_due = live->is_torn || weft_scene_is_stale(live->scene);
    if (is_due) result = bake(live, weft__scene_now());
    return result == WEFT_OK ? result : weft__error_memory(live->world, "weft_live_refresh");
}

/* ---- questions ---- */

weft_entity weft_live_entity(const weft_live *live, const char *path)
{
    if (live == NULL || path == NULL || weft__live_is_undone(live)) return (weft_entity){0};
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0 && strcmp(live->slots.at[i].path, path) == 0)
            return live->slots.at[i].entity;
    return (weft_entity){0};
}

const char *weft_live_path(const weft_live *live, weft_entity entity)
{
    bool is_known = live != NULL && !weft__live_is_undone(live);
    const weft__live_slot *slot = is_known ? weft__live_slot_at(live, entity) : NULL;
    return slot == NULL ? NULL : slot->path;
}

uint32_t weft_live_list(const weft_world *world, weft_live **out, uint32_t capacity)
{
    uint32_t count = 0;
    pthread_mutex_lock(&list_lock);
    for (weft_live *live = list; live != NULL; live = live->next_link) {
        if (live->world != world) continue;
        if (out != NULL && count < capacity) out[count] = live;
        count++;
    }
    pthread_mutex_unlock(&list_lock);
    return count;
}

const char *weft_live_document_at(const weft_live *live, uint32_t index)
{
    return live == NULL || index >= live->desc.path_count ? NULL : live->paths[index];
}

const char *weft_live_conflict_at(const weft_live *live, uint32_t index)
{
    if (live == NULL || index >= live->conflict_count || index >= WEFT__CONFLICTS_KEPT) return NULL;
    return live->conflicts[(live->conflict_count - 1 - index) % WEFT__CONFLICTS_KEPT];
}

size_t weft_live_explain(weft_live *live, const char *path, bool is_json, char *text,
                         size_t capacity)
{
    if (live == NULL || pthread_mutex_trylock(&live->lock) != 0) return 0; /* it bakes: not now */
    size_t length = weft_scene_explain(live->scene, path, is_json, text, capacity);
    pthread_mutex_unlock(&live->lock);
    return length;
}
