/**
 * Misfits in the client's turn: objects whose report by the venue does not fit our request. Nothing of such a report is
 * booked, and holds stay. The machine of the misfit decides when its object is read again, and when the misfit stands
 * (A2-115).
 */
import { isDeepStrictEqual } from "node:util"
import type { KeptMarket } from "../../../machines/venueChecks/VenueMisfit.ts"
import { objectOfRef } from "../../../machines/venue/venueRefs.ts"
import { advance, start } from "../../effects/advance.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { oneInTurn, rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { TimerHandler } from "../../engine/timers/Timers.ts"
import type { VenueMisfitRow } from "../../tables/venue.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import { isOfObjects, nothingKept, withMarket } from "./keptMarks.ts"
import type { MisfitReads } from "./MisfitReads.ts"
import { putQuarantined, type QuarantineEntry } from "./venueQuarantine.ts"
import type { Misfit } from "./verdict.ts"

/** The reason that the quarantine stores for a report that does not fit. */
export const misfitReason = (reason: string): string => `it does not fit the request: ${reason}`

/** The open misfit of the object with this ref; undefined if there is none. */
export const misfitOf = (turn: Turn, ref: string): VenueMisfitRow | undefined =>
  rowsInTurn(turn, "venueMisfits").find((row) => row.state !== "ENDED" && row.ref === ref)

interface Found {
  readonly ref: string
  readonly misfit: Misfit
  /** The venue's report as the quarantine stores it; null for an event, whose text is stored anyway. */
  readonly bytes: unknown
}

/** Begins a misfit. For an open misfit it counts an answer that does not fit; the last counted answer opens the break. */
export const noteMisfit = (turn: Turn, { ref, misfit, bytes }: Found): void => {
  const client = oneInTurn(turn, "clients")
  if (client === undefined) throw new Error(`${turn.state.subject} has no client`)
  const whose = { partnerId: client.partnerId, clientId: client.id }
  const before = misfitOf(turn, ref)
  const { reason, market = nothingKept } = misfit
  const quarantineBytes = (): void => {
    if (bytes === null) return
    const aside: QuarantineEntry = {
      bytes: JSON.stringify(bytes),
      reason: misfitReason(reason),
      number: null,
      account: client.uid
    }
    putQuarantined(turn, aside, whose)
  }
  if (before?.state === "STANDING") return void withMarks(turn, before, market)
  const isNew = before?.context.reason !== reason
  // A report that a later mark may explain is not quarantined before the misfit stands.
  if (isNew && !misfit.isEarly) quarantineBytes()
  if (before === undefined) {
    const id = turn.nextId("venueMisfit")
    // A break pauses money only if its amount is not zero, so a misfit without a value counts as one micro-USDC.
    const worth = misfit.worth === 0n ? 1n : misfit.worth
    start(turn, "venueMisfits", {
      input: { misfitId: id, ref, reason, at: turn.now },
      columns: { id, ...whose, worth, at: turn.now, breakId: null, market, contractId: misfit.contractId ?? null }
    })
    return
  }
  if (countUnfit(turn, withMarks(turn, before, market), reason) && misfit.isEarly) quarantineBytes()
}

/** Adds the marks by which a further report of the object was checked. */
const withMarks = (turn: Turn, row: VenueMisfitRow, market: KeptMarket): VenueMisfitRow => {
  const kept = { ...row, market: withMarket(row.market, market) }
  if (isDeepStrictEqual(kept.market, row.market)) return row
  turn.draft.put("venueMisfits", kept)
  return kept
}

/** Counts an answer that does not fit. True if it was the last permitted one: a break now pauses the client's money. */
const countUnfit = (turn: Turn, before: VenueMisfitRow, reason: string): boolean => {
  // Only the answer to a read that the misfit requested counts. Any other misfit report changes the row only if it gives a
  // new reason.
  if (!before.context.isAwaited && before.context.reason === reason) return false
  const now = advance(turn, "venueMisfits", before, { type: "UNFIT", at: turn.now, reason })
  if (now?.state !== "STANDING") return false
  const breakId = breakOfClient(turn, now, now.worth, misfitSentence(now))
  turn.draft.put("venueMisfits", { ...now, breakId })
  return true
}

/** Counts the answer that the venue does not know the object with this ref. */
export const misfitUnknown = (turn: Turn, ref: string): void => {
  const row = misfitOf(turn, ref)
  if (row !== undefined) countUnfit(turn, row, "the venue does not know it any more")
}

/**
 * The same as `noteMisfit`, for a report that the comparison has read. Returns the sentence for staff; null if a later mark
 * may still explain the report.
 */
export const misfitFound = (turn: Turn, ref: string, misfit: Misfit, bytes: object): string | null => {
  noteMisfit(turn, { ref, misfit, bytes })
  return misfit.isEarly ? null : sentenceOf(ref, misfit.reason)
}

/** The sentence that names the object and the misfit, for staff. */
export const misfitSentence = ({ ref, context: { reason } }: Pick<VenueMisfitRow, "ref" | "context">): string =>
  sentenceOf(ref, reason)

const sentenceOf = (ref: string, reason: string): string =>
  `The venue's report of ${objectOfRef(ref)} does not fit the request: ${reason}.`

/** The first standing misfit of one of these objects (KIND:ID); undefined if none stands. */
export const standingMisfit = (state: SubjectState, objects: ReadonlyArray<string>): VenueMisfitRow | undefined =>
  state.all("venueMisfits").find((row) => row.state === "STANDING" && isOfObjects(row, objects))

/** Ends the misfits of these objects, because staff have resolved them. Open breaks stay with staff. */
export const endMisfits = (turn: Turn, objects: ReadonlyArray<string>): void => {
  for (const row of rowsInTurn(turn, "venueMisfits")) if (isOfObjects(row, objects)) endMisfit(turn, row.ref)
}

/** Ends the misfit of an object, because the venue's answer fits. An open break stays with staff. */
export const endMisfit = (turn: Turn, ref: string): void => {
  const row = misfitOf(turn, ref)
  if (row !== undefined) advance(turn, "venueMisfits", row, { type: "FIT" })
}

/** The timer that requests the next read of an object. */
export const misfitTimers = (reads: MisfitReads["Service"]) =>
  ({
    "venue.misfit": (turn, _dueAt, id) => {
      const row = rowsInTurn(turn, "venueMisfits").find((each) => each.id === Number(id))
      if (row === undefined || advance(turn, "venueMisfits", row, { type: "READ", at: turn.now }) === null) return
      reads.want({ clientId: row.clientId, ref: row.ref })
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>
