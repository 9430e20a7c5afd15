/* SPDX-License-Identifier: MIT */
/* cost.c: the learning side of cost.h: the moving average, and the pause after splits that did not
 * gain. Plain arithmetic on relaxed words: two threads that learn at once lose one sample, which
 * does no harm. */
#include "cost.h"

#define TICKS_MAX (UINT64_C(1) << (64 - WEFT__COST_FRACTION_BITS - 1)) /* of a run: months */
#define RETRY_UNIT_BITS 16u /* retry times count 2^16 ticks, about 20 us, modulo 2^40 */
#define RETRY_MASK ((UINT64_C(1) << 40) - 1)
#define FIRST_SHARE 8u  /* the first pause is so many times what was lost; 64: 18 % slower */
#define FAILURES_MAX 4u /* 8, 16, 32, 64 times: tries then cost 1.6 %; always 8: 16 % */
#define LOSS_MAX_TICKS (UINT64_C(1) << 26) /* about 20 ms: pauses end within a second */
#define TRIAL_TICKS (UINT64_C(1) << 20)    /* 0.4 ms, what splits in a row may lose; none: 59 % */
#define ACCOUNT_UNITS 16u                  /* of a loop's predicted time */
#define ACCOUNT_MAX 16383                  /* 1,024 loops: what its field holds */
#define CREDIT_MAX 64                      /* four loops; none: 7 % */
#define CHECK_TICKS (UINT64_C(1) << 16)    /* about 25 us, four loops of 6 us */
#define CHECK_SPIN_MOST (WEFT__COST_CHECK_PERIOD / 64) /* about 100 us of a search */

void weft__cost_learn(weft__cost_state *cost, uint64_t ticks, uint32_t count)
{
    if (count == 0) return;
    if (ticks > TICKS_MAX) ticks = TICKS_MAX;
    uint64_t item = (ticks << WEFT__COST_FRACTION_BITS) / count;
    if (item == 0) item = 1;
    uint64_t known = at_load_rlx(&cost->x_item); /* relaxed: an estimate */
    if (item > WEFT__COST_ITEM_MAX) item = WEFT__COST_ITEM_MAX;
    /* Fast down, slow up: an interrupt can only make a run look longer. As fast up as down: 6 %
     * slower. */
    uint64_t next = known == 0     ? item
                    : item < known ? known - (known - item) / 2
                                   : known + (item - known + 7) / 8;
    at_store_rlx(&cost->x_item, next); /* relaxed: an estimate */
}

/* How long to run inline: the `failures`-th pause in a row, with `lost` ticks to pay for. */
static uint64_t pause_after(uint32_t failures, uint64_t alone, uint64_t lost)
{
    uint64_t regret = alone / 64 + lost;
    return (regret < LOSS_MAX_TICKS ? regret : LOSS_MAX_TICKS) * FIRST_SHARE << (failures - 1);
}

bool weft__cost_pays(weft__cost_state *cost, uint64_t predicted, uint64_t pay_off, uint64_t now)
{
    if (predicted < pay_off) return false;
    if (weft__cost_failures(cost) == 0) return true;
    uint64_t retry = at_load_rlx(&cost->x_history) >> 24; /* relaxed: an estimate */
    return (((now >> RETRY_UNIT_BITS) - retry) & RETRY_MASK) <= RETRY_MASK / 2;
}

bool weft__cost_is_checked(uint64_t now, uint64_t spin)
{
    if (spin > CHECK_SPIN_MOST) spin = CHECK_SPIN_MOST;
    return (now & (WEFT__COST_CHECK_PERIOD - 1)) < spin + CHECK_TICKS;
}

bool weft__cost_burst_wakes(weft__cost_burst *burst, uint64_t predicted, uint64_t now,
                            uint64_t spin, uint64_t asleep_ticks)
{
    if (now > burst->until) burst->missed = 0;
    burst->until = now + predicted + spin;
    burst->missed += predicted / 2;
    if (burst->missed < asleep_ticks) return false;
    burst->missed = 0;
    return true;
}

/* A difference of ticks in the account's units. */
static int in_units(uint64_t ticks, uint64_t alone)
{
    uint64_t units = ticks / (alone / ACCOUNT_UNITS + 1);
    return units < ACCOUNT_MAX ? (int)units : ACCOUNT_MAX;
}

/* The account in a history: 15 bits with sign. */
static int account_of(uint64_t history)
{
    return (int16_t)(uint16_t)(history >> 6 << 1) / 2;
}

bool weft__cost_judge_split(weft__cost_state *cost, uint64_t alone, uint64_t wall, uint64_t now)
{
    bool has_gained = wall < alone - alone / 16;
    uint64_t history = at_load_rlx(&cost->x_history); /* relaxed: an estimate */
    uint64_t retry = history >> 24, loss = wall > alone ? wall - alone : 0;
    uint32_t failures = weft__cost_failures(cost);
    int account = account_of(history);
    uint64_t debt = account < 0 ? alone / ACCOUNT_UNITS * (uint64_t)-account : 0;
    if (has_gained) {
        account += in_units(alone - wall, alone);
        if (account > CREDIT_MAX) account = CREDIT_MAX;
        if (account == CREDIT_MAX) failures = 0;
    } else if (debt < TRIAL_TICKS && account > -ACCOUNT_MAX) {
        account -= in_units(loss, alone) + 1;
        if (account < -ACCOUNT_MAX) account = -ACCOUNT_MAX;
    } else {
        if (failures < FAILURES_MAX) failures++;
        uint64_t lost = loss + debt - alone / ACCOUNT_UNITS;
        retry = ((now + pause_after(failures, alone, lost)) >> RETRY_UNIT_BITS) + 1; /* up */
        account = 0;
    }
    uint64_t next = retry << 24 | (uint64_t)failures << 21 | ((uint64_t)account & 0x7FFF) << 6;
    at_store_rlx(&cost->x_history, next | (history & WEFT__COST_RUNS)); /* relaxed: an estimate */
    return has_gained;
}

void weft__cost_learn_split(weft__cost_state *cost, const weft__cost_split *split)
{
    bool was_in_debt = account_of(at_load_rlx(&cost->x_history)) < 0; /* relaxed: an estimate */
    uint64_t busy = split->busy, most = split->predicted;
    if (!was_in_debt) most += most / 4;
    bool is_trusted = split->predicted == 0 ||
                      weft__cost_judge_split(cost, split->predicted, split->wall, split->now);
    if (split->is_short && split->predicted != 0) {
        if (busy / 2 <= split->predicted && busy >= split->predicted / 2) return;
        if (busy > split->predicted) busy /= 2;
    }
    weft__cost_learn(cost, is_trusted || busy < most ? busy : most, split->count);
}
