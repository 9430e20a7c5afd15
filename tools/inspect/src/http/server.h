/* SPDX-License-Identifier: MIT */
/* server.h: the HTTP thread: libmicrohttpd on a socket of 127.0.0.1, files of the page, POST /api
 * into the mailbox, GET /events out of it.
 *
 * It never touches a world. Every request passes the guard first; 32 connections, 64 KiB of body,
 * 200 requests a second, 10 s for a request to be complete, 5 s for the owner to take it. */
#ifndef WEFT_INSPECT_SERVER_H
#define WEFT_INSPECT_SERVER_H

#include "http_guard.h"
#include "mailbox.h"

typedef struct weft__server weft__server;

/* What a server needs. Copied. */
typedef struct weft__server_desc {
    uint32_t port;       /* 0: any free one */
    uint32_t port_tries; /* more ports, one after the other, where it is taken */
    const char *token;   /* 32 digits; belongs to the caller, as long as the server */
} weft__server_desc;

/* Starts it; *why is a static text when it fails. Errors: ALREADY_EXISTS (the port), IO,
 * THREAD_FAILED, OUT_OF_MEMORY. Threads: any. */
weft_result weft__server_start(const weft__server_desc *desc, weft__server **out, const char **why);
/* Ends it: letters are refused, streams end, the socket is closed. */
void weft__server_stop(weft__server *server);
uint32_t weft__server_port(const weft__server *server);
weft__mailbox *weft__server_mailbox(weft__server *server);

#endif
