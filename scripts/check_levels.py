#!/usr/bin/env python3
"""Reads the include lines of compiler and runtime. Fails if a folder includes a higher level.

The folders of each half form levels: a folder includes itself and folders of lower levels. Folders
of one level do not include each other, so there is no cycle. Compiler and runtime never include
each other. Both include pdlabi, which includes neither. Also fails if a detail that belongs to one
file is used in another one.

Usage: check_levels.py [ROOT]
"""

import os
import re
import sys

# The levels of each half, the lowest first. docs/Architecture.md describes the folders.
RUNTIME_LEVELS = [
    ["OlderLibc"],
    ["Core"],
    ["Sched"],
    ["Kernels", "Gemm", "Files", "Device"],
    ["Table", "Data", "Transport"],
    ["Abi"],
    ["Sum"],
    ["State"],
    ["Checkpoint"],
    ["Protocol"],
    ["Serving"],
    ["Engine", "Server"],
    ["Recovery"],
    ["Job"],
    ["Programs/Trainer", "Programs/Server", "Testing/Simulator"],
]
COMPILER_LEVELS = [
    ["Support"],
    ["Interfaces", "Std", "Target"],
    ["Dialect/NN"],
    ["Dialect/PS", "Dialect/RT"],
    ["Analysis", "Conversion", "Interpreter"],
    # The common parts of all passes, below the folders of passes by dialect.
    ["Transforms"],
    ["Transforms/NN", "Transforms/PS", "Transforms/RT"],
]

# The levels of each half, the prefix of its public headers, and its folder.
HALVES = [
    (RUNTIME_LEVELS, "pdlrt/", ["include/pdlrt", "lib/Runtime"]),
    (COMPILER_LEVELS, "pdlc/", ["include/pdlc", "lib"]),
]
# Folders within a half that belong to the other half, or to both.
OTHER_HALF = {"lib": ["lib/Runtime/", "lib/ABI/", "lib/DeviceLibrary/"]}

# Folders of the halves, and the prefixes that each must not include.
COMPILER = [
    "include/pdlc",
    "lib/Analysis",
    "lib/Conversion",
    "lib/Dialect",
    "lib/Interpreter",
    "lib/Std",
    "lib/Support",
    "lib/Target",
    "lib/Transforms",
    "tools/pdl-opt",
    "tools/pdl-translate",
]
RUNTIME = ["include/pdlrt", "lib/Runtime", "unittests/Runtime"]
FORBIDDEN = {
    "the compiler": (COMPILER, ("pdlrt/",)),
    "the runtime": (RUNTIME, ("pdlc/", "mlir/", "llvm/", "mlir-c/", "llvm-c/")),
    "pdlabi": (["include/pdlabi", "lib/ABI"], ("pdlc/", "pdlrt/", "mlir/", "llvm/")),
}

