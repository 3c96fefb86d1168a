//===- NNDialect.td - The model dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNDIALECT_TD
#define PDLC_DIALECT_NN_IR_NNDIALECT_TD

include "mlir/IR/OpBase.td"
include "pdlc/Interfaces/ProgramOpInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::pdlc::nn";
  let summary = "Recommendation models, written as for one machine";
  let description = [{
    A model is a module of symbols: a record that describes one sample,
    parameters and tables in groups with an optimizer rule, metrics, functions,
    and programs (`@train`, `@evaluate`, `@predict`). Computation has value
    semantics on tensors.

    Only the first dimension of a tensor may be dynamic. In a model, it is the
    batch. From phase `merged` on, it may also count ids or unique keys.
  }];
  // Rules, and the formulas of elementwise ops, use these dialects.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// Parses an attribute. Reports an error if parameters follow an attribute
    /// that takes none.
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

    /// Reports an error for an unknown op, and suggests known ones.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef name) const override;

    /// The module attribute (a string) that names the phase of the module. A
    /// module without it is in phase `model`.
    static constexpr ::llvm::StringLiteral kPhaseAttrName = "nn.phase";

    /// The module attribute (a string, a case of `Compute`) that says how large
    /// f32 products use bf16. Without it, they do not.
    static constexpr ::llvm::StringLiteral kComputeAttrName = "nn.compute";
  }];
}

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits>;

// An op in the body of a program.
def NN_InProgram : NativeOpTrait<"InProgram"> { let cppNamespace = "::pdlc::nn"; }
class NN_BodyOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([NN_InProgram], traits)>;

#endif // PDLC_DIALECT_NN_IR_NNDIALECT_TD
