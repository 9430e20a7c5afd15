/* SPDX-License-Identifier: MIT */
/* tle.c: the reader of two-line elements: lines out of a buffered file, pairs of lines out of
 * lines, fields out of columns.
 *
 * Numbers stand in fixed columns. A decimal field is gathered as an integer and divided once by
 * a power of ten, which is correctly rounded and does not depend on the locale.
 */
#include "tle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "omm.h"
#include "orbit_math.h"

enum { line_capacity = 200 };

/* One line without its end. `length` is the true length; what is over the capacity is not kept. */
struct line {
    char text[line_capacity + 1];
    uint64_t length;
    uint64_t number;
};

/* Reading in progress. `first` is a good line 1 waiting for its line 2. */
struct reader {
    struct byte_source source;
    const char *path;
    tle_report_fn *report;
    void *user;
    struct tle_catalogue *catalogue;
    struct line line;
    struct tle_object pending;
    char name[TLE_NAME_BYTES];
    uint64_t barren_bytes; /* read since the last object */
    int has_first;         /* a good line 1 is pending */
    int is_first_bad;      /* the last line 1 was bad: its line 2 goes with it */
};

/* Files may be endless (/dev/zero): no catalogue has this much text that is no element. */
enum { BARREN_BYTES_MAX = 64 << 20 };

__attribute__((format(printf, 4, 5))) static void
problem_at(struct reader *r, uint64_t line, uint32_t column, const char *format, ...)
{
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const struct tle_problem problem = {
        .path = r->path, .line = line, .column = column, .reason = reason};
    if (r->report) r->report(r->user, &problem);
}

/* ---- fields ---- */

/* A field under way: columns [column, column + width) of the line; the first mistake is kept. */
struct fields {
    struct reader *reader;
    const char *text;
    int is_bad;
};

__attribute__((format(printf, 3, 4))) static void field_problem(struct fields *f, uint32_t column,
                                                                const char *format, ...)
{
    if (f->is_bad) return;
    f->is_bad = 1;
    char reason[120];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    f->reader->catalogue->bad_lines++;
    problem_at(f->reader, f->reader->line.number, column + 1, "%s", reason);
}

static double power_of_ten(int n)
{
    static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    return power[n];
}

/* Digits of a fixed-point number without its point. */
struct decimal {
    uint64_t digits;
    int count, decimals;
    int is_negative;
};

/* Blanks, sign, digits with at most one point, blanks. Fields have at most 14 characters, so
 * nothing overflows. */
static struct decimal decimal_field(struct fields *f, uint32_t column, uint32_t width,
                                    const char *what)
{
    struct decimal d = {.digits = 0};
    uint32_t i = column;
    const uint32_t end = column + width;
    int has_point = 0;
    while (i < end && f->text[i] == ' ') i++;
    if (i < end && (f->text[i] == '+' || f->text[i] == '-')) d.is_negative = f->text[i++] == '-';
    for (; i < end && f->text[i] != ' '; i++) {
        const char c = f->text[i];
        if (c == '.' && !has_point) {
            has_point = 1;
        } else if (c >= '0' && c <= '9') {
            d.digits = d.digits * 10 + (uint64_t)(c - '0');
            d.count++;
            d.decimals += has_point;
        } else {
            field_problem(f, i, "%s: unexpected character '%c'", what, c);
            return d;
        }
    }
    while (i < end && f->text[i] == ' ') i++;
    if (i < end) field_problem(f, i, "%s: unexpected character '%c'", what, f->text[i]);
    if (d.count == 0) field_problem(f, column, "%s is missing", what);
    return d;
}

static double number_field(struct fields *f, uint32_t column, uint32_t width, const char *what)
{
    const struct decimal d = decimal_field(f, column, width, what);
    const double value = (double)d.digits / power_of_ten(d.decimals);
    return d.is_negative ? -value : value;
}

static double ranged_field(struct fields *f, uint32_t column, uint32_t width, const char *what,
                           double limit)
{
    const double value = number_field(f, column, width, what);
    if (!(value >= 0.0 && value <= limit)) {
        field_problem(f, column, "%s %.8g is outside 0 to %g", what, value, limit);
    }
    return value;
}

/* " 35383-3" = 0.35383e-3: sign, five digits after an assumed point, signed power of ten. */
static double assumed_point_field(struct fields *f, uint32_t column, const char *what)
{
    const struct decimal mantissa = decimal_field(f, column, 6, what);
    const char sign = f->text[column + 6], digit = f->text[column + 7];
    if ((sign != '-' && sign != '+' && sign != ' ' && sign != '0') || digit < '0' || digit > '9') {
        field_problem(f, column + 6, "%s: exponent must be a sign and a digit", what);
        return 0.0;
    }
    const double value = (double)mantissa.digits / power_of_ten(mantissa.count);
    const double scale = power_of_ten(digit - '0');
    const double scaled = sign == '-' ? value / scale : value * scale;
    return mantissa.is_negative ? -scaled : scaled;
}

