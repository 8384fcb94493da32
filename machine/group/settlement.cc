#include "machine/group/settlement.h"

#include <algorithm>

namespace slackline::machine {

Settlement::Settlement(std::uint32_t members, std::uint32_t self, std::uint64_t messages)
    : self_(self), heard_(members) {
  own_.lost.assign(members, false);
  own_.messages = messages;
}

bool Settlement::lose(std::uint32_t member) {
  if (own_.lost[member]) return false;
  own_.lost[member] = true;
  decide();
  return true;
}

bool Settlement::hear(std::uint32_t from, const SettlementNotice& notice) {
  if (notice.lost.size() != own_.lost.size()) return false;  // of another group
  heard_[from] = notice;
  bool news = false;
  // Of who is out, nothing is taken over: others may not hear it any more.
  if (!own_.lost[from]) {
    for (std::uint32_t m = 0; m < own_.lost.size(); ++m) {
      if (notice.lost[m] && !own_.lost[m]) own_.lost[m] = news = true;
    }
  }
  return decide() || news;
}

bool Settlement::decide() {
  if (own_.decided || own_.lost[self_]) return false;
  std::uint64_t least = own_.messages;
  bool all_agree = true;
  for (std::uint32_t m = 0; m < heard_.size(); ++m) {
    if (m == self_ || own_.lost[m]) continue;
    if (heard_[m] && heard_[m]->decided) {
      own_.decided = heard_[m]->decided;
      return true;
    }
    if (!heard_[m] || heard_[m]->lost != own_.lost) {
      all_agree = false;
    } else {
      least = std::min(least, heard_[m]->messages);
    }
  }
  if (!all_agree) return false;
  own_.decided = least;
  return true;
}

}  // namespace slackline::machine
