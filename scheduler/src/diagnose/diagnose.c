/* SPDX-License-Identifier: MIT */
/* diagnose.c: what checked builds find out about systems by the calls that these make. Unchecked
 * builds call nothing here.
 *
 * Copies of columns find writes that no call announces. Look-ups for writing are listed per
 * worker and compared when the pass is over: two slices of a system that may run at once and ask
 * for the same value are named, whether or not they met this time. When a list cannot grow, the
 * rest of it goes unwatched. */
#include "diagnose.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- keeping and reporting mistakes ----
 *
 * Every worker keeps the violations it meets, one of a kind, and the owner joins the lists at the
 * end of the step and reports them by order of effect: the same ones on any number of workers. */

/* When a mistake is found: order of report of those of one slice. */
typedef enum violation_phase {
    WEFT__VIOLATION_CALLED,   /* by a call that it made */
    WEFT__VIOLATION_RECORDED, /* among its commands, before they are played */
    WEFT__VIOLATION_COMPARED, /* by comparing all look-ups for writing */
    WEFT__VIOLATION_STRAYED,  /* by comparing copies of columns */
} violation_phase;

/* A mistake of a system, kept by the worker that met it until the end of the step, one of a kind:
 * the first by slice. Owner: the list of that worker; RECORDED: that of the first worker. */
typedef struct weft__violation {
    weft_result code;
    uint32_t position; /* of the system */
    uint32_t slice;
    uint32_t component;
    weft_access access;
    const char *observer; /* whose mistake it is, in batch `slice`; NULL: of the system */
    const char *function; /* that was called, or NULL */
    const char *what;
    violation_phase phase;
    bool has_row;
    uint32_t row;       /* of the slice */
    uint32_t row_limit; /* rows of the slice, where the row is past its end; else 0 */
    weft_entity entity;
    uint32_t places;   /* slices in which it was found; kept by violate */
    uint64_t sequence; /* of the worker; kept by violate */
} weft__violation;

/* A value a slice asked to write by look-up. Kept in checked builds until the end of the pass. */
typedef struct weft__far_write {
    uint32_t position; /* of the system */
    uint32_t component;
    weft_entity entity;
    uint32_t slice;
} weft__far_write;
static bool is_same_kind(const weft__violation *a, const weft__violation *b)
{
    return a->position == b->position && a->component == b->component && a->code == b->code &&
           a->access == b->access && a->what == b->what && a->function == b->function &&
           a->observer == b->observer;
}

static bool is_earlier(const weft__violation *a, const weft__violation *b)
{
    if (a->slice != b->slice) return a->slice < b->slice;
    return a->has_row && b->has_row && a->row < b->row;
}

/* Without memory it is lost. */
static void violate(weft__worker *worker, const weft__violation *found)
{
    weft__violation violation = *found;
    if (violation.places == 0) violation.places = 1;
    violation.sequence = worker->violation_sequence++;
    for (uint32_t i = 0; i < worker->violations.count; i++) {
        weft__violation *known = &worker->violations.at[i];
        if (!is_same_kind(known, &violation)) continue;
        uint32_t places = known->places + violation.places;
        if (is_earlier(&violation, known)) *known = violation;
        known->places = places;
        return;
    }
    (void)WEFT__LIST_APPEND(weft__world_memory(worker->commands.world), WEFT__MEMORY_SYSTEMS,
                            &worker->violations, &violation, 1);
}

/* A violation of the system of a slice, in it. */
static void violate_slice(const weft_slice *slice, weft__violation violation)
{
    const weft__system *system = weft__slice_system(slice);
    violation.position = system->position;
    violation.slice = slice->index;
    violate(&system->scheduler->workers[slice->worker], &violation);
}

void weft__violate_in(const weft_slice *slice, uint32_t component, weft_access access,
                      const char *what)
{
    violate_slice(slice, (weft__violation){.code = WEFT_UNDECLARED_ACCESS,
                                           .component = component == WEFT__NONE ? 0 : component,
                                           .access = access,
                                           .what = what});
}

void weft__row_missing_in(const weft_slice *slice, uint32_t component, weft_access access,
                          uint32_t row, uint32_t count)
{
    violate_slice(slice, (weft__violation){.code = WEFT_NOT_FOUND,
                                           .component = component,
                                           .access = access,
                                           .what = WEFT__ROW_PAST_END,
                                           .has_row = true,
                                           .row = row,
                                           .row_limit = count});
}

void weft__mistyped_in(const weft_slice *slice, uint32_t component, weft_access access,
                       const char *type)
{
    violate_slice(slice, (weft__violation){.code = WEFT_TYPE_MISMATCH,
                                           .component = component,
                                           .access = access,
                                           .function = type,
                                           .what = WEFT__MISTYPED});
}

