/* SPDX-License-Identifier: MIT */
/* observer.c: observers as users register, remove and run them. The watch of a component is shared
 * by its observers; that of all entities tells which are new. A watch that loses its last observer
 * goes. Owner, between steps. */
#include <weft/observer.h>

#include "mistakes.h"
#include "observer_run.h"
#include "registry.h"
#include "scheduler.h"
#include "utf8.h"

#include <string.h>

#define WHAT "weft_observer_create"

static weft__observers *observers_obtain(weft__scheduler *scheduler)
{
    if (scheduler->observers == NULL)
        scheduler->observers = weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1,
                                                  sizeof(weft__observers), 8);
    scheduler->observers_free = weft__observers_free;
    return scheduler->observers;
}

static uint32_t position_of(const weft__observers *observers, const char *name)
{
    uint32_t i = 0;
    while (i < observers->all.count && strcmp(observers->all.at[i]->name, name) != 0) i++;
    return i;
}

/* ---- checks ---- */

static bool has_old_values(uint32_t event)
{
    return event == WEFT_ON_REMOVED || event == WEFT_ON_CHANGED || event == WEFT_ON_DESTROYED;
}

/* Whether it is about entities, not about one of their components. */
static bool is_of_any(const weft_observer_desc *desc)
{
    return desc->component.id == 0 && desc->component.world == 0;
}

static weft_result component_check(const weft_world *world, const weft_observer_desc *desc)
{
    const uint32_t refused = WEFT_RESOURCE | WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_SPARSE;
    if (is_of_any(desc)) {
        if (desc->on == WEFT_ON_CREATED || desc->on == WEFT_ON_DESTROYED) return WEFT_OK;
        return weft__error_argument(world, WHAT,
                                    "the component is null: name one, or observe CREATED or "
                                    "DESTROYED of any entity");
    }
    const weft__type *type = weft__type_find(world, desc->component);
    if (type == NULL) return weft__error_component(world, desc->component);
    if ((type->desc.flags & refused) != 0)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" is a RESOURCE, SHARED, a BUFFER, a CHUNK value "
                                "or SPARSE, which are not observed: add a tag with it, and observe "
                                "that",
                           type->desc.name);
    if (desc->on == WEFT_ON_CHANGED && type->value_bytes == 0)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" is a tag, whose value does not change: observe "
                                "ADDED or REMOVED",
                           type->desc.name);
    if (has_old_values(desc->on) && type->needs_destruct)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, desc->component,
                           WHAT ": component \"%s\" has a destruct hook, so its last values cannot "
                                "be kept: observe a tag that comes and goes with it",
                           type->desc.name);
    return WEFT_OK;
}

static weft_result desc_check(const weft_world *world, const weft_observer_desc *desc)
{
    if (desc == NULL) return weft__error_argument(world, WHAT, "the description is NULL");
    if (!weft__name_fits(desc->name, WEFT__NAME_LIMIT - 1))
        return weft__error_argument(world, WHAT, "the name must have 1 to 63 bytes of UTF-8");
    if (desc->run == NULL) return weft__error_argument(world, WHAT, "run is NULL: give a function");
    if (desc->on < WEFT_ON_ADDED || desc->on > WEFT_ON_DESTROYED)
        return weft__error_argument(world, WHAT, "`on` is no weft_observer_event: say what to see");
    return component_check(world, desc);
}

static weft_result place_check(const weft_world *world, const weft__observers *observers,
                               const weft_observer_desc *desc)
{
    if (position_of(observers, desc->name) != observers->all.count)
        return weft__error(world, WEFT_ALREADY_EXISTS, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           WHAT ": there is an observer \"%s\": use another name", desc->name);
    if (desc->before != NULL && position_of(observers, desc->before) == observers->all.count)
        return weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           WHAT ": there is no observer \"%s\" (before): register it first",
                           desc->before);
    return WEFT_OK;
}

/* ---- watches ---- */

static void watch_release(weft__scheduler *scheduler, weft__observer_watch *watch)
{
    weft__observers *observers = scheduler->observers;
    uint32_t i = 0;
    if (--watch->users != 0) return;
    while (observers->watches.at[i] != watch) i++;
    observers->watches.count--;
    memmove(observers->watches.at + i, observers->watches.at + i + 1,
            (observers->watches.count - i) * sizeof observers->watches.at[0]);
    weft__observer_watch_fini(watch);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, watch, 1, sizeof *watch, 8);
}

/* The watch of a component (0: all entities), with one user more. NULL: no memory. */
static weft__observer_watch *watch_obtain(weft__scheduler *scheduler, uint32_t component)
{
    weft__observers *observers = scheduler->observers;
    for (uint32_t i = 0; i < observers->watches.count; i++)
        if (observers->watches.at[i]->component == component) {
            observers->watches.at[i]->users++;
            return observers->watches.at[i];
        }
    if (!WEFT__LIST_ROOM(scheduler->memory, WEFT__MEMORY_SYSTEMS, &observers->watches,
                         observers->watches.count + 1))
        return NULL;
    weft__observer_watch *watch =
        weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *watch, 8);
    if (watch == NULL) return NULL;
    *watch = (weft__observer_watch){.world = scheduler->world, .component = component, .users = 1};
    watch->diff = (weft__row_diff){.world = scheduler->world,
                                   .category = WEFT__MEMORY_SYSTEMS,
                                   .component = component,
                                   .without = component != 0 ? WEFT__IS_PREFAB
                                                             : WEFT__IS_PREFAB | WEFT__IS_RESIDUE |
                                                                   WEFT__IS_SPARSE};
    uint32_t at = component == 0 ? 0 : observers->watches.count; /* scanned before the others */
    memmove(observers->watches.at + at + 1, observers->watches.at + at,
            (observers->watches.count - at) * sizeof observers->watches.at[0]);
    observers->watches.at[at] = watch;
    observers->watches.count++;
    bool is_done = weft__observer_watch_scan(watch, NULL);
    weft__observer_watch_told(watch); /* what is there is not news */
    if (is_done) return watch;
    watch_release(scheduler, watch);
    return NULL;
}

