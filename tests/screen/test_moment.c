/* SPDX-License-Identifier: MIT */
/* test_moment.c: tests of moment.c: calendar, arithmetic over midnights, text both ways.
 *
 */
#include <criterion/criterion.h>
#include <string.h>

#include "check.h"
#include "moment.h"

Test(moment, known_julian_dates)
{
    CHECK_F64(moment_of_date(2000, 1, 1).day, 2451544.5, 0.0);
    CHECK_F64(moment_of_date(1957, 10, 4).day, 2436115.5, 0.0);
    CHECK_F64(moment_of_date(2026, 1, 223).day, moment_of_date(2026, 8, 11).day, 0.0);
}

Test(moment, text_is_read_and_written_back_the_same)
{
    const char *texts[] = {"2026-08-11T14:03:22.118Z", "2000-02-29T00:00:00.000Z",
                           "1999-12-31T23:59:59.999Z", "2024-12-31T12:00:00.500Z"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct moment m;
        char text[MOMENT_TEXT_BYTES];
        CHECK(moment_parse(texts[i], &m) == 0);
        moment_format(m, text);
        CHECK_TEXT(text, texts[i]);
    }
}

Test(moment, short_forms_are_read)
{
    struct moment a, b;
    CHECK(moment_parse("2026-08-11", &a) == 0);
    CHECK(moment_parse("2026-08-11T00:00Z", &b) == 0);
    CHECK_F64(moment_seconds_between(a, b), 0.0, 0.0);
}

Test(moment, nonsense_is_refused)
{
    const char *texts[] = {"",
                           "today",
                           "2026-13-01",
                           "2026-02-29",
                           "2026-00-10",
                           "2026-08-11T24:00",
                           "2026-08-11T12",
                           "2026-08-11T12:00:61",
                           "2026-8-11",
                           "2026-08-11T12:00:00+02:00",
                           "2026-08-11 "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct moment m;
        CHECK(moment_parse(texts[i], &m) != 0);
    }
}

Test(moment, rounding_up_to_midnight_carries_into_the_date)
{
    struct moment m;
    char text[MOMENT_TEXT_BYTES];
    CHECK(moment_parse("2023-12-31T23:59:59.9996", &m) == 0);
    moment_format(m, text);
    CHECK_TEXT(text, "2024-01-01T00:00:00.000Z");
}

Test(moment, adding_seconds_crosses_days_both_ways)
{
    const struct moment start = moment_of_date(2026, 3, 1);
    const struct moment later = moment_add_seconds(start, 90000.25),
                        earlier = moment_add_seconds(start, -0.5);
    CHECK_F64(moment_seconds_between(start, later), 90000.25, 1e-9);
    CHECK_F64(moment_seconds_between(start, earlier), -0.5, 1e-9);
    CHECK(later.fraction >= 0.0 && later.fraction < 1.0 && earlier.fraction >= 0.0 &&
          earlier.fraction < 1.0);
}
