#include "experiments/registry.h"

#include <array>
#include <vector>

#include "experiments/grappa-aggregation/aggregation.h"
#include "experiments/grappa-bfs/bfs.h"
#include "experiments/grappa-hierarchy/hierarchy.h"
#include "experiments/grappa-uts/uts.h"
#include "experiments/offload-preemption/preemption.h"
#include "experiments/priority-inversion-offload/egress.h"
#include "experiments/rdma-vs-rpc-fig3/fig3.h"
#include "experiments/rdma-vs-rpc-fig4/fig4.h"
#include "experiments/rdma-vs-rpc-fig5/fig5.h"
#include "experiments/rdma-vs-rpc-fig6/fig6.h"
#include "experiments/rdma-vs-rpc-table1/table1.h"
#include "experiments/rdma-vs-rpc-tables2-3/tables2_3.h"
#include "experiments/rdmc-delays/delays.h"
#include "experiments/rdmc-fig10/fig10.h"
#include "experiments/rdmc-fig11/fig11.h"
#include "experiments/rdmc-fig12/fig12.h"
#include "experiments/rdmc-fig3/fig3.h"
#include "experiments/rdmc-fig4/fig4.h"
#include "experiments/rdmc-fig5/fig5.h"
#include "experiments/rdmc-fig6/fig6.h"
#include "experiments/rdmc-fig7/fig7.h"
#include "experiments/rdmc-fig8/fig8.h"
#include "experiments/rdmc-fig9/fig9.h"
#include "experiments/rdmc-hybrid/hybrid.h"
#include "experiments/rdmc-inversion/inversion.h"
#include "experiments/rdmc-lockstep/lockstep.h"
#include "experiments/rdmc-robustness/robustness.h"
#include "experiments/rdmc-small/small.h"
#include "experiments/rdmc-steps/steps.h"
#include "experiments/rdmc-table1/table1.h"
#include "experiments/seriema-fig2/fig2.h"
#include "experiments/seriema-fig3/fig3.h"
#include "experiments/seriema-table2/table2.h"
#include "sched/error.h"
#include "sched/suggest.h"

namespace slackline::experiments {
namespace {

// A new experiment is one line here.
constexpr std::array kExperiments = {
    Experiment{"rdmc-fig3", "the binomial tree and pipeline, step by step", rdmc_fig3},
    Experiment{"rdmc-steps", "steps, block times and skew of every algorithm", rdmc_steps},
    Experiment{"rdmc-robustness", "one delay, one slow link, and slack", rdmc_robustness},
    Experiment{"rdmc-fig4", "latency of each algorithm against group size", rdmc_fig4},
    Experiment{"rdmc-table1", "where the time of one transfer goes", rdmc_table1},
    Experiment{"rdmc-fig5", "a preemption of the relayer, step by step", rdmc_fig5},
    Experiment{"rdmc-fig6", "bandwidth against block size", rdmc_fig6},
    Experiment{"rdmc-fig7", "messages of one byte per second", rdmc_fig7},
    Experiment{"rdmc-fig8", "256 MB to up to 512 nodes", rdmc_fig8},
    Experiment{"rdmc-fig9", "the replication layer of a storage system", rdmc_fig9},
    Experiment{"rdmc-fig10", "bandwidth of overlapping groups, on Fractus and Apt", rdmc_fig10},
    Experiment{"rdmc-fig11", "polling against interrupts: bandwidth and CPU load", rdmc_fig11},
    Experiment{"rdmc-fig12", "a chain relayed by the NICs or in software", rdmc_fig12},
    Experiment{"rdmc-hybrid", "a pipeline among racks and within, or one over all nodes",
               rdmc_hybrid},
    Experiment{"rdmc-small", "small messages into ring buffers, or by RDMC", rdmc_small},
    Experiment{"rdmc-lockstep", "asynchronous steps against lockstep, under noise", rdmc_lockstep},
    Experiment{"rdmc-inversion", "posting as soon as possible, or by slack", rdmc_inversion},
    Experiment{"rdmc-delays", "delays that make a multicast faster on shared links", rdmc_delays},
    Experiment{"rdma-vs-rpc-table1", "what one-sided operations cost on 64 nodes",
               rdma_vs_rpc_table1},
    Experiment{"rdma-vs-rpc-fig3", "component latencies against nodes, Aries and InfiniBand",
               rdma_vs_rpc_fig3},
    Experiment{"rdma-vs-rpc-tables2-3", "operations of hash tables and queues as sums of messages",
               rdma_vs_rpc_tables2_3},
    Experiment{"rdma-vs-rpc-fig4", "pushing to queues, by RDMA or by active messages",
               rdma_vs_rpc_fig4},
    Experiment{"rdma-vs-rpc-fig5", "hash tables, by RDMA or by active messages", rdma_vs_rpc_fig5},
    Experiment{"rdma-vs-rpc-fig6", "attentiveness: calls between computations", rdma_vs_rpc_fig6},
    Experiment{"offload-preemption", "relaying in the NIC, as software grows slower",
               offload_preemption},
    Experiment{"priority-inversion-offload", "the order in which a NIC serves its queues",
               priority_inversion_offload},
    Experiment{"seriema-fig2", "writes a second, and selective signalling", seriema_fig2},
    Experiment{"seriema-fig3", "tree search over Hex on four machines", seriema_fig3},
    Experiment{"seriema-table2", "calls by send, by write, and aggregated", seriema_table2},
    Experiment{"grappa-aggregation", "small messages, alone or gathered, by many tasks a core",
               grappa_aggregation},
    Experiment{"grappa-hierarchy", "queues for every end point, or by nodes and groups",
               grappa_hierarchy},
    Experiment{"grappa-uts", "unbalanced tree search by tasks that steal work", grappa_uts},
    Experiment{"grappa-bfs", "breadth-first search over a Kronecker graph", grappa_bfs},
};

}  // namespace

std::span<const Experiment> experiments() { return kExperiments; }

const Experiment& find_experiment(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Experiment& experiment : kExperiments) {
    if (experiment.name == name) return experiment;
    names.push_back(experiment.name);
  }
  throw InputError("reproduce: " + sched::unknown_name("figure", name, names));
}

}  // namespace slackline::experiments
