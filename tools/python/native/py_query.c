/* SPDX-License-Identifier: MIT */
/* py_query.c: queries, loops, slices, and columns, which export memory of the world.
 *
 * A column's memory stays as it is while its loop is open, because the library refuses structural
 * changes then, and afterwards as long as a view lives, because weft_py_use refuses them. */
#include "py_native.h"

#include <string.h>

static weft_world *use(World *world, int how)
{
    return weft_py_use(world, how);
}

/* ---- queries ---- */

/* One term: (component, access, match). */
static bool read_term(World *self, PyObject *item, weft_term *out)
{
    PyObject *component;
    unsigned int access, match;
    if (item == NULL || !PyArg_Parse(item, "(OII)", &component, &access, &match)) return false;
    *out = (weft_term){.access = (weft_access)access, .match = (weft_match)match};
    return weft_py_component(self, component, &out->component);
}

bool weft_py_terms(World *self, PyObject *list, weft_query_desc *desc, weft_term **owned)
{
    *owned = NULL;
    Py_ssize_t length = PySequence_Size(list);
    if (length < 0) return false;
    if (length > 1024) {
        PyErr_SetString(PyExc_ValueError, "more than 1,024 terms");
        return false;
    }
    *owned = PyMem_Calloc((size_t)length + 1, sizeof **owned);
    if (*owned == NULL) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        bool is_good = read_term(self, item, &(*owned)[i]);
        Py_XDECREF(item);
        if (!is_good) {
            PyMem_Free(*owned);
            *owned = NULL;
            return false;
        }
    }
    desc->more_terms = *owned;
    desc->more_term_count = (uint32_t)length;
    return true;
}

/* (terms, with prefabs, with inactive ones, ignores enable bits). */
PyObject *weft_py_query_create(World *self, PyObject *arguments)
{
    PyObject *list;
    int with_prefabs, with_inactive, ignores_enabled;
    if (!PyArg_ParseTuple(arguments, "Oppp", &list, &with_prefabs, &with_inactive,
                          &ignores_enabled) ||
        use(self, CHANGES) == NULL)
        return NULL;
    weft_query_desc desc = {.with_prefabs = with_prefabs,
                            .with_inactive = with_inactive,
                            .ignores_enabled = ignores_enabled};
    weft_term *terms;
    if (!weft_py_terms(self, list, &desc, &terms)) return NULL;
    weft_query query = weft_query_create(self->world, &desc);
    if (query.id == 0) {
        PyMem_Free(terms);
        return weft_py_fail(self, weft_world_error(self->world)->code);
    }
    Query *made = weft_py_new(weft_py_query);
    if (made == NULL) {
        PyMem_Free(terms);
        (void)weft_query_destroy(self->world, query);
        return NULL;
    }
    made->world = (World *)Py_NewRef((PyObject *)self);
    made->query = query;
    made->terms = terms;
    made->term_count = desc.more_term_count;
    return (PyObject *)made;
}

static void query_dealloc(Query *self)
{
    World *world = self->world;
    if (world != NULL && world->world != NULL && !world->is_stepping)
        (void)weft_query_destroy(world->world, self->query);
    Py_XDECREF((PyObject *)world);
    PyMem_Free(self->terms);
    weft_py_free((PyObject *)self);
}

static PyObject *query_count(Query *self, PyObject *unused)
{
    (void)unused;
    if (use(self->world, READS) == NULL) return NULL;
    return PyLong_FromUnsignedLongLong(weft_query_count(self->world->world, self->query));
}

/* As bytes, 8 for each entity. */
static PyObject *query_entities(Query *self, PyObject *unused)
{
    (void)unused;
    weft_world *world = use(self->world, READS);
    if (world == NULL) return NULL;
    uint64_t count = weft_query_count(world, self->query);
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(weft_entity)));
    if (out != NULL)
        weft_query_entities(world, self->query, (weft_entity *)(void *)PyBytes_AsString(out),
                            count);
    return out;
}

static PyObject *query_read_values(Query *self, PyObject *argument)
{
    weft_component component;
    weft_world *world = use(self->world, READS);
    if (world == NULL || !weft_py_component(self->world, argument, &component)) return NULL;
    if (!weft_py_is_plain(self->world, component, 0)) return NULL;
    uint64_t count = weft_query_count(world, self->query);
    Py_ssize_t size = (Py_ssize_t)weft_py_size(self->world, component);
    PyObject *out = weft_py_memory((Py_ssize_t)count * size);
    if (out == NULL) return NULL;
    weft_world_error_clear(world);
    weft_query_read_values(world, self->query, component, PyByteArray_AsString(out), count);
    weft_result result = weft_world_error(world)->code;
    if (result == WEFT_OK) return out;
    Py_DECREF(out);
    return weft_py_fail(self->world, result);
}

