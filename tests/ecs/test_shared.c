/* SPDX-License-Identifier: MIT */
/* test_shared.c: the store of shared values alone: content, references, indices, versions, memory.
 *
 * No world: what chunks and filters do with the store is tested in test_shared_world.c. */
#include "shared.h"

#include "check.h"
#include "memory_fault.h"
#include "random.h"

#include <criterion/criterion.h>
#include <string.h>
#include <weft/type.h>

/* A value with three bytes of padding and a float. */
typedef struct paint {
    uint8_t kind;
    float shine;
    int32_t colour;
} paint;

static const weft_field paint_fields[] = {
    {.name = "kind", .kind = WEFT_FIELD_U8, .offset = offsetof(paint, kind)},
    {.name = "shine", .kind = WEFT_FIELD_F32, .offset = offsetof(paint, shine)},
    {.name = "colour", .kind = WEFT_FIELD_I32, .offset = offsetof(paint, colour)},
};

enum { NUMBER = 3, PAINT = 7, EMPTY = 9, CUSTOM = 12 };

/* A store with four types; the hooks count into it. */
typedef struct store {
    test_memory fault;
    weft__memory memory;
    weft__shared shared;
    weft_component_desc number, paint, empty, custom;
    uint32_t released;
    uint64_t last_released;
} store;

static uint64_t constant_hash(const void *value, void *user)
{
    (void)value;
    (void)user;
    return 42; /* every value collides */
}

/* Equal when they leave the same remainder by ten. */
static bool equal_remainder(const void *a, const void *b, void *user)
{
    (void)user;
    return *(const uint64_t *)a % 10 == *(const uint64_t *)b % 10;
}

static void count_release(void *value, void *user)
{
    store *s = user;
    s->released++;
    memcpy(&s->last_released, value, sizeof s->last_released);
}

static void store_open(store *s)
{
    memset(s, 0, sizeof *s);
    test_memory_init(&s->fault);
    weft_allocator hook = test_memory_hook(&s->fault);
    CHECK_OK(weft__memory_init(&s->memory, &hook));
    weft__shared_init(&s->shared, &s->memory);
    s->number = (weft_component_desc){.name = "Number",
                                      .size = 8,
                                      .alignment = 8,
                                      .flags = WEFT_SHARED,
                                      .shared_release = count_release,
                                      .hooks.user = s};
    s->paint = (weft_component_desc){.name = "Paint",
                                     .size = sizeof(paint),
                                     .alignment = _Alignof(paint),
                                     .flags = WEFT_SHARED,
                                     .fields = paint_fields,
                                     .field_count = 3};
    s->empty = (weft_component_desc){.name = "Empty", .alignment = 1, .flags = WEFT_SHARED};
    s->custom = s->number;
    s->custom.shared_hash = constant_hash;
    s->custom.shared_equal = equal_remainder;
    CHECK_OK(weft__shared_type_create(&s->shared, NUMBER, &s->number));
    CHECK_OK(weft__shared_type_create(&s->shared, PAINT, &s->paint));
    CHECK_OK(weft__shared_type_create(&s->shared, EMPTY, &s->empty));
    CHECK_OK(weft__shared_type_create(&s->shared, CUSTOM, &s->custom));
}

static void store_close(store *s)
{
    weft__shared_fini(&s->shared);
    CHECK_U64(weft__memory_bytes(&s->memory, WEFT__MEMORY_SHARED), 0);
    test_memory_fini(&s->fault);
}

static uint32_t intern(store *s, uint32_t component, const void *value)
{
    uint32_t index = UINT32_MAX;
    CHECK_OK(weft__shared_intern(&s->shared, component, value, &index));
    return index;
}

static uint32_t intern_number(store *s, uint64_t value)
{
    return intern(s, NUMBER, &value);
}

Test(shared, the_default_has_index_zero_and_is_never_stored)
{
    store s;
    store_open(&s);
    CHECK_U64(intern_number(&s, 0), 0);
    CHECK_U64(weft__shared_references(&s.shared, NUMBER, 0), 0);
    CHECK_U64(weft__shared_end(&s.shared, NUMBER), 1);
    const uint64_t *value = weft__shared_value(&s.shared, NUMBER, 0);
    CHECK_U64(*value, 0);
    weft__shared_acquire(&s.shared, NUMBER, 0, 5);
    weft__shared_release(&s.shared, NUMBER, 0, 7); /* counts nothing */
    store_close(&s);
    CHECK_U64(s.released, 0);
}

