/* SPDX-License-Identifier: MIT */
/* ecs_engine.h: the one header of ecs that layers above include, besides the public ones: phases,
 * errors, versions, the clock and the extensions of a world (world_front.h), what is read of its
 * parts (world_view.h), its host thread, archetypes and chunks as walks see them, the matches and
 * filters of queries, guards of columns, recorders and their playback, relations.
 *
 * All of it stands in this folder: ecs/src is private (tests/platform/seams.sh tries). */
#pragma once

/* the world */
#include "error.h"
#include "host.h"
#include "world_view.h"

/* archetypes and chunks */
#include "archetype_state.h"

/* queries */
#include "filter.h"
#include "guard.h"
#include "query_cursor.h"
#include "query_state.h"
#include "slice_ops.h"

/* versions */
#include "row_diff.h"
#include "version_renewal.h"

/* relations */
#include "relation_engine.h"

/* commands */
#include "playback.h"
#include "recorder.h"
