"""How a run uses the processor: the variables by which the libraries that compute are told."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ARITHMETIC = "ATEN_CPU_CAPABILITY"  # by which torch is told to use plainer instructions
VARIANT = "CLAIMBOOK_VARIANT"  # which other machine a run stands for (make portability)
