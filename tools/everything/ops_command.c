/* SPDX-License-Identifier: MIT */
/* ops_command.c: commands of a recorder outside systems: recorded by some calls, played or dropped
 * by a later one, with whatever other calls do between.
 *
 * The model keeps a list of the commands and does them one after the other when they are played;
 * rows come before the first command. Entities that have no handle yet are known by *deferred*
 * numbers (everything.h), as targets and in values. Which handles they get is told by the
 * registrar: the last entity of the recorder, whose LINKS lead to all of them. */
#include "selection.h"

#include <string.h>

enum { COMMANDS_MOST = 2000, DEFERRED_MOST = 2000 };
enum { ADD, REMOVE, SET, SET_SHARED, ENABLE, APPEND, SET_BUFFER, MIXED };
enum { DESTROY = MIXED + 1, NAME, CREATE, INSTANTIATE, QUERY_FIRST };
enum { Q_ADD = QUERY_FIRST, Q_REMOVE, Q_SET_SHARED, Q_ENABLE, Q_DESTROY };

static const char *const command_ways[] = {"add",    "remove",     "set",   "set_shared", "enable",
                                           "append", "set_buffer", "mixed", NULL};
static const char *const query_ways[] = {"add", "remove", "set_shared", "enable", "destroy", NULL};
static const char *const names[] = {"", "a", "bee", "a name that a command gives"};

/* An element of LINKS. */
typedef struct linked_element {
    weft_entity other;
    uint32_t value;
} linked_element;

typedef struct command {
    uint32_t way, kind, target;
    uint32_t count;       /* of elements */
    uint32_t deferred;    /* CREATE, INSTANTIATE: that it gives */
    uint64_t set;         /* CREATE */
    const uint8_t *bytes; /* as the model has them, with deferred numbers */
    const char *name;
    bool enabled;
    uint32_t slot; /* of a query */
    weft_query query;
} command;

/* A value for each row of a piece, or for some. */
typedef struct filled {
    uint32_t kind;
    const uint8_t *bytes;
} filled;

/* Rows of one call. */
typedef struct piece {
    struct piece *next;
    uint64_t set;
    uint32_t count, deferred; /* of the first */
    filled columns[KINDS];
    uint32_t column_count, phase;
} piece;

struct everything_commands {
    weft_recorder *recorder;
    command list[COMMANDS_MOST];
    uint32_t count;
    piece *first, **end;
    weft_entity handles[DEFERRED_MOST];
    uint32_t numbers[DEFERRED_MOST]; /* of the model, when they are played */
    uint32_t deferred;
    bool has_groups, has_instances;
    bool is_folded; /* every other list: names, SPARSE kinds, queries and copies are played alone */
    weft_result refused; /* of the first call that was */
};
typedef struct everything_commands commands;

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* ---- the recorder ---- */

static void commands_empty(everything_place *p)
{
    commands *k = p->commands;
    k->count = k->deferred = 0;
    k->first = NULL;
    k->end = &k->first;
    k->has_groups = k->has_instances = false;
    k->is_folded = !k->is_folded;
    k->refused = WEFT_OK;
    p->deferred = NULL;
    p->deferred_count = 0;
    p->has_rows = false;
}

static commands *commands_of(everything *e)
{
    everything_place *p = e->here;
    if (p->commands == NULL) {
        p->commands = model_memory(&p->m, sizeof *p->commands);
        commands_empty(p);
    }
    if (p->commands->recorder != NULL) return p->commands;
    everything_says(e, "IS(WEFT_OK, weft_recorder_create(world, &recorder));");
    weft_result result = weft_recorder_create(p->world, &p->commands->recorder);
    return everything_result(e, "weft_recorder_create", result, WEFT_OK) ? p->commands : NULL;
}

void everything_commands_drop(everything *e, everything_place *p)
{
    if (p->commands == NULL || p->commands->recorder == NULL) return;
    everything_says(e, "weft_recorder_destroy(recorder);");
    weft_recorder_destroy(p->commands->recorder);
    p->commands->recorder = NULL;
    commands_empty(p);
}

/* A deferred number for a handle. */
static uint32_t defer(everything_place *p, weft_entity handle)
{
    commands *k = p->commands;
    k->handles[k->deferred] = handle;
    p->deferred = k->handles;
    p->deferred_count = ++k->deferred;
    return EVERYTHING_DEFERRED + k->deferred - 1;
}

/* ---- drawing ---- */

/* Mostly a living entity, often one of those to come. */
static uint32_t target_draw(everything *e, uint32_t n, uint64_t drawn)
{
    const commands *k = e->here->commands;
    if (k->deferred != 0 && drawn % 3 == 0)
        return EVERYTHING_DEFERRED + (uint32_t)(drawn / 3 % k->deferred);
    return n == EVERYTHING_FOREIGN ? 0 : n;
}

/* As everything_value, with deferred numbers. */
static uint8_t *value_draw(everything *e, uint32_t kind, uint64_t drawn, uint32_t count)
{
    const commands *k = e->here->commands;
    const model_kind *of = &kinds_of_model()[kind];
    uint8_t *bytes = everything_value(e, kind, drawn, (uint32_t)(drawn >> 20), count);
    for (uint32_t i = 0; i < count && k->deferred != 0; i++)
        for (uint32_t link = 0; link < of->link_count; link++) {
            uint64_t r = everything_mix(drawn, i * 2 + link);
            uint64_t number = EVERYTHING_DEFERRED + r / 4 % k->deferred;
            if (r % 4 == 0)
                memcpy(bytes + (size_t)i * of->size + of->links[link], &number, sizeof number);
        }
    return bytes;
}

