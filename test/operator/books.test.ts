/**
 * Ledger corrections, the proof of the books, audit, live objects and the sandbox clock, through the command line
 * (A2-62, A3-43, A3-45; operator surface).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { signedAmount } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { runRecorded, startOperatorService } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario({ partner: { code: "BOOK" }, damaged: true })
const clientId = String(await service.client(key))

const adjust = (amount: string, currency = "USDC") => [
  "ledger",
  "adjust",
  clientId,
  "--currency",
  currency,
  "--amount",
  amount,
  "--reason",
  "bank returned it"
]

describe("operator surface, ledger", () => {
  it("A2-62, A3-43: adjust posts MANUAL with the reason, notifies the client, and never goes below zero (F10)", async () => {
    const up = await service.done(adjust("+100.5"), "FINANCE")
    assert.deepStrictEqual(up.balance, { cash: "100.500000", reserved: "0.000000", total: "100.500000" })
    const tooMuch = await service.cli(adjust("-150"), "FINANCE")
    assert.deepStrictEqual([tooMuch.status, tooMuch.refusal.code], [1, 4092])
    const down = await service.done(adjust("-50"), "FINANCE")
    assert.deepStrictEqual([down.amount, down.balance.cash], ["-50.000000", "50.500000"])
    const stored = await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe("SELECT type, actor, reason FROM ledger_transactions WHERE tx_id = $1", [BigInt(down.ledgerTxId)])
      )
    )
    assert.deepStrictEqual(stored, [{ type: "MANUAL", actor: "FINANCE", reason: "bank returned it" }])
    const told = await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe("SELECT kind, ref FROM notifications WHERE client_id = $1 ORDER BY id DESC LIMIT 1", [
          BigInt(clientId)
        ])
      )
    )
    assert.deepStrictEqual(told, [{ kind: "MONEY_MOVEMENT", ref: String(down.ledgerTxId) }])
  })

  it.each([
    ["12.50", "USDC", 12_500_000n],
    ["-0.00000001", "BTC", -1n],
    ["+3", "EUR", 300n],
    ["0", "USDC", null],
    ["-0.00", "USDC", null],
    ["--1", "USDC", null],
    ["1e3", "USDC", null],
    ["1.234", "EUR", null],
    ["1", "DOGE", null]
  ])("F2: %s %s is %s minor units", (amount, currency, minor) => {
    const parsed = signedAmount({ amount, currency })
    assert.strictEqual(typeof parsed === "string" ? null : parsed.amount, minor)
  })

  it("verify shows every check and ends with 0 while the books hold", async () => {
    const ran = await service.cli(["ledger", "verify"], "SUPPORT")
    assert.deepStrictEqual([ran.status, ran.json.ok], [0, true])
    assert.isAbove(ran.json.checks.length, 5)
  })

  it("D15: a partner whose clients hold money can't be closed, and the refusal gives the reason", async () => {
    const ran = await service.cli(["partner", "status", "BOOK", "CLOSED", "--reason", "r"])
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4092])
    assert.deepStrictEqual(ran.refusal.data.blockers, [
      "Clients hold 50.500000 USDC of cash (client 1). To clear: POST /clients/{clientId}/collateral with direction WITHDRAWAL, or client payout C for who can't ask.",
      "Settlement items are not settled: 2 PENDING, 50.500000 USDC (item 1, 2). To clear: POST /settlement/items/{itemId}/report with status SETTLED.",
      "50.500000 USDC are outstanding between the firms (positive: owed to the partner). To clear: interfirm record P --amount 50.500000."
    ])
  })

  it("verify fails with the first break, once the database was changed past the service", async () => {
    await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe("UPDATE balances SET cash = cash + 1 WHERE client_id = $1", [BigInt(clientId)])
      )
    )
    const ran = await service.cli(["ledger", "verify"])
    assert.deepStrictEqual([ran.status, ran.json.ok], [1, false])
    assert.match(ran.refusal.msg, /^First break: every client's cash and reserve/)
  })
})

describe("operator surface, audit and machines", () => {
  it("A3-45: the tail is newest last, by client, by partner, from a time on, and names role and label", async () => {
    const { entries } = await service.done(["audit", "tail", "--client", clientId], "SUPPORT")
    const idsOf = (page: { readonly entries: ReadonlyArray<{ readonly auditId: number }> }) =>
      page.entries.map(({ auditId }) => auditId)
    const ids = idsOf({ entries })
    assert.deepStrictEqual(
      ids,
      ids.toSorted((a: number, b: number) => a - b)
    )
    const last = entries.at(-1)
    assert.deepStrictEqual(
      [last.stream, last.action, last.role, last.keyLabel, last.before, last.after, last.reason],
      ["client", "ledger.adjust", "FINANCE", "FINANCE one", "100.500000 USDC", "50.500000 USDC", "bank returned it"]
    )
    const since = await service.done(["audit", "tail", "--since", String(last.ts), "--client", clientId])
    assert.isTrue(since.entries.every((row: { ts: number }) => row.ts >= last.ts))
    const newest = await service.done(["audit", "tail", "--limit", "2"])
    assert.strictEqual(newest.entries.length, 2)
    // A period with more rows than are shown: the newest of them, newest last, and the way to earlier ones.
    const asked = ["audit", "tail", "--since", "0", "--client", clientId]
    const page = await service.done([...asked, "--limit", "2"])
    assert.deepStrictEqual([idsOf(page), page.hasMore, page.nextBefore], [ids.slice(-2), true, ids.at(-2)])
    const earlier = await service.done([...asked, "--before", String(page.nextBefore)])
    assert.deepStrictEqual([idsOf(earlier), earlier.hasMore, earlier.nextBefore], [ids.slice(0, -2), false, null])
    const human = await runRecorded([...asked, "--limit", "2", ...service.connection("SUPPORT")])
    assert.include(human.stdout, `Earlier rows are left out: more with --before ${ids.at(-2)}, or a higher --limit.`)
    assert.strictEqual((await service.cli(["audit", "tail", "--partner", "NOBODY"])).refusal.code, 4004)
  })

  it("--follow prints one document a line, continues with new rows, and ends when the service does", async () => {
    const lines: Array<string> = []
    const heard = Promise.withResolvers<void>()
    const following = runRecorded(
      ["audit", "tail", "--follow", "--json", "--limit", "1", ...service.connection("SUPPORT")],
      {
        stdout: (text) => {
          lines.push(text)
          if (lines.length === 1) void service.done(["screening", "add", "--name", "Follow Me", "--list", "PEP"])
          else heard.resolve()
          // A reader that disconnects ends the command: the only end of this endless loop.
          if (lines.length > 1) throw new Error("enough")
        }
      }
    )
    await Promise.all([heard.promise, following.catch(() => undefined)])
    const [first, second] = lines.map((line) => JSON.parse(line))
    assert.isAbove(second.auditId, first.auditId)
    assert.strictEqual(second.action, "screening.add")
  })

  it.each([
    ["partner", () => "BOOK", "ACTIVE", "partner.create"],
    ["reliance", () => "BOOK", "APPROVED", "reliance.approve"],
    ["client", () => clientId, "ACTIVE", "client.onboard"],
    ["verificationBlock", () => `${clientId}:FATCA`, "APPROVED", null],
    ["kycPackage", () => "1", "ACCEPTED", "kyc.store"],
    ["apiKey", () => "1", "ACTIVE", "key.issue"]
  ] as ReadonlyArray<readonly [string, () => string, string, string | null]>)(
    "machine inspect %s shows its state, context, timers and history",
    async (kind, id, state, action) => {
      const shown = await service.done(["machine", "inspect", kind, id()], "SUPPORT")
      assert.deepStrictEqual([shown.kind, shown.state], [kind, state])
      assert.isObject(shown.context)
      const actions = shown.history.map((row: { action: string }) => row.action)
      if (action !== null) assert.include(actions, action)
      if (kind === "client") assert.include(JSON.stringify(shown.timers), "identification.expiry")
    }
  )

  it("machine inspect of nothing answers 404 code 4004", async () => {
    for (const [kind, id] of [
      ["nothing", "1"],
      ["client", "777777"],
      ["case", "x"],
      ["verificationBlock", `${clientId}:NONE`]
    ]) {
      assert.strictEqual((await service.cli(["machine", "inspect", kind ?? "", id ?? ""])).refusal.code, 4004, kind)
    }
  })
})

describe("operator surface, sim clock", () => {
  it("moves business time forward, keeps the offset, and is audited", async () => {
    const before = await service.done(["sim", "clock", "show"], "SUPPORT")
    assert.strictEqual(before.offsetMillis, 0)
    const after = await service.done(["sim", "clock", "advance", "8h"])
    assert.strictEqual(after.offsetMillis, 28_800_000)
    assert.isAtLeast(after.now - before.now, 28_800_000)
    assert.strictEqual((await service.done(["sim", "clock", "advance", "90s"])).offsetMillis, 28_890_000)
    const stored = await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe<{ readonly n: bigint }>("SELECT clock_offset AS n FROM service_stamp")
      )
    )
    assert.strictEqual(stored[0]?.n, 28_890_000n)
    // At some times of the day the nightly screening pass is due by then, and adds its rows.
    const { entries } = await service.done(["audit", "tail", "--limit", "20"])
    const moves = entries.filter(({ action }: { readonly action: string }) => action === "clock.advance")
    assert.deepStrictEqual(
      moves.map(({ after }: { readonly after: string }) => after),
      ["28800000 ms ahead", "28890000 ms ahead"]
    )
  })

  it("is refused outside the sandbox", async () => {
    const real = await startOperatorService({ settings: { sandbox: false } })
    try {
      assert.strictEqual((await real.cli(["sim", "clock", "advance", "1s"])).refusal.code, 4092)
      assert.strictEqual((await real.cli(["sim", "clock", "show"])).refusal.code, 4092)
      const sandboxed = await real.cli([
        "partner",
        "create",
        "--code",
        "SB",
        "--name",
        "n",
        "--legal-name",
        "l",
        "--country",
        "DE",
        "--licence",
        "EMI",
        "--sandbox"
      ])
      assert.deepStrictEqual(Object.keys(sandboxed.refusal.data.errors), ["sandbox"])
    } finally {
      await real.stop()
    }
  })
})
