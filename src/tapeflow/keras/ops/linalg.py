"""`keras.ops.linalg`: factors, norms and equations of matrices."""

from tapeflow.keras.ops.control import jvp as jvp
from tapeflow.keras.ops.linear_algebra import cholesky as cholesky
from tapeflow.keras.ops.linear_algebra import det as det
from tapeflow.keras.ops.linear_algebra import eigh as eigh
from tapeflow.keras.ops.linear_algebra import inv as inv
from tapeflow.keras.ops.linear_algebra import pinv as pinv
from tapeflow.keras.ops.linear_algebra import qr as qr
from tapeflow.keras.ops.linear_algebra import solve as solve
from tapeflow.keras.ops.linear_algebra import solve_triangular as solve_triangular
from tapeflow.keras.ops.linear_algebra import svd as svd
from tapeflow.keras.ops.matrices import cholesky_inverse as cholesky_inverse
from tapeflow.keras.ops.matrices import eig as eig
from tapeflow.keras.ops.matrices import lstsq as lstsq
from tapeflow.keras.ops.matrices import lu_factor as lu_factor
from tapeflow.keras.ops.matrices import matrix_rank as matrix_rank
from tapeflow.keras.ops.matrices import norm as norm
