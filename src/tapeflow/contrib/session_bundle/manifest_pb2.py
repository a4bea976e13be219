"""What a session bundle says about its model: `Signatures` and `AssetFile`."""

from tapeflow.protos.building import build

AssetFile = build("serving.AssetFile")
ClassificationSignature = build("serving.ClassificationSignature")
GenericSignature = build("serving.GenericSignature")
RegressionSignature = build("serving.RegressionSignature")
Signature = build("serving.Signature")
Signatures = build("serving.Signatures")
TensorBinding = build("serving.TensorBinding")

__all__ = [
    "AssetFile", "ClassificationSignature", "GenericSignature", "RegressionSignature", "Signature", "Signatures",
    "TensorBinding",
]  # fmt: skip
