// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Consecutive elementwise ops.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// A chain of elementwise ops is one loop, which writes directly to the output.
// Rows and columns are separate dimensions, because @w is repeated over the
// rows.
// CHECK-LABEL: func.func @chain_prepare
// CHECK:         %[[OK:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    return %[[OK]] : i32
// CHECK-LABEL: func.func @chain_compute
// CHECK-NOT:     compute_arena
// CHECK-DAG:     %[[B:.*]] = rt.count batch[0]
// CHECK-DAG:     %[[X:.*]] = rt.pointer field_values[0]
// CHECK-DAG:     %[[W:.*]] = rt.pointer parameter[0]
// CHECK-DAG:     %[[OUT:.*]] = rt.pointer output[0]
// CHECK-DAG:     %[[XV:.*]] = rt.view %[[X]][%{{.*}}] size(%[[B]]) : !llvm.ptr -> memref<?x4xf32>
// CHECK-DAG:     %[[WV:.*]] = rt.view %[[W]][%{{.*}}] : !llvm.ptr -> memref<4xf32>
// CHECK-DAG:     %[[OV:.*]] = rt.view %[[OUT]][%{{.*}}] size(%[[B]]) : !llvm.ptr -> memref<?x4xf32>
// CHECK:         scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}) to (%[[B]], %c4)
// CHECK:           %[[L:.*]] = memref.load %[[XV]][%[[I]], %[[J]]]
// CHECK:           %[[R:.*]] = memref.load %[[WV]][%[[J]]]
// CHECK:           %[[S:.*]] = arith.addf %[[L]], %[[R]] : f32
// CHECK:           %[[E:.*]] = math.exp %[[S]] : f32
// CHECK:           memref.store %[[E]], %[[OV]][%[[I]], %[[J]]]
// CHECK:         rt.program @chain frozen reads(@r [@x]) outputs ["output0"] widths [4] types [f32]
// CHECK-SAME:      prepare(@chain_prepare, <0 + 0 * batch>)
// CHECK-SAME:      compute(@chain_compute, <0 + 0 * batch>)
nn.program @chain frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %w = nn.read @w : tensor<4xf32>
  %s = nn.add %x, %w : tensor<?x4xf32>, tensor<4xf32>
  %e = nn.exp %s : tensor<?x4xf32>
  nn.return %e : tensor<?x4xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x4xf32>
}
nn.param @m : tensor<4x4xf32> init(#nn.zeros)

// Ops that read the same tensors are one loop with several results. A value
// that only they read has no memory (the sigmoid). x and y are loaded once.
// CHECK-LABEL: func.func @several_compute
// CHECK:         scf.parallel (%[[I:.*]]) =
// CHECK-COUNT-2:   memref.load
// CHECK-NOT:       memref.load
// CHECK:           %[[S:.*]] = func.call @pdlabi_sigmoidf
// CHECK:           %[[A:.*]] = arith.mulf %[[S]], %[[Y:.*]] : f32
// CHECK:           %[[B:.*]] = arith.subf %[[Y]], %[[S]] : f32
// CHECK:           memref.store %[[A]], %[[AV:.*]][%[[I]]]
// CHECK-NEXT:      memref.store %[[B]], %[[BV:.*]][%[[I]]]
// CHECK-NEXT:      scf.reduce
// CHECK-NOT:     scf.parallel
// CHECK:         return
nn.program @several frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %s = nn.sigmoid %x : tensor<?x4xf32>
  %a = nn.mul %s, %y : tensor<?x4xf32>, tensor<?x4xf32>
  %b = nn.sub %y, %s : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// A loop is at the position of its last op. This is not possible if a product
// between them reads a result.
// CHECK-LABEL: func.func @between_compute
// CHECK:         scf.parallel
// CHECK:           func.call @pdlabi_sigmoidf
// CHECK:         rt.gemm
// CHECK:         scf.parallel
// CHECK:           arith.mulf
nn.program @between frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %m = nn.read @m : tensor<4x4xf32>
  %s = nn.sigmoid %x : tensor<?x4xf32>
  %p = nn.matmul %s, %m : tensor<?x4xf32>, tensor<4x4xf32>
  %a = nn.mul %s, %p : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %a : tensor<?x4xf32>
}

}
