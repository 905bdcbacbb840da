/**
 * A disk that is really full: the whole service as an operator runs it, its data directory on a small file system of
 * its own (a tmpfs in a private mount namespace). Writes are refused, acknowledged writes are neither lost nor doubled,
 * and once there is space, database and service recover by themselves (architecture, Start-up). Without the privilege
 * to mount, only test/guarantees/unwritable.test.ts covers this, by limits.
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import type { IncomingMessage } from "node:http"
import { Agent, request } from "node:https"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { type Answer, callServer } from "../http/callServer.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { stateOf } from "./tradeWorld.ts"
import { isDeep } from "../support/every.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const isolated = ["--user", "--map-root-user", "--mount", "--", "sh", "-c"]
const bin = resolve(import.meta.dirname, "../../bin/brokerage.mjs")
const megabytes = 160
const folder = Fs.mkdtempSync(join(tmpdir(), "brokerage-full-disk-"))
const mount = `mount -t tmpfs -o size=${megabytes}m,mode=0700 none "${folder}"`

interface Ready {
  readonly url: string
  readonly pid: number
  readonly operatorKeyFile: string
  readonly caFile: string
}

const start = async (): Promise<{
  readonly child: ChildProcess
  readonly ready: Ready
  readonly log: () => string
}> => {
  const serve = `exec "${process.execPath}" "${bin}" serve --sandbox --json --port 0 --kill-at on-signal --data-dir "${folder}/data"`
  const child = spawn("unshare", [...isolated, `${mount} && ${serve}`], { stdio: ["ignore", "pipe", "pipe"] })
  let log = ""
  let line = ""
  child.stderr.on("data", (chunk: Buffer) => void (log += chunk.toString()))
  child.stdout.on("data", (chunk: Buffer) => void (line += chunk.toString()))
  await vi.waitFor(() => assert.isTrue(line.includes("\n") || child.exitCode !== null), 60_000)
  assert.isNull(child.exitCode, log)
  return { child, ready: JSON.parse(line) as Ready, log: () => log }
}

describe.skipIf(!hasTool("mount"))(`a full disk${skipNote("mount")}`, { timeout: 120_000 }, () => {
  let service: Awaited<ReturnType<typeof start>>
  let agent: Agent
  let key: string
  let clientId: number
  /** The path of a file in the service's mount namespace, as this process sees it. */
  const inside = (file: string): string => `/proc/${service.ready.pid}/root${file}`
  const ballast = () => inside(`${folder}/ballast`)
  const acknowledged = new Map<string, string>()
  const sent = new Set<string>()

  const cli = async (...args: ReadonlyArray<string>) => {
    const { url, operatorKeyFile, caFile } = service.ready
    const operatorKey = Fs.readFileSync(inside(operatorKeyFile), "utf8").trim()
    const ran = await runRecorded([
      ...args,
      "--json",
      "--yes",
      "--url",
      url,
      "--operator-key",
      operatorKey,
      "--ca",
      inside(caFile)
    ])
    assert.strictEqual(ran.status, 0, ran.stderr)
    return ran.json
  }
  const call = (method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Answer> =>
    callServer(agent, Number(new URL(service.ready.url).port), method, path, {
      key,
      headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
      ...(body === undefined ? {} : { body })
    })
  const report = async (name: string): Promise<number> => {
    sent.add(name)
    const body = { partnerRef: name, direction: "DEPOSIT", amount: "1", note: "x".repeat(200) }
    const { status, text, headers } = await call("POST", `/partner/v1/clients/${clientId}/collateral`, body, name)
    if (status === 201) {
      assert.strictEqual(acknowledged.get(name) ?? text, text)
      acknowledged.set(name, text)
    } else {
      assert.strictEqual(status, 503, text)
      assert.isDefined(headers["retry-after"])
    }
    return status
  }
  const many = (prefix: string, count: number): Promise<ReadonlyArray<number>> =>
    Promise.all(Array.from({ length: count }, (_, n) => report(`${prefix}-${n}`)))
  /** Fills the file system to the last byte. */
  const fill = (): void => {
    const file = Fs.openSync(ballast(), "a")
    try {
      for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 4)) {
        const block = Buffer.alloc(size)
        try {
          while (Fs.writeSync(file, block) > 0);
        } catch (error) {
          assert.strictEqual((error as { readonly code?: string }).code, "ENOSPC")
        }
      }
    } finally {
      Fs.closeSync(file)
    }
  }

  const query = async (text: string): Promise<ReadonlyArray<object>> => {
    const asked = Effect.flatMap(PgConnection.make({ url: databaseUrl() }), (session) => session.query(text))
    return (await Effect.runPromise(Effect.scoped(asked))).rows as unknown as ReadonlyArray<object>
  }
  const databaseUrl = (): Redacted.Redacted => {
    const read = (name: string) => Fs.readFileSync(inside(`${folder}/data/postgres/${name}`), "utf8").trim()
    return Redacted.make(`postgres://brokerage:${read("password")}@127.0.0.1:${read("port")}/brokerage`)
  }
  /** Stores postings without their transactions; afterwards the books can't be verified. */
  const storePostings = async (rows: number): Promise<void> => {
    await query(`INSERT INTO ledger_transactions (tx_id, key, type, actor, reason, client_id, partner_id, refs, ts)
      SELECT 1000000 + g, t.key || ':' || g, t.type, t.actor, t.reason, t.client_id, t.partner_id, t.refs, t.ts
        FROM generate_series(1, ${rows}) AS g, (SELECT * FROM ledger_transactions WHERE client_id = ${clientId} LIMIT 1) AS t`)
    await query(`INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
      SELECT 1000000 + 2 * g + p.posting_id % 2, 1000000 + g, p.account, p.client_id, p.partner_id, p.currency, p.kind, p.amount
        FROM generate_series(1, ${rows}) AS g, postings p
       WHERE p.tx_id = (SELECT tx_id FROM ledger_transactions WHERE client_id = ${clientId} LIMIT 1)`)
  }
  /** Makes the service stop itself at its next pass of the point. */
  const freezeAt = async (point: string): Promise<void> => {
    const file = inside(`${folder}/data/kill-at`)
    Fs.writeFileSync(file, `${point} stop`)
    process.kill(service.ready.pid, "SIGUSR2")
    await vi.waitFor(() => assert.isFalse(Fs.existsSync(file)), { timeout: 10_000, interval: 5 })
  }
  /** Reads a file, or fails at any answer but 200. `meanwhile` runs when its first bytes have arrived. */
  const read = async (path: string, meanwhile = () => {}): Promise<Buffer> => {
    const asked = request(`${service.ready.url}${path}`, { agent, headers: { authorization: `Bearer ${key}` } })
    asked.end()
    const [answer] = (await once(asked, "response")) as [IncomingMessage]
    meanwhile()
    const parts: Array<Buffer> = []
    for await (const part of answer) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    assert.strictEqual(answer.statusCode, 200, body.toString().slice(0, 500))
    return body
  }
  const serverLog = (): string => Fs.readFileSync(inside(`${folder}/data/postgres/postgres.log`), "utf8")
  /** Fills the space for the database's log: the first segment without space ends the server. */
  const exhaustLog = async (): Promise<void> => {
    const url = databaseUrl()
    const statement = "SELECT pg_logical_emit_message(true, 'x', repeat('x', 4000000))::text"
    const exit = await Effect.runPromiseExit(
      Effect.flatMap(PgConnection.make({ url }), (session) => Effect.forever(session.query(statement))).pipe(
        Effect.scoped,
        Effect.timeout("60 seconds")
      )
    )
    assert.isTrue(Exit.isFailure(exit))
  }
  /** Checks that every report ever sent is booked once after a retry, with the acknowledged bytes. */
  const assertNothingLost = async (first: string): Promise<void> => {
    await vi.waitFor(async () => assert.strictEqual(await report(first), 201), { timeout: 60_000, interval: 200 })
    for (const name of sent) assert.strictEqual(await report(name), 201, name)
    const balances = await call("GET", `/partner/v1/clients/${clientId}/balances`)
    assert.include(balances.text, `"cash":"${sent.size}.000000"`)
    const proof = await cli("ledger", "verify")
    assert.isTrue(proof.ok, JSON.stringify(proof))
  }

  beforeAll(async () => {
    service = await start()
    agent = new Agent({ ca: Fs.readFileSync(inside(service.ready.caFile)), keepAlive: true })
    await cli(
      "partner",
      "create",
      "--code",
      "FULL",
      "--name",
      "Full",
      "--legal-name",
      "Full AG",
      "--country",
      "DE",
      "--licence",
      "MICA_CASP",
      "--custody",
      "PARTNER",
      "--collateral-asset",
      "EURD",
      "--sandbox"
    )
    await cli("partner", "reliance", "FULL", "APPROVED", "--reason", "test")
    await cli("partner", "limits", "FULL", "--read", "1000000", "--trade", "1000000")
    key = (await cli("key", "issue", "FULL", "--label", "test", "--scope", "TRADE")).key
    const onboarded = await call("POST", "/partner/v1/clients", sampleOnboarding(1, "full-disk", Date.now()))
    clientId = (onboarded.json as { readonly data: { readonly clientId: number } }).data.clientId
  }, 90_000)
  afterAll(async () => {
    agent?.destroy()
    if (service !== undefined && service.child.exitCode === null) {
      service.child.kill("SIGTERM")
      await once(service.child, "exit")
    }
    Fs.rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  it.each([
    ["full", "size=5m", /^error: .* The disk is full: make room, then start again\.\n$/],
    ["read-only", "size=5m,ro", /^error: .* The disk is read-only: make it writable, then start again\.\n$/]
  ])("a first start on a disk that is %s ends with a sentence that names it", async (_, options, sentence) => {
    const place = `${folder}-first`
    Fs.mkdirSync(place, { recursive: true })
    const serve = `"${process.execPath}" "${bin}" serve --sandbox --port 0 --data-dir "${place}/data"`
    const line = `mount -t tmpfs -o ${options} none "${place}" && exec ${serve}`
    const child = spawn("unshare", [...isolated, line], { stdio: ["ignore", "ignore", "pipe"] })
    let log = ""
    child.stderr.on("data", (chunk: Buffer) => void (log += chunk.toString()))
    const [status] = (await once(child, "close")) as [number | null]
    Fs.rmdirSync(place)
    assert.strictEqual(status, 1, log)
    assert.match(log, sentence)
  })

  it("architecture 8: writes get 503 while the disk is full; once there is room all are booked once and the books balance", async () => {
    assert.deepStrictEqual(new Set(await many("before", 20)), new Set([201]))
    fill()
    // Reports are still booked until the pages and log segments with space are used up.
    for (let round = 0; !(await many(`full-${round}`, 100)).includes(503); round++) assert.isBelow(round, 400)
    await vi.waitFor(async () => assert.notInclude(await many("refused", 20), 201), { timeout: 60_000 })
    for (const path of [`/partner/v1/clients/${clientId}/collateral`, "/healthz"])
      assert.strictEqual((await call("GET", path)).status, 200)
    assert.match(service.log(), /the database can't write.*53100/)
    Fs.rmSync(ballast())
    await assertNothingLost("refused-0")
  })

  it("architecture 8: without room for its log the database ends; it and the service recover once there is room", async () => {
    fill()
    // The database's own log is on the full disk and loses lines; the service's log is a pipe.
    const starts = () => service.log().split("The embedded PostgreSQL does not start").length
    const before = starts()
    await exhaustLog()
    assert.include(serverLog(), "PANIC")
    await vi.waitFor(async () => assert.notInclude(await many("log", 20), 201), { timeout: 60_000 })
    assert.strictEqual((await call("GET", "/healthz")).status, 503)
    // The service retries at growing intervals, not in a tight loop.
    await vi.waitFor(() => assert.isAbove(starts(), before), { timeout: 60_000 })
    assert.isBelow(starts() - before, 20)
    Fs.rmSync(ballast())
    await assertNothingLost("log-0")
  })

  it.runIf(isDeep)(
    "STS-22: a full disk during a build gives 503 and no partial model, then one model; a PDF in transit arrives completely",
    async () => {
      await storePostings(6_000)
      const statements = `/partner/v1/clients/${clientId}/statements`
      const to = Date.now()
      const ask = () => call("POST", statements, { kind: "ACCOUNT", from: to - 86_400_000, to }, "a-statement")
      const count = async (table: string): Promise<number> => {
        const [row] = await query(`SELECT count(*) AS n FROM ${table}`)
        return Number((row as { readonly n: bigint }).n)
      }
      await freezeAt("piece-written")
      const asked = ask()
      await vi.waitFor(() => assert.match(stateOf(service.ready.pid), /^[Tt]/), { timeout: 20_000, interval: 10 })
      assert.strictEqual(await count("statement_pieces"), 1)
      fill()
      process.kill(service.ready.pid, "SIGCONT")
      const refused = await asked
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [503, "1"], refused.text)
      Fs.rmSync(ballast())
      // If its log had no space either, the database recovers first.
      const stored = () => Promise.all([count("statements"), count("statement_models")])
      assert.deepStrictEqual(await vi.waitFor(stored, { timeout: 60_000, interval: 200 }), [0, 0])
      const made = await vi.waitFor(
        async () => {
          const answer = await ask()
          assert.strictEqual(answer.status, 200, answer.text)
          return answer
        },
        { timeout: 60_000, interval: 200 }
      )
      assert.deepStrictEqual(await stored(), [1, 1])
      const { statementId } = made.json as { readonly statementId: number }
      const whole = await read(`${statements}/${statementId}/pdf`)
      // A concurrent write may end the database, whose log has no space. The answer is then cut or refused, and never ends
      // as if it were complete.
      const reading = async () => {
        Fs.rmSync(ballast(), { force: true })
        return await read(`${statements}/${statementId}/pdf`, fill)
      }
      const again = await vi.waitFor(reading, { timeout: 60_000, interval: 200 })
      assert.isTrue(again.equals(whole))
      Fs.rmSync(ballast())
    }
  )
})
