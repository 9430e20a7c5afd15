/* SPDX-License-Identifier: MIT */
/* py_scene.c: weft._native.Scene: documents that become entities (libweft-scene).
 *
 * A scene ends before its world: it is one of the world's dependents. Documents have components of
 * the world as layers; bakers of Python there are none, for they would run on every worker. */
#include "py_native.h"

#ifndef WEFT_SINGLE_FILE
#include <weft/scene.h>
#endif

#include <string.h>

static void scene_end(void *handle)
{
    weft_scene_destroy(handle);
}

PyObject *weft_py_scene_create(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    weft_scene *scene;
    weft_result result = weft_scene_create(self->world, &(weft_scene_desc){0}, &scene);
    if (result != WEFT_OK) return weft_py_fail(self, result);
    return weft_py_keep(self, weft_py_scene, scene, scene_end);
}

/* The scene for a call; NULL with an exception. */
static weft_scene *use(Kept *self, int how)
{
    return weft_py_use(self->world, how) == NULL ? NULL : self->dependent->handle;
}

/* (paths): None, or a list of (path of the object, text) of mistakes. */
static PyObject *scene_bake(Kept *self, PyObject *list)
{
    weft_scene *scene = use(self, CHANGES);
    Py_ssize_t count = scene == NULL ? -1 : PySequence_Size(list);
    if (count < 0) return NULL;
    const char **paths = PyMem_Calloc((size_t)count + 1, sizeof *paths);
    PyObject **kept = PyMem_Calloc((size_t)count + 1, sizeof *kept);
    bool is_good = paths != NULL && kept != NULL;
    for (Py_ssize_t i = 0; is_good && i < count; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        is_good = item != NULL && PyUnicode_FSConverter(item, &kept[i]);
        Py_XDECREF(item);
        if (is_good) paths[i] = PyBytes_AsString(kept[i]);
    }
    weft_result result = WEFT_OK;
    if (is_good) result = weft_scene_bake(scene, paths, (uint32_t)count);
    for (Py_ssize_t i = 0; kept != NULL && i < count; i++) Py_XDECREF(kept[i]);
    PyMem_Free(kept);
    PyMem_Free(paths);
    if (!is_good) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    uint32_t wrong = weft_scene_mistakes(scene, NULL, 0);
    if (result == WEFT_OK || wrong == 0) return weft_py_done(self->world, result);
    weft_error *errors = PyMem_Calloc(wrong, sizeof *errors);
    if (errors == NULL) return PyErr_NoMemory();
    weft_scene_mistakes(scene, errors, wrong);
    PyObject *out = PyList_New(0);
    for (uint32_t i = 0; out != NULL && i < wrong; i++) {
        PyObject *item = Py_BuildValue("(ss)", errors[i].path, errors[i].text);
        if (item == NULL || PyList_Append(out, item) != 0) Py_CLEAR(out);
        Py_XDECREF(item);
    }
    PyMem_Free(errors);
    return out;
}

static PyObject *scene_fill(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_scene *scene = use(self, CHANGES);
    if (scene == NULL) return NULL;
    return weft_py_done(self->world, weft_scene_fill(scene, self->world->world));
}

static PyObject *scene_entity(Kept *self, PyObject *arguments)
{
    const char *path;
    weft_scene *scene = use(self, READS);
    if (scene == NULL || !PyArg_ParseTuple(arguments, "s", &path)) return NULL;
    return weft_py_entity_number(weft_scene_entity(scene, path));
}

static PyObject *scene_is_stale(Kept *self, PyObject *unused)
{
    (void)unused;
    weft_scene *scene = use(self, READS);
    return scene == NULL ? NULL : PyBool_FromLong(weft_scene_is_stale(scene));
}

static PyMethodDef methods[] = {
    {"bake", (PyCFunction)scene_bake, METH_O, NULL},
    {"fill", (PyCFunction)scene_fill, METH_NOARGS, NULL},
    {"entity", (PyCFunction)scene_entity, METH_VARARGS, NULL},
    {"is_stale", (PyCFunction)scene_is_stale, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot slots[] = {{Py_tp_dealloc, weft_py_kept_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec weft_py_scene_spec = {"weft._native.Scene", sizeof(Kept), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
