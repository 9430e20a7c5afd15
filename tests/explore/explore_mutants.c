/* SPDX-License-Identifier: MIT */
/* explore_mutants.c: order mutation. A survey collects the atomic sites that the program's
 * scenarios execute; then each ordered site runs with each weaker order of the door in turn, in a
 * child process, until a plan of a scenario that executes it fails. A survivor is an error unless
 * the list of allowed survivors names it with a reason:
 *
 *     program | file.c | text of the source line | order -> weaker | reason
 *
 * An entry that no longer survives, or names no site, is an error too, so that the list stays true.
 * With `*` for text and change, the sites of the file are left to another program.
 */
#include "explore_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 2u
#define MUTANTS 512u
#define SURVEY_RUNS 200u

typedef struct mutant {
    const engine_site *site;
    uint32_t order;
    int status; /* exit status of its child: index of the catching scenario + 1, 0 = survived */
    pid_t child;
} mutant;

typedef struct allowed {
    char program[24], file[64], line[160], change[24];
    uint32_t uses;
} allowed;

static mutant mutants[MUTANTS];
static uint32_t mutant_count;
static allowed allowances[128];
static uint32_t allowance_count;

static void survey(const explore_scenario *scenarios)
{
    static engine_verdict verdict;
    engine.is_collecting = true;
    for (uint32_t i = 0; scenarios[i].name; i++) {
        explore_plan plan = {EXPLORE_SC, EXPLORE_RANDOM, 0, 0, 0, SURVEY_RUNS, 0, false, false};
        engine.scenario_index = i;
        if (!scenarios[i].must_fail) engine_run_plan(&scenarios[i], &plan, false, &verdict);
    }
    engine.is_collecting = false;
}

static void add_mutant(const engine_site *site, uint32_t order)
{
    if (mutant_count < MUTANTS) mutants[mutant_count++] = (mutant){site, order, 0, 0};
}

/* The place from the repository's root on: ccache with a base folder names files by "../". */
static const char *in_repository(const char *site)
{
    while (strncmp(site, "../", 3) == 0) site += 3;
    return site;
}

/* Is the site in the file that the entry names? */
static bool is_in_file(const engine_site *site, const allowed *a)
{
    const char *colon = strchr(site->name, ':');
    size_t length = strlen(a->file), path = colon ? (size_t)(colon - site->name) : 0;
    if (path < length || strncmp(site->name + path - length, a->file, length) != 0) return false;
    return path == length || site->name[path - length - 1] == '/';
}

static bool is_left_to_others(const engine_site *site)
{
    for (uint32_t i = 0; i < allowance_count; i++) {
        if (strcmp(allowances[i].line, "*") != 0 || !is_in_file(site, &allowances[i])) continue;
        allowances[i].uses++;
        return true;
    }
    return false;
}

static void list_mutants(void)
{
    const engine_site *sites;
    uint32_t count = engine_sites(&sites);
    for (uint32_t i = 0; i < count; i++) {
        const engine_site *site = &sites[i];
        bool is_scenario = strncmp(in_repository(site->name), "tests/", 6) == 0;
        if (is_scenario || is_left_to_others(site)) continue;
        bool is_store = strstr(site->name, " store_") != NULL;
        uint32_t half = site->is_rmw ? HOOK_AR : is_store ? HOOK_REL : HOOK_ACQ;
        if (site->order == HOOK_SC) add_mutant(site, half);
        if (site->order != HOOK_RLX) add_mutant(site, HOOK_RLX);
    }
}

static int hunt(const explore_scenario *scenarios, const mutant *m, bool is_deep)
{
    static engine_verdict verdict;
    engine.mutant_site = m->site->name;
    engine.mutant_order = m->order;
    if (!freopen("/dev/null", "w", stdout)) return 0;
    for (uint32_t i = 0; scenarios[i].name; i++) {
        const explore_scenario *s = &scenarios[i];
        if (s->must_fail || !(m->site->scenarios >> i % 64 & 1)) continue;
        for (uint32_t p = 0; p < EXPLORE_PLANS_MAX && s->plans[p].runs; p++) {
            if (s->plans[p].model == EXPLORE_SC || (s->plans[p].only_deep && !is_deep)) continue;
            engine_run_plan(s, &s->plans[p], is_deep, &verdict);
            if (verdict.is_failed) return (int)i + 1;
        }
    }
    return 0;
}

