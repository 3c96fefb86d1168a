// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.softmax (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.softmax"(%x) <{axis = 1 : i64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{normalizes axis 0 of 'tensor<?x4xf32>'; expected a static dimension (C2)}}
  %0 = nn.softmax %x axis 0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{normalizes axis 2 of 'tensor<?x4xf32>'; expected a static dimension (C2)}}
  %0 = nn.softmax %x axis 2 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.log_softmax (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.log_softmax"(%x) <{axis = 1 : i64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{normalizes axis 0 of 'tensor<?x4xf32>'; expected a static dimension (C2)}}
  %0 = nn.log_softmax %x axis 0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{normalizes axis 2 of 'tensor<?x4xf32>'; expected a static dimension (C2)}}
  %0 = nn.log_softmax %x axis 2 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one type of rank 2 or more (C1)}}
  %0 = nn.layer_norm %x : tensor<4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{scales or shifts rows by 'tensor<3xf32>'; expected 'tensor<4xf32>' (C2)}}
  %0 = nn.layer_norm %x scale %g : tensor<?x4xf32>, tensor<3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C3)}}
  %0 = nn.layer_norm %x epsilon 0.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected rank 2 or more (C1)}}
  %0 = nn.l2_normalize %x : tensor<4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C2)}}
  %0 = nn.l2_normalize %x epsilon -1.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{'nn.cosine_similarity' op compares 'tensor<?x4xf32>' and 'tensor<?x3xf32>'; expected one type of rank 2 or more (C1)}}
  %0 = nn.cosine_similarity %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C2)}}
  %0 = nn.cosine_similarity %x, %x epsilon 0.0 : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'nn.factorization' op takes 'tensor<?x4xf32>'; expected [b, fields, width] (C1)}}
  %0 = nn.factorization %x : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1x4xf32>) {
  // expected-error @+1 {{expected [b, fields, width] with two fields at least (C1)}}
  %0 = nn.pairwise_dots %x : tensor<?x1x4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x4x4xf32>) {
  // expected-error @+1 {{crosses 'tensor<?x4x4xf32>'; expected [b, width] (C1)}}
  %0 = nn.cross_layer %x, %x, @w, @b : tensor<?x4x4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{names @w of type 'tensor<4x3xf32>'; expected 'tensor<4x4xf32>' (C2)}}
  %0 = nn.cross_layer %x, %x, @w, @b : tensor<?x4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{names @w of type 'tensor<4x3xf32>'; expected 'tensor<4x1xf32>' (C2)}}
  %0 = nn.cross_layer %x, %x, @w, @b vector : tensor<?x4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%e: tensor<?x2x5xf32>, %r: tensor<?x2x4xf32>) {
  // expected-error @+1 {{expected [b, fields, width], [b, rows, width] and [b, out, width] (C1)}}
  %0 = nn.compressed_interaction %e, %r, @w : (tensor<?x2x5xf32>, tensor<?x2x4xf32>) -> tensor<?x3x5xf32>
  nn.return
}

// -----

nn.param @w : tensor<4x3xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.func private @f(%e: tensor<?x2x5xf32>) {
  // expected-error @+1 {{names @b of type 'tensor<4xf32>'; expected 'tensor<4x3xf32>' (C2)}}
  %0 = nn.compressed_interaction %e, %e, @b : (tensor<?x2x5xf32>, tensor<?x2x5xf32>) -> tensor<?x3x5xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'nn.one_hot' op takes 'tensor<?x4xf32>'; expected one number a sample, [b, 1] (C1)}}
  %0 = nn.one_hot %x classes 8 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{'nn.one_hot' op has 1 classes; expected 2 to 2^24 (C2)}}
  %0 = nn.one_hot %x classes 1 : tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{expected one type [b, classes] (C1)}}
  %0 = nn.softmax_cross_entropy %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // nn.hinge_loss (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.hinge_loss"(%x, %y) : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // nn.bpr_loss (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.bpr_loss"(%x, %y) : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // nn.huber_loss (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.huber_loss"(%x, %y) <{delta = 1.0 : f64}> : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // nn.log_loss (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.log_loss"(%x, %y) <{epsilon = 1.0e-4 : f64}> : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.rank_loss"(%x, %x, %y) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has a delta that is not finite and > 0 in 'f32' (C2)}}
  %0 = nn.huber_loss %x, %x delta 0.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C2)}}
  %0 = nn.log_loss %x, %x epsilon -1.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C2)}}
  %0 = nn.l2_normalize %x epsilon 1.0e-300 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %i: tensor<?x2x1xi64>) {
  // expected-error @+1 {{takes entries of 'tensor<?x4xf32>' at 'tensor<?x2x1xi64>'; expected [b, n] or [b, n, d], n at most 4096, and places [b, k] (C1)}}
  %0 = nn.gather %x at %i : tensor<?x4xf32>, tensor<?x2x1xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2000xf32>) {
  // expected-error @+1 {{sums along the last dimension of 'tensor<?x2000xf32>'; expected rank 2 or more, and a last dimension of at most 1024; nn.scan goes through longer lists, as bags (C1)}}
  %0 = nn.cumulative_sum %x : tensor<?x2000xf32>
  nn.return
}
