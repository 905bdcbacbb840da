/**
 * The sandbox's published names and values, played on the real service: every row that a partner can cause occurs, and
 * outside a sandbox the names have no effect (operator surface, Developers and QA; D1, D2, D3; F26).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor, type Outcome } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { sandboxEntries, sandboxNames, sandboxRetry } from "../../src/machines/sandbox/sandboxNames.ts"
import { sandboxOutcomes } from "../../src/machines/sandbox/sandboxOutcomes.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import {
  advance,
  brokenInvariants,
  collateral,
  dayMillis,
  get,
  ofClient,
  onboard,
  person,
  rowsOf,
  watch
} from "../support/Builders.ts"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import type { OperatorCaller } from "../../src/runtime/services/shared/OperatorCaller.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { orderSteps } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"

const finance: OperatorCaller = { ...operator, role: "FINANCE" }
const folder = mkdtempSync(join(tmpdir(), "brokerage-sandbox-"))
let service: Service
let key: string
let receiver: Server
/** Trades are played on a separate service whose clock is not moved. */
const market = stakingVenue()
const traders = await openScenario({ layerVenue: market.layerVenue })
const trading = contractSteps(traders.service, traders.key, traders)
const ordering = orderSteps(traders.service, traders.key, traders)
const staking = stakingSteps(traders.service, traders.key, market, traders)
/** The status that the partner's endpoint answers; null: it does not answer, and the held requests are in `waiting`. */
let answers: number | null = 204
const waiting: Array<ServerResponse> = []
let persons = 0

