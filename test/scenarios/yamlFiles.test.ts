/**
 * Every scenario of the service, played by the command as users play it: in parts, each against a separate service
 * (EVERY=1: with two seeds), and some against a service that the command starts (operator surface, sim list and sim
 * run).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CliIo } from "../../cli/CliIo.ts"
import { allScenarios, findScenarios } from "../../simulator/scenarios/runner/findScenarios.ts"
import type { ScenarioResult } from "../../simulator/scenarios/runner/runScenario.ts"
import { runRecorded } from "../operator/operatorHarness.ts"
import { isDeep, played } from "../support/every.ts"
import { startRealService } from "../support/RealService.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-yaml-"))
const dataDir = join(folder, "data")
const nowhere = join(folder, "nowhere")
const stops: Array<() => Promise<void>> = []
const startOn = async (dataDir: string): Promise<void> => {
  const database = await makeTestDatabase()
  stops.push(database.drop)
  const webhookHosts = ["127.0.0.1"]
  const service = await startRealService({ dataDir, databaseUrl: Redacted.value(database.url), webhookHosts })
  stops.push(service.stop)
}
// Sequential, because several services that start at once on a busy machine are not ready in time.
beforeAll(async () => {
  for (const dir of new Set([dataDir, ...runs.map((run) => run.dir)])) await startOn(dir)
}, 240_000)
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

const sim = (words: ReadonlyArray<string>, dir = dataDir, io: Partial<CliIo> = {}) =>
  runRecorded(["sim", ...words, "--data-dir", dir], io)

const written = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** Ids of files that the test makes; the catalogue has no such ids. */
const own = (number: number): string => ["SC", "TST", `0${number}`].join("-")

const failing = `id: ${own(1)}
title: Expects what is not so
steps:
  - partner: onboard anna
  - partner: client anna
    expect: { data: { cashUsdc: "1.000000" } }
`

const ownOnes = allScenarios()
  .scenarios.filter(({ own }) => own)
  .map(({ id }) => id)

/** All groups in parts of about equal duration, the longest group of each first. */
const parts = [
  ["webhooks", "onboarding", "rfq", "barriers", "custody", "settlement", "platform", "market", "account"],
  ["orders", "spot", "funding"],
  ["margin", "staking", "statements"]
]
/** Ids of some groups, sorted. */
const of = (words: ReadonlyArray<string>): Array<string> =>
  findScenarios(words)
    .scenarios.map(({ id }) => id)
    .toSorted()
/** The scenarios of `npm test`: docs/rules.md cites no other test for their rules. */
const cited = ["SC-MRG-01", "SC-PLT-01", "SC-STK-01"]
/** Each run has a separate service, because it moves the clock and sets faults at the venue. */
const runsOf = (seeds: ReadonlyArray<number>, ofGroups: ReadonlyArray<ReadonlyArray<string>>) =>
  seeds.flatMap((seed) =>
    ofGroups.map((groups) => ({ seed, groups, first: groups[0], dir: join(folder, `${groups[0]}-${seed}`) }))
  )
const runs = played({
  // The only run, which shares the service of the later tests.
  usual: runsOf([1], [cited]).map((run) => ({ ...run, dir: dataDir })),
  deep: runsOf([1], parts),
  every: runsOf([1, 2], parts)
})

