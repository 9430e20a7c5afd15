/* SPDX-License-Identifier: MIT */
/* tle_source.c: the source of satellite catalogues: two-line elements (TLE), with or without a name
 * in front. A record is an object named by its catalogue number, and its lines are its value. The
 * source splits and checks; what the columns mean is the bakers' matter. */
#include <weft/scene.h>

#include <string.h>

enum { LINE_BYTES = 69, NUMBER_AT = 2, NUMBER_BYTES = 5 };

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
    weft_source_error(r->out, l->at + i, "byte 0x%02x is not text", (unsigned char)l->at[i]);
    return false;
}

/* Length, characters and checksum. */
static bool check(const reading *r, const line *l)
{
    if (l->bytes < LINE_BYTES) {
        weft_source_error(r->out, l->at + l->bytes, "truncated: %u of 69 characters",
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
    weft_source_error(r->out, l->at + LINE_BYTES - 1, "checksum is '%c', the line adds up to %u",
                      l->at[LINE_BYTES - 1], sum % 10);
    return false;
}

/* ---- records ---- */

/* A line 1 that has no line 2. */
static void drop_first(reading *r)
{
    if (r->first.at == NULL) return;
    weft_source_error(r->out, r->first.at, "this line 1 has no line 2 behind it");
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

static void add_record(reading *r, const line *second)
{
    const char *number = r->first.at + NUMBER_AT;
    size_t bytes = NUMBER_BYTES;
    while (bytes > 1 && (*number == ' ' || *number == '0')) number++, bytes--;
    if (*number == ' ') {
        weft_source_error(r->out, number, "the catalogue number is missing");
        return;
    }
    const weft_source_object object = {.name = number,
                                       .name_bytes = bytes,
                                       .parent = WEFT_SOURCE_ROOT,
                                       .value = r->name,
                                       .value_bytes = (size_t)(second->at + LINE_BYTES - r->name)};
    weft_source_add(r->out, &object);
}

static void take_second(reading *r, const line *l)
{
    if (r->first.at == NULL && !r->is_bad)
        weft_source_error(r->out, l->at, "this line 2 has no line 1 before it");
    bool is_good = r->first.at != NULL && check(r, l);
    if (is_good && memcmp(l->at + NUMBER_AT, r->first.at + NUMBER_AT, NUMBER_BYTES) != 0) {
        weft_source_error(r->out, l->at + NUMBER_AT,
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
            weft_source_error(r->out, l->at + i,
                              "byte 0x%02x is not text: is this a file of two-line elements?",
                              (unsigned char)l->at[i]);
            return false;
        }
    return true;
}

static weft_result open_tle(weft_source *out, const weft_text *file, void *user)
{
    (void)user;
    reading r = {.out = out, .at = file->bytes, .end = file->bytes + file->count};
    if (file->count >= 3 && memcmp(r.at, "\xef\xbb\xbf", 3) == 0) r.at += 3; /* byte order mark */
    while (r.at < r.end) {
        const line l = next_line(&r);
        if (l.bytes == 0 || l.at[0] == '#') continue;
        bool is_element = l.bytes > 1 && l.at[1] == ' ';
        if (is_element && l.at[0] == '1')
            take_first(&r, &l);
        else if (is_element && l.at[0] == '2')
            take_second(&r, &l);
        else if (!take_name(&r, &l))
            return WEFT_INVALID_ARGUMENT;
    }
    drop_first(&r);
    return WEFT_OK;
}

const weft_source_desc weft_source_tle = {"tle", ".tle .3le", open_tle, NULL};
