"""How boosted trees learn: `LearnerConfig` and its parts."""

from tapeflow.protos.building import build


def _message(name):
    return build(f"boosted_trees.learner.{name}")


AveragingConfig = _message("AveragingConfig")
LearnerConfig = _message("LearnerConfig")
LearningRateConfig = _message("LearningRateConfig")
LearningRateDropoutDrivenConfig = _message("LearningRateDropoutDrivenConfig")
LearningRateFixedConfig = _message("LearningRateFixedConfig")
LearningRateLineSearchConfig = _message("LearningRateLineSearchConfig")
TreeConstraintsConfig = _message("TreeConstraintsConfig")
TreeRegularizationConfig = _message("TreeRegularizationConfig")

__all__ = [
    "AveragingConfig", "LearnerConfig", "LearningRateConfig", "LearningRateDropoutDrivenConfig",
    "LearningRateFixedConfig", "LearningRateLineSearchConfig", "TreeConstraintsConfig", "TreeRegularizationConfig",
]  # fmt: skip
