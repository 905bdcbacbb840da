/**
 * `npm start` as its user meets it, in terminals: the first screen, every line of it pasted, the webhooks below, another
 * receiver in between, a reset, the end and the next start (operator surface, serve and Developers and QA).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { tourSteps } from "../../cli/tour/tourSteps.ts"
import { quoted } from "../../src/machines/shared/Text.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep } from "../support/every.ts"
import { type PtyProgram, startPty } from "../support/ptyProgram.ts"
import { hasTool, skipNote } from "../support/tools.ts"
import { paper } from "./paper.ts"

const root = join(import.meta.dirname, "../..")
/** The checkout under a name that shells must quote. */
const folder = mkdtempSync(join(tmpdir(), `Ben's "demo" `))
const dataDir = join(folder, ".brokerage")
for (const name of ["package.json", "bin", "node_modules"]) symlinkSync(join(root, name), join(folder, name))

const start = (...options: ReadonlyArray<string>): PtyProgram =>
  startPty([process.execPath, "bin/brokerage.mjs", "serve", "--sandbox", "--demo", "--port", "0", ...options], {
    cwd: folder
  })

/** The last printed screen, without the row of the webhooks. */
const screenOf = (service: PtyProgram): string => {
  const [screen = ""] = service.text().slice(service.text().lastIndexOf("Partner Brokerage")).split("\nWebhooks")
  return screen
}

