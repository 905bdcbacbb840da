/**
 * `ledger export`: the books in formats of other programs, checked by hledger itself if it is installed, and by a
 * strict reader of our own for Beancount; pages that never split a transaction (operator surface, ledger export; A2-62,
 * A2-74).
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CsvReader } from "../../cli/csv.ts"
import { csvColumns, guarded } from "../../cli/ledgerFormats/csv.ts"
import { dayOf, negated, wordOf } from "../../cli/ledgerFormats/LedgerFormat.ts"
import { currencyPlaces } from "../../src/http/api/operator/operatorTokens.ts"
import { currencyCodes, scaleOf } from "../../src/machines/shared/Currency.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import {
  accountPage,
  type ExportScope,
  newestPosting,
  transactionPage
} from "../../src/runtime/store/reads/ledgerExportReads.ts"
import { advance, collateral, dayMillis, get, onboard, person } from "../support/Builders.ts"
import { readBeancount } from "./readBeancount.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const proved = it.skipIf(!hasTool("hledger"))
/** Beancount itself, if it is installed; our own strict reader otherwise. */
const beancount = hasTool("bean-check")
const hledgerNote = skipNote("hledger")

interface Client {
  readonly id: number
  readonly key: string
}

let service: OperatorService
let folder: string
let clients: ReadonlyArray<Client>
/** A time between two days of postings. */
let middle: number
let files = 0
const names = ["Quirinus", "Habermeyer"]

const adjust = (clientId: number, currency: string, amount: string, more: ReadonlyArray<string> = []) =>
  service.done(
    [
      "ledger",
      "adjust",
      String(clientId),
      "--currency",
      currency,
      `--amount=${amount}`,
      "--reason",
      "Habermeyer",
      ...more
    ],
    "FINANCE"
  )

/** Exports to a file. Returns its path. */
const exported = async (format: string, more: ReadonlyArray<string> = []) => {
  const output = join(folder, `${++files}.${format}`)
  const summary = await service.done(["ledger", "export", "--format", format, "--output", output, ...more], "FINANCE")
  return { output, summary, text: readFileSync(output, "utf8") }
}

const check = (file: string) => spawnSync("hledger", ["-f", file, "check", "--strict"], { encoding: "utf8" })
const checkText = (text: string) => {
  const file = join(folder, `${++files}.journal`)
  writeFileSync(file, text)
  return check(file)
}

