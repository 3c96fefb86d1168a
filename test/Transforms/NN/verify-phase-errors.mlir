// RUN: pdl-opt %s --pdl-pipeline="to=merged" -split-input-file -verify-diagnostics

// expected-error @+1 {{holds no nn.program: there is nothing to train, evaluate or predict}}
module {
  nn.metric @auc : #nn.auc<buckets = 16>
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-error @+1 {{reduces over the samples of a batch, which replicas could not do alike (C3)}}
    %0 = nn.reduce sum %x axes [0] : tensor<?x2xf32>
    %1 = nn.add %x, %0 : tensor<?x2xf32>, tensor<2xf32>
    nn.return %1 : tensor<?x2xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : tensor<?x1xi64>
  }
  nn.table @t : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: tensor<?x1xi64>):
    // expected-note @+1 {{the ids depend on this}}
    %0 = nn.lookup @t[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %1 = nn.flatten %0 from 1 : tensor<?x1x1xf32>
    %2 = nn.bucketize %1 boundaries [0.0] : tensor<?x1xf32>
    // expected-error @+1 {{looks up ids that depend on values of the model; they derive from fields and constants alone, so that they are known before a step begins (C3)}}
    %3 = nn.lookup @t[%2] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    nn.return %3 : tensor<?x1x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.param @w : tensor<2x2xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    %w = nn.read @w : tensor<2x2xf32>
    // expected-error @+1 {{may not stand in phase model: nn-fuse-gemm makes it}}
    %0 = nn.gemm %x, %w post [relu] : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}

// -----

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  // expected-error @+1 {{moves elements between samples: 'tensor<?x4xf32>' has not as many in one as 'tensor<?x2xf32>' (C2)}}
  %0 = nn.reshape %x : (tensor<?x4xf32>) -> tensor<?x2xf32>
  nn.return %0 : tensor<?x2xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  // expected-error @+1 {{adds products over the samples of a batch, which replicas could not do alike}}
  %0 = nn.matmul %x transposed, %x : tensor<?x4xf32>, tensor<?x4xf32>
  %1 = nn.matmul %x, %0 : tensor<?x4xf32>, tensor<4x4xf32>
  nn.return %1 : tensor<?x4xf32>
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-error @+1 {{is not of dialect nn, of which a model consists}}
  llvm.func @main() -> i32
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-error @+1 {{is not of dialect nn, of which a model consists}}
  module @inner {
  }
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-error @+1 {{stands outside of an nn.program and an nn.func}}
  %0 = nn.constant dense<1.0> : tensor<f32>
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-error @+1 {{needs a name without control characters}}
  nn.metric @"a\00b" : #nn.copc
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    // expected-error @+1 {{is not of dialect nn, of which a model consists}}
    %0 = arith.constant dense<1.0> : tensor<1xf32>
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

// Rejected in mode local too, where it would work, because a model is valid or
// invalid for all modes.
module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.state @mean : tensor<1xf32> init(#nn.zeros)
  nn.table @t : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    // expected-note @+1 {{the ids depend on this}}
    %mean = nn.read @mean : tensor<1xf32>
    %0 = nn.sub %x, %mean : tensor<?x1xf32>, tensor<1xf32>
    %1 = nn.bucketize %0 boundaries [0.0] : tensor<?x1xf32>
    // expected-error @+1 {{looks up ids that depend on values of the model}}
    %2 = nn.lookup @t[%1] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    nn.return %2 : tensor<?x1x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @pdl_x : tensor<?x1xf32>
  }
  // expected-error @+1 {{has a name that starts with 'pdlrt_', as those of the runtime do; give it another one}}
  nn.param @pdlrt_gemm : tensor<1x1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @pdlrt_gemm : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}

// -----

// Dumps are safetensors files, whose header is JSON: a training must not end in a
// file that cannot be written.
module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
  nn.param @"\FF" : tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
  nn.table @"a\C3" : i64 -> tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
  nn.state @"\80" : tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
  nn.group @"\ED\A0\80" rule(@sgd) rate(0.1)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has name '__metadata__', which safetensors files reserve; give it another one}}
  nn.param @__metadata__ : tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has name '__metadata__', which safetensors files reserve; give it another one}}
  nn.state @__metadata__ : tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // expected-warning @+2 {{nothing reads}}
  // expected-error @+1 {{has name '__metadata__', which safetensors files reserve; give it another one}}
  nn.table @__metadata__ : i64 -> tensor<1xf32> init(#nn.zeros)
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    // expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
    nn.field @"\FF" : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @"\FF") {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    // expected-error @+1 {{has name '__metadata__', which safetensors files reserve; give it another one}}
    nn.field @__metadata__ : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @__metadata__) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

// expected-error @+1 {{has a name that is not UTF-8, which files cannot hold; give it another one}}
module @"\FF" {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

// expected-error @+1 {{needs a name without control characters}}
module @"a\0Ab" {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

// Names with letters outside of ASCII are valid. Only tensors reserve
// `__metadata__`.
module @"größe" {
  nn.record @r {
    nn.field @"größe" : tensor<?x1xf32>
  }
  nn.metric @__metadata__ : #nn.mean
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.observe @__metadata__(%x) : tensor<?x1xf32>
    nn.return %x : tensor<?x1xf32>
  }
}
