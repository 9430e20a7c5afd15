/* SPDX-License-Identifier: MIT */
/* stream_step.c: one step of the streams of a world: who asks for what, what has ended, what is
 * published, taken out, begun. In this order, so that room is free before it is needed. Under
 * lockstep what is due is waited for, and nothing else is done early. See stream_step.h. */
#include "stream_step.h"
#include "directory.h"
#include "error.h"
#include "stream_leave.h"
#include "stream_load.h"

#include <math.h>

/* One call. On the stack. */
typedef struct stepping {
    weft__streams *streams;
    uint64_t deadline;
    uint32_t did;
    weft_result result;
} stepping;

static bool is_late(const stepping *s)
{
    const weft_os *os = s->streams->world->desc.os;
    return s->result != WEFT_OK ||
           (s->deadline != 0 && s->did != 0 && os->clock_ns(os->user) >= s->deadline);
}

/* ---- entity blocks for the sections that come next ----
 *
 * The crew only maps memory; the owner puts the blocks into the directory, because lending them
 * changes the same tables. While the crew maps and clears memory, the owner's own mmap would wait
 * for a thread that may have lost its processor: frames of up to 24 ms on a busy machine. So a
 * section begins when there are blocks for it, and the crew makes those of the next ones meanwhile.
 * Not under lockstep, where sections begin when they are asked for. */

/* The crew's part. */
static void room_make(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    weft__room *room = (weft__room *)(void *)job;
    (void)piece, (void)thread;
    room->slab = weft__directory_slab_make(room->directory, room->count);
}

static void room_ask(weft__streams *streams, uint32_t blocks)
{
    weft__room *room = &streams->room;
    room->directory = &streams->world->directory;
    room->count = weft__directory_ahead(room->directory, blocks);
    room->job.run = room_make;
    room->job.piece_count = 1;
    at_store_rlx(&room->job.x_priority, UINT32_MAX); /* relaxed: a wish */
    room->is_out = true;
    weft__crew_push(&streams->crew, &room->job);
}

/* Whether a section of so many rows can begin without the owner mapping blocks, or has to: no
 * thread is at work, or there is no memory for more. False: they are being made. */