/* How many rows of a slice are enabled: those that are copied. */
static uint32_t enabled_count(const weft_slice *slice)
{
    uint32_t begin = 0, end = 0, count = 0;
    while (weft_slice_next_run(slice, &begin, &end)) count += end - begin;
    return count;
}

/* Fills `to` with the shared value of each row that is enabled. */
static void spread_shared(Query *self, weft_component component, size_t size, char *to)
{
    uint32_t term = 0;
    while (term < self->term_count && self->terms[term].component.id != component.id) term++;
    weft_cursor cursor = weft_query_begin(self->world->world, self->query);
    while (weft_query_next(&cursor)) {
        const void *value = weft_slice_read_shared(&cursor.slice, term);
        const size_t bytes = enabled_count(&cursor.slice) * size;
        size_t done = bytes < size ? bytes : size;
        if (value != NULL)
            memcpy(to, value, done);
        else
            memset(to, 0, done);
        for (size_t more; done < bytes; done += more) {
            more = done < bytes - done ? done : bytes - done;
            memcpy(to + done, to, more);
        }
        to += bytes;
    }
    weft_query_end(&cursor);
}

/* (component, or None: the entities; a bytearray or None): a value of each row, of a shared
 * component, too, in the bytearray, which gets their size, or in a new one. */
static PyObject *query_rows(Query *self, PyObject *arguments)
{
    PyObject *number, *into;
    weft_component component = {0};
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "OO", &number, &into)) return NULL;
    if (!Py_IsNone(number) && (!weft_py_component(self->world, number, &component) ||
                               !weft_py_is_plain(self->world, component, WEFT_SHARED)))
        return NULL;
    const uint64_t count = weft_query_count(world, self->query);
    const size_t size =
        component.id == 0 ? sizeof(weft_entity) : weft_py_size(self->world, component);
    const Py_ssize_t bytes = (Py_ssize_t)(count * size);
    PyObject *out = PyByteArray_Check(into) ? Py_NewRef(into) : weft_py_memory(bytes);
    if (out == NULL) return NULL;
    if (PyByteArray_Size(out) != bytes && PyByteArray_Resize(out, bytes) != 0) {
        Py_DECREF(out);
        return NULL;
    }
    char *to = PyByteArray_AsString(out);
    weft_world_error_clear(world);
    if (component.id == 0)
        weft_query_entities(world, self->query, (weft_entity *)(void *)to, count);
    else if ((weft_py_flags(self->world, component) & WEFT_SHARED) != 0)
        spread_shared(self, component, size, to);
    else
        weft_query_read_values(world, self->query, component, to, count);
    weft_result result = weft_world_error(world)->code;
    if (result == WEFT_OK) return out;
    Py_DECREF(out);
    return weft_py_fail(self->world, result);
}

/* How many enabled rows each slice has, as bytes of 4 each. */
static PyObject *query_lengths(Query *self, PyObject *unused)
{
    (void)unused;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL) return NULL;
    PyObject *out = PyByteArray_FromStringAndSize(NULL, 0);
    weft_cursor cursor = weft_query_begin(world, self->query);
    while (out != NULL && weft_query_next(&cursor)) {
        const Py_ssize_t end = PyByteArray_Size(out);
        const uint32_t count = enabled_count(&cursor.slice);
        if (PyByteArray_Resize(out, end + (Py_ssize_t)sizeof count) != 0)
            Py_CLEAR(out);
        else
            memcpy(PyByteArray_AsString(out) + end, &count, sizeof count);
    }
    weft_query_end(&cursor);
    return out;
}

static PyObject *query_write_values(Query *self, PyObject *arguments)
{
    PyObject *number, *values;
    weft_component component;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "OO", &number, &values)) return NULL;
    if (!weft_py_component(self->world, number, &component)) return NULL;
    if (!weft_py_is_plain(self->world, component, 0)) return NULL;
    uint64_t count = weft_query_count(world, self->query);
    Py_buffer buffer;
    if (!weft_py_bytes(values, (Py_ssize_t)count * (Py_ssize_t)weft_py_size(self->world, component),
                       &buffer))
        return NULL;
    weft_result result = weft_query_write_values(world, self->query, component, buffer.buf, count);
    PyBuffer_Release(&buffer);
    return weft_py_done(self->world, result);
}

