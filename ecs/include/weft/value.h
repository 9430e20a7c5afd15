/* SPDX-License-Identifier: MIT */
/* value.h: described values as text and back: JSON with comments, units, ranges, positions in every
 * error; differences of two values.
 *
 *   // 400 km up
 *   {"mean_motion": "15.5 rev/day", "drag": [0.1, 0, 0], "phase": "coast", "mask": "a | b"}
 *
 * Public, and independent of worlds. What is written reads back to the same bytes. Reading is
 * sparse: a field that the text leaves out keeps its value. Text is UTF-8; commas may trail, and
 * comments are those of C. Threads: any. */
#ifndef WEFT_VALUE_H
#define WEFT_VALUE_H

#include <weft/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- texts and their errors ---- */

#define WEFT_VALUE_DEPTH 64 /* most objects and arrays within each other in a text */

/* A text to be read. Borrowed; need not end with a NUL. */
typedef struct weft_text {
    const char *bytes;
    size_t count;
    const char *file; /* its name in errors; NULL: "text" */
} weft_text;

/* How references are written and read, and how text looks. All zero: entities as "index:version",
 * blobs as the number of the handle, on one line. */
typedef struct weft_value_io {
    /* Writes what stands for a reference, a word of UTF-8 of at most 4,095 bytes, to `text`; its
     * length as snprintf. */
    size_t (*write_entity)(weft_entity entity, char *text, size_t capacity, void *user);
    size_t (*write_blob)(weft_blob_ref blob, char *text, size_t capacity, void *user);
    /* NULL, or a static text that says what is wrong with the word. */
    const char *(*read_entity)(const char *word, size_t length, weft_entity *out, void *user);
    const char *(*read_blob)(const char *word, size_t length, weft_blob_ref *out, void *user);
    void *user;
    uint32_t indent; /* blanks per level; 0: one line */
} weft_value_io;

/* ---- writing and reading ---- */

/* Writes a value as text (NUL-terminated if it fits); returns its length like snprintf. A type
 * without fields is shown as {"size": 4, "bytes": "0x01020304"}; a bool that is not 0 is true.
 * `io` may be NULL. Numbers are the shortest that read back to the same; not-a-number and the
 * infinities are words. */
WEFT_API size_t weft_value_format(const weft_value_io *io, const weft_type *type, const void *value,
                                  char *text, size_t capacity);

/* Reads a text into a value, which holds what absent fields keep: start from type->initial, from
 * zero, or from a value to be changed. Numbers may have a unit where the field has one. After an
 * error the value is as before. `io` and `error` may be NULL. Errors: INVALID_ARGUMENT (no text of
 * this form, one that is deeper than WEFT_VALUE_DEPTH, an unknown field, a number out of range, a
 * unit of another dimension, what type->check refused), OUT_OF_MEMORY. Cost: some 4 ns a byte;
 * allocates for values of more than 1 KiB. */
WEFT_API weft_result weft_value_parse(const weft_value_io *io, const weft_text *text,
                                      const weft_type *type, void *value, weft_error *error);

/* The same for one value within a value. */
WEFT_API weft_result weft_path_value_parse(const weft_value_io *io, const weft_text *text,
                                           const weft_type *type, const weft_path *path,
                                           void *value, weft_error *error);
WEFT_API size_t weft_path_value_format(const weft_value_io *io, const weft_type *type,
                                       const weft_path *path, const void *value, char *text,
                                       size_t capacity);

/* ---- checks and differences ---- */

/* Checks ranges, bools (0 or 1) and type->check of a value, nested ones included. Errors:
 * INVALID_ARGUMENT (`error` names the field; it has no line, and may be NULL). */
WEFT_API weft_result weft_value_check(const weft_type *type, const void *value, weft_error *error);

/* Sets a value to type->initial, or to zero. */
WEFT_API void weft_value_initial(const weft_type *type, void *value);

/* The fields and elements in which two values differ, bit by bit, in order of the fields; padding
 * does not count. Writes up to `capacity`, returns how many there are. */
WEFT_API uint32_t weft_value_diff(const weft_type *type, const void *a, const void *b,
                                  weft_path *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
