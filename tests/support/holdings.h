// What this process holds: what it may not lose, if it lives long.
#pragma once

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/own_sockets.h"

namespace slackline::testing {

struct Holdings {
  std::uint64_t bytes = 0;
  std::uint64_t descriptors = 0;
  std::map<std::string, OwnSocket> sockets;
};

/// What the allocator keeps of memory that was given back to it is none of it: that depends on what
/// was freed in what order, up to 50 MiB of a rank that had a large schedule now and then.
inline Holdings holdings() {
  malloc_trim(0);
  Holdings held;
  std::uint64_t all_pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> held.bytes;
  held.bytes *= static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    held.descriptors += entry.path().empty() ? 0 : 1;
  }
  held.sockets = own_sockets();
  return held;
}

/// The sockets of `late` that `early` has not.
inline std::string sockets_beyond(const Holdings& early, const Holdings& late) {
  std::string text;
  for (const auto& [number, socket] : late.sockets) {
    if (early.sockets.contains(number)) continue;
    text +=
        fmt::format("; {} {} to {} in state {}", number, socket.local, socket.remote, socket.state);
  }
  return text;
}

}  // namespace slackline::testing
