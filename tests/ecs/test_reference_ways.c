/* SPDX-License-Identifier: MIT */
/* test_reference_ways.c: which references are replaced where: the table of docs/guide/commands.md
 * ("References in values"), cell by cell. A host has one value that refers to a target; each way
 * brings host and target somewhere, and says what the value of the host refers to there. */
#include "fold_rows.h"
#include "plain.h"

#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/type.h>
#include <weft/weft.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ORDINARY, SHARED, CHUNK, SPARSE, BUFFER, KINDS };

/* What becomes of the reference. */
typedef enum verdict {
    NONE,     /* there is no such value */
    FOLLOWED, /* it leads to the target there */
    NULLED,   /* it is null */
    KEPT,     /* the same handle as before */
    REFUSED,  /* the call says so */
} verdict;

typedef struct value {
    uint32_t number; /* the reference is not aligned to 8 */
    weft_entity to;
} value;

/* A world with one component of each kind. Owner: a test. */
typedef struct side {
    weft_world *world;
    weft_component of[KINDS], tag;
    weft_query chunks;
} side;

static void side_open(side *s, uint32_t entity_tag)
{
    static const uint32_t flags[KINDS] = {0, WEFT_SHARED, WEFT_CHUNK, WEFT_SPARSE, WEFT_BUFFER};
    static const char *const names[KINDS] = {"Ordinary", "Shared", "Chunk", "Sparse", "Buffer"};
    static const weft_field fields[] = {WEFT_FIELD(value, number), WEFT_FIELD(value, to)};
    weft_world_desc desc = {.workers = 1, .entity_tag = entity_tag};
    CHECK_OK(weft_world_create(&desc, &s->world));
    for (uint32_t k = 0; k < KINDS; k++)
        s->of[k] = weft_component_create(s->world, &(weft_component_desc){.name = names[k],
                                                                          .size = sizeof(value),
                                                                          .alignment = 4,
                                                                          .flags = flags[k],
                                                                          .fields = fields,
                                                                          .field_count = 2});
    s->tag = WEFT_TAG(s->world, host);
    s->chunks = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->of[CHUNK], WEFT_WRITE, WEFT_ALL, 0}}});
    CHECK(s->chunks.id != 0);
}

static weft_entity bare(const side *s)
{
    return weft_entity_create(s->world, weft_archetype_create(s->world, NULL, 0));
}

/* The chunk value of the one chunk that has some. */
static value *chunk_value(const side *s)
{
    weft_cursor cursor = weft_query_begin(s->world, s->chunks);
    value *found = weft_query_next(&cursor) ? weft_slice_write_chunk(&cursor.slice, 0) : NULL;
    weft_query_end(&cursor);
    return found;
}

static void give(const side *s, uint32_t kind, weft_entity host, weft_entity target)
{
    value v = {7, target};
    if (kind == ORDINARY || kind == SPARSE) {
        CHECK_OK(weft_entity_set(s->world, host, s->of[kind], &v, sizeof v));
        return;
    }
    CHECK_OK(weft_entity_add(s->world, host, s->of[kind]));
    if (kind == SHARED) CHECK_OK(weft_entity_set_shared(s->world, host, s->of[kind], &v));
    if (kind == CHUNK) *chunk_value(s) = v;
    if (kind != BUFFER) return;
    weft_buffers buffers = weft_entity_write_buffer(s->world, host, s->of[kind]);
    CHECK_OK(weft_buffers_append(&buffers, 0, &v, 1));
}

/* The value of the host; zero: it has none. */
static value get(const side *s, uint32_t kind, weft_entity host)
{
    const void *at;
    if (kind == SHARED)
        at = weft_entity_read_shared(s->world, host, s->of[kind]);
    else if (kind == CHUNK)
        at = weft_entity_has(s->world, host, s->of[kind]) ? chunk_value(s) : NULL;
    else
        at = weft_entity_read(s->world, host, s->of[kind]);
    if (kind == BUFFER && at != NULL)
        at = ((const weft_buffer *)at)->count == 0 ? NULL : weft_buffer_read(at);
    value v = {0};
    if (at != NULL) memcpy(&v, at, sizeof v);
    return v;
}

