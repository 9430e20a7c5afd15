# SPDX-License-Identifier: MIT
# weft_add_amalgamation(target): an OBJECT library of the layers as one file, weft.c, which
# tools/amalgamate makes from the sources. The option WEFT_AMALGAMATED builds libweft from it, so that all
# tests run against it; tests/amalgamation links a part of them with it in every Release build.
function(weft_add_amalgamation target)
    find_program(WEFT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
    find_program(WEFT_PYTHON python3 REQUIRED)
    get_property(layer_dirs GLOBAL PROPERTY WEFT_LAYER_DIRS)
    set(patterns "")
    foreach(dir ${layer_dirs})
        foreach(folder include engine src)
            list(APPEND patterns ${dir}/${folder}/*.c ${dir}/${folder}/*.h ${dir}/${folder}/*.hpp)
        endforeach()
    endforeach()
    file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${patterns})
    set(out ${PROJECT_BINARY_DIR}/amalgamated)
    if(NOT TARGET weft_amalgamate)
        add_custom_command(OUTPUT ${out}/weft.c ${out}/weft.h VERBATIM
            COMMAND ${WEFT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/amalgamate ${out}
            DEPENDS ${parts} ${PROJECT_SOURCE_DIR}/tools/amalgamate
            COMMENT "Making weft.c and weft.h")
        add_custom_target(weft_amalgamate DEPENDS ${out}/weft.c ${out}/weft.h)
    endif()
    add_library(${target} OBJECT ${out}/weft.c)
    add_dependencies(${target} weft_amalgamate)
    # Locals of one source may have the names of functions of another one.
    set_source_files_properties(${out}/weft.c PROPERTIES COMPILE_OPTIONS -Wno-shadow)
    target_link_libraries(${target} PRIVATE weft_flags Threads::Threads)
endfunction()
