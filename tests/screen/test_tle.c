/* SPDX-License-Identifier: MIT */
/* test_tle.c: tests of the catalogue reader: what it takes, and what it says about what it does
 * not take.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "random.h"
#include "tle.h"

#define ISS_1 "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\n"
#define ISS_2 "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537\n"

/* The last problem reported and how many there were. */
struct log {
    uint32_t count;
    uint64_t line;
    uint32_t column;
    char reason[200];
};

static void note(void *user, const struct tle_problem *problem)
{
    struct log *log = user;
    log->count++;
    log->line = problem->line;
    log->column = problem->column;
    snprintf(log->reason, sizeof log->reason, "%s", problem->reason);
}

static enum tle_result read_bytes(const char *bytes, size_t size, struct log *log,
                                  struct tle_catalogue *catalogue)
{
    char path[] = "/tmp/weft_test_tle_XXXXXX";
    const int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    CHECK(write(descriptor, bytes, size) == (ssize_t)size);
    close(descriptor);
    *log = (struct log){0};
    const enum tle_result result = tle_read(path, note, log, catalogue);
    remove(path);
    return result;
}

static void expect(const char *text, uint32_t objects, uint32_t problems, struct log *log)
{
    struct tle_catalogue catalogue;
    CHECK(read_bytes(text, strlen(text), log, &catalogue) == TLE_OK);
    CHECK_U64(catalogue.count, objects);
    CHECK_U64(log->count, problems);
    tle_catalogue_fini(&catalogue);
}

/* Bytes of all values, the same in every run, lines of 1 to some 2,000 of them: without end. */
static void write_junk(int out)
{
    static uint64_t block[1 << 13];
    test_random random = test_random_init(7);
    for (size_t i = 0; i < sizeof block / sizeof *block; i++) block[i] = test_random_next(&random);
    memcpy(block, "junk", 4); /* no other format begins like this */
    while (write(out, block, sizeof block) > 0) continue;
}

