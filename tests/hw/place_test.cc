// Which rank a process is, from the environments of launchers.
#include "hw/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::optional<LaunchPlace> place(const Variables& variables, pid_t parent = 100) {
  return place_from(
      [&variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      },
      parent);
}

Variables with(Variables variables, const Variables& others) {
  for (const auto& [name, value] : others) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

std::string refusal(const Variables& variables) {
  return testing::error_of([&] { place(variables); });
}

const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_NAMESPACE", "1346043905"}};
const Variables kSlurm = {{"SLURM_STEP_ID", "0"},       {"SLURM_PROCID", "5"},
                          {"SLURM_NTASKS", "8"},        {"SLURM_STEP_NUM_TASKS", "8"},
                          {"SLURM_JOB_ID", "123456"},   {"SLURM_STEP_NODELIST", "n[03-05,9],x"},
                          {"SLURM_STEP_NUM_NODES", "5"}};
const Variables kHydra = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};

int port_of(const LaunchPlace& place) {
  return std::stoi(place.root.substr(place.root.rfind(':') + 1));
}

TEST(LaunchPlace, AloneIsNoPlace) {
  EXPECT_FALSE(place({}));
  EXPECT_FALSE(place({{"PATH", "/bin"}, {"SLURM_JOB_ID", "7"}}));
}

TEST(LaunchPlace, OpenMpiOnOneHost) {
  const auto found = place(kOpenMpi);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->ranks, 4);
  EXPECT_TRUE(found->root.starts_with("127.0.0.1:")) << found->root;
  EXPECT_GE(port_of(*found), 20'000);
  EXPECT_LT(port_of(*found), 30'000);
  EXPECT_EQ(found->why_no_root, "");
  // All ranks of a job meet at one port, other jobs at others.
  EXPECT_EQ(place(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}}), 7)->root, found->root);
  EXPECT_NE(place(with(kOpenMpi, {{"PMIX_NAMESPACE", "1346043906"}}))->root, found->root);
  EXPECT_EQ(
      place(with(without(kOpenMpi, "PMIX_NAMESPACE"), {{"OMPI_MCA_ess_base_jobid", "1346043905"}}))
          ->root,
      found->root);
}

TEST(LaunchPlace, OpenMpiOnSeveralHostsNeedsARoot) {
  for (const Variables& variables :
       {with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
        without(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE"), without(kOpenMpi, "PMIX_NAMESPACE")}) {
    const auto found = place(variables);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rank, 2);
    EXPECT_EQ(found->root, "");
    EXPECT_THAT(found->why_no_root, HasSubstr("expected --root HOST:PORT"));
  }
}

TEST(LaunchPlace, Slurm) {
  const auto found = place(kSlurm);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->ranks, 8);
  EXPECT_TRUE(found->root.starts_with("n03:")) << found->root;
  EXPECT_EQ(place(with(kSlurm, {{"SLURM_PROCID", "0"}}))->root, found->root);
  EXPECT_NE(place(with(kSlurm, {{"SLURM_STEP_ID", "1"}}))->root, found->root);
  EXPECT_TRUE(place(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "1"}}))->root.starts_with("127.0.0.1:"));
  // The step may be smaller than the job.
  EXPECT_EQ(place(with(kSlurm, {{"SLURM_NTASKS", "16"}}))->ranks, 8);
  EXPECT_EQ(place(without(kSlurm, "SLURM_STEP_NUM_TASKS"))->ranks, 8);
  EXPECT_EQ(place(without(kSlurm, "SLURM_STEP_NODELIST"))->root, "");
}

TEST(LaunchPlace, SlurmJobsThatAreNoSteps) {
  EXPECT_FALSE(place(without(kSlurm, "SLURM_STEP_ID")));
  EXPECT_FALSE(place(
      with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}})));
}

TEST(LaunchPlace, Pmi) {
  const auto found = place(kHydra);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->ranks, 2);
  EXPECT_TRUE(found->root.starts_with("127.0.0.1:"));
  EXPECT_NE(place(kHydra, 101)->root, found->root);
  EXPECT_EQ(place(with(kHydra, {{"MPI_LOCALNRANKS", "1"}}))->root, "");
  // srun speaks it too.
  const auto slurm = place(with(kSlurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}));
  EXPECT_TRUE(slurm->root.starts_with("n03:"));
}

