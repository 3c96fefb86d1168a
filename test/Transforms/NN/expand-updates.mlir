// RUN: pdl-opt %s --nn-expand-updates -split-input-file | FileCheck %s

// CHECK: module attributes {nn.phase = "gradient"}
module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
    nn.field @ids : tensor<?x1xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  // The rule of a group still declares slots. Everything else has been
  // expanded.
  // CHECK: nn.rule @heavy
  // CHECK-NOT: nn.rule @unnamed
  // CHECK-NOT: nn.schedule
  nn.rule @heavy hyper(momentum = 0.5, scale = 2.0) slots(velocity = 0.0) once {
  ^bb0(%step: f64, %rate: f64, %momentum: f64, %scale: f64):
    %0 = arith.mulf %rate, %scale : f64
    nn.yield %0, %momentum : f64, f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %momentum: f32):
    %0 = math.fma %momentum, %velocity, %gradient : f32
    %1 = arith.mulf %rate, %0 : f32
    %2 = arith.subf %value, %1 : f32
    nn.yield %2, %0 : f32, f32
  }
  nn.rule @unnamed hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.schedule @inverse hyper(offset = 1.0) {
  ^bb0(%step: f64, %rate: f64, %offset: f64):
    %0 = arith.addf %step, %offset : f64
    %1 = arith.divf %rate, %0 : f64
    nn.yield %1 : f64
  }
  nn.clip @joint : global_norm(3.0)
  nn.group @plain rule(@heavy) rate(0.125)
  nn.group @full rule(@heavy {momentum = 0.75}) rate(0.25) schedule(@inverse {offset = 8}) decay(#nn.l2<0.5>, #nn.l1<0.0625>) clip(@joint)
  nn.group @clipped rule(@heavy) rate(0.375) clip(@joint) untouched(lazy)
  nn.param @a : tensor<2xf32> in @plain init(#nn.zeros)
  nn.param @b : tensor<2xf32> in @full init(#nn.zeros)
  nn.table @t : i64 -> tensor<2xf32> in @clipped init(#nn.zeros)

  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x2xf32>, %ids: tensor<?x1xi64>, %weight: tensor<?x1xf32>):
    %flat = nn.reshape %ids : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
    %a = nn.read @a : tensor<2xf32>
    %b = nn.read @b : tensor<2xf32>
    %rows = nn.pull @t[%keys] : tensor<?x2xf32>
    nn.apply_gradients %weight weight %weight {@a = %a : tensor<2xf32>, @b = %b : tensor<2xf32>, @t[%keys] = %rows : tensor<?x2xf32>} over [@full, @plain, @clipped]
      : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// CHECK-LABEL: nn.program @train
// CHECK: %[[KEYS:.+]], %{{.+}}, %{{.+}}, %{{.+}} = nn.unique
// CHECK: %[[A:.+]] = nn.read @a
// CHECK: %[[B:.+]] = nn.read @b
// CHECK: %[[ROWS:.+]] = nn.pull @t
// CHECK-NEXT: %{{.+}}, %[[WEIGHT:.+]] = nn.loss_sum %{{.+}} weight %{{.+}} :

// One norm for the clip, over both groups that name it.
// CHECK-NEXT: %[[NORM:.+]] = nn.squared_norm {@b = %[[B]] : tensor<2xf32>, @t[%[[KEYS]]] = %[[ROWS]] : tensor<?x2xf32>} weight(%[[WEIGHT]])

// The weight, the clip factor, then the values that the rule yields. The
// learning rate of a schedule follows if the rule does not yield it unchanged.
// CHECK-NEXT: %[[FULL:.+]]:5 = nn.once @full weight(%[[WEIGHT]]) norm(%[[NORM]]) -> (weight, clip_factor, "value 1 of region 'once' of rule @heavy", "hyper-parameter momentum", "rate") {
// CHECK-NEXT: ^bb0(%[[STEP:.+]]: f64, %[[W:.+]]: f64, %[[SQUARED:.+]]: f64):
// CHECK-NEXT: %[[BASE:.+]] = arith.constant 2.500000e-01 : f64
// CHECK-NEXT: %[[OFFSET:.+]] = arith.constant 8.000000e+00 : f64
// CHECK-NEXT: %[[DIVISOR:.+]] = arith.addf %[[STEP]], %[[OFFSET]] : f64
// CHECK-NEXT: %[[RATE:.+]] = arith.divf %[[BASE]], %[[DIVISOR]] : f64
// CHECK-NEXT: %[[LIMIT:.+]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[ROOT:.+]] = math.sqrt %[[SQUARED]] : f64
// CHECK-NEXT: %[[LARGER:.+]] = arith.maximumf %[[ROOT]], %[[LIMIT]] : f64
// CHECK-NEXT: %[[FACTOR:.+]] = arith.divf %[[LIMIT]], %[[LARGER]] : f64
// CHECK-NEXT: %[[MOMENTUM:.+]] = arith.constant 7.500000e-01 : f64
// CHECK-NEXT: %[[SCALE:.+]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[SCALED:.+]] = arith.mulf %[[RATE]], %[[SCALE]] : f64
// CHECK-NEXT: nn.yield %[[W]], %[[FACTOR]], %[[SCALED]], %[[MOMENTUM]], %[[RATE]] : f64, f64, f64, f64, f64
// CHECK-NEXT: } : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>

// CHECK-NEXT: %[[PLAIN:.+]]:3 = nn.once @plain weight(%[[WEIGHT]]) -> (weight, "value 1 of region 'once' of rule @heavy", "hyper-parameter momentum") {
// CHECK: %[[CLIPPED:.+]]:4 = nn.once @clipped weight(%[[WEIGHT]]) norm(%[[NORM]]) -> (weight, clip_factor, "value 1 of region 'once' of rule @heavy", "hyper-parameter momentum") {

// CHECK: nn.update @a gradient(%[[A]]) scalars(%[[PLAIN]]#0, %[[PLAIN]]#1, %[[PLAIN]]#2) {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[VELOCITY:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32, %[[MOMENTUM:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[W]] : f32
// CHECK-NEXT: %[[NEW:.+]] = math.fma %[[MOMENTUM]], %[[VELOCITY]], %[[MEAN]] : f32
// CHECK-NEXT: %[[CHANGE:.+]] = arith.mulf %[[RATE]], %[[NEW]] : f32
// CHECK-NEXT: %[[RESULT:.+]] = arith.subf %[[VALUE]], %[[CHANGE]] : f32
// CHECK-NEXT: nn.yield %[[RESULT]], %[[NEW]] : f32, f32

// The gradient is divided and clipped; then the regularizers follow in order.
// CHECK: nn.update @b gradient(%[[B]]) scalars(%[[FULL]]#0, %[[FULL]]#1, %[[FULL]]#2, %[[FULL]]#3, %[[FULL]]#4) {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[VELOCITY:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32, %[[FACTOR:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32, %[[MOMENTUM:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[W]] : f32
// CHECK-NEXT: %[[SHORT:.+]] = arith.mulf %[[MEAN]], %[[FACTOR]] : f32
// CHECK-NEXT: %[[L2:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[PULL2:.+]] = arith.mulf %[[L2]], %[[VALUE]] : f32
// CHECK-NEXT: %[[G2:.+]] = arith.addf %[[SHORT]], %[[PULL2]] : f32
// CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[POSITIVE:.+]] = arith.cmpf ogt, %[[VALUE]], %[[ZERO]] : f32
// CHECK-NEXT: %[[NEGATIVE:.+]] = arith.cmpf olt, %[[VALUE]], %[[ZERO]] : f32
// CHECK-NEXT: %[[MINUS:.+]] = arith.constant -1.000000e+00 : f32
// CHECK-NEXT: %[[REST:.+]] = arith.select %[[NEGATIVE]], %[[MINUS]], %[[VALUE]] : f32
// CHECK-NEXT: %[[PLUS:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[SIGN:.+]] = arith.select %[[POSITIVE]], %[[PLUS]], %[[REST]] : f32
// CHECK-NEXT: %[[L1:.+]] = arith.constant 6.250000e-02 : f32
// CHECK-NEXT: %[[PULL1:.+]] = arith.mulf %[[L1]], %[[SIGN]] : f32
// CHECK-NEXT: %[[G1:.+]] = arith.addf %[[G2]], %[[PULL1]] : f32
// CHECK-NEXT: math.fma %[[MOMENTUM]], %[[VELOCITY]], %[[G1]] : f32

// CHECK: nn.update @t keys(%[[KEYS]]) gradient(%[[ROWS]]) scalars(%[[CLIPPED]]#0,
// CHECK: } : tensor<?x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: }

// -----

// A clip by value is two ops of each update, between mean and regularizers. It
// has no scalar, and the clip itself is removed.
// CHECK-LABEL: module @elements
// CHECK-NOT: nn.clip
// CHECK: nn.group @g rule(@own) rate(1.000000e-01) decay(#nn.l2<5.000000e-01>){{$}}
// CHECK: nn.once @g weight(%{{.+}}) -> (weight) {
// CHECK: nn.update @a
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[W]] : f32
// CHECK-NEXT: %[[MOST:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[LEAST:.+]] = arith.constant -2.000000e+00 : f32
// CHECK-NEXT: %[[BELOW:.+]] = arith.minimumf %[[MEAN]], %[[MOST]] : f32
// CHECK-NEXT: %[[WITHIN:.+]] = arith.maximumf %[[BELOW]], %[[LEAST]] : f32
// CHECK-NEXT: %[[L2:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[PULL:.+]] = arith.mulf %[[L2]], %[[VALUE]] : f32
// CHECK-NEXT: %[[GRADIENT:.+]] = arith.addf %[[WITHIN]], %[[PULL]] : f32
// CHECK-NEXT: arith.subf %[[VALUE]], %[[GRADIENT]] : f32
module @elements attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.rule @own hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    %0 = arith.subf %value, %gradient : f32
    nn.yield %0 : f32
  }
  nn.clip @within : value(2.0)
  nn.group @g rule(@own) rate(0.1) decay(#nn.l2<0.5>) clip(@within)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

// An undivided rule gets the sum. A clip by value and a regularizer apply to
// means, so the mean is formed first, and then becomes a sum again.
// CHECK-LABEL: module @sums
// CHECK: nn.update @a
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.subf %[[VALUE]], %[[SUM]] : f32
// CHECK: nn.update @b
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[W:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[W]] : f32
// CHECK: %[[WITHIN:.+]] = arith.maximumf
// CHECK: %[[PULLED:.+]] = arith.addf %[[WITHIN]], %{{.+}} : f32
// CHECK-NEXT: %[[AGAIN:.+]] = arith.mulf %[[PULLED]], %[[W]] : f32
// CHECK-NEXT: arith.subf %[[VALUE]], %[[AGAIN]] : f32
module @sums attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.rule @own undivided hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    %0 = arith.subf %value, %gradient : f32
    nn.yield %0 : f32
  }
  nn.clip @within : value(2.0)
  nn.group @plain rule(@own) rate(0.1)
  nn.group @g rule(@own) rate(0.1) decay(#nn.l2<0.5>) clip(@within)
  nn.param @a : tensor<1xf32> in @plain init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>, @b = %b : tensor<1xf32>} over [@plain, @g] : tensor<?x1xf32>
  }
}

