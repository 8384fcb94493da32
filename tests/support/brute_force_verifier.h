// The verifier's oracle: the same questions answered from the semantics of sched/op.h in the most
// plodding way, for schedules of some hundred operations and buffers of some hundred bytes. Shares
// no code with the verifier, and not even the matching that a Schedule brings with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/diagnostic.h"
#include "sched/schedule.h"

namespace slackline::testing {

class BruteForceVerifier {
 public:
  explicit BruteForceVerifier(const sched::Schedule& schedule)
      : s_(schedule), n_(schedule.op_count()) {}

  /// Every code of which there is an error. Of an unordered pair of accesses, each code that one of
  /// its two orders would have. Later checks are left out where earlier ones fail, as documented at
  /// verify(). `seed` picks the order in which memory is played through.
  std::set<sched::Code> errors(std::uint64_t seed);

  /// Some byte was delivered by a message to where it stood already (after errors() found none).
  bool delivered_twice() const { return delivered_twice_; }

  /// A byte of memory: which value's which byte. Kind 0: nothing; 1: the contract's; 2: made by an
  /// operation.
  using Symbol = std::tuple<int, std::uint32_t, std::uint64_t>;
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // buffer, offset
  /// What memory held at the end (after errors() found no race).
  const std::map<Place, Symbol>& memory() const { return memory_; }

 private:
  using Bits = std::vector<bool>;
  struct Touch {
    std::uint32_t op;
    bool reads;
    bool writes;
    bool atomic;
    std::uint64_t position;  // in the payload
  };

  void match();
  void check_messages();
  void check_poll(std::uint32_t poll);
  void check_shared_flags();
  void make_arcs();
  void check_windows();
  void check_races();
  void check_operands();
  void play(std::uint64_t seed);

  std::vector<Place> places(const std::vector<sched::Slice>& slices) const;
  std::vector<sched::Slice> reads(std::uint32_t op) const;
  std::vector<sched::Slice> writes(std::uint32_t op) const;
  bool before(std::uint32_t first_event, std::uint32_t second_event) const {
    return reach_[first_event][second_event];
  }
  std::uint32_t release(const Touch& touch, bool as_write) const;
  std::vector<std::uint32_t> random_order(std::mt19937_64& random) const;

  const sched::Schedule& s_;
  std::uint32_t n_;
  std::vector<std::uint32_t> match_;  // by op; n_ if none
  // arcs_[from] → to, over events 2·op and 2·op + 1; the flag says that it is a proof's.
  std::vector<std::vector<std::pair<std::uint32_t, bool>>> arcs_;
  std::vector<Bits> reach_;
  std::set<sched::Code> found_;
  // The sums of contract values, by their terms; symbols of kind 3.
  std::uint32_t sum_number(const std::vector<std::uint32_t>& terms) {
    const auto found = std::find(sums_.begin(), sums_.end(), terms);
    if (found == sums_.end()) sums_.push_back(terms);
    return static_cast<std::uint32_t>(std::find(sums_.begin(), sums_.end(), terms) - sums_.begin());
  }
  std::vector<Symbol> sum_of(const std::vector<Symbol>& operands, std::size_t bytes,
                             std::uint32_t op) {
    std::vector<Symbol> out;
    if (operands.size() == bytes) return operands;
    for (std::size_t b = 0; b < bytes; ++b) {
      std::vector<std::uint32_t> terms;
      bool known = true;
      for (std::size_t at = b; at < operands.size(); at += bytes) {
        const auto [kind, id, offset] = operands[at];
        known = known && (kind == 1 || kind == 3) && offset == std::get<2>(operands[b]);
        if (kind == 3) terms.insert(terms.end(), sums_[id].begin(), sums_[id].end());
        if (kind == 1) terms.push_back(id);
      }
      std::sort(terms.begin(), terms.end());
      out.push_back(known ? Symbol{3, sum_number(terms), std::get<2>(operands[b])}
                          : Symbol{2, op, b});
    }
    return out;
  }

