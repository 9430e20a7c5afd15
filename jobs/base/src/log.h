/* SPDX-License-Identifier: MIT */
/* log.h: what the library says when no return value can carry it: to the callback that the host put
 * into the description of its world or pool, else to stderr. Stateless: the caller has the log, and
 * decides what is worth a text without one. Threads: see weft_log. */
#pragma once

#include "door.h"

#include <weft/base.h>

/* The same with a format; what is beyond 1,000 bytes is cut. */
WEFT__DOOR __attribute__((format(printf, 3, 4))) void
weft__log(const weft_log *log, weft_log_level level, const char *format, ...);
