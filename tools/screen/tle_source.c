/* SPDX-License-Identifier: MIT */
/* tle_source.c: the source of satellite catalogues: two-line elements (TLE), with or without a name
 * in front. A record is an object named by its catalogue number, and its lines are its value. The
 * source splits and checks; what the columns mean is the bakers' matter. Records are collected
 * first: of two sets of one number the later stands, as `weft screen` has it. */
#include "tle_source.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 69, NUMBER_AT = 2, NUMBER_BYTES = 5, EPOCH_AT = 18, EPOCH_BYTES = 14 };

/* A record that is right. A value. */
typedef struct record {
    const char *name, *value; /* the catalogue number; the lines */
    const char *first;        /* of them, line 1 */
    uint32_t name_bytes, value_bytes;
    uint64_t number; /* to be compared: the characters of the name */
    uint32_t order;  /* in the file */
} record;

/* A line without its end and the blanks before it. */
typedef struct line {
    const char *at;
    size_t bytes;
} line;

/* One reading. On the stack of open_tle. */
typedef struct reading {
    weft_source *out;
    const char *at, *end;
    const char *name; /* where a record with a name begins; NULL: none is open */
    line first;       /* its line 1; at NULL: none is open */
    bool is_bad;      /* line 1 was told already: its line 2 goes with it */
    record *records;
    uint32_t count, capacity; /* of records */
    bool is_refused;          /* memory */
    bool is_sorted;           /* their numbers ascend, so each is there once */
} reading;

static line next_line(reading *r)
{
    line l = {r->at, 0};
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *end = stop == NULL ? r->end : stop;
    r->at = stop == NULL ? r->end : stop + 1;
    while (end > l.at && (end[-1] == '\r' || end[-1] == ' ')) end--;
    l.bytes = (size_t)(end - l.at);
    return l;
}

/* ---- one line ---- */

/* Sixteen characters of a line at once. */
typedef uint8_t characters __attribute__((vector_size(16)));

/* What characters add to the checksum: digits as they are, a minus as one, everything else
 * nothing. */
static characters weights(characters c)
{
    characters digits = c - '0';
    return (digits & (characters)(digits <= 9)) - (characters)(c == '-');
}

static bool is_text(characters c)
{
    characters outside = (characters)((characters)(c - ' ') > '~' - ' ');
    uint64_t halves[2];
    memcpy(halves, &outside, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/* Sixteen sums of at most 255. */
static uint32_t sum_of(characters sums)
{
    const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t halves[2];
    memcpy(halves, &sums, sizeof halves);
    uint64_t four = (halves[0] & pairs) + (halves[0] >> 8 & pairs) + (halves[1] & pairs) +
                    (halves[1] >> 8 & pairs);
    return (uint32_t)(four * UINT64_C(0x0001000100010001) >> 48);
}

/* Says which byte of the line is no text. Returns false. */
static bool refuse_byte(const reading *r, const line *l)
{
    uint32_t i = 0;
    while (l->at[i] >= ' ' && l->at[i] <= '~') i++;
    weft_source_fail(r->out, l->at + i, "byte 0x%02x is not text", (unsigned char)l->at[i]);
    return false;
}

/* Length, characters and checksum. */
static bool check(const reading *r, const line *l)
{
    if (l->bytes < LINE_BYTES) {
        weft_source_fail(r->out, l->at + l->bytes, "truncated: %u of 69 characters",
                         (unsigned)l->bytes);
        return false;
    }
    characters c, sums = {0}, last;
    bool is_good = true;
    for (uint32_t i = 0; i < LINE_BYTES / 16 * 16; i += 16) {
        memcpy(&c, l->at + i, 16);
        is_good &= is_text(c);
        sums += weights(c);
    }
    memset(&last, ' ', sizeof last);
    memcpy(&last, l->at + LINE_BYTES / 16 * 16, LINE_BYTES % 16 - 1);
    memcpy(&c, l->at + LINE_BYTES - 16, 16);
    if (!is_good || !is_text(c)) return refuse_byte(r, l);
    const uint32_t sum = sum_of(sums + weights(last));
    if (l->at[LINE_BYTES - 1] == (char)('0' + sum % 10)) return true;
    weft_source_fail(r->out, l->at + LINE_BYTES - 1, "checksum is '%c', the line adds up to %u",
                     l->at[LINE_BYTES - 1], sum % 10);
    return false;
}

/* ---- records ---- */

/* A line 1 that has no line 2. */
static void drop_first(reading *r)
{
    if (r->first.at == NULL) return;
    weft_source_fail(r->out, r->first.at, "this line 1 has no line 2 behind it");
    r->first.at = r->name = NULL;
}

static void take_first(reading *r, const line *l)
{
    drop_first(r);
    r->is_bad = !check(r, l);
    if (!r->is_bad) r->first = *l;
    if (r->is_bad)
        r->name = NULL;
    else if (r->name == NULL)
        r->name = l->at;
}

/* The catalogue number of a line, without blanks and zeros in front and blanks behind: where it is,
 * how long, and its characters as a number, to be compared. */
static uint64_t number_of(const char *from, const char **at, uint32_t *bytes)
{
    const char *number = from + NUMBER_AT, *end = number + NUMBER_BYTES;
    uint64_t key = 0;
    while (end > number && end[-1] == ' ') end--;
    while (end - number > 1 && (*number == ' ' || *number == '0')) number++;
    *at = number;
    *bytes = (uint32_t)(end - number);
    while (number < end) key = key << 8 | (unsigned char)*number++;
    return key;
}

static bool have_one_number(const char *first, const char *second)
{
    const char *at;
    uint32_t bytes;
    return memcmp(first + NUMBER_AT, second + NUMBER_AT, NUMBER_BYTES) == 0 ||
           number_of(first, &at, &bytes) == number_of(second, &at, &bytes);
}

/* Of a line 1: "yyddd.dddddddd"; years from 57 on are of the last century. */
static uint64_t epoch_of(const char *first)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < EPOCH_BYTES; i++) {
        const char c = first[EPOCH_AT + i];
        if (c != '.') key = key * 10 + (c >= '0' && c <= '9' ? (uint64_t)(c - '0') : 0);
    }
    const uint64_t year = UINT64_C(100000000000); /* one of them */
    return key < 57 * year ? key + 100 * year : key;
}

