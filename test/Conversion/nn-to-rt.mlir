// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// An elementwise chain is one loop; its result goes straight to the output.
// Rows and columns stay apart because @w repeats over the rows.
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
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[B]]
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %c4
// CHECK:             %[[L:.*]] = memref.load %[[XV]][%[[I]], %[[J]]]
// CHECK:             %[[R:.*]] = memref.load %[[WV]][%[[J]]]
// CHECK:             %[[S:.*]] = arith.addf %[[L]], %[[R]] : f32
// CHECK:             %[[E:.*]] = math.exp %[[S]] : f32
// CHECK:             memref.store %[[E]], %[[OV]][%[[I]], %[[J]]]
// CHECK:         rt.program @chain frozen reads(@r [@x]) outputs ["output0"] widths [4]
// CHECK-SAME:      prepare(@chain_prepare, <0 + 0 * batch>)
// CHECK-SAME:      compute(@chain_compute, <0 + 0 * batch>)
nn.program @chain frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %w = nn.read @w : tensor<4xf32>
  %s = nn.add %x, %w : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %e = nn.exp %s : tensor<?x4xf32>
  nn.return %e : tensor<?x4xf32>
}

// A product: the slot of %y is free again for %t, because nothing reads %y
// after the second product, but not for %z, which reads it.
// CHECK-LABEL: func.func @products_compute
// CHECK:         rt.gemm strict %{{.*}}, %{{.*}}, %{{.*}} post [] into %[[Y:[0-9]+]]
// CHECK:         rt.gemm strict %{{.*}}, %[[Y]], %{{.*}} transposed post [] into %[[Z:[0-9]+]]
// CHECK:         rt.gemm strict %{{.*}}, %[[Z]], %{{.*}} post [] into %[[Y]]
// CHECK:         rt.reduce_rows sum
// CHECK:         rt.program @products
// A sample of %y and %z: 8 and 4 elements; no multiples of 64 bytes, so that
// each gets room to be aligned.
// CHECK-SAME:    compute(@products_compute, <126 + 48 * batch>)
nn.program @products frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %m = nn.read @m : tensor<4x8xf32>
  %y = nn.matmul %x, %m : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %z = nn.matmul %y, %m transposed : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  %t = nn.matmul %z, %m : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %o = nn.reduce sum %t axes [1] keep : (tensor<?x8xf32>) -> tensor<?x1xf32>
  nn.return %o : tensor<?x1xf32>
}

// The number of crossed ids is known while preparing only: memory is asked for,
// and its lack ends the stage. In compute the last split says how many.
// CHECK-LABEL: func.func @crossed_prepare
// CHECK:         %[[N:.*]] = rt.cross_ragged_count
// CHECK:         %[[P:.*]] = rt.allocate %{{.*}}, %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.icmp "eq" %[[P]]
// CHECK:         cf.cond_br %{{.*}}, ^[[EXIT:bb[0-9]+]](%{{.*}} : i32), ^[[NEXT:bb[0-9]+]]
// CHECK:       ^[[NEXT]]:
// CHECK:         rt.cross_ragged
// CHECK:         %[[S0:.*]] = rt.unique %{{.*}}, (%{{.*}}, %{{.*}}) into
// CHECK:         cf.cond_br %{{.*}}, ^[[EXIT]](%[[S0]] : i32)
// CHECK:         %[[S1:.*]] = rt.pull %{{.*}}, table 2 into
// CHECK:         cf.cond_br %{{.*}}, ^[[EXIT]](%[[S1]] : i32)
// CHECK-LABEL: func.func @crossed_compute
// CHECK:         rt.gather %{{.*}} into %[[ROWS:.*]] : !llvm.ptr, memref<?x3xf32>
// CHECK:         rt.pool sum %[[ROWS]]
// CHECK:         memref.load
// CHECK:         rt.pool mean %[[ROWS]]
// CHECK:         rt.program @crossed frozen reads(@r [@c, @d]) lookups [@emb]
// CHECK-SAME:      outputs ["output0", "output1"] widths [6, 6]
// CHECK-SAME:      prepare(@crossed_prepare, <67 + 8 * batch, keys(0), occurrences(0)>)
// CHECK-SAME:      compute(@crossed_compute, <63 + 0 * batch, keys(12), occurrences(0)>)
nn.program @crossed frozen reads(@r except @x) {
^bb0(%c: tensor<?xi64>, %cs: tensor<?xi32>, %d: tensor<?xi64>, %ds: tensor<?xi32>):
  %x, %xs = nn.cross_bags (%c, %d) splits(%cs, %ds) salt(5)
  %keys, %inverse, %key_splits, %occurrences = nn.unique %c, %x
  %rows = nn.pull @emb[%keys] : tensor<?x3xf32>
  %p:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of(%c, %x) splits(%cs, %xs) [sum, mean] bagged [true, true]
    : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %a = nn.reshape %p#0 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  %b = nn.reshape %p#1 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  nn.return %a, %b : tensor<?x2x3xf32>, tensor<?x2x3xf32>
}

// A field that is itself an output is copied.
// CHECK-LABEL: func.func @copied_compute
// CHECK:         memref.copy %{{.*}}, %{{.*}} : memref<?xf32> to memref<?xf32>
nn.program @copied frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  nn.return %x : tensor<?x4xf32>
}

// Sums over the batch: rows in order, columns in the inner loop.
// CHECK-LABEL: func.func @ordered_compute
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[SUM:.*]][%{{.*}}] : memref<4xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %c4
// CHECK:             memref.load %[[SUM]][%[[J]]]
// CHECK:             memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK:             arith.addf
// CHECK:             memref.store %{{.*}}, %[[SUM]][%[[J]]]
nn.program @ordered frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %s = nn.reduce sum %x axes [0] : (tensor<?x4xf32>) -> tensor<4xf32>
  %o = nn.mul %x, %s : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  nn.return %o : tensor<?x4xf32>
}
}
