// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) unknown(zero)
nn.param @w : tensor<6x3xf32> in @g init(#nn.xavier)
nn.param @b : tensor<3xf32> in @g init(#nn.zeros)
nn.state @m : tensor<6xf32> init(#nn.constant<0.5>)
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc

// CHECK-LABEL: nn.func private @elementwise
nn.func private @elementwise(%x: tensor<?x6xf32>, %r: tensor<6xf32>) -> tensor<?x6xf32> {
  // CHECK: nn.neg %{{.*}} : tensor<?x6xf32>
  %0 = nn.neg %x : tensor<?x6xf32>
  // CHECK: nn.abs
  %1 = nn.abs %0 : tensor<?x6xf32>
  // CHECK: nn.sign
  %2 = nn.sign %1 : tensor<?x6xf32>
  // CHECK: nn.exp
  %3 = nn.exp %2 : tensor<?x6xf32>
  // CHECK: nn.log %
  %4 = nn.log %3 : tensor<?x6xf32>
  // CHECK: nn.log1p
  %5 = nn.log1p %4 : tensor<?x6xf32>
  // CHECK: nn.sqrt
  %6 = nn.sqrt %5 : tensor<?x6xf32>
  // CHECK: nn.tanh
  %7 = nn.tanh %6 : tensor<?x6xf32>
  // CHECK: nn.sigmoid
  %8 = nn.sigmoid %7 : tensor<?x6xf32>
  // CHECK: nn.relu
  %9 = nn.relu %8 : tensor<?x6xf32>
  // CHECK: nn.gelu
  %gelu = nn.gelu %9 : tensor<?x6xf32>
  // CHECK: nn.erf
  %erf = nn.erf %9 : tensor<?x6xf32>
  // CHECK: nn.gelu_erf
  %gelu_erf = nn.gelu_erf %9 : tensor<?x6xf32>
  // CHECK: %[[KEYS:.+]] = nn.constant dense<[7, -9223372036854775808]> : tensor<2xi64>
  %keys = nn.constant dense<[7, -9223372036854775808]> : tensor<2xi64>
  // CHECK: nn.broadcast %[[KEYS]] like %{{.+}} : (tensor<2xi64>, tensor<?x6xf32>) -> tensor<?x2xi64>
  %repeated = nn.broadcast %keys like %9 : (tensor<2xi64>, tensor<?x6xf32>) -> tensor<?x2xi64>
  // CHECK: nn.signed_log1p
  %10 = nn.signed_log1p %9 : tensor<?x6xf32>
  // CHECK: nn.stop_gradient
  %11 = nn.stop_gradient %10 : tensor<?x6xf32>
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<?x6xf32>, tensor<6xf32>
  %12 = nn.add %11, %r : tensor<?x6xf32>, tensor<6xf32>
  // CHECK: nn.sub %{{.*}}, %{{.*}} : tensor<6xf32>, tensor<?x6xf32>
  %13 = nn.sub %r, %12 : tensor<6xf32>, tensor<?x6xf32>
  // CHECK: nn.mul
  %14 = nn.mul %13, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.div
  %15 = nn.div %14, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.max
  %16 = nn.max %15, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.min
  %17 = nn.min %16, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.equal
  %18 = nn.equal %17, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.greater
  %19 = nn.greater %18, %x : tensor<?x6xf32>, tensor<?x6xf32>
  // CHECK: nn.standardize %{{.*}} mean [{{.*}}] deviation [{{.*}}] : tensor<?x6xf32>
  %20 = nn.standardize %19 mean [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] deviation [1.0, 1.0, 1.0, 1.0, 1.0, 2.0] : tensor<?x6xf32>
  // CHECK: nn.constant dense<1.000000e+00> : tensor<6xf32>
  %c = nn.constant dense<1.0> : tensor<6xf32>
  // CHECK: nn.broadcast %{{.*}} like %{{.*}} : (tensor<6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %21 = nn.broadcast %c like %20 : (tensor<6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  nn.return %21 : tensor<?x6xf32>
}

// CHECK-LABEL: nn.func private @shapes
nn.func private @shapes(%x: tensor<?x6xf32>) -> tensor<?x1xf32> {
  // CHECK: nn.slice %{{.*}} axis 1 offset 2 size 3 : tensor<?x6xf32>
  %0 = nn.slice %x axis 1 offset 2 size 3 : tensor<?x6xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} axis 1 : tensor<?x3xf32>, tensor<?x6xf32>
  %1 = nn.concat %0, %x axis 1 : tensor<?x3xf32>, tensor<?x6xf32>
  // CHECK: nn.reshape %{{.*}} : (tensor<?x9xf32>) -> tensor<?x3x3xf32>
  %2 = nn.reshape %1 : (tensor<?x9xf32>) -> tensor<?x3x3xf32>
  // CHECK: nn.flatten %{{.*}} from 1 : tensor<?x3x3xf32>
  %3 = nn.flatten %2 from 1 : tensor<?x3x3xf32>
  // CHECK: nn.reduce {{ ?}}sum %{{.*}} axes [1] : tensor<?x3x3xf32>
  // CHECK: nn.reduce {{ ?}}max %{{.*}} axes [1] keep : tensor<?x9xf32>
  // CHECK: nn.reduce {{ ?}}mean %{{.*}} axes [1, 2] : tensor<?x3x3xf32>
  %4 = nn.reduce sum %2 axes [1] : tensor<?x3x3xf32>
  %5 = nn.reduce max %3 axes [1] keep : tensor<?x9xf32>
  %6 = nn.reduce mean %2 axes [1, 2] : tensor<?x3x3xf32>
  nn.return %5 : tensor<?x1xf32>
}

// CHECK-LABEL: nn.func private @features
nn.func private @features(%x: tensor<?x6xf32>, %a: tensor<?x2xi64>, %c: !nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32> {
  // CHECK: nn.bucketize %{{.*}} boundaries [1.000000e+00, 2.000000e+00] : tensor<?x6xf32>
  %0 = nn.bucketize %x boundaries [1.0, 2.0] : tensor<?x6xf32>
  // CHECK: nn.cross %{{.*}}, %{{.*}} salt(7) : tensor<?x2xi64>, !nn.ragged<?x2x*xi64>
  %1 = nn.cross %a, %c salt(7) : tensor<?x2xi64>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.cross %{{.*}} : tensor<?x2xi64>
  %2 = nn.cross %a : tensor<?x2xi64>
  // CHECK: nn.lookup @t[%{{.*}}] pool({{ ?}}sqrtn) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
  %3 = nn.lookup @t[%1] pool(sqrtn) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
  // CHECK: nn.lookup @t[%{{.*}}] pool({{ ?}}mean) : (tensor<?x2xi64>) -> tensor<?x2x4xf32>
  %4 = nn.lookup @t[%2] pool(mean) : (tensor<?x2xi64>) -> tensor<?x2x4xf32>
  nn.return %3 : tensor<?x2x4xf32>
}

// CHECK-LABEL: nn.func private @layers
nn.func private @layers(%x: tensor<?x6xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK: nn.read @m : tensor<6xf32>
  %m = nn.read @m : tensor<6xf32>
  // CHECK: nn.linear %{{.*}}, @w, @b act({{ ?}}tanh) : (tensor<?x6xf32>) -> tensor<?x3xf32>
  %0 = nn.linear %x, @w, @b act(tanh) : (tensor<?x6xf32>) -> tensor<?x3xf32>
  // CHECK: nn.linear %{{.*}}, @w : (tensor<?x6xf32>) -> tensor<?x3xf32>
  %1 = nn.linear %x, @w : (tensor<?x6xf32>) -> tensor<?x3xf32>
  // CHECK: nn.squared_error %{{.*}}, %{{.*}} : tensor<?x3xf32>
  %2 = nn.squared_error %0, %y : tensor<?x3xf32>
  nn.return %2 : tensor<?x3xf32>
}
