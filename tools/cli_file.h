/* SPDX-License-Identifier: MIT */
/* cli_file.h: files that a command writes: complete, or not there.
 *
 * A regular file is written beside its place (NAME.part), synced and renamed; a symbolic link stays
 * and its file is replaced; a FIFO or device is written into as it is. When the process is told to
 * stop meanwhile (Ctrl-C, SIGTERM, SIGHUP, SIGPIPE), the part is removed. One file at a time.
 */
#ifndef WEFT_TOOLS_CLI_FILE_H
#define WEFT_TOOLS_CLI_FILE_H

#include <stdbool.h>
#include <stdio.h>

enum { WEFT_CLI_PATH_BYTES = 4096 };

/* One file. Owner: the caller, from begin to end. */
typedef struct weft_cli_file {
    const char *command; /* for messages */
    FILE *stream;        /* write here */
    char path[WEFT_CLI_PATH_BYTES];
    char part[WEFT_CLI_PATH_BYTES + 8];
    bool is_stream; /* a FIFO or device */
} weft_cli_file;

/* Opens FOLDER/NAME (NAME alone when `folder` is NULL). Returns 0, or -1 after saying on stderr
 * what is wrong. */
int weft_cli_file_begin(weft_cli_file *file, const char *command, const char *folder,
                        const char *name);
/* Completes it, or, when something could not be written, removes it: returns 0, or -1 after saying
 * what is wrong. */
int weft_cli_file_end(weft_cli_file *file);
/* Removes it instead; the file that was there stays. */
void weft_cli_file_drop(weft_cli_file *file);

/* Makes the folder if it is missing and tries whether FOLDER/NAME can be written, before the work
 * is done; leaves nothing. Returns 0, or -1 after saying on stderr what is wrong. */
int weft_cli_file_probe(const char *command, const char *folder, const char *name);

/* Whether writing OUT leaves IN as it is: they are different files, by whatever paths. IN may be
 * "-" for standard input, or NULL. Returns 0, or -1 after saying on stderr what is wrong (bad
 * usage). */
int weft_cli_file_apart(const char *command, const char *out, const char *in);

#endif
