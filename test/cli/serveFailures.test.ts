/**
 * A service that can't start prints the reason and the remedy, in one sentence or, with --json, in one document, and
 * ends with status 1 (operator surface, rules for every command; Service).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Migrator } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exitStatus } from "../../cli/CliIo.ts"
import type { Ran } from "../operator/operatorHarness.ts"
import { explained } from "../../src/startFailure.ts"
import { serveHere } from "../support/serveHere.ts"
import { isDeep } from "../support/every.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-serve-failures-"))
const bin = join(import.meta.dirname, "../../bin/brokerage.mjs")
const children: Array<ChildProcess> = []
let database: TestDatabase
let occupant: Server
let port: number
beforeAll(async () => {
  database = await makeTestDatabase()
  occupant = createServer()
  await new Promise<void>((resolve) => occupant.listen(0, "127.0.0.1", resolve))
  port = (occupant.address() as AddressInfo).port
})
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await new Promise((resolve) => occupant.close(resolve))
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

type ObjectFact = Pick<Ran, "status" | "stdout" | "stderr">
type Serve = (...args: ReadonlyArray<string>) => Promise<ObjectFact>

const lineOf = (args: ReadonlyArray<string>): ReadonlyArray<string> => [
  "serve",
  "--data-dir",
  join(folder, "data"),
  ...args
]

const inProcessOfItsOwn: Serve = (...args) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, ...lineOf(args)])
    children.push(child)
    const out = { stdout: "", stderr: "" }
    child.stdout.on("data", (chunk: Buffer) => void (out.stdout += chunk.toString("utf8")))
    child.stderr.on("data", (chunk: Buffer) => void (out.stderr += chunk.toString("utf8")))
    child.once("close", (code) => resolve({ status: code ?? Number.NaN, ...out }))
  })

const inThisProcess: Serve = async (...args) => {
  const { status, stdout, stderr } = await serveHere(lineOf(args))
  return { status, stdout, stderr }
}

/** The sentence of a failed start; with --json it is the only document, which this process prints. */
const refusedBy =
  (serve: Serve) =>
  async (sentence: string, ...args: ReadonlyArray<string>): Promise<void> => {
    assert.deepStrictEqual(await serve(...args), {
      status: exitStatus.refused,
      stdout: "",
      stderr: `error: ${sentence}\n`
    })
    const json = await inThisProcess(...args, "--json")
    assert.deepStrictEqual([json.status, json.stdout], [exitStatus.refused, ""])
    assert.deepStrictEqual(JSON.parse(json.stderr), { code: 5030, msg: sentence, error: sentence })
  }
const refused = refusedBy(inThisProcess)
/** As a process: failing starts end at the same place, so `npm test` starts one, and a deep run one of each group. */
const refusedAndEnded = refusedBy(inProcessOfItsOwn)
const refusedAndEndedInDeep = isDeep ? refusedAndEnded : refused

/** The test database's address with one change. */
const databaseUrl = (change: (url: URL) => void = () => undefined): string => {
  const url = new URL(Redacted.value(database.url))
  change(url)
  return url.href
}

describe("serve: the address of the listener", () => {
  it("a taken port", () =>
    refused(
      `Port ${port} of 127.0.0.1 is in use by another program: stop it, or choose another port with --port (0 for any free one).`,
      "--port",
      String(port),
      "--database-url",
      databaseUrl()
    ))

  it("a taken port of an edge", () =>
    refused(
      `Port ${port} of 127.0.0.1 is in use by another program: stop it, or choose another port with --port (0 for any free one).`,
      "--port",
      String(port),
      "--role",
      "edge",
      "--router-url",
      "https://127.0.0.1:1"
    ))

  it("an address of another machine", () =>
    refusedAndEndedInDeep(
      "192.0.2.1 is no address of this machine: name one of its own with --host (0.0.0.0 for all of them).",
      "--host",
      "192.0.2.1",
      "--database-url",
      databaseUrl()
    ))

  it.each([
    [
      "a migration",
      new Migrator.MigrationError({
        kind: "Failed",
        message: "A failed",
        cause: { reason: { cause: { code: "53100" } } }
      })
    ],
    ["a file", Object.assign(new Error("A failed."), { cause: new Error("ENOSPC: no space left on device, write") })]
  ])("a full disk that stops %s, however deep the cause lies", async (_, error) => {
    const { sentence } = await Effect.runPromise(Effect.flip(explained(Effect.fail(error))))
    assert.strictEqual(sentence, "A failed. The disk is full: make room, then start again.")
  })

  it("files that are not certificates", async () => {
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => join(folder, name)) as [string, string]
    for (const file of [cert, key]) writeFileSync(file, "no certificate")
    await refused(
      "--tls-cert and --tls-key are not a certificate and its key, in PEM form.",
      "--tls-cert",
      cert,
      "--tls-key",
      key,
      "--database-url",
      databaseUrl()
    )
  })
})

