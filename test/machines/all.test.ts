/**
 * Walks every machine of the registry and checks the rules that hold for all of them. The literal transition tables are
 * in transitions.test.ts (architecture, Machines and Proof).
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type AnyStateMachine, setup } from "xstate"
import { machineDiagram, machineFormats } from "../../cli/machineDiagram.ts"
import { type MachineVersions, shapeHash } from "../../scripts/generateMachines.ts"
import { layouts } from "../../src/http/operator/atlas/machineTables.ts"
import { drawMachine } from "../../src/machines/picture/drawMachine.ts"
import { type Reached, reachable, shapeOf, statesOf, tableOf, type Walkable } from "../../src/machines/describe.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import { begin, beginSlow, step, stepSlow, versionOf } from "../../src/runtime/engine/machine/step.ts"
import { MachineVersionUnknown, presentRow, upcastWith } from "../../src/runtime/engine/machine/upcast.ts"
import { catalogue, tableOfKind } from "../../src/runtime/tables/Catalogue.ts"
import { played } from "../support/every.ts"

const walkable = (kind: Kind): Walkable => machines[kind]
const anyMachine = (kind: Kind): AnyStateMachine => machines[kind].machine

const walks = new Map<Kind, ReadonlyArray<Reached>>()
/** The reachable rows, walked once per machine. */
const rowsOf = (kind: Kind): ReadonlyArray<Reached> => {
  const known = walks.get(kind)
  if (known !== undefined) return known
  const rows = reachable(walkable(kind))
  walks.set(kind, rows)
  return rows
}

const storedOf = ({ snapshot, state }: Reached) => ({ state, context: snapshot.context })

describe.each(kinds)("registry: %s", (kind) => {
  const machine = anyMachine(kind)
  const { samples, inputs } = walkable(kind)

  it("reaches every state", () => {
    const reached = new Set(rowsOf(kind).map(({ state }) => state))
    const all = statesOf(machine).map(({ name }) => name)
    assert.deepStrictEqual(
      all.filter((name) => !reached.has(name)),
      []
    )
  })

  it("describes every state, has a version, and never returns to NEW", () => {
    assert.match(machine.version ?? "", /^[1-9][0-9]*$/)
    for (const { name, description } of statesOf(machine)) assert.match(description, /^[A-Z].*\.$/, name)
    for (const { from, event, to } of tableOf(walkable(kind))) assert.notStrictEqual(to, "NEW", `${from} ${event}`)
  })

  it("accepts each sample in each reachable row, or leaves the row as it is", () => {
    let accepted = 0
    for (const row of rowsOf(kind)) {
      const stored = storedOf(row)
      for (const event of samples) {
        const next = step(machine, stored, event)
        const taken = machine.getTransitionData(row.snapshot, event).length > 0
        assert.strictEqual(next.changed, taken, `${row.state} ${event.type}`)
        if (next.changed) accepted++
        else assert.deepStrictEqual(next, { ...stored, effects: [], changed: false })
      }
    }
    assert.isAbove(accepted, 0)
  })

  it("has samples for both sides of every guard", () => {
    const taken = new Set<unknown>()
    const passedBy = new Set<unknown>()
    for (const { snapshot, state } of rowsOf(kind)) {
      for (const event of samples) {
        const [chosen] = machine.getTransitionData(snapshot, event)
        for (const definition of machine.root.states[state]?.transitions.get(event.type) ?? []) {
          if ((definition as unknown) === chosen) taken.add(definition)
          else passedBy.add(definition)
        }
      }
    }
    for (const { name } of statesOf(machine)) {
      for (const [event, definitions] of machine.root.states[name]?.transitions ?? []) {
        for (const definition of definitions) {
          const title = `${name} ${event} ${JSON.stringify(definition.guard ?? null)}`
          assert.isTrue(taken.has(definition), `never taken: ${title}`)
          if (definition.guard !== undefined) assert.isTrue(passedBy.has(definition), `never refused: ${title}`)
        }
      }
    }
  })

  it("decides the same on the fast path as in XState's documented form", () => {
    for (const input of inputs) {
      assert.strictEqual(JSON.stringify(begin(machine, input)), JSON.stringify(beginSlow(machine, input)))
    }
    for (const row of rowsOf(kind)) {
      for (const event of samples) {
        const stored = storedOf(row)
        assert.strictEqual(
          JSON.stringify(step(machine, stored, event)),
          JSON.stringify(stepSlow(machine, stored, event)),
          `${row.state} ${event.type}`
        )
      }
    }
  })

  it("survives storage as JSON", () => {
    for (const row of rowsOf(kind)) {
      const stored = storedOf(row)
      const loaded = JSON.parse(JSON.stringify(stored)) as typeof stored
      assert.deepStrictEqual(loaded, stored)
      for (const event of samples) {
        const next = step(machine, loaded, event)
        assert.deepStrictEqual(next, step(machine, stored, event))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(next.effects)), next.effects)
      }
    }
  })

  it("does not change the given row", () => {
    for (const row of rowsOf(kind)) {
      const stored = storedOf(row)
      const before = JSON.stringify(stored)
      for (const event of samples) step(machine, stored, event)
      assert.strictEqual(JSON.stringify(stored), before)
    }
  })

  it("ignores an event it does not know", () => {
    for (const row of rowsOf(kind)) {
      assert.deepStrictEqual(step(machine, storedOf(row), { type: "NO_SUCH_EVENT", at: 1 }), {
        ...storedOf(row),
        effects: [],
        changed: false
      })
    }
  })

  it("has a total context factory", () => {
    assert.strictEqual(begin(machine, undefined).state, begin(machine, inputs[0]).state)
  })

  it("uses no construct that acts by itself", () => {
    assert.deepStrictEqual(forbiddenIn(machine), [])
  })

  it("is drawn the same on every run, without calling anybody", async () => {
    for (const format of played({ usual: ["svg"] as const, deep: machineFormats })) {
      const text = await machineDiagram(kind, format)
      const again = format === "svg" ? drawMachine(machines[kind], layouts()[kind]) : await machineDiagram(kind, format)
      assert.strictEqual(text, again)
      assert.notMatch(text, /@import|href=|https?:\/\/(?!www\.w3\.org\/)/)
      for (const { name } of statesOf(machine)) assert.include(text, name, format)
    }
  })

  it("has not changed its shape without a new version", () => {
    const file = join(import.meta.dirname, "../fixtures/machineVersions.json")
    const recorded = JSON.parse(readFileSync(file, "utf8")) as MachineVersions
    assert.strictEqual(recorded[kind]?.[versionOf(kind)], shapeHash(kind))
    assert.strictEqual(catalogue[tableOfKind[kind]].upcasters.length, Number(versionOf(kind)) - 1)
  })
})

