#include "hw/launch/agent_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "hw/local_address.h"
#include "hw/mesh/secret.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kOrderBegin = "slackline-order 1\n";
constexpr std::string_view kOrderEnd = "go\n";
constexpr std::string_view kHello = "slackline-agent 1 ";
constexpr std::uint32_t kMostRanks = 1u << 16;
constexpr std::size_t kMostMine = 4096;
constexpr std::size_t kMostLine = 512;
constexpr std::size_t kMostPiece = std::size_t{1} << 20;
constexpr std::size_t kMostPassedOver = std::size_t{1} << 20;
constexpr std::string_view kNoGreeting = "no greeting in 1 MiB";

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  const auto value = base::whole_number<std::uint32_t>(text);
  return value && *value <= most ? value : std::nullopt;
}

// The first word of a line; what follows it is left there.
std::string_view next_word(std::string_view& line) { return base::take_item(line, ' '); }

[[noreturn]] void refuse_order(std::string_view why) {
  throw InputError(fmt::format(
      "standard input says nothing that --hosts does: {}; --agent is for its use alone", why));
}

[[noreturn]] void refuse_agent(std::string_view why) {
  throw EnvironmentError(fmt::format("what it says is no word of an agent: {}", why));
}

bool is_root(std::string_view text) {
  try {
    parse_host_port(std::string(text), "root");
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  } catch (const InputError&) {
    return false;
  }
}

void take_order_line(std::string_view line, AgentOrder& order) {
  const std::string_view key = next_word(line);
  if (key == "ranks" || key == "hosts") {
    const auto value = number(line, kMostRanks);
    if (!value || *value == 0) refuse_order(fmt::format("a number of {} that is none", key));
    (key == "ranks" ? order.ranks : order.hosts) = *value;
  } else if (key == "rank") {
    const auto value = number(line, kMostRanks);
    if (!value || (!order.mine.empty() && *value <= order.mine.back())) refuse_order("no rank");
    if (order.mine.size() == kMostMine) refuse_order("too many ranks");
    order.mine.push_back(*value);
  } else if (key == "root") {
    if (!is_root(line)) refuse_order("a root that is none");
    order.root = line;
  } else if (key == "secret") {
    if (!Secret::is_drawn_text(line)) refuse_order("a secret that is none");
    order.secret_text = line;
  } else {
    refuse_order("an unknown line");
  }
}

}  // namespace

std::string_view agent_version() { return SLACKLINE_VERSION; }

std::string text_of(const AgentOrder& order) {
  std::string text = fmt::format("{}ranks {}\nhosts {}\n", kOrderBegin, order.ranks, order.hosts);
  for (const std::uint32_t rank : order.mine) text += fmt::format("rank {}\n", rank);
  if (!order.root.empty()) text += fmt::format("root {}\n", order.root);
  return text + fmt::format("secret {}\n{}", order.secret_text, kOrderEnd);
}

bool is_whole_order(std::string_view text) {
  return text.ends_with(kOrderEnd) &&
         (text.size() == kOrderEnd.size() || text[text.size() - kOrderEnd.size() - 1] == '\n');
}

AgentOrder agent_order_of(std::string_view text) {
  if (text.size() > kMostOrder) refuse_order("too much");
  if (!text.starts_with(kOrderBegin)) refuse_order("no order of this version");
  if (!is_whole_order(text)) refuse_order("an order without end");
  text.remove_prefix(kOrderBegin.size());
  text.remove_suffix(kOrderEnd.size());
  AgentOrder order;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    take_order_line(text.substr(0, end), order);
    text.remove_prefix(end + 1);
  }
  if (order.mine.empty() || order.mine.back() >= order.ranks) refuse_order("no ranks of the run");
  if (order.hosts == 0 || order.secret_text.empty()) refuse_order("hosts or secret are missing");
  if (order.root.empty() != (order.mine.front() == 0)) refuse_order("a root that does not fit");
  return order;
}

// What came before may have no line feed.
std::string agent_hello() { return fmt::format("\n{}{}\n", kHello, agent_version()); }

std::string agent_root(std::string_view root) { return fmt::format("root {}\n", root); }

std::string agent_output(std::string_view text, bool is_error) {
  std::string said;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kMostPiece);
    said += fmt::format("{} {}\n{}", is_error ? "err" : "out", piece.size(), piece);
    text.remove_prefix(piece.size());
  }
  return said;
}

std::string agent_end(const RankEnd& end) {
  const std::string_view message = std::string_view(end.message).substr(0, kMostPiece);
  return fmt::format("end {} {} {}\n{}", end.code, end.by_signal ? 1 : 0, message.size(), message);
}

void AgentReader::take(std::string_view bytes) {
  heard_ += bytes;
  for (;;) {
    if (piece_ != Piece::kNone) {
      const std::size_t count = std::min(piece_bytes_, heard_.size());
      take_piece(std::string_view(heard_).substr(0, count));
      heard_.erase(0, count);
      if (piece_bytes_ > 0) return;
      if (piece_ == Piece::kEnd) end_ = coming_end_;
      piece_ = Piece::kNone;
    }
    const std::size_t line_end = heard_.find('\n');
    if (line_end == std::string::npos) {
      if (version_ && heard_.size() > kMostLine) refuse_agent("a line of more than 512 bytes");
      if (!version_) pass_over_unended_line();
      return;
    }
    const std::string line = heard_.substr(0, line_end);
    heard_.erase(0, line_end + 1);
    take_line(line);
  }
}

// A line that is longer than a greeting may be is none, in whichever pieces it comes.
void AgentReader::pass_over_unended_line() {
  if (heard_.size() > kMostLine) {
    passed_over_ += std::exchange(heard_, {}).size();
    in_long_line_ = true;
  }
  if (passed_over_ + heard_.size() > kMostPassedOver) refuse_agent(kNoGreeting);
}

void AgentReader::take_line(std::string_view line) {
  if (!version_) {
    passed_over_ += line.size() + 1;
    if (passed_over_ > kMostPassedOver) refuse_agent(kNoGreeting);
    const bool is_long = std::exchange(in_long_line_, false) || line.size() > kMostLine;
    if (!is_long && line.starts_with(kHello)) version_ = line.substr(kHello.size());
    return;
  }
  if (line.size() > kMostLine) refuse_agent("a line of more than 512 bytes");
  if (end_) refuse_agent("something after its end");
  const std::string_view key = next_word(line);
  if (key == "root") {
    if (root_ || !is_root(line)) refuse_agent("a root that is none");
    root_ = line;
    return;
  }
  if (key == "end") {
    const auto code = number(next_word(line), 255);
    const auto by_signal = number(next_word(line), 1);
    if (!code || !by_signal) refuse_agent("an end that is none");
    coming_end_ = {static_cast<int>(*code), "", *by_signal == 1};
    piece_ = Piece::kEnd;
  } else if (key == "out" || key == "err") {
    piece_ = key == "out" ? Piece::kOut : Piece::kErr;
  } else {
    refuse_agent("an unknown line");
  }
  const auto bytes = number(line, kMostPiece);
  if (!bytes) refuse_agent("a size that is none");
  piece_bytes_ = *bytes;
}

void AgentReader::take_piece(std::string_view bytes) {
  if (piece_ == Piece::kOut) out_ += bytes;
  if (piece_ == Piece::kErr) err_ += bytes;
  if (piece_ == Piece::kEnd) coming_end_.message += bytes;
  piece_bytes_ -= bytes.size();
}

}  // namespace slackline::hw