static bool room_has(weft__streams *streams, uint32_t rows)
{
    const weft__directory *directory = &streams->world->directory;
    weft__room *room = &streams->room;
    uint32_t needed = (uint32_t)(((uint64_t)rows + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS);
    uint32_t there = weft__directory_lendable(&streams->world->directory, 2 * needed);
    uint32_t end = at_load_rlx(&directory->x_block_end); /* relaxed: idle */
    bool is_alone = streams->world->lent.loads == 0;
    bool can_grow = !room->has_failed && directory->block_limit - end >= 2 * needed;
    if (there < 2 * needed && !is_alone && can_grow && !room->is_out)
        room_ask(streams, 2 * needed - there);
    return there >= needed || is_alone || !can_grow;
}

/* Blocks that were made become the directory's. */
static void room_go_on(weft__streams *streams)
{
    weft__room *room = &streams->room;
    if (!room->is_out || !weft__crew_is_done(&room->job)) return;
    room->is_out = false;
    room->has_failed = room->slab == NULL;
    if (room->slab != NULL) weft__directory_slab_use(&streams->world->directory, room->slab);
    room->slab = NULL;
}

void weft__room_end(weft__streams *streams)
{
    weft__room *room = &streams->room;
    if (!room->is_out) return;
    weft__crew_await(&streams->crew, &room->job);
    weft__directory_slab_free(&streams->world->directory, room->slab);
    room->is_out = false;
}

/* ---- waiting ---- */

uint32_t weft__streams_under_way(const weft__streams *streams)
{
    return streams->world->lent.loads;
}

/* A job that is due. */
static void job_await(weft__streams *streams, const weft__crew_job *job)
{
    if (!weft__crew_is_done(job)) streams->stats.waits++;
    weft__crew_await(&streams->crew, job);
}

static bool has_done_job(const weft__streams *streams)
{
    for (const weft_stream *stream = streams->first; stream != NULL; stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
            const weft__stream_section *s = &stream->sections[i];
            if ((s->load != NULL && weft__crew_is_done(&s->load->job)) ||
                (s->leave != NULL && weft__crew_is_done(&s->leave->job)))
                return true;
        }
    return false;
}

void weft__streams_wait(weft__streams *streams)
{
    while (weft__streams_under_way(streams) != 0) {
        uint32_t seen = weft__crew_ended(&streams->crew);
        if (has_done_job(streams)) return;
        if (!weft__crew_work(&streams->crew, streams->crew.thread_count) && !has_done_job(streams))
            weft__crew_wait(&streams->crew, seen);
    }
}

/* ---- who asks ---- */

static void request_count(weft__streams *streams, const weft_section_request *request)
{
    weft_stream *stream = streams->first;
    while (stream != NULL && stream->number != request->instance) stream = stream->next;
    if (stream == NULL || request->section >= stream->front.header.section_count) return;
    weft__stream_section *s = &stream->sections[request->section];
    float priority = isnan(request->priority) ? 0 : request->priority;
    if (s->requests++ == 0 || priority > s->priority) s->priority = priority;
}

static weft_result requests_count(weft__streams *streams)
{
    weft_world *world = streams->world;
    for (weft_stream *stream = streams->first; stream != NULL; stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            stream->sections[i].requests = 0;
    if (streams->request.id == 0) return WEFT_OK;
    if (streams->requests.id == 0)
        streams->requests =
            weft_query_create(world, &(weft_query_desc){.terms = {{streams->request, WEFT_READ}}});
    if (streams->requests.id == 0) return world->error->code;
    weft_cursor cursor = weft_query_begin(world, streams->requests);
    while (weft_query_next(&cursor)) {
        const weft_section_request *all = WEFT_READ_COLUMN(&cursor.slice, 0, weft_section_request);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++)
            request_count(streams, &all[i]);
    }
    weft_query_end(&cursor);
    return WEFT_OK;
}

static bool others_need_zero(const weft_stream *stream)
{
    for (uint32_t i = 1; i < stream->front.header.section_count; i++) {
        const weft__stream_section *s = &stream->sections[i];
        if (s->asked != 0 || s->load != NULL || s->state == WEFT_SECTION_LOADED) return true;
    }
    return false;
}

static void section_ask(const weft_stream *stream, weft__stream_section *s, bool is_wanted)
{
    uint64_t step = stream->streams->step;
    if (is_wanted && s->asked == 0) s->asked = step;
    if (!is_wanted && s->asked != 0) {
        s->asked = 0;
        s->let_go = step;
        s->result = WEFT_OK;
    }
    if (s->state == WEFT_SECTION_FAILED && s->result == WEFT_OK) s->state = WEFT_SECTION_ABSENT;
    if (s->state == WEFT_SECTION_ABSENT && is_wanted) s->state = WEFT_SECTION_WAITING;
    if (s->state == WEFT_SECTION_WAITING && !is_wanted) s->state = WEFT_SECTION_ABSENT;
}

static void stream_ask(weft_stream *stream)
{
    for (uint32_t i = stream->front.header.section_count; i-- > 0;) {
        weft__stream_section *s = &stream->sections[i];
        if (s->is_wanted && (s->requests == 0 || s->own_priority > s->priority))
            s->priority = s->own_priority;
        bool is_wanted = !stream->is_closing && (s->is_wanted || s->requests != 0);
        if (i == 0 && others_need_zero(stream)) {
            is_wanted = true;
            s->priority = INFINITY;
        }
        section_ask(stream, s, is_wanted);
    }
}

/* ---- what has ended ---- */

/* Floats in the order of their values; none is NaN. */
static uint32_t priority_bits(float priority)
{
    union {
        float f;
        uint32_t u;
    } bits = {.f = priority};
    return (bits.u >> 31) != 0 ? ~bits.u : bits.u | UINT32_C(1) << 31;
}

static void load_failed(stepping *step, weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    s->result = (weft_result)at_load_rlx(&s->load->x_failed); /* relaxed: after SC3 */
    __builtin_memcpy(s->text, s->load->text, sizeof s->text);
    stream->streams->stats.failures++;
    step->result = weft__load_abandon(stream, section);
    step->did++;
}

/* A section that is read, or no longer wanted. */
static void load_go_on(stepping *step, weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__load *load = s->load;
    bool is_lockstep = stream->desc.lockstep != 0, is_due = step->streams->step >= load->due;
    at_store_rlx(&load->job.x_priority, priority_bits(s->priority)); /* relaxed: a wish */
    bool was_cut = s->asked == 0;
    if (is_lockstep && !is_due && !was_cut) return;
    /* in lockstep it is read to the end: how far it came would show in the ids of later entities */
    if (is_lockstep) job_await(step->streams, &load->job);
    if (was_cut) at_store_rlx(&load->job.x_cancelled, 1); /* relaxed: a hint */
    if (!weft__crew_is_done(&load->job)) return;
    was_cut = at_load_rlx(&load->job.x_cancelled) != 0;        /* relaxed: the owner's own */
    if (at_load_rlx(&load->x_failed) != WEFT_OK && !was_cut) { /* relaxed: SC3 */
        load_failed(step, stream, section);
        return;
    }
    if (was_cut) stream->streams->stats.cancelled++;
    step->result =
        was_cut ? weft__load_abandon(stream, section) : weft__load_publish(stream, section);
    step->did++;
}

static void leave_go_on(stepping *step, weft_stream *stream, weft__stream_section *s)
{
    if (stream->desc.lockstep != 0) job_await(step->streams, &s->leave->job);
    if (!weft__crew_is_done(&s->leave->job)) return;
    step->result = weft__leave_end(s->leave);
    if (s->state == WEFT_SECTION_ABSENT && s->asked != 0) s->state = WEFT_SECTION_WAITING;
    step->did++;
}

static void jobs_go_on(stepping *step, weft_stream *stream)
{
    bool is_lockstep = stream->desc.lockstep != 0;
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        if (is_late(step) && !(is_lockstep && step->result == WEFT_OK)) return;
        weft__stream_section *s = &stream->sections[i];
        if (s->leave != NULL) leave_go_on(step, stream, s);
        if (s->load != NULL && step->result == WEFT_OK) load_go_on(step, stream, i);
    }
}

