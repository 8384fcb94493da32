// A machine that carries a static schedule out as badly as transports may: it looks at memory where
// the executor does, and moves bytes one at a time, in any order that hw/transport.h allows. Shares
// nothing with the verifier, and trusts no arc but edges, queue pairs' order and what memory shows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sched/schedule.h"

namespace slackline::testing {

class ByteAdversary {
 public:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // buffer, offset
  /// A byte: 0 is zero, all else stands for something that is not zero.
  using Symbol = std::uint64_t;

  ByteAdversary(const sched::Schedule& schedule, std::uint64_t seed)
      : s_(schedule), random_(seed), ops_(schedule.op_count()), eager_(random_() % 2 == 0) {}

  /// What went wrong; empty if the schedule came to its end and its post facts hold.
  std::string run() {
    for (const sched::Fact& fact : s_.contract().pre) {
      const std::vector<Place> where = places({fact.slice});
      for (std::size_t b = 0; b < where.size(); ++b) memory_[where[b]] = of(fact, b);
    }
    std::size_t left = ops_.size();
    while (left != 0) {
      std::vector<std::uint32_t> able;
      for (std::uint32_t i = 0; i < ops_.size(); ++i) {
        if (can_act(i)) able.push_back(i);
      }
      if (able.empty()) return "stuck";
      const std::uint32_t i = able[random_() % able.size()];
      const bool was_done = ops_[i].state == State::kDone;
      act(i);
      if (!was_done && ops_[i].state == State::kDone) --left;
    }
    for (const sched::Fact& fact : s_.contract().post) {
      const std::vector<Place> where = places({fact.slice});
      for (std::size_t b = 0; b < where.size(); ++b) {
        if (at(where[b]) == promised(fact, b)) continue;
        return "byte " + std::to_string(where[b].second) + " of buffer " +
               std::to_string(where[b].first) + " is wrong";
      }
    }
    return {};
  }

  /// What memory holds after run(), where it is not zero.
  const std::map<Place, Symbol>& memory() const { return memory_; }

  /// The contract's byte that a symbol stands for: value and offset. Nothing for what an operation
  /// made.
  static std::optional<std::pair<std::uint32_t, std::uint64_t>> contract_byte(Symbol symbol) {
    if (symbol == 0 || symbol >= kSum) return std::nullopt;
    return std::pair(static_cast<std::uint32_t>(symbol >> 32) - 1, symbol & 0xffffffffu);
  }

 private:
  static constexpr Symbol kMade = Symbol{1} << 63;
  static constexpr Symbol kSum = Symbol{1} << 62;  // with its number in sums_, and the offset
  enum class State : std::uint8_t { kWaiting, kIssued, kDone };
  struct Progress {
    State state = State::kWaiting;
    bool captured = false;        // the payload left its source
    std::vector<Symbol> payload;  // …as this
    std::vector<std::size_t> to_land;
    bool landing = false;  // to_land was made
    bool landed = false;
  };

  static Symbol of(const sched::Fact& fact, std::uint64_t byte) {
    return (Symbol{fact.value.value + 1} << 32) | (fact.value_offset + byte);
  }
  // Bytes that an operation made may well be zero.
  Symbol made(std::uint32_t op, std::uint64_t byte) {
    return random_() % 4 == 0 ? 0 : kMade | (Symbol{op} << 32) | byte;
  }

  // A sum of values of the contract from one offset on, known by its terms.
  Symbol sum_of(std::vector<std::uint32_t> terms, std::uint64_t offset) {
    std::sort(terms.begin(), terms.end());
    auto found = std::find(sums_.begin(), sums_.end(), terms);
    if (found == sums_.end()) found = sums_.insert(sums_.end(), std::move(terms));
    return kSum | static_cast<Symbol>(found - sums_.begin()) << 32 | offset;
  }
  Symbol promised(const sched::Fact& fact, std::uint64_t byte) {
    if (fact.terms == 1) return of(fact, byte);
    std::vector<std::uint32_t> terms;
    for (std::uint64_t t = 0; t < fact.terms; ++t) {
      terms.push_back(fact.value.value + static_cast<std::uint32_t>(t));
    }
    return sum_of(std::move(terms), fact.value_offset + byte);
  }
  // What a reduce makes of one byte of each operand.
  Symbol reduced(const std::vector<Symbol>& operands, std::uint32_t op, std::uint64_t byte) {
    std::vector<std::uint32_t> terms;
    for (const Symbol symbol : operands) {
      const bool of_contract = symbol != 0 && symbol < kMade;
      if (!of_contract || offset_of(symbol) != offset_of(operands.front())) return made(op, byte);
      if (symbol < kSum) {
        terms.push_back(static_cast<std::uint32_t>(symbol >> 32) - 1);
      } else {
        const auto& more = sums_[static_cast<std::size_t>((symbol ^ kSum) >> 32)];
        terms.insert(terms.end(), more.begin(), more.end());
      }
    }
    return sum_of(std::move(terms), offset_of(operands.front()));
  }
  static std::uint64_t offset_of(Symbol symbol) { return symbol & 0xffffffffu; }
  // A sum is modulo 256, so it may well be zero: every fourth is, whoever asks.
  static bool is_zero(Symbol symbol) {
    return symbol == 0 || (symbol >= kSum && symbol < kMade && (symbol ^ symbol >> 32) % 4 == 0);
  }

