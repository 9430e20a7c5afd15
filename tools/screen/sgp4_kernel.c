/* SPDX-License-Identifier: MIT */
/* sgp4_kernel.c: the SGP4 and SDP4 kernels: a block of satellites to a moment each.
 *
 * Every loop runs over the lanes of a block, has no branch and no call, and turns into vector
 * code. The file is compiled once per instruction set with SGP4_KERNEL naming the result; with
 * contraction of multiply and add switched off all builds do the same operations in the same
 * order and give the same bits. The stages are:
 *
 *   mean elements at the time      near: drag polynomials; deep: Sun, Moon, resonance
 *   Kepler's equation              in non-singular elements
 *   short-period terms of J2       and from them position and velocity
 *
 * Angles are never brought back to one turn unless the theory depends on it: sine and cosine
 * take large arguments.
 */
#include "orbit_math.h"
#include "sgp4.h"
#include "sgp4_block.h"

#if defined(__OPTIMIZE__) && !defined(__NO_MATH_ERRNO__)
#error "the kernels need -fno-math-errno and -fno-trapping-math after all other options"
#endif

/* Between the stages. `kepler_step` is the last correction of the eccentric anomaly, `s` and `c`
 * the sine and cosine of the anomaly before it; `is_open` is 1 while another correction is
 * needed. */
struct lanes {
    _Alignas(64) double t[SGP4_LANES];
    double error[SGP4_LANES], doubt[SGP4_LANES];
    double am[SGP4_LANES], em[SGP4_LANES], argp[SGP4_LANES], mm[SGP4_LANES], node[SGP4_LANES];
    double inclination[SGP4_LANES], si[SGP4_LANES], ci[SGP4_LANES];
    double aycof[SGP4_LANES], xlcof[SGP4_LANES];
    double con41[SGP4_LANES], x1mth2[SGP4_LANES], x7thm1[SGP4_LANES];
    double axn[SGP4_LANES], ayn[SGP4_LANES], u[SGP4_LANES];
    double anomaly[SGP4_LANES], kepler_step[SGP4_LANES], is_open[SGP4_LANES];
    double s[SGP4_LANES], c[SGP4_LANES];
};

#define EACH_LANE (int i = 0; i < SGP4_LANES; i++)

static const double j3_over_j2 = SGP4_J3 / SGP4_J2;

/* A correction below this part of the orbit's radius over its axis leaves an error of its fourth
 * power: 1e-12 e. */
static const double small_step = 2e-3;

static void near_mean(const struct sgp4_near_block *restrict b, const double *restrict minutes,
                      struct lanes *restrict m)
{
    for
        EACH_LANE
        {
            const double t = b->offset[i] + minutes[i], t2 = t * t, t3 = t2 * t, t4 = t3 * t;
            const double xmdf = b->mo[i] + b->mdot[i] * t;
            const double argpdf = b->argpo[i] + b->argpdot[i] * t;
            const double swing = 1.0 + b->eta[i] * orbit_angle_of(xmdf).cosine;
            const double shift =
                b->omgcof[i] * t + b->xmcof[i] * (swing * swing * swing - b->delmo[i]);
            const double mm = xmdf + shift;
            const double tempa =
                1.0 - b->cc1[i] * t - b->d2[i] * t2 - b->d3[i] * t3 - b->d4[i] * t4;
            const double tempe =
                b->bcc4[i] * t + b->bcc5[i] * (orbit_angle_of(mm).sine - b->sinmao[i]);
            const double templ =
                b->t2cof[i] * t2 + b->t3cof[i] * t3 + t4 * (b->t4cof[i] + t * b->t5cof[i]);
            const double em = b->ecco[i] - tempe;
            m->error[i] = em >= 1.0 || em < -0.001 ? (double)SGP4_ERROR_ECCENTRICITY : 0.0;
            m->doubt[i] = em >= 0.85 || em < -0.0009 ? 1.0 : 0.0;
            m->em[i] = em < 1.0e-6 ? 1.0e-6 : em;
            m->am[i] = b->ao[i] * tempa * tempa;
            m->mm[i] = mm + b->no[i] * templ;
            m->argp[i] = argpdf - shift;
            m->node[i] = b->nodeo[i] + b->nodedot[i] * t + b->nodecf[i] * t2;
        }
    for
        EACH_LANE
        {
            m->si[i] = b->sinio[i];
            m->ci[i] = b->cosio[i];
            m->aycof[i] = b->aycof[i];
            m->xlcof[i] = b->xlcof[i];
            m->con41[i] = b->con41[i];
            m->x1mth2[i] = b->x1mth2[i];
            m->x7thm1[i] = b->x7thm1[i];
        }
}

