// Three groups, two of them with a clip of their own; two trained tables; a
// table and a parameter that are only read.
module @two_clips {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @a : tensor<?x1xi64>
    nn.field @b : tensor<?x1xi64>
    nn.field @c : tensor<?x1xi64>
  }
  nn.clip @tight : global_norm(1.0)
  nn.clip @loose : global_norm(5.0)
  nn.group @dense rule(@sgd) rate(0.1) clip(@tight)
  nn.group @sparse rule(@sgd) rate(0.2) clip(@loose)
  nn.group @free rule(@sgd) rate(0.3)
  nn.table @first : i64 -> tensor<2xf32> in @sparse init(#nn.zeros)
  nn.table @second : i64 -> tensor<2xf32> in @dense init(#nn.zeros)
  nn.table @fixed : i64 -> tensor<2xf32> init(#nn.uniform<-1.0, 1.0>)
  nn.param @w : tensor<2x1xf32> in @dense init(#nn.xavier)
  nn.param @bias : tensor<1xf32> in @free init(#nn.zeros)
  nn.param @scale : tensor<2xf32> init(#nn.constant<2.0>)
  nn.func private @logit(%x: tensor<?x2xf32>, %a: tensor<?x1xi64>, %b: tensor<?x1xi64>, %c: tensor<?x1xi64>) -> tensor<?x1xf32> {
    %0 = nn.lookup @first[%a] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %1 = nn.lookup @second[%b] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %2 = nn.lookup @fixed[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %3 = nn.add %0, %1 : tensor<?x1x2xf32>, tensor<?x1x2xf32>
    %4 = nn.add %3, %2 : tensor<?x1x2xf32>, tensor<?x1x2xf32>
    %5 = nn.flatten %4 from 1 : tensor<?x1x2xf32>
    %s = nn.read @scale : tensor<2xf32>
    %6 = nn.mul %x, %s : tensor<?x2xf32>, tensor<2xf32>
    %7 = nn.add %5, %6 : tensor<?x2xf32>, tensor<?x2xf32>
    %z = nn.linear %7, @w, @bias : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>, %a: tensor<?x1xi64>, %b: tensor<?x1xi64>, %c: tensor<?x1xi64>):
    %z = nn.call @logit(%x, %a, %b, %c) : (tensor<?x2xf32>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse, @free] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%x: tensor<?x2xf32>, %a: tensor<?x1xi64>, %b: tensor<?x1xi64>, %c: tensor<?x1xi64>):
    %z = nn.call @logit(%x, %a, %b, %c) : (tensor<?x2xf32>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
