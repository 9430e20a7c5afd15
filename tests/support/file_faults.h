/* SPDX-License-Identifier: MIT */
/* file_faults.h: a file that is written by a process whose k-th system call fails, for every k and
 * every fault of traced.h: the old file is there, whole, or the new one; nothing else stays beside
 * it after an error; the error says what the system said; the next write works, also over what a
 * killed process left. With WEFT_TURN, a number: every third k, the others with another number.
 */
#ifndef WEFT_TESTS_FILE_FAULTS_H
#define WEFT_TESTS_FILE_FAULTS_H

#include <stdbool.h>

/* What a process does that writes `path`. Variant 0 and 1: the old content and the new one. Returns
 * 0, or another number after it has said why (traced_say, or stderr of a program). Calls
 * traced_begin, unless it executes a program. */
typedef struct file_writer {
    const char *name;
    const char *file; /* its name; NULL: "file" */
    int (*write)(const char *path, int variant);
    const char *left; /* what a killed process may leave beside it: the end of its name */
    bool is_log;      /* written in place: a part of the new content may be there */
    bool needs_old;   /* there is nothing to write without an old one */
    bool is_dated;    /* no two files are equal: complete means `tail` is its end */
    const char *tail;
    bool is_stdio; /* its buffered writes do not go on after EINTR: that is an error */
    bool is_mute;  /* the exit status does not tell a failure: what it says does */
} file_writer;

/* Ends the test at the first fault of the writer. How many calls there were to hit. */
unsigned file_faults_sweep(const file_writer *writer);

#endif
