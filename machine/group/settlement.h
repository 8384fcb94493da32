// What the survivors of a failed group agree on: who is out of it, and which messages all of them
// have. Each tells all others what it knows, whenever that changes, and decides once everybody whom
// it counts in has told it of the same losses.
//
// Whoever survives decides the same. No survivor decides on fewer messages than a member did that
// was lost after deciding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace slackline::machine {

/// What a member tells another.
struct SettlementNotice {
  std::vector<bool> lost;      // by member
  std::uint64_t messages = 0;  // that it has
  std::optional<std::uint64_t> decided;
};

class Settlement {
 public:
  /// `messages`: how many this member has. They become no more.
  Settlement(std::uint32_t members, std::uint32_t self, std::uint64_t messages);

  /// A member is out. Answers whether that is news. Of itself, a member tells but decides nothing.
  bool lose(std::uint32_t member);
  bool is_lost(std::uint32_t member) const { return own_.lost[member]; }

  /// Answers whether there is news to tell. A notice of another number of members is none.
  bool hear(std::uint32_t from, const SettlementNotice& notice);

  /// How many messages all survivors have, once that is settled.
  std::optional<std::uint64_t> decided() const { return own_.decided; }
  /// What is to be told.
  const SettlementNotice& own() const { return own_; }

 private:
  bool decide();

  std::uint32_t self_;
  SettlementNotice own_;
  std::vector<std::optional<SettlementNotice>> heard_;
};

}  // namespace slackline::machine