/* ---- leaving ---- */

static bool may_leave(const weft_stream *stream, uint32_t section)
{
    const weft__stream_section *s = &stream->sections[section];
    return s->state == WEFT_SECTION_LOADED && s->asked == 0 &&
           (section != 0 || !others_need_zero(stream));
}

static bool is_due_to_leave(const weft_stream *stream, uint32_t section)
{
    const weft__stream_section *s = &stream->sections[section];
    return stream->is_closing || stream->streams->step >= s->let_go + stream->desc.lockstep;
}

static void section_leave(stepping *step, weft_stream *stream, uint32_t section)
{
    step->result = weft__leave_begin(stream, section);
    step->did++;
}

/* Sections are kept until another one needs their room. */
static bool has_kept(const weft_stream *stream)
{
    return stream->desc.bytes_max != 0 && !stream->is_closing;
}

bool weft__streams_have_leaving(const weft__streams *streams)
{
    for (const weft_stream *stream = streams->first; stream != NULL; stream = stream->next) {
        if (has_kept(stream)) continue;
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            if (may_leave(stream, i)) return true;
    }
    return false;
}

/* Sections that are not kept for later. Section 0 goes last. */
static void sections_leave(stepping *step, weft_stream *stream)
{
    if (has_kept(stream)) return;
    for (uint32_t i = stream->front.header.section_count; i-- > 0;) {
        if (!may_leave(stream, i) || !is_due_to_leave(stream, i)) continue;
        if (is_late(step) && !(stream->desc.lockstep != 0 && step->result == WEFT_OK)) return;
        section_leave(step, stream, i);
    }
}

