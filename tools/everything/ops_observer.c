/* SPDX-License-Identifier: MIT */
/* ops_observer.c: observers, against lists of who had what when they ran last.
 *
 * weft_observers_run is told exactly: round by round the lists are compared with the model, and
 * what observers record is done. In a step weft decides where observers run; there what was told
 * must add up. A list holds handles and values as weft has them, so that it outlives restored
 * worlds. */
#include "systems.h"
#include "walk_rows.h"

#include <stdlib.h>
#include <weft/observer.h>

enum { OBSERVERS = 4, TOLD_MOST = 1 << 16, ROUNDS = 8, NAME_BYTES = 16 };

/* An entity that a list has, or that an observer was told. */
typedef struct entry {
    weft_entity entity;
    uint32_t number, value; /* of the value a hash */
} entry;

/* Who has a component, or of KINDS: who lives. */
typedef struct watch {
    uint32_t kind, users;
    entry *entries; /* by number */
    uint32_t count;
    bool has_values; /* since an observer needs the old ones */
} watch;

typedef struct observer {
    weft_observer handle;
    everything *e;
    watch *of;
    uint32_t event, kind, record, record_kind;
    bool is_used, is_parallel, records_now;
    char name[NAME_BYTES];
    weft_a32 x_told; /* entries */
    entry *told;
    entry *expected;
    uint32_t expected_count;
} observer;

struct everything_observers {
    observer slots[OBSERVERS];
    uint32_t order[OBSERVERS], count, made;
    watch watches[OBSERVERS + 1]; /* the last one: of all */
};

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

static struct everything_observers *observers_of(everything *e)
{
    if (e->observers != NULL) return e->observers;
    e->observers = model_memory(&e->here->m, sizeof *e->observers);
    e->observers->watches[OBSERVERS].kind = KINDS;
    return e->observers;
}

void observers_print(FILE *out)
{
    fprintf(out,
            "typedef struct telling {\n    uint32_t told, record;\n    bool records_now;\n"
            "    weft_component component;\n} telling;\n\nstatic telling tellings[%d];\n"
            "static weft_observer o[%d];\n\n"
            "static void tell(const weft_observation *of, void *user)\n{\n"
            "    telling *t = user;\n"
            "    __atomic_fetch_add(&t->told, of->count, __ATOMIC_RELAXED);\n"
            "    for (uint32_t i = 0; i < of->count && t->records_now; i++) {\n"
            "        if (t->record == 1) weft_recorder_destroy_entity(of->commands, "
            "of->entities[i]);\n"
            "        if (t->record == 2) weft_recorder_add(of->commands, of->entities[i], "
            "t->component);\n"
            "        if (t->record == 3) weft_recorder_remove(of->commands, of->entities[i], "
            "t->component);\n    }\n}\n\n",
            OBSERVERS, OBSERVERS);
}

/* ---- lists ---- */

static uint32_t value_hash(const void *value, uint32_t bytes)
{
    uint64_t hash = bytes;
    for (uint32_t i = 0; i < bytes; i++) hash = everything_mix(hash, ((const uint8_t *)value)[i]);
    return (uint32_t)hash;
}

static bool is_watched(const model *m, uint32_t n, uint32_t kind)
{
    if (model_has(m, n, PREFAB)) return false;
    return kind == KINDS ? model_is_alive(m, n) : model_has(m, n, kind);
}

/* What the list of a watch is now, by number. */
static entry *list_now(everything *e, const watch *w, uint32_t *count)
{
    model *m = &e->here->m;
    entry *list = model_memory(m, m->count * sizeof *list);
    uint32_t bytes = w->kind == KINDS ? 0 : m->kinds[w->kind].size;
    *count = 0;
    for (uint32_t n = 1; n < m->count; n++) {
        if (!is_watched(m, n, w->kind)) continue;
        const model_value *value = bytes == 0 ? NULL : model_read(m, n, w->kind);
        entry *one = &list[(*count)++];
        *one = (entry){everything_handle(e->here, n), n, 0};
        if (value != NULL)
            one->value =
                value_hash(everything_weft_value(e, e->here, w->kind, value->bytes, 1), bytes);
    }
    return list;
}

