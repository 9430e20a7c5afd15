/* SPDX-License-Identifier: MIT */
/* fuzz_value.c: fuzz target of described values as text (libFuzzer interface; replayed without it
 * by fuzz_replay.c).
 *
 * The first eight bytes seed a random type (../ecs/value_random.h), the rest is a text. What is
 * refused must leave the value as it was and say where; what is accepted must be written and read
 * to the same value again.
 */
#include "../ecs/value_random.h"
#include "check.h"
#include "fuzz.h"

#include <stdlib.h>

enum { HEAD = 8, SEEDS = 24 };

static random_types types;
static _Alignas(64) char value[RANDOM_BYTES], before[RANDOM_BYTES], again[RANDOM_BYTES];
static char written[1 << 18];

static const weft_type *type_of(const uint8_t *data)
{
    test_random random = {{1, 2, 3, 4}};
    for (int i = 0; i < HEAD; i++) random.words[i % 4] = random.words[i % 4] << 8 | data[i];
    do {
        types.count = 0;
        random_type_make(&types, &random, 0);
    } while (types.types[0].size > RANDOM_BYTES);
    return &types.types[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    const weft_type *type = type_of(data);
    weft_error error;
    size_t count = size - HEAD;
    char *text = malloc(count + 1); /* its exact size, for AddressSanitizer */
    CHECK(text != NULL);
    memcpy(text, data + HEAD, count);
    memset(value, 0, type->size);
    memset(before, 0, type->size);
    if (weft_value_parse(NULL, &(weft_text){text, count, "fuzz"}, type, value, &error) != WEFT_OK) {
        CHECK(memcmp(value, before, type->size) == 0);
        CHECK(error.line != 0 && error.column != 0 && error.column <= count + 1);
        CHECK(error.text[0] != '\0');
    } else {
        size_t length = weft_value_format(NULL, type, value, written, sizeof written);
        CHECK(length < sizeof written);
        CHECK_OK(weft_value_parse(NULL, &(weft_text){written, length, NULL}, type, again, &error));
        CHECK_U64(weft_value_diff(type, value, again, NULL, 0), 0);
    }
    free(text);
    return 0;
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    if (index >= SEEDS || capacity < HEAD + 2) return 0;
    test_random random = test_random_init(index + 1);
    for (int i = 0; i < HEAD; i++) out[i] = (uint8_t)test_random_next(&random);
    const weft_type *type = type_of(out);
    memset(value, 0, type->size);
    random_value(&random, type, value);
    weft_value_io io = {.indent = index % 3};
    size_t length = weft_value_format(&io, type, value, (char *)out + HEAD, capacity - HEAD);
    return HEAD + (length < capacity - HEAD ? length : capacity - HEAD - 1);
}
