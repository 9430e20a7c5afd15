/* SPDX-License-Identifier: MIT */
/* server.c: the HTTP thread. It polls libmicrohttpd's epoll descriptor and a bell of its own, so
 * that it owns all connections, and may end slow ones between two rounds. What waits for the
 * owner of the world is suspended, and resumed by the mailbox. */
#include "server.h"

#include "asset.h"
#include "os.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

extern const weft_asset weft_inspect_page[];

enum {
    CONNECTIONS = 32,
    REST_MS = 1000,    /* without connections: until then it may not accept again */
    ROUND_MS = 500,    /* at most between two looks at slow connections */
    IDLE_SECONDS = 10, /* to complete a request, or between two of them */
    REQUESTS_PER_SECOND = 200,
    REQUESTS_AT_ONCE = 100,
    QUICK_ROUNDS = 2000, /* rounds without a pause: something spins (no descriptors left) */
};
static const uint64_t second_ns = UINT64_C(1000000000);

/* One connection, from accept to close. Owner: the HTTP thread. */
typedef struct caller {
    int socket; /* -1: free */
    uint64_t since_ns;
    bool is_served; /* its request is complete: the time is the server's now */
} caller;

/* Owner: the inspector; the HTTP thread from start to stop, but for the mailbox and x_stops. */
struct weft__server {
    weft__mailbox mailbox;
    weft_a32 x_stops;
    int bell; /* eventfd: rung by stop, and when a connection is resumed */
    int listener;
    uint32_t port;
    const char *token;
    struct MHD_Daemon *daemon;
    weft__os_thread thread;
    caller callers[CONNECTIONS];
    weft__rate rate;
    uint64_t last_beat_ns;
};

static uint64_t now_ns(void)
{
    const weft_os *os = weft__os_default();
    return os->clock_ns(os->user);
}

/* Rings the bell, too: the descriptor that is polled does not show what is resumed. */
static void wake_connection(void *user, void *connection)
{
    MHD_resume_connection(connection);
    eventfd_write(((weft__server *)user)->bell, 1);
}

static void suspend_connection(void *connection)
{
    MHD_suspend_connection(connection);
}

/* ---- replies ---- */

static void add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; "
                                    "frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result reply(struct MHD_Connection *connection, uint32_t status, const char *type,
                             const weft_asset *content, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(content->count, (void *)(uintptr_t)content->bytes, mode);
    if (response == NULL) return MHD_NO;
    add_headers(response, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, POST");
    if (status >= 400) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result reply_text(struct MHD_Connection *connection, uint32_t status,
                                  const char *text)
{
    return reply(connection, status, "application/json", &(weft_asset){"", text, strlen(text)},
                 MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result reply_refusal(struct MHD_Connection *connection, uint32_t status)
{
    static const struct {
        uint32_t status;
        const char *text;
    } texts[] = {
        {400, "{\"error\":\"not a request that this server takes\"}\n"},
        {401,
         "{\"error\":\"the token is missing or wrong: open the URL that the program printed\"}\n"},
        {403, "{\"error\":\"only pages of this server may ask\"}\n"},
        {404, "{\"error\":\"there is no such page\"}\n"},
        {405, "{\"error\":\"GET a page, or POST /api\"}\n"},
        {413, "{\"error\":\"more than 64 KiB\"}\n"},
        {415, "{\"error\":\"send application/json\"}\n"},
        {429, "{\"error\":\"more than 200 requests a second\"}\n"},
        {503, "{\"error\":\"the inspector is busy or has stopped\"}\n"},
    };
    const char *text = texts[0].text;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].status == status) text = texts[i].text;
    return reply_text(connection, status, text);
}

/* ---- files ---- */

static const weft_asset *find_in(const weft_asset *table, const char *name)
{
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* A file by its path; NULL: none. All of them are in the binary: no path reaches a file system. */
static const weft_asset *find_file(const char *path)
{
    if (strcmp(path, "/") == 0) path = "/index.html";
    if (path[0] != '/') return NULL;
    const weft_asset *found = find_in(weft_inspect_page, path + 1);
    return found != NULL ? found : find_in(weft_look, path + 1);
}

/* The styles of all pages and those of this one come as one file: the first frame waits for it. */
static enum MHD_Result reply_styles(struct MHD_Connection *connection, const weft_asset *own)
{
    const weft_asset *look = find_in(weft_look, "look.css");
    char *text = malloc(look->count + own->count);
    if (text == NULL) return MHD_NO;
    memcpy(text, look->bytes, look->count);
    memcpy(text + look->count, own->bytes, own->count);
    return reply(connection, MHD_HTTP_OK, "text/css; charset=utf-8",
                 &(weft_asset){"", text, look->count + own->count}, MHD_RESPMEM_MUST_FREE);
}

static const char *type_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    if (ending == NULL) return "application/octet-stream";
    if (strcmp(ending, ".html") == 0) return "text/html; charset=utf-8";
    if (strcmp(ending, ".css") == 0) return "text/css; charset=utf-8";
    if (strcmp(ending, ".js") == 0) return "text/javascript; charset=utf-8";
    return strcmp(ending, ".svg") == 0 ? "image/svg+xml" : "application/octet-stream";
}

/* ---- events ---- */

/* Owner: the response of the stream. */
typedef struct reader {
    weft__server *server;
    uint32_t stream; /* its number */
} reader;

static ssize_t read_events(void *user, uint64_t position, char *out, size_t capacity)
{
    reader *r = user;
    (void)position;
    long count =
        weft__stream_take(&r->server->mailbox, r->stream, out, capacity, suspend_connection);
    return count < 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)count;
}