static void collect_one(void)
{
    int status;
    pid_t pid = wait(&status);
    for (uint32_t i = 0; i < mutant_count; i++) {
        if (mutants[i].child != pid) continue;
        mutants[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
    }
}

static void run_mutants(const explore_scenario *scenarios, bool is_deep)
{
    uint32_t running = 0;
    fflush(stdout);
    for (uint32_t i = 0; i < mutant_count; i++) {
        if (running == CHILDREN) {
            collect_one();
            running--;
        }
        mutants[i].child = fork();
        if (mutants[i].child == 0) _exit(hunt(scenarios, &mutants[i], is_deep));
        running++;
    }
    while (running--) collect_one();
}

/* ---- allowed survivors ---- */

/* Reads the entries of one program. */
static bool read_allowances(const char *path, const char *program)
{
    char text[1024];
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(text, sizeof text, file)) {
        allowed *a = &allowances[allowance_count];
        if (text[0] == '#' || text[0] == '\n') continue;
        if (allowance_count == 128 || sscanf(text, "%23[^ |] | %63[^ |] | %159[^|] | %23[^|] |",
                                             a->program, a->file, a->line, a->change) != 4) {
            printf("FAILED %s: cannot read: %s", path, text);
            fclose(file);
            return false;
        }
        if (strcmp(a->program, program) != 0) continue;
        for (size_t n = strlen(a->line); n && a->line[n - 1] == ' '; n--) a->line[n - 1] = 0;
        for (size_t n = strlen(a->change); n && a->change[n - 1] == ' '; n--) a->change[n - 1] = 0;
        allowance_count++;
    }
    fclose(file);
    return true;
}

/* The source line of a site, without indentation; "" when it cannot be read. */
static void source_line(const char *site, char *out, size_t bytes)
{
    char path[512] = "";
    unsigned line = 0;
    out[0] = 0;
    site = in_repository(site);
    const char *colon = strchr(site, ':');
    if (!colon || sscanf(colon, ":%u", &line) != 1) return;
    snprintf(path, sizeof path, "%s/%.*s", EXPLORE_SOURCE_DIR, (int)(colon - site), site);
    FILE *file = fopen(path, "r");
    if (!file) return;
    char text[512];
    for (unsigned i = 0; i < line && fgets(text, sizeof text, file); i++) {
        if (i + 1 != line) continue;
        const char *start = text + strspn(text, " \t");
        snprintf(out, bytes, "%.*s", (int)strcspn(start, "\n"), start);
    }
    fclose(file);
}

static bool is_allowed(const mutant *m)
{
    char line[512], change[32];
    source_line(m->site->name, line, sizeof line);
    snprintf(change, sizeof change, "%s -> %s", engine_order_names[m->site->order],
             engine_order_names[m->order]);
    for (uint32_t i = 0; i < allowance_count; i++) {
        allowed *a = &allowances[i];
        if (!is_in_file(m->site, a) || !strstr(line, a->line) || strcmp(a->change, change) != 0)
            continue;
        a->uses++;
        return true;
    }
    return false;
}

static bool report(const explore_scenario *scenarios)
{
    uint32_t caught = 0, permitted = 0;
    for (uint32_t i = 0; i < mutant_count; i++) {
        const mutant *m = &mutants[i];
        const char *by = m->status == 0     ? is_allowed(m) ? "survives (allowed)" : "SURVIVES"
                         : m->status == 255 ? "crash"
                         : m->status == 3   ? "caught"
                                            : scenarios[m->status - 1].name;
        if (m->status)
            caught++;
        else
            permitted += strcmp(by, "SURVIVES") != 0;
        printf("%-56s %s -> %-4s %s\n", m->site->name, engine_order_names[m->site->order],
               engine_order_names[m->order], by);
    }
    printf("order mutants: %u, caught %u, allowed survivors %u, unexplained %u\n", mutant_count,
           caught, permitted, mutant_count - caught - permitted);
    bool is_good = caught + permitted == mutant_count;
    for (uint32_t i = 0; i < allowance_count; i++) {
        if (allowances[i].uses) continue;
        printf("FAILED: no survivor matches the entry: %s | %s | %s\n", allowances[i].file,
               allowances[i].line, allowances[i].change);
        is_good = false;
    }
    return is_good;
}

int engine_mutants(const explore_scenario *scenarios, const char *program, const char *allowed_path,
                   bool is_deep)
{
    if (!read_allowances(allowed_path, program)) {
        printf("FAILED: cannot read %s\n", allowed_path);
        return 1;
    }
    survey(scenarios);
    list_mutants();
    run_mutants(scenarios, is_deep);
    return report(scenarios) ? 0 : 1;
}
