// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=128},gpu-map-parallel-loops,convert-parallel-loops-to-gpu))' | FileCheck %s --implicit-check-not=gpu.launch
// CHECK: scf.parallel
// CHECK: affine.min
// CHECK: scf.parallel

// Without that bound the same loop becomes a launch.
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=128 no-min-max-bounds=true},gpu-map-parallel-loops,convert-parallel-loops-to-gpu))' | FileCheck %s --check-prefix=LAUNCH --implicit-check-not=affine.min
// LAUNCH: gpu.launch

func.func @twice(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
