// RUN: mlir-translate --mlir-to-llvmir %s | FileCheck %s --implicit-check-not="target triple" --implicit-check-not="target-cpu"

// CHECK: define void @f()
llvm.func @f() {
  llvm.return
}
