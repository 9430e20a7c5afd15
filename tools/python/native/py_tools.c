/* SPDX-License-Identifier: MIT */
/* py_tools.c: figures of weft._native.World: what there is, how much of it, how long it took.
 *
 * Structs become dicts by a table of their fields, so a figure has the name that it has in C. */
#include "py_native.h"

#include <stddef.h>
#include <string.h>

/* ---- structs as dicts ---- */

typedef struct figure {
    const char *name;
    size_t offset;
    size_t bytes; /* 8, 4, or 1: bool */
} figure;

#define FIGURE(type, name)                                                                         \
    {                                                                                              \
#name, offsetof(type, name), sizeof(((type *)0)->name)                                     \
    }

/* Puts the figures of `from` into a dict; NULL with an exception. */
static PyObject *as_dict(const void *from, const figure *figures, size_t count)
{
    PyObject *out = PyDict_New();
    for (size_t i = 0; out != NULL && i < count; i++) {
        const char *at = (const char *)from + figures[i].offset;
        uint64_t wide = 0;
        uint32_t narrow;
        memcpy(&narrow, at, figures[i].bytes == 4 ? 4 : 1);
        if (figures[i].bytes == 8) memcpy(&wide, at, 8);
        PyObject *value = figures[i].bytes == 1   ? PyBool_FromLong(*(const bool *)at)
                          : figures[i].bytes == 4 ? PyLong_FromUnsignedLong(narrow)
                                                  : PyLong_FromUnsignedLongLong(wide);
        if (value == NULL || PyDict_SetItemString(out, figures[i].name, value) != 0) Py_CLEAR(out);
        Py_XDECREF(value);
    }
    return out;
}

/* Puts a value, whose reference it takes, into a dict, which it ends on failure. */
static void put(PyObject **dict, const char *name, PyObject *value)
{
    if (*dict != NULL && (value == NULL || PyDict_SetItemString(*dict, name, value) != 0))
        Py_CLEAR(*dict);
    Py_XDECREF(value);
}

