# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the documentation, run as they stand there.

All ```sh blocks of a page run in order, in one folder that has the project's
files in it, in a network of its own with the addresses that the pages name. A
block that cannot run says why in its first line: ```sh not run: REASON.
```ini PATH blocks are files of the machine. docs_stand_ins.py has what is
taken for Slurm and systemd.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

import made_up_clicks
import programs

SOURCE = programs.SOURCE
# online_test.py runs docs/Online.md, whose processes go on from block to block.
PAGES = sorted(
    [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", SOURCE / "bench/README.md"]
    + [page for page in SOURCE.glob("docs/*.md") if page.name != "Online.md"]
    + list(SOURCE.glob("models/**/README.md")))
NODES = [f"10.0.0.{node}" for node in range(1, 5)]

# Run inside of a network namespace: nothing leaves this machine.
NETWORK = "ip link set lo up && " + " && ".join(
    f"ip address add {node}/32 dev lo" for node in NODES)


def blocks(page):
    """The (info string, text) of each fenced block; fails on code that is only
    indented, which nobody would run here."""
    fence, text, found = None, [], []
    lines = page.read_text().split("\n")
    for number, line in enumerate(lines):
        if fence is None and line.startswith("```"):
            fence, text = line[3:].strip(), []
        elif line.startswith("```"):
            found.append((fence, "\n".join(text) + "\n"))
            fence = None
        elif fence is not None:
            text.append(line)
        elif line.startswith("    ") and number and not lines[number - 1]:
            raise AssertionError(f"{page}:{number + 1}: code without a fence")
    assert fence is None, f"{page}: a fence does not end"
    return found


def write_clicks(folder):
    """What the pages call clicks/day*.tsv and criteo.tsv.gz: made up."""
    draw = random.Random(1)
    (folder / "clicks").mkdir()
    for day in range(4):
        made_up_clicks.write_clicks(folder / "clicks" / f"day{day}.tsv", 1500, draw)
    made_up_clicks.write_clicks(folder / "criteo.tsv.gz", 2000, draw)


class DocsCommandsTest(unittest.TestCase):

    def prepare(self, folder):
        """A checkout to run in, and the machine that pages talk about."""
        for name in ("models", "data", "scripts", "docs", "bench", "python", "examples"):
            (folder / name).symlink_to(SOURCE / name)
        (folder / "build").symlink_to(programs.BUILD)
        tools = folder / "stand-ins"
        tools.mkdir()
        for name in ("srun", "scontrol", "systemctl"):
            (tools / name).symlink_to(
                SOURCE / "integration_test" / "docs_stand_ins.py")
        root = folder / "root"
        for name in ("etc/pdl", "etc/systemd/system", "opt/pdl", "data"):
            (root / name).mkdir(parents=True)
        (root / "opt/pdl/out").symlink_to(folder / "out")
        (root / "data/clicks.tsv").symlink_to(folder / "clicks/day0.tsv")
        (root / "etc/pdl/token").write_text("a secret of this test\n")
        (root / "etc/pdl/token").chmod(0o600)
        write_clicks(folder)
        return {
            **os.environ,
            "PATH": os.pathsep.join([str(tools), str(programs.BUILD / "bin"),
                                     os.environ["PATH"], "/usr/sbin"]),
            "PDL_DOCS_ROOT": str(root),
            "SLURM_JOB_NODELIST": ",".join(NODES),
            "SLURM_JOB_ID": "17",
        }

    def script(self, page, folder):
        """The page's blocks as one script. It fails with the first command that
        does, in the foreground or behind it."""
        script = ["set -euo pipefail", NETWORK]
        for info, text in blocks(page):
            language, _, rest = info.partition(" ")
            if language == "ini":
                self.assertTrue(rest.startswith("/"), f"{page}: {info}")
                (folder / "root" / rest[1:]).write_text(text)
            elif language == "sh" and rest.startswith("not run: "):
                continue
            elif language == "sh":
                self.assertEqual(rest, "", f"{page}: {info}")
                # In a shell of its own: a block may end with `exit`.
                script.append(f"(\n{text}\nfor job in $(jobs -p); do "
                              "wait $job; done\n)\nsystemctl wait-for-all")
            else:
                # builder_guide_test.py runs the Python.
                self.assertIn(language, ("cpp", "diff", "mlir", "python", "text"), f"{page}: {info}")
        return "\n".join(script), len(script) - 2

    def run_page(self, page):
        with tempfile.TemporaryDirectory(prefix="pdldocs") as name:
            folder = pathlib.Path(name)
            environment = self.prepare(folder)
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
        """Whoever copies a command of these pages has a model afterwards, unless it measures."""
        found = 0
        for name in ("README.md", "docs/Deployment.md", "docs/Modes.md", "docs/Online.md",
                     "docs/Serving.md"):
            for info, text in blocks(SOURCE / name):
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
        self.assertEqual(set(re.findall(r"`(lib[^`]*\.so[^`]*)`", table)) - of_libc,
                         needed - of_libc)


def add_test(page):
    name = re.sub(r"\W+", "_", str(page.relative_to(SOURCE).with_suffix("")))
    setattr(DocsCommandsTest, f"test_{name}", lambda self: self.run_page(page))


for one in PAGES:
    add_test(one)

if __name__ == "__main__":
    unittest.main()
