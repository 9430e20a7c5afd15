/* SPDX-License-Identifier: MIT */
/* stream.c: the public functions of streams, and the streams of a world as a part that lives and
 * dies with it. Owner.
 *
 * One step of the streams of a world: who asks for what, what has ended, what is published,
 * taken out, begun. In this order, so that room is free before it is needed. Under lockstep what
 * is due is waited for, and nothing else is done early. */
#include "sized.h"
#include "stream_load.h"
#include "version_renewal.h"

#include <math.h>
#include <string.h>
#include <weft/query.h>

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

/* No entity blocks are made ahead any more. */
static void room_end(weft__streams *streams)
{
    weft__room *room = &streams->room;
    if (!room->is_out) return;
    weft__crew_await(&streams->crew, &room->job);
    weft__directory_slab_free(&streams->world->directory, room->slab);
    room->is_out = false;
}

/* ---- waiting ---- */

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

/* Waits until the crew has ended at least one job more, or has none. */
static void streams_wait(weft__streams *streams)
{
    while (streams->world->lent.loads != 0) {
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

/* Whether a section leaves when it is due: under lockstep, by further steps. */
static bool streams_have_leaving(const weft__streams *streams)
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
        if (!is_lockstep && streams->world->lent.loads >= streams->crew.thread_count + AHEAD)
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

/* Goes on until `deadline` (clock of the world's operating system; 0: no bound). *did: how many
 * sections came, left, were begun or ended. Errors set. */
static weft_result streams_go_on(weft__streams *streams, uint64_t deadline, uint32_t *did)
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

/* ---- streams of a world ---- */

static void stream_free(weft_stream *stream)
{
    for (uint32_t i = 0; i < stream->front.header.section_count && stream->sections != NULL; i++)
        weft__pile_free(&stream->sections[i].loaded.pile);
    if (stream->front.is_open) weft__file_close(&stream->front.file);
    weft__pile pile = stream->front.pile; /* `stream` is in it */
    weft__pile_free(&pile);
}

/* No stream is open: each holds the world. */
static void streams_destroy(void *data)
{
    weft__streams *streams = data;
    room_end(streams);
    if (streams->has_crew) weft__crew_fini(&streams->crew);
    weft__free(&streams->world->memory, WEFT__MEMORY_OTHER, streams, 1, sizeof *streams, 16);
}

static void shared_visit(const void *data,
                         void (*visit)(void *user, uint32_t component, uint32_t index), void *user)
{
    const weft__streams *streams = data;
    for (const weft_stream *stream = streams->first; stream != NULL; stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            if (stream->sections[i].index != 0)
                visit(user, streams->section.id, stream->sections[i].index);
}

/* What came is known by the order versions of its chunks. */
static void streams_renew(void *data, struct weft__renewal *renewal)
{
    const weft__streams *streams = data;
    const weft__chunk_table *chunks = &streams->world->chunks;
    for (const weft_stream *stream = streams->first; stream != NULL && renewal->is_put;
         stream = stream->next)
        for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
            const weft__loaded *loaded = &stream->sections[i].loaded;
            for (uint32_t c = 0; c < loaded->chunk_count; c++) {
                weft__loaded_chunk *known = &loaded->chunks[c];
                const weft__chunk *chunk = known->id < chunks->end ? chunks->at[known->id] : NULL;
                bool is_same = chunk != NULL && chunk->serial == known->serial &&
                               chunk->order_version == known->version;
                known->version = is_same ? weft__renewed(renewal, known->version) : 0;
            }
        }
}

/* Those of the world, made when there are none; NULL: error set. */
static weft__streams *streams_obtain(weft_world *world)
{
    weft__streams *streams = weft__streams_of(world);
    if (streams != NULL) return streams;
    streams = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_OTHER, 1, sizeof *streams, 16);
    if (streams == NULL) return weft__error_memory(world, "weft_stream_open"), NULL;
    streams->world = world;
    streams->section = weft_component_section(world);
    streams->request =
        streams->section.id == 0 ? streams->section : weft_component_section_request(world);
    if (streams->request.id == 0) {
        weft__free(&world->memory, WEFT__MEMORY_OTHER, streams, 1, sizeof *streams, 16);
        return NULL;
    }
    world->front.extensions[WEFT__EXTENSION_STREAMS] =
        (weft__extension){.data = streams,
                          .destroy = streams_destroy,
                          .shared_visit = shared_visit,
                          .renew = streams_renew};
    return streams;
}

static weft_result crew_obtain(weft__streams *streams, uint32_t threads)
{
    if (streams->has_crew) return WEFT_OK;
    weft_result result = weft__crew_init(&streams->crew, streams->world->desc.os, threads);
    streams->has_crew = result == WEFT_OK;
    return result == WEFT_OK
               ? WEFT_OK
               : weft__error(streams->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                             "weft_stream_open: no thread could be started: allow "
                             "one more");
}

/* ---- opening and closing ---- */

static weft_result open_check(weft_world *world, const char *path, const weft_stream_desc *desc,
                              weft_stream *const *out)
{
    static const char what[] = "weft_stream_open";
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (path == NULL || out == NULL || (desc->blob_types == NULL && desc->blob_type_count != 0))
        return weft__error_argument(world, what,
                                    "path or out is NULL, or desc->blob_types is NULL but its "
                                    "count is not 0: set them");
    if (desc->threads > WEFT__CREW_MOST)
        return weft__error_argument(world, what, "desc->threads is above 16: give 0 to 16");
    return WEFT_OK;
}

static weft_result stream_fill(weft_stream *stream, const char *path, const weft_stream_desc *desc)
{
    weft_world *world = stream->world;
    weft__pile *pile = &stream->front.pile;
    stream->desc = *desc;
    stream->front.world = world;
    stream->path = weft__pile_text(pile, path, strlen(path));
    stream->blob_types = weft__pile_take(pile, desc->blob_type_count, sizeof *stream->blob_types);
    if (pile->is_refused) return weft__error_memory(world, "weft_stream_open");
    for (uint32_t i = 0; i < desc->blob_type_count; i++)
        stream->blob_types[i] = desc->blob_types[i];
    weft_result result = weft__front_open(&stream->front, stream->path);
    if (result != WEFT_OK) return result;
    uint32_t count = stream->front.header.section_count;
    stream->sections = weft__pile_take(pile, count, sizeof *stream->sections);
    if (stream->sections == NULL) return weft__error_memory(world, "weft_stream_open");
    for (uint32_t i = 0; i < count; i++)
        stream->sections[i].bytes = weft__section_memory(stream, i);
    return WEFT_OK;
}

weft_result weft_stream_open(weft_world *world, const char *path, const weft_stream_desc *desc,
                             weft_stream **out)
{
    static const weft_stream_desc defaults;
    if (out != NULL) *out = NULL;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &defaults;
    weft_result result = open_check(world, path, desc, out);
    if (result != WEFT_OK) return result;
    weft__streams *streams = streams_obtain(world);
    if (streams == NULL) return world->error->code;
    weft__pile pile = weft__stream_pile(world);
    weft_stream *stream = weft__pile_take(&pile, 1, sizeof *stream);
    if (stream == NULL) return weft__error_memory(world, "weft_stream_open");
    stream->front.pile = pile;
    stream->world = world;
    stream->streams = streams;
    result = stream_fill(stream, path, desc);
    if (result == WEFT_OK) result = crew_obtain(streams, desc->threads == 0 ? 1 : desc->threads);
    if (result != WEFT_OK) {
        stream_free(stream);
        return result;
    }
    stream->number = ++streams->last_number;
    weft_stream **end = &streams->first;
    while (*end != NULL) end = &(*end)->next;
    *end = stream;
    *out = stream;
    weft__hold(world, WEFT__HOLDER_STREAMS, 1);
    return WEFT_OK;
}

static bool has_any(const weft_stream *stream)
{
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        weft_section_state state = stream->sections[i].state;
        if (state == WEFT_SECTION_READING || state == WEFT_SECTION_LOADED ||
            state == WEFT_SECTION_LEAVING)
            return true;
    }
    return false;
}

