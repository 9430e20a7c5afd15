/* SPDX-License-Identifier: MIT */
/* cli_file.c: see cli_file.h. The path of the part under way is static: the signal handler may
 * do no more than unlink it.
 */
#include "cli_file.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- told to stop ---- */

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { STOPS = sizeof stops / sizeof stops[0] };

static char part_under_way[WEFT_CLI_PATH_BYTES + 8];
static struct sigaction before[STOPS]; /* while a part is under way */

static void on_stop(int number)
{
    unlink(part_under_way);
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that was ignored stays so. */
static void watch_stops(const char *part)
{
    const struct sigaction action = {.sa_handler = on_stop};
    snprintf(part_under_way, sizeof part_under_way, "%s", part);
    for (int i = 0; i < STOPS; i++) {
        sigaction(stops[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(stops[i], &action, NULL);
    }
}

static void unwatch_stops(void)
{
    for (int i = 0; i < STOPS; i++) sigaction(stops[i], &before[i], NULL);
}

/* ---- the file ---- */

static int cannot_write(const char *command, const char *path)
{
    weft_cli_fail(command, "cannot write %s: %s; name another place to write to", path,
                  strerror(errno));
    return -1;
}

/* Where the file goes, and of what kind it is. */
static int place_of(weft_cli_file *f, const char *folder, const char *name)
{
    struct stat status;
    char *place = NULL;
    const int length =
        snprintf(f->path, sizeof f->path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    if (length <= 0 || length >= WEFT_CLI_PATH_BYTES) {
        weft_cli_fail(f->command, "--out: the path is too long");
        return -1;
    }
    if (stat(f->path, &status) == 0) {
        f->is_stream = !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
        errno = EISDIR;
        if (S_ISDIR(status.st_mode)) return cannot_write(f->command, f->path);
        if (!f->is_stream) place = realpath(f->path, NULL);
        if (place) snprintf(f->path, sizeof f->path, "%s", place);
        free(place);
    }
    snprintf(f->part, sizeof f->part, "%s.part", f->path);
    return 0;
}

/* A .part that another program put there is overwritten only when it is a plain file. It gets the
 * permissions of the file whose place it takes. */
static FILE *open_part(const weft_cli_file *f)
{
    struct stat status, old;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int file = open(f->part, flags, 0666);
    if (file < 0) return NULL;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        errno = EEXIST;
        return NULL;
    }
    FILE *stream = stat(f->path, &old) != 0 || fchmod(file, old.st_mode & 07777) == 0
                       ? fdopen(file, "w")
                       : NULL;
    if (stream != NULL) return stream;
    const int reason = errno;
    unlink(f->part);
    close(file);
    errno = reason;
    return NULL;
}

static bool is_synced(FILE *stream)
{
    int status;
    do status = fsync(fileno(stream));
    while (status != 0 && errno == EINTR);
    return status == 0;
}

int weft_cli_file_begin(weft_cli_file *f, const char *command, const char *folder, const char *name)
{
    *f = (weft_cli_file){.command = command};
    if (place_of(f, folder, name)) return -1;
    if (!f->is_stream) watch_stops(f->part);
    f->stream = f->is_stream ? fopen(f->path, "we") : open_part(f);
    if (f->stream) return 0;
    const int reason = errno;
    if (!f->is_stream) unwatch_stops();
    errno = reason;
    return cannot_write(command, f->is_stream ? f->path : f->part);
}

int weft_cli_file_end(weft_cli_file *f)
{
    const bool is_written =
        !ferror(f->stream) && fflush(f->stream) == 0 && (f->is_stream || is_synced(f->stream));
    const int reason = errno;
    bool is_done = fclose(f->stream) == 0 && is_written;
    if (!is_written) errno = reason;
    if (is_done && !f->is_stream) is_done = rename(f->part, f->path) == 0;
    if (!is_done) {
        cannot_write(f->command, f->is_stream ? f->path : f->part);
        if (!f->is_stream) unlink(f->part);
    }
    if (!f->is_stream) unwatch_stops();
    return is_done ? 0 : -1;
}

void weft_cli_file_drop(weft_cli_file *f)
{
    fclose(f->stream);
    if (f->is_stream) return;
    unlink(f->part);
    unwatch_stops();
}

int weft_cli_file_probe(const char *command, const char *folder, const char *name)
{
    weft_cli_file f = {.command = command};
    if (place_of(&f, folder, name)) return -1;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cannot_write(command, folder);
    if (f.is_stream) return 0; /* opened once: its reader would take a second end for the last */
    FILE *stream = open_part(&f);
    if (!stream) return cannot_write(command, f.part);
    fclose(stream);
    unlink(f.part);
    return 0;
}

int weft_cli_file_apart(const char *command, const char *out, const char *in)
{
    static const char *const beside[] = {"", ".part", ".new0"}; /* where it is made */
    struct stat read, written;
    char path[WEFT_CLI_PATH_BYTES + 8];
    if (in == NULL || (strcmp(in, "-") == 0 ? fstat(STDIN_FILENO, &read) : stat(in, &read)) != 0 ||
        !S_ISREG(read.st_mode))
        return 0;
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(path, sizeof path, "%s%s", out, beside[i]);
        if (stat(path, &written) != 0 || written.st_dev != read.st_dev ||
            written.st_ino != read.st_ino)
            continue;
        weft_cli_misuse(command,
                        "%s and %s are one file, which would be written over: name another "
                        "file to write to",
                        path, in);
        return -1;
    }
    return 0;
}