static bool takes(const everything *e, uint32_t way, uint32_t kind)
{
    if (!kind_is_any(kind)) return false;
    bool is_folded = e->here->commands->is_folded;
    if (is_folded && (kind_is_sparse(kind) || kind == GROUP || kind == PREFAB)) return false;
    if (kind == GROUP && e->here->commands->has_instances) return false;
    switch (way) {
    case SET:
        return kind_is_set(kind);
    case SET_SHARED:
    case Q_SET_SHARED:
        return kind_is_shared(kind);
    case Q_ENABLE:
        return kind_is_switch(kind);
    case APPEND:
    case SET_BUFFER:
        return kind_is_buffer(kind);
    default:
        return true;
    }
}

static uint32_t kind_for(const everything *e, uint32_t way, uint32_t from)
{
    for (uint32_t i = 0; i < KINDS; i++)
        if (takes(e, way, (from + i) % KINDS)) return (from + i) % KINDS;
    return PLAIN;
}

static void command_draw(everything *e, command *x, uint64_t drawn)
{
    *x = (command){.way = x->way, .kind = kind_for(e, x->way, x->kind), .target = x->target};
    bool has_elements = x->way == APPEND || x->way == SET_BUFFER;
    x->count = has_elements ? (uint32_t)(drawn >> 8) % 5 : 1;
    if (has_elements && (drawn >> 16) % 64 == 0) x->count *= 11;
    x->enabled = drawn % 2 != 0;
    x->name = names[drawn % 4];
    if (x->way == ENABLE && drawn % 8 != 0)
        while (!kind_is_switch(x->kind)) x->kind = (x->kind + 1) % KINDS;
    x->bytes = value_draw(e, x->kind, drawn >> 3, x->count);
}

/* ---- recording ---- */

static weft_result weft_record(everything *e, const command *x)
{
    weft_recorder *recorder = e->here->commands->recorder;
    weft_entity target = everything_handle(e->here, x->target);
    weft_component component = e->here->of[x->kind];
    const void *value = everything_weft_value(e, e->here, x->kind, x->bytes, x->count);
    switch (x->way) {
    case ADD:
        return weft_recorder_add(recorder, target, component);
    case REMOVE:
        return weft_recorder_remove(recorder, target, component);
    case SET:
        return weft_recorder_set(recorder, target, component, value,
                                 kinds_of_model()[x->kind].size);
    case SET_SHARED:
        return weft_recorder_set_shared(recorder, target, component, value);
    case ENABLE:
        return weft_recorder_enable(recorder, target, component, x->enabled);
    case APPEND:
        return weft_recorder_append(recorder, target, component, value, x->count);
    case SET_BUFFER:
        return weft_recorder_set_buffer(recorder, target, component, value, x->count);
    case NAME:
        return weft_recorder_set_name(recorder, target, x->name);
    case Q_ADD:
        return weft_recorder_query_add(recorder, x->query, component);
    case Q_REMOVE:
        return weft_recorder_query_remove(recorder, x->query, component);
    case Q_SET_SHARED:
        return weft_recorder_query_set_shared(recorder, x->query, component, value);
    case Q_ENABLE:
        return weft_recorder_query_enable(recorder, x->query, component, x->enabled);
    case Q_DESTROY:
        return weft_recorder_query_destroy_entities(recorder, x->query);
    default:
        return weft_recorder_destroy_entity(recorder, target);
    }
}

static void says_record(everything *e, const command *x, weft_result expected)
{
    const char *target = everything_c_entity(e, x->target), *kind = name_of(x->kind);
    const char *value = everything_c_value(e, x->kind, x->bytes, x->count);
    const char *code = weft_result_name(expected);
    if (x->way == ADD || x->way == REMOVE)
        everything_says(e, "IS(%s, weft_recorder_%s(recorder, %s, of[%s]));", code,
                        command_ways[x->way], target, kind);
    if (x->way == SET)
        everything_says(e, "IS(%s, weft_recorder_set(recorder, %s, of[%s], %s, %u));", code, target,
                        kind, value, kinds_of_model()[x->kind].size);
    if (x->way == SET_SHARED)
        everything_says(e, "IS(%s, weft_recorder_set_shared(recorder, %s, of[%s], %s));", code,
                        target, kind, value);
    if (x->way == ENABLE)
        everything_says(e, "IS(%s, weft_recorder_enable(recorder, %s, of[%s], %d));", code, target,
                        kind, x->enabled);
    if (x->way == APPEND || x->way == SET_BUFFER)
        everything_says(e, "IS(%s, weft_recorder_%s(recorder, %s, of[%s], %s, %u));", code,
                        command_ways[x->way], target, kind, value, x->count);
    if (x->way == NAME)
        everything_says(e, "IS(%s, weft_recorder_set_name(recorder, %s, \"%s\"));", code, target,
                        x->name);
    if (x->way == DESTROY)
        everything_says(e, "IS(%s, weft_recorder_destroy_entity(recorder, %s));", code, target);
    if (x->way == Q_ADD || x->way == Q_REMOVE)
        everything_says(e, "IS(%s, weft_recorder_query_%s(recorder, q[%u], of[%s]));", code,
                        query_ways[x->way - QUERY_FIRST], x->slot, kind);
    if (x->way == Q_SET_SHARED)
        everything_says(e, "IS(%s, weft_recorder_query_set_shared(recorder, q[%u], of[%s], %s));",
                        code, x->slot, kind, value);
    if (x->way == Q_ENABLE)
        everything_says(e, "IS(%s, weft_recorder_query_enable(recorder, q[%u], of[%s], %d));", code,
                        x->slot, kind, x->enabled);
    if (x->way == Q_DESTROY)
        everything_says(e, "IS(%s, weft_recorder_query_destroy_entities(recorder, q[%u]));", code,
                        x->slot);
}

