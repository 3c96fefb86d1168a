// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Names of outputs.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{names 1 of 2 outputs; write `as "name"` after each of them, or after none (nn.return, C2)}}
  nn.return %x as "ctr", %x : tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{names two columns 'ctr'; give each output another name (C2)}}
  nn.return %x as "ctr", %x as "ctr" : tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{names two columns 'y.1'; give each output another name (C2)}}
  nn.return %y as "y", %x as "y.1" : tensor<?x3xf32>, tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{has the output name ""; a name is not empty and holds no tabs, line breaks or other control characters (C2)}}
  nn.return %x as "" : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{holds no tabs, line breaks or other control characters (C2)}}
  nn.return %x as "a\tb" : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x3xf32>
}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>):
  // expected-error @+1 {{has 1 names for 2 outputs (C2)}}
  "nn.return"(%x, %x) <{names = ["a"]}> : (tensor<?x1xf32>, tensor<?x1xf32>) -> ()
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{names what a function returns; names are for outputs of programs: leave `as` out (C2)}}
  nn.return %x as "ctr" : tensor<?x1xf32>
}
