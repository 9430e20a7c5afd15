/* SPDX-License-Identifier: MIT */
/* test_section_file.c: section files are untrusted: every truncation and every flipped bit of a
 * small one ends in an error, with the world as it was, or in exactly the entities that were
 * written; writing replaces the file or leaves it.
 */
#include "memory_fault.h"
#include "os_fault.h"
#include "stream_fixture.h"

typedef struct bytes {
    char *at;
    size_t count;
} bytes;

static bytes file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    bytes all = {.count = (size_t)ftell(file)};
    rewind(file);
    all.at = malloc(all.count + 1);
    CHECK_U64(fread(all.at, 1, all.count, file), all.count);
    fclose(file);
    return all;
}

static void file_write(const char *path, const char *at, size_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_U64(fwrite(at, 1, count, file), count);
    fclose(file);
}

/* Two sections with everything; a few KiB. */
static stage small_make(void)
{
    stage s = stage_make(1);
    weft_entity zero[4], one[8];
    section_fill(&s, 0, 4, zero);
    section_fill(&s, 1, 8, one);
    cable across = {.to = zero[3], .number = 100002};
    CHECK_OK(weft_entity_set(s.world, one[2], s.link, &across, sizeof across));
    across = (cable){.to = one[3], .number = 2};
    CHECK_OK(weft_entity_set(s.world, zero[2], s.link, &across, sizeof across));
    CHECK_OK(weft_entity_set_name(s.world, one[5], "five"));
    CHECK_OK(weft_sections_save(
        s.world, s.path,
        &(weft_sections_desc){.with_names = true, .place = s.place, .place_at = {0, 4, 8}}));
    return s;
}

/* The number that an entity has, + 1; 0: no entity. */
static uint64_t number_of(const stage *s, weft_entity e)
{
    const cable *own =
        weft_entity_is_alive(s->world, e) ? weft_entity_read(s->world, e, s->link) : NULL;
    return own == NULL ? 0 : (uint64_t)own->number + 1;
}

/* A sum over all entities of what they are, whatever ids and places they have. */
static uint64_t content_of(const stage *s)
{
    uint64_t sum = 0;
    weft_query query =
        weft_query_create(s->world, &(weft_query_desc){.terms = {{s->place, WEFT_READ}}});
    weft_cursor cursor = weft_query_begin(s->world, query);
    while (weft_query_next(&cursor)) {
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            weft_entity e = weft_slice_entities(&cursor.slice)[i];
            const cable *own = weft_entity_read(s->world, e, s->link);
            const place *at = weft_entity_read(s->world, e, s->place);
            uint64_t one = own->number * UINT64_C(0x9E3779B97F4A7C15) + number_of(s, own->to) * 77;
            one ^= (uint64_t)(at->at[0] * 3 + at->at[1] * 5 + at->at[2]) << 32;
            const uint32_t *lever = weft_entity_read(s->world, e, s->lever);
            if (lever != NULL) one += *lever + weft_entity_is_enabled(s->world, e, s->lever);
            const uint32_t *colour = weft_entity_read_shared(s->world, e, s->colour);
            if (colour != NULL) one += *colour * UINT64_C(1000003);
            const weft_buffer *buffer = weft_entity_read(s->world, e, s->children);
            for (uint32_t k = 0; buffer != NULL && k < buffer->count; k++)
                one = one * 31 + number_of(s, ((const weft_entity *)weft_buffer_read(buffer))[k]);
            sum += one * (one | 1);
        }
    }
    CHECK_OK(weft_query_destroy(s->world, query));
    return sum;
}

/* Opens and loads all of a file that may be damaged. Returns whether all of it came. */
static bool all_load(stage *to, const char *path, uint64_t *hash)
{
    weft_stream *stream;
    bool came = weft_stream_open(to->world, path, NULL, &stream) == WEFT_OK;
    if (!came) {
        CHECK(weft_world_error(to->world)->text[0] != '\0');
        CHECK_U64(entities_of(to->world), 0);
        return false;
    }
    for (uint32_t i = 0; i < weft_stream_section_count(stream); i++)
        CHECK_OK(weft_stream_load(stream, i, 0));
    CHECK_OK(weft_stream_wait(to->world));
    world_check(to->world);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < weft_stream_section_count(stream); i++) {
        weft_section_info info;
        CHECK_OK(weft_stream_section_get(stream, i, &info, sizeof info));
        if (info.state == WEFT_SECTION_LOADED) rows += info.rows;
        came &= info.state == WEFT_SECTION_LOADED;
        if (info.state == WEFT_SECTION_FAILED)
            CHECK(info.result != WEFT_OK && info.text[0] != '\0');
    }
    CHECK_U64(entities_of(to->world), rows);
    *hash = content_of(to);
    weft_stream_close(stream);
    world_check(to->world);
    CHECK_U64(entities_of(to->world), 0);
    return came;
}