  Symbol at(const Place& place) const {
    const auto found = memory_.find(place);
    return found == memory_.end() ? 0 : found->second;
  }
  const sched::Op& op(std::uint32_t i) const { return s_.ops()[i]; }

  static std::vector<Place> places(const std::vector<sched::Slice>& slices) {
    std::vector<Place> out;
    for (const sched::Slice& slice : slices) {
      for (std::uint64_t b = 0; b < slice.bytes; ++b) {
        out.emplace_back(slice.buffer.value, slice.offset + b);
      }
    }
    return out;
  }
  std::vector<Place> moved(sched::SliceRange range, bool remote, std::uint32_t i) const {
    const auto span = s_.slices(range);
    std::vector<sched::Slice> slices(span.begin(), span.end());
    const sched::Operand& by = s_.arguments(op(i)).address_offset;
    if (remote && by.from == sched::Operand::From::kLiteral) {
      for (sched::Slice& slice : slices) slice.offset += by.value;
    }
    return places(slices);
  }
  std::vector<Place> reads(std::uint32_t i) const {
    return moved(op(i).reads, op(i).kind == sched::OpKind::kGet, i);
  }
  std::vector<Place> writes(std::uint32_t i) const {
    return moved(op(i).writes, op(i).kind == sched::OpKind::kPut, i);
  }
  std::vector<Place> word(std::uint32_t i) const { return moved(op(i).reads, true, i); }

  bool can_issue(std::uint32_t i) const {
    for (const sched::Edge& edge : s_.edges_into(sched::OpId(i))) {
      const State pred = ops_[edge.pred.value].state;
      if (edge.on == sched::On::kDone ? pred != State::kDone : pred == State::kWaiting)
        return false;
    }
    if (!op(i).channel.valid()) return true;
    const bool receives = op(i).kind == sched::OpKind::kRecv;
    for (std::uint32_t j = 0; j < i; ++j) {
      if (op(j).channel != op(i).channel) continue;
      if ((op(j).kind == sched::OpKind::kRecv) != receives) continue;
      if (ops_[j].state == State::kWaiting) return false;
    }
    return true;
  }

  // Whether a send is done when its bytes have left their source.
  bool ends_as_it_leaves(std::uint32_t i) const {
    return eager_ || !sched::is_acknowledged(s_.channel(op(i).channel).service);
  }

  // Where the payload of a message or a one-sided operation lands.
  bool may_land(std::uint32_t i) const {
    return op(i).kind != sched::OpKind::kSend || ops_[op(i).match.value].state != State::kWaiting;
  }

  bool can_act(std::uint32_t i) const {
    using sched::OpKind;
    const Progress& p = ops_[i];
    if (p.state == State::kWaiting) return can_issue(i);
    const OpKind kind = op(i).kind;
    // What was sent, or put, may land after the sender is done with it.
    if (kind == OpKind::kSend && !p.landed && p.captured && may_land(i)) return true;
    if (p.state == State::kDone) return false;
    switch (kind) {
      case OpKind::kSend:
        return !p.captured || p.landed || ends_as_it_leaves(i);
      case OpKind::kRecv:
        return ops_[op(i).match.value].landed;
      case OpKind::kPoll: {
        const std::vector<Place> flag = reads(i);
        return std::all_of(flag.begin(), flag.end(),
                           [&](const Place& b) { return !is_zero(at(b)); });
      }
      default:
        return true;
    }
  }

