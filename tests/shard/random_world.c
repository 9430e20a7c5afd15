/* SPDX-License-Identifier: MIT */
/* random_world.c: see random_world.h. A value is read into one struct that has all that any layout
 * holds; its hash is that of the value. */
#include "random_world.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/blob.h>
#include <weft/stream.h>
#include <weft/type.h>

/* ---- layouts: as they were, and as they became ---- */

typedef struct leaf_value {
    uint64_t number;
} leaf_value;
static const weft_blob_type leaf_type = WEFT_BLOB_TYPE_PLAIN(leaf_value);
const weft_blob_type *const random_blob_types[1] = {&leaf_type};

typedef struct key_value {
    uint64_t number;
} key_value;
typedef struct place_value {
    float x, y;
} place_value;
typedef struct target_value {
    weft_entity to;
} target_value;

typedef struct word_value {
    uint32_t number;
} word_value;
typedef struct link_value {
    uint32_t number; /* the reference is not aligned to 8 */
    weft_entity to;
} link_value;
typedef struct links_value {
    weft_entity to[2];
    uint8_t number;
} links_value;
typedef struct blob_value {
    uint32_t number;
    weft_blob_ref leaf;
} blob_value;
typedef struct inner_value {
    int8_t small[3];
    weft_entity to;
} inner_value;
typedef struct mixed_value {
    uint8_t choice, marks;
    bool flag;
    char text[10];
    int16_t number;
    float real;
    inner_value inner;
} mixed_value;

typedef struct word_grown {
    float weight;
    uint64_t number;
} word_grown;
typedef struct link_grown {
    weft_entity to;
    uint64_t number;
    double weight;
} link_grown;
typedef struct links_grown {
    uint16_t number;
    weft_entity to[3];
} links_grown;
typedef struct blob_grown {
    weft_blob_ref leaf, other;
    int64_t number;
} blob_grown;
typedef struct inner_grown {
    weft_entity other, to;
    int32_t small[4];
} inner_grown;
typedef struct mixed_grown {
    inner_grown inner;
    double real;
    char text[16];
    int64_t number;
    int32_t choice;
    uint16_t marks;
    bool flag, more;
} mixed_grown;

static const weft_constant choices[] = {{"none", 0}, {"some", 3}, {"most", 100}};
static const weft_constant marks[] = {{"red", 1}, {"green", 2}, {"blue", 4}, {"far", 64}};
static const weft_type choice_type = {
    .name = "Choice", .size = 1, .alignment = 1, .constants = choices, .constant_count = 3};
static const weft_type choice_grown = {
    .name = "Choice", .size = 4, .alignment = 4, .constants = choices, .constant_count = 3};
static const weft_type marks_type = {
    .name = "Marks", .size = 1, .alignment = 1, .constants = marks, .constant_count = 4};
static const weft_type marks_grown = {
    .name = "Marks", .size = 2, .alignment = 2, .constants = marks, .constant_count = 4};

static const weft_field word_fields[] = {WEFT_FIELD(word_value, number)};
static const weft_field link_fields[] = {WEFT_FIELD(link_value, number),
                                         WEFT_FIELD(link_value, to)};
static const weft_field links_fields[] = {WEFT_FIELD(links_value, to),
                                          WEFT_FIELD(links_value, number)};
static const weft_field blob_fields[] = {WEFT_FIELD(blob_value, number),
                                         WEFT_FIELD(blob_value, leaf)};
static const weft_field inner_fields[] = {WEFT_FIELD(inner_value, small),
                                          WEFT_FIELD(inner_value, to)};
static const weft_type inner_type = WEFT_TYPE(inner_value, inner_fields);
static const weft_field mixed_fields[] = {
    WEFT_FIELD_OF(mixed_value, choice, WEFT_FIELD_ENUM, &choice_type),
    WEFT_FIELD_OF(mixed_value, marks, WEFT_FIELD_BITS, &marks_type),
    WEFT_FIELD(mixed_value, flag),
    WEFT_FIELD(mixed_value, text),
    WEFT_FIELD(mixed_value, number),
    WEFT_FIELD(mixed_value, real),
    WEFT_FIELD_OF(mixed_value, inner, WEFT_FIELD_STRUCT, &inner_type)};

static const weft_field word_more[] = {WEFT_FIELD(word_grown, weight),
                                       WEFT_FIELD(word_grown, number)};
static const weft_field link_more[] = {WEFT_FIELD(link_grown, to), WEFT_FIELD(link_grown, number),
                                       WEFT_FIELD(link_grown, weight)};
static const weft_field links_more[] = {WEFT_FIELD(links_grown, number),
                                        WEFT_FIELD(links_grown, to)};
static const weft_field blob_more[] = {WEFT_FIELD(blob_grown, leaf), WEFT_FIELD(blob_grown, other),
                                       WEFT_FIELD(blob_grown, number)};
static const weft_field inner_more[] = {WEFT_FIELD(inner_grown, other), WEFT_FIELD(inner_grown, to),
                                        WEFT_FIELD(inner_grown, small)};
