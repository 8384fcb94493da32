"""A pattern of one's own: a tree of three children each, proved, simulated, run and drawn."""

import slackline

RANKS, BLOCKS = 10, 4

# (step, source, destination, block). A child's steps come after those of its parent.
transfers = [(3 * block + i + (3 * BLOCKS if rank else 0), rank, 3 * rank + i + 1, block)
             for rank in range(RANKS) for i in range(3) for block in range(BLOCKS)
             if 3 * rank + i + 1 < RANKS]
tree = slackline.Schedule.from_transfers(RANKS, transfers, bytes="4MiB", title="a tree").prove()
simulated = tree.simulate("fat-tree:arity=4", delays=[slackline.Delay(op=40, by="10us")])
real = tree.run("shm")
simulated.report("tree.html", beside=real)  # both runs on one page for a browser
print(f"{tree.title}: proved; {simulated.makespan_s:.3e} s simulated, {real.makespan_s:.3e} s here")
