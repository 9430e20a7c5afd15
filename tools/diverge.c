/* SPDX-License-Identifier: MIT */
/* diverge.c: see diverge.h. The lines of a step are sorted by order of effect, then two sorted
 * lists are compared from the front. The lines themselves: scheduler/src/record/hash_log.h.
 */
#include "diverge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 9, LINE_BYTES = 4096 };

/* A line, cut at its tabs. Fields behind the last are "". Owner: its step. */
typedef struct log_line {
    char *text; /* its memory */
    const char *field[FIELDS];
    char kind;
    uint32_t position, rank; /* in the order of effect; of the kind at one position */
    uint64_t major, minor;   /* order within: entity index, slice; number */
} log_line;

/* The lines of one step. Owner: weft_diverge. */
typedef struct log_step {
    log_line *lines;
    uint32_t count, capacity;
    uint64_t number;
    bool is_end;   /* of the log */
    bool is_keyed; /* of all ranks of a run, by gid: sums add up; "Z" ends a step */
} log_step;

/* ---- reading ---- */

static uint32_t rank_of(char kind)
{
    static const char order[] = "BPOVWRXCKE";
    const char *at = strchr(order, kind);
    return at && kind ? (uint32_t)(at - order) : UINT32_MAX;
}

static void order_line(log_line *line)
{
    line->kind = line->field[0][0];
    line->rank = rank_of(line->kind);
    line->position = (uint32_t)strtoul(line->field[1], NULL, 10);
    line->major = line->minor = 0;
    if (line->kind == 'R' || line->kind == 'V') line->major = strtoull(line->field[4], NULL, 10);
    if (line->kind == 'K') line->major = strtoull(line->field[3], NULL, 10);
    if (line->kind == 'K') line->minor = strtoull(line->field[4], NULL, 10);
    if (line->kind == 'E' || (line->kind == 'V' && line->field[2][0] == 'E'))
        line->position = UINT32_MAX;
}

static bool add_line(log_step *step, const char *text)
{
    if (step->count == step->capacity) {
        const uint32_t capacity = 2 * step->capacity + 64;
        log_line *grown = realloc(step->lines, capacity * sizeof *grown);
        if (!grown) return false;
        step->lines = grown;
        step->capacity = capacity;
    }
    log_line line = {.text = strdup(text)};
    if (!line.text) return false;
    char *at = line.text;
    at[strcspn(at, "\n")] = '\0';
    for (uint32_t i = 0; i < FIELDS; i++) {
        line.field[i] = at;
        at += strcspn(at, "\t");
        if (*at && i < FIELDS - 1) *at++ = '\0';
    }
    order_line(&line);
    step->lines[step->count++] = line;
    return true;
}

static void clear(log_step *step)
{
    for (uint32_t i = 0; i < step->count; i++) free(step->lines[i].text);
    step->count = 0;
}

static int compare_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Where two lines stand, not what they say. */
static int compare_places(const log_line *a, const log_line *b)
{
    int order = compare_number(a->position, b->position);
    if (order == 0) order = compare_number(a->rank, b->rank);
    if (order == 0 && (a->kind == 'W' || a->kind == 'R')) order = strcmp(a->field[3], b->field[3]);
    if (order == 0) order = compare_number(a->major, b->major);
    if (order == 0) order = compare_number(a->minor, b->minor);
    if (order == 0 && (a->kind == 'R' || a->kind == 'V')) order = strcmp(a->field[4], b->field[4]);
    if (order == 0 && a->kind == 'V') order = strcmp(a->field[3], b->field[3]);
    if (order == 0 && a->kind == 'V') order = strcmp(a->field[2], b->field[2]);
    return order;
}

static int compare_lines(const void *left, const void *right)
{
    return compare_places(left, right);
}

static bool is_detail(const log_line *line);
static uint32_t hash_field(char kind);

/* Lines of ranks that stand at one place become one. */
static void add_ranks(log_step *step)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < step->count; i++) {
        log_line *line = &step->lines[i], *last = kept == 0 ? line : &step->lines[kept - 1];
        const bool is_more = kept != 0 && !is_detail(line) && compare_places(last, line) == 0;
        if (!is_more) {
            step->lines[kept++] = *line;
            continue;
        }
        char *sum = (char *)(uintptr_t)last->field[hash_field(last->kind)]; /* of 16 digits */
        const uint64_t both =
            strtoull(sum, NULL, 16) + strtoull(line->field[hash_field(line->kind)], NULL, 16);
        char digits[17];
        snprintf(digits, sizeof digits, "%016" PRIx64, both);
        memcpy(sum, digits, 16);
        free(line->text);
    }
    step->count = kept;
}

