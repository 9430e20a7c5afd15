/* SPDX-License-Identifier: MIT */
/* everything.c: what operations of everything.h use: arguments, handles and numbers, values on both
 * sides, failures, worlds. */
#include "everything.h"
#include "systems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

uint64_t everything_mix(uint64_t a, uint64_t b)
{
    uint64_t z = a + 0x9e3779b97f4a7c15u * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t everything_pick_living(const everything *e, uint32_t a)
{
    const model *m = &e->here->m;
    if (m->living == 0) return 0;
    uint32_t n = 1 + a % (m->count - 1);
    while (!model_is_alive(m, n)) n = n % (m->count - 1) + 1;
    return n;
}

/* The choice is made by high bits, who it is by the number: small numbers are living ones. */
uint32_t everything_pick(const everything *e, uint32_t a)
{
    const model *m = &e->here->m;
    uint32_t way = a >> 26;
    if (way == 63) return 0;
    if (way == 62) return EVERYTHING_FOREIGN;
    if (way >= 58 && m->count > 1) return 1 + (a & 0xffffff) % (m->count - 1);
    return everything_pick_living(e, a & 0xffffff);
}

uint32_t everything_linked(const everything *e, uint32_t b)
{
    uint32_t n = everything_pick(e, b);
    bool is_known = n != EVERYTHING_FOREIGN && everything_handle(e->here, n).version != 0;
    return is_known ? n : 0; /* the dead of a world that was left have no handle here */
}

uint32_t everything_room(const everything *e, uint32_t count)
{
    uint32_t made = e->here->m.count;
    uint32_t left = made < EVERYTHING_MOST ? EVERYTHING_MOST - made : 0;
    return count < left ? count : left;
}

uint32_t *everything_many(everything *e, uint32_t a, uint32_t b, uint32_t count)
{
    model *m = &e->here->m;
    uint32_t *numbers = model_memory(m, (count + 1) * sizeof *numbers);
    uint32_t n = everything_pick_living(e, a & 0xffffff);
    bool has_dead = b >> 28 == 15;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = has_dead && i % 8 == b % 8 ? everything_pick(e, b + i) : n;
        n = everything_pick_living(e, n);
    }
    return numbers;
}

weft_entity *everything_handles(everything *e, const uint32_t *numbers, uint32_t count)
{
    weft_entity *handles = model_memory(&e->here->m, (count + 1) * sizeof *handles);
    for (uint32_t i = 0; i < count; i++) handles[i] = everything_handle(e->here, numbers[i]);
    return handles;
}

uint32_t everything_components(const everything_place *p, uint64_t set, weft_component *out)
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if ((set >> kind & 1) != 0) out[count++] = p->of[kind];
    return count;
}

/* ---- handles ---- */

weft_entity everything_handle(const everything_place *p, uint32_t number)
{
    if (number == EVERYTHING_FOREIGN) {
        weft_entity foreign = {p->handle_tag ^ (UINT32_C(9) << WEFT_ENTITY_TAG_SHIFT), 1};
        return foreign;
    }
    if (number >= EVERYTHING_DEFERRED) {
        number -= EVERYTHING_DEFERRED;
        return number < p->deferred_count ? p->deferred[number] : (weft_entity){0};
    }
    return number < p->m.count && number < p->handle_room ? p->handles[number] : (weft_entity){0};
}

static uint32_t *number_slot(const everything_place *p, weft_entity handle)
{
    uint64_t bits = (uint64_t)handle.version << 32 | handle.index;
    uint32_t at = (uint32_t)(everything_mix(bits, 0) & (p->number_room - 1));
    while (p->numbers[at] != 0 && !weft_entity_equal(p->handles[p->numbers[at]], handle))
        at = (at + 1) & (p->number_room - 1);
    return &p->numbers[at];
}

uint32_t everything_number(const everything_place *p, weft_entity handle)
{
    if (weft_entity_is_null(handle)) return 0;
    uint32_t number = p->number_room == 0 ? 0 : *number_slot(p, handle);
    return number == 0 ? EVERYTHING_FOREIGN : number;
}

