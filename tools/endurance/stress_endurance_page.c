/* SPDX-License-Identifier: MIT */
/* stress_endurance_page.c: a client of the inspector on this machine, as a browser would be: it
 * opens the stream of events, watches windows, reads for some seconds, leaves, and comes again. */
#include "endurance.h"

#if defined(WEFT_WITH_INSPECT)
#include <weft/inspect.h>

#include "atomic.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char token[] = "00112233445566778899aabbccddeeff";
enum { READS_OF_A_VISIT = 40 };

/* Owner: the command; the thread reads what is constant and adds to x_events. */
struct endurance_page {
    weft_inspect *inspect;
    uint16_t port;
    pthread_t thread;
    weft_a32 x_ends;
    weft_a64 x_events;
};

static int connect_to(const endurance_page *page)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(page->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (const struct sockaddr *)(const void *)&address, sizeof address) == 0)
        return s;
    if (s >= 0) close(s);
    return -1;
}

static void ask(const endurance_page *page, int s, const char *what, const char *body)
{
    char text[1024];
    const int length = snprintf(text, sizeof text,
                                "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Weft-Token: %s\r\n"
                                "Connection: close\r\nContent-Type: application/json\r\n"
                                "Content-Length: %zu\r\n\r\n%s",
                                what, page->port, token, strlen(body), body);
    if (send(s, text, (size_t)length, MSG_NOSIGNAL) != length) shutdown(s, SHUT_RDWR);
}

/* Some of the reply; 0: it ended, or the page is to leave. */
static size_t hear(endurance_page *page, int s, char *text, size_t capacity)
{
    struct pollfd fd = {s, POLLIN, 0};
    while (at_load_acq(&page->x_ends) == 0) /* acq: set before the join; nothing else hangs on it */
        if (poll(&fd, 1, 100) > 0) {
            const ssize_t got = recv(s, text, capacity - 1, 0);
            text[got > 0 ? got : 0] = '\0';
            return got > 0 ? (size_t)got : 0;
        }
    return 0;
}

static void watch(endurance_page *page, unsigned stream)
{
    char body[512], text[4096];
    const int s = connect_to(page);
    if (s < 0) return;
    snprintf(body, sizeof body,
             "{\"do\":\"watch\",\"stream\":%u,\"what\":[{\"do\":\"status\"},{\"do\":\"systems\"},"
             "{\"do\":\"jobs\"},{\"do\":\"archetypes\"},{\"do\":\"memory\"},{\"do\":\"scenes\"},"
             "{\"do\":\"entities\",\"query\":\"Seed\"}]}",
             stream);
    ask(page, s, "POST /api", body);
    while (hear(page, s, text, sizeof text) != 0) continue;
    close(s);
}

static void visit(endurance_page *page)
{
    char text[16384];
    const int s = connect_to(page);
    if (s < 0) return;
    ask(page, s, "GET /events", "");
    const char *number = NULL;
    while (number == NULL && hear(page, s, text, sizeof text) != 0)
        number = strstr(text, "\"stream\":");
    if (number) watch(page, (unsigned)strtoul(number + 9, NULL, 10));
    for (uint32_t i = 0; number && i < READS_OF_A_VISIT && hear(page, s, text, sizeof text) != 0;
         i++)
        at_add_rlx(&page->x_events, 1); /* rlx: a count */
    close(s);
}

static void *visits(void *user)
{
    endurance_page *page = user;
    while (at_load_acq(&page->x_ends) == 0) visit(page); /* acq: as in hear */
    return NULL;
}

void endurance_page_open(endurance *e)
{
    unsigned port;
    const weft_inspect_desc desc = {.port = WEFT_INSPECT_ANY_PORT, .token = token};
    endurance_page *page = calloc(1, sizeof *page);
    if (page == NULL) return;
    if (!endurance_ok(e, e->world, weft_inspect_start(e->world, &desc, &page->inspect),
                      "inspector")) {
        free(page);
        return;
    }
    sscanf(weft_inspect_url(page->inspect), "http://127.0.0.1:%u/", &port);
    page->port = (uint16_t)port;
    e->page = page;
    if (pthread_create(&page->thread, NULL, visits, page) == 0) return;
    endurance_fail(e, "no thread for the page");
    weft_inspect_stop(page->inspect);
    free(page);
    e->page = NULL;
}

uint64_t endurance_page_events(const endurance *e)
{
    return e->page ? at_load_rlx(&e->page->x_events) : 0; /* rlx: a count */
}

void endurance_page_close(endurance *e)
{
    if (e->page == NULL) return;
    at_store_rel(&e->page->x_ends, 1); /* to hear */
    pthread_join(e->page->thread, NULL);
    weft_inspect_stop(e->page->inspect);
    free(e->page);
    e->page = NULL;
}
#else
void endurance_page_open(endurance *e)
{
    (void)e;
}

uint64_t endurance_page_events(const endurance *e)
{
    (void)e;
    return 0;
}

void endurance_page_close(endurance *e)
{
    (void)e;
}
#endif
