// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff -verify-diagnostics -o /dev/null

// A group is trained, but some of its symbols keep their initial values:
// another loss reads them, or only ops without gradients.
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.group @one rule(@sgd) rate(0.1)
  nn.group @other rule(@sgd) rate(0.1)
  nn.param @reached : tensor<1xf32> in @one init(#nn.zeros)
  nn.param @trained : tensor<1xf32> in @other init(#nn.zeros)
  // expected-warning @+1 {{no gradient reaches @stopped, although its group @one is trained, so that it keeps its initial values: no loss that trains the group depends on it; name the group in the nn.minimize of a loss that does, or take the symbol out of the group}}
  nn.param @stopped : tensor<1xf32> in @one init(#nn.zeros)
  // expected-warning @+1 {{no gradient reaches @plain, although its group @one is trained, so that it keeps its initial values}}
  nn.table @plain : i64 -> tensor<1xf32> in @one init(#nn.zeros)
  // expected-warning @+1 {{no gradient reaches @counted, although its group @one is trained, so that it never gets a row}}
  nn.table @counted : i64 -> tensor<1xf32> in @one init(#nn.zeros) admit(count = 2)
  // Only frozen programs read it.
  // expected-warning @+1 {{no gradient reaches @shrinks, although its group @one is trained, so that it never gets a row}}
  nn.table @shrinks : i64 -> tensor<1xf32> in @one init(#nn.zeros) shrink(every = 2, unseen = 1)
  // No program trains its group, which causes another warning.
  nn.group @idle rule(@sgd) rate(0.1)
  nn.param @of_idle : tensor<1xf32> in @idle init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %a = nn.read @reached : tensor<1xf32>
    %s = nn.read @stopped : tensor<1xf32>
    %i = nn.read @of_idle : tensor<1xf32>
    %fixed = nn.stop_gradient %s : tensor<1xf32>
    %b = nn.add %a, %fixed : tensor<1xf32>, tensor<1xf32>
    %d = nn.add %b, %i : tensor<1xf32>, tensor<1xf32>
    %first = nn.mul %y, %d : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %first over [@one] : tensor<?x1xf32>
    %t = nn.read @trained : tensor<1xf32>
    %p = nn.lookup @plain[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %q = nn.lookup @counted[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %pq = nn.add %p, %q : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %flat = nn.flatten %pq from 1 : tensor<?x1x1xf32>
    %second = nn.mul %flat, %t : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %second over [@other] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%c: tensor<?x1xi64>):
    %p = nn.lookup @shrinks[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    nn.return %p : tensor<?x1x1xf32>
  }
}
