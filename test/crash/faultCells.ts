/**
 * One cell of a matrix of faults: a step runs while the venue misbehaves, the service freezes at a pause point, and
 * there service, database or venue is killed with -9. The matrices of contracts and of orders share this code.
 */
import { assert, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import type { PausePoint } from "../../src/runtime/engine/PausePoints.ts"
import type { FaultKind, FaultRoute } from "../../src/venue/testerTokens.ts"
import type { Answer } from "../http/callServer.ts"
import type { RealService } from "../support/RealService.ts"
import { played } from "../support/every.ts"
import { expectLog, mayLog } from "../support/expectLog.ts"
import { killPostmaster } from "./postmaster.ts"
import { readyAgain } from "./strike.ts"
import type { Trader, TradeWorld } from "./tradeWorld.ts"

/** `both`: service and venue. */
export type Victim = "service" | "database" | "venue" | "both"

/**
 * A step that is prepared while the venue works, and runs while it does not. Each repetition under the key gets the
 * answer.
 */
export interface Prepared {
  readonly act: () => Promise<Answer | null>
  readonly keyed: boolean
}
export interface Step {
  /** The route of the venue to which the step's call goes. */
  readonly route: FaultRoute
  readonly prepare: (trader: Trader, key: string) => Promise<Prepared>
}

export interface Blow {
  readonly fault: FaultKind
  readonly route: FaultRoute
  readonly victim: Victim
  readonly point: PausePoint
}

/** The routes of faults that do not concern calls. */
const aims: Partial<Record<FaultKind, FaultRoute>> = {
  "duplicate-events": "events",
  "reorder-events": "events",
  "drop-events": "events",
  "stale-marks": "market-data"
}
/**
 * Expects the log lines of the database supervisor: a new server does not start while backends of the old one still
 * end.
 */
const expectRestart = (): void => {
  mayLog(/The embedded PostgreSQL does not start/)
  expectLog(/the embedded PostgreSQL ended unexpectedly/)
  expectLog(/the embedded PostgreSQL runs again/)
}

const armed = { killAt: { point: "on-signal", times: 1 } }
/** The longest wait for the service to reach its point, ms. */
const frozenWithin = 60_000

/** Starts the world's service, which cells replace after a kill. */
export const startCells = async (world: TradeWorld) => {
  let service = await world.start(armed)
  await world.venue.together(service)
  await world.price(service, "60000")

  const restart = async (): Promise<void> => {
    await service.kill("SIGKILL")
    await service.stop()
    service = await world.start(armed)
  }

  const strike = async (victim: Victim): Promise<void> => {
    if (victim === "venue" || victim === "both") process.kill(await world.venue.pid(), "SIGKILL")
    if (victim === "service" || victim === "both") return restart()
    const killed = victim === "database" ? killPostmaster(world.cluster) : null
    service.signal("SIGCONT")
    if (killed !== null) expectRestart()
    if (victim === "database") await Effect.runPromise(readyAgain(world, killed))
  }

  return {
    service: (): RealService => service,
    /** The service may be frozen, or be about to freeze: the next step gets a new service. */
    restart,
    /**
     * Runs the step under the fault, kills the victim at the point, ends the fault and sets the price. Returns the
     * answer, if there was one.
     */
    struck: async (
      { act }: Prepared,
      { fault, route, victim, point }: Blow,
      price = "60000"
    ): Promise<Answer | null> => {
      await service.done("sim", "venue", "fault", fault, "--route", aims[fault] ?? route, "--delay", "1s")
      await service.arm(point, "stop")
      const acting = act().catch(() => null)
      await world.frozen(service, frozenWithin)
      await strike(victim)
      await world.venue.together(service)
      const first = await acting
      // A service whose database was killed does not know the outcome of a command at once.
      await vi.waitFor(() => service.done("sim", "venue", "clear"), { timeout: 60_000, interval: 200 })
      await world.price(service, price)
      return first
    }
  }
}

/**
 * An answer from before the kill must stay the same. A request without an answer must get one now, other than "in
 * progress".
 */
export const answeredOnce = async ({ act }: Prepared, first: Answer | null, about: string): Promise<void> => {
  const again = await act()
  assert.include([200, 400, 502], again?.status, `${about}: ${again?.text}`)
  const kept = first !== null && first.status !== 503 ? first : await act()
  assert.deepStrictEqual([again?.status, again?.text], [kept?.status, kept?.text], about)
}

/** The fault, step, victim and point of a cell. */
type Names = readonly [fault: FaultKind, step: string, victim: Victim, point: PausePoint]

/**
 * One test per cell: `npm test` plays the first cell of `some`, a deep run all cells of `some` and a slice of `every`.
 * A failed cell restarts the service and ends the fault, so that the next cell does not fail too.
 */
export const testCells = <Cell extends Names>(
  cells: () => Pick<Awaited<ReturnType<typeof startCells>>, "restart" | "service">,
  cellsOf: { readonly every: ReadonlyArray<Cell>; readonly some: ReadonlyArray<Cell> },
  play: (cell: Cell) => Promise<void>,
  cellMillis: number
): void => {
  const { some, every } = cellsOf
  it.each(played({ usual: some.slice(0, 1), deep: some, every }).map((cell) => ({ cell, title: title(cell) })))(
    "$title",
    async ({ cell }) => {
      try {
        await play(cell)
      } catch (cause) {
        await cells().restart()
        await cells().service().done("sim", "venue", "clear")
        throw cause
      }
    },
    cellMillis
  )
}

const title = ([fault, step, victim, point]: Names): string => `${fault} while ${step}: kill -9 of ${victim}, ${point}`
