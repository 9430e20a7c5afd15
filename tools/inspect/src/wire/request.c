/* SPDX-License-Identifier: MIT */
/* request.c: members of the object that a page sends, by the pull parser of described values.
 *
 * Values are looked at when they are asked for; what is nested is passed by. */
#include "request.h"

#include <stdio.h>
#include <string.h>

/* The value that begins with `value` goes to where the parser stands afterwards. */
static bool read_member(weft__json *json, const weft__json_token *name, weft__member *out)
{
    weft__json_token token = weft__json_next(json);
    *out = (weft__member){.name = *name, .kind = token.kind, .at = token.at, .value = token};
    if (!weft__json_skip(json, &token)) return false;
    out->end = token.end;
    return true;
}

bool weft__request_read(weft__request *request, const char *text, size_t count,
                        const char **problem)
{
    weft__json json;
    request->count = 0;
    weft__json_open(&json, text, count);
    weft__json_token token = weft__json_next(&json);
    *problem = "a JSON object should be here";
    if (token.kind != WEFT__JSON_OBJECT) return false;
    while ((token = weft__json_next(&json)).kind == WEFT__JSON_NAME) {
        *problem = "more than 16 members";
        if (request->count == WEFT__REQUEST_MEMBERS) return false;
        if (!read_member(&json, &token, &request->members[request->count++])) break;
    }
    bool is_whole = json.problem == NULL && weft__json_next(&json).kind == WEFT__JSON_END;
    *problem = json.problem != NULL ? json.problem : "something behind the object";
    return is_whole;
}

static const weft__member *member(const weft__request *request, const char *name)
{
    for (uint32_t i = 0; i < request->count; i++)
        if (weft__json_is(&request->members[i].name, name)) return &request->members[i];
    return NULL;
}

bool weft__request_has(const weft__request *request, const char *name)
{
    return member(request, name) != NULL;
}

bool weft__request_text(const weft__request *request, const char *name, char *out, size_t capacity)
{
    const weft__member *found = member(request, name);
    out[0] = '\0';
    if (found == NULL) return true;
    if (found->kind != WEFT__JSON_STRING) return false;
    size_t length = weft__json_string(&found->value, out, capacity);
    bool fits = length < capacity && memchr(out, '\0', length) == NULL;
    if (!fits) out[0] = '\0';
    return fits;
}

double weft__request_number(const weft__request *request, const char *name, double otherwise)
{
    const weft__member *found = member(request, name);
    if (found == NULL || found->kind != WEFT__JSON_NUMBER) return otherwise;
    return found->value.number.value;
}

uint64_t weft__request_count(const weft__request *request, const char *name, uint64_t otherwise,
                             uint64_t most)
{
    double value = weft__request_number(request, name, (double)otherwise);
    if (!(value >= 0)) return otherwise;
    return value >= (double)most ? most : (uint64_t)value;
}

bool weft__request_is(const weft__request *request, const char *name)
{
    const weft__member *found = member(request, name);
    return found != NULL && found->kind == WEFT__JSON_TRUE;
}

const char *weft__request_raw(const weft__request *request, const char *name, size_t *count)
{
    const weft__member *found = member(request, name);
    *count = 0;
    if (found == NULL) return NULL;
    size_t quotes = found->kind == WEFT__JSON_STRING;
    *count = (size_t)(found->end - found->at) + 2 * quotes;
    return found->at - quotes;
}

bool weft__request_entity(const weft__request *request, const char *name, weft_entity *out)
{
    char word[48];
    int end = 0;
    *out = (weft_entity){0};
    if (!weft__request_text(request, name, word, sizeof word)) return false;
    if (strspn(word, "0123456789:") != strlen(word) || strlen(word) > 21) return false;
    return sscanf(word, "%10u:%10u%n", &out->index, &out->version, &end) == 2 && word[end] == '\0';
}
