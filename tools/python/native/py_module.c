/* SPDX-License-Identifier: MIT */
/* py_module.c: the module weft._native: its types, errors, and the arguments of all methods.
 *
 * weft_py_use stands in front of every use of a world: it is what keeps memory safe while views
 * live, another thread steps, or the world is closed. */
#include "py_native.h"

#include <string.h>

PyObject *weft_py_raiser;
PyTypeObject *weft_py_world, *weft_py_query, *weft_py_loop, *weft_py_slice, *weft_py_column,
    *weft_py_snapshot, *weft_py_recorder, *weft_py_scene, *weft_py_grid, *weft_py_grid_array,
    *weft_py_sum, *weft_py_live;

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

PyObject *weft_py_raise(weft_result result, const char *text, weft_entity entity, const char *name)
{
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
    return weft_py_raise(result, text, entity, name);
}

PyObject *weft_py_done(World *self, weft_result result)
{
    if (result != WEFT_OK) return weft_py_fail(self, result);
    Py_RETURN_NONE;
}

int weft_py_u32(PyObject *from, void *out)
{
    PyObject *index = PyBool_Check(from) ? NULL : PyNumber_Index(from);
    if (index == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a whole number is needed, not a bool");
    const unsigned long number = index == NULL ? 0 : PyLong_AsUnsignedLong(index);
    Py_XDECREF(index);
    const bool is_wide = number > UINT32_MAX && !PyErr_Occurred();
    if (is_wide) PyErr_Format(PyExc_OverflowError, "%lu does not fit 32 bits", number);
    if (PyErr_Occurred()) return 0;
    *(uint32_t *)out = (uint32_t)number;
    return 1;
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

PyObject *weft_py_memory(Py_ssize_t bytes)
{
    PyObject *made = PyByteArray_FromStringAndSize("", 0);
    if (made == NULL || PyByteArray_Resize(made, bytes) == 0) return made;
    Py_DECREF(made);
    return NULL;
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

weft_result weft_py_elements_write(const weft_buffers *buffers, uint32_t row, const Py_buffer *from,
                                   size_t size, int how)
{
    const size_t count = (size_t)from->len / size;
    if (count > UINT32_MAX) return WEFT_LIMIT;
    weft_result result = WEFT_OK;
    if (how != WEFT_PY_APPEND && count > weft_buffers_length(buffers, row))
        result = weft_buffers_reserve(buffers, row, (uint32_t)count);
    if (how == WEFT_PY_REPLACE && result == WEFT_OK) result = weft_buffers_resize(buffers, row, 0);
    if (how == WEFT_PY_ROOM || result != WEFT_OK || count == 0) return result;
    return weft_buffers_append(buffers, row, from->buf, (uint32_t)count);
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
    *out = NULL;
    *count = 0;
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
            *out = NULL;
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
    } types[] = {{&weft_py_world, &weft_py_world_spec},
                 {&weft_py_query, &weft_py_query_spec},
                 {&weft_py_loop, &weft_py_loop_spec},
                 {&weft_py_slice, &weft_py_slice_spec},
                 {&weft_py_column, &weft_py_column_spec},
                 {&weft_py_snapshot, &weft_py_snapshot_spec},
                 {&weft_py_recorder, &weft_py_recorder_spec},
                 {&weft_py_scene, &weft_py_scene_spec},
                 {&weft_py_grid, &weft_py_grid_spec},
                 {&weft_py_grid_array, &weft_py_grid_array_spec},
                 {&weft_py_sum, &weft_py_sum_spec},
                 {&weft_py_live, &weft_py_live_spec}};
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
                   {"SERIAL", WEFT_SYSTEM_SERIAL},
                   {"JOBS", WEFT_SYSTEM_JOBS},
                   {"ALL", WEFT_ALL},
                   {"ANY", WEFT_ANY},
                   {"NONE", WEFT_NONE},
                   {"OPTIONAL", WEFT_OPTIONAL},
                   {"DISABLED", WEFT_DISABLED},
                   {"ABSENT", WEFT_ABSENT},
                   {"PRESENT", WEFT_PRESENT},
                   {"FILTER_EQUAL", WEFT_FILTER_EQUAL},
                   {"FILTER_NOT_EQUAL", WEFT_FILTER_NOT_EQUAL},
                   {"FILTER_ONE_OF", WEFT_FILTER_ONE_OF},
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

/* (seed, bytes of ids of 64 bits, tick, stream): bytes of a generator for each id. */
static PyObject *random_of(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned long long seed;
    unsigned int tick, stream;
    PyObject *from;
    Py_buffer ids;
    if (!PyArg_ParseTuple(arguments, "KOII", &seed, &from, &tick, &stream) ||
        !weft_py_bytes(from, -1, &ids))
        return NULL;
    const Py_ssize_t count = ids.len / (Py_ssize_t)sizeof(uint64_t);
    PyObject *out = weft_py_memory(count * (Py_ssize_t)sizeof(weft_random));
    for (Py_ssize_t i = 0; out != NULL && i < count; i++) {
        uint64_t id;
        memcpy(&id, (const char *)ids.buf + (size_t)i * sizeof id, sizeof id);
        const weft_random random = weft_random_of(seed, id, tick, (uint16_t)stream);
        memcpy(PyByteArray_AsString(out) + (size_t)i * sizeof random, &random, sizeof random);
    }
    PyBuffer_Release(&ids);
    return out;
}

/* The kinds of numbers, as _random.py has them. */
enum { U32, U64, FLOAT, DOUBLE, BELOW, NORMAL };
static const size_t number_bytes[] = {4, 8, 4, 8, 4, 8};

/* The next number of a kind, as bytes. */
static void draw(weft_random *random, unsigned int kind, uint32_t limit, void *out)
{
    uint32_t narrow;
    uint64_t wide;
    float single;
    double number;
    switch (kind) {
    case U32:
        narrow = weft_random_u32(random), memcpy(out, &narrow, sizeof narrow);
        break;
    case U64:
        wide = weft_random_u64(random), memcpy(out, &wide, sizeof wide);
        break;
    case FLOAT:
        single = weft_random_float(random), memcpy(out, &single, sizeof single);
        break;
    case DOUBLE:
        number = weft_random_double(random), memcpy(out, &number, sizeof number);
        break;
    case BELOW:
        narrow = weft_random_below(random, limit);
        memcpy(out, &narrow, sizeof narrow);
        break;
    default:
        number = weft_random_normal(random), memcpy(out, &number, sizeof number);
        break;
    }
}

/* (generators, kind, limit, count): bytes of the next `count` numbers of each. */
static PyObject *random_draw(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned int kind, limit, count;
    PyObject *states;
    if (!PyArg_ParseTuple(arguments, "O!III", &PyByteArray_Type, &states, &kind, &limit, &count))
        return NULL;
    if (kind > NORMAL) {
        PyErr_SetString(PyExc_ValueError, "no such kind of number");
        return NULL;
    }
    const size_t size = number_bytes[kind];
    const size_t generators = (size_t)PyByteArray_Size(states) / sizeof(weft_random);
    PyObject *out = weft_py_memory((Py_ssize_t)(generators * count * size));
    if (out == NULL) return NULL;
    char *to = PyByteArray_AsString(out), *at = PyByteArray_AsString(states);
    for (size_t i = 0; i < generators; i++, at += sizeof(weft_random)) {
        weft_random random;
        memcpy(&random, at, sizeof random);
        for (unsigned int k = 0; k < count; k++, to += size) draw(&random, kind, limit, to);
        memcpy(at, &random, sizeof random);
    }
    return out;
}

static PyMethodDef functions[] = {
    {"set_raiser", set_raiser, METH_O, NULL},
    {"random_of", random_of, METH_VARARGS, NULL},
    {"random_draw", random_draw, METH_VARARGS, NULL},
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
