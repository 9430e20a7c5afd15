/* SPDX-License-Identifier: MIT */
/* sgp4_deep_init.c: initialisation of SDP4: what the Sun, the Moon and the Earth's tesseral
 * field do to a slow satellite.
 *
 * The Sun and the Moon act through the same formulas with different orbits, so one function
 * serves both. Resonance with the Earth's rotation is integrated numerically in steps of 720
 * minutes from the epoch; see sgp4_resonance.c. Scalar, once per object. Symbols follow the
 * appendix of AIAA 2006-6753.
 */
#include "orbit_math.h"
#include "sgp4_init.h"

static const double earth_rate = 4.37526908801129966e-3; /* radians per minute */
static const double sun_rate = 1.19459e-5, sun_eccentricity = 0.01675;
static const double moon_rate = 1.5835218e-4, moon_eccentricity = 0.05490;

/* Orientation of the disturbing body's orbit, seen from the satellite's node. */
struct body {
    struct orbit_angle perigee, inclination, node;
    double strength, rate, eccentricity;
};

/* Coefficients of the periodic terms (2, 3, 4 as in the report) and the secular rates. */
struct body_terms {
    double e2, e3, i2, i3, l2, l3, l4, gh2, gh3, gh4, h2, h3;
    double de, di, dl, domega, dnode;
};

/* The sums Z1..Z33 of the report, a function of the geometry alone. */
struct geometry {
    double s5, s6, s7;
    double z1, z2, z3, z11, z12, z13, z21, z22, z23, z31, z32, z33;
};

static struct geometry geometry_of(const struct body *b, const struct sgp4_elements *e,
                                   const struct sgp4_init *s)
{
    const struct orbit_angle g = b->perigee, h = b->node, i = b->inclination,
                             w = orbit_angle_of(e->perigee);
    const double emsq = e->eccentricity * e->eccentricity;
    const double a1 = g.cosine * h.cosine + g.sine * i.cosine * h.sine;
    const double a3 = -g.sine * h.cosine + g.cosine * i.cosine * h.sine;
    const double a7 = -g.cosine * h.sine + g.sine * i.cosine * h.cosine;
    const double a8 = g.sine * i.sine;
    const double a9 = g.sine * h.sine + g.cosine * i.cosine * h.cosine;
    const double a10 = g.cosine * i.sine;
    const double a2 = s->cosio * a7 + s->sinio * a8;
    const double a4 = s->cosio * a9 + s->sinio * a10;
    const double a5 = -s->sinio * a7 + s->cosio * a8;
    const double a6 = -s->sinio * a9 + s->cosio * a10;
    const double x1 = a1 * w.cosine + a2 * w.sine, x2 = a3 * w.cosine + a4 * w.sine;
    const double x3 = -a1 * w.sine + a2 * w.cosine, x4 = -a3 * w.sine + a4 * w.cosine;
    const double x5 = a5 * w.sine, x6 = a6 * w.sine, x7 = a5 * w.cosine, x8 = a6 * w.cosine;
    struct geometry z;
    z.s5 = x1 * x3 + x2 * x4;
    z.s6 = x2 * x3 + x1 * x4;
    z.s7 = x2 * x4 - x1 * x3;
    z.z31 = 12.0 * x1 * x1 - 3.0 * x3 * x3;
    z.z32 = 24.0 * x1 * x2 - 6.0 * x3 * x4;
    z.z33 = 12.0 * x2 * x2 - 3.0 * x4 * x4;
    const double z1 = 3.0 * (a1 * a1 + a2 * a2) + z.z31 * emsq;
    const double z2 = 6.0 * (a1 * a3 + a2 * a4) + z.z32 * emsq;
    const double z3 = 3.0 * (a3 * a3 + a4 * a4) + z.z33 * emsq;
    z.z11 = -6.0 * a1 * a5 + emsq * (-24.0 * x1 * x7 - 6.0 * x3 * x5);
    z.z12 = -6.0 * (a1 * a6 + a3 * a5) +
            emsq * (-24.0 * (x2 * x7 + x1 * x8) - 6.0 * (x3 * x6 + x4 * x5));
    z.z13 = -6.0 * a3 * a6 + emsq * (-24.0 * x2 * x8 - 6.0 * x4 * x6);
    z.z21 = 6.0 * a2 * a5 + emsq * (24.0 * x1 * x5 - 6.0 * x3 * x7);
    z.z22 =
        6.0 * (a4 * a5 + a2 * a6) + emsq * (24.0 * (x2 * x5 + x1 * x6) - 6.0 * (x4 * x7 + x3 * x8));
    z.z23 = 6.0 * a4 * a6 + emsq * (24.0 * x2 * x6 - 6.0 * x4 * x8);
    z.z1 = z1 + z1 + s->beta2 * z.z31;
    z.z2 = z2 + z2 + s->beta2 * z.z32;
    z.z3 = z3 + z3 + s->beta2 * z.z33;
    return z;
}

