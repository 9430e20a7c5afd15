/* SPDX-License-Identifier: MIT */
/* text_fixture.h: a component that owns memory: text of malloc, with hooks that free, save and
 * load it. Loading refuses a NUL, which would be lost, and a '!', so that tests have something
 * malformed. Shared by the tests of world files and their fuzz target. */
#ifndef WEFT_TESTS_TEXT_FIXTURE_H
#define WEFT_TESTS_TEXT_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Text {
    char *text; /* of malloc */
} Text;

static void text_destruct(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) free(((Text *)values)[i].text);
}

static size_t text_save(const void *value, void *out, size_t capacity, void *user)
{
    const Text *text = value;
    (void)user;
    size_t count = text->text == NULL ? 0 : strlen(text->text);
    if (count <= capacity && count != 0) memcpy(out, text->text, count);
    return count;
}

static bool text_load(void *value, const void *bytes, size_t count, void *user)
{
    Text *text = value;
    (void)user;
    if (count == 0) return true;
    if (memchr(bytes, '!', count) != NULL || memchr(bytes, '\0', count) != NULL) return false;
    text->text = strndup(bytes, count);
    return text->text != NULL;
}

#endif
