"""All special functions, under the names that `jax.scipy.special` has too where it has them."""

from tapeflow.ops.numeric.bessel_functions import i0, i0e, i1, i1e, j0, j1, k0, k0e, k1, k1e, y0, y1
from tapeflow.ops.numeric.error_functions import erf, erfc, erfinv, ndtri
from tapeflow.ops.numeric.gamma_functions import digamma, gammaln, polygamma, zeta
from tapeflow.ops.numeric.incomplete import betainc, gammainc, gammaincc
from tapeflow.ops.numeric.integrals import dawsn, expi, fresnel, spence

__all__ = [
    "betainc", "dawsn", "digamma", "erf", "erfc", "erfinv", "expi", "fresnel", "gammainc", "gammaincc", "gammaln",
    "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "ndtri", "polygamma", "spence", "y0", "y1", "zeta",
]  # fmt: skip
