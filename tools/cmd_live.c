/* SPDX-License-Identifier: MIT */
/* cmd_live.c: `weft live SCENE`: a demonstration of live links: a world runs in the terminal
 * while its document is edited beside it. Objects turn by their Turn; the screen shows where
 * they are, what the last edits did, how long they took, and the conflicts.
 */
#include "cli.h"
#include "inspect_option.h"
#include "screen/screen_scene.h"
#include "screen/tle_source.h"

#include <weft/live.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 12, NOTES = 6, NOTE_BYTES = 160 };

/* How fast an object turns about its own y axis. */
struct turn {
    float speed;
};
static const weft_field turn_fields[] = {
    {.name = "speed", .kind = WEFT_FIELD_F32, .count = 1, .unit = "rad/s"}};
static const weft_type turn_type = {.name = "Turn",
                                    .size = sizeof(struct turn),
                                    .alignment = 4,
                                    .fields = turn_fields,
                                    .field_count = 1};

/* The demonstration. Owner: the stack of run_live. */
struct show {
    weft_world *world;
    weft_live *live;
    weft_transform transform;
    weft_component turn;
    weft_query placed;
    char notes[NOTES][NOTE_BYTES]; /* newest first */
    bool is_terminal, is_json;
};

static void turn_rows(weft_slice *slice, void *user)
{
    weft_local_transform *local = WEFT_WRITE_COLUMN(slice, 0, weft_local_transform);
    const struct turn *turn = WEFT_READ_COLUMN(slice, 1, struct turn);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const float half = 0.5f * turn[i].speed * weft_slice_dt(slice), s = sinf(half),
                    c = cosf(half);
        const float *r = local[i].rotation;
        const float turned[4] = {c * r[0] - s * r[2], c * r[1] + s * r[3], c * r[2] + s * r[0],
                                 c * r[3] - s * r[1]};
        memcpy(local[i].rotation, turned, sizeof turned);
    }
}

static char *note_next(struct show *show)
{
    memmove(show->notes[1], show->notes[0], sizeof show->notes - sizeof show->notes[0]);
    return show->notes[0];
}

static void conflict_note(const weft_live_conflict *conflict, void *user)
{
    snprintf(note_next(user), NOTE_BYTES, "conflict: %.60s.%.30s.%.30s, the %s stays",
             conflict->path, conflict->component == NULL ? "" : conflict->component,
             conflict->field == NULL ? "" : conflict->field,
             conflict->is_taken ? "file's value" : "world's value");
}

/* ---- what is shown ---- */

static void report_json(const weft_live_report *report)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_count(&json, "added", report->added);
    weft_json_count(&json, "changed", report->changed);
    weft_json_count(&json, "removed", report->removed);
    weft_json_count(&json, "values", report->values);
    weft_json_count(&json, "conflicts", report->conflicts);
    weft_json_count(&json, "errors", report->errors);
    weft_json_number(&json, "ms", (double)report->latency_ns / 1e6);
    weft_json_end(&json);
    fflush(stdout);
}

/* Adds "3 values" to a list in words, unless there are none. */
static void count_add(char text[NOTE_BYTES], uint32_t count, const char *what, const char *plural)
{
    size_t at = strlen(text);
    if (count != 0)
        snprintf(text + at, NOTE_BYTES - at, "%s%u %s%s", at == 0 ? "" : ", ", count, what,
                 count == 1 ? "" : plural);
}

/* The first line of the first mistake. */
static void mistake_note(struct show *show)
{
    weft_error mistake;
    if (weft_live_mistakes(show->live, &mistake, 1) != 0)
        snprintf(note_next(show), NOTE_BYTES, "%.*s", (int)strcspn(mistake.text, "\n"),
                 mistake.text);
}

static void report_note(struct show *show, const weft_live_report *report)
{
    if (report->bakes == 0) return;
    if (show->is_json) report_json(report);
    mistake_note(show);
    char text[NOTE_BYTES] = "";
    count_add(text, report->added, "added", "");
    count_add(text, report->changed, "changed", "");
    count_add(text, report->removed, "removed", "");
    count_add(text, report->values, "value", "s");
    count_add(text, report->conflicts, "conflict", "s");
    count_add(text, report->errors, "mistake", "s");
    snprintf(note_next(show), NOTE_BYTES, "%.120s; %.1f ms", text[0] == '\0' ? "no change" : text,
             (double)report->latency_ns / 1e6);
}

/* The end of a line: of what stood there before nothing stays. */
static const char *line_end(const struct show *show)
{
    return show->is_terminal ? "\033[K\n" : "\n";
}

static void object_print(const struct show *show, const char *path, const weft_world_transform *at)
{
    const float heading = atan2f(at->rows[0][2], at->rows[2][2]) * (180 / 3.14159265f);
    printf("%-32.32s %10.3f %10.3f %10.3f %8.1f%s", path, (double)at->rows[0][3],
           (double)at->rows[1][3], (double)at->rows[2][3], (double)heading, line_end(show));
}

static void objects_print(const struct show *show)
{
    uint32_t shown = 0;
    weft_cursor cursor = weft_query_begin(show->world, show->placed);
    while (weft_query_next(&cursor)) {
        const weft_world_transform *place =
            WEFT_READ_COLUMN(&cursor.slice, 0, weft_world_transform);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            const char *path = weft_live_path(show->live, weft_slice_entities(&cursor.slice)[i]);
            if (path == NULL || shown++ >= LINES) continue;
            if (shown == 1)
                printf("%-32s %10s %10s %10s %8s%s", "object", "x", "y", "z", "heading",
                       line_end(show));
            object_print(show, path, &place[i]);
        }
    }
    weft_query_end(&cursor);
    if (shown > LINES) printf("and %u more%s", shown - LINES, line_end(show));
}