/* The watches of an observer: of its component, and for CREATED of all entities. */
static weft__observer_watch *watches_obtain(weft__scheduler *scheduler,
                                            const weft_observer_desc *desc)
{
    uint32_t component = is_of_any(desc) ? 0 : desc->component.id;
    weft__observer_watch *all = NULL;
    if (desc->on == WEFT_ON_CREATED && component != 0) {
        all = watch_obtain(scheduler, 0);
        if (all == NULL) return NULL;
    }
    weft__observer_watch *watch = watch_obtain(scheduler, component);
    bool keeps = component != 0 && has_old_values(desc->on);
    uint32_t bytes = keeps ? weft__type_find(scheduler->world, desc->component)->value_bytes : 0;
    if (watch != NULL && (!keeps || weft__observer_watch_keep(watch, bytes))) return watch;
    if (watch != NULL) watch_release(scheduler, watch);
    if (all != NULL) watch_release(scheduler, all);
    return NULL;
}

static void watches_release(weft__scheduler *scheduler, const weft__observer *observer)
{
    bool has_all = observer->desc.on == WEFT_ON_CREATED && observer->watch->component != 0;
    for (uint32_t i = 0; has_all && i < scheduler->observers->watches.count; i++)
        if (scheduler->observers->watches.at[i]->component == 0) {
            watch_release(scheduler, scheduler->observers->watches.at[i]);
            break;
        }
    watch_release(scheduler, observer->watch);
}

/* ---- public ---- */

static weft__observer *observer_make(weft__scheduler *scheduler, const weft_observer_desc *desc)
{
    weft__observers *observers = scheduler->observers;
    if (!WEFT__LIST_ROOM(scheduler->memory, WEFT__MEMORY_SYSTEMS, &observers->all,
                         observers->all.count + 1))
        return NULL;
    weft__observer *observer =
        weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *observer, 8);
    if (observer == NULL) return NULL;
    observer->desc = *desc;
    memcpy(observer->name, desc->name, strlen(desc->name) + 1);
    observer->watch = watches_obtain(scheduler, desc);
    if (observer->watch != NULL) return observer;
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, observer, 1, sizeof *observer, 8);
    return NULL;
}

weft_observer weft_observer_create(weft_world *world, const weft_observer_desc *desc)
{
    const weft_observer none = {0, 0};
    if (world == NULL || weft__between_steps(world, WHAT) != WEFT_OK ||
        desc_check(world, desc) != WEFT_OK)
        return none;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return none;
    weft__observers *observers = observers_obtain(scheduler);
    if (observers != NULL && place_check(world, observers, desc) != WEFT_OK) return none;
    weft__observer *observer = observers == NULL ? NULL : observer_make(scheduler, desc);
    if (observer == NULL) {
        weft__error_memory(world, WHAT);
        return none;
    }
    uint32_t at =
        desc->before == NULL ? observers->all.count : position_of(observers, desc->before);
    memmove(observers->all.at + at + 1, observers->all.at + at,
            (observers->all.count - at) * sizeof observers->all.at[0]);
    observers->all.at[at] = observer;
    observers->all.count++;
    observer->desc.name = observer->name;
    observer->desc.before = NULL;
    observer->id = ++observers->last_id;
    return (weft_observer){observer->id, weft__front(world)->number};
}

weft_result weft_observer_destroy(weft_world *world, weft_observer handle)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_observer_destroy");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    weft__observers *observers = scheduler == NULL ? NULL : scheduler->observers;
    uint32_t i = 0, count = observers == NULL ? 0 : observers->all.count;
    while (i < count && observers->all.at[i]->id != handle.id) i++;
    if (i == count || handle.world != weft__front(world)->number)
        return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_observer_destroy: the observer does not exist in this world: use "
                           "what weft_observer_create returned, once");
    weft__observer *observer = observers->all.at[i];
    watches_release(scheduler, observer);
    observers->all.count--;
    memmove(observers->all.at + i, observers->all.at + i + 1,
            (observers->all.count - i) * sizeof observers->all.at[0]);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, observer, 1, sizeof *observer, 8);
    return WEFT_OK;
}

static weft_result run_observers(weft_world *world)
{
    weft_result result = weft__between_steps(world, "weft_observers_run");
    if (result == WEFT_OK) result = weft_relation_settle(world);
    if (result != WEFT_OK && result != WEFT_CYCLE) return result; /* a cycle was cut */
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler == NULL || scheduler->observers == NULL) return result;
    weft_result played = weft__observers_play(scheduler);
    weft_result refused = WEFT_IS_CHECKED ? weft__violations_tell(scheduler) : WEFT_OK;
    if (played == WEFT_OK) played = refused;
    return result == WEFT_OK ? played : result;
}

weft_result weft_observers_run(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_observers_run");
    if (result != WEFT_OK) return result;
    result = run_observers(world);
    weft__host_end(world);
    return result;
}