static PyObject *text_of(const char *text)
{
    if (text == NULL) text = "";
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Appends an item, whose reference it takes, to a list, which it ends on failure. */
static void append(PyObject **list, PyObject *item)
{
    if (*list != NULL && (item == NULL || PyList_Append(*list, item) != 0)) Py_CLEAR(*list);
    Py_XDECREF(item);
}

/* ---- the world ---- */

static const figure world_figures[] = {
#define WORLD(name) FIGURE(weft_world_stats, name)
    WORLD(entities),       WORLD(archetypes),        WORLD(chunks),          WORLD(slices),
    WORLD(units_used),     WORLD(megachunks_mapped), WORLD(component_types), WORLD(queries),
    WORLD(bytes_moved),    WORLD(rows_moved),        WORLD(bytes_entities),  WORLD(bytes_chunks),
    WORLD(bytes_metadata), WORLD(bytes_types),       WORLD(bytes_queries),   WORLD(bytes_shared),
    WORLD(bytes_buffers),  WORLD(bytes_commands),    WORLD(bytes_systems),   WORLD(bytes_other),
    WORLD(bytes_total),    WORLD(allocations),       WORLD(bytes_blobs)};

PyObject *weft_py_world_stats(World *self, PyObject *unused)
{
    (void)unused;
    weft_world_stats s;
    if (weft_py_use(self, READS) == NULL) return NULL;
    weft_world_stats_get(self->world, &s, sizeof s);
    return as_dict(&s, world_figures, sizeof world_figures / sizeof world_figures[0]);
}

static const figure frame_figures[] = {
#define FRAME(name) FIGURE(weft_frame_stats, name)
    FRAME(frames),      FRAME(frame_ns), FRAME(critical_path_ns),
    FRAME(playback_ns), FRAME(systems),  FRAME(stages),
    FRAME(sync_points), FRAME(commands), FRAME(commands_skipped)};

PyObject *weft_py_frame_stats(World *self, PyObject *unused)
{
    (void)unused;
    weft_frame_stats s;
    if (weft_py_use(self, READS) == NULL) return NULL;
    weft_frame_stats_get(self->world, &s, sizeof s);
    return as_dict(&s, frame_figures, sizeof frame_figures / sizeof frame_figures[0]);
}

/* (most rows to move): how many it moved. */
PyObject *weft_py_compact(World *self, PyObject *arguments)
{
    unsigned long long budget;
    if (!PyArg_ParseTuple(arguments, "K", &budget) || weft_py_use(self, CHANGES) == NULL)
        return NULL;
    weft_world_error_clear(self->world);
    const uint64_t moved = weft_world_compact(self->world, budget);
    const weft_result result = weft_world_error(self->world)->code;
    return result != WEFT_OK ? weft_py_fail(self, result) : PyLong_FromUnsignedLongLong(moved);
}

PyObject *weft_py_clear_references(World *self, PyObject *unused)
{
    (void)unused;
    uint64_t cleared = 0;
    if (weft_py_use(self, CHANGES) == NULL) return NULL;
    const weft_result result = weft_world_clear_references(self->world, &cleared);
    return result != WEFT_OK ? weft_py_fail(self, result) : PyLong_FromUnsignedLongLong(cleared);
}

static const figure archetype_figures[] = {
#define ARCHETYPE(name) FIGURE(weft_archetype_stats, name)
    ARCHETYPE(entities),   ARCHETYPE(capacity),     ARCHETYPE(bytes),
    ARCHETYPE(bytes_used), ARCHETYPE(bytes_wasted), ARCHETYPE(bytes_metadata),
    ARCHETYPE(chunks),     ARCHETYPE(tuples),       ARCHETYPE(row_bytes)};

/* The names of an archetype's components; NULL with an exception. */
static PyObject *component_names(World *self, weft_archetype archetype)
{
    const uint32_t count = weft_archetype_components(self->world, archetype, NULL, 0);
    weft_component *components = PyMem_Calloc((size_t)count + 1, sizeof *components);
    if (components == NULL) return PyErr_NoMemory();
    weft_archetype_components(self->world, archetype, components, count);
    PyObject *out = PyList_New(0);
    for (uint32_t i = 0; i < count; i++)
        append(&out, text_of(weft_component_info(self->world, components[i])->name));
    PyMem_Free(components);
    return out;
}

/* A list of dicts. */
PyObject *weft_py_archetypes(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    PyObject *out = PyList_New(0);
    for (uint32_t i = 0; out != NULL; i++) {
        weft_archetype archetype = weft_archetype_at(self->world, i);
        weft_archetype_stats s;
        if (archetype.id == 0) break;
        if (weft_archetype_stats_get(self->world, archetype, &s, sizeof s) != WEFT_OK) continue;
        PyObject *item =
            as_dict(&s, archetype_figures, sizeof archetype_figures / sizeof archetype_figures[0]);
        if (item != NULL) put(&item, "components", component_names(self, archetype));
        append(&out, item);
    }
    return out;
}

/* ---- systems in C ---- */

static const figure system_figures[] = {
#define SYSTEM(name) FIGURE(weft_system_stats, name)
    SYSTEM(runs),    SYSTEM(slices),   SYSTEM(rows),  SYSTEM(commands),
    SYSTEM(time_ns), SYSTEM(total_ns), SYSTEM(stage), SYSTEM(is_fused)};

/* ([names read], [names written]) of what a system touches. */
static void put_access(World *self, weft_system system, PyObject **item)
{
    const uint32_t count = weft_system_access(self->world, system, NULL, 0);
    weft_lookup *touched = PyMem_Calloc((size_t)count + 1, sizeof *touched);
    PyObject *reads = PyList_New(0), *writes = PyList_New(0);
    if (touched == NULL) Py_CLEAR(*item);
    if (touched != NULL) weft_system_access(self->world, system, touched, count);
    for (uint32_t i = 0; touched != NULL && i < count; i++) {
        const weft_component_desc *info = weft_component_info(self->world, touched[i].component);
        if (info == NULL || touched[i].access == WEFT_NO_ACCESS) continue;
        append(touched[i].access == WEFT_WRITE ? &writes : &reads, text_of(info->name));
    }
    PyMem_Free(touched);
    put(item, "reads", reads);
    put(item, "writes", writes);
}

/* A list of dicts. */
PyObject *weft_py_systems(World *self, PyObject *unused)
{
    (void)unused;
    if (weft_py_use(self, READS) == NULL) return NULL;
    const uint32_t count = weft_system_list(self->world, NULL, 0);
    weft_system *systems = PyMem_Calloc((size_t)count + 1, sizeof *systems);
    if (systems == NULL) return PyErr_NoMemory();
    weft_system_list(self->world, systems, count);
    PyObject *out = PyList_New(0);
    for (uint32_t i = 0; out != NULL && i < count; i++) {
        weft_system_stats s;
        weft_system_info info;
        if (weft_system_stats_get(self->world, systems[i], &s, sizeof s) != WEFT_OK ||
            weft_system_info_get(self->world, systems[i], &info, sizeof info) != WEFT_OK)
            continue;
        PyObject *item =
            as_dict(&s, system_figures, sizeof system_figures / sizeof system_figures[0]);
        put(&item, "name", text_of(info.name));
        put(&item, "group", text_of(info.group));
        put(&item, "period", PyFloat_FromDouble((double)info.period));
        put(&item, "is_enabled", PyBool_FromLong(info.is_enabled));
        put_access(self, systems[i], &item);
        append(&out, item);
    }
    PyMem_Free(systems);
    return out;
}

/* (name, enabled): whether there is such a system in C. */
PyObject *weft_py_system_enable(World *self, PyObject *arguments)
{
    const char *name;
    int is_enabled;
    if (!PyArg_ParseTuple(arguments, "sp", &name, &is_enabled) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    const weft_system system = weft_system_find(self->world, name);
    if (system.id == 0) Py_RETURN_FALSE;
    const weft_result result = weft_system_enable(self->world, system, is_enabled);
    return result != WEFT_OK ? weft_py_fail(self, result) : Py_NewRef(Py_True);
}

/* (name): whether there was such a system in C. */
PyObject *weft_py_system_remove(World *self, PyObject *arguments)
{
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name) || weft_py_use(self, CHANGES) == NULL) return NULL;
    const weft_system system = weft_system_find(self->world, name);
    if (system.id == 0) Py_RETURN_FALSE;
    const weft_result result = weft_system_destroy(self->world, system);
    return result != WEFT_OK ? weft_py_fail(self, result) : Py_NewRef(Py_True);
}

