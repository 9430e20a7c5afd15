/* SPDX-License-Identifier: MIT */
/* large_pages.c: a machine whose pages have 64 KiB, as those of ppc64el and of some arm64 kernels,
 * for a program that is started with this library in LD_PRELOAD (machines.py).
 *
 * What the kernel says of such a machine: mappings begin at multiples of a page; munmap, mprotect
 * and madvise refuse other addresses and go to the end of the last page; mapped files begin at
 * whole pages, too. A call that would be refused aborts, since weft should ask for nothing of the
 * kind. Calls of the C library inside itself do not come by here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 65536 };

static size_t whole(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

_Noreturn static void refuse(const char *call)
{
    fprintf(stderr, "large_pages: %s refused, for pages of 64 KiB\n", call);
    abort();
}

static void *map(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if ((uintptr_t)offset % PAGE != 0 || ((flags & MAP_FIXED) && (uintptr_t)at % PAGE != 0)) {
        refuse("mmap");
    }
    if (flags & MAP_FIXED) return map(at, bytes, protection, flags, file, offset);
    char *room = map(NULL, whole(bytes) + PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return MAP_FAILED;
    const size_t head = (PAGE - (uintptr_t)room % PAGE) % PAGE;
    if (head != 0) syscall(SYS_munmap, room, head);
    if (head != PAGE) syscall(SYS_munmap, room + head + whole(bytes), PAGE - head);
    void *made = map(room + head, flags & MAP_ANONYMOUS ? whole(bytes) : bytes, protection,
                     flags | MAP_FIXED, file, offset);
    if (made == MAP_FAILED) syscall(SYS_munmap, room + head, whole(bytes));
    return made;
}

int munmap(void *at, size_t bytes)
{
    if ((uintptr_t)at % PAGE != 0 || bytes == 0) refuse("munmap");
    return (int)syscall(SYS_munmap, at, whole(bytes));
}

int mprotect(void *at, size_t bytes, int protection)
{
    if ((uintptr_t)at % PAGE != 0) refuse("mprotect");
    return (int)syscall(SYS_mprotect, at, whole(bytes), protection);
}

int madvise(void *at, size_t bytes, int advice)
{
    if ((uintptr_t)at % PAGE != 0) refuse("madvise");
    return (int)syscall(SYS_madvise, at, whole(bytes), advice);
}

int getpagesize(void)
{
    return PAGE;
}
