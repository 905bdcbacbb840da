/**
 * A2-64: every kind of a client's notification feed has a source, a transition of a machine or a turn without a
 * machine, and every published kind is described.
 */
import { assert, describe, it } from "@effect/vitest"
import { NotificationWire } from "../../../src/machines/account/NotificationWire.ts"
import { effectName, tableOf, type Walkable } from "../../../src/machines/describe.ts"
import { kinds, machines } from "../../../src/machines/registry.ts"
import { begin } from "../../../src/runtime/engine/machine/step.ts"
import { feedEventOf } from "../../../src/machines/webhook/feedEventOf.ts"

/** The kinds in the description for partners. */
const description = String(NotificationWire.fields.kind.ast.annotations?.["description"])
const described = [...description.matchAll(/([A-Z][A-Z0-9_]+):/g)].map(([, kind = ""]) => kind)

/** Kinds that a turn without a machine publishes, each with the test that covers it. */
const byTurns: Readonly<Record<string, string>> = {
  MONEY_MOVEMENT: "test/operator/payout.test.ts, test/operator/books.test.ts",
  LEVERAGE_LOSS_10: "test/scenarios/leverage.test.ts"
}

/** At the creation of an object, and at every transition that its samples reach. */
const effectsOf = ({ machine, samples, inputs }: Walkable): ReadonlyArray<string> => [
  ...inputs.flatMap((input) => begin(machine, input).effects.map(effectName)),
  ...tableOf({ machine, samples, inputs }).flatMap(({ effects }) => effects.map((name) => name.replace(/\?$/, "")))
]
const byMachines = new Set(
  kinds.flatMap((kind) =>
    effectsOf(machines[kind] as Walkable).flatMap((effect) =>
      effect.startsWith("notify ") ? [effect.slice("notify ".length)] : []
    )
  )
)

describe("notification kinds", () => {
  it("each is written by a machine or a turn, and no other kind is written", () => {
    assert.isAbove(described.length, 10)
    assert.sameMembers([...byMachines, ...Object.keys(byTurns)], described)
  })

  it("every kind of the sweep is one of them", () => assert.includeMembers(described, Object.keys(feedEventOf)))
})
