/* SPDX-License-Identifier: MIT */
/* command_ways.h: one list of commands on several worlds, for test_commands_agree.c: components of
 * all kinds, commands by number instead of by handle, each command as a call and as a record, and
 * what can be seen of an entity, as words that are equal in equal worlds.
 *
 * Entities are known by number: the worlds give them different handles, as ids of recorded
 * creations are given before anything is played. */
#ifndef WEFT_TESTS_COMMAND_WAYS_H
#define WEFT_TESTS_COMMAND_WAYS_H

#include "plain.h"
#include "recorder.h"

#include <weft/type.h>
#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

/* ---- kinds of components ---- */

typedef enum shape { BARE, WORD, WIDE, LARGE, LINKED, OWNING, TARGET } shape;

/* A value that refers to an entity. */
typedef struct linked {
    weft_entity other;
    uint32_t value;
} linked;

/* A value with hooks: `sign` says that it was constructed. */
typedef struct owning {
    uint32_t sign, value;
} owning;

enum { SIGN = 0x51a7e, LARGE_WORDS = 600, GROUP_MOST = 4 };

static const size_t shape_bytes[] = {[BARE] = 0,
                                     [WORD] = 4,
                                     [WIDE] = 8,
                                     [LARGE] = 4 * LARGE_WORDS,
                                     [LINKED] = sizeof(linked),
                                     [OWNING] = 8,
                                     [TARGET] = sizeof(weft_entity)};

/* clang-format off */
#define KINDS_OF(X)                                    \
    X(NUMBER, WORD, WEFT_NOT_COPIED)                   \
    X(PLAIN, WORD, 0)                                  \
    X(LINK, LINKED, 0)                                 \
    X(HOOKED, OWNING, 0)                               \
    X(BIG, LARGE, 0)                                   \
    X(TAG, BARE, 0)                                    \
    X(SWITCH, WORD, WEFT_ENABLEABLE)                   \
    X(SWITCH_TAG, BARE, WEFT_ENABLEABLE)               \
    X(CLEAN, WORD, WEFT_CLEANUP)                       \
    X(CLEAN_TAG, BARE, WEFT_CLEANUP)                   \
    X(LIST, WORD, WEFT_BUFFER)                         \
    X(LINKS, LINKED, WEFT_BUFFER)                      \
    X(HOOKED_LIST, OWNING, WEFT_BUFFER)                \
    X(SWITCH_LIST, WORD, WEFT_BUFFER | WEFT_ENABLEABLE) \
    X(CLEAN_LIST, WORD, WEFT_BUFFER | WEFT_CLEANUP)    \
    X(SHARE, WORD, WEFT_SHARED)                        \
    X(WIDE_SHARE, WIDE, WEFT_SHARED)                   \
    X(LINK_SHARE, LINKED, WEFT_SHARED)                 \
    X(OWNED_SHARE, LINKED, WEFT_SHARED)                \
    X(CLEAN_SHARE, WORD, WEFT_SHARED | WEFT_CLEANUP)   \
    X(CHUNKED, WORD, WEFT_CHUNK)                       \
    X(SPARSE, WORD, WEFT_SPARSE)                       \
    X(SPARSE_LINK, LINKED, WEFT_SPARSE)                \
    X(SPARSE_HOOKED, OWNING, WEFT_SPARSE)              \
    X(SPARSE_TAG, BARE, WEFT_SPARSE)                   \
    X(NEEDY, WORD, 0)                                  \
    X(SINGLE, WORD, WEFT_NOT_COPIED)                   \
    X(LIKES, TARGET, 0)                                \
    X(PARENT, TARGET, 0)                               \
    X(GROUP, TARGET, WEFT_BUFFER)                      \
    X(PREFAB, BARE, 0)                                 \
    X(INACTIVE, BARE, 0)
/* clang-format on */

#define KIND_NAME(name, shape, flags) name,
#define KIND_TEXT(name, shape, flags) #name,
#define KIND_SHAPE(name, shape, flags) shape,
#define KIND_FLAGS(name, shape, flags) flags,

