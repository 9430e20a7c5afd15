/* SPDX-License-Identifier: MIT */
/* model_clock.c: rates and timers of the reference world (model.h).
 *
 * Times of scripts are multiples of 1/64 s: sums of them are exact. */
#include "model.h"

enum { TICKS_MOST = 8 };

static const double nearly = 1e-9;

uint32_t model_ticks(double *rest, double dt, double period)
{
    uint32_t ticks = 0;
    for (*rest += dt; *rest + nearly >= period; *rest -= period) ticks++;
    return ticks < TICKS_MOST ? ticks : TICKS_MOST;
}

/* How long ago the tick was that has `later` ticks behind it. */
static double tick_age(double rest, double period, uint32_t later)
{
    return rest + later * period;
}

uint32_t model_timer(model_clock *clock, uint32_t system, double dt, double period, uint32_t ticks,
                     double rest)
{
    if (!clock->is_set[system]) return 0;
    if (clock->is_late[system]) return ticks > 1 ? ticks : 1;
    clock->timers[system] -= dt;
    if (period <= 0) return clock->timers[system] <= nearly ? 1 : 0;
    for (uint32_t pass = ticks; pass != 0; pass--)
        if (clock->timers[system] <= nearly - tick_age(rest, period, pass - 1)) return pass;
    return 0;
}
