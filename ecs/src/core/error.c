/* SPDX-License-Identifier: MIT */
/* error.c: the last error of a world: code, entity, component, and a sentence that says what to
 * do. Owner only (functions that any thread may call do not set it). Callbacks of
 * weft_query_each_parallel run on several threads: each worker has a record of its own for them,
 * of which the loop hands one on.
 */
#include "error.h"
#include "entity_tag.h"
#include "text.h"
#include "world_state.h"

#include <stdio.h>

static weft__callback_error **diversion(void)
{
#ifdef WEFT_ATOMICS_HOOKED /* threads are fibres of one */
    static weft__callback_error *fibres[HOOK_THREADS];
    return &fibres[weft__hook_thread()];
#else
    static _Thread_local weft__callback_error *record;
    return &record;
#endif
}

weft__callback_error *weft__error_divert(weft__callback_error *record)
{
    weft__callback_error *before = *diversion();
    *diversion() = record;
    return before;
}

bool weft__error_is_diverted(const weft_world *world)
{
    return *diversion() != NULL && (*diversion())->world == world;
}

void weft__mistake_keep(const weft_world *world, const char *format, ...)
{
    weft_world *owner = (weft_world *)(uintptr_t)world;
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&owner->stand_in.lock);
    if (owner->mistake.number++ == 0)
        vsnprintf(owner->mistake.text, sizeof owner->mistake.text, format, arguments);
    pthread_mutex_unlock(&owner->stand_in.lock);
    va_end(arguments);
}

weft_result weft__mistake_report(const weft_world *world)
{
    weft_world *owner = (weft_world *)(uintptr_t)world;
    pthread_mutex_lock(&owner->stand_in.lock);
    const weft_error kept = owner->mistake;
    owner->mistake.number = 0;
    pthread_mutex_unlock(&owner->stand_in.lock);
    return kept.number == 0 ? WEFT_OK
                            : weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY,
                                          WEFT__NO_COMPONENT, "%s", kept.text);
}

/* Where an error goes; NULL: one of an earlier slice is there. */
static weft_error *place_of_error(const weft_world *world)
{
    if (!weft__error_is_diverted(world)) return world->error;
    weft__callback_error *record = *diversion();
    if (record->error.number != 0 && record->slice <= *record->current) return NULL;
    record->slice = *record->current;
    return &record->error;
}

weft_result weft__error(const weft_world *world, weft_result code, weft_entity entity,
                        weft_component component, const char *format, ...)
{
    weft_error *error = place_of_error(world);
    if (error == NULL) return code;
    va_list arguments;
    va_start(arguments, format);
    weft__error_fill_list(error, code, format, arguments);
    va_end(arguments);
    error->entity = entity;
    error->component = component;
    return code;
}

weft_result weft__error_found(const weft_world *world, weft_component component, const char *what,
                              const weft_error *found)
{
    weft_error *error = place_of_error(world);
    if (error == NULL) return found->code;
    uint64_t number = error->number;
    char text[sizeof found->text];
    weft__text t = {text, sizeof text, 0};
    weft__text_add(&t, "%s: %s", what, found->text);
    *error = *found;
    error->component = component;
    error->number = number + 1;
    memcpy(error->text, text, sizeof text);
    return found->code;
}

weft_result weft__error_memory(const weft_world *world, const char *what)
{
    return weft__error(world, WEFT_OUT_OF_MEMORY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: out of memory; nothing changed: free memory and try again", what);
}

weft_result weft__error_limit(const weft_world *world, weft_result code, const char *what)
{
    if (code == WEFT_OUT_OF_MEMORY) return weft__error_memory(world, what);
    return weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a limit of the world \"%s\" is reached (%u blocks of %u entities, %u "
                       "megachunks); nothing changed: raise it in weft_world_desc",
                       what, world->desc.name, world->desc.entity_block_limit, WEFT__BLOCK_SLOTS,
                       world->desc.megachunk_limit);
}