enum { KINDS_OF(KIND_NAME) KINDS };
static const char *const kind_names[] = {KINDS_OF(KIND_TEXT)};
static const uint8_t kind_shapes[] = {KINDS_OF(KIND_SHAPE)};
static const uint32_t kind_flags[] = {KINDS_OF(KIND_FLAGS)};
static_assert(KINDS <= 32, "a set of kinds is a word");

static inline bool is_kind(uint32_t kind, uint32_t flag)
{
    return (kind_flags[kind] & flag) != 0;
}

static inline bool has_value(uint32_t kind)
{
    return kind_shapes[kind] != BARE && !is_kind(kind, WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK);
}

/* Kinds that an archetype is made of. */
static inline bool is_in_rows(uint32_t kind)
{
    return !is_kind(kind, WEFT_SPARSE);
}

static inline bool is_linked(uint32_t kind)
{
    return kind_shapes[kind] == LINKED || kind_shapes[kind] == TARGET;
}

/* ---- commands ---- */

/* A command of a list; entities by number, 0: the null handle. */
typedef struct command {
    uint8_t op;      /* weft__command_op */
    uint8_t kind;    /* of the component */
    bool flag;       /* enabled; ROWS: their handles are asked for, and refer to each other */
    uint32_t target; /* of creations the first one made; of query-wide ones the query */
    uint32_t other;  /* whom values refer to; INSTANTIATE: its source */
    uint32_t set;    /* CREATE, ROWS: kinds */
    uint32_t rows;   /* ROWS: how many */
    uint32_t value;
    uint32_t group; /* commands of a group are one segment where there are several */
} command;

enum { NUMBERS = 40000, QUERIES = 6, SLOTS = 1 << 17, NAMES = 5 };

static const char *const entity_names[NAMES] = {NULL, "a", "bee", "sea", "a name of some length"};

/* A world and one way of giving it commands. Owner: the test. */
typedef struct way {
    const char *name;
    weft_world *world;
    weft_component of[KINDS];
    weft_component instance_of;
    weft_query queries[QUERIES];
    weft_query numbered;           /* all rows made in place */
    weft_entity entities[NUMBERS]; /* by number; null: unknown, or never made */
    uint32_t known[SLOTS];         /* numbers by handle */
    uint64_t skipped;              /* commands */
    weft_a64 x_owned;              /* values with hooks that live */
} way;

static inline uint32_t *slot_of(way *w, weft_entity entity)
{
    uint64_t bits = (uint64_t)entity.version << 32 | entity.index;
    uint32_t at = (uint32_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 47);
    while (w->known[at] != 0 && !weft_entity_equal(w->entities[w->known[at]], entity))
        at = (at + 1) % SLOTS;
    return &w->known[at];
}

static inline void learn(way *w, uint32_t number, weft_entity entity)
{
    w->entities[number] = entity;
    if (entity.version != 0) *slot_of(w, entity) = number;
}

/* The number of a handle; UINT32_MAX: of one that is not known. */
static inline uint32_t number_of(way *w, weft_entity entity)
{
    if (entity.version == 0 && entity.index == 0) return 0;
    uint32_t number = *slot_of(w, entity);
    return number == 0 ? UINT32_MAX : number;
}

/* ---- values ---- */

static void own_construct(void *values, uint32_t count, void *user)
{
    owning *of = values;
    for (uint32_t i = 0; i < count; i++) of[i].sign = SIGN;
    at_add_rlx((weft_a64 *)user, (uint64_t)count); /* relaxed: a count */
}

static void own_destruct(void *values, uint32_t count, void *user)
{
    owning *of = values;
    for (uint32_t i = 0; i < count; i++) {
        CHECK_U64(of[i].sign, SIGN);
        of[i].sign = 0;
    }
    at_sub_rlx((weft_a64 *)user, (uint64_t)count); /* relaxed: a count */
}

