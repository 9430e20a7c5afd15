/* SPDX-License-Identifier: MIT */
/* inspector.c: an inspector of a world: start, pump, stop; and the one that the environment asks
 * for. The pump is what runs between steps on the thread that owns the world: it answers
 * letters, then, ten times a second, what open pages watch, and waits while the page has paused
 * the world. */
#include "answer.h"
#include "clockwork.h"
#include "condition.h"
#include "error.h"
#include "log.h"
#include "past.h"
#include "server.h"
#include "system_log.h"
#include "timeline_store.h"
#include "window_entities.h"
#include "window_list.h"
#include "window_program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <weft/schedule.h>

static const uint64_t watch_period_ns = UINT64_C(100000000);
static const uint64_t watch_rest_ns = UINT64_C(1500000000); /* at most: needs last longer */
enum { WATCH_REST = 100 }; /* a watch rests so many times as long as all watches took: 1 % */
static const uint64_t page_gone_ns = UINT64_C(5000000000);
static const uint64_t need_lasts_ns = UINT64_C(2000000000);

/* Owner: the program, from start to stop; the thread that owns the world. */
struct weft_inspect {
    weft__session session;
    weft__server *server;
    weft__mailbox *mailbox; /* of the server */
    weft_world_hook hook;
    pid_t process; /* a forked child has no server */
    bool holds;    /* counts as wanted in the mailbox */
    bool awaits;   /* is_paused: a first page, for as long as it takes */
    weft_log log;
    uint64_t seen_ns;    /* when a page was last there: one that paused the world may be gone */
    uint64_t watched_ns; /* when one last got what it watches; 0: never */
    weft__watch_place watch_at; /* the watch that was answered last */
    weft__wire request, reply;
    char token[WEFT__TOKEN_BYTES];
    char url[96];
};

/* ---- needs ---- */

static bool is_needed(const weft__session *session, weft__need need, uint64_t now)
{
    uint64_t asked = session->needed_ns[need];
    return asked != 0 && now - asked < need_lasts_ns;
}

static void measure(weft__session *session, bool is_on)
{
    if (session->is_measuring == is_on) return;
    if (is_on) weft_schedule_get(session->world, &session->options, sizeof session->options);
    weft_schedule_desc options = session->options;
    options.is_measured |= is_on;
    if (!session->options.is_measured && weft_schedule_set(session->world, &options) != WEFT_OK)
        return;
    session->is_measuring = is_on;
    if (!is_on) weft__system_log_free(session);
}

static void trace(weft__session *session, bool is_on)
{
    if (session->is_tracing == is_on) return;
    session->is_tracing = is_on;
    if (is_on) weft__timeline_skip(session);
    weft_job_trace_enable(weft_world_pool(session->world), is_on);
}

/* Switches on what open windows need, and off what none needs any more. */
static void meet_needs(weft__session *session, uint64_t now)
{
    measure(session, is_needed(session, WEFT__NEED_TIMES, now));
    trace(session, is_needed(session, WEFT__NEED_EVENTS, now));
}

/* ---- answers ---- */

/* Returns whether time is left. */
static bool answer_letters(weft_inspect *inspect, uint64_t end_ns)
{
    weft__letter *letter;
    while ((letter = weft__mail_take(inspect->mailbox, weft__session_now())) != NULL) {
        const char *text = letter->body.bytes == NULL ? "" : letter->body.bytes;
        letter->status = weft__answer(&inspect->session, text, letter->body.count, &letter->reply);
        weft__mail_answer(inspect->mailbox, letter);
        inspect->seen_ns = weft__session_now();
        if (weft__session_now() >= end_ns) return false;
    }
    return true;
}

/* What pages watch and what is due, one after the other until the time is over; the next call goes
 * on there. */
static void answer_watches(weft_inspect *inspect, uint64_t end_ns)
{
    uint64_t begin = weft__session_now();
    while (weft__stream_due(inspect->mailbox, begin, &inspect->watch_at, &inspect->request)) {
        weft__answer(&inspect->session, inspect->request.bytes, inspect->request.count,
                     &inspect->reply);
        uint64_t now = weft__session_now();
        uint64_t all = weft__stream_cost(inspect->mailbox, &inspect->watch_at, now - begin);
        inspect->watched_ns = now;
        uint64_t rest = WATCH_REST * all;
        rest = rest < watch_period_ns ? watch_period_ns
               : rest < watch_rest_ns ? rest
                                      : watch_rest_ns;
        weft__stream_event(inspect->mailbox, &inspect->watch_at,
                           inspect->reply.has_failed ? NULL : &inspect->reply, begin + rest);
        begin = now;
        if (now >= end_ns) return;
    }
}

