# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Only programs that compute the same keys from raw values accept a checkpoint or dump."""

import array
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from older_layout import without_layout
from programs import BUILD, PDL_CHECKPOINT, PDL_TRANSLATE, SOURCE, compile_model, run

sys.path.insert(0, str(SOURCE / "python"))
import pdl
from pdl import serving

CHECK_SERVING = BUILD / "bin" / "pdl-check-serving"

SOURCE_TEXT = """module @clicks {
  nn.record @line {
    nn.field @label : tensor<?x1xf32>
    nn.field @ids : tensor<?x1xi64> hash(#nn.hash<xxh64, salt = 3>)
  }
  nn.group @g rule(@sgd) rate(0.5)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.func private @score(%i: tensor<?x1xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @emb[%i] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.metric @loss : #nn.log_loss
  nn.program @train reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %i: tensor<?x1xi64>):
    %z = nn.call @score(%i) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@line) {
  ^bb0(%y: tensor<?x1xf32>, %i: tensor<?x1xi64>):
    %z = nn.call @score(%i) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @loss(%p, %y) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@line except @label) {
  ^bb0(%i: tensor<?x1xi64>):
    %z = nn.call @score(%i) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p as "p" : tensor<?x1xf32>
  }
}
"""
HASHED = "text by xxh64 salt 3"
# Programs that compute other keys from the same raw values.
OTHERS = {"salt": ("salt = 3", "salt = 4", "text by xxh64 salt 4"),
          "integers": (" hash(#nn.hash<xxh64, salt = 3>)", "", "integer"),
          "token": ("salt = 3>)", 'salt = 3>) missing("?")', HASHED + ' missing "?"')}


