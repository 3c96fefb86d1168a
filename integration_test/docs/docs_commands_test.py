# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the documentation run unchanged.

All ```sh blocks of a page run in order, in one folder with the project's files, in a network of
its own with the addresses of the page. The first line of a block that cannot run states the
reason: ```sh not run: REASON. ```ini PATH blocks are files of the machine, ```python NAME blocks
are files of the folder. docs_stand_ins.py has the stand-ins for Slurm and systemd."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import docs_commands
import programs

SOURCE = programs.SOURCE
# online_test.py runs docs/Online.md, whose processes continue from block to block.
PAGES = sorted(
    [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", SOURCE / "bench/README.md"]
    + [page for page in SOURCE.glob("docs/*.md") if page.name != "Online.md"]
    + list(SOURCE.glob("models/**/README.md")))


class DocsCommandsTest(unittest.TestCase):

    def script(self, page, folder):
        """Returns the blocks of the page as one script. It fails with the first failing command,
        in the foreground or in the background."""
        script = ["set -euo pipefail", docs_commands.NETWORK]
        for info, text in docs_commands.blocks(page):
            language, _, rest = info.partition(" ")
            if language == "ini":
                self.assertTrue(rest.startswith("/"), f"{page}: {info}")
                (folder / "root" / rest[1:]).write_text(text)
            elif language == "python" and rest:
                (folder / rest).write_text(text)
            elif language == "sh" and rest.startswith("not run: "):
                continue
            elif language == "sh":
                self.assertEqual(rest, "", f"{page}: {info}")
                # Run each block in a shell of its own, because it may end with `exit`.
                script.append(f"(\n{text}\nfor job in $(jobs -p); do "
                              "wait $job; done\n)\nsystemctl wait-for-all")
            else:
                # builder_guide_test.py runs blocks of Python.
                self.assertIn(language, ("cpp", "diff", "mlir", "python", "text"), f"{page}: {info}")
        return "\n".join(script), len(script) - 2

    def run_page(self, page):
        with tempfile.TemporaryDirectory(prefix="pdldocs") as name:
            folder = pathlib.Path(name)
            environment = docs_commands.prepare(folder)
            script, commands = self.script(page, folder)
            if not commands:
                return
            (folder / "page.sh").write_text(script)
            unshare = ["unshare", "--net"]
            if os.geteuid() != 0:
                unshare.append("--map-root-user")
            done = subprocess.run(
                [*unshare, "bash", "page.sh"], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=600)
            self.assertEqual(
                done.returncode, 0,
                f"{page}:\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")


class RecipesTest(unittest.TestCase):

    def test_recipes_keep_a_model(self):
        """Each command of these pages writes a model that is kept, unless it only measures."""
        found = 0
        for name in ("README.md", "docs/GettingStarted.md", "docs/Deployment.md",
                     "docs/FaultTolerance.md", "docs/GPUs.md", "docs/Modes.md", "docs/Online.md",
                     "docs/Profiling.md", "docs/Replay.md", "docs/Serving.md", "docs/Slurm.md",
                     "docs/Systemd.md"):
            for info, text in docs_commands.blocks(SOURCE / name):
                if info.partition(" ")[0] not in ("sh", "ini"):
                    continue
                for command in text.replace("\\\n", " ").splitlines():
                    if not re.search(r"trainer train|pdl-launch .*-- ", command):
                        continue
                    found += 1
                    with self.subTest(page=name, command=command):
                        self.assertRegex(command, "--(checkpoint|dump|costs) ")
        self.assertGreater(found, 8)

    def test_libraries_of_the_server(self):
        """docs/Serving.md lists the shared libraries that pdl-serve needs."""
        readelf = shutil.which("llvm-readelf-22") or shutil.which("readelf")
        if readelf is None:
            self.skipTest("neither llvm-readelf-22 nor readelf is installed")
        said = programs.run(readelf, "-d", programs.BUILD / "bin" / "pdl-serve").stdout
        needed = set(re.findall(r"Shared library: \[(.*?)\]", said))
        of_libc = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
        page = (SOURCE / "docs" / "Serving.md").read_text()
        table = page.partition("### What it needs on a bare host")[2].partition("### ")[0]
        listed = set(re.findall(r"`(lib[^`]*\.so[^`]*)`", table)) - of_libc
        # Libraries of PDL are opened when they are needed.
        own = {name for name in listed if name.startswith("libpdl-")}
        for name in own:
            self.assertTrue((programs.BUILD / "lib" / "pdl" / name).exists(), name)
        self.assertEqual(listed - own, needed - of_libc)


def add_test(page):
    name = re.sub(r"\W+", "_", str(page.relative_to(SOURCE).with_suffix("")))
    setattr(DocsCommandsTest, f"test_{name}", lambda self: self.run_page(page))


for one in PAGES:
    add_test(one)

if __name__ == "__main__":
    unittest.main()
