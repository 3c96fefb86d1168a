# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Content of rows in the file of `trainer predict --dump-inputs`, divided into batches in the form
that a library or a server accepts."""

import array

from check_serving import stopping, tensors
from check_serving.failure import Failure

DATATYPES = {"f": "FP32", "d": "FP64", "q": "INT64"}


class Field:
    """One input of the program."""

    def __init__(self, name, found, samples):
        self.name = name
        self.splits = self.texts = None
        if f"{name}.splits" in found:
            self.splits = found[f"{name}.splits"][1]
            self.values = found[f"{name}.values"][1]
            self.width = (len(self.splits) - 1) // samples
        else:
            shape, self.values = found[name]
            self.width = shape[1]
        if f"{name}.text_ends" in found:
            content = found[f"{name}.texts"][1].tobytes()
            ends = found[f"{name}.text_ends"][1]
            self.texts = [content[begin:end] for begin, end in zip([0, *ends], ends)]
            self.text_splits = (found[f"{name}.text_splits"][1] if self.splits
                                else range(len(self.texts) + 1))

    def bags(self, begin, end, splits):
        """Returns the start of the samples' bags in the field, and the starts of these bags
        relative to it."""
        first = splits[begin * self.width]
        cut = splits[begin * self.width:end * self.width + 1]
        return first, [split - first for split in cut]

    def for_library(self, begin, end, with_keys):
        """Returns the samples in the form of pdl.serving."""
        if self.texts is not None and not with_keys:
            first, ends = self.bags(begin, end, self.text_splits)
            texts = self.texts[first:first + ends[-1]]
            if not self.splits:
                return texts
            return [texts[a:b] for a, b in zip(ends, ends[1:])]
        if self.splits:
            first, ends = self.bags(begin, end, self.splits)
            return self.ready(self.values[first:first + ends[-1]]), array.array("i", ends)
        return self.ready(self.values[begin * self.width:end * self.width])

    @staticmethod
    def ready(values):
        """Returns ids as keys, which are unsigned."""
        return memoryview(values).cast("B").cast("Q") if values.typecode == "q" else values

    def for_server(self, begin, end):
        """Returns the samples as tensors of the V2 protocol, in JSON."""
        datatype, values, splits = DATATYPES[self.values.typecode], self.values, self.splits
        if self.texts is not None:
            datatype, values, splits = "BYTES", self.texts, self.text_splits
        if not self.splits:
            data = values[begin * self.width:end * self.width]
            return [self.tensor("", datatype, [end - begin, self.width], data)]
        first, ends = self.bags(begin, end, splits)
        return [self.tensor(".values", datatype, [ends[-1]], values[first:first + ends[-1]]),
                self.tensor(".splits", "INT32", [len(ends)], ends)]

    def tensor(self, ending, datatype, shape, data):
        if datatype == "BYTES":
            data = [self.decoded(text) for text in data]
        return {"name": self.name + ending, "datatype": datatype, "shape": shape,
                "data": list(data)}

    def decoded(self, text):
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise Failure(f"field '{self.name}' has the text {text!r}, which is no UTF-8, so that "
                          "JSON cannot hold it; leave the servers out (--no-servers)") from None


class Inputs:
    """The samples of a check."""

    def __init__(self, path):
        found = tensors.read(path)
        self.rows, self.samples = found.pop(".rows")[1], found.pop(".samples")[1]
        names = {name.rsplit(".", 1)[0] if name.endswith(
            (".values", ".splits", ".texts", ".text_ends", ".text_splits")) else name
                 for name in found}
        self.fields = [Field(name, found, len(self.rows)) for name in sorted(names)]

    def __len__(self):
        return len(self.rows)

    def batches(self, size):
        for begin in range(0, len(self), size):
            stopping.check()
            yield begin, min(begin + size, len(self))

    def for_library(self, begin, end, with_keys=False):
        return {field.name: field.for_library(begin, end, with_keys) for field in self.fields}

    def for_server(self, begin, end):
        return [tensor for field in self.fields for tensor in field.for_server(begin, end)]

    def has_texts(self):
        return any(field.texts is not None for field in self.fields)
