/* SPDX-License-Identifier: MIT */
/* window_program.c: the host's own panels, in the order in which they were added. What they show is
 * JSON of the host; the page reads it as data, never as markup. */
#include "window_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LIMIT = 64 };

/* Owner: the session. */
struct weft__panel {
    weft_inspect_panel_desc desc; /* name and button are the copies */
    char name[NAME_LIMIT], button[NAME_LIMIT];
    weft__panel *next;
};

static weft__panel **find_panel(weft__session *session, const char *name)
{
    weft__panel **at = &session->panels;
    while (*at != NULL && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

weft_result weft__panel_set(weft__session *session, const weft_inspect_panel_desc *desc)
{
    size_t length = desc->name == NULL ? 0 : strlen(desc->name);
    if (length == 0 || length >= NAME_LIMIT) return WEFT_INVALID_ARGUMENT;
    weft__panel **at = find_panel(session, desc->name), *panel = *at;
    if (desc->write == NULL && desc->press == NULL) {
        if (panel != NULL) *at = panel->next;
        free(panel);
        return WEFT_OK;
    }
    if (panel == NULL) panel = *at = calloc(1, sizeof *panel);
    if (panel == NULL) return WEFT_OUT_OF_MEMORY;
    panel->desc = *desc;
    snprintf(panel->name, sizeof panel->name, "%s", desc->name);
    snprintf(panel->button, sizeof panel->button, "%s",
             desc->button == NULL ? desc->name : desc->button);
    return WEFT_OK;
}

uint32_t weft__program_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    (void)request;
    weft__wire_bool(out, "writable", session->is_writable);
    weft__wire_open(out, "panels", '[');
    for (const weft__panel *p = session->panels; p != NULL; p = p->next) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", p->name);
        if (p->desc.press != NULL) weft__wire_text(out, "button", p->button);
        if (p->desc.write != NULL) weft__wire_told(out, "shows", p->desc.write, p->desc.user);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    return 200;
}

uint32_t weft__panel_press(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[NAME_LIMIT];
    if (!session->is_writable) return weft__window_read_only(out);
    weft__request_text(request, "panel", name, sizeof name);
    const weft__panel *panel = *find_panel(session, name);
    if (panel == NULL || panel->desc.press == NULL)
        return weft__window_fail(out, 404, "there is no button \"%s\"", name);
    panel->desc.press(session->world, panel->desc.user);
    return weft__program_window(session, request, out);
}

void weft__panels_free(weft__session *session)
{
    while (session->panels != NULL) {
        weft__panel *panel = session->panels;
        session->panels = panel->next;
        free(panel);
    }
}
