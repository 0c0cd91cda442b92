// How simulated providers answer: by their mood, and by what is wrong with the texts.
#pragma once

#include "unit/fakes/fake_transport.hpp"
#include "unit/simulation/worker_state.hpp"

namespace ai::simulation {

test::Scene Answer(World& world, const WorkerState& worker, const http::Request& request);

/// The vector of a text that TextOf and a number of a chunk have made.
std::array<float, kDimensions> VectorFor(std::string_view text);

}  // namespace ai::simulation
