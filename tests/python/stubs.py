# SPDX-License-Identifier: MIT
"""stubs.py PACKAGE_DIR: __init__.pyi says what the package has: the same public names, methods and
parameters, with the same kinds and defaults there or not."""
import ast
import inspect
import os
import sys

import weft


def words(names, more, only, keywords):
    return " ".join(names + ["*"] * bool(more or only) + sorted(only) + ["**"] * bool(keywords))


def of_object(function):
    """The parameters of a function as it is."""
    p = inspect.signature(function).parameters.values()
    return words([x.name for x in p if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)],
                 any(x.kind == x.VAR_POSITIONAL for x in p), [x.name for x in p if x.kind == x.KEYWORD_ONLY],
                 any(x.kind == x.VAR_KEYWORD for x in p))


def in_package():
    """name or Class.name: the parameters of each public function."""
    found = {}
    for name in weft.__all__:
        item = getattr(weft, name)
        if inspect.isclass(item) and item.__module__ != "weft._native" and not issubclass(item, Exception):
            found[name] = "class"
            for method in dir(item):
                value = inspect.getattr_static(item, method)
                value = value.fget if isinstance(value, property) else value
                if inspect.isfunction(value) and (not method.startswith("_") or method in PROTOCOL):
                    found[f"{name}.{method}"] = of_object(value)
        elif inspect.isfunction(item):
            found[name] = of_object(item)
    return found


PROTOCOL = {"__len__", "__getitem__", "__setitem__", "__enter__", "__exit__", "__iter__", "__contains__", "__float__"}


def in_stub(tree):
    """name or Class.name: the parameters of each function, of all its overloads."""
    found = {}
    for node in tree.body:
        scopes = [("", node)] if not isinstance(node, ast.ClassDef) else [(node.name + ".", n) for n in node.body]
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append("class")
        for prefix, item in scopes:
            if isinstance(item, ast.FunctionDef):
                a = item.args
                found.setdefault(prefix + item.name, []).append(words(
                    [x.arg for x in a.posonlyargs + a.args], a.vararg, [x.arg for x in a.kwonlyargs], a.kwarg))
    return found


def main():
    with open(os.path.join(sys.argv[1], "weft", "__init__.pyi"), encoding="utf-8") as file:
        stub = in_stub(ast.parse(file.read()))
    package, failed = in_package(), 0
    for name, wanted in package.items():
        kinds = stub.get(name)
        if kinds is None or not any(k == wanted or k.split() == wanted.split()[:len(k.split())] or "**" in wanted
                                    for k in kinds):
            failed += 1
            print(f"__init__.pyi: {name} should be ({wanted}), is {kinds}")
    for name in stub:
        owner, _, method = name.rpartition(".")
        if name not in package and owner in package and method not in ("__init__", "__new__"):
            failed += 1
            print(f"__init__.pyi: {name} is not in the package")
    print(f"{len(package)} names, {failed} differ")
    sys.exit(failed > 0 or len(package) < 40)


if __name__ == "__main__":
    main()
