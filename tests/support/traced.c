/* SPDX-License-Identifier: MIT */
/* traced.c: faults of system calls by ptrace: see traced.h. A call that fails is replaced by number
 * -1 when it begins, and gets its result when it ends. */
#include "traced.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024, MARK_BEGIN = -77, MARK_STOP = -78 };

static char *board; /* shared with the child */
static int errors;  /* what the child writes to stderr */

static const struct {
    const char *name, *reason;
    int error;
} faults[TRACED_FAULTS] = {
    {"nothing", NULL, 0},
    {"EIO", "Input/output error", EIO},
    {"ENOSPC", "No space left on device", ENOSPC},
    {"ENOSPC from then on", "No space left on device", ENOSPC},
    {"ENOLCK", "No locks available", ENOLCK},
    {"EMFILE", "Too many open files", EMFILE},
    {"EINTR", NULL, EINTR},
    {"a short write", NULL, 0},
    {"SIGKILL", NULL, 0},
};

const char *traced_name(traced_fault fault)
{
    return faults[fault].name;
}

const char *traced_reason(traced_fault fault)
{
    return faults[fault].reason;
}

/* ---- in the child ---- */

void traced_begin(void)
{
    close(MARK_BEGIN);
}

void traced_stop(void)
{
    close(MARK_STOP);
}

void traced_say(const char *text)
{
    const size_t used = strlen(board), room = sizeof((traced_end *)NULL)->said - used;
    snprintf(board + used, room, "%s\n", text);
}

#if defined(__x86_64__) && defined(__linux__)

bool traced_works(void)
{
    const pid_t child = fork();
    int status = 0;
    CHECK(child >= 0);
    if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- calls ---- */

enum {
    OPENS = 1,
    TAKES_SPACE = 2,
    IS_WRITE = 4,
    CAN_BE_INTERRUPTED = 8,
    HAS_FILE = 16,
    LOCKS = 32
};

static const struct {
    long number;
    const char *name;
    uint32_t is;
} calls[] = {
    {SYS_openat, "openat", OPENS | TAKES_SPACE | CAN_BE_INTERRUPTED},
    {SYS_open, "open", OPENS | TAKES_SPACE | CAN_BE_INTERRUPTED},
    {SYS_write, "write", TAKES_SPACE | IS_WRITE | CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_pwrite64, "pwrite", TAKES_SPACE | IS_WRITE | CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_fsync, "fsync", TAKES_SPACE | CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_fdatasync, "fdatasync", TAKES_SPACE | CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_ftruncate, "ftruncate", CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_flock, "flock", CAN_BE_INTERRUPTED | HAS_FILE | LOCKS},
    {SYS_fchmod, "fchmod", CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_close, "close", CAN_BE_INTERRUPTED | HAS_FILE},
    {SYS_rename, "rename", TAKES_SPACE},
    {SYS_renameat, "renameat", TAKES_SPACE},
    {SYS_renameat2, "renameat2", TAKES_SPACE},
    {SYS_unlink, "unlink", 0},
    {SYS_unlinkat, "unlinkat", 0},
};

/* A child under way. Owner: traced_run. */
typedef struct tracing {
    pid_t child;
    traced_fault fault;
    uint32_t left; /* calls until the fault */
    bool counts, is_full;
    bool is_written[DESCRIPTORS]; /* open for writing, or a folder */
    traced_end *end;
} tracing;

static bool is_open_counted(const struct user_regs_struct *r)
{
    const unsigned long long flags = r->orig_rax == SYS_open ? r->rsi : r->rdx;
    return (flags & (O_CREAT | O_DIRECTORY)) != 0 || (flags & O_ACCMODE) != O_RDONLY;
}

/* The number of a call in `calls`; -1: it is not counted. */
static int call_of(const tracing *t, const struct user_regs_struct *r)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if ((long)r->orig_rax != calls[i].number) continue;
        const uint32_t is = calls[i].is;
        if ((is & OPENS) != 0 && !is_open_counted(r)) return -1;
        if ((is & HAS_FILE) != 0 && (r->rdi >= DESCRIPTORS || !t->is_written[r->rdi])) return -1;
        return (int)i;
    }
    return -1;
}

static bool can_hit(traced_fault fault, uint32_t is, const struct user_regs_struct *r)
{
    switch (fault) {
    case TRACED_NOTHING:
    case TRACED_FAULTS:
        return false;
    case TRACED_IO:
    case TRACED_KILL:
        return true;
    case TRACED_NO_SPACE:
    case TRACED_FULL:
        return (is & TAKES_SPACE) != 0;
    case TRACED_NO_LOCK:
        return (is & LOCKS) != 0;
    case TRACED_NO_ROOM:
        return (is & OPENS) != 0;
    case TRACED_INTERRUPTED:
        return (is & CAN_BE_INTERRUPTED) != 0;
    case TRACED_SHORT:
        return (is & IS_WRITE) != 0 && r->rdx > 1;
    }
    return false;
}

/* Whether the call that begins is hit. */
static bool is_due(tracing *t, const struct user_regs_struct *r, int call)
{
    if (call < 0 || !can_hit(t->fault, calls[call].is, r)) return false;
    if (t->is_full) return true;
    if (t->left == 0 || --t->left != 0) return false;
    t->is_full = t->fault == TRACED_FULL;
    t->end->is_hit = true;
    snprintf(t->end->call, sizeof t->end->call, "%s", calls[call].name);
    return true;
}

