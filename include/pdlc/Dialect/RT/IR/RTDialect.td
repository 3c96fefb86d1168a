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
  let summary = "What generated code and runtime say to each other";
  let description = [{
    Follows `pdlabi/abi.h`: one op for each function that generated code calls
    (on raw pointers and sizes), and ops at module level that say which
    functions are the stages of a program and the kernels of a symbol or group.
    From phase `buffers` on.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// On a module: what its stages compute run on, where that is no CPU ("cuda").
    static constexpr ::llvm::StringLiteral kTargetAttrName = "rt.target";
    /// On a module: its kernels as code of that device.
    static constexpr ::llvm::StringLiteral kDeviceCodeAttrName = "rt.device_code";
    /// On a module: its stages leave products to a library of the device.
    static constexpr ::llvm::StringLiteral kDeviceProductsAttrName = "rt.device_products";
    void registerAttributes();
  }];
}

class RT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RT_Dialect, mnemonic, traits>;

def RT_SizeAttr : AttrDef<RT_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "A size in bytes of what a program needs for a batch";
  let description = [{
    `pdl_affine_size`: constant + per_batch * B + per_batch_squared * B * B + sum
    over the program's fields of per_id[f] * (the batch's elements of f) + sum
    over its lookups of per_key[l] * U(l) + per_occurrence[l] * N(l), with U the
    distinct keys and N the occurrences. The list `ids` has one entry for each
    field, `keys` and `occurrences` have one for each lookup; a list, or the
    square, that is left out stands for zeros.

    Constraints:
    - (C1) No number is negative.

    Example: `#rt.size<128 + 1600 * batch, batch_squared(4), ids(0, 8), keys(40), occurrences(4)>`
  }];
  let parameters = (ins "int64_t":$constant, "int64_t":$perBatch,
    "int64_t":$perBatchSquared,
    OptionalArrayRefParameter<"int64_t">:$perId,
    OptionalArrayRefParameter<"int64_t">:$perKey,
    OptionalArrayRefParameter<"int64_t">:$perOccurrence);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // PDLC_DIALECT_RT_IR_RTDIALECT_TD
