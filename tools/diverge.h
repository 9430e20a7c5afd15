/* SPDX-License-Identifier: MIT */
/* diverge.h: where two state logs (weft/state_log.h) begin to differ: step, system, component,
 * entity and the values of both.
 *
 * Logs are read step by step, so their length costs no memory. Within a step the order of effect
 * counts: the first system whose output differs is named, not one that only passed it on.
 */
#ifndef WEFT_TOOLS_DIVERGE_H
#define WEFT_TOOLS_DIVERGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WEFT_DIVERGE_TEXT = 160 };

typedef enum weft_divergence_kind {
    WEFT_SAME,           /* all steps of both */
    WEFT_DIFFERS_WRITE,  /* what a system wrote */
    WEFT_DIFFERS_RECORD, /* a command that a system recorded */
    WEFT_DIFFERS_PLAY,   /* what playback made of equal commands */
    WEFT_DIFFERS_HOST,   /* what the host wrote between two steps, or before the first */
    WEFT_DIFFERS_SETTLE, /* what relations and observers made of equal playbacks */
    WEFT_DIFFERS_ALONE,  /* what an EXCLUSIVE system did */
    WEFT_DIFFERS_ELSE,   /* the world at the end of the step, but nothing of the above */
    WEFT_DIFFERS_LENGTH, /* one log ends earlier */
    WEFT_DIFFERS_INPUT,  /* no state log: `what` says which one, and why */
} weft_divergence_kind;

/* The first difference. Empty texts are not known: the logs have no rows of that step. */
typedef struct weft_divergence {
    weft_divergence_kind kind;
    uint64_t step;
    uint32_t position;              /* of the system, in the order of effect, from 0 */
    char system[WEFT_DIVERGE_TEXT]; /* PLAY: those that recorded for the entity */
    char component[WEFT_DIVERGE_TEXT];
    char entity[WEFT_DIVERGE_TEXT];    /* "-": the component is a resource */
    char what[WEFT_DIVERGE_TEXT];      /* RECORD: the command, if
                                         its rows are logged; PLAY: where it was played back */
    char values[2][WEFT_DIVERGE_TEXT]; /* of the two logs; "-": it is not there */
    uint64_t rows;                     /* that differ of this component */
} weft_divergence;

/* Compares two logs from where they stand. Returns whether both could be read. */
bool weft_diverge(FILE *a, FILE *b, weft_divergence *out);

/* The difference in words, several lines; `names` are those of the two logs. */
void weft_diverge_print(FILE *out, const weft_divergence *d, const char *const names[2]);

#endif
