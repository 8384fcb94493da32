// A distributed hash table, by RDMA or by active messages ("RDMA vs. RPC for Implementing
// Distributed Data Structures", section III-B 1).
#pragma once

#include "sched/pattern/pattern.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::sched {

/// Every rank has a part of `slots` buckets: a flag, and an entry of one word. A key's hash says
/// which part and which bucket of it is its home; probing is linear within the part. Clients draw
/// keys whose home is another rank's.
///
///   insert crw  compare_swap of the flag from free until it succeeds; put; fetch_and marks ready
///   insert cw   compare_swap; put
///   find crw    fetch_or sets a read bit, get, fetch_and takes it away; until the key is there
///   find cr     get, until the key is there
///
/// A find looks for a key that is certain to be there: with phases=2 any, with phases=1 one of its
/// own. op=find finds the table filled. By active messages (via=am, one level) a request carries
/// entry and ticket, the handler is a calc of Spec::handler and what it does to memory, and
/// the reply a mark or the entry. A client begins an operation when the one `in-flight` before it
/// is done. A step is an operation. Throw InputError for options out of their range, for
/// operations that would overlap against their level, and where a part gets more keys than it has
/// slots.
Schedule hash_table(const Spec& spec);
StructureProgram hash_table_program(const Spec& spec);
extern const PatternEntry kHashTablePattern;

}  // namespace slackline::sched