static const weft_type inner_later = WEFT_TYPE(inner_grown, inner_more);
static const weft_field mixed_more[] = {
    WEFT_FIELD_OF(mixed_grown, inner, WEFT_FIELD_STRUCT, &inner_later),
    WEFT_FIELD(mixed_grown, real),
    WEFT_FIELD(mixed_grown, text),
    WEFT_FIELD(mixed_grown, number),
    WEFT_FIELD_OF(mixed_grown, choice, WEFT_FIELD_ENUM, &choice_grown),
    WEFT_FIELD_OF(mixed_grown, marks, WEFT_FIELD_BITS, &marks_grown),
    WEFT_FIELD(mixed_grown, flag),
    WEFT_FIELD(mixed_grown, more)};

static const weft_type types[2][CONTENTS] = {{[HOLDS_WORD] = WEFT_TYPE(word_value, word_fields),
                                              [HOLDS_LINK] = WEFT_TYPE(link_value, link_fields),
                                              [HOLDS_LINKS] = WEFT_TYPE(links_value, links_fields),
                                              [HOLDS_BLOB] = WEFT_TYPE(blob_value, blob_fields),
                                              [HOLDS_MIXED] = WEFT_TYPE(mixed_value, mixed_fields)},
                                             {[HOLDS_WORD] = WEFT_TYPE(word_grown, word_more),
                                              [HOLDS_LINK] = WEFT_TYPE(link_grown, link_more),
                                              [HOLDS_LINKS] = WEFT_TYPE(links_grown, links_more),
                                              [HOLDS_BLOB] = WEFT_TYPE(blob_grown, blob_more),
                                              [HOLDS_MIXED] = WEFT_TYPE(mixed_grown, mixed_more)}};

/* All that a value of any layout holds. */
typedef struct whole_value {
    int64_t number, choice, marks, flag, small[3];
    double real;
    uint64_t to[2], leaf;
    char text[16];
} whole_value;

/* Numbers of a seed; WEFT_TEST_SEED, which names a seed, does not change them. */
static test_random random_of(uint64_t seed, uint64_t index)
{
    const test_random base = {{seed * UINT64_C(0x9e3779b97f4a7c15), 1, 2, 3}};
    return test_random_fork(&base, index);
}

/* ---- kinds ---- */

static const char *const storage_words[STORAGES] = {"Plain", "Sparse", "Shared", "Chunk", "Buffer"};
static const char *const content_words[CONTENTS] = {"Nothing", "Word",  "Link", "Links",
                                                    "Blob",    "Mixed", "Text"};
static const char *const flag_words[FLAGS] = {"", "Bits", "Clean"};
static const uint32_t storage_flags[STORAGES] = {0, WEFT_SPARSE, WEFT_SHARED, WEFT_CHUNK,
                                                 WEFT_BUFFER};
static const uint32_t flag_flags[FLAGS] = {0, WEFT_ENABLEABLE, WEFT_CLEANUP};

const char *random_kind_name(uint32_t kind)
{
    static char names[RANDOM_KINDS][32];
    snprintf(names[kind], sizeof names[kind], "%s%s%s", storage_words[random_storage_of(kind)],
             content_words[random_content_of(kind)], flag_words[random_flag_of(kind)]);
    return names[kind];
}

/* What weft_component_create takes. */
bool random_kind_is(uint32_t kind)
{
    const random_storage storage = random_storage_of(kind);
    const random_content content = random_content_of(kind);
    const random_flag flag = random_flag_of(kind);
    if (storage == STORED_SPARSE) return flag == FLAG_NONE;
    if (storage == STORED_SHARED || storage == STORED_CHUNK)
        return content != HOLDS_NOTHING && content != HOLDS_TEXT && flag != FLAG_BITS;
    return storage != STORED_BUFFER || content != HOLDS_NOTHING;
}

/* A text on the heap: memory of its own. */
static void text_end(void *values, uint32_t count, void *user)
{
    char **texts = values;
    (void)user;
    for (uint32_t i = 0; i < count; i++) free(texts[i]);
}

static void text_copy(void *to, const void *from, uint32_t count, void *user)
{
    char **texts = to, *const *others = from;
    (void)user;
    for (uint32_t i = 0; i < count; i++) texts[i] = others[i] == NULL ? NULL : strdup(others[i]);
}

static size_t text_save(const void *value, void *out, size_t capacity, void *user)
{
    char *const *text = value;
    size_t bytes = *text == NULL ? 0 : strlen(*text);
    (void)user;
    if (bytes != 0 && bytes <= capacity) memcpy(out, *text, bytes);
    return bytes;
}

static bool text_load(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    char *text = count == 0 ? NULL : calloc(1, count + 1);
    if (text != NULL) memcpy(text, bytes, count);
    *(char **)value = text;
    return true;
}

