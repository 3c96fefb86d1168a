// RUN: pdl-opt %s | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Names of outputs.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @named frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // CHECK: nn.return %{{.*}} as "click rate", %{{.*}} as "of 3" : tensor<?x1xf32>, tensor<?x3xf32>
  nn.return %x as "click rate", %y as "of 3" : tensor<?x1xf32>, tensor<?x3xf32>
}
nn.program @numbered frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // CHECK: nn.return %{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x3xf32>
  nn.return %x, %y : tensor<?x1xf32>, tensor<?x3xf32>
}