  std::vector<std::vector<std::uint32_t>> sums_;
  std::map<Place, Symbol> memory_;
  bool delivered_twice_ = false;
};

inline std::set<sched::Code> BruteForceVerifier::errors(std::uint64_t seed) {
  using sched::Code;
  found_.clear();
  match();
  check_messages();
  make_arcs();
  if (found_.empty()) check_shared_flags();
  if (!found_.empty()) return found_;
  check_windows();
  check_races();
  check_operands();
  if (found_.empty() || found_ == std::set{Code::kWindow}) play(seed);
  return found_;
}

inline std::vector<sched::Slice> BruteForceVerifier::reads(std::uint32_t i) const {
  const sched::Op& op = s_.ops()[i];
  const auto span = s_.slices(op.reads);
  std::vector<sched::Slice> out(span.begin(), span.end());
  const sched::Operand& by = s_.arguments(op).address_offset;
  if (op.kind != sched::OpKind::kPut && by.from == sched::Operand::From::kLiteral) {
    for (sched::Slice& slice : out) slice.offset += by.value;
  }
  return out;
}

inline std::vector<sched::Slice> BruteForceVerifier::writes(std::uint32_t i) const {
  const sched::Op& op = s_.ops()[i];
  const auto span = s_.slices(op.writes);
  std::vector<sched::Slice> out(span.begin(), span.end());
  const sched::Operand& by = s_.arguments(op).address_offset;
  if (by.from != sched::Operand::From::kLiteral) return out;
  if (op.kind == sched::OpKind::kPut) {
    for (sched::Slice& slice : out) slice.offset += by.value;
  } else if (is_atomic(op.kind)) {
    out.front().offset += by.value;
  }
  return out;
}

inline std::vector<BruteForceVerifier::Place> BruteForceVerifier::places(
    const std::vector<sched::Slice>& slices) const {
  std::vector<Place> out;
  for (const sched::Slice& slice : slices) {
    for (std::uint64_t b = 0; b < slice.bytes; ++b) {
      out.emplace_back(slice.buffer.value, slice.offset + b);
    }
  }
  return out;
}

// Polls that look at some bytes of another's flag look at all of them, and at no more.
inline void BruteForceVerifier::check_shared_flags() {
  for (std::uint32_t poll = 0; poll < n_; ++poll) {
    for (std::uint32_t other = 0; other < n_; ++other) {
      if (s_.ops()[poll].kind != sched::OpKind::kPoll) continue;
      if (s_.ops()[other].kind != sched::OpKind::kPoll) continue;
      const std::vector<Place> ours = places(reads(poll));
      const std::vector<Place> theirs = places(reads(other));
      const bool meet =
          std::find_first_of(ours.begin(), ours.end(), theirs.begin(), theirs.end()) != ours.end();
      if (meet && ours != theirs) found_.insert(sched::Code::kFlag);
    }
  }
}

inline void BruteForceVerifier::match() {
  using sched::OpKind;
  match_.assign(n_, n_);
  for (std::uint32_t c = 0; c < s_.channels().size(); ++c) {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> receives;
    for (std::uint32_t i = 0; i < n_; ++i) {
      const sched::Op& op = s_.ops()[i];
      if (op.channel != sched::ChannelId(c)) continue;
      if (op.kind == OpKind::kRecv) receives.push_back(i);
      if (op.kind == OpKind::kSend ||
          (op.kind == OpKind::kPut && op.notify == sched::Notify::kImm)) {
        sources.push_back(i);
      }
    }
    for (std::size_t k = 0; k < std::min(sources.size(), receives.size()); ++k) {
      match_[sources[k]] = receives[k];
      match_[receives[k]] = sources[k];
    }
  }
  for (std::uint32_t i = 0; i < n_; ++i) {  // flags are the user's own
    const sched::Op& op = s_.ops()[i];
    if (op.kind == OpKind::kPoll || op.notify == sched::Notify::kFlag) {
      match_[i] = op.match.valid() ? op.match.value : n_;
    }
  }
}

inline void BruteForceVerifier::check_messages() {
  using sched::Code;
  using sched::OpKind;
  for (std::uint32_t i = 0; i < n_; ++i) {
    const sched::Op& op = s_.ops()[i];
    const auto in = places(reads(i));
    const auto out = places(writes(i));
    const bool matched = op.kind == OpKind::kSend || op.kind == OpKind::kRecv ||
                         op.kind == OpKind::kPoll || op.notify != sched::Notify::kNone;
    if (matched && match_[i] == n_) found_.insert(Code::kFifo);
    if (op.kind == OpKind::kSend) {
      const bool datagram = s_.channel(op.channel).service == sched::Service::kDatagram;
      if (datagram && in.size() > 4096) found_.insert(Code::kSize);
    }
    if (op.kind == OpKind::kRecv && match_[i] != n_) {
      const bool send = s_.ops()[match_[i]].kind == OpKind::kSend;
      const std::size_t sent = send ? places(reads(match_[i])).size() : 0;
      if (sent > out.size()) found_.insert(Code::kTruncate);
      if (sent < out.size()) found_.insert(Code::kSize);
    }
    if (op.kind == OpKind::kPut || op.kind == OpKind::kGet || op.kind == OpKind::kCopy) {
      if (in.size() != out.size()) found_.insert(Code::kSize);
    }
    if (op.kind == OpKind::kReduce) {
      const auto operands = reads(i);
      if (operands.empty()) found_.insert(Code::kSize);
      for (const sched::Slice& operand : operands) {
        if (operand.bytes != out.size()) found_.insert(Code::kSize);
      }
    }
    if (is_atomic(op.kind)) {
      for (const sched::Slice& word : writes(i)) {
        if (word.bytes != 8) found_.insert(Code::kSize);
      }
    }
    if (is_atomic(op.kind) && reads(i).front().offset % 8 != 0) found_.insert(Code::kStructure);
    if (op.kind == OpKind::kPoll) check_poll(i);
  }
}

// One slice, of at least a byte, which is what the put writes last.
inline void BruteForceVerifier::check_poll(std::uint32_t poll) {
  const std::vector<Place> flag = places(reads(poll));
  bool right = true;
  if (match_[poll] != n_) {
    std::vector<Place> last;
    for (const sched::Slice& slice : writes(match_[poll])) {
      if (slice.bytes != 0) last = places({slice});
    }
    right =
        reads(poll).size() == 1 && !flag.empty() && flag.size() <= last.size() &&
        std::equal(flag.begin(), flag.end(), last.end() - static_cast<std::ptrdiff_t>(flag.size()));
  }
  if (!right) found_.insert(sched::Code::kFlag);
}

inline void BruteForceVerifier::make_arcs() {
  using sched::OpKind;
  arcs_.assign(2 * n_, {});
  for (std::uint32_t i = 0; i < n_; ++i) {
    const sched::Op& op = s_.ops()[i];
    arcs_[2 * i].emplace_back(2 * i + 1, true);  // (a)
    if (match_[i] != n_) {
      if (op.kind == OpKind::kSend || op.kind == OpKind::kPut) {
        arcs_[2 * i].emplace_back(2 * match_[i] + 1, true);  // (c)
      } else if (op.kind == OpKind::kRecv &&
                 s_.channel(op.channel).service == sched::Service::kReliable) {
        arcs_[2 * i].emplace_back(2 * match_[i] + 1, false);  // (d)
      }
    }
    for (std::uint32_t j = i + 1; j < n_; ++j) {  // (e)
      const sched::Op& later = s_.ops()[j];
      if (!op.channel.valid() || op.channel != later.channel) continue;
      if ((op.kind == OpKind::kRecv) == (later.kind == OpKind::kRecv)) {
        arcs_[2 * i].emplace_back(2 * j, true);
      }
    }
  }
  for (const sched::Edge& edge : s_.edges()) {  // (b)
    arcs_[2 * edge.pred.value + (edge.on == sched::On::kDone ? 1 : 0)].emplace_back(
        2 * edge.succ.value, true);
  }
  const auto closure = [&](bool all) {
    std::vector<Bits> reach(2 * n_, Bits(2 * n_, false));
    for (std::uint32_t start = 0; start < 2 * n_; ++start) {
      std::vector<std::uint32_t> stack = {start};
      while (!stack.empty()) {
        const std::uint32_t event = stack.back();
        stack.pop_back();
        for (const auto& [to, proof] : arcs_[event]) {
          if ((!proof && !all) || reach[start][to]) continue;
          reach[start][to] = true;
          stack.push_back(to);
        }
      }
    }
    return reach;
  };
  const std::vector<Bits> with_posted = closure(true);
  for (std::uint32_t e = 0; e < 2 * n_; ++e) {
    if (with_posted[e][e]) found_.insert(sched::Code::kDeadlock);
  }
  reach_ = closure(false);
}

inline void BruteForceVerifier::check_windows() {
  for (std::uint32_t c = 0; c < s_.channels().size(); ++c) {
    const sched::Channel& channel = s_.channels()[c];
    std::vector<std::uint32_t> receives;
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (s_.ops()[i].kind == sched::OpKind::kRecv && s_.ops()[i].channel == sched::ChannelId(c)) {
        receives.push_back(i);
      }
    }
    for (std::size_t k = 0; k < receives.size(); ++k) {
      const std::uint32_t source = match_[receives[k]];
      const bool posted = before(2 * receives[k], 2 * source);
      const bool promised = channel.window > 0;
      if ((promised || channel.service == sched::Service::kDatagram) && !posted) {
        found_.insert(sched::Code::kWindow);
      }
      if (promised && k >= channel.window &&
          !before(2 * receives[k - channel.window] + 1, 2 * source)) {
        found_.insert(sched::Code::kWindow);
      }
    }
  }
}

