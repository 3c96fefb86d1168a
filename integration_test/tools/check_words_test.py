# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check_words.py finds each kind of fault, and nothing in plain text."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from folders import FolderTest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_words.py"
LONG = "The server " + "and the trainer " * 12 + "wait."


class CheckWordsTest(FolderTest):

    def check(self, path, text, *flags):
        """Returns the findings for one file, without its name."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        done = subprocess.run([sys.executable, CHECK, self.root, *flags], capture_output=True,
                              text=True, timeout=60)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if lines else 0, done.stderr)
        return [line.partition(":")[2] for line in lines]

    def test_plain_text_passes(self):
        self.assertEqual(self.check("docs/A.md", "# Title\n\nThe server sums gradients.\n"), [])
        self.assertEqual(self.check("lib/A.cpp", '/// Returns the sum.\nint a; // "x y"\n'), [])

    def test_page(self):
        self.assertEqual(
            self.check("docs/A.md", "# A\n\nIt is done behind the step.\n"),
            ["3: word: 'behind': after; if it means a place, name the place"])

    def test_code_of_a_page_is_left_out(self):
        self.assertEqual(self.check("docs/A.md", "Run `behind` now.\n\n```sh\nbehind\n```\n"), [])

    def test_long_sentence(self):
        found = self.check("docs/A.md", LONG + "\n")
        self.assertEqual(len(found), 1)
        self.assertRegex(found[0], "^1: long: 'The server and the trainer and ...': 39 words")

    def test_opening_of_a_doc_comment(self):
        self.assertEqual(
            self.check("lib/A.h", "/// Whether it waits.\nbool waits;\n"),
            ["1: opening: 'Whether': open with a verb or a noun phrase"])
        self.assertEqual(self.check("lib/A.h", "// How it waits.\nbool waits;\n"), [])

    def test_python(self):
        for text in ('"""It is behind."""\n', "# It is behind.\n",
                     'def f():\n    """Returns what is behind."""\n'):
            self.assertEqual(len(self.check("bench/a.py", text)), 1, text)
        self.assertEqual(self.check("bench/a.py", 'def f():\n    """How it waits."""\n'),
                         ["2: opening: 'How': open with a verb or a noun phrase"])
        for text in ('a = "behind"  # behind\n', 'def test_f():\n    """With one server."""\n',
                     "#!/usr/bin/behind\n"):
            self.assertEqual(self.check("bench/a.py", text), [], text)

    def test_comments_of_mlir_and_lit_tests(self):
        self.assertEqual(
            self.check("test/a.mlir", "// CHECK: behind\n// It is behind.\n"),
            ["2: word: 'behind': after; if it means a place, name the place"])
        self.assertEqual(self.check("test/a.mlir", "// RUN: behind\nbehind\n"), [])
        self.assertEqual(len(self.check("test/a.test", "# RUN: a\n# It is behind.\n")), 1)

    def test_spelling(self):
        for word in ("behaviour", "optimised", "neighbours", "normalisation"):
            self.assertEqual(len(self.check("lib/A.cpp", f"// The {word}.\n")), 1, word)
        for word in ("behavior", "otherwise", "precise", "raised", "exercise", "promised"):
            self.assertEqual(self.check("lib/A.cpp", f"// The {word}.\n"), [], word)

    def test_spelling_of_names(self):
        """Spelling in code, in IR, in examples of pages and in names of files."""
        for path, text in (("lib/A.cpp", "StandardiseOp op;\n"), ("lib/A.cpp", "int isNormalised;\n"),
                           ("python/pdl/a.py", "def l2_normalise(x):\n"),
                           ("python/pdl/a.py", "# Normalised.\n"),
                           ("models/a.mlir", "%1 = nn.standardise %0\n"),
                           ("docs/A.md", "```mlir\n%1 = nn.standardise %0\n```\n"),
                           ("include/A.td", 'def NN_A : NN_PureOp<"l2_normalise">;\n'),
                           ("CMakeLists.txt", "set(SERIALISED 1)\n"),
                           ("lib/Normalisation.cpp", "int a;\n")):
            self.assertEqual(len(self.check(path, text)), 1, (path, text))
            (self.root / path).unlink()
        for text in ("set_intra_op_parallelism_threads(1);", "markAllAnalysesPreserved();",
                     "TEST(A, NormalIsBoxMuller) {}", "int elementwise, noiseOf, raised;"):
            self.assertEqual(self.check("lib/A.cpp", text + "\n"), [], text)
        self.assertEqual(len(self.check("lib/A.cpp", "// The normalised x.\n")), 1)

    def test_message(self):
        self.assertEqual(
            self.check("tools/A.cpp", 'print("nobody is here");\n'),
            ["1: word: 'nobody': no process, no user"])

    def test_description_of_an_op(self):
        self.assertEqual(
            self.check("include/A.td", 'let description = [{\n  Adds.\n\n  Beside it.\n}];\n'),
            ["4: word: 'Beside': next to; concurrently with; in addition to"])

    def test_exception_needs_a_reason(self):
        allowed = self.root / "scripts" / "words_allowed.txt"
        allowed.parent.mkdir()
        allowed.write_text("lib/A.cpp: word: behind  # the name of a field\n")
        self.assertEqual(self.check("lib/A.cpp", "// The field behind.\n"), [])
        allowed.write_text("lib/A.cpp: word: behind\n")
        done = subprocess.run([sys.executable, CHECK, self.root], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not 'FILE: RULE: WORD  # REASON'", done.stderr)

    def test_pending_files(self):
        """The prose of a pending file is not checked. If it has no findings, the file must be
        removed from the list. Its names are checked."""
        pending = self.root / "scripts" / "words_pending.txt"
        pending.parent.mkdir()
        pending.write_text("# Why.\nlib/A.cpp\n")
        self.assertEqual(self.check("lib/A.cpp", "// It is behind.\n"), [])
        self.assertEqual(len(self.check("lib/A.cpp", "// It is behind.\n", "--all")), 1)
        self.assertEqual(len(self.check("lib/A.cpp", "// It is behind.\nint colour;\n")), 1)
        self.assertIn("'lib/A.cpp' passes", self.check("lib/A.cpp", "// It is after.\n")[0])
        self.assertEqual(self.check("lib/A.cpp", "// It is after.\n", "--update"), [])
        self.assertEqual(pending.read_text(), "# Why.\n")


if __name__ == "__main__":
    unittest.main()
