// The TCP sockets that this process holds, as the kernel lists them.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

namespace slackline::testing {

/// In the kernel's hexadecimal: "0200007F:A3F1" is port 41969 of 127.0.0.2; state "0A" listens,
/// "01" is connected, "08" waits for this process to close it. Without state: bound to nothing.
struct OwnSocket {
  std::string local;
  std::string remote;
  std::string state;
};

/// By the kernel's number, which no two have.
inline std::map<std::string, OwnSocket> own_sockets() {
  std::map<std::string, OwnSocket> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone).string();
    if (what.starts_with("socket:")) found[what];
  }
  for (const char* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, skipped, inode;
      OwnSocket socket;
      words >> number >> socket.local >> socket.remote >> socket.state;
      for (int i = 0; i < 5; ++i) words >> skipped;
      words >> inode;
      const auto own = found.find(fmt::format("socket:[{}]", inode));
      if (own != found.end()) own->second = socket;
    }
  }
  return found;
}

}  // namespace slackline::testing