// -----

// Scalars have the type of their group, for any type of the losses. The norm is
// f64 in all cases.
// CHECK-LABEL: module @mixed
// CHECK: %[[NORM:.+]] = nn.squared_norm {@a = %{{.+}} : tensor<1xf32>, @b = %{{.+}} : tensor<1xf64>} weight(%{{.+}})
// CHECK: nn.once @narrow {{.*}}norm(%[[NORM]]) -> (weight, clip_factor) {
// CHECK: } : tensor<f32>, tensor<f32>
// CHECK: nn.once @wide {{.*}}norm(%[[NORM]]) -> (weight, clip_factor) {
// CHECK: } : tensor<f64>, tensor<f64>
// CHECK: nn.update @a
// CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK: nn.update @b
// CHECK-NEXT: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f64):
module @mixed attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf64> }
  nn.rule @own hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %gradient : f32
  }
  nn.rule @own_wide hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f64, %gradient: f64):
    nn.yield %gradient : f64
  }
  nn.clip @joint : global_norm(2.0)
  nn.group @narrow rule(@own) rate(0.1) clip(@joint)
  nn.group @wide rule(@own_wide) rate(0.1) clip(@joint)
  nn.param @a : tensor<1xf32> in @narrow init(#nn.zeros)
  nn.param @b : tensor<1xf64> in @wide init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf64>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf64>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>, @b = %b : tensor<1xf64>}
      over [@narrow, @wide] : tensor<?x1xf64>
  }
}
