#include "cli/processor_report.h"

#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/human.h"

namespace slackline::cli {

std::optional<LongestWait> longest_wait(const std::vector<hw::ProcessorUse>& by_rank) {
  std::optional<LongestWait> longest;
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    const std::optional<double> share = by_rank[rank].share();
    if (share && (!longest || *share > longest->share)) longest = {rank, *share};
  }
  return longest;
}

std::string processor_row(const std::vector<hw::ProcessorUse>& by_rank,
                          const std::vector<hw::RankFacts>& facts) {
  const std::optional<LongestWait> longest = longest_wait(by_rank);
  std::string text = longest
                         ? fmt::format("rank {} waited for one {} of the time", longest->rank,
                                       human_share(longest->share, 1))
                         : std::string("the kernel does not tell how long ranks waited for one");
  if (const std::optional<hw::HostUse> host = hw::fullest_host(facts)) {
    text += fmt::format("; {} on {}", human_count(host->ranks, "rank"),
                        human_count(host->cores, "core"));
    if (host->ranks != facts.size()) {
      text += fmt::format(" of {}", facts[host->first_rank].host);
    }
  }
  return text;
}

void add_processor(const std::vector<hw::ProcessorUse>& by_rank, JsonOutput& json) {
  json.set_each("processor_wait_share", by_rank,
                [](const hw::ProcessorUse& use) { return use.share().value_or(kNoNumber); });
  json.set_each("preemptions", by_rank,
                [](const hw::ProcessorUse& use) { return use.preemptions; });
}

void add_fullest_host(const std::vector<hw::RankFacts>& facts, JsonOutput& json) {
  const std::optional<hw::HostUse> host = hw::fullest_host(facts);
  json.set("ranks_on_host", host ? std::optional(std::uint64_t{host->ranks}) : std::nullopt);
  json.set("cores_on_host", host ? std::optional(std::uint64_t{host->cores}) : std::nullopt);
}

}  // namespace slackline::cli
