// How a group at one member fails: it posts nothing more, settles with the survivors, and ends its
// transport once they all know: who does not would take that for a loss.
#include <fmt/format.h>

#include <algorithm>

#include "hw/group/member.h"

namespace slackline::hw {

void GroupMember::fail(std::uint32_t member, const std::string& why) {
  if (state_ != State::kOpen) return;
  state_ = State::kFailing;
  active_ = Clock::now();
  failed_ = member;
  why_ = why;
  queue_.clear();
  completions_.clear();
  settlement_.emplace(size(), setup_.self, finished_);
  settlement_->lose(member);
  tell_settlement();
  // Without atomic delivery there is nothing to settle first.
  if (!table_) call_failure();
}

void GroupMember::lose(std::uint32_t member, const std::string& how, bool reachable) {
  if (state_ == State::kEnded || (!reachable_[member] && !reachable)) return;
  reachable_[member] = reachable_[member] && reachable;
  // Who has heard from everyone knows the outcome, whoever is lost after that.
  if (state_ == State::kOpen && std::ranges::find(done_, false) == done_.end()) return;
  if (state_ == State::kOpen) return fail(member, how);
  if (settlement_->lose(member)) tell_settlement();
}

void GroupMember::leave(const std::string& why) {
  if (state_ == State::kEnded) return;
  if (state_ == State::kOpen) return fail(setup_.self, why);
  if (settlement_->lose(setup_.self)) tell_settlement();
}

void GroupMember::cut_off(const std::string& why) {
  std::fill(reachable_.begin(), reachable_.end(), false);
  if (state_ == State::kOpen && std::ranges::find(done_, false) == done_.end()) return;
  leave(why);
}

void GroupMember::hear(std::uint32_t from, const GroupControl& control) {
  if (state_ == State::kEnded) return;
  if (control.word == GroupWord::kStill) {
    GroupControl here;
    here.word = GroupWord::kHere;
    here.group = setup_.name;
    here.number = wants_close_ ? 1 : 0;
    return tell_(setup_.ranks[from], here);
  }
  if (control.word == GroupWord::kHere) {
    signs_[from] = control.number == 1 ? Sign::kCloses : Sign::kLives;
    return;
  }
  active_ = Clock::now();
  asked_ = false;
  switch (control.word) {
    case GroupWord::kClose:
      if (from == 0) total_ = control.number;  // the root's to say
      return;
    case GroupWord::kDone:
      done_[from] = true;
      return;
    case GroupWord::kGone:
      // It closed the group because all was delivered, or gave up: nothing of it is under way.
      if (state_ == State::kFailing) {
        reachable_[from] = false;
        if (settlement_->lose(from)) tell_settlement();
      }
      return;
    case GroupWord::kSettle:
      break;
    default:
      return;
  }
  const SettlementNotice& notice = control.notice;
  if (notice.lost.size() != size()) return;
  if (state_ == State::kOpen) {
    if (notice.lost[setup_.self]) {
      fail(from, fmt::format("rank {} takes this rank for lost", setup_.ranks[from]));
    } else {
      const auto lost = std::ranges::find(notice.lost, true);
      const auto member =
          lost == notice.lost.end() ? from : static_cast<std::uint32_t>(lost - notice.lost.begin());
      fail(member, member == from ? fmt::format("rank {} left the group", setup_.ranks[member])
                                  : fmt::format("rank {} lost rank {}", setup_.ranks[from],
                                                setup_.ranks[member]));
    }
  }
  knows_[from] = true;
  if (settlement_->hear(from, notice)) tell_settlement();
}

void GroupMember::tell_settlement() {
  GroupControl control;
  control.word = GroupWord::kSettle;
  control.group = setup_.name;
  control.notice = settlement_->own();
  // Even those who are out: one that lives should know.
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != setup_.self) tell_(setup_.ranks[m], control);
  }
}

void GroupMember::call_failure() {
  if (called_failure_) return;
  called_failure_ = true;
  if (setup_.callbacks.failure) setup_.callbacks.failure(setup_.ranks[failed_]);
}

bool GroupMember::progress_failing() {
  give_up_on_silent();
  if (!called_failure_) {
    if (settlement_->is_lost(setup_.self)) {
      call_failure();
    } else if (settlement_->decided()) {
      deliver(*settlement_->decided());
      call_failure();
    }
  }
  if (!called_failure_ || !is_known_to_all()) return false;
  end(false);
  return true;
}

bool GroupMember::is_known_to_all() const {
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != setup_.self && reachable_[m] && !knows_[m]) return false;
  }
  return true;
}

// Members that live and do nothing: every wait ends. Half-way, all are asked for a sign.
void GroupMember::give_up_on_silent() {
  const auto idle = Clock::now() - active_;
  if (!asked_ && idle > setup_.timeout / 2) {
    asked_ = true;
    std::ranges::fill(signs_, Sign::kNone);
    GroupControl control;
    control.word = GroupWord::kStill;
    control.group = setup_.name;
    tell_all(control);
  }
  if (idle < setup_.timeout) return;
  active_ = Clock::now();
  asked_ = false;
  if (state_ == State::kFailing) {
    for (std::uint32_t m = 0; m < size(); ++m) {
      if (m != setup_.self && !knows_[m]) lose(m, "", false);
    }
    return;
  }
  // Whoever gives no sign, else whoever does not close, else whoever has not all messages.
  std::optional<std::uint32_t> blamed;
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m == setup_.self || !reachable_[m] || done_[m]) continue;
    if (!blamed || signs_[m] < signs_[*blamed]) blamed = m;
  }
  if (!blamed) return;
  lose(*blamed,
       fmt::format("rank {} did not come to the end of the group within {} s",
                   setup_.ranks[*blamed], std::chrono::duration<double>(setup_.timeout).count()),
       true);
}

void GroupMember::end(bool delivered) {
  closing_.emplace();
  closing_->delivered = delivered;
  closing_->messages = completed_;
  if (!delivered) {
    closing_->rank = setup_.ranks[failed_];
    closing_->why = why_;
    if (table_) leftover_ = table_->rows();
  }
  // All that was posted is done, but for receives into this group's own memory.
  if (delivered && !trouble_) transport_->close(ends());
  // From here on nobody touches the application's memory.
  current_.reset();
  port_.reset();
  table_.reset();
  transport_.reset();
  state_ = State::kEnded;
}

}  // namespace slackline::hw
