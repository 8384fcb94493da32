#include "sched/import/goal_parse.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/import/goal.h"

namespace slackline::sched {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

// Words, ':' '{' '}', and the ends of lines, which end statements. Comments count as blanks. As for
// LogGOPSim's reader, no blank is needed behind a number or a keyword: what begins with one where
// one is due is taken apart.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) { advance(); }

  std::string_view token() const { return token_; }
  bool at_newline() const { return token_ == "\n"; }
  bool at_end() const { return token_.empty(); }
  std::uint32_t line() const { return token_line_; }

  // The token, which is left behind.
  std::string_view take() {
    const std::string_view taken = token_;
    advance();
    return taken;
  }

  // Whether the token is `what` or begins with it; then that much is left behind.
  bool accept(std::string_view what) {
    if (!token_.starts_with(what)) return false;
    advance_by(what.size());
    return true;
  }

  void expect(std::string_view what) {
    if (!accept(what)) fail_expecting(fmt::format("'{}'", what));
  }

  void skip_newlines() {
    while (at_newline()) advance();
  }

  void end_statement() {
    if (!at_newline() && !at_end() && token_ != "}") fail_expecting("the end of the line");
    skip_newlines();
  }

  std::uint64_t number(std::string_view what, std::uint64_t high) {
    std::string_view left = token_;
    std::uint64_t value = 0;
    if (!take_number(left, value) || value > high) {
      fail_expecting(fmt::format("{}: a whole number from 0 to {}", what, high));
    }
    advance_by(token_.size() - left.size());
    return value;
  }

