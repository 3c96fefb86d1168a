//===- NNTypes.td - Types of the model dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNTYPES_TD
#define PDLC_DIALECT_NN_IR_NNTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "pdlc/Dialect/NN/IR/NNDialect.td"

def NN_Ragged : TypeDef<NN_Dialect, "Ragged"> {
  let mnemonic = "ragged";
  let summary = "Bags of ids, or of numbers, without padding";
  let description = [{
    `!nn.ragged<?x26x*xi64>`: each of `?` samples has 26 bags of any length
    (`*`), which hold 64-bit keys. With `xf32` or `xf64`, they hold floats.
    There are exactly two dimensions before `*`; the first is dynamic and the
    second static. The type exists only in phase `model`. From phase `merged`
    on, a tensor of ids or numbers and a tensor of splits replace it.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of bags of one sample.
    int64_t getSlots() const { return getShape()[1]; }
  }];
}

def NN_Float : AnyTypeOf<[F32, F64], "32-bit or 64-bit float">;
// Has any rank, including 0. Only the first dimension may be dynamic (verified
// by trait NN_BatchFirst).
def NN_FloatTensor : RankedTensorOf<[NN_Float]>;
def NN_IdTensor : RankedTensorOf<[I64]>;
// Flat tensors of ids or splits, and f64 scalars. Each of these is a single
// type, so that assembly does not have to spell it out.
class NN_ExactTensor<string builder, string text>
    : Type<CPred<"$_self == " # !subst("$_builder", "::mlir::Builder($_self.getContext())", builder)>,
           text, "::mlir::RankedTensorType">,
      BuildableType<builder>;
def NN_SplitTensor : NN_ExactTensor<
  "::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI32Type())",
  "tensor<?xi32>">;
def NN_KeyTensor : NN_ExactTensor<
  "::mlir::RankedTensorType::get({::mlir::ShapedType::kDynamic}, $_builder.getI64Type())",
  "tensor<?xi64>">;
def NN_Bags : AnyTypeOf<[NN_Ragged, NN_SplitTensor], "bags, from phase merged on their splits">;
def NN_Scalar64 : NN_ExactTensor<
  "::mlir::RankedTensorType::get({}, $_builder.getF64Type())", "tensor<f64>">;
def NN_Scalar : 0DTensorOf<[NN_Float]>;
def NN_RaggedIds : Type<And<[NN_Ragged.predicate,
  CPred<"::llvm::cast<::pdlc::nn::RaggedType>($_self).getElementType().isInteger(64)">]>,
  "bags of 64-bit ids", "::pdlc::nn::RaggedType">;
def NN_Ids : AnyTypeOf<[NN_IdTensor, NN_RaggedIds], "tensor or bags of 64-bit ids">;

#endif // PDLC_DIALECT_NN_IR_NNTYPES_TD