/* Records it, here and in the list. */
static bool record(everything *e, const command *x)
{
    commands *k = e->here->commands;
    weft_result expected = WEFT_OK;
    if (k->count + 2 >= COMMANDS_MOST) return false;
    bool is_null = weft_entity_is_null(everything_handle(e->here, x->target));
    if (x->way < QUERY_FIRST && is_null) expected = WEFT_STALE_ENTITY;
    if (x->way == ENABLE && !is_null && !kind_is_switch(x->kind)) expected = WEFT_TYPE_MISMATCH;
    says_record(e, x, expected);
    bool is_moved = x->way == SET || x->way == APPEND || x->way == SET_BUFFER;
    if (expected == WEFT_OK) k->list[k->count++] = *x;
    if (expected == WEFT_OK && is_moved) kind_own(x->kind, &e->x_owned, x->count);
    if (expected != WEFT_OK && k->refused == WEFT_OK) k->refused = expected;
    if (x->kind == GROUP) k->has_groups = true;
    return everything_result(e, "recording", weft_record(e, x), expected);
}

static void run_command(everything *e, const everything_call *c)
{
    static const uint8_t mix[] = {ADD, REMOVE, SET, SET_SHARED, ENABLE, APPEND, SET_BUFFER,
                                  ADD, REMOVE, SET, DESTROY,    NAME,   SET};
    static const uint8_t narrow[] = {ADD, REMOVE, ENABLE, SET_SHARED};
    if (commands_of(e) == NULL) return;
    uint32_t few = c->b % 3 == 0 ? 3 : c->size + 1; /* many commands for few entities, too */
    bool is_folded = e->here->commands->is_folded;
    bool is_narrow = c->b % 3 == 0; /* two kinds of few entities come and go */
    const uint32_t *numbers = everything_many(e, c->a, c->b, c->size + 3);
    for (uint32_t i = 0; i < c->size && !everything_has_failed(e); i++) {
        uint64_t drawn = everything_mix(c->value, i);
        command x = {.way = c->way, .kind = c->kind};
        x.target = target_draw(e, numbers[i % few], drawn >> 40);
        if (c->way == MIXED) {
            x.way = is_narrow ? narrow[drawn % sizeof narrow] : mix[drawn % sizeof mix];
            x.kind = c->kind + (uint32_t)(drawn >> 8) % (is_narrow ? 2 : 5);
            if (is_folded && x.way == NAME) x.way = REMOVE;
        }
        command_draw(e, &x, drawn >> 12);
        if (!record(e, &x)) return;
    }
}

/* ---- lists that are folded ---- */

enum { FOLDED_LEAST = 64, FOLDED_KINDS = 3, FOLDED_ROWS = 64 };
static const char *const fold_ways[] = {"few", "rows", "shared", NULL};

static bool is_zero(const uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* A living entity with a shared value that is not the default, and its kind; 0: there is none. */
static uint32_t shared_pick(const everything *e, uint32_t a, uint32_t *kind)
{
    const model *m = &e->here->m;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t n = (a + i) % m->count;
        const model_value *value = model_is_alive(m, n) ? m->entities[n].values : NULL;
        for (; value != NULL; value = value->next) {
            if (!kind_is_shared(value->kind) || is_zero(value->bytes, m->kinds[value->kind].size))
                continue;
            *kind = value->kind;
            return n;
        }
    }
    return 0;
}

/* Few kinds come and go, of a few entities many times, or of many that stand together: so that rows
 * of a chunk go through many states of it. */
static void run_fold(everything *e, const everything_call *c)
{
    static const uint8_t ways[] = {ADD, REMOVE, ADD, REMOVE, SET_SHARED, ENABLE};
    commands *k = commands_of(e);
    const model *m = &e->here->m;
    if (k == NULL) return;
    if (k->count == 0 && k->deferred == 0 && k->first == NULL) k->is_folded = true;
    if (!k->is_folded) return;
    uint32_t kinds[FOLDED_KINDS] = {c->kind, c->kind + 1 + c->b % 5, c->kind + 7 + c->b / 8 % 9};
    uint32_t targets[FOLDED_ROWS], count = 0, most = c->way == 1 ? FOLDED_ROWS : 1 + c->b / 128 % 3;
    uint32_t first = c->way == 2 ? shared_pick(e, c->a & 0xffff, &kinds[0]) : 0;
    if (first == 0) first = everything_pick_living(e, c->a & 0xffffff);
    for (uint32_t n = first; n != 0 && n < m->count && count < most; n++)
        if (model_is_alive(m, n) && m->entities[n].set == m->entities[first].set)
            targets[count++] = n;
    for (uint32_t i = 0; i < FOLDED_LEAST + c->size && count != 0; i++) {
        uint64_t drawn = everything_mix(c->value, i);
        command x = {.way = ways[drawn % (c->way == 1 ? 4 : sizeof ways)],
                     .kind = kinds[drawn / 8 % FOLDED_KINDS],
                     .target = targets[drawn / 32 % count]};
        command_draw(e, &x, drawn >> 12);
        if (!record(e, &x)) return;
    }
}

