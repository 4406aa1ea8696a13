"""JSON Schemas, shipped as bundler.schema."""
