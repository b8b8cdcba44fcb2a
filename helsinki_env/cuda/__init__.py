"""GPU backend, which compiles the same rule kernels for CUDA."""
