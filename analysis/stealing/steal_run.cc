#include "analysis/stealing/steal_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/mix.h"

namespace slackline::analysis {
namespace {

constexpr std::uint64_t kVictim = 5;  // a site of draws
constexpr std::uint32_t kMostDoublings = 5;

std::uint32_t bits_for_messages(std::uint32_t ranks) {
  return 32 - static_cast<std::uint32_t>(std::bit_width(ranks));
}

void append(std::string& to, const void* bytes, std::size_t count) {
  if (count != 0) to.append(static_cast<const char*>(bytes), count);
}

}  // namespace

StealRun::StealRun(const StealOptions& options, std::uint64_t vertices,
                   const machine::Setting& setting, const machine::Paths& paths,
                   machine::DrivenClock& clock)
    : SettlingRun(clock, paths.nic_count(), setting.watch),
      options_(options),
      tree_(options.tree),
      vertices_(vertices),
      platform_(setting.platform),
      paths_(paths),
      shift_(bits_for_messages(options.ranks)),
      o_complete_s_(sched::seconds(platform_.o_complete)),
      gap_s_(sched::seconds(platform_.gap)),
      serial_(platform_.nic == machine::NicDiscipline::kSerial),
      ranks_(options.ranks) {
  for (const machine::Straggler& straggler : setting.delays.stragglers) {
    ranks_[straggler.rank.value].slowdown = straggler.slowdown;
  }
  ranks_[0].stack.push_back({tree_.root(), 0});
  ranks_[0].has_token = true;
  ranks_[0].token_returned = options.ranks == 1;
}

sched::OpId StealRun::id_of(std::uint32_t rank, std::size_t number) const {
  if (number >= std::size_t{1} << shift_) {
    throw InputError(
        fmt::format("rank {} sends {} messages or more; expected fewer: more work a "
                    "vertex, or a longer rest",
                    rank, number));
  }
  return OpId(rank << shift_ | static_cast<std::uint32_t>(number));
}

machine::PathId StealRun::path_of(OpId id, bool back) {
  const std::uint32_t src = rank_of(id);
  const std::uint32_t dst = message(id).dst;
  const std::uint32_t channel = src * (options_.ranks - 1) + dst - (dst > src ? 1 : 0);
  return paths_.of(sched::ChannelId(channel), back);
}

void StealRun::start() {
  for (std::uint32_t r = 0; r < options_.ranks; ++r) go_on(r);
  settle();
}

void StealRun::handle(const Event& event) {
  const OpId id = event.op();
  switch (event.kind()) {
    case Kind::kLaneEnd: {
      Rank& self = ranks_[id.value];
      if (self.state == State::kPosting) {
        const OpId posted = self.outbox.front();
        self.outbox.pop_front();
        leave(posted);
      } else if (self.state == State::kHandling) {
        take_effect(self, id.value);
      }
      reach(now_s_);
      go_on(id.value);
      break;
    }
    case Kind::kSeen: {
      Rank& self = ranks_[id.value];
      reach(now_s_);
      self.state = State::kHandling;
      if (options_.handler > sched::Time{0}) {
        hold(self, id.value, options_.handler);
      } else {
        take_effect(self, id.value);
        go_on(id.value);
      }
      break;
    }
    case Kind::kHeldBack: {
      Rank& self = ranks_[id.value];
      self.resting = false;
      if (self.state == State::kWaiting) go_on(id.value);
      break;
    }
    case Kind::kOutFree:
    case Kind::kLargeOutFree:
      (event.kind() == Kind::kOutFree ? small_ : large_)
          .free_out(now_s_, paths_[path_of(id)].src_nic);
      break;
    case Kind::kSent:
      sent(id);
      break;
    case Kind::kArrived: {
      Rank& target = ranks_[message(id).dst];
      target.inbox.push_back(id);
      if (target.state == State::kWaiting) go_on(message(id).dst);
      break;
    }
    default:
      throw InternalError("a search that steals has no such event");
  }
}

void StealRun::hold(Rank& self, std::uint32_t rank, sched::Time time) {
  // In whole picoseconds, as delay plans have it.
  const double more = (self.slowdown - 1) * static_cast<double>(time.count());
  const double hold_s = sched::seconds(time) + std::round(more) * 1e-12;
  end_at(now_s_ + hold_s, {OpId(rank), Kind::kLaneEnd});
}

// Until it holds its lane, waits for something, or is finished.
void StealRun::go_on(std::uint32_t rank) {
  Rank& self = ranks_[rank];
  while (decide(self, rank)) {
  }
}

// Whether it may have something more to do at once.
bool StealRun::decide(Rank& self, std::uint32_t rank) {
  if (!self.outbox.empty()) {
    self.state = State::kPosting;
    hold(self, rank, platform_.o_post);
    return false;
  }
  if (self.told_done) {
    self.state = State::kFinished;
    return false;
  }
  if (!self.inbox.empty()) {
    self.taken = self.inbox.front();
    self.inbox.pop_front();
    self.steps.push_back({StealStep::What::kTake, message(self.taken).kind, rank_of(self.taken),
                          number_of(self.taken)});
    self.state = State::kSeeing;
    end_at(now_s_ + o_complete_s_, {OpId(rank), Kind::kSeen});
    return false;
  }
  if (!self.stack.empty()) {
    search(self, rank);
    return false;
  }
  if (self.has_token) {
    pass_token(self, rank);
    return true;
  }
  if (!self.asked && !self.resting && options_.ranks > 1) {
    ask(self, rank);
    return true;
  }
  self.state = State::kWaiting;
  return false;
}

// Up to the next look. What it finds nobody sees before.
void StealRun::search(Rank& self, std::uint32_t rank) {
  std::uint32_t count = 0;
  for (; count < options_.look && !self.stack.empty(); ++count) {
    const Vertex vertex = self.stack.back();
    self.stack.pop_back();
    const std::uint32_t children = tree_.children(vertex.digest, vertex.depth);
    for (std::uint32_t i = children; i-- > 0;) {
      self.stack.push_back({sched::UtsTree::child(vertex.digest, i), vertex.depth + 1});
    }
  }
  self.visited += count;
  if (self.steps.empty() || self.steps.back().what != StealStep::What::kSearch) {
    self.steps.push_back({StealStep::What::kSearch, StealMessage::kAsk, rank, 0});
  }
  self.steps.back().number += count;
  self.state = State::kSearching;
  hold(self, rank, sched::Time{options_.work.count() * count});
}

StealRun::Message& StealRun::send(Rank& self, std::uint32_t rank, std::uint32_t dst,
                                  StealMessage kind) {
  self.outbox.push_back(id_of(rank, self.messages.size()));
  Message& made = self.messages.emplace_back();
  made.dst = dst;
  made.kind = kind;
  self.steps.push_back({StealStep::What::kSend, kind, dst, 0});
  ++figures_.messages;
  return made;
}

void StealRun::ask(Rank& self, std::uint32_t rank) {
  const std::uint64_t bits = sched::draw(options_.seed, {kVictim, rank, self.attempts++});
  const std::uint32_t other = sched::below(bits, options_.ranks - 1);
  send(self, rank, other + (other >= rank ? 1 : 0), StealMessage::kAsk);
  self.asked = true;
  ++figures_.asked;
}

// The token counts the visited vertices, once round the ring; a rank keeps it while it has work.
void StealRun::pass_token(Rank& self, std::uint32_t rank) {
  self.has_token = false;
  if (rank == 0 && self.token_returned &&
      self.token_count + (options_.ranks == 1 ? self.visited : 0) == vertices_) {
    return tell_done(self, rank);
  }
  const std::uint64_t before = rank == 0 ? 0 : self.token_count;
  send(self, rank, (rank + 1) % options_.ranks, StealMessage::kToken).count = before + self.visited;
}

// To the children of a binomial tree.
void StealRun::tell_done(Rank& self, std::uint32_t rank) {
  self.told_done = true;
  for (std::uint32_t apart = std::bit_ceil(rank + 1); rank + apart < options_.ranks; apart *= 2) {
    send(self, rank, rank + apart, StealMessage::kDone);
  }
}

// The handler of what was taken is over.
void StealRun::take_effect(Rank& self, std::uint32_t rank) {
  Message& taken = message(self.taken);
  switch (taken.kind) {
    case StealMessage::kAsk:
      give(self, rank, rank_of(self.taken));
      break;
    case StealMessage::kNo:
      self.asked = false;
      rest(self, rank);
      break;
    case StealMessage::kWork:
      self.asked = false;
      self.refusals = 0;
      self.stack.insert(self.stack.end(), taken.given.begin(), taken.given.end());
      taken.given = {};
      break;
    case StealMessage::kToken:
      self.has_token = true;
      self.token_returned = true;
      self.token_count = taken.count;
      break;
    case StealMessage::kDone:
      tell_done(self, rank);
  }
}

void StealRun::give(Rank& self, std::uint32_t rank, std::uint32_t thief) {
  const std::size_t has = self.stack.size();
  const std::size_t chunk = has >= 2 * std::size_t{options_.chunk} ? options_.chunk : 0;
  const std::size_t count = options_.share == StealShare::kHalf ? has / 2 : chunk;
  if (count == 0) {
    send(self, rank, thief, StealMessage::kNo);
    ++figures_.refused;
    return;
  }
  Message& given = send(self, rank, thief, StealMessage::kWork);
  const auto end = self.stack.begin() + static_cast<std::ptrdiff_t>(count);
  given.given.assign(self.stack.begin(), end);  // the oldest, which have most below them
  given.vertices = count;
  self.stack.erase(self.stack.begin(), end);
  self.steps.back().number = count;
  figures_.moved += count;
}

void StealRun::rest(Rank& self, std::uint32_t rank) {
  const std::uint32_t doublings = std::min(self.refusals++, kMostDoublings);
  const sched::Time time{options_.rest.count() << doublings};
  if (time == sched::Time{0}) return;
  self.resting = true;
  self.steps.push_back(
      {StealStep::What::kRest, StealMessage::kNo, rank, static_cast<std::uint64_t>(time.count())});
  end_at(now_s_ + sched::seconds(time), {OpId(rank), Kind::kHeldBack});
}

// It is posted: past the NIC within a machine, into its NIC's queue otherwise.
void StealRun::leave(OpId id) {
  const machine::Path& way = paths_[path_of(id)];
  if (!way.local) {
    (is_large(id) ? large_ : small_).join(now_s_, id, way.src_nic, way.dst_nic, bytes(id));
    return;
  }
  message(id).wire_s = now_s_;
  end_at(paths_.sent_s(now_s_, path_of(id), bytes(id)), {id, Kind::kSent});
}

void StealRun::start_message(const machine::PortArbiter::Start& start, bool large) {
  const OpId id = start.op;
  machine::PortArbiter& ports = large ? large_ : small_;
  message(id).wire_s = now_s_;
  if (!serial_) {
    free_at_start(ports, start, gap_s(paths_[path_of(id)]), {id, out_free(large)});
  }
  if (large) {
    clock_.transmit(now_s_, path_of(id), bytes(id), id);
  } else {
    clock_.at(paths_.sent_s(now_s_, path_of(id), bytes(id)), {id, Kind::kSent});
  }
}

void StealRun::sent(OpId id) {
  const machine::Path& way = paths_[path_of(id)];
  if (!way.local && serial_) {
    const bool large = is_large(id);
    free_at_end(large ? large_ : small_, way.src_nic, way.dst_nic, message(id).wire_s, gap_s(way),
                {id, out_free(large)});
  }
  const double arrival_s = now_s_ + way.latency_s;
  // The put is done once that is acknowledged.
  reach(arrival_s + paths_[path_of(id, true)].latency_s + o_complete_s_);
  end_at(arrival_s, {id, Kind::kArrived});
}

std::string StealRun::result() {
  std::string bytes;
  for (const Rank& rank : ranks_) figures_.vertices += rank.visited;
  append(bytes, &figures_, sizeof figures_);
  for (const Rank& rank : ranks_) {
    const std::uint64_t count = rank.steps.size();
    append(bytes, &count, sizeof count);
    append(bytes, rank.steps.data(), count * sizeof(StealStep));
  }
  return bytes;
}

StealLog log_of(const std::string& result, std::uint32_t ranks) {
  StealLog log;
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t count) {
    if (result.size() - at < count) throw InternalError("a search that steals said too little");
    if (count != 0) std::memcpy(to, result.data() + at, count);
    at += count;
  };
  take(&log.figures, sizeof log.figures);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::uint64_t count = 0;
    take(&count, sizeof count);
    log.steps.emplace_back(count);
    take(log.steps.back().data(), count * sizeof(StealStep));
  }
  return log;
}

}  // namespace slackline::analysis
