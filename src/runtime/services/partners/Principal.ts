/**
 * The identity that a request acts for, however it authenticated. A closed union: a surface for another kind of caller
 * adds its kind here. Counters and stored data of a caller are keyed by the principal's id: rate windows, body
 * buffers, stored replies, Idempotency-Keys (A1-05, A1-51).
 */
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import type { PrincipalId } from "../shared/KeyedRequest.ts"
import type { Caller } from "./Caller.ts"

/**
 * A partner, authenticated by one of its keys. All keys of a partner are one principal, because limits and
 * Idempotency-Keys belong to the partner.
 */
export interface PartnerPrincipal {
  readonly kind: "partner"
  readonly id: PrincipalId
  readonly caller: Caller
}

/** One operator key. Each operator key is a principal by itself, because an operator has no account besides the key. */
export interface OperatorPrincipal {
  readonly kind: "operator"
  readonly id: PrincipalId
  readonly caller: OperatorCaller
}

/** A caller without a credential, on a public route of the direct API. Its limits belong to its network address. */
export interface VisitorPrincipal {
  readonly kind: "visitor"
  readonly id: PrincipalId
  readonly caller: null
}

/** A caller of the direct API. */
export type DirectPrincipal = VisitorPrincipal

export type Principal = PartnerPrincipal | OperatorPrincipal | VisitorPrincipal

export const principalOfPartner = (caller: Caller): PartnerPrincipal => ({
  kind: "partner",
  id: `partner:${caller.partner.row.id}`,
  caller
})

export const principalOfOperator = (caller: OperatorCaller): OperatorPrincipal => ({
  kind: "operator",
  id: `operator:${caller.keyId}`,
  caller
})

/** `network`: the caller's IPv4 address or IPv6 /64; empty when unknown. */
export const principalOfVisitor = (network: string): VisitorPrincipal => ({
  kind: "visitor",
  id: `visitor:${network}`,
  caller: null
})
