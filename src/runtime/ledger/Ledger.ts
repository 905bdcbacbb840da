/**
 * Double entry inside a turn: one transaction, its two postings and the client's new balance row go into the draft
 * together. Amounts are bigint minor units, signed from the client's view. The database checks the sum again.
 */
import type { JsonObject } from "../../machines/shared/Json.ts"
import type { Currency } from "../../machines/shared/Currency.ts"
import { maxMinor } from "../../machines/shared/Money.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../engine/mailbox/SubjectState.ts"
import { keyOf } from "../tables/Catalogue.ts"
import type { BalanceRow } from "../tables/ledger.ts"
import { clientAccount, type LedgerEntryType, postingRules } from "../../machines/postingRules.ts"
import type { PostingValue } from "../../machines/market/postingValue.ts"

export interface Posting {
  readonly txId: number
  readonly entry: LedgerEntryType
  /** The unique key of the transaction. It is used once for ever, so that the same cause can't be posted twice. */
  readonly key: string
  readonly clientId: number
  readonly partnerId: number
  readonly currency: Currency
  readonly amount: bigint
  /**
   * The other side of an exchange of currencies: currency and amount that are posted in the same transaction; null without
   * one (A2-98).
   */
  readonly also: { readonly currency: Currency; readonly amount: bigint } | null
  readonly reason: string | null
  readonly refs: JsonObject
  /** The value of the posting in USDC, which the refs keep; null for a posting in USDC (STS-9). */
  readonly value: PostingValue | null
  /** The part of the posting that adds to the client's lifetime deposits, micro-USDC (F25). */
  readonly deposited: bigint
}

const emptyBalance = (clientId: number, partnerId: number, currency: string): BalanceRow => ({
  clientId,
  currency,
  partnerId,
  cash: 0n,
  reserved: 0n,
  deposited: 0n,
  fromVenue: 0n,
  funding: 0n
})

/** The client's balance of a currency in this turn, including the turn's earlier postings. */
export const balanceOf = (turn: Turn, clientId: number, partnerId: number, currency: string): BalanceRow => {
  const key = keyOf("balances", { clientId, currency })
  return (
    turn.draft.peek("balances", key) ?? turn.state.get("balances", key) ?? emptyBalance(clientId, partnerId, currency)
  )
}

/** True if the balance stays inside 64 bits after the amount (F2). */
export const fitsBalance = (balance: bigint, amount: bigint): boolean => {
  const next = balance + amount
  return next <= maxMinor && next >= -maxMinor
}

/**
 * The largest cash that a balance can reach: its reserve may be released, and the bank may refuse an approved payment. Every
 * addition to a balance keeps this inside 64 bits, so that a return always fits (F2).
 */
export const cashAtMost = (state: SubjectState, { cash, reserved, currency }: BalanceRow): bigint =>
  cash + reserved + state.returning(currency)

/** Posts one transaction. A posting that overflows 64 bits is a defect: rules check `fitsBalance` first. */
export const post = (turn: Turn, posting: Posting): void => {
  const { txId, clientId, partnerId, also } = posting
  turn.draft.put("ledgerTransactions", {
    txId,
    key: posting.key,
    type: posting.entry,
    actor: turn.by.actor,
    reason: posting.reason,
    clientId,
    partnerId,
    refs: posting.value === null ? posting.refs : { ...posting.refs, ...posting.value },
    ts: turn.now
  })
  postLegs(turn, posting)
  if (also !== null) postLegs(turn, { ...posting, ...also, deposited: 0n })
}

/**
 * Writes two postings of one currency: the client's, and the opposite one of the house account or of the client's reserve.
 */
const postLegs = (turn: Turn, posting: Posting): void => {
  const { txId, clientId, partnerId, currency, amount } = posting
  const rule = postingRules[posting.entry]
  const kind = amount > 0n ? (rule.gainKind ?? rule.clientKind) : rule.clientKind
  const before = balanceOf(turn, clientId, partnerId, currency)
  if (!fitsBalance(before[kind], amount)) throw new RangeError("a balance would leave 64 bits")
  turn.draft.put("postings", {
    postingId: turn.nextId("posting"),
    txId,
    account: clientAccount(clientId),
    clientId,
    partnerId,
    currency,
    kind,
    amount
  })
  if (rule.house === null) return postToReserve(turn, posting, before)
  turn.draft.put("postings", {
    postingId: turn.nextId("posting"),
    txId,
    account: rule.house(partnerId),
    clientId: null,
    partnerId,
    currency,
    kind: "cash",
    amount: -amount
  })
  turn.draft.put("balances", {
    ...before,
    [kind]: before[kind] + amount,
    deposited: before.deposited + posting.deposited,
    fromVenue: before.fromVenue + (rule.venue === null ? 0n : amount),
    funding: before.funding + (rule.venue === "funding" ? amount : 0n)
  })
}

/** Posts the second leg of a reserve or release: the client keeps the money, and the reserve moves opposite to cash. */
const postToReserve = (
  turn: Turn,
  { txId, clientId, partnerId, currency, amount }: Posting,
  before: BalanceRow
): void => {
  if (before.reserved < amount || !fitsBalance(before.reserved, -amount)) {
    throw new RangeError("a reserve would be negative or leave 64 bits")
  }
  turn.draft.put("postings", {
    postingId: turn.nextId("posting"),
    txId,
    account: clientAccount(clientId),
    clientId,
    partnerId,
    currency,
    kind: "reserved",
    amount: -amount
  })
  turn.draft.put("balances", { ...before, cash: before.cash + amount, reserved: before.reserved - amount })
}
