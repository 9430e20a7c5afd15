/* SPDX-License-Identifier: MIT */
/* file_faults.c: see file_faults.h. */
#include "file_faults.h"

#include "check.h"
#include "traced.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_MOST = 1 << 20 };

/* Bytes of a file. */
typedef struct content {
    size_t count; /* SIZE_MAX: there is no file */
    char bytes[BYTES_MOST];
} content;

/* One sweep. Owner: file_faults_sweep. */
typedef struct sweeping {
    const file_writer *writer;
    int variant;
    char folder[128], path[160];
} sweeping;

static content old, new, now;

static int child(void *user)
{
    const sweeping *s = user;
    return s->writer->write(s->path, s->variant);
}

static void content_read(const sweeping *s, content *out)
{
    FILE *file = fopen(s->path, "rbe");
    out->count = SIZE_MAX;
    if (file == NULL) return;
    out->count = fread(out->bytes, 1, BYTES_MOST, file);
    CHECK(out->count < BYTES_MOST);
    fclose(file);
}

static bool is_same(const content *a, const content *b)
{
    return a->count == b->count &&
           (a->count == SIZE_MAX || memcmp(a->bytes, b->bytes, a->count) == 0);
}

/* What is in the folder beside the file; `but` (may be NULL): except names with this end. */
static uint32_t strangers(const sweeping *s, const char *but, bool is_removed, char name[256])
{
    DIR *folder = opendir(s->folder);
    uint32_t count = 0;
    CHECK(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name), end = but == NULL ? 0 : strlen(but);
        if (strcmp(entry->d_name, strrchr(s->path, '/') + 1) == 0 || entry->d_name[0] == '.' ||
            strncmp(entry->d_name, "in", 2) == 0)
            continue;
        if (but != NULL && length >= end && strcmp(entry->d_name + length - end, but) == 0)
            continue;
        snprintf(name, 256, "%s", entry->d_name);
        char full[512];
        snprintf(full, sizeof full, "%s/%s", s->folder, entry->d_name);
        if (is_removed) unlink(full);
        count++;
    }
    closedir(folder);
    return count;
}

static void restore(const sweeping *s, bool has_old)
{
    char name[256];
    unlink(s->path);
    (void)strangers(s, NULL, true, name);
    if (!has_old) return;
    FILE *file = fopen(s->path, "wbe");
    CHECK(file != NULL && fwrite(old.bytes, 1, old.count, file) == old.count && fclose(file) == 0);
}

static _Noreturn void wrong(const sweeping *s, traced_fault fault, uint32_t at,
                            const traced_end *end, const char *what)
{
    printf("%s: %s at call %u (%s): %s; status %d; said: %s\n", s->writer->name, traced_name(fault),
           (unsigned)at, end->call, what, end->status, end->said);
    fflush(stdout);
    test_fail(__FILE__, __LINE__, what);
}

static bool is_complete(const sweeping *s)
{
    const char *tail = s->writer->tail;
    if (!s->writer->is_dated) return is_same(&now, &new);
    return now.count != SIZE_MAX && now.count >= strlen(tail) &&
           memcmp(now.bytes + now.count - strlen(tail), tail, strlen(tail)) == 0;
}

/* The file is the old one, absent as before, or the new one; a log may be a part of it. */
static bool is_whole(const sweeping *s, bool has_old)
{
    if (is_complete(s)) return true;
    if (s->writer->is_log)
        return now.count == SIZE_MAX || s->writer->is_dated || is_same(&now, &old) ||
               (now.count <= new.count &&memcmp(now.bytes, new.bytes, now.count) == 0);
    return has_old ? is_same(&now, &old) : now.count == SIZE_MAX;
}