/* ---- the report ---- */

static int compare_violations(const void *left, const void *right)
{
    const weft__violation *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->slice != b->slice) return a->slice < b->slice ? -1 : 1;
    if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
    if (a->phase == WEFT__VIOLATION_STRAYED && a->row != b->row) return a->row < b->row ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static weft_result report_violation(weft__scheduler *scheduler, const weft__violation *violation)
{
    const weft_world *world = scheduler->world;
    const char *action = violation->access == WEFT_WRITE ? " (write)" : " (read)";
    const char *unknown =
        violation->phase == WEFT__VIOLATION_STRAYED ? "(destroyed)" : "(not known)";
    const char *name =
        violation->position == WEFT__NONE ? unknown : scheduler->ordered[violation->position]->name;
    if (violation->observer != NULL)
        return weft__error(world, violation->code, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "observer '%s': %s%s", violation->observer, violation->function,
                           violation->what);
    char row[128] = "", more[32] = "";
    if (violation->row_limit != 0)
        snprintf(row, sizeof row, ", row %u of a slice of %u row%s", violation->row,
                 violation->row_limit, violation->row_limit == 1 ? "" : "s");
    else if (violation->has_row && violation->entity.version == 0)
        snprintf(row, sizeof row, ", row %u", violation->row);
    else if (violation->has_row)
        snprintf(row, sizeof row, ", row %u (entity %s)", violation->row,
                 weft__entity_say(world, violation->entity).text);
    if (violation->places > 1)
        snprintf(more, sizeof more, " (%u time%s more)", violation->places - 1,
                 violation->places == 2 ? "" : "s");
    return weft__error(
        world, violation->code, violation->entity, weft__component(world, violation->component),
        "system '%s', slice %u%s%s%s%s: %s%s%s", name, violation->slice, row,
        violation->component == 0 ? "" : ": component ",
        violation->component == 0 ? "" : weft__type_name(world, violation->component),
        violation->access == WEFT_NO_ACCESS ? "" : action,
        violation->function == NULL ? "" : violation->function, violation->what, more);
}

static void mistake_list(weft__scheduler *scheduler)
{
    const weft_log *log = &weft__world_desc(scheduler->world)->log;
    if (log->write != NULL)
        log->write(log->user, WEFT_LOG_MISTAKE, weft_world_error(scheduler->world)->text);
    (void)WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->mistakes,
                            weft_world_error(scheduler->world), 1);
}

/* Joins the lists of all workers in that of the first. */
static void join_violations(weft__scheduler *scheduler)
{
    weft__worker *first = &scheduler->workers[0];
    for (uint32_t i = 1; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        for (uint32_t k = 0; k < worker->violations.count; k++)
            violate(first, &worker->violations.at[k]);
        worker->violations.count = 0;
    }
}

static void violations_report(weft__scheduler *scheduler)
{
    weft__worker *all = &scheduler->workers[0];
    join_violations(scheduler);
    if (all->violations.count == 0) return;
    qsort(all->violations.at, all->violations.count, sizeof *all->violations.at,
          compare_violations);
    for (uint32_t i = 0; i < all->violations.count; i++) {
        weft__scheduler_fail(scheduler, report_violation(scheduler, &all->violations.at[i]));
        mistake_list(scheduler);
    }
    all->violations.count = 0;
}

weft_result weft__violations_tell(weft__scheduler *scheduler)
{
    scheduler->error.code = WEFT_OK;
    scheduler->mistakes.count = 0;
    violations_report(scheduler);
    if (scheduler->error.code != WEFT_OK)
        *weft__world_error_record(scheduler->world) = scheduler->error;
    return scheduler->error.code;
}

uint32_t weft_schedule_mistakes(const weft_world *world, weft_error *out, uint32_t capacity)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (scheduler == NULL) return 0;
    for (uint32_t i = 0; i < scheduler->mistakes.count && i < capacity; i++)
        out[i] = scheduler->mistakes.at[i];
    return scheduler->mistakes.count;
}

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

static const weft_slice *diagnose_enter(const weft_slice *slice)
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
        violate(&scheduler->workers[observing->worker], &refused);
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
    violate(&scheduler->workers[current->worker], &violation);
    return !weft__system_is_on_owner(system);
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
    violate(&scheduler->workers[current->worker], &violation);
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
    violate(&scheduler->workers[current->worker], &violation);
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
    if (violation.what != NULL) violate(&scheduler->workers[0], &violation);
}

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
        violate(&system->scheduler->workers[slice->worker], &violation);
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
        violate(&scheduler->workers[0], &violation);
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
    weft__far_write *all = WEFT__NEW(scheduler->memory, WEFT__MEMORY_SYSTEMS, count, *all);
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        for (uint32_t k = 0; all != NULL && k < worker->far_writes.count; k++)
            all[at++] = worker->far_writes.at[k];
        worker->far_writes.count = 0;
    }
    if (all == NULL) return;
    compare_all(scheduler, all, count);
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, all, count);
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

