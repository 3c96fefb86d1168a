//===- RTPasses.td - Passes on kernels and loops -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_RTPASSES_TD
#define PDLC_TRANSFORMS_RTPASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Phase `tasks`
//===----------------------------------------------------------------------===//

def RTOutlineKernels : Pass<"rt-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outlines the loop nests of stages as kernels";
  let description = [{
    Moves each loop nest of a stage, parallel or ordered, into a function of
    plain pointers and numbers. The loads that feed the nest, and the stores of
    its results, move with it. The stage calls the function.

    Nests share one kernel if they differ only in names, memory, numbers of
    rows, and numbers that are computed outside. A constant that is the same in
    all these nests stays inside the kernel; other numbers become parameters.
    Inner dimensions are part of a kernel, so that LLVM knows its strides and
    trip counts.

    Each pointer is `llvm.noalias`. The buffer plan guarantees that no op writes
    memory that it reads through another pointer, so LLVM needs no overlap
    checks at run time. Kernels are never inlined again, so compile time is
    linear in the number of distinct kernels.

    The name of a kernel describes it: `fill`, `copy`, `elementwise` or
    `reduce`, the scalar ops of its body (at most six), and the type of the
    elements that it writes. If a name is taken, the symbol table adds a number.

    Before:
    ```mlir
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      ...
      %x = rt.view %arena[%a] size(%n) : !llvm.ptr -> memref<?xf32>
      %y = rt.view %arena[%b] size(%n) : !llvm.ptr -> memref<?xf32>
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %0 = memref.load %x[%i] : memref<?xf32>
        %1 = arith.mulf %0, %half : f32
        memref.store %1, %y[%i] : memref<?xf32>
      }
    ```
    After:
    ```mlir
    func.func private @kernel.elementwise_mul_f32(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %n: index) attributes {passthrough = ["noinline"]} {
      ...
    }
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      ...
      %0 = rt.address %arena[%a] : !llvm.ptr
      %1 = rt.address %arena[%b] : !llvm.ptr
      call @kernel.elementwise_mul_f32(%0, %1, %n) : (!llvm.ptr, !llvm.ptr, index) -> ()
    ```
  }];
  let dependentDialects = ["::pdlc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numNests", "nests", "Loop nests of stages">,
    Statistic<"numKernels", "kernels", "Distinct kernels made of them">
  ];
}