static verdict judge(value v, weft_entity before, weft_entity target)
{
    if (v.number != 7) return NONE;
    if (v.to.version == 0 && v.to.index == 0) return NULLED;
    if (weft_entity_equal(v.to, target)) return FOLLOWED;
    CHECK(weft_entity_equal(v.to, before));
    return KEPT;
}

/* ---- commands ---- */

static weft_result record(const side *s, weft_recorder *r, uint32_t kind, weft_entity host,
                          weft_entity target)
{
    value v = {7, target};
    if (kind == CHUNK) return WEFT_TYPE_MISMATCH; /* no command sets one */
    if (kind == BUFFER) return weft_recorder_append(r, host, s->of[kind], &v, 1);
    if (kind == SHARED) return weft_recorder_set_shared(r, host, s->of[kind], &v);
    return weft_recorder_set(r, host, s->of[kind], &v, sizeof v);
}

/* A value of a command refers to an entity that another one makes: a created one, or a copy. The
 * commands are fewer than a fold has, or more. */
static verdict by_command(uint32_t kind, bool is_copy, bool is_folded)
{
    side s;
    side_open(&s, 0);
    weft_entity host = bare(&s), source = bare(&s);
    CHECK_OK(weft_entity_set_name(s.world, source, "source"));
    weft_recorder *r;
    CHECK_OK(weft_recorder_create(s.world, &r));
    weft_archetype none = weft_archetype_create(s.world, NULL, 0);
    weft_entity made =
        is_copy ? weft_recorder_instantiate(r, source) : weft_recorder_create_entity(r, none);
    weft_result recorded = record(&s, r, kind, host, made);
    CHECK_OK(weft_recorder_add(r, made, s.tag));
    for (uint32_t i = 0; i < WEFT__FOLD_LEAST && is_folded; i++)
        CHECK_OK(weft_recorder_add(r, source, s.tag));
    CHECK_OK(weft_recorder_remove(r, source, s.tag));
    CHECK_OK(weft_recorder_play(r));
    weft_query tagged =
        weft_query_create(s.world, &(weft_query_desc){.terms = {{s.tag, WEFT_NO_ACCESS, 0, 0}}});
    verdict is = recorded != WEFT_OK
                     ? NONE
                     : judge(get(&s, kind, host), made, weft_query_single(s.world, tagged));
    weft_recorder_destroy(r);
    CHECK_OK(weft_world_destroy(s.world));
    return is;
}

