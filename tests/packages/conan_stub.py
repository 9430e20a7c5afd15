#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conan_stub.py FOLDER WORK: what `conan create` does with the recipe of FOLDER, as far as ours asks for it, where Conan is
not there: exports the sources, builds them there, packages, and builds and runs the program of test_package."""
import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import types


class Info:
    """cpp_info, or a component of it."""
    def __init__(self):
        self.libs, self.system_libs, self.requires, self.properties = [], [], [], {}
        self.components = Components()

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Info()
        return self[name]


class Toolchain:
    def __init__(self, recipe):
        self.recipe, self.variables = recipe, {}

    def generate(self):
        self.recipe.variables = self.variables


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        r = self.recipe
        values = [f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}" for name, value in r.variables.items()]
        subprocess.run(["cmake", "-G", "Ninja", "-S", r.source_folder, "-B", r.build_folder, "-DCMAKE_BUILD_TYPE=Release",
                        f"-DCMAKE_INSTALL_PREFIX={r.package_folder}", "-DCMAKE_INSTALL_LIBDIR=lib", *values], check=True)

    def build(self):
        subprocess.run(["cmake", "--build", self.recipe.build_folder], check=True)

    def install(self):
        subprocess.run(["cmake", "--install", self.recipe.build_folder], check=True)


def copy(_recipe, pattern, source, target):
    """Copies the files below `source` whose paths match, as conan.tools.files.copy."""
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), source)
            if fnmatch.fnmatch(path, pattern):
                os.makedirs(os.path.dirname(os.path.join(target, path)), exist_ok=True)
                shutil.copy2(os.path.join(source, path), os.path.join(target, path))


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def main():
    folder, work = map(os.path.abspath, sys.argv[1:3])
    module("conan", ConanFile=object)
    module("conan.tools")
    module("conan.tools.cmake", CMake=CMake, CMakeToolchain=Toolchain, cmake_layout=lambda recipe: None,
           CMakeDeps=lambda recipe: types.SimpleNamespace(generate=lambda: None))
    module("conan.tools.files", copy=copy)
    spec = importlib.util.spec_from_file_location("recipe", os.path.join(folder, "conanfile.py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    recipe = next(c for c in vars(loaded).values() if isinstance(c, type) and c.__module__ == "recipe")()
    recipe.recipe_folder, recipe.cpp_info = folder, Info()
    recipe.export_sources_folder = recipe.source_folder = os.path.join(work, "source")
    recipe.build_folder, recipe.package_folder = os.path.join(work, "build"), os.path.join(work, "package")
    recipe.options = types.SimpleNamespace(**recipe.default_options)
    for step in ("set_version", "export_sources", "layout", "generate", "build", "package", "package_info"):
        getattr(recipe, step)()
    for name, component in recipe.cpp_info.components.items():
        for library in component.libs:
            if not os.path.exists(os.path.join(recipe.package_folder, "lib", f"lib{library}.a")):
                sys.exit(f"FAILED: component {name}: the package has no {library}")
    if not os.path.exists(os.path.join(recipe.package_folder, "licenses", "LICENSE")):
        sys.exit("FAILED: the package has no licence")
    tested = os.path.join(work, "tested")
    subprocess.run(["cmake", "-G", "Ninja", "-S", os.path.join(folder, "test_package"), "-B", tested,
                    f"-DCMAKE_PREFIX_PATH={recipe.package_folder}"], check=True)
    subprocess.run(["cmake", "--build", tested], check=True)
    print(f"weft/{recipe.version}:", subprocess.run([os.path.join(tested, "app")], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
