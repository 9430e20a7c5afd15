# SPDX-License-Identifier: MIT
# The closing summary of a configuration: what was found, what is left out and why.
message(STATUS "weft ${PROJECT_VERSION}: ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}, atomics ${WEFT_ATOMICS}, checked ${WEFT_CHECKED}, sanitize [${WEFT_SANITIZE}]")
if(WEFT_BUILD_TOOLS)
    list(JOIN WEFT_PEERS ", " peers)
    message(STATUS "  peers in weft bench: [${peers}] (packages libomp-dev for clang, libtbb-dev, libjansson-dev)")
endif()
if(WEFT_BUILD_TESTS AND NOT WEFT_WITH_CRITERION)
    if(WEFT_SANITIZE MATCHES "thread")
        message(STATUS "  Criterion suites are left out: Criterion does not run under ThreadSanitizer")
    else()
        message(STATUS "  Criterion suites are left out: package libcriterion-dev not found")
    endif()
endif()
