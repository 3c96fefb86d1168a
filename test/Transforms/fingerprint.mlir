// RUN: pdl-opt %s --nn-fingerprint > %t.a
// RUN: FileCheck %s < %t.a
// The same model, again and with other names of values: equal.
// RUN: sed -e 's/%x/%renamed/g' %s | pdl-opt --nn-fingerprint > %t.b
// RUN: diff %t.a %t.b
// Run on its own result: equal.
// RUN: pdl-opt %t.a --nn-fingerprint | diff %t.a -
// Another initial value: another fingerprint.
// RUN: sed -e 's/constant<0.5>/constant<0.25>/' %s | pdl-opt --nn-fingerprint > %t.c
// RUN: grep -o 'nn.fingerprint = "[0-9a-f]*"' %t.a > %t.first
// RUN: grep -o 'nn.fingerprint = "[0-9a-f]*"' %t.c > %t.other
// RUN: not diff %t.first %t.other

// CHECK: nn.fingerprint = "{{([0-9a-f]{16})}}"
nn.record @clicks {
  nn.field @number : tensor<?x1xf32>
}
nn.state @mean : tensor<1xf32> init(#nn.constant<0.5>)
nn.program @predict frozen reads(@clicks) {
^bb0(%x: tensor<?x1xf32>):
  nn.return %x : tensor<?x1xf32>
}
