/* SPDX-License-Identifier: MIT */
/* ranks_leaks.h: start and end of a run that looks for its own leaks, where MPI has some.
 *
 * Open MPI 4.1 leaks some bytes when it starts, PMIx 32 bytes for each rank that is met, on a
 * thread of its own, and modules that MPI unloads at its end leave memory behind. So leaks are
 * looked for in between, without what MPI allocates in its start; run_shard.py knows PMIx. */
#ifndef WEFT_TESTS_RANKS_LEAKS_H
#define WEFT_TESTS_RANKS_LEAKS_H

#include <weft/ranks.h>

#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) && defined(SHARD_WITH_MPI)
int __lsan_do_recoverable_leak_check(void);
void __lsan_disable(void);
void __lsan_enable(void);

static weft_result start_ranks(int *argc, char ***argv)
{
    __lsan_disable();
    const weft_result result = weft_ranks_start(argc, argv);
    __lsan_enable();
    return result;
}

static void stop_ranks(void)
{
    (void)__lsan_do_recoverable_leak_check();
    weft_ranks_stop();
    fflush(NULL);
    _Exit(0); /* without the check at the end */
}
#else
#define start_ranks weft_ranks_start
#define stop_ranks weft_ranks_stop
#endif

#endif