/* The lines of a step, up to its "E" or "Z"; false without memory. */
static bool read_step(FILE *file, log_step *step)
{
    char text[LINE_BYTES];
    const char end = step->is_keyed ? 'Z' : 'E';
    clear(step);
    step->is_end = true;
    while (fgets(text, sizeof text, file)) {
        if (text[0] == 'S') {
            step->number = strtoull(text + 1, NULL, 10);
            continue;
        }
        if (text[0] != 'Z' && !add_line(step, text)) return false;
        step->is_end = text[0] != end;
        if (!step->is_end) break;
    }
    if (step->count > 1) qsort(step->lines, step->count, sizeof *step->lines, compare_lines);
    if (step->is_keyed) add_ranks(step);
    return true;
}

/* ---- comparing ---- */

/* The field with what a line says: its hash, the same in both logs when the content is. */
static uint32_t hash_field(char kind)
{
    switch (kind) {
    case 'C':
        return 4;
    case 'V':
    case 'W':
    case 'R':
        return 5;
    case 'K':
        return 8;
    default: /* B P O X E */
        return 3;
    }
}

static bool is_same(const log_line *a, const log_line *b)
{
    const uint32_t field = hash_field(a->kind);
    return strcmp(a->field[field], b->field[field]) == 0;
}

/* Rows, commands and values, of steps for which WEFT_STATE_LOG_ROWS asked. The sums that steps have
 * anyway are made of them, so they tell where the difference is, never whether there is one. */
static bool is_detail(const log_line *line)
{
    return line->kind == 'R' || line->kind == 'K' || line->kind == 'V';
}

static bool has_details(const log_step *step)
{
    for (uint32_t i = 0; i < step->count; i++)
        if (is_detail(&step->lines[i])) return true;
    return false;
}

/* A place that two logs fill differently: NULL where one has no such line. */
typedef struct difference {
    const log_line *a, *b;
} difference;

/* The next difference from lines i, j on. */
static difference next_difference(const log_step *a, const log_step *b, uint32_t *i, uint32_t *j)
{
    while (*i < a->count || *j < b->count) {
        const log_line *x = *i < a->count ? &a->lines[*i] : NULL;
        const log_line *y = *j < b->count ? &b->lines[*j] : NULL;
        const int order = x == NULL ? 1 : y == NULL ? -1 : compare_places(x, y);
        *i += order <= 0 ? 1 : 0;
        *j += order >= 0 ? 1 : 0;
        if (order < 0) return (difference){x, NULL};
        if (order > 0) return (difference){NULL, y};
        if (!is_same(x, y)) return (difference){x, y};
    }
    return (difference){NULL, NULL};
}

static void set(char to[WEFT_DIVERGE_TEXT], const char *from)
{
    snprintf(to, WEFT_DIVERGE_TEXT, "%s", from);
}

static const log_line *any_of(const difference *d)
{
    return d->a ? d->a : d->b;
}

static void set_values(weft_divergence *out, const difference *d, uint32_t field)
{
    set(out->values[0], d->a ? d->a->field[field] : "-");
    set(out->values[1], d->b ? d->b->field[field] : "-");
}

/* A command as text: "set Position". */
static void set_commands(weft_divergence *out, const difference *d)
{
    const log_line *lines[2] = {d->a, d->b};
    for (int i = 0; i < 2; i++) {
        if (lines[i])
            snprintf(out->values[i], WEFT_DIVERGE_TEXT, "%s %s on %s (%s)", lines[i]->field[5],
                     lines[i]->field[6], lines[i]->field[7], lines[i]->field[8]);
        else
            set(out->values[i], "-");
    }
}

/* Adds a name once; names are separated by ", ". */
static void add_name(char list[WEFT_DIVERGE_TEXT], const char *name)
{
    const size_t length = strlen(list);
    char quoted[WEFT_DIVERGE_TEXT];
    snprintf(quoted, sizeof quoted, "'%.100s'", name);
    if (strstr(list, quoted)) return;
    snprintf(list + length, WEFT_DIVERGE_TEXT - length, "%s%.100s", length ? ", " : "", quoted);
}

/* The systems that recorded for an entity before a position; all that recorded when none did. */
static void name_recorders(weft_divergence *out, const log_step *step, uint32_t position)
{
    out->system[0] = '\0';
    for (uint32_t i = 0; i < step->count; i++) {
        const log_line *l = &step->lines[i];
        if (l->kind == 'K' && l->position < position && strcmp(l->field[7], out->entity) == 0)
            add_name(out->system, l->field[2]);
    }
    for (uint32_t i = 0; out->system[0] == '\0' && i < step->count; i++) {
        const log_line *l = &step->lines[i];
        if (l->kind == 'C' && l->position < position) add_name(out->system, l->field[2]);
    }
}

