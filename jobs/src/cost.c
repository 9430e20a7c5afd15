/* cost.c: the learning side of cost.h: the moving average and the penalty of splits that did not
 * gain. Plain arithmetic on relaxed words: two threads that learn at once lose one sample, which
 * does no harm. */
#include "cost.h"

#define PENALTY_MAX 6u      /* 64 times the normal pay-off */
#define RETRY_UNIT_BITS 20u /* retry times count 2^20 ticks, about 0.3 ms */
#define RETRY_UNITS 32u     /* pause after the first failure */

void weft__cost_learn(weft__cost_state *cost, uint64_t ticks, uint32_t count)
{
    if (count == 0) return;
    uint64_t item = (uint64_t)(((weft__ticks_wide)ticks << WEFT__COST_FRACTION_BITS) / count);
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

static void set_penalty(weft__cost_state *cost, uint32_t penalty, uint64_t now)
{
    uint64_t retry = (now >> RETRY_UNIT_BITS) + ((uint64_t)RETRY_UNITS << penalty);
    uint64_t runs = at_load_rlx(&cost->x_history) & 0xFFFF; /* relaxed: an estimate */
    at_store_rlx(&cost->x_history, retry << 24 | (uint64_t)penalty << 16 | runs); /* relaxed: so */
}

bool weft__cost_pays(weft__cost_state *cost, uint64_t predicted, uint64_t pay_off, uint64_t now)
{
    if (predicted < pay_off) return false;
    uint32_t penalty = weft__cost_penalty(cost);
    if (penalty == 0) return true;
    uint64_t retry = at_load_rlx(&cost->x_history) >> 24; /* relaxed: an estimate */
    if (now >> RETRY_UNIT_BITS >= retry) set_penalty(cost, --penalty, now);
    return predicted >> penalty >= pay_off;
}

bool weft__cost_judge_split(weft__cost_state *cost, uint64_t alone, uint64_t wall, uint64_t now)
{
    bool has_gained = wall < alone - alone / 16;
    uint32_t penalty = weft__cost_penalty(cost);
    if (!has_gained && penalty < PENALTY_MAX) penalty++;
    if (has_gained && penalty == 0) return true;
    set_penalty(cost, has_gained ? penalty - 1 : penalty, now);
    return has_gained;
}