/* Whether calls have to be seen: not without a fault, and not behind the only one. */
static bool is_followed(const tracing *t)
{
    return t->fault != TRACED_NOTHING && (!t->end->is_hit || t->is_full);
}

/* Goes on to the next stop of the child: true: a call begins or ends; false: the child ended. */
static bool go_on(tracing *t, bool is_seen)
{
    int status = 0, signal_number = 0;
    for (;;) {
        void *given = (void *)(intptr_t)signal_number;
        const long result = is_seen ? ptrace(PTRACE_SYSCALL, t->child, NULL, given)
                                    : ptrace(PTRACE_CONT, t->child, NULL, given);
        if (result != 0 && errno != ESRCH) test_fail(__FILE__, __LINE__, "ptrace");
        if (waitpid(t->child, &status, 0) != t->child) test_fail(__FILE__, __LINE__, "waitpid");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            t->end->was_killed = WIFSIGNALED(status);
            t->end->status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
            return false;
        }
        const int stop = WSTOPSIG(status);
        if (stop == (SIGTRAP | 0x80)) return true;
        signal_number = stop == SIGTRAP ? 0 : stop; /* that of an exec is for us */
    }
}

/* What the call that ended did to the set of descriptors. */
static void learn(tracing *t, const struct user_regs_struct *began,
                  const struct user_regs_struct *ended)
{
    const long long result = (long long)ended->rax;
    const bool is_open = began->orig_rax == SYS_openat || began->orig_rax == SYS_open;
    if (is_open && result >= 0 && result < DESCRIPTORS)
        t->is_written[result] = is_open_counted(began);
    if (began->orig_rax == SYS_close && began->rdi < DESCRIPTORS) t->is_written[began->rdi] = false;
    if (began->orig_rax == SYS_close && (int)began->rdi == MARK_BEGIN) t->counts = true;
    if (began->orig_rax == SYS_close && (int)began->rdi == MARK_STOP) t->counts = false;
    if (began->orig_rax == SYS_execve && result == 0) t->counts = true;
}

static void follow(tracing *t)
{
    struct user_regs_struct began, ended;
    while (go_on(t, is_followed(t))) {
        CHECK(ptrace(PTRACE_GETREGS, t->child, NULL, &began) == 0);
        const int call = t->counts ? call_of(t, &began) : -1;
        const bool is_hit = is_due(t, &began, call);
        struct user_regs_struct changed = began;
        if (is_hit && t->fault == TRACED_KILL) {
            CHECK(kill(t->child, SIGKILL) == 0);
        } else if (is_hit && t->fault == TRACED_SHORT) {
            changed.rdx = began.rdx / 2;
            CHECK(ptrace(PTRACE_SETREGS, t->child, NULL, &changed) == 0);
        } else if (is_hit) {
            changed.orig_rax = (unsigned long long)-1;
            CHECK(ptrace(PTRACE_SETREGS, t->child, NULL, &changed) == 0);
        }
        if (!go_on(t, true)) return;
        CHECK(ptrace(PTRACE_GETREGS, t->child, NULL, &ended) == 0);
        if (is_hit && t->fault != TRACED_SHORT) {
            ended.rax = (unsigned long long)-(long long)faults[t->fault].error;
            CHECK(ptrace(PTRACE_SETREGS, t->child, NULL, &ended) == 0);
        }
        learn(t, &began, &ended);
    }
}

void traced_run(int (*child)(void *user), void *user, traced_fault fault, uint32_t at,
                traced_end *end)
{
    static tracing t;
    int status = 0;
    if (board == NULL)
        board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(board != MAP_FAILED);
    board[0] = '\0';
    if (errors == 0) errors = memfd_create("stderr", MFD_CLOEXEC);
    CHECK(errors > 0 && ftruncate(errors, 0) == 0 && lseek(errors, 0, SEEK_SET) == 0);
    *end = (traced_end){.is_hit = false};
    fflush(NULL);
    t = (tracing){.child = fork(), .fault = fault, .left = at, .end = end};
    CHECK(t.child >= 0);
    if (t.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(errors, STDERR_FILENO) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(99);
        raise(SIGSTOP);
        _exit(child(user));
    }
    CHECK(waitpid(t.child, &status, 0) == t.child && WIFSTOPPED(status));
    CHECK(ptrace(PTRACE_SETOPTIONS, t.child, NULL,
                 (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == 0);
    follow(&t);
    snprintf(end->said, sizeof end->said, "%.*s", (int)sizeof end->said - 1, board);
    const size_t used = strlen(end->said);
    const ssize_t more = pread(errors, end->said + used, sizeof end->said - 1 - used, 0);
    CHECK(more >= 0);
    end->said[used + (size_t)more] = '\0';
}

#else

bool traced_works(void)
{
    return false;
}

void traced_run(int (*child)(void *user), void *user, traced_fault fault, uint32_t at,
                traced_end *end)
{
    (void)child, (void)user, (void)fault, (void)at;
    *end = (traced_end){.is_hit = false};
    test_fail(__FILE__, __LINE__, "needs x86-64 Linux");
}

#endif
