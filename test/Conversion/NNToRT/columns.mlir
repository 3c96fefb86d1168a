// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s
// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// A value that is only moved is written at its destination and read at its
// source.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x32xf32>
  nn.field @c : !nn.ragged<?x3x*xi64>
}
nn.param @w : tensor<32x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)

// STATISTICS: nn-to-rt | {{.*}}in-place=3
// Loops, products and pooling write to columns of the concat, which copies only
// the field. Its lifetime begins with its first writer. Apart from it, only the
// rows and the product after it need memory.
// CHECK-LABEL: func.func @joined_compute
// CHECK:         rt.gather
// CHECK:         %[[BAGS:.*]] = rt.view %[[ARENA:.*]][%[[JOINED:.*]]] size(%[[B:.*]]) : !llvm.ptr -> memref<?x3x4xf32, strided<[84, 4, 1]>>
// CHECK:         rt.pool sum %{{.*}} into %[[BAGS]]
// CHECK:         %[[AT:.*]] = arith.addi %[[JOINED]], %c48
// CHECK:         %[[TANH:.*]] = rt.view %[[ARENA]][%[[AT]]] size(%[[B]]) : !llvm.ptr -> memref<?x32xf32, strided<[84, 1]>>
// CHECK:         scf.parallel (%[[I:.*]], %[[J:.*]]) = (%c0, %c0) to (%[[B]], %c32)
// CHECK:           memref.store %{{.*}}, %[[TANH]][%[[I]], %[[J]]]
// CHECK:         %[[AT2:.*]] = arith.addi %[[JOINED]], %c304
// CHECK:         %[[PRODUCT:.*]] = rt.view %[[ARENA]][%[[AT2]]] size(%[[B]]) : !llvm.ptr -> memref<?x8xf32, strided<[84, 1]>>
// CHECK:         rt.gemm strict {{.*}} into %[[PRODUCT]]
// CHECK:         %[[ALL:.*]] = rt.view %[[ARENA]][%[[JOINED]]] size(%[[B]]) : !llvm.ptr -> memref<?x84xf32>
// CHECK:         scf.parallel (%[[ROW:.*]]) = (%c0) to (%[[B]])
// CHECK:           scf.parallel (%[[K:.*]]) = (%c0) to (%c32)
// CHECK:             %[[TO:.*]] = arith.addi %[[K]], %c44
// CHECK:             memref.store %{{.*}}, %[[ALL]][%[[ROW]], %[[TO]]]
// CHECK-NOT:     memref.store %{{.*}}, %[[ALL]]
// CHECK:         arith.select
// CHECK:         compute(@joined_compute, <{{[0-9]+}} + 336 * batch, keys(16), occurrences(0)>)
nn.program @joined frozen reads(@r) {
^bb0(%x: tensor<?x32xf32>, %c: tensor<?xi64>, %s: tensor<?xi32>):
  %w = nn.read @w : tensor<32x8xf32>
  %keys, %inverse, %splits, %occurrences = nn.unique %c
  %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
  %p = nn.pool %rows[%inverse, %splits, %occurrences] of (%c bags(%s) sum) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %bags = nn.reshape %p : (tensor<?x4xf32>) -> tensor<?x12xf32>
  %t = nn.tanh %x : tensor<?x32xf32>
  %m = nn.matmul %x, %w : tensor<?x32xf32>, tensor<32x8xf32>
  %j = nn.concat %bags, %t, %x, %m axis 1 : tensor<?x12xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x8xf32>
  %o = nn.relu %j : tensor<?x84xf32>
  nn.return %o : tensor<?x84xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x32xf32>
  nn.field @y : tensor<?x32xf64>
}
nn.state @s : tensor<4x16xf32> init(#nn.zeros)

// A concat within a concat: its rows have the distance of the rows of the outer
// one. The outer one only copies the field.
// CHECK-LABEL: func.func @nested_compute
// CHECK:         rt.view %[[OUT:.*]][%c128] {{.*}} -> memref<?x32xf32, strided<[96, 1]>>
// CHECK:         rt.view %[[OUT]][%c256] {{.*}} -> memref<?x32xf32, strided<[96, 1]>>
// CHECK:         math.tanh
// CHECK:         math.exp
// CHECK:         %[[ALL:.*]] = rt.view %[[OUT]][%c0] {{.*}} -> memref<?x96xf32>
// CHECK:         scf.parallel (%[[I:.*]]) =
// CHECK:           scf.parallel (%[[J:.*]]) = (%c0) to (%c32)
// CHECK:             memref.store %{{.*}}, %[[ALL]][%[[I]], %[[J]]]
// CHECK-NOT:     scf.parallel
// CHECK:         return
nn.program @nested frozen reads(@r except @y) {
^bb0(%x: tensor<?x32xf32>):
  %a = nn.tanh %x : tensor<?x32xf32>
  %b = nn.exp %x : tensor<?x32xf32>
  %inner = nn.concat %a, %b axis 1 : tensor<?x32xf32>, tensor<?x32xf32>
  %outer = nn.concat %x, %inner axis 1 : tensor<?x32xf32>, tensor<?x64xf32>
  nn.return %outer : tensor<?x96xf32>
}

// Other readers of a value in place read columns if they can. A sum over rows
// cannot, so that value gets memory of its own and is copied.
// CHECK-LABEL: func.func @readers_compute
// CHECK:         %[[A:.*]] = rt.view %[[OUT:.*]][%c0] {{.*}} -> memref<?x32xf32, strided<[64, 1]>>
// CHECK:         %[[B:.*]] = rt.view %[[ARENA:.*]][%[[OFFSET:.*]]] size(%{{.*}}) {{.*}} -> memref<?x32xf32>
// CHECK:         math.tanh
// CHECK:         math.exp
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         memref.store %{{.*}}, %[[B]]
// CHECK:         %[[BOTH:.*]] = rt.view %[[OUT]][%c0] {{.*}} -> memref<?x64xf32>
// CHECK:         memref.store %{{.*}}, %[[BOTH]]
// CHECK-NOT:     memref.store %{{.*}}, %[[BOTH]]
// CHECK:         memref.load %[[A]]
// CHECK:         %[[FLAT:.*]] = rt.view %[[ARENA]][%[[OFFSET]]] {{.*}} -> memref<?xf32>
// CHECK:         rt.reduce_rows max %[[FLAT]]
nn.program @readers frozen reads(@r except @y) {
^bb0(%x: tensor<?x32xf32>):
  %a = nn.tanh %x : tensor<?x32xf32>
  %b = nn.exp %x : tensor<?x32xf32>
  %both = nn.concat %a, %b axis 1 : tensor<?x32xf32>, tensor<?x32xf32>
  %c = nn.relu %a : tensor<?x32xf32>
  %max = nn.reduce max %b axes [1] : tensor<?x32xf32>
  nn.return %both, %c, %max : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?xf32>
}

// The first of two destinations is written, the second is copied from it.
// CHECK-LABEL: func.func @twice_compute
// CHECK:         %[[A:.*]] = rt.view %[[OUT:.*]][%c0] {{.*}} -> memref<?x32xf32, strided<[64, 1]>>
// CHECK:         math.tanh
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         %[[BOTH:.*]] = rt.view %[[OUT]][%c0] {{.*}} -> memref<?x64xf32>
// CHECK:         %[[V:.*]] = memref.load %[[A]][[[I:%arg[0-9]+]], [[J:%arg[0-9]+]]]
// CHECK:         %[[TO:.*]] = arith.addi [[J]], %c32
// CHECK:         memref.store %[[V]], %[[BOTH]][[[I]], %[[TO]]]
// CHECK-NOT:     memref.store
// CHECK:         return
nn.program @twice frozen reads(@r except @y) {
^bb0(%x: tensor<?x32xf32>):
  %a = nn.tanh %x : tensor<?x32xf32>
  %both = nn.concat %a, %a axis 1 : tensor<?x32xf32>, tensor<?x32xf32>
  nn.return %both : tensor<?x64xf32>
}

// A single row has no gaps.
// CHECK-LABEL: func.func @static_compute
// CHECK:         %[[ROW:.*]] = rt.view %{{.*}} : !llvm.ptr -> memref<16xf32>
// CHECK:         %[[EXP:.*]] = rt.view %{{.*}} : !llvm.ptr -> memref<16xf32>
// CHECK:         memref.load %[[ROW]]
// CHECK:         math.exp
// CHECK:         memref.store %{{.*}}, %[[EXP]]
nn.program @static frozen reads(@r except @y) {
^bb0(%x: tensor<?x32xf32>):
  %s = nn.read @s : tensor<4x16xf32>
  %a = nn.tanh %s : tensor<4x16xf32>
  %row = nn.slice %a axis 0 offset 2 size 1 : tensor<4x16xf32>
  %b = nn.exp %row : tensor<1x16xf32>
  %both = nn.concat %row, %b axis 1 : tensor<1x16xf32>, tensor<1x16xf32>
  %o = nn.mul %x, %both : tensor<?x32xf32>, tensor<1x32xf32>
  nn.return %o : tensor<?x32xf32>
}

// For few adjacent elements, a loop would cost more than a copy. The slice of
// 15 is copied before tanh and after it; that of 16 is read and written in
// place.
// CHECK-LABEL: func.func @narrow_compute
// CHECK:         %[[SLICE:.*]] = rt.view %{{.*}} -> memref<?x15xf32>
// CHECK:         memref.store %{{.*}}, %[[SLICE]]
// CHECK:         math.tanh
// CHECK:         %[[FROM:.*]] = rt.view %{{.*}} -> memref<?x16xf32, strided<[32, 1]>>
// CHECK:         %[[TO:.*]] = rt.view %{{.*}} -> memref<?x16xf32, strided<[31, 1]>>
// CHECK:         memref.load %[[FROM]]
// CHECK:         math.exp
// CHECK:         memref.store %{{.*}}, %[[TO]]
// CHECK:         scf.parallel {{.*}} to (%c15)
// CHECK-NOT:     scf.parallel
// CHECK:         return
nn.program @narrow frozen reads(@r except @y) {
^bb0(%x: tensor<?x32xf32>):
  %n = nn.slice %x axis 1 offset 3 size 15 : tensor<?x32xf32>
  %a = nn.tanh %n : tensor<?x15xf32>
  %w = nn.slice %x axis 1 offset 2 size 16 : tensor<?x32xf32>
  %b = nn.exp %w : tensor<?x16xf32>
  %both = nn.concat %a, %b axis 1 : tensor<?x15xf32>, tensor<?x16xf32>
  nn.return %both : tensor<?x31xf32>
}

// In f64: a slice that is read in another shape, means over one of its axes, and a
// A pad within a concat only fills the columns that no other op writes.
// CHECK-LABEL: func.func @double_compute
// CHECK:         %[[FLAT:.*]] = rt.view %[[FIELD:.*]][%c16] {{.*}} -> memref<?x16xf64, strided<[32, 1]>>
// CHECK:         %[[EXP:.*]] = rt.view %[[OUT:.*]][%c8] {{.*}} -> memref<?x16xf64, strided<[23, 1]>>
// CHECK:         memref.load %[[FLAT]]
// CHECK:         memref.store %{{.*}}, %[[EXP]]
// CHECK:         %[[DEEP:.*]] = rt.view %[[FIELD]][%c16] {{.*}} -> memref<?x4x4xf64, strided<[32, 4, 1]>>
// CHECK:         %[[MEAN:.*]] = rt.view %[[OUT]][%c152] {{.*}} -> memref<?x4xf64, strided<[23, 1]>>
// CHECK:         memref.load %[[DEEP]]
// CHECK:         arith.divf
// CHECK:         memref.store %{{.*}}, %[[MEAN]]
// CHECK:         %[[PAD:.*]] = rt.view %[[OUT]][%c0] {{.*}} -> memref<?x19xf64, strided<[23, 1]>>
// CHECK:         memref.store %[[ZERO:.*]], %[[PAD]][%{{.*}}, %c0]
// CHECK:         scf.parallel {{.*}} to (%c2)
// CHECK:           memref.store %[[ZERO]], %[[PAD]]
// CHECK-NOT:     memref.store
// CHECK:         return
nn.program @double frozen reads(@r except @x) {
^bb0(%y: tensor<?x32xf64>):
  %w = nn.slice %y axis 1 offset 2 size 16 : tensor<?x32xf64>
  %z = nn.reshape %w : (tensor<?x16xf64>) -> tensor<?x4x4xf64>
  %b = nn.exp %z : tensor<?x4x4xf64>
  %m = nn.reduce mean %z axes [1] : tensor<?x4x4xf64>
  %f = nn.reshape %b : (tensor<?x4x4xf64>) -> tensor<?x16xf64>
  %p = nn.pad %f axis 1 low 1 high 2 : tensor<?x16xf64>
  %c = nn.concat %p, %m axis 1 : tensor<?x19xf64>, tensor<?x4xf64>
  nn.return %c : tensor<?x23xf64>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x20xf32>
  nn.field @c : !nn.ragged<?x3x*xi64>
}
nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)

// The gradient of a lookup reads its columns of a wider cotangent.
// CHECK-LABEL: func.func @adjoint_compute
// CHECK:         math.tanh
// CHECK:         %[[BAGS:.*]] = rt.view %{{.*}} -> memref<?x3x4xf32, strided<[20, 4, 1]>>
// CHECK-NOT:     scf.parallel
// CHECK:         rt.pool_gradient [#rt<pooling sum>](%[[BAGS]] : 
nn.program @adjoint reads(@r) {
^bb0(%x: tensor<?x20xf32>, %c: tensor<?xi64>, %s: tensor<?xi32>):
  %keys, %inverse, %splits, %occurrences = nn.unique %c
  %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
  %t = nn.tanh %x : tensor<?x20xf32>
  %part = nn.slice %t axis 1 offset 8 size 12 : tensor<?x20xf32>
  %bags = nn.reshape %part : (tensor<?x12xf32>) -> tensor<?x4xf32>
  %g = nn.pool_gradient [%inverse, %splits, %occurrences] of (%c bags(%s) sum from %bags) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return %g : tensor<?x4xf32>
}

}
