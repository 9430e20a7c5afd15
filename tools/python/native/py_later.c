/* SPDX-License-Identifier: MIT */
/* py_later.c: what outlasts a call: snapshots and recorders.
 *
 * They have to end before their world: they are in its list of dependents, and
 * are empty once it is closed. */
#include "py_native.h"

/* ---- dependents ---- */

dependent *weft_py_depend(World *world, void *handle, void (*end)(void *handle))
{
    dependent *self = PyMem_Malloc(sizeof *self);
    if (self == NULL) {
        end(handle);
        PyErr_NoMemory();
        return NULL;
    }
    *self = (dependent){
        .next = world->dependents, .at = &world->dependents, .end = end, .handle = handle};
    if (self->next != NULL) self->next->at = &self->next;
    world->dependents = self;
    return self;
}

/* Takes it out of the list and ends the handle. */
static void end_dependent(dependent *self)
{
    if (self->at == NULL) return;
    *self->at = self->next;
    if (self->next != NULL) self->next->at = self->at;
    self->at = NULL;
    self->end(self->handle);
    self->handle = NULL;
}

/* Ends a handle with its object, or, where the library would refuse it, when the world is idle. */
static void drop(World *world, dependent *self)
{
    if (world->is_stepping || world->loops > 0) {
        self->is_orphan = 1;
        return;
    }
    end_dependent(self);
    PyMem_Free(self);
}

void weft_py_end_dependents(World *world, bool orphans_only)
{
    for (dependent *self = world->dependents, *next; self != NULL; self = next) {
        next = self->next;
        if (orphans_only && !self->is_orphan) continue;
        end_dependent(self);
        if (self->is_orphan || self->has_no_object) PyMem_Free(self);
    }
}

PyObject *weft_py_keep(World *world, PyTypeObject *type, void *handle, void (*end)(void *handle))
{
    dependent *kept = weft_py_depend(world, handle, end);
    if (kept == NULL) return NULL;
    Kept *made = weft_py_new(type);
    if (made == NULL) {
        drop(world, kept);
        return NULL;
    }
    made->world = (World *)Py_NewRef((PyObject *)world);
    made->dependent = kept;
    return (PyObject *)made;
}

void weft_py_kept_dealloc(Kept *self)
{
    if (self->world != NULL) drop(self->world, self->dependent);
    Py_XDECREF((PyObject *)self->world);
    weft_py_free((PyObject *)self);
}

/* ---- snapshots ---- */

static void snapshot_end(void *handle)
{
    weft_snapshot_destroy(handle);
}

/* The snapshot of an argument, which has to be of this world. */
static bool read_snapshot(World *self, PyObject *from, weft_snapshot **out)
{
    if (!PyObject_TypeCheck(from, weft_py_snapshot)) {
        PyErr_SetString(PyExc_TypeError, "a snapshot is needed");
        return false;
    }
    Kept *snapshot = (Kept *)from;
    *out = snapshot->dependent->handle;
    if (snapshot->world == self && *out != NULL) return true;
    PyErr_SetString(PyExc_ValueError, "the snapshot is of another world");
    return false;
}

/* (previous or None). */
PyObject *weft_py_snapshot_take(World *self, PyObject *arguments)
{
    PyObject *from = Py_None;
    weft_snapshot *previous = NULL;
    if (!PyArg_ParseTuple(arguments, "|O", &from) || weft_py_use(self, CHANGES) == NULL)
        return NULL;
    if (!Py_IsNone(from) && !read_snapshot(self, from, &previous)) return NULL;
    weft_snapshot *taken;
    weft_result result = weft_snapshot_take(self->world, previous, &taken);
    if (result != WEFT_OK) return weft_py_fail(self, result);
    return weft_py_keep(self, weft_py_snapshot, taken, snapshot_end);
}

PyObject *weft_py_snapshot_restore(World *self, PyObject *arguments)
{
    PyObject *from;
    weft_snapshot *snapshot;
    if (!PyArg_ParseTuple(arguments, "O", &from) || weft_py_use(self, CHANGES) == NULL ||
        !read_snapshot(self, from, &snapshot))
        return NULL;
    return weft_py_done(self, weft_snapshot_restore(self->world, snapshot));
}