static void take_figures(weft__session *session)
{
    if (session->is_measuring) weft__system_log_take(session);
    if (session->is_tracing) weft__timeline_take(session);
}

static bool has_pages(const weft_inspect *inspect)
{
    return weft__mailbox_wanted(inspect->mailbox) > inspect->holds;
}

/* For a page that shows something; scripts do not look back. */
static void keep_past(weft_inspect *inspect, uint64_t now)
{
    bool is_watched = inspect->watched_ns != 0 && now - inspect->watched_ns < page_gone_ns;
    if (is_watched) weft__past_take(&inspect->session, now);
}

static void serve_pages(weft_inspect *inspect, uint64_t budget_ns)
{
    uint64_t now = weft__session_now(), end_ns = now + budget_ns, until_ns;
    weft__session *session = &inspect->session;
    take_figures(session);
    keep_past(inspect, now);
    weft__clockwork_stepped(session, now);
    weft__condition_check(session);
    for (;;) {
        if (answer_letters(inspect, end_ns)) answer_watches(inspect, end_ns);
        now = weft__session_now();
        keep_past(inspect, now);
        meet_needs(session, now);
        inspect->awaits &= !has_pages(inspect);
        if (has_pages(inspect) || inspect->awaits) inspect->seen_ns = now;
        if (now - inspect->seen_ns > page_gone_ns) session->is_paused = false;
        if (!weft__clockwork_waits(session, now, &until_ns)) return;
        weft__mailbox_wait(inspect->mailbox, until_ns);
        end_ns = weft__session_now() + budget_ns;
    }
}

/* No page looks: what was switched on goes off; for a script that asks now and then as soon as it
 * has not asked for some time. */
static void rest(weft_inspect *inspect)
{
    weft__session *session = &inspect->session;
    uint64_t now = weft__session_now();
    take_figures(session);
    meet_needs(session, now);
    session->speed = 0;
    if (now - inspect->seen_ns > page_gone_ns) weft__past_free(session);
}

/* Steps call the pump as long as something is on, or the world paused. */
static void hold(weft_inspect *inspect)
{
    const weft__session *session = &inspect->session;
    bool holds =
        session->is_measuring || session->is_tracing || session->is_paused || session->past != NULL;
    if (holds != inspect->holds) weft__mailbox_hold(inspect->mailbox, holds);
    inspect->holds = holds;
}

static void pump(weft_inspect *inspect, uint64_t budget_ns)
{
    if (__builtin_expect(weft__mailbox_wanted(inspect->mailbox) == 0, 1)) return;
    if (getpid() != inspect->process) return;
    if (has_pages(inspect) || inspect->session.is_paused)
        serve_pages(inspect, budget_ns == 0 ? WEFT_INSPECT_BUDGET_NS : budget_ns);
    else
        rest(inspect);
    hold(inspect);
}

weft_result weft_inspect_pump(weft_inspect *inspect, uint64_t budget_ns)
{
    if (inspect == NULL) return WEFT_INVALID_ARGUMENT;
    pump(inspect, budget_ns);
    return WEFT_OK;
}

/* ---- start and stop ---- */

static const char hook_name[] = "inspector";

static void stepped(weft_world *world, void *user)
{
    (void)world;
    pump(user, 0);
}

static void end(weft_inspect *inspect)
{
    weft__session *session = &inspect->session;
    if (getpid() == inspect->process) {
        weft__worlds_remove(&session->place);
        weft__server_stop(inspect->server);
    }
    if (session->is_tracing) weft_job_trace_enable(weft_world_pool(session->world), false);
    weft__system_log_free(session);
    weft__timeline_free(session);
    weft__condition_free(session);
    weft__lists_free(session);
    weft__past_free(session);
    weft__search_free(session);
    weft__panels_free(session);
    free(session->relations);
    weft__wire_free(&inspect->request);
    weft__wire_free(&inspect->reply);
    free(inspect);
}

/* The world is destroyed: no program has a handle. */
static void ended(weft_world *world, void *user)
{
    (void)world;
    end(user);
}

static bool draw_token(char *token)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool take_token(weft_inspect *inspect, const char *token)
{
    if (token == NULL) return draw_token(inspect->token);
    if (strlen(token) != WEFT__TOKEN_BYTES - 1 ||
        strspn(token, "0123456789abcdefABCDEF") != WEFT__TOKEN_BYTES - 1)
        return false;
    memcpy(inspect->token, token, WEFT__TOKEN_BYTES);
    return true;
}

