/* SPDX-License-Identifier: MIT */
/* explore_label.c: labels of bodies (label.h): a child or part that another worker runs counts
 * for the body that began it and for no other, and nothing looks at a label after its body has
 * ended. */
#include <weft/jobs.h>

#include "explore_desc.h"
#include "explore_plans.h"
#include "label.h"
#include "worker_child.h"

static int count_for(weft_job_context *job, void *wanted)
{
    const weft__label *label = weft__label_of(job);
    bool is_wanted = label != NULL ? label->name == wanted && wanted != NULL : wanted == NULL;
    EXPLORE_CHECK(is_wanted, "counts for another body");
    return 0;
}

static int part_counts_for(weft_job_context *job, void *wanted, uint32_t begin, uint32_t end)
{
    (void)begin, (void)end;
    return count_for(job, wanted);
}

static int labelled_body(weft_job_context *job, void *name)
{
    weft_job_for_desc loop = {.fn = part_counts_for, .argument = name, .count = 2, .grain = 1};
    weft_job_child(job, count_for, name);
    weft_job_child(job, count_for, name);
    return (int)weft_job_for(job, &loop, NULL);
}

static void count_time(void *user, uint32_t worker, uint64_t ns)
{
    EXPLORE_CHECK(user != NULL && worker == 1, "worker %u took %llu ns", worker,
                  (unsigned long long)ns);
}

/* A body with a label that ends with the call. */
static void call_labelled(weft_job_context *job, char *name)
{
    static weft__label label;
    label = (weft__label){.name = name, .took = count_time, .user = name};
    EXPLORE_CHECK(weft__worker_call_labelled(job, &label, labelled_body, name) == 0, "failed");
    label = (weft__label){0}; /* a look at it now would be too late */
}

static int labels_in_turn(weft_job_context *job, void *argument)
{
    static char first, second;
    (void)argument;
    call_labelled(job, &first);
    weft_job_child(job, count_for, NULL);
    weft_job_children_wait(job);
    call_labelled(job, &second);
    return 0;
}

/* A child that was begun before a label is shown counts for nothing, and none is shown. */
static int label_beside_a_child(weft_job_context *job, void *argument)
{
    static char name;
    const weft__label label = {.name = &name};
    (void)argument;
    weft_job_child(job, count_for, NULL);
    weft__worker_call_labelled(job, &label, count_for, NULL);
    return weft_job_children_wait(job);
}

static void run_labels(weft_job_fn body)
{
    weft_job_pool *pool;
    weft_job_context *owner = explore_pool_create(&pool, 2, false, false);
    explore_begin();
    EXPLORE_CHECK(weft__worker_call_nested(owner, body, NULL) == 0, "failed");
    explore_join_all();
    EXPLORE_CHECK(weft_job_pool_destroy(pool) == WEFT_OK, "destroy");
    explore_end();
}

static void labels(void)
{
    run_labels(labels_in_turn);
}

static void labels_beside_children(void)
{
    run_labels(label_beside_a_child);
}

#define MOST(runs)                                                                                 \
    PLAN_PCT(EXPLORE_TSO, 4, runs, 1000000), PLAN_PCT(EXPLORE_C11, 4, runs, 1000000),              \
        PLAN_RANDOM(EXPLORE_TSO, runs, 1000000)

const explore_scenario explore_scenarios[] = {
    {"label_in_turn", labels, {PLAN_ALL(EXPLORE_SC, 1, 0), MOST(6000)}, NULL},
    {"label_beside", labels_beside_children, {PLAN_ALL(EXPLORE_SC, 2, 0), MOST(3000)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
