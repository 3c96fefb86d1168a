// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.group @h rule(@moving_average) rate(0.1)
nn.param @s : tensor<3xf32> in @h init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{accumulates into @s of type 'tensor<3xf32>'; expected 'tensor<2xf32>' (C1)}}
  nn.accumulate @s(%x) : tensor<?x2xf32>
  nn.return %x : tensor<?x2xf32>
}

// -----

nn.param @s : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{accumulates into @s, which is not an nn.param of a group; the group's rule says what becomes of the sums, such as rule(@moving_average) (C1)}}
  nn.accumulate @s(%x) : tensor<?x2xf32>
  nn.return %x : tensor<?x2xf32>
}

// -----

nn.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{adds 'tensor<2xf32>' to a state; expected values of samples, [b, d, ...] with b the batch (C1)}}
  nn.accumulate @s(%x) : tensor<2xf32>
  nn.return %x : tensor<2xf32>
}

// -----

nn.group @h rule(@moving_average) rate(0.1)
nn.param @s : tensor<2xf32> in @h init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{has weights of type 'tensor<?x2xf32>'; expected [b, 1] of 'f32', with b the batch (C2)}}
  nn.accumulate @s(%x) weight %x : tensor<?x2xf32>, tensor<?x2xf32>
  nn.return %x : tensor<?x2xf32>
}

// -----

nn.record @r { nn.field @x : tensor<?x2xf32> }
nn.group @h rule(@moving_average) rate(0.1)
nn.param @s : tensor<2xf32> in @h init(#nn.zeros)
nn.program @p reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // expected-error @+1 {{stands in program @p, which has no nn.minimize: only what trains changes state (C4)}}
  nn.accumulate @s(%x) : tensor<?x2xf32>
}

// -----

nn.record @r { nn.field @x : tensor<?x2xf32> }
nn.group @h rule(@moving_average) rate(0.1)
nn.param @s : tensor<2xf32> in @h init(#nn.zeros)
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // expected-error @+1 {{stands in frozen program @p, which only reads (C3)}}
  nn.accumulate @s(%x) : tensor<?x2xf32>
}

// -----

nn.func private @f(%x: tensor<4x2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'nn.batch_sum' op sums up 'tensor<4x2xf32>'; expected [b, d, ...] with b the batch (C1)}}
  %0 = nn.batch_sum %x : tensor<4x2xf32>
  nn.return %0 : tensor<2xf32>
}

// -----

nn.func private @f(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{normalizes 'tensor<4x2xf32>'; expected [b, ..., n] with b the batch (C1)}}
  %0 = nn.batch_norm %x mean @s variance @s : tensor<4x2xf32>
  nn.return %0 : tensor<4x2xf32>
}

// -----

nn.group @h rule(@moving_average) rate(0.1)
nn.param @s : tensor<2xf32> in @h init(#nn.zeros)
nn.param @t : tensor<3xf32> in @h init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{accumulates into @t of type 'tensor<3xf32>'; expected 'tensor<2xf32>' (C2)}}
  %0 = nn.batch_norm %x mean @s variance @t : tensor<?x2xf32>
  nn.return %0 : tensor<?x2xf32>
}

// -----

nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C3)}}
  %0 = nn.batch_norm %x mean @s variance @s epsilon 0.0 : tensor<?x2xf32>
  nn.return %0 : tensor<?x2xf32>
}

// -----

nn.func private @f(%x: tensor<?x4x2xf32>) -> tensor<?x4x2xf32> {
  // expected-error @+1 {{normalizes 'tensor<?x4x2xf32>'; expected [b, n] with b the batch (C1)}}
  %0 = nn.data_norm %x size @s sum @s square_sum @s : tensor<?x4x2xf32>
  nn.return %0 : tensor<?x4x2xf32>
}

// -----

nn.param @s : tensor<2xf32> init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{accumulates into @s, which is not an nn.param of a group; the group's rule says what becomes of the sums, such as rule(@moving_average) (C2)}}
  %0 = nn.data_norm %x size @s sum @s square_sum @s : tensor<?x2xf32>
  nn.return %0 : tensor<?x2xf32>
}

// -----

nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{has an epsilon that is not finite and > 0 in 'f32' (C3)}}
  %0 = nn.data_norm %x size @s sum @s square_sum @s epsilon -1.0 : tensor<?x2xf32>
  nn.return %0 : tensor<?x2xf32>
}
