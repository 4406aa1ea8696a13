"""Everything npubug knows about the compiler tools: finding, running and understanding them."""
