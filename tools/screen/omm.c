/* SPDX-License-Identifier: MIT */
/* omm.c: two scanners, CSV (RFC 4180) and flat JSON objects, that give (name, value) pairs to one
 * table of members; an object is complete when its record ends.
 *
 * Text longer than its buffer is cut; no member that is used has as much. Numbers are read by
 * strtod, which is correctly rounded; the program never sets a locale.
 */
#include "omm.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"
#include "orbit_math.h"

enum { text_bytes = 128, columns_max = 64, barren_bytes_max = 64 << 20 };

/* The members that are used, and what they may be. */
enum member {
    NAME,
    NUMBER,
    EPOCH,
    MEAN_MOTION,
    ECCENTRICITY,
    INCLINATION,
    NODE,
    PERIGEE,
    MEAN_ANOMALY,
    BSTAR,
    MEMBERS
};
static const struct {
    const char *name;
    double min, max;
} members[MEMBERS] = {
    [NAME] = {"OBJECT_NAME", 0, 0},
    [NUMBER] = {"NORAD_CAT_ID", 0, 999999999},
    [EPOCH] = {"EPOCH", 0, 0},
    [MEAN_MOTION] = {"MEAN_MOTION", 1e-9, 20},
    [ECCENTRICITY] = {"ECCENTRICITY", 0, 0.9999999},
    [INCLINATION] = {"INCLINATION", 0, 180},
    [NODE] = {"RA_OF_ASC_NODE", 0, 360},
    [PERIGEE] = {"ARG_OF_PERICENTER", 0, 360},
    [MEAN_ANOMALY] = {"MEAN_ANOMALY", 0, 360},
    [BSTAR] = {"BSTAR", -1e9, 1e9},
};

/* Reading in progress: the record so far. */
struct omm {
    struct byte_source *source;
    const char *path;
    tle_report_fn *report;
    void *user;
    struct tle_catalogue *catalogue;
    struct tle_object object;
    double values[MEMBERS];
    uint32_t seen;            /* bit set of enum member */
    uint64_t line, last_good; /* of the record; bytes read at the last good object */
    int is_bad;               /* the record: reported */
    int is_out_of_memory;
    int is_in_array, is_first; /* JSON: behind '[', and no object since */
    int ahead;                 /* a byte given back; EOF: none */
};

/* ---- bytes and problems ---- */

static int next(struct omm *o)
{
    const int c = o->ahead;
    o->ahead = EOF;
    return c != EOF ? c : byte_source_next(o->source);
}

static int next_solid(struct omm *o)
{
    int c = next(o);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') c = next(o);
    return c;
}

/* The first problem of a record is told, the others follow from it. */
__attribute__((format(printf, 2, 3))) static void problem(struct omm *o, const char *format, ...)
{
    char reason[160];
    if (o->is_bad) return;
    o->is_bad = 1;
    o->catalogue->bad_lines++;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const struct tle_problem told = {.path = o->path,
                                     .line = o->source->line ? o->source->line : 1,
                                     .column = o->source->column,
                                     .reason = reason};
    if (o->report) o->report(o->user, &told);
}

/* ---- members and records ---- */

static void record_begin(struct omm *o)
{
    memset(&o->object, 0, sizeof o->object);
    o->seen = 0;
    o->is_bad = 0;
    o->line = o->source->line;
}

static enum member member_of(const char *name)
{
    enum member m = 0;
    while (m < MEMBERS && strcmp(members[m].name, name) != 0) m++;
    return m;
}

static void take_number(struct omm *o, enum member m, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    const int is_number = end != text;
    while (*end == ' ') end++;
    if (!is_number || *end != '\0' || text[strspn(text, " +-.0123456789eE")] != '\0') {
        problem(o, "%s: '%.40s' is not a number", members[m].name, text);
    } else if (m == NUMBER && value != floor(value)) {
        problem(o, "%s: %.12g is not a whole number", members[m].name, value);
    } else if (value < members[m].min || value > members[m].max) {
        problem(o, "%s %.8g is outside %g to %g", members[m].name, value, members[m].min,
                members[m].max);
    }
    o->values[m] = value;
}

static void take_epoch(struct omm *o, const char *text)
{
    struct moment epoch;
    if (moment_parse(text, &epoch)) {
        problem(o, "EPOCH '%.40s' is not a time such as 2026-08-11T12:00:00.000000", text);
        return;
    }
    o->object.elements.epoch_day = epoch.day;
    o->object.elements.epoch_fraction = epoch.fraction;
}

static void take_member(struct omm *o, enum member m, const char *text)
{
    if (m == NAME)
        tle_name_set(o->object.name, text, strlen(text));
    else if (m == EPOCH)
        take_epoch(o, text);
    else
        take_number(o, m, text);
}

