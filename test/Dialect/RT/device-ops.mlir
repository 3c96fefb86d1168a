// RUN: pdl-opt %s | pdl-opt | FileCheck %s

module {
  // CHECK: func.func private @kernel(!llvm.ptr, index, index, index)
  func.func private @kernel(!llvm.ptr, index, index, index)
  func.func private @kernel.run(!llvm.ptr, i64, i64)
  func.func private @fill(%x: !llvm.ptr) {
    return
  }
  // CHECK: rt.device_kernel @kernel arguments [#rt<device_argument written>, #rt<device_argument number>] runs @kernel.run
  rt.device_kernel @kernel arguments [#rt<device_argument written>, #rt<device_argument number>] runs @kernel.run
  // CHECK: rt.device_kernel @fill arguments [#rt<device_argument read>]{{$}}
  rt.device_kernel @fill arguments [#rt<device_argument read>]

  func.func private @product(index, index, index, index, index, !llvm.ptr, !llvm.ptr, index, !llvm.ptr, !llvm.ptr, !llvm.ptr, index, index, index)
  rt.device_kernel @product arguments [
    #rt<device_argument number>, #rt<device_argument number>, #rt<device_argument number>, #rt<device_argument number>,
    #rt<device_argument number>, #rt<device_argument read>, #rt<device_argument read>, #rt<device_argument number>,
    #rt<device_argument read>, #rt<device_argument read>, #rt<device_argument written>, #rt<device_argument number>]

  func.func @stage(%worker: !llvm.ptr, %n: index) -> i32 {
    // CHECK: %[[W:.*]] = rt.device_pointer parameter[2] of %{{.*}} : !llvm.ptr -> !llvm.ptr
    %w = rt.device_pointer parameter[2] of %worker : !llvm.ptr -> !llvm.ptr
    // CHECK: %[[C:.*]] = rt.device_constant %{{.*}}, %{{.*}} of %[[W]] : !llvm.ptr, !llvm.ptr -> !llvm.ptr
    %c = rt.device_constant %worker, %n of %w : !llvm.ptr, !llvm.ptr -> !llvm.ptr
    // CHECK: rt.launch @kernel turns %{{.*}} of %{{.*}}(%[[W]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, index)
    rt.launch @kernel turns %n of %worker(%w, %n) : !llvm.ptr, (!llvm.ptr, index)
    // CHECK: rt.device_product fast %{{.*}}, %[[W]], %[[C]] transposed bias(%[[W]] : !llvm.ptr) sizes(%[[N:.*]], %[[N]], %[[N]]) into %[[C]] stride %[[N]] else @product : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
    rt.device_product fast %worker, %w, %c transposed bias(%w : !llvm.ptr) sizes(%n, %n, %n) into %c stride %n else @product
      : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: rt.device_product bf16 %{{.*}}, %[[W]] transposed, %[[C]] sizes(
    rt.device_product bf16 %worker, %w transposed, %c sizes(%n, %n, %n) into %c stride %n else @product
      : !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: rt.device_gather %{{.*}}, %[[W]] into %[[C]] width 8 of f32 : !llvm.ptr, !llvm.ptr, !llvm.ptr
    rt.device_gather %worker, %w into %c width 8 of f32 : !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: %[[M:.*]] = rt.host_memory %{{.*}}, %{{.*}} : !llvm.ptr -> !llvm.ptr
    %m = rt.host_memory %worker, %n : !llvm.ptr -> !llvm.ptr
    // CHECK: rt.copy_in %{{.*}}, %{{.*}} from %[[M]] to %[[W]] : !llvm.ptr, !llvm.ptr, !llvm.ptr
    rt.copy_in %worker, %n from %m to %w : !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: rt.copy_out %{{.*}}, %{{.*}} from %[[W]] to %[[M]] : !llvm.ptr, !llvm.ptr, !llvm.ptr
    rt.copy_out %worker, %n from %w to %m : !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: rt.copy_within %{{.*}}, %{{.*}} from %[[W]] to %[[C]] : !llvm.ptr, !llvm.ptr, !llvm.ptr
    rt.copy_within %worker, %n from %w to %c : !llvm.ptr, !llvm.ptr, !llvm.ptr
    // CHECK: rt.device_wait %{{.*}} : !llvm.ptr
    %s = rt.device_wait %worker : !llvm.ptr
    // CHECK: rt.device_wait last %{{.*}} : !llvm.ptr
    %t = rt.device_wait last %worker : !llvm.ptr
    return %t : i32
  }
}
