/* SPDX-License-Identifier: MIT */
/* cmd_diverge.c: `weft diverge A.log B.log`: where two state logs begin to differ (diverge.h).
 */
#include "cli.h"
#include "diverge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {"same",      "write",     "command",  "playback", "host",
                                    "relations", "exclusive", "step end", "steps",    "no log"};

static void print_json(const weft_divergence *d)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_bool(&json, "is_same", d->kind == WEFT_SAME);
    weft_json_count(&json, "step", d->step);
    if (d->kind != WEFT_SAME) weft_json_text(&json, "differs", kinds[d->kind]);
    if (d->system[0]) weft_json_text(&json, "system", d->system);
    if (d->component[0]) weft_json_text(&json, "component", d->component);
    if (d->entity[0]) {
        weft_json_text(&json, "entity", d->entity);
        weft_json_text(&json, "a", d->values[0]);
        weft_json_text(&json, "b", d->values[1]);
        weft_json_count(&json, "rows", d->rows);
    }
    weft_json_end(&json);
}

enum { PATH_BYTES = 4200 };

static int compare(const char *const paths[2], bool is_json, weft_divergence *d)
{
    FILE *files[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        files[i] = fopen(paths[i], "re");
        if (files[i]) continue;
        weft_cli_fail("diverge", "cannot open %s: %s; WEFT_STATE_LOG=FILE writes one", paths[i],
                      strerror(errno));
        if (files[0]) fclose(files[0]);
        return WEFT_CLI_FAILED;
    }
    const bool is_read = weft_diverge(files[0], files[1], d);
    fclose(files[0]);
    fclose(files[1]);
    if (d->kind == WEFT_DIFFERS_INPUT)
        return weft_cli_fail("diverge",
                             "%s is no state log of this version: run the program with "
                             "WEFT_STATE_LOG=FILE",
                             strcmp(d->what, "the first") == 0 ? paths[0] : paths[1]);
    if (!is_read) return weft_cli_fail("diverge", "out of memory");
    if (d->kind == WEFT_SAME) return WEFT_CLI_OK;
    if (is_json)
        print_json(d);
    else
        weft_diverge_print(stdout, d, paths);
    return WEFT_CLI_FOUND;
}

/* World by world, as long as there are logs. */
static int compare_all(const char *const paths[2], bool is_json)
{
    weft_divergence first = {0}, d;
    int status = compare(paths, is_json, &first);
    uint32_t worlds = 1;
    while (status == WEFT_CLI_OK) {
        char further[2][PATH_BYTES];
        bool has[2];
        for (int i = 0; i < 2; i++) {
            snprintf(further[i], PATH_BYTES, "%s.world-%u", paths[i], worlds + 1);
            has[i] = access(further[i], F_OK) == 0;
        }
        if (!has[0] && !has[1]) break;
        worlds++;
        if (has[0] != has[1]) {
            printf("no difference in %u world%s, then only the run of %s has another one\n",
                   worlds - 1, worlds == 2 ? "" : "s", paths[has[0] ? 0 : 1]);
            return WEFT_CLI_FOUND;
        }
        status = compare((const char *const[2]){further[0], further[1]}, is_json, &d);
    }
    if (status != WEFT_CLI_OK) return status;
    if (is_json)
        print_json(&first);
    else
        weft_diverge_print(stdout, &first, paths);
    if (!is_json && worlds > 1) printf("nor in the %u other worlds\n", worlds - 1);
    return WEFT_CLI_OK;
}

static int run_diverge(int argc, char **argv)
{
    bool is_json = false;
    const weft_cli_option options[] = {
        {"json", NULL, "one JSON object", WEFT_CLI_FLAG, &is_json, 0, 0}, {0}};
    const weft_cli_usage usage = {
        .command = "diverge",
        .arguments = "A.log B.log",
        .summary = "Finds the first step, system, component and entity that differ in two runs.",
        .options = options,
        .notes =
            "Any program that uses weft writes such a log: WEFT_STATE_LOG=FILE, and for the\n"
            "entities of one step WEFT_STATE_LOG_ROWS=STEP; or weft_state_log_begin().\n"
            "Further worlds of a process have logs FILE.world-2, ...; they are compared, too.\n"
            "Status 0: no difference, 1: a difference, 2: it could not be compared.",
        .examples = "WEFT_STATE_LOG=a.log ./game --workers 1\n"
                    "WEFT_STATE_LOG=b.log ./game --workers 8\n"
                    "weft diverge a.log b.log"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (argc - first != 2) return weft_cli_misuse("diverge", "name two logs");
    return compare_all((const char *const[2]){argv[first], argv[first + 1]}, is_json);
}

const weft_cli_command weft_cli_commands_diverge[] = {
    {"diverge", "where two runs of a program begin to differ", run_diverge},
    {0},
};
