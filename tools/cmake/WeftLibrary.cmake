# SPDX-License-Identifier: MIT
# libweft: all layers in one library, with one public include path.
#
#   weft           static (or shared, when BUILD_SHARED_LIBS asks for it): what hosts link that build
#                  weft as a part of themselves, by its alias weft::weft
#   weft_shared    libweft.so beside the static one, so that both are installed and tested
#
# Installed, they are weft::weft_static and weft::weft_shared; weft::weft is the shared one where there
# is one, as for pkg-config (weftConfig.cmake.in).
#   weft_testable  the same objects for tests and benchmarks, hidden symbols reachable
get_property(layers GLOBAL PROPERTY WEFT_LAYERS)
get_property(dirs GLOBAL PROPERTY WEFT_LAYER_DIRS)

if(WEFT_AMALGAMATED)
    weft_add_amalgamation(weft_amalgamated)
    list(TRANSFORM layers PREPEND weft_ OUTPUT_VARIABLE unused)
    set_target_properties(${unused} PROPERTIES EXCLUDE_FROM_ALL ON)
    set(layers amalgamated)
endif()
function(weft_fill_library target)
    foreach(layer ${layers})
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:weft_${layer}>)
    endforeach()
    foreach(dir ${dirs})
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${dir}/include>)
    endforeach()
    target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:weft_flags> m)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

include(GNUInstallDirs)
add_library(weft)
add_library(weft::weft ALIAS weft)
weft_fill_library(weft)
set(weft_libraries weft)
if(WEFT_BUILD_SHARED AND NOT BUILD_SHARED_LIBS)
    add_library(weft_shared SHARED)
    add_library(weft::weft_shared ALIAS weft_shared)
    weft_fill_library(weft_shared)
    set_target_properties(weft_shared PROPERTIES OUTPUT_NAME weft)
    list(APPEND weft_libraries weft_shared)
endif()
# Until 1.0 each minor version may change the ABI (docs/decisions.md, "ABI").
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(weft_abi 0.${PROJECT_VERSION_MINOR})
else()
    set(weft_abi ${PROJECT_VERSION_MAJOR})
endif()
foreach(target ${weft_libraries})
    get_target_property(kind ${target} TYPE)
    string(REPLACE "_LIBRARY" "" kind ${kind})
    string(TOLOWER weft_${kind} name)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
                                               SOVERSION ${weft_abi}
                                               EXPORT_NAME ${name})
    if(NOT TARGET weft::${name})
        add_library(weft::${name} ALIAS ${target})
    endif()
    if(kind STREQUAL "SHARED")
        target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions) # calls inside stay direct
    endif()
    weft_split_debug(${target})
endforeach()

# Libraries beside libweft: libweft-scene, static as libweft is, and shared beside the shared one. A shared
# one has no code of libweft: a process has one engine. The private functions that it calls are exported by
# libweft.so (jobs/base/src/door.h).
get_property(apart GLOBAL PROPERTY WEFT_APARTS)
get_property(apart_dirs GLOBAL PROPERTY WEFT_APART_DIRS)
function(weft_add_parts target layer)
    get_property(objects GLOBAL PROPERTY WEFT_OBJECTS_OF_${layer})
    get_property(packages GLOBAL PROPERTY WEFT_PACKAGES_OF_${layer})
    foreach(part ${objects})
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
    endforeach()
    target_link_libraries(${target} PRIVATE ${packages})
endfunction()
function(weft_add_apart target layer kind links)
    add_library(${target} ${kind} $<TARGET_OBJECTS:weft_${layer}>)
    add_library(weft::${target} ALIAS ${target})
    foreach(dir ${apart_dirs})
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${dir}/include>)
    endforeach()
    target_link_libraries(${target} PUBLIC ${links} PRIVATE $<BUILD_INTERFACE:weft_flags> m)
    weft_add_parts(${target} ${layer})
    get_property(beside GLOBAL PROPERTY WEFT_BESIDE_OF_${layer})
    string(TOLOWER ${kind} suffix)
    get_property(kept GLOBAL PROPERTY WEFT_KEPT_OF_${layer})
    if(kept)
        target_link_options(${target} INTERFACE -Wl,-u,${kept})
    endif()
    foreach(other ${beside})
        target_link_libraries(${target} PUBLIC weft_${other}_${suffix})
    endforeach()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME weft-${layer}
                                               VERSION ${PROJECT_VERSION} SOVERSION ${weft_abi}
                                               INSTALL_RPATH "$ORIGIN") # libweft lies beside it
    weft_split_debug(${target})
endfunction()
get_target_property(kind weft TYPE)
foreach(layer ${apart})
    if(kind STREQUAL "STATIC_LIBRARY")
        weft_add_apart(weft_${layer}_static ${layer} STATIC weft)
        add_library(weft::weft_${layer} ALIAS weft_${layer}_static)
        list(APPEND weft_libraries weft_${layer}_static)
    endif()
    if(TARGET weft::weft_shared)
        weft_add_apart(weft_${layer}_shared ${layer} SHARED weft::weft_shared)
        if(NOT WEFT_SANITIZE) # whose functions the program has
            target_link_options(weft_${layer}_shared PRIVATE -Wl,--no-undefined)
        endif()
        list(APPEND weft_libraries weft_${layer}_shared)
    endif()
    if(NOT TARGET weft::weft_${layer})
        add_library(weft::weft_${layer} ALIAS weft_${layer}_shared)
    endif()
endforeach()
list(APPEND dirs ${apart_dirs})

add_library(weft_testable STATIC EXCLUDE_FROM_ALL)
# Not the shard: with MPI it has tests of its own (tests/shard), which alone load MPI.
list(REMOVE_ITEM apart shard)
list(APPEND layers ${apart})
weft_fill_library(weft_testable)
foreach(layer ${apart})
    weft_add_parts(weft_testable ${layer})
endforeach()
