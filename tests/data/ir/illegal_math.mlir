module attributes {hacc.target = #hacc.target<"Ascend910B3">} {
  func.func @dyn_kernel(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32}, %arg3: memref<?xf32> {tt.tensor_kind = 1 : i32}, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32, %arg8: i32, %arg9: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %n = arith.index_cast %arg4 : i32 to index
    %r = memref.reinterpret_cast %arg2 to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    %o = memref.reinterpret_cast %arg3 to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    %alloc = memref.alloc(%n) : memref<?xf32>
    memref.copy %r, %alloc : memref<?xf32, strided<[1]>> to memref<?xf32>
    %t = bufferization.to_tensor %alloc restrict writable : memref<?xf32>
    %e = math.exp %t : tensor<?xf32>
    bufferization.materialize_in_destination %e in writable %o : (tensor<?xf32>, memref<?xf32, strided<[1]>>) -> ()
    return
  }
}
