/* SPDX-License-Identifier: MIT */
/* ops_entity.c: entities: made, destroyed, given components and values, enabled, named, copied, by
 * single calls and by calls for many.
 *
 * Where a call is all or nothing, the model is asked first whether each entity may (many_may). */
#include "everything.h"

#include <string.h>
#include <strings.h>

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* ---- create ---- */

/* Entities of a set with values for some kinds of it. Owner: one call. */
typedef struct filling {
    uint64_t set;          /* of rows, with what they need */
    uint32_t count, first; /* numbers first .. first + count - 1 */
    weft_values values[KINDS];
    const uint8_t *bytes[KINDS]; /* as the model has them */
    uint8_t kinds[KINDS];
    uint32_t value_count;
} filling;

/* Values for the kinds that `takes`, a half of them. */
static void filling_values(everything *e, filling *f, const everything_call *c,
                           bool (*takes)(uint32_t), uint32_t most)
{
    for (uint32_t kind = 0; kind < KINDS && f->value_count < most; kind++) {
        if ((f->set >> kind & 1) == 0 || !takes(kind) || (c->b >> kind % 8 & 1) == 0) continue;
        uint32_t count = kind_is_shared(kind) ? 1 : f->count, i = f->value_count++;
        f->kinds[i] = (uint8_t)kind;
        f->bytes[i] = everything_value(e, kind, c->value / 7, c->a, count);
        f->values[i].component = e->here->of[kind];
        f->values[i].values = everything_weft_value(e, e->here, kind, f->bytes[i], count);
        kind_own(kind, &e->x_owned, count);
    }
}

static void filling_model(everything *e, filling *f)
{
    model *m = &e->here->m;
    f->first = m->count;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t n = model_create(m, f->set);
        for (uint32_t k = 0; k < f->value_count; k++) {
            size_t at = kind_is_shared(f->kinds[k]) ? 0 : i * m->kinds[f->kinds[k]].size;
            model_set(m, n, f->kinds[k], f->bytes[k] + at, 1);
        }
    }
}

static void filling_learn(everything *e, const filling *f, weft_result result,
                          const weft_entity *out)
{
    if (!everything_result(e, "creation", result, WEFT_OK)) return;
    for (uint32_t i = 0; i < f->count; i++) everything_learn(e, e->here, f->first + i, out[i]);
}

static filling filling_begin(everything *e, const everything_call *c, uint32_t count)
{
    uint64_t set = model_rows(&e->here->m, model_with_needs(&e->here->m, c->value));
    return (filling){.set = set, .count = everything_room(e, count)};
}

static bool kind_is_filled(uint32_t kind)
{
    return kind_has_column(kind) || kind_is_shared(kind);
}

static void run_create(everything *e, const everything_call *c)
{
    weft_world *world = e->here->world;
    weft_component list[KINDS];
    filling f = filling_begin(e, c, c->way == 0 ? 1 : c->size);
    if (f.count == 0 && c->way == 0) return;
    if (c->way == 2) filling_values(e, &f, c, kind_is_filled, KINDS);
    filling_model(e, &f);
    weft_archetype archetype =
        weft_archetype_create(world, list, everything_components(e->here, f.set, list));
    weft_entity *out = model_memory(&e->here->m, (f.count + 1) * sizeof *out);
    if (c->way == 0) {
        everything_says(e, "e[%u] = weft_entity_create(world, %s);", f.first,
                        everything_c_archetype(e, f.set));
        out[0] = weft_entity_create(world, archetype);
        filling_learn(e, &f, WEFT_OK, out);
        return;
    }
    everything_says(e, "weft_values list[] = {{{0}, NULL}");
    for (uint32_t i = 0; i < f.value_count; i++)
        everything_says(e, "    , {of[%s], %s}", name_of(f.kinds[i]),
                        everything_c_value(e, f.kinds[i], f.bytes[i],
                                           kind_is_shared(f.kinds[i]) ? 1 : f.count));
    everything_says(e, "};");
    everything_says(e, c->way == 1 ? "(void)list;" : "");
    if (c->way == 1)
        everything_says(e, "IS(WEFT_OK, weft_entity_create_many(world, %s, %u, &e[%u]));",
                        everything_c_archetype(e, f.set), f.count, f.first);
    else
        everything_says(e,
                        "IS(WEFT_OK, weft_entity_create_filled(world, %s, list + 1, %u, %u, "
                        "&e[%u]));",
                        everything_c_archetype(e, f.set), f.value_count, f.count, f.first);
    weft_result result = c->way == 1 ? weft_entity_create_many(world, archetype, f.count, out)
                                     : weft_entity_create_filled(world, archetype, f.values,
                                                                 f.value_count, f.count, out);
    filling_learn(e, &f, result, out);
}

