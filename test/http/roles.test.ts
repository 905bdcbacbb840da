/**
 * `serve --role edge` in front of `serve --role router`, as the processes that an operator runs: the routes that
 * partners reach, the death and return of the router, and the stop of both with half-sent requests (architecture 5 and
 * 8; decision record 6).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent } from "node:https"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { isDeep } from "../support/every.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { callServer } from "./callServer.ts"
import { openRaw } from "./callRaw.ts"

const program = join(resolve(import.meta.dirname, "../.."), "bin", "brokerage.mjs")

interface Process {
  readonly port: number
  readonly caFile: string
  readonly child: ChildProcess
}

const children: Array<ChildProcess> = []

/** Starts `serve` and waits for its ready line. */
const start = (dataDir: string, args: ReadonlyArray<string>): Promise<Process> =>
  new Promise((ready, failed) => {
    const child = spawn(process.execPath, [program, "serve", "--json", "--data-dir", dataDir, ...args], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    children.push(child)
    let out = ""
    let log = ""
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      if (!out.includes("\n")) return
      const { url, caFile } = JSON.parse(out) as { url: string; caFile: string }
      ready({ port: Number(new URL(url).port), caFile, child })
    })
    child.once("exit", (code) => failed(new Error(`ended (${code}): ${log.slice(-2_000)}`)))
  })

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) resolve(child.exitCode)
    else child.once("exit", (code) => resolve(code))
  })

let database: TestDatabase
let folder: string
let router: Process
let edge: Process
let agent: Agent
let key: string

const startRouter = (port: number): Promise<Process> =>
  start(join(folder, "router"), [
    "--role=router",
    "--sandbox",
    "--demo",
    `--port=${port}`,
    `--database-url=${Redacted.value(database.url)}`,
    "--edge-host=127.0.0.1"
  ])

beforeAll(async () => {
  database = await makeTestDatabase()
  folder = mkdtempSync(join(tmpdir(), "brokerage-roles-"))
  router = await startRouter(0)
  edge = await start(join(folder, "edge"), [
    "--role=edge",
    "--port=0",
    `--router-url=https://127.0.0.1:${router.port}`,
    `--router-ca=${router.caFile}`,
    "--pass-operator"
  ])
  agent = new Agent({ keepAlive: true, ca: readFileSync(edge.caFile, "utf8") })
  key = (JSON.parse(readFileSync(join(folder, "router", "demo.json"), "utf8")) as { key: string }).key
})
afterAll(async () => {
  agent.destroy()
  for (const child of children) child.kill("SIGKILL")
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const call = (method: string, path: string, options: Parameters<typeof callServer>[4] = {}) =>
  callServer(agent, edge.port, method, path, { key, ...options })

const operator = (path: string, body: unknown) =>
  call("POST", `/operator/v1${path}`, {
    key: readFileSync(join(folder, "router", "operator.key"), "utf8").trim(),
    body
  })

describe("architecture 5: an edge and a router", () => {
  it("doc 1, What the service does: partners, operators and readers are served through the edge", async () => {
    const me = await call("GET", "/partner/v1/me")
    assert.deepInclude((me.json as { data: { partner: object } }).data.partner, { code: "DEMO" })
    const head = await call("HEAD", "/partner/v1/me")
    assert.deepStrictEqual([head.status, head.text], [200, ""])
    for (const path of ["/healthz", "/docs", "/openapi.json", "/partner/openapi.json"]) {
      assert.strictEqual((await call("GET", path)).status, 200)
    }
  })

  it("A1-08: an allowlist is held against the caller's address", async () => {
    const allow = async (cidrs: ReadonlyArray<string>) =>
      assert.strictEqual((await operator("/partners/DEMO/cidrs", { cidrs })).status, 200)
    await allow(["127.0.0.1/32"])
    assert.strictEqual((await call("GET", "/partner/v1/me")).status, 200)
    await allow(["203.0.113.0/24"])
    const forged = { headers: { "x-forwarded-for": "203.0.113.7" } }
    assert.strictEqual((await call("GET", "/partner/v1/me", forged)).status, 401)
    await allow([])
  })

  it("architecture 5: while the router is dead the edge answers so, and continues when it is back", async () => {
    const gone = exitOf(router.child)
    router.child.kill("SIGKILL")
    await gone
    for (const path of ["/partner/v1/me", "/healthz", "/operator/v1/partners"]) {
      const answer = await call("GET", path)
      assert.deepStrictEqual([answer.status, (answer.json as { code: number }).code], [503, 5030])
      assert.strictEqual(answer.headers["retry-after"], "1")
    }
    assert.strictEqual((await call("GET", "/docs")).status, 200)
    router = await startRouter(router.port)
    assert.strictEqual((await call("GET", "/partner/v1/me")).status, 200)
  })

  it.runIf(isDeep)(
    "architecture 8: under a hundred half-sent requests each stops within 15 s, with status 0",
    async () => {
      const head = `POST /partner/v1/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`
      for (const { port, caFile } of [edge, router]) {
        const ca = readFileSync(caFile, "utf8")
        for (let n = 0; n < 50; n++) {
          const [bodyless, half] = [await openRaw({ port, ca }), await openRaw({ port, ca })]
          bodyless.socket.write(head)
          half.socket.write(`${head}Content-Length: 1000\r\n\r\n{`)
        }
      }
      const startedAt = performance.now()
      const both = [edge, router].map(({ child }) => {
        const code = exitOf(child)
        child.kill("SIGTERM")
        return code
      })
      assert.deepStrictEqual(await Promise.all(both), [0, 0])
      assert.isBelow(performance.now() - startedAt, 15_000)
    }
  )
})
