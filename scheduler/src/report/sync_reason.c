/* SPDX-License-Identifier: MIT */
/* sync_reason.c: why a sync point lies before its observer: each effect of the recorder's commands
 * that the observer could see, with the component that says so. */
#include "sync_reason.h"

#include "explain.h"
#include "registry.h"

#include <weft/system.h>

/* One effect that the observer could see. A value. */
typedef struct seen_effect {
    uint32_t effects;   /* weft_command_effects: one, or ADD and REMOVE, which name the same list */
    uint32_t component; /* WEFT__NONE: any */
} seen_effect;

enum { SEEN_MOST = 3, EFFECT_BYTES = 32 + 255 /* words, and the longest name of a component */ };

/* What an observer could see. A value, on the caller's stack.
 *   count == 0: one of the two is exclusive */
typedef struct sync_reason {
    seen_effect seen[SEEN_MOST];
    uint32_t count;
    uint32_t archetype; /* number of one that the observer runs over; WEFT__NONE: none exists yet */
} sync_reason;

/* A component of a sorted list that another one has, too, or that the observer's rows must have;
 * WEFT__NONE: none. */
static uint32_t common_component(const uint32_t *list, uint32_t count,
                                 const weft__staging_node *observer)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < observer->required_count; k++)
            if (observer->required[k] == list[i]) return list[i];
        for (uint32_t k = 0; k < observer->mention_count; k++)
            if (observer->mentions[k] == list[i]) return list[i];
    }
    return WEFT__NONE;
}

/* An archetype over which the observer runs and which has the component, if one is given. */
static uint32_t seen_archetype(const weft__scheduler *scheduler, const weft__system *observer,
                               uint32_t component)
{
    const weft__query *query = observer->context.query;
    for (uint32_t i = 0; query != NULL && i < query->match_count; i++) {
        uint32_t number = query->matches[i].number;
        const weft__archetype *archetype = weft__archetype_numbered(scheduler->world, number);
        if (component == WEFT__NONE || weft__archetype_find(archetype, component) != WEFT__NONE)
            return number;
    }
    return WEFT__NONE;
}

static sync_reason reason_of(const weft__scheduler *scheduler, const weft__sync_point *point)
{
    static const uint32_t kinds[SEEN_MOST] = {
        WEFT_RECORDS_DESTROY, WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE, WEFT_RECORDS_CREATE};
    const weft__staging_node *recorder = &scheduler->nodes[point->recorder];
    const weft__staging_node *observer = &scheduler->nodes[point->observer];
    uint32_t visible = weft__staging_visible_effects(recorder, observer);
    sync_reason reason = {.archetype = WEFT__NONE};
    for (uint32_t i = 0; i < SEEN_MOST; i++) {
        bool is_destroy = kinds[i] == WEFT_RECORDS_DESTROY;
        if ((visible & kinds[i]) == 0) continue;
        reason.seen[reason.count++] = (seen_effect){
            visible & kinds[i],
            common_component(is_destroy ? recorder->destroys : recorder->records,
                             is_destroy ? recorder->destroy_count : recorder->record_count,
                             observer)};
    }
    if (reason.count != 0)
        reason.archetype = seen_archetype(scheduler, scheduler->ordered[point->observer],
                                          reason.seen[0].component);
    return reason;
}

static const char *effect_word(uint32_t effects)
{
    switch (effects) {
    case WEFT_RECORDS_DESTROY:
        return "destroys";
    case WEFT_RECORDS_CREATE:
        return "creates";
    case WEFT_RECORDS_ADD:
        return "adds or sets";
    case WEFT_RECORDS_REMOVE:
        return "removes";
    default:
        return "adds, sets or removes";
    }
}

static void add_effect(weft__text *t, const weft__scheduler *scheduler, const seen_effect *seen)
{
    bool is_change = (seen->effects & (WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE)) != 0;
    weft__text_add(t, "%s", effect_word(seen->effects));
    if (seen->component == WEFT__NONE)
        weft__text_add(t, is_change ? " any component" : " any entity");
    else
        weft__text_add(t, is_change ? " %s" : " entities with %s",
                       weft__type_name(scheduler->world, seen->component));
}

/* "destroys any entity and adds or sets b" */
static void add_effects(weft__text *t, const weft__scheduler *scheduler, const sync_reason *reason)
{
    for (uint32_t i = 0; i < reason->count; i++) {
        weft__text_add(t, "%s", i == 0 ? "" : " and ");
        add_effect(t, scheduler, &reason->seen[i]);
    }
}

static bool is_exclusive(const weft__system *system)
{
    return (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
}

void weft__sync_reason_add(weft__text *t, const weft__scheduler *scheduler,
                           const weft__sync_point *point)
{
    sync_reason reason = reason_of(scheduler, point);
    const weft__system *observer = scheduler->ordered[point->observer];
    const weft__system *recorder = scheduler->ordered[point->recorder];
    if (reason.count == 0) {
        const weft__system *exclusive = is_exclusive(observer) ? observer : recorder;
        weft__text_add(t, "commands of '%s' are played back before '%s', because '%s' is exclusive",
                       recorder->name, observer->name, exclusive->name);
        return;
    }
    weft__text_add(t, "'%s' could see commands of '%s', which ", observer->name, recorder->name);
    add_effects(t, scheduler, &reason);
    weft__archetype_add(t, scheduler, reason.archetype);
}

void weft__sync_reason_label(weft__text *t, const weft__scheduler *scheduler,
                             const weft__sync_point *point)
{
    char label[SEEN_MOST * EFFECT_BYTES] = "any command";
    sync_reason reason = reason_of(scheduler, point);
    weft__text effects = {label, sizeof label, 0};
    add_effects(&effects, scheduler, &reason);
    weft__text_add_label(t, label);
}

void weft__sync_reason_json(weft__text *t, const weft__scheduler *scheduler,
                            const weft__sync_point *point)
{
    static const struct {
        uint32_t effect;
        const char *name;
    } names[] = {{WEFT_RECORDS_CREATE, "create"},
                 {WEFT_RECORDS_DESTROY, "destroy"},
                 {WEFT_RECORDS_ADD, "add or set"},
                 {WEFT_RECORDS_REMOVE, "remove"}};
    sync_reason reason = reason_of(scheduler, point);
    uint32_t effects = 0, count = 0;
    for (uint32_t i = 0; i < reason.count; i++) effects |= reason.seen[i].effects;
    weft__text_add(t, "\"effect\": \"%s\", \"effects\": [",
                   reason.count == 0 ? "any" : effect_word(reason.seen[0].effects));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((effects & names[i].effect) != 0)
            weft__text_add(t, "%s\"%s\"", count++ == 0 ? "" : ", ", names[i].name);
    weft__text_add(t, "]");
    if (reason.count != 0 && reason.seen[0].component != WEFT__NONE) {
        weft__text_add(t, ", \"component\": ");
        weft__text_add_quoted(t, weft__type_name(scheduler->world, reason.seen[0].component));
    }
    if (reason.archetype != WEFT__NONE)
        weft__text_add(t, ", \"archetype\": %u",
                       weft__archetype_numbered(scheduler->world, reason.archetype)->id);
}
