/* SPDX-License-Identifier: MIT */
/* weft.h: worlds, components, entities, queries, recorded changes, saved worlds, systems, and
 * through them the job system: what most programs need.
 *
 * Public. The rest is included where it is used: <weft/type.h>, <weft/value.h>, <weft/world_text.h>
 * (descriptions and text), <weft/blob.h>, <weft/stream.h>, <weft/snapshot.h>, <weft/transfer.h>,
 * <weft/observer.h>, <weft/state_log.h>, <weft/order.h>, <weft/transform.h>.
 * Parts stand alone: <weft/jobs.h> without worlds, <weft/ecs.h>, the whole storage without
 * systems. */
#ifndef WEFT_H
#define WEFT_H

#include <weft/buffers.h>
#include <weft/commands.h>
#include <weft/component.h>
#include <weft/entity.h>
#include <weft/finder.h>
#include <weft/query.h>
#include <weft/relation.h>
#include <weft/schedule.h>
#include <weft/slice.h>
#include <weft/system.h>
#include <weft/world.h>
#include <weft/world_file.h>

#endif
