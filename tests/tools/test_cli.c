/* SPDX-License-Identifier: MIT */
/* test_cli.c: option parsing, spelling hints and the JSON writer of the command line.
 */
#include "cli.h"

#include "check.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* The options of an invented command, and what the parser found. */
typedef struct parsed {
    bool is_json;
    uint64_t workers;
    double step;
    const char *out;
    int first, status;
} parsed;

static parsed parse(size_t count, const char *const *words)
{
    char *argv[16] = {0};
    memcpy(argv, words, count * sizeof *words);
    const int argc = (int)count;
    parsed p = {.workers = 7, .step = 0.5};
    const weft_cli_option options[] = {
        {"json", NULL, "", WEFT_CLI_FLAG, &p.is_json, 0, 0},
        {"workers", "N", "", WEFT_CLI_COUNT, &p.workers, 1, 1024},
        {"step", "S", "", WEFT_CLI_NUMBER, &p.step, 0, 0},
        {"out", "DIR", "", WEFT_CLI_TEXT, &p.out, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {"test", "", "", options, NULL};
    p.status = weft_cli_parse(&usage, argc, argv, &p.first);
    return p;
}

#define PARSE(...)                                                                                 \
    parse(sizeof((const char *[]){"test", __VA_ARGS__}) / sizeof(char *),                          \
          (const char *[]){"test", __VA_ARGS__})

Test(cli, defaults_stay_when_no_option_is_given)
{
    const parsed p = PARSE("file");
    CHECK_I64(p.status, WEFT_CLI_CONTINUE);
    CHECK_U64(p.workers, 7);
    CHECK_F64(p.step, 0.5, 0);
    CHECK(!p.is_json && !p.out);
    CHECK_I64(p.first, 1);
}

Test(cli, options_may_follow_arguments)
{
    const parsed p = PARSE("file", "--workers", "0x10", "--step=-2.5", "--json", "--out", "there");
    CHECK_I64(p.status, WEFT_CLI_CONTINUE);
    CHECK_U64(p.workers, 16);
    CHECK_F64(p.step, -2.5, 0);
    CHECK_TEXT(p.out, "there");
    CHECK(p.is_json);
    CHECK_I64(p.first, 7);
}

Test(cli, numbers_out_of_range_or_malformed_are_bad_usage)
{
    CHECK_I64(PARSE("--workers", "0").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "1025").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "-1").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "4x").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", " -5").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "0x").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--workers", "99999999999999999999").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--step", "nan").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--step", "inf").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--step").status, WEFT_CLI_USAGE);
    CHECK_I64(PARSE("--stpe", "1").status, WEFT_CLI_USAGE);
}

Test(cli, a_leading_zero_is_no_other_number)
{
    CHECK_U64(PARSE("--workers", "010").workers, 10);
    CHECK_U64(PARSE("--workers", "0X1f").workers, 31);
}

Test(cli, nearest_name_is_found_within_two_letters_only)
{
    const char *const names[] = {"screen", "stress", "bench", NULL};
    CHECK_TEXT(weft_cli_nearest("scren", names), "screen");
    CHECK_TEXT(weft_cli_nearest("bnech", names), "bench");
    CHECK_TEXT(weft_cli_nearest("", names), NULL);
    CHECK_TEXT(weft_cli_nearest("inspect", names), NULL);
}

Test(cli, json_line_escapes_nests_and_never_writes_nan)
{
    char text[512] = {0};
    FILE *out = fmemopen(text, sizeof text, "w");
    weft_json json;
    weft_json_begin(&json, out);
    weft_json_text(&json, "name", "a\"b\\c\n\x01\xff");
    weft_json_number(&json, "bad", (double)NAN);
    weft_json_open(&json, "inner");
    weft_json_count(&json, "n", UINT64_MAX);
    weft_json_close(&json);
    weft_json_hash(&json, "hash", 0xabc);
    weft_json_numbers(&json, "list", (double[]){1, 2.5}, 2);
    weft_json_bool(&json, "ok", true);
    weft_json_end(&json);
    fclose(out);
    CHECK_TEXT(text, "{\"name\":\"a\\\"b\\\\c\\u000a\\u0001\\ufffd\",\"bad\":null,"
                     "\"inner\":{\"n\":18446744073709551615},\"hash\":\"0x0000000000000abc\","
                     "\"list\":[1,2.5],\"ok\":true}\n");
}
