/**
 * The record of machine coverage (`npm run machine-coverage`) matches the present machines and scenarios, and
 * docs/machines names a test or scenario for every transition of every machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { coverageOf } from "../../src/http/operator/atlas/machineTables.ts"
import { rowName, rowTaken, statesOf, tableOf } from "../../src/machines/describe.ts"
import {
  arrivals,
  readCoverage,
  startOf,
  storedTried,
  type Tried,
  triedOf,
  triedText,
  trialOf
} from "../../src/machines/picture/MachineCoverage.ts"
import { kinds, machines } from "../../src/machines/registry.ts"
import { begin, step, type StepReport } from "../../src/runtime/engine/machine/step.ts"
import { allScenarios } from "../../simulator/scenarios/runner/findScenarios.ts"

const root = join(import.meta.dirname, "../..")
const all = kinds.flatMap((kind) => [...coverageOf(kind)].map(([row, tried]) => ({ kind, row, tried })))

/** Rule ids in this text are examples, not citations. */
const [first = "", second = "", third = ""] = ["ORD-01", "ORD-12", "STK-03"].map((id) => `SC-${id}`)

describe("the record of the machines' transitions", () => {
  it("names no row that a machine does not have", () => {
    for (const kind of kinds) {
      const { machine } = machines[kind]
      const rows = [...statesOf(machine).map(({ name }) => startOf(name)), ...tableOf(machines[kind]).map(rowName)]
      assert.strictEqual(new Set(rows).size, rows.length, `two rows of ${kind} have one name`)
      assert.includeMembers(rows, [...coverageOf(kind).keys()], `${kind}: npm run machine-coverage`)
    }
  })

  it("has every scenario, and none that is not there; nor tests that are not there", () => {
    const ids = allScenarios().scenarios.map(({ id }) => id)
    const played = [...new Set(all.flatMap(({ tried }) => tried.scenarios))]
    const missing = ids.filter((id) => !played.includes(id))
    assert.deepStrictEqual(missing, [], `npm run machine-coverage -- ${missing.join(" ")}`)
    assert.includeMembers(ids, played)
    for (const { tried } of all) for (const file of tried.tests) assert.isTrue(existsSync(join(root, file)), file)
    assert.isTrue(all.some(({ tried }) => tried.simulated))
  })

  it("every transition that no scenario makes is listed with the row that plays it", () => {
    const lines = new Map(
      readFileSync(join(root, "docs/machines/coverage.md"), "utf8")
        .split("\n")
        .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\| |\|$/g, "").trim()))
        .map((cells) => [`${cells[0]} ${cells[1]}`, cells])
    )
    for (const kind of kinds)
      for (const row of tableOf(machines[kind]).map(rowName)) {
        const tried = triedOf(coverageOf(kind), row)
        const cells = lines.get(`${kind} \`${row}\``)
        if (trialOf(tried) === "scenarios") assert.isUndefined(cells, `${kind} ${row}`)
        else {
          assert.strictEqual(cells?.[2], triedText(tried), `${kind} ${row}`)
          assert.isNotEmpty(cells?.[3], `${kind} ${row}`)
        }
      }
  })

  it("is stored as it is read", () => {
    const tried: Tried = { scenarios: [first, second, third], simulated: true, tests: ["a.test.ts"] }
    const stored = storedTried(tried)
    assert.deepStrictEqual(stored, { scenarios: "ORD 01 12; STK 03", simulated: true, tests: ["a.test.ts"] })
    const read = readCoverage({ order: { "A GO B": stored, "[*] A": {} } }, "order")
    assert.deepStrictEqual(read.get("A GO B"), tried)
    assert.deepStrictEqual(arrivals(read, "B"), tried)
    assert.strictEqual(triedText(tried), `3 scenarios (${first}, ${second}, ${third}), the simulation, a.test.ts`)
    assert.strictEqual(triedText(triedOf(read, "[*] A")), "its row of the table alone")
  })

  it("steps are named by the row that accepts them, and refused events are not recorded", () => {
    const { machine } = machines.rfq
    const told: Array<string> = []
    const hear = (message: unknown): void => {
      const { machine: of, before, event, after } = message as StepReport
      told.push(before === null || event === null ? startOf(after) : String(rowTaken(of, before, event)))
    }
    subscribe("brokerage.machine.step", hear)
    try {
      const [input] = machines.rfq.inputs
      const born = begin(machine, input as never)
      const open = step(machine, born, { type: "UNANSWERED", at: 1 })
      step(machine, open, { type: "UNANSWERED", at: 2 })
      step(machine, open, { type: "WINDOW_ELAPSED", at: 3 })
    } finally {
      unsubscribe("brokerage.machine.step", hear)
    }
    assert.deepStrictEqual(told, [
      "[*] CREATING",
      "CREATING UNANSWERED OPEN",
      "OPEN WINDOW_ELAPSED [notAccepting] EXPIRED"
    ])
  })
})
