/**
 * Reads for staff: any client by any of its names, lists of reports and bookings, an endpoint and its deliveries, and
 * all waiting items (operator surface, Back office and queue; doc 3).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runCli } from "../../cli/runCli.ts"
import * as tokens from "../../src/http/api/operator/operatorTokens.ts"
import { collateralStatuses } from "../../src/machines/collateral/CollateralReport.ts"
import { waitingKinds } from "../../src/machines/operator/Waiting.ts"
import { settlementStatuses } from "../../src/machines/settlement/SettlementItem.ts"
import { namedStatement } from "../../src/runtime/store/reads/clientReads.ts"
import { waitingStatement } from "../../src/runtime/store/reads/waitingReads.ts"
import { brokenInvariants, collateral, onboard, person, query } from "../support/Builders.ts"
import { broker } from "../support/Scenario.ts"
import { recordingIo, runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario, operatorCalls } from "./operatorScenario.ts"

const { service, partner, key, heldClient } = await openOperatorScenario({
  partner: { code: "LOOK" },
  // The last test fills tables with rows that belong to no books.
  damaged: true,
  settings: { webhookHosts: new Set(["127.0.0.1"]), fourEyes: new Set(["ledger adjust"]) }
})
const plainCall = operatorCalls(service)
const bank = await service.partner({ code: "BANK", ...broker })

const born = async (n: number, tag: string, ref: string, of = key) => {
  const body = { ...person(n, tag), partnerClientRef: ref }
  const { json, text } = await onboard(service, of, body)
  if (json.data?.clientId === undefined) throw new Error(text)
  return { clientId: json.data.clientId as number, clientUid: json.data.clientUid as string, email: body.email }
}
const anna = await born(1, "anna", "c-1")
const bert = await born(2, "bert", "shared")
const cleo = await born(3, "cleo", "shared", bank.key)
const dora = await born(4, "dora", "4711", bank.key)

const shown = async (name: string) => (await service.done(["client", "show", name], "SUPPORT")).clientUid as string
const refusalOf = async (name: string) => (await service.cli(["client", "show", name], "SUPPORT")).refusal

describe("operator surface, C: any client by any of its names", () => {
  it("id, uid, reference, partner's code and reference, e-mail in capital or small letters", async () => {
    for (const name of [
      String(anna.clientId),
      anna.clientUid,
      "c-1",
      "LOOK/c-1",
      anna.email,
      anna.email.toUpperCase()
    ]) {
      assert.strictEqual(await shown(name), anna.clientUid, name)
    }
    assert.deepStrictEqual([await shown("BANK/shared"), await shown("LOOK/shared")], [cleo.clientUid, bert.clientUid])
  })

  it("a name that two have is refused with both, for a command that writes as well, and nothing is done", async () => {
    const refusal = await refusalOf("shared")
    assert.strictEqual(refusal.code, 4092)
    assert.deepStrictEqual(
      refusal.data.candidates.map(({ clientUid, partner: of }: { clientUid: string; partner: string }) => [
        of,
        clientUid
      ]),
      [
        ["LOOK", bert.clientUid],
        ["BANK", cleo.clientUid]
      ]
    )
    assert.include(refusal.msg, `${bert.clientUid} (LOOK/shared), ${cleo.clientUid} (BANK/shared)`)
    const adjust = ["ledger", "adjust", "shared", "--currency", "USDC", "--amount", "5", "--reason", "r"]
    assert.deepStrictEqual((await service.cli(adjust)).refusal.data, refusal.data)
    assert.deepStrictEqual((await service.done(["queue", "--kind", "approval"])).waiting, [])
  })

  it("digits are an id and nothing else: a reference of digits is written behind its partner's code", async () => {
    assert.strictEqual((await refusalOf("4711")).code, 4004)
    assert.strictEqual(await shown("BANK/4711"), dora.clientUid)
  })

  it.each(["nobody", "LOOK/nobody", "NONE/c-1", "a@b.example", "%", "c_1", "/", "' OR true --", "LOOK-99999999"])(
    "a name without an object is not found: %s",
    async (name) => assert.strictEqual((await refusalOf(name)).code, 4004)
  )

  it("lists and the audit accept the names too, and refuse ambiguous ones", async () => {
    const tail = await service.done(["audit", "tail", "--client", "c-1", "--limit", "1"])
    assert.strictEqual(tail.entries[0].clientId, anna.clientId)
    for (const list of [
      ["order", "list"],
      ["statement", "list"],
      ["ledger", "list"]
    ]) {
      assert.strictEqual((await service.cli([...list, "c-1"])).status, 0, list.join(" "))
      assert.strictEqual((await service.cli([...list, "shared"])).refusal.code, 4092, list.join(" "))
    }
    assert.strictEqual((await service.cli(["contract", "list", "--client", "shared"])).refusal.code, 4092)
  })

  it("client list --q: part of e-mail, name or reference, of all partners or one; wildcards are letters", async () => {
    const found = async (...options: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
      (await service.done(["client", "list", ...options], "SUPPORT")).clients.map(
        ({ clientUid }: { readonly clientUid: string }) => clientUid
      )
    assert.deepStrictEqual(await found("--q", "SHARE"), [cleo.clientUid, bert.clientUid])
    assert.deepStrictEqual(await found("--q", "share", "--partner", "LOOK"), [bert.clientUid])
    assert.deepStrictEqual(await found("--q", anna.email.slice(2)), [anna.clientUid])
    assert.deepStrictEqual(await found("--q", "%", "--state", "ACTIVE"), [])
    assert.deepStrictEqual(await found("--q", "share", "--limit", "1"), [cleo.clientUid])
    assert.strictEqual((await service.cli(["client", "list", "--q", "x", "--partner", "NONE"])).refusal.code, 4004)
  })
})

describe("operator surface, lists of reports and bookings", () => {
  it("the tokens the command line offers are the tables' own", () => {
    assert.deepStrictEqual(tokens.collateralStatuses, collateralStatuses)
    assert.deepStrictEqual(tokens.settlementStatuses, settlementStatuses)
  })

  it("collateral reports, settlement items, payments and postings: of all, one partner, one client, in pages", async () => {
    for (const [ref, amount] of [
      ["in-1", "50"],
      ["in-2", "70"]
    ] as const) {
      await collateral(service, key, anna.clientId, { partnerRef: ref, direction: "DEPOSIT", amount })
    }
    await collateral(service, key, anna.clientId, { partnerRef: "out", direction: "WITHDRAWAL", amount: "9000" })
    const { reports } = await service.done(["collateral", "list"], "SUPPORT")
    assert.deepStrictEqual(
      reports.map(({ partnerRef, status }: { partnerRef: string; status: string }) => [partnerRef, status]),
      [
        ["out", "REFUSED"],
        ["in-2", "BOOKED"],
        ["in-1", "BOOKED"]
      ]
    )
    const refused = ["collateral", "list", "--status", "REFUSED", "--client", "c-1", "--partner", "LOOK"]
    assert.deepStrictEqual((await service.done(refused)).reports, [reports[0]])
    assert.deepStrictEqual((await service.done(["collateral", "list", "--partner", "BANK"])).reports, [])
    const first = await service.done(["collateral", "list", "--limit", "2"])
    const rest = await service.done(["collateral", "list", "--before", String(first.nextBefore)])
    assert.deepStrictEqual([...first.reports, ...rest.reports], reports)

    const own = await service.call("GET", `/partner/v1/clients/${anna.clientId}/ledger`, { key })
    const { postings } = await service.done(["ledger", "list", "c-1"], "SUPPORT")
    assert.deepStrictEqual(postings, own.json.data.postings)
    assert.lengthOf(postings, 2)
    const last = ["ledger", "list", "c-1", "--limit", "1", "--currency", "USDC", "--type", "PARTNER_COLLATERAL_IN"]
    assert.deepStrictEqual((await service.done(last)).postings, postings.slice(0, 1))
    assert.deepStrictEqual((await service.done(["ledger", "list", "c-1", "--type", "FUNDING"])).postings, [])
    assert.strictEqual((await service.cli(["ledger", "list", "c-1", "--type", "NONE"])).status, 2)

    const { approvalId } = await service.done(
      ["ledger", "adjust", "c-1", "--currency", "USDC", "--amount", "3", "--reason", "gift"],
      "FINANCE"
    )
    await service.done(["approval", "grant", String(approvalId)])
    const { items } = await service.done(["settlement", "list", "--client", anna.email], "SUPPORT")
    assert.deepInclude(items[0], {
      type: "MANUAL",
      amount: "3.000000",
      status: "PENDING",
      partnerId: partner.partnerId
    })
    const later = ["settlement", "list", "--since", String(items[0].occurredAt + 1), "--status", "PENDING"]
    assert.deepStrictEqual((await service.done(later)).items, [])

    const wire = ["--amount", "3", "--from", "1", "--to", "2", "--tx-ref", "w"]
    const record = await service.done(["interfirm", "record", "LOOK", ...wire], "FINANCE")
    assert.deepStrictEqual((await service.done(["interfirm", "list"], "SUPPORT")).settlements, [record])
    assert.deepStrictEqual((await service.done(["interfirm", "list", "--partner", "BANK"])).settlements, [])
  })

  it("webhook show and delivery show: the address, the sent bytes, the answers; never the secret", async () => {
    assert.strictEqual((await service.cli(["webhook", "show", "LOOK"])).refusal.code, 4004)
    const put = await service.call("PUT", "/partner/v1/webhook", { key, body: { url: "https://127.0.0.1:9/hook" } })
    const { deliveryId } = (await service.call("POST", "/partner/v1/webhook/test", { key })).json.data
    await service.call("DELETE", "/partner/v1/webhook", { key })
    await query(
      service,
      `UPDATE webhook_deliveries SET state = 'FAILED', context = json_build_object('attempts', 10, 'lastStatus', 503,
         'error', 'The endpoint answered 503.', 'sentAt', NULL, 'nextAt', NULL, 'tries', json_build_array(
           json_build_object('at', 1795780800000, 'status', NULL, 'error', 'The connection failed: ECONNREFUSED.'),
           json_build_object('at', 1795780810000, 'status', 503, 'error', 'The endpoint answered 503: down'))) WHERE id = ${deliveryId}`
    )
    const endpoint = await service.cli(["webhook", "show", "LOOK"], "SUPPORT")
    assert.deepInclude(endpoint.json, { partnerId: partner.partnerId, url: "https://127.0.0.1:9/hook", active: false })
    const one = await service.cli(["delivery", "show", String(deliveryId)], "SUPPORT")
    assert.deepInclude(one.json, { deliveryId, status: "FAILED", lastStatus: 503, url: "https://127.0.0.1:9/hook" })
    assert.deepInclude(one.json.payload, { event: "webhook.test" })
    assert.notInclude(endpoint.stdout + one.stdout, put.json.data.secret)
    const human = await runRecorded(["delivery", "show", String(deliveryId), ...service.connection("SUPPORT")])
    assert.match(human.stdout, /^answer +HTTP 503: The endpoint answered 503\.$/m)
    assert.match(human.stdout, /^ +"event": "webhook\.test",?$/m)
    assert.strictEqual(one.json.tries.length, 2)
    assert.match(human.stdout, /^ATTEMPT +HTTP +ANSWER$/m)
    assert.match(human.stdout, /^2026-11-27 12:00:00Z +none +The connection failed: ECONNREFUSED\.$/m)
    assert.match(human.stdout, /^2026-11-27 12:00:10Z +503 +The endpoint answered 503: down$/m)
    assert.strictEqual((await service.cli(["delivery", "show", "999999"])).refusal.code, 4004)
  })
})

interface Item {
  readonly kind: string
  readonly id: string
  readonly decide: ReadonlyArray<string>
  readonly mayDecide: boolean
  readonly amount: string | null
  readonly currency: string | null
  readonly clientUid: string | null
  readonly partner: string | null
}

describe("operator surface, queue", () => {
  it("all that waits, the oldest first, each with the command that decides it and whether this key may", async () => {
    await query(service, "UPDATE webhook_deliveries SET ts = 5 WHERE state = 'FAILED'")
    const held = await heldClient()
    const body = { partnerRef: "d-1", currency: "EUR", amount: "12.5" }
    const notice = await service.call("POST", `/partner/v1/clients/${cleo.clientId}/deposits`, { key: bank.key, body })
    const { approvalId } = await service.done(
      ["ledger", "adjust", "c-1", "--currency", "USDC", "--amount", "7", "--reason", "r"],
      "FINANCE"
    )
    const opened = ["break", "open", "--scope", "BANK", "--currency", "EUR", "--amount", "-2", "--reason", "bank says"]
    const { breakId } = await service.done(opened, "FINANCE")
    await service.done(["partner", "reliance", "BANK", "SUSPENDED", "--reason", "r"])
    await service.done(["partner", "reliance", "BANK", "REVOKED", "--reason", "r"])
    await service.done(["partner", "reliance", "BANK", "REQUESTED", "--reason", "new papers"])
    await query(
      service,
      "INSERT INTO venue_quarantine (id, at, number, account, reason, bytes) VALUES (7, 6, 1, 'x', 'odd', '')"
    )
    await query(
      service,
      `INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at) VALUES ('O-99', $1, $2, 'order', '{}', 7)`,
      [BigInt(partner.partnerId), BigInt(anna.clientId)]
    )
    await query(
      service,
      `INSERT INTO statement_job_failures (id, job_id, partner_id, client_id, state, tries, retry_at, reason, failed_at)
         VALUES (1, 1, $1, $2, 'OPEN', 2, 9, 'no mark', 8)`,
      [BigInt(partner.partnerId), BigInt(anna.clientId)]
    )
    await query(
      service,
      `INSERT INTO attachments (id, partner_id, client_id, state, version, context, symbol, live, created_at, unplaced_since)
         VALUES (88, $1, $2, 'ACTIVE', '2', '{"standing": {"unplaced": [{"orderId": 89, "reason": "too busy"}]}}', 'BTC-USDC-PERP', false, 1, 7)`,
      [BigInt(partner.partnerId), BigInt(anna.clientId)]
    )
    const queue = await service.done(["queue"], "FINANCE")
    const items = queue.waiting as ReadonlyArray<Item>
    assert.deepStrictEqual(
      items.map(({ kind, mayDecide, decide }) => [kind, mayDecide, decide[0]]),
      [
        ["delivery", false, `webhook redeliver ${items[0]?.id}`],
        ["quarantine", false, "venue quarantine drop 7"],
        ["leg", false, "order cancel 89 --reason R"],
        ["call", false, "venue resolve order:99 --as void --reason R"],
        ["statement", true, "statement jobs"],
        ["case", false, `kyc clear ${held.clientId}`],
        ["deposit", true, `deposit confirm ${notice.json.data.noticeId}`],
        // The operator that requested the command can't grant it.
        ["approval", false, `approval grant ${approvalId}`],
        ["break", true, `break close ${breakId} --reason R`],
        ["reliance", false, "partner reliance BANK APPROVED --reason R"]
      ]
    )
    assert.deepInclude(items[6] as Item, {
      amount: "12.50",
      currency: "EUR",
      clientUid: cleo.clientUid,
      partner: "BANK"
    })
    assert.deepStrictEqual(
      queue.counts.map(({ kind, count }: { kind: string; count: number }) => [kind, count]).toSorted(),
      items.map(({ kind }) => [kind, 1]).toSorted()
    )
    const admin = (await service.done(["queue"])).waiting as ReadonlyArray<Item>
    assert.isTrue(admin.every(({ mayDecide }) => mayDecide))
    const support = (await service.done(["queue"], "SUPPORT")).waiting as ReadonlyArray<Item>
    assert.isFalse(support.some(({ mayDecide }) => mayDecide))
    const two = await service.done(["queue", "--limit", "2"])
    assert.deepStrictEqual([two.waiting, two.hasMore], [admin.slice(0, 2), true])
    const cases = await service.done(["queue", "--kind", "case"])
    assert.deepStrictEqual([cases.waiting, cases.hasMore], [admin.filter(({ kind }) => kind === "case"), false])
    assert.deepStrictEqual(cases.counts, [{ ...cases.counts[0], kind: "case", count: 1 }])
    const none = await runRecorded(["queue", "--kind", "withdrawal", ...service.connection("FINANCE")])
    assert.strictEqual(none.stdout, "Nothing of kind withdrawal waits.\n")
    const human = await runRecorded(["queue", ...service.connection("FINANCE")])
    for (const line of human.stdout.split("\n")) assert.isAtMost(line.length, 80, line)
    assert.match(human.stdout, /^\S+ +BANK-\d+ +12\.50 EUR +deposit confirm \d+$/m)
    assert.include(human.stdout, "(approval grant")
  })

  it("a decided item leaves the list at once; a case that compliance clears, too", async () => {
    const kindsNow = async () => (await service.done(["queue"])).waiting.map(({ kind }: Item) => kind) as Array<string>
    const [held] = (await service.done(["queue", "--kind", "case"])).waiting
    await service.done(["kyc", "clear", String(held.clientId), "--note", "another person"], "COMPLIANCE")
    const [approval] = (await service.done(["queue", "--kind", "approval"])).waiting
    await service.done(["approval", "refuse", approval.id])
    const [notice] = (await service.done(["queue", "--kind", "deposit"])).waiting
    await service.done(["deposit", "reject", notice.id, "--reason", "r"], "FINANCE")
    assert.notIncludeMembers(await kindsNow(), ["case", "approval", "deposit"])
  })

  it("a kind or a limit that is none is refused, and writes nothing", async () => {
    const { io, printed } = recordingIo()
    assert.strictEqual(await runCli(["queue", "--kind", "voucher"], io), 2)
    assert.include(printed.stderr, waitingKinds[0])
    const plain = await plainCall("GET", "/queue?kind=voucher&limit=501")
    const { errors } = (plain.json as { readonly data: { readonly errors: object } }).data
    assert.deepStrictEqual([plain.status, Object.keys(errors)], [400, ["kind", "limit"]])
  })

  it("among many that are decided long ago, the open ones and a client's names are found by their indexes", async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await query(
      service,
      `INSERT INTO deposit_notices (id, partner_id, client_id, shard, state, version, context, currency, amount, created_at, decided_at)
         SELECT 1000000 + n, $1, $2, 0, 'CONFIRMED', '1', '{}', 'EUR', 100, n, n FROM generate_series(1, 20000) n`,
      [BigInt(bank.partnerId), BigInt(cleo.clientId)]
    )
    await query(
      service,
      `INSERT INTO withdrawal_requests (id, partner_id, client_id, shard, state, version, context, currency, amount, created_at, paid_at)
         SELECT 1000000 + n, $1, $2, 0, 'PAID', '1', '{}', 'EUR', 100, n, n FROM generate_series(1, 20000) n`,
      [BigInt(bank.partnerId), BigInt(cleo.clientId)]
    )
    await query(
      service,
      `INSERT INTO webhook_deliveries (id, partner_id, client_id, event, state, version, context, body, ts, next_at)
         SELECT 1000000 + n, $1, NULL, 'e', 'SENT', '1', '{"sentAt": 1}', '{}', n, n FROM generate_series(1, 20000) n`,
      [BigInt(bank.partnerId)]
    )
    await query(
      service,
      `INSERT INTO clients SELECT (jsonb_populate_record(c, jsonb_build_object('id', 1000000 + n, 'uid', 'BANK-' || (10000000 + n),
         'partner_client_ref', 'many-' || n, 'email', 'many' || n || '@mail.example'))).*
         FROM clients c, generate_series(1, 20000) n WHERE c.id = $1`,
      [BigInt(cleo.clientId)]
    )
    await query(service, "INSERT INTO claims SELECT 'many:' || n, 1000000 + n FROM generate_series(1, 20000) n")
    await query(service, "ANALYZE")
    const planOf = async ({ text, values }: { readonly text: string; readonly values: ReadonlyArray<unknown> }) => {
      const plan = await service.run(
        Effect.flatMap(PgClient.PgClient, (sql) =>
          sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, values)
        )
      )
      return plan.map((row) => row["QUERY PLAN"]).join("\n")
    }
    const read = (plan: string): number =>
      [...(/Buffers: shared hit=(\d+)(?: read=(\d+))?/.exec(plan) ?? [])]
        .slice(1)
        .reduce((sum, n) => sum + Number(n ?? 0), 0)
    for (const statement of [
      waitingStatement(100, Date.now(), { withdrawals: [], swaps: [], calls: [] }),
      namedStatement("LOOK/c-1"),
      namedStatement(anna.email)
    ]) {
      const plan = await planOf(statement)
      assert.notMatch(plan, /Seq Scan on (clients|claims|deposit_notices|withdrawal_requests|webhook_deliveries)/, plan)
      assert.isBelow(read(plan), 300, plan)
    }
  })
})
