#include "sched/file.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/import/goal_binary.h"
#include "sched/import/json.h"
#include "sched/text.h"
#include "sched/trace_file.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMemoryOfJson = 12;

struct Form {
  Schedule (*read)(std::string_view text, std::string_view file, const ImportOptions& options);
  // Bytes of memory that reading takes at its peak, for each of the file's: measured 2.7 to 3.6,
  // 11.4, and 5.1; of XML what elements of four characters would take.
  std::uint64_t memory_of_byte;
  bool is_goal = false;
  bool is_msccl = false;
};

constexpr Form kText{[](auto text, auto file, const auto&) { return read_text(text, file); }, 4};
constexpr Form kJson{[](auto text, auto file, const auto&) { return read_json(text, file); },
                     kMemoryOfJson};
constexpr Form kGoal{
    [](auto text, auto file, const auto& options) { return read_goal(text, file, options.goal); },
    6, true};
constexpr Form kGoalBinary{[](auto text, auto file, const auto& options) {
                             return read_goal_binary(text, file, options.goal);
                           },
                           6, true};
constexpr Form kMsccl{
    [](auto text, auto file, const auto& options) { return read_msccl(text, file, options.msccl); },
    40, false, true};

std::optional<Form> form_of(std::string_view bytes) {
  if (looks_like_goal_binary(bytes)) return kGoalBinary;
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  if (looks_like_text(bytes)) return kText;
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && bytes[start] == '{') return kJson;
  if (looks_like_goal(bytes)) return kGoal;
  if (looks_like_msccl(bytes)) return kMsccl;
  return std::nullopt;
}

void require_for(const Form& form, const ImportOptions& options, std::string_view path) {
  const auto require = [&](bool given, std::string_view option, bool fits, std::string_view what) {
    if (given && !fits) {
      throw InputError(fmt::format("{}: {} has another form; expected {}", option, path, what));
    }
  };
  require(options.goal.eager_bytes.has_value(), "--eager", form.is_goal, "a GOAL program");
  require(options.goal.one_nic, "--one-nic", form.is_goal, "a GOAL program");
  require(options.msccl.chunk_bytes.has_value(), "--chunk", form.is_msccl, "an MSCCL algorithm");
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

Schedule load_schedule(const std::string& path, const MemoryLimit& memory,
                       const ImportOptions& options) {
  FileReader reader(path);
  const std::optional<Form> form = form_of(reader.first_look());
  if (!form) {
    std::string first(reader.first_look());
    drop_mark(first, path);
    throw InputError(
        fmt::format("{}: not a schedule; expected Slackline's text ('slackline schedule 1'), its "
                    "JSON, GOAL as text ('num_ranks') or as txt2bin's bytes, or MSCCL's XML "
                    "('<algo')",
                    path));
  }
  require_for(*form, options, path);
  if (reader.size()) require_to_read(memory, form->memory_of_byte * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require_to_read(memory, more, path); });
  require_to_read(memory, (form->memory_of_byte - 1) * bytes.size(), path, bytes.size());
  return form->read(bytes, path, options);
}

}  // namespace slackline::sched