/* Times of the lanes; then lanes whose resonance node belongs to another stretch of 720 minutes
 * move it (rare). */
static void deep_time(struct sgp4_deep_block *restrict b, const double *restrict minutes,
                      struct lanes *restrict m)
{
    int64_t moved = 0;
    for
        EACH_LANE
        {
            const double t = b->offset[i] + minutes[i], a = b->atime[i];
            m->t[i] = t;
            moved |=
                b->resonance[i] != 0.0 && (t * a < 0.0 || fabs(t) < fabs(a) || fabs(t - a) >= 720.0)
                    ? 1
                    : 0;
        }
    if (!moved) return;
    for
        EACH_LANE
        {
            const double t = m->t[i], a = b->atime[i];
            if (b->resonance[i] != 0.0 &&
                (t * a < 0.0 || fabs(t) < fabs(a) || fabs(t - a) >= 720.0)) {
                sgp4_deep_block_seek(b, (uint32_t)i, t);
            }
        }
}

static void deep_mean(const struct sgp4_deep_block *restrict b, struct lanes *restrict m)
{
    for
        EACH_LANE
        {
            const double t = m->t[i], t2 = t * t;
            const double argp = b->argpo[i] + b->argpdot[i] * t + b->domdt[i] * t;
            const double node =
                b->nodeo[i] + b->nodedot[i] * t + b->nodecf[i] * t2 + b->dnodt[i] * t;
            const double theta = b->gsto[i] + t * 4.37526908801129966e-3;
            const double is_resonant = b->resonance[i] != 0.0 ? 1.0 : 0.0;
            const double ft = t - b->atime[i];
            const double longitude = b->xli[i] + b->xldot[i] * ft + b->xndt[i] * ft * ft * 0.5;
            const double xn = b->xni[i] + b->xndt[i] * ft + b->xnddt[i] * ft * ft * 0.5;
            const double free_mm = b->mo[i] + b->mdot[i] * t + b->dmdt[i] * t;
            const double held_mm = longitude - b->node_weight[i] * node -
                                   b->perigee_weight[i] * argp + b->node_weight[i] * theta;
            const double nm = is_resonant != 0.0 ? xn : b->no[i];
            const double tempa = 1.0 - b->cc1[i] * t;
            const double em = b->ecco[i] + b->dedt[i] * t - b->bcc4[i] * t;
            double error = nm <= 0.0 ? (double)SGP4_ERROR_MEAN_MOTION : 0.0;
            error = error == 0.0 && (em >= 1.0 || em < -0.001) ? (double)SGP4_ERROR_ECCENTRICITY
                                                               : error;
            m->error[i] = error;
            m->doubt[i] = nm < 1e-6 || em >= 0.85 || em < -0.0009 ? 1.0 : 0.0;
            m->em[i] = em < 1.0e-6 ? 1.0e-6 : em;
            m->am[i] = b->ao[i] * orbit_two_thirds_near_one(b->no[i] / nm) * tempa * tempa;
            m->mm[i] = (is_resonant != 0.0 ? held_mm : free_mm) + b->no[i] * (b->t2cof[i] * t2);
            m->argp[i] = argp;
            m->node[i] = node;
            m->inclination[i] = b->inclo[i] + b->didt[i] * t;
        }
}

/* The two functions of the disturbing body's true anomaly that its periodic terms are made of. */
struct body_phase {
    double sine, f2, f3;
};

