// RUN: pdl-opt %s --nn-broadcast-splats | FileCheck %s

nn.record @r { nn.field @x : tensor<?x100xf32> }
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x100xf32>):
  // An op that needs it in memory gets a filled tensor. A loop reads the
  // number.
  // CHECK-DAG: %[[SPLAT:.+]] = nn.constant dense<5.000000e-01> : tensor<100x100xf32>
  // CHECK-DAG: %[[ONE:.+]] = nn.constant dense<5.000000e-01> : tensor<1x1xf32>
  // CHECK-DAG: %[[FILLED:.+]] = nn.broadcast %[[ONE]] : (tensor<1x1xf32>) -> tensor<100x100xf32>
  %c = nn.constant dense<0.5> : tensor<100x100xf32>
  // CHECK: nn.gemm %{{.+}}, %[[FILLED]]
  %y = nn.gemm %x, %c post [] : (tensor<?x100xf32>, tensor<100x100xf32>) -> tensor<?x100xf32>
  // CHECK: nn.exp %[[SPLAT]]
  %e = nn.exp %c : tensor<100x100xf32>
  // A tensor of which another op is a view is in memory.
  // CHECK: %[[VIEWED:.+]] = nn.broadcast %{{.+}} : (tensor<1x1xf32>) -> tensor<100x100xf32>
  // CHECK: %[[VIEW:.+]] = nn.stop_gradient %[[VIEWED]]
  // CHECK: nn.gemm %{{.+}}, %[[VIEW]]
  %v = nn.constant dense<0.25> : tensor<100x100xf32>
  %s = nn.stop_gradient %v : tensor<100x100xf32>
  %t = nn.gemm %x, %s post [] : (tensor<?x100xf32>, tensor<100x100xf32>) -> tensor<?x100xf32>
  // A tensor that only loops read.
  // CHECK: %[[LOOPED:.+]] = nn.constant dense<2.000000e+00> : tensor<100xf32>
  // CHECK: nn.mul %{{.+}}, %[[LOOPED]]
  %d = nn.constant dense<2.0> : tensor<100xf32>
  %z = nn.mul %y, %d : tensor<?x100xf32>, tensor<100xf32>
  // Few elements, or different ones.
  // CHECK: %[[FEW:.+]] = nn.constant dense<2.000000e+00> : tensor<3xf32>
  // CHECK: nn.slice %[[FEW]]
  %f = nn.constant dense<2.0> : tensor<3xf32>
  %g = nn.slice %f axis 0 offset 0 size 2 : tensor<3xf32>
  // CHECK-NOT: nn.broadcast
  nn.return %z : tensor<?x100xf32>
}