static void own_copy(void *to, const void *from, uint32_t count, void *user)
{
    memcpy(to, from, count * sizeof(owning));
    at_add_rlx((weft_a64 *)user, (uint64_t)count); /* relaxed: a count */
}

static void share_release(void *value, void *user)
{
    (void)value, (void)user;
}

/* Writes the value of a command; hooked ones are constructed already. */
static inline void poke(const way *w, uint32_t kind, const command *c, uint32_t i, void *out)
{
    uint32_t value = c->value + i;
    linked link = {value % 5 == 0 ? (weft_entity){0} : w->entities[c->other], value % 7};
    if (c->op == WEFT__COMMAND_ROWS && c->flag && i % 4 == 1) link.other = w->entities[c->target];
    switch ((shape)kind_shapes[kind]) {
    case BARE:
        return;
    case WORD:
        memcpy(out, &value, 4);
        return;
    case WIDE:
        memcpy(out, (uint32_t[]){value, value / 2}, 8);
        return;
    case LARGE:
        for (uint32_t k = 0; k < LARGE_WORDS; k++) ((uint32_t *)out)[k] = value + k % 3;
        return;
    case LINKED:
        memcpy(out, &link, sizeof link);
        return;
    case OWNING:
        ((owning *)out)->value = value;
        return;
    case TARGET:
        memcpy(out, &link.other, sizeof link.other);
        return;
    }
}

/* A value of one's own. */
static inline void make(way *w, uint32_t kind, const command *c, uint32_t i, void *out)
{
    memset(out, 0, shape_bytes[kind_shapes[kind]]);
    if (kind_shapes[kind] == OWNING) own_construct(out, 1, &w->x_owned);
    poke(w, kind, c, i, out);
}

static inline void unmake(way *w, uint32_t kind, void *values, uint32_t count)
{
    if (kind_shapes[kind] == OWNING) own_destruct(values, count, &w->x_owned);
}

/* Elements for a buffer, made. Returns how many. */
static inline uint32_t make_elements(way *w, const command *c, void *out)
{
    uint32_t count = c->kind == GROUP ? 1 + c->value % GROUP_MOST : c->value % 5;
    size_t bytes = shape_bytes[kind_shapes[c->kind]];
    for (uint32_t i = 0; i < count; i++) make(w, c->kind, c, i, (char *)out + i * bytes);
    for (uint32_t i = 0; i < count && c->kind == GROUP; i++)
        ((weft_entity *)out)[i] = w->entities[i == 0 ? c->target : c->other + i - 1];
    return count;
}

/* ---- the world of a way ---- */

static inline weft_component component_make(way *w, uint32_t kind)
{
    static const weft_field link[] = {{"other", WEFT_FIELD_ENTITY, 0, 0}};
    weft_component needs[] = {w->of[SWITCH], w->of[SHARE], w->of[LIST], w->of[HOOKED]};
    weft_component_desc desc = {.name = kind_names[kind],
                                .size = shape_bytes[kind_shapes[kind]],
                                .alignment = kind_shapes[kind] == BARE ? 1 : 4,
                                .flags = kind_flags[kind]};
    if (is_linked(kind)) desc.fields = link, desc.field_count = 1;
    if (is_kind(kind, WEFT_BUFFER)) desc.buffer_capacity = 2;
    if (kind_shapes[kind] == OWNING)
        desc.hooks = (weft_component_hooks){.construct = own_construct,
                                            .destruct = own_destruct,
                                            .copy = own_copy,
                                            .user = &w->x_owned};
    if (kind == OWNED_SHARE) desc.shared_release = share_release;
    if (kind == NEEDY) desc.required = needs, desc.required_count = 4;
    return weft_component_create(w->world, &desc);
}

