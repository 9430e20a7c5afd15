# SPDX-License-Identifier: MIT
"""The recipe of Conan 2: `conan create weft/tools/packaging/conan`. The sources are those of the tree that
it stands in; atomics are the compiler's builtins, so nothing is required."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

ROOT = os.path.join("..", "..", "..")


class Weft(ConanFile):
    name = "weft"
    description = "Parallel Entity Component System engine in C"
    license = "MIT"
    topics = ("ecs", "job-system", "simulation")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "checked": [True, False]}
    default_options = {"shared": False, "checked": False}
    languages = "C"

    def set_version(self):
        with open(os.path.join(self.recipe_folder, ROOT, "jobs/base/include/weft/base.h"), encoding="utf-8") as file:
            text = file.read()
        self.version = ".".join(re.search(rf"WEFT_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE", "tools/cmake/*", "jobs/*", "ecs/*", "scheduler/*", "tools/look/*", "tools/inspect/*",
                        "tools/docs/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables.update({
            "WEFT_ATOMICS": "builtin", "WEFT_BUILD_TESTS": False, "WEFT_BUILD_TOOLS": False, "WEFT_BUILD_SHARED": False,
            "WEFT_BUILD_INSPECT": False, "WEFT_WITH_MPI": False, "WEFT_WERROR": False, "WEFT_CHECKED": bool(self.options.checked), "BUILD_SHARED_LIBS": bool(self.options.shared)})
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "weft")
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "weft::weft")
        core.set_property("pkg_config_name", "weft")
        core.libs, core.system_libs = ["weft"], ["pthread", "m"]
        scene = self.cpp_info.components["scene"]
        scene.set_property("cmake_target_name", "weft::weft_scene")
        scene.set_property("pkg_config_name", "weft-scene")
        scene.libs, scene.requires = ["weft-scene"], ["core"]
