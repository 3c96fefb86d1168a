//===- RTDialect.td - The runtime dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTDIALECT_TD
#define PDLC_DIALECT_RT_IR_RTDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def RT_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::pdlc::rt";
  let summary = "The interface between generated code and runtime";
  let description = [{
    Follows `pdlabi/abi.h`. It has one op for each function that generated code
    calls, on raw pointers and sizes. Ops at module level declare the stage
    functions of a program, and the kernels of a symbol or group. It is used
    from phase `buffers` on.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// On a module: the target of its compute stages, if it is not the CPU
    /// ("cuda").
    static constexpr ::llvm::StringLiteral kTargetAttrName = "rt.target";
    /// On a module: its kernels as code of that device.
    static constexpr ::llvm::StringLiteral kDeviceCodeAttrName = "rt.device_code";
    /// On a module: its stages use a library of the device for products.
    static constexpr ::llvm::StringLiteral kDeviceProductsAttrName = "rt.device_products";
    void registerAttributes();
  }];
}

class RT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RT_Dialect, mnemonic, traits>;

def RT_SizeAttr : AttrDef<RT_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "Size in bytes of the memory that a program needs for a batch";
  let description = [{
    `pdl_affine_size`, the sum of

    - constant + per_batch * B + per_batch_squared * B * B, with B the size of
      the batch;
    - per_id[f] * (the batch's elements of f), for each field f of the program;
    - per_key[l] * U(l) + per_occurrence[l] * N(l), for each lookup l, with U
      the distinct keys and N the occurrences.

    The list `ids` has one entry for each field; `keys` and `occurrences` have
    one for each lookup. A list, or the square, that is absent stands for zeros.

    Constraints:
    - (C1) No number is negative.

    Example: `#rt.size<128 + 1600 * batch, batch_squared(4), ids(0, 8),
    keys(40), occurrences(4)>`
  }];
  let parameters = (ins "int64_t":$constant, "int64_t":$perBatch,
    "int64_t":$perBatchSquared,
    OptionalArrayRefParameter<"int64_t">:$perId,
    OptionalArrayRefParameter<"int64_t">:$perKey,
    OptionalArrayRefParameter<"int64_t">:$perOccurrence);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def RT_IdRangeAttr : AttrDef<RT_Dialect, "IdRange"> {
  let mnemonic = "id_range";
  let summary = "The ids that a row may have in some columns of a field";
  let description = [{
    `pdl_id_range`: the ids with `first <= id < behind`. `counts` has one number
    for each of these ids; if it is given, only ids whose count is not 0 are
    allowed. `field` is an index into the fields of the program.

    Example: `#rt.id_range<field 2 columns 0 + 1 from 10 below 14 counts dense<[3, 0, 1, 9]> : tensor<4xi64>>`
  }];
  let parameters = (ins "int32_t":$field, "int32_t":$firstColumn, "int32_t":$columnCount,
    "int64_t":$first, "int64_t":$behind,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$counts);
  let assemblyFormat = [{
    `<` `field` $field `columns` $firstColumn `+` $columnCount `from` $first `below` $behind
    (`counts` $counts^)? `>`
  }];
}

#endif // PDLC_DIALECT_RT_IR_RTDIALECT_TD