static inline void queries_make(way *w)
{
    const weft_component *of = w->of;
    const weft_query_desc descs[QUERIES] = {
        {.terms = {{of[PLAIN], WEFT_NO_ACCESS, WEFT_ALL, 0},
                   {of[TAG], WEFT_NO_ACCESS, WEFT_NONE, 0}}},
        {.terms = {{of[SWITCH], WEFT_NO_ACCESS, WEFT_ALL, 0}}},
        {.terms = {{of[SHARE], WEFT_NO_ACCESS, WEFT_ALL, 0},
                   {of[LINK], WEFT_NO_ACCESS, WEFT_ABSENT, 0}},
         .with_prefabs = true},
        {.terms = {{of[SPARSE], WEFT_NO_ACCESS, WEFT_ALL, 0}}},
        {.terms = {{of[CLEAN], WEFT_NO_ACCESS, WEFT_ALL, 0},
                   {of[SPARSE_LINK], WEFT_NO_ACCESS, WEFT_ABSENT, 0}},
         .with_inactive = true},
        {.terms = {{of[LIST], WEFT_NO_ACCESS, WEFT_ALL, 0},
                   {of[SWITCH_TAG], WEFT_NO_ACCESS, WEFT_NONE, 0}}},
    };
    for (uint32_t i = 0; i < QUERIES; i++) w->queries[i] = weft_query_create(w->world, &descs[i]);
    w->numbered =
        weft_query_create(w->world, &(weft_query_desc){.terms = {{of[NUMBER], WEFT_READ, 0, 0}},
                                                       .with_prefabs = true,
                                                       .with_inactive = true});
    CHECK(w->numbered.id != 0);
}

/* Registers all kinds in the world of a way. */
static inline void kinds_make(way *w)
{
    for (uint32_t kind = 0; kind < PARENT; kind++) w->of[kind] = component_make(w, kind);
    CHECK_OK(weft_relation_declare(w->world, &(weft_relation_desc){.component = w->of[LIKES]}));
    w->of[PARENT] = weft_component_parent(w->world);
    w->of[GROUP] = weft_component_linked_group(w->world);
    w->of[PREFAB] = weft_component_prefab(w->world);
    w->of[INACTIVE] = weft_component_inactive(w->world);
    w->instance_of = weft_component_instance_of(w->world);
    for (uint32_t kind = 0; kind < KINDS; kind++) CHECK(w->of[kind].id != 0);
}

static inline void way_open(way *w, const char *name, uint32_t workers)
{
    *w = (way){.name = name};
    CHECK_OK(weft_world_create(&(weft_world_desc){.name = name, .workers = workers}, &w->world));
    kinds_make(w);
    queries_make(w);
}

static inline void way_close(way *w)
{
    CHECK_OK(weft_world_destroy(w->world));
    CHECK_U64(at_load_rlx(&w->x_owned), 0); /* relaxed: alone */
}

static inline weft_archetype archetype_of(way *w, uint32_t set)
{
    weft_component list[KINDS] = {{0, 0}};
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if ((set >> kind & 1) != 0) list[count++] = w->of[kind];
    return weft_archetype_create(w->world, list, count);
}

/* The shared values of rows: `values` has room for them. */
static inline uint32_t shared_of(const way *w, const command *c, weft_values *list,
                                 linked values[KINDS])
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if ((c->set >> kind & 1) == 0 || !is_kind(kind, WEFT_SHARED) || c->value % 3 == 0) continue;
        memset(&values[kind], 0, sizeof values[kind]);
        poke(w, kind, c, 0, &values[kind]);
        list[count++] = (weft_values){w->of[kind], &values[kind]};
    }
    return count;
}

/* ---- commands as calls ---- */