static void free_reader(void *user)
{
    reader *r = user;
    weft__stream_close(&r->server->mailbox, r->stream);
    free(r);
}

/* The page closed its connection, or its side of it, which no page that still listens does. */
static bool has_left(void *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd fd = {info == NULL ? -1 : info->connect_fd, POLLRDHUP, 0};
    return poll(&fd, 1, 0) > 0; /* errors and the end of both sides count, too */
}

static enum MHD_Result serve_events(weft__server *server, struct MHD_Connection *connection)
{
    reader *r = malloc(sizeof *r);
    if (r == NULL) return MHD_NO;
    *r = (reader){server, weft__stream_open(&server->mailbox, connection, has_left, now_ns())};
    if (r->stream == 0) {
        free(r);
        return reply_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                          "{\"error\":\"eight pages look at this program already: close one\"}\n");
    }
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_events, r, free_reader);
    if (response == NULL) {
        free_reader(r);
        return MHD_NO;
    }
    add_headers(response, "text/event-stream; charset=utf-8");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- requests ---- */

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name,
                                    size_t name_bytes, const char *value, size_t value_bytes)
{
    weft__asked *asked = user;
    (void)kind;
    asked->is_garbled |= !weft__guard_is_header(name, name_bytes, value, value_bytes);
    asked->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    asked->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
    asked->is_chunked |= strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    return MHD_YES;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static caller *caller_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void set_served(struct MHD_Connection *connection, bool is_served)
{
    caller *c = caller_of(connection);
    if (c == NULL) return;
    c->is_served = is_served;
    c->since_ns = now_ns();
}

static enum MHD_Result begin(weft__server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **state)
{
    weft__asked asked = {.method = method,
                         .path = path,
                         .host = header(connection, MHD_HTTP_HEADER_HOST),
                         .origin = header(connection, MHD_HTTP_HEADER_ORIGIN),
                         .site = header(connection, "Sec-Fetch-Site"),
                         .token = header(connection, "X-Weft-Token"),
                         .type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE)};
    const weft_asset *file = find_file(path);
    weft__door door;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, count_header, &asked);
    uint32_t status = weft__guard_check(&asked, server->port, server->token, file != NULL, &door);
    if (status == 0 &&
        !weft__rate_take(&server->rate, now_ns(), REQUESTS_PER_SECOND, REQUESTS_AT_ONCE))
        status = MHD_HTTP_TOO_MANY_REQUESTS;
    if (status != 0) return reply_refusal(connection, status);
    if (door == WEFT__DOOR_EVENTS) {
        set_served(connection, true);
        return serve_events(server, connection);
    }
    if (door == WEFT__DOOR_PAGE && strcmp(file->name, "page.css") == 0)
        return reply_styles(connection, file);
    if (door == WEFT__DOOR_PAGE)
        return reply(connection, MHD_HTTP_OK, type_of(file->name), file, MHD_RESPMEM_PERSISTENT);
    weft__letter *letter = calloc(1, sizeof *letter);
    if (letter == NULL) return MHD_NO;
    letter->connection = connection;
    *state = letter;
    return MHD_YES;
}

