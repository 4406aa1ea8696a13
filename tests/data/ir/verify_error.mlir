func.func @wrong() -> i32 {
  %0 = arith.constant 1 : i64
  return %0 : i64
}
