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

/* Bounds. Two objects d apart feel nearly the same gravity: their paths bend apart by no more
 * than 3.1e-6 d km/s^2 (twice mu / r^3 at the surface). Over half a step h with d <= 2 reach
 * that is 3.1e-6 reach h^2. Single precision and the difference between the theory's velocity
 * and the motion of its position add 30 m + 2 m/s * h; what grows with the distance from the
 * Earth is added per pair. A slow object covers slow * h; 0.5 km is the rounding of far objects. */
struct sky_rules sky_rules_of(double step_s, double threshold_km, double fastest_km_s)
{
    const double h = 0.5 * step_s;
    const double slow = fastest_km_s < SKY_SLOW_KM_S ? fastest_km_s : SKY_SLOW_KM_S;
    const double travel = 2.0 * slow * h;
    const double bend = 3.1e-6 * (travel + threshold_km) * h * h;
    const double limit = threshold_km + bend + 0.03 + 0.002 * h;
    const double reach = limit + travel + 0.5;
    return (struct sky_rules){.half_step = (float)h,
                              .slow = (float)slow,
                              .limit = (float)limit,
                              .reach = (float)reach,
                              .per_cell = (float)(1.0 / (1.02 * reach))};
}

/* About four cells for each object: most are empty, which costs less than full ones. */
static uint32_t bits_for(uint32_t count)
{
    uint32_t bits = 5;
    while (bits < 11 && (1u << (2 * bits)) < 4 * (uint64_t)count) bits++;
    return bits;
}

int sky_grid_init(struct sky_grid *grid, uint32_t capacity)
{
    const uint32_t bits = bits_for(capacity);
    *grid = (struct sky_grid){.capacity = capacity, .bits = bits};
    grid->cell_of = malloc((size_t)(capacity + 1) * sizeof *grid->cell_of);
    grid->cell_end = malloc((((size_t)1 << (2 * bits)) + 2) * sizeof *grid->cell_end);
    grid->bodies = aligned_alloc(64, ((size_t)capacity + 2) / 2 * 2 * sizeof *grid->bodies);
    if (grid->cell_of && grid->cell_end && grid->bodies) return 0;
    sky_grid_fini(grid);
    return -1;
}

void sky_grid_fini(struct sky_grid *grid)
{
    free(grid->cell_of);
    free(grid->cell_end);
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
