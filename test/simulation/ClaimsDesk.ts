/**
 * The claims on writers on the morning after a default, in every order of write-offs and payments (D8, STS-6): clients
 * read their accounts, staff write claims off in part or completely, and some writers still pay.
 */
import { Effect } from "effect"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import { SwapDesk } from "../../src/runtime/services/trading/swap/SwapDesk.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import type { OperatorDesk } from "./OperatorDesk.ts"
import type { World } from "./World.ts"

export class ClaimsDesk {
  private readonly world: World
  private readonly desk: OperatorDesk
  /** A random sequence of its own, so that its draws do not change other parts of the run. */
  private readonly random: SeededRandom
  private open = 0

  constructor(world: World, desk: OperatorDesk) {
    this.world = world
    this.desk = desk
    this.random = new SeededRandom(world.seed ^ 0x2f6b1a3d)
  }

  /** True if no claim is in progress. */
  get idle(): boolean {
    return this.open === 0
  }

  start(): void {
    const lenders = new Set(this.world.store.rows("swaps").map(({ clientId }) => clientId))
    for (const clientId of lenders) this.look(clientId)
    for (const row of this.world.store.rows("swaps")) if (claimOf(row) > 0n) this.follow(row, 2)
  }

  /** Writes each claim off once or twice, with payments before and in between. */
  private follow(row: SwapRow, left: number): void {
    const { random } = this
    if (random.chance(0.3)) this.pay(row)
    if (random.chance(0.8)) this.writeOff(row)
    const next = (): void => {
      if (random.chance(0.7)) this.pay(row)
      this.look(row.clientId)
      if (left > 1) this.follow(row, left - 1)
    }
    this.task((done) =>
      this.world.outside.after(random.between(200, 3_000), () => {
        next()
        done()
      })
    )
  }

  private writeOff({ id }: SwapRow): void {
    const row = this.world.store.rows("swaps").find((each) => each.id === id)
    const claim = row === undefined ? 0n : claimOf(row)
    const amount = this.random.chance(0.4) ? claim : claim / BigInt(this.random.between(2, 9))
    if (amount === 0n) return
    const request = { swapId: id, amount: formatAmount(amount, "USDC"), reason: "the writer is insolvent" }
    const caller = this.desk.caller()
    this.task((done) =>
      this.desk.settle(
        Effect.flatMap(SwapDesk, (swaps) => swaps.writeOff(caller, request)),
        done
      )
    )
  }

  /** Pays a part of the notional, or the whole claim; the venue refuses it if the claim is zero. */
  private pay({ contractId, amount }: SwapRow): void {
    const { random, world } = this
    if (contractId === null) return
    const part = random.chance(0.4) ? null : formatAmount(amount / BigInt(random.between(2, 9)), "USDC")
    world.venue.core.apply({ type: "command", command: { type: "pay", contractId, amount: part } })
  }

  private look(clientId: number): void {
    const partner = this.world.partners.find(({ clients }) => clients.includes(clientId))
    if (partner !== undefined) this.task((done) => this.world.read(partner, clientId, this.random, done))
  }

  private task(start: (done: () => void) => void): void {
    this.open++
    start(() => void this.open--)
  }
}

/** The claim on a writer, micro-USDC. */
const claimOf = ({ state, amount, reward, paid, writtenOff }: SwapRow): bigint => {
  const left = amount + reward - paid - writtenOff
  return state === "DEFAULTED" && left > 0n ? left : 0n
}
