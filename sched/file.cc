#include "sched/file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/import/chakra_files.h"
#include "sched/import/goal_binary.h"
#include "sched/import/json.h"
#include "sched/import/mscclpp.h"
#include "sched/pattern/spec.h"
#include "sched/text.h"
#include "sched/trace_file.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMemoryOfJson = 12;
// What nodes of a few bytes would take: their records, and operations.
constexpr std::uint64_t kMemoryOfChakra = 60;

enum class Kind { kOwn, kGoal, kMsccl, kChakra };

struct Form {
  Schedule (*read)(std::string_view text, std::string_view file, const ImportOptions& options);
  // Bytes of memory that reading takes at its peak, for each of the file's: measured 2.7 to 3.6,
  // 11.4, and 5.1; of XML what elements of four characters would take.
  std::uint64_t memory_of_byte;
  Kind kind = Kind::kOwn;
};

constexpr Form kText{[](auto text, auto file, const auto&) { return read_text(text, file); }, 4};
constexpr Form kJson{[](auto text, auto file, const auto&) { return read_json(text, file); },
                     kMemoryOfJson};
constexpr Form kGoal{
    [](auto text, auto file, const auto& options) { return read_goal(text, file, options.goal); },
    6, Kind::kGoal};
constexpr Form kGoalBinary{[](auto text, auto file, const auto& options) {
                             return read_goal_binary(text, file, options.goal);
                           },
                           6, Kind::kGoal};
constexpr Form kMsccl{
    [](auto text, auto file, const auto& options) { return read_msccl(text, file, options.msccl); },
    40, Kind::kMsccl};
constexpr Form kMscclpp{[](auto text, auto file, const auto& options) {
                          return read_mscclpp(text, file, options.msccl);
                        },
                        20, Kind::kMsccl};

std::optional<Form> form_of(std::string_view bytes) {
  if (looks_like_goal_binary(bytes)) return kGoalBinary;
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  if (looks_like_text(bytes)) return kText;
  if (looks_like_mscclpp(bytes)) return kMscclpp;
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && bytes[start] == '{') return kJson;
  if (looks_like_goal(bytes)) return kGoal;
  if (looks_like_msccl(bytes)) return kMsccl;
  return std::nullopt;
}

void require_for(Kind kind, const ImportOptions& options, std::string_view path) {
  const auto require = [&](bool given, std::string_view option, bool fits, std::string_view what) {
    if (given && !fits) {
      throw InputError(fmt::format("{}: {} has another form; expected {}", option, path, what));
    }
  };
  require(options.goal.eager_bytes.has_value(), "--eager",
          kind == Kind::kGoal || kind == Kind::kChakra, "a GOAL program or a Chakra trace");
  require(options.goal.one_nic, "--one-nic", kind == Kind::kGoal, "a GOAL program");
  require(options.goal.nics.has_value(), "--nics", kind == Kind::kGoal, "a GOAL program");
  require(options.msccl.chunk_bytes.has_value(), "--chunk", kind == Kind::kMsccl,
          "an MSCCL algorithm or an MSCCL++ plan");
  require(options.chakra.control_dependencies, "--ctrl-deps", kind == Kind::kChakra,
          "a Chakra trace");
}

// As they stand: bytes are no text, which may begin with a mark.
std::string read_bytes(const std::string& path, const MemoryLimit& memory) {
  const std::uint64_t size = FileReader(path).size().value_or(0);
  if (size > kMostFileBytes) {
    throw InputError(fmt::format("{}: the file is too long; expected at most {} MiB", path,
                                 kMostFileBytes >> 20));
  }
  require_to_read(memory, size, path);
  std::string bytes(size, '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw InputError(
        fmt::format("{}: cannot read its {} bytes; expected a readable file", path, size));
  }
  return bytes;
}

Schedule load_chakra(const ChakraFiles& files, const MemoryLimit& memory,
                     const ImportOptions& options) {
  require_for(Kind::kChakra, options, files.of_rank(0));
  std::vector<std::string> traces;
  std::uint64_t bytes = 0;
  for (std::uint32_t r = 0; r < files.ranks; ++r) {
    traces.push_back(read_bytes(files.of_rank(r), memory));
    bytes += traces.back().size();
  }
  require_to_read(memory, (kMemoryOfChakra - 1) * bytes, files.prefix, bytes);
  ChakraOptions chakra = options.chakra;
  chakra.eager_bytes = options.goal.eager_bytes;
  return read_chakra(traces, files.prefix, chakra, memory);
}

}  // namespace

Trace load_trace(const std::string& path, const MemoryLimit& memory) {
  if (looks_like_spec(path) && !std::filesystem::exists(path)) {
    throw InputError(
        fmt::format("{}: a schedule, and no run of it; expected what `simulate --trace` or `run "
                    "--trace` wrote",
                    path));
  }
  FileReader reader(path);
  if (reader.size()) require_to_read(memory, kMemoryOfJson * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require_to_read(memory, more, path); });
  require_to_read(memory, (kMemoryOfJson - 1) * bytes.size(), path, bytes.size());
  return read_trace(bytes, path);
}

Schedule load_schedule(const std::string& path, const MemoryLimit& memory,
                       const ImportOptions& options) {
  if (const auto files = chakra_files(path)) return load_chakra(*files, memory, options);
  FileReader reader(path);
  const std::optional<Form> form = form_of(reader.first_look());
  if (!form) {
    std::string first(reader.first_look());
    drop_mark(first, path);
    throw InputError(
        fmt::format("{}: not a schedule; expected Slackline's text ('slackline schedule 1'), its "
                    "JSON, GOAL as text ('num_ranks') or as txt2bin's bytes, MSCCL's XML "
                    "('<algo'), or Chakra's traces (NAME.RANK.et)",
                    path));
  }
  require_for(form->kind, options, path);
  if (reader.size()) require_to_read(memory, form->memory_of_byte * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require_to_read(memory, more, path); });
  require_to_read(memory, (form->memory_of_byte - 1) * bytes.size(), path, bytes.size());
  return form->read(bytes, path, options);
}

}  // namespace slackline::sched
