// RUN: pdl-opt %s --math-to-pdlabi | FileCheck %s

// CHECK-LABEL: func @f32
func.func @f32(%x: f32) -> f32 {
  // CHECK: call @pdlabi_expf(%{{.*}}) : (f32) -> f32
  %0 = math.exp %x : f32
  // CHECK: call @pdlabi_logf
  %1 = math.log %0 : f32
  // CHECK: call @pdlabi_log1pf
  %2 = math.log1p %1 : f32
  // CHECK: call @pdlabi_tanhf
  %3 = math.tanh %2 : f32
  // CHECK: call @pdlabi_sinf
  %6 = math.sin %3 : f32
  // CHECK: call @pdlabi_cosf
  %7 = math.cos %6 : f32
  // These ops are single instructions and stay.
  // CHECK: math.sqrt
  %4 = math.sqrt %7 : f32
  // CHECK: math.fma
  %5 = math.fma %4, %x, %x : f32
  return %5 : f32
}

// CHECK-LABEL: func @f64
func.func @f64(%x: f64) -> f64 {
  // CHECK: call @exp(%{{.*}}) : (f64) -> f64
  %0 = math.exp %x : f64
  // CHECK: call @log(
  %1 = math.log %0 : f64
  // CHECK: call @pdlabi_pow(%{{.*}}, %{{.*}}) : (f64, f64) -> f64
  %2 = math.powf %1, %x : f64
  // CHECK: call @pdlabi_cos(
  %3 = math.cos %2 : f64
  // CHECK: call @pdlabi_sin(
  %4 = math.sin %3 : f64
  return %4 : f64
}
