/* SPDX-License-Identifier: MIT */
/* py_compiled.c: systems in C: a function of a shared library becomes a system.
 *
 * The library is the user's (World.system_in_c), or one that the package compiled from a string
 * (_compiled.py). It stays loaded. `user` of the function is a list of handles of components,
 * archetypes and queries, which belongs to the world. */
#include "py_native.h"

#include <dlfcn.h>

/* What the function is, and what it touches besides its rows. */
typedef struct loading {
    weft_system_desc desc;
    weft_lookup *resources, *lookups;
    weft_term *terms;
    weft_query *queries;
    const char **before, **after;
} loading;

/* A handle of any kind: what `user` is a list of. */
typedef union any_handle {
    weft_component component;
    weft_archetype archetype;
    weft_query query;
} any_handle;

/* The symbols of libweft in this extension become visible to what is loaded: its calls go to the
 * library that runs the world, not to another copy. */
static void show_symbols(void)
{
    Dl_info self;
    if (dladdr((const void *)(uintptr_t)&weft_version, &self) != 0)
        (void)dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* Puts the function of a library into the description; false with an exception. */
static bool find_function(PyObject *library, const char *symbol, weft_system_desc *desc)
{
    show_symbols();
    void *handle = dlopen(PyBytes_AsString(library), RTLD_NOW | RTLD_LOCAL);
    union {
        void *address;
        void (*run)(weft_slice *slice, void *user);
    } found = {.address = handle == NULL ? NULL : dlsym(handle, symbol)};
    desc->run = found.run;
    if (found.address != NULL) return true;
    const char *problem = dlerror();
    PyErr_SetString(PyExc_OSError, problem != NULL ? problem : "the symbol has no address");
    return false;
}

/* A list of (component, access); freed with PyMem_Free. */
static bool read_lookups(World *self, PyObject *list, weft_lookup **out, uint32_t *count)
{
    Py_ssize_t length = list == NULL ? 0 : PySequence_Size(list);
    if (length < 0) return false;
    if (length > 4096) {
        PyErr_SetString(PyExc_ValueError, "more than 4,096 components");
        return false;
    }
    *out = PyMem_Calloc((size_t)length + 1, sizeof **out);
    if (*out == NULL) return PyErr_NoMemory(), false;
    *count = (uint32_t)length;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i), *number;
        unsigned int access;
        bool is_good = item != NULL && PyArg_Parse(item, "(OI)", &number, &access) &&
                       weft_py_component(self, number, &(*out)[i].component);
        if (is_good) (*out)[i].access = (weft_access)access;
        Py_XDECREF(item);
        if (!is_good) return false;
    }
    return true;
}

/* What the lists say: terms, resources, look-ups. */
static bool read_touched(World *self, PyObject *terms, PyObject *resources, PyObject *lookups,
                         loading *from)
{
    weft_system_desc *desc = &from->desc;
    if (!weft_py_terms(self, terms, &desc->over.rows, &from->terms) ||
        !read_lookups(self, resources, &from->resources, &desc->more_resource_count) ||
        !read_lookups(self, lookups, &from->lookups, &desc->more_lookup_count))
        return false;
    desc->more_resources = from->resources;
    desc->more_lookups = from->lookups;
    return true;
}

/* A component by its number, an archetype as a list of such, or a query. */
static bool read_handle(World *self, PyObject *from, any_handle *out)
{
    if (PyObject_TypeCheck(from, weft_py_query)) {
        out->query = ((Query *)from)->query;
        return true;
    }
    if (PyLong_Check(from)) return weft_py_component(self, from, &out->component);
    weft_component *components;
    uint32_t count;
    if (!weft_py_components(self, from, &components, &count)) return false;
    out->archetype = weft_archetype_create(self->world, components, count);
    PyMem_Free(components);
    if (out->archetype.id == 0) weft_py_fail(self, weft_world_error(self->world)->code);
    return out->archetype.id != 0;
}

