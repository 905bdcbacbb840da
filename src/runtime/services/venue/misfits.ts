/**
 * Misfits: objects whose report by the venue does not fit the service's calls. In the client's turn, nothing of the report is
 * booked, and holds stay. The object is read again with growing pauses. If no answer fits, a break pauses the client's money
 * (A2-115).
 */
import type { TimerName } from "../../../machines/timerNames.ts"
import { ownerOfRef, type VenueOwner } from "../../../machines/venue/venueRefs.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn, rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { TimerHandler } from "../../engine/timers/Timers.ts"
import type { VenueMisfitRow } from "../../store/tables/venue.ts"
import { breakOfClient } from "../reconciliation/clientBreaks.ts"
import type { MisfitReads } from "./MisfitReads.ts"
import { putAside, type SetAside } from "./venueQuarantine.ts"
import type { Misfit } from "./verdict.ts"

/** The pauses before an object is read again, ms. Their number is the number of answers that must not fit before the break. */
const pauses = [1_000, 2_000, 4_000, 8_000, 16_000]
/** A read without an answer, or lost with its process, is repeated after this time, ms. */
const unreadAfter = 30_000

/** The reason that quarantine records. */
export const misfitReason = (reason: string): string => `it does not fit the request: ${reason}`

/** The open misfit of the object with this ref. Undefined: none. */
export const misfitOf = (turn: Turn, ref: string): VenueMisfitRow | undefined =>
  rowsInTurn(turn, "venueMisfits").find((row) => row.live && row.ref === ref)

interface Found {
  readonly ref: string
  readonly misfit: Misfit
  /** The report of the venue. Null: its event is set aside elsewhere. */
  readonly bytes: unknown
  /** The report is the answer to a read of this object. */
  readonly isRead: boolean
}

/** Records a misfit and schedules a read of the object. */
export const noteMisfit = (turn: Turn, { ref, misfit, bytes, isRead }: Found): void => {
  const client = oneInTurn(turn, "clients")
  if (client === undefined) throw new Error(`${turn.state.subject} has no client`)
  const before = misfitOf(turn, ref)
  const { reason } = misfit
  if (bytes !== null && before?.reason !== reason) {
    const aside: SetAside = {
      bytes: JSON.stringify(bytes),
      reason: misfitReason(reason),
      number: null,
      account: client.uid
    }
    putAside(turn, aside, { partnerId: client.partnerId, clientId: client.id })
  }
  if (before === undefined) {
    const row = { id: turn.nextId("venueMisfit"), partnerId: client.partnerId, clientId: client.id, at: turn.now }
    // A break of zero would pause nothing.
    const worth = misfit.worth === 0n ? 1n : misfit.worth
    put(turn, { ...row, ref, reason, worth, reads: 0, breakId: null, live: true }, "venue.misfit")
    return
  }
  if (!isRead || before.breakId !== null) return
  const reads = before.reads + 1
  if (reads < pauses.length) return put(turn, { ...before, reason, reads }, null)
  const breakId = breakOfClient(turn, before, before.worth, misfitSentence({ ref, reason }))
  put(turn, { ...before, reason, reads, breakId }, "venue.misfitStands")
}

/** As `noteMisfit`, for a report that the comparison with the venue has read. Returns a sentence. */
export const sayMisfit = (turn: Turn, ref: string, misfit: Misfit, bytes: object): string => {
  noteMisfit(turn, { ref, misfit, bytes, isRead: true })
  return misfitSentence({ ref, reason: misfit.reason })
}

/** The misfit in a sentence, for people. */
export const misfitSentence = ({ ref, reason }: Pick<VenueMisfitRow, "ref" | "reason">): string =>
  `The venue's report of ${objectOf(ref)} does not fit the request: ${reason}.`

/** Ends the misfit, because the venue's answer fits. An open break stays with staff. */
export const endMisfit = (turn: Turn, ref: string): void => {
  const row = misfitOf(turn, ref)
  if (row !== undefined) put(turn, { ...row, live: false }, "venue.misfitEnded")
}

const put = (turn: Turn, row: VenueMisfitRow, action: string | null): void => {
  turn.draft.put("venueMisfits", row)
  const { reads, breakId, live, partnerId, clientId, ref, reason } = row
  const pause = pauses[reads]
  if (live && breakId === null && pause !== undefined) setTimer(turn, row, pause)
  else turn.draft.clearTimer(turn.state.subject, timerOf(row))
  if (action === null) return
  applyEffects(turn, { partnerId, clientId, object: objectOf(ref) }, [
    { type: "audit", action, before: null, after: null, reason }
  ])
}

const objectOf = (ref: string): `${VenueOwner}:${number}` => {
  const owner = ownerOfRef(ref)
  if (owner === null) throw new Error(`${ref} is no ref of ours`)
  return `${owner.owner}:${owner.id}`
}

const timerOf = ({ id }: Pick<VenueMisfitRow, "id">): TimerName => `venue.misfit:${id}`

const setTimer = (turn: Turn, row: VenueMisfitRow, after: number): void =>
  turn.draft.put("timers", { subject: turn.state.subject, name: timerOf(row), dueAt: turn.now + after })

/** The timer that schedules the next read of an object. */
export const misfitTimers = (reads: MisfitReads["Service"]) =>
  ({
    "venue.misfit": (turn, _dueAt, id) => {
      const row = rowsInTurn(turn, "venueMisfits").find((each) => each.id === Number(id))
      if (row === undefined || !row.live || row.breakId !== null) return
      reads.want({ clientId: row.clientId, ref: row.ref })
      setTimer(turn, row, unreadAfter)
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>
