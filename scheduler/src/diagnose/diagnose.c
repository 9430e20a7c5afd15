/* SPDX-License-Identifier: MIT */
/* diagnose.c: what checked builds find out about systems by the calls that these make. Unchecked
 * builds call nothing here.
 *
 * What is found is kept and reported by mistakes.c. Copies of columns, which find writes that no
 * call announces: column_watch.c. Look-ups for writing are listed per worker and compared when the
 * pass is over: two slices of a system that may run at once and ask for the same value are named,
 * whether or not they met this time. When a list cannot grow, the rest of it goes unwatched. */
#include "diagnose.h"

#include "mistakes.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

/* What a thread is doing. Owner: that thread, and it alone. */
typedef struct doing {
    const weft_slice *slice;
    const weft__scheduler *stepping;
    const weft__observing *observing;
} doing;

static doing *mine(void)
{
#ifdef WEFT_ATOMICS_HOOKED /* threads are fibres of one */
    static doing fibres[HOOK_THREADS];
    return &fibres[weft__hook_thread()];
#else
    static _Thread_local doing self;
    return &self;
#endif
}

/* ---- calls on the world ---- */

const weft_slice *weft__diagnose_enter(const weft_slice *slice)
{
    doing *self = mine();
    const weft_slice *before = self->slice;
    self->slice = slice;
    return before;
}

const weft_slice *weft__diagnose_current(void)
{
    return mine()->slice;
}

static bool is_on_owner(const weft__system *system)
{
    return (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* The world refused a call. The owner's own systems and observers get the error where they are as
 * well. */
static bool keep_refusal(const weft_world *world, const char *what)
{
    weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft__observing *observing = mine()->observing;
    if (observing != NULL && observing->scheduler == scheduler) {
        weft__violation refused = {.code = WEFT_WRONG_PHASE,
                                   .position = WEFT__NONE,
                                   .slice = observing->batch,
                                   .access = WEFT_NO_ACCESS,
                                   .observer = observing->name,
                                   .function = what,
                                   .what = " was called, and observers only read the world: record "
                                           "a command (weft_observation.commands)"};
        weft__violate(&scheduler->workers[observing->worker], &refused);
        return false;
    }
    const weft_slice *current = mine()->slice;
    if (current == NULL || current->context == NULL ||
        weft__slice_system(current)->scheduler != scheduler) {
        if (mine()->stepping == scheduler) return false;
        weft__mistake_keep(world,
                           "%s was called during the step, by a thread that runs none of its "
                           "systems: call it on the owner, between steps",
                           what);
        return true;
    }
    const weft__system *system = weft__slice_system(current);
    weft__violation violation = {.code = WEFT_WRONG_PHASE,
                                 .position = system->position,
                                 .slice = current->index,
                                 .access = WEFT_NO_ACCESS,
                                 .function = what,
                                 .what = " was called on the world, on which systems run: record "
                                         "a command (weft_slice_recorder), or use the slice"};
    weft__violate(&scheduler->workers[current->worker], &violation);
    return !is_on_owner(system);
}

/* Whether the system declared an access to a component beyond its own rows. */
static bool declares(const weft__system *system, uint32_t component, weft_access access)
{
    for (uint32_t i = 0; i < system->lists.lookup_count; i++)
        if (system->lists.lookups[i].component == component &&
            (access == WEFT_READ || system->lists.lookups[i].access == access))
            return true;
    for (uint32_t i = 0; i < system->lists.resource_count && access == WEFT_READ; i++)
        if (system->lists.resources[i].component == component) return true;
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        const weft__query *query =
            weft__query_find(system->context.world, system->lists.queries[i])->query;
        for (uint32_t k = 0; k < query->term_count; k++)
            if (query->terms[k].component == component &&
                query->terms[k].access != WEFT_NO_ACCESS &&
                (access == WEFT_READ || query->terms[k].access == access))
                return true;
    }
    return false;
}

/* A job used a value through the world instead of its slice. */
static void keep_use(const weft_world *world, const char *what, uint32_t component,
                     weft_access access)
{
    weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft_slice *current = mine()->slice;
    if (current == NULL || current->context == NULL ||
        weft__slice_system(current)->scheduler != scheduler)
        return;
    const weft__system *system = weft__slice_system(current);
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) return;
    if (declares(system, component, access)) return;
    const char *problem =
        access == WEFT_WRITE
            ? " gives it for writing, but it is not among its lookups with WEFT_WRITE: declare it"
            : " reads it, but it is not among its lookups, resources or "
              "queries: declare it and use weft_slice_read_entity";
    weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                 .position = system->position,
                                 .slice = current->index,
                                 .component = component,
                                 .access = access,
                                 .function = what,
                                 .what = problem};
    weft__violate(&scheduler->workers[current->worker], &violation);
}

