/* cost.c: the learning side of cost.h: the moving average, and the pause after splits that did not
 * gain. Plain arithmetic on relaxed words: two threads that learn at once lose one sample, which
 * does no harm. */
#include "cost.h"

#define TICKS_MAX (UINT64_C(1) << (64 - WEFT__COST_FRACTION_BITS - 1)) /* of a run: months */
#define RETRY_UNIT_BITS 16u /* retry times count 2^16 ticks, about 20 us, modulo 2^40 */
#define RETRY_MASK ((UINT64_C(1) << 40) - 1)
#define REGRET_SHARE 64u /* a pause is at least so many times what the try lost: 1.6 % */
#define FAILURES_MAX 4u  /* the pause doubles with each failure in a row up to this one ... */
#define PAUSE_GROWN_TICKS (UINT64_C(1) << 26) /* ... and while it is below about 20 ms */
#define PAUSE_MAX_TICKS (UINT64_C(1) << 32)   /* about 1 s */
#define DEBT_UNITS 16u                        /* of a loop's predicted time */
#define DEBT_MAX 1023u

void weft__cost_learn(weft__cost_state *cost, uint64_t ticks, uint32_t count)
{
    if (count == 0) return;
    if (ticks > TICKS_MAX) ticks = TICKS_MAX;
    uint64_t item = (ticks << WEFT__COST_FRACTION_BITS) / count;
    if (item == 0) item = 1;
    uint64_t known = at_load_rlx(&cost->x_item); /* relaxed: an estimate */
    /* One interrupted run must not make the loop look huge: rise at most fourfold at a time. */
    if (known != 0 && item / 4 > known) item = known * 4;
    if (item > WEFT__COST_ITEM_MAX) item = WEFT__COST_ITEM_MAX;
    /* Fast down, slow up: an interrupt can only make a run look longer. */
    uint64_t next = known == 0     ? item
                    : item < known ? known - (known - item) / 2
                                   : known + (item - known + 7) / 8;
    at_store_rlx(&cost->x_item, next); /* relaxed: an estimate */
}

/* How long to run inline after the `failures`-th try in a row that did not gain. */
static uint64_t pause_after(uint32_t failures, uint64_t alone, uint64_t wall)
{
    uint64_t regret = alone / 64 + (wall > alone ? wall - alone : 0);
    if (regret > PAUSE_MAX_TICKS / REGRET_SHARE) return PAUSE_MAX_TICKS;
    uint64_t least = regret * REGRET_SHARE, grown = least << (failures - 1);
    if (grown > PAUSE_GROWN_TICKS) grown = PAUSE_GROWN_TICKS;
    return grown > least ? grown : least;
}

bool weft__cost_pays(weft__cost_state *cost, uint64_t predicted, uint64_t pay_off, uint64_t now)
{
    if (predicted < pay_off) return false;
    if (weft__cost_failures(cost) == 0) return true;
    uint64_t retry = at_load_rlx(&cost->x_history) >> 24; /* relaxed: an estimate */
    return (((now >> RETRY_UNIT_BITS) - retry) & RETRY_MASK) <= RETRY_MASK / 2;
}

/* The debt after a split that did not gain and is followed by no pause, in sixteenths. */
static uint32_t debt_of(uint64_t alone, uint64_t wall)
{
    uint64_t lost = wall > alone ? (wall - alone) / (alone / DEBT_UNITS + 1) : 0;
    return lost < DEBT_MAX ? (uint32_t)lost + 1 : DEBT_MAX;
}

bool weft__cost_judge_split(weft__cost_state *cost, uint64_t alone, uint64_t wall, uint64_t now)
{
    bool has_gained = wall < alone - alone / 16;
    uint64_t history = at_load_rlx(&cost->x_history); /* relaxed: an estimate */
    uint32_t failures = weft__cost_failures(cost), debt = (uint32_t)(history >> 6) & DEBT_MAX;
    if (has_gained && failures == 0 && debt == 0) return true;
    uint64_t retry = history >> 24;
    if (has_gained) {
        uint64_t gain = (alone - wall) / (alone / DEBT_UNITS + 1);
        debt = gain < debt ? debt - (uint32_t)gain : 0;
        failures = 0;
    } else if (debt == 0) {
        debt = debt_of(alone, wall);
    } else {
        if (failures < FAILURES_MAX) failures++;
        uint64_t lost = wall + alone / DEBT_UNITS * (debt - 1);
        retry = ((now + pause_after(failures, alone, lost)) >> RETRY_UNIT_BITS) + 1; /* up */
        debt = 0;
    }
    uint64_t next = retry << 24 | (uint64_t)failures << 16 | (uint64_t)debt << 6;
    at_store_rlx(&cost->x_history, next | (history & WEFT__COST_RUNS)); /* relaxed: an estimate */
    return has_gained;
}

void weft__cost_learn_split(weft__cost_state *cost, const weft__cost_split *split)
{
    uint64_t busy = split->busy, most = split->predicted + split->predicted / 4;
    bool is_trusted = split->predicted == 0 ||
                      weft__cost_judge_split(cost, split->predicted, split->wall, split->now);
    weft__cost_learn(cost, is_trusted || busy < most ? busy : most, split->count);
}