  void act(std::uint32_t i) {
    using sched::OpKind;
    Progress& p = ops_[i];
    if (p.state == State::kWaiting) {
      p.state = State::kIssued;
      const OpKind kind = op(i).kind;
      const bool moves = kind == OpKind::kSend || kind == OpKind::kPut || kind == OpKind::kGet;
      if (moves && random_() % 2 == 0) capture(i);
      return;
    }
    switch (op(i).kind) {
      case OpKind::kSend:
        if (!p.captured) {
          capture(i);
        } else if (!p.landed && may_land(i) && (p.state == State::kDone || random_() % 2 == 0)) {
          land(i, writes(op(i).match.value), false);
        } else if (p.state == State::kIssued && (p.landed || ends_as_it_leaves(i))) {
          p.state = State::kDone;
        }
        break;
      case OpKind::kPut:
      case OpKind::kGet:
        if (!p.captured) {
          capture(i);
        } else if (!p.landed) {
          land(i, writes(i), op(i).kind == OpKind::kPut);
        } else {
          p.state = State::kDone;
        }
        break;
      case OpKind::kPoll:
        if (is_polled_again(i)) {
          for (const Place& byte : reads(i)) memory_.erase(byte);
        }
        p.state = State::kDone;
        break;
      case OpKind::kCopy:
      case OpKind::kReduce:
        work(i);
        p.state = State::kDone;
        break;
      default:
        if (!is_atomic(op(i).kind)) {
          p.state = State::kDone;
        } else if (!p.captured) {
          p.captured = true;
          const std::vector<Place> bytes = word(i);
          for (std::size_t b = 0; b < bytes.size(); ++b) set(bytes[b], made(i, b));
        } else {
          const std::vector<Place> all = writes_of_result(i);
          for (std::size_t b = 0; b < all.size(); ++b) set(all[b], made(i, 8 + b));
          p.state = State::kDone;
        }
    }
  }

  std::vector<Place> writes_of_result(std::uint32_t i) const {
    const auto span = s_.slices(op(i).writes).subspan(1);
    return places({span.begin(), span.end()});
  }

  void set(const Place& place, Symbol symbol) { memory_[place] = symbol; }

  void capture(std::uint32_t i) {
    ops_[i].captured = true;
    for (const Place& byte : reads(i)) ops_[i].payload.push_back(at(byte));
  }

  // One more byte of it, or some. A put's come in their order, a message's and a get's in any.
  void land(std::uint32_t i, const std::vector<Place>& to, bool in_order) {
    Progress& p = ops_[i];
    if (!p.landing) {
      p.landing = true;
      for (std::size_t b = std::min(p.payload.size(), to.size()); b > 0; --b) {
        p.to_land.push_back(b - 1);
      }
      if (!in_order) std::shuffle(p.to_land.begin(), p.to_land.end(), random_);
    }
    for (std::uint64_t count = 1 + random_() % 4; count > 0 && !p.to_land.empty(); --count) {
      const std::size_t b = p.to_land.back();
      p.to_land.pop_back();
      set(to[b], p.payload[b]);
    }
    p.landed = p.to_land.empty();
  }

  void work(std::uint32_t i) {
    const std::vector<Place> to = writes(i);
    std::vector<Symbol> bytes;
    if (op(i).kind == sched::OpKind::kCopy) {
      for (const Place& byte : reads(i)) bytes.push_back(at(byte));
    } else {
      const std::vector<Place> from = reads(i);
      for (std::size_t b = 0; b < to.size(); ++b) {
        std::vector<Symbol> operands;
        for (std::size_t r = b; r < from.size(); r += to.size()) operands.push_back(at(from[r]));
        bytes.push_back(operands.size() == 1 ? operands.front() : reduced(operands, i, b));
      }
    }
    for (std::size_t b = 0; b < std::min(to.size(), bytes.size()); ++b) set(to[b], bytes[b]);
  }

  bool is_polled_again(std::uint32_t poll) const {
    const std::uint32_t end = s_.end_op(op(poll).rank).value;
    for (std::uint32_t later = poll + 1; later < end; ++later) {
      if (op(later).kind == sched::OpKind::kPoll && !reads(later).empty() && !reads(poll).empty() &&
          reads(later).front() == reads(poll).front()) {
        return true;
      }
    }
    return false;
  }

  const sched::Schedule& s_;
  std::mt19937_64 random_;
  std::vector<Progress> ops_;
  std::map<Place, Symbol> memory_;
  std::vector<std::vector<std::uint32_t>> sums_;  // the values of each, in order
  bool eager_;  // all sends are done when their bytes have left their source
};

}  // namespace slackline::testing
