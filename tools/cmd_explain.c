/* SPDX-License-Identifier: MIT */
/* cmd_explain.c: `weft explain [CODE]`: the page of an error code, or the list of all.
 *
 * Texts come from the library (weft_result_explain), so that the page always fits the binary.
 */
#include "cli.h"

#include <weft/base.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void print_code(weft_result code, bool with_page, bool is_json)
{
    if (!is_json) {
        const int length = printf("E%04d %s: ", (int)code, weft_result_name(code));
        weft_cli_print_text(weft_result_text(code), (uint32_t)length, 6);
        if (with_page) printf("\n%s\n", weft_result_explain(code));
        return;
    }
    char number[16];
    snprintf(number, sizeof number, "E%04d", (int)code);
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "code", number);
    weft_json_text(&json, "name", weft_result_name(code));
    weft_json_text(&json, "text", weft_result_text(code));
    if (with_page) weft_json_text(&json, "page", weft_result_explain(code));
    weft_json_end(&json);
}

/* Whether a word is the name of a code: "WEFT_WRONG_PHASE", "wrong_phase", "wrong-phase". */
static bool is_name(const char *word, const char *name)
{
    static const char prefix[] = "WEFT_";
    if (strncasecmp(word, prefix, sizeof prefix - 1) != 0) name += sizeof prefix - 1;
    for (; *word && *name; word++, name++)
        if (toupper((unsigned char)*word) != *name && !(*word == '-' && *name == '_')) return false;
    return *word == '\0' && *name == '\0';
}

/* "E0007", "e7", "7" or the name of the code; -1 when it is none of them. */
static int code_of(const char *word)
{
    for (int i = 0; i < WEFT_RESULT_COUNT; i++) {
        if (is_name(word, weft_result_name((weft_result)i))) return i;
    }
    if (word[0] == 'E' || word[0] == 'e') word++;
    char *end;
    const long number = strtol(word, &end, 10);
    const bool is_number = isdigit((unsigned char)word[0]) && *end == 0;
    return is_number && number < WEFT_RESULT_COUNT ? (int)number : -1;
}

static int unknown_code(const char *word)
{
    const char *names[WEFT_RESULT_COUNT + 1] = {NULL};
    char upper[64];
    size_t length = 0;
    for (; word[length] && length < sizeof upper - 1; length++)
        upper[length] = word[length] == '-' ? '_' : (char)toupper((unsigned char)word[length]);
    upper[length] = '\0';
    for (int i = 0; i < WEFT_RESULT_COUNT; i++) {
        names[i] = weft_result_name((weft_result)i);
        if (strncmp(upper, "WEFT_", 5) != 0) names[i] += 5;
    }
    const char *near = weft_cli_nearest(upper, names);
    if (near) return weft_cli_misuse("explain", "no error code '%s'; did you mean %s?", word, near);
    return weft_cli_misuse("explain", "no error code '%s'; codes are E0000 to E%04d", word,
                           WEFT_RESULT_COUNT - 1);
}

static int run_explain(int argc, char **argv)
{
    bool is_json = false;
    const weft_cli_option options[] = {
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {"explain",
                                  "[CODE ...]",
                                  "Prints what an error code means and what to do.",
                                  options,
                                  "CODE is E0021, 21, WEFT_BUSY or busy; none lists all codes.",
                                  "weft explain busy\nweft explain E0010 wrong-thread"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    for (int i = first; i < argc; i++) {
        if (code_of(argv[i]) < 0) return unknown_code(argv[i]);
    }
    for (int i = first; i < argc; i++) print_code((weft_result)code_of(argv[i]), true, is_json);
    for (int i = 0; first == argc && i < WEFT_RESULT_COUNT; i++) {
        print_code((weft_result)i, false, is_json);
    }
    return WEFT_CLI_OK;
}

const weft_cli_command weft_cli_commands_explain[] = {
    {"explain", "what an error code means and what to do", run_explain},
    {0},
};
