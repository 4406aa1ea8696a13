"""The steps of a bundling, one file each; `bundler.bundle` puts them in a row."""
