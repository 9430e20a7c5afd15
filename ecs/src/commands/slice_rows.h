/* SPDX-License-Identifier: MIT */
/* slice_rows.h: the context of slices of rows that a recorder made in place.
 *
 * Owned by the recorder (weft_recorder.rows_context); constant. Used by the thread that records. */
#ifndef WEFT_SLICE_ROWS_H
#define WEFT_SLICE_ROWS_H

#include "query_state.h"

extern const weft__slice_ops weft__slice_ops_rows; /* of weft_recorder.rows_context */

#endif
