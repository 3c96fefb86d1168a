// RUN: pdl-opt %s --pdl-pipeline="to=gradient" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefix=ROLES
// RUN: pdl-opt %s --pdl-pipeline="to=gradient" | pdl-opt --nn-updates-to-kernels | FileCheck %s --check-prefix=KERNEL

// The learning rate of a schedule is divided by the number of senders, which
// the group's nn.once requests. A group without the clause does not request it.

nn.record @r {
  nn.field @x : tensor<?x2xf32>
  nn.field @y : tensor<?x1xf32>
}
nn.group @over rule(@sgd) rate(0.5) schedule(@inverse_time) rate_over(pushers)
nn.group @plain rule(@sgd) rate(0.5)
nn.param @w : tensor<2x1xf32> in @over init(#nn.zeros)
nn.param @b : tensor<1xf32> in @plain init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>, %y: tensor<?x1xf32>):
  %z = nn.linear %x, @w, @b : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
  nn.minimize %l over [@over, @plain] : tensor<?x1xf32>
}

// CHECK: nn.once @over
// CHECK-NEXT: ^bb0(%{{[a-z0-9_]+}}: f64, %[[WEIGHT:[a-z0-9_]+]]: f64, %{{[a-z0-9_]+}}: f64, %[[PUSHERS:[a-z0-9_]+]]: f64):
// CHECK: %[[RATE:.+]] = arith.divf %{{.+}}, %[[PUSHERS]] : f64
// CHECK-NEXT: nn.yield %[[WEIGHT]], %[[RATE]] : f64, f64
// CHECK: nn.once @plain
// CHECK-NEXT: ^bb0(%{{[a-z0-9_]+}}: f64, %{{[a-z0-9_]+}}: f64, %{{[a-z0-9_]+}}: f64):

// The server divides.
// ROLES: module @trainer
// ROLES-NOT: nn.once
// ROLES: module @pserver
// ROLES: nn.once @over
// ROLES-NEXT: ^bb0(%{{[a-z0-9_]+}}: f64, %{{[a-z0-9_]+}}: f64, %{{[a-z0-9_]+}}: f64, %{{[a-z0-9_]+}}: f64):

// KERNEL: func.func private @once_over(%[[ARGS:.+]]: !llvm.ptr,
// KERNEL: %[[PLACE:.+]] = llvm.getelementptr inbounds %[[ARGS]][3]
// KERNEL-NEXT: %[[PUSHERS:.+]] = llvm.load %[[PLACE]]
// KERNEL: arith.divf %{{.+}}, %[[PUSHERS]] : f64