/** A screen without its parts that differ from start to start. */
const shape = (screen: string): string =>
  screen
    .replaceAll(/new-(\w+)|money-(\w+)|(?<="partnerRef":")\w+/g, "TAG")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/of DEMO, .* USDC/, "")

const bash = async (line: string): Promise<string> =>
  (await promisify(execFile)("bash", ["-c", line], { cwd: folder })).stdout
const booked = /^ {2}[0-9:]{8} {2}collateral\.booked {2}#[0-9]+ {2}client 1 {2}DEPOSIT 250\.000000 USDC$/
const received = "Webhooks of the partner, received here, signature checked:"

describe.skipIf(!hasTool("script"))(`npm start${skipNote("script")}`, () => {
  let service: PtyProgram
  let shell: PtyProgram
  let commands = 0
  /** The next command in the shell has ended, with status 0. */
  const ended = async (count = 1) => {
    for (const last = commands + count; commands < last;)
      assert.strictEqual(await shell.shows(/^status \d+$/, ++commands), "status 0")
  }
  beforeAll(async () => {
    service = start()
    const env = { ...process.env, npm_config_cache: join(folder, "npm"), npm_config_progress: "false" }
    shell = startPty(["bash", "--norc", "--noprofile", "--noediting", "-i"], { cwd: folder, env })
    // Without a prompt each answer begins its line, and the end of each command prints its status.
    shell.type(`PS1= PS2= PROMPT_COMMAND='echo "status $?"'; echo\n`)
    await ended()
    await service.shows(/^Webhooks.*$/)
  }, 180_000)
  afterAll(async () => {
    await Promise.all([service.close(), shell.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  it("the screen has at most 23 rows of 80 columns and no key, and README shows it", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    assert.strictEqual(scripts.start, "exec node bin/brokerage.mjs serve --sandbox --demo")
    const screen = screenOf(service)
    const rows = screen.split("\n")
    assert.isAtMost(rows.length, 22)
    assert.isAtMost(Math.max(...rows.map((row) => row.length)), 80, screen)
    assert.include(service.text(), `\n${received}\n`)
    assert.match(screen, /1 of DEMO, \w+ \w+, 1,[0-9]{3}\.00 USDC, may trade everything/)
    const readme = readFileSync(join(root, "README.md"), "utf8")
    const [, shown = ""] = /```text\n(Partner Brokerage [^`]*new-[^`]*)\n```/.exec(readme) ?? []
    assert.strictEqual(shape(screen), shape(shown.replaceAll("127.0.0.1:8443", "127.0.0.1:1")))
    for (const name of ["demo.json", "demo.curl", "operator.key"])
      assert.strictEqual(statSync(join(dataDir, name)).mode & 0o777, 0o600)
  })

  it("every line of it works when pasted, twice acts once, and its webhooks follow", async () => {
    const rows = screenOf(service).split("\n")
    const [first, last] = [
      rows.indexOf("  alias brokerage='npx --no-install brokerage'"),
      rows.findIndex((row) => row.startsWith("  brokerage tour"))
    ]
    const pasted = `${rows.slice(first, last).join("\n")}\n`
    shell.type(pasted + pasted)
    await ended(8)
    const answers: Array<string> = []
    for (let at = 1; at <= 6; at++) answers.push(await shell.shows(/^\{"code":0,.*\}$/, at))
    assert.deepStrictEqual(answers.slice(3), answers.slice(0, 3))
    await service.shows(/^ {2}[0-9:]{8} {2}client\.onboarded {2}#[0-9]+ {2}client 2 {2}ACTIVE level MICA package \d+$/)
    await service.shows(booked)
    const [playTour = "", watch = "", atlas = ""] = rows.slice(last)
    shell.type(`${playTour}\n`)
    for (const [at, answer] of ["", "", "", "q"].entries()) {
      await shell.shows(/Enter: next, q: stop/, at + 1)
      shell.type(`${answer}\n`)
    }
    await ended()
    const tour = shell.text().replaceAll(/\s+/g, " ")
    for (const { purpose } of tourSteps.money.actions) assert.include(tour, purpose)
    assert.notInclude(tour, tourSteps.orders.sentence)
    shell.type(`${watch}\n`)
    // The keys work from the second frame on.
    await shell.shows(/q: quit/, 2)
    shell.type("q")
    await ended()
    shell.type(`${atlas}\n`)
    await shell.shows(/^https:\/\/127\.0\.0\.1:\d+\/\S*atlas/)
    await ended()
  }, 180_000)

  it("another receiver replaces the screen, a failed delivery arrives again with the same id, and the screen receives again when it ends", async () => {
    const report = (ref: string) =>
      bash(
        `curl -K .brokerage/demo.curl -d '{"partnerRef":"${ref}","direction":"DEPOSIT","amount":"250"}' ${/https:\S*collateral/.exec(screenOf(service))?.[0]}`
      )
    const { key } = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8"))
    const { line, print } = paper()
    const printed = (pattern: RegExp) => Effect.runPromise(line(pattern))
    const stopped = Promise.withResolvers<void>()
    const listen = ["sim", "partner", "listen", "--key", key, "--fail", "1", "--json", "--data-dir", dataDir]
    const ran = runRecorded(listen, { stdout: print, stopped: () => stopped.promise })
    const { url } = JSON.parse(await printed(/"ready":true/))
    await service.shows(new RegExp(`^ {2}webhooks go to ${url} now, not here$`))
    await report("elsewhere")
    // The clock may bring other deliveries, and one of those may be the failed one.
    const { id } = JSON.parse(await printed(/"answered":500/))
    // The retry is due 10 s after the failure (F29), and an advance may come before the failure is noted.
    const again = { found: false }
    const retried = printed(new RegExp(`^(?=.*"id":${id},).*"answered":200`)).finally(() => (again.found = true))
    while (!again.found) await runRecorded(["sim", "clock", "advance", "15s", "--data-dir", dataDir])
    assert.deepInclude(JSON.parse(await retried), { id, duplicate: false, receipts: 2 })
    stopped.resolve()
    assert.strictEqual((await ran).status, 0)
    await service.shows(/^ {2}webhooks come here again$/)
    await report("here")
    await service.shows(booked, 2)
    assert.notInclude(service.text(), "REFUSED")
  }, 180_000)

  it.runIf(isDeep)(
    "a reset and the next start print the same screen; Ctrl-C ends with status 0",
    async () => {
      const before = shape(screenOf(service))
      shell.type("brokerage sim reset\n")
      await shell.shows(/\[y\/N\]/)
      shell.type("y\n")
      await service.shows(/^Webhooks.*$/, 2)
      await ended()
      assert.strictEqual(shape(screenOf(service)), before)
      service.type("\u0003")
      assert.strictEqual(await service.ended, 0)
      const printed = [service.text(), shell.text()].join()
      service = start("--data-dir", dataDir)
      await service.shows(/^Webhooks.*$/)
      const screen = screenOf(service)
      for (const line of screen.match(/^ {2}curl (.*\\\n)*.*$/gm) ?? []) assert.match(await bash(line), /^\{"code":0,/)
      const own = `brokerage() { ${quoted(process.execPath)} bin/brokerage.mjs "$@"; };`
      const atlas = screen.split("\n").find((row) => row.startsWith("  brokerage atlas")) ?? ""
      assert.match(await bash(own + atlas), /^https:\S+atlas/)
      const usual = screen
        .replaceAll(` --data-dir ${quoted(dataDir)}`, "")
        .replaceAll(quoted(`${dataDir}/demo.curl`), ".brokerage/demo.curl")
        .replaceAll(quoted(`${dataDir}/demo-client.json`), ".brokerage/demo-client.json")
        .replaceAll(dataDir, ".brokerage")
      const withoutComments = (text: string) => text.replaceAll(/ +#.*$/gm, "")
      assert.strictEqual(withoutComments(shape(usual)), withoutComments(before))
      service.type("\u0003")
      assert.strictEqual(await service.ended, 0)
      assert.notMatch(printed + service.text(), /pbk_|bok_|whs_/)
    },
    180_000
  )
})
