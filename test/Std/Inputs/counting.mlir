  nn.rule @counting hyper() slots() row_slots(touched = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } sum {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield
  } row {
  ^bb0(%width: f64, %touched: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %touched, %one : f32
    nn.yield %0 : f32
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
