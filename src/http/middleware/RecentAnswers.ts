/**
 * Caches the answers of recent keyed requests, so that an early retry costs no database read. Count and bytes are
 * limited. Two generations replace an exact order of use: when the young generation reaches half the limit, it
 * becomes the old generation, and the entries of the previous old generation that were not used since are dropped. A
 * dropped entry does no harm, because the database has it (A1-51).
 */
import type { AnswerRow } from "../../runtime/tables/engine.ts"

export type RecentAnswer = Pick<AnswerRow, "fingerprint" | "status" | "body" | "answeredAt">

export interface RecentAnswersLimits {
  readonly count: number
  readonly bytes: number
}

const usual: RecentAnswersLimits = { count: 20_000, bytes: 64 * 1024 * 1024 }
/** The bytes that an entry counts besides its body: key, fingerprint and object overhead. */
const overhead = 512

export class RecentAnswers {
  private young = new Map<string, RecentAnswer>()
  private old = new Map<string, RecentAnswer>()
  private readonly limits: RecentAnswersLimits
  private youngBytes = 0

  constructor(limits: RecentAnswersLimits = usual) {
    this.limits = limits
  }

  /** The answer of a key; undefined when it is not cached. A hit moves it to the young generation. */
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
