/**
 * Objects of which the venue says something that does not fit what was asked for, in their client's turn (A2-115): none of it is
 * booked and what is held stays, the object is read again with growing pauses, and if every answer is like it a break pauses the
 * client's money.
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

/** Before an object is read again, ms: as many answers as there are pauses. */
const pauses = [1_000, 2_000, 4_000, 8_000, 16_000]
/** Where a reading brings no answer, or the process dies at it, it is made once more after this time, ms. */
const unreadAfter = 30_000

/** What quarantine says of it. */
export const misfitReason = (reason: string): string => `it does not fit what was asked for: ${reason}`

/** What does not fit of an object now, by the ref that names it; undefined: nothing. */
export const misfitOf = (turn: Turn, ref: string): VenueMisfitRow | undefined =>
  rowsInTurn(turn, "venueMisfits").find((row) => row.live && row.ref === ref)

interface Found {
  readonly ref: string
  readonly misfit: Misfit
  /** What was said; null: its event is set aside by itself. */
  readonly bytes: unknown
  /** The object was read for it. */
  readonly isRead: boolean
}

/** Keeps that something does not fit, and has the object read again. */
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
    // A break of nothing would pause nothing.
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

/** As `noteMisfit`, of what the comparison with the venue has read; in a sentence. */
export const sayMisfit = (turn: Turn, ref: string, misfit: Misfit, bytes: object): string => {
  noteMisfit(turn, { ref, misfit, bytes, isRead: true })
  return misfitSentence({ ref, reason: misfit.reason })
}

/** What does not fit, for people. */
export const misfitSentence = ({ ref, reason }: Pick<VenueMisfitRow, "ref" | "reason">): string =>
  `What the venue says of ${objectOf(ref)} does not fit what was asked for: ${reason}.`

/** The venue's answer fits: nothing is left to read. A break stays with staff. */
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

/** The timer of an object that is to be read again. */
export const misfitTimers = (reads: MisfitReads["Service"]) =>
  ({
    "venue.misfit": (turn, _dueAt, id) => {
      const row = rowsInTurn(turn, "venueMisfits").find((each) => each.id === Number(id))
      if (row === undefined || !row.live || row.breakId !== null) return
      reads.want({ clientId: row.clientId, ref: row.ref })
      setTimer(turn, row, unreadAfter)
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>