/* Room for a handle more: both lists double. */
static void handles_grow(everything_place *p, uint32_t number)
{
    if (number < p->handle_room && p->number_count * 2 < p->number_room) return;
    uint32_t room = p->handle_room == 0 ? 256 : p->handle_room;
    while (room <= number || room <= p->number_count * 2) room *= 2;
    weft_entity *handles = model_memory(&p->m, room * sizeof *handles);
    if (p->handle_room != 0) memcpy(handles, p->handles, p->handle_room * sizeof *handles);
    uint32_t *old = p->numbers, old_room = p->number_room;
    p->handles = handles;
    p->handle_room = room;
    p->number_room = 2 * room;
    p->numbers = model_memory(&p->m, p->number_room * sizeof *p->numbers);
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i] != 0) *number_slot(p, p->handles[old[i]]) = old[i];
}

void everything_learn(everything *e, everything_place *p, uint32_t number, weft_entity handle)
{
    if (weft_entity_is_null(handle)) {
        everything_fails(e, "no handle", "entity %u of the model has no handle", number);
        return;
    }
    handles_grow(p, number);
    uint32_t *slot = number_slot(p, handle);
    if (*slot == 0) p->number_count++;
    if (*slot != 0 && *slot != number && p->m.entities[*slot].life == MODEL_ALIVE)
        everything_fails(e, "a handle given twice", "entities %u and %u both have %u:%u", *slot,
                         number, handle.index, handle.version);
    p->handle_tag = handle.index >> WEFT_ENTITY_TAG_SHIFT << WEFT_ENTITY_TAG_SHIFT;
    p->handles[number] = handle;
    *slot = number;
}

/* Handles that the group of one copy has; returns how many were not known. */
static uint32_t group_learn(everything *e, everything_place *p, uint32_t copy)
{
    const model_value *group = model_read(&p->m, copy, GROUP);
    const weft_buffer *buffer =
        weft_entity_read(p->world, everything_handle(p, copy), p->of[GROUP]);
    uint32_t learned = 0;
    for (uint32_t i = 0; group != NULL && buffer != NULL && i < group->count; i++) {
        uint64_t number = ((const uint64_t *)(const void *)group->bytes)[i];
        if (i >= buffer->count || everything_handle(p, (uint32_t)number).version != 0) continue;
        if (number == 0) continue;
        everything_says(e, "e[%u] = ((const weft_entity *)ELEMENTS(%s, e[%u], of[GROUP]))[%u];",
                        (uint32_t)number, p->c_name, copy, i);
        everything_learn(e, p, (uint32_t)number,
                         ((const weft_entity *)weft_buffer_read(buffer))[i]);
        learned++;
    }
    return learned;
}

void everything_learn_copies(everything *e, everything_place *p, const uint32_t *copies,
                             uint32_t count)
{
    uint32_t known = 1;
    for (uint32_t learned = 1; known < count && learned != 0 && !everything_has_failed(e);
         known += learned) {
        learned = 0;
        for (uint32_t i = 0; i < count; i++)
            if (everything_handle(p, copies[i]).version != 0)
                learned += group_learn(e, p, copies[i]);
    }
    if (known < count && !everything_has_failed(e))
        everything_fails(e, "copies in no group", "%u of %u copies of a group are in none", known,
                         count);
}

/* ---- values ---- */

/* Small numbers, of shared values few. */
static uint32_t word_of(uint32_t kind, uint64_t value, uint32_t i)
{
    uint32_t word = (uint32_t)(value + i);
    return kinds_of_model()[kind].flags & MODEL_SHARED ? word % 5 : word % 1000;
}

