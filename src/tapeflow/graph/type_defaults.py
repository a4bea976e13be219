"""The dtypes that attrs of ops have where a node does not tell: what TensorFlow's definitions say.

A line is a dtype and the attrs, each behind the name of its op.
"""

from __future__ import annotations

import functools

from tapeflow.core.dtypes import DType, as_dtype

_TABLE = """
bool
    Where.T
complex64
    Angle.T ComplexAbs.T Conj.T FFT.Tcomplex FFT2D.Tcomplex FFT3D.Tcomplex FFTND.Tcomplex IFFT.Tcomplex
    IFFT2D.Tcomplex IFFT3D.Tcomplex IFFTND.Tcomplex IRFFT.Tcomplex IRFFT2D.Tcomplex IRFFT3D.Tcomplex
    IRFFTND.Tcomplex Imag.T Real.T
float64
    RandomPoissonV2.R StatefulRandomBinomial.T StatelessRandomBinomial.T
float32
    AdjustContrastv2.T AdjustHue.T AdjustSaturation.T CTCBeamSearchDecoder.T CTCGreedyDecoder.T CTCLoss.T Complex.T
    DrawBoundingBoxes.T DrawBoundingBoxesV2.T HSVToRGB.T HistogramSummary.T ImageSummary.T LRN.T LRNGrad.T
    LeakyRelu.T LeakyReluGrad.T MaxPool.T MaxPool3DGrad.T MaxPool3DGrad.TInput MaxPoolGrad.T NextAfter.T
    NonMaxSuppressionV2.T NonMaxSuppressionV2.T_threshold NonMaxSuppressionV3.T NonMaxSuppressionV3.T_threshold
    NonMaxSuppressionV4.T NonMaxSuppressionV4.T_threshold NonMaxSuppressionV5.T RFFT.Treal RFFT2D.Treal
    RFFT3D.Treal RFFTND.Treal RGBToHSV.T
int32
    All.Tidx Any.Tidx ArgMax.Tidx ArgMin.Tidx BatchToSpace.Tidx BatchToSpaceND.Tblock_shape BatchToSpaceND.Tcrops
    BroadcastArgs.T BroadcastGradientArgs.T BroadcastTo.Tidx ConcatV2.Tidx ConjugateTranspose.Tperm
    Conv3DBackpropInputV2.Tshape Cumprod.Tidx Cumsum.Tidx CumulativeLogsumexp.Tidx EuclideanNorm.Tidx
    ExpandDims.Tdim Fill.index_type InTopK.T InTopKV2.T InvertPermutation.T LinSpace.Tidx Max.Tidx Mean.Tidx
    Min.Tidx MirrorPad.Tpaddings MirrorPadGrad.Tpaddings Pad.Tpaddings PadV2.Tpaddings Prod.Tidx Range.Tidx
    Reshape.Tshape ReverseV2.Tidx SpaceToBatch.Tpaddings SpaceToBatchND.Tblock_shape SpaceToBatchND.Tpaddings
    SparseSegmentMean.Tidx SparseSegmentMean.Tsegmentids SparseSegmentMeanGrad.Tidx
    SparseSegmentMeanGrad.Tsegmentids SparseSegmentMeanWithNumSegments.Tidx
    SparseSegmentMeanWithNumSegments.Tnumsegments SparseSegmentMeanWithNumSegments.Tsegmentids
    SparseSegmentSqrtN.Tidx SparseSegmentSqrtN.Tsegmentids SparseSegmentSqrtNGrad.Tidx
    SparseSegmentSqrtNGrad.Tsegmentids SparseSegmentSqrtNWithNumSegments.Tidx
    SparseSegmentSqrtNWithNumSegments.Tnumsegments SparseSegmentSqrtNWithNumSegments.Tsegmentids
    SparseSegmentSum.Tidx SparseSegmentSum.Tsegmentids SparseSegmentSumGrad.Tidx
    SparseSegmentSumGrad.Tsegmentids SparseSegmentSumWithNumSegments.Tidx
    SparseSegmentSumWithNumSegments.Tnumsegments SparseSegmentSumWithNumSegments.Tsegmentids
    StatelessRandomNormal.T StatelessRandomNormalV2.Tshape StatelessRandomUniform.T
    StatelessRandomUniformFullInt.T StatelessRandomUniformFullIntV2.Tshape StatelessRandomUniformIntV2.Tshape
    StatelessRandomUniformV2.Tshape StatelessTruncatedNormal.T StatelessTruncatedNormalV2.Tshape Sum.Tidx
    TensorListGetItem.Tshape Tile.Tmultiples TopKV2.Tk Transpose.Tperm UnravelIndex.Tidx
    UnsortedSegmentJoin.Tnumsegments UnsortedSegmentMax.Tnumsegments UnsortedSegmentMin.Tnumsegments
    UnsortedSegmentProd.Tnumsegments UnsortedSegmentSum.Tnumsegments
int64
    MatrixBandPart.Tindex OneHot.TI ReverseSequence.Tlen SparseSoftmaxCrossEntropyWithLogits.Tlabels
    SparseTensorDenseMatMul.Tindices SplitV.Tlen StatelessMultinomial.Tseed
    StatelessParameterizedTruncatedNormal.Tseed StatelessRandomBinomial.Tseed StatelessRandomGammaV2.Tseed
    StatelessRandomGetKeyCounter.Tseed StatelessRandomNormal.Tseed StatelessRandomPoisson.Tseed
    StatelessRandomUniform.Tseed StatelessRandomUniformFullInt.Tseed StatelessRandomUniformInt.Tseed
    StatelessTruncatedNormal.Tseed StringNGrams.Tsplits UnicodeEncode.Tsplits UniqueV2.Taxis
    UniqueWithCountsV2.Taxis
string
    DeserializeSparse.Tserialized
uint8
    EncodePng.T
"""


@functools.cache
def type_defaults() -> dict[tuple[str, str], DType]:
    """The default of each (op, attr) that has one."""
    found: dict[tuple[str, str], DType] = {}
    kind = None
    for line in _TABLE.strip().split("\n"):
        if not line.startswith(" "):
            kind = as_dtype(line)
            continue
        for word in line.split():
            op, _, attr = word.partition(".")
            assert kind is not None
            found[op, attr] = kind
    return found
