/**
 * The gates of a surface that run before the body is read, as synchronous functions over projections in memory, in the order
 * that the contract promises; and the later checks of the caller. An unauthorised caller can't find out which routes exist
 * (A1-02 for partners; A1-07, A1-08).
 */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import type { DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { Clients } from "../../runtime/services/clients/client/Clients.ts"
import { partnerAttribution } from "../../runtime/services/partners/Caller.ts"
import { Directory } from "../../runtime/services/partners/Directory.ts"
import { KeyUsage } from "../../runtime/services/partners/KeyUsage.ts"
import { type PartnerPrincipal, type Principal, principalOfPartner } from "../../runtime/services/partners/Principal.ts"
import { gateRefusals, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import type { Exchange } from "./Exchange.ts"
import { isIdempotencyKey } from "./idempotency.ts"
import { RateWindows } from "./RateWindows.ts"
import { declaredLength } from "./readBody.ts"
import type { Route, RouteTable } from "./routes.ts"
import { admits, sourceAddress } from "./sourceAddress.ts"
import { presentedGoodKey } from "./UnreadBodies.ts"

export interface PartnerGateServices {
  readonly routes: RouteTable
  readonly directory: Pick<Directory["Service"], "credential">
  readonly usage: Pick<KeyUsage["Service"], "touch">
  readonly business: Pick<BusinessClock["Service"], "now">
  readonly rates: RateWindows
  /** Addresses and ranges of the operator's own edge hosts. */
  readonly edgeHosts: ReadonlyArray<string>
}

/** One gate: returns a refusal, or records its results on the exchange and returns null. */
export type Gate<P extends Principal, S> = (exchange: Exchange<P>, services: S) => WireRefusal | null
type PartnerGate = Gate<PartnerPrincipal, PartnerGateServices>
/** A gate that works on any surface. */
type AnyGate = <P extends Principal>(
  exchange: Exchange<P>,
  services: { readonly routes: RouteTable }
) => WireRefusal | null

/** A surface: its gates, and the clients that its callers may name. */
export interface Surface<P extends Principal, S extends { readonly routes: RouteTable }> {
  /** Gates 0 to 7, which run before a body is read. */
  readonly gates: ReadonlyArray<Gate<P, S>>
  readonly services: S
  /** Gate 9: the refusal of a write because of the principal's state, or null. */
  readonly standing: (principal: P, route: Route) => WireRefusal | null
  /** Gate 10: whether a client belongs to the principal. */
  readonly owns: (principal: P, clientId: number) => Effect.Effect<boolean, DispatchError>
}

const verbs = new Set(["GET", "HEAD", "POST", "PUT", "DELETE"])

/** Gate 0: a method outside the list counts as an unknown route (doc 1, Authentication: HEAD). */
export const verbGate = (method: string | undefined): WireRefusal | null =>
  verbs.has(method ?? "") ? null : gateRefusals.verb

/** Gate 1: a declared length over the edge cap is refused before the body is read. */
export const edgeCapGate = (length: number | null): WireRefusal | null =>
  length !== null && length > bodyCaps.edge ? gateRefusals.edgeCap : null

/** Limit on characters of a presented key, far above the length of any issued key. A longer key is not hashed. */
const keyMaxLength = 256

/**
 * The presented key. Authorization: Bearer pbk_... takes precedence; X-Partner-Key is read if that header is absent or holds
 * no partner key. The key is the remaining header value, byte for byte: Node has removed trailing white space (RFC 9110,
 * 5.5).
 */
const presentedKey = (exchange: Exchange<PartnerPrincipal>): string | null => {
  const { authorization = "", "x-partner-key": own } = exchange.request.headers
  const scheme = /^bearer +/i.exec(authorization)
  const credential = scheme === null ? "" : authorization.slice(scheme[0].length)
  if (credential.startsWith("pbk_")) return credential
  return typeof own === "string" && own.startsWith("pbk_") ? own : null
}

/** The hash of the last key on each connection: callers reuse connections and send the same key with every request. */
const lastHashes = new WeakMap<Socket, { readonly key: string; readonly hash: string }>()

const hashOf = (socket: Socket, key: string): string => {
  const last = lastHashes.get(socket)
  if (last?.key === key) return last.hash
  const made = hash("sha256", key, "hex")
  lastHashes.set(socket, { key, hash: made })
  return made
}

/** The partner and key of a request. Null when the key is unknown, or when the allowlist rejects the address. */
const credentialOf = (
  exchange: Exchange<PartnerPrincipal>,
  { directory, edgeHosts }: PartnerGateServices
): ReturnType<Directory["Service"]["credential"]> => {
  const key = presentedKey(exchange)
  if (key === null || key.length > keyMaxLength) return null
  const found = directory.credential(hashOf(exchange.request.socket, key))
  const cidrs = found?.partner.row.allowedCidrs ?? []
  if (cidrs.length === 0) return found
  const { headers, socket } = exchange.request
  return admits(cidrs, sourceAddress(socket.remoteAddress, headers["x-forwarded-for"], edgeHosts)) ? found : null
}

/**
 * A gate that runs before the key gate. When it refuses a request with a good key, the unread body still counts as one with a
 * good key.
 */
const beforeKey =
  (judge: (request: IncomingMessage) => WireRefusal | null): PartnerGate =>
  (exchange, services) => {
    const refusal = judge(exchange.request)
    if (refusal !== null && credentialOf(exchange, services) !== null) presentedGoodKey(exchange.request)
    return refusal
  }

const partnerKeyGate: PartnerGate = (exchange, services) => {
  const found = credentialOf(exchange, services)
  if (found === null) return gateRefusals.unauthorized
  const by = partnerAttribution(found.partner, found.key, exchange.requestId)
  exchange.principal = principalOfPartner({ partner: found.partner, key: found.key, by })
  exchange.lastUsedAt = services.usage.touch(found.key.id, services.business.now())
  return null
}

const suspendedGate: PartnerGate = ({ principal }) =>
  principal?.caller.partner.row.state === "SUSPENDED" ? gateRefusals.suspended : null

const partnerRateGate: PartnerGate = (exchange, { rates }) => {
  const { principal } = exchange
  if (principal === null) return gateRefusals.unauthorized
  const { readPerMinute, tradePerMinute } = principal.caller.partner.row
  const reads = exchange.method === "GET"
  exchange.rate = rates.hit(
    principal.id,
    reads ? "read" : "trade",
    exchange.now,
    reads ? readPerMinute : tradePerMinute
  )
  return exchange.rate.allowed ? null : gateRefusals.rateLimited
}

const partnerScopeGate: PartnerGate = ({ principal, method, match }) =>
  method !== "GET" && principal?.caller.key.scope !== "TRADE" && match?.route.rules.reads !== true
    ? gateRefusals.scope
    : null

const routeGate: AnyGate = (exchange, { routes }) => {
  exchange.match = routes.match(exchange.method, exchange.path)
  return exchange.match === null ? gateRefusals.route : null
}

const keyShapeGate: AnyGate = (exchange) => {
  if (exchange.match?.route.rules.idempotent !== true) return null
  const header = exchange.request.headers["idempotency-key"]
  if (header === undefined) return null
  if (typeof header !== "string" || !isIdempotencyKey(header)) return gateRefusals.idempotencyKey
  exchange.idempotencyKey = header
  return null
}

/**
 * Gates 0 to 7 of the partner surface. Gate 7 checks only the shape of the Idempotency-Key here, because a replay needs the
 * body first.
 */
export const partnerGates: ReadonlyArray<PartnerGate> = [
  beforeKey(({ method }) => verbGate(method)),
  beforeKey((request) => edgeCapGate(declaredLength(request))),
  partnerKeyGate,
  suspendedGate,
  partnerRateGate,
  routeGate,
  partnerScopeGate,
  keyShapeGate
]

/** The first refusal of the gates, or null. */
export const passGates = <P extends Principal, S>(
  gates: ReadonlyArray<Gate<P, S>>,
  exchange: Exchange<P>,
  services: S
): WireRefusal | null => {
  for (const gate of gates) {
    const refusal = gate(exchange, services)
    if (refusal !== null) return refusal
  }
  return null
}

/** The partner surface, on projections in memory (doc 1, Authentication and Errors). */
export const partnerSurface = (
  routes: RouteTable,
  options: {
    /** Addresses and ranges of the operator's own edge hosts. */
    readonly edgeHosts: ReadonlyArray<string>
  }
) =>
  Effect.gen(function* () {
    const clients = yield* Clients
    const surface: Surface<PartnerPrincipal, PartnerGateServices> = {
      gates: partnerGates,
      services: {
        routes,
        directory: yield* Directory,
        usage: yield* KeyUsage,
        business: yield* BusinessClock,
        rates: new RateWindows(),
        edgeHosts: options.edgeHosts
      },
      standing: ({ caller }, { rules }) =>
        rules.reliance && caller.partner.reliance !== "APPROVED" ? gateRefusals.reliance : null,
      owns: ({ caller }, clientId) => clients.owns(caller.partner.row.id, clientId)
    }
    return surface
  })
