/**
 * Acquisitions and disposals of assets for the tax statement, in the order of booking: spot trades at their posted
 * amounts, and all other movements. Postings contain all their data, so nothing else is read (F20, F21, STS-26).
 */
import { Effect } from "effect"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import type { Cut } from "../../../../machines/statement/StatementModel.ts"
import type { AssetMove } from "../../../../machines/statement/taxLots.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { assetPostings } from "../../../store/reads/statementTax.ts"
import type { StatementPosting } from "../../../store/reads/statementReads.ts"
import { type Building, eachStretch, reading, type Wrong } from "./Building.ts"
import { TooManyRows } from "./ModelWriter.ts"
import { isValued, partOf, worthOf } from "./swapPostings.ts"

/** The most moves of an account in a tax statement, which memory holds. */
const mostMoves = 1_000_000

type Move = { -readonly [K in keyof AssetMove]: AssetMove[K] }

/** All moves up to a cut, by asset, each list in the order of booking. */
export const movesUpTo = (at: Building, cut: Cut): Effect.Effect<MoveWalk["byAsset"], Wrong> =>
  Effect.gen(function* () {
    const walk = new MoveWalk()
    yield* eachStretch(at, { after: 0, to: cut.postingId }, (stretch) =>
      Effect.flatMap(reading(assetPostings(at.sql, at.client.clientId, stretch)), (postings) => {
        for (const posting of postings) walk.take(posting)
        return walk.count > mostMoves ? Effect.fail(new TooManyRows()) : yieldToEventLoop
      })
    )
    return walk.byAsset
  })

/** Combines the consecutive legs of each trade: the asset, the price paid or received, and the commission. */
export class MoveWalk {
  readonly byAsset = new Map<Currency, Array<AssetMove>>()
  count = 0
  /** The current trade, named by its order and trade id as in posting keys. */
  private trade: { readonly name: string; readonly move: Move } | null = null

  take(posting: StatementPosting): void {
    const { type, key, currency } = posting
    const [, name] = tradeKey.exec(key) ?? []
    if (type === "SPOT_SETTLE" && name !== undefined && currency !== "USDC") return this.begin(name, posting)
    if (currency !== "USDC") return this.moved(posting)
    if (name !== undefined && name === this.trade?.name) this.trade.move.money += moneyOf(this.trade.move, posting)
  }

  private begin(name: string, { currency: asset, ts: at, amount }: StatementPosting): void {
    const qty = amount < 0n ? -amount : amount
    if (qty === 0n) return
    const move: Move = { kind: amount < 0n ? "DISPOSED" : "ACQUIRED", asset, at, qty, money: 0n, assumed: false }
    this.trade = { name, move }
    this.add(move)
  }

  private moved(posting: StatementPosting): void {
    const { currency: asset, ts: at } = posting
    const moved = movedBy(posting)
    if (moved === 0n) return
    if (moved < 0n) return this.add({ kind: "LEFT", asset, at, qty: -moved, money: 0n, assumed: false })
    // The cost of a reward is its value when it was paid. The price of a deposit is unknown, so its cost is marked as
    // assumed.
    const assumed = posting.type !== "SWAP_SETTLE"
    const unvalued = isValued(posting) ? {} : { unvalued: posting.postingId }
    this.add({ kind: "ACQUIRED", asset, at, qty: moved, money: worthOf(posting, moved), assumed, ...unvalued })
  }

  private add(move: AssetMove): void {
    const known = this.byAsset.get(move.asset)
    if (known === undefined) this.byAsset.set(move.asset, [move])
    else known.push(move)
    this.count++
  }
}

const tradeKey = /^(?:spot|commission):([0-9]+:[0-9]+)$/

/**
 * The contribution of a USDC leg to a move: the price of a purchase plus commission, or the proceeds of a sale less
 * commission (F21).
 */
const moneyOf = ({ kind }: Move, { amount }: StatementPosting): bigint => (kind === "ACQUIRED" ? -amount : amount)

/** The amount that changed its owner. The principal of a swap does not: it is lent and returned (F21). */
const movedBy = (posting: StatementPosting): bigint => {
  if (posting.type === "SWAP_PRINCIPAL") return -partOf(posting, "fee")
  return posting.type === "SWAP_SETTLE" ? posting.amount - partOf(posting, "principal") : posting.amount
}
