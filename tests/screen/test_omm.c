/* SPDX-License-Identifier: MIT */
/* test_omm.c: catalogues as OMM: what CSV and JSON give, and what is said about what they lack.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tle.h"

#define ISS_TLE                                                                                    \
    "ISS (ZARYA)\n"                                                                                \
    "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\n"                      \
    "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537\n"
#define HEADER                                                                                     \
    "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,"             \
    "ARG_OF_PERICENTER,MEAN_ANOMALY,EPHEMERIS_TYPE,CLASSIFICATION_TYPE,NORAD_CAT_ID,"              \
    "ELEMENT_SET_NO,REV_AT_EPOCH,BSTAR,MEAN_MOTION_DOT,MEAN_MOTION_DDOT\n"
#define ISS_CSV                                                                                    \
    "\"ISS \"\"(ZARYA)\"\"\",1998-067A,2008-09-20T12:25:40.104192,15.72125391,.0006703,51.6416,"   \
    "247.4627,130.5360,325.0288,0,U,25544,292,56353,-.11606E-4,-.2182E-4,0\r\n"
/* The last field in quotes, and no end of the line. */
#define ISS_QUOTED                                                                                 \
    "ISS,1998-067A,2008-09-20T12:25:40.104192,15.72125391,.0006703,51.6416,247.4627,130.5360,"     \
    "325.0288,0,U,25544,292,56353,-.11606E-4,-.2182E-4,\"0\""
#define ISS_JSON                                                                                   \
    "{\"OBJECT_NAME\":\"ISS (ZARYA)\",\"CCSDS_OMM_VERS\":[2,{\"a\":\"}\"}],\"NORAD_CAT_ID\":"      \
    "\"25544\",\"EPOCH\":\"2008-09-20T12:25:40.104192\",\"MEAN_MOTION\":15.72125391,"              \
    "\"ECCENTRICITY\":0.0006703,\"INCLINATION\":51.6416,\"RA_OF_ASC_NODE\":247.4627,\n"            \
    "\"ARG_OF_PERICENTER\":130.5360,\"MEAN_ANOMALY\":325.0288,\"BSTAR\":-1.1606e-5,"               \
    "\"DECAY_DATE\":null}"

/* The last problem reported and how many there were. */
struct log {
    uint32_t count;
    uint64_t line;
    char reason[200];
};

static void note(void *user, const struct tle_problem *problem)
{
    struct log *log = user;
    log->count++;
    log->line = problem->line;
    snprintf(log->reason, sizeof log->reason, "%s", problem->reason);
}

