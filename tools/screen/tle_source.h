/* SPDX-License-Identifier: MIT */
/* tle_source.h: a source of a program's own, by the interface of <weft/scene.h>: satellite
 * catalogues become objects of documents. */
#ifndef TLE_SOURCE_H
#define TLE_SOURCE_H

#include <weft/scene.h>

/* Satellite catalogues, ".tle" and ".3le": kind "tle". An object per record of two lines of 69
 * characters, or three with a name in front: its name is the catalogue number without blanks
 * around it and zeros in front ("25544"; Alpha-5 numbers as written), its value the lines, name
 * line included. Of two sets of one number the one with the later epoch stands, of equal epochs
 * the one further down. Lines may end in CRLF; blank ones and those with '#' in front are
 * skipped. Lengths, checksums, and that both lines are of one number, are checked; what the
 * columns mean is the bakers' matter. Format: Hoots and Roehrich, Spacetrack Report No. 3
 * (1980). */
extern const weft_source_desc tle_source;

#endif