/* What rows made in place get, through pointers and calls of the owner. */
static inline weft_result fill_row(way *w, const command *c, uint32_t i)
{
    weft_entity entity = w->entities[c->target + i];
    char value[sizeof(owning) > sizeof(linked) ? sizeof(owning) : sizeof(linked)];
    weft_result result = WEFT_OK;
    for (uint32_t kind = 0; kind < KINDS && result == WEFT_OK; kind++) {
        if ((c->set >> kind & 1) == 0 || kind == GROUP) continue;
        if (has_value(kind)) poke(w, kind, c, i, weft_entity_write(w->world, entity, w->of[kind]));
        if (kind == NUMBER)
            *(uint32_t *)weft_entity_write(w->world, entity, w->of[NUMBER]) = c->target + i;
        if (is_kind(kind, WEFT_BUFFER)) {
            weft_buffers buffers = weft_entity_write_buffer(w->world, entity, w->of[kind]);
            for (uint32_t k = 0; k < i % 4 && result == WEFT_OK; k++) {
                make(w, kind, c, i + k, value);
                result = weft_buffers_append(&buffers, 0, value, 1);
            }
        }
        if (is_kind(kind, WEFT_ENABLEABLE) && i % 3 == 0 && result == WEFT_OK)
            result = weft_entity_enable(w->world, entity, w->of[kind], false);
    }
    linked values[KINDS];
    weft_values list[KINDS];
    uint32_t count = shared_of(w, c, list, values);
    for (uint32_t k = 0; k < count && result == WEFT_OK; k++)
        result = weft_entity_set_shared(w->world, entity, list[k].component, list[k].values);
    return result;
}

static inline weft_result call_rows(way *w, const command *c)
{
    static weft_entity made[NUMBERS];
    weft_result result = weft_entity_create_many(w->world, archetype_of(w, c->set), c->rows, made);
    for (uint32_t i = 0; i < c->rows && result == WEFT_OK; i++) learn(w, c->target + i, made[i]);
    for (uint32_t i = 0; i < c->rows && result == WEFT_OK; i++) result = fill_row(w, c, i);
    return result;
}

static inline weft_result call_elements(way *w, const command *c)
{
    _Alignas(16) char elements[8 * sizeof(linked)];
    weft_entity entity = w->entities[c->target];
    weft_result result = weft_entity_add(w->world, entity, w->of[c->kind]);
    if (result != WEFT_OK) return result;
    weft_buffers buffers = weft_entity_write_buffer(w->world, entity, w->of[c->kind]);
    uint32_t count = make_elements(w, c, elements);
    if (c->op == WEFT__COMMAND_SET_BUFFER) result = weft_buffers_resize(&buffers, 0, 0);
    if (result == WEFT_OK) result = weft_buffers_append(&buffers, 0, elements, count);
    return result;
}

static inline weft_result call_created(way *w, const command *c)
{
    weft_entity made = {0};
    weft_result result = WEFT_OK;
    if (c->op == WEFT__COMMAND_CREATE) {
        made = weft_entity_create(w->world, archetype_of(w, c->set));
        if (made.version == 0) result = weft_world_error(w->world)->code;
    } else {
        result = weft_entity_instantiate(w->world, w->entities[c->other], 1, &made);
    }
    /* a copy that was not made has a handle all the same, of nothing */
    learn(w, c->target, result == WEFT_OK ? made : (weft_entity){c->target, UINT32_MAX - 1});
    return result;
}

static inline weft_result call_value(way *w, const command *c)
{
    static _Alignas(16) char value[4 * LARGE_WORDS];
    weft_entity entity = w->entities[c->target];
    weft_component component = w->of[c->kind];
    make(w, c->kind, c, 0, value);
    if (c->op == WEFT__COMMAND_SET_SHARED)
        return weft_entity_set_shared(w->world, entity, component, value);
    weft_result result =
        weft_entity_set(w->world, entity, component, value, shape_bytes[kind_shapes[c->kind]]);
    if (result != WEFT_OK) unmake(w, c->kind, value, 1);
    return result;
}

static inline weft_result call_query(way *w, const command *c)
{
    weft_query query = w->queries[c->target];
    weft_component component = w->of[c->kind];
    linked value;
    if (c->op == WEFT__COMMAND_QUERY_ADD) return weft_query_add(w->world, query, component);
    if (c->op == WEFT__COMMAND_QUERY_REMOVE) return weft_query_remove(w->world, query, component);
    if (c->op == WEFT__COMMAND_QUERY_DESTROY) return weft_query_destroy_entities(w->world, query);
    if (c->op == WEFT__COMMAND_QUERY_ENABLE)
        return weft_query_enable(w->world, query, component, c->flag);
    if (c->op != WEFT__COMMAND_QUERY_SET_SHARED) return WEFT_UNSUPPORTED;
    make(w, c->kind, c, 0, &value);
    return weft_query_set_shared(w->world, query, component, &value);
}

