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
    void registerAttributes();
  }];
}

class RT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RT_Dialect, mnemonic, traits>;

def RT_SizeAttr : AttrDef<RT_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "A size in bytes, affine in the batch and in each lookup";
  let description = [{
    `pdl_affine_size`: constant + per_batch * B + sum over the program's lookups
    of per_key[l] * U(l) + per_occurrence[l] * N(l), with U the distinct keys
    and N the occurrences. Each list has one entry for each lookup.

    Example: `#rt.size<128 + 1600 * batch, keys(40), occurrences(4)>`
  }];
  let parameters = (ins "int64_t":$constant, "int64_t":$perBatch,
    OptionalArrayRefParameter<"int64_t">:$perKey,
    OptionalArrayRefParameter<"int64_t">:$perOccurrence);
  let assemblyFormat = [{
    `<` $constant `+` $perBatch `*` `batch` (`,` `keys` `(` $perKey^ `)`)?
    (`,` `occurrences` `(` $perOccurrence^ `)`)? `>`
  }];
}

#endif // PDLC_DIALECT_RT_IR_RTDIALECT_TD
