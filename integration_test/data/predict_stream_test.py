# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`trainer predict` as part of a pipeline: rows arrive while it runs, predictions are written in
bounded time, and either end may be closed first. Also tests the output formats."""

import array
import csv
import fcntl
import gzip
import io
import math
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import termios
import threading
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import compile_model, fails, run
from waiting import LONG, cpu_ticks, wait_until_idle

import tensorfile

MODEL = """
module @streamed {
  nn.record @r {
    nn.field @request : tensor<?x1xi64> hash(#nn.hash<xxh64>)
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
    nn.field @id : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @two : tensor<1x1xf32> in @g init(#nn.constant<2.0>)
  nn.param @pair : tensor<1x2xf32> init(#nn.constant<0.3>)
  nn.program @train reads(@r except [@request, @id]) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @two : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except [@request, @y, @id]) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @two : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }
  nn.program @typed frozen reads(@r except [@request, @y, @id]) {
  ^bb0(%x: tensor<?x1xf32>):
    %pair = nn.linear %x, @pair : (tensor<?x1xf32>) -> tensor<?x2xf32>
    %wide = nn.cast %pair : (tensor<?x2xf32>) -> tensor<?x2xf64>
    nn.return %pair as "pair, of %", %wide as "wide"
      : tensor<?x2xf32>, tensor<?x2xf64>
  }
  nn.program @clashes frozen reads(@r except [@request, @y, @id]) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x as "request.splits" : tensor<?x1xf32>
  }
  nn.program @reserved frozen reads(@r except [@request, @y, @id]) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x as "__metadata__" : tensor<?x1xf32>
  }
}
"""


def lines_of(numbers, prefix="r"):
    """Returns rows of the record as TSV: request, y, x, id."""
    return "".join(f"{prefix}{n}\t0\t{n}\t{n}\n" for n in numbers)


def predictions_of(numbers, prefix="r"):
    return [f"{prefix}{n}\t{2 * n}" for n in numbers]


class Predictor:
    """Running `trainer predict`. Tests write to it and read from it while it runs."""

    def __init__(self, arguments, **streams):
        self.process = subprocess.Popen(
            [str(a) for a in arguments],
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
               "stderr": subprocess.PIPE, **streams})
        self.lines = queue.Queue()
        if self.process.stdout:
            self.reader = threading.Thread(target=self._read, daemon=True)

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))

    def start_reading(self):
        self.reader.start()
        return self

    def send(self, content):
        if isinstance(content, str):
            content = content.encode()
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def take(self, count):
        """Returns the next `count` lines, while the input stays open."""
        return [self.lines.get(timeout=LONG) for _ in range(count)]

    def await_bytes(self, pipe, holds):
        """Waits until `holds` is true for the number of bytes in a pipe."""
        for _ in range(LONG * 20):
            count = array.array("i", [0])
            fcntl.ioctl(pipe, termios.FIONREAD, count)
            if holds(count[0]):
                return
            time.sleep(0.05)
        raise AssertionError(f"{count[0]} bytes are in the pipe")

    def await_handlers(self):
        """Waits until the process handles the signals to stop, so that they no longer kill it."""
        wanted = (1 << (signal.SIGINT - 1)) | (1 << (signal.SIGTERM - 1))
        for _ in range(LONG * 20):
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            if int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16) & wanted == wanted:
                return
            time.sleep(0.05)
        raise AssertionError("the signals are not caught")

    def await_idle(self):
        """Waits until the process does nothing but wait for a reader."""
        pid = self.process.pid
        wait_until_idle([pid], lambda: cpu_ticks(pid))
        if self.process.poll() is not None:
            raise AssertionError(f"it ended with {self.process.returncode}")

    def end(self):
        """Closes the input. Returns the status, the remaining lines and the errors."""
        self.process.stdin.close()
        return self.wait()

    def wait(self):
        errors = self.process.stderr.read().decode()
        status = self.process.wait(LONG)
        if self.process.stdout and self.reader.ident:
            self.reader.join(LONG)
        rest = []
        while not self.lines.empty():
            rest.append(self.lines.get())
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except BrokenPipeError:
                pass
        return status, rest, errors


class PredictStream(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "model.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "model.mlir", cls.root / "out",
                                    "--numerics=strict")
        (cls.root / "train.tsv").write_text("0\t1\n")
        cls.start = cls.root / "start.safetensors"
        run(cls.trainer, "train", "--data", cls.root / "train.tsv", "--columns", "y,x",
            "--steps", 0, "--dump", cls.start)

    def put(self, name, text):
        path = self.root / name
        path.write_text(text)
        return path

    def pipe(self, name):
        path = self.root / name
        if not path.exists():
            os.mkfifo(path)
        return path

    def command(self, *flags, data="-"):
        files = data if isinstance(data, (list, tuple)) else [data]
        return [self.trainer, "predict", "--data", *files, "--init-from", self.start,
                "--delimiter", "tab", "--id", "request", *flags]

    def stream(self, *flags, **options):
        return Predictor(self.command(*flags), **options).start_reading()

    def refused(self, *flags, data="-", text="", status=2):
        said = fails(*self.command(*flags, data=data), status=status, input=text, timeout=LONG)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith("error: "), said)
        return said

    # Rows that arrive one by one.

    def test_predictions_come_while_the_input_stays_open(self):
        for threads in (1, 4):
            with self.subTest(threads=threads):
                stream = self.stream("--threads", threads, "--max-bad-rows", 3)
                stream.send(lines_of([1, 2, 3]))
                self.assertEqual(stream.take(4), ["request\tz", *predictions_of([1, 2, 3])])
                # A partial row is not predicted.
                stream.send(lines_of([4]) + "r5\t0")
                self.assertEqual(stream.take(1), predictions_of([4]))
                stream.send("\t5\t5\n")
                self.assertEqual(stream.take(1), predictions_of([5]))
                # A bad row is reported without waiting for a good one, and keeps its place.
                stream.send("bad\t0\twhat\t0\n")
                self.assertEqual(stream.take(1), ["bad\tnan"])
                stream.send(lines_of([6]) + "worse\t0\n" + lines_of([7]) + "worst\n")
                self.assertEqual(stream.take(4), [*predictions_of([6]), "worse\tnan",
                                                  *predictions_of([7]), "worst\tnan"])
                # The last line has no line break.
                stream.send(lines_of([8])[:-1])
                status, rest, errors = stream.end()
                self.assertEqual((status, rest), (0, predictions_of([8])), errors)
                self.assertIn("predicted 8 samples, nan for 3 bad rows", errors)
                self.assertIn("predicted nan for standard input:6:3: field `x`", errors)

    def test_many_rows_then_nothing(self):
        count = 20_000
        for threads in (1, 3):
            for wait in (0, 20):
                with self.subTest(threads=threads, wait=wait):
                    stream = self.stream("--threads", threads, "--batch-size", 96,
                                         "--flush-after", wait)
                    stream.send(lines_of(range(count)))
                    self.assertEqual(stream.take(count + 1)[1:], predictions_of(range(count)))
                    status, rest, errors = stream.end()
                    self.assertEqual((status, rest), (0, []), errors)

    def test_the_last_of_several_batches_waits_for_none(self):
        stream = self.stream("--threads", 2, "--batch-size", 1)
        begin = 0
        for burst in range(400):
            numbers = range(begin, begin + 2 + burst % 3)
            stream.send(lines_of(numbers))
            got = stream.take(len(numbers) + (burst == 0))
            self.assertEqual(got[-len(numbers):], predictions_of(numbers))
            begin = numbers.stop
        self.assertEqual(stream.end()[:2], (0, []))

    def test_rows_wait_for_others_as_long_as_is_said(self):
        # Rows wait up to an hour, so a batch ends by its size or at the end of the input.
        stream = self.stream("--batch-size", 4, "--flush-after", 3_600_000)
        stream.send(lines_of(range(6)))
        self.assertEqual(stream.take(5)[1:], predictions_of(range(4)))
        time.sleep(0.5)
        self.assertTrue(stream.lines.empty())
        status, rest, errors = stream.end()
        self.assertEqual((status, rest), (0, predictions_of([4, 5])), errors)

    def test_batches_change_no_result(self):
        numbers = [math.sin(i) for i in range(300)]
        rows = "".join(f"q{i}\t0\t{x!r}\t{i}\n" for i, x in enumerate(numbers))
        whole = run(*self.command("--program", "typed", data=self.put("w.tsv", rows))).stdout
        stream = self.stream("--program", "typed", "--flush-after", 0)
        got = []
        for begin in range(0, len(numbers), 7):
            part = rows.splitlines(keepends=True)[begin:begin + 7]
            stream.send("".join(part))
            got += stream.take(len(part) + (begin == 0))
        self.assertEqual(stream.end()[0], 0)
        self.assertEqual("\n".join(got) + "\n", whole)

    def test_packed_input(self):
        packer = zlib.compressobj(wbits=31)
        for threads in (1, 2):
            stream = self.stream("--threads", threads)
            packer = zlib.compressobj(wbits=31)
            for numbers in ([1, 2], [3]):
                stream.send(packer.compress(lines_of(numbers).encode()) +
                            packer.flush(zlib.Z_SYNC_FLUSH))
                got = stream.take(len(numbers) + (numbers[0] == 1))
                self.assertEqual(got[-len(numbers):], predictions_of(numbers))
            stream.send(packer.compress(lines_of([4]).encode()) + packer.flush())
            # A file with several gzip members, as `cat` of two gzip files gives it.
            status, rest, errors = stream.end()
            self.assertEqual((status, rest), (0, predictions_of([4])), errors)
        packed = self.root / "packed"
        packed.write_bytes(gzip.compress(lines_of([1]).encode()) +
                           gzip.compress(lines_of([2]).encode()))
        with open(packed, "rb") as file:
            printed = subprocess.run([str(a) for a in self.command()], stdin=file,
                                     capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed.splitlines()[1:], predictions_of([1, 2]))
        # The compressed file is truncated.
        with open(packed, "r+b") as file:
            file.truncate(packed.stat().st_size - 3)
        with open(packed, "rb") as file:
            done = subprocess.run([str(a) for a in self.command()], stdin=file,
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: standard input: cannot be decompressed: it ends in the middle of "
                      "member 2", done.stderr)

    # Several files.

    def test_files_keep_their_order(self):
        for threads in (1, 3):
            with self.subTest(threads=threads):
                first = self.put("first.tsv", lines_of(range(100), "a"))
                fifo = self.pipe("second")
                last = self.put("last.tsv", lines_of(range(5), "d"))
                stream = Predictor(self.command("--threads", threads, "--batch-size", 64,
                                                data=[first, fifo, "-", last])).start_reading()
                # Rows of earlier files do not wait for data of later ones.
                self.assertEqual(stream.take(101)[1:], predictions_of(range(100), "a"))
                stream.send(lines_of([9], "c"))
                with open(fifo, "w") as second:
                    for number in range(3):
                        second.write(lines_of([number], "b"))
                        second.flush()
                        self.assertEqual(stream.take(1), predictions_of([number], "b"))
                self.assertEqual(stream.take(1), predictions_of([9], "c"))
                status, rest, errors = stream.end()
                self.assertEqual((status, rest), (0, predictions_of(range(5), "d")), errors)

    def test_regular_files_in_order(self):
        files = [self.put(f"part{i}.tsv", lines_of(range(i, 1000 + i), f"f{i}-"))
                 for i in (2, 0, 1)]
        wanted = [line for i in (2, 0, 1)
                  for line in predictions_of(range(i, 1000 + i), f"f{i}-")]
        for threads in (1, 3):
            printed = run(*self.command("--threads", threads, "--batch-size", 97,
                                        data=files)).stdout
            self.assertEqual(printed.splitlines(), ["request\tz", *wanted])

    def test_a_header_and_a_range_of_rows(self):
        stream = self.stream("--header", "--rows", "1:3")
        stream.send("id\tx\trequest\n" + "".join(f"0\t{n}\tr{n}\n" for n in range(3)))
        self.assertEqual(stream.take(3)[1:], predictions_of([1, 2]))
        # The process has all requested rows, and ends.
        status, rest, errors = stream.wait()
        self.assertEqual((status, rest), (0, []), errors)

    def test_bad_rows_alone(self):
        done = subprocess.run([str(a) for a in self.command("--max-bad-rows", 9)], text=True,
                              input="r0\t0\tmany\t0\nr1\t0\tfew\t0\n", capture_output=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines()[1:], ["r0\tnan", "r1\tnan"])
        self.assertRegex(done.stderr, "warning: predicted nan for standard input:1:3: field `x`: "
                                      "`many` is not")
        self.assertIn(": all rows are bad (2); check the delimiter and the columns", done.stderr)

    def test_standard_input_is_read_from_where_it_stands(self):
        path = self.put("offset.tsv", lines_of(range(4)))
        with open(path, "rb") as file:
            os.lseek(file.fileno(), len(lines_of([0, 1])), os.SEEK_SET)
            printed = subprocess.run([str(a) for a in self.command()], stdin=file,
                                     capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed.splitlines()[1:], predictions_of([2, 3]))
        self.assertIn("no samples in standard input", self.refused(status=1))

    # Ends of the input and the output, and signals.

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for threads in (1, 4):
                for sent in (0, 3):
                    with self.subTest(number=number, threads=threads, sent=sent):
                        stream = self.stream("--threads", threads)
                        if sent:
                            stream.send(lines_of(range(sent)))
                            stream.take(sent + 1)
                        else:
                            stream.await_handlers()
                        stream.process.send_signal(number)
                        status, rest, errors = stream.wait()
                        self.assertEqual((status, rest), (128 + number, []), errors)
                        self.assertEqual(errors.count("stopped by a signal"), 1, errors)
                        if sent:
                            self.assertIn("the standard output has predictions of the first 3 "
                                          "rows only", errors)

    def test_who_reads_the_predictions_may_leave(self):
        for threads in (1, 4):
            with self.subTest(threads=threads):
                stream = Predictor(self.command("--threads", threads))
                stream.send(lines_of([1]))
                self.assertEqual(stream.process.stdout.readline(), b"request\tz\n")
                stream.process.stdout.close()
                stream.send(lines_of([2]))
                # The input of the process stays open.
                self.assertEqual(stream.process.wait(LONG), 3)
                errors = stream.process.stderr.read().decode()
                self.assertEqual(errors.count("error: "), 1, errors)
                self.assertIn("error: cannot write predictions to the standard output: no "
                              "process reads them any more\n", errors)
                stream.process.stdin.close()
                stream.process.stderr.close()

    def test_a_signal_ends_who_waits_for_a_reader(self):
        data = self.put("many.tsv", lines_of(range(200_000)))
        stream = Predictor(self.command(data=data), stdin=subprocess.DEVNULL)
        self.assertEqual(stream.process.stdout.readline(), b"request\tz\n")
        # No process reads the output, so the pipe is full before everything is written.
        stream.await_idle()
        stream.process.send_signal(signal.SIGTERM)
        status, _, errors = stream.wait()
        self.assertEqual(status, 128 + signal.SIGTERM)
        self.assertIn("the last predictions for the standard output were not written: no "
                      "process read them, and a stop signal arrived", errors)

    def test_a_closed_output_is_an_error(self):
        """A closed standard output is an error, because predictions would be lost."""
        data = self.put("closed.tsv", lines_of(range(3)))
        for flags in [], ["--output", "-"]:
            command = [str(a) for a in self.command(*flags, data=data)]
            done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command],
                                  capture_output=True, text=True, timeout=LONG)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("error: the standard output is closed: no process would get the "
                          "predictions; leave it open, or name a file with --output\n", done.stderr)
        # With --output, a standard output is not needed.
        output = self.root / "closed.scores"
        command = [str(a) for a in self.command("--output", output, data=data)]
        subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], check=True, timeout=LONG,
                       capture_output=True)
        self.assertEqual(output.read_text().splitlines()[1:], predictions_of(range(3)))

    def test_an_output_that_is_a_pipe_waits_for_its_reader(self):
        data = self.put("piped.tsv", lines_of(range(1000)))
        pipe = self.pipe("scores.pipe")
        stream = Predictor(self.command("--output", pipe, data=data), stdin=subprocess.DEVNULL)
        stream.await_idle()
        with open(pipe) as scores:
            found = scores.read().splitlines()
        status, _, errors = stream.wait()
        self.assertEqual(status, 0, errors)
        self.assertEqual(found[1:], predictions_of(range(1000)))
        # The first signal ends a process that waits.
        for number in signal.SIGINT, signal.SIGTERM:
            stream = Predictor(self.command("--output", pipe, data=data), stdin=subprocess.DEVNULL)
            stream.await_idle()
            stream.process.send_signal(number)
            status, _, errors = stream.wait()
            self.assertEqual(status, 128 + number)
            self.assertIn(f"error: no predictions were written to {pipe}: no process read it, and "
                          "a stop signal arrived\n", errors)

    def test_who_reads_slowly_gets_what_was_predicted(self):
        data = self.put("slow.tsv", lines_of(range(200_000)))
        stream = Predictor(self.command(data=data), stdin=subprocess.DEVNULL)
        self.assertEqual(stream.process.stdout.readline(), b"request\tz\n")
        stream.await_bytes(stream.process.stdout, lambda count: count > 50_000)
        stream.process.send_signal(signal.SIGTERM)
        stream.start_reading()
        status, rest, errors = stream.wait()
        self.assertEqual(status, 128 + signal.SIGTERM, errors)
        self.assertEqual(rest, predictions_of(range(len(rest))))
        self.assertIn(f"predictions of the first {len(rest)} rows only", errors)

    def test_a_bad_row_ends_it(self):
        stream = self.stream()
        stream.send(lines_of([1]))
        stream.take(2)
        stream.send("r2\t0\twhat\t0\n")
        # The input stays open.
        status, rest, errors = stream.wait()
        self.assertEqual((status, rest), (1, []))
        self.assertIn("error: standard input:2:3: field `x`", errors)

    # Rejected flags and data.

    def test_refuses(self):
        no_delimiter = [str(self.trainer), "predict", "--data", "-", "--init-from",
                        str(self.start)]
        done = subprocess.run(no_delimiter, input="", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "error: standard input has no name that says what ends a cell; "
                             "say it with --delimiter\n"))
        self.assertIn("standard input can be read but once, but is named twice",
                      self.refused(data=["-", "-"]))
        self.assertIn("standard input can be read but once, while --rows by percent",
                      self.refused("--rows", "0%:50%", status=1))
        self.assertIn("--cache keeps the rows of files, but standard input can be read but "
                      "once; leave --cache out", self.refused("--cache", self.root / "cache"))
        for wrong in ("-1", "soon", "86400001"):
            self.assertIn("--flush-after", self.refused("--flush-after=" + wrong))
        self.assertIn("--output-format", self.refused("--output-format", "json"))
        self.assertIn("cannot write to the standard output what is not text; name a file",
                      self.refused("--output-format", "safetensors"))
        self.assertIn("cannot write to the standard output what is not text",
                      self.refused("--output-format", "safetensors", "--output", "-"))
        self.assertIn("it is there and is no regular file",
                      self.refused("--output-format", "safetensors", "--output",
                                   self.pipe("out"), status=1))
        link = self.root / "link.safetensors"
        link.symlink_to(self.root / "elsewhere")
        self.assertIn("it is a link", self.refused("--output", link, status=1))
        self.assertIn("--output", self.refused("--output", "/no/folder/p.csv", status=1,
                                               text=lines_of([1])).replace("predictions to",
                                                                           "--output"))
        data = self.put("own.tsv", lines_of([1]))
        with open(data, "rb") as file:
            done = subprocess.run([str(a) for a in self.command("--output", data)],
                                  stdin=file, capture_output=True, text=True)
        self.assertIn("is the file of --data, and would destroy it", done.stderr)
        for flags, message in (
                (("--epochs", 2), "standard input can be read but once, but --epochs 2 needs it "
                                  "again"),
                (("--evaluate-data", "-"), "standard input can be read but once, but is named "
                                           "twice"),
                (("--evaluate-rows", "0:5"), "standard input can be read but once, but "
                                             "--evaluate-rows needs it again"),
                (("--replicas", "2x1"), "standard input can be read but once, while 2 groups")):
            done = subprocess.run([str(a) for a in (self.trainer, "train", "--data", "-",
                                                    "--delimiter", "tab", *flags)],
                                  input="", capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)

    def test_other_commands_read_it_too(self):
        rows = "".join(f"0\t{n}\n" for n in range(50))
        flags = ("--columns", "y,x", "--delimiter", "tab", "--steps", "9", "--epochs", "1",
                 "--batch-size", "5", "--dump")
        for data, name in (("-", "piped"), (self.put("rows.tsv", rows), "read")):
            subprocess.run([str(a) for a in (self.trainer, "train", "--data", data, *flags,
                                             self.root / name)],
                           input=rows, capture_output=True, text=True, check=True)
        self.assertEqual((self.root / "piped").read_bytes(), (self.root / "read").read_bytes())

    # Formats.

    IDS = ["plain", "with, comma", 'with "quotes"', "", "ü", "'"]

    def rows_of_ids(self):
        """Returns rows as CSV: request, y, x, id."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for number, name in enumerate(self.IDS):
            writer.writerow([name, 0, "bad" if number == 2 else number / 3, number - 2])
        return text.getvalue()

    def of_ids(self, *flags, program="typed"):
        data = self.put("ids.csv", self.rows_of_ids())
        return run(self.trainer, "predict", "--data", data, "--init-from", self.start, "--id",
                   "request", "--program", program, "--max-bad-rows", 1, *flags).stdout

    def test_csv(self):
        out = self.root / "named.csv"
        printed = self.of_ids("--output-format", "csv")
        self.assertEqual(self.of_ids("--output", out), "")
        self.assertEqual(out.read_text(), printed)
        rows = list(csv.reader(io.StringIO(printed)))
        self.assertEqual(rows[0], ["request", "pair, of %.0", "pair, of %.1", "wide.0",
                                   "wide.1"])
        self.assertEqual([row[0] for row in rows[1:]], self.IDS)
        self.assertEqual(rows[3][1:], ["nan"] * 4)
        self.assertIn('"with ""quotes""",nan,nan,nan,nan\n', printed)
        # The numbers are the same as in TSV. The name of a file does not change the format.
        plain = self.of_ids("--output-format", "tsv", "--output", out) or out.read_text()
        self.assertEqual([line.split("\t") for line in plain.splitlines()], rows)

    def test_cells_travel_through_csv_as_they_are(self):
        data = self.put("cells.csv", 'request,x\n" a,b ",1\n"two\nlines",2\n"""c""",3\n')
        printed = run(self.trainer, "predict", "--data", data, "--init-from", self.start,
                      "--header", "--id", "request", "--output-format", "csv").stdout
        self.assertEqual(list(csv.reader(io.StringIO(printed))),
                         [["request", "z"], ["a,b", "2"], ["two\nlines", "4"], ['"c"', "6"]])
        # The output can be read as input.
        again = self.put("again.csv", printed)
        second = run(self.trainer, "predict", "--data", again, "--init-from", self.start,
                     "--header", "--columns", "request,x", "--id", "request",
                     "--output-format", "csv").stdout
        self.assertEqual([row[0] for row in csv.reader(io.StringIO(second))],
                         [row[0] for row in csv.reader(io.StringIO(printed))])

    def test_safetensors(self):
        out = self.root / "p.safetensors"
        rows = [line.split("\t") for line in
                self.of_ids("--output-format", "tsv").splitlines()[1:]]
        for flags in ((), ("--output-format", "safetensors")):
            for name in ("p.safetensors", "any") if flags else ("p.safetensors",):
                out = self.root / name
                out.unlink(missing_ok=True)
                self.assertEqual(self.of_ids("--output", out, "--batch-size", 2, *flags), "")
                tensors = tensorfile.read(out)
                self.assertEqual({name: (tensor.type, tensor.shape)
                                  for name, tensor in tensors.items()},
                                 {"pair, of %": ("F32", [6, 2]), "wide": ("F64", [6, 2]),
                                  "request.values": ("U8", [len("".join(self.IDS).encode())]),
                                  "request.splits": ("I64", [7])})
                splits = tensors["request.splits"].data
                text = tensors["request.values"].data.tobytes()
                self.assertEqual([text[splits[i]:splits[i + 1]].decode()
                                  for i in range(len(self.IDS))], self.IDS)
                for i, row in enumerate(rows):
                    numbers = [float(cell) for cell in row[1:]]
                    pair = tensors["pair, of %"].rows()[i]
                    wide = tensors["wide"].rows()[i]
                    if i == 2:
                        self.assertTrue(all(map(math.isnan, [*pair, *wide])))
                        continue
                    self.assertEqual(array.array("f", numbers[:2]), pair)
                    self.assertEqual(numbers[2:4], list(wide))
        # No other file is left.
        self.assertEqual([p for p in self.root.iterdir() if ".tmp." in p.name], [])

    def test_safetensors_come_whole_or_not_at_all(self):
        out = self.put("old.safetensors", "old")
        data = self.put("late.tsv", lines_of(range(1000)) + "r\t0\tbad\t0\n")
        self.assertIn("late.tsv:1001:3", self.refused("--output", out, data=data, status=1))
        self.assertEqual(out.read_text(), "old")
        self.assertEqual([p for p in self.root.iterdir() if ".tmp." in p.name], [])
        # If the output cannot be written, no row is predicted.
        for program, message in (
                ("clashes", "two columns `request.splits`: what --id or --copy-column lets"),
                ("reserved", "`__metadata__`, which the safetensors format reserves")):
            self.assertIn(message, self.refused(
                "--program", program, "--output", out, text=lines_of([1]), status=1))
        # A kill leaves no file, neither at the path nor elsewhere.
        stream = Predictor(self.command("--output", out))
        stream.send(lines_of(range(100)))
        time.sleep(1)
        stream.process.kill()
        stream.process.wait()
        for each in (stream.process.stdin, stream.process.stdout, stream.process.stderr):
            each.close()
        self.assertEqual(out.read_text(), "old")
        self.assertEqual([p for p in self.root.iterdir() if ".tmp." in p.name], [])

    def test_a_signal_leaves_whole_files_of_the_first_rows(self):
        for name in ("s.tsv", "s.csv", "s.safetensors"):
            with self.subTest(name=name):
                out = self.root / name
                stream = Predictor(self.command("--output", out, "--threads", 2))
                stream.send(lines_of(range(10)))
                stream.await_bytes(stream.process.stdin, lambda count: count == 0)
                time.sleep(1)
                self.assertFalse(out.exists())
                stream.process.send_signal(signal.SIGTERM)
                status, _, errors = stream.wait()
                self.assertEqual(status, 128 + signal.SIGTERM, errors)
                said = re.search(r"(\S+) has predictions of the first (\d+) rows only", errors)
                self.assertEqual(said[1], str(out), errors)
                # All rows, unless the machine was too slow to read them.
                count = int(said[2])
                self.assertLessEqual(count, 10)
                if name == "s.safetensors":
                    self.assertEqual(list(tensorfile.read(out)["z"].data),
                                     [2.0 * n for n in range(count)])
                else:
                    self.assertEqual(len(out.read_text().splitlines()), count + 1)

    def test_memory_does_not_grow_with_the_rows(self):
        def max_memory(process):
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
        piece = lines_of(range(20_000))
        for name in ("m.csv", "m.safetensors"):
            out = self.root / name
            stream = Predictor(self.command("--program", "typed", "--threads", 1, "--output", out))
            # At this point, all rows except those in the pipe have been read.
            for _ in range(2):
                stream.send(piece)
            few = max_memory(stream.process)
            for _ in range(18):
                stream.send(piece)
            many = max_memory(stream.process)
            status, _, errors = stream.end()
            self.assertEqual(status, 0, errors)
            # 360,000 rows contain 14 MB of numbers and ids.
            self.assertLess(many - few, 6000, name)
            self.assertGreater(out.stat().st_size, 14_000_000, name)


if __name__ == "__main__":
    unittest.main()
