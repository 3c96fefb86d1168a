# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cmake/compile_cached.sh: the compiler cache returns no object that was compiled with another
header."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import FolderTest
from programs import SOURCE

COMPILER = shutil.which("clang++-22")
CCACHE = shutil.which("ccache")


@unittest.skipUnless(COMPILER and CCACHE, "needs clang++-22 and ccache")
class CompileCached(FolderTest):

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "CCACHE_DIR": str(self.root / "cache")}
        self.environment.pop("CCACHE_DISABLE", None)

    def folder(self, name, number):
        """Returns a clone whose precompiled header returns `number`."""
        folder = self.root / name
        folder.mkdir()
        (folder / "cmake_pch.hxx").write_text("#pragma clang system_header\n#include \"own.h\"\n")
        (folder / "cmake_pch.hxx.cxx").write_text("")
        (folder / "main.cpp").write_text("int main() { return number(); }\n")
        self.change(folder, number)
        return folder

    def change(self, folder, number):
        (folder / "own.h").write_text(
            f"#ifndef OWN_H\n#define OWN_H\ninline int number() {{ return {number}; }}\n#endif\n")

    def compile(self, folder, *arguments, ccache=CCACHE):
        done = subprocess.run(
            [SOURCE / "cmake" / "compile_cached.sh", folder, ccache, COMPILER, "-O1", "-Xclang",
             "-fno-pch-timestamp", *arguments], cwd=folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def compile_header(self, folder, ccache=CCACHE):
        self.compile(folder, "-x", "c++-header", "-MD", "-MT", "cmake_pch.hxx.pch", "-MF",
                     "cmake_pch.hxx.pch.d", "-Xclang", "-emit-pch", "-Xclang", "-include",
                     "-Xclang", folder / "cmake_pch.hxx", "-o", "cmake_pch.hxx.pch", "-c",
                     folder / "cmake_pch.hxx.cxx", ccache=ccache)

    def result(self, folder):
        """Compiles a program with the header. Returns the exit status of the program."""
        self.compile(folder, "-Xclang", "-include-pch", "-Xclang", folder / "cmake_pch.hxx.pch",
                     "-Xclang", "-include", "-Xclang", folder / "cmake_pch.hxx", "-o", "main.o",
                     "-c", folder / "main.cpp")
        subprocess.run([COMPILER, "main.o", "-o", "main"], cwd=folder, check=True)
        return subprocess.run([folder / "main"]).returncode

    def hits(self):
        out = subprocess.run([CCACHE, "--print-stats"], env=self.environment, text=True,
                             stdout=subprocess.PIPE, check=True).stdout
        counts = dict(line.split() for line in out.splitlines())
        return int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])

    def test_changed_header(self):
        for name in ("plain", "with a space"):
            folder = self.folder(name, 1)
            for number in (1, 2):
                self.change(folder, number)
                self.compile_header(folder)
                self.assertEqual(self.result(folder), number, name)

    def test_header_that_changes_while_it_is_compiled(self):
        """If a header changes during compilation, its digest would not be that of the compiled
        bytes."""
        folder = self.folder("clone", 1)
        late = self.root / "late"
        late.write_text(f"#!/bin/sh\n{CCACHE} \"$@\" && sed -i s/1/2/ {folder}/own.h\n")
        late.chmod(0o755)
        self.compile_header(folder, ccache=late)
        self.assertEqual(self.result(folder), 1)
        self.compile_header(folder)
        self.assertEqual(self.result(folder), 2)

    def test_other_clone(self):
        for name in ("first", "second"):
            folder = self.folder(name, 3)
            self.compile_header(folder)
            before = self.hits()
            self.assertEqual(self.result(folder), 3)
            self.assertEqual(self.hits() - before, name == "second")


if __name__ == "__main__":
    unittest.main()
