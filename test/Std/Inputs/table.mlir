// A group with a table and without the clause `untouched`.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(RULE) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