static void run_destroy(everything *e, const everything_call *c)
{
    if (commands_of(e) == NULL) return;
    const uint32_t *numbers = everything_many(e, c->a, c->b, c->size + 1);
    for (uint32_t i = 0; i < c->size; i++) {
        command x = {.way = DESTROY, .kind = PLAIN};
        x.target = target_draw(e, numbers[i], everything_mix(c->value, i));
        if (!record(e, &x)) return;
    }
}

static void run_name(everything *e, const everything_call *c)
{
    if (commands_of(e) == NULL || e->here->commands->is_folded) return;
    command x = {.way = NAME, .kind = PLAIN};
    x.target = target_draw(e, everything_pick(e, c->a), c->b);
    x.name = names[c->value % 4];
    record(e, &x);
}

static void run_query(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s) || commands_of(e) == NULL || e->here->commands->is_folded) return;
    if (c->way == Q_DESTROY - QUERY_FIRST && c->b % 4 != 0 && s.count > 64) return;
    command x = {.way = QUERY_FIRST + c->way, .kind = c->kind};
    command_draw(e, &x, c->value);
    x.slot = s.slot;
    x.query = s.q->query;
    record(e, &x);
}

/* ---- new entities ---- */

static void run_instantiate(everything *e, const everything_call *c)
{
    commands *k = commands_of(e);
    if (k == NULL || k->is_folded || k->has_groups)
        return; /* only copies of one: the rest of a group has no handle */
    uint32_t source = target_draw(e, everything_pick(e, c->a), c->b);
    if (source < e->here->m.count && model_has(&e->here->m, source, GROUP)) return;
    bool is_null = weft_entity_is_null(everything_handle(e->here, source));
    for (uint32_t i = 0; i < c->size % 64 && k->deferred < DEFERRED_MOST; i++) {
        everything_says(e, "d[%u] = weft_recorder_instantiate(recorder, %s);", k->deferred,
                        everything_c_entity(e, source));
        weft_entity handle =
            weft_recorder_instantiate(k->recorder, everything_handle(e->here, source));
        if (!everything_equal(e, "weft_recorder_instantiate", weft_entity_is_null(handle), is_null))
            return;
        if (is_null && k->refused == WEFT_OK) k->refused = WEFT_STALE_ENTITY;
        if (is_null || k->count + 2 >= COMMANDS_MOST) return;
        k->has_instances = true;
        k->list[k->count++] =
            (command){.way = INSTANTIATE, .kind = PLAIN, .target = source, .deferred = k->deferred};
        defer(e->here, handle);
    }
}

static weft_archetype archetype_of(everything *e, uint64_t set)
{
    weft_component list[KINDS];
    return weft_archetype_create(e->here->world, list, everything_components(e->here, set, list));
}

static void run_create(everything *e, const everything_call *c)
{
    commands *k = commands_of(e);
    if (k == NULL) return;
    uint64_t set = model_rows(&e->here->m, model_with_needs(&e->here->m, c->value));
    if ((set & KIND_BIT(GROUP)) != 0) set &= ~KIND_BIT(GROUP);
    uint32_t count = everything_room(e, c->size % 300);
    for (uint32_t i = 0; i < count && k->deferred < DEFERRED_MOST; i++) {
        if (k->count + 2 >= COMMANDS_MOST) return;
        everything_says(e, "d[%u] = weft_recorder_create_entity(recorder, %s);", k->deferred,
                        everything_c_archetype(e, set));
        weft_entity handle = weft_recorder_create_entity(k->recorder, archetype_of(e, set));
        if (!everything_equal(e, "weft_recorder_create_entity", weft_entity_is_null(handle), false))
            return;
        k->list[k->count++] =
            (command){.way = CREATE, .kind = PLAIN, .set = set, .deferred = k->deferred};
        defer(e->here, handle);
    }
}

/* ---- rows ---- */

enum { ROWS, ROWS_UNORDERED, ROWS_WITH, ROWS_WITH_UNORDERED };
static const char *const rows_ways[] = {"plain", "unordered", "with", "with unordered", NULL};

/* The kinds of the terms of rows; KINDS: none of the table. */
static uint32_t terms_of(const everything *e, weft_archetype archetype, uint32_t *kinds)
{
    weft_component list[KINDS];
    uint32_t count = weft_archetype_components(e->here->world, archetype, list, KINDS);
    for (uint32_t t = 0; t < count; t++)
        for (kinds[t] = 0; kinds[t] < KINDS && e->here->of[kinds[t]].id != list[t].id;) kinds[t]++;
    return count;
}