static void kind_register(random_world *w, uint32_t kind)
{
    const random_content content = random_content_of(kind);
    if (!random_kind_is(kind)) return;
    weft_component_desc desc = {.name = random_kind_name(kind),
                                .flags = storage_flags[random_storage_of(kind)] |
                                         flag_flags[random_flag_of(kind)],
                                .type = &types[w->desc.is_grown][content]};
    if (content == HOLDS_NOTHING || content == HOLDS_TEXT) desc.type = NULL;
    if (content == HOLDS_NOTHING) desc.alignment = 1;
    if (content == HOLDS_TEXT) {
        desc.flags |= WEFT_NOT_HASHED;
        desc.size = sizeof(char *);
        desc.hooks = (weft_component_hooks){
            .destruct = text_end, .copy = text_copy, .save = text_save, .load = text_load};
    }
    w->of[kind] = weft_component_create(w->world, &desc);
    if (w->of[kind].id == 0) test_fail(__FILE__, __LINE__, weft_world_error(w->world)->text);
}

/* ---- worlds ---- */

static weft_component target_create(weft_world *world, const char *name)
{
    static const weft_field fields[] = {WEFT_FIELD(target_value, to)};
    return weft_component_create(world, &(weft_component_desc){.name = name,
                                                               .size = sizeof(target_value),
                                                               .alignment = 4,
                                                               .fields = fields,
                                                               .field_count = 1});
}

static void leaves_create(random_world *w)
{
    for (uint32_t i = 0; i < RANDOM_LEAVES; i++) {
        weft_blob_builder *builder;
        CHECK_OK(weft_blob_builder_create(weft_world_blobs(w->world), &leaf_type, 0, &builder));
        ((leaf_value *)weft_blob_builder_root(builder))->number = 100 + i;
        CHECK_OK(weft_blob_builder_finish(builder, &w->leaves[i]));
        weft_blob_builder_destroy(builder);
    }
}

void random_world_open(random_world *w, const random_world_desc *desc)
{
    uint32_t order[RANDOM_KINDS];
    *w = (random_world){.desc = *desc};
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .without_huge_pages = true, .trace_file = ""}, &w->world));
    test_random random = random_of(desc->order, 7);
    for (uint32_t i = 0; i < RANDOM_KINDS; i++) order[i] = i;
    for (uint32_t i = RANDOM_KINDS; i > 1 && desc->order != 0; i--) {
        const uint32_t at = (uint32_t)test_random_below(&random, i), kind = order[at];
        order[at] = order[i - 1];
        order[i - 1] = kind;
    }
    for (uint32_t i = 0; i < RANDOM_KINDS; i++) kind_register(w, order[i]);
    w->key = WEFT_COMPONENT(w->world, key_value);
    w->place = WEFT_COMPONENT(w->world, place_value);
    w->total = weft_component_create(
        w->world, &(weft_component_desc){.name = "Total",
                                         .flags = WEFT_RESOURCE,
                                         .type = &types[desc->is_grown][HOLDS_MIXED]});
    w->list = weft_component_create(
        w->world, &(weft_component_desc){.name = "List",
                                         .flags = WEFT_RESOURCE | WEFT_BUFFER,
                                         .type = &types[desc->is_grown][HOLDS_LINK]});
    w->likes = target_create(w->world, "Likes");
    const weft_relation_desc likes = {.component = w->likes,
                                      .on_target_death =
                                          desc->is_program ? desc->on_death : WEFT_ON_TARGET_KEEP};
    CHECK_OK(weft_relation_declare(w->world, &likes));
    w->parent = weft_component_parent(w->world);
    CHECK(w->total.id != 0 && w->list.id != 0 && w->parent.id != 0);
    if (!desc->has_shard) {
        leaves_create(w);
        return;
    }
    weft_shard_desc shard = {.key = w->place,
                             .grid = {.dimensions = 2, .cells = {4, 4}, .most = {100, 100}},
                             .halo = {w->place}};
    if (desc->is_program) {
        const weft_type *word = &types[desc->is_grown][HOLDS_WORD];
        const weft_component_desc tally = {.name = "Tally", .flags = WEFT_RESOURCE, .type = word};
        const weft_component_desc lamp = {.name = "Lamp", .type = word};
        w->tally = shard.kept[0] = weft_component_create(w->world, &tally);
        w->lamp = shard.kept[1] = weft_component_create(w->world, &lamp);
        if (desc->keeps_nothing) shard.kept[0] = (weft_component){0};
        shard.halo[1] = w->key;
        shard.balance_every = 3;
        shard.balance_above = 1.01;
    }
    CHECK_OK(weft_shard_create(w->world, &shard, &w->shard));
    weft_shard_info_get(w->shard, &w->info, sizeof w->info);
}

void random_world_close(random_world *w)
{
    weft_stream *stream;
    while (weft_stream_list(w->world, &stream, 1) != 0) weft_stream_close(stream);
    weft_shard_destroy(w->shard);
    CHECK_OK(weft_world_destroy(w->world));
    w->world = NULL;
}

/* ---- filling ---- */

