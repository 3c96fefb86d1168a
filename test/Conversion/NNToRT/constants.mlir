// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse > %t
// RUN: FileCheck %s < %t
// RUN: grep -c "llvm.mlir.global" %t | FileCheck %s --check-prefix=COUNT

// Equal numbers are stored once, for all programs and shapes. Other numbers,
// and equal ones of another type, are not shared.
// COUNT: 3
// CHECK-DAG: llvm.mlir.global internal constant @[[SHARED:constant[0-9]+]](dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>)
// CHECK-DAG: llvm.mlir.global internal constant @{{constant[0-9]+}}(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 5.000000e+00]> : tensor<4xf32>)
// CHECK-DAG: llvm.mlir.global internal constant @{{constant[0-9]+}}(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf64>)
// CHECK-LABEL: func.func @one_compute
// CHECK:         llvm.mlir.addressof @[[SHARED]]
// CHECK-LABEL: func.func @another_compute
// CHECK:         llvm.mlir.addressof @[[SHARED]]

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x4xf64>
}
nn.program @one frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.add %x, %c : tensor<?x4xf32>, tensor<4xf32>
  nn.return %0 : tensor<?x4xf32>
}
nn.program @another frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %c = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %d = nn.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  %m = nn.reshape %x : (tensor<?x4xf32>) -> tensor<?x2x2xf32>
  %0 = nn.add %m, %c : tensor<?x2x2xf32>, tensor<2x2xf32>
  %f = nn.reshape %0 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
  %1 = nn.add %f, %d : tensor<?x4xf32>, tensor<4xf32>
  nn.return %1 : tensor<?x4xf32>
}
nn.program @wide frozen reads(@r except [@x]) {
^bb0(%y: tensor<?x4xf64>):
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  %0 = nn.add %y, %c : tensor<?x4xf64>, tensor<4xf64>
  nn.return %0 : tensor<?x4xf64>
}
