/* SPDX-License-Identifier: MIT */
/* everything_shrink.c: a failing script with few calls and small numbers. Each try runs in a
 * child of its own, so that a crash and a hang are failures as others are; the class of the
 * failure must stay. Calls go in halves, quarters ... singly (Zeller and Hildebrandt 2002), then
 * numbers become smaller, until nothing helps. */
#include "everything.h"
#include "everything_program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANG_SECONDS = 20, TRIES_MOST = 6000 };

/* How a run in a child ended. Shared with it. */
typedef struct outcome {
    char failure[128];
    char text[512];
    uint32_t numbers;
} outcome;

/* Owner: everything_shrink. */
typedef struct shrinking {
    uint64_t seed;
    everything_call calls[EVERYTHING_CALLS];
    uint32_t count;
    outcome *shared;
    char failure[128]; /* the class to keep */
    bool is_close;
    uint32_t tries;
} shrinking;

static void child_run(const shrinking *s, const everything_call *calls, uint32_t count, FILE *out,
                      FILE *before)
{
    everything *e = calloc(1, sizeof *e);
    uint64_t hash;
    if (e == NULL) _exit(3);
    e->seed = s->seed;
    e->is_close = s->is_close;
    e->out = out;
    e->before = before;
    alarm(HANG_SECONDS);
    if (!everything_run(e, calls, count, &hash)) {
        memcpy(s->shared->failure, e->failure, sizeof e->failure);
        memcpy(s->shared->text, e->text, sizeof e->text);
    }
    s->shared->numbers = e->numbers;
    if (out != NULL) fflush(out), fflush(before);
    _exit(0);
}

/* Runs a script in a child. Whether it failed is in s->shared. */
static void script_run(shrinking *s, const everything_call *calls, uint32_t count, FILE *out,
                       FILE *before)
{
    *s->shared = (outcome){.numbers = EVERYTHING_MOST};
    s->tries++;
    fflush(NULL);
    pid_t child = fork();
    int status = 0;
    if (child == 0) child_run(s, calls, count, out, before);
    if (child < 0 || waitpid(child, &status, 0) != child) return;
    if (WIFSIGNALED(status) && s->shared->failure[0] == '\0') {
        bool is_hang = WTERMSIG(status) == SIGALRM;
        snprintf(s->shared->failure, sizeof s->shared->failure, "%s",
                 is_hang ? "hang" : strsignal(WTERMSIG(status)));
        snprintf(s->shared->text, sizeof s->shared->text, "%s",
                 is_hang ? "a call did not return" : "a call ended the process");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && s->shared->failure[0] == '\0')
        snprintf(s->shared->failure, sizeof s->shared->failure, "exit %d", WEXITSTATUS(status));
}

static bool fails_alike(shrinking *s, const everything_call *calls, uint32_t count)
{
    if (s->tries >= TRIES_MOST) return false;
    script_run(s, calls, count, NULL, NULL);
    return strcmp(s->shared->failure, s->failure) == 0;
}

/* Takes the calls [from, from + run) away, if it still fails then. */
static bool calls_drop(shrinking *s, uint32_t from, uint32_t run)
{
    everything_call left[EVERYTHING_CALLS];
    memcpy(left, s->calls, from * sizeof *left);
    memcpy(left + from, s->calls + from + run, (s->count - from - run) * sizeof *left);
    if (!fails_alike(s, left, s->count - run)) return false;
    s->count -= run;
    memcpy(s->calls, left, s->count * sizeof *left);
    return true;
}

static bool calls_shrink(shrinking *s)
{
    bool is_less = false;
    for (uint32_t run = (s->count + 1) / 2; run != 0; run /= 2)
        for (uint32_t end = s->count; end >= run; end -= run)
            if (calls_drop(s, end - run, run)) is_less = true;
    return is_less;
}

/* Tries one call in place of another. */
static bool call_try(shrinking *s, uint32_t i, everything_call c)
{
    everything_call kept = s->calls[i];
    if (memcmp(&kept, &c, sizeof c) == 0) return false;
    s->calls[i] = c;
    if (fails_alike(s, s->calls, s->count)) return true;
    s->calls[i] = kept;
    return false;
}

