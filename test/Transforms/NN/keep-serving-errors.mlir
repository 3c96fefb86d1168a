// RUN: not pdl-opt %s --pdl-pipeline="to=merged serving=true" 2>&1 | FileCheck %s

// CHECK: keep-serving-errors.mlir:[[@LINE+1]]:1: error: the model has nothing to serve: no frozen program returns anything; add one such as @predict, with an nn.return of its predictions
module {
  nn.record @r {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<2x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>):
    %w = nn.read @w : tensor<2x1xf32>
    %0 = nn.matmul %x, %w : tensor<?x2xf32>, tensor<2x1xf32>
    %1 = nn.sigmoid_cross_entropy %0, %label : tensor<?x1xf32>
    nn.minimize %1 over [@g] : tensor<?x1xf32>
  }
}
