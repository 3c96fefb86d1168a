// RUN: pdl-opt %s --verify-diagnostics --split-input-file

// expected-error@below {{@nobody is not a function of the module (C1)}}
rt.device_kernel @nobody arguments []

// -----

func.func private @gives(%x: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// expected-error@below {{@gives gives numbers to its caller, which a device does not (C1)}}
rt.device_kernel @gives arguments [#rt<device_argument written>]

// -----

func.func private @fill(%x: !llvm.ptr) {
  return
}
// expected-error@below {{says what the kernel does with 2 arguments, but @fill takes 1 (C2)}}
rt.device_kernel @fill arguments [#rt<device_argument written>, #rt<device_argument number>]

// -----

func.func private @fill(!llvm.ptr, index, index)
// expected-error@below {{says what the kernel does with 3 arguments, but @fill takes 3, two of which are threads' (C2)}}
rt.device_kernel @fill arguments [#rt<device_argument written>, #rt<device_argument number>, #rt<device_argument number>]

// -----

func.func private @fill(%x: !llvm.ptr) {
  return
}
rt.device_kernel @fill arguments [#rt<device_argument written>]
func.func @stage(%worker: !llvm.ptr, %n: index) {
  // expected-error@below {{gives @fill 2 arguments of 1 (C1)}}
  rt.launch @fill turns %n of %worker(%worker, %n) : !llvm.ptr, (!llvm.ptr, index)
  return
}

// -----

func.func @stage(%worker: !llvm.ptr, %n: index) {
  // expected-error@below {{@stage is not a kernel of the module: no rt.device_kernel names it (C1)}}
  rt.launch @stage turns %n of %worker(%worker) : !llvm.ptr, (!llvm.ptr)
  return
}

// -----

func.func @stage(%worker: !llvm.ptr, %n: index) {
  // expected-error@below {{is strict: no library of a device settles orders (C1)}}
  rt.device_product strict %worker, %worker, %worker sizes(%n, %n, %n) into %worker stride %n else @product
    : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @stage(%worker: !llvm.ptr, %n: index) {
  // expected-error@below {{@product is not a kernel of the module: no rt.device_kernel names it (C2)}}
  rt.device_product fast %worker, %worker, %worker sizes(%n, %n, %n) into %worker stride %n else @product
    : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func private @product(%x: !llvm.ptr) {
  return
}
rt.device_kernel @product arguments [#rt<device_argument written>]
func.func @stage(%worker: !llvm.ptr, %n: index) {
  // expected-error@below {{gives @product 12 arguments of 1 (C2)}}
  rt.device_product fast %worker, %worker, %worker sizes(%n, %n, %n) into %worker stride %n else @product
    : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
  return
}
