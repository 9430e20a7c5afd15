/* SPDX-License-Identifier: MIT */
/* answer.c: the table of what can be asked, and the list of what a page watches. A watch is a
 * request that is answered again and again, so windows do not know of streams. */
#include "answer.h"

#include "changes.h"
#include "clockwork.h"
#include "condition.h"
#include "window_archetypes.h"
#include "window_components.h"
#include "window_entities.h"
#include "window_entity.h"
#include "window_list.h"
#include "window_program.h"
#include "window_scenes.h"
#include "window_shards.h"
#include "window_space.h"
#include "window_systems.h"
#include "window_timeline.h"
#include "window_world.h"

#include <string.h>

static uint32_t watch(weft__session *session, const weft__request *request, weft__wire *out);

static const struct {
    const char *word;
    weft__window *window;
    bool is_action; /* changes something: cannot be watched */
} table[] = {
    {"status", weft__status_window, false},
    {"types", weft__types_window, false},
    {"archetypes", weft__archetypes_window, false},
    {"archetype", weft__archetype_window, false},
    {"components", weft__components_window, false},
    {"component", weft__component_window, false},
    {"entities", weft__entities_window, false},
    {"freeze", weft__list_make, true}, /* looks at every row */
    {"rows", weft__list_window, false},
    {"search", weft__search_window, false},
    {"relations", weft__relations_window, false},
    {"tree", weft__tree_window, false},
    {"entity", weft__entity_window, false},
    {"elements", weft__elements_window, false},
    {"places", weft__places_window, false},
    {"points", weft__points_window, false},
    {"nearest", weft__nearest_window, true}, /* looks at every row */
    {"systems", weft__systems_window, false},
    {"schedule", weft__schedule_window, false},
    {"explain", weft__explain_window, false},
    {"queries", weft__queries_window, false},
    {"timeline", weft__timeline_window, false},
    {"memory", weft__memory_window, false},
    {"scenes", weft__scenes_window, false},
    {"jobs", weft__jobs_window, false},
    {"panels", weft__program_window, false},
    {"shards", weft__shards_window, false},
    {"export", weft__export_window, true}, /* too large to be sent again and again */
    {"set", weft__entity_edit, true},
    {"set_resource", weft__resource_edit, true},
    {"create", weft__entity_create, true},
    {"clone", weft__entity_clone, true},
    {"destroy", weft__entity_destroy, true},
    {"rename", weft__entity_rename, true},
    {"change", weft__entity_change, true},
    {"relate", weft__entity_relate, true},
    {"write_back", weft__value_write_back, true},
    {"unwrite", weft__value_unwrite, true},
    {"press", weft__panel_press, true},
    {"switch", weft__system_switch, true},
    {"switch_group", weft__group_switch, true},
    {"run_system", weft__system_once, true},
    {"section", weft__section_request, true},
    {"pause", weft__pause, true},
    {"step", weft__step, true},
    {"speed", weft__speed, true},
    {"pause_when", weft__condition_set, true},
    {"watch", watch, true},
};

/* Position in the table of what the request asks; -1: nothing that there is. */
static int find_word(const weft__request *request)
{
    char word[32];
    if (!weft__request_text(request, "do", word, sizeof word)) return -1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].word, word) == 0) return (int)i;
    return -1;
}

bool weft__answer_is_window(const char *text, size_t count)
{
    weft__request request;
    const char *problem;
    if (!weft__request_read(&request, text, count, &problem)) return false;
    int found = find_word(&request);
    return found >= 0 && !table[found].is_action;
}

uint32_t weft__answer(weft__session *session, const char *text, size_t count, weft__wire *out)
{
    weft__request request;
    const char *problem;
    uint32_t status;
    const uint64_t errors = weft_world_error(session->world)->number;
    weft__wire_clear(out);
    weft__wire_open(out, NULL, '{');
    if (!weft__request_read(&request, text, count, &problem)) {
        status = weft__window_fail(out, 400, "%s", problem);
    } else {
        int found = find_word(&request);
        status = found < 0 ? weft__window_fail(out, 400, "\"do\" names nothing that can be asked")
                           : table[found].window(session, &request, out);
    }
    weft__wire_close(out, '}');
    /* a loop or a count whose memory was refused looks empty */
    const weft_error *error = weft_world_error(session->world);
    out->has_failed |= error->number != errors && error->code == WEFT_OUT_OF_MEMORY;
    return out->has_failed ? 503 : status;
}

/* {"stream": 3, "serial": 7, "what": [{"do": "status"}, ...]}: what a page watches from now on. Its
 * events are named "7.0", "7.1", ...: those of a list before it are told from them. */
static uint32_t watch(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft__watch_list watched = {
        .number = (uint32_t)weft__request_count(request, "stream", 0, UINT32_MAX),
        .serial = (uint32_t)weft__request_count(request, "serial", 0, UINT32_MAX)};
    size_t bytes;
    weft__json json;
    const char *list = weft__request_raw(request, "what", &bytes);
    if (list == NULL) return weft__window_fail(out, 400, "\"what\" is a list of requests");
    weft__json_open(&json, list, bytes);
    weft__json_token token = weft__json_next(&json);
    if (token.kind != WEFT__JSON_ARRAY)
        return weft__window_fail(out, 400, "\"what\" is a list of requests");
    while ((token = weft__json_next(&json)).kind == WEFT__JSON_OBJECT) {
        const char *begin = token.at;
        if (watched.count == WEFT__WATCHES_MAX)
            return weft__window_fail(out, 400, "at most %d things can be watched",
                                     WEFT__WATCHES_MAX);
        if (!weft__json_skip(&json, &token)) break;
        watched.texts[watched.count] = begin;
        watched.lengths[watched.count] = (size_t)(token.end - begin);
        if (!weft__answer_is_window(begin, (size_t)(token.end - begin)))
            return weft__window_fail(out, 400, "number %u of \"what\" cannot be watched",
                                     watched.count);
        watched.count++;
    }
    if (token.kind != WEFT__JSON_ARRAY_END)
        return weft__window_fail(out, 400, "\"what\" is a list of requests");
    if (!weft__stream_watch(session->mailbox, &watched, &out->has_failed))
        return weft__window_fail(out, 404,
                                 "there is no stream %u (open /events), or it has a list of a "
                                 "later serial",
                                 watched.number);
    weft__wire_count(out, "watched", watched.count);
    return 200;
}
