#include "cli/queue_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/read_file.h"
#include "base/text_scan.h"
#include "offload/queue_text.h"
#include "sched/compile.h"

namespace slackline::cli {
namespace {

// Only the first of it is looked at: schedules can be large.
bool begins_as_program(const std::string& path) {
  std::array<char, 4096> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  std::string_view text(begin.data(), static_cast<std::size_t>(file.gcount()));
  if (text.starts_with(sched::kUtf8Mark)) text.remove_prefix(sched::kUtf8Mark.size());
  sched::TextScanner in(text, path);
  if (!in.next_line() || in.word("slackline") != "slackline") return false;
  return in.peek() == "queues";
}

}  // namespace

std::optional<offload::QueueProgram> read_queue_file(const std::string& path) {
  std::error_code ignored;
  if (sched::looks_like_spec(path) || !std::filesystem::is_regular_file(path, ignored) ||
      !begins_as_program(path)) {
    return std::nullopt;
  }
  return offload::read_queues(sched::read_file(path), path);
}

}  // namespace slackline::cli