void weft_stream_close(weft_stream *stream)
{
    if (stream == NULL || weft__idle(stream->world, "weft_stream_close") != WEFT_OK) return;
    weft__streams *streams = stream->streams;
    stream->is_closing = true;
    while (has_any(stream)) {
        uint32_t did = 0;
        weft_result result = streams_go_on(streams, 0, &did);
        if (result != WEFT_OK && did == 0 && streams->world->lent.loads == 0) break;
        if (did == 0) streams_wait(streams);
    }
    weft_stream **link = &streams->first;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    weft__hold(stream->world, WEFT__HOLDER_STREAMS, -1);
    stream_free(stream);
}

/* ---- requests ---- */

uint32_t weft_stream_number(const weft_stream *stream)
{
    return stream == NULL ? 0 : stream->number;
}

uint32_t weft_stream_list(const weft_world *world, weft_stream **out, uint32_t capacity)
{
    const weft__streams *streams = weft__streams_of(world);
    uint32_t count = 0;
    for (weft_stream *s = streams == NULL ? NULL : streams->first; s != NULL; s = s->next, count++)
        if (out != NULL && count < capacity) out[count] = s;
    return count;
}

uint32_t weft_stream_section_count(const weft_stream *stream)
{
    return stream == NULL ? 0 : stream->front.header.section_count;
}

