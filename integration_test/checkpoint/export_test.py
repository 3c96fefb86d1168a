# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports for key-value stores. Read as the loader of a store reads them, they have the bits of
the checkpoint. Differences are reported by key. Tables may be larger than the memory."""

import array
import json
import pathlib
import random
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, checkpoints_in, compile_model, model, run
from waiting import wait_until

import tensorfile

DATA = ["--data", ADULT, "--rows", "0:4000", "--batch-size", 16, "--seed", 5]
ORDERS = {"tsv": lambda key: key, "records": lambda key: key % 2**64, "sst": lambda key: key % 2**64}


def refusal(*arguments):
    """Returns the exit status and the output of a command."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def manifest_of(folder):
    return json.loads((folder / "key-values.json").read_text())["key_values"]


def rows_of(folder, table):
    """Returns {key: elements} in the order of the files, read as the loader of a store reads them.
    """
    rows = {}
    is_wide = table["element_type"] == "F64"
    for file in table["files"]:
        content = (folder / file["file"]).read_bytes()
        before = len(rows)
        if file["file"].endswith(".tsv"):
            for line in content.decode().splitlines():
                key, *cells = line.split("\t")
                numbers = array.array("d" if is_wide else "f", map(float, cells))
                rows[int(key)] = numbers.tobytes()
        else:
            size = (8 if is_wide else 4) * table["width"]
            for at in range(0, len(content), 8 + size):
                (key,) = struct.unpack_from(">q", content, at)
                rows[key] = content[at + 8:at + 8 + size]
        assert len(rows) - before == file["rows"]
    return rows