/* Rows made in place refer to an entity that a command makes, or to rows of their own recorder. */
static verdict by_rows(uint32_t kind, bool is_copy, bool is_own)
{
    side s;
    side_open(&s, 0);
    weft_entity source = bare(&s);
    weft_recorder *r;
    CHECK_OK(weft_recorder_create(s.world, &r));
    weft_slice rows, others;
    weft_archetype tags = WEFT_ARCHETYPE(s.world, s.tag);
    CHECK_OK(weft_recorder_create_rows(r, tags, 1, &others));
    weft_entity made = is_own    ? weft_recorder_row_entity(r, &others, 0)
                       : is_copy ? weft_recorder_instantiate(r, source)
                                 : weft_recorder_create_entity(r, tags);
    if (!is_own) CHECK_OK(weft_recorder_add(r, made, s.tag));
    value v = {7, made};
    weft_archetype archetype = WEFT_ARCHETYPE(s.world, s.of[kind]);
    if (archetype.id == 0) { /* SPARSE */
        weft_recorder_destroy(r);
        CHECK_OK(weft_world_destroy(s.world));
        return NONE;
    }
    weft_rows_desc desc = {.archetype = archetype,
                           .count = 1,
                           .shared = &(weft_values){s.of[SHARED], &v},
                           .shared_count = kind == SHARED};
    weft_result result = weft_recorder_create_rows_with(r, &desc, &rows);
    if (result == WEFT_OK && kind == ORDINARY) *(value *)rows.columns[0] = v;
    if (result == WEFT_OK && kind == BUFFER) {
        weft_buffers buffers = weft_slice_write_buffers(&rows, 0);
        CHECK_OK(weft_buffers_append(&buffers, 0, &v, 1));
    }
    weft_result played = weft_recorder_play(r);
    CHECK_RESULT(played, result);
    weft_query with = weft_query_create(
        s.world, &(weft_query_desc){.terms = {{s.of[kind], WEFT_NO_ACCESS, WEFT_ALL, 0}}});
    weft_query tagged =
        weft_query_create(s.world, &(weft_query_desc){.terms = {{s.tag, WEFT_NO_ACCESS, 0, 0}}});
    weft_entity targets[2], host = {0, 0}; /* refused: none */
    weft_query_entities(s.world, with, &host, 1);
    CHECK_U64(weft_query_entities(s.world, tagged, targets, 2), is_own ? 1 : 2);
    verdict is =
        result != WEFT_OK ? REFUSED : judge(get(&s, kind, host), targets[0], targets[!is_own]);
    if (is == KEPT) is = FOLLOWED; /* one of both */
    weft_recorder_destroy(r);
    CHECK_OK(weft_world_destroy(s.world));
    return is;
}

/* The second block of ids is lent to recorders outside of steps, the first one has room for one. */
static void crowd(const side *s)
{
    weft_archetype none = weft_archetype_create(s->world, NULL, 0);
    weft_recorder *r;
    weft_slice rows;
    CHECK_OK(weft_recorder_create(s->world, &r));
    CHECK_OK(weft_recorder_create_rows_unordered(r, none, 1, &rows));
    weft_recorder_destroy(r);
    weft_world_stats stats;
    weft_world_stats_get(s->world, &stats, sizeof stats);
    static weft_entity many[WEFT__BLOCK_SLOTS];
    const uint32_t count = WEFT__BLOCK_SLOTS - 1 - (uint32_t)stats.entities;
    CHECK_OK(weft_entity_create_many(s->world, none, count, many));
}

static verdict by_copy(uint32_t kind, bool is_command, bool is_crowded)
{
    side s;
    side_open(&s, 0);
    weft_entity host = bare(&s), target = bare(&s), group[2] = {host, target}, copy = {0};
    CHECK_OK(weft_entity_add(s.world, host, weft_component_linked_group(s.world)));
    weft_buffers buffers =
        weft_entity_write_buffer(s.world, host, weft_component_linked_group(s.world));
    CHECK_OK(weft_buffers_append(&buffers, 0, group, 2));
    give(&s, kind, host, target);
    if (is_crowded) crowd(&s);
    if (is_command) {
        weft_recorder *r;
        CHECK_OK(weft_recorder_create(s.world, &r));
        CHECK_OK(weft_recorder_add(r, weft_recorder_instantiate(r, host), s.tag));
        CHECK_OK(weft_recorder_play(r));
        weft_recorder_destroy(r);
        weft_query tagged = weft_query_create(
            s.world, &(weft_query_desc){.terms = {{s.tag, WEFT_NO_ACCESS, 0, 0}}});
        copy = weft_query_single(s.world, tagged);
    } else {
        CHECK_OK(weft_entity_instantiate(s.world, host, 1, &copy));
    }
    const weft_buffer *copies =
        weft_entity_read(s.world, copy, weft_component_linked_group(s.world));
    CHECK_U64(copies->count, 2);
    weft_entity there = ((const weft_entity *)weft_buffer_read(copies))[1];
    CHECK(weft_entity_equal(get(&s, kind, host).to, target)); /* the original is as it was */
    /* the copy joins the chunk, whose value stays: it has none of its own */
    verdict is = kind == CHUNK ? NONE : judge(get(&s, kind, copy), target, there);
    CHECK_OK(weft_world_validate(s.world));
    CHECK_OK(weft_world_destroy(s.world));
    return is;
}