/* ---- copies of columns ----
 *
 * What checked builds do around the call of a system: the columns of its slice are handed out as
 * copies (guard.h), and what these found becomes violations.
 *
 * A column is not copied where the system may reach its values on another way as well, which would
 * not see the copy: components among its look-ups and in its declared queries, when it or they
 * write; and everything of EXCLUSIVE systems, which may use the whole world. */

/* ---- what is copied ---- */

/* How the system reaches a component beside its own rows. */
static weft_access other_access(const weft__system *system, uint32_t component)
{
    weft_access access = WEFT_NO_ACCESS;
    for (uint32_t i = 0; i < system->lists.lookup_count; i++) {
        if (system->lists.lookups[i].component != component) continue;
        if (access != WEFT_WRITE) access = system->lists.lookups[i].access;
    }
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        const weft__query_handle *handle =
            weft__query_find(system->context.world, system->lists.queries[i]);
        for (uint32_t k = 0; k < handle->query->term_count; k++) {
            const weft__query_term *term = &handle->query->terms[k];
            if (term->component == component && access != WEFT_WRITE) access = term->access;
        }
    }
    return access;
}

static weft__guard_mode mode_of(const weft__system *system, const weft__query_term *term)
{
    weft_access other = other_access(system, term->component);
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) return WEFT__GUARD_NOT;
    if (term->access == WEFT_NO_ACCESS || other == WEFT_WRITE) return WEFT__GUARD_NOT;
    if (term->access == WEFT_READ) return WEFT__GUARD_READ;
    return other == WEFT_NO_ACCESS ? WEFT__GUARD_WRITE : WEFT__GUARD_NOT;
}

void weft__watch_init(weft__system *system)
{
    const weft__query *query = system->context.query;
    if (!WEFT_IS_CHECKED || query == NULL) return;
    system->guard_modes = WEFT__NEW(system->scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                    query->term_count, system->guard_modes[0]);
    for (uint32_t i = 0; i < query->term_count && system->guard_modes != NULL; i++)
        system->guard_modes[i] = (uint8_t)mode_of(system, &query->terms[i]);
}

void weft__watch_fini(weft__system *system)
{
    const weft__query *query = system->context.query;
    if (system->guard_modes == NULL) return;
    WEFT__FREE(system->scheduler->memory, WEFT__MEMORY_SYSTEMS, system->guard_modes,
               query->term_count);
    system->guard_modes = NULL;
}

/* Bytes that copies of the resources take which a system reads. */
static size_t resource_bytes(const weft__system *system)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < system->lists.resource_count; i++) {
        const weft__grant *grant = &system->lists.resources[i];
        const weft__type *type = weft__type_find(
            system->context.world, weft__component(system->context.world, grant->component));
        size_t own = type == NULL ? 0 : weft__type_bytes(type);
        if (grant->access == WEFT_READ && own <= WEFT__GUARD_VALUE_MOST)
            bytes += own + WEFT__GUARD_MARGINS;
    }
    return bytes;
}

static size_t most_bytes(const weft__entry *entries, uint32_t count)
{
    size_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].system != NULL && resource_bytes(entries[i].system) > most)
            most = resource_bytes(entries[i].system);
        const weft__levels *levels = entries[i].levels;
        size_t below = levels == NULL ? 0 : most_bytes(levels->entries, levels->entry_count);
        if (below > most) most = below;
        for (uint32_t k = 0; k < entries[i].binding_count; k++) {
            const weft__binding *binding = &entries[i].bindings[k];
            const weft__chunk *chunk = binding->slice.chunk;
            size_t bytes = weft__guard_bytes(chunk->layout, binding->slice.count,
                                             binding->slice.places, binding->slice.term_count) +
                           resource_bytes(binding->system);
            if (binding->system->guard_modes != NULL && bytes > most) most = bytes;
        }
    }
    return most;
}

void weft__watch_reserve(weft__scheduler *scheduler, const weft__stage *stage)
{
    if (scheduler->background_count != 0) return; /* its workers use their rings */
    size_t loop = most_bytes(stage->entries, stage->entry_count);
    size_t owner = most_bytes(stage->main_entries, stage->main_entry_count);
    size_t background = most_bytes(stage->background_entries, stage->background_entry_count);
    size_t most = loop > owner ? loop : owner;
    if (background > most) most = background;
    weft__guards_reserve(scheduler->world, most);
}