static void run_destroy(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    weft_result expected = everything_result_of(model_destroy(&e->here->m, n));
    everything_says(e, "IS(%s, weft_entity_destroy(world, %s));", weft_result_name(expected),
                    everything_c_entity(e, n));
    weft_result result = weft_entity_destroy(e->here->world, everything_handle(e->here, n));
    everything_result(e, "weft_entity_destroy", result, expected);
}

static void run_destroy_many(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t *numbers = everything_many(e, c->a, c->b, c->size);
    bool *dies = model_memory(m, m->count * sizeof *dies), *near = model_memory(m, m->count);
    for (uint32_t i = 0; i < c->size; i++) {
        if (numbers[i] == EVERYTHING_FOREIGN) numbers[i] = 0;
        if (!model_is_alive(m, numbers[i]) || dies[numbers[i]]) continue;
        model_group(m, numbers[i], near);
        for (uint32_t k = 1; k < m->count; k++) dies[k] = dies[k] || near[k];
    }
    for (uint32_t n = 1; n < m->count; n++)
        if (dies[n]) model_destroy_alone(m, n);
    everything_says_list(e, "list", numbers, c->size);
    everything_says(e, "IS(WEFT_OK, weft_entity_destroy_many(world, list, %u));", c->size);
    weft_result result =
        weft_entity_destroy_many(e->here->world, everything_handles(e, numbers, c->size), c->size);
    everything_result(e, "weft_entity_destroy_many", result, WEFT_OK);
}

/* ---- add and remove ---- */

static void run_add(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    weft_result expected = everything_result_of(model_change(&e->here->m, n, KIND_BIT(c->kind), 0));
    everything_says(e, "IS(%s, weft_entity_add(world, %s, of[%s]));", weft_result_name(expected),
                    everything_c_entity(e, n), name_of(c->kind));
    weft_result result =
        weft_entity_add(e->here->world, everything_handle(e->here, n), e->here->of[c->kind]);
    everything_result(e, "weft_entity_add", result, expected);
}

/* By the number of the kind one that the entity has, more often than not. */
static uint32_t kind_to_remove(const everything *e, const everything_call *c, uint32_t n)
{
    uint64_t set = n < e->here->m.count ? e->here->m.entities[n].set & ~KIND_BIT(DEPTH) : 0;
    if (set == 0 || c->b % 4 == 0) return c->kind;
    for (uint32_t skip = c->b / 4 % (uint32_t)__builtin_popcountll(set); skip != 0; skip--)
        set &= set - 1;
    return (uint32_t)__builtin_ctzll(set);
}

static void run_remove(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a), kind = kind_to_remove(e, c, n);
    weft_result expected = everything_result_of(model_change(&e->here->m, n, 0, KIND_BIT(kind)));
    everything_says(e, "IS(%s, weft_entity_remove(world, %s, of[%s]));", weft_result_name(expected),
                    everything_c_entity(e, n), name_of(kind));
    weft_result result =
        weft_entity_remove(e->here->world, everything_handle(e->here, n), e->here->of[kind]);
    everything_result(e, "weft_entity_remove", result, expected);
}

/* The first thing that is wrong with one of them: then none changes. */
static model_result many_may(everything *e, const uint32_t *numbers, uint32_t count, uint64_t add)
{
    model_result result = MODEL_OK;
    for (uint32_t i = 0; i < count && result == MODEL_OK; i++) {
        result = model_may_add(&e->here->m, numbers[i], add);
        if (result == MODEL_OK) result = model_may_remove(&e->here->m, numbers[i]);
    }
    return result;
}

static const char *const change_ways[] = {"add", "remove", "both", NULL};

static void run_change_many(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t *numbers = everything_many(e, c->a, c->b, c->size);
    weft_component add_list[KINDS], remove_list[KINDS];
    uint64_t remove = 0, add = c->way == 1 ? 0 : c->value;
    if (c->way != 0 && c->size != 0 && numbers[0] < m->count)
        remove = m->entities[numbers[0]].set & everything_mix(c->value, c->b) & ~KIND_BIT(DEPTH);
    model_result may = many_may(e, numbers, c->size, add & ~remove);
    for (uint32_t i = 0; i < c->size && may == MODEL_OK; i++)
        model_change(m, numbers[i], add, remove);
    weft_result expected = everything_result_of(may);
    weft_change_desc desc = {.add = add_list, .remove = remove_list};
    desc.add_count = everything_components(e->here, add, add_list);
    desc.remove_count = everything_components(e->here, remove, remove_list);
    everything_says_list(e, "list", numbers, c->size);
    everything_says(e, "weft_component add[] = {{0, 0}, %s}, remove[] = {{0, 0}, %s};",
                    everything_c_set(e, add), everything_c_set(e, remove));
    everything_says(e,
                    "IS(%s, weft_entity_change_many(world, list, %u, "
                    "&(weft_change_desc){add + 1, %u, remove + 1, %u}));",
                    weft_result_name(expected), c->size, desc.add_count, desc.remove_count);
    weft_result result = weft_entity_change_many(
        e->here->world, everything_handles(e, numbers, c->size), c->size, &desc);
    everything_result(e, "weft_entity_change_many", result, expected);
}

