/**
 * The checks that bind an operator's feature to its contract, and the results that the rest derives from the rules
 * beside the endpoints.
 */
import { assert, describe, it } from "@effect/vitest"
import { Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { finance, openTo } from "../../src/http/api/operator/CommandRules.ts"
import {
  fourEyesClasses,
  isWriting,
  largestOperatorBody,
  mayRun,
  operatorCommands,
  usualFourEyes
} from "../../src/http/api/operator/commands.ts"
import { writingCommands } from "../../src/http/api/operator/commandTable.ts"
import { operatorFeature } from "../../src/http/operator/operatorFeature.ts"
import { guardNothing } from "../../src/runtime/services/operations/registries/guardedCommands.ts"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { commandTable } from "../../scripts/generateCommands.ts"

const pay = HttpApiEndpoint.post("pay", "/vouchers/:voucherId/pay")
class Ruled extends HttpApiGroup.make("voucher").add(pay.pipe(openTo(finance))) {}
class Unruled extends HttpApiGroup.make("voucher").add(pay) {}

/** Handlers as a feature declares them. */
type Of<Name extends string> = Layer.Layer<HttpApiGroup.Service<"operator-api", Name>>
const layer = Layer.empty

describe("the compiler holds an operator's feature to its group", () => {
  it("accepts a feature whose endpoints all name their roles, with the handlers of its own group", () => {
    const cases = [
      (handlers: Of<"voucher">) => operatorFeature({ api: Ruled, layer, handlers }),
      // @ts-expect-error an endpoint says nowhere who may run it
      (handlers: Of<"voucher">) => operatorFeature({ api: Unruled, layer, handlers }),
      // @ts-expect-error the handlers are another group's
      (handlers: Of<"deposit">) => operatorFeature({ api: Ruled, layer, handlers })
    ]
    assert.lengthOf(cases, 3)
  })
})

describe("operator surface, rules beside the endpoints", () => {
  it("a command is open to its roles alone, an unknown command to no role", () => {
    assert.isTrue(mayRun("FINANCE", "deposit confirm"))
    assert.isFalse(mayRun("COMPLIANCE", "deposit confirm"))
    assert.isFalse(mayRun("ADMIN", "voucher pay"))
    for (const [command, { roles }] of operatorCommands) assert.include([...roles], "ADMIN", command)
  })

  it("four eyes guard commands that change something, by rule or on request, and every class has a command", () => {
    assert.includeMembers([...fourEyesClasses], [...usualFourEyes])
    for (const command of fourEyesClasses) assert.isTrue(isWriting(command), command)
    assert.deepStrictEqual(guardNothing(["key issue", "voucher pay"], { "key issue": {} }), ["voucher pay"])
  })

  it("doc 1, Limits: a cap of its own is the endpoint's, the surface's usual one every other's", () => {
    assert.strictEqual(operatorCommands.get("screening entries")?.bodyCap, bodyCaps.watchListPiece)
    assert.strictEqual(operatorCommands.get("deposit confirm")?.bodyCap, bodyCaps.operator)
    const path = operatorCommands.get("venue path")?.bodyCap ?? 0
    assert.isAbove(path, Math.max(bodyCaps.watchListPiece, bodyCaps.questionnaire))
    assert.strictEqual(largestOperatorBody, path)
  })

  it("the command line's table equals the contract", () => {
    for (const [command, fourEyes] of Object.entries(writingCommands)) {
      assert.strictEqual(operatorCommands.get(command)?.fourEyes ?? null, fourEyes, command)
      assert.include(commandTable(), `${JSON.stringify(command)}: ${JSON.stringify(fourEyes)}`)
    }
    assert.strictEqual(
      Object.keys(writingCommands).length,
      [...operatorCommands].filter(([command, { partOf }]) => isWriting(command) && partOf === undefined).length
    )
  })
})
