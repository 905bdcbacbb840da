/** The report of a failed run: the breach, its place in the run, and the command that repeats the run. */
import { invariants } from "./Findings.ts"
import type { Run } from "./simulate.ts"

/** The finding of a run as text; the last steps with ms since the start. */
export const report = ({ seed, finding, steps, digest }: Run, shown = 40): string =>
  finding === null
    ? `seed ${seed}: every invariant holds (${digest})`
    : [
        `seed ${seed} breaks "${finding.invariant}": ${invariants[finding.invariant]}`,
        finding.detail,
        `The last steps (digest ${digest}):`,
        ...steps.slice(-shown),
        `The same run again: npm run simulate -- --seed ${seed} --seeds 1`
      ].join("\n")
