/* SPDX-License-Identifier: MIT */
/* py_entity.c: entities of weft._native.World: create, change, read, destroy.
 *
 * Values come and go as bytes of the size that the component has; weft/__init__.py makes them of
 * what Python knows. One entity is an integer, many are a buffer of 8 bytes each. */
#include "py_native.h"

#include <string.h>

/* ---- create ---- */

typedef struct filling {
    weft_values values[64];
    Py_buffer buffers[64];
    uint32_t count;
} filling;

static void release(filling *from)
{
    for (uint32_t i = 0; i < from->count; i++) PyBuffer_Release(&from->buffers[i]);
}

/* A list of (component, bytes of `rows` values). */
static bool read_values(World *self, PyObject *list, uint32_t rows, filling *out)
{
    Py_ssize_t length = PySequence_Size(list);
    if (length < 0) return false;
    if (length > (Py_ssize_t)(sizeof out->values / sizeof out->values[0])) {
        PyErr_SetString(PyExc_ValueError, "values of more than 64 components");
        return false;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i), *number, *bytes;
        weft_component component;
        Py_buffer *buffer = &out->buffers[out->count];
        bool is_good =
            item != NULL && PyArg_Parse(item, "(OO)", &number, &bytes) &&
            weft_py_component(self, number, &component) && weft_py_is_plain(self, component, 0) &&
            weft_py_bytes(bytes, (Py_ssize_t)(rows * weft_py_size(self, component)), buffer);
        Py_XDECREF(item);
        if (!is_good) return false;
        out->values[out->count++] = (weft_values){component, buffer->buf};
    }
    return true;
}

/* (components, values, count): the entities, as bytes. */
PyObject *weft_py_create(World *self, PyObject *arguments)
{
    PyObject *list, *values, *out = NULL;
    unsigned long count;
    weft_component *components;
    uint32_t component_count;
    if (!PyArg_ParseTuple(arguments, "OOk", &list, &values, &count) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    if (count > UINT32_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "more entities than a world can have");
        return NULL;
    }
    if (!weft_py_components(self, list, &components, &component_count)) return NULL;
    weft_archetype archetype = weft_archetype_create(self->world, components, component_count);
    PyMem_Free(components);
    if (archetype.id == 0) return weft_py_fail(self, weft_world_error(self->world)->code);
    filling from = {.count = 0};
    weft_result result = WEFT_OK;
    if (read_values(self, values, (uint32_t)count, &from) &&
        (out = weft_py_memory((Py_ssize_t)(count * sizeof(weft_entity)))) != NULL && count > 0)
        result = weft_entity_create_filled(self->world, archetype, from.values, from.count,
                                           (uint32_t)count,
                                           (weft_entity *)(void *)PyByteArray_AsString(out));
    release(&from);
    if (result == WEFT_OK) return out;
    Py_XDECREF(out);
    return weft_py_fail(self, result);
}

/* ---- one or many ---- */

bool weft_py_entities(PyObject *from, weft_entity *one, Py_buffer *many, const weft_entity **out,
                      uint32_t *count)
{
    many->obj = NULL;
    *out = one;
    *count = 1;
    if (PyLong_Check(from)) return weft_py_entity(from, one);
    if (!weft_py_bytes(from, -1, many)) return false;
    if (many->len % (Py_ssize_t)sizeof *one != 0 ||
        many->len / (Py_ssize_t)sizeof *one > UINT32_MAX / 2 ||
        (uintptr_t)many->buf % _Alignof(weft_entity) != 0) {
        PyErr_SetString(PyExc_ValueError, "not an array of entities");
        PyBuffer_Release(many);
        return false;
    }
    *out = many->buf;
    *count = (uint32_t)((size_t)many->len / sizeof *one);
    return true;
}

PyObject *weft_py_entity_destroy(World *self, PyObject *from);
PyObject *weft_py_entity_destroy(World *self, PyObject *from)
{
    weft_entity one;
    Py_buffer many;
    const weft_entity *entities;
    uint32_t count;
    if (weft_py_use(self, CHANGES) == NULL ||
        !weft_py_entities(from, &one, &many, &entities, &count))
        return NULL;
    weft_result result = many.obj == NULL ? weft_entity_destroy(self->world, one)
                                          : weft_entity_destroy_many(self->world, entities, count);
    PyBuffer_Release(&many);
    return weft_py_done(self, result);
}

