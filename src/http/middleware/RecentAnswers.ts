/**
 * The answers of recent keyed requests in memory, so that a retry shortly after costs no database read (A1-51). Bounded
 * by count and by bytes. Two generations instead of a strict order of use: when the young one is half the bound it
 * becomes the old one, and what nobody asked for again goes with the generation, without per-entry work. Losing an
 * entry is harmless: the database has it.
 */
import type { AnswerRow } from "../../runtime/tables/engine.ts"

export type RecentAnswer = Pick<AnswerRow, "fingerprint" | "status" | "body" | "answeredAt">

export interface RecentAnswersLimits {
  readonly count: number
  readonly bytes: number
}

const usual: RecentAnswersLimits = { count: 20_000, bytes: 64 * 1024 * 1024 }
/** What an entry costs besides its body: key, fingerprint, objects. */
const overhead = 512

export class RecentAnswers {
  private young = new Map<string, RecentAnswer>()
  private old = new Map<string, RecentAnswer>()
  private readonly limits: RecentAnswersLimits
  private youngBytes = 0

  constructor(limits: RecentAnswersLimits = usual) {
    this.limits = limits
  }

  /** The answer of a key; asking keeps it for another generation. */
  get(name: string): RecentAnswer | undefined {
    const young = this.young.get(name)
    if (young !== undefined) return young
    const old = this.old.get(name)
    if (old !== undefined) this.set(name, old)
    return old
  }

  set(name: string, answer: RecentAnswer): void {
    this.young.set(name, answer)
    this.youngBytes += answer.body.length * 2 + overhead
    if (this.young.size * 2 < this.limits.count && this.youngBytes * 2 < this.limits.bytes) return
    this.old = this.young
    this.young = new Map()
    this.youngBytes = 0
  }

  delete(name: string): void {
    this.young.delete(name)
    this.old.delete(name)
  }
}
