# SPDX-License-Identifier: MIT
# Compiler settings shared by all targets, and weft_add_layer().
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Without a build type CMake does not optimise at all. As a part of another build only weft's own files
# are optimised then, and only when the host did not choose otherwise in its flags.
get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
set(WEFT_OPTIMISE "")
if(NOT CMAKE_BUILD_TYPE AND NOT is_multi_config)
    if(PROJECT_IS_TOP_LEVEL)
        message(NOTICE "weft: no CMAKE_BUILD_TYPE was given: Release is taken")
        set(CMAKE_BUILD_TYPE Release)
    elseif(NOT CMAKE_C_FLAGS MATCHES "(^| )-O")
        message(NOTICE "weft: no CMAKE_BUILD_TYPE was given: weft itself is built with -O3; "
                       "give a build type to choose")
        set(WEFT_OPTIMISE -O3 -DNDEBUG)
    endif()
endif()
set(WEFT_DEBUG_INFO -g)
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
    set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
    # Instrumented builds: -O1 and -g1 (lines for reports) take half the time of -O2 -g to compile.
    if(WEFT_SANITIZE)
        set(WEFT_DEBUG_INFO -g1)
        set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1")
        set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1")
    else()
        set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2")
        set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2")
    endif()
endif()

find_package(Threads REQUIRED)
find_path(WEFT_CK_INCLUDE_DIR ck_pr.h)
if(NOT WEFT_CK_INCLUDE_DIR AND WEFT_ATOMICS STREQUAL "ck")
    message(FATAL_ERROR "Concurrency Kit not found: install it with `apt-get install libck-dev`, or take "
                        "the compiler's builtins: -DWEFT_ATOMICS=builtin")
endif()

