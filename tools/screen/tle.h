/* SPDX-License-Identifier: MIT */
/* tle.h: reading catalogues of two-line elements (TLE), the text format in which orbits are
 * published.
 *
 * An object is two lines of 69 characters, or three with a name in front. The file is untrusted:
 * every field is checked, a bad object is reported with file, line, column and reason and left
 * out, and reading goes on. Memory is bounded by the number of good objects, whatever the file
 * holds. Lines may end in LF or CRLF, a byte order mark, blank lines and lines starting with # are
 * skipped, characters after column 69 are ignored, catalogue numbers may be Alpha-5 (T0123 =
 * 270123).
 *
 * Of two sets with the same catalogue number the one with the later epoch is kept (of equal
 * epochs, the one further down); each one dropped is reported, too.
 */
#ifndef WEFT_SCREEN_TLE_H
#define WEFT_SCREEN_TLE_H

#include <stddef.h>
#include <stdint.h>

#include "sgp4.h"

enum { TLE_NAME_BYTES = 25, TLE_LINE_LENGTH = 69 };

struct tle_object {
    uint32_t number; /* catalogue number */
    uint32_t line;   /* of its first element line in the file */
    char name[TLE_NAME_BYTES];
    struct sgp4_elements elements;
};

/* Objects sorted by catalogue number; each number once. Owns `objects`. */
struct tle_catalogue {
    struct tle_object *objects;
    uint32_t count, capacity;
    uint32_t bad_lines;  /* reported and skipped */
    uint32_t duplicates; /* reported and dropped */
    uint32_t cksum;      /* of the file, as the command cksum prints it */
    uint64_t bytes;      /* of the file; 0: it was not one */
};

/* Line and column count from 1; column 0 means the whole line. The text lives until the callback
 * returns. */
struct tle_problem {
    const char *path;
    uint64_t line;
    uint32_t column;
    const char *reason;
};

typedef void tle_report_fn(void *user, const struct tle_problem *problem);

/* TLE_FILE: cannot be opened or read, or 64 MiB without an object; the reason was reported as a
 * problem on line 0. */
enum tle_result { TLE_OK, TLE_FILE, TLE_NO_MEMORY };

/* Reads a whole file, "-" for standard input: two-line elements, or, by how it begins, OMM as CSV
 * or JSON (omm.h). On success the caller owns the catalogue and ends it with
 * tle_catalogue_fini(), also when it is empty. On failure nothing needs to be freed. */
enum tle_result tle_read(const char *path, tle_report_fn *report, void *user,
                         struct tle_catalogue *catalogue);

/* Reads the first object of a text of a few lines: 0, or -1 after what is wrong was reported; the
 * lines of problems count from the begin of the text, their path is NULL. */
int tle_read_record(const char *text, size_t bytes, tle_report_fn *report, void *user,
                    struct tle_object *out);

/* A name as objects have it: at most 24 bytes, cut between characters; control characters become
 * blanks, bytes that are not UTF-8 '?'. */
void tle_name_set(char name[TLE_NAME_BYTES], const char *text, size_t bytes);

/* A catalogue by hand: objects one by one (-1: out of memory, the catalogue is as before), then
 * this, which sorts them and drops duplicates as tle_read does. */
int tle_append(struct tle_catalogue *catalogue, const struct tle_object *object);
void tle_drop_duplicates(struct tle_catalogue *catalogue, const char *path, tle_report_fn *report,
                         void *user);

void tle_catalogue_fini(struct tle_catalogue *catalogue);

#endif
