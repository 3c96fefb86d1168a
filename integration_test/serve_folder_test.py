# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder of models of pdl-serve, while clients ask: checkpoints that are followed, versions
that come and go, libraries that are replaced, exports and dumps."""

import contextlib
import json
import pathlib
import shutil
import threading
import unittest

from model_server import SMALL, ServedModels, Server, inputs_of, single, small_inputs
from programs import BUILD, PDL_TRANSLATE, checkpoints_in, run


class ServeFolder(ServedModels):
    saved = {"ctr": (1, 2), "small": (1,)}

    @contextlib.contextmanager
    def asking(self, server, allowed):
        """Clients that ask all the while; each answer is one of `allowed`."""
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
        """A newer checkpoint is taken while clients ask; a damaged one is told of, and what was
        there before goes on."""
        one, two = self.first(1), self.first(2)
        self.assertNotEqual(one, two)
        version = self.deploy()
        followed = version / "checkpoints"
        newer = checkpoints_in(self.checkpoints("ctr", 2))[-1]
        # No training calls one so: the newest is not looked for among them.
        shutil.copytree(next(followed.glob("step-*")), followed / "step-9")
        with Server(self.models) as server, self.asking(server, {one, two}) as seen:
            # Both clients and the server may get no time for a while.
            self.wait_until(lambda: one in seen)
            shutil.copytree(newer, followed / ".newer")
            (followed / ".newer").rename(followed / newer.name)
            server.wait_for(f"took the values of .*{newer.name}")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(two))
            self.wait_until(lambda: two in seen)
            self.assertEqual(seen, {one, two})
            self.assertEqual(server.metric("pdl_serve_model_values"), 2)
            # Damaged.
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
            self.wait_until(lambda: server.metric("pdl_serve_model_broken") == 1)
            self.assertEqual(server.metric("pdl_serve_loads_total", outcome="failed"), 1)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)
            index = json.loads(server.ask("POST", "/v2/repository/index")[1])
            self.assertEqual(index[0]["state"], "READY")
            self.assertIn("damaged", index[0]["reason"])
            # By one rename: half removed it would be damaged in another way, and told of again.
            damaged.rename(followed / ".gone")
            self.wait_until(lambda: server.metric("pdl_serve_model_broken") == 0)
            # Told once.
            self.assertEqual(sum("warning: " in line for line in server.lines), 1)
            # Without the newer one, back to the older one.
            before = len(server.lines)
            (followed / newer.name).rename(followed / ".newer")
            server.wait_for("took the values of .*", before)
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))

    def test_checkpoints_go_while_they_are_read(self):
        """A training that keeps one checkpoint only, deltas among them: what it removes while it is
        read is no failure, and the last one is taken."""
        version = self.deploy("small")
        followed = version / "checkpoints"
        shutil.rmtree(followed)
        followed.mkdir()
        flags = ("--data", self.small_data, "--batch-size", "4", "--epochs", "20", "--checkpoint",
                 followed, "--checkpoint-steps", "1", "--checkpoint-keep", "1")
        with Server(self.models) as server:
            # Which is no failure of a checkpoint.
            server.wait_for("warning: .*has no checkpoint yet")
            for deltas in 0, 3:
                run(self.trainers["small"] / "trainer", "train", "--resume",
                    "--checkpoint-deltas", deltas, *flags)
                flags = tuple("40" if flag == "20" else flag for flag in flags)
                last = checkpoints_in(followed)[-1].name
                server.wait_for(f"(loaded|took the values of) .*{last}")
            self.assertEqual(sum("warning: " in line for line in server.lines), 1, server.lines)
            self.assertGreater(server.metric("pdl_serve_model_values"), 5)
            self.assertEqual(server.metric("pdl_serve_model_broken"), 0)

    def test_damaged_at_the_begin(self):
        """An older checkpoint is better than none."""
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
            self.wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)
            with self.asking(server, {one, two}) as seen:
                second = self.deploy(version=2, epochs=2, link=True)
                server.wait_for("model ctr, version 2: loaded")
                self.wait_until(lambda: two in seen)
                # A library that is cut off would end the process if it was mapped.
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
                self.wait_until(lambda: server.metric("pdl_serve_model_rows", version="2") == 0)
                self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))
            shutil.rmtree(self.models / "ctr")
            self.wait_until(lambda: server.ask("GET", "/v2/models/ctr/ready")[0] == 404)

    def test_a_library_is_replaced(self):
        """Another one of the same name, with other outputs."""
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

    def test_what_lies_beside(self):
        """A library of numerics fast finds the oneDNN beside it."""
        made = self.models / "fast" / "1"
        run(PDL_TRANSLATE, self.root / "small.mlir", "--numerics=fast", "--emit=library", "-o",
            made)
        if not (made / "libdnnl.so.2").exists():
            self.skipTest("PDL was built without oneDNN")
        shutil.copytree(self.checkpoints("small", 1), made / "checkpoints")
        with Server(self.models) as server:
            self.assertIn("score", server.infer(small_inputs(), "fast"))
            maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
            self.assertIn(f"{made}/libdnnl.so.2", maps)


if __name__ == "__main__":
    unittest.main()