static void run_set_archetype(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    weft_component list[KINDS];
    uint64_t set = model_with_needs(&e->here->m, c->value);
    if (c->b % 2 == 0 && n < e->here->m.count) /* near what it has */
        set |= model_rows(&e->here->m, e->here->m.entities[n].set) & everything_mix(c->b, 1);
    set = model_with_needs(&e->here->m, set) & ~KIND_BIT(DEPTH);
    weft_result expected = everything_result_of(model_set_rows(&e->here->m, n, set));
    everything_says(e, "IS(%s, weft_entity_set_archetype(world, %s, %s));",
                    weft_result_name(expected), everything_c_entity(e, n),
                    everything_c_archetype(e, set));
    weft_archetype archetype =
        weft_archetype_create(e->here->world, list, everything_components(e->here, set, list));
    weft_result result =
        weft_entity_set_archetype(e->here->world, everything_handle(e->here, n), archetype);
    everything_result(e, "weft_entity_set_archetype", result, expected);
}

/* ---- set ---- */

static void run_set(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a), size = kinds_of_model()[c->kind].size;
    const uint8_t *bytes = everything_value(e, c->kind, c->value, c->b, 1);
    const void *value = everything_weft_value(e, e->here, c->kind, bytes, 1);
    weft_result expected = everything_result_of(model_set(&e->here->m, n, c->kind, bytes, 1));
    everything_says(e, "IS(%s, weft_entity_set(world, %s, of[%s], %s, %u));",
                    weft_result_name(expected), everything_c_entity(e, n), name_of(c->kind),
                    everything_c_value(e, c->kind, bytes, 1), size);
    if (expected == WEFT_OK) kind_own(c->kind, &e->x_owned, 1);
    weft_result result = weft_entity_set(e->here->world, everything_handle(e->here, n),
                                         e->here->of[c->kind], value, size);
    everything_result(e, "weft_entity_set", result, expected);
}

static void run_set_many(everything *e, const everything_call *c)
{
    uint32_t size = kinds_of_model()[c->kind].size;
    uint32_t *numbers = everything_many(e, c->a, c->b, c->size);
    const uint8_t *bytes = everything_value(e, c->kind, c->value, c->b & 0xffffff, c->size);
    const void *values = everything_weft_value(e, e->here, c->kind, bytes, c->size);
    model_result may = many_may(e, numbers, c->size, KIND_BIT(c->kind));
    for (uint32_t i = 0; i < c->size && may == MODEL_OK; i++)
        model_set(&e->here->m, numbers[i], c->kind, bytes + (size_t)i * size, 1);
    weft_result expected = everything_result_of(may);
    everything_says_list(e, "list", numbers, c->size);
    everything_says(e, "IS(%s, weft_entity_set_many(world, list, %u, of[%s], %s, %u));",
                    weft_result_name(expected), c->size, name_of(c->kind),
                    everything_c_value(e, c->kind, bytes, c->size), size);
    if (expected == WEFT_OK) kind_own(c->kind, &e->x_owned, c->size);
    weft_result result =
        weft_entity_set_many(e->here->world, everything_handles(e, numbers, c->size), c->size,
                             e->here->of[c->kind], values, size);
    everything_result(e, "weft_entity_set_many", result, expected);
}

