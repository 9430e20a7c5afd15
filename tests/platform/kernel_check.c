/* SPDX-License-Identifier: MIT */
/* kernel_check.c: loops as docs/guide/kernels.md has them; prints their results to the last bit.
 * kernel.sh builds it with and without WEFT_KERNEL's versions. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/kernel.h>

enum { count = 20011 }; /* no multiple of a register */

WEFT_KERNEL static void move(float *restrict p, const float *restrict v, size_t n, float dt)
{
    for (size_t i = 0; i < n; i++) p[i] += v[i] * dt;
}

WEFT_KERNEL static void normalise(float *restrict x, float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float length = sqrtf(x[i] * x[i] + y[i] * y[i]);
        x[i] /= length;
        y[i] /= length;
    }
}

WEFT_KERNEL static void clamp(float *restrict p, size_t n, float most)
{
    for (size_t i = 0; i < n; i++) p[i] = p[i] > most ? most : p[i];
}

WEFT_KERNEL static float sum(const float *x, size_t n)
{
    float parts[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++) parts[k] += x[i + k];
    for (; i < n; i++) parts[0] += x[i];
    float all = 0;
    for (size_t k = 0; k < 8; k++) all += parts[k];
    return all;
}

static uint64_t hash(const float *x)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t i = 0; i < count * sizeof *x; i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

/* The counted part. */
__attribute__((noinline)) float kernel_body(float *p, float *v);
float kernel_body(float *p, float *v)
{
    float total = 0;
    for (int i = 0; i < 20; i++) {
        move(p, v, count, 0.01f);
        normalise(p, v, count);
        clamp(v, count, 0.875f);
        total += sum(p, count);
    }
    return total;
}

int main(void)
{
    float *p = malloc(count * sizeof *p), *v = malloc(count * sizeof *v);
    if (p == NULL || v == NULL) return 1;
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        p[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f + 0.25f;
        v[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
    }
    float total = kernel_body(p, v);
    printf("%a %016llx %016llx\n", (double)total, (unsigned long long)hash(p),
           (unsigned long long)hash(v));
    free(p);
    free(v);
    return 0;
}