/* One filling. Owner: a call. */
typedef struct filling {
    random_world *w;
    test_random random;
    weft_entity *all;
    uint32_t count;
    bool is_wanted[RANDOM_KINDS];
} filling;

static uint32_t draw(filling *f, uint32_t bound)
{
    return (uint32_t)test_random_below(&f->random, bound);
}

static weft_entity any_of(filling *f)
{
    if (f->count == 0 || draw(f, 6) == 0) return (weft_entity){0};
    return f->all[draw(f, f->count)];
}

static void text_draw(filling *f, char *out, uint32_t room)
{
    static const char letters[] = "abcXYZ 0_\"\\/";
    const uint32_t count = draw(f, room);
    memset(out, 0, room);
    for (uint32_t i = 0; i < count; i++) out[i] = letters[draw(f, sizeof letters - 1)];
}

static void mixed_draw(filling *f, mixed_value *value)
{
    value->choice = (uint8_t)choices[draw(f, 3)].value;
    value->marks = (uint8_t)(draw(f, 8) | (draw(f, 2) != 0 ? 64u : 0u));
    value->flag = draw(f, 2) != 0;
    text_draw(f, value->text, sizeof value->text + (draw(f, 4) == 0));
    value->number = (int16_t)test_random_next(&f->random);
    value->real = (float)(test_random_unit(&f->random) * 2000 - 1000);
    for (uint32_t i = 0; i < 3; i++) value->inner.small[i] = (int8_t)test_random_next(&f->random);
    value->inner.to = any_of(f);
}

/* A value, in room for any of them. Shared ones are few. */
static size_t value_draw(filling *f, uint32_t kind, void *out)
{
    const bool is_few = random_storage_of(kind) == STORED_SHARED;
    const random_content content = random_content_of(kind);
    const uint32_t number = is_few ? draw(f, 3) : (uint32_t)test_random_next(&f->random);
    memset(out, 0, types[0][content].size + 8);
    switch (content) {
    case HOLDS_NOTHING:
    case CONTENTS:
        return 0;
    case HOLDS_WORD:
        ((word_value *)out)->number = number;
        break;
    case HOLDS_LINK:
        *(link_value *)out = (link_value){number, any_of(f)};
        break;
    case HOLDS_LINKS:
        *(links_value *)out = (links_value){{any_of(f), any_of(f)}, 0};
        ((links_value *)out)->number = (uint8_t)number;
        break;
    case HOLDS_BLOB:
        ((blob_value *)out)->number = number;
        if (draw(f, 5) != 0) ((blob_value *)out)->leaf = f->w->leaves[draw(f, RANDOM_LEAVES)];
        break;
    case HOLDS_MIXED:
        mixed_draw(f, out);
        break;
    case HOLDS_TEXT: {
        char text[24];
        text_draw(f, text, sizeof text);
        *(char **)out = text[0] == '\0' ? NULL : strdup(text);
        return sizeof(char *);
    }
    }
    return types[0][content].size;
}

size_t random_value_draw(random_world *w, uint32_t kind, test_random random, weft_entity *known,
                         uint32_t count, void *out)
{
    filling f = {.w = w, .random = random, .all = known, .count = count};
    return value_draw(&f, kind, out);
}

typedef union any_value {
    mixed_value mixed;
    char bytes[128];
} any_value;

/* A value with memory of its own is taken over: what was there ends. */
static void plain_set(filling *f, weft_entity entity, uint32_t kind)
{
    any_value value;
    weft_world *world = f->w->world;
    const weft_component component = f->w->of[kind];
    const size_t bytes = value_draw(f, kind, &value);
    if (random_content_of(kind) != HOLDS_TEXT) {
        if (bytes == 0)
            CHECK_OK(weft_entity_add(world, entity, component));
        else
            CHECK_OK(weft_entity_set(world, entity, component, &value, bytes));
        return;
    }
    CHECK_OK(weft_entity_add(world, entity, component));
    char **text = weft_entity_write(world, entity, component);
    free(*text);
    memcpy(text, &value, sizeof *text);
}

static void buffer_set(filling *f, weft_entity entity, uint32_t kind)
{
    weft_world *world = f->w->world;
    CHECK_OK(weft_entity_add(world, entity, f->w->of[kind]));
    const weft_buffers buffer = weft_entity_write_buffer(world, entity, f->w->of[kind]);
    const uint32_t count = draw(f, 12) == 0 ? draw(f, 60) : draw(f, 4);
    for (uint32_t i = 0; i < count; i++) {
        any_value value;
        (void)value_draw(f, kind, &value);
        CHECK_OK(weft_buffers_append(&buffer, 0, &value, 1));
    }
}

