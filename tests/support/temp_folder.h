// A folder of a test's own: ctest runs tests of one fixture beside each other.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace slackline::testing {

// Made with its object and removed with it, with all that stands in it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "slackline-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw EnvironmentError("no folder for a test: " + name);
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  // The path of a file in it, which need not be there.
  std::string path(std::string_view name) const { return (path_ / name).string(); }

  // Writes a file, and the folders above it; its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace slackline::testing
