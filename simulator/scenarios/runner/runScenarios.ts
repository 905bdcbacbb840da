/** Runs many scenarios on one service: several at once, then those that change shared state one after the other. */
import { Effect } from "effect"
import { runScenario, type ScenarioResult, type Watcher } from "./runScenario.ts"
import type { Scenario } from "./Scenario.ts"
import type { World } from "./World.ts"

/** Limit on parallel scenarios: the service could run more, but a terminal has no room. */
const atOnce = 4

/** Runs the scenarios and returns the results in the order of the scenarios. */
export const runScenarios = (
  world: World,
  scenarios: ReadonlyArray<Scenario>,
  seed: number,
  watcher: Watcher
): Effect.Effect<ReadonlyArray<ScenarioResult>> =>
  Effect.gen(function* () {
    const results = new Map<Scenario, ScenarioResult>()
    const run = (scenario: Scenario) =>
      Effect.map(runScenario(world, scenario, seed, watcher), (result) => void results.set(scenario, result))
    const alone = scenarios.filter(({ alone }) => alone).toSorted((a, b) => placeOf(a) - placeOf(b))
    const beside = scenarios.filter((scenario) => !scenario.alone)
    yield* Effect.forEach(beside, run, { concurrency: atOnce, discard: true })
    yield* Effect.forEach(alone, run, { discard: true })
    return scenarios.flatMap((scenario) => results.get(scenario) ?? [])
  })

/**
 * The group of a scenario in the order of a run: scenarios that kill or change the service come late, and those that end a
 * market for good come last.
 */
const placeOf = ({ own, steps }: Scenario): number =>
  steps.some((step) => step.kind === "venue" && step.venue.startsWith("delist ")) ? 2 : Number(own)
