# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--object-cache of pdl-translate. Programs are equal without a cache, with an empty cache and
with a full cache, whatever happened to its files. After a change of a layer, few parts are
compiled."""

import os
import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import FolderTest
from programs import PDL_TRANSLATE, model, run


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes()
            for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


class ObjectCache(FolderTest):

    def setUp(self):
        super().setUp()
        self.cache = self.root / "cache"
        self.outputs = 0

    def command(self, source, *flags, cached=True):
        self.outputs += 1
        self.output = self.root / f"out{self.outputs}"
        cache = ("--object-cache", self.cache, "--object-cache-report") if cached else ()
        return [str(word) for word in (PDL_TRANSLATE, source, "-o", self.output, *cache, *flags)]

    def compile(self, source, *flags, cached=True):
        """Compiles, and returns the output files. Sets `found`, `made` and `damaged` from the
        report."""
        done = run(*self.command(source, *flags, cached=cached))
        if cached:
            numbers = re.search(
                r"^object cache: (\d+) parts found, (\d+) compiled"
                r"(?:, for (\d+) files were damaged)?\n", done.stderr, re.MULTILINE)
            self.assertTrue(numbers, done.stderr)
            self.found, self.made, self.damaged = (int(n or 0) for n in numbers.groups())
        return files_of(self.output)

    def entries(self):
        return sorted(self.cache.glob("llvmcache-" + "[0-9a-f]" * 64))

    def changed(self, name, text, other, count):
        """Writes a copy of the model `name` in which `text` is replaced by `other`."""
        source = model(name).read_text()
        self.assertEqual(source.count(text), count, text)
        path = self.root / f"{name}.mlir"
        path.write_text(source.replace(text, other))
        return path

    def test_bytes_are_the_same(self):
        for flags in ((), ("--mode=sync", "--numerics=strict"), ("--emit=obj",),
                      ("--emit=llvm",), ("--target-cpu=x86-64-v4", "--jobs=1"), ("--target=cuda",)):
            with self.subTest(flags=flags):
                self.cache = self.root / f"cache of {' '.join(flags)}"
                off = self.compile(model("deepfm"), *flags, cached=False)
                cold = self.compile(model("deepfm"), *flags)
                self.assertEqual(self.found, 0)
                parts = self.made
                warm = self.compile(model("deepfm"), *flags)
                self.assertEqual((self.found, self.made), (parts, 0))
                self.assertEqual(off.keys(), cold.keys())
                self.assertTrue(off == cold == warm)
                self.assertFalse(list(self.cache.glob("*.partial")))

    def test_the_environment_names_a_folder(self):
        """PDL_OBJECT_CACHE is the default of --object-cache. An empty value means no cache."""
        good = self.compile(model("fm"), cached=False)
        for folder, more in (("", 0), (str(self.cache), 5), (str(self.cache), 5)):
            command = self.command(model("fm"), cached=False)
            done = run(*command, env={**os.environ, "PDL_OBJECT_CACHE": folder})
            self.assertEqual(done.stderr, "")
            self.assertEqual(files_of(self.output), good)
            self.assertGreaterEqual(len(self.entries()), more)
            self.assertEqual(bool(self.entries()), bool(folder))
        made = self.entries()
        # The flag takes precedence.
        with unittest.mock.patch.dict(os.environ, PDL_OBJECT_CACHE=str(self.root / "other")):
            self.compile(model("fm"))
        self.assertGreaterEqual(self.found, 5)
        self.assertFalse((self.root / "other").exists())
        self.assertEqual(self.entries(), made)

    def test_damaged_files_are_made_anew(self):
        good = self.compile(model("fm"))
        entries = self.entries()
        self.assertEqual(len(entries), self.made)
        self.assertGreaterEqual(len(entries), 5)
        whole = {entry: entry.read_bytes() for entry in entries}
        bytes_of_last = bytearray(whole[entries[1]])
        bytes_of_last[-1] ^= 1
        entries[0].write_bytes(b"")
        entries[1].write_bytes(bytes_of_last)
        entries[2].write_bytes(whole[entries[2]][:-7])
        # Replace an entry by the complete entry of another part.
        entries[3].write_bytes(whole[entries[4]])
        self.assertEqual(self.compile(model("fm")), good)
        self.assertEqual((self.found, self.made, self.damaged), (len(entries) - 4, 4, 4))
        self.assertEqual({entry: entry.read_bytes() for entry in self.entries()}, whole)

    def test_a_folder_that_cannot_be_written(self):
        (self.root / "file").write_text("")
        for cache in (self.root / "file", self.root / "file" / "cache", "/proc/cache"):
            self.cache = cache
            command = self.command(model("fm"))
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"^.*error: cannot write to the object cache .*; name "
                                          r"another folder, or leave --object-cache out\n$")
            self.assertFalse(self.output.exists())

    def test_two_compilers_at_once(self):
        good = self.compile(model("dlrm"), cached=False)
        running = []
        for _ in range(3):
            command = self.command(model("dlrm"))
            running.append((self.output, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
        for output, process in running:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
            self.assertNotIn("damaged", errors)
            self.assertEqual(files_of(output), good)
        self.assertEqual(self.compile(model("dlrm")), good)
        self.assertEqual((self.made, self.damaged), (0, 0))

    def test_a_changed_layer(self):
        """The kernels of the layer and the stages that use it are compiled; all other parts are
        found."""
        self.compile(model("sasrec"))
        parts = self.made
        self.assertGreaterEqual(parts, 15)
        path = self.changed("sasrec", "act(relu)", "act(tanh)", 1)
        warm = self.compile(path)
        self.assertLessEqual(self.made, parts // 3)
        self.assertEqual(warm, self.compile(path, cached=False))

    def test_other_targets_and_outputs_are_apart(self):
        self.compile(model("fm"), "--emit=obj")
        for flags in (("--emit=obj", "--target-cpu=x86-64-v4"), ("--emit=llvm",)):
            self.compile(model("fm"), *flags)
            self.assertEqual(self.found, 0, flags)
        for flags in (("--emit=ptx",), ("--emit=ptx", "--gpu-arch=sm_90")):
            self.compile(model("fm"), *flags)
            self.assertEqual((self.found, self.made), (0, 1), flags)

    def test_options_of_llvm(self):
        """LLVM's options may be in a file that changes, so there is no cache if they are given."""
        options = self.root / "options"
        made = []
        for width in (4, 16):
            options.write_text(f"--force-vector-width={width}")
            command = self.command(model("fm"), "--emit=obj", f"@{options}")
            done = run(*command)
            self.assertIn("warning: the object cache is not used, because there are options of "
                          "LLVM itself\n", done.stderr)
            made.append(files_of(self.output))
        self.assertFalse(made[0] == made[1])
        self.assertFalse(self.cache.exists())
        self.compile(model("fm"), "--mlir-timing")

    def test_a_file_that_cannot_be_kept(self):
        good = self.compile(model("fm"))
        entry = self.entries()[0]
        entry.unlink()
        (entry / "inside").mkdir(parents=True)
        # Reading either file would never end.
        for other, make in zip(self.entries()[1:3], (os.mkfifo, lambda path:
                                                     path.symlink_to("/dev/zero"))):
            other.unlink()
            make(other)
        done = run(*self.command(model("fm")), timeout=120)
        self.assertRegex(done.stderr, "warning: cannot write to the object cache .*directory")
        self.assertEqual(files_of(self.output), good)

    def test_the_folder_is_bounded(self):
        self.compile(model("fm"))
        before = len(self.entries())
        (self.cache / "mine").write_text("stays")
        self.compile(model("dlrm"),
                     "--object-cache-policy=prune_interval=0s:cache_size_files=4")
        self.assertGreater(before, 4)
        self.assertLessEqual(len(self.entries()), 4)
        self.assertTrue((self.cache / "mine").exists())


if __name__ == "__main__":
    unittest.main()