/** Cash of each client and currency from the partner surface. */
const answered = async (): Promise<Readonly<Record<string, string>>> => {
  const all: Record<string, string> = {}
  for (const { id, key } of clients) {
    for (const line of (await get(service, key, `/clients/${id}/balances`)).json.balances) {
      all[`${id} ${line.currency}`] = line.cash
    }
  }
  return all
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brokerage-export-"))
  service = await startOperatorService()
  const [one, two] = [await service.partner({ code: "EXPA" }), await service.partner({ code: "EXPB" })]
  const made: Array<Client> = []
  for (const [n, { key }] of [one, one, two].entries()) {
    const body = person(n, "export", {
      "kyc.personalInfo.first_name": names[0],
      "kyc.personalInfo.last_name": names[1]
    })
    const id = (await onboard(service, key, body)).json.data.clientId
    made.push({ id, key })
    await collateral(service, key, id, { partnerRef: `in-${n}`, direction: "DEPOSIT", amount: `${n + 1}00.000001` })
  }
  clients = made
  const [a, b] = made.map(({ id }) => id) as [number, number]
  for (const currency of currencyCodes) await adjust(a, currency, `5.${"0".repeat(scaleOf(currency) - 1)}7`)
  await advance(service, 2 * dayMillis)
  middle = await service.run(Effect.map(BusinessClock, (clock) => clock.now()))
  await adjust(a, "BTC", "-5.00000007")
  await adjust(b, "USD1", "0.000001", ["--reference", '=1+1, "x"; date:2020-01-01 |é'])
  await collateral(service, one.key, b, { partnerRef: "out", direction: "WITHDRAWAL", amount: "50" })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe("operator surface, ledger export: hledger", () => {
  proved(`A2-62: hledger accepts the books, and its balances are the service's${hledgerNote}`, async () => {
    const { output, summary } = await exported("hledger")
    assert.strictEqual(check(output).stderr, "")
    assert.strictEqual(check(output).status, 0)
    assert.isAbove(summary.transactions, 12)
    const ran = spawnSync(
      "hledger",
      ["-f", output, "bal", "-N", "-E", "--flat", "--layout=bare", "-O", "csv", "^client:"],
      {
        encoding: "utf8"
      }
    )
    const [, ...rows] = new CsvReader().read(ran.stdout).map(({ fields }) => fields)
    const found = Object.fromEntries(
      rows.map(([account, currency, amount]) => [`${account?.split(":")[1]} ${currency}`, amount])
    )
    for (const [name, cash] of Object.entries(await answered())) {
      assert.strictEqual(found[name] ?? cash.replaceAll(/[1-9]/g, "?"), cash, name)
    }
  })

  proved(`hledger refuses a tampered copy${hledgerNote}`, async () => {
    const { text } = await exported("hledger")
    const amount = "100.000001 USDC  ;"
    assert.include(text, amount)
    assert.notStrictEqual(checkText(text.replace(amount, "100.000002 USDC  ;")).status, 0, "one leg")
    const moved = text.replace(amount, "100.000002 USDC  ;").replace(`-${amount}`, "-100.000002 USDC  ;")
    assert.match(checkText(moved).stderr, /balance assertion/i, "both legs")
    const [, first = ""] = /\n(\d{4}-\d\d-\d\d \* \(\d+\) [\s\S]*?\n\n)/.exec(text) ?? []
    assert.notStrictEqual(checkText(text.replace(first, "")).status, 0, "a transaction left out")
    assert.notStrictEqual(checkText(text + first).status, 0, "a transaction twice")
    assert.strictEqual(checkText(text).status, 0, "untouched")
  })

  proved(`--from, --to and --partner: balances at both ends hold${hledgerNote}`, async () => {
    for (const more of [
      ["--from", String(middle)],
      ["--to", String(middle)],
      ["--partner", "EXPA", "--from", String(middle)],
      ["--from", String(middle - 3 * dayMillis), "--to", String(middle + 1)],
      ["--from", String(middle + 90 * dayMillis)],
      ["--from", "0", "--to", "1"]
    ]) {
      const { output } = await exported("hledger", more)
      assert.deepStrictEqual([check(output).status, check(output).stderr], [0, ""], more.join(" "))
    }
    const { text } = await exported("hledger", ["--from", String(middle)])
    assert.include(text, "opening balance")
    const opened = text.replace(/(client:\S+ {2})200\.000001( USDC = )/, "$1200.000002$2")
    assert.notStrictEqual(opened, text)
    assert.notStrictEqual(checkText(opened).status, 0, "a changed opening balance")
  })
})

describe("operator surface, ledger export: Beancount and CSV", () => {
  it("A2-62: every Beancount directive is valid, every balance holds, a tampered copy is refused", async () => {
    const later = String(middle + 90 * dayMillis)
    for (const more of [
      [],
      ["--from", String(middle)],
      ["--to", String(middle)],
      ["--partner", "EXPB"],
      ["--from", "0"],
      ["--from", later]
    ]) {
      const { output, text } = await exported("beancount", more)
      if (beancount) assert.strictEqual(spawnSync("bean-check", [output]).status, 0, more.join(" "))
      assert.isAbove(readBeancount(text).checked, 1, more.join(" "))
    }
    const { text } = await exported("beancount")
    const { balances } = readBeancount(text)
    for (const [name, cash] of Object.entries(await answered())) {
      const [id, currency] = name.split(" ")
      const minor = balances.get(`Assets:Client:${id}:Cash ${currency}`) ?? 0n
      assert.strictEqual(minor, BigInt(cash.replace(".", "")), name)
    }
    const moved = text.replaceAll("100.000001 USDC\n", "100.000002 USDC\n")
    assert.notStrictEqual(moved, text)
    assert.throws(() => readBeancount(moved), /balance/)
    assert.throws(() => readBeancount(text.replace("100.000001 USDC\n", "100.000002 USDC\n")), /sums to/)
    assert.throws(() => readBeancount(text.replace(/.* open .*Client.*\n/, "")), /not open/)
  })

  it("A2-74: CSV is RFC 4180; its postings add up to its closing records", async () => {
    const { text } = await exported("csv", ["--from", String(middle)])
    assert.isTrue(text.endsWith("\r\n"))
    const [head, ...records] = new CsvReader().read(text).map(({ fields }) => fields)
    assert.deepStrictEqual(head, csvColumns)
    const sums = new Map<string, bigint>()
    let closings = 0
    for (const [record, ts, account, kind, currency, amount] of records) {
      assert.strictEqual(new Date(ts ?? "").toISOString(), ts)
      const name = `${account} ${kind} ${currency}`
      const minor = BigInt(String(amount).replace(".", ""))
      if (record === "CLOSING") assert.strictEqual(sums.get(name), minor, name)
      else sums.set(name, (sums.get(name) ?? 0n) + minor)
      closings += record === "CLOSING" ? 1 : 0
    }
    assert.strictEqual(closings, sums.size)
    const total = [...sums].filter(([name]) => name.endsWith(" USDC")).reduce((sum, [, minor]) => sum + minor, 0n)
    assert.strictEqual(total, 0n)
    assert.isTrue(records.some(([, , , , , , , , , key]) => key?.endsWith('=1+1, "x"; date:2020-01-01 |é')))
  })

  it.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@a", "'@a"],
    ["\ta", "'\ta"],
    ["\ra", "'\ra"],
    ["a=1", "a=1"],
    ["", ""]
  ])("A2-74: the text %j is written %j", (text, written) => assert.strictEqual(guarded(text), written))

  it.each([
    ["manual:12:a b;c", "manual:12:a%20b%3Bc"],
    ["é|,", "%C3%A9%7C%2C"],
    ["\n\ud800", "%0A%EF%BF%BD"],
    ["plain-1_2.3/4", "plain-1_2.3/4"]
  ])("a key %j is the one word %s", (key, word) => assert.strictEqual(wordOf(key), word))

  it("signs and days: zero has no sign, days are UTC", () => {
    assert.deepStrictEqual(["0.00", "1.50", "-1.50"].map(negated), ["0.00", "-1.50", "1.50"])
    assert.deepStrictEqual(
      [dayOf(86_399_999), dayOf(86_400_000), dayOf(0, -1)],
      ["1970-01-01", "1970-01-02", "1969-12-31"]
    )
    assert.deepStrictEqual(
      { ...currencyPlaces },
      Object.fromEntries(currencyCodes.map((currency) => [currency, scaleOf(currency)]))
    )
  })

  it.each(["hledger", "beancount", "csv"])("%s: nothing of a person, no reason, no actor", async (format) => {
    const { text } = await exported(format)
    for (const word of [...names, "mail.example", "FINANCE", "partner:EXPA"]) assert.notInclude(text, word)
  })
})

