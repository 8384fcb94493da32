// Reads GOAL as LogGOPSim's txt2bin and its copy in ATLAHS do, fault for fault, to hold what we
// write against. It knows nothing of our own reader.
//
// Their reader is a scanner with one state for each place in a statement. In each state it takes
// the longest token that may stand there and refuses the rest; blanks are free between tokens, and
// tokens need none. Where a statement begins, blanks are no rule of their own: the code behind them
// runs on into the rule for the end of a line, so the next character is lost, whatever it is.
// Comments may stand only there. A statement ends with its line. Of two equal labels the first
// stays. A cpu and a nic are kept in 8 bits, ranks and tags in 32. The file ends with the block of
// rank num_ranks - 1.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::testing {

struct PeerOp {
  std::string kind;  // send, recv, calc
  std::uint64_t size = 0;
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;
};

/// `succ` waits for `pred`, places in PeerRank::ops: for its start (`irequires`) or its end.
struct PeerDependency {
  std::size_t succ = 0;
  std::size_t pred = 0;
  bool start = false;
  friend auto operator<=>(const PeerDependency&, const PeerDependency&) = default;
};

struct PeerRank {
  std::vector<PeerOp> ops;
  std::vector<PeerDependency> dependencies;
};

class GoalPeerReader {
 public:
  /// The program's ranks; throws std::runtime_error where those programs end with an error.
  static std::vector<PeerRank> read(std::string_view text) { return GoalPeerReader(text).all(); }

 private:
  explicit GoalPeerReader(std::string_view text) : text_(text) {}

  std::vector<PeerRank> all() {
    do {
      block();
      if (num_ranks_ == 0) fail("number of ranks undefined");
      // The first block opens the file that the others are written to.
      if (rank_ != ranks_.size()) fail(fmt::format("rank {} out of its turn", rank_));
      ranks_.push_back(std::move(here_));
      here_ = {};
      labels_.clear();
    } while (rank_ + 1 != num_ranks_);
    return std::move(ranks_);
  }

  // Up to the brace that ends the block of a rank.
  void block() {
    bool open = false;
    for (;;) {
      if (at_ == text_.size()) fail("the file ends within a block");
      if (blank(text_[at_])) {
        skip_blanks();
        if (at_ < text_.size()) ++at_;
      } else if (take_newline()) {
        continue;
      } else if (take("//")) {
        while (at_ < text_.size() && text_[at_++] != '\n') continue;
      } else if (take("/*")) {
        const std::size_t end = text_.find("*/", at_);
        if (end == std::string_view::npos) fail("a comment without an end");
        at_ = end + 2;
      } else if (take("}")) {
        if (!open) fail("a brace that closes nothing");
        return;
      } else {
        const std::string word = identifier();
        if (word == "num_ranks") {
          num_ranks_ = static_cast<std::uint32_t>(number());
        } else if (word == "rank") {
          rank_ = static_cast<std::uint32_t>(number());
          expect("{");
          open = true;
        } else {
          statement(word);
        }
      }
    }
  }

  void statement(const std::string& word) {
    if (word == "send" || word == "recv" || word == "calc") return operation(word, std::nullopt);
    skip_blanks();
    if (take(":")) {
      skip_blanks();
      for (const char* kind : {"calc", "send", "recv"}) {
        if (take(kind)) return operation(kind, word);
      }
      fail("calc, send or recv is missing");
    }
    const bool start = take("irequires");
    if (!start && !take("requires")) fail("':', requires or irequires is missing");
    skip_blanks();
    const std::string pred = identifier();
    end_of_line();
    here_.dependencies.push_back({find(word), find(pred), start});
  }

  void operation(std::string_view kind, const std::optional<std::string>& label) {
    PeerOp op;
    op.kind = kind;
    op.size = number();
    if (kind != "calc") {
      expect("b");
      expect(kind == "send" ? "to" : "from");
      skip_blanks();
      op.peer = kind == "recv" && take("-1") ? kAny : static_cast<std::uint32_t>(number());
      if (option("tag")) {
        skip_blanks();
        op.tag = take("-1") ? kAny : static_cast<std::uint32_t>(number());
      }
    }
    if (option("cpu")) op.cpu = static_cast<std::uint8_t>(number());
    if (kind != "calc" && option("nic")) op.nic = static_cast<std::uint8_t>(number());
    end_of_line();
    if (label) labels_.emplace(*label, here_.ops.size());
    here_.ops.push_back(op);
  }

  static constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();

  static bool blank(char c) { return c == ' ' || c == '\t'; }
  void skip_blanks() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take_newline() { return take("\n") || take("\r\n"); }
  bool option(std::string_view token) {
    skip_blanks();
    return take(token);
  }
  void expect(std::string_view token) {
    skip_blanks();
    if (!take(token)) fail(fmt::format("'{}' is missing", token));
  }
  void end_of_line() {
    skip_blanks();
    // The end of the file counts as the end of a line.
    if (at_ != text_.size() && !take_newline()) fail("a line goes on");
  }
  std::uint64_t number() {
    skip_blanks();
    const std::size_t first = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    }
    if (at_ == first) fail("an integer is missing");
    return value;
  }
  std::string identifier() {
    const std::size_t first = at_;
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    if (at_ == text_.size() || !letter(text_[at_])) fail("an identifier is missing");
    while (at_ < text_.size() &&
           (letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '_')) {
      ++at_;
    }
    return std::string(text_.substr(first, at_ - first));
  }
  std::size_t find(const std::string& label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail(fmt::format("label {} is undefined", label));
    return found->second;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("at byte {}: {}", at_, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t num_ranks_ = 0;
  std::uint32_t rank_ = 0;
  PeerRank here_;
  std::map<std::string, std::size_t> labels_;
  std::vector<PeerRank> ranks_;
};

}  // namespace slackline::testing