/* The first row below a sum, and how many differ. `detail`: kind of its lines. */
static difference first_row(const log_step *a, const log_step *b, const log_line *sum, char detail,
                            weft_divergence *out)
{
    difference first = {NULL, NULL};
    uint32_t i = 0, j = 0;
    out->rows = 0;
    if (!has_details(a) || !has_details(b)) return first;
    for (;;) {
        const difference d = next_difference(a, b, &i, &j);
        const log_line *l = any_of(&d);
        if (!l) return first;
        if (l->kind != detail || l->position != sum->position) continue;
        if (detail == 'R' && strcmp(l->field[3], sum->field[3]) != 0) continue;
        if (detail == 'V' && l->field[2][0] != sum->kind) continue;
        if (out->rows++ == 0) first = d;
    }
}

static void describe_write(const log_step *a, const log_step *b, const log_line *sum,
                           weft_divergence *out)
{
    out->kind = WEFT_DIFFERS_WRITE;
    snprintf(out->system, sizeof out->system, "'%.100s'", sum->field[2]);
    set(out->component, sum->field[3]);
    const difference d = first_row(a, b, sum, 'R', out);
    if (!any_of(&d)) return;
    set(out->entity, any_of(&d)->field[4]);
    set_values(out, &d, 6);
}

/* What became of it: the first row that differs after a playback, or at the end. */
static void describe_effect(const log_step *a, const log_step *b, weft_divergence *out)
{
    uint32_t i = 0, j = 0;
    for (;;) {
        const difference d = next_difference(a, b, &i, &j);
        const log_line *l = any_of(&d);
        if (!l) return;
        if (l->kind != 'V') continue;
        set(out->component, l->field[3]);
        set(out->entity, l->field[4]);
        set_values(out, &d, 6);
        out->rows = 1;
        return;
    }
}

static void describe_record(const log_step *a, const log_step *b, const log_line *sum,
                            weft_divergence *out)
{
    out->kind = WEFT_DIFFERS_RECORD;
    snprintf(out->system, sizeof out->system, "'%.100s'", sum->field[2]);
    const difference d = first_row(a, b, sum, 'K', out);
    const log_line *l = any_of(&d);
    if (!l) return;
    snprintf(out->what, sizeof out->what, "%.40s %.40s of slice %.12s", l->field[5], l->field[7],
             l->field[3]);
    set(out->component, l->field[6]);
    set(out->entity, l->field[7]);
    set_commands(out, &d);
    if (strcmp(out->component, "-") == 0 || strchr(out->entity, ':') == NULL)
        describe_effect(a, b, out);
}

static weft_divergence_kind kind_of_point(char kind)
{
    switch (kind) {
    case 'B':
        return WEFT_DIFFERS_HOST;
    case 'P':
        return WEFT_DIFFERS_PLAY;
    case 'O':
        return WEFT_DIFFERS_SETTLE;
    case 'X':
        return WEFT_DIFFERS_ALONE;
    default: /* E */
        return WEFT_DIFFERS_ELSE;
    }
}

static void describe_world(const log_step *a, const log_step *b, const log_line *hash,
                           weft_divergence *out)
{
    out->kind = kind_of_point(hash->kind);
    const difference d = first_row(a, b, hash, 'V', out);
    if (out->kind == WEFT_DIFFERS_ALONE)
        snprintf(out->system, sizeof out->system, "'%.100s'", hash->field[2]);
    else
        set(out->what, hash->field[2]);
    if (any_of(&d)) {
        set(out->component, any_of(&d)->field[3]);
        set(out->entity, any_of(&d)->field[4]);
        set_values(out, &d, 6);
    }
    if (out->kind == WEFT_DIFFERS_PLAY) name_recorders(out, a, hash->position);
}

static void describe(const log_step *a, const log_step *b, const difference *d,
                     weft_divergence *out)
{
    const log_line *line = any_of(d);
    out->step = a->number;
    out->position = line->position;
    switch (line->kind) {
    case 'W':
        describe_write(a, b, line, out);
        break;
    case 'C':
        describe_record(a, b, line, out);
        break;
    default: /* B P O X E */
        describe_world(a, b, line, out);
        break;
    }
}

static bool check_head(FILE *file, const char *which, log_step *step, weft_divergence *out)
{
    char head[LINE_BYTES];
    static const char begin[] = "weft state log 3";
    if (fgets(head, sizeof head, file) && strncmp(head, begin, sizeof begin - 1) == 0) {
        step->is_keyed = strstr(head, "by gid") != NULL;
        return true;
    }
    out->kind = WEFT_DIFFERS_INPUT;
    set(out->what, which);
    return false;
}