/* ---- a call ---- */

static weft__guard *guard_of(const weft__system *system, const weft_slice *slice)
{
    if (system->context.query != NULL && system->guard_modes == NULL) return NULL;
    return weft__guard_of(system->context.world, slice->worker);
}

weft_slice *weft__watch_begin(weft__watch *watch, const weft__system *system, weft_slice *slice)
{
    watch->loops = weft__loops_open(&system->scheduler->workers[slice->worker].loops);
    weft__guard_open(guard_of(system, slice), slice, system->guard_modes, system->handle,
                     &watch->frame);
    watch->before = diagnose_enter(watch->frame.slice);
    return watch->frame.slice;
}

/* The system writes it as well, or reaches it through the whole world: it is not copied. Nor for a
 * job that the callback started, on another thread. */
void *weft__watch_resource(const weft__system *system, const weft_slice *slice,
                           const weft__type *type)
{
    bool is_other = (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
    for (uint32_t i = 0; i < system->lists.resource_count; i++)
        if (system->lists.resources[i].component == type->id)
            is_other = is_other || system->lists.resources[i].access == WEFT_WRITE;
    const weft_slice *current = weft__diagnose_current();
    if (is_other || current == NULL || current->context != slice->context) return type->resource;
    return weft__guard_value(guard_of(system, slice), type, system->handle, slice);
}

void weft__watch_end(const weft__watch *watch, const weft__system *system)
{
    const weft_slice *slice = watch->frame.slice;
    if (weft__loops_open(&system->scheduler->workers[slice->worker].loops) > watch->loops)
        weft__violate_in(slice, 0, WEFT_NO_ACCESS,
                         "left a loop of weft_slice_query before its end: call weft_query_end");
    if (!system->passes) system->scheduler->workers[slice->worker].commands.is_closed = true;
    weft__guard_close(guard_of(system, slice), &watch->frame);
    diagnose_enter(watch->before);
}

/* ---- the report ---- */

/* The position of the system with this handle, or WEFT__NONE: it was destroyed since. */
static uint32_t position_of(const weft__scheduler *scheduler, uint32_t handle)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        if (scheduler->ordered[i]->handle == handle) return i;
    return WEFT__NONE;
}

void weft__watch_gone(const weft_slice *slice, weft_access access)
{
    const weft_slice_context *context = slice->context;
    weft__scheduler *scheduler = weft__scheduler_of(context->world);
    const weft_slice *current = weft__diagnose_current();
    if (current != NULL && current->context != NULL &&
        weft__slice_system(current)->scheduler == scheduler) {
        weft__violate_in(current, 0, access, WEFT__SLICE_GONE);
        return;
    }
    bool is_given = (slice->calls & WEFT__SLICE_GIVEN) != 0;
    uint32_t owner = is_given ? ((const weft__given_slice *)context)->owner : 0;
    violate(&scheduler->workers[slice->worker],
            &(weft__violation){.code = WEFT_UNDECLARED_ACCESS,
                               .position = position_of(scheduler, owner),
                               .slice = slice->index,
                               .access = access,
                               .what = WEFT__SLICE_GONE});
}

static void watch_report(weft__scheduler *scheduler)
{
    if (scheduler->background_count != 0) return;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__guard *guard = weft__guard_of(scheduler->world, i);
        if (guard == NULL || guard->ring == NULL) continue;
        weft__guard_sweep(guard);
        for (uint32_t k = 0; k < guard->strays.count; k++) {
            const weft__stray *stray = &guard->strays.at[k];
            weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                         .position = position_of(scheduler, stray->owner),
                                         .slice = stray->slice,
                                         .component = stray->component,
                                         .access = WEFT_WRITE,
                                         .what = weft__stray_text(stray->kind),
                                         .phase = WEFT__VIOLATION_STRAYED,
                                         .has_row = stray->row != WEFT__STRAY_NO_ROW,
                                         .row = stray->row,
                                         .entity = stray->entity,
                                         .places = stray->places};
            violate(&scheduler->workers[0], &violation);
        }
        guard->strays.count = 0;
    }
}

void weft__diagnose_report(weft__scheduler *scheduler)
{
    watch_report(scheduler);
    violations_report(scheduler);
    weft_result mistake = weft__mistake_report(scheduler->world);
    weft__scheduler_fail(scheduler, mistake);
    if (mistake != WEFT_OK) mistake_list(scheduler);
}
