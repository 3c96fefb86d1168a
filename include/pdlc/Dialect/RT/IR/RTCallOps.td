//===- RTCallOps.td - Ops in the stages of a program -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a stage reads its step context (`rt.pointer`, `rt.count`), views
// raw memory as memrefs (`rt.view`), and calls the runtime. There is one op for
// each function of `pdlabi/abi.h` that generated code calls. These functions
// write to memory that the stage provides; only `rt.allocate` returns memory.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTCALLOPS_TD
#define PDLC_DIALECT_RT_IR_RTCALLOPS_TD

include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pdlc/Dialect/RT/IR/RTDialect.td"
include "pdlc/Interfaces/ModelAttrInterfaces.td"

//===----------------------------------------------------------------------===//
// Enumerations, with the numbers of pdlabi/abi.h
//===----------------------------------------------------------------------===//

class RT_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::pdlc::rt";
}
class RT_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<RT_Dialect, info, mnemonic>;

def RT_Place : RT_Enum<"Place", "target of a pointer of the step context", [
  I32EnumAttrCase<"worker", 0>, I32EnumAttrCase<"field_values", 1>,
  I32EnumAttrCase<"field_splits", 2>, I32EnumAttrCase<"lookup", 3>,
  I32EnumAttrCase<"lookup_inverse", 4>, I32EnumAttrCase<"parameter", 5>,
  I32EnumAttrCase<"gradient", 6>, I32EnumAttrCase<"output", 7>,
  I32EnumAttrCase<"loss_sum", 8>, I32EnumAttrCase<"weight_sum", 9>,
  I32EnumAttrCase<"metric", 10>, I32EnumAttrCase<"prepare_arena", 11>,
  I32EnumAttrCase<"compute_arena", 12>, I32EnumAttrCase<"draws", 13>,
  I32EnumAttrCase<"lookup_key_splits", 14>, I32EnumAttrCase<"lookup_occurrences", 15>,
  I32EnumAttrCase<"draws_samples", 16>]>;
def RT_PlaceAttr : RT_EnumAttr<RT_Place, "place">;

def RT_Quantity : RT_Enum<"Quantity", "quantity in the step context", [
  I32EnumAttrCase<"batch", 0>, I32EnumAttrCase<"field_values", 1>,
  I32EnumAttrCase<"lookup_keys", 2>, I32EnumAttrCase<"lookup_occurrences", 3>,
  I32EnumAttrCase<"draws_seed", 4>, I32EnumAttrCase<"draws_epoch", 5>]>;
def RT_QuantityAttr : RT_EnumAttr<RT_Quantity, "quantity">;

def RT_Pooling : RT_Enum<"Pooling", "pooling of the rows of a bag", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"sqrtn", 2>]>;
def RT_PoolingAttr : RT_EnumAttr<RT_Pooling, "pooling">;
def RT_PoolingArrayAttr : TypedArrayAttrBase<RT_PoolingAttr, "array of poolings">;

def RT_Reduction : RT_Enum<"Reduction", "reduction of the elements of a row", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
  I32EnumAttrCase<"max", 2>]>;
def RT_ReductionAttr : RT_EnumAttr<RT_Reduction, "reduction">;

def RT_Numerics : RT_Enum<"Numerics", "kind of matrix product", [
  I32EnumAttrCase<"fast", 0>, I32EnumAttrCase<"strict", 1>]>;
def RT_NumericsAttr : RT_EnumAttr<RT_Numerics, "numerics">;

def RT_Product : RT_Enum<"Product", "kind of matrix product, and type of its factors", [
  I32EnumAttrCase<"fast", 0>, I32EnumAttrCase<"strict", 1>, I32EnumAttrCase<"bf16", 2>,
  I32EnumAttrCase<"bf16_fast", 3>, I32EnumAttrCase<"bf16x3", 4>, I32EnumAttrCase<"bf16x3_fast", 5>,
  I32EnumAttrCase<"bf16x6", 6>, I32EnumAttrCase<"bf16x6_fast", 7>]>;
def RT_ProductAttr : RT_EnumAttr<RT_Product, "product">;