/* A job made a call that is refused for its component. */
static void keep_mistake(const weft_world *world, weft_result code, const char *what,
                         uint32_t component, const char *problem)
{
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft_slice *current = mine()->slice;
    if (current == NULL || current->context == NULL ||
        weft__slice_system(current)->scheduler != scheduler)
        return;
    weft__violation violation = {.code = code,
                                 .position = weft__slice_system(current)->position,
                                 .slice = current->index,
                                 .component = component,
                                 .access = WEFT_NO_ACCESS,
                                 .function = what,
                                 .what = problem};
    weft__violate(&scheduler->workers[current->worker], &violation);
}

/* ---- commands ---- */

/* Whether a list of a system names a component; an empty one names all. */
static bool lists(const uint32_t *components, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (components[i] == component) return true;
    return count == 0;
}

/* A component of the archetype that the list does not name; 0: none. */
static uint32_t unlisted(const weft__archetype *archetype, const uint32_t *components,
                         uint32_t count)
{
    for (uint32_t i = 0; i < archetype->type_count; i++)
        if (!lists(components, count, archetype->types[i].component))
            return archetype->types[i].component;
    return 0;
}

/* As unlisted, of the components that an entity has beside its archetype. */
static uint32_t unlisted_sparse(const weft_world *world, weft_entity entity,
                                const uint32_t *components, uint32_t count)
{
    const weft__type *type = NULL;
    while ((type = weft__entity_next_sparse(world, entity, type)) != NULL)
        if (!lists(components, count, type->id)) return type->id;
    return 0;
}

/* A component of entities that a command destroys that is not among `destroys`; 0: none. Members
 * of their linked groups are not looked at, nor SPARSE components of the rows of a query. */
static uint32_t undeclared_destroyed(const weft__system *system, const weft__command *command)
{
    const weft_world *world = system->context.world;
    const weft__lists *declared = &system->lists;
    if (command->op == WEFT__COMMAND_DESTROY) {
        uint32_t row;
        const weft__chunk *chunk = weft__entity_is_deferred(command->entity)
                                       ? NULL
                                       : weft__entity_row(world, command->entity, &row);
        if (chunk == NULL) return 0;
        uint32_t component =
            unlisted(chunk->archetype, declared->destroys, declared->destroy_count);
        return component != 0 ? component
                              : unlisted_sparse(world, command->entity, declared->destroys,
                                                declared->destroy_count);
    }
    const weft__query_handle *handle =
        weft__query_find(world, (weft_query){command->entity.index, weft__front(world)->number});
    for (uint32_t i = 0; handle != NULL && i < handle->query->match_count; i++) {
        const weft__archetype *archetype = handle->query->matches[i].archetype;
        uint32_t component = archetype->chunk_count == 0
                                 ? 0
                                 : unlisted(archetype, declared->destroys, declared->destroy_count);
        if (component != 0) return component;
    }
    return 0;
}

/* A component that copies of an entity get and that is not among `records`; 0: none. Members of
 * its linked group are not looked at. */
static uint32_t undeclared_copied(const weft__system *system, const weft__command *command)
{
    const weft_world *world = system->context.world;
    const weft__lists *declared = &system->lists;
    weft_entity source;
    uint32_t row;
    memcpy(&source, command + 1, sizeof source);
    const weft__chunk *chunk =
        weft__entity_is_deferred(source) ? NULL : weft__entity_row(world, source, &row);
    for (uint32_t i = 0; chunk != NULL && i < chunk->archetype->type_count; i++) {
        const weft__type *type = chunk->archetype->types[i].type;
        if (!weft__type_is_not_copied(world, type) &&
            !lists(declared->records, declared->record_count, type->id))
            return type->id;
    }
    return chunk == NULL
               ? 0
               : unlisted_sparse(world, source, declared->records, declared->record_count);
}

