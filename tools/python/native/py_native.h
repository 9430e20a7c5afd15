/* SPDX-License-Identifier: MIT */
/* py_native.h: the objects of the Python extension weft._native (the stable ABI of Python 3.11).
 *
 * weft/__init__.py is the interface of Python; it keeps types and systems, and gives arrays their
 * dtypes. These objects keep memory safe, whatever a script does:
 *
 *   World     owns a weft_world. Counts the views of its columns: while one lives, every call that
 *             could move or free rows raises BufferError.
 *   Query     a query; lives until the last loop over it has ended.
 *   Loop      an open loop over a query; ends by end(), at the last slice, or with the object.
 *   Slice     one position of a loop; refused once the loop went on.
 *   Column    exports the memory of a slice's column by the buffer protocol, and counts who has it.
 *   Snapshot, Recorder, Scene, Live   end with the object, or with the world.
 *   Grid, Sum   need no world.
 *
 * All is called with the GIL held, but weft_world_step, during which `is_stepping` refuses calls
 * of other threads. Entities are integers, version << 32 | index. */
#ifndef WEFT_PYTHON_NATIVE_H
#define WEFT_PYTHON_NATIVE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef WEFT_SINGLE_FILE
#include "weft.h"
#else
#include <weft/buffers.h>
#include <weft/grid.h>
#include <weft/observer.h>
#include <weft/random.h>
#include <weft/relation.h>
#include <weft/snapshot.h>
#include <weft/sum.h>
#include <weft/type.h>
#include <weft/weft.h>
#include <weft/world_file.h>
#endif

/* What has to end before its world: a snapshot, a recorder, a scene, a live link. In the world's
 * list. Owned by its object of Python; one that is dropped while the world is not idle (it steps,
 * a loop is open) is an orphan, and ends when it is. */
typedef struct dependent {
    struct dependent *next, **at; /* at: NULL once the world has ended */
    void (*end)(void *handle);
    void *handle; /* NULL once the world has ended */
    int is_orphan;
    int has_no_object; /* ends with the world alone */
} dependent;

typedef struct World {
    PyObject_HEAD weft_world *world; /* NULL: closed */
    weft_archetype empty; /* what recorders create: archetypes are not made inside a loop */
    Py_ssize_t views;     /* exports of columns that live */
    Py_ssize_t loops;     /* open loops */
    int is_stepping;
    dependent *dependents;
    struct told *told;         /* what observers were told since the last step (py_relation.c) */
    struct told **told_end;    /* where the next one goes */
    uint64_t untold;           /* batches for which there was no memory */
    struct type_memory *types; /* descriptions of components, which outlive the world */
} World;

typedef struct Query {
    PyObject_HEAD World *world;
    weft_query query;
    weft_term *terms; /* as the query has them */
    uint32_t term_count;
} Query;

typedef struct Loop {
    PyObject_HEAD Query *query;
    weft_cursor cursor;
    int is_open;
    uint64_t position; /* counts slices: a Slice of an earlier one is refused */
    Py_ssize_t views;
    float dt;
} Loop;

typedef struct Slice {
    PyObject_HEAD Loop *loop;
    uint64_t position;
} Slice;

typedef struct Column {
    PyObject_HEAD Loop *loop;
    void *memory;
    Py_ssize_t bytes;
    int is_writable;
    uint64_t position;
} Column;

/* Snapshot and Recorder of Python. */
typedef struct Kept {
    PyObject_HEAD World *world;
    dependent *dependent; /* a weft_snapshot or a weft_recorder */
    weft_entity made;     /* of a recorder: the last entity-to-be since it was played; or null */
    char is_short;        /* of a recorder: memory ran out in a call, maybe midway: none is made */
} Kept;

/* The types of the module, made at import. */
extern PyObject *weft_py_raiser; /* _errors.make, which makes the exception of an error */
extern PyTypeObject *weft_py_world, *weft_py_query, *weft_py_loop, *weft_py_slice, *weft_py_column,
    *weft_py_snapshot, *weft_py_recorder, *weft_py_scene, *weft_py_grid, *weft_py_grid_array,
    *weft_py_sum, *weft_py_live;
extern PyType_Spec weft_py_world_spec, weft_py_query_spec, weft_py_loop_spec, weft_py_slice_spec,
    weft_py_column_spec, weft_py_snapshot_spec, weft_py_recorder_spec, weft_py_scene_spec,
    weft_py_grid_spec, weft_py_grid_array_spec, weft_py_sum_spec, weft_py_live_spec;

/* What a call does with the world. */
enum { READS, CHANGES };

/* The world for a call; NULL with an exception: closed, stepping, or, for CHANGES, views live. */
weft_world *weft_py_use(World *self, int how);
/* Raises the class of weft.Error of a failed call, with the world's text; returns NULL. */
PyObject *weft_py_fail(World *self, weft_result result);
/* The same with a text, an entity or null, and the name of a component or NULL. */
PyObject *weft_py_raise(weft_result result, const char *text, weft_entity entity, const char *name);
/* None, or as weft_py_fail. */
PyObject *weft_py_done(World *self, weft_result result);

/* Puts a handle into the world's list; NULL with an exception, and the handle has ended. */
dependent *weft_py_depend(World *world, void *handle, void (*end)(void *handle));
/* The object of a handle that `end` ends; NULL with an exception, and the handle has ended. */
PyObject *weft_py_keep(World *world, PyTypeObject *type, void *handle, void (*end)(void *handle));
void weft_py_kept_dealloc(Kept *self);
/* Frees what observers were told. */
void weft_py_told_free(World *self);
/* Ends all dependents, or those that were dropped during a step. */
void weft_py_end_dependents(World *world, bool orphans_only);

