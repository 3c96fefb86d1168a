# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel of this build works in an empty virtual environment, and tools need only the C library
of Debian 12. At night, the tarball and the Debian packages work in a minimal Debian 12."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import BUILD, SOURCE, run

# glibc of Debian 12, which the wheel's tag names.
NEWEST_LIBC = 36
C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}

MODEL = """
import pdlrec as pdl

model = pdl.Model("tiny")
sample = model.record("sample")
sample.floats("x", 2)
sample.floats("label", 1)
weights = model.group("weights", rule="adam", rate=1.0e-2)

@model.program
def train(x, label):
    logit = pdl.layers.mlp(x, [4, 1], "deep", group=weights)
    pdl.minimize(pdl.sigmoid_cross_entropy(logit, label), [weights])

print(pdl.compile(model, "tiny"))
"""


class Packages(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # No compiler, no linker and no tool of PDL.
        cls.environment = {"PATH": str(cls.folder / "venv" / "bin"), "HOME": str(cls.folder)}
        run(sys.executable, SOURCE / "scripts" / "build_packages.py", "--build", BUILD, "--output",
            cls.folder, "--level", "1", "wheel")
        [cls.wheel] = cls.folder.glob("*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", cls.folder / "venv")
        cls.python = cls.folder / "venv" / "bin" / "python3"
        run(sys.executable, "-m", "pip", "--python", cls.python, "install", "--no-index",
            "--no-deps", "--no-compile", "--disable-pip-version-check", cls.wheel)
        [cls.installed] = cls.folder.glob("venv/lib/python3*/site-packages/pdlrec/installed_files")

    def run_there(self, *command):
        return run(*command, env=self.environment, cwd=self.folder)

    def test_quickstart_trains(self):
        said = self.run_there(self.python, "-m", "pdlrec.quickstart").stdout
        auc = float(re.findall(r"test AUC (0\.\d+)", said)[-1])
        self.assertAlmostEqual(auc, 0.923, delta=0.004)

    def test_a_python_model_compiles(self):
        said = self.run_there(self.python, "-c", MODEL).stdout
        self.assertEqual(said.strip(), "tiny")
        self.assertTrue((self.folder / "tiny" / "trainer").exists())

    def test_commands_run_the_tools(self):
        names = sorted(path.name for path in (BUILD / "bin").glob("pdl-*")
                       if (self.installed / "bin" / path.name).exists())
        self.assertLessEqual({"pdl-checkpoint", "pdl-data", "pdl-launch", "pdl-opt",
                              "pdl-translate"}, set(names))
        for name in [*names, "pdl-check-serving", "pdl-top"]:
            with self.subTest(name):
                said = self.run_there(self.folder / "venv" / "bin" / name, "--version").stdout
                self.assertRegex(said, rf"^{name} \d+\.\d+\.\d+ \(commit \w+, ABI \d+")

    def test_the_import_name_is_not_that_of_another_project(self):
        packages = {path.name for path in self.installed.parents[1].iterdir()}
        self.assertIn("pdlrec", packages)
        self.assertNotIn("pdl", packages)

    def test_tools_need_only_the_c_library_of_debian_12(self):
        carried = {path.name for path in (self.installed / "lib" / "pdl").iterdir()}
        for tool in sorted((self.installed / "bin").iterdir()):
            with self.subTest(tool.name):
                dynamic = run("readelf", "--dynamic", "--version-info", "--wide", tool).stdout
                needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
                self.assertTrue(needed, dynamic)
                self.assertLessEqual(needed - C_LIBRARY, carried)
                if needed - C_LIBRARY:
                    self.assertIn("[$ORIGIN/../lib/pdl]", dynamic)
                newest = max(map(int, re.findall(r"GLIBC_2\.(\d+)", dynamic)))
                self.assertLessEqual(newest, NEWEST_LIBC)


# Runs a command in a root, with the files in /proc that programs find themselves by.
IN_ROOT = 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i "$@"'
QUICKSTART = """
set -eu
share=$(dirname $(dirname $(command -v pdl-translate)))/share/pdl
pdl-translate $share/models/wide_deep/wide_deep.mlir -o /root/out
/root/out/trainer train --data $share/data/adult/adult_train.csv.gz --rows 0%:80% \\
    --evaluate-rows 80%: --batch-size 256 --epochs 4 --shuffle-window 100000 --dump /root/out/saved
for tool in pdl-checkpoint pdl-data pdl-launch pdl-opt pdl-serve; do $tool --version; done
"""


def can_make_roots():
    return (os.environ.get("PDL_TEST_NIGHTLY") and os.geteuid() == 0 and
            shutil.which("debootstrap") and shutil.which("unshare"))


@unittest.skipUnless(can_make_roots(), "runs at night, as root, with debootstrap")
class BareRoot(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.root = cls.folder / "root"
        run(SOURCE / "scripts" / "build_packages.py", "--build", BUILD, "--output", cls.folder,
            "--level", "1", "tarball", "deb")
        run("debootstrap", "--variant=minbase", "bookworm", cls.root,
            "http://deb.debian.org/debian")

    def run_there(self, *command, path="/usr/bin:/bin:/usr/sbin:/sbin"):
        return run("unshare", "--mount", "sh", "-c", IN_ROOT, self.root, f"PATH={path}",
                   "HOME=/root", "DEBIAN_FRONTEND=noninteractive", *command)

    def check_quickstart(self, path):
        said = self.run_there("sh", "-c", QUICKSTART, path=path).stdout
        auc = float(re.findall(r"test AUC (0\.\d+)", said)[-1])
        self.assertAlmostEqual(auc, 0.923, delta=0.004)
        self.assertEqual(len(re.findall(r"\(commit \w+, ABI", said)), 5, said)

    def test_tarball(self):
        for name in "opt", "moved":
            with self.subTest(name):
                into = self.root / name
                into.mkdir(exist_ok=True)
                [tarball] = self.folder.glob("*.tar.xz")
                run("tar", "-xf", tarball, "--directory", into)
                [top] = into.iterdir()
                self.check_quickstart(f"/{name}/{top.name}/bin:/usr/bin:/bin")
                shutil.rmtree(into)

    def test_debian_packages(self):
        packages = sorted(self.folder.glob("*.deb"))
        self.assertEqual([path.name.partition("_")[0] for path in packages],
                         ["pdl-compiler", "pdl-runtime-dev", "pdl-tools", "python3-pdl"])
        for package in packages:
            shutil.copy(package, self.root / "root")
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        self.run_there("apt-get", "update", "-qq")
        self.run_there("apt-get", "install", "-y", "-qq", "--no-install-recommends",
                       *(f"/root/{package.name}" for package in packages))
        self.check_quickstart("/usr/bin:/bin")
        said = self.run_there("python3", "-m", "pdlrec.quickstart", "/root/first").stdout
        self.assertIn("test AUC", said)


if __name__ == "__main__":
    unittest.main()