add_library(weft_flags INTERFACE)
# Descriptors say what differs from the default, which is zero: missing initialisers are meant.
target_compile_options(weft_flags INTERFACE
    ${WEFT_OPTIMISE} -ffp-contract=off -fno-fast-math -fno-omit-frame-pointer ${WEFT_DEBUG_INFO} -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wstrict-prototypes
        -Wmissing-prototypes -Wvla -Wdouble-promotion -Wswitch-enum -Wwrite-strings
        -Wno-missing-field-initializers>
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64")
    target_compile_options(weft_flags INTERFACE -mno-omit-leaf-frame-pointer)
endif()
target_compile_definitions(weft_flags INTERFACE _GNU_SOURCE
    $<$<BOOL:${WEFT_CHECKED}>:WEFT_CHECKED=1>
    $<$<STREQUAL:${WEFT_ATOMICS},builtin>:WEFT_ATOMICS_BUILTIN=1>)
if(WEFT_SANITIZE)
    # -Wmaybe-uninitialized guesses wrongly about instrumented code at -O1.
    target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all
        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# weft_split_debug(target)
# In Release builds the debug information of what is installed lies beside it, not in it: in
# <file>.debug, which debuggers find by the link in the file; of an archive, whose objects can have no
# such link, in a whole copy debug/<archive>. Symbols stay, so profiles and stacks have names.
function(weft_split_debug target)
    if(NOT WEFT_INSTALL OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR WEFT_SANITIZE)
        return()
    endif()
    if(NOT CMAKE_OBJCOPY)
        message(NOTICE "weft: objcopy was not found: ${target} keeps its debug information")
        return()
    endif()
    get_target_property(type ${target} TYPE)
    set(file $<TARGET_FILE:${target}>)
    if(type STREQUAL "STATIC_LIBRARY")
        set(copy $<TARGET_FILE_DIR:${target}>/debug)
        add_custom_command(TARGET ${target} POST_BUILD VERBATIM
            COMMAND ${CMAKE_COMMAND} -E make_directory ${copy}
            COMMAND ${CMAKE_COMMAND} -E copy ${file} ${copy}
            COMMAND ${CMAKE_OBJCOPY} --strip-debug ${file})
        set_target_properties(${target} PROPERTIES
            WEFT_DEBUG_FILE ${copy}/$<TARGET_FILE_NAME:${target}>)
    else()
        add_custom_command(TARGET ${target} POST_BUILD VERBATIM
            WORKING_DIRECTORY $<TARGET_FILE_DIR:${target}>
            COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${file} ${file}.debug
            COMMAND ${CMAKE_OBJCOPY} --strip-debug ${file}
            COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=${file}.debug ${file})
        set_target_properties(${target} PROPERTIES WEFT_DEBUG_FILE ${file}.debug)
    endif()
endfunction()

# weft_add_layer(NAME layer SOURCES ... LINKS lower layers ...)
# Declares weft_<layer>: OBJECT library, public headers in include/, private headers in src/;
# weft_<layer>_headers: what a target that looks inside the layer (a test, a benchmark) links;
# and weft_<layer>_engine: what the layers above see, include/ and engine/. OPEN: they see its src/, too.
# APART: it is a library of its own, not a part of libweft. DOORS: private folders of other layers that
# it includes. Of a library of its own: BESIDE: others that it links, OBJECTS: object libraries in it,
# PACKAGES: libraries of the system, KEPT: a function that programs get although they do not call it.
function(weft_add_layer)
    cmake_parse_arguments(L "APART;OPEN" "NAME" "SOURCES;LINKS;DOORS;BESIDE;OBJECTS;PACKAGES;KEPT" ${ARGN})
    add_library(weft_${L_NAME}_headers INTERFACE)
    add_library(weft_${L_NAME}_engine INTERFACE)
    file(GLOB_RECURSE private_headers CONFIGURE_DEPENDS src/*.h)
    set(inner ${CMAKE_CURRENT_SOURCE_DIR}/src)
    foreach(header ${private_headers})
        cmake_path(GET header PARENT_PATH folder)
        list(APPEND inner ${folder})
    endforeach()
    list(REMOVE_DUPLICATES inner)
    set(outer ${CMAKE_CURRENT_SOURCE_DIR}/include)
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/engine)
        list(APPEND outer ${CMAKE_CURRENT_SOURCE_DIR}/engine)
    endif()
    set(shown ${outer})
    if(L_OPEN)
        list(APPEND shown ${inner})
    endif()
    target_include_directories(weft_${L_NAME}_headers INTERFACE ${outer} ${inner})
    target_include_directories(weft_${L_NAME}_engine INTERFACE ${shown})
    foreach(lower ${L_LINKS})
        target_link_libraries(weft_${L_NAME}_headers INTERFACE weft_${lower}_headers)
    endforeach()
    set(kind LAYER)
    if(L_APART)
        set(kind APART)
    endif()
    set_property(GLOBAL APPEND PROPERTY WEFT_${kind}_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT L_SOURCES)
        return()
    endif()
    add_library(weft_${L_NAME} OBJECT ${L_SOURCES})
    target_include_directories(weft_${L_NAME} PRIVATE ${outer} ${inner})
    target_link_libraries(weft_${L_NAME} PRIVATE weft_flags Threads::Threads)
    foreach(lower ${L_LINKS})
        target_link_libraries(weft_${L_NAME} PRIVATE weft_${lower}_engine)
    endforeach()
    target_include_directories(weft_${L_NAME} PRIVATE ${L_DOORS})
    set_property(GLOBAL APPEND PROPERTY WEFT_${kind}S ${L_NAME})
    foreach(what BESIDE OBJECTS PACKAGES KEPT)
        set_property(GLOBAL PROPERTY WEFT_${what}_OF_${L_NAME} ${L_${what}})
    endforeach()
endfunction()

# weft_generate_table(OUT file HEADER h TYPE t PREFIX p TABLE name NAMES ...)
# Writes a C file that declares `extern const <type> <prefix><name>[]` for each name and lists them
# in `const <type> *const <table>[]`, ended by NULL. This is how a benchmark, a stress scenario or a
# sub-command joins the binary: by being a file with the right name.
function(weft_generate_table)
    cmake_parse_arguments(T "" "OUT;HEADER;TYPE;PREFIX;TABLE" "NAMES" ${ARGN})
    set(externs "")
    set(rows "")
    foreach(name ${T_NAMES})
        string(APPEND externs "extern const ${T_TYPE} ${T_PREFIX}${name}[];\n")
        string(APPEND rows "    ${T_PREFIX}${name},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${T_OUT} @ONLY CONTENT
"/* Generated by CMake from the names of the source files. */
#include \"@T_HEADER@\"

@externs@
const @T_TYPE@ *const @T_TABLE@[] = {
@rows@    0,
};
")
endfunction()

# weft_embed(OUT file.c TABLE name FILES ...)
# Writes a C file that has the bytes of files as `const weft_asset <table>[]` (tools/look/asset.h).
function(weft_embed)
    cmake_parse_arguments(E "" "OUT;TABLE" "FILES" ${ARGN})
    list(TRANSFORM E_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(JOIN E_FILES "|" files)
    set(script ${PROJECT_SOURCE_DIR}/tools/cmake/WeftEmbed.cmake)
    add_custom_command(OUTPUT ${E_OUT} VERBATIM DEPENDS ${E_FILES} ${script}
        COMMAND ${CMAKE_COMMAND} -DOUT=${E_OUT} -DTABLE=${E_TABLE} "-DFILES=${files}" -P ${script})
endfunction()