/* ---- other worlds ---- */

/* The target moves with the host, or stays. */
static verdict by_transfer(uint32_t kind, bool is_alone, bool is_crowded)
{
    side from, to;
    side_open(&from, 1);
    side_open(&to, 2);
    for (uint32_t i = 0; i < 5; i++) bare(&to); /* handles differ */
    for (uint32_t i = 0; i < 200; i++) give(&to, ORDINARY, bare(&to), bare(&to));
    weft_entity holes[3] = {bare(&to), bare(&to), bare(&to)};
    CHECK_OK(weft_entity_destroy(to.world, holes[1]));
    if (is_crowded) crowd(&to);
    weft_entity tracked[2] = {bare(&from), bare(&from)}, target = tracked[1];
    CHECK_OK(weft_entity_add(from.world, tracked[0], from.tag));
    give(&from, kind, tracked[0], target);
    weft_query only = weft_query_create(
        from.world, &(weft_query_desc){.terms = {{from.tag, WEFT_NO_ACCESS, 0, 0}}});
    weft_transfer_desc desc = {
        .query = is_alone ? only : (weft_query){0}, .tracked = tracked, .tracked_count = 2};
    weft_transfer_report report;
    CHECK_OK(weft_world_transfer(to.world, from.world, &desc, &report, sizeof report));
    CHECK_U64(report.references_cleared, is_alone);
    verdict is = judge(get(&to, kind, tracked[0]), target, tracked[1]);
    CHECK_OK(weft_world_validate(to.world));
    CHECK_OK(weft_world_destroy(to.world));
    CHECK_OK(weft_world_destroy(from.world));
    return is;
}

static verdict by_file(uint32_t kind)
{
    side from, to;
    side_open(&from, 1);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = 2}, &to.world));
    weft_entity host = bare(&from), target = bare(&from);
    give(&from, kind, host, target);
    CHECK_OK(weft_entity_set_name(from.world, host, "host"));
    CHECK_OK(weft_entity_set_name(from.world, target, "target"));
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(from.world, &bytes, NULL));
    CHECK_OK(weft_world_load_memory(to.world, bytes.bytes, bytes.count, NULL));
    weft_world_bytes_free(from.world, &bytes);
    for (uint32_t k = 0; k < KINDS; k++)
        to.of[k] = weft_component_find(to.world, weft_component_info(from.world, from.of[k])->name);
    if (kind == CHUNK)
        to.chunks = weft_query_create(
            to.world, &(weft_query_desc){.terms = {{to.of[CHUNK], WEFT_WRITE, WEFT_ALL, 0}}});
    verdict is = judge(get(&to, kind, weft_entity_find(to.world, "host")), target,
                       weft_entity_find(to.world, "target"));
    CHECK_OK(weft_world_destroy(to.world));
    CHECK_OK(weft_world_destroy(from.world));
    return is;
}

static verdict by_section(uint32_t kind)
{
    side from, to;
    side_open(&from, 1);
    side_open(&to, 2);
    const char *path = "references.wss";
    weft_entity host = bare(&from), target = bare(&from);
    CHECK_OK(weft_entity_set_name(from.world, host, "host"));
    CHECK_OK(weft_entity_set_name(from.world, target, "target"));
    weft_component section = weft_component_section(from.world);
    weft_section one = {.section = 1};
    CHECK_OK(weft_entity_set_shared(from.world, host, section, &one));
    CHECK_OK(weft_entity_set_shared(from.world, target, section, &one));
    give(&from, kind, host, target);
    weft_result saved =
        weft_sections_save(from.world, path, &(weft_sections_desc){.with_names = true});
    verdict is = REFUSED;
    if (saved == WEFT_OK) {
        weft_stream *stream;
        CHECK_OK(weft_stream_open(to.world, path, NULL, &stream));
        CHECK_OK(weft_stream_load(stream, 1, 0));
        CHECK_OK(weft_stream_wait(to.world));
        is = judge(get(&to, kind, weft_entity_find(to.world, "host")), target,
                   weft_entity_find(to.world, "target"));
        weft_stream_close(stream);
        unlink(path);
    } else {
        CHECK_RESULT(saved, WEFT_UNSUPPORTED);
    }
    CHECK_OK(weft_world_destroy(to.world));
    CHECK_OK(weft_world_destroy(from.world));
    return is;
}

