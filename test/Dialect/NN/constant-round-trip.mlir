// Printed constants are read as the same numbers, in f32 and in f64.
// RUN: pdl-opt %s -o %t.once
// RUN: pdl-opt %t.once -o %t.twice
// RUN: cmp %t.once %t.twice
// RUN: pdl-opt %s --mlir-print-op-generic -o %t.generic
// RUN: pdl-opt %t.once --mlir-print-op-generic -o %t.again
// RUN: cmp %t.generic %t.again
// RUN: FileCheck %s --input-file %t.once
// RUN: FileCheck %s --input-file %t.generic --check-prefix=GENERIC
// RUN: pdl-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED
module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    // Numbers without a point, or with an exponent.
    // CHECK: nn.constant dense<16777217.0> : tensor<1xf32>
    // GENERIC: exact = dense<0x4170000010000000> : tensor<1xf64>, value = dense<0x4B800000> : tensor<1xf32>
    %a = nn.constant dense<16777217.0> : tensor<1xf32>
    // CHECK: nn.constant dense<16777216.0> : tensor<1xf32>
    // GENERIC: <{value = dense<0x4B800000> : tensor<1xf32>}>
    %b = nn.constant dense<16777216.0> : tensor<1xf32>
    // CHECK: nn.constant dense<{{\[\[}}1.234567890123E+30, -1.000000e-310], [-0.000000e+00, 9.9999999999999994E+38{{\]\]}}> : tensor<2x2xf32>
    // GENERIC: value = dense<{{\[\[}}1.23456789E+30, -0.000000e+00], [-0.000000e+00, 0x7F800000{{\]\]}}> : tensor<2x2xf32>
    %c = nn.constant dense<[[1.234567890123e30, -1.0e-310], [-0.0, 1.0e39]]> : tensor<2x2xf32>
    // Numbers that exist only in f32, and differ from their short decimal form.
    // CHECK: nn.constant dense<0.10000000149011612> : tensor<1xf32>
    // GENERIC: <{value = dense<1.000000e-01> : tensor<1xf32>}>
    %d = nn.constant dense<"0xCDCCCC3D"> : tensor<1xf32>
    // They differ from the decimals.
    // FOLDED: nn.constant dense<0.10000000149011612> : tensor<1xf32>
    // FOLDED: nn.constant dense<1.000000e-01> : tensor<1xf32>
    // FOLDED-NOT: nn.constant dense<1.000000e-01> : tensor<1xf32>
    // CHECK: nn.constant dense<1.000000e-01> : tensor<1xf32>
    // GENERIC: exact = dense<1.000000e-01> : tensor<1xf64>
    %e = nn.constant dense <0.1> : tensor<1xf32>
    %f = nn.constant dense<0.1> : tensor<1xf32>
    // CHECK: nn.constant dense<[0x7FC00000, 1.000000e+00]> : tensor<2xf32>
    %g = nn.constant dense<"0x0000C07F0000803F"> : tensor<2xf32>
    // Numbers without a decimal form are written as bits.
    // CHECK: nn.constant dense<[0x7F800000, 1.000000e-01]> : tensor<2xf32> exact dense<[0x7FF0000000000000, 1.000000e-01]> : tensor<2xf64>
    %h = "nn.constant"() <{value = dense<[0x7F800000, 0.1]> : tensor<2xf32>, exact = dense<[0x7FF0000000000000, 0.1]> : tensor<2xf64>}> : () -> tensor<2xf32>
    // CHECK: nn.constant dense<5.000000e-01> : tensor<2xf32> exact dense<5.000000e-01> : tensor<2xf64>
    %i = nn.constant dense<0.5> : tensor<2xf32> exact dense<0.5> : tensor<2xf64>
    // Long lists.
    // CHECK: nn.constant dense<"0x{{[0-9A-F]+}}"> : tensor<101xf32> exact dense<"0x{{[0-9A-F]+}}"> : tensor<101xf64>
    %j = nn.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19, 0.20, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.27, 0.28, 0.29, 0.30, 0.31, 0.32, 0.33, 0.34, 0.35, 0.36, 0.37, 0.38, 0.39, 0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48, 0.49, 0.50, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, 0.58, 0.59, 0.60, 0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67, 0.68, 0.69, 0.70, 0.71, 0.72, 0.73, 0.74, 0.75, 0.76, 0.77, 0.78, 0.79, 0.80, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.100, 0.101]> : tensor<101xf32>
    // CHECK: nn.constant dense<0.30000000000000004> : tensor<f32>
    %l = nn.constant dense<0.30000000000000004> : tensor<f32>
    // Used, so that it is not folded away.
    %0 = nn.add %x, %d : tensor<?x1xf32>, tensor<1xf32>
    %1 = nn.add %0, %e : tensor<?x1xf32>, tensor<1xf32>
    %2 = nn.add %1, %f : tensor<?x1xf32>, tensor<1xf32>
    nn.return %2 : tensor<?x1xf32>
  }
}
