/**
 * What opens the atlas: a link for two minutes, then a cookie for a working day. Both are signed texts that name an operator
 * key by its number and end by the wall clock; the key itself is in neither. They open nothing but the atlas, and end with the
 * key: whoever shows one is looked up among the live keys.
 */
import { timingSafeEqual } from "node:crypto"
import type { Sealing } from "../../../runtime/engine/sealing/Sealing.ts"

export type TicketUse = "link" | "session"

export const ticketMillis: Readonly<Record<TicketUse, number>> = { link: 120_000, session: 8 * 3_600_000 }

const signatureOf = (sealing: Sealing, use: TicketUse, body: string): string =>
  sealing.fingerprint(`atlas ${use} ${body}`)

/** A ticket of the key until the time (Unix ms, wall). */
export const makeTicket = (sealing: Sealing, use: TicketUse, keyId: number, until: number): string => {
  const body = `${keyId}.${until}`
  return `${body}.${signatureOf(sealing, use, body)}`
}

/** The key that a ticket names; null: not signed for this use, or over. */
export const keyOfTicket = (sealing: Sealing, use: TicketUse, ticket: string, now: number): number | null => {
  const [, keyId = "", until = "", signature = ""] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{64})$/.exec(ticket) ?? []
  if (signature === "") return null
  const expected = signatureOf(sealing, use, `${keyId}.${until}`)
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return null
  return now < Number(until) ? Number(keyId) : null
}