/* A command as the call that it stands for. */
static inline weft_result call(way *w, const command *c)
{
    weft_entity entity = w->entities[c->target];
    switch ((weft__command_op)c->op) {
    case WEFT__COMMAND_CREATE:
    case WEFT__COMMAND_INSTANTIATE:
        return call_created(w, c);
    case WEFT__COMMAND_ROWS:
        return call_rows(w, c);
    case WEFT__COMMAND_DESTROY:
        return weft_entity_destroy(w->world, entity);
    case WEFT__COMMAND_ADD:
        return weft_entity_add(w->world, entity, w->of[c->kind]);
    case WEFT__COMMAND_REMOVE:
        return weft_entity_remove(w->world, entity, w->of[c->kind]);
    case WEFT__COMMAND_SET:
    case WEFT__COMMAND_SET_SHARED:
        return call_value(w, c);
    case WEFT__COMMAND_ENABLE:
        return weft_entity_enable(w->world, entity, w->of[c->kind], c->flag);
    case WEFT__COMMAND_APPEND:
    case WEFT__COMMAND_SET_BUFFER:
        return call_elements(w, c);
    case WEFT__COMMAND_SET_NAME:
        return weft_entity_set_name(w->world, entity, entity_names[c->value % NAMES]);
    case WEFT__COMMAND_QUERY_ADD:
    case WEFT__COMMAND_QUERY_REMOVE:
    case WEFT__COMMAND_QUERY_SET_SHARED:
    case WEFT__COMMAND_QUERY_ENABLE:
    case WEFT__COMMAND_QUERY_DESTROY:
        return call_query(w, c);
    case WEFT__COMMAND_OP_COUNT:
        break;
    }
    return WEFT_INVALID_ARGUMENT;
}

/* Whether the call refused what the command skips. */
static inline bool is_skipped(const command *c, weft_result result)
{
    return result == WEFT_STALE_ENTITY ||
           (result == WEFT_NOT_FOUND && c->op == WEFT__COMMAND_ENABLE);
}

/* ---- commands as records ---- */

static inline void record_row(way *w, const command *c, const weft_slice *rows, uint32_t row,
                              uint32_t i)
{
    weft_component list[KINDS];
    char value[sizeof(linked)];
    uint32_t count = weft_archetype_components(w->world, archetype_of(w, c->set), list, KINDS);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if ((c->set >> kind & 1) == 0 || kind == GROUP) continue;
        uint32_t term = 0;
        while (term < count && list[term].id != w->of[kind].id) term++;
        char *column = rows->columns[term];
        if (has_value(kind)) poke(w, kind, c, i, column + row * shape_bytes[kind_shapes[kind]]);
        if (kind == NUMBER) ((uint32_t *)(void *)column)[row] = c->target + i;
        if (is_kind(kind, WEFT_BUFFER)) {
            weft_buffers buffers = weft_slice_write_buffers(rows, term);
            for (uint32_t k = 0; k < i % 4; k++) {
                make(w, kind, c, i + k, value);
                CHECK_OK(weft_buffers_append(&buffers, row, value, 1));
            }
        }
        if (is_kind(kind, WEFT_ENABLEABLE) && i % 3 == 0) weft_slice_enable(rows, term, row, false);
    }
}

static inline weft_result record_rows(way *w, weft_recorder *r, const command *c)
{
    linked values[KINDS];
    weft_values list[KINDS];
    weft_rows_desc desc = {.archetype = archetype_of(w, c->set),
                           .shared = list,
                           .shared_count = shared_of(w, c, list, values)};
    for (uint32_t done = 0; done < c->rows;) {
        weft_slice rows;
        desc.count = c->rows - done;
        weft_result result = weft_recorder_create_rows_with(r, &desc, &rows);
        if (result != WEFT_OK) return result;
        for (uint32_t i = 0; i < rows.count && c->flag; i++)
            w->entities[c->target + done + i] = weft_recorder_row_entity(r, &rows, i);
        for (uint32_t i = 0; i < rows.count; i++) record_row(w, c, &rows, i, done + i);
        done += rows.count;
    }
    return WEFT_OK;
}

