/* SPDX-License-Identifier: MIT */
/* explore_fibre.c: context switch of the explorer's threads. Callee-saved registers go to the old
 * stack, the stack pointer changes, and they come back from the new one. */
#include "explore_fibre.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void map_stack(explore_fibre *fibre)
{
    if (fibre->stack) return;
    char *memory = mmap(NULL, FIBRE_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0) {
        perror("explore: stack");
        exit(2);
    }
    fibre->stack = memory;
}

#if defined(__x86_64__)

void explore_fibre_swap(void **from_sp, void *to_sp);
__asm__(".text\n"
        ".globl explore_fibre_swap\n"
        ".hidden explore_fibre_swap\n"
        ".type explore_fibre_swap,@function\n"
        "explore_fibre_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size explore_fibre_swap,.-explore_fibre_swap\n");

void explore_fibre_prepare(explore_fibre *fibre, void (*entry)(void))
{
    map_stack(fibre);
    /* Upwards: six registers, entry, its (absent) return address, padding: entry starts with the
     * stack pointer at 8 modulo 16, as after a call. */
    uint64_t *top = (uint64_t *)(void *)((char *)fibre->stack + FIBRE_STACK_BYTES) - 10;
    for (int i = 0; i < 10; i++) top[i] = 0;
    top[6] = (uint64_t)(uintptr_t)entry;
    fibre->sp = top;
}

void explore_fibre_switch(explore_fibre *from, explore_fibre *to)
{
    explore_fibre_swap(&from->sp, to->sp);
}

#else

void explore_fibre_prepare(explore_fibre *fibre, void (*entry)(void))
{
    map_stack(fibre);
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = (char *)fibre->stack + 4096;
    fibre->context.uc_stack.ss_size = FIBRE_STACK_BYTES - 4096;
    fibre->context.uc_link = NULL;
    makecontext(&fibre->context, entry, 0);
}

void explore_fibre_switch(explore_fibre *from, explore_fibre *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