static bool is_chosen(const piece *x, uint32_t row)
{
    return row % 3 == x->phase;
}

/* Writes what the columns of one term get; the model does the same at playback. */
static void column_fill(everything *e, piece *x, const weft_slice *rows, uint32_t t, uint32_t kind,
                        uint64_t drawn)
{
    size_t size = kinds_of_model()[kind].size;
    bool is_switched = kind_is_switch(kind) && drawn % 4 == 0;
    for (uint32_t i = 0; i < x->count && is_switched; i++)
        if (is_chosen(x, i)) weft_slice_enable(rows, t, i, false);
    if (is_switched) {
        everything_says(e,
                        "for (uint32_t i = %u; i < %u; i += 3) weft_slice_enable(&rows, %u, i, "
                        "false);",
                        x->phase, x->count, t);
        x->columns[x->column_count++] = (filled){kind, NULL};
    }
    bool is_buffer = kind_is_buffer(kind) && kind != GROUP;
    bool is_filled = kind_has_column(kind) && !model_is(&e->here->m, kind, MODEL_SIGNED);
    if (drawn / 4 % 3 == 0 || (!is_filled && !is_buffer) || x->column_count + 1 >= KINDS) return;
    const uint8_t *bytes = value_draw(e, kind, drawn >> 5, x->count);
    const uint8_t *values = everything_weft_value(e, e->here, kind, bytes, x->count);
    const char *text = everything_c_value(e, kind, bytes, x->count);
    x->columns[x->column_count++] = (filled){kind, bytes};
    if (is_filled) {
        everything_says(e, "memcpy(weft_slice_write(&rows, %u), %s, %zu);", t, text,
                        size * x->count);
        void *column = weft_slice_write(rows, t);
        if (everything_equal(e, "a column of rows", column != NULL, true))
            memcpy(column, values, size * x->count);
        return;
    }
    weft_buffers buffers = weft_slice_write_buffers(rows, t);
    everything_says(e, "weft_buffers b%u = weft_slice_write_buffers(&rows, %u);", t, t);
    for (uint32_t i = 0; i < x->count; i++) {
        if (!is_chosen(x, i)) continue;
        everything_says(e, "IS(WEFT_OK, weft_buffers_append(&b%u, %u, %s + %u, 1));", t, i, text,
                        i);
        kind_own(kind, &e->x_owned, 1);
        everything_result(e, "weft_buffers_append of rows",
                          weft_buffers_append(&buffers, i, values + i * size, 1), WEFT_OK);
    }
}

static void piece_fill(everything *e, piece *x, const weft_slice *rows, weft_archetype archetype,
                       uint64_t drawn)
{
    commands *k = e->here->commands;
    uint32_t kinds[KINDS], count = terms_of(e, archetype, kinds);
    x->deferred = k->deferred;
    for (uint32_t i = 0; i < x->count; i++) {
        weft_entity handle = weft_recorder_row_entity(k->recorder, rows, i);
        if (!everything_equal(e, "weft_recorder_row_entity", weft_entity_is_null(handle), false))
            return;
        defer(e->here, handle);
    }
    everything_says(e,
                    "for (uint32_t i = 0; i < %u; i++) d[%u + i] = "
                    "weft_recorder_row_entity(recorder, &rows, i);",
                    x->count, x->deferred);
    for (uint32_t t = 0; t < count && !everything_has_failed(e); t++)
        if (kinds[t] < KINDS) column_fill(e, x, rows, t, kinds[t], everything_mix(drawn, t));
}

/* Shared values that rows are asked for with: no row has an id yet. */
static void shared_draw(everything *e, piece *x, uint64_t drawn, weft_values *out, uint32_t *count)
{
    everything_says(e, "weft_values shared[] = {{{0}, NULL}");
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if ((x->set >> kind & 1) == 0 || !kind_is_shared(kind)) continue;
        uint64_t r = everything_mix(drawn, kind);
        const uint8_t *bytes = everything_value(e, kind, r >> 3, (uint32_t)(r >> 20), 1);
        if (r % 4 == 0) continue;
        out[(*count)++] =
            (weft_values){e->here->of[kind], everything_weft_value(e, e->here, kind, bytes, 1)};
        everything_says(e, "    , {of[%s], %s}", name_of(kind),
                        everything_c_value(e, kind, bytes, 1));
        x->columns[x->column_count++] = (filled){kind, bytes};
    }
    everything_says(e, "};");
}

static weft_result rows_make(everything *e, const everything_call *c, piece *x, uint32_t count,
                             weft_slice *rows)
{
    weft_recorder *recorder = e->here->commands->recorder;
    weft_values shared[KINDS];
    weft_rows_desc desc = {.archetype = archetype_of(e, x->set),
                           .count = count,
                           .is_unordered = c->way == ROWS_WITH_UNORDERED,
                           .shared = shared};
    const char *archetype = everything_c_archetype(e, x->set);
    everything_says(e, "weft_slice rows;");
    if (c->way == ROWS || c->way == ROWS_UNORDERED) {
        everything_says(e, "IS(WEFT_OK, weft_recorder_create_rows%s(recorder, %s, %u, &rows));",
                        c->way == ROWS ? "" : "_unordered", archetype, count);
        return c->way == ROWS
                   ? weft_recorder_create_rows(recorder, desc.archetype, count, rows)
                   : weft_recorder_create_rows_unordered(recorder, desc.archetype, count, rows);
    }
    shared_draw(e, x, c->value >> 30, shared, &desc.shared_count);
    everything_says(e,
                    "IS(WEFT_OK, weft_recorder_create_rows_with(recorder, &(weft_rows_desc){%s, "
                    "%u, %d, shared + 1, %u}, &rows));",
                    archetype, count, desc.is_unordered, desc.shared_count);
    return weft_recorder_create_rows_with(recorder, &desc, rows);
}

