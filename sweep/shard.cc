#include "sweep/shard.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/number.h"

namespace slackline::sweep {
namespace {

constexpr std::uint32_t kMostShards = 1'000'000;

struct Launcher {
  const char* number;
  const char* count;
};
// An array's tasks first, since what starts one may stand around it.
constexpr Launcher kLaunchers[] = {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"},
                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"SLURM_PROCID", "SLURM_NTASKS"}};

std::optional<Shard> shard_from(std::string_view number, std::string_view count) {
  const auto own = base::whole_number<std::uint32_t>(number);
  const auto all = base::whole_number<std::uint32_t>(count);
  if (!own || !all || *all == 0 || *all > kMostShards || *own >= *all) return std::nullopt;
  return Shard{*own, *all};
}

}  // namespace

Shard parse_shard(std::string_view text, std::string_view what) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    if (const auto shard = shard_from(text.substr(0, slash), text.substr(slash + 1))) return *shard;
  }
  throw InputError(
      fmt::format("{}: '{}'; expected which of how many shards, from 0/N to N-1/N, or "
                  "auto",
                  what, text));
}

Shard shard_of_launcher(const std::function<const char*(const char*)>& variable,
                        std::string_view what) {
  for (const Launcher& launcher : kLaunchers) {
    const char* const number = variable(launcher.number);
    const char* const count = variable(launcher.count);
    if (number == nullptr || count == nullptr) continue;
    if (const auto shard = shard_from(number, count)) return *shard;
    throw InputError(
        fmt::format("{}: the environment has {}={} and {}={}; expected tasks that are "
                    "numbered from 0 on",
                    what, launcher.number, number, launcher.count, count));
  }
  throw InputError(fmt::format(
      "{}: auto, and no launcher numbers this process; expected a task of a Slurm array, mpirun or "
      "srun, or K/N",
      what));
}

}  // namespace slackline::sweep