static void run_set_shared(everything *e, const everything_call *c)
{
    uint32_t count = c->way == 0 ? 1 : c->size, one = everything_pick(e, c->a);
    uint32_t *numbers = c->way == 0 ? &one : everything_many(e, c->a, c->b, count);
    const uint8_t *bytes = everything_value(e, c->kind, c->value, c->b, 1);
    const void *value = everything_weft_value(e, e->here, c->kind, bytes, 1);
    model_result may = many_may(e, numbers, count, KIND_BIT(c->kind));
    for (uint32_t i = 0; i < count && may == MODEL_OK; i++)
        model_set(&e->here->m, numbers[i], c->kind, bytes, 1);
    weft_result expected = everything_result_of(may), result;
    const char *text = everything_c_value(e, c->kind, bytes, 1);
    if (c->way == 0) {
        everything_says(e, "IS(%s, weft_entity_set_shared(world, %s, of[%s], %s));",
                        weft_result_name(expected), everything_c_entity(e, one), name_of(c->kind),
                        text);
        result = weft_entity_set_shared(e->here->world, everything_handle(e->here, one),
                                        e->here->of[c->kind], value);
    } else {
        everything_says_list(e, "list", numbers, count);
        everything_says(e, "IS(%s, weft_entity_set_shared_many(world, list, %u, of[%s], %s));",
                        weft_result_name(expected), count, name_of(c->kind), text);
        result = weft_entity_set_shared_many(e->here->world, everything_handles(e, numbers, count),
                                             count, e->here->of[c->kind], value);
    }
    everything_result(e, "weft_entity_set_shared", result, expected);
}

/* ---- bits and names ---- */

static void run_enable(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    bool enabled = c->value % 3 == 0;
    for (uint32_t i = 1; i < 16 && !model_has(&e->here->m, n, c->kind); i++)
        n = everything_pick(e, c->a + i * 7); /* mostly one that has it */
    weft_result expected = everything_result_of(model_enable(&e->here->m, n, c->kind, enabled));
    everything_says(e, "IS(%s, weft_entity_enable(world, %s, of[%s], %s));",
                    weft_result_name(expected), everything_c_entity(e, n), name_of(c->kind),
                    enabled ? "true" : "false");
    weft_result result = weft_entity_enable(e->here->world, everything_handle(e->here, n),
                                            e->here->of[c->kind], enabled);
    everything_result(e, "weft_entity_enable", result, expected);
}

static const char *const names[] = {
    "",
    "a",
    "A",
    "bee",
    "sea",
    "a name of some length",
    "a name that is longer than the sixty-three bytes which a world keeps of one"};
enum { NAMES = sizeof names / sizeof names[0] };

static void run_name(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    const char *name = names[c->value % NAMES];
    weft_result expected = everything_result_of(model_set_name(&e->here->m, n, name, c->way == 1));
    everything_says(e, "IS(%s, weft_entity_set_name%s(world, %s, \"%s\"));",
                    weft_result_name(expected), c->way == 1 ? "_unique" : "",
                    everything_c_entity(e, n), name);
    weft_entity entity = everything_handle(e->here, n);
    weft_result result = c->way == 1 ? weft_entity_set_name_unique(e->here->world, entity, name)
                                     : weft_entity_set_name(e->here->world, entity, name);
    everything_result(e, "weft_entity_set_name", result, expected);
}

static void run_find(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    char key[MODEL_NAME] = "";
    uint32_t *found = model_memory(m, m->count * sizeof *found), expected = 0;
    strncat(key, names[c->value % NAMES], MODEL_NAME - 1);
    uint32_t count = key[0] == '\0' ? 0 : model_named(m, key, found, m->count);
    for (uint32_t i = 0; i < count; i++) /* of several the one with the lowest index */
        if (i == 0 || weft_entity_index(everything_handle(e->here, found[i])) <
                          weft_entity_index(everything_handle(e->here, expected)))
            expected = found[i];
    everything_says(e, "CHECK(weft_entity_equal(weft_entity_find(world, \"%s\"), e[%u]));",
                    names[c->value % NAMES], expected);
    weft_entity actual = weft_entity_find(e->here->world, names[c->value % NAMES]);
    everything_equal(e, "weft_entity_find", everything_number(e->here, actual), expected);
}

/* ASCII letters are the same in both cases. */
static bool contains(const char *name, const char *part)
{
    size_t length = strlen(part);
    for (; *name != '\0'; name++)
        if (strncasecmp(name, part, length) == 0) return true;
    return false;
}

static void run_search(everything *e, const everything_call *c)
{
    static const char *const parts[] = {"", "A", "ea", "name", "of one"};
    const model *m = &e->here->m;
    const char *part = parts[c->value % 5];
    uint32_t expected = 0;
    weft_entity out[4];
    for (uint32_t n = 1; n < m->count; n++) expected += contains(model_name(m, n), part);
    everything_says(e, "CHECK(weft_entity_search(world, \"%s\", NULL, 0) == %u);", part, expected);
    uint32_t actual = weft_entity_search(e->here->world, part, out, 4);
    if (!everything_equal(e, "weft_entity_search", actual, expected)) return;
    for (uint32_t i = 0; i < actual && i < 4; i++) {
        uint32_t n = everything_number(e->here, out[i]);
        everything_equal(e, "weft_entity_search finds", contains(model_name(m, n), part), true);
    }
}