Test(shared, equal_values_have_one_index_and_count_references)
{
    store s;
    store_open(&s);
    uint32_t a = intern_number(&s, 11), b = intern_number(&s, 22);
    CHECK(a != b && a != 0 && b != 0);
    CHECK_U64(intern_number(&s, 11), a);
    CHECK_U64(weft__shared_references(&s.shared, NUMBER, a), 2);
    weft__shared_release(&s.shared, NUMBER, a, 1);
    CHECK_U64(s.released, 0); /* not after the first of two */
    weft__shared_release(&s.shared, NUMBER, a, 1);
    CHECK_U64(s.released, 1);
    CHECK_U64(s.last_released, 11);
    uint32_t found = 99;
    uint64_t eleven = 11;
    CHECK(!weft__shared_find(&s.shared, NUMBER, &eleven, &found));
    store_close(&s);
    CHECK_U64(s.released, 2); /* the end of the store releases what lives */
}

Test(shared, padding_bytes_and_the_sign_of_zero_do_not_count_when_fields_are_described)
{
    store s;
    store_open(&s);
    paint one, two;
    memset(&one, 0xAA, sizeof one);
    memset(&two, 0x55, sizeof two);
    one.kind = two.kind = 3;
    one.shine = 0.0f;
    two.shine = -0.0f;
    one.colour = two.colour = -7;
    uint32_t index = intern(&s, PAINT, &one);
    CHECK_U64(intern(&s, PAINT, &two), index);
    two.colour = -8;
    CHECK(intern(&s, PAINT, &two) != index);
    memset(&two, 0xEE, sizeof two);
    two = (paint){.shine = -0.0f};
    memset((char *)&two + 1, 0x77, 3);
    CHECK_U64(intern(&s, PAINT, &two), 0); /* all fields zero: the default */
    store_close(&s);
}

Test(shared, values_with_equal_hashes_stay_apart_and_custom_equality_decides)
{
    store s;
    store_open(&s);
    uint32_t index[10];
    for (uint64_t v = 1; v < 10; v++) index[v] = intern(&s, CUSTOM, &v);
    for (uint64_t v = 1; v < 10; v++) {
        uint64_t same = v + 100;
        CHECK_U64(intern(&s, CUSTOM, &same), index[v]);
        for (uint64_t w = 1; w < v; w++) CHECK(index[w] != index[v]);
    }
    uint64_t ten = 10; /* equal to the default by the type's own judgement */
    CHECK_U64(intern(&s, CUSTOM, &ten), 0);
    store_close(&s);
}

Test(shared, an_empty_struct_has_only_the_default)
{
    store s;
    store_open(&s);
    CHECK_U64(intern(&s, EMPTY, NULL), 0);
    CHECK_U64(intern(&s, EMPTY, &s), 0);
    store_close(&s);
}

Test(shared, freed_indices_are_used_again_last_first_and_values_stay_right)
{
    store s;
    store_open(&s);
    uint32_t a = intern_number(&s, 1), b = intern_number(&s, 2), c = intern_number(&s, 3);
    weft__shared_release(&s.shared, NUMBER, a, 1);
    weft__shared_release(&s.shared, NUMBER, c, 1);
    CHECK_U64(intern_number(&s, 4), c);
    CHECK_U64(intern_number(&s, 5), a);
    CHECK_U64(*(const uint64_t *)weft__shared_value(&s.shared, NUMBER, a), 5);
    CHECK_U64(*(const uint64_t *)weft__shared_value(&s.shared, NUMBER, b), 2);
    CHECK_U64(*(const uint64_t *)weft__shared_value(&s.shared, NUMBER, c), 4);
    const void *values[5];
    CHECK_U64(weft__shared_list(&s.shared, NUMBER, values, 5), 4);
    CHECK_U64(*(const uint64_t *)values[0], 0); /* the default comes first */
    for (uint32_t i = 1; i < 4; i++)            /* then 2, 4, 5: whatever their indices are */
        CHECK_U64(*(const uint64_t *)values[i], i == 1 ? 2 : i + 2);
    store_close(&s);
}

