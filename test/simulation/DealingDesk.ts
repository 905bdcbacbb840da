/**
 * Changes to requests and contracts that their clients do not cause: contracts are torn up as in a close-out, staff
 * resolve calls in flight as never executed, correctly and wrongly, and the venue delists the market.
 */
import { Effect } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import {
  ActorHost,
  type Attribution,
  type DispatchError,
  type Turn
} from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { contractInTurn, tearUp } from "../../src/runtime/services/trading/contract/contractDecisions.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import { resolveVoid } from "../../src/runtime/services/trading/rfq/resolveDecisions.ts"
import { cancelOpeningRequests, rfqInTurn, windowElapsed } from "../../src/runtime/services/trading/rfq/rfqDecisions.ts"
import { venueHandlers } from "../../src/runtime/services/operations/registries/VenueHandlers.ts"
import type { RfqRow } from "../../src/runtime/tables/rfq.ts"
import type { Services } from "./SimProcess.ts"
import type { World } from "./World.ts"

/** The probability that a step delists the market: it happens in few runs. */
const delisting = 0.003

const risk: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }
const staff: Attribution = { role: "ADMIN", keyLabel: "one", requestId: "resolve", actor: "ADMIN" }

export class DealingDesk {
  private readonly world: World
  private readonly random: SeededRandom

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
    // Staff sometimes resolve a call as never executed that the venue executed a moment before.
    world.venue.desk.onExecuted = ({ ref }) => {
      const row = world.contracts.rfqs.get(Number(ref.split("-")[1]))
      if (row !== undefined && this.random.chance(0.08)) this.resolveOne(row, () => {})
    }
  }

  step(done: () => void): void {
    const { random, world } = this
    if (random.chance(delisting)) {
      world.note("the market of knock-out contracts is delisted")
      world.venue.desk.delist()
      return done()
    }
    if (random.chance(0.5)) return this.resolve(done)
    return random.chance(0.3) ? this.tear(done) : done()
  }

  private tear(done: () => void): void {
    const { contracts } = this.world.contracts
    const open = [...contracts.values()].filter(({ state }) => state === "OPEN")
    if (open.length === 0) return done()
    const { id, clientId } = this.random.pick(open)
    this.dispatch(`tear-up of ${id}`, clientId, risk, done, (turn) => {
      const row = contractInTurn(turn, id)
      if (row !== undefined) tearUp(turn, row)
    })
  }

  /**
   * Resolves the calls in flight of a request as never executed, whatever the venue did with them. Sometimes the
   * request ends as well, as by a halt or the end of its window, so that an execution arrives for a cancelled or
   * expired request.
   */
  private resolve(done: () => void): void {
    const { calls, rfqs } = this.world.contracts
    const flying = [...rfqs.values()].filter(({ id }) =>
      [...calls].some((ref) => ref.startsWith(`A-${id}-`) || (this.random.chance(0.2) && ref === `R-${id}`))
    )
    if (flying.length === 0) return done()
    this.resolveOne(this.random.pick(flying), done)
  }

  private resolveOne({ id, clientId, symbol }: RfqRow, done: () => void): void {
    const end = this.random.pick(["halt", "window", "none"] as const)
    const command = Effect.flatMap(venueHandlers, (handlers) =>
      this.inMailbox(clientId, staff, (turn) => {
        const row = rfqInTurn(turn, id)
        if (row !== undefined) resolveVoid(turn, handlers, row, "The venue's papers have none.")
        if (end === "halt") cancelOpeningRequests(turn, "Trading in this market is halted.", (each) => each === symbol)
        if (end === "window") windowElapsed(turn, id)
      })
    )
    this.world.operate(`resolution of ${id}`, this.random, command, () => done())
  }

  private inMailbox(
    clientId: number,
    by: Attribution,
    decide: (turn: Turn) => void
  ): Effect.Effect<void, DispatchError, Services> {
    return Effect.flatMap(ActorHost, (host) => host.dispatch({ subject: clientSubject(clientId), by, decide }))
  }

  private dispatch(
    name: string,
    clientId: number,
    by: Attribution,
    done: () => void,
    decide: (turn: Turn) => void
  ): void {
    this.world.operate(name, this.random, this.inMailbox(clientId, by, decide), () => done())
  }
}