beforeAll(async () => {
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  receiver = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    request.resume()
    if (answers === null) waiting.push(response)
    else response.writeHead(answers).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  service = await startService({ settings: { webhookHosts: new Set(["127.0.0.1"]), webhookAuthority: tls.ca } })
  key = (await service.partner()).key
})
afterAll(async () => {
  assert.deepStrictEqual(await brokenInvariants(service), [])
  await service.stop()
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const call = (method: string, path: string, body?: object, of = key) =>
  service.call(method, `/partner/v1${path}`, { key: of, ...(body === undefined ? {} : { body }) })

/** Onboards a person with this last name; null: an ordinary one. */
const onboarded = async (lastName: string | null, of = key, paths: object = {}): Promise<number> => {
  const named = lastName === null ? {} : { "kyc.personalInfo.last_name": lastName }
  const { status, text, json } = await onboard(service, of, person(++persons, "sandbox", { ...named, ...paths }))
  assert.strictEqual(status, 201, text)
  return json.data.clientId
}
/** The client after all decisions of the name. */
const decided = async (lastName: string, of = key): Promise<number> => {
  const clientId = await onboarded(lastName, of)
  await advance(service, 10_000)
  await advance(service, 10_000)
  return clientId
}
const submit = (clientId: number, outcome: Outcome) =>
  call("POST", `/clients/${clientId}/appropriateness`, { version: 1, answers: answersFor(questionnaire1, outcome) })
const stateOf = async (clientId: number): Promise<string> =>
  (await get(service, key, `/clients/${clientId}`)).json.data.lifecycleState
const view = async (clientId: number) => (await get(service, key, `/clients/${clientId}/verification`)).json.data
const blockOf = async (clientId: number, code: string): Promise<string> =>
  (await view(clientId)).blocks.find((block: { readonly code: string }) => block.code === code).status
const packageOf = async (clientId: number): Promise<string> => (await view(clientId)).kycPackage.status
const caseOf = async (clientId: number) => (await ofClient(service, "cases", clientId))[0]?.state
const assessmentOf = async (clientId: number) => (await ofClient(service, "assessments", clientId))[0]?.state
const assessed = async (outcome: Outcome) => {
  const clientId = await onboarded(null)
  await submit(clientId, outcome)
  return clientId
}
const reported = async (direction: "DEPOSIT" | "WITHDRAWAL", status: string) => {
  const clientId = await onboarded(null)
  const partnerRef = `sandbox-${clientId}`
  await collateral(service, key, clientId, { partnerRef, direction, amount: "5" })
  const { reports } = (await get(service, key, `/clients/${clientId}/collateral`)).json.data
  assert.deepStrictEqual(
    reports.map((report: { readonly status: string }) => report.status),
    [status]
  )
  return status
}
const item = async (...statuses: ReadonlyArray<"FAILED" | "SETTLED">): Promise<string> => {
  const clientId = await decided("Creditedlater")
  const list = async () => (await get(service, key, `/settlement/items?clientId=${clientId}`)).json.data.items[0]
  const { itemId } = await list()
  for (const status of statuses) {
    const body = status === "FAILED" ? { status, note: "bank closed" } : { status, partnerTxRef: `tx-${itemId}` }
    assert.strictEqual((await call("POST", `/settlement/items/${itemId}/report`, body)).status, 200)
  }
  return (await list()).status
}

/** A client of a BROKER partner, with or without the sandbox flag, and the answer to its money request. */
const moved = async (kind: "deposits" | "withdrawals", sandbox: boolean) => {
  const { key: own } = await service.partner({ custody: "BROKER", collateralAsset: "", sandbox })
  const clientId = await onboarded(null, own)
  const post = (path: string, body: object) => call("POST", `/clients/${clientId}/${path}`, body, own)
  if (kind === "withdrawals") {
    await post("deposits", { partnerRef: `fund-${clientId}`, currency: "USDC", amount: "9" })
    const { deposits } = (await get(service, own, `/clients/${clientId}/deposits`)).json.data
    if (!sandbox) await service.run(Deposits.use((desk) => desk.confirm(finance, deposits[0].noticeId, null)))
  }
  const { status, text, json } = await post(kind, { partnerRef: `ref-${clientId}`, currency: "USDC", amount: "5" })
  assert.strictEqual(status, 201, text)
  return { own, clientId, post, row: json.data }
}

const url = () => `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
/** A separate partner with an endpoint and one event in delivery. Returns the delivery's state in the log. */
const delivery = async () => {
  const { key: own } = await service.partner()
  assert.strictEqual((await call("PUT", "/webhook", { url: url() }, own)).status, 200)
  await onboarded(null, own)
  return async (): Promise<{ readonly status: string; readonly attempts: number }> =>
    (await get(service, own, "/webhook/deliveries")).json.data.deliveries[0]
}
const until = async (read: () => Promise<{ readonly status: string }>, status: string): Promise<string> => {
  await vi.waitFor(async () => assert.strictEqual((await read()).status, status), { timeout: 15_000, interval: 20 })
  return status
}

/** How each row that names the partner is played, and the resulting state. */
const contractsOf = async (clientId: number, state: string) =>
  (await get(traders.service, traders.key, `/clients/${clientId}/barriers?state=${state}`)).json.data.barriers
/** A request for quotes of a new client that may trade. */
const quoted = async (more: object = {}) => {
  const clientId = await trading.trader()
  const { rfqId, state } = (await trading.post(clientId, "/rfq", { ...trading.rfqBody(), ...more })).json.data
  return { clientId, rfqId: rfqId as number, state: state as string }
}
/** The same, with an automatic accept of its first quote. */
const traded = async () => {
  const { clientId, rfqId } = await quoted()
  market.quote(rfqId, "60000")
  return { clientId, rfq: await trading.until(clientId, rfqId, ({ state }) => state !== "OPEN") }
}

/** An order of a new client that may trade, with further requests on it. Returns its shown state. */
const ordered = async (body: object): Promise<string> => {
  const { clientId, orderId } = await placedBy(body)
  return (await ordering.orderOf(clientId, orderId)).state
}
const placedBy = async (body: object) => {
  const clientId = await ordering.trader()
  return { clientId, orderId: await ordering.placed(clientId, body) }
}
const atMarket = { symbol: perp, side: "BUY", type: "MARKET", qty: "0.001" }
const protectedBy = { attach: { stopLoss: { price: "58000" } } }
const attachmentOf = async (orderId: number, state: string): Promise<string | undefined> => {
  const found = await ordering.poll(
    () => rowsOf(traders.service, "attachments", "id = $1", [BigInt(orderId)]),
    ([row]) => row?.state === state
  )
  return found[0]?.state
}

const play: Readonly<Record<string, () => Promise<string | undefined>>> = {
  "client KYC_PENDING": async () => stateOf(await onboarded("Sanctionlisted")),
  "client ACTIVE": async () => stateOf(await decided("Clearedlater")),
  "client RESTRICTED": async () => stateOf(await decided("Restrictedlater")),
  "client KYC_REJECTED": async () => stateOf(await decided("Personrejected")),
  "client CLOSED": async () => stateOf(await decided("Closedlater")),
  "kycPackage ACCEPTED": async () => packageOf(await onboarded(null)),
  "kycPackage SPOT_CHECK": async () => packageOf(await decided("Sanctionlisted")),
  "kycPackage DOCUMENTS_REQUESTED": async () => packageOf(await decided("Documentsrequested")),
  "kycPackage REJECTED": async () => packageOf(await decided("Reliancerejected")),
  "verificationBlock NOT_STARTED": async () => blockOf(await onboarded(null), "APPROPRIATENESS"),
  "verificationBlock SUBMITTED": async () => blockOf(await assessed("WARN"), "APPROPRIATENESS"),
  "verificationBlock APPROVED": async () => blockOf(await onboarded(null), "PERSONAL_INFO"),
  "verificationBlock REJECTED": async () => blockOf(await decided("Reliancerejected"), "SOURCE_OF_WEALTH"),
  "verificationBlock EXPIRED": async () => {
    const tomorrow = new Date(Date.now() + (await ahead()) + dayMillis).toISOString().slice(0, 10)
    const clientId = await onboarded(null, key, { "kyc.identification.expiration_date": tomorrow })
    await advance(service, 2 * dayMillis)
    return blockOf(clientId, "IDENTIFICATION")
  },
  "assessment IDLE": async () => {
    const clientId = await onboarded("Reliancerejected")
    await submit(clientId, "FAIL")
    await advance(service, 10_000)
    return assessmentOf(clientId)
  },
  "assessment PASSED": async () => assessmentOf(await assessed("PASS")),
  "assessment WARNED": async () => assessmentOf(await assessed("WARN")),
  "assessment FAILED": async () => assessmentOf(await assessed("FAIL")),
  "assessment ACKNOWLEDGED": async () => {
    const clientId = await assessed("WARN")
    await call("POST", `/clients/${clientId}/appropriateness/acknowledge`, { acknowledgedAt: 1 })
    return assessmentOf(clientId)
  },
  "case OPEN": async () => caseOf(await decided("Sanctionlisted")),
  "case CLEARED": async () => caseOf(await decided("Clearedlater")),
  "case REJECTED": async () => caseOf(await decided("Reliancerejected")),
  "collateralReport BOOKED": () => reported("DEPOSIT", "BOOKED"),
  "collateralReport REFUSED": () => reported("WITHDRAWAL", "REFUSED"),
  "depositNotice PENDING": async () => (await moved("deposits", false)).row.status,
  "depositNotice CONFIRMED": async () => (await moved("deposits", true)).row.status,
  "withdrawalRequest REQUESTED": async () => (await moved("withdrawals", false)).row.status,
  "withdrawalRequest PAID": async () => (await moved("withdrawals", true)).row.status,
  "withdrawalRequest CANCELLED": async () => {
    const { post, row } = await moved("withdrawals", false)
    return (await post(`withdrawals/${row.requestId}/cancel`, {})).json.data.request.status
  },
  "settlementItem PENDING": () => item(),
  "settlementItem FAILED": () => item("FAILED"),
  "settlementItem SETTLED": () => item("FAILED", "SETTLED"),
  "rfq OPEN": async () => (await quoted({ autoAccept: false })).state,
  "rfq ACCEPTED": async () => (await traded()).rfq.state,
  "rfq CANCELLED": async () => {
    const { clientId, rfqId } = await quoted({ autoAccept: false })
    return (await trading.post(clientId, `/rfq/${rfqId}/cancel`, {})).json.data.state
  },
  "rfq EXPIRED": async () => {
    const { clientId, rfqId } = await quoted({ autoAccept: false, expiresInMs: 1_000 })
    return (await trading.until(clientId, rfqId, ({ state }) => state !== "OPEN")).state
  },
  "barrierContract OPEN": async () => {
    const { clientId } = await traded()
    return (await contractsOf(clientId, "open"))[0].state
  },
  "barrierContract EARLY_CLOSE": async () => {
    const { clientId, rfq } = await traded()
    const closing = (await trading.post(clientId, `/barriers/${rfq.contractId}/close`, {})).json.data
    market.quote(closing.rfqId, "60000")
    await trading.until(clientId, closing.rfqId, ({ state }) => state !== "OPEN")
    return (await contractsOf(clientId, "history"))[0].state
  },
  "order ACKED": () => ordered(ordering.limit("BUY", "0.001", "59000")),
  "order PENDING_TRIGGER": () =>
    ordered({
      symbol: perp,
      side: "BUY",
      type: "STOP_MARKET",
      qty: "0.001",
      trigger: { source: "MARK", price: "61000", direction: "AT_OR_ABOVE" }
    }),
  "order FILLED": () => ordered(atMarket),
  "order CANCELLED": async () => {
    const { clientId, orderId } = await placedBy(ordering.limit("BUY", "0.001", "59000"))
    await ordering.cancel(clientId, orderId)
    return (await ordering.orderOf(clientId, orderId)).state
  },
  "order REJECTED": async () => {
    const clientId = await ordering.trader()
    const { json } = await ordering.place(clientId, ordering.limit("BUY", "0.001", "61000", { tif: "POST_ONLY" }))
    return json.state
  },
  "swap OPEN": async () => (await staking.taken(await staking.lender({ eth: "0" }), "USDC-SWAP", "10")).state,
  "statement GENERATED": async () =>
    (await call("POST", `/clients/${await onboarded(null)}/statements`, { kind: "ACCOUNT" })).json.state,
  "attachment ARMED": async () => {
    const { orderId } = await placedBy(ordering.limit("BUY", "0.001", "59000", protectedBy))
    return attachmentOf(orderId, "ARMED")
  },
  "attachment ACTIVE": async () => attachmentOf((await placedBy({ ...atMarket, ...protectedBy })).orderId, "ACTIVE"),
  "webhookEndpoint ACTIVE": async () => {
    const { key: own, partnerId } = await service.partner()
    await call("PUT", "/webhook", { url: url() }, own)
    return (await rowsOf(service, "webhookEndpoints", "partner_id = $1", [BigInt(partnerId)]))[0]?.state
  },
  "webhookEndpoint INACTIVE": async () => {
    const { key: own, partnerId } = await service.partner()
    await call("PUT", "/webhook", { url: url() }, own)
    await call("DELETE", "/webhook", undefined, own)
    return (await rowsOf(service, "webhookEndpoints", "partner_id = $1", [BigInt(partnerId)]))[0]?.state
  },
  "webhookDelivery PENDING": async () => {
    answers = null
    const read = await delivery()
    await vi.waitFor(() => assert.isNotEmpty(waiting), { timeout: 15_000 })
    const { status } = await read()
    answers = 204
    for (const held of waiting.splice(0)) held.writeHead(204).end()
    await until(read, "SENT")
    return status
  },
  "webhookDelivery RETRYING": async () => {
    answers = 500
    return until(await delivery(), "RETRYING")
  },
  "webhookDelivery SENT": async () => {
    answers = 204
    return until(await delivery(), "SENT")
  },
  "webhookDelivery FAILED": async () => {
    answers = 500
    const read = await delivery()
    for (let attempt = 1; attempt < 10; attempt++) {
      await vi.waitFor(async () => assert.isAtLeast((await read()).attempts, attempt), {
        timeout: 15_000,
        interval: 20
      })
      await advance(service, dayMillis)
    }
    return until(read, "FAILED")
  }
}

const ahead = (): Promise<number> => service.run(BusinessClock.useSync((clock) => clock.offset()))

describe("the sandbox's screening", () => {
  it("F26: an operator's own entry is found under a published last name too", async () => {
    const { entryId } = await watch(service, { name: "Hildegund Possiblematch", dob: "1970-03-04", list: "SANCTIONS" })
    const clientId = await onboarded("Possiblematch", key, {
      "kyc.personalInfo.first_name": "Hildegund",
      "kyc.personalInfo.date_of_birth": "1970-03-04"
    })
    const [open] = await ofClient(service, "cases", clientId)
    assert.strictEqual(open?.reason, "SCREENING_HIT")
    const candidates = open?.details["candidates"] as unknown as ReadonlyArray<{ readonly entryId: number }>
    const [own] = await rowsOf(service, "watchEntries", "source = 'SANDBOX' AND name LIKE '%Possiblematch'")
    assert.includeMembers(
      candidates.map(({ entryId: found }) => found),
      [entryId, own?.id as number]
    )
    assert.strictEqual(
      (await ofClient(service, "cases", await onboarded("Possiblematch")))[0]?.reason,
      "SCREENING_POSSIBLE_MATCH"
    )
  })
})

describe("sandbox outcomes, played", () => {
  const reachable = sandboxOutcomes
    .filter(({ by }) => by === "partner")
    .map(({ machine, state }) => `${machine} ${state}`)

  it("every row that a partner can reach is played here, and no other", () =>
    assert.sameMembers(Object.keys(play), [...reachable]))

  it.each(reachable)("%s", async (row) => {
    assert.strictEqual(`${row.split(" ")[0]} ${await play[row]?.()}`, row)
    answers = 204
  })
})

describe("sandbox names, played", () => {
  const events = async (clientId: number) => (await ofClient(service, "events", clientId)).map(({ name }) => name)
  const feed = async (clientId: number) => (await ofClient(service, "notifications", clientId)).map(({ kind }) => kind)
  const held = "client.review_required"

  it.each<readonly [lastName: string, state: string, events: ReadonlyArray<string>, feed: ReadonlyArray<string>]>([
    ["Sanctionlisted", "KYC_PENDING", [held], []],
    ["POSSIBLEMATCH", "KYC_PENDING", [held], []],
    ["Politicallyexposed", "KYC_PENDING", [held], []],
    ["Clearedlater", "ACTIVE", [held], ["VERIFICATION_DECISION"]],
    ["Reliancerejected", "KYC_PENDING", [held, "kyc.rejected"], []],
    ["Personrejected", "KYC_REJECTED", [held], ["VERIFICATION_DECISION"]],
    ["Documentsrequested", "KYC_PENDING", [held, "kyc.documents_requested"], []],
    ["documentsaccepted", "ACTIVE", [held, "kyc.documents_requested"], ["VERIFICATION_DECISION"]],
    ["Restrictedlater", "RESTRICTED", ["client.onboarded"], ["RESTRICTION_SET"]],
    ["Liftedlater", "ACTIVE", ["client.onboarded"], ["RESTRICTION_SET", "RESTRICTION_LIFTED"]],
    ["Downgradedlater", "ACTIVE", ["client.onboarded"], []],
    ["Closedlater", "CLOSED", ["client.onboarded"], []],
    ["Creditedlater", "ACTIVE", ["client.onboarded", "settlement.item_created"], ["MONEY_MOVEMENT"]]
  ])("%s ends %s and publishes its events once", async (lastName, state, told, fed) => {
    const clientId = await decided(lastName)
    assert.strictEqual(await stateOf(clientId), state)
    assert.deepStrictEqual(await events(clientId), told)
    assert.deepStrictEqual(await feed(clientId), fed)
  })

  it("every published name is in that list and sets exactly its own timers", async () => {
    for (const { lastName, steps } of sandboxNames) {
      const clientId = await onboarded(lastName)
      const timers = await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`])
      assert.sameMembers(
        timers.flatMap(({ name }) => (name.startsWith("sandbox.") ? [name] : [])),
        steps.map(({ decision }) => `sandbox.${decision}`)
      )
    }
  })

  it("D1: Downgradedlater falls back once the partner has brought it to MICA_MIFID", async () => {
    const clientId = await onboarded("Downgradedlater")
    await advance(service, 10_000)
    assert.strictEqual((await call("PUT", `/clients/${clientId}/mifid`, sampleMifid())).status, 200)
    assert.strictEqual((await submit(clientId, "PASS")).json.data.verificationLevel, "MICA_MIFID")
    await advance(service, sandboxRetry.everyMillis)
    const { level, blocks } = await view(clientId)
    const test = blocks.find((block: { readonly code: string }) => block.code === "APPROPRIATENESS")
    assert.deepStrictEqual([level, test.status, test.decidedBy], ["MICA", "EXPIRED", "COMPLIANCE"])
    assert.deepStrictEqual(await feed(clientId), ["VERIFICATION_DECISION"])
  })

  it("D1: PUT .../kyc to a listed name restricts an ACTIVE client", async () => {
    const clientId = await onboarded(null)
    const { kyc, attestation } = person(persons, "sandbox", { "kyc.personalInfo.last_name": "Sanctionlisted" })
    const revision = { kyc: { personalInfo: kyc.personalInfo }, attestation }
    const { status, json } = await call("PUT", `/clients/${clientId}/kyc`, revision)
    assert.deepStrictEqual([status, json.data?.screening], [200, "PENDING_REVIEW"])
    assert.strictEqual(await stateOf(clientId), "RESTRICTED")
  })

  it("D1: a client of Reliancerejected is ACTIVE once it is onboarded again under another name", async () => {
    const clientId = await decided("Reliancerejected")
    const { kyc, identityCheck, attestation } = person(persons, "sandbox")
    const { status, json } = await call("PUT", `/clients/${clientId}/kyc`, { kyc, identityCheck, attestation })
    assert.deepStrictEqual([status, json.data?.grant], [200, "ACTIVE"], JSON.stringify(json))
    await advance(service, 60_000)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("a decision that stays refused is given up after its time; a client with money is never closed", async () => {
    const clientId = await onboarded("Closedlater")
    await collateral(service, key, clientId, { partnerRef: `kept-${clientId}`, direction: "DEPOSIT", amount: "5" })
    await advance(service, 10_000)
    const timers = async () =>
      (await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`])).map(({ name }) => name)
    assert.include(await timers(), "sandbox.close")
    await advance(service, sandboxRetry.untilMillis)
    assert.notInclude(await timers(), "sandbox.close")
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("the reference that the service serves at /docs shows every name and every state", async () => {
    const page = await service.call("GET", "/docs")
    assert.strictEqual(page.status, 200)
    for (const { lastName } of sandboxNames) assert.include(page.text, lastName)
    for (const { machine, state } of sandboxOutcomes) {
      assert.include(page.text, machine)
      assert.include(page.text, state)
    }
  })

  it("F26: the entries are in the list once, also after a second start", async () => {
    const entries = () => rowsOf(service, "watchEntries", "source = 'SANDBOX'")
    const before = await entries()
    assert.sameMembers(
      before.map(({ name }) => name),
      sandboxEntries.map(({ name }) => name)
    )
    const again = await startService({ database: service.database })
    assert.deepStrictEqual(await entries(), before)
    await again.stop()
  })
})

describe("outside a sandbox", () => {
  it("the names have no effect: every client is ACTIVE, nothing is listed, no event follows", async () => {
    const live = await startService({ settings: { sandbox: false } })
    const partner = await live.partner({ sandbox: false })
    assert.deepStrictEqual(await rowsOf(live, "watchEntries"), [])
    for (const { lastName } of sandboxNames) {
      const body = person(++persons, "live", { "kyc.personalInfo.last_name": lastName })
      const { status, json } = await onboard(live, partner.key, body)
      assert.deepStrictEqual([status, json.data.lifecycleState], [201, "ACTIVE"], lastName)
    }
    assert.deepStrictEqual(await rowsOf(live, "timers", "name LIKE 'sandbox.%'"), [])
    await advance(live, 60_000)
    const states = new Set((await rowsOf(live, "clients")).map(({ state }) => state))
    assert.deepStrictEqual([...states], ["ACTIVE"])
    assert.deepStrictEqual(await rowsOf(live, "notifications"), [])
    await live.stop()
  })
})
