/**
 * A request of the simulated partner, decided once: path, body text, Idempotency-Key and the expected answer. Every retry sends
 * exactly this (doc 1, Idempotency; doc 3, partnerRef; SC-ONB-17).
 */
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"

interface KeyedRequest {
  /** The request's place in the order of planning, from 0. */
  readonly index: number
  readonly path: string
  readonly idempotencyKey: string
  readonly body: string
}

export interface OnboardingPlan extends KeyedRequest {
  readonly kind: "onboarding"
  /** The client's index in the bot's list. */
  readonly client: number
  readonly partnerClientRef: string
  readonly email: string
}

export interface CollateralPlan extends KeyedRequest {
  readonly kind: "collateral"
  readonly client: number
  readonly clientId: number
  readonly partnerRef: string
  readonly direction: "DEPOSIT" | "WITHDRAWAL"
  /** The amount of the report, micro-USDC. */
  readonly amount: bigint
  /** The report id that the answer must repeat, for a report that is filed again under a new key; null for a first filing. */
  readonly repeats: number | null
}

export type PartnerRequest = OnboardingPlan | CollateralPlan

export const clientsPath = "/partner/v1/clients"

/** `tag` separates runs: letters and digits, at most 20; `now`: Unix ms. */
export const planOnboarding = (tag: string, index: number, client: number, now: number): OnboardingPlan => {
  const body = sampleOnboarding(client, tag, now)
  return {
    kind: "onboarding",
    index,
    client,
    path: clientsPath,
    idempotencyKey: `${tag}-${index}`,
    body: JSON.stringify(body),
    partnerClientRef: body.partnerClientRef,
    email: body.email
  }
}

export interface CollateralIntent {
  readonly client: number
  readonly clientId: number
  readonly direction: "DEPOSIT" | "WITHDRAWAL"
  /** The amount of the report, micro-USDC. */
  readonly amount: bigint
}

export const planCollateral = (tag: string, index: number, intent: CollateralIntent): CollateralPlan => {
  const partnerRef = `${tag}-report-${index}`
  const body = {
    partnerRef,
    direction: intent.direction,
    amount: formatAmount(intent.amount, "USDC"),
    txRef: `${tag}-tx-${index}`
  }
  return {
    ...intent,
    kind: "collateral",
    index,
    path: `${clientsPath}/${intent.clientId}/collateral`,
    idempotencyKey: `${tag}-${index}`,
    body: JSON.stringify(body),
    partnerRef,
    repeats: null
  }
}

/** Plans the second filing of a report under a new key. The service must answer it with the original report. */
export const planRepeat = (tag: string, index: number, original: CollateralPlan, reportId: number): CollateralPlan => ({
  ...original,
  index,
  idempotencyKey: `${tag}-${index}`,
  repeats: reportId
})
