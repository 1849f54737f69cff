"""LightOn's optical processing units: opu=lightonml."""

from rfbench_lightonml.backend import LightOn

__all__ = ["LightOn"]
