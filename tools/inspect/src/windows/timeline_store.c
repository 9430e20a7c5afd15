/* SPDX-License-Identifier: MIT */
/* timeline_store.c: events become spans: a stack of open ones per worker, a ring of ended ones.
 * Names are copied when an event is taken, because they may go away with their system. A span whose
 * begin was dropped has no end, and one whose end was dropped ends with what is around it. A span
 * of fused slices is divided by the times of its systems, as in a trace file. */
#include "timeline_store.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPANS = 1 << 15,
    SEEN = 1 << 10, /* names by their address */
    STACK = 32,
    NAMES = 8192,
    NAME_BYTES = 64,
    EVENTS = 512,
    WRITTEN_MAX = 8000 /* of one lane in an answer */
};

/* A span, or a moment (begin == end). */
typedef struct span {
    uint64_t begin_ns, end_ns;
    uint16_t name;
    uint8_t depth, kind; /* weft_job_event_kind of its begin */
    uint32_t value;
} span;

/* A part of the span that is open: of one system of a fused stage. */
typedef struct part {
    uint64_t ns; /* sampled: only their ratios count */
    uint16_t name;
} part;

/* A worker. Always: count <= SPANS; spans in the order of their ends. */
typedef struct lane {
    span *spans;
    uint32_t next, count;
    span open[STACK];
    uint32_t depth;
    uint64_t dropped;
    part *shares; /* of open[depth - 1] */
    uint32_t share_count, share_capacity;
} lane;

/* A name that was found by its text before. */
typedef struct seen {
    const char *name;
    uint64_t take;
    uint16_t number;
} seen;

/* Spans of one worker in the slowest frame. */
typedef struct kept {
    span *spans;
    uint32_t count;
} kept;

/* Owner: the session. */
struct weft__timeline {
    lane *lanes;
    uint32_t lane_count;
    char (*names)[NAME_BYTES]; /* [NAMES]; 0: none */
    uint16_t *slots;           /* hash table, twice as many; 0: free */
    uint32_t name_count;
    seen *seen; /* [SEEN]: what stands at an address stays there during one take */
    uint64_t take, end_ns;
    weft__period frame;
    weft__period slowest; /* since something looks; to_ns 0: none */
    bool is_slowest_new;  /* its spans are to be copied */
    kept *slowest_lanes;  /* [lane_count] */
};

static void drop(weft__timeline *t)
{
    for (uint32_t i = 0; t->lanes != NULL && i < t->lane_count; i++) {
        free(t->lanes[i].spans);
        free(t->lanes[i].shares);
    }
    for (uint32_t i = 0; t->slowest_lanes != NULL && i < t->lane_count; i++)
        free(t->slowest_lanes[i].spans);
    free(t->slowest_lanes);
    free(t->lanes);
    free(t->names);
    free(t->slots);
    free(t->seen);
    free(t);
}

/* NULL: memory is refused. */
static weft__timeline *make(uint32_t workers)
{
    weft__timeline *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->lanes = calloc(workers, sizeof *t->lanes);
    t->slowest_lanes = calloc(workers, sizeof *t->slowest_lanes);
    t->names = calloc(NAMES, NAME_BYTES);
    t->slots = calloc(2 * NAMES, sizeof *t->slots);
    t->seen = calloc(SEEN, sizeof *t->seen);
    t->name_count = 1;
    bool is_done = t->lanes != NULL && t->slowest_lanes != NULL && t->names != NULL &&
                   t->slots != NULL && t->seen != NULL;
    while (is_done && t->lane_count < workers) {
        span *spans = t->lanes[t->lane_count].spans = malloc(SPANS * sizeof(span));
        is_done = spans != NULL;
        t->lane_count += is_done;
    }
    if (is_done) return t;
    drop(t);
    return NULL;
}

void weft__timeline_free(weft__session *session)
{
    weft__timeline *t = session->timeline;
    session->timeline = NULL;
    if (t != NULL) drop(t);
}

static uint16_t find_name(weft__timeline *t, const char *name)
{
    uint32_t at = (uint32_t)hash_string(name) % (2 * NAMES);
    for (; t->slots[at] != 0; at = (at + 1) % (2 * NAMES))
        if (strncmp(t->names[t->slots[at]], name, NAME_BYTES - 1) == 0) return t->slots[at];
    if (t->name_count == NAMES - 1) name = "(one of the names beyond 8,190)";
    if (t->name_count == NAMES) return NAMES - 1;
    size_t length = strnlen(name, NAME_BYTES - 1);
    memcpy(t->names[t->name_count], name, length);
    t->slots[at] = (uint16_t)t->name_count++;
    return t->slots[at];
}