describe("sim run, on the service of the data directory", () => {
  // Most of a run is waiting (timeouts, retries), and scenarios that set faults at the venue run alone, so all runs
  // wait concurrently.
  it.concurrent.each(runs)(
    `${isDeep ? "every scenario" : "each scenario that alone holds a rule"} passes with seed $seed ($first and others), and so do the invariants after each`,
    async ({ seed, groups, dir }) => {
      const { status, json, stderr } = await sim(["run", ...groups, "--seed", String(seed), "--json"], dir)
      const results: ReadonlyArray<ScenarioResult> = json?.scenarios ?? []
      assert.deepStrictEqual(
        results.flatMap(({ id, failure }) => (failure === null ? [] : [`${id}:${failure.line}: ${failure.sentence}`])),
        [],
        stderr
      )
      assert.deepStrictEqual([status, json.ok, json.seed], [0, true, seed])
      assert.deepStrictEqual([...json.leftOut, ...results.map(({ id }) => id)].toSorted(), [...of(groups)])
      assert.deepStrictEqual(
        json.leftOut.toSorted(),
        of(groups).filter((id) => ownOnes.includes(id))
      )
    },
    // Alone, a part takes a fraction of this limit. Beside much other work on two cores a part needed more than twenty
    // minutes.
    1_800_000
  )

  it("the parts are all scenarios, each once", () =>
    assert.deepStrictEqual(
      parts.flatMap(of).toSorted(),
      allScenarios()
        .scenarios.map(({ id }) => id)
        .toSorted()
    ))

  it("runs with one seed, at the same moment and later, do not take each other's names", async () => {
    const run = () => sim(["run", "SC-CUS-02", "--seed", "8", "--json"])
    const runs = [...(await Promise.all([run(), run()])), await run()]
    assert.deepStrictEqual(
      runs.map(({ json }) => json.scenarios[0].failure),
      [null, null, null]
    )
  })

  it("a failure is printed with its line and the answer, also in the JUnit file, and the command exits 1", async () => {
    const junit = join(folder, "junit.xml")
    const file = written("failing.yaml", failing)
    const { status, stdout } = await sim(["run", file, "--junit", junit, "--seed", "3"])
    assert.strictEqual(status, 1)
    const [service, head, place, sentence, , last] = stdout.split("\n")
    assert.match(service ?? "", /^The scenarios play on https:\/\/127\.0\.0\.1:[0-9]+\.$/)
    assert.match(head ?? "", new RegExp(`^FAILED {2}${own(1)} {2}Expects what is not so {2}[0-9.]+ s$`))
    assert.strictEqual(place?.trim(), `${file}:5: partner: client anna`)
    assert.match(sentence ?? "", /data\.cashUsdc is "0\.000000", expected "1\.000000"; the answer: 200 /)
    assert.strictEqual(last, "1 of 1 failed (seed 3).")
    assert.match(readFileSync(junit, "utf8"), /<testsuites tests="1" failures="1"[^]*line 5, partner: client anna/)
  })

  it("a scenario that fails after it has set faults at the venue clears them", async () => {
    const file = written(
      "bent.yaml",
      `id: ${own(4)}\ntitle: Ends before its clear\nsteps:\n  - venue: fault stale-marks\n  - venue: price BTC-PERP 1\n  - partner: client nobody\n`
    )
    const { json } = await sim(["run", file, "--json"])
    assert.strictEqual(json.scenarios[0].failure.line, 6)
    const { json: venue } = await sim(["venue", "show", "--json"])
    assert.deepStrictEqual(
      [venue.faults, venue.markets.filter(({ held }: { readonly held: ReadonlyArray<string> }) => held.length > 0)],
      [[], []]
    )
  })

  it("the wait for a missing event ends at its limit", async () => {
    const file = written(
      "eventless.yaml",
      `id: ${own(2)}\ntitle: Nothing comes\nsteps:\n  - event: client.onboarded\n    within: 200ms\n`
    )
    const { json } = await sim(["run", file, "--json"])
    assert.match(
      json.scenarios[0].failure.sentence,
      /^client\.onboarded did not arrive as expected: the receiver got \[\]/
    )
  })

  it("sim verify: nothing is in flight, and service and venue agree", async () => {
    const { status, json } = await sim(["verify", "--json"])
    assert.strictEqual(status, 0)
    assert.deepInclude(json, { ok: true, first: null, inFlight: [], differences: [], eventsBehind: 0 })
  })

  it("sim list: every scenario with its needs", async () => {
    const { status, json } = await sim(["list", "--json"], nowhere)
    assert.strictEqual(status, 0)
    const row = json.scenarios.find(({ id }: { readonly id: string }) => id === "SC-WHK-01")
    assert.deepInclude(row, { needs: ["webhooks", "clock"], alone: true, steps: 7 })
    assert.match((await sim(["list"], nowhere)).stdout, /^ID +TITLE +STEPS +NEEDS\n(SC-.+\n)+/)
  })
})

describe("sim run: wrong usage and services that are away", () => {
  it("an unknown name and a broken file exit 2 before any request", async () => {
    const unknown = await sim(["run", "custdy", "--json"], nowhere)
    assert.deepStrictEqual(
      [unknown.status, unknown.refusal.msg],
      [2, 'No scenario matches "custdy"; did you mean "custody"?']
    )
    const file = written("broken.yaml", `id: ${own(3)}\ntitle: x\nsteps:\n  - partner: onbord anna\n`)
    const broken = await sim(["run", file], nowhere)
    assert.deepStrictEqual(
      [broken.status, broken.stderr.trim()],
      [2, `error: ${file}:4: partner has no line "onbord"; did you mean "onboard"?`]
    )
  })

  it("a file of --junit that can't be written exits 2 before any request", async () => {
    const { status, refusal } = await sim(
      ["run", "SC-PLT-03", "--json", "--junit", join(folder, "no", "x.xml")],
      nowhere
    )
    assert.deepStrictEqual([status, refusal.msg], [2, "The file of --junit can not be written."])
    assert.isFalse(existsSync(nowhere))
  })

  it("a scenario that kills its service is refused on a running service, with the remedy", async () => {
    const { status, refusal } = await sim(["run", "SC-PLT-05", "--json"])
    assert.deepStrictEqual(
      [status, refusal.msg],
      [2, "Scenarios that kill or change their service need a temporary one: add --own (SC-PLT-05)."]
    )
  })

  it("an address without a server exits 3", async () => {
    const { status } = await sim(["run", "SC-PLT-03", "--url", "https://127.0.0.1:1", "--operator-key", "bok_x"])
    assert.strictEqual(status, 3)
  })
})

describe("sim run: a service of its own", () => {
  // No other process makes data directories there.
  const place = join(folder, "temporary")
  const { TMPDIR } = process.env
  beforeAll(() => {
    mkdirSync(place)
    process.env.TMPDIR = place
  })
  afterAll(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })

  it.runIf(isDeep)(
    "starts where none runs, and leaves nothing behind; --keep keeps its directory",
    async () => {
      const { status, stdout } = await sim(["run", "SC-PLT-03", "--keep"], nowhere)
      assert.strictEqual(status, 0, stdout)
      const [, kept = ""] = /Kept data directory of the run: (.+)/.exec(stdout) ?? []
      assert.isTrue(existsSync(join(kept, "operator.key")))
      assert.isFalse(existsSync(join(kept, "service.json")), "the service has ended")
      rmSync(kept, { recursive: true })
      assert.deepStrictEqual(readdirSync(place), [])
    },
    90_000
  )

  it("Ctrl-C ends it, the service and its directory", async () => {
    const { status, refusal } = await sim(["run", "SC-PLT-03", "--json"], nowhere, { stopped: () => Promise.resolve() })
    assert.deepStrictEqual([status, refusal.msg], [1, "The run was interrupted."])
    assert.deepStrictEqual(readdirSync(place), [])
  }, 90_000)
})