static const char *missing_effect(uint32_t effect)
{
    switch (effect) {
    case WEFT_RECORDS_CREATE:
        return "recorded a creation: declare WEFT_RECORDS_CREATE among its effects";
    case WEFT_RECORDS_DESTROY:
        return "recorded a destruction: declare WEFT_RECORDS_DESTROY among its effects";
    case WEFT_RECORDS_REMOVE:
        return "is removed by its commands: declare WEFT_RECORDS_REMOVE among its effects";
    default:
        return "is added or set by its commands: declare WEFT_RECORDS_ADD among its effects";
    }
}

#define EFFECT(id, name, whose, about, what, how, effect, play)                                    \
    [WEFT__COMMAND_##id] = WEFT_RECORDS_##effect,
static const uint8_t effects[] = {WEFT__COMMANDS(EFFECT)}; /* by operation */

/* The component a command is about that the system did not declare; 0: none. */
static uint32_t undeclared_component(const weft__system *system, const weft__command *command,
                                     uint32_t effect)
{
    const weft_world *world = system->context.world;
    const weft__lists *declared = &system->lists;
    if (effect == WEFT_RECORDS_DESTROY) return undeclared_destroyed(system, command);
    if (command->op == WEFT__COMMAND_INSTANTIATE) return undeclared_copied(system, command);
    if (weft__command_kinds[command->op].subject == WEFT__SUBJECT_ARCHETYPE)
        return unlisted(weft__archetype_of_id(world, command->subject), declared->records,
                        declared->record_count);
    bool is_listed = !weft__command_has_component(command->op) ||
                     lists(declared->records, declared->record_count, command->subject);
    return is_listed ? 0 : command->subject;
}

void weft__diagnose_effects(weft__scheduler *scheduler, const weft__command_segment *segment)
{
    const weft__system *system = scheduler->ordered[segment->key >> 32];
    weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                 .position = system->position,
                                 .slice = (uint32_t)segment->key,
                                 .access = WEFT_NO_ACCESS,
                                 .phase = WEFT__VIOLATION_RECORDED};
    weft__command_cursor cursor = weft__command_begin(segment);
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        uint32_t effect = effects[command->op];
        bool is_own = weft__entity_is_deferred(command->entity) && effect == WEFT_RECORDS_ADD;
        uint32_t declared = system->effects;
        if (is_own && (declared & WEFT_RECORDS_CREATE) != 0) declared |= WEFT_RECORDS_ADD;
        violation.component = undeclared_component(system, command, effect);
        if (system->effects == WEFT_RECORDS_NOTHING) {
            violation.component = 0;
            violation.what = "recorded commands, but declares none: set `effects`";
        } else if ((declared & effect) == 0) {
            bool is_named = effect == WEFT_RECORDS_ADD || effect == WEFT_RECORDS_REMOVE;
            violation.component = is_named ? command->subject : 0;
            violation.what = command->op == WEFT__COMMAND_SET_NAME
                                 ? "named an entity: declare WEFT_RECORDS_ADD among its effects"
                                 : missing_effect(effect);
        } else if (violation.component != 0) {
            violation.what =
                effect == WEFT_RECORDS_DESTROY
                    ? "belongs to an entity that its commands destroy, but is not "
                      "among its `destroys`: add it, or leave the list empty for any"
                    : "is changed by its commands, but is not among its `records`: add "
                      "it, or leave the list empty for any";
        }
        if (violation.what != NULL) break;
    }
    if (violation.what != NULL) weft__violate(&scheduler->workers[0], &violation);
}

/* ---- look-ups that meet the rows of other slices ---- */

/* Rows of a lower depth are done when those of a system by depth run. */
static bool is_of_lower_level(const weft__system *system, const weft__chunk *chunk,
                              const weft__chunk *own)
{
    const weft_world *world = system->scheduler->world;
    return system->by_depth.id != 0 && weft__relation_level(system->by_depth, chunk, world) <
                                           weft__relation_level(system->by_depth, own, world);
}

