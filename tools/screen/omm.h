/* SPDX-License-Identifier: MIT */
/* omm.h: reading catalogues of orbit mean-elements messages (OMM, CCSDS 502.0-B), in the forms that
 * CelesTrak and Space-Track publish: CSV with a header line, and JSON, an array of flat objects.
 *
 * Members are found by name (NORAD_CAT_ID, EPOCH, MEAN_MOTION, ...), in any order; others are
 * skipped. Numbers may be text. As in tle.h a bad object is reported with line and column and left
 * out, and memory is bounded by the number of good objects.
 */
#ifndef WEFT_SCREEN_OMM_H
#define WEFT_SCREEN_OMM_H

#include "byte_source.h"
#include "tle.h"

enum omm_form { OMM_NONE, OMM_CSV, OMM_JSON };

/* What the beginning of a file looks like; takes no byte of it. */
enum omm_form omm_form_of(struct byte_source *source);

/* Appends the objects of the source; TLE_FILE: no object in 64 MiB, reported. */
enum tle_result omm_read(enum omm_form form, struct byte_source *source, const char *path,
                         tle_report_fn *report, void *user, struct tle_catalogue *catalogue);

#endif
