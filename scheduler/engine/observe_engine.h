/* SPDX-License-Identifier: MIT */
/* observe_engine.h: what libweft-shard does with the observers of a world: rows that change ranks
 * are no news to them. */
#pragma once

#include <weft/observer.h>

/* Whether the world has observers. Owner, world idle. */
WEFT__DOOR bool weft__observers_any(const weft_world *world);
/* What has changed since the last run is no news, but to those of one component. Errors:
 * OUT_OF_MEMORY. Owner, idle. */
WEFT__DOOR weft_result weft__observers_pass(const weft_world *world, weft_component spared);
