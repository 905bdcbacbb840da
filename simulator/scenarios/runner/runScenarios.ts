/** Runs many scenarios on one service: several at once, and those that move what all share one after the other at the end. */
import { Effect } from "effect"
import { runScenario, type ScenarioResult, type Watcher } from "./runScenario.ts"
import type { Scenario } from "./Scenario.ts"
import type { World } from "./World.ts"

/** Beside one another; the service has work for more, a terminal no room. */
const atOnce = 4

/** Results in the order of the scenarios. */
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

/** Those that kill or change the service come late, those that end a market for good last of all. */
const placeOf = ({ own, steps }: Scenario): number =>
  steps.some((step) => step.kind === "venue" && step.venue.startsWith("delist ")) ? 2 : Number(own)