static struct body_terms body_terms_of(const struct body *b, const struct sgp4_elements *e,
                                       const struct sgp4_init *s)
{
    const struct geometry z = geometry_of(b, e, s);
    const double emsq = e->eccentricity * e->eccentricity;
    const double s3 = b->strength / s->no;
    const double s2 = -0.5 * s3 / s->beta;
    const double s4 = s3 * s->beta;
    const double s1 = -15.0 * e->eccentricity * s4;
    struct body_terms t = {
        .e2 = 2.0 * s1 * z.s6,
        .e3 = 2.0 * s1 * z.s7,
        .i2 = 2.0 * s2 * z.z12,
        .i3 = 2.0 * s2 * (z.z13 - z.z11),
        .l2 = -2.0 * s3 * z.z2,
        .l3 = -2.0 * s3 * (z.z3 - z.z1),
        .l4 = -2.0 * s3 * (-21.0 - 9.0 * emsq) * b->eccentricity,
        .gh2 = 2.0 * s4 * z.z32,
        .gh3 = 2.0 * s4 * (z.z33 - z.z31),
        .gh4 = -18.0 * s4 * b->eccentricity,
        .h2 = -2.0 * s2 * z.z22,
        .h3 = -2.0 * s2 * (z.z23 - z.z21),
        .de = s1 * b->rate * z.s5,
        .di = s2 * b->rate * (z.z11 + z.z13),
        .dl = -b->rate * s3 * (z.z1 + z.z3 - 14.0 - 6.0 * emsq),
    };
    /* The node's rate has no meaning within three degrees of the equator. */
    const double margin = 5.2359877e-2;
    double dh = -b->rate * s2 * (z.z21 + z.z23);
    if (e->inclination < margin || e->inclination > ORBIT_PI - margin) dh = 0.0;
    t.dnode = s->sinio != 0.0 ? dh / s->sinio : dh;
    t.domega = s4 * b->rate * (z.z31 + z.z33 - 6.0) - (s->sinio != 0.0 ? s->cosio * t.dnode : 0.0);
    return t;
}

/* The Moon's orbit precesses: its elements follow from the day number since 1899-12-31.5. */
static struct body moon_on(double day, struct orbit_angle node)
{
    const double ascending = 4.5236020 - 9.2422029e-4 * day;
    const struct orbit_angle a = orbit_angle_of(ascending);
    const double cos_i = 0.91375164 - 0.03568096 * a.cosine;
    const double sin_i = sqrt(1.0 - cos_i * cos_i);
    const double sin_h = 0.089683511 * a.sine / sin_i;
    const double cos_h = sqrt(1.0 - sin_h * sin_h);
    const double y = 0.39785416 * a.sine / sin_i;
    const double x = cos_h * a.cosine + 0.91744867 * sin_h * a.sine;
    const double gamma = 5.8351514 + 0.0019443680 * day;
    return (struct body){
        .perigee = orbit_angle_of(gamma + orbit_atan2(y, x) - orbit_wrap_signed(ascending)),
        .inclination = {.sine = sin_i, .cosine = cos_i},
        .node = {.sine = node.sine * cos_h - node.cosine * sin_h,
                 .cosine = cos_h * node.cosine + sin_h * node.sine},
        .strength = 4.7968065e-7,
        .rate = moon_rate,
        .eccentricity = moon_eccentricity,
    };
}

/* Greenwich sidereal angle at a Julian date (UT1 taken as UTC). */
static double sidereal_angle(double julian_date)
{
    const double t = (julian_date - 2451545.0) / 36525.0;
    const double seconds = -6.2e-6 * t * t * t + 0.093104 * t * t +
                           (876600.0 * 3600.0 + 8640184.812866) * t + 67310.54841;
    const double angle = orbit_wrap_signed(seconds * (ORBIT_PI / 180.0) / 240.0);
    return angle < 0.0 ? angle + ORBIT_TWO_PI : angle;
}

/* Eccentricity functions G of the 12-hour terms: cubic fits, different on each side of the
 * breaks. */
struct eccentricity_functions {
    double g201, g211, g310, g322, g410, g422, g520, g533, g521, g532;
};

static double cubic(double a, double b, double c, double d, double e)
{
    return a + e * (b + e * (c + e * d));
}

