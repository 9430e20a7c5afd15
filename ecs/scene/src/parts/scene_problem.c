/* SPDX-License-Identifier: MIT */
/* scene_problem.c: mistakes in documents as text, in the form of weft_value_error: file, line,
 * column, path, what is wrong, the line, a caret. See scene_problem.h. */
#include "scene_problem.h"

#include "value_error.h"

#include <stdio.h>
#include <string.h>

bool weft__problem_add_value(weft__pile *arena, weft__problem **list, const weft_text *text,
                             const char *object, const weft_value_error *error)
{
    weft__problem *problem = weft__pile_take(arena, sizeof *problem);
    char *own = problem == NULL ? NULL : weft__pile_text(arena, error->text, strlen(error->text));
    char *file = own == NULL ? NULL : weft__pile_text(arena, text->file, strlen(text->file));
    char *name = file == NULL ? NULL : weft__pile_text(arena, object, strlen(object));
    if (name == NULL) return false;
    *problem = (weft__problem){.next = *list,
                               .told = {.file = file,
                                        .line = error->line,
                                        .column = error->column,
                                        .object = name,
                                        .text = own},
                               .offset = error->line == 0 ? 0 : error->offset + 1};
    *list = problem;
    return true;
}

bool weft__problem_add(weft__pile *arena, weft__problem **list, const weft__spot *spot,
                       const char *format, va_list arguments)
{
    const weft_text *text = spot->text;
    const char *at = spot->at, *object = spot->object;
    char what[256];
    weft_value_error error;
    vsnprintf(what, sizeof what, format, arguments);
    if (at < text->bytes || at > text->bytes + text->count) at = NULL;
    const weft_type root = {.name = object[0] == '\0' ? "document" : object};
    const weft__trail trail = {.root = &root};
    weft__value_error(&error, text, at, &trail, "%s", what);
    if (at == NULL) { /* the form without a place lacks the name of the file */
        size_t length = strlen(error.text);
        char whole[sizeof error.text];
        memcpy(whole, error.text, length + 1);
        snprintf(error.text, sizeof error.text, "%.160s: %.440s", text->file, whole);
    }
    return weft__problem_add_value(arena, list, text, object, &error);
}
