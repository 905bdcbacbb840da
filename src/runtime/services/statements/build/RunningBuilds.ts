/**
 * Builds that run independently of their callers. Two requests for the same period share one build. If the caller
 * disconnects or times out, the build continues, and a retry finds its result (STS-21).
 */
import { type Clock, Effect, Fiber, type Scope } from "effect"
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import type { Verdict } from "../../../../machines/shared/Refusal.ts"
import { type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { StatementRow } from "../../../tables/statement.ts"

type Outcome = Verdict<StatementRow>

/** A build of one requested period, running or recently ended. */
export interface RunningBuild {
  readonly key: string
  readonly fiber: Fiber.Fiber<Outcome, DispatchError>
  readonly isCut: boolean
  waiting: number
  /** Wall time at which the build ended, Unix ms; null while it runs. */
  endedAt: number | null
}

export class RunningBuilds {
  private readonly builds = new Map<string, RunningBuild>()
  private readonly scope: Scope.Scope
  private readonly wall: Clock.Clock

  constructor(scope: Scope.Scope, wall: Clock.Clock) {
    this.scope = scope
    this.wall = wall
  }

  /**
   * The build of a period that is in progress. A build of a period that ends at the present is found for a while
   * after its end too, until a caller has received its result. A retry has a later end of the period, so it would not
   * find the stored statement.
   */
  find(key: string): RunningBuild | undefined {
    const found = this.builds.get(key)
    if (found === undefined || found.endedAt === null) return found
    if (this.wall.currentTimeMillisUnsafe() - found.endedAt < statementLimits.keptMillis) return found
    this.builds.delete(key)
    return undefined
  }

  /**
   * Starts a build. `isCut`: the period ends at the present, so that a retry has a later end and would not find this
   * build's statement.
   */
  begin(key: string, work: Effect.Effect<Outcome, DispatchError>, isCut: boolean): Effect.Effect<RunningBuild> {
    let ended = () => {}
    const running = Effect.ensuring(
      work,
      Effect.sync(() => ended())
    )
    return Effect.map(Effect.forkIn(running, this.scope), (fiber) => {
      const build: RunningBuild = { key, isCut, fiber, waiting: 0, endedAt: null }
      ended = () => this.ended(build)
      this.builds.set(key, build)
      return build
    })
  }

  /** Waits for the result of a build. The wait has a timeout; the build itself has none. */
  wait(build: RunningBuild): Effect.Effect<Outcome, DispatchError> {
    return Effect.suspend(() => {
      build.waiting++
      return Fiber.join(build.fiber).pipe(
        Effect.timeoutOrElse({
          duration: statementLimits.patienceMillis,
          orElse: () => Effect.fail(new Unavailable({ unknown: false }))
        }),
        Effect.tap(() => Effect.sync(() => this.builds.get(build.key) === build && this.forget(build))),
        Effect.ensuring(Effect.sync(() => void build.waiting--))
      )
    })
  }

  /** The number of builds that run now; ended builds whose result waits for a retry do not count. */
  get size(): number {
    return [...this.builds.values()].filter(({ endedAt }) => endedAt === null).length
  }

  private forget(build: RunningBuild): void {
    if (build.endedAt !== null) this.builds.delete(build.key)
  }

  private ended(build: RunningBuild): void {
    build.endedAt = this.wall.currentTimeMillisUnsafe()
    this.sweep(build.endedAt)
    if (build.waiting > 0 || !build.isCut) this.builds.delete(build.key)
  }

  private sweep(now: number): void {
    for (const [key, { endedAt }] of this.builds)
      if (endedAt !== null && now - endedAt >= statementLimits.keptMillis) this.builds.delete(key)
  }
}
