/* SPDX-License-Identifier: MIT */
/* run_log.c: see run_log.h. The world's log has this as its writer; its lines: hash_log.h, where C
 * lines only name who records, and K lines are missing. */
#include "run_log.h"
#include "byte_list.h"
#include "log_engine.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Owner: the shard. */
struct weft__run_log {
    char *text;
    uint64_t count, capacity;
    int file; /* of rank 0; else -1 */
};

static weft_result take(void *user, const void *bytes, size_t count)
{
    struct weft__run_log *log = user;
    if (!weft__array_grow(&log->text, &log->capacity, log->count + count, 1))
        return WEFT_OUT_OF_MEMORY;
    memcpy(log->text + log->count, bytes, count);
    log->count += count;
    return WEFT_OK;
}

static uint64_t gid_of(const void *user, weft_entity entity)
{
    return weft_shard_gid(user, entity);
}

static int half_of(const void *user, const void *user_of_system)
{
    const weft__shard_system *s = ((const weft_shard *)user)->systems;
    for (; s != NULL; s = s->next)
        for (int half = 0; half < 2; half++)
            if (&s->half[half] == user_of_system) return half;
    return -1;
}

static weft_result open_log(weft_shard *shard)
{
    struct weft__run_log *log = shard->log = calloc(1, sizeof *log);
    if (log == NULL) return weft__ranks_no_memory();
    const bool is_first = shard->map.rank == 0;
    const char *path = is_first ? secure_getenv("WEFT_STATE_LOG") : "";
    log->file = is_first ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (is_first && log->file < 0)
        return weft__ranks_fail(WEFT_IO, "WEFT_STATE_LOG=%s: %s", path, strerror(errno));
    const weft_state_log_desc desc = {.writer = {take, log}};
    const weft__log_keys keys = {shard->gid, shard->sector, gid_of, half_of, shard};
    const weft_result result = weft_state_log_begin(shard->world, &desc);
    if (result == WEFT_OK) weft__state_log_go_by(shard->world, &keys);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(result, "%s", weft_world_error(shard->world)->text);
}

weft_result weft__run_log_open(weft_shard *shard)
{
    const char *by = secure_getenv("WEFT_STATE_LOG_BY"), *path = secure_getenv("WEFT_STATE_LOG");
    uint64_t is_asked =
        by != NULL && strcmp(by, "gid") == 0 && path != NULL && path[0] != '\0' ? 1 : 0;
    weft_result result = weft__transport_broadcast(&is_asked, sizeof is_asked);
    if (result != WEFT_OK || is_asked == 0) return result;
    return weft_ranks_agree(open_log(shard));
}

static weft_result write_all(int file, const char *text, uint64_t count)
{
    while (count != 0) {
        const ssize_t done = write(file, text, (size_t)count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return weft__ranks_fail(WEFT_IO, "writing WEFT_STATE_LOG: %s", strerror(errno));
        text += done;
        count -= (uint64_t)done;
    }
    return WEFT_OK;
}

/* The first line of another rank's log is that of a file. */
static void drop_head(struct weft__run_log *log)
{
    static const char head[] = "weft state log";
    if (log->file >= 0 || log->count < sizeof head || memcmp(log->text, head, sizeof head - 1) != 0)
        return;
    const char *end = memchr(log->text, '\n', (size_t)log->count);
    log->count -= (uint64_t)(end + 1 - log->text);
    memmove(log->text, end + 1, (size_t)log->count);
}

weft_result weft__run_log_write(weft_shard *shard)
{
    struct weft__run_log *log = shard->log;
    if (log == NULL) return WEFT_OK;
    drop_head(log);
    void *all;
    uint64_t bytes;
    weft_result result = weft_ranks_gather(log->text, log->count, &all, &bytes);
    log->count = 0;
    if (result != WEFT_OK) return result;
    if (log->file >= 0) result = write_all(log->file, all, bytes);
    if (log->file >= 0 && result == WEFT_OK) result = write_all(log->file, "Z\n", 2);
    free(all);
    return weft_ranks_agree(result);
}

void weft__run_log_close(weft_shard *shard)
{
    struct weft__run_log *log = shard->log;
    if (log == NULL) return;
    (void)weft_state_log_end(shard->world);
    if (log->file >= 0) close(log->file);
    free(log->text);
    free(log);
    shard->log = NULL;
}
