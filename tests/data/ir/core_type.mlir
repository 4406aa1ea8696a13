module attributes {hacc.target = #hacc.target<"Ascend910B3">} {
  func.func @pick(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : i32
    %cond = arith.cmpi sgt, %arg4, %c0 : i32
    %r = memref.reinterpret_cast %arg2 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %o = memref.reinterpret_cast %arg3 to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
    %a = memref.alloc() : memref<64xf32>
    memref.copy %r, %a : memref<64xf32, strided<[1]>> to memref<64xf32>
    %w = memref.cast %a : memref<64xf32> to memref<*xf32>
    func.call @ext(%w) : (memref<*xf32>) -> ()
    %t = bufferization.to_tensor %a restrict writable : memref<64xf32>
    %e = arith.addf %t, %t : tensor<64xf32>
    bufferization.materialize_in_destination %e in writable %o : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
    return
  }
  func.func private @ext(memref<*xf32>)
}
