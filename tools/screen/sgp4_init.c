/* SPDX-License-Identifier: MIT */
/* sgp4_init.c: initialisation common to SGP4 and SDP4: from the elements of a two-line set to
 * the constants of the secular motion.
 *
 * Follows section "SGP4 initialisation" of Spacetrack Report No. 3: recover the Brouwer mean
 * motion from Kozai's, fit the atmosphere to the height of perigee, then the secular rates of
 * the angles and the drag polynomials. What belongs to the Sun, the Moon and resonance is in
 * sgp4_deep_init.c. Runs once per object; scalar.
 */
#include "sgp4_init.h"

#include "orbit_math.h"

static const double j3_over_j2 = SGP4_J3 / SGP4_J2;

/* Brouwer mean motion out of Kozai's, and the semi-major axis that belongs to it. */
static void brouwer_motion(const struct sgp4_elements *e, struct sgp4_init *s)
{
    const double guess = orbit_two_thirds(SGP4_XKE / e->mean_motion);
    const double shape = 0.75 * SGP4_J2 * (3.0 * s->cosio2 - 1.0) / (s->beta * s->beta2);
    const double d0 = shape / (guess * guess);
    const double axis = guess * (1.0 - d0 * d0 - d0 * (1.0 / 3.0 + 134.0 * d0 * d0 / 81.0));
    const double d1 = shape / (axis * axis);
    s->no = e->mean_motion / (1.0 + d1);
    s->ao = orbit_two_thirds(SGP4_XKE / s->no);
}

/* The density model: s and (q0 - s)^4 depend on the height of perigee; then the coefficients C2
 * to C5. */
static void atmosphere(const struct sgp4_elements *e, struct sgp4_init *s)
{
    const double perigee_km = (s->ao * (1.0 - e->eccentricity) - 1.0) * SGP4_EARTH_KM;
    const double floor_km = perigee_km >= 156.0 ? 78.0
                            : perigee_km < 98.0 ? 20.0
                                                : perigee_km - 78.0;
    const double depth = (120.0 - floor_km) / SGP4_EARTH_KM;
    s->is_simple = perigee_km < 220.0;
    s->sfour = floor_km / SGP4_EARTH_KM + 1.0;
    s->tsi = 1.0 / (s->ao - s->sfour);
    s->eta = s->ao * e->eccentricity * s->tsi;
    const double etasq = s->eta * s->eta;
    const double eeta = e->eccentricity * s->eta;
    const double psisq = fabs(1.0 - etasq);
    const double tsi2 = s->tsi * s->tsi;
    s->coef = depth * depth * depth * depth * (tsi2 * tsi2);
    const double coef1 = s->coef / (psisq * psisq * psisq * sqrt(psisq));
    const double cc2 =
        coef1 * s->no *
        (s->ao * (1.0 + 1.5 * etasq + eeta * (4.0 + etasq)) +
         0.375 * SGP4_J2 * s->tsi / psisq * s->con41 * (8.0 + 3.0 * etasq * (8.0 + etasq)));
    s->cc1 = e->bstar * cc2;
    const double cos_2perigee = orbit_angle_of(2.0 * e->perigee).cosine;
    s->cc4 = 2.0 * s->no * coef1 * s->ao * s->beta2 *
             (s->eta * (2.0 + 0.5 * etasq) + e->eccentricity * (0.5 + 2.0 * etasq) -
              SGP4_J2 * s->tsi / (s->ao * psisq) *
                  (-3.0 * s->con41 * (1.0 - 2.0 * eeta + etasq * (1.5 - 0.5 * eeta)) +
                   0.75 * s->x1mth2 * (2.0 * etasq - eeta * (1.0 + etasq)) * cos_2perigee));
    s->cc5 = 2.0 * coef1 * s->ao * s->beta2 * (1.0 + 2.75 * (etasq + eeta) + eeta * etasq);
}

