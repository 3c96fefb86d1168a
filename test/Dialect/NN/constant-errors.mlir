// RUN: not pdl-opt %s -o /dev/null 2>&1 | FileCheck %s

#c = dense<0.1> : tensor<1xf32>
nn.func private @f() -> tensor<1xf32> {
  // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: {{.*}}an alias holds its numbers rounded to f32; write those of an nn.constant where it stands, as dense<...>
  %0 = nn.constant #c
  nn.return %0 : tensor<1xf32>
}