/* (measured, parallel, fused): options. */
PyObject *weft_py_schedule_set(World *self, PyObject *arguments)
{
    int is_measured, is_parallel, is_fused;
    weft_schedule_desc desc;
    if (!PyArg_ParseTuple(arguments, "ppp", &is_measured, &is_parallel, &is_fused) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    weft_schedule_get(self->world, &desc, sizeof desc);
    desc.is_measured = is_measured;
    desc.without_parallel = !is_parallel;
    desc.without_fusion = !is_fused;
    return weft_py_done(self, weft_schedule_set(self->world, &desc));
}

/* (what, [name, name]): a text about the schedule; NULL with an exception. */
PyObject *weft_py_schedule_text(World *self, PyObject *arguments)
{
    static const struct {
        const char *what;
        size_t (*write)(weft_world *world, char *text, size_t capacity);
    } texts[] = {{"ambiguities", weft_schedule_ambiguities},
                 {"sync points", weft_schedule_sync_points},
                 {"chain", weft_schedule_chain},
                 {"json", weft_schedule_json}};
    const char *what, *first = NULL, *second = NULL;
    if (!PyArg_ParseTuple(arguments, "s|ss", &what, &first, &second) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    weft_system a = {0}, b = {0};
    if (first != NULL && second != NULL) {
        a = weft_system_find(self->world, first);
        b = weft_system_find(self->world, second);
        if (a.id == 0 || b.id == 0) return weft_py_fail(NULL, WEFT_NOT_FOUND);
    }
    size_t (*write)(weft_world *, char *, size_t) = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].what, what) == 0) write = texts[i].write;
    if (write == NULL && a.id == 0) {
        PyErr_SetString(PyExc_ValueError, "no such text");
        return NULL;
    }
    char *text = NULL;
    size_t length = 0;
    for (size_t room = 4096; room != 0;) {
        char *more = PyMem_Realloc(text, room);
        if (more == NULL) {
            PyMem_Free(text);
            return PyErr_NoMemory();
        }
        text = more;
        length = write != NULL ? write(self->world, text, room)
                               : weft_schedule_explain(self->world, a, b, text, room);
        room = length < room ? 0 : length + 1;
    }
    PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    PyMem_Free(text);
    return out;
}

