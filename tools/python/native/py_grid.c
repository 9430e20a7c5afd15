/* SPDX-License-Identifier: MIT */
/* py_grid.c: weft._native.Grid: which points are near each other (<weft/grid.h>), for arrays.
 *
 * Positions are read where they are. What a build made is a `built`: the grid and the positions in
 * the order of places. It lives as long as something refers to it: the Grid, a call that runs
 * without Python's lock, an array over its memory. A build takes it over if nothing else does, and
 * makes another one otherwise, so arrays of an earlier build keep their numbers. */
#include "py_native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one build made. Counted by `users`, with Python's lock. */
typedef struct built {
    Py_ssize_t users;
    weft_grid *grid;
    void *sorted; /* positions by place: `dimensions` numbers each; malloc */
    weft_grid_view view;
    bool is_double;
} built;

typedef struct Grid {
    PyObject_HEAD weft_grid_desc desc;
    built *built; /* NULL: a thread builds */
} Grid;

/* Memory of a `built`, as a buffer to read. */
typedef struct GridArray {
    PyObject_HEAD built *built;
    const void *memory;
    Py_ssize_t bytes;
} GridArray;

/* ---- what was built ---- */

static built *built_create(const weft_grid_desc *desc)
{
    built *made = PyMem_Calloc(1, sizeof *made);
    if (made == NULL) return (built *)PyErr_NoMemory();
    weft_result result = weft_grid_create(desc, &made->grid);
    if (result != WEFT_OK) {
        PyMem_Free(made);
        return (built *)weft_py_fail(NULL, result);
    }
    weft_grid_view_get(made->grid, &made->view, sizeof made->view);
    made->users = 1;
    return made;
}

static void built_release(built *self)
{
    if (self == NULL || --self->users > 0) return;
    weft_grid_destroy(self->grid);
    free(self->sorted);
    PyMem_Free(self);
}

/* What to read; counted for the caller. NULL with an exception. */
static built *built_use(Grid *self)
{
    if (self->built == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "another thread builds the grid: wait for it");
        return NULL;
    }
    self->built->users++;
    return self->built;
}

/* ---- positions ---- */

/* Rows of `dimensions` numbers. */
typedef struct positions {
    Py_buffer buffer;
    const char *first;
    Py_ssize_t stride;
    uint32_t count;
    bool is_double;
} positions;

/* An array of two dimensions of "f" or "d", whose rows have at least as many numbers, packed.
 * Released with PyBuffer_Release. */
static bool read_positions(const Grid *self, PyObject *from, positions *out)
{
    if (PyObject_GetBuffer(from, &out->buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) return false;
    const Py_buffer *b = &out->buffer;
    const char *format = b->format == NULL ? "" : b->format;
    out->is_double = strcmp(format, "d") == 0;
    if (b->ndim == 2 && b->shape[1] >= (Py_ssize_t)self->desc.dimensions &&
        b->shape[0] <= (Py_ssize_t)UINT32_MAX / 2 && b->strides[1] == b->itemsize &&
        b->strides[0] >= 0 && (out->is_double || strcmp(format, "f") == 0) &&
        (uintptr_t)b->buf % (size_t)b->itemsize == 0 && b->strides[0] % b->itemsize == 0) {
        out->first = b->buf;
        out->stride = b->strides[0];
        out->count = (uint32_t)b->shape[0];
        return true;
    }
    PyBuffer_Release(&out->buffer);
    PyErr_Format(PyExc_ValueError, "an array of float32 or float64 with %u numbers a row is needed",
                 self->desc.dimensions);
    return false;
}

static double number_at(const void *numbers, bool is_double, uint32_t axis)
{
    return is_double ? ((const double *)numbers)[axis] : (double)((const float *)numbers)[axis];
}

static void set_number(void *numbers, bool is_double, uint32_t axis, double value)
{
    if (is_double)
        ((double *)numbers)[axis] = value;
    else
        ((float *)numbers)[axis] = (float)value;
}

/* Whether a finite number has left the box along a periodic axis. */
static bool is_outside(const weft_grid_desc *desc, uint32_t axis, double value)
{
    return desc->is_periodic[axis] && isfinite(value) &&
           !(value >= desc->least[axis] && value < desc->most[axis]);
}

/* Where it comes in again. */
static double wrapped(const weft_grid_desc *desc, uint32_t axis, double value, bool is_double)
{
    const double least = desc->least[axis], length = desc->most[axis] - least;
    value -= floor((value - least) / length) * length;
    if (!is_double) value = (double)(float)value;
    return value >= least && value < desc->most[axis] ? value : least;
}

/* The rows with what has left a periodic box wrapped: those given, or a packed copy at *owned. */
static bool wrap_positions(const Grid *self, positions *p, void **owned)
{
    const uint32_t axes = self->desc.dimensions;
    const size_t size = p->is_double ? sizeof(double) : sizeof(float);
    bool has_outside = false;
    *owned = NULL;
    for (uint32_t i = 0; i < p->count && !has_outside; i++)
        for (uint32_t a = 0; a < axes; a++)
            has_outside |=
                is_outside(&self->desc, a, number_at(p->first + i * p->stride, p->is_double, a));
    if (!has_outside) return true;
    char *copy = *owned = malloc(p->count * axes * size);
    if (copy == NULL) return false;
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t a = 0; a < axes; a++) {
            double value = number_at(p->first + i * p->stride, p->is_double, a);
            if (is_outside(&self->desc, a, value))
                value = wrapped(&self->desc, a, value, p->is_double);
            set_number(copy + i * axes * size, p->is_double, a, value);
        }
    p->first = copy;
    p->stride = (Py_ssize_t)(axes * size);
    return true;
}

