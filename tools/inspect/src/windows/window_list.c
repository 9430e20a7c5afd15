/* SPDX-License-Identifier: MIT */
/* window_list.c: frozen lists. One walk takes the handles that pass the filter, each with its key;
 * a sort by keys; then the keys go and 8 bytes a row stay.
 *
 * A key of a number is the number, mapped so that unsigned order is its order: exact for 64 bits.
 * Other values are ordered as the text in which they are shown. Rows without the value are last. */
#include "window_list.h"

#include "past.h"
#include "query_text.h"
#include "values.h"
#include "window_entities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/finder.h>
#include <weft/query.h>
#include <weft/slice.h>

enum { LISTS = 16, CONDITIONS = 8, TEXT_MAX = 1024, QUERY_MAX = 1024 };

/* Owner: the session. */
typedef struct list {
    uint32_t number; /* 0: free */
    uint32_t count;
    uint64_t frame; /* in which it was made */
    weft_entity *entities;
    char query[QUERY_MAX];
} list;

struct weft__lists {
    list items[LISTS];
    uint32_t last; /* number */
};

/* What a row is sorted or filtered by: its name, or a field of a component. Owner: a making. */
typedef struct operand {
    bool is_name;
    weft_component component;
    weft_type made;
    const weft_type *type;
    weft_path path;
} operand;

typedef enum comparison { LESS, LESS_EQUAL, MORE, MORE_EQUAL, EQUAL, OTHER, HAS } comparison;

/* One filter. Owner: a making. */
typedef struct condition {
    operand of;
    comparison is;
    double number;
    char text[TEXT_MAX];
} condition;

/* A row while the list is made. Owner: a making. */
typedef struct item {
    weft_entity entity;
    uint64_t key;
    size_t text; /* in `texts` */
    uint32_t at; /* rows with the same key stay in their order */
    bool is_missing;
} item;

/* Owner: one request. */
typedef struct making {
    weft__session *session;
    weft__wire *out;
    condition conditions[CONDITIONS];
    uint32_t condition_count;
    operand sort;
    bool is_sorted, is_down;
    item *items;
    uint32_t count, capacity;
    uint64_t frame; /* of which the list tells */
    weft__wire texts;
    bool has_failed;
} making;

/* ---- operands ---- */

static bool is_number(const operand *of)
{
    return !of->is_name && of->path.field != NULL && of->path.count == 1 &&
           (of->path.field->kind == WEFT_FIELD_BOOL || weft__kind_is_number(of->path.field->kind));
}

/* "name", "Position.x": a component's name may have dots, so the longest that there is counts. */
static bool read_operand(const weft__session *session, const char *text, operand *out)
{
    char name[WEFT__REQUEST_WORD];
    *out = (operand){.is_name = strcmp(text, "name") == 0};
    if (out->is_name) return true;
    snprintf(name, sizeof name, "%s", text);
    for (char *dot; (dot = strrchr(name, '.')) != NULL;) {
        *dot = '\0';
        out->component = weft_component_find(session->world, name);
        if (out->component.id == 0) continue;
        const weft_component_desc *info = weft_component_info(session->world, out->component);
        return (info->flags & WEFT_BUFFER) == 0 &&
               weft__value_type(session, out->component, &out->made, &out->type) &&
               weft_path_parse(out->type, text + (dot - name) + 1, &out->path, NULL) == WEFT_OK &&
               out->path.field != NULL;
    }
    return false;
}

/* The text of the operand as it is shown; false: the entity has no such value. */
static bool text_of(const weft__session *session, const operand *of, weft_entity entity, char *text)
{
    text[0] = '\0';
    if (of->is_name) {
        snprintf(text, TEXT_MAX, "%s", weft_entity_name(session->world, entity));
        return text[0] != '\0';
    }
    const void *value = weft__value_of(session, entity, of->component);
    if (value == NULL) return false;
    weft_path_value_format(NULL, of->type, &of->path, value, text, TEXT_MAX);
    size_t length = strlen(text);
    if (text[0] != '"') return true;
    bool is_whole = length > 1 && text[length - 1] == '"';
    memmove(text, text + 1, length);
    if (is_whole) text[length - 2] = '\0';
    return true;
}

