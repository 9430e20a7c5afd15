/* SPDX-License-Identifier: MIT */
/* late_messages.c: MPI_Isend by the profiling interface of MPI: messages are held back for some
 * calls and leave in the opposite order of ranks. For shard_model_late. */
#include <mpi.h>

enum { HELD_MOST = 64, CALLS = 5 };

static struct held_message {
    const void *bytes;
    int count, to, tag;
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Request *request;
} held[HELD_MOST];
static int held_count, calls_left;

static void let_go(void)
{
    while (held_count != 0) {
        const struct held_message *message = &held[--held_count];
        PMPI_Isend(message->bytes, message->count, message->type, message->to, message->tag,
                   message->comm, message->request);
    }
}

static void count_call(void)
{
    if (held_count != 0 && --calls_left <= 0) let_go();
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (held_count == HELD_MOST) let_go();
    *request = MPI_REQUEST_NULL;
    held[held_count++] = (struct held_message){bytes, count, to, tag, type, comm, request};
    calls_left = CALLS;
    return MPI_SUCCESS;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    count_call();
    return PMPI_Improbe(from, tag, comm, flag, message, status);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    let_go();
    return PMPI_Testall(count, requests, flag, statuses);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    let_go();
    return PMPI_Waitall(count, requests, statuses);
}
