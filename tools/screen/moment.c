/* SPDX-License-Identifier: MIT */
/* moment.c: calendar and clock arithmetic for moments, on integers: days by the usual count of
 * days since 0000-03-01.
 */
#include "moment.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const double julian_of_1970 = 2440587.5;

/* Days from 1970-01-01; years are taken to start in March so that the leap day comes last. */
static int64_t days_from_civil(int year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static void civil_from_days(int64_t days, int *year, int *month, int *day)
{
    const int64_t shifted = days + 719468;
    const int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const int64_t day_of_era = shifted - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    *month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2 ? 1 : 0));
}

struct moment moment_of_date(int year, int month, int day)
{
    return (struct moment){.day = julian_of_1970 + (double)days_from_civil(year, month, day)};
}

struct moment moment_add_seconds(struct moment from, double seconds)
{
    const double fraction = from.fraction + seconds / 86400.0;
    const double whole = floor(fraction);
    return (struct moment){.day = from.day + whole, .fraction = fraction - whole};
}

double moment_seconds_between(struct moment from, struct moment to)
{
    return (to.day - from.day) * 86400.0 + (to.fraction - from.fraction) * 86400.0;
}

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Exactly `digits` decimal digits, at most `limit`. */
static int parse_digits(const char **text, int digits, int limit, int *value)
{
    int v = 0;
    for (int i = 0; i < digits; i++, (*text)++) {
        if (**text < '0' || **text > '9') return -1;
        v = v * 10 + (**text - '0');
    }
    *value = v;
    return v <= limit ? 0 : -1;
}

static int parse_literal(const char **text, char c)
{
    if (**text != c) return -1;
    (*text)++;
    return 0;
}

/* hh:mm[:ss[.f...]] as seconds of the day. */
static int parse_clock(const char **text, double *seconds)
{
    int hour, minute, second = 0;
    if (parse_digits(text, 2, 23, &hour) || parse_literal(text, ':') ||
        parse_digits(text, 2, 59, &minute))
        return -1;
    double fraction = 0.0, scale = 1.0;
    if (**text == ':') {
        (*text)++;
        if (parse_digits(text, 2, 59, &second)) return -1;
        if (**text == '.') {
            (*text)++;
            for (; **text >= '0' && **text <= '9' && scale < 1e15; (*text)++) {
                fraction = fraction * 10.0 + (**text - '0');
                scale *= 10.0;
            }
        }
    }
    *seconds = hour * 3600.0 + minute * 60.0 + second + fraction / scale;
    return 0;
}

int moment_parse(const char *text, struct moment *moment)
{
    int year, month, day;
    if (parse_digits(&text, 4, 9999, &year) || parse_literal(&text, '-') ||
        parse_digits(&text, 2, 12, &month) || parse_literal(&text, '-') ||
        parse_digits(&text, 2, 31, &day)) {
        return -1;
    }
    if (month < 1 || day < 1 || day > days_in_month(year, month)) return -1;
    double seconds = 0.0;
    if (*text == 'T' || *text == ' ') {
        text++;
        if (parse_clock(&text, &seconds)) return -1;
    }
    if (*text == 'Z') text++;
    if (*text != '\0') return -1;
    *moment = moment_of_date(year, month, day);
    moment->fraction = seconds / 86400.0;
    return 0;
}

void moment_format(struct moment moment, char text[MOMENT_TEXT_BYTES])
{
    int64_t days = (int64_t)(moment.day - julian_of_1970);
    int64_t ms = llround(moment.fraction * 86400000.0);
    if (ms >= 86400000) {
        ms -= 86400000;
        days += 1;
    }
    int year, month, day;
    civil_from_days(days, &year, &month, &day);
    snprintf(text, MOMENT_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
             (int)(ms / 3600000), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000));
}
