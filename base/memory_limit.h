// How much memory work may take, asked before the work and not found out by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slackline::sched {

/// Bytes that processes here can still have, all together: the least of what the machine has free
/// and what the control groups above this process leave (file caches count as free). Nothing where
/// none of them is known. `root` is where the system's files are.
std::optional<std::uint64_t> free_memory(const std::string& root = "/");

/// Bytes that this process can still map under its limit on addresses (ulimit -v). Nothing without
/// one.
std::optional<std::uint64_t> free_addresses(const std::string& root = "/");

class MemoryLimit {
 public:
  /// As much as there is when it is asked for.
  MemoryLimit() = default;
  /// So many bytes, whatever there is.
  static MemoryLimit of(std::uint64_t bytes) { return MemoryLimit(bytes); }

  /// Throws EnvironmentError if `bytes` are not to be had: "WHAT takes about 9.1 GiB of memory, and
  /// 4 GiB are free; expected CURE". Little is never refused.
  /// `taken` is what the work has already, and counts against a given limit.
  void require(std::uint64_t bytes, std::string_view what, std::string_view cure,
               std::uint64_t taken = 0) const;

 private:
  explicit MemoryLimit(std::uint64_t bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> bytes_;
};

}  // namespace slackline::sched