static inline weft_result record_value(way *w, weft_recorder *r, const command *c)
{
    static _Alignas(16) char value[4 * LARGE_WORDS];
    weft_entity entity = w->entities[c->target];
    weft_component component = w->of[c->kind];
    weft_result result;
    if (weft__command_has_elements(c->op)) {
        uint32_t count = make_elements(w, c, value);
        result = c->op == WEFT__COMMAND_APPEND
                     ? weft_recorder_append(r, entity, component, value, count)
                     : weft_recorder_set_buffer(r, entity, component, value, count);
        if (result != WEFT_OK) unmake(w, c->kind, value, count);
        return result;
    }
    make(w, c->kind, c, 0, value);
    if (c->op == WEFT__COMMAND_SET_SHARED)
        return weft_recorder_set_shared(r, entity, component, value);
    if (c->op == WEFT__COMMAND_QUERY_SET_SHARED)
        return weft_recorder_query_set_shared(r, w->queries[c->target], component, value);
    result = weft_recorder_set(r, entity, component, value, shape_bytes[kind_shapes[c->kind]]);
    if (result != WEFT_OK) unmake(w, c->kind, value, 1);
    return result;
}

static inline weft_result record_created(way *w, weft_recorder *r, const command *c)
{
    weft_entity made = c->op == WEFT__COMMAND_CREATE
                           ? weft_recorder_create_entity(r, archetype_of(w, c->set))
                           : weft_recorder_instantiate(r, w->entities[c->other]);
    w->entities[c->target] = made;
    return made.version != 0 ? WEFT_OK : WEFT_STALE_ENTITY;
}

static inline weft_result record(way *w, weft_recorder *r, const command *c)
{
    weft_entity entity = w->entities[c->target];
    weft_component component = w->of[c->kind];
    switch ((weft__command_op)c->op) {
    case WEFT__COMMAND_CREATE:
    case WEFT__COMMAND_INSTANTIATE:
        return record_created(w, r, c);
    case WEFT__COMMAND_ROWS:
        return record_rows(w, r, c);
    case WEFT__COMMAND_DESTROY:
        return weft_recorder_destroy_entity(r, entity);
    case WEFT__COMMAND_ADD:
        return weft_recorder_add(r, entity, component);
    case WEFT__COMMAND_REMOVE:
        return weft_recorder_remove(r, entity, component);
    case WEFT__COMMAND_SET:
    case WEFT__COMMAND_SET_SHARED:
    case WEFT__COMMAND_APPEND:
    case WEFT__COMMAND_SET_BUFFER:
    case WEFT__COMMAND_QUERY_SET_SHARED:
        return record_value(w, r, c);
    case WEFT__COMMAND_ENABLE:
        return weft_recorder_enable(r, entity, component, c->flag);
    case WEFT__COMMAND_SET_NAME:
        return weft_recorder_set_name(r, entity, entity_names[c->value % NAMES]);
    case WEFT__COMMAND_QUERY_ADD:
        return weft_recorder_query_add(r, w->queries[c->target], component);
    case WEFT__COMMAND_QUERY_REMOVE:
        return weft_recorder_query_remove(r, w->queries[c->target], component);
    case WEFT__COMMAND_QUERY_ENABLE:
        return weft_recorder_query_enable(r, w->queries[c->target], component, c->flag);
    case WEFT__COMMAND_QUERY_DESTROY:
        return weft_recorder_query_destroy_entities(r, w->queries[c->target]);
    case WEFT__COMMAND_OP_COUNT:
        break;
    }
    return WEFT_INVALID_ARGUMENT;
}

/* ---- what can be seen ---- */

