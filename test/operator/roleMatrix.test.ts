/** The permissions of each role: the roles beside the endpoints, and the running gate, for every command. */
import { assert, describe, it } from "@effect/vitest"
import { request } from "node:https"
import { readFileSync } from "node:fs"
import { mayRun, operatorCommands } from "../../src/http/api/operator/commands.ts"
import { currencyCodes, operatorRoles } from "../../src/http/api/operator/operatorTokens.ts"
import { currencyCodes as clientCurrencies } from "../../src/machines/shared/Currency.ts"
import { openOperator } from "./operatorScenario.ts"

const service = await openOperator()

const routes = [...operatorCommands].map(([command, { method, path }]) => ({ command, method, path }))

/** An empty request: the key and the role are checked before the body is read. */
const statusOf = (
  method: string,
  path: string,
  key: string | null
): Promise<{ status: number; body: string; id: unknown }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      `${service.url}${path.replaceAll(/:[a-zA-Z]+/g, "0")}`,
      {
        method,
        ca: readFileSync(service.caFile),
        agent: false,
        headers: { "content-type": "application/json", ...(key === null ? {} : { authorization: `Bearer ${key}` }) }
      },
      (incoming) => {
        let body = ""
        incoming.on("data", (chunk) => void (body += String(chunk)))
        incoming.on("end", () =>
          resolve({ status: incoming.statusCode ?? 0, body, id: incoming.headers["x-request-id"] })
        )
      }
    )
    outgoing.on("error", reject)
    outgoing.end(method === "GET" ? undefined : "{}")
  })

describe("operator surface, roles", () => {
  it("SUPPORT reads and nothing else; ADMIN may do everything", () => {
    for (const { command, method } of routes) {
      // Only finance may read whole books, and only the administrator may use the simulated venue.
      const read =
        method === "GET" && command !== "ledger export" && command !== "venue show" && !command.startsWith("statement ")
      assert.strictEqual(mayRun("SUPPORT", command), read, command)
      assert.isTrue(mayRun("ADMIN", command), command)
    }
    assert.isFalse(mayRun("ADMIN", "toString"))
  })

  it("FINANCE and COMPLIANCE write only in their own field", () => {
    const writes = (role: "FINANCE" | "COMPLIANCE") =>
      routes.filter(({ command, method }) => method !== "GET" && mayRun(role, command)).map(({ command }) => command)
    const deciding = ["approval grant", "approval refuse"]
    assert.sameMembers(writes("FINANCE"), [
      "client payout",
      "deposit confirm",
      "deposit reject",
      "withdrawal approve",
      "withdrawal pay",
      "withdrawal reject",
      "withdrawal fail",
      "break open",
      "break close",
      "interfirm record",
      "ledger adjust",
      "venue reconcile",
      "swap writeoff",
      "statement generate",
      "statement correct",
      ...deciding
    ])
    assert.sameMembers(writes("COMPLIANCE"), [
      "partner reliance",
      "client restrict",
      "client lift",
      "client categorize",
      "client close",
      "client reopen",
      "client downgrade",
      "screening add",
      "screening remove",
      "screening import",
      "screening entries",
      "screening finish",
      "kyc clear",
      "kyc reject",
      "kyc reject-person",
      "kyc request-documents",
      "kyc sample",
      "kyc show",
      "appropriateness publish",
      "document list",
      "document show",
      "document delete",
      ...deciding
    ])
  })

  it("the running gate refuses a role with 403 code 4034 and a caller without a key with 401 code 4010, on every route", async () => {
    for (const { command, method, path } of routes) {
      const nobody = await statusOf(method, path, null)
      assert.deepStrictEqual([nobody.status, JSON.parse(nobody.body).code], [401, 4010], command)
      const foreign = await statusOf(method, path, `bok_${"A".repeat(43)}`)
      assert.strictEqual(foreign.body, nobody.body, command)
      for (const role of operatorRoles.filter((each) => !mayRun(each, command))) {
        const refused = await statusOf(method, path, service.keys[role])
        const { code, msg } = JSON.parse(refused.body) as { readonly code: number; readonly msg: string }
        const may = operatorRoles.filter((each) => mayRun(each, command))
        assert.deepStrictEqual([refused.status, code], [403, 4034], `${command} ${role}`)
        assert.include(msg, `The role ${role} of this operator key may not run ${command}; these may: `)
        assert.sameMembers(msg.slice(msg.lastIndexOf(": ") + 2, -1).split(", "), may)
      }
    }
  })

  it("unknown routes and verbs answer 404 code 4004 in the envelope, with a request id", async () => {
    for (const [method, path] of [
      ["GET", "/operator/v1/nothing"],
      ["DELETE", "/operator/v1/partners"],
      ["GET", "/operator/v1"]
    ] as const) {
      const answer = await statusOf(method, path, service.keys.ADMIN)
      assert.deepStrictEqual([answer.status, JSON.parse(answer.body).code], [404, 4004], `${method} ${path}`)
      assert.isString(answer.id)
    }
  })

  it("A3-45: a command outside the role leaves the program with status 1 and its envelope", async () => {
    const ran = await service.cli(["operator", "create", "--label", "x", "--role", "ADMIN"], "SUPPORT")
    assert.strictEqual(ran.status, 1)
    assert.strictEqual(ran.stdout, "")
    assert.strictEqual(ran.refusal.code, 4034)
    assert.strictEqual(ran.refusal.error, ran.refusal.msg)
  })

  it("the tokens offered as choices are those that the contract accepts", () => {
    assert.deepStrictEqual([...currencyCodes], [...clientCurrencies])
  })
})
