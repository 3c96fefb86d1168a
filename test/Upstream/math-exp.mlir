// RUN: mlir-opt %s --convert-math-to-llvm --convert-vector-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir | llc -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -o - | FileCheck %s

// CHECK-COUNT-8: callq expf
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}
