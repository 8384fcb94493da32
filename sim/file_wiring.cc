#include "sim/file_wiring.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "machine/input_text.h"
#include "machine/placement.h"
#include "machine/platform_checks.h"
#include "sim/child_run.h"
#include "sim/platform_xml.h"

namespace slackline::sim {
namespace {

namespace s4u = simgrid::s4u;
using machine::in_quotes;
using machine::Link;
using machine::LinkId;
using machine::Wiring;
using sched::RankId;

// A file with a route for each pair of a thousand hosts has this much.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;
constexpr const char* kLoopback = "__loopback__";  // SimGrid's own

// What the child found out, on its way to the parent.
struct Found {
  std::vector<std::string> host_of_rank;
  std::vector<Link> links;
  std::vector<Wiring::FixedRoute> routes;
};

struct ChildBrokeOff : InternalError {
  ChildBrokeOff() : InternalError("the child that read a platform broke off") {}
};

std::string packed(const Found& found) {
  base::ByteWriter<std::string> packer;
  packer.add(found.host_of_rank.size());
  for (const std::string& host : found.host_of_rank) packer.add_text(host);
  packer.add(found.links.size());
  for (const Link& link : found.links) {
    packer.add_text(link.name);
    packer.add(link.rate);
    packer.add(link.shared);
  }
  packer.add(found.routes.size());
  for (const Wiring::FixedRoute& fixed : found.routes) {
    packer.add(fixed.src);
    packer.add(fixed.dst);
    packer.add(fixed.route.latency);
    packer.add(fixed.route.links.size());
    for (const LinkId link : fixed.route.links) packer.add(link.value);
  }
  return packer.take();
}

Wiring unpacked(std::string_view bytes, const machine::Platform& platform) {
  base::BasicByteReader<ChildBrokeOff> unpacker(bytes);
  Found found;
  for (auto count = unpacker.get<std::size_t>(); count > 0; --count) {
    found.host_of_rank.push_back(unpacker.text());
  }
  for (auto count = unpacker.get<std::size_t>(); count > 0; --count) {
    Link& link = found.links.emplace_back();
    link.name = unpacker.text();
    link.rate = unpacker.get<machine::Rate>();
    link.shared = unpacker.get<bool>();
  }
  for (auto count = unpacker.get<std::size_t>(); count > 0; --count) {
    Wiring::FixedRoute& fixed = found.routes.emplace_back();
    fixed.src = unpacker.get<RankId>();
    fixed.dst = unpacker.get<RankId>();
    fixed.route.latency = unpacker.get<machine::Time>();
    for (auto links = unpacker.get<std::size_t>(); links > 0; --links) {
      fixed.route.links.push_back(LinkId(unpacker.get<std::uint32_t>()));
    }
  }
  return Wiring(std::move(found.host_of_rank), std::move(found.links), std::move(found.routes),
                platform.node, platform.copy_rate, platform.framing, platform.pcie);
}

using Pairs = std::set<std::pair<RankId, RankId>>;

// The pairs of ranks that messages and what comes back go between, unless through memory.
Pairs pairs_of(const sched::Schedule& schedule, const machine::Node& node) {
  Pairs pairs;
  for (const sched::Channel& channel : schedule.channels()) {
    if (node.is_local(channel.src, channel.dst)) continue;
    pairs.emplace(channel.src, channel.dst);
    pairs.emplace(channel.dst, channel.src);
  }
  return pairs;
}

Pairs every_pair(std::uint32_t ranks, const machine::Node& node) {
  Pairs pairs;
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t dst = 0; dst < ranks; ++dst) {
      if (src == dst || node.is_local(RankId(src), RankId(dst))) continue;
      pairs.emplace(RankId(src), RankId(dst));
    }
  }
  return pairs;
}

std::string no_route(std::string_view where, std::string_view pair) {
  return fmt::format("{}: no route {}; expected one, as their ranks have messages for each other",
                     where, pair);
}

