/** The rules for every command: exit status, output on stdout and stderr, confirmations, the address of the service. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findConnection } from "../../cli/connection.ts"
import { type CliFailure, exitStatus, type ServeRequest } from "../../cli/CliIo.ts"
import { parseDuration } from "../../cli/duration.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { recordingIo, runRecorded } from "../operator/operatorHarness.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const nowhere = ["--data-dir", join(folder, "none")]

/** A server with a certificate that the command line trusts by these options. */
const serverOf = async (listener: RequestListener) => {
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  const server = createServer({ cert: tls.certificate, key: tls.key }, listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { place: ["--url", url, "--ca", file("server.pem", tls.ca)], close: () => void server.close() }
}

describe("operator surface, exit status 2: wrong usage", () => {
  it.each([
    [["nonsense"]],
    [["partner", "nonsense"]],
    [["partner"]],
    [["partner", "show"]],
    [["partner", "show", "P", "extra"]],
    [["partner", "list", "--nonsense"]],
    [["partner", "create", "--code", "X"]],
    [["partner", "status", "P", "OPEN", "--reason", "r"]],
    [["partner", "status", "P", "CLOSED"]],
    [["partner", "reliance", "P", "approved", "--reason", "r"]],
    [["partner", "limits", "P", "--read", "1.5"]],
    [["partner", "limits", "P", "--trade", "1000000001"]],
    [["key", "issue", "P", "--label", "l", "--scope", "ALL"]],
    [["client", "restrict", "1", "CLOSE_OUT", "--reason", "r"]],
    [["client", "list", "--limit", "201"]],
    [["kyc", "reject", "1"]],
    [["screening", "add", "--name", "n", "--list", "OTHER"]],
    [["ledger", "adjust", "1", "--currency", "DOGE", "--amount", "1", "--reason", "r"]],
    [["operator", "create", "--label", "l", "--role", "ROOT"]],
    [["audit", "tail", "--since", "yesterday"]],
    [["machine", "show", "nothing"]],
    [["machine", "show", "partner", "--format", "png"]],
    [["machine", "show", "partner", "--output", "/nowhere/at/all"]],
    [["sim", "clock", "advance", "8x"]],
    [["serve", "--port", "65536"]],
    [["serve", "--tls-cert", "c.pem"]],
    [["serve", "--demo"]],
    [["serve", "--allow-webhook-host", "127.0.0.1"]],
    [["serve", "--sandbox", "--allow-webhook-host", "127.0.0.1:8443"]],
    [["serve", "--sandbox", "--allow-webhook-host", "https://hooks.local"]],
    [["sim", "partner", "listen"]],
    [["sim", "partner", "listen", "--key", "pbk_x", "--port", "65536"]],
    [["sim", "partner", "listen", "--key", "pbk_x", "--tls-cert", "c.pem"]],
    [["sim", "partner", "listen", "--key", "pbk_x", "--delay", "slow"]],
    [["serve", "--role", "proxy"]],
    [["serve", "--role", "edge"]],
    [["serve", "--role", "edge", "--router-url", "http://127.0.0.1:1"]],
    [["serve", "--role", "edge", "--router-url", "https://a/b"]],
    [["serve", "--role", "edge", "--router-url", "https://a", "--sandbox"]],
    [["serve", "--role", "edge", "--router-url", "https://a", "--database-url", "postgres://x"]],
    [["serve", "--router-url", "https://a"]],
    [["serve", "--pass-operator"]],
    [["serve", "--venue-url", "venue.example"]],
    [["serve", "--venue-url", "https://venue.example/v1"]],
    [["serve", "--venue-url", "https://user:secret@venue.example"]],
    [["serve", "--venue-url", "http://venue.example"]],
    [["serve", "--venue-url", "http://127.0.0.1:1", "--venue-ca", "ca.pem"]],
    [["serve", "--venue-key-file", "key"]],
    [["serve", "--venue-ca", "ca.pem"]],
    [["serve", "--role", "edge", "--router-url", "https://a", "--venue-url", "https://venue.example"]],
    [["serve", "--four-eyes", "everything"]],
    [["serve", "--config", "/nowhere/at/all"]]
  ])("%j", async (args) => {
    const text = await runRecorded([...args, ...nowhere])
    assert.deepStrictEqual([text.status, text.stdout], [exitStatus.usage, ""])
    assert.isNotEmpty(text.stderr)
    const json = await runRecorded([...args, ...nowhere, "--json"])
    assert.deepStrictEqual([json.status, json.stdout], [exitStatus.usage, ""])
    assert.strictEqual(json.refusal.error, json.refusal.msg)
  })

  it.each([["--version"], ["-V"]])("%s prints the package's version, here as in the launcher", async (option) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
      readonly version: string
    }
    const ran = await runRecorded([option])
    assert.deepStrictEqual([ran.status, ran.stdout, ran.stderr], [exitStatus.done, `${version}\n`, ""])
  })

  it("help succeeds, and names every option of every command", async () => {
    const help = await runRecorded(["key", "issue", "--help"])
    assert.deepStrictEqual([help.status, help.stderr], [exitStatus.done, ""])
    for (const option of ["--label", "--scope", "--json", "--yes", "--data-dir", "--url", "--operator-key", "--ca"]) {
      assert.include(help.stdout, option)
    }
  })
})

