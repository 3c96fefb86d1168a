module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1) schedule(SCHEDULE)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
