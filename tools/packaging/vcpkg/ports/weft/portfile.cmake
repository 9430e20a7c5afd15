# An overlay port: the sources are those of the tree that it stands in.
#   vcpkg install weft --overlay-ports=weft/tools/packaging/vcpkg/ports
# Concurrency Kit is no port of vcpkg: atomics are the compiler's builtins.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../../.." ABSOLUTE)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DWEFT_ATOMICS=builtin
        -DWEFT_BUILD_TESTS=OFF
        -DWEFT_BUILD_TOOLS=OFF
        -DWEFT_BUILD_SHARED=OFF
        -DWEFT_BUILD_INSPECT=OFF
        -DWEFT_WITH_MPI=OFF
        -DWEFT_WERROR=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME weft CONFIG_PATH lib/cmake/weft)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/lib/.debug")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
