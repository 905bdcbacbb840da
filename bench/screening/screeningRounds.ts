/**
 * Screening beside a plain scan with the same scoring, on a list and on a list ten times as long: time per client,
 * growth, build time and memory of the index (F26).
 */
import { Child } from "../child.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import type { ScreeningAnswer, ScreeningQuestion } from "./protocol.ts"

export interface ListFindings {
  readonly entries: number
  readonly p50: Spread
  readonly p99: Spread
  /** Median time of one client by the plain scan. */
  readonly scan: Spread
  /** Processor time of one client on average. */
  readonly cpu: Spread
  readonly buildMillis: number
  /** The longest of the pieces in which the index was built. */
  readonly pieceMillis: number
  readonly indexMegabytes: number
  readonly entriesMegabytes: number
  /**
   * For one client on average: names compared by their patterns, names compared letter by letter, and entries at a
   * threshold.
   */
  readonly seen: number
  readonly comparedNames: number
  readonly matched: number
  readonly screened: number
  readonly found: number
  readonly compared: number
}

/** The findings of the shorter list first. */
export type ScreeningFindings = ReadonlyArray<ListFindings>

export interface ScreeningPlan {
  readonly lists: ReadonlyArray<number>
  readonly clients: number
  readonly scanned: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

const seed = 20_260_101

export const measureScreening = async (plan: ScreeningPlan): Promise<ScreeningFindings> => {
  const findings: Array<ListFindings> = []
  for (const entries of plan.lists) {
    const child = new Child<ScreeningQuestion, ScreeningAnswer>("screening/main.ts")
    try {
      const { clients, scanned, rounds } = plan
      const answer = await child.ask({ entries, clients, scanned, rounds, seed })
      const found = {
        ...answer,
        entries,
        p50: spreadOf(answer.p50Micros),
        p99: spreadOf(answer.p99Micros),
        scan: spreadOf(answer.scanMicros),
        cpu: spreadOf(answer.cpuMicros)
      }
      findings.push(found)
      plan.progress(
        `screening, ${entries} entries: p50 ${found.p50.median.toFixed(0)} us, p99 ${found.p99.median.toFixed(0)} us | plain scan ${found.scan.median.toFixed(0)} us | ${found.matched.toFixed(1)} of ${found.comparedNames.toFixed(0)} compared names are candidates | built in ${found.buildMillis.toFixed(0)} ms, at most ${found.pieceMillis.toFixed(0)} at a stretch, ${found.indexMegabytes.toFixed(0)} MB`
      )
    } finally {
      await child.stop()
    }
  }
  return findings
}
