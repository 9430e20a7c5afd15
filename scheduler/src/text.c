/* text.c: see text.h. Every piece goes through one vsnprintf, which ends the text with a NUL as
 * long as there is room for one. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void weft__text_add(weft__text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = t->length < t->capacity ? t->capacity - t->length : 0;
    int added = vsnprintf(left == 0 ? NULL : t->at + t->length, left, format, arguments);
    va_end(arguments);
    if (added > 0) t->length += (size_t)added;
}

void weft__text_add_quoted(weft__text *t, const char *string)
{
    weft__text_add(t, "\"");
    for (; *string != 0; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            weft__text_add(t, "\\%c", c);
        else if (c < 0x20)
            weft__text_add(t, "\\u%04x", c);
        else
            weft__text_add(t, "%c", c);
    }
    weft__text_add(t, "\"");
}