/* Sorts the points; without Python's lock. */
static weft_result build(const Grid *self, built *into, positions *p)
{
    void *owned, *sorted;
    const size_t size = p->is_double ? sizeof(double) : sizeof(float);
    if (!wrap_positions(self, p, &owned)) return WEFT_OUT_OF_MEMORY;
    sorted = realloc(into->sorted, ((size_t)p->count + 1) * self->desc.dimensions * size);
    weft_result result = sorted == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
    if (sorted != NULL) {
        into->sorted = sorted;
        into->is_double = p->is_double;
        result = weft_grid_build(into->grid, NULL,
                                 &(weft_grid_points){.positions = p->first,
                                                     .stride = (size_t)p->stride,
                                                     .count = p->count,
                                                     .is_double = p->is_double,
                                                     .sorted = sorted});
        weft_grid_view_get(into->grid, &into->view, sizeof into->view);
    }
    free(owned);
    return result;
}

/* (positions). */
static PyObject *grid_build(Grid *self, PyObject *from)
{
    positions p;
    if (!read_positions(self, from, &p)) return NULL;
    built *into = self->built;
    if (into != NULL && into->users == 1)
        self->built = NULL;
    else
        into = built_create(&self->desc);
    if (into == NULL) {
        PyBuffer_Release(&p.buffer);
        return NULL;
    }
    weft_result result;
    Py_BEGIN_ALLOW_THREADS result = build(self, into, &p);
    Py_END_ALLOW_THREADS PyBuffer_Release(&p.buffer);
    if (result == WEFT_OK || self->built == NULL) {
        built_release(self->built);
        self->built = into;
    } else {
        built_release(into);
    }
    return weft_py_done(NULL, result);
}

/* ---- pairs ---- */

/* What is looked for, and where it goes. */
typedef struct search {
    const weft_grid_desc *desc;
    const built *of;
    positions *places; /* NULL: the points themselves */
    uint32_t rows;
    double within; /* INFINITY: all of the cells beside */
    bool is_half, with_itself, is_double;
    int64_t *begin;           /* [rows + 1] */
    int64_t *first, *second;  /* of each pair; NULL: they are counted */
    void *vectors;            /* or NULL */
    uint32_t cell, run_count; /* of the cell that was asked for last */
    weft_grid_run runs[WEFT_GRID_MAX_RUNS + 1];
} search;

/* Lists the runs of a cell, if they are not those that are there. */
static void list_runs(search *s, uint32_t cell)
{
    if (cell == s->cell) return;
    s->cell = cell;
    s->run_count = s->is_half ? weft_grid_runs_half(s->of->grid, cell, s->runs)
                              : weft_grid_runs(s->of->grid, cell, s->runs);
}

