/* SPDX-License-Identifier: MIT */
/* result.c: names, one-line texts and pages of the result codes. `weft explain CODE` prints the
 * pages. */
#include <weft/base.h>

/* One row of the table; constant. */
typedef struct result_page {
    const char *name;
    const char *text;
    const char *page;
} result_page;

#define PAGE(code, line, page) [code] = {#code, line, page}

static const result_page pages[WEFT_RESULT_COUNT] = {
    PAGE(WEFT_OK, "no error", "The call did what it says."),
    PAGE(WEFT_INVALID_ARGUMENT, "an argument cannot be right",
         "A pointer is NULL, a size or alignment is out of range, a name is empty or too\n"
         "long, or two fields of a descriptor contradict each other. Nothing was changed.\n"
         "Do: read weft_world_error() for the name of the argument and the range it must\n"
         "be in."),
    PAGE(WEFT_OUT_OF_MEMORY, "out of memory",
         "The allocator hook or the operating system refused memory. The failing operation\n"
         "left the world as it was, so it can be repeated.\n"
         "Do: free something (weft_world_compact gives empty megachunks back), raise the\n"
         "limit of the process, or look in weft_world_stats (weft_world_stats_get) for the\n"
         "bytes_ field that grew."),
    PAGE(WEFT_LIMIT, "a limit of the descriptor was reached",
         "The operation would exceed a limit: entities, megachunks, component types,\n"
         "systems, workers. Nothing was changed: a batch creates all or nothing.\n"
         "Do: raise the field of weft_world_desc or weft_job_pool_desc named in the error\n"
         "text."),
    PAGE(WEFT_NOT_FOUND, "there is no such thing",
         "The entity does not have this component, no component, system or file has this\n"
         "name, or a slice does not have this row.\n"
         "Do: test with weft_entity_has first, or add the component; check the spelling of\n"
         "the name; count rows from 0 to weft_slice_count - 1."),
    PAGE(WEFT_STALE_ENTITY, "the entity does not exist (any more)",
         "The handle is null, was destroyed, was never created, or belongs to another\n"
         "world (which checked builds tell: WEFT_BAD_HANDLE). Every index has a version; a\n"
         "handle is alive only while both match.\n"
         "Do: test with weft_entity_is_alive, and drop handles when you destroy their\n"
         "entities."),
    PAGE(WEFT_BAD_HANDLE, "the handle is null, stale or of another world or pool",
         "Component, query, system, job and blob handles are valid only in the world or\n"
         "pool that made them, and only until what they name is destroyed. Entities belong\n"
         "to one world, too: checked builds refuse those of another, other builds where\n"
         "worlds have different entity_tags.\n"
         "Do: keep handles beside the world they belong to."),
    PAGE(WEFT_ALREADY_EXISTS, "the name is taken by something different",
         "A component with this name has another size, alignment or kind, or a system has\n"
         "this name. Registering the same component twice with the same layout is fine and\n"
         "returns the same handle.\n"
         "Do: choose another name, or make the two descriptions equal."),
    PAGE(WEFT_TYPE_MISMATCH, "wrong size, alignment or kind of component",
         "For example a value of the wrong size, a pointer to a tag (tags have no bytes),\n"
         "an enable bit of a component that is not enableable, or shared access to a\n"
         "component that is not shared.\n"
         "Do: compare the call with the registration of the component named in the error\n"
         "text."),
    PAGE(WEFT_WRONG_THREAD, "called from a thread that may not",
         "The Threads: line of the function says who may call it. Most calls on a world\n"
         "belong to its owner; jobs use the functions that take a weft_slice or a\n"
         "weft_recorder.\n"
         "Do: move the call to the owner, or record a command."),
    PAGE(WEFT_WRONG_PHASE, "not allowed now: systems or jobs run, or a query is being iterated",
         "Of worlds: systems run or a query is iterated, and rows would move during the\n"
         "loop. Of jobs: the pool cannot end inside a job, a held job cannot be waited for\n"
         "before it is released, and only held jobs can be released or get predecessors.\n"
         "Nothing was changed.\n"
         "Do: record it with weft_recorder (played back at the next sync point), or do it\n"
         "after the loop or job."),
    PAGE(WEFT_UNDECLARED_ACCESS, "a system touched something it did not declare",
         "The scheduler orders systems by what they declare, so an undeclared access is a\n"
         "data race. The error text names the system and the component.\n"
         "Do: add the component to the query, the lookups or the resources of the system."),
    PAGE(WEFT_CYCLE, "the order contradicts itself",
         "Following `before` and `after` leads back to the start; the error text prints\n"
         "the path. The world still works: the change that closed the cycle was not made.\n"
         "Do: remove one constraint of the path."),
    PAGE(WEFT_CORRUPT, "the data failed validation",
         "The file or block is truncated, damaged, or not what it claims to be. Nothing of\n"
         "it was used.\n"
         "Do: make it again; the error text names the offset and the check."),
    PAGE(WEFT_IO, "the operating system refused a file operation",
         "The error text holds the path and the reason of the system.\n"
         "Do: check that the path exists, its permissions, and the space on the device."),
    PAGE(WEFT_UNSUPPORTED, "not available in this build or on this machine",
         "The feature needs an optional package, another build option or another\n"
         "processor.\n"
         "Do: see the closing summary of the CMake configuration."),
    PAGE(WEFT_POOL_FULL, "the job pool is exhausted",
         "All job slots are in use; the job was not submitted, and nothing is lost.\n"
         "Do: raise weft_job_pool_desc.job_capacity, submit a loop instead of many jobs,\n"
         "or wait first."),
    PAGE(WEFT_WOULD_NEST, "waiting here could deadlock",
         "Inside a job only its own children may be waited for: anything else could be\n"
         "waiting for this job.\n"
         "Do: use a job after it (weft_job_desc.after), or wait from the owner thread."),
    PAGE(WEFT_FORKED, "the pool belongs to the parent process",
         "fork() copies memory but not threads; the workers do not exist in the child.\n"
         "Do: create pools and worlds after fork(), or exec()."),
    PAGE(WEFT_CANCELLED, "cancelled before it completed",
         "weft_job_cancel was called, or an earlier job of the chain failed.\n"
         "Do: nothing, if you cancelled; else look at the first error of the chain."),
    PAGE(WEFT_THREAD_FAILED, "the operating system refused a thread",
         "The limit of threads or memory of the process or container is reached.\n"
         "Do: ask for fewer workers, or raise the limit (ulimit -u, cgroup pids.max)."),
    PAGE(WEFT_BUSY, "still in use",
         "Jobs are pending, the world is stepping, or references are held.\n"
         "Do: wait for the work to end or release the reference, then call again."),
    PAGE(WEFT_JOB_FAILED, "a job function returned an error",
         "The first non-zero result of a job is kept, the rest of its loop is cancelled,\n"
         "and the caller that waits gets this code.\n"
         "Do: read the job's own result with weft_job_result or weft_world_error."),
};

static const result_page *page_of(weft_result result)
{
    static const result_page unknown = {
        "WEFT_UNKNOWN", "unknown result code",
        "This number is not a result code of this version of weft."};
    unsigned index = (unsigned)result;
    return index < WEFT_RESULT_COUNT ? &pages[index] : &unknown;
}

const char *weft_result_name(weft_result result)
{
    return page_of(result)->name;
}

const char *weft_result_text(weft_result result)
{
    return page_of(result)->text;
}

const char *weft_result_explain(weft_result result)
{
    return page_of(result)->page;
}