  [[noreturn]] void fail_expecting(std::string_view expected) const {
    fail(fmt::format("{}; expected {}",
                     at_end()       ? "the text ends too early"
                     : at_newline() ? "the line ends too early"
                                    : fmt::format("{} is out of place", in_quotes(token_)),
                     expected));
  }
  [[noreturn]] void fail(std::string_view message) const { fail_at(token_line_, message); }
  [[noreturn]] void fail_at(std::uint32_t line, std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line, message));
  }
  [[noreturn]] void refuse(std::string_view message) const {
    throw Unsupported(fmt::format("{}:{}: {}", file_, token_line_, message));
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (starts("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (starts("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail_at(line_, "a comment has no end; expected '*/'");
        for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      } else {
        return;
      }
    }
  }

  void advance_by(std::size_t count) {
    if (count < token_.size()) {
      token_.remove_prefix(count);
    } else {
      advance();
    }
  }

  void advance() {
    skip_blanks();
    token_line_ = line_;
    const std::size_t begin = at_;
    if (at_ < text_.size()) {
      ++at_;
      if (text_[begin] == '\n') ++line_;
      if (is_word(text_[begin])) {
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      }
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::string_view file_;
  std::string_view token_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t token_line_ = 1;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  GoalProgram parse() {
    in_.skip_newlines();
    in_.expect("num_ranks");
    ranks_ = static_cast<std::uint32_t>(in_.number("num_ranks", kMostGoalRanks));
    if (ranks_ == 0) in_.fail("num_ranks: 0 is out of range; expected at least 1");
    in_.skip_newlines();
    GoalProgram out;
    std::vector<GoalRank>& program = out.ranks;
    while (!in_.at_end()) {
      in_.expect("rank");
      if (program.size() == ranks_) {
        in_.fail(fmt::format("rank {} is one too many; expected the {} ranks of num_ranks",
                             in_quotes(in_.token()), ranks_));
      }
      const std::uint32_t line = in_.line();
      if (in_.number("rank", kMostGoalRanks) != program.size()) {
        in_.fail_at(line,
                    fmt::format("ranks are given in order; expected rank {}", program.size()));
      }
      in_.expect("{");
      program.push_back(rank());
      in_.skip_newlines();
    }
    if (program.size() != ranks_) {
      in_.fail(
          fmt::format("rank {} is missing; expected ranks 0 to {}", program.size(), ranks_ - 1));
    }
    return out;
  }

 private:
  GoalRank rank() {
    GoalRank rank;
    labels_.clear();
    in_.skip_newlines();
    while (in_.token() != "}") {
      statement(rank);
      in_.end_statement();
    }
    in_.take();
    return rank;
  }

  void statement(GoalRank& rank) {
    const std::uint32_t line = in_.line();
    const std::string_view first = label_or_keyword();
    if (in_.token().starts_with("requires") || in_.token().starts_with("irequires")) {
      const On on = in_.accept("requires") ? On::kDone : On::kIssued;
      if (on == On::kIssued) in_.expect("irequires");
      const std::uint32_t succ = find(first);
      rank.dependencies.push_back({find(label_or_keyword()), succ, on});
      return;
    }
    GoalStatement s;
    s.at = line;
    std::string_view keyword = first;
    if (in_.accept(":")) {
      s.label = first;
      const auto index = static_cast<std::uint32_t>(rank.statements.size());
      const auto [known, fresh] = labels_.try_emplace(first, index);
      if (!fresh) {
        in_.fail_at(line, fmt::format("label {} stands on line {} already; expected each once in a "
                                      "rank",
                                      in_quotes(first), rank.statements[known->second].at));
      }
      keyword = kind_after_label();
    }
    if (keyword == "send") {
      s.kind = OpKind::kSend;
      s.amount = in_.number("send", kMostGoalBytes);
      in_.expect("b");
      in_.expect("to");
      peer_and_tag(s);
    } else if (keyword == "recv") {
      s.kind = OpKind::kRecv;
      s.amount = in_.number("recv", kMostGoalBytes);
      in_.expect("b");
      in_.expect("from");
      peer_and_tag(s);
    } else if (keyword == "calc") {
      s.amount = in_.number("calc", kMostGoalNanoseconds);
    } else {
      in_.fail_at(line, fmt::format("{} is out of place; expected send, recv, calc, or a label and "
                                    "then ':', requires or irequires",
                                    in_quotes(keyword)));
    }
    if (in_.accept("cpu")) {
      s.cpu = static_cast<std::uint16_t>(in_.number("cpu", 0xffff));
    }
    if (s.kind != OpKind::kCalc && in_.accept("nic")) {
      s.nic = static_cast<std::uint8_t>(in_.number("nic", 0xff));
    }
    rank.statements.push_back(s);
  }

  std::string_view kind_after_label() {
    for (const std::string_view kind : {"send", "recv", "calc"}) {
      if (in_.accept(kind)) return kind;
    }
    in_.fail_expecting("send, recv, calc");
  }

  void peer_and_tag(GoalStatement& s) {
    if (in_.token().starts_with("-1")) {
      in_.refuse("a message of any rank (-1) is not supported; expected a rank");
    }
    s.peer = static_cast<std::uint32_t>(in_.number("rank", ranks_ - 1));
    if (!in_.accept("tag")) return;
    if (in_.token().starts_with("-1")) {
      in_.refuse("a message of any tag (-1) is not supported; expected a tag");
    }
    s.tag = static_cast<std::uint32_t>(in_.number("tag", 0xffffffffu));
  }

  std::string_view label_or_keyword() {
    const std::string_view word = in_.token();
    if (word.empty() || !is_letter(word.front()) || word.find('-') != std::string_view::npos) {
      in_.fail_expecting("send, recv, calc or a label");
    }
    return in_.take();
  }

  std::uint32_t find(std::string_view label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) {
      in_.fail(fmt::format("label {} is not known; expected one defined above in this rank",
                           in_quotes(label)));
    }
    return found->second;
  }

  Lexer in_;
  std::uint32_t ranks_ = 0;
  std::map<std::string_view, std::uint32_t> labels_;  // of this rank: index of the statement
};

}  // namespace

GoalProgram parse_goal(std::string_view text, std::string_view file) {
  return Parser(text, file).parse();
}

bool looks_like_goal(std::string_view text) {
  try {
    Lexer lexer(text, "");
    lexer.skip_newlines();
    return lexer.token() == "num_ranks";
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace slackline::sched
