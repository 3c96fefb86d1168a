// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.func private @f() {
  // expected-error @+1 {{needs ids to deduplicate (C1)}}
  %k, %i, %s, %o = "nn.unique"() : () -> (tensor<?xi64>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
  nn.return
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{pulls keys that nn.unique did not make (C2)}}
  %0 = nn.pull @t[%k] : tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%ids: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %ids
  // expected-error @+1 {{pulls from @nobody, which is not an nn.table (C1)}}
  %0 = nn.pull @nobody[%k] : tensor<?x2xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%ids: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %ids
  // expected-error @+1 {{pulls 'tensor<?x3xf32>' from @t, whose rows are 'tensor<2xf32>' (C1)}}
  %0 = nn.pull @t[%k] : tensor<?x3xf32>
  nn.return
}

// -----

nn.fingerprint state {} optimizer {} training {}
// expected-error @+1 {{is a second one in this module (C2)}}
nn.fingerprint state {} optimizer {} training {}

// -----

// expected-error @+1 {{has part "rate" with value 1 : i64, which is not a string (C1)}}
nn.fingerprint state {} optimizer {} training {"rate" = 1}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{needs splits exactly for its inputs with bags (C1)}}
  %0 = "nn.pool"(%rows, %i, %i, %i, %ids) <{bagged = array<i1: true>,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>, poolings = [#nn<pooling sum>]}>
    : (tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi64>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{needs inputs, and a pooling for each (C1)}}
  nn.pool %rows[%i, %i, %i] of () : (tensor<?x2xf32>) -> ()
  nn.return
}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{needs one result for each input (C1)}}
  %0 = nn.pool %rows[%i, %i, %i] of (%ids sum, %ids mean) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{unknown 'max'; expected sum, mean or sqrtn}}
  %0 = nn.pool %rows[%i, %i, %i] of (%ids max) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{pools 'tensor<?x2xf32>' to 'tensor<?x3xf32>' (C2)}}
  %0 = nn.pool %rows[%i, %i, %i] of (%ids sum)
    : (tensor<?x2xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{needs cotangents exactly for its inputs that have one (C1)}}
  %0 = "nn.pool_gradient"(%i, %i, %i, %ids) <{bagged = array<i1: false>,
    operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 0>, poolings = [#nn<pooling sum>], present = array<i1: true>}>
    : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi64>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?xi32>, %ids: tensor<?xi64>, %d: tensor<?x3xf32>) {
  // expected-error @+1 {{turns a cotangent 'tensor<?x3xf32>' into rows 'tensor<?x2xf32>' (C2)}}
  %0 = nn.pool_gradient [%i, %i, %i] of (%ids sum from %d) : (tensor<?x3xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

// Ids in another order have other occurrences.
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%a: tensor<?xi64>, %b: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %a, %b
  %rows = nn.pull @t[%k] : tensor<?x2xf32>
  // expected-error @+1 {{needs inverse, key splits, occurrences and ids of one nn.unique, in this order (C3)}}
  %0:2 = nn.pool %rows[%i, %s, %o] of (%b sum, %a sum)
    : (tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  nn.return
}

// -----

// The inverse belongs to one list, the occurrences to another.
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%a: tensor<?xi64>, %d: tensor<?x2xf32>) {
  %k, %i, %s, %o = nn.unique %a
  %k1, %i1, %s1, %o1 = nn.unique %a
  // expected-error @+1 {{needs inverse, key splits, occurrences and ids of one nn.unique, in this order (C3)}}
  %0 = nn.pool_gradient [%i, %s1, %o1] of (%a sum from %d)
    : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

// Rows of other ids.
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%a: tensor<?xi64>, %b: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %a
  %k1, %i1, %s1, %o1 = nn.unique %b
  // expected-note @+1 {{they are pulled here}}
  %rows = nn.pull @t[%k1] : tensor<?x2xf32>
  // expected-error @+1 {{pools rows of other keys than those of its nn.unique (C3)}}
  %0 = nn.pool %rows[%i, %s, %o] of (%a sum) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%l: tensor<?x2xf32>) {
  // expected-error @+1 {{needs losses, and weights of the same type, of shape [b, 1] (C1)}}
  %0, %1 = nn.loss_sum %l : tensor<?x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{yields something else than the weight as scalar `weight` (C4)}}
  %0 = nn.once @g weight(%w) -> (weight) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %step : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{needs one scalar `weight` (C4)}}
  %0 = nn.once @g weight(%w) -> ("rate") {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{needs one scalar `clip_factor` exactly if it has a `norm` (C4)}}
  %0 = nn.once @g weight(%w) norm(%w) -> (weight) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1) rate_over(pushers)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{takes the number of workers exactly if the rate of @g is divided by it (C2)}}
  %0 = nn.once @g weight(%w) -> (weight) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{takes the number of workers exactly if the rate of @g is divided by it (C2)}}
  %0 = nn.once @g weight(%w) -> (weight) {
  ^bb0(%step: f64, %weight: f64, %norm: f64, %pushers: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{yields 1 values for 1 scalars of 2 names, all f64 (C2)}}
  %0 = nn.once @g weight(%w) -> (weight, "rate") {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{unknown 'rate'; expected weight, clip_factor, or a name in quotes}}
  %0 = nn.once @g weight(%w) -> (weight, rate) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{a scalar of the rule, and no other, has a name}}
  %0 = "nn.once"(%w) <{group = @g, names = [#nn.scalar<weight, "w">]}> ({
  }) : (tensor<f64>) -> tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  // expected-error @+1 {{needs `norm` exactly if @g has a clip (C1)}}
  %0:2 = nn.once @g weight(%w) norm(%w) -> (weight, clip_factor) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    nn.yield %weight, %norm : f64, f64
  } : tensor<f32>, tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<3xf32>) {
  // expected-error @+1 {{updates @p with 'tensor<3xf32>'; expected 'tensor<2xf32>' (C2)}}
  nn.update @p gradient(%g) scalars() {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %sum : f32
  } : tensor<3xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>) {
  // expected-error @+1 {{yields 2 values; expected the new value and 0 slots, all 'f32' (C3)}}
  nn.update @p gradient(%g) scalars() {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %sum, %sum : f32, f32
  } : tensor<2xf32>
  nn.return
}

