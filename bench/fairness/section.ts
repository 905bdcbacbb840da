/** The fairness section of the report, with its goals. */
import type { Goal } from "../goals.ts"
import { millis, spread, table, whole } from "../markdown.ts"
import type { FairnessFindings } from "./fairnessRounds.ts"

const atMost = { p50: 3, p99: 5 } as const

/** Compares orders beside neighbours with orders alone in the same run. */
export const fairnessGoals = ([alone, ...beside]: FairnessFindings): ReadonlyArray<Goal> =>
  alone === undefined
    ? []
    : beside.flatMap((row) =>
        (["p50", "p99"] as const).map((name) => ({
          sentence: `an order beside ${row.neighbours} neighbours that read lists, ${name}: at most ${atMost[name]} times`,
          figure: `${(row[name].median / alone[name].median).toFixed(2)} times`,
          reached: row[name].median <= atMost[name] * alone[name].median
        }))
      )

export const fairnessSection = (findings: FairnessFindings): string =>
  [
    table(
      ["goal", "found", ""],
      fairnessGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
    ),
    table(
      ["neighbours", "orders a second, one connection", "p50 ms", "p99 ms", "pages of 500 orders a second"],
      findings.map(({ neighbours, rate, p50, p99, pages }) => [
        String(neighbours),
        spread(rate, whole),
        spread(p50, millis),
        spread(p99, millis),
        spread(pages, whole)
      ])
    )
  ].join("\n\n")