static weft_result start_server(weft_inspect *inspect, const weft_inspect_desc *desc,
                                const char **why)
{
    weft__server_desc server = {.token = inspect->token};
    server.port = desc->port == 0                       ? WEFT_INSPECT_PORT
                  : desc->port == WEFT_INSPECT_ANY_PORT ? 0
                                                        : desc->port;
    server.port_tries = desc->takes_next_port ? 16 : 0;
    *why = "port: one from 1 to 65519, or WEFT_INSPECT_ANY_PORT";
    if (server.port > 65519) return WEFT_INVALID_ARGUMENT;
    *why = "token: 32 hexadecimal digits, or NULL";
    if (!take_token(inspect, desc->token)) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__server_start(&server, &inspect->server, why);
    if (result != WEFT_OK) return result;
    inspect->mailbox = inspect->session.mailbox = weft__server_mailbox(inspect->server);
    inspect->session.place.token = inspect->token;
    inspect->session.place.port = weft__server_port(inspect->server);
    snprintf(inspect->url, sizeof inspect->url, "http://127.0.0.1:%u/#%s",
             inspect->session.place.port, inspect->token);
    return WEFT_OK;
}

/* `why` is set when it fails: a static text. */
static weft_result start(weft_world *world, const weft_inspect_desc *desc, weft_inspect **out,
                         const char **why)
{
    weft_inspect *inspect = calloc(1, sizeof *inspect);
    *why = "no memory";
    if (inspect == NULL) return WEFT_OUT_OF_MEMORY;
    inspect->session.world = world;
    inspect->session.is_writable = desc->is_writable;
    inspect->process = getpid();
    inspect->log = desc->log;
    inspect->hook = (weft_world_hook){.stepped = desc->is_pumped ? NULL : stepped,
                                      .ended = ended,
                                      .user = inspect,
                                      .name = hook_name};
    weft_result result = start_server(inspect, desc, why);
    if (result == WEFT_OK) {
        inspect->hook.asks = weft__mailbox_word(inspect->mailbox);
        result = weft_world_hook_add(world, &inspect->hook);
        if (result != WEFT_OK) weft__server_stop(inspect->server);
        inspect->session.is_paused = inspect->awaits = desc->is_paused;
        if (result == WEFT_OK) hold(inspect);
        if (result == WEFT_OK) weft__worlds_add(&inspect->session.place, world);
        *why = result == WEFT_OUT_OF_MEMORY ? "no memory"
                                            : "the world takes no hook now: start it between steps";
    }
    if (result != WEFT_OK) {
        free(inspect);
        return result;
    }
    *out = inspect;
    return WEFT_OK;
}

weft_result weft_inspect_start(weft_world *world, const weft_inspect_desc *desc, weft_inspect **out)
{
    static const weft_inspect_desc defaults;
    const char *why = "out is NULL: give a place for the inspector";
    if (out != NULL) *out = NULL;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &defaults;
    weft_result result = weft__refuse_busy(world, "weft_inspect_start");
    if (result != WEFT_OK) return result;
    result = out == NULL ? WEFT_INVALID_ARGUMENT : start(world, desc, out, &why);
    if (result == WEFT_OK) { /* others end with their world */
        (*out)->hook.holds = "inspector (weft_inspect_stop)";
        return WEFT_OK;
    }
    weft__log(&desc->log, WEFT_LOG_WARNING, "weft_inspect_start: %s", why);
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "weft_inspect_start: %s",
                       why);
}

void weft_inspect_stop(weft_inspect *inspect)
{
    if (inspect == NULL) return;
    if (weft_world_hook_remove(inspect->session.world, &inspect->hook) != WEFT_OK) return;
    measure(&inspect->session, false);
    end(inspect);
}

weft_inspect *weft_inspect_of(const weft_world *world)
{
    const weft_world_hook *hook = weft_world_hook_find(world, hook_name);
    return hook == NULL ? NULL : hook->user;
}

const char *weft_inspect_url(const weft_inspect *inspect)
{
    return inspect == NULL ? "" : inspect->url;
}

void weft_inspect_scene(weft_inspect *inspect, weft_scene *scene)
{
    if (inspect != NULL) inspect->session.scene = scene;
}

void weft_inspect_sections(weft_inspect *inspect, const weft_inspect_source *source)
{
    if (inspect == NULL) return;
    inspect->session.source = source == NULL ? (weft_inspect_source){0} : *source;
}

weft_result weft_inspect_panel(weft_inspect *inspect, const weft_inspect_panel_desc *desc)
{
    if (inspect == NULL || desc == NULL) return WEFT_INVALID_ARGUMENT;
    return weft__panel_set(&inspect->session, desc);
}

/* ---- every world of a process ---- */