weft_result weft__error_residue_tag(const weft_world *world, const char *what)
{
    return weft__error(
        world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, world->builtin.residue,
        "%s: programs cannot change the tag of residues: destroy the entity to make it "
        "a residue, remove its cleanup components to end it",
        what);
}

weft_result weft__error_stale(const weft_world *world, weft_entity entity)
{
    if (weft__entity_is_foreign(&world->directory, entity))
        return weft__error(world, WEFT_BAD_HANDLE, entity, WEFT__NO_COMPONENT,
                           "entity %u:%u is of another world than \"%s\" (its tag is %u, here %u): "
                           "use handles that this world gave",
                           weft_entity_index(entity), entity.version, world->desc.name,
                           weft__entity_tag(entity.index), world->desc.entity_tag);
    uint32_t location = 0;
    if (weft__directory_find(&world->directory, entity, &location) &&
        weft__is_residue_at(world, location))
        return weft__error(world, WEFT_STALE_ENTITY, entity, WEFT__NO_COMPONENT,
                           "entity %s was destroyed and is a residue: only its CLEANUP components "
                           "can be read, set and removed: use a living entity",
                           weft__entity_say(world, entity).text);
    return weft__error(world, WEFT_STALE_ENTITY, entity, WEFT__NO_COMPONENT,
                       "entity %s is not alive in world \"%s\" (null, destroyed, deferred, or "
                       "of another world): check weft_entity_is_alive before use",
                       weft__entity_say(world, entity).text, world->desc.name);
}

static const char *why_bad(const weft_world *world, weft_component component)
{
    if (component.id == 0) return " (it is null)";
    return component.world != world->front.number ? " (it is another world's)" : "";
}

weft_result weft__error_component(const weft_world *world, weft_component component)
{
    return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, component,
                       "component %u is not registered in world \"%s\"%s: use what "
                       "weft_component_create of this world returned",
                       component.id, world->desc.name, why_bad(world, component));
}

weft_result weft__error_uncopyable(const weft_world *world, weft_entity entity, uint32_t component,
                                   const char *what)
{
    return weft__error(world, WEFT_UNSUPPORTED, entity, weft__component(world, component),
                       "%s: component \"%s\" has a destruct hook but no copy hook, so its values "
                       "cannot be copied: give it a copy hook%s",
                       what, weft__type_name(world, component),
                       weft_entity_is_null(entity) ? "" : ", or register it NOT_COPIED");
}

weft_result weft__error_use(const weft_world *world, weft_result code, const char *what,
                            weft_component component, const char *problem)
{
    uint32_t id = weft__component_id(world, component);
    if ((world->front.busy & WEFT__BUSY_STEPPING) != 0 && !weft__error_is_diverted(world)) {
        if (world->front.watch.mistake != NULL)
            world->front.watch.mistake(world, code, what, id, problem);
        return code;
    }
    if (weft__type_at(world, component) == NULL) return weft__error_component(world, component);
    return weft__error(world, code, WEFT__NO_ENTITY, component, "%s: component \"%s\"%s", what,
                       weft__type_name(world, id), problem);
}

weft_result weft__error_listed(const weft_world *world, const char *what, const char *list,
                               uint32_t i, weft_component component)
{
    return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, component,
                       "%s: %s[%u]: component %u is not registered in world \"%s\"%s: use what "
                       "weft_component_create of this world returned",
                       what, list, i, component.id, world->desc.name, why_bad(world, component));
}

weft_result weft__check_listed(const weft_world *world, const char *what, const char *list,
                               const weft_component *components, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (weft__type_at(world, components[i]) == NULL)
            return weft__error_listed(world, what, list, i, components[i]);
    return WEFT_OK;
}

weft_result weft__error_absent(const weft_world *world, weft_entity entity,
                               weft_component component)
{
    return weft__error(world, WEFT_NOT_FOUND, entity, component,
                       "entity %s has no component \"%s\": add it first, or ask weft_entity_has",
                       weft__entity_say(world, entity).text, weft__type_name(world, component.id));
}

