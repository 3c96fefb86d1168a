# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder of models of pdl-serve, while clients send requests: checkpoints that are followed,
versions that are added and removed, libraries that are replaced, exports and dumps."""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import SMALL, ServedModels, Server, inputs_of, single, small_inputs
from programs import BUILD, PDL_TRANSLATE, checkpoints_in, run
from waiting import wait_until

# Constants of Linux.
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def obey_permissions():
    """Removes root's right to read all files."""
    libc = ctypes.CDLL(None)
    for capability in CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH:
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class ServeFolder(ServedModels):
    saved = {"ctr": (1, 2), "small": (1,)}

    @contextlib.contextmanager
    def asking(self, server, allowed):
        """Runs clients that send requests continuously. Each result must be one of `allowed`."""
        failures, seen, ends = [], set(), threading.Event()
        inputs = inputs_of(self.lines[:8])

        def ask():
            connection = server.connect()
            while not ends.is_set():
                try:
                    answer = tuple(single(number) for number in
                                   server.infer(inputs, connection=connection)["output0"])
                    seen.add(answer)
                    if answer not in allowed:
                        failures.append(answer)
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(repr(error))
                    return
            connection.close()

        clients = [threading.Thread(target=ask) for _ in range(3)]
        for client in clients:
            client.start()
        try:
            yield seen
        finally:
            ends.set()
            for client in clients:
                client.join()
        self.assertEqual(failures, [])

    def test_checkpoints_are_followed(self):
        """A newer checkpoint is loaded while clients send requests. A damaged one is reported, and
        the previous one stays in use."""
        one, two = self.first(1), self.first(2)
        self.assertNotEqual(one, two)
        version = self.deploy()
        followed = version / "checkpoints"
        newer = checkpoints_in(self.checkpoints("ctr", 2))[-1]
        # No training writes this name, so the folder is not considered as the newest checkpoint.
        shutil.copytree(next(followed.glob("step-*")), followed / "step-9")
        with Server(self.models) as server, self.asking(server, {one, two}) as seen:
            # Both clients and the server may get no CPU time for a while.
            wait_until(lambda: one in seen)
            shutil.copytree(newer, followed / ".newer")
            (followed / ".newer").rename(followed / newer.name)
            server.wait_for(f"took the values of .*{newer.name}")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(two))
            wait_until(lambda: two in seen)
            self.assertEqual(seen, {one, two})
            self.assertEqual(server.metric("pdl_serve_model_values"), 2)
            # Add a damaged checkpoint.
            damaged = followed / "step-000000999999"
            shutil.copytree(newer, followed / ".damaged")
            table = next((followed / ".damaged").glob("table-*"))
            content = bytearray(table.read_bytes())
            content[-1] ^= 1
            table.write_bytes(content)
            (followed / ".damaged").rename(damaged)
            told = server.wait_for("warning: .*damaged.*")[0]
            self.assertIn("model ctr, version 1: ", told)
            self.assertIn("what was loaded before goes on", told)
            wait_until(lambda: server.metric("pdl_serve_model_broken") == 1)
            self.assertEqual(server.metric("pdl_serve_loads_total", outcome="failed"), 1)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)
            index = json.loads(server.ask("POST", "/v2/repository/index")[1])
            self.assertEqual(index[0]["state"], "READY")
            self.assertIn("damaged", index[0]["reason"])
            # Use one rename: a partly removed checkpoint would be reported again, with another
            # fault.
            damaged.rename(followed / ".gone")
            wait_until(lambda: server.metric("pdl_serve_model_broken") == 0)
            # The damage is reported once.
            self.assertEqual(sum("warning: " in line for line in server.lines), 1)
            # If the newer checkpoint is removed, the older one is loaded.
            before = len(server.lines)
            (followed / newer.name).rename(followed / ".newer")
            server.wait_for("took the values of .*", before)
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))

    def test_checkpoints_go_while_they_are_read(self):
        """A training keeps only one checkpoint, with and without deltas. Checkpoints that are
        removed while they are read cause no failure, and the last one is loaded."""
        version = self.deploy("small")
        followed = version / "checkpoints"
        shutil.rmtree(followed)
        followed.mkdir()
        with Server(self.models) as server:
            # This is not a failure of a checkpoint.
            server.wait_for("warning: .*has no checkpoint yet")
            for deltas in 0, 3:
                before = server.metric("pdl_serve_model_values")
                # Repeat until the server has loaded some checkpoints; this depends on the speed of
                # the machine.
                with subprocess.Popen([self.trainers["small"] / "trainer", "train", "--resume",
                                       "--data", self.small_data, "--batch-size", "4",
                                       "--epochs", "1000000", "--checkpoint", followed,
                                       "--checkpoint-steps", "1", "--checkpoint-keep", "1",
                                       "--checkpoint-deltas", str(deltas)],
                                      stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE) as training:
                    try:
                        wait_until(lambda: server.metric("pdl_serve_model_values") > before + 3,
                                   said=lambda: "".join(server.lines))
                    finally:
                        training.send_signal(signal.SIGTERM)
                        _, errors = training.communicate()
                self.assertEqual(training.returncode, 128 + signal.SIGTERM, errors)
                last = checkpoints_in(followed)[-1].name
                server.wait_for(f"(loaded|took the values of) .*{last}")
            self.assertEqual(sum("warning: " in line for line in server.lines), 1, server.lines)
            self.assertEqual(server.metric("pdl_serve_model_broken"), 0)

    def test_damaged_at_the_begin(self):
        """If the newest checkpoint is damaged, an older one is loaded."""
        version = self.deploy()
        broken = version / "checkpoints" / "step-000000999999"
        broken.mkdir()
        with Server(self.models) as server:
            server.wait_for("warning: .*step-000000999999")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))

    def test_versions_come_and_go(self):
        one, two = self.first(1), self.first(2)
        with Server(self.models) as server:
            self.assertEqual(server.ask("GET", "/v2/health/live")[0], 200)
            self.assertEqual(server.refused("GET", "/v2/health/ready"),
                             (503, "no model answers yet"))
            self.deploy()
            server.wait_for("model ctr, version 1: loaded")
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)
            with self.asking(server, {one, two}) as seen:
                second = self.deploy(version=2, epochs=2, link=True)
                server.wait_for("model ctr, version 2: loaded")
                wait_until(lambda: two in seen)
                # If a truncated library were mapped, the process would end.
                third = self.deploy(version=3)
                [library] = third.glob("*.so")
                server.wait_for("model ctr, version 3: loaded")
                shutil.rmtree(third)
                server.wait_for("model ctr, version 3: is gone")
                self.assertEqual(server.refused("GET", "/v2/models/ctr/versions/3"),
                                 (404, "model 'ctr' has no version '3' that answers; its "
                                       "metadata have those that do"))
                before = len(server.lines)
                (self.models / "ctr" / "v3").mkdir()
                server.wait_for("ctr/v3 is passed over: versions are folders, named by whole")
                third.mkdir()
                [whole] = (self.trainers["ctr"] / "library").glob("*.so")
                library.write_bytes(whole.read_bytes()[:1 << 20])
                server.wait_for("model ctr, version 3: .*needs one of a folder", before)
                shutil.copytree(self.checkpoints("ctr", 1), third / "checkpoints")
                server.wait_for("model ctr, version 3: .*is cut off", before)
                self.assertEqual(server.infer(inputs_of(self.lines[:1]))["output0"],
                                 server.infer(inputs_of(self.lines[:1]),
                                              "ctr/versions/2")["output0"])
                shutil.copy(whole, third / ".whole")
                before = len(server.lines)
                (third / ".whole").rename(library)
                server.wait_for("model ctr, version 3: loaded", before)
                shutil.rmtree(third)
                server.wait_for("model ctr, version 3: is gone", before)
                shutil.rmtree(second)
                server.wait_for("model ctr, version 2: is gone")
                wait_until(lambda: server.metric("pdl_serve_model_rows", version="2") == 0)
                self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))
            shutil.rmtree(self.models / "ctr")
            wait_until(lambda: server.ask("GET", "/v2/models/ctr/ready")[0] == 404)

    def test_a_library_is_replaced(self):
        """A library is replaced by another one with the same name and other outputs."""
        version = self.deploy("small")
        other = self.own / "other.mlir"
        other.write_text(SMALL.replace('"score"', '"rating"'))
        run(PDL_TRANSLATE, other, "--numerics=strict", "--emit=library", "-o", self.own / "other")
        with Server(self.models) as server:
            before = server.infer(small_inputs(), "small")
            shutil.copy(self.own / "other" / "libsmall.so", version / ".other")
            lines = len(server.lines)
            (version / ".other").rename(version / "libsmall.so")
            server.wait_for("model small, version 1: loaded", lines)
            after = server.infer(small_inputs(), "small")
            self.assertEqual(list(after), ["rating", "echo"])
            self.assertEqual(list(after.values()), list(before.values()))

    def test_exports(self):
        version = self.deploy()
        shutil.rmtree(version / "checkpoints")
        tool = BUILD / "bin" / "pdl-checkpoint"
        for epochs in 1, 2:
            run(tool, "export", self.checkpoints("ctr", epochs), "-o", self.own / str(epochs))
        (version / "export").symlink_to(self.own / "1")
        with Server(self.models) as server:
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))
            (version / ".next").symlink_to(self.own / "2")
            (version / ".next").rename(version / "export")
            server.wait_for("took the values of .*export")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(2)))

    def test_dumps(self):
        version = self.deploy()
        shutil.rmtree(version / "checkpoints")
        dump = version / "values.safetensors"
        tool = BUILD / "bin" / "pdl-checkpoint"
        run(tool, "dump", self.checkpoints("ctr", 1), "-o", dump)
        with Server(self.models) as server:
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))
            run(tool, "dump", self.checkpoints("ctr", 2), "-o", version / ".new")
            (version / ".new").rename(dump)
            server.wait_for("took the values of .*values.safetensors")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(2)))

    def test_accidents_of_one_entry(self):
        """A fault of one entry affects only that entry: a folder that cannot be read, pipes
        instead of files, slow copies. The server ends without waiting for any of them."""
        self.deploy("small")
        (self.models / "lost+found").mkdir(mode=0)
        os.mkfifo(self.models / "pipe")
        for name, kind in ("library", "x.so"), ("dump", "x.safetensors"), ("servers", "servers.json"):
            piped = self.models / name / ".1"
            piped.mkdir(parents=True)
            if kind != "x.so":
                shutil.copy(next((self.trainers["small"] / "library").glob("*.so")), piped)
            os.mkfifo(piped / kind)
            if kind == "x.so":
                (piped / "checkpoints").symlink_to(self.checkpoints("small", 1))
            piped.rename(piped.with_name("1"))
        with Server(self.models, preexec_fn=obey_permissions) as server:
            server.wait_for("lost\\+found is passed over: it cannot be read")
            server.wait_for("pipe is passed over")
            for name, why in (("library", "is no regular file"), ("dump", "is not a regular file"),
                              ("servers", "is not a regular file")):
                server.wait_for(f"model {name}, version 1: .*{why}")
            self.assertIn("score", server.infer(small_inputs(), "small"))
            # Another model is loaded although its files arrive one by one.
            slow = self.models / "slow" / "1"
            slow.mkdir(parents=True)
            library = next((self.trainers["small"] / "library").glob("*.so")).read_bytes()
            with open(slow / "libsmall.so", "wb") as file:
                for begin in range(0, len(library), len(library) // 3):
                    file.write(library[begin:begin + len(library) // 3])
                    file.flush()
                    time.sleep(0.2)
            source = self.checkpoints("small", 1)
            for path in sorted(source.rglob("*"), key=lambda path: path.name != "manifest.json"):
                to = slow / "checkpoints" / path.relative_to(source)
                to.parent.mkdir(parents=True, exist_ok=True)
                if path.is_file():
                    content = path.read_bytes()
                    to.write_bytes(content[:len(content) // 2])
                    time.sleep(0.2)
                    with open(to, "ab") as file:
                        file.write(content[len(content) // 2:])
            wait_until(lambda: server.ask("GET", "/v2/models/slow/ready")[0] == 200)
            server.wait_for("warning: model slow, version 1: ")
            self.assertEqual(server.infer(small_inputs(), "slow"),
                             server.infer(small_inputs(), "small"))
            # The server is not ready, because three models that were there at the start are not
            # loaded.
            status, content = server.ask("GET", "/v2/health/ready")
            self.assertEqual((status, json.loads(content)["ready"]), (503, False))
            self.assertIn("does not respond", json.loads(content)["error"])
            shutil.rmtree(self.models / "library")
            shutil.rmtree(self.models / "dump")
            shutil.rmtree(self.models / "servers")
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)

    def test_ready_by_what_is_required(self):
        """The server is live immediately, and ready when the required models are loaded."""
        self.deploy("small")
        (self.models / "broken" / "1").mkdir(parents=True)
        with Server(self.models, "--require", "small,later/2") as server:
            self.assertEqual(server.ask("GET", "/v2/health/live")[0], 200)
            # The existing names help to find a misspelled one.
            server.wait_for("--require: later/2 is not in the folder yet, and the server is not "
                            "ready before it is; .* has broken/1, small/1")
            self.assertEqual(server.refused("GET", "/v2/health/ready"),
                             (503, "model later, version 2 does not respond: it is not in the "
                                   f"folder; {self.models} has broken/1, small/1"))
            (self.models / "small").rename(self.models / "later")
            (self.models / "later" / "1").rename(self.models / "later" / "2")
            wait_until(lambda: "model small does not respond" in server.refused(
                "GET", "/v2/health/ready")[1])
            self.deploy("small")
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)

    def test_a_required_model_that_is_misspelled(self):
        self.deploy("small")
        with Server(self.models, "--require", "smal") as server:
            server.wait_for("--require: smal is not in the folder yet.*did you mean 'small'.*has "
                            "small")
            self.assertIn("did you mean 'small'?", server.refused("GET", "/v2/health/ready")[1])

    def test_tables_are_verified(self):
        """Rows of an export were changed. Their checksum is compared if this is requested."""
        version = self.deploy("small")
        shutil.rmtree(version / "checkpoints")
        run(BUILD / "bin" / "pdl-checkpoint", "export", self.checkpoints("small", 1), "-o",
            version / "export")
        table = next((version / "export").glob("*.rows"))
        content = bytearray(table.read_bytes())
        content[-1] ^= 1
        table.write_bytes(content)
        with Server(self.models, "--verify=full") as server:
            server.wait_for("model small, version 1: .*is damaged")
            self.assertEqual(server.ask("GET", "/v2/models/small/ready")[0], 404)
        with Server(self.models) as server:
            self.assertEqual(server.ask("GET", "/v2/models/small/ready")[0], 200)

    @staticmethod
    def exchange_companion(folder):
        """Gives a library another oneDNN, and takes the checksums from its end."""
        companion, library = folder / "libpdl-onednn.so.1", folder / "libsmall.so"
        # The name of a class among the constants.
        companion.write_bytes(
            companion.read_bytes().replace(b"OneDnnStateE", b"OneDnnStatFE", 1))
        content = library.read_bytes()
        companion_bytes, covered = struct.unpack("<QQ", content[-24:-8])
        library.write_bytes(content[:covered - companion_bytes])

    def test_files_next_to_a_library(self):
        """A library in fast numerics finds the oneDNN library in its folder."""
        made = self.models / "fast" / "1"
        run(PDL_TRANSLATE, self.root / "small.mlir", "--numerics=fast", "--emit=library", "-o",
            made)
        if not (made / "libdnnl.so.2").exists():
            self.skipTest("PDL was built without oneDNN")
        shutil.copytree(self.checkpoints("small", 1), made / "checkpoints")
        with Server(self.models, "--take-unchecked-libraries") as server:
            self.assertIn("score", server.infer(small_inputs(), "fast"))
            maps = pathlib.Path(f"/proc/{server.process.pid}/maps")
            self.assertIn(f"{made}/libdnnl.so.2", maps.read_text())
            descriptors = 0
            # Each version has its own, although descriptors of removed folders are used again.
            for version in range(2, 7):
                shutil.copytree(made, self.root / "next")
                made.rename(self.root / f"removed{version}")
                server.wait_for(f"model fast, version {version - 1}: is gone")
                made = self.models / "fast" / str(version)
                (self.root / "next").rename(made)
                server.wait_for(f"model fast, version {version}: .* rows")
                self.assertIn("score", server.infer(small_inputs(), "fast"))
                # All have the same one, which stays loaded once.
                opened = {line.split()[-1] for line in maps.read_text().splitlines()
                          if "/libpdl-onednn.so.1" in line}
                self.assertEqual(len(opened), 1, opened)
                count = lambda: len(os.listdir(f"/proc/{server.process.pid}/fd"))
                if version == 3:
                    descriptors = count()
                elif version > 3:
                    # The last request's connection and a folder that is read close in time.
                    wait_until(lambda: count() <= descriptors, said=lambda: f"{count()} are open")
            # Another one is loaded for itself, although the descriptor of a removed folder is
            # used again.
            shutil.copytree(made, self.root / "next")
            made.rename(self.root / "removed")
            server.wait_for(f"model fast, version {version}: is gone")
            made = self.models / "fast" / str(version + 1)
            self.exchange_companion(self.root / "next")
            (self.root / "next").rename(made)
            server.wait_for(f"model fast, version {version + 1}: .* rows")
            self.assertIn("score", server.infer(small_inputs(), "fast"))
            self.assertIn(f"{made}/libpdl-onednn.so.1", maps.read_text())


if __name__ == "__main__":
    unittest.main()
