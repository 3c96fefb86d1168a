// Initializers that depend on the shape have the values of the distribution
// that they define: for a weight [24, 8], and for a row of 8, which counts as
// [1, 8].
// DEFINE: %{init} =
// DEFINE: %{data} = %t.data
// DEFINE: %{of} = sed 's/init(INIT)/init(%{init})/' %s | pdl-opt --nn-interpret="program=predict data=%{data} outputs=-" -o /dev/null
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.data x F32 1,24 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24 i I64 1,1 7

// REDEFINE: %{init} = #nn.msra_uniform<fan_in>
// RUN: %{of} > %t.msra_uniform
// REDEFINE: %{init} = #nn.uniform<-0.5, 0.5>
// RUN: %{of} | cut -f 1-8 > %t.uniform
// RUN: cut -f 1-8 %t.msra_uniform | cmp - %t.uniform

// REDEFINE: %{init} = #nn.msra_normal<fan_out>
// RUN: %{of} > %t.msra_normal
// REDEFINE: %{init} = #nn.normal<0.0, 0.5>
// RUN: %{of} | cmp - %t.msra_normal
// RUN: not cmp %t.msra_normal %t.msra_uniform

// REDEFINE: %{init} = #nn.xavier_normal
// RUN: %{of} | cut -f 1-8 > %t.xavier_normal
// REDEFINE: %{init} = #nn.normal<0.0, 0.25>
// RUN: %{of} | cut -f 1-8 | cmp - %t.xavier_normal

// A distribution without width is not truncated. Otherwise both of its sides
// are.
// REDEFINE: %{init} = #nn.truncated_normal<0.5, 0.0>
// RUN: %{of} > %t.truncated_normal
// REDEFINE: %{init} = #nn.constant<0.5>
// RUN: %{of} | cmp - %t.truncated_normal
// REDEFINE: %{init} = #nn.truncated_normal<0.0, 0.5>
// RUN: %{of} > %t.truncated_normal
// REDEFINE: %{init} = #nn.normal<0.0, 0.5>
// RUN: %{of} | not cmp - %t.truncated_normal

// REDEFINE: %{init} = #nn.xavier
// RUN: %{of} | cut -f 1-8 > %t.xavier
// REDEFINE: %{init} = #nn.msra_uniform<fan_in>
// RUN: %{of} | cut -f 1-8 | not cmp - %t.xavier
module @initial {
  nn.record @sample {
    nn.field @x : tensor<?x24xf32>
    nn.field @i : tensor<?x1xi64>
  }
  nn.param @w : tensor<24x8xf32> init(INIT)
  nn.table @t : i64 -> tensor<8xf32> init(INIT)
  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x24xf32>, %i: tensor<?x1xi64>):
    %y = nn.linear %x, @w : (tensor<?x24xf32>) -> tensor<?x8xf32>
    %r = nn.lookup @t[%i] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    nn.return %y, %r : tensor<?x8xf32>, tensor<?x1x8xf32>
  }
}
