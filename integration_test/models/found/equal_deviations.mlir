// The gradient of nn.standardize divides by the deviations, which are three
// equal numbers: a constant without memory, although it has a shape. A loop
// that read such a constant together with other tensors looked for its memory.
module @equal_deviations {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @bags : !nn.ragged<?x2x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.125)
  nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.uniform<-0.5, 0.5>)
  nn.func private @score(%bags: !nn.ragged<?x2x*xi64>) -> tensor<?x1xf32> {
    %rows = nn.lookup @t[%bags] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %even = nn.standardize %rows mean [0.25, -0.5, 0.25] deviation [2.0, 2.0, 2.0] : tensor<?x2x3xf32>
    %tamed = nn.tanh %even : tensor<?x2x3xf32>
    %flat = nn.flatten %tamed from 1 : tensor<?x2x3xf32>
    %z = nn.reduce mean %flat axes [1] keep : tensor<?x6xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %bags: !nn.ragged<?x2x*xi64>):
    %z = nn.call @score(%bags) : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %loss = nn.hinge_loss %z, %label : tensor<?x1xf32>
    nn.minimize %loss over [@g] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>):
    %z = nn.call @score(%bags) : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    nn.return %z as "z" : tensor<?x1xf32>
  }
}