describe("operator surface, ledger export: command", () => {
  const line = (...more: ReadonlyArray<string>) => ["ledger", "export", "--format", "csv", ...more]

  it("FINANCE and ADMIN alone may export", async () => {
    const output = join(folder, "roles.csv")
    for (const role of ["COMPLIANCE", "SUPPORT"] as const) {
      const ran = await service.cli(line("--output", output), role)
      assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4034], role)
    }
    assert.isFalse(existsSync(output))
    assert.strictEqual((await service.cli(line("--output", output), "ADMIN")).status, 0)
  })

  it("refusals leave no file: an unknown partner, an empty span, wrong usage", async () => {
    const output = join(folder, "none.csv")
    const codes = [
      await service.cli(line("--output", output, "--partner", "NOBODY")),
      await service.cli(line("--output", output, "--from", "5", "--to", "5")),
      await service.cli(line("--output", output, "--from", "-5")),
      await service.cli(line())
    ].map(({ status, refusal }) => [status, refusal?.code])
    assert.deepStrictEqual(codes, [
      [1, 4004],
      [1, 4000],
      [2, 4000],
      [2, 4000]
    ])
    assert.deepStrictEqual(
      readdirSync(folder).filter((name) => name.startsWith("none")),
      []
    )
  })

  it.each(["csv", "hledger", "beancount"])("a refused export to stdout prints nothing there (%s)", async (format) => {
    const line = ["ledger", "export", "--format", format, "--partner", "NOBODY"]
    const ran = await runRecorded([...line, ...service.connection("FINANCE")])
    assert.deepStrictEqual([ran.status, ran.stdout], [1, ""])
    assert.notStrictEqual(ran.stderr, "")
  })

  it("a file is the operator's alone and never overwritten without --yes; stdout has the export alone", async () => {
    const output = join(folder, "kept.csv")
    writeFileSync(output, "mine")
    assert.strictEqual((await service.unsure(line("--output", output))).refusal.code, 4092)
    assert.strictEqual(readFileSync(output, "utf8"), "mine")
    assert.strictEqual((await service.cli(line("--output", output))).status, 0)
    assert.strictEqual(statSync(output).mode & 0o777, 0o600)
    const plain = await runRecorded([...line(), ...service.connection("FINANCE")])
    assert.deepStrictEqual([plain.status, plain.stderr], [0, ""])
    const withoutTimes = (text: string) => text.split("\r\n").filter((record) => record.startsWith("POSTING"))
    assert.deepStrictEqual(withoutTimes(plain.stdout), withoutTimes(readFileSync(output, "utf8")))
  })
})

