// One pair stands in the wrong order of four, one is a tie: AUC 2.5 / 4; the log
// loss of the mean -log(1/2); two clicks over 2.25 predicted. With the weights 2,
// 1, 1, 3: AUC 9.5 / 12, the mean of the predictions 4 / 7.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.data p F32 4,1 0.25,0.5,0.75,0.75 y F32 4,1 0,1,0,1 half F32 4,1 0.5,0.5,0.5,0.5 w F32 4,1 2,1,1,3
// RUN: pdl-opt %s --nn-interpret="program=evaluate data=%t.data batch-size=3 metrics=-" -o /dev/null | FileCheck %s
// CHECK: auc 0.625{{$}}
// CHECK: copc 0.8888888888888
// CHECK: log_loss 0.693147180559945
// CHECK: mean 0.57142857142857
// CHECK: weighted_auc 0.7916666666666
module @m {
  nn.record @sample {
    nn.field @p : tensor<?x1xf32>
    nn.field @y : tensor<?x1xf32>
    nn.field @half : tensor<?x1xf32>
    nn.field @w : tensor<?x1xf32>
  }
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @mean : #nn.mean
  nn.metric @weighted_auc : #nn.auc<buckets = 4096>
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %half: tensor<?x1xf32>, %w: tensor<?x1xf32>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @log_loss(%half, %y) : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
    nn.observe @mean(%p) weight %w : tensor<?x1xf32>
    nn.observe @weighted_auc(%p, %y) weight %w : tensor<?x1xf32>
  }
}
