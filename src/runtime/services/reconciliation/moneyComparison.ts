/**
 * Compares the money of one client in the ledger with the venue's own books. In the client's turn it opens a break with both
 * figures for each difference, which pauses money out. It moves no money (A2-103).
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
import { lossesRead, lossIn } from "../venue/venueQuarantine.ts"

/** A client's money in the ledger and at the venue. */
export interface ComparedMoney {
  readonly clientId: number
  readonly ours: OwnMoney
  /** The account's checkpoint: the sequence of its last applied event. */
  readonly taken: number
  /** Null: the venue has no such account. */
  readonly account: Pick<VenueAccount, "sequence" | "money"> | null
}

/** A difference that one comparison pass found. */
export interface MoneyApart extends MoneyDifference {
  /** Unique alarm key: a difference that keeps its amount while trading goes on raises one alarm. */
  readonly claim: string
  /** True: every event that the venue's snapshot covers is applied. */
  readonly settled: boolean
  readonly taken: number
}

export const moneyDifferences = ({ clientId, ours, taken, account }: ComparedMoney): ReadonlyArray<MoneyApart> => {
  const theirs = account === null ? new Map<string, MoneyDecimal>() : venueMoney(account)
  // The account is older than the venue's money records, so the venue has no figure to compare with.
  if (theirs === null) return []
  return moneyApart(ownMoney(ours), theirs).map((apart) => ({
    ...apart,
    claim: `differs:${clientId}:money:${apart.asset}:${decimalText(apart.ours.minus(apart.theirs))}`,
    settled: taken === (account?.sequence ?? 0),
    taken
  }))
}

/**
 * The differences that both passes found and that no event in flight explains: either both passes had applied all events, or
 * neither side changed between them. A pass begins when the published events are applied, so events that are still missing are
 * quotes, or are recorded as lost.
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
  if (client === undefined) return []
  // A balance change in this turn may explain the differences too.
  if (turn.draft.written("balances").length > 0) return []
  const now = ownMoney({ balances: turn.state.all("balances"), totals: turn.state.one("accountTotals") })
  return differences.flatMap(({ claim, asset, ours, theirs }) => {
    if (!(now.get(asset)?.eq(ours) ?? ours.isZero())) return []
    const figures = `The ledger has ${decimalText(ours)} ${asset} of the venue, and the venue's own books have ${decimalText(theirs)}.`
    const sentence = loss === null ? figures : `${figures} ${loss}`
    turn.draft.claim(claim, client.id)
    const more = valueOf(turn, asset, ours.minus(theirs))
    breakOfClient(turn, { clientId: client.id, partnerId: client.partnerId }, more, sentence)
    return [sentence]
  })
}

/** The value in micro-USDC at the last mark; 0 without a mark. */
const valueOf = ({ facts }: Turn, asset: string, amount: MoneyDecimal): bigint => {
  const mark = isCurrency(asset) ? holdingMark(asset, facts) : null
  return mark === null ? 0n : floorToMinor(amount.mul(mark.price), "USDC")
}

/**
 * Reads the money of a client without a turn, from one snapshot: the balance of each currency, the totals and the account. Sums
 * no history.
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

/**
 * A sentence about events of the account that the venue no longer provides and that may explain a difference of money;
 * null: there are none.
 */
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
