/**
 * Tickets for the atlas: a link valid for two minutes, then a cookie for a working day. Both are signed texts with the number
 * of an operator key and an expiry by the wall clock, but without the key. They admit only to the atlas and end with the key:
 * each use checks that the key is live.
 */
import { timingSafeEqual } from "node:crypto"
import type { Sealing } from "../../../runtime/engine/sealing/Sealing.ts"

export type TicketUse = "link" | "session"

export const ticketMillis: Readonly<Record<TicketUse, number>> = { link: 120_000, session: 8 * 3_600_000 }

const signatureOf = (sealing: Sealing, use: TicketUse, body: string): string =>
  sealing.fingerprint(`atlas ${use} ${body}`)

/** A ticket for the key that expires at `until` (Unix ms, wall). */
export const makeTicket = (sealing: Sealing, use: TicketUse, keyId: number, until: number): string => {
  const body = `${keyId}.${until}`
  return `${body}.${signatureOf(sealing, use, body)}`
}

/** The key of a ticket. Null when the ticket is not signed for this use, or has expired. */
export const keyOfTicket = (sealing: Sealing, use: TicketUse, ticket: string, now: number): number | null => {
  const [, keyId = "", until = "", signature = ""] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{64})$/.exec(ticket) ?? []
  if (signature === "") return null
  const expected = signatureOf(sealing, use, `${keyId}.${until}`)
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return null
  return now < Number(until) ? Number(keyId) : null
}
