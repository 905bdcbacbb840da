/** The section of the report on the cost of commands, with its goals. */
import type { Goal } from "../goals.ts"
import { spread, table } from "../markdown.ts"
import type { CommandFindings } from "./commandRounds.ts"

const mostSeconds = { command: 0.3, launcher: 0.1 } as const

const seconds = (value: number): string => value.toFixed(2)

const rowsOf = ({ commands, launcher }: CommandFindings) => [
  ...commands.map((row) => ({ name: `\`${row.command}\``, figures: row.seconds, most: mostSeconds.command })),
  { name: "the launcher `bin/brokerage.mjs` alone", figures: launcher, most: mostSeconds.launcher }
]

/** The goal of each command and of the launcher, on the median of the run. */
export const commandGoals = (findings: CommandFindings): ReadonlyArray<Goal> =>
  rowsOf(findings).map(({ name, figures, most }) => ({
    sentence: `${name}: at most ${most} s of processor time`,
    figure: `${seconds(figures.median)} s`,
    reached: figures.median <= most
  }))

export const commandsSection = (findings: CommandFindings): string => {
  const goals = commandGoals(findings)
  return `${table(
    ["command", "processor s", "goal", ""],
    rowsOf(findings).map(({ name, figures, most }, index) => [
      name,
      spread(figures, seconds),
      `at most ${most}`,
      goals[index]?.reached === true ? "reached" : "MISSED"
    ])
  )}\n\nUser and system seconds of the whole process, with a filled compile cache. A busy machine adds to them, because processes then share caches and cores.`
}
