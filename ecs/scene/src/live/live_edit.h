/* SPDX-License-Identifier: MIT */
/* live_edit.h: values written back into documents, and taken back.
 *
 * Owner. */
#ifndef WEFT_LIVE_EDIT_H
#define WEFT_LIVE_EDIT_H

#include "live_state.h"

/* Frees what undo remembers. */
void weft__live_edits_free(weft_live *live);

#endif