describe("operator surface, exit status 2: a text that is not an id", () => {
  it.each(["", ".", ".."])("%j is refused before a request is sent", async (id) => {
    const there = ["--url", "https://127.0.0.1:1", "--operator-key", "bok_x"]
    const ran = await runRecorded(["order", "show", id, "--json", ...there])
    assert.deepStrictEqual([ran.status, ran.stdout, ran.refusal.code], [exitStatus.usage, "", 4000])
  })
})

describe("operator surface, exit status 3: service unreachable", () => {
  it("no service in the data directory", async () => {
    const ran = await runRecorded(["partner", "list", "--json", ...nowhere])
    assert.deepStrictEqual([ran.status, ran.stdout, ran.refusal.code], [exitStatus.unreachable, "", 5030])
  })

  it("no server listens", async () => {
    const ran = await runRecorded([
      "partner",
      "list",
      "--json",
      "--url",
      "https://127.0.0.1:1",
      "--operator-key",
      "bok_x"
    ])
    assert.deepStrictEqual([ran.status, ran.stdout, ran.refusal.code], [exitStatus.unreachable, "", 5030])
  })

  it("another program listens", async () => {
    const { place, close } = await serverOf((_, response) => response.end("<html>hello</html>"))
    const ran = await runRecorded(["partner", "list", "--operator-key", "bok_x", ...place])
    close()
    assert.strictEqual(ran.status, exitStatus.unreachable)
    assert.match(ran.stderr, /^error: The address answers, but not as the brokerage/)
  })
})

describe("operator surface, a refused operator key", () => {
  const sentence = "Authentication required."
  const keyFile = file("wrong.key", "bok_wrong\n")

  it.each([
    ["--operator-key", ["--operator-key", "bok_x"], {}, "The key of --operator-key"],
    ["--operator-key-file", ["--operator-key-file", keyFile], {}, `The operator key file ${keyFile}`],
    ["the environment", [], { BROKERAGE_OPERATOR_KEY: "bok_x" }, "BROKERAGE_OPERATOR_KEY"],
    ["a file of the environment", [], { BROKERAGE_OPERATOR_KEY_FILE: keyFile }, `The operator key file ${keyFile}`]
  ])(
    "from %s: a person reads its source and how to get another key, programs the service's answer",
    async (_, given, env, from) => {
      const { place, close } = await serverOf((__, response) =>
        response
          .writeHead(401, { "content-type": "application/json" })
          .end(JSON.stringify({ code: 4010, msg: sentence, error: sentence }))
      )
      const line = ["queue", ...nowhere, ...given, ...place]
      const ran = await runRecorded(line, { env })
      const json = await runRecorded([...line, "--json"], { env })
      close()
      assert.strictEqual(ran.status, exitStatus.refused)
      const text = ran.stderr.replaceAll(/\s+/g, " ")
      assert.include(text, `refused: ${sentence} ${from} is not accepted by the service at ${place[1]}`)
      assert.include(text, "operator create")
      assert.deepStrictEqual(json.refusal, { code: 4010, msg: sentence, error: sentence })
    }
  )
})