// The file as SimGrid reads it. To be made once in a process that is then given up: it leaves the
// engine to it, since that does not survive its end after an error.
class LoadedFile {
 public:
  LoadedFile(const std::string& path, const std::string& file) : where_(in_quotes(file)) {
    auto* engine = new s4u::Engine("slackline");
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic:0");
    // Each is told once or several times: hosts in the order of the file, links as it comes.
    s4u::Host::on_creation_cb([this](const s4u::Host& host) {
      if (made_.insert(&host).second) hosts_.push_back(&host);
      if (hosts_.size() > machine::kMaxHosts) refuse("too many hosts", machine::kMaxHosts);
    });
    s4u::Link::on_creation_cb([this](const s4u::Link& link) {
      made_links_.push_back(&link);
      if (made_links_.size() > 4 * std::size_t{machine::kMaxInnerLinks}) {
        refuse("too many links", machine::kMaxInnerLinks);
      }
    });
    engine->load_platform(path);
    if (engine->get_netzone_root() == nullptr) return;
    engine->seal_platform();
    add_links();
  }

  std::vector<std::uint32_t> place(const machine::Platform& platform, std::uint32_t ranks) const {
    machine::HostSet set;
    set.count = static_cast<std::uint32_t>(hosts_.size());
    set.per_unit = zone_hosts(platform);
    std::map<std::string_view, std::uint32_t> numbers;
    for (std::uint32_t h = 0; h < set.count; ++h) numbers.emplace(hosts_[h]->get_name(), h);
    set.find = [&](std::string_view name) -> std::optional<std::uint32_t> {
      const auto found = numbers.find(name);
      if (found == numbers.end()) return std::nullopt;
      return found->second;
    };
    if (!hosts_.empty()) set.name_form = host_name(0) + " … " + host_name(set.count - 1);
    if (platform.node.is_shared()) set.of = "node";
    const auto host_of_node =
        machine::place_ranks(platform.placement, platform.node.count_for(ranks), set,
                             "platform " + in_quotes(platform.name));
    std::vector<std::uint32_t> hosts(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) hosts[r] = host_of_node[platform.node.of(RankId(r))];
    return hosts;
  }

  std::string host_name(std::uint32_t host) const {
    machine::require_plain(hosts_[host]->get_name(), where_ + ": host");
    return hosts_[host]->get_name();
  }

  // `about` is told before SimGrid is asked, which may end the process.
  machine::Route route(std::uint32_t src, std::uint32_t dst, char (&about)[256]) {
    const std::string pair =
        fmt::format("from {} to {}", in_quotes(host_name(src)), in_quotes(host_name(dst)));
    std::strncpy(about, pair.c_str(), sizeof about - 1);
    std::vector<s4u::Link*> way;
    double latency_s = 0;
    hosts_[src]->route_to(hosts_[dst], way, &latency_s);
    about[0] = '\0';
    if (way.empty()) throw InputError(no_route(where_, pair));
    machine::Route route;
    const double latency_ps = std::round(latency_s * 1e12);
    if (!(latency_ps >= 0 && latency_ps < 9e18)) {
      throw InputError(
          fmt::format("{}: the route {} has a latency of {} s; expected 0 or more, up to 9e6 s",
                      where_, pair, latency_s));
    }
    route.latency = machine::Time{static_cast<std::int64_t>(latency_ps)};
    for (const s4u::Link* link : way) {
      if (link->get_name() == kLoopback) add(*link);
      route.links.push_back(number_.at(link));
    }
    return route;
  }

  std::vector<Link> take_links() { return std::move(links_); }

 private:
  [[noreturn]] void refuse(std::string_view what, std::uint32_t most) const {
    throw InputError(fmt::format("{}: {}; expected at most {}", where_, what, most));
  }