static void value_fill(everything *e, uint32_t kind, uint32_t word, uint32_t b, uint8_t *out)
{
    const model_kind *of = &kinds_of_model()[kind];
    uint32_t words = of->size / 4;
    switch (kind_shape_of(kind)) {
    case SHAPE_BARE:
        return;
    case SHAPE_WORD:
    case SHAPE_WIDE:
    case SHAPE_LINE:
    case SHAPE_LARGE:
        for (uint32_t i = 0; i < words; i++) memcpy(out + 4 * i, (uint32_t[]){word + i % 3}, 4);
        return;
    case SHAPE_OWNING:
        memcpy(out, (uint32_t[]){MODEL_SIGN, word}, 8);
        return;
    case SHAPE_LINKED:
        memcpy(out + 8, &word, 4);
        break;
    case SHAPE_TWIN:
        memcpy(out, &word, 4);
        break;
    case SHAPE_TARGET:
        break;
    }
    for (uint32_t k = 0; k < of->link_count; k++) {
        uint64_t number = word % 5 == 4 ? 0 : everything_linked(e, b + k);
        memcpy(out + of->links[k], &number, sizeof number);
    }
}

uint8_t *everything_value(everything *e, uint32_t kind, uint64_t value, uint32_t b, uint32_t count)
{
    size_t size = kinds_of_model()[kind].size;
    uint8_t *bytes = model_memory(&e->here->m, (count + 1) * size + 8);
    for (uint32_t i = 0; i < count; i++)
        value_fill(e, kind, word_of(kind, value, i), b + i, bytes + i * size);
    return bytes;
}

uint8_t *everything_weft_value(everything *e, const everything_place *p, uint32_t kind,
                               const void *bytes, uint32_t count)
{
    const model_kind *of = &kinds_of_model()[kind];
    size_t total = (size_t)count * of->size;
    uintptr_t memory = (uintptr_t)model_memory(&e->here->m, total + 64);
    uint8_t *result = (uint8_t *)((memory + 63) & ~(uintptr_t)63);
    if (total != 0) memcpy(result, bytes, total);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < of->link_count; k++) {
            uint64_t number;
            uint8_t *at = result + (size_t)i * of->size + of->links[k];
            memcpy(&number, at, sizeof number);
            weft_entity handle = everything_handle(p, (uint32_t)number);
            memcpy(at, &handle, sizeof handle);
        }
    return result;
}

/* ---- failures ---- */

void everything_fails(everything *e, const char *what, const char *format, ...)
{
    va_list list;
    bool is_first = at_add_rlx(&e->x_failed, 1) == 0; /* relaxed: a count; text is read later */
    if (!is_first) return;
    snprintf(e->failure, sizeof e->failure, "%s", what);
    int length = snprintf(e->text, sizeof e->text, "call %u (%s): ", e->call,
                          e->running != NULL ? e->running->name : "the end");
    va_start(list, format);
    vsnprintf(e->text + length, sizeof e->text - (size_t)length, format, list);
    va_end(list);
}

weft_result everything_result_of(model_result result)
{
    static const weft_result results[MODEL_RESULTS] = {
        [MODEL_OK] = WEFT_OK,
        [MODEL_STALE] = WEFT_STALE_ENTITY,
        [MODEL_MISMATCH] = WEFT_TYPE_MISMATCH,
        [MODEL_NOT_FOUND] = WEFT_NOT_FOUND,
        [MODEL_INVALID] = WEFT_INVALID_ARGUMENT,
        [MODEL_EXISTS] = WEFT_ALREADY_EXISTS,
        [MODEL_CYCLE] = WEFT_CYCLE,
        [MODEL_FOREIGN] = WEFT_BAD_HANDLE,
    };
    return results[result];
}

bool everything_result(everything *e, const char *what, weft_result actual, weft_result expected)
{
    if (actual == expected) return true;
    const weft_error *error = weft_world_error(e->here->world);
    everything_fails(e, what, "%s: is %s, should be %s (%s)", what, weft_result_name(actual),
                     weft_result_name(expected),
                     actual != WEFT_OK && error->code == actual ? error->text : "");
    return false;
}

bool everything_equal(everything *e, const char *what, uint64_t actual, uint64_t expected)
{
    if (actual == expected) return true;
    everything_fails(e, what, "%s: is %llu, should be %llu", what, (unsigned long long)actual,
                     (unsigned long long)expected);
    return false;
}

/* ---- worlds ---- */

