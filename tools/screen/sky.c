/* SPDX-License-Identifier: MIT */
/* sky.c: the parts of the pair search that run once: bounds, memory, and the choice of the build
 * for this processor.
 */
#include "sky.h"

#include <stdlib.h>

extern const struct sky_kernels sky_kernels_baseline;
#ifdef SGP4_X86_KERNELS
extern const struct sky_kernels sky_kernels_avx2, sky_kernels_avx512;
#endif

/* The cubic is off by the fourth derivative of the path times span^4 / 384: at 127 km, the
 * lowest perigee that is interpolated at, at most 4 mu^2 / r^5 (three quarters of it from the
 * eccentricity). The theory's velocity is not quite the motion of its position: by 4 m/s, of
 * which a quarter of the span counts. tests/screen/test_ephemeris.c measures both; where
 * eccentricities are beyond 0.85 the theory is worse, and nothing is interpolated. */
double sky_blend_km(double step_s)
{
    const double span = 2.0 * step_s <= SKY_SPAN_S ? SKY_SPAN_S : 0.0;
    return 1.4e-10 * span * span * span * span + 0.001 * span;
}

/* Bounds. Two objects d apart feel nearly the same gravity: their paths bend apart by no more
 * than 3.1e-6 d km/s^2 (twice mu / r^3 at the surface). Over half a step h with d <= 2 reach
 * that is 3.1e-6 reach h^2. Single precision and the difference between the theory's velocity
 * and the motion of its position add 30 m + 2 m/s * h (8 m/s where states are interpolated);
 * what grows with the distance from the Earth is added per pair. A slow object covers slow * h;
 * 0.5 km is the rounding of far objects. */
struct sky_rules sky_rules_of(double step_s, double threshold_km, double fastest_km_s)
{
    const double h = 0.5 * step_s;
    const double slow = fastest_km_s < SKY_SLOW_KM_S ? fastest_km_s : SKY_SLOW_KM_S;
    const double travel = 2.0 * slow * h;
    const double bend = 3.1e-6 * (travel + threshold_km) * h * h;
    const double blend = sky_blend_km(step_s), drift = blend > 0.0 ? 0.008 : 0.002;
    const double limit = threshold_km + bend + 0.03 + drift * h + 2.0 * blend;
    const double reach = limit + travel + 0.5;
    return (struct sky_rules){.half_step = (float)h,
                              .slow = (float)slow,
                              .limit = (float)limit,
                              .reach = (float)reach,
                              .per_row = (float)(1.0 / (1.02 * reach))};
}

int sky_grid_init(struct sky_grid *grid, uint32_t capacity)
{
    *grid = (struct sky_grid){.capacity = capacity};
    grid->cell_of = malloc(((size_t)capacity + 1) * sizeof *grid->cell_of);
    grid->by_column = malloc(((size_t)capacity + 1) * sizeof *grid->by_column);
    grid->bodies = aligned_alloc(64, ((size_t)capacity + 2) / 2 * 2 * sizeof *grid->bodies);
    if (grid->cell_of && grid->by_column && grid->bodies) return 0;
    sky_grid_fini(grid);
    return -1;
}

void sky_grid_fini(struct sky_grid *grid)
{
    free(grid->cell_of);
    free(grid->by_column);
    free(grid->bodies);
    *grid = (struct sky_grid){.capacity = 0};
}

int sky_pairs_reserve(struct sky_pairs *list, uint32_t more)
{
    if (list->count + more <= list->capacity) return 0;
    const uint32_t capacity = 2 * (list->count + more);
    struct sky_pair *grown = realloc(list->pairs, (size_t)capacity * sizeof *grown);
    if (!grown) return -1;
    list->pairs = grown;
    list->capacity = capacity;
    return 0;
}

void sky_pairs_fini(struct sky_pairs *list)
{
    free(list->pairs);
    *list = (struct sky_pairs){.pairs = NULL};
}

uint32_t sky_kernels_available(const struct sky_kernels **kernels, uint32_t capacity)
{
    uint32_t count = 0;
    if (count < capacity) kernels[count++] = &sky_kernels_baseline;
#ifdef SGP4_X86_KERNELS
    __builtin_cpu_init();
    if (count < capacity && __builtin_cpu_supports("avx2")) kernels[count++] = &sky_kernels_avx2;
    if (count < capacity && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        kernels[count++] = &sky_kernels_avx512;
    }
#endif
    return count;
}

const struct sky_kernels *sky_kernels_best(void)
{
    const struct sky_kernels *kernels[3];
    return kernels[sky_kernels_available(kernels, 3) - 1];
}
