"""GPU backend: compiles the same rule kernels for CUDA."""
