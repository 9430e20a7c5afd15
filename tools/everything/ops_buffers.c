/* SPDX-License-Identifier: MIT */
/* ops_buffers.c: dynamic buffers of entities and of the world, changed by the owner.
 *
 * What is done to a buffer is one of six ways, to the model's and to weft's alike. */
#include "everything.h"

#include <string.h>

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* What is done to one buffer. Owner: one call. */
typedef struct change {
    uint32_t kind, count;
    const uint8_t *bytes; /* as the model has them */
    bool is_resource;
    uint32_t n;
} change;

static const char *const buffer_ways[] = {"append",     "resize",  "reserve", "write",
                                          "append own", "replace", NULL};
enum { APPEND, RESIZE, RESERVE, WRITE, APPEND_OWN, REPLACE };

/* The first element of a linked group is its root, as a rule. */
static const uint8_t *elements_of(everything *e, const everything_call *c, uint32_t n)
{
    uint8_t *bytes = everything_value(e, c->kind, c->value, c->b & 0xffffff, c->size);
    uint64_t root = n;
    if (c->kind == GROUP && c->size != 0 && c->b >> 29 != 0) memcpy(bytes, &root, sizeof root);
    return bytes;
}

/* The same on a value of the model; false: nothing is done there. */
static void model_do(everything *e, const everything_call *c, model_value *value,
                     const uint8_t *bytes, uint32_t n)
{
    model *m = &e->here->m;
    uint32_t size = m->kinds[c->kind].size, count = value->count;
    const uint8_t *own = model_memory(m, (size_t)count * size + 1);
    if (count != 0) memcpy((uint8_t *)(uintptr_t)own, value->bytes, (size_t)count * size);
    switch (c->way) {
    case APPEND:
        model_append(m, n, c->kind, bytes, c->size);
        return;
    case RESIZE:
        model_resize(m, n, c->kind, c->size);
        return;
    case APPEND_OWN:
        model_append(m, n, c->kind, own, count);
        return;
    case REPLACE:
        model_resize(m, n, c->kind, 0);
        model_append(m, n, c->kind, bytes, c->size);
        return;
    case WRITE:
        if (count != 0 && c->size != 0)
            memcpy(value->bytes, bytes, (size_t)(c->size < count ? c->size : count) * size);
        break;
    default:
        break;
    }
    model_touch(m, n, KIND_BIT(c->kind));
}

static weft_result weft_do(const everything_call *c, const weft_buffers *buffers,
                           const void *elements, uint32_t size)
{
    uint32_t count = weft_buffers_length(buffers, 0);
    weft_result result;
    switch (c->way) {
    case APPEND:
        return weft_buffers_append(buffers, 0, elements, c->size);
    case RESIZE:
        return weft_buffers_resize(buffers, 0, c->size);
    case RESERVE:
        return weft_buffers_reserve(buffers, 0, c->size);
    case APPEND_OWN:
        return weft_buffers_append(buffers, 0, weft_buffers_read(buffers, 0), count);
    case REPLACE:
        result = weft_buffers_resize(buffers, 0, 0);
        return result == WEFT_OK ? weft_buffers_append(buffers, 0, elements, c->size) : result;
    default:
        if (count != 0 && c->size != 0)
            memcpy(weft_buffers_write(buffers, 0), elements,
                   (size_t)(c->size < count ? c->size : count) * size);
        return WEFT_OK;
    }
}

