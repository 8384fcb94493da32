// What the process that the user started and its agents on other hosts say to each other, over
// ssh's standard input and output. The agent greets with its version; it is told in lines which
// ranks are its own, and the secret; rank 0's agent answers where rank 0 is; then come, each after
// a line with its size, rank 0's output and what the agent's ranks came to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/rank_processes.h"

namespace slackline::hw {

/// This program's: both ends must have the same.
std::string_view agent_version();

/// What an agent is to do.
struct AgentOrder {
  std::uint32_t ranks = 0;          // of the run
  std::uint32_t hosts = 0;          // that have any of them
  std::vector<std::uint32_t> mine;  // the agent's own, ascending, at most 4096
  std::string root;                 // "address:port"; empty for the agent of rank 0
  std::string secret_text;          // Secret::drawn_text()
};

std::string text_of(const AgentOrder& order);
/// Throws InputError, which repeats nothing of it, for what is no such text.
AgentOrder agent_order_of(std::string_view text);
/// Whether `text` has come to its end.
bool is_whole_order(std::string_view text);
/// Bytes that an order has at most.
inline constexpr std::size_t kMostOrder = 64 * 1024;

/// What an agent says.
std::string agent_hello();
std::string agent_root(std::string_view root);
/// As many pieces as it takes.
std::string agent_output(std::string_view text, bool is_error);
std::string agent_end(const RankEnd& end);

/// Takes in what an agent says, piece by piece. What shells print before is passed over.
class AgentReader {
 public:
  /// Throws EnvironmentError, which says what is wrong and repeats nothing of it, for what no agent
  /// says.
  void take(std::string_view bytes);

  /// Once it greeted.
  const std::optional<std::string>& version() const { return version_; }
  const std::optional<std::string>& root() const { return root_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  const std::optional<RankEnd>& end() const { return end_; }

 private:
  enum class Piece : std::uint8_t { kNone, kOut, kErr, kEnd };
  void pass_over_unended_line();
  void take_line(std::string_view line);
  void take_piece(std::string_view bytes);

  std::string heard_;  // and not taken yet
  std::size_t passed_over_ = 0;
  bool in_long_line_ = false;  // whose beginning was passed over
  Piece piece_ = Piece::kNone;
  std::size_t piece_bytes_ = 0;
  RankEnd coming_end_;
  std::optional<std::string> version_;
  std::optional<std::string> root_;
  std::string out_;
  std::string err_;
  std::optional<RankEnd> end_;
};

}  // namespace slackline::hw
