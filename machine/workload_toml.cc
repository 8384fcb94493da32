#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/split.h"
#include "machine/draw.h"
#include "machine/input_text.h"
#include "machine/toml_document.h"
#include "machine/workload.h"
#include "machine/workload_sources.h"
#include "sched/pattern/spec.h"

namespace slackline::machine {
namespace {

using sched::RankId;
using sched::Time;

constexpr std::uint32_t kMaxRanks = 1u << 24;
constexpr std::uint32_t kMaxMessages = 1u << 22;
constexpr std::uint32_t kMaxGroups = 1u << 20;
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& where, std::string_view what) {
  throw InputError(fmt::format("{}: {}", where, what));
}

class Reader {
 public:
  Reader(std::string_view file, std::optional<std::uint64_t> seed)
      : file_(file), folder_(std::filesystem::path(file).parent_path()), seed_(seed) {}

  Workload run(std::string_view text) {
    const TomlValue value = parse_toml(text, file_);
    TomlTable document(value, file_, "");
    document.check_schema(kWorkloadSchema);
    workload_.name = file_;
    const auto ranks = document.whole("ranks", kMaxRanks);
    if (!ranks) refuse(document.where(), "no ranks stand here; expected ranks = 16, say");
    if (*ranks == 0) refuse(document.where(*document.find("ranks")), "0; expected at least 1");
    workload_.ranks = *ranks;
    const std::uint32_t seed = document.whole("seed", ~0u).value_or(0);
    workload_.seed = seed_.value_or(seed);
    std::vector<TomlTable> groups = document.tables("group");
    std::vector<TomlTable> generators = document.tables("groups");
    document.refuse_others();
    if (groups.empty() && generators.empty()) {
      refuse(document.where(),
             "no group stands here; expected tables headed [[group]] or "
             "[[groups]]");
    }
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
      read_group(groups[i], {workload_.seed, i, false});
    }
    for (std::uint32_t i = 0; i < generators.size(); ++i) {
      read_generator(generators[i], {workload_.seed, i, true});
    }
    sort_messages();
    check_total();
    return std::move(workload_);
  }

 private:
  struct Schedule {
    std::string pattern;  // without ranks and bytes
    std::optional<std::uint64_t> bytes;
    std::string where;
  };

  // Takes `bytes` out of the spec; refuses `ranks`.
  Schedule read_schedule(TomlTable& table) {
    constexpr std::string_view kExpected = "a spec such as \"binomial-pipeline:block=1MiB\"";
    const auto text = table.text("schedule", kExpected);
    if (!text) {
      refuse(table.where(), fmt::format("no schedule stands here; expected {}", kExpected));
    }
    Schedule schedule;
    schedule.where = table.where(*table.find("schedule"));
    const std::size_t colon = text->find(':');
    schedule.pattern = text->substr(0, colon);
    std::string_view rest =
        colon == std::string::npos ? std::string_view() : std::string_view(*text).substr(colon + 1);
    char separator = ':';
    while (!rest.empty()) {
      const std::string_view item = base::take_item(rest);
      const std::string_view key = item.substr(0, item.find('='));
      if (key == "ranks") {
        refuse(schedule.where, "the spec has ranks; expected none, since the group says which");
      }
      if (key == "bytes" && item.size() > 6) {
        if (schedule.bytes) refuse(schedule.where, "bytes: given twice");
        schedule.bytes = sched::parse_bytes(item.substr(6), schedule.where + ": bytes");
        continue;
      }
      schedule.pattern += separator;
      schedule.pattern += item;
      separator = ',';
    }
    return schedule;
  }

  SizeSource read_size_source(TomlTable& table, const Schedule& schedule) {
    auto sizes = read_sizes(table, folder_);
    if (sizes && schedule.bytes) {
      refuse(schedule.where, "the spec has bytes, and so has the group; expected them once");
    }
    if (!sizes && !schedule.bytes) {
      refuse(table.where(), "neither bytes nor sizes stand here; expected one of them");
    }
    if (sizes) return *sizes;
    SizeSource constant;
    constant.bytes = *schedule.bytes;
    return constant;
  }

