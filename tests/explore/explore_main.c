/* SPDX-License-Identifier: MIT */
/* explore_main.c: the command line of an explorer program. One line per plan; a failure prints what
 * replays it and the last steps of the failing schedule. */
#include "archetype_state.h"
#include "explore_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_STEPS 60u

typedef struct options {
    const char *replay, *mutants, *plan_text;
    const char *names[32];
    uint32_t name_count;
    bool is_deep, is_list, is_brief, stops_at_failure;
    explore_plan plan;
} options;

static void usage(void)
{
    puts("usage: PROGRAM [options] [scenario...]\n"
         "  --list                the scenarios and their plans\n"
         "  --deep                the long plans (also: WEFT_DEEP in the environment, but not\n"
         "                        with --mutants)\n"
         "  --budget SECONDS      of processor time for each long plan (default 60)\n"
         "  --replay TOKEN        one schedule, with a trace\n"
         "  --plan MODEL,STRATEGY,BOUND,WEAK,FAULTS,RUNS   instead of the scenario's own plans:\n"
         "                        models sc tso pso c11, strategies dfs pct random\n"
         "  --seed N              for random strategies (default 1)\n"
         "  --mutant SITE=ORDER   weakens one atomic site\n"
         "  --mutants FILE        weakens every ordered site in turn; FILE lists survivors\n"
         "  --brief               no trace after a failure\n"
         "  --first               stop at the first failure");
}

static uint32_t find_name(const char *text, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) return i;
    }
    return count;
}

static bool parse_plan(const char *text, explore_plan *plan)
{
    char model[8], strategy[8];
    unsigned long long runs;
    if (sscanf(text, "%7[^,],%7[^,],%u,%u,%u,%llu", model, strategy, &plan->bound, &plan->weak,
               &plan->faults, &runs) != 6) {
        return false;
    }
    uint32_t m = find_name(model, engine_model_names, 4);
    uint32_t s = find_name(strategy, engine_strategy_names, 3);
    plan->model = (explore_model)m;
    plan->strategy = (explore_strategy)s;
    plan->runs = runs;
    return m < 4 && s < 3 && runs > 0;
}

static bool parse_mutant(char *text)
{
    char *equal = strrchr(text, '=');
    if (!equal) return false;
    *equal = 0;
    engine.mutant_site = text;
    engine.mutant_order = find_name(equal + 1, engine_order_names, 5);
    return engine.mutant_order < 5;
}

/* An option with a value; false when it is unknown or its value is bad. */
static bool parse_valued(options *o, const char *name, char *value)
{
    if (strcmp(name, "--replay") == 0) return (o->replay = value) != NULL;
    if (strcmp(name, "--mutants") == 0) return (o->mutants = value) != NULL;
    if (strcmp(name, "--seed") == 0) return (engine.seed = strtoull(value, NULL, 0)) != 0;
    if (strcmp(name, "--mutant") == 0) return parse_mutant(value);
    if (strcmp(name, "--budget") == 0) return (engine.budget_seconds = strtod(value, NULL)) > 0;
    if (strcmp(name, "--plan") != 0) return false;
    o->plan_text = value;
    return parse_plan(value, &o->plan);
}

static bool parse(options *o, int argc, char **argv)
{
    memset(o, 0, sizeof *o);
    engine.seed = 1;
    engine.budget_seconds = 60;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--deep") == 0)
            o->is_deep = true;
        else if (strcmp(a, "--list") == 0)
            o->is_list = true;
        else if (strcmp(a, "--brief") == 0)
            o->is_brief = true;
        else if (strcmp(a, "--first") == 0)
            o->stops_at_failure = true;
        else if (a[0] != '-' && o->name_count < 32)
            o->names[o->name_count++] = a;
        else if (i + 1 == argc || !parse_valued(o, a, argv[++i]))
            return false;
    }
    /* mutants: what survives is hunted with every plan, and the long ones would take days */
    if (!o->mutants && getenv("WEFT_DEEP") != NULL) o->is_deep = true;
    return true;
}

static bool is_wanted(const options *o, const char *name)
{
    return !o->name_count || find_name(name, o->names, o->name_count) < o->name_count;
}

static void print_failure(const explore_scenario *scenario, const engine_verdict *v, bool is_brief)
{
    printf("FAILED %s: %s\n", scenario->name, v->message);
    if (engine.mutant_site) {
        printf("  with --mutant '%s=%s'\n", engine.mutant_site,
               engine_order_names[engine.mutant_order]);
    }
    printf("  replay with: --replay %s\n", v->token);
    fflush(stdout);
    if (is_brief) return;
    printf("  the last steps:\n");
    engine_replay(scenario, v->token, TRACE_STEPS);
    printf("  replayed: %s\n", engine.is_failed ? engine.message : "NO FAILURE");
}

