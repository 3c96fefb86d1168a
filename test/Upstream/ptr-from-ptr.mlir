// RUN: mlir-opt %s --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// CHECK: llvm.func @f
// CHECK: ptr.from_ptr
func.func @f(%p: !ptr.ptr<#ptr.generic_space>) -> memref<4xf32, #ptr.generic_space> {
  %0 = ptr.from_ptr %p : <#ptr.generic_space> -> memref<4xf32, #ptr.generic_space>
  return %0 : memref<4xf32, #ptr.generic_space>
}
