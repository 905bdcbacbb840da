/** Measures the cost of one transition: the collateral machine as the engine steps it, and as XState documents it. */
import { collateralMachine } from "../src/machines/collateral/collateralMachine.ts"
import { collateralInputs, collateralSamples } from "../src/machines/collateral/collateralSamples.ts"
import type { CollateralEvent, CollateralInput } from "../src/machines/collateral/CollateralReport.ts"
import { begin, beginSlow, step, stepSlow } from "../src/runtime/engine/machine/step.ts"

export interface TransitionCost {
  /** Microseconds of `begin` and `step` of one report: entry, guards, assigns, ledger effect, event, audit. */
  readonly engineMicros: number
  /** The same by `initialTransition` and `transition`. */
  readonly documentedMicros: number
}

const input = collateralInputs[0] as CollateralInput
const event = collateralSamples[0] as CollateralEvent

const timeEach = (rounds: number, run: () => unknown): number => {
  for (let n = 0; n < rounds / 10; n++) run()
  const startedAt = performance.now()
  for (let n = 0; n < rounds; n++) run()
  return ((performance.now() - startedAt) / rounds) * 1_000
}

export const measureTransitionCost = (rounds: number): TransitionCost => ({
  engineMicros: timeEach(rounds, () => step(collateralMachine, begin(collateralMachine, input), event)),
  documentedMicros: timeEach(rounds / 10, () => stepSlow(collateralMachine, beginSlow(collateralMachine, input), event))
})
