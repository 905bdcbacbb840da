/** How assets came and went, for the tax statement: spot trades, and whatever else moved them (F21, STS-26). */
import { Effect } from "effect"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { floorToMinor } from "../../../machines/shared/Money.ts"
import type { Cut } from "../../../machines/statement/StatementModel.ts"
import type { AssetMove } from "../../../machines/statement/taxLots.ts"
import { breathe } from "../../engine/breathe.ts"
import { assetPostings } from "../../store/reads/statementTax.ts"
import { fillsOf, type StatedFill, type StatedPosting } from "../../store/reads/statementReads.ts"
import { type Building, eachPage, eachStretch, pageRows, reading, type Wrong } from "./Building.ts"
import { TooManyRows } from "./ModelWriter.ts"
import { partOf, worthOf } from "./swapPostings.ts"

/** Moves of an account that a tax statement takes in; they are held in memory. */
const mostMoves = 1_000_000

/** All moves up to a cut, by asset, each in the order of its booking. */
export const movesUpTo = (
  at: Building,
  cut: Cut
): Effect.Effect<ReadonlyMap<Currency, ReadonlyArray<AssetMove>>, Wrong> =>
  Effect.gen(function* () {
    const { sql, client } = at
    const byAsset = new Map<Currency, Array<AssetMove>>()
    let count = 0
    const add = (moves: ReadonlyArray<AssetMove>): Effect.Effect<void, TooManyRows> => {
      for (const move of moves) {
        const known = byAsset.get(move.asset)
        if (known === undefined) byAsset.set(move.asset, [move])
        else known.push(move)
      }
      count += moves.length
      return count > mostMoves ? Effect.fail(new TooManyRows()) : breathe
    }
    yield* eachPage(
      pageRows,
      (after) => reading(fillsOf(sql, client.clientId, { after, to: cut.fillId }, pageRows, "SPOT")),
      ({ id }) => id,
      (fills) => add(fills.map(moveOfFill))
    )
    yield* eachStretch(at, { after: 0, to: cut.postingId }, (stretch) =>
      Effect.flatMap(reading(assetPostings(sql, client.clientId, stretch)), (postings) =>
        add(postings.flatMap(moveOfPosting))
      )
    )
    for (const moves of byAsset.values()) moves.sort((one, other) => one.at - other.at)
    return byAsset
  })

/** What was paid with commission, or got after it (F21). */
const moveOfFill = ({ symbol, side, qty, notional, commission, bookedAt }: StatedFill): AssetMove => {
  const asset = symbol.slice(0, symbol.indexOf("-")) as Currency
  const isBuy = side === "BUY"
  return {
    kind: isBuy ? "ACQUIRED" : "DISPOSED",
    asset,
    at: bookedAt,
    qty: floorToMinor(qty, asset),
    money: isBuy ? notional + commission : notional - commission,
    assumed: false
  }
}

const moveOfPosting = (posting: StatedPosting): ReadonlyArray<AssetMove> => {
  const { currency: asset, ts: at } = posting
  const moved = movedBy(posting)
  if (moved === 0n) return []
  if (moved < 0n) return [{ kind: "LEFT", asset, at, qty: -moved, money: 0n, assumed: false }]
  // A reward has cost what it was worth when it was paid; a deposit's price is not known.
  const assumed = posting.type !== "SWAP_SETTLE"
  return [{ kind: "ACQUIRED", asset, at, qty: moved, money: worthOf(posting, moved), assumed }]
}

/** What came or went for good: the principal of a swap is lent, and comes back, without a disposal (F21). */
const movedBy = (posting: StatedPosting): bigint => {
  if (posting.type === "SWAP_PRINCIPAL") return -partOf(posting, "fee")
  return posting.type === "SWAP_SETTLE" ? posting.amount - partOf(posting, "principal") : posting.amount
}