bool weft_diverge(FILE *file_a, FILE *file_b, weft_divergence *out)
{
    log_step a = {.lines = NULL}, b = {.lines = NULL};
    *out = (weft_divergence){.kind = WEFT_SAME};
    if (!check_head(file_a, "the first", &a, out) || !check_head(file_b, "the second", &b, out))
        return false;
    if (a.is_keyed != b.is_keyed) {
        out->kind = WEFT_DIFFERS_INPUT;
        set(out->what, a.is_keyed ? "by handle: the second" : "by handle: the first");
        return false;
    }
    bool is_read = true;
    while (out->kind == WEFT_SAME) {
        is_read = read_step(file_a, &a) && read_step(file_b, &b);
        if (!is_read || (a.is_end && b.is_end)) break;
        uint32_t i = 0, j = 0;
        difference d = next_difference(&a, &b, &i, &j);
        while (any_of(&d) && is_detail(any_of(&d))) d = next_difference(&a, &b, &i, &j);
        if (any_of(&d) && !a.is_end && !b.is_end) {
            describe(&a, &b, &d, out);
        } else if (a.is_end != b.is_end || a.number != b.number) {
            out->kind = WEFT_DIFFERS_LENGTH;
            out->step = a.is_end ? b.number : a.number;
            set(out->what, a.is_end ? "the first" : b.is_end ? "the second" : "");
        } else {
            out->step = a.number;
        }
    }
    clear(&a);
    clear(&b);
    free(a.lines);
    free(b.lines);
    return is_read;
}

/* ---- words ---- */

static void print_place(FILE *out, const weft_divergence *d)
{
    switch (d->kind) {
    case WEFT_DIFFERS_WRITE:
        fprintf(out, "first difference: step %" PRIu64 ", system %s (%u in the order of effect)\n",
                d->step, d->system, d->position + 1);
        break;
    case WEFT_DIFFERS_RECORD:
        fprintf(out, "first difference: step %" PRIu64 ", commands of system %s%s%s\n", d->step,
                d->system, d->what[0] ? ", first: " : "", d->what);
        break;
    case WEFT_DIFFERS_PLAY:
        fprintf(out,
                "first difference: step %" PRIu64
                ", playback before '%s' of the commands of system "
                "%s\n",
                d->step, d->what, d->system[0] ? d->system : "(none)");
        break;
    case WEFT_DIFFERS_HOST:
        fprintf(out,
                "first difference: before step %" PRIu64
                ", written by the host, not by a system of a logged step\n",
                d->step);
        break;
    case WEFT_DIFFERS_SETTLE:
        fprintf(out, "first difference: step %" PRIu64 ", relations or observers before '%s'\n",
                d->step, d->what);
        break;
    case WEFT_DIFFERS_ALONE:
        fprintf(out, "first difference: step %" PRIu64 ", EXCLUSIVE system %s\n", d->step,
                d->system);
        break;
    case WEFT_SAME:
    case WEFT_DIFFERS_ELSE:
    case WEFT_DIFFERS_LENGTH:
    case WEFT_DIFFERS_INPUT:
    default:
        fprintf(out,
                "first difference: step %" PRIu64
                ", at its end: no system declares that it writes this\n",
                d->step);
        break;
    }
}

void weft_diverge_print(FILE *out, const weft_divergence *d, const char *const names[2])
{
    if (d->kind == WEFT_SAME) {
        fprintf(out, "no difference; the last step is %" PRIu64 "\n", d->step);
        return;
    }
    if (d->kind == WEFT_DIFFERS_INPUT) {
        fprintf(out, "%s file is no state log: run a program with WEFT_STATE_LOG=FILE\n", d->what);
        return;
    }
    if (d->kind == WEFT_DIFFERS_LENGTH) {
        if (d->what[0])
            fprintf(out, "no difference before step %" PRIu64 ", which %s log does not have\n",
                    d->step, d->what);
        else
            fprintf(out, "the logs have different steps from %" PRIu64 " on\n", d->step);
        return;
    }
    print_place(out, d);
    if (d->entity[0] == '\0') {
        if (d->component[0]) fprintf(out, "  component %s\n", d->component);
        fprintf(out,
                "  for the entity and its values run both with WEFT_STATE_LOG_ROWS=%" PRIu64 "\n",
                d->step);
        return;
    }
    if (strcmp(d->entity, "-") == 0)
        fprintf(out, "  resource %s\n", d->component);
    else
        fprintf(out, "  component %s, entity %s\n", d->component, d->entity);
    for (int i = 0; i < 2; i++) fprintf(out, "  %s: %s\n", names[i], d->values[i]);
    if (d->rows > 1) fprintf(out, "  and %" PRIu64 " more like it\n", d->rows - 1);
}
