/* SPDX-License-Identifier: MIT */
/* systems.h: what operations tell those of systems (ops_system.c) and observers (ops_observer.c).
 *
 * A step and weft_system_run run observers at places that only weft knows. A snapshot takes rates
 * and timers back; a loaded world has neither systems nor observers. */
#ifndef WEFT_TOOLS_SYSTEMS_H
#define WEFT_TOOLS_SYSTEMS_H

#include "everything.h"

/* Before a step: observers record nothing in it. After it: what they were told must lead from what
 * they saw last to what there is. */
void observers_before_step(everything *e);
void observers_after_step(everything *e);

/* The model's clock is that of a snapshot now: systems that are younger begin again. */
void systems_after_restore(everything *e);
/* Another world is here now, which was loaded: groups that get a rate go on with their rests. */
void systems_after_load(everything *e);

/* What the C program needs of them, before main. */
void systems_print(FILE *out);
void observers_print(FILE *out);

#endif
