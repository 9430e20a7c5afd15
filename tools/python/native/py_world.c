/* SPDX-License-Identifier: MIT */
/* py_world.c: weft._native.World: its life, its components, steps, names, files, figures.
 *
 * A world ends by close(), or with the last object that refers to it: queries, loops, snapshots and
 * recorders do, and views of columns by their loop. */
#include "py_native.h"

#include <string.h>

/* ---- life ---- */

static PyObject *world_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char first[] = "workers";
    static char *names[] = {first, NULL};
    uint32_t workers = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O&", names, weft_py_u32, &workers))
        return NULL;
    World *self = weft_py_new(type);
    if (self == NULL) return NULL;
    weft_result result = weft_world_create(&(weft_world_desc){.workers = workers}, &self->world);
    if (result == WEFT_OK) {
        self->empty = weft_archetype_create(self->world, NULL, 0);
        return (PyObject *)self;
    }
    Py_DECREF((PyObject *)self);
    return weft_py_fail(NULL, result);
}

static void end_world(World *self)
{
    weft_py_end_dependents(self, false);
    weft_world_destroy(self->world);
    self->world = NULL;
    weft_py_told_free(self);
    weft_py_types_free(self->types);
    self->types = NULL;
}

static void world_dealloc(World *self)
{
    if (self->world != NULL) end_world(self); /* what refers to it keeps it alive */
    weft_py_free((PyObject *)self);
}

static PyObject *world_close(World *self, PyObject *unused)
{
    (void)unused;
    if (self->world == NULL) Py_RETURN_NONE;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    if (self->loops > 0) {
        PyErr_SetString(PyExc_BufferError, "a loop over the world is open: end it first");
        return NULL;
    }
    end_world(self);
    Py_RETURN_NONE;
}

static PyObject *world_views(World *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self->views);
}

/* ---- components ---- */

/* A description that a component has: its memory, and that of the enums of its fields. */
typedef struct type_memory {
    struct type_memory *next;
    PyObject *list; /* the texts live in its items */
    weft_type type;
    weft_type enums[];
} type_memory;

void weft_py_types_free(type_memory *types)
{
    for (type_memory *next; types != NULL; types = next) {
        next = types->next;
        for (uint32_t i = 0; i < types->type.field_count; i++)
            PyMem_Free((void *)(uintptr_t)types->enums[i].constants);
        PyMem_Free((void *)(uintptr_t)types->type.fields);
        Py_XDECREF(types->list);
        PyMem_Free(types);
    }
}

/* ((name, value), ...) of an enum. */
static bool read_constants(PyObject *list, uint32_t bytes, weft_type *out)
{
    Py_ssize_t count = PyTuple_Size(list);
    if (count < 0) return false;
    weft_constant *constants = PyMem_Calloc((size_t)count + 1, sizeof *constants);
    if (constants == NULL) return PyErr_NoMemory(), false;
    *out = (weft_type){.name = "enum",
                       .size = bytes,
                       .alignment = bytes,
                       .constants = constants,
                       .constant_count = (uint32_t)count};
    for (Py_ssize_t i = 0; i < count; i++) {
        long long value;
        if (!PyArg_Parse(PyTuple_GetItem(list, i), "(sL)", &constants[i].name, &value))
            return false;
        constants[i].value = value;
    }
    return true;
}

static type_memory *read_type(const char *name, size_t size, size_t alignment, PyObject *list);

/* (name, size, alignment, fields) of a struct in a struct, which goes behind `in`. */
static bool read_nested(PyObject *item, weft_field *out, type_memory *in)
{
    const char *name;
    unsigned long long size, alignment;
    PyObject *fields;
    if (!PyArg_Parse(item, "(sKKO!)", &name, &size, &alignment, &PyTuple_Type, &fields))
        return false;
    type_memory *made = read_type(name, (size_t)size, (size_t)alignment, fields), *last = made;
    if (made == NULL) return false;
    while (last->next != NULL) last = last->next;
    last->next = in->next;
    in->next = made;
    out->type = &made->type;
    return true;
}

/* (name, kind, offset, count, bytes of one, unit, text, least, most, constants, a struct, or
 * None). */
static bool read_field(PyObject *item, weft_field *out, weft_type *constants, type_memory *in)
{
    unsigned int kind, offset, count, bytes;
    PyObject *list;
    *out = (weft_field){0};
    if (!PyArg_Parse(item, "(sIIIIzzddO)", &out->name, &kind, &offset, &count, &bytes, &out->unit,
                     &out->text, &out->least, &out->most, &list))
        return false;
    out->kind = (weft_field_kind)kind;
    out->offset = offset;
    out->count = count;
    out->bytes = bytes * count;
    if (Py_IsNone(list)) return true;
    if (out->kind == WEFT_FIELD_STRUCT) return read_nested(list, out, in);
    out->type = constants;
    return read_constants(list, bytes, constants);
}

