/* SPDX-License-Identifier: MIT */
/* py_inspect.c: World.inspect(): the page of libweft-inspect, where that library is there.
 *
 * The inspector ends with its world. Steps answer the page. */
#include "py_native.h"

#ifdef WEFT_WITH_INSPECT
#include <weft/inspect.h>

static void end(void *handle)
{
    weft_inspect_stop(handle);
}

/* (port or 0, is writable): its address; the same again while it runs. */
PyObject *weft_py_inspect(World *self, PyObject *arguments)
{
    unsigned int port;
    int is_writable;
    if (!PyArg_ParseTuple(arguments, "Ip", &port, &is_writable) ||
        weft_py_use(self, CHANGES) == NULL)
        return NULL;
    weft_inspect *made = weft_inspect_of(self->world);
    if (made == NULL) {
        const weft_inspect_desc desc = {
            .port = port, .takes_next_port = port == 0, .is_writable = is_writable};
        const weft_result result = weft_inspect_start(self->world, &desc, &made);
        if (result != WEFT_OK) return weft_py_fail(self, result);
        dependent *kept = weft_py_depend(self, made, end);
        if (kept == NULL) return NULL;
        kept->has_no_object = 1;
    }
    return PyUnicode_FromString(weft_inspect_url(made));
}

#else

/* None: the library is not there. */
PyObject *weft_py_inspect(World *self, PyObject *arguments)
{
    (void)arguments;
    if (weft_py_use(self, READS) == NULL) return NULL;
    Py_RETURN_NONE;
}

#endif
