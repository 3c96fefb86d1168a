// RUN: not mlir-opt %s --one-shot-bufferize="bufferize-function-boundaries" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: Yield operand #0 is not equivalent to the corresponding iter bbArg

// With loops that may yield other buffers: one more allocation in each
// iteration.
// RUN: mlir-opt %s --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" | FileCheck %s --check-prefix=ALLOC
// ALLOC: scf.for
// ALLOC: memref.alloc
// ALLOC: scf.yield

// State that each step computes from the previous state and a row.
func.func @scan(%x: tensor<?x4xf32>, %initial: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %t = %c0 to %n step %c1 iter_args(%before = %initial) -> tensor<4xf32> {
    %row = tensor.extract_slice %x[%t, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %empty = tensor.empty() : tensor<4xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%before, %row : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}