  // In the order of their names, since SimGrid's own is another one in another version.
  void add_links() {
    std::map<std::string_view, const s4u::Link*> by_name;
    const auto take = [&](const s4u::Link* link) { by_name.emplace(link->get_name(), link); };
    for (const s4u::Link* link : made_links_) {
      switch (link->get_sharing_policy()) {
        case s4u::Link::SharingPolicy::SHARED:
        case s4u::Link::SharingPolicy::FATPIPE:
          if (link->get_name() != kLoopback) take(link);
          break;
        case s4u::Link::SharingPolicy::SPLITDUPLEX: {
          const auto& both = static_cast<const s4u::SplitDuplexLink&>(*link);
          take(both.get_link_up());
          take(both.get_link_down());
          break;
        }
        default:
          throw Unsupported(fmt::format(
              "{}: link {} is a WIFI link; expected SHARED, SPLITDUPLEX or FATPIPE ones", where_,
              in_quotes(link->get_name())));
      }
    }
    for (const auto& [name, link] : by_name) add(*link);
  }

  void add(const s4u::Link& link) {
    if (!number_.emplace(&link, LinkId(static_cast<std::uint32_t>(links_.size()))).second) return;
    machine::require_plain(link.get_name(), where_ + ": link");
    const double bits_per_s = std::round(8 * link.get_bandwidth());
    if (!(bits_per_s >= 1 && bits_per_s <= 9e18)) {
      throw InputError(
          fmt::format("{}: link {} has a bandwidth of {} bytes per second; expected 1 bps to 9e18 "
                      "bps",
                      where_, in_quotes(link.get_name()), link.get_bandwidth()));
    }
    // By itself: on a way, another link's would hide it.
    if (!(link.get_latency() >= 0 && std::isfinite(link.get_latency()))) {
      throw InputError(fmt::format("{}: link {} has a latency of {} s; expected 0 or more", where_,
                                   in_quotes(link.get_name()), link.get_latency()));
    }
    links_.push_back({link.get_name(), machine::Rate{static_cast<std::uint64_t>(bits_per_s)},
                      link.get_sharing_policy() != s4u::Link::SharingPolicy::FATPIPE});
  }

  // As many as each zone has, if they are equally many and a zone's hosts stand in a row.
  std::uint32_t zone_hosts(const machine::Platform& platform) const {
    std::vector<std::uint32_t> sizes;
    std::set<const s4u::NetZone*> seen;
    const s4u::NetZone* last = nullptr;
    bool rows = true;
    for (const s4u::Host* host : hosts_) {
      const s4u::NetZone* zone = host->get_englobing_zone();
      if (zone != last) {
        rows = rows && seen.insert(zone).second;
        sizes.push_back(0);
        last = zone;
      }
      ++sizes.back();
    }
    if (sizes.empty()) return 1;
    const bool equal = std::equal(sizes.begin() + 1, sizes.end(), sizes.begin());
    if (rows && equal) return sizes.front();
    if (platform.placement.kind == machine::Placement::Kind::kRoundRobin) {
      throw InputError(
          fmt::format("{}: round-robin placement needs zones of equally many hosts; expected "
                      "packed, random:SEED or file:PATH",
                      where_));
    }
    return 1;
  }

  std::string where_;
  std::set<const s4u::Host*> made_;
  std::vector<const s4u::Host*> hosts_;
  std::vector<const s4u::Link*> made_links_;
  std::map<const s4u::Link*, LinkId> number_;
  std::vector<Link> links_;
};

// The first line that says something; what it announces for the next ones is cut off.
std::string first_line(std::string_view said) {
  constexpr std::string_view kDecoration = " *\r\n";
  constexpr std::size_t kLongest = 300;
  said.remove_prefix(std::min(said.size(), said.find_first_not_of(kDecoration)));
  std::string text(said.substr(0, std::min(said.find('\n'), kLongest)));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (text.ends_with(':') && text.find(". ") != std::string::npos) text.resize(text.rfind(". "));
  while (!text.empty() && (kDecoration.find(text.back()) != std::string_view::npos ||
                           text.back() == '.' || text.back() == ':')) {
    text.pop_back();
  }
  return text.empty() ? "it ended without a word" : text;
}

