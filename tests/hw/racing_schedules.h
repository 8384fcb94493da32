// Dynamic schedules in which ranks race for words of rank 0, its own included, and what must hold
// of the memory they leave, whoever was first.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "sched/kept_memory.h"
#include "sched/schedule.h"
#include "sched/text.h"
#include "sched/trace.h"
#include "sched/value_bytes.h"

namespace slackline::testing {

namespace racing {

inline std::string head(std::uint32_t ranks) {
  return fmt::format("slackline schedule 1\nranks {}\n", ranks);
}
inline std::string channels(std::uint32_t ranks) {
  std::string text;
  for (std::uint32_t r = 0; r < ranks; ++r) text += fmt::format("channel {} from {} to 0\n", r, r);
  return text;
}

inline std::vector<std::uint64_t> words_of(const sched::Schedule& schedule,
                                           const sched::Trace& trace, std::uint32_t buffer) {
  const sched::KeptMemory kept(schedule);
  const auto bytes = kept.of(sched::BufferId(buffer), std::span(trace.memory));
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), words.size() * 8);
  return words;
}

inline std::uint64_t value_word(std::uint32_t value) {
  std::array<std::byte, 8> bytes{};
  sched::write_value(sched::ValueId(value), 0, bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

inline std::uint32_t turns(const sched::Schedule& schedule, const sched::Trace& trace,
                           std::uint32_t rank) {
  return trace.ops[schedule.first_op(sched::RankId(rank)).value].attempts;
}

}  // namespace racing

/// Everyone draws numbers and writes its value to the slot with that number.
inline sched::Schedule tickets(std::uint32_t ranks, std::uint32_t times) {
  std::string text = racing::head(ranks);
  text += fmt::format("buffer 0 rank 0 bytes 8\nbuffer 1 rank 0 bytes {}\n", 8 * ranks * times);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("buffer {} rank {} bytes 8\n", 2 + r, r);
  }
  text += racing::channels(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t op = 2 * r;
    text += fmt::format(
        "rank {0}\n  {1} fetch_add on {0} reads 0[0+8] writes 0[0+8] operand 1\n"
        "  {2} put on {0} reads {3}[0+8] writes 1[0+8] offset result:{1}*8 "
        "after done:{1}\n",
        r, op, op + 1, 2 + r);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("region repeat entry {} count 2 attempts {}\n", 2 * r, times);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("pre {}[0+8] value {}\n", 2 + r, r);
  }
  return sched::read_text(text);
}

inline std::string judge_tickets(const sched::Schedule& schedule, const sched::Trace& trace) {
  const auto slots = racing::words_of(schedule, trace, 1);
  const std::uint64_t drawn = racing::words_of(schedule, trace, 0)[0];
  if (drawn != slots.size()) return fmt::format("{} tickets for {} slots", drawn, slots.size());
  std::map<std::uint64_t, std::uint64_t> written;
  for (const std::uint64_t slot : slots) ++written[slot];
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const std::uint64_t found = written[racing::value_word(r)];
    const std::uint32_t turns = racing::turns(schedule, trace, r);
    if (found != turns) return fmt::format("rank {} wrote {} slots in {} turns", r, found, turns);
  }
  return {};
}

/// Everyone takes a lock, reads a word, adds its value to it byte by byte, writes it back and gives
/// the lock back.
inline sched::Schedule locked_counter(std::uint32_t ranks, std::uint32_t times) {
  std::string text = racing::head(ranks);
  text += "buffer 0 rank 0 bytes 8\nbuffer 1 rank 0 bytes 8\n";
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("buffer {} rank {} bytes 16\n", 2 + r, r);
  }
  text += racing::channels(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t op = 6 * r;
    text += fmt::format(
        "rank {0}\n"
        "  {1} compare_swap on {0} reads 0[0+8] writes 0[0+8] operand {7} compare 0\n"
        "  {2} get on {0} reads 1[0+8] writes {8}[0+8] after done:{1}\n"
        "  {3} reduce reads {8}[0+8] {8}[8+8] writes {8}[0+8] after done:{2}\n"
        "  {4} put on {0} reads {8}[0+8] writes 1[0+8] after done:{3}\n"
        "  {5} fetch_and on {0} reads 0[0+8] writes 0[0+8] operand 0 after done:{4}\n"
        "  {6} fetch_add on {0} reads 1[0+8] writes 1[0+8] operand 0 after done:{5}\n",
        r, op, op + 1, op + 2, op + 3, op + 4, op + 5, r + 1, 2 + r);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format(
        "region repeat entry {0} count 5 attempts {1}\n"
        "region retry entry {0} count 1 attempts 100000000 outcome actual\n",
        6 * r, times);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("pre {}[8+8] value {}\n", 2 + r, r);
  }
  return sched::read_text(text);
}