static enum tle_result read_text(const char *text, struct log *log, struct tle_catalogue *c)
{
    char path[] = "/tmp/weft_test_omm_XXXXXX";
    const int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    CHECK(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
    *log = (struct log){0};
    const enum tle_result result = tle_read(path, note, log, c);
    remove(path);
    return result;
}

static void expect(const char *text, uint32_t objects, uint32_t problems, struct log *log)
{
    struct tle_catalogue c;
    CHECK(read_text(text, log, &c) == TLE_OK);
    CHECK_U64(c.count, objects);
    CHECK_U64(log->count, problems);
    tle_catalogue_fini(&c);
}

/* The same elements as the two lines, to what their columns resolve. */
static void check_is_iss(const char *text, const char *name)
{
    struct tle_catalogue omm, tle;
    struct log log;
    CHECK(read_text(ISS_TLE, &log, &tle) == TLE_OK && tle.count == 1);
    CHECK(read_text(text, &log, &omm) == TLE_OK);
    CHECK_U64(log.count, 0);
    CHECK_U64(omm.count, 1);
    const struct sgp4_elements *a = &omm.objects[0].elements, *b = &tle.objects[0].elements;
    CHECK_U64(omm.objects[0].number, 25544);
    CHECK_TEXT(omm.objects[0].name, name);
    CHECK_F64(a->epoch_day, b->epoch_day, 0.0);
    CHECK_F64(a->epoch_fraction, b->epoch_fraction, 1e-11);
    CHECK_F64(a->mean_motion, b->mean_motion, 1e-15);
    CHECK_F64(a->eccentricity, b->eccentricity, 1e-15);
    CHECK_F64(a->inclination, b->inclination, 1e-15);
    CHECK_F64(a->node, b->node, 1e-14);
    CHECK_F64(a->perigee, b->perigee, 1e-14);
    CHECK_F64(a->mean_anomaly, b->mean_anomaly, 1e-14);
    CHECK_F64(a->bstar, b->bstar, 1e-18);
    tle_catalogue_fini(&omm);
    tle_catalogue_fini(&tle);
}

Test(omm, csv_and_json_give_the_elements_of_the_two_lines)
{
    check_is_iss(HEADER ISS_CSV, "ISS \"(ZARYA)\"");
    check_is_iss(HEADER ISS_QUOTED, "ISS");
    check_is_iss(HEADER ISS_QUOTED "\n", "ISS");
    check_is_iss("[" ISS_JSON "]", "ISS (ZARYA)");
    check_is_iss("\n " ISS_JSON "\n", "ISS (ZARYA)");
}

Test(omm, the_checksum_is_that_of_the_command_cksum)
{
    struct tle_catalogue c;
    struct log log;
    CHECK(read_text("# 123456789", &log, &c) == TLE_OK);
    CHECK_U64(c.bytes, 11);
    CHECK_U64(c.cksum, 2314307000); /* printf '# 123456789' | cksum */
    tle_catalogue_fini(&c);
}

Test(omm, a_bad_record_is_told_with_its_line_and_the_others_stay)
{
    struct log log;
    expect(HEADER ISS_CSV "X,1,2008-13-20T00:00:00,15,0,0,0,0,0,0,U,7,1,1,0,0,0\n", 1, 1, &log);
    CHECK_U64(log.line, 3);
    CHECK(strstr(log.reason, "EPOCH '2008-13-20") != NULL);
    expect(HEADER "X,1,2008-12-20T00:00:00,15,0,181,0,0,0,0,U,7,1,1,0,0,0\n" ISS_CSV, 1, 1, &log);
    CHECK_TEXT(log.reason, "INCLINATION 181 is outside 0 to 180");
    expect(HEADER "X,1,2008-12-20T00:00:00,abc\n" ISS_CSV, 1, 1, &log);
    CHECK_TEXT(log.reason, "MEAN_MOTION: 'abc' is not a number");
    expect(HEADER "X,1,2008-12-20T00:00:00\n" ISS_CSV, 1, 1, &log);
    CHECK_TEXT(log.reason, "truncated: 3 of 17 fields");
    expect("[{\"NORAD_CAT_ID\":7}," ISS_JSON "]", 1, 1, &log);
    CHECK_TEXT(log.reason, "EPOCH is missing");
}

Test(omm, files_that_end_early_or_are_something_else_are_told)
{
    struct log log;
    expect(HEADER ISS_CSV "X,\"1", 1, 1, &log);
    CHECK_TEXT(log.reason, "CSV: the file ends within quotes");
    expect(HEADER ISS_CSV "X,\"1\"\"", 1, 1, &log);
    CHECK_TEXT(log.reason, "CSV: the file ends within quotes");
    expect("[" ISS_JSON ",{\"NORAD_CAT_ID\":7", 1, 1, &log);
    CHECK(strstr(log.reason, "the file ends") != NULL);
    expect("[1,2]", 0, 1, &log);
    CHECK_TEXT(log.reason, "JSON: expected an object, not '1'");
    expect("{\"a\" 1}", 0, 1, &log);
    expect("[]", 0, 0, &log);
    expect(HEADER, 0, 0, &log);
    expect("[{\"OBJECT_NAME\":\"\\u", 0, 1, &log);
}

#define MARK "\xef\xbb\xbf"

Test(omm, a_byte_order_mark_is_passed_over_and_utf_16_is_told)
{
    struct tle_catalogue c;
    struct log log;
    check_is_iss(MARK HEADER ISS_CSV, "ISS \"(ZARYA)\"");
    check_is_iss(MARK "[" ISS_JSON "]", "ISS (ZARYA)");
    check_is_iss(MARK ISS_TLE, "ISS (ZARYA)");
    CHECK(read_text("\xff\xfe[", &log, &c) == TLE_FILE);
    CHECK_TEXT(log.reason, "is UTF-16: save it as UTF-8");
    CHECK(read_text("\xfe\xff", &log, &c) == TLE_FILE);
}

/* ISS_CSV or ISS_JSON with `old` replaced, in front of which and behind which `text` stands. */
static const char *with(const char *from, const char *old, const char *new)
{
    static char texts[4][4096];
    static uint32_t turn;
    char *text = texts[turn++ % 4];
    const char *at = strstr(from, old);
    CHECK(at != NULL);
    snprintf(text, sizeof texts[0], "%.*s%s%s", (int)(at - from), from, new, at + strlen(old));
    return text;
}

Test(omm, what_is_no_number_is_told_in_csv_and_in_json)
{
    static const char *const bad[] = {" ",   "  ",  "",    "nan", "inf", "-inf", "0x1", "1e999",
                                      "1 2", "0,1", "1_0", "1;",  ".",   "--1",  "1e",  "true"};
    static const char *const fields[][2] = {
        {"15.72125391", "15.72125391"}, {".0006703", "0.0006703"}, {"51.6416", "51.6416"},
        {"247.4627", "247.4627"},       {"130.5360", "130.5360"},  {"325.0288", "325.0288"},
        {"-.11606E-4", "-1.1606e-5"},   {"25544", "25544"}};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            struct log log;
            char quoted[40];
            expect(with(HEADER ISS_CSV, fields[f][0], bad[i]), 0, 1, &log);
            snprintf(quoted, sizeof quoted, f == 7 ? "%s" : "\"%s\"", bad[i]);
            expect(with("[" ISS_JSON "]", fields[f][1], quoted), 0, 1, &log);
            if (strpbrk(bad[i], " ,") || bad[i][0] == '\0') continue;
            expect(with("[" ISS_JSON "]", f == 7 ? "\"25544\"" : fields[f][1], bad[i]), 0, 1, &log);
        }
    struct log log;
    expect(with(HEADER ISS_CSV, "25544", "25544.5"), 0, 1, &log);
    CHECK_TEXT(log.reason, "NORAD_CAT_ID: 25544.5 is not a whole number");
    expect(with("[" ISS_JSON "]", "\"25544\"", "25544.25"), 0, 1, &log);
    expect(with("[" ISS_JSON "]", "0.0006703", "null"), 0, 1, &log);
    CHECK_TEXT(log.reason, "ECCENTRICITY is missing");
}

