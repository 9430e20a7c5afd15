/* SPDX-License-Identifier: MIT */
/* page_socket.h: a socket to an inspector of this machine, by the url that it gave. */
#ifndef WEFT_TEST_PAGE_SOCKET_H
#define WEFT_TEST_PAGE_SOCKET_H

#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* To be closed by the caller. */
static inline int connect_to(const char *url)
{
    unsigned port;
    CHECK(sscanf(url, "http://127.0.0.1:%u/", &port) == 1);
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(s >= 0 &&
          connect(s, (const struct sockaddr *)(const void *)&address, sizeof address) == 0);
    return s;
}

#endif