/* Whether the member is used; the second of a record is a problem. */
static int is_taken(struct omm *o, enum member m)
{
    if (m == MEMBERS) return 0;
    if ((o->seen & 1u << m) != 0) problem(o, "%s is there twice", members[m].name);
    o->seen |= 1u << m;
    return 1;
}

static void record_end(struct omm *o)
{
    const double radians = ORBIT_PI / 180.0;
    struct sgp4_elements *e = &o->object.elements;
    for (enum member m = NUMBER; m < MEMBERS; m++)
        if ((o->seen & 1u << m) == 0) problem(o, "%s is missing", members[m].name);
    if (o->is_bad) return;
    o->object.number = (uint32_t)o->values[NUMBER];
    o->object.line = (uint32_t)o->line;
    e->mean_motion = o->values[MEAN_MOTION] * ORBIT_TWO_PI / 1440.0;
    e->eccentricity = o->values[ECCENTRICITY];
    e->inclination = o->values[INCLINATION] * radians;
    e->node = o->values[NODE] * radians;
    e->perigee = o->values[PERIGEE] * radians;
    e->mean_anomaly = o->values[MEAN_ANOMALY] * radians;
    e->bstar = o->values[BSTAR];
    o->last_good = o->source->bytes;
    o->is_out_of_memory = tle_append(o->catalogue, &o->object);
}

/* ---- CSV ---- */

/* One field, without its quotes; the byte that ended it: ',', '\n' or EOF. */
static int csv_field(struct omm *o, char text[text_bytes])
{
    uint32_t length = 0;
    int c = next(o);
    const int is_quoted = c == '"';
    int is_closed = 0;
    if (is_quoted) c = next(o);
    for (; c != EOF; c = next(o)) {
        if (is_quoted && c == '"') {
            c = next(o);
            is_closed = c != '"';
            if (is_closed) break;
        } else if (!is_quoted && (c == ',' || c == '\n')) {
            break;
        }
        if (c != '\r' && length < text_bytes - 1) text[length++] = (char)(c == 0 ? 1 : c);
    }
    if (is_quoted && !is_closed) problem(o, "CSV: the file ends within quotes");
    while (is_quoted && c != ',' && c != '\n' && c != EOF) {
        if (c != ' ' && c != '\r') problem(o, "CSV: '%c' behind the quote that ends a field", c);
        c = next(o);
    }
    text[length] = '\0';
    return c;
}

/* Which member each column holds; returns how many columns there are. */
static uint32_t csv_header(struct omm *o, enum member columns[columns_max])
{
    char text[text_bytes];
    uint32_t count = 0;
    for (int c = ','; c == ',';) {
        c = csv_field(o, text);
        if (count < columns_max) columns[count] = member_of(text);
        count++;
    }
    return count;
}

static int csv_record(struct omm *o, const enum member *columns, uint32_t count)
{
    char text[text_bytes];
    uint32_t column = 0;
    int c = next(o);
    while (c == '\r' || c == '\n') c = next(o);
    if (c == EOF) return 0;
    o->ahead = c;
    record_begin(o);
    for (c = ','; c == ','; column++) {
        c = csv_field(o, text);
        const enum member m = column < count && column < columns_max ? columns[column] : MEMBERS;
        if (is_taken(o, m)) take_member(o, m, text);
        if (column >= count && text[strspn(text, " ")] != '\0')
            problem(o, "'%.40s' is behind the last of %u fields", text, count);
    }
    if (column < count) problem(o, "truncated: %u of %u fields", column, count);
    record_end(o);
    return 1;
}

/* ---- JSON ---- */

static void put_byte(char *text, uint32_t *length, unsigned byte)
{
    if (*length < text_bytes - 1) text[(*length)++] = (char)(byte == 0 ? 1 : byte);
}

/* A character of an escape; halves of pairs, which no name of a satellite needs, become '?'. */
static void put_utf8(char *text, uint32_t *length, unsigned code)
{
    if (code >= 0xd800 && code < 0xe000) code = '?';
    if (code < 0x80) {
        put_byte(text, length, code);
    } else if (code < 0x800) {
        put_byte(text, length, 0xc0 | code >> 6);
        put_byte(text, length, 0x80 | (code & 0x3f));
    } else {
        put_byte(text, length, 0xe0 | code >> 12);
        put_byte(text, length, 0x80 | (code >> 6 & 0x3f));
        put_byte(text, length, 0x80 | (code & 0x3f));
    }
}