static PyType_Slot snapshot_slots[] = {{Py_tp_dealloc, weft_py_kept_dealloc}, {0}};
PyType_Spec weft_py_snapshot_spec = {"weft._native.Snapshot", sizeof(Kept), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     snapshot_slots};

/* ---- recorders ---- */

static void recorder_end(void *handle)
{
    weft_recorder_destroy(handle);
}

PyObject *weft_py_recorder_create(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    weft_recorder *recorder;
    weft_result result = weft_recorder_create(self->world, &recorder);
    if (result != WEFT_OK) return weft_py_fail(self, result);
    return weft_py_keep(self, weft_py_recorder, recorder, recorder_end);
}

/* The recorder for a call; NULL with an exception. Recording changes nothing yet: views may
 * live. */
static weft_recorder *use(Kept *self)
{
    if (weft_py_use(self->world, READS) == NULL) return NULL;
    if (!self->is_short) return self->dependent->handle;
    weft_py_raise(WEFT_OUT_OF_MEMORY,
                  "memory ran out while these commands were recorded: none of them is made, record "
                  "them again in a new World.commands()",
                  (weft_entity){0}, NULL);
    return NULL;
}

/* The end of a call that recorded. Some of its commands may be there when memory runs out: so all
 * of the recorder are given up. */
static PyObject *recorded(Kept *self, weft_result result)
{
    if (result == WEFT_OUT_OF_MEMORY) self->is_short = 1;
    return PyErr_Occurred() ? NULL : weft_py_done(NULL, result);
}

/* Whether the recorder takes commands on all of them. False with an exception: nothing of the call
 * is recorded, and playing does not report it again, as it does what the library refuses. */
static bool are_targets(const Kept *self, const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const weft_entity one = entities[i];
        if ((one.version & 1) != 0) continue; /* dead ones are skipped when it is played */
        if (one.version != 0 && one.version == self->made.version && one.index <= self->made.index)
            continue;
        weft_py_raise(WEFT_STALE_ENTITY,
                      one.version == 0
                          ? "the null entity has no commands"
                          : "an entity-to-be is known to the commands that made it, until they "
                            "are played: query it afterwards, or give it a name",
                      one, NULL);
        return false;
    }
    return true;
}

/* Whether the component is one of entities; false with an exception. */
static bool is_of_entities(const Kept *self, weft_component component)
{
    const weft_component_desc *info = weft_component_info(self->world->world, component);
    if ((info->flags & WEFT_RESOURCE) == 0) return true;
    weft_py_raise(WEFT_TYPE_MISMATCH,
                  "a resource is not part of entities: World.get_resource, World.set_resource",
                  (weft_entity){0}, info->name);
    return false;
}

/* What entities-to-be are made of. */
typedef struct making {
    Kept *self;
    weft_entity source;
    weft_component *components;
    uint32_t component_count;
    weft_archetype archetype; /* with all of them; null: they are added one by one */
} making;

/* The archetype of the components; null inside a loop, where none is made, and for components that
 * are in no column. */
static weft_archetype whole_archetype(const making *from)
{
    const World *world = from->self->world;
    if (world->loops > 0 || from->component_count == 0) return (weft_archetype){0};
    for (uint32_t i = 0; i < from->component_count; i++)
        if ((weft_py_flags(world, from->components[i]) & ~(uint32_t)WEFT_ENABLEABLE) != 0)
            return (weft_archetype){0};
    return weft_archetype_create(world->world, from->components, from->component_count);
}

static weft_entity make_whole(const making *from, weft_recorder *recorder)
{
    return weft_recorder_create_entity(recorder, from->archetype);
}

static weft_entity make_empty(const making *from, weft_recorder *recorder)
{
    weft_entity made = weft_recorder_create_entity(recorder, from->self->world->empty);
    for (uint32_t i = 0; i < from->component_count && !weft_entity_is_null(made); i++)
        if (weft_recorder_add(recorder, made, from->components[i]) != WEFT_OK)
            return (weft_entity){0, 0};
    return made;
}

static weft_entity make_copy(const making *from, weft_recorder *recorder)
{
    return weft_recorder_instantiate(recorder, from->source);
}

