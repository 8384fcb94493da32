// The text form of a queue program, which people can read and read_queues() reads back.
//
//   slackline queues 1
//   digest 7b8a…                                   optional; checked when it is there
//   schedule 0a4a…
//   title "chain:ranks=2,bytes=2MiB,block=1MiB"    optional: what made the schedule
//   mode sq-wait
//   ready handshake
//   ranks 2
//   buffer 0 rank 0 bytes 2MiB
//   buffer 1 rank 1 bytes 2MiB
//   cq 0 rank 0
//   …
//   queue 0 rank 0 send data pair 0 cq 0 peer 2
//     wait 1 count 1
//     send 0[0+1MiB] op 1
//     send 0[1MiB+1MiB] op 3 step 1 latest 1 signaled
//   …
//
// Words are separated by blanks; `#` opens a comment. Buffers, completion queues and queues are
// numbered from 0 in the order in which they stand; a queue's entries follow it. A piece of memory
// is buffer[offset+bytes]. What is left out has the default of offload/queue_program.h.
//
//   ready none|handshake|window [N]
//   cq N rank RANK [start COUNT]
//   queue N rank RANK send|receive|management data|ready|credit|order|collect pair N cq CQ
//         [peer QUEUE] [serves QUEUE] [managed] [start COUNT]
//   ENTRY [op N] [step N] [latest N] [signaled], where ENTRY is one of
//     nop
//     wait CQ count N
//     send_enable QUEUE count N
//     recv_enable QUEUE count N
//     send [PIECE …]
//     recv [PIECE …]
//     write [PIECE …] [to PIECE]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "offload/queue_program.h"

namespace slackline::offload {

/// The version in the first line.
inline constexpr std::uint32_t kQueueTextVersion = 1;

/// The same program gives the same text.
std::string write_queues(const QueueProgram& program);

/// The program that `text` describes: same digest as the one that was written. Time and memory are
/// linear in the text. Throws InputError, "file:line: what; expected …", on anything else, a newer
/// version and a digest that does not fit the contents included; what QueueProgramBuilder::build()
/// finds is said without a line.
QueueProgram read_queues(std::string_view text, std::string_view file = "queues");

}  // namespace slackline::offload