/* Takes out the section that was let go first, to make room. False: there is none. */
static bool oldest_leave(stepping *step, weft_stream *stream)
{
    uint32_t oldest = UINT32_MAX;
    for (uint32_t i = 0; i < stream->front.header.section_count; i++)
        if (may_leave(stream, i) &&
            (oldest == UINT32_MAX || stream->sections[i].let_go < stream->sections[oldest].let_go))
            oldest = i;
    if (oldest == UINT32_MAX) return false;
    section_leave(step, stream, oldest);
    return true;
}

/* ---- beginning ---- */

/* Memory of sections of a stream that are there, read, or about to be given back. */
static uint64_t bytes_of(const weft_stream *stream)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        const weft__stream_section *s = &stream->sections[i];
        if (s->load != NULL || s->state == WEFT_SECTION_LOADED) bytes += s->bytes;
    }
    return bytes;
}

static bool make_room(stepping *step, weft_stream *stream, uint64_t bytes)
{
    if (stream->desc.bytes_max == 0) return true;
    while (bytes_of(stream) + bytes > stream->desc.bytes_max)
        if (step->result != WEFT_OK || !oldest_leave(step, stream)) return false;
    return step->result == WEFT_OK;
}

/* The most urgent section that can be begun; UINT32_MAX: none. */
static uint32_t next_to_begin(const weft_stream *stream)
{
    uint32_t best = UINT32_MAX;
    bool has_zero = stream->sections[0].state == WEFT_SECTION_LOADED;
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        const weft__stream_section *s = &stream->sections[i];
        if (s->state != WEFT_SECTION_WAITING || (i != 0 && !has_zero)) continue;
        if (best == UINT32_MAX || s->priority > stream->sections[best].priority) best = i;
    }
    return best;
}

/* Sections that are read at once, beside one per thread: so that none waits for the owner. */
#define AHEAD 2u

static void sections_begin(stepping *step, weft_stream *stream)
{
    weft__streams *streams = step->streams;
    bool is_lockstep = stream->desc.lockstep != 0;
    for (;;) {
        if (is_late(step) && !(is_lockstep && step->result == WEFT_OK)) return;
        uint32_t next = next_to_begin(stream);
        if (next == UINT32_MAX) return;
        if (!is_lockstep && weft__streams_under_way(streams) >= streams->crew.thread_count + AHEAD)
            return;
        if (!is_lockstep && !room_has(streams, weft__section_of(stream, next)->rows)) return;
        weft__stream_section *s = &stream->sections[next];
        if (!make_room(step, stream, s->bytes)) return;
        uint64_t due = next == 0 ? streams->step : s->asked + stream->desc.lockstep;
        step->result = weft__load_begin(stream, next, due);
        if (step->result != WEFT_OK) return;
        at_store_rlx(&s->load->job.x_priority, priority_bits(s->priority)); /* relaxed: a wish */
        step->did++;
        if (is_lockstep && next == 0) load_go_on(step, stream, 0); /* comes at once */
    }
}

weft_result weft__streams_go_on(weft__streams *streams, uint64_t deadline, uint32_t *did)
{
    stepping step = {.streams = streams, .deadline = deadline};
    room_go_on(streams);
    step.result = requests_count(streams);
    for (weft_stream *stream = streams->first; stream != NULL && step.result == WEFT_OK;
         stream = stream->next) {
        stream_ask(stream);
        jobs_go_on(&step, stream);
        if (step.result == WEFT_OK) sections_leave(&step, stream);
        if (step.result == WEFT_OK) sections_begin(&step, stream);
    }
    if (did != NULL) *did = step.did;
    return step.result;
}
