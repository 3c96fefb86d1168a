// RUN: pdl-opt %s --pdl-pipeline="to=merged serving=true" --remarks-filter=statistics 2>&1 | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=tasks serving=true" | FileCheck %s --check-prefix=TASKS
// RUN: pdl-opt %s --pdl-pipeline="to=llvm serving=true" | FileCheck %s --check-prefix=LLVM

// CHECK-DAG: nn-keep-serving | {{.*}} programs-erased=2
// CHECK-DAG: nn-keep-serving | {{.*}} symbols-erased=2
// CHECK-DAG: nn-keep-serving | {{.*}} fields-erased=2

module {
  // Fields after the label and @unread have explicit columns.
  // CHECK: nn.record @r
  // CHECK-NEXT: nn.field @x : tensor<?x2xf32> columns([1, 2])
  // CHECK-NEXT: nn.field @a : !nn.ragged<?x1x*xi64> columns([4])
  // CHECK-NEXT: }
  nn.record @r {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @unread : tensor<?x1xf32>
    nn.field @a : !nn.ragged<?x1x*xi64>
  }
  // CHECK-NOT: nn.rule
  // CHECK-NOT: nn.group
  nn.group @g rule(@adam) rate(0.1) average(@ema {decay = 0.9})
  nn.group @rows rule(@adagrad) rate(0.1)
  // CHECK: nn.table @t : i64 -> tensor<1xf32> init(#nn.zeros) stored({{ ?}}bf16){{$}}
  nn.table @t : i64 -> tensor<1xf32> in @rows init(#nn.zeros) stored(bf16)
  // CHECK-NOT: @only_trained
  nn.table @only_trained : i64 -> tensor<1xf32> in @rows init(#nn.zeros)
  // CHECK: nn.param @w : tensor<2x1xf32> init(#nn.zeros) {nn.served_slot = "average"}
  nn.param @w : tensor<2x1xf32> in @g init(#nn.zeros)
  // CHECK-NOT: nn.param @b
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  // CHECK: nn.state @scale : tensor<1xf32>
  nn.state @scale : tensor<1xf32> init(#nn.constant<1.0>)
  // CHECK-NOT: nn.metric
  nn.metric @auc : #nn.auc<buckets = 16>

  // CHECK-NOT: nn.program @train
  nn.program @train reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %unread: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>):
    %0 = nn.lookup @t[%a] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %2 = nn.flatten %0 from 1 : tensor<?x1x1xf32>
    %3 = nn.lookup @only_trained[%a] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %4 = nn.flatten %3 from 1 : tensor<?x1x1xf32>
    %5 = nn.add %2, %4 : tensor<?x1xf32>, tensor<?x1xf32>
    %6 = nn.linear %x, @w, @b : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %7 = nn.add %5, %6 : tensor<?x1xf32>, tensor<?x1xf32>
    %8 = nn.sigmoid_cross_entropy %7, %label : tensor<?x1xf32>
    nn.minimize %8 over [@g, @rows] : tensor<?x1xf32>
  }
  // CHECK-NOT: nn.program @evaluate
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %unread: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>):
    %0 = nn.linear %x, @w, @b : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    nn.observe @auc(%1, %label) : tensor<?x1xf32>
  }
  // Ops that only a metric needs are removed, with the fields that only it
  // reads.
  // CHECK: nn.program @predict frozen reads(@r except @a) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x2xf32>):
  // CHECK-NEXT: %[[W:.*]] = nn.read @w
  // CHECK-NEXT: %[[Z:.*]] = nn.matmul %[[X]], %[[W]]
  // CHECK-NEXT: %[[P:.*]] = nn.sigmoid %[[Z]]
  // CHECK-NEXT: nn.return %[[P]] as "ctr"
  nn.program @predict frozen reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %unread: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>):
    %w = nn.read @w : tensor<2x1xf32>
    %0 = nn.matmul %x, %w : tensor<?x2xf32>, tensor<2x1xf32>
    %1 = nn.sigmoid %0 : tensor<?x1xf32>
    %2 = nn.add %1, %unread : tensor<?x1xf32>, tensor<?x1xf32>
    nn.observe @auc(%2, %label) : tensor<?x1xf32>
    nn.return %1 as "ctr" : tensor<?x1xf32>
  }
  // CHECK: nn.program @embed frozen reads(@r except @x) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xi64>, %{{.*}}: tensor<?xi32>):
  nn.program @embed frozen reads(@r except @x) {
  ^bb0(%label: tensor<?x1xf32>, %unread: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>):
    %0 = nn.lookup @t[%a] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %scale = nn.read @scale : tensor<1xf32>
    %1 = nn.mul %0, %scale : tensor<?x1x1xf32>, tensor<1xf32>
    nn.return %1 : tensor<?x1x1xf32>
  }
  // Properties that a checkpoint and the model must share stay.
  // CHECK: nn.fingerprint
  // CHECK: "keys of @t"
}

// TASKS-NOT: rt.update_kernel
// TASKS-NOT: func.func @train
// TASKS: func.func @predict_compute
// TASKS-NOT: rt.update_kernel

// One slot, which is the one that is read.
// LLVM: llvm.mlir.global {{.*}}@pdl.symbol.w.slots
