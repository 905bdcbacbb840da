/** `sim partner listen` and the demo's receiver as programs: lines, registration, exit status (operator surface). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { exitStatus } from "../../cli/CliIo.ts"
import { demoReceiver } from "../../cli/demoReceiver.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { paper } from "./paper.ts"
import { deliver, localAuthority, secret } from "./receiverWorld.ts"
import { registered, startStubRegistrar } from "./stubRegistrar.ts"

const denied = { code: 4030, msg: "The key is for reading only.", error: "The key is for reading only." }

/** Runs the command against a stub service. `stop` sends the signal that ends it. */
const startListening = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const authority = yield* localAuthority
    const service = yield* startStubRegistrar(authority, () => registered(secret))
    const { print, line, text } = paper()
    let stop = () => {}
    const stopped = new Promise<void>((resolve) => (stop = resolve))
    const where = ["--url", service.url, "--ca", authority.caFile, "--data-dir", authority.folder]
    const ran = runRecorded(["sim", "partner", "listen", "--key", "pbk_test", ...where, ...args], {
      stopped: () => stopped,
      stdout: print
    })
    yield* line(/webhook/)
    const ended = Effect.promise(async () => {
      stop()
      return { status: (await ran).status, lines: text().trimEnd().split("\n") }
    })
    return { authority, service, line, ran, ended, url: service.registrations[0]?.url ?? "" }
  })

/** Sends a delivery with the present time, which a receiver with the real clock requires. */
const send = (url: string, ca: string, id: number, over: Parameters<typeof deliver>[3] = {}) =>
  Effect.promise(() => deliver(url, ca, id, { timestamp: String(Math.floor(Date.now() / 1_000)), ...over }))

