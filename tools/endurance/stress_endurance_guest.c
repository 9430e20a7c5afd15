/* SPDX-License-Identifier: MIT */
/* stress_endurance_guest.c: worlds beside the main one: each begins as a copy of it, through a
 * file, memory, a stream of bytes or text, follows its documents by a link with a thread, runs for
 * an epoch, and gives some entities to the main world before it ends. One in two has a pool of its
 * own. */
#include "endurance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/transfer.h>
#include <weft/world_text.h>

/* Bytes of a text that is being written. */
typedef struct page {
    char *text;
    size_t count, capacity;
} page;

static weft_result page_write(void *user, const void *bytes, size_t count)
{
    page *p = user;
    if (p->count + count + 1 > p->capacity) {
        const size_t capacity = 2 * (p->count + count + 1);
        char *text = realloc(p->text, capacity);
        if (text == NULL) return WEFT_OUT_OF_MEMORY;
        p->text = text;
        p->capacity = capacity;
    }
    memcpy(p->text + p->count, bytes, count);
    p->count += count;
    p->text[p->count] = '\0';
    return WEFT_OK;
}

static bool copy_by_file(endurance *e)
{
    return endurance_ok(e, e->world, weft_world_save(e->world, e->saved, NULL), "save") &&
           endurance_ok(e, e->guest, weft_world_load(e->guest, e->saved, &endurance_loads), "load");
}

static bool copy_by_memory(endurance *e)
{
    weft_world_bytes bytes;
    if (!endurance_ok(e, e->world, weft_world_save_memory(e->world, &bytes, NULL), "save_memory"))
        return false;
    const weft_result result =
        weft_world_load_memory(e->guest, bytes.bytes, bytes.count, &endurance_loads);
    weft_world_bytes_free(e->world, &bytes);
    return endurance_ok(e, e->guest, result, "load_memory");
}

static bool copy_by_text(endurance *e)
{
    page p = {0};
    const weft_writer writer = {page_write, &p};
    const weft_world_text_desc desc = {.io = &(weft_value_io){
                                           .write_blob = endurance_story_write,
                                           .read_blob = endurance_story_read,
                                           .user = e,
                                       }};
    bool is_ok = endurance_ok(e, e->world, weft_world_save_json(e->world, &writer, &desc), "text");
    const weft_text text = {.bytes = p.text, .count = p.count};
    is_ok = is_ok && endurance_ok(e, e->guest, weft_world_load_json(e->guest, &text, &desc, NULL),
                                  "load of a text");
    free(p.text);
    return is_ok;
}

static void copy(endurance *e)
{
    static bool (*const ways[])(endurance *) = {copy_by_file, copy_by_memory, copy_by_text};
    const uint32_t way = (uint32_t)(e->step / ENDURANCE_EPOCH % 3);
    if (!ways[way](e)) return;
    const uint64_t is = weft_world_hash(e->guest, WEFT_HASH_CONTENT);
    const uint64_t was = weft_world_hash(e->world, WEFT_HASH_CONTENT);
    if (is != was)
        endurance_fail(e, "way %u of saving: content 0x%016llx became 0x%016llx", way,
                       (unsigned long long)was, (unsigned long long)is);
}

static void spin(weft_slice *slice, void *user)
{
    endurance_spin *s = WEFT_WRITE_COLUMN(slice, 0, endurance_spin);
    (void)user;
    for (uint32_t i = 0; s && i < weft_slice_count(slice); i++)
        s[i].angle += s[i].speed * weft_slice_dt(slice);
}

void endurance_guest_come(endurance *e)
{
    const bool has_pool = e->step / ENDURANCE_EPOCH % 2 != 0;
    const weft_world_desc desc = {.name = "guest",
                                  .workers = has_pool ? 2 : 0,
                                  .pool = has_pool ? NULL : weft_world_pool(e->world)};
    const weft_result result = weft_world_create(&desc, &e->guest);
    if (result != WEFT_OK) {
        endurance_fail(e, "create a guest: %s", weft_result_name(result));
        return;
    }
    const endurance_kinds kinds = endurance_register(e->guest);
    copy(e);
    weft_system_create(
        e->guest, &(weft_system_desc){
                      .name = "spin", .run = spin, .over.rows.terms = {{kinds.spin, WEFT_WRITE}}});
    const weft_live_desc live = {.paths = (const char *[]){e->document}, .path_count = 1};
    endurance_ok(e, e->guest, weft_live_start(e->guest, &live, &e->guest_live), "guest: live");
}

void endurance_guest_step(endurance *e)
{
    weft_live_report report;
    if (e->guest == NULL || e->guest_live == NULL) return;
    endurance_ok(e, e->guest, weft_live_apply(e->guest_live, 100000, &report, sizeof report),
                 "guest: apply");
    endurance_ok(e, e->guest, weft_world_step(e->guest, 0.004f), "guest: step");
}

/* New entities of the guest move to the main world; they have no Seed, so they stay until then. */
static void hand_over(endurance *e)
{
    const endurance_kinds k = endurance_register(e->guest);
    const weft_component gift = weft_component_create_plain(e->guest, "Gift", 8, 8, 0);
    weft_component_create_plain(e->world, "Gift", 8, 8, 0);
    weft_entity gifts[100];
    char name[32];
    const weft_archetype set = WEFT_ARCHETYPE(e->guest, gift, k.value);
    if (!endurance_ok(e, e->guest, weft_entity_create_many(e->guest, set, 100, gifts), "gifts"))
        return;
    for (uint32_t i = 0; i < 100; i += 4) {
        snprintf(name, sizeof name, "gift %llu", (unsigned long long)e->made++);
        endurance_ok(e, e->guest, weft_entity_set_name(e->guest, gifts[i], name), "name of a gift");
    }
    const weft_query all = weft_query_create(e->guest, &(weft_query_desc){.terms = {{gift}}});
    const weft_transfer_desc desc = {.query = all, .tracked = gifts, .tracked_count = 100};
    weft_transfer_report report;
    if (!endurance_ok(e, e->world,
                      weft_world_transfer(e->world, e->guest, &desc, &report, sizeof report),
                      "transfer"))
        return;
    if (report.entities != 100)
        endurance_fail(e, "transfer: %llu of 100 came", (unsigned long long)report.entities);
    endurance_ok(e, e->world, weft_entity_destroy_many(e->world, gifts, 100), "gifts end");
}

void endurance_guest_go(endurance *e)
{
    if (e->guest == NULL) return;
    hand_over(e);
    weft_live_stop(e->guest_live);
    e->guest_live = NULL;
    if (weft_world_validate(e->guest) != WEFT_OK)
        endurance_fail(e, "the guest is not valid: %s", weft_world_error(e->guest)->text);
    if (weft_world_destroy(e->guest) != WEFT_OK)
        endurance_fail(e, "destroy the guest: %s", weft_world_error(e->guest)->text);
    e->guest = NULL;
}