/* The description of fields; NULL with an exception. `name` lives in `list`, too. */
static type_memory *read_type(const char *name, size_t size, size_t alignment, PyObject *list)
{
    Py_ssize_t count = PyTuple_Size(list);
    if (count < 0) return NULL;
    if (count > WEFT_TYPE_FIELDS) {
        PyErr_SetString(PyExc_ValueError, "a component has at most 1,024 fields");
        return NULL;
    }
    type_memory *made = PyMem_Calloc(1, sizeof *made + (size_t)count * sizeof made->enums[0]);
    weft_field *fields = made == NULL ? NULL : PyMem_Calloc((size_t)count + 1, sizeof *fields);
    if (fields == NULL) {
        PyMem_Free(made);
        PyErr_NoMemory();
        return NULL;
    }
    made->list = Py_NewRef(list);
    made->type = (weft_type){.name = name,
                             .size = size,
                             .alignment = alignment,
                             .fields = fields,
                             .field_count = (uint32_t)count};
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_field(PyTuple_GetItem(list, i), &fields[i], &made->enums[i], made)) continue;
        weft_py_types_free(made);
        return NULL;
    }
    return made;
}

/* (name, size, alignment, flags, fields): its number. */
PyObject *weft_py_component_create(World *self, PyObject *arguments)
{
    PyObject *list, *text;
    unsigned long long size, alignment;
    unsigned int flags;
    if (!PyArg_ParseTuple(arguments, "UKKIO!", &text, &size, &alignment, &flags, &PyTuple_Type,
                          &list) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    if (size > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a component has less than 4 GiB");
        return NULL;
    }
    PyObject *kept = PyTuple_Pack(2, text, list);
    Py_ssize_t length;
    const char *name = kept == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &length);
    if (name != NULL && strlen(name) != (size_t)length) {
        PyErr_SetString(PyExc_ValueError, "a name has no NUL");
        name = NULL;
    }
    type_memory *type = name == NULL ? NULL : read_type(name, size, alignment, list);
    if (type == NULL) {
        Py_XDECREF(kept);
        return NULL;
    }
    Py_DECREF(type->list);
    type->list = kept;
    weft_component_desc desc = {
        .name = name, .size = (size_t)size, .alignment = (size_t)alignment, .flags = flags};
    if (type->type.field_count > 0) desc.type = &type->type;
    weft_component made = weft_component_create(self->world, &desc);
    weft_result result = made.id == 0 ? weft_world_error(self->world)->code : WEFT_OK;
    if (made.id != 0 && weft_component_type(self->world, made) == &type->type) {
        type_memory *last = type;
        while (last->next != NULL) last = last->next;
        last->next = self->types;
        self->types = type;
    } else {
        weft_py_types_free(type);
    }
    return made.id == 0 ? weft_py_fail(self, result) : PyLong_FromUnsignedLong(made.id);
}

/* The number of a component that a file brought, or None. */
static PyObject *world_component_find(World *self, PyObject *arguments)
{
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name) || weft_py_use(self, READS) == NULL) return NULL;
    weft_component found = weft_component_find(self->world, name);
    if (found.id == 0) Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(found.id);
}

static PyObject *world_resource_read(World *self, PyObject *number)
{
    weft_component component;
    if (weft_py_use(self, READS) == NULL || !weft_py_component(self, number, &component))
        return NULL;
    const uint32_t flags = weft_py_flags(self, component);
    if ((flags & WEFT_RESOURCE) == 0) {
        PyErr_Format(PyExc_TypeError, "%s is not a resource",
                     weft_component_info(self->world, component)->name);
        return NULL;
    }
    if ((flags & WEFT_BUFFER) != 0) {
        const weft_buffers buffers = weft_resource_read_buffer(self->world, component);
        return weft_py_elements(&buffers, 0, weft_py_size(self, component));
    }
    const void *value = weft_resource_read(self->world, component);
    if (value == NULL) return weft_py_fail(self, weft_world_error(self->world)->code);
    return PyByteArray_FromStringAndSize(value, (Py_ssize_t)weft_py_size(self, component));
}