// The error for what SimGrid said of the file, which it knows as `path`. `about` is the route that
// it was asked for, if it was.
std::string refusal(std::string_view said, const std::string& path, const std::string& file,
                    std::string_view about) {
  const std::string before = fmt::format("Parse error at {}:", path);
  std::string where = in_quotes(file);
  if (said.starts_with(before)) {
    said.remove_prefix(before.size());
    const std::string_view line = said.substr(0, said.find(':'));
    where += fmt::format(":{}", line);
    said.remove_prefix(std::min(said.size(), line.size() + 1));
  }
  if (!about.empty()) return no_route(where, about);
  return fmt::format("{}: SimGrid refuses it: {}; expected a SimGrid platform file", where,
                     first_line(said));
}

void find_out(const machine::Platform& platform, std::uint32_t ranks, const Pairs& pairs,
              const std::string& path, const std::string& file, char (&about)[256],
              const ScratchFile& answer) {
  LoadedFile& loaded = *new LoadedFile(path, file);
  const std::vector<std::uint32_t> host = loaded.place(platform, ranks);
  Found found;
  for (const std::uint32_t h : host) found.host_of_rank.push_back(loaded.host_name(h));
  for (const auto& [src, dst] : pairs) {
    found.routes.push_back({src, dst, loaded.route(host[src.value], host[dst.value], about)});
  }
  found.links = loaded.take_links();
  answer.write(packed(found));
}

Wiring wiring_of_file(const machine::Platform& platform, const std::string& file,
                      std::uint32_t ranks, const Pairs& pairs) {
  machine::check_platform(platform, "platform " + machine::in_quotes(platform.name));
  const std::string text =
      machine::read_input_file(file, "platform", "a SimGrid platform file", kMaxFileBytes);
  check_platform_xml(text, file);
  // SimGrid reads what was looked at, whatever has become of the file.
  const ScratchFile copy;
  copy.write(text);
  const ScratchFile said;
  const ScratchFile answer;
  const SharedMemory memory(256);
  auto& about = *static_cast<char(*)[256]>(memory.data());
  try {
    run_in_child([&] {
      dup2(said.descriptor(), STDOUT_FILENO);
      dup2(said.descriptor(), STDERR_FILENO);
      xbt_log_control_set("root.thresh:critical");
      xbt_log_control_set("root.fmt:%m%n");
      try {
        find_out(platform, ranks, pairs, copy.path(), file, about, answer);
      } catch (const Error&) {
        throw;
      } catch (const std::bad_alloc&) {
        throw EnvironmentError(fmt::format("{}: not enough memory for it", in_quotes(file)));
      } catch (const std::exception& error) {
        throw InputError(refusal(error.what(), copy.path(), file, about));
      }
    });
  } catch (const InternalError&) {
    // SimGrid has ended the child.
    throw InputError(refusal(said.contents(), copy.path(), file, about));
  }
  return unpacked(answer.contents(), platform);
}

}  // namespace

machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule) {
  const auto* const shape = std::get_if<machine::SimgridFile>(&platform.topology.shape);
  if (shape == nullptr) return Wiring(platform, schedule.rank_count());
  return wiring_of_file(platform, shape->file, schedule.rank_count(),
                        pairs_of(schedule, platform.node));
}

machine::Wiring wiring_of_ranks(const machine::Platform& platform, std::uint32_t ranks) {
  const auto* const shape = std::get_if<machine::SimgridFile>(&platform.topology.shape);
  if (shape == nullptr) return Wiring(platform, ranks);
  return wiring_of_file(platform, shape->file, ranks, every_pair(ranks, platform.node));
}

}  // namespace slackline::sim
