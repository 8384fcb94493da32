// Each collective, by each algorithm and by trees, of sizes that ranks do not divide: for tests
// that carry schedules out. The property tests hold the list to what there is.
#pragma once

namespace slackline::testing {

inline constexpr const char* kCollectiveSpecs[] = {
    "reduce:ranks=7,bytes=20000,block=3000",
    "reduce:ranks=4,bytes=999,block=100,by=binary-tree",
    "allreduce:ranks=5,bytes=3000,block=1000",
    "allreduce:ranks=7,bytes=3001,block=500,by=binary-tree",
    "allreduce:ranks=6,bytes=3001,block=500,by=double-tree,adders=2",
    "allreduce:ranks=5,bytes=3001,block=500,by=ring,in-flight=2",
    "allreduce:ranks=6,bytes=3001,block=500,by=recursive-doubling",
    "allreduce:ranks=7,bytes=3001,block=500,by=rabenseifner,adders=2",
    "allreduce:ranks=7,bytes=3001,block=500,by=bruck",
    "allreduce:ranks=6,bytes=3001,block=500,by=hierarchical,per-node=3",
    "reduce-scatter:ranks=5,bytes=3001,block=500,by=ring",
    "reduce-scatter:ranks=6,bytes=3001,by=recursive-halving",
    "reduce-scatter:ranks=6,bytes=3001,by=hierarchical,per-node=2",
    "allgather:ranks=6,bytes=5000,block=1000",
    "allgather:ranks=5,bytes=500,by=ring",
    "allgather:ranks=6,bytes=501,by=recursive-doubling",
    "allgather:ranks=7,bytes=501,by=bruck",
    "allgather:ranks=6,bytes=501,by=hierarchical,per-node=2",
    "scatter:ranks=6,bytes=501,root=2",
    "gather:ranks=7,bytes=501,root=3",
    "alltoall:ranks=6,bytes=501,by=pairwise",
    "alltoall:ranks=7,bytes=501,block=300,by=bruck",
    "alltoall:ranks=6,bytes=501,by=hierarchical,per-node=3",
    "alltoallv:ranks=5,sizes=501,block=300",
    "scatterv:ranks=6,sizes=501,root=2",
    "gatherv:ranks=7,sizes=501,root=3",
    "barrier:ranks=6",
    "barrier:ranks=7,by=binomial-tree,messages=2",
    "barrier:ranks=8,by=recursive-doubling",
    "switch-allreduce:ranks=5,bytes=3001,block=1000",
    "switch-reduce:ranks=7,bytes=3001,block=1000,fan-out=2x2",
};

}  // namespace slackline::testing