static PyObject *world_resource_write(World *self, PyObject *arguments)
{
    PyObject *number, *bytes;
    weft_component component;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(arguments, "OO", &number, &bytes) || weft_py_use(self, READS) == NULL ||
        !weft_py_component(self, number, &component) ||
        !weft_py_is_plain(self, component, WEFT_RESOURCE) ||
        !weft_py_bytes(bytes, (Py_ssize_t)weft_py_size(self, component), &buffer))
        return NULL;
    void *value = weft_resource_write(self->world, component);
    if (value != NULL) memcpy(value, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    if (value == NULL) return weft_py_fail(self, weft_world_error(self->world)->code);
    Py_RETURN_NONE;
}

/* (component, bytes of elements, is appended): a resource that is a buffer. */
static PyObject *world_resource_write_buffer(World *self, PyObject *arguments)
{
    PyObject *number, *bytes;
    int is_appended;
    weft_component component;
    Py_buffer from;
    if (!PyArg_ParseTuple(arguments, "OOp", &number, &bytes, &is_appended) ||
        weft_py_use(self, READS) == NULL || !weft_py_component(self, number, &component) ||
        !weft_py_is_plain(self, component, WEFT_RESOURCE | WEFT_BUFFER) ||
        !weft_py_bytes(bytes, -1, &from))
        return NULL;
    const weft_buffers buffers = weft_resource_write_buffer(self->world, component);
    const int how = is_appended ? WEFT_PY_APPEND : WEFT_PY_REPLACE;
    weft_result result =
        buffers.count == 0
            ? weft_world_error(self->world)->code
            : weft_py_elements_write(&buffers, 0, &from, weft_py_size(self, component), how);
    PyBuffer_Release(&from);
    return weft_py_done(self, result);
}

/* ---- steps ---- */

/* (dt): raises what `step` would refuse, before a system of Python runs. */
static PyObject *world_step_check(World *self, PyObject *arguments)
{
    float dt;
    if (!PyArg_ParseTuple(arguments, "f", &dt) || weft_py_use(self, CHANGES) == NULL) return NULL;
    if (self->loops > 0) return weft_py_fail(NULL, WEFT_WRONG_PHASE);
    Py_RETURN_NONE;
}

static PyObject *world_step(World *self, PyObject *arguments)
{
    float dt;
    if (!PyArg_ParseTuple(arguments, "f", &dt) || weft_py_use(self, CHANGES) == NULL) return NULL;
    if (self->loops > 0) return weft_py_fail(NULL, WEFT_WRONG_PHASE); /* it could end meanwhile */
    weft_result result;
    self->is_stepping = 1;
    Py_BEGIN_ALLOW_THREADS result = weft_world_step(self->world, dt);
    Py_END_ALLOW_THREADS self->is_stepping = 0;
    weft_py_end_dependents(self, true);
    return weft_py_done(self, result);
}

/* Raises the change version by one; the old one, for filters. */
static PyObject *world_advance_version(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    return PyLong_FromUnsignedLong(weft_world_advance_change_version(self->world));
}

static PyObject *world_frame(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    weft_frame frame = weft_world_frame(self->world);
    return Py_BuildValue("(Kdd)", (unsigned long long)frame.number, frame.time, (double)frame.dt);
}

/* ---- names ---- */

static PyObject *world_set_name(World *self, PyObject *arguments)
{
    PyObject *number;
    const char *text;
    int is_unique;
    weft_entity entity;
    if (!PyArg_ParseTuple(arguments, "Osp", &number, &text, &is_unique) ||
        weft_py_use(self, CHANGES) == NULL || !weft_py_entity(number, &entity))
        return NULL;
    return weft_py_done(self, (is_unique ? weft_entity_set_name_unique
                                         : weft_entity_set_name)(self->world, entity, text));
}

static PyObject *world_name(World *self, PyObject *number)
{
    weft_entity entity;
    if (weft_py_use(self, READS) == NULL || !weft_py_entity(number, &entity)) return NULL;
    const char *name = weft_entity_name(self->world, entity);
    return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace"); /* cut after 63 bytes */
}

static PyObject *world_find(World *self, PyObject *arguments)
{
    const char *text;
    if (!PyArg_ParseTuple(arguments, "s", &text) || weft_py_use(self, READS) == NULL) return NULL;
    weft_entity found = weft_entity_find(self->world, text);
    if (weft_entity_is_null(found)) Py_RETURN_NONE;
    return weft_py_entity_number(found);
}

/* ---- files ---- */

static PyObject *world_save(World *self, PyObject *arguments)
{
    PyObject *path;
    if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path)) return NULL;
    weft_result result = WEFT_OK;
    if (weft_py_use(self, CHANGES) != NULL)
        result = weft_world_save(self->world, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    return PyErr_Occurred() ? NULL : weft_py_done(self, result);
}