// -----

nn.param @p : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>) {
  // expected-error @+1 {{updates @p, which is in no group (C1)}}
  nn.update @p gradient(%g) scalars() {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %sum : f32
  } : tensor<2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%l: tensor<?x1xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{needs as many symbols as gradients (C1)}}
  "nn.apply_gradients"(%l, %g, %g) <{groups = [@g], keyed = array<i1: false>,
    operandSegmentSizes = array<i32: 1, 0, 2, 0>, symbols = [@p]}>
    : (tensor<?x1xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%l: tensor<?x1xf32>, %g: tensor<2xf32>, %k: tensor<?xi64>) {
  // expected-error @+1 {{has keys of rows of @p, which is not an nn.table (C1)}}
  nn.apply_gradients %l {@p[%k] = %g : tensor<2xf32>} over [@g] : tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{lists a post-op twice (C2)}}
  %0 = nn.gemm %x, %w post [relu, relu] : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.state @s : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>, %w: tensor<f64>) {
  // expected-error @+1 {{names @s, which is neither nn.param nor nn.table (C1)}}
  %0 = nn.squared_norm {@s = %g : tensor<2xf32>} weight(%w)
  nn.return
}

// -----

nn.func private @f(%g: tensor<2xf32>, %w: tensor<f64>) {
  // expected-error @+1 {{names @nobody, which is neither nn.param nor nn.table (C1)}}
  %0 = nn.squared_norm {@nobody = %g : tensor<2xf32>} weight(%w)
  nn.return
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%g: tensor<?x2xf32>, %w: tensor<f64>) {
  // expected-error @+1 {{needs the keys of the rows of @t that its gradient is of (C1)}}
  %0 = nn.squared_norm {@t = %g : tensor<?x2xf32>} weight(%w)
  nn.return
}