class Exports(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trainer = compile_model(model("wide_deep"), cls.root / "out", "--numerics=strict")
        cls.saved = cls.root / "saved"
        run(cls.trainer, "train", *DATA, "--steps", 40, "--checkpoint", cls.saved,
            "--checkpoint-steps", 10, "--checkpoint-keep", 0, "--checkpoint-deltas", 9)
        cls.formats = ["tsv", "records"]
        status, words = refusal(PDL_CHECKPOINT, "export", cls.saved, "--format", "sst", "-o",
                                cls.root / "sst")
        if status == 0:
            cls.formats.append("sst")
        elif (status, "built without RocksDB; install librocksdb-dev" in words) != (2, True):
            raise AssertionError(words)

    def test_bits(self):
        """Exports of a checkpoint, and of a delta with all its predecessors."""
        steps = checkpoints_in(self.saved)
        for name in self.formats:
            for saved in steps[0], steps[-1]:
                out = self.root / f"{name}-{saved.name}"
                run(PDL_CHECKPOINT, "export", saved, "--format", name, "-o", out)
                dump = self.root / "dump.safetensors"
                run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
                expected = tensorfile.read(dump)
                dense = tensorfile.read(out / "dense.safetensors")
                manifest = manifest_of(out)
                self.assertEqual((manifest["format"], manifest["steps"]),
                                 (name, int(saved.name[-12:])))
                self.assertEqual({t["name"] for t in manifest["tables"]},
                                 {n[:-5] for n in expected if n.endswith(".keys")})
                for tensor, values in dense.items():
                    self.assertEqual(values.data, expected[tensor].data)
                for table in manifest["tables"]:
                    with self.subTest(name, saved=saved.name, table=table["name"]):
                        keys = expected[table["name"] + ".keys"].data
                        values = expected[table["name"] + ".values"]
                        self.assertEqual((table["rows"], table["width"], table["element_type"]),
                                         (len(keys), values.shape[1], "F32"))
                        if name == "sst":
                            continue
                        rows = rows_of(out, table)
                        self.assertEqual(list(rows), sorted(keys, key=ORDERS[name]))
                        self.assertEqual(rows, {key: row.tobytes() for key, row in
                                                zip(keys, values.rows())})
                        self.assertTrue(any(key < 0 for key in keys))
                inspected = run(PDL_CHECKPOINT, "inspect", out).stdout
                self.assertIn(f"format               {name}", inspected)
                self.assertIn("files have the right checksum", inspected)
                for one, other in (out, saved), (saved, out):
                    self.assertIn("equal: ", run(PDL_CHECKPOINT, "diff", one, other).stdout)
                # The export differs from the previous and from the next checkpoint.
                status, words = refusal(PDL_CHECKPOINT, "diff", out, steps[1], "--limit", 100000)
                self.assertEqual(status, 1)
                self.assertRegex(words, r"\.values, key -?\d+, element 0: \S+ in .*, \S+ in ")
        self.assertEqual(list(self.root.glob("*.tmp*")), [])

    def test_slots(self):
        out = self.root / "slots"
        run(PDL_CHECKPOINT, "export", self.saved, "--format", "records", "--slot", "m", "-o", out)
        dump = self.root / "slots.safetensors"
        run(PDL_CHECKPOINT, "dump", self.saved, "-o", dump)
        expected = tensorfile.read(dump)
        parts = {table["part"] for table in manifest_of(out)["tables"]}
        self.assertIn("slot.m", parts)
        for table in manifest_of(out)["tables"]:
            keys = expected[table["name"] + ".keys"].data
            values = expected[f"{table['name']}.{table['part']}"].rows()
            self.assertEqual(rows_of(out, table),
                             {key: row.tobytes() for key, row in zip(keys, values)})
        run(PDL_CHECKPOINT, "diff", out, self.saved)
        self.assertEqual(refusal(PDL_CHECKPOINT, "export", self.saved, "--format", "tsv", "--slot",
                                 "none", "-o", self.root / "no-slot")[0], 1)
        self.assertFalse((self.root / "no-slot").exists())

    def test_the_first_wrong_key_is_named(self):
        out = self.root / "wrong"
        run(PDL_CHECKPOINT, "export", self.saved, "--format", "records", "-o", out)
        table = manifest_of(out)["tables"][0]
        file = out / table["files"][0]["file"]
        content = bytearray(file.read_bytes())
        size = 8 + 4 * table["width"]
        wrong = len(content) // size // 2
        (key,) = struct.unpack_from(">q", content, wrong * size)
        content[wrong * size + size - 1] ^= 0x80
        file.write_bytes(content)
        status, words = refusal(PDL_CHECKPOINT, "diff", out, self.saved)
        self.assertEqual(status, 1)
        self.assertTrue(words.startswith(
            f"{table['name']}.values, key {key}, element {table['width'] - 1}: "), words)
        self.assertIn(f"table @{table['name']}: 1 rows differ", words)
        status, words = refusal(PDL_CHECKPOINT, "inspect", out)
        self.assertEqual(status, 1)
        self.assertIn(f"{file.name}: is not what its manifest says", words)
        # Exports for mapping are checked too. Wrong bits in them change a checksum.
        mapped = self.root / "mapped"
        run(PDL_CHECKPOINT, "export", self.saved, "-o", mapped)
        self.assertIn("equal: ", run(PDL_CHECKPOINT, "diff", mapped, self.saved).stdout)
        status, words = refusal(PDL_CHECKPOINT, "diff", checkpoints_in(self.saved)[0], mapped)
        self.assertEqual(status, 1)
        self.assertRegex(words, r"\.values, key -?\d+, element 0: ")

    def test_refuses(self):
        out = self.root / "refused"
        for arguments, status, message in (
                (["--format", "xml"], 2, "xml"),
                (["--file-size", "3"], 2, "--file-size: is for formats of key-value stores alone"),
                (["--memory", "3"], 2, "--memory: is for formats of key-value stores alone"),
                (["--format", "tsv", "--file-size", "0"], 2, "--file-size"),
                (["--format", "tsv", "--memory", "x"], 2, "--memory")):
            with self.subTest(arguments):
                found, words = refusal(PDL_CHECKPOINT, "export", self.saved, "-o", out, *arguments)
                self.assertEqual(found, status)
                self.assertIn(message, words)
                self.assertFalse(out.exists())
        run(PDL_CHECKPOINT, "export", self.saved, "--format", "tsv", "-o", out)
        found, words = refusal(PDL_CHECKPOINT, "export", self.saved, "--format", "tsv", "-o", out)
        self.assertEqual(found, 1)
        self.assertIn("is there already", words)
        found, words = refusal(PDL_CHECKPOINT, "diff", out, out)
        self.assertEqual(found, 2)
        self.assertIn("both are exports", words)
        (out / "key-values.json").write_text("{}")
        for command in ("inspect", out), ("diff", out, self.saved):
            found, words = refusal(PDL_CHECKPOINT, *command)
            self.assertGreater(found, 0)
            self.assertIn("is no manifest of an export for key-value stores", words)

    def test_tables_need_not_fit_into_memory(self):
        """Of a table of 100 MB, 1 MiB of rows is in memory at a time, and the files stay small."""
        dump = self.root / "large.safetensors"
        run(PDL_CHECKPOINT, "dump", checkpoints_in(self.saved)[0], "-o", dump)
        tensors = {name: tensor for name, tensor in tensorfile.read(dump).items()
                   if ".slot." not in name}
        name = max((n for n in tensors if n.endswith(".values")),
                   key=lambda n: tensors[n].shape[1])
        width, rows = tensors[name].shape[1], 25_000_000 // tensors[name].shape[1]
        draw = random.Random(3)
        tensors[name] = tensorfile.Tensor(
            "F32", [rows, width], array.array("f", bytes(4 * rows * width)))
        keys = array.array("q", draw.randbytes(8 * rows))
        self.assertEqual(len(set(keys)), rows)
        tensors[name.replace(".values", ".keys")] = tensorfile.Tensor("I64", [rows], keys)
        tensorfile.write(dump, tensors)
        large = self.root / "large"
        run(self.trainer, "train", *DATA, "--steps", 1, "--init-from", dump, "--checkpoint", large)
        dump.unlink()
        for format_name in self.formats:
            out = self.root / f"large-{format_name}"
            command = [PDL_CHECKPOINT, "export", large, "--format", format_name, "-o", out,
                       "--memory", "1", "--file-size", "16"]
            # Measure in a separate process, because a child starts with the memory of its parent.
            used = int(run(sys.executable, "-c", "import resource, subprocess, sys\n"
                           "subprocess.run(sys.argv[1:], check=True)\n"
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                           *command).stdout)
            with self.subTest(format_name):
                # Limit in KiB: the program, its buffers, and the manifest.
                self.assertLess(used, 64 * 1024)
                sizes = [file.stat().st_size for file in out.glob("table-*")]
                self.assertGreater(sum(sizes), 100_000_000 if format_name != "tsv" else 0)
                self.assertLess(max(sizes), 18 << 20)
                self.assertIn("equal: ", run(PDL_CHECKPOINT, "diff", out, large).stdout)
        self.check_stopped(large)

    def check_stopped(self, large):
        """Checks that a stopped command leaves no files."""
        stopped = self.root / "stopped"
        for command in (["export", large, "-o", stopped], ["dump", large, "-o", stopped],
                        ["export", large, "--format", "tsv", "-o", stopped],
                        ["merge", large, stopped]):
            with self.subTest(command=command[0]):
                for _ in range(10):
                    process = subprocess.Popen([PDL_CHECKPOINT, *map(str, command)],
                                               stderr=subprocess.PIPE, text=True)
                    wait_until(lambda: list(self.root.glob("stopped*")), pause=0.001)
                    process.send_signal(signal.SIGINT)
                    said = process.communicate()[1]
                    if process.returncode != 0 and not stopped.exists():
                        break
                    # It was at its end already.
                    run("rm", "-r", stopped)
                self.assertIn("stopped by SIGINT", said)
                self.assertEqual(process.returncode, 128 + signal.SIGINT)
                self.assertEqual(list(self.root.glob("stopped*")), [])


if __name__ == "__main__":
    unittest.main()