/* The way from `from` to a place; whether it is nearer than `within`. In float for floats. */
static bool see(const search *s, const double from[3], uint32_t place, const int8_t shift[3],
                double way[3])
{
    const uint32_t axes = s->desc->dimensions;
    const size_t size = s->of->is_double ? sizeof(double) : sizeof(float);
    const char *numbers = (const char *)s->of->sorted + place * axes * size;
    double square = 0;
    float narrow = 0;
    for (uint32_t a = 0; a < axes; a++) {
        const double length = s->desc->most[a] - s->desc->least[a];
        const double there = number_at(numbers, s->of->is_double, a);
        if (s->is_double) {
            way[a] = there + shift[a] * length - from[a];
            square += way[a] * way[a];
        } else {
            const float w = (float)there + (float)shift[a] * (float)length - (float)from[a];
            way[a] = (double)w;
            narrow += w * w;
        }
    }
    if (isinf(s->within)) return true;
    if (s->is_double) return square < s->within * s->within;
    return narrow < (float)s->within * (float)s->within;
}

/* Counts the pairs of a row, or writes them behind begin[row]. `own`: its place, or UINT32_MAX. */
static void visit(search *s, uint32_t row, const double from[3], uint32_t own)
{
    const uint32_t axes = s->desc->dimensions;
    const size_t size = s->is_double ? sizeof(double) : sizeof(float);
    int64_t at = s->begin[row];
    for (uint32_t r = 0; r <= s->run_count; r++) {
        const bool is_rest = r == s->run_count; /* of half: the cell itself */
        if (is_rest && !s->is_half) break;
        weft_grid_run run = s->runs[r];
        if (is_rest)
            run = (weft_grid_run){.begin = own + 1, .end = s->of->view.cell_begin[s->cell + 1]};
        const bool is_here = run.shift[0] == 0 && run.shift[1] == 0 && run.shift[2] == 0;
        for (uint32_t k = run.begin; k < run.end; k++) {
            double way[3];
            if (k == own && is_here && !s->with_itself) continue;
            if (!see(s, from, k, run.shift, way)) continue;
            if (s->first != NULL) {
                s->first[at] = row;
                s->second[at] = s->of->view.points[k];
            }
            for (uint32_t a = 0; s->vectors != NULL && a < axes; a++)
                set_number((char *)s->vectors + (size_t)at * axes * size, s->is_double, a, way[a]);
            at++;
        }
    }
    if (s->first == NULL) s->begin[row] = at; /* how many, from 0 */
}

static void visit_all(search *s)
{
    const uint32_t axes = s->desc->dimensions;
    const bool is_double = s->places != NULL ? s->places->is_double : s->of->is_double;
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    s->cell = UINT32_MAX;
    for (uint32_t i = 0; i < s->rows; i++) {
        double from[3] = {0};
        const char *numbers = s->places != NULL ? s->places->first + i * s->places->stride
                                                : (const char *)s->of->sorted + i * axes * size;
        for (uint32_t a = 0; a < axes; a++) {
            from[a] = number_at(numbers, is_double, a);
            if (s->places != NULL && is_outside(s->desc, a, from[a]))
                from[a] = wrapped(s->desc, a, from[a], is_double);
        }
        const uint32_t row = s->places != NULL ? i : s->of->view.points[i];
        list_runs(s, s->places != NULL ? weft_grid_cell_at(s->of->grid, from)
                                       : s->of->view.cell_of[row]);
        visit(s, row, from, s->places != NULL ? UINT32_MAX : i);
    }
}

/* From how many each row has to where each begins. */
static int64_t sum_up(search *s)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        const int64_t count = s->begin[i];
        s->begin[i] = sum;
        sum += count;
    }
    s->begin[s->rows] = sum;
    return sum;
}

