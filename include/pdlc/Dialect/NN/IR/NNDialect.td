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
    A model is a module of symbols: a record that says what one sample is,
    parameters and tables in groups with an optimizer rule, metrics, functions,
    and programs (`@train`, `@evaluate`, `@predict`). Computation has value
    semantics on tensors.

    Only the first dimension of a tensor may be dynamic. In a model it is the
    batch; from phase `merged` on it may also count ids or unique keys.
  }];
  // Rules and the formulas of elementwise ops are written in these.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// Reads an attribute; refuses parameters behind one that takes none.
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

    /// Refuses an op that the dialect does not have, naming those that it has.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef name) const override;

    /// The module attribute (a string) that names the phase which the module
    /// has reached; a module without it is in phase `model`.
    static constexpr ::llvm::StringLiteral kPhaseAttrName = "nn.phase";

    /// The module attribute (a type: bf16) that says what the factors of large
    /// f32 products are rounded to; without it, to nothing.
    static constexpr ::llvm::StringLiteral kComputeAttrName = "nn.compute";
  }];
}

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits>;

// An op that stands in the body of a program.
def NN_InProgram : NativeOpTrait<"InProgram"> { let cppNamespace = "::pdlc::nn"; }
class NN_BodyOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([NN_InProgram], traits)>;

#endif // PDLC_DIALECT_NN_IR_NNDIALECT_TD