static void run_rows(everything *e, const everything_call *c)
{
    commands *k = commands_of(e);
    if (k == NULL) return;
    model *m = &e->here->m;
    uint64_t set = model_rows(m, model_with_needs(m, c->value));
    uint32_t left = everything_room(e, c->size);
    if (left > DEFERRED_MOST - k->deferred) left = DEFERRED_MOST - k->deferred;
    for (uint32_t i = 0; left != 0 && !everything_has_failed(e); i++) {
        piece *x = model_memory(m, sizeof *x);
        weft_slice rows;
        *x = (piece){.set = set, .phase = c->b % 3};
        everything_says(e, "{");
        uint32_t most = c->b / 4 % 2 == 0 || left < 4 ? left : 1 + left / 3;
        if (!everything_result(e, "weft_recorder_create_rows", rows_make(e, c, x, most, &rows),
                               WEFT_OK))
            return;
        x->count = rows.count;
        if (x->count == 0 || x->count > most) {
            everything_fails(e, "rows->count", "%u of %u", x->count, most);
            return;
        }
        piece_fill(e, x, &rows, archetype_of(e, set), everything_mix(c->b, i));
        everything_says(e, "}");
        e->here->has_rows = true;
        *k->end = x;
        k->end = &x->next;
        left -= x->count;
    }
}

/* ---- playing ---- */

/* Of the model: deferred numbers become its own. */
static uint32_t resolved(const commands *k, uint32_t number)
{
    return number >= EVERYTHING_DEFERRED && number != EVERYTHING_FOREIGN
               ? k->numbers[number - EVERYTHING_DEFERRED]
               : number;
}

static const uint8_t *bytes_resolved(everything *e, uint32_t kind, const uint8_t *bytes,
                                     uint32_t count)
{
    const model_kind *of = &kinds_of_model()[kind];
    uint8_t *out = model_memory(&e->here->m, (size_t)count * of->size + 1);
    memcpy(out, bytes, (size_t)count * of->size);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t link = 0; link < of->link_count; link++) {
            uint64_t number;
            uint8_t *at = out + (size_t)i * of->size + of->links[link];
            memcpy(&number, at, sizeof number);
            number = resolved(e->here->commands, (uint32_t)number);
            memcpy(at, &number, sizeof number);
        }
    return out;
}

static void model_piece(everything *e, const piece *x)
{
    model *m = &e->here->m;
    const commands *k = e->here->commands;
    for (uint32_t f = 0; f < x->column_count; f++) {
        uint32_t kind = x->columns[f].kind;
        bool is_shared = kind_is_shared(kind);
        const uint8_t *bytes = x->columns[f].bytes;
        if (bytes != NULL) bytes = bytes_resolved(e, kind, bytes, is_shared ? 1 : x->count);
        for (uint32_t i = 0; i < x->count; i++) {
            uint32_t n = k->numbers[x->deferred + i];
            size_t at = is_shared ? 0 : i * m->kinds[kind].size;
            if (bytes == NULL && is_chosen(x, i)) model_enable(m, n, kind, false);
            if (bytes == NULL) continue;
            if (!kind_is_buffer(kind))
                model_set(m, n, kind, bytes + at, 1);
            else if (is_chosen(x, i))
                model_append(m, n, kind, bytes + at, 1);
        }
    }
}

static void model_query_command(everything *e, const command *x)
{
    model *m = &e->here->m;
    uint32_t *numbers = model_memory(m, m->count * sizeof *numbers);
    uint32_t count = model_selected(m, &e->queries[x->slot].asks, numbers);
    const uint8_t *bytes = bytes_resolved(e, x->kind, x->bytes, 1);
    for (uint32_t i = 0; i < count; i++) {
        if (x->way == Q_ADD) model_change(m, numbers[i], KIND_BIT(x->kind), 0);
        if (x->way == Q_REMOVE) model_change(m, numbers[i], 0, KIND_BIT(x->kind));
        if (x->way == Q_SET_SHARED) model_set(m, numbers[i], x->kind, bytes, 1);
        if (x->way == Q_ENABLE) model_enable(m, numbers[i], x->kind, x->enabled);
        if (x->way == Q_DESTROY) model_destroy_alone(m, numbers[i]);
    }
}

