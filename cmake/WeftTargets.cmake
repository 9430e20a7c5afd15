# Compiler settings shared by all targets, and weft_add_layer().
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

find_package(Threads REQUIRED)
find_path(WEFT_CK_INCLUDE_DIR ck_pr.h)
if(NOT WEFT_CK_INCLUDE_DIR)
    message(FATAL_ERROR "Concurrency Kit not found: install it with `apt-get install libck-dev`")
endif()

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE
    -ffp-contract=off -fno-omit-frame-pointer -g
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wstrict-prototypes
        -Wmissing-prototypes -Wvla -Wdouble-promotion -Wswitch-enum -Wwrite-strings>
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
target_compile_definitions(weft_flags INTERFACE _GNU_SOURCE
    $<$<BOOL:${WEFT_CHECKED}>:WEFT_CHECKED=1>
    $<$<STREQUAL:${WEFT_ATOMICS},builtin>:WEFT_ATOMICS_BUILTIN=1>)
if(WEFT_SANITIZE)
    target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# weft_add_layer(NAME layer SOURCES ... LINKS lower layers ...)
# Declares weft_<layer>: OBJECT library, public headers in include/, private headers in src/.
function(weft_add_layer)
    cmake_parse_arguments(L "" "NAME" "SOURCES;LINKS" ${ARGN})
    add_library(weft_${L_NAME} OBJECT ${L_SOURCES})
    target_include_directories(weft_${L_NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
                                                     ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(weft_${L_NAME} PUBLIC weft_flags Threads::Threads)
    foreach(lower ${L_LINKS})
        target_link_libraries(weft_${L_NAME} PUBLIC $<BUILD_INTERFACE:weft_${lower}_headers>)
    endforeach()
    add_library(weft_${L_NAME}_headers INTERFACE)
    target_include_directories(weft_${L_NAME}_headers INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/include
                                                                ${CMAKE_CURRENT_SOURCE_DIR}/src)
    foreach(lower ${L_LINKS})
        target_link_libraries(weft_${L_NAME}_headers INTERFACE weft_${lower}_headers)
    endforeach()
    set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${L_NAME})
    set_property(GLOBAL APPEND PROPERTY WEFT_LAYER_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()