def RTDeduplicateKernels : Pass<"rt-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Merges equal functions";
  let description = [{
    Merges functions with equal types and bodies, whatever their names. All
    users of the later ones then use the first. For example, parameters of one
    group share a kernel, and so do tables of one group and width.

    Before:
    ```mlir
    rt.update_kernel @w1 calls @update_w1
    rt.update_kernel @w2 calls @update_w2
    ```
    After:
    ```mlir
    rt.update_kernel @w1 calls @update_w1
    rt.update_kernel @w2 calls @update_w1
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "kernels-merged", "Functions that an earlier one replaced">
  ];
}

def RTVectorizeRows : Pass<"rt-vectorize-rows", "::mlir::ModuleOp"> {
  let summary = "Processes short rows as vectors with power-of-two sizes";
  let description = [{
    The kernel that updates the rows of a table has a parallel loop over rows,
    and in it a loop over the elements of a row. Both compute the maximum of an
    integer that tells whether all written elements are finite. Rows are short,
    for example ten elements, and their length is often not a power of two.
    LLVM's vectorizer would mask the last vector, and join the lanes for each
    row.

    On a core with vectors, this pass instead writes a row of at most 64
    elements as vectors of 16, 8, 4, 2 and 1 elements. The loop over rows keeps
    a maximum for each lane, and the lanes are joined once, after the loop.

    The pass handles loops whose iterations load and store row elements by
    index, compute elementwise, and keep the maximum of integers. Other loops
    stay unchanged. Elements stay bit-identical.

    Before:
    ```mlir
    %s = scf.parallel (%r) = (%c0) to (%rows) step (%c1) init (%zero) -> i32 {
      %row = llvm.load ...
      %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
        %at = llvm.getelementptr %row[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %at : !llvm.ptr -> f32
        ...
        scf.reduce(%y : i32) { ... arith.maxsi %a, %b : i32 ... }
      }
      scf.reduce(%t : i32) { ... }
    }
    ```
    After:
    ```mlir
    %s:2 = scf.parallel (%r) = (%c0) to (%rows) step (%c1) init (%zeros8, %zeros2) -> (vector<8xi32>, vector<2xi32>) {
      %row = llvm.load ...
      %x = llvm.load %row : !llvm.ptr -> vector<8xf32>
      ...
      %at = llvm.getelementptr %row[%c8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x2 = llvm.load %at : !llvm.ptr -> vector<2xf32>
      ...
      scf.reduce(%y, %y2 : vector<8xi32>, vector<2xi32>) { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numRows", "rows", "Loops over elements of rows that became vectors">
  ];
}

def RTShareLoops : Pass<"rt-share-loops", "::mlir::ModuleOp"> {
  let summary = "Lets threads share the iterations of kernels";
  let description = [{
    The iterations of a kernel's parallel loop are independent, so several
    threads can each run some of them. The pass handles kernels that consist of
    one such loop. Such a kernel takes the first iteration and the end of the
    range from its caller.

    The stage calls `rt.run_loop` of the runtime. The runtime knows how many
    threads are idle; if none is, it calls the kernel once. The arguments are
    stored in memory, 8 bytes each, in one place for all calls of a stage. A
    function `.turns` loads them from there.

    Kernels that return numbers or read memory before their loop stay unchanged,
    and so do loops that are known to be cheap. The order in which elements are
    combined does not change, so results are bit-identical.

    Before:
    ```mlir
    func.func private @kernel.elementwise_mul_f32(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
      ...
      scf.parallel (%i) = (%c0) to (%n) step (%c1) { ... }
    }
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      call @kernel.elementwise_mul_f32(%0, %1, %n) : (!llvm.ptr, !llvm.ptr, index) -> ()
    ```
    After:
    ```mlir
    func.func private @kernel.elementwise_mul_f32(%x: !llvm.ptr, %y: !llvm.ptr, %n: index, %begin: index, %end: index) {
      ...
      scf.parallel (%i) = (%begin) to (%end) step (%c1) { ... }
    }
    func.func private @kernel.elementwise_mul_f32.turns(%arguments: !llvm.ptr, %begin: i64, %end: i64) {
      %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
      ...
      call @kernel.elementwise_mul_f32(%x, %y, %n, %first, %behind)
    }
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      %room = llvm.alloca %c3 x i64 : (i64) -> !llvm.ptr
      llvm.store %0, %room : !llvm.ptr, !llvm.ptr
      ...
      rt.run_loop @kernel.elementwise_mul_f32.turns named "kernel.elementwise_mul_f32" turns %n bytes 9 arguments %room : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::pdlc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numKernels", "shared-kernels", "Kernels whose iterations threads share">
  ];
}

def RTLaunchKernels : Pass<"rt-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Launches the kernels of compute stages on a device";
  let description = [{
    Converts compute stages of a module in phase `tasks` into host code that
    controls a device:

    - Calls of kernels become launches, and pointers become pointers to device
      memory.
    - An `rt.device_kernel` describes how each kernel uses its arguments.
    - A launch gives the number of iterations, which is computed at the place of
      the call. A kernel that is not a parallel loop has one iteration.

    Work without a kernel stays on the host. Its inputs are copied to the host,
    and the stage waits for them; its results are copied to the device. Rows of
    tables are copied to the device by `rt.device_gather`. Sums of losses and
    metrics are moved to the end of their block, so that the stage waits only
    once for all of their inputs. Data of a program's fields, lookups and
    parameters exists on both sides, and the host reads its own copy.

    If this process, and not servers, holds the tables, kernels of the device
    library find, create and move rows. The runtime launches them by name.

    With `numerics=fast`, f32 products that are not strict become
    `rt.device_product`. All other products are launches of the device library.

    The stage returns the status of the device. If other host code calls a
    kernel, this code gets a copy of the kernel for the host. If the pass cannot
    tell where the memory of a call is, it reports an internal error.

    Before:
    ```mlir
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
      %x = rt.address %arena[%offset] : !llvm.ptr
      call @kernel.fill_f32(%x, %n) : (!llvm.ptr, index) -> ()
      ...
    ```
    After:
    ```mlir
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
      %arena = rt.device_pointer compute_arena[0] of %worker : !llvm.ptr -> !llvm.ptr
      %x = rt.address %arena[%offset] : !llvm.ptr
      rt.launch @kernel.fill_f32 turns %n of %worker (%x, %n) : !llvm.ptr, (!llvm.ptr, index)
      ...
    rt.device_kernel @kernel.fill_f32 arguments [#rt<device_argument written>, #rt<device_argument number>]
    ```
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"fast\"",
           "Matrix products: fast or strict">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numKernels", "device-kernels", "Kernels that a device launches">
  ];
}

def RTDistributeLoops : Pass<"rt-distribute-loops", "::mlir::ModuleOp"> {
  let summary = "Distributes the iterations of kernels over device threads";
  let description = [{
    Does for a device what `rt-share-loops` and `rt-serialize-loops` do for
    cores. Each kernel of an `rt.device_kernel` gets two more numbers: the
    number of the thread, and the number of threads. A thread runs the iteration
    with its own number, and then every iteration whose number is larger by a
    multiple of the number of threads.

    Iterations are numbered over all dimensions of the kernel's parallel loop,
    and over a loop that is its only content. The last dimension is innermost,
    so that neighboring threads touch neighboring memory. Loops further inside,
    and sums with a fixed order, stay inside an iteration, and
    `rt-serialize-loops` orders them. Memory that belongs to an iteration
    becomes memory of the thread, for all its iterations.

    A kernel that is not such a loop, such as one sum with a fixed order, runs
    on thread 0 alone. Iterations are independent, so results do not depend on
    the number of threads.

    For the host, on which a fake device runs the same code, each kernel also
    gets a function that takes its arguments in memory.

    Before:
    ```mlir
    func.func private @kernel.copy_f32(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
      ...
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        scf.parallel (%j) = (%c0) to (%c13) step (%c1) { ... }
      }
    }
    rt.device_kernel @kernel.copy_f32 arguments [...]
    ```
    After:
    ```mlir
    func.func private @kernel.copy_f32(%x: !llvm.ptr, %y: !llvm.ptr, %n: index, %first: index, %stride: index) {
      ...
      %all = arith.muli %n, %c13 : index
      scf.for %turn = %first to %all step %stride {
        %j = arith.remui %turn, %c13 : index
        %i = arith.divui %turn, %c13 : index
        ...
      }
    }
    func.func private @kernel.copy_f32.run(%arguments: !llvm.ptr, %first: i64, %stride: i64) { ... }
    rt.device_kernel @kernel.copy_f32 arguments [...] runs @kernel.copy_f32.run
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numShared", "distributed-kernels", "Kernels that are one parallel loop">
  ];
}

def RTExtractKernels : Pass<"rt-extract-kernels", "::mlir::ModuleOp"> {
  let summary = "Extracts the kernels of a device from the program";
  let description = [{
    Keeps only the kernels that an `rt.device_kernel` names, and the functions
    that they call. They become device code; the rest of the program runs on the
    host. If an op in a kernel has no device code, the pass reports an error at
    that op. Examples are calls of the runtime in an iteration, and f64
    functions for which a CPU uses the C library.

    Before:
    ```mlir
    func.func private @kernel.fill_f32(%x: !llvm.ptr, %n: index, %first: index, %stride: index) { ... }
    func.func @train_compute(%context: !llvm.ptr) -> i32 { ... }
    rt.device_kernel @kernel.fill_f32 arguments [...] runs @kernel.fill_f32.run
    rt.program @train ... compute(@train_compute, ...)
    ```
    After:
    ```mlir
    func.func private @kernel.fill_f32(%x: !llvm.ptr, %n: index, %first: index, %stride: index) { ... }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "extracted-kernels", "Kernels that become device code">
  ];
}

def RTSerializeLoops : Pass<"rt-serialize-loops", "::mlir::ModuleOp"> {
  let summary = "Orders the iterations of parallel loops for one core";
  let description = [{
    Up to phase `tasks`, loops with independent iterations are `scf.parallel`,
    in a form that a device could launch. Only sums with a fixed summation order
    are `scf.for` inside such a loop. This pass orders the iterations for a core
    with vectors: the last dimension is innermost. Two measures make the result
    as fast as a hand-written nest:

    - A load that does not depend on inner dimensions is hoisted out of their
      loops. The pass does this if these loops are known to run and nothing in
      them writes to that memory.
    - Ordered sums, one for each iteration, follow the order of the memory that
      they read. A sum over leading dimensions adds row after row into all
      results at once. In a matrix product, a term does not come from a single
      load; the pass adds term after term into all columns of a row. Each result
      still adds its elements in the same order, so results are bit-identical.

    Memory that belongs to an iteration (`memref.alloca`) becomes one allocation
    on the stack of the function, because iterations run one after the other.

    Values that iterations combine (`scf.reduce`) must be integers, because
    their result does not depend on the order. Loops carry them. The pass
    reports an error for floats.

    Before:
    ```mlir
    scf.parallel (%j) = (%c0) to (%c400) step (%c1) {
      %0 = memref.load %sums[%j] : memref<?xf32>
      %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (f32) {
        %2 = memref.load %x[%i, %j] : memref<?x400xf32>
        %3 = arith.addf %sum, %2 : f32
        scf.yield %3 : f32
      }
      memref.store %1, %sums[%j] : memref<?xf32>
      scf.reduce
    }
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c400 step %c1 {
        %0 = memref.load %sums[%j] : memref<?xf32>
        %1 = memref.load %x[%i, %j] : memref<?x400xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %sums[%j] : memref<?xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numLoops", "loops", "Parallel loops that were ordered">,
    Statistic<"numSums", "sums", "Those of them that contain ordered sums">
  ];
}

#endif // PDLC_TRANSFORMS_RTPASSES_TD
