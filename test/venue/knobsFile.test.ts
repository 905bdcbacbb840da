/** Knob files of the simulated venue: an error names the file and the line (operator surface, `sim venue set`). */
import { assert, describe, it } from "@effect/vitest"
import { readKnobs, readMarkets } from "../../simulator/venue/knobsFile.ts"

describe("readKnobs", () => {
  it("reads every knob, and an empty file as no change", () => {
    const text = [
      "seed: 7",
      "tickMillis: 100",
      "processes:",
      "  BTC: { volatility: 0.9, jumps: 12, jumpSize: 0.05 }",
      "books:",
      "  BTC-USDC-PERP: { levels: 20, spread: 2, size: '1.5' }",
      "dealers:",
      "  - name: alpha",
      "    latencyMillis: 200",
      "    validityMillis: 5000",
      "    spreadBps: 8",
      "    size: 0.5",
      "    withdrawal: 0.1",
      "    lastLookRefusal: 0",
      "    silence: 0.2",
      "writers: { default: 0.1, late: 0.2, lateMillis: 60000 }"
    ].join("\n")
    const knobs = readKnobs(text, "knobs.yaml")
    assert.deepInclude(knobs, { seed: 7, tickMillis: 100 })
    assert.deepStrictEqual(readKnobs("", "knobs.yaml"), {})
    assert.deepStrictEqual(readKnobs("# nothing\n", "knobs.yaml"), {})
    // The log keeps the knobs as JSON, which must read as the same knobs.
    assert.deepStrictEqual(readKnobs(JSON.stringify(knobs), "log"), knobs)
  })

  it.each([
    ["text that is no YAML", "seed: [1", /^k\.yaml, line 1: /],
    ["a key twice", "seed: 1\nseed: 2", /^k\.yaml, line 2: /],
    ["an unknown knob", "seed: 1\nspeed: 2", /^k\.yaml, line 2: speed: /],
    ["a value out of its bounds", "seed: 1\n\nwriters:\n  late: 2\n", /^k\.yaml, line 4: writers\.late: /],
    ["a value of another kind", "tickMillis: soon", /^k\.yaml, line 1: tickMillis: /],
    ["an unknown key of a dealer", "dealers:\n  - name: a\n    mood: bad", /^k\.yaml, line [23]: dealers\.0/],
    [
      "lists too deep to be read, said once",
      `seed: ${"[".repeat(3_000)}${"]".repeat(3_000)}`,
      /^k\.yaml, line 1: maps and lists are nested too deeply$/
    ],
    ["a number without a value", "tickMillis: 100\nseed: .nan", /^k\.yaml, line 2: seed: /],
    ["an alias of nothing", "tickMillis: 100\nseed: *x", /^k\.yaml, line 2: .*x/],
    ["a merge of a number", "%YAML 1.1\n---\n<<: 5\nseed: 1", /^k\.yaml, line \d: /],
    [
      "aliases that unfold without end",
      `a: &a [x]\n${[..."bcdef"].map((name, n) => `${name}: &${name} [${"abcde"[n]}`.replace("[", "[*") + `, *${"abcde"[n]}`.repeat(8) + "]").join("\n")}`,
      /^k\.yaml, line \d: /
    ],
    ["a list instead of knobs", "- 1\n- 2", /^k\.yaml, line 1: the file: /]
  ])("names the line of %s", (_title, text, sentence) => {
    assert.match(String(readKnobs(text, "k.yaml")), sentence)
  })

  it("reads markets, and names the line of a wrong one", () => {
    const btc =
      "  - { base: BTC, name: Bitcoin, assetClass: crypto, tick: 1, lot: 4, opening: '60000', volatility: 0.5, families: [PERP] }"
    assert.lengthOf(readMarkets(`bases:\n${btc}`, "m.yaml"), 1)
    assert.match(
      String(readMarkets(`bases:\n${btc}\n${btc.replace("[PERP]", "[FUTURE]")}`, "m.yaml")),
      /^m\.yaml, line 3: /
    )
  })

  it("names every error up to a limit", () => {
    const sentence = String(readKnobs("seed: x\ntickMillis: y\ntakers: z", "k.yaml"))
    assert.strictEqual(String(readKnobs("a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1", "k.yaml")).split("\n").length, 5)
    assert.match(sentence, /line 1: seed.*\n.*line 2: tickMillis.*\n.*line 3: takers/)
  })
})
