/* SPDX-License-Identifier: MIT */
/* stress_endurance_ranks.c: ranks that come and go: `weft-shards stress shard` by one, two and
 * three processes in turn, one run after the other, as long as the main world lives. Each run
 * draws the same rounds, with checkpoints in the middle, so all of them print the same hash.
 * Without mpirun, runs of one process. */
#include "endurance.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct endurance_ranks {
    char program[4200];
    bool has_mpirun;
    pid_t child; /* 0: none runs */
    int pipe;    /* what it says */
    char said[4096];
    size_t said_count;
    uint32_t runs;
    char hash[32]; /* of the first run */
};

static bool is_in_path(const char *name)
{
    char path[4096];
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
        const int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", length, at, name);
        if (access(path, X_OK) == 0) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Messages stay on this machine; ranks may be more than cores. Before any thread is there. */
static void environment_set(const endurance *e)
{
    static const char *const words[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                           {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                           {"LSAN_OPTIONS", "detect_leaks=0"}, /* MPI's */
                                           {"OMPI_MCA_btl", "self,vader"},
                                           {"OMPI_MCA_oob_tcp_if_include", "lo"},
                                           {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                           {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                           {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                           {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) setenv(words[i][0], words[i][1], 0);
    setenv("TMPDIR", e->folder, 1);
}

void endurance_ranks_begin(endurance *e)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = '\0';
    endurance_ranks *ranks = calloc(1, sizeof *ranks);
    if (ranks == NULL) return;
    snprintf(ranks->program, sizeof ranks->program, "%s/weft-shards", dirname(path));
    if (access(ranks->program, X_OK) != 0) {
        free(ranks);
        return;
    }
    ranks->has_mpirun = is_in_path("mpirun");
    environment_set(e);
    e->ranks = ranks;
}

static void run_begin(endurance *e)
{
    endurance_ranks *r = e->ranks;
    char count[16];
    int ends[2];
    const char *const words[] = {"mpirun",    "-np",    count,    r->program, "stress",
                                 "shard",     "--seed", "7",      "--rounds", "2",
                                 "--workers", "1",      "--json", NULL};
    snprintf(count, sizeof count, "%u", 1 + r->runs % 3);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        endurance_fail(e, "no pipe: %s", strerror(errno));
        return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_t own_group; /* Ctrl-C is not for the ranks: their run ends by itself */
    posix_spawnattr_init(&own_group);
    posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
    const char *program = r->has_mpirun ? "mpirun" : r->program;
    /* It changes none of the words: its type is older than const. */
    char *const *list = (char *const *)(uintptr_t)(words + (r->has_mpirun ? 0 : 3));
    const int error = posix_spawnp(&r->child, program, &actions, &own_group, list, environ);
    posix_spawnattr_destroy(&own_group);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    r->pipe = ends[0];
    r->said_count = 0;
    if (error == 0) return;
    r->child = 0;
    close(r->pipe);
    endurance_fail(e, "cannot start %s: %s", program, strerror(error));
}

/* Reads what there is; false at the end of the pipe. */
static bool run_hear(endurance_ranks *r)
{
    struct pollfd fd = {r->pipe, POLLIN, 0};
    char text[1024];
    while (poll(&fd, 1, 0) > 0) {
        const ssize_t got = read(r->pipe, text, sizeof text);
        if (got <= 0) return false;
        const size_t room = sizeof r->said - 1 - r->said_count;
        const size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(r->said + r->said_count, text, kept);
        r->said_count += kept;
    }
    return true;
}

static void run_judge(endurance *e, int status)
{
    endurance_ranks *r = e->ranks;
    r->said[r->said_count] = '\0';
    const char *at = strstr(r->said, "\"hash\":");
    char hash[sizeof r->hash];
    snprintf(hash, sizeof hash, "%.20s", at ? at + strlen("\"hash\":") : ""); /* "0x..." */
    if (status != 0 || at == NULL) {
        endurance_fail(e, "run %u over ranks: status %d: %.300s", r->runs, status, r->said);
    } else if (r->runs == 0) {
        snprintf(r->hash, sizeof r->hash, "%s", hash);
    } else if (strcmp(r->hash, hash) != 0) {
        endurance_fail(e, "run %u over ranks: %s, the first one %s", r->runs, hash, r->hash);
    }
    r->runs++;
}

void endurance_ranks_look(endurance *e, bool is_last)
{
    endurance_ranks *r = e->ranks;
    int status;
    if (r == NULL) return;
    if (r->child == 0) {
        if (!is_last) run_begin(e);
        return;
    }
    for (;;) {
        if (is_last) poll(&(struct pollfd){r->pipe, POLLIN, 0}, 1, 1000);
        if (!run_hear(r)) break;
        if (!is_last) return;
    }
    close(r->pipe);
    if (waitpid(r->child, &status, 0) != r->child) status = -1;
    r->child = 0;
    run_judge(e, status);
}

uint32_t endurance_ranks_end(endurance *e)
{
    if (e->ranks == NULL) return 0;
    const uint32_t runs = e->ranks->runs;
    free(e->ranks);
    e->ranks = NULL;
    return runs;
}
