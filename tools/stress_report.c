/* SPDX-License-Identifier: MIT */
/* stress_report.c: the words of `weft stress` (stress_report.h).
 *
 * The last words of a dying process are made before each round, in a static buffer, because a
 * signal handler may do no more than write them: that buffer and the installed handlers are the
 * state of this file. A thread that crashes interrupts the round, not the making of the line: the
 * calling thread makes it while no round runs. Under sanitizers, which have their own handlers for
 * crashes, the sanitizer calls us back.
 */
#include "stress_report.h"

#include "cli.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__ /* musl has no backtrace */
#include <execinfo.h>
#define SAY_FRAMES(frames) backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO)
#define LOAD_BACKTRACE(frames) ((void)backtrace(frames, 1))
#else
#define SAY_FRAMES(frames) ((void)(frames), say("not known\n"))
#define LOAD_BACKTRACE(frames) ((void)(frames))
#endif

enum { COMMAND_BYTES = 256, LINE_BYTES = 320, FRAMES = 64 };

static char order_path[COMMAND_BYTES - 32]; /* of the last failure; "": none */
static char last_words[LINE_BYTES];
static size_t last_words_length;

/* In the runtime of a sanitizer, if there is one. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* Repeats the round that failed, or, where its state counts, all rounds up to it. */
static void make_command(const weft_stress_config *config, const weft_stress_scenario *scenario,
                         uint32_t round, char command[COMMAND_BYTES])
{
    char which[64];
    if (weft_stress_is_round_alone(scenario))
        snprintf(which, sizeof which, "--from %u --rounds 1", round);
    else
        snprintf(which, sizeof which, "--rounds %u", round + 1);
    snprintf(command, COMMAND_BYTES, "weft stress %s --seed 0x%" PRIx64 " --workers %u %s%s",
             scenario->name, config->seed, config->workers, which,
             config->with_faults ? " --faults" : "");
}

void weft_stress_report_order(const char *path)
{
    snprintf(order_path, sizeof order_path, "%s", path);
}

static void report_json(const weft_stress_config *config, const weft_stress_scenario *scenario,
                        const weft_stress_outcome *outcome, const char *command)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "scenario", scenario->name);
    weft_json_hash(&json, "seed", config->seed);
    weft_json_count(&json, "workers", config->workers);
    weft_json_count(&json, "rounds", outcome->rounds);
    weft_json_number(&json, "seconds", outcome->seconds);
    weft_json_count(&json, "bytes", outcome->bytes);
    if (outcome->hashed == 0) weft_json_hash(&json, "hash", outcome->hash);
    if (config->with_faults) {
        weft_json_count(&json, "refused", outcome->refused);
        weft_json_count(&json, "delayed", outcome->delayed);
    }
    weft_json_count(&json, "errors", outcome->errors);
    if (outcome->errors) weft_json_text(&json, "repeat", command);
    weft_json_end(&json);
}

void weft_stress_report(const weft_stress_config *config, const weft_stress_scenario *scenario,
                        const weft_stress_outcome *outcome)
{
    char command[COMMAND_BYTES];
    const uint32_t last = config->from + (outcome->rounds ? outcome->rounds - 1 : 0);
    make_command(config, scenario, last, command);
    if (outcome->errors && order_path[0]) {
        fprintf(stderr, "the round again: %s\n", command);
        snprintf(command, sizeof command, "weft stress --replay %s", order_path);
        order_path[0] = '\0';
    }
    last_words_length = 0;
    weft_cli_progress_clear();
    if (config->is_json) {
        report_json(config, scenario, outcome, command);
    } else {
        printf("%-14s seed 0x%016" PRIx64 "  workers %u  %.1f s  %" PRIu64 " MiB", scenario->name,
               config->seed, config->workers, outcome->seconds, outcome->bytes >> 20);
        if (config->with_faults)
            printf("\n%-14s refused %" PRIu64 "  delayed %" PRIu64, "", outcome->refused,
                   outcome->delayed);
        printf("\n%-14s rounds %u  ", "", outcome->rounds);
        if (outcome->hashed != 0 && outcome->errors == 0)
            printf("no hash: it takes %u rounds", outcome->hashed);
        else
            printf("world hash 0x%016" PRIx64, outcome->hash);
        printf("  errors %" PRIu64 "\n", outcome->errors);
    }
    fflush(stdout);
    if (outcome->errors) fprintf(stderr, "repeat: %s\n", command);
}

static void say_last_words(void)
{
    if (write(STDERR_FILENO, last_words, last_words_length) < 0) return; /* stderr is closed */
}

/* What may be called in a handler: write, and backtrace once its library is loaded (install). */
static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return; /* stderr is closed */
}

static void say_stack(int number)
{
    void *frames[FRAMES];
    say("\nweft stress: ");
    say(number == SIGSEGV  ? "SIGSEGV (access to memory that is not there)"
        : number == SIGBUS ? "SIGBUS (access beyond the end of a file, or unaligned)"
        : number == SIGFPE ? "SIGFPE (division by zero or overflow)"
        : number == SIGILL ? "SIGILL (no such instruction, or a trap)"
                           : "SIGABRT (abort, an assertion)");
    say("; stack of the thread:\n");
    SAY_FRAMES(frames);
    say("names of addresses in parentheses: addr2line -fpe weft ADDRESS\n");
}

/* The action is the default one again (SA_RESETHAND): the signal ends the process after this. */
static void on_crash(int number)
{
    say_stack(number);
    say_last_words();
    raise(number);
}

static void on_stop(int number)
{
    say_last_words();
    raise(number);
}

static void install(void)
{
    static const int asked[] = {SIGINT, SIGTERM},
                     crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static bool is_installed;
    const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND},
                           crash = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    void *frame;
    if (is_installed) return;
    is_installed = true;
    LOAD_BACKTRACE(&frame);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) sigaction(asked[i], &stop, NULL);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(say_last_words);
        return;
    }
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &crash, NULL);
}

void weft_stress_watch(const weft_stress_config *config, const weft_stress_scenario *scenario,
                       uint32_t round)
{
    char command[COMMAND_BYTES];
    install();
    make_command(config, scenario, round, command);
    last_words_length = 0;
    const int length = snprintf(last_words, sizeof last_words,
                                "\nweft stress: ended in round %u of %s\nrepeat: %s\n", round,
                                scenario->name, command);
    last_words_length = length > 0 ? strlen(last_words) : 0;
}

uint64_t weft_stress_memory(void)
{
    unsigned long long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%llu %llu", &whole, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