/* A pool of two workers that worlds borrow; one a process. */
static weft_job_pool *lent_pool(void)
{
    static weft_job_pool *pool;
    if (pool == NULL &&
        weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool) != WEFT_OK)
        pool = NULL;
    return pool;
}

static weft_world *created; /* by the last weft_world_create of the process */

static void created_note(weft_world *world)
{
    created = world;
}

/* Others create worlds meanwhile where there are many; and an inspector of every world watches
 * itself, of which there is one place. */
static weft_result world_create(everything *e, const weft_world_desc *desc, weft_world **out)
{
    if (e->is_one_of_many || getenv("WEFT_INSPECT") != NULL) return weft_world_create(desc, out);
    created = NULL;
    weft_world_watch_created(created_note);
    weft_result result = weft_world_create(desc, out);
    weft_world_watch_created(NULL);
    if (result == WEFT_OK) everything_equal(e, "weft_world_watch_created", created == *out, true);
    return result;
}

bool everything_open(everything *e, everything_place *p, const char *c_name)
{
    static const uint32_t tags[] = {0, WEFT_WITHOUT_ENTITY_TAG, 3, 0};
    static const uint32_t later_tags[] = {5, WEFT_WITHOUT_ENTITY_TAG, 3, 14, 3};
    uint64_t drawn = everything_mix(e->seed, 7);
    weft_world_desc desc = {.workers = e->workers, .without_huge_pages = true, .trace_file = ""};
    desc.entity_tag = tags[drawn % 4];
    if (e->opened != 0) desc.entity_tag = later_tags[(drawn >> 8) % 4 + e->opened % 2];
    bool is_lent = (e->workers == 2 && (drawn & 64) != 0) || e->opened != 0;
    e->opened++;
    desc.pool = is_lent && !e->is_one_of_many ? lent_pool() : e->pool;
    *p = (everything_place){.c_name = c_name, .knows_stamps = true};
    model_open(&p->m, kinds_of_model(), KINDS);
    everything_says(e,
                    "IS(WEFT_OK, weft_world_create(&(weft_world_desc){.workers = %u, "
                    ".without_huge_pages = true, .trace_file = \"\", .entity_tag = %u}, &%s));",
                    e->workers, desc.entity_tag, c_name);
    everything_says(e, "kinds_register(%s);", c_name);
    weft_result result = world_create(e, &desc, &p->world);
    if (result != WEFT_OK) {
        everything_fails(e, "weft_world_create", "%s", weft_result_name(result));
        return false;
    }
    if (!kinds_register(p->world, &e->x_owned, p->of)) {
        everything_fails(e, "kinds_register", "%s", weft_world_error(p->world)->text);
        return false;
    }
    p->handle_tag = desc.entity_tag % 16 << WEFT_ENTITY_TAG_SHIFT;
    return true;
}

void everything_close(everything *e, everything_place *p)
{
    everything_commands_drop(e, p);
    if (p->world != NULL) {
        everything_says(e, "IS(WEFT_OK, weft_world_destroy(%s));", p->c_name);
        weft_result result = weft_world_destroy(p->world);
        if (result != WEFT_OK)
            everything_fails(e, "weft_world_destroy", "%s: %s", weft_result_name(result),
                             weft_world_error(p->world)->text);
    }
    model_close(&p->m);
    *p = (everything_place){0};
}

void everything_replace(everything *e, everything_place *by)
{
    everything_snapshots_drop(e);
    everything_place old = *e->here;
    old.c_name = "old";
    *e->here = *by;
    *by = old;
    systems_after_load(e);
    everything_queries_make(e);
    if (!everything_has_failed(e)) everything_close(e, by);
}

void everything_relearn(everything *e, everything_place *p, const weft_entity *handles,
                        uint32_t count)
{
    p->handles = NULL;
    p->numbers = NULL;
    p->handle_room = p->number_room = p->number_count = 0;
    for (uint32_t n = 1; n < count; n++)
        if (!weft_entity_is_null(handles[n])) everything_learn(e, p, n, handles[n]);
}
