// RUN: pdl-opt %s --nn-updates-to-kernels | FileCheck %s
// RUN: pdl-opt %s --nn-updates-to-kernels=on-device | FileCheck %s --check-prefix=DEVICE

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
  nn.field @category : tensor<?x1xi64>
}
nn.rule @normalized hyper() slots(m = 0.0) row_slots(length = 0.5) once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} sum {
^bb0(%value: f32, %gradient: f32, %m: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %total: f64, %length: f32):
  %0 = arith.divf %total, %width : f64
  %1 = arith.truncf %0 : f64 to f32
  nn.yield %1, %length : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %pace: f32):
  %0 = arith.mulf %pace, %gradient : f32
  nn.yield %0, %value : f32, f32
}
nn.group @all rule(@normalized) rate(1.0) untouched(lazy)
nn.table @emb : i64 -> tensor<18xf32> in @all init(#nn.zeros)
nn.param @w : tensor<10x3xf32> in @all init(#nn.zeros)

nn.program @train reads(@clicks) {
^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
  %w = nn.read @w : tensor<10x3xf32>
  %ids = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
  %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
  %rows = nn.pull @emb[%keys] : tensor<?x18xf32>
  %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
  %s = nn.once @all weight(%weight) -> (weight) {
  ^bb0(%step: f64, %total: f64, %squared_norm: f64):
    nn.yield %total : f64
  } : tensor<f32>
  nn.update @w gradient(%w) scalars(%s) sum {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32):
    %0 = arith.extf %gradient : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %all: f64, %length: f32, %total: f32):
    %0 = arith.divf %all, %width : f64
    %1 = arith.truncf %0 : f64 to f32
    %2 = arith.divf %length, %total : f32
    nn.yield %1, %2 : f32, f32
  } each {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32, %pace: f32):
    %0 = arith.mulf %pace, %gradient : f32
    nn.yield %0, %value : f32, f32
  } : tensor<10x3xf32>, tensor<f32>
  nn.update @emb keys(%keys) gradient(%rows) scalars(%s) sum {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32):
    %0 = arith.extf %gradient : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %all: f64, %length: f32, %total: f32):
    %0 = arith.divf %all, %width : f64
    %1 = arith.truncf %0 : f64 to f32
    nn.yield %1, %length : f32, f32
  } each {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %total: f32, %pace: f32):
    %0 = arith.mulf %pace, %gradient : f32
    nn.yield %0, %value : f32, f32
  } : tensor<?x18xf32>, tensor<f32>
}

// Region `row` divides by the weight.
// CHECK: rt.once_kernel @all calls @once_all scalars ["sum of weights"] divisors [0] : f32

// A row of three elements has three lanes. The tree always joins all 16.
// CHECK: rt.update_kernel @w calls @update_w slots ["m", "length"] from [0.000000e+00, 5.000000e-01] row_slots(1) whole_rows
// CHECK: func.func private @update_w(%[[COUNT:.*]]: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: %[[WIDTH:.*]] = arith.constant 3 : i64
// CHECK: arith.divsi %[[COUNT]], %[[WIDTH]] : i64
// CHECK: scf.parallel
// CHECK-NOT: scf.for
// CHECK-COUNT-3: arith.extf
// CHECK-NOT: arith.extf
// CHECK-COUNT-16: arith.addf {{.*}} : f64
// CHECK-NOT: arith.addf
// CHECK: arith.truncf
// CHECK: llvm.store
// CHECK: scf.parallel

// Longer ones are added 16 elements per iteration, then the rest.
// CHECK: rt.update_kernel @emb calls @update_emb slots ["m", "length"] from [0.000000e+00, 5.000000e-01] row_slots(1) whole_rows
// CHECK: scf.parallel
// The state is two parts of 18 elements and one element: 148 bytes.
// CHECK-COUNT-3: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64)
// CHECK-COUNT-16: arith.extf
// CHECK: scf.yield
// CHECK-COUNT-2: arith.extf
// CHECK-NOT: arith.extf
// CHECK: scf.parallel

// An iteration of a device processes one row: its sums, its own slot, then its
// elements.
// DEVICE: func.func private @update_w.device(%[[ROWS:.*]]: index, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[LENGTHS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) {
// DEVICE: scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[ROWS]])
// DEVICE: llvm.getelementptr inbounds %[[LENGTHS]][%{{.*}}]
// DEVICE-COUNT-16: arith.addf {{.*}} : f64
// DEVICE: scf.parallel {{.*}} init
// DEVICE: scf.if