static struct eccentricity_functions eccentricity_functions_of(double e)
{
    struct eccentricity_functions g = {.g201 = -0.306 - (e - 0.64) * 0.440};
    if (e <= 0.65) {
        g.g211 = cubic(3.616, -13.2470, 16.2900, 0.0, e);
        g.g310 = cubic(-19.302, 117.3900, -228.4190, 156.5910, e);
        g.g322 = cubic(-18.9068, 109.7927, -214.6334, 146.5816, e);
        g.g410 = cubic(-41.122, 242.6940, -471.0940, 313.9530, e);
        g.g422 = cubic(-146.407, 841.8800, -1629.014, 1083.4350, e);
        g.g520 = cubic(-532.114, 3017.977, -5740.032, 3708.2760, e);
    } else {
        g.g211 = cubic(-72.099, 331.819, -508.738, 266.724, e);
        g.g310 = cubic(-346.844, 1582.851, -2415.925, 1246.113, e);
        g.g322 = cubic(-342.585, 1554.908, -2366.899, 1215.972, e);
        g.g410 = cubic(-1052.797, 4758.686, -7193.992, 3651.957, e);
        g.g422 = cubic(-3581.690, 16178.110, -24462.770, 12422.520, e);
        g.g520 = e > 0.715 ? cubic(-5149.66, 29936.92, -54087.36, 31324.56, e)
                           : cubic(1464.74, -4664.75, 3763.64, 0.0, e);
    }
    if (e < 0.7) {
        g.g533 = cubic(-919.22770, 4988.6100, -9064.7700, 5542.21, e);
        g.g521 = cubic(-822.71072, 4568.6173, -8491.4146, 5337.524, e);
        g.g532 = cubic(-853.66600, 4690.2500, -8624.7700, 5341.4, e);
    } else {
        g.g533 = cubic(-37995.780, 161616.52, -229838.20, 109377.94, e);
        g.g521 = cubic(-51752.104, 218913.95, -309468.16, 146349.42, e);
        g.g532 = cubic(-40023.880, 170470.89, -242699.48, 115605.82, e);
    }
    return g;
}

static void resonance_half_day(const struct sgp4_elements *e, const struct sgp4_init *s,
                               struct sgp4_deep *d)
{
    const struct eccentricity_functions g = eccentricity_functions_of(e->eccentricity);
    const double c = s->cosio, c2 = s->cosio2, si = s->sinio, si2 = s->sinio * s->sinio;
    const double f220 = 0.75 * (1.0 + 2.0 * c + c2);
    const double f221 = 1.5 * si2;
    const double f321 = 1.875 * si * (1.0 - 2.0 * c - 3.0 * c2);
    const double f322 = -1.875 * si * (1.0 + 2.0 * c - 3.0 * c2);
    const double f441 = 35.0 * si2 * f220;
    const double f442 = 39.3750 * si2 * si2;
    const double f522 =
        9.84375 * si *
        (si2 * (1.0 - 2.0 * c - 5.0 * c2) + 0.33333333 * (-2.0 + 4.0 * c + 6.0 * c2));
    const double f523 = si * (4.92187512 * si2 * (-2.0 - 4.0 * c + 10.0 * c2) +
                              6.56250012 * (1.0 + 2.0 * c - 3.0 * c2));
    const double f542 = 29.53125 * si * (2.0 - 8.0 * c + c2 * (-12.0 + 8.0 * c + 10.0 * c2));
    const double f543 = 29.53125 * si * (-2.0 - 8.0 * c + c2 * (12.0 + 8.0 * c - 10.0 * c2));
    const double inverse_axis = 1.0 / s->ao;
    const double two = 3.0 * s->no * s->no * inverse_axis * inverse_axis;
    const double three = two * inverse_axis, four = three * inverse_axis,
                 five = four * inverse_axis;
    const double root22 = 1.7891679e-6, root32 = 3.7393792e-7, root44 = 7.3636953e-9;
    const double root52 = 1.1428639e-7, root54 = 2.1765803e-9;
    d->q0 = two * root22 * f220 * g.g201;
    d->q1 = two * root22 * f221 * g.g211;
    d->q2 = three * root32 * f321 * g.g310;
    d->q3 = three * root32 * f322 * g.g322;
    d->q4 = 2.0 * four * root44 * f441 * g.g410;
    d->q5 = 2.0 * four * root44 * f442 * g.g422;
    d->q6 = five * root52 * f522 * g.g520;
    d->q7 = five * root52 * f523 * g.g532;
    d->q8 = 2.0 * five * root54 * f542 * g.g521;
    d->q9 = 2.0 * five * root54 * f543 * g.g533;
    d->xlamo = orbit_wrap_signed(e->mean_anomaly + e->node + e->node - d->gsto - d->gsto);
    d->xfact = s->mdot + d->dmdt + 2.0 * (s->nodedot + d->dnodt - earth_rate) - s->no;
    d->node_weight = 2.0;
    d->perigee_weight = 0.0;
}