# Details that only one file, or a folder (it ends with a slash), may use. Other code calls
# functions there.
ONE_PLACE = {
    # Ids of modes are in the table of modes. pdlabi/modes.h has the properties to query.
    re.compile(r"\bPDL_MODE_\w+"): (
        ["include/pdlrt", "lib", "tools"],
        ["lib/Dialect/PS/IR/Modes.cpp"],
    ),
    # Passes query the properties of a mode or a stage (`#ps.mode`, `#nn.stage`).
    re.compile(
        r"\bMode::(local|sync|async|half_async|quorum|collective|hybrid|geo)\b"
        r"|\bmode *[!=]= *\""
    ): (
        COMPILER,
        ["lib/Dialect/PS/IR/Modes.cpp", "include/pdlc/Transforms/Pipelines.h"],
    ),
    re.compile(r"[!=]= *(nn::)?Stage::|\bStage::\w+ *[!=]=|\bcase (nn::)?Stage::"): (
        COMPILER,
        ["lib/Dialect/NN/IR/Stages.cpp"],
    ),
    # Locks of the runtime have attributes, so that Clang checks their use.
    re.compile(
        r"\bstd::((recursive_|shared_)?(timed_)?mutex|shared_timed_mutex"
        r"|condition_variable(_any)?|lock_guard|unique_lock|shared_lock|scoped_lock)\b"
    ): (
        ["include/pdlrt", "lib/Runtime", "tools"],
        [
            "include/pdlrt/Core/Mutex.h",
            "include/pdlrt/Core/RecursiveMutex.h",
            "include/pdlrt/Core/SharedMutex.h",
        ],
    ),
    # Only one folder knows the contents of recovery records.
    re.compile(r"\b(Worker)?RecoveryRecord\b"): (
        ["include/pdlrt", "lib/Runtime", "tools"],
        ["lib/Runtime/Recovery/"],
    ),
    # Bundles (`getInputs`, `getSymbolGradients`) say which values belong together. Other code does
    # not count operands.
    re.compile(r"\bget(Poolings|Bagged|Present|Keyed)\("): (
        COMPILER,
        ["lib/Dialect/NN/IR/Bundles.cpp"],
    ),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = (".h", ".cpp", ".inc", ".def", ".td", ".c")


def source_files(root, folder):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                yield os.path.relpath(os.path.join(path, name), root)


def includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                yield number, match.group(1)


def folder_of(path, levels):
    """Returns the innermost folder of `levels` that contains a path below the root of a half."""
    found = None
    for level, folders in enumerate(levels):
        for folder in folders:
            if path.startswith(folder + "/") and (not found or len(folder) > len(found[1])):
                found = level, folder
    return found


def check_level(root, base, levels, prefix, path, faults):
    own = folder_of(path[len(base) + 1 :], levels)
    if own is None:
        faults.append(f"{path}: its folder has no level; name it in {sys.argv[0]}")
        return
    for number, name in includes(root, path):
        target = name.removeprefix(prefix)
        if name.startswith("."):
            here = os.path.relpath(os.path.dirname(path), base)
            target = os.path.normpath(os.path.join(here, name))
        found = folder_of(target, levels)
        if found is None:
            if name.startswith(prefix):
                faults.append(f"{path}:{number}: {name} is in no level")
            continue
        if found[1] != own[1] and found[0] >= own[0]:
            faults.append(
                f"{path}:{number}: {own[1]} includes {name}, but {found[1]} "
                "does not stand below it: move what is needed downwards, or "
                "this file upwards"
            )


def folders_of(places):
    return tuple(place for place in places if place.endswith("/"))


def check(root):
    faults = []
    for levels, prefix, bases in HALVES:
        paths = [(base, path) for base in bases for path in source_files(root, base)]
        if not paths:
            faults.append(f"{root}: there is no {bases[0]} to check")
        for base, path in paths:
            if not any(path.startswith(part) for part in OTHER_HALF.get(base, [])):
                check_level(root, base, levels, prefix, path, faults)
    for half, (folders, prefixes) in FORBIDDEN.items():
        for folder in folders:
            if not os.path.isdir(os.path.join(root, folder)):
                faults.append(f"{folder}: there is no such folder (see {sys.argv[0]})")
            for path in source_files(root, folder):
                for number, name in includes(root, path):
                    if name.startswith(prefixes):
                        faults.append(f"{path}:{number}: {half} includes {name}")
    for pattern, (folders, places) in ONE_PLACE.items():
        for path in (p for folder in folders for p in source_files(root, folder)):
            if path in places or path.startswith(folders_of(places)):
                continue
            with open(os.path.join(root, path), encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if match := pattern.search(line):
                        faults.append(
                            f"{path}:{number}: {match.group()} belongs into "
                            f"{' or '.join(places)} alone"
                        )
    return faults


def main():
    root = (
        sys.argv[1]
        if len(sys.argv) > 1
        else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    )
    faults = check(root)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
