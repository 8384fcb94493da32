#include "hw/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace slackline::hw {

SharedLibrary::SharedLibrary(std::string name, const char* file, std::string expected)
    : name_(std::move(name)),
      expected_(std::move(expected)),
      handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
  if (handle_ != nullptr) return;
  throw EnvironmentError(
      fmt::format("{} cannot be loaded: {}; expected {}", name_, dlerror(), expected_));
}

void* SharedLibrary::address(const char* function) const {
  if (void* const found = dlsym(handle_, function)) return found;
  throw EnvironmentError(fmt::format("{} has no {}; expected {}", name_, function, expected_));
}

}  // namespace slackline::hw