static uint16_t name_of(weft__timeline *t, const char *name)
{
    if (name == NULL) return 0;
    uint64_t mixed = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);
    seen *s = &t->seen[(mixed >> 32) % SEEN];
    if (s->name != name || s->take != t->take)
        *s = (seen){.name = name, .take = t->take, .number = find_name(t, name)};
    return s->number;
}

/* ---- events ---- */

static void add_span(lane *l, const span *s)
{
    l->spans[l->next] = *s;
    l->next = (l->next + 1) % SPANS;
    if (l->count < SPANS) l->count++;
}

static void begin_span(weft__timeline *t, lane *l, const weft_job_event *event)
{
    if (l->depth < STACK)
        l->open[l->depth] = (span){.begin_ns = event->time_ns,
                                   .name = name_of(t, event->name),
                                   .depth = (uint8_t)l->depth,
                                   .kind = (uint8_t)event->kind,
                                   .value = event->value};
    l->depth++;
    l->share_count = 0;
}

/* Where memory is refused the others get its time. */
static void add_share(lane *l, part share)
{
    if (l->share_count == l->share_capacity) {
        uint32_t capacity = 2 * l->share_capacity + 64;
        part *grown = realloc(l->shares, capacity * sizeof *grown);
        if (grown == NULL) return;
        l->shares = grown;
        l->share_capacity = capacity;
    }
    l->shares[l->share_count++] = share;
}

/* A span for each share, one behind the other in the span that has ended. */
static void add_shares(lane *l, const span *whole)
{
    uint64_t sum = 0, passed = 0, took = whole->end_ns - whole->begin_ns;
    for (uint32_t i = 0; i < l->share_count; i++) sum += l->shares[i].ns;
    for (uint32_t i = 0; i < l->share_count && sum != 0; i++) {
        span s = {.name = l->shares[i].name,
                  .kind = whole->kind,
                  .depth = (uint8_t)(whole->depth + 1),
                  .value = 1};
        s.begin_ns = whole->begin_ns + (uint64_t)((double)took * (double)passed / (double)sum);
        passed += l->shares[i].ns;
        s.end_ns = whole->begin_ns + (uint64_t)((double)took * (double)passed / (double)sum);
        if (s.end_ns > s.begin_ns) add_span(l, &s);
    }
    l->share_count = 0;
}

static void end_span(weft__timeline *t, lane *l, const weft_job_event *event)
{
    if (l->depth == 0) return; /* its begin was dropped */
    l->depth--;
    if (l->depth >= STACK) return;
    span s = l->open[l->depth];
    s.end_ns = event->time_ns;
    if (s.depth + 1 < STACK) add_shares(l, &s);
    l->share_count = 0; /* those of a span without time, too */
    add_span(l, &s);
    bool is_frame = s.kind == WEFT_JOB_EVENT_SPAN_BEGIN && strcmp(t->names[s.name], "frame") == 0;
    if (!is_frame) return;
    t->frame = (weft__period){s.begin_ns, s.end_ns, 0};
    if (s.end_ns - s.begin_ns <= t->slowest.to_ns - t->slowest.from_ns) return;
    t->slowest = t->frame;
    t->is_slowest_new = true;
}

static void take_event(weft__timeline *t, lane *l, const weft_job_event *event)
{
    t->end_ns = event->time_ns > t->end_ns ? event->time_ns : t->end_ns;
    switch ((weft_job_event_kind)event->kind) {
    case WEFT_JOB_EVENT_BEGIN:
    case WEFT_JOB_EVENT_SPAN_BEGIN:
    case WEFT_JOB_EVENT_WAIT_BEGIN:
        begin_span(t, l, event);
        break;
    case WEFT_JOB_EVENT_END:
    case WEFT_JOB_EVENT_SPAN_END:
    case WEFT_JOB_EVENT_WAIT_END:
        end_span(t, l, event);
        break;
    case WEFT_JOB_EVENT_STEAL:
    case WEFT_JOB_EVENT_MARK:
        add_span(l, &(span){.begin_ns = event->time_ns,
                            .end_ns = event->time_ns,
                            .name = name_of(t, event->name),
                            .kind = (uint8_t)event->kind,
                            .value = event->value});
        break;
    case WEFT_JOB_EVENT_PARK:
    case WEFT_JOB_EVENT_UNPARK:
    case WEFT_JOB_EVENT_WAKE:
    case WEFT_JOB_EVENT_COUNTER:
        break;
    case WEFT_JOB_EVENT_SHARE:
        if (l->depth != 0) add_share(l, (part){event->value, name_of(t, event->name)});
        break;
    }
}

static void keep_slowest(weft__timeline *t);

