import pytest

from tapeflow.core import config, context, device


@pytest.fixture
def gpu():
    added = device.add_device("GPU", details={"device_name": "made up"})
    yield config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    device.remove_device(added)
    context.reset_devices()


def test_lists():
    cpu = config.list_physical_devices()[0]
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert config.list_physical_devices("GPU") == []
    assert config.get_visible_devices() == [cpu]
    assert repr(config.list_logical_devices()) == (
        "[LogicalDevice(name='/device:CPU:0', device_type='CPU')]"
    )


def test_hidden_device(gpu):
    assert len(config.list_logical_devices("GPU")) == 1
    config.set_visible_devices([], "GPU")
    assert config.list_logical_devices("GPU") == []
    assert config.list_physical_devices("GPU") == [gpu]
    assert device.find("gpu:0") is device.host()


def test_unknown_device():
    unknown = config.PhysicalDevice("/physical_device:GPU:7", "GPU")
    for function in (config.get_memory_growth, config.get_logical_device_configuration):
        with pytest.raises(ValueError, match="Unrecognized device: PhysicalDevice"):
            function(unknown)
    with pytest.raises(ValueError, match="Unrecognized device: 3"):
        config.set_visible_devices(3)


def test_logical_cpus():
    cpu = config.list_physical_devices("CPU")[0]
    config.set_logical_device_configuration(cpu, [config.LogicalDeviceConfiguration()] * 2)
    try:
        assert [d.name for d in config.list_logical_devices()] == ["/device:CPU:0", "/device:CPU:1"]
        assert config.list_physical_devices() == [cpu]
        assert device.find("cpu:1").index == 0
    finally:
        config.set_logical_device_configuration(cpu, None)
    assert len(config.list_logical_devices()) == 1


def test_memory(gpu):
    cpu = config.list_physical_devices("CPU")[0]
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
        config.set_memory_growth(cpu, True)
    config.set_memory_growth(gpu, True)
    assert config.get_memory_growth(gpu) is True
    assert config.get_memory_info("CPU:0").keys() == {"current", "peak"}
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:3'"):
        config.get_memory_info("GPU:3")
    with pytest.raises(ValueError, match="Failed parsing device name: 'foo'"):
        config.get_memory_info("foo")
    assert config.get_device_details(gpu) == {"device_name": "made up"}


def test_threads():
    told = []
    config.on_threads_change.append(told.append)
    try:
        config.set_intra_op_parallelism_threads(2)
        assert config.get_intra_op_parallelism_threads() == 2
        with pytest.raises(ValueError):
            config.set_intra_op_parallelism_threads(-1)
    finally:
        config.set_intra_op_parallelism_threads(0)
        config.on_threads_change.remove(told.append)
    assert told == [2, 0]


def test_device_policy():
    assert config.get_device_policy() == "silent"
    config.set_device_policy("warn")
    assert config.get_device_policy() == "warn"
    config.set_device_policy(None)
    assert config.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
        config.set_device_policy("foo")


def test_optimizer_options():
    assert config.get_jit() == ""
    config.set_jit(True)
    assert config.get_jit() == "autoclustering"
    config.set_jit(False)
    assert config.get_jit() == ""
    assert config.get_experimental_options()["disable_model_pruning"] is False