static void kind_set(filling *f, weft_entity entity, uint32_t kind)
{
    any_value value;
    weft_world *world = f->w->world;
    switch (random_storage_of(kind)) {
    case STORED_PLAIN:
    case STORED_SPARSE:
        plain_set(f, entity, kind);
        break;
    case STORED_SHARED:
        CHECK_OK(weft_entity_add(world, entity, f->w->of[kind]));
        (void)value_draw(f, kind, &value);
        if (draw(f, 4) != 0)
            CHECK_OK(weft_entity_set_shared(world, entity, f->w->of[kind], &value));
        break;
    case STORED_BUFFER:
        buffer_set(f, entity, kind);
        break;
    case STORED_CHUNK:
    case STORAGES:
        CHECK_OK(weft_entity_add(world, entity, f->w->of[kind]));
    }
    if (random_flag_of(kind) == FLAG_BITS)
        CHECK_OK(weft_entity_enable(world, entity, f->w->of[kind], draw(f, 3) != 0));
}

/* Each chunk gets a value. */
static void chunks_set(filling *f, uint32_t kind)
{
    const weft_component component = f->w->of[kind];
    const weft_query query = weft_query_create(
        f->w->world,
        &(weft_query_desc){.terms = {{component, WEFT_WRITE, WEFT_ALL, 0}, {f->w->key}}});
    weft_cursor cursor = weft_query_begin(f->w->world, query);
    while (weft_query_next(&cursor)) {
        any_value value;
        const size_t bytes = value_draw(f, kind, &value);
        if (draw(f, 5) != 0) memcpy(weft_slice_write_chunk(&cursor.slice, 0), &value, bytes);
    }
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(f->w->world, query));
}

static void name_set(filling *f, weft_entity entity)
{
    static const char *const names[] = {"one", "Zwei", "drei \xc3\xa4", "", "a/b \"c\""};
    char name[64];
    if (draw(f, 2) == 0)
        snprintf(name, sizeof name, "%s", names[draw(f, 5)]);
    else
        snprintf(name, sizeof name, "name %u", draw(f, 1000));
    CHECK_OK(weft_entity_set_name(f->w->world, entity, name));
}

static void entity_create(filling *f, uint32_t number, const bool *is_in_set)
{
    random_world *w = f->w;
    weft_component list[RANDOM_KINDS + 4] = {w->key, w->place};
    uint32_t count = 2;
    if (w->shard != NULL) list[count++] = w->info.gid;
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (is_in_set[kind] && random_storage_of(kind) != STORED_SPARSE)
            list[count++] = w->of[kind];
    const weft_entity entity =
        weft_entity_create(w->world, weft_archetype_create(w->world, list, count));
    const key_value key = {number * UINT64_C(1000003) + weft_ranks_rank()};
    const place_value place = {(float)draw(f, 1000) / 10, (float)draw(f, 1000) / 10};
    CHECK_OK(weft_entity_set(w->world, entity, w->key, &key, sizeof key));
    CHECK_OK(weft_entity_set(w->world, entity, w->place, &place, sizeof place));
    f->all[f->count++] = entity;
}

static void values_set(filling *f, weft_entity entity)
{
    random_world *w = f->w;
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++) {
        if (!f->is_wanted[kind]) continue;
        const bool is_sparse = random_storage_of(kind) == STORED_SPARSE;
        if (is_sparse ? draw(f, 3) == 0 : weft_entity_has(w->world, entity, w->of[kind]))
            kind_set(f, entity, kind);
    }
    const target_value likes = {any_of(f)};
    if (draw(f, 4) == 0 && w->shard == NULL)
        CHECK_OK(weft_entity_set(w->world, entity, w->likes, &likes, sizeof likes));
    if (draw(f, 3) == 0) name_set(f, entity);
}

static void parents_set(filling *f)
{
    random_world *w = f->w;
    for (uint32_t i = 1; i < f->count && w->shard == NULL; i++) {
        const target_value parent = {f->all[draw(f, i)]};
        if (draw(f, 4) == 0 && weft_entity_is_alive(w->world, f->all[i]))
            CHECK_OK(weft_entity_set(w->world, f->all[i], w->parent, &parent, sizeof parent));
    }
}

static void some_destroy(filling *f, uint32_t of)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (draw(f, of) == 0 && weft_entity_is_alive(f->w->world, f->all[i]))
            CHECK_OK(weft_entity_destroy(f->w->world, f->all[i]));
}

static void resources_set(filling *f)
{
    any_value value;
    random_world *w = f->w;
    (void)value_draw(f, STORED_PLAIN * CONTENTS * FLAGS + HOLDS_MIXED * FLAGS, &value);
    memcpy(weft_resource_write(w->world, w->total), &value.mixed, sizeof value.mixed);
    const weft_buffers list = weft_resource_write_buffer(w->world, w->list);
    for (uint32_t i = draw(f, 5); i != 0; i--) {
        (void)value_draw(f, STORED_PLAIN * CONTENTS * FLAGS + HOLDS_LINK * FLAGS, &value);
        CHECK_OK(weft_buffers_append(&list, 0, &value, 1));
    }
}

static void kinds_draw(filling *f, bool (*takes)(uint32_t kind))
{
    uint32_t kinds[RANDOM_KINDS], count = 0;
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (random_kind_is(kind) && takes(kind)) kinds[count++] = kind;
    for (uint32_t i = 4 + draw(f, 12); i != 0; i--) f->is_wanted[kinds[draw(f, count)]] = true;
}