void weft__timeline_take(weft__session *session)
{
    weft_job_event events[EVENTS];
    weft_job_pool *pool = weft_world_pool(session->world);
    if (session->timeline == NULL) session->timeline = make(weft_job_pool_worker_count(pool));
    weft__timeline *t = session->timeline;
    if (t != NULL) t->take++;
    for (uint32_t w = 0; t != NULL && w < t->lane_count; w++) {
        uint32_t count;
        lane *l = &t->lanes[w];
        uint64_t dropped = l->dropped;
        while ((count = weft_job_trace_take(pool, w, events, EVENTS, &l->dropped)) != 0)
            for (uint32_t i = 0; i < count; i++) take_event(t, l, &events[i]);
        if (l->dropped != dropped) l->depth = 0; /* ends are missing */
    }
    if (t != NULL && t->is_slowest_new) keep_slowest(t);
}

void weft__timeline_skip(weft__session *session)
{
    weft_job_event events[EVENTS];
    weft_job_pool *pool = weft_world_pool(session->world);
    for (uint32_t w = 0; w < weft_job_pool_worker_count(pool); w++)
        while (weft_job_trace_take(pool, w, events, EVENTS, NULL) != 0) continue;
    for (uint32_t w = 0; session->timeline != NULL && w < session->timeline->lane_count; w++)
        session->timeline->lanes[w].depth = 0;
    if (session->timeline != NULL) session->timeline->slowest = (weft__period){0};
}

/* ---- questions ---- */

bool weft__timeline_has_events(const weft__session *session)
{
    return session->timeline != NULL && session->timeline->end_ns != 0;
}

uint64_t weft__timeline_end(const weft__session *session)
{
    return session->timeline == NULL ? 0 : session->timeline->end_ns;
}

bool weft__timeline_frame(const weft__session *session, weft__period *out)
{
    if (session->timeline == NULL || session->timeline->frame.to_ns == 0) return false;
    *out = session->timeline->frame;
    return true;
}

/* The i-th span of a lane, the oldest first. */
static const span *span_at(const lane *l, uint32_t i)
{
    return &l->spans[(l->next + SPANS - l->count + i) % SPANS];
}

bool weft__timeline_slowest(const weft__session *session, weft__period *out)
{
    if (session->timeline == NULL || session->timeline->slowest.to_ns == 0) return false;
    *out = session->timeline->slowest;
    return true;
}