/* One handle as a number, `number` of them as bytes; NULL with an exception. */
static PyObject *make(const making *from, weft_recorder *recorder, PyObject *number,
                      weft_entity (*one)(const making *from, weft_recorder *recorder))
{
    const bool is_many = !Py_IsNone(number);
    unsigned long count = is_many ? PyLong_AsUnsignedLong(number) : 1;
    if (PyErr_Occurred()) return NULL;
    if (count > UINT32_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "more entities than a world can have");
        return NULL;
    }
    PyObject *out = weft_py_memory((Py_ssize_t)(count * sizeof(weft_entity)));
    weft_entity *made = out == NULL ? NULL : (weft_entity *)(void *)PyByteArray_AsString(out);
    for (unsigned long i = 0; out != NULL && i < count; i++) {
        made[i] = one(from, recorder);
        if (!weft_entity_is_null(made[i])) {
            from->self->made = made[i];
            continue;
        }
        Py_DECREF(out);
        return recorded(from->self, WEFT_OUT_OF_MEMORY); /* all else was refused before */
    }
    if (out == NULL || is_many) return out;
    PyObject *handle = weft_py_entity_number(made[0]);
    Py_DECREF(out);
    return handle;
}

/* (components, count or None): handles of entities-to-be, for this recorder. */
static PyObject *recorder_create(Kept *self, PyObject *arguments)
{
    PyObject *list, *count;
    making from = {.self = self};
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !PyArg_ParseTuple(arguments, "OO", &list, &count) ||
        !weft_py_components(self->world, list, &from.components, &from.component_count))
        return NULL;
    for (uint32_t i = 0; i < from.component_count; i++)
        if (!is_of_entities(self, from.components[i])) {
            PyMem_Free(from.components);
            return NULL;
        }
    from.archetype = whole_archetype(&from);
    PyObject *made = make(&from, recorder, count, from.archetype.id != 0 ? make_whole : make_empty);
    PyMem_Free(from.components);
    return made;
}

/* (source, count or None): handles of copies-to-be. */
static PyObject *recorder_instantiate(Kept *self, PyObject *arguments)
{
    PyObject *number, *count;
    making from = {.self = self};
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !PyArg_ParseTuple(arguments, "OO", &number, &count) ||
        !weft_py_entity(number, &from.source) || !are_targets(self, &from.source, 1))
        return NULL;
    return make(&from, recorder, count, make_copy);
}

static PyObject *recorder_destroy(Kept *self, PyObject *from)
{
    weft_entity one;
    Py_buffer many;
    const weft_entity *entities;
    uint32_t count;
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !weft_py_entities(from, &one, &many, &entities, &count)) return NULL;
    weft_result result = WEFT_OK;
    if (!are_targets(self, entities, count)) count = 0;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = weft_recorder_destroy_entity(recorder, entities[i]);
    PyBuffer_Release(&many);
    return recorded(self, result);
}

/* (entities, component, is added). */
static PyObject *recorder_change(Kept *self, PyObject *arguments)
{
    PyObject *from, *type;
    int is_added;
    weft_entity one;
    Py_buffer many;
    const weft_entity *entities;
    uint32_t count;
    weft_component component;
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !PyArg_ParseTuple(arguments, "OOp", &from, &type, &is_added) ||
        !weft_py_component(self->world, type, &component) || !is_of_entities(self, component) ||
        !weft_py_entities(from, &one, &many, &entities, &count))
        return NULL;
    weft_result result = WEFT_OK;
    if (!are_targets(self, entities, count)) count = 0;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = is_added ? weft_recorder_add(recorder, entities[i], component)
                          : weft_recorder_remove(recorder, entities[i], component);
    PyBuffer_Release(&many);
    return recorded(self, result);
}

/* Records one value. */
static weft_result record_value(weft_recorder *recorder, weft_entity entity,
                                weft_component component, uint32_t flags, const void *value,
                                size_t size)
{
    return (flags & WEFT_SHARED) != 0 ? weft_recorder_set_shared(recorder, entity, component, value)
                                      : weft_recorder_set(recorder, entity, component, value, size);
}

