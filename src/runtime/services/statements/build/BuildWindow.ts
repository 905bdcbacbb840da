/**
 * The limits of statement builds: the builds of a client within a sliding hour, and the concurrent builds of a partner.
 * The hour is in memory for clients with recent requests. After a restart it is counted from the statements generated
 * within the hour (A2-75, STS-21).
 */
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import type { LimiterOptions } from "../../shared/FairLimiter.ts"

const { most, windowMillis } = statementLimits.builds
/** The most clients in memory. Clients whose window has passed are evicted first. */
const remembered = 10_000

/** The concurrent builds of a partner. Statements of one partner delay neither statements of another partner nor money. */
export const partnerBuilds: LimiterOptions = {
  capacity: Infinity,
  share: statementLimits.running,
  waiting: Infinity,
  waitingShare: statementLimits.waiting,
  waitMillis: null
}

export class BuildWindow {
  private readonly times = new Map<number, Array<number>>()

  /** Whether the client's hour is in memory. If not, `learn` must be called before `take`. */
  knows(clientId: number): boolean {
    return this.times.has(clientId)
  }

  /** Restores a client's builds within the hour from the database, Unix ms. */
  learn(clientId: number, times: ReadonlyArray<number>): void {
    if (this.times.has(clientId)) return
    this.makeRoom()
    this.times.set(
      clientId,
      times.toSorted((one, other) => one - other)
    )
  }

  /** Counts a build at `now` and returns null; or returns the time of the next permitted build, Unix ms. */
  take(clientId: number, now: number): number | null {
    const found = (this.times.get(clientId) ?? []).filter((at) => at > now - windowMillis)
    this.times.delete(clientId)
    this.times.set(clientId, found)
    const first = found[found.length - most]
    if (first !== undefined) return first + windowMillis
    found.push(now)
    return null
  }

  private makeRoom(): void {
    for (const clientId of this.times.keys()) {
      if (this.times.size < remembered) return
      this.times.delete(clientId)
    }
  }
}
