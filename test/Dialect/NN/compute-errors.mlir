// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.add %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf64>) {
  // expected-error @+1 {{mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  %0 = nn.mul %x, %y : tensor<?x4xf32>, tensor<?x4xf64>
  nn.return
}

// -----

// Only the batch may be dynamic.
nn.func private @f(%x: tensor<?x?xf32>) {
  // expected-error @+1 {{dimension 1 of 'tensor<?x?xf32>' is dynamic, but only the first dimension may be}}
  %0 = nn.relu %x : tensor<?x?xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has 1 means and 4 deviations for 4 columns (C1)}}
  %0 = nn.standardize %x mean [0.0] deviation [1.0, 1.0, 1.0, 1.0] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{has a deviation that is not finite and > 0 in 'f32' (C1)}}
  %0 = nn.standardize %x mean [0.0] deviation [0.0] : tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{has a deviation that is not finite and > 0 in 'f32' (C1)}}
  %0 = nn.standardize %x mean [0.0] deviation [1.0e-60] : tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{joins along axis 0 of 'tensor<?x4xf32>'; expected 0 < axis < rank (C1)}}
  %0 = nn.concat %x, %x axis 0 : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x2x2xf32>) {
  // expected-error @+1 {{cannot join 'tensor<?x2x2xf32>' to 'tensor<?x4xf32>' along axis 1 (C2)}}
  %0 = nn.concat %x, %y axis 1 : tensor<?x4xf32>, tensor<?x2x2xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{cuts [3, 3 + 2) out of 4 (C2)}}
  %0 = nn.slice %x axis 1 offset 3 size 2 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{cannot reshape 'tensor<?x4xf32>' to 'tensor<?x3xf32>' (C2)}}
  %0 = nn.reshape %x : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{joins the dimensions of 'tensor<?x4xf32>' from 2 on; expected 0 < from < rank (C1)}}
  %0 = nn.flatten %x from 2 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{needs `like` to know its first dimension (C2)}}
  %0 = nn.broadcast %x : (tensor<4xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{reduces axes [2] of 'tensor<?x4xf32>'; expected distinct, ascending axes within the rank (C1)}}
  %0 = nn.reduce sum %x axes [2] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{needs boundaries that are finite and strictly ascending in 'f32' (C1)}}
  %0 = nn.bucketize %x boundaries [2.0, 1.0] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{needs boundaries that are finite and strictly ascending in 'f32' (C1)}}
  %0 = nn.bucketize %x boundaries [1.0, 1.00000000001] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%a: tensor<?x4xi64>, %b: tensor<?x3xi64>) {
  // expected-error @+1 {{crosses operands of different shapes; expected [b, s] alike (C1)}}
  %0 = nn.cross %a, %b : tensor<?x4xi64>, tensor<?x3xi64>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f(%a: tensor<?x2xi64>) {
  // expected-error @+1 {{gives 'tensor<?x2x5xf32>', but a row of @t is 'tensor<4xf32>' (C2)}}
  %0 = nn.lookup @t[%a] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x5xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x5xf32>) {
  // expected-error @+1 {{with @w of type 'tensor<4x3xf32>'; expected 'tensor<5x3xf32>' (C1)}}
  %0 = nn.linear %x, @w : (tensor<?x5xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.param @w : tensor<5x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x5xf32>) {
  // expected-error @+1 {{adds bias @b of type 'tensor<4xf32>'; expected 'tensor<3xf32>' (C1)}}
  %0 = nn.linear %x, @w, @b : (tensor<?x5xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.metric @auc : #nn.auc<buckets = 16>
nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{expected one prediction a sample, [b, 1] with b the batch (C2)}}
  nn.observe @auc(%x, %x) : tensor<?x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // nn.minimize (C1)
  // expected-error @+1 {{needs per-sample losses, and weights of the same type, of shape [b, 1]}}
  nn.minimize %x over @g : tensor<?x2xf32>
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{names group @g twice (C2)}}
  nn.minimize %x over [@g, @g] : tensor<?x1xf32>
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{cannot multiply 'tensor<?x4xf32>' by 'tensor<?x4xf32>' (C1)}}
  %0 = nn.matmul %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{needs `bias` and `mask` exactly if bias and relu_gradient are listed (C2)}}
  %0 = nn.gemm %x, %w post [bias] : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