/* (component, since): slices in which it changed after that version; without: no filters. */
static PyObject *query_filter_changed(Query *self, PyObject *arguments)
{
    PyObject *number = NULL;
    unsigned int since = 0;
    weft_component component;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "|OI", &number, &since)) return NULL;
    if (number == NULL)
        return weft_py_done(self->world, weft_query_filter_reset(world, self->query));
    if (!weft_py_component(self->world, number, &component)) return NULL;
    return weft_py_done(self->world,
                        weft_query_filter_changed(world, self->query, component, since));
}

/* (since): slices in which rows came, left or moved. */
static PyObject *query_filter_order(Query *self, PyObject *arguments)
{
    unsigned int since;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "I", &since)) return NULL;
    return weft_py_done(self->world, weft_query_filter_order(world, self->query, since));
}

/* (component, op, bytes of values): a condition on a shared component. */
static PyObject *query_filter_shared(Query *self, PyObject *arguments)
{
    PyObject *number, *from;
    unsigned int op;
    weft_component component;
    Py_buffer values;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "OIO", &number, &op, &from) ||
        !weft_py_component(self->world, number, &component) ||
        !weft_py_is_plain(self->world, component, WEFT_SHARED) || !weft_py_bytes(from, -1, &values))
        return NULL;
    const size_t count = (size_t)values.len / weft_py_size(self->world, component);
    weft_result result = weft_query_filter_shared(world, self->query, component, (weft_filter_op)op,
                                                  values.buf, (uint32_t)count);
    PyBuffer_Release(&values);
    return weft_py_done(self->world, result);
}

static PyObject *query_matches(Query *self, PyObject *number)
{
    weft_entity entity;
    weft_world *world = use(self->world, READS);
    if (world == NULL || !weft_py_entity(number, &entity)) return NULL;
    return PyBool_FromLong(weft_query_matches(world, self->query, entity));
}

static PyObject *query_is_empty(Query *self, PyObject *unused)
{
    (void)unused;
    weft_world *world = use(self->world, READS);
    return world == NULL ? NULL : PyBool_FromLong(weft_query_is_empty(world, self->query));
}

/* The one entity; raises where there is none, or there are several. */
static PyObject *query_single(Query *self, PyObject *unused)
{
    (void)unused;
    weft_world *world = use(self->world, READS);
    if (world == NULL) return NULL;
    const weft_entity found = weft_query_single(world, self->query);
    if (!weft_entity_is_null(found)) return weft_py_entity_number(found);
    return weft_py_fail(self->world, weft_world_error(world)->code);
}

static PyObject *query_begin(Query *self, PyObject *arguments)
{
    float dt;
    weft_world *world = use(self->world, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "f", &dt)) return NULL;
    Loop *loop = weft_py_new(weft_py_loop);
    if (loop == NULL) return NULL;
    weft_world_error_clear(world);
    loop->cursor = weft_query_begin(world, self->query);
    weft_result result = weft_world_error(world)->code;
    if (result != WEFT_OK) {
        weft_query_end(&loop->cursor);
        Py_DECREF((PyObject *)loop);
        return weft_py_fail(self->world, result);
    }
    loop->query = (Query *)Py_NewRef((PyObject *)self);
    loop->is_open = 1;
    loop->dt = dt;
    self->world->loops++;
    return (PyObject *)loop;
}

