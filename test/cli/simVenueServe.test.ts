/** `brokerage sim venue serve`: the simulated venue alone (operator surface, Developers and QA). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exitStatus } from "../../cli/CliIo.ts"
import { runCli } from "../../cli/runCli.ts"
import { eventually } from "../runtime/engine/eventually.ts"
import { recordingIo, runRecorded } from "../operator/operatorHarness.ts"
import { VenueClient } from "../venue/venueClient.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-sim-venue-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const market = (families: string) =>
  `bases:\n  - { base: DOT, name: Dot, assetClass: crypto, tick: 3, lot: 1, opening: "6", volatility: 0.7, families: [${families}] }\n`

/** Runs the venue, calls `use` once it is ready, and stops the venue. */
const served = async (
  args: ReadonlyArray<string>,
  use: (client: VenueClient, ready: string) => Promise<void>
): Promise<number> => {
  const stop = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<string>()
  const { io } = recordingIo({ stopped: () => stop.promise, stdout: (text) => ready.resolve(text) })
  const ran = runCli(["sim", "venue", "serve", ...args], io)
  const text = await Promise.race([ready.promise, ran.then((status) => `ended ${status}`)])
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
  const [keyFile = ""] = /\/[^"\s:]+venue\.key/.exec(text) ?? []
  await use(new VenueClient(url, readFileSync(keyFile, "utf8").trim()), text)
  stop.resolve()
  return ran
}

describe("sim venue serve", () => {
  it("prints its address and key file, plain or as one document, and ends cleanly", async () => {
    const dataDir = join(folder, "plain")
    const plain = await served(["--data-dir", dataDir, "--seed", "11"], async (client, text) => {
      assert.match(text, /^The simulated venue is listening on http:\/\/127\.0\.0\.1:\d+\n {2}key file {6}\/\S+\n$/)
      assert.strictEqual((await client.show()).seed, 11)
    })
    const json = await served(["--data-dir", dataDir, "--json"], async (client, text) => {
      assert.deepStrictEqual(Object.keys(JSON.parse(text)), ["ready", "url", "keyFile", "pid"])
      // Existing books keep their seed.
      assert.strictEqual((await client.show()).seed, 11)
    })
    assert.deepStrictEqual([plain, json], [exitStatus.done, exitStatus.done])
  })

  it("sim venue restart: starts again at its address, with its books", async () => {
    const status = await served(["--data-dir", join(folder, "again"), "--seed", "12"], async (client) => {
      const { startedAt } = await client.show()
      await client.command({ type: "restart" })
      const shown = () => client.show().catch(() => null)
      await eventually(async () => ((await shown())?.startedAt ?? startedAt) > startedAt)
      assert.strictEqual((await client.show()).seed, 12)
    })
    assert.strictEqual(status, exitStatus.done)
  })

  it("starts with the markets of a file, and refuses others later", async () => {
    const dataDir = join(folder, "markets")
    await served(["--data-dir", dataDir, "--markets", file("dot.yaml", market("SPOT"))], async (client) => {
      const { markets } = (await client.ask("/venue/v1/listing")).json
      assert.deepStrictEqual(
        markets.map(({ symbol }: { symbol: string }) => symbol),
        ["DOT-USDC"]
      )
    })
    const other = await runRecorded([
      "sim",
      "venue",
      "serve",
      "--data-dir",
      dataDir,
      "--markets",
      file("perp.yaml", market("PERP"))
    ])
    assert.strictEqual(other.status, exitStatus.refused)
    assert.include(other.stderr, "began with other markets")
  })

  it.each([join(file("regular", ""), "x"), "/proc/x"])(
    "a data directory that can't be made is refused at once: %s",
    async (place) => {
      const ran = await runRecorded(["sim", "venue", "serve", "--data-dir", place])
      assert.deepStrictEqual([ran.status, ran.stdout], [exitStatus.refused, ""])
      assert.match(ran.stderr, /^error: The folder \S+ can not be made \(E[A-Z]+\): name another data directory\.\n$/)
    }
  )

  it.each([
    [["--markets", file("wrong.yaml", market("FUTURE"))], /wrong\.yaml, line 2: bases\.0\.families/],
    [["--markets", join(folder, "none.yaml")], /none\.yaml can not be read/],
    [["--port", "65536"], /whole number from 0 to 65535/],
    [["--seed", "-1"], /whole number from 0/]
  ])("%j is wrong usage", async (args, sentence) => {
    const ran = await runRecorded(["sim", "venue", "serve", "--data-dir", join(folder, "never"), ...args])
    assert.deepStrictEqual([ran.status, ran.stdout], [exitStatus.usage, ""])
    assert.match(ran.stderr, sentence)
  })
})
