// Two slots look up one table, a third slot another table. The pooled rows are
// the input of a product.
module @embedding {
  nn.record @r {
    nn.field @label : tensor<?x1xf32>
    nn.field @title : !nn.ragged<?x1x*xi64>
    nn.field @brand : !nn.ragged<?x1x*xi64>
    nn.field @profile : !nn.ragged<?x1x*xi64>
  }
  nn.group @dense rule(@adam) rate(0.003)
  nn.group @sparse rule(@adam) rate(0.003) untouched(lazy)
  nn.table @shared : i64 -> tensor<64xf32> in @sparse init(#nn.uniform<-0.1, 0.1>)
  nn.table @profiles : i64 -> tensor<64xf32> in @sparse init(#nn.uniform<-0.1, 0.1>)
  nn.param @fc_w : tensor<192x1xf32> in @dense init(#nn.xavier)
  nn.param @fc_b : tensor<1xf32> in @dense init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %title: !nn.ragged<?x1x*xi64>, %brand: !nn.ragged<?x1x*xi64>, %profile: !nn.ragged<?x1x*xi64>):
    %t = nn.lookup @shared[%title] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x64xf32>
    %b = nn.lookup @shared[%brand] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x64xf32>
    %p = nn.lookup @profiles[%profile] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x64xf32>
    %e = nn.concat %t, %b, %p axis 2 : tensor<?x1x64xf32>, tensor<?x1x64xf32>, tensor<?x1x64xf32>
    %x = nn.flatten %e from 1 : tensor<?x1x192xf32>
    %z = nn.linear %x, @fc_w, @fc_b : (tensor<?x192xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
