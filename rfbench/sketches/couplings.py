"""Operator-valued features as linear operators.

Features φ of a scalar kernel and a square root A(ω) = B(ω)B(ω)ᵀ make a function of p outputs of every θ, by

    P_x θ = Σ_j φ_j(x) B(ω_j) θ_j = M(θ)ᵀ φ(x),      P_xᵀ y = Mᵀ(φ(x) yᵀ),      P_xᵀP_x θ = Mᵀ(φ(x)φ(x)ᵀ M(θ))   (1)

where row j of M(θ), which is D × p, is B(ω_j) θ_j  [Brault et al. 2016, Table 1].  Kernels differ in M only, which
costs D p; the products with φ are those of the scalar kernel, and Φ(x) = ⊕ φ_j(x) B(ω_j)ᵀ is never built.  For many
rows (1) needs ΦᵀΦ, which is accumulated once and whose size does not depend on their number.

For A(ω) = c ωωᵀ + (1 − c)(‖ω‖² I − ωωᵀ) a square root is, with ω̂ = ω/‖ω‖,

    B(ω) = ‖ω‖ (√(1 − c) (I − ω̂ω̂ᵀ) + √c ω̂ω̂ᵀ)                                                      (2)

(ibid., Example 2.3 uses Cholesky or SVD and Table 1 another root), and for c = 1 the column ω suffices.
"""

from abc import ABC, abstractmethod

import numpy as np

from rfbench.arrays import Array


class Coupling(ABC):
    """M of equation (1)."""

    shape: tuple[int, ...]  # of θ, one row per feature
    p: int

    @abstractmethod
    def forward(self, theta: Array) -> Array:
        """M(θ), (D, p)."""

    @abstractmethod
    def adjoint(self, C: Array) -> Array:
        """Mᵀ(C) for C of shape (D, p)."""

    def columns(self) -> Array:
        """B(ω_j) e_a of every column a, (r, D, p)."""
        each = np.eye(int(np.prod(self.shape[1:])))
        return np.array([self.forward(np.broadcast_to(e, (self.shape[0], len(e))).reshape(self.shape)) for e in each])

    @abstractmethod
    def gram(self, Phi: Array, Psi: Array) -> Array:
        """Σ_j φ_j(x) ψ_j(y) A(ω_j) of all pairs, in blocks, (n p, m p)."""

    @abstractmethod
    def paired(self, Phi: Array, Psi: Array) -> Array:
        """The same for row i with row i only, (n, p²)."""


class Kron(Coupling):
    """A(ω) = A = BBᵀ: M(Θ) = ΘBᵀ."""

    def __init__(self, D: int, B: Array) -> None:
        self.B, self.p, self.shape = B, len(B), (D, B.shape[1])

    def forward(self, theta: Array) -> Array:
        return theta @ self.B.T

    def adjoint(self, C: Array) -> Array:
        return C @ self.B

    def gram(self, Phi: Array, Psi: Array) -> Array:
        return np.kron(Phi @ Psi.T, self.B @ self.B.T)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return np.outer(np.einsum("pf,pf->p", Phi, Psi), self.B @ self.B.T)


class Field(Coupling):
    """Equation (2)."""

    def __init__(self, Omega: Array, c: float) -> None:
        self.Omega, self.c = Omega, c  # (D, p)
        self.p, self.shape = Omega.shape[1], Omega.shape
        self.squares = np.einsum("jp,jp->j", Omega, Omega)

    def forward(self, theta: Array) -> Array:
        rho, (a, b) = np.sqrt(self.squares), np.sqrt((1 - self.c, self.c))
        along = np.einsum("jp,jp->j", self.Omega, theta) * float(b - a) / rho
        return float(a) * rho[:, None] * theta + along[:, None] * self.Omega

    def adjoint(self, C: Array) -> Array:
        return self.forward(C)  # (2) is symmetric

    def gram(self, Phi: Array, Psi: Array) -> Array:
        K = (2 * self.c - 1) * self._along(Phi) @ self._along(Psi).T
        if self.c < 1:
            each, K = np.arange(self.p), K.reshape(len(Phi), self.p, len(Psi), self.p)
            K[:, each, :, each] += (1 - self.c) * (Phi * self.squares) @ Psi.T
        return K.reshape(len(Phi) * self.p, len(Psi) * self.p)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        products = Phi * Psi
        K = (2 * self.c - 1) * (self.Omega.T * products[:, None]) @ self.Omega
        each = np.arange(self.p)
        K[:, each, each] += ((1 - self.c) * products @ self.squares)[:, None]
        return K.reshape(len(Phi), -1)

    def _along(self, Phi: Array) -> Array:
        """φ_j(x) ω_j, (n p, D)."""
        return (Phi[:, None] * self.Omega.T).reshape(-1, len(self.Omega))


class Gradient(Field):
    """c = 1 with one number θ_j per feature: M(θ)_j = θ_j ω_j."""

    def __init__(self, Omega: Array) -> None:
        super().__init__(Omega, 1.0)
        self.shape = Omega.shape[:1]

    def forward(self, theta: Array) -> Array:
        return theta[:, None] * self.Omega

    def adjoint(self, C: Array) -> Array:
        return np.einsum("jp,jp->j", C, self.Omega)