static void add_record(reading *r, const line *second)
{
    record made = {.value = r->name,
                   .value_bytes = (uint32_t)(second->at + LINE_BYTES - r->name),
                   .first = r->first.at,
                   .order = r->count};
    made.number = number_of(r->first.at, &made.name, &made.name_bytes);
    if (made.name_bytes == 0) {
        weft_source_fail(r->out, r->first.at + NUMBER_AT, "the catalogue number is missing");
        return;
    }
    if (made.order != 0 && r->records[made.order - 1].number >= made.number) r->is_sorted = false;
    if (r->count == r->capacity) {
        const uint32_t capacity = 2 * r->capacity + 64;
        record *grown = realloc(r->records, capacity * sizeof *grown);
        r->is_refused |= grown == NULL;
        if (grown == NULL) return;
        r->records = grown;
        r->capacity = capacity;
    }
    r->records[r->count++] = made;
}

static int by_set(const void *a, const void *b)
{
    const record *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    const uint64_t before = epoch_of(left->first), after = epoch_of(right->first);
    if (before != after) return before < after ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static int by_order(const void *a, const void *b)
{
    const record *left = a, *right = b;
    return left->order < right->order ? -1 : 1;
}

/* Of each number the set with the latest epoch, of equal ones the one further down; in the order
 * of the file. */
static void drop_older(reading *r)
{
    uint32_t kept = 0;
    if (r->is_sorted) return;
    qsort(r->records, r->count, sizeof(record), by_set);
    for (uint32_t i = 0; i < r->count; i++)
        if (i + 1 == r->count || r->records[i + 1].number != r->records[i].number)
            r->records[kept++] = r->records[i];
    r->count = kept;
    qsort(r->records, kept, sizeof(record), by_order);
}

static void give(reading *r)
{
    drop_older(r);
    for (uint32_t i = 0; i < r->count; i++) {
        const record *one = &r->records[i];
        weft_source_add(r->out, &(weft_source_object){.name = one->name,
                                                      .name_bytes = one->name_bytes,
                                                      .parent = WEFT_SOURCE_ROOT,
                                                      .value = one->value,
                                                      .value_bytes = one->value_bytes});
    }
}

static void take_second(reading *r, const line *l)
{
    if (r->first.at == NULL && !r->is_bad)
        weft_source_fail(r->out, l->at, "this line 2 has no line 1 before it");
    bool is_good = r->first.at != NULL && check(r, l);
    if (is_good && !have_one_number(r->first.at, l->at)) {
        weft_source_fail(r->out, l->at + NUMBER_AT,
                         "catalogue number \"%.5s\" differs from \"%.5s\" on line 1",
                         l->at + NUMBER_AT, r->first.at + NUMBER_AT);
        is_good = false;
    }
    if (is_good) add_record(r, l);
    r->first.at = r->name = NULL;
    r->is_bad = false;
}

/* A name, or something that is no catalogue at all. False: stop reading. */
static bool take_name(reading *r, const line *l)
{
    drop_first(r);
    r->is_bad = false;
    r->name = l->at;
    for (size_t i = 0; i < l->bytes; i++)
        if ((unsigned char)l->at[i] < ' ' && l->at[i] != '\t') {
            weft_source_fail(r->out, l->at + i,
                             "byte 0x%02x is not text: is this a file of two-line elements?",
                             (unsigned char)l->at[i]);
            return false;
        }
    return true;
}

static weft_result open_tle(weft_source *out, const weft_text *file, void *user)
{
    (void)user;
    reading r = {
        .out = out, .at = file->bytes, .end = file->bytes + file->count, .is_sorted = true};
    weft_result result = WEFT_OK;
    if (file->count >= 3 && memcmp(r.at, "\xef\xbb\xbf", 3) == 0) r.at += 3; /* byte order mark */
    while (r.at < r.end && result == WEFT_OK) {
        const line l = next_line(&r);
        if (l.bytes == 0 || l.at[0] == '#') continue;
        bool is_element = l.bytes > 1 && l.at[1] == ' ';
        if (is_element && l.at[0] == '1')
            take_first(&r, &l);
        else if (is_element && l.at[0] == '2')
            take_second(&r, &l);
        else if (!take_name(&r, &l))
            result = WEFT_INVALID_ARGUMENT;
    }
    if (result == WEFT_OK) drop_first(&r);
    give(&r);
    free(r.records);
    return r.is_refused ? WEFT_OUT_OF_MEMORY : result;
}

const weft_source_desc tle_source = {"tle", ".tle .3le", open_tle, NULL};
