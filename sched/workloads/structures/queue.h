// Hosted queues in ring buffers, by RDMA or by active messages ("RDMA vs. RPC for Implementing
// Distributed Data Structures", section III-B 2).
#pragma once

#include "sched/pattern/pattern.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::sched {

/// A host has `slots` places and four words: tail, tail-ready, head, head-ready. Clients choose
/// another rank's queue at random each time.
///
///   push crw       fetch_add of the tail, put, compare_swap of the ready tail until it succeeds
///   push cw        fetch_add, put
///   push checksum  the same with a second word that tells whether the entry has arrived
///   push cl        a calc of Spec::handler and a copy, into the rank's own queue
///   pop crw, cr, cl  the same with the head, and a get
///   pop checksum   fetch_add of the head, gets of the second word until it is not 0, get
///
/// Pops take from the queue that the same client pushed to, so that there is always an element.
/// With phases=1 a client pushes and pops in turns and places are used again. op=pop finds the
/// queues filled. By active messages as hash_table(); which pop gets which element is then fixed
/// beforehand. Throw InputError as hash_table() does.
Schedule queue(const Spec& spec);
StructureProgram queue_program(const Spec& spec);

/// Whether structure_program() takes it.
bool is_structure_pattern(std::string_view pattern);
/// The program of either pattern, as spec.pattern says. Throws InputError for another pattern.
StructureProgram structure_program(const Spec& spec);

/// About how many operations either makes; never less. Throws InputError at 2^31 or more.
std::uint64_t structure_ops(const Spec& spec);
extern const PatternEntry kQueuePattern;

}  // namespace slackline::sched
