# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input between a checkpoint and a prediction: checkpoints and deltas, exports, libraries,
folders of pdl-serve, flags and requests. Each case has a name, and ends with one message that
states the place and a remedy, and with a status other than success. Existing files stay unchanged.
serve_protocol_test.py has more requests, and bad_input_test.py has bad input for training."""

import array
import contextlib
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from model_server import SMALL, Server, small_inputs
from programs import PDL_CHECKPOINT, PDL_SERVE, PDL_TRANSLATE, SOURCE, checkpoints_in, run

sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving

# Equals SMALL except for the shape of a parameter.
WIDER = SMALL.replace("?x2xf32", "?x3xf32").replace("tensor<2x1xf32>", "tensor<3x1xf32>")


def contents(folder):
    """Returns the names of all files in a folder, with their links and digests."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = None
    return found


class World:
    """Valid files, which are created once: programs, checkpoints (three of them deltas), an
    export, a dump. Each case gets copies of them in its own folder."""

    def __init__(self, root):
        self.root = root
        self.data = root / "data.tsv"
        self.data.write_text("".join(f"{i % 2}\t0.{i}\t1.5\t{i % 7}\n" for i in range(64)))
        self.wide_data = root / "wide.tsv"
        self.wide_data.write_text("".join(f"{i % 2}\t0.{i}\t1.5\t2\t{i % 7}\n" for i in range(64)))
        for name, text in ("small", SMALL), ("wider", WIDER):
            (root / f"{name}.mlir").write_text(text)
            run(PDL_TRANSLATE, root / f"{name}.mlir", "--numerics=strict", "-o", root / name)
        run(PDL_TRANSLATE, root / "small.mlir", "--numerics=strict", "--emit=library", "-o",
            root / "library")
        self.trainer = root / "small" / "trainer"
        self.library = root / "library" / "libsmall.so"
        self.saved = root / "saved"
        run(self.trainer, "train", "--data", self.data, "--batch-size", 6, "--checkpoint",
            self.saved, "--checkpoint-steps", 3, "--checkpoint-deltas", 9, "--checkpoint-keep", 0)
        self.steps = [step.name for step in checkpoints_in(self.saved)]
        self.wider = root / "wider-saved"
        run(root / "wider" / "trainer", "train", "--data", self.wide_data, "--batch-size", 8,
            "--checkpoint", self.wider)
        self.export = root / "export"
        run(PDL_CHECKPOINT, "export", self.saved, "-o", self.export)
        self.dump = root / "dump.safetensors"
        run(PDL_CHECKPOINT, "dump", self.saved, "-o", self.dump)

    def predict(self, *flags):
        return [self.trainer, "predict", "--data", self.data, *flags]


