//===- ModelAttrInterfaces.td - What passes ask of attributes -*- tablegen -*-===//
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
  let description = "How the elements of a symbol start.";
  let methods = [
    InterfaceMethod<[{
      As the C ABI says it, for a symbol of this shape (for a table, of a row).
    }], "pdl_initializer", "getNumbers", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<[{
      The rank that a symbol needs, a table's row counting as a matrix; nothing
      if any will do.
    }], "std::optional<int64_t>", "getNeededRank", (ins), "", [{
      return std::nullopt;
    }]>
  ];
}

def RegularizerAttrInterface : AttrInterface<"RegularizerAttrInterface"> {
  let cppNamespace = "::pdlc";
  let description = "What pulls values towards zero.";
  let methods = [
    InterfaceMethod<[{
      Builds what is added to the gradient of one element, from its value.
    }], "::mlir::Value", "buildTerm",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$value)>
  ];
}

def MetricAttrInterface : AttrInterface<"MetricAttrInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    A figure of merit. What it observes, what it sums and how its value follows
    is in a file of `pdlabi/metrics/`, for the interpreter and for compiled
    programs.
  }];
  let methods = [
    InterfaceMethod<"Its pdl_metric_kind.",
      "int32_t", "getAbiKind">,
    InterfaceMethod<"Its number: buckets, a threshold, k; 0 if it has none.",
      "double", "getAbiParameter">
  ];
}

#endif // PDLC_INTERFACES_MODELATTRINTERFACES_TD
