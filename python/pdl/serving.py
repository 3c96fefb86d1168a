# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores with a library that `pdl-translate --emit=library` made.

    library = serving.Library("out/libctr_dnn.so")
    model = library.open("checkpoints")
    scores = model.run("predict", {"numbers": numbers, "categories": texts})

Numbers and ids are contiguous objects with the buffer protocol and the input's type, such as
NumPy arrays or array.array. They are read without a copy, unless they are read-only. Ids that the
model hashes are texts, or ready keys of type uint64, which `pdl.key` makes. This module needs
only Python's standard library.

Several threads may use one model at the same time: calls run outside of Python's lock.
"""

import array
import ctypes
import warnings

_VERSION = 1
_UNAVAILABLE = 4
_DENSE, _IDS, _RAGGED = range(3)
_CODES = ("f", "d", "q")  # by pdl_serving_type
_NAMES = ("float32", "float64", "int64")
_WEIGHTS = ("compiled", "int8")  # by pdl_serving_weights


class ServingError(RuntimeError):
    """A library rejected a call. The message is that of the library."""


class UnknownIdsWarning(UserWarning):
    """More than half of the ids that were looked up are unknown to the model."""


class ServersUnavailable(ServingError):
    """Servers of a connected model do not respond. A later call may succeed."""


class _Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("type", ctypes.c_int32),
                ("width", ctypes.c_int64), ("takes_texts", ctypes.c_int32)]


class _Program(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p),
                ("input_count", ctypes.c_int32), ("inputs", ctypes.POINTER(_Tensor)),
                ("output_count", ctypes.c_int32), ("outputs", ctypes.POINTER(_Tensor))]


class _Description(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("model_name", ctypes.c_char_p),
                ("compiler_version", ctypes.c_char_p), ("target_cpu", ctypes.c_char_p),
                ("numerics", ctypes.c_char_p),
                ("program_count", ctypes.c_int32), ("programs", ctypes.POINTER(_Program))]


class _Input(ctypes.Structure):
    _fields_ = [("values", ctypes.c_void_p), ("splits", ctypes.c_void_p),
                ("texts", ctypes.c_void_p), ("text_ends", ctypes.c_void_p)]


class _State(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("version", ctypes.c_int64),
                ("steps", ctypes.c_int64), ("rows", ctypes.c_int64), ("bytes", ctypes.c_int64)]


class _Connection(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("servers", ctypes.c_char_p),
                ("token", ctypes.c_char_p), ("parameters", ctypes.c_char_p),
                ("cache_bytes", ctypes.c_int64), ("row_age_ms", ctypes.c_int64),
                ("timeout_ms", ctypes.c_int64), ("accept_old_layout", ctypes.c_int32),
                ("weights", ctypes.c_int64)]


class _Values(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("path", ctypes.c_char_p),
                ("accept_old_layout", ctypes.c_int32), ("weights", ctypes.c_int64)]


class _Rules(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("missing", ctypes.c_int32),
                ("missing_number", ctypes.c_double), ("missing_text", ctypes.c_char_p),
                ("hashes_texts", ctypes.c_int32), ("salts_by_slot", ctypes.c_int32),
                ("salt", ctypes.c_uint64)]


class _RowCounts(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("hits", ctypes.c_int64),
                ("misses", ctypes.c_int64), ("requests", ctypes.c_int64),
                ("ids", ctypes.c_int64), ("unknown_ids", ctypes.c_int64)]


class _Functions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32), ("version", ctypes.c_uint32),
        ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("open", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)),
        ("close", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("reload", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)),
        ("state", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_State))),
        ("describe", ctypes.CFUNCTYPE(ctypes.POINTER(_Description))),
        ("find_program", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64,
                                 ctypes.POINTER(_Input), ctypes.POINTER(ctypes.c_void_p))),
        # Only in libraries whose struct_size includes these functions.
        ("connect", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Connection))),
        ("refresh", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)),
        ("row_counts", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p,
                                        ctypes.POINTER(_RowCounts))),
        ("open_values", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Values))),
        ("unchecked", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("describe_input", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32,
                                            ctypes.POINTER(_Rules))),
        ("run_keys", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32,
                                      ctypes.c_int64, ctypes.POINTER(_Input),
                                      ctypes.POINTER(ctypes.c_int32),
                                      ctypes.POINTER(ctypes.c_void_p))),
        ("key", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64,
                                 ctypes.c_uint64)),
        ("warning", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("weights", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p))]


class Tensor:
    """An input or output.

    - `name`, `kind` ("dense", "ids" or "ragged"), `type` ("float32", ...).
    - `width`: number of elements, or bags, per sample.
    - `takes_texts`: true if the input accepts texts.
    - `missing`, of an input: replaces a missing element, as in training: a number, a text, or ""
      for an empty bag. None if the element must be given.
    - `hashes_texts`, of an input, and `salt` for `pdl.key`. The salt "slot" is the position of
      the feature slot.
    """

    def __init__(self, raw, rules=None):
        self.name = raw.name.decode()
        self.kind = ("dense", "ids", "ragged")[raw.kind]
        self.type = _NAMES[raw.type]
        self.width = raw.width
        self.takes_texts = bool(raw.takes_texts)
        self.code = _CODES[raw.type]
        self.missing = self.salt = None
        self.hashes_texts = bool(rules and rules.hashes_texts)
        if rules:
            self.missing = (None, rules.missing_number, (rules.missing_text or b"").decode(),
                            "")[rules.missing]
        if self.hashes_texts:
            self.salt = "slot" if rules.salts_by_slot else rules.salt


class Program:
    """A program of a library: `name`, `inputs`, `outputs`."""

    def __init__(self, index, raw, rules_of):
        self.index = index
        self.name = raw.name.decode()
        self.inputs = [Tensor(raw.inputs[i], rules_of(index, i)) for i in range(raw.input_count)]
        self.outputs = [Tensor(raw.outputs[i]) for i in range(raw.output_count)]


class Library:
    """The programs of a model, by name in `programs`. `open` loads values for them."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        query = self._library.pdl_serving_query
        query.restype, query.argtypes = ctypes.POINTER(_Functions), [ctypes.c_uint32]
        functions = query(_VERSION)
        if not functions:
            raise ServingError(f"{path} does not serve here: it offers another version of "
                               "pdl/serving.h, or this CPU lacks what it was compiled for")
        self.functions = functions.contents
        described = self.functions.describe().contents
        self.model_name = described.model_name.decode()
        self.numerics = described.numerics.decode()
        self.programs = {}
        for index in range(described.program_count):
            program = Program(index, described.programs[index], self._rules)
            self.programs[program.name] = program

    def _has(self, function):
        field = getattr(_Functions, function)
        return self.functions.struct_size >= field.offset + field.size

    def _rules(self, program, place):
        """Returns the rules for the keys and the missing elements of an input. Returns None if the
        library is too old to have them."""
        if not self._has("describe_input"):
            return None
        rules = _Rules(struct_size=ctypes.sizeof(_Rules))
        if self.functions.describe_input(program, place, ctypes.byref(rules)):
            raise self.error()
        return rules

    def error(self):
        return ServingError(self.functions.last_error().decode())

    def open(self, path, *, accept_old_layout=False, weights="compiled"):
        """Opens a checkpoint, the newest checkpoint of a folder, or a dump. Returns a model.

        With `accept_old_layout`, also opens files of old versions, which do not say how keys are
        made from fields. `Model.unchecked` says what could not be checked.

        With `weights="int8"`, large products by parameters are computed in int8.
        """
        weights = self._weights(weights)
        if not accept_old_layout and not weights:
            return Model(self, self.functions.open(str(path).encode()))
        self._need("open_values", "accept_old_layout")
        values = _Values(ctypes.sizeof(_Values), str(path).encode(), accept_old_layout, weights)
        return Model(self, self.functions.open_values(ctypes.byref(values)))

    def _need(self, function, what, flags=""):
        if not self._has(function):
            raise ServingError(f"the library is older than {what}; translate the model again, with "
                               f"--emit=library{flags}")

    def _weights(self, name):
        if name not in _WEIGHTS:
            raise ServingError(f"weights are 'compiled' or 'int8', not {name!r}")
        if name != "compiled":
            self._need("weights", "int8 weights")
        return _WEIGHTS.index(name)

    def _need_servers(self):
        self._need("row_counts", "servers", " --servers")

    def connect(self, servers, *, token="", parameters="", cache_bytes=256 << 20, row_age_ms=1000,
                timeout_ms=1000, accept_old_layout=False, weights="compiled"):
        """Connects to the servers of a running job, which provide rows. Returns a model. The
        library must have been made with `--servers`.

        - `servers`: addresses, as a list or separated by commas.
        - `token`: that of the servers' --reader-token-file.
        - `parameters`: path as for `open`, to use its parameters instead of the current ones of
          the servers.
        - `cache_bytes`, `row_age_ms`: size of the row cache, and the age in milliseconds after
          which a row is requested again.
        - `timeout_ms`: maximum time in milliseconds that a call waits for servers.
        - `accept_old_layout`, `weights`: as in `open`, for `parameters`.
        """
        self._need_servers()
        weights = self._weights(weights)
        if not isinstance(servers, str):
            servers = ",".join(servers)
        connection = _Connection(ctypes.sizeof(_Connection), servers.encode(), token.encode(),
                                 str(parameters).encode(), cache_bytes, row_age_ms, timeout_ms,
                                 accept_old_layout, weights)
        return Model(self, self.functions.connect(ctypes.byref(connection)))


