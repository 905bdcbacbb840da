/** The demo that the tour plays on: requests with the partner's key, commands of the operator, and the log of webhooks. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { makePartnerClient, type PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, CliFailure, exitStatus, type Globals } from "../CliIo.ts"
import { defaultDataDir, findConnection } from "../connection.ts"
import { callService, keepServices } from "../OperatorClient.ts"
import type { TourPlace } from "./tourText.ts"

/** The answer of a request or a command. */
export interface TourAnswer {
  /** HTTP status, or the exit status of a command. */
  readonly status: number
  readonly ok: boolean
  /** Parsed JSON; null when the answer is a file. */
  readonly json: unknown
  readonly bytes: Buffer
}

export interface TourDelivery {
  readonly deliveryId: number
  readonly event: string
  readonly clientId: number | null
  readonly status: string
}

interface DemoFile {
  readonly key: string
  readonly clientId: number
}

/** Timeout of a request: the PDF of a long statement takes seconds. */
const requestMillis = 30_000
/** The longest wait for the partner's rate limit, which counts the requests of a minute. */
const rateLimitMillis = 90_000
/** Deliveries that one query of the log returns. An action of the tour causes fewer. */
const logPage = 50

export class TourDemo {
  readonly place: TourPlace
  readonly clientId: number
  private readonly cli: Cli
  private readonly client: PartnerClient
  private readonly services: ReturnType<typeof keepServices>
  private readonly scope: Scope.Closeable
  /** A part of every reference of this run, so that a repeated step reports new money. */
  private readonly tag = randomBytes(4).toString("hex")
  private references = 0

  private constructor(cli: Cli, place: TourPlace, ca: string | null, { key, clientId }: DemoFile) {
    this.cli = cli
    this.place = place
    this.clientId = clientId
    this.services = keepServices()
    this.scope = Scope.makeUnsafe()
    this.client = Effect.runSync(
      Scope.provide(
        makePartnerClient({
          origin: () => place.url,
          key: Redacted.make(key),
          connections: 1,
          timeoutMillis: requestMillis,
          ...(ca === null ? {} : { ca })
        }),
        this.scope
      )
    )
  }

