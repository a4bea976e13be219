import pytest

from tapeflow.core import device, errors
from tapeflow.core.device import DeviceSpec, DeviceSpecV1


@pytest.fixture
def gpu():
    added = device.add_device("GPU", details={"compute_capability": (9, 0)})
    yield added
    device.remove_device(added)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("cpu:0", "/device:CPU:0"),
        ("/gpu:0", "/device:GPU:0"),
        ("CPU", "/device:CPU:*"),
        ("/device:gpu:1", "/device:GPU:1"),
        ("device:CPU:0", "/device:CPU:0"),
        ("/job:a/replica:1/task:2/device:TPU:3", "/job:a/replica:1/task:2/device:TPU:3"),
        ("/task:0", "/task:0"),
        ("", ""),
        ("/", ""),
    ],
)
def test_names(name, canonical):
    assert DeviceSpec.from_string(name).to_string() == canonical
    assert device.canonical_name(name) == canonical


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "/foo:0",
            "Unknown attribute 'foo' is encountered while parsing the device spec: '/foo:0'.",
        ),
        ("/device:GPU", "Unknown attribute 'device' is encountered while parsing the device spec"),
        ("/cpu:0/gpu:1", "Multiple device types are not allowed while parsing the device spec"),
        ("gpu:a", "invalid literal for int"),
    ],
)
def test_no_device_names(name, message):
    with pytest.raises(ValueError, match=message):
        DeviceSpec.from_string(name)


def test_spec():
    spec = DeviceSpec(job="a", replica=1, task=2, device_type="gpu", device_index=3)
    assert repr(spec) == ("<DeviceSpec(job=a, replica=1, task=2, device_type=GPU, device_index=3)>")
    assert spec == DeviceSpec.from_string(spec.to_string())
    assert hash(spec) == hash(DeviceSpec.from_string(spec.to_string()))
    assert spec.replace(job="b").job == "b"
    merged = spec.make_merged_spec(DeviceSpec(job="x", device_type="CPU"))
    assert merged.to_string() == "/job:x/replica:1/task:2/device:CPU:3"
    with pytest.raises(AttributeError):
        spec.job = "z"


def test_spec_of_1x_can_be_changed():
    spec = DeviceSpecV1(job="a")
    spec.task = 3
    spec.merge_from(DeviceSpec(device_type="cpu", device_index=0))
    assert spec.to_string() == "/job:a/task:3/device:CPU:0"
    assert spec.parse_from_string("/gpu:1") is spec
    assert spec.to_string() == "/device:GPU:1"


def test_find():
    assert device.find("cpu:0").index == 0
    assert device.find(None) is device.host()
    assert device.find("/task:0").name == "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def hard_placement():
    device.set_soft_placement(False)
    yield
    device.set_soft_placement(True)


def test_absent_device_is_an_error_that_names_what_there_is(hard_placement):
    with pytest.raises(errors.InvalidArgumentError) as caught:
        device.find("/gpu:1")
    assert str(caught.value) == (
        "Could not satisfy device specification '/job:localhost/replica:0/task:0/device:GPU:1'. "
        "enable_soft_placement=0. Supported device types [CPU]. All available devices "
        "[/job:localhost/replica:0/task:0/device:CPU:0]."
    )
    with pytest.raises(
        errors.InvalidArgumentError, match=r"/job:foo/.*/device:CPU:0 unknown device"
    ):
        device.find("/job:foo")


def test_soft_placement():
    assert device.find("/gpu:1") is device.host()


def test_no_gpu():
    assert device.num_gpus() == 0
    assert device.gpu_device_name() == ""
    assert not device.is_gpu_available()


def test_added_device(gpu):
    assert gpu.index == 1
    assert device.find("gpu") is gpu
    assert device.name_of(1) == "/job:localhost/replica:0/task:0/device:GPU:0"
    assert device.num_gpus() == 1
    assert device.gpu_device_name() == "/device:GPU:0"
    assert device.is_gpu_available(min_cuda_compute_capability=(8, 0))
    assert not device.is_gpu_available(min_cuda_compute_capability=(10, 0))


def test_types_of_other_devices_keep_their_case():
    spec = DeviceSpec.from_string("/job:a/device:MyChip:2")
    assert spec.to_string() == "/job:a/device:MyChip:2"
    assert DeviceSpec.from_string("/gpu:1").make_merged_spec(spec).to_string() == "/job:a/device:MyChip:2"
    assert DeviceSpec(device_type="cpu").to_string() == "/device:CPU:*"
