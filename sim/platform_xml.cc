#include "sim/platform_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/split.h"
#include "machine/input_text.h"
#include "machine/topology.h"
#include "sim/simgrid_version.h"

namespace slackline::sim {
namespace {

using machine::in_quotes;

constexpr std::string_view kBlank = " \t\r\n";

struct Attribute {
  std::string_view name;
  std::string_view value;
};

struct Tag {
  std::string_view name;  // of an element that begins
  std::vector<Attribute> attributes;
  std::size_t line = 0;
  std::size_t depth = 0;  // of the elements that it stands in

  std::optional<std::string_view> find(std::string_view key) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const Attribute& a) { return a.name == key; });
    if (found == attributes.end()) return std::nullopt;
    return found->value;
  }
};

// Goes through the tags of a text. Where it is no XML it may see too many or too few.
class Tags {
 public:
  explicit Tags(std::string_view text) : rest_(text) {}

  // Nothing at the end.
  std::optional<Tag> next() {
    for (;;) {
      skip_to(rest_.find('<'));
      if (rest_.empty()) return std::nullopt;
      if (rest_.starts_with("<!--")) {
        skip_past("-->");
      } else if (rest_.starts_with("<![CDATA[")) {
        skip_past("]]>");
      } else if (rest_.starts_with("</")) {
        skip_past(">");
        depth_ -= std::min<std::size_t>(depth_, 1);
      } else if (rest_.starts_with("<?") || rest_.starts_with("<!")) {
        skip_past(">");
      } else {
        return tag();
      }
    }
  }

 private:
  void skip_to(std::size_t count) {
    const std::string_view skipped = rest_.substr(0, count);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    rest_.remove_prefix(skipped.size());
  }
  void skip_past(std::string_view end) {
    const std::size_t found = rest_.find(end);
    skip_to(found == std::string_view::npos ? found : found + end.size());
  }
  std::string_view word(std::string_view ends) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(ends));
    skip_to(found.size());
    return found;
  }

  Tag tag() {
    skip_to(1);
    Tag tag;
    tag.line = line_;
    tag.depth = depth_;
    tag.name = word(" \t\r\n/>");
    for (;;) {
      const std::string_view before = rest_;
      skip_to(rest_.find_first_not_of(" \t\r\n/"));
      if (rest_.empty() || rest_.front() == '>') {
        const std::string_view skipped = before.substr(0, before.size() - rest_.size());
        if (!skipped.ends_with('/')) ++depth_;
        return tag;
      }
      const std::string_view name = word(" \t\r\n=>");
      skip_to(rest_.find_first_not_of(kBlank));
      if (!rest_.starts_with('=')) return tag;
      skip_to(1);
      skip_to(rest_.find_first_not_of(kBlank));
      if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return tag;
      const char quote = rest_.front();
      skip_to(1);
      tag.attributes.push_back({name, word(std::string_view(&quote, 1))});
      if (!rest_.empty()) skip_to(1);
    }
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  std::size_t depth_ = 0;
};

// SimGrid's parser calls itself for every zone in a zone, and some ten thousand of them overwrite
// its memory. Real platforms have a few.
constexpr std::size_t kMostDepth = 100;

constexpr std::array<std::string_view, 5> kProfiles = {
    "availability_file", "speed_file", "state_file", "bandwidth_file", "latency_file"};

// Of "0-3,7": as many as they are, as far as one can tell.
std::uint64_t radical_size(std::string_view text) {
  const auto number = [](std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) return std::uint64_t{1} << 40;
    return std::min(value, std::uint64_t{1} << 40);
  };
  std::uint64_t size = 0;
  while (!text.empty() && size <= machine::kMaxHosts) {
    const std::string_view item = base::take_item(text);
    const std::size_t dash = item.find('-');
    if (dash == std::string_view::npos) {
      ++size;
      continue;
    }
    const std::uint64_t first = number(item.substr(0, dash));
    const std::uint64_t last = number(item.substr(dash + 1));
    if (last >= first) size += last - first + 1;
  }
  return size;
}

}  // namespace

void check_platform_xml(std::string_view text, std::string_view file) {
  Tags tags(text);
  std::uint64_t hosts = 0;
  while (const auto tag = tags.next()) {
    const std::string where = fmt::format("{}:{}", in_quotes(file), tag->line);
    const std::string_view id = tag->find("id").value_or("");
    for (const std::string_view profile : kProfiles) {
      if (!tag->find(profile)) continue;
      throw Unsupported(
          fmt::format("{}: {} {} has a {}; expected no profiles: what changes in time stands in a "
                      "delay plan",
                      where, tag->name, in_quotes(id), profile));
    }
    if (tag->name == "trace_connect") {
      throw Unsupported(
          fmt::format("{}: a profile for {}; expected none: what changes in time stands in a delay "
                      "plan",
                      where, in_quotes(tag->find("element").value_or(""))));
    }
    if (tag->depth > kMostDepth) {
      throw InputError(fmt::format("{}: {} {} stands in {} others; expected at most {}", where,
                                   tag->name, in_quotes(id), tag->depth, kMostDepth));
    }
    const std::string_view topology = tag->find("topology").value_or("FLAT");
    if (tag->name == "cluster" && topology != "FLAT" && tag->depth == 1 && !reads_bare_clusters()) {
      throw InputError(
          fmt::format("{}: cluster {} has topology {} and stands in no zone, which this version of "
                      "SimGrid does not read; expected it in a <zone routing=\"Full\">",
                      where, in_quotes(id), in_quotes(topology)));
    }
    const std::uint64_t radical = radical_size(tag->find("radical").value_or(""));
    if (radical > machine::kMaxHosts) {
      throw InputError(fmt::format("{}: {} {} has too many hosts; expected at most {}", where,
                                   tag->name, in_quotes(id), machine::kMaxHosts));
    }
    hosts += radical + (tag->name == "host" || tag->name == "peer" ? 1 : 0);
    if (hosts > machine::kMaxHosts) {
      throw InputError(fmt::format("{}: with {} {} there are too many hosts; expected at most {}",
                                   where, tag->name, in_quotes(id), machine::kMaxHosts));
    }
  }
}

}  // namespace slackline::sim
