/* SPDX-License-Identifier: MIT */
/* sgp4_resonance.c: the resonance integrator of SDP4: mean longitude and mean motion, in steps
 * of 720 minutes from the epoch.
 *
 * A node is the integrator's state at a multiple of 720 minutes. The state at any time is a
 * short series from the last node towards it, counted from the epoch, forwards or backwards. A
 * node is always reached by the same steps from the epoch, so where the row's node stood before
 * never changes a result.
 */
#include "orbit_math.h"
#include "sgp4.h"

static const double step_minutes = 720.0;

static void rates_one_day(struct sgp4_deep *d)
{
    const struct orbit_angle a = orbit_angle_of(d->xli - 0.13130908);
    const struct orbit_angle b = orbit_angle_of(2.0 * (d->xli - 2.8843198));
    const struct orbit_angle c = orbit_angle_of(3.0 * (d->xli - 0.37448087));
    d->xndt = d->q0 * a.sine + d->q1 * b.sine + d->q2 * c.sine;
    d->xnddt = d->q0 * a.cosine + 2.0 * d->q1 * b.cosine + 3.0 * d->q2 * c.cosine;
}

/* Ten terms: multiples of perigee and of longitude, a phase, a coefficient. */
static void rates_half_day(struct sgp4_deep *d)
{
    static const struct {
        double perigee, longitude, phase;
    } term[10] = {
        {2, 1, 5.7686396}, {0, 1, 5.7686396},  {1, 1, 0.95240898}, {-1, 1, 0.95240898},
        {2, 2, 1.8014998}, {0, 2, 1.8014998},  {1, 1, 1.0508330},  {-1, 1, 1.0508330},
        {1, 2, 4.4108898}, {-1, 2, 4.4108898},
    };
    const double q[10] = {d->q0, d->q1, d->q2, d->q3, d->q4, d->q5, d->q6, d->q7, d->q8, d->q9};
    const double perigee = d->argpo + d->argpdot * d->atime;
    double xndt = 0.0, xnddt = 0.0;
    for (int i = 0; i < 10; i++) {
        const struct orbit_angle a =
            orbit_angle_of(term[i].perigee * perigee + term[i].longitude * d->xli - term[i].phase);
        xndt += q[i] * a.sine;
        xnddt += term[i].longitude * q[i] * a.cosine;
    }
    d->xndt = xndt;
    d->xnddt = xnddt;
}

static void rates(struct sgp4_deep *d)
{
    if (d->resonance == 2.0) {
        rates_half_day(d);
    } else {
        rates_one_day(d);
    }
    d->xldot = d->xni + d->xfact;
    d->xnddt = d->xnddt * d->xldot;
}

void sgp4_deep_restart(struct sgp4_deep *d)
{
    d->atime = 0.0;
    d->xli = d->xlamo;
    d->xni = d->no;
    rates(d);
}

void sgp4_deep_seek(struct sgp4_deep *d, double t)
{
    if (t * d->atime < 0.0 || fabs(t) < fabs(d->atime)) sgp4_deep_restart(d);
    const double delta = t > 0.0 ? step_minutes : -step_minutes;
    while (fabs(t - d->atime) >= step_minutes) {
        d->xli = d->xli + d->xldot * delta + d->xndt * (0.5 * step_minutes * step_minutes);
        d->xni = d->xni + d->xndt * delta + d->xnddt * (0.5 * step_minutes * step_minutes);
        d->atime = d->atime + delta;
        rates(d);
    }
}