static unsigned json_escape(struct omm *o)
{
    unsigned code = 0;
    const int c = next(o);
    if (c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f') return ' ';
    if (c != 'u') return c == EOF ? '?' : (unsigned)c;
    for (int i = 0; i < 4; i++) {
        const int digit = next(o);
        if (!isxdigit(digit)) return '?';
        code = code * 16 + (unsigned)(isdigit(digit) ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    return code;
}

/* The rest of a string whose first quote is taken. Returns 0 when the file ends in it. */
static int json_string(struct omm *o, char text[text_bytes])
{
    uint32_t length = 0;
    int c = next(o);
    for (; c != EOF && c != '"'; c = next(o)) {
        if (c == '\\')
            put_utf8(text, &length, json_escape(o));
        else
            put_byte(text, &length, (unsigned)c);
    }
    text[length] = '\0';
    return c == '"';
}

/* A value; objects and arrays are skipped. 0: not a value. */
static int json_value(struct omm *o, char text[text_bytes])
{
    uint32_t length = 0, depth = 0;
    int c = next_solid(o);
    text[0] = '\0';
    if (c == '"') return json_string(o, text);
    do {
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        if (c == '"' && !json_string(o, text)) return 0;
        if (depth == 0 && c != '}' && c != ']') put_byte(text, &length, (unsigned)c);
        c = next(o);
    } while (c != EOF && (depth > 0 || (c != ',' && c != '}' && c != ']' && !isspace(c))));
    text[length] = '\0';
    o->ahead = c;
    return depth == 0;
}

/* The members of an object whose brace is taken. 0: the file is no such JSON from here on. */
static int json_object(struct omm *o)
{
    char name[text_bytes], value[text_bytes];
    int c = next_solid(o);
    record_begin(o);
    while (c == '"') {
        if (!json_string(o, name) || next_solid(o) != ':' || !json_value(o, value)) break;
        const enum member m = member_of(name);
        const int is_null = strcmp(value, "null") == 0;
        if (is_taken(o, m)) {
            if (is_null && m != NAME) problem(o, "%s is missing", members[m].name);
            if (!is_null) take_member(o, m, value);
        }
        c = next_solid(o);
        if (c == '"') problem(o, "JSON: a comma is missing between members");
        if (c == ',' && (c = next_solid(o)) == '}') problem(o, "JSON: a comma before '}'");
    }
    if (c != '}') {
        problem(o, "JSON: expected a member or '}'%s", c == EOF ? ", the file ends" : "");
        return 0;
    }
    record_end(o);
    return 1;
}

/* An array of objects, one object, or objects line by line. What is wrong between objects is
 * told, and they are read. */
static int json_record(struct omm *o)
{
    int c = next_solid(o), commas = 0;
    record_begin(o);
    if (!o->is_in_array && c == '[') {
        o->is_in_array = o->is_first = 1;
        return 1;
    }
    for (; c == ','; c = next_solid(o)) commas++;
    const int wanted = o->is_in_array && !o->is_first && c == '{';
    if (c == EOF && o->is_in_array) problem(o, "JSON: the file ends before the ']' of its array");
    if (commas > wanted) problem(o, "JSON: a comma without an object behind it");
    if (commas < wanted) problem(o, "JSON: a comma is missing between objects");
    o->is_first = 0;
    if (c == EOF) return 0;
    if (c == '{') return json_object(o);
    if (c == ']' && o->is_in_array) return o->is_in_array = 0, 1;
    problem(o, "JSON: expected an object, not '%c'", isprint(c) ? c : '?');
    return 0;
}

enum omm_form omm_form_of(struct byte_source *source)
{
    if (source->at == source->end && !byte_source_fill(source)) return OMM_NONE;
    const char *at = source->at, *end = source->end;
    while (at < end && isspace((unsigned char)*at)) at++;
    if (at == end) return OMM_NONE;
    if (*at == '[' || *at == '{') return OMM_JSON;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((stop ? stop : end) - at);
    const int is_header = memmem(at, length, "NORAD_CAT_ID", 12) && memchr(at, ',', length);
    return is_header ? OMM_CSV : OMM_NONE;
}

enum tle_result omm_read(enum omm_form form, struct byte_source *source, const char *path,
                         tle_report_fn *report, void *user, struct tle_catalogue *catalogue)
{
    enum member columns[columns_max];
    struct omm o = {.source = source,
                    .path = path,
                    .report = report,
                    .user = user,
                    .catalogue = catalogue,
                    .ahead = EOF};
    const uint32_t count = form == OMM_CSV ? csv_header(&o, columns) : 0;
    int has_more = 1;
    while (has_more && !o.is_out_of_memory) {
        has_more = form == OMM_CSV ? csv_record(&o, columns, count) : json_record(&o);
        if (source->bytes - o.last_good <= barren_bytes_max) continue;
        o.is_bad = 0;
        problem(&o, "no object in %d MiB: is this a catalogue?", barren_bytes_max >> 20);
        return TLE_FILE;
    }
    return o.is_out_of_memory ? TLE_NO_MEMORY : TLE_OK;
}
