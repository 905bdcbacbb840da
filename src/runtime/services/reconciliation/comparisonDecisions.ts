/**
 * Compares the contracts and requests of one client with the venue, and applies the differences in the client's turn.
 * The service applies ends that the venue reports, and opens the venue's contracts that answer our requests. Every
 * other difference opens a break, which staff close. The amount of a break is the surplus of the service over the
 * venue, in micro-USDC (A2-22, A2-103, D4, D5, F15).
 */
import { Effect } from "effect"
import { figuresAt } from "../../../machines/contract/contractFigures.ts"
import { acceptRef, requestRef } from "../../../machines/rfq/Rfq.ts"
import type { VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import { openContractMisfit } from "../../../machines/venueChecks/contractChecks.ts"
import type { VenueAccount, VenueContract, VenueRfq } from "../../../machines/venue/venueObjects.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ContractRow } from "../../tables/contract.ts"
import type { RfqRow } from "../../tables/rfq.ts"
import { contractInTurn, endOf, unknownAtVenue } from "../trading/contract/contractDecisions.ts"
import { openContracts } from "../account/contractHoldings.ts"
import { rfqInTurn } from "../trading/rfq/rfqDecisions.ts"
import { ownedTurn } from "../account/ownedTurn.ts"
import { endKnown, type EventParts, rfqHandler } from "../trading/rfq/rfqEvents.ts"
import { misfitFound } from "../venue/misfits.ts"
import type { ObjectReport } from "../venue/VenueHandler.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"

/** The open contracts and requests of a client: the service's rows, and the venue's reports. */
export interface Compared {
  readonly clientId: number
  readonly contracts: ReadonlyArray<ContractRow>
  /** The open requests that the venue has confirmed. */
  readonly requests: ReadonlyArray<RfqRow>
  /** The contracts that are open at the venue. */
  readonly theirs: ReadonlyArray<VenueContract>
  /** The venue's lookup results by ref: of the requests, and of our contracts that are not open at the venue. */
  readonly outcomes: ReadonlyMap<string, VenueOutcome>
}

type What =
  | { readonly is: "ended"; readonly contractId: number; readonly theirs: VenueContract }
  | { readonly is: "unknown"; readonly contractId: number }
  | {
      readonly is: "otherTerms"
      readonly contractId: number
      readonly theirs: VenueContract
      readonly misfit: string
    }
  | { readonly is: "notHere"; readonly theirs: VenueContract }
  | { readonly is: "requestEnded"; readonly rfqId: number; readonly theirs: VenueRfq }
  | { readonly is: "requestUnknown"; readonly rfqId: number }

export interface Difference {
  /** The name of the claim by which a difference raises only one alarm. */
  readonly claim: string
  readonly what: What
}

export const differencesOf = ({
  clientId,
  contracts,
  requests,
  theirs,
  outcomes
}: Compared): ReadonlyArray<Difference> => {
  const difference = (claim: string, what: What): Difference => ({ claim: `differs:${clientId}:${claim}`, what })
  const byId = new Map(theirs.map((each) => [each.id, each]))
  // A contract that staff opened by hand has no venue id, so it is found by the ref of its accept.
  const byRef = new Map(theirs.map((each) => [each.ref, each]))
  const ours = new Set<number>()
  const found: Array<Difference> = []
  for (const { id, rfqId, context } of contracts) {
    const ref = acceptRef(rfqId, context.quoteId)
    const venue = byId.get(context.venueContractId) ?? byRef.get(ref)
    if (venue !== undefined) {
      ours.add(venue.id)
      const misfit = openContractMisfit(venue, context)
      if (misfit === null) continue
      found.push(difference(`terms:${id}:${misfit}`, { is: "otherTerms", contractId: id, theirs: venue, misfit }))
      continue
    }
    const outcome = outcomes.get(ref)
    if (outcome === undefined) continue
    const shown = outcome.contract
    if (shown === null) found.push(difference(`unknown:${id}`, { is: "unknown", contractId: id }))
    else if (endOf(shown) !== null)
      found.push(difference(`ended:${id}`, { is: "ended", contractId: id, theirs: shown }))
  }
  for (const contract of theirs) {
    if (ours.has(contract.id)) continue
    found.push(difference(`notHere:${contract.id}`, { is: "notHere", theirs: contract }))
  }
  for (const { id } of requests) {
    const outcome = outcomes.get(requestRef(id))
    if (outcome === undefined) continue
    const shown = outcome.rfq
    if (shown === null) found.push(difference(`request:${id}`, { is: "requestUnknown", rfqId: id }))
    else if (shown.state !== "OPEN" && shown.state !== "ACCEPTED")
      found.push(difference(`requestEnded:${id}`, { is: "requestEnded", rfqId: id, theirs: shown }))
  }
  return found
}

/** Applies the venue's ends and openings, and opens breaks for other differences. Returns a sentence for each alarm. */
export const settleDifferences = (
  turn: Turn,
  parts: EventParts,
  differences: ReadonlyArray<Difference>
): ReadonlyArray<string> =>
  differences.flatMap(({ claim, what }) => {
    const sentence = settle(turn, parts, what)
    if (sentence === null) return []
    turn.draft.claim(claim, clientOf(turn).clientId)
    return [sentence]
  })

/** Settles one difference. Returns a sentence for staff; null: the difference was applied, or no longer exists. */
const settle = (turn: Turn, parts: EventParts, what: What): string | null => {
  switch (what.is) {
    case "notHere":
      return notHere(turn, parts, what.theirs)
    case "requestEnded": {
      const row = rfqInTurn(turn, what.rfqId)
      if (row !== undefined) {
        const misfit = misfitWith(turn, parts, { id: row.id, ref: what.theirs.ref, rfq: what.theirs })
        if (misfit !== null) return misfit.sentence
        const { account } = row.context
        const fact = { type: "rfq", account, sequence: 0, rfq: what.theirs } as const
        rfqHandler(parts).reported(turn, { id: row.id, at: turn.now, fact })
      }
      return null
    }
    case "requestUnknown": {
      const row = rfqInTurn(turn, what.rfqId)
      if (row === undefined || row.state !== "OPEN") return null
      const reason = `The venue does not know request ${row.id}, which is open here.`
      const { partnerId, clientId, state } = row
      const action = "rfq.unknownAtVenue"
      applyEffects(turn, { partnerId, clientId, object: `rfq:${row.id}` }, [
        { type: "audit", action, before: state, after: state, reason }
      ])
      return reason
    }
    default:
      return ofContract(turn, parts, what)
  }
}

const ofContract = (
  turn: Turn,
  parts: EventParts,
  what: Extract<What, { readonly is: "ended" | "unknown" | "otherTerms" }>
): string | null => {
  const row = contractInTurn(turn, what.contractId)
  if (row === undefined || row.state !== "OPEN") return null
  if (what.is === "ended") {
    const misfit = misfitWith(turn, parts, { id: row.rfqId, ref: what.theirs.ref, contract: what.theirs })
    if (misfit !== null) return misfit.sentence
    const end = endOf(what.theirs)
    if (end !== null) endKnown(ownedTurn(turn, parts), row, end)
    return null
  }
  if (what.is === "unknown") {
    unknownAtVenue(turn, row)
    return `The venue does not know contract ${row.id}, which is open here.`
  }
  const reason = `Contract ${row.id} differs at the venue: ${what.misfit}.`
  const more = row.amount - premiumOf(what.theirs)
  // The premium is equal but other terms differ, so the whole premium counts as the amount of the break.
  breakOfClient(turn, row, more === 0n ? row.amount : more, reason)
  return reason
}

/** Adopts a contract that is open only at the venue if it belongs to a request of ours; otherwise opens a break. */
const notHere = (turn: Turn, parts: EventParts, contract: VenueContract): string | null => {
  if (openContracts(turn).some(({ context }) => context.venueContractId === contract.id)) return null
  const named = ownerOfRef(contract.ref)
  const request = named?.owner === "rfq" ? parts.recall.row(turn, "rfqs", named.id) : null
  if (request !== null && request.context.contractId === null) {
    const misfit = misfitWith(turn, parts, { id: request.id, ref: contract.ref, contract })
    if (misfit !== null) return misfit.sentence
    const { account } = request.context
    const fact = { type: "contract", account, sequence: 0, contract } as const
    if (rfqHandler(parts).reported(turn, { id: request.id, at: turn.now, fact })) return null
  }
  const ended = request === null ? "" : `, as contract ${request.context.contractId} ended,`
  const reason = `The venue has contract ${contract.id} of ${contract.qty} ${contract.symbol} open${ended} and the service has not.`
  breakOfClient(turn, clientOf(turn), -premiumOf(contract), reason)
  return reason
}

/** The reason why the venue's report of a request or of its contract does not fit the request; null: it fits. */
const misfitWith = (
  turn: Turn,
  parts: EventParts,
  report: Omit<ObjectReport, "at">
): { readonly sentence: string | null } | null => {
  const verdict = rfqHandler(parts).verdict(turn, { ...report, at: turn.now })
  return verdict === null ? null : { sentence: misfitFound(turn, report.ref, verdict, report) }
}

/** The premium of a contract with the terms that the venue reports, micro-USDC. */
const premiumOf = ({ side, qty, entry, barrier, takeProfit, premiumBps }: VenueContract): bigint =>
  figuresAt({ side, qty, price: entry, barrier, takeProfit, premiumBps, commissionBps: 0 }).premium

const clientOf = (turn: Turn): { readonly clientId: number; readonly partnerId: number } => {
  const client = turn.state.one("clients")
  if (client === undefined) throw new Error(`${turn.state.subject} has no client`)
  return { clientId: client.id, partnerId: client.partnerId }
}

/** Limit on the open rows that are read. It is above what a client may have: 1,000 contracts and 50 requests. */
const openAtMost = 2_000

interface Sources {
  readonly stored: RowReads["Service"]
  readonly venue: Venue["Service"]
}

/** Reads the open contracts and requests of a client from stored rows and from the venue. Takes no turn. */
export const contractsOf = (
  { stored, venue }: Sources,
  { id }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<Compared, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const open = <T extends "barrierContracts" | "rfqs">(table: T) =>
      stored.page(
        table,
        [
          { column: "client_id", value: id },
          { column: "state", value: "OPEN" }
        ],
        { limit: openAtMost }
      )
    const contracts = yield* open("barrierContracts")
    const requests = (yield* open("rfqs")).filter(({ context }) => context.venueRfqId !== null)
    const theirs = (account?.contracts ?? []).filter(({ state }) => state === "OPEN")
    const there = new Set(theirs.map((each) => each.id))
    const missing = contracts.filter(({ context }) => !there.has(context.venueContractId))
    const refs = [
      ...missing.map(({ rfqId, context }) => acceptRef(rfqId, context.quoteId)),
      ...requests.map((request) => requestRef(request.id))
    ]
    const outcomes = new Map((refs.length === 0 ? [] : yield* venue.lookup(refs)).map((each) => [each.ref, each]))
    return { clientId: id, contracts, requests, theirs, outcomes }
  })