static void print_plan(const explore_scenario *s, const explore_plan *p, const engine_verdict *v)
{
    const char *end = v->is_failed                 ? s->must_fail ? "found" : "FAILED"
                      : v->is_complete             ? "complete"
                      : p->strategy == EXPLORE_DFS ? "cut"
                                                   : "done";
    printf("%-28s %-3s %-6s bound %u weak %u faults %u: %10llu schedules %-8s %6.2f s %5.2f M/s"
           " steps %llu max %.0f avg\n",
           s->name, engine_model_names[p->model], engine_strategy_names[p->strategy], p->bound,
           p->weak, p->faults, (unsigned long long)v->runs, end, v->seconds,
           (double)v->runs / (v->seconds > 0 ? v->seconds : 1e-9) * 1e-6,
           (unsigned long long)engine.steps_max,
           (double)engine.steps_sum / (double)(v->runs ? v->runs : 1));
    fflush(stdout);
}

/* A plan of an ordinary scenario must hold; of a self-test that must fail, one plan must find the
 * failure and its token must replay it. */
static bool judge(const explore_scenario *s, const explore_plan *p, engine_verdict *v,
                  bool is_brief)
{
    /* a long plan may be cut by its budget: it says so, and proves that much less */
    bool is_cut = p->must_complete && !p->only_deep && !v->is_complete && !v->is_failed;
    if (is_cut) printf("FAILED %s: the plan was to be exhaustive but was cut\n", s->name);
    if (!s->must_fail) {
        if (v->is_failed) print_failure(s, v, is_brief);
        return !v->is_failed && !is_cut;
    }
    if (!v->is_failed || !strstr(v->message, s->must_fail)) {
        printf("FAILED %s: the seeded fault was not found (%s)\n", s->name,
               v->is_failed ? v->message : "no failure");
        return false;
    }
    engine_replay(s, v->token, 0);
    bool is_same = engine.is_failed && strcmp(engine.message, v->message) == 0;
    if (!is_same) printf("FAILED %s: %s does not replay\n", s->name, v->token);
    return is_same;
}

static bool run_scenario(const explore_scenario *s, const options *o)
{
    static engine_verdict verdict;
    const explore_plan *plans = o->plan_text ? &o->plan : s->plans;
    uint32_t count = o->plan_text ? 1 : EXPLORE_PLANS_MAX;
    bool is_good = true;
    for (uint32_t i = 0; i < count && plans[i].runs; i++) {
        if (plans[i].only_deep && !o->is_deep) continue;
        engine_run_plan(s, &plans[i], o->is_deep, &verdict);
        print_plan(s, &plans[i], &verdict);
        is_good &= judge(s, &plans[i], &verdict, o->is_brief);
        if (!is_good && o->stops_at_failure) break;
    }
    return is_good;
}

static int replay(const explore_scenario *scenarios, const char *token)
{
    for (const explore_scenario *s = scenarios; s->name; s++) {
        size_t length = strlen(s->name);
        if (strncmp(s->name, token, length) != 0 || token[length] != '/') continue;
        engine_replay(s, token, UINT64_MAX);
        printf("%s\n", engine.is_failed ? engine.message : "no failure");
        return engine.is_failed;
    }
    printf("no such scenario\n");
    return 2;
}

/* "deque" of ".../explore_deque". */
static const char *program_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "explore_", 8) == 0 ? name + 8 : name;
}

int main(int argc, char **argv)
{
    const explore_scenario *scenarios = explore_scenarios;
    options o;
    if (!parse(&o, argc, argv)) {
        usage();
        return 2;
    }
    if (o.is_list) {
        for (const explore_scenario *s = scenarios; s->name; s++) puts(s->name);
        return 0;
    }
    if (o.replay) return replay(scenarios, o.replay);
    if (o.mutants) return engine_mutants(scenarios, program_name(argv[0]), o.mutants, o.is_deep);
    bool is_good = true;
    uint32_t ran = 0;
    for (const explore_scenario *s = scenarios; s->name; s++) {
        if (!is_wanted(&o, s->name)) continue;
        is_good &= run_scenario(s, &o);
        ran++;
    }
    if (!ran) printf("no such scenario\n");
    return is_good && ran ? 0 : 1;
}