/* Five characters; the first may be a letter worth 10 to 33 (I and O are not used). */
static uint32_t catalogue_number(struct fields *f)
{
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ";
    const char first = f->text[2];
    if (first >= 'A' && first <= 'Z') {
        const char *found = strchr(letters, first);
        if (!found) field_problem(f, 2, "catalogue number: '%c' is not an Alpha-5 letter", first);
        const uint32_t tens = found ? 10 + (uint32_t)(found - letters) : 0;
        for (uint32_t i = 3; i < 7; i++) {
            if (f->text[i] < '0' || f->text[i] > '9')
                field_problem(f, i, "catalogue number: digit expected");
        }
        return tens * 10000 + (uint32_t)decimal_field(f, 3, 4, "catalogue number").digits;
    }
    const struct decimal d = decimal_field(f, 2, 5, "catalogue number");
    if (d.is_negative || d.decimals) field_problem(f, 2, "catalogue number must be digits");
    return (uint32_t)d.digits;
}

/* Sum of the digits, a minus counting one, modulo ten. */
static void check_sum(struct fields *f)
{
    int sum = 0;
    for (uint32_t i = 0; i < TLE_LINE_LENGTH - 1; i++) {
        const char c = f->text[i];
        if (c >= '0' && c <= '9') sum += c - '0';
        if (c == '-') sum += 1;
    }
    const char want = f->text[TLE_LINE_LENGTH - 1];
    if (want != (char)('0' + sum % 10)) {
        field_problem(f, TLE_LINE_LENGTH - 1, "checksum is '%c', the line adds up to %d", want,
                      sum % 10);
    }
}

/* Length, bytes and checksum, common to both lines. */
static struct fields fields_begin(struct reader *r)
{
    struct fields f = {.reader = r, .text = r->line.text};
    if (r->line.length < TLE_LINE_LENGTH) {
        field_problem(&f, (uint32_t)r->line.length, "truncated: %u of %d characters",
                      (unsigned)r->line.length, TLE_LINE_LENGTH);
        return f;
    }
    for (uint32_t i = 0; i < TLE_LINE_LENGTH && !f.is_bad; i++) {
        const unsigned char c = (unsigned char)f.text[i];
        if (c < ' ' || c > '~') field_problem(&f, i, "byte 0x%02x is not text", c);
    }
    if (!f.is_bad) check_sum(&f);
    return f;
}

static int parse_first(struct reader *r, struct tle_object *object)
{
    struct fields f = fields_begin(r);
    if (f.is_bad) return 0;
    object->number = catalogue_number(&f);
    object->line = (uint32_t)r->line.number;
    const int year = (int)ranged_field(&f, 18, 2, "epoch year", 99.0);
    const double day = number_field(&f, 20, 3, "epoch day");
    if (!(day >= 1.0 && day <= 366.0))
        field_problem(&f, 20, "epoch day %g is outside 1 to 366", day);
    const double fraction = f.text[23] == '.' ? ranged_field(&f, 23, 9, "epoch day", 1.0) : -1.0;
    if (fraction < 0.0) field_problem(&f, 23, "epoch day: '.' expected");
    (void)number_field(&f, 33, 10, "first derivative of mean motion");
    (void)assumed_point_field(&f, 44, "second derivative of mean motion");
    object->elements.bstar = assumed_point_field(&f, 53, "drag term");
    /* Two digits of the year: 57 to 99 are the 20th century, as the first satellite flew in
     * 1957. */
    const struct moment epoch = moment_of_date(year < 57 ? 2000 + year : 1900 + year, 1, (int)day);
    object->elements.epoch_day = epoch.day;
    object->elements.epoch_fraction = fraction;
    return !f.is_bad;
}

static int parse_second(struct reader *r, struct tle_object *object)
{
    struct fields f = fields_begin(r);
    if (f.is_bad) return 0;
    const double radians = ORBIT_PI / 180.0;
    const uint32_t number = catalogue_number(&f);
    if (number != object->number) {
        field_problem(&f, 2, "catalogue number %u differs from %u on line 1", (unsigned)number,
                      (unsigned)object->number);
    }
    object->elements.inclination = ranged_field(&f, 8, 8, "inclination", 180.0) * radians;
    object->elements.node = ranged_field(&f, 17, 8, "ascending node", 360.0) * radians;
    const struct decimal eccentricity = decimal_field(&f, 26, 7, "eccentricity");
    if (eccentricity.is_negative || eccentricity.decimals) {
        field_problem(&f, 26, "eccentricity must be seven digits");
    }
    object->elements.eccentricity = (double)eccentricity.digits / power_of_ten(7);
    object->elements.perigee = ranged_field(&f, 34, 8, "argument of perigee", 360.0) * radians;
    object->elements.mean_anomaly = ranged_field(&f, 43, 8, "mean anomaly", 360.0) * radians;
    const double motion = ranged_field(&f, 52, 11, "mean motion", 20.0);
    if (motion == 0.0) field_problem(&f, 52, "mean motion is zero");
    object->elements.mean_motion = motion * ORBIT_TWO_PI / 1440.0;
    return !f.is_bad;
}

