/* ecs.h: the storage without the scheduler. */
#ifndef WEFT_ECS_H
#define WEFT_ECS_H

#include <weft/commands.h>
#include <weft/component.h>
#include <weft/entity.h>
#include <weft/query.h>
#include <weft/slice.h>
#include <weft/world.h>

#endif