// 2^64 elements, counted in 64 bits, would count as none.
nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{has more than 1099511627776 elements}}
  %0 = nn.reshape %x : (tensor<?x2xf32>) -> tensor<?x4294967296x4294967296xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{cannot pad axis 1 of 'tensor<?x2xf32>' (C1)}}
  %0 = nn.pad %x axis 1 low 9223372036854775807 high 9 : tensor<?x2xf32>
  nn.return
}

// -----

// Inferred types are not repeated.
nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{gives 'tensor<?x4xf32>', not 'tensor<?x5xf32>'}}
  %0 = "nn.concat"(%x, %x) <{axis = 1 : i64}> : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{standardizes 'tensor<?xf32>', whose columns are not a static dimension (C1)}}
  %0 = nn.standardize %x mean [0.0] deviation [1.0] : tensor<?xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<f32>) {
  // expected-error @+1 {{standardizes 'tensor<f32>', which has no columns (C1)}}
  %0 = nn.standardize %x mean [0.0] deviation [1.0] : tensor<f32>
  nn.return
}

// -----

nn.metric @auc : #nn.auc<buckets = 16>
nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{feeds @auc no labels; write (%predictions, %labels) (C3)}}
  nn.observe @auc(%x) : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @mean : #nn.mean
nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{feeds @mean labels; it takes one value a sample (C3)}}
  nn.observe @mean(%x, %x) : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @auc : #nn.auc<buckets = 16>
nn.func private @f(%p: tensor<?x1xf32>, %y: tensor<?x2xf32>) {
  // expected-error @+1 {{has labels of type 'tensor<?x2xf32>'; expected that of the predictions, 'tensor<?x1xf32>' (C3)}}
  nn.observe @auc(%p, %y) : tensor<?x1xf32>, tensor<?x2xf32>
  nn.return
}

// -----

// A list with one item has only one order.
nn.metric @mrr : #nn.mrr
nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{observes 'tensor<?x1xf32>'; expected the scores of a list of items for each sample, [b, n] with b the batch and n > 1 (C2)}}
  nn.observe @mrr(%x, %x) : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @mrr : #nn.mrr
nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{feeds @mrr no labels; write (%predictions, %labels) (C3)}}
  nn.observe @mrr(%x) : tensor<?x4xf32>
  nn.return
}

// -----

nn.metric @mrr : #nn.mrr
nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x2xf32>) {
  // expected-error @+1 {{has labels of type 'tensor<?x2xf32>'; expected the relevance of each item, 'tensor<?x4xf32>', or the position of the relevant one, [b, 1] of the same element type (C3)}}
  nn.observe @mrr(%x, %y) : tensor<?x4xf32>, tensor<?x2xf32>
  nn.return
}

// -----

nn.metric @mrr : #nn.mrr
nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x1xf64>) {
  // expected-error @+1 {{mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  nn.observe @mrr(%x, %y) : tensor<?x4xf32>, tensor<?x1xf64>
  nn.return
}

// -----

// Only the generic form can express this.
nn.metric @mrr : #nn.mrr
nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has weights of type 'tensor<?x4xf32>'; expected one of 'f32' a sample, [b, 1] with b the batch (C4)}}
  "nn.observe"(%x, %x, %x) <{metric = @mrr, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> ()
  nn.return
}

// -----