static PyMethodDef query_methods[] = {
    {"count", (PyCFunction)query_count, METH_NOARGS, NULL},
    {"entities", (PyCFunction)query_entities, METH_NOARGS, NULL},
    {"read_values", (PyCFunction)query_read_values, METH_O, NULL},
    {"rows", (PyCFunction)query_rows, METH_VARARGS, NULL},
    {"lengths", (PyCFunction)query_lengths, METH_NOARGS, NULL},
    {"write_values", (PyCFunction)query_write_values, METH_VARARGS, NULL},
    {"filter_changed", (PyCFunction)query_filter_changed, METH_VARARGS, NULL},
    {"filter_order", (PyCFunction)query_filter_order, METH_VARARGS, NULL},
    {"filter_shared", (PyCFunction)query_filter_shared, METH_VARARGS, NULL},
    {"matches", (PyCFunction)query_matches, METH_O, NULL},
    {"is_empty", (PyCFunction)query_is_empty, METH_NOARGS, NULL},
    {"single", (PyCFunction)query_single, METH_NOARGS, NULL},
    {"change", (PyCFunction)weft_py_query_change, METH_VARARGS, NULL},
    {"set", (PyCFunction)weft_py_query_set, METH_VARARGS, NULL},
    {"enable", (PyCFunction)weft_py_query_enable, METH_VARARGS, NULL},
    {"destroy", (PyCFunction)weft_py_query_destroy, METH_NOARGS, NULL},
    {"begin", (PyCFunction)query_begin, METH_VARARGS, NULL},
    {0},
};
static PyType_Slot query_slots[] = {
    {Py_tp_dealloc, query_dealloc}, {Py_tp_methods, query_methods}, {0}};
PyType_Spec weft_py_query_spec = {"weft._native.Query", sizeof(Query), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  query_slots};

/* ---- loops ---- */

static void close_loop(Loop *self)
{
    if (!self->is_open) return;
    self->is_open = 0;
    self->position++;
    weft_query_end(&self->cursor);
    World *world = self->query->world;
    if (--world->loops == 0 && !world->is_stepping) weft_py_end_dependents(world, true);
}

static void loop_dealloc(Loop *self)
{
    if (self->query != NULL) close_loop(self);
    Py_XDECREF((PyObject *)self->query);
    weft_py_free((PyObject *)self);
}

/* The next slice, or None at the end, which closes the loop. */
static PyObject *loop_next(Loop *self, PyObject *unused)
{
    (void)unused;
    if (!self->is_open) Py_RETURN_NONE;
    if (use(self->query->world, READS) == NULL) return NULL;
    if (!weft_query_next(&self->cursor)) {
        close_loop(self);
        Py_RETURN_NONE;
    }
    self->position++;
    Slice *slice = weft_py_new(weft_py_slice);
    if (slice == NULL) return NULL;
    slice->loop = (Loop *)Py_NewRef((PyObject *)self);
    slice->position = self->position;
    return (PyObject *)slice;
}

/* Ends the loop; how many views of its columns live. */
static PyObject *loop_end(Loop *self, PyObject *unused)
{
    (void)unused;
    close_loop(self);
    return PyLong_FromSsize_t(self->views);
}

static PyMethodDef loop_methods[] = {
    {"next", (PyCFunction)loop_next, METH_NOARGS, NULL},
    {"end", (PyCFunction)loop_end, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot loop_slots[] = {
    {Py_tp_dealloc, loop_dealloc}, {Py_tp_methods, loop_methods}, {0}};
PyType_Spec weft_py_loop_spec = {"weft._native.Loop", sizeof(Loop), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 loop_slots};

/* ---- slices ---- */

static void slice_dealloc(Slice *self)
{
    Py_XDECREF((PyObject *)self->loop);
    weft_py_free((PyObject *)self);
}

static const weft_slice *current(Slice *self)
{
    Loop *loop = self->loop;
    if (loop->is_open && loop->position == self->position) return &loop->cursor.slice;
    PyErr_SetString(PyExc_BufferError, "the slice has ended: the loop went on, or is over");
    return NULL;
}

static PyObject *slice_count(Slice *self, PyObject *unused)
{
    (void)unused;
    const weft_slice *slice = current(self);
    return slice == NULL ? NULL : PyLong_FromUnsignedLong(slice->count);
}

static PyObject *slice_dt(Slice *self, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble((double)self->loop->dt);
}

/* A copy. */
static PyObject *slice_entities(Slice *self, PyObject *unused)
{
    (void)unused;
    const weft_slice *slice = current(self);
    if (slice == NULL) return NULL;
    return PyBytes_FromStringAndSize((const char *)(const void *)slice->entities,
                                     (Py_ssize_t)(slice->count * sizeof *slice->entities));
}

/* One byte for each row, or None: all are enabled. */
static PyObject *slice_enabled(Slice *self, PyObject *unused)
{
    (void)unused;
    const weft_slice *slice = current(self);
    if (slice == NULL) return NULL;
    if (slice->enabled == NULL) Py_RETURN_NONE;
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)slice->count);
    if (out == NULL) return NULL;
    char *bytes = PyBytes_AsString(out);
    for (uint32_t i = 0; i < slice->count; i++)
        bytes[i] = (char)(slice->enabled[i / 64] >> (i % 64) & 1);
    return out;
}