const allowedActions = new Set(["xstate.assign", "xstate.emit", "xstate.enqueueActions"])

/** Invocations, delays, eventless moves, nested states and foreign actions of a machine, by name. */
const forbiddenIn = (machine: AnyStateMachine): ReadonlyArray<string> =>
  Object.values(machine.root.states).flatMap((node) => {
    const transitions = [...node.transitions.values()].flat()
    const actions = [...node.entry, ...node.exit, ...transitions.flatMap((transition) => transition.actions)]
    return [
      ...node.invoke.map(({ id }) => `${node.key} invokes ${id}`),
      ...node.after.map(() => `${node.key} waits by itself`),
      ...(node.always ?? []).map(() => `${node.key} moves without an event`),
      ...Object.keys(node.states).map((child) => `${node.key} contains ${child}`),
      ...actions
        .map((action) => (typeof action === "string" ? action : String((action as { readonly type?: string }).type)))
        .filter((type) => !allowedActions.has(type))
        .map((type) => `${node.key} runs ${type}`)
    ]
  })

describe("registry: the checks themselves", () => {
  const toy = setup({ types: { events: {} as { readonly type: "GO" } } })

  it("see a delay, a foreign action and a nested state", () => {
    const bad = toy.createMachine({
      initial: "A",
      states: {
        A: { after: { 5: "B" }, entry: () => {} },
        B: { always: "C" },
        C: { initial: "D", states: { D: {} } }
      }
    })
    assert.deepStrictEqual(
      forbiddenIn(bad).map((line) => line.split(" ")[0]),
      ["A", "A", "A", "A", "B", "C"]
    )
  })

  it("see a changed shape", () => {
    const one = toy.createMachine({ initial: "A", states: { A: { on: { GO: "B" } }, B: {} } })
    const two = toy.createMachine({ initial: "A", states: { A: { on: { GO: "B" } }, B: { on: { GO: "A" } } } })
    const shape = (machine: AnyStateMachine) => shapeOf({ machine, samples: [{ type: "GO" }], inputs: [undefined] })
    assert.notStrictEqual(shape(one), shape(two))
  })

  it("stop a context that grows without bound", () => {
    const counting = setup({ types: { context: {} as { readonly n: number }, events: {} as { readonly type: "GO" } } })
    const endless = counting.createMachine({
      context: { n: 0 },
      initial: "A",
      states: { A: { on: { GO: { actions: counting.assign({ n: ({ context }) => context.n + 1 }) } } } }
    })
    assert.throws(() => reachable({ machine: endless, samples: [{ type: "GO" }], inputs: [undefined] }), /more than/)
  })
})

describe("registry: stored versions", () => {
  const rename = (from: string, to: string) => (row: { readonly state: string; readonly context: unknown }) =>
    row.state === from ? { ...row, state: to } : row
  const chain = [rename("A", "B"), rename("B", "C")]

  it("leaves a row of the present version as it is", () => {
    const row = { version: versionOf("client"), state: "ACTIVE", context: { clientId: 1 } }
    assert.strictEqual(presentRow(catalogue.clients, row), row)
  })

  it("brings an old row up step by step", () => {
    const row = (version: string, state: string) => ({ version, state, context: {} })
    assert.deepStrictEqual(upcastWith("toy", "3", chain, row("1", "A")), Result.succeed(row("3", "C")))
    assert.deepStrictEqual(upcastWith("toy", "3", chain, row("2", "A")), Result.succeed(row("3", "A")))
  })

  it.each(["4", "10", "0", "-1", "x", ""])("refuses version %s", (version) => {
    const result = upcastWith("toy", "3", chain, { version, state: "A", context: {} })
    assert.deepStrictEqual(result, Result.fail(new MachineVersionUnknown({ kind: "toy", stored: version, known: "3" })))
  })

  it("refuses a newer row of a real machine", () => {
    const newer = { version: "3", state: "ACTIVE", context: {} }
    assert.throws(() => presentRow(catalogue.clients, newer), MachineVersionUnknown)
  })

  it("throws on a state the machine does not have", () => {
    const machine = machines.apiKey.machine
    const context = begin(machine, { keyId: 1, createdAt: 0 }).context
    assert.throws(() => step(machine, { state: "NOPE", context }, { type: "REVOKE", at: 1, reason: "x" }), /NOPE/)
  })
})
