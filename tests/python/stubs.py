# SPDX-License-Identifier: MIT
"""stubs.py PACKAGE_DIR: __init__.pyi says what __init__.py has: the same public names, methods and
parameters, with the same kinds and defaults there or not."""
import ast
import os
import sys


def functions(tree):
    """name or Class.name: a description of the parameters of each public function, of all overloads."""
    found = {}
    for node in tree.body:
        scopes = [("", node)] if not isinstance(node, ast.ClassDef) else [(node.name + ".", n) for n in node.body]
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append("class")
        for prefix, item in scopes:
            if isinstance(item, ast.FunctionDef):
                a = item.args
                names = [x.arg for x in a.posonlyargs + a.args] + ["*"] * bool(a.vararg or a.kwonlyargs)
                names += sorted(x.arg for x in a.kwonlyargs) + ["**"] * bool(a.kwarg)
                found.setdefault(prefix + item.name, []).append(" ".join(names))
    return {name: kinds for name, kinds in found.items()
            if not any(part.startswith("_") and not part.startswith("__") for part in name.split("."))}


def main():
    package = os.path.join(sys.argv[1], "weft")
    trees = {}
    for suffix in ("py", "pyi"):
        with open(os.path.join(package, "__init__." + suffix), encoding="utf-8") as file:
            trees[suffix] = functions(ast.parse(file.read()))
    failed = 0
    for name, kinds in trees["py"].items():
        stub = trees["pyi"].get(name)
        if name.endswith(("__init__", "__repr__")) and stub is None:
            continue  # made by World, not by users
        wanted = kinds[0]
        if stub is None or not any(k == wanted or k.split() == wanted.split()[:len(k.split())] or "**" in wanted
                                   for k in stub):
            failed += 1
            print(f"__init__.pyi: {name} should be ({wanted}), is {stub}")
    for name in trees["pyi"]:
        if name not in trees["py"] and name not in ("Snapshot", "Error"):
            failed += 1
            print(f"__init__.pyi: {name} is not in __init__.py")
    print(f"{len(trees['py'])} names, {failed} differ")
    sys.exit(failed > 0 or len(trees["py"]) < 40)


if __name__ == "__main__":
    main()