static PyObject *world_load(World *self, PyObject *arguments)
{
    PyObject *path;
    if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path)) return NULL;
    weft_result result = WEFT_OK;
    if (weft_py_use(self, CHANGES) != NULL)
        result = weft_world_load(self->world, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    return PyErr_Occurred() ? NULL : weft_py_done(self, result);
}

static PyObject *world_save_bytes(World *self, PyObject *unused)
{
    (void)unused;
    weft_world_bytes bytes;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    weft_result result = weft_world_save_memory(self->world, &bytes, NULL);
    if (result != WEFT_OK) return weft_py_fail(self, result);
    PyObject *out = PyBytes_FromStringAndSize(bytes.bytes, (Py_ssize_t)bytes.count);
    weft_world_bytes_free(self->world, &bytes);
    return out;
}

static PyObject *world_load_bytes(World *self, PyObject *from)
{
    Py_buffer buffer;
    if (weft_py_use(self, CHANGES) == NULL || !weft_py_bytes(from, -1, &buffer)) return NULL;
    weft_result result = weft_world_load_memory(self->world, buffer.buf, (size_t)buffer.len, NULL);
    PyBuffer_Release(&buffer);
    return weft_py_done(self, result);
}

/* ---- figures ---- */

static PyObject *world_hash(World *self, PyObject *arguments)
{
    int is_content = 0;
    if (!PyArg_ParseTuple(arguments, "|p", &is_content) || weft_py_use(self, READS) == NULL)
        return NULL;
    uint64_t hash = weft_world_hash(self->world, is_content ? WEFT_HASH_CONTENT : WEFT_HASH_LAYOUT);
    return PyLong_FromUnsignedLongLong(hash);
}

static PyObject *world_validate(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    return weft_py_done(self, weft_world_validate(self->world));
}

