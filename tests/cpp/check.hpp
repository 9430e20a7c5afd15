// SPDX-License-Identifier: MIT
// check.hpp: what the programs of this folder say where something is not as it should be.
#ifndef WEFT_TESTS_CPP_CHECK_HPP
#define WEFT_TESTS_CPP_CHECK_HPP

#include <cstdio>

static int failures;

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (void)(failures++, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

#endif
