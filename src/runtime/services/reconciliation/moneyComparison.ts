/**
 * Where the ledger and the venue's own books differ in the money of one client, and what follows in its turn (A2-103): a break
 * of the difference with both figures, which pauses money out. Nothing here moves money.
 */
import { Effect } from "effect"
import { holdingMark } from "../../../machines/market/holdingMark.ts"
import { currencyCodes, isCurrency } from "../../../machines/shared/Currency.ts"
import { decimalText, floorToMinor, type MoneyDecimal } from "../../../machines/shared/Money.ts"
import {
  moneyApart,
  type MoneyDifference,
  ownMoney,
  type OwnMoney,
  venueMoney
} from "../../../machines/reconciliation/money.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { ClientRow } from "../../tables/client.ts"
import { lossIn } from "../venue/venueQuarantine.ts"

/** A client's money here and there. */
export interface ComparedMoney {
  readonly clientId: number
  readonly ours: OwnMoney
  /** Of the account, how far its events are taken. */
  readonly taken: number
  /** Null: the venue has no such account. */
  readonly account: Pick<VenueAccount, "sequence" | "money"> | null
}

/** A difference of one look. */
export interface MoneyApart extends MoneyDifference {
  /** The unique fact that it has been alarmed: a difference that stays the same while trading goes on is alarmed once. */
  readonly claim: string
  /** Everything that the venue has said is taken. */
  readonly settled: boolean
  readonly taken: number
}

export const moneyDifferences = ({ clientId, ours, taken, account }: ComparedMoney): ReadonlyArray<MoneyApart> => {
  const theirs = account === null ? new Map<string, MoneyDecimal>() : venueMoney(account)
  // The venue has not kept what its figure is of: there is nothing to hold ours against.
  if (theirs === null) return []
  return moneyApart(ownMoney(ours), theirs).map((apart) => ({
    ...apart,
    claim: `differs:${clientId}:money:${apart.asset}:${decimalText(apart.ours.minus(apart.theirs))}`,
    settled: taken === (account?.sequence ?? 0),
    taken
  }))
}

/**
 * Those of a second look that count. What is on its way explains a difference: so either everything was taken both times, or
 * nothing has come in between, on neither side, and nothing will.
 */
export const standing = (
  first: ReadonlyArray<MoneyApart>,
  second: ReadonlyArray<MoneyApart>
): ReadonlyArray<MoneyApart> => {
  const before = new Map(first.map((each) => [each.claim, each]))
  return second.filter(({ claim, settled, ours, theirs, taken }) => {
    const same = before.get(claim)
    if (same === undefined) return false
    return (same.settled && settled) || (same.ours.eq(ours) && same.theirs.eq(theirs) && same.taken === taken)
  })
}

/**
 * Opens a break for each difference that persists in the turn. Returns the sentences of the differences that raise an alarm.
 * `loss`: lost events of the account, which each break names.
 */
export const settleMoneyDifferences = (
  turn: Turn,
  differences: ReadonlyArray<MoneyApart>,
  loss: string | null = null
): ReadonlyArray<string> => {
  const client = turn.state.one("clients")
  // An answer that is on its way may explain all of it.
  if (client === undefined || turn.state.all("venueCalls").length > 0) return []
  // So may what this very turn has taken over.
  if (turn.draft.written("balances").length > 0) return []
  const now = ownMoney({ balances: turn.state.all("balances"), totals: turn.state.one("accountTotals") })
  return differences.flatMap(({ claim, asset, ours, theirs }) => {
    if (!(now.get(asset)?.eq(ours) ?? ours.isZero())) return []
    const figures = `The ledger has ${decimalText(ours)} ${asset} of the venue, and the venue's own books have ${decimalText(theirs)}.`
    const sentence = loss === null ? figures : `${figures} ${loss}`
    turn.draft.claim(claim, client.id)
    const more = valueOf(turn, asset, ours.minus(theirs))
    if (more !== 0n) breakOfClient(turn, { clientId: client.id, partnerId: client.partnerId }, more, sentence)
    return [sentence]
  })
}

/** Micro-USDC at the last mark. */
const valueOf = ({ facts }: Turn, asset: string, amount: MoneyDecimal): bigint => {
  const mark = isCurrency(asset) ? holdingMark(asset, facts) : null
  return mark === null ? 0n : floorToMinor(amount.mul(mark.price), "USDC")
}

/** The number of newest quarantined rows of an account that are searched for a loss of events. */
const lossesRead = 64

/**
 * Reads the money of a client without a turn: one row for each currency, one of the totals and one of the account, each by the
 * client's key, all from one snapshot. Sums no history.
 */
export const moneyOf = (
  stored: RowReads["Service"],
  { id: clientId }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<ComparedMoney, Unavailable> =>
  Effect.map(
    stored.together(["venueAccounts", "accountTotals", "balances"], clientId, currencyCodes.length),
    ({ venueAccounts: [taken], accountTotals: [totals], balances }) => ({
      clientId,
      ours: { balances, totals },
      taken: taken?.sequence ?? 0,
      account
    })
  )

/** A sentence about events of the account that the venue no longer provides. They explain a difference of money. Null: none. */
export const lossOf = (
  stored: RowReads["Service"],
  { uid }: Pick<ClientRow, "uid">
): Effect.Effect<string | null, Unavailable> => {
  const ofAccount = [{ column: "account", value: uid }]
  return Effect.map(stored.page("venueQuarantine", ofAccount, { limit: lossesRead }), (rows) => {
    const losses = rows.filter(({ droppedAt }) => droppedAt === null).map(lossIn)
    return losses.find((loss) => loss !== null) ?? null
  })
}
