// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Stage prepare computes ids where their rows are pulled.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @remainder_prepare
// CHECK:         %[[ID:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK:         %[[REST:.*]] = arith.remsi %[[ID]], %[[N:.*]] : i64
// CHECK:         %[[BELOW:.*]] = arith.cmpi slt, %[[REST]], %{{.*}} : i64
// CHECK:         %[[MOVED:.*]] = arith.addi %[[REST]], %[[N]] : i64
// CHECK:         %[[TO:.*]] = arith.select %[[BELOW]], %[[MOVED]], %[[REST]] : i64
// CHECK:         memref.store %[[TO]]
// CHECK:         rt.unique
nn.program @remainder frozen reads(@r except [@x, @y, @d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %m = nn.id_arithmetic remainder %c with 9 : tensor<?xi64>
  %k, %i, %ks, %o = nn.unique %m
  %rows = nn.pull @emb[%k] : tensor<?x3xf32>
  %0 = nn.pool %rows[%i, %ks, %o] of (%m bags(%s) sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = nn.reshape %0 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  nn.return %1 : tensor<?x2x3xf32>
}

// Ids that are counted in prepare need memory of their own.
// CHECK-LABEL: func.func @crossed_prepare
// CHECK:         %[[N:.*]] = rt.cross_ragged_count
// CHECK:         rt.allocate
// CHECK:         rt.cross_ragged
// CHECK:         rt.allocate
// CHECK:         arith.muli %{{.*}}, %{{.*}} : i64
// CHECK:         rt.unique
nn.program @crossed frozen reads(@r except [@x, @y]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>, %d: tensor<?xi64>, %t: tensor<?xi32>):
  %x, %xs = nn.cross_bags (%c bags(%s), %d bags(%t)) salt(5)
  %m = nn.id_arithmetic multiply %x with 9 : tensor<?xi64>
  %k, %i, %ks, %o = nn.unique %m
  %rows = nn.pull @emb[%k] : tensor<?x3xf32>
  %0 = nn.pool %rows[%i, %ks, %o] of (%m bags(%xs) sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = nn.reshape %0 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  nn.return %1 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @to_numbers_compute
// CHECK:         %[[ID:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK:         %[[NUMBER:.*]] = arith.sitofp %[[ID]] : i64 to f32
// CHECK:         memref.store %[[NUMBER]]
nn.program @to_numbers frozen reads(@r except [@x, @c, @d]) {
^bb0(%y: tensor<?x1xi64>):
  %0 = nn.cast %y : (tensor<?x1xi64>) -> tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}

// No value reaches arith.fptosi for which it is undefined.
// CHECK-LABEL: func.func @to_ids_prepare
// CHECK:         %[[X:.*]] = memref.load %{{.*}} : memref<?xf32>
// CHECK:         arith.cmpf olt, %[[X]]
// CHECK:         arith.cmpf ogt, %[[X]]
// CHECK:         %[[KNOWN:.*]] = arith.select
// CHECK:         arith.fptosi %[[KNOWN]] : f32 to i64
// CHECK:         arith.cmpf oge, %[[X]]
// CHECK:         arith.cmpf ole, %[[X]]
// CHECK:         memref.store
nn.program @to_ids frozen reads(@r except [@y, @c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.cast %x : (tensor<?x4xf32>) -> tensor<?x4xi64>
  %f = nn.reshape %0 : (tensor<?x4xi64>) -> tensor<?xi64>
  %k, %i, %ks, %o = nn.unique %f
  %rows = nn.pull @emb[%k] : tensor<?x3xf32>
  %1 = nn.pool %rows[%i, %ks, %o] of (%f sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = nn.reshape %1 : (tensor<?x3xf32>) -> tensor<?x4x3xf32>
  nn.return %2 : tensor<?x4x3xf32>
}

// CHECK-LABEL: func.func @to_wide_compute
// CHECK:         %[[X:.*]] = memref.load %{{.*}} : memref<?xf32>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK:         memref.store %[[WIDE]]
// CHECK:         arith.mulf {{.*}} : f64
// CHECK:         %[[NARROW:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK:         memref.store %[[NARROW]]
nn.program @to_wide frozen reads(@r except [@y, @c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.cast %x : (tensor<?x4xf32>) -> tensor<?x4xf64>
  %1 = nn.mul %0, %0 : tensor<?x4xf64>, tensor<?x4xf64>
  %2 = nn.cast %1 : (tensor<?x4xf64>) -> tensor<?x4xf32>
  nn.return %2 : tensor<?x4xf32>
}
}