static enum MHD_Result post(weft__server *server, struct MHD_Connection *connection,
                            weft__letter *letter)
{
    if (letter->body.count > WEFT__BODY_MAX)
        return reply_refusal(connection, MHD_HTTP_CONTENT_TOO_LARGE);
    if (letter->body.has_failed) return MHD_NO;
    set_served(connection, true);
    letter->since_ns = now_ns();
    MHD_suspend_connection(connection); /* first: the answer may come at once */
    if (weft__mail_put(&server->mailbox, letter)) return MHD_YES;
    MHD_resume_connection(connection);
    return reply_refusal(connection, MHD_HTTP_SERVICE_UNAVAILABLE);
}

/* Called with the headers, with each part of the body, at its end, and when it was resumed. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    weft__server *server = user;
    (void)version;
    if (*state == NULL) return begin(server, connection, path, method, state);
    weft__letter *letter = *state;
    if (*upload_bytes != 0) {
        if (letter->body.count <= WEFT__BODY_MAX)
            weft__wire_raw(&letter->body, upload, *upload_bytes);
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (letter->since_ns == 0) return post(server, connection, letter);
    if (!weft__mail_is_answered(&server->mailbox, letter)) { /* resumed by itself */
        MHD_suspend_connection(connection);
        return MHD_YES;
    }
    const weft_asset content = {"", letter->reply.bytes, letter->reply.count};
    if (letter->reply.has_failed) return reply_refusal(connection, MHD_HTTP_SERVICE_UNAVAILABLE);
    return reply(connection, letter->status, "application/json", &content, MHD_RESPMEM_MUST_COPY);
}

static void completed(void *user, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    (void)user, (void)code;
    set_served(connection, false);
    weft__letter_free(*state);
    *state = NULL;
}

static void notify(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code)
{
    weft__server *server = user;
    caller *c = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (c != NULL) c->socket = -1;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        c = &server->callers[i];
        if (c->socket >= 0) continue;
        *c = (caller){.socket = info->connect_fd, .since_ns = now_ns()};
        *context = c;
        return;
    }
}

/* Paths are compared as they came: what is escaped is no path of the page. */
static size_t keep_escapes(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user, (void)connection;
    return strlen(text);
}

/* ---- the thread ---- */

static bool has_callers(const weft__server *server)
{
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        if (server->callers[i].socket >= 0) return true;
    return false;
}

static void end_slow(weft__server *server, uint64_t now)
{
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        const caller *c = &server->callers[i];
        if (c->socket < 0 || c->is_served || now - c->since_ns < IDLE_SECONDS * second_ns) continue;
        shutdown(c->socket, SHUT_RDWR); /* its end is seen in the next round */
    }
}

static void look_after(weft__server *server)
{
    uint64_t now = now_ns();
    end_slow(server, now);
    weft__mail_expire(&server->mailbox, now - 5 * second_ns);
    if (now - server->last_beat_ns < 2 * second_ns) return;
    server->last_beat_ns = now;
    weft__streams_beat(&server->mailbox, now);
}

/* Until something happens, or `most_ms`; then lets libmicrohttpd work. */
static void serve_round(weft__server *server, int most_ms)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[2] = {{info->epoll_fd, POLLIN, 0}, {server->bell, POLLIN, 0}};
    MHD_UNSIGNED_LONG_LONG timeout;
    int wait_ms = most_ms;
    if (MHD_get_timeout(server->daemon, &timeout) == MHD_YES &&
        timeout < (MHD_UNSIGNED_LONG_LONG)most_ms)
        wait_ms = (int)timeout;
    eventfd_t rings;
    if (poll(fds, 2, wait_ms) > 0 && fds[1].revents != 0) eventfd_read(server->bell, &rings);
    MHD_run(server->daemon);
}