static void check_end(const sweeping *s, traced_fault fault, uint32_t at, const traced_end *end,
                      bool has_old)
{
    const file_writer *w = s->writer;
    const bool is_ok =
        !end->was_killed && end->status == 0 && (!w->is_mute || end->said[0] == '\0');
    char name[256];
    content_read(s, &now);
    if (end->was_killed != (fault == TRACED_KILL)) wrong(s, fault, at, end, "it died of itself");
    if (!is_whole(s, has_old)) wrong(s, fault, at, end, "the file is neither the old nor the new");
    if (is_ok && !is_complete(s)) wrong(s, fault, at, end, "the file is not the new one");
    const bool must_work = fault == TRACED_SHORT || (fault == TRACED_INTERRUPTED && !w->is_stdio);
    if (must_work && !is_ok) wrong(s, fault, at, end, "it is no reason to fail");
    const char *reason = traced_reason(fault);
    if (!is_ok && reason != NULL && strstr(end->said, reason) == NULL)
        wrong(s, fault, at, end, "the reason is not told");
    if (!is_ok && fault != TRACED_KILL && strstr(end->said, s->folder) == NULL)
        wrong(s, fault, at, end, "the file is not named");
    /* what could not be removed stays */
    const bool may_stay = fault == TRACED_KILL || strncmp(end->call, "unlink", 6) == 0;
    if (strangers(s, may_stay ? w->left : NULL, false, name) != 0) wrong(s, fault, at, end, name);
}

/* The next write works, and takes over what was left. */
static void check_next(sweeping *s, traced_fault fault, uint32_t at)
{
    traced_end end;
    char name[256];
    traced_run(child, s, TRACED_NOTHING, 0, &end);
    content_read(s, &now);
    if (end.was_killed || end.status != 0 || end.said[0] != '\0' || !is_complete(s))
        wrong(s, fault, at, &end, "the next write does not work");
    if (strangers(s, NULL, false, name) != 0) wrong(s, fault, at, &end, name);
}

/* All calls of one fault, or those that have their turn. */
static uint32_t sweep(sweeping *s, traced_fault fault, bool has_old)
{
    const char *turn = getenv("WEFT_TURN");
    const uint32_t step = turn == NULL ? 1 : 3;
    const uint32_t first = turn == NULL ? 0 : (uint32_t)(atoll(turn) + fault) % step;
    for (uint32_t at = 1 + first;; at += step) {
        traced_end end;
        CHECK(at < 200);
        restore(s, has_old);
        traced_run(child, s, fault, at, &end);
        if (!end.is_hit) return at > step ? at - step : 0;
        check_end(s, fault, at, &end, has_old);
        check_next(s, fault, at);
    }
}

/* Of what programs read, too. */
static void empty(const sweeping *s)
{
    char full[512];
    DIR *folder = opendir(s->folder);
    CHECK(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(full, sizeof full, "%s/%s", s->folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(full);
    }
    closedir(folder);
}

unsigned file_faults_sweep(const file_writer *writer)
{
    static sweeping s;
    traced_end end;
    char name[256];
    unsigned total = 0;
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    s = (sweeping){.writer = writer};
    snprintf(s.folder, sizeof s.folder, "%.80s/weft-faults-XXXXXX", base);
    CHECK(mkdtemp(s.folder) != NULL);
    snprintf(s.path, sizeof s.path, "%s/%.24s", s.folder,
             writer->file == NULL ? "file" : writer->file);
    for (s.variant = 0; s.variant < 2; s.variant++) {
        traced_run(child, &s, TRACED_NOTHING, 0, &end);
        if (end.was_killed || end.status != 0 || end.said[0] != '\0')
            wrong(&s, TRACED_NOTHING, 0, &end, "it fails without a fault");
        content_read(&s, s.variant == 0 ? &old : &new);
        CHECK_U64(strangers(&s, NULL, false, name), 0);
    }
    s.variant = 1;
    CHECK(old.count != SIZE_MAX && new.count != SIZE_MAX && !is_same(&old, &new));
    printf("%-28s", writer->name);
    for (traced_fault fault = TRACED_IO; fault < TRACED_FAULTS; fault++) {
        uint32_t hits = sweep(&s, fault, true);
        if (!writer->needs_old) hits += sweep(&s, fault, false);
        printf(" %s %u;", traced_name(fault), (unsigned)hits);
        total += hits;
    }
    printf("\n");
    CHECK(total > 10);
    empty(&s);
    CHECK(rmdir(s.folder) == 0);
    return total;
}
