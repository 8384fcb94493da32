#include "cli/own_program.h"

#include <filesystem>
#include <system_error>

namespace slackline::cli {

std::string own_program() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.string();
}

std::string own_folder() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return error ? "." : path.string();
}

}  // namespace slackline::cli
