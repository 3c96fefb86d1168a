// One pair stands in the wrong order of four, one is a tie: AUC 2.5 / 4; the log
// loss of the mean -log(1/2); two clicks over 2.25 predicted. With the weights 2,
// 1, 1, 3: AUC 9.5 / 12, the mean of the predictions 4 / 7. Predictions are off by
// 0.25, 0.5, 0.75 and 0.25: MAE 1.75 / 4, RMSE the root of 0.9375 / 4, and two of
// them are on the right side of 0.5. The lists' relevant items stand at the places
// 1, 3, 2 (of equal scores, the second) and 3; the last list's position is none. Of
// group 7, which weighs 3, all pairs stand in the right order; the pair of group -7,
// which weighs 4, is a tie: 5 / 7.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.data p F32 4,1 0.25,0.5,0.75,0.75 y F32 4,1 0,1,0,1 half F32 4,1 0.5,0.5,0.5,0.5 w F32 4,1 2,1,1,3 s F32 4,3 3,2,1,3,2,1,5,5,5,1,2,3 r F32 4,3 1,0,0,0,0,1,0,1,1,1,0,0 i F32 4,1 0,2,1,3 u I64 4,1 7,7,-7,-7
// RUN: pdl-opt %s --nn-interpret="program=evaluate data=%t.data batch-size=3 metrics=-" -o /dev/null | FileCheck %s
// CHECK: accuracy 0.5{{$}}
// CHECK: accuracy_at 0.5{{$}}
// CHECK: auc 0.625{{$}}
// CHECK: copc 0.8888888888888
// CHECK: gauc 0.714285714285714
// CHECK: log_loss 0.693147180559945
// CHECK: mae 0.4375{{$}}
// CHECK: mean 0.57142857142857
// CHECK: mrr 0.547619047619047
// CHECK: ndcg 0.673356600904317
// CHECK: recall 0.375{{$}}
// CHECK: rmse 0.48412291827592
// CHECK: weighted_auc 0.7916666666666
module @m {
  nn.record @sample {
    nn.field @p : tensor<?x1xf32>
    nn.field @y : tensor<?x1xf32>
    nn.field @half : tensor<?x1xf32>
    nn.field @w : tensor<?x1xf32>
    nn.field @s : tensor<?x3xf32>
    nn.field @r : tensor<?x3xf32>
    nn.field @i : tensor<?x1xf32>
    nn.field @u : tensor<?x1xi64>
  }
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @mean : #nn.mean
  nn.metric @weighted_auc : #nn.auc<buckets = 4096>
  nn.metric @mae : #nn.mae
  nn.metric @rmse : #nn.rmse
  nn.metric @accuracy : #nn.accuracy<threshold = 0.5>
  nn.metric @accuracy_at : #nn.accuracy_at<k = 2>
  nn.metric @recall : #nn.recall_at<k = 2>
  nn.metric @ndcg : #nn.ndcg_at<k = 3>
  nn.metric @mrr : #nn.mrr
  nn.metric @gauc : #nn.grouped_auc
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %half: tensor<?x1xf32>, %w: tensor<?x1xf32>, %s: tensor<?x3xf32>, %r: tensor<?x3xf32>, %i: tensor<?x1xf32>, %u: tensor<?x1xi64>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @gauc(%p, %y) group %u weight %w : tensor<?x1xf32>
    nn.observe @log_loss(%half, %y) : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
    nn.observe @mean(%p) weight %w : tensor<?x1xf32>
    nn.observe @weighted_auc(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @mae(%p, %y) : tensor<?x1xf32>
    nn.observe @rmse(%p, %y) : tensor<?x1xf32>
    nn.observe @accuracy(%p, %y) : tensor<?x1xf32>
    nn.observe @accuracy_at(%s, %i) : tensor<?x3xf32>, tensor<?x1xf32>
    nn.observe @recall(%s, %r) : tensor<?x3xf32>
    nn.observe @ndcg(%s, %r) : tensor<?x3xf32>
    nn.observe @mrr(%s, %r) weight %w : tensor<?x3xf32>
  }
}
