"""Local files, and the formats that other packages build on: records, tensors as messages, checksums."""
