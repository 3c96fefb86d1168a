// Case: optimizers.
//
// Fluid: each supported optimizer had a case of its own, some of which only had
// to compile. Others were refused by name. State was created with the shape of
// the slice and the name of the whole parameter, so two slices of one parameter
// could not be on one server.
//
// PDL: a rule is code. The server's role contains it, with its slots. Slots are
// stored next to the rows of their block or shard, and are never sent. A rule
// that neither the library nor the model defines is refused first.
//
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,MEAN,SGD
// RUN: sed 's/rule(@sgd)/rule(@momentum)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,MEAN,MOMENTUM
// RUN: sed 's/rule(@sgd)/rule(@nesterov)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,MEAN,NESTEROV
// RUN: sed 's/rule(@sgd)/rule(@adagrad)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,MEAN,ADAGRAD
// RUN: sed 's/rule(@sgd)/rule(@adam)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,MEAN,ADAM
// RUN: sed 's/rule(@sgd)/rule(@ftrl)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,FTRL
// RUN: sed 's/rule(@sgd)/rule(@adamax)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,MEAN,ADAMAX
// RUN: sed 's/rule(@sgd)/rule(@rmsprop)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,MEAN,RMSPROP
// RUN: sed 's/rule(@sgd)/rule(@decayed_adagrad)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,MEAN,DECAYED
// RUN: sed 's/rule(@sgd)/rule(@dpsgd)/' %S/Inputs/dense.mlir > %t.mlir
// RUN: not pdl-opt %t.mlir --pdl-pipeline="to=roles mode=sync" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: mlir:7:{{.*}}@dpsgd

// Kernels have the slots: the state of a block has the block's rows.
// RUN: sed 's/rule(@sgd)/rule(@adam)/' %S/Inputs/dense.mlir | pdl-opt --pdl-pipeline="to=buffers mode=sync" | FileCheck %s --check-prefix=KERNELS
// KERNELS: module @pserver
// KERNELS: rt.update_kernel @fc_w calls @{{.*}} slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
// KERNELS: rt.update_kernel @fc_b calls @{{.*}} slots ["m", "v"]

// CHECK: module @trainer
// CHECK-NOT: nn.rule
// CHECK-NOT: nn.update
// CHECK: sends [@train.gradient.fc_w, @train.gradient.fc_b, @train.loss] ahead [] receives [@train.loss, @train.value.fc_w, @train.value.fc_b]
// CHECK-NOT: nn.rule
// CHECK-NOT: nn.update
// CHECK: module @pserver
// SGD: nn.rule @sgd hyper () slots ()
// MOMENTUM: nn.rule @momentum {{.*}} slots (velocity = 0.000000e+00)
// NESTEROV: nn.rule @nesterov {{.*}} slots (velocity = 0.000000e+00)
// ADAGRAD: nn.rule @adagrad {{.*}} slots (accumulator = 0.000000e+00)
// ADAM: nn.rule @adam {{.*}} slots (m = 0.000000e+00, v = 0.000000e+00)
// FTRL: nn.rule @ftrl {{.*}} slots (z = 0.000000e+00, n = 0.000000e+00)
// ADAMAX: nn.rule @adamax {{.*}} slots (m = 0.000000e+00, u = 0.000000e+00)
// RMSPROP: nn.rule @rmsprop {{.*}} slots (mean_square = 0.000000e+00)
// DECAYED: nn.rule @decayed_adagrad {{.*}} slots (accumulator = 0.000000e+00)
// CHECK: ps.handler @train.apply
// CHECK: nn.once @weights
// After Adam, Fluid had two ops that advanced powers of beta. Here the step of
// the group is used instead.
// ADAM-DAG: math.powf %{{.*}}, %[[STEP:arg0]]
// CHECK: nn.update @fc_w
// For every rule except those that take sums, the mean gradient is formed
// first.
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[GRADIENT:[a-z0-9]+]]: f32,
// MEAN: arith.divf %[[GRADIENT]], %{{.*}} : f32
// FTRL: arith.mulf %[[GRADIENT]], %[[GRADIENT]] : f32
// The value, then a new slot for each old one.
// SGD: nn.yield %{{[0-9]+}} : f32
// MOMENTUM: nn.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// NESTEROV: nn.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// ADAGRAD: nn.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// ADAM: nn.yield %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : f32, f32, f32
// FTRL: nn.yield %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : f32, f32, f32
// ADAMAX: nn.yield %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : f32, f32, f32
// RMSPROP: nn.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// DECAYED: nn.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// CHECK: nn.update @fc_b
