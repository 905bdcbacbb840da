/**
 * Measures the path of four requests through the service: files and functions that run (precise coverage of V8, without those of
 * the idle service), commits, and calls of the venue. Starts a sandbox of its own and prints a table.
 * `node scripts/requestPath.ts [--rounds N]`. Not part of the tests: it takes about a minute.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { request as httpsRequest } from "node:https"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"

const { values } = parseArgs({ options: { rounds: { type: "string", default: "10" } } })
const rounds = Number(values.rounds)
/** The time after an answer within which the work that follows the answer ends, ms. */
const aftermath = 2_000
const root = resolve(import.meta.dirname, "..")

interface Started {
  readonly url: string
  readonly inspector: string
  readonly ca: string
  readonly key: string
  readonly operatorKey: string
  readonly clientId: number
  readonly stop: () => Promise<void>
}

const startSandbox = (dataDir: string): Promise<Started> =>
  new Promise((ready, failed) => {
    const args = ["serve", "--sandbox", "--demo", "--json", "--port", "0", "--data-dir", dataDir]
    const program = ["--inspect=127.0.0.1:0", join(root, "cli/main.ts"), ...args]
    const child = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "pipe"] })
    const ended = new Promise<void>((done) => child.once("exit", () => done()))
    child.once("exit", () => failed(new Error(`the service did not start: ${printed}`)))
    let printed = ""
    child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()))
    child.stdout.once("data", (line: Buffer) => {
      const { url, caFile, operatorKeyFile } = JSON.parse(line.toString()) as Record<string, string>
      const { key, clientId } = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as {
        readonly key: string
        readonly clientId: number
      }
      const inspector = /ws:\/\/\S+/.exec(printed)?.[0] ?? ""
      const stop = () => {
        child.kill("SIGTERM")
        return ended
      }
      const read = (file = "") => readFileSync(file, "utf8")
      ready({
        url: url ?? "",
        inspector,
        key,
        clientId,
        stop,
        ca: read(caFile),
        operatorKey: read(operatorKeyFile).trim()
      })
    })
  })

interface Answer {
  readonly status: number
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

const send = ({ url, ca }: Started, key: string, method: string, path: string, body?: object): Promise<Answer> =>
  new Promise((done, failed) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${key}`,
      ...(text === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      ...(method === "GET" ? {} : { "idempotency-key": crypto.randomUUID() })
    }
    const sent = httpsRequest(`${url}${path}`, { ca, method, headers }, (response) => {
      let received = ""
      response.on("data", (chunk: Buffer) => (received += chunk.toString()))
      response.once("end", () => {
        const isJson = received.startsWith("{") || received.startsWith("[")
        done({ status: response.statusCode ?? 0, text: received, json: isJson ? JSON.parse(received) : null })
      })
    })
    sent.once("error", failed)
    sent.end(text ?? undefined)
  })

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly functionName: string
      readonly ranges: ReadonlyArray<{ readonly startOffset: number; readonly count: number }>
    }>
  }>
}

/** The profiler of the service's process. */
const profilerOf = async (inspector: string) => {
  const socket = new WebSocket(inspector)
  await new Promise((open) => socket.addEventListener("open", open, { once: true }))
  let id = 0
  const command = <A>(method: string, params: object = {}): Promise<A> =>
    new Promise((done) => {
      const own = ++id
      const receive = ({ data }: MessageEvent): void => {
        const answer = JSON.parse(String(data)) as { readonly id: number; readonly result: A }
        if (answer.id !== own) return
        socket.removeEventListener("message", receive)
        done(answer.result)
      }
      socket.addEventListener("message", receive)
      socket.send(JSON.stringify({ id: own, method, params }))
    })
  await command("Profiler.enable")
  await command("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  return {
    /** Functions of the service that ran since the last call, as `file:offset:name`. */
    ran: async (): Promise<ReadonlySet<string>> => {
      const { result } = await command<Coverage>("Profiler.takePreciseCoverage")
      const found = new Set<string>()
      for (const { url, functions } of result) {
        const file = url.split(`${root}/`)[1]
        if (file === undefined || !file.startsWith("src/")) continue
        for (const { functionName, ranges } of functions) {
          if (functionName !== "" && (ranges[0]?.count ?? 0) > 0)
            found.add(`${file}:${ranges[0]?.startOffset}:${functionName}`)
        }
      }
      return found
    },
    close: () => socket.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), "request-path-"))
const service = await startSandbox(folder)
const profiler = await profilerOf(service.inspector)
const ofClient = `/partner/v1/clients/${service.clientId}`
const partner = (method: string, path: string, body?: object) => send(service, service.key, method, path, body)
const counters = async () => {
  const { text } = await send(service, service.operatorKey, "GET", "/operator/v1/metrics")
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.]+)$`, "m").exec(text)?.[1] ?? 0)
  return {
    commits: value("brokerage_commits_total"),
    calls: value("brokerage_venue_calls_made_total") + value("brokerage_venue_lookups_total")
  }
}