describe("A2-62: pages of an export", () => {
  const scope = async (): Promise<ExportScope> => ({
    partnerId: null,
    from: null,
    to: null,
    upTo: await service.run(newestPosting)
  })

  it("small pages have every posting once, never split a transaction, and do not see later postings", async () => {
    const fixed = await scope()
    const whole = await service.run(transactionPage(fixed, 0))
    const walked: Array<unknown> = []
    for (let after: number | null = 0; after !== null;) {
      const page: typeof whole = await service.run(transactionPage(fixed, after, 3))
      for (const { postings } of page.rows) assert.strictEqual(postings.length, 2)
      walked.push(...page.rows)
      after = page.nextAfter
      if (walked.length === 2) await adjust(clients[0]?.id ?? 0, "EUR", "1")
    }
    assert.deepStrictEqual(walked, [...whole.rows])
  })

  it("a page may be empty where the scope begins late; the ones behind it are not", async () => {
    const late = { ...(await scope()), from: middle }
    const walked: Array<unknown> = []
    const sizes: Array<number> = []
    for (let after: number | null = 0; after !== null;) {
      const page: { readonly rows: ReadonlyArray<unknown>; readonly nextAfter: number | null } = await service.run(
        transactionPage(late, after, 4)
      )
      walked.push(...page.rows)
      sizes.push(page.rows.length)
      after = page.nextAfter
    }
    assert.strictEqual(sizes[0], 0)
    assert.deepStrictEqual(walked, [...(await service.run(transactionPage(late, 0))).rows])
    assert.isAbove(walked.length, 2)
  })

  it("accounts page by client, the house accounts are last and appear once, all balances add up to zero", async () => {
    const fixed = await scope()
    const whole = await service.run(accountPage(fixed, 0))
    const walked: Array<(typeof whole.rows)[number]> = []
    for (let after: number | null = 0; after !== null;) {
      const page: typeof whole = await service.run(accountPage(fixed, after, 1))
      walked.push(...page.rows)
      after = page.nextAfter
    }
    assert.deepStrictEqual(walked, [...whole.rows])
    for (const currency of currencyCodes) {
      const sum = walked
        .filter((row) => row.currency === currency)
        .reduce((total, { closing }) => total + BigInt(closing.replace(".", "")), 0n)
      assert.strictEqual(sum, 0n, currency)
    }
  })
})

describe("A2-62: the reserve of a client", () => {
  it("is an account of its own in every format", async () => {
    const id = clients[2]?.id ?? 0
    await service.run(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { now } = yield* BusinessClock
        yield* sql.unsafe(
          `INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
           SELECT 90000001, 'withdrawal:1:reserve', 'WITHDRAWAL_RESERVE', 'partner:EXPB', id, partner_id, '{}', $2
             FROM clients WHERE id = $1`,
          [BigInt(id), BigInt(now())]
        )
        yield* sql.unsafe(
          `INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
           SELECT 90000000 + n, 90000001, 'client:' || id, id, partner_id, 'USDC', kind, amount
             FROM clients, (VALUES (1, 'cash', -7000000::bigint), (2, 'reserved', 7000000::bigint)) AS leg (n, kind, amount)
            WHERE id = $1`,
          [BigInt(id)]
        )
      })
    )
    const { balances } = readBeancount((await exported("beancount")).text)
    assert.strictEqual(balances.get(`Assets:Client:${id}:Reserved USDC`), 7_000_000n)
    assert.strictEqual(balances.get(`Assets:Client:${id}:Cash USDC`), 293_000_001n)
    const { output, text } = await exported("hledger", ["--partner", "EXPB"])
    assert.include(text, `client:${id}:reserved  0.000000 USDC = 7.000000 USDC`)
    if (hasTool("hledger")) assert.strictEqual(check(output).status, 0)
    assert.match((await exported("csv")).text, new RegExp(`CLOSING,[^,]+,client:${id},reserved,USDC,7.000000,`))
  })
})