  /** The running demo of the data directory. Throws a CliFailure with the remedy when there is none. */
  static async open(cli: Cli, globals: Globals): Promise<TourDemo> {
    if (globals.url !== undefined || globals.profile !== undefined) throw otherService
    const dataDir = globals.dataDir ?? defaultDataDir
    const service = await running(cli, dataDir).catch((error: unknown) => {
      throw error instanceof CliFailure && error.status === exitStatus.unreachable ? noDemo(dataDir) : error
    })
    if (!service.sandbox) throw sandboxOnly
    const folder = join(dataDir, "tour")
    const { ca } = service
    const place = { url: service.url, dataDir, folder }
    const demo = readJson<DemoFile>(join(dataDir, "demo.json"))
    if (typeof demo?.key !== "string" || !Number.isSafeInteger(demo.clientId)) throw noDemo(dataDir)
    written(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }))
    return new TourDemo(cli, place, ca, demo)
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Effect.runPromise(Scope.close(this.scope, Exit.void))
    await this.services.close()
  }

  /** A reference that no earlier report has. */
  newReference(): string {
    return `tour-${this.tag}-${++this.references}`
  }

  /** The text of a file in the tour's folder. */
  fileText(name: string): string {
    return readFileSync(join(this.place.folder, name), "utf8")
  }

  /** Writes a file of the tour's folder, and returns its path. Throws a CliFailure when it can't be written. */
  save(name: string, content: string | Uint8Array): string {
    const file = join(this.place.folder, name)
    written(file, () => writeFileSync(file, content, { mode: 0o600 }))
    return file
  }

  /**
   * One request of the partner, relative to /partner/v1. While the rate limit is used up it is sent again, for
   * `rateLimitMillis` at most. Throws a CliFailure when no answer comes.
   */
  async request(method: "GET" | "POST" | "DELETE", path: string, body?: string): Promise<TourAnswer> {
    const sent = this.client.send({ method, path: `/partner/v1${path}`, ...(body === undefined ? {} : { body }) })
    const until = Date.now() + rateLimitMillis
    for (;;) {
      const result = await Effect.runPromise(Effect.result(sent))
      if (result._tag === "Failure") {
        const { detail } = result.failure
        throw cliFailure(exitStatus.unreachable, 5030, `${method} ${path}: the service did not answer (${detail}).`)
      }
      const { status, body: bytes, retryAfter } = result.success
      const waitMillis = (retryAfter ?? 1) * 1_000
      if (status !== 429 || Date.now() + waitMillis > until)
        return { status, ok: status >= 200 && status < 300, json: parsed(bytes.toString("utf8")), bytes }
      await pause(waitMillis)
    }
  }

  /** Runs one command line of the operator on the demo. */
  async command(words: ReadonlyArray<string>): Promise<TourAnswer> {
    const printed = { out: "", err: "" }
    const status = await this.cli.runLine([...words, "--json", "--yes", "--data-dir", this.place.dataDir], {
      ...this.cli.io,
      env: withoutService(this.cli.io.env),
      stdout: (text) => void (printed.out += text),
      stderr: (text) => void (printed.err += text),
      terminal: false,
      progress: null
    })
    const json = parsed(status === exitStatus.done || printed.out !== "" ? printed.out : printed.err)
    return { status, ok: status === exitStatus.done, json, bytes: Buffer.from(printed.out) }
  }

  /**
   * Whether the partner has a webhook endpoint that receives. Throws a CliFailure when the service does not accept the demo's
   * key: it is then revoked, or from other books.
   */
  async hasEndpoint(): Promise<boolean> {
    const { status, json } = await this.request("GET", "/webhook")
    if (status === 401 || status === 403) throw foreignKey(this.place.dataDir, json)
    return (json as { readonly data?: { readonly active?: boolean } } | null)?.data?.active === true
  }

  /** The log of webhooks after this delivery, oldest first. */
  async deliveriesAfter(last: number): Promise<ReadonlyArray<TourDelivery>> {
    const { json } = await this.request("GET", `/webhook/deliveries?limit=${logPage}`)
    const { data } = json as { readonly data?: { readonly deliveries?: ReadonlyArray<TourDelivery> } }
    return (data?.deliveries ?? [])
      .filter(({ deliveryId }) => deliveryId > last)
      .map(({ deliveryId, event, clientId, status }) => ({ deliveryId, event, clientId, status }))
      .toReversed()
  }
}

/** The service of the data directory. Rejects with the status `unreachable` when none runs. */
const running = async (cli: Cli, dataDir: string) => {
  const connection = findConnection({ dataDir }, { ...cli.io, env: withoutService(cli.io.env) })
  const { data } = await callService(connection, (api) => api.sim.life())
  return { ...connection, sandbox: data.sandbox }
}

/** The environment without the variables that name another service. */
const withoutService = (env: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("BROKERAGE_")))

const readJson = <A>(file: string): A | null => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as A
  } catch {
    return null
  }
}

const written = (file: string, write: () => void): void => {
  try {
    write()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw cliFailure(exitStatus.usage, 4000, `The tour can not write ${file} (${code ?? String(error)}).`)
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const noDemo = (dataDir: string): CliFailure =>
  cliFailure(
    exitStatus.unreachable,
    5030,
    `No demo is running in ${dataDir}: start one with npm start (brokerage serve --sandbox --demo), or name its data directory with --data-dir.`
  )

const foreignKey = (dataDir: string, json: unknown): CliFailure => {
  const { msg = "no reason given" } = (json as { readonly msg?: string } | null) ?? {}
  return cliFailure(
    exitStatus.refused,
    4010,
    `The service does not accept the key in ${join(dataDir, "demo.json")} (${msg}): remove the file, and restart the demo, which makes a new key.`
  )
}

const sandboxOnly = cliFailure(
  exitStatus.refused,
  4092,
  "The tour moves prices and the clock, and this service is not a sandbox. Nothing was done."
)

const otherService = cliFailure(
  exitStatus.usage,
  4000,
  "The tour plays the demo of a data directory: name it with --data-dir instead of --url or --profile."
)
