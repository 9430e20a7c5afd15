/* SPDX-License-Identifier: MIT */
/* gltf_place.c: places of nodes; matrices are taken apart into position, rotation and scale. See
 * gltf_place.h. */
#include "gltf_place.h"

#include <math.h>

/* A unit quaternion of a matrix of rotation, m[column][row]: from the largest of its components,
 * so that nothing small is divided by (Shepperd, 1978). */
static void quaternion_of(double m[3][3], double q[4])
{
    double trace = m[0][0] + m[1][1] + m[2][2];
    int most = trace > m[0][0] && trace > m[1][1] && trace > m[2][2] ? 3
               : m[0][0] >= m[1][1] && m[0][0] >= m[2][2]            ? 0
               : m[1][1] >= m[2][2]                                  ? 1
                                                                     : 2;
    if (most == 3) {
        q[3] = sqrt(1 + trace) / 2;
        q[0] = (m[1][2] - m[2][1]) / (4 * q[3]);
        q[1] = (m[2][0] - m[0][2]) / (4 * q[3]);
        q[2] = (m[0][1] - m[1][0]) / (4 * q[3]);
        return;
    }
    int i = most, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = sqrt(1 + m[i][i] - m[j][j] - m[k][k]) / 2;
    q[j] = (m[i][j] + m[j][i]) / (4 * q[i]);
    q[k] = (m[i][k] + m[k][i]) / (4 * q[i]);
    q[3] = (m[j][k] - m[k][j]) / (4 * q[i]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Takes a matrix apart, column by column. */
static const char *take_apart(const double at[16], double position[3], double rotation[4],
                              double scale[3])
{
    double m[3][3];
    if (at[3] != 0 || at[7] != 0 || at[11] != 0 || at[15] != 1)
        return "\"matrix\": its last row should be 0, 0, 0, 1";
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) m[c][r] = at[4 * c + r];
        scale[c] = sqrt(dot(m[c], m[c]));
        if (!(scale[c] > 0) || !isfinite(scale[c]))
            return "\"matrix\": a scale of 0 cannot be taken apart: write \"scale\" instead";
        for (int r = 0; r < 3; r++) m[c][r] /= scale[c];
        position[c] = at[12 + c];
    }
    if (fabs(dot(m[0], m[1])) > 1e-4 || fabs(dot(m[0], m[2])) > 1e-4 ||
        fabs(dot(m[1], m[2])) > 1e-4)
        return "\"matrix\" has shear, which no place can have: apply the transform to the mesh";
    const double cross[3] = {m[1][1] * m[2][2] - m[1][2] * m[2][1],
                             m[1][2] * m[2][0] - m[1][0] * m[2][2],
                             m[1][0] * m[2][1] - m[1][1] * m[2][0]};
    if (dot(m[0], cross) < 0) { /* a mirror */
        scale[0] = -scale[0];
        for (int r = 0; r < 3; r++) m[0][r] = -m[0][r];
    }
    quaternion_of(m, rotation);
    return NULL;
}

static const char *read_parts(const weft__gltf_value *json, double position[3], double rotation[4],
                              double scale[3])
{
    const weft__gltf_value *t = weft__gltf_member(json, "translation");
    const weft__gltf_value *r = weft__gltf_member(json, "rotation");
    const weft__gltf_value *s = weft__gltf_member(json, "scale");
    if (t != NULL && !weft__gltf_numbers(t, position, 3))
        return "\"translation\" should be 3 numbers";
    if (r != NULL && !weft__gltf_numbers(r, rotation, 4)) return "\"rotation\" should be 4 numbers";
    if (s != NULL && !weft__gltf_numbers(s, scale, 3)) return "\"scale\" should be 3 numbers";
    return NULL;
}

const char *weft__gltf_place_of(const weft__gltf_node *node, weft__place *place)
{
    double position[3] = {0}, rotation[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1}, at[16];
    const weft__gltf_value *matrix = weft__gltf_member(node->json, "matrix");
    const char *problem = NULL;
    if (matrix == NULL)
        problem = read_parts(node->json, position, rotation, scale);
    else if (!weft__gltf_numbers(matrix, at, 16))
        problem = "\"matrix\" should be 16 numbers";
    else
        problem = take_apart(at, position, rotation, scale);
    if (problem != NULL) return problem;
    double length = sqrt(dot(rotation, rotation) + rotation[3] * rotation[3]);
    if (!(fabs(length - 1) < 1e-2)) return "\"rotation\" should be a unit quaternion: x, y, z, w";
    for (int i = 0; i < 4; i++) place->rotation[i] = (float)(rotation[i] / length);
    for (int i = 0; i < 3; i++) {
        place->position[i] = (float)position[i];
        place->scale[i] = (float)scale[i];
        if (!isfinite(place->position[i]) || !isfinite(place->scale[i]))
            return "\"translation\" and \"scale\" should fit into floats";
    }
    return NULL;
}
