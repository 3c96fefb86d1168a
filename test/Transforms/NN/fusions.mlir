// RUN: pdl-opt %s --split-input-file --pdl-pipeline="to=tasks" --remarks-filter=statistics 2> %t.counts | FileCheck %s
// RUN: pdl-opt %s --split-input-file --pdl-pipeline="to=tasks fuse=false" --remarks-filter=statistics -o /dev/null 2> %t.apart
// RUN: grep "posts-fused\|row-loops\| fused=" %t.apart | FileCheck %s --check-prefix=APART
// APART-NOT: ={{[1-9]}}
// RUN: grep "posts-fused\|row-loops\|in-place" %t.counts | FileCheck %s --check-prefix=COUNT

// The parts of a step, with gradients, after ops have been joined.

module {

// Softmax and cross entropy with their whole gradient: one loop over rows
// between the product and the product of the gradient. The loop of one element
// per row before it computes the sign of the loss. A second loop over rows
// checks the range of the labels.
// COUNT: posts-fused=1
// COUNT: row-loops=2
// CHECK-LABEL: func.func @train_compute
// CHECK:         rt.gemm {{.*}} post [#rt<post bias>]
// CHECK:         call @kernel.elementwise_neg_f32
// CHECK:         call @kernel.reduce_combine_row_sub_exp_combine_row_log_sub
// CHECK-NOT:     call @kernel.elementwise
// CHECK-NOT:     rt.reduce_rows
// CHECK:         rt.gemm
// CHECK:         return
nn.record @r {
  nn.field @y : tensor<?x20xf32>
  nn.field @x : tensor<?x12xf32>
}
nn.group @g rule(@sgd) rate(0.1)
nn.param @w : tensor<12x20xf32> in @g init(#nn.xavier)
nn.param @b : tensor<20xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x20xf32>, %x: tensor<?x12xf32>):
  %z = nn.linear %x, @w, @b : (tensor<?x12xf32>) -> tensor<?x20xf32>
  %l = nn.softmax_cross_entropy %z, %y : tensor<?x20xf32>, tensor<?x20xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

}

// -----

module {

// Pooled rows are written to their columns of the concat. A cross layer is a
// product with bias and one loop.
// COUNT: posts-fused=1
// COUNT: row-loops=0
// COUNT: in-place=1
// CHECK-LABEL: func.func @cross_compute
// CHECK:         %[[POOLED:.*]] = rt.view {{.*}} -> memref<?x16xf32, strided<[20, 1]>>
// CHECK:         rt.pool sum {{.*}} into %[[POOLED]]
// CHECK:         call @kernel.copy_f32
// CHECK:         rt.gemm {{.*}} post [#rt<post bias>]
// CHECK:         call @kernel.elementwise_mul_add_f32
// CHECK-NOT:     call
// CHECK:         return
nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @a : tensor<?x1xi64>
}
nn.table @t : i64 -> tensor<16xf32> init(#nn.zeros)
nn.param @w : tensor<20x20xf32> init(#nn.zeros)
nn.param @b : tensor<20xf32> init(#nn.zeros)
nn.program @cross frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %a: tensor<?x1xi64>):
  %e = nn.lookup @t[%a] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x16xf32>
  %flat = nn.flatten %e from 1 : tensor<?x1x16xf32>
  %x0 = nn.concat %flat, %x axis 1 : tensor<?x16xf32>, tensor<?x4xf32>
  %c = nn.cross_layer %x0, %x0, @w, @b : tensor<?x20xf32>
  nn.return %c : tensor<?x20xf32>
}

}
