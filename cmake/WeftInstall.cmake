# Install rules: headers of all layers under include/weft, libweft.a and libweft.so, the pkg-config file
# weft.pc, the CMake package (find_package(weft) -> weft::weft, weft::weft_shared), the weft binary.
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

# weft.pc finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH WEFT_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET weft_cli)
    install(TARGETS weft_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
