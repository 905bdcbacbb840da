/** The meaning of a failed statement for its batch: a table of possible errors of the server and of the connection. */
import { assert, describe, it } from "@effect/vitest"
import { Cause } from "effect"
import { SqlError } from "effect/sql"
import { classify, guardState } from "../../../src/runtime/engine/journal/sqlFailure.ts"

const failed = (cause: unknown) =>
  Cause.fail(
    new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: "query failed", operation: "query" }) })
  )
const server = (code: string, message = "refused", file = "execMain.c") =>
  failed(Object.assign(new Error(message), { severity: "ERROR", code, file }))
const socket = (code: string) => failed(Object.assign(new Error("write failed"), { code, syscall: "write" }))

describe("classify", () => {
  const rows: ReadonlyArray<readonly [string, Cause.Cause<unknown>, string]> = [
    ["a check of the schema", server("23514"), "Data"],
    ["a unique key", server("23505"), "Data"],
    ["text with NUL", server("22021"), "Data"],
    ["a row touched twice by one statement", server("21000"), "Data"],
    ["an unknown table", server("42P01"), "Data"],
    ["disk full", server("53100"), "Busy"],
    ["lock timeout", server("55P03"), "Busy"],
    ["statement timeout", server("57014"), "Busy"],
    ["deadlock", server("40P01"), "Busy"],
    ["read-only", server("25006"), "Busy"],
    ["a file size limit or a quota", server("XX000", "could not extend file", "md.c"), "Busy"],
    ["a file system gone read-only", server("42501", "could not open file", "fd.c"), "Busy"],
    ["an internal error elsewhere", server("XX000"), "Data"],
    ["a privilege of the role", server("42501", "permission denied", "aclchk.c"), "Data"],
    ["administrator's shutdown", server("57P01"), "Lost"],
    ["crash of another backend", server("57P02"), "Lost"],
    ["connection failure told by the server", server("08006"), "Lost"],
    ["a reset socket", socket("ECONNRESET"), "Lost"],
    ["a broken pipe, whose code looks like a SQLSTATE", socket("EPIPE"), "Lost"],
    ["a closed connection", failed(new Error("Connection closed")), "Lost"],
    ["a value the driver can't encode", failed({ _tag: "PgTypesCodecError", message: "Expected a string" }), "Data"],
    ["a frame the driver can't build", failed({ _tag: "PgProtocolEncodeError", message: "too many" }), "Data"],
    ["a defect of the driver", Cause.die(new Error("oops")), "Lost"]
  ]
  for (const [what, cause, expected] of rows)
    it(`${what} is ${expected}`, () => assert.strictEqual(classify(cause)._tag, expected))

  const standing: ReadonlyArray<readonly [string, Cause.Cause<unknown>, boolean]> = [
    ["disk full", server("53100"), true],
    ["read-only", server("25006"), true],
    ["an input/output error", server("58030"), true],
    ["a file size limit", server("XX000", "could not extend file", "md.c"), true],
    ["out of memory", server("53200"), false],
    ["lock timeout", server("55P03"), false],
    ["statement timeout", server("57014"), false],
    ["deadlock", server("40P01"), false]
  ]
  for (const [what, cause, standstill] of standing)
    it(`${what} ${standstill ? "stops every write" : "concerns this batch alone"}`, () =>
      assert.deepInclude(classify(cause), { _tag: "Busy", standstill }))

  it("a lock that was not obtained in time is held by another session, a deadlock is over", () => {
    assert.deepInclude(classify(server("55P03")), { _tag: "Busy", locked: true })
    assert.deepInclude(classify(server("40P01")), { _tag: "Busy", locked: false })
  })

  for (const guard of ["epoch", "fence", "partner", "claim"])
    it(`a guard names the condition that did not hold: ${guard}`, () =>
      assert.deepStrictEqual<unknown>(classify(server(guardState, `journal guard ${guard}: 1 of 2`)), {
        _tag: "Guard",
        guard
      }))
})