def _address(buffer, code, what):
    """Returns the address of a buffer, its number of elements, and an object that keeps it alive.
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ServingError(f"{what} is a {type(buffer).__name__} and no buffer; give an array of "
                           f"'{code}', such as array.array('{code}', numbers)") from None
    if not view.c_contiguous:
        raise ServingError(f"{what} is not contiguous; copy it")
    kind = view.format.lstrip("@=<")
    kind = "q" if kind in "lQL" and view.itemsize == 8 else kind
    kind = "i" if kind == "l" and view.itemsize == 4 else kind
    if kind != code:
        raise ServingError(f"{what} has elements of '{view.format}', but takes '{code}'; "
                           "convert it, or give a list where it takes texts")
    count = view.nbytes // view.itemsize
    if view.readonly or not count:
        # ctypes accepts only buffers that may be written, so copy this one.
        kept = (ctypes.c_char * max(1, view.nbytes)).from_buffer_copy(view.tobytes() or b"\0")
    else:
        kept = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B"))
    return ctypes.addressof(kept), count, (kept, view)


class Model:
    """A model with values, from `Library.open` or `Library.connect`. `close` or deletion frees
    its memory."""

    def __init__(self, library, pointer):
        self.library = library
        self._pointer = pointer
        self._runs, self._warned = 0, False
        if not self._pointer:
            raise library.error()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """Frees the model. No thread may use it any more."""
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            self.library.functions.close(pointer)

    def _check(self, status):
        if status == _UNAVAILABLE:
            raise ServersUnavailable(self.library.functions.last_error().decode())
        if status:
            raise self.library.error()

    def reload(self, path):
        """Loads other values. Calls in progress finish with the old values."""
        self._check(self.library.functions.reload(self._pointer, str(path).encode()))

    def unchecked(self):
        """Returns a text that says what could not be checked of the values. Empty if everything
        was checked."""
        self.library._need("unchecked", "accept_old_layout")
        return self.library.functions.unchecked(self._pointer).decode()

    def weights(self):
        """Returns the type of weights of large products: "compiled" or "int8"."""
        self.library._need("weights", "int8 weights")
        found = self.library.functions.weights(self._pointer)
        if found < 0:
            raise self.library.error()
        return _WEIGHTS[found]

    def refresh(self):
        """Pulls the current parameters from the servers of a connected model."""
        self.library._need_servers()
        self._check(self.library.functions.refresh(self._pointer))

    def row_counts(self):
        """Returns a dict. `ids` and `unknown_ids` count the ids of all samples, and those without
        a row. `hits`, `misses` and `requests` count the row lookups of a connected model."""
        self.library._need_servers()
        counts = _RowCounts(struct_size=ctypes.sizeof(_RowCounts))
        self._check(self.library.functions.row_counts(self._pointer, ctypes.byref(counts)))
        return {name: getattr(counts, name)
                for name in ("hits", "misses", "requests", "ids", "unknown_ids")}

    def state(self):
        """Returns a dict of `version`, `steps`, `rows` and `bytes`."""
        state = _State(struct_size=ctypes.sizeof(_State))
        self._check(self.library.functions.state(self._pointer, ctypes.byref(state)))
        return {name: getattr(state, name) for name in ("version", "steps", "rows", "bytes")}

    def run(self, program, inputs, batch=None, outputs=None):
        """Scores a batch. Returns a dict of outputs by name. These are array.array, unless
        `outputs` has buffers for them.

        `inputs` has the inputs by name. An input that is left out is missing for all samples.

        - Dense inputs and ids: a buffer of batch * width elements. NaN is a missing number.
        - Ragged inputs: a pair of values and splits (int32, batch * width + 1).
        - Ids that the model hashes: a list of texts (str or bytes; None is missing). If the input
          is ragged: a list of lists, one for each bag. Or a buffer of ready keys (`pdl.key`) of
          type uint64.

        `batch` is the number of samples; by default it follows from the inputs. Warns once if
        more than half of the ids are unknown.
        """
        chosen = self.library.programs.get(program)
        if chosen is None:
            raise ServingError(f"the library has no program @{program}, only "
                               + ", ".join(f"@{name}" for name in self.library.programs))
        unknown = set(inputs) - {tensor.name for tensor in chosen.inputs}
        if unknown:
            names = ", ".join(f"'{tensor.name}'" for tensor in chosen.inputs)
            raise ServingError(f"program @{program} has no input '{sorted(unknown)[0]}'; it has "
                               f"{names or 'none'}")
        raw = (_Input * max(1, len(chosen.inputs)))()
        are_keys = (ctypes.c_int32 * max(1, len(chosen.inputs)))()
        kept = []
        for place, tensor in enumerate(chosen.inputs):
            if tensor.name not in inputs:
                if tensor.missing is None:
                    raise ServingError(f"input '{tensor.name}' of program @{program} is missing")
                continue
            given = inputs[tensor.name]
            are_keys[place] = self._is_unsigned(tensor, given)
            found = self._take(raw[place], tensor, given, kept)
            if found % tensor.width:
                raise ServingError(f"input '{tensor.name}' has {found} entries, which is no "
                                   f"multiple of {tensor.width}, those of a sample")
            found //= tensor.width
            if batch is None:
                batch = found
            elif batch != found:
                raise ServingError(f"input '{tensor.name}' has {found} samples, others {batch}")
        if batch is None:
            raise ServingError(f"program @{program} has no inputs: say how many samples to score")
        results, pointers = {}, (ctypes.c_void_p * max(1, len(chosen.outputs)))()
        for place, tensor in enumerate(chosen.outputs):
            given = (outputs or {}).get(tensor.name)
            if given is None:
                given = array.array(tensor.code, bytes(batch * tensor.width
                                                       * array.array(tensor.code).itemsize))
            elif memoryview(given).readonly:
                raise ServingError(f"the buffer of output '{tensor.name}' cannot be written")
            address, count, alive = _address(given, tensor.code, f"output '{tensor.name}'")
            if count < batch * tensor.width:
                raise ServingError(f"output '{tensor.name}' has room for {count} elements, but "
                                   f"{batch * tensor.width} come")
            kept.append(alive)
            pointers[place] = address
            results[tensor.name] = given
        functions = self.library.functions
        if not self.library._has("warning"):
            self._check(functions.run(self._pointer, chosen.index, batch, raw, pointers))
            return results
        self._check(functions.run_keys(self._pointer, chosen.index, batch, raw, are_keys, pointers))
        self._runs += 1
        # Checked only after 1, 2, 4, ... calls, because it takes some time.
        if not self._runs & (self._runs - 1) and not self._warned:
            message = functions.warning(self._pointer).decode()
            if message:
                self._warned = True
                warnings.warn(message, UnknownIdsWarning, stacklevel=2)
        return results

    @staticmethod
    def _is_unsigned(tensor, given):
        """Returns true if ids are ready keys, which are unsigned integers."""
        if tensor.code != "q" or isinstance(given, list):
            return False
        values = given[0] if tensor.kind == "ragged" else given
        try:
            return memoryview(values).format.lstrip("@=<") in ("Q", "L")
        except TypeError:
            return False

    @staticmethod
    def _take(raw, tensor, given, kept):
        """Fills an input. Returns its number of elements or bags."""
        what = f"input '{tensor.name}'"
        if isinstance(given, list):
            return Model._take_texts(raw, tensor, given, kept)
        if tensor.kind != "ragged":
            raw.values, count, alive = _address(given, tensor.code, what)
            kept.append(alive)
            return count
        values, splits = given
        raw.values, count, alive = _address(values, tensor.code, what)
        raw.splits, ends, alive_splits = _address(splits, "i", f"{what}: its splits")
        kept += [alive, alive_splits]
        end = memoryview(splits).cast("B").cast("i")[ends - 1] if ends else count
        if end != count:
            raise ServingError(f"{what}: its splits end at {end}, but it has {count} values")
        return max(0, ends - 1)

    @staticmethod
    def _take_texts(raw, tensor, given, kept):
        what = f"input '{tensor.name}'"
        if not tensor.takes_texts:
            raise ServingError(f"{what} takes numbers, and a list is for texts; give an array of "
                               f"'{tensor.code}', such as array.array('{tensor.code}', numbers)")
        texts = given
        if tensor.kind == "ragged":
            splits, texts = array.array("i", [0]), []
            for bag in given:
                # Otherwise each letter of a text would become a text of its own.
                if isinstance(bag, (str, bytes)) or not hasattr(bag, "__iter__"):
                    raise ServingError(f"{what} takes bags, a list of texts each, but one is "
                                       f"{bag!r}; cut it as data files are at their "
                                       "separator, and give a list")
                texts.extend(bag)
                splits.append(len(texts))
            raw.splits, _, alive = _address(splits, "i", "splits")
            kept.append(alive)
        for text in texts:
            if text is not None and not isinstance(text, (str, bytes)):
                raise ServingError(f"{what} takes texts, str or bytes, but one is a "
                                   f"{type(text).__name__}")
        encoded = [text.encode() if isinstance(text, str) else text or b"" for text in texts]
        ends, end = array.array("q"), 0
        for text in encoded:
            end += len(text)
            ends.append(end)
        if not ends:
            ends.append(0)
        raw.text_ends, _, alive_ends = _address(ends, "q", "ends")
        joined = ctypes.create_string_buffer(b"".join(encoded), max(1, end))
        raw.texts = ctypes.addressof(joined)
        kept += [alive_ends, joined]
        return len(given)
