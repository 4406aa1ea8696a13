func.func @k(%arg0: memref<?xf32, #hivm.address_space<gm>>, %n: index) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIV>} {
  %a = memref.alloc(%n) : memref<?xf32, #hivm.address_space<ub>>
  hivm.hir.load ins(%arg0 : memref<?xf32, #hivm.address_space<gm>>) outs(%a : memref<?xf32, #hivm.address_space<ub>>)
  hivm.hir.store ins(%a : memref<?xf32, #hivm.address_space<ub>>) outs(%arg0 : memref<?xf32, #hivm.address_space<gm>>)
  return
}
