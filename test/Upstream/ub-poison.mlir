// RUN: mlir-opt %s --convert-func-to-llvm | not mlir-translate --mlir-to-llvmir 2>&1 | FileCheck %s
// CHECK: error: Dialect `ub' not found for custom op 'ub.poison'
// RUN: mlir-opt %s --convert-func-to-llvm --convert-ub-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LOWERED
// LOWERED: ret float poison

func.func @f() -> f32 {
  %0 = ub.poison : f32
  return %0 : f32
}
