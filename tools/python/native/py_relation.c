/* SPDX-License-Identifier: MIT */
/* py_relation.c: relations, prefabs and observers of weft._native.World.
 *
 * Observers run inside a step, without Python's lock: they copy what they are told into a list of
 * the world, which Python takes after playback. */
#include "py_native.h"

#include <stdlib.h>
#include <string.h>

/* ---- relations ---- */

/* ("Parent" or "InstanceOf", or neither: Prefab or LinkedGroup): (number, flags). */
PyObject *weft_py_builtin(World *self, PyObject *arguments)
{
    const char *name;
    weft_world *world = weft_py_use(self, CHANGES);
    if (world == NULL || !PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    weft_component found = strcmp(name, "Parent") == 0       ? weft_component_parent(world)
                           : strcmp(name, "InstanceOf") == 0 ? weft_component_instance_of(world)
                           : strcmp(name, "Prefab") == 0     ? weft_component_prefab(world)
                           : strcmp(name, "Inactive") == 0   ? weft_component_inactive(world)
                                                             : weft_component_linked_group(world);
    if (found.id == 0) return weft_py_fail(self, weft_world_error(world)->code);
    return Py_BuildValue("(II)", found.id, weft_component_info(world, found)->flags);
}

/* (component, on_target_death, is_acyclic, by_depth). */
PyObject *weft_py_relation_declare(World *self, PyObject *arguments)
{
    PyObject *number;
    int death, is_acyclic, by_depth;
    weft_relation_desc desc = {0};
    if (weft_py_use(self, CHANGES) == NULL ||
        !PyArg_ParseTuple(arguments, "Oipp", &number, &death, &is_acyclic, &by_depth) ||
        !weft_py_component(self, number, &desc.component))
        return NULL;
    desc.on_target_death = (weft_target_death)death;
    desc.is_acyclic = is_acyclic;
    desc.by_depth = by_depth;
    return weft_py_done(self, weft_relation_declare(self->world, &desc));
}

/* (bytes of sources, relation, target). */
PyObject *weft_py_relation_set(World *self, PyObject *arguments)
{
    PyObject *sources, *number, *entity;
    weft_component relation;
    weft_entity target;
    Py_buffer from;
    if (weft_py_use(self, CHANGES) == NULL ||
        !PyArg_ParseTuple(arguments, "OOO", &sources, &number, &entity) ||
        !weft_py_component(self, number, &relation) || !weft_py_entity(entity, &target) ||
        !weft_py_bytes(sources, -1, &from))
        return NULL;
    uint32_t count = (uint32_t)((size_t)from.len / sizeof(weft_entity));
    weft_result result =
        count == 1
            ? weft_relation_set(self->world, *(const weft_entity *)from.buf, relation, target)
            : weft_relation_set_many(self->world, from.buf, count, relation, target);
    PyBuffer_Release(&from);
    return weft_py_done(self, result);
}

/* (relation, target): the sources, as bytes. */
PyObject *weft_py_relation_sources(World *self, PyObject *arguments)
{
    PyObject *number, *entity;
    weft_component relation;
    weft_entity target;
    if (weft_py_use(self, READS) == NULL || !PyArg_ParseTuple(arguments, "OO", &number, &entity) ||
        !weft_py_component(self, number, &relation) || !weft_py_entity(entity, &target))
        return NULL;
    uint32_t count = 0;
    const weft_entity *sources = weft_relation_sources(self->world, relation, target, &count);
    return PyBytes_FromStringAndSize((const char *)sources, (Py_ssize_t)(count * sizeof *sources));
}

/* (source, relation): (target, depth of the source). */
PyObject *weft_py_relation_target(World *self, PyObject *arguments)
{
    PyObject *number, *entity;
    weft_component relation;
    weft_entity source;
    if (weft_py_use(self, READS) == NULL || !PyArg_ParseTuple(arguments, "OO", &entity, &number) ||
        !weft_py_component(self, number, &relation) || !weft_py_entity(entity, &source))
        return NULL;
    weft_entity target = weft_relation_target(self->world, source, relation);
    return Py_BuildValue("(NI)", weft_py_entity_number(target),
                         weft_relation_depth(self->world, relation, source));
}

PyObject *weft_py_relation_settle(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    return weft_py_done(self, weft_relation_settle(self->world));
}

/* (source, count): the copies, as bytes. */
PyObject *weft_py_instantiate(World *self, PyObject *arguments)
{
    PyObject *entity;
    uint32_t count;
    weft_entity source;
    if (weft_py_use(self, CHANGES) == NULL ||
        !PyArg_ParseTuple(arguments, "OO&", &entity, weft_py_u32, &count) ||
        !weft_py_entity(entity, &source))
        return NULL;
    PyObject *out = weft_py_memory((Py_ssize_t)(count * sizeof(weft_entity)));
    if (out == NULL || count == 0) return out;
    weft_result result = weft_entity_instantiate(self->world, source, count,
                                                 (weft_entity *)(void *)PyByteArray_AsString(out));
    if (result == WEFT_OK) return out;
    Py_DECREF(out);
    return weft_py_fail(self, result);
}

/* ---- observers ---- */

/* A batch that an observer was told: entities, then values where there are. */
struct told {
    struct told *next;
    uint32_t observer, count;
    size_t value_bytes;
    char bytes[];
};

/* `user` of an observer; in the world's list of dependents. */
typedef struct watcher {
    World *world; /* not counted: the watcher ends before it */
    uint32_t number;
    size_t value_bytes; /* of one old value; 0: none */
} watcher;

/* On the owner's thread, inside a step: without Python's lock. What there is no memory for is
 * counted, and raises after the step. */
static void observe(const weft_observation *o, void *user)
{
    const watcher *self = user;
    size_t values = o->values != NULL ? self->value_bytes * o->count : 0;
    struct told *made = malloc(sizeof *made + o->count * sizeof *o->entities + values);
    if (made == NULL) {
        self->world->untold++;
        return;
    }
    made->next = NULL;
    made->observer = self->number;
    made->count = o->count;
    made->value_bytes = values;
    memcpy(made->bytes, o->entities, o->count * sizeof *o->entities);
    if (values > 0) memcpy(made->bytes + o->count * sizeof *o->entities, o->values, values);
    *self->world->told_end = made;
    self->world->told_end = &made->next;
}

/* (name, event, component or 0, number): what it is told comes by observed(). */
PyObject *weft_py_observer_create(World *self, PyObject *arguments)
{
    const char *name;
    unsigned int event, number;
    PyObject *component;
    weft_observer_desc desc = {.run = observe};
    if (self->told == NULL) self->told_end = &self->told;
    if (weft_py_use(self, CHANGES) == NULL ||
        !PyArg_ParseTuple(arguments, "sIOI", &name, &event, &component, &number) ||
        (!Py_IsNone(component) && !weft_py_component(self, component, &desc.component)))
        return NULL;
    watcher *made = PyMem_Calloc(1, sizeof *made);
    if (made == NULL) return PyErr_NoMemory();
    *made =
        (watcher){.world = self,
                  .number = number,
                  .value_bytes = desc.component.id == 0 ? 0 : weft_py_size(self, desc.component)};
    dependent *kept = weft_py_depend(self, made, PyMem_Free);
    if (kept == NULL) return NULL;
    kept->has_no_object = 1;
    desc.name = name;
    desc.on = event;
    desc.user = made;
    weft_observer observer = weft_observer_create(self->world, &desc);
    if (observer.id == 0) return weft_py_fail(self, weft_world_error(self->world)->code);
    return Py_BuildValue("(II)", observer.id, observer.world);
}

/* (id, world): removes an observer. */
PyObject *weft_py_observer_destroy(World *self, PyObject *arguments)
{
    weft_observer observer;
    if (weft_py_use(self, CHANGES) == NULL ||
        !PyArg_ParseTuple(arguments, "II", &observer.id, &observer.world))
        return NULL;
    return weft_py_done(self, weft_observer_destroy(self->world, observer));
}

PyObject *weft_py_observers_run(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    return weft_py_done(self, weft_observers_run(self->world));
}

void weft_py_told_free(World *self)
{
    while (self->told != NULL) {
        struct told *first = self->told;
        self->told = first->next;
        free(first);
    }
    self->told_end = &self->told;
}

/* A list of (number of the observer, entities, old values or None), in order; it is empty then. */
PyObject *weft_py_observed(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    PyObject *out = PyList_New(0);
    for (struct told *at = self->told; out != NULL && at != NULL; at = at->next) {
        Py_ssize_t entities = (Py_ssize_t)(at->count * sizeof(weft_entity));
        PyObject *item = Py_BuildValue("(Iy#y#)", at->observer, at->bytes, entities,
                                       at->value_bytes > 0 ? at->bytes + entities : NULL,
                                       (Py_ssize_t)at->value_bytes);
        if (item == NULL || PyList_Append(out, item) != 0) Py_CLEAR(out);
        Py_XDECREF(item);
    }
    if (out == NULL) return NULL;
    weft_py_told_free(self);
    if (self->untold == 0) return out;
    self->untold = 0;
    Py_DECREF(out);
    return PyErr_NoMemory();
}
