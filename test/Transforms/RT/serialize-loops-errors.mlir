// RUN: pdl-opt %s --rt-serialize-loops -split-input-file -verify-diagnostics

func.func @f(%memory: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{combines floats of its iterations in no fixed order; write an ordered sum as an scf.for inside of it}}
  %sum = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    %0 = memref.load %memory[%i] : memref<?xf32>
    scf.reduce(%0 : f32) {
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  }
  return %sum : f32
}