/* ---- pairing ---- */

int tle_append(struct tle_catalogue *c, const struct tle_object *object)
{
    if (c->count == c->capacity) {
        const uint32_t capacity = c->capacity ? c->capacity * 2 : 1024;
        struct tle_object *grown = realloc(c->objects, (size_t)capacity * sizeof *grown);
        if (!grown) return -1;
        c->objects = grown;
        c->capacity = capacity;
    }
    c->objects[c->count++] = *object;
    return 0;
}

static void drop_pending(struct reader *r)
{
    if (!r->has_first) return;
    r->has_first = 0;
    r->catalogue->bad_lines++;
    problem_at(r, r->pending.line, 0, "line 1 of object %u has no line 2",
               (unsigned)r->pending.number);
}

void tle_name_set(char name[TLE_NAME_BYTES], const char *text, size_t bytes)
{
    memset(name, 0, TLE_NAME_BYTES);
    weft_json_clean(name, TLE_NAME_BYTES, text, bytes);
}

static void take_name(struct reader *r)
{
    const char *text = r->line.text;
    const int is_third = text[0] == '0' && text[1] == ' '; /* the three-line form of some sources */
    for (uint32_t i = 0; i < r->line.length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != 0x7f) continue;
        r->catalogue->bad_lines++;
        problem_at(r, r->line.number, i + 1,
                   "byte 0x%02x is not text: is this a file of two-line elements?", c);
        r->name[0] = '\0';
        return;
    }
    tle_name_set(r->name, text + 2 * is_third, r->line.length - 2 * (size_t)is_third);
}

static void take_first(struct reader *r)
{
    memset(&r->pending, 0, sizeof r->pending);
    r->has_first = parse_first(r, &r->pending);
    r->is_first_bad = !r->has_first;
    memcpy(r->pending.name, r->name, sizeof r->name);
    r->name[0] = '\0';
}

static enum tle_result take_second(struct reader *r)
{
    if (!r->has_first) {
        if (!r->is_first_bad) {
            r->catalogue->bad_lines++;
            problem_at(r, r->line.number, 1, "line 2 without a line 1 before it");
        }
        r->is_first_bad = 0;
        return TLE_OK;
    }
    r->has_first = 0;
    if (!parse_second(r, &r->pending)) return TLE_OK;
    return tle_append(r->catalogue, &r->pending) ? TLE_NO_MEMORY : TLE_OK;
}

static int is_element_line(const struct line *line, char kind)
{
    return line->text[0] == kind && line->text[1] == ' ';
}

static enum tle_result take_line(struct reader *r)
{
    if (r->line.length == 0 || r->line.text[0] == '#') return TLE_OK;
    if (r->line.length > line_capacity) {
        r->catalogue->bad_lines++;
        problem_at(r, r->line.number, line_capacity + 1,
                   "line of %llu characters%s: two-line elements have 69",
                   (unsigned long long)r->line.length,
                   r->line.length == BARREN_BYTES_MAX ? " or more" : "");
        r->has_first = 0;
        return TLE_OK;
    }
    if (is_element_line(&r->line, '2')) return take_second(r);
    drop_pending(r);
    if (is_element_line(&r->line, '1')) {
        take_first(r);
    } else {
        r->is_first_bad = 0;
        take_name(r);
    }
    return TLE_OK;
}

/* Next line without its end and trailing blanks; 0 at the end of the file. A longer line is
 * counted, not kept. */
static int next_line(struct reader *r)
{
    struct line *line = &r->line;
    int c = byte_source_next(&r->source);
    if (c == EOF) return 0;
    line->number++;
    line->length = 0;
    for (; c != EOF && c != '\n' && line->length < BARREN_BYTES_MAX;
         c = byte_source_next(&r->source)) {
        if (line->length < line_capacity) line->text[line->length] = (char)c;
        line->length++;
    }
    if (line->length <= line_capacity) {
        while (line->length > 0 &&
               (line->text[line->length - 1] == '\r' || line->text[line->length - 1] == ' ')) {
            line->length--;
        }
    }
    const uint64_t kept = line->length < line_capacity ? line->length : line_capacity;
    memset(line->text + kept, 0, sizeof line->text - kept);
    return 1;
}

