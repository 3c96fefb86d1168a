// RUN: pdl-opt %s --nn-link-std --nn-lower-model | FileCheck %s --check-prefix=LOWER
// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff | FileCheck %s --check-prefix=GRADIENT
// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff --nn-expand-updates | FileCheck %s --check-prefix=UPDATE

// Each bag gets the values of its sample, in the order of the rule's counts.
// Bags that are also looked up are looked up once, for all kinds of pooling.
// Ids that are only counted are added to them.

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @c : !nn.ragged<?x3x*xi64>
  nn.field @d : tensor<?x1xi64>
}
nn.clip @clip : global_norm(1.0)
nn.group @g rule(@click_adagrad) rate(0.1) clip(@clip) untouched(lazy)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x3x*xi64>, %d: tensor<?x1xi64>):
  %one = nn.constant dense<1.0> : tensor<f32>
  %ones = nn.broadcast %one like %y : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  // LOWER: %[[BOTH:.+]] = nn.concat %[[ONES:[^,]+]], %arg0 axis 1
  // LOWER: %[[WIDE:.+]] = nn.reshape %[[BOTH]] : (tensor<?x2xf32>) -> tensor<?x1x2xf32>
  // LOWER: %[[REPEATED:.+]] = nn.broadcast %[[WIDE]] : (tensor<?x1x2xf32>) -> tensor<?x3x2xf32>
  // LOWER: %[[VALUES:.+]] = nn.reshape %[[REPEATED]] : (tensor<?x3x2xf32>) -> tensor<?x2xf32>
  // LOWER: %[[POOLED:.+]] = nn.pool %{{.+}} of (%{{.+}} bags(%{{.+}}) sum)
  // LOWER: nn.count_pooled @t of %[[POOLED]] by %[[VALUES]] : tensor<?x2xf32>, tensor<?x2xf32>
  nn.count @t[%c] click(%y) show(%ones) : !nn.ragged<?x3x*xi64>, tensor<?x1xf32>
  // LOWER: %[[OTHER:.+]] = nn.concat %arg0, %[[ONES]] axis 1
  // LOWER: nn.count_pooled @t of %{{.+}} by %[[OTHER]]
  nn.count @t[%d] show(%y) click(%ones) : tensor<?x1xi64>, tensor<?x1xf32>
  %e = nn.lookup @t[%c] pool(mean) : (!nn.ragged<?x3x*xi64>) -> tensor<?x3x2xf32>
  %f = nn.flatten %e from 1 : tensor<?x3x2xf32>
  %z = nn.reduce sum %f axes [1] keep : tensor<?x6xf32>
  // GRADIENT: %[[KEYS:.+]], %{{.+}}, %{{.+}}, %{{.+}} = nn.unique %{{[^,]+}}, %{{[^,]+$}}
  // GRADIENT: %[[ROWS:.+]] = nn.pool_gradient{{.+}} mean from
  // GRADIENT: %[[COUNTS:.+]] = nn.pool_gradient{{.+}} of (%{{.+}} sum from %{{.+}}, %{{.+}} sum from %{{.+}}) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  // GRADIENT: %[[ALL:.+]] = nn.concat %[[ROWS]], %[[COUNTS]] axis 1
  // GRADIENT-NOT: nn.count_pooled
  // GRADIENT: nn.apply_gradients {{.+}}@t[%[[KEYS]]] = %[[ALL]] : tensor<?x4xf32>}
  // UPDATE: nn.squared_norm {@t[%{{.+}}] = %{{.+}} : tensor<?x4xf32>}
  // UPDATE: nn.update @t keys(%{{.+}}) gradient(%{{.+}}) counts 2 scalars(
  // UPDATE: } row {
  // UPDATE-NEXT: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %[[SHOWS:.+]]: f32, %[[CLICKS:[^:]+]]: f32,
  nn.minimize %z over [@g] : tensor<?x1xf32>
}