/* Settles relations and moves sharded rows where they belong. */
static void settle(const random_world *w)
{
    if (w->shard != NULL)
        CHECK_OK(weft_shard_sync(w->shard));
    else
        CHECK_OK(weft_relation_settle(w->world));
}

void random_world_fill(random_world *w, uint64_t seed, bool (*takes)(uint32_t kind))
{
    enum { SETS = 5 };
    bool sets[SETS][RANDOM_KINDS] = {{false}};
    filling f = {.w = w, .random = random_of(seed, w->shard == NULL ? 0 : 1)};
    f.all = calloc(RANDOM_ROWS, sizeof *f.all);
    CHECK(f.all != NULL);
    kinds_draw(&f, takes);
    for (uint32_t s = 0; s < SETS; s++)
        for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
            sets[s][kind] = f.is_wanted[kind] && draw(&f, 2) != 0;
    if (w->shard != NULL) f.random = test_random_fork(&f.random, weft_ranks_rank());
    const uint32_t count = draw(&f, 20) == 0 ? RANDOM_ROWS : 2 + draw(&f, 50);
    for (uint32_t i = 0; i < count; i++) entity_create(&f, i, sets[draw(&f, SETS)]);
    some_destroy(&f, 8);
    for (uint32_t i = 0; i < f.count; i++)
        if (weft_entity_is_alive(w->world, f.all[i])) values_set(&f, f.all[i]);
    parents_set(&f);
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (f.is_wanted[kind] && random_storage_of(kind) == STORED_CHUNK) chunks_set(&f, kind);
    resources_set(&f);
    settle(w);
    some_destroy(&f, 10);
    settle(w);
    free(f.all);
}

void random_world_change(random_world *w, uint64_t seed)
{
    filling f = {.w = w, .random = random_of(seed, 2)};
    f.all = calloc(RANDOM_ROWS, sizeof *f.all);
    CHECK(f.all != NULL);
    const weft_query query = weft_query_create(w->world, &(weft_query_desc){.terms = {{w->key}}});
    f.count = (uint32_t)weft_query_entities(w->world, query, f.all, RANDOM_ROWS);
    CHECK_OK(weft_query_destroy(w->world, query));
    kinds_draw(&f, random_kind_is);
    some_destroy(&f, 5);
    for (uint32_t i = 0; i < f.count; i++) {
        if (!weft_entity_is_alive(w->world, f.all[i]) || draw(&f, 3) == 0) continue;
        for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++) {
            if (!f.is_wanted[kind] || draw(&f, 3) != 0) continue;
            if (draw(&f, 4) == 0)
                CHECK_OK(weft_entity_remove(w->world, f.all[i], w->of[kind]));
            else
                kind_set(&f, f.all[i], kind);
        }
        name_set(&f, f.all[i]);
    }
    settle(w);
    free(f.all);
}

/* ---- digests ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t bytes_hash(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = mix(1, count);
    for (size_t i = 0; i < count; i++) hash = mix(hash, at[i]);
    return hash;
}

/* Who it is, wherever it is; 0: null, or dead. */
static uint64_t entity_name_of(const random_world *w, weft_entity entity)
{
    if (w->shard != NULL) return weft_shard_gid(w->shard, entity);
    if (!weft_entity_is_alive(w->world, entity)) return 0;
    const key_value *key = weft_entity_read(w->world, entity, w->key);
    return key == NULL ? 1 : key->number + 2;
}

static uint64_t leaf_of(const random_world *w, weft_blob_ref ref)
{
    const leaf_value *leaf =
        ref.id == 0 ? NULL : weft_blob_read(weft_world_blobs(w->world), ref, &leaf_type);
    return leaf == NULL ? 0 : leaf->number;
}

static void was_read(const random_world *w, random_content content, const void *at,
                     whole_value *out)
{
    switch (content) {
    case HOLDS_WORD:
        out->number = ((const word_value *)at)->number;
        break;
    case HOLDS_LINK: {
        link_value value;
        memcpy(&value, at, sizeof value);
        out->number = value.number;
        out->to[0] = entity_name_of(w, value.to);
        break;
    }
    case HOLDS_LINKS: {
        const links_value *value = at;
        out->number = value->number;
        for (uint32_t i = 0; i < 2; i++) out->to[i] = entity_name_of(w, value->to[i]);
        break;
    }
    case HOLDS_BLOB:
        out->number = ((const blob_value *)at)->number;
        out->leaf = leaf_of(w, ((const blob_value *)at)->leaf);
        break;
    case HOLDS_MIXED: {
        const mixed_value *value = at;
        *out = (whole_value){.number = value->number,
                             .choice = value->choice,
                             .marks = value->marks,
                             .flag = value->flag,
                             .real = (double)value->real};
        for (uint32_t i = 0; i < 3; i++) out->small[i] = value->inner.small[i];
        out->to[0] = entity_name_of(w, value->inner.to);
        memcpy(out->text, value->text, sizeof value->text);
        break;
    }
    case HOLDS_NOTHING:
    case HOLDS_TEXT:
    case CONTENTS:
        break;
    }
}

