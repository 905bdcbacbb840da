/**
 * A client's lifecycle through the command line, on a real service: closing after the zero check, reopening, a lowered
 * level, the categorization, and the end of a closed client's documents (D1, D3, D19; A1-38, A1-40, A1-47).
 */
import { assert, describe, it } from "@effect/vitest"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import {
  advance,
  collateral,
  dayMillis,
  get,
  ofClient,
  onboard,
  person,
  query,
  rowCounts,
  rowsOf,
  passesDone
} from "../support/Builders.ts"
import { heldAt } from "../support/lockTable.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key, nextPerson } = await openOperatorScenario({ partner: { code: "LIFE" } })

const command = (name: string, clientId: number, ...rest: ReadonlyArray<string>) => [
  "client",
  name,
  String(clientId),
  ...rest,
  "--reason",
  "asked by the client"
]
const run = (name: string, clientId: number, ...rest: ReadonlyArray<string>) =>
  service.done(command(name, clientId, ...rest), "COMPLIANCE")
const kyc = (name: string, clientId: number, ...rest: ReadonlyArray<string>) =>
  service.done(["kyc", name, String(clientId), ...rest], "COMPLIANCE")
const refused = async (line: ReadonlyArray<string>) => {
  const before = await rowCounts(service)
  const ran = await service.cli(line, "COMPLIANCE")
  assert.strictEqual(ran.status, 1, ran.stdout)
  assert.deepStrictEqual(await rowCounts(service), before)
  return ran.refusal
}
const rowOf = async (clientId: number) => (await get(service, key, `/clients/${clientId}`)).json.data
const decisions = async (clientId: number) =>
  (await ofClient(service, "decisions", clientId)).map(({ decision }) => decision)
const notifications = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId)).map(({ kind }) => kind)
const cases = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ reason, state }) => [reason, state])

const body = (paths: Readonly<Record<string, unknown>> = {}) => person(nextPerson(), "life", paths)
const held = async (): Promise<number> =>
  (await onboard(service, key, body({ "attestation.riskRating": "HIGH" }))).json.data.clientId
let refs = 0
const move = (clientId: number, direction: "DEPOSIT" | "WITHDRAWAL", amount: string) =>
  collateral(service, key, clientId, { partnerRef: `move-${++refs}`, direction, amount })
const call = (method: string, clientId: number, path: string, sent: object) =>
  service.call(method, `/partner/v1/clients/${clientId}${path}`, { key, body: sent })
const test = (clientId: number) =>
  call("POST", clientId, "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") })
const upload = (clientId: number) =>
  call("POST", clientId, "/documents", {
    name: "passport.pdf",
    purpose: "identity",
    dataBase64: Buffer.from("%PDF-1.7\ncopy").toString("base64")
  })
const settle = async (clientId: number, status: "SETTLED" | "FAILED") => {
  for (const { id } of await ofClient(service, "settlementItems", clientId)) {
    const answer = await service.call("POST", `/partner/v1/settlement/items/${id}/report`, {
      key,
      body: { status, partnerTxRef: `bank-${id}`, note: "by the test" }
    })
    assert.strictEqual(answer.status, 200, answer.text)
  }
}

