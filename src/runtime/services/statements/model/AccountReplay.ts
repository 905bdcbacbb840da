/**
 * Replays an account to moments of the past from its bookings: balances from postings, positions from fills at average
 * cost, contracts from their openings and ends. A replay only moves forward, so all days of a year cost no more than
 * the rows of the year (F11, F16, F23, STS-28).
 */
import { Effect } from "effect"
import type { ContractContext } from "../../../../machines/contract/Contract.ts"
import { isFlat, type PerpPosition } from "../../../../machines/margin/perpetual.ts"
import { applyFill, flatPosition } from "../../../../machines/order/positionRules.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { equityOf, type EquityThen, type MarksThen } from "../../../../machines/statement/equityThen.ts"
import type { Cut } from "../../../../machines/statement/StatementModel.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { texts } from "../../../store/arrays.ts"
import { contractsOf } from "../../../store/reads/statementContracts.ts"
import { fillsOf, postingsOfTypes, postingSums } from "../../../store/reads/statementReads.ts"
import { type Building, eachPage, eachStretch, pageRows, type Reading, reading } from "./Building.ts"
import { swapOf } from "./swapPostings.ts"
import { contractOf } from "./venueTimes.ts"

export interface HeldThen {
  cash: bigint
  reserved: bigint
}

export interface LentThen {
  readonly currency: Currency
  /** Principal and reward paid so far, minor units. */
  paid: bigint
}

const nowhere: Cut = { postingId: 0, fillId: 0, contractId: 0, swapId: 0 }
const ends = texts(["BARRIER_SETTLE"])
const lends = texts(["SWAP_PRINCIPAL", "SWAP_SETTLE"])

interface Replayed extends Pick<Building, "sql"> {
  readonly client: Pick<Building["client"], "clientId">
}

export class AccountReplay {
  readonly balances = new Map<Currency, HeldThen>()
  readonly positions = new Map<string, PerpPosition>()
  readonly contracts = new Map<number, ContractContext>()
  /** All swaps taken so far, with the amounts paid on them. */
  readonly swaps = new Map<number, LentThen>()
  private at: Cut = nowhere
  private readonly of: Replayed

  constructor(of: Replayed) {
    this.of = of
  }

  /** Applies the bookings up to a later cut. */
  advance(to: Cut): Reading<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.money(to)
      yield* this.trades(to)
      yield* this.openContracts(to)
      yield* this.lending(to)
      this.at = to
    })
  }

  /** USDC cash plus the unrealized PnL of positions and contracts at these marks. Other assets do not count. */
  equityAt(marks: MarksThen): EquityThen {
    const { positions, contracts } = this
    return equityOf(
      { cash: this.balances.get("USDC")?.cash ?? 0n, positions: positions.values(), contracts: contracts.values() },
      marks
    )
  }

  /** True if the account holds, reserves or has open anything. Lent amounts are no part of an equity (F4). */
  get holds(): boolean {
    const { balances, positions, contracts } = this
    if (positions.size + contracts.size > 0) return true
    return [...balances.values()].some(({ cash, reserved }) => cash !== 0n || reserved !== 0n)
  }

  private money(to: Cut): Reading<void> {
    const { sql, client } = this.of
    return eachStretch(this.of, { after: this.at.postingId, to: to.postingId }, (stretch) =>
      Effect.map(reading(postingSums(sql, client.clientId, stretch)), (sums) => {
        for (const { currency, kind, amount } of sums) {
          const held = this.balances.get(currency) ?? { cash: 0n, reserved: 0n }
          held[kind] += amount
          this.balances.set(currency, held)
        }
      })
    )
  }

  private trades(to: Cut): Reading<void> {
    const { sql, client } = this.of
    return eachPage(
      pageRows,
      (after) => reading(fillsOf(sql, client.clientId, { after, to: to.fillId }, pageRows, "PERP")),
      ({ id }) => id,
      (fills) =>
        Effect.suspend(() => {
          for (const { symbol, side, qty, price } of fills) {
            const before = this.positions.get(symbol) ?? flatPosition(symbol)
            const { position } = applyFill(before, { side, qty, price })
            if (isFlat(position)) this.positions.delete(symbol)
            else this.positions.set(symbol, position)
          }
          return yieldToEventLoop
        }),
      this.at.fillId
    )
  }

  private lending(to: Cut): Reading<void> {
    const { sql, client } = this.of
    return eachStretch(this.of, { after: this.at.postingId, to: to.postingId }, (stretch) =>
      Effect.map(reading(postingsOfTypes(sql, client.clientId, lends, stretch)), (postings) => {
        for (const posting of postings) {
          const id = swapOf(posting)
          if (id === null) continue
          const known = this.swaps.get(id) ?? { currency: posting.currency, paid: 0n }
          if (posting.type === "SWAP_SETTLE") known.paid += posting.amount
          this.swaps.set(id, known)
        }
      })
    )
  }

  private openContracts(to: Cut): Reading<void> {
    const { sql, client } = this.of
    return Effect.gen({ self: this }, function* () {
      yield* eachPage(
        pageRows,
        (after) => reading(contractsOf(sql, client.clientId, { after, to: to.contractId }, pageRows)),
        ({ id }) => id,
        (contracts) =>
          Effect.sync(() => {
            for (const { id, context } of contracts) this.contracts.set(id, context)
          }),
        this.at.contractId
      )
      yield* eachStretch(this.of, { after: this.at.postingId, to: to.postingId }, (stretch) =>
        Effect.map(reading(postingsOfTypes(sql, client.clientId, ends, stretch)), (postings) => {
          for (const posting of postings) {
            const id = contractOf(posting)
            if (id !== null) this.contracts.delete(id)
          }
        })
      )
    })
  }
}
