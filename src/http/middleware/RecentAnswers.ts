// The answers of recent keyed requests in memory, so that a retry shortly after costs no database read (A1-51). Bounded
// by count and by bytes; the longest unused goes first. Losing one is harmless: the database has it.
import type { AnswerRow } from "../../runtime/store/Rows.ts"

export type RecentAnswer = Pick<AnswerRow, "fingerprint" | "status" | "body" | "answeredAt">

export interface RecentAnswersLimits {
  readonly count: number
  readonly bytes: number
}

const usual: RecentAnswersLimits = { count: 20_000, bytes: 64 * 1024 * 1024 }
/** What an entry costs besides its body: key, fingerprint, objects. */
const overhead = 512

export class RecentAnswers {
  private readonly entries = new Map<string, RecentAnswer>()
  private readonly limits: RecentAnswersLimits
  private bytes = 0

  constructor(limits: RecentAnswersLimits = usual) {
    this.limits = limits
  }

  /** The answer of a key, which becomes the most recently used. */
  get(name: string): RecentAnswer | undefined {
    const found = this.entries.get(name)
    if (found !== undefined) {
      this.entries.delete(name)
      this.entries.set(name, found)
    }
    return found
  }

  set(name: string, answer: RecentAnswer): void {
    this.delete(name)
    const { fingerprint, status, body, answeredAt } = answer
    this.entries.set(name, { fingerprint, status, body, answeredAt })
    this.bytes += sizeOf(answer)
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.count && this.bytes <= this.limits.bytes) return
      this.delete(oldest)
    }
  }

  delete(name: string): void {
    const found = this.entries.get(name)
    if (found === undefined) return
    this.entries.delete(name)
    this.bytes -= sizeOf(found)
  }
}

const sizeOf = (answer: RecentAnswer): number => answer.body.length * 2 + overhead
