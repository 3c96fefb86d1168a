#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the throughput and latency of pdl-serve with requests of one sample over a unix socket,
HTTP/JSON.

    python3 bench/serve.py [--build FOLDER] [--seconds N] [--clients N] [flags of pdl-serve]

h2load creates the load (Debian: nghttp2-client), with one thread and --clients connections, each
with one open request. It shares the processors with the server: give both two processors with
`taskset -c 0,1`. The models are models/fm and models/ctr_dnn, trained on little data. The limit,
"nothing", is GET /v2/health/live, which needs no model. Prints requests per second, the percentiles
of a request's latency, the samples of a batch, and the processor time of the server and of h2load
per request, which depends least on other load.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "integration_test" / "support"))


def tensor(name, datatype, data):
    return {"name": name, "datatype": datatype, "shape": [1, len(data)], "data": data}


REQUESTS = {
    "fm": [tensor("numbers", "FP32", [39, 13, 2174, 0, 40]),
           tensor("categories", "BYTES", [
               "State-gov", "Bachelors", "Never-married", "Adm-clerical", "Not-in-family", "White",
               "Male", "United-States"])],
    "ctr_dnn": [tensor("numbers", "FP32", [1, 0, 3, 20, 1382, 4, 15, 2, 181, 1, 2, 0, 2]),
                tensor("categories", "BYTES", [f"{i * 2654435761 % 2 ** 32:08x}"
                                               for i in range(26)])],
}


def deploy(build, name, folder):
    """Trains a model a little, and puts its library and checkpoint into the served folder."""
    os.environ["PDL_BUILD"] = str(build)
    from model_data import model_data  # pylint: disable=import-outside-toplevel
    translate = [build / "bin" / "pdl-translate", SOURCE / "models" / name / f"{name}.mlir"]
    served = folder / "models" / name / "1"
    for command in (
            [*translate, "-o", folder / name],
            [*translate, "--emit=library", "-o", served],
            [folder / name / "trainer", "train", "--data", model_data(name, folder, 20000),
             "--checkpoint", served / "checkpoints"]):
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(options, flags, name, folder):
    path, body, log = folder / "socket", folder / "request.json", folder / "times"
    asked = ["http://localhost/v2/health/live"]
    if name in REQUESTS:
        body.write_text(json.dumps({"inputs": REQUESTS[name]}, separators=(",", ":")))
        asked = ["-d", str(body), f"http://localhost/v2/models/{name}/infer"]
    server = subprocess.Popen([str(options.build / "bin" / "pdl-serve"), str(folder / "models"),
                               "--http", f"unix:{path}", *flags], stderr=subprocess.DEVNULL)
    ready = ["curl", "-sf", "--unix-socket", str(path), "http://x/v2/health/ready"]
    while subprocess.run(ready, stdout=subprocess.DEVNULL, check=False).returncode:
        time.sleep(0.05)
    command = ["h2load", "--h1", "-B", f"unix:{path}", "-t", "1", "-c", str(options.clients),
               *asked]
    subprocess.run([*command, "-n", "2000"], check=True, stdout=subprocess.DEVNULL)
    before = processor_seconds(server.pid)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    log.unlink(missing_ok=True)
    done = subprocess.run([*command, "-D", str(options.seconds), f"--log-file={log}"], check=True,
                          capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = processor_seconds(server.pid) - before
    by_client = (after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime)
    metrics = subprocess.run(["curl", "-s", "--unix-socket", str(path), "http://x/metrics"],
                             check=True, capture_output=True, text=True).stdout
    server.terminate()
    if server.wait() != 0:
        raise SystemExit("pdl-serve did not end well")
    count, good = (int(re.search(rf"(\d+) {word}", done)[1]) for word in ("done", "2xx"))
    if count != good:
        raise SystemExit(f"some requests failed:\n{done}")
    # A line has the time of sending, the status, and microseconds.
    micros = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
    at = [micros[min(len(micros) - 1, int(len(micros) * part))] / 1000
          for part in (0.5, 0.99, 0.999)]
    samples = re.findall(rf'^pdl_serve_batch_samples_(?:sum|count){{model="{name}".*}} (\S+)$',
                         metrics, re.M)
    together = f"{float(samples[1]) / float(samples[0]):.1f} samples a batch   " if samples else ""
    print(f"{name:8} {count / options.seconds:9,.0f} requests/s   p50 {at[0]:.2f} ms   "
          f"p99 {at[1]:.2f} ms   p99.9 {at[2]:.2f} ms   {together}{1e6 * used / count:.1f} us of "
          f"the server's and {1e6 * by_client / count:.1f} us of h2load's processor time a request",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--models", default="fm,ctr_dnn")
    options, flags = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            deploy(options.build, name, pathlib.Path(folder))
        for name in ["nothing", *options.models.split(",")]:
            measure(options, flags, name, pathlib.Path(folder))


if __name__ == "__main__":
    main()
