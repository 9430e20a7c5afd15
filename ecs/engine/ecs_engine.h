/* SPDX-License-Identifier: MIT */
/* ecs_engine.h: the one header of ecs that the scheduler includes, besides the public ones: phases,
 * errors, versions, the clock and the extensions of a world (world_state.h), its host thread, the
 * matches and filters of queries as dispatch walks them, guards of columns, recorders and their
 * playback.
 *
 * tools/tidy refuses any other internal header of ecs in a layer above. What stands here is inline
 * or a struct that dispatch reads; the folders that it comes from own it. */
#ifndef WEFT_ECS_ENGINE_H
#define WEFT_ECS_ENGINE_H

/* the world */
#include "archetype_state.h"
#include "column_map.h"
#include "entity_value.h"
#include "error.h"
#include "given_list.h"
#include "host.h"
#include "name_table.h"
#include "world_state.h"

/* queries */
#include "enable.h"
#include "filter.h"
#include "guard.h"
#include "query_create.h"
#include "query_cursor.h"
#include "query_group.h"
#include "query_handle.h"
#include "query_match.h"
#include "query_memory.h"
#include "slice_ops.h"

/* commands */
#include "commands_state.h"

#endif
