// A library that is looked for when it is first needed, so that Slackline starts without it.
#pragma once

#include <string>

namespace slackline::hw {

class SharedLibrary {
 public:
  /// Loads it, never to be unloaded: some leave handlers behind. `name` is for people, `expected`
  /// the version and package. Throws EnvironmentError "NAME cannot be loaded: …".
  SharedLibrary(std::string name, const char* file, std::string expected);

  /// Throws EnvironmentError if it has no such function.
  template <class Function>
  void find(const char* function, Function& found) const {
    found = reinterpret_cast<Function>(address(function));
  }

 private:
  void* address(const char* function) const;

  std::string name_;
  std::string expected_;
  void* handle_;
};

}  // namespace slackline::hw