static bool number_of(const weft__session *session, const operand *of, weft_entity entity,
                      double *out)
{
    const char *value = weft__value_of(session, entity, of->component);
    if (value != NULL) *out = weft__value_number(of->path.field->kind, value + of->path.offset);
    return value != NULL;
}

/* ---- filters ---- */

static const struct {
    const char *sign;
    comparison is;
} signs[] = {{"<=", LESS_EQUAL}, {">=", MORE_EQUAL}, {"!=", OTHER}, {"<", LESS},
             {">", MORE},        {"=", EQUAL},       {"~", HAS}};

/* The bound in the unit of the field: "400 km"; its range does not hold for bounds. */
static bool read_bound(condition *c)
{
    char quoted[TEXT_MAX + 2], bytes[8] = {0};
    weft_field field = *c->of.path.field;
    field.name = "";
    field.offset = 0;
    field.count = 1;
    field.bytes = 0;
    field.least = field.most = 0;
    const weft_type type = {.name = "bound",
                            .size = c->of.path.bytes,
                            .alignment = 1,
                            .fields = &field,
                            .field_count = 1};
    weft_text text = {.bytes = c->text, .count = strlen(c->text), .file = "where"};
    bool is_read = weft_value_parse(NULL, &text, &type, bytes, NULL) == WEFT_OK;
    if (!is_read) {
        snprintf(quoted, sizeof quoted, "\"%.*s\"", TEXT_MAX - 1, c->text);
        text = (weft_text){.bytes = quoted, .count = strlen(quoted), .file = "where"};
        is_read = weft_value_parse(NULL, &text, &type, bytes, NULL) == WEFT_OK;
    }
    if (is_read) c->number = weft__value_number(field.kind, bytes);
    return is_read;
}

static char *trim(char *text)
{
    while (*text == ' ') text++;
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
    return text;
}

/* One condition, with a status; but for 200 it is told already. */
static uint32_t read_condition(making *m, char *text)
{
    condition *c = &m->conditions[m->condition_count];
    size_t length = strcspn(text, "<>=!~"), found = 0;
    while (found < sizeof signs / sizeof signs[0] &&
           strncmp(text + length, signs[found].sign, strlen(signs[found].sign)) != 0)
        found++;
    if (found == sizeof signs / sizeof signs[0])
        return weft__window_fail(m->out, 422,
                                 "\"%s\": a filter is like Position.x > 3, or name ~ sun", text);
    c->is = signs[found].is;
    snprintf(c->text, sizeof c->text, "%s", trim(text + length + strlen(signs[found].sign)));
    text[length] = '\0';
    text = trim(text);
    if (!read_operand(m->session, text, &c->of))
        return weft__window_fail(m->out, 422, "nothing is called \"%s\": name, or Component.field",
                                 text);
    if (is_number(&c->of) && c->is != HAS) {
        if (!read_bound(c))
            return weft__window_fail(m->out, 422, "\"%s\" is no value of %s", c->text, text);
    } else if (c->is < EQUAL) {
        return weft__window_fail(m->out, 422, "%s is no number: = and != and ~ are for texts",
                                 text);
    }
    m->condition_count++;
    return 200;
}

static uint32_t read_conditions(making *m, const weft__request *request)
{
    char text[QUERY_MAX], *at = text, *part;
    if (!weft__request_text(request, "where", text, sizeof text))
        return weft__request_has(request, "where")
                   ? weft__window_fail(m->out, 400, "a filter is a text of at most 1,023 bytes")
                   : 200;
    while ((part = strsep(&at, ",")) != NULL) {
        part = trim(part);
        if (*part == '\0') continue;
        if (m->condition_count == CONDITIONS)
            return weft__window_fail(m->out, 422, "at most %d filters", CONDITIONS);
        uint32_t status = read_condition(m, part);
        if (status != 200) return status;
    }
    return 200;
}

static bool compare(comparison is, double difference)
{
    switch (is) {
    case LESS:
        return difference < 0;
    case LESS_EQUAL:
        return difference <= 0;
    case MORE:
        return difference > 0;
    case MORE_EQUAL:
        return difference >= 0;
    case OTHER:
        return difference != 0;
    case EQUAL:
    case HAS:
        break;
    }
    return difference == 0;
}