/* Of a term: a Column, or None where the slice has none. */
static PyObject *slice_column(Slice *self, PyObject *arguments)
{
    unsigned int term;
    const weft_slice *slice = current(self);
    Query *query = self->loop->query;
    if (slice == NULL || !PyArg_ParseTuple(arguments, "I", &term)) return NULL;
    if (use(query->world, READS) == NULL) return NULL;
    if (term >= query->term_count || query->terms[term].access == WEFT_NO_ACCESS) {
        PyErr_SetString(PyExc_IndexError, "no such term");
        return NULL;
    }
    weft_component component = query->terms[term].component;
    if (!weft_py_is_plain(query->world, component, 0)) return NULL;
    bool is_writable = query->terms[term].access == WEFT_WRITE;
    const void *memory = is_writable ? weft_slice_write(slice, term) : weft_slice_read(slice, term);
    if (memory == NULL) Py_RETURN_NONE;
    Column *column = weft_py_new(weft_py_column);
    if (column == NULL) return NULL;
    column->loop = (Loop *)Py_NewRef((PyObject *)self->loop);
    column->memory = (void *)(uintptr_t)memory;
    column->bytes = (Py_ssize_t)(slice->count * weft_py_size(query->world, component));
    column->is_writable = is_writable;
    column->position = self->position;
    return (PyObject *)column;
}

/* The component of a term of a call, for reading or writing; false with an exception. */
static bool read_place(Slice *self, unsigned int term, bool is_written, weft_component *out)
{
    Query *query = self->loop->query;
    if (use(query->world, READS) == NULL) return false;
    if (term >= query->term_count || query->terms[term].access == WEFT_NO_ACCESS) {
        PyErr_SetString(PyExc_IndexError, "no such term");
        return false;
    }
    *out = query->terms[term].component;
    if (!is_written || query->terms[term].access == WEFT_WRITE) return true;
    PyErr_Format(PyExc_ValueError, "%s is in `read` of the query, not in `write`",
                 weft_component_info(query->world->world, *out)->name);
    return false;
}

/* Of a SHARED or CHUNK component: bytes of the one value of the rows, or None. Of a SPARSE one:
 * bytes of each row, zero where it is absent. Of a BUFFER: a list of bytes of elements. */
static PyObject *slice_values(Slice *self, PyObject *arguments)
{
    unsigned int term;
    weft_component component;
    const weft_slice *slice = current(self);
    if (slice == NULL || !PyArg_ParseTuple(arguments, "I", &term) ||
        !read_place(self, term, false, &component))
        return NULL;
    World *world = self->loop->query->world;
    const uint32_t flags = weft_py_flags(world, component);
    const size_t size = weft_py_size(world, component);
    if ((flags & (WEFT_SHARED | WEFT_CHUNK)) != 0) {
        const void *value = (flags & WEFT_SHARED) != 0 ? weft_slice_read_shared(slice, term)
                                                       : weft_slice_read_chunk(slice, term);
        if (value == NULL) Py_RETURN_NONE;
        return PyByteArray_FromStringAndSize(value, (Py_ssize_t)size);
    }
    if ((flags & WEFT_BUFFER) != 0) {
        weft_buffers buffers = weft_slice_read_buffers(slice, term);
        if (buffers.count == 0) Py_RETURN_NONE;
        PyObject *out = PyList_New((Py_ssize_t)buffers.count);
        for (uint32_t i = 0; out != NULL && i < buffers.count; i++) {
            PyObject *row = weft_py_elements(&buffers, i, size);
            if (row == NULL || PyList_SetItem(out, (Py_ssize_t)i, row) != 0) Py_CLEAR(out);
        }
        return out;
    }
    PyObject *out = weft_py_memory((Py_ssize_t)(slice->count * size));
    if (out == NULL) return NULL;
    char *to = PyByteArray_AsString(out);
    for (uint32_t i = 0; i < slice->count; i++) {
        const void *value = weft_slice_read_row(slice, term, i);
        if (value != NULL)
            memcpy(to + i * size, value, size);
        else
            memset(to + i * size, 0, size);
    }
    return out;
}

