/**
 * Lots of assets inside a turn: receipts with their cost, and disposals first in first out (F21, A2-104). Trades have their own
 * cost. Other receipts become a lot at their current value, and other disposals remove their cost.
 */
import type { JsonObject } from "../../machines/shared/Json.ts"
import { type LedgerEntryType, postingRules } from "../../machines/postingRules.ts"
import { holdingMark, valueAt } from "../../machines/market/holdingMark.ts"
import { takeLots } from "../../machines/order/spotLots.ts"
import type { Currency } from "../../machines/shared/Currency.ts"
import { maxMinor, minorOf } from "../../machines/shared/Money.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../engine/mailbox/turnRows.ts"
import type { SpotLotRow } from "../tables/order.ts"

interface Whose {
  readonly partnerId: number
  readonly clientId: number
}

const lotsInTurn = (turn: Turn, asset: string): ReadonlyArray<SpotLotRow> =>
  rowsInTurn(turn, "spotLots")
    .filter((lot) => lot.asset === asset && lot.qty > 0n)
    .toSorted((one, other) => one.acquiredAt - other.acquiredAt || one.id - other.id)

/** Adds a lot; no effect for quantity zero. */
export const putLot = (
  turn: Turn,
  { partnerId, clientId }: Whose,
  asset: Currency,
  bought: { readonly qty: bigint; readonly cost: bigint; readonly commission: bigint }
): void => {
  if (bought.qty === 0n) return
  turn.draft.put("spotLots", {
    id: turn.nextId("spotLot"),
    partnerId,
    clientId,
    asset,
    ...bought,
    acquiredAt: turn.now
  })
}

/** Takes a quantity from the lots first in first out. Returns its cost without commission, micro-USDC (F21; A2-44). */
export const takeFromLots = (turn: Turn, asset: Currency, qty: bigint): bigint => {
  const rows = lotsInTurn(turn, asset)
  const { cost, left } = takeLots(rows, qty)
  const after = new Map(left.map((lot) => [lot.id, lot]))
  for (const row of rows) {
    const rest = after.get(row.id)
    if (rest === row) continue
    const { qty: remains, cost: costs, commission } = rest ?? { qty: 0n, cost: 0n, commission: 0n }
    turn.draft.put("spotLots", { ...row, qty: remains, cost: costs, commission })
  }
  return cost
}

interface Moved extends Whose {
  readonly entry: LedgerEntryType
  readonly currency: Currency
  /** Signed from the client's view, minor units. */
  readonly amount: bigint
  readonly refs: JsonObject
}

/**
 * The quantity change: a swap's principal leaves and returns unchanged, its fee leaves for good, its reward is received (F21).
 */
const changeOf = ({ entry, currency, amount, refs }: Moved): bigint => {
  const part = (name: string): bigint => minorOf(String(refs[name]), currency)
  if (entry === "SWAP_PRINCIPAL") return -part("fee")
  return entry === "SWAP_SETTLE" ? amount - part("principal") : amount
}

/** Applies a posting other than a trade's to the lots: an asset was received or left. A reserve changes no lot. */
export const moveLots = (turn: Turn, moved: Moved): void => {
  const { entry, currency, partnerId, clientId } = moved
  if (currency === "USDC" || entry === "SPOT_SETTLE" || postingRules[entry].house === null) return
  const change = changeOf(moved)
  if (change < 0n) return void takeFromLots(turn, currency, -change)
  const mark = holdingMark(currency, turn.facts)
  putLot(turn, { partnerId, clientId }, currency, {
    qty: change,
    cost: mark === null ? 0n : atMost(valueAt(currency, change, mark)),
    commission: 0n
  })
}

/** Limits a valuation to 64 bits. */
const atMost = (worth: bigint): bigint => (worth > maxMinor ? maxMinor : worth)
