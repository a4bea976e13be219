"""The configuration of contrib's boosted trees."""

PACKAGE = "tensorflow.boosted_trees.learner"

TABLE = """
TreeRegularizationConfig
    l1 1 float
    l2 2 float
    tree_complexity 3 float

TreeConstraintsConfig
    max_tree_depth 1 uint32
    min_node_weight 2 float
    max_number_of_unique_feature_columns 3 int64

LearningRateFixedConfig
    learning_rate 1 float

LearningRateLineSearchConfig
    max_learning_rate 1 float
    num_steps 2 int32

LearningRateDropoutDrivenConfig
    dropout_probability 1 float
    probability_of_skipping_dropout 2 float
    learning_rate 3 float

LearningRateConfig
    fixed 1 boosted_trees.learner.LearningRateFixedConfig in tuner
    dropout 2 boosted_trees.learner.LearningRateDropoutDrivenConfig in tuner
    line_search 3 boosted_trees.learner.LearningRateLineSearchConfig in tuner

AveragingConfig
    average_last_n_trees 1 float in config
    average_last_percent_trees 2 float in config

LearnerConfig
    num_classes 1 uint32
    feature_fraction_per_tree 2 float in feature_fraction
    feature_fraction_per_level 3 float in feature_fraction
    regularization 4 boosted_trees.learner.TreeRegularizationConfig
    constraints 5 boosted_trees.learner.TreeConstraintsConfig
    learning_rate_tuner 6 boosted_trees.learner.LearningRateConfig
    pruning_mode 8 boosted_trees.learner.LearnerConfig.PruningMode
    growing_mode 9 boosted_trees.learner.LearnerConfig.GrowingMode
    multi_class_strategy 10 boosted_trees.learner.LearnerConfig.MultiClassStrategy
    averaging_config 11 boosted_trees.learner.AveragingConfig
    weak_learner_type 12 boosted_trees.learner.LearnerConfig.WeakLearnerType
    each_tree_start_num_layers 14 int32

enum LearnerConfig.PruningMode
    PRUNING_MODE_UNSPECIFIED 0
    PRE_PRUNE 1
    POST_PRUNE 2

enum LearnerConfig.GrowingMode
    GROWING_MODE_UNSPECIFIED 0
    WHOLE_TREE 1
    LAYER_BY_LAYER 2

enum LearnerConfig.MultiClassStrategy
    MULTI_CLASS_STRATEGY_UNSPECIFIED 0
    TREE_PER_CLASS 1
    FULL_HESSIAN 2
    DIAGONAL_HESSIAN 3

enum LearnerConfig.WeakLearnerType
    NORMAL_DECISION_TREE 0
    OBLIVIOUS_DECISION_TREE 1
"""
