// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff | FileCheck %s --check-prefix=GRADIENT
// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff --nn-expand-updates | FileCheck %s --check-prefix=UPDATE

// After the gradient and the rule's counts comes the number of occurrences of
// each key in all bags of a program. A score is computed only from these
// counts.

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @c : !nn.ragged<?x3x*xi64>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros) admit(count = 3)
nn.group @clicks rule(@click_adagrad) rate(0.1) untouched(lazy)
nn.table @u : i64 -> tensor<1xf32> in @clicks init(#nn.zeros) admit(count = 2)
nn.table @worth : i64 -> tensor<1xf32> in @clicks init(#nn.zeros) admit(score = 2.0) score(click = 0.5)
nn.table @drawn : i64 -> tensor<1xf32> in @g init(#nn.zeros) admit(probability = 0.5)
// A clause that admits every key is removed.
// GRADIENT: nn.table @every : i64 -> tensor<1xf32> in @g init(#nn.zeros){{$}}
nn.table @every : i64 -> tensor<1xf32> in @g init(#nn.zeros) admit(count = 1)
// GRADIENT: nn.table @all : i64 -> tensor<1xf32> in @g init(#nn.zeros) shrink(every = 2, unseen = 1){{$}}
nn.table @all : i64 -> tensor<1xf32> in @g init(#nn.zeros) admit(probability = 1.0) shrink(every = 2, unseen = 1)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x3x*xi64>, %d: tensor<?x1xi64>):
  %one = nn.constant dense<1.0> : tensor<f32>
  %ones = nn.broadcast %one like %y : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %e = nn.lookup @t[%c] pool(mean) : (!nn.ragged<?x3x*xi64>) -> tensor<?x3x2xf32>
  %f = nn.flatten %e from 1 : tensor<?x3x2xf32>
  %s = nn.reduce sum %f axes [1] keep : tensor<?x6xf32>
  %a = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
  %b = nn.flatten %a from 1 : tensor<?x1x2xf32>
  %t = nn.reduce sum %b axes [1] keep : tensor<?x2xf32>
  %p = nn.lookup @u[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %q = nn.flatten %p from 1 : tensor<?x1x1xf32>
  nn.count @u[%d] show(%ones) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  %v = nn.lookup @worth[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %w = nn.flatten %v from 1 : tensor<?x1x1xf32>
  nn.count @worth[%d] show(%ones) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  %m = nn.lookup @drawn[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %n = nn.flatten %m from 1 : tensor<?x1x1xf32>
  %z0 = nn.add %s, %t : tensor<?x1xf32>, tensor<?x1xf32>
  %z1 = nn.add %z0, %q : tensor<?x1xf32>, tensor<?x1xf32>
  %z2 = nn.add %z1, %n : tensor<?x1xf32>, tensor<?x1xf32>
  %z = nn.add %z2, %w : tensor<?x1xf32>, tensor<?x1xf32>
  %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
  nn.minimize %l over [@g, @clicks] : tensor<?x1xf32>
  // GRADIENT-DAG: nn.pool_gradient{{.+}} of (%{{.+}} sum from %{{.+}}, %{{.+}} sum from %{{.+}}) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  // GRADIENT: nn.apply_gradients {{.+}}@t[%{{.+}}] = %{{.+}} : tensor<?x3xf32>, @u[%{{.+}}] = %{{.+}} : tensor<?x4xf32>, @worth[%{{.+}}] = %{{.+}} : tensor<?x3xf32>, @drawn[%{{.+}}] = %{{.+}} : tensor<?x1xf32>}
  // UPDATE-DAG: nn.update @t keys(%{{.+}}) gradient(%{{.+}}) admitting scalars
  // UPDATE-DAG: nn.update @u keys(%{{.+}}) gradient(%{{.+}}) counts 2 admitting scalars
  // UPDATE-DAG: nn.update @worth keys(%{{.+}}) gradient(%{{.+}}) counts 2 scalars
  // UPDATE-DAG: nn.update @drawn keys(%{{.+}}) gradient(%{{.+}}) scalars
}