static weft_result refuse_systems(const weft_stream *stream, const char *what)
{
    return weft__refuse_systems(stream->world, what,
                                "set the component SectionRequest, or do it between steps");
}

static weft_result section_check(const weft_stream *stream, uint32_t section, const char *what)
{
    if (stream == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = refuse_systems(stream, what);
    if (result != WEFT_OK) return result;
    if (section < stream->front.header.section_count) return WEFT_OK;
    return weft__error(stream->world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: section %u of %s, which has %u", what, section, stream->path,
                       stream->front.header.section_count);
}

weft_result weft_stream_load(weft_stream *stream, uint32_t section, float priority)
{
    weft_result result = section_check(stream, section, "weft_stream_load");
    if (result != WEFT_OK) return result;
    if (isnan(priority))
        return weft__error_argument(stream->world, "weft_stream_load",
                                    "the priority is no number: give 0 when it does not matter");
    weft__stream_section *s = &stream->sections[section];
    s->is_wanted = true;
    s->own_priority = priority;
    /* tries again; without section 0 no other one comes */
    if (s->state == WEFT_SECTION_FAILED) s->result = WEFT_OK;
    if (stream->sections[0].state == WEFT_SECTION_FAILED) stream->sections[0].result = WEFT_OK;
    return WEFT_OK;
}

weft_result weft_stream_unload(weft_stream *stream, uint32_t section)
{
    weft_result result = section_check(stream, section, "weft_stream_unload");
    if (result == WEFT_OK) stream->sections[section].is_wanted = false;
    return result;
}

/* Distance of a point from the bounds of a section, squared. */
static float distance_squared(const weft__front_section *section, const float at[3])
{
    float sum = 0;
    for (int k = 0; k < 3 && section->has_bounds; k++) {
        float out = at[k] < section->least[k]  ? section->least[k] - at[k]
                    : at[k] > section->most[k] ? at[k] - section->most[k]
                                               : 0;
        sum += out * out;
    }
    return sum;
}

weft_result weft_stream_near(weft_stream *stream, const float at[3], float load, float unload)
{
    if (stream == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = refuse_systems(stream, "weft_stream_near");
    if (result != WEFT_OK) return result;
    if (at == NULL || !(load >= 0) || !(unload >= load))
        return weft__error_argument(stream->world, "weft_stream_near",
                                    "at is NULL, or not 0 <= load <= unload: set them");
    if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
        return weft__error_argument(stream->world, "weft_stream_near",
                                    "the place is not finite: find what made it so, or leave the "
                                    "sections as they are");
    for (uint32_t i = 0; i < stream->front.header.section_count; i++) {
        bool comes_with_others = i == 0 && !weft__section_of(stream, i)->has_bounds;
        if (comes_with_others && stream->front.header.section_count > 1) continue;
        float distance = distance_squared(weft__section_of(stream, i), at);
        weft__stream_section *s = &stream->sections[i];
        if (distance < load * load && s->state != WEFT_SECTION_FAILED) {
            s->is_wanted = true;
            s->own_priority = -distance;
        } else if (distance > unload * unload) {
            s->is_wanted = false;
        } else if (s->is_wanted) {
            s->own_priority = -distance;
        }
    }
    return WEFT_OK;
}

weft_result weft_stream_step(weft_world *world, uint64_t budget_ns)
{
    weft_result result = weft__idle(world, "weft_stream_step");
    weft__streams *streams = weft__streams_of(world);
    if (result != WEFT_OK || streams == NULL) return result;
    const weft_os *os = world->desc.os;
    uint64_t begin = os->clock_ns(os->user);
    streams->step++;
    result = streams_go_on(streams, budget_ns == 0 ? 0 : begin + budget_ns, NULL);
    uint64_t took = os->clock_ns(os->user) - begin;
    streams->stats.step_ns = took;
    if (took > streams->stats.step_ns_max) streams->stats.step_ns_max = took;
    return result;
}

weft_result weft_stream_wait(weft_world *world)
{
    weft_result result = weft__idle(world, "weft_stream_wait");
    weft__streams *streams = weft__streams_of(world);
    while (result == WEFT_OK && streams != NULL) {
        uint32_t did = 0;
        streams->step++;
        result = streams_go_on(streams, 0, &did);
        if (did != 0 || streams_have_leaving(streams)) continue;
        if (streams->world->lent.loads == 0) break;
        streams_wait(streams);
    }
    return result;
}

/* ---- questions ---- */

weft_result weft_stream_section_get(const weft_stream *stream, uint32_t section,
                                    weft_section_info *out, size_t out_bytes)
{
    weft_result result = section_check(stream, section, "weft_stream_section_get");
    if (result != WEFT_OK || out == NULL) return out == NULL ? WEFT_INVALID_ARGUMENT : result;
    const weft__front_section *known = weft__section_of(stream, section);
    const weft__stream_section *s = &stream->sections[section];
    weft_section_info info = {.state = s->state,
                              .result = s->result,
                              .is_asked_for = s->asked != 0,
                              .has_bounds = known->has_bounds,
                              .rows = known->rows,
                              .chunks = known->piece_count,
                              .bytes = known->bytes,
                              .path = stream->path};
    memcpy(info.least, known->least, sizeof info.least);
    memcpy(info.most, known->most, sizeof info.most);
    if (s->state == WEFT_SECTION_WAITING && stream->sections[0].state == WEFT_SECTION_FAILED) {
        s = &stream->sections[0]; /* why it waits */
        info.result = s->result;
    }
    if (s->result != WEFT_OK) memcpy(info.text, s->text, sizeof info.text);
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

void weft_stream_stats_get(weft_world *world, weft_stream_stats *out, size_t out_bytes)
{
    if (out == NULL) return;
    weft_stream_stats stats = {0};
    weft__streams *streams = weft__streams_of(world);
    if (streams != NULL) {
        stats = streams->stats;
        stats.bytes = streams->bytes;
        stats.under_way = streams->world->lent.loads;
        streams->stats.step_ns_max = 0;
    }
    for (weft_stream *stream = streams == NULL ? NULL : streams->first; stream != NULL;
         stream = stream->next) {
        stats.streams++;
        stats.late_references += weft__lates_waiting(stream);
        for (uint32_t i = 0; i < stream->front.header.section_count; i++)
            stats.waiting += stream->sections[i].state == WEFT_SECTION_WAITING;
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}

void *weft_stream_column(const weft_stream_rows *rows, weft_component component)
{
    if (rows == NULL) return NULL;
    const weft__chunk *chunk = rows->chunk;
    const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, component.id);
    if (component.id == 0 || slot == NULL || slot->column == 0) return NULL;
    return weft__chunk_column(chunk, slot->column);
}
