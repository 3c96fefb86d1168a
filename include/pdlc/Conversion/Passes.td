//===- Passes.td - From phase `fused` to the LLVM dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_CONVERSION_PASSES_TD
#define PDLC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

// Passes report their statistics with `reportStatistic`
// (pdlc/Support/Statistics.h), under the names given here.
// `pdl-opt --remarks-filter=statistics` prints them.

//===----------------------------------------------------------------------===//
// Phase `buffers`
//===----------------------------------------------------------------------===//

def NNUpdatesToKernels : Pass<"nn-updates-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes functions from the regions of updates";
  let description = [{
    Makes a function with a C signature of `pdlabi/abi.h` from each `nn.once`
    and each `nn.update`:

    | region of | signature |
    |---|---|
    | `nn.once` | `pdl_group::once` |
    | `nn.update` of a parameter | `pdl_dense_kernel` |
    | `nn.update` of a table | `pdl_row_kernel` |
    | `nn.update` of a parameter, with `seen` | `pdl_late_dense_kernel` |
    | `nn.update` of a table, with `seen` | `pdl_late_row_kernel` |

    `rt.once_kernel` and `rt.update_kernel` assign the functions to groups and
    symbols. The region of an update becomes a loop over a block of a parameter,
    or over rows of a table. Both compute each element by the same operations,
    so results are bit-identical. Loads and stores have alias scopes, because
    value, slots, gradient and the values that workers saw do not overlap. The
    row kernel prefetches rows. The `nn.once` and `nn.update` ops stay for the
    conversion of their program; rules and schedules are erased.

    If several programs update a group or symbol, they must update it in the
    same way.

    With `on-device`, each parameter and table also gets a kernel that a device
    launches. Its iterations are independent, and each argument is passed
    separately. The kernel of a table is for tables in device memory. The host
    applies rules over whole parameters, because they have only one iteration,
    and rules with functions that a device lacks. In a module of role `pserver`,
    the host applies all rules.

    Before:
    ```mlir
    nn.update @w gradient(%g) scalars(%weights, %step_size) {
    ^bb0(%value: f32, %sum: f32, %weight: f32, %rate: f32):
      %0 = arith.divf %sum, %weight : f32
      %1 = arith.mulf %rate, %0 : f32
      %2 = arith.subf %value, %1 : f32
      nn.yield %2 : f32
    } : tensor<10xf32>, tensor<f32>, tensor<f32>
    ```
    After, in addition:
    ```mlir
    rt.update_kernel @w calls @update_w
    func.func private @update_w(%count: i64, %state: !llvm.ptr, %gradient: !llvm.ptr, %scalars: !llvm.ptr) {
      ...
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        ...
        %2 = arith.subf %value, %1 : f32
        llvm.store %2, %address : f32, !llvm.ptr
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::pdlc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"onDevice", "on-device", "bool", "false",
           "Also make kernels for a device">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Functions made from updates">
  ];
}

def PSToRT : Pass<"ps-to-rt", "::mlir::ModuleOp"> {
  let summary = "Converts messages to data that stages read and write";
  let description = [{
    Runs on the module of one role, after `nn-updates-to-kernels`. In a trainer,
    the runtime stores the contents of a response as state of the process. The
    program therefore reads them with `nn.read` and `nn.pull`. A posted gradient
    becomes an `rt.gradient`. On servers, handlers have become kernels and are
    erased. Channels, messages and units stay, because the descriptor contains
    them.

    Before:
    ```mlir
    %loss:2, %w = ps.wait @train.exchange {stage = #nn.stage<receive>} : tensor<f64>, tensor<f64>, tensor<4x1xf32>
    ...
    ps.post @train.exchange(%g, %sum, %weight) {stage = #nn.stage<send>} : ...
    ```
    After:
    ```mlir
    %w = nn.read @w {stage = #nn.stage<compute>} : tensor<4x1xf32>
    ...
    rt.gradient @w sum(%g : tensor<4x1xf32>) {stage = #nn.stage<apply>}
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect", "::pdlc::rt::RTDialect"];
}

def NNToRT : Pass<"nn-to-rt", "::mlir::ModuleOp"> {
  let summary = "Makes stage functions from programs";
  let description = [{
    Converts each `nn.program` to the functions `@<program>_prepare` and
    `@<program>_compute` of `pdl_program`, and to an `rt.program` that describes
    the data exchanged with the runtime.

    **Memory.** This pass is the only one that assigns memory to tensors.
    Fields, parameters, gradients and outputs are in the step context. Other
    tensors get a location in one of two arenas. Tensors can share memory if
    their lifetimes do not overlap. Ops that only move elements (`nn.concat`,
    `nn.pad`) cost nothing if the producers can leave gaps between rows: the
    producers write to the final position directly. Ops that only select columns
    (`nn.slice`) cost nothing if the consumers can skip gaps.

    **Loops.** An elementwise op becomes a loop, which also computes the
    elementwise ops whose results only this loop uses. Reductions of rows to one
    element, and the elementwise ops before and after them (a softmax, a layer
    norm), become one loop over rows. Of a value that only this loop reads, one
    row exists at a time. With `join-loops=false`, each op has its own loop, so
    that tests can compare joined with separate loops; the results are
    bit-identical.

    **Sums.** With `numerics=fast`, other reductions over a batch, or over all
    rows of its bags, are divided into `sum-chunks` consecutive chunks. The
    partial results are stored in the arena and combined in a second step
    (docs/Numerics.md).

    All other ops call the runtime. Ops of stage `apply` are erased, because
    `nn-updates-to-kernels` has already made functions from them.

    Before:
    ```mlir
    nn.program @predict frozen reads(@r) {
    ^bb0(%x: tensor<?x4xf32>):
      %0 = nn.relu %x {stage = #nn.stage<compute>} : tensor<?x4xf32>
      nn.return %0 : tensor<?x4xf32>
    }
    ```
    After:
    ```mlir
    func.func @predict_compute(%context: !llvm.ptr) -> i32 {
      %b = rt.count batch[0] of %context : !llvm.ptr
      %from = rt.pointer field_values[0] of %context : !llvm.ptr -> !llvm.ptr
      %to = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
      ...
      scf.parallel (%i) = (%c0) to (%count) step (%c1) { ... }
      return %ok : i32
    }
    rt.program @predict frozen reads(@r [@x]) outputs ["output0"] widths [4] types [f32] ...
    ```
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"fast\"",
           "Numerics of matrix products and of sum-chunks: fast or strict">,
    Option<"sumChunks", "sum-chunks", "int64_t", "1",
           "With numerics=fast: number of chunks of a sum over a batch">,
    Option<"joinLoops", "join-loops", "bool", "true",
           "Compute elementwise ops, and reductions of rows, in the loops of their users">
  ];
  let dependentDialects = ["::pdlc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "Elementwise ops computed in the loop of their user">,
    Statistic<"numRowLoops", "row-loops", "Loops over rows that reduce rows between elementwise ops">,
    Statistic<"numInPlace", "in-place", "Results written where an op would have moved them">,
    Statistic<"numRepeats", "repeats", "Results that are columns of another tensor">,
    Statistic<"numPlaces", "places", "Slots in arenas, which tensors with disjoint lifetimes share">,
    Statistic<"numArenaBytes", "arena-bytes", "Bytes of all arenas for each sample">,
    Statistic<"numArenaBound", "arena-bound", "Bytes of them that are in use at the same time">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `llvm`
//===----------------------------------------------------------------------===//

def MathToABI : Pass<"math-to-pdlabi", "::mlir::ModuleOp"> {
  let summary = "Replaces math ops by function calls";
  let description = [{
    Replaces `math.exp`, `log`, `log1p` and `tanh` on f32 by calls of
    `pdlabi/math.h`, and on f64 by calls of the C library. Replaces `math.cos`
    and `sin` on both types, and `math.powf` on f64, by calls of
    `pdlabi/math.h`. The functions of `pdlabi/math.h` are linked into the
    program as bitcode and inlined before vectorization.

    Before:
    ```mlir
    %0 = math.exp %x : f32
    ```
    After:
    ```mlir
    %0 = func.call @pdlabi_expf(%x) : (f32) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def RTCallsToLLVM : Pass<"rt-calls-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Converts reads of the step context and calls of the runtime";
  let description = [{
    Replaces the ops of stages by loads from `pdl_step_context` and calls of the
    `pdlrt_*` functions. Memrefs become the pointers that these functions take.

    Before:
    ```mlir
    rt.gather %lookup into %out : !llvm.ptr, memref<?x10xf32>
    ```
    After:
    ```mlir
    llvm.call @pdlrt_gather(%type, %lookup, %width, %out) : (i32, !llvm.ptr, i64, !llvm.ptr) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def RTDescriptorToLLVM : Pass<"rt-descriptor-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Writes the constant descriptor and pdl_program_query";
  let description = [{
    Converts the module's symbols, `rt.program` and kernel ops to constants with
    the struct layouts of `pdlabi/abi.h`, and creates the function that returns
    them. Erases these ops. All other functions become internal.

    Before:
    ```mlir
    nn.param @w : tensor<10xf32> in @dense init(#nn.zeros)
    ```
    After:
    ```mlir
    llvm.mlir.global internal constant @pdl.symbols() : !llvm.array<1 x struct<"pdl_symbol", (...)>> { ... }
    llvm.func @pdl_program_query(%version: i32) -> !llvm.ptr { ... }
    ```
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"fast\"", "fast or strict">,
    Option<"targetCpu", "target-cpu", "std::string", "\"x86-64-v3\"",
           "The CPU that the descriptor names, with its features: one that LLVM "
           "knows, or native">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def RTSetTarget : Pass<"rt-set-target", "::mlir::ModuleOp"> {
  let summary = "Sets the target triple, data layout and CPU features";
  let description = [{
    Sets the target machine on the module and on every function. Without it,
    LLVM would silently emit scalar code. The function `pdl_program_query` is
    compiled for every x86-64 CPU. Its result says which features a CPU must
    have (`pdl_descriptor::cpu_features`), and is read before any other code
    runs.
  }];
  let options = [
    Option<"targetCpu", "target-cpu", "std::string", "\"x86-64-v3\"",
           "A CPU that LLVM knows, or native">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // PDLC_CONVERSION_PASSES_TD
