/* SPDX-License-Identifier: MIT */
/* py_all.c: changes of all rows that a query selects: made now (weft._native.Query), or recorded
 * (weft._native.Recorder) and made with the rows that it selects then. */
#include "py_native.h"

/* ---- now ---- */

static weft_world *use(Query *self)
{
    return weft_py_use(self->world, CHANGES);
}

/* (component, is added). */
PyObject *weft_py_query_change(Query *self, PyObject *arguments)
{
    PyObject *number;
    int is_added;
    weft_component component;
    weft_world *world = use(self);
    if (world == NULL || !PyArg_ParseTuple(arguments, "Op", &number, &is_added) ||
        !weft_py_component(self->world, number, &component))
        return NULL;
    return weft_py_done(self->world, is_added ? weft_query_add(world, self->query, component)
                                              : weft_query_remove(world, self->query, component));
}

/* (component, bytes of a value): plain or shared. */
PyObject *weft_py_query_set(Query *self, PyObject *arguments)
{
    PyObject *number, *bytes;
    weft_component component;
    Py_buffer value;
    weft_world *world = use(self);
    if (world == NULL || !PyArg_ParseTuple(arguments, "OO", &number, &bytes) ||
        !weft_py_component(self->world, number, &component) ||
        !weft_py_is_plain(self->world, component, WEFT_SHARED))
        return NULL;
    const size_t size = weft_py_size(self->world, component);
    if (!weft_py_bytes(bytes, (Py_ssize_t)size, &value)) return NULL;
    weft_result result = (weft_py_flags(self->world, component) & WEFT_SHARED) != 0
                             ? weft_query_set_shared(world, self->query, component, value.buf)
                             : weft_query_set(world, self->query, component, value.buf, size);
    PyBuffer_Release(&value);
    return weft_py_done(self->world, result);
}

/* (component, enabled). */
PyObject *weft_py_query_enable(Query *self, PyObject *arguments)
{
    PyObject *number;
    int is_enabled;
    weft_component component;
    weft_world *world = use(self);
    if (world == NULL || !PyArg_ParseTuple(arguments, "Op", &number, &is_enabled) ||
        !weft_py_component(self->world, number, &component))
        return NULL;
    return weft_py_done(self->world, weft_query_enable(world, self->query, component, is_enabled));
}

PyObject *weft_py_query_destroy(Query *self, PyObject *unused)
{
    (void)unused;
    weft_world *world = use(self);
    if (world == NULL) return NULL;
    return weft_py_done(self->world, weft_query_destroy_entities(world, self->query));
}

/* ---- recorded ---- */

/* The recorder for a call about a query of its world; NULL with an exception. */
static weft_recorder *use_recorder(Kept *self, PyObject *of)
{
    if (weft_py_use(self->world, READS) == NULL) return NULL;
    if (PyObject_TypeCheck(of, weft_py_query) && ((Query *)of)->world == self->world)
        return self->dependent->handle;
    PyErr_SetString(PyExc_ValueError, "a query of the same world is needed");
    return NULL;
}

/* (query, component, is added). */
PyObject *weft_py_recorder_query_change(Kept *self, PyObject *arguments)
{
    PyObject *of, *number;
    int is_added;
    weft_component component;
    if (!PyArg_ParseTuple(arguments, "OOp", &of, &number, &is_added)) return NULL;
    weft_recorder *recorder = use_recorder(self, of);
    if (recorder == NULL || !weft_py_component(self->world, number, &component)) return NULL;
    const weft_query query = ((Query *)of)->query;
    return weft_py_done(self->world, is_added
                                         ? weft_recorder_query_add(recorder, query, component)
                                         : weft_recorder_query_remove(recorder, query, component));
}

/* (query, component, bytes of a shared value). */
PyObject *weft_py_recorder_query_set(Kept *self, PyObject *arguments)
{
    PyObject *of, *number, *bytes;
    weft_component component;
    Py_buffer value;
    if (!PyArg_ParseTuple(arguments, "OOO", &of, &number, &bytes)) return NULL;
    weft_recorder *recorder = use_recorder(self, of);
    if (recorder == NULL || !weft_py_component(self->world, number, &component) ||
        !weft_py_bytes(bytes, (Py_ssize_t)weft_py_size(self->world, component), &value))
        return NULL;
    weft_result result =
        weft_recorder_query_set_shared(recorder, ((Query *)of)->query, component, value.buf);
    PyBuffer_Release(&value);
    return weft_py_done(self->world, result);
}

/* (query, component, enabled). */
PyObject *weft_py_recorder_query_enable(Kept *self, PyObject *arguments)
{
    PyObject *of, *number;
    int is_enabled;
    weft_component component;
    if (!PyArg_ParseTuple(arguments, "OOp", &of, &number, &is_enabled)) return NULL;
    weft_recorder *recorder = use_recorder(self, of);
    if (recorder == NULL || !weft_py_component(self->world, number, &component)) return NULL;
    return weft_py_done(self->world, weft_recorder_query_enable(recorder, ((Query *)of)->query,
                                                                component, is_enabled));
}

PyObject *weft_py_recorder_query_destroy(Kept *self, PyObject *of)
{
    weft_recorder *recorder = use_recorder(self, of);
    if (recorder == NULL) return NULL;
    return weft_py_done(self->world,
                        weft_recorder_query_destroy_entities(recorder, ((Query *)of)->query));
}
