"""`tf.contrib.opt`: optimizers with decayed weights, averages, layer-wise rates, and SciPy's."""

from tapeflow.contrib.opt import matrix_functions, sign_decay
from tapeflow.contrib.opt.averaging import MovingAverageOptimizer
from tapeflow.contrib.opt.decaying import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from tapeflow.contrib.opt.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from tapeflow.contrib.opt.global_step import AdamGSOptimizer, LazyAdamGSOptimizer
from tapeflow.contrib.opt.rules import (
    AdaMaxOptimizer,
    AddSignOptimizer,
    LARSOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
    PowerSignOptimizer,
    RegAdagradOptimizer,
)
from tapeflow.contrib.opt.shampoo import ShampooOptimizer
from tapeflow.contrib.opt.wrapping import (
    MultitaskOptimizerWrapper,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)
