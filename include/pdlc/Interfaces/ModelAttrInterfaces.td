//===- ModelAttrInterfaces.td - Interfaces of attributes -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_MODELATTRINTERFACES_TD
#define PDLC_INTERFACES_MODELATTRINTERFACES_TD

include "mlir/IR/Interfaces.td"

def InitializerAttrInterface : AttrInterface<"InitializerAttrInterface"> {
  let cppNamespace = "::pdlc";
  let description = "The initial values of the elements of a symbol.";
  let methods = [
    InterfaceMethod<[{
      Returns the initializer of the C ABI for a symbol of this shape. For a
      table, it is the shape of a row.
    }], "pdl_initializer", "getNumbers", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<[{
      Returns the rank that a symbol must have, or nothing if any rank is
      allowed. A table row counts as a matrix.
    }], "std::optional<int64_t>", "getNeededRank", (ins), "", [{
      return std::nullopt;
    }]>
  ];
}

def RegularizerAttrInterface : AttrInterface<"RegularizerAttrInterface"> {
  let cppNamespace = "::pdlc";
  let description = "A term that pulls values towards zero.";
  let methods = [
    InterfaceMethod<[{
      Builds the term that is added to the gradient of one element, from its
      value.
    }], "::mlir::Value", "buildTerm",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$value)>
  ];
}

def MetricAttrInterface : AttrInterface<"MetricAttrInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    A metric. A file of `pdlabi/metrics/` defines what it observes, the sums
    that it keeps, and its value. The interpreter and compiled programs use the
    same file.
  }];
  let methods = [
    InterfaceMethod<"Returns the pdl_metric_kind.",
      "int32_t", "getAbiKind">,
    InterfaceMethod<"Returns its number (buckets, threshold, or k), or 0 if it has none.",
      "double", "getAbiParameter">
  ];
}

#endif // PDLC_INTERFACES_MODELATTRINTERFACES_TD
