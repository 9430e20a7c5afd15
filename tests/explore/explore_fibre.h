/* SPDX-License-Identifier: MIT */
/* explore_fibre.h: stacks that hand control to each other inside one OS thread. On x86-64 a switch
 * is a dozen instructions (no signal mask); elsewhere it is ucontext. */
#ifndef WEFT_EXPLORE_FIBRE_H
#define WEFT_EXPLORE_FIBRE_H

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define FIBRE_STACK_BYTES (256u * 1024u)

typedef struct explore_fibre {
    void *stack; /* mapped once, with a guard page below; NULL for the host */
#if defined(__x86_64__)
    void *sp;
#else
    ucontext_t context;
#endif
} explore_fibre;

/* Prepares `fibre` to call `entry` (which never returns) at the next switch to it. Exits the
 * process when no stack can be mapped. */
void explore_fibre_prepare(explore_fibre *fibre, void (*entry)(void));
void explore_fibre_switch(explore_fibre *from, explore_fibre *to);

#endif
