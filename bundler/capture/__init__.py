"""Recording what the user's command compiles, and finding compiles that already failed."""
