// Files read whole. What writes them is in base/write_file.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/memory_limit.h"

namespace slackline::sched {

/// The mark that some editors put before UTF-8.
inline constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

/// No file is read beyond this.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{4} << 30;

/// The file's bytes, without the mark that some editors put before UTF-8. Throws InputError, naming
/// the path and the reason, if it is missing, cannot be read, is a folder or a device (other than
/// a terminal or /dev/null), is UTF-16, or has more than `most_bytes`; EnvironmentError if memory
/// does not hold it.
std::string read_file(const std::string& path, std::uint64_t most_bytes = kMostFileBytes,
                      const MemoryLimit& memory = {});

/// What an open file holds, from its beginning to its end or to where it cannot be read.
std::string contents_of(int file);

/// Drops the mark that some editors put before UTF-8. Throws InputError, naming `where`, at that of
/// UTF-16.
void drop_mark(std::string& bytes, std::string_view where);

/// Throws EnvironmentError if memory does not hold the `bytes` that reading the file takes, beyond
/// the `taken` ones.
void require_to_read(const MemoryLimit& memory, std::uint64_t bytes, const std::string& path,
                     std::uint64_t taken = 0);

/// A file, read from its beginning on. All of it throws as read_file() does.
class FileReader {
 public:
  explicit FileReader(const std::string& path);

  /// Nothing where it does not say.
  std::optional<std::uint64_t> size() const { return size_; }
  /// The beginning of it: all, if it is short.
  std::string_view first_look();
  /// All of it. `grow(bytes)` is asked before it takes so many bytes of memory.
  std::string all(std::uint64_t most_bytes, const std::function<void(std::uint64_t)>& grow);

 private:
  // Reads up to so many bytes; false at the end.
  bool more(std::size_t most);

  std::string path_;
  Descriptor file_;
  std::optional<std::uint64_t> size_;
  std::string bytes_;
};

}  // namespace slackline::sched