describe("operator surface, the address of the service", () => {
  const key = file("operator.key", "bok_file\n")
  const ca = file("ca.pem", "CA of the directory")
  const otherCa = file("other.pem", "CA of the option")
  file("service.json", JSON.stringify({ url: "https://directory:1/", pid: 1, caFile: ca, operatorKeyFile: key }))
  const env = { BROKERAGE_URL: "https://environment:2", BROKERAGE_OPERATOR_KEY: "bok_env", BROKERAGE_CA: ca }
  const options = { url: "https://option:3", operatorKey: "bok_option", ca: otherCa }
  const ofDirectory = {
    url: "https://directory:1",
    operatorKey: "bok_file",
    keySource: `The operator key file ${key}`,
    ca: "CA of the directory"
  }

  it.each([
    ["the data directory", {}, {}, ofDirectory],
    [
      "the environment",
      {},
      env,
      {
        url: "https://environment:2",
        operatorKey: "bok_env",
        keySource: "BROKERAGE_OPERATOR_KEY",
        ca: "CA of the directory"
      }
    ],
    ["empty variables count as unset", {}, { BROKERAGE_URL: "" }, ofDirectory],
    [
      "options before the environment",
      options,
      env,
      {
        url: "https://option:3",
        operatorKey: "bok_option",
        keySource: "The key of --operator-key",
        ca: "CA of the option"
      }
    ]
  ])("%s", (_, given, variables, expected) => {
    const { io } = recordingIo({ env: variables })
    assert.deepStrictEqual(findConnection({ dataDir: folder, ...given }, io), expected)
  })

  it.each(["http://127.0.0.1:1", "HTTP://service:8080", "ws://service", "ftp://service", "file:///service"])(
    "the key is never sent over %s: by option, environment or service file",
    async (url) => {
      const insecure = mkdtempSync(join(folder, "insecure-"))
      writeFileSync(join(insecure, "service.json"), JSON.stringify({ url, operatorKeyFile: key }))
      const list = ["partner", "list", "--json", "--data-dir"]
      for (const ran of [
        await runRecorded([...list, folder, "--url", url]),
        await runRecorded([...list, folder], { env: { BROKERAGE_URL: url } }),
        await runRecorded([...list, insecure])
      ]) {
        assert.deepStrictEqual([ran.status, ran.stdout], [exitStatus.usage, ""])
        assert.strictEqual(ran.refusal.msg, "The address of the service must begin with https://.")
      }
    }
  )

  it.each([
    ["no key", { dataDir: join(folder, "none"), url: "https://x" }, exitStatus.usage],
    ["no url in words", { dataDir: folder, url: "not a url" }, exitStatus.usage],
    ["no readable CA", { dataDir: folder, ca: join(folder, "missing.pem") }, exitStatus.usage],
    ["no service", { dataDir: join(folder, "none") }, exitStatus.unreachable]
  ])("%s has its own failure", (_, globals, status) => {
    let failure: CliFailure | null = null
    try {
      findConnection(globals, recordingIo().io)
    } catch (error) {
      failure = error as CliFailure
    }
    assert.strictEqual(failure?.status, status)
  })
})

describe("operator surface, confirmations", () => {
  const revoke = ["key", "revoke", "1", "--url", "https://127.0.0.1:1", "--operator-key", "bok_x"]

  it("a confirmation without a terminal is not shown", async () => {
    assert.strictEqual((await runRecorded(revoke)).status, exitStatus.unreachable)
  })

  it("--yes skips the confirmation; without a terminal it is required, and nothing is called", async () => {
    assert.strictEqual((await runRecorded([...revoke, "--yes"])).status, exitStatus.unreachable)
    for (const terminal of [true, false]) {
      const ran = await runRecorded([...revoke, "--json"], { terminal, canPrompt: () => false })
      assert.deepStrictEqual([ran.status, ran.stdout, ran.refusal.code], [exitStatus.usage, "", 4000])
      assert.strictEqual(
        ran.refusal.msg,
        "This command needs a confirmation, and there is no terminal for the question: give --yes. Nothing was done."
      )
    }
  })
})

