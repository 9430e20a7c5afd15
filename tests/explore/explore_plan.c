/* SPDX-License-Identifier: MIT */
/* explore_plan.c: the loop over schedules: runs a scenario from scratch on fibres until a plan is
 * done or a schedule fails. A crash of the code under test prints its token too. */
#include "archetype_state.h"
#include "explore_engine.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUDGET_CHECK_RUNS 1024u

const char *const engine_strategy_names[] = {"dfs", "pct", "random"};

/* Processor time: what else runs on the machine does not count. */
static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void scenario_thread(void *argument)
{
    (void)argument;
    engine.scenario->run();
    explore_end();
    if (engine.live_bytes) {
        explore_fail("leak: %llu bytes of the scenario's hooks are not released",
                     (unsigned long long)engine.live_bytes);
    }
}

static void run_once(void)
{
    engine_reset();
    engine_thread_create(scenario_thread, NULL);
    explore_fibre_switch(&engine.host, &engine.threads[0].fibre);
    engine.thread_count = 0; /* plain accesses of the host are no thread's */
    engine.runs++;
    engine.steps_sum += engine.steps;
    if (engine.steps > engine.steps_max) engine.steps_max = engine.steps;
}

static void on_crash(int signal)
{
    static char token[4096];
    engine_token_print(token, sizeof token);
    dprintf(1, "FAILED %s: crash, signal %d\n  replay with: --replay %s\n", engine.scenario->name,
            signal, token);
    _exit(3);
}

static void catch_crashes(void)
{
    static unsigned char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}

static void set_plan(const explore_scenario *scenario, const explore_plan *plan)
{
    engine.scenario = scenario;
    engine.model = plan->model;
    engine.strategy = plan->strategy;
    engine.bound = plan->bound;
    engine.weak = plan->weak;
    engine.faults = plan->faults;
    engine.is_replay = false;
    engine.prefix = engine.depth = 0;
    engine.runs = engine.steps_max = engine.steps_sum = 0;
}

void engine_run_plan(const explore_scenario *scenario, const explore_plan *plan, bool is_deep,
                     engine_verdict *verdict)
{
    uint64_t limit = is_deep && plan->deep_runs ? plan->deep_runs : plan->runs;
    bool has_budget = is_deep && (plan->deep_runs || plan->only_deep);
    double start = now_seconds();
    catch_crashes();
    set_plan(scenario, plan);
    verdict->is_complete = false;
    do {
        run_once();
        if (engine.is_failed) break;
        if (plan->strategy == EXPLORE_DFS && !engine_choices_next()) {
            verdict->is_complete = true;
            break;
        }
        if (has_budget && engine.runs % BUDGET_CHECK_RUNS == 0 &&
            now_seconds() - start > engine.budget_seconds)
            break;
    } while (engine.runs < limit);
    verdict->is_failed = engine.is_failed;
    verdict->runs = engine.runs;
    verdict->seconds = now_seconds() - start;
    verdict->token[0] = 0;
    memcpy(verdict->message, engine.message, sizeof verdict->message);
    if (engine.is_failed) engine_token_print(verdict->token, sizeof verdict->token);
}

void engine_replay(const explore_scenario *scenario, const char *token, uint64_t trace_steps)
{
    catch_crashes();
    engine.scenario = scenario;
    engine.runs = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (!engine_token_parse(token)) {
            engine.is_failed = true;
            snprintf(engine.message, sizeof engine.message, "malformed token");
            return;
        }
        engine.is_replay = true;
        engine.is_tracing = pass == 1 && trace_steps;
        engine.trace_from = engine.steps > trace_steps ? engine.steps - trace_steps : 0;
        run_once();
    }
    engine.is_tracing = engine.is_replay = false;
}
