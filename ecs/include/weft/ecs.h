/* SPDX-License-Identifier: MIT */
/* ecs.h: the storage without the scheduler: worlds, components, entities, queries, recorded
 * changes, snapshots.
 *
 * Public. For hosts that order their work themselves; <weft/weft.h> adds systems and frames. */
#ifndef WEFT_ECS_H
#define WEFT_ECS_H

#include <weft/blob.h>
#include <weft/buffers.h>
#include <weft/commands.h>
#include <weft/component.h>
#include <weft/entity.h>
#include <weft/finder.h>
#include <weft/query.h>
#include <weft/relation.h>
#include <weft/slice.h>
#include <weft/snapshot.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/value.h>
#include <weft/world.h>
#include <weft/world_file.h>
#include <weft/world_text.h>

#endif
