// Reads and writes specs by the options that patterns list; spec.h says what they mean.
#include "sched/pattern/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/named.h"
#include "base/split.h"
#include "base/suggest.h"
#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

std::vector<std::string_view> keys_of(const PatternEntry& pattern) {
  std::vector<std::string_view> keys;
  for (const Option& option : pattern.options) keys.push_back(option.key);
  return keys;
}

// Of the patterns that make a schedule themselves few take the same, so their own are named.
std::string not_taken(const PatternEntry& pattern, std::string_view key,
                      const std::vector<std::string_view>& takers) {
  const std::string text = fmt::format("{}: not an option of {}; ", key, pattern.name);
  if (pattern.plan == nullptr) {
    return fmt::format("{}it takes {}", text, fmt::join(keys_of(pattern), ", "));
  }
  return fmt::format("{}{} {} it", text, fmt::join(takers, ", "),
                     takers.size() == 1 ? "takes" : "take");
}

// Throws InputError unless `item` is key=value, with a key that the pattern takes.
std::pair<std::string_view, std::string_view> read_item(std::string_view item,
                                                        const PatternEntry& pattern) {
  const std::size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  std::vector<std::string_view> takers;
  for (const PatternEntry& other : patterns()) {
    if (other.find_option(key) != nullptr) takers.push_back(other.name);
  }
  const bool taken = pattern.find_option(key) != nullptr;
  if (!taken && takers.empty()) {
    throw InputError(
        fmt::format("{}: {}", pattern.name, unknown_name("option", key, keys_of(pattern))));
  }
  if (equals == std::string_view::npos || equals + 1 == item.size()) {
    throw InputError(fmt::format("{}: no value; expected {}=value", key, key));
  }
  if (!taken) throw InputError(not_taken(pattern, key, takers));
  return {key, item.substr(equals + 1)};
}

// The values as written, by key.
std::map<std::string_view, std::string_view> split_values(std::string_view text,
                                                          const PatternEntry& pattern) {
  std::map<std::string_view, std::string_view> values;
  const bool ends_in_comma = text.ends_with(',');
  while (!text.empty()) {
    const std::string_view item = base::take_item(text);
    if (item.empty() || (ends_in_comma && text.empty())) {
      throw InputError(
          fmt::format("{}: a comma without an option; expected key=value,key=value", pattern.name));
    }
    const auto [key, value] = read_item(item, pattern);
    if (!values.emplace(key, value).second) {
      throw InputError(fmt::format("{}: given twice", key));
    }
  }
  return values;
}

void check_size(const Spec& spec) {
  const std::uint64_t ops = most_ops(spec);
  if (ops <= kMaxOps) return;
  const PatternEntry& pattern = pattern_named(spec.pattern);
  if (pattern.find_option("messages") == nullptr) {
    throw InputError(
        fmt::format("{}: up to {} operations; expected at most {}", spec.pattern, ops, kMaxOps));
  }
  if (pattern.plan == nullptr) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected at most {}",
                                 spec.messages, spec.multicast.ranks - 1, ops, kMaxOps));
  }
  throw InputError(
      fmt::format("block: {} blocks to {} ranks make {} operations; expected at most {}; use "
                  "larger blocks{}",
                  *block_count(spec), spec.multicast.ranks - 1, ops, kMaxOps,
                  spec.messages > 1 ? " or fewer messages" : ""));
}

}  // namespace

std::uint32_t MulticastOptions::blocks() const {
  const std::uint64_t count = bytes == 0 ? 1 : (bytes - 1) / block_bytes + 1;
  if (count > (1ull << 31)) {
    throw InputError(
        fmt::format("block: {} bytes in blocks of {} make {} blocks; expected at most "
                    "2147483648",
                    bytes, block_bytes, count));
  }
  return static_cast<std::uint32_t>(count);
}

bool looks_like_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (find_pattern(name) != nullptr) return true;
  const bool could_be_name = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  std::error_code ignored;
  if (name.empty() || !could_be_name || std::filesystem::exists(std::string(text), ignored)) {
    return false;
  }
  return colon != std::string_view::npos || !did_you_mean(name, base::names_of(patterns())).empty();
}

Spec parse_spec(std::string_view text) {
  Spec spec = parse_spec_of_any_size(text);
  check_size(spec);
  return spec;
}

Spec parse_spec_of_any_size(std::string_view text) {
  const std::size_t colon = text.find(':');
  const PatternEntry& pattern = pattern_named(text.substr(0, colon));
  return parse_options(
      pattern, colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
}

Spec parse_options(const PatternEntry& pattern, std::string_view text) {
  const auto values = split_values(text, pattern);
  Spec spec;
  spec.pattern = pattern.name;
  for (const Option& option : pattern.options) {
    const auto given = values.find(option.key);
    if (given != values.end()) {
      option.read(option, given->second, spec);
    } else if (!option.example.empty()) {
      throw InputError(
          fmt::format("{}: missing; expected {}={}", option.key, option.key, option.example));
    }
  }
  return spec;
}

std::string format_spec(const Spec& spec) { return format_spec(pattern_named(spec.pattern), spec); }

std::string format_spec(const PatternEntry& pattern, const Spec& spec) {
  const Spec defaults;
  std::string text(pattern.name);
  for (const Option& option : pattern.options) {
    const std::string value = option.write(option, spec);
    if (option.example.empty() && value == option.write(option, defaults)) continue;
    text +=
        fmt::format("{}{}={}", text.size() == pattern.name.size() ? ':' : ',', option.key, value);
  }
  return text;
}

std::optional<std::uint64_t> block_count(const Spec& spec) {
  if (find_plan_pattern(spec.pattern) == nullptr) return std::nullopt;
  return std::uint64_t{spec.multicast.blocks()} * spec.messages;
}

std::uint64_t most_ops(const Spec& spec) {
  // A message's parts, and two joins that stand for them all.
  if (spec.stripes > 1) {
    Spec whole = spec;
    whole.stripes = 1;
    const std::uint64_t ops = most_ops(whole);
    return ops > kMaxOps ? ops : ops * (std::uint64_t{spec.stripes} + 2);
  }
  const PatternEntry& pattern = pattern_named(spec.pattern);
  if (pattern.plan == nullptr) return pattern.op_count(spec);
  const std::uint64_t receivers = spec.multicast.ranks - 1;
  // A message has two halves, and so has its credit.
  const std::uint64_t per_transfer = spec.credits.ready == Ready::kNone ? 2 : 4;
  const std::uint64_t of_one = receivers * spec.multicast.blocks() * per_transfer +
                               (spec.transfers.copy_first_block ? receivers : 0);
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}

}  // namespace slackline::sched
