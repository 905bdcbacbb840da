/**
 * Identifiers: positive integers that stay below 2^53 on the wire, the client uid derived from one, and the references that
 * partners choose (F31, A1-01, A1-18).
 */
import { Schema } from "effect"
import { idShape } from "./Text.ts"

/** An id on the wire: positive integer below 2^53. */
export const Id = Schema.Int.check(Schema.isGreaterThan(0)).annotate({ description: "Identifier" })
export type Id = typeof Id.Type

/**
 * The id of a path segment. Undefined when it can't name any object: not canonical decimal, or above all ids that this
 * service issues. Both count as an unknown object (404 4004).
 */
export const parseId = (segment: string): Id | undefined => {
  if (!idShape.test(segment)) return undefined
  const id = Number(segment)
  return Number.isSafeInteger(id) ? id : undefined
}

/** Client uid: partner's prefix, dash, client id padded to eight digits. */
export const clientUidOf = (prefix: string, clientId: Id): string => `${prefix}-${String(clientId).padStart(8, "0")}`

/** Client order id sent to the venue: prefix, dash, order id. */
export const clOrdIdOf = (prefix: string, orderId: Id): string => `${prefix}-${orderId}`
