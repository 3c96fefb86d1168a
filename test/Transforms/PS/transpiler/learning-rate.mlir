// Case: decay of the learning rate, exponential in stairs, and piecewise
// constant.
//
// Fluid: the decay was a block of its own on each server, with a counter, which
// a trainer also sent in asynchronous training. A piecewise learning rate was a
// chain of comparisons and conditional blocks.
//
// PDL: a schedule is part of the group's `nn.once` in the server's handler. It
// runs once per group and step before the updates, with the step count of the
// group. No counter is sent, and no trainer has a learning rate. All arithmetic
// is f64, rounded once. A piecewise schedule has selects instead of branches.
// It is that of the library, unless the model defines its own.
//
// RUN: sed 's/rate(0.1)/rate(1.0) schedule(@exponential {decay = 0.1, steps = 2100.0, staircase = 1.0})/' %S/Inputs/dense.mlir > %t.exponential.mlir
// RUN: pdl-opt %t.exponential.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,EXPONENTIAL
// RUN: pdl-opt %t.exponential.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,EXPONENTIAL
// RUN: sed -e 's/rate(0.1)/rate(1.0) schedule(@piecewise)/' -e '/^module/r %s' %S/Inputs/dense.mlir > %t.piecewise.mlir
// RUN: pdl-opt %t.piecewise.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,PIECEWISE
// RUN: sed 's/rate(0.1)/rate(1.0) schedule(@piecewise {after1 = 10000.0, rate1 = 0.5, after2 = 20000.0, rate2 = 0.25})/' %S/Inputs/dense.mlir > %t.library.mlir
// RUN: pdl-opt %t.library.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,LIBRARY
// RUN: sed 's/rate(0.1)/rate(1.0) schedule(@stairs)/' %S/Inputs/dense.mlir > %t.unknown.mlir
// RUN: not pdl-opt %t.unknown.mlir --pdl-pipeline="to=roles mode=sync" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:7:{{.*}}@stairs

// Values, gradients and the sums of the loss are sent, but no counter.
// CHECK: sends [@train.gradient.fc_w, @train.gradient.fc_b, @train.loss] ahead []
// CHECK-NOT: 2.100000e+03
// CHECK-NOT: nn.once
// CHECK: module @pserver
// CHECK: ps.handler @train.apply
// Once for each group, before all updates, although two symbols might share it.
// CHECK: nn.once @weights
// CHECK-NEXT: ^bb0(%[[STEP:[a-z0-9]+]]: f64, %[[WEIGHT:[a-z0-9]+]]: f64,

// EXPONENTIAL: arith.subf %[[STEP]], %{{.*}} : f64
// EXPONENTIAL: arith.divf
// EXPONENTIAL: math.powf
// EXPONENTIAL: %[[RATE:.*]] = arith.mulf %{{.*}} : f64

// PIECEWISE: %[[FIRST:.*]] = arith.cmpf olt, %[[STEP]], %{{.*}} : f64
// PIECEWISE: %[[SECOND:.*]] = arith.cmpf olt, %[[STEP]], %{{.*}} : f64
// PIECEWISE: arith.select %[[SECOND]]
// PIECEWISE: %[[FACTOR:.*]] = arith.select %[[FIRST]]
// PIECEWISE: %[[RATE:.*]] = arith.mulf %{{.*}}, %[[FACTOR]] : f64

// LIBRARY: %[[DONE:.*]] = arith.subf %[[STEP]], %{{.*}} : f64
// LIBRARY: %[[FIRST:.*]] = arith.cmpf oge, %[[DONE]], %{{.*}} : f64
// LIBRARY: %[[PIECE:.*]] = arith.select %[[FIRST]]
// LIBRARY: %[[SECOND:.*]] = arith.cmpf oge, %[[DONE]], %{{.*}} : f64
// LIBRARY: arith.select %[[SECOND]], %{{.*}}, %[[PIECE]]
// LIBRARY: nn.yield %[[WEIGHT]], %{{.*}} : f64, f64

// EXPONENTIAL-NEXT: nn.yield %[[WEIGHT]], %[[RATE]] : f64, f64
// PIECEWISE-NEXT: nn.yield %[[WEIGHT]], %[[RATE]] : f64, f64
// CHECK: nn.once @biases
// CHECK: nn.update @fc_w
// CHECK-NOT: nn.once
// CHECK: nn.update @fc_b

  // 1 up to step 10000, 0.5 up to step 20000, then 1.
  nn.schedule @piecewise hyper() {
  ^bb0(%step: f64, %rate: f64):
    %first_end = arith.constant 10001.0 : f64
    %second_end = arith.constant 20001.0 : f64
    %one = arith.constant 1.0 : f64
    %half = arith.constant 0.5 : f64
    %in_first = arith.cmpf olt, %step, %first_end : f64
    %in_second = arith.cmpf olt, %step, %second_end : f64
    %later = arith.select %in_second, %half, %one : f64
    %factor = arith.select %in_first, %one, %later : f64
    %now = arith.mulf %rate, %factor : f64
    nn.yield %now : f64
  }
