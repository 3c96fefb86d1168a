// Two programs take turns. In the turns of the other one, what the second makes of pooled bags
// has zeros in its place: as many as its rows, which are those of samples, not of bags. They were
// as many as the bags', of which a sample has two.
module @rows_joined_in_turns {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x6xf32>
    nn.field @bags : !nn.ragged<?x2x*xi64>
  }
  nn.group @first rule(@sgd) rate(0.125)
  nn.group @second rule(@sgd) rate(0.125)
  nn.param @w : tensor<6x1xf32> in @first init(#nn.uniform<-0.5, 0.5>)
  nn.table @t : i64 -> tensor<3xf32> in @second init(#nn.uniform<-0.5, 0.5>)
  nn.param @v : tensor<6x2xf32> in @second init(#nn.uniform<-0.5, 0.5>)

  nn.program @train_first reads(@sample except @bags) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x6xf32>):
    %z = nn.linear %x, @w : (tensor<?x6xf32>) -> tensor<?x1xf32>
    %loss = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %loss over [@first] : tensor<?x1xf32>
  }
  nn.program @train_second reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x6xf32>, %bags: !nn.ragged<?x2x*xi64>):
    %rows = nn.lookup @t[%bags] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %tamed = nn.tanh %rows : tensor<?x2x3xf32>
    %side = nn.linear %x, @v : (tensor<?x6xf32>) -> tensor<?x2xf32>
    %column = nn.reshape %side : (tensor<?x2xf32>) -> tensor<?x2x1xf32>
    %both = nn.mul %tamed, %column : tensor<?x2x3xf32>, tensor<?x2x1xf32>
    %flat = nn.flatten %both from 1 : tensor<?x2x3xf32>
    %z = nn.reduce sum %flat axes [1] keep : tensor<?x6xf32>
    %loss = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %loss over [@second] : tensor<?x1xf32>
  }
  nn.cycle @train [@train_first, @train_second]

  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%x: tensor<?x6xf32>, %bags: !nn.ragged<?x2x*xi64>):
    %z = nn.linear %x, @w : (tensor<?x6xf32>) -> tensor<?x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }
}