def change(path, at=-1):
    """Changes one bit of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    return path


def cut(path, count=1):
    content = path.read_bytes()
    path.write_bytes(content[:len(content) - count])
    return path


def tear(path):
    """Replaces a block in the middle of a file by zeros, as if it had not been written to the
    disk."""
    content = path.read_bytes()
    at = len(content) // 2
    path.write_bytes(content[:at] + bytes(4096) + content[at + 4096:])
    return path


def replace(path, old, new):
    text = path.read_bytes()
    assert old in text, f"{path} has no {old}"
    path.write_bytes(text.replace(old, new, 1))
    return path


def table_of(checkpoint):
    return next(checkpoint.glob("table-*"))


def copied(world, own, name="saved"):
    return pathlib.Path(shutil.copytree(getattr(world, name), own / name))


class Case:
    """`make(world, own)`: prepares the folder `own`, and returns the command, or the path to load.
    `sentences`: texts that the output must contain."""

    def __init__(self, name, make, *sentences, status=1):
        self.name, self.make, self.sentences, self.status = name, make, sentences, status


def whole(world, own):
    """Returns a copy of the first checkpoint, which is not a delta."""
    return pathlib.Path(shutil.copytree(world.saved / world.steps[0], own / world.steps[0]))


def with_whole(damage):
    """Returns a function that runs `predict` with a copy of a complete checkpoint, after `damage`
    has changed the copy."""
    def make(world, own):
        checkpoint = whole(world, own)
        damage(checkpoint)
        return world.predict("--checkpoint", checkpoint)
    return make


def with_chain(tool, damage):
    """Returns a function that runs `tool` with the newest delta in a copy of the chain, after
    `damage` has changed the copy."""
    def make(world, own):
        chain = copied(world, own)
        damage(world, chain)
        newest = chain / world.steps[-1]
        return (world.predict("--checkpoint", newest) if tool == "predict" else
                [PDL_CHECKPOINT, tool, newest, *(["-o", own / "made"] if tool == "export" else
                                                 [own / "made"] if tool == "merge" else [])])
    return make


def predicting(*flags):
    return lambda world, own: world.predict("--checkpoint", world.saved,
                                            *(str(flag).format(own=own, world=world.root)
                                              for flag in flags))


def tool(*words):
    return lambda world, own: [PDL_CHECKPOINT, *(
        str(word).format(own=own, world=world.root) for word in words)]


def written(name, text):
    def make(own):
        (own / name).write_text(text)
    return make


CHECKPOINTS = [
    Case("checkpoint_is_not_there",
         lambda world, own: world.predict("--checkpoint", own / "none"),
         "none: there is no such folder", "name one that"),
    Case("checkpoint_folder_is_empty",
         lambda world, own: world.predict("--checkpoint", own), "there is no checkpoint in it",
         "name a folder"),
    Case("checkpoint_is_a_file",
         lambda world, own: world.predict("--checkpoint", world.data), "data.tsv"),
    Case("manifest_is_missing", with_whole(lambda c: (c / "manifest.json").unlink()),
         "manifest.json", "use another"),
    Case("manifest_is_cut", with_whole(lambda c: cut(c / "manifest.json", 9)),
         "manifest.json", "use another"),
    Case("manifest_is_changed", with_whole(lambda c: change(c / "manifest.json", -40)),
         "manifest.json: its checksum does not fit its content", "use another"),
    Case("manifest_is_other_text", with_whole(lambda c: (c / "manifest.json").write_text("{}")),
         "manifest.json: is not the manifest of a checkpoint", "use another"),
    Case("manifest_is_of_a_later_version",
         with_whole(lambda c: replace(c / "manifest.json", b'"version": 3', b'"version": 9')),
         "manifest.json: has format version 9", "pdl-checkpoint dump"),
    Case("table_is_missing", with_whole(lambda c: table_of(c).unlink()),
         "table-", "use another"),
    Case("table_is_cut", with_whole(lambda c: cut(table_of(c))), "table-", "use another"),
    Case("table_is_changed", with_whole(lambda c: change(table_of(c))),
         "has the checksum", "use another"),
    Case("parameters_are_changed", with_whole(lambda c: change(c / "dense.safetensors")),
         "dense.safetensors has the checksum", "use another"),
    Case("checkpoint_is_renamed",
         lambda world, own: world.predict("--checkpoint", whole(world, own).rename(
             own / "step-000000000777")), "its folder has been renamed", "rename it to"),
    Case("checkpoint_of_another_model",
         lambda world, own: world.predict("--checkpoint", world.wider), "wider-saved", "@w"),
    Case("all_checkpoints_are_damaged",
         lambda world, own: [change(table_of(whole(world, own))),
                             world.predict("--checkpoint", own)][1],
         "none of the checkpoints in", "has the checksum", "use another"),
]

DELTAS = [
    Case("delta_without_what_it_follows",
         with_chain("predict", lambda world, chain: shutil.rmtree(chain / world.steps[0])),
         "is not next to it", "bring it back"),
    Case("delta_without_one_in_between",
         with_chain("inspect", lambda world, chain: shutil.rmtree(chain / world.steps[1])),
         "is not next to it", "bring it back"),
    Case("delta_behind_another_of_that_name",
         with_chain("predict", lambda world, chain: [
             shutil.rmtree(chain / world.steps[2]),
             shutil.copytree(chain / world.steps[1], chain / world.steps[2])]),
         "is not the one that", "bring that back"),
    Case("delta_whose_base_is_changed",
         with_chain("merge", lambda world, chain: change(table_of(chain / world.steps[0]))),
         "is a delta that needs", "has the checksum", "use another"),
    Case("delta_that_is_cut",
         with_chain("export", lambda world, chain: cut(table_of(chain / world.steps[-1]))),
         "table-", "use another"),
    Case("delta_whose_manifest_is_changed",
         with_chain("inspect", lambda world, chain: change(
             chain / world.steps[-1] / "manifest.json", -40)),
         "manifest.json: its checksum does not fit its content", "use another"),
]

TOOL = [
    Case("tool_without_command", tool(), "--help", status=2),
    Case("tool_of_unknown_command", tool("grow", "{world}/saved"), "grow is no command",
         "give inspect", status=2),
    Case("inspect_of_nothing", tool("inspect", "{own}/none"), "none: there is no such folder",
         "name one"),
    Case("inspect_with_unknown_flag", tool("inspect", "{world}/saved", "--deep"), "--deep",
         "--help", status=2),
    Case("dump_into_a_missing_folder", tool("dump", "{world}/saved", "-o", "{own}/no/dump"),
         "no/dump", "create it"),
    Case("dump_onto_a_folder", tool("dump", "{world}/saved", "-o", "{own}"),
         "is no regular file", "name another"),
    Case("dump_into_a_checkpoint",
         lambda world, own: [PDL_CHECKPOINT, "dump", world.saved, "-o",
                             whole(world, own) / "dump"],
         "is a checkpoint, which would be damaged", "name a file elsewhere"),
    Case("export_to_what_is_there", tool("export", "{world}/saved", "-o", "{world}/export"),
         "export: is there already", "name another folder"),
    Case("export_into_a_missing_folder", tool("export", "{world}/saved", "-o", "{own}/no/made"),
         "no/made: cannot be written", "name another folder"),
    Case("export_of_an_unknown_slot",
         tool("export", "{world}/saved", "--slot", "average", "-o", "{own}/made"),
         "no symbol has a slot 'average'", "pdl-checkpoint inspect"),
    Case("export_in_an_unknown_format",
         tool("export", "{world}/saved", "--format", "text", "-o", "{own}/made"), "text",
         status=2),
    Case("export_of_an_export", tool("export", "{world}/export", "-o", "{own}/made"), "export"),
    Case("merge_onto_what_is_there", tool("merge", "{world}/saved", "{world}/saved"),
         "something of that name already", "name a folder"),
    Case("merge_without_output", tool("merge", "{world}/saved"), "output", status=2),
    Case("diff_of_nothing", tool("diff", "{world}/saved", "{own}/none"),
         "none: there is no such file", "name a checkpoint", status=2),
    Case("diff_of_text", tool("diff", "{world}/saved", "{world}/data.tsv"), "data.tsv", status=2),
    Case("prune_of_nothing", tool("prune", "{own}/none"), "none: there is no such folder",
         "name one"),
    Case("prune_of_all", tool("prune", "{world}/saved", "--keep", "0"), "--keep", status=2),
]

PREDICT = [
    Case("predict_without_values", lambda world, own: world.predict(),
         "--init-from is required, or --checkpoint", status=2),
    Case("predict_with_two_values", predicting("--init-from", "{world}/dump.safetensors"),
         "--checkpoint", "--init-from", status=2),
    Case("predict_from_text",
         lambda world, own: world.predict("--init-from", world.data), "data.tsv"),
    Case("predict_from_nothing",
         lambda world, own: world.predict("--init-from", own / "none"), "none"),
    Case("predict_from_a_cut_dump",
         lambda world, own: [cut(pathlib.Path(shutil.copy(world.dump, own / "dump"))),
                             world.predict("--init-from", own / "dump")][1], "dump"),
    Case("predict_from_an_export", lambda world, own: world.predict("--checkpoint", world.export),
         "export"),
    Case("predict_unknown_program", predicting("--program", "rank"), "no program @rank",
         status=2),
    Case("predict_program_that_trains", predicting("--program", "train"), "@train is not frozen",
         status=2),
    Case("predict_unknown_id", predicting("--id", "user"), "--id names `user`", "only item",
         status=2),
    Case("predict_id_that_is_none", predicting("--id", "x"), "--id names", "tensor<?x1xi64>",
         status=2),
    Case("predict_unknown_column", predicting("--copy-column", "user"),
         "--copy-column `user` is no number of a column", "--header", status=2),
    Case("predict_column_zero", predicting("--copy-column", "0"), "counted from 1", status=2),
    Case("predict_unknown_format", predicting("--output-format", "json"), "json", status=2),
    Case("predict_tensors_to_the_output", predicting("--output-format", "safetensors"),
         "cannot write to the standard output what is not text", "name a file", status=2),
    Case("predict_into_a_missing_folder", predicting("--output", "{own}/no/predictions"),
         "cannot write predictions to", "no/predictions", "name another file"),
    Case("predict_onto_its_data", predicting("--output", "{world}/data.tsv"),
         "would destroy it", "name another", status=2),
    Case("predict_patience_below_zero", predicting("--flush-after=-1"), "--flush-after", status=2),
    Case("predict_batch_of_none", predicting("--batch-size", "0"), "--batch-size", status=2),
    Case("predict_rows_backwards", predicting("--rows", "9:3"), "--rows", status=2),
    Case("predict_missing_data",
         lambda world, own: [world.trainer, "predict", "--data", own / "none.tsv",
                             "--checkpoint", world.saved], "none.tsv: cannot be read",
         "name a file that can"),
]

TRANSLATE = [
    Case("library_with_a_mode",
         lambda world, own: [PDL_TRANSLATE, world.root / "small.mlir", "--emit=library",
                             "--mode=sync", "-o", own / "made"], "leave --mode out", status=2),
    Case("library_for_a_gpu",
         lambda world, own: [PDL_TRANSLATE, world.root / "small.mlir", "--emit=library",
                             "--target=cuda", "-o", own / "made"], "leave --target=cuda out",
         status=2),
    Case("library_and_a_trainer",
         lambda world, own: [PDL_TRANSLATE, world.root / "small.mlir", "--emit=library,trainer",
                             "-o", own / "made"], "mixes kinds", "give exe", status=2),
    Case("library_onto_a_file",
         lambda world, own: [written("taken", "mine")(own), [
             PDL_TRANSLATE, world.root / "small.mlir", "--emit=library", "-o", own / "taken"]][1],
         "taken"),
    Case("library_that_returns_nothing",
         lambda world, own: [(own / "mute.mlir").write_text(
             SMALL[:SMALL.index("  nn.program @linear")] + "}\n"), [
             PDL_TRANSLATE, own / "mute.mlir", "--emit=library", "-o", own / "made"]][1],
         "mute.mlir:2:1: error: the model has nothing to serve", "add one such as @predict"),
    Case("library_of_nothing",
         lambda world, own: [PDL_TRANSLATE, own / "none.mlir", "--emit=library", "-o",
                             own / "made"], "none.mlir"),
    Case("library_in_unknown_numerics",
         lambda world, own: [PDL_TRANSLATE, world.root / "small.mlir", "--emit=library",
                             "--numerics=exact", "-o", own / "made"], "exact", "strict", status=2),
]


def exported(damage):
    def make(world, own):
        export = copied(world, own, "export")
        damage(export)
        return export
    return make


# Paths that a library is to load.
LOADS = [
    Case("load_nothing", lambda world, own: own / "none", "none: there is no such folder",
         "name one"),
    Case("load_text", lambda world, own: world.data, "data.tsv", "not a safetensors file"),
    Case("load_a_damaged_checkpoint",
         lambda world, own: change(table_of(whole(world, own))).parent, "has the checksum",
         "use another"),
    Case("load_a_delta_alone",
         lambda world, own: pathlib.Path(shutil.copytree(
             world.saved / world.steps[-1], own / world.steps[-1])),
         "is not next to it", "bring it back"),
    Case("load_another_model", lambda world, own: world.wider, "wider-saved", "@w"),
    Case("load_a_dump_without_a_parameter",
         lambda world, own: replace(pathlib.Path(shutil.copy(world.dump, own)), b'"w"', b'"v"'),
         "there is no tensor 'w'", "add it"),
    Case("load_an_export_whose_manifest_is_cut",
         exported(lambda e: cut(e / "export.json", 9)), "export.json"),
    Case("load_an_export_whose_manifest_is_changed",
         exported(lambda e: change(e / "export.json", -40)), "export.json: its checksum"),
    Case("load_an_export_without_its_table",
         exported(lambda e: (e / "table-0.rows").unlink()), "table-0.rows: cannot be opened",
         "export the checkpoint again"),
    Case("load_an_export_whose_table_is_cut",
         exported(lambda e: cut(e / "table-0.rows")), "table-0.rows", "bytes, not"),
    Case("load_an_export_whose_table_has_no_head",
         exported(lambda e: (e / "table-0.rows").write_bytes(b"rows")), "table-0.rows",
         "too short"),
    Case("load_an_export_whose_head_is_changed",
         exported(lambda e: change(e / "table-0.rows", 9)), "table-0.rows", "another checksum"),
    Case("load_an_export_whose_parameters_are_changed",
         exported(lambda e: change(e / "dense.safetensors")), "dense.safetensors: is not",
         "export the checkpoint again"),
]

# Damage that `inspect` finds, because it reads all files.
INSPECTED = [
    Case("inspect_an_export_whose_rows_are_changed",
         lambda world, own: [PDL_CHECKPOINT, "inspect",
                             change(copied(world, own, "export") / "table-0.rows").parent],
         "table-0.rows: is damaged"),
]

SERVE = [
    Case("serve_nothing", lambda world, own: [PDL_SERVE], "models is required", status=2),
    Case("serve_a_missing_folder", lambda world, own: [PDL_SERVE, own / "none"],
         "none is no folder of models", "make it"),
    Case("serve_a_file", lambda world, own: [PDL_SERVE, world.data],
         "data.tsv is no folder of models", "make it"),
    Case("serve_nowhere", lambda world, own: [PDL_SERVE, own, "--http", "nowhere"],
         "--http: 'nowhere' is no address", status=2),
    Case("serve_at_no_port", lambda world, own: [PDL_SERVE, own, "--http", "127.0.0.1:99999"],
         "99999", status=2),
    Case("serve_at_another_host", lambda world, own: [PDL_SERVE, own, "--http", "192.0.2.1:80"],
         "--http: 192.0.2.1:80", "give another address"),
    Case("serve_in_a_missing_folder",
         lambda world, own: [PDL_SERVE, own, "--http", f"unix:{own}/no/socket"],
         "No such file", "choose another address"),
    Case("serve_batches_of_none", lambda world, own: [PDL_SERVE, own, "--max-batch", "0"],
         "--max-batch", status=2),
    Case("serve_with_delay_of_words", lambda world, own: [PDL_SERVE, own, "--batch-delay", "soon"],
         "--batch-delay", "no number of seconds", status=2),
    Case("serve_with_interval_below_zero",
         lambda world, own: [PDL_SERVE, own, "--interval=-1"], "--interval", status=2),
    Case("serve_with_unknown_flag", lambda world, own: [PDL_SERVE, own, "--port", "80"],
         "--port", "--help", status=2),
]


def version_of(world, folder, library=True, values=True):
    """Makes `folder` a version that can be served."""
    folder.mkdir(parents=True)
    if library:
        shutil.copy(world.library, folder)
    if values:
        shutil.copytree(world.saved, folder / "checkpoints")
    return folder


# Contents of version 2 next to a served version, and the messages of the server.
FOLDERS = [
    Case("version_without_a_library",
         lambda world, new: version_of(world, new, library=False), "has no library",
         "pdl-translate --emit=library"),
    Case("version_with_two_libraries",
         lambda world, new: shutil.copy(world.library, version_of(world, new) / "more.so"),
         "has two of libraries", "leave one"),
    Case("version_without_values", lambda world, new: version_of(world, new, values=False),
         "needs one of a folder 'checkpoints'"),
    Case("version_with_two_values",
         lambda world, new: shutil.copytree(world.export, version_of(world, new) / "export"),
         "has several of which there may be one: checkpoints, export; leave one"),
    Case("version_with_a_link_to_nothing",
         lambda world, new: (version_of(world, new, values=False) / "checkpoints").symlink_to(
             "nowhere"), "checkpoints is a link to nowhere, and nothing is there"),
    Case("version_with_one_checkpoint",
         lambda world, new: (version_of(world, new, values=False) / "checkpoints").symlink_to(
             next(world.saved.glob("step-*"))), "is one checkpoint; name the folder"),
    Case("version_with_no_checkpoint_yet",
         lambda world, new: (version_of(world, new, values=False) / "checkpoints").mkdir(),
         "has no checkpoint yet"),
    Case("version_whose_library_is_text",
         lambda world, new: (version_of(world, new, library=False) / "lib.so").write_text("text"),
         "lib.so is no shared library", "pdl-translate --emit=library"),
    Case("version_whose_library_is_cut",
         lambda world, new: cut(version_of(world, new) / "libsmall.so", 4096),
         "libsmall.so has no checksum at its end", "copy it anew"),
    Case("version_whose_library_is_torn",
         lambda world, new: tear(version_of(world, new) / "libsmall.so"),
         "libsmall.so is damaged", "copy it anew"),
    Case("version_with_values_of_another_model",
         lambda world, new: shutil.copytree(
             world.wider, version_of(world, new, values=False) / "checkpoints"), "@w"),
    Case("version_whose_dump_is_text",
         lambda world, new: (version_of(world, new, values=False) / "a.safetensors").write_text(
             "text"), "a.safetensors"),
]

X, ITEM = small_inputs()


def but(given, **more):
    return {key: value for key, value in {**given, **more}.items() if value is not None}


# (path, body or inputs): the request, and the HTTP status of the response.
REQUESTS = [
    Case("request_that_is_no_json", lambda *_: ("small/infer", b"{"), "no JSON", status=400),
    Case("request_without_inputs", lambda *_: ("small/infer", b"{}"), "has no inputs", status=400),
    Case("request_that_lacks_an_input", lambda *_: ("small/infer", [X]), "input 'item' is missing",
         status=400),
    Case("request_of_unknown_input", lambda *_: ("small/infer", [X, ITEM, but(X, name="y")]),
         "'y' is none of the model's, which are 'x', 'item'", status=400),
    Case("request_of_another_type",
         lambda *_: ("small/infer", [but(X, datatype="FP64"), ITEM]),
         "is FP64, but the model takes FP32", status=400),
    Case("request_of_another_shape",
         lambda *_: ("small/infer", [but(X, shape=[2, 1]), ITEM]), "the model takes [batch, 2]",
         status=400),
    Case("request_of_two_batches",
         lambda *_: ("small/infer", [X, but(ITEM, shape=[2, 1], data=[1, 2])]),
         "has 2 samples, but others have 1", status=400),
    Case("request_of_a_number_that_is_text",
         lambda *_: ("small/infer", [but(X, data=[1.0, "a"]), ITEM]),
         "inputs[0].data[1] (input 'x') is a string, but FP32 has finite numbers", status=400),
    Case("request_of_a_text_that_is_no_id",
         lambda *_: ("small/infer", [X, but(ITEM, datatype="BYTES", data=["a"])]),
         "is not a decimal integer", status=400),
    Case("request_to_an_unknown_model", lambda *_: ("none/infer", [X, ITEM]),
         "there is no model 'none'", "the index of the repository", status=404),
    Case("request_to_an_unknown_version",
         lambda *_: ("small/versions/7/infer", [X, ITEM]), "no version '7'", "its metadata", status=404),
    Case("request_to_an_unknown_program", lambda *_: ("small@rank/infer", [X, ITEM]),
         "no program '@rank', only @linear, @predict", status=404),
    Case("request_that_is_too_large", lambda *_: ("small/infer", b" " * (1 << 20) + b"{}"),
         "the body has more than 1048576 bytes", "send smaller batches", status=413),
]

# Wrong requests over gRPC, and the status codes of the responses.
CALLS = [
    Case("call_that_lacks_an_input", lambda request: request.inputs.pop(),
         "input 'item' is missing", status="INVALID_ARGUMENT"),
    Case("call_of_another_type",
         lambda request: setattr(request.inputs[0], "datatype", "FP16"),
         "'FP16' is none of FP32", status="INVALID_ARGUMENT"),
    Case("call_of_another_shape", lambda request: request.inputs[0].shape.append(1),
         "the model takes [batch, 2]", status="INVALID_ARGUMENT"),
    Case("call_with_more_elements",
         lambda request: request.inputs[0].contents.fp32_contents.append(1),
         "has 3 elements", status="INVALID_ARGUMENT"),
    Case("call_with_two_kinds_of_elements",
         lambda request: request.inputs[0].contents.int64_contents.append(1),
         "input 'x' has contents of another type than its datatype FP32",
         status="INVALID_ARGUMENT"),
    Case("call_of_an_unknown_output", lambda request: request.outputs.add(name="z"),
         "no output 'z'", status="INVALID_ARGUMENT"),
    Case("call_of_an_output_twice",
         lambda request: [request.outputs.add(name="echo") for _ in range(2)],
         "output 'echo' is asked for twice", status="INVALID_ARGUMENT"),
    Case("call_of_very_many_outputs",
         lambda request: [request.outputs.add(name="echo") for _ in range(2000)],
         "more than 1024 inputs, outputs or parameters", status="RESOURCE_EXHAUSTED"),
    Case("call_with_a_parameter_that_is_not_supported",
         lambda request: setattr(request.parameters["sequence_id"], "int64_param", 7),
         "the parameter 'sequence_id'", "leave it out", status="INVALID_ARGUMENT"),
    Case("call_with_too_many_samples",
         lambda request: [request.inputs[0].shape.__setitem__(0, 70000),
                          request.inputs[0].contents.fp32_contents.extend([0] * 139998)],
         "has 70000 samples", "send smaller batches", status="RESOURCE_EXHAUSTED"),
    Case("call_to_an_unknown_model", lambda request: setattr(request, "model_name", "none"),
         "there is no model 'none'", status="NOT_FOUND"),
]

COMMANDS = CHECKPOINTS + DELTAS + TOOL + PREDICT + TRANSLATE + INSPECTED + SERVE


@unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
class ServingBadInput(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "world").mkdir()
        cls.world = World(cls.root / "world")

    @contextlib.contextmanager
    def own(self, case):
        """Yields the result of `make` for the case, in a folder of its own. Checks that no file
        changes after this, neither in that folder nor among the valid files."""
        own = self.root / case.name
        own.mkdir()
        with self.subTest(case.name):
            made = case.make(self.world, own)
            before = contents(self.root)
            yield made
            self.assertEqual(contents(self.root), before)
        shutil.rmtree(own)

    def check_sentence(self, case, said):
        for message in case.sentences:
            self.assertIn(message, said)
        # For a model, the message is followed by the line in question.
        said = said.strip().split("\nmodule @small {\n")[0]
        self.assertNotIn("\n", said)

    def check_command(self, case):
        with self.own(case) as command:
            done = subprocess.run([str(word) for word in command], capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, timeout=180)
            self.assertEqual(done.returncode, case.status, done.stderr)
            self.assertEqual(done.stdout, "")
            self.check_sentence(case, done.stderr)
            self.assertRegex(done.stderr, r"(^|: )error: ")

    def test_names(self):
        names = [case.name for case in COMMANDS + LOADS + FOLDERS + REQUESTS + CALLS]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 60)

    def test_loads(self):
        """After a failed load, the model keeps its values."""
        library = serving.Library(self.world.library)
        model = library.open(self.world.saved)
        inputs = {"x": array.array("f", [0.25, 0.25]), "item": array.array("q", [3])}
        expected = model.run("predict", inputs)
        for case in LOADS:
            with self.own(case) as path:
                for load in library.open, model.reload:
                    with self.assertRaises(serving.ServingError) as caught:
                        load(path)
                    self.check_sentence(case, str(caught.exception))
                self.assertEqual(model.run("predict", inputs), expected)
                self.assertEqual(model.state()["version"], 1)

    @contextlib.contextmanager
    def serving(self, *flags, grpc=False):
        """Yields a server of version 1. Its responses must be the same at the end as at the
        beginning."""
        models = self.root / "models"
        version_of(self.world, models / "small" / "1")
        try:
            with Server(models, *flags, grpc=grpc) as server:
                before = server.infer(small_inputs(), "small/versions/1")
                yield server
                self.assertEqual(server.infer(small_inputs(), "small/versions/1"), before)
        finally:
            shutil.rmtree(models)

    def test_folders(self):
        with self.serving() as server:
            for case in FOLDERS:
                with self.subTest(case.name):
                    made = self.root / "new" / "2"
                    case.make(self.world, made)
                    lines = len(server.lines)
                    made.rename(self.root / "models" / "small" / "2")
                    said = server.wait_for("warning: .*", lines)[0]
                    self.check_sentence(case, said)
                    self.assertIn("model small, version 2: ", said)
                    self.assertEqual(server.refused("GET", "/v2/models/small/versions/2/ready")[0],
                                     404)
                    self.assertEqual(json.loads(server.ask("GET", "/v2/models/small")[1])[
                        "versions"], ["1"])
                    (self.root / "models" / "small" / "2").rename(self.root / "models" / ".gone")
                    shutil.rmtree(self.root / "models" / ".gone")
                    server.wait_for("version 2: is gone", lines)

    def test_requests(self):
        with self.serving("--max-request", "1") as server:
            for case in REQUESTS:
                with self.subTest(case.name):
                    path, body = case.make()
                    status, said = server.refused(
                        "POST", f"/v2/models/{path}",
                        {"inputs": body} if isinstance(body, list) else body)
                    self.assertEqual(status, case.status)
                    self.check_sentence(case, said)

    def test_calls(self):
        try:
            from tritonclient.grpc import service_pb2 as messages
            from tritonclient.grpc import service_pb2_grpc as stubs
            import grpc  # pylint: disable=import-outside-toplevel
        except (ImportError, RuntimeError):
            self.skipTest("tritonclient[grpc] is not installed")
        with self.serving(grpc=True) as server:
            with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
                stub = stubs.GRPCInferenceServiceStub(channel)
                for case in CALLS:
                    with self.subTest(case.name):
                        request = messages.ModelInferRequest(model_name="small")
                        x, item = (request.inputs.add(name=each["name"], shape=each["shape"],
                                                      datatype=each["datatype"])
                                   for each in small_inputs())
                        x.contents.fp32_contents.extend(X["data"])
                        item.contents.int64_contents.extend(ITEM["data"])
                        self.assertEqual(len(stub.ModelInfer(request).outputs), 2)
                        case.make(request)
                        with self.assertRaises(grpc.RpcError) as caught:
                            stub.ModelInfer(request)
                        self.assertEqual(caught.exception.code().name, case.status)
                        self.check_sentence(case, caught.exception.details())


def add_test(case):
    setattr(ServingBadInput, f"test_{case.name}", lambda self: self.check_command(case))


for one in COMMANDS:
    add_test(one)

if __name__ == "__main__":
    unittest.main()