// -----

nn.param @p : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>, %w: tensor<f64>, %k: tensor<?xi64>) {
  // expected-error @+1 {{has keys of rows of @p, which is not an nn.table (C1)}}
  %0 = nn.squared_norm {@p[%k] = %g : tensor<2xf32>} weight(%w)
  nn.return
}

// -----

nn.param @p : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>, %w: tensor<f64>) {
  // expected-error @+1 {{needs keys exactly for its symbols that have some (C1)}}
  %0 = "nn.squared_norm"(%g, %w) <{keyed = array<i1: true>, operandSegmentSizes = array<i32: 1, 0, 1>,
    symbols = [@p]}> : (tensor<2xf32>, tensor<f64>) -> tensor<f64>
  nn.return
}

// -----

nn.func private @f(%a: tensor<?xi64>, %s: tensor<?xi32>) {
  // expected-error @+1 {{needs bags to cross, each of ids and splits (C1)}}
  %ids, %splits = nn.cross_bags () salt(1)
  nn.return
}

// -----

nn.func private @f(%a: tensor<?x2xi64>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = "nn.single_bags"(%a) : (tensor<?x2xi64>) -> tensor<?xi32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %w: tensor<3x2xf32>) {
  // expected-error @+1 {{cannot multiply 'tensor<?x4xf32>' by 'tensor<3x2xf32>' to 'tensor<?x2xf32>' (C1)}}
  %0 = nn.gemm %x, %w post [relu] : (tensor<?x4xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?xi32>, %ids: tensor<?xi64>) {
  // expected-error @+1 {{gives 'tensor<2x2xf32>'; expected one row of a known width for each key, whose number is not known (C2)}}
  %0 = nn.pool_gradient [%i, %i, %i] of (%ids sum)
    : () -> tensor<2x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%w: tensor<f64>) {
  %0 = nn.once @g weight(%w) -> (weight) {
  ^bb0(%step: f64, %weight: f64, %norm: f64):
    // nn.once (C3)
    // expected-error @+1 {{has no settled scalar numerics; it may not stand in region 'body' of nn.once}}
    %s = math.sin %step : f64
    nn.yield %weight : f64
  } : tensor<f32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>) {
  nn.update @p gradient(%g) scalars() {
  ^bb0(%value: f32, %sum: f32):
    // nn.update (C4)
    // expected-error @+1 {{has no settled scalar numerics; it may not stand in region 'each' of nn.update}}
    %s = math.sin %value : f32
    nn.yield %sum : f32
  } : tensor<2xf32>
  nn.return
}

// -----

nn.func private @f(%rows: tensor<?x2xf32>, %ids: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %ids
  %0 = nn.pool %rows[%i, %s, %o] of (%ids sum) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @+1 {{counts rows of @nobody, which is not an nn.table (C1)}}
  nn.count_pooled @nobody of %0 by %0 : tensor<?x2xf32>, tensor<?x2xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.func private @f(%rows: tensor<?x2xf32>, %ids: tensor<?xi64>) {
  %k, %i, %s, %o = nn.unique %ids
  %0 = nn.pool %rows[%i, %s, %o] of (%ids sum) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @+1 {{counts rows of bags that are pooled as 'tensor<?x2xf32>'; those of @t are 'tensor<?x3xf32>' (C2)}}
  nn.count_pooled @t of %0 by %0 : tensor<?x2xf32>, tensor<?x2xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%rows: tensor<?x2xf32>, %values: tensor<?x2xf64>) {
  // expected-error @+1 {{expected [bags, counts] of one type (C2)}}
  nn.count_pooled @t of %rows by %values : tensor<?x2xf32>, tensor<?x2xf64>
  nn.return
}
