/* SPDX-License-Identifier: MIT */
/* cli.h: what every sub-command of the weft binary shares: how it joins the table, how it reads its
 * options, how it reports.
 *
 * A sub-command `frob` is a file tools/cmd_frob.c that defines
 *
 *     const weft_cli_command weft_cli_commands_frob[] = {{"frob", "one line", weft_cli_frob}, {0}};
 *
 * CMake finds it by its name. The contract of all commands: --help; --json prints one JSON object
 * per line on stdout and nothing else; progress goes to stderr, and only when that is a terminal;
 * exit status WEFT_CLI_OK, WEFT_CLI_FOUND (the job found what it looks for: a difference, a mistake
 * of a document or catalogue, a broken promise), or 2: WEFT_CLI_FAILED (it could not be done),
 * WEFT_CLI_USAGE (bad usage).
 */
#ifndef WEFT_TOOLS_CLI_H
#define WEFT_TOOLS_CLI_H

#include "json.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT_CLI_OK = 0,
    WEFT_CLI_FOUND = 1,
    WEFT_CLI_FAILED = 2,
    WEFT_CLI_USAGE = WEFT_CLI_FAILED,
    WEFT_CLI_CONTINUE = -1
};

/* One sub-command. `run` gets its own name as argv[0] and returns an exit status. */
typedef struct weft_cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} weft_cli_command;

typedef enum weft_cli_kind {
    WEFT_CLI_FLAG,   /* --json; value: bool */
    WEFT_CLI_COUNT,  /* --workers 4; value: uint64_t; decimal or 0x */
    WEFT_CLI_NUMBER, /* --step 0.5; value: double; finite */
    WEFT_CLI_TEXT,   /* --out DIR; value: const char *, points into argv */
    WEFT_CLI_MAYBE,  /* --inspect or --inspect=PORT; value: const char *, "" without one */
} weft_cli_kind;

/* One option of a command. `value` holds the default before weft_cli_parse and the result after it.
 * A number outside [min, max] is refused; min = max = 0 means any number. */
typedef struct weft_cli_option {
    const char *name;     /* long name without dashes; a NULL name ends the list */
    const char *argument; /* as shown in --help, NULL for a flag */
    const char *help;
    weft_cli_kind kind;
    void *value;
    double min, max;
    char letter; /* 'o': -o FILE as well; 0: none */
} weft_cli_option;

/* The text of --help and the options, for weft_cli_parse. */
typedef struct weft_cli_usage {
    const char *command;   /* "bench" */
    const char *arguments; /* "[NAME ...]", or "" when it takes none */
    const char *summary;
    const weft_cli_option *options;
    const char *notes;    /* printed after the options; may be NULL */
    const char *examples; /* command lines, one per line, printed last; may be NULL */
} weft_cli_usage;

/* Reads the options of argv; sets *first to the index of the first remaining argument (options may
 * stand anywhere before "--"). Returns WEFT_CLI_CONTINUE, or the status to exit with: WEFT_CLI_OK
 * after --help, WEFT_CLI_USAGE after a mistake, already reported. At most 32 options. */
int weft_cli_parse(const weft_cli_usage *usage, int argc, char **argv, int *first);

/* Prints "weft <command>: <text>" and how to get help to stderr; returns WEFT_CLI_USAGE. */
int weft_cli_misuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Misuse is not printed: weft-shards sets it on all ranks but 0, which have the same arguments. */
extern bool weft_cli_misuse_is_silent;
/* Prints "weft <command>: <text>" to stderr; returns WEFT_CLI_FAILED. */
int weft_cli_fail(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a mistake in what the job reads; returns WEFT_CLI_FOUND. */
int weft_cli_find(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Replaces the progress line on stderr; does nothing when stderr is no terminal. */
void weft_cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The progress line of counted work: how much is done, its rate and when it will be. `done` of
 * `all` `things` after `seconds`; at most ten times a second, and when all is done. */
void weft_cli_progress_of(const char *what, uint64_t done, uint64_t all, const char *things,
                          double seconds);
/* Removes the progress line; call before printing anything else. */
void weft_cli_progress_clear(void);

/* Prints a text to stdout in 80 columns, from column `at` of a line that is begun; further lines
 * begin with `indent` blanks. Line ends of the text stay, a word that is too long is not cut. Ends
 * with a line end. */
void weft_cli_print_text(const char *text, uint32_t at, uint32_t indent);

/* The name in `names` (ended by NULL) nearest to `word`, or NULL when none is near: for "did you
 * mean". Cost: O(names * length^2). */
const char *weft_cli_nearest(const char *word, const char *const *names);

/* CPUs this process may run on: the default of every --workers. At least 1. */
uint32_t weft_cli_cpu_count(void);

#endif
