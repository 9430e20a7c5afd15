/* SPDX-License-Identifier: MIT */
/* world_text.h: worlds as text and back: JSON, one object per line, for people, scripts and
 * differences between two states.
 *
 *   {"weft": 2, "world": "game", "entities": 2, "steps": 60, "time": 1, "dt": 0.016666667}
 *   {"type": "Heat", "size": 4, "alignment": 4, "fields": [{"name": "", "kind": "f32", ...}]}
 *   {"resource": "Score", "value": {"points": 3}}
 *   {"entity": "0:1", "name": "iss", "components": {"Position": {"x": 1, "y": 2}, "Alive": true}}
 *   {"entity": "1:1", "components": {"Parent": {"entity": "0:1"}}, "disabled": ["Parent"]}
 *   {"system": "spawn", "elapsed": 0, "timer": 2.5}
 *   {"dead": ["2:2", "5:4"]}
 *
 * Public. Values are those of value.h; a tag is true, a BUFFER an array, a value saved by a hook
 * the bytes in hexadecimal. A component without described fields is shown as its bytes. Bytes
 * that no field describes are not in the text of one that has fields. Blobs are their content
 * hashes; their content is not in the text (world_file.h has it). A type says what it does as a
 * relation; systems and groups are how far their rates (seconds not yet used up by runs) and
 * timers (seconds left and, in a group with a period, what has passed of its tick) are. Dead are
 * indices that are not alive, with the version they have now: handles of before stay dead. */
#ifndef WEFT_WORLD_TEXT_H
#define WEFT_WORLD_TEXT_H

#include <weft/value.h>
#include <weft/world_file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptions ---- */

/* What is written and read. Zero means default. */
typedef struct weft_world_text_desc {
    const weft_component *without; /* written: components that are left out */
    uint32_t without_count;
    /* Optional: `write_blob`, `read_blob` and `user` say how BLOB fields look, and may not use the
     * world; the rest is not used. Default: written as content hash; none but null is read. */
    const weft_value_io *io;
} weft_world_text_desc;

/* ---- write and read ---- */

/* Writes the world as text, in pieces of about 64 KiB: the text is never in memory as a whole. The
 * same state gives the same text. Entities come in the order of archetypes, chunks and rows.
 * `desc` may be NULL. Threads: owner, between steps; the writer runs on the caller's thread and may
 * not use the world. Errors: INVALID_ARGUMENT, WRONG_PHASE, UNSUPPORTED (a type with hooks but
 * without `save`: the text names it; leave it out), OUT_OF_MEMORY, and what the writer returned.
 * Cost: some 9 ns a byte; memory for the longest value. */
WEFT_API weft_result weft_world_save_json(weft_world *world, const weft_writer *writer,
                                          const weft_world_text_desc *desc);

/* Fills a new world (no entity was ever created in it) from text. Entities have the handles that
 * the text gives them, so its weft_world_hash of CONTENT is that of the written world, where
 * padding was zero; where rows are stored may differ. An index that is in no entity and no
 * "dead" is new: of a handle that some value has of it, another entity may be made. Objects may
 * come in any order, but types before their use; fields that are absent have the value of
 * weft_type.initial, or zero. Types that the world lacks are registered as the text describes
 * them (nested fields, constants, units, ranges and initial values included, weft_type.check
 * not); those with hooks must be registered before. Relations that the program has not declared
 * are declared; a text of version 1, or without {"weft": ...}, says Parent and InstanceOf only,
 * by their names. Systems and groups go on as after weft_world_load. A relation to an entity
 * that is not in the text does at the next settle what it does when its target dies. The value
 * of a CHUNK component is that of the last entity in the chunk. Of two lines about one resource,
 * system or group the later one counts; the name of the world and the number of entities are for
 * people. `desc` and `error` may be NULL. Threads: owner, between steps. Errors (the world has no
 * entity then; types and resources stay): INVALID_ARGUMENT (`error` says where and what; the
 * world's error has its text), WRONG_PHASE, TYPE_MISMATCH, LIMIT, OUT_OF_MEMORY. Cost: some 6 ns
 * a byte. */
WEFT_API weft_result weft_world_load_json(weft_world *world, const weft_text *text,
                                          const weft_world_text_desc *desc, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