Test(omm, members_and_columns_that_stand_twice_are_told)
{
    struct log log;
    expect(with("[" ISS_JSON "]", "\"MEAN_MOTION\"", "\"ECCENTRICITY\":0,\"MEAN_MOTION\""), 0, 1,
           &log);
    CHECK_TEXT(log.reason, "ECCENTRICITY is there twice");
    expect(with("[" ISS_JSON "]", "\"DECAY_DATE\":null", "\"BSTAR\":null"), 0, 1, &log);
    CHECK_TEXT(log.reason, "BSTAR is there twice");
    expect(with("[" ISS_JSON "]", "\"DECAY_DATE\"", "\"OBJECT_NAME\":\"X\",\"DECAY_DATE\""), 0, 1,
           &log);
    expect(with(HEADER ISS_CSV, "OBJECT_ID", "OBJECT_NAME"), 0, 1, &log);
    CHECK_TEXT(log.reason, "OBJECT_NAME is there twice");
}

Test(omm, what_is_wrong_between_records_is_told_and_they_are_read)
{
    static const struct {
        const char *head, *middle, *tail;
        uint32_t problems;
    } cases[] = {
        {"[", ",", "]", 0},   {"", "\n", "\n", 0}, {"[", "][", "]", 0}, /* several files in one */
        {"[", ",", "", 1},    {"[", ",", ",", 1},  {"[", ",", ",]", 1},
        {"[", "", "]", 1},    {"[", ",,", "]", 1}, {"[,", ",", "]", 1},
        {"[", ",", "] x", 1}, {"", ",", "", 1},    {"[", ",", "]]", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct log log;
        char text[4096];
        snprintf(text, sizeof text, "%s%s%s%s%s", cases[i].head, ISS_JSON, cases[i].middle,
                 with(ISS_JSON, "25544", "25545"), cases[i].tail);
        expect(text, 2, cases[i].problems, &log);
    }
    struct log log;
    expect("[" ISS_JSON ",\n", 1, 1, &log);
    CHECK(strstr(log.reason, "the file ends before the ']'") != NULL);
    expect(with("[" ISS_JSON "]", ",\"BSTAR\"", "\"BSTAR\""), 0, 1, &log);
    expect(with("[" ISS_JSON "]", "null}", "null,}"), 0, 1, &log);
    expect(with(HEADER ISS_CSV, "OBJECT_ID", "\"OBJECT_ID\"x"), 1, 1, &log);
    expect(with(HEADER ISS_CSV, "247.4627", "\"247.4627\"5"), 0, 1, &log);
    expect(with(HEADER ISS_CSV, "247.4627", "247,4627"), 0, 1, &log);
    expect(with(HEADER ISS_CSV, ".11606E-4,-.2182E-4,0", "\".11606E-4,-.2182E-4,0"), 0, 1, &log);
    expect(HEADER "\"ISS\",,2008-09-20T12:25:40,15,.1,51,247,130,325,0,U,25544,292,1,0,0,0, ,\n", 1,
           0, &log);
}

Test(omm, names_are_cut_between_characters_and_hold_what_files_can)
{
    static const struct {
        const char *given, *kept;
    } cases[] = {
        {"12345678901234567890123\xc3\xa9", "12345678901234567890123"},
        {"1234567890123456789012\xc3\xa9\xc3\xa9", "1234567890123456789012\xc3\xa9"},
        {"123456789012345678901\xf0\x9f\x9b\xb0", "123456789012345678901"},
        {"\xe9t\xc3", "?t?"}, /* Latin-1 */
        {"a\tb\x7f"
         "c",
         "a b c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tle_catalogue c;
        struct log log;
        CHECK(read_text(with(HEADER ISS_CSV, "\"ISS \"\"(ZARYA)\"\"\"", cases[i].given), &log,
                        &c) == TLE_OK);
        CHECK_TEXT(c.objects[0].name, cases[i].kept);
        tle_catalogue_fini(&c);
        CHECK(read_text(with("[" ISS_JSON "]", "ISS (ZARYA)", cases[i].given), &log, &c) == TLE_OK);
        CHECK_TEXT(c.objects[0].name, cases[i].kept);
        tle_catalogue_fini(&c);
        if (strpbrk(cases[i].given, "\t\x7f")) continue; /* told in lines */
        CHECK(read_text(with(ISS_TLE, "ISS (ZARYA)", cases[i].given), &log, &c) == TLE_OK);
        CHECK_TEXT(c.objects[0].name, cases[i].kept);
        tle_catalogue_fini(&c);
    }
    check_is_iss(with("[" ISS_JSON "]", "ISS (ZARYA)", "\\u00e9\\u2192\\ud83d"),
                 "\xc3\xa9\xe2\x86\x92?");
}
