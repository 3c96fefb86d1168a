# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-serve: a server that the check starts with a library and values, or one that already runs.
"""

import array
import contextlib
import http.client
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

from check_serving import stopping
from check_serving.columns import Column
from check_serving.failure import RETRY, Failure
from check_serving.programs import find_tool

CODES = {"FP32": "f", "FP64": "d"}
SECONDS_TO_LOAD = 600


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("unix")
        self.socket_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.socket_path)


def connect(address):
    if address.startswith("unix:"):
        return UnixConnection(address.removeprefix("unix:"))
    return http.client.HTTPConnection(address)


class Server:
    """Server at `address`, with a name for messages."""

    def __init__(self, name, address, model):
        self.name, self.address, self.model = name, address, model
        self.connection = connect(address)

    def ask(self, method, path, body=None):
        """Sends a request. Returns the status and the body of the response."""
        try:
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"server ({self.name}) at {self.address} does not respond: "
                          f"{error}", RETRY) from None

    def answer(self, program, inputs, batch):
        """Returns columns by output, with one number for each sample."""
        called = self.model if "@" in self.model or program == "predict" else (
            f"{self.model}@{program}")
        path = f"/v2/models/{urllib.parse.quote(called)}/infer"
        results, widths = {}, {}
        for begin, end in inputs.batches(batch):
            body = json.dumps({"inputs": inputs.for_server(begin, end)}, ensure_ascii=False)
            status, content = self.ask("POST", path, body.encode())
            # Parse integers as floats, because the integer -0 would lose its sign.
            answer = json.loads(content, parse_int=float)
            if status != 200:
                raise Failure(f"server ({self.name}) does not respond what @{program} of the "
                              f"trainer reads: {answer.get('error', answer)}")
            for output in answer["outputs"]:
                numbers = results.setdefault(output["name"],
                                             array.array(CODES[output["datatype"]]))
                numbers.extend(float("nan") if number is None else number
                               for number in output["data"])
                widths[output["name"]] = len(output["data"]) // (end - begin)
        return {name: Column(widths[name], numbers) for name, numbers in results.items()}

    def close(self):
        self.connection.close()


def put_values(source, version):
    """Puts values next to a library, where pdl-serve looks for them."""
    source = pathlib.Path(source).absolute()
    if source.is_file():
        (version / source.name).symlink_to(source)
    elif (source / "export.json").exists():
        (version / "export").symlink_to(source)
    elif source.name.startswith("step-"):
        # A delta needs its predecessors, which are in the same folder.
        folder = version / "checkpoints"
        folder.mkdir()
        for each in source.parent.glob("step-*"):
            if each.name <= source.name:
                (folder / each.name).symlink_to(each)
    else:
        (version / "checkpoints").symlink_to(source)


def is_open(path):
    """Returns true if a process accepts connections at the path."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
            return True
        except OSError:
            return False


class StartedServer(Server):
    """Server that the check starts with a library and values, at a unix socket of its own. `close`
    ends it."""

    def __init__(self, options, library, values, folder):
        place = folder / f"server-{len(list(folder.glob('server-*')))}"
        version = place / "models" / library.library.model_name / "1"
        version.mkdir(parents=True)
        shutil.copy(library.path, version)
        for beside in library.path.parent.glob("*.so.*"):
            shutil.copy(beside, version)
        put_values(values, version)
        self.log = place / "log"
        self.path = place / "socket"
        super().__init__(library.name, f"unix:{self.path}", library.library.model_name)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [find_tool(options, "pdl-serve"), place / "models", "--http", self.address,
                 "--interval", "0.05",
                 *(["--accept-old-layout"] if options.accept_old_layout else [])], stderr=log)

    def refuse(self):
        lines = self.log.read_text().splitlines()
        raise Failure(f"pdl-serve ({self.name}) does not come up, and says: "
                      + (lines[-1] if lines else "nothing"))

    def wait(self):
        """Waits until the server has loaded the model."""
        begin = time.monotonic()
        # The socket exists some time before the server listens.
        while not is_open(self.path):
            self.wait_on(begin)
        while self.ask("GET", f"/v2/models/{urllib.parse.quote(self.model)}/ready")[0] != 200:
            index = json.loads(self.ask("POST", "/v2/repository/index", "{}")[1])
            for line in index:
                if line.get("reason"):
                    raise Failure(f"server ({self.name}) cannot load the model: {line['reason']}")
            self.wait_on(begin)

    def wait_on(self, begin):
        stopping.check()
        if self.process.poll() is not None or time.monotonic() > begin + SECONDS_TO_LOAD:
            self.refuse()
        time.sleep(0.02)

    def close(self):
        """Ends the server. Returns the exit status of its process."""
        super().close()
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


@contextlib.contextmanager
def started_server(options, library, values, folder):
    """Yields a server that is ended after the block. If the block succeeds, the server must end
    successfully."""
    with stopping.uninterrupted():
        server = StartedServer(options, library, values, folder)
    try:
        server.wait()
        yield server
    finally:
        with stopping.uninterrupted():
            status = server.close()
    if status:
        raise Failure(f"pdl-serve ({server.name}) ended with status {status}; its log: "
                      f"{server.log.read_text()}")
