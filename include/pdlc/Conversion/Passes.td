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

// Statistics of a pass are reported by its code with `reportStatistic`
// (pdlc/Support/Statistics.h) under the names given here; `pdl-opt
// --remarks-filter=statistics` prints them.

//===----------------------------------------------------------------------===//
// Phase `buffers`
//===----------------------------------------------------------------------===//

def NNUpdatesToKernels : Pass<"nn-updates-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Functions from the regions of updates";
  let description = [{
    Makes a function with the C signature of `pdlabi/abi.h` from the region of
    each `nn.once` (`pdl_group::once`) and each `nn.update`
    (`pdl_dense_kernel` for a parameter, `pdl_row_kernel` for a table; where the
    update asks for the values that a late gradient was computed on,
    `pdl_late_dense_kernel` and `pdl_late_row_kernel`), and says
    which one belongs to whom (`rt.once_kernel`, `rt.update_kernel`). The same
    region becomes a loop over a dense block or over rows: element by element the
    same operations, so equal bits. Loads and stores say that value, slots,
    gradient and what was seen do not overlap; the row kernel fetches rows ahead. The `nn.once` and
    `nn.update` ops stay for the conversion of the program that holds them; the
    rules and schedules are erased.

    A group or symbol that several programs update must be updated alike.

    With `on-device` a symbol gets a second kernel, which a device launches: of
    each turn by itself, with its arguments one by one. It is for parameters, and for tables that
    are in the memory of the device. Rules of whole parameters, which are
    one turn, and those with functions that a device has not, stay the host's. So do
    all in a module of role `pserver`.

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
    After, beside it:
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
           "Kernels of parameters for a device, too">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Functions made from updates">
  ];
}

def PSToRT : Pass<"ps-to-rt", "::mlir::ModuleOp"> {
  let summary = "Messages become what stages read and write";
  let description = [{
    Runs on the module of one role, behind `nn-updates-to-kernels`. In a trainer,
    what an answer brings is read like state of the process itself, for that is
    where the runtime puts it: `nn.read` and `nn.pull`; a gradient that is posted
    becomes an `rt.gradient`. On servers, handlers have become kernels and go.
    Channels, messages and units stay: the descriptor says them.

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
  let summary = "Stage functions from programs";
  let description = [{
    Makes from each `nn.program` the functions `@<program>_prepare` and
    `@<program>_compute` of `pdl_program`, and an `rt.program` that says what
    they exchange with the runtime. Every tensor gets its memory here, once: the
    step context's where it is a field, parameter, gradient or output, else a
    slot of one of the two arenas, shared by values of one size that do not live
    at the same time. What an op would only move (`nn.concat`, `nn.pad`) is written
    to its place at once by those who can leave gaps between rows, and
    what only repeats columns (`nn.slice`) is read where they are by those who can
    pass over gaps. Elementwise ops become loops, each with the ops that only
    it uses. Reductions of rows to one element, and the elementwise ops before and
    after them (a softmax, a layer norm), are one loop over rows; what only they read
    is there for one row at a time. With `join-loops=false` each op has a loop of its
    own, and the same bits, so that joined loops can be compared with those that are not. Other reductions over a batch, or over all rows of its bags, are cut into
    `sum-chunks` chunks that follow each other, if numerics is fast: what each becomes
    stands in the arena, and is combined in a second step (docs/Numerics.md). Everything else calls the runtime. Ops of stage `apply` are gone
    afterwards: `nn-updates-to-kernels` made functions of them before.

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
           "Matrix products, and what sum-chunks says: fast or strict">,
    Option<"sumChunks", "sum-chunks", "int64_t", "1",
           "With numerics=fast: in how many chunks, beside each other, sums over a batch are formed">,
    Option<"joinLoops", "join-loops", "bool", "true",
           "Compute elementwise ops, and reductions of rows, in the loops of those that use them">
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
    Statistic<"numPlaces", "places", "Places in arenas, where tensors whose lifetimes do not meet share memory">,
    Statistic<"numArenaBytes", "arena-bytes", "Bytes of all arenas, of what is needed for each sample">,
    Statistic<"numArenaBound", "arena-bound", "Those that are needed at the same time">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `llvm`
//===----------------------------------------------------------------------===//

def MathToABI : Pass<"math-to-pdlabi", "::mlir::ModuleOp"> {
  let summary = "Calls of the settled scalar functions";
  let description = [{
    Replaces `math.exp`, `log`, `log1p` and `tanh` on f32 by calls of
    `pdlabi/math.h`, on f64 by calls of the C library, and `math.powf` and
    `math.cos` on f64 by `pdlabi_pow` and `pdlabi_cos`. The functions of
    `pdlabi/math.h` are linked into the program as bitcode and inlined before
    vectorisation.

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
  let summary = "Reads of the step context and calls of the runtime";
  let description = [{
    Replaces the ops that stand in stages by loads from `pdl_step_context` and
    calls of the `pdlrt_*` functions; memrefs become the pointers that those
    take.

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
  let summary = "The constant descriptor and pdl_program_query";
  let description = [{
    Writes what the module's symbols, `rt.program` and kernel ops say as
    constants of the struct layouts of `pdlabi/abi.h`, and the function that
    returns them; erases those ops. All other functions become internal.

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
  let summary = "Target triple, data layout and CPU features";
  let description = [{
    Says on the module and on every function what machine it is compiled for:
    without this, LLVM would emit scalar code without a word. The function
    `pdl_program_query` is for every x86-64 CPU: what it returns says which
    features a CPU must have (`pdl_descriptor::cpu_features`), and is read before
    any other code runs.
  }];
  let options = [
    Option<"targetCpu", "target-cpu", "std::string", "\"x86-64-v3\"",
           "A CPU that LLVM knows, or native">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // PDLC_CONVERSION_PASSES_TD
