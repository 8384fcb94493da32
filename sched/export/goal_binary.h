// GOAL as bytes: what LogGOPSim's and ATLAHS's txt2bin make of a program, and their simulators run.
//
//   head    u64 4223, u32 ranks, u8 highest cpu, u8 highest nic
//   table   for each rank: u64 begin, u64 end of its block, counted from behind the 4223
//   block   u32 nodes, u32 roots, the roots' indices (u32), the nodes, the arcs (u32)
//   node    u32 arcs into it, u8 kind (1 send, 2 recv, 3 calc), u32 peer, u64 bytes or nanoseconds,
//           u32 tag, u8 cpu, u8 nic, u32 number and u32 place of what requires it, u32 number and
//           u32 place of what irequires it; places count the block's arcs
//
// All little endian, without gaps. A root is a node without arcs into it.
#pragma once

#include <cstdint>
#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

inline constexpr std::uint64_t kGoalMagic = 4223;
/// What LogGOPSim puts there before it runs with --save-mem, which spoils the file.
inline constexpr std::uint64_t kGoalSpentMagic = 2342;
inline constexpr std::uint64_t kGoalTable = 14;  // where it begins
inline constexpr std::uint64_t kGoalRankBytes = 16;
inline constexpr std::uint64_t kGoalNodeBytes = 39;

/// The program that write_goal() writes, byte for byte as txt2bin would make it. Throws as that
/// does.
std::string write_goal_binary(const Schedule& schedule);
/// The same with times in another unit, of which so many (1 to 10^6) are a nanosecond: for whoever
/// gives a simulator its figures in that unit, too.
std::string write_goal_binary(const Schedule& schedule, std::uint32_t ticks_per_ns);
/// As write_goal_on_nics().
std::string write_goal_binary_on_nics(const Schedule& schedule, std::uint32_t nics);

}  // namespace slackline::sched