static bool passes(const weft__session *session, const condition *c, weft_entity entity)
{
    char text[TEXT_MAX];
    double number;
    if (is_number(&c->of) && c->is != HAS)
        return number_of(session, &c->of, entity, &number) && compare(c->is, number - c->number);
    bool is_there = text_of(session, &c->of, entity, text);
    if (c->is == HAS) return is_there && strcasestr(text, c->text) != NULL;
    return (is_there || c->of.is_name) && compare(c->is, strcmp(text, c->text));
}

/* ---- rows ---- */

/* Bits whose unsigned order is that of the numbers. */
static uint64_t number_key(weft_field_kind kind, const char *bytes)
{
    const uint64_t top = UINT64_C(1) << 63;
    const weft__scalar n = weft__scalar_load(kind, bytes);
    uint64_t bits;
    if (!n.is_real) return kind == WEFT_FIELD_U64 ? n.bits : n.bits ^ top;
    double number = n.real == 0 ? 0 : n.real; /* -0 */
    memcpy(&bits, &number, sizeof bits);
    return bits & top ? ~bits : bits | top;
}

static void set_key(making *m, item *made)
{
    char text[TEXT_MAX];
    const operand *of = &m->sort;
    if (is_number(of)) {
        const char *value = weft__value_of(m->session, made->entity, of->component);
        made->is_missing = value == NULL;
        if (value != NULL) made->key = number_key(of->path.field->kind, value + of->path.offset);
        return;
    }
    made->is_missing = !text_of(m->session, of, made->entity, text);
    made->text = m->texts.count;
    weft__wire_raw(&m->texts, text, strlen(text) + 1);
}

static void add_item(making *m, weft_entity entity)
{
    if (m->has_failed) return;
    for (uint32_t i = 0; i < m->condition_count; i++)
        if (!passes(m->session, &m->conditions[i], entity)) return;
    if (m->count == m->capacity) {
        uint32_t capacity = m->capacity * 2 + 1024;
        item *grown = realloc(m->items, capacity * sizeof *grown);
        m->has_failed |= grown == NULL;
        if (grown == NULL) return;
        m->items = grown;
        m->capacity = capacity;
    }
    item *made = &m->items[m->count];
    *made = (item){.entity = entity, .at = m->count};
    if (m->is_sorted) set_key(m, made);
    m->has_failed |= m->texts.has_failed;
    m->count++;
}

