/**
 * Compares the staking swaps of one client with the venue, and applies the differences in the client's turn. The venue
 * is the authority on acceptance, payments and ends, so the service applies those that it reports. A swap that only one
 * side has opens a break. Its amount is the surplus of the service over the venue, in micro-USDC at the last mark
 * (A2-103, D8).
 */
import { Effect } from "effect"
import { holdingMark, valueAt } from "../../../machines/market/holdingMark.ts"
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { minorOf } from "../../../machines/shared/Money.ts"
import { progressOfSwap, swapRef, termsOfSwap } from "../../../machines/swap/Swap.ts"
import { outstandingOf } from "../../../machines/swap/swapFigures.ts"
import type { VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import type { VenueSwap } from "../../../machines/venue/swapAtVenue.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import { swapMisfit } from "../../../machines/venueChecks/swapChecks.ts"
import { anyTime } from "../../../machines/venue/timeChecks.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SwapRow } from "../../tables/swap.ts"
import { swapHandler, type SwapParts } from "../trading/swap/swapEvents.ts"
import { misfitFound } from "../venue/misfits.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import type { VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"
import { type ComparedSides, comparisonOf, type NounDifference } from "./NounComparison.ts"

/** A client's swaps in the service and at the venue. */
export interface ComparedSwaps {
  readonly clientId: number
  /** Swaps in OPEN or DEFAULTED. */
  readonly swaps: ReadonlyArray<SwapRow>
  /** The venue's swaps that have not ended. */
  readonly theirs: ReadonlyArray<VenueSwap>
  /** The venue's lookup results for our other swaps, by ref. */
  readonly outcomes: ReadonlyMap<string, VenueOutcome>
}

type What =
  | { readonly is: "more"; readonly swapId: number; readonly theirs: VenueSwap }
  | { readonly is: "unknown"; readonly swapId: number }
  | { readonly is: "notHere"; readonly theirs: VenueSwap }

export type SwapDifference = NounDifference<What>

export const swapDifferences = ({
  clientId,
  swaps,
  theirs,
  outcomes
}: ComparedSwaps): ReadonlyArray<SwapDifference> => {
  const difference = (claim: string, what: What): SwapDifference => ({ claim: `differs:${clientId}:${claim}`, what })
  const byId = new Map(theirs.map((each) => [each.id, each]))
  const ours = new Set(swaps.map(({ contractId }) => contractId))
  const here = swaps.flatMap((row): ReadonlyArray<SwapDifference> => {
    const outcome = outcomes.get(swapRef(row.id))
    const venue = (row.contractId === null ? undefined : byId.get(row.contractId)) ?? outcome?.swap ?? null
    if (venue !== null) {
      // The turn that applies the difference checks times and listing again.
      const misfit = swapMisfit(venue, { swap: row.context, isListed: false, venueTime: anyTime })
      const progress = `${venue.payments.length}:${venue.corrections.length}:${venue.end ?? ""}`
      const claim = `swap:${row.id}:${misfit ?? progress}`
      const differs = misfit !== null || hasMore(row, venue)
      return differs ? [difference(claim, { is: "more", swapId: row.id, theirs: venue })] : []
    }
    return outcome === undefined ? [] : [difference(`swapUnknown:${row.id}`, { is: "unknown", swapId: row.id })]
  })
  const there = theirs
    .filter(({ id }) => !ours.has(id))
    .map((swap) => difference(`swapNotHere:${swap.id}`, { is: "notHere", theirs: swap }))
  return [...here, ...there]
}

/** Whether the venue reports payments, corrections or an end that are not booked. */
const hasMore = ({ state, context }: SwapRow, { payments, corrections, short, end }: VenueSwap): boolean =>
  context.contractId === 0 ||
  payments.some(({ id }) => context.payments.every((booked) => booked.id !== id)) ||
  corrections.some(({ id }) => !context.corrections.includes(id)) ||
  end !== null ||
  (short && state === "OPEN")

/** Applies the venue's progress, and opens breaks for other differences. Returns a sentence for each alarm. */
export const settleSwapDifferences = (
  turn: Turn,
  parts: SwapParts,
  differences: ReadonlyArray<SwapDifference>
): ReadonlyArray<string> => {
  const client = turn.state.one("clients")
  if (client === undefined) return []
  const whose = { clientId: client.id, partnerId: client.partnerId }
  return differences.flatMap(({ claim, what }) => {
    const alarm = what.is === "unknown" ? unknownAtVenue(turn, parts, what.swapId) : apply(turn, parts, what)
    if (alarm === null) return []
    turn.draft.claim(claim, client.id)
    if (alarm.more !== null) breakOfClient(turn, whose, alarm.more, alarm.sentence)
    return [alarm.sentence]
  })
}

interface Alarm {
  readonly sentence: string
  /** The surplus of the service over the venue, micro-USDC; 0: its value is not known. Null: the alarm opens no break. */
  readonly more: bigint | null
}

/** Applies the venue's report of a swap. Null: applied; otherwise the alarm. */
const apply = (turn: Turn, parts: SwapParts, what: Exclude<What, { readonly is: "unknown" }>): Alarm | null => {
  const { theirs: swap } = what
  const named = ownerOfRef(swap.ref)
  const id = what.is === "more" ? what.swapId : named?.owner === "swap" ? named.id : null
  const row = id === null ? null : parts.recall.row(turn, "swaps", id)
  // 0: staff confirmed the swap manually, so it has no venue id yet.
  const isOurs = row !== null && [null, 0, swap.id].includes(row.contractId)
  if (isOurs && id !== null) {
    const { ref } = swap
    const verdict = swapHandler(parts).verdict(turn, { id, ref, at: turn.now, swap })
    if (verdict !== null) {
      const sentence = misfitFound(turn, ref, verdict, swap)
      return sentence === null ? null : { sentence, more: null }
    }
    const fact = { type: "swap", account: swap.account, sequence: 0, swap } as const
    swapHandler(parts).reported(turn, { id, at: turn.now, fact })
    return null
  }
  const sentence = `The venue has swap ${swap.id} of ${swap.notional} in ${swap.symbol} open and the service has not.`
  const asset = swap.symbol.slice(0, swap.symbol.indexOf("-"))
  return { sentence, more: isCurrency(asset) ? -worthOf(turn, asset, minorOf(swap.notional, asset)) : 0n }
}

/** The alarm for a swap that the venue does not know; null: the swap has ended since the pass. */
const unknownAtVenue = (turn: Turn, { recall }: SwapParts, swapId: number): Alarm | null => {
  const row = recall.row(turn, "swaps", swapId)
  if (row === null || (row.state !== "OPEN" && row.state !== "DEFAULTED")) return null
  const { partnerId, clientId, state, context } = row
  const sentence = `The venue does not know swap ${row.id}, which is ${state} here.`
  applyEffects(turn, { partnerId, clientId, object: `swap:${row.id}` }, [
    { type: "audit", action: "swap.unknownAtVenue", before: state, after: state, reason: sentence }
  ])
  const outstanding = outstandingOf(termsOfSwap(context), progressOfSwap(context))
  return { sentence, more: worthOf(turn, context.asset, outstanding) }
}

const worthOf = (turn: Turn, asset: Currency, amount: bigint): bigint => {
  const mark = holdingMark(asset, turn.facts)
  return mark === null ? 0n : valueAt(asset, amount, mark)
}

/** The most swaps of a client in one state that are compared, newest first. */
const mostRows = 2_000

/** Reads the swaps of a client from stored rows and from the venue. Takes no turn. */
export const swapsOf = (
  { stored, venue }: ComparedSides,
  { id }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<ComparedSwaps, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const inState = (value: string) =>
      stored.page(
        "swaps",
        [
          { column: "client_id", value: id },
          { column: "state", value }
        ],
        { limit: mostRows }
      )
    const swaps = [...(yield* inState("OPEN")), ...(yield* inState("DEFAULTED"))]
    const theirs = (account?.swaps ?? []).filter(({ end }) => end === null)
    const there = new Set(theirs.map((each) => each.id))
    const missing = swaps.filter(({ contractId }) => contractId === null || !there.has(contractId))
    const refs = missing.map((swap) => swapRef(swap.id))
    const found = refs.length === 0 ? [] : yield* venue.lookup(refs)
    return { clientId: id, swaps, theirs, outcomes: new Map(found.map((each) => [each.ref, each])) }
  })

export const swapComparison = comparisonOf<What>({
  find: (sides, client, account) => Effect.map(swapsOf(sides, client, account), swapDifferences),
  settle: settleSwapDifferences
})
