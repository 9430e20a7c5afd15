/* SPDX-License-Identifier: MIT */
/* orbit_math.h: the few elementary functions an orbit needs, as straight-line code on doubles.
 *
 * The C library's sin, cos and pow differ between versions, are replaced by the compiler when it
 * can, and do not vectorise. These are polynomials after a range reduction, without a branch, so
 * that a loop over them becomes vector code of any width and gives the same bits at every width:
 * only + - * / and selections are used, never a fused multiply-add. Absolute error of sine and
 * cosine: below 1e-15 for |x| < 3e6 rad, far below what 1 mm needs.
 */
#ifndef WEFT_SCREEN_ORBIT_MATH_H
#define WEFT_SCREEN_ORBIT_MATH_H

#include <math.h>

#define ORBIT_PI 3.14159265358979323846
#define ORBIT_TWO_PI 6.28318530717958647693

struct orbit_angle {
    double sine;
    double cosine;
};

/* Nearest integer, ties to even, for |x| < 2^51: adding 1.5 * 2^52 pushes the fraction out of
 * the mantissa. */
static inline double orbit_round(double x)
{
    const double shift = 6755399441055744.0;
    return (x + shift) - shift;
}

/* x - q * pi with pi in three parts of 33, 33 and 53 bits: the first two products are exact for
 * |q| < 2^20. */
static inline double orbit_minus_pi(double x, double q)
{
    const double high = 0x1.921fb544p+1, middle = 0x1.0b4611a6p-33, low = 0x1.3198a2e037073p-68;
    return ((x - q * high) - q * middle) - q * low;
}

/* Sine and cosine of r in [-pi/2, pi/2]; near-minimax polynomials in r^2. */
static inline struct orbit_angle orbit_angle_reduced(double r)
{
    const double u = r * r;
    double s = -7.408031343670488e-13;
    s = s * u + 1.6050970646122487e-10;
    s = s * u + -2.505197288121006e-08;
    s = s * u + 2.7557318055221206e-06;
    s = s * u + -0.00019841269836466636;
    s = s * u + 0.008333333333325928;
    s = s * u + -0.1666666666666665;
    double c = 4.6276610380051693e-14;
    c = c * u + -1.1464688686901012e-11;
    c = c * u + 2.08766308298722e-09;
    c = c * u + -2.755731776674132e-07;
    c = c * u + 2.4801587292441663e-05;
    c = c * u + -0.0013888888888860694;
    c = c * u + 0.04166666666666634;
    c = c * u + -0.5;
    return (struct orbit_angle){.sine = r + r * u * s, .cosine = 1.0 + u * c};
}

/* Sine and cosine of any angle: sin(x) = (-1)^q sin(x - q pi). An odd q leaves half a unit when
 * halved. */
static inline struct orbit_angle orbit_angle_of(double x)
{
    const double q = orbit_round(x * 0.3183098861837907);
    const double half = 0.5 * q;
    const double sign = 1.0 - 4.0 * fabs(half - orbit_round(half));
    struct orbit_angle a = orbit_angle_reduced(orbit_minus_pi(x, q));
    a.sine = a.sine * sign;
    a.cosine = a.cosine * sign;
    return a;
}

/* The angle turned by a small one, |d| < 0.003: error below 1e-15. */
static inline struct orbit_angle orbit_angle_turn(struct orbit_angle a, double d)
{
    const double d2 = d * d;
    const double s = d - d * d2 * (1.0 / 6.0);
    const double c = 1.0 - d2 * (0.5 - d2 * (1.0 / 24.0));
    return (struct orbit_angle){.sine = a.sine * c + a.cosine * s,
                                .cosine = a.cosine * c - a.sine * s};
}

/* The angle turned by any other. */
static inline struct orbit_angle orbit_angle_add(struct orbit_angle a, double d)
{
    const struct orbit_angle b = orbit_angle_of(d);
    return (struct orbit_angle){.sine = a.sine * b.cosine + a.cosine * b.sine,
                                .cosine = a.cosine * b.cosine - a.sine * b.sine};
}

/* x reduced to [-pi, pi]. */
static inline double orbit_wrap(double x)
{
    return orbit_minus_pi(x, 2.0 * orbit_round(x * 0.15915494309189535));
}

/* Remainder of x / 2 pi with the sign of x, as C's fmod. */
static inline double orbit_wrap_signed(double x)
{
    const double r = orbit_wrap(x);
    const double up = x >= 0.0 && r < 0.0 ? ORBIT_TWO_PI : 0.0;
    const double down = x < 0.0 && r > 0.0 ? ORBIT_TWO_PI : 0.0;
    return r + up - down;
}

/* x^(2/3) for x in [0.3, 3]: four Halley steps for the cube root of x^2, cubic convergence from
 * 1. */
static inline double orbit_two_thirds_near_one(double x)
{
    const double c = x * x;
    double y = 1.0;
    for (int i = 0; i < 4; i++) {
        const double y3 = y * y * y;
        y = y * (y3 + 2.0 * c) / (2.0 * y3 + c);
    }
    return y;
}

/* x^(2/3) for any x > 0: the power of eight is taken out first. Initialisation only. */
static inline double orbit_two_thirds(double x)
{
    double scale = 1.0;
    for (int i = 0; i < 400 && x > 2.9; i++) {
        x *= 0.125;
        scale *= 4.0;
    }
    for (int i = 0; i < 400 && x < 0.35; i++) {
        x *= 8.0;
        scale *= 0.25;
    }
    return orbit_two_thirds_near_one(x) * scale;
}

/* Arc tangent of y / x in (-pi, pi]; 0 for (0, 0). Absolute error below 1e-13. */
static inline double orbit_atan2(double y, double x)
{
    const double ax = fabs(x), ay = fabs(y);
    const double high = ax > ay ? ax : ay, low = ax > ay ? ay : ax;
    const double ratio = low / (high > 0.0 ? high : 1.0);
    const double is_steep = ratio > 0.41421356237309503 ? 1.0 : 0.0;
    const double t = (ratio - is_steep) / (1.0 + is_steep * ratio);
    const double u = t * t;
    double p = 0.022748939747779046;
    p = p * u + -0.04483218628995374;
    p = p * u + 0.057362969593526145;
    p = p * u + -0.06649607953399717;
    p = p * u + 0.07691054614825647;
    p = p * u + -0.09090852527088297;
    p = p * u + 0.11111109635603796;
    p = p * u + -0.1428571426608229;
    p = p * u + 0.19999999999898324;
    p = p * u + -0.3333333333333325;
    double angle = is_steep * (0.25 * ORBIT_PI) + (t + t * u * p);
    angle = ay > ax ? 0.5 * ORBIT_PI - angle : angle;
    angle = x < 0.0 ? ORBIT_PI - angle : angle;
    return y < 0.0 ? -angle : angle;
}

#endif