describe("operator surface, serve", () => {
  const served = async (...args: ReadonlyArray<string>): Promise<ServeRequest> => {
    let request: ServeRequest | null = null
    const ran = await runRecorded(["serve", ...args], {
      serve: (options) => {
        request = options
        return Promise.resolve(exitStatus.done)
      }
    })
    if (request === null) throw new Error(ran.stderr)
    return request
  }

  it("defaults", async () => {
    assert.deepStrictEqual(await served(), {
      role: "all",
      routerUrls: [],
      routerCa: null,
      passOperator: false,
      host: "127.0.0.1",
      port: 8443,
      dataDir: ".brokerage",
      databaseUrl: null,
      venueUrl: null,
      venueKeyFile: null,
      venueCa: null,
      tls: null,
      sandbox: false,
      demo: false,
      json: false,
      edgeHosts: [],
      allowWebhookHosts: [],
      fourEyes: null,
      leverageProfile: "default",
      blockedJurisdictions: null,
      identityProviders: null,
      firm: null,
      killAt: null,
      untilStdinEnds: false
    })
  })

  it("every option is passed on; an option takes precedence over the settings file", async () => {
    const config = file(
      "settings.json",
      JSON.stringify({ port: 1, host: "0.0.0.0", sandbox: true, edgeHost: ["10.0.0.0/8"] })
    )
    const request = await served(
      "--json",
      "--data-dir",
      "d",
      "--config",
      config,
      "--port",
      "0",
      "--demo",
      "--database-url",
      "postgres://x",
      "--venue-url",
      "https://venue.example:8443",
      "--venue-key-file",
      "venue.key",
      "--venue-ca",
      "ca.pem",
      "--allow-webhook-host",
      "127.0.0.1",
      "hooks.local",
      "--tls-cert",
      "c",
      "--tls-key",
      "k",
      "--kill-at",
      "after-claim:3",
      "--leverage-profile",
      "esma",
      "--four-eyes",
      "ledger-adjust",
      "key issue"
    )
    assert.deepStrictEqual(request, {
      role: "all",
      routerUrls: [],
      routerCa: null,
      passOperator: false,
      host: "0.0.0.0",
      port: 0,
      dataDir: "d",
      databaseUrl: "postgres://x",
      venueUrl: "https://venue.example:8443",
      venueKeyFile: "venue.key",
      venueCa: "ca.pem",
      tls: { certFile: "c", keyFile: "k" },
      sandbox: true,
      demo: true,
      json: true,
      edgeHosts: ["10.0.0.0/8"],
      allowWebhookHosts: ["127.0.0.1", "hooks.local"],
      fourEyes: ["ledger adjust", "key issue"],
      leverageProfile: "esma",
      blockedJurisdictions: null,
      identityProviders: null,
      firm: null,
      killAt: { point: "after-claim", times: 3 },
      untilStdinEnds: false
    })
    assert.deepStrictEqual((await served("--four-eyes", "none")).fourEyes, [])
    assert.deepInclude(
      await served("--role", "edge", "--router-url", "https://a:1", "https://[::1]:2/", "--router-ca", "ca.pem"),
      { role: "edge", routerUrls: ["https://a:1", "https://[::1]:2/"], routerCa: "ca.pem", passOperator: false }
    )
    assert.isTrue((await served("--role", "edge", "--router-url", "https://a", "--pass-operator")).passOperator)
    for (const venueUrl of ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1/"]) {
      assert.deepInclude(await served("--venue-url", venueUrl), { venueUrl, venueKeyFile: null, venueCa: null })
    }
    const routers = file("edge.json", JSON.stringify({ role: "edge", routerUrl: ["https://a"] }))
    assert.deepInclude(await served("--config", routers), { role: "edge", routerUrls: ["https://a"], routerCa: null })
    assert.strictEqual((await served("--role", "router", "--sandbox")).role, "router")
  })

  it("STS-20: the names of the firm come from the settings file, each a line of 100 characters at most", async () => {
    const firm = { name: "Broker & Söhne", legalEntity: "Broker GmbH", venue: "Exchange" }
    for (const given of [firm, { name: "B" }, {}]) {
      assert.deepStrictEqual((await served("--config", file("firm.json", JSON.stringify({ firm: given })))).firm, given)
    }
    const wrong = [
      null,
      "Broker",
      [],
      { nme: "B" },
      { name: "" },
      { name: " B" },
      { name: "B\n" },
      { name: "a\u202Eb" },
      { name: 7 },
      { venue: "x".repeat(101) }
    ]
    for (const [at, given] of wrong.entries()) {
      const ran = await runRecorded(["serve", "--config", file(`firm-${at}.json`, JSON.stringify({ firm: given }))])
      assert.strictEqual(ran.status, 2, JSON.stringify(given))
      assert.include(ran.stderr, "The setting firm of --config has the wrong form.")
    }
  })

  it.each([
    ["[]"],
    ["{"],
    ['{"nonsense":1}'],
    ['{"port":"1"}'],
    ['{"edgeHost":"10.0.0.0/8"}'],
    ['{"leverageProfile":"none"}']
  ])("the settings file %s is refused", async (text) => {
    const ran = await runRecorded(["serve", "--config", file("bad.json", text)])
    assert.strictEqual(ran.status, exitStatus.usage)
  })
})

describe("operator surface, machines without a service", () => {
  it("list and show print one JSON document with --json", async () => {
    const { json } = await runRecorded(["machine", "list", "--json", ...nowhere])
    assert.include(
      json.machines.map((row: { name: string }) => row.name),
      "collateralReport"
    )
    assert.strictEqual((await runRecorded(["machine", "show", "client", "--json"])).json.name, "client")
    const mermaid = (await runRecorded(["machine", "show", "client", "--json", "--format", "mermaid"])).json
    assert.match(mermaid.text, /^stateDiagram-v2/)
  })

  it("--output writes the picture and reports it", async () => {
    const output = join(folder, "partner.svg")
    const ran = await runRecorded(["machine", "show", "partner", "--format", "svg", "--output", output, "--json"])
    assert.deepStrictEqual(ran.json, { name: "partner", format: "svg", output })
    assert.match(readFileSync(output, "utf8"), /^<svg/)
  })
})

describe("durations", () => {
  it.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["15m", 900_000],
    ["8h", 28_800_000],
    ["2d", 172_800_000],
    ["0s", null],
    ["08h", null],
    ["-1h", null],
    ["1.5h", null],
    ["8", null],
    ["h", null],
    ["1w", null],
    ["9999999999d", null]
  ])("%s is %s ms", (text, millis) => {
    assert.strictEqual(parseDuration(text), millis)
  })
})
