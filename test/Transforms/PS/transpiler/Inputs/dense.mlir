// A product of 1000 x 1000, a bias, and the mean of squared errors.
module @dense {
  nn.record @r {
    nn.field @x : tensor<?x1000xf32>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @weights rule(@sgd) rate(0.1)
  nn.group @biases rule(@sgd) rate(0.1)
  nn.param @fc_w : tensor<1000x1000xf32> in @weights init(#nn.uniform<-0.1, 0.1>)
  nn.param @fc_b : tensor<1000xf32> in @biases init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1000xf32>, %y: tensor<?x1xf32>):
    %z = nn.linear %x, @fc_w, @fc_b : (tensor<?x1000xf32>) -> tensor<?x1000xf32>
    %difference = nn.sub %z, %y : tensor<?x1000xf32>, tensor<?x1xf32>
    %square = nn.mul %difference, %difference : tensor<?x1000xf32>, tensor<?x1000xf32>
    %mean = nn.reduce mean %square axes [1] : tensor<?x1000xf32>
    %l = nn.reshape %mean : (tensor<?xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@weights, @biases] : tensor<?x1xf32>
  }
}
