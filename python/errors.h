// Slackline's errors as exceptions of Python: those of slackline/errors.py.
#pragma once

namespace slackline::python {

/// From now on what C++ throws arrives in Python as the exception of the same name. Memory that
/// runs out is MemoryError.
void translate_errors();

}  // namespace slackline::python