/* A refusal that the scheduler reports, with the system that called. */
static bool is_kept(const weft_world *world, const char *what)
{
    return world->front.watch.refusal != NULL && !weft__error_is_diverted(world) &&
           world->front.watch.refusal(world, what);
}

bool weft__is_held(const weft_world *world, const char *what)
{
    if (weft__error_is_diverted(world)) { /* by a callback that `busy` closes the world to, ... */
        if (world->front.busy != 0) return false;
        if (what != NULL) weft__error_busy(world, what); /* or a hook on a thread that does not */
        return true;
    }
    /* relaxed: only that another thread is named counts */
    uint64_t host = at_load_rlx(&world->front.host.x_thread);
    if (host == 0 || host == weft__thread_self()) return false;
    bool is_step = world->front.frame != WEFT__FRAME_NONE;
    uint32_t watched = WEFT__BUSY_OBSERVERS | (is_step ? WEFT__BUSY_STEPPING : 0);
    if ((world->front.busy & watched) != 0) return false;
    if (is_step && what != NULL && world->front.watch.refusal != NULL)
        world->front.watch.refusal(world, what);
    return true;
}

weft_result weft__error_busy(const weft_world *world, const char *what)
{
    bool is_stepping = (world->front.busy & WEFT__BUSY_STEPPING) != 0;
    bool is_observing = (world->front.busy & WEFT__BUSY_OBSERVERS) != 0;
    if (is_stepping && is_kept(world, what)) return WEFT_WRONG_PHASE;
    if (is_observing && world->front.watch.refusal != NULL) /* the caller gets its error, too */
        world->front.watch.refusal(world, what);
    const char *why = "a query is being iterated: end the loop (weft_query_end) or record commands "
                      "and play them after it";
    if (is_stepping)
        why = "systems are running: record a command (weft_slice_recorder)";
    else if (world->front.frame == WEFT__FRAME_ASKS)
        why = "a run condition or a range is running: it may read the world, not change it: let a "
              "system do it";
    else if (is_observing)
        why = "observers are running: record a command (weft_observation.commands), or wait until "
              "the "
              "step or weft_observers_run has returned";
    else if ((world->front.busy & WEFT__BUSY_CALLBACK) != 0 || world->front.busy == 0)
        why = "a callback is running that may not use the world: do it when the call that it "
              "belongs to has returned";
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", what,
                       why);
}

weft_result weft__refuse_systems(const weft_world *world, const char *what, const char *advice)
{
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    if (__builtin_expect((world->front.busy & WEFT__BUSY_STEPPING) == 0, 1)) return WEFT_OK;
    if (is_kept(world, what)) return WEFT_WRONG_PHASE;
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: systems are running: %s", what, advice);
}

weft_result weft__refuse_busy(const weft_world *world, const char *what)
{
    return weft__idle(world, what);
}

weft_result weft__refuse_steps(const weft_world *world, const char *what)
{
    return weft__between_steps(world, what);
}

weft_result weft__error_step(const weft_world *world, const char *what)
{
    bool is_between = world->front.frame == WEFT__FRAME_NONE;
    const uint32_t known = WEFT__BUSY_STEPPING | WEFT__BUSY_OBSERVERS | WEFT__BUSY_CALLBACK;
    if (is_between || (world->front.busy & known) != 0) return weft__error_busy(world, what);
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a step is going on (an exclusive system, a run condition or a range "
                       "called): do it when weft_world_step has returned",
                       what);
}

weft_result weft__error_told(const weft_world *world, const char *what)
{
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a hook of the world called it, or one of its values while the world is "
                       "destroyed: do it when weft_world_step has returned",
                       what);
}

weft_result weft__error_argument(const weft_world *world, const char *what, const char *problem)
{
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: %s; nothing changed", what, problem);
}

weft_result weft__error_out(const weft_world *world, const void *out, const char *what)
{
    if (world == NULL || out != NULL) return world == NULL ? WEFT_INVALID_ARGUMENT : WEFT_OK;
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s_get: out is NULL: give the address of a %s; nothing changed", what,
                       what);
}

