// A number may be finite as it is written, but not in the type to which it is
// converted. A number outside of f32 may be one of f64.
// RUN: pdl-opt %s --nn-check-model -split-input-file -verify-diagnostics
// RUN: pdl-opt %s --pdl-pipeline="to=model" -split-input-file -verify-diagnostics
// RUN: pdl-opt %s --pdl-pipeline="to=model element-type=f64" -split-input-file | FileCheck %s
// CHECK-COUNT-5: nn.program @predict

module {
  nn.record @r {
    // expected-error @+1 {{has missing(1.000000e+300 : f64), which is no finite number of 'f32' (C3)}}
    nn.field @x : tensor<?x1xf32> missing(1.0e300)
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    // expected-error @+1 {{maps 'no' to -3.4028235999999999E+38 : f64, which is no finite number of 'f32' (C2)}}
    nn.field @x : tensor<?x1xf32> values({"yes" = 3.4028235e38, "no" = -3.4028236e38})
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

module {
  // expected-error @+1 {{starts slot 'm' with a number that is not finite in 'f32' (C3)}}
  nn.rule @keep hyper() slots(m = 1.0e39) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32, %m: f32):
    nn.yield %value, %m : f32, f32
  }
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

module {
  // expected-error @+1 {{starts slot 'touched' with a number that is not finite in 'f32' (C3)}}
  nn.rule @keep hyper() slots() row_slots(touched = 1.0e39) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } sum {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield
  } row {
  ^bb0(%width: f64, %touched: f32):
    nn.yield %touched : f32
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}

// -----

// Numbers of f32, and fields of f64.
module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32> missing(3.4028235e38) values({"least" = -3.4028235e38, "whole" = 9223372036854775807})
    nn.field @y : tensor<?x1xf64> missing(1.0e300)
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
}