/* (entities, components to add, components to remove). */
PyObject *weft_py_entity_change(World *self, PyObject *arguments);
PyObject *weft_py_entity_change(World *self, PyObject *arguments)
{
    PyObject *from, *add, *remove;
    weft_entity one;
    Py_buffer many;
    const weft_entity *entities;
    uint32_t count;
    weft_component *added, *removed;
    weft_change_desc change = {0};
    if (!PyArg_ParseTuple(arguments, "OOO", &from, &add, &remove) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    if (!weft_py_components(self, add, &added, &change.add_count)) return NULL;
    weft_result result = WEFT_OK;
    if (weft_py_components(self, remove, &removed, &change.remove_count)) {
        if (weft_py_entities(from, &one, &many, &entities, &count)) {
            change.add = added;
            change.remove = removed;
            result = weft_entity_change_many(self->world, entities, count, &change);
            PyBuffer_Release(&many);
        }
        PyMem_Free(removed);
    }
    PyMem_Free(added);
    return PyErr_Occurred() ? NULL : weft_py_done(self, result);
}

/* ---- one entity ---- */

/* (entity, component) of a call; NULL with an exception. */
static weft_world *subject(World *self, PyObject *arguments, int how, weft_entity *entity,
                           weft_component *component)
{
    PyObject *number, *type;
    if (!PyArg_ParseTuple(arguments, "OO", &number, &type) || weft_py_use(self, how) == NULL ||
        !weft_py_entity(number, entity) || !weft_py_component(self, type, component))
        return NULL;
    return self->world;
}

PyObject *weft_py_entity_is_alive(World *self, PyObject *number);
PyObject *weft_py_entity_is_alive(World *self, PyObject *number)
{
    weft_entity entity;
    if (weft_py_use(self, READS) == NULL || !weft_py_entity(number, &entity)) return NULL;
    return PyBool_FromLong(weft_entity_is_alive(self->world, entity));
}

PyObject *weft_py_entity_has(World *self, PyObject *arguments);
PyObject *weft_py_entity_has(World *self, PyObject *arguments)
{
    weft_entity entity;
    weft_component component;
    weft_world *world = subject(self, arguments, READS, &entity, &component);
    return world == NULL ? NULL : PyBool_FromLong(weft_entity_has(world, entity, component));
}

/* A copy of the value; None where there is none. */
PyObject *weft_py_entity_read(World *self, PyObject *arguments);
PyObject *weft_py_entity_read(World *self, PyObject *arguments)
{
    weft_entity entity;
    weft_component component;
    weft_world *world = subject(self, arguments, READS, &entity, &component);
    if (world == NULL || !weft_py_is_plain(self, component, WEFT_SHARED | WEFT_BUFFER)) return NULL;
    if (weft_entity_archetype(world, entity).id == 0) return weft_py_fail(NULL, WEFT_STALE_ENTITY);
    if (!weft_entity_has(world, entity, component)) Py_RETURN_NONE;
    if ((weft_py_flags(self, component) & WEFT_BUFFER) != 0) {
        weft_buffers buffers = weft_entity_read_buffer(world, entity, component);
        return weft_py_elements(&buffers, 0, weft_py_size(self, component));
    }
    const void *value = (weft_py_flags(self, component) & WEFT_SHARED) != 0
                            ? weft_entity_read_shared(world, entity, component)
                            : weft_entity_read(world, entity, component);
    if (value == NULL) Py_RETURN_NONE;
    return PyByteArray_FromStringAndSize(value, (Py_ssize_t)weft_py_size(self, component));
}

/* What is looked up, and where it goes: `size` bytes for each entity, and whether there are any. */
typedef struct finding {
    weft_finder finder;
    const weft_entity *entities;
    uint32_t count;
    char *to, *is_found;
} finding;

/* Zero where there is none. Inline: `size` is a constant in each call but one. */
static inline void find_each(const finding *from, size_t size)
{
    weft_finder finder = from->finder;
    char *to = from->to;
    for (uint32_t i = 0; i < from->count; i++, to += size) {
        const void *value = weft_finder_read(&finder, from->entities[i]);
        from->is_found[i] = value != NULL;
        if (value != NULL)
            memcpy(to, value, size);
        else
            memset(to, 0, size);
    }
}

/* (entities, component): bytes of a value each, zero where there is none, and a byte each: whether
 * there is one. */
PyObject *weft_py_entity_look_up(World *self, PyObject *arguments);
PyObject *weft_py_entity_look_up(World *self, PyObject *arguments)
{
    PyObject *from, *type, *values, *found;
    weft_entity one;
    weft_component component;
    Py_buffer many;
    const weft_entity *entities;
    uint32_t count;
    if (!PyArg_ParseTuple(arguments, "OO", &from, &type) || weft_py_use(self, READS) == NULL ||
        !weft_py_component(self, type, &component) || !weft_py_is_plain(self, component, 0) ||
        !weft_py_entities(from, &one, &many, &entities, &count))
        return NULL;
    const size_t size = weft_py_size(self, component);
    values = weft_py_memory((Py_ssize_t)(count * size));
    found = weft_py_memory((Py_ssize_t)count);
    if (values != NULL && found != NULL) {
        const finding wanted = {weft_finder_open(self->world, component), entities, count,
                                PyByteArray_AsString(values), PyByteArray_AsString(found)};
        if (size == 8)
            find_each(&wanted, 8);
        else if (size == 4)
            find_each(&wanted, 4);
        else
            find_each(&wanted, size);
    }
    PyBuffer_Release(&many);
    if (values != NULL && found != NULL) return Py_BuildValue("(NN)", values, found);
    Py_XDECREF(values);
    Py_XDECREF(found);
    return NULL;
}

/* (entity, component, bytes). */
PyObject *weft_py_entity_set(World *self, PyObject *arguments);
PyObject *weft_py_entity_set(World *self, PyObject *arguments)
{
    PyObject *number, *type, *bytes;
    weft_entity entity;
    weft_component component;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(arguments, "OOO", &number, &type, &bytes) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_entity(number, &entity) ||
        !weft_py_component(self, type, &component) || !weft_py_is_plain(self, component, 0) ||
        !weft_py_bytes(bytes, (Py_ssize_t)weft_py_size(self, component), &buffer))
        return NULL;
    weft_result result =
        weft_entity_set(self->world, entity, component, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    return weft_py_done(self, result);
}

/* (entities, component, bytes of a value each). */
PyObject *weft_py_entity_set_many(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_many(World *self, PyObject *arguments)
{
    PyObject *from, *type, *bytes;
    weft_entity one;
    weft_component component;
    const weft_entity *entities;
    uint32_t count;
    Py_buffer many, values;
    if (!PyArg_ParseTuple(arguments, "OOO", &from, &type, &bytes) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_component(self, type, &component) ||
        !weft_py_is_plain(self, component, 0) ||
        !weft_py_entities(from, &one, &many, &entities, &count))
        return NULL;
    weft_result result = WEFT_OK;
    const size_t size = weft_py_size(self, component);
    if (weft_py_bytes(bytes, (Py_ssize_t)(count * size), &values)) {
        result = weft_entity_set_many(self->world, entities, count, component, values.buf, size);
        PyBuffer_Release(&values);
    }
    PyBuffer_Release(&many);
    return PyErr_Occurred() ? NULL : weft_py_done(self, result);
}

/* (entity, component, enabled). */
PyObject *weft_py_entity_enable(World *self, PyObject *arguments);
PyObject *weft_py_entity_enable(World *self, PyObject *arguments)
{
    PyObject *number, *type;
    int enabled;
    weft_entity entity;
    weft_component component;
    if (!PyArg_ParseTuple(arguments, "OOp", &number, &type, &enabled) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_entity(number, &entity) ||
        !weft_py_component(self, type, &component))
        return NULL;
    return weft_py_done(self, weft_entity_enable(self->world, entity, component, enabled));
}

PyObject *weft_py_entity_is_enabled(World *self, PyObject *arguments);
PyObject *weft_py_entity_is_enabled(World *self, PyObject *arguments)
{
    weft_entity entity;
    weft_component component;
    weft_world *world = subject(self, arguments, READS, &entity, &component);
    return world == NULL ? NULL : PyBool_FromLong(weft_entity_is_enabled(world, entity, component));
}

/* (entities, component, bytes of a value). */
PyObject *weft_py_entity_set_shared(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_shared(World *self, PyObject *arguments)
{
    PyObject *from, *type, *bytes;
    weft_entity one;
    weft_component component;
    const weft_entity *entities;
    uint32_t count;
    Py_buffer many, value;
    if (!PyArg_ParseTuple(arguments, "OOO", &from, &type, &bytes) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_component(self, type, &component) ||
        !weft_py_bytes(bytes, (Py_ssize_t)weft_py_size(self, component), &value))
        return NULL;
    weft_result result = WEFT_OK;
    if (weft_py_entities(from, &one, &many, &entities, &count)) {
        result = weft_entity_set_shared_many(self->world, entities, count, component, value.buf);
        PyBuffer_Release(&many);
    }
    PyBuffer_Release(&value);
    return PyErr_Occurred() ? NULL : weft_py_done(self, result);
}

/* (entity, component, bytes of elements, is appended). The component is added where absent. */
PyObject *weft_py_entity_set_buffer(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_buffer(World *self, PyObject *arguments)
{
    PyObject *number, *type, *bytes;
    int is_appended;
    weft_entity entity;
    weft_component component;
    Py_buffer from;
    if (!PyArg_ParseTuple(arguments, "OOOp", &number, &type, &bytes, &is_appended) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_entity(number, &entity) ||
        !weft_py_component(self, type, &component) ||
        !weft_py_is_plain(self, component, WEFT_BUFFER) || !weft_py_bytes(bytes, -1, &from))
        return NULL;
    weft_result result = WEFT_OK;
    if (!weft_entity_has(self->world, entity, component))
        result = weft_entity_add(self->world, entity, component);
    if (result == WEFT_OK) {
        weft_buffers buffers = weft_entity_write_buffer(self->world, entity, component);
        result = buffers.count == 0
                     ? weft_world_error(self->world)->code
                     : weft_py_elements_write(&buffers, 0, &from, weft_py_size(self, component),
                                              is_appended ? WEFT_PY_APPEND : WEFT_PY_REPLACE);
    }
    PyBuffer_Release(&from);
    return weft_py_done(self, result);
}
