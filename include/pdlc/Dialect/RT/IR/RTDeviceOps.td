//===- RTDeviceOps.td - Device work of a stage -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stage compute of a program for a device runs on the host. It adds work to a
// stream of the device: launches of kernels, and copies. Addresses of device
// memory are pointers like others. The stage computes with them, but does not
// dereference them.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTDEVICEOPS_TD
#define PDLC_DIALECT_RT_IR_RTDEVICEOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "pdlc/Dialect/RT/IR/RTCallOps.td"

def RT_DeviceArgument : RT_Enum<"DeviceArgument", "use of an argument by a kernel", [
  I32EnumAttrCase<"number", 0>, I32EnumAttrCase<"read", 1>, I32EnumAttrCase<"written", 2>]>;
def RT_DeviceArgumentAttr : RT_EnumAttr<RT_DeviceArgument, "device_argument">;
def RT_DeviceArgumentArrayAttr
    : TypedArrayAttrBase<RT_DeviceArgumentAttr, "use of each argument by a kernel">;

def RT_DeviceKernelOp : RT_Op<"device_kernel", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A kernel that a device launches";
  let description = [{
    Describes a `pdl_device_kernel`: a function of pointers and numbers of 8
    bytes, followed by two more numbers, the number of the thread and the number
    of threads. Kernels are numbered in the order of these ops. `runs` is a
    function for the host that takes the arguments in memory. It exists if
    threads share the kernel (`rt-distribute-loops`).

    Constraints:
    - (C1) The kernel is a function of the module without results. So is the
      function that it `runs`.
    - (C2) There is one word for each argument of the kernel. With `runs`, the
      last two arguments have none.

    Example:
    ```mlir
    rt.device_kernel @kernel.fill_f32 arguments [#rt<device_argument written>, #rt<device_argument number>]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, RT_DeviceArgumentArrayAttr:$argument_kinds,
    OptionalAttr<FlatSymbolRefAttr>:$runs);
  let extraClassDeclaration = [{
    /// Returns the number of the kernel `kernel` among those of `module`. The
    /// module must contain it.
    static int32_t numberOf(::mlir::ModuleOp module, ::mlir::FlatSymbolRefAttr kernel);
  }];
  let assemblyFormat = "$kernel `arguments` $argument_kinds (`runs` $runs^)? attr-dict";
}

def RT_DevicePointerOp : RT_Op<"device_pointer", [MemoryEffects<[MemRead]>]> {
  let summary = "The device copy of memory that the step context holds";
  let description = [{
    Calls `pdlrt_device_pointer`. `index` counts as in `rt.pointer`. Data that
    the host wrote there before the stage is copied.

    Example:
    ```mlir
    %w = rt.device_pointer parameter[2] of %worker : !llvm.ptr -> !llvm.ptr
    ```
  }];
  let arguments = (ins RT_PlaceAttr:$place, I64Attr:$index, LLVM_AnyPointer:$worker);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$place `[` $index `]` `of` $worker attr-dict `:` type($worker) `->` type($result)";
}

def RT_DeviceConstantOp : RT_Op<"device_constant", [MemoryEffects<[MemRead]>]> {
  let summary = "The device copy of a constant";
  let description = [{
    Calls `pdlrt_device_constant`. The constant is so many bytes of the program,
    which never change.

    Example:
    ```mlir
    %c = rt.device_constant %worker, %bytes of %table : !llvm.ptr, !llvm.ptr -> !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, Index:$bytes, LLVM_AnyPointer:$constant);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = [{
    $worker `,` $bytes `of` $constant attr-dict `:` type($worker) `,` type($constant) `->` type($result)
  }];
}