static void says_do(everything *e, const everything_call *c, const uint8_t *bytes)
{
    const char *text = everything_c_value(e, c->kind, bytes, c->size);
    if (c->way == REPLACE) everything_says(e, "IS(WEFT_OK, weft_buffers_resize(&b, 0, 0));");
    if (c->way == APPEND || c->way == REPLACE)
        everything_says(e, "IS(WEFT_OK, weft_buffers_append(&b, 0, %s, %u));",
                        c->size == 0 ? "&b" : text, c->size);
    if (c->way == APPEND_OWN)
        everything_says(e, "IS(WEFT_OK, weft_buffers_append(&b, 0, weft_buffers_read(&b, 0), "
                           "weft_buffers_length(&b, 0)));");
    if (c->way == RESIZE)
        everything_says(e, "IS(WEFT_OK, weft_buffers_resize(&b, 0, %u));", c->size);
    if (c->way == RESERVE)
        everything_says(e, "IS(WEFT_OK, weft_buffers_reserve(&b, 0, %u));", c->size);
    if (c->way == WRITE && c->size != 0)
        everything_says(e,
                        "if (weft_buffers_length(&b, 0) != 0) memcpy(weft_buffers_write(&b, 0), "
                        "%s, sizeof(%s) * (%u < weft_buffers_length(&b, 0) ? %u : "
                        "weft_buffers_length(&b, 0)));",
                        text, kind_c_type(c->kind), c->size, c->size);
}

/* Values with hooks: what is appended is the buffer's; a copy of its own bytes is one more. What is
 * written over others is not. */
static void own_note(everything *e, const everything_call *c, uint32_t length)
{
    if (c->way == APPEND || c->way == REPLACE) kind_own(c->kind, &e->x_owned, c->size);
    if (c->way == APPEND_OWN) kind_own(c->kind, &e->x_owned, length);
}

static void run_buffer(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t n = everything_pick(e, c->a), size = m->kinds[c->kind].size;
    for (uint32_t i = 0; i < 8 && !model_has(m, n, c->kind); i++)
        n = everything_pick(e, c->a + i * 3);
    model_value *value = model_read(m, n, c->kind);
    weft_entity entity = everything_handle(e->here, n);
    everything_says(e, "weft_buffers b = weft_entity_write_buffer(world, %s, of[%s]);",
                    everything_c_entity(e, n), name_of(c->kind));
    everything_says(e, "CHECK(b.count == %d);", value != NULL);
    weft_buffers buffers = weft_entity_write_buffer(e->here->world, entity, e->here->of[c->kind]);
    if (!everything_equal(e, "weft_entity_write_buffer", buffers.count, value != NULL)) return;
    if (value == NULL) return;
    if (c->way == APPEND_OWN && value->count > 4096) return;
    const uint8_t *bytes = elements_of(e, c, n);
    const void *elements = everything_weft_value(e, e->here, c->kind, bytes, c->size);
    own_note(e, c, value->count);
    model_do(e, c, value, bytes, n);
    says_do(e, c, bytes);
    everything_result(e, buffer_ways[c->way], weft_do(c, &buffers, elements, size), WEFT_OK);
}

static void run_read_buffer(everything *e, const everything_call *c)
{
    uint32_t n = everything_pick(e, c->a);
    const model_value *value = model_read(&e->here->m, n, c->kind);
    weft_buffers buffers = weft_entity_read_buffer(e->here->world, everything_handle(e->here, n),
                                                   e->here->of[c->kind]);
    everything_says(e, "CHECK(weft_entity_read_buffer(world, %s, of[%s]).count == %d);",
                    everything_c_entity(e, n), name_of(c->kind), value != NULL);
    if (!everything_equal(e, "weft_entity_read_buffer", buffers.count, value != NULL)) return;
    if (value != NULL)
        everything_equal(e, "weft_buffers_length", weft_buffers_length(&buffers, 0), value->count);
}

/* ---- resources ---- */

static void run_resource(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    const uint8_t *bytes = everything_value(e, SOLE, c->value, c->b, 1);
    memcpy(model_resource(m, SOLE)->bytes, bytes, 4);
    everything_says(e, "memcpy(weft_resource_write(world, of[SOLE]), %s, 4);",
                    everything_c_value(e, SOLE, bytes, 1));
    void *value = weft_resource_write(e->here->world, e->here->of[SOLE]);
    if (!everything_equal(e, "weft_resource_write", value != NULL, true)) return;
    memcpy(value, bytes, 4);
    everything_equal(e, "weft_resource_read",
                     weft_resource_read(e->here->world, e->here->of[SOLE]) == value, true);
}

