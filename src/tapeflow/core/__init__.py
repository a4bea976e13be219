"""What every room stands on: types, shapes, errors, structures, devices and the state of a thread."""