PyObject *weft_py_entity_destroy(World *self, PyObject *entities);
PyObject *weft_py_entity_is_alive(World *self, PyObject *number);
PyObject *weft_py_entity_has(World *self, PyObject *arguments);
PyObject *weft_py_entity_read(World *self, PyObject *arguments);
PyObject *weft_py_entity_look_up(World *self, PyObject *arguments);
PyObject *weft_py_entity_set(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_many(World *self, PyObject *arguments);
PyObject *weft_py_entity_change(World *self, PyObject *arguments);
PyObject *weft_py_entity_enable(World *self, PyObject *arguments);
PyObject *weft_py_entity_is_enabled(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_shared(World *self, PyObject *arguments);
PyObject *weft_py_entity_set_buffer(World *self, PyObject *arguments);

static PyMethodDef methods[] = {
    {"close", (PyCFunction)world_close, METH_NOARGS, NULL},
    {"views", (PyCFunction)world_views, METH_NOARGS, NULL},
    {"component", (PyCFunction)weft_py_component_create, METH_VARARGS, NULL},
    {"component_find", (PyCFunction)world_component_find, METH_VARARGS, NULL},
    {"resource_read", (PyCFunction)world_resource_read, METH_O, NULL},
    {"resource_write", (PyCFunction)world_resource_write, METH_VARARGS, NULL},
    {"resource_write_buffer", (PyCFunction)world_resource_write_buffer, METH_VARARGS, NULL},
    {"create", (PyCFunction)weft_py_create, METH_VARARGS, NULL},
    {"destroy", (PyCFunction)weft_py_entity_destroy, METH_O, NULL},
    {"is_alive", (PyCFunction)weft_py_entity_is_alive, METH_O, NULL},
    {"has", (PyCFunction)weft_py_entity_has, METH_VARARGS, NULL},
    {"read", (PyCFunction)weft_py_entity_read, METH_VARARGS, NULL},
    {"look_up", (PyCFunction)weft_py_entity_look_up, METH_VARARGS, NULL},
    {"set", (PyCFunction)weft_py_entity_set, METH_VARARGS, NULL},
    {"change", (PyCFunction)weft_py_entity_change, METH_VARARGS, NULL},
    {"enable", (PyCFunction)weft_py_entity_enable, METH_VARARGS, NULL},
    {"set_name", (PyCFunction)world_set_name, METH_VARARGS, NULL},
    {"name", (PyCFunction)world_name, METH_O, NULL},
    {"find", (PyCFunction)world_find, METH_VARARGS, NULL},
    {"query", (PyCFunction)weft_py_query_create, METH_VARARGS, NULL},
    {"system_load", (PyCFunction)weft_py_system_load, METH_VARARGS, NULL},
    {"recorder", (PyCFunction)weft_py_recorder_create, METH_NOARGS, NULL},
    {"snapshot", (PyCFunction)weft_py_snapshot_take, METH_VARARGS, NULL},
    {"restore", (PyCFunction)weft_py_snapshot_restore, METH_VARARGS, NULL},
    {"step", (PyCFunction)world_step, METH_VARARGS, NULL},
    {"step_check", (PyCFunction)world_step_check, METH_VARARGS, NULL},
    {"advance_version", (PyCFunction)world_advance_version, METH_NOARGS, NULL},
    {"set_shared", (PyCFunction)weft_py_entity_set_shared, METH_VARARGS, NULL},
    {"set_buffer", (PyCFunction)weft_py_entity_set_buffer, METH_VARARGS, NULL},
    {"is_enabled", (PyCFunction)weft_py_entity_is_enabled, METH_VARARGS, NULL},
    {"frame", (PyCFunction)world_frame, METH_NOARGS, NULL},
    {"save", (PyCFunction)world_save, METH_VARARGS, NULL},
    {"load", (PyCFunction)world_load, METH_VARARGS, NULL},
    {"save_bytes", (PyCFunction)world_save_bytes, METH_NOARGS, NULL},
    {"load_bytes", (PyCFunction)world_load_bytes, METH_O, NULL},
    {"hash", (PyCFunction)world_hash, METH_VARARGS, NULL},
    {"validate", (PyCFunction)world_validate, METH_NOARGS, NULL},
    {"stats", (PyCFunction)weft_py_world_stats, METH_NOARGS, NULL},
    {"frame_stats", (PyCFunction)weft_py_frame_stats, METH_NOARGS, NULL},
    {"compact", (PyCFunction)weft_py_compact, METH_VARARGS, NULL},
    {"clear_references", (PyCFunction)weft_py_clear_references, METH_NOARGS, NULL},
    {"archetypes", (PyCFunction)weft_py_archetypes, METH_NOARGS, NULL},
    {"systems", (PyCFunction)weft_py_systems, METH_NOARGS, NULL},
    {"system_enable", (PyCFunction)weft_py_system_enable, METH_VARARGS, NULL},
    {"system_remove", (PyCFunction)weft_py_system_remove, METH_VARARGS, NULL},
    {"schedule_set", (PyCFunction)weft_py_schedule_set, METH_VARARGS, NULL},
    {"schedule_text", (PyCFunction)weft_py_schedule_text, METH_VARARGS, NULL},
    {"search", (PyCFunction)weft_py_search, METH_VARARGS, NULL},
    {"shared_values", (PyCFunction)weft_py_shared_values, METH_O, NULL},
    {"relation_stats", (PyCFunction)weft_py_relation_stats, METH_O, NULL},
    {"depth_component", (PyCFunction)weft_py_depth_component, METH_O, NULL},
    {"builtin", (PyCFunction)weft_py_builtin, METH_VARARGS, NULL},
    {"relation_declare", (PyCFunction)weft_py_relation_declare, METH_VARARGS, NULL},
    {"relation_set", (PyCFunction)weft_py_relation_set, METH_VARARGS, NULL},
    {"relation_sources", (PyCFunction)weft_py_relation_sources, METH_VARARGS, NULL},
    {"relation_target", (PyCFunction)weft_py_relation_target, METH_VARARGS, NULL},
    {"instantiate", (PyCFunction)weft_py_instantiate, METH_VARARGS, NULL},
    {"observer_create", (PyCFunction)weft_py_observer_create, METH_VARARGS, NULL},
    {"observer_destroy", (PyCFunction)weft_py_observer_destroy, METH_VARARGS, NULL},
    {"relation_settle", (PyCFunction)weft_py_relation_settle, METH_NOARGS, NULL},
    {"observers_run", (PyCFunction)weft_py_observers_run, METH_NOARGS, NULL},
    {"observed", (PyCFunction)weft_py_observed, METH_NOARGS, NULL},
    {"scene", (PyCFunction)weft_py_scene_create, METH_NOARGS, NULL},
    {"live", (PyCFunction)weft_py_live_start, METH_VARARGS, NULL},
    {"inspect", (PyCFunction)weft_py_inspect, METH_VARARGS, NULL},
    {"set_many", (PyCFunction)weft_py_entity_set_many, METH_VARARGS, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, world_new}, {Py_tp_dealloc, world_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec weft_py_world_spec = {"weft._native.World", sizeof(World), 0, Py_TPFLAGS_DEFAULT,
                                  slots};
