# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-serve with models in an object store: it copies them to a bounded cache, follows new
checkpoints and exports, and only reads from the store. Failures and lists that lag concern one
model."""

import contextlib
import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import ServedModels, Server, small_inputs
from object_store import Fault, ObjectStore
from programs import BUILD, PDL_CHECKPOINT, PDL_SERVE, SOURCE, checkpoints_in, fails, run
from waiting import wait_until

MEBIBYTE = 1 << 20


class ServeStore(ServedModels):
    saved = {"small": (1, 2)}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = ObjectStore()
        cls.addClassCleanup(cls.store.close)
        [cls.library] = (cls.trainers["small"] / "library").glob("*.so")
        cls.expected = {}
        for epochs in 1, 2:
            folder = cls.root / f"local-{epochs}" / "small" / "1"
            folder.mkdir(parents=True)
            (folder / cls.library.name).symlink_to(cls.library)
            (folder / "checkpoints").symlink_to(cls.checkpoints("small", epochs))
            with Server(cls.root / f"local-{epochs}") as server:
                cls.expected[epochs] = server.infer(small_inputs(4), "small")
        assert cls.expected[1] != cls.expected[2]

    def setUp(self):
        super().setUp()
        self.prefix = self._testMethodName
        self.cache = self.own / "cache"
        self.first_request = len(self.store.requests)

    def tearDown(self):
        self.store.faults.clear()
        self.store.show_current_lists()
        self.assertEqual(self.store.refused, [])
        # Credentials that may only read suffice.
        self.assertEqual({method for method, _, _ in self.requests()} - {"GET", "HEAD"}, set())

    def requests(self):
        return self.store.requests[self.first_request:]

    def serve(self, limit=64 * MEBIBYTE, address=None, waits=True):
        return Server(address or self.store.address(self.prefix), "--model-cache", self.cache,
                      "--model-cache-bytes", limit, interval="0.3", waits=waits,
                      env={**self.store.environment, "AWS_MAX_ATTEMPTS": "2"})

    def put_library(self, model="small", version=1):
        self.store.put(f"{self.prefix}/{model}/{version}/{self.library.name}", self.library)

    def put_folder(self, source, name):
        """Uploads a folder; manifests come last."""
        files = sorted((path for path in source.rglob("*") if path.is_file()),
                       key=lambda path: (path.suffix == ".json", path))
        for path in files:
            self.store.put(f"{self.prefix}/{name}/{path.relative_to(source)}", path)

    def put_checkpoint(self, epochs, model="small", version=1):
        newest = checkpoints_in(self.checkpoints("small", epochs))[-1]
        self.put_folder(newest, f"{model}/{version}/checkpoints/{newest.name}")
        return newest.name

    def cached_bytes(self):
        """Returns the size of the files in the cache. The server may be removing some of them."""
        total = 0
        for path in (self.cache / "files").iterdir():
            with contextlib.suppress(FileNotFoundError):
                total += path.stat().st_size
        return total

    def wait_for_answer(self, server, epochs, model="small"):
        wait_until(lambda: server.infer(small_inputs(4), model) == self.expected[epochs],
                   said=lambda: "".join(server.lines))

    def test_checkpoints_are_followed(self):
        self.put_library()
        self.put_checkpoint(1)
        with self.serve() as server:
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200,
                       said=lambda: "".join(server.lines))
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[1])
            newer = self.put_checkpoint(2)
            server.wait_for(f"took the values of .*{newer}")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[2])
            # Each attempt of a request is counted.
            seen = len(self.requests())
            page = server.metrics()
            count = server.metric("pdl_store_requests_total", page)
            self.assertTrue(0 < count <= len(self.requests()) and count >= seen - 1, count)
            self.assertGreater(server.metric("pdl_store_bytes_total", direction="read"),
                               self.library.stat().st_size)
            self.assertEqual(server.metric("pdl_store_bytes_total", direction="written"), 0)
            # A page may be written while a request ends.
            wait_until(lambda: server.metric("pdl_store_request_seconds_count",
                                             page := server.metrics()) ==
                       server.metric("pdl_store_requests_total", page))
            # The folder of the older checkpoint is removed when it is not in use any more.
            wait_until(lambda: len(list((self.cache / "versions").iterdir())) == 1)
            self.assertIn("another process uses this cache", fails(
                PDL_SERVE, self.store.address(self.prefix), "--model-cache", self.cache,
                "--model-cache-bytes", "1", "--http", "127.0.0.1:0", env=self.store.environment))
        # Another start uses the copies again, unless they are damaged.
        damaged = max((self.cache / "files").iterdir(), key=lambda path: path.stat().st_size)
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        self.first_request = len(self.store.requests)
        with self.serve(address=self.store.address(self.prefix + "/small")) as server:
            self.wait_for_answer(server, 2)
            server.wait_for("warning: .* is damaged, and is downloaded again")
        read = {path.rsplit("/", 1)[1] for method, path, _ in self.requests()
                if method == "GET" and "list-type" not in path}
        self.assertEqual(read, {self.library.name})

    def test_libraries_open_addresses(self):
        """A library of a program without pdl-serve reads checkpoints, dumps and exports."""
        folder = checkpoints_in(self.checkpoints("small", 1))[-1]
        exported, dump = self.own / "exported", self.own / "dump.safetensors"
        run(PDL_CHECKPOINT, "export", folder, "-o", exported)
        run(PDL_CHECKPOINT, "dump", folder, "-o", dump)
        self.put_folder(exported, "exported")
        self.put_folder(folder, f"saved/{folder.name}")
        self.store.put(f"{self.prefix}/{dump.name}", dump)
        library = self.own / "library" / self.library.name
        shutil.copytree(self.library.parent, library.parent)
        script = ("import array, sys; from pdl import serving\n"
                  "model = serving.Library(sys.argv[1]).open(sys.argv[2])\n"
                  "inputs = {'x': array.array('f', [0.25] * 8), 'item': array.array('q', [3] * 4)}\n"
                  "print(model.run('predict', inputs))\n"
                  "model.reload(sys.argv[2])\n")
        environment = {**self.store.environment, "PYTHONPATH": str(SOURCE / "python")}
        cache = {"PDL_STORE_CACHE": str(self.cache), "PDL_STORE_CACHE_BYTES": str(64 * MEBIBYTE)}

        def command(values):
            return sys.executable, "-c", script, library, values

        expected = run(*command(folder), env=environment).stdout
        address = self.store.address(self.prefix)
        self.assertIn("libpdl-http.so.1 next to the program or serving library",
                      fails(*command(address + "/saved"), env=environment))
        shutil.copy(BUILD / "lib" / "pdl" / "libpdl-http.so.1", library.parent)
        self.assertIn("set PDL_STORE_CACHE to a folder",
                      fails(*command(address + "/exported"), env=environment))
        for values in ("saved", "saved/", f"saved/{folder.name}", "exported/", dump.name):
            with self.subTest(values):
                self.assertEqual(run(*command(f"{address}/{values}"),
                                     env={**environment, **cache}).stdout, expected)

    def test_the_cache_is_bounded(self):
        library = self.library.stat().st_size
        values = sum(path.stat().st_size for epochs in (1, 2) for path in
                     checkpoints_in(self.checkpoints("small", epochs))[-1].rglob("*")
                     if path.is_file())
        self.put_library()
        self.put_checkpoint(1)
        with self.serve(limit=library + values + 10) as server:
            self.wait_for_answer(server, 1)
            self.put_checkpoint(2)
            self.wait_for_answer(server, 2)
            self.assertLessEqual(self.cached_bytes(), library + values + 10)
            # A second model does not fit, and the first one stays.
            self.store.put(f"{self.prefix}/other/1/lib.so", b"x" * library)
            server.wait_for("model other, version 1: .*make the cache larger")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[2])
        with self.serve(limit=library) as server:
            server.wait_for("model small, version 1: .*make the cache larger")
            self.assertLessEqual(self.cached_bytes(), library)

    def test_failures_of_one_model(self):
        """A model whose files cannot be downloaded does not delay another one, says why it is not
        ready, and is loaded when the store responds again."""
        for model in "small", "other":
            self.put_library(model)
            self.put_checkpoint(1, model)
        self.store.faults.append(
            Fault("status", 10**9, lambda method, path: "/other/" in path and method == "GET"))
        with self.serve(waits=False) as server:
            server.wait_for("model small, version 1: loaded")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[1])
            server.wait_for("warning: model other, version 1: .*cannot be read: 503")
            status, why = server.refused("GET", "/v2/health/ready")
            self.assertEqual(status, 503)
            self.assertIn("model other, version 1 does not respond: s3://", why)
            self.store.faults[:] = [Fault("cut", 2, lambda method, path: ".so" in path),
                                    Fault("slow", 2, lambda method, path: "table" in path)]
            wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)
            self.assertEqual(server.infer(small_inputs(4), "other"), self.expected[1])
            for outcome in "ok", "retried", "failed":
                self.assertGreater(server.metric("pdl_store_requests_total", request="read",
                                                 outcome=outcome), 0)
            # A store that does not respond changes nothing.
            self.store.faults[:] = [Fault("status", 10**9)]
            server.wait_for("warning: .*cannot be listed: 503.*the models stay as they are")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[1])
            self.store.faults.clear()
            self.store.delete(f"{self.prefix}/other/")
            server.wait_for("model other, version 1: is gone")
        self.store.faults.append(Fault("status", 10**9))
        with self.serve(waits=False) as server:
            wait_until(lambda: "cannot be listed: 503" in
                       server.refused("GET", "/v2/health/ready")[1])

    def test_lists_that_lag(self):
        """New files are not listed yet, and removed ones still are."""
        self.put_library()
        self.put_checkpoint(1)
        with self.serve() as server:
            self.wait_for_answer(server, 1)
            # The list has the new manifest, but not its files.
            self.store.show_old_lists()
            newer = self.put_checkpoint(2)
            self.store.show_old_lists(lambda key: newer not in key or key.endswith(".json"))
            self.wait_for_answer(server, 2)
            # Everything is removed, but still listed; an unknown version too.
            self.put_library(version=2)
            self.store.show_old_lists()
            self.store.delete(f"{self.prefix}/small/")
            server.wait_for("model small, version 2: ")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[2])
            self.store.show_current_lists()
            server.wait_for("model small, version 1: is gone")

    def test_exports(self):
        for epochs in 1, 2:
            run(PDL_CHECKPOINT, "export", self.checkpoints("small", epochs), "-o",
                self.own / str(epochs))
        self.put_library()
        self.put_folder(self.own / "1", "small/1/export")
        with self.serve() as server:
            self.wait_for_answer(server, 1)
            # A manifest without its files is refused, and the complete export is loaded.
            manifest = f"{self.prefix}/small/1/export/export.json"
            self.store.put(manifest, self.own / "2" / "export.json")
            server.wait_for("warning: model small, version 1: .*what was loaded before goes on")
            index = json.loads(server.ask("POST", "/v2/repository/index")[1])
            self.assertEqual(index[0]["state"], "READY")
            self.assertEqual(server.infer(small_inputs(4), "small"), self.expected[1])
            self.put_folder(self.own / "2", "small/1/export")
            self.wait_for_answer(server, 2)

    def test_flags(self):
        def refused(*flags):
            return fails(PDL_SERVE, *flags, status=2, env=self.store.environment)

        address = self.store.address(self.prefix)
        self.assertIn("give a folder of this host with --model-cache", refused(address))
        self.assertIn("are for models at an address",
                      refused(self.own, "--model-cache", self.cache))
        self.assertIn("no store has addresses of the scheme gs", refused(
            "gs://bucket/models", "--model-cache", self.cache, "--model-cache-bytes", "1"))


if __name__ == "__main__":
    unittest.main()