const char *weft__type_name(const weft_world *world, uint32_t component)
{
    const weft__type *type = component <= world->types.count ? world->types.at[component] : NULL;
    return type == NULL ? "(none)" : type->desc.name;
}

/* ---- public ---- */

const weft_error *weft_world_error(const weft_world *world)
{
    static const weft_error none = {.code = WEFT_INVALID_ARGUMENT, .text = "the world is NULL"};
    return world == NULL ? &none : world->error;
}

void weft_world_error_clear(weft_world *world)
{
    if (world != NULL) *world->error = (weft_error){.number = world->error->number};
}

/* ---- lists of descriptors ---- */

/* Entries are looked at as bytes, so that one function serves lists of all kinds: the first
 * key_bytes are the handle or pointer, the others what is said of it. */

static bool is_zero(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (((const unsigned char *)bytes)[i] != 0) return false;
    return true;
}

static const char *entry(const void *entries, const weft__given *list, uint32_t i)
{
    return (const char *)entries + (size_t)i * list->bytes;
}

static weft_result null_entry(const weft_world *world, const char *what, const weft__given *list,
                              const char *prefix, uint32_t position, const char *why)
{
    return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: %s%s[%u] is null, but %s: look at what made it (a call that failed "
                       "gives null, and weft_world_error says why)",
                       what, prefix, list->name, position, why);
}

/* The first entry that is all zero ends the inline array. */
static weft_result few_check(const weft_world *world, const char *what, weft__given *list)
{
    uint32_t end = 0;
    list->few_count = 0;
    if (list->few == NULL) return WEFT_OK;
    while (end < list->few_limit && !is_zero(entry(list->few, list, end), list->key_bytes)) end++;
    list->few_count = end;
    if (end == list->few_limit) return WEFT_OK;
    if (!is_zero(entry(list->few, list, end), list->bytes))
        return null_entry(world, what, list, "", end, "it is described further");
    if (!is_zero(entry(list->few, list, end), (size_t)(list->few_limit - end) * list->bytes))
        return null_entry(world, what, list, "", end, "entries follow");
    return WEFT_OK;
}

weft_result weft__given_check(const weft_world *world, const char *what, weft__given *list)
{
    weft_result result = few_check(world, what, list);
    if (result != WEFT_OK) return result;
    if (list->more_count != 0 && list->more == NULL)
        return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "%s: more_%s is NULL, but its count is %u: set both, or none", what,
                           list->name, list->more_count);
    for (uint32_t i = 0; i < list->more_count; i++)
        if (is_zero(entry(list->more, list, i), list->key_bytes))
            return null_entry(world, what, list, "more_", i, "it is counted");
    list->count = list->few_count + list->more_count;
    return WEFT_OK;
}

/* ---- memory that stands in ---- */

/* Blocks are a list, each with a head in front. Only mistakes come here, from any thread, so a
 * mutex guards them. */

#define FIRST_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)16 << 20) /* of a block, but for a larger request */
#define ALIGNMENT ((size_t)64)
#define MARGIN ((size_t)256) /* behind each: a little past the end hits nothing else */

/* In front of each block. */
typedef struct head {
    _Alignas(64) char *before;
    size_t size; /* with the head */
} head;

static bool grow(weft__stand_in *stand_in, weft__memory *memory, size_t bytes)
{
    size_t size = stand_in->size == 0 ? FIRST_BYTES : 2 * stand_in->size;
    if (size > MOST_BYTES) size = MOST_BYTES;
    if (size < sizeof(head) + bytes) size = sizeof(head) + bytes;
    char *block = weft__alloc(memory, WEFT__MEMORY_SYSTEMS, size, 1, ALIGNMENT);
    if (block == NULL) return false;
    *(head *)(void *)block = (head){stand_in->block, size};
    stand_in->block = block;
    stand_in->size = size;
    stand_in->used = sizeof(head);
    return true;
}