/* Elements of one row of a BUFFER: room for them, or the elements. */
static weft_result write_row(const weft_buffers *buffers, uint32_t row, PyObject *from, size_t size,
                             bool is_room)
{
    Py_buffer bytes;
    if (from == NULL || !weft_py_bytes(from, -1, &bytes)) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft_py_elements_write(buffers, row, &bytes, size,
                                                is_room ? WEFT_PY_ROOM : WEFT_PY_REPLACE);
    PyBuffer_Release(&bytes);
    return result;
}

/* All rows, or, where memory runs out, none. */
static PyObject *write_rows(World *world, const weft_slice *slice, uint32_t term, PyObject *list,
                            size_t size)
{
    weft_buffers buffers = weft_slice_write_buffers(slice, term);
    if (PySequence_Size(list) != (Py_ssize_t)buffers.count) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "not one list for each row");
        return NULL;
    }
    for (uint32_t i = 0; i < buffers.count * 2; i++) {
        PyObject *item = PySequence_GetItem(list, (Py_ssize_t)(i % buffers.count));
        weft_result result = write_row(&buffers, i % buffers.count, item, size, i < buffers.count);
        Py_XDECREF(item);
        if (result != WEFT_OK) return PyErr_Occurred() ? NULL : weft_py_fail(world, result);
    }
    Py_RETURN_NONE;
}

/* (term, values as slice_values gives them). */
static PyObject *slice_set_values(Slice *self, PyObject *arguments)
{
    unsigned int term;
    PyObject *from;
    weft_component component;
    Py_buffer bytes;
    const weft_slice *slice = current(self);
    if (slice == NULL || !PyArg_ParseTuple(arguments, "IO", &term, &from) ||
        !read_place(self, term, true, &component))
        return NULL;
    World *world = self->loop->query->world;
    const uint32_t flags = weft_py_flags(world, component);
    const size_t size = weft_py_size(world, component);
    if ((flags & WEFT_BUFFER) != 0) return write_rows(world, slice, term, from, size);
    const uint32_t rows = (flags & WEFT_CHUNK) != 0 ? 1 : slice->count;
    if (!weft_py_bytes(from, (Py_ssize_t)(rows * size), &bytes)) return NULL;
    for (uint32_t i = 0; i < rows; i++) {
        void *value = (flags & WEFT_CHUNK) != 0 ? weft_slice_write_chunk(slice, term)
                                                : weft_slice_write_row(slice, term, i);
        if (value != NULL) memcpy(value, (const char *)bytes.buf + i * size, size);
    }
    PyBuffer_Release(&bytes);
    Py_RETURN_NONE;
}

static PyMethodDef slice_methods[] = {
    {"count", (PyCFunction)slice_count, METH_NOARGS, NULL},
    {"dt", (PyCFunction)slice_dt, METH_NOARGS, NULL},
    {"entities", (PyCFunction)slice_entities, METH_NOARGS, NULL},
    {"enabled", (PyCFunction)slice_enabled, METH_NOARGS, NULL},
    {"column", (PyCFunction)slice_column, METH_VARARGS, NULL},
    {"values", (PyCFunction)slice_values, METH_VARARGS, NULL},
    {"set_values", (PyCFunction)slice_set_values, METH_VARARGS, NULL},
    {0},
};
static PyType_Slot slice_slots[] = {
    {Py_tp_dealloc, slice_dealloc}, {Py_tp_methods, slice_methods}, {0}};
PyType_Spec weft_py_slice_spec = {"weft._native.Slice", sizeof(Slice), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  slice_slots};

/* ---- columns ---- */

static int column_export(Column *self, Py_buffer *view, int flags)
{
    Loop *loop = self->loop;
    if (!loop->is_open || loop->position != self->position) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the slice of this column has ended");
        return -1;
    }
    if (PyBuffer_FillInfo(view, (PyObject *)self, self->memory, self->bytes, !self->is_writable,
                          flags) != 0)
        return -1;
    loop->views++;
    loop->query->world->views++;
    return 0;
}

static void column_release(Column *self, Py_buffer *view)
{
    (void)view;
    self->loop->views--;
    self->loop->query->world->views--;
}

static void column_dealloc(Column *self)
{
    Py_XDECREF((PyObject *)self->loop);
    weft_py_free((PyObject *)self);
}

static PyType_Slot column_slots[] = {{Py_tp_dealloc, column_dealloc},
                                     {Py_bf_getbuffer, column_export},
                                     {Py_bf_releasebuffer, column_release},
                                     {0}};
PyType_Spec weft_py_column_spec = {"weft._native.Column", sizeof(Column), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   column_slots};
