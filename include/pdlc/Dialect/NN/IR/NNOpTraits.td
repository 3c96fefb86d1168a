//===- NNOpTraits.td - Traits and classes of NN ops -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traits of ops and base classes of ops, which several files use.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNOPTRAITS_TD
#define PDLC_DIALECT_NN_IR_NNOPTRAITS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pdlc/Dialect/NN/IR/NNTypes.td"
include "pdlc/Interfaces/DifferentiableOpInterface.td"
include "pdlc/Interfaces/ElementwiseOpInterface.td"

// Only the first dimension of each tensor operand and result may be dynamic.
def NN_BatchFirst : NativeOpTrait<"BatchFirst"> { let cppNamespace = "::pdlc::nn"; }

def NN_Elementwise : DeclareOpInterfaceMethods<ElementwiseOpInterface>;
// An elementwise op that the matrix products of the runtime support as a
// post-op.
def NN_ElementwisePostOp : DeclareOpInterfaceMethods<ElementwiseOpInterface, ["asPostOp"]>;

def NN_Differentiable :
  DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getResiduals"]>;
def NN_DifferentiableSome :
  DeclareOpInterfaceMethods<DifferentiableOpInterface, ["isDifferentiable", "getResiduals"]>;

// Infers the result types from the op's operands and attributes. The parser
// calls this function, because the text of an op contains only operand types.
// Operands must be tensors that satisfy BatchFirst, or may also be bags if
// `mayBeBags` is "true". The trait reports wrong result types itself.
// `refineReturnTypes`, which the interface calls, would report them a second
// time, so it always succeeds.
class NN_InferredTypes<string mayBeBags> : NativeOpTrait<"InferredTypes", [], [{
    static ::llvm::LogicalResult
    inferReturnTypes(::mlir::MLIRContext *context,
                     std::optional<::mlir::Location> location, Adaptor adaptor,
                     ::llvm::SmallVectorImpl<::mlir::Type> &types);
    static ::llvm::LogicalResult
    refineReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>,
                      ::mlir::ValueRange, ::mlir::DictionaryAttr,
                      ::mlir::OpaqueProperties, ::mlir::RegionRange,
                      ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (failed(::pdlc::nn::verifyOperandTypes(location, getOperationName(), operands,
                                                /*mayBeBags=*/}] # mayBeBags # [{)))
        return ::mlir::failure();
      return inferReturnTypes(context, location,
                              Adaptor(operands, attributes, properties, regions), types);
    }
  }]> {
  let cppNamespace = "::pdlc::nn";
}
class NN_InferTypeFrom<string mayBeBags> : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>, NN_InferredTypes<mayBeBags>]>;
def NN_InferType : NN_InferTypeFrom<"false">;
def NN_InferTypeOfBags : NN_InferTypeFrom<"true">;

def NN_SpelledOut : StandsUntil<"Model", "nn-lower-model spells it out">;
def NN_SaysItself : DeclareOpInterfaceMethods<CompositeOpInterface>;
// CompositeOpInterface builds the ops that replace the op.
def NN_Composite : TraitList<[NN_SpelledOut, NN_SaysItself]>;
def NN_MayMixSamples : DeclareOpInterfaceMethods<SampleMixingOpInterface>;

def NN_Rows : DeclareOpInterfaceMethods<RowsOpInterface>;
// Operands may have different float types, because each operand is independent
// of the others, or only its number of rows is used.
def NN_MayMixFloats : NativeOpTrait<"MayMixFloats"> { let cppNamespace = "::pdlc::nn"; }

class NN_PureOp<string mnemonic, list<Trait> traits = []>
    : NN_BodyOp<mnemonic, !listconcat([Pure, NN_BatchFirst], traits)>;

#endif // PDLC_DIALECT_NN_IR_NNOPTRAITS_TD
