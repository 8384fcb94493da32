#include "hw/fabric_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include "sched/error.h"

namespace slackline::hw {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return;
  throw EnvironmentError(fmt::format(
      "libfabric has no {}; expected version 1.17 or later (Debian: libfabric1)", name));
}

FabricLibrary load() {
  // The libraries of two providers would write files of their own when a process is ended by a
  // signal.
  setenv("IPATH_NO_BACKTRACE", "1", 0);
  setenv("HFI_NO_BACKTRACE", "1", 0);
  // Never unloaded: its providers leave handlers behind.
  void* const library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    throw EnvironmentError(
        fmt::format("libfabric cannot be loaded: {} (Debian: libfabric1)", dlerror()));
  }
  FabricLibrary calls;
  find(library, "fi_getinfo", calls.getinfo);
  find(library, "fi_freeinfo", calls.freeinfo);
  find(library, "fi_dupinfo", calls.dupinfo);
  find(library, "fi_fabric", calls.fabric);
  find(library, "fi_strerror", calls.strerror);
  return calls;
}

}  // namespace

const FabricLibrary& load_fabric_library() {
  static const FabricLibrary library = load();
  return library;
}

}  // namespace slackline::hw