static void grown_read(const random_world *w, random_content content, const void *at,
                       whole_value *out)
{
    switch (content) {
    case HOLDS_WORD:
        out->number = (int64_t)((const word_grown *)at)->number;
        break;
    case HOLDS_LINK:
        out->number = (int64_t)((const link_grown *)at)->number;
        out->to[0] = entity_name_of(w, ((const link_grown *)at)->to);
        break;
    case HOLDS_LINKS: {
        const links_grown *value = at;
        out->number = value->number;
        for (uint32_t i = 0; i < 2; i++) out->to[i] = entity_name_of(w, value->to[i]);
        break;
    }
    case HOLDS_BLOB:
        out->number = ((const blob_grown *)at)->number;
        out->leaf = leaf_of(w, ((const blob_grown *)at)->leaf);
        break;
    case HOLDS_MIXED: {
        const mixed_grown *value = at;
        *out = (whole_value){.number = value->number,
                             .choice = value->choice,
                             .marks = value->marks,
                             .flag = value->flag,
                             .real = value->real};
        for (uint32_t i = 0; i < 3; i++) out->small[i] = value->inner.small[i];
        out->to[0] = entity_name_of(w, value->inner.to);
        memcpy(out->text, value->text, sizeof value->text);
        break;
    }
    case HOLDS_NOTHING:
    case HOLDS_TEXT:
    case CONTENTS:
        break;
    }
}

static uint64_t value_hash(const random_world *w, random_content content, const void *at)
{
    whole_value whole;
    memset(&whole, 0, sizeof whole);
    if (at == NULL) return 2;
    if (content == HOLDS_TEXT) {
        char *const *text = at;
        return *text == NULL ? 3 : bytes_hash(*text, strlen(*text));
    }
    if (w->desc.is_grown)
        grown_read(w, content, at, &whole);
    else
        was_read(w, content, at, &whole);
    for (size_t i = strlen(whole.text); i < sizeof whole.text; i++) whole.text[i] = '\0';
    return bytes_hash(&whole, sizeof whole);
}

static uint64_t buffer_hash(const random_world *w, random_content content,
                            const weft_buffers *buffer)
{
    const uint32_t count = weft_buffers_length(buffer, 0);
    const char *at = weft_buffers_read(buffer, 0);
    const size_t size =
        content == HOLDS_TEXT ? sizeof(char *) : types[w->desc.is_grown][content].size;
    uint64_t hash = mix(5, count);
    for (uint32_t i = 0; i < count; i++) hash = mix(hash, value_hash(w, content, at + i * size));
    return hash;
}

uint64_t random_kind_hash(const random_world *w, weft_entity entity, uint32_t kind)
{
    const random_content content = random_content_of(kind);
    const weft_component component = w->of[kind];
    uint64_t hash = 4;
    if (component.id == 0 || !weft_entity_has(w->world, entity, component)) return 0;
    switch (random_storage_of(kind)) {
    case STORED_PLAIN:
    case STORED_SPARSE:
        if (content != HOLDS_NOTHING)
            hash = value_hash(w, content, weft_entity_read(w->world, entity, component));
        break;
    case STORED_SHARED:
        hash = value_hash(w, content, weft_entity_read_shared(w->world, entity, component));
        break;
    case STORED_BUFFER: {
        const weft_buffers buffer = weft_entity_read_buffer(w->world, entity, component);
        hash = buffer_hash(w, content, &buffer);
        break;
    }
    case STORED_CHUNK: /* chunks_note */
    case STORAGES:
        break;
    }
    return random_flag_of(kind) == FLAG_BITS
               ? mix(hash, weft_entity_is_enabled(w->world, entity, component))
               : hash;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t left = ((const random_record *)a)->key, right = ((const random_record *)b)->key;
    return (left > right) - (left < right);
}

/* The value of the chunk that an entity is in. */
static void chunks_note(const random_world *w, uint32_t kind, random_digest *out)
{
    const weft_query query = weft_query_create(
        w->world, &(weft_query_desc){.terms = {{w->of[kind]}, {w->key}}, .with_inactive = true});
    weft_cursor cursor = weft_query_begin(w->world, query);
    while (weft_query_next(&cursor)) {
        const key_value *keys = weft_slice_read(&cursor.slice, 1);
        const uint64_t hash =
            value_hash(w, random_content_of(kind), weft_slice_read_chunk(&cursor.slice, 0));
        for (uint32_t i = 0; i < cursor.slice.count; i++) {
            const random_record wanted = {.key = keys[i].number};
            random_record *found =
                bsearch(&wanted, out->records, out->count, sizeof wanted, by_key);
            CHECK(found != NULL);
            found->of[kind] = hash;
        }
    }
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(w->world, query));
}

