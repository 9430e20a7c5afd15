/* SPDX-License-Identifier: MIT */
/* log.c: warnings and reports, to the host's callback or to stderr. Formats into a buffer on the
 * stack, takes no memory and no lock: it is called where memory has run out, too. What is said, and
 * whether anything is without a callback, is decided by the callers. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

void weft__log(const weft_log *log, weft_log_level level, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Gives the text to the callback, or without one prints "weft: TEXT" to stderr. */
    if (log->write != NULL)
        log->write(log->user, level, text);
    else
        fprintf(stderr, "weft: %s\n", text);
}