/* Reads the junk of a child through a pipe; the child ends when it is not read any more. */
static enum tle_result read_junk(struct log *log, struct tle_catalogue *catalogue)
{
    int ends[2];
    char path[32];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_junk(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    *log = (struct log){0};
    const enum tle_result result = tle_read(path, note, log, catalogue);
    close(ends[0]);
    CHECK(waitpid(child, NULL, 0) == child);
    return result;
}

Test(tle, an_endless_file_without_objects_is_given_up)
{
    struct tle_catalogue catalogue;
    struct log log = {0};
    CHECK(tle_read("/dev/zero", note, &log, &catalogue) == TLE_FILE);
    CHECK(strstr(log.reason, "no object in 64 MiB") != NULL);
    CHECK_U64(catalogue.count, 0);
    CHECK(read_junk(&log, &catalogue) == TLE_FILE); /* many lines */
    CHECK(log.count > 1000);
    CHECK(strstr(log.reason, "no object in 64 MiB") != NULL);
}

Test(tle, two_lines_are_an_object_with_the_figures_of_its_columns)
{
    struct tle_catalogue c;
    struct log log;
    CHECK(read_bytes(ISS_1 ISS_2, strlen(ISS_1 ISS_2), &log, &c) == TLE_OK);
    CHECK_U64(c.count, 1);
    CHECK_U64(log.count, 0);
    const struct sgp4_elements *e = &c.objects[0].elements;
    CHECK_U64(c.objects[0].number, 25544);
    CHECK_F64(e->epoch_day, 2454729.5, 0.0);
    CHECK_F64(e->epoch_fraction, 0.51782528, 0.0);
    CHECK_F64(e->bstar, -0.11606e-4, 0.0);
    CHECK_F64(e->eccentricity, 0.0006703, 0.0);
    CHECK_F64(e->inclination * 57.29577951308232, 51.6416, 1e-12);
    CHECK_F64(e->mean_motion * 1440.0 / 6.283185307179586, 15.72125391, 1e-12);
    tle_catalogue_fini(&c);
}

Test(tle, three_lines_crlf_comments_and_blank_lines_are_read)
{
    struct tle_catalogue c;
    struct log log;
    const char *text = "# a comment\r\n\r\nISS (ZARYA)             \r\n"
                       "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\r\n"
                       "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537\r\n";
    CHECK(read_bytes(text, strlen(text), &log, &c) == TLE_OK);
    CHECK_U64(c.count, 1);
    CHECK_U64(log.count, 0);
    CHECK_TEXT(c.objects[0].name, "ISS (ZARYA)");
    tle_catalogue_fini(&c);
}

Test(tle, alpha_5_numbers_continue_after_99999)
{
    struct tle_catalogue c;
    struct log log;
    const char *text =
        "0 FAR\n1 T0002U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2929\n"
        "2 T0002  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563539\n";
    CHECK(read_bytes(text, strlen(text), &log, &c) == TLE_OK);
    CHECK_TEXT(log.reason, "");
    CHECK_U64(c.count, 1);
    CHECK_U64(c.objects[0].number, 270002);
    CHECK_TEXT(c.objects[0].name, "FAR");
    tle_catalogue_fini(&c);
}

Test(tle, a_wrong_checksum_is_named_with_line_and_column)
{
    struct log log;
    expect(ISS_1 "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563538\n", 0, 1,
           &log);
    CHECK_U64(log.line, 2);
    CHECK_U64(log.column, 69);
    CHECK_TEXT(log.reason, "checksum is '8', the line adds up to 7");
}

Test(tle, a_truncated_second_line_is_named_and_the_next_object_is_read)
{
    struct log log;
    expect(ISS_1 "2 25544  51.6416 247.46\n" ISS_1 ISS_2, 1, 1, &log);
    CHECK_U64(log.line, 2);
    CHECK_TEXT(log.reason, "truncated: 23 of 69 characters");
}

Test(tle, a_bad_first_line_takes_its_second_line_with_it)
{
    struct log log;
    expect("1 25544U 98067A   08264.51782528\n" ISS_2 ISS_1 ISS_2, 1, 1, &log);
    CHECK_U64(log.line, 1);
}

Test(tle, lines_without_partner_are_reported)
{
    struct log log;
    expect(ISS_1, 0, 1, &log);
    CHECK_TEXT(log.reason, "line 1 of object 25544 has no line 2");
    expect(ISS_2, 0, 1, &log);
    CHECK_TEXT(log.reason, "line 2 without a line 1 before it");
    expect(ISS_1 "SOMETHING ELSE\n" ISS_2, 0, 2, &log);
}

/* Replaces the characters at `column` (from 1) of the second line and corrects the checksum. */
static void expect_field(uint32_t line, uint32_t column, const char *field, const char *reason)
{
    char first[80], second[80], text[200];
    strcpy(first, ISS_1);
    strcpy(second, ISS_2);
    char *changed = line == 1 ? first : second;
    memcpy(changed + column - 1, field, strlen(field));
    int sum = 0;
    for (int i = 0; i < 68; i++)
        sum += changed[i] >= '0' && changed[i] <= '9' ? changed[i] - '0' : changed[i] == '-';
    changed[68] = (char)('0' + sum % 10);
    snprintf(text, sizeof text, "%s%s", first, second);
    struct log log;
    expect(text, 0, 1, &log);
    CHECK_TEXT(log.reason, reason);
    CHECK_U64(log.line, line);
    CHECK(log.column >= column && log.column < column + 14);
}

Test(tle, values_out_of_range_are_refused_by_name)
{
    expect_field(2, 9, "181.0000", "inclination 181 is outside 0 to 180");
    expect_field(2, 18, "360.0001", "ascending node 360.0001 is outside 0 to 360");
    expect_field(2, 35, "-10.0000", "argument of perigee -10 is outside 0 to 360");
    expect_field(2, 53, "00.00000000", "mean motion is zero");
    expect_field(2, 53, "99.00000000", "mean motion 99 is outside 0 to 20");
    expect_field(2, 27, "00x6703", "eccentricity: unexpected character 'x'");
    expect_field(2, 3, "25545", "catalogue number 25545 differs from 25544 on line 1");
    expect_field(2, 44, "        ", "mean anomaly is missing");
    expect_field(1, 21, "367.51782528", "epoch day 367 is outside 1 to 366");
    expect_field(1, 21, "000.51782528", "epoch day 0 is outside 1 to 366");
    expect_field(1, 54, " 11606*4", "drag term: exponent must be a sign and a digit");
    expect_field(1, 3, "I5544", "catalogue number: 'I' is not an Alpha-5 letter");
}

Test(tle, of_duplicates_the_later_epoch_is_kept)
{
    struct tle_catalogue c;
    struct log log;
    const char *text =
        "NEW\n1 25544U 98067A   08265.51782528 -.00002182  00000-0 -11606-4 0  2928\n" ISS_2
        "OLD\n" ISS_1 ISS_2;
    CHECK(read_bytes(text, strlen(text), &log, &c) == TLE_OK);
    CHECK_U64(c.count, 1);
    CHECK_U64(c.duplicates, 1);
    CHECK_U64(c.bad_lines, 0);
    CHECK_U64(log.count, 1);
    CHECK_TEXT(c.objects[0].name, "NEW");
    tle_catalogue_fini(&c);
}

Test(tle, of_equal_epochs_the_message_says_so)
{
    struct log log;
    expect("A\n" ISS_1 ISS_2 "B\n" ISS_1 ISS_2, 1, 1, &log);
    CHECK_TEXT(log.reason,
               "object 25544 appears again on line 5 with the same epoch: this one is dropped");
}

Test(tle, a_nul_in_a_name_is_told)
{
    struct tle_catalogue c;
    struct log log;
    static const char text[] = "ISS\0 (ZARYA)\n" ISS_1 ISS_2;
    CHECK(read_bytes(text, sizeof text - 1, &log, &c) == TLE_OK);
    CHECK_U64(c.count, 1);
    CHECK_U64(log.count, 1);
    CHECK_U64(log.column, 4);
    CHECK(strstr(log.reason, "byte 0x00 is not text") != NULL);
    tle_catalogue_fini(&c);
}

Test(tle, a_line_of_a_million_characters_is_one_problem)
{
    enum { size = 1000000 };
    char *text = malloc(size + 200);
    memset(text, 'x', size);
    strcpy(text + size, "\n" ISS_1 ISS_2);
    struct log log;
    expect(text, 1, 1, &log);
    CHECK_TEXT(log.reason, "line of 1000000 characters: two-line elements have 69");
    free(text);
}

Test(tle, bytes_that_are_not_text_are_problems_not_objects)
{
    unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 37 + i / 13);
    struct tle_catalogue c;
    struct log log;
    CHECK(read_bytes((const char *)bytes, sizeof bytes, &log, &c) == TLE_OK);
    CHECK_U64(c.count, 0);
    CHECK(log.count > 0);
    tle_catalogue_fini(&c);
}

Test(tle, an_empty_file_has_no_objects_and_no_problems)
{
    struct log log;
    expect("", 0, 0, &log);
}

Test(tle, a_directory_or_missing_file_is_an_error_with_its_reason)
{
    struct tle_catalogue c;
    struct log log = {0};
    CHECK(tle_read("/tmp", note, &log, &c) == TLE_FILE);
    CHECK_TEXT(log.reason, "is a directory: name a file of two-line elements or OMM");
    CHECK(tle_read("/tmp/weft/no/such/file", note, &log, &c) == TLE_FILE);
    CHECK_TEXT(log.reason, "cannot open: No such file or directory: "
                           "name a file of two-line elements or OMM");
}
