/** Makes clients that may trade: they get KYC data and money through the service's own surfaces. */
import type { RunningService } from "./service.ts"
import { questionnaire1 } from "../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../src/machines/mifid/sampleMifid.ts"
import { type BenchPartner, onboardClients, operatorCall, partnerCall } from "./setup.ts"

export interface Funding {
  readonly custody: "BROKER" | "PARTNER"
  /** USDC of each client. */
  readonly cash: string
}

const atOnce = 64

/** Completes one client's KYC data, and funds it: by a report of the custodian, or by a deposit that finance confirms. */
export const makeTrader = async (
  service: RunningService,
  partner: BenchPartner,
  clientId: number,
  { custody, cash }: Funding
): Promise<void> => {
  const write = (method: "POST" | "PUT", path: string, body: object) =>
    partnerCall(service, partner, {
      method,
      path: `/partner/v1/clients/${clientId}${path}`,
      body,
      idempotencyKey: `${path}-${clientId}`
    })
  await write("POST", "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") })
  await write("PUT", "/mifid", sampleMifid())
  const partnerRef = `cash-${clientId}`
  if (custody === "PARTNER") {
    await write("POST", "/collateral", { partnerRef, direction: "DEPOSIT", amount: cash })
    return
  }
  const { noticeId } = await write("POST", "/deposits", { partnerRef, currency: "USDC", amount: cash })
  await operatorCall(service, { method: "POST", path: `/operator/v1/deposits/${String(noticeId)}/confirm`, body: {} })
}

/** Onboards this number of clients that may trade. Returns their ids, ascending. */
export const onboardTraders = async (
  service: RunningService,
  partner: BenchPartner,
  count: number,
  funding: Funding,
  tag = "bench"
): Promise<ReadonlyArray<number>> => {
  const { clientIds } = await onboardClients(service, partner, count, tag)
  for (let at = 0; at < clientIds.length; at += atOnce)
    await Promise.all(clientIds.slice(at, at + atOnce).map((id) => makeTrader(service, partner, id, funding)))
  return clientIds
}
