/**
 * Sets up the benchmark through the service's own surfaces: one PARTNER-custody partner with approved reliance, limits
 * beyond the load, a TRADE key, and onboarded clients (operator surface; doc 1, Onboarding request).
 */
import { Agent, request } from "node:https"
import { sampleOnboarding } from "../src/machines/kyc/sampleOnboarding.ts"
import type { RunningService } from "./service.ts"

export interface BenchPartner {
  readonly partnerId: number
  readonly partnerKey: string
}

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly key: string
  readonly body: object
  readonly idempotencyKey?: string
}

const unlimited = 1_000_000_000
const onboardingsAtOnce = 32

/** Makes a JSON call; throws if it fails. Returns the envelope's `data`. */
const call = (
  service: RunningService,
  agent: Agent,
  { method, path, key, body, idempotencyKey }: Call
): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const sent = request(
      `${service.url}${path}`,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(text),
          ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
        }
      },
      (answer) => {
        let received = ""
        answer.setEncoding("utf8")
        answer.on("data", (chunk: string) => void (received += chunk))
        answer.once("end", () => {
          const status = answer.statusCode ?? 0
          if (status < 200 || status > 299) return reject(new Error(`${method} ${path}: ${status} ${received}`))
          resolve((JSON.parse(received) as { readonly data: Record<string, unknown> }).data)
        })
        answer.once("error", reject)
      }
    )
    sent.once("error", reject)
    sent.end(text)
  })

const withAgent = async <A>(service: RunningService, work: (agent: Agent) => Promise<A>): Promise<A> => {
  const agent = new Agent({ ca: service.ca, keepAlive: true, maxSockets: onboardingsAtOnce })
  try {
    return await work(agent)
  } finally {
    agent.destroy()
  }
}

/** Creates the partner, approves reliance, raises the limits and issues a TRADE key. */
export const createPartner = (
  service: RunningService,
  code = "BENCH",
  custody: "PARTNER" | "BROKER" = "PARTNER"
): Promise<BenchPartner> =>
  withAgent(service, async (agent) => {
    const operator = (path: string, body: object) =>
      call(service, agent, { method: "POST", path: `/operator/v1${path}`, key: service.operatorKey, body })
    const created = await operator("/partners", {
      code,
      name: "Bench",
      legalName: "Bench GmbH",
      country: "DE",
      licence: "MICA_CASP",
      custody,
      collateralAsset: custody === "PARTNER" ? "USD" : ""
    })
    const partnerId = Number(created["partnerId"])
    await operator(`/partners/${partnerId}/reliance`, { status: "APPROVED", reason: "benchmark" })
    await operator(`/partners/${partnerId}/limits`, { read: unlimited, trade: unlimited })
    const issued = await operator(`/partners/${partnerId}/keys`, { label: "bench", scope: "TRADE" })
    return { partnerId, partnerKey: String(issued["key"]) }
  })

/** Onboards `count` clients over HTTP. Throws if one does not become ACTIVE. Returns their ids and the rate. */
export const onboardClients = (
  service: RunningService,
  { partnerKey }: BenchPartner,
  count: number,
  tag = "bench"
): Promise<{ readonly clientIds: ReadonlyArray<number>; readonly rate: number }> =>
  withAgent(service, async (agent) => {
    const clientIds: Array<number> = []
    let next = 0
    const startedAt = performance.now()
    const work = async () => {
      while (next < count) {
        const n = next++
        const body = sampleOnboarding(n, tag, Date.now())
        const made = await call(service, agent, {
          method: "POST",
          path: "/partner/v1/clients",
          key: partnerKey,
          body,
          idempotencyKey: `onboard-${n}`
        })
        if (made["status"] !== "ACTIVE") throw new Error(`client ${n} is ${String(made["status"])}`)
        clientIds.push(Number(made["clientId"]))
      }
    }
    await Promise.all(Array.from({ length: onboardingsAtOnce }, work))
    return { clientIds: clientIds.sort((a, b) => a - b), rate: (count / (performance.now() - startedAt)) * 1_000 }
  })

/** Makes a JSON call with the partner's key; throws if it fails. */
export const partnerCall = (service: RunningService, { partnerKey }: BenchPartner, rest: Omit<Call, "key">) =>
  withAgent(service, (agent) => call(service, agent, { ...rest, key: partnerKey }))

/** Makes a JSON call with the operator's key; throws if it fails. */
export const operatorCall = (service: RunningService, rest: Omit<Call, "key">) =>
  withAgent(service, (agent) => call(service, agent, { ...rest, key: service.operatorKey }))

export const putWebhook = (service: RunningService, partner: BenchPartner, url: string) =>
  partnerCall(service, partner, { method: "PUT", path: "/partner/v1/webhook", body: { url } })

export const deleteWebhook = (service: RunningService, partner: BenchPartner) =>
  partnerCall(service, partner, { method: "DELETE", path: "/partner/v1/webhook", body: {} })

/** Sends one small collateral report; throws if it is not booked. */
export const reportCollateral = (service: RunningService, partner: BenchPartner, clientId: number, ref: string) =>
  partnerCall(service, partner, {
    method: "POST",
    path: `/partner/v1/clients/${clientId}/collateral`,
    body: { partnerRef: ref, direction: "DEPOSIT", amount: "0.010000" },
    idempotencyKey: ref
  })
