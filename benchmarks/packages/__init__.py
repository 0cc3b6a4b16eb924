"""Other packages beside ProCE: the same rows, the same model, the same judge.

Run from the root of the repository: ``PROCE_DATA=... python -m benchmarks.packages --envs FOLDER``.
Each package is installed into a virtual environment of its own under that folder and asked there,
by a small script of ``adapters``; what it answers comes back as plain values and is judged here.
"""
