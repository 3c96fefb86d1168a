// RUN: pdl-opt %s | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// CHECK: nn.metric @auc : #nn.auc<buckets = 4096>
nn.metric @auc : #nn.auc<buckets = 4096>
// CHECK: nn.metric @gauc : #nn.grouped_auc
nn.metric @gauc : #nn.grouped_auc
// CHECK: nn.metric @log_loss : #nn.log_loss
nn.metric @log_loss : #nn.log_loss
// CHECK: nn.metric @copc : #nn.copc
nn.metric @copc : #nn.copc
// CHECK: nn.metric @mean : #nn.mean
nn.metric @mean : #nn.mean
// CHECK: nn.metric @mae : #nn.mae
nn.metric @mae : #nn.mae
// CHECK: nn.metric @rmse : #nn.rmse
nn.metric @rmse : #nn.rmse
// CHECK: nn.metric @accuracy : #nn.accuracy<threshold = {{5.0+e-01}}>
nn.metric @accuracy : #nn.accuracy<threshold = 0.5>
// CHECK: nn.metric @bucket_error : #nn.bucket_error<buckets = 4096>
nn.metric @bucket_error : #nn.bucket_error<buckets = 4096>
// CHECK: nn.metric @accuracy_at : #nn.accuracy_at<k = 1>
nn.metric @accuracy_at : #nn.accuracy_at<k = 1>
// CHECK: nn.metric @recall : #nn.recall_at<k = 20>
nn.metric @recall : #nn.recall_at<k = 20>
// CHECK: nn.metric @ndcg : #nn.ndcg_at<k = 10>
nn.metric @ndcg : #nn.ndcg_at<k = 10>
// CHECK: nn.metric @mrr : #nn.mrr
nn.metric @mrr : #nn.mrr

nn.func private @observe(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %s: tensor<?x8xf32>, %r: tensor<?x8xf32>, %u: tensor<?x1xi64>) {
  // CHECK: nn.observe @gauc(%{{.*}}, %{{.*}}) group %{{.*}} : tensor<?x1xf32>{{$}}
  nn.observe @gauc(%p, %y) group %u : tensor<?x1xf32>
  // CHECK: nn.observe @gauc(%{{.*}}, %{{.*}}) group %{{.*}} weight %{{.*}} : tensor<?x1xf32>{{$}}
  nn.observe @gauc(%p, %y) group %u weight %p : tensor<?x1xf32>
  // CHECK: nn.observe @mae(%{{.*}}, %{{.*}}) : tensor<?x1xf32>{{$}}
  nn.observe @mae(%p, %y) : tensor<?x1xf32>
  // CHECK: nn.observe @mean(%{{.*}}) weight %{{.*}} : tensor<?x1xf32>{{$}}
  nn.observe @mean(%p) weight %y : tensor<?x1xf32>
  // CHECK: nn.observe @ndcg(%{{.*}}, %{{.*}}) : tensor<?x8xf32>{{$}}
  nn.observe @ndcg(%s, %r) : tensor<?x8xf32>
  // CHECK: nn.observe @mrr(%{{.*}}, %{{.*}}) weight %{{.*}} : tensor<?x8xf32>{{$}}
  nn.observe @mrr(%s, %r) weight %p : tensor<?x8xf32>
  // CHECK: nn.observe @recall(%{{.*}}, %{{.*}}) weight %{{.*}} : tensor<?x8xf32>, tensor<?x1xf32>{{$}}
  nn.observe @recall(%s, %y) weight %p : tensor<?x8xf32>, tensor<?x1xf32>
  nn.return
}
