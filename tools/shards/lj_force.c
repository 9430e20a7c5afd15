/* SPDX-License-Identifier: MIT */
/* lj_force.c: the loops of lj_force.h. LJ_SET names the instruction set it is compiled for.
 *
 * Four neighbours are read as four vectors {x, y, z, -} and transposed, which is faster than
 * gathering twelve numbers. Lane k sums neighbours k, k + 4, k + 8 ..., whatever the vectors of
 * the processor are, so the sums are the same for each instruction set.
 */
#include "lj_force.h"

#include <string.h>

typedef double four __attribute__((vector_size(32)));
typedef int64_t mask __attribute__((vector_size(32)));

#define PASTE(a, b) a##b
#define NAME(set) PASTE(lj_forces_, set)

static double sum_of(const four *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

static void of_atom(const lj_place *places, const lj_atom *atom, double cut_square,
                    bool with_energy, lj_sums *out)
{
    const double at[3] = {atom->at[0], atom->at[1], atom->at[2]};
    const uint16_t *list = atom->list;
    four fx = {0}, fy = {0}, fz = {0}, energy = {0}, virial = {0};
    for (uint32_t k = 0; k < atom->count; k += LJ_LANES) {
        const four a = *(const four *)places[list[k]].at, b = *(const four *)places[list[k + 1]].at;
        const four c = *(const four *)places[list[k + 2]].at;
        const four d = *(const four *)places[list[k + 3]].at;
        const four ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
        const four cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
        const four ab_y = __builtin_shufflevector(a, b, 1, 5, 3, 7);
        const four cd_y = __builtin_shufflevector(c, d, 1, 5, 3, 7);
        const four x = at[0] - __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        const four y = at[1] - __builtin_shufflevector(ab_y, cd_y, 0, 1, 4, 5);
        const four z = at[2] - __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        const four square = x * x + y * y + z * z;
        const mask is_near = square < cut_square;
        const four inverse = 1.0 / square, sixth = inverse * inverse * inverse;
        const four pair = sixth * (48.0 * sixth - 24.0) * inverse;
        const four force = (four)((mask)pair & is_near);
        fx += x * force;
        fy += y * force;
        fz += z * force;
        if (!with_energy) continue;
        const four potential = 4.0 * sixth * (sixth - 1.0);
        energy += (four)((mask)potential & is_near);
        virial += square * force;
    }
    out->force[0] = sum_of(&fx);
    out->force[1] = sum_of(&fy);
    out->force[2] = sum_of(&fz);
    out->energy = sum_of(&energy);
    out->virial = sum_of(&virial);
}

static uint32_t find(const lj_place *places, uint32_t count, const double at[3], uint32_t self,
                     double square, uint16_t *list)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double x = at[0] - places[k].at[0], y = at[1] - places[k].at[1];
        const double z = at[2] - places[k].at[2];
        list[found] = (uint16_t)k;
        found += (x * x + y * y + z * z <= square) & (k != self);
    }
    return found;
}

const lj_forces NAME(LJ_SET);
const lj_forces NAME(LJ_SET) = {of_atom, find};
