"""npubug's reducing half: make the compiler's input small while the same failure reproduces."""
