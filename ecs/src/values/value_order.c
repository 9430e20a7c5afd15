/* SPDX-License-Identifier: MIT */
/* value_order.c: the first of many values in the order of their bytes, in a heap of pointers:
 * values that come later than all of a full heap cost one comparison. Values are not copied.
 * Owner: the caller. */
#include "value_order.h"

#include <string.h>

/* Puts the item at the top where it belongs among the first `count`. */
static void sink(const weft__value_order *order, uint32_t count)
{
    const void **items = order->items, *value = items[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && memcmp(items[child], items[child + 1], order->size) < 0) child++;
        if (memcmp(value, items[child], order->size) >= 0) break;
        items[at] = items[child];
    }
    items[at] = value;
}

void weft__value_order_add(weft__value_order *order, const void *value)
{
    const void **items = order->items;
    if (order->count == order->capacity) {
        if (order->capacity == 0 || memcmp(value, items[0], order->size) >= 0) return;
        items[0] = value;
        sink(order, order->count);
        return;
    }
    uint32_t at = order->count++;
    for (; at != 0 && memcmp(items[(at - 1) / 2], value, order->size) < 0; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = value;
}

void weft__value_order_finish(const weft__value_order *order)
{
    for (uint32_t end = order->count; end-- > 1;) {
        const void *last = order->items[0];
        order->items[0] = order->items[end];
        order->items[end] = last;
        sink(order, end);
    }
}
