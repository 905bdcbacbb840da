/**
 * The meaning of a failed statement for the operator: retry later, unknown outcome, or a defect of the service (doc 1,
 * error registry).
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import { whenAway, whenUnsure } from "../../src/runtime/store/whenAway.ts"

const server = (code: string) =>
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({
      cause: Object.assign(new Error("refused: secret"), { code, severity: "ERROR" }),
      message: "refused",
      operation: "execute"
    })
  })
const gone = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("ECONNRESET"), message: "gone", operation: "execute" })
})

/** `unknown` of the Unavailable it fails with; "defect" otherwise. */
const outcome = (effect: Effect.Effect<never, { readonly unknown: boolean }>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
    return reason !== undefined && Cause.isFailReason(reason) ? reason.error.unknown : "defect"
  })

describe("doc 1, error registry: failed statements", () => {
  it.effect.each([
    ["a lost connection", gone, false, true],
    ["a server that is shutting down", server("57P01"), false, true],
    ["a full disk", server("53100"), false, false],
    ["a statement timeout", server("57014"), false, false],
    ["a text with U+0000", server("22021"), "defect", "defect"],
    ["a missing table", server("42P01"), "defect", "defect"],
    ["a broken constraint", server("23505"), "defect", "defect"]
  ] as const)("5030 or 5000: %s", ([, error, read, write]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(whenAway(error)), read)
      assert.strictEqual(yield* outcome(whenUnsure(error)), write)
    })
  )

  it.effect("5000: the defect names the code and no values", () =>
    Effect.map(Effect.exit(whenAway(server("22021"))), (exit) => {
      const told = String(Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit)
      assert.include(told, "code=22021")
      assert.notInclude(told, "secret")
    })
  )
})