/* ---- copies ---- */

static void run_instantiate(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t n = everything_pick(e, c->a), count = everything_room(e, c->size);
    uint32_t members = 1;
    uint32_t *list = model_memory(m, (m->count + 1) * sizeof *list);
    if (model_is_alive(m, n)) members = model_instance_members(m, n, list);
    if (members > 1 && count * members > 2000) count = 2000 / members;
    uint32_t *copies = model_memory(m, ((size_t)count * members + 1) * sizeof *copies);
    weft_result expected = everything_result_of(model_instantiate(m, n, count, copies));
    weft_entity *out = model_memory(m, (count + 1) * sizeof *out);
    everything_says(e, "weft_entity out[%u];", count + 1);
    everything_says(e, "IS(%s, weft_entity_instantiate(world, %s, %u, out));",
                    weft_result_name(expected), everything_c_entity(e, n), count);
    weft_result result =
        weft_entity_instantiate(e->here->world, everything_handle(e->here, n), count, out);
    if (!everything_result(e, "weft_entity_instantiate", result, expected)) return;
    for (uint32_t i = 0; i < count && expected == WEFT_OK; i++) {
        everything_says(e, "e[%u] = out[%u];", copies[i * members], i);
        everything_learn(e, e->here, copies[i * members], out[i]);
    }
    for (uint32_t i = 0; i < count && expected == WEFT_OK; i++)
        everything_learn_copies(e, e->here, copies + (size_t)i * members, members);
}

static const char *const create_ways[] = {"single", "many", "filled", NULL};
static const char *const set_shared_ways[] = {"single", "many", NULL};
static const char *const name_ways[] = {"any", "unique", NULL};

const everything_op everything_ops_entity[] = {
    {.name = "create",
     .functions = "weft_entity_create weft_entity_create_many weft_entity_create_filled "
                  "weft_archetype_create",
     .weight = 10,
     .draws = DRAWS_SET | DRAWS_SIZE | DRAWS_FIRST,
     .takes = kind_is_of_rows,
     .ways = create_ways,
     .most = 5000,
     .run = run_create},
    {.name = "destroy", .functions = "weft_entity_destroy", .weight = 5, .run = run_destroy},
    {.name = "destroy_many",
     .functions = "weft_entity_destroy_many",
     .weight = 2,
     .draws = DRAWS_SIZE,
     .most = 3000,
     .run = run_destroy_many},
    {.name = "add",
     .functions = "weft_entity_add",
     .weight = 10,
     .draws = DRAWS_KIND,
     .run = run_add},
    {.name = "remove",
     .functions = "weft_entity_remove",
     .weight = 6,
     .draws = DRAWS_KIND,
     .run = run_remove},
    {.name = "change_many",
     .functions = "weft_entity_change_many",
     .weight = 5,
     .draws = DRAWS_SET | DRAWS_SIZE,
     .ways = change_ways,
     .most = 3000,
     .run = run_change_many},
    {.name = "set_archetype",
     .functions = "weft_entity_set_archetype",
     .weight = 4,
     .draws = DRAWS_SET,
     .takes = kind_is_of_rows,
     .run = run_set_archetype},
    {.name = "set",
     .functions = "weft_entity_set",
     .weight = 10,
     .draws = DRAWS_KIND,
     .takes = kind_is_set,
     .run = run_set},
    {.name = "set_many",
     .functions = "weft_entity_set_many",
     .weight = 5,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_is_set,
     .most = 3000,
     .run = run_set_many},
    {.name = "set_shared",
     .functions = "weft_entity_set_shared weft_entity_set_shared_many",
     .weight = 5,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_is_shared,
     .ways = set_shared_ways,
     .most = 3000,
     .run = run_set_shared},
    {.name = "enable",
     .functions = "weft_entity_enable",
     .weight = 4,
     .draws = DRAWS_KIND,
     .takes = kind_is_switch,
     .run = run_enable},
    {.name = "name",
     .functions = "weft_entity_set_name weft_entity_set_name_unique",
     .weight = 4,
     .ways = name_ways,
     .run = run_name},
    {.name = "find", .functions = "weft_entity_find", .weight = 2, .run = run_find},
    {.name = "search", .functions = "weft_entity_search", .weight = 2, .run = run_search},
    {.name = "instantiate",
     .functions = "weft_entity_instantiate",
     .weight = 4,
     .draws = DRAWS_SIZE,
     .most = 3000,
     .run = run_instantiate},
    {0},
};