TEST(LaunchPlace, Flux) {
  const Variables flux = {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_ID", "f23"}};
  const auto found = place(flux);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->ranks, 4);
  EXPECT_EQ(found->launcher, Launcher::kFlux);
  EXPECT_FALSE(found->one_host);
  EXPECT_EQ(found->root, "");
  EXPECT_THAT(found->why_no_root, HasSubstr("flux does not say where rank 0 runs"));
  const auto one = place(with(flux, {{"FLUX_JOB_NNODES", "1"}}));
  EXPECT_TRUE(one->one_host);
  EXPECT_TRUE(one->root.starts_with("127.0.0.1:")) << one->root;
  EXPECT_NE(place(with(flux, {{"FLUX_JOB_NNODES", "1"}, {"FLUX_JOB_ID", "f24"}}))->root, one->root);
  // It sets PMI's variables, too.
  EXPECT_EQ(place(with(flux, {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}))->launcher, Launcher::kFlux);
  EXPECT_EQ(place(with(flux, kHydra))->launcher, Launcher::kPmi);
  EXPECT_FALSE(place({{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "1"}}));
  EXPECT_NE(refusal(with(flux, {{"FLUX_TASK_RANK", "4"}})), "");
  EXPECT_NE(refusal(without(flux, "FLUX_TASK_RANK")), "");
  EXPECT_NE(refusal(with(flux, {{"FLUX_JOB_SIZE", "x"}})), "");
}

TEST(LaunchPlace, WhoStartedIt) {
  EXPECT_EQ(place(kOpenMpi)->launcher, Launcher::kOpenMpi);
  EXPECT_TRUE(place(kOpenMpi)->one_host);
  EXPECT_EQ(place(kSlurm)->launcher, Launcher::kSlurm);
  EXPECT_FALSE(place(kSlurm)->one_host);
  EXPECT_TRUE(place(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "1"}}))->one_host);
  EXPECT_EQ(place(kHydra)->launcher, Launcher::kPmi);
  EXPECT_TRUE(place(kHydra)->one_host);
}

// Launchers start each other: the inner one knows.
TEST(LaunchPlace, TheInnermostLauncherCounts) {
  EXPECT_EQ(place(with(kSlurm, kOpenMpi))->rank, 2);
  EXPECT_EQ(place(with(kSlurm, kHydra))->rank, 1);
  EXPECT_EQ(place(with(kSlurm, kHydra))->ranks, 2);
}

TEST(LaunchPlace, ValuesThatMeanNothing) {
  for (const char* value : {"", "x", "-1", "1x", " 1", "99999999999", "0x1", "1.0"}) {
    EXPECT_EQ(refusal(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", value}})),
              std::string("the environment's OMPI_COMM_WORLD_RANK is \"") + value +
                  "\"; expected a whole number");
    EXPECT_NE(refusal(with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", value}})), "");
    EXPECT_NE(refusal(with(kHydra, {{"PMI_RANK", value}})), "");
    EXPECT_NE(refusal(with(kSlurm, {{"SLURM_PROCID", value}})), "");
    EXPECT_NE(refusal(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", value}})), "");
  }
}

TEST(LaunchPlace, ValuesThatDoNotFitTogether) {
  EXPECT_EQ(
      refusal(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "4"}})),
      "the environment has OMPI_COMM_WORLD_RANK=4 and OMPI_COMM_WORLD_SIZE=4; expected a rank "
      "below their number");
  EXPECT_EQ(refusal(without(kOpenMpi, "OMPI_COMM_WORLD_SIZE")),
            "the environment has OMPI_COMM_WORLD_RANK and not OMPI_COMM_WORLD_SIZE; expected both "
            "or neither");
  EXPECT_NE(refusal(without(kHydra, "PMI_RANK")), "");
  EXPECT_NE(refusal(without(kSlurm, "SLURM_PROCID")), "");
  EXPECT_NE(refusal(with(kSlurm, {{"SLURM_PROCID", "8"}})), "");
  EXPECT_NE(refusal(with(kSlurm, {{"SLURM_STEP_NODELIST", "n[03-05"}})), "");
}

TEST(LaunchPlace, FirstHost) {
  EXPECT_EQ(first_host("one"), "one");
  EXPECT_EQ(first_host("one,two"), "one");
  EXPECT_EQ(first_host("node[03-05,9]"), "node03");
  EXPECT_EQ(first_host("node[7,9-12],login1"), "node7");
  EXPECT_EQ(first_host("r[1-2]n[03-04]-ib"), "r1n03-ib");
  EXPECT_EQ(first_host("a-b.example.org,c"), "a-b.example.org");
  for (const char* hosts : {"", ",a", "n[1-2", "n[", "n[]", "n]", "n[-2]"}) {
    EXPECT_THROW(first_host(hosts), InputError) << hosts;
  }
}

TEST(LaunchPlace, OfThisProcess) {
  // Alone, or started by a test's launcher: no error either way.
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  EXPECT_EQ(place_from_environment()->rank, 1);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_THROW(place_from_environment(), InputError);
  unsetenv("OMPI_COMM_WORLD_RANK");
}

}  // namespace
}  // namespace slackline::hw
