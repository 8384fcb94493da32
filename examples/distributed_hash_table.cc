// A hash table spread over ranks, in both styles: by calls, where a key's owner runs the insert or
// the find, and one-sided, where the one who wants it works on the owner's memory with
// compare-and-swap, put and get, and the owner takes no part.
//
//   distributed_hash_table --ranks 4 --keys 5000 --style both --transport shm
//
// Every rank inserts keys of its own and finds those of another, beside keys that nobody inserted.
// Then each looks through its part of the table: it must hold exactly what was inserted. Ends with
// 0 if it does, 1 if not.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "examples/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using hw::Synchronizer;

struct Arguments {
  std::uint64_t keys = 2000;  // of each rank
  std::string style = "both";
  std::uint64_t seed = 1;
  std::uint64_t lose = 0;  // rank 0 leaves out this insert, from 1: the check must notice
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A slot with key 0 is empty.
struct Slot {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
};

/// What all ranks know: who inserts what, and where it belongs.
struct Rule {
  std::uint64_t seed;
  std::uint64_t keys;  // of each rank
  std::uint32_t ranks;

  /// Even ones are inserted, odd ones never.
  std::uint64_t key(std::uint32_t rank, std::uint64_t i) const {
    return mix(mix(seed + rank) + i) * 2;
  }
  static std::uint64_t value(std::uint64_t key) { return mix(key + 17); }
  std::uint32_t owner(std::uint64_t key) const {
    return static_cast<std::uint32_t>(mix(key) % ranks);
  }
  /// A third more than there are on the average, and some for chance.
  std::uint64_t slots() const { return keys * 4 / 3 + 64 + keys / 4; }
  std::uint64_t first_slot(std::uint64_t key) const { return mix(key + 3) % slots(); }
};

/// A rank's part of the table.
struct Part {
  const Rule& rule;
  std::span<Slot> slots;

  // The slot of a key, or the empty one where it would be.
  Slot& find(std::uint64_t key) {
    for (std::uint64_t i = 0; i < slots.size(); ++i) {
      Slot& slot = slots[(rule.first_slot(key) + i) % slots.size()];
      if (slot.key == key || slot.key == 0) return slot;
    }
    throw InputError("the table is full");
  }
};

class Table {
 public:
  virtual ~Table() = default;
  virtual const char* name() const = 0;
  virtual void insert(std::uint64_t key, std::uint64_t value) = 0;
  virtual void find(std::uint64_t key, Slot& result) = 0;
  /// Everything that was asked for here is done.
  virtual void wait() = 0;
};

class TableByCalls final : public Table {
 public:
  TableByCalls(Calls& calls, const Rule& rule) : calls_(calls), rule_(rule), done_(calls) {}
  const char* name() const override { return "calls"; }

  void insert(std::uint64_t key, std::uint64_t value) override {
    calls_.call(
        rule_.owner(key),
        [key, value](CallContext& here) {
          here.local<Part>().find(key) = {key, value};
        },
        &done_);
  }
  void find(std::uint64_t key, Slot& result) override {
    calls_.call_return(
        rule_.owner(key), [key](CallContext& here) { return here.local<Part>().find(key); },
        &result, done_);
  }
  void wait() override { done_.wait(); }

 private:
  Calls& calls_;
  const Rule& rule_;
  Synchronizer done_;
};

class OneSidedTable final : public Table {
 public:
  OneSidedTable(Calls& calls, const Rule& rule, const std::vector<hw::RemoteBuffer>& parts)
      : calls_(calls),
        rule_(rule),
        parts_(parts),
        done_(calls),
        old_(calls.registered(8)),
        word_(calls.registered(8)),
        slot_(calls.registered(sizeof(Slot))) {}
  const char* name() const override { return "one-sided"; }

  // Whoever swaps its key into an empty slot owns the slot, and puts the value behind it.
  void insert(std::uint64_t key, std::uint64_t value) override {
    for (std::uint64_t i = 0; i < rule_.slots(); ++i) {
      const std::uint64_t at = place(key, i);
      calls_.compare_swap(part(key), at, 0, key, old_, done_);
      done_.wait();
      const std::uint64_t old = old_.as<std::uint64_t>()[0];
      if (old != 0 && old != key) continue;
      word_.as<std::uint64_t>()[0] = value;
      calls_.put(word_, part(key), at + 8, done_);
      done_.wait();
      return;
    }
    throw InputError("the table is full");
  }
  void find(std::uint64_t key, Slot& result) override {
    for (std::uint64_t i = 0; i < rule_.slots(); ++i) {
      calls_.get(slot_, part(key), place(key, i), done_);
      done_.wait();
      result = slot_.as<Slot>()[0];
      if (result.key == key || result.key == 0) return;
    }
    result = {};
  }
  void wait() override {}

 private:
  const hw::RemoteBuffer& part(std::uint64_t key) const { return parts_[rule_.owner(key)]; }
  std::uint64_t place(std::uint64_t key, std::uint64_t probe) const {
    return sizeof(Slot) * ((rule_.first_slot(key) + probe) % rule_.slots());
  }

