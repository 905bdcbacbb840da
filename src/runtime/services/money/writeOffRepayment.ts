/**
 * The money behind a write-off is the client's USDC outside its cash, in withdrawals and swaps that are older than the write-off.
 * When that money comes back, the same commit repays write-offs with it, oldest first (F10).
 */
import { type CloseOutEvent, isGoingOn } from "../../../machines/margin/CloseOut.ts"
import type { OutsideKind } from "../../../machines/margin/CloseOutDetailWire.ts"
import { formatAmount, minorOf } from "../../../machines/shared/Money.ts"
import { progressOfSwap, termsOfSwap } from "../../../machines/swap/Swap.ts"
import { outstandingOf } from "../../../machines/swap/swapFigures.ts"
import { advance } from "../../effects/advance.ts"
import type { Instance } from "../../effects/Instance.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { CloseOutRow } from "../../tables/margin.ts"
import type { SwapRow } from "../../tables/swap.ts"

/** Tables with a client's USDC outside its cash. Postings name the object in their refs. */
const sources = [
  { table: "withdrawalRequests", ref: "requestId", noun: "withdrawal" },
  { table: "swaps", ref: "swapId", noun: "swap" }
] as const
type Ref = (typeof sources)[number]["ref"]

/**
 * The event that writes off this amount, micro-USDC, now. Withdrawals and swaps with ids from `behind` on are younger than the
 * write-off.
 */
export const writeOffNow = (turn: Turn, minor: bigint): CloseOutEvent => ({
  type: "WRITE_OFF",
  amount: formatAmount(minor, "USDC"),
  behind: { requestId: turn.nextId("withdrawal"), swapId: turn.nextId("swap") }
})

/**
 * True if an object is older than the episode's write-off, so that its money stands behind the write-off. Before a
 * write-off every object counts.
 */
const isBehind = (ref: Ref, id: number, { context: { behind } }: CloseOutRow): boolean =>
  behind === null || id < behind[ref]

/** True if a withdrawal of USDC stands behind an unrepaid write-off. The client may not withdraw its money then. */
export const standsBehind = (
  { id, currency }: { readonly id: number; readonly currency: string },
  episodes: ReadonlyArray<CloseOutRow>
): boolean =>
  currency === "USDC" && episodes.some((episode) => episode.unrepaid > 0n && isBehind("requestId", id, episode))

/** Money outside the cash that one object may bring back. */
export interface OutsideCash {
  readonly what: OutsideKind
  readonly id: number
  readonly state: string
  /** Micro-USDC. The amount of a swap includes its reward. */
  readonly amount: bigint
}

/**
 * The USDC outside the client's cash behind the episode's write-off. For a live episode, the USDC that would stand behind a
 * write-off.
 */
export const outsideCash = (state: SubjectState, episode: CloseOutRow): ReadonlyArray<OutsideCash> => {
  if (!isGoingOn(episode) && episode.unrepaid === 0n) return []
  const withdrawals = state
    .all("withdrawalRequests")
    .filter(({ id, currency }) => currency === "USDC" && isBehind("requestId", id, episode))
  const swaps = state.all("swaps").filter(({ id, currency }) => currency === "USDC" && isBehind("swapId", id, episode))
  return [
    ...withdrawals.map(({ id, state: now, amount }): OutsideCash => ({ what: "WITHDRAWAL", id, state: now, amount })),
    ...swaps.map((row): OutsideCash => ({ what: nounOf(row), id: row.id, state: row.state, amount: comesBack(row) }))
  ]
}

const nounOf = ({ state }: SwapRow): OutsideKind =>
  state === "ACCEPTING" ? "TAKE" : state === "DEFAULTED" ? "CLAIM" : "SWAP"

const comesBack = ({ state, context }: SwapRow): bigint =>
  state === "ACCEPTING"
    ? minorOf(context.hold, context.asset)
    : outstandingOf(termsOfSwap(context), progressOfSwap(context))

/** Money that one object has brought back to the client's cash in a turn, less its charges and its repayments so far. */
interface Returned {
  readonly ref: Ref
  readonly id: number
  readonly noun: string
  left: bigint
}

const returnedIn = ({ draft }: Turn): ReadonlyArray<Returned> => {
  const cash = new Map<number, bigint>()
  for (const { txId, currency, kind, clientId, amount } of draft.written("postings"))
    if (currency === "USDC" && kind === "cash" && clientId !== null) cash.set(txId, (cash.get(txId) ?? 0n) + amount)
  const found = new Map<string, Returned>()
  for (const { txId, refs } of draft.written("ledgerTransactions")) {
    for (const { ref, noun } of sources) {
      const id = refs[ref]
      if (typeof id !== "number") continue
      const each = found.get(`${noun} ${id}`) ?? { ref, id, noun, left: 0n }
      each.left += cash.get(txId) ?? 0n
      found.set(`${noun} ${id}`, each)
    }
  }
  return [...found.values()].filter(({ left }) => left > 0n)
}

/** Repays write-offs with the returned money that stands behind them. Calls `of` only if there is a repayment. */
export const repayWriteOffs = (turn: Turn, of: () => Instance): void => {
  const episodes = rowsInTurn(turn, "closeOuts").filter(({ unrepaid }) => unrepaid > 0n)
  if (episodes.length === 0) return
  const returned = returnedIn(turn)
  for (const episode of episodes.toSorted((one, other) => one.id - other.id)) {
    let row = episode
    for (const each of returned.filter(({ ref, id }) => isBehind(ref, id, episode))) {
      const minor = each.left < row.unrepaid ? each.left : row.unrepaid
      if (minor === 0n) continue
      const amount = formatAmount(minor, "USDC")
      const refs = { [each.ref]: each.id }
      const reason = `${amount} USDC of ${each.noun} ${each.id}`
      const next = advance(turn, "closeOuts", row, { type: "REPAY", amount, refs, reason }, { of: of() })
      if (next === null) throw new Error(`close-out ${row.id} refuses to be repaid`)
      row = next
      each.left -= minor
    }
  }
}
