#include "sched/file.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/import/goal.h"
#include "sched/import/goal_binary.h"
#include "sched/import/json.h"
#include "sched/text.h"
#include "sched/trace_file.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMemoryOfJson = 12;

struct Form {
  Schedule (*read)(std::string_view text, std::string_view file);
  // Bytes of memory that reading takes at its peak, for each of the file's: measured 2.7 to 3.6,
  // 11.4, and 5.1.
  std::uint64_t memory_of_byte;
};

constexpr Form kText{read_text, 4};
constexpr Form kJson{read_json, kMemoryOfJson};
constexpr Form kGoal{read_goal, 6};
constexpr Form kGoalBinary{read_goal_binary, 6};

std::optional<Form> form_of(std::string_view bytes) {
  if (looks_like_goal_binary(bytes)) return kGoalBinary;
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  if (looks_like_text(bytes)) return kText;
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && bytes[start] == '{') return kJson;
  if (looks_like_goal(bytes)) return kGoal;
  return std::nullopt;
}

}  // namespace

Trace load_trace(const std::string& path, const MemoryLimit& memory) {
  FileReader reader(path);
  if (reader.size()) require_to_read(memory, kMemoryOfJson * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require_to_read(memory, more, path); });
  require_to_read(memory, (kMemoryOfJson - 1) * bytes.size(), path, bytes.size());
  return read_trace(bytes, path);
}

Schedule load_schedule(const std::string& path, const MemoryLimit& memory) {
  FileReader reader(path);
  const std::optional<Form> form = form_of(reader.first_look());
  if (!form) {
    std::string first(reader.first_look());
    drop_mark(first, path);
    throw InputError(fmt::format(
        "{}: not a schedule; expected Slackline's text ('slackline schedule 1'), its JSON, or GOAL, "
        "as text ('num_ranks') or as txt2bin's bytes",
        path));
  }
  if (reader.size()) require_to_read(memory, form->memory_of_byte * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require_to_read(memory, more, path); });
  require_to_read(memory, (form->memory_of_byte - 1) * bytes.size(), path, bytes.size());
  return form->read(bytes, path);
}

}  // namespace slackline::sched
