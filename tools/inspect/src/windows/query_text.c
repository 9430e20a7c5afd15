/* SPDX-License-Identifier: MIT */
/* query_text.c: reads the text of a query, word by word. Names of components may have any
 * characters but the comma, the bar and blanks at their ends. */
#include "query_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <weft/query.h>

/* What is read so far. Owner: one call. */
typedef struct reading {
    const weft__session *session;
    weft_query_desc desc;
    uint32_t count;
    char *why;
    size_t capacity;
} reading;

static const struct {
    char sign;
    weft_match match;
} signs[] = {{'!', WEFT_NONE}, {'?', WEFT_OPTIONAL}, {'-', WEFT_ABSENT}, {'+', WEFT_PRESENT}};

const char *weft__query_text_prefix(weft_match match)
{
    switch (match) {
    case WEFT_NONE:
        return "!";
    case WEFT_OPTIONAL:
        return "?";
    case WEFT_ABSENT:
        return "-";
    case WEFT_PRESENT:
        return "+";
    case WEFT_ANY:
        return "|";
    case WEFT_DISABLED:
        return "~";
    case WEFT_ALL:
        break;
    }
    return "";
}

/* A component whose name is the same but for case, or begins with the word. */
static const char *nearest(const weft__session *session, const char *word)
{
    uint32_t count = weft__session_component_count(session);
    for (uint32_t id = 1; id <= count; id++) {
        const char *name = weft__session_name(session, weft__session_component(session, id));
        if (strncasecmp(name, word, strlen(word)) == 0) return name;
    }
    return NULL;
}

static bool add_term(reading *r, const char *word, size_t length, bool is_any)
{
    weft_match match = is_any ? WEFT_ANY : WEFT_ALL;
    char name[WEFT__REQUEST_WORD];
    for (size_t i = 0; length > 0 && i < sizeof signs / sizeof signs[0]; i++) {
        if (*word != signs[i].sign) continue;
        match = signs[i].match;
        word++, length--;
        break;
    }
    while (length > 0 && *word == ' ') word++, length--;
    while (length > 0 && word[length - 1] == ' ') length--;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    weft_component component = weft_component_find(r->session->world, name);
    if (component.id == 0) {
        const char *near = length == 0 ? NULL : nearest(r->session, name);
        snprintf(r->why, r->capacity,
                 near == NULL ? "no component \"%s\"%s%s"
                              : "no component \"%s\"; did you mean %s?%s",
                 name, near == NULL ? "" : near, "");
        return false;
    }
    if (r->count == WEFT_INLINE_TERMS) {
        snprintf(r->why, r->capacity, "more than %d terms", WEFT_INLINE_TERMS);
        return false;
    }
    r->desc.terms[r->count++] = (weft_term){.component = component, .match = match};
    return true;
}

/* One part between commas: a term, or several with bars. */
static bool add_part(reading *r, const char *part, size_t length)
{
    bool is_any = memchr(part, '|', length) != NULL;
    while (length > 0) {
        const char *bar = memchr(part, '|', length);
        size_t word = bar == NULL ? length : (size_t)(bar - part);
        const char *begin = part;
        size_t left = word;
        while (left > 0 && *begin == ' ') begin++, left--;
        if (!add_term(r, begin, left, is_any)) return false;
        if (bar == NULL) break;
        length -= word + 1;
        part += word + 1;
    }
    return true;
}

bool weft__query_text_make(const weft__session *session, const char *text, weft_query *out,
                           char *why, size_t capacity)
{
    reading r = {.session = session, .why = why, .capacity = capacity};
    *out = (weft_query){0};
    while (*text == ' ') text++;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (!add_part(&r, text, length)) return false;
        text += length;
        if (*text == ',') text++;
        while (*text == ' ') text++;
    }
    r.desc.with_prefabs = r.desc.with_inactive = r.count == 0;
    *out = weft_query_create(session->world, &r.desc);
    if (out->id == 0) snprintf(why, capacity, "%s", weft_world_error(session->world)->text);
    return out->id != 0;
}
