// RUN: pdl-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: nn.func private @reshapes
// CHECK-NEXT: %[[R:.*]] = nn.reshape %arg0 : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
// CHECK-NEXT: nn.return %[[R]], %arg0
nn.func private @reshapes(%x: tensor<?x6xf32>) -> (tensor<?x3x2xf32>, tensor<?x6xf32>) {
  %0 = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  %1 = nn.reshape %0 : (tensor<?x2x3xf32>) -> tensor<?x3x2xf32>
  %2 = nn.reshape %1 : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
  nn.return %1, %2 : tensor<?x3x2xf32>, tensor<?x6xf32>
}

// -----

// CHECK-LABEL: nn.func private @flattens
// CHECK-NEXT: %[[F:.*]] = nn.flatten %arg0 from 1 : tensor<?x2x3x4xf32>
// CHECK-NEXT: nn.return %[[F]]
nn.func private @flattens(%x: tensor<?x2x3x4xf32>) -> tensor<?x24xf32> {
  %0 = nn.flatten %x from 2 : tensor<?x2x3x4xf32>
  %1 = nn.flatten %0 from 2 : tensor<?x2x12xf32>
  %2 = nn.flatten %1 from 1 : tensor<?x2x12xf32>
  nn.return %2 : tensor<?x24xf32>
}

// -----

// CHECK-LABEL: nn.func private @slices
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg0 axis 1 offset 3 size 2 : tensor<?x8xf32>
// CHECK-NEXT: nn.return %[[S]], %arg0
nn.func private @slices(%x: tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x8xf32>) {
  %0 = nn.slice %x axis 1 offset 2 size 5 : tensor<?x8xf32>
  %1 = nn.slice %0 axis 1 offset 1 size 2 : tensor<?x5xf32>
  %2 = nn.slice %x axis 1 offset 0 size 8 : tensor<?x8xf32>
  nn.return %1, %2 : tensor<?x2xf32>, tensor<?x8xf32>
}

// -----

// Along another axis, nothing becomes shorter.
// CHECK-LABEL: nn.func private @axes
// CHECK-COUNT-2: nn.slice
nn.func private @axes(%x: tensor<?x4x4xf32>) -> tensor<?x2x2xf32> {
  %0 = nn.slice %x axis 1 offset 1 size 2 : tensor<?x4x4xf32>
  %1 = nn.slice %0 axis 2 offset 1 size 2 : tensor<?x2x4xf32>
  nn.return %1 : tensor<?x2x2xf32>
}

// -----

// The first slice is within one operand, the second is one operand, the third
// uses both.
// CHECK-LABEL: nn.func private @slice_of_concat
// CHECK-NEXT: %[[C:.*]] = nn.concat %arg0, %arg1 axis 1
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg1 axis 1 offset 1 size 2
// CHECK-NEXT: %[[B:.*]] = nn.slice %[[C]] axis 1 offset 2 size 3
// CHECK-NEXT: nn.return %[[S]], %arg0, %[[B]]
nn.func private @slice_of_concat(%a: tensor<?x4xf32>, %b: tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x3xf32>) {
  %c = nn.concat %a, %b axis 1 : tensor<?x4xf32>, tensor<?x3xf32>
  %0 = nn.slice %c axis 1 offset 5 size 2 : tensor<?x7xf32>
  %1 = nn.slice %c axis 1 offset 0 size 4 : tensor<?x7xf32>
  %2 = nn.slice %c axis 1 offset 2 size 3 : tensor<?x7xf32>
  nn.return %0, %1, %2 : tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x3xf32>
}

// -----

// CHECK-LABEL: nn.func private @concats
// CHECK-NEXT: %[[C:.*]] = nn.concat %arg0, %arg1, %arg0 axis 1
// CHECK-NEXT: nn.return %[[C]], %arg1
nn.func private @concats(%a: tensor<?x4xf32>, %b: tensor<?x3xf32>) -> (tensor<?x11xf32>, tensor<?x3xf32>) {
  %0 = nn.concat %a, %b axis 1 : tensor<?x4xf32>, tensor<?x3xf32>
  %1 = nn.concat %0, %a axis 1 : tensor<?x7xf32>, tensor<?x4xf32>
  %2 = nn.concat %b axis 1 : tensor<?x3xf32>
  nn.return %1, %2 : tensor<?x11xf32>, tensor<?x3xf32>
}

// -----

// A value that another op reads is computed in any case.
// CHECK-LABEL: nn.func private @shared_concat
// CHECK-COUNT-2: nn.concat
nn.func private @shared_concat(%a: tensor<?x4xf32>, %b: tensor<?x3xf32>) -> (tensor<?x11xf32>, tensor<?x7xf32>) {
  %0 = nn.concat %a, %b axis 1 : tensor<?x4xf32>, tensor<?x3xf32>
  %1 = nn.concat %0, %a axis 1 : tensor<?x7xf32>, tensor<?x4xf32>
  nn.return %1, %0 : tensor<?x11xf32>, tensor<?x7xf32>
}

// -----

// Pieces that are concatenated again.
// CHECK-LABEL: nn.func private @concat_of_slices
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg0 axis 1 offset 1 size 4
// CHECK-NEXT: nn.return %[[S]], %arg0
nn.func private @concat_of_slices(%x: tensor<?x6xf32>) -> (tensor<?x4xf32>, tensor<?x6xf32>) {
  %0 = nn.slice %x axis 1 offset 0 size 1 : tensor<?x6xf32>
  %1 = nn.slice %x axis 1 offset 1 size 3 : tensor<?x6xf32>
  %2 = nn.slice %x axis 1 offset 4 size 1 : tensor<?x6xf32>
  %3 = nn.slice %x axis 1 offset 5 size 1 : tensor<?x6xf32>
  %4 = nn.concat %1, %2 axis 1 : tensor<?x3xf32>, tensor<?x1xf32>
  %5 = nn.concat %0, %1, %2, %3 axis 1 : tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return %4, %5 : tensor<?x4xf32>, tensor<?x6xf32>
}

// -----

// In another order, they are other elements.
// CHECK-LABEL: nn.func private @swapped_slices
// CHECK-COUNT-2: nn.slice
// CHECK: nn.concat
nn.func private @swapped_slices(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = nn.slice %x axis 1 offset 0 size 1 : tensor<?x2xf32>
  %1 = nn.slice %x axis 1 offset 1 size 1 : tensor<?x2xf32>
  %2 = nn.concat %1, %0 axis 1 : tensor<?x1xf32>, tensor<?x1xf32>
  nn.return %2 : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: nn.func private @pads
// CHECK-NEXT: %[[P:.*]] = nn.pad %arg0 axis 1 low 4 high 6
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg0 axis 1 offset 1 size 1
// CHECK-NEXT: %[[Z:.*]] = nn.slice %[[P]] axis 1 offset 3 size 2
// CHECK-NEXT: nn.return %[[P]], %arg0, %[[S]], %[[Z]]
nn.func private @pads(%x: tensor<?x2xf32>) -> (tensor<?x12xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf32>) {
  %0 = nn.pad %x axis 1 low 1 high 2 : tensor<?x2xf32>
  %1 = nn.pad %0 axis 1 low 3 high 4 : tensor<?x5xf32>
  %2 = nn.pad %x axis 1 low 0 high 0 : tensor<?x2xf32>
  %3 = nn.slice %1 axis 1 offset 5 size 1 : tensor<?x12xf32>
  // This slice contains zeros.
  %4 = nn.slice %1 axis 1 offset 3 size 2 : tensor<?x12xf32>
  nn.return %1, %2, %3, %4 : tensor<?x12xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf32>
}
