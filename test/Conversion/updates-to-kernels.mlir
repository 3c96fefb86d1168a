// RUN: pdl-opt %s --nn-updates-to-kernels | FileCheck %s
// RUN: pdl-opt %s --nn-updates-to-kernels=on-device | FileCheck %s --check-prefix=DEVICE

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
  nn.field @category : tensor<?x1xi64>
}
nn.rule @momentum hyper() slots(m = 0.5) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32):
  %0 = arith.addf %m, %gradient : f32
  %1 = arith.mulf %rate, %0 : f32
  %2 = arith.subf %value, %1 : f32
  nn.yield %2, %0 : f32, f32
}
nn.group @all rule(@momentum) rate(1.0) untouched(lazy)
nn.table @emb : i64 -> tensor<10xf32> in @all init(#nn.zeros)
nn.param @w : tensor<10x1xf32> in @all init(#nn.zeros)

nn.program @train reads(@clicks) {
^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
  %w = nn.read @w : tensor<10x1xf32>
  %ids = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
  %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
  %rows = nn.pull @emb[%keys] : tensor<?x10xf32>
  %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
  %s:2 = nn.once @all weight(%weight) -> (weight, "rate") {
  ^bb0(%step: f64, %total: f64, %squared_norm: f64):
    %rate = arith.divf %step, %total : f64
    nn.yield %total, %rate : f64, f64
  } : tensor<f32>, tensor<f32>
  nn.update @w gradient(%w) scalars(%s#0, %s#1) {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32, %rate: f32):
    %g = arith.divf %gradient, %total : f32
    %0 = arith.addf %m, %g : f32
    %1 = arith.mulf %rate, %0 : f32
    %2 = arith.subf %value, %1 : f32
    nn.yield %2, %0 : f32, f32
  } : tensor<10x1xf32>, tensor<f32>, tensor<f32>
  nn.update @emb keys(%keys) gradient(%rows) scalars(%s#0, %s#1) {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32, %rate: f32):
    %g = arith.divf %gradient, %total : f32
    %0 = arith.addf %m, %g : f32
    %1 = arith.mulf %rate, %0 : f32
    %2 = arith.subf %value, %1 : f32
    nn.yield %2, %0 : f32, f32
  } : tensor<?x10xf32>, tensor<f32>, tensor<f32>
}

// The dense kernel takes `state` = {value, slots...}, with the slots that the
// rule declares.
// CHECK-NOT: nn.rule
// CHECK: rt.once_kernel @all calls @once_all scalars ["sum of weights", "rate"] divisors [0] : f32
// CHECK: func.func private @once_all(%[[ARGS:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr)
// CHECK: %[[STEP:.*]] = llvm.load
// CHECK: %[[TOTAL:.*]] = llvm.load
// CHECK: %[[RATE:.*]] = arith.divf %[[STEP]], %[[TOTAL]] : f64
// CHECK: arith.truncf %[[TOTAL]] : f64 to f32
// CHECK: arith.truncf %[[RATE]] : f64 to f32

// CHECK: rt.update_kernel @w calls @update_w slots ["m"] from [5.000000e-01]
// CHECK: func.func private @update_w(%[[COUNT:.*]]: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[COUNT]] : i64 to index
// CHECK: %[[LARGEST:.*]] = scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[BOUND]]) step (%{{.*}}) init (%{{.*}}) -> i32
// CHECK: arith.divf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf
// CHECK: llvm.store {{.*}} {alias_scopes = {{.*}}, noalias_scopes
// If the value is finite, so is the slot, because the value depends on it.
// CHECK-COUNT-2: arith.maxsi
// CHECK-NOT: arith.maxsi
// CHECK: %[[INFINITY:.*]] = arith.constant 2139095040 : i32
// CHECK: %[[FOUND:.*]] = arith.cmpi sge, %[[LARGEST]], %[[INFINITY]] : i32
// CHECK: %[[RESULT:.*]] = arith.extui %[[FOUND]] : i1 to i32
// CHECK: return %[[RESULT]]

// Rows of width 10 with one slot have 80 bytes, so two cache lines are
// prefetched.
// CHECK: rt.update_kernel @emb calls @update_emb slots ["m"] from [5.000000e-01]
// CHECK: func.func private @update_emb(%[[ROWS:.*]]: i64, %{{.*}}: i64,
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[ROWS]] : i64 to index
// CHECK: scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[BOUND]])
// CHECK-COUNT-2: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.parallel (%{{.*}}) = (%{{.*}}) to (%c10)
// CHECK: arith.divf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf

// A device kernel gets all arguments one by one: the addresses of value, slot,
// gradient and scalars, and the address that it sets if an iteration writes a
// value that is not finite. Its iterations join nothing.
// DEVICE: rt.update_kernel @w calls @update_w launches @update_w.device slots ["m"] from [5.000000e-01]
// DEVICE: func.func private @update_w.device(%[[TURNS:.*]]: index, %[[VALUE:.*]]: !llvm.ptr, %[[SLOT:.*]]: !llvm.ptr, %[[GRADIENT:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %[[FOUND:.*]]: !llvm.ptr) {
// DEVICE: scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[TURNS]]) step (%{{.*}}) {
// DEVICE: llvm.getelementptr inbounds %[[SCALARS]][0]
// DEVICE: llvm.getelementptr inbounds %[[SCALARS]][1]
// DEVICE: llvm.getelementptr inbounds %[[VALUE]][%{{.*}}]
// DEVICE: llvm.getelementptr inbounds %[[SLOT]][%{{.*}}]
// DEVICE: llvm.getelementptr inbounds %[[GRADIENT]][%{{.*}}]
// DEVICE: %[[BAD:.*]] = arith.cmpi sge
// DEVICE-NEXT: scf.if %[[BAD]] {
// DEVICE-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// DEVICE-NEXT: llvm.store %[[ONE]], %[[FOUND]] : i32
// Rows of tables belong to the host. The kernel gets addresses of rows, and
// adjacent gradients.
// DEVICE: rt.update_kernel @emb calls @update_emb launches @update_emb.device slots ["m"] from [5.000000e-01]
// DEVICE: func.func private @update_emb(
// DEVICE: func.func private @update_emb.device(%[[TURNS:.*]]: index, %[[ROWS:.*]]: !llvm.ptr, %[[GRADIENTS:.*]]: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %[[FOUND:.*]]: !llvm.ptr) {
// DEVICE: scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[TURNS]]) step (%{{.*}}) {
// DEVICE: %[[ROW:.*]] = arith.divsi %[[TURN:.*]], %[[WIDTH:.*]] : i64
// DEVICE-NEXT: %[[ELEMENT:.*]] = arith.remsi %[[TURN]], %[[WIDTH]] : i64
// DEVICE-NEXT: %[[PLACE:.*]] = llvm.getelementptr inbounds %[[ROWS]][%[[ROW]]]
// DEVICE-NEXT: %[[VALUE:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> !llvm.ptr
// DEVICE: %[[BEGIN:.*]] = arith.muli %[[ROW]]
// DEVICE: %[[GRADIENT:.*]] = llvm.getelementptr inbounds %[[GRADIENTS]][%[[BEGIN]]]
// DEVICE: llvm.getelementptr inbounds %[[VALUE]][%[[ELEMENT]]]
// DEVICE: llvm.getelementptr inbounds %[[GRADIENT]][%[[ELEMENT]]]
// DEVICE: scf.if
// DEVICE: llvm.store %{{.*}}, %[[FOUND]] : i32

