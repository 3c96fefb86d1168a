// RUN: pdl-opt %s --nn-lower-model -split-input-file -verify-diagnostics

// There is a warning if a prediction depends on the other samples of its batch.

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.func private @centered(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-note @+1 {{samples are mixed here}}
  %sum = nn.batch_sum %x : tensor<?x4xf32>
  %centered = nn.sub %x, %sum : tensor<?x4xf32>, tensor<4xf32>
  nn.return %centered : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %centered = nn.call @centered(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = nn.tanh %centered : tensor<?x4xf32>
  // expected-warning @+1 {{outputs of frozen program @predict depend on the other samples of the batch, so that a prediction is another one in another batch; return what is computed before samples are mixed, or observe it with a metric}}
  nn.return %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  // expected-note @+1 {{samples are mixed here}}
  %l = nn.in_batch_softmax %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  // expected-warning @+1 {{depend on the other samples of the batch}}
  nn.return %l : tensor<?x1xf32>
}

// -----

// A metric may depend on them, and so may a training program.

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.metric @loss : #nn.mean
nn.program @evaluate frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %l = nn.in_batch_softmax %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  nn.observe @loss(%l) : tensor<?x1xf32>
  nn.return
}
nn.program @shown reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %l = nn.in_batch_softmax %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %l : tensor<?x1xf32>
}