static int compare_texts(const void *left, const void *right, void *user)
{
    const item *a = left, *b = right;
    const making *m = user;
    if (a->is_missing != b->is_missing) return a->is_missing ? 1 : -1;
    int order = a->is_missing ? 0 : strcmp(m->texts.bytes + a->text, m->texts.bytes + b->text);
    if (order != 0) return m->is_down ? -order : order;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* What is sorted of a row. Owner: a making. */
typedef struct rank {
    uint64_t key;
    uint32_t at;
    bool is_missing;
} rank;

static uint32_t digit_of(const rank *of, uint32_t byte)
{
    if (byte == sizeof of->key) return of->is_missing; /* the last: those without a value */
    return (uint32_t)(of->key >> (8 * byte)) & 0xff;
}

/* Byte for byte from the lowest, to and fro; bytes that all rows share are passed over. The world
 * waits meanwhile: a million rows take 17 ms (f32) to 95 (f64), by comparison 420. Returns where
 * they are in the end. */
static const rank *sort_ranks(rank *from, rank *to, uint32_t count)
{
    for (uint32_t byte = 0; byte <= sizeof from->key; byte++) {
        uint32_t starts[257] = {0};
        for (uint32_t i = 0; i < count; i++) starts[digit_of(&from[i], byte) + 1]++;
        if (starts[digit_of(&from[0], byte) + 1] == count) continue;
        for (uint32_t i = 0; i < 256; i++) starts[i + 1] += starts[i];
        for (uint32_t i = 0; i < count; i++) to[starts[digit_of(&from[i], byte)]++] = from[i];
        rank *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

static void sort_by_numbers(making *m, weft_entity *out)
{
    rank *ranks = malloc(2 * sizeof *ranks * m->count);
    m->has_failed |= ranks == NULL;
    if (ranks == NULL) return;
    for (uint32_t i = 0; i < m->count; i++) {
        const item *of = &m->items[i];
        ranks[i] = (rank){m->is_down ? ~of->key : of->key, i, of->is_missing};
    }
    const rank *sorted = sort_ranks(ranks, ranks + m->count, m->count);
    for (uint32_t i = 0; i < m->count; i++) out[i] = m->items[sorted[i].at].entity;
    free(ranks);
}

/* The handles in their order. */
static void write_order(making *m, weft_entity *out)
{
    if (m->is_sorted && m->count > 1 && is_number(&m->sort)) {
        sort_by_numbers(m, out);
        return;
    }
    if (m->is_sorted && m->count > 1)
        qsort_r(m->items, m->count, sizeof *m->items, compare_texts, m);
    for (uint32_t i = 0; i < m->count; i++) out[i] = m->items[i].entity;
}

/* ---- where rows come from ---- */

static uint32_t take_query(making *m, const char *text)
{
    char why[512];
    weft_query query;
    if (!weft__query_text_make(m->session, text, &query, why, sizeof why))
        return weft__window_fail(m->out, 422, "%s", why);
    weft_cursor c = weft_query_begin(m->session->world, query);
    while (weft_query_next(&c)) {
        const weft_entity *entities = weft_slice_entities(&c.slice);
        uint32_t begin = 0, stop = 0;
        while (weft_slice_next_run(&c.slice, &begin, &stop))
            for (uint32_t i = begin; i < stop; i++) add_item(m, entities[i]);
    }
    weft_query_end(&c);
    weft_query_destroy(m->session->world, query);
    return 200;
}

static void take_lost(void *user, weft_entity entity)
{
    add_item(user, entity);
}

/* What the query lost, by archetypes. */
static uint32_t take_past(making *m, const char *text)
{
    char why[512];
    weft_query query;
    weft_term terms[WEFT_INLINE_TERMS];
    const weft_world *world = m->session->world;
    if (!weft__query_text_make(m->session, text, &query, why, sizeof why))
        return weft__window_fail(m->out, 422, "%s", why);
    uint32_t status = 200, count = weft_query_terms(world, query, terms, WEFT_INLINE_TERMS);
    for (uint32_t i = 0; i < count && status == 200; i++)
        if (weft_component_info(world, terms[i].component)->flags & WEFT_SPARSE)
            status = weft__window_fail(m->out, 422,
                                       "%s is sparse: who lost it is known of archetypes only; "
                                       "hold the list, and ask for those that left it",
                                       weft__session_name(m->session, terms[i].component));
    if (status == 200 && !weft__past_lost(m->session, query, &m->frame, take_lost, m))
        status = weft__window_fail(m->out, 409,
                                   "no frame before this one is known yet: they are kept while a "
                                   "page is open");
    weft_query_destroy(m->session->world, query);
    return status;
}

static uint32_t take_names(making *m, const weft__request *request)
{
    char part[64];
    if (!weft__request_text(request, "part", part, sizeof part))
        return weft__window_fail(m->out, 400, "a part of a name has at most 63 bytes");
    uint32_t count = weft_entity_search(m->session->world, part, NULL, 0);
    weft_entity *found = calloc(count + 1u, sizeof *found);
    m->has_failed |= found == NULL;
    if (found == NULL) return 200;
    weft_entity_search(m->session->world, part, found, count);
    for (uint32_t i = 0; i < count; i++) add_item(m, found[i]);
    free(found);
    return 200;
}

static list *find_list(const weft__session *session, const weft__request *request, const char *name)
{
    uint32_t number = (uint32_t)weft__request_count(request, name, 0, UINT32_MAX);
    for (uint32_t i = 0; session->lists != NULL && number != 0 && i < LISTS; i++)
        if (session->lists->items[i].number == number) return &session->lists->items[i];
    return NULL;
}

/* What a row of a list has become: NULL: nothing. */
static const char *lost(const weft__session *session, weft_query query, weft_entity entity)
{
    if (!weft_entity_is_alive(session->world, entity)) return "dead";
    return query.id != 0 && !weft_query_matches(session->world, query, entity) ? "left" : NULL;
}

/* The query of a list again; id 0: it has none. */
static weft_query list_query(weft__session *session, const list *of)
{
    char why[512];
    weft_query query = {0};
    if (of->query[0] != '\0') weft__query_text_make(session, of->query, &query, why, sizeof why);
    return query;
}

static uint32_t take_list(making *m, const weft__request *request)
{
    const list *of = find_list(m->session, request, "of");
    if (of == NULL) return weft__window_fail(m->out, 404, "this list is gone: make it again");
    weft_query query = list_query(m->session, of);
    for (uint32_t i = 0; i < of->count; i++)
        if (!weft__request_is(request, "left") || lost(m->session, query, of->entities[i]) != NULL)
            add_item(m, of->entities[i]);
    if (query.id != 0) weft_query_destroy(m->session->world, query);
    return 200;
}

/* ---- lists ---- */

static uint32_t keep_list(making *m, const char *query)
{
    weft__session *session = m->session;
    if (session->lists == NULL) session->lists = calloc(1, sizeof *session->lists);
    weft_entity *entities = malloc((m->count + 1u) * sizeof *entities);
    m->has_failed |= session->lists == NULL || entities == NULL;
    if (!m->has_failed) write_order(m, entities);
    if (m->has_failed) {
        free(entities);
        m->out->has_failed = true;
        return weft__window_fail(m->out, 503, "no memory");
    }
    uint32_t number = ++session->lists->last;
    list *kept = &session->lists->items[number % LISTS];
    free(kept->entities);
    *kept = (list){.number = number, .count = m->count, .frame = m->frame, .entities = entities};
    snprintf(kept->query, sizeof kept->query, "%s", query);
    weft__wire_count(m->out, "list", number);
    weft__wire_count(m->out, "total", kept->count);
    weft__wire_count(m->out, "frame", kept->frame);
    return 200;
}

static uint32_t fill(making *m, const weft__request *request, char *query)
{
    char sort[WEFT__REQUEST_WORD];
    uint32_t status = read_conditions(m, request);
    if (status != 200) return status;
    weft__request_text(request, "sort", sort, sizeof sort);
    m->is_sorted = sort[0] != '\0';
    m->is_down = weft__request_is(request, "down");
    if (m->is_sorted && !read_operand(m->session, sort, &m->sort))
        return weft__window_fail(m->out, 422, "nothing is called \"%s\": name, or Component.field",
                                 sort);
    if (weft__request_has(request, "of")) return take_list(m, request);
    if (weft__request_has(request, "part")) return take_names(m, request);
    if (!weft__request_text(request, "query", query, QUERY_MAX))
        return weft__window_fail(m->out, 400, "a query is a text of at most 1,023 bytes");
    return weft__request_is(request, "lost") ? take_past(m, query) : take_query(m, query);
}

uint32_t weft__list_make(weft__session *session, const weft__request *request, weft__wire *out)
{
    char query[QUERY_MAX] = "";
    making *m = calloc(1, sizeof *m);
    if (m == NULL) return weft__window_fail(out, 503, "no memory");
    m->session = session;
    m->out = out;
    m->frame = weft_world_frame(session->world).number;
    uint32_t status = fill(m, request, query);
    if (status == 200) status = keep_list(m, query);
    weft__wire_free(&m->texts);
    free(m->items);
    free(m);
    return status;
}

uint32_t weft__list_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    const list *of = find_list(session, request, "list");
    if (of == NULL) return weft__window_fail(out, 404, "this list is gone: make it again");
    weft__columns columns = {0};
    weft__columns_add(session, request, &columns);
    weft__columns_write(session, &columns, out);
    weft_query query = list_query(session, of);
    uint64_t from = weft__request_count(request, "from", 0, of->count);
    uint64_t end = from + weft__request_count(request, "count", 50, WEFT__PAGE_MAX);
    weft__wire_count(out, "total", of->count);
    weft__wire_count(out, "frame", of->frame);
    weft__wire_open(out, "rows", '[');
    for (uint64_t i = from; i < end && i < of->count; i++)
        weft__row_write(session, of->entities[i], &columns, lost(session, query, of->entities[i]),
                        out);
    weft__wire_close(out, ']');
    if (query.id != 0) weft_query_destroy(session->world, query);
    return 200;
}

void weft__lists_free(weft__session *session)
{
    for (uint32_t i = 0; session->lists != NULL && i < LISTS; i++)
        free(session->lists->items[i].entities);
    free(session->lists);
    session->lists = NULL;
}