/* The first span that ends at or after a moment: they are in the order of their ends. */
static uint32_t first_after(const lane *l, uint64_t ns)
{
    uint32_t low = 0, high = l->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (span_at(l, middle)->end_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rings forget; the slowest frame does not. */
static void keep_slowest(weft__timeline *t)
{
    t->is_slowest_new = false;
    for (uint32_t w = 0; w < t->lane_count; w++) {
        const lane *l = &t->lanes[w];
        kept *k = &t->slowest_lanes[w];
        uint32_t first = first_after(l, t->slowest.from_ns);
        span *grown = realloc(k->spans, (l->count - first + 1) * sizeof *grown);
        k->count = 0;
        if (grown == NULL) continue; /* this worker is not shown */
        k->spans = grown;
        for (uint32_t i = first; i < l->count; i++)
            if (span_at(l, i)->begin_ns < t->slowest.to_ns) k->spans[k->count++] = *span_at(l, i);
    }
}

double weft__timeline_busy(const weft__session *session, uint32_t worker)
{
    const weft__timeline *t = session->timeline;
    if (t == NULL || worker >= t->lane_count || t->end_ns == 0) return -1;
    const lane *l = &t->lanes[worker];
    uint64_t from = t->end_ns > 1000000000u ? t->end_ns - 1000000000u : 0;
    int64_t busy = 0;
    if (l->count == SPANS && span_at(l, 0)->end_ns > from) from = span_at(l, 0)->end_ns;
    for (uint32_t i = first_after(l, from); i < l->count; i++) {
        const span *s = span_at(l, i);
        int64_t took = (int64_t)(s->end_ns - (s->begin_ns > from ? s->begin_ns : from));
        bool is_wait = s->kind == WEFT_JOB_EVENT_WAIT_BEGIN;
        if (is_wait && s->depth != 0) busy -= took; /* inside of a span that counts */
        if (!is_wait && s->depth == 0) busy += took;
    }
    double share = (double)busy / (double)(t->end_ns - from + 1);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- drawing ---- */

/* What is drawn of one depth: narrow spans until a wider gap comes. */
typedef struct drawn {
    uint64_t begin_ns, end_ns;
    uint32_t count;
    uint16_t name;
    uint8_t kind;
} drawn;

/* Owner: one lane's drawing. */
typedef struct drawing {
    weft__wire *out;
    const weft__period *period;
    uint64_t narrow_ns; /* less is narrower than a pixel */
    drawn last[STACK];
    uint32_t written;
    uint64_t left_out; /* spans beyond WRITTEN_MAX */
} drawing;

static void write_drawn(drawing *d, uint32_t depth)
{
    const drawn *last = &d->last[depth];
    if (last->count == 0) return;
    if (d->written == WRITTEN_MAX) {
        d->left_out += last->count;
        return;
    }
    d->written++;
    uint64_t from = d->period->from_ns;
    uint64_t begin = last->begin_ns > from ? last->begin_ns - from : 0;
    const uint64_t numbers[] = {begin,      last->end_ns - from, depth,
                                last->name, last->count,         last->kind};
    if (d->out->needs_comma) weft__wire_raw(d->out, ",", 1);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        weft__wire_raw(d->out, i == 0 ? "[" : ",", 1);
        weft__wire_digits(d->out, numbers[i]);
    }
    weft__wire_raw(d->out, "]", 1);
    d->out->needs_comma = true;
}

static void draw(drawing *d, const span *s)
{
    drawn *last = &d->last[s->depth];
    bool is_narrow = s->end_ns - s->begin_ns < d->narrow_ns;
    bool joins = is_narrow && last->count != 0 && last->end_ns - last->begin_ns < d->narrow_ns &&
                 s->end_ns - last->begin_ns < d->narrow_ns;
    if (joins) {
        last->end_ns = s->end_ns;
        last->count++;
        return;
    }
    write_drawn(d, s->depth);
    *last = (drawn){s->begin_ns, s->end_ns, 1, s->name, s->kind};
}

static void write_lane(const weft__timeline *t, uint32_t worker, const weft__period *period,
                       weft__wire *out)
{
    const lane *l = &t->lanes[worker];
    drawing d = {.out = out, .period = period};
    d.narrow_ns = (period->to_ns - period->from_ns) / (period->pixels + 1) + 1;
    weft__wire_open(out, NULL, '{');
    weft__wire_count(out, "worker", worker);
    weft__wire_count(out, "dropped", l->dropped);
    weft__wire_open(out, "spans", '[');
    const kept *k = &t->slowest_lanes[worker];
    bool is_kept = period->from_ns == t->slowest.from_ns && period->to_ns == t->slowest.to_ns;
    for (uint32_t i = 0; is_kept && i < k->count; i++) draw(&d, &k->spans[i]);
    for (uint32_t i = is_kept ? l->count : first_after(l, period->from_ns); i < l->count; i++)
        if (span_at(l, i)->begin_ns <= period->to_ns) draw(&d, span_at(l, i));
    for (uint32_t depth = 0; depth < STACK; depth++) write_drawn(&d, depth);
    weft__wire_close(out, ']');
    if (d.left_out != 0) weft__wire_count(out, "left_out", d.left_out);
    weft__wire_close(out, '}');
}

void weft__timeline_write(const weft__session *session, const weft__period *period, weft__wire *out)
{
    const weft__timeline *t = session->timeline;
    weft__wire_open(out, "names", '[');
    for (uint32_t i = 0; t != NULL && i < t->name_count; i++)
        weft__wire_text(out, NULL, t->names[i]);
    weft__wire_close(out, ']');
    weft__wire_open(out, "lanes", '[');
    for (uint32_t i = 0; t != NULL && i < t->lane_count; i++) write_lane(t, i, period, out);
    weft__wire_close(out, ']');
}

static void export_span(const weft__timeline *t, uint32_t worker, const span *s, weft__wire *out)
{
    bool is_moment = s->begin_ns == s->end_ns;
    const char *name = s->name != 0                           ? t->names[s->name]
                       : s->kind == WEFT_JOB_EVENT_STEAL      ? "steal"
                       : s->kind == WEFT_JOB_EVENT_WAIT_BEGIN ? "wait"
                                                              : "job";
    weft__wire_open(out, NULL, '{');
    weft__wire_text(out, "name", name);
    weft__wire_text(out, "ph", is_moment ? "i" : "X");
    weft__wire_count(out, "pid", 1);
    weft__wire_count(out, "tid", worker);
    weft__wire_text(out, "cat", s->kind == WEFT_JOB_EVENT_SPAN_BEGIN ? "frame" : "job");
    if (out->needs_comma) weft__wire_raw(out, ",", 1);
    weft__wire_format(out, "\"ts\":%llu.%03u", (unsigned long long)(s->begin_ns / 1000),
                      (unsigned)(s->begin_ns % 1000));
    uint64_t took = s->end_ns - s->begin_ns;
    if (!is_moment)
        weft__wire_format(out, ",\"dur\":%llu.%03u", (unsigned long long)(took / 1000),
                          (unsigned)(took % 1000));
    weft__wire_close(out, '}');
}

void weft__timeline_export(const weft__session *session, weft__wire *out)
{
    const weft__timeline *t = session->timeline;
    weft__wire_open(out, "traceEvents", '[');
    for (uint32_t w = 0; t != NULL && w < t->lane_count; w++)
        for (uint32_t i = 0; i < t->lanes[w].count; i++)
            export_span(t, w, span_at(&t->lanes[w], i), out);
    weft__wire_close(out, ']');
}
