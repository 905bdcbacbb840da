/**
 * Builds of statements that a client may have in an hour, sliding (A2-75, STS-21). Kept in memory for clients that have asked
 * lately: what a restart forgets, the rows made within the hour give back.
 */
import { statementLimits } from "../../../../machines/shared/Limits.ts"

const { most, windowMillis } = statementLimits.builds
/** Clients remembered; those whose window has passed go first. */
const remembered = 10_000

export class BuildWindow {
  private readonly times = new Map<number, Array<number>>()

  /** Whether anything is known of a client here; if not, `learn` comes first. */
  knows(clientId: number): boolean {
    return this.times.has(clientId)
  }

  /** What the database knows of a client's builds within the hour, Unix ms. */
  learn(clientId: number, times: ReadonlyArray<number>): void {
    if (this.times.has(clientId)) return
    this.makeRoom()
    this.times.set(
      clientId,
      times.toSorted((one, other) => one - other)
    )
  }

  /** Counts a build at `now`; else when the next one may be, Unix ms. */
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