  Calls& calls_;
  const Rule& rule_;
  const std::vector<hw::RemoteBuffer>& parts_;
  Synchronizer done_;
  hw::RegisteredBuffer old_;
  hw::RegisteredBuffer word_;
  hw::RegisteredBuffer slot_;
};

/// Inserts, then finds; answers how many finds were wrong.
std::uint64_t use(Calls& calls, const Rule& rule, Table& table, std::uint64_t lose) {
  for (std::uint64_t i = 0; i < rule.keys; ++i) {
    if (calls.rank() == 0 && i + 1 == lose) continue;
    const std::uint64_t key = rule.key(calls.rank(), i);
    table.insert(key, Rule::value(key));
  }
  calls.settle();  // all ranks have inserted all
  const std::uint32_t other = (calls.rank() + 1) % calls.ranks();
  std::vector<Slot> found(2 * rule.keys);
  for (std::uint64_t i = 0; i < rule.keys; ++i) {
    table.find(rule.key(other, i), found[2 * i]);
    table.find(rule.key(other, i) + 1, found[2 * i + 1]);
  }
  table.wait();
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < rule.keys; ++i) {
    const std::uint64_t key = rule.key(other, i);
    wrong += found[2 * i].key != key || found[2 * i].value != Rule::value(key);
    wrong += found[2 * i + 1].key != 0;
  }
  return wrong;
}

/// How many entries of this rank's part are missing, doubled, foreign or have another value.
std::uint64_t compare(const Rule& rule, std::uint32_t self, std::span<const Slot> slots) {
  std::map<std::uint64_t, int> expected;
  for (std::uint32_t rank = 0; rank < rule.ranks; ++rank) {
    for (std::uint64_t i = 0; i < rule.keys; ++i) {
      const std::uint64_t key = rule.key(rank, i);
      if (rule.owner(key) == self) expected[key] = 1;
    }
  }
  std::uint64_t wrong = 0;
  for (const Slot& slot : slots) {
    if (slot.key == 0) continue;
    const auto found = expected.find(slot.key);
    wrong += found == expected.end() || found->second-- != 1 || slot.value != Rule::value(slot.key);
  }
  for (const auto& [key, left] : expected) wrong += left == 1;
  return wrong;
}

/// One style, from an empty table on. All ranks answer the same.
bool try_style(Calls& calls, const Rule& rule, bool one_sided, std::uint64_t lose) {
  // Everybody has memory for a part, and tells the others where.
  std::vector<hw::RemoteBuffer> parts(calls.ranks());
  calls.set_local(parts);
  calls.settle();
  const hw::RemoteBuffer own = calls.allocate(calls.rank(), sizeof(Slot) * rule.slots());
  calls.broadcast([own](CallContext& here) {
    here.local<std::vector<hw::RemoteBuffer>>()[here.source()] = own;
  });
  calls.settle();
  Part part{rule, {reinterpret_cast<Slot*>(calls.bytes_of(own).data()), rule.slots()}};
  calls.set_local(part);
  calls.settle();

  std::uint64_t wrong = 0;
  const char* name = nullptr;
  if (one_sided) {
    OneSidedTable table(calls, rule, parts);
    name = table.name();
    wrong = use(calls, rule, table, lose);
  } else {
    TableByCalls table(calls, rule);
    name = table.name();
    wrong = use(calls, rule, table, lose);
  }
  calls.settle();

  // Rank 0 asks everybody.
  struct Verdict {
    std::uint64_t finds;
    std::uint64_t entries;
  };
  Verdict verdict{wrong, compare(rule, calls.rank(), part.slots)};
  calls.set_local(verdict);
  calls.settle();
  bool right = verdict.finds == 0 && verdict.entries == 0;
  if (calls.rank() == 0) {
    std::vector<Verdict> all(calls.ranks());
    Synchronizer done(calls);
    for (std::uint32_t r = 0; r < calls.ranks(); ++r) {
      calls.call_return(
          r, [](CallContext& here) { return here.local<Verdict>(); }, &all[r], done);
    }
    done.wait();
    for (const Verdict& one : all) right = right && one.finds == 0 && one.entries == 0;
    fmt::print("{}: {} keys of {} ranks: {}\n", name, rule.keys * rule.ranks, rule.ranks,
               right ? "all are there, with their values, and nothing else" : "WRONG");
    std::fflush(stdout);
  }
  calls.settle();
  calls.free(own);
  return right;
}

int run(Calls& calls, const Arguments& arguments) {
  const Rule rule{mix(arguments.seed), arguments.keys, calls.ranks()};
  bool right = true;
  if (arguments.style != "one-sided")
    right = try_style(calls, rule, false, arguments.lose) && right;
  if (arguments.style != "calls") {
    if (calls.has_atomics()) {
      right = try_style(calls, rule, true, arguments.lose) && right;
    } else if (calls.rank() == 0) {
      fmt::print("one-sided: left out: the transport has no atomics\n");
      std::fflush(stdout);
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) {
  using namespace slackline;
  Arguments arguments;
  examples::RankArguments ranks;
  return examples::run_example(
      argc, argv,
      "distributed_hash_table [--keys N] [--style calls|one-sided|both] [--seed N] [--lose K]",
      ranks,
      [&](const std::string& option, const std::string& value) {
        if (option == "--keys") {
          arguments.keys = sched::parse_count(value, option, 1, 1 << 24);
        } else if (option == "--seed") {
          arguments.seed = sched::parse_count(value, option, 0, ~0ull);
        } else if (option == "--lose") {
          arguments.lose = sched::parse_count(value, option, 1, 1 << 24);
        } else if (option == "--style" &&
                   (value == "calls" || value == "one-sided" || value == "both")) {
          arguments.style = value;
        } else {
          return false;
        }
        return true;
      },
      [&](hw::Calls& calls) { return run(calls, arguments); });
}