static inline struct body_phase body_phase_of(double mean_anomaly, double twice_eccentricity)
{
    const struct orbit_angle zf =
        orbit_angle_of(mean_anomaly + twice_eccentricity * orbit_angle_of(mean_anomaly).sine);
    return (struct body_phase){
        .sine = zf.sine, .f2 = 0.5 * zf.sine * zf.sine - 0.25, .f3 = -0.5 * zf.sine * zf.cosine};
}

/* Long-period terms of the Sun and the Moon; near the equator applied to the node's direction
 * (Lyddane). The theory then multiplies the node by an inclination, so the turn it is counted in
 * matters: [0, 2 pi), as in the verification set. */
static void deep_periodics(const struct sgp4_deep_block *restrict b, struct lanes *restrict m)
{
    for
        EACH_LANE
        {
            const double t = m->t[i];
            const struct body_phase s = body_phase_of(b->zmos[i] + 1.19459e-5 * t, 2.0 * 0.01675);
            const struct body_phase l = body_phase_of(b->zmol[i] + 1.5835218e-4 * t, 2.0 * 0.05490);
            const double pe =
                b->se2[i] * s.f2 + b->se3[i] * s.f3 + (b->le2[i] * l.f2 + b->le3[i] * l.f3);
            const double pinc =
                b->si2[i] * s.f2 + b->si3[i] * s.f3 + (b->li2[i] * l.f2 + b->li3[i] * l.f3);
            const double pl = b->sl2[i] * s.f2 + b->sl3[i] * s.f3 + b->sl4[i] * s.sine +
                              (b->ll2[i] * l.f2 + b->ll3[i] * l.f3 + b->ll4[i] * l.sine);
            const double pgh = b->sgh2[i] * s.f2 + b->sgh3[i] * s.f3 + b->sgh4[i] * s.sine +
                               (b->lgh2[i] * l.f2 + b->lgh3[i] * l.f3 + b->lgh4[i] * l.sine);
            const double ph =
                b->sh2[i] * s.f2 + b->sh3[i] * s.f3 + (b->lh2[i] * l.f2 + b->lh3[i] * l.f3);

            const double inclination = m->inclination[i] + pinc, em = m->em[i] + pe;
            const struct orbit_angle in = orbit_angle_of(inclination);
            const double direct_node = ph / (in.sine != 0.0 ? in.sine : 1.0);
            const double signed_node = orbit_wrap_signed(m->node[i]);
            const double wrapped = signed_node < 0.0 ? signed_node + ORBIT_TWO_PI : signed_node;
            const double turned = orbit_atan2(ph, in.sine + pinc * in.cosine);
            const double turned_argp = pgh - pinc * in.sine * wrapped - in.cosine * turned;
            const double is_flat = inclination < 0.2 ? 1.0 : 0.0;
            const double flip = inclination < 0.0 ? ORBIT_PI : 0.0;
            m->em[i] = em;
            m->mm[i] = m->mm[i] + pl;
            m->node[i] = m->node[i] + (is_flat != 0.0 ? turned : direct_node) + flip;
            m->argp[i] =
                m->argp[i] + (is_flat != 0.0 ? turned_argp : pgh - in.cosine * direct_node) - flip;
            m->si[i] = inclination < 0.0 ? -in.sine : in.sine;
            m->ci[i] = in.cosine;
            m->error[i] = m->error[i] == 0.0 && (em < 0.0 || em > 1.0)
                              ? (double)SGP4_ERROR_PERTURBED_ECCENTRICITY
                              : m->error[i];
            m->doubt[i] = em < 1e-7 || em > 0.85 ? 1.0 : m->doubt[i];
        }
}

