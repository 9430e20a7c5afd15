/* SPDX-License-Identifier: MIT */
/* py_module.c: the module weft._native: its types, errors, and the arguments of all methods.
 *
 * weft_py_use stands in front of every use of a world: it is what keeps memory safe while views
 * live, another thread steps, or the world is closed. */
#include "py_native.h"

#include <string.h>

PyObject *weft_py_raiser;
PyTypeObject *weft_py_world, *weft_py_query, *weft_py_loop, *weft_py_slice, *weft_py_column,
    *weft_py_snapshot, *weft_py_recorder, *weft_py_scene;

weft_world *weft_py_use(World *self, int how)
{
    if (self->world == NULL) {
        PyErr_SetString(PyExc_ValueError, "the world is closed");
        return NULL;
    }
    if (self->is_stepping) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread steps the world: wait until it is done");
        return NULL;
    }
    if (how == CHANGES && self->views > 0) {
        PyErr_Format(PyExc_BufferError,
                     "%zd view(s) of columns are still alive, and this call could move what they "
                     "show: del the arrays, and what was sliced from them",
                     self->views);
        return NULL;
    }
    return self->world;
}

PyObject *weft_py_fail(World *self, weft_result result)
{
    const char *text = weft_result_text(result), *name = NULL;
    weft_entity entity = {0};
    if (self != NULL && self->world != NULL) {
        const weft_error *last = weft_world_error(self->world);
        if (last->code == result) {
            text = last->text;
            entity = last->entity;
            const weft_component_desc *info =
                last->component.id == 0 ? NULL : weft_component_info(self->world, last->component);
            name = info == NULL ? NULL : info->name;
        }
    }
    if (weft_py_raiser == NULL) {
        PyErr_SetString(PyExc_RuntimeError, text);
        return NULL;
    }
    unsigned long long number = (unsigned long long)entity.version << 32 | entity.index;
    PyObject *made = PyObject_CallFunction(
        weft_py_raiser, "ssKz", weft_result_name(result) + strlen("WEFT_"), text, number, name);
    if (made == NULL) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_DECREF(made);
    return NULL;
}

PyObject *weft_py_done(World *self, weft_result result)
{
    if (result != WEFT_OK) return weft_py_fail(self, result);
    Py_RETURN_NONE;
}

bool weft_py_entity(PyObject *from, weft_entity *out)
{
    if (PyBool_Check(from)) {
        PyErr_SetString(PyExc_TypeError, "an entity is needed, not a bool");
        return false;
    }
    PyObject *index = PyNumber_Index(from); /* integers of NumPy, too */
    if (index == NULL) return false;
    unsigned long long number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return false;
    *out = (weft_entity){.index = (uint32_t)number, .version = (uint32_t)(number >> 32)};
    return true;
}

PyObject *weft_py_entity_number(weft_entity entity)
{
    return PyLong_FromUnsignedLongLong((unsigned long long)entity.version << 32 | entity.index);
}

bool weft_py_component(World *self, PyObject *from, weft_component *out)
{
    unsigned long id = PyLong_AsUnsignedLong(from);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return false;
    *out = (weft_component){.id = id > UINT32_MAX ? 0 : (uint32_t)id};
    if (out->id != 0) {
        weft_component any = weft_component_prefab(self->world); /* has the world's number */
        out->world = any.world;
    }
    if (weft_component_info(self->world, *out) != NULL) return true;
    PyErr_SetString(PyExc_ValueError, "not a component of this world");
    return false;
}

bool weft_py_bytes(PyObject *from, Py_ssize_t bytes, Py_buffer *out)
{
    if (PyObject_GetBuffer(from, out, PyBUF_C_CONTIGUOUS) != 0) return false;
    if (bytes < 0 || out->len == bytes) return true;
    PyErr_Format(PyExc_ValueError, "%zd bytes were given, %zd are needed", out->len, bytes);
    PyBuffer_Release(out);
    return false;
}

size_t weft_py_size(const World *self, weft_component component)
{
    return weft_component_info(self->world, component)->size;
}

uint32_t weft_py_flags(const World *self, weft_component component)
{
    return weft_component_info(self->world, component)->flags;
}

PyObject *weft_py_elements(const weft_buffers *buffers, uint32_t row, size_t size)
{
    uint32_t length = weft_buffers_length(buffers, row);
    const void *elements = length == 0 ? "" : weft_buffers_read(buffers, row);
    return PyByteArray_FromStringAndSize(elements, (Py_ssize_t)(length * size));
}

bool weft_py_is_plain(World *self, weft_component component, uint32_t flags)
{
    const uint32_t others = WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE;
    const weft_component_desc *info = weft_component_info(self->world, component);
    if ((info->flags & others & ~flags) == 0 && info->size > 0) return true;
    PyErr_Format(PyExc_TypeError, "%s has no plain values", info->name);
    return false;
}

void *weft_py_new(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void weft_py_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

bool weft_py_components(World *self, PyObject *list, weft_component **out, uint32_t *count)
{
    Py_ssize_t length = PySequence_Size(list);
    if (length < 0) return false;
    if (length > 4096) {
        PyErr_SetString(PyExc_ValueError, "more than 4,096 components");
        return false;
    }
    *out = PyMem_Calloc((size_t)length + 1, sizeof **out);
    if (*out == NULL) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        bool is_good = item != NULL && weft_py_component(self, item, &(*out)[i]);
        Py_XDECREF(item);
        if (!is_good) {
            PyMem_Free(*out);
            return false;
        }
    }
    *count = (uint32_t)length;
    return true;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (type == NULL || PyModule_AddType(module, type) != 0) return NULL;
    return type;
}