/* ---- duplicates ---- */

static int before(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* By number; the set to keep comes last among equals. */
static int compare_objects(const void *left, const void *right)
{
    const struct tle_object *a = left, *b = right;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    if (a->elements.epoch_day != b->elements.epoch_day)
        return before(a->elements.epoch_day, b->elements.epoch_day);
    if (a->elements.epoch_fraction != b->elements.epoch_fraction) {
        return before(a->elements.epoch_fraction, b->elements.epoch_fraction);
    }
    return a->line < b->line ? -1 : 1;
}

void tle_drop_duplicates(struct tle_catalogue *c, const char *path, tle_report_fn *report,
                         void *user)
{
    struct reader reader = {.path = path, .report = report, .user = user};
    struct reader *r = &reader;
    if (c->count == 0) return;
    qsort(c->objects, c->count, sizeof *c->objects, compare_objects);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (i + 1 < c->count && c->objects[i + 1].number == c->objects[i].number) {
            c->duplicates++;
            const struct sgp4_elements *a = &c->objects[i].elements;
            const struct sgp4_elements *b = &c->objects[i + 1].elements;
            const int is_same =
                a->epoch_day == b->epoch_day && a->epoch_fraction == b->epoch_fraction;
            problem_at(r, c->objects[i].line, 0,
                       "object %u appears again on line %u with %s epoch: this one is dropped",
                       (unsigned)c->objects[i].number, (unsigned)c->objects[i + 1].line,
                       is_same ? "the same" : "a later");
            continue;
        }
        c->objects[kept++] = c->objects[i];
    }
    c->count = kept;
}

/* ---- the file ---- */

static enum tle_result open_file(struct reader *r)
{
    if (byte_source_open(&r->source, r->path) == 0) return TLE_OK;
    if (errno == EISDIR)
        problem_at(r, 0, 0, "is a directory: name a file of two-line elements or OMM");
    else
        problem_at(r, 0, 0, "cannot open: %s: name a file of two-line elements or OMM",
                   strerror(errno));
    return TLE_FILE;
}

/* One line; gives up a file in which no more objects come. */
static enum tle_result take_next(struct reader *r)
{
    const uint32_t count = r->catalogue->count;
    const enum tle_result result = take_line(r);
    r->barren_bytes = r->catalogue->count > count ? 0 : r->barren_bytes + r->line.length + 1;
    if (result != TLE_OK || r->barren_bytes < BARREN_BYTES_MAX) return result;
    problem_at(r, 0, 0, "no object in %d MiB: is this a file of two-line elements?",
               BARREN_BYTES_MAX >> 20);
    return TLE_FILE;
}

static enum tle_result read_lines(struct reader *r)
{
    enum tle_result result = TLE_OK;
    while (result == TLE_OK && next_line(r)) result = take_next(r);
    drop_pending(r);
    return result;
}

enum tle_result tle_read(const char *path, tle_report_fn *report, void *user,
                         struct tle_catalogue *catalogue)
{
    *catalogue = (struct tle_catalogue){.objects = NULL};
    struct reader r = {.path = path, .report = report, .user = user, .catalogue = catalogue};
    enum tle_result result = open_file(&r);
    if (result != TLE_OK) return result;
    const enum omm_form form = omm_form_of(&r.source);
    if (byte_source_is_utf16(&r.source)) {
        problem_at(&r, 0, 0, "is UTF-16: save it as UTF-8");
        result = TLE_FILE;
    } else {
        result = form == OMM_NONE ? read_lines(&r)
                                  : omm_read(form, &r.source, path, report, user, catalogue);
    }
    catalogue->cksum = byte_source_cksum(&r.source);
    catalogue->bytes = r.source.bytes;
    const int reason = byte_source_close(&r.source);
    if (result == TLE_OK && reason != 0) {
        problem_at(&r, 0, 0, "cannot read: %s", strerror(reason));
        result = TLE_FILE;
    }
    if (result == TLE_OK) {
        tle_drop_duplicates(catalogue, path, report, user);
    } else {
        tle_catalogue_fini(catalogue);
    }
    return result;
}

int tle_read_record(const char *text, size_t bytes, tle_report_fn *report, void *user,
                    struct tle_object *out)
{
    struct tle_catalogue one = {.objects = out, .capacity = 1};
    struct reader r = {.report = report, .user = user, .catalogue = &one};
    byte_source_memory(&r.source, text, bytes);
    while (one.count == 0 && next_line(&r)) take_line(&r);
    if (one.count == 0) drop_pending(&r);
    return one.count == 1 ? 0 : -1;
}

void tle_catalogue_fini(struct tle_catalogue *catalogue)
{
    free(catalogue->objects);
    *catalogue = (struct tle_catalogue){.objects = NULL};
}
