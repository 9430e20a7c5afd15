/* SPDX-License-Identifier: MIT */
/* quicksort.c: divide and conquer: a job starts children and waits for them. */
#include <stdio.h>
#include <weft/jobs.h>

typedef struct {
    int *values;
    int count;
} Part;

static int sort(weft_job_context *job, void *argument)
{
    Part *part = argument;
    int *v = part->values, low = 0, high = part->count - 1;
    if (part->count < 2) return 0;
    for (int pivot = v[part->count / 2]; low <= high;) {
        while (v[low] < pivot) low++;
        while (v[high] > pivot) high--;
        if (low > high) break;
        int kept = v[low];
        v[low++] = v[high];
        v[high--] = kept;
    }
    Part left = {v, high + 1}, right = {v + low, part->count - low};
    if (part->count < 1000) return sort(job, &left) + sort(job, &right); /* too small to share */
    weft_job_child(job, sort, &left); /* an idle worker may take it */
    sort(job, &right);
    return weft_job_children_wait(job); /* `left` lives on this stack */
}

int main(void)
{
    enum { COUNT = 200000 };
    static int numbers[COUNT];
    weft_job_pool *pool;
    if (weft_job_pool_create(NULL, &pool) != WEFT_OK) return 1;
    for (int i = 0; i < COUNT; i++) numbers[i] = (int)((uint32_t)i * 2654435761u >> 8);
    sort(weft_job_pool_owner(pool), &(Part){numbers, COUNT});
    int mistakes = 0;
    for (int i = 1; i < COUNT; i++) mistakes += numbers[i - 1] > numbers[i];
    printf("%d mistakes\n", mistakes);
    weft_job_pool_destroy(pool);
}

/* prints:
 * 0 mistakes
 */
