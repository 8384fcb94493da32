#pragma once

#include <memory>

#include "sched/pattern/pattern.h"
#include "sched/pattern/step_source.h"

namespace slackline::sched {

/// RDMC's binomial pipeline (sections 4.3 and 4.4). k − 1 + ⌈log2 n⌉ steps for every n.
///
/// n = 2^l: the ranks are the vertices of a hypercube; at step j they exchange blocks along
/// dimension j mod l. The root sends block min(j, k − 1). Rank i sends block min(j − l + r, k − 1),
/// where r counts the trailing zeros of i rotated right by j mod l in l bits; nothing if that is
/// negative, or to the root.
///
/// Other n: l = ⌊log2 n⌋, and rank 2^l − 1 + v is the twin of rank v ≥ 1 at the same vertex. At
/// every step one twin is the receiver: it takes the block that comes in along the dimension and
/// passes to its twin the earlier block that the twin lacks; the twin does the vertex's send. The
/// lower rank starts as receiver; the roles swap after each step j in which bit j mod l of v is 1.
/// One last step settles the last block inside each vertex. With k = 1 nothing is passed between
/// twins before, and in that step, as in RDMC's generator, the twin that still lacks the block
/// gets it from the vertex's neighbour along dimension 0, from the member there that has it.
///
/// With k ≥ 2 the ranks receive their last blocks in the same step, or in two, as the paper says.
/// With k = 1 they cannot: the only block reaches one rank in the first step and doubles the number
/// of holders in each, so these receipts spread over all ⌈log2 n⌉ steps, in RDMC's generator too.
Plan binomial_pipeline(const MulticastOptions& options);

/// The same step by step, in memory for the ranks alone.
std::unique_ptr<StepSource> binomial_pipeline_steps(const MulticastOptions& options);
extern const PatternEntry kBinomialPipelinePattern;

}  // namespace slackline::sched