def RT_Distribution : RT_Enum<"Distribution", "distribution of drawn ids", [
  I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"log_uniform", 1>,
  I32EnumAttrCase<"counts", 2>]>;
def RT_DistributionAttr : RT_EnumAttr<RT_Distribution, "distribution">;

def RT_BatchSide : RT_Enum<"BatchSide", "side of an in-batch product", [
  I32EnumAttrCase<"users", 0>, I32EnumAttrCase<"items", 1>]>;
def RT_BatchSideAttr : RT_EnumAttr<RT_BatchSide, "batch_side">;

def RT_PostOp : RT_Enum<"PostOp", "elementwise operation after a matrix product", [
  I32EnumAttrCase<"bias", 1>, I32EnumAttrCase<"relu", 2>,
  I32EnumAttrCase<"relu_gradient", 3>]>;
def RT_PostOpAttr : RT_EnumAttr<RT_PostOp, "post">;
def RT_PostOpArrayAttr : TypedArrayAttrBase<RT_PostOpAttr, "array of post-ops">;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def RT_Float : AnyTypeOf<[F32, F64], "32-bit or 64-bit float">;

class RT_Memory<list<Type> elements, list<int> ranks, string predicate, string layout>
    : ConfinedType<MemRefRankOf<elements, ranks>,
        [CPred<"::pdlc::rt::" # predicate # "(::llvm::cast<::mlir::MemRefType>($_self))">],
        MemRefRankOf<elements, ranks>.summary # " " # layout, "::mlir::MemRefType">;

/// Memory without gaps. The runtime processes its elements in order.
class RT_Dense<list<Type> elements, int rank>
    : RT_Memory<elements, [rank], "isDense", "without gaps">;
def RT_Vector : RT_Dense<[RT_Float], 1>;
def RT_Matrix : RT_Dense<[RT_Float], 2>;
def RT_Matrices : RT_Dense<[RT_Float], 3>;
def RT_Keys : RT_Dense<[I64], 1>;
def RT_Counts : RT_Dense<[I32], 1>;
def RT_Boundaries : RT_Dense<[F64], 1>;

/// A matrix that may have gaps between its rows, because it is some columns of
/// a wider matrix.
def RT_Rows : RT_Memory<[RT_Float], [2], "hasDenseRows", "with gaps at most between rows">;
/// Pooled bags, with gaps between rows as in RT_Rows. If the rank is 3, each
/// row holds several bags.
def RT_Bags : RT_Memory<[RT_Float], [2, 3], "hasDenseRows", "with gaps at most between rows">;

//===----------------------------------------------------------------------===//
// The step context, and views of memory
//===----------------------------------------------------------------------===//

def RT_PointerOp : RT_Op<"pointer", [MemoryEffects<[MemRead]>]> {
  let summary = "A pointer from the step context";
  let description = [{
    `place` names a list, and `index` is a position in it. Lists of fields,
    lookups, gradients and outputs are those of the program; lists of parameters
    and metrics are those of the descriptor. If a place exists once, `index` is
    0. The pointer of `lookup` is the address of the struct itself.

    Example:
    ```mlir
    %w = rt.pointer parameter[2] of %context : !llvm.ptr -> !llvm.ptr
    ```
  }];
  let arguments = (ins RT_PlaceAttr:$place, I64Attr:$index, LLVM_AnyPointer:$context);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$place `[` $index `]` `of` $context attr-dict `:` type($context) `->` type($result)";
}

def RT_CountOp : RT_Op<"count", [MemoryEffects<[MemRead]>]> {
  let summary = "A number from the step context";
  let description = [{
    `index` counts as in `rt.pointer`.

    Example:
    ```mlir
    %b = rt.count batch[0] of %context : !llvm.ptr
    %u = rt.count lookup_keys[1] of %context : !llvm.ptr
    ```
  }];
  let arguments = (ins RT_QuantityAttr:$quantity, I64Attr:$index, LLVM_AnyPointer:$context);
  let results = (outs Index:$result);
  let assemblyFormat = "$quantity `[` $index `]` `of` $context attr-dict `:` type($context)";
}

def RT_ViewOp : RT_Op<"view", [Pure]> {
  let summary = "Raw memory as a memref";
  let description = [{
    Views the row-major memory that starts `offset` bytes after `base`. The
    memory has no gaps, unless the type has strides. In this case, the view is
    some columns of a wider tensor.

    Constraints:
    - (C1) Only the first dimension may be dynamic.
    - (C2) `size` is given exactly if the first dimension is dynamic.
    - (C3) The layout is the identity, or has known strides and offset 0. Each
      stride is at least as large as the contents of the dimensions after it.

    Example:
    ```mlir
    %x = rt.view %arena[%offset] size(%b) : !llvm.ptr -> memref<?x13xf32>
    %columns = rt.view %arena[%offset] size(%b)
      : !llvm.ptr -> memref<?x13xf32, strided<[273, 1]>>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$base, Index:$offset, Optional<Index>:$size);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $base `[` $offset `]` (`size` `(` $size^ `)`)? attr-dict `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_AddressOp : RT_Op<"address", [Pure, AllTypesMatch<["base", "result"]>]> {
  let summary = "A pointer some bytes after another one";
  let description = [{
    Passes a part of an arena to a kernel.

    Example:
    ```mlir
    %p = rt.address %arena[%offset] : !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$base, Index:$offset);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$base `[` $offset `]` attr-dict `:` type($base)";
}

def RT_CombineRowOp : RT_Op<"combine_row", [
    TypesMatchWith<"the result is an element of the rows", "rows", "result",
      "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "Reduces one row to one element, within a loop";
  let description = [{
    Computes the same as `rt.reduce_rows` for one row, with the same lanes and
    the same tree, in the code of the surrounding loop. The row is the last
    dimension, and the indices select it.

    Constraints:
    - (C1) There is an index for each dimension except the last. The last
      dimension is static, holds at least one element, and has no gaps.

    Example:
    ```mlir
    %s = rt.combine_row sum %x[%i] : memref<?x16xf32>
    ```
  }];
  let arguments = (ins RT_ReductionAttr:$kind, Arg<MemRefOf<[RT_Float]>, "rows", [MemRead]>:$rows,
    Variadic<Index>:$indices);
  let results = (outs RT_Float:$result);
  let assemblyFormat = "$kind $rows `[` $indices `]` attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def RT_AllocateOp : RT_Op<"allocate", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Allocates memory until the end of the step";
  let description = [{
    Calls `pdlrt_allocate`. It is for sizes that depend on the number of ids,
    and only for stage `prepare`. The result is null if there is no memory.

    Example:
    ```mlir
    %p = rt.allocate %worker, %bytes : !llvm.ptr -> !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, Index:$bytes);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "$worker `,` $bytes attr-dict `:` type($worker) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Stage prepare
//===----------------------------------------------------------------------===//

/// The op calls a function of the runtime, which runs on the host.
def RT_CallsRuntime : NativeOpTrait<"CallsRuntime"> { let cppNamespace = "::pdlc::rt"; }

class RT_CallOp<string mnemonic, list<Trait> traits = []>
    : RT_Op<mnemonic, !listconcat([RT_CallsRuntime, MemoryEffects<[MemRead, MemWrite]>], traits)>;

def RT_UniqueOp : RT_CallOp<"unique"> {
  let summary = "Deduplicates ids";
  let description = [{
    Calls `pdlrt_unique` and returns its status.

    Example:
    ```mlir
    %status = rt.unique %worker, (%a, %b) into %lookup
      : !llvm.ptr, (memref<?xi64>, memref<?xi64>), !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, Variadic<RT_Keys>:$ids, LLVM_AnyPointer:$lookup);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    $worker `,` `(` $ids `)` `into` $lookup attr-dict `:` type($worker) `,` `(` type($ids) `)` `,` type($lookup)
  }];
}

def RT_PullOp : RT_CallOp<"pull"> {
  let summary = "Finds or inserts the rows of a lookup's keys";
  let description = [{
    Calls `pdlrt_pull` and returns its status. `table` is an index of the
    descriptor's symbols.

    Example:
    ```mlir
    %status = rt.pull %worker, table 0 into %lookup : !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, I64Attr:$table, LLVM_AnyPointer:$lookup);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    $worker `,` `table` $table `into` $lookup attr-dict `:` type($worker) `,` type($lookup)
  }];
}

def RT_BucketizeOp : RT_CallOp<"bucketize"> {
  let summary = "The bucket that contains each number";
  let description = [{
    Calls `pdlrt_bucketize`.

    Example:
    ```mlir
    rt.bucketize %x, %boundaries into %out : memref<?xf32>, memref<3xf64>, memref<?xi64>
    ```
  }];
  let arguments = (ins RT_Vector:$values, RT_Boundaries:$boundaries, RT_Keys:$out);
  let assemblyFormat = [{
    $values `,` $boundaries `into` $out attr-dict `:` type($values) `,` type($boundaries) `,` type($out)
  }];
}

def RT_CrossOp : RT_CallOp<"cross"> {
  let summary = "Hashed feature cross of ids";
  let description = [{
    Calls `pdlrt_cross`.

    Example:
    ```mlir
    rt.cross (%a, %b) salt 7 into %out : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    ```
  }];
  let arguments = (ins Variadic<RT_Keys>:$inputs, I64Attr:$salt, RT_Keys:$out);
  let assemblyFormat = [{
    `(` $inputs `)` `salt` $salt `into` $out attr-dict `:` `(` type($inputs) `)` `,` type($out)
  }];
}

def RT_CheckBagsOp : RT_CallOp<"check_bags"> {
  let summary = "Checks that bags have the same lengths";
  let description = [{
    Calls `pdlrt_check_bags` and returns its status. Splits have bags + 1
    entries.

    Example:
    ```mlir
    %status = rt.check_bags %splits, %expected : memref<?xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins RT_Counts:$splits, RT_Counts:$expected);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    $splits `,` $expected attr-dict `:` type($splits) `,` type($expected)
  }];
}

def RT_SampleOp : RT_CallOp<"sample"> {
  let summary = "Random ids";
  let description = [{
    Calls `pdlrt_sample`. `out` holds the same number of ids for each sample of
    `draws`.

    Example:
    ```mlir
    rt.sample log_uniform %draws stream 7 count 5 from 0 below 50000 into %out : !llvm.ptr, memref<?xi64>
    rt.sample counts(%table : memref<8xf64>) %draws stream 7 count 5 from 0 below 4 into %out : !llvm.ptr, memref<?xi64>
    ```
  }];
  let arguments = (ins RT_DistributionAttr:$distribution, Optional<RT_Boundaries>:$table,
    LLVM_AnyPointer:$draws, I64Attr:$stream, I64Attr:$count, I64Attr:$first, I64Attr:$behind,
    RT_Keys:$out);
  let assemblyFormat = [{
    $distribution (`(` $table^ `:` type($table) `)`)? $draws `stream` $stream `count` $count
    `from` $first `below` $behind `into` $out attr-dict `:` type($draws) `,` type($out)
  }];
}

def RT_LogProbabilityOp : RT_CallOp<"log_probability"> {
  let summary = "Log probabilities that ids are drawn";
  let description = [{
    Calls `pdlrt_log_probability` and returns its status.

    Example:
    ```mlir
    %status = rt.log_probability log_uniform %ids from 0 below 50000 into %out : memref<?xi64>, memref<?xf32>
    %other = rt.log_probability counts(%logs : memref<4xf64>) %ids from 0 below 4 into %out : memref<?xi64>, memref<?xf32>
    ```
  }];
  let arguments = (ins RT_DistributionAttr:$distribution, Optional<RT_Boundaries>:$logarithms,
    RT_Keys:$ids, I64Attr:$first, I64Attr:$behind, RT_Vector:$out);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    $distribution (`(` $logarithms^ `:` type($logarithms) `)`)? $ids `from` $first `below` $behind
    `into` $out attr-dict `:` type($ids) `,` type($out)
  }];
}

def RT_CrossRaggedCountOp : RT_CallOp<"cross_ragged_count"> {
  let summary = "Number of ids in a feature cross of bags";
  let description = [{
    Calls `pdlrt_cross_ragged_count`. Splits have bags + 1 entries.

    Example:
    ```mlir
    %n = rt.cross_ragged_count (%sa, %sb) : memref<?xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Variadic<RT_Counts>:$splits);
  let results = (outs Index:$count);
  let assemblyFormat = "`(` $splits `)` attr-dict `:` type($splits)";
}

def RT_CrossRaggedOp : RT_CallOp<"cross_ragged", [SameVariadicOperandSize]> {
  let summary = "Feature cross of bags";
  let description = [{
    Calls `pdlrt_cross_ragged`. The splits of each operand cut its ids into
    bags.

    Example:
    ```mlir
    rt.cross_ragged (%a : memref<?xi64> bags(%sa : memref<?xi32>), %b : memref<?xi64> bags(%sb : memref<?xi32>))
      salt 7 into %out, %out_splits : memref<?xi64>, memref<?xi32>
    ```
  }];
  let arguments = (ins Variadic<RT_Keys>:$inputs, Variadic<RT_Counts>:$splits,
    I64Attr:$salt, RT_Keys:$out, RT_Counts:$out_splits);
  let assemblyFormat = [{
    custom<BagList>($inputs, type($inputs), $splits, type($splits))
    `salt` $salt `into` $out `,` $out_splits attr-dict `:` type($out) `,` type($out_splits)
  }];
}

//===----------------------------------------------------------------------===//
// Stage compute
//===----------------------------------------------------------------------===//

def RT_GatherOp : RT_CallOp<"gather"> {
  let summary = "Copies rows from their table";
  let description = [{
    Calls `pdlrt_gather`. `lookup` has as many keys as `out` has rows.

    Example:
    ```mlir
    rt.gather %lookup into %out : !llvm.ptr, memref<?x10xf32>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$lookup, RT_Matrix:$out);
  let assemblyFormat = "$lookup `into` $out attr-dict `:` type($lookup) `,` type($out)";
}

def RT_PoolOp : RT_CallOp<"pool"> {
  let summary = "Pools rows by bag";
  let description = [{
    Calls `pdlrt_pool`. Each row of `out` is one bag, or several bags if `out`
    has rank 3.

    Example:
    ```mlir
    rt.pool sum %rows[%inverse] splits(%s : memref<?xi32>) into %out
      : memref<?x10xf32>, memref<?xi32>, memref<?x10xf32>
    rt.pool sum %rows[%inverse] splits(%s : memref<?xi32>) into %columns
      : memref<?x10xf32>, memref<?xi32>, memref<?x26x10xf32, strided<[273, 10, 1]>>
    ```
  }];
  let arguments = (ins RT_PoolingAttr:$pooling, RT_Matrix:$rows, RT_Counts:$inverse,
    Optional<RT_Counts>:$splits, RT_Bags:$out);
  let assemblyFormat = [{
    $pooling $rows `[` $inverse `]` (`splits` `(` $splits^ `:` type($splits) `)`)? `into` $out attr-dict
    `:` type($rows) `,` type($inverse) `,` type($out)
  }];
}

def RT_PoolGradientOp : RT_CallOp<"pool_gradient", [AttrSizedOperandSegments]> {
  let summary = "Gradient of pooling with respect to the rows of a lookup";
  let description = [{
    Calls `pdlrt_pool_gradient`. Each input of the lookup that has a gradient is
    given by its cotangent, its pooling, and the number of its first occurrence.
    A cotangent has one row for each bag; if it has rank 3, each row holds
    several bags. `with_splits` lists the inputs that have splits, counted from
    0. They require `bags`: memory for one number for each occurrence.

    Constraints:
    - (C1) There are as many poolings and first occurrences as cotangents.
    - (C2) There are as many splits as inputs in `with_splits`, which is
      ascending. `bags` is given if there are any.

    Example:
    ```mlir
    rt.pool_gradient [#rt<pooling sum>, #rt<pooling mean>] (%c, %d : memref<?x10xf32>, memref<?x10xf32>)
      at %lookup[%zero, %first] splits(%s : memref<?xi32>) of [1] bags(%b : memref<?xi32>) into %out
      : !llvm.ptr, memref<?x10xf32>
    ```
  }];
  let arguments = (ins RT_PoolingArrayAttr:$kinds, Variadic<RT_Bags>:$cotangents,
    LLVM_AnyPointer:$lookup, Variadic<Index>:$firsts, Variadic<RT_Counts>:$splits,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$with_splits, Optional<RT_Counts>:$bag_of,
    RT_Matrix:$out);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $kinds `(` $cotangents `:` type($cotangents) `)` `at` $lookup `[` $firsts `]`
    (`splits` `(` $splits^ `:` type($splits) `)` `of` $with_splits)?
    (`bags` `(` $bag_of^ `:` type($bag_of) `)`)? `into` $out attr-dict
    `:` type($lookup) `,` type($out)
  }];
}

def RT_GemmOp : RT_CallOp<"gemm", [AttrSizedOperandSegments]> {
  let summary = "Matrix product with elementwise post-ops";
  let description = [{
    Calls `pdlrt_gemm`. The shapes determine m, n and k. The rows of `out` may
    have gaps between them. The kinds with `bf16` require elements of f32.

    Example:
    ```mlir
    rt.gemm strict %worker, %x, %w bias(%b : memref<400xf32>) post [#rt<post bias>] into %out
      : !llvm.ptr, memref<?x273xf32>, memref<273x400xf32>, memref<?x400xf32>
    ```
  }];
  let arguments = (ins RT_ProductAttr:$product, LLVM_AnyPointer:$worker, RT_Matrix:$lhs, RT_Matrix:$rhs,
    Optional<RT_Vector>:$bias, Optional<RT_Matrix>:$mask,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, RT_PostOpArrayAttr:$posts, RT_Rows:$out);
  let assemblyFormat = [{
    $product $worker `,` $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)?
    (`bias` `(` $bias^ `:` type($bias) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)?
    `post` $posts `into` $out attr-dict
    `:` type($worker) `,` type($lhs) `,` type($rhs) `,` type($out)
  }];
}

def RT_BatchGemmOp : RT_CallOp<"batch_gemm"> {
  let summary = "Small matrix products, one for each index";
  let description = [{
    Calls `pdlrt_batch_gemm`, which computes one product for each index of the
    first dimension.

    Example:
    ```mlir
    rt.batch_gemm %worker, %x, %x transposed into %out
      : !llvm.ptr, memref<?x27x16xf32>, memref<?x27x16xf32>, memref<?x27x27xf32>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$worker, RT_Matrices:$lhs, RT_Matrices:$rhs,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, RT_Matrices:$out);
  let assemblyFormat = [{
    $worker `,` $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)?
    `into` $out attr-dict `:` type($worker) `,` type($lhs) `,` type($rhs) `,` type($out)
  }];
}

def RT_InBatchLogSumExpOp : RT_CallOp<"in_batch_log_sum_exp", [AttrSizedOperandSegments]> {
  let summary = "In-batch negatives: sums of exponentials of scores";
  let description = [{
    Calls `pdlrt_in_batch_log_sum_exp`. `scratch` has PDL_IN_BATCH_ROWS elements
    for each row of the users, followed by memory for 2 * PDL_IN_BATCH_ROWS *
    PDL_DEVICE_LANES elements, which a device needs.

    Example:
    ```mlir
    rt.in_batch_log_sum_exp strict %worker, %u, %v correction(%q : memref<?xf32>) ids(%i : memref<?xi64>) scratch %s into %out
      : !llvm.ptr, memref<?x64xf32>, memref<?x64xf32>, memref<?xf32>, memref<?xf32>
    ```
  }];
  let arguments = (ins RT_NumericsAttr:$numerics, LLVM_AnyPointer:$worker, RT_Matrix:$users,
    RT_Matrix:$items, Optional<RT_Vector>:$correction, Optional<RT_Keys>:$ids,
    RT_Vector:$scratch, RT_Vector:$out);
  let assemblyFormat = [{
    $numerics $worker `,` $users `,` $items (`correction` `(` $correction^ `:` type($correction) `)`)?
    (`ids` `(` $ids^ `:` type($ids) `)`)? `scratch` $scratch `into` $out attr-dict
    `:` type($worker) `,` type($users) `,` type($items) `,` type($scratch) `,` type($out)
  }];
}

def RT_InBatchGradientOp : RT_CallOp<"in_batch_gradient", [AttrSizedOperandSegments]> {
  let summary = "In-batch negatives: gradient";
  let description = [{
    Calls `pdlrt_in_batch_gradient`. `scratch` is as in
    `rt.in_batch_log_sum_exp`.

    Example:
    ```mlir
    rt.in_batch_gradient items strict %worker, %u, %v sums %l from %d scratch %s into %out
      : !llvm.ptr, memref<?x64xf32>, memref<?x64xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x64xf32>
    ```
  }];
  let arguments = (ins RT_BatchSideAttr:$side, RT_NumericsAttr:$numerics, LLVM_AnyPointer:$worker,
    RT_Matrix:$users, RT_Matrix:$items, Optional<RT_Vector>:$correction, Optional<RT_Keys>:$ids,
    RT_Vector:$sums, RT_Vector:$cotangent, RT_Vector:$scratch, RT_Matrix:$out);
  let assemblyFormat = [{
    $side $numerics $worker `,` $users `,` $items
    (`correction` `(` $correction^ `:` type($correction) `)`)?
    (`ids` `(` $ids^ `:` type($ids) `)`)? `sums` $sums `from` $cotangent `scratch` $scratch
    `into` $out attr-dict `:` type($worker) `,` type($users) `,` type($items) `,` type($sums) `,`
    type($cotangent) `,` type($scratch) `,` type($out)
  }];
}

def RT_DropoutOp : RT_CallOp<"dropout"> {
  let summary = "Sets random elements of samples to zero";
  let description = [{
    Calls `pdlrt_dropout`. Without splits, each row is a sample of `draws`. With
    splits, the rows are those of its bags.

    Example:
    ```mlir
    rt.dropout %x splits(%s : memref<?xi32>) rate 1.000000e-01 %draws stream 7 into %out
      : memref<?x64xf32>, !llvm.ptr, memref<?x64xf32>
    ```
  }];
  let arguments = (ins RT_Matrix:$values, Optional<RT_Counts>:$splits, F64Attr:$rate,
    LLVM_AnyPointer:$draws, I64Attr:$stream, RT_Matrix:$out);
  let assemblyFormat = [{
    $values (`splits` `(` $splits^ `:` type($splits) `)`)? `rate` $rate $draws `stream` $stream
    `into` $out attr-dict `:` type($values) `,` type($draws) `,` type($out)
  }];
}

def RT_ReduceRowsOp : RT_CallOp<"reduce_rows"> {
  let summary = "Reduces each row to one element";
  let description = [{
    Calls `pdlrt_reduce_rows`, for `rows` rows of `width` elements.

    Example:
    ```mlir
    rt.reduce_rows sum %x rows %b width %n into %out : memref<?xf32>, memref<?xf32>
    ```
  }];
  let arguments = (ins RT_ReductionAttr:$kind, RT_Vector:$values, Index:$rows, Index:$width, RT_Vector:$out);
  let assemblyFormat = [{
    $kind $values `rows` $rows `width` $width `into` $out attr-dict `:` type($values) `,` type($out)
  }];
}

def RT_LossSumOp : RT_CallOp<"loss_sum"> {
  let summary = "Weighted sum of losses, and sum of weights";
  let description = [{
    Calls `pdlrt_loss_sum`. It writes the sums as f64 to the given memory.

    Example:
    ```mlir
    rt.loss_sum %l into %sum, %weight : memref<?xf32>, !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins RT_Vector:$values, Optional<RT_Vector>:$weights,
    LLVM_AnyPointer:$sum, LLVM_AnyPointer:$weight_sum);
  let assemblyFormat = [{
    $values (`weights` `(` $weights^ `:` type($weights) `)`)? `into` $sum `,` $weight_sum attr-dict
    `:` type($values) `,` type($sum) `,` type($weight_sum)
  }];
}

def RT_ObserveOp : RT_CallOp<"observe", [AttrSizedOperandSegments]> {
  let summary = "Adds the samples of a batch to a metric";
  let description = [{
    Calls `pdlrt_observe`, with the metric as in the model. Each row is a
    sample.

    Example:
    ```mlir
    rt.observe #nn.auc<buckets = 4096> %p labels(%y : memref<?x1xf32>) weights(%w : memref<?xf32>) into %metric
      : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.ndcg_at<k = 10> %s labels(%relevance : memref<?x100xf32>) into %metric : memref<?x100xf32>, !llvm.ptr
    ```
  }];
  let arguments = (ins MetricAttrInterface:$kind, RT_Matrix:$predictions,
    Optional<RT_Matrix>:$labels, Optional<RT_Vector>:$weights, LLVM_AnyPointer:$metric);
  let assemblyFormat = [{
    $kind $predictions (`labels` `(` $labels^ `:` type($labels) `)`)?
    (`weights` `(` $weights^ `:` type($weights) `)`)? `into` $metric attr-dict
    `:` type($predictions) `,` type($metric)
  }];
}

def RT_ObserveGroupsOp : RT_CallOp<"observe_groups"> {
  let summary = "Adds the samples of a batch to a metric of groups";
  let description = [{
    Calls `pdlrt_observe_groups`. The worker keeps the samples of metric `index`
    of the descriptor.

    Example:
    ```mlir
    rt.observe_groups 2 %worker, %p labels(%y) groups(%user) weights(%w : memref<?xf32>) into %metric
      : !llvm.ptr, memref<?xf32>, memref<?xf32>, memref<?xi64>, !llvm.ptr
    ```
  }];
  let arguments = (ins I32Attr:$index, LLVM_AnyPointer:$worker, RT_Vector:$predictions,
    RT_Vector:$labels, RT_Keys:$groups, Optional<RT_Vector>:$weights, LLVM_AnyPointer:$metric);
  let assemblyFormat = [{
    $index $worker `,` $predictions `labels` `(` $labels `)` `groups` `(` $groups `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)? `into` $metric attr-dict
    `:` type($worker) `,` type($predictions) `,` type($labels) `,` type($groups) `,` type($metric)
  }];
}

def RT_GradientReadyOp : RT_CallOp<"gradient_ready"> {
  let summary = "Tells the runtime that the gradient of a parameter is complete";
  let description = [{
    Calls `pdlrt_gradient_ready`. No later op writes to `gradients[update]` of
    the step context.

    Example:
    ```mlir
    rt.gradient_ready 2 of %worker : !llvm.ptr
    ```
  }];
  let arguments = (ins I32Attr:$update, LLVM_AnyPointer:$worker);
  let assemblyFormat = "$update `of` $worker attr-dict `:` type($worker)";
}

def RT_RunLoopOp : RT_CallOp<"run_loop"> {
  let summary = "Lets threads share the iterations of a loop";
  let description = [{
    Calls `pdlrt_run_loop`. `callee` is a function (`pdl_loop`) of the memory of
    the arguments, the first iteration, and the end of a range. The runtime runs
    all `turns` iterations, in ranges. `bytes` is the approximate number of
    bytes that one iteration reads and writes. `name` is for traces.

    Example:
    ```mlir
    rt.run_loop @kernel.fill_f32.turns named "kernel.fill_f32" turns %n bytes 4 arguments %room : !llvm.ptr
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, StrAttr:$name, Index:$turns,
    I64Attr:$bytes, LLVM_AnyPointer:$arguments);
  let assemblyFormat = [{
    $callee `named` $name `turns` $turns `bytes` $bytes `arguments` $arguments attr-dict
    `:` type($arguments)
  }];
}

#endif // PDLC_DIALECT_RT_IR_RTCALLOPS_TD
