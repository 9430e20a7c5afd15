/* SPDX-License-Identifier: MIT */
/* screen_objects.c: initialises each object again from its elements.
 */
#include "screen_objects.h"

#include <stdlib.h>

void screen_objects_fini(struct screen_objects *o)
{
    free(o->near);
    free(o->deep);
    free(o->all);
    free(o->lost_step);
}

int screen_objects_init(struct screen_objects *o, const struct screen_result *r)
{
    const uint32_t count = r->catalogue.count;
    *o = (struct screen_objects){.near = calloc(count, sizeof *o->near)};
    o->deep = calloc(count, sizeof *o->deep);
    o->all = calloc(count, sizeof *o->all);
    o->lost_step = malloc(count * sizeof *o->lost_step);
    if (!o->near || !o->deep || !o->all || !o->lost_step) {
        screen_objects_fini(o);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct sgp4_elements *e = &r->catalogue.objects[i].elements;
        o->lost_step[i] = UINT32_MAX;
        if (sgp4_is_deep(e)) {
            sgp4_deep_init(e, &o->deep[i]);
            o->all[i].deep = &o->deep[i];
        } else {
            sgp4_near_init(e, &o->near[i]);
            o->all[i].near = &o->near[i];
        }
    }
    for (uint32_t i = 0; i < r->loss_count; i++) {
        o->lost_step[r->losses[i].object] = r->losses[i].step;
    }
    return 0;
}
