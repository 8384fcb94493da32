#include "machine/group/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace slackline::machine {

GroupCore::GroupCore(GroupHost& host, GroupCoreOptions options)
    : host_(host),
      options_(std::move(options)),
      active_s_(host.now_s()),
      signs_(size(), Sign::kNone),
      done_(size(), false),
      reachable_(size(), true),
      left_(size(), false),
      knows_(size(), false) {}

void GroupCore::notice_sign() {
  active_s_ = host_.now_s();
  asked_ = false;
}

void GroupCore::finish() {
  ++finished_;
  if (!options_.atomic_delivery) deliver(finished_);
}

bool GroupCore::deliver(std::uint64_t up_to) {
  bool any = false;
  while (completed_ < std::min(up_to, finished_)) {
    ++completed_;
    any = true;
    host_.complete();
  }
  return any;
}

void GroupCore::close() {
  wants_close_ = true;
  active_s_ = host_.now_s();
}

bool GroupCore::all_are_done() const { return std::ranges::find(done_, false) == done_.end(); }

bool GroupCore::progress() {
  if (state_ == State::kFailing) return progress_failing();
  return state_ == State::kOpen && wants_close_ && progress_close();
}

void GroupCore::tell_all(const GroupSaying& saying) {
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != options_.self && reachable_[m]) host_.tell(m, saying);
  }
}

// The root tells how many messages there were; each member that has completed them tells all
// others; who has heard that from everyone knows that all was delivered.
bool GroupCore::progress_close() {
  GroupSaying saying;
  if (is_root() && !told_close_ && host_.is_idle()) {
    told_close_ = true;
    total_ = finished_;
    saying.word = GroupWord::kClose;
    saying.number = finished_;
    tell_all(saying);
  }
  if (!told_done_ && total_ == completed_ && host_.is_idle() && host_.is_written_everywhere()) {
    told_done_ = true;
    done_[options_.self] = true;
    saying.word = GroupWord::kDone;
    tell_all(saying);
  }
  if (!told_done_ || !all_are_done()) {
    give_up_on_silent();
    return false;
  }
  end(true);
  return true;
}

// The group posts nothing more; it settles with the survivors, and ends once they all know: who
// does not would take the end for a loss.
void GroupCore::fail(std::uint32_t member, const std::string& why,
                     std::optional<std::uint32_t> out) {
  if (state_ != State::kOpen) return;
  state_ = State::kFailing;
  active_s_ = host_.now_s();
  failed_ = member;
  why_ = why;
  host_.stop();
  settlement_.emplace(size(), options_.self, finished_);
  settlement_->lose(out.value_or(member));
  // What is told first names nobody else: whoever fails by hearing it takes that for the reason.
  tell_settlement();
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (left_[m]) leave_out(m);
  }
  // Without atomic delivery there is nothing to settle first.
  if (!options_.atomic_delivery) report_failure();
}

void GroupCore::lose(std::uint32_t member, const std::string& how, bool reachable) {
  if (state_ == State::kEnded || (!reachable_[member] && !reachable)) return;
  reachable_[member] = reachable_[member] && reachable;
  // Who has heard from everyone knows the outcome, whoever is lost after that.
  if (state_ == State::kOpen && all_are_done()) return;
  if (state_ == State::kOpen) return fail(member, how);
  if (settlement_->lose(member)) tell_settlement();
}

// It had decided and told so, or all members have all messages, or it told that it left the group
// itself. Nobody needs it to agree, and it will never say that it is gone.
void GroupCore::see_left(std::uint32_t member) {
  left_[member] = true;
  if (state_ == State::kFailing) leave_out(member);
}

void GroupCore::leave_out(std::uint32_t member) {
  reachable_[member] = false;
  if (settlement_->lose(member)) tell_settlement();
}

void GroupCore::leave(const std::string& why) {
  if (state_ == State::kEnded) return;
  if (state_ == State::kOpen) return fail(options_.self, why);
  if (settlement_->lose(options_.self)) tell_settlement();
}

void GroupCore::cut_off(const std::string& why) {
  std::fill(reachable_.begin(), reachable_.end(), false);
  if (state_ == State::kOpen && all_are_done()) return;
  leave(why);
}

