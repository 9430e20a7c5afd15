/* SPDX-License-Identifier: MIT */
/* py_live.c: weft._native.Live: documents that the world follows while they are edited (live.h).
 *
 * A link is one of the world's dependents. Its thread reads and bakes files without Python;
 * `apply` brings what it knows into the world. */
#include "py_native.h"

#ifndef WEFT_SINGLE_FILE
#include <weft/live.h>
#endif

static void live_end(void *handle)
{
    weft_live_stop(handle);
}

/* (paths, is the file's value taken, without a thread). */
PyObject *weft_py_live_start(World *self, PyObject *arguments)
{
    PyObject *list;
    int is_taken, without_thread;
    if (!PyArg_ParseTuple(arguments, "Opp", &list, &is_taken, &without_thread) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    const Py_ssize_t count = PySequence_Size(list);
    if (count < 0) return NULL;
    const char **paths = PyMem_Calloc((size_t)count + 1, sizeof *paths);
    PyObject *kept = PyList_New(0);
    bool is_good = paths != NULL && kept != NULL;
    if (paths == NULL) PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_good && i < count; i++) {
        PyObject *item = PySequence_GetItem(list, i), *bytes = NULL;
        is_good =
            item != NULL && PyUnicode_FSConverter(item, &bytes) && PyList_Append(kept, bytes) == 0;
        if (is_good) paths[i] = PyBytes_AsString(bytes);
        Py_XDECREF(bytes);
        Py_XDECREF(item);
    }
    weft_live *made = NULL;
    weft_result result = WEFT_OK;
    if (is_good) {
        const weft_live_desc desc = {.paths = paths,
                                     .path_count = (uint32_t)count,
                                     .policy = is_taken ? WEFT_LIVE_TAKE : WEFT_LIVE_KEEP,
                                     .without_thread = without_thread};
        result = weft_live_start(self->world, &desc, &made);
    }
    Py_XDECREF(kept);
    PyMem_Free(paths);
    if (made != NULL) return weft_py_keep(self, weft_py_live, made, live_end);
    return PyErr_Occurred() ? NULL : weft_py_fail(self, result);
}

/* The link for a call; NULL with an exception. */
static weft_live *use(Kept *self, int how)
{
    return weft_py_use(self->world, how) == NULL ? NULL : self->dependent->handle;
}

/* (nanoseconds, 0: no bound): what it did. */
static PyObject *live_apply(Kept *self, PyObject *arguments)
{
    unsigned long long budget;
    weft_live *live = use(self, CHANGES);
    weft_live_report r;
    if (live == NULL || !PyArg_ParseTuple(arguments, "K", &budget)) return NULL;
    const weft_result result = weft_live_apply(live, budget, &r, sizeof r);
    if (result != WEFT_OK) return weft_py_fail(self->world, result);
    return Py_BuildValue("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "bakes", r.bakes, "added",
                         r.added, "removed", r.removed, "changed", r.changed, "values", r.values,
                         "conflicts", r.conflicts, "instances", r.instances, "pending", r.pending,
                         "errors", r.errors);
}

static PyObject *live_refresh(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_live *live = use(self, CHANGES);
    return live == NULL ? NULL : weft_py_done(self->world, weft_live_refresh(live));
}

/* The texts of mistakes. */
static PyObject *live_mistakes(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_live *live = use(self, READS);
    if (live == NULL) return NULL;
    const uint32_t count = weft_live_mistakes(live, NULL, 0);
    weft_error *errors = PyMem_Calloc((size_t)count + 1, sizeof *errors);
    if (errors == NULL) return PyErr_NoMemory();
    const uint32_t now = weft_live_mistakes(live, errors, count);
    PyObject *out = PyList_New(0);
    for (uint32_t i = 0; out != NULL && i < count && i < now; i++) {
        PyObject *item = PyUnicode_FromString(errors[i].text);
        if (item == NULL || PyList_Append(out, item) != 0) Py_CLEAR(out);
        Py_XDECREF(item);
    }
    PyMem_Free(errors);
    return out;
}

/* Sentences about the last conflicts, the newest first. */
static PyObject *live_conflicts(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_live *live = use(self, READS);
    PyObject *out = live == NULL ? NULL : PyList_New(0);
    for (uint32_t i = 0; out != NULL; i++) {
        const char *text = weft_live_conflict_at(live, i);
        if (text == NULL) break;
        PyObject *item = PyUnicode_FromString(text);
        if (item == NULL || PyList_Append(out, item) != 0) Py_CLEAR(out);
        Py_XDECREF(item);
    }
    return out;
}

static PyObject *live_entity(Kept *self, PyObject *arguments)
{
    const char *path;
    weft_live *live = use(self, READS);
    if (live == NULL || !PyArg_ParseTuple(arguments, "s", &path)) return NULL;
    return weft_py_entity_number(weft_live_entity(live, path));
}

/* The path of an entity's object, or None. */
static PyObject *live_path(Kept *self, PyObject *number)
{
    weft_entity entity;
    weft_live *live = use(self, READS);
    if (live == NULL || !weft_py_entity(number, &entity)) return NULL;
    const char *path = weft_live_path(live, entity);
    if (path == NULL) Py_RETURN_NONE;
    return PyUnicode_FromString(path);
}

/* (path): a text; empty: there is no such object. */
static PyObject *live_explain(Kept *self, PyObject *arguments)
{
    const char *path;
    weft_live *live = use(self, READS);
    if (live == NULL || !PyArg_ParseTuple(arguments, "s", &path)) return NULL;
    const size_t length = weft_live_explain(live, path, false, NULL, 0);
    char *text = PyMem_Calloc(length + 1, 1);
    if (text == NULL) return PyErr_NoMemory();
    if (length > 0) weft_live_explain(live, path, false, text, length + 1);
    PyObject *out = PyUnicode_FromString(text);
    PyMem_Free(text);
    return out;
}

/* (path, field, JSON). */
static PyObject *live_edit(Kept *self, PyObject *arguments)
{
    const char *path, *field, *json;
    weft_live *live = use(self, CHANGES);
    if (live == NULL || !PyArg_ParseTuple(arguments, "sss", &path, &field, &json)) return NULL;
    return weft_py_done(self->world, weft_live_edit(live, path, field, json));
}

static PyObject *live_undo(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_live *live = use(self, CHANGES);
    return live == NULL ? NULL : weft_py_done(self->world, weft_live_undo(live));
}

static PyMethodDef methods[] = {
    {"apply", (PyCFunction)live_apply, METH_VARARGS, NULL},
    {"refresh", (PyCFunction)live_refresh, METH_NOARGS, NULL},
    {"mistakes", (PyCFunction)live_mistakes, METH_NOARGS, NULL},
    {"conflicts", (PyCFunction)live_conflicts, METH_NOARGS, NULL},
    {"entity", (PyCFunction)live_entity, METH_VARARGS, NULL},
    {"path", (PyCFunction)live_path, METH_O, NULL},
    {"explain", (PyCFunction)live_explain, METH_VARARGS, NULL},
    {"edit", (PyCFunction)live_edit, METH_VARARGS, NULL},
    {"undo", (PyCFunction)live_undo, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot slots[] = {{Py_tp_dealloc, weft_py_kept_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec weft_py_live_spec = {"weft._native.Live", sizeof(Kept), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