inline std::uint32_t BruteForceVerifier::release(const Touch& touch, bool as_write) const {
  const bool put = s_.ops()[touch.op].kind == sched::OpKind::kPut;
  return 2 * (put && as_write && match_[touch.op] != n_ ? match_[touch.op] : touch.op) + 1;
}

inline void BruteForceVerifier::check_races() {
  using sched::Code;
  using sched::OpKind;
  std::map<Place, std::vector<Touch>> touches;
  for (std::uint32_t i = 0; i < n_; ++i) {
    const sched::Op& op = s_.ops()[i];
    if (is_atomic(op.kind)) {
      for (const Place& place : places(reads(i)))
        touches[place].push_back({i, true, true, true, 0});
      const auto out = places(writes(i));
      for (std::size_t b = 8; b < out.size(); ++b) {
        touches[out[b]].push_back({i, false, true, false, b});
      }
      continue;
    }
    std::uint64_t position = 0;
    for (const sched::Slice& slice : reads(i)) {
      if (op.kind == OpKind::kReduce) position = 0;
      for (const Place& place : places({slice})) {
        touches[place].push_back({i, true, false, false, position++});
      }
    }
    position = 0;
    for (const Place& place : places(writes(i))) {
      touches[place].push_back({i, false, true, false, position++});
    }
  }
  const auto same_word = [&](const Touch& a, const Touch& b) {
    return a.atomic && b.atomic && reads(a.op) == reads(b.op);
  };
  for (const auto& [place, all] : touches) {
    for (std::size_t x = 0; x < all.size(); ++x) {
      for (std::size_t y = x + 1; y < all.size(); ++y) {
        const Touch& a = all[x];
        const Touch& b = all[y];
        if (!a.writes && !b.writes) continue;
        if (a.op == b.op) {
          if (a.writes && b.writes) found_.insert(Code::kWaw);
          if (a.writes != b.writes && a.position != b.position) found_.insert(Code::kWar);
          continue;
        }
        if (same_word(a, b)) continue;
        const auto watches = [&](const Touch& poll, const Touch& put) {
          return s_.ops()[poll.op].kind == OpKind::kPoll && match_[poll.op] == put.op && put.writes;
        };
        if (watches(a, b) || watches(b, a)) continue;
        const auto ordered = [&](const Touch& first, const Touch& second) {
          return before(release(first, first.writes), 2 * second.op);
        };
        if (ordered(a, b) || ordered(b, a)) continue;
        if (a.writes && b.writes) found_.insert(Code::kWaw);
        if ((a.reads && b.writes) || (a.writes && b.reads)) {
          found_.insert(Code::kRaw);
          found_.insert(Code::kWar);
        }
      }
    }
  }
}

