// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{takes two symbols @w; give one of them another name (C2)}}
nn.func private @f() with(@w: tensor<4xf32>, @w: tensor<8xf32>) {
  nn.return
}

// -----

// expected-error @+1 {{takes @w of type 'tensor<?x4xf32>'; write the type of a parameter, such as tensor<4x8xf32>, or that of a table, such as i64 -> tensor<8xf32> (C2)}}
nn.func private @f() with(@w: tensor<?x4xf32>) {
  nn.return
}

// -----

// expected-error @+1 {{write the type of a parameter, such as tensor<4x8xf32>, or that of a table}}
nn.func private @f() with(@t: i32 -> tensor<4xf32>) {
  nn.return
}

// -----

// expected-error @+1 {{write the type of a parameter, such as tensor<4x8xf32>, or that of a table}}
nn.func private @f() with(@t: i64 -> tensor<4x8xf32>) {
  nn.return
}

// -----

// expected-error @+1 {{has not as many symbols as types of them (C2)}}
"nn.func"() <{sym_name = "f", function_type = () -> (), symbols = [@w], symbol_types = []}> ({
  "nn.return"() : () -> ()
}) : () -> ()

// -----

// expected-note @+1 {{that of the model is here}}
nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{takes @w, and the model has a symbol of that name; give what the function takes a name of its own (C2)}}
nn.func private @f() with(@w: tensor<4xf32>) {
  nn.return
}

// -----

// An argument must also have a type that its body accepts.
nn.func private @f(%x: tensor<?x4xf32>) with(@w: tensor<8x4xf32>, @t: i64 -> tensor<8xf32>) {
  // expected-error @+1 {{with @w of type 'tensor<8x4xf32>'; expected 'tensor<4x8xf32>' (C1)}}
  %0 = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x8xf32>
  nn.return
}

// -----

nn.func private @f(%k: tensor<?x1xi64>) with(@w: tensor<8xf32>) {
  // expected-error @+1 {{looks up in @w, which is not an nn.table (C1)}}
  %0 = nn.lookup @w[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
  nn.return
}

// -----

nn.func private @f(%k: tensor<?x1xi64>) with(@t: i64 -> tensor<4xf32>) {
  // expected-error @+1 {{but a row of @t is 'tensor<4xf32>' (C2)}}
  %0 = nn.lookup @t[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
  nn.return
}

// -----

nn.func private @f() with(@t: i64 -> tensor<4xf32>) {
  // expected-error @+1 {{reads @t, which is neither nn.param nor nn.state (C1)}}
  %0 = nn.read @t : tensor<4xf32>
  nn.return
}

// -----

// Symbols of a function have names that only the function knows.
nn.func private @f() with(@w: tensor<4xf32>) {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{reads @w, which is neither nn.param nor nn.state (C1)}}
  %0 = nn.read @w : tensor<4xf32>
  nn.return
}

// -----

nn.func private @f() with(@w: tensor<4xf32>, @t: i64 -> tensor<8xf32>) {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{gives 0 symbols to @f, which takes 2: write `with(...)` with one for each of (@w: tensor<4xf32>, @t: i64 -> tensor<8xf32>) (C2)}}
  nn.call @f() : () -> ()
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
nn.func private @f() {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{gives 1 symbols to @f, which takes 0; leave `with(...)` out (C2)}}
  nn.call @f() with(@w) : () -> ()
  nn.return
}

// -----

nn.param @v : tensor<8xf32> init(#nn.zeros)
nn.func private @f() with(@w: tensor<4xf32>) {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{gives @v to @f of type tensor<8xf32>, but it takes @w: tensor<4xf32> (C2)}}
  nn.call @f() with(@v) : () -> ()
  nn.return
}

// -----

nn.table @v : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f() with(@w: tensor<4xf32>) {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{gives @v to @f of type i64 -> tensor<4xf32>, but it takes @w: tensor<4xf32> (C2)}}
  nn.call @f() with(@v) : () -> ()
  nn.return
}

// -----

nn.func private @f() with(@w: tensor<4xf32>) {
  nn.return
}
nn.func private @g() {
  // expected-error @+1 {{gives @nobody to @f, which is no nn.param, nn.state or nn.table; it takes @w: tensor<4xf32> (C2)}}
  nn.call @f() with(@nobody) : () -> ()
  nn.return
}