  // A list of ranks, or "1-15".
  std::vector<RankId> read_ranks(TomlTable& table, std::string_view key) {
    const TomlValue* value = table.find(key);
    constexpr std::string_view kExpected = "a list such as [0, 3, 5] or \"1-15\"";
    if (value == nullptr) {
      refuse(table.where(), fmt::format("no {} stand here; expected {}", key, kExpected));
    }
    const std::string where = table.where(*value);
    std::vector<RankId> ranks;
    const auto add = [&](std::int64_t rank) {
      if (rank < 0 || rank >= workload_.ranks) {
        refuse(where, fmt::format("{} is no rank; expected 0 to {}", rank, workload_.ranks - 1));
      }
      ranks.emplace_back(static_cast<std::uint32_t>(rank));
    };
    if (value->kind == TomlValue::Kind::kText) {
      const std::string_view text = value->text;
      const std::size_t dash = text.find('-');
      if (dash == std::string_view::npos) {
        refuse(where, fmt::format("{}; expected {}", machine::in_quotes(text), kExpected));
      }
      const std::uint64_t top = workload_.ranks - 1;
      const std::uint64_t first = sched::parse_count(text.substr(0, dash), where, 0, top);
      const std::uint64_t last = sched::parse_count(text.substr(dash + 1), where, first, top);
      for (std::uint64_t r = first; r <= last; ++r) add(static_cast<std::int64_t>(r));
    } else {
      if (value->kind != TomlValue::Kind::kArray) {
        refuse(where, fmt::format("another type of value; expected {}", kExpected));
      }
      for (const TomlValue& child : value->children) {
        if (child.kind != TomlValue::Kind::kInteger) {
          refuse(where, fmt::format("an entry is no whole number; expected {}", kExpected));
        }
        add(child.integer);
      }
    }
    if (ranks.empty()) refuse(where, fmt::format("no ranks; expected {}", kExpected));
    std::vector<RankId> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      refuse(where, fmt::format("rank {} stands twice; expected it once", twice->value));
    }
    return ranks;
  }

  std::uint32_t read_count(TomlTable& table, std::string_view key, std::uint32_t otherwise) {
    const auto count = table.whole(key, kMaxMessages);
    if (count == 0) refuse(table.where(*table.find(key)), "0; expected at least 1");
    return count.value_or(otherwise);
  }

  // Every message's arrival: `count` of them, or as many as a list has.
  std::vector<Time> arrivals_of(TomlTable& table, const ArrivalSource& source,
                                std::optional<std::uint32_t> count, Time start,
                                const DrawStream& stream) {
    const auto too_late = [&] {
      refuse(table.where(), "messages arrive later than a time can say; expected less");
    };
    std::vector<Time> times;
    const std::size_t messages = count ? *count : source.list.empty() ? 1 : source.list.size();
    if (!source.list.empty() && messages > source.list.size()) {
      refuse(table.where(*table.find("arrivals")),
             fmt::format("the file has {} times; expected {}", source.list.size(), messages));
    }
    if (messages > kMaxMessages) {
      refuse(table.where(),
             fmt::format("{} messages; expected at most {}", messages, kMaxMessages));
    }
    Time time = start;
    const std::uint64_t site = stream.site(DrawStream::Of::kArrival);
    for (std::size_t i = 0; i < messages; ++i) {
      Time by{0};
      if (!source.list.empty()) {
        time = start;
        by = source.list[i];
      } else if (source.between && i > 0) {
        try {
          by = source.between->draw(stream.seed, stream.number, site, i - 1);
        } catch (const InputError& error) {
          refuse(table.where(), error.what());
        }
      }
      if (by >= sched::kForever - time) too_late();
      time += by;
      times.push_back(time);
    }
    return times;
  }

  void add_message(std::uint32_t group, Time arrival, std::uint64_t bytes, std::uint32_t turn) {
    workload_.messages.push_back({group, arrival, bytes});
    turns_.push_back(turn);
  }

  // The root's place, from a spec with any size.
  RankId root_of(const WorkloadGroup& group, const Schedule& schedule) {
    return parsed(group, 0, schedule.where).multicast.root;
  }

  sched::Spec parsed(const WorkloadGroup& group, std::uint64_t bytes, const std::string& where) {
    try {
      return sched::parse_spec(spec_of(group, bytes));
    } catch (const InputError& error) {
      refuse(where, error.what());
    }
  }

  void read_group(TomlTable& table, const DrawStream& stream) {
    WorkloadGroup group;
    group.name = table.text("name", "a name").value_or(fmt::format("{}", stream.number));
    group.ranks = read_ranks(table, "ranks");
    const Schedule schedule = read_schedule(table);
    group.pattern = schedule.pattern;
    group.root = root_of(group, schedule);
    const SizeSource sizes = read_size_source(table, schedule);
    const ArrivalSource source = read_arrivals(table, folder_);
    group.closed = source.closed();
    const Time start = read_time(table, "start").value_or(Time{0});
    std::optional<std::uint32_t> count;
    if (table.find("messages") != nullptr) count = read_count(table, "messages", 1);
    table.refuse_others();
    const auto number = static_cast<std::uint32_t>(workload_.groups.size());
    const std::vector<Time> arrivals = arrivals_of(table, source, count, start, stream);
    for (std::uint32_t i = 0; i < arrivals.size(); ++i) {
      add_message(number, arrivals[i], sizes.draw(stream, i), i);
    }
    add_group(std::move(group), schedule.where);
  }

  void add_group(WorkloadGroup group, const std::string& where) {
    if (workload_.groups.size() == kMaxGroups) {
      refuse(where, fmt::format("more than {} groups; expected no more", kMaxGroups));
    }
    workload_.groups.push_back(std::move(group));
    where_.push_back(where);
  }

  // Every choice of `choose` of the ranks `from`, in lexical order, each with the root before it.
  void read_generator(TomlTable& table, const DrawStream& stream) {
    const std::string prefix = table.text("name", "a name").value_or("");
    const std::vector<RankId> from = read_ranks(table, "from");
    const auto choose = table.whole("choose", static_cast<std::uint32_t>(from.size()));
    if (!choose || *choose == 0) {
      refuse(table.where(),
             fmt::format("no choose stands here; expected a number from 1 to {}", from.size()));
    }
    const auto root = table.whole("root", workload_.ranks - 1);
    if (!root) refuse(table.where(), "no root stands here; expected a rank");
    if (std::find(from.begin(), from.end(), RankId(*root)) != from.end()) {
      refuse(table.where(*table.find("root")),
             fmt::format("rank {} is among those to choose from; expected another", *root));
    }
    std::uint64_t groups = 1;  // of choose from so many; exact at every step
    for (std::uint32_t i = 0; i < *choose && groups <= kMaxGroups; ++i) {
      groups = groups * (from.size() - i) / (i + 1);
    }
    if (groups > kMaxGroups) {
      refuse(table.where(), fmt::format("more than {} groups; expected no more", kMaxGroups));
    }
    const Schedule schedule = read_schedule(table);
    const SizeSource sizes = read_size_source(table, schedule);
    const ArrivalSource source = read_arrivals(table, folder_);
    const Time start = read_time(table, "start").value_or(Time{0});
    std::optional<std::uint32_t> writes;
    if (table.find("writes") != nullptr) writes = read_count(table, "writes", 1);
    if (!writes && source.list.empty()) {
      refuse(table.where(), "no writes stand here; expected the number of messages");
    }
    table.refuse_others();

    const auto first = static_cast<std::uint32_t>(workload_.groups.size());
    std::vector<std::uint32_t> chosen(*choose);
    std::iota(chosen.begin(), chosen.end(), 0u);
    for (std::uint64_t g = 0; g < groups; ++g) {
      WorkloadGroup group;
      group.name = prefix;
      group.ranks.emplace_back(*root);
      for (const std::uint32_t c : chosen) {
        group.ranks.push_back(from[c]);
        group.name += fmt::format("{}{}", group.ranks.size() == 2 ? "" : "+", from[c].value);
      }
      group.pattern = schedule.pattern;
      group.root = g == 0 ? root_of(group, schedule) : workload_.groups[first].root;
      group.closed = source.closed();
      add_group(std::move(group), schedule.where);
      advance(chosen, from.size());
    }
    const std::vector<Time> arrivals = arrivals_of(table, source, writes, start, stream);
    const std::uint64_t site = stream.site(DrawStream::Of::kChoice);
    for (std::uint32_t i = 0; i < arrivals.size(); ++i) {
      const std::uint64_t choice = draw_below({stream.seed, stream.number, site, i}, groups);
      add_message(first + static_cast<std::uint32_t>(choice), arrivals[i], sizes.draw(stream, i),
                  i);
    }
  }

  // The next choice of places below `places`, in lexical order; the last one stays.
  static void advance(std::vector<std::uint32_t>& chosen, std::size_t places) {
    for (std::size_t i = chosen.size(); i-- > 0;) {
      if (chosen[i] + (chosen.size() - i) >= places) continue;
      ++chosen[i];
      for (std::size_t j = i + 1; j < chosen.size(); ++j) chosen[j] = chosen[j - 1] + 1;
      return;
    }
  }

  // What arrives at once goes turn about, so that no group is always first.
  void sort_messages() {
    std::vector<std::size_t> order(workload_.messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) {
        return std::tuple(workload_.messages[i].arrival, turns_[i], workload_.messages[i].group, i);
      };
      return key(a) < key(b);
    });
    std::vector<WorkloadMessage> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(workload_.messages[i]);
    workload_.messages = std::move(sorted);
  }

  void check_total() {
    if (workload_.messages.size() > kMaxMessages) {
      refuse(std::string(file_), fmt::format("{} messages; expected at most {}",
                                             workload_.messages.size(), kMaxMessages));
    }
    // By the place of the pattern in the file, group size and bytes.
    std::map<std::tuple<std::string, std::size_t, std::uint64_t>, std::uint64_t> known;
    std::uint64_t ops = 0;
    std::uint64_t bytes = 0;
    for (const WorkloadMessage& message : workload_.messages) {
      const WorkloadGroup& group = workload_.groups[message.group];
      const std::string& where = where_[message.group];
      const auto [found, fresh] =
          known.try_emplace({group.pattern, group.ranks.size(), message.bytes}, 0);
      if (fresh) found->second = sched::most_ops(parsed(group, message.bytes, where));
      ops += found->second;
      if (ops > sched::kMaxOps) {
        refuse(where, fmt::format("all messages together make more than {} operations; expected at "
                                  "most that; use larger blocks or fewer messages",
                                  sched::kMaxOps));
      }
      const std::uint64_t room = kMaxBytes - bytes;
      if (message.bytes > room / group.ranks.size()) {
        refuse(where, fmt::format("all messages together have more than {} bytes", kMaxBytes));
      }
      bytes += message.bytes * group.ranks.size();
    }
  }

  std::string_view file_;
  std::filesystem::path folder_;
  std::optional<std::uint64_t> seed_;
  Workload workload_;
  std::vector<std::uint32_t> turns_;  // of messages, among those of their table
  std::vector<std::string> where_;    // of groups: their schedule in the file
};

}  // namespace

Workload workload_from_toml(std::string_view text, std::string_view file,
                            std::optional<std::uint64_t> seed) {
  return Reader(file, seed).run(text);
}

Workload load_workload(const std::string& path, std::optional<std::uint64_t> seed) {
  return workload_from_toml(read_input_file(path, "workload"), path, seed);
}

}  // namespace slackline::machine
