# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output of pdl-translate for unusual models: large constants, names that generated code has too,
modules that stop at a phase."""

import array
import os
import pathlib
import re
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import cluster
from folders import FolderTest
from programs import BUILD, PDL_OPT, PDL_TRANSLATE, compile_model, run

import tensorfile

LINEAR = """
module @linear {{
  nn.record @r {{
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
  }}
  nn.group @{group} rule(@sgd) rate(0.1)
  nn.param @{param} : tensor<2x1xf32> in @{group} init(#nn.zeros)
  nn.state @{state} : tensor<1xf32> init(#nn.zeros)
  nn.program @train reads(@r) {{
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>):
    %h = nn.linear %x, @{param} : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %s = nn.read @{state} : tensor<1xf32>
    %c = nn.constant dense<[0.5, 0.25]> : tensor<2xf32>
    %k = nn.slice %c axis 0 offset 1 size 1 : tensor<2xf32>
    %m = nn.mul %s, %k : tensor<1xf32>, tensor<1xf32>
    %z = nn.add %h, %m : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @{group} : tensor<?x1xf32>
  }}
}}
"""

SPLAT = """
module @splat {{
  nn.record @r {{ nn.field @x : tensor<?x4096xf32> }}
  nn.program @predict frozen reads(@r) {{
  ^bb0(%x: tensor<?x4096xf32>):
    %c = nn.constant dense<{value}> : tensor<4096x{width}xf32>
    %y = nn.matmul %x, %c : tensor<?x4096xf32>, tensor<4096x{width}xf32>
    %s = nn.reduce sum %y axes [1] keep : tensor<?x{width}xf32>
    nn.return %s : tensor<?x1xf32>
  }}
}}
"""

PRODUCT = """
module @product {
  nn.record @r { nn.field @x : tensor<?x32xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<32x16xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x32xf32>):
    %y = nn.linear %x, @w : (tensor<?x32xf32>) -> tensor<?x16xf32>
    nn.return %y : tensor<?x16xf32>
  }
}
"""

# Both ids are computed before the first lookup.
TWO_UNIQUES = """
module @two attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @a : tensor<?x1xf32>
    nn.field @b : tensor<?x1xf32>
  }
  nn.table @s : i64 -> tensor<1xf32> init(#nn.uniform<-1.0, 1.0>)
  nn.table @t : i64 -> tensor<1xf32> init(#nn.uniform<-1.0, 1.0>)
  nn.program @predict frozen reads(@r) {
  ^bb0(%a: tensor<?x1xf32>, %b: tensor<?x1xf32>):
    %ia = nn.bucketize %a boundaries [0.0, 1.0, 2.0] : tensor<?x1xf32>
    %fa = nn.reshape %ia : (tensor<?x1xi64>) -> tensor<?xi64>
    %ka, %va, %sa, %oa = nn.unique %fa
    %ib = nn.bucketize %b boundaries [0.0, 1.0, 2.0] : tensor<?x1xf32>
    %fb = nn.reshape %ib : (tensor<?x1xi64>) -> tensor<?xi64>
    %kb, %vb, %sb, %ob = nn.unique %fb
    %ra = nn.pull @s[%ka] : tensor<?x1xf32>
    %rb = nn.pull @t[%kb] : tensor<?x1xf32>
    %pa = nn.pool %ra[%va, %sa, %oa] of (%fa sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %pb = nn.pool %rb[%vb, %sb, %ob] of (%fb sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %pa, %pb : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
"""


class Translate(FolderTest):

    def compile(self, text, *flags, numerics="strict"):
        source = self.root / "model.mlir"
        source.write_text(text)
        return compile_model(source, self.root / "program", f"--numerics={numerics}", *flags)

    def test_names(self):
        """Models may use the names of generated functions and constants."""
        data = self.root / "data.csv"
        data.write_text("1,2,3\n0,1,1\n")
        plain = None
        for names in (("g", "w", "s"), ("train_prepare", "train_compute", "constant0"),
                      ("update_w", "once_g", "once_once_g")):
            trainer = self.compile(LINEAR.format(group=names[0], param=names[1], state=names[2]))
            dump = self.root / "dump"
            said = run(trainer, "train", "--data", data, "--dump", dump, "--batch-size", 1).stderr
            self.assertNotIn("will be saved", said)
            weights = list(tensorfile.read(dump)[names[1]].data)
            plain = plain or weights
            self.assertEqual(weights, plain)
        self.assertIn("without --checkpoint FOLDER or --dump FILE nothing of this training will be "
                      "saved", run(trainer, "train", "--data", data).stderr)
        folder = self.compile(LINEAR.format(group="train_prepare", param="train_compute",
                                            state="trainer"), "--mode=sync").parent
        checkpoints = self.root / "c"
        with cluster.Cluster(folder, 1, 1, ["--data", data, "--batch-size", 1,
                                            "--checkpoint", checkpoints]) as job:
            job.start().finish()

    def test_programs_start_on_older_systems(self):
        """Compiled programs, libraries and pdl-launch use no symbol that is newer than glibc 2.31,
        whose libc.so.6 has versions up to GLIBC_2.30. Linked parts of other libraries, such as the
        C++ library, are checked too."""
        model = LINEAR.format(group="g", param="w", state="s")
        files = [BUILD / "bin" / "pdl-launch"]
        for numerics in ("strict", "fast"):
            folder = self.compile(model, "--mode=sync", numerics=numerics).parent
            files += [self.root / f"{name}-{numerics}" for name in ("trainer", "pserver")]
            for name in ("trainer", "pserver"):
                (folder / name).rename(self.root / f"{name}-{numerics}")
        source, out = self.root / "splat.mlir", self.root / "library"
        source.write_text(SPLAT.format(value="0.5", width=2))
        run(PDL_TRANSLATE, source, "--emit=library", "--numerics=strict", "-o", out)
        files += out.glob("*.so")
        self.assertEqual(len(files), 6)
        for file in files:
            data = file.read_bytes()
            versions = {int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", data)}
            self.assertIn(14, versions)
            self.assertLessEqual(max(versions), 30, file)
            # oneDNN needs a newer glibc. Programs open it if this is possible.
            self.assertNotIn(b"libdnnl", data, file)

    def test_programs_of_numerics_fast_start_without_onednn(self):
        """If a system is too old for oneDNN, there is one warning, and PDL's own kernels are used,
        which give the bits of strict numerics."""
        data = self.root / "x.safetensors"
        tensorfile.write(data, {"x": tensorfile.Tensor(
            "F32", [64, 32], array.array("f", [i % 7 / 8 for i in range(64 * 32)]))})
        init = self.root / "init"
        tensorfile.write(init, {"w": tensorfile.Tensor(
            "F32", [32, 16], array.array("f", [i % 11 / 16 - 0.3 for i in range(32 * 16)]))})
        outputs = {}
        for numerics in ("strict", "fast"):
            trainer = self.compile(PRODUCT, numerics=numerics)
            if numerics == "fast":
                onednn = trainer.parent / "libpdl-onednn.so.1"
                if not onednn.exists():
                    self.skipTest("PDL was built without oneDNN")
                done = run(trainer, "predict", "--data", data, "--init-from", init)
                self.assertNotIn("warning", done.stderr)
                (trainer.parent / "libdnnl.so.2").write_bytes(b"of another system")
            done = run(trainer, "predict", "--data", data, "--init-from", init)
            outputs[numerics] = done.stdout
            self.assertEqual(done.stderr.count("numerics fast cannot use oneDNN"),
                             numerics == "fast", done.stderr)
        self.assertEqual(outputs["fast"], outputs["strict"])

    def test_folders_follow_the_umask(self):
        """A service that runs as another user can run the programs."""
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        out = self.root / "some" / "folder"
        source = self.root / "model.mlir"
        source.write_text(LINEAR.format(group="g", param="w", state="s"))
        run(PDL_TRANSLATE, source, "-o", out)
        for folder in (out.parent, out, out / "licenses"):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o755, folder)
        self.assertEqual(stat.S_IMODE((out / "trainer").stat().st_mode), 0o755)

    def test_other_files_are_no_models(self):
        for name, content, said in (
                ("m.onnx", b"\x08\x07\x12\x07pytorch", "m.onnx is no model in the text of MLIR"),
                ("m.bin", b"\0\1\2", "m.bin is no model in the text of MLIR"),
                ("m.py", b"import pdl\n", "m.py is a Python program")):
            path = self.root / name
            path.write_bytes(content)
            done = subprocess.run([PDL_TRANSLATE, path, "-o", self.root / "out"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_splats(self):
        """A constant with one repeated number needs no memory in a program, whatever its size."""
        small = self.compile(SPLAT.format(value=0.5, width=1)).stat().st_size
        trainer = self.compile(SPLAT.format(value=0.5, width=4096))
        self.assertLess(trainer.stat().st_size, small + 100000)
        data = self.root / "x.safetensors"
        tensorfile.write(data, {"x": tensorfile.Tensor(
            "F32", [2, 4096], array.array("f", [1.0] * 4096 + [2.0] * 4096))})
        init = self.root / "init"
        tensorfile.write(init, {})
        out = run(trainer, "predict", "--data", data, "--init-from", init).stdout.splitlines()
        self.assertEqual([float(line) for line in out[1:]], [4096 * 2048.0, 4096 * 4096.0])

    def test_constants_too_large(self):
        source = self.root / "model.mlir"
        source.write_text(SPLAT.format(value=0.5, width=2 ** 26))
        done = subprocess.run([PDL_TRANSLATE, source, "-o", self.root / "p"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("of more than 16777216 elements; a tensor of this size is an nn.state",
                      done.stderr)

    def test_ids_that_wait_for_their_pull(self):
        source = self.root / "model.mlir"
        source.write_text(TWO_UNIQUES)
        lowered = self.root / "lowered.mlir"
        run(PDL_OPT, source, "--pdl-pipeline=from=merged to=llvm numerics=strict", "-o", lowered)
        trainer = compile_model(lowered, self.root / "program", "--numerics=strict")
        data = self.root / "x.safetensors"
        tensorfile.write(data, {
            "a": tensorfile.Tensor("F32", [4, 1], array.array("f", [-1, 0.5, 1.5, 2.5])),
            "b": tensorfile.Tensor("F32", [4, 1], array.array("f", [2.5, 1.5, 0.5, -1]))})
        init = self.root / "init"
        rows = {}
        for name, first in (("s", 1), ("t", 10)):
            rows[f"{name}.keys"] = tensorfile.Tensor("I64", [4], array.array("q", range(4)))
            rows[f"{name}.values"] = tensorfile.Tensor(
                "F32", [4, 1], array.array("f", (first * (k + 1) for k in range(4))))
        tensorfile.write(init, rows)
        out = run(trainer, "predict", "--data", data, "--init-from", init).stdout
        lines = self.root / "lines"
        run(PDL_OPT, source, "-o", "/dev/null",
            f"--nn-interpret=program=predict data={data} init={init} "
            f"outputs={lines}")
        self.assertEqual(out, lines.read_text())


if __name__ == "__main__":
    unittest.main()