// A single value is not a batch of samples.
nn.metric @auc : #nn.auc<buckets = 16>
nn.func private @f(%x: tensor<1x1xf32>) {
  // expected-error @+1 {{expected one prediction a sample, [b, 1] with b the batch (C2)}}
  nn.observe @auc(%x, %x) : tensor<1x1xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<1x1xf32> in @g init(#nn.zeros)
nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %p = nn.read @p : tensor<1x1xf32>
  // nn.minimize (C1)
  // expected-error @+1 {{of shape [b, 1] with b the batch}}
  nn.minimize %p over [@g] : tensor<1x1xf32>
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f(%a: tensor<3x2xi64>) {
  // expected-error @+1 {{looks up 'tensor<3x2xi64>' and gives 'tensor<3x2x4xf32>'; ids [b, s], with b the batch, give [b, s, width] (C2)}}
  %0 = nn.lookup @t[%a] pool(sum) : (tensor<3x2xi64>) -> tensor<3x2x4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.linear (C2)
  // expected-error @+1 {{has activation 'standardize'; expected none, abs, cos, erf, exp}}
  %0 = nn.linear %x, @w act(standardize) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{has type 'tensor<274877906944xf32>', of more than 16777216 elements; a tensor of this size is an nn.state (C2)}}
  %c = nn.constant dense<0.5> : tensor<274877906944xf32>
}

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{has 'exact' that is not its value in f64 (C3)}}
  %c = "nn.constant"() {value = dense<0.1> : tensor<2xf32>, exact = dense<0.2> : tensor<2xf64>} : () -> tensor<2xf32>
}

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{has 'exact' that is not its value in f64 (C3)}}
  %c = "nn.constant"() {value = dense<0.1> : tensor<2xf32>, exact = dense<0.1> : tensor<3xf64>} : () -> tensor<2xf32>
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<3xf32>' to 'tensor<?x4xf32>' (C1)}}
  %0 = nn.broadcast %y like %x : (tensor<3xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f() {
  // nn.constant (C1)
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "nn.constant"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<2xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2xi64>) {
  // expected-error @+1 {{is not an nn.table (C1)}}
  %0 = nn.lookup @nobody[%x] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x5xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{feeds @nobody, which is not an nn.metric (C1)}}
  nn.observe @nobody(%x, %x) : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @gauc : #nn.grouped_auc
nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{feeds @gauc no groups; it takes one id a sample, such as that of a user: write `group %user` (C5)}}
  nn.observe @gauc(%x, %x) : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @auc : #nn.auc<buckets = 16>
nn.func private @f(%x: tensor<?x1xf32>, %u: tensor<?x1xi64>) {
  // expected-error @+1 {{feeds @auc groups, and it takes none; leave `group` out, or make it an #nn.grouped_auc (C5)}}
  nn.observe @auc(%x, %x) group %u : tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @gauc : #nn.grouped_auc
nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{has groups of type 'tensor<?x1xf32>'; expected one id of i64 a sample, [b, 1] with b the batch (C5)}}
  "nn.observe"(%x, %x, %x) <{metric = @gauc, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> ()
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.reduce (C2)
  // expected-error @+1 {{gives 'tensor<?x1xf32>', not 'tensor<?xf32>'}}
  %0 = "nn.reduce"(%x) <{axes = array<i64: 1>, keep, kind = #nn<reduction sum>}> : (tensor<?x4xf32>) -> tensor<?xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{changes the element type (C1)}}
  %0 = nn.reshape %x : (tensor<?x4xf32>) -> tensor<?x2x2xf64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{cuts axis 0 of 'tensor<?x4xf32>'; expected a static dimension (C1)}}
  %0 = nn.slice %x axis 0 offset 0 size 1 : tensor<?x4xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f() {
  // expected-error @+1 {{reads @t, which is neither nn.param nor nn.state (C1)}}
  %0 = nn.read @t : tensor<4xf32>
  nn.return
}

// -----

nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.func private @f() {
  // expected-error @+1 {{reads @w of type 'tensor<4xf32>' as 'tensor<3xf32>' (C1)}}
  %0 = nn.read @w : tensor<3xf32>
  nn.return
}

// -----

// Types are inferred only from tensors, and only types that a program may have.
nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{'nn.add' op operand #0 must be a tensor, but got '!nn.ragged<?x2x*xi64>'}}
  %0 = nn.add %c, %c : !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x?x3xf32>) {
  // expected-error @+1 {{'nn.flatten' op dimension 1 of 'tensor<?x?x3xf32>' is dynamic, but only the first dimension may be}}
  %0 = nn.flatten %x from 1 : tensor<?x?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: i32, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{'nn.segment_repeat' op operand #0 must be a tensor, but got 'i32'}}
  %0 = nn.segment_repeat %x over %c : i32, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{op operand #0 must be}}
  %0 = nn.segment_window %c of %c from 0 to 1 : !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%c: tensor<?x4xi64>) -> tensor<?x4xi64> {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit or 64-bit float values, but got 'tensor<?x4xi64>'}}
  %0 = nn.bucketize %c boundaries [1.0, 2.0] : tensor<?x4xi64>
  nn.return %0 : tensor<?x4xi64>
}
