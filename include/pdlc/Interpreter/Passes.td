//===- Passes.td - The interpreter as a pass -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_PASSES_TD
#define PDLC_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def NNInterpret : Pass<"nn-interpret", "::mlir::ModuleOp"> {
  let summary = "Runs a program of the module, op by op";
  let description = [{
    The reference interpreter. It uses plain loops in the fixed summation order,
    in the element type of the module. It runs modules in the phases `model`,
    `merged`, `gradient` and `fused`, and does not change them. From phase
    `gradient` on, a program with `nn.update` trains. In earlier phases,
    `nn.minimize` only sums the losses.

    Batches come from a safetensors file of one of two forms. A file that a
    trainer dumped holds `batch<i>/<field>` for i = 0, 1, and so on. Any other
    file holds each `<field>` as a whole, and is cut into batches of
    `batch-size`. A ragged field `f` is stored as `f.values` (ids) and
    `f.splits` (samples * slots + 1 offsets). If there are more steps than
    batches, the batches are reused from the first one on.

    A file named `-` is the standard output.

    - `losses`: one line for each step: the mean loss with 17 digits.
    - `outputs`: a line of names, then one line for each sample: the elements of
      all outputs, separated by tabs. Each number is the shortest text that
      reads back as the same number.
    - `metrics`: one line for each metric: its name, and its value with 17
      digits.
    - `dump`: parameters by name, and tables as `<table>.keys` (ascending) and
      `<table>.values`. With `dump-slots`, also `<symbol>.slot.<slot>`.

    Example:
    ```
    pdl-opt model.mlir --pdl-pipeline="to=gradient" \
      --nn-interpret="program=train data=batches.safetensors steps=20 losses=-"
    ```
  }];
  let options = [
    Option<"programName", "program", "std::string", "\"train\"",
      "The program to run">,
    Option<"dataPath", "data", "std::string", "",
      "The safetensors file that holds the batches">,
    Option<"batchSize", "batch-size", "int64_t", "0",
      "Samples of one batch if `data` holds whole fields; 0: all of them">,
    Option<"initPath", "init", "std::string", "",
      "A safetensors file with values to start from, as `dump` writes them">,
    Option<"steps", "steps", "int64_t", "0",
      "Number of steps to run; 0: one for each batch">,
    Option<"seed", "seed", "uint64_t", "0", "The seed of the initial values">,
    Option<"lossesPath", "losses", "std::string", "",
      "The file that gets the mean loss of each step">,
    Option<"outputsPath", "outputs", "std::string", "",
      "The file that gets the program's outputs">,
    Option<"metricsPath", "metrics", "std::string", "",
      "The file that gets the values of all metrics after the last step">,
    Option<"dumpPath", "dump", "std::string", "",
      "The safetensors file that gets the state after the last step">,
    Option<"dumpSlots", "dump-slots", "bool", "false",
      "Write the slots of optimizers to `dump` too">
  ];
}

#endif // PDLC_INTERPRETER_PASSES_TD