inline std::string judge_locked_counter(const sched::Schedule& schedule,
                                        const sched::Trace& trace) {
  if (racing::words_of(schedule, trace, 0)[0] != 0) return "the lock was not given back";
  std::array<std::byte, 8> sum{};
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const std::uint32_t first = schedule.first_op(sched::RankId(r)).value;
    const std::uint64_t holder = trace.results[first + 4];
    if (holder != r + 1) return fmt::format("rank {} gave back the lock of {}", r, holder);
    const std::uint64_t value = racing::value_word(r);
    for (std::size_t b = 0; b < 8; ++b) {
      const std::uint64_t added = (value >> (8 * b) & 255) * trace.ops[first + 1].attempts;
      sum[b] = static_cast<std::byte>(std::to_integer<std::uint64_t>(sum[b]) + added);
    }
  }
  const std::uint64_t counted = racing::words_of(schedule, trace, 1)[0];
  if (counted == std::bit_cast<std::uint64_t>(sum)) return {};
  return fmt::format("the sum is {:#x}; expected {:#x}", counted,
                     std::bit_cast<std::uint64_t>(sum));
}

/// Everyone sets, toggles and clears a byte of its own in one word, and finds it as it left it. Up
/// to eight ranks.
inline sched::Schedule own_bits(std::uint32_t ranks, std::uint32_t times) {
  std::string text = racing::head(ranks) + "buffer 0 rank 0 bytes 8\n" + racing::channels(ranks);
  constexpr const char* kWord = "reads 0[0+8] writes 0[0+8]";
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t op = 5 * r;
    const std::uint64_t own = std::uint64_t{255} << (8 * r);
    text += fmt::format("rank {0}\n  {1} fetch_or on {0} {2} operand {3}\n", r, op, kWord, own);
    text +=
        fmt::format("  {0} fetch_xor on {1} {2} operand {3} compare {3} mask {3} after done:{4}\n",
                    op + 1, r, kWord, own, op);
    text += fmt::format("  {} fetch_or on {} {} operand {} compare 0 mask {} after done:{}\n",
                        op + 2, r, kWord, own, own, op + 1);
    text += fmt::format("  {} fetch_and on {} {} operand {} compare {} mask {} after done:{}\n",
                        op + 3, r, kWord, ~own, own, own, op + 2);
    text += fmt::format("  {} fetch_or on {} {} operand {} after done:{}\n", op + 4, r, kWord,
                        std::uint64_t{5} << (8 * r), op + 3);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format(
        "region repeat entry {0} count 4 attempts {1}\n"
        "region retry entry {0} count 4 attempts 1 outcome actual\n",
        5 * r, times);
  }
  return sched::read_text(text);
}

inline std::string judge_own_bits(const sched::Schedule& schedule, const sched::Trace& trace) {
  std::uint64_t expected = 0;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) expected |= std::uint64_t{5} << (8 * r);
  const std::uint64_t word = racing::words_of(schedule, trace, 0)[0];
  if (word == expected) return {};
  return fmt::format("the word is {:#x}; expected {:#x}", word, expected);
}

/// Everyone counts by swapping in one more than it found, until nobody else was faster.
inline sched::Schedule swapped_counter(std::uint32_t ranks, std::uint32_t times) {
  std::string text = racing::head(ranks) + "buffer 0 rank 0 bytes 8\n" + racing::channels(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format(
        "rank {0}\n  {0} compare_swap on {0} reads 0[0+8] writes 0[0+8] "
        "operand result:{0}+1 compare result:{0}\n",
        r);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format(
        "region repeat entry {0} count 1 attempts {1}\n"
        "region retry entry {0} count 1 attempts 100000000 outcome actual\n",
        r, times + r);
  }
  return sched::read_text(text);
}

inline std::string judge_swapped_counter(const sched::Schedule& schedule,
                                         const sched::Trace& trace) {
  std::uint64_t expected = 0;
  for (const sched::Region& region : schedule.regions()) {
    if (region.kind == sched::RegionKind::kRepeat) expected += region.max_attempts;
  }
  const std::uint64_t counted = racing::words_of(schedule, trace, 0)[0];
  if (counted == expected) return {};
  return fmt::format("counted {}; expected {}", counted, expected);
}

}  // namespace slackline::testing