/* ---- names, shared values, relations ---- */

/* (part): the entities whose name has it, as bytes. */
PyObject *weft_py_search(World *self, PyObject *arguments)
{
    const char *part;
    if (!PyArg_ParseTuple(arguments, "s", &part) || weft_py_use(self, READS) == NULL) return NULL;
    const uint32_t count = weft_entity_search(self->world, part, NULL, 0);
    PyObject *out = weft_py_memory((Py_ssize_t)count * 8);
    if (out != NULL && count > 0)
        weft_entity_search(self->world, part, (weft_entity *)(void *)PyByteArray_AsString(out),
                           count);
    return out;
}

/* (component): bytes of its values, the default first. */
PyObject *weft_py_shared_values(World *self, PyObject *number)
{
    weft_component component;
    if (weft_py_use(self, READS) == NULL || !weft_py_component(self, number, &component) ||
        !weft_py_is_plain(self, component, WEFT_SHARED))
        return NULL;
    const size_t size = weft_py_size(self, component);
    const uint32_t count = weft_shared_values(self->world, component, NULL, 0);
    const void **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
    if (values == NULL) return PyErr_NoMemory();
    weft_shared_values(self->world, component, values, count);
    PyObject *out = weft_py_memory((Py_ssize_t)(count * size));
    for (uint32_t i = 0; out != NULL && i < count; i++)
        memcpy(PyByteArray_AsString(out) + i * size, values[i], size);
    PyMem_Free(values);
    return out;
}

static const figure relation_figures[] = {
#define RELATION(name) FIGURE(weft_relation_stats, name)
    RELATION(sources), RELATION(bytes), RELATION(scanned), RELATION(changed), RELATION(rebuilds)};

PyObject *weft_py_relation_stats(World *self, PyObject *number)
{
    weft_component component;
    weft_relation_stats s;
    if (weft_py_use(self, READS) == NULL || !weft_py_component(self, number, &component))
        return NULL;
    const weft_result result = weft_relation_stats_get(self->world, component, &s, sizeof s);
    if (result != WEFT_OK) return weft_py_fail(self, result);
    return as_dict(&s, relation_figures, sizeof relation_figures / sizeof relation_figures[0]);
}

/* (relation): (number, flags) of the component with the depth of its sources. */
PyObject *weft_py_depth_component(World *self, PyObject *number)
{
    weft_component relation;
    if (weft_py_use(self, CHANGES) == NULL || !weft_py_component(self, number, &relation))
        return NULL;
    const weft_component depth = weft_relation_depth_component(self->world, relation);
    if (depth.id != 0)
        return Py_BuildValue("(IIs)", depth.id, weft_py_flags(self, depth),
                             weft_component_info(self->world, depth)->name);
    PyErr_Format(PyExc_TypeError, "%s is no relation by depth: declare it with by_depth=True",
                 weft_component_info(self->world, relation)->name);
    return NULL;
}
