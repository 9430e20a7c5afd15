/* SPDX-License-Identifier: MIT */
/* consumer_inspect.c: a stranger's program with a scene and an inspector: public headers only,
 * strict C11. Prints WEFT_OK when the scene filled the world, the inspector that was started by
 * call knows the entity, and stepping answers its page. With WEFT_INSPECT in the environment the
 * library also prints a URL on stderr, without a call. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <weft/inspect.h>
#include <weft/system.h>

typedef struct Mass {
    float kg;
} Mass;

static const weft_field mass_fields[] = {WEFT_FIELD(Mass, kg)};
static const weft_type mass_type = WEFT_TYPE(Mass, mass_fields);

static int fail(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    return 1;
}

/* Asks the inspector at `url` for the list of entities while the world steps; true: "200" came,
 * and the text is in the answer. */
static int answers(weft_world *world, const char *url, const char *text)
{
    static char answer[65536];
    char request[512];
    unsigned port = 0;
    char token[64] = "";
    if (sscanf(url, "http://127.0.0.1:%u/#%63s", &port, token) != 2) return 0;
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) return 0;
    const char body[] = "{\"do\":\"types\"}";
    snprintf(request, sizeof request,
             "POST /api HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Weft-Token: %s\r\n"
             "Content-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
             port, token, sizeof body - 1, body);
    if (write(s, request, strlen(request)) < 0) return 0;
    size_t count = 0;
    for (int turn = 0; turn < 5000 && count < sizeof answer - 1; turn++) {
        if (weft_world_step(world, 0) != WEFT_OK) break;
        struct pollfd p = {.fd = s, .events = POLLIN};
        if (poll(&p, 1, 2) <= 0) continue;
        const ssize_t got = read(s, answer + count, sizeof answer - 1 - count);
        if (got <= 0) break;
        count += (size_t)got;
    }
    close(s);
    return strstr(answer, " 200 ") && strstr(answer, text);
}

int main(int argc, char **argv)
{
    if (argc != 2) return fail("usage", "consumer_inspect FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/one.weft", argv[1]);
    FILE *file = fopen(path, "w");
    if (!file) return fail(path, "cannot be written");
    fputs("{\"weft\": 1, \"objects\": {\"stone\": {\"Mass\": {\"kg\": 2}}}}\n", file);
    fclose(file);

    weft_world *world;
    weft_scene *scene;
    weft_inspect *inspect;
    if (weft_world_create(NULL, &world) != WEFT_OK) return fail("world", "not made");
    const weft_component_desc mass = {
        .name = "Mass", .size = sizeof(Mass), .alignment = _Alignof(Mass), .type = &mass_type};
    if (weft_component_create(world, &mass).id == 0)
        return fail("Mass", weft_world_error(world)->text);
    weft_error mistake;
    if (weft_scene_create(world, NULL, &scene) != WEFT_OK) return fail("scene", "not made");
    const char *const paths[] = {path};
    if (weft_scene_bake(scene, paths, 1) != WEFT_OK)
        return fail("bake", weft_scene_mistakes(scene, &mistake, 1) == 0 ? "" : mistake.text);
    if (weft_scene_fill(scene, world) != WEFT_OK)
        return fail("fill", weft_world_error(world)->text);
    const weft_inspect_desc desc = {.port = WEFT_INSPECT_ANY_PORT};
    if (weft_inspect_start(world, &desc, &inspect) != WEFT_OK)
        return fail("inspect", weft_world_error(world)->text);
    if (!answers(world, weft_inspect_url(inspect), "Mass")) return fail("page", "no answer");
    weft_inspect_stop(inspect);
    weft_scene_destroy(scene);
    weft_world_destroy(world);
    puts("WEFT_OK");
    return 0;
}