/* (entities, component, bytes of a value each, or of elements, is appended). */
static PyObject *recorder_set(Kept *self, PyObject *arguments)
{
    PyObject *from, *type, *bytes;
    weft_entity one;
    Py_buffer many, buffer;
    const weft_entity *entities;
    uint32_t count;
    weft_component component;
    weft_recorder *recorder = use(self);
    int is_appended;
    if (recorder == NULL ||
        !PyArg_ParseTuple(arguments, "OOOp", &from, &type, &bytes, &is_appended) ||
        !weft_py_component(self->world, type, &component) ||
        !weft_py_is_plain(self->world, component, WEFT_SHARED | WEFT_BUFFER) ||
        !weft_py_entities(from, &one, &many, &entities, &count))
        return NULL;
    const size_t size = weft_py_size(self->world, component);
    const uint32_t flags = weft_py_flags(self->world, component);
    const bool has_elements = (flags & WEFT_BUFFER) != 0;
    weft_result result = WEFT_OK;
    if (are_targets(self, entities, count) &&
        weft_py_bytes(bytes, has_elements ? -1 : (Py_ssize_t)(count * size), &buffer)) {
        if (has_elements && (size_t)buffer.len / size > UINT32_MAX) result = WEFT_LIMIT;
        for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
            result = has_elements ? (is_appended ? weft_recorder_append : weft_recorder_set_buffer)(
                                        recorder, entities[i], component, buffer.buf,
                                        (uint32_t)((size_t)buffer.len / size))
                                  : record_value(recorder, entities[i], component, flags,
                                                 (const char *)buffer.buf + i * size, size);
        PyBuffer_Release(&buffer);
    }
    PyBuffer_Release(&many);
    return recorded(self, result);
}

/* (entity, component, enabled). */
static PyObject *recorder_enable(Kept *self, PyObject *arguments)
{
    PyObject *number, *type;
    int enabled;
    weft_entity entity;
    weft_component component;
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !PyArg_ParseTuple(arguments, "OOp", &number, &type, &enabled) ||
        !weft_py_entity(number, &entity) || !weft_py_component(self->world, type, &component) ||
        !are_targets(self, &entity, 1))
        return NULL;
    return recorded(self, weft_recorder_enable(recorder, entity, component, enabled));
}

/* (entity, name). */
static PyObject *recorder_set_name(Kept *self, PyObject *arguments)
{
    PyObject *number;
    const char *name;
    weft_entity entity;
    weft_recorder *recorder = use(self);
    if (recorder == NULL || !PyArg_ParseTuple(arguments, "Os", &number, &name) ||
        !weft_py_entity(number, &entity) || !are_targets(self, &entity, 1))
        return NULL;
    return recorded(self, weft_recorder_set_name(recorder, entity, name));
}

static PyObject *recorder_play(Kept *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self->world, CHANGES) == NULL || use(self) == NULL) return NULL;
    const weft_result result = weft_recorder_play(self->dependent->handle);
    if (result != WEFT_WRONG_PHASE && result != WEFT_BUSY) self->made = (weft_entity){0, 0};
    return weft_py_done(self->world, result);
}

static PyMethodDef recorder_methods[] = {
    {"create", (PyCFunction)recorder_create, METH_VARARGS, NULL},
    {"instantiate", (PyCFunction)recorder_instantiate, METH_VARARGS, NULL},
    {"destroy", (PyCFunction)recorder_destroy, METH_O, NULL},
    {"change", (PyCFunction)recorder_change, METH_VARARGS, NULL},
    {"set", (PyCFunction)recorder_set, METH_VARARGS, NULL},
    {"enable", (PyCFunction)recorder_enable, METH_VARARGS, NULL},
    {"set_name", (PyCFunction)recorder_set_name, METH_VARARGS, NULL},
    {"play", (PyCFunction)recorder_play, METH_NOARGS, NULL},
    {"query_change", (PyCFunction)weft_py_recorder_query_change, METH_VARARGS, NULL},
    {"query_set", (PyCFunction)weft_py_recorder_query_set, METH_VARARGS, NULL},
    {"query_enable", (PyCFunction)weft_py_recorder_query_enable, METH_VARARGS, NULL},
    {"query_destroy", (PyCFunction)weft_py_recorder_query_destroy, METH_O, NULL},
    {0},
};
static PyType_Slot recorder_slots[] = {
    {Py_tp_dealloc, weft_py_kept_dealloc}, {Py_tp_methods, recorder_methods}, {0}};
PyType_Spec weft_py_recorder_spec = {"weft._native.Recorder", sizeof(Kept), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     recorder_slots};
