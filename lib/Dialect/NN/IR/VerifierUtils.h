//===- VerifierUtils.h - Helpers of verifiers of ops ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_VERIFIERUTILS_H
#define LIB_DIALECT_NN_IR_VERIFIERUTILS_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Spelling.h"

#include <optional>

namespace pdlc::nn {

/// Starts an error at `location`, or without a location.
inline mlir::InFlightDiagnostic emitAt(std::optional<mlir::Location> location,
                                       mlir::MLIRContext *context,
                                       llvm::StringRef op) {
  return mlir::emitError(location ? *location : mlir::UnknownLoc::get(context))
         << "'" << op << "' op ";
}

/// Returns the shape [b, s] of a tensor of ids or of bags.
inline llvm::SmallVector<int64_t> idShape(mlir::Type type) {
  if (auto ragged = llvm::dyn_cast<RaggedType>(type))
    return llvm::SmallVector<int64_t>(ragged.getShape());
  return llvm::SmallVector<int64_t>(
      llvm::cast<mlir::RankedTensorType>(type).getShape());
}

/// Returns "; did you mean 'NAME'?" with the name of an op of type `OpT`, in
/// the module of `user`, that is most similar to `name`. Returns an empty
/// string if none is similar.
template <typename OpT>
std::string meantSymbol(mlir::Operation *user, mlir::FlatSymbolRefAttr name) {
  llvm::SmallVector<llvm::StringRef> known;
  if (auto module = user->getParentOfType<mlir::ModuleOp>())
    for (OpT op : module.getOps<OpT>())
      known.push_back(op.getSymName());
  return didYouMean(name.getValue(), known);
}

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_VERIFIERUTILS_H