describe("operator surface, client close", () => {
  it("D1: the e-mail is free again, the reference stays taken, timers and cases end", async () => {
    const sent = body()
    const { clientId } = (await onboard(service, key, sent)).json.data
    await kyc("sample", clientId)
    const closed = await run("close", clientId)
    assert.deepStrictEqual([closed.lifecycleState, closed.openCases], ["CLOSED", []])
    assert.deepStrictEqual(await cases(clientId), [["SPOT_CHECK", "REJECTED"]])
    assert.deepStrictEqual(await decisions(clientId), ["GRANT_MICA", "CLOSED"])
    assert.deepStrictEqual(await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`]), [])
    const sameRef = await onboard(service, key, sent)
    assert.deepStrictEqual([sameRef.status, sameRef.json.code], [409, 4092])
    const again = await onboard(service, key, { ...sent, partnerClientRef: `${sent.partnerClientRef}-b` })
    assert.deepStrictEqual([again.status, again.json.data.status], [201, "ACTIVE"])
    assert.strictEqual((await refused(command("close", clientId))).code, 4092)
  })

  it("D1: money, reserves and unsettled items block, each by name", async () => {
    const clientId = await service.client(key)
    const adjust = (amount: string) =>
      service.done(
        ["ledger", "adjust", String(clientId), "--currency", "USDC", `--amount=${amount}`, "--reason", "r"],
        "FINANCE"
      )
    await adjust("100")
    const withMoney = await refused(command("close", clientId))
    assert.deepStrictEqual(withMoney.data.blockers, [
      "The client's cash is 100.000000 USDC.",
      "Settlement items are not settled: 1 PENDING."
    ])
    const shown = await runRecorded([...command("close", clientId), "--yes", ...service.connection("ADMIN")])
    assert.include(shown.stderr, "  The client's cash is 100.000000 USDC.")
    await adjust("-100")
    assert.deepStrictEqual((await refused(command("close", clientId))).data.blockers, [
      "Settlement items are not settled: 2 PENDING."
    ])
    await settle(clientId, "FAILED")
    assert.deepStrictEqual((await refused(command("close", clientId))).data.blockers, [
      "Settlement items are not settled: 2 FAILED."
    ])
    await settle(clientId, "SETTLED")
    assert.strictEqual((await run("close", clientId)).lifecycleState, "CLOSED")
  })

  it("A1-28: the person is free again, unless another open client is the same person or it was refused", async () => {
    const same = (sent: ReturnType<typeof body>, n: number) => ({
      ...sent,
      partnerClientRef: `${sent.partnerClientRef}-${n}`,
      email: `${n}.${sent.email}`
    })
    const sent = body()
    const first = (await onboard(service, key, sent)).json.data.clientId
    const second = (await onboard(service, key, same(sent, 2))).json.data
    assert.strictEqual(second.review.reason, "COMPLIANCE_REVIEW")
    await run("close", first)
    const third = (await onboard(service, key, same(sent, 3))).json.data
    assert.strictEqual(third.status, "PENDING_REVIEW")
    const other = body({ "attestation.riskRating": "HIGH" })
    const rejected = (await onboard(service, key, other)).json.data.clientId
    await kyc("reject-person", rejected, "--reason", "forged papers")
    assert.strictEqual((await run("close", rejected)).lifecycleState, "CLOSED")
    const back = (await onboard(service, key, { ...same(other, 2), email: other.email })).json.data
    assert.strictEqual(back.status, "PENDING_REVIEW")
    const [opened] = await ofClient(service, "cases", back.clientId)
    assert.strictEqual(opened?.details["duplicateOf"], rejected)
  })

  it("D1: from every other state; a held client's case ends with it", async () => {
    const pending = await held()
    assert.strictEqual((await run("close", pending)).lifecycleState, "CLOSED")
    assert.deepStrictEqual(await cases(pending), [["HIGH_RISK_RATING", "REJECTED"]])
    assert.deepStrictEqual(await ofClient(service, "dispositions", pending), [])
    const restricted = await service.client(key)
    await run("restrict", restricted, "FROZEN")
    assert.strictEqual((await run("close", restricted)).lifecycleState, "CLOSED")
    assert.deepStrictEqual(await notifications(restricted), ["RESTRICTION_SET"])
  })

  it("D1: CLOSED accepts no write, from the partner or from the operator", async () => {
    const clientId = await service.client(key)
    await run("close", clientId)
    for (const [method, path, sent] of [
      ["POST", "/collateral", { partnerRef: "closed", direction: "DEPOSIT", amount: "1" }],
      ["POST", "/collateral", { partnerRef: "closed", direction: "WITHDRAWAL", amount: "1" }],
      ["POST", "/documents", { name: "x.pdf", purpose: "other", dataBase64: "JVBERi0xLjcK" }],
      ["POST", "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") }],
      ["POST", "/appropriateness/acknowledge", { acknowledgedAt: 1 }],
      ["PUT", "/mifid", sampleMifid()],
      ["PUT", "/kyc", { kyc: { pep: body().kyc.pep }, attestation: body().attestation }]
    ] as const) {
      const answer = await call(method, clientId, path, sent)
      assert.deepStrictEqual([answer.status, answer.json.code], [409, 4092], `${path}: ${answer.text}`)
    }
    for (const line of [
      command("restrict", clientId, "FROZEN"),
      command("reopen", clientId),
      command("downgrade", clientId),
      command("categorize", clientId, "PROFESSIONAL"),
      ["kyc", "clear", String(clientId)],
      ["kyc", "sample", String(clientId)],
      ["kyc", "reject-person", String(clientId), "--reason", "r"],
      ["kyc", "request-documents", String(clientId), "--note", "n"],
      ["kyc", "reject", String(clientId), "--reason", "r"]
    ]) {
      assert.strictEqual((await refused(line)).code, 4092, line.join(" "))
    }
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "CLOSED")
  })

  it("D1: a close that races a deposit ends with money or closed, never with both", async () => {
    for (let round = 0; round < 8; round++) {
      const clientId = await service.client(key)
      const closing = () => service.cli(command("close", clientId))
      const first = round % 2 === 0 ? closing() : null
      const depositing = move(clientId, "DEPOSIT", "5")
      const [closed, deposit] = await Promise.all([first ?? closing(), depositing])
      const { lifecycleState, cashUsdc } = await rowOf(clientId)
      assert.deepStrictEqual(
        [closed.status, deposit.status, lifecycleState, cashUsdc],
        closed.status === 0 ? [0, 409, "CLOSED", "0.000000"] : [1, 201, "ACTIVE", "5.000000"]
      )
    }
    const broken = await query(
      service,
      "SELECT c.id FROM clients c JOIN balances b ON b.client_id = c.id WHERE c.state = 'CLOSED' AND (b.cash <> 0 OR b.reserved <> 0)"
    )
    assert.deepStrictEqual(broken, [])
  })

  it("D1: closing ends while money moves without a pause: closed or refused, never too busy", async () => {
    const firm = await service.partner({ code: "MOVING", custody: "BROKER", collateralAsset: "" })
    const clientId = await service.client(firm.key)
    const adjust = (amount: string) =>
      service.cli(["ledger", "adjust", String(clientId), "--currency", "USDC", `--amount=${amount}`, "--reason", "r"])
    const going = { on: true }
    const moving = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (going.on) {
          await adjust("7")
          await adjust("-7")
        }
      })
    )
    const closed = await service.cli(command("close", clientId), "COMPLIANCE").finally(() => (going.on = false))
    await moving
    assert.isTrue(closed.status === 0 || closed.refusal.code === 4092, closed.stderr)
  })

  it("D1: an item that arrives after the read of the items blocks all the same", async () => {
    const clientId = await service.client(key)
    const adjust = (amount: string) =>
      service.done(["ledger", "adjust", String(clientId), "--currency", "USDC", `--amount=${amount}`, "--reason", "r"])
    // The zero check reads the items first, and the claims afterwards.
    const { status, refusal } = await heldAt(
      service,
      "claims",
      () => service.cli(command("close", clientId), "COMPLIANCE"),
      async () => {
        await adjust("7")
        await adjust("-7")
      }
    )
    assert.deepStrictEqual([status, refusal.data.blockers], [1, ["Settlement items are not settled: 2 PENDING."]])
  })

  it("A1-49: clients of a closed partner stay under operator control", async () => {
    const own = await service.partner()
    const clientId = await service.client(own.key)
    await service.done(["partner", "status", own.code, "CLOSED", "--reason", "contract ended"])
    assert.strictEqual((await run("close", clientId)).lifecycleState, "CLOSED")
  })

  it("operator surface: a terminal gets a confirmation, and a no leaves the client unchanged", async () => {
    const clientId = await service.client(key)
    const asked: Array<string> = []
    const confirm = (question: string) => {
      asked.push(question)
      return false
    }
    const ran = await runRecorded([...command("close", clientId), ...service.connection("ADMIN")], { confirm })
    const { clientUid, displayName } = await rowOf(clientId)
    assert.deepStrictEqual([ran.status, asked], [1, [`Close client ${clientUid} (${displayName}) for good?`]])
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "ACTIVE")
  })
})

describe("operator surface, client reopen", () => {
  it("D1: a refused person returns to review, held by a new case, and can be granted", async () => {
    const clientId = await held()
    await kyc("reject-person", clientId, "--reason", "forged papers")
    for (const [method, path, sent, expected] of [
      ["POST", "/collateral", { partnerRef: "rejected", direction: "DEPOSIT", amount: "1" }, [403, 4030]],
      ["PUT", "/kyc", { kyc: { pep: body().kyc.pep }, attestation: body().attestation }, [409, 4092]],
      ["PUT", "/mifid", sampleMifid(), [200, 0]],
      ["POST", "/appropriateness", { version: 1, answers: answersFor(questionnaire1, "PASS") }, [200, 0]]
    ] as const) {
      const answer = await call(method, clientId, path, sent)
      assert.deepStrictEqual([answer.status, answer.json.code], [...expected], `${path}: ${answer.text}`)
    }
    assert.deepInclude(await rowOf(clientId), { lifecycleState: "KYC_REJECTED", verificationLevel: "NONE" })
    // No one reviews the package any more. The partner may not read the reason of the refusal.
    const file = async () => (await get(service, key, `/clients/${clientId}/kyc`)).json.data
    assert.deepInclude(await file(), { status: "REJECTED", reviewNote: "The person was refused for good." })
    const reopened = await run("reopen", clientId)
    assert.deepStrictEqual([reopened.lifecycleState, reopened.openCases.length], ["KYC_PENDING", 1])
    assert.deepInclude(await file(), { status: "SPOT_CHECK", reviewNote: null, reviewedBy: null })
    assert.deepStrictEqual(await cases(clientId), [
      ["HIGH_RISK_RATING", "REJECTED"],
      ["REOPENED", "OPEN"]
    ])
    assert.strictEqual((await refused(command("reopen", clientId))).code, 4092)
    const cleared = await kyc("clear", clientId, "--note", "papers are genuine")
    assert.deepStrictEqual([cleared.lifecycleState, cleared.verificationLevel], ["ACTIVE", "MICA_MIFID"])
    assert.deepStrictEqual(await decisions(clientId), [
      "PERSON_REJECTED",
      "REOPENED",
      "GRANT_MICA_MIFID",
      "REVIEW_CLEARED"
    ])
  })

  it("F26: a remembered true match is shown again before the reopened client can be cleared", async () => {
    const sent = body()
    const { first_name, last_name, date_of_birth } = sent.kyc.personalInfo
    const name = `${first_name} ${last_name}`
    await service.done(["screening", "add", "--name", name, "--dob", date_of_birth, "--list", "SANCTIONS"])
    await passesDone(service)
    const { clientId } = (await onboard(service, key, sent)).json.data
    await kyc("reject-person", clientId, "--reason", "listed")
    await run("reopen", clientId)
    const first = await service.cli(["kyc", "clear", String(clientId)], "COMPLIANCE")
    assert.deepStrictEqual([first.refusal.code, first.refusal.data.unseenCandidates], [4092, 1])
    const notes = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "case.note")
    assert.lengthOf(notes, 1)
    // The entry is shown now. A clearance over a true match still needs a note.
    const second = await service.cli(["kyc", "clear", String(clientId)], "COMPLIANCE")
    assert.strictEqual(second.refusal.code, 4092)
    assert.lengthOf(second.refusal.data.trueMatches, 1)
    assert.strictEqual((await kyc("clear", clientId, "--note", "the listed one has died")).lifecycleState, "ACTIVE")
    const history = await ofClient(service, "dispositions", clientId)
    assert.deepStrictEqual(
      history.toSorted((a, b) => a.number - b.number).map(({ disposition }) => disposition),
      ["TRUE_MATCH", "FALSE_POSITIVE"]
    )
  })
})

describe("operator surface, client categorize", () => {
  it("operator surface: shown in the row, audited with both values, refused when unchanged", async () => {
    const clientId = await service.client(key)
    assert.strictEqual((await run("categorize", clientId, "PROFESSIONAL")).categorization, "PROFESSIONAL")
    assert.strictEqual((await rowOf(clientId)).categorization, "PROFESSIONAL")
    assert.strictEqual((await refused(command("categorize", clientId, "PROFESSIONAL"))).code, 4092)
    assert.strictEqual((await service.cli(command("categorize", clientId, "EXPERT"))).status, 2)
    const audit = await rowsOf(service, "audit", "object = $1 AND action = 'client.categorize'", [`client:${clientId}`])
    assert.deepStrictEqual(
      audit.map(({ role, before, after, reason }) => [role, before, after, reason]),
      [["COMPLIANCE", "RETAIL", "PROFESSIONAL", "asked by the client"]]
    )
    assert.deepStrictEqual(await decisions(clientId), ["GRANT_MICA", "CATEGORIZED_PROFESSIONAL"])
  })
})

describe("business time moves", () => {
  it("D1, D3, D19: a downgrade expires the test; a new one after the cooling period raises the level again", async () => {
    const clientId = await service.client(key)
    assert.strictEqual((await refused(command("downgrade", clientId))).code, 4092)
    await call("PUT", clientId, "/mifid", sampleMifid())
    assert.strictEqual((await test(clientId)).json.data.granted, true)
    const downgraded = await run("downgrade", clientId)
    assert.deepStrictEqual([downgraded.lifecycleState, downgraded.verificationLevel], ["ACTIVE", "MICA"])
    const block = downgraded.blocks.find(({ code }: { code: string }) => code === "APPROPRIATENESS")
    assert.deepStrictEqual(
      [block.status, block.decidedBy, block.reason],
      ["EXPIRED", "COMPLIANCE", "asked by the client"]
    )
    assert.deepStrictEqual(await notifications(clientId), ["VERIFICATION_DECISION"])
    assert.strictEqual((await refused(command("downgrade", clientId))).code, 4092)
    const early = await test(clientId)
    assert.deepStrictEqual([early.status, early.json.code], [429, 4290])
    await advance(service, dayMillis)
    const again = (await test(clientId)).json.data
    assert.deepStrictEqual([again.granted, again.verificationLevel, again.attempt], [true, "MICA_MIFID", 2])
    assert.deepStrictEqual(await decisions(clientId), [
      "GRANT_MICA",
      "GRANT_MICA_MIFID",
      "DOWNGRADED",
      "GRANT_MICA_MIFID"
    ])
  })

  it("A1-38: contents are kept five years after the closing and emptied then; open clients keep theirs", async () => {
    const [closedId, openId] = [await service.client(key), await service.client(key)]
    const { documentId } = (await upload(closedId)).json.data
    await upload(openId)
    await run("close", closedId)
    const [timer] = await rowsOf(service, "timers", "subject = $1", [`client:${closedId}`])
    assert.strictEqual(timer?.name, "documents.retention")
    await advance(service, (timer?.dueAt ?? 0) - (await now()) - dayMillis)
    assert.notStrictEqual((await ofClient(service, "documentContents", closedId))[0]?.content, "")
    await advance(service, 2 * dayMillis)
    assert.strictEqual((await ofClient(service, "documentContents", closedId))[0]?.content, "")
    const [row] = await ofClient(service, "documents", closedId)
    assert.isAtLeast(row?.deletedAt ?? 0, timer?.dueAt ?? Infinity)
    const audit = await rowsOf(service, "audit", "object = $1 AND action = 'document.delete'", [
      `document:${documentId}`
    ])
    assert.deepStrictEqual(
      audit.map(({ role, reason }) => [role, reason]),
      [["SYSTEM", "retention ended"]]
    )
    assert.isNull((await ofClient(service, "documents", openId))[0]?.deletedAt)
    assert.deepStrictEqual(await notifications(closedId), [])
    assert.deepStrictEqual(await rowsOf(service, "timers", "subject = $1", [`client:${closedId}`]), [])
  })
})

const now = async (): Promise<number> => (await service.done(["sim", "clock", "show"], "SUPPORT")).now