static void record_make(const random_world *w, weft_entity entity, bool (*takes)(uint32_t kind),
                        random_record *out)
{
    const char *name = weft_entity_name(w->world, entity);
    const target_value *likes = weft_entity_read(w->world, entity, w->likes);
    const target_value *parent = weft_entity_read(w->world, entity, w->parent);
    out->key = ((const key_value *)weft_entity_read(w->world, entity, w->key))->number;
    out->gid = w->shard == NULL ? 0 : weft_shard_gid(w->shard, entity);
    out->name = bytes_hash(name, strlen(name));
    out->likes = likes == NULL ? 0 : mix(6, entity_name_of(w, likes->to));
    out->parent = parent == NULL ? 0 : mix(6, entity_name_of(w, parent->to));
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (random_kind_is(kind) && takes(kind)) out->of[kind] = random_kind_hash(w, entity, kind);
}

random_digest random_digest_make(random_world *w, bool (*takes)(uint32_t kind), bool with_resources)
{
    random_digest digest = {0};
    weft_query_desc desc = {.terms = {{w->key}}, .with_inactive = true};
    if (w->shard != NULL)
        desc.terms[1] = (weft_term){.component = w->info.ghost, .match = WEFT_NONE};
    if (w->shard != NULL) desc.with_inactive = false;
    const weft_query query = weft_query_create(w->world, &desc);
    digest.count = (uint32_t)weft_query_count(w->world, query);
    digest.records = calloc(digest.count + 1, sizeof *digest.records);
    weft_entity *all = calloc(digest.count + 1, sizeof *all);
    CHECK(digest.records != NULL && all != NULL);
    CHECK_U64(weft_query_entities(w->world, query, all, digest.count), digest.count);
    for (uint32_t i = 0; i < digest.count; i++) record_make(w, all[i], takes, &digest.records[i]);
    free(all);
    CHECK_OK(weft_query_destroy(w->world, query));
    qsort(digest.records, digest.count, sizeof *digest.records, by_key);
    for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
        if (random_kind_is(kind) && takes(kind) && random_storage_of(kind) == STORED_CHUNK)
            chunks_note(w, kind, &digest);
    if (!with_resources) return digest;
    const weft_buffers list = weft_resource_read_buffer(w->world, w->list);
    digest.total = value_hash(w, HOLDS_MIXED, weft_resource_read(w->world, w->total));
    digest.list = buffer_hash(w, HOLDS_LINK, &list);
    return digest;
}

void random_digest_free(random_digest *digest)
{
    free(digest->records);
    *digest = (random_digest){0};
}

static void differs(const char *carrier, uint64_t key, const char *what, uint64_t is, uint64_t was)
{
    char text[200];
    snprintf(text, sizeof text, "%s: entity %llu: %s is %llx, was %llx", carrier,
             (unsigned long long)key, what, (unsigned long long)is, (unsigned long long)was);
    test_fail(__FILE__, __LINE__, text);
}

void random_digest_compare(const char *carrier, const random_digest *is, const random_digest *was)
{
    if (is->count != was->count) differs(carrier, 0, "number of entities", is->count, was->count);
    if (is->total != was->total) differs(carrier, 0, "a resource", is->total, was->total);
    if (is->list != was->list)
        differs(carrier, 0, "a resource that is a buffer", is->list, was->list);
    for (uint32_t i = 0; i < is->count; i++) {
        const random_record *a = &is->records[i], *b = &was->records[i];
        if (a->key != b->key) differs(carrier, b->key, "key", a->key, b->key);
        if (a->gid != b->gid) differs(carrier, b->key, "gid", a->gid, b->gid);
        if (a->name != b->name) differs(carrier, b->key, "name", a->name, b->name);
        if (a->likes != b->likes) differs(carrier, b->key, "Likes", a->likes, b->likes);
        if (a->parent != b->parent) differs(carrier, b->key, "Parent", a->parent, b->parent);
        for (uint32_t kind = 0; kind < RANDOM_KINDS; kind++)
            if (a->of[kind] != b->of[kind])
                differs(carrier, b->key, random_kind_name(kind), a->of[kind], b->of[kind]);
    }
}

uint64_t random_digest_sum(const random_digest *digest)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < digest->count; i++)
        sum += bytes_hash(&digest->records[i], sizeof digest->records[i]);
    return sum;
}

size_t random_blob_write(weft_blob_ref blob, char *text, size_t capacity, void *user)
{
    return (size_t)snprintf(text, capacity, "leaf%llu", (unsigned long long)leaf_of(user, blob));
}

const char *random_blob_read(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    const random_world *w = user;
    *out = (weft_blob_ref){0};
    if (length < 5 || memcmp(word, "leaf", 4) != 0) return "it is not a leaf";
    for (uint32_t i = 0; i < RANDOM_LEAVES; i++)
        if (strtoull(word + 4, NULL, 10) == 100 + i) *out = w->leaves[i];
    return NULL;
}
