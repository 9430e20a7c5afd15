/* weft.h: everything. */
#ifndef WEFT_H
#define WEFT_H

#include <weft/ecs.h>
#include <weft/schedule.h>
#include <weft/system.h>

#endif
