/* SPDX-License-Identifier: MIT */
/* traced.h: a child process whose k-th system call on a file that it writes fails, is cut short, or
 * never comes back: by ptrace, so for the real calls of any program, stdio included.
 *
 * Counted are calls on descriptors that the child opened for writing or as a folder, and calls that
 * open, rename and remove files. x86-64 Linux; elsewhere, or where ptrace is not allowed,
 * traced_works is false. Threads: one child at a time; the child has one thread.
 */
#ifndef WEFT_TESTS_TRACED_H
#define WEFT_TESTS_TRACED_H

#include <stdbool.h>
#include <stdint.h>

typedef enum traced_fault {
    TRACED_NOTHING,
    TRACED_IO,          /* EIO, once */
    TRACED_NO_SPACE,    /* ENOSPC, once, of calls that take space */
    TRACED_FULL,        /* ENOSPC of these calls from then on */
    TRACED_NO_LOCK,     /* ENOLCK of flock */
    TRACED_NO_ROOM,     /* EMFILE of opens */
    TRACED_INTERRUPTED, /* EINTR, once */
    TRACED_SHORT,       /* half of a write */
    TRACED_KILL,        /* SIGKILL before the call */
    TRACED_FAULTS
} traced_fault;

/* How the child ended. */
typedef struct traced_end {
    bool is_hit;     /* the fault took place */
    bool was_killed; /* by a signal */
    int status;      /* of its exit */
    char call[32];   /* the first that the fault hit */
    char said[1024]; /* what the child wrote by traced_say and to stderr */
} traced_end;

bool traced_works(void);
/* The name of a fault. */
const char *traced_name(traced_fault fault);
/* What the kernel says of it: part of messages; NULL: nothing. */
const char *traced_reason(traced_fault fault);
/* Runs `child` in a process of its own, which ends with what it returns. The fault hits its `at`-th
 * call, from 1, of those that the fault can hit between traced_begin and its end. */
void traced_run(int (*child)(void *user), void *user, traced_fault fault, uint32_t at,
                traced_end *end);
/* In the child: calls count from now on. A program that is executed counts from its first call. */
void traced_begin(void);
/* In the child: calls do not count any more. */
void traced_stop(void);
/* In the child: text for traced_end.said, appended. */
void traced_say(const char *text);

#endif