/* Frees the descriptions of a world's components; after it. */
void weft_py_types_free(struct type_memory *types);

/* Arguments. False with an exception. */
/* For "O&": a whole number that fits uint32_t at `out`; 0 with an exception ("I" wraps). */
int weft_py_u32(PyObject *from, void *out);
bool weft_py_entity(PyObject *from, weft_entity *out);
/* An entity, which goes to `one`, or bytes of many, which stay `many`'s: PyBuffer_Release. */
bool weft_py_entities(PyObject *from, weft_entity *one, Py_buffer *many, const weft_entity **out,
                      uint32_t *count);
PyObject *weft_py_entity_number(weft_entity entity);
bool weft_py_component(World *self, PyObject *from, weft_component *out);
/* Contiguous bytes of an object; released with PyBuffer_Release. `bytes`: wanted, or -1. */
bool weft_py_bytes(PyObject *from, Py_ssize_t bytes, Py_buffer *out);
/* A bytearray of this size, whose bytes are not set; NULL with an exception. Without memory
 * PyByteArray_FromStringAndSize prints an error of its own: it ends what it has not begun. */
PyObject *weft_py_memory(Py_ssize_t bytes);
/* A list of component numbers; freed with PyMem_Free. */
bool weft_py_components(World *self, PyObject *list, weft_component **out, uint32_t *count);
/* Whether bytes are the value: no tag, shared value, buffer, chunk value; `flags`: allowed, too. */
bool weft_py_is_plain(World *self, weft_component component, uint32_t flags);
uint32_t weft_py_flags(const World *self, weft_component component);
/* The elements of a buffer, copied, as bytes. */
PyObject *weft_py_elements(const weft_buffers *buffers, uint32_t row, size_t size);
/* What becomes of elements: room for them is made, they replace those of the row, or come behind
 * them. A row that has no room for all keeps what it has. */
enum { WEFT_PY_ROOM, WEFT_PY_REPLACE, WEFT_PY_APPEND };
weft_result weft_py_elements_write(const weft_buffers *buffers, uint32_t row, const Py_buffer *from,
                                   size_t size, int how);
size_t weft_py_size(const World *self, weft_component component);
void *weft_py_new(PyTypeObject *type);
void weft_py_free(PyObject *self);

/* Methods that stand in other sources than their types. */
PyObject *weft_py_create(World *self, PyObject *arguments);
PyObject *weft_py_component_create(World *self, PyObject *arguments);
PyObject *weft_py_query_create(World *self, PyObject *arguments);
PyObject *weft_py_system_load(World *self, PyObject *arguments);
PyObject *weft_py_snapshot_take(World *self, PyObject *arguments);
PyObject *weft_py_snapshot_restore(World *self, PyObject *arguments);
PyObject *weft_py_recorder_create(World *self, PyObject *arguments);
PyObject *weft_py_builtin(World *self, PyObject *arguments);
PyObject *weft_py_relation_declare(World *self, PyObject *arguments);
PyObject *weft_py_relation_set(World *self, PyObject *arguments);
PyObject *weft_py_relation_sources(World *self, PyObject *arguments);
PyObject *weft_py_relation_target(World *self, PyObject *arguments);
PyObject *weft_py_instantiate(World *self, PyObject *arguments);
PyObject *weft_py_observer_create(World *self, PyObject *arguments);
PyObject *weft_py_observer_destroy(World *self, PyObject *arguments);
PyObject *weft_py_relation_settle(World *self, PyObject *unused);
PyObject *weft_py_observers_run(World *self, PyObject *unused);
PyObject *weft_py_observed(World *self, PyObject *unused);
PyObject *weft_py_scene_create(World *self, PyObject *unused);
PyObject *weft_py_live_start(World *self, PyObject *arguments);
PyObject *weft_py_inspect(World *self, PyObject *arguments);
PyObject *weft_py_world_stats(World *self, PyObject *unused);
PyObject *weft_py_frame_stats(World *self, PyObject *unused);
PyObject *weft_py_compact(World *self, PyObject *arguments);
PyObject *weft_py_clear_references(World *self, PyObject *unused);
PyObject *weft_py_archetypes(World *self, PyObject *unused);
PyObject *weft_py_systems(World *self, PyObject *unused);
PyObject *weft_py_system_enable(World *self, PyObject *arguments);
PyObject *weft_py_system_remove(World *self, PyObject *arguments);
PyObject *weft_py_schedule_set(World *self, PyObject *arguments);
PyObject *weft_py_schedule_text(World *self, PyObject *arguments);
PyObject *weft_py_search(World *self, PyObject *arguments);
PyObject *weft_py_shared_values(World *self, PyObject *number);
PyObject *weft_py_relation_stats(World *self, PyObject *number);
PyObject *weft_py_depth_component(World *self, PyObject *number);
PyObject *weft_py_query_change(Query *self, PyObject *arguments);
PyObject *weft_py_query_set(Query *self, PyObject *arguments);
PyObject *weft_py_query_enable(Query *self, PyObject *arguments);
PyObject *weft_py_query_destroy(Query *self, PyObject *unused);
PyObject *weft_py_recorder_query_change(Kept *self, PyObject *arguments);
PyObject *weft_py_recorder_query_set(Kept *self, PyObject *arguments);
PyObject *weft_py_recorder_query_enable(Kept *self, PyObject *arguments);
PyObject *weft_py_recorder_query_destroy(Kept *self, PyObject *of);
bool weft_py_terms(World *self, PyObject *list, weft_query_desc *desc, weft_term **owned);

#endif
