"""`tf.keras.applications`: known models of images, with weights of one's own or of local files."""

from tapeflow.keras.applications import (
    densenet,
    efficientnet,
    imagenet_utils,
    inception_v3,
    mobilenet,
    mobilenet_v2,
    resnet,
    resnet50,
    resnet_v2,
    vgg16,
    vgg19,
    xception,
)
from tapeflow.keras.applications.dense import (
    DenseNet121,
    DenseNet169,
    DenseNet201,
)
from tapeflow.keras.applications.efficient import (
    EfficientNetB0,
    EfficientNetB1,
    EfficientNetB2,
    EfficientNetB3,
    EfficientNetB4,
    EfficientNetB5,
    EfficientNetB6,
    EfficientNetB7,
)
from tapeflow.keras.applications.inception import (
    InceptionV3,
)
from tapeflow.keras.applications.mobile import (
    MobileNet,
    MobileNetV2,
)
from tapeflow.keras.applications.residual import (
    ResNet50,
    ResNet50V2,
    ResNet101,
    ResNet101V2,
    ResNet152,
    ResNet152V2,
)
from tapeflow.keras.applications.separable import (
    Xception,
)
from tapeflow.keras.applications.vgg import (
    VGG16,
    VGG19,
)

__all__ = [
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "ResNet101",
    "ResNet101V2",
    "ResNet152",
    "ResNet152V2",
    "ResNet50",
    "ResNet50V2",
    "VGG16",
    "VGG19",
    "Xception",
    "densenet",
    "efficientnet",
    "imagenet_utils",
    "inception_v3",
    "mobilenet",
    "mobilenet_v2",
    "resnet",
    "resnet50",
    "resnet_v2",
    "vgg16",
    "vgg19",
    "xception",
]