/* References to the dead, by weft_world_clear_references. */
static verdict by_clearing(uint32_t kind)
{
    side s;
    side_open(&s, 0);
    weft_entity host = bare(&s), target = bare(&s);
    give(&s, kind, host, target);
    CHECK_OK(weft_entity_destroy(s.world, target));
    CHECK_OK(weft_world_clear_references(s.world, NULL));
    verdict is = judge(get(&s, kind, host), target, (weft_entity){0});
    CHECK_OK(weft_world_destroy(s.world));
    return is;
}

static const char *const verdict_names[] = {"none", "followed", "null", "kept", "refused"};

static void check(const char *way, uint32_t kind, verdict is, verdict expected)
{
    static const char *const names[KINDS] = {"ordinary", "SHARED", "CHUNK", "SPARSE", "BUFFER"};
    if (is == expected) return;
    fprintf(stderr, "%s, %s: %s, not %s\n", way, names[kind], verdict_names[is],
            verdict_names[expected]);
    test_fail(__FILE__, __LINE__, "the table is not true");
}

PLAIN_TEST(references_in_values_follow_as_the_table_says)
{
    /* ordinary, SHARED, CHUNK, SPARSE, BUFFER */
    static const verdict command[] = {FOLLOWED, FOLLOWED, NONE, FOLLOWED, FOLLOWED};
    static const verdict rows[] = {FOLLOWED, FOLLOWED, NONE, NONE, FOLLOWED};
    static const verdict rows_own[] = {FOLLOWED, REFUSED, NONE, NONE, FOLLOWED};
    static const verdict copy[] = {FOLLOWED, FOLLOWED, NONE, FOLLOWED, FOLLOWED};
    static const verdict moved[] = {FOLLOWED, FOLLOWED, FOLLOWED, FOLLOWED, FOLLOWED};
    static const verdict alone[] = {NULLED, NULLED, NULLED, NULLED, NULLED};
    static const verdict file[] = {FOLLOWED, FOLLOWED, FOLLOWED, FOLLOWED, FOLLOWED};
    static const verdict section[] = {FOLLOWED, REFUSED, FOLLOWED, REFUSED, FOLLOWED};
    static const verdict cleared[] = {NULLED, KEPT, NULLED, NULLED, NULLED};
    for (uint32_t k = 0; k < KINDS; k++) {
        for (uint32_t i = 0; i < 4; i++)
            check("command", k, by_command(k, i % 2 != 0, i / 2 != 0), command[k]);
        check("rows", k, by_rows(k, false, false), rows[k]);
        check("rows that refer to a copy", k, by_rows(k, true, false), rows[k]);
        check("rows that refer to rows", k, by_rows(k, false, true), rows_own[k]);
        for (uint32_t is_crowded = 0; is_crowded < 2; is_crowded++) {
            check("copy", k, by_copy(k, false, is_crowded), copy[k]);
            check("copy by command", k, by_copy(k, true, is_crowded), copy[k]);
            check("transfer", k, by_transfer(k, false, is_crowded), moved[k]);
            check("transfer without the target", k, by_transfer(k, true, is_crowded), alone[k]);
        }
        check("world file", k, by_file(k), file[k]);
        check("section", k, by_section(k), section[k]);
        check("clearing", k, by_clearing(k), cleared[k]);
    }
}
