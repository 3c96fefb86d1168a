// RUN: pdl-opt %s --pdl-pipeline="to=gradient" -o %t.gradient
// RUN: FileCheck %s < %t.gradient
// RUN: pdl-opt %t.gradient | diff %t.gradient -
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=async" -o %t.async
// RUN: FileCheck %s --check-prefix=ASYNC < %t.async
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=half-async" | FileCheck %s --check-prefix=ASYNC
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=async" | FileCheck %s --check-prefix=KERNEL

// If no gradient is late, the program is that of a model without the clause,
// except for unused numbers.
// DEFINE: %{mode} =
// DEFINE: %{settled} = pdl-opt %s --pdl-pipeline="to=roles mode=%{mode}" | FileCheck %s --check-prefix=SETTLED --implicit-check-not=" seen "
// REDEFINE: %{mode} = local
// RUN: %{settled}
// REDEFINE: %{mode} = sync
// RUN: %{settled}
// REDEFINE: %{mode} = collective
// RUN: %{settled}
// REDEFINE: %{mode} = geo
// RUN: %{settled}

nn.record @r {
  nn.field @x : tensor<?x2xf32>
  nn.field @ids : tensor<?x1xi64>
  nn.field @y : tensor<?x1xf32>
}
nn.clip @joint : global_norm(1.0)
nn.group @dense rule(@lamb) rate(0.5) clip(@joint) decay(#nn.l2<0.25>) compensate(@delay_compensation {strength = 0.5})
nn.group @sparse rule(@sgd) rate(0.5) compensate(@delay_compensation)
nn.param @w : tensor<2x1xf32> in @dense init(#nn.zeros)
nn.table @t : i64 -> tensor<1xf32> in @sparse init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>, %ids: tensor<?x1xi64>, %y: tensor<?x1xf32>):
  %a = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %rows = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %b = nn.flatten %rows from 1 : tensor<?x1x1xf32>
  %z = nn.add %a, %b : tensor<?x1xf32>, tensor<?x1xf32>
  %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
  nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
}

// After the clip, before the regularizer.
// CHECK: nn.once @dense {{.+}} "hyper-parameter strength") {
// CHECK: nn.update @w {{.+}} seen scalars
// CHECK-SAME: sum {
// CHECK-NEXT: ^bb0(%{{[a-z0-9_]+}}: f32, %{{[a-z0-9_]+}}: f32, %[[SUM_SEEN:[a-z0-9_]+]]: f32,
// CHECK: arith.cmpf oeq, %{{.+}}, %[[SUM_SEEN]] : f32
// CHECK: } each {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9_]+]]: f32, %[[SUM:[a-z0-9_]+]]: f32, %[[SEEN:[a-z0-9_]+]]: f32, %{{[a-z0-9_]+}}: f32, %{{[a-z0-9_]+}}: f32, %[[WEIGHT:[a-z0-9_]+]]: f32, %[[FACTOR:[a-z0-9_]+]]: f32,
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[WEIGHT]] : f32
// CHECK-NEXT: %[[CLIPPED:.+]] = arith.mulf %[[MEAN]], %[[FACTOR]] : f32
// CHECK-NEXT: %[[SAME:.+]] = arith.cmpf oeq, %[[VALUE]], %[[SEEN]] : f32
// CHECK-NEXT: %[[MOVED:.+]] = arith.subf %[[VALUE]], %[[SEEN]] : f32
// CHECK-NEXT: %[[SQUARE:.+]] = arith.mulf %[[CLIPPED]], %[[CLIPPED]] : f32
// CHECK-NEXT: %[[CURVATURE:.+]] = arith.mulf %{{.+}}, %[[SQUARE]] : f32
// CHECK-NEXT: %[[CHANGE:.+]] = arith.mulf %[[CURVATURE]], %[[MOVED]] : f32
// CHECK-NEXT: %[[COMPENSATED:.+]] = arith.addf %[[CLIPPED]], %[[CHANGE]] : f32
// CHECK-NEXT: %[[GRADIENT:.+]] = arith.select %[[SAME]], %[[CLIPPED]], %[[COMPENSATED]] : f32
// CHECK-NEXT: %[[L2:.+]] = arith.constant
// CHECK-NEXT: %[[DECAY:.+]] = arith.mulf %[[L2]], %[[VALUE]] : f32
// CHECK-NEXT: arith.addf %[[GRADIENT]], %[[DECAY]] : f32
// CHECK: nn.update @t {{.+}} seen scalars

// ASYNC: module @pserver
// ASYNC: nn.update @w {{.+}} seen scalars
// ASYNC: nn.update @t {{.+}} seen scalars

// SETTLED: nn.update @w
// SETTLED-SAME: sum {
// SETTLED: } each {
// SETTLED-NEXT: ^bb0(%[[VALUE:[a-z0-9_]+]]: f32, %[[SUM:[a-z0-9_]+]]: f32, %{{[a-z0-9_]+}}: f32, %{{[a-z0-9_]+}}: f32, %[[WEIGHT:[a-z0-9_]+]]: f32, %[[FACTOR:[a-z0-9_]+]]: f32,
// SETTLED-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[WEIGHT]] : f32
// SETTLED-NEXT: %[[CLIPPED:.+]] = arith.mulf %[[MEAN]], %[[FACTOR]] : f32
// SETTLED-NEXT: %[[L2:.+]] = arith.constant
// SETTLED-NEXT: %[[DECAY:.+]] = arith.mulf %[[L2]], %[[VALUE]] : f32
// SETTLED-NEXT: arith.addf %[[CLIPPED]], %[[DECAY]] : f32

// The seen value is the last argument of a kernel.
// KERNEL: rt.update_kernel @w calls @update_w {{.+}} seen
// KERNEL: func.func private @update_w(%{{.+}}: i64, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr) -> i32
// KERNEL: rt.update_kernel @t calls @update_t {{.*}}seen
// KERNEL: func.func private @update_t(%{{.+}}: i64, %{{.+}}: i64, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %[[ALL:.+]]: !llvm.ptr) -> i32
// KERNEL: llvm.getelementptr inbounds %[[ALL]][
