# SPDX-License-Identifier: MIT
# Install rules: headers of all layers under include/weft, libweft.a and libweft.so, libweft-scene beside
# them, the pkg-config files weft.pc, weft-scene.pc (and -static.pc), the CMake package
# (find_package(weft) -> weft::weft, weft::weft_shared, weft::weft_static, weft::weft_scene and so on),
# man pages, the weft binary, weft-perf with its modules, the pages; of Release builds the debug
# information in .debug folders, where debuggers look.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(TARGETS ${weft_libraries} EXPORT weftTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(dir ${dirs})
    install(DIRECTORY ${dir}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weftConfig.cmake.in
    ${PROJECT_BINARY_DIR}/weftConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
    DESTINATION ${package_dir})

# weft.pc finds its prefix from where it lies, so that an installed tree can be moved. It links the
# shared library where there is one, as weft::weft does; weft-static.pc links the archive.
file(RELATIVE_PATH WEFT_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
function(weft_install_pc name libs libs_private)
    list(JOIN ARGN ", " WEFT_PC_REQUIRES)
    set(WEFT_PC_NAME ${name})
    set(WEFT_PC_LIBS ${libs})
    set(WEFT_PC_LIBS_PRIVATE ${libs_private})
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weft.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
# An archive is named by -l:, not by its path: pkg-config escapes spaces in -L only.
if(TARGET weft::weft_shared)
    weft_install_pc(weft "-L\${libdir} -lweft" "-pthread -lm")
else()
    weft_install_pc(weft "-L\${libdir} -lweft -pthread -lm" "")
endif()
if(TARGET weft::weft_static)
    weft_install_pc(weft-static "-L\${libdir} -l:libweft.a -pthread -lm" "")
endif()
weft_install_pc(weft-scene "-L\${libdir} -lweft-scene" "" weft)
if(TARGET weft::weft_static)
    weft_install_pc(weft-scene-static "-L\${libdir} -l:libweft-scene.a" "" weft-static)
endif()
weft_install_pc(weft-shard "-L\${libdir} -lweft-shard" "" weft)
if(TARGET weft::weft_static)
    set(mpi_libraries "")
    get_property(packages GLOBAL PROPERTY WEFT_PACKAGES_OF_shard)
    foreach(library ${packages})
        string(APPEND mpi_libraries " ${library}")
    endforeach()
    weft_install_pc(weft-shard-static "-L\${libdir} -l:libweft-shard.a${mpi_libraries}" "" weft-static)
endif()
if(WEFT_WITH_INSPECT)
    weft_install_pc(weft-inspect "-L\${libdir} -Wl,--push-state,--no-as-needed -lweft-inspect -Wl,--pop-state" "" weft-scene weft)
    if(TARGET weft::weft_static)
        weft_install_pc(weft-inspect-static "-Wl,-u,weft_inspect_all -L\${libdir} -l:libweft-inspect.a -lmicrohttpd" ""
            weft-scene-static weft-static)
    endif()
endif()

# Man pages: section 3 of the headers and weft-perf, by Python where it is there; of commands section 1
# (tools/CMakeLists.txt).
find_program(WEFT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(WEFT_PYTHON python3)
set(manual ${PROJECT_BINARY_DIR}/man)
file(MAKE_DIRECTORY ${manual})
if(WEFT_PYTHON)
    set(pages ${PROJECT_SOURCE_DIR}/scheduler/include/weft/weft.hpp)
    if(TARGET weft_cli)
        list(APPEND pages ${PROJECT_SOURCE_DIR}/tools/weft-perf)
    endif()
    foreach(dir ${dirs})
        file(GLOB headers CONFIGURE_DEPENDS ${dir}/include/weft/*.h)
        list(APPEND pages ${headers})
    endforeach()
    add_custom_command(OUTPUT ${manual}/man3/weft.3 VERBATIM
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}/man3
        COMMAND ${WEFT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/docs/man_pages.py ${manual} ${pages}
        DEPENDS ${pages} ${PROJECT_SOURCE_DIR}/tools/docs/man_pages.py
        COMMENT "Making the man pages of the headers")
    add_custom_target(weft_manual ALL DEPENDS ${manual}/man3/weft.3)
    if(TARGET weft_cli)
        add_dependencies(weft_cli weft_manual)
    endif()
endif()
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR})

# share/weft/api.json: the public C API, for bindings of other languages.
set(api ${PROJECT_BINARY_DIR}/api)
file(MAKE_DIRECTORY ${api})
if(WEFT_PYTHON)
    add_custom_command(OUTPUT ${api}/api.json VERBATIM
        COMMAND ${WEFT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/weft-api ${api}/api.json
        DEPENDS ${pages} ${PROJECT_SOURCE_DIR}/tools/weft-api ${PROJECT_SOURCE_DIR}/tools/weft-reference
        COMMENT "Describing the C API")
    add_custom_target(weft_api ALL DEPENDS ${api}/api.json)
endif()
install(DIRECTORY ${api}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)

if(TARGET weft_cli)
    install(TARGETS weft_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/weft.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weft)
    install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/weft.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weft-perf)
    install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/_weft
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    foreach(script weft-perf weft-trace-json weft-trace-merge)
        install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/${script} DESTINATION ${CMAKE_INSTALL_BINDIR})
    endforeach()
    install(FILES ${PROJECT_SOURCE_DIR}/tools/whole_file.py DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/profile)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/profile DESTINATION ${CMAKE_INSTALL_DATADIR}/weft
        PATTERN __pycache__ EXCLUDE)
    install(FILES ${PROJECT_SOURCE_DIR}/tools/look/look.css DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/profile)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# cpack: an archive and a .deb of what is installed. Packages for a distribution: tools/packaging.
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # packs what is built, tests or not
    set(CPACK_GENERATOR TGZ DEB)
    set(CPACK_PACKAGE_CONTACT "weft developers")
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
    set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")
    include(CPack)
endif()

foreach(target ${weft_libraries} weft_cli)
    if(NOT TARGET ${target})
        continue()
    endif()
    get_target_property(debug_file ${target} WEFT_DEBUG_FILE)
    if(debug_file)
        set(dir ${CMAKE_INSTALL_LIBDIR})
        if(target STREQUAL "weft_cli")
            set(dir ${CMAKE_INSTALL_BINDIR})
        endif()
        install(FILES ${debug_file} DESTINATION ${dir}/.debug)
    endif()
endforeach()
