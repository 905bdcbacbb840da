/** The partner's view of orders and swaps, where the state decides the value of a member (D6, F22). */
import { assert, describe, it } from "@effect/vitest"
import { orderWire } from "../../../src/runtime/services/trading/order/orderView.ts"
import { swapWire } from "../../../src/runtime/services/trading/swap/swapView.ts"
import { orderMachine } from "../../../src/machines/order/orderMachine.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { swapMachine } from "../../../src/machines/swap/swapMachine.ts"
import { swapInput } from "../../../src/machines/swap/swapSamples.ts"
import { begin } from "../../../src/runtime/engine/machine/step.ts"
import { sampleRows } from "../engine/fixtures.ts"

describe("members that depend on the state", () => {
  it("D6: an order shows its refusal while REJECTED, and none once it is filled after all", () => {
    const row = sampleRows(1).orders
    const context = { ...begin(orderMachine, perpInput).context, reject: "The venue refused the order." }
    assert.strictEqual(orderWire({ ...row, state: "REJECTED", context }).reject, context.reject)
    assert.isNull(orderWire({ ...row, state: "FILLED", context }).reject)
  })

  it("F22: nothing is outstanding of a take that is REJECTED", () => {
    const row = { ...sampleRows(1).swaps, context: begin(swapMachine, swapInput).context }
    const shown = swapWire({ ...row, state: "ACCEPTING" })
    assert.strictEqual(shown.outstanding, shown.expectedPayout)
    assert.match(swapWire({ ...row, state: "REJECTED" }).outstanding, /^0\.0+$/)
  })
})
