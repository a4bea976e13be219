"""What every other package is built on: types, shapes, errors, structures, devices and the state of a thread."""