void weft__diagnose_look(const weft_slice *slice, const weft__chunk *chunk, uint32_t row,
                         weft_component component, weft_access access)
{
    const weft__system *system = weft__slice_system(slice);
    const weft__query *query = system->context.query;
    if (query == NULL || weft__system_is_serial(system)) return;
    if (slice->chunk == chunk) { /* its own row is its own business */
        size_t first = weft__slice_first_row(slice);
        if (row >= first && row - first < slice->count) return;
    }
    uint32_t number = chunk->archetype->number, match = 0;
    while (match < query->match_count && query->matches[match].number != number) match++;
    if (match == query->match_count) return;
    if (access == WEFT_READ && is_of_lower_level(system, chunk, slice->chunk)) return;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const weft__query_term *term = &query->terms[i];
        if (term->component != component.id || term->access == WEFT_NO_ACCESS) continue;
        if (term->access != WEFT_WRITE && access != WEFT_WRITE) continue;
        weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                     .position = system->position,
                                     .slice = slice->index,
                                     .component = component.id,
                                     .access = access,
                                     .what = "is looked up in a row that another slice of the "
                                             "system touches: slices may run at once; make it "
                                             "SERIAL, or write in a system of its own"};
        weft__violate(&system->scheduler->workers[slice->worker], &violation);
        return;
    }
}

/* ---- two writers ---- */

void weft__diagnose_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    const weft__system *system = weft__slice_system(slice);
    weft__scheduler *scheduler = system->scheduler;
    weft__worker *worker = &scheduler->workers[slice->worker];
    if (weft__system_is_serial(system)) return;
    weft__far_write *added =
        WEFT__LIST_ADD(scheduler->memory, WEFT__MEMORY_SYSTEMS, &worker->far_writes);
    if (added != NULL)
        *added = (weft__far_write){system->position, component.id, entity, slice->index};
}

static int compare_writes(const void *left, const void *right)
{
    const weft__far_write *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->component != b->component) return a->component < b->component ? -1 : 1;
    if (a->entity.index != b->entity.index) return a->entity.index < b->entity.index ? -1 : 1;
    if (a->entity.version != b->entity.version)
        return a->entity.version < b->entity.version ? -1 : 1;
    return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static bool is_same_value(const weft__far_write *a, const weft__far_write *b)
{
    return a->position == b->position && a->component == b->component &&
           a->entity.index == b->entity.index && a->entity.version == b->entity.version;
}

static void compare_all(weft__scheduler *scheduler, weft__far_write *writes, uint32_t count)
{
    qsort(writes, count, sizeof writes[0], compare_writes);
    for (uint32_t i = 1; i < count; i++) {
        const weft__far_write *write = &writes[i];
        if (!is_same_value(write - 1, write) || write[-1].slice == write->slice) continue;
        weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                     .position = write->position,
                                     .slice = write->slice,
                                     .component = write->component,
                                     .access = WEFT_WRITE,
                                     .entity = write->entity,
                                     .phase = WEFT__VIOLATION_COMPARED,
                                     .what = "another slice of the system writes the same entity: "
                                             "slices may run at once; make it SERIAL, or record "
                                             "commands"};
        weft__violate(&scheduler->workers[0], &violation);
    }
}

void weft__diagnose_watch(const weft__scheduler *scheduler)
{
    weft__front(scheduler->world)->watch =
        (weft__world_watch){keep_refusal, keep_use, keep_mistake};
}

const weft__observing *weft__diagnose_observe(const weft__observing *observing)
{
    doing *self = mine();
    const weft__observing *before = self->observing;
    self->observing = observing;
    return before;
}

void weft__diagnose_begin(weft__scheduler *scheduler)
{
    mine()->stepping = scheduler;
}

void weft__diagnose_end(weft__scheduler *scheduler)
{
    uint32_t count = 0, at = 0;
    mine()->stepping = NULL;
    for (uint32_t i = 0; i < scheduler->worker_count; i++)
        count += scheduler->workers[i].far_writes.count;
    if (count == 0) return;
    weft__far_write *all =
        weft__alloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, count, sizeof *all, 8);
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        for (uint32_t k = 0; all != NULL && k < worker->far_writes.count; k++)
            all[at++] = worker->far_writes.at[k];
        worker->far_writes.count = 0;
    }
    if (all == NULL) return;
    compare_all(scheduler, all, count);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, all, count, sizeof *all, 8);
}

void weft__diagnose_free(weft__scheduler *scheduler)
{
    weft__memory *memory = scheduler->memory;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &worker->far_writes);
        WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &worker->violations);
    }
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &scheduler->mistakes);
}

/* ---- the report ---- */

void weft__diagnose_report(weft__scheduler *scheduler)
{
    weft__violations_report(scheduler);
    weft_result mistake = weft__mistake_report(scheduler->world);
    weft__scheduler_fail(scheduler, mistake);
    if (mistake != WEFT_OK) weft__mistake_list(scheduler);
}