/* The model has the buffer of the world as that of an entity that is none: by hand. */
static void resource_do(everything *e, const everything_call *c, const uint8_t *bytes)
{
    model_value *value = model_resource(&e->here->m, SOLE_LIST);
    uint32_t size = e->here->m.kinds[SOLE_LIST].size, old = value->count, count = old;
    if (c->way == APPEND) count = old + c->size;
    if (c->way == RESIZE || c->way == REPLACE) count = c->size;
    if (c->way == APPEND_OWN) count = 2 * old;
    uint8_t *now = model_memory(&e->here->m, (size_t)(count + old + 1) * size);
    if (old != 0) memcpy(now, value->bytes, (size_t)(old < count ? old : count) * size);
    if (c->way == APPEND) memcpy(now + (size_t)old * size, bytes, (size_t)c->size * size);
    if (c->way == REPLACE) memcpy(now, bytes, (size_t)count * size);
    if (c->way == APPEND_OWN && old != 0)
        memcpy(now + (size_t)old * size, value->bytes, (size_t)old * size);
    if (c->way == WRITE) memcpy(now, bytes, (size_t)(c->size < old ? c->size : old) * size);
    value->bytes = now;
    value->count = value->room = count;
}

static void run_resource_buffer(everything *e, const everything_call *c)
{
    everything_call call = *c;
    call.kind = SOLE_LIST;
    model_value *value = model_resource(&e->here->m, SOLE_LIST);
    if (c->way == APPEND_OWN && value->count > 4096) return;
    const uint8_t *bytes = everything_value(e, SOLE_LIST, c->value, c->b & 0xffffff, c->size);
    const void *elements = everything_weft_value(e, e->here, SOLE_LIST, bytes, c->size);
    resource_do(e, &call, bytes);
    everything_says(e, "weft_buffers b = weft_resource_write_buffer(world, of[SOLE_LIST]);");
    says_do(e, &call, bytes);
    weft_buffers buffers = weft_resource_write_buffer(e->here->world, e->here->of[SOLE_LIST]);
    if (!everything_equal(e, "weft_resource_write_buffer", buffers.count, 1)) return;
    weft_result result = weft_do(&call, &buffers, elements, e->here->m.kinds[SOLE_LIST].size);
    if (!everything_result(e, buffer_ways[c->way], result, WEFT_OK)) return;
    buffers = weft_resource_read_buffer(e->here->world, e->here->of[SOLE_LIST]);
    everything_equal(e, "weft_resource_read_buffer", weft_buffers_length(&buffers, 0),
                     value->count);
}

const everything_op everything_ops_buffers[] = {
    {.name = "buffer",
     .functions = "weft_entity_write_buffer weft_buffers_append weft_buffers_resize "
                  "weft_buffers_reserve weft_buffers_write weft_buffers_read weft_buffers_length",
     .weight = 8,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_is_buffer,
     .ways = buffer_ways,
     .run = run_buffer},
    {.name = "read_buffer",
     .functions = "weft_entity_read_buffer weft_buffers_length",
     .weight = 2,
     .draws = DRAWS_KIND,
     .takes = kind_is_buffer,
     .run = run_read_buffer},
    {.name = "resource",
     .functions = "weft_resource_read weft_resource_write",
     .weight = 1,
     .run = run_resource},
    {.name = "resource_buffer",
     .functions = "weft_resource_read_buffer weft_resource_write_buffer weft_buffers_append "
                  "weft_buffers_resize weft_buffers_reserve weft_buffers_write",
     .weight = 2,
     .draws = DRAWS_SIZE,
     .ways = buffer_ways,
     .run = run_resource_buffer},
    {0},
};
