#include <pybind11/pybind11.h>

#include <exception>
#include <new>
#include <string_view>

#include "base/error.h"
#include "python/bindings.h"

namespace slackline::python {
namespace {

namespace py = pybind11;

// A message may quote a user's bytes, which need not be UTF-8.
void raise(const char* name, std::string_view message) {
  const py::object type = py::module_::import("slackline.errors").attr(name);
  const py::bytes bytes(message.data(), message.size());
  PyErr_SetObject(type.ptr(), bytes.attr("decode")("utf-8", "replace").ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise("InputError", error.what());
  } catch (const Unsupported& error) {
    raise("Unsupported", error.what());
  } catch (const EnvironmentError& error) {
    raise("EnvironmentError", error.what());
  } catch (const Error& error) {
    raise(error.exit_code() == 70 ? "InternalError" : "RunFailed", error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory; expected a smaller schedule");
  }
}

}  // namespace

// From now on what C++ throws arrives in Python as the exception of the same name of
// slackline/errors.py. Memory that runs out is MemoryError.
void translate_errors() { py::register_local_exception_translator(translate); }

}  // namespace slackline::python

PYBIND11_MODULE(_native, module) {
  module.doc() = "The libraries of Slackline, as the package slackline uses them.";
  module.attr("version") = SLACKLINE_VERSION;
  slackline::python::translate_errors();
  slackline::python::bind_schedule(module);
  slackline::python::bind_builder(module);
  slackline::python::bind_machine(module);
  slackline::python::bind_run(module);
  slackline::python::bind_analysis(module);
  slackline::python::bind_lists(module);
}