const taken = async (what: string, answer: Promise<Answer>): Promise<Answer> => {
  const { status, text, json } = await answer
  if (status >= 300) throw new Error(`${what}: ${status} ${text}`)
  return { status, text, json }
}

/** The steps before the measured request, and the request itself. */
interface Path {
  readonly name: string
  readonly before: () => Promise<unknown>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly request: (before: any) => Promise<Answer>
}

const order = (members: object) => partner("POST", `${ofClient}/orders`, { symbol: "BTC-USDC-PERP", ...members })
const paths: ReadonlyArray<Path> = [
  {
    name: "a filled MARKET order",
    before: async () => null,
    request: () => order({ side: "BUY", type: "MARKET", qty: "0.0001" })
  },
  {
    name: "a resting LIMIT order",
    before: async () => (await partner("GET", "/partner/v1/ticker?symbol=BTC-USDC-PERP")).json.data,
    request: (ticker) =>
      order({ side: "BUY", type: "LIMIT", qty: "0.0001", price: String(Math.floor(Number(ticker.markPrice) * 0.97)) })
  },
  {
    name: "an accepted quote",
    before: async () => {
      const { markPrice } = (await partner("GET", "/partner/v1/ticker?symbol=BTC-USDC-KO")).json.data
      const level = String(Math.floor(Number(markPrice) * 0.98))
      const body = { symbol: "BTC-USDC-KO", side: "BUY", qty: "0.01", barrier: { level }, autoAccept: false }
      const { json } = await taken("request", partner("POST", `${ofClient}/rfq`, body))
      const { rfqId } = json.data ?? json
      for (let polls = 0; polls < 400; polls++) {
        const { quotes } = (await partner("GET", `${ofClient}/rfq/${rfqId}`)).json.data
        const quote = quotes.find(({ acceptable }: { readonly acceptable: boolean }) => acceptable)
        if (quote !== undefined) return { rfqId, quoteId: quote.quoteId }
        await pause(50)
      }
      throw new Error("no quote")
    },
    request: ({ rfqId, quoteId }) => partner("POST", `${ofClient}/rfq/${rfqId}/accept`, { quoteId })
  },
  {
    name: "a take",
    before: async () =>
      (await partner("GET", "/partner/v1/staking/offers?symbol=USDC-SWAP")).json.data.offers[0].offerId,
    request: (offerId) => partner("POST", `${ofClient}/staking/${offerId}/accept`, { qty: "1.00" })
  }
]

try {
  await taken(
    "deposit",
    partner("POST", `${ofClient}/collateral`, { partnerRef: "path", direction: "DEPOSIT", amount: "20000.00" })
  )
  for (const { before, request, name } of paths) await taken(name, request(await before()))
  await pause(aftermath)
  const idle = new Set<string>()
  await profiler.ran()
  for (let at = 0; at < 3; at++) {
    await counters()
    await pause(aftermath)
    for (const each of await profiler.ran()) idle.add(each)
  }
  const began = performance.now()
  const first = await counters()
  await pause(2 * aftermath)
  const last = await counters()
  const idleCommits = (last.commits - first.commits) / (performance.now() - began)
  console.log("| request | files | not idle | functions | commits | venue calls |\n|---|---|---|---|---|---|")
  for (const { name, before, request } of paths) {
    const all = new Set<string>()
    let [commits, calls] = [0, 0]
    for (let round = 0; round < rounds; round++) {
      const ready = await before()
      await pause(aftermath / 2)
      const from = await counters()
      await profiler.ran()
      const start = performance.now()
      await taken(name, request(ready))
      await pause(aftermath)
      for (const each of await profiler.ran()) all.add(each)
      const to = await counters()
      commits += to.commits - from.commits - idleCommits * (performance.now() - start)
      calls += to.calls - from.calls
    }
    const own = [...all].filter((each) => !idle.has(each))
    const files = (those: Iterable<string>) => new Set([...those].map((each) => each.split(":")[0])).size
    const figures = [files(all), files(own), all.size, (commits / rounds).toFixed(2), (calls / rounds).toFixed(1)]
    console.log(`| ${[name, ...figures].join(" | ")} |`)
  }
} finally {
  profiler.close()
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}