def RT_LaunchOp : RT_CallOp<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Launches all iterations of a kernel on a device";
  let description = [{
    Calls `pdlrt_launch`. The kernel runs after all work that was added to the
    stream before.

    Constraints:
    - (C1) An `rt.device_kernel` of the module describes the kernel, with the
      same number of arguments.

    Example:
    ```mlir
    rt.launch @kernel.fill_f32 turns %n of %worker (%x, %n) : !llvm.ptr, (!llvm.ptr, index)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$turns, LLVM_AnyPointer:$worker,
    Variadic<AnyType>:$given);
  let assemblyFormat = [{
    $kernel `turns` $turns `of` $worker `(` $given `)` attr-dict `:` type($worker) `,` `(` type($given) `)`
  }];
}

def RT_DeviceProductOp : RT_CallOp<"device_product", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let hasVerifier = 1;
  let summary = "Matrix product by a library of the device";
  let description = [{
    Calls `pdlrt_device_product`, for f32. The product runs after all work that
    was added to the stream before. Its summation order is not fixed. If the
    library does not support the product, the kernel after `else` is launched.

    Constraints:
    - (C1) The product is not `strict`.
    - (C2) An `rt.device_kernel` of the module describes the kernel after
      `else`. It takes the 12 arguments of `pdldevice_product`.

    Example:
    ```mlir
    rt.device_product fast %worker, %x, %w transposed bias(%b : !llvm.ptr) sizes(%m, %n, %k)
      into %out stride %stride else @pdldevice_product_f32 : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins RT_ProductAttr:$product, LLVM_AnyPointer:$worker, LLVM_AnyPointer:$lhs, LLVM_AnyPointer:$rhs,
    Optional<LLVM_AnyPointer>:$bias, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
    Index:$m, Index:$n, Index:$k, LLVM_AnyPointer:$out, Index:$stride, FlatSymbolRefAttr:$otherwise);
  let assemblyFormat = [{
    $product $worker `,` $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)?
    (`bias` `(` $bias^ `:` type($bias) `)`)? `sizes` `(` $m `,` $n `,` $k `)` `into` $out `stride` $stride
    `else` $otherwise attr-dict `:` type($worker) `,` type($lhs) `,` type($rhs) `,` type($out)
  }];
}

def RT_DeviceGatherOp : RT_CallOp<"device_gather"> {
  let summary = "Copies rows from their table to a device";
  let description = [{
    Calls `pdlrt_device_gather`. It works like `rt.gather` with device memory as
    target, after all work that was added to the stream before. The table may be
    in the memory of the host or of the device; this is known when the program
    runs.

    Example:
    ```mlir
    rt.device_gather %worker, %lookup into %out width 10 of f32 : !llvm.ptr, !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, LLVM_AnyPointer:$lookup, LLVM_AnyPointer:$out,
    ConfinedAttr<I64Attr, [IntPositive]>:$width, TypeAttr:$element);
  let assemblyFormat = [{
    $worker `,` $lookup `into` $out `width` $width `of` $element attr-dict
      `:` type($worker) `,` type($lookup) `,` type($out)
  }];
}

def RT_HostMemoryOp : RT_Op<"host_memory", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Host memory for copies, until the end of the stage";
  let description = [{
    Calls `pdlrt_host_memory`.

    Example:
    ```mlir
    %p = rt.host_memory %worker, %bytes : !llvm.ptr -> !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, Index:$bytes);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$worker `,` $bytes attr-dict `:` type($worker) `->` type($result)";
}

class RT_CopyOp<string mnemonic> : RT_CallOp<mnemonic> {
  let arguments = (ins LLVM_AnyPointer:$worker, Index:$bytes, LLVM_AnyPointer:$source, LLVM_AnyPointer:$target);
  let assemblyFormat = [{
    $worker `,` $bytes `from` $source `to` $target attr-dict
    `:` type($worker) `,` type($source) `,` type($target)
  }];
}

def RT_CopyInOp : RT_CopyOp<"copy_in"> {
  let summary = "Copies host memory to the device";
  let description = [{
    Calls `pdlrt_copy_in`. The source is memory of `rt.host_memory`.

    Example:
    ```mlir
    rt.copy_in %worker, %bytes from %rows to %arena : !llvm.ptr, !llvm.ptr, !llvm.ptr
    ```
  }];
}

def RT_CopyOutOp : RT_CopyOp<"copy_out"> {
  let summary = "Copies device memory to the host";
  let description = [{
    Calls `pdlrt_copy_out`. The target is memory of `rt.host_memory`, and is
    complete after the next `rt.device_wait`.

    Example:
    ```mlir
    rt.copy_out %worker, %bytes from %predictions to %memory : !llvm.ptr, !llvm.ptr, !llvm.ptr
    ```
  }];
}

def RT_CopyWithinOp : RT_CopyOp<"copy_within"> {
  let summary = "Copies memory within the device";
  let description = [{
    Calls `pdlrt_copy_within`.

    Example:
    ```mlir
    rt.copy_within %worker, %bytes from %x to %y : !llvm.ptr, !llvm.ptr, !llvm.ptr
    ```
  }];
}

def RT_DeviceWaitOp : RT_CallOp<"device_wait"> {
  let summary = "Waits until a device has finished all added work";
  let description = [{
    Calls `pdlrt_device_wait` and returns its status. If the status is not
    success, the stage ends. The `last` wait of a stage copies gradients and
    outputs to the host.

    Example:
    ```mlir
    %status = rt.device_wait last %worker : !llvm.ptr
    ```
  }];
  let arguments = (ins UnitAttr:$last, LLVM_AnyPointer:$worker);
  let results = (outs I32:$status);
  let assemblyFormat = "(`last` $last^)? $worker attr-dict `:` type($worker)";
}

#endif // PDLC_DIALECT_RT_IR_RTDEVICEOPS_TD