/* Room for `count` values of `size` in a tuple; NULL with an exception. */
static void *add_array(PyObject *tuple, Py_ssize_t place, int64_t count, size_t size)
{
    PyObject *made = NULL;
    if (count <= (int64_t)((size_t)PY_SSIZE_T_MAX / size))
        made = weft_py_memory((Py_ssize_t)((size_t)count * size));
    else
        PyErr_NoMemory();
    if (made == NULL || PyTuple_SetItem(tuple, place, made) != 0) return NULL;
    return PyByteArray_AsString(made);
}

/* Counts, and unless `is_counted` lists: (begin[, first, second[, vectors]]). */
static PyObject *run_search(search *s, bool is_counted, bool has_vectors)
{
    PyObject *out = PyTuple_New(is_counted ? 1 : has_vectors ? 4 : 3);
    s->begin = out == NULL ? NULL : add_array(out, 0, (int64_t)s->rows + 1, sizeof *s->begin);
    bool is_good = s->begin != NULL;
    if (is_good) {
        memset(s->begin, 0, ((size_t)s->rows + 1) * sizeof *s->begin);
        Py_BEGIN_ALLOW_THREADS visit_all(s);
        Py_END_ALLOW_THREADS
    }
    if (is_good && !is_counted) {
        const int64_t pairs = sum_up(s);
        const size_t way = s->desc->dimensions * (s->is_double ? sizeof(double) : sizeof(float));
        s->first = add_array(out, 1, pairs, sizeof *s->first);
        s->second = s->first == NULL ? NULL : add_array(out, 2, pairs, sizeof *s->second);
        if (has_vectors && s->second != NULL) s->vectors = add_array(out, 3, pairs, way);
        is_good = s->second != NULL && (!has_vectors || s->vectors != NULL);
        if (is_good) {
            Py_BEGIN_ALLOW_THREADS visit_all(s);
            Py_END_ALLOW_THREADS
        }
    }
    if (is_good) return out;
    Py_XDECREF(out);
    return NULL;
}

/* (places or None, within, is half, with itself, is counted, has vectors): bytes of where the pairs
 * of each row begin, or of how many it has; of the rows, of the points, of the ways to them. */
static PyObject *grid_pairs(Grid *self, PyObject *arguments)
{
    PyObject *from, *out;
    int is_half, with_itself, is_counted, has_vectors;
    positions places;
    search s = {.desc = &self->desc};
    if (!PyArg_ParseTuple(arguments, "Odpppp", &from, &s.within, &is_half, &with_itself,
                          &is_counted, &has_vectors))
        return NULL;
    if (!Py_IsNone(from) && !read_positions(self, from, &places)) return NULL;
    if (!Py_IsNone(from)) s.places = &places;
    built *of = built_use(self);
    if (of != NULL) {
        s.of = of;
        s.rows = s.places != NULL ? places.count : of->view.count;
        s.is_double = of->is_double || (s.places != NULL && places.is_double);
        s.is_half = is_half && s.places == NULL;
        s.with_itself = with_itself;
        out = run_search(&s, is_counted, has_vectors);
        built_release(of);
    } else {
        out = NULL;
    }
    if (s.places != NULL) PyBuffer_Release(&places.buffer);
    return out;
}

/* ---- cells ---- */

/* (positions): the cell of each, as bytes of 4. */
static PyObject *grid_cells_at(Grid *self, PyObject *from)
{
    positions p;
    if (!read_positions(self, from, &p)) return NULL;
    built *of = built_use(self);
    PyObject *out = of == NULL ? NULL : weft_py_memory((Py_ssize_t)p.count * 4);
    for (uint32_t i = 0; out != NULL && i < p.count; i++) {
        double at[3] = {0};
        for (uint32_t a = 0; a < self->desc.dimensions; a++)
            at[a] = number_at(p.first + i * p.stride, p.is_double, a);
        const uint32_t cell = weft_grid_cell_at(of->grid, at);
        memcpy(PyByteArray_AsString(out) + (size_t)i * 4, &cell, sizeof cell);
    }
    built_release(of);
    PyBuffer_Release(&p.buffer);
    return out;
}

