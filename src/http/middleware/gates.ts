// The gates before a body is read, as synchronous functions over live views, in the one order the contract promises
// (A1-02): the array below is that order. An unauthorised caller learns nothing about routes.
import { hash } from "node:crypto"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import type { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import { partnerAttribution } from "../../runtime/services/partner/Caller.ts"
import type { Directory } from "../../runtime/services/partner/Directory.ts"
import type { KeyUsage } from "../../runtime/services/partner/KeyUsage.ts"
import { gateRefusals, type WireRefusal } from "../toWire.ts"
import type { Exchange } from "./Exchange.ts"
import { isIdempotencyKey } from "./idempotency.ts"
import type { RateWindows } from "./RateWindows.ts"
import { declaredLength } from "./readBody.ts"
import { matchRoute } from "./routes.ts"
import { admits, sourceAddress } from "./sourceAddress.ts"

export interface GateServices {
  readonly directory: Pick<Directory["Service"], "credential">
  readonly usage: Pick<KeyUsage["Service"], "touch">
  readonly business: Pick<BusinessClock["Service"], "now">
  readonly rates: RateWindows
  /** Addresses and ranges of the operator's own edge hosts. */
  readonly edgeHosts: ReadonlyArray<string>
}

type Gate = (exchange: Exchange, services: GateServices) => WireRefusal | null

const verbs = new Set(["GET", "HEAD", "POST", "PUT", "DELETE"])

/** Gate 0: any other verb is an unknown route (doc 1, Authentication: HEAD). */
export const verbGate = (method: string | undefined): WireRefusal | null =>
  verbs.has(method ?? "") ? null : gateRefusals.verb

/** Gate 1: a declared length over the edge cap is refused before reading. */
export const edgeCapGate = (length: number | null): WireRefusal | null =>
  length !== null && length > bodyCaps.edge ? gateRefusals.edgeCap : null

/** The longest key anybody is issued is far shorter; longer ones are not worth a hash. */
const keyMaxLength = 256

/**
 * Authorization: Bearer pbk_... wins; X-Partner-Key is read when that is absent or no partner key (A1-07). The key is
 * what follows, byte for byte: Node has taken the white space off that ends a header (RFC 9110, 5.5).
 */
const presentedKey = (exchange: Exchange): string | null => {
  const { authorization = "", "x-partner-key": own } = exchange.request.headers
  const scheme = /^bearer +/i.exec(authorization)
  const credential = scheme === null ? "" : authorization.slice(scheme[0].length)
  if (credential.startsWith("pbk_")) return credential
  return typeof own === "string" && own.startsWith("pbk_") ? own : null
}

const keyGate: Gate = (exchange, { directory, usage, business, edgeHosts }) => {
  const key = presentedKey(exchange)
  if (key === null || key.length > keyMaxLength) return gateRefusals.unauthorized
  const found = directory.credential(hash("sha256", key, "hex"))
  if (found === null) return gateRefusals.unauthorized
  const cidrs = found.partner.row.allowedCidrs
  if (cidrs.length > 0) {
    const { headers, socket } = exchange.request
    const source = sourceAddress(socket.remoteAddress, headers["x-forwarded-for"], edgeHosts)
    if (!admits(cidrs, source)) return gateRefusals.unauthorized
  }
  exchange.caller = { ...found, by: partnerAttribution(found.partner, found.key, exchange.requestId) }
  exchange.lastUsedAt = usage.touch(found.key.id, business.now())
  return null
}

const suspendedGate: Gate = ({ caller }) => (caller?.partner.row.state === "SUSPENDED" ? gateRefusals.suspended : null)

const rateGate: Gate = (exchange, { rates }) => {
  const row = exchange.caller?.partner.row
  if (row === undefined) return gateRefusals.unauthorized
  const reads = exchange.method === "GET"
  const limit = reads ? row.readPerMinute : row.tradePerMinute
  exchange.rate = rates.hit(row.id, reads ? "read" : "trade", exchange.now, limit)
  return exchange.rate.allowed ? null : gateRefusals.rateLimited
}

const routeGate: Gate = (exchange) => {
  exchange.match = matchRoute(exchange.method, exchange.path)
  return exchange.match === null ? gateRefusals.route : null
}

const scopeGate: Gate = ({ caller, method, match }) =>
  method !== "GET" && caller?.key.scope !== "TRADE" && match?.route.rules.reads !== true ? gateRefusals.scope : null

const keyShapeGate: Gate = (exchange) => {
  if (exchange.match?.route.rules.idempotent !== true) return null
  const header = exchange.request.headers["idempotency-key"]
  if (header === undefined) return null
  if (typeof header !== "string" || !isIdempotencyKey(header)) return gateRefusals.idempotencyKey
  exchange.idempotencyKey = header
  return null
}

const order: ReadonlyArray<Gate> = [
  ({ request }) => verbGate(request.method),
  ({ request }) => edgeCapGate(declaredLength(request)),
  keyGate,
  suspendedGate,
  rateGate,
  routeGate,
  scopeGate,
  keyShapeGate
]

/** The first refusal of gates 0 to 7, or null when the request may go on. */
export const passGates: Gate = (exchange, services) => {
  for (const gate of order) {
    const refusal = gate(exchange, services)
    if (refusal !== null) return refusal
  }
  return null
}