/* "", or words with commas between them: "27760", "write", "paused". */
static bool read_value(const char *value, weft_inspect_desc *out)
{
    *out = (weft_inspect_desc){.takes_next_port = true};
    while (*value != '\0') {
        char *end_at;
        size_t length = strcspn(value, ",");
        bool is_last = value[length] == '\0';
        if (*value >= '0' && *value <= '9') {
            unsigned long port = strtoul(value, &end_at, 10);
            if (port > 65519 || end_at != value + length) return false;
            out->port = port == 0 ? WEFT_INSPECT_ANY_PORT : (uint32_t)port;
        } else if (length == 5 && strncmp(value, "write", 5) == 0) {
            out->is_writable = true;
        } else if (length == 6 && strncmp(value, "paused", 6) == 0) {
            out->is_paused = true;
        } else {
            return false;
        }
        value += length + !is_last;
        if (!is_last && *value == '\0') return false;
    }
    return true;
}

/* What the worlds of a process share: one key, so that an open page finds the next world, and the
 * ports that were told. A world takes one of them that is free before another is told; more than
 * these are told again. */
static struct {
    pthread_mutex_t lock; /* guards the rest */
    char token[WEFT__TOKEN_BYTES];
    uint32_t ports[32], count;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether it was not told before; now it is. */
static bool is_new_port(uint32_t port)
{
    pthread_mutex_lock(&process.lock);
    bool is_new = true;
    for (uint32_t i = 0; i < process.count; i++) is_new = is_new && process.ports[i] != port;
    if (is_new && process.count < sizeof process.ports / sizeof *process.ports)
        process.ports[process.count++] = port;
    pthread_mutex_unlock(&process.lock);
    return is_new;
}

/* Says where the page is, and from another machine how to reach it. Terminals make URLs clickable;
 * that of an editor forwards the port by itself. A line of progress that ends nowhere is wiped. */
static void tell_url(const weft_inspect *inspect, const weft_log *log)
{
    unsigned port = weft__server_port(inspect->server);
    if (!is_new_port(port)) return;
    if (log->write == NULL && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    const char *editor = secure_getenv("TERM_PROGRAM");
    weft__log(log, WEFT_LOG_REPORT, "inspector: %s", inspect->url);
    const char *ssh = secure_getenv("SSH_CONNECTION");
    char host[64] = "HOST", own_port[16] = "";
    unsigned at = 22; /* what was connected to: the third and the fourth word */
    if (ssh == NULL || (editor != NULL && strcmp(editor, "vscode") == 0)) return;
    sscanf(ssh, "%*s %*s %63s %u", host, &at);
    if (at != 22) snprintf(own_port, sizeof own_port, "-p %u ", at);
    weft__log(log, WEFT_LOG_REPORT,
              "inspector: from your machine: ssh %s-L %u:127.0.0.1:%u %s, then open this URL",
              own_port, port, port, host);
}

/* Any port: one that was told, if it is free again. */
static weft_result start_anywhere(weft_world *world, weft_inspect_desc *desc, weft_inspect **out,
                                  const char **why)
{
    desc->takes_next_port = false;
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&process.lock);
        desc->port = i < process.count ? process.ports[i] : WEFT_INSPECT_ANY_PORT;
        pthread_mutex_unlock(&process.lock);
        weft_result result = start(world, desc, out, why);
        if (result == WEFT_OK || desc->port == WEFT_INSPECT_ANY_PORT) return result;
    }
}

/* A world was made by a program whose environment asks for an inspector. What goes wrong must not
 * make the program fail. */
static void inspect_created(weft_world *world)
{
    weft_inspect_desc desc;
    weft_inspect *inspect;
    const char *why, *value = secure_getenv("WEFT_INSPECT");
    if (value == NULL || !read_value(value, &desc)) return;
    pthread_mutex_lock(&process.lock);
    const bool has_token = process.token[0] != '\0' || draw_token(process.token);
    pthread_mutex_unlock(&process.lock);
    if (!has_token) return;
    desc.token = process.token;
    const weft_result result = desc.port == WEFT_INSPECT_ANY_PORT
                                   ? start_anywhere(world, &desc, &inspect, &why)
                                   : start(world, &desc, &inspect, &why);
    if (result != WEFT_OK)
        weft__log(&desc.log, WEFT_LOG_WARNING, "WEFT_INSPECT=%s: a world is not inspected: %s",
                  value, why);
    else
        tell_url(inspect, &desc.log);
}

weft_result weft_inspect_all(const char *value)
{
    weft_inspect_desc desc;
    if (value == NULL) value = "";
    if (!read_value(value, &desc)) return WEFT_INVALID_ARGUMENT;
    if (setenv("WEFT_INSPECT", value, 1) != 0) return WEFT_OUT_OF_MEMORY;
    weft_world_watch_created(inspect_created);
    return WEFT_OK;
}

/* Linked with the library, a program needs no call. */
__attribute__((constructor)) static void inspect_by_environment(void)
{
    if (secure_getenv("WEFT_INSPECT") != NULL) weft_world_watch_created(inspect_created);
}
