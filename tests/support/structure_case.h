// A data structure's program from its spec.
#pragma once

#include <string>
#include <vector>

#include "sched/compile.h"
#include "sched/workloads/structures/queue.h"
#include "sched/workloads/structures/structure_check.h"

namespace slackline::testing {

inline sched::StructureProgram structure_of(const std::string& text) {
  const sched::Spec spec = sched::parse_spec(text);
  return sched::structure_program(spec);
}

inline sched::FinalMemory memory_in(const std::vector<std::vector<std::byte>>& memory) {
  return [&memory](sched::BufferId id) -> std::span<const std::byte> { return memory[id.value]; };
}

inline std::string first_of(const std::vector<sched::Finding>& found) {
  if (found.empty()) return "";
  return std::string(sched::name(found.front().breach)) + ": " + found.front().message;
}

/// Every operation, level and way, small.
inline const std::vector<std::string>& structure_specs() {
  static const std::vector<std::string> kSpecs = {
      "hash-table:ranks=4,operations=6,op=insert",
      "hash-table:ranks=4,operations=6,op=insert,level=cw,load=1",
      "hash-table:ranks=4,operations=6,op=find",
      "hash-table:ranks=4,operations=6,op=find,level=cr,load=1",
      "hash-table:ranks=3,operations=5,load=1",
      "hash-table:ranks=5,operations=5,level=cw,load=0.9",
      "hash-table:ranks=4,operations=8,phases=1,load=1",
      "hash-table:ranks=2,operations=20,phases=1,slots=20",
      "hash-table:ranks=4,operations=9,load=1,in-flight=3,seed=5",
      "hash-table:ranks=4,operations=3,clients=1,compute=2us",
      "hash-table:ranks=4,operations=6,via=am",
      "hash-table:ranks=4,operations=6,via=am,phases=1,load=1",
      "hash-table:ranks=3,operations=6,via=am,op=find,progress=thread,contention=1us",
      "hash-table:ranks=3,operations=9,via=am,op=insert,in-flight=4,handler=1us",
      "queue:ranks=4,operations=6,op=push",
      "queue:ranks=4,operations=6,op=push,level=cw",
      "queue:ranks=4,operations=6,op=push,level=checksum",
      "queue:ranks=4,operations=6,op=push,level=cl",
      "queue:ranks=4,operations=6,op=pop",
      "queue:ranks=4,operations=6,op=pop,level=cr",
      "queue:ranks=4,operations=6,op=pop,level=cl",
      "queue:ranks=4,operations=6,op=pop,level=checksum",
      "queue:ranks=4,operations=6",
      "queue:ranks=4,operations=6,level=cw,queues=one",
      "queue:ranks=4,operations=6,level=cl",
      "queue:ranks=4,operations=6,level=cl,phases=1,slots=2",
      "queue:ranks=4,operations=6,level=checksum",
      "queue:ranks=4,operations=12,level=checksum,phases=1",
      "queue:ranks=4,operations=16,phases=1,slots=4,queues=one",
      "queue:ranks=4,operations=8,in-flight=2,seed=3",
      "queue:ranks=4,operations=6,via=am,op=push",
      "queue:ranks=4,operations=6,via=am,phases=1,queues=one",
      "queue:ranks=3,operations=6,via=am,op=pop,progress=thread,compute=1us",
      // Entries of several words, own ranks, and places claimed by compare_swaps.
      "hash-table:ranks=4,operations=6,op=insert,entry=24,load=1",
      "hash-table:ranks=4,operations=6,entry=64,targets=any,load=0.9",
      "hash-table:ranks=3,operations=6,level=cw,entry=40,sizes=drawn,load=1",
      "hash-table:ranks=4,operations=8,phases=1,load=1,entry=32,sizes=drawn,targets=any",
      "hash-table:ranks=4,operations=6,via=am,entry=48,sizes=drawn",
      "hash-table:ranks=3,operations=6,via=am,phases=1,entry=16,targets=any,progress=thread",
      "hash-table:ranks=2,operations=9,targets=any,in-flight=3",
      "queue:ranks=4,operations=6,entry=128",
      "queue:ranks=4,operations=6,level=cw,entry=24,sizes=drawn,targets=any",
      "queue:ranks=4,operations=6,level=checksum,entry=40,targets=any",
      "queue:ranks=4,operations=12,level=checksum,phases=1,entry=16",
      "queue:ranks=4,operations=6,level=cl,entry=56,sizes=drawn",
      "queue:ranks=4,operations=16,phases=1,slots=4,queues=one,entry=32,sizes=drawn",
      "queue:ranks=4,operations=6,via=am,entry=4096,sizes=drawn,targets=any",
      "queue:ranks=3,operations=6,via=am,op=pop,entry=24",
      "queue:ranks=4,operations=8,claim=swap",
      "queue:ranks=4,operations=8,claim=read-swap,queues=one",
      "queue:ranks=4,operations=8,claim=swap,level=checksum,entry=24,phases=1",
      "queue:ranks=3,operations=8,claim=read-swap,level=cw,in-flight=2,targets=any",
      "queue:ranks=3,operations=8,claim=swap,phases=1,slots=3,queues=one,entry=16",
  };
  return kSpecs;
}

}  // namespace slackline::testing
