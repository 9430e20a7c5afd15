/* SPDX-License-Identifier: MIT */
/* window_program.h: the Program window: panels that the host has added by weft_inspect_panel, with
 * figures, tables, texts and buttons. What they show is the host's; nothing of it is kept here.
 * Owner of the world. */
#ifndef WEFT_INSPECT_WINDOW_PROGRAM_H
#define WEFT_INSPECT_WINDOW_PROGRAM_H

#include "session.h"

uint32_t weft__program_window(weft__session *session, const weft__request *request,
                              weft__wire *out);
/* {"panel": "Flight"}: presses its button. Needs is_writable. */
uint32_t weft__panel_press(weft__session *session, const weft__request *request, weft__wire *out);
weft_result weft__panel_set(weft__session *session, const weft_inspect_panel_desc *desc);
void weft__panels_free(weft__session *session);

#endif