PLAIN_TEST(every_truncation_is_an_error)
{
    stage from = small_make(), to = stage_make(1);
    bytes all = file_read(from.path);
    uint64_t hash;
    for (size_t count = 0; count < all.count; count += count < 2000 || count % 64 < 3 ? 1 : 61) {
        file_write(to.path, all.at, count);
        CHECK(!all_load(&to, to.path, &hash));
    }
    free(all.at);
    stage_end(&to);
    stage_end(&from);
}

/* Whether a byte is between the sections, where nothing is. */
static bool is_filling(const bytes *all, const weft_section_info info[2], size_t byte)
{
    uint64_t end;
    memcpy(&end, all->at + 24, sizeof end); /* of the front */
    for (int i = 0; i < 2; i++) {
        uint64_t begin = (end + 4095) / 4096 * 4096;
        if (byte >= end && byte < begin) return true;
        end = begin + info[i].bytes;
    }
    return byte >= end;
}

PLAIN_TEST(every_flipped_bit_is_an_error)
{
    stage from = small_make(), to = stage_make(1);
    bytes all = file_read(from.path);
    uint64_t right, hash;
    weft_section_info info[2];
    weft_stream *stream = stream_open(&to, &from, NULL);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(weft_stream_section_get(stream, i, &info[i], sizeof info[i]));
    weft_stream_close(stream);
    CHECK(all_load(&to, from.path, &right));
    size_t step = getenv("WEFT_DEEP") != NULL ? 1 : 3;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    step = 23;
#endif
    for (size_t bit = 0; bit < 8 * all.count; bit += bit < 8 * 72 ? 1 : step) {
        if (is_filling(&all, info, bit / 8)) continue;
        all.at[bit / 8] ^= (char)(1 << bit % 8);
        file_write(to.path, all.at, all.count);
        CHECK(!all_load(&to, to.path, &hash));
        all.at[bit / 8] ^= (char)(1 << bit % 8);
    }
    file_write(to.path, all.at, all.count);
    CHECK(all_load(&to, to.path, &hash)); /* and the world still takes the right one */
    CHECK_U64(hash, right);
    free(all.at);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(names_and_references_arrive)
{
    stage from = small_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    weft_entity five = weft_entity_find(to.world, "five");
    CHECK(weft_entity_is_alive(to.world, five));
    const cable *own = weft_entity_read(to.world, five, to.link);
    CHECK_U64(own->number, 100005);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(the_same_state_gives_the_same_bytes)
{
    stage a = small_make(), b = small_make();
    bytes x = file_read(a.path), y = file_read(b.path);
    CHECK_U64(x.count, y.count);
    CHECK(memcmp(x.at, y.at, x.count) == 0);
    free(x.at);
    free(y.at);
    stage_end(&a);
    stage_end(&b);
}

PLAIN_TEST(components_that_cannot_be_written_are_named)
{
    stage s = stage_make(1);
    weft_entity e[2];
    section_fill(&s, 1, 2, e);
    weft_component rare = weft_component_create_plain(s.world, "rare", 4, 4, WEFT_SPARSE);
    uint32_t value = 1;
    CHECK_OK(weft_entity_add(s.world, e[0], rare));
    CHECK_OK(weft_entity_set(s.world, e[0], rare, &value, sizeof value));
    CHECK_RESULT(weft_sections_save(s.world, s.path, NULL), WEFT_UNSUPPORTED);
    CHECK(strstr(weft_world_error(s.world)->text, "rare") != NULL);
    CHECK_OK(weft_sections_save(s.world, s.path,
                                &(weft_sections_desc){.without = &rare, .without_count = 1}));
    weft_section far = {.section = WEFT_SECTION_LIMIT};
    CHECK_OK(weft_entity_set_shared(s.world, e[0], s.section, &far));
    CHECK_RESULT(weft_sections_save(s.world, s.path,
                                    &(weft_sections_desc){.without = &rare, .without_count = 1}),
                 WEFT_LIMIT);
    stage_end(&s);
}

PLAIN_TEST(a_world_without_a_component_or_with_another_layout_refuses_the_file)
{
    stage from = small_make();
    weft_world *world;
    weft_stream *stream;
    CHECK_OK(weft_world_create(NULL, &world));
    CHECK_RESULT(weft_stream_open(world, from.path, NULL, &stream), WEFT_TYPE_MISMATCH);
    weft_component_create_plain(world, "place", 8, 4, 0);
    CHECK_RESULT(weft_stream_open(world, from.path, NULL, &stream), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_stream_open(world, "nothing.wss", NULL, &stream), WEFT_NOT_FOUND);
    CHECK_OK(weft_world_destroy(world));
    stage_end(&from);
}