static void model_command(everything *e, const command *x)
{
    model *m = &e->here->m;
    commands *k = e->here->commands;
    uint32_t n = resolved(k, x->target), copy;
    const uint8_t *bytes = x->bytes == NULL ? NULL : bytes_resolved(e, x->kind, x->bytes, x->count);
    switch (x->way) {
    case ADD:
        model_change(m, n, KIND_BIT(x->kind), 0);
        return;
    case REMOVE:
        model_change(m, n, 0, KIND_BIT(x->kind));
        return;
    case SET:
    case SET_SHARED:
    case SET_BUFFER:
        model_set(m, n, x->kind, bytes, x->count);
        return;
    case ENABLE:
        model_enable(m, n, x->kind, x->enabled);
        return;
    case APPEND:
        model_append(m, n, x->kind, bytes, x->count);
        return;
    case DESTROY:
        model_destroy(m, n);
        return;
    case NAME:
        model_set_name(m, n, x->name, false);
        return;
    case CREATE:
        m->reserved = k->numbers[x->deferred];
        model_create(m, x->set);
        return;
    case INSTANTIATE:
        m->reserved = k->numbers[x->deferred];
        if (model_instantiate(m, n, 1, &copy) != MODEL_OK) /* skipped: a dead one */
            model_destroy_alone(m, model_create(m, 0));
        return;
    default:
        model_query_command(e, x);
    }
}

/* A shared value that is again what it was may count as never changed: commands are folded. */
typedef struct kept_value {
    uint32_t n, kind, written;
    const uint8_t *bytes;
} kept_value;

static kept_value *shared_keep(everything *e, uint32_t end)
{
    model *m = &e->here->m;
    const commands *k = e->here->commands;
    kept_value *list = model_memory(m, (end + 1) * sizeof *list);
    for (uint32_t i = 0; i < end; i++) {
        const command *x = &k->list[i];
        if (x->way >= QUERY_FIRST || !kind_is_shared(x->kind)) continue;
        uint32_t n = x->target >= EVERYTHING_DEFERRED ? 0 : x->target;
        const model_value *value = model_read(m, n, x->kind);
        if (value == NULL) continue;
        uint8_t *bytes = model_memory(m, m->kinds[x->kind].size);
        memcpy(bytes, value->bytes, m->kinds[x->kind].size);
        list[i] = (kept_value){n, x->kind, value->written, bytes};
    }
    return list;
}

static void shared_restore(everything *e, const kept_value *list, uint32_t end)
{
    model *m = &e->here->m;
    for (uint32_t i = 0; i < end; i++) {
        model_value *value = list[i].n == 0 ? NULL : model_read(m, list[i].n, list[i].kind);
        if (value != NULL && memcmp(value->bytes, list[i].bytes, m->kinds[value->kind].size) == 0)
            value->written = list[i].written;
    }
}

/* What playing answers, and at which command it ends; false: the model could not say what there is
 * then. */
static bool plays(const everything *e, weft_result *expected, uint32_t *end)
{
    const commands *k = e->here->commands;
    const model *m = &e->here->m;
    *expected = k->refused;
    *end = k->count;
    for (uint32_t i = 0; i < k->count; i++) {
        const command *x = &k->list[i];
        if (x->way == INSTANTIATE && x->target < m->count && model_has(m, x->target, GROUP))
            return false;
        if (x->way < QUERY_FIRST || e->queries[x->slot].query.id == x->query.id) continue;
        *expected = WEFT_BAD_HANDLE;
        *end = i;
        return k->deferred == 0;
    }
    return true;
}

/* Its LINKS lead to all deferred ones. */
static bool registrar_record(everything *e)
{
    commands *k = e->here->commands;
    command x = {.way = CREATE, .kind = LINKS, .set = KIND_BIT(LINKS), .deferred = k->deferred};
    uint32_t count = k->deferred, size = kinds_of_model()[LINKS].size;
    everything_says(e, "weft_entity registrar = weft_recorder_create_entity(recorder, %s);",
                    everything_c_archetype(e, x.set));
    weft_entity registrar = weft_recorder_create_entity(k->recorder, archetype_of(e, x.set));
    linked_element *elements = model_memory(&e->here->m, (size_t)count * sizeof *elements);
    for (uint32_t i = 0; i < count; i++) elements[i] = (linked_element){k->handles[i], i};
    everything_says(e,
                    "for (uint32_t i = 0; i < %u; i++) IS(WEFT_OK, "
                    "weft_recorder_append(recorder, registrar, of[LINKS], &(linked){d[i], i}, 1));",
                    count);
    everything_equal(e, "bytes of LINKS", size, sizeof *elements);
    return everything_result(
        e, "the registrar's handles",
        weft_recorder_append(k->recorder, registrar, e->here->of[LINKS], elements, count), WEFT_OK);
}

/* The one entity that has no number and LINKS with all deferred numbers, in their order. */
static weft_entity registrar_find(everything *e)
{
    everything_place *p = e->here;
    weft_query_desc desc = {.terms = {{p->of[LINKS], WEFT_READ, WEFT_ALL, 0}}};
    weft_query query = weft_query_create(p->world, &desc);
    uint64_t count = weft_query_count(p->world, query);
    weft_entity *list = model_memory(&p->m, (count + 1) * sizeof *list), found = {0};
    weft_query_entities(p->world, query, list, count);
    for (uint64_t i = 0; i < count; i++) {
        weft_buffers links = weft_entity_read_buffer(p->world, list[i], p->of[LINKS]);
        const linked_element *elements = weft_buffers_read(&links, 0);
        uint32_t length = weft_buffers_length(&links, 0), k = 0;
        if (everything_number(p, list[i]) != EVERYTHING_FOREIGN) continue;
        while (k < length && elements[k].value == k) k++;
        if (length == p->commands->deferred && k == length) found = list[i];
    }
    everything_result(e, "the registrar's query", weft_query_destroy(p->world, query), WEFT_OK);
    return found;
}