static int by_handle(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->entity.index != y->entity.index) return x->entity.index < y->entity.index ? -1 : 1;
    if (x->entity.version != y->entity.version)
        return x->entity.version < y->entity.version ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static const entry *find(const entry *list, uint32_t count, weft_entity entity)
{
    uint32_t low = 0, high = count;
    const entry key = {.entity = entity};
    while (low < high) { /* the first that is not below: values count from 0 */
        uint32_t middle = low + (high - low) / 2;
        if (by_handle(&list[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && weft_entity_equal(list[low].entity, entity) ? &list[low] : NULL;
}

static entry *list_sorted(everything *e, const watch *w, uint32_t *count)
{
    entry *list = list_now(e, w, count);
    qsort(list, *count, sizeof *list, by_handle);
    return list;
}

static void watch_begin(everything *e, watch *w)
{
    if (w->users++ != 0) return;
    w->entries = list_sorted(e, w, &w->count);
    w->has_values = false;
}

static bool has_old_values(uint32_t event)
{
    return event == WEFT_ON_REMOVED || event == WEFT_ON_DESTROYED || event == WEFT_ON_CHANGED;
}

/* The first observer of old values comes: they are those of now, zero of who has none now. */
static void values_begin(everything *e, watch *w)
{
    uint32_t now_count, bytes = w->kind == KINDS ? 0 : kinds_of_model()[w->kind].size;
    const entry *now = list_sorted(e, w, &now_count);
    uint32_t zero = value_hash(model_memory(&e->here->m, bytes + 1), bytes);
    for (uint32_t i = 0; i < w->count && !w->has_values; i++) {
        const entry *same = find(now, now_count, w->entries[i].entity);
        w->entries[i].value = bytes == 0 ? 0 : same != NULL ? same->value : zero;
    }
    w->has_values = true;
}

/* ---- make ---- */

static void tell(const weft_observation *of, void *user)
{
    observer *o = user;
    uint32_t bytes = o->kind == KINDS ? 0 : kinds_of_model()[o->kind].size;
    uint32_t at = at_add_rlx(&o->x_told, of->count); /* relaxed: read behind the run */
    for (uint32_t i = 0; i < of->count; i++) {
        if (at + i < TOLD_MOST)
            o->told[at + i] =
                (entry){of->entities[i], 0,
                        of->values == NULL
                            ? 0
                            : value_hash((const char *)of->values + (size_t)i * bytes, bytes)};
        if (!o->records_now) continue;
        weft_component component = o->e->here->of[o->record_kind];
        weft_result result = WEFT_OK;
        if (o->record == WALK_RECORDS_DESTROY)
            result = weft_recorder_destroy_entity(of->commands, of->entities[i]);
        if (o->record == WALK_RECORDS_ADD)
            result = weft_recorder_add(of->commands, of->entities[i], component);
        if (o->record == WALK_RECORDS_REMOVE)
            result = weft_recorder_remove(of->commands, of->entities[i], component);
        if (result != WEFT_OK) everything_fails(o->e, "a command of an observer", "is refused");
    }
}

static bool is_observed(uint32_t kind, uint32_t event)
{
    if (kind == PREFAB || kind == DEPTH || !(kind_has_column(kind) || kind_is_tag(kind)))
        return false;
    if (has_old_values(event) && (kinds_of_model()[kind].flags & MODEL_SIGNED) != 0) return false;
    return event != WEFT_ON_CHANGED || kinds_of_model()[kind].size != 0;
}

static void observer_draw(everything *e, observer *o, const everything_call *c)
{
    *o = (observer){.e = e, .event = WEFT_ON_ADDED + c->way, .is_parallel = c->b % 3 == 0};
    bool is_any = (o->event == WEFT_ON_CREATED || o->event == WEFT_ON_DESTROYED) && c->b / 4 % 2;
    for (uint32_t i = 0; i < KINDS; i++) {
        o->kind = (c->kind + i) % KINDS;
        if (is_observed(o->kind, o->event)) break;
    }
    if (is_any) o->kind = KINDS;
    /* what is recorded leads to kinds that are listed later: it ends */
    o->record = c->b / 8 % 5;
    o->record_kind = c->a % KINDS;
    bool ends = kind_is_any(o->record_kind) && !kind_is_relation(o->record_kind) &&
                o->record_kind != GROUP && o->record_kind != PREFAB &&
                (o->kind == KINDS || o->record_kind > o->kind);
    if (o->record > WALK_RECORDS_REMOVE || (o->record != WALK_RECORDS_DESTROY && !ends) ||
        (o->record == WALK_RECORDS_DESTROY && o->event == WEFT_ON_DESTROYED) ||
        kinds_of_model()[o->record_kind].needs != 0)
        o->record = WALK_RECORDS_NOTHING;
    o->told = model_memory(&e->here->m, TOLD_MOST * sizeof *o->told);
    o->expected = model_memory(&e->here->m, TOLD_MOST * sizeof *o->expected);
}

static watch *watch_of(everything *e, observer *o)
{
    struct everything_observers *all = e->observers;
    if (o->kind == KINDS) return &all->watches[OBSERVERS];
    for (uint32_t i = 0; i < OBSERVERS; i++)
        if (all->watches[i].users != 0 && all->watches[i].kind == o->kind) return &all->watches[i];
    uint32_t i = 0;
    while (all->watches[i].users != 0) i++;
    all->watches[i].kind = o->kind;
    return &all->watches[i];
}

static void run_make(everything *e, const everything_call *c)
{
    static const char *const events[] = {"WEFT_ON_ADDED", "WEFT_ON_REMOVED", "WEFT_ON_CHANGED",
                                         "WEFT_ON_CREATED", "WEFT_ON_DESTROYED"};
    struct everything_observers *all = observers_of(e);
    uint32_t at = 0, rank = all->count;
    while (at < OBSERVERS && all->slots[at].is_used) at++;
    if (at == OBSERVERS) return;
    observer *o = &all->slots[at];
    observer_draw(e, o, c);
    snprintf(o->name, sizeof o->name, "o%u", all->made++);
    weft_observer_desc desc = {
        .name = o->name, .on = o->event, .run = tell, .user = o, .is_parallel = o->is_parallel};
    if (o->kind != KINDS) desc.component = e->here->of[o->kind];
    if (c->value % 3 == 0 && all->count != 0) {
        rank = (uint32_t)(c->value / 3 % all->count);
        desc.before = all->slots[all->order[rank]].name;
    }
    everything_says(e, "tellings[%u] = (telling){.record = %u, .component = of[%s]};", at,
                    o->record, name_of(o->record_kind));
    everything_says(e,
                    "o[%u] = weft_observer_create(world, &(weft_observer_desc){.name = \"%s\", .on "
                    "= %s, .component = %s%s%s, .run = tell, .user = &tellings[%u], .before = "
                    "%s%s%s, .is_parallel = %d});",
                    at, o->name, events[c->way], o->kind == KINDS ? "{0" : "of[",
                    o->kind == KINDS ? "" : name_of(o->kind), o->kind == KINDS ? "}" : "]", at,
                    desc.before == NULL ? "" : "\"", desc.before == NULL ? "NULL" : desc.before,
                    desc.before == NULL ? "" : "\"", o->is_parallel);
    everything_says(e, "CHECK(o[%u].id != 0);", at);
    o->handle = weft_observer_create(e->here->world, &desc);
    if (o->handle.id == 0) {
        everything_fails(e, "weft_observer_create", "%s", weft_world_error(e->here->world)->text);
        return;
    }
    memmove(all->order + rank + 1, all->order + rank, (all->count - rank) * sizeof *all->order);
    all->order[rank] = at;
    all->count++;
    o->is_used = true;
    o->of = watch_of(e, o);
    watch_begin(e, o->of);
    if (has_old_values(o->event)) values_begin(e, o->of);
    if (o->kind != KINDS && o->event == WEFT_ON_CREATED) watch_begin(e, &all->watches[OBSERVERS]);
}

static void run_drop(everything *e, const everything_call *c)
{
    struct everything_observers *all = observers_of(e);
    if (all->count == 0) return;
    uint32_t rank = c->a % all->count, at = all->order[rank];
    observer *o = &all->slots[at];
    memmove(all->order + rank, all->order + rank + 1, (all->count - rank - 1) * sizeof *all->order);
    all->count--;
    o->is_used = false;
    o->of->users--;
    if (o->kind != KINDS && o->event == WEFT_ON_CREATED) all->watches[OBSERVERS].users--;
    everything_says(e, "IS(WEFT_OK, weft_observer_destroy(world, o[%u]));", at);
    everything_result(e, "weft_observer_destroy", weft_observer_destroy(e->here->world, o->handle),
                      WEFT_OK);
}

/* ---- one round of the model ---- */

static void expect(observer *o, const entry *one, bool has_value)
{
    if (o->expected_count < TOLD_MOST)
        o->expected[o->expected_count] =
            (entry){one->entity, one->number, has_value ? one->value : 0};
    o->expected_count++;
}

static bool is_dead(everything *e, weft_entity entity)
{
    uint32_t n = everything_number(e->here, entity);
    return !model_is_alive(&e->here->m, n);
}

/* Lists as they are now, by watch. */
typedef struct lists {
    entry *items[OBSERVERS + 1];
    uint32_t counts[OBSERVERS + 1];
} lists;

/* What an observer is told of the difference between two lists of its watch. */
static void difference_tell(everything *e, observer *o, const lists *l)
{
    const watch *w = o->of, *all = &e->observers->watches[OBSERVERS];
    const entry *now = l->items[w - e->observers->watches];
    uint32_t now_count = l->counts[w - e->observers->watches];
    bool is_added = o->event == WEFT_ON_ADDED || o->event == WEFT_ON_CREATED;
    bool has_value = w->kind != KINDS && kinds_of_model()[w->kind].size != 0;
    for (uint32_t i = 0; i < now_count && is_added; i++) {
        if (find(w->entries, w->count, now[i].entity) != NULL) continue;
        bool is_new = w->kind == KINDS || o->event == WEFT_ON_ADDED ||
                      (find(all->entries, all->count, now[i].entity) == NULL &&
                       find(l->items[OBSERVERS], l->counts[OBSERVERS], now[i].entity) != NULL);
        if (is_new) expect(o, &now[i], false);
    }
    for (uint32_t i = 0; i < w->count && !is_added; i++) {
        const entry *old = &w->entries[i], *same = find(now, now_count, old->entity);
        if (o->event == WEFT_ON_CHANGED ? same != NULL && same->value != old->value
            : o->event == WEFT_ON_REMOVED
                ? same == NULL
                : same == NULL && (w->kind == KINDS || is_dead(e, old->entity)))
            expect(o, old, has_value);
    }
}

/* What is recorded for those that are told from `from` on. */
static void records_play(everything *e, const observer *o, uint32_t from)
{
    model *m = &e->here->m;
    for (uint32_t i = from; i < o->expected_count && i < TOLD_MOST; i++) {
        uint32_t n = everything_number(e->here, o->expected[i].entity);
        if (o->record == WALK_RECORDS_DESTROY) model_destroy(m, n);
        if (o->record == WALK_RECORDS_ADD) model_change(m, n, KIND_BIT(o->record_kind), 0);
        if (o->record == WALK_RECORDS_REMOVE) model_change(m, n, 0, KIND_BIT(o->record_kind));
    }
}

/* Lists become those of now; false: no observer was told anything. */
static bool round_run(everything *e, bool is_recording)
{
    struct everything_observers *all = e->observers;
    lists l = {0};
    uint32_t from[OBSERVERS];
    bool is_news = false;
    for (uint32_t i = 0; i <= OBSERVERS; i++)
        if (all->watches[i].users != 0) l.items[i] = list_sorted(e, &all->watches[i], &l.counts[i]);
    for (uint32_t i = 0; i < all->count; i++) {
        observer *o = &all->slots[all->order[i]];
        from[i] = o->expected_count;
        difference_tell(e, o, &l);
        is_news = is_news || o->expected_count != from[i];
    }
    for (uint32_t i = 0; i <= OBSERVERS; i++) {
        all->watches[i].entries = l.items[i];
        all->watches[i].count = l.counts[i];
    }
    for (uint32_t i = 0; i < all->count && is_recording; i++)
        records_play(e, &all->slots[all->order[i]], from[i]);
    return is_news;
}

/* The lists become those of now, and no observer is told; whether there was news. */
static bool news_lose(everything *e)
{
    struct everything_observers *all = e->observers;
    uint32_t counts[OBSERVERS];
    for (uint32_t i = 0; i < all->count; i++) counts[i] = all->slots[all->order[i]].expected_count;
    bool is_news = round_run(e, false);
    for (uint32_t i = 0; i < all->count; i++) all->slots[all->order[i]].expected_count = counts[i];
    return is_news;
}

/* ---- runs ---- */

static void told_check(everything *e, observer *o, uint32_t at)
{
    uint32_t count = at_plain(&o->x_told);
    everything_says(e, "CHECK(tellings[%u].told == %u);", at, o->expected_count);
    if (!everything_equal(e, "entities that an observer is told", count, o->expected_count)) return;
    if (count > TOLD_MOST) return;
    qsort(o->told, count, sizeof *o->told, by_handle);
    qsort(o->expected, count, sizeof *o->expected, by_handle);
    for (uint32_t i = 0; i < count; i++) {
        const entry *is = &o->told[i], *should = &o->expected[i];
        if (by_handle(is, should) == 0) continue;
        bool is_other = !weft_entity_equal(is->entity, should->entity);
        everything_fails(e, is_other ? "an observer is told of another" : "a value that was",
                         "%s: entity %u, should be %u", o->name,
                         everything_number(e->here, is->entity),
                         everything_number(e->here, should->entity));
        return;
    }
}

static void telling_begin(everything *e, bool records_now)
{
    struct everything_observers *all = e->observers;
    for (uint32_t i = 0; i < all->count; i++) {
        observer *o = &all->slots[all->order[i]];
        at_init(&o->x_told, 0);
        o->expected_count = 0;
        o->records_now = records_now;
        everything_says(e, "tellings[%u].told = 0;\n        tellings[%u].records_now = %d;",
                        all->order[i], all->order[i], records_now);
    }
}

static void run_observers(everything *e, const everything_call *c)
{
    struct everything_observers *all = observers_of(e);
    (void)c;
    if (model_has_cycle(&e->here->m)) return;
    telling_begin(e, true);
    model_settle(&e->here->m);
    uint32_t round = 0;
    while (round < ROUNDS && round_run(e, true)) {
        model_settle(&e->here->m);
        round++;
    }
    weft_result should = round == ROUNDS && news_lose(e) ? WEFT_CYCLE : WEFT_OK;
    everything_says(e, "IS(%s, weft_observers_run(world));", weft_result_name(should));
    weft_result result = weft_observers_run(e->here->world);
    if (!everything_result(e, "weft_observers_run", result, should)) return;
    for (uint32_t i = 0; i < all->count && !everything_has_failed(e); i++)
        told_check(e, &all->slots[all->order[i]], all->order[i]);
}

void observers_before_step(everything *e)
{
    if (e->observers != NULL) telling_begin(e, false);
}

/* Each that the difference tells must have been told at least once; of an observer of all that
 * comes nothing else is known. Nothing of those that die with a component: what lost it and died
 * behind the next sync point, where weft has looked, was told as removed. */
void observers_after_step(everything *e)
{
    struct everything_observers *all = e->observers;
    if (all == NULL || all->count == 0) return;
    round_run(e, false);
    for (uint32_t i = 0; i < all->count && !everything_has_failed(e); i++) {
        observer *o = &all->slots[all->order[i]];
        uint32_t count = at_plain(&o->x_told);
        if (count > TOLD_MOST || o->expected_count > TOLD_MOST) continue;
        if (o->event == WEFT_ON_CHANGED || o->event == WEFT_ON_CREATED) continue;
        if (o->event == WEFT_ON_DESTROYED && o->kind != KINDS) continue;
        qsort(o->told, count, sizeof *o->told, by_handle);
        for (uint32_t k = 0; k < o->expected_count; k++) {
            if (find(o->told, count, o->expected[k].entity) != NULL) continue;
            everything_fails(e, "an observer is not told", "%s: entity %u", o->name,
                             everything_number(e->here, o->expected[k].entity));
            return;
        }
    }
}

static const char *const observer_ways[] = {"added",   "removed",   "changed",
                                            "created", "destroyed", NULL};

const everything_op everything_ops_observer[] = {
    {.name = "observer",
     .functions = "weft_observer_create weft_recorder_add weft_recorder_remove "
                  "weft_recorder_destroy_entity",
     .weight = 2,
     .draws = DRAWS_KIND,
     .ways = observer_ways,
     .run = run_make},
    {.name = "observer_drop", .functions = "weft_observer_destroy", .weight = 1, .run = run_drop},
    {.name = "observers_run", .functions = "weft_observers_run", .weight = 4, .run = run_observers},
    {0},
};
