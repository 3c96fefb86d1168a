// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Random numbers of samples.

#seen = dense<[4, 0, 9]> : tensor<3xi64>

// CHECK-LABEL: nn.func private @draws
nn.func private @draws(%x: tensor<?x4xf32>, %h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>, %s: tensor<?xi32>, %i: tensor<?x1xi64>, %z: tensor<?x1xf32>, %zn: tensor<?x5xf32>) {
  // CHECK: nn.dropout %{{.*}} rate(5.000000e-01) : tensor<?x4xf32>
  %0 = nn.dropout %x rate(0.5) : tensor<?x4xf32>
  // CHECK: nn.dropout %{{.*}} of %{{.*}} rate(1.000000e-01) : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %1 = nn.dropout %h of %c rate(0.1) : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.dropout %{{.*}} of %{{.*}} rate(1.000000e-01) stream(7) : tensor<?x3xf32>, tensor<?xi32>
  %2 = nn.dropout %h of %s rate(0.1) stream(7) : tensor<?x3xf32>, tensor<?xi32>
  // CHECK: nn.sample 5 from 0 below 50000 log_uniform : tensor<?x5xi64>
  %3 = nn.sample 5 from 0 below 50000 log_uniform : tensor<?x5xi64>
  // CHECK: nn.sample 5 from -9 below 9 uniform stream(8) : tensor<?x5xi64>
  %4 = nn.sample 5 from -9 below 9 uniform stream(8) : tensor<?x5xi64>
  // CHECK: nn.log_probability %{{.*}} from 0 below 50000 log_uniform : (tensor<?x1xi64>) -> tensor<?x1xf32>
  %5 = nn.log_probability %i from 0 below 50000 log_uniform : (tensor<?x1xi64>) -> tensor<?x1xf32>
  // CHECK: nn.sample 5 from 7 below 10 counts(dense<[4, 0, 9]> : tensor<3xi64>) power(7.500000e-01) : tensor<?x5xi64>
  %10 = nn.sample 5 from 7 below 10 counts(#seen) power(0.75) : tensor<?x5xi64>
  // CHECK: nn.sample 5 from 7 below 10 counts(dense<[4, 0, 9]> : tensor<3xi64>) power(0.000000e+00) stream(8) : tensor<?x5xi64>
  %11 = nn.sample 5 from 7 below 10 counts(#seen) power(0.0) stream(8) : tensor<?x5xi64>
  // CHECK: nn.log_probability %{{.*}} from 7 below 10 counts(dense<[4, 0, 9]> : tensor<3xi64>) power(7.500000e-01) : (tensor<?x1xi64>) -> tensor<?x1xf32>
  %12 = nn.log_probability %i from 7 below 10 counts(#seen) power(0.75) : (tensor<?x1xi64>) -> tensor<?x1xf32>
  // CHECK: nn.accidental_hits %{{.*}}, %{{.*}} : (tensor<?x1xi64>, tensor<?x5xi64>) -> tensor<?x5xf32>
  %6 = nn.accidental_hits %i, %3 : (tensor<?x1xi64>, tensor<?x5xi64>) -> tensor<?x5xf32>
  // CHECK: nn.sampled_softmax %{{.*}}, %{{.*}} correction %{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>
  %7 = nn.sampled_softmax %z, %zn correction %z, %zn : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>
  // CHECK: nn.nce_loss %{{.*}}, %{{.*}} correction %{{.*}}, %{{.*}} hits %{{.*}} : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  %8 = nn.nce_loss %z, %zn correction %z, %zn hits %6 : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  // CHECK: nn.negative_sampling %{{.*}}, %{{.*}} hits %{{.*}} : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  %9 = nn.negative_sampling %z, %zn hits %6 : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>
  nn.return
}