void GroupCore::hear(std::uint32_t from, const GroupSaying& saying) {
  if (state_ == State::kEnded) return;
  if (saying.word == GroupWord::kStill) {
    GroupSaying here;
    here.word = GroupWord::kHere;
    here.number = wants_close_ ? 1 : 0;
    return host_.tell(from, here);
  }
  if (saying.word == GroupWord::kHere) {
    signs_[from] = saying.number == 1 ? Sign::kCloses : Sign::kLives;
    return;
  }
  notice_sign();
  switch (saying.word) {
    case GroupWord::kClose:
      if (from == 0) total_ = saying.number;  // the root's to say
      return;
    case GroupWord::kDone:
      done_[from] = true;
      return;
    case GroupWord::kGone:
      // It closed the group because all was delivered, or gave up: nothing of it is under way.
      if (state_ == State::kFailing) leave_out(from);
      return;
    case GroupWord::kSettle:
      // Who has heard from everyone knows the outcome, as in lose(), and is as good as gone.
      if (state_ == State::kOpen && all_are_done()) {
        GroupSaying gone;
        gone.word = GroupWord::kGone;
        return host_.tell(from, gone);
      }
      break;
    default:
      return;
  }
  const SettlementNotice& notice = saying.notice;
  if (notice.lost.size() != size()) return;
  if (state_ == State::kOpen) {
    const auto rank_of = [&](std::uint32_t m) { return options_.ranks[m]; };
    if (notice.lost[options_.self]) {
      // It is out, and must not have others believe that `from` is.
      fail(from, fmt::format("rank {} takes this rank for lost", rank_of(from)), options_.self);
    } else {
      const auto lost = std::ranges::find(notice.lost, true);
      const auto member =
          lost == notice.lost.end() ? from : static_cast<std::uint32_t>(lost - notice.lost.begin());
      fail(member, member == from
                       ? fmt::format("rank {} left the group", rank_of(member))
                       : fmt::format("rank {} lost rank {}", rank_of(from), rank_of(member)));
    }
  }
  knows_[from] = true;
  if (settlement_->hear(from, notice)) tell_settlement();
}

void GroupCore::tell_settlement() {
  GroupSaying saying;
  saying.word = GroupWord::kSettle;
  saying.notice = settlement_->own();
  // Even those who are out: one that lives should know.
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != options_.self) host_.tell(m, saying);
  }
}

void GroupCore::report_failure() {
  if (reported_) return;
  reported_ = true;
  host_.report_failure(*failed_);
}

bool GroupCore::progress_failing() {
  give_up_on_silent();
  if (!reported_) {
    if (settlement_->is_lost(options_.self)) {
      report_failure();
    } else if (settlement_->decided()) {
      deliver(*settlement_->decided());
      report_failure();
    }
  }
  if (!reported_ || !is_known_to_all()) return false;
  end(false);
  return true;
}

bool GroupCore::is_known_to_all() const {
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != options_.self && reachable_[m] && !knows_[m]) return false;
  }
  return true;
}

double GroupCore::patience_ends_s() const {
  return active_s_ + (asked_ ? options_.timeout_s : options_.timeout_s / 2);
}

// Members that live and do nothing: every wait ends. Half-way, all are asked for a sign.
void GroupCore::give_up_on_silent() {
  const double now_s = host_.now_s();
  if (!asked_ && now_s >= patience_ends_s()) {
    asked_ = true;
    std::ranges::fill(signs_, Sign::kNone);
    GroupSaying saying;
    saying.word = GroupWord::kStill;
    tell_all(saying);
  }
  if (now_s < active_s_ + options_.timeout_s) return;
  notice_sign();
  if (state_ == State::kFailing) {
    for (std::uint32_t m = 0; m < size(); ++m) {
      if (m != options_.self && !knows_[m]) lose(m, "", false);
    }
    return;
  }
  // Whoever gives no sign, else whoever does not close, else whoever has not all messages.
  std::optional<std::uint32_t> blamed;
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m == options_.self || !reachable_[m] || done_[m]) continue;
    if (!blamed || signs_[m] < signs_[*blamed]) blamed = m;
  }
  if (!blamed) return;
  lose(*blamed,
       fmt::format("rank {} did not come to the end of the group within {} s",
                   options_.ranks[*blamed], options_.timeout_s),
       true);
}

void GroupCore::end(bool delivered) {
  outcome_.emplace();
  outcome_->delivered = delivered;
  outcome_->messages = completed_;
  if (!delivered) {
    outcome_->member = failed_;
    outcome_->why = why_;
  }
  host_.end();
  state_ = State::kEnded;
}

}  // namespace slackline::machine