class RawKeys(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.root / "data.tsv"
        cls.data.write_text("".join(f"{n % 2}\t{n % 20}\n" for n in range(200)))
        cls.trainer = cls.compiled("hashed", SOURCE_TEXT)
        cls.saved, cls.dump = cls.root / "saved", cls.root / "values.safetensors"
        cls.exported = cls.root / "exported"
        run(cls.trainer, "train", "--data", cls.data, "--batch-size", 20, "--checkpoint",
            cls.saved, "--dump", cls.dump)
        run(PDL_CHECKPOINT, "export", cls.saved, "-o", cls.exported)

    @classmethod
    def compiled(cls, name, text, *flags):
        source = cls.root / f"{name}.mlir"
        source.write_text(text)
        return compile_model(source, cls.root / name, "--numerics=strict", *flags)

    def library(self, name, text):
        source = self.root / f"{name}.mlir"
        source.write_text(text)
        made = self.root / f"{name}-library"
        run(PDL_TRANSLATE, source, "--numerics=strict", "--emit=library", "-o", made)
        return made / "libclicks.so"

    def ways(self, trainer):
        """Yields all commands with which a trainer opens values, by name."""
        saved = self.root / "copy"
        shutil.rmtree(saved, ignore_errors=True)
        shutil.copytree(self.saved, saved)
        for command in "evaluate", "predict":
            for flag, values in ("--checkpoint", saved), ("--init-from", self.dump):
                yield f"{command} {flag}", [trainer, command, "--data", self.data, flag, values]
        yield "train --init-from", [trainer, "train", "--data", self.data, "--steps", "1",
                                    "--init-from", self.dump]
        yield "train --resume", [trainer, "train", "--data", self.data, "--batch-size", "20",
                                 "--epochs", "2", "--checkpoint", saved, "--resume"]

    def ask(self, command):
        return subprocess.run([str(word) for word in command], capture_output=True, text=True)

    def test_other_keys_are_refused(self):
        for name, (old, new, text) in OTHERS.items():
            source = SOURCE_TEXT.replace(old, new)
            self.assertNotEqual(source, SOURCE_TEXT)
            trainer = self.compiled(name, source)
            for way, command in self.ways(trainer):
                with self.subTest(name, way=way):
                    done = self.ask(command)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("the keys of @emb come from fields in another way: ",
                                  done.stderr)
                    self.assertIn(f" makes some of `{HASHED}`, this program of `{text}`",
                                  done.stderr)

    def test_what_a_refusal_advises_can_be_done(self):
        old, new, _ = OTHERS["salt"]
        source = SOURCE_TEXT
        for before, after in (
                ("nn.func private", "nn.param @bias : tensor<1xf32> in @g init(#nn.zeros)\n"
                 "  nn.func private"),
                ("%z = nn.flatten %e from 1 : tensor<?x1x1xf32>",
                 "%f = nn.flatten %e from 1 : tensor<?x1x1xf32>\n"
                 "    %b = nn.read @bias : tensor<1xf32>\n"
                 "    %z = nn.add %f, %b : tensor<?x1xf32>, tensor<1xf32>")):
            self.assertIn(before, source)
            source = source.replace(before, after, 1)
        saved, dump = self.root / "advised-saved", self.root / "advised.safetensors"
        run(self.compiled("biased", source), "train", "--data", self.data, "--batch-size", 20,
            "--checkpoint", saved, "--dump", dump)
        trainer = self.compiled("advised", source.replace(old, new))
        train = [trainer, "train", "--data", self.data, "--batch-size", 20, "--epochs", 2]
        refused = self.ask([*train, "--checkpoint", saved, "--resume"]).stderr
        words = re.search("`pdl-checkpoint (dump --without emb)`", refused)[1].split()
        self.assertIn("a new training begins with --init-from FILE, and @emb with initial values",
                      refused)
        kept = self.root / "kept.safetensors"
        run(PDL_CHECKPOINT, *words, saved, "-o", kept)
        done = run(*train, "--init-from", kept)
        self.assertIn("does not have emb: initial values stay", done.stderr)
        self.assertRegex(done.stderr, "took .* with step counts")
        # The error message about a dump suggests the same.
        self.assertIn("`pdl-checkpoint dump --without emb`",
                      self.ask([*train, "--init-from", dump]).stderr)
        # If no table could be kept, the message only suggests a new training.
        copy = self.root / "advised-copy"
        shutil.copytree(self.saved, copy)
        other = self.compiled("advised-alone", SOURCE_TEXT.replace(old, new))
        refused = self.ask([other, *train[1:], "--checkpoint", copy, "--resume"]).stderr
        self.assertIn("begin a new training in another folder, because none of its values fit",
                      refused)
        self.assertNotIn("--init-from", refused)
        done = self.ask([PDL_CHECKPOINT, "dump", saved, "-o", kept, "--without", "@embb"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("no symbol is called embb; did you mean 'emb'?", done.stderr)

    def test_other_keys_are_refused_by_servers(self):
        old, new, text = OTHERS["salt"]
        self.compiled("sync", SOURCE_TEXT.replace(old, new), "--mode=sync")
        for flags in (["--init-from", self.dump], ["--checkpoint", self.saved, "--resume"]):
            with self.subTest(flags=flags), Cluster(
                    self.root / "sync", 1, 1, ["--data", self.data, "--steps", 1], flags) as cluster:
                server, trainer = cluster.start_server(0), cluster.start_trainer(0)
                for process in server, trainer:
                    self.assertEqual(process.wait(60), 1, process.output)
                self.assertIn(f" makes some of `{HASHED}`, this program of `{text}`",
                              server.output)

    def test_other_keys_are_not_served(self):
        old, new, text = OTHERS["salt"]
        path = self.library("salt", SOURCE_TEXT.replace(old, new))
        library = serving.Library(path)
        for values in self.saved, self.dump, self.exported:
            with self.subTest(values=values), self.assertRaisesRegex(
                    serving.ServingError, f"makes some of `{HASHED}`, this program of `{text}`"):
                library.open(values)
        done = self.ask([CHECK_SERVING, "--trainer", self.trainer, "--library", path,
                         "--checkpoint", self.saved, "--data", self.data, "--no-evaluate"])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"makes some of `{HASHED}`", done.stderr)

    def test_another_name_is_accepted(self):
        trainer = self.compiled("renamed", SOURCE_TEXT.replace("@ids", "@words"))
        for way, command in self.ways(trainer):
            with self.subTest(way=way):
                done = self.ask(command)
                self.assertEqual(done.returncode, 0, done.stderr)
        serving.Library(self.library("renamed", SOURCE_TEXT.replace("@ids", "@words"))).open(
            self.saved).close()

    def test_older_dumps(self):
        older = self.root / "older.safetensors"
        without_layout(self.dump, older)
        unchecked = f"the keys of @emb, which this program makes of `{HASHED}`"
        for command in (["evaluate"], ["predict"], ["train", "--steps", "1"]):
            with self.subTest(command=command):
                command = [self.trainer, *command, "--data", self.data, "--init-from", older]
                done = self.ask(command)
                self.assertEqual(done.returncode, 1)
                self.assertIn("is of an older layout", done.stderr)
                self.assertIn("--accept-old-layout", done.stderr)
                done = self.ask([*command, "--accept-old-layout"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("not checked: " + unchecked, done.stderr)
        library = serving.Library(self.library("hashed", SOURCE_TEXT))
        with self.assertRaisesRegex(serving.ServingError, "--accept-old-layout"):
            library.open(older)
        with library.open(older, accept_old_layout=True) as model:
            self.assertEqual(model.unchecked(), unchecked)
            model.reload(older)
            model.reload(self.saved)
            self.assertEqual(model.unchecked(), "")

    def test_dumps_and_exports_say_it(self):
        for values in self.saved, self.exported:
            said = run(PDL_CHECKPOINT, "inspect", values).stdout
            if values == self.saved:
                self.assertIn(f"keys of @emb: {HASHED}", said)
        dumped = self.root / "dumped.safetensors"
        run(PDL_CHECKPOINT, "dump", self.saved, "-o", dumped)
        for dump in self.dump, dumped:
            self.assertIn(f'"keys.emb":"{HASHED}"', dump.read_bytes().decode("latin1"))
        other = self.compiled("salt2", SOURCE_TEXT.replace("salt = 3", "salt = 5"))
        again = self.root / "again"
        run(other, "train", "--data", self.data, "--steps", 0, "--checkpoint", again)
        for first in self.saved, self.exported, self.dump:
            done = self.ask([PDL_CHECKPOINT, "diff", first, again])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the keys of @emb come from fields in another way", done.stdout)

    def test_a_key_is_what_the_model_hashes(self):
        # Vectors of the reference implementation (xxhsum -H1) for seed 0.
        self.assertEqual(pdl.key(""), 0xEF46DB3751D8E999)
        self.assertEqual(pdl.key("abc"), 0x44BC2CF5AD770999)
        library = serving.Library(self.library("hashed", SOURCE_TEXT))
        [ids] = library.programs["predict"].inputs
        self.assertTrue(ids.hashes_texts)
        self.assertEqual(ids.salt, 3)
        texts = ["7", " 12 ", "no such id", "a" * 31, "b" * 32, "c" * 100]
        keys = array.array("Q", [pdl.key(text, ids.salt) for text in texts])
        for text, key in zip(texts, keys):
            data = text.encode()
            self.assertEqual(library.functions.key(data, len(data), 3) % 2 ** 64, key, text)
        with library.open(self.saved) as model:
            expected = model.run("predict", {"ids": texts})["p"]
            self.assertGreater(len(set(expected)), 2)
            self.assertEqual(model.run("predict", {"ids": keys})["p"], expected)
            with self.assertRaisesRegex(serving.ServingError, "the model hashes texts; give texts"):
                model.run("predict", {"ids": array.array("q", [7])})

    def test_many_unknown_ids(self):
        unknown = self.root / "unknown.tsv"
        unknown.write_text("".join(f"{n % 2}\tu{n}\n" for n in range(200)))
        message = "200 of 200 looked-up ids (100 %) are unknown to the model"
        for command in "evaluate", "predict":
            ask = [self.trainer, command, "--checkpoint", self.saved, "--data"]
            self.assertIn(message, self.ask([*ask, unknown]).stderr)
            self.assertNotIn("are unknown to the model", self.ask([*ask, self.data]).stderr)
        with serving.Library(self.library("hashed", SOURCE_TEXT)).open(self.saved) as model:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.run("predict", {"ids": 200 * ["3"]})
                self.assertEqual(caught, [])
                for _ in range(3):
                    model.run("predict", {"ids": 200 * ["nobody"]})
            [warning] = caught
            self.assertIn("600 of 800 looked-up ids", str(warning.message))


if __name__ == "__main__":
    unittest.main()