inline void BruteForceVerifier::check_operands() {
  for (std::uint32_t i = 0; i < n_; ++i) {
    const sched::OpArguments& arguments = s_.arguments(s_.ops()[i]);
    for (const sched::Operand* operand : {&arguments.operand, &arguments.compare}) {
      if (operand->from == sched::Operand::From::kResult &&
          !before(2 * operand->op.value + 1, 2 * i)) {
        found_.insert(sched::Code::kRaw);
      }
    }
  }
}

// Some order of the events that all arcs allow, (d) included.
inline std::vector<std::uint32_t> BruteForceVerifier::random_order(std::mt19937_64& random) const {
  std::vector<std::uint32_t> waiting(2 * n_, 0);
  for (const auto& out : arcs_) {
    for (const auto& [to, proof] : out) ++waiting[to];
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t e = 0; e < 2 * n_; ++e) {
    if (waiting[e] == 0) ready.push_back(e);
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const std::uint32_t event = ready.back();
    ready.pop_back();
    order.push_back(event);
    for (const auto& [to, proof] : arcs_[event]) {
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  return order;
}

// Carries the schedule out, byte by byte: payloads are read at issue and land either at the first
// or at the last moment that their operation allows.
inline void BruteForceVerifier::play(std::uint64_t seed) {
  using sched::Code;
  using sched::OpKind;
  std::mt19937_64 random(seed);
  memory_.clear();
  delivered_twice_ = false;
  const auto fact_symbol = [](const sched::Fact& fact, std::uint64_t byte) {
    return Symbol{1, fact.value.value, fact.value_offset + byte};
  };
  for (const sched::Fact& fact : s_.contract().pre) {
    for (std::uint64_t b = 0; b < fact.slice.bytes; ++b) {
      memory_[{fact.slice.buffer.value, fact.slice.offset + b}] = fact_symbol(fact, b);
    }
  }
  std::vector<std::vector<Symbol>> payload(n_);
  std::vector<bool> issued(n_, false);
  std::vector<bool> landed(n_, false);
  const auto land = [&](std::uint32_t op, std::uint32_t source) {
    if (landed[op]) return;
    landed[op] = true;
    const auto out = places(writes(op));
    const OpKind kind = s_.ops()[op].kind;
    const bool flagged = s_.ops()[op].notify == sched::Notify::kFlag;
    const auto flag = flagged ? places(reads(match_[op])) : std::vector<Place>();
    for (std::size_t b = 0; b < out.size(); ++b) {
      Symbol& here = memory_[out[b]];
      const bool message = kind == OpKind::kRecv || kind == OpKind::kPut || kind == OpKind::kGet;
      if (message && here == payload[source][b] && !flagged) delivered_twice_ = true;
      if (std::find(flag.begin(), flag.end(), out[b]) != flag.end()) {
        // Zeros, then bytes that are never zero.
        if (std::get<0>(here) != 0 || std::get<0>(payload[source][b]) != 1) {
          found_.insert(Code::kFlag);
        }
      }
      here = payload[source][b];
    }
  };
  std::set<Place> lowered;
  const auto lower = [&](std::uint32_t poll) {
    for (std::uint32_t later = poll + 1; later < n_; ++later) {
      if (s_.ops()[later].kind != OpKind::kPoll || reads(later) != reads(poll)) continue;
      for (const Place& place : places(reads(poll))) {
        memory_.erase(place);
        lowered.insert(place);
      }
      return;
    }
  };
  for (const std::uint32_t event : random_order(random)) {
    const std::uint32_t i = event / 2;
    const sched::Op& op = s_.ops()[i];
    const bool early = random() % 2 == 0;
    if (event % 2 == 0) {
      issued[i] = true;
      if (op.kind == OpKind::kPoll) continue;
      for (const Place& place : places(reads(i))) {
        Symbol symbol = memory_[place];
        if (std::get<0>(symbol) == 0) {
          const bool tested = op.kind == OpKind::kGet &&
                              s_.arguments(op).compare.from != sched::Operand::From::kAbsent;
          if (!tested && !is_atomic(op.kind)) {
            found_.insert(lowered.contains(place) ? Code::kFlag : Code::kUninitialised);
          }
          symbol = {2, i, payload[i].size()};
        }
        payload[i].push_back(symbol);
      }
      if (op.kind == OpKind::kReduce) {
        payload[i] = sum_of(payload[i], places(writes(i)).size(), i);
      } else if (is_atomic(op.kind)) {
        payload[i].clear();
        for (std::uint64_t b = 0; b < places(writes(i)).size(); ++b)
          payload[i].push_back({2, i, b});
      }
      if (is_atomic(op.kind)) {
        land(i, i);  // one step, with its read
      } else if (op.kind == OpKind::kSend) {
        if (early && issued[match_[i]]) land(match_[i], i);
      } else if (op.kind != OpKind::kRecv && early) {
        land(i, i);
      }
    } else if (op.kind == OpKind::kRecv || op.kind == OpKind::kPoll) {
      const bool put = s_.ops()[match_[i]].kind == OpKind::kPut;
      land(put ? match_[i] : i, match_[i]);
      if (op.kind == OpKind::kPoll) lower(i);
    } else if (op.kind != OpKind::kSend && match_[i] == n_) {
      land(i, i);
    }
  }
  for (const sched::Fact& fact : s_.contract().post) {
    std::vector<std::uint32_t> terms;
    for (std::uint32_t t = 0; t < fact.terms; ++t) terms.push_back(fact.value.value + t);
    for (std::uint64_t b = 0; b < fact.slice.bytes; ++b) {
      const Symbol expected = terms.size() == 1
                                  ? fact_symbol(fact, b)
                                  : Symbol{3, sum_number(terms), fact.value_offset + b};
      if (memory_[{fact.slice.buffer.value, fact.slice.offset + b}] != expected) {
        found_.insert(Code::kPost);
      }
    }
  }
}

}  // namespace slackline::testing