static void serve(void *user)
{
    weft__server *server = user;
    uint32_t quick = 0;
    uint64_t looked_ns = 0;
    while (at_load_rlx(&server->x_stops) == 0) { /* relaxed: only that it is seen matters */
        uint64_t begin_ns = now_ns();
        serve_round(server, has_callers(server) ? ROUND_MS : REST_MS);
        uint64_t end_ns = now_ns();
        quick = end_ns - begin_ns < second_ns / 10000 ? quick + 1 : 0;
        if (quick > QUICK_ROUNDS) poll(NULL, 0, 10); /* accept fails for want of descriptors */
        if (end_ns - looked_ns < second_ns / 4) continue;
        looked_ns = end_ns;
        look_after(server);
    }
    /* Also where a forked child still has it: the port is free, and its queue is empty. */
    shutdown(server->listener, SHUT_RDWR);
    for (int i = 0; i < 20; i++) { /* what was refused goes out */
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info == NULL || info->num_connections == 0) break;
        serve_round(server, 10);
    }
    MHD_stop_daemon(server->daemon);
}

/* ---- start and stop ---- */

static int listen_at(uint32_t port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(s, (const struct sockaddr *)(const void *)&address, sizeof address) == 0 &&
        listen(s, CONNECTIONS) == 0)
        return s;
    int reason = errno;
    close(s);
    errno = reason;
    return -1;
}

static weft_result open_listener(weft__server *server, const weft__server_desc *desc,
                                 const char **why)
{
    struct sockaddr_in address;
    socklen_t bytes = sizeof address;
    server->listener = -1;
    for (uint32_t i = 0; i <= desc->port_tries && server->listener < 0; i++) {
        server->listener = listen_at(desc->port + i);
        if (server->listener < 0 && errno != EADDRINUSE) break;
    }
    *why = "no socket of 127.0.0.1 can be had";
    if (server->listener < 0 && errno == EADDRINUSE) {
        *why = "the port is taken: give another one, or WEFT_INSPECT_ANY_PORT";
        return WEFT_ALREADY_EXISTS;
    }
    if (server->listener < 0) return WEFT_IO;
    if (getsockname(server->listener, (struct sockaddr *)(void *)&address, &bytes) != 0)
        return WEFT_IO;
    server->port = ntohs(address.sin_port);
    return WEFT_OK;
}

static bool start_daemon(weft__server *server)
{
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
        MHD_OPTION_LISTEN_SOCKET, server->listener, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, notify, server,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
    return server->daemon != NULL;
}

static void free_server(weft__server *server)
{
    if (server->bell >= 0) close(server->bell);
    weft__mailbox_fini(&server->mailbox);
    free(server);
}

weft_result weft__server_start(const weft__server_desc *desc, weft__server **out, const char **why)
{
    const weft_os *os = weft__os_default();
    weft__server *server = calloc(1, sizeof *server);
    *out = NULL;
    *why = "no memory";
    if (server == NULL) return WEFT_OUT_OF_MEMORY;
    if (!weft__mailbox_init(&server->mailbox, wake_connection, server)) {
        free(server);
        return WEFT_OUT_OF_MEMORY;
    }
    server->token = desc->token;
    server->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (uint32_t i = 0; i < CONNECTIONS; i++) server->callers[i].socket = -1;
    weft_result result = open_listener(server, desc, why);
    if (result == WEFT_OK && (server->bell < 0 || !start_daemon(server))) {
        *why = "libmicrohttpd could not start: no descriptors or memory are left";
        result = WEFT_IO;
        close(server->listener);
    }
    if (result == WEFT_OK)
        result = os->thread_start(os->user, &server->thread, "weft-inspect", serve, server);
    if (result != WEFT_OK) {
        if (server->daemon != NULL) *why = "no thread can be started";
        if (server->daemon != NULL) MHD_stop_daemon(server->daemon);
        free_server(server);
        return result;
    }
    *out = server;
    return WEFT_OK;
}

void weft__server_stop(weft__server *server)
{
    const weft_os *os = weft__os_default();
    weft__mailbox_close(&server->mailbox);
    at_store_rlx(&server->x_stops, 1u); /* relaxed: the join orders the rest */
    eventfd_write(server->bell, 1);
    os->thread_join(os->user, server->thread);
    free_server(server);
}

uint32_t weft__server_port(const weft__server *server)
{
    return server->port;
}

weft__mailbox *weft__server_mailbox(weft__server *server)
{
    return &server->mailbox;
}
