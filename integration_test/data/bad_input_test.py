# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For each kind of bad input, the program ends with a message that names the place and a remedy,
and with a nonzero status. No existing file is lost."""

import gzip
import json
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import PDL_OPT, PDL_TRANSLATE, compile_model, run

MODEL = """
module @tiny {{
  nn.record @r {{
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>{x_options}
    nn.field @c : {c_type}{c_options}
  }}
  nn.group @g rule({rule}) rate(0.1){group_options}
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<2x1xf32> in @g init(#nn.xavier)
  nn.program @train reads(@r) {{
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>, %c: {c_type}):
    %e = nn.lookup @t[%c] pool(sum) : ({c_type}) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %h = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %z = nn.add %f, %h : tensor<?x1xf32>, tensor<?x1xf32>
    {loss}
    nn.minimize %l over {groups} : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r except @label) {{
  ^bb0(%x: tensor<?x2xf32>, %c: {c_type}):
    %h = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %h : tensor<?x1xf32>
  }}
}}
"""


def text(**changes):
    parts = {
        "x_options": "", "c_type": "tensor<?x1xi64>", "c_options": "",
        "rule": "@sgd", "group_options": "", "groups": "@g",
        "loss": "%l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>",
    }
    parts.update(changes)
    return MODEL.format(**parts)


class BadInput(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "tiny.mlir").write_text(text())
        cls.trainer = compile_model(cls.root / "tiny.mlir", cls.root / "tiny",
                                    "--numerics=strict")
        (cls.root / "good.csv").write_text("1,0.5,1.5,7\n0,1.0,2.0,8\n")

    def rejects(self, command, *expected, errors=1):
        """Runs `command`, which must fail and print all of `expected`, in at most `errors`
        messages."""
        done = subprocess.run([str(a) for a in command], capture_output=True,
                              text=True, timeout=120)
        self.assertGreater(done.returncode, 0,
                           f"{command} exited with {done.returncode}")
        for message in expected:
            self.assertIn(message, done.stderr)
        for crash in ("PLEASE submit a bug report", "Stack dump",
                      "LLVM ERROR", "terminate called"):
            self.assertNotIn(crash, done.stderr)
        self.assertLessEqual(done.stderr.count("error:"), errors, done.stderr)
        return done

    # --- models ------------------------------------------------------------

    def rejects_model(self, source, *expected, errors=1):
        file = self.root / "bad.mlir"
        file.write_text(source)
        out = self.root / "bad"
        self.rejects([PDL_TRANSLATE, file, "-o", out], *expected, errors=errors)
        # Not even an empty folder is left.
        self.assertFalse(out.exists())

    def test_syntax(self):
        self.rejects_model("module { nn.record }", "bad.mlir:1:")

    def test_missing_file(self):
        self.rejects([PDL_TRANSLATE, self.root / "nobody.mlir", "-o",
                      self.root / "bad"], "nobody.mlir")

    def test_no_program(self):
        self.rejects_model("module { nn.metric @m : #nn.copc }", "nn.program")

    def test_unknown_rule(self):
        self.rejects_model(text(rule="@adamm"), "bad.mlir:", "@adamm")

    def test_unknown_hyper_parameter(self):
        self.rejects_model(text(rule="@adam {beta3 = 0.9}",
                                group_options=" untouched(lazy)"),
                           "bad.mlir:", "beta3")

    def test_rule_needs_untouched(self):
        self.rejects_model(text(rule="@adam"), "bad.mlir:", "untouched")

    def test_unknown_group(self):
        self.rejects_model(text(groups="@nobody"), "bad.mlir:", "@nobody")

    def test_shape(self):
        self.rejects_model(text(loss="%l = nn.add %z, %x : tensor<?x1xf32>, "
                                     "tensor<?x3xf32>"),
                           "bad.mlir:")

    def test_loss_that_mixes_samples(self):
        self.rejects_model(
            text(loss="%s = nn.reduce sum %z axes [0] : tensor<?x1xf32>\n"
                      "%l = nn.add %z, %s : tensor<?x1xf32>, tensor<1xf32>"),
            "bad.mlir:", "samples")

    def test_group_without_path_to_the_loss(self):
        self.rejects_model(text(loss="%l = nn.stop_gradient %z : "
                                     "tensor<?x1xf32>"),
                           "bad.mlir:", "@g")

    def test_field_type(self):
        # There are two errors: for the field, and for the lookup of its values.
        self.rejects_model(text(c_type="tensor<4xi64>"), "bad.mlir:", "(C1)",
                           errors=2)

    def test_foreign_op(self):
        self.rejects_model(text().rstrip()[:-1] + "llvm.func @main() -> i32 }",
                           "bad.mlir:", "llvm.func", "dialect nn")

    def test_size_that_overflows(self):
        self.rejects_model(
            text(loss="%b = nn.reshape %z : (tensor<?x1xf32>) -> "
                      "tensor<?x4294967296x4294967296xf32>\n"
                      "%l = nn.neg %z : tensor<?x1xf32>"),
            "bad.mlir:", "more than")

    def test_loss_of_no_sample(self):
        self.rejects_model(
            text(loss="%o = nn.constant dense<1.0> : tensor<1x1xf32>\n"
                      "nn.minimize %o over @g : tensor<1x1xf32>\n"
                      "%l = nn.neg %z : tensor<?x1xf32>"),
            "bad.mlir:", "batch")

    def test_translate_flags(self):
        for flags, expected in (
                (["--emit=python"], "python"),
                (["--numerics=exact"], "exact"),
                (["--element-type=f16"], "f16"),
                (["--target-cpu=pentium9"], "pentium9"),
                (["--mode=nowhere"], "geo"),
                (["--emit=pserver"], "--mode=local has none"),
                (["--emit=trainer,servers", "--mode=sync"], "servers"),
                (["--emit=obj,trainer", "--mode=sync"], "mixes kinds"),
                (["--slice=false"], "--mode=local has none"),
                (["--min-block-elements=0", "--mode=sync"], "at least 1"),
                (["--min-block-elements=many", "--mode=sync"], "many"),
                (["--min-block-elements=0x100", "--mode=sync"], "0x100"),
                (["--target-block-bytes=99999999999999999999", "--mode=sync"],
                 "99999999999999999999"),
                (["--target-block-bytes=-1", "--mode=async"], "at least 1")):
            with self.subTest(flags=flags):
                self.rejects([PDL_TRANSLATE, self.root / "tiny.mlir", "-o",
                              self.root / "bad", *flags], expected)

    def test_output_folder_is_a_file(self):
        (self.root / "taken").write_text("mine")
        self.rejects([PDL_TRANSLATE, self.root / "tiny.mlir", "-o",
                      self.root / "taken"], "taken")
        self.assertEqual((self.root / "taken").read_text(), "mine")

    def test_pipeline_phase(self):
        self.rejects([PDL_OPT, self.root / "tiny.mlir",
                      "--pdl-pipeline=to=nowhere"], "nowhere", "merged")

    # --- data --------------------------------------------------------------

    def rejects_data(self, name, content, *expected, flags=()):
        file = self.root / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content)
        self.rejects([self.trainer, "train", "--data", file, *flags], *expected)

    def test_missing_data_file(self):
        self.rejects([self.trainer, "train", "--data", self.root / "no.csv"],
                     "no.csv")

    def test_too_few_columns(self):
        self.rejects_data("a.csv", "1,0.5,1.5,7\n1,0.5\n", "a.csv:2")

    def test_not_a_number(self):
        self.rejects_data("b.csv", "1,0.5,1.5,7\n1,half,1.5,7\n", "b.csv:2:2",
                          "half")

    def test_missing_number(self):
        self.rejects_data("c.csv", "1,,1.5,7\n", "c.csv:1:2", "missing")

    def test_id_out_of_range(self):
        self.rejects_data("d.csv", "1,0.5,1.5,99999999999999999999\n",
                          "d.csv:1:4")

    def test_too_many_bad_rows(self):
        self.rejects_data("e.csv", "x,1,1,1\n1,1,1,1\ny,1,1,1\n", "e.csv:3",
                          flags=("--max-bad-rows", "1"))

    def test_parameter_larger_than_memory(self):
        """The message names the large parameter and a remedy."""
        small = "nn.param @w : tensor<2x1xf32> in @g init(#nn.xavier)"
        big = ("nn.param @big : tensor<1099511627776xf32> in @g "
               "init(#nn.zeros)")
        (self.root / "big.mlir").write_text(
            text().replace(small, f"{small}\n{big}"))
        trainer = compile_model(self.root / "big.mlir", self.root / "big",
                                "--numerics=strict")
        # In case that the machine has more memory, limit addresses to 1 TiB.
        done = self.rejects(
            ["bash", "-c", 'ulimit -v 1073741824; exec "$@"', "bash", trainer,
             "train", "--data", self.root / "good.csv"],
            "@big needs 4096.0 GiB", "--mode=sync")
        self.assertNotIn("--batch-size", done.stderr)

    def test_damaged_gzip(self):
        whole = gzip.compress(b"1,0.5,1.5,7\n" * 1000)
        self.rejects_data("f.csv.gz", whole[:len(whole) // 2], "f.csv.gz")

    def test_empty_file(self):
        self.rejects_data("g.csv", "", "g.csv")

    def test_not_finite(self):
        self.rejects_data("h.csv", "1,inf,1.5,7\n1,nan,1,1\n", "h.csv")

    # --- flags and state ---------------------------------------------------

    def test_flags(self):
        good = ["--data", self.root / "good.csv"]
        for flags, expected in (
                (["train"], "--data"),
                (["fly"], "fly"),
                (["train", *good, "--batch-size", "0"], "--batch-size"),
                (["train", *good, "--batch-size", "many"], "--batch-size"),
                (["train", *good, "--rows", "9:1"], "--rows"),
                (["train", *good, "--replicas", "2x"], "--replicas"),
                (["train", *good, "--speed", "9"], "--speed"),
                (["train", *good, "--dump-slots"], "--dump"),
                (["train", *good, "--init-from", self.root / "no.st"], "no.st")):
            with self.subTest(flags=flags):
                self.rejects([self.trainer, *flags], expected)

    def test_init_from_another_model(self):
        file = self.root / "other.safetensors"
        header = json.dumps({"w": {"dtype": "F32", "shape": [3, 1],
                                   "data_offsets": [0, 12]}}).encode()
        file.write_bytes(struct.pack("<Q", len(header)) + header + bytes(12))
        self.rejects([self.trainer, "train", "--data", self.root / "good.csv",
                      "--init-from", file], "other.safetensors", "w")

    def test_init_from_damaged_file(self):
        file = self.root / "damaged.safetensors"
        file.write_bytes(b"\xff" * 64)
        self.rejects([self.trainer, "train", "--data", self.root / "good.csv",
                      "--init-from", file], "damaged.safetensors")

    def test_dump_into_a_missing_folder_keeps_nothing_half(self):
        self.rejects([self.trainer, "train", "--data", self.root / "good.csv",
                      "--dump", self.root / "no" / "where.safetensors"],
                     "where.safetensors")
        self.assertFalse((self.root / "no").exists())

    def test_good_input_is_accepted(self):
        run(self.trainer, "train", "--data", self.root / "good.csv")


if __name__ == "__main__":
    unittest.main()