static bool add_types(PyObject *module)
{
    static const struct {
        PyTypeObject **type;
        PyType_Spec *spec;
    } types[] = {
        {&weft_py_world, &weft_py_world_spec},       {&weft_py_query, &weft_py_query_spec},
        {&weft_py_loop, &weft_py_loop_spec},         {&weft_py_slice, &weft_py_slice_spec},
        {&weft_py_column, &weft_py_column_spec},     {&weft_py_snapshot, &weft_py_snapshot_spec},
        {&weft_py_recorder, &weft_py_recorder_spec}, {&weft_py_scene, &weft_py_scene_spec}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((*types[i].type = add_type(module, types[i].spec)) == NULL) return false;
    return true;
}

/* Numbers of C that __init__.py uses by name. */
static bool add_numbers(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } numbers[] = {{"LIBRARY_VERSION", WEFT_VERSION},
                   {"READ", WEFT_READ},
                   {"WRITE", WEFT_WRITE},
                   {"NO_ACCESS", WEFT_NO_ACCESS},
                   {"ALL", WEFT_ALL},
                   {"ANY", WEFT_ANY},
                   {"NONE", WEFT_NONE},
                   {"OPTIONAL", WEFT_OPTIONAL},
                   {"DISABLED", WEFT_DISABLED},
                   {"ENABLEABLE", WEFT_ENABLEABLE},
                   {"RESOURCE", WEFT_RESOURCE},
                   {"SHARED", WEFT_SHARED},
                   {"BUFFER", WEFT_BUFFER},
                   {"CHUNK", WEFT_CHUNK},
                   {"CLEANUP", WEFT_CLEANUP},
                   {"SPARSE", WEFT_SPARSE},
                   {"NOT_HASHED", WEFT_NOT_HASHED},
                   {"NOT_COPIED", WEFT_NOT_COPIED},
#define KIND(name, ...) {#name, WEFT_FIELD_##name},
                   WEFT_FIELD_KINDS(KIND)};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) != 0) return false;
    return true;
}

/* NUMPY: the kind of a field by its type in NumPy, "f4". */
static bool add_kinds(PyObject *module)
{
#define NUMPY(name, word, number, bytes, class, numpy) {numpy, WEFT_FIELD_##name},
    static const struct {
        const char *numpy;
        long kind;
    } rows[] = {WEFT_FIELD_KINDS(NUMPY)};
    PyObject *kinds = PyDict_New();
    bool is_made = kinds != NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && is_made; i++) {
        if (rows[i].numpy[0] == '\0') continue;
        PyObject *kind = PyLong_FromLong(rows[i].kind);
        is_made = kind != NULL && PyDict_SetItemString(kinds, rows[i].numpy, kind) == 0;
        Py_XDECREF(kind);
    }
    is_made = is_made && PyModule_AddObjectRef(module, "NUMPY", kinds) == 0;
    Py_XDECREF(kinds);
    return is_made;
}

/* Who makes exceptions of errors. */
static PyObject *set_raiser(PyObject *module, PyObject *raiser)
{
    (void)module;
    Py_XDECREF(weft_py_raiser);
    weft_py_raiser = Py_NewRef(raiser);
    Py_RETURN_NONE;
}

/* (seed, id, tick, stream, skipped, count): bytes of `count` numbers of 32 bits of
 * weft_random_of, behind the first `skipped`. */
static PyObject *random_numbers(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned long long seed, id;
    unsigned int tick, stream, skipped, count;
    if (!PyArg_ParseTuple(arguments, "KKIIII", &seed, &id, &tick, &stream, &skipped, &count))
        return NULL;
    PyObject *out = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)count * 4);
    if (out == NULL) return NULL;
    weft_random random = weft_random_of(seed, id, tick, (uint16_t)stream);
    random.counter[3] |= skipped / 4 & 0xFFFF;
    for (uint32_t i = 0; i < skipped % 4; i++) (void)weft_random_u32(&random);
    uint32_t *numbers = (uint32_t *)(void *)PyByteArray_AsString(out);
    for (uint32_t i = 0; i < count; i++) numbers[i] = weft_random_u32(&random);
    return out;
}

/* (seed, bytes of ids of 64 bits, tick, stream): bytes of the first number of 32 bits of each. */
static PyObject *random_each(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned long long seed;
    unsigned int tick, stream;
    PyObject *from;
    Py_buffer ids;
    if (!PyArg_ParseTuple(arguments, "KOII", &seed, &from, &tick, &stream) ||
        !weft_py_bytes(from, -1, &ids))
        return NULL;
    PyObject *out = PyByteArray_FromStringAndSize(NULL, ids.len / 8 * 4);
    for (Py_ssize_t i = 0; out != NULL && i < ids.len / 8; i++) {
        uint64_t id;
        memcpy(&id, (const char *)ids.buf + i * 8, sizeof id);
        weft_random random = weft_random_of(seed, id, tick, (uint16_t)stream);
        uint32_t number = weft_random_u32(&random);
        memcpy(PyByteArray_AsString(out) + i * 4, &number, sizeof number);
    }
    PyBuffer_Release(&ids);
    return out;
}

static PyMethodDef functions[] = {
    {"set_raiser", set_raiser, METH_O, NULL},
    {"random_numbers", random_numbers, METH_VARARGS, NULL},
    {"random_each", random_each, METH_VARARGS, NULL},
    {0},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_methods = functions,
    .m_name = "weft._native",
    .m_doc = "The objects behind the package weft.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (!add_types(module) || !add_numbers(module) || !add_kinds(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
