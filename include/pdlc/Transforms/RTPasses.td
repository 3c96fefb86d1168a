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
  let summary = "Kernels from the loops of stages";
  let description = [{
    Moves each loop nest of a stage, parallel or ordered, into a function of plain
    pointers and numbers, together with the loads that feed it and the stores of what it
    carries out; the stage calls it. Nests that differ only in names, in the
    memory that they are given, in numbers from outside and in numbers of rows
    share one kernel: constants on which all of them agree stay inside, the others
    become parameters. Inner dimensions are part of a kernel, so that LLVM sees its
    strides and trip counts.

    Each pointer is `llvm.noalias`: the plan of buffers lets no op write
    memory that it reads through another pointer, so LLVM needs no check of
    overlaps at run time. Kernels are never inlined back, which keeps the time
    to compile linear in the number of distinct kernels.

    A kernel's name says what it does: `fill`, `copy`, `elementwise` or `reduce`,
    the scalar ops of its body (six at most) and the type of the elements that it
    writes; the symbol table adds a number where a name is taken.

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
  let summary = "One function for equal bodies";
  let description = [{
    Merges functions with equal types and bodies, whatever their names, and lets
    all users of the later ones use the first: parameters of one group share a
    kernel, tables of one group and width likewise.

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
  let summary = "Short rows as vectors of a power of two";
  let description = [{
    The kernel that updates the rows of a table is a parallel loop over rows
    around one over the elements of a row, and both take the largest of what tells
    whether all that they wrote is finite. Rows are short, ten elements, and of an
    odd length: a vectoriser masks the last vector, and joins the lanes for each
    row. This pass, for a core with vectors, writes a row of at most 64 elements as
    vectors of 16, 8, 4, 2 and 1 elements, and lets the loop over rows carry the
    largest by lane: lanes are joined once, behind it.

    It takes loops whose turns load and store elements of rows by their number,
    compute elementwise, and keep the largest of integers; others stay. Elements
    keep their bits.

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
  let summary = "Threads share the turns of kernels";
  let description = [{
    The turns of a kernel's parallel loop are independent, so that threads of a
    core's process may each run some of them. A kernel that is one such loop, of
    more than a few turns, takes the first turn and the one behind the last from its
    caller; a stage leaves it to the runtime (`rt.run_loop`), which knows how many
    threads have nothing else to do, and calls it once where there are none. The
    arguments lie in memory, 8 bytes each, in one place for all calls of a stage;
    a function `.turns` takes them from there.

    Kernels that give numbers back, or read memory before their loop, stay as they
    are, as do loops whose work is known to be small. Which elements meet in which
    order does not change, so no bit does.

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
    Statistic<"numKernels", "shared-kernels", "Kernels whose turns threads share">
  ];
}

def RTLaunchKernels : Pass<"rt-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Stages compute leave their work to a device";
  let description = [{
    Compute stages of a module in phase `tasks` become what runs beside a device: calls of kernels
    become launches, pointers those of the device's memory, and an `rt.device_kernel`
    says of each kernel what it does with its arguments. A launch says how many turns
    there are, which is computed where the kernel was called; a kernel that is no parallel
    loop has one.

    What there is no kernel for stays on the host: its inputs are copied out, and the
    stage waits for them; what it writes is copied in. Rows of tables, which are the
    host's, are gathered into memory that copies can use. Sums of losses and
    metrics wait until the end of their block, so that the stage waits once for all of them. What a program's
    fields, lookups and parameters hold is on both sides, and the host reads its own.

    Where tables are those of this process, not of servers, the kernels of the device library that
    find, make and move rows are there too: the runtime launches them by their names.

    With `numerics=fast` products of f32 that are not strict become `rt.device_product`; all
    others are launches of the device library.

    The stage returns the status of the device. Who calls a kernel elsewhere on the
    host calls a copy of it. Memory that is nobody's is a fault of the compiler, and refused.

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
  let summary = "Threads of a device share the turns of kernels";
  let description = [{
    What `rt-share-loops` and `rt-serialize-loops` are for cores, this is for a device:
    each kernel of an `rt.device_kernel` takes two numbers more, that of a thread and how many threads there
    are. A thread does the turns of that number, and then of each that is so many further. Turns are
    those of all dimensions of the kernel's parallel loop, and of a loop that is all
    that it holds, numbered with the last dimension innermost: neighbouring threads
    touch neighbouring memory. Loops further inside, and ordered sums, stay in the
    turn, and `rt-serialize-loops` gives them an order. Memory that a turn has for
    itself is one of a thread for all its turns.

    A kernel that is no such loop, such as one ordered sum, is done by thread 0 alone.
    Turns are independent, so no bit depends on how many threads there are.

    For the host, where a fake device runs the same code, each kernel gets a function of
    arguments in memory beside it.

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
  let summary = "The kernels of a device, without the program";
  let description = [{
    Leaves the kernels that an `rt.device_kernel` names, and the functions that these call: what becomes
    code for the device by itself; the rest of the program runs on the host. A kernel in
    which something has no code for a device is refused at that op: what calls the
    runtime in a turn, and functions of f64 that the C library has on a CPU.

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
    Statistic<"numKernels", "extracted-kernels", "Kernels that become code of a device">
  ];
}

def RTSerializeLoops : Pass<"rt-serialize-loops", "::mlir::ModuleOp"> {
  let summary = "Parallel loops in an order that suits one core";
  let description = [{
    Up to phase `tasks` a loop whose turns are independent is an `scf.parallel`,
    and only sums whose order is settled are `scf.for` inside of one: what a
    device would launch. This pass gives the turns an order, for a core with
    vectors: the last dimension runs innermost. Two things make that as fast as a
    nest written by hand:

    - A load that does not depend on inner dimensions moves out of their loops,
      where those are known to run and nothing in the loop writes to that memory.
    - Ordered sums, one for each turn, are walked in the order of the memory that
      they read: a sum over leading dimensions adds row after row into all results
      at once; a product of matrices, whose terms no single load has, adds term
      after term into all columns of a row. Each result still collects its elements
      in the same order, so that no bit changes.

    Memory that a turn has for itself (`memref.alloca`) is one on the stack of the
    function: the turns follow each other.

    What the turns combine (`scf.reduce`) must be integers, the same in any order;
    loops carry it. Floats are refused.

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
    Statistic<"numLoops", "loops", "Parallel loops that got an order">,
    Statistic<"numSums", "sums", "Of these, those of ordered sums">
  ];
}

#endif // PDLC_TRANSFORMS_RTPASSES_TD