describe("serve: trusted hosts", () => {
  const form = "Each entry must be an address range such as 203.0.113.0/24 or 2001:db8::/32."
  it.each([
    ["010.0.0.5", form],
    ["10.0.0.1/8", "The address has bits set beyond its prefix: write the network address."],
    ["router.internal", form]
  ])("A1-08: an ambiguous edge host stops the start: %s", (range, sentence) =>
    refused(`--edge-host ${range}: ${sentence}`, "--role=edge", "--router-url=https://r", `--edge-host=${range}`)
  )
})

describe("serve: a venue that can't be used", () => {
  const refusedVenue = (sentence: string, option: string, file: string) =>
    refused(sentence, "--database-url", databaseUrl(), "--venue-url", "https://127.0.0.1:9", option, file)

  it("a key that can't be read stops the start", async () => {
    const empty = join(folder, "empty")
    writeFileSync(empty, "two words")
    const key = "--venue-key-file"
    await refusedVenue("The file of --venue-key-file can not be read.", key, join(folder, "none"))
    await refusedVenue("The file of --venue-key-file must hold one key and nothing else.", key, empty)
  })

  it("an authority that can't be read stops the start", () =>
    refusedVenue("The file of --venue-ca can not be read.", "--venue-ca", join(folder, "none")))
})

describe("serve: a data directory that can't be created", () => {
  it.runIf(process.platform === "linux")("where the system allows no folders", () =>
    refused(
      "The data directory /proc/x can not be made or used (ENOENT): name another with --data-dir.",
      "--data-dir",
      "/proc/x"
    )
  )

  it("under a file, or where a file exists", async () => {
    const file = join(folder, "file")
    writeFileSync(file, "")
    for (const path of [file, join(file, "below")]) {
      await refused(
        `The data directory ${path} can not be made or used (ENOTDIR): name another with --data-dir.`,
        "--data-dir",
        path
      )
    }
  })

  it("with damaged encryption keys", async () => {
    const damaged = mkdtempSync(join(folder, "damaged-"))
    writeFileSync(join(damaged, "encryption.keys"), "1 short\n")
    await refusedAndEndedInDeep(
      "The encryption keys can not be used (a line of encryption.keys is not a key number and 32 bytes in base64): restore encryption.keys of the data directory from its backup.",
      "--data-dir",
      damaged,
      "--database-url",
      databaseUrl()
    )
  })
})

describe("serve: a database that can't be used", () => {
  const place = (): string => databaseUrl().replace(/^.*@([^/]+)\/.*$/, "$1")

  it("no server listens there", () =>
    refused(
      "The database at 127.0.0.1:1 can not be reached (PgConnection: Failed to connect code=ECONNREFUSED syscall=connect): check that it runs, and host and port of --database-url.",
      "--database-url",
      "postgres://user:secret@127.0.0.1:1/books"
    ))

  it("it refuses the password, which the answer does not contain", async () => {
    const url = databaseUrl((at) => (at.password = "another"))
    await refusedAndEnded(
      `The database at ${place()} refuses this user (28P01): check user and password of --database-url, and the server's pg_hba.conf.`,
      "--database-url",
      url
    )
  })

  it("it has no database of this name", () =>
    refused(
      `The server at ${place()} has no database of this name: create it, or name another in --database-url.`,
      "--database-url",
      databaseUrl((at) => (at.pathname = "/nowhere"))
    ))

  it.each(["books", "https://127.0.0.1/books"])("%s is no address of a database", (url) =>
    refused(
      "--database-url is no PostgreSQL address: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE.",
      "--database-url",
      url
    )
  )
})