/* The list of handles becomes `user`, and the world's. Its queries may be iterated. */
static bool give_handles(World *self, PyObject *list, loading *from)
{
    weft_system_desc *desc = &from->desc;
    Py_ssize_t length = PySequence_Size(list);
    if (length < 0) return false;
    from->queries = PyMem_Calloc((size_t)length + 1, sizeof *from->queries);
    if (from->queries == NULL) return PyErr_NoMemory(), false;
    desc->more_queries = from->queries;
    any_handle *handles = PyMem_Calloc((size_t)length + 1, sizeof *handles);
    if (handles == NULL) return PyErr_NoMemory(), false;
    dependent *kept = weft_py_depend(self, handles, PyMem_Free);
    if (kept == NULL) return false;
    kept->has_no_object = 1;
    desc->user = handles;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        bool is_good = item != NULL && read_handle(self, item, &handles[i]);
        if (is_good && PyObject_TypeCheck(item, weft_py_query))
            from->queries[desc->more_query_count++] = handles[i].query;
        Py_XDECREF(item);
        if (!is_good) return false;
    }
    return true;
}

/* A list of names; freed with PyMem_Free, and valid while the list is. */
static bool read_names(PyObject *list, const char ***out, uint32_t *count)
{
    Py_ssize_t length = list == NULL ? 0 : PySequence_Size(list);
    if (length < 0) return false;
    *out = PyMem_Calloc((size_t)length + 1, sizeof **out);
    if (*out == NULL) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        (*out)[i] = item == NULL ? NULL : PyUnicode_AsUTF8AndSize(item, NULL);
        Py_XDECREF(item);
        if ((*out)[i] == NULL) return false;
    }
    *count = (uint32_t)length;
    return true;
}

static weft_system make_system(World *self, loading *from)
{
    weft_system made = weft_system_create(self->world, &from->desc);
    if (made.id == 0) weft_py_fail(self, weft_world_error(self->world)->code);
    return made;
}

/* (name, library, symbol, terms, flags, has commands, [handles, resources, lookups, before, after,
 * count]): `void symbol(weft_slice *, void *)` becomes a system; with a count, over indices. */
PyObject *weft_py_system_load(World *self, PyObject *arguments)
{
    const char *name, *symbol;
    PyObject *library, *terms, *handles = NULL, *resources = NULL, *lookups = NULL, *before = NULL,
                               *after = NULL;
    uint32_t flags, count = 0;
    int has_commands;
    if (!PyArg_ParseTuple(arguments, "sO&sOO&p|OOOOOO&", &name, PyUnicode_FSConverter, &library,
                          &symbol, &terms, weft_py_u32, &flags, &has_commands, &handles, &resources,
                          &lookups, &before, &after, weft_py_u32, &count))
        return NULL;
    loading from = {.desc = {.name = name, .flags = flags}};
    if (has_commands) from.desc.effects = WEFT_RECORDS_ANY;
    bool is_good = find_function(library, symbol, &from.desc);
    Py_DECREF(library);
    is_good = is_good && weft_py_use(self, CHANGES) != NULL &&
              read_touched(self, terms, resources, lookups, &from) &&
              read_names(before, &from.before, &from.desc.more_before_count) &&
              read_names(after, &from.after, &from.desc.more_after_count) &&
              (handles == NULL || give_handles(self, handles, &from));
    from.desc.more_before = from.before;
    from.desc.more_after = from.after;
    if (count > 0) from.desc.over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = count};
    is_good = is_good && make_system(self, &from).id != 0;
    PyMem_Free(from.terms);
    PyMem_Free(from.resources);
    PyMem_Free(from.lookups);
    PyMem_Free(from.queries);
    PyMem_Free(from.before);
    PyMem_Free(from.after);
    if (!is_good) return NULL;
    Py_RETURN_NONE;
}