Test(shared, the_first_values_in_order_are_listed_and_none_that_is_only_kept)
{
    enum { COUNT = 200 };
    store s;
    store_open(&s);
    const void *values[COUNT + 1];
    uint32_t kept = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint32_t index = intern_number(&s, 1 + i * 77 % COUNT);
        if (i * 77 % COUNT == 2) kept = index; /* the value 3 */
    }
    for (uint32_t capacity = 0; capacity <= COUNT + 1; capacity++) {
        CHECK_U64(weft__shared_list(&s.shared, NUMBER, values, capacity), COUNT + 1);
        for (uint32_t i = 0; i < capacity; i++) CHECK_U64(*(const uint64_t *)values[i], i);
    }
    weft__shared_keep(&s.shared, NUMBER, kept);
    CHECK_U64(weft__shared_list(&s.shared, NUMBER, values, 4), COUNT + 1);
    CHECK_U64(*(const uint64_t *)values[3], 3);
    weft__shared_release(&s.shared, NUMBER, kept, 1);
    CHECK_U64(weft__shared_list(&s.shared, NUMBER, values, 4), COUNT);
    CHECK_U64(*(const uint64_t *)values[3], 4);
    CHECK_U64(*(const uint64_t *)weft__shared_value(&s.shared, NUMBER, kept), 3);
    CHECK_U64(s.released, 0);
    weft__shared_let_go(&s.shared, NUMBER, kept);
    CHECK(!weft__shared_find(&s.shared, NUMBER, &(uint64_t){3}, &kept));
    store_close(&s);
}

Test(shared, values_keep_their_address_while_the_store_grows)
{
    store s;
    store_open(&s);
    uint32_t first = intern_number(&s, 1);
    const void *address = weft__shared_value(&s.shared, NUMBER, first);
    for (uint64_t v = 2; v <= 5000; v++) intern_number(&s, v);
    CHECK_POINTER(weft__shared_value(&s.shared, NUMBER, first), address);
    store_close(&s);
}

/* A naive store: the value of each index, with its references. */
typedef struct naive {
    uint64_t value[256];
    uint32_t references[256];
} naive;

Test(shared, random_references_agree_with_a_naive_store)
{
    store s;
    store_open(&s);
    test_random random = test_random_init(20261);
    naive model = {0};
    for (int step = 0; step < 20000; step++) {
        uint64_t value = test_random_below(&random, 100) * 7919;
        uint32_t index = 0;
        if (test_random_below(&random, 2) == 0) {
            index = intern_number(&s, value);
            CHECK(index < 256);
            if (index == 0) continue;
            CHECK(model.references[index] == 0 || model.value[index] == value);
            model.value[index] = value;
            model.references[index]++;
        } else if (weft__shared_find(&s.shared, NUMBER, &value, &index) && index != 0) {
            CHECK_U64(model.value[index], value);
            weft__shared_release(&s.shared, NUMBER, index, 1);
            model.references[index]--;
        }
        CHECK_U64(weft__shared_references(&s.shared, NUMBER, index), model.references[index]);
    }
    store_close(&s);
}

Test(shared, running_out_of_memory_leaves_the_store_as_it_was)
{
    for (uint64_t k = 1;; k++) {
        store s;
        store_open(&s);
        for (uint64_t v = 1; v <= 16; v++) intern_number(&s, v);
        uint64_t bytes = weft__memory_bytes(&s.memory, WEFT__MEMORY_SHARED);
        uint64_t fresh = 17;
        uint32_t index = 0, end = weft__shared_end(&s.shared, NUMBER);
        test_memory_fail(&s.fault, k, true);
        weft_result result = weft__shared_intern(&s.shared, NUMBER, &fresh, &index);
        uint64_t failures = s.fault.failures;
        test_memory_fail(&s.fault, 0, false);
        if (result != WEFT_OK) {
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK(!weft__shared_find(&s.shared, NUMBER, &fresh, &index));
            CHECK_U64(weft__shared_end(&s.shared, NUMBER), end);
            CHECK(k > 1 || weft__memory_bytes(&s.memory, WEFT__MEMORY_SHARED) == bytes);
        }
        store_close(&s);
        if (failures == 0) {
            CHECK(k > 1);
            break;
        }
    }
}