/* After playback: handles are known, and the registrar goes. */
static void registrar_learn(everything *e)
{
    everything_place *p = e->here;
    const commands *k = p->commands;
    weft_entity registrar = registrar_find(e);
    weft_buffers kept = weft_entity_read_buffer(p->world, registrar, p->of[LINKS]);
    const linked_element *elements = weft_buffers_read(&kept, 0);
    everything_says(e, "registrar = registrar_find(%u);", k->deferred);
    if (!everything_equal(e, "handles that the registrar has", weft_buffers_length(&kept, 0),
                          k->deferred))
        return;
    for (uint32_t i = 0; i < k->deferred; i++) {
        everything_says(e, "e[%u] = LINKED_AT(registrar, of[LINKS], %u)->other;", k->numbers[i], i);
        everything_learn(e, p, k->numbers[i], elements[i].other);
    }
    everything_says(e, "IS(WEFT_OK, weft_entity_destroy(world, registrar));");
    everything_result(e, "destroying the registrar", weft_entity_destroy(p->world, registrar),
                      WEFT_OK);
    model_note_rows(&p->m, KIND_BIT(LINKS));
}

static void run_play(everything *e, const everything_call *c)
{
    weft_result expected;
    uint32_t end;
    commands *k = commands_of(e);
    if (k == NULL) return;
    if (c->way == 1 || !plays(e, &expected, &end)) {
        everything_commands_drop(e, e->here);
        return;
    }
    bool has_registrar = k->deferred != 0;
    if (has_registrar && !registrar_record(e)) return;
    for (const piece *x = k->first; x != NULL; x = x->next)
        for (uint32_t i = 0; i < x->count; i++)
            k->numbers[x->deferred + i] = model_create(&e->here->m, x->set);
    for (uint32_t i = 0; i < end; i++)
        if (k->list[i].way == CREATE || k->list[i].way == INSTANTIATE)
            k->numbers[k->list[i].deferred] = model_reserve(&e->here->m);
    for (const piece *x = k->first; x != NULL; x = x->next) model_piece(e, x);
    const kept_value *shared = shared_keep(e, end);
    for (uint32_t i = 0; i < end; i++) model_command(e, &k->list[i]);
    shared_restore(e, shared, end);
    everything_says(e, "IS(%s, weft_recorder_play(recorder));", weft_result_name(expected));
    weft_result result = weft_recorder_play(k->recorder);
    if (!everything_result(e, "weft_recorder_play", result, expected)) return;
    if (has_registrar) registrar_learn(e);
    commands_empty(e->here);
    if (!everything_has_failed(e)) everything_compare_touched(e);
}

static const char *const play_ways[] = {"play", "drop", "play again", NULL};

const everything_op everything_ops_command[] = {
    {.name = "command",
     .functions = "weft_recorder_create weft_recorder_add weft_recorder_remove weft_recorder_set "
                  "weft_recorder_set_shared weft_recorder_enable weft_recorder_append "
                  "weft_recorder_set_buffer weft_recorder_destroy_entity weft_recorder_set_name",
     .weight = 10,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .ways = command_ways,
     .run = run_command},
    {.name = "command_fold",
     .functions = "weft_recorder_add weft_recorder_remove weft_recorder_set_shared "
                  "weft_recorder_enable",
     .weight = 3,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .ways = fold_ways,
     .most = 300,
     .run = run_fold},
    {.name = "command_destroy",
     .functions = "weft_recorder_destroy_entity",
     .weight = 2,
     .draws = DRAWS_SIZE,
     .run = run_destroy},
    {.name = "command_name", .functions = "weft_recorder_set_name", .weight = 1, .run = run_name},
    {.name = "command_query",
     .functions = "weft_recorder_query_add weft_recorder_query_remove "
                  "weft_recorder_query_set_shared weft_recorder_query_enable "
                  "weft_recorder_query_destroy_entities",
     .weight = 3,
     .draws = DRAWS_KIND,
     .ways = query_ways,
     .run = run_query},
    {.name = "command_instantiate",
     .functions = "weft_recorder_instantiate",
     .weight = 2,
     .draws = DRAWS_SIZE,
     .run = run_instantiate},
    {.name = "command_create",
     .functions = "weft_recorder_create_entity",
     .weight = 3,
     .draws = DRAWS_SET | DRAWS_SIZE,
     .takes = kind_is_of_rows,
     .run = run_create},
    {.name = "command_rows",
     .functions = "weft_recorder_create_rows weft_recorder_create_rows_unordered "
                  "weft_recorder_create_rows_with weft_recorder_row_entity "
                  "weft_slice_write_buffers weft_slice_enable weft_slice_write",
     .weight = 4,
     .draws = DRAWS_SET | DRAWS_SIZE,
     .takes = kind_is_of_rows,
     .ways = rows_ways,
     .most = 2000,
     .run = run_rows},
    {.name = "commands_play",
     .functions = "weft_recorder_play weft_recorder_destroy",
     .weight = 8,
     .ways = play_ways,
     .run = run_play},
    {0},
};