/* Functions of inclination that are constants for a near-earth satellite. */
static void deep_inclination(struct lanes *restrict m)
{
    for
        EACH_LANE
        {
            const double ci = m->ci[i], si = m->si[i], c2 = ci * ci;
            const double polar = fabs(ci + 1.0) > 1.5e-12 ? 1.0 + ci : 1.5e-12;
            m->aycof[i] = -0.5 * j3_over_j2 * si;
            m->xlcof[i] = -0.25 * j3_over_j2 * si * (3.0 + 5.0 * ci) / polar;
            m->con41[i] = 3.0 * c2 - 1.0;
            m->x1mth2[i] = 1.0 - c2;
            m->x7thm1[i] = 7.0 * c2 - 1.0;
        }
}

/* Long-period terms of J3 and the start of Kepler's equation for the eccentric anomaly plus
 * argument of perigee. */
static void kepler_begin(struct lanes *restrict m)
{
    for
        EACH_LANE
        {
            const double em = m->em[i];
            const struct orbit_angle w = orbit_angle_of(m->argp[i]);
            const double inverse_axis = 1.0 / (m->am[i] * (1.0 - em * em));
            const double axn = em * w.cosine;
            m->axn[i] = axn;
            m->ayn[i] = em * w.sine + inverse_axis * m->aycof[i];
            m->u[i] = orbit_wrap(m->mm[i] + m->argp[i] + inverse_axis * m->xlcof[i] * axn);
            m->anomaly[i] = m->u[i];
            m->kepler_step[i] = 0.0;
            m->is_open[i] = 1.0;
            m->s[i] = 0.0;
            m->c[i] = 1.0;
        }
}

/* One correction of third order (Danby) for the lanes that still need it; the others keep all
 * they have, so that a lane does not feel its neighbours. Returns 0 when no lane needs another. */
static int64_t kepler_correct(struct lanes *restrict m)
{
    int64_t more = 0;
    for
        EACH_LANE
        {
            const double is_open = m->is_open[i];
            const double before = m->anomaly[i];
            const struct orbit_angle e = orbit_angle_of(before);
            const double axn = m->axn[i], ayn = m->ayn[i];
            const double f = before - axn * e.sine + ayn * e.cosine - m->u[i];
            const double f3 = axn * e.cosine + ayn * e.sine, f1 = 1.0 - f3,
                         f2 = axn * e.sine - ayn * e.cosine;
            const double first = -f / f1;
            const double second = -f / (f1 + 0.5 * first * f2);
            double step = -f / (f1 + second * (0.5 * f2 + (1.0 / 6.0) * second * f3));
            step = step > 0.95 ? 0.95 : step;
            step = step < -0.95 ? -0.95 : step;
            m->kepler_step[i] = is_open != 0.0 ? step : m->kepler_step[i];
            m->s[i] = is_open != 0.0 ? e.sine : m->s[i];
            m->c[i] = is_open != 0.0 ? e.cosine : m->c[i];
            m->anomaly[i] = is_open != 0.0 ? before + step : before;
            m->is_open[i] = fabs(step) >= small_step * f1 ? is_open : 0.0;
            more |= fabs(step) >= small_step * f1 && is_open != 0.0 ? 1 : 0;
        }
    return more;
}