static void resonance_one_day(const struct sgp4_elements *e, const struct sgp4_init *s,
                              struct sgp4_deep *d)
{
    const double emsq = e->eccentricity * e->eccentricity, c = s->cosio, si = s->sinio;
    const double g200 = 1.0 + emsq * (-2.5 + 0.8125 * emsq);
    const double g310 = 1.0 + 2.0 * emsq;
    const double g300 = 1.0 + emsq * (-6.0 + 6.60937 * emsq);
    const double f220 = 0.75 * (1.0 + c) * (1.0 + c);
    const double f311 = 0.9375 * si * si * (1.0 + 3.0 * c) - 0.75 * (1.0 + c);
    const double f330 = 1.875 * (1.0 + c) * (1.0 + c) * (1.0 + c);
    const double inverse_axis = 1.0 / s->ao;
    const double base = 3.0 * s->no * s->no * inverse_axis * inverse_axis;
    d->q0 = base * f311 * g310 * 2.1460748e-6 * inverse_axis;
    d->q1 = 2.0 * base * f220 * g200 * 1.7891679e-6;
    d->q2 = 3.0 * base * f330 * g300 * 2.2123015e-7 * inverse_axis;
    d->xlamo = orbit_wrap_signed(e->mean_anomaly + e->node + e->perigee - d->gsto);
    d->xfact =
        s->mdot + s->argpdot + s->nodedot - earth_rate + d->dmdt + d->domdt + d->dnodt - s->no;
    d->node_weight = 1.0;
    d->perigee_weight = 1.0;
}

static void resonance_init(const struct sgp4_elements *e, const struct sgp4_init *s,
                           struct sgp4_deep *d)
{
    if (s->no > 0.0034906585 && s->no < 0.0052359877) {
        d->resonance = 1.0;
        resonance_one_day(e, s, d);
        sgp4_deep_restart(d);
    } else if (s->no >= 8.26e-3 && s->no <= 9.24e-3 && e->eccentricity >= 0.5) {
        d->resonance = 2.0;
        resonance_half_day(e, s, d);
        sgp4_deep_restart(d);
    }
}

static void lunisolar_init(const struct sgp4_elements *e, const struct sgp4_init *s,
                           struct sgp4_deep *d)
{
    /* Days since 1899-12-31.5. A rounding to 20 us moves the Moon by nothing, but the
     * verification set has it. */
    const double day = (e->epoch_day + e->epoch_fraction) - 2415020.0;
    const struct orbit_angle node = orbit_angle_of(e->node);
    const struct body sun_body = {
        .perigee = {.sine = -0.98088458, .cosine = 0.1945905},
        .inclination = {.sine = 0.39785416, .cosine = 0.91744867},
        .node = node,
        .strength = 2.9864797e-6,
        .rate = sun_rate,
        .eccentricity = sun_eccentricity,
    };
    const struct body moon_body = moon_on(day, node);
    const struct body_terms sun = body_terms_of(&sun_body, e, s),
                            moon = body_terms_of(&moon_body, e, s);
    d->zmos = orbit_wrap_signed(6.2565837 + 0.017201977 * day);
    d->zmol = orbit_wrap_signed(4.7199672 + 0.22997150 * day - (5.8351514 + 0.0019443680 * day));
    d->se2 = sun.e2, d->se3 = sun.e3, d->si2 = sun.i2, d->si3 = sun.i3;
    d->sl2 = sun.l2, d->sl3 = sun.l3, d->sl4 = sun.l4;
    d->sgh2 = sun.gh2, d->sgh3 = sun.gh3, d->sgh4 = sun.gh4, d->sh2 = sun.h2, d->sh3 = sun.h3;
    d->le2 = moon.e2, d->le3 = moon.e3, d->li2 = moon.i2, d->li3 = moon.i3;
    d->ll2 = moon.l2, d->ll3 = moon.l3, d->ll4 = moon.l4;
    d->lgh2 = moon.gh2, d->lgh3 = moon.gh3, d->lgh4 = moon.gh4, d->lh2 = moon.h2, d->lh3 = moon.h3;
    d->dedt = sun.de + moon.de;
    d->didt = sun.di + moon.di;
    d->dmdt = sun.dl + moon.dl;
    d->domdt = sun.domega + moon.domega;
    d->dnodt = sun.dnode + moon.dnode;
}

void sgp4_deep_init(const struct sgp4_elements *e, struct sgp4_deep *deep)
{
    struct sgp4_init s;
    sgp4_init_common(e, &s);
    *deep = (struct sgp4_deep){
        SGP4_SHARED_FIELDS(e, &s),
        .inclo = e->inclination,
        .gsto = sidereal_angle(e->epoch_day + e->epoch_fraction),
    };
    lunisolar_init(e, &s, deep);
    resonance_init(e, &s, deep);
}
