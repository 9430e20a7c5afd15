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
        printf("E%04d %s: %s\n", (int)code, weft_result_name(code), weft_result_text(code));
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

/* "E0007", "e7", "7" or the name of the code; -1 when it is none of them. */
static int code_of(const char *word)
{
    for (int i = 0; i < WEFT_RESULT_COUNT; i++) {
        if (strcasecmp(word, weft_result_name((weft_result)i)) == 0) return i;
    }
    if (word[0] == 'E' || word[0] == 'e') word++;
    char *end;
    const long number = strtol(word, &end, 10);
    const bool is_number = isdigit((unsigned char)word[0]) && *end == 0;
    return is_number && number < WEFT_RESULT_COUNT ? (int)number : -1;
}

static int run_explain(int argc, char **argv)
{
    bool is_json = false;
    const weft_cli_option options[] = {
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {"explain", "[CODE ...]",
                                  "Prints what an error code means and what to do.", options,
                                  "CODE is E0007, 7 or WEFT_ALREADY_EXISTS; none lists all codes."};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    for (int i = first; i < argc; i++) {
        if (code_of(argv[i]) < 0) {
            return weft_cli_misuse("explain", "no error code '%s'; codes are E0000 to E%04d",
                                   argv[i], WEFT_RESULT_COUNT - 1);
        }
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