/* Short-period terms, then the orbit's orientation: writes the states. */
static void states_of(const struct lanes *restrict m, struct sgp4_states *restrict out)
{
    const double km_per_s = SGP4_EARTH_KM * SGP4_XKE / 60.0;
    for
        EACH_LANE
        {
            const struct orbit_angle before = {.sine = m->s[i], .cosine = m->c[i]};
            const struct orbit_angle e = orbit_angle_turn(before, m->kepler_step[i]);
            const double axn = m->axn[i], ayn = m->ayn[i], am = m->am[i];
            const double ecose = axn * e.cosine + ayn * e.sine,
                         esine = axn * e.sine - ayn * e.cosine;
            const double el2 = axn * axn + ayn * ayn, pl = am * (1.0 - el2);
            const double rl = am * (1.0 - ecose), betal = sqrt(1.0 - el2), root_am = sqrt(am);
            const double rdotl = root_am * esine / rl, rvdotl = sqrt(pl) / rl;
            const double bend = esine / (1.0 + betal), scale = am / rl;
            const double sinu = scale * (e.sine - ayn - axn * bend),
                         cosu = scale * (e.cosine - axn + ayn * bend);
            const double sin2u = (cosu + cosu) * sinu, cos2u = 1.0 - 2.0 * sinu * sinu;
            const double t1 = 0.5 * SGP4_J2 / pl, t2 = t1 / pl;
            const double ci = m->ci[i], si = m->si[i], con41 = m->con41[i], x1mth2 = m->x1mth2[i];
            const double rate = t1 / (am * root_am);
            const double mrt = rl * (1.0 - 1.5 * t2 * betal * con41) + 0.5 * t1 * x1mth2 * cos2u;
            const double mvt = rdotl - rate * x1mth2 * sin2u;
            const double rvdot = rvdotl + rate * (x1mth2 * cos2u + 1.5 * con41);
            const struct orbit_angle plain_u = {.sine = sinu, .cosine = cosu},
                                     plain_i = {.sine = si, .cosine = ci};
            const struct orbit_angle u =
                orbit_angle_add(plain_u, -0.25 * t2 * m->x7thm1[i] * sin2u);
            const struct orbit_angle in = orbit_angle_add(plain_i, 1.5 * t2 * ci * si * cos2u);
            const struct orbit_angle node = orbit_angle_of(m->node[i] + 1.5 * t2 * ci * sin2u);
            const double xmx = -node.sine * in.cosine, xmy = node.cosine * in.cosine;
            const double ux = xmx * u.sine + node.cosine * u.cosine,
                         vx = xmx * u.cosine - node.cosine * u.sine;
            const double uy = xmy * u.sine + node.sine * u.cosine,
                         vy = xmy * u.cosine - node.sine * u.sine;
            const double uz = in.sine * u.sine, vz = in.sine * u.cosine;
            const double km = mrt * SGP4_EARTH_KM, radial = mvt * km_per_s,
                         across = rvdot * km_per_s;
            out->x[i] = km * ux;
            out->y[i] = km * uy;
            out->z[i] = km * uz;
            out->vx[i] = radial * ux + across * vx;
            out->vy[i] = radial * uy + across * vy;
            out->vz[i] = radial * uz + across * vz;
            double error = m->error[i];
            error = error == 0.0 && pl < 0.0 ? (double)SGP4_ERROR_SEMILATUS_RECTUM : error;
            error = error == 0.0 && mrt < 1.0 ? (double)SGP4_ERROR_DECAYED : error;
            out->error[i] = error;
            out->doubt[i] = error != 0.0 || !(pl > 0.01 * am) || !(mrt > 1.02) ? 1.0 : m->doubt[i];
        }
}

static void finish(struct lanes *restrict m, struct sgp4_states *restrict out)
{
    kepler_begin(m);
    for (int round = 0; round < 12; round++) {
        if (!kepler_correct(m)) break;
    }
    states_of(m, out);
}

static void near_states(const struct sgp4_near_block *block, const double *minutes,
                        struct sgp4_states *out)
{
    struct lanes m;
    near_mean(block, minutes, &m);
    finish(&m, out);
}

static void deep_states(struct sgp4_deep_block *block, const double *minutes,
                        struct sgp4_states *out)
{
    struct lanes m;
    deep_time(block, minutes, &m);
    deep_mean(block, &m);
    deep_periodics(block, &m);
    deep_inclination(&m);
    finish(&m, out);
}

#define SGP4_NAME(text) SGP4_NAME_OF(text)
#define SGP4_NAME_OF(text) #text
#define SGP4_JOIN(a, b) SGP4_JOIN_OF(a, b)
#define SGP4_JOIN_OF(a, b) a##b

extern const struct sgp4_kernels SGP4_JOIN(sgp4_kernels_, SGP4_KERNEL);
const struct sgp4_kernels SGP4_JOIN(sgp4_kernels_, SGP4_KERNEL) = {
    .name = SGP4_NAME(SGP4_KERNEL), .near_states = near_states, .deep_states = deep_states};
