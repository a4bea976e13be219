"""`tf.experimental.dtensor`: tensors laid out on a mesh of devices, and programs that run on all of them.

Several devices are those of XLA: the extra `xla`. A mesh of one CPU needs nothing.
"""

from tapeflow.core.dtensor import placed as _placed
from tapeflow.core.dtensor.layout import MATCH, UNSHARDED, Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.experimental.dtensor.clients import (
    client_id,
    full_job_name,
    heartbeat_enabled,
    job_name,
    jobs,
    local_devices,
    num_clients,
    num_global_devices,
    num_local_devices,
    preferred_device_type,
)
from tapeflow.experimental.dtensor.inputs import DTensorDataset
from tapeflow.experimental.dtensor.meshes import (
    create_distributed_mesh,
    create_mesh,
    create_tpu_mesh,
)
from tapeflow.experimental.dtensor.saving import (
    DTensorCheckpoint,
    enable_save_as_bf16,
    name_based_restore,
    name_based_save,
    sharded_save,
)
from tapeflow.experimental.dtensor.scopes import (
    call_with_layout,
    default_mesh,
    device_name,
    get_default_mesh,
    run_on,
)
from tapeflow.experimental.dtensor.systems import (
    barrier,
    initialize_accelerator_system,
    initialize_multi_client,
    initialize_tpu_system,
    shutdown_accelerator_system,
    shutdown_tpu_system,
)
from tapeflow.experimental.dtensor.transfers import (
    check_layout,
    copy_to_mesh,
    fetch_layout,
    is_dtensor,
    pack,
    relayout,
    relayout_like,
    unpack,
)
from tapeflow.experimental.dtensor.variables import DVariable
from tapeflow.ops.control.printing import tensor_text as _tensor_text
from tapeflow.xla import mesh_calls as _mesh_calls

__all__ = [
    "DTensorCheckpoint", "DTensorDataset", "DVariable", "Layout", "MATCH", "Mesh", "UNSHARDED", "barrier",
    "call_with_layout", "check_layout", "client_id", "copy_to_mesh", "create_distributed_mesh", "create_mesh",
    "create_tpu_mesh", "default_mesh", "device_name", "enable_save_as_bf16", "fetch_layout", "full_job_name",
    "get_default_mesh", "heartbeat_enabled", "initialize_accelerator_system", "initialize_multi_client",
    "initialize_tpu_system", "is_dtensor", "job_name", "jobs", "local_devices", "name_based_restore",
    "name_based_save", "num_clients", "num_global_devices", "num_local_devices", "pack", "preferred_device_type",
    "relayout", "relayout_like", "run_on", "sharded_save", "shutdown_accelerator_system", "shutdown_tpu_system",
    "unpack",
]  # fmt: skip

_placed.lay_out_by(relayout, call_with_layout)
_placed.show_elements_by(_tensor_text)
_placed.on_first_use.append(_mesh_calls.start)
