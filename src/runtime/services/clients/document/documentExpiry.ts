/**
 * Expires verification blocks with the identity document that they depend on. A durable timer fires on the first UTC
 * day after the last day of the document, and the block's machine decides (D3).
 */
import type { BlockCode } from "../../../../machines/verification/Blocks.ts"
import { utcDateAt } from "../../../../machines/shared/CalendarDate.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { keyOf } from "../../../tables/Catalogue.ts"
import type { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { instanceOf } from "../../account/clientState.ts"
import { advance } from "../../../effects/advance.ts"

const dayMillis = 86_400_000

/** The timer at the client that expires each block. */
export const expiryTimers = { IDENTIFICATION: "identification.expiry", IDENTITY_CHECK: "identityCheck.expiry" } as const

/** Sets the timer for a block's new document, replacing an earlier one; date YYYY-MM-DD, null when none was given. */
export const setExpiryTimer = (turn: Turn, code: keyof typeof expiryTimers, date: string | null): void => {
  const name = expiryTimers[code]
  applyEffects(turn, { partnerId: null, clientId: null }, [
    date === null
      ? { type: "timer.clear", name }
      : { type: "timer.set", name, at: Date.parse(`${date}T00:00:00Z`) + dayMillis }
  ])
}

/** The timers' handlers by name; they run in the client's mailbox. */
export const expiryHandlers = (directory: Directory["Service"]) => {
  const handler =
    (code: BlockCode): TimerHandler =>
    (turn, dueAt) =>
      expire(turn, code, dueAt, directory)
  return {
    [expiryTimers.IDENTIFICATION]: handler("IDENTIFICATION"),
    [expiryTimers.IDENTITY_CHECK]: handler("IDENTITY_CHECK")
  }
}

const expire = (turn: Turn, code: BlockCode, dueAt: number, directory: Directory["Service"]): void => {
  const client = turn.state.one("clients")
  const partner = client === undefined ? null : partnerOfTurn(turn, directory, client)
  const row =
    client === undefined
      ? undefined
      : turn.state.get("verificationBlocks", keyOf("verificationBlocks", { clientId: client.id, code }))
  if (client === undefined || partner === null || row === undefined) return
  // A document submitted since the timer became due has a later last day. This firing belongs to the earlier document.
  if ((row.context.updatedAt ?? 0) >= dueAt) return
  // A person refused for good has already received the final notice; a closed account receives none (A1-48).
  const ended = client.state === "KYC_REJECTED" || client.state === "CLOSED"
  advance(
    turn,
    "verificationBlocks",
    row,
    { type: "EXPIRE", at: turn.now, expiresOn: utcDateAt(dueAt - dayMillis), today: utcDateAt(turn.now) },
    { of: instanceOf(client, partner), without: ended ? ["notify"] : [] }
  )
}