static bool size_shrink(shrinking *s, uint32_t i)
{
    bool is_less = false;
    for (uint32_t step = s->calls[i].size; step != 0;) {
        everything_call c = s->calls[i];
        bool helps = step <= c.size;
        c.size -= helps ? step : 0;
        helps = helps && call_try(s, i, c);
        is_less = is_less || helps;
        if (!helps) step /= 2;
    }
    return is_less;
}

/* Of a set each bit by itself, of a number less and less of it. */
static bool value_shrink(shrinking *s, uint32_t i)
{
    bool is_set = (everything_op_at(s->calls[i].op)->draws & DRAWS_SET) != 0, is_less = false;
    for (uint32_t bit = 0; bit < MODEL_KINDS && is_set; bit++) {
        everything_call c = s->calls[i];
        c.value &= ~KIND_BIT(bit);
        if (call_try(s, i, c)) is_less = true;
    }
    for (uint64_t small = 0; small < 8 && !is_set && s->calls[i].value > small; small++) {
        everything_call c = s->calls[i];
        c.value = small;
        if (call_try(s, i, c)) return true;
    }
    return is_less;
}

static bool numbers_shrink(shrinking *s)
{
    bool is_less = false;
    for (uint32_t i = 0; i < s->count; i++) {
        is_less |= size_shrink(s, i);
        for (uint32_t small = 0; small < 4; small++) {
            everything_call c = s->calls[i];
            if (c.a > small) c.a = small, is_less |= call_try(s, i, c);
            c = s->calls[i];
            if (c.b > small) c.b = small, is_less |= call_try(s, i, c);
        }
        is_less |= value_shrink(s, i);
    }
    return is_less;
}

static void file_append(FILE *out, FILE *from)
{
    char bytes[4096];
    rewind(from);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) != 0;) fwrite(bytes, 1, n, out);
    fclose(from);
}

static void program_print(shrinking *s, const char *command, FILE *out)
{
    FILE *statements = tmpfile(), *before = tmpfile();
    if (statements == NULL || before == NULL) return;
    script_run(s, s->calls, s->count, statements, before);
    everything_program_begin(out, command, s->shared->failure, s->shared->text);
    everything_program_main(out, s->shared->numbers);
    file_append(out, before);
    fputs("int main(void)\n{\n", out);
    file_append(out, statements);
    fputs("    }\n"
          "    puts(\"No line failed. What the generator saw stands at the top of this file.\");\n"
          "    return 0;\n}\n",
          out);
}

static shrinking *script_begin(uint64_t seed)
{
    shrinking *s = calloc(1, sizeof *s);
    if (s == NULL) abort();
    s->shared =
        mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->shared == MAP_FAILED) abort();
    s->seed = seed;
    s->count = everything_draw(seed, s->calls);
    return s;
}

static void script_end(shrinking *s)
{
    munmap(s->shared, sizeof *s->shared);
    free(s);
}

void everything_print(uint64_t seed, FILE *out)
{
    shrinking *s = script_begin(seed);
    program_print(s, "all calls of a seed", out);
    script_end(s);
}

bool everything_shrink(uint64_t seed, const char *command, FILE *out)
{
    shrinking *s = script_begin(seed);
    script_run(s, s->calls, s->count, NULL, NULL);
    memcpy(s->failure, s->shared->failure, sizeof s->failure);
    bool has_failed = s->failure[0] != '\0';
    if (has_failed) {
        fprintf(stderr, "%s: %s: %s\n", command, s->failure, s->shared->text);
        s->is_close = true; /* if the fault is the same, it is found where it happens */
        s->is_close = fails_alike(s, s->calls, s->count);
        do {
            while (calls_shrink(s)) continue;
            fprintf(stderr, "%u calls after %u tries\n", s->count, s->tries);
        } while (numbers_shrink(s));
        program_print(s, command, out);
    }
    script_end(s);
    return has_failed;
}
