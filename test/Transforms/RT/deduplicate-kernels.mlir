// RUN: pdl-opt %s --rt-deduplicate-kernels | FileCheck %s

// Functions with equal bodies and other names are merged, and then their
// callers. A function with another constant stays.

// CHECK: func.func @a
// CHECK-NOT: func.func @b
// CHECK: func.func @caller_a
// CHECK-NOT: func.func @caller_b
// CHECK: func.func @other
func.func @a(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
func.func @b(%y: f32) -> f32 {
  %0 = arith.addf %y, %y : f32
  return %0 : f32
}
func.func @caller_a(%x: f32) -> f32 {
  %0 = func.call @a(%x) : (f32) -> f32
  return %0 : f32
}
func.func @caller_b(%x: f32) -> f32 {
  %0 = func.call @b(%x) : (f32) -> f32
  return %0 : f32
}
func.func @other(%x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  return %0 : f32
}
// CHECK: func.func @user
func.func @user(%x: f32) -> f32 {
  // CHECK: call @caller_a
  // CHECK: call @other
  %0 = func.call @caller_b(%x) : (f32) -> f32
  %1 = func.call @other(%0) : (f32) -> f32
  return %1 : f32
}
