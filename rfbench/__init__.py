"""rfbench: experiments with random-feature approximations of kernels, from config files."""

__version__ = "0.1.0"