/* (cell, is half): bytes of its runs. */
static PyObject *grid_runs(Grid *self, PyObject *arguments)
{
    uint32_t cell;
    int is_half;
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    if (!PyArg_ParseTuple(arguments, "O&p", weft_py_u32, &cell, &is_half)) return NULL;
    built *of = built_use(self);
    if (of == NULL) return NULL;
    memset(runs, 0, sizeof runs);
    const bool is_known = cell < of->view.cell_count;
    const uint32_t count = (is_half ? weft_grid_runs_half : weft_grid_runs)(of->grid, cell, runs);
    built_release(of);
    if (!is_known) {
        PyErr_Format(PyExc_IndexError, "the grid has no cell %u", cell);
        return NULL;
    }
    return PyByteArray_FromStringAndSize((const char *)runs, (Py_ssize_t)(count * sizeof *runs));
}

/* (): (dimensions, points, cells along x, y, z, size of a cell). */
static PyObject *grid_view(Grid *self, PyObject *unused)
{
    (void)unused;
    built *of = built_use(self);
    if (of == NULL) return NULL;
    const weft_grid_view v = of->view;
    built_release(of);
    return Py_BuildValue("(II(III)(ddd))", self->desc.dimensions, v.count, v.cells[0], v.cells[1],
                         v.cells[2], v.cell_size[0], v.cell_size[1], v.cell_size[2]);
}

/* (0: points, 1: cell_begin, 2: cell_of): an array of the grid, which lives as long as needed. */
static PyObject *grid_array(Grid *self, PyObject *arguments)
{
    unsigned int which;
    if (!PyArg_ParseTuple(arguments, "I", &which)) return NULL;
    built *of = built_use(self);
    if (of == NULL) return NULL;
    GridArray *made = weft_py_new(weft_py_grid_array);
    if (made == NULL) {
        built_release(of);
        return NULL;
    }
    const weft_grid_view *v = &of->view;
    made->built = of;
    made->memory = which == 0 ? v->points : which == 1 ? v->cell_begin : v->cell_of;
    made->bytes = (Py_ssize_t)(which == 1 ? v->cell_count + 1 : v->count) * 4;
    return (PyObject *)made;
}

/* ---- types ---- */

/* (dimensions, least, most, reach, periodic), three of each. */
static PyObject *grid_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    weft_grid_desc d = {0};
    int periodic[3];
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "I(ddd)(ddd)d(ppp)", &d.dimensions, &d.least[0], &d.least[1],
                          &d.least[2], &d.most[0], &d.most[1], &d.most[2], &d.reach, &periodic[0],
                          &periodic[1], &periodic[2]))
        return NULL;
    for (int a = 0; a < 3; a++) d.is_periodic[a] = periodic[a];
    built *made = built_create(&d);
    Grid *self = made == NULL ? NULL : weft_py_new(type);
    if (self == NULL) {
        built_release(made);
        return NULL;
    }
    self->desc = d;
    self->built = made;
    return (PyObject *)self;
}

static void grid_dealloc(Grid *self)
{
    built_release(self->built);
    weft_py_free((PyObject *)self);
}

static PyMethodDef methods[] = {
    {"build", (PyCFunction)grid_build, METH_O, NULL},
    {"pairs", (PyCFunction)grid_pairs, METH_VARARGS, NULL},
    {"cells_at", (PyCFunction)grid_cells_at, METH_O, NULL},
    {"runs", (PyCFunction)grid_runs, METH_VARARGS, NULL},
    {"view", (PyCFunction)grid_view, METH_NOARGS, NULL},
    {"array", (PyCFunction)grid_array, METH_VARARGS, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, grid_new}, {Py_tp_dealloc, grid_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec weft_py_grid_spec = {"weft._native.Grid", sizeof(Grid), 0, Py_TPFLAGS_DEFAULT, slots};

static int array_export(GridArray *self, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, (PyObject *)self, (void *)(uintptr_t)self->memory, self->bytes,
                             1, flags);
}

static void array_dealloc(GridArray *self)
{
    built_release(self->built);
    weft_py_free((PyObject *)self);
}

static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, array_dealloc}, {Py_bf_getbuffer, array_export}, {0}};
PyType_Spec weft_py_grid_array_spec = {"weft._native.GridArray", sizeof(GridArray), 0,
                                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                       array_slots};