describe("sim partner listen", () => {
  it.live("operator surface: registers its own address with the key, then one JSON document a line", () =>
    Effect.gen(function* () {
      const { authority, service, ended, url } = yield* startListening("--json")
      assert.match(url, /^https:\/\/127\.0\.0\.1:[0-9]+\/webhook$/)
      assert.deepStrictEqual(service.registrations, [{ route: "PUT /partner/v1/webhook", key: "pbk_test", url }])
      yield* send(url, authority.ca, 12)
      yield* send(url, authority.ca, 12)
      yield* send(url, authority.ca, 13, { secret: "whs_other" })
      const { status, lines } = yield* ended
      const [ready, first, again, forged, last] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.strictEqual(status, exitStatus.done)
      assert.deepStrictEqual(ready, { ready: true, url })
      const event = { id: 12, event: "collateral.booked", signatureOk: true, fresh: true, answered: 200 }
      assert.deepInclude(first, { ...event, duplicate: false })
      assert.deepInclude(again, { ...event, duplicate: true })
      assert.deepInclude(forged, { id: 13, signatureOk: false, fresh: true, answered: 401, body: null })
      assert.deepStrictEqual(last, { summary: { deliveries: 3, events: 1, duplicates: 1, refused: 1 } })
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: a person gets one line an event, and a summary at the end", () =>
    Effect.gen(function* () {
      const { authority, ended, url } = yield* startListening("--fail", "1")
      yield* send(url, authority.ca, 12)
      yield* send(url, authority.ca, 12)
      yield* send(url, authority.ca, 12, { timestamp: "1" })
      const { status, lines } = yield* ended
      assert.strictEqual(status, exitStatus.done)
      assert.deepStrictEqual(lines, [
        `Webhooks arrive at ${url}. Ctrl-C ends.`,
        "webhook  collateral.booked  #12  client 3  signature ok  answered 500",
        "webhook  collateral.booked  #12  client 3  signature ok  attempt 2",
        "webhook  collateral.booked  #12  REFUSED: The timestamp is more than 300 seconds off.  answered 401",
        "",
        "3 deliveries: 1 event accepted, 0 duplicates, 1 refused."
      ])
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: --redirect redirects", () =>
    Effect.gen(function* () {
      const { authority, ended, url } = yield* startListening("--redirect")
      assert.strictEqual((yield* send(url, authority.ca, 1)).status, 302)
      assert.match((yield* ended).lines[1] ?? "", /answered 302$/)
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: --silent never answers, and does not hold up the end", () =>
    Effect.gen(function* () {
      const { authority, line, ended, url } = yield* startListening("--silent")
      const attempt = deliver(url, authority.ca, 1, { timestamp: String(Math.floor(Date.now() / 1_000)) }).then(
        () => "answered",
        (error: NodeJS.ErrnoException) => error.code
      )
      assert.match(yield* line(/#1 /), /left unanswered$/)
      assert.strictEqual((yield* ended).status, exitStatus.done)
      assert.strictEqual(yield* Effect.promise(() => attempt), "ECONNRESET")
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: --for ends it without a signal", () =>
    Effect.gen(function* () {
      const { ran } = yield* startListening("--for", "1s")
      assert.strictEqual((yield* Effect.promise(() => ran)).status, exitStatus.done)
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: own certificate files instead of the data directory's authority", () =>
    Effect.gen(function* () {
      const own = yield* localAuthority
      const { url, ended } = yield* startListening("--tls-cert", own.certificateFile, "--tls-key", own.keyFile)
      assert.strictEqual((yield* send(url, own.ca, 1)).status, 200)
      yield* ended
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["a refusal: its envelope, exit status 1", [403, JSON.stringify(denied)], exitStatus.refused, denied.msg],
    ["somebody else: exit status 3", [200, "<html>"], exitStatus.unreachable, "The address answers, but not as"]
  ] as const)("operator surface: the registration is answered by %s", ([, answer, status, sentence]) =>
    Effect.gen(function* () {
      const authority = yield* localAuthority
      const service = yield* startStubRegistrar(authority, () => answer)
      const where = ["--url", service.url, "--ca", authority.caFile, "--data-dir", authority.folder]
      const command = ["sim", "partner", "listen", "--key", "pbk_test", ...where]
      const ran = yield* Effect.promise(() => runRecorded([...command, "--json"]))
      assert.deepStrictEqual([ran.status, ran.stdout], [status, ""])
      assert.include(ran.refusal.msg, sentence)
    }).pipe(Effect.scoped)
  )

  it.live(
    "operator surface: no receiver at the address is exit status 3, no authority to issue a certificate is 2",
    () =>
      Effect.gen(function* () {
        const { folder } = yield* localAuthority
        const run = (...args: ReadonlyArray<string>) =>
          Effect.promise(() =>
            runRecorded(["sim", "partner", "listen", "--key", "pbk_test", "--url", "https://127.0.0.1:1", ...args])
          )
        assert.strictEqual((yield* run("--data-dir", folder)).status, exitStatus.unreachable)
        const without = yield* run("--data-dir", join(folder, "none"))
        assert.strictEqual(without.status, exitStatus.usage)
        assert.match(without.stderr, /--tls-cert and --tls-key/)
        writeFileSync(join(folder, "tls", "ca.key"), "no key")
        assert.strictEqual((yield* run("--data-dir", folder)).status, exitStatus.usage)
      }).pipe(Effect.scoped)
  )
})

describe("the demo's receiver", () => {
  const start = (answers: (count: number) => readonly [number, string]) =>
    Effect.gen(function* () {
      const authority = yield* localAuthority
      const service = yield* startStubRegistrar(authority, answers)
      const options = { url: service.url, caFile: authority.caFile, dataDir: authority.folder, key: "pbk_demo" }
      return { authority, service, run: (print: (text: string) => void) => demoReceiver({ ...options, print }) }
    })

  it.live(
    "serve --demo: shows signed events; when it is started again it registers again and uses the new secret",
    () =>
      Effect.gen(function* () {
        const secrets = ["", "whs_first", "whs_second"]
        const { authority, service, run } = yield* start((count) => registered(secrets[count] as string))
        for (const round of [1, 2]) {
          const sheet = paper()
          const running = yield* Effect.forkChild(run((line) => sheet.print(`${line}\n`)))
          const heading = yield* sheet.line(/^Webhooks/)
          assert.strictEqual(heading, "Webhooks of the partner, received here, signature checked:")
          const url = service.registrations[round - 1]?.url ?? ""
          yield* send(url, authority.ca, round, { secret: secrets[round] as string })
          const line = yield* sheet.line(new RegExp(`#${round} `))
          assert.match(line, new RegExp(`^  [0-9:]{8}  collateral\\.booked  #${round}  client 3  250\\.000000$`))
          yield* Fiber.interrupt(running)
          const late = yield* Effect.exit(Effect.tryPromise(() => deliver(url, authority.ca, round)))
          assert.isTrue(Exit.isFailure(late), "nobody listens any more")
        }
        assert.deepStrictEqual(
          service.registrations.map(({ key }) => key),
          ["pbk_demo", "pbk_demo"]
        )
      }).pipe(Effect.scoped)
  )

  it.live("serve --demo: a refused registration is reported and is no failure", () =>
    Effect.gen(function* () {
      const { run } = yield* start(() => [403, JSON.stringify(denied)])
      const sheet = paper()
      yield* run((line) => sheet.print(`${line}\n`))
      assert.strictEqual(
        yield* sheet.line(/without webhooks/),
        "The demo runs without webhooks: The key is for reading only."
      )
    }).pipe(Effect.scoped)
  )
})