/* Secular rates of mean anomaly, perigee and node from J2, J2 squared and J4. */
static void secular_rates(struct sgp4_init *s)
{
    const double axis = s->ao * s->beta2;
    const double pinvsq = 1.0 / (axis * axis);
    const double cosio4 = s->cosio2 * s->cosio2;
    const double t1 = 1.5 * SGP4_J2 * pinvsq * s->no;
    const double t2 = 0.5 * t1 * SGP4_J2 * pinvsq;
    const double t3 = -0.46875 * SGP4_J4 * pinvsq * pinvsq * s->no;
    const double con42 = 1.0 - 5.0 * s->cosio2;
    s->mdot = s->no + 0.5 * t1 * s->beta * s->con41 +
              0.0625 * t2 * s->beta * (13.0 - 78.0 * s->cosio2 + 137.0 * cosio4);
    s->argpdot = -0.5 * t1 * con42 + 0.0625 * t2 * (7.0 - 114.0 * s->cosio2 + 395.0 * cosio4) +
                 t3 * (3.0 - 36.0 * s->cosio2 + 49.0 * cosio4);
    const double xhdot1 = -t1 * s->cosio;
    s->nodedot =
        xhdot1 +
        (0.5 * t2 * (4.0 - 19.0 * s->cosio2) + 2.0 * t3 * (3.0 - 7.0 * s->cosio2)) * s->cosio;
    s->nodecf = 3.5 * s->beta2 * xhdot1 * s->cc1;
}

void sgp4_init_common(const struct sgp4_elements *e, struct sgp4_init *s)
{
    const struct orbit_angle inclination = orbit_angle_of(e->inclination);
    s->sinio = inclination.sine;
    s->cosio = inclination.cosine;
    s->cosio2 = s->cosio * s->cosio;
    s->beta2 = 1.0 - e->eccentricity * e->eccentricity;
    s->beta = sqrt(s->beta2);
    s->con41 = 3.0 * s->cosio2 - 1.0;
    s->x1mth2 = 1.0 - s->cosio2;
    brouwer_motion(e, s);
    atmosphere(e, s);
    secular_rates(s);
}

int sgp4_is_deep(const struct sgp4_elements *elements)
{
    struct sgp4_init s;
    sgp4_init_common(elements, &s);
    return ORBIT_TWO_PI / s.no >= 225.0;
}

/* Drag terms of second and higher order in time; they stay zero for a perigee below 220 km. */
static void high_order_drag(const struct sgp4_elements *e, const struct sgp4_init *s,
                            struct sgp4_near *n)
{
    const double cc1sq = s->cc1 * s->cc1;
    const double is_eccentric = e->eccentricity > 1.0e-4 ? 1.0 : 0.0;
    const double safe_ecc = e->eccentricity > 1.0e-4 ? e->eccentricity : 1.0;
    const double cc3 =
        is_eccentric * -2.0 * s->coef * s->tsi * j3_over_j2 * s->no * s->sinio / safe_ecc;
    const double eeta = e->eccentricity > 1.0e-4 ? e->eccentricity * s->eta : 1.0;
    const double swing = 1.0 + s->eta * orbit_angle_of(e->mean_anomaly).cosine;
    n->omgcof = e->bstar * cc3 * orbit_angle_of(e->perigee).cosine;
    n->xmcof = is_eccentric * -(2.0 / 3.0) * s->coef * e->bstar / eeta;
    n->eta = s->eta;
    n->delmo = swing * swing * swing;
    n->sinmao = orbit_angle_of(e->mean_anomaly).sine;
    n->bcc5 = e->bstar * s->cc5;
    n->d2 = 4.0 * s->ao * s->tsi * cc1sq;
    const double t = n->d2 * s->tsi * s->cc1 / 3.0;
    n->d3 = (17.0 * s->ao + s->sfour) * t;
    n->d4 = 0.5 * t * s->ao * s->tsi * (221.0 * s->ao + 31.0 * s->sfour) * s->cc1;
    n->t3cof = n->d2 + 2.0 * cc1sq;
    n->t4cof = 0.25 * (3.0 * n->d3 + s->cc1 * (12.0 * n->d2 + 10.0 * cc1sq));
    n->t5cof = 0.2 * (3.0 * n->d4 + 12.0 * s->cc1 * n->d3 + 6.0 * n->d2 * n->d2 +
                      15.0 * cc1sq * (2.0 * n->d2 + cc1sq));
}

void sgp4_near_init(const struct sgp4_elements *e, struct sgp4_near *near)
{
    struct sgp4_init s;
    sgp4_init_common(e, &s);
    *near = (struct sgp4_near){
        SGP4_SHARED_FIELDS(e, &s), .sinio = s.sinio,   .cosio = s.cosio,
        .con41 = s.con41,          .x1mth2 = s.x1mth2, .x7thm1 = 7.0 * s.cosio2 - 1.0,
    };
    const double polar = fabs(s.cosio + 1.0) > 1.5e-12 ? 1.0 + s.cosio : 1.5e-12;
    near->aycof = -0.5 * j3_over_j2 * s.sinio;
    near->xlcof = -0.25 * j3_over_j2 * s.sinio * (3.0 + 5.0 * s.cosio) / polar;
    if (!s.is_simple) high_order_drag(e, &s, near);
}
