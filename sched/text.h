// The text form of a schedule, which people can read and read_text() reads back.
//
//   slackline schedule 1
//   digest 7b8a…                                   optional; checked when it is there
//   title "chain:ranks=2,bytes=2MiB,block=1MiB"
//   ranks 2
//   message 2MiB
//   buffer 0 rank 0 bytes 2MiB
//   buffer 1 rank 1 bytes 2MiB
//   channel 0 from 0 to 1 window 1 credit_on 1
//   channel 1 from 1 to 0
//   rank 0
//     0 recv on 1
//     1 send on 0 reads 0[0+1MiB] after done:0
//     …
//   rank 1
//     4 recv on 0 writes 1[0+1MiB]
//     …
//   region retry entry 2 count 1 attempts 5 p 250000 backoff 1us
//   pre 0[0+2MiB] value 0
//   post 1[0+2MiB] value 0
//
// Words are separated by blanks; `#` opens a comment. Buffers, channels and operations are numbered
// from 0 in the order in which they stand; operations are grouped by rank. A piece of memory is
// buffer[offset+bytes]. What is left out has the default of sched/op.h.
//
//   channel N from RANK to RANK [service rc|ud|eager] [window N] [credit_on CHANNEL]
//           [credit_batch N] [bundle none|trad|ovfl] [bundle_bytes SIZE]
//           [bundle_delay TIME|forever]
//   N KIND [lane N] [step N] [on CHANNEL] [imm|flag] [reads PIECE…] [writes PIECE…] [for TIME]
//          [operand VALUE] [compare VALUE] [mask N] [expect equal|unequal] [offset VALUE]
//          [sees PUT] [after done:OP|issued:OP …]
//   region retry|alt|repeat entry OP count N [attempts N] [p PPM] [outcome sampled|actual]
//          [backoff TIME]
//   pre PIECE value N [at OFFSET]
//   post PIECE value N [terms COUNT] [at OFFSET]
//
// VALUE is a number, or result:OP or attempt:OP for an operation's result or attempt; behind it *N
// for times N, +N for plus N and %N for modulo N.
// `offset` is added to the address of the remote piece; `sees` names the put whose flag a poll
// waits for; `terms` says that the values N … N + COUNT − 1 were summed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

/// The version in the first line.
inline constexpr std::uint32_t kTextVersion = 1;

/// The same schedule gives the same text.
std::string write_text(const Schedule& schedule);

/// The schedule that `text` describes: same digest as the one that was written. Time and memory are
/// linear in the text (and 8 bytes per rank). Throws InputError, "file:line: what; expected …", on
/// anything else, a newer version and a digest that does not fit the contents included.
Schedule read_text(std::string_view text, std::string_view file = "schedule");

/// Whether `text` begins as the text form does.
bool looks_like_text(std::string_view text);

}  // namespace slackline::sched
