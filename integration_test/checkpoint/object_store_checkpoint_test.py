# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints in an object store: a training that resumes from one is bit-identical to one that did
not stop, whatever fails, and no reader sees a part of a checkpoint."""

import pathlib
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from object_store import SECRET, Fault, ObjectStore
from programs import ADULT, BUILD, PDL_CHECKPOINT, PDL_TRANSLATE, compile_model, fails, model, run
from row_model import ROW_MODEL
from waiting import LONG, wait_until

DATA = ("--data", ADULT, "--batch-size", "100")


class ObjectStoreCheckpoints(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = ObjectStore()
        cls.addClassCleanup(cls.store.close)
        cls.trainer = compile_model(model("wide_deep"), cls.root / "out")
        cls.train("whole", "--dump", cls.root / "expected")
        cls.expected = (cls.root / "expected").read_bytes()

    def setUp(self):
        self.folder = self._testMethodName
        self.address = self.store.address(self.folder)

    def tearDown(self):
        self.store.faults.clear()
        self.store.show_current_lists()
        self.store.wait_until_idle()
        self.assertEqual(self.store.refused, [])
        self.assertEqual(self.store.unfinished_uploads(), [])

    @classmethod
    def train(cls, name, *flags, **changes):
        return run(cls.trainer, "train", *DATA, *flags,
                   env={**cls.store.environment, **changes}).stderr

    def resume(self):
        """Returns the dump of a training that resumes."""
        dump = self.root / f"{self.folder}.safetensors"
        self.train("resumed", "--checkpoint", self.address, "--resume", "--dump", dump)
        return dump.read_bytes()

    def steps(self):
        """Returns the names of the checkpoints that have a manifest."""
        return sorted(key.split("/")[1] for key in self.store.keys(self.folder + "/")
                      if key.endswith("/manifest.json"))

    def check_no_leftovers(self):
        """Each file belongs to a checkpoint, in one folder."""
        keys = self.store.keys(self.folder + "/")
        folders = {key.rsplit("/", 1)[0] for key in keys if not key.endswith("/manifest.json")}
        self.assertEqual(len(folders), len(self.steps()), keys)

    def test_resume_keep_and_deltas(self):
        self.train("first", "--checkpoint", self.address + "/", "--steps", "120",
                   "--checkpoint-steps", "20", "--checkpoint-keep", "2", "--checkpoint-deltas", "3")
        self.check_no_leftovers()
        self.assertIn("step-000000000120", self.steps())
        self.assertLess(len(self.steps()), 6)
        self.assertEqual(self.resume(), self.expected)
        self.assertIn("there are checkpoints", fails(
            self.trainer, "train", *DATA, "--checkpoint", self.address,
            env=self.store.environment))

    def test_evaluate_and_copy(self):
        """A copy of the objects is a checkpoint of this host."""
        self.train("first", "--checkpoint", self.address, "--steps", "40")
        for key in self.store.keys(self.folder + "/"):
            path = self.root / "copy" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.store.get(key))
        for checkpoint in (self.address, f"{self.address}/{self.steps()[-1]}"):
            reports = [run(self.trainer, "evaluate", "--data", ADULT, "--checkpoint", place,
                           env=self.store.environment).stdout.split("\n", 1)[1]
                       for place in (checkpoint, self.root / "copy" / self.folder)]
            self.assertEqual(reports[0], reports[1])
        missing = fails(self.trainer, "evaluate", "--data", ADULT, "--checkpoint",
                        self.store.address("none"), env=self.store.environment)
        self.assertIn("there is no checkpoint in it", missing)

    def test_requests_that_fail(self):
        def writes(method, path):
            return method in ("PUT", "POST")

        self.store.faults += [Fault("status", 3, writes), Fault("lost", 4, writes),
                              Fault("status", 2), Fault("slow", 1)]
        self.train("first", "--checkpoint", self.address, "--steps", "60", "--checkpoint-steps",
                   "20")
        self.assertEqual([fault.times for fault in self.store.faults], [0, 0, 0, 0])
        self.store.faults[:] = [Fault("cut", 3, lambda method, path: method == "GET"),
                                Fault("status", 2)]
        self.assertEqual(self.resume(), self.expected)
        self.check_no_leftovers()

    def test_store_that_is_down(self):
        """A store that does not respond does not make a training begin anew, nor from an older
        checkpoint."""
        self.train("first", "--checkpoint", self.address, "--steps", "40", "--checkpoint-steps",
                   "20")
        self.store.faults.append(
            Fault("status", 10**9, lambda method, path: "step-000000000040/parts" in path))
        error = fails(self.trainer, "train", *DATA, "--checkpoint", self.address, "--resume",
                      status=3, env={**self.store.environment, "AWS_MAX_ATTEMPTS": "2"})
        self.assertIn("cannot be read: 503", error)
        self.assertNotIn(SECRET, error)

    def test_prune_while_the_store_is_down(self):
        """A checkpoint that cannot be read does not count as damaged: nothing is removed."""
        self.train("first", "--checkpoint", self.address, "--steps", "40", "--checkpoint-steps",
                   "20")
        before = self.store.keys(self.folder + "/")
        prune = (PDL_CHECKPOINT, "prune", self.address, "--keep", "1")
        for file in ("parts", "manifest"):
            self.store.faults.append(Fault("status", 10**9, lambda method, path, file=file: (
                method == "GET" and f"step-000000000040/{file}" in path)))
            error = fails(*prune, status=3,
                          env={**self.store.environment, "AWS_MAX_ATTEMPTS": "2"})
            self.assertIn("503", error)
            self.assertEqual(self.store.keys(self.folder + "/"), before)
            self.store.faults.clear()
        run(*prune, env=self.store.environment)
        self.assertEqual(self.steps(), ["step-000000000040"])

    def test_keep_while_the_store_is_down(self):
        """A training does not remove the predecessor of a delta because the store fails once."""
        is_saved = threading.Event()

        def is_base(method, path):
            if method == "PUT" and "step-000000000060/manifest" in path:
                is_saved.set()
            return (is_saved.is_set() and method == "GET" and
                    "step-000000000020/manifest" in path)

        self.store.faults.append(Fault("status", 10**9, is_base))
        said = self.train("first", "--checkpoint", self.address, "--steps", "60",
                          "--checkpoint-steps", "20", "--checkpoint-keep", "1",
                          "--checkpoint-deltas", "9", AWS_MAX_ATTEMPTS="2")
        self.assertIn("503", said)
        self.store.faults.clear()
        self.assertEqual(len(self.steps()), 3)
        self.assertEqual(self.resume(), self.expected)

    def test_killed_during_a_save(self):
        """A save that is killed leaves no checkpoint, and the training resumes from the one
        before."""
        self.train("first", "--checkpoint", self.address, "--steps", "20")
        held = Fault("held", 10**9, lambda method, path: (
            method == "PUT" and f"{self.folder}/step-000000000040" in path))
        self.store.faults.append(held)
        with subprocess.Popen(
                [self.trainer, "train", *DATA, "--checkpoint", self.address, "--resume",
                 "--checkpoint-steps", "40"], env=self.store.environment) as process:
            try:
                self.wait_for_request(held)
                self.assertIsNone(process.poll())
            finally:
                process.kill()
                process.wait()
                held.released.set()
        # The store may carry out requests of a process that has ended.
        self.store.wait_until_idle()
        self.assertNotIn("step-000000000040", self.steps())
        self.store.faults.clear()
        self.assertEqual(self.resume(), self.expected)

    def wait_for_request(self, fault):
        """Waits until a request for the fault has arrived."""
        wait_until(lambda: any(fault.matches(method, path)
                               for method, path, _ in list(self.store.requests)))

    def test_servers(self):
        """Servers write their parts to the store, and read theirs from it."""
        job = self.root / "job"
        run(PDL_TRANSLATE, model("wide_deep"), "--mode=sync", "-o", job)

        def launch(servers, *flags):
            return run(BUILD / "bin" / "pdl-launch", "--trainers", "2", "--servers", servers, job,
                       "--", "train", *DATA, *flags, env=self.store.environment)

        def predictions(folder):
            output = self.root / "predictions.safetensors"
            run(self.trainer, "predict", "--data", ADULT, "--rows", ":2000", "--checkpoint", folder,
                "--output", output, env=self.store.environment)
            return output.read_bytes()

        launch("2", "--checkpoint", self.root / "whole_job")
        launch("2", "--checkpoint", self.address, "--steps", "60", "--checkpoint-steps", "30",
               "--checkpoint-deltas", "1")
        self.check_no_leftovers()
        launch("3", "--checkpoint", self.address, "--resume")
        self.assertEqual(predictions(self.address), predictions(self.root / "whole_job"))

    def wide_rows(self):
        """Compiles a model with rows of 264 bytes for servers, and writes its data. Returns the
        folder of the programs and the flags of trainers."""
        job, rows = self.root / "row_job", 20000
        if not job.exists():
            source = self.root / "rows.mlir"
            source.write_text(ROW_MODEL.replace("4xf32", "32xf32").replace("4x1xf32", "32x1xf32"))
            run(PDL_TRANSLATE, source, "--mode=sync", "-o", job)
            (self.root / "rows.csv").write_text(
                "".join(f"{i},{i % 2}\n" for i in range(rows)))
        return job, ("--data", self.root / "rows.csv", "--batch-size", "500")

    def run_job(self, servers, *flags):
        """Runs a trainer and servers. Requests of a server have its number as session token."""
        job, data = self.wide_rows()
        with Cluster(job, 1, servers, [*data, "--checkpoint", self.address, *flags],
                     ["--checkpoint", self.address, *(["--resume"] if "--resume" in flags else [])],
                     figures=False, environment=self.store.environment) as cluster:
            for rank in range(servers):
                cluster.environment = {**self.store.environment,
                                       "AWS_SESSION_TOKEN": f"server-{rank}"}
                cluster.start_server(rank)
            cluster.environment = {**self.store.environment, "AWS_SESSION_TOKEN": "trainer"}
            cluster.start_trainer(0)
            cluster.finish()
            return cluster.said()

    def bytes_read(self, process):
        """Returns the number of bytes that a process has requested of each file with rows."""
        count = {}
        for method, path, headers in self.store.requests:
            if (method == "GET" and "/table-" in path and
                    headers.get("x-amz-security-token") == process):
                first, last = headers["range"].removeprefix("bytes=").split("-")
                key = path.removeprefix(f"/{self.store.bucket}/")
                count[key] = count.get(key, 0) + int(last) + 1 - int(first)
        return count

    def table_files(self, steps):
        """Returns the sizes of the files with rows."""
        return {key: len(self.store.get(key)) for key in self.store.keys(
            f"{self.folder}/step-{steps:012d}/") if "/table-" in key}

    def test_bytes_of_a_resume(self):
        """A server requests only its own files, and a trainer none. Blocks of small files are
        requested once."""
        self.run_job(2, "--steps", "40", "--checkpoint-steps", "40")
        files = self.table_files(40)
        self.assertEqual(len(files), 2)
        self.store.requests.clear()
        self.run_job(2, "--resume", "--epochs", "2")
        read = [self.bytes_read(f"server-{rank}") for rank in range(2)]
        self.assertEqual([len(each) for each in read], [1, 1])
        self.assertEqual(read[0] | read[1], files)
        self.assertEqual(self.bytes_read("trainer"), {})

    def test_resume_with_other_servers(self):
        """Servers restore rows from files of other servers, of which one verifies each."""
        self.run_job(2, "--steps", "40", "--checkpoint-steps", "40")
        self.run_job(3, "--resume", "--steps", "60", "--checkpoint-steps", "60")
        expected = self.store.address(self.folder + "-whole")
        here, self.address = self.address, expected
        self.run_job(2, "--steps", "60", "--checkpoint-steps", "60")
        self.assertIn("equal", run(PDL_CHECKPOINT, "diff", here, expected,
                                   env=self.store.environment).stdout)

    def test_damage_that_one_server_finds(self):
        """If a server finds damage in its file, all servers pass over the checkpoint."""
        self.run_job(2, "--steps", "40", "--checkpoint-steps", "20")
        damaged = max(self.table_files(40))
        content = bytearray(self.store.get(damaged))
        content[-1] ^= 1
        self.store.put(damaged, bytes(content))
        said = self.run_job(2, "--resume", "--epochs", "1")
        self.assertIn("has the checksum", said)
        self.assertIn("which is not whole on all servers", said)
        self.assertIn("going on from " + self.address + "/step-000000000020", said)

    def test_lists_that_lag(self):
        """A list without the newest checkpoint makes a training resume from an older one. A list
        with a removed checkpoint makes it resume from the newest one that there is."""
        self.train("first", "--checkpoint", self.address, "--steps", "40", "--checkpoint-steps",
                   "20")
        self.store.show_old_lists(lambda key: "step-000000000040" not in key)
        self.assertEqual(self.resume(), self.expected)
        self.store.show_current_lists()
        newest = self.steps()[-1]
        self.assertGreater(newest, "step-000000000040")
        self.store.show_old_lists()
        self.store.delete(f"{self.folder}/{newest}/")
        self.assertEqual(self.resume(), self.expected)
        self.assertEqual(self.steps()[-1], newest)

    def test_exports_and_dumps(self):
        """pdl-checkpoint writes the same files to a store as to this host, and reads them."""
        def tool(*arguments, **changes):
            return run(PDL_CHECKPOINT, *arguments, env={**self.store.environment, **changes}).stdout

        self.train("first", "--checkpoint", self.root / "exported", "--steps", "20")
        saved, local = self.root / "exported", self.root / "local"
        tool("export", saved, "-o", local)
        tool("export", saved, "-o", self.address + "/export")
        for path in local.iterdir():
            self.assertEqual(self.store.get(f"{self.folder}/export/{path.name}"),
                             path.read_bytes())
        self.assertEqual(len(self.store.keys(self.folder + "/")), len(list(local.iterdir())))
        self.assertIn("is there already", fails(
            PDL_CHECKPOINT, "export", saved, "-o", self.address + "/export",
            env=self.store.environment))
        # Tables are mapped from copies.
        self.assertIn("set PDL_STORE_CACHE to a folder", fails(
            PDL_CHECKPOINT, "inspect", self.address + "/export", env=self.store.environment))
        cache = {"PDL_STORE_CACHE": str(self.root / "cache"), "PDL_STORE_CACHE_BYTES": "100000000"}
        self.assertIn("have the right checksum", tool("inspect", self.address + "/export", **cache))
        self.assertIn("equal", tool("diff", self.address + "/export", saved, **cache))
        tool("dump", saved, "-o", self.root / "dump.safetensors")
        tool("dump", saved, "-o", self.address + "/dump.safetensors")
        self.assertEqual(self.store.get(self.folder + "/dump.safetensors"),
                         (self.root / "dump.safetensors").read_bytes())
        self.assertIn("equal", tool("diff", self.address + "/dump.safetensors", saved))
        for kind in "tsv", "records":
            tool("export", saved, "--format", kind, "-o", self.root / kind)
            tool("export", saved, "--format", kind, "-o", f"{self.address}/{kind}/")
            for path in (self.root / kind).iterdir():
                self.assertEqual(self.store.get(f"{self.folder}/{kind}/{path.name}"),
                                 path.read_bytes())
            self.assertIn("have the right checksum", tool("inspect", f"{self.address}/{kind}"))
            self.assertIn("equal", tool("diff", saved, f"{self.address}/{kind}"))
        self.assertIn("RocksDB writes its files only to folders of this host", fails(
            PDL_CHECKPOINT, "export", saved, "--format", "sst", "-o", self.address + "/sst",
            env=self.store.environment, status=2))

    def test_merged_checkpoints(self):
        """A merged checkpoint in a store has the bytes of one on this host."""
        flags = ("--steps", "40", "--checkpoint-steps", "20", "--checkpoint-deltas", "2")
        self.train("first", "--checkpoint", self.address, *flags)
        delta = f"{self.address}/step-000000000040"
        merged = self.store.address(self.folder + "-merged/step-000000000040")
        for output in self.root / "merged", merged:
            run(PDL_CHECKPOINT, "merge", delta, output, env=self.store.environment)
        for path in (self.root / "merged").glob("*.safetensors"):
            [key] = [key for key in self.store.keys(self.folder + "-merged/")
                     if key.endswith("/" + path.name)]
            self.assertEqual(self.store.get(key), path.read_bytes())
        self.assertIn("there is something of that name already", fails(
            PDL_CHECKPOINT, "merge", delta, merged, env=self.store.environment))
        self.address = self.store.address(self.folder + "-merged")
        self.assertEqual(self.resume(), self.expected)

    def test_exports_at_the_same_time(self):
        """Of two exports to one address, one is complete, and the other one changes nothing."""
        for steps in "20", "40":
            self.train("first", "--checkpoint", self.root / f"same-{steps}", "--steps", steps)
        address = self.address + "/export"
        # Also holds the requests that the client repeats because there was no response.
        held = Fault("held", 10**9, lambda method, path: (
            method == "PUT" and f"{self.folder}/export/table" in path))
        self.store.faults.append(held)
        with subprocess.Popen([PDL_CHECKPOINT, "export", self.root / "same-20", "-o", address],
                              env=self.store.environment) as first:
            try:
                self.wait_for_request(held)
                self.assertIn("another process exports to it", fails(
                    PDL_CHECKPOINT, "export", self.root / "same-40", "-o", address,
                    env=self.store.environment))
                self.assertIsNone(first.poll())
            finally:
                held.released.set()
            self.assertEqual(first.wait(LONG), 0)
        run(PDL_CHECKPOINT, "export", self.root / "same-20", "-o", self.root / "alone")
        self.assertEqual(
            {key.rsplit("/", 1)[1]: self.store.get(key) for key in self.store.keys(self.folder)},
            {path.name: path.read_bytes() for path in (self.root / "alone").iterdir()})

    def test_exports_that_are_refused(self):
        """A message names the cause for which an address cannot be claimed."""
        self.train("first", "--checkpoint", self.root / "refused", "--steps", "20")
        address = self.address + "/export"
        command = PDL_CHECKPOINT, "export", self.root / "refused", "-o", address
        self.store.faults.append(
            Fault("denied", 1, lambda method, path: method == "PUT" and "/.pdl-export" in path))
        said = fails(*command, env=self.store.environment)
        self.assertIn("403 AccessDenied", said)
        self.assertNotIn("another process", said)
        self.assertEqual(self.store.keys(self.folder + "/"), [])
        # A complete export whose claim cannot be removed.
        self.store.faults.append(
            Fault("denied", 1, lambda method, path: method == "DELETE" and "/.pdl-export" in path))
        run(*command, env=self.store.environment)
        self.assertIn(f"remove only {address}/.pdl-export",
                      fails(*command, env=self.store.environment))
        self.store.delete(f"{self.folder}/export/export.json")
        self.assertIn("another process exports to it",
                      fails(*command, env=self.store.environment))

    def test_stopped_commands(self):
        """The message of a stopped command names what is left to do."""
        self.train("first", "--checkpoint", self.root / "stopped", "--steps", "20")
        self.store.put(f"{self.folder}/dump", b"the file before")
        for command, file, outcome in (
                ("dump", "dump", "no unfinished file is at "),
                ("export", "export/table", "remove what was not finished at ")):
            address = f"{self.address}/{command}"
            held = Fault("held", 10**9, lambda method, path, file=file: (
                method == "PUT" and f"{self.folder}/{file}" in path))
            self.store.faults.append(held)
            with self.subTest(command), subprocess.Popen(
                    [PDL_CHECKPOINT, command, self.root / "stopped", "-o", address],
                    env=self.store.environment, stderr=subprocess.PIPE, text=True) as process:
                try:
                    self.wait_for_request(held)
                    process.send_signal(signal.SIGINT)
                    self.assertIn("stopped by SIGINT; " + outcome + address,
                                  process.communicate(timeout=LONG)[1])
                    self.assertEqual(process.returncode, 128 + signal.SIGINT)
                    # A request that was sent may still be carried out after this.
                    if command == "dump":
                        self.assertEqual(self.store.get(f"{self.folder}/dump"),
                                         b"the file before")
                finally:
                    held.released.set()
                    self.store.faults.clear()
                    process.kill()

    def test_exports_of_a_store_that_is_down(self):
        """If the store does not respond, a command does not take an export for another folder."""
        self.train("first", "--checkpoint", self.root / "down", "--steps", "20")
        environment = {**self.store.environment, "AWS_MAX_ATTEMPTS": "2"}
        address = self.address + "/export"
        run(PDL_CHECKPOINT, "export", self.root / "down", "-o", address, env=environment)
        self.store.faults.append(
            Fault("status", 10**9, lambda method, path: path.endswith("/export.json")))
        for command in ["inspect", address], ["diff", address, self.root / "down"]:
            error = fails(PDL_CHECKPOINT, *command, status=3, env=environment)
            self.assertIn("export.json: cannot be read: 503", error)

    def test_damage(self):
        self.train("first", "--checkpoint", self.address, "--steps", "40", "--checkpoint-steps",
                   "20")
        damaged = next(key for key in self.store.keys(self.folder + "/step-000000000040/")
                       if key.endswith(".safetensors"))
        content = bytearray(self.store.get(damaged))
        content[-1] ^= 1
        self.store.put(damaged, bytes(content))
        self.assertEqual(self.resume(), self.expected)


if __name__ == "__main__":
    unittest.main()
