/* SPDX-License-Identifier: MIT */
/* poison.h: memory that is kept but must not be touched is known to AddressSanitizer; else these
 * are nothing. Threads: any. */
#ifndef WEFT_POISON_H
#define WEFT_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_POISON 1
#endif
#endif
#ifdef HAS_POISON
#include <sanitizer/asan_interface.h>
#else
#define HAS_POISON 0
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#endif
