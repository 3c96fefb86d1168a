//===- pdl-opt.cpp - Runs passes on a model -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"
#include "pdlc/Transforms/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<pdlc::nn::NNDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect>();
  pdlc::registerPDLCPasses();
  pdlc::registerPipelines();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "PDL: passes on recommendation models\n", registry));
}