static void *take(weft_world *world, size_t bytes)
{
    weft__stand_in *stand_in = &world->stand_in;
    if (bytes > SIZE_MAX / 4) return NULL;
    bytes = bits_align_up(bytes, ALIGNMENT) + MARGIN;
    if (stand_in->size - stand_in->used < bytes) {
        if (stand_in->size >= MOST_BYTES && stand_in->size - sizeof(head) >= bytes)
            stand_in->used = sizeof(head);
        else if (!grow(stand_in, &world->memory, bytes))
            return NULL;
    }
    char *taken = stand_in->block + stand_in->used;
    stand_in->used += bytes;
    return memset(taken, 0, bytes);
}

void *weft__stand_in_bytes(const weft_world *world, size_t bytes)
{
    weft_world *owner = (weft_world *)(uintptr_t)world;
    if (!WEFT_IS_CHECKED) return NULL;
    pthread_mutex_lock(&owner->stand_in.lock);
    void *taken = take(owner, bytes);
    pthread_mutex_unlock(&owner->stand_in.lock);
    return taken;
}

bool weft__stand_in_holds(const weft_world *world, const void *at)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&world->stand_in.lock;
    bool holds = false;
    if (!WEFT_IS_CHECKED) return false;
    pthread_mutex_lock(lock);
    for (const char *block = world->stand_in.block; block != NULL && !holds;) {
        const head *front = (const void *)block;
        holds = (uintptr_t)at - (uintptr_t)block < front->size;
        block = front->before;
    }
    pthread_mutex_unlock(lock);
    return holds;
}

/* Bytes of a value; of a BUFFER also of an element, which it may be taken for. */
static size_t bytes_of(const weft__type *type)
{
    size_t bytes = type == NULL ? 0 : type->value_bytes;
    return type != NULL && type->desc.size > bytes ? type->desc.size : bytes;
}

void *weft__stand_in_values(const weft_world *world, uint32_t component, uint32_t rows)
{
    const weft__roll *known = &world->types.known; /* the owner may register others meanwhile */
    size_t bytes = 0, most = 0;
    if (!WEFT_IS_CHECKED) return NULL;
    bytes = bytes_of(weft__roll_at(known, component)); /* [0]: NULL */
    const weft__type *type;
    for (uint32_t i = 1; bytes == 0 && (type = weft__roll_at(known, i)) != NULL; i++)
        most = bytes_of(type) > most ? bytes_of(type) : most;
    if (bytes == 0) bytes = most;
    return weft__stand_in_bytes(world, bytes * (rows == 0 ? 1 : rows));
}

void *weft__stand_in_refused(const weft_world *world, uint32_t component)
{
    const uint32_t callbacks =
        (uint32_t)(WEFT__BUSY_STEPPING | WEFT__BUSY_OBSERVERS | WEFT__BUSY_CALLBACK);
    bool is_callback = (world->front.busy & callbacks) != 0;
    return is_callback ? weft__stand_in_values(world, component, 1) : NULL;
}

void weft__stand_in_init(weft_world *world)
{
    pthread_mutex_init(&world->stand_in.lock, NULL);
}

void weft__stand_in_fini(weft_world *world)
{
    pthread_mutex_destroy(&world->stand_in.lock);
    for (char *block = world->stand_in.block; block != NULL;) {
        head at = *(head *)(void *)block;
        weft__free(&world->memory, WEFT__MEMORY_SYSTEMS, block, at.size, 1, ALIGNMENT);
        block = at.before;
    }
}

/* ---- what waits for streams ---- */

/* Their threads have blocks of the directory, berths, chunks. What looks at all of the directory,
 * or hands memory to another world, would miss or break them. */

weft_result weft__lent_refuse(const weft_world *world, const char *what)
{
    if (__builtin_expect(world->lent.loads == 0, 1)) return WEFT_OK;
    return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: %u sections are being read or taken out: call weft_stream_wait first",
                       what, world->lent.loads);
}

weft_result weft__ids_close(weft_world *world, const char *what)
{
    if (weft__outside_close(&world->directory)) return WEFT_OK;
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a recorder holds entities that weft_recorder_create_rows_unordered "
                       "gave: play or destroy it first",
                       what);
}

void weft__ids_open(weft_world *world)
{
    weft__outside_open(&world->directory);
}