/* Words in pairs: what it is (kind << 8 | part), and its value. */
typedef struct view {
    uint32_t count;
    uint32_t words[1 << 14];
} view;

enum { IS_ALIVE, HAS, CONTENT, REFERENCE, ENABLED, ELEMENTS, NAMED, SOURCES, DEPTH };

static inline void see(view *v, uint32_t kind, uint32_t part, uint32_t value)
{
    if (v->count + 2 > sizeof v->words / sizeof v->words[0]) return;
    v->words[v->count++] = kind << 8 | part;
    v->words[v->count++] = value;
}

static inline void see_value(way *w, view *v, uint32_t kind, const void *value)
{
    uint32_t words[LARGE_WORDS];
    size_t bytes = shape_bytes[kind_shapes[kind]];
    memcpy(words, value, bytes);
    if (is_linked(kind)) {
        weft_entity other;
        memcpy(&other, value, sizeof other);
        see(v, kind, REFERENCE, number_of(w, other));
        words[0] = words[1] = 0;
    }
    uint32_t step = kind_shapes[kind] == LARGE ? 113 : 1;
    for (uint32_t i = 0; i < bytes / 4; i += step) see(v, kind, CONTENT, words[i]);
}

static inline void see_kind(way *w, view *v, weft_entity entity, uint32_t kind)
{
    weft_component component = w->of[kind];
    if (!weft_entity_has(w->world, entity, component)) return;
    see(v, kind, HAS, 1);
    if (is_kind(kind, WEFT_ENABLEABLE))
        see(v, kind, ENABLED, weft_entity_is_enabled(w->world, entity, component));
    if (is_kind(kind, WEFT_BUFFER)) {
        const weft_buffer *buffer = weft_entity_read(w->world, entity, component);
        see(v, kind, ELEMENTS, buffer->count);
        const char *at = weft_buffer_read(buffer);
        for (uint32_t i = 0; i < buffer->count && i < 40; i++)
            see_value(w, v, kind, at + i * shape_bytes[kind_shapes[kind]]);
    } else if (is_kind(kind, WEFT_SHARED)) {
        see_value(w, v, kind, weft_entity_read_shared(w->world, entity, component));
    } else if (has_value(kind)) {
        see_value(w, v, kind, weft_entity_read(w->world, entity, component));
    }
}

static inline int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static inline void see_sources(way *w, view *v, weft_entity entity, uint32_t kind)
{
    static uint32_t numbers[NUMBERS];
    uint32_t count = 0;
    const weft_entity *sources = weft_relation_sources(w->world, w->of[kind], entity, &count);
    for (uint32_t i = 0; i < count; i++) numbers[i] = number_of(w, sources[i]);
    qsort(numbers, count, sizeof numbers[0], compare_numbers);
    see(v, kind, ELEMENTS, count);
    for (uint32_t i = 0; i < count && i < 100; i++) see(v, kind, SOURCES, numbers[i]);
}

/* All that can be seen of an entity. */
static inline void look(way *w, uint32_t number, view *v)
{
    weft_entity entity = w->entities[number];
    v->count = 0;
    bool is_there = weft_entity_archetype(w->world, entity).id != 0; /* residues are not alive */
    see(v, 0, IS_ALIVE, weft_entity_is_alive(w->world, entity) + is_there);
    if (!is_there) return;
    const char *name = weft_entity_name(w->world, entity);
    uint32_t hash = 0;
    for (; *name != '\0'; name++) hash = hash * 31 + (uint8_t)*name;
    see(v, 0, NAMED, hash);
    for (uint32_t kind = 0; kind < KINDS; kind++) see_kind(w, v, entity, kind);
    weft_entity prefab = weft_relation_target(w->world, entity, w->instance_of);
    see(v, PREFAB, REFERENCE, number_of(w, prefab));
    see_sources(w, v, entity, LIKES);
    see_sources(w, v, entity, PARENT);
    see(v, PARENT, DEPTH, weft_relation_depth(w->world, w->of[PARENT], entity));
}

#endif
