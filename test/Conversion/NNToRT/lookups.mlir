// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Ids, lookups, and their gradients.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// Ids are deduplicated where their rows are pulled. The first ones keep their
// memory until then, so the others get memory of their own.
// CHECK-LABEL: func.func @waiting_prepare
// CHECK:         rt.bucketize %{{.*}}, %{{.*}} into %[[A:[0-9]+]]
// CHECK:         rt.bucketize %{{.*}}, %{{.*}} into %[[B:[0-9]+]]
// CHECK:         rt.unique
// CHECK:         rt.program @waiting
// CHECK-SAME:      prepare(@waiting_prepare, <64 + 64 * batch, keys(0, 0), occurrences(0, 0)>)
nn.program @waiting frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %a = nn.bucketize %x boundaries [0.0] : tensor<?x4xf32>
  %fa = nn.reshape %a : (tensor<?x4xi64>) -> tensor<?xi64>
  %ka, %ia, %sa, %oa = nn.unique %fa
  %b = nn.bucketize %x boundaries [1.0] : tensor<?x4xf32>
  %fb = nn.reshape %b : (tensor<?x4xi64>) -> tensor<?xi64>
  %kb, %ib, %sb, %ob = nn.unique %fb
  %ra = nn.pull @emb[%ka] : tensor<?x3xf32>
  %rb = nn.pull @emb[%kb] : tensor<?x3xf32>
  %pa = nn.pool %ra[%ia, %sa, %oa] of (%fa sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %pb = nn.pool %rb[%ib, %sb, %ob] of (%fb sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.add %pa, %pb : tensor<?x3xf32>, tensor<?x3xf32>
  %1 = nn.reshape %0 : (tensor<?x3xf32>) -> tensor<?x4x3xf32>
  nn.return %1 : tensor<?x4x3xf32>
}

// The number of crossed ids is known only in prepare. Memory is requested
// there, and a lack of it ends the stage. In compute, the last split has the
// number.
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
// CHECK-SAME:      outputs ["output0", "output1"] widths [6, 6] types [f32, f32]
// CHECK-SAME:      prepare(@crossed_prepare, <120 + 8 * batch, keys(0), occurrences(0)>)
// CHECK-SAME:      compute(@crossed_compute, <180 + 0 * batch, keys(12), occurrences(0)>)
nn.program @crossed frozen reads(@r except @x) {
^bb0(%c: tensor<?xi64>, %cs: tensor<?xi32>, %d: tensor<?xi64>, %ds: tensor<?xi32>):
  %x, %xs = nn.cross_bags (%c bags(%cs), %d bags(%ds)) salt(5)
  %keys, %inverse, %key_splits, %occurrences = nn.unique %c, %x
  %rows = nn.pull @emb[%keys] : tensor<?x3xf32>
  %p:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%c bags(%cs) sum, %x bags(%xs) mean)
    : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %a = nn.reshape %p#0 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  %b = nn.reshape %p#1 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  nn.return %a, %b : tensor<?x2x3xf32>, tensor<?x2x3xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @i : tensor<?x2xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.metric @auc : #nn.auc<buckets = 64>
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.param @b : tensor<8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// Computed ids: buckets, a cross of tensors, and a cross of a tensor with bags,
// in which each id becomes a bag of its own.
// CHECK-LABEL: func.func @ids_prepare
// CHECK:         rt.bucketize
// CHECK:         rt.cross
// CHECK:         scf.parallel
// CHECK:           %[[BAG:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:           memref.store %[[BAG]]
// CHECK:         rt.cross_ragged_count
// CHECK:         rt.allocate
// CHECK:         rt.cross_ragged
// CHECK:         rt.unique
// CHECK:         rt.pull
// CHECK-LABEL: func.func @ids_compute
// CHECK:         rt.pool
// CHECK:         rt.pool_gradient [#rt<pooling sum>]{{.*}} of [0] bags(
nn.program @ids frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>, %i: tensor<?x2xi64>, %c: tensor<?xi64>, %cs: tensor<?xi32>):
  %s = nn.slice %x axis 1 offset 0 size 2 : tensor<?x4xf32>
  %b = nn.bucketize %s boundaries [0.0, 1.0] : tensor<?x2xf32>
  %j = nn.cross %b, %i salt(3) : tensor<?x2xi64>, tensor<?x2xi64>
  %flat = nn.reshape %j : (tensor<?x2xi64>) -> tensor<?xi64>
  %singles = nn.single_bags %flat
  %ids, %splits = nn.cross_bags (%flat bags(%singles), %c bags(%cs)) salt(1)
  %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
  %rows = nn.pull @emb[%keys] : tensor<?x3xf32>
  %p = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum)
    : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %g = nn.pool_gradient [%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum from %p)
    : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.reshape %p : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

}
