/* SPDX-License-Identifier: MIT */
/* py_sum.c: weft._native.Sum: exact sums of arrays, which do not depend on the order
 * (<weft/sum.h>). */
#include "py_native.h"

#include <string.h>

typedef struct Sum {
    PyObject_HEAD weft_sum sum;
} Sum;

/* (array of one dimension of float32 or float64). Adds with Python's lock: 2 ns a value. */
static PyObject *sum_add(Sum *self, PyObject *from)
{
    Py_buffer b;
    if (PyObject_GetBuffer(from, &b, PyBUF_STRIDES | PyBUF_FORMAT) != 0) return NULL;
    const char *format = b.format == NULL ? "" : b.format;
    const bool is_double = strcmp(format, "d") == 0;
    if (b.ndim != 1 || (!is_double && strcmp(format, "f") != 0)) {
        PyBuffer_Release(&b);
        PyErr_SetString(PyExc_TypeError, "an array of float32 or float64 is needed");
        return NULL;
    }
    const char *at = b.buf;
    for (Py_ssize_t i = 0; i < b.shape[0]; i++, at += b.strides[0]) {
        double wide;
        float narrow;
        if (is_double) {
            memcpy(&wide, at, sizeof wide);
        } else {
            memcpy(&narrow, at, sizeof narrow);
            wide = (double)narrow;
        }
        weft_sum_add(&self->sum, wide);
    }
    PyBuffer_Release(&b);
    Py_RETURN_NONE;
}

static PyObject *sum_merge(Sum *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, weft_py_sum)) {
        PyErr_SetString(PyExc_TypeError, "a sum is needed");
        return NULL;
    }
    weft_sum_merge(&self->sum, &((Sum *)other)->sum);
    Py_RETURN_NONE;
}

static PyObject *sum_value(Sum *self, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble(weft_sum_value(&self->sum));
}

/* Bytes of the words, settled: integers that MPI adds. */
static PyObject *sum_words(Sum *self, PyObject *unused)
{
    (void)unused;
    weft_sum_settle(&self->sum);
    return PyByteArray_FromStringAndSize((const char *)self->sum.words, sizeof self->sum.words);
}

/* (bytes of words): the sum becomes what they are. */
static PyObject *sum_set_words(Sum *self, PyObject *from)
{
    Py_buffer bytes;
    if (!weft_py_bytes(from, sizeof self->sum.words, &bytes)) return NULL;
    int64_t words[WEFT_SUM_WORDS];
    memcpy(words, bytes.buf, sizeof words);
    PyBuffer_Release(&bytes);
    for (int i = 0; i < WEFT_SUM_WORDS; i++)
        if (words[i] > INT64_MAX / 2 || words[i] < -(INT64_MAX / 2)) {
            PyErr_SetString(PyExc_OverflowError, "these are the words of more than 2^30 sums");
            return NULL;
        }
    memcpy(self->sum.words, words, sizeof words);
    self->sum.adds = 0;
    weft_sum_settle(&self->sum);
    Py_RETURN_NONE;
}

static void sum_dealloc(Sum *self)
{
    weft_py_free((PyObject *)self);
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)sum_add, METH_O, NULL},
    {"merge", (PyCFunction)sum_merge, METH_O, NULL},
    {"value", (PyCFunction)sum_value, METH_NOARGS, NULL},
    {"words", (PyCFunction)sum_words, METH_NOARGS, NULL},
    {"set_words", (PyCFunction)sum_set_words, METH_O, NULL},
    {0},
};
static PyType_Slot slots[] = {{Py_tp_dealloc, sum_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec weft_py_sum_spec = {"weft._native.Sum", sizeof(Sum), 0, Py_TPFLAGS_DEFAULT, slots};