static void show_print(struct show *show, const char *scene)
{
    weft_world_stats stats;
    weft_world_stats_get(show->world, &stats, sizeof stats);
    if (show->is_json) {
        weft_json json;
        weft_json_begin(&json, stdout);
        weft_json_text(&json, "live", scene);
        weft_json_count(&json, "entities", stats.entities);
        weft_json_end(&json);
        return;
    }
    if (show->is_terminal) fputs("\033[H", stdout);
    printf("%s: %llu entities; edit it beside this; Ctrl-C ends%s", scene,
           (unsigned long long)stats.entities, line_end(show));
    const char *url = weft_cli_inspect_url(show->world); /* clearing the screen took it away */
    if (show->is_terminal && *url != '\0') printf("inspector: %s%s", url, line_end(show));
    objects_print(show);
    for (int i = 0; i < NOTES; i++)
        if (show->is_terminal || show->notes[i][0] != '\0')
            printf("  %s%s", show->notes[i], line_end(show));
    if (show->is_terminal) fputs("\033[J", stdout);
    fflush(stdout);
}

/* ---- the run ---- */

static int show_open(struct show *show, const char *const *scenes, uint32_t count)
{
    const weft_baker_desc bakers[] = {screen_scene_baker};
    const weft_source_desc sources[] = {tle_source};
    const weft_scene_desc scene = {
        .bakers = bakers, .baker_count = 1, .sources = sources, .source_count = 1};
    const weft_live_desc desc = {.scene = &scene,
                                 .paths = scenes,
                                 .path_count = count,
                                 .conflict = conflict_note,
                                 .user = show};
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &show->world) != WEFT_OK)
        return weft_cli_fail("live", "out of memory");
    weft_transform_create(show->world, NULL, &show->transform);
    show->turn = weft_component_create(show->world, &(weft_component_desc){.type = &turn_type});
    screen_scene_register(show->world);
    weft_system_create(show->world,
                       &(weft_system_desc){
                           .name = "turn",
                           .run = turn_rows,
                           .before = {"transforms"},
                           .over.rows.terms = {{show->transform.local, WEFT_WRITE}, {show->turn}}});
    show->placed =
        weft_query_create(show->world, &(weft_query_desc){.terms = {{show->transform.world}}});
    const weft_result result = weft_live_start(show->world, &desc, &show->live);
    if (result == WEFT_OK) return WEFT_CLI_OK;
    return weft_cli_fail("live", "%s", weft_result_text(result));
}

/* A document that is not there when the run begins is mostly a misspelt name. */
static int scenes_check(const char *const *scenes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (access(scenes[i], R_OK) != 0)
            return weft_cli_misuse("live", "%s: %s: create it, or correct the name", scenes[i],
                                   strerror(errno));
    return WEFT_CLI_OK;
}

static int show_run(struct show *show, const char *scene, double seconds)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    const struct timespec pause = {.tv_nsec = 16000000};
    if (show->is_terminal) fputs("\033[2J", stdout);
    mistake_note(show);
    bool is_last = false;
    for (uint32_t frame = 0; !is_last; frame++) {
        weft_live_report report = {0};
        if (weft_live_apply(show->live, 1000000, &report, sizeof report) != WEFT_OK ||
            weft_world_step(show->world, 1 / 60.0f) != WEFT_OK)
            return weft_cli_fail("live", "%s", weft_world_error(show->world)->text);
        report_note(show, &report);
        is_last = frame + 1 >= 60 * seconds;
        if (is_last || (show->is_terminal && frame % 6 == 0)) show_print(show, scene);
        if (!is_last && sigtimedwait(&ends, NULL, &pause) >= 0) break;
    }
    return weft_live_mistakes(show->live, NULL, 0) == 0 ? WEFT_CLI_OK : WEFT_CLI_FOUND;
}

static int run_live(int argc, char **argv)
{
    double seconds = HUGE_VAL;
    bool is_json = false;
    const char *inspect = NULL;
    const weft_cli_option options[] = {
        {"seconds", "S", "end after so much time; without a terminal show the end only",
         WEFT_CLI_NUMBER, &seconds, 0, 1e6, 0},
        {"json", NULL, "one JSON object per edit, and one at the end", WEFT_CLI_FLAG, &is_json, 0,
         0, 0},
        {"inspect", WEFT_INSPECT_OPTION, &inspect, 0, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "live",
        "SCENE...",
        "Runs a scene in the terminal while its documents are edited.",
        options,
        "Objects may have \"transform\" and {\"Turn\": {\"speed\": \"10 deg/s\"}}; satellites of\n"
        "catalogues (.tle) are counted. Status 1: the documents had mistakes at the end.\n"
        "See docs/guide/live.md.",
        "weft live level.weft\nweft live level.weft active.tle --seconds 10 --json\n"
        "weft live level.weft --inspect=write"};
    int first;
    int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status == WEFT_CLI_CONTINUE) status = weft_cli_inspect("live", inspect);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (first == argc) return weft_cli_misuse("live", "name at least one document");
    status = scenes_check((const char *const *)argv + first, (uint32_t)(argc - first));
    if (status != WEFT_CLI_OK) return status;
    struct show show = {.is_terminal = !is_json && isatty(STDOUT_FILENO) == 1, .is_json = is_json};
    int code = show_open(&show, (const char *const *)argv + first, (uint32_t)(argc - first));
    if (code == WEFT_CLI_OK) code = show_run(&show, argv[first], seconds);
    weft_live_stop(show.live);
    weft_world_destroy(show.world);
    return code;
}

const weft_cli_command weft_cli_commands_live[] = {
    {"live", "a scene runs in the terminal while its documents are edited", run_live},
    {0},
};
